"""Rank-2 NMF against its naive twins, and the collapse guard"""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import normalized_mutual_info_score

from nmf2.hier import HierNMF2
from nmf2.kernels import documents
from nmf2.rank2 import Rank2NMF, leading_pair, rank2_nmf, revive, sides, svd_topics, wedge


def matrix(seed=0, n=50, m=30, density=.4):
    X = sp.random(n, m, density, "csr", rng=np.random.default_rng(seed))
    X.data += .05
    return X


def error(X, W, Ht): return np.linalg.norm(X - W @ Ht.T)


@pytest.mark.slow
@pytest.mark.no_estimator
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("min_iter", [1, 5])
def test_published_order_as_the_naive_twin(seed, min_iter):
    X, H0 = matrix(seed), np.random.default_rng(seed).random((2, 30))
    W, H, n_iter = naive.rank2_terms_last(X.toarray(), H0, 1e-3, min_iter)
    for form in (X, X.toarray()):
        fit = rank2_nmf(documents(form), H0.T, tol=1e-3, min_iter=min_iter, extrapolate=False)
        assert fit.n_iter == n_iter and fit.converged
        assert_allclose(fit.W, W, atol=1e-9)
        assert_allclose(fit.Ht.T, H, atol=1e-9)


@pytest.mark.slow
@pytest.mark.no_estimator
@pytest.mark.parametrize("seed", range(3))
def test_order_from_weights_as_the_naive_twin(seed):
    X, W0 = matrix(seed), np.random.default_rng(seed).random((50, 2))
    fit = rank2_nmf(documents(X), W0=W0, tol=1e-3, extrapolate=False)
    W, H, n_iter = naive.rank2_docs_last(X.toarray(), W0, 1e-3)
    assert fit.n_iter == n_iter
    assert_allclose(fit.W, W, atol=1e-9)
    assert_allclose(fit.Ht.T, H, atol=1e-9)


def test_at_most_max_iter_and_then_it_says_so():
    docs, H0 = documents(matrix()), np.random.default_rng(0).random((30, 2))
    for options in (dict(), dict(extrapolate=False), dict(extrapolate=False, W0=np.random.default_rng(0).random((50, 2)), Ht0=None)):
        fit = rank2_nmf(docs, **{"Ht0": H0, "tol": 0., "max_iter": 3, **options})
        assert fit.n_iter == 3 and not fit.converged
    with pytest.warns(UserWarning, match="max_iter=2"): Rank2NMF(max_iter=2).fit(matrix())


@pytest.mark.slow
@pytest.mark.no_estimator
@pytest.mark.parametrize("extrapolate", [True, False])
def test_the_svd_start_is_as_good_as_the_best_of_random_ones(extrapolate):
    for seed in range(5):
        X = matrix(seed, 200, 80, .2)
        docs = documents(X)
        svd = rank2_nmf(docs, tol=1e-5, extrapolate=extrapolate)
        tries = [rank2_nmf(docs, np.random.default_rng(s).random((80, 2)), tol=1e-5, extrapolate=False) for s in range(5)]
        assert error(X, svd.W, svd.Ht) < 1.001*min(error(X, fit.W, fit.Ht) for fit in tries)


@pytest.mark.no_estimator
@pytest.mark.parametrize("max_iter", [1, 2, 5])
@pytest.mark.parametrize("seed", range(2))
def test_factors_at_max_iter_belong_together(seed, max_iter):
    X, rng = matrix(seed), np.random.default_rng(seed)
    W0, H0 = rng.random((50, 2)), rng.random((2, 30))
    fit = rank2_nmf(documents(X), W0=W0, tol=0, max_iter=max_iter, extrapolate=False)
    W, H, _ = naive.rank2_docs_last(X.toarray(), W0, 0, max_iter=max_iter)
    assert_allclose(fit.W, W, atol=1e-9)
    assert_allclose(fit.Ht.T, H, atol=1e-9)
    fit = rank2_nmf(documents(X), H0.T, tol=0, max_iter=max_iter, extrapolate=False)
    W, H, _ = naive.rank2_terms_last(X.toarray(), H0, 0, max_iter=max_iter)
    assert_allclose(fit.W, W, atol=1e-9)
    assert_allclose(fit.Ht.T, H, atol=1e-9)


@pytest.mark.no_estimator
@pytest.mark.parametrize("max_iter", range(1, 30))
def test_extrapolated_factors_belong_together_whenever_it_stops(max_iter):
    X = matrix(5, 80, 60, .1)
    fit = rank2_nmf(documents(X), np.random.default_rng(0).random((60, 2)), tol=0, max_iter=max_iter)
    assert_allclose(fit.W, naive.nnls_rows(fit.Ht, X.toarray()), atol=1e-9)


@pytest.mark.no_estimator
def test_extrapolation_goes_back_when_it_overshoots():
    for seed in range(6):
        X = matrix(seed, 150, 120, .05)
        H0, errors = np.random.default_rng(seed).random((120, 2)), []
        for i in range(1, 60):
            fit = rank2_nmf(documents(X), H0, tol=0, max_iter=i)
            errors.append(error(X, fit.W, fit.Ht)**2)
        assert (np.diff(errors) <= 1e-9).all()


@pytest.mark.slow
@pytest.mark.no_estimator
def test_extrapolation_against_the_plain_loop():
    seen = set()
    for seed in range(4):
        X, H0 = matrix(seed, 40, 30, .15), np.random.default_rng(seed).random((30, 2))
        for sweeps in (1, 2, 3, 6, 12, 25):
            W, H, restarts = naive.rank2_extrapolated(X.toarray(), H0.T, sweeps)
            fit = rank2_nmf(documents(X), H0, tol=0, max_iter=sweeps)
            assert_allclose(fit.Ht.T, H, atol=1e-7)
            assert_allclose(fit.W, W, atol=1e-6)
            seen.update(restarts)
    assert seen == {"back", "uphill"}                # else the rules were never needed


def test_the_length_of_the_start_does_not_matter():
    X, H0 = matrix(1), np.random.default_rng(0).random((30, 2))
    for options in (dict(), dict(extrapolate=False)):
        fits = [rank2_nmf(documents(X), scale*H0, **options) for scale in (1e-6, 1, 1e6)]
        assert fits[0].n_iter == fits[1].n_iter == fits[2].n_iter
        assert_allclose(fits[0].Ht, fits[2].Ht, atol=1e-8)


def test_dead_topics_among_documents_of_very_different_length():
    X = np.r_[np.outer(np.arange(1, 7), [1e10, 2e10, 0, 0]), [[0, 0, 1, 2.], [0, 0, 1, 2]]]
    model = Rank2NMF(init="random", random_state=0).fit(X)
    assert model.components_.any(1).all() and len(set(model.labels_)) == 2


def test_extrapolation_ends_on_the_best_weights_for_its_topics():
    X = matrix()
    fit = rank2_nmf(documents(X))
    assert_allclose(fit.W, naive.nnls_rows(fit.Ht, X.toarray()), atol=1e-9)
    assert_allclose(np.linalg.norm(fit.Ht, axis=0), 1)


def test_exact_mixtures_are_found_exactly():
    rng = np.random.default_rng(1)
    H, W = rng.random((2, 40))*(rng.random((2, 40)) < .6), rng.random((100, 2))*rng.choice([1, 30], (100, 1))
    W[:3], W[3:6] = [[1, 0]], [[0, 1]]                       # some documents of each topic alone
    X = W @ H
    model = Rank2NMF(tol=1e-8).fit(X)                        # `tol` is measured against XᵀW, not against how good the start is
    assert model.reconstruction_err_ < 1e-5*np.linalg.norm(X)
    truth = H/np.linalg.norm(H, axis=1, keepdims=True)
    cosines = abs(model.components_ @ truth.T)
    assert_allclose(np.sort(cosines.max(1)), 1, atol=1e-6)


def test_leading_pair_as_svd():
    for seed, shape in ((0, (60, 40)), (1, (5, 40)), (2, (40, 5)), (3, (7, 2)), (4, (30, 3))):
        X = sp.random(*shape, .5, "csr", rng=np.random.default_rng(seed)) + sp.csr_array(np.outer(np.ones(shape[0]), np.arange(shape[1]) % 2))
        basis, images, mix = leading_pair(documents(sp.csr_array(X)), steps=4)
        V = basis @ mix
        assert_allclose(V.T @ V, np.eye(2), atol=1e-6)         # the directions start in float32
        assert_allclose(images @ mix, X @ V, atol=1e-9)
        values = np.linalg.svd(X.toarray())[1]
        assert_allclose(np.linalg.norm(X @ V), np.linalg.norm(values[:2]), rtol=1e-2)


def test_start_is_usable_whatever_the_matrix():
    for X in (np.eye(4), np.ones((5, 3)), np.ones((5, 1)), np.outer(np.arange(5), [0, 1, 2]), np.diag([1., 1e-8, 0]), np.eye(2)):
        Ht = svd_topics(documents(X.astype(float)))
        assert Ht.shape == (X.shape[1], 2) and np.isfinite(Ht).all() and Ht.min() >= 0 and Ht.any()


def test_two_blocks_of_equal_size_are_told_apart():
    X = np.kron(np.eye(2), np.ones((10, 6)))
    labels = Rank2NMF().fit(X).labels_
    assert len(set(labels[:10])) == len(set(labels[10:])) == 1 and labels[0] != labels[10]


@pytest.mark.parametrize("extrapolate", [True, False])
@pytest.mark.parametrize("start", ["parallel", "second empty", "both empty", "far from all"])
def test_dead_topics_are_revived(start, extrapolate):
    X = matrix(3)
    t = np.random.default_rng(0).random(30)
    Ht0 = {"parallel": np.c_[t, 2*t], "second empty": np.c_[t, 0*t], "both empty": np.zeros((30, 2)), "far from all": np.c_[t, np.eye(30)[0]*1e-300]}[start]
    best = rank2_nmf(documents(X), tol=1e-6)
    fit = rank2_nmf(documents(X), Ht0, tol=1e-6, extrapolate=extrapolate)
    assert fit.Ht.any(0).all() and fit.converged
    assert error(X, fit.W, fit.Ht) < 1.02*error(X, best.W, best.Ht)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rank_one_stays_rank_one(dtype, form):
    rng = np.random.default_rng(0)
    for a, b in (([1., 2, 3, 0], [1., 0, 2]), (np.r_[rng.random(200) + .1, 0], rng.random(50)), (np.r_[rng.random(3000) + 9, 0], rng.random(500))):
        X = form(np.outer(a, b).astype(dtype))
        for options in (dict(), dict(init="random", extrapolate=False, random_state=0), dict(init="random", random_state=0)):
            model = Rank2NMF(**options).fit(X)
            assert model.reconstruction_err_ < (1e-7 if dtype == np.float64 else 2e-3)*np.linalg.norm(np.outer(a, b))   # half the digits
            assert len(set(model.labels_[:-1])) == 1 and model.labels_[-1] == -1
            if dtype == np.float64: assert (~model.components_.any(1)).sum() == 1
        Ht = np.zeros((len(b), 2))
        Ht[:,0] = b/np.linalg.norm(b)
        assert not revive(documents(X), Ht)


def test_the_wedge_holds_the_middle_half():
    def angles(z, *spare): return wedge(np.array(z, float), *spare)/np.pi*180
    ring = [[np.cos(a), np.sin(a)] for a in np.radians(range(-50, 51, 10))]          # 11 documents of the same length
    assert_allclose(angles(ring), [-30, 30])
    assert_allclose(angles(ring, .01), [-50, 50])
    assert_allclose(angles(ring + [[1e-9, -1e-9]]*100, .01), [-50, 50])               # short ones don't count
    assert_allclose(angles([[9, 9], [1, 0], [0, 1]]), [45, 45])                       # one long one is both edges
    assert_allclose(angles([[0, 0]]), [0, 90])


def test_a_start_from_a_sample_of_documents_in_a_regular_order():
    rng = np.random.default_rng(0)
    topic = np.arange(8000) % 4                      # every fourth document is of the same topic, with terms of its own
    X = sp.csr_array(rng.poisson(np.kron(np.eye(4), np.ones(10))[topic]).astype(float))
    filled = np.flatnonzero(np.diff(X.indptr))
    tree = HierNMF2(4).fit(X[filled])
    assert normalized_mutual_info_score(topic[filled], tree.labels_) > .7


def test_equal_weights_go_to_the_second():
    assert sides(np.array([[1., 1], [2, 1], [0, 0], [1, 2]])).tolist() == [1, 0, 1, 1]


def test_float32_stays_float32():
    X = matrix().astype(np.float32)
    model = Rank2NMF().fit(X)
    assert model.components_.dtype == model.transform(X).dtype == np.float32
    assert_allclose(model.reconstruction_err_, Rank2NMF().fit(X.astype(float)).reconstruction_err_, rtol=1e-5)


def test_error_is_that_of_the_factors():
    X = matrix()
    for options in (dict(), dict(init="random", extrapolate=False, random_state=1)):
        model = Rank2NMF(**options)
        W = model.fit_transform(X)
        assert_allclose(model.reconstruction_err_, np.linalg.norm(X - W @ model.components_))


def test_seeds():
    X = matrix()
    runs = [Rank2NMF(init="random", random_state=r, extrapolate=False, tol=1e-2).fit(X).components_ for r in (0, 0, 1)]
    assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


@pytest.mark.parametrize("extrapolate", [True, False])
def test_iterations_are_checked_before_they_are_made(extrapolate):
    for wrong in (0, "3", 2.5):
        with pytest.raises(ValueError, match="max_iter must be a whole number of at least 1"):
            rank2_nmf(documents(matrix()), max_iter=wrong, extrapolate=extrapolate)


def test_new_documents_need_the_same_terms():
    model = Rank2NMF().fit(matrix())
    with pytest.raises(ValueError, match="features"): model.transform(np.ones((2, 7)))


def test_the_start_is_found_among_documents_that_are_not_empty():
    X = sp.lil_array((8000, 9))
    X[1,:5], X[3,5:], X[5,:3] = 1, 2, 1                       # every fourth document would be an empty one
    model = Rank2NMF().fit(X.tocsr())
    assert np.isfinite(model.components_).all() and model.components_.any(1).all()
    assert model.labels_[1] == model.labels_[5] != model.labels_[3] and model.labels_[0] == -1
