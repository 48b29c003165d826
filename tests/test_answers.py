"""What a fitted tree says of new documents"""
import copy
import json
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from make_saved import SUBJECTS, some_texts
from nmf2 import Corpus, TopicTree
from nmf2.answers import Expected, Signs, cosines, count_new, expected_of, holm, judge, known_signs, lower_rank, share_p, signs_of, without_itself, words_in, words_of_fit
from nmf2.data import planted_tree
from nmf2.weighting import _is_usual, count_pipeline, weigh_new

pytestmark = pytest.mark.filterwarnings("ignore::nmf2.weighting.EmptyDocumentsWarning")


@pytest.fixture(scope="module")
def corpus(): return planted_tree((3, 3), n_docs=1200, overlap=.3, noise=.2, random_state=2)

@pytest.fixture(scope="module")
def model(corpus): return TopicTree(9).fit(corpus[::2])

@pytest.fixture(scope="module")
def by_texts(): return TopicTree(4, max_df=.6).fit(some_texts(200))


# ---- signs, and each document taken as if the fit had not seen it

def test_signs():
    focus, near = signs_of(np.array([[1., 1, 1], [3, 0, 0], [2, 1, 0], [0, 0, 0]]), np.array([4, 1, 4, 0]), np.array([1., 3, 4, 0]))
    assert_allclose(focus, [1, 3, 2, 0])
    assert_allclose(near, [.5, 1, .25, 0])
    focus, near = signs_of(np.ones((2, 1)), np.ones(2))
    assert_array_equal(focus, 1)
    assert_array_equal(near, 1)


def test_the_lower_rank_counts():
    "As counted one by one"
    rng = np.random.default_rng(0)
    fit, new = Signs(*rng.random((2, 1500)).astype(np.float32)), Signs(*rng.random((2, 50)))
    among, ranks = known_signs(fit)
    assert len(among.focus) == len(among.near) == len(ranks) == 1000 and ranks.dtype == np.float32
    slow = [min((among.focus <= f).mean(), (among.near <= n).mean()) for f, n in zip(*new)]
    assert_allclose(lower_rank(new, among), slow, rtol=1e-6)
    halves = known_signs(*(Signs(*(values[some] for values in fit)) for some in (slice(0, 700), slice(700, None))))
    for own, same in zip([*halves[0], halves[1]], [*among, ranks]): assert_array_equal(own, same)


def test_models_that_know_the_focus_alone(by_texts):
    "Those of version 1 of the file, and pickles of before, whose `Expected` had the focus, sizes and a share"
    new, known = some_texts(30)[10:] + ["nothing known"], by_texts.expected_
    answers = []
    for expected in (Expected(Signs(known.signs.focus, np.zeros(0)), known.sizes, known.unknown), Expected(known.signs.focus, known.sizes, known.unknown)):
        model = copy.copy(by_texts)
        model.expected_ = expected
        answers.append(model.answers(new, plain=True))
    X = by_texts.pipeline_.transform(new)
    assert words_in(X).tolist() == words_in(X.toarray()).tolist()
    signs = signs_of(cosines(X, by_texts.tree_.leaf_topics), words_in(X))
    slow = [(known.signs.focus <= f).mean() for f in signs.focus[:-1]] + [0]
    assert answers[0] == answers[1] and [row["typical"] for row in answers[0]] == slow


def test_strangers_are_rejected():
    "A long text of which few words are known, though these are in one topic; and a short one with a word of each topic"
    rng = np.random.default_rng(0)
    subjects = [[f"{'abcd'[k]}{chr(97 + i)}{chr(97 + j)}word" for i in range(8) for j in range(4)] for k in range(4)]
    others = [f"{chr(97 + i)}{chr(97 + j)}said" for i in range(10) for j in range(10)]
    def text(k, n=40): return " ".join([*rng.choice(subjects[k], n), *rng.choice(others, n//10)])
    model = TopicTree(4, max_df=.9).fit([text(i % 4) for i in range(400)])
    own = [text(i % 4) for i in range(200)] + [text(i % 4, 6) for i in range(200)]            # short ones, too
    stranger = " ".join(subjects[0][:6] + others)                                            # is mostly about nothing
    mixed = " ".join(words[0] for words in subjects)
    assert np.mean(model.predict(own, reject=True) < 0) < .05
    assert model.predict([stranger, mixed, "nothing known"], reject=True).tolist() == [-1, -1, -1]
    assert model.predict([stranger])[0] == model.predict([text(0)])[0] and judge(model, model.pipeline_.transform([stranger])).typical[0] < .01

@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_without_itself_is_the_topic_of_the_others(dtype):
    rng = np.random.default_rng(0)
    X = rng.random((40, 12)).astype(dtype)*(rng.random((40, 12)) < .5)
    X[7] = 0
    X[10:13] = X[13]                                                 # copies
    labels = rng.integers(0, 4, 40)
    labels[7], labels[20] = -1, 4                                    # one without a topic, one alone in its topic
    unit = X.astype(float)/np.where(X.any(1), np.linalg.norm(X.astype(float), axis=1), 1)[:,None]
    def topic(rows): return np.sqrt(unit[rows].sum(0))/(np.linalg.norm(np.sqrt(unit[rows].sum(0))) or 1)
    every = np.stack([topic(np.flatnonzero(labels == k)) for k in range(5)], 1)
    C = cosines(sp.csr_array(X), every)
    assert_allclose(C, unit @ every, atol=1e-6)
    found = without_itself(sp.csr_array(X), every, labels)
    for i in range(40):
        for k in range(5):
            rows = np.flatnonzero((labels == k) & (np.arange(40) != i)) if labels[i] == k else np.flatnonzero(labels == k)
            assert found[i,k] == pytest.approx(unit[i] @ topic(rows), abs=2e-3 if dtype == np.float32 else 1e-9)
    assert_allclose(without_itself(X, every, labels), found, atol=1e-6)                       # dense documents likewise


def test_new_documents_come_to_what_was_expected(corpus, model):
    new = corpus[1::2]
    table = model.answers(new, plain=True)
    assert np.mean([row["rejected"] for row in table]) < .035        # .01 expected; 600 documents: three standard errors above
    typical = np.array([row["typical"] for row in table])
    assert abs(typical.mean() - .5) < .06 and np.mean(typical < .2) == pytest.approx(.2, abs=.06)
    assert model.expected_.sizes.sum() <= 600 and np.abs(model.expected_.sizes - [leaf.size for leaf in model.tree_.leaves()]).max() < 30
    again = expected_of(model.pipeline_.transform(corpus[::2].X), model.tree_, model.pipeline_["trim"])
    for a, b in zip([*again.signs, *again[1:]], [*model.expected_.signs, *model.expected_[1:]]): assert_array_equal(a, b)


def test_documents_like_none_are_rejected(model, corpus):
    rng = np.random.default_rng(0)
    alike_to_all = sp.csr_array(rng.poisson(.15, (200, corpus.X.shape[1])))      # words of all topics at random
    assert (model.predict(alike_to_all, reject=True) < 0).mean() > .8
    assert (model.predict(alike_to_all) >= 0).all()
    share = [(model.predict(alike_to_all, reject=level) < 0).mean() for level in (0, .01, .1, 1)]
    assert share == sorted(share) and share[0] == 0
    for wrong in (-.1, 1.1, "yes", None):
        with pytest.raises(ValueError, match="reject must be"): model.predict(alike_to_all, reject=wrong)


# ---- answers

@pytest.mark.parametrize("n", [None, 1, 3])
def test_answers_agree_with_predict_and_transform(model, corpus, n):
    new = corpus[1::6]
    shares, labels = model.transform(new, n), model.predict(new, n)
    leaves = model.tree_.leaves(n)
    for row, k, part, way in zip(model.answers(new, n, plain=True), labels, shares, model.path(new, n)):
        assert row["topic"] == k and row["title"] == model.tree_.title(leaves[k]) and row["path"][-1] == f"root/{leaves[k].id}".rstrip("/")
        assert row["share"] == pytest.approx(part[k], abs=1e-5)
        assert row["confidence"] == pytest.approx(max(part[k] - max([0, *np.delete(part, k)]), 0), abs=1e-5)
        assert [node.id for node, _ in way] == [leaves[k].id[:i] for i in range(len(leaves[k].id) + 1)]
        assert [share for _, share in way] == pytest.approx(row["shares"])
        assert row["shares"][0] == pytest.approx(1) and row["shares"] == sorted(row["shares"], reverse=True)
        assert row["shares"][-1] == pytest.approx(row["share"], abs=1e-5)


def test_shares_on_the_way_are_those_of_cuts(model, corpus):
    new = corpus[1::30]
    for i, way in enumerate(model.path(new)):
        for node, share in way:
            n = next((n for n in range(1, 10) if node.id in [leaf.id for leaf in model.tree_.leaves(n)]), None)
            assert share == pytest.approx(model.transform(new, n)[i,[leaf.id for leaf in model.tree_.leaves(n)].index(node.id)], abs=1e-5)


def test_a_table(by_texts):
    pandas = pytest.importorskip("pandas")
    new = ["ball goal umpire", "nothing known at all", "", "oven flour umpire strange"]
    table = by_texts.answers(new)
    assert isinstance(table, pandas.DataFrame) and list(table.row) == [0, 1, 2, 3]
    assert list(table.rejected) == [False, True, True, True] and list(table.topic[1:3]) == [-1, -1] and list(table.title[1:3]) == ["", ""]
    assert_allclose(table.known, [1, 0, 0, .75])
    assert list(table.path[1]) == [] and table.share[1] == table.confidence[1] == table.typical[1] == 0
    rows = by_texts.answers(new, plain=True)
    assert json.loads(json.dumps(rows)) == rows and set(rows[0]) == set(table.columns)
    assert by_texts.path("nothing known at all") == [] and by_texts.path(new)[0] == by_texts.path(new[0])
    assert by_texts.path(new[0])[0][0].id == "" and by_texts.tree_.title(by_texts.path(new[0])[-1][0])


def test_words_are_counted_once_and_the_same(by_texts):
    new = some_texts(40, 9) + ["strange words and strange", "ball Ball BALL"]
    counted = count_new(by_texts, new)
    expected = by_texts.pipeline_["count"].transform(new)
    assert (sp.csr_array(counted.counts) != expected).nnz == 0
    assert counted.strange == [("strange", 1), ("words", 1)]
    assert_allclose(counted.known[-2:], [0, 1])


def test_words_of_counts(corpus, model):
    words = list(corpus.vocab)
    other = Corpus(X=sp.hstack([corpus.X[:50,:200], sp.csr_array(np.ones((50, 1)))]), vocab=[*words[:200], "strange"])
    counted = count_new(model, other)
    assert counted.strange[0] == ("strange", 50) and (counted.known < 1).all()
    plain = count_new(model, corpus.X[:50])
    assert plain.known.min() > .9 and plain.counts.shape[1] == corpus.X.shape[1]
    bare = TopicTree(9).fit(corpus.X[:300])
    assert len(bare.answers(corpus.X[300:310], plain=True)) == 10


def test_a_loaded_model_answers_the_same(by_texts, tmp_path):
    by_texts.save(tmp_path/"m")
    again = TopicTree.load(tmp_path/"m")
    new = some_texts(60, 4) + ["strange words", ""]
    assert again.answers(new, plain=True) == by_texts.answers(new, plain=True)
    assert str(again.drift(new)) == str(by_texts.drift(new))


# ---- drift

def test_holm_and_fisher():
    assert_allclose(holm(np.array([.01, .04, .03, .005])), [.03, .06, .06, .02])
    assert share_p(1, 10, 9, 10) == pytest.approx(.0011, abs=1e-4) and share_p(5, 10, 50, 100) == 1


def test_false_alarms_are_rare(corpus, model):
    "Forty samples of the same: any topic that changed, in about 5 % of them at most"
    new, rng = corpus[1::2], np.random.default_rng(0)
    alarms = [bool(model.drift(new[rng.choice(600, 200, replace=False)]).changed()) for _ in range(40)]
    assert sum(alarms) <= 5


def test_a_topic_that_grows_is_seen(model, corpus):
    new = corpus[1::2]
    leaf = model.predict(new)
    more = np.concatenate([np.flatnonzero(leaf == 4), np.flatnonzero(leaf != 4)[:150]])
    drift = model.drift(new[more])
    assert drift.topics[0].node == f"root/{model.tree_.leaves()[4].id}" and drift.topics[0].share > drift.topics[0].expected
    assert drift.topics[0].p < .01 and "grows" in str(drift)
    assert sum(change.share for change in drift.topics) == pytest.approx(1) == sum(change.expected for change in drift.topics)


def test_new_words_are_seen(by_texts):
    drift = by_texts.drift([text + " penalty" for text in some_texts(50, 3)] + ["nothing"])
    assert drift.words[0] == ("penalty", 50) and drift.unknown > .1 > drift.expected and drift.topicless == 1 and drift.n_docs == 51
    assert "penalty (50)" in str(drift)
    quiet = by_texts.drift(some_texts(50, 3))
    assert quiet.words == [] and quiet.unknown == 0 and "expected" in str(quiet)
    assert len(by_texts.drift(["penalty kick"]*3 + some_texts(5), n_words=1).words) == 1


@pytest.mark.parametrize("ask", ["predict", "answers", "path", "drift"])
def test_bad_documents(by_texts, ask):
    with pytest.raises(ValueError, match="documents must be texts"): getattr(by_texts, ask)(np.ones((2, 3)))
    with pytest.raises(ValueError, match="n must be at most 4"): getattr(by_texts, ask)(some_texts(3), n=9)
    if ask in ("predict", "answers", "drift"):
        with pytest.raises(ValueError, match="reject must be"): getattr(by_texts, ask)(some_texts(3), reject=7)


def test_one_topic_and_a_tokenizer():
    one = TopicTree(1, max_df=1.).fit(some_texts(30))
    assert [row["rejected"] for row in one.answers(["ball goal", "unknown"], plain=True)] == [False, True]
    cut = TopicTree(4, tokenizer=str.split, max_df=.6).fit(some_texts(80))
    assert cut.answers(some_texts(2, 1), plain=True)[0]["known"] == 1
    assert set(SUBJECTS[0]) & set(cut.tree_.top_terms(cut.path("ball goal league")[-1][0]))


def test_a_corpus_for_a_model_without_words():
    corpus = planted_tree((2, 2), 120, random_state=0)
    model = TopicTree(4).fit(corpus.X)
    assert model.answers(corpus, plain=True) == model.answers(corpus.X, plain=True)
    assert model.drift(corpus).unknown == model.drift(corpus.X).unknown


# ---- what is kept for the next documents

def bits(X): return (X.data.tobytes(), X.indices.tolist(), X.indptr.tolist(), X.dtype, X.shape)

@pytest.mark.parametrize("dtype", [np.float32, np.float64, None])
@pytest.mark.parametrize("kind", ["plain", "long indices", "64 bit counts", "a word in all", "hardly any words"])
def test_new_documents_are_weighed_as_by_the_pipeline(corpus, dtype, kind):
    old, new = (sp.csr_array(corpus.X[rows], dtype=np.int64 if kind == "64 bit counts" else np.float64) for rows in (np.s_[:300], np.s_[300:420]))
    if kind == "a word in all": old = sp.csr_array(np.where(np.arange(old.shape[1]) == 3, 1, old.toarray()))
    if kind == "hardly any words": new = sp.csr_array(new.multiply(np.random.default_rng(0).random(new.shape) < .02))
    if kind == "long indices": new.indices, new.indptr = new.indices.astype(np.int64), new.indptr.astype(np.int64)
    pipe = count_pipeline(min_df=1, max_df=1., dtype=dtype).fit(old)
    assert _is_usual([step for _, step in pipe.steps])                  # else both ways are one
    before, expected = new.toarray(), pipe.transform(new)
    assert bits(weigh_new(pipe, new)) == bits(expected) and (new.toarray() == before).all()
    assert bits(sp.vstack([weigh_new(pipe, new[[i]]) for i in range(20)], "csr")) == bits(expected[:20])
    assert_array_equal(weigh_new(pipe, before), pipe.transform(before))

def test_other_pipelines_are_left_to_themselves(corpus):
    for options in (dict(normalized_cut=False), dict(sublinear_tf=False)):
        pipe = count_pipeline(**options).fit(corpus.X[:300])
        assert bits(sp.csr_array(weigh_new(pipe, corpus.X[300:350]))) == bits(sp.csr_array(pipe.transform(corpus.X[300:350])))
    assert not _is_usual([step for _, step in count_pipeline().set_output(transform="pandas").steps])
    with pytest.raises(ValueError, match="aren't counts"): weigh_new(count_pipeline().fit(corpus.X[:300]), corpus.X[:5]*.5)

def test_texts_are_weighed_as_by_the_pipeline(by_texts):
    new = some_texts(30)[10:] + ["nothing known", ""]
    assert bits(weigh_new(by_texts.pipeline_, new)) == bits(by_texts.pipeline_.transform(new))

def everything(model, new):
    answers = {name: list(column) for name, column in model.answers(new).items() if name != "row"}
    return model.predict(new).tolist(), model.predict(new, reject=.2).tolist(), model.predict(new, n=3).tolist(), model.transform(new).tolist(), answers

def test_a_document_alone_is_answered_as_among_others(corpus, model):
    new = sp.csr_array(corpus.X[1:100:2].toarray()*(np.arange(50) != 4)[:,None])
    many = everything(model, new)
    for i in range(new.shape[0]):
        one = everything(model, new[[i]])
        assert all(a[0] == b[i] for a, b in zip(one[:4], many[:4])), i
        assert all(one[4][name][0] == many[4][name][i] for name in many[4]), i

def test_what_is_kept_is_that_of_the_tree_as_it_is(corpus, tmp_path):
    model, new = TopicTree(6).fit(corpus[::4]), corpus.X[1:200:2]
    model.predict(new)
    for step in (lambda: model.split("0"*next(n for n in range(9) if "0"*n in {leaf.id for leaf in model.tree_.leaves()})), lambda: model.refit(),
                 lambda: model.update(corpus[1::4]), lambda: model.undo(), lambda: model.grow(8)):
        step()
        found = everything(model, new)
        model.save(tmp_path/"model.nmf2")
        assert everything(TopicTree.load(tmp_path/"model.nmf2"), new) == found
        assert everything(pickle.loads(pickle.dumps(model)), new) == everything(copy.deepcopy(model), new) == found

def test_nothing_is_kept_in_the_model_itself(corpus):
    model = TopicTree(6).fit(corpus[::4])
    before, names = len(pickle.dumps(model)), set(vars(model))
    everything(model, corpus.X[:50])
    assert len(pickle.dumps(model)) == before and set(vars(model)) == names
    with pytest.raises(ValueError, match="read-only"): model.tree_.leaf_topics[0,0] = 1
    given = np.eye(model.tree_.n_terms)[:,:2]
    model.tree_.leaf_topics = given
    given[0,0] = 7                                                         # what was given is the caller's, and the tree has its own
    assert model.tree_.leaf_topics[0,0] == 1 and model.tree_.leaf_topics.shape == given.shape
    with pytest.raises(ValueError, match="read-only"): model.components_[0,0] = 1

def test_first_questions_at_the_same_time(corpus, model):
    model, new = pickle.loads(pickle.dumps(model)), corpus.X[1:200:2]
    with ThreadPoolExecutor(8) as pool: found = list(pool.map(lambda _: everything(model, new), range(16)))
    assert all(some == found[0] for some in found) and found[0] == everything(model, new)

def test_words_are_those_of_the_last_fit(corpus):
    trim = count_pipeline(vocab=corpus.vocab)[0].fit(corpus.X[:100])
    first = words_of_fit(trim)
    assert words_of_fit(trim) is first and first.place[corpus.vocab[7]] == 7
    trim.fit(corpus.X[:50])
    assert words_of_fit(trim) is not first and words_of_fit(trim).known.sum() < first.known.sum()


# ---- which words

def edited(model):
    "A copy with topics that lead elsewhere: merged with one that isn't beside it, split, and taken out again"
    model = pickle.loads(pickle.dumps(model))
    leaves = model.tree_.leaves()
    model.merge(leaves[0], leaves[-1])
    model.split(model.tree_.leaves()[1])
    return model

@pytest.mark.parametrize("change", [None, edited])
def test_words_add_up_to_shares(by_texts, change):
    model = change(by_texts) if change else by_texts
    rng = np.random.default_rng(0)
    words = sorted({word for text in some_texts(40) for word in text.split()})
    texts = [*some_texts(30), *(" ".join(rng.choice(words, n)) for n in rng.integers(1, 9, 200)), "nothing known", ""]
    assert model.explain(text for text in texts[:3]) == model.explain(texts[:3])
    found, shares, leaves = model.explain(texts), model.transform(texts), [leaf.id for leaf in model.tree_.leaves()]
    assert len(found) == len(texts) and model.explain(texts[3]) == found[3]
    for one, own, label, text in zip(found, shares, model.predict(texts), texts):
        if label < 0:
            assert one.id is None and not one.words and str(one).startswith("no topic")
            continue
        assert one.id == leaves[label] and one.share == pytest.approx(own[label], abs=1e-5) and one.title == model.tree_.title(one.id)
        assert sum(here for _, here, _ in one.words) == pytest.approx(one.share, abs=1e-5)
        assert sum(there for *_, there in one.words) == pytest.approx(one.other_share, abs=1e-5)
        others = np.delete(own, label)
        assert one.other_share == pytest.approx(others.max(), abs=1e-5) and (one.other is None) == (others.max() < 1e-9)
        if one.other is not None: assert own[leaves.index(one.other)] == pytest.approx(one.other_share, abs=1e-5)
        gaps = [abs(here - there) for _, here, there in one.words]
        assert gaps == sorted(gaps, reverse=True)
        assert {word for word, *_ in one.words} <= set(model.vocab_) & set(text.lower().split())

def test_words_of_a_mixture_by_hand():
    "Two topics of one word each and one that they share: solved on paper"
    model = TopicTree(2, min_df=1, max_df=1., stop_words=None, random_state=0).fit(["goal both"]*9 + ["vote both"]*9)
    X = model.pipeline_.transform(["goal vote both"]).toarray()[0]
    H = model.tree_.leaf_topics.astype(float)
    w = np.linalg.solve(H.T @ H, H.T @ X)
    assert (w > 0).all()
    reason = model.explain("goal vote both")
    k = int(w.argmax())
    for word, here, there in reason.words:
        x = np.where(model.vocab_ == word, X, 0)
        assert [here, there] == pytest.approx(np.linalg.solve(H.T @ H, H.T @ x)[[k, 1 - k]]/w.sum(), abs=1e-5)

def test_unknown_words_are_told(by_texts):
    reason = by_texts.explain("zorg blim")
    assert reason.id is None and sorted(reason.unknown) == ["blim", "zorg"] and str(reason).endswith("not known: blim, zorg")
    text = some_texts(3)[0]
    assert by_texts.explain(f"{text} zorg").unknown == [*by_texts.explain(text).unknown, "zorg"]
    with pytest.raises(ValueError, match="documents must be in one piece here"): by_texts.explain(pytest.importorskip("dask.bag").from_sequence(["goal", "vote"], npartitions=2))

def test_words_of_counts(corpus, model):
    new = corpus.X[1:40:2].tocsr()
    new.data[:3] = 0                                          # stored
    for one, own in zip(model.explain(new), model.transform(new)):
        assert one.share == pytest.approx(own.max(), abs=1e-5) and sum(here for _, here, _ in one.words) == pytest.approx(one.share, abs=1e-5) and not one.unknown
        assert len(str(one).splitlines()) <= 12


def test_documents_without_a_topic_are_like_none_of_the_fit():
    corpus = planted_tree((3, 2), n_docs=400, overlap=.3, noise=.2, random_state=0)
    none = sp.csr_array((90, corpus.X.shape[1]))
    model, some = TopicTree(4).fit(corpus), sp.vstack([corpus.X[:10], none], format="csr")
    drift, answers = model.drift(some), model.answers(some, plain=True)
    assert drift.topicless == 90 <= drift.rejected == sum(answer["rejected"] for answer in answers) and drift.level == .01
    assert drift.p < 1e-50 and f"like none of the fit: {drift.rejected}.0%, expected 1.0%" in str(drift)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TopicTree(4).fit(sp.vstack([corpus.X, none], format="csr"))
    drift = model.drift(sp.vstack([corpus.X, none], format="csr"))
    assert drift.level == pytest.approx((.01*400 + 90)/490) and drift.p > .5


@pytest.mark.parametrize("true", [True, np.True_])
def test_reject_is_true_in_numpy_as_well(true):
    corpus = planted_tree((3, 2), n_docs=400, overlap=.3, noise=.2, random_state=0)
    model = TopicTree(4).fit(corpus)
    assert_array_equal(model.predict(corpus, reject=true), model.predict(corpus, reject=.01))
