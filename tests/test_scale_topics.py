"""TopicTree and FlatNMF2 over partitions against their twins in memory: moves, topics that settle, words and weights of texts"""
import csv
import errno
import gc
import gzip
import io
import json
import math
import os
import pickle
import re
import sys
import time
import warnings
import zipfile
from copy import copy
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from nmf2.answers import expected_of
from nmf2.bisection import refine, unit_rows
from nmf2.columns import json_objects
from nmf2.core import in_partitions
from nmf2.counting import TermCounter
from nmf2.data import Corpus, load, planted_tree, read
from nmf2.engines import Local, scratch_folder, watched
from nmf2.files import one_or_several
from nmf2.flat import FlatNMF2, flatten
from nmf2.headings import typical_texts
from nmf2.hier import HierNMF2
from nmf2.mixture import fit_mixture
from nmf2.order import Order
from nmf2.regroup import regroup
from nmf2.scale import Part, SpreadTree, part_matrix, as_blocks, fit as scale_fit, put_away, save_shards, stacked
from nmf2.scale_answers import predict_over
from nmf2.scale_texts import (Changed, Stretch, _bundled, counted_over, exact_sum, fit_topics, has_names, json_form, list_values, names_over, read_texts,
                              text_sources, texts_at, typical_over, weighted_over, words_over)
from nmf2.shards import open_shard
from nmf2.scale_topics import (best_start_over, drawn, expected_over, fit_flat, gather_model, mixture_over, moved, number_over, settled, sums_over,
                               support_over, topic_tree_over)
from nmf2.support import Choice, choose_n_topics, support
from nmf2.topictree import TopicTree, best_start, settled_topics
from nmf2.tree import Tree
from nmf2.treefile import check_tree, packed
from nmf2.weighting import EmptyDocumentsWarning, WORDS, count_pipeline, text_pipeline


@cache
def collection(dtype=np.float32, n_docs=3000):
    "Documents of a planted tree, some of them empty; nobody changes them"
    corpus = planted_tree((2, 4), n_docs=n_docs, n_terms=900, overlap=.4, noise=.2, length=25, random_state=0, shuffle=True)
    X = count_pipeline().fit_transform(corpus.X).astype(dtype).toarray()
    X[::500] = 0
    return sp.csr_array(X)


def cut(X, n, seed=0):
    "Partitions of very different sizes, some without documents"
    inner = np.sort(np.random.default_rng(seed).choice(X.shape[0], n - 1))
    ends = [0, *inner, X.shape[0]]
    parts = [X[lo:hi] for lo, hi in zip(ends, ends[1:])]
    return parts[:1] + [X[:0]] + parts[1:] if n > 1 else parts


def there(labels, parts):
    "Labels in the same partitions"
    ends = np.cumsum([part.shape[0] for part in parts])
    return [labels[end-part.shape[0]:end] for part, end in zip(parts, ends)]


@pytest.mark.parametrize("n, dtype, batch", [(2, np.float32, False), *(pytest.param(*case, marks=pytest.mark.slow) for case in [
    (1, np.float32, False), (7, np.float32, False), (2, np.float64, False), (1, np.float64, True), (2, np.float32, True),
    (7, np.float64, True)])])                                                  # groups whole; batches of forty documents
def test_moves_are_those_in_memory(n, dtype, batch):
    X = collection(dtype)
    filled = np.diff(X.indptr) > 0
    labels = np.where(filled, np.random.default_rng(n).integers(0, 9, X.shape[0]), -1)
    better, record = refine(unit_rows(X[filled]), labels[filled], rng=5)
    parts = cut(X, n)
    blocks = as_blocks(parts)
    few = dict(batch=40*blocks.size//blocks.shape[0]) if batch else {}
    found, told = moved(blocks, there(labels, parts), 9, rng=5, **few)
    found = np.concatenate(found)
    assert_array_equal(found[filled], better)
    assert (found[~filled] == -1).all() and (found != labels).sum() > 500
    assert_allclose(told, record, rtol=1e-6)


def test_batches_are_not_read_from_all_over_the_shards(tmp_path, monkeypatch):
    "However many batches there are, a shard is opened once for each group; what waits for its turn is not left behind"
    X, scratch = collection(), tmp_path/"scratch"
    scratch.mkdir()
    save_shards(X, tmp_path/"corpus", 3)
    start = np.where(np.diff(X.indptr) > 0, np.random.default_rng(1).integers(0, 8, X.shape[0]), -1)
    opened, found = [], []
    monkeypatch.setattr("nmf2.scale.open_shard", lambda *where: (opened.append(where), open_shard(*where))[1])
    for batch in (10**9, X.nnz//80):
        blocks = as_blocks(tmp_path/"corpus", Local(scratch))
        opened.clear()
        labels, _ = moved(blocks, [start[part.ids] for part in blocks.parts], 8, max_iter=3, batch=batch)
        found.append((np.concatenate(labels), len(opened)))
        del labels, blocks
        assert not [path for path in scratch.rglob("*") if path.is_file()]
    assert_array_equal(found[1][0], found[0][0])
    assert found[1][1] == found[0][1]


def test_more_clusters_than_a_table_has_columns():
    X = collection(np.float64)
    labels = np.where(np.diff(X.indptr) > 0, np.arange(X.shape[0]) % 41, -1)
    better, _ = refine(unit_rows(X[labels >= 0]), labels[labels >= 0], max_iter=2)
    parts = cut(X, 3)
    found, _ = moved(as_blocks(parts), there(labels, parts), 41, max_iter=2)
    assert_array_equal(np.concatenate(found)[labels >= 0], better)


def assert_same_tree(tree, other, atol):
    assert tree.splits == other.splits and list(tree.nodes) == list(other.nodes) and tree.levels == other.levels
    for id, node in other.nodes.items():
        assert tree[id].size == node.size
        for name in ("docs", "outliers"): assert_array_equal(np.asarray(getattr(tree[id], name)), getattr(node, name), err_msg=id)
        assert_allclose(tree[id].topic, node.topic, atol=atol)
        assert_allclose(tree[id].score, node.score, rtol=1e-6)
        if node.split is not None:
            assert_array_equal(np.asarray(tree[id].split.side), node.split.side)
            assert_allclose(np.asarray(tree[id].split.W), node.split.W, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_topic_tree_is_that_in_memory(n):
    "From the same start: here the sample is the collection"
    X = collection()
    X = X[np.where(np.arange(X.shape[0]) % 500 % 7 == 3, np.arange(X.shape[0])//500 + 1, np.arange(X.shape[0]))]   # some are copies
    filled = np.diff(X.indptr) > 0
    vocab = np.array([f"word{j}" for j in range(X.shape[1])])
    best = best_start(X[filled], 8, 2, seed=1)
    topics = settled_topics(X[filled], fit_mixture(X[filled], best.labels).labels, 1)
    labels = np.full(X.shape[0], -1)
    labels[filled] = topics.labels
    here = regroup(X, labels, vocab)
    blocks = as_blocks(cut(X, n))
    tree, criteria = topic_tree_over(blocks, 8, vocab, n_init=2, seed=1)
    assert_allclose(criteria, best.criteria, rtol=1e-6)
    assert_same_tree(tree, here, 1e-6)
    assert_same_tree(tree.gathered(), here, 1e-6)
    assert tree.headings == here.headings
    first_of = [labels[leaf.docs[0]] for leaf in here.leaves()]
    assert_allclose(tree.leaf_topics, topics.Ht[:,first_of], atol=1e-6)
    here.leaf_topics = np.ascontiguousarray(topics.Ht[:,first_of].astype(X.dtype))
    trim = count_pipeline().fit(np.eye(X.shape[1])[:9].repeat(3, 0))["trim"]
    expected, other = expected_over(blocks, tree, trim), expected_of(X, here, trim)
    for own, same in zip(expected.signs, other.signs): assert_allclose(own, same, rtol=1e-5)
    assert_allclose(expected.ranks, other.ranks, atol=.002)
    assert_array_equal(expected.sizes, other.sizes)
    texts = [str(i) for i in range(X.shape[0])]
    rows, leaves = typical_over(blocks, tree, 20)
    assert_array_equal([texts[i] for i in rows], typical_texts(here, texts, 20))
    assert_array_equal(leaves, here.labels()[rows])
    assert sum(len(here.typical(leaf, 20)) for leaf in here.leaves()) < len(typical_texts(here, texts, 20))


@pytest.mark.slow
def test_it_repeats_and_starts_from_a_sample_of_a_large_collection():
    X = collection(n_docs=9000)
    runs = []
    for n, seed in ((3, 0), (3, 0), (8, 1)):
        blocks = as_blocks(cut(X, n, seed))
        chosen, _ = drawn(blocks, 0, 30_000)
        assert len(chosen) < 5000
        labels, criteria = best_start_over(blocks, 8, whole=30_000)
        Ht, labels = settled(blocks, labels, 8)
        runs.append((np.concatenate(labels), criteria, Ht))
    for a, b in zip(runs[0], runs[1]): assert_array_equal(a, b)
    assert_array_equal(runs[0][0], runs[2][0])
    assert_allclose(runs[0][2], runs[2][2], atol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_mixture_is_that_in_memory_and_puts_back_what_is_lost(n):
    X = collection()
    filled = np.diff(X.indptr) > 0
    labels = np.where(filled, np.arange(X.shape[0]) % 12, -1)
    labels[np.flatnonzero(filled)[5]] = 12                    # a cluster that nobody else will join
    here = fit_mixture(X[filled], labels[filled])
    assert here.n_held > 0
    parts = cut(X, n)
    found, criteria = mixture_over(as_blocks(parts), there(labels, parts), 13)
    assert_array_equal(np.concatenate(found)[filled], here.labels)
    assert_allclose(criteria, here.criteria, rtol=1e-9)


@pytest.mark.parametrize("seed", [67, 87, 100, 224, 249])
def test_mixture_when_putting_back_empties_another_cluster(seed):
    "Seeds found by search: after one round, who is put back leaves a cluster without documents, which gets its own back"
    rng = np.random.default_rng(seed)
    n, k, n_terms = rng.integers(6, 30), rng.integers(3, 8), rng.integers(3, 9)
    X = sp.csr_array((rng.random((n, n_terms)) < .4).astype(float))
    X = X[np.diff(X.indptr) > 0]
    labels = np.r_[np.arange(k), rng.integers(0, k, X.shape[0] - k)]
    here, parts = fit_mixture(X, labels, 1), cut(X, 2)
    found, _ = mixture_over(as_blocks(parts), there(labels, parts), k, 1)
    assert_array_equal(np.concatenate(found), here.labels)
    assert len(np.unique(here.labels)) == k


def test_fewer_topics_where_only_copies_are_left():
    X = sp.csr_array(np.eye(4, 6, dtype=np.float32).repeat(20, 0))
    tree, _ = topic_tree_over(as_blocks(cut(X, 3)), 9)
    assert tree.n_leaves == 4 and sorted(leaf.size for leaf in tree.leaves()) == [20]*4


@pytest.mark.parametrize("refine_", [0, 2])
def test_flat_model_is_that_in_memory(refine_):
    X = collection(np.float64)
    model = FlatNMF2(6, refine=refine_)
    with pytest.warns(EmptyDocumentsWarning): W = fit_flat(model, cut(X, 3), whole=10_000)
    as_it_is = Order(np.arange(X.shape[0]), np.arange(X.shape[1]))
    Ht, W_here = flatten(model.hier_.tree_.gathered(), X, refine=refine_, known=(as_it_is, X))
    assert_allclose(model.components_, Ht.T, atol=1e-10)
    assert_allclose(np.asarray(W), W_here, atol=1e-8)
    assert "labels_" not in vars(model)
    assert_array_equal(model.labels_, np.where(W_here.any(1), W_here.argmax(1), -1))


def test_classes_take_partitions(tmp_path):
    "Small ones in one piece: the same to the last bit"
    X = collection()
    save_shards(X, tmp_path/"shards", 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentsWarning)
        for make in (lambda: HierNMF2(4), lambda: FlatNMF2(4)):
            here = make().fit(X)
            for given in (cut(X, 2), tmp_path/"shards", str(tmp_path/"shards"), sorted((tmp_path/"shards").iterdir())):
                assert_array_equal(make().fit(given).components_, here.components_)
                assert_array_equal(make().fit_predict(given), here.labels_)
    counts = planted_tree((2, 3), n_docs=600, n_terms=400, random_state=0).X
    words = [f"word{j}" for j in range(counts.shape[1])]
    assert_array_equal(TopicTree(5).fit(cut(counts, 3), vocab=words).components_, TopicTree(5).fit(counts, vocab=words).components_)


def test_counts_in_partitions(tmp_path):
    counts = planted_tree((2, 3), n_docs=900, n_terms=400, random_state=0, shuffle=True).X
    words = [f"word{j}" for j in range(counts.shape[1])]
    save_shards(counts.astype(np.float32), tmp_path, 3)
    model = fit_topics(TopicTree(6), tmp_path, words, whole=1000)
    here = TopicTree(6).fit(counts, vocab=words)
    assert isinstance(model.tree_, SpreadTree) and "labels_" not in vars(model)
    assert_array_equal(model.vocab_, here.vocab_)
    assert_allclose(model.pipeline_["ncut"].mean_degree_, here.pipeline_["ncut"].mean_degree_, rtol=1e-12)
    assert_array_equal(model.transform(counts[:9]).argmax(1), model.labels_[:9])
    assert model.labels_.max() == 5 and len(model.topics()) == 6


def test_counts_and_texts_are_not_mixed_up(tmp_path):
    X = planted_tree((2, 2), n_docs=200, n_terms=300, random_state=0).X
    paths = save_shards(X, tmp_path/"some", 2)
    one = save_shards(X, tmp_path/"one", 1)[0]
    assert len(fit_topics(TopicTree(3), one).labels_) == len(fit_topics(TopicTree(3), tmp_path/"some").labels_) == 200
    (tmp_path/"some"/"notes.txt").write_text("where they are from")
    assert len(fit_topics(TopicTree(3), tmp_path/"some").labels_) == 200
    (tmp_path/"some"/"a.jsonl").write_text('{"text": "a ball"}\n')
    told = "documents must be of one kind, and .* has counts, part-00000.npz.*, and texts, a.jsonl. Give one kind"
    for documents in (tmp_path/"some", [*paths, tmp_path/"some"/"a.jsonl"], [str(tmp_path/"some"/"a.jsonl"), *map(str, paths)]):
        with pytest.raises(ValueError, match=told): fit_topics(TopicTree(3), documents)
    assert len(fit_topics(TopicTree(3), tmp_path/"some", vocab=[f"w{k}" for k in range(300)]).labels_) == 200
    with pytest.raises(FileNotFoundError, match="no.npz: there is no such file"): fit_topics(TopicTree(3), tmp_path/"no.npz")


@cache
def texts():
    return [*load("library-docs").texts[:900], "", "\u00fcber \u00fcber caf\u00e9", "12 % !"]


@pytest.fixture
def folder(tmp_path):
    "The same in three files, one of them with large gaps"
    ends = [0, 250, 600, len(texts())]
    for k, gap in enumerate(("\n", "\n\n\n", "\r\n")):
        lines = [json.dumps(dict(id=i, body=None, text=text), ensure_ascii=k == 1) for i, text in enumerate(texts()[ends[k]:ends[k+1]])]
        (tmp_path/f"part-{k}.jsonl").write_bytes((gap.join(lines) + "\n"*(k < 2)).encode())
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("piece", [700, 5000, 2**30])
def test_each_line_is_in_one_stretch(folder, piece):
    sources = text_sources(folder, piece)
    assert sum(map(read_texts, sources), []) == texts()
    assert (len(sources) == 3) == (piece == 2**30)


@pytest.mark.slow
def test_weights_are_those_in_memory_to_the_last_bit(folder):
    options = dict(stop_words="english", token_pattern=WORDS)
    pipe = text_pipeline(**options)
    with pytest.warns(EmptyDocumentsWarning): X = sp.csr_array(pipe.fit_transform(texts()))
    for piece, bucket in ((2**30, 2**30), (30_000, 3000)):
        counts = counted_over(text_sources(folder, piece), Local(), **options)
        words = words_over(counts, bucket=bucket)
        other = text_pipeline(**options)
        with pytest.warns(EmptyDocumentsWarning, match="3 of 903"): blocks = weighted_over(counts, other, words)
        Y = sp.csr_array(sp.vstack(blocks.engine.fetch(blocks.engine.hold(part_matrix, blocks.parts))))
        for name in ("data", "indices", "indptr"): assert_array_equal(getattr(Y, name), getattr(X, name))
        assert Y.dtype == X.dtype
        for step, name in (("tfidf", "idf_"), ("ncut", "sum_"), ("ncut", "mean_degree_"), ("trim", "empty_docs_")):
            assert_array_equal(getattr(other[step], name), getattr(pipe[step], name))
        assert other["trim"].report() == pipe["trim"].report()
        assert words.seen == pipe["trim"].df_.sum()
        assert_array_equal(other.transform(texts()[:99]).toarray(), pipe.transform(texts()[:99]).toarray())


@pytest.mark.parametrize("more, helps", [
    ([f"test_read_{i}" for i in range(20)], {"token_pattern"}), ([f"unheard{i}" for i in range(20)], {"min_df"}),
    ([f"test_read_{i}" for i in range(20)] + [f"unheard{i}" for i in range(19)], {"token_pattern", "min_df"}), (["ubiquitous"]*20, set())])
def test_what_helps_against_empty_documents_is_said_as_in_memory(tmp_path, more, helps):
    some = [f"ubiquitous {word} {other}" for word in ("ball", "goal", "vote") for other in ("green", "yellow", "purple")]*5
    for k in range(2): (tmp_path/f"{k}.jsonl").write_text("\n".join(json.dumps(dict(text=text)) for text in (some + more)[k::2]))
    dealt, options = [text for k in range(2) for text in (some + more)[k::2]], dict(stop_words="english", token_pattern=WORDS)
    with pytest.warns(EmptyDocumentsWarning) as whole: text_pipeline(max_df=30, **options).fit(dealt)
    with pytest.warns(EmptyDocumentsWarning) as spread:
        weighted_over(counted_over(text_sources(tmp_path, 2**30), Local(), **options), text_pipeline(max_df=30, **options))
    said = str(whole[0].message)
    assert said == str(spread[0].message) and {name for name in ("token_pattern", "min_df") if name in said} == helps


def test_empty_rows_of_counts_in_partitions_are_told_as_in_memory():
    rng = np.random.default_rng(0)
    X = sp.csr_array(np.vstack([np.c_[rng.poisson(1., (90, 9)) + np.eye(9)[np.arange(90) % 9], np.ones(90), np.zeros(90)],
                                np.zeros((10, 11)), np.eye(11)[[9]*3 + [10]*2]]))          # without words, too common, too rare
    words = [f"word{j}" for j in range(11)]
    with pytest.warns(EmptyDocumentsWarning) as whole: TopicTree(3, max_df=90).fit(X, vocab=words)
    with pytest.warns(EmptyDocumentsWarning) as spread: fit_topics(TopicTree(3, max_df=90), [X[:50], X[50:]], vocab=words, engine=Local(), whole=0)
    assert str(spread[0].message) == str(whole[0].message) and "15 of 105" in str(whole[0].message) and "lower min_df" in str(whole[0].message)


@pytest.mark.slow
def test_model_of_a_folder_of_texts(folder, tmp_path):
    with pytest.warns(EmptyDocumentsWarning): model = fit_topics(TopicTree(6), folder, whole=40_000, piece=100_000)
    with pytest.warns(EmptyDocumentsWarning): here = TopicTree(6).fit(texts())
    assert isinstance(model.tree_, SpreadTree)
    assert_array_equal(model.vocab_, here.vocab_)
    assert model.expected_.unknown == pytest.approx(here.expected_.unknown)
    assert str(model.documents_) == str(here.documents_)
    assert any(" " in word for words in model.tree_.headings.values() for word in words)            # phrases
    model.save(tmp_path/"model.nmf2")
    loaded = TopicTree.load(tmp_path/"model.nmf2")
    assert_array_equal(loaded.labels_, model.labels_)
    assert loaded.outline() == model.outline()
    some = texts()[:50]
    assert_array_equal(loaded.predict(some), model.predict(some))
    with pytest.warns(EmptyDocumentsWarning): assert_array_equal(TopicTree(6).fit(folder).labels_, here.labels_)


@pytest.mark.slow
def test_texts_are_found_again(folder):
    sources = text_sources(folder, 20_000)
    counts = counted_over(sources, Local(), stop_words=None)
    rows = np.array([0, 249, 250, 601, 902])
    assert texts_at(sources, counts, rows) == [texts()[i] for i in rows]


def test_a_partition_is_read_once_for_all_of_its_texts(folder, monkeypatch):
    sources, engine = text_sources(folder, piece=30_000), Local()
    counts, reads, parsed = counted_over(sources, engine), [], []
    monkeypatch.setattr("nmf2.scale_texts.read_texts", lambda source, rows: reads.append(source) or read_texts(source, rows))
    monkeypatch.setattr("nmf2.scale_texts.json_objects", lambda lines: parsed.extend(lines) or json_objects(lines))
    first = int(counts.told[0,0])
    rows = np.array([0, first - 1, first, first + 5])
    assert len(sources) > 2 and texts_at(sources, counts, rows) == [texts()[i] for i in rows]
    assert reads == sources[:2] and len(parsed) == len(rows)


def test_a_saved_dataset_in_partitions(tmp_path, monkeypatch):
    """What `datasets` writes beside its tables are no texts; where there are no tables, such names are like any others."""
    pa = pytest.importorskip("pyarrow")
    from nmf2.files import Several
    for name in ("one", "two"):
        (tmp_path/name).mkdir()
        table = pa.table({"text": [f"{name} goal", "beans"]})
        with pa.ipc.new_stream(str(tmp_path/name/"data-00000-of-00001.arrow"), table.schema) as writer: writer.write_table(table)
        (tmp_path/name/"state.json").write_text(json.dumps({"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}))
        (tmp_path/name/"dataset_info.json").write_text(json.dumps({"features": {"text": {"dtype": "string"}}}))
        table = pa.table({"text": ["what map once gave"]})
        with pa.ipc.new_stream(str(tmp_path/name/"cache-1234.arrow"), table.schema) as writer: writer.write_table(table)
    every = ["two goal", "beans", "one goal", "beans"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for given, expected in ((tmp_path/"one", every[2:]), (Several([tmp_path/"two", tmp_path/"one"]), every), ([tmp_path/"two", tmp_path/"one"], every),
                                (tmp_path, every[2:] + every[:2])):
            assert [text for source in text_sources(given) for text in read_texts(source)] == expected
            assert given is tmp_path or read(given).texts == expected
    (tmp_path/"dataset_dict.json").write_text('{"splits": ["one", "two"]}')
    with pytest.raises(ValueError, match="a dictionary of 2 datasets. Name one of them: "): text_sources(tmp_path)
    (tmp_path/"dataset_dict.json").unlink()
    (tmp_path/"two"/"state.json").write_text(json.dumps({"_data_files": [], "_indices_data_files": [{"filename": "i.arrow"}]}))
    for given in (tmp_path/"two", Several([tmp_path/"two", tmp_path/"one"]), tmp_path):
        with pytest.raises(ValueError, match="the dataset is a selection from its files"): text_sources(given)
    (tmp_path/"plain").mkdir()
    (tmp_path/"plain"/"state.json").write_text('[{"text": "a state"}]')
    assert read_texts(text_sources(tmp_path/"plain")[0]) == ["a state"]


@pytest.mark.parametrize("orjson", [True, False])
def test_texts_are_read_alike_all_or_some(tmp_path, monkeypatch, orjson):
    if not orjson: monkeypatch.setitem(sys.modules, "orjson", None)
    lines = [f'{{"text": "é {i}", "x": {i}}}' for i in range(200)]
    for i in (3, 50, 51, 120): lines.insert(i, " ")
    (tmp_path/"a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    sources = text_sources(tmp_path, piece=1500)
    assert len(sources) > 2 and sum(map(read_texts, sources), []) == [f"é {i}" for i in range(200)]
    for source in sources:
        every = read_texts(source)
        for rows in ([], [0], [1, 2, len(every) - 1], np.arange(len(every))): assert read_texts(source, rows) == [every[i] for i in rows]


@pytest.mark.parametrize("number", [1, 2, 300, 1001])
def test_the_number_of_a_broken_line_is_that_in_the_file(tmp_path, number):
    lines = ['{"text": "fine"}', ""]*500 + ['{"text": "fine"}']
    lines[number-1] = '{"text": "broken'
    file = tmp_path/"a.jsonl"
    file.write_text("\n".join(lines))
    sources = text_sources(file, piece=1000) if number > 1 else [Stretch(str(file), 0, 1000, "text")]
    with pytest.raises(ValueError, match=f"a.jsonl, line {number}: not JSON"): [read_texts(source) for source in sources]


def test_texts_that_are_null_are_empty(tmp_path):
    """In lines of JSON and in Parquet, as when they are read at once."""
    some = [*texts()[:300], None, *texts()[300:], None]
    (tmp_path/"lines").mkdir()
    (tmp_path/"lines"/"a.jsonl").write_text("".join(json.dumps(dict(text=text)) + "\n" for text in some), encoding="utf-8")
    found = sum(map(read_texts, text_sources(tmp_path/"lines", piece=5_000)), [])
    assert found == [text or "" for text in some] == read(tmp_path/"lines"/"a.jsonl").texts
    pq = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa
    (tmp_path/"tables").mkdir()
    pq.write_table(pa.table(dict(text=some)), tmp_path/"tables"/"a.parquet", row_group_size=200)
    assert sum(map(read_texts, text_sources(tmp_path/"tables")), []) == found


@pytest.mark.parametrize("odd, what", [(None, "NoneType None"), (float("nan"), "float nan"), (7, "int 7"), (b"bytes", "bytes b'bytes'"),
                                       (["a", "list"], "list")])
def test_what_is_no_text_is_refused_as_in_memory(odd, what):
    """It would become a word, such as nan, and all gaps of a column a topic."""
    some = [*texts()[:20], odd]
    with pytest.raises(ValueError, match=rf"^texts\[20\] must be a string, got {what}"): TopicTree(3).fit(some)
    with pytest.raises(ValueError, match=rf"partition 1 can't be used: texts\[20\] must be a string, got {what}"):
        fit_topics(TopicTree(3), [texts()[:9], some, []])


def test_gaps_in_collections_of_dask_are_refused():
    dask, pd = pytest.importorskip("dask"), pytest.importorskip("pandas")
    frames, bag = pytest.importorskip("dask.dataframe"), pytest.importorskip("dask.bag")
    some = [*texts()[:30], None, *texts()[30:40]]
    for given in (frames.from_pandas(pd.Series(some), npartitions=2), bag.from_sequence(some, npartitions=2),
                  [dask.delayed(some[:20]), dask.delayed(some[20:])]):
        with pytest.raises(ValueError, match=r"partition 1 can't be used: texts\[\d+\] must be a string.*Replace missing texts"):
            TopicTree(3).fit(given)


def test_fields_within_columns_in_partitions(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa
    some = texts()[:30]
    table = pa.table({"told": [{"text": text, "id": str(k)} for k, text in enumerate(some)]})
    pq.write_table(table, tmp_path/"a.parquet", row_group_size=10)
    with pa.ipc.new_stream(str(tmp_path/"b.arrow"), table.schema) as writer: writer.write_table(table)
    for name, n in (("a.parquet", 3), ("b.arrow", 1)):
        sources = text_sources(tmp_path/name, text_field="told.text", id_field="told.id")
        assert len(sources) == n and sum(map(read_texts, sources), []) == some and list(names_over(sources, Local())) == [str(k) for k in range(30)]
        with pytest.raises(ValueError, match="there are: 'told', 'told.text', 'told.id'"): [read_texts(source) for source in text_sources(tmp_path/name)]


def test_files_are_those_that_a_folder_has_in_memory(tmp_path):
    """Those in subfolders, too, and whatever the letters of their endings, in the order of memory; what is left alone is told."""
    pq = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa
    for k, name in enumerate(("f0.parquet", "f2.PQ", "f10.parquet", "May/d.Parquet", "May/deep/a.pq", ".draft/b.parquet")):
        (tmp_path/name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(dict(text=[f"{name} {i}" for i in range(5)])), tmp_path/name, row_group_size=2)
    with pytest.warns(UserWarning, match="5 files read, left alone 1 hidden$"): sources = text_sources(tmp_path)
    assert len(sources) == 15 and sum(map(read_texts, sources), []) == read(tmp_path).texts


def test_files_of_mails(tmp_path):
    "The same texts as in memory, also of files without an ending; not with others that look like collections"
    for name in ("May.mbox", "April", "March.txt.gz"):
        mails = [f"From ann@example.org Thu Jan  1 12:00:00 2004\nSubject: {name} {i}\n\nwords\n" for i in range(3)]
        with (gzip.open if name.endswith(".gz") else open)(tmp_path/name, "wt") as file: file.write("\n".join(mails))
    (tmp_path/"June").touch()
    with pytest.warns(UserWarning, match="3 files read, left alone 1 empty$"): sources = text_sources(tmp_path)
    with pytest.warns(UserWarning, match="3 files read"): here = read(tmp_path).texts
    assert sum(map(read_texts, sources), []) == here == [f"{name} {i}\n\nwords" for name in ("April", "March.txt.gz", "May.mbox") for i in range(3)]
    (tmp_path/"a.csv").write_text("text\na\n")
    with pytest.raises(ValueError, match="must be of one kind, and .* has files of mails and others: April, March.txt.gz, May.mbox, a.csv. Put one kind into a folder of its own$"): text_sources(tmp_path)


def test_records_of_nothing_and_of_lists(tmp_path):
    "Null is an empty text, also where a file has no other; an object that wraps the documents is an error, as in memory"
    for name, line in [("a.json", '{"text": null}'), ("b.jsonl", '{"text": "words"}'), ("c.json", '{"text":\n "more"}')]: (tmp_path/name).write_text(line)
    assert sum(map(read_texts, text_sources(tmp_path)), []) == read(tmp_path).texts == ["", "words", "more"]
    for name in ("b.jsonl", "c.json"):
        (tmp_path/name).write_text('{"description": "all of it", "data": [{"text": "a"}]}\n')
        with pytest.raises(ValueError, match=f"{name}.*these may be the documents: 'data'"): [read_texts(one) for one in text_sources(tmp_path/name)]
        assert sum(map(read_texts, text_sources(tmp_path/name, text_field="description")), []) == ["all of it"]


def test_many_small_files_share_partitions(tmp_path):
    "And the tree is that of fewer partitions; a file that is wrong is named"
    wanted = texts()[:300]
    for k, text in enumerate(wanted): (tmp_path/f"{k:03}.json").write_text(json.dumps(dict(text=text), indent=1))
    sources = text_sources(tmp_path, piece=40_000)
    assert 3 < len(sources) < 100 and str(sources[0]).startswith("000.json and ") and sum(map(read_texts, sources), []) == wanted
    assert read_texts(sources[1], np.array([0, 3])) == [read_texts(sources[1])[i] for i in (0, 3)]
    model = fit_topics(TopicTree(4), tmp_path, engine=Local(), whole=0, piece=40_000)
    assert_array_equal(model.labels_, fit_topics(TopicTree(4), [*map(str, sorted(tmp_path.iterdir()))][:300], engine=Local(), whole=0).labels_)
    (tmp_path/"200.json").write_text('{"text": 3}')
    with pytest.raises(ValueError, match="partition .* more, can't be used: .*200.json, line 1: field 'text' should be a string and is 3"): fit_topics(TopicTree(4), tmp_path, engine=Local())
    large = [Stretch("a.jsonl", 0, 9_000), *[Stretch("b.jsonl", k, k + 10) for k in range(100)], Stretch("c.parquet", 0, 1), ["a text"], Stretch("d.jsonl", 0, 10)]
    assert [len(getattr(one, "stretches", [one])) for one in _bundled(large, 20_000)] == [1, 100, 1, 1, 1] and _bundled(large[5:], 20_000) == large[5:]


def test_many_small_tables_of_parquet_share_partitions(tmp_path):
    "As many files of lines do; row groups of one file as well, and one that is large stays alone"
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa
    def put(name, some, **options):
        (tmp_path/name).mkdir(exist_ok=True)
        ids = [f"no. {k}" for k in range(len(some))]
        parquet.write_table(pa.table(dict(text=some, id=ids)), tmp_path/name/f"{len(os.listdir(tmp_path/name)):03}.parquet", **options)
    for k in range(0, 900, 3): put("files", texts()[k:k+3])
    put("groups", texts()[:900], row_group_size=3)
    for name in ("files", "groups"):
        sources = text_sources(tmp_path/name, piece=400_000)
        assert 3 < len(sources) < 100 and all(one.size and one.stamp for source in sources for one in source.stretches)
        assert sum(map(read_texts, sources), []) == texts()[:900] and has_names(sources)
        assert len(list(names_over(sources, Local()))) == 900
    put("files", texts()[:900])
    large = text_sources(tmp_path/"files", piece=400_000)
    assert isinstance(large[-1], Stretch) and len(large) == len(text_sources(tmp_path/"groups", piece=400_000)) + 1


def written_to(path, how):
    "A file changes in one of several ways"
    lines = path.read_text().splitlines(keepends=True)
    if how == "removed": path.unlink()
    else: path.write_text("".join(dict(longer=lines + ["late,one row more\n"], shorter=lines[:-9], turned=lines[:1] + lines[:0:-1], broken=[*lines, '"'])[how]))


@pytest.mark.parametrize("how", ["longer", "shorter", "turned", "broken", "removed"])
def test_files_that_change_after_they_were_counted_are_not_read_for_headings_or_names(tmp_path, monkeypatch, how):
    from nmf2 import scale_texts
    data, some = tmp_path/"data", [" ".join(text.split()) for text in texts()[:900]]
    data.mkdir()
    for k in range(3):
        with open(data/f"{k}.csv", "w", newline="") as file:
            csv.writer(file).writerows([("id", "text"), *((f"{k}-{i}", text) for i, text in enumerate(some[300*k:300*(k + 1)]))])
    sources, typical_over = text_sources(data), scale_texts.typical_over
    def changed(*args):
        found = typical_over(*args)
        written_to(data/"1.csv", how)
        return found
    here = fit_topics(TopicTree(4), sources, engine=Local(), whole=20_000)
    monkeypatch.setattr(scale_texts, "typical_over", changed)
    with pytest.warns(UserWarning, match=r"1\.csv was written to or removed since its documents were counted: headings have no phrases"):
        model = fit_topics(TopicTree(4), sources, engine=Local(), whole=20_000)
    assert_array_equal(model.labels_, here.labels_)
    assert not any(" " in word for words in model.tree_.headings.values() for word in words)
    with pytest.raises(Changed, match="1.csv was written to or removed"): list(names_over(sources, Local()))


@pytest.mark.parametrize("how", ["longer", "shorter", "removed"])
def test_the_command_keeps_a_model_whose_files_have_changed(tmp_path, monkeypatch, capsys, how):
    from nmf2 import cli
    (tmp_path/"data").mkdir()
    for k in range(2): (tmp_path/"data"/f"{k}.csv").write_text("id,text\n" + "".join(f"{k}-{i},{'abc'[i % 3]*3} {'def'[i % 3]*3} w{i % 7}w\n" for i in range(150)))
    monkeypatch.setattr("nmf2.scale.WHOLE", 500)
    fit_in_partitions = cli.fit_in_partitions
    monkeypatch.setattr(cli, "fit_in_partitions", lambda args: (fit_in_partitions(args), written_to(tmp_path/"data"/"1.csv", how))[0])
    assert cli.main(["cluster", str(tmp_path/"data"), "--memory", "1GB", "--leaves", "3", "--out", str(tmp_path/"out")]) == 0
    assert "1.csv was written to or removed since its documents were counted: assignments.csv has rows without names" in " ".join(capsys.readouterr().err.split())
    rows = (tmp_path/"out"/"assignments.csv").read_text().splitlines()
    assert rows[0] == "row,leaf,leaf_number,title" and len(rows) == 301
    assert TopicTree.load(tmp_path/"out"/"topics.nmf2").n_topics_ == 3


def test_tables_without_rows_and_with_other_columns(tmp_path):
    def put(**tables):
        for name, text in tables.items(): (tmp_path/f"{name}.csv").write_text(text)
        return tmp_path
    sources = text_sources(put(a="id,body\n1,some words\n2,more words\n", b="body\n", c="Body;id\nlast words;3\n"))
    assert [source.field for source in sources] == [("body",), ("body",), ("Body",)] and [read_texts(s) for s in sources] == [["some words", "more words"], [], ["last words"]]
    with pytest.raises(ValueError, match="in d.csv the texts are in 'text', in a.csv in 'body'. Give it the same name in all"): text_sources(put(d="text,body\nx,y\n"))
    put(c="body\nz\n")
    assert len(text_sources(tmp_path, text_field="body")) == 4
    for k, names in enumerate(("text", "body")):                                   # of the same name, in other folders
        (tmp_path/f"more/{k}").mkdir(parents=True)
        (tmp_path/f"more/{k}/a.csv").write_text(f"{names},n\nx,1\n")
    with pytest.raises(ValueError, match="more: in 1/a.csv the texts are in 'body', in 0/a.csv in 'text'"): text_sources(tmp_path/"more")
    for file in sorted((tmp_path/"more").glob("*/*")): file.unlink()
    with pytest.raises(ValueError, match="no field 'text', asked for by text_field"): text_sources(tmp_path, text_field="text")
    put(a="body\n", c="body\n")
    (tmp_path/"d.csv").unlink()
    with pytest.raises(ValueError, match="^there are no documents in partition 0, a.csv,"): fit_topics(TopicTree(2), tmp_path, engine=Local())
    model = fit_topics(TopicTree(2, min_df=1), put(a="n,body\n" + "1,some words\n2,other things\n"*9), engine=Local())
    assert model.reading_["text_field"] == "body"


def test_a_field_that_comes_late_belongs_to_the_text(tmp_path):
    lines = ['{"title": "a ball and a net"}']*9 + ['{"abstract": "a law", "title": "a vote"}', '{"abstract": "alone"}']
    (tmp_path/"a.jsonl").write_text("\n".join(lines))
    for piece in (10**6, 100):
        sources = text_sources(tmp_path/"a.jsonl", piece, text_field=["title", "abstract"])
        assert sum(map(read_texts, sources), []) == read(tmp_path/"a.jsonl", text_field="title,abstract").texts
    (tmp_path/"a.jsonl").write_text("\n".join(['{"title": "%s"}' % ("a ball and a net "*9)]*2000 + lines))
    with pytest.warns(UserWarning, match="no field 'abstract' was seen"): sources = text_sources(tmp_path/"a.jsonl", text_field=["title", "abstract"])
    assert sum(map(read_texts, sources), [])[-2:] == ["a vote\n\na law", "alone"]


def test_the_first_of_a_list_may_lack_a_field(tmp_path):
    records = [dict(title="a ball and a net")] + [dict(title="a vote", abstract="a law")]*9
    (tmp_path/"a.json").write_text(json.dumps(records))
    for piece in (10**6, 100):                              # read whole, and written anew
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            engine = Local()
            sources = text_sources(tmp_path/"a.json", piece, text_field="title,abstract", engine=engine)
            assert sum(map(read_texts, sources), []) == ["a ball and a net"] + ["a vote\n\na law"]*9


@pytest.mark.parametrize("sizes", [dict(whole=1e6), dict(whole=math.inf), dict(piece=64e6)])
def test_sizes_may_be_floats(tmp_path, sizes):
    texts = [f"{'abc'[i % 3]*3} {'def'[i % 3]*3} w{i % 7}w" for i in range(60)]
    (tmp_path/"a.jsonl").write_text("\n".join(json.dumps(dict(text=text)) for text in texts))
    fit_topics(TopicTree(3, min_df=1), tmp_path/"a.jsonl", engine=Local(), **sizes)


def test_several_files_of_text_are_no_partitions(tmp_path):
    for name in ("a.txt", "b.txt"): (tmp_path/name).write_text("a ball and a net\n"*9)
    (tmp_path/"c.jsonl").write_text('{"text": "a ball and a net"}\n'*9)
    paths = [tmp_path/"a.txt", tmp_path/"b.txt"]
    for some in (paths, [tmp_path/"c.jsonl", paths[0]]):
        with pytest.raises(ValueError, match=r"documents has 'a.txt', named \*.txt: in partitions there are only files of .*nmf2.read\(paths\), and fit takes"): TopicTree(2).fit(some)
    assert len(read(paths)) == 2 and len(sum(map(read_texts, text_sources(paths[:1])), [])) == 9 == len(read(paths[:1]))
    with pytest.raises(ValueError, match=r"documents must be paths of files of .*has none. Others are read in memory alone"): text_sources(one_or_several(paths))
    for wrong in (["t.csv", f"nope{os.sep}"], [tmp_path/"nope"]):
        with pytest.raises((ValueError, FileNotFoundError), match="there is no such file or folder"): text_sources(wrong)
    with pytest.raises(ValueError, match="documents must be a folder, files, lists of texts, or counts in partitions; got a dict of 1"): text_sources({"a": 1})
    (tmp_path/"d.jsonl").write_text("")
    assert sum(map(read_texts, text_sources([tmp_path/"c.jsonl", tmp_path/"d.jsonl"])), []) == ["a ball and a net"]*9


def test_texts_in_several_fields_over_partitions(tmp_path):
    records = [{"id": f"a{i}", "subject": f"{'abc'[i % 3]*3} w{i % 7}w", "data": {"body": f"{'def'[i % 3]*3} {'ghi'[i % 3]*3}" if i % 4 else None}}
               for i in range(90)]
    del records[5]["subject"]
    engine = Local()
    flat = pd.DataFrame([dict(id=r["id"], subject=r.get("subject"), body=r["data"]["body"]) for r in records])
    lines = "\n".join(map(json.dumps, records))
    (tmp_path/"a.jsonl").write_text(lines)
    (tmp_path/"b.json").write_text(json.dumps(records))
    with gzip.open(tmp_path/"c.jsonl.gz", "wt") as f: f.write(lines)
    flat.to_csv(tmp_path/"d.csv", index=False)
    flat.to_parquet(tmp_path/"e.parquet")
    for file in sorted(tmp_path.iterdir()):
        fields = ["subject", "body" if file.name[0] in "de" else "data.body"]
        whole = read(file, text_field=fields)
        assert whole.texts[5] == "fff iii" and whole.texts[0] == "aaa w0w" and whole.texts[1] == "bbb w1w\n\neee hhh"
        for asked in (fields, ",".join(fields)):
            for piece in (100, 10**6):
                sources = text_sources(file, piece, text_field=asked, engine=engine)
                assert sum(map(read_texts, sources), []) == whole.texts
        model = TopicTree(3, min_df=1).fit(whole)
        spread = fit_topics(TopicTree(3, min_df=1), file, text_field=",".join(fields), engine=engine)
        assert spread.reading_["text_field"] == fields
        assert_array_equal(model.labels_, np.asarray(spread.labels_))
        model.save(tmp_path/"m.nmf2")
        again = TopicTree.load(tmp_path/"m.nmf2")
        assert_array_equal(again.predict(read(file, like=again.reading_)), model.labels_)
        (tmp_path/"m.nmf2").unlink()
    (tmp_path/"a.jsonl").write_text(lines + '\n{"id": "x"}')
    with pytest.raises(ValueError, match="a.jsonl, line 91: none of the fields 'subject', 'data.body' is there"):
        [read_texts(source) for source in text_sources(tmp_path/"a.jsonl", text_field="subject,data.body")]
    with pytest.raises(ValueError, match="text_field must be the name of a field, or several"): text_sources(tmp_path/"d.csv", text_field="")


def test_files_that_are_left_alone_are_told(tmp_path):
    for name in ("d.JSONL", "e.jsonl", "sub/c.csv.GZ", "sub/a.NDJSON", "notes.txt", "sub/more.TXT", "README", ".hidden.jsonl"):
        (tmp_path/name).parent.mkdir(exist_ok=True)
        text = b"text\na text\n" if "csv" in name else b'{"text": "a text"}\n'*50
        (tmp_path/name).write_bytes(gzip.compress(text) if name.endswith("GZ") else text)
    told = r"4 files read, left alone 2 named \*.txt, 1 hidden, 1 without an ending$"
    with pytest.warns(UserWarning, match=told): sources = text_sources(tmp_path, piece=200)
    assert [str(s).split(" ")[0] for s in sources] == ["d.JSONL"]*5 + ["e.jsonl"]*5 + ["a.NDJSON"]*5 + ["c.csv.GZ"]
    assert len(sum(map(read_texts, sources), [])) == 151


@pytest.mark.parametrize("first, rest", [
    ('{"url": "a"}', ['{"url": "a", "text": "b"}']*300),        # the first record has no text
    ('{"url": "a", "text": "b"}', ['{"url": "a"}']*300),        # only the first has
    ('{"url": "a", "body": "c", "text": null}', ['{"text": "b", "body": "c"}']*300),
    ('{"Body": "c", "url": "a"}', ['{"body": "b", "Body": "c"}']*300),
    ('{"url": "a"}', ['{"url": "a"}']*300),                     # a single field of another name
    ('{"url": "a", "x": 1}', ['{"url": "a", "text": "b"}']*300),
    ('{"url": "a", "x": 1}', ['{"url": "a", "x": 1}']*300),
    ('[1, 2]', ['{"text": "b"}']), ('{"text": "b"}', ['3']), ('{', ['"text": "b"}']), ('{"text": "\\ud800"}', ['{"text": "b"}']*9)])
def test_the_field_of_the_text_is_that_in_memory(tmp_path, first, rest):
    file = tmp_path/"a.jsonl"
    file.write_text("\n".join([first, *rest]))
    def found(read):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try: return read()
            except ValueError as e: return str(e)
    here = found(lambda: read(file).texts)
    assert found(lambda: sum(map(read_texts, text_sources(file, piece=1000)), [])) == here


@pytest.mark.parametrize("name, why", [("url", "by its first lines the text is in 'url', and later ones have 'text', too"),
                                       ("body", "by its first lines the text is in 'body', and later ones have 'text', too")])
def test_a_field_that_comes_late_is_told(tmp_path, name, why):
    file = tmp_path/"a.jsonl"
    file.write_text(f'{{"{name}": "some words"}}\n'*10_000 + f'{{"{name}": "some words", "text": "others"}}\n')
    with pytest.raises(ValueError, match=rf"a.jsonl: {why}\. Say which it is with text_field="): [read_texts(s) for s in text_sources(file, 5000)]
    assert sum(map(read_texts, text_sources(file, 5000, text_field=name)), []) == ["some words"]*10_001


def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa
    parquet.write_table(pa.table(dict(text=texts(), n=list(range(len(texts()))))), tmp_path/"a.parquet", row_group_size=400)
    sources = text_sources(tmp_path)
    assert len(sources) == 3 and sum(map(read_texts, sources), []) == texts()


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zip", "a.csv", "a.csv.gz", "latin.csv", "a.parquet", "a.arrow"])
def test_large_files_that_cant_be_read_in_part_are_written_anew(tmp_path, name):
    some = [text.replace("e", "é").encode("latin-1", "replace").decode("latin-1") if name == "latin.csv" else text for text in texts()]
    names = [f"no. {k}" for k in range(len(some))]
    lines = "".join(json.dumps(dict(n=1, text=text, id=name)) + "\n" for text, name in zip(some, names))
    table = io.StringIO(newline="")
    csv.writer(table).writerows([["n", "text", "id"], *([1, *both] for both in zip(some, names))])
    path = tmp_path/"in"/name
    path.parent.mkdir()
    if name == "a.jsonl.gz": path.write_bytes(gzip.compress(lines.encode()))
    elif name == "a.jsonl.zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file: file.writestr("a.jsonl", lines)
    elif name == "a.csv.gz": path.write_bytes(gzip.compress(table.getvalue().encode()))
    elif name.endswith(".csv"): path.write_bytes(table.getvalue().encode("latin-1" if name == "latin.csv" else "utf-8"))
    else:
        pa = pytest.importorskip("pyarrow")
        arrow = pa.table(dict(n=[1]*len(some), id=names, text=pa.array([*some[:-1], None], pa.binary() if "parquet" in name else None)))
        if name == "a.parquet": pytest.importorskip("pyarrow.parquet").write_table(arrow, path)
        else: pytest.importorskip("pyarrow.feather").write_feather(arrow, path, chunksize=200)
        some = [*some[:-1], ""]
    (tmp_path/"scratch").mkdir()
    engine = Local(scratch=str(tmp_path/"scratch"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if name == "latin.csv" else "error")
        sources = text_sources(path.parent, 5_000, engine=engine)
        assert len(sources) > 9 and sum(map(read_texts, sources), []) == some and {source.field for source in sources} == {("text",)}
        assert has_names(sources) and list(names_over(sources, engine)) == names
    small = text_sources(path.parent, 10**9, engine=engine)
    assert sum(map(read_texts, small), []) == some and has_names(small) and list(names_over(small, engine)) == names
    assert not has_names(text_sources(path.parent, 10**9, id_field="")) and not has_names(text_sources(path.parent, 5_000, engine=engine, id_field=""))
    with pytest.warns(UserWarning, match=f"{name} can't be read in part"): whole = text_sources(path.parent, 5_000)
    assert len(whole) == 1 and read_texts(whole[0]) == some
    assert [one.name for one in path.parent.iterdir()] == [name]


def test_names_of_documents_in_partitions(folder, tmp_path):
    assert has_names(text_sources(folder)) and not has_names(text_sources(folder, id_field="")) and not has_names([["a text"]])
    tmp_path = tmp_path/"own"
    tmp_path.mkdir()
    for k in range(3): (tmp_path/f"{k}.jsonl").write_text("".join(json.dumps(dict(text="a ball", no=10*k + i)) + "\n\n" for i in range(9)))
    sources = text_sources(tmp_path, 60, id_field="no")
    assert len(sources) > 9 and list(names_over(sources, Local())) == [str(10*k + i) for k in range(3) for i in range(9)]
    (tmp_path/"1.jsonl").write_text('{"text": "a ball", "no": 3}\n{"text": "a ball", "no": 2}\n')
    with pytest.warns(UserWarning, match="2 of 20 names are those of an earlier document, too: go by rows"):
        assert len(list(names_over(text_sources(tmp_path, id_field="no"), Local()))) == 20
    (tmp_path/"1.jsonl").write_text('{"text": "a ball", "no": null}\n{"text": "a ball"}\n')
    assert list(names_over(text_sources(tmp_path, id_field="no"), Local()))[8:12] == ["8", None, None, "20"]
    with pytest.raises(ValueError, match="no field 'number'"): text_sources(tmp_path, id_field="number")


def test_faults_of_large_files_name_them(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa
    engine = Local(scratch=str(tmp_path))
    def bad(name, data, why):
        folder = tmp_path/name.partition(".")[0]
        folder.mkdir()
        (folder/name).write_bytes(data)
        with pytest.raises(ValueError, match=f"{name}{why}"): sum(map(read_texts, text_sources(folder, 5_000, engine=engine)), [])
    table = b"text,n\n" + b"ball game,1\n"*4000
    bad("rows.csv", table + b"ball,1,2\n", ", line 4002: 3 columns where there should be 2 by the first line")
    bad("cut.csv.gz", gzip.compress(os.urandom(20_000).hex().encode().join([b"text\n", b"\n"]))[:-900], ".*damaged or cut short")
    bad("none.parquet", b"PAR1 and no more", ": damaged, cut short, or of another kind")
    pq.write_table(pa.table(dict(text=list(range(9000)))), tmp_path/"n")
    bad("numbers.parquet", (tmp_path/"n").read_bytes(), ".*field 'text' should be a string and is 0")


def test_names_of_files_are_files(folder, tmp_path):
    paths = sorted(folder.glob("*.jsonl"))
    model = TopicTree(3).fit(paths)
    assert_array_equal(TopicTree(3).fit([str(path) for path in paths]).labels_, model.labels_)
    assert_array_equal(TopicTree(3).fit(str(folder)).labels_, model.labels_)
    shards = save_shards(collection(), tmp_path/"shards", 3)
    assert_array_equal(HierNMF2(3).fit([str(path) for path in shards]).labels_, HierNMF2(3).fit(shards).labels_)
    with pytest.raises(ValueError, match="texts must be a list of strings|at least one document"): TopicTree(3).fit("no file that is here")
    names = [*map(str, paths), str(folder/"part-9.jsonl")]
    with pytest.raises(FileNotFoundError, match="no such file: .*part-9.jsonl', and others in the list are there"): TopicTree(3).fit(names)
    for some in ([str(folder), str(tmp_path)], [names[0], str(folder)]):
        with pytest.raises(ValueError, match=r"documents are names of files and folders, such as .*nmf2.read\(\[...\]\) reads"): TopicTree(3).fit(some)
    assert_array_equal(HierNMF2(3).fit(collection()).predict(shards[0]), HierNMF2(3).fit(collection()).predict(open_shard(shards[0])))
    assert_array_equal(HierNMF2(3).fit(collection()).predict([str(path) for path in shards]), HierNMF2(3).fit(collection()).predict(collection()))


def test_texts_to_be_answered_are_no_names_of_files(folder, tmp_path, monkeypatch):
    """Somebody else may have written them, so that none of them is opened."""
    monkeypatch.chdir(tmp_path)
    model, paths = TopicTree(3).fit(texts()), sorted(folder.glob("*.jsonl"))
    (tmp_path/"data").mkdir()
    (tmp_path/"secret").write_text("\n".join(texts()))
    monkeypatch.setattr("nmf2.files._Packed.__init__", lambda *_: pytest.fail("a file is opened"))
    names = [str(path) for path in paths]
    def count(some): return TermCounter().fit_transform(some).toarray()
    for some in (["secret"], ["data"], [".", "secret"], [*names, "a text"], [*names, str(folder)], [*names, "part-9.jsonl"]):
        for ask in (model.predict, model.transform, model.answers, model.path, model.explain, count): assert len(ask(some)) == len(some)
        assert model.drift(some).n_docs == len(some)
    model.update(["secret"])
    assert len(model.labels_) == len(texts()) + 1
    for some in (names, names[:1], tuple(names)):
        for ask in (model.predict, model.transform, model.answers, model.drift, model.path, model.update, count):
            with pytest.raises(ValueError, match=r"documents are names of files, such as '.*jsonl', and a string in a list is a text: give \[Path"): ask(some)
    monkeypatch.undo()
    assert_array_equal(model.predict(paths), model.predict(texts()))
    assert_array_equal(model.predict(str(paths[0])), model.predict(paths[:1]))


@pytest.mark.parametrize("name, read", [("a.csv", True), ("a.TXT", True), ("a.csv.gz", True), ("a.zip", True), ("a.mat", True), ("a.html", True),
                                        ("a", False), ("a.py", False), ("a.conf", False)])
def test_names_of_files_that_are_read_are_told(tmp_path, name, read):
    (tmp_path/name).write_bytes(b"PK\3\4 no archive")
    for named in (str(tmp_path/name), [str(tmp_path/name)]*2): assert in_partitions(named, named=True)
    if not read: assert not in_partitions([str(tmp_path/name)])
    else:
        with pytest.raises(ValueError, match="a string in a list is a text"): in_partitions([str(tmp_path/name)])


def test_what_takes_documents_in_one_piece_says_so(folder):
    model, X = TopicTree(3).fit(texts()), collection()
    tree = HierNMF2(3).fit(X)
    for ask in (model.path, model.fit_transform):
        for given in (folder, sorted(folder.glob("*.jsonl"))):
            with pytest.raises(ValueError, match="must be in one piece here.*each partition by itself"): ask(given)
    with pytest.raises(ValueError, match="X must be in one piece here"): tree.fit_transform([X[:900], X[900:]])


def test_models_over_partitions_are_kept_or_say_how(folder, tmp_path):
    X = collection()
    tree, model = scale_fit(HierNMF2(3).fit(X), cut(X, 3), whole=0), fit_topics(TopicTree(3), folder, whole=0)
    tree.tree_.save(tmp_path/"t.nmf2")
    assert_array_equal(Tree.load(tmp_path/"t.nmf2").labels(), tree.labels_)
    for fitted in (tree, model):
        with pytest.raises(TypeError, match="documents in partitions can't be copied or pickled.*gather_model"): pickle.dumps(fitted)
    assert_array_equal(pickle.loads(pickle.dumps(gather_model(model))).labels_, model.labels_)
    with pytest.raises(ValueError, match="n_leaves can't be raised where documents are in partitions"): tree.grow(4)
    with pytest.raises(ValueError, match=r"1000 terms in float32 \(partition 0\) and 898 terms in float32 \(partition 1\): count all with one"):
        as_blocks([sp.csr_array((2, 1000), dtype=np.float32), X])


def test_delayed_counts_and_single_blocks(folder):
    dask = pytest.importorskip("dask")
    counts = planted_tree((2, 2), n_docs=300, n_terms=300, random_state=0).X
    blocks, words = [dask.delayed(counts[:100]), dask.delayed(counts[100:])], [f"w{j}" for j in range(counts.shape[1])]
    assert_array_equal(TopicTree(3).fit(blocks, vocab=words).labels_, TopicTree(3).fit(counts, vocab=words).labels_)
    with pytest.raises(ValueError, match="texts must be a list of strings, got a matrix"): TopicTree(3).fit(blocks)
    for est in (TopicTree(3), HierNMF2(3)):
        with pytest.raises(ValueError, match="must be several partitions, got a single Delayed.*: put it in a list"): est.fit(dask.delayed(counts))


def test_a_damaged_checkpoint_is_named(tmp_path):
    blocks = as_blocks(cut(collection(), 3))
    scale_fit(HierNMF2(3), blocks, whole=0, checkpoint=tmp_path/"c")
    for file in (tmp_path/"c").glob("*.npz"): file.write_bytes(b"junk")
    with pytest.raises(ValueError, match=r"c/.*\.npz is damaged: remove it"): scale_fit(HierNMF2(3), blocks, whole=0, checkpoint=tmp_path/"c")


def test_a_full_disk_is_named(tmp_path):
    with pytest.raises(OSError, match="TMPDIR=.*another folder.*nowhere"): put_away(collection(), np.arange(3000), str(tmp_path/"nowhere"))


def test_a_disk_that_is_full_while_a_file_is_written_anew_is_that_of_the_scratch_folder(tmp_path, monkeypatch):
    (tmp_path/"scratch").mkdir()
    with gzip.open(tmp_path/"a.jsonl.gz", "wt") as file: file.writelines(json.dumps(dict(text=text)) + "\n" for text in texts())
    def full(*args): raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr("nmf2.scale_texts.copyfileobj", full)
    with pytest.raises(OSError, match=r"TMPDIR=.*another folder.*scratch.*a\.jsonl") as caught: text_sources(tmp_path/"a.jsonl.gz", 5_000, engine=Local(tmp_path/"scratch"))
    assert caught.value.errno == errno.ENOSPC


def test_whatever_is_wrong_with_a_file_names_it(folder):
    (folder/"part-9.jsonl").write_text('{"text": "fine"}\n{"text": 3}\n')
    with pytest.raises(ValueError, match=r"partition 3, part-9.jsonl, can't be used.*part-9.jsonl, line 2: field 'text' should be a string and is 3"):
        TopicTree(3).fit(folder)
    (folder/"part-9.jsonl").write_text('{"text": "fine"}\n{"text": \n')
    with pytest.raises(ValueError, match="part-9.jsonl.*not JSON"): TopicTree(3).fit(folder)
    (folder/"part-9.jsonl").write_text('{"other": "fine", "fields": 3}\n')
    with pytest.raises(ValueError, match="part-9.jsonl.*which field holds the text"): TopicTree(3).fit(folder)


def test_topics_of_partitions_are_named(folder, tmp_path):
    model = fit_topics(TopicTree(3), folder, whole=0)
    names = model.name(lambda words, texts: f"about {words[0]}", nodes=model.tree_.leaves())
    assert len(names) == 3 and names == model.tree_.names and all(name.startswith("about") for name in names.values())
    model.save(tmp_path/"model.nmf2")
    assert TopicTree.load(tmp_path/"model.nmf2").tree_.names == names


def test_the_number_of_topics_is_found_out(folder):
    here, there = TopicTree("auto").fit(texts()), TopicTree("auto").fit(folder)
    assert str(there.choice_) == str(here.choice_) and (there.labels_ == here.labels_).all()       # fetched
    apart = fit_topics(TopicTree("auto"), folder, whole=0)
    assert apart.choice_.n_topics == here.choice_.n_topics and apart.n_topics_ > 1 and "documents)" not in apart.choice_.why
    X = collection()
    filled = X[np.diff(X.indptr) > 0]
    assert str(number_over(as_blocks([X[:50], X[50:]]))) == str(number_over(as_blocks([X]))) == str(choose_n_topics(filled))
    few = number_over(as_blocks([X, X]), whole=1)
    assert few.why.endswith(f"(by 4,000 of {2*filled.shape[0]:,} documents)")
    alike = sp.csr_array(np.tile([1., 2, 0], (5000, 1)))
    assert number_over(as_blocks([alike, alike]), whole=1).n_topics == 1


def test_many_narrow_topics_are_counted_as_in_memory():
    rng, k = np.random.default_rng(0), 90                        # forty documents of nine of the topic's twenty words
    X = np.zeros((40*k, 20*k), np.float32)
    for i in range(len(X)): X[i,20*(i % k) + rng.choice(20, 9, replace=False)] = 1
    X = sp.csr_array(X)
    found = number_over(as_blocks([X[:2000], X[2000:]]))
    assert str(found) == str(choose_n_topics(X)) and found.n_topics == k


def test_trees_that_outgrow_the_sample_are_stopped_and_it_is_said(monkeypatch):
    monkeypatch.setattr("nmf2.support.PER_NONZERO", 0)
    asked = []
    def choose(X, most, **how):
        asked.append(most)
        return Choice(60, "on and on", np.ones(most - 1))
    monkeypatch.setattr("nmf2.support.choose_n_topics", choose)
    X = collection()
    found = number_over(as_blocks([X, X]), whole=1)
    assert asked == [120] and "on and on; more than 120 leaves were not tried (by 4,000 of" in found.why


@pytest.mark.parametrize("room", [1, 5000, 8*40*7, 10**9])
def test_sums_of_a_few_clusters_at_a_time_are_the_same(room):
    X = sp.random(300, 40, .2, "csr", rng=np.random.default_rng(0))
    labels = np.random.default_rng(1).integers(-1, 11, 300)
    labels[labels == 4] = -1                                                    # nobody is there
    blocks = as_blocks([X[:100], X[100:120], X[120:]], Local(room=room))
    sums, sizes = sums_over(blocks, [labels[:100], labels[100:120], np.full(180, -1)], 11)
    assert_array_equal(sizes, np.bincount(labels[:120][labels[:120] >= 0], minlength=11))
    for c in range(11): assert_allclose(sums[c], unit_rows(X[:120])[labels[:120] == c].sum(0), atol=1e-12)


def test_few_documents_or_alike_ones_are_no_trouble():
    alike = sp.csr_array(np.tile([1., 2, 3], (40, 1)))
    for n in ("auto", 3):
        with pytest.raises(ValueError, match="documents must be of different things"):
            fit_topics(TopicTree(n, max_df=1.), [alike, alike], whole=0)
    one = sp.csr_array(np.vstack([np.zeros((20, 2)), [[1, 2]]]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentsWarning)
        apart = fit_topics(TopicTree("auto", min_df=1), [one, one[:5]], whole=0)
        assert str(apart.choice_) == str(TopicTree("auto", min_df=1).fit(sp.vstack([one, one[:5]]).tocsr()).choice_)


def test_bad_input(tmp_path, folder):
    for bad, words in ((tmp_path/"nowhere", "nowhere"), (tmp_path/"none", "folder with files of .jsonl")):
        (tmp_path/"none").mkdir(exist_ok=True)
        with pytest.raises((ValueError, OSError), match=words): TopicTree(3).fit(bad)
    with pytest.raises(ValueError, match="there are only .* documents with words, and n_topics=5000: ask for fewer"): fit_topics(TopicTree(5000), folder, whole=0)
    with pytest.raises(ValueError, match="vocab goes with counts"): fit_topics(TopicTree(3), folder, ["word"])
    with pytest.raises(ValueError, match="n_topics"): TopicTree(0).fit(folder)
    with pytest.raises(ValueError, match="lower min_df"): fit_topics(TopicTree(3, min_df=900), folder, whole=0)
    with pytest.raises(ValueError, match="topics must be"): fit_flat(FlatNMF2(3, topics="svd"), [collection()], whole=0)
    with pytest.raises(ValueError, match="stop_words"): TopicTree(3, stop_words="klingon").fit(folder)
    with pytest.raises(ValueError, match="model must be a TopicTree, got a HierNMF2"): fit_topics(HierNMF2(3), folder)
    with pytest.raises(ValueError, match="model must be a FlatNMF2, got a TopicTree"): fit_flat(TopicTree(3), [collection()])
    with pytest.raises(ValueError, match="whole must be"): fit_flat(FlatNMF2(3), [collection()], whole="all")
    for wrong, words in ((dict(whole="all"), "whole must be"), (dict(whole=-1), "whole must be"), (dict(memory="4GB"), "memory, in bytes, must be"),
                         (dict(memory=0), "memory, in bytes, must be"), (dict(piece=0), "piece, in bytes, must be")):
        with pytest.raises(ValueError, match=f"^{words}"): fit_topics(TopicTree(3), folder, **wrong)


def test_what_is_no_collection_in_partitions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = TopicTree(3).fit(texts())
    for wrong, words in (([], "at least one partition"), ((), "at least one partition"), (iter([]), "at least one partition"), (3, "documents must be a folder, files, .* got 3"),
                         (None, "got None"), (texts(), "documents has the text .* which is no file: give lists of texts"), (np.array(texts()), "give lists of texts"),
                         (iter(texts()), "give lists of texts"), (["a ball", "a law"], "has the text 'a ball'"), ("", "'' is none"), ("a ball "*1000, "is none")):
        given = list(wrong) if hasattr(wrong, "__next__") else wrong
        def again(): return iter(given) if given is not wrong else wrong
        for ask in (partial(fit_topics, TopicTree(3)), text_sources, partial(predict_over, model)):
            with pytest.raises(ValueError, match=words): ask(again())
    nowhere = tmp_path/"nowhere"
    for ask in (TopicTree(3).fit, model.predict, model.transform, model.drift, lambda documents: list(model.answers(documents)), text_sources):
        for path in (nowhere, [nowhere/"a.csv"]):
            with pytest.raises(FileNotFoundError, match="nowhere.*: there is no such file or folder$"): ask(path)
    with pytest.raises(FileNotFoundError, match="a.jsonl: there is no such file or folder"): fit_topics(TopicTree(3), ["a.jsonl", "b.jsonl"])
    with pytest.raises(FileNotFoundError, match="a word: there is no such file or folder"): fit_topics(TopicTree(3), "a word")


def test_a_page_leaves_the_documents_in_their_partitions(folder):
    model = fit_topics(TopicTree(3), folder, whole=0)
    with pytest.raises(ValueError, match="texts"): model.to_html(["too", "few"])
    page = model.to_html()
    assert isinstance(model.tree_, SpreadTree) and "_labels_there" in vars(model) and len(model.support(n_fits=2).docs) == len(texts())
    labels = model.tree_.labels()
    assert_array_equal(model.labels_, labels)
    for n in (2, 3): assert_array_equal(model.tree_.labels(n), model.tree_.gathered().labels(n))
    model.tree_.support = None
    assert gather_model(model).to_html() == page
    assert_array_equal(model.tree_.labels(), labels)


def test_it_says_how_far_it_has_come(folder, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentsWarning)
        for verbose in (False, True):
            engine = Local()
            fit_topics(TopicTree(4, verbose=verbose), folder, engine=engine, whole=0, piece=100_000)
            last = [line.split("\r")[-1] for line in capsys.readouterr().err.split("\n") if line]
            assert [line.split(":")[0] for line in last] == ["Counting words", "Weighing words", "Moving documents", "Mixing topics"]*verbose
            assert all(": 100%" in line for line in last) and engine.bar is None
    n = int(last[0].split("/")[-1].split()[0])                               # partitions
    assert n > 1 and f"| {5*n}/{5*n} partitions" in last[1]


def test_nobody_watches_after_an_error(capsys):
    engine = Local()
    with pytest.raises(ZeroDivisionError), watched(engine, 3, "Dividing"): engine.hold(lambda x: 1/x, [1, 2, 0])
    assert engine.bar is None and ": 67%" in capsys.readouterr().err.replace(":  ", ": ").replace(":  ", ": ")


def test_a_model_is_saved_without_gathering_it(tmp_path, monkeypatch):
    "The weights of all nodes in one pass over the partitions, arrays node by node; the file is that of a gathered tree"
    X, scratch = collection(), tmp_path/"scratch"
    scratch.mkdir()
    save_shards(X.astype(bool).astype(np.float32), tmp_path/"corpus", 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentsWarning)
        model = fit_topics(TopicTree(6), tmp_path/"corpus", engine=Local(scratch), whole=0)
    before, reads = sorted(scratch.iterdir()), []
    read = Part.X.fget
    monkeypatch.setattr(Part, "X", property(lambda part: (reads.append(part), read(part))[1]))
    monkeypatch.setattr(SpreadTree, "gathered", None)
    model.save(tmp_path/"apart.nmf2")
    for _ in range(100):                                         # a thread lets go of its last result a moment later
        if sorted(scratch.iterdir()) == before: break
        time.sleep(.1)
    assert len(reads) == 3 and sorted(scratch.iterdir()) == before
    monkeypatch.undo()
    spread, found = model.tree_, TopicTree.load(tmp_path/"apart.nmf2")
    assert_same_tree(spread, found.tree_, 1e-7)
    model.tree_ = spread.gathered()
    model.save(tmp_path/"here.nmf2")
    with zipfile.ZipFile(tmp_path/"apart.nmf2") as apart, zipfile.ZipFile(tmp_path/"here.nmf2") as here:
        assert sorted(apart.namelist()) == sorted(here.namelist())
        for name in apart.namelist(): assert apart.read(name) == here.read(name), name


@pytest.fixture
def spread(folder):
    "A model whose tree and labels are in partitions"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentsWarning)
        return fit_topics(TopicTree(6), folder, whole=40_000, piece=100_000)


def test_a_gathered_model_is_the_one_that_was_saved_and_loaded(spread, tmp_path):
    spread.save(tmp_path/"model.nmf2")
    loaded, saved = TopicTree.load(tmp_path/"model.nmf2"), spread.saved_
    tree = spread.tree_
    assert gather_model(spread) is spread and type(spread.tree_) is Tree and isinstance(tree, SpreadTree)
    assert "_labels_there" not in vars(spread) and spread.saved_ is saved
    check_tree(spread.tree_)
    here, there = packed(spread.tree_), packed(loaded.tree_)
    assert list(here) == list(there)
    for name in here:
        one, other = np.asarray(here[name]), np.asarray(there[name])
        assert one.dtype == other.dtype
        assert_array_equal(one, other)
    assert_array_equal(spread.labels_, loaded.labels_)
    assert spread.labels_.dtype == loaded.labels_.dtype
    assert_array_equal(pickle.loads(pickle.dumps(spread)).labels_, loaded.labels_)
    spread.save(tmp_path/"again.nmf2")
    assert TopicTree.load(tmp_path/"again.nmf2").to_html(texts()) == loaded.to_html(texts())


EDITS = dict(rename=lambda model: model.rename("0", "a name"), join=lambda model: model.join("0"),
             merge=lambda model: model.merge(*[leaf.id for leaf in model.tree_.leaves()[-2:]], texts()),
             split=lambda model: model.split(model.tree_.leaves()[0], texts()),
             move=lambda model: model.move([0, 1, 2], model.tree_.leaves()[-1], texts()),
             drop_words=lambda model: model.drop_words(model.vocab_[7], texts()), keep=lambda model: model.keep("1"),
             update=lambda model: model.update(texts()[:99], texts()), support=lambda model: model.support(texts(), n_fits=2))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::nmf2.weighting.EmptyDocumentsWarning")
def test_a_gathered_model_is_edited_as_a_loaded_one(spread, tmp_path):
    spread.save(tmp_path/"model.nmf2")
    gather_model(spread)
    assert spread.to_html(texts()) == TopicTree.load(tmp_path/"model.nmf2").to_html(texts())
    for name, edit in EDITS.items():
        model, loaded = copy(spread), TopicTree.load(tmp_path/"model.nmf2")
        assert str(edit(model)) == str(edit(loaded)), name
        assert model.outline() == loaded.outline() and model.history == loaded.history, name
        assert_array_equal(model.labels_, loaded.labels_)
        if name == "support": continue
        assert model.undo() == loaded.undo()
        assert_array_equal(model.labels_, spread.labels_)


def test_a_model_in_memory_is_gathered_already():
    model = TopicTree(3).fit(texts()[:100])
    tree, labels = model.tree_, model.labels_
    gather_model(model)
    assert model.tree_ is tree and model.labels_ is labels


def test_a_model_of_counts_in_partitions_is_gathered():
    counts = planted_tree((2, 3), n_docs=900, n_terms=400, random_state=0, shuffle=True).X
    model = gather_model(fit_topics(TopicTree(6), cut(sp.csr_array(counts), 3), whole=1000))
    check_tree(model.tree_)
    assert_array_equal(model.labels_, model.tree_.labels())


def test_a_step_that_fails_leaves_the_tree_in_partitions():
    corpus = planted_tree((3, 2), n_docs=240, overlap=.3, noise=.2, random_state=0)
    parts = cut(sp.csr_array(corpus.X), 4)
    model = fit_topics(TopicTree(5), parts, vocab=corpus.vocab, whole=0)
    tree = model.tree_
    for step in (lambda: model.split("nope"), lambda: model.keep("0", "no"), lambda: model.update(corpus.X[:9]), lambda: model.grow(0),
                 lambda: model.replay([dict(step="keep", node="0"), dict(step="join", node="000")])):
        with pytest.raises((KeyError, ValueError)): step()
        assert model.tree_ is tree and model.history == []
    assert model.support(n_fits=2) is model.support_
    model.keep("0")
    assert not hasattr(model.tree_, "weighed") and model.history == [dict(step="keep", node="0")]
    model.undo()


def test_a_fit_in_partitions_that_fails_leaves_the_model(monkeypatch):
    corpus = planted_tree((3, 2), n_docs=240, overlap=.3, noise=.2, random_state=0)
    model = TopicTree(5).fit(corpus)
    before = dict(vars(model))
    def failing(*args, **options): raise KeyboardInterrupt
    monkeypatch.setattr("nmf2.scale_texts.topic_tree_over", failing)
    with pytest.raises(KeyboardInterrupt): fit_topics(model, cut(sp.csr_array(corpus.X), 4), vocab=corpus.vocab, whole=0)
    assert vars(model).keys() == before.keys() and all(vars(model)[name] is value for name, value in before.items())


def test_sums_without_rounding():
    rng = np.random.default_rng(0)
    for values in (rng.random(1000), 10.**rng.uniform(-200, 200, 500), np.array([1e300, 1., -1e300, 5e-324]), np.zeros(0)):
        assert exact_sum(values)/2**1200 == math.fsum(values)
        halves = exact_sum(values[:len(values)//2]) + exact_sum(values[len(values)//2:])
        assert halves == exact_sum(values)


@pytest.mark.slow
def test_command_in_partitions(folder, tmp_path, capsys, monkeypatch):
    from nmf2 import cli, scale
    monkeypatch.setattr(scale, "WHOLE", 40_000)
    out = tmp_path/"out"
    data = folder/"data"
    data.mkdir()
    for path in folder.glob("*.jsonl"): path.rename(data/path.name)
    (data/".hidden.jsonl").unlink(missing_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentsWarning)
        assert cli.main(["cluster", str(data), "--memory", "1GB", "--leaves", "5", "--out", str(out), "--quiet"]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["assignments.csv", "report.txt", "topics.csv", "topics.nmf2"]
    rows = (out/"assignments.csv").read_text().splitlines()
    assert len(rows) == 904 and rows[-1] == "902,302,,-1,"
    labels = [int(row.split(",")[3]) for row in rows[1:]]
    assert_array_equal(TopicTree.load(out/"topics.nmf2").labels_, labels)
    assert "903 documents" in (out/"report.txt").read_text() or "900 of 903" in (out/"report.txt").read_text()
    assert "900 of 903 documents have a topic" in capsys.readouterr().out
    for option, words in ((["--memory", "1MB"], "at least 1GB"), (["--memory", "much"], "size such as 4GB"),
                          (["--memory", "1GB", "--method", "hiernmf2"], "--method hiernmf2 can't be had with --memory"),
                          (["--memory", "1GB", "--format", "jsonl"], "read by their endings"),
                          (["--memory", "1GB", "--jobs", "2"], "--jobs can't be had with --memory or --scheduler, but for --support"),
                          (["--memory", "1GB", "--keep-texts"], "--keep-texts can't be had")):
        assert cli.main(["cluster", str(data), *option, "--out", str(tmp_path/"other"), "--quiet"]) == 2
        assert words in capsys.readouterr().err
    assert not (tmp_path/"other").exists()


class Lost(Local):
    "An engine that is lost after some calls of a function"
    def __init__(self, name, after):
        super().__init__()
        self.name, self.left = name, after

    def ask(self, f):
        self.left -= getattr(f, "__name__", "") == self.name
        if self.left < 0: raise ConnectionError("the scheduler is gone")

    def hold(self, f, *columns, shared=()):
        self.ask(f)
        return super().hold(f, *columns, shared=shared)

    def keep_and_total(self, f, *columns, shared=(), add):
        self.ask(f)
        return super().keep_and_total(f, *columns, shared=shared, add=add)


class Pressed(Lost):
    "One that somebody stops there"
    def ask(self, f):
        try: super().ask(f)
        except ConnectionError: raise KeyboardInterrupt from None


@cache
def uninterrupted():
    "A tree over three partitions, and how often documents were asked"
    engine = Lost("_asked", 10**9)
    grown = topic_tree_over(as_blocks(cut(collection(), 3), engine), 8, n_init=2, whole=20_000)
    return grown, grown.tree.labels(), 10**9 - engine.left


@pytest.mark.slow
@pytest.mark.parametrize("name, after", [("_asked", 0), ("_asked", 20), ("_asked", 30), ("_mixed_in", 0), ("_mixed_in", 1)])
def test_an_interrupted_fit_of_topics_goes_on_from_its_checkpoint(tmp_path, name, after):
    (here, criteria), labels, asked = uninterrupted()
    def fitted(engine):
        return topic_tree_over(as_blocks(cut(collection(), 3), engine), 8, n_init=2, whole=20_000, checkpoint=tmp_path/"check")
    with pytest.raises(ConnectionError): fitted(Lost(name, after))
    second = Lost("_asked", 10**9)
    for engine in (second, Lost("_asked", 0)):                                  # goes on; has no more moves to make
        tree, again = fitted(engine)
        assert again == criteria
        assert_array_equal(tree.leaf_topics, here.leaf_topics)
        assert_array_equal(tree.labels(), labels)
    assert 10**9 - second.left == (0 if name == "_mixed_in" else asked - after//9*9)          # nine groups in each pass


@pytest.mark.parametrize("what, odd", [("n_topics", dict(n_topics=7)), ("seed", dict(seed=1)), ("partitions", {})])
def test_a_checkpoint_of_something_else_is_refused(tmp_path, what, odd):
    X = collection()
    with pytest.raises(ConnectionError):
        topic_tree_over(as_blocks(cut(X, 3), Lost("_asked", 0)), **dict(n_topics=8), checkpoint=tmp_path)
    other = X if odd else X*np.float32(2)
    with pytest.raises(ValueError, match=rf"documents or parameters \(another {what}\): give another folder"):
        topic_tree_over(as_blocks(cut(other, 3)), **dict(n_topics=8) | odd, checkpoint=tmp_path)


def test_an_interrupted_flat_fit_goes_on_from_its_checkpoint(tmp_path):
    X = collection()
    model = FlatNMF2(6, refine=1)
    fit_flat(model, as_blocks(cut(X, 3)), whole=0)
    again = FlatNMF2(6, refine=1)
    with pytest.raises(ConnectionError):
        fit_flat(again, as_blocks(cut(X, 3), Lost("_asked", 12)), whole=0, checkpoint=tmp_path)
    fit_flat(again, as_blocks(cut(X, 3)), whole=0, checkpoint=tmp_path)
    assert_array_equal(again.components_, model.components_)
    fewer = FlatNMF2(6, moves_max_iter=1)
    assert_array_equal(fit_flat(fewer, as_blocks(cut(X, 3)), whole=0, checkpoint=tmp_path),
                       fit_flat(FlatNMF2(6, moves_max_iter=1), as_blocks(cut(X, 3)), whole=0))


def test_texts_go_on_from_a_checkpoint(tmp_path):
    texts = [f"{'abc'[i % 3]*3} {'def'[i % 3]*3} w{i % 7}w w{i % 11}w" for i in range(300)]
    parts = [texts[:100], texts[100:250], texts[250:]]
    delayed = pytest.importorskip("dask").delayed
    def fitted(engine, **options):
        sources = [delayed(part) for part in parts]
        return fit_topics(TopicTree(3), sources, engine=engine, whole=500, **options)
    here = fitted(Local())
    with pytest.raises(ValueError, match="checkpoint must be a folder, got ''"): fitted(None, checkpoint="")
    with pytest.raises(ConnectionError): fitted(Lost("_mixed_in", 1), checkpoint=tmp_path)
    there = fitted(Lost("_asked", 0), checkpoint=tmp_path)                       # no more moves to make
    assert_array_equal(there.labels_, here.labels_)
    assert_array_equal(there.components_, here.components_)


def test_support_of_all_documents_is_that_of_one_piece():
    X, how = collection(), dict(n_fits=3, random_state=1)
    grown = topic_tree_over(as_blocks(cut(X, 3)), 5)
    found, here = support_over(grown.tree, **how), support(X, grown.tree.gathered(), **how)
    assert grown.tree.support is found and found.ids == here.ids == tuple(grown.tree.nodes)
    for name in ("nodes", "docs", "runs"): assert_array_equal(getattr(found, name), getattr(here, name))
    assert grown.tree.gathered().support is found


def test_support_by_a_sample():
    X = collection()
    grown = topic_tree_over(as_blocks(cut(X, 3)), 5)
    found = support_over(grown.tree, whole=20_000, n_fits=3, least=500)
    drawn_docs = np.isfinite(found.docs)
    assert 500 <= drawn_docs.sum() < 1000 and len(found.docs) == X.shape[0]
    assert not drawn_docs[::500].any()                                           # they have no terms
    assert found.nodes.min() >= 0 and np.nanmean(found.docs) > .5
    again = support_over(topic_tree_over(as_blocks(cut(X, 7, 1)), 5).tree, whole=20_000, n_fits=3, least=500)
    assert_array_equal(np.isfinite(again.docs), drawn_docs)                      # whatever the partitions are
    assert_allclose(again.nodes, found.nodes)


def test_models_over_partitions_know_their_support(folder, tmp_path, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentsWarning)
        model = fit_topics(TopicTree(4), folder, whole=40_000, piece=100_000)
        assert model.support_ is None
        found = model.support(n_fits=2)
    assert model.support_ is found and "%" in str(model)
    model.save(tmp_path/"m.nmf2")
    assert_array_equal(TopicTree.load(tmp_path/"m.nmf2").support_.nodes, found.nodes)
    with pytest.raises(ValueError, match="n_fits must be"): model.support(n_fits=0)


@pytest.mark.parametrize("whole", [1000, 2_000_000])
def test_the_command_finds_support_in_partitions(folder, tmp_path_factory, monkeypatch, capsys, whole):
    from nmf2 import cli
    monkeypatch.setattr("nmf2.scale.WHOLE", whole)
    how = ["--memory", "1GB", "--support", "--leaves", "3", "--quiet", "--out", str(tmp_path_factory.mktemp("results")/"out")]
    assert cli.main(["cluster", str(folder), *how]) == 0
    lines = (Path(how[-1])/"topics.csv").read_text().splitlines()
    shares = [float(row["support"]) for row in csv.DictReader(lines)]
    assert len(shares) == 5 and 0 < min(shares) and max(shares) <= 1
    assert "%" in capsys.readouterr().out


@pytest.mark.slow
def test_the_command_goes_on_from_a_checkpoint(tmp_path, monkeypatch, capsys):
    from nmf2 import cli
    texts = [f"{'abc'[i % 3]*3} {'def'[i % 3]*3} w{i % 7}w w{i % 11}w" for i in range(300)]
    data = tmp_path/"posts"
    data.mkdir()
    (data/"all.jsonl").write_text("\n".join(json.dumps(dict(text=text)) for text in texts))
    monkeypatch.setattr("nmf2.scale.WHOLE", 500)
    def run(out, engine, *options):
        monkeypatch.setattr("nmf2.engines.Local", lambda room: engine)
        code = cli.main(["cluster", str(data), "--memory", "1GB", "--leaves", "3", "--out", str(tmp_path/out), "--quiet", *options])
        return code, capsys.readouterr().err
    keeping = "--checkpoint", str(tmp_path/"kept")
    assert run("whole", Local())[0] == 0
    (tmp_path/"kept").mkdir()
    (tmp_path/"kept"/f".about.json-{'0'*16}.part").write_text("{")               # of a process that was killed
    assert run("part", Lost("_mixed_in", 1), *keeping) == (2, "nmf2: error: the scheduler is gone\n")
    stopped = f"\nnmf2: stopped; nothing was written but {tmp_path/'kept'}, from which the same command goes on\n"
    assert run("part", Pressed("_mixed_in", 0), *keeping) == (130, stopped)
    assert not (tmp_path/"part").exists()
    assert run("part", Pressed("_mixed_in", 0)) == (130, "\nnmf2: stopped; nothing was written\n")
    assert run("part", Lost("_asked", 0), *keeping)[0] == 0                      # no more moves to make
    for name in ("assignments.csv", "topics.csv"): assert (tmp_path/"part"/name).read_text() == (tmp_path/"whole"/name).read_text()
    (tmp_path/"mine").mkdir()
    (tmp_path/"mine"/"letter.txt").write_text("mine")
    for folder, words in ((data/"kept", "among the documents"), (tmp_path/"mine", "has other files in it"),
                          (tmp_path/"mine"/"letter.txt", "is a file; give a folder")):
        code, said = run("other", Local(), "--checkpoint", str(folder))
        assert code == 2 and words in said, said
    assert not (tmp_path/"other").exists() and not (data/"kept").exists()
    assert cli.main(["cluster", str(data), *keeping, "--quiet"]) == 2
    assert "--checkpoint goes with --memory or --scheduler" in capsys.readouterr().err


def test_too_little_memory_is_said_in_time(folder, monkeypatch):
    from nmf2 import scale_texts
    monkeypatch.setattr(scale_texts, "PYTHON", 0)
    few = dict(whole=40_000, piece=100_000)
    def fit(memory): return fit_topics(TopicTree(5, min_df=2), folder, engine=Local(), memory=memory, **few)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentsWarning)
        with pytest.warns(UserWarning, match="5 topics and .* words take about .* GB of memory, more than"): model = fit(1000)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            warnings.simplefilter("ignore", EmptyDocumentsWarning)
            assert_array_equal(fit(10**9).labels_, model.labels_)


def test_words_are_there_once_however_many_partitions_have_them(folder):
    sources = text_sources(folder, piece=20_000)
    counts = counted_over(sources, Local())
    held = [word for counted in counts.parts for word in counted.words]
    assert len(counts.parts) > 3 and len({id(word) for word in held}) == len(set(held)) < len(held)


def test_what_is_used_up_leaves_the_disk_at_once(folder, monkeypatch):
    sources, found = text_sources(folder, piece=5_000), []
    for own in (True, False):
        engine, seen = Local(), []
        def watching(*args):
            made = put_away(*args)
            seen.append(len(list(Path(engine.scratch).iterdir())))
            return made
        counts = counted_over(sources, engine)
        monkeypatch.setattr("nmf2.scale_texts.put_away", watching)
        blocks = weighted_over(counts, text_pipeline(), own=own)
        assert len(counts.parts) == (0 if own else len(sources))
        found.append((max(seen), stacked(engine.fetch(engine.hold(part_matrix, blocks.parts)))))
    (few, X), (many, Y) = found
    n, under_way = len(sources), engine.threads + 3
    assert n > 3*under_way and n < few <= n + under_way and many >= 2*n
    assert_array_equal(X.data, Y.data)
    assert_array_equal(X.indices, Y.indices)


@pytest.mark.parametrize("step", ["page", "explore", "support", "rename", "join", "merge", "split", "move", "keep", "drop_words", "refit", "grow", "update", "replay"])
def test_a_model_over_partitions_can_be_shown_and_changed(step):
    """Without being saved and loaded: its tree is brought into memory by the first step that needs it there (a page takes a copy), and what comes out is the same."""
    corpus = planted_tree((2, 2), n_docs=240, random_state=0)
    counts = sp.csr_array(corpus.X)
    def model(): return fit_topics(TopicTree(4), cut(counts, 3), vocab=corpus.vocab, whole=0)
    spread, here = model(), gather_model(model())
    assert hasattr(spread.tree_, "weighed") and not hasattr(here.tree_, "weighed")
    leaf, own, named = here.tree_.leaves()[0].id, dict(documents=counts), Corpus(X=counts, vocab=corpus.vocab)
    steps = {"page": lambda m: m.to_html(named), "explore": lambda m: m.explore(named).about, "support": lambda m: m.support(counts, n_fits=4), "rename": lambda m: m.rename(leaf, "a name"),
             "join": lambda m: m.join("0"), "merge": lambda m: m.merge(leaf, here.tree_.leaves()[2].id, **own), "split": lambda m: m.split(leaf, **own),
             "move": lambda m: m.move([0, 1], leaf, **own), "keep": lambda m: m.keep(leaf), "drop_words": lambda m: m.drop_words(m.vocab_[3], **own), "refit": lambda m: m.refit(**own),
             "grow": lambda m: m.grow(6, **own), "update": lambda m: m.update(counts[:20], **own), "replay": lambda m: m.replay([dict(step="rename", node=leaf, name="a name")])}
    for one in (spread, here): steps[step](one)
    assert_array_equal(spread.labels_, here.labels_)
    assert spread.history == here.history and spread.tree_.names == here.tree_.names and hasattr(spread.tree_, "weighed") == (step == "page")
    assert (spread.tree_.leaf_topics == here.tree_.leaf_topics).all() and spread.tree_.headings == here.tree_.headings


def some_json(rng, depth=0):
    "A value that JSON can hold"
    kind = rng.integers(8 if depth < 4 else 5)
    if kind == 0: return float(rng.random()*10.**rng.integers(20))
    if kind == 1: return int(rng.integers(10**12))*10**int(rng.integers(20))
    if kind == 2: return [True, False, None][rng.integers(3)]
    if kind < 5: return "".join(rng.choice([*'ab"\\\u00e9\n\u2028[]{},:', "\U0001f600"], rng.integers(40)))
    if kind == 5: return [some_json(rng, depth + 1) for _ in range(rng.integers(4))]
    return {str(rng.random()): some_json(rng, depth + 1) for _ in range(rng.integers(4))}


def test_values_of_a_list_however_it_comes_in(tmp_path):
    rng, path = np.random.default_rng(0), tmp_path/"a.json"
    for _ in range(100):
        values = [some_json(rng) for _ in range(rng.integers(6))]
        text = json.dumps(values, indent=[None, 1][rng.integers(2)], ensure_ascii=bool(rng.integers(2)))
        path.write_text(text, encoding=rng.choice(["utf-8", "utf-16", "utf-8-sig"]))
        assert list(list_values(path, chunk=int(rng.choice([1, 2, 3, 7, 50])))) == values
        path.write_text(text[:rng.integers(len(text))], encoding="utf-8")
        with pytest.raises(ValueError, match=r"a.json, line \d+: not JSON"): list(list_values(path, chunk=3))
    for text in ("[1 2]", "[1,]", "[,1]", "[1] 2", "[}", "[tru]", "{}", '["a]', "[1, 2", '["\\x"]', "[" + "["*100_000):
        path.write_text(text)
        with pytest.raises(ValueError, match="a.json, line 1: not JSON"): list(list_values(path))


@pytest.mark.parametrize("end", ["\n]", "\n", ",\n", ",\n{\"text\": \"cut", "]\n\nmore", ",\n{\"text\": 1 2}]", ",\n\n {\"text\": word}]"])
def test_what_is_wrong_in_a_list_is_in_the_same_line_however_it_is_read(tmp_path, end):
    path = tmp_path/"a.json"
    rows = [json.dumps(dict(text=f"word{k} x"), indent=[None, 1][k % 2]) for k in range(12)]
    path.write_text("\n[" + ",\n".join(rows[:9]) + "\n"*(end == "\n]") + ",\n"*(end != "\n]") + ",\n".join(rows[9:]) + end)
    with pytest.raises(ValueError, match="a.json, line") as whole: read(path)
    place = re.compile(r"a\.json, line (\d+): not JSON, .* at column (\d+)$")
    for chunk in (1, 7, 40, 10**6):
        with pytest.raises(ValueError, match="a.json, line") as apart: list(list_values(path, chunk=chunk))
        assert place.search(str(apart.value)).groups() == place.search(str(whole.value)).groups()
    path.write_text("[\n1,\n" + "["*100_000)
    with pytest.raises(ValueError, match="a.json, line 3: not JSON that can be read"): list(list_values(path))


def test_what_a_file_of_json_has(tmp_path):
    line, path = json.dumps(dict(text="words")), tmp_path/"a.json"
    for text, form in ((f"{line}\n{line}\n", "lines"), (f"\n\n {line}\n\n{line}", "lines"), (f"\ufeff{line}\n{line}", "lines"), (line, "object"),
                       (f"{line}\n\n", "object"), (json.dumps(dict(text="words"), indent=1), "object"), (f" \n[{line},\n{line}]", "list"), ("[", "list"),
                       ("", "object"), ("words\nwords", "object"), ("1\n2\n", "object")):
        path.write_text(text, encoding="utf-8")
        assert json_form(path) == form, text
        with gzip.open(f"{path}.gz", "wt", encoding="utf-8") as file: file.write(text)
        assert json_form(Path(f"{path}.gz")) == form
    path.write_text("\n".join([json.dumps(dict(text="a"*300_000))]*2))
    assert json_form(path) == "lines"


@pytest.mark.parametrize("name", ["a.json", "a.json.gz", "b.json", "b.json.gz"])
def test_large_json_is_cut_whatever_it_is_called(tmp_path, name):
    "Lines in a file that ends in .json, and lists"
    texts = [f"caf\u00e9 {k} " + "x"*(k % 97) for k in range(3000)]
    records = [json.dumps(dict(id=f"d{k}", text=text), ensure_ascii=False) for k, text in enumerate(texts)]
    content = "\n".join(records) if name[0] == "a" else "[" + ",\n".join(records) + "]"
    with (gzip.open if name.endswith("gz") else open)(tmp_path/name, "wt", encoding="utf-8") as file: file.write(content)
    engine = Local()                                         # what is written anew goes with it
    sources = text_sources(tmp_path, 20_000, engine=engine)
    assert len(sources) > 8 and sum(map(read_texts, sources), []) == texts and has_names(sources)
    assert list(names_over(sources, engine)) == [f"d{k}" for k in range(3000)]
    if name != "a.json":
        with pytest.warns(UserWarning, match="can't be read in part"): one = text_sources(tmp_path, 2_000)
        assert len(one) == 1 and read_texts(one[0]) == texts
    assert len(text_sources(tmp_path, 10**6, engine=Local())) == 1


def test_a_large_list_of_another_encoding_and_a_broken_one(tmp_path):
    path = tmp_path/"a.json"
    path.write_text(json.dumps([dict(text=f"caf\u00e9 {k}") for k in range(900)], ensure_ascii=False), encoding="latin-1")
    engine = Local()
    with pytest.warns(UserWarning, match="a.json is not UTF-8 and was read as Windows-1252"): sources = text_sources(tmp_path, 2_000, engine=engine)
    assert sum(map(read_texts, sources), [])[899] == "caf\u00e9 899" and len(sources) > 5
    path.write_text(json.dumps([dict(text="a"*70), dict(text="caf\u00e9")], ensure_ascii=False), encoding="latin-1")
    with pytest.raises(UnicodeDecodeError): list(list_values(path, chunk=8))             # in the middle of a value, too
    path.write_text("[" + ", ".join(json.dumps(dict(text=f"words {k}")) for k in range(900)))
    with pytest.raises(ValueError, match="a.json, line 1: not JSON, the end where ',' should be"): text_sources(tmp_path, 2_000, engine=engine)


@pytest.mark.parametrize("share", [.5, .9, math.inf])
def test_a_sample_has_a_whole_number_of_documents(share):
    X = sp.csr_array(planted_tree((3, 2), n_docs=300, random_state=0).X)
    chosen, places = drawn(as_blocks([X[:200], X[200:]]), 0, share*X.nnz, 10)
    assert len(chosen) == sum(map(len, places)) == min(300, share*300)


def test_what_is_said_of_a_file_is_said_once(tmp_path):
    """Its names are looked at, its words are counted, and its texts are fetched; and no folder is left for Python to clean up."""
    words = [re.sub(r"\W+", " ", text) for text in texts()[:60]]
    lines = "".join(f"{k},café {text}\n" for k, text in enumerate(words))
    (tmp_path/"a.csv").write_bytes(f"id,text\n{lines}".encode("latin-1", "ignore"))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = TopicTree(2, min_df=1, max_df=1.).fit(tmp_path)
        engine = Local()
        folder = Path(scratch_folder(engine))
        del engine
        gc.collect()
    assert [str(one.message).partition("; ")[0] for one in told] == [f"{tmp_path/'a.csv'} is not UTF-8 and was read as Windows-1252"]
    assert len(model.labels_) == 60 and not folder.exists()
