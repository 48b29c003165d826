"What goes out with a release: citation, recipe, types, wheel and sdist, and workflows that agree with the settings"
import ast
import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib import import_module
from inspect import isfunction
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CONFIG = configparser.ConfigParser(delimiters=["="])
CONFIG.read(ROOT/"settings.ini", encoding="utf-8")
SETTINGS = CONFIG["DEFAULT"]

USED = '''"A program as users write it: what a type checker must know of nmf2"
import numpy as np

from nmf2 import NMF, FlatNMF2, HierNMF2, Rank2NMF, TopicTree, Tree, load
from nmf2.evaluate import nmi
from nmf2.weighting import text_pipeline

corpus = load("library-docs")
model = TopicTree(12, max_df=0.2)
model.fit(corpus)
labels: np.ndarray = model.predict(["a text"])
shares: np.ndarray = model.transform(["a text"], n=5)
outline: str = model.outline(levels=(3,))
page: str = model.to_html()
model.save("topics.nmf2")
tree: Tree = Tree.load("topics.nmf2")
again = TopicTree.load("topics.nmf2").predict(["a text"])
X = text_pipeline().fit_transform(corpus.texts)
for estimator in (HierNMF2(5), FlatNMF2(5), NMF(5), Rank2NMF()): print(nmi(estimator.fit(X).labels_, labels))
'''
WRONG = {'TopicTree(12, max_depth=3)': "call-arg", 'model.transform(["a text"], n="five")': "arg-type",
         'TopicTree(12, max_df="most")': "arg-type", 'text: str = model.predict(["a"])': "assignment"}


def read(name):
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load((ROOT/name).read_text(encoding="utf-8"))


def recipe():
    "The recipe with its two variables filled in"
    yaml = pytest.importorskip("yaml")
    text = (ROOT/"packaging"/"meta.yaml").read_text(encoding="utf-8")
    found = dict(re.findall(r'{% set (\w+) = "(.*?)" %}', text), PYTHON="python")
    return yaml.safe_load(re.sub(r"{{ (\w+) }}", lambda m: found[m[1]], re.sub(r"^{%.*%}$", "", text, flags=re.M)))


def test_citation_agrees_with_the_settings():
    cited = read("CITATION.cff")
    assert (cited["title"], cited["version"], cited["date-released"]) == (SETTINGS["lib_name"], SETTINGS["version"], SETTINGS["date"])
    assert cited["abstract"] == SETTINGS["description"] and cited["repository-code"] == SETTINGS["git_url"]
    assert cited["url"] == SETTINGS["doc_host"] + SETTINGS["doc_baseurl"] and cited["authors"] == [{"name": SETTINGS["author"]}]


def test_citation_names_what_the_page_on_citing_does():
    page = "".join(line for cell in json.loads((ROOT/"nbs"/"guide"/"cite.ipynb").read_text(encoding="utf-8"))["cells"] for line in cell["source"])
    entries = [dict(re.findall(r"(\w+) += \{(.*)\},", entry)) for entry in re.findall(r"@\w+\{(?!nmf2,).*?\n\}", page, re.DOTALL)]
    def people(given): return " and ".join(f"{one['family-names']}, {one['given-names']}" for one in given)
    cited = [(people(work["authors"]), work["title"], str(work["year"]), work.get("volume"), f"{work.get('start')}--{work.get('end')}") for work in read("CITATION.cff")["references"]]
    assert len(entries) == len(cited) == 8
    for entry, (authors, title, year, volume, pages) in zip(entries, cited, strict=True):
        assert (entry["author"], re.sub("[{}]", "", entry["title"]), entry["year"]) == (authors, title, year)
        assert (entry.get("volume"), entry.get("pages", "None--None")) == (volume and str(volume), pages)


def test_recipe_agrees_with_the_settings():
    made = recipe()
    assert made["package"] == dict(name=SETTINGS["lib_name"], version=SETTINGS["version"])
    run = [line.replace(" ", "").replace("matplotlib-base", "matplotlib") for line in made["requirements"]["run"]]
    assert run == [f"python>={SETTINGS['min_python']}", *SETTINGS["requirements"].split()]
    assert made["build"]["entry_points"] == [SETTINGS["console_scripts"].replace("=", " = ")]
    assert made["about"]["summary"] == SETTINGS["description"] and SETTINGS["version"] in made["source"]["url"]


def test_workflows_try_every_python_there_is():
    jobs = read(".github/workflows/tests.yml")["jobs"]
    for job in ("quick", "installed"):
        tried = jobs[job]["strategy"]["matrix"]["python"]
        assert tried == [f"3.{minor}" for minor in range(10, 15)] and tried[0] == SETTINGS["min_python"]
    assert any(step.get("run") == ".ci/run" for step in jobs["everything"]["steps"])
    steps = [step.get("run") or step["uses"] for step in read(".github/workflows/site.yml")["jobs"]["build"]["steps"]]
    assert "nbdev_docs" in steps and any(step.startswith("quarto-dev/quarto-actions/setup") for step in steps)


@pytest.fixture(scope="module")
def stubs(tmp_path_factory):
    "A folder with the package as type checkers see it once it is installed"
    folder = tmp_path_factory.mktemp("types")
    subprocess.run([sys.executable, ROOT/".ci"/"stubs.py", folder/"nmf2"], check=True)
    shutil.copy(ROOT/"nmf2"/"py.typed", folder/"nmf2")
    return folder


def mypy(folder, *names):
    "What mypy has to say, as (file, line, what kind of error)"
    pytest.importorskip("mypy", reason="mypy is not installed: pip install mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", ROOT/"pyproject.toml", *names], cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return [(m[1], int(m[2]), m[3]) for m in re.finditer(r"^(\S+?):(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.M)]


@pytest.mark.slow
def test_types_hold_for_the_package_and_for_those_who_use_it(stubs):
    lines = len(USED.splitlines())
    (stubs/"use.py").write_text(USED + "\n".join(WRONG) + "\n", encoding="utf-8")
    expected = [("use.py", lines + i, kind) for i, kind in enumerate(WRONG.values(), 1)]
    assert mypy(stubs, "nmf2", "use.py") == expected


def test_stubs_have_every_public_name(stubs):
    for path in sorted((stubs/"nmf2").glob("[!_]*.pyi")):
        module = import_module(f"nmf2.{path.stem}")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {getattr(n, "name", None) or getattr(n.target, "id", "") for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.AnnAssign))}
        assert set(module.__all__) <= names, path.stem
        for n in tree.body:
            if not isinstance(n, ast.ClassDef) or n.name not in module.__all__: continue
            there = {m.name for m in n.body if isinstance(m, ast.FunctionDef)} | {m.target.id for m in n.body if isinstance(m, ast.AnnAssign)}
            own = vars(getattr(module, n.name)).items()
            public = {name for name, thing in own if isfunction(thing) and thing.__module__[:4] == "nmf2" and name[0] != "_"}
            missing = {name for name in public - there if not re.fullmatch(r"set_(params|\w+_request)", name)}      # scikit-learn's
            assert not missing, f"{n.name}: {missing}"


@pytest.mark.slow
def test_wheel_and_sdist_work_where_nothing_else_is(tmp_path):
    "The wheel that is made from the sdist runs from a folder of its own, with its command, its types and its static files"
    for tool in ("setuptools", "wheel"): pytest.importorskip(tool, reason=f"{tool} is not installed: pip install {tool}")
    left_out = shutil.ignore_patterns(".git", ".venv", "build", "dist", "*.egg-info", "__pycache__", "nbs", "benchmarks", "_proc")
    shutil.copytree(ROOT, tmp_path/"checkout", ignore=left_out)
    build = lambda kind, folder: subprocess.run([sys.executable, "-c", f"from setuptools import build_meta as b; b.build_{kind}({str(tmp_path)!r})"],
                                                cwd=folder, check=True, capture_output=True)
    build("sdist", tmp_path/"checkout")
    sdist, = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as file: file.extractall(tmp_path/"unpacked")
    unpacked, = (tmp_path/"unpacked").iterdir()
    build("wheel", unpacked)
    wheel, = tmp_path.glob("*.whl")
    there = tmp_path/"installed"
    with zipfile.ZipFile(wheel) as file: file.extractall(there)
    assert {"py.typed", "__init__.pyi", "topictree.pyi", "cli.py"} <= {path.name for path in (there/"nmf2").iterdir()}
    modules = lambda folder: sorted(path.name for path in (folder/"nmf2").glob("*.py"))
    assert modules(there) == modules(ROOT)
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | dict(PYTHONPATH=str(there))
    code = "import nmf2, sys; print(nmf2.__file__, nmf2.__version__); from nmf2.cli import main; sys.exit(main(['--version']))"
    out = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    file, version, said = out.stdout.split(maxsplit=2)
    assert Path(file).is_relative_to(there) and version == SETTINGS["version"] and said.strip() == f"nmf2 {version}"
    said = (there/f"nmf2-{version}.dist-info"/"entry_points.txt").read_text(encoding="utf-8")
    assert "nmf2 = nmf2.__main__:main" in said
