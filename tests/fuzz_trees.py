"""Damaged files of `Tree.save` and of `TopicTree.save`, and what is promised of every tree"""
import functools
import io
import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from fuzz_bytes import ARRAY, BYTES, flip, members_of, mutated, npy, zipped
from fuzz_checks import attempt, pick, refused, require

# ---- what is promised

def check_labels(labels, n, k, empty, what):
    good = isinstance(labels, np.ndarray) and labels.shape == (n,) and labels.dtype.kind == "i"
    require(good, f"{what} are no whole number for each document")
    require(labels.min(initial=0) >= -1 and labels.max(initial=-1) < k, f"{what} are out of range")
    if empty is not None: require((labels[empty] == -1).all(), f"{what} are not -1 for empty documents")

def nonnegative(values): return np.isfinite(values).all() and values.min(initial=0) >= 0

def check_weights(W, n, share, what):
    "Finite, nonnegative; as shares the rows sum to one, or are all zero"
    W = W.toarray() if sp.issparse(W) else W
    require(W.shape[0] == n and nonnegative(W), f"{what} are not finite and nonnegative")
    sums = W.sum(1)
    if share: require((abs(sums[sums > 0] - 1) < 1e-3).all(), f"{what} don't sum to one")

def check_split(split, n, n_terms):
    terms, t = split.terms, len(split.terms)
    fit = terms.ndim == 1 and split.Ht.shape == (t, 2) and split.W.shape == (n, 2) and split.side.shape == (n,)
    require(fit, "arrays of a split don't fit")
    in_range = t == 0 or 0 <= terms[0] and terms[-1] < n_terms
    require(in_range and (np.diff(terms) > 0).all(), "terms of a split are out of order or range")
    require(nonnegative(split.Ht) and nonnegative(split.W), "a split is not finite and nonnegative")
    require(np.isin(split.side, (0, 1)).all(), "sides of a split are not 0 and 1")

def check_children(node):
    parts = [rows for child in node.children for rows in (child.docs, child.outliers)]
    require(sorted(np.concatenate(parts)) == node.docs.tolist(), "children don't partition their parent")
    for child in node.children:
        require(child.topic.any(), "the topic of a node is zero")
        side = node.docs[node.split.side == int(child.id[-1])]
        require(np.isin(child.docs, side).all(), "documents are not on the side of their child")

def check_tree(tree):
    "All that is promised of a tree"
    nodes, inner = tree.nodes, [node for node in tree.nodes.values() if node.children]
    same = "" in nodes and sorted(tree.splits) == sorted(node.id for node in inner)
    require(same, "the tree's splits are not its inner nodes")
    root = nodes[""]
    require(sorted([*root.docs, *root.outliers]) == list(range(tree.n_docs)), "the root has not all documents")
    require(nonnegative(tree.root_topic), "the root's topic is not finite and nonnegative")
    for node in nodes.values():
        require(node.id == "" or node.id[:-1] in nodes, "a node has no parent")
        require(not np.isnan(node.score), "a score is not a number")
        require((np.diff(node.docs) > 0).all(), "documents are not in order")
        if node.split is not None: check_split(node.split, node.size, tree.n_terms)
    for node in inner: check_children(node)
    for n in range(1, min(tree.n_leaves, 30) + 1):
        check_labels(tree.labels(n), tree.n_docs, n, None, "labels of the tree cut")

def use_tree(tree, path, X, texts=None):
    "Everything that can be asked of a tree, which must be answered"
    check_tree(tree)
    k, empty = tree.n_leaves, (X == 0).all(1)
    check_labels(tree.predict(X), len(X), k, empty, "labels of new documents")
    check_weights(tree.transform(X), len(X), True, "weights of new documents")
    for id in list(tree.nodes)[:6]:
        for ask in (tree.top_terms, tree.contrast, tree.typical, tree.borderline, tree.title): ask(id)
    for doc in range(min(tree.n_docs, 5)):
        require(tree.path(doc)[0].id == "", "the way of a document does not begin at the root")
    for term in range(min(tree.n_terms, 3)): tree.find(term)
    for text in (str(tree), repr(tree), tree.to_fragment(texts), tree.to_html(texts)): require(text, "nothing is shown")
    same = json.loads(tree.to_json())["n_leaves"] == k and len(tree.to_linkage()) == k - 1
    require(same, "JSON or linkage have other leaves")
    tree.save(path)
    again = type(tree).load(path)
    same = (again.labels() == tree.labels()).all() and again.names == tree.names and str(again) == str(tree)
    require(same, "a saved tree is read back as another")

# ---- damage

@functools.cache
def saved(which):
    "The bytes of a sound tree: with words; with a name and outliers, in float32; or of a single leaf"
    from nmf2.hier import HierNMF2
    rng = np.random.default_rng(which)
    X = rng.poisson(.4, (40, 24)) + rng.poisson(1.5, (40, 24))*(np.arange(40)[:,None]//10 == np.arange(24)//6)
    X[:2], X[2:5] = 0, 5*np.eye(24)[:3]
    model = HierNMF2([6, 9, 1][which], imbalance=2.).fit(sp.csr_array(X, dtype=[float, np.float32, float][which]))
    if which != 1: model.tree_.vocab = [f"word{j}" for j in range(24)]
    if which == 1: model.tree_.rename("0", "a name")
    with tempfile.TemporaryDirectory() as folder:
        model.tree_.save(Path(folder)/"tree.nmf2")
        return (Path(folder)/"tree.nmf2").read_bytes()

JSON = "about.npy", "model.npy"

VALUES = [None, -1, 0, 1, 2**31, 2**63, 10**12, 1e308, float("nan"), float("inf"), .5, True, "", "0", "00", "2",
          "x"*1000, "\ud800", [], {}, [[]], ["", ""]]

def json_values(data, rng):
    "Another value somewhere in the JSON of a tree file, or one left out, doubled, or a list turned round"
    try: root = json.loads(np.load(io.BytesIO(data)).tobytes())
    except Exception: return flip(data, rng)                    # damaged by an earlier mutation
    above, inside = root, root
    while isinstance(inside, (dict, list)) and inside and (above is root or rng.random() < .6):
        above, key = inside, pick(rng, list(inside) if isinstance(inside, dict) else range(len(inside)))
        inside = above[key]
    way = pick(rng, ["value"]*3 + ["drop"] + ["double", "turn"]*isinstance(above, list))
    if way == "value": above[key] = pick(rng, VALUES)
    if way == "drop": del above[key]
    if way == "double": above.append(above[key])
    if way == "turn": above.reverse()
    return npy(np.frombuffer(json.dumps(root).encode(), np.uint8))

def in_tree(data, rng):
    "A member of a tree file changed, or put in the place of another"
    members = members_of(data)
    if not members: return flip(data, rng)
    i, j = (int(n) for n in rng.integers(len(members), size=2))
    if rng.random() < .3: i = pick(rng, [k for k, (name, _) in enumerate(members) if name in JSON] or [i])
    name, inside = members[i]
    way = pick(rng, ["change"]*10 + ["swap", "drop"])
    change = json_values if name in JSON and rng.random() < .8 else pick(rng, ARRAY)
    if way == "change": members[i] = name, change(inside, rng)
    if way == "swap": members[i], members[j] = (name, members[j][1]), (members[j][0], inside)
    if way == "drop": del members[i]
    return zipped(members)

def trees_case(rng, folder):
    "Load a damaged file of a tree, and ask the tree for all there is"
    from nmf2.tree import Tree
    sound = saved(int(rng.integers(3)))
    data, path = mutated(sound, [in_tree]*24 + BYTES, rng) if rng.random() < .97 else sound, folder/"tree.nmf2"
    path.write_bytes(data)
    tree = attempt(lambda: Tree.load(path), [str(path)])
    require(data != sound or not refused(tree), f"a sound tree is refused: {tree}")
    if refused(tree): return tree
    use_tree(tree, folder/"again.nmf2", np.vstack([np.zeros(tree.n_terms), rng.poisson(1, (4, tree.n_terms))]))

# ---- the file of a model

LINES = ["ball goal umpire", "goal league ball match", "umpire match league"]*6 + ["vote law party", "party budget law", "budget reform vote"]*6 + ["", "said"]

@functools.cache
def saved_model(which):
    "The bytes of a sound model: of texts, with them; of a corpus, whose names are kept; or of counts"
    from nmf2 import Corpus, TopicTree
    rng = np.random.default_rng(0)
    counts = rng.poisson(.3, (30, 12)) + rng.poisson(2, (30, 12))*(np.arange(30)[:,None]//10 == np.arange(12)//4)
    given = [LINES, Corpus(LINES, ids=[f"t{i}" for i in range(38)], labels=["a", "b"]*19), counts][which]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TopicTree(3, max_df=.6).fit(given).save(Path(folder)/"model.nmf2", keep_texts=which == 0)
        return (Path(folder)/"model.nmf2").read_bytes()

def models_case(rng, folder):
    "Load a damaged file of a model, and ask the model for all there is"
    from nmf2 import TopicTree
    which = int(rng.integers(3))
    sound = saved_model(which)
    data, path = mutated(sound, [in_tree]*24 + BYTES, rng) if rng.random() < .97 else sound, folder/"model.nmf2"
    path.write_bytes(data)
    model = attempt(lambda: TopicTree.load(path), [str(path)])
    require(data != sound or not refused(model), f"a sound model is refused: {model}")
    if refused(model): return model
    new = rng.integers(0, 4, (7, len(model.pipeline_["trim"].df_)))*(np.arange(7) > 0)[:,None] if which == 2 else LINES[::5] + ["", "of words not known"]
    labels = attempt(lambda: model.predict(new), ["tokenizer", "texts", "documents"])
    if refused(labels): return labels
    check_labels(labels, len(new), model.n_topics_, None, "labels of new documents")
    check_weights(model.transform(new), len(new), True, "shares of topics in new documents")
    check_tree(model.tree_)
    for text in (str(model), repr(model), model.to_html(), str(model.documents_)): require(text, "nothing is shown")
    model.save(path)
    again = TopicTree.load(path)
    require((again.predict(new) == labels).all() and str(again) == str(model), "a saved model is read back as another")
