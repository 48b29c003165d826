"""The modified NDCG, against its naive twin term by term"""
import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose

from nmf2.score import error_gain, mndcg


def triples():
    rng = np.random.default_rng(0)
    for m in (2, 3, 5, 17, 100, 400):
        for density in (.2, .6, 1.):
            for ties in (False, True):
                w = rng.random((3, m))*(rng.random((3, m)) < density)
                if ties: w = np.round(4*w)
                yield w
    yield np.zeros((3, 6))
    yield np.eye(3)
    yield np.ones((3, 8))


@pytest.mark.parametrize("variant", ["published", "paper"])
def test_as_the_naive_twin(variant):
    for parent, left, right in triples():
        assert_allclose(mndcg(parent, left, right, variant), naive.mndcg(parent, left, right, variant), rtol=1e-12)


def test_range_and_symmetry():
    for parent, left, right in triples():
        score = mndcg(parent, left, right)
        assert score == -3 or 0 <= score <= 1 + 1e-12
        assert_allclose(score, mndcg(parent, right, left), rtol=1e-12)
        if score != -3: assert_allclose(score, mndcg(7*parent, left/3, 2*right), rtol=1e-12)


def test_a_parent_of_one_term():
    assert mndcg(np.array([0., 2, 0]), np.ones(3), np.ones(3)) == mndcg(np.zeros(3), np.ones(3), np.ones(3)) == -3


@pytest.mark.parametrize("wrong", [[0., np.nan, 2], [1., np.inf, 2], [1., -1, 2], np.ones((3, 1)), 1.])
def test_topics_that_are_none_are_named(wrong):
    for name in ("parent", "left", "right"):
        topics = dict.fromkeys(("parent", "left", "right"), [1., 2, 3])
        with pytest.raises(ValueError, match=f"{name} must hold a finite weight for each term"): mndcg(**topics | {name: wrong})
    with pytest.raises(ValueError, match="must weigh the same terms, got 2, 3 and 3"): mndcg([1., 2], [1., 2, 3], [1., 2, 3])


def test_the_topic_of_the_parent_twice_is_as_good_as_the_ideal():
    w = np.random.default_rng(0).random(30)
    for variant in ("published", "paper"): assert_allclose(mndcg(w, w, w, variant), 1)


@pytest.mark.parametrize("side, message", [
    ([0, 0, 0, 0], "both sides"), ([1, 1, 1, 1], "both sides"), ([0, 1], "4 entries"), ([0, 1, 2, 1], "side must be whole numbers from 0 to 1"),
    ([0, -1, 1, 1], "from 0 to 1"), (["a", "b", "a", "b"], "side must be")])
def test_sides_that_are_none_are_named(side, message):
    with pytest.raises(ValueError, match=message): error_gain(np.eye(4), side)


def test_sides_of_any_type():
    X = np.random.default_rng(0).random((6, 5))
    gain = error_gain(X, np.array([0, 0, 0, 1, 1, 1], np.int8))
    assert gain == error_gain(X, [False]*3 + [True]*3) == error_gain(X, [0., 0, 0, 1, 1, 1])
