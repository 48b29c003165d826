"""Repeated bisection against slow twins, its criteria, degenerate collections, threads, and the estimator"""
import os
import pickle
import warnings
from functools import cache

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score as nmi
from sklearn.utils.estimator_checks import parametrize_with_checks

from nmf2.bisection import CRITERIA, RepeatedBisection, bisect, bisections, coarser, composites, criterion_of, direct, refine, repeated_bisection, \
                           rows_of, unit_rows
from nmf2.data import load, planted_tree
from nmf2.report import cluster_report
from nmf2.weighting import EmptyDocumentsWarning, count_pipeline

each_method = pytest.mark.parametrize("method", ["rb", "rbr", "direct"])
each_criterion = pytest.mark.parametrize("criterion", CRITERIA)


@pytest.fixture(scope="module")
def planted():
    corpus = planted_tree((2, 3), n_docs=240, overlap=.3, noise=.1, length=60, random_state=0)
    return count_pipeline().fit_transform(corpus.X).astype(np.float64), corpus.classes(1)[0]


def noise(n=40, m=25, seed=0, density=.25):
    X = sp.random(n, m, density, "csr", random_state=seed).toarray()
    X[~X.any(1), 0] = 1
    return X


NEGATIVE = {"check_clustering": "its points have negative coordinates, which documents can't have"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([RepeatedBisection(3), RepeatedBisection(3, method="rbr", criterion="h2"), RepeatedBisection(3, method="direct")],
                         expected_failed_checks=lambda est: NEGATIVE)
def test_scikit_learn_contract(estimator, check): check(estimator)


@each_criterion
def test_criterion_is_the_one_over_all_pairs(criterion):
    for seed in range(3):
        X, labels = noise(seed=seed), np.random.default_rng(seed).integers(4, size=40)
        assert_allclose(criterion_of(X, labels, criterion), naive.cluto_criterion(X, labels, criterion), rtol=1e-10)
        assert_allclose(criterion_of(7*X, labels, criterion), criterion_of(X, labels, criterion), rtol=1e-10)


def test_outliers_are_not_in_the_criterion():
    X, labels = noise(), np.random.default_rng(0).integers(-1, 3, size=40)
    assert_allclose(criterion_of(X, labels), sum(naive.composite_lengths(X, labels, 3)))
    assert_allclose(criterion_of(X, labels, "e1"), criterion_of(X[labels >= 0], labels[labels >= 0], "e1"))


@each_criterion
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_single_move_is_left(criterion, dtype):
    for seed in range(3):
        X = noise(30, 20, seed)
        U, scale = unit_rows(X.astype(dtype)), 1e-4 if dtype == np.float32 else 1e-8
        cut, three = bisect(U, criterion=criterion, max_iter=100, rng=seed), direct(U, 3, criterion=criterion, max_iter=100, seed=seed)
        better, values = refine(U, np.random.default_rng(seed).integers(4, size=30), criterion=criterion, max_iter=100)
        for labels, end in ((cut.side, np.nanmax(cut.record)), (three.labels, three.record[-1,1]), (better, values[-1])):
            assert_allclose(end, naive.cluto_criterion(X, labels, criterion), rtol=1e-5 if dtype == np.float32 else 1e-10, atol=1e-9)
            assert naive.best_move(X, labels.astype(int), criterion) <= scale*abs(end)


def gains(U, labels, k):
    "What I2 gains by each move of one document, (n, k); 0 for staying"
    D = composites(U, labels, k)
    x, lengths, n = U @ D.T, np.linalg.norm(D, axis=1), np.arange(len(labels))
    own = lengths[labels] - np.sqrt(np.maximum(lengths[labels]**2 - 2*x[n,labels] + 1, 0))
    gain = np.sqrt(lengths**2 + 2*x + 1) - lengths - own[:,None]
    gain[n,labels] = 0
    return gain


@pytest.mark.parametrize("n, k", [(600, 2), (600, 9), (600, 40), (3000, 5), (3000, 70)])
def test_many_documents(n, k):
    "Documents are asked in blocks and in threads, and those far from the border of a bisection less often: in the end all want to stay"
    from numba import get_num_threads, set_num_threads
    U, before, found = unit_rows(sp.random(n, 300, .05, "csr", rng=np.random.default_rng(n + k)) + sp.eye_array(n, 300)), get_num_threads(), []
    try:
        for threads in (1, before):
            set_num_threads(threads)
            found.append(refine(U, np.arange(n) % k, max_iter=400) if k > 2 else (bisect(U, max_iter=400).side.astype(int), None))
    finally: set_num_threads(before)
    (labels, values), (again, _) = found
    assert_array_equal(labels, again)
    assert gains(U, labels, k).max() <= 1e-7*criterion_of(U, labels)
    assert_allclose(gains(U[:30], np.arange(30) % 3, 3).max(), naive.best_move(U[:30].toarray(), np.arange(30) % 3, "i2"), rtol=1e-6)
    if k > 2:
        assert (np.diff(values) >= -1e-9*values[0]).all()
        assert_allclose(values[-1], criterion_of(U, labels))


def test_unit_rows_are_the_callers_own():
    X = sp.csr_array(sp.random(6, 8, .5, rng=np.random.default_rng(1), format="csr"))
    X.sort_indices()
    before = X.toarray()
    U = unit_rows(X)
    U.data[U.data < .5] = 0
    U.eliminate_zeros()
    assert_array_equal(X.toarray(), before)
    assert np.shares_memory(unit_rows(X, share=True).indices, X.indices)


@pytest.mark.parametrize("ahead", [1, 3, 99])
def test_cuts_that_are_tried_ahead_are_the_same(monkeypatch, planted, ahead):
    U = unit_rows(planted[0])
    expected = repeated_bisection(U, 12)
    asked = []
    def n_ahead(n_init, left):
        asked.append(left)
        return min(ahead, left - 1)
    monkeypatch.setattr("nmf2.bisection._n_ahead", n_ahead)
    for found, other in zip(repeated_bisection(U, 12), expected): assert_array_equal(found, other)
    assert asked == [*range(11, 0, -1)]


def test_threads_without_work_try_cuts_ahead(monkeypatch):
    from nmf2.bisection import _n_ahead
    for threads, ahead in ((1, -1), (2, -1), (4, 0), (8, 1), (16, 3)):       # ten trials are two groups
        monkeypatch.setattr("nmf2.bisection.get_num_threads", lambda: threads)
        assert _n_ahead(10, 50) == ahead and _n_ahead(10, 1) <= 0
    assert _n_ahead(8, 50) == 7                                              # of one group each


@each_method
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_trials_do_not_depend_on_rounding(planted, method, dtype):
    blocks = np.kron(np.eye(4), np.random.default_rng(0).random((6, 4)) + .1)
    small = count_pipeline().fit_transform(planted_tree((3, 2), n_docs=120, random_state=0).X)
    for X in (planted[0], blocks, small):
        for seed in range(4):
            model = RepeatedBisection(4, method=method, random_state=seed)
            labels = [model.fit((X*scale).astype(dtype)).labels_ for scale in (1, 1/3, 7.)]
            assert_array_equal(labels[0], labels[1]), assert_array_equal(labels[0], labels[2])


def test_copies_of_long_documents():
    "Sums of thousands of products in single precision are far from exact, and copies are copies all the same"
    for seed in range(10):
        x = np.random.default_rng(seed).random(20_000).astype(np.float32)
        X = np.stack([x]*3)
        for method in ("rb", "direct"):
            with pytest.warns(ConvergenceWarning, match="copies"):
                assert_array_equal(RepeatedBisection(3, method=method, random_state=seed).fit(X).labels_, 0)
    u = np.array([.6, .8, 0])
    assert bisect(np.stack([u*.999997, u*1.000003])) is None and bisect(np.stack([u*.999997]*3)) is None
    with pytest.raises(ValueError, match="length one, and 2 of 2"): bisect(np.stack([u*.9997, u*1.0003]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_near_copies_are_cut_or_not_but_no_side_is_empty(dtype):
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X = np.maximum(rng.random(50)*(1 + 1.42e-3*rng.standard_normal((2 + seed % 4, 50))), 0).astype(dtype)
        cut = bisect(unit_rows(X), rng=seed, n_init=3)
        assert cut is None or 0 < cut.side.sum() < len(X)


@each_criterion
def test_it_never_falls(planted, criterion):
    X, _ = planted
    U = unit_rows(X)
    cut, (_, values) = bisect(U, criterion=criterion), refine(U, np.arange(240) % 5, criterion=criterion)
    for column in [*cut.record.T, values, direct(U, 5, criterion=criterion).record[:,1]]:
        steps = np.diff(column[~np.isnan(column)])
        assert (steps >= -1e-9*abs(column[0])).all() and steps.max(initial=0) > 0
    run = repeated_bisection(U, 6, criterion=criterion)
    assert_array_equal(run.record[:,0], range(1, 7))
    assert_allclose(run.record[-1,1], criterion_of(X, run.labels, criterion))
    cuts = np.diff(run.record[:,1])
    if criterion in ("i1", "i2"): assert (cuts > 0).all()
    if criterion in ("g1", "g1p"): assert run.record[0,1] == 0 and (cuts < 0).all()     # one cluster is the best there is


@each_criterion
def test_passes_never_lower_the_record(planted, criterion):
    for method in ("rb", "rbr", "direct"):
        record = RepeatedBisection(6, method=method, criterion=criterion, n_init=2, random_state=1).fit(planted[0]).record_
        passes = np.diff(record[:,0]) == 0
        assert (np.diff(record[:,1])[passes] >= -1e-9*abs(record[-1,1])).all() and passes.any() == (method != "rb")


@pytest.mark.slow
def test_a_bisection_is_the_same_moves_with_two_clusters(planted):
    U = unit_rows(planted[0])
    side = bisect(U, max_iter=0, n_init=1).side
    assert len(np.unique(side)) == 2
    labels, values = refine(U, side, max_iter=50)
    assert values[0] < values[-1] and naive.best_move(planted[0].toarray(), labels, "i2") <= 1e-8*values[-1]
    assert_allclose(values[0], criterion_of(U, side))


def test_best_takes_the_best_cut_and_large_the_largest(planted):
    U = unit_rows(planted[0])
    for cstype in ("best", "large"):
        for k in range(2, 6):
            before, after = (repeated_bisection(U, n, cstype=cstype, seed=3) for n in (k, k + 1))
            assert_array_equal(coarser(after.labels, after.splits, k), before.labels)
            if cstype == "large": assert after.splits[-1] == np.bincount(before.labels).argmax()
    sizes = np.bincount(after.labels)
    assert sizes.min() > 0 and len(sizes) == 6
    three = repeated_bisection(U, 3, seed=3)                              # the cut that was not taken would have been no better
    other = repeated_bisection(U, 4, seed=3)
    assert other.record[2,1] >= other.record[1,1] and three.record[-1,1] == other.record[2,1]


@each_method
def test_planted_topics_are_found(planted, method):
    X, topic = planted
    model = RepeatedBisection(6, method=method, random_state=0).fit(X)
    assert nmi(topic, model.labels_) > .95
    assert_allclose(model.criterion_, criterion_of(X, model.labels_), rtol=1e-9)
    assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    truth, _ = naive.unit(np.array([unit_rows(X).toarray()[model.labels_ == r].sum(0) for r in range(6)]))
    assert_allclose(model.components_, truth, atol=1e-12)
    assert_array_equal(model.predict(X), (X @ truth.T).argmax(1))
    assert_array_equal(clone(model).fit_predict(X), model.labels_)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert_array_equal(RepeatedBisection(6, method=method, random_state=0).fit(X.toarray()).labels_, model.labels_)


def test_fewer_clusters_are_those_of_a_smaller_fit(planted):
    X, _ = planted
    big = RepeatedBisection(8, method="rb", random_state=1).fit(X)
    for n in (1, 2, 5, 8): assert_array_equal(big.labels(n), RepeatedBisection(n, method="rb", random_state=1).fit(X).labels_)
    refined = RepeatedBisection(8, method="rbr", random_state=1).fit(X)
    assert_array_equal(refined.labels(5), big.labels(5)), assert_array_equal(refined.labels(), refined.labels_)
    assert refined.criterion_ >= big.criterion_*(1 - 1e-12)                     # added up in another order
    with pytest.raises(ValueError, match="n must be at most 8"): big.labels(9)
    with pytest.raises(ValueError, match="direct"): RepeatedBisection(4, method="direct").fit(X).labels(3)


@each_method
def test_one_thread_or_many(planted, method):
    from numba import get_num_threads, set_num_threads
    before, found = get_num_threads(), []
    try:
        for n in (1, before):
            set_num_threads(n)
            model = RepeatedBisection(7, method=method, n_init=20, random_state=5).fit(planted[0].astype(np.float32))
            found.append((model.labels_, model.record_))
    finally: set_num_threads(before)
    assert before > 1
    assert_array_equal(found[0][0], found[1][0]), assert_array_equal(found[0][1], found[1][1])


def test_input_is_left_alone_and_scale_does_not_matter(planted):
    X, _ = planted
    before = X.copy()
    model = RepeatedBisection(4, random_state=0).fit(X)
    assert (X != before).nnz == 0
    scaled = sp.diags_array(2.**np.arange(240) % 7 + 1) @ X
    assert nmi(model.labels_, RepeatedBisection(4, random_state=0).fit(sp.csr_array(scaled)).labels_) > .95


@each_method
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_as_many_clusters_as_documents(method, dtype):
    X = noise(17, 12, density=.5).astype(dtype)
    model = RepeatedBisection(17, method=method, random_state=0).fit(X)
    assert len(set(model.labels_)) == 17
    assert_allclose(model.criterion_, 17, rtol=1e-5)
    with pytest.raises(ValueError, match="n_clusters must be at most 17"): RepeatedBisection(18, method=method).fit(X)


@each_method
def test_copies(method):
    X = np.repeat(np.array([[1., 1, 0, 0], [0, 1, 2, 0], [0, 0, 0, 1]]), 5, axis=0)*np.arange(1, 16)[:,None]
    with pytest.warns(ConvergenceWarning, match="only 3 clusters"): model = RepeatedBisection(7, method=method, random_state=0).fit(X)
    assert nmi(np.arange(15)//5, model.labels_) == 1 and model.components_.shape == (3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nmi(np.arange(15)//5, RepeatedBisection(3, method=method, random_state=0).fit_predict(X)) == 1
    with pytest.warns(ConvergenceWarning): assert not RepeatedBisection(2, method=method).fit_predict(np.ones((4, 3))).any()
    odd = np.vstack([np.ones((30, 3)), [[0, 0, 1]]])                      # thirty copies and one other document
    labels = RepeatedBisection(2, method=method, random_state=0).fit_predict(odd)
    assert (labels[:30] == labels[0]).all() and labels[30] != labels[0]


@each_method
def test_nothing_in_common(method):
    model = RepeatedBisection(4, method=method, random_state=0).fit(np.eye(12))
    assert_array_equal(np.bincount(model.labels_), [3, 3, 3, 3])          # all clusterings of equal sizes are best
    assert_allclose(model.criterion_, 4*3**.5)
    assert len(set(RepeatedBisection(3, method=method, random_state=0).fit_predict(np.arange(1., 10)[:,None]*[[1, 0], [0, 1]][0])) - {0}) == 0


@each_method
def test_empty_documents_belong_nowhere(planted, method):
    X, _ = planted
    holed = sp.csr_array(sp.vstack([X[:100], sp.csr_array((3, X.shape[1])), X[100:]]))
    with pytest.warns(EmptyDocumentsWarning, match="3 of 243"): model = RepeatedBisection(5, method=method, random_state=0).fit(holed)
    assert_array_equal(np.flatnonzero(model.labels_ < 0), [100, 101, 102])
    whole = RepeatedBisection(5, method=method, random_state=0).fit(X)
    assert_array_equal(np.delete(model.labels_, [100, 101, 102]), whole.labels_)
    assert_array_equal(np.flatnonzero(model.predict(holed) < 0), [100, 101, 102])
    if method == "rb": assert_array_equal(np.flatnonzero(model.labels(3) < 0), [100, 101, 102])


def test_one_cluster_one_term_and_wrong_parameters(planted):
    X, _ = planted
    model = RepeatedBisection(1).fit(X)
    assert not model.labels_.any() and len(model.splits_) == 0
    with pytest.warns(ConvergenceWarning): assert not RepeatedBisection(2).fit_predict(np.arange(1., 5)[:,None]).any()
    for wrong in (dict(n_clusters=1.5), dict(method="agglo"), dict(cstype="small"), dict(criterion="I2"), dict(n_init=0), dict(max_iter=-1)):
        with pytest.raises(ValueError, match=next(iter(wrong))): RepeatedBisection(**wrong).fit(X)
    for n_init in (1, 8, 9, 25): assert bisect(unit_rows(X), n_init=n_init).record.shape == (11, n_init)


@pytest.mark.slow
def test_more_trials_and_wide_tables(planted):
    X, _ = planted
    U = unit_rows(X)
    assert direct(U, 20, n_init=3).labels.max() == 19                     # three tables of sums, the last half full
    labels = np.random.default_rng(0).integers(19, size=240)
    better, values = refine(U, labels, max_iter=100)
    assert naive.best_move(X.toarray()[:60], better[:60], "i2") is not None
    assert_allclose(values[-1], sum(naive.composite_lengths(X.toarray(), better, 19)))


def test_weighted_hypergraph():
    "Rows with one nonzero for each of several clusterings, as Shinnou and Sasaki (2007) cluster them"
    rng, truth = np.random.default_rng(0), np.arange(120) % 4
    rows, columns, weights = [], [], []
    for run in range(5):
        found, names = np.where(rng.random(120) < .15, rng.integers(4, size=120), truth), rng.permutation(4)
        rows.append(np.arange(120)), columns.append(4*run + names[found]), weights.append(rng.uniform(.3, 1, 120))
    graph = sp.csr_array((np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))), shape=(120, 20))
    assert nmi(truth, RepeatedBisection(4, random_state=0).fit_predict(graph)) > .9


@cache
def best_of_ten_kmeans(name):
    "Half of a collection, how many classes it has, and the best criterion"
    X = load(f"cluto/{name}")
    k = len(X.classes(0)[1])
    U = unit_rows(sp.csr_array(sp.csr_array(X.X).multiply(np.log(X.X.shape[0]/np.maximum(np.diff(X.X.tocsc().indptr), 1))))[::2])
    U = U[np.diff(U.indptr) > 0]
    rng = np.random.default_rng(0)
    return U, k, max(criterion_of(U, quick_kmeans(U, k, rng)) for _ in range(10))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fbis", "hitech", "k1a", "re0", "tr11", "tr23", "tr41", "wap"])
def test_at_least_as_good_as_the_best_of_ten_kmeans(name):
    if not os.environ.get("NMF2_DATA"): pytest.skip("NMF2_DATA is not set")
    try: U, k, best = best_of_ten_kmeans(name)
    except FileNotFoundError: pytest.skip(f"{name} is not in NMF2_DATA")
    assert RepeatedBisection(k, method="rbr", random_state=0).fit(U).criterion_ >= best


def quick_kmeans(U, k, rng):
    "`naive.spherical_kmeans` on a sparse matrix"
    C, before = U[np.sort(rng.choice(U.shape[0], k, replace=False))].toarray(), None
    for _ in range(100):
        labels = (U @ C.T).argmax(1)
        if before is not None and (labels == before).all(): break
        D = composites(U, labels, k)
        before, C = labels, np.where(D.any(1)[:,None], D/np.maximum(np.linalg.norm(D, axis=1), 1e-300)[:,None], C)
    return labels


def test_quick_kmeans_is_the_naive_one(planted):
    X, _ = planted
    naive_criterion = [sum(naive.composite_lengths(X.toarray(), naive.spherical_kmeans(X.toarray(), 6, np.random.default_rng(s)), 6))
                       for s in range(3)]
    quick = [criterion_of(X, quick_kmeans(unit_rows(X), 6, np.random.default_rng(s))) for s in range(3)]
    assert_allclose(quick, naive_criterion, rtol=.05)


# ---- what can't be labels, a criterion or a matrix

def random_rows(): return sp.random(60, 40, .2, format="csr", random_state=0)


@pytest.mark.parametrize("labels", [np.arange(6000) % 3, np.arange(90) % 3, [0, 1], np.full(60, 2**40), np.full(60, -2), ["a", "b"]*30, [.5, 1.5]*30,
                                    [np.nan]*60, [np.inf]*60, [1e300]*60, [None]*60, None, 0, np.zeros((60, 1)), []], ids=lambda v: str(v)[:20])
def test_wrong_labels_are_named(labels):
    X = random_rows()
    U = unit_rows(X)
    for call in (lambda: criterion_of(X, labels), lambda: refine(U, labels), lambda: composites(U, labels, 3), lambda: cluster_report(X, labels)):
        with pytest.raises(ValueError, match="labels must"): call()


def test_labels_must_be_in_range():
    U = unit_rows(random_rows())
    for wrong in (np.full(60, 3), np.full(60, -2)):
        with pytest.raises(ValueError, match="from -1 to 2"): composites(U, wrong, 3)
    for wrong in (np.full(60, 60), np.full(60, -1), np.r_[-1, np.zeros(59)]):
        with pytest.raises(ValueError, match="from 0 to 59"): refine(U, wrong)
    for call in (criterion_of, cluster_report):
        with pytest.raises(ValueError, match="all are negative"): call(U, [-1]*60)
    with pytest.raises(ValueError, match="from -1 to 1"): coarser([0, 2], [0], 1)
    labels = np.arange(60) % 3
    for same in (labels.tolist(), labels.astype(float), labels.astype(np.uint8), 10**6*labels):
        assert_allclose(criterion_of(U, same), criterion_of(U, labels))
    given = labels.copy()
    refine(U, given)
    assert_array_equal(given, labels)


def test_wrong_criteria_and_options_are_named():
    U, labels = unit_rows(random_rows()), np.arange(60) % 3
    for criterion in ("zz", "I2", None, 1):
        for call in (lambda: criterion_of(U, labels, criterion), lambda: refine(U, labels, criterion=criterion), lambda: bisect(U, criterion=criterion),
                     lambda: direct(U, 3, criterion=criterion), lambda: repeated_bisection(U, 3, criterion=criterion)):
            with pytest.raises(ValueError, match="criterion must be one of 'i1'"): call()
    with pytest.raises(ValueError, match="cstype"): repeated_bisection(U, 3, cstype="zz")
    with pytest.raises(ValueError, match="n_init"): bisect(U, n_init=0)
    with pytest.raises(ValueError, match="k must"): direct(U, 0)
    with pytest.raises(ValueError, match="max_iter"): refine(U, labels, max_iter=-1)
    with pytest.raises(ValueError, match="pull must have"): bisect(U, np.zeros(3))
    for value in (np.nan, np.inf):
        with pytest.raises(ValueError, match="pull must hold finite"): bisect(U, np.full(60, value), criterion="e1")
    for numbers, message in (((5, 3), "numbers must be ascending"), ((0, 3), "numbers must be a whole number"), ((2, "3"), "numbers must be")):
        with pytest.raises(ValueError, match=message): bisections(U, numbers)      # at the call, not at the first clustering


@pytest.mark.parametrize("form", ["csc", "coo", "lil", "dok", "bsr", "dia", "dense", "unsorted", "doubled", "whole"])
def test_any_format_gives_the_same(form):
    U, labels = unit_rows(random_rows()), np.arange(60) % 3
    if form == "dense": V = U.toarray()
    elif form == "unsorted": V = sp.csr_array((U.data[::-1], U.indices[::-1], U.nnz - U.indptr[::-1]), shape=U.shape)[::-1]
    elif form == "doubled": V = sp.csr_array((np.repeat(U.data/2, 2), np.repeat(U.indices, 2), 2*U.indptr), shape=U.shape)
    elif form == "whole": U = V = sp.csr_array(np.eye(60, dtype=int))
    else: V = U.asformat(form)
    assert_allclose(criterion_of(V, labels), criterion_of(U, labels)), assert_allclose(composites(V, labels, 3), composites(U, labels, 3))
    assert_allclose(unit_rows(V).toarray(), U.toarray())
    for run in (lambda M: repeated_bisection(M, 3), lambda M: direct(M, 3)):
        assert_array_equal(run(V).labels, run(U).labels)
    assert_array_equal(bisect(V).side, bisect(U).side), assert_array_equal(refine(V, labels)[0], refine(U, labels)[0])
    assert repr(cluster_report(V, labels)) == repr(cluster_report(U, labels))


def test_wrong_matrices_are_named():
    X, labels = random_rows(), np.arange(60) % 3
    for call in (criterion_of, cluster_report):
        with pytest.raises(ValueError, match="Negative"): call(-X, labels)
    for call in (lambda: repeated_bisection(X.tocsc(), 3), lambda: direct(X, 3), lambda: bisect(X), lambda: refine(X, labels)):
        with pytest.raises(ValueError, match="length one"): call()
    for wrong in ([1., 2], ["a text"], 3., X*np.nan):
        with pytest.raises(ValueError): rows_of(wrong)


def gaps(a):
    "The same numbers with gaps between them in memory"
    room = np.zeros(2*len(a), a.dtype)
    room[::2] = a
    return room[::2]


def test_arrays_with_gaps(planted):
    X = unit_rows(planted[0])
    Y, Z = X.copy(), X.copy()
    Y.data, Z.indices = gaps(X.data), gaps(X.indices)
    expected = repeated_bisection(X, 6)
    for other in (Y, Z):
        assert_array_equal(repeated_bisection(other, 6).labels, expected.labels)
        assert_array_equal(bisect(other).side, bisect(X).side)
        assert_array_equal(direct(other, 6).labels, direct(X, 6).labels)
        assert_array_equal(refine(other, expected.labels)[0], refine(X, expected.labels)[0])


@each_method
@pytest.mark.parametrize("dtype, factor", [(np.float32, 1e-40), (np.float64, 1e-153)])
def test_documents_too_short_to_divide_by_their_length(method, dtype, factor):
    X = noise().astype(dtype)
    X[3] *= dtype(factor)
    with pytest.raises(ValueError, match="document 3 .*leave it out"): RepeatedBisection(4, method=method).fit(X)
    with pytest.raises(ValueError, match="document 3 .*leave it out"): unit_rows(X)


@pytest.mark.parametrize("name", ["cluster_report", "ClusterReport", "ClusterRow"])
def test_the_report_is_still_found_where_it_was(name):
    from nmf2 import bisection, report
    with pytest.warns(FutureWarning, match=f"nmf2.bisection.{name} is nmf2.report.{name} now"): assert getattr(bisection, name) is getattr(report, name)


def test_old_and_unknown_names():
    from nmf2 import bisection
    with pytest.warns(FutureWarning, match="cluster_values now"): assert bisection.shares is bisection.cluster_values
    with pytest.raises(AttributeError, match="no attribute 'sheres'"): bisection.sheres
