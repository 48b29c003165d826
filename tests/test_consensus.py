"""Ensembles and aggregation: incidence, integration, runs, diagnostics, rounds, and both estimators"""
import os
import subprocess
import sys
import warnings

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numba import get_num_threads, set_num_threads
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.cluster import DBSCAN, KMeans
from sklearn.decomposition import LatentDirichletAllocation, TruncatedSVD
from sklearn.decomposition import NMF as Sklearn
from sklearn.metrics import normalized_mutual_info_score as nmi
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from nmf2.consensus import (INTEGRATORS, WEIGHTS, ClusterAggregation, HypergraphEnsemble, aggregate, aggregation_matrix,
                            agreement, co_association, columns_of, cophenetic, hypergraph, in_parallel, integrate, jaccard,
                            judge, ordered_co_association, owners, patterns, renumber, same_clusterings, seeded, size_of,
                            stability, thresholded, votes, weighted_columns)
from nmf2.data import planted_tree
from nmf2.hier import HierNMF2
from nmf2.nmf import NMF
from nmf2.partitions import PDDP, FlatKMeans
from nmf2.weighting import count_pipeline

each_integrator = pytest.mark.parametrize("how", INTEGRATORS)


@pytest.fixture(scope="module")
def planted():
    corpus = planted_tree((3, 3), n_docs=270, overlap=.4, noise=.1, length=40, random_state=0)
    return count_pipeline().fit_transform(corpus.X), corpus.classes(1)[0]


@pytest.fixture(scope="module")
def ensemble(planted): return HypergraphEnsemble(9, n_runs=8, random_state=0).fit(planted[0])


def noisy(truth, share, r, k, seed=0, missing=0.):
    "Clusterings with some labels drawn anew, and some left out"
    rng, n = np.random.default_rng(seed), len(truth)
    found = [np.where(rng.random(n) < share, rng.integers(k, size=n), truth) for _ in range(r)]
    return [np.where(rng.random(n) < missing, -1, labels) for labels in found]


@pytest.mark.parametrize("weights", WEIGHTS)
def test_incidence_entry_by_entry(weights):
    rng = np.random.default_rng(0)
    W = rng.random((20, 4))*(rng.random((20, 4)) < .6)
    W[3] = 0                                                              # no weight at all
    labels = rng.integers(-1, 4, 20)
    for given in (None, labels):
        H = weighted_columns(W, given, weights)
        assert_allclose(H.toarray(), naive.incidence(W, given, weights), rtol=1e-6)
        assert H.nnz == np.count_nonzero(H.toarray())


def test_weighted_incidence_has_one_entry_for_each_run(planted, ensemble):
    H = ensemble.incidence_
    assert H.shape == (270, 72) and H.nnz == 270*8 and 0 < H.data.min() and H.data.max() <= 1 + 1e-6
    for run in ensemble.runs_:
        W = run.estimator.transform(planted[0])
        assert_allclose(run.columns.max(axis=1).toarray().ravel(), W.max(1)/W.sum(1), rtol=1e-4)
        assert_array_equal(run.labels, W.argmax(1))


def test_products_against_their_slow_twins():
    labelings = noisy(np.arange(40) % 5, .4, 4, 5, missing=.1)
    H = hypergraph(labelings)
    assert_array_equal(co_association(H), naive.co_association(labelings))
    assert_array_equal(co_association(H, [3, 7, 9]), naive.co_association(labelings)[np.ix_([3, 7, 9], [3, 7, 9])])
    assert_allclose(jaccard(H), naive.jaccard(labelings))
    with pytest.raises(ValueError, match="docs must be at most"): co_association(columns_of(np.zeros(10_001, int)))
    for f in (hypergraph, agreement):
        with pytest.raises(ValueError, match="labelings must all be of the same documents, got 2 and 3"): f([[0, 1, 1], [0, 1]])
    for f in (hypergraph, agreement, cophenetic, patterns, lambda none: aggregate(none, 2), lambda none: stability(none, [0, 1])):
        with pytest.raises(ValueError, match="labelings must .* got none"): f([])


def test_agreement_is_scikit_learns():
    labelings = noisy(np.arange(60) % 6, .5, 5, 6) + [np.zeros(60, int), np.arange(60)]
    assert_allclose(agreement(labelings), [[nmi(a, b) for a in labelings] for b in labelings], atol=1e-9)


def test_agreement_counts_documents_that_both_place():
    a, b = noisy(np.arange(60) % 6, .3, 2, 6, missing=.3)
    both = (a >= 0) & (b >= 0)
    A = agreement([a, b, np.full(60, -1)])
    assert_allclose(A[0,1], nmi(a[both], b[both]))
    assert A[0,2] == A[2,2] == 0


def test_agreement_of_labels_with_gaps():
    a, b = noisy(np.arange(60) % 6, .3, 2, 6, missing=.3)
    assert_array_equal(agreement([np.where(a >= 0, a*10**8 + 5, -1), b]), agreement([a, b]))


def test_stability_is_the_mean_over_pairs():
    truth = np.arange(30) % 3
    labelings = noisy(truth, .4, 6, 3, missing=.1)
    labels = np.r_[truth[:28], 3, -1]                                     # a cluster of one, and a document without
    docs, clusters = stability(labelings, labels)
    want_docs, want_clusters = naive.stability(labelings, labels)
    assert_allclose(docs, want_docs), assert_allclose(clusters, want_clusters)
    assert docs[28] == clusters[3] == 1 and docs[29] == 0


def test_cophenetic_correlation():
    truth = np.arange(60) % 4
    assert cophenetic([truth]*5) == 1 == cophenetic([np.zeros(60, int)]*2) == cophenetic([np.zeros(1, int)])
    rough, fine = (cophenetic(noisy(truth, share, 10, 4)) for share in (.8, .1))
    assert rough < fine < 1
    assert cophenetic(noisy(truth, .3, 5, 4), n_docs=20, random_state=3) == cophenetic(noisy(truth, .3, 5, 4), n_docs=20, random_state=3)


def test_ordered_co_association_goes_by_cluster_and_stability():
    truth = np.arange(90) % 3
    labelings = noisy(truth, .3, 8, 3)
    M, docs = ordered_co_association(labelings, truth, 50)
    assert M.shape == (50, 50) and len(set(docs)) == 50 and (np.diff(truth[docs]) >= 0).all() and (M.diagonal() == 1).all()
    of_docs = stability(labelings, truth)[0][docs]
    assert all((np.diff(of_docs[truth[docs] == c]) <= 1e-9).all() for c in range(3))


@each_integrator
def test_integration_finds_what_the_runs_hide(how):
    truth = np.arange(200) % 5
    H = hypergraph(noisy(truth, .3, 12, 5))
    assert nmi(truth, integrate(H, 5, how)) > .95
    assert_array_equal(integrate(H, 5, how, 7), integrate(H, 5, how, 7))


@each_integrator
def test_integration_of_degenerate_input(how):
    H = hypergraph([[0, 0, 1, 1, -1], [0, 0, 1, 1, -1]])
    assert_array_equal(integrate(H, 2, how), [0, 0, 1, 1, -1])
    assert_array_equal(integrate(H, 1, how), [0, 0, 0, 0, -1])
    with pytest.warns(UserWarning, match="only 2 clusters, not 4"): assert_array_equal(integrate(H, 4, how), [0, 0, 1, 1, -1])
    with pytest.warns(UserWarning, match="only 0 clusters"): assert_array_equal(integrate(columns_of([-1, -1]), 2, how), [-1, -1])
    assert_array_equal(integrate(hypergraph([np.arange(6)]), 6, how), np.arange(6))


def test_weights_settle_a_tie():
    "The example by hand of the notebook: a document that two runs put to different sides goes with the run that is sure"
    H = np.array([[.95, 0, .9, 0], [.9, 0, 0, .55], [0, .95, 0, .9], [0, .9, 0, .95]])
    for how in INTEGRATORS: assert_array_equal(integrate(sp.csr_array(H), 2, how), [0, 0, 1, 1])


def test_votes_and_owners():
    H, labels = hypergraph([[0, 0, 1, 1, -1], [0, 1, 1, 1, -1]]), [0, 0, 1, 1, -1]
    owned = owners(H, labels, 2)
    assert_allclose(owned, [[1, 0], [0, 1], [1, 0], [1/3, 2/3]])
    assert_allclose(votes(H, owned), [[1, 0], [2/3, 1/3], [1/6, 5/6], [1/6, 5/6], [0, 0]])


def test_parallel_runs_are_in_order_and_stop_at_an_error():
    before, seen = get_num_threads(), []
    try:
        set_num_threads(min(2, before))
        assert in_parallel(lambda i: (seen.append(get_num_threads()), i*i)[1], 20) == [i*i for i in range(20)]
        assert set(seen) == {1}
        def fails(i):
            if i == 2: raise KeyError(i)
            return i
        with pytest.raises(KeyError): in_parallel(fails, 1000)
        assert get_num_threads() == min(2, before)
    finally: set_num_threads(before)


def test_same_answer_on_any_number_of_threads(planted, ensemble):
    before = get_num_threads()
    try:
        set_num_threads(1)
        again = HypergraphEnsemble(9, n_runs=8, random_state=0).fit(planted[0])
    finally: set_num_threads(before)
    assert_array_equal(again.labels_, ensemble.labels_)
    assert_array_equal(again.incidence_.toarray(), ensemble.incidence_.toarray())
    assert (HypergraphEnsemble(9, n_runs=8, random_state=1).fit(planted[0]).incidence_ != ensemble.incidence_).nnz


def test_ensemble_is_better_than_its_runs(planted, ensemble):
    X, truth = planted
    single = [nmi(truth, run.labels) for run in ensemble.runs_]
    assert nmi(truth, ensemble.labels_) > np.mean(single) and nmi(truth, ensemble.labels_) > .9
    best = min(ensemble.runs_, key=lambda run: run.error)
    assert_array_equal(ensemble.best_labels_, best.labels)
    assert_allclose(np.linalg.norm(ensemble.components_, axis=1), 1, rtol=1e-5)
    assert ensemble.components_.shape == (9, X.shape[1]) and set(ensemble.labels_) == set(range(9))


def test_votes_of_new_documents(planted, ensemble):
    X, _ = planted
    V = ensemble.transform(X)
    assert_allclose(V.sum(1), 1, atol=1e-6)
    assert_allclose(V[np.arange(270), ensemble.labels_], ensemble.confidence_, atol=1e-5)
    assert (ensemble.predict(X) == ensemble.labels_).mean() > .95
    assert ensemble.predict(sp.csr_matrix((1, X.shape[1])))[0] == -1
    for weights in ("standard", "full"):
        model = HypergraphEnsemble(9, n_runs=4, weights=weights, random_state=0).fit(X)
        assert_allclose(model.transform(X)[np.arange(270), model.labels_], model.confidence_, atol=1e-5)


@pytest.mark.slow
def test_documents_without_a_place(planted):
    X = planted[0].tolil()
    X[[0, 100]] = 0
    model = HypergraphEnsemble(9, n_runs=3, random_state=0).fit(X.tocsr())
    assert_array_equal(np.flatnonzero(model.labels_ == -1), [0, 100])
    assert (model.confidence_[[0, 100]] == 0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        race = ClusterAggregation(9, random_state=0, max_iter=1).fit(X.tocsr())
    assert_array_equal(np.flatnonzero(race.labels_ == -1), [0, 100])


@pytest.mark.slow
def test_other_bases(planted):
    X, truth = planted
    trees = HypergraphEnsemble(9, n_runs=6, base=HierNMF2(9, init="random"), random_state=0).fit(X)
    assert nmi(truth, trees.labels_) > .9
    assert trees.incidence_.shape == (270, 54) and np.isfinite(trees.confidence_).all()
    for run in trees.runs_:                                               # shares of the document's own leaf
        W, there = run.estimator.transform(X), run.labels >= 0
        assert_allclose(np.asarray(run.columns.sum(1)).ravel()[there], W[np.arange(270),run.labels][there], rtol=1e-5)
    lda = LatentDirichletAllocation(9, max_iter=5)
    assert HypergraphEnsemble(9, n_runs=2, base=lda, n_components=9, random_state=0).fit(X).incidence_.nnz == 540
    peers = HypergraphEnsemble(9, n_runs=2, base=Sklearn(9, init="random", max_iter=50), random_state=0).fit(X)
    assert peers.best_labels_.shape == (270,) and peers.predict(X).shape == (270,)
    means = HypergraphEnsemble(9, n_runs=4, base=KMeans(9), weights="standard", n_components=(7, 11), random_state=0).fit(X)
    assert means.incidence_.shape == (270, 36) and np.isfinite(means.runs_[0].error)


def test_runs_that_are_all_the_same_are_noticed(planted):
    with pytest.warns(UserWarning, match="all runs are the same"): HypergraphEnsemble(5, n_runs=3, base=HierNMF2(5)).fit(planted[0])


def test_warnings_of_runs_are_said_once(planted):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        HypergraphEnsemble(4, n_runs=5, base=NMF(4, init="random", max_iter=2), random_state=0).fit(planted[0])
    assert ["5 such warnings in 5 runs" in str(w.message) for w in said] == [True]


@pytest.mark.parametrize("options, message", [
    (dict(n_clusters=0), "n_clusters"), (dict(n_clusters=271), "at most 270"), (dict(n_runs=0), "n_runs"), (dict(n_components=0), "n_components"),
    (dict(weights="soft"), "weights"), (dict(integrate="cluto"), "integrate"), (dict(base=FlatKMeans(3)), "weights must be 'standard'"),
    (dict(base=KMeans(3)), "weights must be 'standard'"), (dict(random_state=-1), "random_state"), (dict(n_components=[]), "n_components must be .* got none"),
    (dict(base="nmf"), "base must be an estimator, .* got 'nmf'"), (dict(base=NMF), "base must be an estimator")])
def test_ensemble_names_what_is_wrong(planted, options, message):
    with pytest.raises(ValueError, match=message): HypergraphEnsemble(**{"n_clusters": 3, "n_runs": 2, **options}).fit(planted[0])


@pytest.mark.slow
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("X", [np.eye(5), np.ones((6, 3)), np.array([[1.], [2.], [3.], [4.]]), np.eye(4)[[0, 0, 0, 1, 1, 1]]])
@pytest.mark.filterwarnings("ignore")
def test_ensemble_of_degenerate_matrices(X, integrator):
    for k in (1, 2, len(X)):
        model = HypergraphEnsemble(k, n_runs=3, integrate=integrator, random_state=0).fit(X)
        labels, entries = model.labels_, np.diff(model.incidence_.indptr)
        assert len(labels) == len(X) and -1 <= labels.min() and labels.max() < k
        if integrator != "nmf": assert_array_equal(labels < 0, entries == 0)      # no topic has a term of theirs
        for i in range(len(X)):                                           # duplicates stay together
            same = (X == X[i]).all(1)
            assert len(set(labels[same])) == 1


def test_equal_columns_can_be_one():
    labelings = noisy(np.arange(80) % 4, .3, 7, 4, missing=.1)
    M = aggregation_matrix(labelings, 3/7)
    full = naive.aggregation(labelings, 3)
    assert_allclose((M @ M.T).toarray(), full @ full.T, rtol=1e-5)
    kinds, which, count = patterns(labelings)
    assert_array_equal(np.stack(kinds)[:,which], np.stack(labelings)) and count.sum() == 80
    assert M.shape == (80, len(count))


def test_threshold_in_blocks_and_in_sample():
    labelings = noisy(np.arange(300) % 6, .4, 5, 6)
    H, full = hypergraph(labelings), naive.aggregation(labelings, 2)
    for room in (1, 500, 10**6): assert_array_equal(thresholded(H, H, 2.5, room).toarray(), full*(full > 2.5))
    M = aggregation_matrix(labelings, 2/5, max_entries=3000, seed=1)
    assert M.shape[0] == 300 and M.shape[1] < aggregation_matrix(labelings, 2/5).shape[1] and M.nnz < 4500
    assert nmi(np.arange(300) % 6, integrate(M, 6, "kmeans")) > .7


def test_same_clusterings_whatever_the_numbers():
    assert_array_equal(renumber([7, 7, 2, -5, 2, 0]), [0, 0, 1, -1, 1, 2])
    assert_array_equal(same_clusterings([[0, 0, 1], [1, 1, 0], [0, 1, 1], [3, 3, 9]]), [0, 0, 2, 0])
    verdict = judge([np.array(x) for x in ([0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 1])])
    assert verdict.common == 2 and verdict.labels.tolist() == [0, 0, 1, 1] and 0 < verdict.nmi < 1
    assert judge([np.array([0, 1])]).nmi == 1


def test_rounds_come_to_the_planted_answer():
    truth = np.arange(240) % 6
    rounds, agreed = aggregate(noisy(truth, .25, 16, 6), 6, threshold=.25, agree=.7)
    assert agreed and rounds[-1].common >= 3
    assert_array_equal(rounds[-1].labels, truth)
    assert rounds[-1].nmi >= rounds[0].nmi - 1e-9


def test_rounds_stop_when_nothing_changes_and_at_the_limit():
    truth = np.arange(60) % 3
    rounds, agreed = aggregate([truth]*4, 3, ["kmeans", "bisection"], agree=.99)
    assert agreed and len(rounds) == 1
    rounds, agreed = aggregate(noisy(truth, .9, 4, 3), 3, ["kmeans", "nmf"], threshold=0, agree=.99, max_iter=2)
    assert len(rounds) <= 2


def test_tolerance_by_rounds():
    labelings = noisy(np.arange(60) % 3, .3, 8, 3)
    rounds, _ = aggregate(labelings, 3, ["kmeans", PDDP(3)], threshold=[.25, 0], max_iter=2, agree=.99)
    assert rounds[0].columns == len(patterns(labelings)[2])


def test_given_clusterings_and_estimators(planted):
    X, truth = planted
    given = [labels*3 + 5 for labels in noisy(truth, .2, 3, 9)]
    model = ClusterAggregation(9, clusterers=[*given, NMF(9), FlatKMeans(12)], algorithms=["kmeans", PDDP(2)], random_state=0).fit(X)
    assert len(model.labelings_) == 5 and nmi(truth, model.labels_) > .8 and model.labels_.max() == 8
    assert all(len(r.labelings) == 2 for r in model.rounds_) and model.n_iter_ == len(model.rounds_)
    once = ClusterAggregation(9, clusterers=given, iterate=False, random_state=0).fit(X)
    assert once.n_iter_ == 1 and len(once.rounds_[0].labelings) == 4
    lonely = [np.where(np.arange(270) == 4, -1, labels) for labels in given]
    assert ClusterAggregation(9, clusterers=lonely, algorithms=["kmeans"], random_state=0).fit(X).labels_[4] == -1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_default_is_races_nine(planted):
    X, truth = planted
    model = ClusterAggregation(9, random_state=0, max_iter=2).fit(X)
    assert len(model.labelings_) == 9 == len(model.rounds_[0].labelings)
    assert model.rounds_[0].nmi > judge(model.labelings_).nmi
    assert nmi(truth, model.labels_) > np.mean([nmi(truth, labels) for labels in model.labelings_])


@pytest.mark.parametrize("options, message", [
    (dict(clusterers=[]), "at least one"), (dict(clusterers=[[0, 1]]), r"clusterers\[0\], if no estimator, must have 270 entries"), (dict(clusterers=[np.full(270, .5)]), "whole numbers"),
    (dict(algorithms=["k-means"]), "algorithms"), (dict(threshold=1), "threshold"), (dict(threshold=-.1), "threshold"), (dict(agree=1), "agree"),
    (dict(max_iter=0), "max_iter"), (dict(max_entries=0), "max_entries"), (dict(n_clusters=300), "at most 270")])
def test_aggregation_names_what_is_wrong(planted, options, message):
    with pytest.raises(ValueError, match=message): ClusterAggregation(**{"n_clusters": 3, **options}).fit(planted[0])


def test_seeds_and_sizes_of_copies():
    base = NMF(5)
    copy = seeded(base, 2**40 + 3, 8)
    assert (copy.n_components, copy.random_state, base.random_state) == (8, 3, None)
    assert seeded(HierNMF2(5), 1, 7).n_leaves == 7 and seeded(PDDP(5), 1).n_clusters == 5
    with pytest.raises(ValueError, match="none of the parameters"): seeded(count_pipeline(), 0, 3)
    copy = seeded(make_pipeline(TruncatedSVD(5), KMeans(8)), 2**32 + 1, 3).get_params()
    assert copy["truncatedsvd__random_state"] == copy["kmeans__random_state"] == 1
    assert (copy["truncatedsvd__n_components"], copy["kmeans__n_clusters"]) == (5, 3)


def test_a_clusterer_at_the_end_that_finds_its_own_number_has_no_size():
    for last in (DBSCAN(), make_pipeline(TruncatedSVD(3), DBSCAN())): assert size_of(make_pipeline(TruncatedSVD(5), last)) is None
    assert size_of(make_pipeline(KMeans(), TruncatedSVD(3))) == "truncatedsvd__n_components"


def test_pipelines_are_seeded_as_a_whole(planted):
    X, truth = planted
    pipe = make_pipeline(TruncatedSVD(9), KMeans(9, n_init=1))
    def aggregated(): return ClusterAggregation(9, clusterers=[pipe]*3, algorithms=["bisection"], random_state=0).fit(X)
    for a, b in zip(aggregated().labelings_, aggregated().labelings_): assert_array_equal(a, b)
    runs = HypergraphEnsemble(9, n_runs=4, base=pipe, weights="standard", random_state=0).fit(X)
    assert nmi(truth, runs.labels_) > .8
    assert_array_equal(runs.runs_[0].labels, runs.runs_[0].estimator.predict(X))
    with pytest.raises(ValueError, match="base must have a random_state"):
        HypergraphEnsemble(9, base=make_pipeline(DBSCAN()), weights="standard").fit(X)


LARGE = """
import numpy as np, re, resource
from pathlib import Path
from nmf2.consensus import aggregation_matrix
rng = np.random.default_rng(0)
truth = rng.integers(20, size=20000)
M = aggregation_matrix([np.where(rng.random(20000) < .2, rng.integers(20, size=20000), truth) for _ in range(9)])
assert M.shape[0] == 20000 and M.nnz < 30_000_000
status = Path('/proc/self/status')              # getrusage begins with what the process had that started this one
peak = int(re.search(r'VmHWM:\\s*(\\d+)', status.read_text())[1]) if status.exists() else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak/2**20)
"""

@pytest.mark.slow
@pytest.mark.no_estimator
@pytest.mark.skipif(sys.platform == "win32", reason="no resource module")
def test_twenty_thousand_documents_fit():
    "The aggregation matrix of 20,000 documents in far less than the 1.5 GiB of a dense one in float32"
    gib = float(subprocess.run([sys.executable, "-c", LARGE], capture_output=True, text=True, check=True, env=os.environ).stdout)
    assert gib < 1


@pytest.mark.filterwarnings("ignore")
def test_fewer_terms_than_clusters():
    X = np.random.default_rng(0).random((30, 2))
    model = ClusterAggregation(3, max_iter=1, random_state=0).fit(X)
    assert len(model.labelings_) == 7 and set(model.labels_) <= {-1, 0, 1, 2}


NEGATIVE = {f"check_clustering{rest}": "its data have negative entries" for rest in ("", "(readonly_memmap=True)")}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([HypergraphEnsemble(3, n_runs=3), ClusterAggregation(3, clusterers=[FlatKMeans(3), NMF(3, max_iter=20)], max_iter=2)],
                         expected_failed_checks=lambda estimator: NEGATIVE)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", ["clusterers", "algorithms"])
@pytest.mark.parametrize("given", [1.5, "bisection", {"bisection"}])
def test_what_is_aggregated_is_a_list(name, given):
    with pytest.raises(ValueError, match=f"{name} must be a list"): ClusterAggregation(2, **{name: given}).fit(np.eye(4))


class Late(BaseEstimator):
    "Two clusters in the fit; new documents go to a third"
    def __init__(self, random_state=None): self.random_state = random_state
    def fit(self, X): self.labels_ = np.arange(X.shape[0]) % 2; return self
    def predict(self, X): return np.arange(X.shape[0]) % 3


def test_a_cluster_without_documents_of_the_fit_says_nothing_of_others():
    X = np.random.default_rng(0).random((12, 4))
    model = HypergraphEnsemble(2, base=Late(), n_runs=3, weights="standard", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        W = model.fit(X).transform(X[:6])
    assert_array_equal(W.sum(1), [1, 1, 0, 1, 1, 0])
    with pytest.raises(ValueError, match="below k=2"): columns_of([0, 1, 2], k=2)


def test_too_few_columns_are_an_error_that_names_their_limit():
    "Not one of the algorithm that sees them"
    rng = np.random.default_rng(0)
    labelings = [rng.integers(5, size=300) for _ in range(4)]
    with pytest.raises(ValueError, match="max_entries must leave a column for each of 5 clusters at least, and 1 leave 1: raise it"): aggregate(labelings, 5, max_entries=1)
    same = [np.repeat([0, 1, 2], 20)]*4                              # as many columns as there are kinds, and no more to be had
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert aggregate(same, 5)[0][-1].columns == 3


def test_labels_that_are_none_are_named():
    "Not cut off to whole numbers, nor met with an error of NumPy's"
    for f in (hypergraph, agreement, cophenetic, patterns, judge, lambda both: aggregate(both, 2), lambda both: stability(both, [0, 1, 1])):
        with pytest.raises(ValueError, match=r"(labels|labelings\[0\]) must be whole numbers from -1 on, got 1.5"): f([[0, 1.5, 2], [0, 1, 2]])
    for f in (columns_of, renumber, lambda labels: owners(hypergraph([[0, 1]]), labels, 2), lambda labels: weighted_columns(np.eye(2), labels)):
        with pytest.raises(ValueError, match="labels must be whole numbers .* makes such numbers from names"): f(["a", "b"])
    labelings = [[0, 0, 1, 1], [0, 1, 1, 1]]
    for f in (stability, ordered_co_association, lambda _, labels: owners(hypergraph(labelings), labels, 2)):
        with pytest.raises(ValueError, match="labels must have 4 entries"): f(labelings, [0, 0, 1])
    assert_array_equal(columns_of([0., -3, 1]).toarray(), [[1, 0], [0, 0], [0, 1]])


@pytest.mark.parametrize("options, message", [
    (dict(k=0), "k must be"), (dict(threshold=5), "threshold is a share"), (dict(threshold=[.5, 1]), "threshold is a share"), (dict(threshold=[]), "got none"),
    (dict(max_iter=0), "max_iter"), (dict(agree=1), "agree is a share"), (dict(agree="x"), "agree must"), (dict(max_entries=0), "max_entries"),
    (dict(algorithms=["k-means"]), "algorithms must hold .* got 'k-means'"), (dict(algorithms=[KMeans]), "algorithms must hold"),
    (dict(algorithms="kmeans"), "algorithms must be a list"), (dict(algorithms=[]), "algorithms must be a list")])
def test_wrong_options_of_rounds_are_named(options, message):
    with pytest.raises(ValueError, match=message): aggregate(**{"labelings": [[0, 0, 1, 1]]*3, "k": 2, **options})


def test_wrong_options_of_integration_are_named():
    H = hypergraph([[0, 0, 1, 1]])
    for k in ("2", 0, 1.5):
        with pytest.raises(ValueError, match="k must be a whole number of at least 1"): integrate(H, k)
    for how in (None, KMeans, "cluto"):
        with pytest.raises(ValueError, match="how must be one of"): integrate(H, 2, how)
    with pytest.warns(UserWarning, match="only 2 clusters, not 3, .*: ask for fewer") as said: integrate(H, 3)
    assert said[0].filename == __file__


@pytest.mark.parametrize("labels", [[0, 0, 1, 1, -1.5], [0, 0, 1, 1, -np.inf], [0, 0, 1, 1, np.nan], [0, 0, 1, 1, .5]])
def test_labels_below_zero_are_whole_as_well(labels):
    with pytest.raises(ValueError, match="must be whole numbers"): agreement([labels, [0, 1, 1, 1, 2]])
    assert_array_equal(agreement([[0, 0, 1, 1, -3.], [0, 0, 1, 1, -1]]), agreement([[0, 0, 1, 1, -1], [0, 0, 1, 1, -1]]))


def test_rounds_warn_once_and_at_the_line_of_the_caller():
    labelings = [np.random.default_rng(seed).integers(0, 3, 30) for seed in range(4)]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        aggregate(labelings, 40, max_iter=1)
    assert [w.filename for w in told] == [__file__] and "4 such warnings in 4 runs" in str(told[0].message)
