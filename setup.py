"Package metadata, all of it read from settings.ini"
from configparser import ConfigParser
from pathlib import Path
from runpy import run_path

from setuptools import setup
from setuptools.command.build_py import build_py

here = Path(__file__).parent
config = ConfigParser(delimiters=["="])
config.read(here/"settings.ini", encoding="utf-8")
s = config["DEFAULT"]
suffix = "_requirements"

class WithStubs(build_py):
    "The package with stubs for type checkers, which would not find the methods that are added to classes"
    def run(self):
        super().run()
        if getattr(self, "editable_mode", False): return
        run_path(here/".ci"/"stubs.py")["write"](Path(self.build_lib, "nmf2"))

setup(
    name=s["lib_name"],
    version=s["version"],
    description=s["description"],
    long_description=(here/"README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    author=s["author"],
    author_email=s["author_email"],
    license="Apache-2.0",
    keywords=s["keywords"],
    url=s["git_url"],
    packages=["nmf2"],
    cmdclass={"build_py": WithStubs},
    package_data={"nmf2": s["package_data"].split()},
    python_requires=">=" + s["min_python"],
    install_requires=s["requirements"].split(),
    extras_require={k[:-len(suffix)]: s[k].split() for k in s if k.endswith(suffix)},
    entry_points={"console_scripts": s["console_scripts"].split(),
                  "nbdev": ["nmf2=nmf2._modidx:d"]},     # where nbdev finds the pages that names in backticks link to
)
