"""An order of its own for every matrix: the same for shuffled rows and columns, and back again"""
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from nmf2.hier import HierNMF2
from nmf2.order import Order, own_order, reordered, sorted_by


def shuffled(X, seed):
    "Rows and columns in another order, canonical"
    rng = np.random.default_rng(seed)
    Y = sp.csr_array(X)[rng.permutation(X.shape[0])][:, rng.permutation(X.shape[1])]
    Y.sort_indices()
    return Y


def plain(seed):
    rng = np.random.default_rng(seed)
    return sp.random_array((80, 50), density=.1, format="csr", random_state=rng)


def binary(seed):
    "Few different rows, many of them equal or mirrors of each other"
    return sp.csr_array((np.random.default_rng(seed).random((60, 12)) < .2).astype(float))


def islands(seed):
    "Copies of a few small blocks, some with symmetries of their own"
    ring = np.eye(5) + np.roll(np.eye(5), 1, axis=1)
    blocks = [ring, ring, np.ones((3, 2)), np.ones((3, 2)), np.eye(4), np.array([[1., 2], [2, 1]]), np.zeros((2, 1)), ring.T, np.diag([3., 3, 1])]
    return sp.csr_array(sp.block_diag(blocks))


@pytest.mark.parametrize("make", [plain, binary, islands])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shuffled_matrices_are_sorted_alike(make, dtype):
    for seed in range(5):
        X = make(seed).astype(dtype)
        own = sorted_by(X, own_order(X)).toarray()
        for way in range(4):
            Y = shuffled(X, way)
            assert_array_equal(sorted_by(Y, own_order(Y)).toarray(), own)


def test_sorting_by_an_order():
    X, rng = plain(0), np.random.default_rng(1)
    order = Order(rng.permutation(80), rng.permutation(50))
    for form in (X, X.astype(np.float32), X.toarray()):
        Y = sorted_by(form, order)
        assert Y.dtype == form.dtype and type(Y) is type(form)
        assert_array_equal(Y.toarray() if sp.issparse(Y) else Y, X.toarray().astype(Y.dtype)[order.rows][:, order.columns])
        if sp.issparse(Y): assert sp.csr_array((Y.data, Y.indices, Y.indptr), Y.shape).has_canonical_format
        back = sorted_by(Y, order.inverse())
        assert_array_equal(back.toarray() if sp.issparse(back) else back, form.toarray() if sp.issparse(form) else form)


def test_the_order_goes_by_the_places_first():
    "So it is the same in any form and precision, for other weights and scales, and when last digits differ"
    X = plain(3)
    order = own_order(X)
    lengths = X.copy()
    lengths.data = np.random.default_rng(0).random(X.nnz)
    for form in (X.toarray(), X.astype(np.float32), X*1e-20, lengths):
        for a, b in zip(own_order(form), order): assert_array_equal(a, b)


def test_documents_equal_but_for_weights_are_told_apart():
    X = sp.csr_array(np.array([[1., 2, 0], [2, 1, 0], [1, 1, 0], [0, 0, 1]]))
    for seed in range(6):
        Y = shuffled(X, seed)
        assert_array_equal(sorted_by(Y, own_order(Y)).toarray(), sorted_by(X, own_order(X)).toarray())


@pytest.mark.parametrize("unit", [2., 3, 1/255, 1e-9])
def test_without_zeros_the_order_is_the_same_in_any_unit(unit):
    X = np.random.default_rng(0).random((40, 15))
    for Z in (X, sp.csr_array(X), np.round(10*X) + 1):
        for a, b in zip(own_order(Z*unit), own_order(Z)): assert_array_equal(a, b)
    assert_array_equal(HierNMF2(5, random_state=0).fit(X*unit).labels_, HierNMF2(5, random_state=0).fit(X).labels_)
    twice = shuffled(X, 1)
    assert_array_equal(sorted_by(twice, own_order(twice)).toarray(), sorted_by(X, own_order(X)))


def test_empty_rows_and_columns():
    X = sp.csr_array((4, 3))
    assert sorted(own_order(X).rows) == [0, 1, 2, 3] and sorted(own_order(X).columns) == [0, 1, 2]
    assert sorted_by(X, own_order(X)).nnz == 0


def test_a_tree_goes_there_and_back():
    X = sp.csr_array(np.kron(np.eye(4), np.ones((12, 6)))*np.random.default_rng(0).random((48, 24)))
    tree, twin = HierNMF2(4).fit(X).tree_, HierNMF2(4).fit(X).tree_
    rng = np.random.default_rng(0)
    order = Order(rng.permutation(48), rng.permutation(24))
    reordered(twin, order)
    for id, node in tree.nodes.items():
        there = twin[id]
        assert_array_equal(there.docs, np.sort(order.rows[node.docs]))
        if node.split is None: continue
        for side in (0, 1):
            topic = np.empty(24)
            topic[order.columns] = node.split.topic(side, 24)
            assert_array_equal(there.split.topic(side, 24), topic)
        way = {d: k for k, d in enumerate(node.docs)}
        came_from = np.argsort(order.rows)
        for k, d in enumerate(there.docs):
            assert there.split.side[k] == node.split.side[way[came_from[d]]]
            assert_array_equal(there.split.W[k], node.split.W[way[came_from[d]]])
    reordered(twin, order.inverse())
    for id, node in tree.nodes.items():
        for name in ("docs", "outliers"): assert_array_equal(getattr(twin[id], name), getattr(node, name))
        assert_array_equal(twin[id].topic, node.topic)
