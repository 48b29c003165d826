"""What do ensembles and aggregation cost, in time and memory, beside one run?

HypergraphEnsemble with twenty runs beside one such run (NMF, ten turns of HALS from a random start): seconds, in turn, the median of three
rounds, and how many runs the ensemble lasts. ClusterAggregation of ten labelings that agree in part, on as many documents: seconds and rounds.
Memory: by how much the resident memory of a fresh process rises at most during one fit, beyond the loaded matrix and after a fit to a small
one (the kernel's VmHWM, set back before the fit; Linux only). On 20 Newsgroups or, where that isn't at hand, on a planted collection.

    NMF2_DATA=folder python benchmarks/ensembles.py [--quick] [--out FOLDER]
"""
import warnings

import numpy as np
import scipy.sparse as sp
from common import SEES_MEMORY, arguments, interleaved, matrices, peak_beyond, table, with_file, write

from nmf2.consensus import ClusterAggregation, HypergraphEnsemble
from nmf2.nmf import NMF

RUNS = 20


def one_run(X, k): return NMF(k, solver="hals", init="random", max_iter=10, tol=0, random_state=0).fit(X)
def ensemble(X, k): return HypergraphEnsemble(k, n_runs=RUNS, random_state=0).fit(X)


def aggregation(X, k):
    """Ten clusterings, in each of which a tenth of the documents are in some other cluster."""
    rng, n = np.random.default_rng(0), X.shape[0]
    labelings = [np.where(rng.random(n) < .1, rng.integers(k, size=n), np.arange(n) % k) for _ in range(10)]
    return ClusterAggregation(k, clusterers=labelings, random_state=0).fit(X)


WAYS = {"one run": one_run, "ensemble": ensemble, "aggregation": aggregation}


def quietly(name, X, k):
    """A fit; runs stop at their limit of turns, as they should."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return WAYS[name](X, k)


def memory(file, name, k):
    """Bytes that a fit takes in this process."""
    X = sp.load_npz(file)
    quietly(name, X[:2000], min(k, 5))
    return peak_beyond(lambda: quietly(name, X, k))


def main():
    args = arguments(__doc__, "ensembles.json")
    title, X, classes = next(matrices(args.quick, .026))
    k = 5 if args.quick else len(set(classes))
    seconds = interleaved({name: lambda name=name: quietly(name, X, k) for name in WAYS}, 1 if args.quick else 3)
    row = dict(matrix=title, shape=X.shape, nonzeros=X.nnz, clusters=k, seconds=seconds, runs=seconds["ensemble"]/seconds["one run"],
               rounds=quietly("aggregation", X, k).n_iter_)
    if SEES_MEMORY: row["gib"] = {name: with_file(X, memory, name, k)/2**30 for name in list(WAYS)[:1 if args.quick else None]}
    shown = table(["matrix", "clusters", *(f"{name}, s" for name in WAYS), "ensemble / one run", *(f"{name}, GiB" for name in WAYS)],
                  [[title, k, *(f"{seconds[name]:.2f}" for name in WAYS), f"{row['runs']:.1f}",
                    *(f"{row['gib'][name]:.2f}" if name in row.get("gib", ()) else "" for name in WAYS)]])
    write(args.output, shown, what=f"An ensemble of {RUNS} runs and an aggregation of ten labelings beside one run: median seconds, and peak "
          "memory beyond the matrix", rows=[row])


if __name__ == "__main__": main()
