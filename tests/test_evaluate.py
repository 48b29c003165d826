"""Measures of clusters, trees and topics: against slow twins, scikit-learn, and values by hand"""
import warnings
from types import SimpleNamespace

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from naive import Frame
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import metrics

from nmf2 import evaluate
from nmf2.data import Corpus
from nmf2.evaluate import (AVERAGES, accuracy, ami, ari, best_matching, confusion, contingency, dasgupta_cost,
                           dendrogram_purity, entropy, group_numbers, mutual_information, nmi, nmi_by_level, nmi_by_split,
                           npmi_coherence, purity, scores, top_numbers, topic_diversity, tree_f_score, umass_coherence)
from nmf2.tree import Tree


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


@pytest.mark.no_estimator
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
    (range(6), range(6)),
    (range(6), [0, 0, 1, 1, 2, 2]), ([0, 0, 1, 1, 2, 2], range(6)), ([5], [7]), ([0, 1]*3, [0, 0, 1, 1, 0, 1])])
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
    (None, "NoneType"), ([[0], [1]], "nmi_by_level"), ([0, (1, 2)], "nmi_by_level"), ([[[1], [1, 2]]], "nmi_by_level"),
    (np.array([(1, 2), 1, None], dtype=object), "nmi_by_level"), (np.zeros((3, 2)), "nmi_by_level"), (np.zeros((3, 1)), "nmi_by_level"),
    ([0, None], r"\[1\] is None"), (["a", float("nan")], r"\[1\] is nan"), (np.array([0, np.nan]), r"\[1\] is nan"),
    ([.5, 1.], "number of its group"), (["1", 1], "has both"), (np.array(["a", 1], dtype=object), "has both"),
    ([1j, 2], "complex"), (sp.csr_array([[1, 0]]), "csr_array"), (np.array(3), "type ndarray")])
def test_wrong_labels_are_named(values, said):
    with pytest.raises(ValueError, match=said): group_numbers(values, "labels")
    with pytest.raises(ValueError, match="^labels"): nmi(values, [0, 1])
    with pytest.raises(ValueError, match="^classes"): nmi([0, 1], values)


def test_floats_too_large_to_be_told_apart_are_no_labels():
    for values in ([1e30, 2e30], [2.**53, 0.], np.array([2**24, 0], np.float32), np.array([-1e300, 0]), [2**63, -1]):
        with pytest.raises(ValueError, match="^labels has floats of"): accuracy(values, [0, 1])
    for values in ([2**62, 2**62 + 1], [2.**53 - 1, 2.**53 - 2], np.array([2**24 - 1, 2**24 - 2], np.float32)):
        assert accuracy(values, [0, 1]) == 1


def test_wrong_options_are_named():
    for base in ("x", None, 1, np.nan):
        with pytest.raises(ValueError, match="^base must"): mutual_information([0], [0], base=base)
    with pytest.raises(ValueError, match="3 labels and 2 classes"): nmi([0, 1, 1], [0, 1])
    with pytest.raises(ValueError, match="average must"): nmi([0], [0], average="mean")
    with pytest.raises(ValueError, match="average must"): nmi([0], [0], average=["max"])
    with pytest.raises(ValueError, match="outliers must"): accuracy([0], [0], outliers=np.array([1, 2]))
    with pytest.raises(ValueError, match="outliers must"): accuracy([0], [0], outliers="out")
    with pytest.raises(ValueError, match="unlabelled must"): accuracy([0], [0], unlabelled="no")
    with pytest.raises(ValueError, match="base"): mutual_information([0], [0], base=1)


def test_single_labels_never_change_the_input():
    found, truth = drawn(1)
    kept = found.copy(), truth.copy()
    scores(found, truth), confusion(found, truth, "drop")
    assert_array_equal(found, kept[0]), assert_array_equal(truth, kept[1])


# ---- trees

def random_tree(seed, n=40, leaves=6):
    "A tree that splits at random and sets documents aside at random, at the root too"
    rng = np.random.default_rng(seed)
    tree = Tree(n, np.ones(3))
    def add(id, docs):
        odd = rng.random(len(docs)) < rng.choice([0, .15])
        odd &= len(docs) - odd.cumsum() > 2
        tree.add(id, docs[~odd], docs[odd])
    add("", rng.permutation(n))
    while tree.n_leaves < leaves:
        leaf = max(tree.leaves(), key=lambda node: node.size*rng.random())
        if leaf.size < 2: break
        cut = rng.integers(1, leaf.size)
        tree.splits.append(leaf.id)
        for side, docs in enumerate((leaf.docs[:cut], leaf.docs[cut:])): add(leaf.id + str(side), docs)
    return tree, rng.integers(4, size=n), rng.random((n, 5))*(rng.random((n, 5)) < .4)


@pytest.mark.parametrize("seed", range(8))
def test_tree_measures_are_sums_over_all_pairs(seed):
    tree, truth, X = random_tree(seed, leaves=1 + seed)
    assert seed < 2 or any(len(node.outliers) for node in tree)
    assert_allclose(dendrogram_purity(tree, truth), naive.dendrogram_purity(tree, truth.tolist()), rtol=1e-12)
    assert_allclose(tree_f_score(tree, truth), naive.tree_f_score(tree, truth.tolist()), rtol=1e-12)
    assert_allclose(dasgupta_cost(tree, X), naive.dasgupta_cost(tree, X), rtol=1e-10)
    assert_allclose(dasgupta_cost(tree, sp.csr_matrix(X)), naive.dasgupta_cost(tree, X), rtol=1e-10)
    assert_allclose(dasgupta_cost(tree, sp.csr_array(X.astype(np.float32))), naive.dasgupta_cost(tree, X), rtol=1e-5)
    flat = Tree(len(X), np.ones(5))
    flat.add("", range(len(X)))
    assert_allclose(dasgupta_cost(tree, X, relative=True), naive.dasgupta_cost(tree, X)/naive.dasgupta_cost(flat, X), rtol=1e-10)
    assert_allclose(dasgupta_cost(flat, X, relative=True), 1)
    some = [None if i % 4 == 0 else int(c) for i, c in enumerate(truth)]
    known = np.array([-1 if c is None else c for c in some])
    with pytest.raises(ValueError, match="no class"): dendrogram_purity(tree, known)
    assert_allclose(dendrogram_purity(tree, known, "drop"), naive.dendrogram_purity(tree, some), rtol=1e-12)
    assert_allclose(tree_f_score(tree, known, "drop"), naive.tree_f_score(tree, some), rtol=1e-12)


@pytest.mark.no_estimator
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("outliers", ["cluster", "drop"])
def test_nmi_by_split_is_nmi_of_every_cut(seed, outliers):
    tree, truth, _ = random_tree(seed, leaves=1 + 2*seed)
    for classes, said in ((truth, "error"), (np.where(truth == 3, -1, truth), "drop"), (np.zeros(40, int), "error"),
                          (np.arange(40), "error")):
        for average in AVERAGES:
            cuts = [nmi(tree.labels(n), classes, outliers, said, average=average) for n in range(2, tree.n_leaves + 1)]
            assert_allclose(nmi_by_split(tree, classes, outliers, said, average=average), cuts, rtol=1e-10, atol=1e-12)


def test_nmi_by_level():
    tree, truth, _ = random_tree(3)
    table = np.stack([truth, truth % 2], 1)
    each = [nmi(tree.labels(), column, average="max") for column in table.T]
    words = np.array(["a", "b", "c", "d"], dtype=object)[table]
    for levels in (table, [truth, truth % 2], (truth.tolist(), (truth % 2).tolist()), words):
        assert_allclose(nmi_by_level(tree, levels, average="max"), each)
        assert_allclose(nmi_by_level(tree.labels(), levels, average="max"), each)
    assert_allclose(nmi_by_level(tree, truth), nmi_by_level(tree, [truth.tolist()]))
    assert_allclose(nmi_by_level(tree, truth.tolist()), [nmi(tree.labels(), truth)])
    for wrong in (table.tolist(), [], "ab", 3, [truth[:5]]):
        with pytest.raises(ValueError, match="class_levels"): nmi_by_level(tree, wrong)
    with pytest.raises(ValueError, match="tree_or_labels must be .* type int"): nmi_by_level(5, table)


def test_perfect_trees_and_senseless_classes():
    tree, _, _ = random_tree(5, leaves=5)
    alone = np.arange(40)
    assert dendrogram_purity(tree, alone) == 1 and dendrogram_purity(tree, np.zeros(40, int)) == 1
    pure = Tree(6, np.ones(2))
    pure.add("", range(6)), pure.add("0", [0, 1, 2]), pure.add("1", [3, 4, 5])
    pure.splits = [""]
    classes = list("aaabbb")
    assert dendrogram_purity(pure, classes) == tree_f_score(pure, classes) == nmi_by_split(pure, classes)[0] == 1
    assert_allclose(dasgupta_cost(pure, np.repeat(np.eye(2), 3, 0)), 2*3*3)
    for measure in (dendrogram_purity, tree_f_score, nmi_by_split):
        with pytest.raises(ValueError, match="6 documents, got 3"): measure(pure, "a b c".split())
        with pytest.raises(ValueError, match="tree must be"): measure(alone, alone)
        with pytest.raises(ValueError, match="none has a class"): measure(pure, [""]*6, unlabelled="drop")


def test_a_fitted_model_stands_for_its_tree():
    tree, truth, X = random_tree(4)
    model = SimpleNamespace(tree_=tree)
    for measure in (dendrogram_purity, tree_f_score, nmi_by_split, nmi_by_level):
        assert_array_equal(measure(model, truth), measure(tree, truth))
    assert dasgupta_cost(model, X) == dasgupta_cost(tree, X)


# ---- topics

WORDS = list("abcdefgh")

def texts_of(seed, n=30):
    rng = np.random.default_rng(seed)
    texts = [[str(w) for w in rng.choice(WORDS + ["the", "xx"], size=rng.integers(0, 12))] for _ in range(n)]
    X = np.array([[text.count(w) for w in WORDS] for text in texts], float)
    return texts, X, rng.random((3, 8))*(rng.random((3, 8)) < .8)


@pytest.mark.no_estimator
@pytest.mark.parametrize("seed", range(4))
def test_coherence_is_its_definition_whatever_is_counted_in(seed):
    texts, X, H = texts_of(seed)
    tops = [[WORDS[j] for j in sorted(range(8), key=lambda j: -h[j])[:5] if h[j] > 0] for h in H]
    sets = naive.word_sets(texts)
    long = [" ".join(w*2 for w in text) for text in texts]                        # words in texts have two letters at least
    double, corpus = [w*2 for w in WORDS], Corpus(X=X, vocab=WORDS)
    for reference, vocab in ((X, None), (sp.csr_matrix(X), None), (sp.coo_array(X), None), (texts, WORDS), (corpus, None),
                             (Corpus(X=X[:,::-1], vocab=WORDS[::-1]), WORDS), (long, double)):
        for eps in (1., .1):
            found = umass_coherence(H, reference, 5, eps, vocab=vocab)
            assert_allclose(found.topics, [naive.umass(top, sets, eps) for top in tops], rtol=1e-12)
            assert_allclose(found.mean, found.topics.mean())
        assert_allclose(npmi_coherence(H, reference, 5, vocab=vocab).topics, [naive.npmi(top, sets) for top in tops], rtol=1e-10)
    numbers = [[WORDS.index(w) for w in top] for top in tops]
    assert_allclose(umass_coherence(numbers, X, 5).topics, umass_coherence(H, X, 5).topics)
    assert_allclose(umass_coherence(tops, X, 5, vocab=WORDS).topics, umass_coherence(H, X, 5).topics)
    assert_allclose(umass_coherence(tops, texts, 5).topics, umass_coherence(H, X, 5).topics)


@pytest.mark.parametrize("window", [2, 3, 10])
def test_windows_slide_along_the_words(window):
    for seed in range(3):
        texts, X, H = texts_of(seed, 20)
        tops = [[WORDS[j] for j in sorted(range(8), key=lambda j: -h[j])[:5] if h[j] > 0] for h in H]
        sets = naive.word_sets(texts, window)
        there = npmi_coherence(H, texts, 5, window=window, vocab=WORDS)
        assert_allclose(there.topics, [naive.npmi(top, sets) for top in tops], rtol=1e-10)
        strings = Corpus([" ".join(w*2 for w in text) for text in texts])
        there = npmi_coherence(H, strings, 5, window=window, vocab=[w*2 for w in WORDS])
        assert_allclose(there.topics, [naive.npmi(top, sets) for top in tops], rtol=1e-10)


def test_words_are_found_in_texts_with_points():
    texts, tops = ["זַיְנַב עִם סֵפֶר", "סֵפֶר İçerik", "זינב ספר", "içerik"], [["זינב", "ספר"], ["içerik", "ספר"]]
    bare = ["זינב עם ספר", "ספר içerik", "זינב ספר", "içerik"]
    for measure in (umass_coherence, npmi_coherence):
        found = measure(tops, texts, 2)
        assert found.n_words.tolist() == [2, 2]
        assert_allclose(found.topics, measure(tops, bare, 2).topics)


def test_blocks_of_texts_add_up(monkeypatch):
    texts, X, H = texts_of(1, 25)
    whole = npmi_coherence(H, texts, 5, window=3, vocab=WORDS).topics
    once = evaluate._windows
    monkeypatch.setattr(evaluate, "_windows", lambda *args: once(*args, at_once=17))
    assert_allclose(npmi_coherence(H, texts, 5, window=3, vocab=WORDS).topics, whole, rtol=1e-12)


def test_words_that_do_not_occur_are_left_out_with_a_warning():
    texts, X, H = texts_of(2)
    sets = naive.word_sets(texts)
    with pytest.warns(UserWarning, match="1 of the 4 top words"):
        found = umass_coherence([["a", "nowhere", "b", "c"]], texts)
    assert_allclose(found.topics, [naive.umass(["a", "b", "c"], sets)])
    assert found.n_words.tolist() == [3]
    with pytest.warns(UserWarning): found = npmi_coherence([["a", "nowhere"], ["a", "b"]], X, vocab=WORDS)
    assert np.isnan(found.topics[0]) and found.mean == found.topics[1]
    X[:,3] = 0
    with pytest.warns(UserWarning): assert umass_coherence([[3, 0, 1]], X).topics == umass_coherence([[0, 1]], X).topics
    with pytest.warns(UserWarning): assert np.isnan(umass_coherence([["no", "none"]], Corpus(X=X, vocab=WORDS)).mean)


def test_capitals_count_where_a_term_has_one():
    texts = ["the US and us", "us, the team", "US Senate", "senate of the US"]
    small, capital = ([int(x) for x in npmi_coherence([words], texts, vocab=vocab).n_words] for words, vocab in (
        (["us", "senate"], ["senate", "team", "us"]), (["US", "us", "Senate", "senate"], ["Senate", "US", "senate", "us"])))
    assert small == [2] and capital == [4]
    def both(words, vocab): return umass_coherence([words], texts, vocab=vocab).mean
    np.testing.assert_allclose(both(["us", "senate"], ["senate", "team", "us"]), np.log((2 + 1)/4))          # all texts have one or the other
    np.testing.assert_allclose(both(["US", "senate"], ["US", "senate"]), np.log((1 + 1)/3))                  # US in three, with senate in one
    np.testing.assert_allclose(both(["US", "senate"], None), np.log((1 + 1)/3))                              # a topic's own words say it, too


def test_words_that_are_everywhere_or_never_meet():
    X = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 0, 1]])
    assert npmi_coherence([[0, 1], [2, 3]], X).topics.tolist() == [1, -1]


def test_explicit_zeros_and_repeated_entries_are_no_occurrences():
    X = sp.csr_matrix((np.array([1., 0., 2., 1., -1.]), (np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 0, 0]))), shape=(2, 3))
    raw = sp.csr_matrix((np.array([1., 0., 2., 1., -1.]), np.array([0, 1, 2, 0, 0]), np.array([0, 3, 5])), shape=(2, 3))
    with pytest.warns(UserWarning, match="1 of the 3"):
        assert_allclose(umass_coherence([[0, 2, 1]], raw).topics, np.log(2))
    assert raw.nnz == 5 and X.shape == raw.shape


def test_topic_diversity():
    H = np.array([[3., 2, 1, 0], [0, 1, 2, 3]])
    assert topic_diversity(H, 2) == 1 and topic_diversity(H, 3) == 4/6 and topic_diversity(H) == 4/6
    assert topic_diversity([[0, 1, 2], [3, 2, 1]], 3) == 4/6 and topic_diversity([["x", "y"], ["x", "y"]]) == .5
    assert topic_diversity(sp.csr_array(H), 3) == 4/6
    with pytest.raises(ValueError, match="no words"): topic_diversity(np.zeros((2, 3)))


def test_topics_come_in_many_forms_and_wrong_ones_are_named():
    H = np.array([[.1, .7, 0, .2], [0, 0, .5, .5]])
    class Model: components_ = H
    for topics in (H, Model(), sp.csr_matrix(H), [[1, 3, 0], [2, 3]], ([1, 3, 0], np.array([2, 3])),
                   [["b", "d", "a"], ["c", "d"]]):
        assert [t.tolist() for t in top_numbers(topics, 3, 4, WORDS[:4])] == [[1, 3, 0], [2, 3]]
    with pytest.raises(ValueError, match="vocab has 5 terms, and 4"): top_numbers(H, 3, 4, WORDS[:5])
    spoiled = np.where(H > .6, np.nan, H)
    for topics, said in ((H[:0], "at least one"), (spoiled, "topics contain NaN"), (sp.csr_array(spoiled), "topics contain NaN"),
                         (np.where(H > .6, np.inf, H), "NaN or inf"),
                         ([[1, -1]], "term -1; the first is number 0"), ([[.1, .9]], "array"), (["a", "b"], "a list for each"),
                         ("ab", "a list for each"), ([], "a list for each"),
                         (3, "a list"), ([["a", 1]], "numbers of terms"), ([[7]], "beyond the 4"), ([[True, 2]], "numbers of"),
                         (np.zeros((2, 3)), "3 terms, and 4")):
        with pytest.raises(ValueError, match=said): top_numbers(topics, 3, 4)


def test_topics_and_references_may_be_data_frames():
    texts, X, H = texts_of(0)
    for topics, reference in ((Frame(H), X), (H, Frame(X)), (Frame(H), Frame(X))):
        assert_array_equal(umass_coherence(topics, reference, 5).topics, umass_coherence(H, X, 5).topics)
    assert topic_diversity(Frame(H)) == topic_diversity(H)


def test_what_coherence_cannot_use_is_named():
    H, X, words = np.array([[.1, .7, 0, .2], [0, 0, .5, .5]]), np.eye(4), WORDS[:4]
    for call, said in ((lambda: umass_coherence(H, X, eps=0), "eps"), (lambda: umass_coherence(H, X, n=0), "n must"),
                       (lambda: npmi_coherence(H, X*np.nan), "X must hold finite"),
                       (lambda: npmi_coherence(H, -X), "nonnegative"),
                       (lambda: umass_coherence(H, sp.csr_array(-X)), "X must"), (lambda: umass_coherence(H, X*1j), "X must"),
                       (lambda: umass_coherence(H, X.astype(str)), "X must"),
                       (lambda: umass_coherence(H, X.astype(object)), "X must"),
                       (lambda: umass_coherence(H[:0], X), "at least one"),
                       (lambda: umass_coherence(H*np.nan, X), "topics contain"),
                       (lambda: umass_coherence(H, X, vocab=words[:3]), "vocab has 3 terms, and 4"),
                       (lambda: umass_coherence([["a", "b"]], X, vocab=WORDS), "vocab has 8 terms"),
                       (lambda: umass_coherence([["a", "b"]], X, vocab=["a", "b", "c", "a"]), "vocab has 'a' 2 times"),
                       (lambda: npmi_coherence([["aa", "bb"]], ["aa bb"], vocab=["bb", "aa", "bb", "bb"]), "vocab has 'bb' 3 times"),
                       (lambda: umass_coherence(H, X[:0]), "X has no documents"),
                       (lambda: umass_coherence(H, sp.csr_array(X[:0])), "X has no documents"),
                       (lambda: umass_coherence([[0, -1]], X), "term -1"),
                       (lambda: npmi_coherence(H, X, window=5), "order"),
                       (lambda: npmi_coherence(H, ["a"], window=1, vocab=words), "window"),
                       (lambda: npmi_coherence(H, Corpus(X=X), window=5), "counts only"),
                       (lambda: npmi_coherence(H, ["a text"]), "vocab must"),
                       (lambda: npmi_coherence(H, "a text", vocab=words), "got str"),
                       (lambda: umass_coherence(H, None), "X must be .* got NoneType"),
                       (lambda: npmi_coherence(H, [], vocab=words), "at least one"),
                       (lambda: npmi_coherence(H, [1, 2], vocab=words), "strings"),
                       (lambda: npmi_coherence([["a"]], X), "together with vocab")):
        with pytest.raises(ValueError, match=said): call()


@pytest.mark.parametrize("word, text", [("cafe\u0301", "cafe\u0301 rouge"), ("שָׁלוֹם", "שָׁלוֹם rouge"), ("i\u0307çerik", "İçerik rouge"), ("cafe\u0301", "café rouge"), ("сімʼя", "сім'я rouge")])
def test_words_are_found_however_they_are_composed(word, text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score = npmi_coherence([[word, "rouge"]], [text, text, "something else"], window=None)
    assert_allclose(score.mean, 1)
