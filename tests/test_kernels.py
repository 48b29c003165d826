"""Sweeps and products on awkward matrices, against plain NumPy"""
import os
import subprocess
import sys
import time
import weakref
from functools import cache
from types import SimpleNamespace

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numba import get_num_threads, njit, set_num_threads
from numpy.testing import assert_allclose, assert_array_equal

from nmf2 import kernels
from nmf2.cutting import _kind_of_ends, seen_in, take, take_from, take_over
from nmf2.instructions import add_to_strip
from nmf2.kernels import (GRAM, Rules, alternate, documents, krylov, nnls2, prepare, projected_gradient, residuals, solve2,
                          solve_terms, squared_error)
from nmf2.parts import Threads, cut_points, in_threads, pool
from nmf2.products import Rows
from nmf2.ranks import descending


@cache
def matrices():
    "Dense matrices by name; nobody changes them"
    rng = np.random.default_rng(0)
    X = sp.random(400, 60, .2, "csr", rng=rng)
    X.data += .1
    holes = X.toarray()
    holes[[0, 7, 399]], holes[:,[0, 5, 59]] = 0, 0                       # empty documents and terms, at the ends too
    twins = np.repeat(X.toarray()[:40], 10, axis=0)                      # duplicate documents
    many = sp.random(9000, 500, .4, "csr", rng=rng)                      # several chunks
    return dict(plain=X.toarray(), holes=holes, twins=twins, many=many.toarray(), one_term=X.toarray()[:,:1], one_document=X.toarray()[:1])


@pytest.fixture(params=["the terms at once", "the terms in parts"])
def parts(request, monkeypatch):
    if "parts" in request.param: monkeypatch.setattr(kernels, "IN_PARTS", 0)


@pytest.mark.parametrize("name", matrices())
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64, None])
def test_sweep_and_products(name, dtype, index, parts):
    dense = matrices()[name].astype(dtype)
    X = dense
    if index:
        X = sp.csr_array(dense)
        X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    rng = np.random.default_rng(1)
    Ht, old = rng.random((X.shape[1], 2)), rng.random((X.shape[0], 2))*rng.integers(0, 2, (X.shape[0], 2))
    docs, W, exact = documents(X), old.copy(), dense.astype(np.float64)
    S, G, slope = docs.sweep(Ht, W)
    # a float32 matrix is swept with float32 tables: seven digits, of which the 2 x 2 systems may cost one or two
    near = dict(rtol=1e-4, atol=1e-5) if dtype == np.float32 else dict(atol=1e-10)
    best = nnls2(Ht.T @ Ht, exact @ Ht)
    assert_allclose(W @ Ht.T, best @ Ht.T, **near)
    if name != "one_term": assert_allclose(W, best, **near)          # there, both topics fit equally well
    assert_allclose(S, exact.T @ W, **near)
    assert_allclose(G, W.T @ W, atol=1e-10)
    assert_allclose(slope, naive.projected_gradient(old, Ht.T @ Ht, exact @ Ht)**2, **near)
    moved = np.count_nonzero((W[:,0] > W[:,1]) != (old[:,0] > old[:,1]))
    assert docs.work.sums[0,4] == moved
    docs.work.topics[0] = last = rng.random((X.shape[1], 2)).astype(dtype)
    explained, slope, size, uphill = solve_terms(docs.work)
    G = W.T @ W
    if np.linalg.cond(G) < 1e6: assert_allclose(docs.work.topics[1], nnls2(G, exact.T @ W), **near)     # else there are several
    assert_allclose(docs.work.lengths[1], np.linalg.norm(docs.work.topics[1], axis=0), rtol=1e-5)
    assert_allclose([explained, slope, size], [np.vdot(Ht, S), projected_gradient(Ht, G, S), (S**2).sum()], **near)
    step = docs.work.topics[1]/np.where(docs.work.lengths[1] > 0, docs.work.lengths[1], 1) - last
    gradient = Ht @ G - S
    rise = np.vdot(gradient, step)
    if abs(rise) > 1e-6*np.linalg.norm(S)*np.linalg.norm(step): assert uphill == (rise > 0)            # else it is rounding
    B, V = rng.random((X.shape[1], 11)), rng.random((X.shape[0], 19))
    assert_allclose(docs.times(B), exact @ B, **near)
    assert_allclose(docs.times(B, 0, 200), exact[:200] @ B, **near)
    assert_allclose(docs.back(V), exact.T @ V, **near)
    for k in (1, 2):
        Z = np.empty((X.shape[0], 2))
        assert_allclose(docs.read(B[:,:k], Z, GRAM)[:,:k], exact.T @ (exact @ B[:,:k]), **near)
        assert_allclose(Z[:,:k], exact @ B[:,:k], **near)
    assert_allclose(docs.squares(), (exact**2).sum(1))
    assert_array_equal(docs.filled(), exact.any(1))
    for i in (0, X.shape[0] - 1): assert_array_equal(docs.row(i), exact[i])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_products_with_any_number_of_columns(dtype, index):
    rng = np.random.default_rng(0)
    X = sp.random(1100, 90, .1, "csr", dtype=dtype, rng=rng)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    B = rng.standard_normal((90, 70)).astype(dtype)
    truth, near = X.toarray().astype(float) @ B, dict(rtol=1e-5, atol=1e-5) if dtype == np.float32 else dict(rtol=1e-12, atol=1e-12)
    for k in range(1, 71):
        out = Rows(X).times(B[:,:k])
        assert out.shape == (1100, k) and out.flags.c_contiguous and out.dtype == dtype
        assert_allclose(out, truth[:,:k], **near)
    assert_array_equal(Rows(X).times(B, 500, 600), Rows(X).times(B)[500:600])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_one_document_added_to_eight_columns(dtype, index):
    @njit
    def add(data, indices, p, end, table, factors):
        add_to_strip(data, indices, p, end, table, factors)
    rng = np.random.default_rng(1)
    X, table = sp.random(20, 30, .3, "csr", dtype=dtype, rng=rng), rng.random((30, 8)).astype(dtype)
    for i in range(20):
        factors, before = rng.integers(-1, 2, 8).astype(dtype), table.copy()
        add(X.data, X.indices.astype(index), np.int64(X.indptr[i]), np.int64(X.indptr[i+1]), table, factors)
        assert_allclose(table, before + np.outer(X[[i]].toarray()[0], factors), rtol=1e-6)


def test_the_cases_have_one_chunk_and_several():
    chunks = [len(documents(sp.csr_array(X)).work.tables) for X in matrices().values()]
    assert min(chunks) == 1 and max(chunks) > 2
    assert len(documents(sp.csr_array(matrices()["many"])).work.parts) == 1


def test_solve2_against_all_supports():
    rng = np.random.default_rng(2)
    for _ in range(300):
        B, y = rng.random((5, 2))*rng.integers(0, 2, (5, 2)), rng.random(5)*rng.integers(0, 2, 5)
        G, r = B.T @ B, B.T @ y
        assert_allclose(solve2(prepare(G[0,0], G[0,1], G[1,1]), r[0], r[1]), naive.nnls(B, y), atol=1e-9)


def test_solve2_ties_and_degenerate_topics():
    assert solve2(prepare(1., 1., 1.), 2., 2.) == (2., 0.)           # parallel: the first
    assert solve2(prepare(1., 0., 1.), 0., 0.) == (0., 0.)           # empty document
    assert solve2(prepare(0., 0., 4.), 0., 2.) == (0., .5)           # empty first topic
    assert solve2(prepare(4., 0., 0.), 2., 0.) == (.5, 0.)           # empty second topic
    assert solve2(prepare(0., 0., 0.), 0., 0.) == (0., 0.)
    for scale in (1e-30, 1e30): assert_allclose(solve2(prepare(2*scale, scale, 2*scale), 3*scale, 3*scale), (1., 1.))


def test_nnls2_compiled_and_plain_agree():
    rng = np.random.default_rng(3)
    B, R = rng.random((6, 2)), rng.random((50, 2))
    assert_allclose(nnls2(B.T @ B, R), nnls2.py_func(B.T @ B, R), rtol=1e-13)


@pytest.mark.parametrize("dense", [False, True])
def test_krylov_space_and_its_image(parts, dense):
    exact = matrices()["many"]
    docs = documents(exact if dense else sp.csr_array(exact))
    assert len(docs.work.tables) > 1
    T = np.random.default_rng(0).random((exact.shape[1], 2))
    basis, images, factors = krylov(docs, T, 3)
    assert_allclose(images, exact @ basis)
    for k, C in enumerate(factors):
        assert_allclose(basis[:,2*k+2:2*k+4], exact.T @ (exact @ basis[:,2*k:2*k+2]) @ C)
        block = images[:,2*k:2*k+2] @ C
        assert_allclose(block.T @ block/np.linalg.norm(block[:,0])**2, np.eye(2), atol=1e-9)


def test_threads_change_no_bit(parts):
    X = sp.csr_array(matrices()["many"])
    before, results = get_num_threads(), []
    for threads in (1, before):
        set_num_threads(threads)
        docs, W = documents(X), np.zeros((X.shape[0], 2))
        S, G, slope = docs.sweep(np.linspace(0, 1, 2*X.shape[1]).reshape(-1, 2), W)
        results.append(np.concatenate([S.ravel(), G.ravel(), W.ravel(), [slope], docs.back(W).ravel(), docs.times(S).ravel()]))
    set_num_threads(before)
    assert_array_equal(*results)


def test_chunks_hold_every_document_once():
    rng = np.random.default_rng(4)
    for sizes in (rng.integers(0, 300, 3000), np.r_[np.zeros(500, int), rng.integers(0, 900, 900), np.zeros(7, int)], [0, 0], [10**6, 0, 1]):
        cuts = cut_points(np.r_[0, np.cumsum(sizes)], 50)
        assert cuts[0] == 0 and cuts[-1] == len(sizes) and (np.diff(cuts) >= 0).all() and len(cuts) <= 17


def test_errors_and_residuals():
    X = matrices()["holes"]
    rng = np.random.default_rng(5)
    W, Ht = rng.random((400, 2)), rng.random((60, 2))
    assert_allclose(squared_error((X**2).sum(), X.T @ W, W.T @ W, Ht), np.linalg.norm(X - W @ Ht.T)**2)
    assert squared_error(1., np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1))*(1 + 1e-16)) == 0
    assert_allclose(residuals(documents(sp.csr_array(X)), W, Ht), ((X - W @ Ht.T)**2).sum(1))


def loop(X, way, threads=None, sweeps=30):
    """Topics and weights after some sweeps from a fixed start."""
    docs, W = documents(X), np.zeros((X.shape[0], 2))
    docs.work.topics[1] = np.random.default_rng(0).random((X.shape[1], 2))
    before = get_num_threads()
    set_num_threads(threads or before)
    rules = Rules(tol=1e-12, side_tol=-1., min_iter=1, max_iter=sweeps, extrapolate=True, rounding=1e-15)
    way(docs.data, docs.work, W, 1, 0., rules)
    set_num_threads(before)
    return np.concatenate([docs.work.tables[0,:,:2].ravel(), W.ravel()])


@pytest.mark.parametrize("name", ["plain", "holes", "twins", "many"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_compiled_loop_and_the_one_in_python_give_the_same_bits(name, dtype, parts):
    X = sp.csr_array(matrices()[name].astype(dtype))
    assert_array_equal(loop(X, alternate), loop(X, alternate.py_func))


def test_threads_change_no_bit_of_a_long_loop(parts):
    X = sp.csr_array(matrices()["many"])
    assert_array_equal(loop(X, alternate.py_func, 1), loop(X, alternate.py_func))


def test_errors_in_threads_reach_the_caller():
    def kernel(part, seen):
        seen.append(part)
        if part == 3: raise RuntimeError("part 3")
    seen = []
    with pytest.raises(RuntimeError, match="part 3"): in_threads(kernel, 8, seen)
    seen.clear()
    in_threads(lambda part, seen: seen.append(part), 20, seen)
    assert sorted(seen) == list(range(20))


def test_after_an_error_nobody_begins_another_part():
    begun = []
    def kernel(part):
        begun.append(part)
        if part == 0: raise RuntimeError("the first part")
        time.sleep(.01)
    with pytest.raises(RuntimeError, match="the first part"): in_threads(kernel, 500)
    assert len(begun) < 100


def test_threads_hold_nothing_after_their_work():
    class Large: pass
    large = Large()
    gone = weakref.ref(large)
    in_threads(lambda part, what: time.sleep(.001), 20, large)
    del large
    for _ in range(500):
        if gone() is None: break
        time.sleep(.01)
    assert gone() is None


def test_threads_hold_nothing_of_work_that_is_done_while_they_are_busy():
    class Large: pass
    left = []
    def inner(part, what): pass
    n = 10*get_num_threads()
    def outer(part):
        for _ in range(n):
            large = Large()
            left.append(weakref.ref(large))
            in_threads(inner, 8, large)
            del large
        if part == 0: left.append(sum(gone() is not None for gone in left[:n]))
    in_threads(outer, 2*get_num_threads())
    assert next(n for n in left if isinstance(n, int)) <= 2*get_num_threads()


def test_work_from_many_callers_at_once():
    "Each waits for its own parts alone, whoever helps"
    def caller(n):
        done = []
        in_threads(lambda part: done.append(part), n)
        return sorted(done) == list(range(n))
    callers = Threads(6, 2)
    jobs = [callers.submit(caller, 3 + i % 40) for i in range(400)]
    assert all(job.result() for job in jobs)
    with pytest.raises(ZeroDivisionError): callers.submit(lambda: 1/0).result()
    last = callers.submit(time.sleep, .05)
    callers.close()
    assert last.done() and not any(thread.is_alive() for thread in callers.threads)


def test_one_thread_starts_no_other():
    code = ("import threading, numba; numba.set_num_threads(1)\n"
            "from nmf2.parts import in_threads\n"
            "in_threads(print, 3); print(threading.active_count())")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split() == ["0", "1", "2", "1"]


def test_jobs_that_use_threads_themselves():
    X = sp.csr_array(matrices()["many"])
    jobs = [pool().submit(loop, X, alternate.py_func) for _ in range(4)]
    for job in jobs[1:]: assert_array_equal(job.result(), jobs[0].result())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parts_are_cut_out_over_common_terms(dtype):
    rng = np.random.default_rng(4)
    X = sp.random(300, 800, .01, "csr", rng=rng, dtype=dtype)
    rows = [rng.permutation(150)[:40], 150 + rng.permutation(150)[:30], np.zeros(0, int)]
    seen = np.maximum.reduce([seen_in(X, some) for some in rows])
    whole, terms = take(X, np.concatenate(rows))
    assert np.array_equal(np.flatnonzero(seen), terms)
    for some, (lo, hi) in zip(rows, [(0, 40), (40, 70), (70, 70)]):
        part = take_over(X, some, seen)
        assert part.shape == (len(some), len(terms)) and part.dtype == dtype
        assert np.array_equal(part.toarray(), whole[lo:hi].toarray())
    for wrong, message in ((seen[:-1], "seen must have an entry for each of 800 terms"), (seen_in(X, rows[1]), "seen must have all terms that occur")):
        with pytest.raises(ValueError, match=message): take_over(X, rows[0], wrong)
    with pytest.raises(IndexError, match="rows must be documents"): take_over(X, np.array([300]), seen)


@pytest.mark.parametrize("bounds", [np.int32, np.int64])
@pytest.mark.parametrize("sizes", [(40, 30, 0, 25), (0, 1), (0, 0), (60_000, 0, 50_000)])   # none; more than a share each
def test_documents_of_several_matrices_are_taken_as_of_one(sizes, bounds):
    rng = np.random.default_rng(5)
    blocks = [sp.random(300, 800, .01, "csr", rng=rng, dtype=np.float32) for _ in sizes]
    for X in blocks: X.indptr = X.indptr.astype(bounds)
    rows = [rng.integers(0, 300, n) for n in sizes]
    one, terms = take_from(list(zip(blocks, rows)))
    whole, expected = take(sp.vstack(blocks, format="csr"), np.concatenate([300*k + some for k, some in enumerate(rows)]))
    assert_array_equal(terms, expected)
    assert one.shape == whole.shape and one.dtype == whole.dtype and one.indptr.dtype == bounds
    assert (one != whole).nnz == 0


def test_more_documents_than_32_bits_can_count_the_entries_of():
    "Where rows end is then told in 64 bits"
    few, many = (SimpleNamespace(indptr=np.array([0, n], np.int32)) for n in (7, 2**31 - 1))
    row = np.zeros(1, int)
    assert [_kind_of_ends(pieces) for pieces in ([(few, row), (few, row)], [(few, row), (many, row)], [(many, row)])] == [np.int32, np.int64, np.int32]


def test_matrices_that_cannot_be_taken_from_together():
    X, one = sp.random(30, 8, .5, "csr", rng=np.random.default_rng(0)), np.zeros(1, int)
    for other in (X[:,:7], X.astype(np.float32)):
        with pytest.raises(ValueError, match="pieces must be matrices with the same terms and of the same type, got .* and "): take_from([(X, one), (other, one)])
    with pytest.raises(ValueError, match="got none"): take_from([])
    for wrong in (30, -1):
        with pytest.raises(IndexError, match="rows must be documents"): take_from([(X, one), (X, np.array([wrong]))])


def test_a_mask_is_no_list_of_rows():
    "As NumPy takes it and compiled loops don't, it is refused for every form"
    X = sp.random(30, 8, .5, "csr", rng=np.random.default_rng(0))
    for form in (X, X.toarray()):
        for rows in (np.arange(30) < 3, np.array([0., 1])):
            with pytest.raises(ValueError, match="rows must be numbers of documents.*np.flatnonzero"): take(form, rows)
        assert take(form, np.zeros(0))[0].shape == (0, 0) if sp.issparse(form) else True


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_threads_work_after_a_fork():
    X = sp.csr_array(matrices()["many"])
    truth = documents(X).back(np.ones((X.shape[0], 1)))
    child = os.fork()
    if not child: os._exit(int(not np.array_equal(documents(X).back(np.ones((X.shape[0], 1))), truth)))
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("w", [[], [0., 0.], [3., 0, 3, 1e-300, 5, 3], np.random.default_rng(8).random(5000).round(2),
                               np.float64(np.float32(np.random.default_rng(9).pareto(1, 5000)))])
def test_descending_as_a_stable_sort(w):
    w = np.array(w)
    assert_array_equal(descending(w), [j for j in np.argsort(-w, kind="stable") if w[j] > 0])


def test_take_some_documents():
    X = matrices()["holes"]
    rows = np.random.default_rng(7).permutation(400)[:30]
    for form in (X, sp.csr_array(X), sp.csr_array(X.astype(np.float32))):
        sub, terms = take(form, rows)
        assert_array_equal(terms, np.flatnonzero(X[rows].any(0)))
        sub = sub.toarray() if sp.issparse(sub) else sub
        assert_array_equal(sub, X[rows][:,terms].astype(sub.dtype))
    sub, terms = take(sp.csr_array(X), np.array([0]))        # an empty document
    assert sub.shape == (1, 0) and len(terms) == 0
