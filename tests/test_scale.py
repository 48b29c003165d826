"""Trees over partitions against trees in memory: sums that repeat, shards, memory limits, and a cluster of processes"""
import ast
import copy
import errno
import gc
import itertools
import json
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
import weakref
import zipfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache, reduce
from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from nmf2 import engines, scale
from nmf2.core import progress_bar
from nmf2.data import planted_tree
from nmf2.flat import FlatNMF2
from nmf2.hier import HierNMF2, grow, grower_options, planted, starter
from nmf2.kernels import documents
from nmf2.rank2 import rank2_nmf, revive
from nmf2.scale import Dask, Local, Part, Table, add_each, as_blocks, fit, start_topics, sweep_part, tree_sum, weights_of
from nmf2.scale_texts import text_sources
from nmf2.shards import Found, Scrap, check_part, in_slices, open_shard, save_shards
from nmf2.topictree import TopicTree
from nmf2.weighting import EmptyDocumentsWarning, count_pipeline

WHOLE = 11_000                                  # so that the upper nodes stay in several partitions
NEAR = {np.float32: 1e-5, np.float64: 1e-10}


@cache
def collection(dtype=np.float64, n_docs=9_000):
    "Documents of a planted tree; nobody changes them"
    corpus = planted_tree((2, 4), n_docs=n_docs, n_terms=1500, overlap=.3, noise=.1, length=30, random_state=0, shuffle=True)
    return count_pipeline().fit_transform(corpus.X).astype(dtype)


def cut(X, n, seed=None):
    "A matrix in partitions, of very different sizes if there is a seed"
    inner = np.arange(1, n)*X.shape[0]//n if seed is None else np.sort(np.random.default_rng(seed).choice(X.shape[0], n - 1))
    return [X[lo:hi] for lo, hi in itertools.pairwise([0, *inner, X.shape[0]])]


def in_memory(X, n_leaves=8, **options):
    "The tree in memory, of documents and words in the order they are in"
    model = HierNMF2(n_leaves, **options)
    grower = planted(X, starter(model.init, model.random_state or 0), grower_options(model))
    with progress_bar(None, "", False, "split") as bar: grow(grower, n_leaves, bar)
    return grower.tree


def assert_same(tree, other, atol):
    assert tree.splits == other.splits
    assert list(tree.nodes) == list(other.nodes)
    for id, node in other.nodes.items():
        assert_array_equal(np.asarray(tree[id].docs), node.docs, err_msg=id)
        assert_array_equal(np.asarray(tree[id].outliers), node.outliers, err_msg=id)
        assert_allclose(tree[id].score, node.score, rtol=max(1e-9, 10*atol), err_msg=id)
        assert_allclose(tree[id].topic, node.topic, atol=atol, err_msg=id)
        if node.split is not None: assert_allclose(np.asarray(tree[id].split.W), node.split.W, atol=1e-4, err_msg=id)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 16, 17, 64, 65, 72, 73, 200])
def test_sums_are_added_in_eights_and_few_wait(n):
    def one_after_another(values): return reduce(lambda a, b: f"({a}{b})", values)
    def level(values):
        eights = [one_after_another(values[i:i+8]) for i in range(0, len(values), 8)]
        return eights[0] if len(eights) == 1 else level(eights)
    letters = [chr(0x4e00 + k) for k in range(n)]
    assert tree_sum(iter(letters), lambda a, b: f"({a}{b})") == level(letters)
    alive, most = weakref.WeakSet(), 0
    class Table:
        def __init__(self): alive.add(self)
        def plus(self, other): return Table()
    def tables():
        nonlocal most
        for _ in range(n):
            yield Table()
            most = max(most, len(alive))
    tree_sum(tables(), Table.plus)
    assert most <= 2 + np.ceil(np.log(n + 1)/np.log(8))


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 6, 11])
def test_sums_of_tables_are_written_over_what_nobody_needs(n, own):
    rng = np.random.default_rng(n)
    pairs = [(rng.random((4, 3)), np.array(k), rng.integers(9, size=3), k) for k in range(n)]
    for values, add, plain in (([table for table, *_ in pairs], np.add, lambda a, b: a + b),
                               ([table for table, *_ in pairs], np.maximum, lambda a, b: np.maximum(a, b)),
                               (pairs, add_each, lambda a, b: tuple(x + y for x, y in zip(a, b))),
                               ([0, *[table for table, *_ in pairs]], np.add, lambda a, b: a + b),
                               ([np.zeros((4, 3), int), *[table for table, *_ in pairs]], np.add, lambda a, b: a + b)):
        given = copy.deepcopy(values)
        expected, found = tree_sum(iter(values), plain), tree_sum(iter(given), add, own)
        for a, b in zip(expected, found) if isinstance(found, tuple) else [(expected, found)]: assert_array_equal(a, b)
        if not own:
            for a, b in zip(values, given):
                for x, y in zip(a, b) if isinstance(a, tuple) else [(a, b)]: assert_array_equal(x, y)
    for table, *_ in pairs: table.flags.writeable = False                        # such as one that is mapped from a file
    assert_array_equal(tree_sum([table for table, *_ in pairs], np.add, own), tree_sum([table for table, *_ in pairs], lambda a, b: a + b))


@pytest.mark.parametrize("dtype", NEAR)
@pytest.mark.parametrize("n", [1, 2, 7])
def test_rank2_is_that_in_memory_and_repeats(n, dtype):
    X = collection(dtype)
    tol = dict(tol=1e-3)                # in float32 the error of the iterations between 1e-3 and 1e-4 is below rounding
    here = rank2_nmf(documents(X), **tol)
    fits = [rank2_nmf(blocks, start_topics(blocks), **tol) for blocks in (as_blocks(cut(X, n, seed=n)) for _ in range(2))]
    assert fits[0].n_iter == here.n_iter
    assert_allclose(fits[0].Ht, here.Ht, atol=NEAR[dtype]*here.Ht.max())
    assert_array_equal(fits[0].Ht, fits[1].Ht)
    if n == 1: assert_array_equal(fits[0].Ht, here.Ht)


def test_partitions_and_documents_may_be_empty():
    X = sp.csr_array(collection().toarray()[:900]*(np.arange(900) % 7 > 0)[:,None])
    blocks = as_blocks([X[:0], X[:300], sp.csr_array((20, X.shape[1])), X[300:], X[:0]])
    filled = X[np.flatnonzero(np.arange(900) % 7)]
    fit_ = rank2_nmf(blocks, start_topics(blocks))
    assert_allclose(fit_.Ht, rank2_nmf(documents(filled)).Ht, atol=1e-8)


def test_a_dead_topic_goes_where_it_goes_in_memory():
    X = collection()[:3000]
    Ht = np.zeros((X.shape[1], 2))
    Ht[:,0] = np.linspace(.1, 1, len(Ht))/np.linalg.norm(np.linspace(.1, 1, len(Ht)))
    there, here = Ht.copy(), Ht.copy()
    assert revive(as_blocks(cut(X, 3)), there) and revive(documents(X), here)
    assert_array_equal(there, here)
    t = np.linspace(.1, 1, X.shape[1])
    parallel = np.c_[t, t]                                      # one of these dies in the first sweep
    assert_allclose(rank2_nmf(as_blocks(cut(X, 3)), parallel).Ht, rank2_nmf(documents(X), parallel).Ht, atol=1e-10)


def test_lost_weights_are_solved_for_again():
    X = collection()[:1000]
    part = Part(X, np.arange(1000))
    rng = np.random.default_rng(0)
    def topics(stamp):
        table = rng.random((X.shape[1], 2))
        return scale.Topics(stamp, table, np.ones(2), (table.T @ table)[[0, 0, 1], [0, 1, 1]])
    first, second = topics(1), topics(2)
    sweep_part(part, first, None)
    kept = sweep_part(part, second, first)
    lost = Part(X, np.arange(1000))
    for a, b in zip(kept, sweep_part(lost, second, first)): assert_array_equal(a, b)
    for a, b in zip(kept, sweep_part(part, second, first)): assert_array_equal(a, b)            # a task that runs twice
    assert_array_equal(weights_of(lost, first), weights_of(part, first))


@pytest.mark.parametrize("dtype", NEAR)
@pytest.mark.parametrize("n", [1, 2, 7])
def test_tree_is_that_in_memory(n, dtype):
    X = collection(dtype)
    tree = fit(HierNMF2(8), cut(X, n, seed=n), whole=WHOLE).tree_
    assert n == 1 or max(len(node.docs.home) for node in tree.nodes.values() if node.id) > 1
    assert_same(tree, in_memory(X), NEAR[dtype])
    assert_same(tree.gathered(), in_memory(X), NEAR[dtype])


@pytest.mark.parametrize("options", [dict(max_outliers=None), dict(init="random", random_state=1), dict(trials=0),
                                     dict(imbalance=4.), dict(leaf_choice="mndcg-paper")])
def test_tree_is_that_in_memory_with_other_options(options):
    X = collection()
    model = fit(HierNMF2(5, **options), cut(X, 3), whole=WHOLE)
    assert_same(model.tree_, in_memory(X, 5, **options), 1e-10)


def test_it_is_the_same_however_small_the_nodes_that_are_handed_over():
    X = collection()
    trees = [fit(HierNMF2(8), cut(X, 3), whole=whole).tree_ for whole in (0, WHOLE, 10**9)]
    for tree in trees[1:]: assert_same(tree, trees[0].gathered(), 1e-10)


def test_empty_documents_are_outliers():
    X = sp.csr_array(collection().copy())
    keep = np.arange(X.shape[0]) % 1000 > 0
    X = sp.csr_array(X.multiply(keep[:,None]))
    X.eliminate_zeros()
    with pytest.warns(EmptyDocumentsWarning):
        tree = fit(HierNMF2(4), cut(X, 3), whole=WHOLE).tree_
        here = in_memory(X, 4)
    assert_same(tree, here, 1e-10)
    assert set(np.flatnonzero(~keep)) <= set(np.asarray(tree[""].outliers))


def test_a_fitted_model_answers():
    X = collection()
    model = fit(HierNMF2(8), cut(X, 3), whole=WHOLE, vocab=[f"w{j}" for j in range(X.shape[1])])
    assert model.components_.shape == (8, X.shape[1]) and model.n_iter_ > 10 and model.n_sweeps_ > 3
    assert_array_equal(model.predict(X), model.predict(X[:]))
    assert (model.tree_.labels() == model.predict(X)).mean() > .9
    assert model.tree_.top_terms("0", n=3)[0].startswith("w")
    assert_array_equal(model.tree_.labels(3), in_memory(X, 3).labels())


def test_a_node_with_too_many_outliers_is_cut_by_a_sample(monkeypatch):
    X = collection()
    monkeypatch.setattr(scale.SpreadGrower, "split", lambda grower, rows, topic, *draw: (None, -1., None))
    tree = fit(HierNMF2(2), cut(X, 3), whole=WHOLE).tree_
    assert tree.n_leaves == 2 and sum(leaf.size for leaf in tree.leaves()) == X.shape[0]


@pytest.mark.slow
def test_shards_on_disk(tmp_path):
    X = collection(np.float32)
    save_shards(X, tmp_path/"plain", 3)
    for k, part in enumerate(cut(X, 3)):
        assert (open_shard(tmp_path/"plain"/f"part-{k:05}.npz") != part).nnz == 0
        (tmp_path/"small").mkdir(exist_ok=True)
        sp.save_npz(tmp_path/"small"/f"{k}.npz", part, compressed=True)
    here = in_memory(X)
    scratch = tmp_path/"scratch"
    scratch.mkdir()
    for X_, engine in ((tmp_path/"plain", Local(scratch)), (str(tmp_path/"small"), None)):
        model = fit(HierNMF2(8), X_, engine, whole=WHOLE)
        assert_same(model.tree_, here, 1e-5)


@pytest.mark.parametrize("most", [1, 50, 400, 10**6])
def test_slices_are_the_shard(tmp_path, most):
    "Documents without terms, at both ends, too, and some with more than fit into a slice"
    X = sp.random_array((60, 300), density=.1, format="csr", rng=0)
    empty, full = sp.csr_array((2, 300)), sp.csr_array(np.ones((1, 300)))
    X = sp.vstack([empty, X[:30], full, empty, full, X[30:], empty], format="csr")
    path, = save_shards(X, tmp_path, 1)
    source, found = check_part(path, "shard")
    sources, own = in_slices([X, source], [found, found], most)
    assert sources[0] is X and own[0] == found                              # what is in memory isn't cut
    sources, own = sources[1:], own[1:]
    pieces = [Part(source, np.arange(f.n_docs)).X for source, f in zip(sources, own)]
    assert_array_equal(sp.vstack(pieces).toarray(), X.toarray())
    for piece, f in zip(pieces, own):
        assert f == Found(*piece.shape, np.count_nonzero(np.diff(piece.indptr)), piece.nnz, "float64")
        assert f.n_docs and f.stored <= most + 300                          # at most a document too much
    assert len(sources) == 1 or most < X.nnz
    sp.save_npz(tmp_path/"small.npz", X, compressed=True)
    small, found = check_part(tmp_path/"small.npz", "shard")
    assert in_slices([small], [found], most) == ([small], [found])


@pytest.mark.slow
def test_the_tree_of_slices_is_that_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("nmf2.scale.PER_TERM", 1)
    (tmp_path/"scratch").mkdir()
    X, engine = collection(np.float32), Local(tmp_path/"scratch")
    engine.at_once = 3000
    blocks = as_blocks(save_shards(X, tmp_path/"plain", 2), engine)
    assert len(blocks.parts) > 6 and blocks.shape == X.shape
    assert_same(fit(HierNMF2(4), blocks, whole=WHOLE).tree_, in_memory(X, 4), 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("compressed", [False, True])
def test_headers_need_no_parser_of_python(tmp_path, monkeypatch, compressed):
    "Python 3.11's fails when several threads parse at the same time"
    for name, X in dict(some=collection(), none=sp.csr_array((3, 5))).items():
        sp.save_npz(tmp_path/f"{name}.npz", X, compressed=compressed)
        with monkeypatch.context() as m:
            m.setattr(ast, "literal_eval", lambda text: pytest.fail(f"parsed {text}"))
            assert_array_equal(open_shard(tmp_path/f"{name}.npz").toarray(), X.toarray())


def test_headers_of_other_forms_are_read(tmp_path):
    "NumPy's second version of its format has longer headers"
    X = collection()[:9]
    sp.save_npz(tmp_path/"first.npz", X)
    with zipfile.ZipFile(tmp_path/"first.npz") as first, zipfile.ZipFile(tmp_path/"second.npz", "w") as second:
        for name in first.namelist():
            with second.open(name, "w") as file:
                np.lib.format.write_array(file, np.lib.format.read_array(first.open(name)), version=(2, 0))
    assert_array_equal(open_shard(tmp_path/"second.npz").toarray(), X.toarray())


def test_what_is_cut_out_is_removed(tmp_path):
    save_shards(collection(), tmp_path/"corpus", 3)
    scratch = tmp_path/"scratch"
    scratch.mkdir()
    model = fit(HierNMF2(3), tmp_path/"corpus", Local(scratch), whole=WHOLE)
    assert list(scratch.iterdir())                               # the nodes that were handed over
    del model
    for _ in range(100):                                         # threads that tried nodes ahead may not be done yet
        gc.collect()
        if not list(scratch.iterdir()): break
        time.sleep(.1)
    assert not list(scratch.iterdir())


def test_of_compressed_shards_only_the_wanted_documents_are_there(tmp_path):
    "Others are read where they are mapped; a compressed one would have to be in memory whole"
    X, ids = collection(), np.array([3, 8, 40])
    for name, compressed in (("plain", False), ("small", True)):
        sp.save_npz(tmp_path/name, X, compressed=compressed)
        part = Part(tmp_path/f"{name}.npz", np.arange(X.shape[0]))
        found, rows, _ = scale._cut(part, ids, shared=True)
        assert part.there == (not compressed) and found.shape[0] == (len(ids) if compressed else X.shape[0])
        assert (found[rows] != X[ids]).nnz == 0


@pytest.mark.skipif(os.name != "posix", reason="no limits on files")
def test_a_full_disk_is_named_and_nothing_is_left(tmp_path):
    import resource
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(OSError) as caught: Scrap([np.zeros(10), np.zeros((50_000, 2))], tmp_path/"some")
    finally: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.errno == errno.EFBIG
    del caught
    gc.collect()
    assert not list(tmp_path.iterdir())


def test_memory_that_is_short_is_no_fault_of_the_disk_or_of_a_file(tmp_path, monkeypatch):
    shards, scrap = save_shards(collection(), tmp_path, 2), Scrap([np.zeros(10)], tmp_path/"some")
    def refused(*args, **options): raise OSError(errno.ENOMEM, "Cannot allocate memory")
    monkeypatch.setattr(np, "memmap", refused)
    with pytest.raises(MemoryError, match="not enough memory to map .*part-00001.npz"): open_shard(shards[1])
    with pytest.raises(MemoryError, match="not enough memory to map .*some"): scrap[0]
    monkeypatch.setattr("builtins.open", refused)
    with pytest.raises(MemoryError, match="not enough memory to write .*other"): Scrap([np.zeros(10)], tmp_path/"other")


KEPT = []                                       # what a process still has at its end


def keep_an_engine():
    KEPT.append(Local())
    folder = Path(engines.scratch_folder(KEPT[0]))
    (folder/"some").write_bytes(b"data")
    return folder


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("how", [how if how == "fork" else pytest.param(how, marks=pytest.mark.slow)
                                 for how in multiprocessing.get_all_start_methods() if "fork" in how])      # a spawned one has an ordinary end
def test_a_process_of_a_pool_leaves_no_folder_behind(how):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(how)) as pool:
        folder = pool.submit(keep_an_engine).result()
    assert folder.name.startswith("nmf2-") and not folder.exists()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="no locks on folders")
@pytest.mark.parametrize("given", [False, True])
def test_what_a_killed_process_leaves_is_removed_by_the_next(tmp_path, monkeypatch, given):
    "And not what a process has that is still at work, or another machine"
    code = """if True:
        import os, sys
        from pathlib import Path
        from nmf2.engines import Local, scratch_folder
        engine = Local(*sys.argv[1:])
        (Path(scratch_folder(engine))/"some").write_bytes(b"data")
        print(scratch_folder(engine), flush=True)
        input()"""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    def begun():
        process = subprocess.Popen([sys.executable, "-c", code, *[str(tmp_path)]*given], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return process, Path(process.stdout.readline().strip())
    (killed, left), (alive, used) = begun(), begun()
    killed.kill()
    killed.wait()
    (tmp_path/"nmf2-elsewhere-0123456789abcdef").mkdir()
    (tmp_path/f"{left.name}0").mkdir()
    assert left.exists() and left != used and left.parent == used.parent == tmp_path
    engine = Local(tmp_path) if given else Local()
    own = Path(engines.scratch_folder(engine)).name
    assert {path.name for path in tmp_path.iterdir()} - {own} == {used.name, f"{left.name}0", "nmf2-elsewhere-0123456789abcdef"}
    assert (used/"some").read_bytes() == b"data"
    alive.communicate("\n")
    assert alive.returncode == 0 and not used.exists()


def broken(tmp_path):
    "Shards with something wrong"
    X = collection()[:60]
    whole = save_shards(X, tmp_path, 1)[0].read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole)//2] ^= 1
    for name, content in dict(short=whole[:-2000], flipped=bytes(flipped), empty=b"", text=b"1 2 3").items():
        path = tmp_path/f"{name}.npz"
        path.write_bytes(content)
        yield path
    np.savez(tmp_path/"arrays.npz", data=X.data)
    yield tmp_path/"arrays.npz"
    outside = X.copy()
    outside.indices = outside.indices + 7
    for name, matrix in dict(columns=X.tocsc(), negative=-X, long=X.astype(np.longdouble), nan=X*np.nan, outside=outside).items():
        path = tmp_path/f"{name}.npz"
        sp.save_npz(path, matrix, compressed=False)
        yield path
    yield tmp_path/"not-there.npz"


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, bool])
def test_shards_of_whole_numbers(tmp_path, kind, compressed):
    "As in memory, where they become floats"
    X = collection()
    X = (X/X.max()*9).ceil().astype(kind)
    X.eliminate_zeros()
    for k, part in enumerate(cut(X, 2)): sp.save_npz(tmp_path/f"{k}.npz", part, compressed=compressed)
    blocks = as_blocks(tmp_path)
    assert blocks.dtype == np.float64 and blocks.size == X.nnz
    assert_array_equal(sp.vstack([part.X for part in blocks.parts]).toarray(), X.toarray())
    assert_same(fit(HierNMF2(3), blocks, whole=WHOLE).tree_, in_memory(X.astype(np.float64), 3), 1e-9)


class Meanwhile(Local):
    "Something happens after some sums"
    def __init__(self, what, after=3):
        super().__init__()
        self.what, self.left = what, after

    def total(self, *args, **options):
        self.left -= 1
        if self.left == 0: self.what()
        return super().total(*args, **options)


def written_anew(path): sp.save_npz(path, open_shard(path)[::-1].copy(), compressed=False)
def cut_short(path): os.truncate(path, 100_000)
def emptied(path): path.write_bytes(b"")
def packed(path): sp.save_npz(path, open_shard(path)[:-1].copy(), compressed=True)
def of_something_else(path): np.savez(path, weights=np.ones(3))


@pytest.mark.parametrize("change", [written_anew, cut_short, emptied, packed, of_something_else])
def test_a_shard_that_changes_during_a_fit_is_named(tmp_path, change):
    shards = save_shards(collection(), tmp_path, 3)
    def changed():
        path = tmp_path/"new.npz"                       # what others have mapped stays as it is
        path.write_bytes(shards[1].read_bytes())
        change(path)
        path.replace(shards[1])
    told = "shard part-00001.npz was written to since it was checked: fit once more when nobody changes it"
    with pytest.raises(ValueError, match=told): fit(HierNMF2(3), tmp_path, Meanwhile(changed), whole=0)


def test_a_shard_that_is_removed_during_a_fit_is_named(tmp_path):
    shards = save_shards(collection(), tmp_path, 3)
    with pytest.raises(FileNotFoundError, match="part-00001.npz"): fit(HierNMF2(3), tmp_path, Meanwhile(shards[1].unlink), whole=0)


def test_many_small_shards_are_put_together(tmp_path, monkeypatch):
    X = collection(np.float32)
    save_shards(X, tmp_path/"many", 150)
    for name, value in (("TOGETHER", 5000), ("PER_TERM", 1)): monkeypatch.setattr(scale, name, value)
    (tmp_path/"scratch").mkdir()
    engine = Local(tmp_path/"scratch")
    blocks = as_blocks(tmp_path/"many", engine)
    assert 3 < len(blocks.parts) < 60 and all(f.stored <= 5000 for f in blocks.found)
    assert_array_equal(sp.vstack([part.X for part in blocks.parts]).toarray(), X.toarray())
    assert_array_equal(np.concatenate([part.ids for part in blocks.parts]), np.arange(X.shape[0]))
    for part, f in zip(blocks.parts, blocks.found):
        assert f == Found(*part.X.shape, np.count_nonzero(np.diff(part.X.indptr)), part.X.nnz, "float32")
    assert_same(fit(HierNMF2(4), blocks, whole=WHOLE).tree_, in_memory(X, 4), 1e-5)
    assert len(as_blocks([X[k:k+1] for k in range(150)]).parts) == 150                    # those in memory stay as they are
    assert len(as_blocks(sorted((tmp_path/"many").glob("*"))[:100], engine).parts) == 100      # these aren't many


def test_a_broken_shard_is_named(tmp_path):
    for path in broken(tmp_path):
        with pytest.raises(ValueError, match=f"shard 1, {path.name}") as e: as_blocks([tmp_path/"part-00000.npz", path])
        if path.stem in ("short", "flipped", "empty", "text", "arrays"): assert str(e.value).endswith(": write it anew with save_shards")
        assert "check_part" not in str(e.value) and "KeyError" not in str(e.value) and "'There" not in str(e.value)


def test_bad_input(tmp_path):
    X = collection()[:50]
    for bad, words in (([], "list of partitions"), (X, "list of partitions"), ([X, X[:,:9]], "same terms"),
                       ([X, X.astype(np.float32)], "same float type"), ([X*0], "empty"), (["nowhere.npz"], "nowhere.npz"),
                       ("no-folder", "^no-folder: there is no such file or folder"), (Path("~")/"no.npz", "no.npz: there is no such"),
                       (tmp_path, "must be a folder with .npz files, and .* has none")):
        with pytest.raises((ValueError, FileNotFoundError), match=words): as_blocks(bad)
    with pytest.raises(ValueError, match="n must be"): save_shards(X, tmp_path/"never-made", 0)
    assert not (tmp_path/"never-made").exists()
    for name, value in (("solver", "hals"), ("extrapolate", False), ("leaf_choice", "error"), ("init", lambda docs, terms: None)):
        with pytest.raises(ValueError, match=f"{name} must be"): fit(HierNMF2(**{name: value}), [X])
    with pytest.raises(ValueError, match="HierNMF2, got a SimpleNamespace$"): fit(SimpleNamespace(), [X])
    with pytest.raises(ValueError, match="got a TopicTree: fit_topics of nmf2.scale_texts fits that"): fit(TopicTree(2), [X])
    with pytest.raises(ValueError, match="got a FlatNMF2: fit_flat of nmf2.scale_topics fits that"): fit(FlatNMF2(2), [X])
    for texts in (["a ball", "a law"], np.array(["a ball", "a law"])):
        with pytest.raises(ValueError, match="partition 1 can't be used: it has texts, and X must have matrices: fit_topics"): fit(HierNMF2(2), [X, texts])
    with pytest.raises(ValueError, match="n_leaves"): fit(HierNMF2(0), [X])
    with pytest.raises(ValueError, match="whole"): fit(HierNMF2(2), [X], whole=-1)


def test_a_partition_is_never_changed():
    X = collection()[:5000]
    before = X.copy()
    fit(HierNMF2(3), cut(X, 2), whole=0)
    for name in ("data", "indices", "indptr"): assert_array_equal(getattr(X, name), getattr(before, name))
    dense = X[:100].toarray()
    assert check_part(dense, "a")[1].stored == X[:100].nnz


def test_without_dask_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"nmf2\[dask\]"): Dask()


@pytest.mark.slow
def test_memory_limit_of_the_operating_system(tmp_path):
    "A corpus that doesn't fit below the limit is fitted from shards below it"
    program = """
        import resource, sys
        import numpy as np, scipy.sparse as sp
        from pathlib import Path
        from nmf2.hier import HierNMF2
        from nmf2.scale import Local, fit, save_shards, open_shard
        folder = Path(sys.argv[1])
        rng = np.random.default_rng(0)
        def shard(k, n=3_000):                                       # two planted topics, 12 MB
            terms = np.arange(0, 20_000, 40) + rng.integers(0, 40, (n, 500)) + 20_000*(np.arange(n) % 2)[:,None]
            return sp.csr_array((np.ones(terms.size, np.float32), terms.ravel().astype(np.int32), np.arange(0, terms.size + 1, 500)), (n, 40_000))
        small = shard(0)
        (folder/"small").mkdir()
        for k in range(2): sp.save_npz(folder/"small"/f"{k}.npz", small, compressed=False)
        fit(HierNMF2(2), folder/"small", whole=0)                    # compiles, opens libraries
        (folder/"large").mkdir()
        size = 0
        for k in range(10):
            path = folder/"large"/f"{k}.npz"
            sp.save_npz(path, shard(k), compressed=False)
            size += path.stat().st_size
        used = int(Path("/proc/self/statm").read_text().split()[0])*resource.getpagesize()
        room = size*2//3
        resource.setrlimit(resource.RLIMIT_AS, (used + room, used + room))
        try:
            whole = sp.vstack([sp.load_npz(path) for path in sorted((folder/"large").iterdir())])
            print("fits in memory")
        except MemoryError: print("too large")
        model = fit(HierNMF2(2), folder/"large", Local(folder/"scratch"), whole=0)
        labels = model.tree_.labels()
        print(size//10**6, [leaf.size for leaf in model.tree_.leaves()], len(set(labels[::2])), len(set(labels[1::2])))
    """
    (tmp_path/"scratch").mkdir()
    few = os.environ | dict(MALLOC_ARENA_MAX="1")                # each arena of glibc reserves 64 MB, used or not
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program), str(tmp_path)], env=few, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert lines[0] == "too large"
    assert lines[1].endswith("[15000, 15000] 1 1"), lines


@pytest.fixture(scope="module")
def cluster():
    "Two processes"
    from distributed import Client, LocalCluster
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client: yield client


def test_large_values_are_sent_without_a_warning(cluster):
    from nmf2.engines import Dask
    large = np.arange(1.5e6)                              # 12 MB: Dask warns of 10 in tasks
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        engine = Dask(cluster)
        held = engine.send(large)
    assert_array_equal(engine.fetch([held])[0], large)
    with ThreadPoolExecutor(4) as pool: list(pool.map(engine.send, np.arange(80).reshape(20, 4)))
    with pytest.warns(UserWarning, match="large graph"): engine.hold(np.negative, [large])         # as before


def test_a_cluster_without_workers_is_not_waited_for():
    from distributed import Client

    from nmf2.engines import Dask
    with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
        engine = Dask(client)
        engine.patience = .3
        held = engine.hold(np.negative, [engine.send(np.ones(2))])
        assert engine.fetch(held)[0].tolist() == [-1, -1]
        client.cluster.scale(0)
        while client.nthreads(): time.sleep(.01)
        with pytest.raises(RuntimeError, match="client has had no workers for 0.3 seconds: start some"): engine.fetch(held)
        with pytest.raises(RuntimeError, match="no workers"): engine.total(np.sum, held, add=np.add)
        client.cluster.scale(1)
        assert engine.fetch(held)[0].tolist() == [-1, -1]                # made again


@pytest.fixture(scope="module")
def inside():
    "Two threads of this process, which nobody pauses for want of memory"
    from distributed import Client
    with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0", memory_limit=0) as client: yield client


def nothing_is_left(client):
    "No task a moment later, without a collection of what can't be reached"
    def n_tasks(dask_scheduler): return len(dask_scheduler.tasks)
    for _ in range(200):
        if not client.futures and not client.run_on_scheduler(n_tasks): return True
        time.sleep(.01)


def _no_sweep(*args): raise ArithmeticError("no sweep")


@pytest.mark.parametrize("after", [None, 0, 3])
def test_a_failed_fit_leaves_nothing_on_the_workers(inside, after):
    "Whether a partition can't be used, or a sweep fails; all that was read would stay with the error"
    X = collection()[:900]
    class Failing(Dask):
        sweeps = 0
        def total(self, f, *columns, **options):
            self.sweeps += f is sweep_part
            return super().total(_no_sweep if f is sweep_part and self.sweeps > after else f, *columns, **options)
    parts = [X[:500], -X[500:] if after is None else X[500:]]
    gc.collect()
    gc.disable()
    try:
        with pytest.raises(ValueError if after is None else ArithmeticError) as e: fit(HierNMF2(3), parts, Failing(inside), whole=0)
        assert e.traceback[-1].name in ("check_part", "_no_sweep")               # as it was there
        del e
        assert nothing_is_left(inside)
    finally: gc.enable()


def test_a_model_that_is_gathered_leaves_nothing_on_the_workers(inside):
    from nmf2.scale_texts import fit_topics
    from nmf2.scale_topics import gather_model
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{j}" for j in rng.integers(60*(i % 3), 60*(i % 3) + 80, 25)) for i in range(300)]
    model = fit_topics(TopicTree(3, stop_words=None), [texts[:100], texts[100:]], engine=Dask(inside), whole=500)
    assert inside.futures
    assert len(gather_model(model).labels_) == 300 and nothing_is_left(inside)


class Odd(Exception):
    def __init__(self, a, b): super().__init__(a)


@pytest.mark.parametrize("error", [OSError(2, "not there", "a.txt"), KeyError("a"), Odd(1, 2)], ids=lambda e: type(e).__name__)
def test_errors_of_tasks_are_what_they_were(inside, error):
    def fail(part): raise error from ValueError("why")
    engine = Dask(inside)
    for _ in range(2):
        with pytest.raises(type(error)) as e: engine.fetch(engine.hold(fail, [np.arange(3)]))
        assert str(e.value) == str(error) and str(e.value.__cause__) == "why" and e.traceback[-1].name == "fail"


def _slow(part):
    time.sleep(.8)
    return part


def test_paused_workers_are_not_waited_for_unless_they_work(inside):
    from distributed import Status
    def pause(yes):
        worker, = inside.cluster.workers.values()
        inside.loop.add_callback(setattr, worker, "status", Status.paused if yes else Status.running)
        while bool(inside.sync(inside.scheduler.ncores_running)) == yes: time.sleep(.01)
    engine = Dask(inside)
    engine.patience = .2
    held = engine.hold(_slow, [1, 2])
    while not inside.call_stack(): time.sleep(.01)
    pause(True)
    try:
        assert engine.fetch(held) == [1, 2]
        with pytest.raises(engines.ClusterGone, match="client has had only paused workers for 0.2 seconds, as their memory is full: give workers more"):
            engine.fetch(engine.hold(np.negative, [1, 2]))
    finally: pause(False)
    assert engine.fetch(engine.hold(np.negative, [1, 2])) == [-1, -2]


def test_a_broken_block_is_named(inside):
    from dask import delayed
    from nmf2.scale_texts import counted_over
    @delayed
    def broken(): raise OSError("no disk")
    X = collection()[:90]
    gone = "can't be used: OSError: no disk"
    for engine in (Dask(inside), Local()):
        with pytest.raises(ValueError, match=f"partition 2 {gone}"): as_blocks([delayed(X), X, broken(), delayed(X)], engine)
        for one in (0, 1):
            with pytest.raises(ValueError, match=f"partition {one} {gone}"):
                counted_over([broken() if k == one else delayed(["a ball"]) for k in range(2)], engine)
    assert nothing_is_left(inside)


MADE = []                                       # blocks that were made in this process


def _two_texts(k):
    MADE.append(k)
    return [f"text {k}", f"word {k}"]


def test_delayed_blocks_are_taken_in_one_message(inside, monkeypatch):
    from dask import delayed
    from nmf2.scale_texts import counted_over, texts_at
    asked, compute = [], inside.compute
    monkeypatch.setattr(inside, "compute", lambda given, **how: asked.append(len(given)) or compute(given, **how))
    sources = [["here"], *map(delayed(_two_texts), range(5)), ["there", "and there"]]
    for engine in (Dask(inside), Local()):
        MADE.clear()
        counts = counted_over(sources, engine, stop_words=None)
        assert sorted(MADE) == [0, 1, 2, 3, 4]
        assert texts_at(sources, counts, np.array([0, 3, 4, 12])) == ["here", "text 1", "word 1", "and there"]
        assert MADE[5:] in ([1], [])             # the one that has such rows, unless it is still there
    assert asked == [5, 1]


def test_delayed_blocks_are_not_all_in_memory():
    from dask import delayed
    X, alive, most = collection(np.float32), [], []
    @delayed
    def block(part):
        made = part.toarray()
        alive.append(made.ctypes.data)
        weakref.finalize(made, alive.remove, made.ctypes.data)
        most.append(len(alive))
        return made
    parts = cut(X[:4000], 16)
    engine = Local()
    blocks = as_blocks([block(part) for part in parts], engine)
    assert max(most) <= engine.threads + 2 and not any(sp.issparse(part.source) for part in blocks.parts)
    assert_same(fit(HierNMF2(4), blocks, whole=WHOLE).tree_, fit(HierNMF2(4), parts, whole=WHOLE).tree_.gathered(), 0)


def test_a_partition_that_kills_workers_is_named():
    for keys, names, what in ((["check_part-12-ab"], (), "partition 12 has killed 4 workers, most likely for want of memory: give"),
                              (["count-1-ab", "told-1-0"], ["partition 0, a.csv,", "partition 1, b.csv,"], "partition 1, b.csv has killed 4 workers"),
                              (["count-2-ab"], ["partition 0"], "partition 2 has"), (["tree_sum-ab"], (), "task 'tree_sum-ab' has"),
                              ([("array-ab", 3, 0)], (), "task .*array-ab.* has killed 4 workers"),
                              ([f"a-{k}-b" for k in range(5)], (), "a partition has .*of memory .it is one of partition 0; partition 1; partition 2; and 2 more.: give")):
        error = engines._killed(keys, 4, names)
        with pytest.raises(RuntimeError, match=f"^{what}.*workers more memory or fewer threads.*allowed-failures"): raise error
    assert "killed 1 worker," in str(engines._killed(["a-0-b"], 1))


def _kills(part, name):
    if name == "partition 1, b": os.kill(os.getpid(), signal.SIGKILL)
    return part, 1


@pytest.mark.slow
def test_a_partition_that_kills_workers_ends_the_fit():
    import dask
    from distributed import Client
    names = ["partition 0, a", "partition 1, b"]
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), Client(n_workers=1, threads_per_worker=1, dashboard_address=":0") as client:
        engine = Dask(client)
        for verb in (engine.keep, lambda *columns: engine.keep_and_total(*columns, add=np.add)):
            with pytest.raises(engines.WorkersKilled, match="has killed 2 workers.*give workers more memory") as e: verb(_kills, [np.arange(2), np.arange(3)], names)
            assert "partition 1, b" in str(e.value)
            del e
        assert nothing_is_left(client)


def test_what_an_engine_can_be_made_of(inside):
    for odd, told in ((5, "got 5"), ("", "got ''"), (object(), "got <object")):
        with pytest.raises(ValueError, match=f"client must be a Client of distributed, a cluster, or the address of a scheduler, {told}"): Dask(odd)
    with pytest.raises(ValueError, match="client must not be asynchronous"): Dask(SimpleNamespace(run=None, asynchronous=True))
    X = collection()[:90]
    from nmf2.scale_texts import fit_topics
    for odd, told in ((inside, "got a Client"), ("tcp://there:1", "got 'tcp://there:1'"), (Local, "got a type")):
        if odd is Local: continue
        for ask in (lambda: fit(HierNMF2(2), [X], odd), lambda: fit_topics(TopicTree(2), [["a ball"]], engine=odd)):
            with pytest.raises(ValueError, match=rf"engine must be Local\(\) or Dask\(client\), {told}"): ask()


def test_an_engine_closes_a_client_of_its_own(inside):
    from distributed import default_client
    def clients(dask_scheduler): return sum(name.startswith("Client") for name in dask_scheduler.clients)
    for given in (inside.cluster, inside.cluster.scheduler_address):
        model = fit(HierNMF2(2), cut(collection()[:900], 2), Dask(given), whole=0)
        assert default_client() is inside and inside.run_on_scheduler(clients) == 2
        assert len(model.labels_) == 900
        del model
        gc.collect()
        for _ in range(200):
            if inside.run_on_scheduler(clients) > 1: time.sleep(.01)
        assert inside.run_on_scheduler(clients) == 1


def _one_after_another(first, *others): return [first, *others]
def _scaled_sum(part, k, times): return part.sum()*k*times
def _both_ones(part): return part, len(part)


@pytest.mark.parametrize("n", [1, 3, 8, 20])
def test_one_task_takes_several_partitions_of_a_home(inside, n):
    """Fewer tasks, the same to the last bit: what comes of partitions stays in their order"""
    rng = np.random.default_rng(n)
    parts, sizes = [rng.random(k + 5) for k in range(n)], list(range(5, n + 5))
    there, here = Dask(inside), Local()
    held, _ = there.keep(_both_ones, there.take(parts))
    runs = there._runs(held, sizes, 1)
    assert sorted(k for run in runs for k in run) == list(range(n)) and len(runs) == min(n, 2)     # two threads
    assert len(there._runs(held, [20_000_000]*n, 1)) == max(min(n, 2), math.ceil(n*20/32))          # of so many nonzeros
    assert len(there._runs(there.take(parts), sizes, 1)) == n                                       # who knows where they will be
    both = [engine.fetch([engine.hold_and_join(_one_after_another, ("first",), _scaled_sum, some, range(n), shared=(2,), sizes=sizes)])[0]
            for engine, some in ((here, parts), (there, held))]
    assert both[0] == both[1] and both[0][0] == "first" and len(both[0]) == n + 1
    wanted = here.total(_scaled_sum, parts, range(n), shared=(2,), add=np.add)
    for some in (dict(sizes=sizes), {}):
        assert there.total(_scaled_sum, held, list(range(n)), shared=(2,), add=np.add, **some) == wanted


def test_a_late_worker_of_another_version_is_refused():
    here, there = engines.version("nmf2"), {"tcp://a": 1}
    says = {"tcp://a": here, "tcp://b": here, "tcp://c": OSError("gone"), "tcp://d": "0.0.1", "tcp://e": ModuleNotFoundError("none")}
    asked = []
    def run(f, name, workers=None, on_error=None):
        asked.append(workers)
        return {worker: says[worker] for worker in workers or there}
    engine = Dask(SimpleNamespace(status="running", run=run, nthreads=lambda: there))
    for new, told in (("a", None), ("b", None), ("c", None), ("d", "has nmf2 0.0.1"), ("e", "has no nmf2")):
        there[f"tcp://{new}"] = 1
        engine.looked = -np.inf
        if told is None: assert engine._alive() == there
        else:
            with pytest.raises(ValueError, match=f"but tcp://{new} {told}"): engine._alive()
            del there[f"tcp://{new}"]
    assert asked == [None, ["tcp://b"], ["tcp://c"], ["tcp://d"], ["tcp://e"]]


def test_a_fit_in_a_task_leaves_it_the_thread(inside):
    from distributed import get_client
    X = collection()[:600]
    def labels(seed): return fit(HierNMF2(3), cut(X, 2), Dask(get_client()), whole=0).labels_
    tasks = inside.map(labels, range(4), pure=False)                     # on two threads
    for task in tasks: assert_array_equal(task.result(timeout=60), fit(HierNMF2(3), cut(X, 2), Local(), whole=0).labels_)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    save_shards(collection(np.float32), folder, 3)
    return folder


@pytest.mark.slow
def test_cluster_tree_is_that_of_one_process_to_the_last_bit(cluster, folder):
    there = fit(HierNMF2(4), folder, Dask(cluster), whole=WHOLE).tree_.gathered()
    here = fit(HierNMF2(4), folder, whole=WHOLE).tree_.gathered()
    assert_same(there, here, 0)


def _nap(part, seconds=.3):
    "Sleep a little; which process did?"
    time.sleep(seconds)
    return None, os.getpid()


@pytest.mark.slow
def test_long_tasks_on_one_partition_go_to_workers_with_little_to_do(cluster):
    "To the one that has it if all are idle, and to another if that one is busy"
    engine = Dask(cluster)
    part = engine.send(np.arange(3))
    home = engine.fetch(engine.hold(lambda part: os.getpid(), [part]))[0]
    assert [engine.keep_one(_nap, part, 0)[1] for _ in range(3)] == [home]*3
    with ThreadPoolExecutor(2) as threads:
        _, at_the_same_time = zip(*threads.map(lambda _: engine.keep_one(_nap, part), range(2)))
    assert len(set(at_the_same_time)) == 2
    assert not +engine.under_way


def _waits(part, begun, done):
    "Was another file there within half a minute?"
    begun.touch()
    return None, any(done.exists() or time.sleep(.05) for _ in range(600))


@pytest.mark.slow
def test_others_need_not_wait_for_work_on_a_single_partition(cluster, tmp_path):
    "Each worker has one thread"
    engine, begun, done = Dask(cluster), [tmp_path/"a", tmp_path/"b"], tmp_path/"done"
    parts = engine.take([np.arange(3), np.arange(4)])
    with ThreadPoolExecutor(2) as threads:
        long = [threads.submit(engine.keep_one, _waits, part, path, done) for part, path in zip(parts, begun)]
        while not all(path.exists() for path in begun): time.sleep(.05)
        assert engine.total(np.sum, parts, add=np.add) == 9
        done.touch()
        assert [work.result()[1] for work in long] == [True, True]



def _worker(part, large=None):
    "The part, and which process has it; slow enough for both to have some"
    time.sleep(.05)
    return part, os.getpid()


@pytest.fixture
def nothing_stolen(cluster):
    "A worker that waits takes no task from one that is slow for a moment, as it may"
    async def steal(on, dask_scheduler):
        thief = dask_scheduler.extensions["stealing"]
        await (thief.start() if on else thief.stop())
    cluster.run_on_scheduler(steal, False)
    yield
    cluster.run_on_scheduler(steal, True)


@pytest.mark.slow
def test_partitions_stay_at_home_whatever_they_are_asked_about(cluster, nothing_stolen):
    engine = Dask(cluster)
    held, homes = engine.keep(_worker, [np.arange(k + 1) for k in range(6)])
    assert set(engine.homes) == set(held) and len(set(homes)) == 2
    large = engine.send(np.zeros(2_000_000))             # on one worker, to which Dask would take the partitions
    again, there = engine.keep(_worker, held, shared=(large,))
    assert there == homes and set(engine.homes) == {*held, *again}
    assert engine.fetch(engine.hold(itemgetter(1), engine.hold(_worker, again, shared=(large,)))) == homes
    both, total = engine.keep_and_total(_listed, again, shared=(large,), add=_one_list)
    assert total == homes and set(both) <= set(engine.homes)
    assert_array_equal(engine.fetch(both)[5], np.arange(6))
    del held, again
    assert set(engine.homes) == set(both)                # nothing is remembered of what is gone


def _one_list(a, b): return a + b


def _listed(part, large):
    part, worker = _worker(part)
    return part, [worker]


@pytest.mark.slow
def test_what_is_counted_first_has_a_home(cluster, monkeypatch):
    def late(value):
        time.sleep(.3)
        return value

    monkeypatch.setattr(engines, "sent", late)              # what is told of it comes sooner
    engine = Dask(cluster)
    held, total = engine.keep_and_total(_listed, [np.arange(k + 1) for k in range(6)], shared=(None,), add=_one_list)
    assert len(total) == 6 and {*held} <= set(engine.homes)
    _, homes = engine.keep(_worker, held)
    assert engine.keep(_worker, held, shared=(engine.send(np.zeros(2_000_000)),))[1] == homes


@pytest.mark.slow
def test_partitions_whose_home_is_lost_get_another(cluster):
    engine = Dask(cluster)
    held, _ = engine.keep(_worker, [np.arange(k + 1) for k in range(4)])
    for part in held: engine.homes[part] = "tcp://127.0.0.1:1"
    assert [len(part) for part, _ in engine.fetch(engine.hold(_worker, held))] == [1, 2, 3, 4]
    engine.keep(_worker, held)
    assert {engine.homes[part] for part in held} <= set(cluster.nthreads())


@pytest.mark.slow
def test_a_home_that_dies_before_the_work_is_done_elsewhere():
    from distributed import Client
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        engine = Dask(client)
        held, homes = engine.keep(_worker, [np.arange(k + 1) for k in range(6)])
        assert len(set(homes)) == 2
        again = engine.hold(_worker, held)
        os.kill(homes[0], signal.SIGKILL)
        assert [len(part) for part, _ in engine.fetch(again)] == [1, 2, 3, 4, 5, 6]
        time.sleep(1.1)                                  # what was alive is asked anew
        assert homes[0] not in engine.keep(_worker, held)[1]
        assert {engine.homes[part] for part in held} <= set(client.nthreads())


def _slowly(part):
    time.sleep(.5)
    return part + 1


@pytest.mark.parametrize("platform, trim, mmap, calls", [
    ("linux", "65536", None, [(-1, 2**24), (-3, 2**22)]), ("linux", "0", None, []), ("linux", None, None, []),
    ("linux", "65536", "131072", []), ("darwin", "65536", None, [])])
def test_workers_keep_memory_unless_somebody_chose_otherwise(monkeypatch, platform, trim, mmap, calls):
    made = []
    monkeypatch.setattr(engines.sys, "platform", platform)
    monkeypatch.setattr(engines, "CDLL", lambda name: SimpleNamespace(mallopt=lambda *args: made.append(args)))
    for name, value in (("MALLOC_TRIM_THRESHOLD_", trim), ("MALLOC_MMAP_THRESHOLD_", mmap)):
        monkeypatch.delenv(name, raising=False)
        if value is not None: monkeypatch.setenv(name, value)
    engines._reuse_memory.__wrapped__()
    assert made == calls
    monkeypatch.setattr(engines, "CDLL", lambda name: SimpleNamespace())      # of another library
    engines._reuse_memory.__wrapped__()


@pytest.mark.slow
def test_all_homes_that_die_at_once_are_not_waited_for():
    "Dask waits for the workers that tasks were to go to, even if these may go elsewhere"
    from distributed import Client
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        engine = Dask(client)
        coming = engine.hold(_slowly, [np.arange(k + 1) for k in range(4)])
        _kill_all(client)
        assert [*map(len, _soon(engine, coming))] == [1, 2, 3, 4]


@pytest.mark.slow
def test_workers_that_a_local_cluster_gives_up_are_started_again():
    import dask
    from distributed import Client
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1ms"}), Client(n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        engine = Dask(client)
        _kill_all(client)
        end = time.monotonic() + 60
        while client.cluster.workers and time.monotonic() < end: time.sleep(.01)
        assert not client.cluster.workers
        assert [*map(len, _soon(engine, engine.hold(_slowly, [np.arange(k + 1) for k in range(4)])))] == [1, 2, 3, 4]
        client.wait_for_workers(2, timeout=60)


def _kill_all(client):
    for pid in client.run(os.getpid).values(): os.kill(pid, signal.SIGKILL)


def _soon(engine, held):
    "What is held, or an error where it would be waited for without an end"
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(engine.fetch, held)
        try: return coming.result(timeout=60)
        finally:
            if not coming.done(): engine.client.close()          # whoever still waits gives up


def test_partitions_that_are_nowhere_begin_beside_their_neighbours():
    engine = SimpleNamespace(_alive=lambda: dict(b=1, a=2))
    def spread(*parts): return Dask._spread(engine, parts)
    assert spread(*range(7)) == ["a", "a", "a", "a", "a", "b", "b"] and spread(0, 1) == ["a", "a"]
    assert spread(0, SimpleNamespace(key="held")) == [None, None] and spread() == []
    engine._alive = dict
    assert spread(0, 1) == [None, None]


@pytest.mark.slow
def test_sums_that_were_added_can_go(cluster, monkeypatch):
    "What is told of partitions is not held until all of it is added"
    engine, seen, fetch = Dask(cluster), [], Dask.fetch
    def looked(self, held):
        def n_told(): return sum(str(key).startswith("told-") for key in list(cluster.futures))
        for _ in range(300):                             # what nobody has any more goes a little later
            if n_told(): time.sleep(.01)
        seen.append(n_told())
        return fetch(self, held)
    monkeypatch.setattr(Dask, "fetch", looked)
    assert engine.keep_and_total(_listed, [np.arange(3)]*20, shared=(None,), add=_one_list)[1]
    assert seen and not any(seen)


@pytest.mark.parametrize("value", [[1, "two"], {"a": 1}, {3, 4}, (1, 2), "text", None], ids=str)
def test_what_moves_between_workers_is_packed_in_one_piece(value):
    from nmf2.engines import Kept, _alone, _told, _value, sent
    packed = _alone(sent, value)
    assert isinstance(packed, Kept) == isinstance(value, (list, dict, set))
    assert _value(packed) == value == _value(_told(Kept(0, value)))
    assert _alone(type, packed) is type(value)           # and unpacked for the next


def _dies_once(part, path):
    "Kill the worker, but only the first time"
    if not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part + 1, part.sum()


@pytest.mark.slow
def test_a_worker_that_is_killed_with_a_long_task_is_recovered_from(cluster, tmp_path):
    engine = Dask(cluster)
    part = engine.send(np.arange(3))
    engine.fetch([part])
    held, told = engine.keep_one(_dies_once, part, tmp_path/"died")
    assert (tmp_path/"died").exists() and told == 3
    assert_array_equal(engine.fetch([held])[0], [1, 2, 3])


@pytest.mark.slow
def test_cluster_takes_arrays_and_delayed_blocks(cluster):
    import dask.array as da
    from dask import delayed
    X = collection()
    blocks = [delayed(part) for part in cut(X, 2)]
    array = da.concatenate([da.from_delayed(block, part.shape, X.dtype, meta=sp.csr_array((0, 0)))
                            for block, part in zip(blocks, cut(X, 2))])
    here = in_memory(X, 2)
    for given in (array, blocks, cut(X, 2)): assert_same(fit(HierNMF2(2), given, Dask(cluster)).tree_, here, 1e-10)
    with pytest.raises(ValueError, match="all terms in one chunk"): as_blocks(array.rechunk({1: 100}), Dask(cluster))


@pytest.mark.slow
def test_cluster_names_a_broken_shard(cluster, folder, tmp_path):
    odd = tmp_path/"odd.npz"
    odd.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="shard 1, odd.npz"): as_blocks([*sorted(folder.iterdir())[:1], odd], Dask(cluster))


@pytest.mark.slow
def test_cluster_of_another_version_is_refused(cluster, monkeypatch):
    monkeypatch.setattr(engines, "version", lambda name: "0.0.9")
    client = SimpleNamespace(status="running", run=lambda f, name, on_error: {"tcp://there": "0.1.0"})
    with pytest.raises(ValueError, match=r"with nmf2 0.0.9, but tcp://there has nmf2 0.1.0"): Dask(client)
    client.run = lambda f, name, on_error: {"tcp://there": ModuleNotFoundError("none")}
    with pytest.raises(ValueError, match="tcp://there has no nmf2"): Dask(client)


@pytest.mark.slow
def test_workers_that_come_on_demand_are_waited_for(folder, monkeypatch):
    from distributed import Client, LocalCluster
    monkeypatch.setattr(Dask, "welcome", .3)
    with LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=":0", processes=False) as cluster, Client(cluster) as client:
        with pytest.raises(ValueError, match="client must have workers, and had none for 0.3 seconds: start some"): Dask(client)
        monkeypatch.setattr(Dask, "welcome", 60)
        cluster.adapt(minimum=0, maximum=1, interval="100ms")
        engine = Dask(client)
        est = fit(HierNMF2(3), folder, engine, whole=0)
        assert_array_equal(est.labels_, fit(HierNMF2(3), folder, Local(), whole=0).labels_)
        again = fit(HierNMF2(3), folder, engine, whole=0)
    for ask in (lambda: again.labels_, again.tree_.gathered, lambda: fit(HierNMF2(3), folder, engine, whole=0)):
        with pytest.raises(engines.ClusterGone, match=r"the cluster is gone or its client closed.*model.save\(path\)"): ask()


@pytest.mark.slow
def test_a_killed_worker_is_recovered_from(cluster, folder, monkeypatch):
    "In mid-fit, when some sweeps have been made; the nanny starts another process"
    engine = Dask(cluster)
    sweeps = itertools.count()
    total = engine.total
    def killing(f, *columns, **options):
        if f is sweep_part and next(sweeps) == 4: os.kill(min(cluster.run(os.getpid).values()), signal.SIGKILL)
        return total(f, *columns, **options)
    monkeypatch.setattr(engine, "total", killing)
    tree = fit(HierNMF2(3), folder, engine, whole=WHOLE).tree_.gathered()
    assert next(sweeps) > 4
    monkeypatch.undo()
    assert_same(tree, fit(HierNMF2(3), folder, whole=WHOLE).tree_.gathered(), 0)



@pytest.mark.slow
def test_cluster_makes_topics_of_texts(cluster, tmp_path):
    "From a bag, a column and files; a worker is killed while documents move"
    import dask.bag as bag
    import dask.dataframe as dd
    import pandas as pd
    from nmf2.scale_texts import fit_topics
    from nmf2.topictree import TopicTree
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{chr(97 + j // 20)}{chr(97 + j % 20)}" for j in rng.integers(60*(i % 3), 60*(i % 3) + 80, 25)) for i in range(600)]
    (tmp_path/"texts").mkdir()
    for k in range(3): (tmp_path/"texts"/f"{k}.jsonl").write_text("\n".join(json.dumps(dict(text=t)) for t in texts[200*k:200*k+200]))
    model = TopicTree(3, stop_words=None)
    here = fit_topics(model, tmp_path/"texts", engine=Local(), whole=500)
    labels, headings = here.labels_, here.tree_.headings
    assert len(set(zip(labels, np.arange(600) % 3))) == 3
    frame = dd.from_pandas(pd.DataFrame(dict(text=texts)), npartitions=3, sort=False)
    given = bag.from_sequence(texts, npartitions=3)
    assert_array_equal(fit_topics(TopicTree(3, stop_words=None), given, whole=500).labels_, labels)
    with pytest.raises(ValueError, match="give one of them"): TopicTree(3).fit(frame)
    engine = Dask(cluster)
    asked = itertools.count()
    ask = engine.hold_and_join
    def killing(then, args, f, *columns, **options):
        if getattr(f, "__name__", "") == "_asked" and next(asked) == 2: os.kill(min(cluster.run(os.getpid).values()), signal.SIGKILL)
        return ask(then, args, f, *columns, **options)
    engine.hold_and_join = killing
    there = fit_topics(TopicTree(3, stop_words=None), frame["text"], engine=engine, whole=500)
    assert next(asked) > 2
    assert_array_equal(there.labels_, labels)
    assert_array_equal(there.components_, here.components_)
    assert there.tree_.headings == headings
    assert here.reading_ == dict(text_field="text") and there.reading_ is None      # that of the files, and nothing of the column
    there.reading_ = here.reading_
    for model, name in ((here, "here"), (there, "there")): model.save(tmp_path/name)
    with zipfile.ZipFile(tmp_path/"here") as one, zipfile.ZipFile(tmp_path/"there") as other:
        assert [one.read(member) for member in one.namelist()] == [other.read(member) for member in other.namelist()]


class Lost(Local):
    "An engine that is lost after some sweeps"
    sweeps, after = 0, 10**9
    def total(self, f, *columns, **options):
        if f is sweep_part:
            self.sweeps += 1
            if self.sweeps > self.after: raise ConnectionError("the scheduler is gone")
        return super().total(f, *columns, **options)


@pytest.mark.parametrize("after", [3, 8, 12])
def test_an_interrupted_fit_goes_on_from_its_checkpoint(tmp_path, after):
    X = collection()
    whole = Lost()
    tree = fit(HierNMF2(4), cut(X, 3), whole, whole=WHOLE).tree_.gathered()
    first, second = Lost(), Lost()
    first.after = after
    with pytest.raises(ConnectionError): fit(HierNMF2(4), cut(X, 3), first, whole=WHOLE, checkpoint=tmp_path/"check")
    model = fit(HierNMF2(4), cut(X, 3), second, whole=WHOLE, checkpoint=tmp_path/"check")
    assert_same(model.tree_, tree, 0)
    assert second.sweeps <= whole.sweeps and (after < 8 or second.sweeps < whole.sweeps)
    assert model.n_iter_ == fit(HierNMF2(4), cut(X, 3), whole=WHOLE).n_iter_
    third = Lost()
    assert_same(fit(HierNMF2(4), cut(X, 3), third, whole=WHOLE, checkpoint=tmp_path/"check").tree_, tree, 0)
    assert third.sweeps == 0
    with pytest.raises(ValueError, match="other documents or parameters"):
        fit(HierNMF2(4, tol=1e-3), cut(X, 3), whole=WHOLE, checkpoint=tmp_path/"check")


# ---- partitions as people have them

@pytest.mark.parametrize("at", [0, 1, 2])
def test_an_empty_partition_among_full_ones(at):
    "Of a matrix all of whose documents have terms, which isn't copied for the first split"
    A = sp.random_array((900, 60), density=.2, rng=np.random.default_rng(0), format="csr")
    assert np.diff(A.indptr).all()
    parts = [A[:400], A[400:]]
    parts.insert(at, A[:0])
    there, here = fit(HierNMF2(4), parts, whole=0), fit(HierNMF2(4), [A[:400], A[400:]], whole=0)
    assert [node.id for node in there.tree_] == [node.id for node in here.tree_]
    assert_array_equal(np.asarray(there.labels_), np.asarray(here.labels_))

def test_documents_of_nodes_are_like_an_array():
    A = sp.random_array((900, 60), density=.2, rng=np.random.default_rng(0), format="csr")
    docs = fit(HierNMF2(3), [A[:400], A[400:]], whole=0).tree_["0"].docs
    own = np.asarray(docs)
    assert not isinstance(docs, np.ndarray)
    assert list(docs) == list(own) and docs[0] == own[0] and docs[-1] == own[-1] and len(docs) == len(own)
    for which in (slice(2, 9), [3, 1], own > 400): assert_array_equal(docs[which], own[which])
    assert_array_equal(np.isin([*own[:3], -1], docs), [True, True, True, False])
    assert_array_equal(np.intersect1d(own[::2], docs), own[::2])
    assert_array_equal(np.concatenate([docs, docs]), np.append(own, own))
    assert_array_equal(np.setdiff1d(docs, own[3:]), own[:3])
    W, plain = Table(Local(), [A[:2].toarray(), A[2:5].toarray()], [2, 3], 60), A[:5].toarray()
    assert_array_equal(np.vstack([W, W]), np.vstack([plain, plain]))
    assert_array_equal(np.hstack([W, plain]), np.hstack([plain, plain]))
    assert_array_equal(np.concatenate([plain, W]), np.vstack([plain, plain]))
    W += 1
    assert_array_equal(W, plain + 1)

@pytest.mark.parametrize("kind", [lambda A: A.toarray(), sp.csc_matrix, sp.coo_array, lambda A: (A*9).astype(np.int64), lambda A: (A*9).astype(np.int32).toarray()])
def test_shards_of_any_matrix(tmp_path, kind):
    A = sp.random_array((90, 12), density=.4, rng=np.random.default_rng(1), format="csr")
    X = kind(A)
    save_shards(X, tmp_path/"shards", 3)
    assert_array_equal(HierNMF2(3).fit(str(tmp_path/"shards")).labels_, HierNMF2(3).fit(X).labels_)

def test_shards_of_before_are_not_mixed_in(tmp_path):
    A = sp.random_array((90, 12), density=.4, rng=np.random.default_rng(1), format="csr")
    save_shards(A, tmp_path, 5)
    with pytest.raises(ValueError, match="folder has part-00002.npz in it, which would be taken for a shard of this matrix"): save_shards(A[:40], tmp_path, 2)
    assert HierNMF2(3).fit(str(tmp_path)).labels_.shape == (90,)                     # as it was
    save_shards(A[:40], tmp_path, 5)
    assert HierNMF2(3).fit(str(tmp_path)).labels_.shape == (40,)

def test_paths_are_whole_where_they_go_to_workers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    A = sp.random_array((90, 12), density=.4, rng=np.random.default_rng(1), format="csr")
    paths = save_shards(A, "shards", 2)
    Path("texts").mkdir()
    for name in "ab": Path("texts", f"{name}.jsonl").write_text('{"text": "goal"}\n')
    for sources in (scale.partitions_of("shards")[0], scale.partitions_of([str(path) for path in paths])[0]):
        assert all(path.is_absolute() and path.is_file() for path in sources)
    for given in ("texts", "texts/a.jsonl", ["texts/a.jsonl", Path("texts/b.jsonl")]):
        stretches = [piece for part in text_sources(given) for piece in (part if isinstance(part, list) else [part])]
        assert stretches and all(Path(piece.path).is_absolute() for source in stretches for piece in getattr(source, "parts", [source]))

def test_a_lost_worker_is_not_a_lost_cluster():
    from concurrent.futures import CancelledError
    for status, told in (("running", "a worker is gone with what can't be made again"), ("connecting", "the cluster is gone")):
        with pytest.raises(engines.ClusterGone, match=told):
            with engines.reached(SimpleNamespace(status=status)): raise CancelledError
    with pytest.raises(engines.ClusterGone, match="its client closed"): Dask(SimpleNamespace(status="closed", run=None))

def test_damaged_and_other_checkpoints_are_told(tmp_path):
    kept = tmp_path/"kept"
    scale.Checkpoint(kept, dict(partitions=3, leaves=4))
    scale.Checkpoint(kept, dict(partitions=3, leaves=4))
    with pytest.raises(ValueError, match="kept is of other documents or parameters .another partitions.*with as many as before"): scale.Checkpoint(kept, dict(partitions=2, leaves=4))
    with pytest.raises(ValueError, match="another leaves.: give another folder, or remove it$"): scale.Checkpoint(kept, dict(partitions=3, leaves=5))
    for damage in (b"", b"[]", b"{", bytes([255, 0])):
        (kept/"about.json").write_bytes(damage)
        with pytest.raises(ValueError, match="checkpoint kept is damaged, its about.json can't be read"): scale.Checkpoint(kept, dict(partitions=3, leaves=4))

def test_what_can_be_no_checkpoint_is_told_before_any_work(tmp_path, monkeypatch):
    X, note = collection()[:60], tmp_path/"note"
    save_shards(X, tmp_path/"shards", 2)
    scale.Checkpoint(tmp_path/"kept", dict(seed=0)).at("", 0, 0).path.write_bytes(b"")
    (tmp_path/"kept"/"about.json").unlink()
    note.write_text("mine")
    monkeypatch.setattr(scale, "as_blocks", lambda *args: pytest.fail("documents were looked at"))
    for checkpoint, told in ((tmp_path/"shards", "checkpoint shards has part-00000.npz in it and no about.json"),
                             (tmp_path/"kept", "has root-0-0.npz in it and no about.json.*give another folder, or remove this one"),
                             ("", "must be a folder, got ''"), (5, "must be a folder, got 5"),
                             (note, "note is a file; give another"), (str(note/"in"/"it"), "note is a file; give another")):
        with pytest.raises(ValueError, match=told): fit(HierNMF2(2), [X], checkpoint=checkpoint)
    assert note.read_text() == "mine" and not (tmp_path/"shards"/"about.json").exists()

def test_a_checkpoint_may_be_at_home_and_its_first_file_half_written(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path/"kept").mkdir()
    begun = tmp_path/"kept"/f".about.json-{'0'*16}.part"
    begun.write_text("{")
    scale.Checkpoint("~/kept", dict(seed=0))
    assert [path.name for path in (tmp_path/"kept").iterdir()] == ["about.json"]
