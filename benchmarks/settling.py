"""What should stand for a topic when documents are compared with it? The sum of its documents, a root of it, or words by how much more frequent they are.

For each collection and seed: NMI (arithmetic) to the finest classes, as many clusters as there are classes but at most forty, of clusters as
`TopicTree` finds them after moves and a mixture, and of the documents that have most of topics that are made of these clusters: sums of documents,
sums to the power of 3/4, their roots, and the logarithm of how many times as frequent a word is in the topic as in all documents (zero where it
is rarer), for shares that are shrunk half way to those of the collection in a topic of mean size.

    NMF2_DATA=folder python benchmarks/settling.py [--quick] [--out FOLDER]
"""
import warnings

import numpy as np
from common import arguments, say, table, together, write
from starts import MOST, found

from nmf2.core import single_blas
from nmf2.evaluate import nmi
from nmf2.mixture import fit_mixture
from nmf2.nnls import unit
from nmf2.regroup import cluster_sums
from nmf2.topictree import best_start, roots_of, settled_topics, sums_of

SEEDS = 3


def powers_of(X, labels): return unit(cluster_sums(X, labels).T**.75)[0]


def logarithms_of(X, labels):
    """Topics of words by how much more frequent they are than in the whole collection."""
    sums = cluster_sums(X, labels)
    sizes, background = sums.sum(1, keepdims=True), np.maximum(sums.sum(0), 1e-300)/sums.sum()
    shares = (sums + sizes.mean()*background)/(sizes + sizes.mean())
    return unit(np.maximum(np.log(shares/background), 0).T)[0]


MAKE = {"sums": sums_of, "power of 3/4": powers_of, "roots": roots_of, "logarithms": logarithms_of}


def runs(name, X, classes, seeds):
    """A row for each seed."""
    k = min(len(np.unique(classes)), MOST)
    for seed in range(seeds):
        labels = fit_mixture(X, best_start(X, k, seed=seed).labels).labels
        figures = {how: nmi(settled_topics(X, labels, 1, make).labels, classes) for how, make in MAKE.items()}
        yield dict(collection=name, seed=seed, clusters=nmi(labels, classes), **figures)
    say(name)


def main():
    args = arguments(__doc__, "settling.json")
    with warnings.catch_warnings(), single_blas():
        warnings.simplefilter("ignore")
        rows = [row for one in found(args.quick) for row in runs(*one, 1 if args.quick else SEEDS)]
    means = {name: {key: np.mean([row[key] for row in some]) for key in ("clusters", *MAKE)} for (name,), some in together(rows, "collection").items()}
    lines = []
    for how in ("clusters", *MAKE):
        gains = np.array([mean[how] - mean["sums"] for mean in means.values()])
        error = gains.std(ddof=1)/len(gains)**.5 if len(gains) > 1 else 0.
        lines.append([how, f"{np.mean([mean[how] for mean in means.values()]):.4f}", f"{gains.mean():+.4f} ± {error:.4f}",
                      (gains > .01).sum(), (gains < -.01).sum(), f"{gains.min():+.3f}"])
    head = ["topics", "NMI", "beyond sums", "better by .01", "worse by .01", "worst"]
    write(args.output, table(head, lines), what="what stands for a topic: NMI to the finest classes, mean over collections and seeds", rows=rows)


if __name__ == "__main__": main()
