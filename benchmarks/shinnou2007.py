"""Ensembles of NMF runs, measured as Shinnou and Sasaki (2007) did: their Table 1 on the CLUTO collections at hand.

Entropy of the clusters, as many as there are classes, the smaller the better: k-means; twenty runs of NMF from random starts, the one with the
smallest error and their mean; and the hypergraphs of these runs, standard, weighted and full, clustered by repeated bisection as the
paper does with CLUTO. Weights are tf·log((1 + n)/(1 + df)), of unit length. Five times with other seeds. Two kinds of runs: ten turns of HALS, the
default of `HypergraphEnsemble`, and as many as it takes (`tol=1e-3`). Beside them repeated bisection of the documents themselves, FlatNMF2,
one tree, and the weighted hypergraph of twenty trees from random starts.

    NMF2_DATA=folder python benchmarks/shinnou2007.py [--quick] [--out FOLDER]
"""
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from common import arguments, collections, one_thread, say, table, write

from nmf2 import NMF, FlatNMF2, HierNMF2
from nmf2.bisection import RepeatedBisection
from nmf2.consensus import HypergraphEnsemble, integrate
from nmf2.data import planted_tree
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


def ensembles(X, classes, k, seed, base, runs):
    """Entropies of the best run, of all runs on average, and of the three hypergraphs made of the same runs."""
    out = []
    for weights in ("standard", "weighted", "full"):
        model = HypergraphEnsemble(k, n_runs=runs, weights=weights, base=base, random_state=seed).fit(X)
        out.append(entropy(model.labels_, classes))
    return [entropy(model.best_labels_, classes), np.mean([entropy(run.labels, classes) for run in model.runs_]), *out]


def measure(X, classes, seed, runs):
    """Entropies by each method."""
    k = len(np.unique(classes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                        # turns are limited on purpose; a tree may end early
        found = [entropy(FlatKMeans(k, random_state=seed).fit(X).labels_, classes), *ensembles(X, classes, k, seed, None, runs)]
        long = NMF(k, solver="hals", init="random", tol=1e-3, max_iter=300)
        found += ensembles(X, classes, k, seed, long, runs)
        found += [entropy(RepeatedBisection(k, random_state=seed).fit(X).labels_, classes), entropy(FlatNMF2(k).fit(X).labels_, classes)]
        start = dict(init="random", extrapolate=False, tol=1e-2, settled=None)
        found.append(entropy(HierNMF2(k, random_state=seed, **start).fit(X).labels_, classes))
        trees = HypergraphEnsemble(k, n_runs=runs, base=HierNMF2(k, **start), random_state=seed).fit(X)
        found.append(entropy(trees.labels_, classes))
    return [round(float(e), 4) for e in found]


def weigh(corpus):
    """tf·log((1 + n)/(1 + df)), rows of unit length."""
    X = corpus.X.astype(np.float32)
    return TfIdf(sublinear_tf=False).fit_transform(X[:, np.flatnonzero(X.getnnz(0))])


def main():
    args = arguments(__doc__, "shinnou2007.json")
    names, runs, seeds = list(PAPER), RUNS, range(SEEDS)
    if args.quick:
        runs, seeds, corpus = 3, range(1), planted_tree((2, 2), n_docs=160, random_state=0)
        found = [("planted", corpus, corpus.classes()[0])]
    else: found = collections(names)
    rows = []
    with ProcessPoolExecutor(1 if args.quick else os.cpu_count(), mp_context=get_context("spawn"), initializer=one_thread) as pool:
        for name, corpus, classes in found:
            X = weigh(corpus)
            work = [pool.submit(measure, X, classes, seed, runs) for seed in seeds]
            rows += [dict(collection=name, seed=seed, entropy=dict(zip(COLUMNS + LONG + MORE, w.result()))) for seed, w in zip(seeds, work)]
            say(f"{name}: " + ", ".join(f"{c} {np.mean([r['entropy'][c] for r in rows if r['collection'] == name]):.3f}" for c in COLUMNS + LONG + MORE))
    report(args, rows, runs)


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
