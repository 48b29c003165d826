"""The modified NDCG, against its naive twin term by term"""
import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose

from nmf2.score import mndcg


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
