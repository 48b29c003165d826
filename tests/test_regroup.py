"""Trees from clusters, merged from the bottom up, and the words of their nodes"""
import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

from nmf2.bisection import unit_rows
from nmf2.data import planted_tree
from nmf2.flat import FlatNMF2
from nmf2.headings import good_levels
from nmf2.regroup import cluster_sums, first_groups, groups_of, merged, merges, moved_groups, regroup, tree_merges
from nmf2.tree import Tree
from nmf2.weighting import count_pipeline


def some_documents(n=60, k=7, seed=0):
    rng = np.random.default_rng(seed)
    X = sp.random(n, 40, .15, "csr", rng=rng) + sp.csr_array((np.ones(n), (np.arange(n), rng.integers(40, size=n))), shape=(n, 40))
    return sp.csr_array(X), np.concatenate([np.arange(k), rng.integers(k, size=n - k)])


@pytest.fixture(scope="module")
def planted():
    corpus = planted_tree((3, 3), n_docs=450, random_state=2)
    X = count_pipeline(vocab=corpus.vocab).fit_transform(corpus.X)
    return corpus, X, FlatNMF2(9).fit(X)


@pytest.mark.parametrize("seed", range(6))
def test_merges_by_trying_all(seed):
    X, labels = some_documents(k=3 + seed, seed=seed)
    sums = np.array([unit_rows(X).toarray()[labels == c].sum(0) for c in range(labels.max() + 1)])
    made = merges(sums @ sums.T)
    assert [set(merge[:2]) for merge in made] == [set(pair) for pair, _ in naive.merges(sums)]
    assert_allclose([merge.cost for merge in made], [cost for _, cost in naive.merges(sums)], atol=1e-9)


def test_merges_of_one_and_of_copies():
    assert merges(np.array([[4.]])) == []
    made = merges(np.ones((4, 4)))                                          # all alike: nothing is lost, the first come first
    assert [merge[:2] for merge in made] == [(0, 1), (0, 2), (0, 3)] and all(merge.cost == 0 for merge in made)


def divisions(made):
    "The pairs of sets of clusters that are merged, and what it costs"
    sets, found = {}, {}
    for a, b, cost in made:
        one, other = (sets.get(c, frozenset([c])) for c in (a, b))
        found[frozenset((one, other))] = cost
        sets[a] = one | other
    return found


@pytest.mark.parametrize("k, seed", [(1, 0), (2, 0), (3, 1), (5, 2), (9, 3), (13, 4), (17, 5), (17, 6), (26, 7)])
def test_groups_by_trying_all_moves(k, seed):
    X, labels = some_documents(n=4*k + 20, k=k, seed=seed)
    sums = np.array([unit_rows(X).toarray()[labels == c].sum(0) for c in range(k)])
    for n in range(1, min(k, 5) + 1):
        assert {frozenset(np.flatnonzero(groups_of(sums @ sums.T, n) == g).tolist()) for g in range(n)} == set(map(frozenset, naive.groups(sums, n)))
    first = good_levels(regroup(X, labels, moves=False))[0]
    found, expected = divisions(tree_merges(sums @ sums.T)[0]), dict(naive.grouped(sums, first))
    assert found.keys() == expected.keys() and len(found) == k - 1
    assert_allclose([found[pair] for pair in expected], list(expected.values()), atol=1e-9)


def test_clusters_move_to_better_groups():
    angles = np.radians([0, 30, 55, 86])
    G = np.cos(angles[:,None] - angles)
    assert merged(np.arange(4), merges(G), 2).tolist() == [0, 0, 0, 1]
    assert groups_of(G, 2).tolist() == [0, 0, 1, 1]
    assert_array_equal(moved_groups(np.ones((4, 4)), np.array([0, 0, 1, 1])), [0, 0, 1, 1])       # copies: nothing is gained
    assert tree_merges(np.array([[4.]])) == ([], 1)


@pytest.mark.parametrize("seed", range(4))
def test_the_first_groups_come_first_and_then_the_costliest_division(seed):
    X, labels = some_documents(n=200, k=30, seed=seed)
    sums = np.array([unit_rows(X).toarray()[labels == c].sum(0) for c in range(30)])
    groups = {frozenset(some.tolist()) for some in first_groups(sums @ sums.T)}
    made, n = tree_merges(sums @ sums.T)
    tree, left = regroup(X, labels), divisions(made)
    assert n == len(groups) == tree.levels[0]
    assert {frozenset(np.flatnonzero(cut).tolist()) for cut in merged(np.arange(30), made, n) == np.arange(n)[:,None]} == groups
    under_way = [frozenset(range(30))]
    for pair, cost in reversed(left.items()):
        at = frozenset().union(*pair)
        assert at in under_way
        inside = len(under_way) >= n
        assert cost == max(c for p, c in left.items() if (whole := frozenset().union(*p)) in under_way and (inside or not any(whole <= g for g in groups)))
        under_way.remove(at)
        under_way += pair


def test_merged_clusters_are_cuts_of_the_tree():
    X, labels = some_documents(k=8)
    sums = np.array([unit_rows(X).toarray()[labels == c].sum(0) for c in range(8)])
    tree, made = regroup(X, labels, moves=False), merges(sums @ sums.T)
    for k in range(1, 9):
        found = merged(labels, made, k)
        assert set(found.tolist()) == set(range(k)) and len(set(zip(found, tree.labels(k)))) == k


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [sp.csr_array, lambda X: X.toarray()])
def test_tree_has_the_clusters_as_leaves(form, dtype):
    X, labels = some_documents()
    labels[:3] = -1
    labels[labels >= 0] = np.unique(labels[labels >= 0], return_inverse=True)[1]
    tree, k = regroup(form(X).astype(dtype), labels), labels.max() + 1
    assert tree.n_leaves == k == len(tree.leaves()) and len(tree.splits) == k - 1
    found = tree.labels()
    assert len(set(zip(found, labels))) == k + 1
    assert_array_equal(found == -1, labels == -1)
    assert_array_equal(tree[""].outliers, [0, 1, 2])
    for n in range(1, k):                                                  # a cut is the beginning of the next one
        assert len(set(zip(tree.labels(n + 1), tree.labels(n)))) == n + 1 + 1
    for node in tree:
        total = unit_rows(X)[node.docs].toarray().sum(0)
        assert_allclose(node.topic, total/np.linalg.norm(total), atol=1e-6)
        for child in node.children: assert child.size <= node.size
        if node.children: assert node.children[0].size >= node.children[1].size
        if node.id and node.children: assert node.score >= 0


def test_sums_of_no_cluster_are_an_error():
    with pytest.raises(ValueError, match="labels must put some document into a cluster"):
        cluster_sums(some_documents()[0], np.full(60, -1))


def test_weights_of_each_split_are_least_squares():
    X, labels = some_documents(seed=3)
    tree, U = regroup(X, labels), unit_rows(X).toarray()
    for node in tree:
        if not node.children: continue
        Ht = np.array([U[child.docs].sum(0) for child in node.children]).T
        Ht /= np.linalg.norm(Ht, axis=0)
        W = np.array([nnls(Ht, X[[i]].toarray()[0])[0] for i in node.docs])
        assert_array_equal(node.split.terms, np.flatnonzero(X[node.docs].sum(0)))
        assert_allclose(node.split.Ht, Ht[node.split.terms], atol=1e-12)
        assert_allclose(node.split.W, W, atol=1e-6)
        assert_array_equal(node.split.side, np.isin(node.docs, node.children[1].docs))


def test_tree_answers_and_is_kept(planted, tmp_path):
    corpus, X, flat = planted
    tree = regroup(X, flat.labels_)
    assert set(tree.vocab) <= set(corpus.vocab)
    tree.save(tmp_path/"a.nmf2")
    again = Tree.load(tmp_path/"a.nmf2")
    assert_array_equal(again.labels(4), tree.labels(4))
    assert again.splits == tree.splits and str(again) == str(tree) and again.levels == tree.levels == (3, 9)
    for n in (None, 3): assert_array_equal(again.predict(X, n), tree.predict(X, n))
    for node in tree:
        if node.id: assert len(tree.contrast(node)) and len(tree.typical(node)) and set(tree.typical(node)) <= set(node.docs)
    assert tree.to_linkage().shape == (8, 4)


def test_planted_topics_are_put_together(planted):
    corpus, X, flat = planted
    tree = regroup(X, flat.labels_)
    broad = corpus.classes(0)[0]
    assert len(set(zip(tree.labels(3), broad))) == 3


def test_any_order_of_documents_words_and_clusters(planted):
    _, X, flat = planted
    rng = np.random.default_rng(0)
    rows, columns, names = rng.permutation(X.shape[0]), rng.permutation(X.shape[1]), rng.permutation(9)
    tree, other = regroup(X, flat.labels_), regroup(X[rows][:,columns], names[flat.labels_][rows])
    for n in (2, 3, 6, 9): assert len(set(zip(tree.labels(n)[rows], other.labels(n)))) == n


@pytest.mark.parametrize("labels, message", [
    (np.zeros(5, int), "one entry for each"), (np.ones(60, int), "from 0 on"), (np.zeros(60), "whole numbers"),
    (np.full(60, -2), "from 0 on"), (np.full(60, -1), "from 0 on"), (np.array([0, 2]*30), "from 0 on")])
def test_bad_labels(labels, message):
    with pytest.raises(ValueError, match=message): regroup(some_documents()[0], labels)


@pytest.mark.slow
def test_new_documents_are_compared_with_all_clusters(planted):
    _, X, flat = planted
    tree = regroup(X, flat.labels_)
    X = X[::9]                                     # the slow twin tries 512 sets of topics for each document
    W = np.array([naive.nnls(tree.leaf_topics.astype(float), x) for x in X.toarray().astype(float)])
    assert_array_equal(tree.predict(X), W.argmax(1))
    assert_allclose(tree.transform(X), W/W.sum(1, keepdims=True), atol=1e-4)
    for n in (1, 3, 9):
        below = np.array([[leaf.id.startswith(node.id) for node in tree.leaves(n)] for leaf in tree.leaves()])
        assert_array_equal(tree.predict(X, n), below[W.argmax(1)].argmax(1))
        assert_allclose(tree.transform(X, n), tree.transform(X) @ below, atol=1e-6)
    empty = np.zeros((1, X.shape[1]))
    assert tree.predict(empty) == [-1] and tree.predict(empty, 3) == [-1]
    assert_allclose(tree.transform(empty)[0], [leaf.size/450 for leaf in tree.leaves()], rtol=1e-6)


def test_what_is_no_matrix():
    corpus = planted_tree((2,), 20)
    with pytest.raises(ValueError, match="not a Corpus"): regroup(corpus, np.zeros(20, int))
    with pytest.raises(ValueError, match="not texts"): regroup(["a b", "c d"], [0, 1])
    with pytest.raises(ValueError, match="from 0 on"): regroup(np.eye(3), [0, 1, 10**9])
    pandas = pytest.importorskip("pandas")
    assert list(regroup(pandas.DataFrame(np.eye(3), columns=list("abc")), [0, 1, 1]).vocab) == list("abc")
