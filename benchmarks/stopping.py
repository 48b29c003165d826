"""Does it harm trees to stop a factorization when documents no longer change sides?

HierNMF2 and FlatNMF2 with as many leaves as classes on many labelled collections, with the default weighting: the papers' method
(random starts, no acceleration, down to 1e-4 of the gradient), acceleration, the start from the singular vectors, as it is and with
the edges of the wedge for topics, and stopping early by `side_tol`. Trees depend on luck, so each is grown on several random four
fifths of the documents, the same for all methods. NMI (arithmetic, outliers one more cluster), its difference from the papers' method with the standard error over
collections, and passes over the matrix (`n_sweeps_`).

    NMF2_DATA=folder python benchmarks/stopping.py [--quick] [--runs FILE] [--out FOLDER]
"""
import warnings
from functools import partial

import numpy as np
from common import KEEP, WithClasses, arguments, collections, runs_of, small, table, together, write

from nmf2 import FlatNMF2
from nmf2.evaluate import nmi
from nmf2.cutting import take
from nmf2.kernels import documents
from nmf2.rank2 import svd_topics
from nmf2.weighting import count_pipeline

MATRICES = ["tr11", "tr23", "tr41", "re0", "wap", "k1b", "hitech", "fbis", "la1", "classic3", "cranmed", "cacmcisi",
            "reuters21578_cai", "20newsgroups_cai"]
RANDOM = dict(init="random", side_tol=None)
METHODS = {
    "papers: random, 1e-4": dict(RANDOM, extrapolate=False, max_outliers=None), "random, accelerated, 1e-4": RANDOM,
    "random, accelerated, side_tol .002": dict(init="random"), "svd, accelerated, 1e-4": dict(side_tol=None),
    "svd, side_tol .002 (default)": {}, "svd, side_tol .005": dict(side_tol=.005), "svd, side_tol .01": dict(side_tol=.01),
    "svd, side_tol .05": dict(side_tol=.05), "edges of the wedge, side_tol .002": dict(spare=.01),
}


def start_from(X, spare):
    """A start like the default one, with another share of the documents outside the wedge."""
    return lambda docs, terms: (None, svd_topics(documents(take(X, docs)[0]), spare).T)


def figures(collection, k, seed, spare=None, **options):
    """NMI of leaves and flat topics, and passes, of which those for a start of ours are not counted."""
    X, classes = collection.some(seed)
    if spare: options["init"] = start_from(X, spare)
    model = FlatNMF2(min(40, len(set(collection.classes))), random_state=seed, **options).fit(X)
    return dict(leaves=round(nmi(model.hier_.labels_, classes), 4), flat=round(nmi(model.labels_, classes), 4), sweeps=round(model.hier_.n_sweeps_, 1))


def gathered(runs):
    """A row for each collection and method, with a figure each seed."""
    return [dict(collection=name, method=method, **{value: [run[value] for run in some] for value in ("leaves", "flat", "sweeps")})
            for (name, method), some in together(runs, "collection", "method").items()]


def summary(rows):
    """For each method the means over collections, and how its NMI differs from the first method's."""
    names = list(dict.fromkeys(row["collection"] for row in rows))
    mean = {(r["method"], r["collection"]): [np.mean(r["leaves"]), np.mean(r["flat"]), np.mean(r["sweeps"])] for r in rows}
    got = {method: np.array([mean[method, n] for n in names]) for method in METHODS}
    out = []
    for method, values in got.items():
        differ = (values - next(iter(got.values())))[:, :2].mean(axis=1)
        leaves, flat, sweeps = values.mean(axis=0)
        out.append(dict(method=method, sweeps=round(sweeps, 1), leaves=round(leaves, 3), flat=round(flat, 3),
                        change=round(differ.mean(), 3), error=round(differ.std(ddof=1 if len(names) > 1 else 0)/len(names)**.5, 3)))
    return out


def main():
    args = arguments(__doc__, "stopping.json", **KEEP)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                            # documents that weighting leaves empty
        have = {name: (WithClasses(count_pipeline().fit_transform(corpus.X), classes), None)
                for name, corpus, classes in (small((2, 2), 160) if args.quick else collections(MATRICES))}
    methods = {name: partial(figures, **options) for name, options in METHODS.items()}
    rows = gathered(runs_of(methods, have, args.quick, clusters=1, seeds=range(1 if args.quick else 6), path=args.runs or None))
    means = summary(rows)
    shown = table(["method", "sweeps", "NMI of leaves", "flat", "change", "standard error"], [list(row.values()) for row in means])
    write(args.output, shown, what="Stopping rules for splitting: NMI and passes over the matrix, means over collections",
          summary=means, rows=rows)


if __name__ == "__main__": main()
