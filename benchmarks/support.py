"""How far to believe a node: does support tell planted topics from chance splits, and does it go with the purity of nodes?

On planted trees that are asked for more leaves than there are: the area under the curve of support, for nodes that are planted topics
against nodes that are pieces of one, and against all other nodes; by the share of documents that a fit sees, and by its starts. A node
is a planted topic if it is, of all nodes, most like it (Jaccard above one half), and a piece if it lies below the one most like a narrow
topic. On collections: Spearman's rank correlation of a node's support with its purity, the share of its most frequent class, over all
nodes but the root and over leaves alone; for documents, the share in a leaf that is mostly of another class, of those that always stay and
of those that stay in less than half of the fits.

    NMF2_DATA=folder python benchmarks/support.py [--quick] [--out FOLDER]
"""
import numpy as np
import scipy.sparse as sp
from common import arguments, mean_sd, say, table, timed, together, write
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from nmf2 import load
from nmf2.data import planted_tree
from nmf2.support import jaccards, members, support
from nmf2.topictree import topic_tree
from nmf2.weighting import count_pipeline, text_pipeline

PLANTED = {                             # branching, documents, leaves asked for, and the law of the words
    "4 × 3": ((4, 3), 900, 24, dict(overlap=.4, noise=.2)),
    "12, skewed": ((12,), 900, 24, dict(overlap=.5, noise=.2, skew=.7)),
    "3 × 4, skewed and noisy": ((3, 4), 1200, 30, dict(overlap=.5, noise=.3, skew=1)),
    "20, noisy, lengths scattered": ((20,), 2000, 30, dict(overlap=.6, noise=.25, spread=.8)),
    "5 × 4, skewed, lengths scattered": ((5, 4), 3000, 40, dict(overlap=.5, noise=.2, skew=.5, spread=.8)),
    "30, skewed": ((30,), 3000, 45, dict(overlap=.5, noise=.2, skew=1, spread=.5)),
}
COLLECTIONS = "20newsgroups_cai", "20newsgroups", "arxiv_2level", "library-docs", "reuters21578"


def as_topic_tree(X, n_leaves, seed):
    """A tree that begins as that of TopicTree does."""
    return topic_tree(X, n_leaves, seed=seed).tree


WAYS = {"half, repeated bisection": dict(share=.5), "half, as TopicTree": dict(share=.5, fit=as_topic_tree), "four fifths, repeated bisection": dict(share=.8)}


# ---- planted trees

def kinds(tree, corpus):
    """Which nodes are planted topics, and which are only pieces of one."""
    levels = [corpus.classes(level)[0] for level in range(corpus.n_levels)]
    columns = [sp.csc_array(labels[:,None] == np.unique(labels)).astype(np.int64) for labels in levels]
    J, ids = jaccards(members(tree), sp.hstack(columns, "csc")), list(tree.nodes)
    best = J[1:].argmax(0) + 1
    found = J[best,range(len(best))] > .5
    topic, piece = np.zeros(len(ids), bool), np.zeros(len(ids), bool)
    for node in best[-columns[-1].shape[1]:][found[-columns[-1].shape[1]:]]: piece |= [id.startswith(ids[node]) for id in ids]
    topic[best[found]] = True
    return topic, piece & ~topic


def of_planted(name, case, seed, n_fits):
    """A row for each way to fit again."""
    branching, n_docs, n_leaves, law = case
    corpus = planted_tree(branching, n_docs, shuffle=True, random_state=seed, **law)
    X = count_pipeline().fit_transform(corpus.X)
    seconds_of_fit, tree = timed(lambda: topic_tree(X, n_leaves).tree)
    topic, piece = kinds(tree, corpus)
    for way, options in WAYS.items():
        if way == "half, as TopicTree" and seed != 1000: continue                              # the slowest by far
        seconds, found = timed(lambda: support(X, tree, n_fits=n_fits, **options))
        values = found.nodes[1:]
        def area(*which):
            some = np.logical_or(*which)[1:]
            return float(roc_auc_score(topic[1:][some], values[some])) if 0 < topic[1:][some].mean() < 1 else None
        yield dict(kind="planted", collection=name, seed=seed, way=way, leaves=tree.n_leaves, topics=int(topic.sum()), pieces=int(piece.sum()),
                   against_pieces=area(topic, piece), against_all=area(topic, ~topic), of_topics=float(values[topic[1:]].mean()),
                   of_pieces=float(values[piece[1:]].mean()) if piece.any() else None, times_a_fit=seconds/seconds_of_fit)


# ---- collections

def of_collection(name, corpus, n_fits, quick):
    """A row for each way to fit again (but as TopicTree)."""
    classes = corpus.classes(corpus.n_levels - 1 if name != "library-docs" else 0)[0]
    weigh = count_pipeline() if corpus.texts is None else text_pipeline(max_df=.2 if name == "library-docs" else .5)
    X = weigh.fit_transform(corpus.X if corpus.texts is None else corpus.texts)
    n_leaves = 12 if quick else min(2*len(np.unique(classes)), 60) if name != "library-docs" else 40
    seconds_of_fit, tree = timed(lambda: topic_tree(X, n_leaves).tree)
    counts = [np.bincount(classes[node.docs]) for node in tree.nodes.values()]
    purity = np.array([count.max()/count.sum() for count in counts])
    leaf = np.array([not node.children for node in tree.nodes.values()])
    of_leaf = np.array([np.bincount(classes[node.docs]).argmax() for node in tree.leaves()])
    wrong = of_leaf[tree.labels()] != classes
    for way in ("half, repeated bisection", "four fifths, repeated bisection"):
        seconds, found = timed(lambda: support(X, tree, n_fits=n_fits, **WAYS[way]))
        def correlation(which): return float(spearmanr(found.nodes[which], purity[which])[0]) if np.ptp(purity[which]) > 0 else None
        def share(which): return float(wrong[which].mean()) if which.any() else None
        yield dict(kind="collection", collection=name, seed=0, way=way, leaves=tree.n_leaves, all_nodes=correlation(np.arange(len(leaf)) > 0),
                   leaves_only=correlation(leaf), mean=float(found.nodes[leaf].mean()), wrong_of_steady=share(found.docs > .99),
                   wrong_of_others=share(found.docs < .5), times_a_fit=seconds/seconds_of_fit)


def shown(rows):
    """The tables of both parts."""
    def mean(some, name, digits=3): return mean_sd([row[name] for row in some if row[name] is not None], digits)
    planted = [[name, way, *[mean(some, column) for column in ("against_pieces", "against_all", "of_topics", "of_pieces")],
                mean(some, "times_a_fit", 1)] for (name, way), some in together([r for r in rows if r["kind"] == "planted"], "collection", "way").items()]
    real = [[row["collection"], row["way"], str(row["leaves"]), *[f"{row[name]:.3f}" if row[name] is not None else "–" for name in
             ("all_nodes", "leaves_only", "mean", "wrong_of_steady", "wrong_of_others")], f"{row['times_a_fit']:.1f}"] for row in rows if row["kind"] == "collection"]
    return "\n\n".join([
        table(["planted", "fits", "area, topics / pieces", "area, topics / all others", "support of topics", "of pieces", "times a fit"], planted),
        table(["collection", "fits", "leaves", "Spearman, all nodes", "leaves", "support of leaves", "wrong leaf, always stay", "wrong leaf, others", "times a fit"], real)])


def main():
    args = arguments(__doc__, "support.json")
    rows, n_fits, seeds = [], 4 if args.quick else 30, range(1000, 1001 if args.quick else 1003)
    topic_tree(count_pipeline().fit_transform(planted_tree(random_state=0).X), 12)                                      # compiled
    for name, case in list(PLANTED.items())[:1 if args.quick else None]:
        for seed in seeds: rows += of_planted(name, case, seed, n_fits)
        say(name)
    if args.quick: rows += of_collection("planted", planted_tree((2, 3), 200, random_state=0), n_fits, True)
    else:
        for name in COLLECTIONS:
            try: corpus = load(name).labelled()
            except FileNotFoundError: continue
            rows += of_collection(name, corpus, n_fits, False)
            say(name)
    write(args.output, shown(rows), rows=rows,
          what="support: area under the curve for planted topics, Spearman's correlation with purity in collections; 30 fits")


if __name__ == "__main__": main()
