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
from nmf2.weighting import count_pipeline
from nmf2.widgets import ASKED, TreeExplorer


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
    assert rows[0] == ["id", "leaf", "leaf_number", "title"] and len(rows) == 361
    for row, k in zip(rows[1:], labels):
        assert row[2] == str(k) and row[1] == ("" if k < 0 else in_table(leaves[k].id))
    assert {row[3] for row in rows[1:] if row[2] == "0"} == {"'=1+1, \"first\""}
    assert {row[3] for row in rows[1:] if row[2] == "1"} == {explorer.reader.tree.title(leaves[1])}


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
