"""Are documents of another kind told from those of the fit?

`TopicTree` with twenty topics is fitted to half of each collection (of at most 4,000 documents drawn with a seed). Then it is asked about the
other half, of which one in a hundred should be rejected; about the first fifteen words of these; and about 500 documents of each other
collection, which should all be, unless one is of titles from the other. Three ways to judge: by the focus alone (how many times as near a
document is to its nearest topic as to topics on average), by the nearness alone (the cosine with the nearest topic over the root of the number
of words), and by the lower of the two ranks, as `predict(reject=True)` does. Documents without a known word are rejected in any case.

    NMF2_DATA=folder python benchmarks/strangers.py [--quick] [--out FOLDER]
"""
import warnings

import numpy as np
from common import arguments, collections, say, table, write

from nmf2 import TopicTree
from nmf2.answers import cosines, judge, signs_of, words_in
from nmf2.data import load

NAMES = "20newsgroups", "reuters21578", "arxiv_2level", "classic4_raw", "short_20newsgroups_subjects", "short_reuters_titles"
LEVEL = .01             # share of the documents of the fit that would be rejected
WAYS = "focus", "near", "both"
KIN = {"20newsgroups", "short_20newsgroups_subjects"}, {"reuters21578", "short_reuters_titles"}       # not strangers to one another
BEGUN = 15              # words of a beginning


def drawn(texts, n, seed=0):
    """Some texts, in a random order."""
    rows = np.random.default_rng(seed).permutation(len(texts))[:n]
    return [texts[i] for i in rows]


def below(values, known):
    """Which are below the level among those of the fit."""
    return np.searchsorted(known, values, side="right") < LEVEL*len(known)


def rejected(model, texts):
    """Shares of texts that each way rejects."""
    X = model.pipeline_.transform(texts)
    signs = signs_of(cosines(X, model.tree_.leaf_topics), words_in(X))
    alone = [below(values, known) for values, known in zip(signs, model.expected_.signs)]
    ways = *alone, judge(model, X, reject=LEVEL, shares=False).rejected
    return {way: round(float(found.mean()), 4) for way, found in zip(WAYS, ways)}


def measure(name, piles, n_topics):
    """A row for each collection that a model of one is asked about."""
    half = len(piles[name])//2
    model = TopicTree(n_topics).fit(piles[name][:half])
    own = piles[name][half:]
    asked = {name: own, "beginnings": [" ".join(text.split()[:BEGUN]) for text in own]}
    asked |= {other: texts[:500] for other, texts in piles.items() if other != name and {name, other} not in KIN}
    rows = [dict(fit=name, asked=other, documents=len(texts), **rejected(model, texts)) for other, texts in asked.items()]
    say(f"{name}: of its own {rows[0]['both']:.1%}")
    return rows


def some_piles(quick):
    """The texts of each collection; two libraries, for --quick."""
    docs = load("library-docs").labelled()
    if not quick: return {name: drawn(corpus.texts, 4000) for name, corpus, _ in collections(NAMES)} | {"library-docs": drawn(docs.texts, 4000)}
    kinds = docs.classes()[0]
    return {f"library {kind}": drawn([docs.texts[i] for i in np.flatnonzero(kinds == kind)], 300) for kind in np.argsort(-np.bincount(kinds))[:2]}


def main():
    args = arguments(__doc__, "strangers.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")        # documents without terms
        piles = some_piles(args.quick)
        rows = [row for name in piles for row in measure(name, piles, 5 if args.quick else 20)]
    lines = []
    for name in piles:
        own, begun, *others = (row for row in rows if row["fit"] == name)
        lines.append([name] + [f"{100*np.mean([row[way] for row in some]):.1f}" for some in ([own], [begun], others) for way in WAYS])
    head = [f"{whose}: {way}, %" for whose in ("its own", f"their first {BEGUN} words", "others'") for way in WAYS]
    write(args.output, table(["fitted to", *head], lines),
          what="shares of new documents that are rejected, of the same collection, of their beginnings, and, on average, of each of the others", level=LEVEL, rows=rows)


if __name__ == "__main__": main()
