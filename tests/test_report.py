"""The report on clusters against slow twins, and what it is shown as"""
import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from nmf2.bisection import criterion_of
from nmf2.report import cluster_report


def noise(n=40, m=25, seed=0, density=.25):
    X = sp.random(n, m, density, "csr", random_state=seed).toarray()
    X[~X.any(1), 0] = 1
    return X


def random_rows(): return sp.random(60, 40, .2, format="csr", random_state=0)


def test_report_is_that_of_all_pairs():
    X, rng = noise(60, 30), np.random.default_rng(0)
    labels, classes = rng.integers(-1, 4, size=60), rng.choice(["a", "b", "c"], size=60)
    vocab = [f"w{j}" for j in range(30)]
    report = cluster_report(sp.csr_array(X), labels, vocab, classes, n_terms=30)
    gaps = [row.isim - row.esim for row in report]
    assert gaps == sorted(gaps, reverse=True) and {row.cluster for row in report} == {0, 1, 2, 3}
    U, _ = naive.unit(X)
    for row in report:
        inside, outside = U[labels == row.cluster].mean(0), U[(labels != row.cluster) & (labels >= 0)].mean(0)
        assert row.size == (labels == row.cluster).sum()
        assert_allclose(row[2:6], naive.cluster_similarities(X, labels, row.cluster), atol=1e-12)
        p = np.array([np.mean(classes[labels == row.cluster] == name) for name in "abc"])
        assert_allclose([row.entropy, row.purity], [-(p[p > 0]*np.log(p[p > 0])).sum()/np.log(3), p.max()])
        for (term, share), j in zip(row.descriptive, (-inside**2).argsort()): assert_allclose(share, inside[j]**2/(inside @ inside))
        assert_allclose(sum(share for _, share in row.descriptive), 1)
        top = int(row.discriminating[0][0][1:])
        assert inside[top] > outside[top]
        assert_allclose(row.discriminating[0][1], (inside - outside)[top]**2/((inside - outside)**2).sum())
        assert top == np.where(inside > outside, (inside - outside)**2, 0).argmax()
    kept = labels >= 0
    assert report.n_outliers == (~kept).sum()
    assert_allclose(report.criterion, criterion_of(X, labels))
    assert_allclose(report.purity, sum(row.size*row.purity for row in report)/kept.sum())
    assert_allclose(report.entropy, sum(row.size*row.entropy for row in report)/kept.sum())


def test_report_shows_itself():
    X = np.array([[1., 1, 0], [1, 2, 0], [0, 0, 1], [0, 0, 0]])
    plain = cluster_report(X, [0, 0, 7, -1])
    assert plain.entropy is None and "entropy" not in repr(plain) and "1 left out" in repr(plain) and plain[0].cluster in (0, 7)
    shown = cluster_report(X, [0, 0, 7, -1], ["<b>", "&", "c"], [1, 1, 2, 2])._repr_html_()
    assert "<b>" not in shown and "&lt;b&gt;" in shown and "purity 1.000" in shown
    alone = cluster_report(X, [0, 0, 0, 0])
    assert alone[0].esim == 0 and alone[0].size == 4
    same = cluster_report(np.ones((3, 2)), [0, 0, 1], classes=["x"]*3)
    assert same.entropy == 0 and same.purity == 1
    for wrong in (dict(labels=[0, 1]), dict(labels=[-1]*4), dict(vocab=["a"]), dict(classes=[1]), dict(n_terms=0)):
        with pytest.raises(ValueError, match=next(iter(wrong))): cluster_report(**{"X": X, "labels": [0, 0, 1, 1], **wrong})


def test_classes_of_the_report():
    X, labels = random_rows(), np.arange(60) % 3
    for wrong in ([None]*60, ["a", None]*30, [1., np.nan]*30, ["a"]*59, "a", np.zeros((60, 1))):
        with pytest.raises(ValueError, match="classes must"): cluster_report(X, labels, classes=wrong)
    for right in (labels, list("abc"*20), np.array(list("abc"*20), object), (labels == 0).tolist()):
        assert cluster_report(X, labels, classes=right).purity == 1
    with pytest.raises(ValueError, match="vocab"): cluster_report(X, labels, vocab=["a"])


@pytest.mark.parametrize("missing", [None, np.nan, -1, ""])
def test_documents_without_a_class_are_an_error(missing):
    with pytest.raises(ValueError, match="classes must be numbers or names, and some are missing"):
        cluster_report(np.eye(3), [0, 0, 1], classes=["a", "b", missing])
