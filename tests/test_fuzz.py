"""A hundred odd inputs of each kind; and that the fuzzer sees a package that is broken on purpose"""
import shutil
import sys
import tempfile
from pathlib import Path

import fuzz
import pytest

pytestmark = pytest.mark.slow


def outcomes(kind, *options, numbers=None, plant=None):
    "What became of some cases, with a package that is sound, or changed by some code"
    with tempfile.TemporaryDirectory() as home:
        if plant: Path(home, "plant.py").write_text(plant)
        args = fuzz.parser().parse_args([kind, *map(str, options), *(["--plant", f"{home}/plant.py"] if plant else [])])
        return args, fuzz.run(args, range(args.cases) if numbers is None else numbers, Path(home))


@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_many_cases(kind):
    n = 100 if kind == "models" else 40              # few models are accepted
    args, found = outcomes(kind, "--cases", n, "--jobs", 2 if kind == "trees" else 1, "--seconds", 60)
    ends = [outcome["end"] for outcome in found]
    assert "failed" not in ends, fuzz.summary(args, found)
    assert ends.count("accepted") >= 3 and ends.count("refused") >= 3             # both ways are tried
    again = outcomes(kind, "--seconds", 60, numbers=[30, 20, 10])[1]              # in another process and another order
    for one in again:
        for key in ("end", "what"): assert one[key] == found[one["case"]][key]


def test_cases_are_the_same_with_other_hashes(tmp_path, monkeypatch):
    "Workers are copies, and their sets come in the same order; those of a new program come in another"
    anew = fuzz.Worker(None, tmp_path/"anew", [sys.executable])
    try:
        for kind in fuzz.KINDS:
            anew.args, found = outcomes(kind, "--seconds", 60, numbers=[10, 30])
            with monkeypatch.context() as other:
                other.setenv("PYTHONHASHSEED", "7")
                for one in found:
                    again = anew.try_case(one["case"])
                    for key in ("end", "what"): assert again[key] == one[key]
    finally:
        anew.stop()
        anew.errors.close()


@pytest.fixture(scope="module")
def good():
    "The number of a file that is read without complaint"
    return next(outcome["case"] for outcome in outcomes("files", "--cases", 20)[1] if outcome["end"] == "accepted")

READ = "import os, time, warnings, nmf2.data as data; old = data.read\ndef bad(*a, **o):\n    {}\ndata.read = bad\n"
READERS = {                      # what is done instead of reading, or before, and what has to be said of it
    "killed by SIGABRT": "os.abort()",
    "no end": "time.sleep(99)",
    "more memory than a case may take": "bytes([1])*(5 << 28); return old(*a, **o)",
    "MemoryError": "bytearray(1 << 36)",
    "RuntimeError": "raise RuntimeError(a[0])",
    "message of ValueError names nothing": "raise ValueError('no good')",
    "is not one line": r"raise ValueError(f'{a[0]}:\n no')",
    "is 600 characters long": "raise ValueError(f'{a[0]}: ' + 'x'*600)",
    "FutureWarning": "warnings.warn('slow', FutureWarning); return old(*a, **o)"}

@pytest.mark.parametrize("said", READERS)
def test_a_broken_reader_is_seen(said, good):
    seconds = .5 if said == "no end" else 60
    args, found = outcomes("files", "--seconds", seconds, numbers=[good], plant=READ.format(READERS[said]))
    assert found[0]["end"] == "failed" and said in found[0]["what"]
    assert f"python tests/fuzz.py files --seed 0 --only {good}\n" in fuzz.summary(args, found) + "\n"


LINES = """
import functools, os
from nmf2.formats import READERS
def twice(reader):
    @functools.wraps(reader)
    def read(*a, **options):
        found = reader(*a, **options)
        if "texts" in found: found["texts"] = [text + os.urandom(2).hex() for text in found["texts"]]
        return found
    return read
for name in READERS: READERS[name] = twice(READERS[name])
"""

def test_contents_that_differ_are_seen():
    args, found = outcomes("files", "--cases", 60, plant=LINES)
    assert "the same content comes to something else when" in fuzz.summary(args, found)


MODELS = """
import random
import numpy as np, scipy.sparse as sp
import nmf2.hier, nmf2.nmf, nmf2.weighting as w
shares, labels, check = nmf2.hier.shares, nmf2.nmf.heaviest, w.check_matrix
def spoiled(est, X, **options):
    values = X.data if sp.issparse(X) else X
    if isinstance(values, np.ndarray) and values.flags.writeable: values[...] = 7
    return check(est, X, **options)
w.check_matrix = spoiled
nmf2.nmf.heaviest = lambda W: labels(W) + 1
nmf2.hier.shares = lambda *a: shares(*a)*random.uniform(1, 1.00001)
"""

def test_broken_models_are_seen():
    args, found = outcomes("matrices", "--cases", 80, "--seconds", 60, plant=MODELS)
    for said in ("NMF: labels are out of range", "HierNMF2: fit_transform has other bits", "its input is changed"):
        assert said in fuzz.summary(args, found)


LEAVES = """
from nmf2.tree import Tree
load = Tree.load
def fewer(path):
    tree = load(path)
    for node in tree.nodes.values():
        if node.id and not node.children: node.docs, node.split = node.docs[1:], None
    return tree
Tree.load = staticmethod(fewer)
"""

def test_a_broken_tree_is_seen():
    args, found = outcomes("trees", "--cases", 40, "--seconds", 60, plant=LEAVES)
    assert "children don't partition their parent" in fuzz.summary(args, found)


def test_exit_status_and_what_is_kept(tmp_path, capsys):
    (tmp_path/"plant.py").write_text(READ.format("raise ValueError('no good')"))
    assert fuzz.main(["files", "--only", "5", "--plant", str(tmp_path/"plant.py")]) == 1
    said = capsys.readouterr().out
    kept = Path(said.strip().rsplit(" ", 1)[1])
    assert "names nothing" in said and any(kept.iterdir())
    shutil.rmtree(kept.parents[1])
