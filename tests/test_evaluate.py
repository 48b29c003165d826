"""Measures of clusters, trees and topics: against slow twins, scikit-learn, and values by hand"""
import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics

from nmf2 import evaluate
from nmf2.evaluate import (AVERAGES, accuracy, ami, ari, best_matching, confusion, contingency, entropy, group_numbers,
                           mutual_information, nmi, purity, scores)


def drawn(seed, n=40, clusters=4, classes=3):
    "Labels that have something to do with the classes, some of them −1"
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=n)
    return np.where(rng.random(n) < .5, truth, rng.integers(-1, clusters - 1, size=n)), truth


# ---- clusters beside classes

@pytest.mark.parametrize("seed", range(6))
def test_flat_measures_are_their_definitions(seed):
    found, truth = drawn(seed, clusters=2 + seed % 4, classes=2 + seed % 3)
    l, c = found.tolist(), truth.tolist()
    assert_allclose(accuracy(l, c), naive.matched_share(l, c), rtol=1e-12)
    assert_allclose(mutual_information(l, c), naive.information(l, c), rtol=1e-11)
    assert_allclose((purity(l, c), entropy(l, c)), naive.mixture(l, c), rtol=1e-11)
    h, g = naive.bits(l), naive.bits(c)
    for average, below in dict(max=max(h, g), min=min(h, g), arithmetic=(h + g)/2, geometric=(h*g)**.5).items():
        assert_allclose(nmi(l, c, average=average), naive.information(l, c)/below, rtol=1e-11)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [5, 300])
def test_flat_measures_are_scikit_learns(seed, n):
    found, truth = drawn(seed, n, 7, 5)
    close = dict(rtol=1e-12, atol=1e-12)
    assert_allclose(mutual_information(found, truth, base=np.e), metrics.mutual_info_score(truth, found), **close)
    assert_allclose(ari(found, truth), metrics.adjusted_rand_score(truth, found), **close)
    for average in AVERAGES:
        assert_allclose(nmi(found, truth, average=average),
                        metrics.normalized_mutual_info_score(truth, found, average_method=average), **close)
        assert_allclose(ami(found, truth, average=average),
                        metrics.adjusted_mutual_info_score(truth, found, average_method=average), **close)


@pytest.mark.parametrize("labels, classes", [
    ([0]*6, [0]*6), ([0]*6, [0, 0, 1, 1, 2, 2]), ([0, 0, 1, 1, 2, 2], [0]*6), ([-1]*6, [3]*6), ([-1]*6, [0, 0, 1, 1, 2, 2]),
    (range(6), range(6)), (range(6), [0, 0, 1, 1, 2, 2]), ([0, 0, 1, 1, 2, 2], range(6)), ([5], [7]), ([0, 1]*3, [0, 0, 1, 1, 0, 1])])
def test_degenerate_cases_are_as_scikit_learn_says(labels, classes):
    labels, classes = list(labels), list(classes)
    for average in AVERAGES:
        assert_allclose(nmi(labels, classes, average=average),
                        metrics.normalized_mutual_info_score(classes, labels, average_method=average), atol=1e-12)
    found = scores(labels, classes)
    assert_allclose([found.nmi, found.ami, found.ari],
                    [f(classes, labels) for f in (metrics.normalized_mutual_info_score, metrics.adjusted_mutual_info_score,
                                                  metrics.adjusted_rand_score)], atol=1e-12)
    assert_allclose((found.purity, found.entropy), naive.mixture(labels, classes), atol=1e-12)
    assert_allclose(found.accuracy, naive.matched_share(labels, classes))


def test_names_and_order_do_not_matter():
    found, truth = drawn(0)
    order = np.random.default_rng(1).permutation(len(found))
    names = np.array(["sport", "politics", "law"])
    for other in (scores(found[order], truth[order]), scores(found, names[truth]), scores(found, names[truth].astype(object)),
                  scores(found.tolist(), names[truth].tolist()), scores(found.astype(float), truth.astype(np.uint8))):
        assert_allclose(other[:7], scores(found, truth)[:7], rtol=1e-12)


def test_scores_are_the_single_measures_and_carry_the_convention():
    found, truth = drawn(3)
    for outliers in ("cluster", "drop"):
        all_ = scores(found, truth, outliers)
        each = [f(found, truth, outliers) for f in (accuracy, nmi, ami, ari, purity, entropy)]
        assert_allclose([all_.accuracy, all_.nmi, all_.ami, all_.ari, all_.purity, all_.entropy], each, rtol=1e-12)
        assert all_.nmi_max == nmi(found, truth, outliers, average="max")
    n = int((found == -1).sum())
    assert n > 1 and scores(found, truth).convention == f"{n} outliers as one cluster"
    assert scores(found, truth, "drop").convention == f"{n} outliers left out"
    assert scores(found, truth, "drop").n_docs == len(found) - n
    assert scores(found, truth).n_clusters == len(set(found)) and scores(found, truth, "drop").n_clusters == len(set(found)) - 1
    assert_allclose(nmi(found, truth, "drop"), nmi(found[found >= 0], truth[found >= 0]))


def test_documents_without_a_class_are_an_error_unless_said_otherwise():
    found, truth = drawn(4)
    some = np.where(np.arange(len(truth)) % 5 == 0, -1, truth)
    with pytest.raises(ValueError, match="unlabelled='drop'"): nmi(found, some)
    assert nmi(found, some, unlabelled="drop") == nmi(found[some >= 0], truth[some >= 0])
    assert "8 documents without a class left out" in scores(found, some, unlabelled="drop").convention
    assert_allclose(nmi(found, some, unlabelled="class"), metrics.normalized_mutual_info_score(some, found))
    words = np.array(["", "a", "b", "c"])[some + 1]
    assert nmi(found, words, unlabelled="drop") == nmi(found, some, unlabelled="drop")
    with pytest.raises(ValueError, match="no document is left"): nmi([-1, -1], [0, 1], "drop")
    with pytest.raises(ValueError, match="no document is left"): nmi([0, 1], [-1, -1], unlabelled="drop")


def test_groups_emptied_by_leaving_out_are_gone():
    table = contingency([0, -1, 1, 1], ["a", "b", "", "c"], "drop", "drop")
    assert_array_equal(table.counts.toarray(), [[1, 0], [0, 1]])
    assert table.clusters.tolist() == [0, 1] and table.classes.tolist() == ["a", "c"]
    assert entropy([0, 0, -1], ["a", "a", "b"], "drop") == 0


def test_confusion_has_the_matched_pairs_on_the_diagonal():
    for seed in range(5):
        found, truth = drawn(seed, clusters=2 + seed, classes=5 - seed % 3)
        table = confusion(found, truth)
        plain = contingency(found, truth)
        assert table.n_matched == min(plain.counts.shape)
        assert_allclose(table.counts.toarray().diagonal().sum()/len(found), naive.matched_share(found.tolist(), truth.tolist()))
        for i, cluster in enumerate(table.clusters):
            for j, name in enumerate(table.classes):
                here = found == (-1 if cluster == "outliers" else cluster)
                assert table.counts.toarray()[i,j] == (here & (truth == name)).sum()
        assert list(table.classes[:table.n_matched]) == sorted(table.classes[:table.n_matched])


def test_table_shows_itself():
    table = confusion([0, 0, 1, -1], ["<b>", "<b>", "c", "c"])
    assert "[2]" in str(table) and "1 outlier as one cluster" in repr(table)
    assert "<b>" not in table._repr_html_() and "&lt;b&gt;" in table._repr_html_()
    large = confusion(np.arange(100), np.arange(100) % 50)
    assert "100 clusters, 50 classes" in str(large) and len(str(large).splitlines()) == 33


@pytest.mark.parametrize("shape", [(12, 5), (5, 12), (9, 9), (1, 4), (4, 1)])
def test_sparse_matching_is_as_good_as_the_full_one(shape, monkeypatch):
    rng = np.random.default_rng(0)
    for density in (.2, .6):
        counts = sp.csr_array(rng.poisson(3, shape)*(rng.random(shape) < density))
        full = counts.toarray()[best_matching(counts)].sum()
        monkeypatch.setattr(evaluate, "FULL", 0)
        rows, cols = best_matching(counts)
        monkeypatch.undo()
        assert len(set(rows)) == len(rows) and len(set(cols)) == len(cols)
        assert counts.toarray()[rows, cols].sum() == full


@pytest.mark.parametrize("values, said", [
    ([], "no entries"), (np.array([]), "no entries"), ("sport", "type str"), (3, "type int"), (np.int64(3), "type int64"),
    (None, "NoneType"), ([[0], [1]], "nmi_by_level"), (np.zeros((3, 2)), "nmi_by_level"), (np.zeros((3, 1)), "nmi_by_level"),
    ([0, None], r"\[1\] is None"), (["a", float("nan")], r"\[1\] is nan"), (np.array([0, np.nan]), r"\[1\] is nan"),
    ([.5, 1.], "number of its group"), (["1", 1], "has both"), (np.array(["a", 1], dtype=object), "has both"),
    ([1j, 2], "complex"), (sp.csr_array([[1, 0]]), "csr_array"), (np.array(3), "type ndarray")])
def test_wrong_labels_are_named(values, said):
    with pytest.raises(ValueError, match=said): group_numbers(values, "labels")
    with pytest.raises(ValueError, match="^labels"): nmi(values, [0, 1])
    with pytest.raises(ValueError, match="^classes"): nmi([0, 1], values)


def test_wrong_options_are_named():
    with pytest.raises(ValueError, match="3 labels and 2 classes"): nmi([0, 1, 1], [0, 1])
    with pytest.raises(ValueError, match="average must"): nmi([0], [0], average="mean")
    with pytest.raises(ValueError, match="outliers must"): accuracy([0], [0], outliers="out")
    with pytest.raises(ValueError, match="unlabelled must"): accuracy([0], [0], unlabelled="no")
    with pytest.raises(ValueError, match="base"): mutual_information([0], [0], base=1)


def test_single_labels_never_change_the_input():
    found, truth = drawn(1)
    kept = found.copy(), truth.copy()
    scores(found, truth), confusion(found, truth, "drop")
    assert_array_equal(found, kept[0]), assert_array_equal(truth, kept[1])
