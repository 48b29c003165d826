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
from nmf2.partitions import SMALL, AverageAssociation, NormalizedCutClustering, centroids, leading
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


NEGATIVE = {f"check_clustering{rest}": "its data have negative entries" for rest in ("", "(readonly_memmap=True)")}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([AverageAssociation(3), NormalizedCutClustering(3, normalize_rows=False)], expected_failed_checks=lambda _: NEGATIVE)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
