"""Fuzzing: odd inputs of four kinds, from a seed, each tried in a process that may die.

    python tests/fuzz.py files --cases 5000                  damaged files of every format of nmf2.formats
    python tests/fuzz.py matrices --cases 20000 --jobs 2     odd matrices for every estimator
    python tests/fuzz.py trees --cases 2500 --seed 7         damaged files of Tree.save
    python tests/fuzz.py texts --cases 1000                  odd texts, all the way to a tree; and the command
    python tests/fuzz.py files --seed 7 --only 123           one case again: says what happened and keeps its files

A case passes if what it calls gives a result for which all promises hold, or refuses with a `ValueError` or `OSError`
of one short line that names the file or an argument. It fails on any other error, a warning that is not ours, a broken
promise, a crash, too much memory or too much time. Failures are grouped by what happened and where in the package;
with any of them the exit status is 1.

Which package is tried is up to PYTHONPATH. `--plant FILE` runs a Python file in each worker first, which may break the
package: this is how `tests/test_fuzz.py` knows that failures are seen.

This file is the program: workers, and what is said in the end. The cases are in `fuzz_files.py`, `fuzz_matrices.py`,
`fuzz_trees.py` and `fuzz_texts.py`, and `fuzz_checks.py` has what counts as a failure.
"""
import argparse
import faulthandler
import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from fuzz_checks import Refusal, check_warnings, require, signature
from fuzz_files import files_case
from fuzz_matrices import matrices_case
from fuzz_texts import texts_case
from fuzz_trees import trees_case

MEMORY = 2**30                  # bytes that a case may take beside those of the process before it
SECONDS = 20                    # time for a case

# ---- the worker: a process that tries cases, and may die

KINDS = {"files": files_case, "matrices": matrices_case, "trees": trees_case, "texts": texts_case}

def memory(field):
    "Bytes of this process: VmSize, or VmHWM, the largest resident size since it was reset"
    try: return int(re.search(rf"{field}:\s+(\d+)", Path("/proc/self/status").read_text())[1])*1024
    except OSError: return 0                # not Linux: not measured

def reset_peak():
    try: Path("/proc/self/clear_refs").write_text("5")
    except OSError: pass

def limit_memory():
    "Let no case take much more than it may"
    try: import resource
    except ImportError: return              # Windows
    if memory("VmSize"): resource.setrlimit(resource.RLIMIT_AS, (memory("VmSize") + 2*MEMORY,)*2)

def run_case(kind, seed, number, folder):
    "What became of a case, as a dict"
    rng, base, outcome = np.random.default_rng([seed, number]), memory("VmRSS"), dict(case=number, end="failed")
    reset_peak()
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            warnings.simplefilter("error", RuntimeWarning)              # so that it says where in the package it comes from
            warnings.simplefilter("ignore", ResourceWarning)            # files stay open while an error is looked at
            result = KINDS[kind](rng, folder)
        require(memory("VmHWM") - base <= MEMORY, "more memory than a case may take")
        check_warnings(said)
        outcome.update(end="refused", what=result) if isinstance(result, Refusal) else outcome.update(end="accepted", what="")
    except Exception as error:
        outcome.update(what=signature(error), detail="".join(traceback.format_exception(error))[-6000:])
    return outcome | dict(seconds=round(time.perf_counter() - began, 3), peak=memory("VmHWM") - base)

def serve(args):
    "Try the cases whose numbers come in, and answer each with a line of JSON"
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)          # whatever is printed by others
    faulthandler.enable()
    if args.plant: runpy.run_path(args.plant)
    limit_memory()
    folder = Path(args.folder)
    for line in sys.stdin:
        number, seconds = line.split()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        faulthandler.dump_traceback_later(float(seconds), exit=True)
        outcome = run_case(args.kind, args.seed, int(number), folder)
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps(outcome), file=replies, flush=True)

# ---- the program

class Worker:
    "A process that tries cases, started again when it has died."
    def __init__(self, args, home):
        self.args, self.home, self.process = args, Path(home), None
        self.home.mkdir(exist_ok=True)
        self.errors = open(self.home/"stderr", "a+b")

    def start(self):
        options = ["--seed", str(self.args.seed), "--serve", str(self.home/"case")] + (["--plant", self.args.plant] if self.args.plant else [])
        env = dict(os.environ, NUMBA_NUM_THREADS=str(max(2, os.cpu_count() or 1)))
        self.process = subprocess.Popen([sys.executable, __file__, self.args.kind, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True, env=env)

    def ask(self, number, seconds):
        "What became of a case"
        if self.process is None: self.start()
        self.errors.truncate(0)
        guard = threading.Timer(seconds + 60, self.process.kill)          # if it can't even end itself
        guard.start()
        try:
            self.process.stdin.write(f"{number} {seconds}\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError: line = ""
        finally: guard.cancel()
        return json.loads(line) if line else self.dead(number, seconds)

    def dead(self, number, seconds):
        "What became of a case that ended its process"
        code, self.process = self.process.wait(), None
        self.errors.seek(0)
        said = self.errors.read().decode("utf-8", "replace")
        frame = re.search(r'File "[^"]*/nmf2/(\w+\.py)", line \d+ in (\S+)', said)
        what = "no end" if "Timeout (" in said else f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        return dict(case=number, end="failed", what=what + (f" at {frame[1]} {frame[2]}" if frame else ""), detail=said[-6000:], seconds=seconds)

    def try_case(self, number):
        "The same; what takes too long gets a second chance, since compiling or a busy machine may be the reason"
        outcome = self.ask(number, self.args.seconds)
        return self.ask(number, 3*self.args.seconds) if outcome["what"].startswith("no end") else outcome

    def stop(self):
        if self.process: self.process.stdin.close(), self.process.wait()
        self.errors.close()

def run(args, numbers, home):
    "Outcomes of cases, shared out to as many workers as asked for"
    outcomes, seen = [], set()
    def some(j):
        worker = Worker(args, home/str(j))
        try:
            for number in numbers[j::args.jobs]:
                outcome = worker.try_case(number)
                outcomes.append(outcome)
                if outcome["end"] == "failed" and outcome["what"] not in seen:
                    seen.add(outcome["what"])
                    print(f"case {number}: {outcome['what']}", file=sys.stderr, flush=True)
        finally: worker.stop()
    threads = [threading.Thread(target=some, args=(j,)) for j in range(args.jobs)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return sorted(outcomes, key=lambda outcome: outcome["case"])

def summary(args, outcomes):
    "What became of all cases, as text"
    ends, failures, refusals = Counter(o["end"] for o in outcomes), {}, Counter(o["what"] for o in outcomes if o["end"] == "refused")
    for o in outcomes:
        if o["end"] == "failed": failures.setdefault(o["what"], []).append(o["case"])
    lines = [f"{args.kind}, seed {args.seed}: {len(outcomes):,} cases, {ends['accepted']:,} accepted, {ends['refused']:,} refused, "
             f"{ends['failed']:,} failed", "", "refused:"]
    lines += [f"{n:7,}  {what}" for what, n in refusals.most_common(args.show)]
    for name, unit, size in (("peak", "MB", 2**20), ("seconds", "s", 1)):
        most = max(outcomes, key=lambda o: o.get(name, 0), default={})
        lines.append(f"most {name}: {most.get(name, 0)/size:.1f} {unit} in case {most.get('case')}")
    lines += ["", f"{len(failures)} kinds of failure" + ":"*bool(failures)]
    for what, cases in sorted(failures.items(), key=lambda item: -len(item[1])):
        lines += [f"{len(cases):7,}  {what}", f"         python tests/fuzz.py {args.kind} --seed {args.seed} --only {cases[0]}"]
    return "\n".join(lines)

def parser():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("kind", choices=list(KINDS))
    p.add_argument("--cases", type=int, default=1000, help="how many cases to try")
    p.add_argument("--first", type=int, default=0, help="number of the first one")
    p.add_argument("--seed", type=int, default=0, help="another seed gives other cases")
    p.add_argument("--jobs", type=int, default=1, help="processes")
    p.add_argument("--only", type=int, metavar="CASE", help="try this case alone, and keep its files")
    p.add_argument("--seconds", type=float, default=SECONDS, help="time for a case")
    p.add_argument("--show", type=int, default=30, help="how many kinds of refusals to list")
    p.add_argument("--plant", metavar="FILE", help="Python file to run in each worker first")
    p.add_argument("--serve", dest="folder", help=argparse.SUPPRESS)
    return p

def main(argv=None):
    "Exit status: 1 if a case failed"
    args = parser().parse_args(argv)
    if args.folder: return serve(args)
    home = Path(tempfile.mkdtemp(prefix="nmf2-fuzz-"))
    numbers = range(args.first, args.first + args.cases) if args.only is None else [args.only]
    try:
        outcomes = run(args, numbers, home)
        print(summary(args, outcomes))
        if args.only is not None: print(outcomes[0].get("detail", ""), f"its files are in {home/'0'/'case'}", sep="\n")
    finally:
        if args.only is None: shutil.rmtree(home, ignore_errors=True)
    return int(any(o["end"] == "failed" for o in outcomes))

if __name__ == "__main__": sys.exit(main())
