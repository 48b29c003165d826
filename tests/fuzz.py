"""Fuzzing: odd inputs of five kinds, from a seed, each tried in a process that may die.

    python tests/fuzz.py files --cases 5000                  damaged files of every format of nmf2.formats
    python tests/fuzz.py matrices --cases 20000 --jobs 2     odd matrices for every estimator
    python tests/fuzz.py trees --cases 2500 --seed 7         damaged files of Tree.save
    python tests/fuzz.py models --cases 2500                 damaged files of TopicTree.save
    python tests/fuzz.py texts --cases 1000                  odd texts, all the way to a tree; and the command
    python tests/fuzz.py files --seed 7 --only 123           one case again: says what happened and keeps its files

A case passes if what it calls gives a result for which all promises hold, or refuses with a `ValueError` or `OSError`
of one short line that names the file or an argument. It fails on any other error, a warning that is not for users, a
broken promise, a crash, too much memory or too much time. Failures are grouped by what happened and where in the
package; with any of them the exit status is 1.

Which package is tried is up to PYTHONPATH. `--plant FILE` runs a Python file in each worker first, which may break the
package: this is how `tests/test_fuzz.py` knows that failures are seen.

This file is the program: workers, and what is said in the end. The cases are in `fuzz_files.py`, `fuzz_matrices.py`,
`fuzz_trees.py` and `fuzz_texts.py`, what counts as a failure is in `fuzz_checks.py`, mutations are in `fuzz_bytes.py`.
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
from fuzz_checks import check_warnings, refused, require, signature
from fuzz_files import files_case
from fuzz_matrices import matrices_case
from fuzz_texts import texts_case
from fuzz_trees import models_case, trees_case
from programs import python

KINDS = {"files": files_case, "matrices": matrices_case, "trees": trees_case, "models": models_case, "texts": texts_case}
MEMORY = 2**30                  # bytes that a case may take beside those of the process before it
SECONDS = 20                    # time for a case

# ---- the worker: a process that tries cases, and may die

def memory(field):
    "Bytes of this process: VmSize, VmRSS, or VmHWM, the largest VmRSS since it was reset; 0 where it is not known"
    try: return int(re.search(rf"{field}:\s+(\d+)", Path("/proc/self/status").read_text())[1])*1024
    except OSError: return 0

def reset_peak():
    try: Path("/proc/self/clear_refs").write_text("5")
    except OSError: pass

def limit_memory():
    "Let no case take much more than it may, so that the machine survives"
    try: import resource
    except ImportError: return
    if size := memory("VmSize"): resource.setrlimit(resource.RLIMIT_AS, (size + 2*MEMORY,)*2)

def try_here(kind, seed, number, folder):
    "What became of a case, as a dict"
    rng, base = np.random.default_rng([seed, number]), memory("VmRSS")
    outcome = dict(case=number, end="accepted", what="")
    reset_peak()
    began = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            warnings.simplefilter("error", RuntimeWarning)      # so that it says where in the package it comes from
            warnings.simplefilter("ignore", ResourceWarning)    # files stay open while an error is looked at
            result = KINDS[kind](rng, folder)
        require(memory("VmHWM") - base <= MEMORY, "more memory than a case may take")
        check_warnings(said)
        if refused(result): outcome.update(end="refused", what=result)
    except Exception as error:
        detail = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        outcome.update(end="failed", what=signature(error), detail=detail[-6000:])
    return outcome | dict(seconds=round(time.perf_counter() - began, 3), peak=max(0, memory("VmHWM") - base))

def keep_time(seconds):
    "Inside a `with` block: end this process, and say where it was, when the time is over; compiling does not count"
    from numba.core import event
    class Compiling(event.Listener):
        def on_start(self, _): faulthandler.cancel_dump_traceback_later()
        def on_end(self, _): faulthandler.dump_traceback_later(seconds, exit=True)
    faulthandler.dump_traceback_later(seconds, exit=True)
    return event.install_listener("numba:compile", Compiling())

def serve(args):
    "Try the cases whose kinds and numbers come in, and answer each with a line of JSON"
    replies, folder = os.fdopen(os.dup(1), "w"), Path(args.folder)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)                # for whatever is printed by others
    faulthandler.enable()
    if args.plant: runpy.run_path(args.plant)
    limit_memory()
    for line in sys.stdin:
        kind, number, seconds = line.split()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        with keep_time(float(seconds)): outcome = try_here(kind, args.seed, int(number), folder)
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps(outcome), file=replies, flush=True)

# ---- who sends them there

def cause_of_death(code, said):
    "What ended a process, from its exit status and what it said, and the function of the package that it was in"
    frame = re.search(r'File "[^"]*/nmf2/(\w+\.py)", line \d+ in (\S+)', said)
    where = f" at {frame[1]} {frame[2]}" if frame else ""
    if "Timeout (" in said: return "no end" + where
    return (f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}") + where

class Worker:
    "A process that tries cases, started again when it has died."
    def __init__(self, args, home, begin=None):
        self.args, self.home, self.process = args, home, None
        self.begin = begin or python()                                          # of a command
        self.home.mkdir()
        self.errors = open(self.home/"stderr", "a+b", buffering=0)

    def start(self):
        options = ["--seed", str(self.args.seed), "--serve", str(self.home/"case")]
        if self.args.plant: options += ["--plant", str(self.args.plant)]
        threads = dict(NUMBA_NUM_THREADS="2") if (os.cpu_count() or 1) < 2 else {}      # so that there are several, anyway
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        command = [*self.begin, __file__, self.args.kind, *options]
        self.process = subprocess.Popen(command, env=os.environ | threads | {"ARROW_DEFAULT_MEMORY_POOL": "system"}, **pipes)

    def stop(self):
        if self.process: self.process.communicate()
        self.process = None

    def ask(self, number, seconds):
        "What became of a case"
        if self.process is None: self.start()
        self.errors.truncate(0)
        guard = threading.Timer(seconds + 300, self.process.kill)         # if it can't even end itself
        guard.start()
        try:
            self.process.stdin.write(f"{self.args.kind} {number} {seconds}\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError: line = ""
        finally: guard.cancel()
        return json.loads(line) if line else self.dead(number, seconds)

    def dead(self, number, seconds):
        "What became of a case that ended its process"
        code, self.process = self.process.wait(), None
        said = (self.home/"stderr").read_text("utf-8", "replace")
        detail = said if len(said) < 6000 else said[:1500] + "\n...\n" + said[-4500:]
        return dict(case=number, end="failed", what=cause_of_death(code, said), detail=detail, seconds=seconds, peak=0)

    def try_case(self, number):
        "The same, with a second chance for what takes too long on a busy machine"
        outcome = self.ask(number, self.args.seconds)
        return self.ask(number, 3*self.args.seconds) if outcome["what"].startswith("no end") else outcome

def run(args, numbers, home):
    "Outcomes of cases, shared out to as many workers as asked for; each kind of failure is said at once, once"
    outcomes, seen = [], set()
    def some(j):
        worker = Worker(args, home/str(j))
        try:
            for number in numbers[j::args.jobs]:
                outcomes.append(outcome := worker.try_case(number))
                if outcome["end"] == "failed" and outcome["what"] not in seen:
                    print(f"case {number}: {outcome['what']}", file=sys.stderr, flush=True)
                    seen.add(outcome["what"])
        finally:
            worker.stop()
            worker.errors.close()
    threads = [threading.Thread(target=some, args=(j,)) for j in range(args.jobs)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return sorted(outcomes, key=lambda outcome: outcome["case"])

def summary(args, outcomes):
    "What became of all cases, as text"
    what = {end: [o for o in outcomes if o["end"] == end] for end in ("accepted", "refused", "failed")}
    sizes = ", ".join(f"{len(some):,} {end}" for end, some in what.items())
    lines = [f"{args.kind}, seed {args.seed}: {len(outcomes):,} cases, {sizes}"]
    refusals = Counter(o["what"] for o in what["refused"]).most_common(args.show)
    lines += ["", *(f"{n:7,}  {text}" for text, n in refusals), ""]
    for name, unit, size in (("peak", "MB of memory", 2**20), ("seconds", "seconds", 1)):
        most = max(outcomes, key=lambda o: o[name])
        lines.append(f"at most {most[name]/size:.1f} {unit}, in case {most['case']}")
    failures = Counter(o["what"] for o in what["failed"])
    lines += ["", f"{len(failures)} kinds of failure"]
    for text, n in failures.most_common():
        first = next(o["case"] for o in what["failed"] if o["what"] == text)
        lines += [f"{n:7,}  {text}", f"         python tests/fuzz.py {args.kind} --seed {args.seed} --only {first}"]
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
    numbers, home = range(args.first, args.first + args.cases), Path(tempfile.mkdtemp(prefix="nmf2-fuzz-"))
    try: outcomes = run(args, numbers if args.only is None else [args.only], home)
    finally:
        if args.only is None: shutil.rmtree(home, ignore_errors=True)
    print(summary(args, outcomes))
    if args.only is not None: print(outcomes[0].get("detail", ""), f"its files are in {home/'0'/'case'}", sep="\n")
    return int(any(o["end"] == "failed" for o in outcomes))

if __name__ == "__main__": sys.exit(main())
