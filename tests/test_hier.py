"""HierNMF2 against its naive twin, and what users rely on: prefixes, growing, outliers, stops, errors"""
import pickle
import threading
import time
import warnings
from functools import cache

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numba import get_num_threads, set_num_threads
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import v_measure_score
from sklearn.pipeline import make_pipeline

from nmf2 import hier, order
from nmf2.bisection import bisect, unit_rows
from nmf2.data import count_terms
from nmf2.flat import FlatNMF2
from nmf2.hier import CUTS, Grower, GrowerOptions, HierNMF2, cut_in_two, starter, try_node
from nmf2.tree import Tree
from nmf2.rank2 import Rank2NMF
from nmf2.weighting import text_pipeline


def blocks(seed, sizes=(25, 20, 15, 10), n_odd=0, terms=9, shared=6):
    "Documents in blocks with words of their own, some common words, and odd documents at the end"
    rng = np.random.default_rng(seed)
    n, m = sum(sizes), terms*len(sizes) + shared
    X = np.zeros((n + n_odd, m + 2*n_odd))
    start = 0
    for b, size in enumerate(sizes):
        X[start:start+size, b*terms:(b+1)*terms] = rng.poisson(.8, (size, terms))
        start += size
    X[:n,terms*len(sizes):m] = rng.poisson(.5, (n, shared))
    X[:n,0] += ~X[:n].any(1)
    for i in range(n_odd): X[n+i, m+2*i:m+2*i+2], X[n+i, m-1-i%shared] = 2 + rng.random(2), 1
    X *= rng.uniform(.5, 1.5, X.shape)
    return X/np.linalg.norm(X, axis=1, keepdims=True)


def starts(seed, side):
    "A fresh source of starts; two with the same seed give the same sequence"
    rng = np.random.default_rng(seed)
    def init(docs, terms):
        if side == "H0": return None, rng.random((2, len(terms)))
        return rng.random((len(docs), 2)), None
    return init


def assert_same_tree(model, twin):
    tree = model.tree_
    assert tree.splits == twin.order
    assert list(tree.nodes) == list(twin.nodes)
    for id, node in twin.nodes.items():
        assert_array_equal(tree[id].docs, node["docs"], err_msg=id)
        assert_array_equal(tree[id].outliers, node["outliers"], err_msg=id)
        assert_allclose(tree[id].score, node["score"], rtol=1e-9, err_msg=id)
        if node["split"] is not None and id in twin.order:
            for child, topic in zip(tree[id].children, node["split"][0]): assert_allclose(child.topic, topic, atol=1e-8)


CASES = [(0, (20, 15, 10), 0, 9.), (1, (24, 20, 8), 4, 9.), (4, (18, 14, 9, 7), 3, 2.)]
OPTIONS = dict(tol=1e-4, min_iter=5, max_iter=300)


@cache
def twin_tree(case, side):
    seed, sizes, n_odd, imbalance = case
    return naive.Hier(blocks(seed, sizes, n_odd), starts(seed, side), imbalance, **OPTIONS).grow(5)


@pytest.mark.slow
@pytest.mark.parametrize("side", ["H0", "W0"])
@pytest.mark.parametrize("case", CASES)
def test_whole_trees_as_the_naive_twin(case, side):
    seed, sizes, n_odd, imbalance = case
    X = blocks(seed, sizes, n_odd)
    for form in (X, sp.csr_array(X)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = HierNMF2(5, imbalance=imbalance, init=starts(seed, side), extrapolate=False, max_outliers=None, **OPTIONS).fit(form)
        assert_same_tree(model, twin_tree(case, side))


@pytest.mark.slow
def test_the_cases_reach_every_decision():
    nodes = [node for case in CASES for node in twin_tree(case, "H0").nodes.values()]
    assert any(node["outliers"] for node in nodes)
    assert {-1., -2.} <= {node["score"] for node in nodes}


def corpus_matrix(seed=0):
    return blocks(seed, (60, 50, 40, 30), n_odd=3, terms=15)


@pytest.mark.parametrize("options", [dict(), dict(init="random", random_state=3), dict(init="random", extrapolate=False, random_state=3)])
def test_a_tree_is_the_beginning_of_a_larger_one(options):
    X = sp.csr_array(corpus_matrix())
    large = HierNMF2(9, **options).fit(X)
    for n in (2, 5, 8):
        small = HierNMF2(n, **options).fit(X)
        assert small.n_leaves_ == n
        assert_array_equal(small.labels_, large.tree_.labels(n))
        assert [leaf.id for leaf in small.tree_.leaves()] == [leaf.id for leaf in large.tree_.leaves(n)]
        small.grow(9)
        assert_array_equal(small.labels_, large.labels_)
        assert_array_equal(small.components_, large.components_)


def test_same_seed_same_tree_other_seed_other_start():
    X = corpus_matrix()
    fits = [HierNMF2(6, init="random", random_state=r, extrapolate=False).fit(X) for r in (1, 1, 2)]
    assert_array_equal(fits[0].components_, fits[1].components_)
    assert not np.array_equal(fits[0].components_, fits[2].components_)


def test_every_form_of_the_matrix_gives_the_tree():
    X = sp.csr_array(corpus_matrix())
    truth = HierNMF2(6).fit(X)
    for form in (X.toarray(), np.asfortranarray(X.toarray()), X.tocsc(), X.tocoo(), sp.csr_matrix(X)):
        assert_array_equal(HierNMF2(6).fit(form).labels_, truth.labels_)
    single = HierNMF2(6).fit(X.astype(np.float32))
    assert single.components_.dtype == single.transform(X.astype(np.float32)).dtype == np.float32
    assert (single.labels_ == truth.labels_).mean() > .99


@pytest.mark.slow
def test_long_indices_give_the_tree(monkeypatch):
    "As matrices of 2³¹ entries have them: most compiled functions are made once more for these"
    monkeypatch.setattr("nmf2.core._narrow", lambda X: X)
    X = sp.csr_array(corpus_matrix())
    long = X.copy()
    long.indices = X.indices.astype(np.int64)
    long.indptr = X.indptr.astype(np.int64)
    model = HierNMF2(6).fit(long)
    assert model._own.indices.dtype == model._own.indptr.dtype == np.int64             # what the kernels were given
    assert_array_equal(model.labels_, HierNMF2(6).fit(X).labels_)


def test_the_input_is_left_alone():
    X = sp.csr_array(corpus_matrix())
    before = X.copy()
    HierNMF2(5).fit(X)
    assert_array_equal(X.toarray(), before.toarray())
    assert X.data.dtype == before.data.dtype


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    X = sp.random(4000, 300, .15, "csr", rng=rng)
    X.data[:] = np.where(rng.random(X.nnz) < .1, 5, 1)*X.data
    before, fits = get_num_threads(), []
    for threads in (1, before):
        set_num_threads(threads)
        fits.append(HierNMF2(30).fit(X))
    set_num_threads(before)
    assert fits[0].n_iter_ == fits[1].n_iter_ and fits[0].n_sweeps_ == fits[1].n_sweeps_      # work done ahead in vain doesn't count
    assert_array_equal(fits[0].components_, fits[1].components_)
    assert_array_equal(fits[0].labels_, fits[1].labels_)


def test_documents_are_in_one_leaf_or_one_outlier_set():
    model = HierNMF2(8).fit(corpus_matrix())
    tree = model.tree_
    seen = np.concatenate([leaf.docs for leaf in tree.leaves()] + [node.outliers for node in tree.nodes.values()])
    assert_array_equal(np.sort(seen), np.arange(tree.n_docs))
    for node in tree:
        if node.children:
            below = [np.concatenate([child.docs, child.outliers]) for child in node.children]
            assert_array_equal(np.sort(np.concatenate(below)), node.docs)
        assert node.size == len(node.docs)
        assert_allclose(np.linalg.norm(node.topic), 1)


def test_training_documents_find_their_leaves():
    X = corpus_matrix()
    model = HierNMF2(6).fit(X)
    kept = model.labels_ >= 0
    assert (model.predict(X)[kept] == model.labels_[kept]).mean() > .98
    assert_allclose(model.transform(X).sum(1), 1)


def test_stopping_by_score():
    X = corpus_matrix()
    all_of_it = HierNMF2(9).fit(X)
    limit = sorted(node.score for node in all_of_it.tree_.nodes.values() if node.children)[2]
    some = HierNMF2(None, min_score=limit).fit(X)
    assert all(leaf.score < limit for leaf in some.tree_.leaves())
    assert all(some.tree_[id].score >= limit for id in some.tree_.splits)


def test_no_trials_keep_every_document():
    model = HierNMF2(8, trials=0).fit(corpus_matrix())
    assert (model.labels_ >= 0).all()


def test_documents_that_are_all_alike_are_one_leaf():
    with pytest.warns(UserWarning, match="^n_leaves=3 can't be had: the only leaf can't be split: it holds at most three documents, or"):
        model = HierNMF2(3).fit(np.ones((10, 4)))
    assert model.n_leaves_ == 1 and (model.labels_ == 0).all()
    assert (model.predict(np.ones((2, 4))) == 0).all()
    assert_allclose(model.transform(np.ones((2, 4))), 1)


def test_empty_documents_belong_nowhere():
    X = corpus_matrix()
    X[[3, 77]] = 0
    for form in (X, sp.csr_array(X)):
        with pytest.warns(UserWarning, match="2 of 183 documents are empty"): model = HierNMF2(4).fit(form)
        assert (model.labels_[[3, 77]] == -1).all() and (model.predict(form)[[3, 77]] == -1).all()
        assert set(model.tree_[""].outliers) == {3, 77}
    X[77] = corpus_matrix()[77]
    with pytest.warns(UserWarning, match="1 of 183 documents is empty: it gets the label -1"): HierNMF2(4).fit(X)


def test_terms_that_never_occur_change_nothing():
    X = corpus_matrix()
    padded = np.insert(X, [4, 9], 0., axis=1)
    calls = []
    def init(docs, terms):
        calls.append(terms)
        return None, np.random.default_rng(len(docs)).random((2, len(terms)))
    a, b = HierNMF2(2, init=init).fit(X), HierNMF2(2, init=init).fit(sp.csr_array(padded))
    assert len(calls[0]) == len(calls[len(calls)//2]) == X.shape[1]
    assert_array_equal(a.labels_, b.labels_)
    assert_allclose(np.delete(b.components_, [4, 10], axis=1), a.components_, atol=1e-12)
    assert not b.components_[:,[4, 10]].any()


def test_a_pickled_model_grows_when_given_its_matrix():
    X = corpus_matrix()
    model = HierNMF2(4).fit(X)
    copy = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="X must be given"): copy.grow(6)
    swapped = np.r_[7, 1:7, 0, 8:len(X)]
    for wrong in (X[:50], X[::-1], X[swapped], (X > 0).astype(float), X + 1e-2):
        with pytest.raises(ValueError, match="the matrix that the model was fitted to"): copy.grow(6, wrong)
    with pytest.raises(ValueError, match="X must be given"): copy.grow(6)            # none of these was kept
    assert_array_equal(copy.grow(6, sp.csr_array(X)).labels_, model.grow(6).labels_)


def test_a_matrix_changed_in_place_is_noticed_or_does_no_harm():
    "The model keeps the documents in an order of its own; only with starts that go by the given order it keeps what it was given"
    X = corpus_matrix()
    model, larger = HierNMF2(4).fit(X), HierNMF2(6).fit(X)
    X[:,3] *= 2
    with pytest.raises(ValueError, match="the matrix that the model was fitted to"): model.grow(6, X)
    assert_array_equal(model.grow(6).labels_, larger.labels_)
    def init(docs, terms): return None, np.random.default_rng(len(docs)).random((2, len(terms)))
    model = HierNMF2(4, init=init).fit(X)
    X[:,3] *= 2
    with pytest.raises(ValueError, match="the matrix that the model was fitted to"): model.grow(6)


def test_parameters_set_after_fitting_count_for_the_next_fit_only():
    X = corpus_matrix()
    model = HierNMF2(4).fit(X).set_params(init="random", trials=0, extrapolate=False)
    assert_array_equal(model.grow(8).labels_, HierNMF2(8).fit(X).labels_)
    picky = HierNMF2(2, min_score=1e9).fit(X).set_params(min_score=0)
    with pytest.warns(UserWarning, match="min_score=1000000000.0"): assert picky.grow(4).n_leaves_ == 2


def test_a_fit_that_fails_at_once_leaves_the_model_as_it_was():
    X = corpus_matrix()
    model = HierNMF2(4).fit(X)
    def stop(docs, terms): raise KeyboardInterrupt
    model.init = stop
    with pytest.raises(KeyboardInterrupt): model.fit(X[:100,:40])
    assert_array_equal(model.grow(6).labels_, HierNMF2(6).fit(X).labels_)


def test_outliers_must_score_below_the_bar():
    X = blocks(1, (24, 20, 8), 4)
    model = HierNMF2(2, trials=1).fit(X)
    seen = []
    class Probe(Grower):
        def split(self, *args):
            split, _, took = super().split(*args)
            seen.append(split)
            return split, .25, took
    options = dict(tol=1e-4, min_iter=1, max_iter=99, extrapolate=True)
    grower = Probe(X, model.tree_, starter("svd", 0), GrowerOptions(imbalance=1., options=options))
    rows = np.arange(len(X))
    for bar, score in ((.25, .25), (.26, -2)):                  # as good as the least leaf: accepted; below it, three times: given up
        kept, found, *_ = try_node(grower, "0", rows, model.tree_.root_topic, bar)
        assert found == score
        assert_array_equal(kept, rows)


def test_what_a_fit_took_is_counted():
    X = sp.csr_array(corpus_matrix())
    model = HierNMF2(2).fit(X)
    assert model.n_iter_ > 3 and model.n_sweeps_ > 3
    more = HierNMF2(6).fit(X)
    assert more.n_iter_ > model.n_iter_ and more.n_sweeps_ > model.n_sweeps_
    assert model.grow(6).n_iter_ == more.n_iter_
    assert_allclose(model.n_sweeps_, more.n_sweeps_)


def test_fits_that_do_not_converge_say_so():
    with pytest.warns(ConvergenceWarning, match="max_iter=2"): HierNMF2(3, max_iter=2).fit(corpus_matrix())


def test_awkward_arrays():
    X = sp.csr_array(corpus_matrix())
    truth = HierNMF2(4).fit(X)
    shuffled = X.copy()
    for lo, hi in zip(X.indptr[:-1], X.indptr[1:]):
        shuffled.indices[lo:hi], shuffled.data[lo:hi] = X.indices[lo:hi][::-1], X.data[lo:hi][::-1]
    shuffled.has_sorted_indices = False
    frozen = X.toarray()
    frozen.flags.writeable = False
    for form in (shuffled, frozen, X.toarray().tolist()): assert_array_equal(HierNMF2(4).fit(form).labels_, truth.labels_)
    for scale in (1e-20, 1e20): assert_array_equal(HierNMF2(4).fit(X*scale).labels_, truth.labels_)
    for scale in (1e-12, 1, 1e12):                   # powers of two would change nothing, others little
        single = (X*scale).astype(np.float32)
        assert_array_equal(HierNMF2(4).fit(single).labels_, truth.labels_)
    for scale in (1e-18, 1e18):
        with pytest.raises(ValueError, match="Divide it by X.max"): HierNMF2(4).fit((X*scale).astype(np.float32))


def test_given_up_nodes_are_mentioned():
    rng = np.random.default_rng(0)
    X = np.zeros((46, 30))
    X[:40,:10] = rng.random((40, 10))
    for i in range(6): X[40+i, 10+3*i:13+3*i] = 40
    def odd_one_first(docs, terms):
        x = X[np.ix_(docs, terms)]
        return None, [x[x.sum(1).argmax()], x.mean(0)]
    with pytest.warns(UserWarning, match="1 given up for outliers: max_outliers=0.02 cuts it in two"): HierNMF2(8, init=odd_one_first, max_outliers=None).fit(X)
    assert HierNMF2(8, init=odd_one_first).fit(X).n_leaves_ == 8          # which works


def test_an_interrupted_fit_leaves_a_whole_tree():
    X = corpus_matrix()
    whole, calls = HierNMF2(6, init=starts(0, "H0")).fit(X), []
    source = starts(0, "H0")
    def init(docs, terms):
        calls.append(1)
        if len(calls) == 6: raise KeyboardInterrupt
        return source(docs, terms)
    model = HierNMF2(6, init=init)
    with pytest.raises(KeyboardInterrupt): model.fit(X)
    assert 1 <= model.n_leaves_ < 6
    assert_array_equal(model.labels_, whole.tree_.labels(model.n_leaves_))


def interrupt(monkeypatch, owner, name, at):
    "Press stop when a function is called for the `at`-th time"
    real, calls = getattr(owner, name), []
    def stopped(*args, **options):
        calls.append(1)
        if len(calls) == at: raise KeyboardInterrupt
        return real(*args, **options)
    monkeypatch.setattr(owner, name, stopped)
    return calls


def assert_beginning(model, whole):
    "Every node is as in the whole tree, and growing on leads there"
    tree, X = model.tree_, corpus_matrix()
    assert tree.splits == whole.tree_.splits[:len(tree.splits)]
    assert set(tree.nodes) == {node for id in tree.splits for node in (id + "0", id + "1")} | {""}
    for id, node in tree.nodes.items():
        assert node.tree is tree
        for name in ("docs", "outliers"): assert_array_equal(getattr(node, name), getattr(whole.tree_[id], name))
        for mine, theirs in zip(node.split or (), whole.tree_[id].split or ()): assert_array_equal(mine, theirs)
    assert_array_equal(tree.root_topic, whole.tree_.root_topic)
    if len(model.labels_) == len(X): assert_array_equal(model.labels_, tree.labels())
    assert_array_equal(model.grow(6).labels_, whole.labels_)


@pytest.mark.slow
@pytest.mark.parametrize("owner, name", [(order, "_renumbered"), (Tree, "add")])
def test_stop_while_a_tree_is_renumbered_or_added_to(monkeypatch, owner, name):
    "Interrupted at the first, the second, … call, fitted anew or grown on: a model is as it was, or has the beginning of the tree"
    X, seen = corpus_matrix(), 0
    whole, small = HierNMF2(6).fit(X), HierNMF2(3).fit(X)
    for again in (lambda model: model.fit(X), lambda model: model.grow(6)):
        for at in range(1, 99):
            model = pickle.loads(pickle.dumps(small)).set_params(n_leaves=6)
            model._order, model._own = small._order, small._own
            calls = interrupt(monkeypatch, owner, name, at)
            try: again(model)
            except KeyboardInterrupt: seen += 1
            monkeypatch.undo()
            assert_beginning(model, whole)
            if len(calls) < at: break
    assert seen > 10


def exact_trees(**start):
    X = corpus_matrix().astype(np.float64)
    return [HierNMF2(8, solver=solver, tol=1e-7, max_iter=20_000, side_tol=None, **start).fit(X) for solver in ("rank2", "active-set", "bpp")]


@pytest.mark.slow
@pytest.mark.parametrize("start", [dict(init="random", random_state=3, extrapolate=False), dict()])
def test_the_same_tree_by_any_exact_solver(start):
    rank2, *others = exact_trees(**start)
    for model in others:
        assert_array_equal(model.labels_, rank2.labels_, err_msg=model.solver)
        assert model.tree_.splits == rank2.tree_.splits


@pytest.mark.slow
def test_accelerated_from_a_random_start_mostly_the_same_tree():
    """Acceleration takes rank-2 NMF and the general loop along different ways, so they can end in different minima."""
    same = 0
    for seed in range(5):
        rank2, active, pivoting = exact_trees(init="random", random_state=seed)
        assert_array_equal(active.labels_, pivoting.labels_)
        same += (rank2.labels_ == active.labels_).all()
    assert same >= 3


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", ["active-set", "bpp"])
def test_nmf_hier_is_the_same_tree_turn_for_turn(solver, dtype):
    """Kuang and Park (2013), Section 6: the results of nmf-hier are identical, as it stops by the same rule."""
    X = corpus_matrix().astype(dtype)
    for seed in range(3):
        plain = dict(init="random", extrapolate=False, random_state=seed)
        tree, other = (HierNMF2(8, solver=s, **plain).fit(X) for s in ("rank2", solver))
        assert_array_equal(other.labels_, tree.labels_)
        close = 1e-12 if dtype == np.float64 else .003        # in single precision rounding may decide on one turn in a few hundred
        assert abs(other.n_iter_ - tree.n_iter_) <= close*tree.n_iter_ and tree.n_iter_ > 100
        assert_allclose(other.n_sweeps_, 2*tree.n_sweeps_, rtol=.02)                 # each half reads the matrix


def test_min_iter_counts_for_exact_solvers():
    X = corpus_matrix()
    few, many = (HierNMF2(2, solver="bpp", init="random", extrapolate=False, random_state=0, tol=.5, min_iter=n).fit(X) for n in (1, 40))
    assert few.n_iter_ < 40*3 <= many.n_iter_                                        # the root and two children


def test_a_solver_is_used_when_growing_on():
    X = corpus_matrix()
    assert_array_equal(HierNMF2(3, solver="hals").fit(X).grow(7).labels_, HierNMF2(7, solver="hals").fit(X).labels_)


def count_calls(monkeypatch, before):
    """Let `before` do something ahead of each factorization; returns how many are under way."""
    under_way, real = [], hier.rank2_nmf
    def rank2_nmf(*args, **options):
        under_way.append(1)
        try:
            before(threading.current_thread() is threading.main_thread())
            return real(*args, **options)
        finally: under_way.pop()
    monkeypatch.setattr(hier, "rank2_nmf", rank2_nmf)
    return under_way


def test_an_error_of_a_helper_does_no_harm(monkeypatch):
    X, failures = corpus_matrix(), []
    truth = HierNMF2(8).fit(X)
    def before(main):
        if not main and not failures:
            failures.append(1)
            raise MemoryError
        if main: time.sleep(.02)                     # or the helper would have nothing to do
    count_calls(monkeypatch, before)
    assert_array_equal(HierNMF2(8).fit(X).labels_, truth.labels_)
    assert failures or get_num_threads() == 1


def test_an_interrupted_fit_leaves_nobody_at_work(monkeypatch):
    X, calls = corpus_matrix(), []
    truth = HierNMF2(8).fit(X)
    def before(main):
        calls.append(main)
        if main and len(calls) > 5: raise KeyboardInterrupt
        time.sleep(.01 if main else .1)
    under_way = count_calls(monkeypatch, before)
    model = HierNMF2(8)
    with pytest.raises(KeyboardInterrupt): model.fit(X)
    assert not under_way
    assert_array_equal(model.labels_, truth.tree_.labels(model.n_leaves_))


BAD_INIT = [(lambda d, t: (None, None), "W0 or H0"), (lambda d, t: (None, np.ones((2, 3))), "H0 of shape"),
            (lambda d, t: (np.ones((len(d), 3)), None), "W0 of shape"), (lambda d, t: (None, -np.ones((2, len(t)))), "at least 0"),
            (lambda d, t: (None, np.full((2, len(t)), np.nan)), "finite"), (lambda d, t: np.ones(60), "a pair"), (lambda d, t: None, "a pair")]


@pytest.mark.parametrize("init, message", BAD_INIT)
def test_bad_starts_are_named(init, message):
    with pytest.raises(ValueError, match=message): HierNMF2(3, init=init).fit(corpus_matrix())


@pytest.mark.parametrize("options, message", [
    (dict(n_leaves=0), "n_leaves"), (dict(n_leaves=2.5), "n_leaves"), (dict(imbalance=.5), "imbalance"), (dict(trials=-1), "trials"), (dict(solver="cd"), "solver"),
    (dict(min_score=-1), "min_score"), (dict(side_tol=-1), "side_tol"), (dict(leaf_choice="size"), "leaf_choice"), (dict(init="nndsvd"), "init"), (dict(tol=-1), "tol"),
    (dict(max_iter=0), "max_iter"), (dict(min_iter=-1), "min_iter"), (dict(n_leaves=None), "min_score"), (dict(random_state=-1), "random_state")])
def test_bad_parameters_are_named(options, message):
    with pytest.raises(ValueError, match=message): HierNMF2(**options).fit(corpus_matrix())


@pytest.mark.parametrize("X, message", [
    (-np.ones((5, 3)), "Negative values"), (np.full((5, 3), np.nan), "NaN or inf"), (np.zeros((5, 3)), "all documents are empty"),
    (np.ones((1, 3)), "one document a row"), (np.ones(5), "1D array"), (["a text", "another"], "text_pipeline"), (sp.csr_array((0, 3)), "0 sample"),
    (np.array(["a text", "b"]), "text_pipeline"), ([["a"], ["b"]], "text_pipeline"), (np.ones((5, 0)), "trimmed"), (np.ones((5, 3))*1e80, "X.max"),
    (np.ones((5, 3))*1e-80, "X.max")])
def test_bad_matrices_are_named(X, message):
    with pytest.raises(ValueError, match=message): HierNMF2(3).fit(X)


def test_leaves_chosen_by_what_a_split_explains():
    X = sp.csr_matrix(blocks(0, (30, 20, 12, 8), 6))
    tree = HierNMF2(5, leaf_choice="error", trials=0).fit(X).tree_
    def first(docs): return np.linalg.svd(X[docs].toarray(), compute_uv=False)[0]**2
    for n, id in enumerate(tree.splits[1:], 2):
        node = tree.nodes[id]
        gain = sum(first(node.docs[node.split.side == side]) for side in (0, 1)) - first(node.docs)
        assert_allclose(node.score, gain, rtol=1e-3)
        assert node.score == max(leaf.score for leaf in tree.leaves(n))


# the tree knows its words

TEXTS = ["ball goal", "goal umpire ball", "ball umpire"]*4 + ["vote law", "law vote budget", "budget vote"]*4


@pytest.mark.parametrize("make, tree_of", [(HierNMF2, lambda model: model.tree_), (FlatNMF2, lambda model: model.hier_.tree_)])
class TestWords:
    def test_in_a_pipeline(self, make, tree_of):
        pipe = make_pipeline(text_pipeline(1, 1.0), make(2)).fit(TEXTS)
        assert tree_of(pipe[-1]).vocab.tolist() == pipe[0].get_feature_names_out().tolist()
        assert {"ball", "goal"} <= set(str(tree_of(pipe[-1])).split())
        assert pipe.get_feature_names_out().tolist() == [f"{make.__name__.lower()}_{k}" for k in range(2)]

    def test_with_a_memory(self, make, tree_of, tmp_path):
        for _ in range(2):                                       # the second time the matrix comes from a file
            pipe = make_pipeline(text_pipeline(1, 1.0), make(2), memory=str(tmp_path)).fit(TEXTS)
            assert "ball" in tree_of(pipe[-1]).vocab

    def test_of_counts_from_texts(self, make, tree_of):
        X, vocab = count_terms(TEXTS)
        assert tree_of(make(2).fit(X)).vocab.tolist() == vocab.tolist()

    def test_of_a_data_frame(self, make, tree_of):
        pd = pytest.importorskip("pandas")
        X, vocab = count_terms(TEXTS)
        frame = pd.DataFrame(X.toarray(), columns=vocab)
        model = make(2).fit(frame)
        assert tree_of(model).vocab.tolist() == vocab.tolist()
        assert model.set_output(transform="pandas").transform(frame).columns.tolist() == [f"{make.__name__.lower()}_{k}" for k in range(2)]

    def test_of_another_fit_are_forgotten(self, make, tree_of):
        X, _ = count_terms(TEXTS)
        model = make(2).fit(X)
        assert tree_of(model.fit(X.toarray())).vocab is None
        assert tree_of(model.fit(X[:, ::-1])).vocab is None

    def test_after_a_copy(self, make, tree_of):
        model = pickle.loads(pickle.dumps(make(2).fit(count_terms(TEXTS)[0])))
        assert "ball" in tree_of(model).vocab


def test_columns_have_readable_names():
    X, _ = count_terms(TEXTS*2)
    model = HierNMF2(6, trials=0).fit(X)
    assert model.get_feature_names_out().tolist() == [f"hiernmf2_{k}" for k in range(model.n_leaves_)]
    assert Rank2NMF().fit(X).get_feature_names_out().tolist() == ["rank2nmf0", "rank2nmf1"]


# the order of documents and words, and nodes that can't be split

def short_pile(n_odd=60, seed=0):
    "Four topics of short documents of unit length, and odd documents, each with a word of its own and much longer than the others"
    rng = np.random.default_rng(seed)
    X = np.zeros((400 + n_odd, 40 + n_odd))
    for i in range(400): X[i, rng.choice(10, 4, replace=False) + 10*(i % 4)] = .5
    X[np.arange(400, 400 + n_odd), np.arange(40, 40 + n_odd)] = rng.uniform(20, 40, n_odd)
    return X


@pytest.mark.slow
@pytest.mark.parametrize("options", [dict(), dict(leaf_choice="error"), dict(init="random", random_state=1), dict(solver="hals"),
                                     dict(init="random", extrapolate=False, random_state=2, max_outliers=None)])
@pytest.mark.parametrize("form", [sp.csr_array, np.asarray], ids=["sparse", "dense"])
def test_any_order_of_documents_and_words_gives_the_tree(options, form):
    X = corpus_matrix()
    model = HierNMF2(7, **options).fit(form(X))
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
        other = HierNMF2(7, **options).fit(form(X[rows][:, columns]))
        assert_array_equal(other.labels_, model.labels_[rows])
        assert_array_equal(other.components_, model.components_[:, columns])
        for id, node in model.tree_.nodes.items():
            assert other.tree_[id].score == node.score
            assert_array_equal(other.tree_[id].outliers, np.flatnonzero(np.isin(rows, node.outliers)))


def test_odd_documents_do_not_stop_the_tree():
    X = short_pile()
    with pytest.warns(UserWarning, match="can't be had"): published = HierNMF2(8, max_outliers=None).fit(X)
    assert published.n_leaves_ < 8
    model = HierNMF2(8).fit(X)
    assert model.n_leaves_ == 8
    ordinary = np.arange(400) % 4
    assert v_measure_score(ordinary, model.labels_[:400]) > .6 and np.bincount(model.labels_ + 1).max() < 230
    assert_array_equal(HierNMF2(3).fit(X).grow(8).labels_, model.labels_)


@pytest.mark.parametrize("share", [0, .02, .3])
def test_no_node_sets_more_aside_than_it_may(share):
    for X in (short_pile(30, 1), corpus_matrix()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = HierNMF2(12, max_outliers=share).fit(X).tree_
        for node in tree: assert len(node.outliers) <= share*(node.size + len(node.outliers))


def test_a_tree_ends_early_only_where_nothing_is_left_to_split():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = sp.csr_array((rng.random((40, 15)) < .12)*rng.integers(1, 3, (40, 15)), dtype=float)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = HierNMF2(40).fit(X)
        assert model.n_leaves_ < 40
        for leaf in model.tree_.leaves():
            docs = X[leaf.docs].toarray()
            docs /= np.linalg.norm(docs, axis=1, keepdims=True)
            assert leaf.size <= 3 or len(np.unique(docs.round(9), axis=0)) == 1


def test_the_cut_is_two_topics_and_their_weights():
    X = short_pile(10)[:400]
    split, (passes, read, converged) = cut_in_two(sp.csr_array(X[:, :40]), np.arange(40))
    assert converged and passes > 1 and read == passes*np.count_nonzero(X)
    record = bisect(unit_rows(X[:, :40]), n_init=CUTS).record
    assert passes == sum(any(value == value for value in row) for row in record) != CUTS               # of all trials together
    assert_allclose(np.linalg.norm(split.Ht, axis=0), 1)
    assert_allclose(split.W, naive.nnls_rows(split.Ht.astype(float), X[:, :40]), atol=1e-6)
    assert_array_equal(split.side, split.W[:,0] <= split.W[:,1])
    assert cut_in_two(sp.csr_array(np.ones((5, 3))), np.arange(3))[0] is None
    with pytest.raises(ValueError, match="max_outliers must be at most 1"): HierNMF2(max_outliers=1.5).fit(X)
    with pytest.raises(ValueError, match="max_outliers"): HierNMF2(max_outliers=-.1).fit(X)
