"""How long until the first tree?

In new processes: `import nmf2`, and `from nmf2 import HierNMF2` (scikit-learn comes with it); the first fit with a filled numba
cache, minus a warm one of the same matrix; the first fit ever, with an empty cache, likewise. Medians over several processes. And what a
newcomer waits for: `nmf2 cluster` with the raw texts of 20 Newsgroups, if NMF2_DATA has them, three times, from an empty cache on.

    python benchmarks/coldstart.py [--quick] [--out FOLDER]
"""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from common import arguments, table, write

PACKAGE = Path(__file__).resolve().parent.parent
TARGETS = {"import nmf2": .6, "first fit, filled cache": 1.5, "first fit, empty cache": 20}

IMPORT = """
import json, time
t0 = time.perf_counter()
import nmf2
t1 = time.perf_counter()
from nmf2 import HierNMF2
print(json.dumps([t1 - t0, time.perf_counter() - t0]))
"""

FITS = """
import json, statistics, time, warnings
import numpy as np
from nmf2 import HierNMF2
from nmf2.data import planted_tree
warnings.simplefilter("ignore")
X = planted_tree((4, 5), 2_000, n_words=100, n_terms=5_000, overlap=.7, shuffle=True, dtype=np.float32).X
seconds = []
for _ in range(4):
    t0 = time.perf_counter()
    HierNMF2(20).fit(X)
    seconds.append(time.perf_counter() - t0)
warm = statistics.median(seconds[1:])
print(json.dumps([seconds[0] - warm, warm]))
"""


def in_new_process(program, cache):
    """The numbers that a program prints, with numba's cache in the given folder."""
    env = dict(os.environ, NUMBA_CACHE_DIR=cache, NMF2_NUMBA_CACHE="1", PYTHONPATH=str(PACKAGE))
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    if done.returncode: sys.exit(done.stderr)
    return json.loads(done.stdout)


def commands(cache, times, quick):
    """Seconds of `nmf2 cluster`, several times; the first with an empty cache."""
    env = dict(os.environ, NUMBA_CACHE_DIR=cache, NMF2_NUMBA_CACHE="1", PYTHONPATH=str(PACKAGE))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        if quick: (path := Path(folder)/"few.txt").write_text("goal team hockey\nvote law court\nbread flour oven\n"*9, encoding="utf-8")
        else: path = Path(os.environ["NMF2_DATA"])/"20newsgroups.jsonl.xz"
        for i in range(times):
            call = ["-m", "nmf2", "cluster", str(path), "--leaves", "2" if quick else "20", "-o", f"{folder}/{i}"]
            t0 = perf_counter()
            done = subprocess.run([sys.executable, *call], env=env, capture_output=True, text=True)
            if done.returncode: sys.exit(done.stderr)
            found.append(perf_counter() - t0)
    return found


def measure(times, few, fits):
    """Seconds of each process, by what is measured, and how many files of machine code the last one made: `times` processes,
    `few` and one more with an empty cache."""
    found, made = {}, {}
    def compiled(cache): return sum(1 for _ in Path(cache).rglob("*.nbc"))
    def note(program, cache, *names):
        before = compiled(cache)
        for name, seconds in zip(names, in_new_process(program, cache)): found.setdefault(name, []).append(seconds)
        made.update(dict.fromkeys(names, compiled(cache) - before))
    for _ in range(few):
        with tempfile.TemporaryDirectory() as cache: note(fits, cache, "first fit, empty cache")
    with tempfile.TemporaryDirectory() as cache:
        note(fits, cache, "first fit, empty cache")
        for _ in range(times):
            note(IMPORT, cache, "import nmf2", "from nmf2 import HierNMF2")
            note(fits, cache, "first fit, filled cache", "warm fit")
    return found, made


def main():
    args = arguments(__doc__, "coldstart.json")
    quick = FITS.replace("nmf2 import HierNMF2", "nmf2.products import Rows")                # compiles less
    quick = quick.replace("HierNMF2(20).fit(X)", "Rows(X).squares()")
    found, made = measure(1, 0, quick) if args.quick else measure(7, 2, FITS)
    if args.quick or os.environ.get("NMF2_DATA"):
        with tempfile.TemporaryDirectory() as cache: seconds = commands("" if args.quick else cache, 1 if args.quick else 3, args.quick)
        found |= {f"the command, run {i}": [s] for i, s in enumerate(seconds, 1)}
    rows = [dict(what=name, seconds=seconds, median=float(np.median(seconds)), target=TARGETS.get(name), compiled=made.get(name))
            for name, seconds in found.items()]
    shown = table(["", "s", "target, s", "of the target"],
                  [[r["what"], f"{r['median']:.3f}", *(["", ""] if r["target"] is None else
                                                       [r["target"], f"{r['median']/r['target']:.2f}"])] for r in rows])
    write(args.output, shown, what="Seconds in new processes, medians; first fits are what they take beyond a warm fit of the same "
          "matrix", rows=rows)


if __name__ == "__main__": main()
