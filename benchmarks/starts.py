"""Where should TopicTree begin? Repeated bisection, or more pieces that are joined; of all documents, or of a sample; one start, or the best
of several.

For each collection and seed: NMI (arithmetic) of the clusters after moves to the finest classes, as many clusters as there are classes but at
most forty, and of the topics that `TopicTree` makes of them by a mixture, and the criterion. Pieces are one, two, three or four times as many as clusters; one is
bisection itself. Three times as many are made of samples, too, of half and of a quarter of the documents, but
of a hundred for each piece at least; where there are fewer, of all. The best of two and of four starts are those with the largest
criterion, over all choices of so many of the seeds.

    NMF2_DATA=folder python benchmarks/starts.py [--quick] [--out FOLDER]
"""
import warnings
from itertools import combinations

import numpy as np
from choices import COLLECTIONS, weighted
from common import arguments, collections, say, small, table, together, write

from nmf2.bisection import refine, unit_rows
from nmf2.core import single_blas
from nmf2.evaluate import nmi
from nmf2.mixture import fit_mixture
from nmf2.order import own_order, sorted_by
from nmf2.topictree import LEAST, pieces, settled_topics

SHORT = ["short_20newsgroups_subjects", "short_reuters_titles"]
STARTS = [(1, 1), (2, 1), (3, 1), (3, 2), (3, 4), (4, 1)]         # pieces for a topic, and of one in how many documents
SAMPLES = {1: "all", 2: "half", 4: "a quarter"}
SEEDS, MOST = 4, 40


def ready(corpus, classes):
    """Weighted documents in an order of their own, those that have words, and their classes."""
    X = weighted(corpus, True)
    filled = np.flatnonzero(np.diff(X.indptr) > 0)
    order = own_order(X[filled])
    return sorted_by(X[filled], order), classes[filled][order.rows]


def runs(name, X, classes, seeds):
    """A row for each number of pieces, sample and seed."""
    docs, k = unit_rows(X), min(len(np.unique(classes)), MOST)
    for times, part in STARTS:
        for seed in range(seeds):
            labels, record = refine(docs, pieces(docs, k, seed, times, -(-docs.nnz//part)), rng=seed)
            settled = settled_topics(X, fit_mixture(X, labels).labels, 1).labels
            n = len(labels)
            yield dict(collection=name, times=times, part=part, documents=n, sample=min(n, max(LEAST*times*k, -(-n//part))), seed=seed,
                       criterion=float(record[-1]/n), moved=nmi(labels, classes), settled=nmi(settled, classes))
    say(name)


def best_of(n, some, key):
    """The figure of the start with the largest criterion, on average over all choices of n starts."""
    return np.mean([max(chosen, key=lambda row: row["criterion"])[key] for chosen in combinations(some, n)])


def found(quick):
    """Yield name, weighted documents and classes."""
    for name, corpus, classes in small((2, 3), 200) if quick else collections(COLLECTIONS + SHORT): yield name, *ready(corpus, classes)


def main():
    args = arguments(__doc__, "starts.json")
    seeds = 2 if args.quick else SEEDS
    with warnings.catch_warnings(), single_blas():
        warnings.simplefilter("ignore")
        rows = [row for one in found(args.quick) for row in runs(*one, seeds)]
    groups, lines = together(rows, "collection", "times", "part"), []
    names = list(dict.fromkeys(row["collection"] for row in rows))
    for times, part in STARTS:
        some = [groups[name, times, part] for name in names]
        figures = [[best_of(1, one, "moved") for one in some], *([best_of(n, one, "settled") for one in some] for n in (1, 2, 4) if n <= seeds)]
        base = [best_of(1, groups[name, 1, 1], "moved") for name in names]
        better, worse = (sum(s*(a - b) > .01 for a, b in zip(figures[0], base)) for s in (1, -1))
        lines.append([times, SAMPLES[part], *(f"{np.mean(figure):.4f}" for figure in figures), better, worse])
    head = ["pieces for a topic", "of the documents", "after moves", "settled", *(f"best of {n}" for n in (2, 4) if n <= seeds), "better by .01 than one", "worse"]
    write(args.output, table(head, lines), what="where to begin: NMI to the finest classes, mean over collections and seeds", rows=rows)


if __name__ == "__main__": main()
