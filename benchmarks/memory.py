"""How much memory does a HierNMF2 fit take beyond the matrix?

By how much the resident memory of a fresh process rises at most during one fit, beyond the loaded matrix and after small fits,
so that neither libraries nor the compiler count (the kernel's VmHWM, set back before the fit; Linux only). In units of the
matrix: CSR, float32. Median over several processes.

    NMF2_DATA=folder python benchmarks/memory.py [--quick] [--out FOLDER]
"""
import sys
import warnings

import numpy as np
import scipy.sparse as sp
from common import SEES_MEMORY, arguments, bytes_of, newsgroups, peak_beyond, rcv1_like, say, table, with_file, write

from nmf2 import HierNMF2

SHARES = [.05, .2, 1]                        # of a matrix as large as RCV1


def fit(X, k):
    """A tree with k leaves, or as many as there can be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return HierNMF2(k).fit(X)


def peak(file, k):
    """Bytes that one fit takes in this process."""
    X = sp.load_npz(file)
    for warm in (X, X[:2000]): fit(warm, 2)                # large and small matrices are swept by different code
    return peak_beyond(lambda: fit(X, k))


def cases(quick):
    """Name, matrix and number of leaves of each case."""
    if quick: yield "planted, tiny", rcv1_like(.0005)[0], 5
    elif found := newsgroups(): yield "20 Newsgroups", found[0], 20
    for share in [] if quick else SHARES: yield f"planted, {share:g} of RCV1", rcv1_like(share)[0], 60


def main():
    args = arguments(__doc__, "memory.json")
    if not SEES_MEMORY: sys.exit("Peak memory is read from /proc, which only Linux has.")
    rows = []
    for name, X, k in cases(args.quick):
        peaks = [with_file(X, peak, k) for _ in range(1 if args.quick or X.nnz > 20_000_000 else 3)]
        rows.append(dict(matrix=name, shape=X.shape, nonzeros=X.nnz, leaves=k, bytes=bytes_of(X), peaks=peaks,
                         ratio=float(np.median(peaks)/bytes_of(X))))
        say(f"{name}: {rows[-1]['ratio']:.2f}")
    shown = table(["matrix", "documents x terms", "leaves", "matrix, MB", "peak beyond it, MB", "ratio"],
                  [[r["matrix"], f"{r['shape'][0]:,} x {r['shape'][1]:,}", r["leaves"], f"{r['bytes']/1e6:.1f}",
                    f"{np.median(r['peaks'])/1e6:.1f}", f"{r['ratio']:.2f}"] for r in rows])
    write(args.output, shown, what="Peak resident memory of a HierNMF2 fit beyond its matrix, and in units of the matrix", rows=rows)


if __name__ == "__main__": main()
