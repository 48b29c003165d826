"""Are headings better than heaviest words? Judged without a person, on documents that the tree has not seen.

A tree of topics is made of four fifths of each collection. Each node of a cut gets four words: its heaviest, or its heading, in which a
phrase counts as its words; and the same once more with as many as an outline shows, up to six for a node with parts. For cuts into
3, 6, 12 and all leaves: the share of different words among all words of the cut; their NPMI, mean over pairs of words of a node, in the
other fifth; whether a node is found again from its words alone: the share of nodes,
and the mean reciprocal rank, where nodes are ranked by how many of the words their unseen documents have on average; and whether words
tell documents where they belong: the share of a node's unseen documents that have more of its words than of any other node's, mean over
nodes (of n nodes with equally many each counts 1/n, documents with no word at all count nothing).

    NMF2_DATA=folder python benchmarks/headings.py [--quick] [--out FOLDER]
"""
import warnings
from itertools import combinations

import numpy as np
import scipy.sparse as sp
from common import arguments, say, table, together, write

from nmf2 import TopicTree, load
from nmf2.data import Corpus, planted_tree

COLLECTIONS = {"20newsgroups": 20, "arxiv_2level": 24, "library-docs": 20, "reuters21578": 30}
def shown(node): return 6 if node.children else 4
def heaviest(tree, node, n=4): return tree.top_terms(node, n=n)
def heading(tree, node, n=4): return [word for entry in tree.headings[node.id][:n] for word in entry.split(" ")]

WORDS = {"heaviest words": heaviest, "headings": heading,
         "heaviest words, as many as shown": lambda tree, node: heaviest(tree, node, shown(node)),
         "headings, as shown": lambda tree, node: heading(tree, node, shown(node))}


def parts(corpus, seed=0):
    """Four fifths of the documents, and the others."""
    rows = np.random.default_rng(seed).permutation(len(corpus))
    return corpus[rows[:len(rows)*4//5]], corpus[rows[len(rows)*4//5:]]


def npmi(words, there):
    """Normalized pointwise mutual information of pairs of words, (n_docs, n_terms) of which documents have which; −1 for pairs that never meet."""
    n, values = there.shape[0], []
    for a, b in combinations(words, 2):
        first, second, both = there[:, a].sum()/n, there[:, b].sum()/n, (there[:, a] & there[:, b]).sum()/n
        values.append(-1. if both == 0 else float(np.log(both/(first*second))/-np.log(both)) if both < 1 else 1.)
    return values


def judged(tree, words, there, labels, n):
    """The figures of one cut."""
    place = {word: j for j, word in enumerate(tree.vocab)}
    cut = tree.leaves(n)
    numbers = [list(dict.fromkeys(place[word] for word in words(tree, node) if word in place)) for node in cut]
    own = np.array([next(k for k, node in enumerate(cut) if leaf.id.startswith(node.id)) for leaf in tree.leaves()] + [-1])[labels]
    shares = np.array([there[own == k].mean(0) if (own == k).any() else np.zeros(there.shape[1]) for k in range(len(cut))])
    hits = np.array([shares[:, some].mean(1) for some in numbers])
    ranks = 1 + (hits > hits.diagonal()[:, None]).sum(1)
    every = [j for some in numbers for j in some]
    words_there = np.array([there[:, some].sum(1) for some in numbers]).T
    most = (words_there == words_there.max(1, keepdims=True)) & (words_there > 0)
    right = np.array([(most[own == k, k]/np.maximum(most[own == k].sum(1), 1)).mean() for k in range(len(cut)) if (own == k).any()])
    return dict(leaves=n, diversity=len(set(every))/len(every), npmi=float(np.mean([v for some in numbers for v in npmi(some, there)])),
                found=float((ranks == 1).mean()), told=float(right.mean()), reciprocal=float((1/ranks).mean()))


def runs(name, corpus, k, **options):
    """A row for each cut and each way to choose words."""
    seen, unseen = parts(corpus)
    model = TopicTree(k, **options).fit(seen)
    labels, tree = model.predict(unseen), model.tree_
    X = model.pipeline_.transform(unseen.texts if unseen.texts is not None else unseen.X)
    there = sp.csc_array(X).toarray() > 0 if X.shape[0]*X.shape[1] < 3e8 else None
    if there is None: raise MemoryError(f"{name} has too many words for this script")
    for n in sorted({3, 6, 12, tree.n_leaves}):
        if n <= tree.n_leaves:
            for which, words in WORDS.items(): yield dict(collection=name, words=which, **judged(tree, words, there, labels, n))
    say(name)


def found(quick):
    """Yield name, documents, leaves and options."""
    if quick:
        corpus = planted_tree((2, 3), 300, random_state=0)
        X = sp.csr_array(corpus.X)
        texts = [" ".join(np.repeat(corpus.vocab[X[[i]].indices].astype(str), X[[i]].data.astype(int))) for i in range(X.shape[0])]
        yield "planted", Corpus(texts), 6, dict(stop_words=None)
    else:
        for name, k in COLLECTIONS.items(): yield name, load(name), k, dict(max_df=.2) if name == "library-docs" else {}


def main():
    args = arguments(__doc__, "headings.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [row for name, corpus, k, options in found(args.quick) for row in runs(name, corpus, k, **options)]
    figures = "diversity", "npmi", "found", "reciprocal", "told"
    def means(some): return [f"{np.mean([row[figure] for row in some]):.3f}" for figure in figures]
    lines = [[name, which, *means(some)] for (name, which), some in together(rows, "collection", "words").items()]
    lines += [["mean", which, *means([row for row in rows if row["words"] == which])] for which in WORDS]
    write(args.output, table(["collection", "words", "different words", "NPMI", "found first", "reciprocal rank", "documents told"], lines),
          what="words of nodes, judged on unseen documents: means over cuts into 3, 6, 12 and all leaves", rows=rows)


if __name__ == "__main__": main()
