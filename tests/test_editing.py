"""A fitted TopicTree, changed by hand: whatever the steps, the tree is sound, the rest stays, and undo restores the bits"""
import itertools
import json
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from make_saved import some_texts
from nmf2 import Corpus, TopicTree
from nmf2.data import planted_tree
from nmf2.editing import STEPS, closed_up, matrix_of
from nmf2.treefile import check_tree
from nmf2.weighting import EmptyDocumentsWarning


@pytest.fixture(scope="module")
def corpus(): return planted_tree((3, 2), n_docs=240, overlap=.3, noise=.2, random_state=1)

@pytest.fixture(scope="module")
def new(): return planted_tree((3, 2), n_docs=150, overlap=.3, noise=.2, random_state=1, length=30)

def as_texts(corpus):
    "Words as often as they are counted"
    return [" ".join(np.repeat(corpus.vocab, row.astype(int))) for row in corpus.X.toarray()]

def fitted(docs, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TopicTree(**dict(n_topics=6) | options).fit(docs)

def bits(model):
    "All that a model knows, as bytes; only what two models share may be left out"
    tree = model.tree_
    arrays = [model.labels_, model.components_, tree.leaf_topics, tree.root_topic, *model.expected_.signs, model.expected_.ranks, model.expected_.sizes, model.edits_.moved,
              model.documents_.wordless, model.documents_.topicless, *(() if tree.ways is None else tree.ways)]
    if tree.support is not None: arrays += [tree.support.nodes, tree.support.docs, tree.support.runs]
    for node in tree: arrays += [node.docs, node.outliers, np.array(node.score), *(() if node.split is None else node.split)]
    told = [tree.to_json(), model.history, list(model.vocab_), model.edits_.kept, model.edits_.dropped, model.documents_.words, tree.names]
    return json.dumps(told).encode() + b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)

def excused(model, predicted):
    "Documents of which labels may differ from what is predicted: moved by hand, in kept nodes, or not let into one"
    ids = [leaf.id for leaf in model.tree_.leaves()]
    kept = np.array([id.startswith(model.edits_.kept) for id in ids] + [False])
    rows = kept[model.labels_] | kept[predicted]
    rows[model.edits_.moved] = True
    return rows

def assert_sound(model, docs):
    tree, n = model.tree_, model.tree_.n_leaves
    check_tree(tree)
    assert_array_equal(model.labels_, tree.labels())
    assert np.bincount(model.labels_ + 1, minlength=n + 1)[1:].tolist() == [leaf.size for leaf in tree.leaves()]
    assert len(tree[""].docs) + len(tree[""].outliers) == tree.n_docs == len(model.labels_)
    assert model.n_topics_ == n and model.components_.shape == (n, len(model.vocab_)) and len(tree.vocab) == tree.n_terms == len(model.vocab_)
    assert_allclose(np.linalg.norm(model.components_.astype(float), axis=1), 1, rtol=1e-4)
    assert set(tree.headings) == {node.id for node in tree if node.id} and tree.levels[-1] == n
    assert not set(model.edits_.dropped).intersection(model.vocab_, *tree.headings.values())
    assert len(model.expected_.sizes) == n and 0 <= model.expected_.sizes.min() and model.expected_.sizes.sum() <= tree.n_docs
    without = np.union1d(model.documents_.wordless, model.documents_.topicless)
    assert_array_equal(without, np.flatnonzero(model.labels_ < 0))
    X = matrix_of(model, docs)
    predicted = tree.predict(X)
    off = predicted != model.labels_
    assert not (off & ~excused(model, predicted)).any()
    for cut in {(n + 1)//2, n}:
        shares = tree.transform(X, cut)
        assert shares.shape == (tree.n_docs, cut) and shares.min() >= 0
        assert_allclose(shares.sum(1), 1, rtol=1e-4)
    assert model.outline()

def assert_told(old, tree, changed, renamed=False):
    "What a step says of itself is what happened, by looking at both trees"
    stay = {node.id: changed.renamed.get(node.id, node.id) for node in old if node.id not in changed.gone}
    assert len(set(stay.values())) == len(stay) and set(changed.renamed) <= set(stay)
    assert {node.id for node in tree} == set(stay.values()) | set(changed.new) and not set(stay.values()) & set(changed.new)
    for a, b in stay.items():
        assert (b in changed.changed) == (not np.array_equal(old[a].docs, tree[b].docs))
        if a in old.names and not renamed: assert tree.names[b] == old.names[a]
    if old.support is not None: assert_support_stays(old, tree, stay)

def assert_support_stays(old, tree, stay):
    "Nodes with the same documents are still known, and documents in leaves with the same; of others nothing is"
    same = {b: a for a, b in stay.items() if np.array_equal(old[a].docs, tree[b].docs)}
    for node in tree: assert_array_equal(node.support, old[same[node.id]].support if node.id in same else np.nan)
    for leaf in tree.leaves():
        known = leaf.id in same and not old[same[leaf.id]].children
        assert_array_equal(tree.support.docs[leaf.docs], old.support.docs[leaf.docs] if known else np.nan)


# ---- random steps

def leaf(model, i): return model.tree_.leaves()[i % model.n_topics_].id

def node(model, i): return list(model.tree_)[i % len(model.tree_.nodes)].id

def made(model, name, i, j):
    "The arguments of a step, from two numbers"
    if name in ("split",): return dict(node=leaf(model, i))
    if name in ("join", "keep"): return dict(node=node(model, i))
    if name == "rename": return dict(node=node(model, i), name=["a name", "größer", ""][j % 3])
    if name == "merge": return dict(a=node(model, i), b=node(model, j))
    if name == "move": return dict(docs=sorted({(i + 7*k) % model.tree_.n_docs for k in range(1 + j % 4)}), node=leaf(model, j))
    if name == "drop_words": return dict(words=model.tree_.top_terms(leaf(model, i), n=1 + j % 3))
    return {}

NAMES = (*STEPS, "split", "merge", "undo", "undo", "redo", "load")
steps = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 60), st.integers(0, 60)), min_size=4, max_size=9)

@pytest.fixture(scope="module")
def starts(corpus):
    texts = some_texts(90)
    starts = [(fitted(corpus, n_topics=n), corpus) for n in (2, 6)] + [(fitted(texts, n_topics=5, max_df=.6), texts)]
    for model, _ in starts[1:]: model.support(n_fits=2)
    return starts

def cheap(n): return settings(derandomize=True, max_examples=n, deadline=None, phases=[Phase.generate],
                             suppress_health_check=[HealthCheck.function_scoped_fixture])

@pytest.mark.slow
@cheap(40)
@given(which=st.integers(0, 2), steps=steps)
def test_any_steps(starts, tmp_path, which, steps): try_steps(*starts[which], which == 2, steps, tmp_path)

def try_steps(first, docs, keep_texts, steps, tmp_path):
    "Take some steps, and look at the model after each"
    model = pickle.loads(pickle.dumps(first))
    known, undone = [bits(model)], []                                   # of the version now, those before; those after
    for name, i, j in steps:
        old, before = model.tree_, bits(model)
        if name == "load":
            model.save(tmp_path/"m", keep_texts=keep_texts)
            model = TopicTree.load(tmp_path/"m")
            assert bits(model) == before
            known, undone = known[-1:], []
        elif name in ("undo", "redo"):
            there, other = (known[:-1], undone) if name == "undo" else (undone, known)
            if not there:
                with pytest.raises(ValueError, match=f"no step to {name}"): getattr(model, name)()
            else:
                getattr(model, name)()
                other.append(known.pop() if name == "undo" else undone.pop())
                assert bits(model) == known[-1]
        else:
            options = made(model, name, i, j)
            if name in ("split", "merge", "move", "drop_words", "refit") and model.given_ is None: options["documents"] = docs
            try: changed = getattr(model, name)(**options)
            except ValueError: assert bits(model) == before and model.tree_ is old
            else:
                assert_told(old, model.tree_, changed, name == "rename")
                assert model.history[-1]["step"] == name
                known, undone = [*known, bits(model)], []
        assert_sound(model, docs)
    for n in {(model.n_topics_ + 1)//2, None}:
        told = model.answers(docs, n, plain=True)
        assert len(told) == model.tree_.n_docs and all(0 <= row["confidence"] <= row["share"] <= 1 + 1e-9 for row in told)


# ---- one step at a time

def where(model, docs):
    "The leaf of each document by its id"
    return np.array([leaf.id for leaf in model.tree_.leaves()] + ["none"], object)[model.predict(docs)]

@pytest.mark.slow
@cheap(10)
@given(steps=st.lists(st.tuples(st.sampled_from(["split", "merge", "join"]), st.integers(0, 60), st.integers(0, 60)), min_size=3, max_size=7))
def test_new_documents_go_where_they_went(starts, new, steps):
    model = pickle.loads(pickle.dumps(starts[1][0]))
    for name, i, j in steps:
        before, old = where(model, new), {node.id for node in model.tree_}
        try: changed = getattr(model, name)(**made(model, name, i, j))
        except ValueError: continue
        after = where(model, new)
        for id in np.unique(before):
            stays = id == "none" or id not in changed.gone
            came = set(after[before == id])
            if stays and id not in {new[:-1] for new in changed.new}: assert came == {changed.renamed.get(id, id)}
            assert len(came) <= 2 and (len(came) == 1 or name == "split")
        assert old


def test_a_join_is_a_coarser_cut(corpus, new):
    model = fitted(corpus)
    last, n = model.tree_.splits[-1], model.n_topics_ - 1
    cut, shares = model.predict(new, n), model.transform(new, n)
    typical = model.answers(new, plain=True)
    model.join(last)
    assert_array_equal(model.predict(new), cut)
    assert_allclose(model.transform(new), shares, rtol=1e-5, atol=1e-7)
    assert [a["typical"] for a in typical] == [a["typical"] for a in model.answers(new, plain=True)]


def test_a_split_and_a_join_are_nothing(corpus):
    model = fitted(corpus, n_topics=4)
    model.rename("0", "a name")
    before, id = bits(model), max(model.tree_.leaves(), key=lambda leaf: leaf.size).id
    model.split(id)
    assert bits(model) != before and model.tree_.ways is not None
    model.join(id)
    model.history = model.history[:1]
    assert bits(model) == before


def test_merged_leaves_are_split_again(corpus):
    """Two planted topics that were merged are found by a split."""
    model = fitted(corpus)
    a, b = model.tree_.leaves()[0], model.tree_.leaves()[-1]
    both = model.merge(a.id, b.id)
    place = both.renamed.get(a.id, a.id)
    assert set(model.tree_[place].docs) == set(a.docs) | set(b.docs)
    model.split(place)
    found = [set(child.docs) for child in model.tree_[place].children]
    assert all(max(len(f & set(one.docs))/len(f | set(one.docs)) for one in (a, b)) > .9 for f in found)


def test_a_merge_by_hand():
    assert [closed_up(id, "01") for id in ("", "0", "00", "001", "1")] == ["", "0", "0", "01", "1"]


def test_everything_can_be_joined(corpus, new):
    model = fitted(corpus)
    model.join("")
    assert_sound(model, corpus)
    assert set(model.predict(new)) == {0} and model.n_topics_ == 1
    model.split("")
    assert_sound(model, corpus)


def test_moved_documents_teach_only_a_refit(corpus):
    model = fitted(corpus)
    a, b = model.tree_.leaves()[:2]
    rows = a.docs[:20]
    model.move(rows, b.id)
    assert_array_equal(model.components_, fitted(corpus).components_)
    assert (model.labels_[rows] == 1).all() and (model.predict(corpus)[rows] == 0).all()
    model.refit()
    assert (model.labels_[rows] == 1).all()
    assert not np.array_equal(model.components_, fitted(corpus).components_)


def test_documents_by_name():
    texts = some_texts(60)
    model = fitted(Corpus(texts, ids=[f"text {i}" for i in range(60)]), n_topics=4, max_df=.6)
    other = model.tree_.leaves()[(model.labels_[3] + 1) % 4].id
    model.move("text 3", other)
    assert model.edits_.moved.tolist() == [3] and model.history == [dict(step="move", docs=[3], node=other)]
    with pytest.raises(ValueError, match="'text 99' is neither"): model.move(["text 3", "text 99"], other)


def test_kept_nodes_keep_their_documents(corpus):
    model = fitted(corpus)
    kept = model.tree_["0"]
    model.keep("0")
    words = [word for leaf in model.tree_.leaves() if leaf.id.startswith("0") for word in model.tree_.top_terms(leaf, n=8)]
    model.drop_words(words)
    assert_array_equal(model.tree_["0"].docs, np.setdiff1d(kept.docs, model.documents_.wordless))
    model.keep("0", on=False)
    assert model.edits_.kept == () and model.history[-1] == dict(step="keep", node="0", on=False)


def test_dropped_words_are_gone(corpus, tmp_path, new):
    model = fitted(corpus)
    words = model.tree_.top_terms(model.tree_.leaves()[0], n=5)
    model.drop_words(words)
    assert_sound(model, corpus)
    X, column = corpus.X.toarray().copy(), {word: j for j, word in enumerate(corpus.vocab)}
    X[:,[column[word] for word in words]] = 0
    assert_array_equal(model.predict(Corpus(X=X, vocab=corpus.vocab)), model.predict(corpus))
    model.save(tmp_path/"m")
    again = TopicTree.load(tmp_path/"m")
    assert_array_equal(again.transform(new), model.transform(new))
    assert words[0] in str(again.documents_)


def test_documents_that_lose_all_words_are_told():
    texts = ["goal team", "law vote", "bread oven"]*9 + ["team"]*2
    model = TopicTree(3, min_df=1).fit(texts)
    with pytest.warns(EmptyDocumentsWarning, match="11 documents had no other words, and are in no topic now"): model.drop_words(["team", "goal"])
    assert (model.labels_ < 0).sum() == 11


def test_replay_comes_to_the_same(corpus):
    model = fitted(corpus)
    model.split(leaf(model, 0))
    model.merge(leaf(model, 1), leaf(model, 4))
    model.move([1, 2, 3], leaf(model, 2))
    model.rename(leaf(model, 0), "it's a \"name\"")
    model.drop_words(model.tree_.top_terms("0", n=1)[0])
    scope = dict(TopicTree=TopicTree, documents=corpus)
    exec(model.script(), scope)
    assert bits(scope["model"]) == bits(model)
    with pytest.raises(ValueError, match="history must have steps"): model.replay([dict(step="save", path="x")])


@pytest.mark.parametrize("wrong", [dict(step="join", node="0101010101"), dict(step="join", nodes="0"), dict(step="split", node=""), dict(step="drop_words", words=["nothing"])])
def test_a_replay_is_made_whole_or_not_at_all(corpus, wrong):
    model = fitted(corpus)
    model.rename("0", "a name")
    before, past = bits(model), model.past_
    steps = [dict(step="split", node=leaf(model, 0)), dict(step="refit"), wrong]
    with pytest.raises(ValueError, match=rf"step 3 of history, {{'step': '{wrong['step']}'.*The model is as it was"): model.replay(steps)
    assert bits(model) == before and model.past_ is past
    assert len(model.replay(steps[:2])) == 2 and model.history[1:] == steps[:2]
    model.undo()
    model.undo()
    assert bits(model) == before


def test_names_of_a_table_with_gaps():
    """A topic that nobody had named was called nan."""
    pandas = pytest.importorskip("pandas")
    model = fitted(planted_tree((2, 3), n_docs=120, random_state=0))
    nodes, old = [leaf.id for leaf in model.tree_.leaves()], model.topics()
    some = ["Balls", float("nan"), None, pandas.NA, "", pandas.NaT]
    names = [some[k % len(some)] for k in range(len(nodes))]
    expected = {node: "Balls" for node, name in zip(nodes, names) if isinstance(name, str) and name}
    model.rename(dict(zip(nodes, names)))
    assert model.tree_.names == expected and model.history[-1]["node"] == {node: expected.get(node, "") for node in nodes}
    model.undo()
    model.rename(pandas.Series(names, index=old.node))                       # as a table has them, root/0
    assert model.tree_.names == expected
    for gap in some[1:]:
        model.rename(nodes[0], gap)
        assert not model.tree_.names and model.topics().equals(old) and model.history[-1] == dict(step="rename", node=nodes[0], name="")
        model.rename(nodes[0], "Balls")
    model.tree_.rename(nodes[0], float("nan"))
    assert not model.tree_.names and not model.name(lambda words, texts: pandas.NA)


def test_names_by_a_function_are_a_step(tmp_path):
    texts = some_texts(60)
    model = fitted(texts, n_topics=4, max_df=.6)
    one, two = leaf(model, 0), leaf(model, 1)
    model.rename(two, "mine")
    before = bits(model)
    def called(words, texts): return words[0].upper() if texts else "no texts"
    names = model.name(called, nodes=[one, two])
    assert set(names) == {one, two} and names[one].isupper() and model.tree_.names == names
    assert model.history[1:] == [dict(step="rename", node=names)] and f"model.rename({names!r})" in model.script()
    named = bits(model)
    model.split(leaf(model, 2))
    model.undo()
    assert bits(model) == named
    model.save(tmp_path/"m")
    again = TopicTree.load(tmp_path/"m")
    assert again.history == model.history and again.tree_.names == names
    twin = fitted(texts, n_topics=4, max_df=.6)
    twin.replay(again.history)
    assert bits(twin) == named
    model.undo()
    assert bits(model) == before
    model.redo()
    assert bits(model) == named


def test_a_function_gets_the_texts_that_are_handed_over(tmp_path):
    texts = ["goal team match", "law vote court", "bread oven flour"]*9
    TopicTree(3).fit(texts).save(tmp_path/"m.nmf2", keep_texts=False)
    model, seen = TopicTree.load(tmp_path/"m.nmf2"), []
    with pytest.warns(UserWarning, match="no texts, so the function gets words only: give documents"): model.name(lambda words, some: seen.append(some))
    assert seen and not any(seen)
    seen.clear()
    model.name(lambda words, some: seen.append(some), texts)
    assert all(set(some) <= set(texts) and some for some in seen)


def test_a_function_that_says_nothing_or_fails_is_no_step(corpus):
    model = fitted(corpus)
    before = bits(model)
    assert model.name(lambda words, texts: None) == {} and model.history == []
    answers = iter(["a name"])
    with pytest.raises(StopIteration): model.name(lambda words, texts: next(answers))
    assert bits(model) == before


def test_what_can_be_done_without_documents(corpus, tmp_path):
    fitted(corpus).save(tmp_path/"m")
    model = TopicTree.load(tmp_path/"m")
    deep = max(model.tree_.leaves(), key=lambda leaf: len(leaf.id)).id
    for name, options in (("split", dict(node=deep)), ("merge", dict(a=deep, b=leaf(model, 0 if deep != leaf(model, 0) else -1))),
                          ("move", dict(docs=[0], node=deep)), ("drop_words", dict(words=[model.vocab_[0]])), ("refit", {})):
        with pytest.raises(ValueError, match=rf"{name} needs the documents of the fit.*model\.{name}\(.*documents="): getattr(model, name)(**options)
    model.rename(deep, "deep")
    model.keep(deep)
    model.merge(deep[:-1] + "0", deep[:-1] + "1")                                  # siblings
    assert_sound(model, corpus)
    model.join("0")
    assert_sound(model, corpus)
    for wrong in (corpus[np.arange(200)], corpus[np.arange(240)[::-1]]):
        with pytest.raises(ValueError, match="documents must be"): model.split("0", documents=wrong)


def test_titles_have_phrases_where_texts_are_handed_over(tmp_path):
    """A model without texts reads those that it is given for an edit."""
    rng = np.random.default_rng(0)
    subjects = ["space shuttle", "launch", "orbit"], ["hockey puck", "goal", "league"], ["key escrow", "chip", "cipher"]
    texts = [". ".join(rng.choice(some, 8)) for some in subjects for _ in range(40)]
    model = TopicTree(3).fit(texts)
    model.save(tmp_path/"m")
    for step in (dict(), dict(words=["chip"])):
        loaded, own = TopicTree.load(tmp_path/"m"), TopicTree(3).fit(texts)
        for one, documents in ((loaded, dict(documents=iter(texts))), (own, {})): (one.drop_words if step else one.refit)(**step, **documents)
        assert loaded.tree_.headings == own.tree_.headings and "space shuttle" in sum(own.tree_.headings.values(), [])


def test_other_documents_are_refused(tmp_path):
    """Documents in another order, also if most stay in their topic; and such with other names."""
    rng = np.random.default_rng(0)
    subjects = "shuttle launch orbit moon".split(), "puck goal league team".split(), "escrow chip cipher code".split()
    texts = [" ".join(rng.choice(some, 8)) for some in subjects for _ in range(20)]
    docs = Corpus(texts, ids=[f"text {i}" for i in range(60)])
    TopicTree(3).fit(docs).save(tmp_path/"m")
    model, shifted = TopicTree.load(tmp_path/"m"), texts[4:] + texts[:4]
    for show in (model.refit, model.to_html, lambda texts: model.split(model.tree_.leaves()[0], documents=texts)):
        with pytest.raises(ValueError, match="documents must be those of the fit, in their order: only 80% of these belong"): show(shifted)
        with pytest.raises(ValueError, match="in their order: 'text 1' is in the place of 'text 0'"): show(docs[np.r_[1:60, 0]])
        show(Corpus(texts)), show(docs)
    with pytest.raises(ValueError, match="'text 1' is in the place of 'text 0'"): model.update(texts[:3], documents=docs[np.r_[1:60, 0]])


def test_a_new_fit_forgets(corpus):
    model = fitted(corpus)
    model.keep("0")
    model.fit(corpus)
    assert model.history == [] and model.edits_.kept == ()
    with pytest.raises(ValueError, match="no step to undo"): model.undo()


@pytest.mark.parametrize("step, message", [
    (lambda m: m.split("0"), "must be a leaf"), (lambda m: m.join(leaf(m, 0)), "is a leaf"), (lambda m: m.merge("0", "0"), "two nodes, got root/0 and root/0"),
    (lambda m: m.merge("", "0"), "in one another"), (lambda m: m.merge("0", "1"), "parts of root already"), (lambda m: m.move([], leaf(m, 0)), "got none"),
    (lambda m: m.move([999], leaf(m, 0)), "below 240"), (lambda m: m.move([-1], leaf(m, 0)), "docs must be"), (lambda m: m.move(m.labels_ == 1, leaf(m, 0)), "numbers of rows, and (True|False) is none: np.flatnonzero"), (lambda m: m.move([.5], leaf(m, 0)), "docs must be"),
    (lambda m: m.move(None, leaf(m, 0)), "None is neither"), (lambda m: m.move([None, 1], leaf(m, 0)), "None is neither"),
    (lambda m: m.move([0], ""), "must be a leaf"), (lambda m: m.move(m.tree_[leaf(m, 0)].docs, leaf(m, 1)), "merge it"),
    (lambda m: m.split(leaf(m, 0), 5), "^documents must be those of the fit, .* got 5. A leaf becomes two: for more, split these, or model.grow"),
    (lambda m: m.refit("ball"), "^documents must be those of the fit, a list of texts or a matrix of counts, got 'ball'$"),
    (lambda m: m.drop_words(str(m.vocab_[0]).upper()), "is not: there is '[a-z]+'$"), (lambda m: m.drop_words(" ".join(m.vocab_[:2])), r"is not: give its words one by one, \['"),
    (lambda m: m.drop_words("nothing"), "is not"), (lambda m: m.drop_words([]), "got none"), (lambda m: m.drop_words(m.vocab_), "leave some word"),
    (lambda m: m.drop_words(3), "words must be .* and 3 is not"), (lambda m: m.drop_words(None), "words must be .* and None is not"),
    (lambda m: m.drop_words([["a"]]), "words must be .* is not"), (lambda m: m.keep("0", "no"), "on must be True, or False .* got 'no'"),
    (lambda m: m.rename({}), "node must be one node"), (lambda m: m.rename({"0": "a name"}, "another"), "node must be one node"),
    (lambda m: m.keep("0", on=False), "node must be one that is kept, and root/0 is not; nothing is kept"), (lambda m: m.redo(), "no step to redo"), (lambda m: m.undo(), "none was made")])
def test_bad_input(starts, step, message):
    model = starts[1][0]
    before = bits(model)
    with pytest.raises(ValueError, match=message): step(model)
    with pytest.raises(KeyError, match="no node"): model.split("0101010101")
    assert bits(model) == before


def test_documents_that_are_alike_stay_together():
    model = fitted(["goal umpire said"]*6 + ["vote law said"]*6 + ["oven dough said"]*6, n_topics=3, min_df=1, max_df=.5)
    with pytest.raises(ValueError, match="too much alike"): model.split(leaf(model, 0))
    model = fitted(["goal umpire said"]*6 + ["vote law said"], n_topics=2, min_df=1, max_df=1.)
    with pytest.raises(ValueError, match="can't be split: it has one document$"): model.split(model.tree_.leaves()[model.labels_[6]])


def test_support_is_lost_where_a_tree_changes_and_comes_back(corpus):
    model = fitted(corpus)
    found = model.support(n_fits=12)
    leaf = model.tree_.leaves()[0]
    model.split(leaf.id)
    assert [node.id for node in model.tree_ if np.isnan(node.support)] == [leaf.id + "0", leaf.id + "1"]
    assert np.isnan(model.support_.docs[leaf.docs]).all() and np.isfinite(np.delete(model.support_.docs, leaf.docs)).all()
    again = model.support(n_fits=13)
    assert np.isfinite(again.nodes).all() and model.support_ is again
    model.undo()
    assert model.support_ is found
    model.redo()
    assert model.support_ is again


def test_versions_share_the_documents_of_nodes_that_stay():
    model = fitted(some_texts(60), n_topics=4, max_df=.6)
    before = model.tree_
    model.rename("0", "a name")
    assert model.tree_ is not before
    for node in before: assert model.tree_[node.id].docs is node.docs
    model.move([int(before.leaves()[0].docs[0])], before.leaves()[-1].id)
    assert_array_equal(model.tree_.labels(), model.labels_)
    for node in model.tree_:
        if node.children: assert_array_equal(np.sort(np.concatenate([child.docs for child in node.children])), node.docs)


def test_a_node_from_before_an_edit_is_what_it_became_or_an_error(corpus):
    "Its id may be that of another one by now; so nothing is done to that, and no step is left behind"
    texts = as_texts(corpus)
    model, other = fitted(texts), fitted(texts[::-2], n_topics=4)
    first, before = model.tree_, {node.id: node for node in model.tree_}
    a, b = model.tree_.leaves()[0].id, model.tree_.leaves()[-1].id
    changed = model.merge(a, b)
    now = {id: changed.renamed.get(id, id) for id in before if id not in changed.gone}
    assert changed.renamed and changed.gone and set(changed.changed) <= set(now.values())
    for was, id in now.items():
        assert model.tree_[before[was]] is model.tree_[id] and first[model.tree_[id]] is before[was]
        model.rename(before[was], f"n{was}")
        assert model.tree_.names == {id: f"n{was}"}
        model.undo()
    for node in [*(before[id] for id in changed.gone), other.tree_.leaves()[0]]:
        history, bytes_of = list(model.history), bits(model)
        for step in (lambda: model.rename(node, "x"), lambda: model.keep(node), lambda: model.split(node), lambda: model.merge(node, a), lambda: model.join(node),
                     lambda: model.move([0], node), lambda: model.tree_.title(node)):
            with pytest.raises(ValueError, match="node must be of this tree"): step()
        assert model.history == history and bits(model) == bytes_of
    leaf = model.tree_.leaves()[1]
    rows = np.flatnonzero(model.labels_ != 1)[:3].tolist()
    for row in rows: model.move(row, leaf)                              # a node that changes each time
    assert (model.labels_[rows] == 1).all()
    while model.past_: model.undo()
    assert model.tree_ is first and first[leaf].tree is first
    copied = pickle.loads(pickle.dumps(model))
    for node in before.values(): assert copied.tree_[node] is copied.tree_[node.id]     # by its documents

def test_documents_are_those_of_the_fit_after_a_node_was_kept(corpus, new, tmp_path):
    "Some were put elsewhere than topics say while it was kept; they don't tell against the documents later"
    texts, new = as_texts(corpus), as_texts(new)
    docs = [*texts, *new]
    model = fitted(texts, n_topics=4)
    model.keep("0")
    model.update(new)
    assert len(model.edits_.apart) and not np.array_equal(model.predict(docs), model.labels_)
    model.keep("0", on=False)
    model.save(tmp_path/"m.nmf2")
    loaded = TopicTree.load(tmp_path/"m.nmf2")
    assert_array_equal(loaded.edits_.apart, model.edits_.apart)
    with pytest.raises(ValueError, match="only .* belong"): loaded.refit(docs[::-1])
    loaded.refit(docs)
    again = fitted(texts, n_topics=4)
    again.replay([*model.history, dict(step="refit")], docs)
    assert bits(again) == bits(loaded)

def test_splits_are_the_same_in_any_order_of_documents(corpus):
    "Also where the leaf has no clear halves"
    texts = as_texts(corpus)
    order = np.random.default_rng(3).permutation(len(corpus))
    for step in (lambda model: model.split(max(model.tree_.leaves(), key=lambda leaf: leaf.size).id), lambda model: model.grow(9)):
        one, other = fitted(texts, n_topics=3), fitted([texts[i] for i in order], n_topics=3)
        for model in (one, other): step(model)
        assert_array_equal(one.labels_[order], other.labels_)
        assert list(one.tree_.nodes) == list(other.tree_.nodes)

def test_words_are_dropped_as_titles_say_them():
    "The pattern cuts o'neill, and ka'ba into two words that topics have"
    rng = np.random.default_rng(0)
    subjects = "tea O’Neill cup milk", "goal team player match", "river ka'ba water boat"
    texts = [" ".join(rng.permutation(subject.split())[:3]) for subject in subjects for _ in range(30)]
    model = TopicTree(3, min_df=2).fit(texts)
    assert "o’neill" in " ".join(sum(model.tree_.headings.values(), [])) and "neill" in model.vocab_
    with pytest.raises(ValueError, match="is not"): model.drop_words("O'Hara")
    with pytest.raises(ValueError, match="is not"): model.drop_words("goal's")
    model.drop_words("O'Neill")
    assert "neill" not in model.vocab_ and "neill" not in str(model.tree_.headings)
    assert "ka'ba" in str(model.tree_.headings) and {"ka", "ba"} < set(model.vocab_)
    model.drop_words(["ka'ba", "goal"])
    assert model.history[-1]["words"] == ["ka", "ba", "goal"] and "ba" not in model.vocab_ and "ka'ba" not in str(model.tree_.headings)

def test_a_script_makes_the_tree_that_was_edited(corpus):
    "With all words of a list, by the parameters of the fit, in types that Python knows by itself"
    texts = as_texts(corpus)
    few = [f"word{i}" for i in range(60)]
    model = fitted(texts, n_topics=np.int64(5), stop_words=few, ngram_range=(1, 2))
    model.drop_words(np.array([model.vocab_[3]]))
    model.rename("0", np.str_("mine"))
    model.split(model.tree_.leaves()[-1])
    model.set_params(n_topics=2)
    json.dumps(model.history)
    assert type(model.history[0]["words"][0]) is str
    found = dict(TopicTree=TopicTree, documents=texts)
    exec(model.script(), found)
    assert bits(found["model"]) == bits(model)
    own = fitted(texts, tokenizer=lambda text: text.split(), random_state=np.random.RandomState(0))
    second, first, made = sorted(own.script().split("\n")[:2]) + own.script().split("\n")[2:]
    assert first.startswith("# tokenizer is what the fit had: ") and second.startswith("# random_state is what the fit had: a RandomState")
    assert made == "model = TopicTree(n_topics=6, tokenizer=tokenizer, random_state=random_state).fit(documents)"

def test_rows_and_names_of_documents_together(corpus):
    "In either order; what is neither is an error"
    texts = as_texts(corpus)
    model = fitted(Corpus(texts, ids=[f"d{i}" for i in range(len(corpus))]))
    leaf = model.tree_.leaves()[0]
    rows = np.flatnonzero(model.labels_ > 0)[:2].tolist()
    for docs in ([rows[0], f"d{rows[1]}"], [f"d{rows[1]}", rows[0]]):
        model.move(docs, leaf.id)
        assert model.history[-1]["docs"] == rows
        model.undo()
    with pytest.raises(ValueError, match="'x' is neither"): model.move([rows[0], "x"], leaf.id)

def test_names_that_cannot_be_seen_are_none(corpus):
    texts = as_texts(corpus)
    model = fitted(texts)
    for name in ("\u200b\u200b", " \u00a0", "\u2060"):
        model.rename("0", name)
        assert model.tree_.names == {}
    model.rename("", "All of it")
    assert str(model).split("\n")[0] == "240 documents: All of it"
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="node must be one node"): model.rename(pd.DataFrame(dict(a=["x"])))

def test_a_script_knows_the_fit_of_models_of_any_kind(corpus, tmp_path):
    "Whatever was set since; pickled by an earlier version; of a subclass with other parameters; saved and loaded; of lists that were changed"
    texts = as_texts(corpus)
    words = ["word1", "word2"]
    model = fitted(texts, n_topics=5, stop_words=words)
    words.append("word3")
    model.set_params(n_topics=2)
    script = "model = TopicTree(n_topics=5, stop_words=['word1', 'word2']).fit(documents)"
    assert model.script() == script
    model.save(tmp_path/"m.nmf2")
    assert TopicTree.load(tmp_path/"m.nmf2").script() == script
    del model.asked_
    assert "n_topics=2" in model.script()
    cut = fitted(texts, tokenizer=str.split, ngram_range=(np.int64(1), 1))
    cut.set_params(tokenizer=None)
    assert cut.script().endswith("model = TopicTree(n_topics=6, tokenizer=tokenizer).fit(documents)")
    with pytest.warns(UserWarning, match="tokenizer .str.split. can.t be kept"): cut.save(tmp_path/"cut.nmf2")
    with pytest.raises(ValueError, match="tokenizer str.split was not kept"): TopicTree.load(tmp_path/"cut.nmf2").predict(texts)    # and not cut in another way
    class Own(TopicTree):
        def __init__(self, n_topics=20, *, limit=.3): super().__init__(n_topics, max_df=limit); self.limit = limit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = Own(4, limit=.5).fit(texts)
    assert own.script() == "model = Own(n_topics=4, limit=0.5).fit(documents)"

def test_a_node_of_another_model_is_none_of_ours(corpus):
    "Even if it has the same rows, which are other documents; of a copy it is"
    texts = as_texts(corpus)
    model, other = fitted(texts), fitted([text.upper() for text in texts], lowercase=False)
    for node in (other.tree_[""], *other.tree_.leaves()):
        with pytest.raises(ValueError, match="node must be of this tree"): model.rename(node, "x")
    copied = pickle.loads(pickle.dumps(model))
    model.rename(copied.tree_.leaves()[0], "x")
    assert model.tree_.names == {model.tree_.leaves()[0].id: "x"}

def test_names_of_new_and_private_letters_are_names(corpus):
    model = fitted(as_texts(corpus))
    for name in ("\ue001", "\U0001fae8", "a\u200b"):
        model.rename("0", name)
        assert model.tree_.names == {"0": name}


def test_a_third_node_to_merge_is_no_set_of_documents():
    model = TopicTree(4, min_df=1, max_df=1., random_state=0).fit([f"{word} {other}" for word in "goal vote seed code".split() for other in "aa bb cc dd ee".split()]*3)
    a, b, c = model.tree_.leaves()[:3]
    for third in (c, c.id):
        with pytest.raises(ValueError, match=f"merge takes two nodes; root/{c.id} can be merged in another step"): model.merge(a, b, third)
    assert not model.history and len(model.tree_.leaves()) == 4


def test_texts_that_were_shown_are_handed_over(tmp_path):
    texts = [f"{'abc'[i % 3]*3} {'def'[i % 3]*3} w{i % 7}w w{i % 5}w" for i in range(120)]
    TopicTree(3, min_df=1).fit(texts[:90]).save(tmp_path/"m.nmf2")
    for steps in (lambda m: m.update(texts[90:]), lambda m: m.drop_words("w1w")):
        model = TopicTree.load(tmp_path/"m.nmf2")
        with pytest.raises(ValueError, match="needs the documents of the fit, and this model has none"): steps(model)
        model.to_html(texts[:90])
        steps(model)
        loaded = TopicTree.load(tmp_path/"m.nmf2")
        loaded.to_html(texts[:90], columns=dict(n=[*range(90)]))
        assert str(steps(loaded))


# ---- what stays, and what is told of what does not

@pytest.mark.parametrize("a, b, node", [("000", "01", "0"), ("00", "01", "0"), ("000", "1", "")])
def test_a_node_that_goes_below_its_sibling_leaves_the_parent(corpus, a, b, node):
    model = fitted(corpus)
    while "000" not in model.tree_.nodes: model.split(next(id for id in ("0", "00") if not model.tree_[id].children))
    if not model.tree_["01"].children: model.split("01")
    if a == "00": model.join("00")
    model.rename({"": "everything", "0": "physics", "00": "optics", "01": "lasers", "1": "biology"})
    if node: model.keep(node)
    if a == "00": return check_refused(model, a, b)
    docs = model.tree_[node].docs
    title, sibling = model.tree_.title(node), b[:-1] + "10"[int(b[-1])]
    changed = model.merge(a, b)
    assert_array_equal(model.tree_[node].docs, docs)
    assert model.tree_.title(node) == title and node not in changed.gone and node not in changed.changed
    assert sibling in changed.gone and model.edits_.kept == ((node,) if node else ())
    assert_sound(model, corpus)

def test_after_any_merge_nodes_with_their_documents_have_their_names(corpus):
    model = fitted(corpus, n_topics=7)
    model.rename({node.id: f"was root{node.id}" for node in model.tree_})
    old = model.tree_
    there = {node.docs.tobytes(): node.id for node in old}
    for a, b in itertools.permutations(old.nodes, 2):
        try: model.merge(a, b)
        except ValueError: continue
        for node in model.tree_:
            if node.docs.tobytes() in there: assert model.tree_.title(node) == f"was root{there[node.docs.tobytes()]}"
        model.undo()


def check_refused(model, a, b):
    with pytest.raises(ValueError, match="parts of root/0 already"): model.merge(a, b)


def test_what_is_no_longer_kept_is_told(corpus):
    model = fitted(corpus)
    first, last = model.tree_.leaves()[0].id, model.tree_.leaves()[-1].id
    model.keep(last)
    changed = model.merge(first, last)
    assert changed.loose == (last,) and f"no longer kept root/{last}" in str(changed) and model.edits_.kept == ()
    model.undo()
    assert model.join(last[:-1]).loose == (last,)
    model.undo()
    assert model.merge(last, first).loose == () and len(model.edits_.kept) == 1


def test_a_loaded_model_expects_as_many_unknown_words(tmp_path):
    texts = some_texts(90)
    model = fitted(texts, n_topics=4, max_df=.6)
    model.save(tmp_path/"m", keep_texts=True)
    again = TopicTree.load(tmp_path/"m")
    for step in (lambda m: m.refit(), lambda m: m.drop_words(str(m.vocab_[0])), lambda m: m.grow(5)):
        unknown = model.expected_.unknown
        step(model), step(again)
        assert again.expected_.unknown == model.expected_.unknown == unknown


def test_a_moved_document_that_lost_its_words_is_free():
    texts = ["apple pear plum", "apple pear cherry", "apple plum cherry", "goal ball team", "goal ball win", "team goal win"]*6 + ["lion goal", "tiger"]
    model = fitted(texts, n_topics=2, min_df=3, max_df=1.)
    model.move([36], model.tree_.leaves()[1 - model.labels_[36]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.drop_words("goal")
    assert model.labels_[36] == -1
    model.update(["lion ball team", "lion team win", "lion ball"]*3)
    assert model.labels_[36] == model.predict(["lion goal"])[0] >= 0


def test_a_step_that_fails_at_its_end_is_none(corpus, monkeypatch):
    texts = ["apple pear plum", "apple pear cherry", "goal ball team", "goal ball win"]*6 + ["zebra"]*4
    model = fitted(texts, n_topics=2, min_df=2, max_df=1.)
    before = bits(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(EmptyDocumentsWarning): model.drop_words("zebra")
    assert bits(model) == before
    def interrupted(*args): raise KeyboardInterrupt
    monkeypatch.setattr("nmf2.updating._what_happened", interrupted)
    with pytest.raises(KeyboardInterrupt): model.update(["apple pear", "goal ball"])
    assert bits(model) == before and model.past_ == []


def test_a_replay_needs_all_documents(corpus):
    model = fitted(corpus[:200])
    before = bits(model)
    for history, documents, message in (([dict(step="update", start=200, stop=240)], corpus[:220], "documents must be all 240, those of the fit and of the updates, got 220"),
                                        ([dict(step="update")], corpus, "start, a row of all documents, must be"),
                                        ([dict(step="update", start=200, stop="a")], corpus, "stop, a row of all documents, must be"), (3, None, "history must be a list of steps"), (None, None, "got None")):
        with pytest.raises(ValueError, match=message): model.replay(history, documents)
    assert bits(model) == before


def test_a_model_of_counts_is_not_told_to_keep_texts(corpus, tmp_path):
    model = fitted(corpus)
    model.save(tmp_path/"m")
    with pytest.raises(ValueError, match=r"documents=those of the fit\)$"): TopicTree.load(tmp_path/"m").refit()
    model = fitted(some_texts(60), n_topics=4, max_df=.6)
    model.save(tmp_path/"m")
    with pytest.raises(ValueError, match="keep_texts=True$"): TopicTree.load(tmp_path/"m").refit()


def test_names_share_topics(corpus):
    model = fitted(corpus)
    model.split(leaf(model, 0))
    before = model.components_
    model.rename("0", "a name")
    model.keep("0")
    assert model.components_ is before
    model.refit()
    assert model.components_ is not before
