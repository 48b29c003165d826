"""How long do whole fits take, how much memory, and how good are they, beside scikit-learn's methods on the same matrix?

HierNMF2, FlatNMF2 and RepeatedBisection against NMF, BisectingKMeans, KMeans (one start) and LatentDirichletAllocation, all at their
defaults, with as many topics as classes. Each seed shuffles the documents, the same for all methods, and is the methods' `random_state`;
methods take turns. Time: median over seeds. NMI (arithmetic, outliers one more cluster): mean over seeds. Memory: by how much the resident memory
of a fresh process rises at most during one fit, beyond the loaded matrix and after a fit to a small one (the kernel's VmHWM, set back
before the fit; Linux only), in units of the matrix. Then FlatNMF2 against HierNMF2 alone, at several numbers of topics.

    NMF2_DATA=folder python benchmarks/tree.py [--quick] [--out FOLDER]
"""
import warnings

import numpy as np
import scipy.sparse as sp
from common import (SEES_MEMORY, arguments, bytes_of, interleaved, matrices, mean_sd, peak_beyond, say, table, timed,
                    with_file, write)
from sklearn.cluster import BisectingKMeans, KMeans
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.decomposition import NMF as SklearnNMF

from nmf2 import FlatNMF2, HierNMF2
from nmf2.bisection import RepeatedBisection
from nmf2.evaluate import nmi


def hier(X, k, seed): return {"HierNMF2": HierNMF2(k, random_state=seed).fit(X).labels_}
def flat(X, k, seed): return {"FlatNMF2": FlatNMF2(k, random_state=seed).fit(X).labels_}
def repeated(X, k, seed): return {"RepeatedBisection": RepeatedBisection(k, random_state=seed).fit(X).labels_}


def bisecting(X, k, seed): return {"BisectingKMeans": BisectingKMeans(k, random_state=seed).fit_predict(X)}
def kmeans(X, k, seed): return {"KMeans": KMeans(k, random_state=seed).fit_predict(X)}


def sklearn_nmf(X, k, seed):
    """The largest topic of each document, topics scaled to unit length."""
    model = SklearnNMF(k, init="nndsvda", random_state=seed)
    W = model.fit_transform(X)
    return {"NMF": (W*np.linalg.norm(model.components_, axis=1)).argmax(axis=1)}


def lda(X, k, seed):
    """The largest topic of each document."""
    return {"LatentDirichletAllocation": LatentDirichletAllocation(k, random_state=seed).fit_transform(X).argmax(axis=1)}


METHODS = [hier, flat, repeated, bisecting, kmeans, sklearn_nmf, lda]
FEW = {lda: 3}                                                 # most seeds of a slow method; one on a large matrix
RATIOS = [("BisectingKMeans", "HierNMF2"), ("NMF", "FlatNMF2"), ("FlatNMF2", "HierNMF2"), ("RepeatedBisection", "BisectingKMeans")]


def quietly(method, X, k, seed):
    """The labels that a method gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                        # not converged; fewer leaves than asked for
        (name, labels), = method(X, k, seed).items()
    return name, labels


def race(X, classes, k, seeds, large=False):
    """Seconds and NMI of each method for each seed, in turn, after one small fit each."""
    found = {}
    for method in METHODS: quietly(method, X[:1000], min(k, 5), 0)
    for seed in seeds:
        order = np.random.default_rng(seed).permutation(X.shape[0])
        Y, truth = X[order], classes[order]
        for method in METHODS:
            if method in FEW and seed >= (1 if large else FEW[method]): continue
            t, (name, labels) = timed(lambda: quietly(method, Y, k, seed), .3)
            row = found.setdefault(name, dict(seconds=[], nmi=[]))
            row["seconds"].append(round(t, 4)), row["nmi"].append(round(nmi(labels, truth), 4))
        say(f"seed {seed}: " + ", ".join(f"{name} {row['seconds'][-1]:.2f} s" for name, row in found.items()))
    return found


def memory(file, number, k):
    """The peak memory of one fit beyond the matrix, in units of it."""
    X, method = sp.load_npz(file), METHODS[number]
    quietly(method, X[:2000], min(k, 5), 0)
    return peak_beyond(lambda: quietly(method, X, k, 0))/bytes_of(X)


def flat_against_tree(X, ks, rounds):
    """Seconds of FlatNMF2 and of HierNMF2 alone, k topics each."""
    calls = {(name, k): lambda method=method, k=k: quietly(method, X, k, 0) for k in ks for name, method in
             (("HierNMF2", hier), ("FlatNMF2", flat))}
    seconds = interleaved(calls, rounds)
    return [dict(topics=k, **{name: seconds[name, k] for name in ("HierNMF2", "FlatNMF2")}) for k in ks]


def show(row):
    """The tables of one matrix."""
    found = row["methods"]
    own = np.median(found["HierNMF2"]["seconds"])
    first = table([f"{row['matrix']}, {row['topics']} topics", "s", "as long as HierNMF2", "memory / matrix", "NMI"],
                  [[name, f"{np.median(m['seconds']):.3f}", f"{np.median(m['seconds'])/own:.2f}",
                    f"{m['memory']:.2f}" if "memory" in m else "", mean_sd(m["nmi"])] for name, m in found.items()])
    more = [[f"FlatNMF2 / HierNMF2, {m['topics']} topics", f"{m['FlatNMF2']/m['HierNMF2']:.3f}"] for m in row["more_topics"]]
    return first + "\n\n" + table(["time", "ratio"], [[pair, f"{r:.2f}"] for pair, r in row["ratios"].items()] + more)


def main():
    args = arguments(__doc__, "tree.json")
    rows = []
    for name, X, classes in matrices(args.quick, .05):
        k, large = 5 if args.quick else len(set(classes)), X.nnz > 2_500_000
        say(f"{name}: {X.shape[0]:,} x {X.shape[1]:,}, {X.nnz:,} nonzeros, {k} topics")
        found = race(X, classes, k, range(1 if args.quick else 3 if large else 10), large)
        for i, method in enumerate(found if SEES_MEMORY and not args.quick else list(found)[:SEES_MEMORY]):
            found[method]["memory"] = with_file(X, memory, i, k)
        ratios = {f"{a} / {b}": float(np.median(found[a]["seconds"])/np.median(found[b]["seconds"])) for a, b in RATIOS}
        more = flat_against_tree(X, [5] if args.quick else [20, 40, 80], 1 if args.quick else 3 if large else 7)
        rows.append(dict(matrix=name, shape=X.shape, nonzeros=X.nnz, topics=k, methods=found, ratios=ratios, more_topics=more))
    write(args.output, "\n\n".join(map(show, rows)), what="Whole fits on the same matrix: time (median over seeds), peak memory "
          "beyond the matrix in units of it, NMI (mean ± standard deviation over seeds)", rows=rows)


if __name__ == "__main__": main()
