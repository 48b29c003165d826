"""Aggregated clusterings, measured as Race (2008) did: her Tables 0.1 to 0.4 on Classic3 and 0.12 on Iris.

Accuracy of nine algorithms on the data (Medlars, Cranfield and CISI: counts of unit length; Iris: four lengths), then on the matrix that
counts how often they put two documents together, and on the matrix of those results, and so on. Entries below five of nine are dropped;
with several values of r those of at most 14 of 33, on Iris of at most 5 of 17. NMF starts at random: means over seeds.
The paper doesn't say which k-means it has behind PDDP, so each table is measured twice, by cosine and by distance. Iris is measured as it is,
as the paper says, and with rows of unit length.

    NMF2_DATA=folder python benchmarks/race2008.py [--quick] [--runs PREFIX] [--out FOLDER]
"""
from functools import partial

import numpy as np
from common import arguments, collections, runs_of, small, table, write
from sklearn.datasets import load_iris
from sklearn.preprocessing import normalize

from nmf2.consensus import ClusterAggregation
from nmf2.evaluate import accuracy
from nmf2.partitions import RACE, race2008

ROUNDS, SEEDS = 3, dict(classic3=5, iris=20)
KMEANS = {"cosine": "cosine", "distance": True}
# title: data, the table of the paper, values of r, entries up to this share are dropped
EXPERIMENTS = {"Table 0.1, r = 3": ("classic3", "0.1", [3], 4/9), "Table 0.2, r = 6": ("classic3", "0.2", [6], 4/8),
               "Table 0.3, r = 15": ("classic3", "0.3", [15], 4/8), "Table 0.4, r = 3, 6, 9, 12": ("classic3", "0.4", [3, 6, 9, 12], 14/33),
               "Table 0.12, Iris as it is": ("iris", "0.12", [3, 4], 5/17), "Table 0.12, Iris, unit rows": ("iris unit", "0.12", [3, 4], 5/17)}
# The tables of the paper in the order of RACE: a column for each r, a column for each round; how many agree in the end, on what
_ = None
PAPER = {
    "0.1": dict(alone=[[.7008, .8301, .9638, .8162, .7597, .5965, .7163, .8234, .7145]],
                rounds=[[.8977, .8944, .8928, .7283, .8972, .8944, .8972, .8933, .9309], [.9306, .8944, .8928, .7692, .8972, .8987, .8972, .8933, .9309],
                        [.8972, .8972, .8972, .8972, .8972, .8972, .8972, .9309, .8972]], common=8, solution=.8972),
    "0.2": dict(alone=[[_, .8301, .9638, .9011, .8304, .8892, .9494, .8694, .6926]],
                rounds=[[.9167, .9165, .9167, .7936, .7911, .9165, .9167, .9139, .9167]], common=4, solution=.9167),
    "0.3": dict(alone=[[_, .8301, .9638, .9450, .7803, .8610, .9758, .8653, .6016]],
                rounds=[[.9653, .9496, .9653, .7165, .6158, .9496, .9653, .9607, .9653], [.9533, .9496, .9653, .6178, .9257, .9704, .9656, .9545, .9645],
                        [.9645, .9638, .9645, .7348, .8332, .9638, .9645, .9653, .9645]], common=4, solution=.9645),
    "0.4": dict(alone=[[.7026, .8301, .9638, .8165, .7597, .5965, .7158, .8250, .7155], [_, .8301, .9638, .9011, .8304, .8892, .9494, .8692, .6926],
                       [_, .8301, .9638, .9414, .7900, .8808, .9686, .5723, .7289], [_, .8301, .9638, .9435, .8258, .5759, .5477, .8610, .6040]],
                rounds=[[.9365, .9260, .9432, .9288, .9365, .9609, .9365, .9314, .9365], [.7219, .9363, .9363, .6214, .9363, .9365, .9291, .9363, .9429]],
                common=4, solution=.9363),
    "0.12": dict(alone=[[.6733, .9733, .9733, .7067, .7800, .6467, .9467, .9467, .7133], [_, .9733, .9733, .9533, .8000, .9667, .9800, .9733, .7533]],
                 rounds=[[.6667, .9733, .9733, .9733, .9733, .9733, .7933, .9733, .7200]], common=6, solution=.9733)}


def algorithms(k, ranks, kmeans):
    """The nine for each r; NMF-Basic only where r is k."""
    return [(f"{name}, r = {r}", race2008(name, k, r, kmeans=kmeans)) for r in ranks for name in RACE if not (name == "NMF-Basic" and r != k)]


def aggregate(X, k, seed, ranks, share, kmeans):
    """Labels by all algorithms on the data, and in each round of aggregation by the nine, with the solution and how many agree on it."""
    first, again = algorithms(k, ranks, kmeans), [race2008(name, k, k, kmeans=kmeans) for name in RACE]
    model = ClusterAggregation(k, clusterers=[a for _, a in first], algorithms=again, threshold=share, max_iter=ROUNDS, agree=.999,
                               random_state=seed).fit(X)
    return dict(labels=({name: labels for (name, _), labels in zip(first, model.labelings_)}, model.rounds_))


def score(found, classes):
    """Accuracies in place of labels."""
    def right(labels): return round(accuracy(labels, classes), 4)
    alone, rounds = found
    return dict(alone={name: right(labels) for name, labels in alone.items()},
                rounds=[dict(accuracy={name: right(labels) for name, labels in zip(RACE, r.labelings)}, common=int(r.common), solution=right(r.labels))
                        for r in rounds])


def data(name):
    """Matrix and classes."""
    if name.startswith("iris"):
        iris = load_iris()
        return normalize(iris.data) if name.endswith("unit") else iris.data, iris.target
    (_, corpus, classes), = collections([name])
    return normalize(corpus.X.astype(np.float64)), classes


def main():
    args = arguments(__doc__, "race2008.json", runs=("", "keep the runs in files that begin so, and go on with them"))
    if args.quick:
        (name, corpus, classes), = small((3,), 90)
        jobs = [(name, ["cosine"], (normalize(corpus.X.astype(float)), classes), [3], 4/9, 1)]
    else: jobs = [(title, KMEANS, data(name), ranks, share, SEEDS[name.split()[0]]) for title, (name, _, ranks, share) in EXPERIMENTS.items()]
    rows, shown = [], []
    for title, ways, have, ranks, share, seeds in jobs:
        methods = {by: partial(aggregate, ranks=ranks, share=share, kmeans=KMEANS[by]) for by in ways}
        path = f"{args.runs}-{title}.jsonl" if args.runs else None
        runs = runs_of(methods, {title: have}, args.quick, seeds=range(seeds), score=score, path=path)
        rows += [dict(experiment=title, kmeans=run["method"], seed=run["seed"], alone=run["alone"], rounds=run["rounds"]) for run in runs]
        shown += [[title, by, *lines(rows, title, by), *theirs(title)] for by in ways]
    head = ["", "k-means by", "algorithms alone", *(f"solution after {i}" for i in range(1, ROUNDS + 1)), "paper: alone", "in the end", "after"]
    write(args.output, table(head, shown), what="Mean accuracy of Race's nine algorithms alone, and of the solution that most of them agree on after each "
          "round of aggregation, in brackets how many agree", algorithms=list(RACE),
          experiments={title: dict(data=name, table=number, ranks=ranks) for title, (name, number, ranks, _) in EXPERIMENTS.items()}, paper=PAPER, rows=rows)


def lines(rows, title, by):
    """Means over seeds: alone; then for each round the solution, and how many of the nine agree on it."""
    here = [row for row in rows if (row["experiment"], row["kmeans"]) == (title, by)]
    out = [f"{np.mean([list(row['alone'].values()) for row in here]):.3f}"]
    for i in range(ROUNDS):
        got = [row["rounds"][min(i, len(row["rounds"]) - 1)] for row in here]
        out.append(f"{np.mean([g['solution'] for g in got]):.3f} ({np.mean([g['common'] for g in got]):.1f})")
    return out


def theirs(title):
    """What the paper has: alone on average, in the end, and after how many rounds."""
    if title not in EXPERIMENTS: return [""]*3
    found = PAPER[EXPERIMENTS[title][1]]
    alone = [value for column in found["alone"] for value in column if value is not None]
    return [f"{np.mean(alone):.3f}", f"{found['solution']:.3f} ({found['common']})", len(found["rounds"])]


if __name__ == "__main__": main()
