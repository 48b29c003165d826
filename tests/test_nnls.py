"""NNLS with many columns, against SciPy, trying all supports, and the conditions of a minimum"""
import naive
import numpy as np
import pytest
import scipy.optimize
from numpy.testing import assert_allclose, assert_array_equal

from nmf2.nnls import Gram, gram_of, heaviest, heaviest_by, heaviest_topics, memberships, nnls

METHODS = ["bpp", "active-set"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [1, 2, 3, 5, 8, 20, 80, 100])
@pytest.mark.parametrize("signed", [False, True])
def test_as_scipy(method, k, signed):
    rng = np.random.default_rng(k)
    B, Y = rng.random((120, k)), rng.random((60, 120))
    if signed: B, Y = B - .5, Y - .5
    truth = [scipy.optimize.nnls(B, y)[0] for y in Y]
    assert_allclose(nnls(B.T @ B, Y @ B, method), truth, atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_as_trying_every_support(method):
    rng = np.random.default_rng(1)
    for _ in range(30):
        B = rng.random((7, 4))*rng.integers(0, 2, (7, 4)) + np.eye(7, 4)
        Y = rng.random((5, 7))*rng.integers(0, 2, (5, 7))
        assert_allclose(nnls(B.T @ B, Y @ B, method), naive.nnls_rows(B, Y), atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["twice the same", "sum of others", "empty column", "all the same", "nearly the same"])
def test_dependent_columns_give_the_best_fit(method, kind):
    rng = np.random.default_rng(2)
    B, Y = rng.random((40, 6)), rng.random((80, 40))
    D = {"twice the same": np.c_[B, B[:,2]], "sum of others": np.c_[B[:,1] + B[:,4], B], "empty column": np.c_[B[:,:3], 0*B[:,0], B[:,3:]],
         "all the same": np.repeat(B[:,:1], 5, 1), "nearly the same": np.c_[B, B[:,2] + 1e-9*rng.random(40)]}[kind]
    g = nnls(D.T @ D, Y @ D, method)
    assert g.min() >= 0
    found = np.linalg.norm(Y - g @ D.T, axis=1)
    best = [scipy.optimize.nnls(D, y)[1] for y in Y]
    assert_allclose(found, best, rtol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_conditions_of_a_minimum_on_many_documents(method):
    rng = np.random.default_rng(3)
    B = rng.random((300, 40))*(rng.random((300, 40)) < .1)
    Y = rng.random((3000, 300))*(rng.random((3000, 300)) < .1)
    G, R = B.T @ B, Y @ B
    g = nnls(G, R, method)
    slack = g @ G - R
    assert g.min() >= 0 and slack.min() > -1e-9 and abs(g*slack).max() < 1e-9
    assert 0 < (g > 0).mean() < .9


@pytest.mark.parametrize("scale", [1e-60, 1e-12, 1e12, 1e60])          # also where single precision ends
def test_scale_does_not_matter(scale):
    rng = np.random.default_rng(4)
    B, Y = rng.random((30, 6)), rng.random((20, 30))
    assert_allclose(nnls(scale**2*B.T @ B, scale*Y @ B)*scale, nnls(B.T @ B, Y @ B), rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("small", [1e-6, 1e-9, 1e-12])
def test_columns_of_very_different_length(method, small):
    rng = np.random.default_rng(6)
    B, Y = rng.random((30, 5)), rng.random((40, 30))
    lengths = np.array([1, small, 1, small, 1/small])
    assert_allclose(nnls((B*lengths).T @ (B*lengths), Y @ (B*lengths), method)*lengths, nnls(B.T @ B, Y @ B, method), rtol=1e-6, atol=1e-9)


def test_nothing_to_explain():
    assert nnls(np.empty((0, 0)), np.empty((4, 0))).shape == (4, 0)
    assert_array_equal(nnls(np.eye(3), np.zeros((2, 3))), np.zeros((2, 3)))
    assert_array_equal(nnls(np.eye(3), -np.ones((2, 3))), np.zeros((2, 3)))
    assert nnls(np.eye(3), np.empty((0, 3))).shape == (0, 3)
    assert_array_equal(nnls(np.zeros((3, 3)), np.zeros((1, 3))), np.zeros((1, 3)))


def test_documents_do_not_depend_on_each_other():
    rng = np.random.default_rng(5)
    B, Y = rng.random((30, 7)), rng.random((600, 30))
    assert_array_equal(nnls(B.T @ B, Y @ B)[::-1], nnls(B.T @ B, (Y @ B)[::-1]))


@pytest.mark.parametrize("G, R, options, message", [
    (np.eye(3), np.ones((4, 2)), {}, "B.T @ B"), (np.eye(3), np.ones(3), {}, "B.T @ B"), (np.ones((2, 3)), np.ones((4, 3)), {}, "B.T @ B"),
    (np.eye(2)*np.nan, np.ones((4, 2)), {}, "finite"), (np.eye(2), np.full((4, 2), np.inf), {}, "finite"), (np.eye(3), np.ones((4, 3)), dict(method="x"), "method"),
    *((np.eye(k), np.ones((4, k)), dict(first=np.ones((3, k))), "first must be") for k in (1, 2, 3))])
def test_bad_input_is_named(G, R, options, message):
    with pytest.raises(ValueError, match=message): nnls(G, R, **options)


def topics_and_documents(kind, k, rng):
    B, Y = rng.random((60, k))**4, rng.random((60, 400))*(rng.random((60, 400)) < .3)
    if kind == "empty": B[:,1] = 0
    if kind == "twice": B[:,1] = B[:,2]
    if kind == "parallel": B[:,1] = 3*B[:,2] + 1e-9*B[:,1]
    if kind == "lengths": B *= 10.**rng.integers(-4, 5, k)
    if kind == "signed": B -= .2
    Y[:,::7] = 0
    return B, Y


@pytest.mark.parametrize("kind", ["plain", "empty", "twice", "parallel", "lengths", "signed"])
@pytest.mark.parametrize("k", [1, 2, 3, 12, 50])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_heaviest_alone_is_that_of_all_weights(kind, k, dtype):
    B, Y = topics_and_documents(kind if k > 2 else "plain", k, np.random.default_rng(k))
    G, R = B.T @ B, (Y.T @ B).astype(dtype)
    assert_array_equal(heaviest_by(G, R), heaviest(nnls(G, R).astype(dtype)))


def test_the_heaviest_alone_as_trying_every_support():
    B, Y = topics_and_documents("plain", 5, np.random.default_rng(0))
    assert_array_equal(heaviest_by(B.T @ B, Y[:,:40].T @ B), heaviest(naive.nnls_rows(B, Y[:,:40].T)))


def test_ties_go_to_the_first_topic():
    G, R = np.eye(4) + .25, np.array([[1., 2, 2, 1], [1, 1, 1, 1], [0, 0, 0, 0], [-1, -2, -1, -1]])
    assert heaviest_by(np.eye(4), R).tolist() == [1, 0, -1, -1]
    for shift in (0, 1e-15, 1e-9, 1e-7, 1e-5): assert_array_equal(heaviest_by(G, R + [0, 0, shift, 0]), heaviest(nnls(G, R + [0, 0, shift, 0])))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_heaviest_topics_in_slices(dtype):
    B, Y = topics_and_documents("plain", 12, np.random.default_rng(1))
    X = Y.T.astype(dtype)
    for step in (1, 133, 400, 20_000): assert_array_equal(heaviest_topics(X[:150], B, step), heaviest(memberships(X[:150], B)))
    assert len(heaviest_topics(X[:0], B)) == 0


def test_the_heaviest_alone_names_bad_input():
    with pytest.raises(ValueError, match="finite"): heaviest_by(np.eye(3), np.full((2, 3), np.nan))
    with pytest.raises(ValueError, match="give B.T @ B"): heaviest_by(np.eye(3), np.ones((2, 4)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_made_of_topics_can_be_kept(dtype):
    B, Y = topics_and_documents("plain", 12, np.random.default_rng(2))
    X, gram = Y.T.astype(dtype), gram_of(B)
    G, R = gram.G, X @ B
    out = np.full(R.shape, -1, dtype)
    assert nnls(gram, R, out=out) is out
    assert_array_equal(out, nnls(G, R, dtype=dtype))
    assert_array_equal(heaviest_by(gram, R), heaviest_by(G, R))
    assert_array_equal(memberships(X, B, gram=gram), memberships(X, B))
    assert_array_equal(heaviest_topics(X, B, gram=gram), heaviest_topics(X, B))
    with pytest.raises(ValueError, match="B.T @ B"): nnls(gram, R[:,:5])
    with pytest.raises(ValueError, match="B.T @ B"): Gram(np.ones((2, 3)))
