"""How long is the whole way, beside an earlier state of the package?

`nmf2 cluster` with the raw texts of 20 Newsgroups, from the packed file to the page and the other results, in new processes: by the
package as it is, and in turn with it by that of a commit, which is taken from the history (by default the last before words were
counted by compiled code). Both read the whole texts, heads of mails included. Each has its own folder of compiled code, Python's
bytecode with it, filled by runs that aren't measured.

    python benchmarks/before.py [--quick] [--out FOLDER] [--commit a82c511]
"""
import os
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path
from tarfile import open as open_tar

from common import arguments, interleaved, say, table, write

PACKAGE = Path(__file__).resolve().parent.parent


def taken_from(commit, folder):
    """The package of a commit, in a folder."""
    packed = subprocess.run(["git", "-C", PACKAGE, "archive", commit, "nmf2"], capture_output=True)
    if packed.returncode: sys.exit(f"--commit must be in the history of {PACKAGE.name}: {packed.stderr.decode().strip()}")
    with open_tar(fileobj=BytesIO(packed.stdout)) as files: files.extractall(folder, filter="data")
    return folder


def command(package, path, n_leaves, folder, *more, **env):
    """A function that runs `nmf2 cluster` of a package in a new process."""
    kept = str(folder/"compiled")                    # machine code, and the bytecode that an installed package comes with
    env = dict(os.environ, PYTHONPATH=str(package), NUMBA_CACHE_DIR=kept, PYTHONPYCACHEPREFIX=kept, **env)
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    folder.mkdir()
    call = [sys.executable, "-m", "nmf2", "cluster", str(path), "--leaves", str(n_leaves), "-o", str(folder/"results"), "--force", *more]
    def run():
        done = subprocess.run(call, env=env, cwd=folder, capture_output=True, text=True)
        if done.returncode: sys.exit(done.stderr)
    return run


def main():
    args = arguments(__doc__, "before.json", commit=("a82c511", "of the history"))
    if not args.quick and not os.environ.get("NMF2_DATA"): sys.exit("Set the environment variable NMF2_DATA to the folder of the collections.")
    commit = "HEAD" if args.quick else args.commit
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        few = folder/"few.txt"
        few.write_text("goal team hockey\nvote law court\nbread flour oven\n"*9, encoding="utf-8")
        path, n_leaves = (few, 2) if args.quick else (Path(os.environ["NMF2_DATA"])/"20newsgroups.jsonl.xz", 20)
        env = dict(NUMBA_DISABLE_JIT="1") if args.quick else {}
        calls = {"before": command(taken_from(commit, folder/"package"), path, n_leaves, folder/"before", **env),
                 "now": command(PACKAGE, path, n_leaves, folder/"now", "--heads", **env)}
        for name, call in calls.items():
            say(f"{name}: compiling")
            for _ in range(0 if args.quick else 3): call()
        seconds = interleaved(calls, 1 if args.quick else 7)
    row = dict(commit=commit, seconds=seconds, ratio=round(seconds["now"]/seconds["before"], 3))
    lines = table(["nmf2 cluster", "s", "of the time before"],
                  [[name, f"{s:.1f}", f"{s/seconds['before']:.2f}"] for name, s in seconds.items()])
    write(args.output, lines, what=f"The whole way from the packed texts of 20 Newsgroups to the page, in new processes: the package of "
          f"{commit} and as it is, medians of interleaved runs", rows=[row])


if __name__ == "__main__": main()
