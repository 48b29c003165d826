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
    found = fit_mixture(X, labels, max_iter=4, tol=0, alpha=alpha)
    shares, criteria = naive.word_mixture(X.toarray(), labels, alpha, len(found.criteria))
    if found.n_held: pytest.skip("documents were put back, which the plain version does not")
    assert_allclose(found.criteria, criteria, rtol=1e-5, atol=1e-5)
    filled = np.diff(X.indptr) > 0
    assert_array_equal(found.labels[~filled], -1)
    best = np.sort(shares[filled])
    clear = best[:,-1] > best[:,-2] + 1e-4
    assert clear.mean() > .9
    assert_array_equal(found.labels[filled][clear], shares[filled].argmax(1)[clear])


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


def test_the_smallest_inputs():
    assert_array_equal(fit_mixture(np.eye(1), np.array([0])).labels, [0])
    assert_array_equal(fit_mixture(np.eye(3), np.arange(3)).labels, [0, 1, 2])
    assert_array_equal(fit_mixture(np.ones((4, 2)), np.array([0, 0, 1, 1])).labels, [0, 0, 1, 1])
    assert_array_equal(fit_mixture(np.array([[0, 0], [1, 0], [0, 1]]), np.array([1, 0, 1])).labels, [-1, 0, 1])
    with pytest.raises(ValueError, match="all documents are empty"): fit_mixture(np.zeros((3, 2)), np.array([0, -1, 0]))
    with pytest.raises(ValueError, match="some document with words"): fit_mixture(np.array([[0, 0], [1, 0]]), np.array([0, 1]))
    assert made_up(np.zeros(3, int), 2) == 1


def test_the_input_stays_as_it_is():
    X, labels = words(), start(40, 3)
    copies = X.copy(), labels.copy()
    fit_mixture(X, labels)
    assert (X != copies[0]).nnz == 0
    assert_array_equal(labels, copies[1])


@pytest.mark.parametrize("labels, options, what", [
    ([0, 1], {}, "labels must be whole numbers, one for each of the 40"), (np.zeros(40), {}, "labels must be whole"),
    (np.full(40, -1), {}, "labels must be numbers of clusters"), (np.full(40, 2), {}, "labels must be numbers of clusters"),
    (start(40, 3) - 3, {}, "labels must be numbers of clusters"), (start(40, 3), dict(max_iter=0), "max_iter"), (start(40, 3), dict(tol=-1.), "tol"),
    (start(40, 3), dict(alpha=0.), "alpha"), (start(40, 3), dict(alpha=np.nan), "alpha")])
def test_bad_input(labels, options, what):
    with pytest.raises(ValueError, match=what): fit_mixture(words(), labels, **options)
    with pytest.raises(ValueError, match="(?i)negative"): fit_mixture(-words(), start(40, 3))
