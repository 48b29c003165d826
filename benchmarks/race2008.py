"""Aggregated clusterings, measured as Race (2008) did: her Tables 0.1 to 0.4 on Classic3 and 0.12 on Iris.

Accuracy of nine algorithms on the data (Medlars, Cranfield and CISI: counts of unit length; Iris: four lengths as they are), then on the matrix that
counts how often they put two documents together, and on the matrix of those results, and so on. Entries below five of nine are dropped;
with several values of r those of at most 14 of 33, on Iris of at most 5 of 18. NMF starts at random: means over seeds.

    NMF2_DATA=folder python benchmarks/race2008.py [--quick] [--out FOLDER]
"""
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from common import arguments, collections, one_thread, say, table, write
from sklearn.datasets import load_iris
from sklearn.preprocessing import normalize

from nmf2.consensus import ClusterAggregation
from nmf2.data import planted_tree
from nmf2.evaluate import accuracy
from nmf2.partitions import RACE, race

ROUNDS = 3
# name: data, values of r, entries up to this share are dropped
EXPERIMENTS = {"Table 0.1, r = 3": ("classic3", [3], 4/9), "Table 0.2, r = 6": ("classic3", [6], 4/8), "Table 0.3, r = 15": ("classic3", [15], 4/8),
               "Table 0.4, r = 3, 6, 9, 12": ("classic3", [3, 6, 9, 12], 14/33), "Table 0.12, Iris, r = 3, 4": ("iris", [3, 4], 5/17)}
# What the tables say: mean accuracy of the algorithms on the data, the accuracy of the solution that most agree on in the end, and after how many rounds
PAPER = {"Table 0.1, r = 3": (.7426, .8972, 3), "Table 0.2, r = 6": (.8545, .9167, 1), "Table 0.3, r = 15": (.8442, .9645, 3),
         "Table 0.4, r = 3, 6, 9, 12": (.8138, .9363, 2), "Table 0.12, Iris, r = 3, 4": (.8440, .9733, 1)}


def algorithms(k, ranks):
    """The nine for each r; NMF-Basic and those without r only once (PDDP and its k-means don't depend on r)."""
    return [(f"{name}, r = {r}", race(name, k, r)) for r in ranks for name in RACE
            if not (name == "NMF-Basic" and r != k)]


def measure(X, classes, ranks, share, seed):
    """Accuracies on the data, and after each round of aggregation by the nine."""
    k = len(np.unique(classes))
    first, again = algorithms(k, ranks), [race(name, k, k) for name in RACE]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ClusterAggregation(k, clusterers=[a for _, a in first], algorithms=again, threshold=share, max_rounds=ROUNDS, agree=.999,
                                   random_state=seed).fit(X)
    def score(labels): return round(accuracy(labels, classes), 4)
    return dict(alone={name: score(labels) for (name, _), labels in zip(first, model.labelings_)},
                rounds=[dict(accuracy={name: score(labels) for name, labels in zip(RACE, r.labelings)}, common=int(r.common), solution=score(r.labels))
                        for r in model.rounds_])


def data(name):
    """Matrix and classes."""
    if name == "iris":
        iris = load_iris()
        return iris.data, iris.target
    (_, corpus, classes), = collections([name])
    return normalize(corpus.X.astype(np.float64)), classes


def main():
    args = arguments(__doc__, "race2008.json")
    jobs = {title: (*data(name), ranks, share, 20 if name == "iris" else 5) for title, (name, ranks, share) in EXPERIMENTS.items()} if not args.quick else {
        "planted": (normalize((corpus := planted_tree((3,), n_docs=90, random_state=0)).X.astype(float)), corpus.classes()[0], [3], 4/9, 1)}
    rows = []
    with ProcessPoolExecutor(1 if args.quick else os.cpu_count(), mp_context=get_context("spawn"), initializer=one_thread) as pool:
        for title, (X, classes, ranks, share, seeds) in jobs.items():
            work = [pool.submit(measure, X, classes, ranks, share, seed) for seed in range(seeds)]
            rows += [dict(experiment=title, seed=seed, **w.result()) for seed, w in enumerate(work)]
            say(f"{title}: " + summary(rows, title))
    shown = table(["", "algorithms alone", *(f"solution after {i}" for i in range(1, ROUNDS + 1)), "paper: alone", "in the end", "after"],
                  [[title, *lines(rows, title), *(PAPER[title] if title in PAPER else ("",)*3)] for title in jobs])
    write(args.output, shown, what="Mean accuracy of Race's nine algorithms alone, and of the solution that most of them agree on after each round of aggregation, "
          "in brackets how many agree", paper={t: dict(zip(("alone", "solution", "rounds"), p)) for t, p in PAPER.items()}, rows=rows)


def lines(rows, title):
    """Means over seeds: alone; then for each round the solution, and how many of the nine agree on it."""
    here = [row for row in rows if row["experiment"] == title]
    out = [f"{np.mean([list(row['alone'].values()) for row in here]):.3f}"]
    for i in range(ROUNDS):
        got = [row["rounds"][min(i, len(row["rounds"]) - 1)] for row in here]
        out.append(f"{np.mean([g['solution'] for g in got]):.3f} ({np.mean([g['common'] for g in got]):.1f})")
    return out


def summary(rows, title): return ", ".join(lines(rows, title))


if __name__ == "__main__": main()
