"""How long does flat NMF take beside scikit-learn's, and to the same error?

Two questions, on the same matrix in one process, methods in turn, medians of the rounds; where scikit-learn's fit takes more than a minute
there is one round. Ours uses all threads, scikit-learn's solver (cd) one.

- Whole fits from NNDSVD at the defaults of both libraries, with the errors they end with.
- From the same NNDSVD factors, the time until the error is at most that with which scikit-learn's whole fit ended and a ten-thousandth more,
  because no two solvers end in quite the same minimum. scikit-learn is given the fewest turns that get there.

    NMF2_DATA=folder python benchmarks/nmf.py [--quick] [--out FOLDER]
"""
import warnings

import numpy as np
from common import arguments, matrices, say, table, timed, write
from sklearn import decomposition

from nmf2 import NMF
from nmf2.core import single_blas
from nmf2.nmf import SOLVERS, first_factors, take_turns

OURS = "hals", "bpp"
LIMIT = 60                                                     # seconds; what takes longer is measured once
METHODS = "scikit-learn", *OURS


def whole_fits(X, k, max_iter):
    """For each method a function that fits it and returns the error and the turns."""
    def fit(model):
        def run():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")                # some are not done after 200 turns
                model.fit_transform(X)
            return float(model.reconstruction_err_), model.n_iter_
        return run
    return {"scikit-learn": fit(decomposition.NMF(k, init="nndsvd", max_iter=max_iter, random_state=0)),
            **{solver: fit(NMF(k, solver=solver, max_iter=max_iter, random_state=0)) for solver in OURS}}


def theirs(X, W0, T0, max_iter):
    """Seconds, and the error reached."""
    model = decomposition.NMF(T0.shape[1], init="custom", max_iter=max_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds, _ = timed(lambda: model.fit_transform(X, W=W0.copy(), H=T0.T.copy()))
    return seconds, float(model.reconstruction_err_)


def fewest_turns(X, W0, T0, last, goal):
    """The fewest turns after which scikit-learn's error is at most `goal`, which it is after `last`: by halving."""
    low = 0
    while last - low > 1:
        middle = (low + last)//2
        if theirs(X, W0, T0, middle)[1] <= goal: last = middle
        else: low = middle
    return last


def ours(X, W0, T0, solver, goal):
    """Seconds and turns until the error is at most `goal`; None if it is not reached."""
    pair = tuple(SOLVERS[solver](0, 0) for _ in range(2))
    with single_blas(): _, turns = timed(lambda: take_turns(X, W0, T0, pair, 1e-4, 300, True))
    hits = np.flatnonzero(turns.record[:, 1] <= goal)
    return (float(turns.record[hits[0], 0]), int(hits[0]) + 1) if len(hits) else (None, None)


def measure(X, k, rounds, max_iter):
    """Medians over rounds, in turn, for both questions."""
    W0, T0 = first_factors(X, k, "nndsvd", np.random.RandomState(0))
    whole, reach, fits = {name: [] for name in METHODS}, {name: [] for name in METHODS}, whole_fits(X, k, max_iter)
    for solver in OURS: fits[solver]()                         # to warm up
    for _ in range(rounds):
        for name, fit in fits.items():
            seconds, found = timed(fit)
            whole[name].append((seconds, *found))
        if whole["scikit-learn"][0][0] > LIMIT: break
    _, error, last = whole["scikit-learn"][0]
    goal = error*(1 + 1e-4)
    enough = fewest_turns(X, W0, T0, last, goal)
    for _ in whole["scikit-learn"]:
        reach["scikit-learn"].append((theirs(X, W0, T0, enough)[0], enough))
        for solver in OURS: reach[solver].append(ours(X, W0, T0, solver, goal))
    median = lambda runs: float(np.median([run[0] for run in runs])) if runs[0][0] else None
    found = {name: dict(seconds=median(whole[name]), error=whole[name][0][1], turns=whole[name][0][2], to_goal=median(reach[name]),
                        turns_to_goal=reach[name][0][1]) for name in METHODS}
    first = found["scikit-learn"]
    return dict(goal=goal, methods=found,
                ratios={s: first["seconds"]/found[s]["seconds"] for s in OURS},
                ratios_to_goal={s: first["to_goal"]/found[s]["to_goal"] if found[s]["to_goal"] else None for s in OURS})


def shown(rows):
    """The table: whole fits with their errors, then the way to the goal."""
    head = ["matrix", "k", *(f"{name}: fit" for name in METHODS), *(f"{s}, times as fast" for s in OURS),
            *(f"{name}: to the same error" for name in METHODS), *(f"{s}, times as fast" for s in OURS)]
    lines = []
    for row in rows:
        m, to_goal = row["methods"], row["ratios_to_goal"]
        lines.append([row["matrix"], row["k"], *(f"{m[name]['seconds']:.2f} s, error {m[name]['error']:.3f}" for name in METHODS),
                      *(f"{row['ratios'][s]:.1f}" for s in OURS),
                      *(f"{m[name]['to_goal']:.2f} s, {m[name]['turns_to_goal']} turns" if m[name]["to_goal"] else "not reached" for name in METHODS),
                      *(f"{to_goal[s]:.1f}" if to_goal[s] else "" for s in OURS)])
    return table(head, lines)


def main():
    args = arguments(__doc__, "nmf.json")
    rows = []
    for name, X, _ in matrices(args.quick, .1):
        for k in (5,) if args.quick else (20, 40, 60):
            row = dict(matrix=name, shape=X.shape, nonzeros=int(X.nnz), k=k, **measure(X, k, 1 if args.quick else 2, 50 if args.quick else 200))
            rows.append(row)
            say(f"{name}, k = {k}: " + ", ".join(f"{s} {r:.1f} times as fast" for s, r in row["ratios"].items()))
    write(args.output, shown(rows), what="NMF beside scikit-learn's: whole fits, and the time to the same error from the same start", rows=rows)


if __name__ == "__main__": main()
