"""What the benchmark scripts share: collections, matrices, clocks, scores, the machine, JSON files and tables."""
import argparse
import ctypes
import gc
import json
import os
import shlex
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from nmf2.data import load, planted_tree
from nmf2.study import Study, machine

KEEP = dict(runs=("", "keep the runs in this file, and go on with them"))          # for `arguments`, of scripts that go on with `runs_of`
RESULTS = Path(__file__).parent/"results"
SEES_MEMORY = Path("/proc/self/clear_refs").exists()       # on Linux


def arguments(doc, output, **more):
    """The command line of a script: `--quick`, `--out`, and those in `more`: switches with their help, or options as (default, help)."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small matrices and few runs: a check that the script runs")
    parser.add_argument("--out", "--output", type=Path, default=None, dest="output", metavar="PLACE",
                        help=f"the folder to write {output} to, or another JSON file (default: benchmarks/results, with --quick none)")
    for name, text in more.items():
        if isinstance(text, tuple): parser.add_argument(f"--{name}", default=text[0], help=f"{text[1]} (default: {text[0]})")
        else: parser.add_argument(f"--{name}", action="store_true", help=text)
    args = parser.parse_args()
    if args.output is None and not args.quick: args.output = RESULTS
    if args.output is not None and args.output.suffix != ".json": args.output = args.output/output
    return args


def collections(names):
    """Yield the labelled documents of each collection that NMF2_DATA has, with class numbers; say which are missing."""
    if not os.environ.get("NMF2_DATA"):
        sys.exit("Set the environment variable NMF2_DATA to the folder of the collections.")
    found = False
    for name in names:
        try: corpus = load(name).labelled()
        except FileNotFoundError:
            say(f"{name}: not in NMF2_DATA, skipped")
            continue
        found = True
        yield name, corpus, corpus.classes()[0]
    if not found: sys.exit(f"None of these collections is in NMF2_DATA: {', '.join(names)}")


def small(branching, n_docs):
    """A planted tree in place of `collections`, for --quick."""
    corpus = planted_tree(branching, n_docs, random_state=0)
    return [("planted", corpus, corpus.classes()[0])]


class WithClasses:
    """A collection for methods that draw documents of it: they see the classes, and return figures in place of labels."""
    def __init__(self, X, classes): self.X, self.classes, self.shape = X, np.asarray(classes), X.shape
    def to_numpy(self): return sp.hstack([sp.csr_array(self.X), sp.csr_array(self.classes[:,None])], "csr")     # for the study's checksum
    def some(self, seed):
        """Four fifths of the documents, and their classes."""
        rows = np.random.default_rng(seed).permutation(self.shape[0])[:self.shape[0]*4//5]
        return self.X[rows], self.classes[rows]


def runs_of(methods, found, quick, **options):
    """The runs of a study on all cores (with `quick` on one), in order; if one failed nothing is measured."""
    study = Study(methods, found, **options).run(n_jobs=1 if quick else -1, verbose=not quick)
    collections, names = list(found), list(methods)
    for run in study.failures: say(f"{run['method']} on {run['collection']}, k = {run['k']}, seed {run['seed']}: {run['error']}")
    if study.failures: sys.exit(f"{len(study.failures)} of {len(study.runs)} runs failed.")
    return sorted(study.runs, key=lambda run: (collections.index(run["collection"]), run["k"], names.index(run["method"]), run["seed"]))


def together(runs, *names):
    """Lists of the runs that have the same values of `names`, by these values."""
    groups = {}
    for run in runs: groups.setdefault(tuple(run[name] for name in names), []).append(run)
    return groups


def weigh(X):
    """(1 + ln tf)·ln(n/df), rows of unit length, in the place of the counts: nothing as large as the matrix is made."""
    n, m = X.shape
    blocks = [(i, min(i + 50_000, n)) for i in range(0, n, 50_000)]
    df = sum(np.bincount(X.indices[X.indptr[a]:X.indptr[b]], minlength=m) for a, b in blocks)
    idf = np.log(n/np.maximum(df, 1)).astype(X.dtype)
    for a, b in blocks:
        part, rows = slice(X.indptr[a], X.indptr[b]), np.repeat(np.arange(b - a), np.diff(X.indptr[a:b+1]))
        x = (1 + np.log(X.data[part]))*idf[X.indices[part]]
        length = np.sqrt(np.bincount(rows, x*x, b - a))
        X.data[part] = x/np.where(length > 0, length, 1)[rows]
    X.eliminate_zeros()                                    # of words that every document has
    return X


def newsgroups(dtype=np.float32):
    """D. Cai's counts of 20 Newsgroups, weighted, with class numbers; None if NMF2_DATA doesn't have them."""
    try: corpus = load("20newsgroups_cai")
    except FileNotFoundError: return say("20newsgroups_cai: not in NMF2_DATA, skipped")
    X = corpus.X.astype(dtype)
    X.sort_indices()                                       # else every fit sorts a copy
    return weigh(X), corpus.classes()[0]


def planted(branching, n_docs, n_terms, n_words, length, share):
    """A planted tree like a collection of texts, or a share of it: a weighted matrix, float32, and leaf numbers.

    The vocabulary grows with the square root of the number of documents, as in real collections.
    """
    corpus = planted_tree(branching, round(n_docs*share), n_terms=round(n_terms*share**.5), n_words=round(n_words*share**.5),
                          length=length, spread=.8, overlap=.8, noise=.05, skew=.5, shuffle=True, dtype=np.float32)
    return weigh(corpus.X), corpus.classes()[0]


def rcv1_like(share=1.):
    """As large as RCV1: 765,000 x 149,000, 60 million nonzeros; 60 leaves."""
    return planted((10, 6), 765_000, 149_000, 500, 95, share)


def wikipedia_like(share=1.):
    """As large as the Wikipedia set of the FlatNMF2 paper: 4.1 million x 2.36 million, 469 million nonzeros; 80 leaves."""
    return planted((10, 8), 4_100_000, 2_360_000, 2000, 135, share)


def matrices(quick, share):
    """Yield name, weighted matrix and classes: 20 Newsgroups, if it is there, and a planted one; with `quick` a tiny one."""
    if quick:
        yield "planted, tiny", *rcv1_like(.0003)
        return
    if found := newsgroups(): yield "20 Newsgroups", *found
    yield f"planted, {share:g} of RCV1", *rcv1_like(share)


def bytes_of(X):
    """The size of a CSR matrix in memory."""
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes


def timed(call, pause=.1):
    """Seconds that a call takes, and what it returns; after a pause, so that threads of the call before have gone to sleep; with --quick without."""
    if "--quick" not in sys.argv: time.sleep(pause)
    t0 = time.perf_counter()
    result = call()
    return time.perf_counter() - t0, result


def interleaved(calls, rounds, pause=.1, at_least=.05, before=None, warm=False):
    """The median seconds of each call in a dict, run in turn, `rounds` times after a round that is not measured.

    Short calls are repeated until they take `at_least` so many seconds. `before` is called with the key of each call. If `warm`, each call
    is made once more right before it is measured: where calls are done by several processes, one that has rested for a while is slower.
    """
    seconds, repeats = {key: [] for key in calls}, {}
    for key in [*calls, *list(calls)*rounds]:
        if before: before(key)
        if warm and key in repeats: calls[key]()
        n = repeats.get(key, 1)
        t, _ = timed(lambda: [calls[key]() for _ in range(n)], pause)
        if key in repeats: seconds[key].append(t/n)
        else: repeats[key] = 1 if t >= at_least else round(at_least/timed(calls[key], 0)[0]) or 1
    return {key: float(np.median(ts)) for key, ts in seconds.items()}


def one_thread():
    """For processes that run side by side: numba and BLAS with a thread each."""
    import numba
    import threadpoolctl
    numba.set_num_threads(1)
    threadpoolctl.threadpool_limits(1)


def slope(x, y):
    """How y grows with x: the exponent of the power law fitted to logarithms."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def in_child(function, *args):
    """What a function of a script returns in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool: return pool.submit(function, *args).result()


def with_file(X, function, *args):
    """What a function of a script returns in a fresh process, given a file with `X` before its other arguments."""
    with tempfile.TemporaryDirectory() as folder:
        sp.save_npz(f"{folder}/X.npz", X, compressed=False)
        return in_child(function, f"{folder}/X.npz", *args)


def resident(line):
    """Resident memory of this process in bytes: VmRSS, what it is, or VmHWM, what it was at most."""
    return int(Path("/proc/self/status").read_text().split(f"{line}:")[1].split()[0])*1024


def peak_beyond(call):
    """By how many bytes resident memory rose at most during a call: the kernel's own peak, VmHWM, set back before the call."""
    gc.collect()
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"): libc.malloc_trim(0)      # freed memory does not count
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    call()
    return resident("VmHWM") - before


def command():
    """The command line, without the places of files."""
    words, kept = iter(sys.argv[1:]), []
    for word in words:
        option, equals, _ = word.partition("=")
        if option not in ("--out", "--output", "--runs"): kept.append(shlex.quote(word))
        elif not equals: next(words)                                     # its place
    return " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *kept])


def write(path, shown, **record):
    """Write a result with the machine and the command that made it, one line for each entry of `rows`, and the table beside it."""
    print(shown)
    if path is None: return
    record = dict(command=command(), machine=machine(), **record)
    rows = record.pop("rows")
    head = json.dumps(record, indent=1, ensure_ascii=False)[:-2]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(head + ',\n "rows": [\n  ' + ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n ]\n}\n",
                    encoding="utf-8")
    path.with_suffix(".md").write_text(f"{record['what']}\n\n{shown}\n", encoding="utf-8")
    say(f"wrote {path} and {path.with_suffix('.md').name}")


def mean_sd(values, digits=3):
    """Mean and standard deviation over seeds, as text; the mean alone for one value."""
    mean, sd = np.mean(values), np.std(values, ddof=1) if len(values) > 1 else 0
    return f"{mean:.{digits}f}" + (f" ± {sd:.{digits}f}" if len(values) > 1 else "")


def table(head, rows):
    """A markdown table."""
    lines = [head, ["---"]*len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def say(text):
    """Report on standard error, with the time."""
    print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)
