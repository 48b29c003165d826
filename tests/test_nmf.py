"""Flat NMF: each solver against its slow twin, the loop, starts, and the estimator"""
import os
import pickle
import warnings

import naive
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import NMF as Sklearn
from sklearn.exceptions import ConvergenceWarning

from nmf2.data import load, planted_tree
from nmf2.nmf import (NMF, SOLVERS, SOUND, STARTS, _line_search, _slope, exact, first_factors, hals,
                      multiplicative, nmf, projected_gradient_descent, revive_topics, take_turns, truncated)
from nmf2.products import Rows
from nmf2.nnls import heaviest, memberships
from nmf2.weighting import count_pipeline

each_solver = pytest.mark.parametrize("solver", SOLVERS)


@pytest.fixture(scope="module")
def planted():
    corpus = planted_tree((2, 3), n_docs=240, overlap=.3, noise=.1, length=60, random_state=0)
    return count_pipeline().fit_transform(corpus.X).astype(np.float64), corpus.classes()[0]


def small(seed=0, n=14, m=9, k=3):
    rng = np.random.default_rng(seed)
    X = rng.random((n, m))*(rng.random((n, m)) < .6)
    return X, rng.random((n, k)), rng.random((m, k))


def error(X, W, T): return float(((X - W @ T.T)**2).sum())


def test_hals_half_is_the_columns_turn_by_turn():
    for seed in range(5):
        X, W, T = small(seed)
        T[:,1] *= seed != 3                                               # an empty topic
        assert_allclose(hals(1)(W, T.T @ T, X @ T), naive.hals_half(W, T.T @ T, X @ T), atol=1e-12)
        twice = naive.hals_half(naive.hals_half(W, T.T @ T, X @ T), T.T @ T, X @ T)
        assert_allclose(hals(2)(W, T.T @ T, X @ T), twice, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 5, 33])
@pytest.mark.parametrize("n", [1, 31, 33, 600, 1100])
def test_blocks_of_rows(n, k, dtype):
    "Rows are worked on in blocks of 32 or 16, and blocks in parts of 512: no size loses or repeats a row"
    X, W, T = (a.astype(dtype) for a in small(n, n, 40, k))
    W[::3] *= 0
    G, R = T.T @ T, X @ T
    exact_G, exact_R, rtol = G.astype(float), R.astype(float), 1e-3 if dtype == np.float32 else 1e-10
    once = naive.hals_half(W.astype(float), exact_G, exact_R)
    assert_allclose(hals(1)(W, G, R), once, rtol=rtol, atol=rtol)
    assert_allclose(hals(2)(W, G, R), naive.hals_half(once, exact_G, exact_R), rtol=rtol, atol=rtol)
    assert_allclose(_slope(W, G, R), naive.projected_gradient(W.astype(float), exact_G, exact_R), rtol=rtol)


@pytest.mark.parametrize("method", ["bpp", "active-set"])
def test_exact_half_is_scipys(method):
    rng = np.random.default_rng(0)
    for k, zero, repeat in [(1, False, False), (5, True, False), (6, False, True), (100, False, False)]:
        B = rng.random((120, k))
        if zero: B[:,2] = 0
        if repeat: B[:,3] = B[:,1]
        Y = np.maximum(rng.standard_normal((40, 120)), 0)
        F = exact(method)(np.zeros((40, k)), B.T @ B, Y @ B)
        truth = np.array([scipy.optimize.nnls(B, y)[1] for y in Y])
        assert_allclose(np.linalg.norm(Y - F @ B.T, axis=1), truth, atol=1e-8)
        if not (zero or repeat): assert_allclose(F, [scipy.optimize.nnls(B, y)[0] for y in Y], atol=1e-8)


def test_multiplicative_is_the_papers_update():
    X, W, T = small(1)
    T /= np.linalg.norm(T, axis=0)
    U, V = T, W
    for turn in range(5):
        T_ = multiplicative()(T, W.T @ W, X.T @ W)                         # the paper's order: topics first
        W_ = multiplicative()(W, T_.T @ T_, X @ T_)
        length = np.linalg.norm(T_, axis=0)
        W, T = W_*length, T_/length
        U, V = naive.xu_update(X.T, U, V)
        assert_allclose(T, U, atol=1e-12), assert_allclose(W, V, atol=1e-12)


def test_multiplicative_leaves_zeros_and_empty_rows():
    X, W, T = small(2)
    X[3], W[5,1], T[2] = 0, 0, 0
    F = multiplicative()(W, T.T @ T, X @ T)
    assert np.isfinite(F).all() and F[5,1] == 0 and (F[3] == 0).all()


@each_solver
def test_a_half_never_makes_it_worse(solver):
    if solver == "ahcls": return
    for seed in range(8):
        X, W, T = small(seed)
        step, last = SOLVERS[solver](0., .5), error(X, W, T)
        for _ in range(4):
            W = step(W, T.T @ T, X @ T)
            assert W.min() >= 0 and np.isfinite(W).all()
            if solver != "acls": assert error(X, W, T) <= last*(1 + 1e-12)
            last = error(X, W, T)


def test_projected_gradient_reaches_the_minimum():
    for seed in range(5):
        X, W, T = small(seed)
        step, best = projected_gradient_descent(), naive.nnls_rows(T, X)
        for _ in range(30): W = step(W, T.T @ T, X @ T)
        assert error(X, W, T) <= error(X, best, T)*(1 + 1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_projected_gradient_rests_at_the_minimum(dtype, monkeypatch):
    "Where only rounding is left of the slope, further steps cost nothing"
    searches, search = [], _line_search
    def counted(*args):
        searches.append(1)
        return search(*args)
    monkeypatch.setattr("nmf2.nmf._line_search", counted)
    rng = np.random.default_rng(0)
    X, T, W = (rng.random(shape).astype(dtype) for shape in ((30, 20), (20, 5), (30, 5)))
    step, G, R = projected_gradient_descent(), T.T @ T, X @ T
    for _ in range(60): W = step(W, G, R)
    reached = len(searches)
    for _ in range(40): W = step(W, G, R)
    assert reached and len(searches) - reached <= 40
    assert_allclose(W, naive.nnls_rows(T.astype(float), X.astype(float)), atol=1e-5 if dtype == "float32" else 1e-12)


def test_truncated_solves_its_equations():
    X, W, T = small(4)
    G, R = T.T @ T, X @ T
    assert_allclose(truncated(0.)(W, G, R), np.maximum(np.linalg.solve(G, R.T).T, 0), atol=1e-10)
    lam = .5*np.trace(G)/3
    assert_allclose(truncated(.5)(W, G, R), np.maximum(np.linalg.solve(G + lam*np.eye(3), R.T).T, 0), atol=1e-10)
    beta = ((1 - .4)*3**.5 + .4)**2
    assert_allclose(truncated(.1, .4)(W, G, R),
                    np.maximum(np.linalg.solve(G + .1*np.trace(G)/3*(beta*np.eye(3) - np.ones((3, 3))), R.T).T, 0), atol=1e-10)


@pytest.mark.parametrize("solver", ["bpp", "active-set"])
def test_turns_are_the_naive_ones(solver):
    for seed in range(3):
        X, W, T = small(seed)
        turns = take_turns(X, W, T, (exact(solver),)*2, tol=0, max_iter=6)
        W_, H_ = naive.anls(X, W, T.T, 6)
        assert_allclose(turns.T, H_.T, atol=1e-8)
        assert_allclose(turns.W, naive.nnls_rows(H_.T, X), atol=1e-8)
        assert_allclose(turns.record[-1,1]**2, error(X, W_, H_.T), atol=1e-8)
        assert_allclose(turns.error**2, error(X, turns.W, turns.T), atol=1e-10)


@each_solver
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_error_falls_and_factors_are_sound(planted, solver, dtype):
    X = planted[0].astype(dtype)
    for extrapolate in (False, True) if solver in SOUND else (None,):
        run = nmf(X, 6, solver, init="nndsvda", max_iter=60, extrapolate=extrapolate, random_state=0)
        errors = run.record[:,1]
        if solver not in ("acls", "ahcls"): assert (np.diff(errors) <= errors[:-1]*(1e-12 if dtype == np.float64 else 1e-6)).all()
        assert run.W.dtype == run.T.dtype == dtype and run.W.min() >= 0 and run.T.min() >= 0
        assert_allclose(np.linalg.norm(run.T, axis=0), 1, atol=1e-5)
        assert_allclose(run.error, error(X.toarray(), run.W, run.T)**.5, rtol=1e-5)
        assert (np.diff(run.record[:,0]) > 0).all() and len(run.record) == run.n_iter


@pytest.mark.slow
def test_solvers_meet(planted):
    X, _ = planted
    found = {solver: nmf(X, 6, solver, init="nndsvda", max_iter=1500, random_state=0).error for solver in SOLVERS if solver != "ahcls"}
    assert max(found.values()) <= 1.005*min(found.values()), found


def test_dense_and_sparse_agree(planted):
    X, _ = planted
    for solver in ("bpp", "hals"):
        a, b = (nmf(M, 5, solver, init="documents", max_iter=8, tol=0, random_state=1) for M in (X, X.toarray()))
        assert_allclose(a.T, b.T, atol=1e-8), assert_allclose(a.W, b.W, atol=1e-8)


def test_one_thread_or_many(planted):
    from numba import get_num_threads, set_num_threads
    before, runs = get_num_threads(), []
    for n in (1, before):
        set_num_threads(n)
        runs.append(nmf(planted[0], 5, "hals", max_iter=10, random_state=0))
    assert_array_equal(runs[0].W, runs[1].W), assert_array_equal(runs[0].T, runs[1].T)


@pytest.mark.parametrize("init", STARTS)
def test_starts(planted, init):
    X, _ = planted
    (W, T), (W2, T2) = (first_factors(X, 6, init, np.random.RandomState(3)) for _ in range(2))
    assert W.shape == (240, 6) and T.shape == (X.shape[1], 6) and W.min() >= 0 and T.min() >= 0
    assert_array_equal(W, W2), assert_array_equal(T, T2)
    assert W.any(0).all() and T.any(0).all()
    product = W @ T.T                                                      # about as large as the matrix
    assert .2 < float(X.multiply(product).sum()/(product**2).sum()) < 5


def test_svd_start_is_scikit_learns(planted):
    X, _ = planted
    W, T = first_factors(X, 6, "nndsvd", np.random.RandomState(0))
    from sklearn.decomposition._nmf import _initialize_nmf
    W_, H_ = _initialize_nmf(X, 6, "nndsvd", random_state=0)
    assert_allclose(W @ T.T, W_ @ H_, atol=1e-3)


def test_more_topics_than_anything():
    X, *_ = small(n=5, m=4)
    for solver in SOLVERS:
        run = nmf(X, 7, solver, max_iter=20, random_state=0)
        assert np.isfinite(run.W).all() and np.isfinite(run.T).all()


@pytest.mark.parametrize("k", [20, 21, 25])
def test_starts_of_more_topics_than_anything(k):
    X = np.random.default_rng(0).poisson(.5, (30, 20)).astype(float)
    def begun(init): return first_factors(X, k, init, np.random.RandomState(0))
    for init in ("random", "nndsvda", "nndsvdar"): assert all(F.min() > 0 for F in begun(init))
    if k > 20:
        for a, b in zip(begun("nndsvd"), begun("documents")): assert_array_equal(a, b)
    left = nmf(X, k, "mu", init="random", max_iter=500, random_state=0).error
    assert left < .15*np.linalg.norm(X)


def test_dead_topics_come_back_and_the_error_falls():
    X, W, T = small(5)
    W[:,2] = T[:,2] = 0
    before = error(X, W, T)
    revive_topics(Rows(X), W, T, [2])
    assert error(X, W, T) < before and W[:,2].any() and abs(np.linalg.norm(T[:,2]) - 1) < 1e-12
    exactly, (W, T) = np.outer(np.arange(1., 5), np.ones(3)), (np.c_[np.arange(1., 5), np.zeros(4)], np.c_[np.ones(3), np.zeros(3)])
    revive_topics(Rows(exactly), W, T, [1])                                # nothing is missing anywhere
    assert not W[:,1].any() and not T[:,1].any()


@each_solver
def test_no_topic_stays_dead(solver):
    X = np.kron(np.eye(4), np.ones((6, 5)))                                # four blocks, and a start that sees only one
    W, T = np.ones((24, 4)), np.zeros((20, 4))
    T[:5,0] = 1
    run = nmf(X, 4, solver, init="custom", W0=W, Ht0=T, max_iter=200, ridge=0, sparsity=0)
    assert run.W.any(0).sum() == 4, run.W.any(0)
    if solver not in ("acls", "ahcls"): assert run.error < .7*np.linalg.norm(X)


@pytest.mark.parametrize("k", [5, 8, 12])
def test_dependent_topics_are_the_same_for_transform(k):
    "With more topics than the matrix has, the best weights are many: `fit_transform` must give those of `transform`"
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.random((60, 3)) @ rng.random((3, 20))
        model = NMF(k, solver="bpp", random_state=0, max_iter=60)
        W = model.fit_transform(X)
        assert_allclose(W, model.transform(X), atol=1e-6)
        assert_array_equal(model.labels_, model.predict(X))


def test_record_is_finite_when_topics_are_revived():
    X = sp.random(600, 50, .2, "csr", rng=np.random.default_rng(0)) + sp.csr_array(([1.], ([0], [0])), shape=(600, 50))
    assert np.isfinite(nmf(sp.csr_array(X), 50, "hals", max_iter=15, random_state=0).record).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_topics_too_small_to_divide_by(dtype):
    rng = np.random.default_rng(0)
    X, W, H = (rng.random(shape).astype(dtype) for shape in ((30, 20), (30, 4), (4, 20)))
    H[2] *= dtype(1e-30)
    run = nmf(X, 4, "hals", init="custom", W0=W, Ht0=np.ascontiguousarray(H.T), max_iter=20)
    assert np.isfinite(run.W).all() and np.isfinite(run.record).all()


def test_degenerate_matrices():
    rng = np.random.default_rng(0)
    for X in (np.ones((6, 4)), np.eye(5), np.outer(rng.random(6), rng.random(4)), np.vstack([np.zeros((3, 4)), rng.random((4, 4))])):
        for solver in SOLVERS:
            run = nmf(X, 3, solver, max_iter=50, random_state=0)
            assert np.isfinite(run.W).all() and np.isfinite(run.T).all() and run.error <= np.linalg.norm(X)*(1 + 1e-6)
            assert_allclose(run.error, error(X, run.W, run.T)**.5, atol=1e-6)


def test_best_of_several_starts(planted):
    X, _ = planted
    each = [nmf(X, 6, "hals", init="random", max_iter=15, random_state=seed).error for seed in (4, 5, 6)]
    assert nmf(X, 6, "hals", init="random", max_iter=15, n_init=3, random_state=4).error == min(each)


def test_custom_start(planted):
    X, _ = planted
    run = nmf(X, 6, init="nndsvd", random_state=0, max_iter=30)
    for given in (dict(W0=run.W, Ht0=run.T), dict(W0=run.W), dict(Ht0=run.T)):
        again = nmf(X, 6, init="custom", max_iter=3, **given)
        assert again.error <= run.error*(1 + 1e-9)
    for wrong in (dict(W0=run.W[:-1]), dict(Ht0=-run.T), dict(W0=run.W*np.nan), {}):
        with pytest.raises(ValueError, match="W|H"): nmf(X, 6, init="custom", **wrong)
    for wrong in ("a", [["a"]*6]*240, run.W.astype(complex), [None]):
        with pytest.raises(ValueError, match="W must hold finite numbers"): NMF(6, init="custom").fit(X, W=wrong)
    dense, sparse = (NMF(6, init="custom", max_iter=3, tol=0).fit(X, W=kind(run.W), H=kind(run.T.T)) for kind in (np.array, sp.csr_matrix))
    assert_array_equal(dense.components_, sparse.components_)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_custom_start_from_factors_of_unequal_size(solver, dtype):
    X, W, T = small(7)
    X = X.astype(dtype)
    def error(**given): return nmf(X, T.shape[1], solver, init="custom", max_iter=30, tol=0, **given).error
    close = dict(rtol=.02, atol=1e-3*np.linalg.norm(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in (2.**60, 2.**300, 2.**1000, 2.**-60, 2.**-300, 2.**-1000):
            assert_allclose(error(W0=W/size, Ht0=T*size), error(W0=W, Ht0=T), **close)
            assert_allclose(error(W0=W*size), error(W0=W), **close)
            assert_allclose(error(Ht0=T*size), error(Ht0=T), **close)
        with pytest.raises(ValueError, match="W and H must be smaller"):
            nmf(X, T.shape[1], solver, init="custom", W0=W*1e250, Ht0=T*1e250)


def test_stopping_rule_means_a_small_gradient(planted):
    X = planted[0].toarray()
    run = nmf(X, 6, "bpp", tol=1e-5, max_iter=1000, random_state=0)
    W, T = run.W, run.T
    slope = np.hypot(naive.projected_gradient(W, T.T @ T, X @ T), naive.projected_gradient(T, W.T @ W, X.T @ W))
    assert run.converged and slope <= 1.5e-5*np.hypot(np.linalg.norm(X @ T), np.linalg.norm(X.T @ W))


def test_input_is_left_alone(planted):
    X, _ = planted
    before = X.copy()
    W = np.random.default_rng(0).random((240, 4)); kept = W.copy()
    NMF(4, init="custom", max_iter=5, tol=0).fit_transform(X, W=W)
    assert (X != before).nnz == 0 and (W == kept).all()


def test_estimator(planted):
    X, topics = planted
    model = NMF(6, random_state=0)
    W = model.fit_transform(X)
    assert_allclose(W, model.transform(X), atol=1e-10)
    assert_array_equal(model.labels_, W.argmax(1)), assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(clone(model).fit_predict(X), model.labels_)
    assert_allclose(model.reconstruction_err_, np.linalg.norm(X - model.inverse_transform(W)), rtol=1e-6)
    for sparse in (sp.csr_array, sp.csc_matrix): assert_allclose(model.inverse_transform(sparse(W)), model.inverse_transform(W))
    for wrong in (W[:,1:], W[0,1:], 1.):
        with pytest.raises(ValueError, match=rf"W must be \(n, {W.shape[1]}\), a weight for each topic"): model.inverse_transform(wrong)
    assert list(model.get_feature_names_out()[:2]) == ["nmf0", "nmf1"] and model.components_.shape == (6, X.shape[1])
    assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X[:5]), model.transform(X[:5]))
    ours = Sklearn(6, init="nndsvda", max_iter=2000, tol=1e-6, random_state=0).fit(X).reconstruction_err_
    assert model.reconstruction_err_ <= ours*1.002
    with pytest.warns(ConvergenceWarning, match="max_iter=2"): NMF(6, max_iter=2, random_state=0).fit(X)


def test_empty_documents_get_no_topic(planted):
    X = sp.csr_matrix(sp.vstack([planted[0], sp.csr_matrix((2, planted[0].shape[1]))]))
    model = NMF(4, random_state=0).fit(X)
    assert (model.labels_[-2:] == -1).all() and (model.transform(X)[-2:] == 0).all()


def test_memberships_in_blocks(planted):
    X, _ = planted
    T = np.random.default_rng(0).random((X.shape[1], 5))
    assert_array_equal(memberships(X, T, 7), memberships(X, T))
    assert_array_equal(heaviest(np.array([[0, 2., 1], [0, 0, 0]])), [1, -1])


@pytest.mark.parametrize("dtype, tol", [(np.float32, 1e-6), (np.float64, 1e-9)])
def test_looking_ahead_does_not_stop_at_rounding(dtype, tol):
    rng = np.random.default_rng(0)
    X = rng.random((60, 4)) @ rng.random((4, 40)) + rng.random((60, 40))
    for solver in ("bpp", "hals"):
        turns = nmf(X.astype(dtype), 3, solver, init="random", tol=tol, max_iter=3000, random_state=0)
        assert turns.converged, solver


def test_multiplicative_updates_of_the_smallest_numbers():
    F, G, R = np.array([[1e-40, 1.], [0., 1e-45]], np.float32), np.array([[1., 0], [0, 1]]), np.array([[5., 1], [1, 2]], np.float32)
    with np.errstate(all="raise", under="ignore"): new = multiplicative()(F, G, R)
    assert np.isfinite(new).all() and new[1,0] == 0 and new.max() <= 5


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("NMF2_DATA"), reason="NMF2_DATA is not set")
@pytest.mark.parametrize("name", ["tr23", "classic3", "re0"])
def test_solvers_meet_on_real_matrices(name):
    try: X = count_pipeline().fit_transform(load(name).X)
    except FileNotFoundError: pytest.skip(f"{name} is not in NMF2_DATA")
    found = {solver: nmf(X, 4, solver, init="nndsvda", max_iter=300, random_state=0).error for solver in SOLVERS}
    assert max(found.values()) <= 1.005*min(found.values()), found


@pytest.mark.parametrize("dtype, scales", [(np.float32, (1e-9, 1e-3, 1e9, 1e14)), (np.float64, (1e-20, 1e-3, 1e14))])
@pytest.mark.parametrize("solver", ["bpp", "hals", "mu", "pgd"])
def test_scale_of_the_matrix_does_not_matter(planted, solver, dtype, scales):
    X = planted[0].astype(dtype)
    def run(scale): return nmf((X*dtype(scale)).astype(dtype), 5, solver, init="random", tol=1e-3, max_iter=60, random_state=0)
    truth = run(1)
    for scale in scales:
        found = run(scale)
        assert_allclose(found.error/scale, truth.error, rtol=1e-4)
        assert abs(found.n_iter - truth.n_iter) <= 3
        assert_allclose(found.record[-1,1]/scale, truth.record[-1,1], rtol=1e-4)
        assert_allclose((found.W @ found.T.T)/dtype(scale), truth.W @ truth.T.T, atol=.02)


@pytest.mark.parametrize("solver", ["bpp", "hals"])
def test_more_topics_than_there_are_end_soon(solver):
    for X, k in ((np.ones((5, 4)), 3), (np.outer(np.arange(1., 9), [1, 0, 2]), 6)):
        turns = nmf(X, k, solver, random_state=0)
        assert turns.converged and turns.n_iter < 50 and turns.error < 1e-6*np.linalg.norm(X)


def test_a_topic_is_revived_by_the_first_document_that_lacks_something():
    X = np.array([[1., 1, 0], [0, 0, 1]])
    W, T = np.array([[3., 0], [0, 0]]), np.array([[1., 0], [1, 0], [0, 0]])/2**.5       # the first document has too much of everything
    assert revive_topics(Rows(X), W, T, [1])
    assert_allclose(T[:,1], [0, 0, 1])
    assert not revive_topics(Rows(np.ones((3, 2))), np.c_[np.full(3, 2**.5), np.zeros(3)], np.c_[np.full(2, 2**-.5), np.zeros(2)], [1])


def test_any_format_and_the_names_of_scikit_learn(planted):
    X = planted[0].astype(np.float64)
    truth = nmf(X, 4, random_state=0)
    for form in ("csc", "coo", "lil"): assert_allclose(nmf(X.asformat(form), 4, random_state=0).T, truth.T, atol=1e-9)
    assert_allclose(memberships(X.tocsc(), truth.T), memberships(X, truth.T))
    with pytest.raises(ValueError, match="Negative values in data passed to nmf"): nmf(-X, 3)
    with pytest.raises(ValueError, match="custom"): NMF(4).fit_transform(X, W=truth.W)
    with pytest.raises(ValueError, match="extrapolate"): NMF(4, extrapolate="x").fit(X)
    model = NMF(4, init="custom", max_iter=3, tol=0).fit(X, W=truth.W, H=truth.T.T)
    assert model.n_components_ == 4 and model.reconstruction_err_ <= truth.error*(1 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("init", ["documents", "random", "nndsvd"])
@pytest.mark.parametrize("density", [.1, .3])
def test_columns_of_very_different_size_in_single_precision(init, density):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = sp.random(60, 50, density, "csr", rng=rng)
        X = (X @ sp.diags(10**rng.uniform(-12, 12, 50))).astype(np.float32)
        X = X + sp.csr_matrix(([1.], ([0], [0])), shape=X.shape, dtype=np.float32)
        model = NMF(40, init=init, random_state=0, max_iter=20)
        W = model.fit_transform(X)
        assert np.isfinite(W).all() and np.isfinite(model.components_).all() and W.dtype == np.float32
        assert_array_equal(W, model.transform(X))
        assert model.reconstruction_err_ < np.linalg.norm(X.data.astype(np.float64))


@pytest.mark.slow
def test_dependent_topics_get_the_weights_of_transform_to_the_last_bit():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.random((60, 3)) @ rng.random((3, 20))
        for dtype in (np.float32, np.float64):
            for solver in SOLVERS:
                model = NMF(12, solver=solver, random_state=0, max_iter=30)
                assert_array_equal(model.fit_transform(X.astype(dtype)), model.transform(X.astype(dtype)))
