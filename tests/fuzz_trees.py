"""Damaged files of `Tree.save`, and what is promised of every tree"""
import functools
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from fuzz_checks import Refusal, attempt, pick, require
from fuzz_files import BYTES, flip, members_of, mutated, npy, npy_header, npy_values, odd_arrays, zipped

def check_labels(labels, n, k, empty, what):
    require(isinstance(labels, np.ndarray) and labels.shape == (n,) and labels.dtype.kind == "i", f"{what} are no whole number for each document")
    require(labels.min(initial=0) >= -1 and labels.max(initial=-1) < k, f"{what} are out of range")
    if empty is not None: require((labels[empty] == -1).all(), f"{what} are not -1 for empty documents")

def check_weights(W, n, share, what):
    W = W.toarray() if sp.issparse(W) else W
    require(W.shape[0] == n and np.isfinite(W).all(), f"{what} are not finite")
    require(W.min(initial=0) >= 0, f"{what} are negative")
    if share: require((abs((s := W.sum(1)) - 1) < 1e-3)[s > 0].all(), f"{what} don't sum to one")

def check_split(split, n, n_terms):
    "All that is promised of a split of n documents"
    t = len(split.terms)
    require(split.Ht.shape == (t, 2) and split.W.shape == (n, 2) and split.side.shape == (n,) and split.terms.ndim == 1, "arrays of a split don't fit")
    require((np.diff(split.terms) > 0).all() and (t == 0 or 0 <= split.terms[0] and split.terms[-1] < n_terms), "terms of a split are out of order or range")
    for values in (split.Ht, split.W): require(np.isfinite(values).all() and values.min(initial=0) >= 0, "a split is not finite and nonnegative")
    require(np.isin(split.side, (0, 1)).all(), "sides of a split are not 0 and 1")

def check_tree(tree):
    "All that is promised of a tree"
    nodes, inner = tree.nodes, [node for node in tree.nodes.values() if node.children]
    require("" in nodes and sorted(tree.splits) == sorted(node.id for node in inner), "the tree's splits are not its inner nodes")
    require(sorted([*nodes[""].docs, *nodes[""].outliers]) == list(range(tree.n_docs)), "the tree's root has not all documents")
    require(np.isfinite(tree.root_topic).all() and tree.root_topic.min(initial=0) >= 0, "the root's topic is not finite and nonnegative")
    for node in nodes.values():
        require(not np.isnan(node.score) and (np.diff(node.docs) > 0).all(), "a node has no score, or its documents are not in order")
        require(node.id == "" or node.id[:-1] in nodes, "a node has no parent")
        if node.split is not None: check_split(node.split, node.size, tree.n_terms)
    for node in inner:
        parts = [rows for child in node.children for rows in (child.docs, child.outliers)]
        require(sorted(np.concatenate(parts)) == node.docs.tolist(), "children don't partition their parent")
        for child in node.children:
            topic, sides = child.topic, node.split.side
            require(np.isfinite(topic).all() and topic.min(initial=0) >= 0 and topic.any(), "a topic is not finite, nonnegative and not zero")
            require(np.isin(child.docs, node.docs[sides == int(child.id[-1])]).all(), "documents are not on the side of their child")
        require(node.split.W.shape == (node.size, 2) and np.isfinite(node.split.W).all() and node.split.W.min(initial=0) >= 0, "weights in a split are odd")
    for n in range(1, min(tree.n_leaves, 30) + 1): check_labels(tree.labels(n), tree.n_docs, n, None, "labels of the tree cut")

@functools.cache
def saved(which):
    "The bytes of a sound tree: with words, with names and outliers in float32, or of a single leaf"
    from nmf2.hier import HierNMF2
    rng = np.random.default_rng(which)
    X = rng.poisson(.4, (40, 24)) + rng.poisson(1.5, (40, 24))*(np.arange(40)[:,None]//10 == np.arange(24)//6)
    X[:2] = 0
    X[2:5] = np.eye(24)[:3]*5
    tree = HierNMF2([6, 9, 1][which], imbalance=2.).fit(sp.csr_array(X, dtype=[float, np.float32, float][which])).tree_
    if which != 1: tree.vocab = [f"word{j}" for j in range(24)]
    if which == 1: tree.rename("0", "a name")
    with tempfile.TemporaryDirectory() as folder:
        tree.save(Path(folder)/"tree.nmf2")
        return (Path(folder)/"tree.nmf2").read_bytes()

VALUES = [None, -1, 0, 1, 2**31, 2**63, 10**12, 1e308, float("nan"), float("inf"), .5, True, "", "0", "00", "2", "x"*1000, "\ud800", [], {}, [[]], ["", ""]]

def json_values(data, rng):
    "Another value somewhere in the JSON of a tree file, or one left out, moved or doubled"
    try: root = json.loads(np.load(io.BytesIO(data)).tobytes())
    except Exception: return flip(data, rng)
    thing, inside = root, root
    while isinstance(inside, (dict, list)) and inside and (thing is root or rng.random() < .6):
        thing, key = inside, pick(rng, list(inside) if isinstance(inside, dict) else range(len(inside)))
        inside = thing[key]
    way = pick(rng, ["value", "value", "value", "drop", "double", "turn"])
    if way == "value": thing[key] = pick(rng, VALUES)
    if way == "drop": del thing[key]
    if way == "double" and isinstance(thing, list): thing.append(thing[key])
    if way == "turn" and isinstance(thing, list): thing.reverse()
    return npy(np.frombuffer(json.dumps(root).encode(), np.uint8))

def in_tree(data, rng):
    "A member of a tree file changed, or put in the place of another"
    members = members_of(data)
    if not members: return flip(data, rng)
    i, j = (int(n) for n in rng.integers(len(members), size=2))
    if rng.random() < .3: i = next((k for k, (name, _) in enumerate(members) if name == "about.npy"), i)
    name, inside = members[i]
    way = pick(rng, ["change"]*8 + ["odd", "swap", "drop"])
    change = json_values if name == "about.npy" and rng.random() < .8 else pick(rng, [npy_header, npy_values, npy_values, npy_values, *BYTES])
    if way == "change": members[i] = name, change(inside, rng)
    if way == "odd": members[i] = name, npy(pick(rng, odd_arrays()))
    if way == "swap": members[i], members[j] = (name, members[j][1]), (members[j][0], inside)
    if way == "drop": del members[i]
    return zipped(members)

def use_tree(tree, path, X, texts=None):
    "Everything that can be asked of a tree, which must be answered"
    check_tree(tree)
    k, some = tree.n_leaves, list(tree.nodes)[:6]
    check_labels(tree.predict(X), X.shape[0], k, (X == 0).all(1), "labels of new documents")
    check_weights(tree.transform(X), X.shape[0], True, "weights of new documents")
    for id in some: tree.top_terms(id), tree.contrast(id), tree.typical(id), tree.borderline(id), tree.title(id)
    for doc in range(min(tree.n_docs, 5)): require(tree.path(doc)[0].id == "", "the way of a document does not begin at the root")
    for term in range(min(tree.n_terms, 3)): tree.find(term)
    require(json.loads(tree.to_json())["n_leaves"] == k and len(tree.to_linkage()) == k - 1, "JSON or linkage have another number of leaves")
    for text in (str(tree), repr(tree), tree.to_fragment(texts), tree.to_html(texts)): require(text.isprintable() or len(text) > 9, "nothing is shown")
    tree.save(path)
    again = type(tree).load(path)
    require((again.labels() == tree.labels()).all() and again.names == tree.names and str(again) == str(tree), "a saved tree is read back as another")

def trees_case(rng, folder):
    "Load a damaged file of a tree, and ask the tree for all there is"
    from nmf2.tree import Tree
    sound = saved(int(rng.integers(3)))
    data = mutated(sound, [in_tree]*10 + BYTES, rng) if rng.random() < .97 else sound
    path = folder/"tree.nmf2"
    path.write_bytes(data)
    tree = attempt(lambda: Tree.load(path), [str(path)])
    require(data != sound or not isinstance(tree, Refusal), f"a sound tree is refused: {tree}")
    if isinstance(tree, Refusal): return tree
    use_tree(tree, folder/"again.nmf2", np.vstack([np.zeros(tree.n_terms), rng.poisson(1, (4, tree.n_terms))]))
