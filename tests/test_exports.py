"Trees for other programs, read by the real ones"
import io
import json
import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from numpy.testing import assert_allclose, assert_array_equal

from nmf2.data import planted_tree
from nmf2.exports import assignments_table, json_schema, pyldavis_input, to_graphml, to_newick, topics_table
from nmf2.hier import HierNMF2
from nmf2.topictree import TopicTree
from nmf2.tree import Tree, in_table

ODD = "it's <b>&\"a\" (b):,;[c] Ü \u0001"


@pytest.fixture(scope="module")
def corpus(): return planted_tree((3, 3), n_docs=300, random_state=1)


@pytest.fixture(scope="module")
def model(corpus):
    model = TopicTree(9).fit(corpus)
    model.tree_.rename("0", ODD)
    return model


def single():
    tree = Tree(3, np.ones(2), ["a", "b"])
    tree.add("", [0, 1, 2], score=np.inf)
    return tree


def test_graphml_in_networkx(model):
    nx = pytest.importorskip("networkx")
    tree = model.tree_
    graph = nx.parse_graphml(to_graphml(tree, 5))
    assert graph.is_directed() and nx.is_arborescence(graph)
    assert set(graph.edges) == {(in_table(node.id[:-1]), in_table(node.id)) for node in tree if node.id}
    for node in tree:
        found = graph.nodes[in_table(node.id)]
        assert found["size"] == node.size and found["leaf"] is (not node.children)
        assert found["title"] == tree.title(node).replace("\x01", "\ufffd") and found["terms"] == ", ".join(tree.top_terms(node, n=5))
        assert ("score" in found) == bool(node.id) and (not node.id or found["score"] == node.score)
    assert nx.is_isomorphic(graph, tree.to_networkx())
    assert list(nx.parse_graphml(to_graphml(single())).nodes) == ["root"]


def test_newick_in_biopython(model):
    phylo = pytest.importorskip("Bio.Phylo")
    tree = model.tree_
    read = phylo.read(io.StringIO(to_newick(tree)), "newick")
    names = {clade.name: clade for clade in read.find_clades()}
    for node in tree: assert f"{in_table(node.id)} {' '.join(tree.title(node).split())}" in names
    assert len(names) == len(tree.nodes)
    assert [clade.name.split()[0] for clade in read.get_terminals()] == [in_table(leaf.id) for leaf in tree.leaves()]
    for clade in read.find_clades():
        below = {in_table(child.id) for child in tree[clade.name.split()[0]].children}
        assert {child.name.split()[0] for child in clade.clades} == below
    assert [end.name for end in phylo.read(io.StringIO(to_newick(single())), "newick").get_terminals()] == ["root all documents"]


def test_branches_are_as_long_as_in_the_linkage(corpus):
    phylo = pytest.importorskip("Bio.Phylo")
    from scipy.cluster.hierarchy import cophenet, is_valid_linkage
    from scipy.spatial.distance import squareform
    tree = HierNMF2(6).fit(corpus.X).tree_
    linkage = tree.to_linkage()
    assert is_valid_linkage(linkage)
    read = phylo.read(io.StringIO(to_newick(tree)), "newick")
    ends = read.get_terminals()
    far = [[read.distance(a, b) for b in ends] for a in ends]
    assert_allclose(np.array(far)/2, squareform(cophenet(linkage)))


def test_what_pyldavis_wants(model, corpus):
    given = pyldavis_input(model)
    kept = [list(corpus.vocab).index(word) for word in given["vocab"]]
    counts = corpus.X[:,kept].toarray()
    rows = counts.sum(1) > 0
    assert_array_equal(given["doc_lengths"], counts.sum(1)[rows])
    assert_array_equal(given["term_frequency"], counts.sum(0))
    assert_allclose(given["doc_topic_dists"], model.transform(corpus)[rows], atol=1e-6)
    topics = model.components_
    assert_allclose(given["topic_term_dists"], topics/topics.sum(1)[:,None], rtol=1e-6)
    for name in ("topic_term_dists", "doc_topic_dists"): assert_allclose(given[name].sum(1), 1, atol=1e-12)


def test_pyldavis_takes_it(model, corpus):
    pyldavis = pytest.importorskip("pyLDAvis")
    given = pyldavis_input(model, corpus)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shown = pyldavis.prepare(**given, sort_topics=False, n_jobs=1, R=10)
    assert shown.topic_order == list(range(1, 10))
    freq = shown.topic_coordinates["Freq"]
    assert_allclose(freq, 100*(given["doc_lengths"] @ given["doc_topic_dists"])/given["doc_lengths"].sum())
    for k in range(9):
        words = set(shown.topic_info[shown.topic_info["Category"] == f"Topic{k+1}"]["Term"])
        assert len(words & set(model.tree_.top_terms(model.tree_.leaves()[k], n=10))) >= 5


def test_pyldavis_of_texts_in_part_unknown():
    texts = ["goal match goal", "match coach", "soil water", "water roses soil"]*3
    model = TopicTree(2, min_df=1, max_df=1.).fit(texts)
    given = pyldavis_input(model, ["goal goal roses", "unknown", ""])
    assert given["doc_lengths"].tolist() == [3] and len(given["doc_topic_dists"]) == 1
    assert dict(zip(given["vocab"], given["term_frequency"])) == dict(goal=2, roses=1, match=0, coach=0, soil=0, water=0)
    assert len(pyldavis_input(model)["doc_lengths"]) == 12
    with pytest.raises(ValueError, match="documents must have some words"): pyldavis_input(model, ["unknown"])
    with pytest.raises(ValueError, match="documents must be texts"): pyldavis_input(model, np.ones((2, 6)))


def test_pyldavis_without_the_documents(model, corpus, tmp_path):
    model.save(tmp_path/"m.nmf2")
    again = TopicTree.load(tmp_path/"m.nmf2")
    with pytest.raises(ValueError, match="documents must be given"): pyldavis_input(again)
    for name, value in pyldavis_input(model).items(): assert_array_equal(pyldavis_input(again, corpus)[name], value)
    texts = TopicTree(2, min_df=1, max_df=1.).fit(type(corpus)(texts=["a goal", "some soil", "late goal"], ids=["x", "y", "z"]))
    texts.save(tmp_path/"t.nmf2")
    with pytest.raises(ValueError, match="documents must be given"): pyldavis_input(TopicTree.load(tmp_path/"t.nmf2"))


# ---- tables and JSON

def test_tables_in_pandas(model, corpus):
    pd = pytest.importorskip("pandas")
    tree = model.tree_
    topics = topics_table(tree, 5)
    assert list(topics["node"]) == [in_table(node.id) for node in tree] and topics["documents"].tolist() == [node.size for node in tree]
    assert topics["name"].dropna().tolist() == [tree.names["0"]] and pd.isna(topics["parent"][0])
    below = topics[1:].groupby("parent")["documents"].sum()
    assert all(below[in_table(id)] == tree[id].size for id in tree.splits)
    found = assignments_table(tree, corpus.ids, levels=(2,))
    assert_array_equal(found["leaf_number"], tree.labels())
    assert_array_equal(found["id"], [str(id) for id in corpus.ids])
    assert_array_equal(found["row"], range(len(found)))
    sizes = found.groupby("leaf").size()
    assert {leaf: sizes[leaf] for leaf in sizes.index} == {in_table(leaf.id): leaf.size for leaf in tree.leaves()}
    for title, k in zip(found["title_2"], tree.labels(2)): assert title == tree.title(tree.leaves(2)[k])
    assert list(assignments_table(tree, n=3, levels=())["leaf_number"]) == tree.labels(3).tolist()
    merged = found.merge(topics, left_on="leaf", right_on="node", how="left")
    assert_array_equal(merged["title_x"], merged["title_y"])


def test_tables_with_documents_in_no_leaf():
    model = TopicTree(2, min_df=1, max_df=1.).fit(["goal match", "match coach goal", "soil water", "water roses", "..."])
    last = assignments_table(model.tree_).iloc[-1]
    assert last["leaf_number"] == -1 and last[["leaf", "title"]].isna().all() and last["id"] == "4"
    with pytest.raises(ValueError, match="ids"): assignments_table(model.tree_, ["one"])


@pytest.mark.parametrize("export", [topics_table, assignments_table, to_graphml, to_newick])
def test_models_with_a_tree_stand_for_it(model, export):
    assert str(export(model)) == str(export(model.tree_))
    for wrong in (TopicTree(), model.tree_[""], None):
        with pytest.raises(ValueError, match="tree must be a Tree or a fitted model"): export(wrong)


def test_tables_without_pandas(model, monkeypatch):
    import sys
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert topics_table(model.tree_)[0]["node"] == "root" and len(assignments_table(model.tree_)) == 300


def valid(tree, **options):
    from jsonschema import Draft202012Validator
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    data = json.loads(tree.to_json(**options))
    Draft202012Validator(schema).validate(data)
    return data, Draft202012Validator(schema)


@pytest.mark.slow
def test_json_is_as_the_schema_says(model, corpus):
    pytest.importorskip("jsonschema")
    for tree in (model.tree_, single(), HierNMF2(4).fit(corpus.X).tree_):
        for options in ({}, dict(ids=[f"d{i}" for i in range(tree.n_docs)]), dict(n_terms=1)): valid(tree, **options)
    edited = TopicTree(9).fit(corpus)
    edited.split(edited.tree_.leaves()[0].id)
    edited.rename("1", ODD)
    valid(edited.tree_)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [dict(id="2"), dict(size=-1), dict(size=1.5), dict(children=["0"]), dict(terms=[["a"]]), dict(terms=[["a", 1, 2]]),
                                   dict(docs=[[1]]), dict(score="high"), dict(heading="a, b"), dict(name=3)], ids=str)
def test_the_schema_sees_mistakes(wrong):
    pytest.importorskip("jsonschema")
    data, validator = valid(single())
    assert validator.is_valid(data)
    data["nodes"][0] |= wrong
    assert not validator.is_valid(data)


def test_the_schema_asks_for_every_field():
    pytest.importorskip("jsonschema")
    data, validator = valid(single())
    for name in data: assert not validator.is_valid({key: value for key, value in data.items() if key != name}), name
    node = data["nodes"][0]
    for name in node: assert not validator.is_valid(data | dict(nodes=[{key: value for key, value in node.items() if key != name}])), name
    assert validator.is_valid(data | dict(more=1, nodes=[node | dict(support=.5)]))               # what comes later does no harm


def test_pyldavis_wants_a_model(model):
    with pytest.raises(ValueError, match="model must be a fitted TopicTree, got Tree"): pyldavis_input(model.tree_)
    with pytest.raises(NotFittedError): pyldavis_input(TopicTree(3))


def test_ids_go_by_the_index_that_a_model_knows():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(dict(text=["a ball and a net", "a vote on a law", "the goal of the game"]*9, id=[f"d{i}" for i in range(27)]))
    frame = frame.sample(frac=1, random_state=0)
    model = TopicTree(2, min_df=1, max_df=1.).fit(frame.text)
    assert assignments_table(model, frame.id.sort_index()).id.tolist() == frame.id.tolist() == assignments_table(model, frame.id).id.tolist()
