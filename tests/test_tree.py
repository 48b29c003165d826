"""The tree: cuts, words, routes for new documents, and every way out"""
import json
import pickle
import sys
import tracemalloc
import zipfile
from html.parser import HTMLParser

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import cut_tree, is_valid_linkage

from nmf2 import treefile
from nmf2.data import planted_tree
from nmf2.hier import HierNMF2
from nmf2.tree import Split, Support, Tree, largest, shares, shortened
from nmf2.weighting import count_pipeline


@pytest.fixture(scope="module")
def fitted():
    corpus = planted_tree((3, 3), n_docs=360, overlap=.4, noise=.15, length=40, texts=True, random_state=1)
    X = count_pipeline().fit_transform(corpus.X)
    X = sp.csr_matrix(sp.vstack([X, sp.csr_matrix(X.shape, dtype=X.dtype)[:1]]))          # an empty document, so that somebody is dropped
    with pytest.warns(UserWarning, match="1 of 361 documents is empty"): model = HierNMF2(9).fit(X)
    model.tree_.vocab = [f"w{j}" for j in range(X.shape[1])]
    return corpus, X, model


def test_cuts_are_nested(fitted):
    tree = fitted[2].tree_
    for n in range(1, 10):
        leaves, labels = tree.leaves(n), tree.labels(n)
        assert len(leaves) == n and set(labels[labels >= 0]) == set(range(n))
        assert [leaf.id for leaf in leaves] == sorted(leaf.id for leaf in leaves)
        if n > 1:
            coarser = tree.labels(n - 1)
            for k in range(n): assert len(set(coarser[labels == k])) == 1
    assert [leaf.id for leaf in tree.leaves(1)] == [""]


def test_walk_visits_each_node_once_parents_first(fitted):
    tree = fitted[2].tree_
    ids = [node.id for node in tree]
    assert sorted(ids) == sorted(tree.nodes) and ids == sorted(ids)
    for node in tree:
        if node.id: assert node in node.parent.children
        else: assert node.parent is None
        assert node.id in repr(node)


def test_words_and_names_can_be_printed(fitted):
    "Halves of letters, which no terminal and no file takes, and words in all kinds of things"
    tree = pickle.loads(pickle.dumps(fitted[2].tree_))
    tree.vocab = (f"\ud800{j}" for j in range(tree.n_terms))
    tree.rename("0", "half \udc80")
    assert tree.vocab[7] == "\ufffd7" and tree.title("0") == "half \ufffd" and str(tree).encode("utf-8")
    with pytest.raises(ValueError, match="2 dimensions"): tree.vocab = np.full((tree.n_terms, 1), "a")
    with pytest.raises(KeyError) as e: tree["01"*5000]
    assert len(str(e.value)) < 200


def test_top_terms(fitted):
    tree = fitted[2].tree_
    node = tree.leaves()[0]
    words = tree.top_terms(node, n=4)
    assert words == [f"w{j}" for j in np.argsort(-node.topic, kind="stable")[:4]] == tree.top_terms(node.id, n=4)
    assert tree.top_terms(node, vocab=np.arange(tree.n_terms), n=2) == [w[1:] for w in words[:2]]
    assert len(tree.top_terms(node, n=10**6)) == np.count_nonzero(node.topic)
    with pytest.raises(ValueError, match="vocab"): tree.top_terms(node, vocab=["a"])
    for wrong in ("0000000000", 3, None):
        with pytest.raises(KeyError, match="ids are paths"): tree.top_terms(wrong)


def test_without_a_vocabulary_terms_are_numbers(fitted):
    tree = HierNMF2(2).fit(fitted[1][:360]).tree_
    assert all(isinstance(j, int) for j in tree.top_terms("0"))
    assert str(tree.top_terms("0", n=1)[0]) in str(tree)


def test_typical_documents_belong_to_the_node(fitted):
    tree = fitted[2].tree_
    for node in tree:
        rows = tree.typical(node, 4)
        assert len(rows) == min(4, node.size) and set(rows) <= set(node.docs)


def test_routes_at_every_cut(fitted):
    _, X, model = fitted
    tree = model.tree_
    for n in range(1, 10):
        labels, shares = tree.predict(X, n), tree.transform(X, n)
        assert shares.shape == (361, n) and shares.min() >= 0
        assert_allclose(shares.sum(1), 1, rtol=1e-5)
        kept = tree.labels(n) >= 0
        assert (labels[kept] == tree.labels(n)[kept]).mean() > .98
        if n > 1:
            coarse = tree.transform(X, n - 1)
            parent = [[leaf.id for leaf in tree.leaves(n - 1)].index(next(i for i in (leaf.id, leaf.id[:-1]) if i in {m.id for m in tree.leaves(n - 1)})) for leaf in tree.leaves(n)]
            together = np.zeros_like(coarse)
            np.add.at(together.T, parent, shares.T)
            assert_allclose(together, coarse, atol=1e-5)


def by_hand():
    "Two splits over three terms, topics and sizes chosen for easy sums"
    tree = Tree(6, np.ones(3)/np.sqrt(3), ["a", "b", "c"])
    def split(terms, Ht, W, side): return Split(np.array(terms, np.int32), np.array(Ht, float), np.array(W, np.float32), np.array(side, np.int8))
    tree.add("", range(6), score=np.inf, split=split([0, 1, 2], [[.6, 0], [.8, 0], [0, 1]], [[1, 0], [3, 0], [2, 0], [4, 0], [0, 1], [0, 2]], [0, 0, 0, 0, 1, 1]))
    tree.add("0", range(4), score=.5, split=split([0, 1], [[1, 0], [0, 1]], [[1, 0], [3, 0], [2, 0], [0, 4]], [0, 0, 0, 1]))
    tree.add("1", [4, 5], score=-1)
    tree.add("00", [0, 1, 2], score=-1)
    tree.add("01", [3], score=-1)
    tree.splits = ["", "0"]
    return tree


def test_shares_by_hand():
    tree = by_hand()
    # 3 of the first topic (.6, .8, 0) whose sum is 1.4, and 1 of the second, whose sum is 1
    x = 3*np.array([.6, .8, 0]) + [0, 0, 1]
    first = 3*1.4/(3*1.4 + 1)
    assert_allclose(tree.transform([x]), [[first*1.8/4.2, first*2.4/4.2, 1 - first]])
    # nothing in common with the topics of the second split: by the sizes of its children, 3 and 1
    tree["0"].split.Ht[:] = [[0, 0], [0, 1]]
    assert_allclose(tree.transform([[1., 0, 0]]), [[.75, .25, 0]])
    assert tree.predict([[1., 0, 0]]).tolist() == [1]                # a tie goes to the second child


def test_typical_by_hand():
    tree = by_hand()
    assert tree.typical("0").tolist() == [3, 1, 2, 0] and tree.typical("00", 2).tolist() == [1, 2]
    assert tree.typical("1").tolist() == [5, 4] and tree.typical("", 3).tolist() == [0, 1, 2]


def test_many_nodes_at_once_or_one_by_one(fitted):
    _, X, model = fitted
    assert_allclose(shares(model.tree_, X, batch_size=1), shares(model.tree_, X, batch_size=5), atol=1e-7)


def test_new_documents(fitted):
    _, X, model = fitted
    tree = model.tree_
    assert tree.predict(X[-1:])[0] == -1                                  # nothing to go by
    assert_allclose(tree.transform(X[-1:]).sum(), 1)
    one = X[[5]]
    assert_array_equal(tree.predict(one), tree.predict(3*one))            # length does not matter
    assert_array_equal(tree.predict(one.toarray()), tree.predict(one))
    assert_array_equal(model.predict(X), tree.predict(X))
    assert_array_equal(model.transform(X), tree.transform(X))
    with pytest.raises(ValueError, match="features"): tree.predict(X[:,:4])
    with pytest.raises(ValueError, match="Negative"): tree.predict(-X)


def test_save_and_load(fitted, tmp_path):
    _, X, model = fitted
    tree, path = model.tree_, tmp_path/"a tree.nmf2"
    tree.save(path)
    again = Tree.load(path)
    assert str(again) == str(tree) and again.to_json() == tree.to_json() and again.to_html() == tree.to_html()
    assert_array_equal(again.vocab, tree.vocab)
    for n in (1, 4, 9): assert_array_equal(again.labels(n), tree.labels(n))
    assert_array_equal(again.transform(X), tree.transform(X))
    for node in tree:
        assert_array_equal(again[node.id].topic, node.topic)
        assert_array_equal(again[node.id].outliers, node.outliers)
        assert_array_equal(again.typical(node.id), tree.typical(node))
        assert again[node.id].score == node.score
    assert [p.name for p in tmp_path.iterdir()] == ["a tree.nmf2"]        # nothing else left behind
    with zipfile.ZipFile(path) as file:
        for name in file.namelist(): np.load(file.open(name), allow_pickle=False)


def test_save_replaces_whole_files_only(fitted, tmp_path, monkeypatch):
    tree, path = fitted[2].tree_, tmp_path/"tree.nmf2"
    tree.save(path)
    before = path.read_bytes()
    write, written = treefile.write_array, []
    def broken(archive, name, array):
        if len(written) == 2: raise KeyboardInterrupt
        written.append(name)
        write(archive, name, array)
    monkeypatch.setattr(treefile, "write_array", broken)
    with pytest.raises(KeyboardInterrupt): tree.save(path)
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("content", [b"", b"no tree", b"PK\x03\x04broken", b"\x93NUMPY", None, "other", "cut"])
def test_what_is_not_a_tree_is_refused(fitted, tmp_path, content):
    path = tmp_path/"x.nmf2"
    if content is None: np.savez(path.open("wb"), a=np.arange(3))
    elif content == "other": np.savez(path.open("wb"), about=np.frombuffer(b'{"format": "something"}', np.uint8))
    elif content == "cut":
        fitted[2].tree_.save(path)
        path.write_bytes(path.read_bytes()[:-200])
    else: path.write_bytes(content)
    with pytest.raises(ValueError, match="is not a tree saved by nmf2"): Tree.load(path)


def test_any_damage_is_named(fitted, tmp_path):
    fitted[2].tree_.save(tmp_path/"t")
    whole, rng = bytearray((tmp_path/"t").read_bytes()), np.random.default_rng(0)
    refused = 0
    for _ in range(150):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        (tmp_path/"t").write_bytes(damaged)
        try: Tree.load(tmp_path/"t")
        except ValueError as e: refused += "is not a tree saved by nmf2" in str(e)
    assert refused > 75


def test_saved_arrays_keep_their_types(fitted, tmp_path):
    tree = fitted[2].tree_
    tree.save(tmp_path/"t")
    again = Tree.load(tmp_path/"t")
    for node in tree:
        assert again[node.id].docs.dtype == node.docs.dtype
        if node.split:
            for a, b in zip(again[node.id].split, node.split): assert a.dtype == b.dtype


def test_a_missing_folder_is_named(fitted, tmp_path):
    with pytest.raises(FileNotFoundError, match="folder that does not exist"): fitted[2].tree_.save(tmp_path/"no"/"t")


def test_a_missing_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError): Tree.load(tmp_path/"nowhere")


def test_pickled_files_are_not_opened(tmp_path):
    np.savez(tmp_path/"evil.npz", about=np.array([{"format": "nmf2 tree"}], dtype=object))
    with pytest.raises(ValueError, match="is not a tree"): Tree.load(tmp_path/"evil.npz")


def test_pickle_of_a_deep_tree():
    tree, root = Tree(2000, np.ones(2)), ""
    tree.add("", range(2000), score=np.inf)
    for depth in range(1500):
        tree.add(root + "0", [depth]); tree.add(root + "1", range(depth + 1, 2000))
        tree.splits.append(root)
        root += "1"
    assert pickle.loads(pickle.dumps(tree)).n_leaves == 1501


class Text(HTMLParser):
    "Tags that are opened, and whether all are closed in order"
    def __init__(self):
        super().__init__()
        self.tags, self.open, self.words = [], [], []
    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag != "meta": self.open.append(tag)
    def handle_endtag(self, tag): assert self.open.pop() == tag
    def handle_data(self, data): self.words.append(data)


def test_fragment_is_whole_and_safe(fitted):
    bad = "</li><script>alert('x')</script><img src=x onerror=alert(1)> & \"quotes\""
    tree = pickle.loads(pickle.dumps(fitted[2].tree_))
    tree.vocab = [f"<i>{j}" for j in range(tree.n_terms)]
    tree.rename("0", bad)
    shown = tree.to_fragment([bad]*361, ids=[f"<b>{i}" for i in range(361)])
    reader = Text()
    reader.feed(shown)
    assert not reader.open
    assert set(reader.tags) == set("style div details summary span b ol ul li".split())
    assert reader.tags.count("details") == 17
    assert "".join(reader.words).count("alert('x')") == 1 + sum(len(tree.typical(leaf)) for leaf in tree.leaves())
    for out in (tree.to_fragment, tree.to_json):
        with pytest.raises(ValueError, match="ids must have one entry"): out(ids=["a"])
    assert "None" not in tree.to_fragment([None]*361)
    assert "<details" in tree._repr_html_()


def test_an_empty_heading_is_none(fitted):
    tree = pickle.loads(pickle.dumps(fitted[2].tree_))
    before = tree.to_fragment(), tree.to_json()
    tree.headings = {id: [] for id in tree.nodes}
    assert (tree.to_fragment(), tree.to_json()) == before


@pytest.mark.parametrize("n", [0, -1, 1.5, "x"])
def test_titles_have_a_word_or_more(fitted, n):
    tree = pickle.loads(pickle.dumps(fitted[2].tree_))
    tree.headings = {"0": ["one", "two", "three"]}
    tree.names["1"] = "a name"
    for ask in (lambda: tree.heading("0", n), lambda: tree.title("0", n), lambda: tree.title("1", n)):
        with pytest.raises(ValueError, match="n must be a whole number of at least 1"): ask()


def test_largest_is_a_stable_sort():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 50, 99, 100, 200):
        w = rng.integers(-1, 6, 100).astype(float)
        assert_array_equal(largest(w, n), [j for j in np.argsort(-w, kind="stable")[:n] if w[j] > 0])
    for n in (1, 5, 40):        # most weights are nothing, as those of a narrow topic
        w = np.where(rng.random(300) < .1, rng.integers(-3, 6, 300), 0).astype(np.float32)
        assert_array_equal(largest(w, n), [j for j in np.argsort(-w, kind="stable")[:n] if w[j] > 0])
    assert len(largest(np.zeros(5), 3)) == len(largest(np.zeros(0), 3)) == 0


def test_contrast_is_the_difference_of_siblings(fitted):
    tree = fitted[2].tree_
    for node in tree:
        if not node.id: assert tree.contrast(node) == []; continue
        sibling = next(c for c in node.parent.children if c is not node)
        more = node.topic - sibling.topic
        best = [j for j in np.argsort(-more, kind="stable")[:6] if more[j] > 0]
        assert [t for t, _ in tree.contrast(node, 6)] == [f"w{j}" for j in best]
        assert_allclose([d for _, d in tree.contrast(node.id, 6)], more[best])


def test_borderline_documents_have_most_of_the_sibling(fitted):
    _, X, model = fitted
    tree, depth_one = model.tree_, model.tree_.transform(X, n=2)
    for node in tree[""].children:
        rows, share = tree.borderline(node, 361)
        assert sorted(rows) == node.docs.tolist() and (np.diff(share) >= 0).all()
        assert_allclose(share, depth_one[rows,int(node.id)], atol=1e-5)
    assert len(tree.borderline("")[0]) == 0 and len(tree.borderline("0", 3)[0]) == 3


def test_every_document_has_its_way(fitted):
    tree = fitted[2].tree_
    labels, leaves = tree.labels(), tree.leaves()
    for i in range(tree.n_docs):
        way = tree.path(i)
        assert way[0].id == "" and all(b in a.children for a, b in zip(way, way[1:]))
        assert all(i in node.docs for node in way[:-1])
        assert i in way[-1].outliers if labels[i] < 0 else way[-1] is leaves[labels[i]]
    for wrong in (361, -1, "a", 1.5):
        with pytest.raises(ValueError, match="doc must be"): tree.path(wrong)


def test_a_word_is_found_where_it_has_weight(fitted):
    tree = fitted[2].tree_
    for j in (0, 7, tree.n_terms - 1):
        found = tree.find(f"w{j}")
        assert {node.id: weight for node, weight, _ in found} == {node.id: node.topic[j] for node in tree if node.topic[j] > 0}
        for node, weight, rank in found: assert rank == 1 + (node.topic > node.topic[j]).sum()
        assert [f[1] for f in found] == sorted((f[1] for f in found), reverse=True) and found == tree.find(j)
    for wrong in ("nothing", tree.n_terms, -1):
        with pytest.raises(ValueError, match="term"): tree.find(wrong)


def test_names_go_with_the_tree(fitted, tmp_path):
    tree = pickle.loads(pickle.dumps(fitted[2].tree_))
    words = tree.title("01")
    assert words == " ".join(tree.top_terms("01", n=3)) and tree.title("") == "all documents"
    tree.rename("01", "  Ball\n games ")
    tree.rename("", "the lot")
    tree.save(tmp_path/"t")
    for t in (tree, Tree.load(tmp_path/"t"), pickle.loads(pickle.dumps(tree))):
        assert t.title("01") == "Ball games" and t.title("") == "the lot"
        assert ") Ball games: " in str(t) and "<b>Ball games</b>" in t.to_fragment()
        assert json.loads(t.to_json())["nodes"][0]["name"] == "the lot"
    tree.rename("01", "")
    assert tree.title("01") == words and tree.names == {"": "the lot"}
    with pytest.raises(KeyError): tree.rename("012", "x")
    state = dict(tree.__dict__); del state["names"]
    old = Tree.__new__(Tree)
    old.__setstate__(state)                                                # pickled before there were names
    assert old.names == {} and old.title("01") == words


def test_names_of_documents_from_a_data_frame(fitted):
    class Column:
        def __len__(self): return 361
        def __getitem__(self, key): raise KeyError(key)
        def to_numpy(self): return np.array([f"d{i}" for i in range(361)])
    tree = fitted[2].tree_
    assert f"d{tree.typical(tree.leaves()[0], 1)[0]}<" in tree.to_fragment(ids=Column()) and '"d17"' in tree.to_json(ids=Column())


def test_json_says_it_all(fitted):
    tree = fitted[2].tree_
    told = json.loads(tree.to_json(n_terms=3), parse_constant=lambda c: pytest.fail(f"{c} is no JSON"))
    assert told["n_leaves"] == 9 and told["splits"] == tree.splits and told["nodes"][0]["score"] is None
    docs = [i for node in told["nodes"] for i in (node["docs"] or []) + node["outliers"]]
    assert sorted(docs) == list(range(361))
    for node in told["nodes"]: assert node["size"] == tree[node["id"]].size and len(node["terms"]) <= 3
    assert "d7" in json.loads(tree.to_json(ids=[f"d{i}" for i in range(361)]))["nodes"][0]["outliers"] + \
        sum((node["docs"] or [] for node in json.loads(tree.to_json(ids=[f"d{i}" for i in range(361)]))["nodes"]), [])


def test_linkage_cuts_as_the_tree_does(fitted):
    tree = fitted[2].tree_
    Z = tree.to_linkage()
    assert is_valid_linkage(Z) and Z.shape == (8, 4) and (np.diff(Z[:,2]) > 0).all()
    for n in (2, 5, 8):
        mine = tree.labels(n)
        flat = cut_tree(Z, n_clusters=n).ravel()
        for k, leaf in enumerate(tree.leaves()):
            same = [j for j, other in enumerate(tree.leaves()) if mine[other.docs[0]] == mine[leaf.docs[0]]]
            assert set(np.flatnonzero(flat == flat[k])) == set(same)
    assert HierNMF2(1).fit(fitted[1][:50]).tree_.to_linkage().shape == (0, 4)


def test_networkx(fitted):
    pytest.importorskip("networkx")
    tree = fitted[2].tree_
    graph = tree.to_networkx()
    assert set(graph.nodes) == set(tree.nodes) and graph.number_of_edges() == 16
    assert graph.nodes["0"]["size"] == tree["0"].size


def test_without_networkx_it_says_what_to_install(fitted, monkeypatch):
    tree = fitted[2].tree_
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"nmf2\[graph\]"): tree.to_networkx()


def test_vocabulary_must_fit(fitted):
    with pytest.raises(ValueError, match="one word for each of the"): fitted[2].tree_.vocab = ["a", "b"]


# ---- words of any length

LONG = "x"*1_000_000


def test_a_long_word_costs_its_own_length_only(tmp_path):
    n = 30_000
    tree = Tree(2, np.ones(n)/n**.5)
    tree.add("", range(2))
    tracemalloc.start()
    tree.vocab = [f"w{j}" for j in range(n - 1)] + [LONG]
    tree.save(tmp_path/"t")
    again = Tree.load(tmp_path/"t")
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 60e6 and again.vocab[-1] == LONG and all(type(word) is str for word in again.vocab)
    assert [node.id for node, *_ in again.find(LONG)] == [""]
    with pytest.raises(ValueError) as error: again.find(LONG + "y")
    assert len(str(error.value)) < 100


def test_long_words_are_shortened_for_show_and_whole_in_data(fitted):
    tree, word = pickle.loads(pickle.dumps(fitted[2].tree_)), "x"*1000 + "yz"
    words = [word + str(j) for j in range(tree.n_terms)]
    tree.vocab = words
    tree.rename("0", LONG)
    short = shortened(tree.top_terms("00", n=1)[0])
    assert len(short) == 40 and short.startswith("xxx") and short in tree.title("00")
    for shown in (str(tree), tree.to_fragment(ids=[LONG]*361)): assert word not in shown and short in shown and len(shown) < 40_000
    assert set(tree.top_terms("00")) <= set(words) and word in tree.to_json(n_terms=1) and tree.names["0"] == LONG


def test_shortened_texts():
    for text in ("", "a", "a"*40, "é"*41, "🙂"*100, 17):
        assert len(shortened(text)) == min(len(str(text)), 40) and str(text)[:20] == shortened(text)[:20]
    assert shortened("a"*50 + "b", 10) == "aaaaaa…aab"


@pytest.mark.parametrize("vocab", ["abc", b"abc", {"a": 1, "b": 0, "c": 2}, {"a", "b", "c"}])
def test_what_is_no_list_of_words(vocab):
    with pytest.raises(ValueError, match="vocab must be a list of words in the order"): Tree(3, np.ones(3), vocab)


@pytest.mark.parametrize("vocab, odd", [(["a", None, "c"], r"vocab\[1\] is None"), (["a", "b", float("nan")], r"vocab\[2\] is nan"), ([["a"]]*3, r"vocab\[0\] is \['a'\]"),
                                        (np.array(["a", ("b",), "c"], object), r"vocab\[1\] is \('b',\)")])
def test_what_is_no_word(vocab, odd):
    with pytest.raises(ValueError, match="vocab must be words, and " + odd): Tree(3, np.ones(3), vocab)


def test_words_of_any_type():
    for vocab in (["a", "b"], np.array(["a", "b"]), np.array(["a", "b"], object), np.array([b"a", b"b"]), ("a", "b")):
        tree = Tree(3, np.ones(2), vocab)
        assert tree.vocab.tolist() == ["a", "b"] and all(type(word) is str for word in tree.vocab)
    state = dict(tree.__dict__, _vocab=np.array(["a", "b"]))
    old = Tree.__new__(Tree)
    old.__setstate__(state)                                   # pickled when words were in an array of fixed width
    assert old.vocab.dtype == object and old.vocab.tolist() == ["a", "b"]


def test_names_do_not_speak_to_the_terminal(fitted):
    """Escape sequences, line ends and the rest of what a terminal obeys are no part of a name."""
    tree = pickle.loads(pickle.dumps(fitted[2].tree_))
    for bad in ("a\x1b[31mb", "a\x07b", "a\x9b31mb", "a\r\nb", "a\0b", "a\x7fb"):
        tree.rename("0", bad)
        assert tree.names["0"].isprintable() and tree.names["0"][0] == "a" and tree.names["0"][-1] == "b"
        tree.names["0"] = bad                                         # as a file may have it
        for text in (tree.title("0"), *str(tree).splitlines()):
            assert text.isprintable()
    tree.rename("0", "\x1b\n")
    assert "0" not in tree.names
    tree.rename("0", "größer 東京 e\u0301 👩\u200d🚀")                # letters of all kinds stay
    assert tree.title("0") == "größer 東京 e\u0301 👩\u200d🚀"
    tree.headings = {"1": ["red\x1b[31m", "card"]}
    assert tree.title("1") == "red [31m, card"


@pytest.mark.parametrize("word, hint", [("Ice", ": there is 'ice'"), ("ice rink", r": give its words one by one, \['ice', 'rink'\]"), ("skate", ": there is 'skates'"),
                                        ("İce", ": there is 'ice'"), ("זַיְנַב", ": there is 'זינב'"), ("xyzzy", "vocabulary$")])
def test_a_word_that_is_not_there_is_told_what_is_like_it(word, hint):
    tree = Tree(3, np.ones(4), ["ice", "rink", "skates", "זינב"])
    tree.add("", [0, 1, 2], score=np.inf)
    with pytest.raises(ValueError, match=hint): tree.find(word)


def test_support_of_nodes_that_are_not_known():
    def support(*nodes): return repr(Support(tuple(range(len(nodes))), np.array(nodes), np.ones(3), np.ones((5, len(nodes)))))
    assert support(.5, .9) == "Support by 5 fits: 1 of 2 nodes below 60%"
    assert support(.5, np.nan, .9) == "Support by 5 fits: 1 of 2 nodes below 60%, not known of 1"


def test_nodes_by_their_names():
    tree = HierNMF2(4, random_state=0).fit(np.random.default_rng(0).random((60, 12))).tree_
    a, b = tree.leaves()[:2]
    tree.rename(a, "goals and balls")
    assert tree["goals and balls"] is a and tree[a.id] is a
    tree.rename(b, a.id)                                    # an id is an id
    assert tree[a.id] is a
    tree.rename(b, "goals and balls")
    with pytest.raises(KeyError, match=f"several nodes are called 'goals and balls'.*'{a.id}', '{b.id}'"): tree["goals and balls"]
    with pytest.raises(KeyError, match="names in tree.names"): tree["goals"]
    for name in ("root causes", "roots", "/dev/null", "root/x"):
        tree.rename(b, name)
        assert tree[name] is b and tree[f"root/{a.id}"] is a


@pytest.mark.parametrize("name", ["to_text", "to_fragment", "to_json", "to_networkx"])
def test_numbers_of_words_are_called_what_they_are(name):
    out = getattr(by_hand(), name)
    for wrong in (0, "3", 2.5):
        with pytest.raises(ValueError, match="n_terms must be a whole number of at least 1"): out(n_terms=wrong)
    if name == "to_fragment":
        with pytest.raises(ValueError, match="n_docs must be a whole number of at least 0"): out(n_docs=-1)
        assert "<ol></ol>" in out(n_docs=0)


def test_a_tree_without_words_says_how_to_give_them():
    tree = by_hand()
    tree.vocab = None
    with pytest.raises(ValueError, match="term must be a number, got 'ball': the tree has no words. For words, set tree.vocab"): tree.find("ball")
    assert tree.find(0)
