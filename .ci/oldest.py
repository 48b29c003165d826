#!/usr/bin/env python3
"""The oldest versions that settings.ini admits of what nmf2 needs, extras included, as a list of constraints for pip.

    python3.10 -m venv oldest
    python3 .ci/oldest.py > oldest/constraints.txt
    oldest/bin/pip install -c oldest/constraints.txt -e '.[dev]' && oldest/bin/python -m pytest

Whoever raises a bound there, or uses what is new in a library, sees by this whether the bounds are true.
"""
import re
from configparser import ConfigParser
from pathlib import Path

SETTINGS = Path(__file__).resolve().parent.parent/"settings.ini"
BOUND = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,]+\])?>=(?P<version>[\d.]+)")


def constraints(settings):
    """For each bound of users' requirements, the first versions that it admits: `pandas>=2` gives `pandas==2.0.*`."""
    users = [value for key, value in settings.items() if key.endswith("requirements") and key != "dev_requirements"]
    for name, version in sorted({(found["name"], found["version"]) for found in BOUND.finditer(" ".join(users))}):
        yield f"{name}=={version if '.' in version else version + '.0'}.*"
        if name == "dask": yield f"distributed=={version}.*"       # which comes with it, in step


if __name__ == "__main__":
    config = ConfigParser(delimiters=["="])
    config.read(SETTINGS, encoding="utf-8")
    print(*constraints(config["DEFAULT"]), sep="\n")
