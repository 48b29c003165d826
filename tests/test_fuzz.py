"""A hundred odd inputs of each kind; and that the fuzzer sees what it should see, by breaking the package on purpose"""
import tempfile
from pathlib import Path

import fuzz
import pytest


def outcomes(kind, *options):
    "What became of some cases"
    args = fuzz.parser().parse_args([kind, *options])
    numbers = range(args.first, args.first + args.cases)
    with tempfile.TemporaryDirectory() as home: return args, fuzz.run(args, numbers, Path(home))


@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_a_hundred_cases(kind):
    args, found = outcomes(kind, "--cases", "100", "--seconds", "60")
    ends = [outcome["end"] for outcome in found]
    assert "failed" not in ends, fuzz.summary(args, found)
    assert ends.count("accepted") >= 10 and ends.count("refused") >= 10           # both ways are tried


FIT = """
from nmf2 import hier, nmf, rank2, flat, bisection, partitions, separable, consensus
from nmf2.core import check_matrix
"""
PLANTS = {                       # what is broken, how, and what has to be said of it
    "labels": ("matrices", "import nmf2.tree as t; old = t.labels; t.Tree.labels = lambda tree, n=None: old(tree, n) + 1", "labels are out of range"),
    "crash": ("trees", "import os, nmf2.tree as t; t.Tree.load = staticmethod(lambda path: os.abort())", "killed by SIGABRT"),
    "exit": ("trees", "import os, nmf2.tree as t; t.Tree.load = staticmethod(lambda path: os._exit(3))", "exit status 3"),
    "hang": ("trees", "import time, nmf2.tree as t; t.Tree.load = staticmethod(lambda path: time.sleep(99))", "no end"),
    "memory": ("files", "import nmf2.data as d; old = d.read; d.read = lambda *a, **k: (b'x'*(5 << 28), old(*a, **k))[1]", "more memory than a case may take"),
    "too much": ("files", "import nmf2.data as d; d.read = lambda *a, **k: bytearray(1 << 33)", "MemoryError"),
    "class": ("files", "import nmf2.formats as f\ndef bad(path, **o): raise RuntimeError(path)\nfor name in f.READERS: f.READERS[name] = bad", "RuntimeError"),
    "message": ("files", "import nmf2.data as d\ndef bad(path, **o): raise ValueError('no good')\nd.read = bad", "message of ValueError names nothing"),
    "input": ("matrices", "import nmf2.core as c, numpy as np\nfrom nmf2 import nmf\ndef bad(est, X, **o):\n    X.data[...] = 0\n    raise ValueError('X')\n"
                          "for name in ('nmf', 'hier', 'rank2', 'flat'): __import__('nmf2.' + name, fromlist=['x']).check_matrix = bad", "its input is changed"),
    "warning": ("trees", "import numpy as np, nmf2.tree as t; old = t.load; t.Tree.load = staticmethod(lambda path: (np.zeros(1)/0, old(path))[1])", "RuntimeWarning"),
    "bits": ("matrices", "import numpy as np, nmf2.tree as t; old = t.shares; import nmf2.hier as h; h.shares = lambda *a: old(*a)*np.random.uniform(1, 1.00001)",
             "transform has other bits")}

@pytest.mark.parametrize("plant", PLANTS)
def test_what_is_broken_is_seen(plant, tmp_path):
    kind, code, said = PLANTS[plant]
    (tmp_path/"plant.py").write_text(code)
    args, found = outcomes(kind, "--cases", "30" if kind == "matrices" else "3", "--plant", str(tmp_path/"plant.py"), "--seconds", "2" if plant == "hang" else "60")
    failures = [outcome["what"] for outcome in found if outcome["end"] == "failed"]
    assert any(said in what for what in failures), fuzz.summary(args, found)
    assert f"--only {next(o['case'] for o in found if said in o['what'])}" in fuzz.summary(args, found)


def test_a_case_is_the_same_when_repeated(tmp_path, capsys):
    for kind in fuzz.KINDS:
        (_, one), (_, again) = (outcomes(kind, "--first", str(first), "--cases", str(n)) for first, n in ((3, 2), (4, 1)))
        assert [one[1][key] for key in ("case", "end", "what")] == [again[0][key] for key in ("case", "end", "what")]


def test_exit_status_and_what_is_kept(tmp_path, capsys):
    (tmp_path/"plant.py").write_text(PLANTS["message"][1])
    assert fuzz.main(["files", "--only", "5", "--plant", str(tmp_path/"plant.py")]) == 1
    said = capsys.readouterr().out
    assert "names nothing" in said and any(Path(said.strip().rsplit(" ", 1)[1]).iterdir())
