"""Mixtures: against the plain version, in any number of threads, and what becomes of clusters that die"""
import naive
import numba
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import normalized_mutual_info_score as nmi

from nmf2 import mixture
from nmf2.data import planted_tree
from nmf2.mixture import fit_mixture, made_up
from nmf2.weighting import count_pipeline


def words(n_docs=40, n_terms=12, seed=0, density=.3):
    return sp.random_array((n_docs, n_terms), density=density, format="csr", rng=np.random.default_rng(seed), dtype=np.float64)


def start(n_docs, k, seed=0): return np.append(np.arange(k), np.random.default_rng(seed).integers(0, k, n_docs - k))


@pytest.fixture(scope="module")
def short():
    corpus = planted_tree((6,), n_docs=1500, n_words=200, length=20, overlap=.7, random_state=4)
    return sp.csr_array(count_pipeline().fit_transform(corpus.X)), corpus.classes()[0]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("alpha", [.5, 4., 30.])
def test_rounds_are_those_of_the_plain_version(seed, alpha):
    X, labels = words(seed=seed), start(40, 3, seed)
    compare_with_the_plain_version(X, labels, fit_mixture(X, labels, max_iter=4, tol=0, alpha=alpha), alpha)


@pytest.mark.parametrize("seed", range(5))
def test_rounds_in_which_documents_are_put_back(seed):
    X, labels = words(seed=seed), start(40, 6, seed)
    found = fit_mixture(X, labels, max_iter=4, tol=0, alpha=15.)
    assert 0 < found.n_held < 30
    compare_with_the_plain_version(X, labels, found, 15.)


def compare_with_the_plain_version(X, labels, found, alpha):
    shares, criteria, held = naive.word_mixture(X.toarray(), labels, alpha, len(found.criteria))
    assert_allclose(found.criteria, criteria, rtol=1e-5, atol=1e-5)
    filled, rows = np.diff(X.indptr) > 0, list(held)
    assert found.n_held == len(held)
    assert_array_equal(found.labels[rows], labels[rows])
    assert_array_equal(found.labels[~filled], -1)
    best = np.sort(shares)
    clear = filled & (best[:,-1] > best[:,-2] + 1e-4)
    clear[rows] = False
    assert clear.sum() >= .9*(filled.sum() - len(held))
    assert_array_equal(found.labels[clear], shares[clear].argmax(1))


def test_a_small_share_is_no_share():
    X = np.kron(np.eye(2), np.ones((5, 6)))                       # five documents with six words, five with six others
    rows, df, begun = mixture.presence(X), X.sum(0), np.arange(2).repeat(5)
    clusters = mixture.clusters_of_labels(rows, begun, 2, mixture.word_ranges(df))
    said = mixture.lifts(clusters, df/df.sum(), 1.)
    found, _, _ = mixture.mixture_round(rows, said, np.full(10, -1), mixture.word_ranges(df))
    assert_array_equal(found.sizes, [5, 5])
    assert_array_equal(found.S, clusters.S)


def test_it_only_matters_which_words_there_are(short):
    X, _ = short
    labels = start(X.shape[0], 6)
    other = X.astype(np.float32)
    other.data = np.random.default_rng(0).random(X.nnz).astype(np.float32) + .1
    assert_array_equal(fit_mixture(X, labels).labels, fit_mixture(other, labels).labels)
    assert_array_equal(fit_mixture(X, labels).labels, fit_mixture(X.toarray(), labels).labels)


def test_short_documents_find_their_topics(short):
    X, truth = short
    rng = np.random.default_rng(0)
    begun = np.where(rng.random(len(truth)) < .6, rng.integers(0, 6, len(truth)), truth)
    found = fit_mixture(X, begun)
    assert nmi(truth, begun) < .2 and nmi(truth, found.labels) > .75
    assert (np.diff(found.criteria) > -1e-3).all()


@pytest.mark.parametrize("block", [64, 8192])
def test_any_number_of_threads_gives_the_same_bits(short, block, monkeypatch):
    X, _ = short
    labels, before = start(X.shape[0], 6), numba.get_num_threads()
    monkeypatch.setattr(mixture, "BLOCK", 8192)
    usual = fit_mixture(X, labels)
    monkeypatch.setattr(mixture, "BLOCK", block)
    for threads in {1, before}:
        numba.set_num_threads(threads)
        try: found = fit_mixture(X, labels)
        finally: numba.set_num_threads(before)
        assert_array_equal(found.labels, usual.labels)
        assert_allclose(found.criteria, usual.criteria, rtol=1e-12)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_indices_of_either_size(index):
    X, labels = words(), start(40, 4)
    wide = X.copy()
    wide.indices, wide.indptr = X.indices.astype(index), X.indptr.astype(index)
    assert_array_equal(fit_mixture(wide, labels).labels, fit_mixture(X, labels).labels)


def test_no_cluster_dies(short):
    X, _ = short
    labels = start(X.shape[0], 6)
    for alpha in (1e-3, 1e3, 1e5):
        found = fit_mixture(X, labels, alpha=alpha)
        assert set(found.labels) == set(range(6))
        assert (found.n_held > 0) == (alpha == 1e5)


@pytest.mark.parametrize("max_iter", [1, 2, 3])
def test_no_cluster_is_missing_when_rounds_run_out(max_iter):
    for seed in range(20):
        X, labels = words(seed=seed), start(40, 6, seed)
        filled = np.diff(X.indptr) > 0
        if len(set(labels[filled])) == 6:
            assert set(fit_mixture(X, labels, max_iter=max_iter, alpha=60.).labels[filled]) == set(range(6))


def test_the_smallest_inputs():
    assert_array_equal(fit_mixture(np.eye(1), np.array([0])).labels, [0])
    assert_array_equal(fit_mixture(np.eye(3), np.arange(3)).labels, [0, 1, 2])
    assert_array_equal(fit_mixture(np.ones((4, 2)), np.array([0, 0, 1, 1])).labels, [0, 0, 1, 1])
    assert_array_equal(fit_mixture(np.array([[0, 0], [1, 0], [0, 1]]), np.array([1, 0, 1])).labels, [-1, 0, 1])
    with pytest.raises(ValueError, match="all documents are empty"): fit_mixture(np.zeros((3, 2)), np.array([0, -1, 0]))
    with pytest.raises(ValueError, match="some document with words"): fit_mixture(np.array([[0, 0], [1, 0]]), np.array([0, 1]))


def test_as_many_words_are_made_up_as_there_are_but_no_more_than_a_cluster_has():
    assert made_up(np.array([9, 0, 5, 6]), 2) == 3                # three words; a cluster has ten
    assert made_up(np.array([9, 0, 5, 6]), 10) == 2
    assert made_up(np.zeros(3, int), 2) == 1


def test_rounds_end_when_the_criterion_rises_by_less_than_tol(short):
    X, _ = short
    labels = start(X.shape[0], 6)
    for tol in (.05, .003):
        rises = np.diff(fit_mixture(X, labels, max_iter=100, tol=tol).criteria)
        assert rises[-1] < tol <= rises[:-1].min()


def test_the_input_stays_as_it_is():
    X, labels = words(), start(40, 3)
    copies = X.copy(), labels.copy()
    fit_mixture(X, labels)
    assert (X != copies[0]).nnz == 0
    assert_array_equal(labels, copies[1])


@pytest.mark.parametrize("labels, options, what", [
    ([0, 1], {}, "labels must have 40 entries, one for each document"), (np.full(40, .5), {}, "labels must be whole"),
    (np.full(40, -1), {}, "labels must be numbers of clusters"), (np.full(40, 2), {}, "labels must be numbers of clusters"),
    (start(40, 3) - 3, {}, "labels must be whole numbers from -1 on"), (start(40, 3), dict(max_iter=0), "max_iter"), (start(40, 3), dict(tol=-1.), "tol"),
    (start(40, 3), dict(alpha=0.), "alpha"), (start(40, 3), dict(alpha=np.nan), "alpha")])
def test_bad_input(labels, options, what):
    with pytest.raises(ValueError, match=what): fit_mixture(words(), labels, **options)
    with pytest.raises(ValueError, match="(?i)negative"): fit_mixture(-words(), start(40, 3))
