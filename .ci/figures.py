#!/usr/bin/env python3
"""Figures in the prose of the notebooks, compared with what was measured.

    python3 .ci/figures.py            all notebooks
    python3 .ci/figures.py FILE ...   some of them

A text that ends with `<!-- figures: benchmarks/results/choices.json:default -->` promises that each of its figures stands
in that file, rounded as there, below a key or in a row with the entry `default`; without `:default` anywhere in the file;
`:default+arxiv` asks for both at once; several files may be named, with blanks between them. A broken promise is an error. In tutorials and explanations without
one, figures that stand in no output of their notebook and in no results file are listed as a warning. (One that does may
be there by chance: only the promise says where it comes from.)
Figures are numbers with decimals (0.7 or .7), thousands or a percent sign, and whole numbers of three digits or more.
"""
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIGURE = re.compile(r"(?<![\w.,/-])\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.,/-])\d+\.\d+(?! ?[a-z]*\.\d)|(?<![\w.,/-])\d+(?= ?%)"
                    r"|(?<![\w.,/-])\.\d+(?![\w.])"
                    r"|(?<![\w.,/-])\d{3,}(?![\w-])")
PROMISE = re.compile(r"<!-- figures: (.+?) -->")
NO_PROSE = re.compile(r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$\n]*\$|\]\([^)]*\)|\((?:19|20)\d\d\)|\b(?:19|20)\d\d\b|<!--.*?-->", re.S)

def numbers(data, keys=frozenset()):
    "All numbers in some JSON; with keys those below all of these, or in objects some of whose entries they are"
    if isinstance(data, dict):
        keys = keys - {value for value in data.values() if isinstance(value, str)}
        for name, value in data.items(): yield from numbers(value, keys - {name})
    elif isinstance(data, list):
        for value in data: yield from numbers(value, keys)
    elif not keys and isinstance(data, (int, float)) and not isinstance(data, bool): yield float(data)

def stands_in(figure, values):
    "Is a figure one of some values, rounded to as many places, or 100 times such a value for a share?"
    places = len(figure.partition(".")[2])
    wanted = float(figure.replace(",", ""))
    return any(abs(scale*abs(value) - wanted) <= .5*10**-places + 1e-9 for value in values for scale in (1, 100))

def measured(promises):
    "The numbers that a promise refers to"
    for promise in promises.split():
        file, _, keys = promise.partition(":")
        yield from numbers(json.loads((ROOT/file).read_text(encoding="utf-8")), frozenset(filter(None, keys.split("+"))))

def cells(path):
    "Prose, and everything else that stands in a notebook, as texts"
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    prose = ["".join(c["source"]) for c in found if c["cell_type"] == "markdown"]
    return prose, json.dumps([c for c in found if c["cell_type"] == "code"])

def look(path, known):
    "Broken promises of a notebook, and figures that stand nowhere else"
    prose, code = cells(path)
    broken, alone = [], []
    for text in prose:
        figures = FIGURE.findall(NO_PROSE.sub(" ", text))
        promises = " ".join(PROMISE.findall(text))
        if promises:
            values = set(measured(promises))
            broken += [f"{figure} is not in {promises}" for figure in figures if not stands_in(figure, values)]
        elif {"tutorials", "explain"} & set(path.parts):
            alone += [f for f in figures if f not in code and f.replace(",", "") not in code and not stands_in(f, known)]
    return broken, alone

def main(paths):
    known = {n for file in (ROOT/"benchmarks"/"results").glob("*.json") for n in numbers(json.loads(file.read_text(encoding="utf-8")))}
    failed = False
    for path in paths or sorted(p for p in (ROOT/"nbs").rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts):
        broken, alone = look(Path(path).resolve(), known)
        for what in broken: print(f"ERROR {Path(path).name}: {what}")
        if alone: print(f"warning {Path(path).name}: in no output and no results file: {', '.join(dict.fromkeys(alone))}")
        failed = failed or bool(broken)
    return int(failed)

if __name__ == "__main__": sys.exit(main(sys.argv[1:]))
