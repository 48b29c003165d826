"""How long does flat NMF take beside scikit-learn's, to the same error from the same start?

scikit-learn's NMF (solver cd, its defaults but for the start) is run from NNDSVD factors; then ours, from the same factors, by HALS and
by block principal pivoting, until the error is at most scikit-learn's final one. All on the same matrix in one process, in turn, the
median of the rounds. Ours uses all threads, scikit-learn's solver one.

    NMF2_DATA=folder python benchmarks/nmf.py [--quick] [--out FOLDER]
"""
import warnings

import numpy as np
from common import arguments, matrices, say, table, timed, write
from sklearn.decomposition import NMF

from nmf2.core import single_blas
from nmf2.nmf import SOLVERS, first_factors, take_turns

OURS = "hals", "bpp"


def theirs(X, W0, T0, max_iter):
    """Seconds, and the error reached."""
    model = NMF(T0.shape[1], init="custom", max_iter=max_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                        # it rarely gets there in its 200 turns
        seconds, _ = timed(lambda: model.fit_transform(X, W=W0.copy(), H=T0.T.copy()))
    return seconds, model.reconstruction_err_, model.n_iter_


def ours(X, W0, T0, solver, goal):
    """Seconds until the error is at most `goal`, turns, and the error at the end of them; None if it is not reached."""
    pair = tuple(SOLVERS[solver](0, 0) for _ in range(2))
    with single_blas(): _, turns = timed(lambda: take_turns(X, W0, T0, pair, 1e-5, 300, True))
    hits = np.flatnonzero(turns.record[:, 1] <= goal)
    return (float(turns.record[hits[0], 0]), int(hits[0]) + 1) if len(hits) else (None, None)


def measure(X, k, rounds, max_iter):
    """Medians over rounds, in turn."""
    W0, T0 = first_factors(X, k, "nndsvd", np.random.RandomState(0))
    found = {"scikit-learn": []} | {solver: [] for solver in OURS}
    for turn in range(rounds + 1):                             # the first to warm up
        seconds, goal, n_iter = theirs(X, W0, T0, max_iter)
        runs = {"scikit-learn": (seconds, n_iter)} | {solver: ours(X, W0, T0, solver, goal*(1 + 1e-6)) for solver in OURS}
        if turn or rounds == 1:
            for name, run in runs.items(): found[name].append(run)
    out = {name: dict(seconds=float(np.median([s for s, _ in runs])), turns=runs[-1][1]) if runs[0][0] else None for name, runs in found.items()}
    return dict(error=float(goal), methods=out, ratios={solver: out["scikit-learn"]["seconds"]/out[solver]["seconds"] for solver in OURS if out[solver]})


def main():
    args = arguments(__doc__, "nmf.json")
    rows = []
    for name, X, _ in matrices(args.quick, .1):
        for k in (5,) if args.quick else (20, 40, 60):
            row = dict(matrix=name, shape=X.shape, nonzeros=int(X.nnz), k=k, **measure(X, k, 1 if args.quick else 3, 50 if args.quick else 200))
            rows.append(row)
            say(f"{name}, k = {k}: " + ", ".join(f"{s} {r:.1f} times as fast" for s, r in row["ratios"].items()))
    lines = [[row["matrix"], row["k"], *(f"{m['seconds']:.2f} s, {m['turns']} turns" if m else "not reached" for m in row["methods"].values()),
              *(f"{row['ratios'][s]:.1f}" if s in row["ratios"] else "" for s in OURS)] for row in rows]
    write(args.output, table(["matrix", "k", "scikit-learn", *OURS, *(f"{s}, times as fast" for s in OURS)], lines),
          what="Time to scikit-learn's final error, from the same start", rows=rows)


if __name__ == "__main__": main()
