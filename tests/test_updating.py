"""A fitted TopicTree with more topics and more documents: nothing is lost, ids stay, undo restores the bits"""
import json
import pickle
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import naive
from make_saved import SUBJECTS, some_texts
from nmf2 import Corpus, TopicTree, load
from nmf2.data import planted_tree
from nmf2.cli import as_options
from nmf2.editing import matrix_of, shape_of
from nmf2.updating import in_new_words, FEW, TOGETHER, Updated, best_cut, new_topics, times_as_often, weighed_anew, what_is_known, with_new_ids
from test_editing import assert_sound, assert_told, bits, cheap, fitted, leaf, made

# ---- random steps

NAMES = ("split", "merge", "join", "move", "drop_words", "refit", "keep", "rename", "grow", "grow", "update", "update", "update", "undo", "undo", "redo",
         "load", "predict")
steps = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 60), st.integers(0, 60)), min_size=4, max_size=9)

@st.composite
def corpora(draw):
    "Documents of a few subjects, or planted counts, in an order of their own, and how many are there at first"
    n, seed = draw(st.integers(30, 110)), draw(st.integers(0, 1000))
    rng = np.random.default_rng(seed)
    if draw(st.booleans()):
        docs = planted_tree((2, 2), n_docs=max(n, 40), overlap=draw(st.sampled_from([0, .3, .6])), noise=.2, random_state=seed, length=30)
        return docs[rng.permutation(len(docs))], max(n, 40)//2
    texts = [some_texts(n, seed)[i] for i in rng.permutation(n)]
    for i in rng.integers(0, n, n//20): texts[i] = ["", "nothing known here"][i % 2]
    if draw(st.booleans()): texts = texts[:n//2] + [text for text in texts[n//2:]] + ["comet orbit telescope nebula said"]*draw(st.integers(0, 14))
    return (Corpus(texts, ids=[f"text {i}" for i in range(len(texts))]) if draw(st.booleans()) else texts), n//2

@pytest.mark.slow
@cheap(30)
@given(corpus=corpora(), k=st.integers(1, 6), steps=steps)
def test_many_lives(tmp_path, corpus, k, steps): live(*corpus, k, steps, tmp_path)

def arguments(model, docs, name, i, j):
    "The arguments of a step, from two numbers; None if there are no documents left to be added"
    n = model.tree_.n_docs
    if name == "grow": return dict(n_topics=1 + i % 12)
    if name != "update": return made(model, name, i, j)
    if n == len(docs): return None
    return dict(texts=docs[n:n + 1 + i % 30], min_new=[None, 3, 10][j % 3])

def live(docs, first, k, steps, tmp_path):
    "Fit to some documents, take steps, and look at the model after each"
    try: model = fitted(docs[:first], n_topics=k, max_df=.7)
    except ValueError as e: return print(e)
    known, undone = [bits(model)], []
    for name, i, j in steps:
        old, before = model.tree_, bits(model)
        if name == "load":
            model.save(tmp_path/"m")
            model = TopicTree.load(tmp_path/"m")
            assert bits(model) == before
            known, undone = known[-1:], []
        elif name == "predict": assert len(model.predict(docs)) == len(docs)
        elif name in ("undo", "redo"):
            there, other = (known[:-1], undone) if name == "undo" else (undone, known)
            if not there: continue
            getattr(model, name)()
            other.append(known.pop() if name == "undo" else undone.pop())
            assert bits(model) == known[-1]
        else:
            options = arguments(model, docs, name, i, j)
            if options is None: continue
            if name in ("split", "merge", "move", "drop_words", "refit", "grow", "update"): options["documents"] = docs[:old.n_docs]
            try: changed = getattr(model, name)(**options)
            except ValueError: assert bits(model) == before and model.tree_ is old
            else:
                assert_told(old, model.tree_, changed, name == "rename")
                if name == "update": assert_updated(old, model.tree_, changed, len(options["texts"]))
                known, undone = [*known, bits(model)], []
        assert_sound(model, docs[:model.tree_.n_docs])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_allclose(model.transform(docs).sum(1), 1, rtol=1e-4)

def assert_updated(old, tree, told, n):
    "What an update says of itself"
    assert told.n_new == n and tree.n_docs == old.n_docs + n and str(told)
    assert sum(new for *_, new in told.grew) == n - len(told.topicless)
    assert {id for id, *_ in told.grew} == {leaf.id for leaf in tree.leaves()}
    longer = {a: b for a, b in told.renamed.items() if len(b) > len(a)}
    if not told.gone: assert all(b[:len(a)] == a and set(b[len(a):]) == {"0"} for a, b in told.renamed.items())
    for a in longer: assert a in told.new or old[a].children
    before = {told.renamed.get(leaf.id, leaf.id): leaf.docs for leaf in old.leaves() if leaf.id not in told.gone}
    came = {leaf.id: len(np.setdiff1d(leaf.docs[leaf.docs < old.n_docs], before.get(leaf.id, ()))) for leaf in tree.leaves()}
    assert told.came == {id: n for id, n in came.items() if n}
    stays = {leaf.id: len(np.intersect1d(leaf.docs, before.get(leaf.id, ()))) for leaf in tree.leaves()}
    assert told.went == {id: len(before[id]) - n for id, n in stays.items() if len(before.get(id, ())) > n}
    assert all(name == tree.names[id] and a != b for id, (name, a, b) in told.reworded.items()) and not set(told.reworded) & set(told.titles)


# ---- more topics

@pytest.fixture(scope="module")
def corpus(): return planted_tree((3, 2), n_docs=240, overlap=.3, noise=.2, random_state=1)

def test_grows_where_it_gains_most(corpus):
    model = fitted(corpus, n_topics=3)
    X = matrix_of(model).toarray().astype(float)
    gains = {leaf.id: naive.gain_of_cut(X[leaf.docs], best_cut(matrix_of(model)[leaf.docs]).side) for leaf in model.tree_.leaves()}
    model.grow(4)
    assert model.tree_.splits[-1] == max(gains, key=gains.get)
    assert model.tree_[model.tree_.splits[-1]].score == pytest.approx(max(gains.values()), rel=1e-4)


def test_growing_at_once_or_one_by_one(corpus):
    one, other = fitted(corpus, n_topics=2), fitted(corpus, n_topics=2)
    one.grow(7)
    for n in range(3, 8): other.grow(n)
    assert one.tree_.splits == other.tree_.splits
    assert_array_equal(one.transform(corpus), other.transform(corpus))
    before = {n: (one.predict(corpus, n), one.tree_.labels(n)) for n in range(2, 8)}
    for n in range(6, 1, -1):
        one.grow(n)
        assert_array_equal(one.labels_, before[n][1])
        assert_array_equal(one.predict(corpus), before[n][0])


def test_a_tree_that_grows_is_cut_where_it_was_and_in_between(corpus):
    model = fitted(corpus, n_topics=3)
    model.grow(40)
    broad, n = model.tree_.levels
    assert n == 40 and 40/6 <= broad <= 12 and len(model.outline().splitlines()) > 40
    model.grow(100)
    assert model.tree_.levels[::2] == (broad, 100) and len(model.tree_.levels) == 3
    model.undo()
    assert model.tree_.levels == (broad, 40)
    model.grow(5)
    model.grow(40)
    assert len(model.tree_.levels) == 2


@pytest.mark.parametrize("levels", [(), (30,), (4, 30)])
def test_levels_that_were_asked_for_stay(corpus, levels):
    model = fitted(corpus, n_topics=30)
    model.tree_.levels = levels
    model.grow(50)
    assert model.tree_.levels == tuple(50 if n == 30 else n for n in levels)


def test_kept_nodes_are_not_cut(corpus):
    model = fitted(corpus, n_topics=3)
    kept = model.tree_.leaves()[0].id
    model.keep(kept)
    model.grow(8)
    assert not model.tree_[kept].children
    with pytest.raises(ValueError, match="n_topics must be at least"): model.grow(1)
    model.keep("0" if kept[0] == "1" else "1")
    model.keep("")
    with pytest.raises(ValueError, match=r"n_topics must be at most 8, got 9: .* kept \(.*, which model.keep\(node, on=False\) ends"): model.grow(9)


# ---- more documents

def months(texts, n): return [texts[i::n] for i in range(n)]

def test_documents_of_old_topics_change_no_id():
    model = fitted(some_texts(80), n_topics=4, max_df=.6)
    for name, leaf_ in zip("abcd", model.tree_.leaves()): model.rename(leaf_, name)
    subject = {frozenset(words): model.tree_.title(model.tree_.leaves()[model.predict([" ".join(words)])[0]]) for words in SUBJECTS}
    ids = list(model.tree_.nodes)
    for seed in (1, 2, 3):
        told = model.update(some_texts(40, seed))
        assert list(model.tree_.nodes) == ids and not (told.new or told.gone or told.renamed or told.titles or told.moved)
    assert model.tree_.n_docs == 200 == len(model.given_)
    for words in SUBJECTS: assert model.tree_.title(model.tree_.leaves()[model.predict([" ".join(words)])[0]]) == subject[frozenset(words)]


STARS = ["comet", "orbit", "telescope", "nebula", "planet"]

def of_stars(n, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(STARS, 6)) + " said" for _ in range(n)]

def test_a_new_topic_becomes_a_leaf():
    model = fitted(some_texts(80), n_topics=4, max_df=.6)
    leaves = {leaf.id: set(leaf.docs) for leaf in model.tree_.leaves()}
    told = model.update(some_texts(20, 1) + of_stars(25))
    new = [id for id in told.new if not model.tree_[id].children]
    assert len(new) == 1 and set(model.tree_[new[0]].docs) == set(range(100, 125)) and set(STARS) <= set(told.words)
    assert told.rejected == () and told.grew[0][0] == new[0]
    for id, docs in leaves.items(): assert docs == {i for i in model.tree_[told.renamed.get(id, id)].docs if i < 80}
    assert model.n_topics_ == 5 and model.predict(of_stars(3, 1)).tolist() == [model.tree_.labels()[110]]*3


def test_too_few_or_not_wanted_is_no_topic():
    for docs, options in ((of_stars(6), {}), (of_stars(25), dict(min_new=None)), (of_stars(25), dict(min_new=26))):
        model = fitted(some_texts(80), n_topics=4, max_df=.6)
        told = model.update(docs, **options)
        assert model.n_topics_ == 4 and not told.new


def test_new_words_come_in_and_dropped_ones_stay_out():
    model = fitted(some_texts(80), n_topics=4, max_df=.6)
    model.drop_words("umpire")
    told = model.update(["umpire goal offside"]*3 + ["vote quorum"]*2)
    assert told.words == ("offside",) and "umpire" not in model.vocab_ and "umpire" in str(model.documents_)
    model.update(["law quorum budget"])
    assert "quorum" in model.vocab_


def test_a_word_taken_out_may_be_out_of_the_limits_later(tmp_path):
    """The new documents have the word in common, so that it would have gone anyway: the model is saved all the same."""
    model = fitted(some_texts(80), n_topics=4, max_df=.6)
    model.drop_words("umpire")
    model.update(["umpire goal"]*200)
    model.save(tmp_path/"m")
    assert bits(TopicTree.load(tmp_path/"m")) == bits(model) and "umpire" not in model.vocab_


def test_a_word_that_is_there_twice_is_taken_out_and_saved(tmp_path, corpus):
    kept = fitted(corpus, n_topics=4).vocab_[3:5]
    model = TopicTree(4).fit(corpus.X, vocab=["twice" if word in kept else word for word in map(str, corpus.vocab)])
    assert list(model.vocab_).count("twice") == 2
    model.drop_words("twice")
    model.save(tmp_path/"m")
    assert bits(TopicTree.load(tmp_path/"m")) == bits(model) and "twice" not in model.vocab_


def test_new_documents_that_come_once():
    model, other = fitted(some_texts(60), n_topics=4, max_df=.6), fitted(some_texts(60), n_topics=4, max_df=.6)
    model.update(text for text in some_texts(20, 1))
    other.update(some_texts(20, 1))
    assert bits(model) == bits(other)


def test_weights_are_those_of_a_fit_of_all():
    old, new = some_texts(60), some_texts(30, 1) + of_stars(9)
    model, whole = fitted(old, n_topics=4, max_df=.6), fitted(old + new, n_topics=4, max_df=.6)
    pipeline, X = weighed_anew(model.pipeline_, old + new)
    assert_array_equal(X.toarray(), matrix_of(whole).toarray())
    assert list(pipeline.get_feature_names_out()) == list(whole.vocab_)


def test_kept_nodes_get_nothing_new(corpus):
    model = fitted(corpus[:150], n_topics=6)
    model.keep("0")
    docs = model.tree_["0"].docs
    model.update(corpus[150:])
    assert_array_equal(model.tree_["0"].docs, docs)
    model.keep("")
    told = model.update(Corpus(X=corpus.X[:9], vocab=corpus.vocab, ids=[f"again {i}" for i in range(9)]))
    assert len(told.topicless) == 9 and (model.labels_[240:] == -1).all()
    assert str(model.documents_).endswith("Kept topics take no others.")


def test_a_saved_model_is_updated(tmp_path):
    texts, new = some_texts(60), some_texts(20, 1)
    model = fitted(texts, n_topics=4, max_df=.6)
    model.save(tmp_path/"m")
    again = TopicTree.load(tmp_path/"m")
    with pytest.raises(ValueError, match=r"update needs the documents of the fit.*model\.update\("): again.update(new)
    with pytest.raises(ValueError, match="documents must be the 60 of the fit"): again.update(new, documents=texts[:30])
    again.update(new, documents=texts)
    model.update(new)
    assert bits(again) == bits(model)
    model.save(tmp_path/"n", keep_texts=True)
    kept = TopicTree.load(tmp_path/"n")
    assert kept.given_ == texts + new and kept.history == model.history and bits(kept) == bits(model)
    assert kept.update(some_texts(20, 2)).n_new == 20


def test_many_names_are_looked_up_once():
    """Each new name among all old ones: were these gathered for each name, it would take hours"""
    old, new = [f"a{i}" for i in range(300_000)], [f"b{i}" for i in range(300_000)]
    assert with_new_ids(old, new, len(old), len(new)) == old + new
    with pytest.raises(ValueError, match="'a299999' is the name of one"): with_new_ids(old, [*new, "a299999"], len(old), len(new) + 1)


def test_names_of_documents_go_along(tmp_path):
    texts = some_texts(90)
    def named(rows, letter): return Corpus([texts[i] for i in rows], ids=[f"{letter}{i}" for i in rows], labels=[str(i % 4) for i in rows])
    model = fitted(named(range(60), "a"), n_topics=4, max_df=.6)
    model.save(tmp_path/"m")
    with pytest.raises(ValueError, match="new documents, and 'a3' is the name"): model.update(named(range(3, 9), "a"))
    model.update(named(range(60, 70), "b"))
    model.update(texts[70:])
    assert list(model.given_.ids) == [f"a{i}" for i in range(60)] + [f"b{i}" for i in range(60, 70)] + [str(i) for i in range(70, 90)]
    assert model.given_.labels[:,0].tolist() == [str(i % 4) for i in range(70)] + [""]*20
    again = TopicTree.load(tmp_path/"m")                                       # the names are in the file, the texts aren't
    again.update(texts[60:], documents=texts[:60])
    assert again.given_.ids[3] == "a3" and again.given_.texts == texts
    assert with_new_ids(None, None, 2, 2) is None


def test_names_that_come_later_are_kept(tmp_path):
    """The documents of the fit had none: they are called by their rows, and what was added once isn't added again."""
    texts = some_texts(90)
    model, new = fitted(texts[:60], n_topics=4, max_df=.6), Corpus(texts[60:70], ids=[f"b{i}" for i in range(60, 70)], labels=["b"]*10)
    model.save(tmp_path/"m")
    model.update(new)
    before = bits(model)
    with pytest.raises(ValueError, match="new documents, and 'b60' is the name of one in the model: give other names"): model.update(new)
    assert bits(model) == before
    model.update(texts[70:80])
    with pytest.raises(ValueError, match="and 'b60' is the name"): model.update(new)
    with pytest.raises(ValueError, match="and '75' is the name"): model.update(Corpus(texts[80:82], ids=["75", "x"]))
    names = [*map(str, range(60)), *(f"b{i}" for i in range(60, 70)), *map(str, range(70, 80))]
    assert list(model.given_.ids) == names and model.given_.labels[:,0].tolist() == [""]*60 + ["b"]*10 + [""]*10 and model.given_.texts == texts[:80]
    leaf_ = next(leaf for leaf in model.tree_.leaves() if 61 not in leaf.docs)
    model.move("b61", leaf_.id)
    assert 61 in model.tree_[leaf_.id].docs
    for keep_texts in (False, True):
        model.save(tmp_path/"n", keep_texts=keep_texts)
        again = TopicTree.load(tmp_path/"n")
        again.update(texts[80:], documents=None if keep_texts else texts[:80])
        assert list(again.given_.ids) == names + [*map(str, range(80, 90))] and bits(again) != bits(model)
    for _ in range(3): model.undo()
    assert model.given_ == texts[:60]
    again = TopicTree.load(tmp_path/"m")
    again.update(new, documents=texts[:60])
    assert list(again.given_.ids) == names[:70]


def test_what_has_no_names_stays_a_list(corpus):
    texts = some_texts(80)
    model = fitted(texts[:60], n_topics=4, max_df=.6)
    for _ in range(2): model.update(Corpus(texts[60:70]))                      # called 0 to 9, by nobody
    assert model.given_ == texts[:60] + 2*texts[60:70]
    with pytest.raises(ValueError, match="'5' is the name of one in the model, whose documents go by their rows: give other names"): model.update(Corpus(texts[70:72], ids=["17", "5"][::-1]))
    model.update(texts[70:])
    for part in (slice(0, 50), slice(50, 80)): model.update(Corpus(some_texts(80, 1))[part])      # called 50 to 79, by nobody as well
    assert isinstance(model.given_, list) and len(model.given_) == 170
    model.update(Corpus(texts[:3], ids=["1001", "1002", "1003"]))
    with pytest.raises(ValueError, match="'1001' is the name of one in the model: "): model.update(Corpus(texts[:3], ids=["1001", "1002", "1003"]))
    assert with_new_ids(["7", "8"], None, 2, 1) == ["7", "8", "9"] and with_new_ids(None, ["9"*5000], 1, 1) == ["0", "9"*5000]


def test_names_of_counts_that_come_later(corpus, tmp_path):
    new = Corpus(X=corpus.X[150:170], vocab=corpus.vocab, ids=[f"b{i}" for i in range(20)])
    for model in (fitted(corpus.X[:150]), TopicTree(6).fit(corpus.X[:150], vocab=corpus.vocab)):
        model.update(corpus.X[170:])
        assert model.given_ is None
        model.update(new)
        with pytest.raises(ValueError, match="'b0' is the name"): model.update(new)
        assert list(model.given_.ids[[0, 219, 220]]) == ["0", "219", "b0"] and model.counts_.shape == (240, 400)
        model.save(tmp_path/"m")
        again = TopicTree.load(tmp_path/"m")
        again.update(corpus.X[:5], documents=model.counts_)
        assert again.given_.ids[220] == "b0" and len(again.given_.ids) == 245
        model.update(corpus.X[:5])
        assert bits(again) == bits(model)


def test_labels_in_other_levels_are_refused():
    texts = some_texts(90)
    model, documents = fitted(Corpus(texts[:60], labels=["x"]*60), n_topics=4, max_df=.6), Corpus(texts[:60], labels=["x"]*60)
    before, new = bits(model), Corpus(texts[60:], labels=[["a", "b"]]*15 + [[]]*15)
    for options in ({}, dict(documents=documents), dict(min_new=None)):
        with pytest.raises(ValueError, match=r"texts must have labels in 1 level, as those of the model, and have 2") as caught: model.update(new, **options)
        assert "(--label-field ...), or none" in as_options(str(caught.value))
    assert bits(model) == before and model.history == [] and (model.given_.labels == "x").all()
    model.update(Corpus(texts[60:], ids=[f"b{i}" for i in range(30)], labels=[["a", "b"]]*15 + [[]]*15)[15:])      # nobody there has a label
    assert model.given_.labels[:,0].tolist() == ["x"]*60 + [""]*15
    other = fitted(Corpus(texts[:60]), n_topics=4, max_df=.6)
    other.update(new)
    assert other.given_.labels.shape == (90, 2) and other.given_.labels[60].tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="labels in 2 levels, as those of the model, and have 1"): other.update(documents[:3])


# ---- what is told

def test_a_name_on_another_topic_is_told():
    model = fitted(some_texts(80), n_topics=4, max_df=.6)
    named = model.tree_.leaves()[model.predict(["racket net serve"])[0]].id
    words = model.tree_.title(named)
    model.rename(named, "tennis")
    rng = np.random.default_rng(0)
    new = [" ".join([*rng.choice(STARS, 5), str(rng.choice(["racket", "net", "serve"]))]) for _ in range(120)]
    told = model.update(new, min_new=None)
    now = next(b for b, name in model.tree_.names.items() if name == "tennis")
    model.rename(now)
    assert told.reworded == {now: ("tennis", words, model.tree_.title(now))} and not told.titles.get(now)
    assert set(words.replace(",", "").split()) <= set(SUBJECTS[1]) and set(STARS).issuperset(model.tree_.title(now).replace(",", "").split())
    assert f"words of root/{now}, tennis: {words}\n  -> {model.tree_.title(now)}" in str(told)


def test_old_documents_that_come_from_elsewhere_are_told():
    short = planted_tree((3, 2), n_docs=400, overlap=.7, noise=.2, random_state=0, length=12)
    model, before = fitted(short), fitted(short).tree_
    rows = np.tile(np.arange(60), 8)
    told = model.update(Corpus(X=short.X[rows], vocab=short.vocab, ids=[f"b{i}" for i in range(480)]))
    assert_updated(before, model.tree_, told, 480)
    assert sum(told.came.values()) == told.moved > 0 and sum(told.went.values()) > 0
    said = " ".join(str(told).split())
    for id in {**told.came, **told.went}:
        parts = [f"{sign}{n} old one{'s'*(n > 1)}" for sign, n in (("+", told.came.get(id)), ("-", told.went.get(id))) if n]
        assert f"root/{id} {model.tree_.title(id)} (" in said and ", ".join(parts) in said


def test_what_is_told_has_75_columns_and_knows_one_from_many():
    name = "a name that goes on, " * 6
    ids = tuple(f"{i:08b}" for i in range(12))
    told = Updated(new=ids, gone=ids, renamed={id: id + "0" for id in ids}, n_new=1, moved=1, words=("quark",), came=dict.fromkeys(ids, 1),
                   grew=tuple((id, name[:100], 12345, 1) for id in ids), titles={"0": (name, name)}, reworded={"1": (name, name, "quark")})
    lines = str(told).split("\n")
    assert max(map(len, lines)) <= 75
    assert lines[:2] == ["1 new document: 0 without a topic, 0 like none of the fit; 1 new word", "1 of the old documents is in another leaf"]
    assert 22*" " + "(new, +1 old one)" in lines or any(line.endswith("  (new, +1 old one)") for line in lines)
    assert str(Updated(n_new=2)) == "2 new documents: 0 without a topic, 0 like none of the fit; 0 new words\n0 of the old documents are in another leaf"


def test_documents_that_are_like_none_move_nothing():
    """Two documents without a known word: all others stay, where a refit would move some. After a refit, nothing moves either."""
    short = planted_tree((3, 2), n_docs=400, overlap=.7, noise=.2, random_state=0, length=12)
    nothing = Corpus(X=0*short.X[:2], vocab=short.vocab)
    refitted = fitted(short)
    refitted.refit()
    assert (refitted.labels_ != fitted(short).labels_).sum() > 0
    for model in (fitted(short), refitted):
        before = model.labels_.copy()
        assert model.update(nothing).moved == 0 and (model.labels_[:400] == before).all()


def test_what_is_known_of_documents_are_their_sums(corpus):
    """After a refit a topic is the root of the sum of its documents, so that sum is what it knows of them: in the same weights, and in others
    times how much more a word counts. Words that are new are not known, and nothing is known of documents that were moved by hand."""
    model = fitted(corpus, n_topics=4)
    model.refit()
    X, labels, vocab = matrix_of(model), model.labels_, model.vocab_
    learned = what_is_known(model, X, vocab, shape_of(model), model.pipeline_)
    units = X.toarray()/np.linalg.norm(X.toarray(), axis=1, keepdims=True)
    sums = np.array([units[labels == k].sum(0) for k in range(4)])
    assert_allclose(learned.sums, sums, rtol=1e-4, atol=1e-4)
    assert learned.rows.all()
    turned = np.append(vocab[::-1], "new")
    other = SimpleNamespace(idf_=np.append(3*model.pipeline_["tfidf"].idf_[::-1], 7))
    wider = sp.hstack([X[:, ::-1], sp.csr_array((X.shape[0], 1))]).tocsr()
    again = what_is_known(model, wider, turned, shape_of(model), dict(tfidf=other))
    assert_allclose(again.sums, np.hstack([sums[:, ::-1], np.zeros((4, 1))]), rtol=1e-4, atol=1e-4)
    row = int(np.flatnonzero(labels == 0)[0])
    model.move([row], model.tree_.leaves()[1])
    assert not what_is_known(model, X, vocab, shape_of(model), model.pipeline_).rows[row]


def test_replay_comes_to_the_same():
    texts = some_texts(120) + of_stars(20)
    model = fitted(texts[:60], n_topics=4, max_df=.6)
    model.rename("0", "first")
    model.update(texts[60:100])
    model.grow(6)
    model.update(texts[100:], min_new=5)
    model.drop_words("vote")
    scope = dict(TopicTree=TopicTree, documents=texts)
    exec(model.script(), scope)
    assert bits(scope["model"]) == bits(model)
    other = fitted(texts[:60], n_topics=4, max_df=.6)
    with pytest.raises(ValueError, match="documents must be given"): other.replay(model.history)
    while other.history: other.undo()
    other.replay(json.loads(json.dumps(model.history)), texts)
    assert bits(other) == bits(model)
    for _ in range(len(model.history)): model.undo()
    assert bits(model) == bits(fitted(texts[:60], n_topics=4, max_df=.6)) and len(model.given_) == 60


def test_counts_of_all_kinds(corpus):
    X, new = corpus.X[:150], corpus.X[150:]
    found = []
    for old, later in ((X, new), (X.toarray(), new.toarray()), (corpus[:150], corpus[150:])):
        model = fitted(old)
        model.update(later)
        found.append(model.labels_)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(corpus.X.toarray(), columns=corpus.vocab)
    model = fitted(frame[:150])
    model.update(frame[150:])
    for labels in found: assert_array_equal(labels, model.labels_)
    assert list(model.vocab_) == list(model.tree_.vocab)


def test_new_topics_are_good_by_definition(corpus):
    truth = corpus.classes(1)[0]
    order = np.argsort(truth >= 4, kind="stable")
    X = fitted(corpus).pipeline_.fit_transform(corpus.X[order])
    n_old, labels = int((truth < 4).sum()), truth[order]
    start = np.where(labels < 4, labels, -1)
    found = new_topics(X, start, np.flatnonzero(labels >= 4), n_old, 10, 1., np.zeros(len(labels), bool), np.zeros(4, bool))
    for k in range(4, found.max() + 1):
        rows = np.flatnonzero(found == k)
        assert (rows < n_old).mean() <= FEW and len(rows) >= 10
        assert naive.would_stay(X.toarray().astype(float), found, k) >= TOGETHER*len(rows)
    assert found.max() >= 4 and len(start) == len(found)


def test_how_often_new_documents_go_to_a_topic(corpus):
    order = np.random.default_rng(0).permutation(240)
    X = fitted(corpus).pipeline_.fit_transform(corpus.X[order])
    labels, n_old = corpus.classes(1)[0][order], 150
    labels[::7] = -1
    topics = [X[labels == j].sum(0)**.5 for j in range(6)]
    for j in (4, 5): topics[j] = X[n_old + np.flatnonzero(labels[n_old:] == j)[::2]].sum(0)**.5
    Ht = np.array(topics).T/np.linalg.norm(topics, axis=1)
    goes = np.array([naive_heaviest(x, Ht) for x in X.toarray().astype(float)])
    seen = np.zeros(len(labels), bool)
    for j in (4, 5): seen[n_old + np.flatnonzero(labels[n_old:] == j)[::2]] = True
    other = ~seen & (np.arange(len(labels)) >= n_old)
    by_hand = [((goes[other] == j).sum() + .5)/other.sum()/(((goes[:n_old] == j).sum() + .5)/n_old) for j in (4, 5)]
    found = times_as_often(X, np.array([X[labels == j].sum(0)**.5 for j in range(6)]).T.astype(X.dtype), labels, n_old, 4)
    assert_allclose(found, by_hand, rtol=1e-6)

def naive_heaviest(x, Ht): return int(scipy.optimize.nnls(Ht, x)[0].argmax())


@pytest.mark.slow
def test_documents_that_come_as_before_are_no_new_topic():
    docs = load("library-docs")
    rows = np.random.default_rng(0).permutation(len(docs))
    model = fitted(docs[rows[:1600]], n_topics=12, max_df=.2)
    told = model.update(docs[rows[1600:2600]])
    assert not told.new and model.n_topics_ == 12


@pytest.mark.parametrize("texts, options, message", [
    ([], {}, "texts must be new documents, got none"), ("one text", {}, "text"), (some_texts(3), dict(min_new=1), "min_new must be"),
    (some_texts(3), dict(min_new="many"), "min_new must be"), (np.eye(3), {}, "documents must be texts"), ([1, 2], {}, "must be")])
def test_bad_input(texts, options, message):
    model = fitted(some_texts(40), n_topics=3, max_df=.6)
    before = bits(model)
    with pytest.raises(ValueError, match=message): model.update(texts, **options)
    with pytest.raises(ValueError, match="n_topics must be"): model.grow(0)
    with pytest.raises(ValueError, match="n_topics must be at most"): model.grow(400)
    assert bits(model) == before


def test_models_with_updates_can_be_pickled():
    model = fitted(some_texts(60), n_topics=4, max_df=.6)
    model.update(some_texts(20, 1))
    again = pickle.loads(pickle.dumps(model))
    again.undo()
    assert bits(again) == bits(fitted(some_texts(60), n_topics=4, max_df=.6))


def test_an_update_made_twice_is_told():
    texts = some_texts(80)
    model = fitted(texts[:60], n_topics=4, max_df=.6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.update(["a goal by nobody", "another text", texts[0], ""])
    with pytest.warns(UserWarning, match="3 of 4 new documents have the text of an old one, word for word: were they added before") as told:
        model.update(["a goal by nobody", "another text", texts[0], ""])
    assert told[0].filename == __file__ and model.tree_.n_docs == 68
    model.undo()
    assert model.tree_.n_docs == 64


def test_columns_of_old_and_new_documents():
    texts = some_texts(60)
    model = fitted(Corpus(texts, columns=dict(day=list(range(60)))), n_topics=4, max_df=.6)
    model.update(["a goal by nobody"])
    assert model.given_.columns == dict(day=[*range(60), None])
    model.update(Corpus(["another goal", "no goal"], columns=dict(shop=["web", "store"], day=[7, 8])))
    assert model.given_.columns == dict(day=[*range(60), None, 7, 8], shop=[None]*61 + ["web", "store"])
    model.undo()
    assert model.given_.columns == dict(day=[*range(60), None])


def test_a_corpus_of_before_has_no_columns():
    corpus = Corpus(some_texts(60))
    del corpus.columns                              # as one that an earlier version pickled
    model = fitted(corpus, n_topics=4, max_df=.6)
    model.update(Corpus(["another goal"], columns=dict(shop=["web"])))
    assert model.given_.columns == dict(shop=[None]*60 + ["web"])


def test_names_alone_are_known_and_a_corpus_comes(tmp_path):
    texts = some_texts(60)
    fitted(Corpus(texts, ids=[f"T-{i}" for i in range(60)]), n_topics=4, max_df=.6).save(tmp_path/"m")
    model = TopicTree.load(tmp_path/"m")
    model.update(Corpus(["another goal"], ids=["new"]), texts)
    assert list(model.given_.ids[-2:]) == ["T-59", "new"]


@pytest.mark.parametrize("seed", range(3))
def test_a_new_subject_whose_old_words_are_typical_of_another(seed):
    "What a model knows of 'chatbot useless, want a human agent' is 'want', and that is typical of those who want a refund"
    rng = np.random.default_rng(seed)
    old = ["cancel my subscription and refund", "want refund", "double charge, want refund", "refund not received", "parcel lost", "parcel late again",
           "parcel damaged", "app crashes", "app very slow", "app freezes on android", "login code not accepted", "login fails, error code"]
    new = ["chatbot is useless, want a human agent", "the chatbot gives an error", "chatbot does not understand my question"]
    model = TopicTree(6, random_state=seed).fit(rng.choice(old, 300).tolist())
    model.update(rng.choice(old, 60).tolist() + rng.choice(new, 60).tolist())
    assert not set(model.labels_[-60:]) & set(model.labels_[:-60]) and (model.labels_[-60:] >= 0).all()
    X = sp.random(20, 9, .4, "csr", random_state=seed)
    some = rng.random(9) < .5
    for row, part in zip(X.toarray(), in_new_words(X, some)): assert part == pytest.approx((row[some]**2).sum()/max((row**2).sum(), 1e-30))


def test_nothing_to_update_with():
    corpus = planted_tree((3, 2), n_docs=200, random_state=0)
    for none in ([], (), corpus.X[:0]):
        with pytest.raises(ValueError, match="texts must be new documents, got none"): TopicTree(3).fit(corpus).update(none)


def test_many_new_topics_are_told():
    rows = [(f"0{i}", "title", 30, 30) for i in range(3)]
    old = [(f"1{i}", "title", 30, 0) for i in range(6)]
    new = tuple(id for id, *_ in rows)
    assert "3 of 9 topics are new, each beside the old one that is nearest" in " ".join(str(Updated(new=new, grew=(*rows, *old))).split())
    assert "are new, each" not in str(Updated(new=new, grew=(*rows, *old, *[(f"2{i}", "title", 30, 0) for i in range(2)])))
    assert "are new, each" not in str(Updated(new=new[:2], grew=(*rows[:2], *old[:1])))


def test_documents_of_a_kept_topic_go_to_the_next(corpus):
    "What is kept takes no others, and these are no documents without a topic"
    order = np.random.default_rng(0).permutation(240)
    model = fitted(corpus[order[:120]], n_topics=6)
    for leaf in model.tree_.leaves():
        model.keep(leaf.id)
        docs = leaf.docs
        told = model.update(corpus.X[order[120:]])
        assert told.topicless == () and len(model.documents_.topicless) == 0
        assert_array_equal(model.tree_[model.edits_.kept[0]].docs, docs)
        model.undo(), model.undo()


def test_a_number_of_numpy_is_one(tmp_path):
    model = fitted(some_texts(60), n_topics=4, max_df=.6)
    model.update(some_texts(20, 1), min_new=np.int64(5))
    assert type(model.history[-1]["min_new"]) is int and "min_new=5)" in model.script()
    model.save(tmp_path/"m")
