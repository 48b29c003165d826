"""The explorer without a browser: what its two ends tell each other"""
import csv
import io
import json
import pickle
import re

import numpy as np
import pytest
import traitlets

from nmf2.tree import in_table
from nmf2.data import planted_tree
from nmf2.hier import HierNMF2
from nmf2.topictree import TopicTree
from nmf2.weighting import count_pipeline
from nmf2.widgets import ASKED, TreeExplorer, in_brief


@pytest.fixture
def explorer(planted):
    corpus, model = planted
    tree = pickle.loads(pickle.dumps(model.tree_))
    explorer = tree.explore(corpus, height="20em")
    explorer.sent = []
    explorer.send = lambda content, buffers=None: explorer.sent.append(json.loads(json.dumps(content, allow_nan=False)))
    return explorer


@pytest.fixture(scope="module")
def planted():
    corpus = planted_tree((3, 3), n_docs=360, overlap=.4, noise=.15, length=40, texts=True, random_state=1)
    weigh = count_pipeline(vocab=corpus.vocab)
    model = HierNMF2(6).fit(weigh.fit_transform(corpus.X))
    model.tree_.vocab = weigh.get_feature_names_out()
    return corpus, model


def ask(explorer, what, *given):
    "What comes back for a question as the browser asks it"
    explorer._handle_custom_msg(dict(call="view7", ask=what, given=list(given)), [])
    reply = explorer.sent.pop()
    assert reply.pop("call") == "view7"
    return reply


def test_begins_with_the_whole_tree(explorer, planted):
    tree = explorer.reader.tree
    assert explorer.n_leaves == 6 and explorer.selected == "" and explorer.unfolded == tree.splits and explorer.height == "20em"
    assert [n["id"] for n in explorer.about["nodes"]] == [node.id for node in tree]
    assert explorer.about["title"] == (planted[0].name or "Topics")


def test_state_is_checked(explorer):
    explorer.selected, explorer.n_leaves = "0", 3
    for name, wrong in [("selected", "7"), ("n_leaves", 0), ("n_leaves", 7), ("n_leaves", "many"), ("unfolded", ["0", "7"]), ("names", {"7": "x"})]:
        with pytest.raises((KeyError, ValueError, traitlets.TraitError)): setattr(explorer, name, wrong)
    assert (explorer.selected, explorer.n_leaves) == ("0", 3)
    assert explorer.names == explorer.reader.tree.names == {} and explorer.unfolded == explorer.reader.tree.splits
    explorer.names = {"0": "balls"}
    assert explorer.reader.tree.title("0") == "balls"


def test_outline_is_shown_first_where_there_are_levels(explorer, planted):
    explorer.outline = True
    assert not explorer.outline                                             # there is none: all splits are shown
    tree = pickle.loads(pickle.dumps(planted[1].tree_))
    tree.levels = (2, 6)
    outlined = TreeExplorer(tree, planted[0])
    assert outlined.outline and outlined.about["levels"] == [2, 6]
    outlined.outline = False
    assert '"outline":false' in outlined.to_html() and not outlined.outline
    for levels, shown in [((), False), ((3,), True)]:
        assert TreeExplorer(tree, planted[0], levels=levels).outline == shown


def test_answers(explorer):
    tree = explorer.reader.tree
    assert ask(explorer, "details", "0", None)["answer"]["typical"] == tree.typical("0", 5).tolist()
    assert len(ask(explorer, "details", "0", 20)["answer"]["typical"]) == 20
    assert ask(explorer, "text", "17")["answer"] == explorer.reader.texts[17]
    word = tree.top_terms("0", n=1)[0]
    assert ask(explorer, "find", word)["answer"]["words"][0][0] == word


def test_all_texts_are_searched_and_not_only_those_that_are_listed(explorer, planted):
    corpus, tree = planted[0], explorer.reader.tree
    listed = {i for node in tree for i in explorer.reader.details(node.id)["documents"]}
    hidden = next(i for i in range(360) if i not in listed)
    phrase = " ".join(corpus.texts[hidden].split()[5:9])
    found = ask(explorer, "find", phrase.upper())["answer"]["texts"]
    assert hidden in [i for i, _ in found["documents"]] and found["count"] == sum(phrase in text for text in corpus.texts)


def test_columns_and_shares_go_to_the_reader(planted):
    corpus, model = planted
    shares = np.random.default_rng(0).dirichlet(np.ones(6), 360)
    explorer = model.tree_.explore(corpus, columns={"half": ["a"]*180 + ["b"]*180}, shares=shares)
    leaf = model.tree_.leaves()[2]
    seen = explorer.reader.details(leaf.id)
    for i in seen["typical"]: assert seen["sure"][i] == pytest.approx(shares[i, 2], abs=.0006)
    assert [column["name"] for column in explorer.about["columns"]] == ["half"]
    assert explorer.reader.details("")["columns"] == [dict(top=[["a", 180], ["b", 180]], others=0, without=0)]
    assert '"name":"half"' in explorer.to_html()


def test_topics_as_a_table(explorer):
    tree = explorer.reader.tree
    explorer.rename("0", "ball")
    head, *rows = csv.reader(io.StringIO(ask(explorer, "save", "topics")["answer"]["text"]))
    assert head == ["node", "parent", "documents", "dropped", "name", "title", "words"]
    for row, node in zip(rows, tree, strict=True):
        assert row[0] == in_table(node.id) or not node.id
        assert int(row[2]) == node.size and row[4] == ("ball" if node.id == "0" else "") and row[5] == tree.title(node)


def test_no_question_stays_unanswered(explorer):
    assert "no node" in ask(explorer, "details", "nowhere")["error"]
    assert "error" in ask(explorer, "text", "many") and "error" in ask(explorer, "how are you") and "error" in ask(explorer, "details")


def test_texts_are_fetched_when_wanted(planted):
    corpus, model = planted
    fetched = []
    class Texts:
        def __len__(self): return 360
        def __getitem__(self, i): fetched.append(i); return corpus.texts[i]
    explorer = TreeExplorer(model.tree_, Texts())
    assert fetched == []
    explorer.send = lambda content, buffers=None: None
    explorer._handle_custom_msg(dict(call="1", ask="details", given=["0"]), [])
    assert 0 < len(set(fetched)) <= 10
    explorer._handle_custom_msg(dict(call="1", ask="text", given=["3"]), [])
    assert fetched[-1] == 3


def test_names_go_to_the_tree_and_back(explorer):
    assert ask(explorer, "rename", "01", " Ball  games ") == dict(answer=None)
    assert explorer.reader.tree.title("01") == "Ball games" and explorer.names == {"01": "Ball games"}
    explorer.rename("01")
    assert explorer.names == {} == explorer.reader.tree.names


def test_what_is_saved_is_what_is_seen(explorer):
    explorer.n_leaves, explorer.unfolded, explorer.selected = 3, [""], "0"
    explorer.rename(explorer.reader.tree.leaves(3)[0], "=1+1, \"first\"")
    page, table = ask(explorer, "save", "page")["answer"], ask(explorer, "save", "labels")["answer"]
    assert page["name"] == "tree.html" and '"selected":"0","outline":false,"leaves":3,"unfolded":[""]' in page["text"]
    rows = list(csv.reader(io.StringIO(table["text"])))
    labels, leaves = explorer.reader.tree.labels(3), explorer.reader.tree.leaves(3)
    assert rows[0] == ["row", "id", "leaf", "leaf_number", "title"] and len(rows) == 361
    for (_, *row), k in zip(rows[1:], labels):
        assert row[2] == str(k) and row[1] == ("" if k < 0 else in_table(leaves[k].id))
    assert {row[4] for row in rows[1:] if row[3] == "0"} == {"'=1+1, \"first\""}
    assert {row[4] for row in rows[1:] if row[3] == "1"} == {explorer.reader.tree.title(leaves[1])}


def test_grown_tree_is_shown_after_refresh(planted):
    corpus, model = planted
    model = pickle.loads(pickle.dumps(model))
    weigh = count_pipeline(vocab=corpus.vocab)
    explorer = model.tree_.explore(corpus)
    model.grow(8, weigh.fit_transform(corpus.X))
    explorer.refresh()
    assert explorer.n_leaves == 8 and len(explorer.about["nodes"]) == 15


def test_without_a_kernel_it_is_a_tree_to_unfold(explorer):
    data, _ = explorer._repr_mimebundle_()
    assert "<details" in data["text/html"] and "application/vnd.jupyter.widget-view+json" in data and "6 leaves" in data["text/plain"]


def test_the_map_and_documents_on_it(explorer, planted):
    corpus, tree = planted[0], explorer.reader.tree
    seen = ask(explorer, "map")["answer"]
    assert seen["names"] == [corpus.ids[i] for i in seen["rows"]] and len(seen["rows"]) == (tree.labels() >= 0).sum()
    found = ask(explorer, "documents", [5, 2])["answer"]
    assert [i for i, _ in found] == [5, 2] and [about["way"] for _, about in found] == [tree.path(i)[-1].id for i in (5, 2)]
    assert all(about["id"] == corpus.ids[i] and about["text"] for i, about in found)
    words = ask(explorer, "words")["answer"]
    assert len(words["keys"]) == len(seen["rows"]) and {words["words"][j] for j in words["keys"][0]} <= set(corpus.texts[seen["rows"][0]].split())


def test_everything_that_is_asked_has_an_answer():
    from nmf2.page import SCRIPT
    from nmf2.widgets import KERNEL
    asked = {q for script in (SCRIPT, KERNEL) for q in re.findall(r"ask(?:ed)?\('(\w+)'", script)}
    assert asked == set(ASKED)


# ---- changing the tree

@pytest.fixture(scope="module")
def fitted(planted):
    return TopicTree(6, min_df=1, max_df=1.).fit(planted[0])


@pytest.fixture
def editor(fitted):
    return heard(pickle.loads(pickle.dumps(fitted)).explore(levels=()))


def heard(explorer):
    explorer.sent = []
    explorer.send = lambda content, buffers=None: explorer.sent.append(json.loads(json.dumps(content, allow_nan=False)))
    return explorer


def edit(explorer, step, **given): return ask(explorer, "edit", step, given)


def assert_shown(explorer):
    "What is shown is the model's tree"
    tree = explorer.model.tree_
    assert explorer.reader.tree is tree and [n["id"] for n in explorer.about["nodes"]] == [node.id for node in tree]
    assert explorer.names == tree.names and explorer.about["splits"] == tree.splits
    assert explorer.selected in tree.nodes and all(tree[id].children for id in explorer.unfolded)
    assert explorer.editing["kept"] == list(explorer.model.edits_.kept) and explorer.editing["steps"] == len(explorer.model.history)


def test_every_step_by_menu(editor):
    model = editor.model
    leaves = [leaf.id for leaf in model.tree_.leaves()]
    node = next(id for id in model.tree_.splits[::-1] if id)
    rows = model.tree_[leaves[0]].docs[:2].tolist()
    steps = [("split", dict(node=leaves[0])), ("join", dict(node=leaves[0])), ("move", dict(docs=rows, node=leaves[1])),
             ("merge", dict(a=leaves[0], b=leaves[-1])), ("keep", dict(node="0")), ("keep", dict(node="0", on=False)), ("refit", {}),
             ("drop_words", dict(words=model.tree_.top_terms("0", n=1))), ("rename", dict(node="1", name="ball"))]
    for name, given in steps:
        said = edit(editor, name, **given)["answer"]
        assert said == editor.editing["told"] and said.split(":")[0] == editor.editing["undo"] and "undo" not in said
        assert model.history[-1] == dict(step=name) | given
        assert_shown(editor)
    assert node and len(model.history) == len(steps)
    for name, _ in steps[::-1]:
        undo = editor.editing["undo"]
        assert edit(editor, "undo")["answer"] == f"undone: {undo}" and editor.editing["redo"] == undo
        assert_shown(editor)
    assert model.history == [] and editor.editing["undo"] is None
    assert edit(editor, "redo")["answer"].startswith("made again: split") and len(model.history) == 1


def test_what_a_step_says(editor):
    tree = editor.model.tree_
    leaf = max(tree.leaves(), key=lambda leaf: leaf.size)
    said = edit(editor, "split", node=leaf.id)["answer"]
    parts = editor.model.tree_[leaf.id].children
    assert said == f"split {in_table(leaf.id)}: " + " and ".join(f"{in_table(p.id)} “{editor.model.tree_.title(p)}” ({p.size} documents)" for p in parts)
    assert sum(part.size for part in parts) == leaf.size


def test_errors_are_sentences_and_change_nothing(editor):
    before, view = editor.model.tree_, (editor.about, editor.selected, editor.editing)
    for step, given, wanted in [("split", dict(node=""), "must be a leaf"), ("merge", dict(a="0", b="01"), "must not be in one another"),
                                ("move", dict(docs=[], node="0"), "got none"), ("drop_words", dict(words=[]), "got none"), ("undo", {}, "no step to undo"),
                                ("redo", {}, "no step to redo"), ("shake", {}, "step must be"), ("split", dict(node="nowhere"), "no node")]:
        error = edit(editor, step, **given)["error"]
        assert wanted in error and "Traceback" not in error, error
    assert "path" not in edit(editor, "split", where="0")["error"]
    assert "no file yet" in ask(editor, "store")["error"]
    assert editor.model.tree_ is before and view == (editor.about, editor.selected, editor.editing) and not editor.model.history


def test_one_stays_where_one_was(editor):
    tree = editor.model.tree_
    inner = next(id for id in tree.splits if id)
    a, b = [leaf.id for leaf in tree.leaves()][:2]
    docs = set(tree[inner].docs)
    editor.unfolded, editor.selected = ["", inner], inner
    edit(editor, "move", docs=tree[a].docs[:1].tolist(), node=b)
    assert editor.selected == inner and editor.unfolded == ["", inner]
    last = [leaf.id for leaf in tree.leaves() if leaf.id.startswith(inner)][0]
    editor.selected = last
    edit(editor, "join", node=inner)
    assert editor.selected == inner and set(editor.model.tree_[inner].docs) == docs             # it is in there
    edit(editor, "undo")
    assert editor.selected == inner and editor.n_leaves == 6
    editor.n_leaves, editor.selected = 3, ""
    edit(editor, "rename", node="0", name="x")
    assert editor.n_leaves == 3 and editor.selected == ""
    edit(editor, "split", node=tree.leaves()[0].id)
    assert editor.n_leaves == 7 and set(tree.leaves()[0].id[:k] for k in range(len(tree.leaves()[0].id) + 1)) <= set(editor.unfolded)


def test_ids_that_change_are_followed(editor):
    tree = editor.model.tree_
    leaves = tree.leaves()
    gone = next(leaf for leaf in leaves[::-1] if leaf.id[:-1] and not tree[leaf.id[:-1] + "10"[int(leaf.id[-1])]].children)
    sibling = gone.id[:-1] + "10"[int(gone.id[-1])]
    other = next(leaf.id for leaf in leaves if not leaf.id.startswith(gone.id[:-1]))
    editor.selected, docs = sibling, tree[sibling].docs
    said = edit(editor, "merge", a=other, b=gone.id)["answer"]
    np.testing.assert_array_equal(editor.model.tree_[editor.selected].docs, docs)
    assert editor.selected == gone.id[:-1] and f"{in_table(sibling)} is {in_table(gone.id[:-1])} now" in said
    edit(editor, "undo")
    assert editor.selected == sibling


def test_in_an_outline_a_part_is_chosen(fitted):
    explorer = heard(pickle.loads(pickle.dumps(fitted)).explore())
    assert explorer.outline and not TreeExplorer(fitted.tree_).editing
    leaf = max(fitted.tree_.leaves(), key=lambda leaf: leaf.size)
    explorer.selected = leaf.id
    edit(explorer, "split", node=leaf.id)
    assert explorer.selected == leaf.id + "0" and explorer.outline


def test_the_file_named_has_every_step(fitted, planted, tmp_path):
    explorer = heard(pickle.loads(pickle.dumps(fitted)).explore(path=tmp_path/"m.nmf2"))
    assert not (tmp_path/"m.nmf2").exists() and explorer.editing["file"] == "m.nmf2"
    leaf = explorer.model.tree_.leaves()[0].id
    for step, given in [("split", dict(node=leaf)), ("undo", {}), ("rename", dict(node="0", name="ball"))]:
        assert edit(explorer, step, **given)["answer"].endswith("; saved in m.nmf2")
        again = TopicTree.load(tmp_path/"m.nmf2")
        assert again.history == explorer.model.history and again.tree_.to_json() == explorer.model.tree_.to_json() and explorer.editing["saved"]
    twin = pickle.loads(pickle.dumps(fitted))
    twin.replay(again.history)
    assert twin.tree_.to_json() == again.tree_.to_json()
    explorer.path = tmp_path/"nowhere"/"m.nmf2"
    said = edit(explorer, "split", node=leaf)["answer"]
    assert "it could not be saved" in said and len(explorer.model.history) == 2 and not explorer.editing["saved"]


@pytest.mark.parametrize("keep_texts", [False, True])
def test_a_model_goes_back_to_its_file(fitted, planted, tmp_path, keep_texts):
    fitted.save(tmp_path/"m.nmf2", keep_texts=keep_texts)
    model = TopicTree.load(tmp_path/"m.nmf2")
    explorer = heard(model.explore(*([] if keep_texts else [planted[0]])))
    assert explorer.editing["saved"] and explorer.editing["file"] == "m.nmf2"
    edit(explorer, "split", node=model.tree_.leaves()[0].id)
    assert not explorer.editing["saved"] and TopicTree.load(tmp_path/"m.nmf2").history == []
    assert ask(explorer, "store")["answer"] == explorer.editing["told"] == "saved in m.nmf2" and explorer.editing["saved"]
    again = TopicTree.load(tmp_path/"m.nmf2")
    assert again.history == model.history and (getattr(again.given_, "texts", None) is not None) == keep_texts
    edit(explorer, "undo")
    assert not explorer.editing["saved"]                                    # the file has a step more
    edit(explorer, "redo")
    assert explorer.editing["saved"]
    fitted.saved_ = None


@pytest.mark.parametrize("named", [False, True])
def test_a_file_that_a_colleague_changed_stays(fitted, planted, tmp_path, named):
    file = tmp_path/"m.nmf2"
    fitted.save(file)
    fitted.saved_ = None
    mine, theirs = TopicTree.load(file), TopicTree.load(file)
    explorer = heard(mine.explore(planted[0], **dict(path=file) if named else {}))
    leaf = mine.tree_.leaves()[0].id
    theirs.rename("0", "ball")
    theirs.save(file)
    said = edit(explorer, "split", node=leaf)["answer"]
    assert ("it could not be saved" in said and "in the meantime" in said) == named
    assert "was changed by somebody else in the meantime" in ask(explorer, "store")["error"]
    assert TopicTree.load(file).history == theirs.history and len(mine.history) == 1 and not explorer.editing["saved"]
    mine.save(file)                                                         # who says so writes over it
    assert "undone" in edit(explorer, "undo")["answer"] and ask(explorer, "store")["answer"] == "saved in m.nmf2"
    assert TopicTree.load(file).history == []


def test_a_model_from_a_folder_goes_back_to_it(fitted, tmp_path):
    fitted.save(tmp_path/"topics.nmf2")
    fitted.saved_ = None
    explorer = heard(TopicTree.load(tmp_path).explore())
    assert [ask(explorer, "store")["answer"] for _ in range(2)] == ["saved in topics.nmf2"]*2


def test_a_model_without_documents_says_what_it_needs(fitted, tmp_path):
    fitted.save(tmp_path/"m.nmf2")
    fitted.saved_ = None
    explorer = heard(TopicTree.load(tmp_path/"m.nmf2").explore())
    assert "needs the documents of the fit" in edit(explorer, "split", node=explorer.model.tree_.leaves()[0].id)["error"]
    assert "join" in edit(explorer, "join", node=explorer.model.tree_.splits[-1])["answer"]                    # this needs none


def test_a_model_changed_elsewhere(editor, planted):
    leaf = editor.model.tree_.leaves()[0].id
    editor.model.split(leaf)
    assert "changed elsewhere" in edit(editor, "join", node=leaf)["error"] and len(editor.model.history) == 1
    assert_shown(editor)
    assert "join" in edit(editor, "join", node=leaf)["answer"]
    editor.model.undo()
    editor.refresh()
    assert_shown(editor)
    assert editor.selected == "" and editor.editing["redo"] == f"join {in_table(leaf)}"
    editor.model.fit(planted[0][np.arange(300)])
    with pytest.raises(ValueError, match="open it again"): editor.edit("refit")


def test_shares_are_those_of_the_new_leaves(fitted, planted):
    model = pickle.loads(pickle.dumps(fitted))
    explorer = heard(model.explore(shares=model.transform(planted[0])))
    edit(explorer, "rename", node="0", name="x")
    assert explorer.reader.shares.shape == (360, 6)
    edit(explorer, "split", node=model.tree_.leaves()[0].id)
    np.testing.assert_allclose(explorer.reader.shares, model.transform(planted[0]), rtol=1e-5)


def test_a_tree_alone_can_be_named_and_not_changed(explorer):
    assert explorer.editing == {} and "model.explore()" in ask(explorer, "edit", "refit", {})["error"]
    assert "model.explore()" in ask(explorer, "store")["error"]
    assert ask(explorer, "rename", "0", "x") == dict(answer=None) and explorer.names == {"0": "x"}


def test_steps_in_a_few_words():
    assert in_brief(dict(step="keep", node="0", on=False)) == "no longer keep root/0"
    assert in_brief(dict(step="move", docs=[1], node="")) == "move 1 document to root"
    assert in_brief(dict(step="drop_words", words=["{a}", "b"])) == "drop {a}, b" and in_brief(dict(step="some_thing", x=1)) == "some thing"
    assert len(in_brief(dict(step="drop_words", words=["word"]*100))) < 70
    assert in_brief(dict(step="rename", node={"0": "a", "": "b"})) == "rename root/0, root"


def test_the_page_has_no_menu(editor):
    page = editor.to_html()
    assert "split in two" not in page and "rename" in page
