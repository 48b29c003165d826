"""What does a mixture add to clusters, on long texts and on short ones? And how many words should it make up?

For each collection and seed: NMI (arithmetic) to the finest classes, as many clusters as there are classes but at most forty, after moves
as `TopicTree` makes them; after a mixture that begins with these clusters; and after topics were made of the mixture's clusters, once and
until labels stay. Then the mixture with half as many words made up, with twice as many, and with as many as there are words at all, however
small clusters are; and with as good as none. Long texts are the collections of `starts.py`, short ones those of `short.py`.

    NMF2_DATA=folder python benchmarks/mixture.py [--quick] [--out FOLDER]
"""
import warnings

import numpy as np
from common import arguments, say, table, together, write
from short import ready, short_texts
from starts import MOST, SHORT, found

from nmf2.core import single_blas
from nmf2.evaluate import nmi
from nmf2.mixture import fit_mixture, made_up
from nmf2.topictree import best_start, settled_topics

SEEDS = 3
WAYS = {"half": lambda usual, m: usual/2, "twice": lambda usual, m: 2*usual, "as many as words": lambda usual, m: m, "none": lambda usual, m: 1e-3}


def kinds(quick):
    """Yield which kind of texts, name, weighted documents and classes."""
    for name, X, classes in found(quick):
        if name not in SHORT: yield "long", name, X, classes
    if not quick:
        for name, texts, classes in short_texts():
            X = ready(texts, {})
            rows = np.flatnonzero(np.diff(X.indptr))
            yield "short", name, X[rows], np.asarray(classes)[rows]


def runs(kind, name, X, classes, seeds):
    """A row for each seed."""
    df, k = np.bincount(X.indices, minlength=X.shape[1]), min(len(np.unique(classes)), MOST)
    usual = made_up(df, k)
    for seed in range(seeds):
        moved = best_start(X, k, seed=seed).labels
        mixture = fit_mixture(X, moved)
        labels = dict(moved=moved, mixture=mixture.labels, **{f"topics, {n} rounds": settled_topics(X, mixture.labels, n).labels for n in (1, 5)},
                      **{f"made up: {how}": fit_mixture(X, moved, alpha=alpha(usual, X.shape[1])).labels for how, alpha in WAYS.items()})
        yield dict(collection=name, texts=kind, seed=seed, rounds=len(mixture.criteria), put_back=mixture.n_held,
                   **{how: nmi(found, classes) for how, found in labels.items()})
    say(name)


def main():
    args = arguments(__doc__, "mixture.json")
    with warnings.catch_warnings(), single_blas():
        warnings.simplefilter("ignore")
        rows = [row for one in kinds(args.quick) for row in runs(*one, 1 if args.quick else SEEDS)]
    lines = []
    ways = [key for key in rows[0] if key not in ("collection", "texts", "seed", "rounds", "put_back")]
    for (kind,), some in together(rows, "texts").items():
        means = [{way: np.mean([row[way] for row in of]) for way in ways} for of in together(some, "collection").values()]
        for way in ways:
            gains = np.array([mean[way] - mean["moved"] for mean in means])
            error = gains.std(ddof=1)/len(gains)**.5 if len(gains) > 1 else 0.
            lines.append([kind, way, f"{np.mean([mean[way] for mean in means]):.3f}", f"{gains.mean():+.3f} ± {error:.3f}",
                          (gains > .01).sum(), (gains < -.01).sum(), f"{gains.min():+.3f}"])
    head = ["texts", "clusters", "NMI", "beyond moves", "better by .01", "worse by .01", "worst"]
    write(args.output, table(head, lines), what="clusters after moves and after a mixture: NMI to the finest classes, mean over collections and seeds", rows=rows)


if __name__ == "__main__": main()
