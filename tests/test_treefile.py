"Trees in files: what is sound comes back the same, what is not is refused with the file's name, no bomb goes off"
import io
import json
import os
import pickle
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from programs import python
from nmf2 import treefile
from nmf2.data import planted_tree
from nmf2.hier import HierNMF2
from nmf2.partitions import HierKMeans
from nmf2.tree import Tree
from nmf2.treefile import check_tree
from nmf2.weighting import count_pipeline


def packed(tree):
    "What the file of a tree has in it, as arrays"
    return {name: np.asarray(array) for name, array in treefile.packed(tree).items()}


@pytest.mark.parametrize("parts, dtype, columns", [([np.arange(3, dtype=np.int8), np.zeros(0, np.int64)], np.int16, 0),
                                                   ([np.ones((2, 2), np.float32), np.zeros((0, 2)), np.ones((1, 2), np.float32)], np.int8, 2),
                                                   ([(), range(3)], np.intp, 0), ([()], np.float32, 2)])
def test_pieces_are_written_as_one_array(parts, dtype, columns):
    "Arrays keep their type, others get the one that is said"
    pieces, file = treefile.Pieces(parts, dtype, columns), io.BytesIO()
    there = all(isinstance(part, np.ndarray) for part in parts)
    expected = np.concatenate(parts) if there else np.concatenate([np.asarray(part, dtype).reshape(-1, *[columns]*bool(columns)) for part in parts])
    pieces.write(file)
    file.seek(0)
    found = np.load(file)
    assert found.dtype == expected.dtype == pieces.dtype and found.shape == expected.shape == pieces.shape and not file.read()
    assert_array_equal(found, expected)
    assert_array_equal(np.asarray(pieces), expected)


@pytest.fixture(scope="module")
def X():
    corpus = planted_tree((3, 3), n_docs=90, overlap=.4, noise=.15, length=40, random_state=1)
    X = count_pipeline().fit_transform(corpus.X).tolil()
    X[5] = 0                                                  # an outlier of the root
    return X.tocsr()


@pytest.fixture(scope="module")
def tree(X):
    with pytest.warns(UserWarning, match="empty"): tree = HierNMF2(6).fit(X).tree_
    tree.vocab = [f"w{j}" for j in range(X.shape[1])]
    tree.rename("01", "Ball games")
    return tree


def write(path, arrays, **changes):
    "A file as `save` writes it, with changes of arrays, or of what `about` says"
    about = json.loads(arrays["about"].tobytes())
    arrays = arrays | {name: value for name, value in changes.items() if name in arrays}
    about |= {name: value for name, value in changes.items() if name not in arrays}
    about = {name: value for name, value in about.items() if value is not write}
    text = changes.get("text") or json.dumps(about)
    arrays["about"] = np.frombuffer(text.encode(), np.uint8)
    np.savez_compressed(path.open("wb"), **{name: value for name, value in arrays.items() if value is not write})


def changed(values, k, value):
    values = np.array(values) if isinstance(values, np.ndarray) else list(values)
    values[k] = value
    return values


# ---- sound trees

@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [lambda: HierNMF2(1), lambda: HierNMF2(9), lambda: HierNMF2(5, leaf_choice="error"),
                                  lambda: HierNMF2(5, trials=0), lambda: HierKMeans(7, random_state=0)])
def test_fitted_trees_are_sound_and_come_back_the_same(X, tmp_path, make, dtype):
    with pytest.warns(UserWarning, match="empty"): tree = make().fit(X.astype(dtype)).tree_
    check_tree(tree)
    tree.save(tmp_path/"t")
    again = Tree.load(tmp_path/"t")
    assert again.to_json() == tree.to_json() and list(again.nodes) == list(tree.nodes)
    for node in tree:
        if node.split is None: assert again[node.id].split is None; continue
        for a, b in zip(again[node.id].split, node.split):
            assert a.dtype == b.dtype and a.flags.writeable
            assert_array_equal(a, b)
    assert again.root_topic.dtype == tree.root_topic.dtype


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_few_strange_documents():
    rng = np.random.default_rng(0)
    for k in range(60):
        X = sp.random(rng.integers(2, 20), rng.integers(1, 12), density=.5, random_state=rng).toarray() + np.eye(1, 1)
        X = X*10.**rng.integers(-9, 9, (len(X), 1)) if k % 3 else np.repeat(X, 3, axis=0)
        check_tree((HierKMeans if k % 4 == 0 else HierNMF2)(6, random_state=0, min_score=0).fit(X).tree_)


def test_topics_by_k_means_are_never_below_zero():
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        X = (rng.random((40, 20))*(rng.random((40, 20)) < .3)*10.**rng.integers(-6, 6, (1, 20))).astype(dtype)
        tree = HierKMeans(8, random_state=0).fit(X[X.any(1)]).tree_
        for node in tree:
            if node.split: assert node.split.Ht.min() >= 0 and node.split.W.min() >= 0


def test_files_of_earlier_versions(tree, tmp_path):
    "Names came later, and topics were in double precision"
    arrays = packed(tree)
    write(tmp_path/"t", arrays, names=write, Ht=arrays["Ht"].astype(float))
    again = Tree.load(tmp_path/"t")
    assert again.names == {} and again.to_text() == str(tree).replace("Ball games: ", "")


def test_files_of_other_machines(tree, tmp_path):
    arrays = packed(tree)
    swapped = {name: value.astype(value.dtype.newbyteorder()) for name, value in arrays.items() if name != "about"}
    small = {name: value.astype(np.int32) for name, value in arrays.items() if value.dtype == np.int64}
    for other in (swapped, small, {"Ht": np.asfortranarray(arrays["Ht"])}):
        write(tmp_path/"t", arrays | other)
        again = Tree.load(tmp_path/"t")
        assert str(again) == str(tree) and again["0"].split.Ht.flags.c_contiguous and again["0"].split.Ht.dtype.isnative
        assert_array_equal(again.labels(), tree.labels())


def test_growing_goes_on_after_a_check(X):
    with pytest.warns(UserWarning, match="empty"): model = HierNMF2(3).fit(X)
    check_tree(model.tree_)
    model = pickle.loads(pickle.dumps(model)).grow(6, X)
    check_tree(model.tree_)
    with pytest.warns(UserWarning, match="empty"): assert model.tree_.to_json() == HierNMF2(6).fit(X).tree_.to_json()


@pytest.mark.slow
def test_a_pipe(tree, tmp_path):
    if not os.path.exists("/dev/fd"): pytest.skip("no such folder")
    tree.save(tmp_path/"t")
    code = "import sys; from nmf2.tree import Tree; print(Tree.load('/dev/stdin'))"
    with (tmp_path/"t").open("rb") as f, subprocess.Popen(["cat"], stdin=f, stdout=subprocess.PIPE) as cat:
        said = subprocess.run([*python(), "-c", code], stdin=cat.stdout, capture_output=True, text=True).stdout
    assert said == f"{tree}\n"


@pytest.mark.slow
def test_the_work_to_read_a_tree_grows_as_its_nodes(tmp_path):
    "2,000 leaves, each of one term: calls of functions, each of them once for every node or so"
    n = 2000
    tree, eye = Tree(n, np.ones(n)/n**.5), np.eye(2)
    from nmf2.tree import Split
    for k in range(n - 1):
        id, rows = "1"*k, np.arange(k, n)
        side = np.r_[0, np.ones(len(rows) - 1, np.int8)].astype(np.int8)
        split = Split(np.array([k, k + 1], np.int32), eye, eye[side].astype(np.float32), side)
        tree.add(id, rows, split=split)
        tree.add(id + "0", [k])
        tree.splits.append(id)
    tree.add("1"*(n - 1), [n - 1])
    tree.save(tmp_path/"t")
    calls = 0
    def count(*_):
        nonlocal calls
        calls += 1
    sys.setprofile(count)
    try: loaded = Tree.load(tmp_path/"t")
    finally: sys.setprofile(None)
    assert loaded.n_leaves == n and calls < 1000*n        # 425 n; a call for each node above it would make n²/2 more, 1,000 n


# ---- trees made by hand

def damages():
    "Names, and functions from arrays and `about` to what is changed"
    def array(name, change): return lambda a, about: {name: change(a[name])}
    def said(name, change): return lambda a, about: {name: change(about[name])}
    for name in ("root_topic", "Ht", "W"):
        for value in (np.nan, np.inf, -1, 1e30 if name != "W" else -np.inf):
            yield f"{name} {value}", array(name, lambda v, value=value: changed(v, 0, value))
        yield f"{name} zero", array(name, lambda v: v*0)
        yield f"{name} integers", array(name, lambda v: v.astype(int))
        yield f"{name} half", array(name, lambda v: v.astype(np.float16))
        yield f"{name} complex", array(name, lambda v: v.astype(complex))
    yield "score nan", array("score", lambda v: changed(v, 2, np.nan))
    for name in ("terms", "docs", "outliers"):
        for value in (-1, 10**6): yield f"{name} {value}", array(name, lambda v, value=value: changed(v, 0, value))
        yield f"{name} as floats", array(name, lambda v: v.astype(float))
    for name in ("terms", "docs"):
        yield f"{name} twice", array(name, lambda v: changed(v, 1, v[0]))
        yield f"{name} unsorted", array(name, lambda v: changed(changed(v, 1, v[2]), 2, v[1]))
        yield f"{name} zero", array(name, lambda v: v*0)
    yield "another document", array("docs", lambda v: changed(v, -1, v[-1] - 1))
    yield "an outlier moved", array("outliers", lambda v: v + 1)
    yield "side 2", array("side", lambda v: changed(v, 0, 2))
    yield "other side", array("side", lambda v: changed(v, 0, 1 - v[0]))
    yield "one side", array("side", lambda v: v*0)
    for name in ("terms", "docs", "side", "W", "Ht", "outliers", "score", "root_topic"):
        yield f"{name} short", array(name, lambda v: v[:-1])
        yield f"{name} long", array(name, lambda v: np.concatenate([v, v[-1:]]))
        yield f"{name} flat or square", array(name, lambda v: v.ravel() if v.ndim > 1 else v[:,None])
        yield f"{name} gone", array(name, lambda v: write)
        yield f"{name} a number", array(name, lambda v: v.ravel()[0])
    for name in ("docs_ends", "terms_ends", "W_ends"):
        yield f"{name} down", array(name, lambda v: v[::-1])
        yield f"{name} moved", array(name, lambda v: changed(v, 0, v[0] - 1))
        yield f"{name} below zero", array(name, lambda v: changed(v, 0, -1))
        yield f"{name} floats", array(name, lambda v: v + .5)
    strange = dict(n_docs=[0, -1, 89, 91, 10**15, "90", 90., True, None], ids=[[], [""], "01"],
                   has_split=[[], [1]*11, [False]*11],
                   splits=[[], ["0"], ["", ""], [1], None, {}, ["", "0", "000"]], vocab=["words", ["a"], {}, 3],
                   names=[[], {"01": 3}, {"02": "x"}, {"01": " "}, {"01": None}, {"01": "\ud800"}], version=["1", 0, -1, 1.5, None, True],
                   format=["other", None])
    for name, values in strange.items():
        for value in values: yield f"{name} {str(value)[:20]}", lambda a, about, name=name, value=value: {name: value}
        if name not in ("names", "vocab"): yield f"{name} gone", lambda a, about, name=name: {name: write}
    yield "a number among words", said("vocab", lambda v: [*v[:-1], 3])
    yield "two nodes of one name", said("ids", lambda v: [*v[:-1], v[-2]])
    yield "another node", said("ids", lambda v: [*v[:-1], "0000000"])
    yield "a letter", said("ids", lambda v: [*v[:-1], "0a"])
    yield "splits the other way", said("splits", lambda v: v[::-1])
    yield "a split less", said("splits", lambda v: v[:-1])
    yield "no split", said("has_split", lambda v: [False, *v[1:]])
    yield "key twice", lambda a, about: dict(text=json.dumps(about)[:-1] + ', "n_docs": 90}')
    yield "nested", lambda a, about: dict(text="["*100_000)
    yield "digits", lambda a, about: dict(text='{"n_docs": ' + "9"*100_000 + "}")
    yield "NaN", lambda a, about: dict(text=json.dumps(about)[:-1] + ', "x": NaN}')
    yield "no JSON", lambda a, about: dict(text="tree")


@pytest.mark.parametrize("change", [pytest.param(change, id=name) for name, change in damages()])
def test_what_is_not_sound_is_refused(tree, tmp_path, change):
    arrays = packed(tree)
    write(tmp_path/"t", arrays, **change(arrays, json.loads(arrays["about"].tobytes())))
    with pytest.raises(ValueError) as error: Tree.load(tmp_path/"t")
    assert str(tmp_path/"t") in str(error.value) and len(str(error.value)) < 600


def test_the_harmless_changes(tree, tmp_path):
    write(tmp_path/"t", packed(tree), remark="a key more")
    assert str(Tree.load(tmp_path/"t")) == str(tree)
    write(tmp_path/"t", packed(tree), version=4, n_docs="in another way")
    with pytest.raises(ValueError, match="t was saved by a later version"): Tree.load(tmp_path/"t")


def test_a_tree_that_could_not_be_read_is_not_written(tmp_path):
    tree = Tree(3, np.ones(2)/2**.5)
    tree.add("", range(3))
    tree.save(tmp_path/"t")
    tree.add("0", [0])
    with pytest.raises(ValueError, match="the nodes are not"): tree.save(tmp_path/"t")
    assert Tree.load(tmp_path/"t").n_leaves == 1


# ---- zips

def npy(array):
    f = io.BytesIO()
    np.save(f, array)
    return f.getvalue()


@pytest.mark.parametrize("array", [np.arange(3_000_000), np.ones((1_000_000, 2), np.float32), np.asfortranarray(np.arange(600.).reshape(300, 2)),
                                   np.arange(7, dtype=">i4"), np.zeros((0, 2)), np.zeros(0, np.int8)])
def test_an_array_is_read_without_a_copy(tmp_path, array):
    with zipfile.ZipFile(tmp_path/"a.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive: treefile.write_array(archive, "a", array)
    with zipfile.ZipFile(tmp_path/"a.zip") as archive:
        tracemalloc.start()
        found = treefile.read_member(archive, "a", 1e9, array.dtype.kind, array.ndim*2 - 2)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert_array_equal(found, array)
    assert found.dtype.isnative and found.flags.c_contiguous and found.flags.writeable
    assert peak < 2*array.nbytes or array.nbytes < 1e6                 # 24 MB, and what zip unpacks at once


def test_checksums_are_compared(tmp_path):
    array = np.arange(100_000)
    with zipfile.ZipFile(tmp_path/"a.zip", "w") as archive: treefile.write_array(archive, "a", array)
    data = bytearray((tmp_path/"a.zip").read_bytes())
    data[400_000] ^= 1
    with zipfile.ZipFile(io.BytesIO(data)) as archive, pytest.raises(zipfile.BadZipFile, match="CRC"): treefile.read_member(archive, "a", 1e9, "i")


def test_members(tree, tmp_path):
    arrays, path = packed(tree), tmp_path/"t"
    def members(**changes): return {f"{name}.npy": npy(array) for name, array in (arrays | changes).items()}
    def zipped(members, **options):
        with zipfile.ZipFile(path, "w", **options) as archive:
            for name, data in members: archive.writestr(name, data)
    whole = list(members().items())
    zipped(whole)
    assert str(Tree.load(path)) == str(tree)
    for good in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        zipped(whole, compression=good)
        Tree.load(path)
    with pytest.warns(UserWarning, match="Duplicate"): zipped([*whole, whole[3]])
    with pytest.raises(ValueError, match="twice"): Tree.load(path)
    for compression in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        zipped(whole, compression=compression)
        with pytest.raises(ValueError, match="compressed in an unknown way"): Tree.load(path)
    zipped(whole)
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match="encrypted"): Tree.load(path)
    for wrong in (np.array([{}, 1]), np.zeros(3, "f8,i4"), np.array(["a"])):
        cut = [*whole[:-1], (whole[-1][0], b"\x93NUMPY\x01\x00")]
        zipped(cut if wrong.dtype.kind == "O" else members(docs=wrong).items())
        with pytest.raises(ValueError, match="is not a tree"): Tree.load(path)


BOMB = """
import re, resource, sys
from nmf2.tree import Tree
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
def peak(): return int(re.search("VmHWM:\\\\s*(\\\\d+)", open("/proc/self/status").read())[1]) >> 10     # of this process, not of those before it
try: Tree.load(sys.argv[1])
except ValueError as e: print(e, peak(), sep="\\n")
"""

@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is told in other units")
@pytest.mark.parametrize("what", ["zeros", "lists", "size"])
def test_bombs(tmp_path, what):
    with zipfile.ZipFile(tmp_path/"t", "w", zipfile.ZIP_DEFLATED) as archive:
        if what == "lists":
            archive.writestr("about.npy", npy(np.frombuffer(b"[" + b"{},"*2_500_000 + b"{}]", np.uint8)))
        else:
            size = 10**15 if what == "size" else 3*10**8
            with archive.open("about.npy", "w") as f:
                head = npy(np.zeros(100, np.uint8))[:128]
                f.write(head.replace(b"(100,), }" + b" "*13, f"({size},), }}".encode().ljust(22)))
                for _ in range(300 if what == "zeros" else 0): f.write(bytes(10**6))
    run = subprocess.run([*python(), "-c", BOMB, tmp_path/"t"], capture_output=True, text=True, check=True)
    said, peak = run.stdout.splitlines()
    assert str(tmp_path/"t") in said and int(peak) < 1000
    assert dict(zeros="max_ratio", lists="format", size="longer or shorter")[what] in said


@pytest.mark.slow
def test_more_can_be_allowed(tmp_path):
    "Documents of two kinds shrink more than others do"
    X = np.repeat(np.eye(2), 500_000, axis=0)
    tree = HierNMF2(2).fit(X).tree_
    tree.save(tmp_path/"t")
    assert Tree.load(tmp_path/"t").labels().sum() == 500_000
    with pytest.raises(ValueError, match="max_ratio"): Tree.load(tmp_path/"t", max_ratio=1)
    with pytest.raises(ValueError, match="max_ratio must"): Tree.load(tmp_path/"t", max_ratio=0)


def with_view(tree):
    """A copy that is shown in outline and compares documents with its leaves."""
    tree = pickle.loads(pickle.dumps(tree))
    topics = np.stack([leaf.topic for leaf in tree.leaves()], 1)
    tree.leaf_topics, tree.levels = topics/np.linalg.norm(topics, axis=0), (2, tree.n_leaves)
    tree.headings = {leaf.id: ["two words", "one"] for leaf in tree.leaves()}
    return tree


def test_headings_levels_and_topics_are_kept(tree, tmp_path):
    seen = with_view(tree)
    seen.save(tmp_path/"t")
    again = Tree.load(tmp_path/"t")
    assert_array_equal(again.leaf_topics, seen.leaf_topics)
    assert again.headings == seen.headings and again.levels == seen.levels and str(again) == str(seen)
    X = np.eye(tree.n_terms)[:40]
    for n in (None, 3):
        assert_array_equal(again.predict(X, n), seen.predict(X, n))
        assert_array_equal(again.transform(X, n), seen.transform(X, n))


@pytest.mark.parametrize("change, message", [
    (dict(levels=(3, 2)), "levels"), (dict(levels=(99,)), "levels"), (dict(headings={"none": ["a"]}), "no such node"),
    (dict(headings={"0": "a"}), "no list of words"), (dict(headings={"0": [1]}), "no list of words"),
    (dict(leaf_topics=np.ones((3, 3))), "topics of the leaves"), (dict(leaf_topics=-np.eye(300)[:,:6]), "topics of the leaves")])
def test_a_wrong_view_is_not_written(tree, tmp_path, change, message):
    seen = with_view(tree)
    for name, value in change.items(): setattr(seen, name, value)
    with pytest.raises(ValueError, match=message): seen.save(tmp_path/"t")


def test_topics_of_leaves_must_be_in_the_file(tree, tmp_path):
    arrays = packed(with_view(tree))
    del arrays["leaf_topics"]
    with open(tmp_path/"t", "wb") as f: np.savez(f, **arrays)
    with pytest.raises(ValueError, match="leaf_topics is missing"): Tree.load(tmp_path/"t")


def test_weights_that_are_large_but_allowed_are_kept(tmp_path):
    rng = np.random.default_rng(0)
    large = HierNMF2(3).fit(1e29*rng.random((40, 12))).tree_                # double precision allows 1e30
    large.save(tmp_path/"t")
    assert_array_equal(Tree.load(tmp_path/"t").labels(), large.labels())


def test_weights_that_would_overflow_are_refused(tree, tmp_path):
    arrays = packed(tree)
    arrays["W"] = arrays["W"].copy()
    arrays["W"][0] = 1e38
    with open(tmp_path/"t", "wb") as f: np.savez(f, **arrays)
    with pytest.raises(ValueError, match="too large"): Tree.load(tmp_path/"t")


def test_rounding_below_zero_is_gone_after_loading(tree, tmp_path):
    arrays = packed(tree)
    arrays["root_topic"] = arrays["root_topic"].copy()
    j = int(np.argmin(arrays["root_topic"]))
    arrays["root_topic"][j] = -1e-4*arrays["root_topic"].max()
    with open(tmp_path/"t", "wb") as f: np.savez(f, **arrays)
    assert Tree.load(tmp_path/"t").root_topic[j] == 0
