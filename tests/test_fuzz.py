"""A hundred odd inputs of each kind; and that the fuzzer sees what it should see, with a package that is broken on purpose"""
import tempfile
from pathlib import Path

import fuzz
import pytest


def outcomes(kind, *options, numbers=None):
    "What became of some cases"
    args = fuzz.parser().parse_args([kind, *map(str, options)])
    numbers = range(args.first, args.first + args.cases) if numbers is None else numbers
    with tempfile.TemporaryDirectory() as home: return args, fuzz.run(args, numbers, Path(home))


@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_a_hundred_cases(kind):
    args, found = outcomes(kind, "--cases", 100, "--seconds", 60)
    ends = [outcome["end"] for outcome in found]
    assert "failed" not in ends, fuzz.summary(args, found)
    assert ends.count("accepted") >= 10 and ends.count("refused") >= 10           # both ways are tried
    again = outcomes(kind, numbers=[90, 50, 10])[1]                               # alone, and in another order
    for one in again: assert [one[key] for key in ("end", "what")] == [found[one["case"]][key] for key in ("end", "what")]


READ = "import os, time, warnings, nmf2.data as data; old = data.read\ndef bad(*a, **o):\n    {}\ndata.read = bad\n"
READERS = {                      # how reading is broken, and what has to be said of it
    "killed by SIGABRT": "os.abort()",
    "exit status 3": "os._exit(3)",
    "no end": "time.sleep(99)",
    "more memory than a case may take": "bytes([1])*(5 << 28); return old(*a, **o)",
    "MemoryError": "bytearray(1 << 36)",
    "RuntimeError": "raise RuntimeError(a[0])",
    "message of ValueError names nothing": "raise ValueError('no good')",
    "is not one line": r"raise ValueError(f'{a[0]}:\n no')",
    "is 600 characters long": "raise ValueError(f'{a[0]}: ' + 'x'*600)",
    "FutureWarning": "warnings.warn('slow', FutureWarning); return old(*a, **o)",
    "something else when": "found = old(*a, **o); found.ids = [str(time.time_ns()) + i for i in found.ids]; return found"}

@pytest.mark.parametrize("said", READERS)
def test_a_broken_reader_is_seen(said, tmp_path):
    (tmp_path/"plant.py").write_text(READ.format(READERS[said]))
    cases = 1 if READERS[said].startswith(("os", "time", "raise")) else 10
    args, found = outcomes("files", "--cases", cases, "--plant", tmp_path/"plant.py", "--seconds", 1 if said == "no end" else 60)
    failed = [outcome["case"] for outcome in found if outcome["end"] == "failed" and said in outcome["what"]]
    assert failed and f"python tests/fuzz.py files --seed 0 --only {failed[0]}\n" in fuzz.summary(args, found) + "\n"


MODELS = """
import random
import nmf2.flat, nmf2.hier, nmf2.nmf
from nmf2.tree import Tree
share, check, labels, fit = nmf2.hier.shares, nmf2.nmf.check_matrix, Tree.labels, nmf2.flat.heaviest
def spoiled(est, X, **options):
    if isinstance(X, nmf2.nmf.np.ndarray) and X.flags.writeable and X.size: X[...] = 0
    return check(est, X, **options)
nmf2.nmf.check_matrix = spoiled
nmf2.hier.shares = lambda *a: share(*a)*random.uniform(1, 1.00001)
nmf2.flat.heaviest = lambda W: fit(W) + 1
"""

def test_broken_models_are_seen(tmp_path):
    (tmp_path/"plant.py").write_text(MODELS)
    args, found = outcomes("matrices", "--cases", 60, "--plant", tmp_path/"plant.py", "--seconds", 60)
    for said in ("FlatNMF2: labels are out of range", "HierNMF2: transform has other bits", "NMF: its input is changed"):
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

def test_a_broken_tree_is_seen(tmp_path):
    (tmp_path/"plant.py").write_text(LEAVES)
    args, found = outcomes("trees", "--cases", 30, "--plant", tmp_path/"plant.py", "--seconds", 60)
    assert "children don't partition their parent" in fuzz.summary(args, found)


def test_exit_status_and_what_is_kept(tmp_path, capsys):
    (tmp_path/"plant.py").write_text(READ.format("raise ValueError('no good')"))
    assert fuzz.main(["files", "--only", "5", "--plant", str(tmp_path/"plant.py")]) == 1
    said = capsys.readouterr().out
    assert "names nothing" in said and any(Path(said.strip().rsplit(" ", 1)[1]).iterdir())
