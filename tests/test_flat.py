"""FlatNMF2: leaf topics, exact weights, documents that move, refinement, documents without a topic"""
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import normalized_mutual_info_score

from nmf2.bisection import refine, unit_rows
from nmf2.data import planted_tree
from nmf2.flat import FlatNMF2, flatten, move_documents, refine_topics
from nmf2.nnls import heaviest, memberships
from nmf2.hier import HierNMF2
from nmf2.weighting import count_pipeline


@pytest.fixture(scope="module")
def planted():
    corpus = planted_tree((3, 3), n_docs=450, overlap=.5, noise=.1, length=30, random_state=0)
    return count_pipeline().fit_transform(corpus.X), corpus.classes(1)[0]


def test_topics_are_the_leaves_and_weights_the_best(planted):
    X, _ = planted
    model = FlatNMF2(9, moves_max_iter=0)
    W = model.fit_transform(X)
    tree = HierNMF2(9).fit(X)
    assert_array_equal(model.components_, tree.components_)
    assert_array_equal(model.hier_.labels_, tree.labels_)
    truth = [scipy.optimize.nnls(model.components_.T.astype(float), x)[0] for x in X.toarray()[:40].astype(float)]
    assert_allclose(W[:40], truth, atol=1e-6)
    assert_array_equal(model.labels_, W.argmax(1))
    assert_array_equal(model.predict(X), model.labels_)
    assert_allclose(model.transform(X), W, atol=1e-6)


def test_it_finds_what_was_planted(planted):
    X, fine = planted
    for topics in ("nmf", "svd"):
        assert normalized_mutual_info_score(fine, FlatNMF2(9, topics=topics).fit(X).labels_) > .9


@pytest.mark.slow
def test_leading_singular_vectors(planted):
    X, _ = planted
    model = FlatNMF2(4, topics="svd", moves_max_iter=0).fit(X)
    for leaf, topic in zip(model.hier_.tree_.leaves(), model.components_):
        first = abs(np.linalg.svd(X[leaf.docs].toarray())[2][0])
        assert topic @ first > .9999


def test_after_the_moves_no_document_would_be_better_off_elsewhere(planted):
    X, _ = planted
    before = FlatNMF2(9, moves_max_iter=0).fit(X)
    U = X.toarray()/np.linalg.norm(X.toarray(), axis=1, keepdims=True)
    labels, _ = refine(unit_rows(X), before.labels_, max_iter=100)
    sums = np.array([U[labels == c].sum(0) for c in range(9)])
    lengths, was = np.linalg.norm(sums, axis=1), [np.linalg.norm(U[before.labels_ == c].sum(0)) for c in range(9)]
    assert lengths.sum() > sum(was)
    for u, home in zip(U, labels):
        lost = lengths[home] - np.linalg.norm(sums[home] - u)
        assert all(np.linalg.norm(sums[c] + u) - lengths[c] <= lost + 1e-6 for c in range(9) if c != home)
    assert_allclose(move_documents(X, before.components_.T, before.labels_, passes=100), (sums/lengths[:,None]).T, atol=1e-6)


def test_moves_and_the_topics_they_make(planted):
    X, fine = planted
    published, moved = FlatNMF2(9, moves_max_iter=0).fit(X), FlatNMF2(9).fit(X)
    assert (moved.labels_ == published.labels_).mean() > .85                             # topic and leaf keep their number
    assert_allclose(np.linalg.norm(moved.components_, axis=1), 1, rtol=1e-6)
    assert_allclose(moved.transform(X), memberships(X, moved.components_.T), atol=1e-6)
    assert_array_equal(moved.labels_, heaviest(moved.transform(X)))
    assert_array_equal(moved.components_, FlatNMF2(9).fit(X).components_)
    assert_allclose(FlatNMF2(9).fit(X.toarray()).components_, moved.components_, atol=1e-6)


def test_moves_help_on_average_where_topics_overlap():
    gains = []
    for seed in range(5):
        corpus = planted_tree((4, 4), n_docs=1600, overlap=.6, noise=.1, length=25, random_state=seed)
        X, fine = count_pipeline().fit_transform(corpus.X), corpus.classes(1)[0]
        moved, published = (normalized_mutual_info_score(fine, FlatNMF2(16, moves_max_iter=moves).fit(X).labels_) for moves in (10, 0))
        gains.append(moved - published)
    assert np.mean(gains) > 0


def test_a_topic_without_documents_stays_as_it_was():
    X, Ht = np.eye(4)[[0, 0, 1, 1]], np.eye(4)[:,:3]
    assert_array_equal(move_documents(X, Ht, np.array([0, 0, 1, 1])), Ht)
    assert_array_equal(move_documents(X, Ht, np.array([0, -1, 1, 1])), Ht)


def test_refining_lowers_the_error(planted):
    X, _ = planted
    errors = []
    for rounds in (0, 1, 3):
        model = FlatNMF2(9, refine=rounds)
        W = model.fit_transform(X)
        errors.append(np.linalg.norm(X - W @ model.components_))
        assert_allclose(np.linalg.norm(model.components_, axis=1), 1, rtol=1e-5)
    assert errors[0] > errors[1] > errors[2]


def test_documents_without_a_topic(planted):
    X, _ = planted
    alone = sp.csr_matrix(([1.], ([1], [X.shape[1]])), shape=(2, X.shape[1] + 1))        # an empty one, and one with a word of its own
    X = sp.vstack([sp.hstack([X, sp.csr_matrix((450, 1))]), alone], format="csr")
    with pytest.warns(UserWarning, match="1 of 452 documents is empty"): model = FlatNMF2(9).fit(X)
    assert model.labels_[-2] == -1
    assert model.labels_[-1] == -1 or model.components_[model.labels_[-1], -1] > 0       # it has no words but its own
    assert (model.labels_[:450] >= 0).all()
    assert_array_equal(model.predict(X), model.labels_)
    assert heaviest(np.array([[0, 0], [0, 2.]])).tolist() == [-1, 1]


def test_topics_that_nobody_uses_stay_as_they_were():
    X = np.eye(4)[[0, 0, 1, 1]]
    Ht = np.eye(4)[:,:3]                                     # the third topic has no documents
    new, W = refine_topics(X, Ht, memberships(X, Ht))
    assert_array_equal(new, Ht)
    assert not W[:,2].any()


def test_slices_do_not_show(planted):
    X, _ = planted
    Ht = np.random.default_rng(0).random((X.shape[1], 5))
    for form in (X, X.toarray()): assert_allclose(memberships(form, Ht, step=37), memberships(X, Ht), atol=1e-6)


def test_float32_and_input_untouched(planted):
    X, _ = planted
    X, before = X.astype(np.float32), X.copy()
    model = FlatNMF2(5, refine=1).fit(X)
    assert model.components_.dtype == model.transform(X).dtype == np.float32
    assert_array_equal(X.toarray(), before.toarray())


@pytest.mark.parametrize("options, message", [(dict(n_clusters=0), "n_clusters"), (dict(refine=-1), "refine"), (dict(moves_max_iter=-1), "moves_max_iter"), (dict(topics="x"), "topics"),
                                              (dict(n_clusters=None), "n_clusters or min_score"), (dict(trials=-2), "trials")])
def test_bad_parameters_are_named(planted, options, message):
    with pytest.raises(ValueError, match=message): FlatNMF2(**options).fit(planted[0])


def test_as_many_topics_as_there_are(planted):
    with pytest.warns(UserWarning, match="n_clusters=50 can't be had"): model = FlatNMF2(50).fit(planted[0][:12])
    assert len(model.components_) == model.hier_.n_leaves_ < 50


def test_flat_models_of_a_cut_tree(planted):
    X, _ = planted
    tree = HierNMF2(9).fit(X).tree_
    for n in (2, 5, 9):
        for moves in (0, 10):
            model = FlatNMF2(n, moves_max_iter=moves)
            Ht, W = flatten(tree, X, n, moves_max_iter=moves)
            assert_allclose(W, model.fit_transform(X), atol=1e-6)
            assert_allclose(Ht.T, model.components_, atol=1e-6)
