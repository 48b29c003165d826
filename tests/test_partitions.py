"""What trees are compared with: spectral clustering, principal directions, their combinations, and the table of all methods"""
import warnings

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score as ari
from sklearn.utils.estimator_checks import parametrize_with_checks

from nmf2.data import planted_tree
from nmf2.partitions import (PDDP, SMALL, AverageAssociation, FlatKMeans, NormalizedCutClustering, centroids, divide, leading,
                             numbered, principal_cut, scatter, walk)
from nmf2.weighting import NormalizedCut, count_pipeline


@pytest.fixture(scope="module")
def planted():
    corpus = planted_tree((2, 3), n_docs=300, overlap=.3, noise=.1, length=60, random_state=0)
    return count_pipeline(normalized_cut=False).fit_transform(corpus.X).astype(np.float64), corpus.classes()[0]


def degenerate():
    "Matrices with something missing, by name"
    rng = np.random.default_rng(0)
    X = rng.random((12, 7))*(rng.random((12, 7)) < .7)
    yield "one term", rng.random((9, 1))
    yield "one document again and again", np.tile(X[:1], (8, 1))
    yield "three documents again and again", np.tile(X[:3], (5, 1))
    yield "empty documents", np.vstack([np.zeros((3, 7)), X, np.zeros((2, 7))])
    yield "terms nobody uses", np.c_[X, np.zeros((12, 4))]
    yield "nothing in common", np.eye(9)


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("shape", [(60, 20), (20, 60), (SMALL + 60, 2*SMALL), (2*SMALL, SMALL + 40)])
def test_leading_is_the_dense_svd(centered, shape):
    rng = np.random.default_rng(0)
    X = rng.random(shape)*(rng.random(shape) < .2)
    U, sizes, Vt = np.linalg.svd(X - X.mean(0)*centered, full_matrices=False)
    for M in (X, sp.csr_matrix(X)):
        found = leading(M, 5, centered)
        assert_allclose(found.sizes, sizes[:5])
        assert_allclose(abs((found.U*U[:,:5]).sum(0)), 1, atol=1e-8), assert_allclose(abs((found.V*Vt[:5].T).sum(0)), 1, atol=1e-8)
        assert (np.take_along_axis(found.V, abs(found.V).argmax(0)[None], 0) > 0).all()
        assert_allclose(found.mean, X.mean(0)*centered)


def test_leading_without_rank():
    for n, m in ((12, 8), (8, 12), (SMALL + 50, SMALL + 20)):
        X = np.outer(np.arange(1., n + 1), np.ones(m))
        found = leading(X, 4)
        assert (found.sizes[1:] == 0).all() and (found.U[:,1:] == 0).all() and (found.V[:,1:] == 0).all()
        same = leading(np.ones((n, m)), 3, centered=True)
        assert (same.sizes == 0).all() and (same.U == 0).all()
    assert leading(np.ones((3, 5)), 9).U.shape == (3, 3)


@pytest.mark.parametrize("method", [AverageAssociation, NormalizedCutClustering])
def test_spectral_is_the_eigenvectors_of_all_similarities(planted, method):
    X, _ = planted
    for M in (X, X.toarray(), X.astype(np.float32)):
        model = method(6, normalize_rows=False, random_state=0).fit(M)
        Y = naive.spectral(X.toarray(), 6, method is NormalizedCutClustering)
        assert_allclose(abs((Y*model.embedding_).sum(0)), 1, atol=1e-5)
        rows = method(6, random_state=0).fit(M).embedding_
        assert_allclose(np.linalg.norm(rows, axis=1), 1)


def test_average_association_on_normalized_cut_weights_is_normalized_cut(planted):
    X, _ = planted
    for rows in (False, True):
        a = AverageAssociation(6, normalize_rows=rows, random_state=0).fit(NormalizedCut().fit_transform(X))
        b = NormalizedCutClustering(6, normalize_rows=rows, random_state=0).fit(X)
        assert_allclose(a.embedding_, b.embedding_, atol=1e-12), assert_array_equal(a.labels_, b.labels_)


@pytest.mark.parametrize("method", [AverageAssociation, NormalizedCutClustering])
def test_spectral_finds_planted_topics(planted, method):
    X, topics = planted
    model = method(6, random_state=0).fit(X)
    assert ari(topics, model.labels_) > .9
    assert_array_equal(model.predict(X), model.labels_), assert_array_equal(model.predict(X[[5]]), model.labels_[[5]])
    assert_array_equal(clone(model).fit_predict(X), model.labels_)
    assert_allclose(model.components_[2], X.toarray()[model.labels_ == 2].mean(0))


@pytest.mark.parametrize("method", [AverageAssociation, NormalizedCutClustering])
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_spectral_on_degenerate_matrices(method):
    for name, X in degenerate():
        filled = X.any(1)
        for k in (1, 2, 3, filled.sum()):
            model = method(k, random_state=0).fit(X)
            assert ((model.labels_ == -1) == ~filled).all() and model.labels_.max() < k, name
            assert np.isfinite(model.embedding_).all() and np.isfinite(model.components_).all()
            if name.startswith("three"): assert (model.labels_[:3] == model.labels_[3:6]).all()
        with pytest.raises(ValueError, match="n_clusters"): method(len(X) + 1).fit(X)


def test_centroids(planted):
    X, topics = planted
    labels = np.where(topics == 1, -1, topics)
    found = centroids(X, labels, 7)
    for c in (0, 2, 5): assert_allclose(found[c], X.toarray()[labels == c].mean(0))
    assert not found[1].any() and not found[6].any()
    assert_allclose(found, centroids(X.toarray(), labels, 7))


def piles(labels): return {frozenset(np.flatnonzero(labels == c).tolist()) for c in set(labels.tolist())}


def test_a_cut_is_the_sign_of_the_dense_singular_vector(planted):
    X, _ = planted
    rng = np.random.default_rng(0)
    for M in (X, X[:40], X.toarray(), X.astype(np.float32), rng.normal(size=(300, 5)), rng.normal(size=(30, 50))):
        direction, threshold = principal_cut(M)
        D = M.toarray() if sp.issparse(M) else M
        U = np.linalg.svd((D - D.mean(0)).astype(float), full_matrices=False)[0][:,0]
        right = D @ direction > threshold
        assert (right == (U > 0)).all() or (right == (U < 0)).all()
    assert principal_cut(np.ones((5, 3))) is None and principal_cut(np.full((300, 3), .1)) is None


@pytest.mark.parametrize("choice", ["scatter", "variance"])
def test_pddp_is_the_naive_one(planted, choice):
    X, _ = planted
    rng = np.random.default_rng(1)
    for M in (X, X.toarray(), rng.normal(size=(250, 6)), np.abs(rng.normal(size=(40, 90)))):
        model = PDDP(7, choice=choice).fit(M)
        assert piles(model.labels_) == naive.pddp(M.toarray() if sp.issparse(M) else M, 7, choice == "variance")
        assert_array_equal(model.predict(M), model.labels_), assert_array_equal(model.predict(M[[3]]), model.labels_[[3]])


def test_fewer_clusters_are_the_first_splits(planted):
    X, _ = planted
    model = PDDP(9).fit(X)
    for k in (1, 2, 5, 9): assert_array_equal(model.labels(k), PDDP(k).fit(X).labels_)
    assert_array_equal(PDDP(9, kmeans=True).fit(X).labels(9), model.labels_)
    with pytest.raises(ValueError, match="at most 9"): model.labels(10)
    assert_allclose(model.components_[3], X.toarray()[model.labels_ == 3].mean(0))


def test_equal_documents_stay_together():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.random((6, 9)), 4, axis=0)
    with pytest.warns(UserWarning, match="only 6 different"): model = PDDP(10).fit(X)
    assert piles(model.labels_) == {frozenset(range(i, i + 4)) for i in range(0, 24, 4)}
    assert scatter(X[:4]) == 0 and scatter(sp.csr_matrix(X[:4])) == 0 and scatter(X[:5]) > 0
    assert piles(PDDP(2).fit(np.array([[0., 1], [1, 0], [0, 1], [1, 0]])).labels_) == {frozenset([0, 2]), frozenset([1, 3])}


def test_pddp_moved_or_turned_is_the_same():
    rng = np.random.default_rng(3)
    X, turn = rng.normal(size=(80, 4)), np.linalg.qr(rng.normal(size=(4, 4)))[0]
    assert piles(PDDP(6).fit(X).labels_) == piles(PDDP(6).fit(X @ turn + 100).labels_)


def test_kmeans_from_pddp(planted):
    X, topics = planted
    plain, model = PDDP(6).fit(X), PDDP(6, kmeans=True).fit(X)
    def far(labels, centers): return ((X.toarray() - centers[labels])**2).sum()
    assert far(model.labels_, model.components_) <= far(plain.labels_, plain.components_)
    assert_array_equal(model.predict(X), model.labels_)
    assert_allclose(model.components_, centroids(X, model.labels_, 6), atol=1e-6)
    assert ari(topics, model.labels_) > .9


@pytest.mark.filterwarnings("ignore:Number of distinct clusters", "ignore:n_clusters")
@pytest.mark.parametrize("method", [PDDP, lambda k: PDDP(k, kmeans=True), FlatKMeans])
def test_division_of_degenerate_matrices(method):
    for name, X in degenerate():
        filled = X.any(1)
        for k in (1, 2, 3, filled.sum()):
            model = method(k).fit(X)
            assert ((model.labels_ == -1) == ~filled).all() and model.labels_.max() < k, name
            assert np.isfinite(model.components_).all()
            assert ari(model.predict(X), model.labels_) == 1           # equal centres may swap names
            if name == "one document again and again": assert (model.labels_ == 0).all()
        with pytest.raises(ValueError, match="n_clusters"): method(len(X) + 1).fit(X)
    with pytest.raises(ValueError, match="choice"): PDDP(choice="size").fit(X)
    with pytest.raises(ValueError, match="init"): FlatKMeans(init="far").fit(X)


def test_flat_kmeans(planted):
    X, topics = planted
    model = FlatKMeans(6, n_init=5, random_state=0).fit(X)
    assert ari(topics, model.labels_) > .8 and model.n_iter_ > 1
    assert_array_equal(model.predict(X), model.labels_), assert_array_equal(clone(model).fit(X).labels_, model.labels_)
    D = X.toarray()
    assert_allclose(model.inertia_, ((D - model.components_[model.labels_])**2).sum())


NEGATIVE = {f"check_clustering{rest}": "its data have negative entries" for rest in ("", "(readonly_memmap=True)")}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([AverageAssociation(3), NormalizedCutClustering(3, normalize_rows=False), PDDP(3), PDDP(3, kmeans=True),
                          FlatKMeans(3)], expected_failed_checks=lambda est: {} if isinstance(est, (PDDP, FlatKMeans)) else NEGATIVE)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
