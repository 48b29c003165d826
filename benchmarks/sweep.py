"""What does one iteration cost, beside two sparse products and what the machine can do?

One ANLS iteration (weights of all documents, and the sums that the topics are solved from, in one pass) against:

- SciPy's `X @ Ht` and `X.T @ W`, from two CSR copies (X and its transpose), and from one (X and its CSC view)
- Intel MKL's two products from two CSR copies, where `sparse_dot_mkl` is installed
- a pass that only gathers and adds over the same indices, on as many threads: the practical limit
- reading the arrays of the matrix once

The products solve nothing and give neither gradient nor objective. Both float types, one thread and all; medians of interleaved
runs. SciPy has one thread only.

With --instructions another question: what do instructions of our own gain over plain numba? A sweep, a product with 20 columns and
a sum of documents in eight columns, each in two processes that are asked in turn, one of them with NMF2_PLAIN=1; one thread, the
fastest of interleaved runs. The result goes to instructions.json.

    NMF2_DATA=folder python benchmarks/sweep.py [--quick] [--instructions] [--out FOLDER]
"""
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numba
import numpy as np
import scipy.sparse as sp
from common import arguments, interleaved, matrices, say, table, write

from nmf2.instructions import add_to_strip, instructions_work
from nmf2.kernels import SOLVE, documents, next_topics, one_pass, solve_terms

os.environ.setdefault("KMP_BLOCKTIME", "0")        # MKL's threads must not spin on while others are measured
for library in Path(sys.prefix, "lib").glob("libmkl_rt*"): os.environ.setdefault("MKL_RT", str(library))
try: import sparse_dot_mkl as mkl
except ImportError: mkl = None

POOL = ThreadPoolExecutor(os.cpu_count())


@numba.njit(nogil=True, cache=True, fastmath=True)
def gather_and_add(data, indices, indptr, zero, lo, hi, sums):
    """For each document lo:hi two inner products with columns 0 and 1, which are then added, times the document, to 2 and 3."""
    one, two, three, four = np.uintp(1), np.uintp(2), np.uintp(3), np.uintp(4)
    for i in range(lo, hi):
        start, end = np.uintp(indptr[i]), np.uintp(indptr[i+1])
        a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = zero
        p, stop = start, start + (end - start)//four*four
        while p < stop:
            x, y, z, u = data[p], data[p+one], data[p+two], data[p+three]
            j, k = np.uintp(indices[p]), np.uintp(indices[p+one])
            l, m = np.uintp(indices[p+two]), np.uintp(indices[p+three])
            a0 += x*sums[j,0]; b0 += x*sums[j,1]; a1 += y*sums[k,0]; b1 += y*sums[k,1]
            a2 += z*sums[l,0]; b2 += z*sums[l,1]; a3 += u*sums[m,0]; b3 += u*sums[m,1]
            p += four
        while p < end:
            j = np.uintp(indices[p])
            a0 += data[p]*sums[j,0]; b0 += data[p]*sums[j,1]
            p += one
        a, b = (a0 + a1) + (a2 + a3), (b0 + b1) + (b2 + b3)
        for p in range(start, end):
            j = np.uintp(indices[p])
            sums[j,2] += data[p]*a; sums[j,3] += data[p]*b


@numba.njit(nogil=True, cache=True)
def read_share(values, lo, hi, columns, first, last):
    """Read a part of two arrays of 64-bit words."""
    total = np.int64(0)
    for i in range(lo, hi): total ^= values[i]
    for i in range(first, last): total ^= columns[i]
    return total


def in_parts(kernel, parts):
    """Run a kernel on each part, given by its arguments, one thread a part."""
    if len(parts) == 1: return kernel(*parts[0])
    for job in [POOL.submit(kernel, *part) for part in parts]: job.result()


def limit(X, threads):
    """The pass that only gathers and adds: each thread has its share of the documents, and sums of its own."""
    cuts = X.indptr.searchsorted(np.arange(threads + 1)*(X.nnz/threads))
    sums = [np.tile(np.array([1, 1, 0, 0], X.dtype), (X.shape[1], 1)) for _ in range(threads)]
    zero = X.dtype.type(0)
    parts = [(X.data, X.indices, X.indptr, zero, lo, hi, own) for lo, hi, own in zip(cuts, cuts[1:], sums)]
    return lambda: in_parts(gather_and_add, parts)


def reading(X, threads):
    """Read values and column numbers once."""
    words = [a.view(np.uint8)[:a.nbytes//8*8].view(np.int64) for a in (X.data, X.indices)]
    parts = [sum(((w, len(w)*i//threads, len(w)*(i + 1)//threads) for w in words), ()) for i in range(threads)]
    return lambda: in_parts(read_share, parts)


def one_iteration(X):
    """Ours, as `alternate` makes it: topics into the tables, the pass, and the new topics with gradient and objective."""
    docs, W = documents(X), np.zeros((X.shape[0], 2))
    docs.work.topics[1] = np.random.default_rng(0).random((X.shape[1], 2))
    def iterate():
        next_topics(docs.work)
        one_pass(docs.data, docs.work, W, SOLVE)
        solve_terms(docs.work)
    return iterate


def products(X, Xt, times):
    """Two sparse products, with factors of the matrix's own float type."""
    rng = np.random.default_rng(0)
    Ht, W = rng.random((X.shape[1], 2)).astype(X.dtype), rng.random((X.shape[0], 2)).astype(X.dtype)
    return lambda: (times(X, Ht), times(Xt, W))


def contestants(X, transposed, threads):
    """What is measured on one matrix, name and function."""
    calls = {"nmf2": one_iteration(X), "SciPy CSR": products(X, transposed, lambda A, B: A @ B),
             "SciPy CSC": products(X, X.T, lambda A, B: A @ B)}
    if mkl: calls["MKL"] = products(X, transposed, mkl.dot_product_mkl)
    return calls | {"gather and add": limit(X, threads), "read": reading(X, threads)}


def measure(name, X, rounds):
    """A row for each float type and number of threads, all measured in turn."""
    calls = {}
    for Y in (X, X.astype(np.float64)):
        transposed = Y.T.tocsr()
        for threads in sorted({1, numba.config.NUMBA_NUM_THREADS}):
            calls |= {(Y.dtype.name, threads, who): call for who, call in contestants(Y, transposed, threads).items()}
    def set_threads(key):
        numba.set_num_threads(key[1])
        if mkl: mkl.mkl_set_num_threads(key[1])
    seconds, rows = interleaved(calls, rounds, pause=.02, before=set_threads), {}
    for (dtype, threads, who), t in seconds.items():
        row = rows.setdefault((dtype, threads), dict(matrix=name, shape=X.shape, nonzeros=X.nnz, dtype=dtype, threads=threads,
                                                     seconds={}))
        row["seconds"][who] = t
    return list(rows.values())


def show(rows):
    """How many times as long as ours everything else takes, and our float64 beside our float32."""
    others = [who for who in rows[0]["seconds"] if who != "nmf2"]
    own = {(row["matrix"], row["threads"], row["dtype"]): row["seconds"]["nmf2"] for row in rows}
    first = table(["matrix", "float type", "threads", "nmf2, ms", "ns a nonzero", *others],
                  [[r["matrix"], r["dtype"], r["threads"], f"{r['seconds']['nmf2']*1e3:.2f}",
                    f"{r['seconds']['nmf2']/r['nonzeros']*1e9:.2f}",
                    *[f"{r['seconds'][who]/r['seconds']['nmf2']:.2f}" for who in others]] for r in rows])
    second = table(["matrix", "threads", "float64 / float32"],
                   [[matrix, threads, f"{t/own[matrix, threads, 'float32']:.2f}"] for (matrix, threads, dtype), t in own.items()
                    if dtype == "float64"])
    return first + "\n\n" + second


# ---- instructions of our own, and plain numba

@numba.njit(nogil=True)
def add_all(data, indices, indptr, table, factors):
    """Add every document to the columns of a table."""
    for i in range(len(indptr) - 1):
        p, end = np.int64(indptr[i]), np.int64(indptr[i+1])
        add_to_strip(data, indices, p, end, table, factors)


def eight_sums(X):
    """Every document of a matrix added to eight columns, with the signs of a trial."""
    table, factors = np.zeros((X.shape[1], 8), X.dtype), np.array([1, 0, -1, 0, 1, -1, 0, 0], X.dtype)
    return lambda: add_all(X.data, X.indices, X.indptr, table, factors)


def twenty_products(X):
    """A product with 20 columns."""
    docs, B = documents(X), np.random.default_rng(0).random((X.shape[1], 20)).astype(X.dtype)
    return lambda: docs.times(B)


LOOPS = {"sweep": one_iteration, "product with 20 columns": twenty_products, "sum in 8 columns": eight_sums}
CALLS = {}


def prepare(path, dtypes):
    """In a process that measures: everything compiled and run once; are the instructions used?"""
    numba.set_num_threads(1)
    X = sp.load_npz(path)
    for dtype in dtypes:
        for loop, make in LOOPS.items():
            CALLS[loop, dtype] = make(X.astype(dtype))
            CALLS[loop, dtype]()
    return instructions_work()


def seconds_of(loop, dtype, at_least=.02):
    """In a process that measures: the fastest of some runs."""
    fastest, start = np.inf, time.perf_counter()
    while time.perf_counter() < start + at_least:
        begin = time.perf_counter()
        CALLS[loop, dtype]()
        fastest = min(fastest, time.perf_counter() - begin)
    return fastest


def process(plain, *args):
    """A process with our instructions or without, ready to measure."""
    os.environ["NMF2_PLAIN"] = str(int(plain))
    pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
    used = pool.submit(prepare, *args).result()
    if used == plain: sys.exit("The instructions don't work here: there is nothing to compare.")
    return pool


def with_and_without(name, X, dtypes, rounds):
    """A row for each float type: seconds of each loop with our instructions and in plain numba."""
    with tempfile.TemporaryDirectory() as folder:
        sp.save_npz(f"{folder}/X.npz", sp.csr_matrix(X), compressed=False)
        pools = {who: process(who == "plain", f"{folder}/X.npz", dtypes) for who in ("instructions", "plain")}
        rows = []
        for dtype in dtypes:
            seconds = {loop: dict.fromkeys(pools, np.inf) for loop in LOOPS}
            for _ in range(rounds):
                for loop in LOOPS:
                    for who, pool in pools.items():
                        seconds[loop][who] = min(seconds[loop][who], pool.submit(seconds_of, loop, dtype).result())
            rows.append(dict(matrix=name, shape=X.shape, nonzeros=X.nnz, dtype=dtype, threads=1, seconds=seconds))
        for pool in pools.values(): pool.shutdown()
    return rows


def show_instructions(rows):
    """How many times as long plain numba takes."""
    return table(["matrix", "float type", *LOOPS],
                 [[r["matrix"], r["dtype"], *[f"{s['plain']/s['instructions']:.2f}" for s in r["seconds"].values()]] for r in rows])


def compare_instructions(args):
    """Measure and write instructions.json."""
    rows, dtypes = [], ("float32", "float64")[:1 if args.quick else None]
    for name, X, _ in matrices(args.quick, .03):
        say(f"{name}: {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} nonzeros")
        rows += with_and_without(name, X, dtypes, 1 if args.quick else 25)
    output = args.output and args.output.with_name("instructions.json")
    write(output, show_instructions(rows), rows=rows, what="How many times as long plain numba takes as instructions of our own: "
          "one whole ANLS iteration, a product with 20 columns, and a sum of all documents in eight columns; one thread, the fastest "
          "of interleaved runs in two processes")


def main():
    args = arguments(__doc__, "sweep.json", instructions="compare instructions of our own with plain numba, and nothing else")
    if args.instructions: return compare_instructions(args)
    if mkl is None: say("sparse_dot_mkl is not installed: MKL is left out")
    rows = []
    for name, X, _ in matrices(args.quick, 1):
        say(f"{name}: {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} nonzeros")
        rows += measure(name, X, 1 if args.quick else 15)
    write(args.output, show(rows), what="Time of one whole ANLS iteration of nmf2, and how many times as long the others take: two "
          "sparse products (SciPy, MKL), a pass that only gathers and adds, and reading the matrix once; medians of interleaved runs",
          mkl=mkl and mkl.mkl_get_version_string(), rows=rows)


if __name__ == "__main__": main()
