"""A tree at every level: how well do its cuts agree with classes that have levels themselves?

For each collection and method: NMI (arithmetic) of the cut with as many leaves as a level has classes, for each level; dendrogram purity
to the coarsest classes; the seconds of processor time that a fit takes, of all threads together, which other work on the machine hardly
changes. Trees have as many leaves as the finest level has classes. What is called regrouped or merged is joined from the bottom up;
TopicTree also lets clusters move between groups. Methods of nmf2 see normalized-cut weights, the others tf-idf of unit length. Methods
that draw random numbers are run three times, and the figures are means.

    NMF2_DATA=folder python benchmarks/levels.py [--quick] [--out FOLDER]
"""
import heapq
import warnings
from time import process_time

import numpy as np
from common import arguments, say, table, together, write
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import BisectingKMeans, KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

from nmf2 import FlatNMF2, HierNMF2, Tree, load
from nmf2.bisection import RepeatedBisection
from nmf2.data import planted_tree
from nmf2.evaluate import dendrogram_purity, nmi
from nmf2.regroup import regroup
from nmf2.topictree import sums_of, topic_tree
from nmf2.weighting import count_pipeline, text_pipeline

COLLECTIONS = "20newsgroups", "arxiv_2level", "library-docs"


# ---- trees of other methods, from the labels of their cuts

def tree_of(cuts):
    """A tree without topics from nested labels, of one cluster, two, and so on."""
    where = np.full(len(cuts[0]), "", object)
    tree = Tree(len(where), np.ones(1))
    tree.add("", np.arange(len(where)), score=np.inf)
    for labels in cuts[1:]:
        for id in np.unique(where):
            rows = np.flatnonzero(where == id)
            first, *others = np.unique(labels[rows])
            if not others: continue
            for side, part in zip("01", (rows[labels[rows] == first], rows[labels[rows] != first])):
                tree.add(id + side, part)
                where[part] = id + side
            tree.splits.append(id)
    return tree


def joined(labels, Z):
    """The tree over some clusters that SciPy's linkage joined."""
    return tree_of([fcluster(Z, n, "maxclust")[labels] for n in range(1, labels.max() + 2)])


def bisected(model):
    """The tree of a fitted BisectingKMeans: at each step the leaf of the largest score was cut."""
    number = np.zeros(len(model.labels_), int)
    def leaves(node): return [node.label] if node.left is None else leaves(node.left) + leaves(node.right)
    cuts, heap = [number.copy()], [(-model._bisecting_tree.score, 0, model._bisecting_tree)]
    while heap:
        _, _, node = heapq.heappop(heap)
        if node.left is None: continue
        number[np.isin(model.labels_, leaves(node.right))] = len(cuts)
        cuts.append(number.copy())
        for child in (node.left, node.right): heapq.heappush(heap, (-child.score, len(heap) + 10*len(cuts), child))
    return tree_of(cuts)


# ---- methods: functions of the matrix, the number of leaves and a seed

def kmeans(X, k, seed):
    model = KMeans(k, random_state=seed).fit(X)
    return joined(model.labels_, linkage(model.cluster_centers_, "ward"))


def svd_ward(X, k, seed):
    parts = normalize(TruncatedSVD(min(100, X.shape[1] - 1), random_state=seed).fit_transform(X))
    Z = linkage(parts, "ward")
    return tree_of([fcluster(Z, n, "maxclust") for n in range(1, k + 1)])


def average(X, k, seed):
    labels = FlatNMF2(k).fit(X).labels_
    labels = np.unique(np.maximum(labels, 0), return_inverse=True)[1]
    return joined(labels, linkage(sums_of(X, labels).T, "average", metric="cosine"))


def regrouped(model):
    def fit(X, k, seed):
        labels = model(k, seed).fit(X).labels_
        labels[labels >= 0] = np.unique(labels[labels >= 0], return_inverse=True)[1]
        return regroup(X, labels, moves=False)
    return fit


def merged_only(X, k, seed):
    labels = topic_tree(X, k, seed=seed).tree.labels()
    return regroup(X, labels, moves=False)


OURS = {"TopicTree": lambda X, k, seed: topic_tree(X, k, seed=seed).tree, "TopicTree's topics, merged only": merged_only,
        "HierNMF2": lambda X, k, seed: HierNMF2(k).fit(X).tree_,
        "FlatNMF2's topics, regrouped": regrouped(lambda k, seed: FlatNMF2(k)), "FlatNMF2's topics, average linkage": average,
        "repeated bisection, regrouped": regrouped(lambda k, seed: RepeatedBisection(k, random_state=seed))}
PEERS = {"KMeans, centroids joined by Ward": kmeans,
         "BisectingKMeans": lambda X, k, seed: bisected(BisectingKMeans(k, random_state=seed).fit(X)), "SVD to 100, Ward": svd_ward}
RANDOM = ("TopicTree", "TopicTree's topics, merged only", "repeated bisection, regrouped", "KMeans, centroids joined by Ward",
          "BisectingKMeans")


# ---- collections

def planted(branching, seed):
    """A made-up collection, and its levels."""
    corpus = planted_tree(branching, 400*int(np.prod(branching)), n_terms=9000, overlap=.6, noise=.15, spread=.8, skew=.5, shuffle=True, random_state=seed)
    return f"planted {' × '.join(map(str, branching))}", corpus


def levels_of(corpus):
    """The documents that have a class at each level, and these classes."""
    known = (np.asarray(corpus.labels) != "").all(1)
    some = corpus[known]
    return some, [some.classes(level)[0] for level in range(some.n_levels)]


def found(quick):
    """Yield name, documents and levels of classes."""
    if quick: yield "planted", *levels_of(planted_tree((2, 3), 200, random_state=0))
    else:
        for name in COLLECTIONS: yield name, *levels_of(load(name))
        for branching in ((4, 5), (6, 6), (3, 4, 3)):
            name, corpus = planted(branching, 0)
            yield name, *levels_of(corpus)


def weighted(corpus, cut):
    """Weights of the documents."""
    options = dict(normalized_cut=cut)
    if corpus.texts is None: return count_pipeline(**options).fit_transform(corpus.X)
    return text_pipeline(max_df=.2 if corpus.name == "library-docs" else .5, **options).fit_transform(corpus.texts)


def measured(tree, levels):
    """NMI at each level, and dendrogram purity at the first."""
    sizes = [len(np.unique(classes)) for classes in levels]
    return dict(sizes=sizes, nmi=[nmi(tree.labels(min(n, tree.n_leaves)), classes) for n, classes in zip(sizes, levels)],
                purity=dendrogram_purity(tree, levels[0]))


def runs(name, corpus, levels, quick):
    """A row for each method and seed."""
    matrices = {cut: weighted(corpus, cut) for cut in (True, False)}
    some = np.flatnonzero(np.asarray(matrices[True].sum(1)).ravel() > 0)               # documents that have words
    levels, k = [classes[some] for classes in levels], max(len(np.unique(classes)) for classes in levels)
    for method, fit in (OURS | PEERS).items():
        for seed in range(3 if method in RANDOM and not quick else 1):
            before = process_time()
            tree = fit(matrices[method in OURS][some], k, seed)
            yield dict(collection=name, method=method, seed=seed, seconds=round(process_time() - before, 3), **measured(tree, levels))
        say(f"{name}: {method}")


def main():
    args = arguments(__doc__, "levels.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warm = weighted(planted_tree((2, 2), 100, random_state=0), True)
        for fit in (OURS | PEERS).values(): fit(warm, 4, 0)                             # compiles what is to be measured
        rows = [row for one in found(args.quick) for row in runs(*one, args.quick)]
    means = []
    for (name, method), some in together(rows, "collection", "method").items():
        figures = {key: np.mean([row[key] for row in some], axis=0).round(4).tolist() for key in ("nmi", "purity", "seconds")}
        means.append(dict(collection=name, method=method, sizes=some[0]["sizes"], **figures))
    lines = [[m["collection"], m["method"], "/".join(map(str, m["sizes"])), " ".join(f"{value:.3f}" for value in m["nmi"]),
              f"{m['purity']:.3f}", f"{m['seconds']:.1f}"] for m in means]
    write(args.output, table(["collection", "method", "classes", "NMI at each level", "dendrogram purity", "processor seconds"], lines),
          what="trees at every level: NMI of cuts to classes of each level, dendrogram purity to the coarsest, processor seconds of a fit",
          means=means, rows=rows)


if __name__ == "__main__": main()
