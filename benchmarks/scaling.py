"""How does the time of a fit grow with nonzeros, leaves and threads?

HierNMF2 on parts of one planted matrix, with more and more leaves, and on one thread and more: medians of interleaved runs, and the
exponents of the power laws fitted to them (1 is linear). `n_sweeps_` tells how much of the growth is due to more iterations.

    python benchmarks/scaling.py [--quick] [--out FOLDER]
    python benchmarks/scaling.py --full          # 60 leaves on a matrix as large as RCV1, in sweeps, beside the papers' method
    python benchmarks/scaling.py --wikipedia     # as large as the Wikipedia set of the FlatNMF2 paper: 4.1 million documents
"""
import sys
import warnings

import numba
import numpy as np
from common import (SEES_MEMORY, arguments, bytes_of, interleaved, rcv1_like, resident, say, slope, table, timed,
                    wikipedia_like, write)
from sweep import one_iteration

from nmf2 import HierNMF2
from nmf2.evaluate import nmi

PAPERS = dict(init="random", extrapolate=False, tol=1e-4, random_state=0, max_outliers=None)


def fit(X, k, **options):
    """A tree with k leaves, or as many as there can be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return HierNMF2(k, **options).fit(X)


def growth(cases, rounds, before=None):
    """Seconds of a fit for each case, {value: (matrix, leaves)}, and how many sweeps it took."""
    sweeps = {}
    def call(value):
        X, k = cases[value]
        sweeps[value] = fit(X, k).n_sweeps_
    seconds = interleaved({value: lambda value=value: call(value) for value in cases}, rounds, before=before)
    return [dict(value=value, nonzeros=X.nnz, leaves=k, seconds=seconds[value], sweeps=round(sweeps[value], 1))
            for value, (X, k) in cases.items()]


def series(quick):
    """The three rows of measurements: name, points, exponent."""
    X, rounds = rcv1_like(.005 if quick else .25)[0], 1 if quick else 3
    fit(X[:1000], 3)
    n, most = X.shape[0], 5 if quick else 20
    parts = {share: X[:round(n*share)] for share in ([1/4, 1/2, 1] if quick else [1/32, 1/16, 1/8, 1/4, 1/2, 1])}
    yield "nonzeros", growth({Y.nnz: (Y, most) for Y in parts.values()}, rounds)
    Y = X[:n//2] if quick else X[:n//4]
    yield "leaves", growth({k: (Y, k) for k in ([3, 5, 8] if quick else [10, 20, 40, 80])}, rounds)
    cores = numba.config.NUMBA_NUM_THREADS
    yield "threads", growth({t: (X, most) for t in range(1, cores + 1)}, rounds, before=numba.set_num_threads)


def sweep_seconds(X, rounds):
    """Seconds of sweeps over the whole matrix."""
    iterate = one_iteration(X)
    return [timed(iterate, .02)[0] for _ in range(rounds + 1)][1:]


def full(k=60, share=1.):
    """Time of a fit in sweeps measured before and after it, and how well it finds the topics, beside the papers' method."""
    X, classes = rcv1_like(share)
    say(f"{X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} nonzeros")
    fit(X[:2000], 5)
    rows = []
    for name, options in {"default": {}, "random starts, not accelerated, 1e-4": PAPERS}.items():
        sweeps = sweep_seconds(X, 5)
        seconds, model = timed(lambda: fit(X, k, **options))
        sweep = float(np.median(sweeps + sweep_seconds(X, 5)))
        rows.append(dict(fit=name, shape=X.shape, nonzeros=X.nnz, leaves=model.n_leaves_, seconds=seconds, sweep=sweep,
                         fit_in_sweeps=seconds/sweep, sweeps=round(model.n_sweeps_, 1), nmi=nmi(model.labels_, classes)))
        say(f"{name}: {seconds:.0f} s")
    return rows


def wikipedia(k=80, share=1.):
    """One fit to 469 million nonzeros, and the most memory that making the matrix and the whole run took."""
    seconds, (X, classes) = timed(lambda: wikipedia_like(share))
    made = dict(seconds_made=seconds, peak_made=resident("VmHWM"))
    say(f"{X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} nonzeros: {made}")
    fit(X[:2000], 5)
    seconds, model = timed(lambda: fit(X, k))
    return [dict(fit="default", shape=X.shape, nonzeros=X.nnz, bytes=bytes_of(X), leaves=model.n_leaves_, **made, seconds=seconds,
                 sweeps=round(model.n_sweeps_, 1), peak=resident("VmHWM"), nmi=nmi(model.labels_, classes))]


def show_series(rows):
    """A table, and the exponents."""
    lines = [[row["series"], f"{p['value']:,}", f"{p['nonzeros']:,}", p["leaves"], f"{p['seconds']:.3f}", p["sweeps"],
              f"{p['seconds']/row['points'][0]['seconds']:.2f}"] for row in rows for p in row["points"]]
    exponents = [[row["series"], f"{row['exponent']:.2f}"] for row in rows if len(row["points"]) > 1]
    return "\n\n".join([table(["series", "value", "nonzeros", "leaves", "s", "sweeps", "as long as the first"], lines),
                        table(["time grows with", "exponent"], exponents)])


def main():
    args = arguments(__doc__, "scaling.json", full="60 leaves on 60 million nonzeros", wikipedia="80 leaves on 469 million nonzeros")
    if args.wikipedia and not SEES_MEMORY: sys.exit("Peak memory is read from /proc, which only Linux has.")
    if args.full or args.wikipedia:
        rows = (wikipedia if args.wikipedia else full)(*(5, .0005) if args.quick else ())
        shown = table(list(rows[0]), [[f"{v:.4g}" if isinstance(v, float) else v for v in row.values()] for row in rows])
        name = "scaling_wikipedia.json" if args.wikipedia else "scaling_full.json"
        write(args.output and args.output.with_name(name), shown, what="HierNMF2 on a large planted matrix: times in seconds, memory "
              "in bytes, the fit in units of one sweep over the matrix measured before and after it", rows=rows)
        return
    rows = []
    for name, points in series(args.quick):
        exponent = slope([p["value"] for p in points], [p["seconds"] for p in points]) if len(points) > 1 else None
        rows.append(dict(series=name, exponent=exponent, points=points))
        say(f"{name}: {exponent}")
    write(args.output, show_series(rows), what="Time of HierNMF2 against nonzeros, leaves and threads on a planted matrix, and the "
          "exponents of the power laws fitted", rows=rows)


if __name__ == "__main__": main()
