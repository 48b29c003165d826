"""How good are the clusters, beside scikit-learn's methods on the same weighted matrix?

NMI (arithmetic) to the classes, as many clusters as classes, mean and standard deviation over five seeds. HierNMF2 counts its
outliers as one more cluster. Ours twice: the defaults, which are the same for every seed, and as published (random starts, no
extrapolation, topics of the leaves as they are). Everything on two matrices: the default weighting, and the same without normalized-cut weights, rows of
unit length, which is what k-means is usually given. scikit-learn's methods run at their defaults. Classes are used for scoring only; texts are used whole, headers and all.

    NMF2_DATA=folder python benchmarks/quality.py [--quick] [--output FILE]
"""
import time
import warnings

import numpy as np
from common import arguments, collections, mean_sd, say, table, write
from sklearn.cluster import BisectingKMeans, KMeans
from sklearn.decomposition import NMF

from nmf2.evaluate import nmi
from nmf2.flat import FlatNMF2
from nmf2.weighting import count_pipeline, text_pipeline

COLLECTIONS = ["tr41", "k1b", "la1", "reuters21578", "20newsgroups"]
SEEDS = range(5)


def ours(start):
    """Labels of the tree and of its flattening."""
    def fit(X, k, seed):
        model = FlatNMF2(k, **start, random_state=seed).fit(X)
        return {"HierNMF2": model.hier_.labels_, "FlatNMF2": model.labels_}
    return fit


def sklearn_nmf(X, k, seed):
    """The largest topic of each document, topics scaled to unit length."""
    model = NMF(k, init="nndsvda", random_state=seed)
    W = model.fit_transform(X)
    return {"NMF": (W*np.linalg.norm(model.components_, axis=1)).argmax(axis=1)}


def kmeans(X, k, seed): return {"KMeans": KMeans(k, random_state=seed).fit_predict(X)}


def bisecting(X, k, seed): return {"BisectingKMeans": BisectingKMeans(k, random_state=seed).fit_predict(X)}


# group of methods, seeds, function
METHODS = [("default", [0], ours({})), ("as published", SEEDS, ours(dict(init="random", extrapolate=False, moves=0))),
           ("scikit-learn", SEEDS, sklearn_nmf), ("scikit-learn", SEEDS, kmeans), ("scikit-learn", SEEDS, bisecting)]


WEIGHTS = {"normalized cut": True, "unit length": False}


def measure(X, classes, quick=False):
    """NMI of each method for each seed."""
    scores = {}
    for group, seeds, fit in METHODS:
        t0 = time.perf_counter()
        for seed in list(seeds)[:1] if quick else seeds:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")        # not converged; fewer leaves than asked for
                for name, labels in fit(X, len(set(classes)), seed).items():
                    scores.setdefault(f"{name}, {group}", []).append(round(nmi(labels, classes), 4))
        say(f"   {group} {fit.__name__}: {time.perf_counter() - t0:.0f} s")
    return scores


def main():
    args = arguments(__doc__, "quality.json")
    rows = []
    for name, corpus, classes in collections(COLLECTIONS[:1] if args.quick else COLLECTIONS):
        for weights, cut in WEIGHTS.items():
            pipe, data = ((count_pipeline(normalized_cut=cut), corpus.X) if corpus.texts is None
                          else (text_pipeline(normalized_cut=cut), corpus.texts))
            X = pipe.fit_transform(data)
            say(f"{name}, {weights}: {X.shape[0]} documents, {X.shape[1]} terms, {len(set(classes))} classes")
            rows.append(dict(collection=name, weights=weights, classes=len(set(classes)), shape=X.shape,
                             nmi=measure(X, classes, args.quick)))
    first = [row for row in rows if row["weights"] == "normalized cut"]
    shown = table(["", "weights", *[row["collection"] for row in first]],
                  [["documents / classes", "", *[f"{row['shape'][0]:,} / {row['classes']}" for row in first]]]
                  + [[method, weights, *[mean_sd(row["nmi"][method]) for row in rows if row["weights"] == weights]]
                     for weights in WEIGHTS for method in first[0]["nmi"]])
    write(args.output, shown, what="NMI (arithmetic) to the classes, mean ± standard deviation over five seeds; HierNMF2's outliers "
                                   "are one more cluster", rows=rows)


if __name__ == "__main__": main()
