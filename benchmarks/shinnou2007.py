"""Ensembles of NMF runs, measured as Shinnou and Sasaki (2007) did: their Table 1 on the CLUTO collections at hand.

Entropy of the clusters, as many as there are classes, the smaller the better: k-means; twenty runs of NMF from random starts, the one with the
smallest error and their mean; and the hypergraphs of these runs, standard, weighted and full, clustered by repeated bisection as the
paper does with CLUTO. Weights are tf·log((1 + n)/(1 + df)), of unit length. Five times with other seeds. Two kinds of runs: ten turns of HALS, the
default of `HypergraphEnsemble`, and as many as it takes (`tol=1e-3`). Beside them repeated bisection of the documents themselves, FlatNMF2,
one tree, and the weighted hypergraph of twenty trees from random starts.

    NMF2_DATA=folder python benchmarks/shinnou2007.py [--quick] [--runs FILE] [--out FOLDER]
"""
from functools import partial

import numpy as np
from common import KEEP, arguments, collections, runs_of, small, table, together, write

from nmf2 import NMF, FlatNMF2, HierNMF2
from nmf2.bisection import RepeatedBisection
from nmf2.consensus import HypergraphEnsemble
from nmf2.evaluate import entropy
from nmf2.partitions import FlatKMeans
from nmf2.weighting import TfIdf

# Table 1 of the paper: k-means, NMF, NMF means, standard, weighted, hypergraph V
PAPER = dict(cacmcisi=(.750, .817, .693, .691, .690, .778), cranmed=(.113, .963, .792, .750, .450, .525), fbis=(.610, .393, .406, .408, .381, .402),
             hitech=(.585, .679, .705, .683, .684, .688), k1a=(.374, .393, .377, .386, .351, .366), k1b=(.221, .259, .238, .456, .216, .205),
             la1=(.641, .464, .515, .458, .459, .491), re0=(.368, .419, .401, .383, .379, .378), tr11=(.349, .338, .311, .300, .304, .280),
             tr23=(.527, .485, .489, .493, .521, .474), tr41=(.277, .358, .299, .245, .270, .340), wap=(.408, .371, .374, .336, .327, .344))
COLUMNS = ["k-means", "NMF", "NMF means", "standard", "weighted", "hypergraph V"]
LONG = ["NMF, long", "NMF means, long", "standard, long", "weighted, long", "hypergraph V, long"]
MORE = ["repeated bisection", "FlatNMF2", "one tree", "trees, weighted"]
RUNS, SEEDS = 20, 5
START = dict(init="random", extrapolate=False, tol=1e-2, side_tol=None, max_outliers=None)   # of trees in ensembles


def ensembles(X, k, seed, runs, long=False):
    """Labels by the best run, by each run, and by the three hypergraphs made of the same runs."""
    base = NMF(k, solver="hals", init="random", tol=1e-3, max_iter=300) if long else None
    by = [HypergraphEnsemble(k, n_runs=runs, weights=weights, base=base, random_state=seed).fit(X) for weights in ("standard", "weighted", "full")]
    found = [by[0].best_labels_, [run.labels for run in by[0].runs_], *(model.labels_ for model in by)]
    return dict(labels=dict(zip(LONG if long else COLUMNS[1:], found)))


def trees(X, k, seed, runs):
    """Labels by the weighted hypergraph of trees."""
    return HypergraphEnsemble(k, n_runs=runs, base=HierNMF2(k, **START), random_state=seed).fit(X).labels_


def methods(runs):
    """What is compared; ensembles have several figures."""
    return {"k-means": FlatKMeans(), "ensembles": partial(ensembles, runs=runs), "ensembles, long": partial(ensembles, runs=runs, long=True),
            "repeated bisection": RepeatedBisection(), "FlatNMF2": FlatNMF2(), "one tree": HierNMF2(**START), "trees, weighted": partial(trees, runs=runs)}


def score(found, classes):
    """Entropy of labels; of several, by their names, of several of a name the mean."""
    def mean(labels): return round(float(np.mean([entropy(x, classes) for x in np.atleast_2d(labels)])), 4)
    return {name: mean(labels) for name, labels in found.items()} if isinstance(found, dict) else dict(entropy=mean(found))


def gathered(runs):
    """A row for each collection and seed, with all entropies by their columns."""
    rows = []
    for (name, seed), some in together(runs, "collection", "seed").items():
        rows.append(dict(collection=name, seed=seed, entropy={}))
        for run in some: rows[-1]["entropy"] |= {run["method"]: run["entropy"]} if "entropy" in run else {c: run[c] for c in COLUMNS + LONG if c in run}
    return rows


def weigh(corpus):
    """tf·log((1 + n)/(1 + df)), rows of unit length."""
    X = corpus.X.astype(np.float32)
    return TfIdf(sublinear_tf=False).fit_transform(X[:, np.flatnonzero(X.getnnz(0))])


def main():
    args = arguments(__doc__, "shinnou2007.json", **KEEP)
    runs, seeds, found = (3, range(1), small((2, 2), 160)) if args.quick else (RUNS, range(SEEDS), collections(PAPER))
    have = {name: (weigh(corpus), classes) for name, corpus, classes in found}
    report(args, gathered(runs_of(methods(runs), have, args.quick, seeds=seeds, score=score, path=args.runs or None)), runs)


def report(args, rows, runs):
    """The paper's table, measured and as printed, and the further columns."""
    names, all_columns = list(dict.fromkeys(row["collection"] for row in rows)), COLUMNS + LONG + MORE
    mean = {name: {c: float(np.mean([row["entropy"][c] for row in rows if row["collection"] == name])) for c in all_columns} for name in names}
    mean["**mean**"] = {c: float(np.mean([mean[name][c] for name in names])) for c in all_columns}
    theirs = {name: dict(zip(COLUMNS, PAPER[name])) for name in names if name in PAPER}
    if theirs: theirs["**mean**"] = {c: float(np.mean([PAPER[name][i] for name in theirs])) for i, c in enumerate(COLUMNS)}
    def cells(name, columns): return [f"{mean[name][c]:.3f}" + (f" ({theirs[name][c]:.3f})" if c in COLUMNS and name in theirs else "") for c in columns]
    shown = "\n\n".join(table(["", *columns], [[name, *cells(name, columns)] for name in mean]) for columns in (COLUMNS, LONG, MORE))
    write(args.output, shown, what=f"Entropy of clusters, mean of {len({r['seed'] for r in rows})} seeds, ensembles of {runs} runs; in brackets the figures "
          "of Shinnou and Sasaki (2007), Table 1, and their mean over these collections", paper=theirs or None, means=mean, rows=rows)


if __name__ == "__main__": main()
