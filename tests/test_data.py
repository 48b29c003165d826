"""Corpora: nothing gets out of step, the built-in ones are what they say, and collections are found."""
import json
import os
import pickle
import warnings
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from nmf2 import data
from nmf2.data import WORDS, Corpus, count_terms, drop_heads, heads_a_table, library_docs, load, planted_tree, read
from nmf2.languages import NO_DIGITS

TEXTS = ["ball and goal", "the vote", "goal!", "vote on a goal, <b>goal</b>"]
LABELS = [["sport", "football"], ["politics"], ["sport", "hockey"], []]


# counting

def test_words():
    import re
    line = "x_1 naïve 東京 a bb 12cc dd3 it's e-mail _ff_ e3"
    assert re.findall(WORDS, line) == ["naïve", "東京", "bb", "dd3", "it", "mail", "e3"]
    assert re.findall(NO_DIGITS, line) == ["naïve", "東京", "bb", "it", "mail"]


def test_count_terms_against_counting():
    texts = ["Ball, ball: BALL goal", "", "a vote for the goal", "vote\nvote\tvote"]
    X, vocab = count_terms(texts)
    assert sp.issparse(X) and X.dtype == np.float64 and list(vocab) == ["ball", "goal", "vote"]
    np.testing.assert_array_equal(X.toarray(), [[3, 1, 0], [0, 0, 0], [0, 1, 1], [0, 0, 3]])
    assert list(count_terms(texts, stop_words=None, min_df=2)[1]) == ["goal", "vote"]
    assert list(count_terms(texts, lowercase=False)[1]) == ["BALL", "Ball", "ball", "goal", "vote"]
    assert "ball goal" in count_terms(texts, ngram_range=(1, 2))[1]
    X, vocab = count_terms(iter(texts), vocabulary=["vote", "nothing"])
    assert list(vocab) == ["vote", "nothing"] and X.toarray().tolist() == [[0, 0], [0, 0], [1, 0], [3, 0]]


@pytest.mark.parametrize("texts, words", [("one text", "single string"), ([], "empty"), (["the", ""], "No terms"), (["1 2 3"], "token_pattern")])
def test_count_terms_refuses(texts, words):
    with pytest.raises(ValueError, match=words): count_terms(texts)


# Corpus

@pytest.fixture
def c(): return Corpus(TEXTS, labels=LABELS, ids=list("abcd"), name="four")


def test_corpus(c):
    assert len(c) == 4 and c.n_levels == 2 and c.texts == TEXTS and list(c.ids) == list("abcd")
    assert repr(c) == "Corpus(four: 4 documents, texts, labels 2 / 2)"
    assert c.X.shape == (4, 3) and list(c.vocab) == ["ball", "goal", "vote"]
    assert repr(c) == "Corpus(four: 4 documents, texts, 3 terms, labels 2 / 2)"
    assert c.labels.tolist() == [["sport", "football"], ["politics", ""], ["sport", "hockey"], ["", ""]]
    codes, names = c.classes(0)
    assert codes.tolist() == [1, 0, 1, -1] and list(names) == ["politics", "sport"]
    assert list(c.labelled().ids) == ["a", "c"] and list(c.labelled(0).ids) == ["a", "b", "c"]


@pytest.mark.parametrize("rows", [slice(1, 3), [3, 1], np.array([False, True, True, False]), slice(None, None, -1), 2, -1, [], np.array([0, 2])])
@pytest.mark.parametrize("counted", ["before", "after"])
def test_parts_stay_in_step(c, rows, counted):
    if counted == "before": c.X
    part, which = c[rows], np.atleast_1d(np.arange(4)[rows])
    assert part.texts == [TEXTS[i] for i in which] and list(part.ids) == ["abcd"[i] for i in which]
    assert part.labels.tolist() == c.labels[which].tolist()
    np.testing.assert_array_equal(part.X.toarray(), c.X.toarray()[which])
    assert part.vocab is c.vocab or list(part.vocab) == list(c.vocab)


def test_parts_of_parts_have_the_columns_of_the_whole(c):
    part = c[1:][[0]]
    assert part.X.shape == (1, 3) and part.X.toarray().tolist() == [[0, 0, 1]]


@pytest.mark.parametrize("labels, table", [
    (["a", "b", "", "a"], [["a"], ["b"], [""], ["a"]]), ([["a"], "b", None, np.nan], [["a"], ["b"], [""], [""]]), ([1, 2, 2, 1], [["1"], ["2"], ["2"], ["1"]]),
    (np.array([["a", "b"]]*4), [["a", "b"]]*4), ([[], [], [], []], None), (["", "", "", ""], None)])
def test_shapes_of_labels(labels, table):
    found = Corpus(TEXTS, labels=labels).labels
    assert found is None if table is None else found.tolist() == table


def test_counts_only():
    X = sp.coo_array(np.array([[1, 0], [0, 2], [3, 3]]))
    c = Corpus(X=X)
    assert c.texts is None and list(c.ids) == ["0", "1", "2"] and list(c.vocab) == ["term0", "term1"] and c.labels is None and c.n_levels == 0
    assert c.X.format == "csr" and c.X.dtype == np.float64 and c[1:].X.toarray().tolist() == [[0, 2], [3, 3]]
    assert repr(c) == "Corpus(unnamed: 3 documents, 2 terms, no labels)"
    assert Corpus(X=sp.csr_matrix(X, dtype=np.float32)).X.dtype == np.float32
    for ask in [c.classes, c.labelled]:
        with pytest.raises(ValueError, match="no labels"): ask()


def test_pickles(c):
    copy = pickle.loads(pickle.dumps(c[1:]))
    assert copy.texts == TEXTS[1:] and copy.X.shape == (3, 3)


@pytest.mark.parametrize("bad, words", [
    (dict(), "needs texts"), (dict(texts=[]), "at least one document"), (dict(texts="text"), "single string"), (dict(texts=["a", 1]), r"texts\[1\]"),
    (dict(texts=["a", "b"], ids=["x"]), r"ids must have an entry for each document .2., and has 1"), (dict(texts=["a", "b"], ids=["x", "x"]), "'x' occurs more than once"),
    (dict(texts=["a"], labels=["x", "y"]), "labels must have an entry for each document .1., and has 2"), (dict(texts=["a"], labels="x"), "single string"), (dict(texts=["a"], X=np.eye(2)), "texts must have"),
    (dict(X=np.eye(2), vocab=["a"]), "vocab must have"), (dict(texts=["a"], vocab=["a"]), "vocab names the columns"), (dict(X=[["a"]]), "X must be a matrix of numbers, and its type is <U1: texts are given as texts=...$"),
    (dict(X=[[1, 2], [3]]), "X must be a matrix of counts"), (dict(X=np.array([[1, "a"]], object)), "its type is object: X.astype.float. if all are numbers, else leave out what is none"),
    (dict(texts=["a", None]), r"texts\[1\] must be a string, got NoneType None. Replace missing texts by '' or leave them out"),
    (dict(texts=["a", "b"], ids=["x", None]), r"ids must have a name for each document, and ids\[1\] is None; without ids they are numbered"),
    (dict(texts=["a", "b"], ids=[float("nan"), "x"]), r"ids\[0\] is nan"), (dict(X=np.eye(2), vocab=["a", None]), r"vocab\[1\] is None"),
    (dict(X=np.zeros((0, 3))), "at least one document")])
def test_corpus_refuses(bad, words):
    with pytest.raises(ValueError, match=words): Corpus(**bad)


@pytest.mark.parametrize("level", [2, -3])
def test_level_out_of_range(c, level):
    with pytest.raises(ValueError, match=f"from 0 .coarsest. to 1 .finest.*got {level}"): c.classes(level)


# library-docs

@pytest.fixture(scope="module")
def docs(): return library_docs()


def test_library_docs(docs):
    assert len(docs) > 2000 and docs.n_levels == 2 and len(set(docs.texts)) == len(docs)
    assert set(docs.labels[:, 0]) == {"matplotlib", "numpy", "scipy", "sklearn"}
    for id_, (package, part) in zip(docs.ids, docs.labels):
        assert id_.startswith(part + ".") and (part == package or part.startswith(package + "."))
        assert not any(name in ("tests", "testing", "conftest") for name in id_.split("."))
    assert min(len(text.split()) for text in docs.texts) >= 30
    assert {"numpy.arctan2", "scipy.linalg.svd", "sklearn.cluster.KMeans", "matplotlib.pyplot.plot"} <= set(docs.ids)
    assert not any(">>>" in text for text in docs.texts)


@pytest.mark.slow
def test_library_docs_says_the_same_in_another_process(docs, tmp_path):
    code = ("import sys, hashlib, warnings; warnings.simplefilter('error')\n"
            "from nmf2.data import library_docs\n"
            "d = library_docs()\n"
            "out = hashlib.sha256('\\0'.join([*d.texts, *d.ids, *d.labels.ravel()]).encode()).hexdigest()\n"
            "loaded = {m.split('.')[0] for m in sys.modules} & {'IPython', 'tkinter', 'wx', 'PyQt5', 'gi', 'pytest', 'nbdev', 'fastcore'}\n"
            "print(out, sorted(loaded))")
    env = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(Path(data.__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=tmp_path)
    import hashlib
    expected = hashlib.sha256("\0".join([*docs.texts, *docs.ids, *docs.labels.ravel()]).encode()).hexdigest()
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{expected} []" and done.stderr == ""


def test_library_docs_of_what_is_not_installed():
    with pytest.raises(ValueError, match="libraries"): library_docs(("no_such_library",))
    with pytest.raises(ValueError, match="min_words"): library_docs(min_words=0)


# planted trees

def test_planted_tree_is_nested_and_repeatable():
    a, b = planted_tree((2, 3, 2), n_docs=100, texts=True), planted_tree((2, 3, 2), n_docs=100)
    assert (a.X != b.X).nnz == 0 and list(a.vocab) == list(b.vocab) and (a.labels == b.labels).all()
    assert (a.X != planted_tree((2, 3, 2), n_docs=100, random_state=1).X).nnz > 0
    assert [len(a.classes(level)[1]) for level in range(3)] == [2, 6, 12]
    for row in a.labels:
        assert all(fine.startswith(coarse + "/") for coarse, fine in zip(row, row[1:]))
    assert len(set(a.vocab)) == len(a.vocab) == (1 + 2 + 6 + 12)*40
    assert a.X.has_canonical_format and a.X.min() >= 0 and (a.X.data % 1 == 0).all() and a.X.sum(1).min() >= 1


def test_planted_texts_are_the_counts():
    c = planted_tree(n_docs=30, texts=True)
    X, vocab = count_terms(c.texts, vocabulary=list(c.vocab))
    assert (X != c.X).nnz == 0


def test_planted_words_come_from_where_they_should():
    c = planted_tree((2, 2), n_docs=400, noise=0, overlap=0.4, length=100)
    words = np.array([w[:4] for w in c.vocab])
    for row, (top, fine) in zip(c.X, c.labels):
        assert set(words[row.indices]) <= {words[0], top, fine.split("/")[1]}
    assert abs(c.X[:, :40].sum()/c.X.sum() - 0.4) < 0.01
    assert abs(c.X[:, 40:120].sum()/c.X.sum() - 0.3) < 0.01


def test_planted_sizes():
    for n_docs in [12, 13, 100]:
        codes, names = planted_tree(n_docs=n_docs).classes()
        assert len(names) == 12 and np.ptp(np.bincount(codes)) <= 1
    codes, _ = planted_tree((5,), n_docs=100, skew=2).classes()
    assert sorted(np.bincount(codes)) == sorted(np.bincount(codes)) and np.bincount(codes).max() > 50 and np.bincount(codes).min() >= 1
    assert planted_tree(7, n_docs=20).n_levels == 1
    assert planted_tree((2,), n_words=6000, n_docs=5).X.shape == (5, 18000)


def test_planted_large():
    c = planted_tree((10, 10), n_docs=20_000, n_words=100)
    assert c.X.shape == (20_000, 11_100) and c.X.nnz < 20_000*80


def test_planted_in_blocks_is_planted_all_the_same():
    from nmf2.data import _counts, _falling, _paths
    paths, leaves, lengths = _paths([2, 2]), np.arange(4).repeat(50), np.arange(1, 201)
    for block in (1, 1000, 10**6):
        X = _counts(paths, leaves, lengths, (_falling(30), _falling(10)), .4, .1, None, np.float32, np.random.default_rng(0), block)
        assert X.has_canonical_format and X.dtype == np.float32 and X.shape == (200, 30 + 6*10)
        assert (X.sum(axis=1).A1 == lengths).all()
        again = sp.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)
        again.check_format(full_check=True)
        assert again.has_canonical_format


def test_planted_common_vocabulary_falls_and_is_shared():
    c = planted_tree((2, 2), n_docs=400, n_terms=1000, n_words=20, noise=0, overlap=.5, length=100)
    assert c.X.shape == (400, 1000) and len(set(c.vocab)) == 1000
    common = np.asarray(c.X[:, :880].sum(axis=0)).ravel()
    assert abs(common.sum()/c.X.sum() - .5) < .01
    falling = 1/np.arange(1, 881)
    assert abs(common[:10].sum()/common.sum() - falling[:10].sum()/falling.sum()) < .02 and common[0] > 1.5*common[1]


def test_planted_lengths_scatter():
    even, wide = (planted_tree(n_docs=2000, length=100, spread=spread).X.sum(axis=1).A1 for spread in (0, .8))
    assert abs(wide.mean() - 100) < 5 and abs(np.log(wide).std() - .8) < .05 and np.log(even).std() < .15


def test_planted_in_any_order_is_the_same_kind_of_thing():
    plain, mixed = (planted_tree(n_docs=200, shuffle=shuffle, texts=True, dtype=np.float32) for shuffle in (False, True))
    assert mixed.X.dtype == np.float32 and mixed.X.has_sorted_indices
    assert sorted(plain.labels[:, 1]) == sorted(mixed.labels[:, 1]) != list(mixed.labels[:, 1])
    assert sorted(plain.vocab) == sorted(mixed.vocab) and list(plain.vocab) != list(mixed.vocab)
    own = [sum(word.startswith(label.split("/")[1]) for word in text.split()) for label, text in zip(mixed.labels[:, 1], mixed.texts)]
    assert min(own) > 5                                              # words went with their documents
    X, _ = count_terms(mixed.texts, vocabulary=list(mixed.vocab))
    assert (X != mixed.X).nnz == 0


@pytest.mark.parametrize("overlap, noise", [(.9, .1), (.8, .2), (1 - 1e-16, 1e-16), (0, 1), (1, 0)])
def test_shares_that_leave_nothing_by_rounding(overlap, noise):
    assert planted_tree((2, 2), 20, overlap=overlap, noise=noise).X.shape[0] == 20


@pytest.mark.parametrize("bad, words", [
    (dict(branching=()), "branching"), (dict(branching=(3, 0)), "branching"), (dict(n_docs=11), "n_docs"), (dict(n_words=0), "n_words"), (dict(length=0), "length"),
    (dict(overlap=0.8, noise=0.3), "overlap and noise"), (dict(noise=-0.1), "overlap and noise"), (dict(skew=-1), "skew"),
    (dict(n_terms=600), "n_terms"), (dict(spread=-1), "spread"), (dict(length=np.inf), "length must be"), (dict(spread=1e300), "spread must be"),
    (dict(skew=np.inf), "skew must be"), (dict(overlap=np.nan), "overlap and noise"), (dict(noise="a"), "overlap and noise"), (dict(dtype="zz"), "dtype must be"),
    (dict(branching=(10**5, 10**5)), "n_docs must be"), (dict(n_terms=10**10), "n_terms must be"), (dict(n_words=10**9), "n_words must be")])
def test_planted_refuses(bad, words):
    with pytest.raises(ValueError, match=words): planted_tree(**bad)


# read and load

@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path/"home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path/"home"))
    monkeypatch.delenv("NMF2_DATA", raising=False)
    return tmp_path

@pytest.mark.parametrize("name, start, why", [("a.docx", b"PK\3\4\0", "can't tell.*an office document, of which text files"), ("a.pdf", b"%PDF-1.7\0", "looks like a PDF"),
                                              ("topics.nmf2", b"PK\3\4\0", r"a saved model, no documents; TopicTree.load\('topics.nmf2'\) reads it"), ("a.bin", b"\1\2\0", "Say it with format="),
                                              ("mails.zip", b"PK\3\4\0", "an archive, not of one file alone that can be read: unpack it, and give the folder"), ("empty", b"", "the file is empty$"),
                                              ("blank.txt", b"\n \r\n\n", "nothing but space in this file$"), ("bom.txt", b"\xef\xbb\xbf\n", "nothing but space in this file$")])
def test_files_of_other_kinds_are_told_by_their_first_bytes(here, name, start, why):
    Path(name).write_bytes(start)
    with pytest.raises(ValueError, match=f"{name}: .*{why}"): read(name)

def test_an_address_on_the_net_is_no_path():
    with pytest.raises(FileNotFoundError, match="download it first"): read("https://example.org/docs.csv")
    with pytest.raises(FileNotFoundError, match="no such file or folder$"): read("docs.csv")



def put(path, *texts):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("\n".join(json.dumps({"text": t, "label": "x"}) for t in texts), encoding="utf-8")
    return Path(path)


def test_read(here):
    c = read(put("news.jsonl", *TEXTS))
    assert c.texts == TEXTS and c.name == "news" and c.labels.ravel().tolist() == ["x"]*4
    assert read("news.jsonl", label_field="").labels is None
    assert read(str(here/"news.jsonl"), format="lines").texts[0].startswith("{")
    np.savez("m.npz", X=np.eye(2), ids=["a", "a"])
    with pytest.raises(ValueError, match="m.npz: ids must be different"): read("m.npz")


@pytest.mark.parametrize("path, options, words", [
    ("gone.csv", {}, "gone.csv: there is no such file"), ("news.jsonl", dict(format="excel"), "one of 'folder', 'lines', 'jsonl'"),
    ("news.jsonl", dict(label="x"), "no option 'label', only text_field, label_field"), ("what.pdf", {}, "can't tell.*one of folder, lines")])
def test_read_refuses(here, path, options, words):
    put("news.jsonl", *TEXTS)
    Path("what.pdf").write_bytes(b"%PDF-1.4 \0")
    with pytest.raises((ValueError, FileNotFoundError), match=words): read(path, **options)


def test_load_looks_in_several_places(here, monkeypatch):
    put("home/.cache/nmf2/news.jsonl", "from the cache")
    assert load("news").texts == ["from the cache"]
    put("collections/sub/news.jsonl", "one folder down")
    put("collections/other.jsonl", "other")
    monkeypatch.setenv("NMF2_DATA", str(here/"collections"))
    assert load("news").texts == load("sub/news").texts == ["one folder down"]
    put("collections/news.jsonl", "at the top")
    assert load("news").texts == ["at the top"] and load("news").name == "news"
    assert load("news", folder=here/"home/.cache/nmf2").texts == ["from the cache"]
    with pytest.raises(FileNotFoundError, match="no collection 'nope'.*library-docs.*20newsgroups.*news, other, sub/news"): load("nope")


def test_load_skips_what_only_goes_with_a_matrix(here):
    put("c/a/m.npz")
    np.savez("c/a/m.npz", X=np.eye(2))
    Path("c/a/m.rclass").write_text("1\n2\n3\n4\n")
    assert load("m", folder="c").X.shape == (2, 2)
    Path("c/docs/x").mkdir(parents=True)
    Path("c/docs/x/1.txt").write_text("one")
    assert load("docs", folder="c").labels.tolist() == [["x"]]


def test_load_asks_which(here):
    put("c/a/news.jsonl", "a")
    put("c/b/news.jsonl", "b")
    with pytest.raises(ValueError, match="could be any of .*a/news"): load("news", folder="c")


def test_load_given_a_path(here):
    put("x/y/z/news.jsonl", "text")
    with pytest.raises(FileNotFoundError, match=r"use read\('x/y/z/news.jsonl'\)"): load("x/y/z/news.jsonl")


def test_several_paths_of_one_kind(here):
    from nmf2.formats import guess_format
    from nmf2.files import Several
    place("a.txt", "one\ntwo\n"), place("b.txt", "three\n"), place("t1.txt", "text,n\ngoal,1\n"), place("t2.txt", "text,n\nbeans,2\n")
    place("j1.txt", '{"text": "goal"}\n'), place("j2", '{"text": "beans"}\n{"text": "soil"}\n')
    assert read(["a.txt", "b.txt"]).texts == ["one\ntwo\n", "three\n"]
    lines = read("a.txt").reading
    for corpus in (read(["a.txt", "b.txt"], format="lines"), read(["a.txt", "b.txt"], like=lines)):
        assert corpus.texts == ["one", "two", "three"] and corpus.ids.tolist() == ["a.txt:1", "a.txt:2", "b.txt:1"]
    table = read("t1.txt", format="csv")
    for corpus in (read(["t1.txt", "t2.txt"], format="csv"), read(["t1.txt", "t2.txt"], like=table.reading)): assert corpus.texts == ["goal", "beans"]
    assert read(["j1.txt", "j2"]).texts == ["goal", "beans", "soil"]                     # by their first bytes
    place("x.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n"), place("y.mtx", "%%MatrixMarket")
    with pytest.raises(ValueError, match="x.mtx is matrix-market, of which one path alone can be read"): read(["x.mtx", "y.mtx"])
    with pytest.raises(ValueError, match="format='svmlight' is for one path alone; several can be folder, lines"): read(["a.txt", "b.txt"], format="svmlight")
    with pytest.raises(ValueError, match="only what is of one kind"): read(["t1.txt", "j1.txt"], like=table.reading)

def test_a_folder_has_its_whole_name(tmp_path):
    folder = tmp_path/"notes-2.1"/"first"
    folder.mkdir(parents=True)
    for k in range(3): (folder/f"{k}.txt").write_text(f"some words {k}")
    assert read(folder.parent).name == read(f"{folder.parent}/").name == "notes-2.1"


@pytest.mark.skipif(os.name == "nt", reason="needs links")
def test_links_among_several_paths(here):
    for name in ("deep/r/x.txt", "x.txt", "o/y.txt"): place(name, name)
    Path("deep/r/s").mkdir()
    Path("link").symlink_to("deep/r/s"), Path("again").symlink_to("o")
    assert read(["link/../x.txt", "o/y.txt"]).texts == ["deep/r/x.txt", "o/y.txt"]        # as the system sees it
    assert read(["o/y.txt", "again/y.txt", "./o/../o/y.txt"]).ids.tolist() == ["1"]       # one file by three names
    assert read(["again", "x.txt"]).ids.tolist() == ["again/y.txt", "x.txt"]

def place(name, text):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)

def test_several_paths_are_read_as_one_folder(here):
    for name in ["in/sport/b.txt", "in/sport/a.txt", "in/sport/.draft.txt", "in/garden/a.txt", "in/.hidden.txt"]: place(name, name)
    whole = read("in")
    for paths in (["in/garden/a.txt", "in/sport/a.txt", "in/sport/b.txt"], ["in/garden", "in/sport"], iter([Path("in/garden"), Path("in/sport").absolute()]),
                  ("in/garden", "in/../in/sport", "in/garden/a.txt")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")                     # what is hidden
            corpus = read(paths)
        assert corpus.texts == whole.texts and corpus.ids.tolist() == whole.ids.tolist() and corpus.labels.tolist() == whole.labels.tolist()
        assert corpus.name == "in" and corpus.reading["paths"] > 1
    assert read(["in/sport/b.txt", "in/.hidden.txt"]).ids.tolist() == ["sport/b.txt", ".hidden.txt"]        # as named, in that order
    with pytest.warns(UserWarning, match=r"in/sport, in/garden: 3 files read, left alone 1 hidden \(sport/.draft.txt\)"): read(["in/sport", "in/garden"])
    assert read(["in/sport/a.txt", "in/sport/a.txt"]).reading == read("in/sport/a.txt").reading

def test_several_tables_are_one(here, monkeypatch):
    place("t/b.csv", "text,id,topic\ngoal,1,sport\n")
    place("t/a.csv", "text,id,topic\nbeans,2,garden\n")
    place("t/other.csv", "no,table\n")
    corpus = read(["t/b.csv", "t/a.csv"], verbose=True)
    assert corpus.texts == ["goal", "beans"] and corpus.ids.tolist() == ["1", "2"] and corpus.labels.ravel().tolist() == ["sport", "garden"]
    place("t/c.csv", "text,id,topic\nroses,3,garden\n")
    monkeypatch.chdir("t")
    assert read(["../t/b.csv", "a.csv"]).texts == corpus.texts
    assert read(["c.csv"], like=corpus.reading).ids.tolist() == ["3"]

@pytest.mark.parametrize("paths, words", [([], "got none"), (["a.txt", 3], "several in a list; got a list of 2"), ([""], "several in a list; got a list of 1"),
                                          (["a.txt", os.devnull], "no file and no folder"), (["a.txt", "nowhere"], "nowhere: there is no such file"),
                                          (["a.txt", "*.csv"], "a pattern stands for files"), ({"a.txt"}, "several in a list; got"),
                                          (["a.txt", "b.csv"], "a.txt is text, b.csv is csv: only what is of one kind"), (["e.csv", "f.csv"], "no documents")])
def test_several_paths_that_cannot_be_read(here, paths, words):
    for name in ("a.txt", "b.csv", "e.csv", "f.csv"): place(name, "text\n")
    with pytest.raises((ValueError, FileNotFoundError), match=words): read(paths)

@pytest.mark.parametrize("name", [".", "..", "./.", "a/.", "/"])
def test_load_given_a_folder(here, name):
    with pytest.raises(FileNotFoundError): load(name)


def test_20newsgroups_through_scikit_learn(here, monkeypatch):
    import sklearn.datasets
    asked = []
    def fetch(subset, shuffle, download_if_missing):
        asked.append(download_if_missing)
        if not download_if_missing: raise OSError("20Newsgroups dataset not found")
        from types import SimpleNamespace
        return SimpleNamespace(data=["one", "two"], target=[0, 1], target_names=["alt.atheism", "comp.sys.mac.hardware"],
                               filenames=np.array([os.path.join("d", "alt.atheism", "49960"), os.path.join("d", "comp.sys.mac.hardware", "50000")]))
    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups", fetch)
    with pytest.raises(FileNotFoundError, match="download=True"): load("20newsgroups")
    c = load("20newsgroups", download=True)
    assert asked == [False, True] and c.name == "20newsgroups" and list(c.ids) == ["alt.atheism/49960", "comp.sys.mac.hardware/50000"]
    assert c.labels.tolist() == [["religion", "alt.atheism", "alt.atheism"], ["comp", "comp.sys", "comp.sys.mac.hardware"]]
    put("c/20newsgroups.jsonl", "from a file")
    assert load("20newsgroups", folder="c").texts == ["from a file"]


@pytest.mark.slow
def test_built_in(docs):
    assert load("library-docs").texts == docs.texts


# real collections

there = pytest.mark.skipif(not os.environ.get("NMF2_DATA"), reason="needs NMF2_DATA, a folder of collections")


@pytest.mark.slow
@there
@pytest.mark.parametrize("name, n_docs, classes", [("20newsgroups", 18846, [6, 18, 20]), ("reuters21578", 21578, [66]), ("cluto/tr41", 878, [10]), ("classic3", 3891, [3])])
def test_collections(name, n_docs, classes):
    try: c = load(name, folder=os.environ["NMF2_DATA"])
    except FileNotFoundError: pytest.skip(f"{name} is not in NMF2_DATA")
    assert len(c) == n_docs and [len(c.classes(level)[1]) for level in range(c.n_levels)] == classes


@pytest.mark.slow
@there
def test_newsgroup_levels_are_those_of_the_file():
    try: c = load("20newsgroups", folder=os.environ["NMF2_DATA"])
    except FileNotFoundError: pytest.skip("20newsgroups is not in NMF2_DATA")
    for row in set(map(tuple, c.labels)): assert data._newsgroup_levels(row[-1]) == list(row)


@pytest.mark.slow
@there
def test_reuters_single_topic_stories():
    try: c = load("reuters21578", folder=os.environ["NMF2_DATA"])
    except FileNotFoundError: pytest.skip("reuters21578 is not in NMF2_DATA")
    assert len(c.labelled()) == 9494


@pytest.mark.parametrize("what, why", [
    (dict(texts={"a": "ball"}), "texts must be a list, and this is of type dict"), (dict(texts=5), "texts must be a list"),
    (dict(texts=["ball"], labels=5), "labels must be a list"), (dict(texts=["ball"], ids=3), "ids must be a list"),
    (dict(X=np.eye(2), vocab=3), "vocab must be a list"), (dict(X=-np.eye(2)), "X must hold counts"),
    (dict(X=np.eye(2)*np.nan), "X has NaN"), (dict(X=np.full((2, 2), np.inf)), "X has NaN or infinite")])
def test_what_no_corpus_is_made_of(what, why):
    with pytest.raises(ValueError, match=why): Corpus(**what)


def test_names_that_are_none():
    for bad in (5, "", None):
        with pytest.raises(ValueError, match="name must be"): load(bad)
    with pytest.raises(ValueError, match="path must be"): read(None)
    with pytest.raises(ValueError, match="level must be"): Corpus(["ball"], labels=["sport"]).classes("fine")


# data frames

class Frame:
    "As much of a data frame of pandas or polars as matters"
    columns = dtypes = property(lambda self: list(self.table))
    def __init__(self, table): self.table, self.shape = table, (len(next(iter(table.values()))), len(table))
    def __iter__(self): return iter(self.columns)
    def __len__(self): return self.shape[0]
    def __array__(self, dtype=None, copy=None): return np.array(list(self.table.values())).T
    def to_numpy(self): return self.__array__()
    def rows(self): return [*zip(*self.table.values())]


def frames(table):
    "The same table of each kind that is installed"
    yield Frame(table)
    for name in ("pandas", "polars"):
        try: module = __import__(name)
        except ImportError: continue
        yield module.DataFrame(table)


def test_data_frames():
    for df in frames({"text": ["ball and goal", "the vote"], "id": ["a", "b"]}):
        for argument in ("texts", "ids"):
            with pytest.raises(ValueError, match=f"{argument} is a data frame with the columns 'text', 'id'; give one of them, such as {argument}=df"):
                Corpus(**{"texts": ["x", "y"], argument: df})
        if not isinstance(df, Frame): assert Corpus(df["text"], ids=df["id"]).texts == ["ball and goal", "the vote"]
    for df in frames({"coarse": ["sport", "politics"], "fine": ["golf", None]}):
        assert Corpus(["x", "y"], labels=df).labels.tolist() == [["sport", "golf"], ["politics", ""]]
    for df in frames({"ball": [1, 0], "vote": [0, 2]}):
        c = Corpus(X=df)
        assert list(c.vocab) == ["ball", "vote"] and c.X.toarray().tolist() == [[1, 0], [0, 2]]


def test_missing_labels_of_pandas():
    pd = pytest.importorskip("pandas")
    c = Corpus(pd.Series(["a", "b", "c"]), labels=pd.Series(["x", pd.NA, None], dtype="string"))
    assert c.labels.tolist() == [["x"], [""], [""]]


def test_columns_of_arrow():
    """Their entries are objects of Arrow, which are never missing: a label that wasn't there was called None."""
    pa = pytest.importorskip("pyarrow")
    for column in (pa.array, lambda values: pa.chunked_array([values[:1], values[1:]])):
        c = Corpus(column(["a", "b", "c"]), ids=column([7, 8, 9]), labels=column(["x", None, "y"]), columns=dict(number=column([1, None, 2])))
        assert c.texts == ["a", "b", "c"] and c.ids.tolist() == ["7", "8", "9"] and c.labels.tolist() == [["x"], [""], ["y"]] and c.columns == dict(number=[1, None, 2])
    table = pa.table(dict(a=["x", None, "y"], b=[1, 2, None]))
    assert Corpus(list("abc"), labels=table).labels.tolist() == [["x", "1"], ["", "2"], ["y", ""]]
    assert Corpus(list("abc"), columns=table).columns == dict(a=["x", None, "y"], b=[1, 2, None])
    with pytest.raises(ValueError, match="texts is a data frame with the columns 'a', 'b'; give one"): Corpus(table)
    counts = Corpus(X=pa.table(dict(ball=[1, 0], vote=[0, 2])))
    assert counts.vocab.tolist() == ["ball", "vote"] and counts.X.toarray().tolist() == [[1, 0], [0, 2]]          # names, not columns


def test_a_series_with_a_label_called_columns():
    pd = pytest.importorskip("pandas")
    assert Corpus(pd.Series(["a", "b"], ["columns", "rows"])).texts == ["a", "b"]                  # that is no data frame


def test_what_is_missing_among_labels():
    pd = pytest.importorskip("pandas")
    gaps = [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), Decimal("NaN")]
    assert Corpus(list("abcdefgh"), labels=[*gaps, "nan"]).labels.ravel().tolist() == [""]*7 + ["nan"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_labels_and_columns_in_a_data_frame(library):
    frame = pytest.importorskip(library).DataFrame(dict(year=[2020, 2021, 2022], score=[1.5, None, 2]))
    c = Corpus(list("abc"), labels=frame, columns=frame)
    assert c.labels.tolist() == [["2020", "1.5"], ["2021", ""], ["2022", "2.0"]]              # no year is 2020.0
    assert list(c.columns) == ["year", "score"] and c.columns["year"] == [2020, 2021, 2022]
    with pytest.raises(ValueError, match="must have an entry for each document"): Corpus(list("ab"), columns=frame)


# counts that can't be trusted

@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr"])
def test_damaged_counts(kind):
    def change(name, at, value):
        X = sp.csr_matrix(np.arange(16.).reshape(4, 4))
        X = X.tobsr((2, 2)) if kind == "bsr" else X.asformat(kind)
        getattr(X, name)[at] = value
        return X
    bad = [change(name, 0, value) for name in (("row", "col") if kind == "coo" else ("indices",)) for value in (10**6, -1)]
    if kind != "coo": bad += [change("indptr", 1, 10**6), change("indptr", 1, -5), change("indptr", 0, 1), change("indptr", -1, 0)]
    for X in bad:
        with pytest.raises(ValueError, match="X is not a sound sparse matrix"): Corpus(X=X)


def test_names_are_made_when_asked_for():
    c = Corpus(X=sp.csr_matrix(([1.], ([0], [0])), shape=(2, 10**9)))
    assert len(c) == 2 and c.X.shape == (2, 10**9)                      # a list of so many names would not fit in memory
    c = Corpus(X=sp.eye(4, format="csr"))
    assert list(c[[3, 1]].ids) == ["3", "1"] and list(c[1:][1:].ids) == ["2", "3"] and list(c[1:].vocab) == ["term0", "term1", "term2", "term3"]
    assert c.ids is c.ids and c.vocab is c.vocab
    with pytest.raises(ValueError, match="70 levels; at most 64"): Corpus(["x"], labels=[["a"]*70])


def test_paths_that_are_none(here):
    for bad in ("", 5, b"a"):
        with pytest.raises(ValueError, match="path must be"): read(bad)
    with pytest.raises(FileNotFoundError, match="nobody-at-all"): read("~nobody-at-all/x.txt")
    with pytest.raises(FileNotFoundError): read("a\0b")


# reading like before

def test_a_corpus_knows_how_it_was_read(here):
    Path("a.csv").write_text("nr;subject;text\n1;one;x\n2;two;x\n")
    corpus = read("a.csv", text_field="subject", id_field="nr", label_field="", quote="")
    expected = dict(format="csv", seen="csv", text_field="subject", id_field="nr", label_field="", quote="")
    assert corpus.reading == corpus[:1].reading == expected and Corpus(["x"]).reading is None
    assert pickle.loads(pickle.dumps(corpus)).reading == expected
    Path("b.jsonl").write_text('{"text": "x", "subject": "three", "topic": "t"}')
    assert read("b.jsonl").reading == dict(format="jsonl", seen="jsonl", text_field="text", label_field=["topic"])
    again = read("b.jsonl", like=dict(expected, id_field=""))
    assert again.texts == ["three"] and again.labels is None
    with pytest.raises(ValueError, match="b.jsonl: no field 'nr', from which ids came in the fit. There are: 'text', 'subject', 'topic'. "
                       "Say which it is here with id_field=..., or id_field='' for none$"): read("b.jsonl", like=expected)
    assert read("b.jsonl", like=expected, id_field="").texts == ["three"]
    with pytest.raises(ValueError, match="no field 'no', asked for by text_field"): read("b.jsonl", like=expected, text_field="no")


def test_what_looks_the_same_is_read_in_the_same_format(here):
    for name in ("a.txt", "b.txt"): Path(name).write_text("text,label\nball,sport\n")
    like = read("a.txt", format="csv").reading
    assert (like["format"], like["seen"]) == ("csv", "lines")
    assert read("b.txt", like=like).texts == ["ball"] and len(read("b.txt", like=like, format="lines")) == len(read("b.txt")) == 2
    Path("c.jsonl").write_text('{"text": "goal"}')
    assert read("c.jsonl", like=dict(like, label_field="")).texts == ["goal"]
    assert read("b.txt", like=dict(like, format="none that is known")).reading["format"] == "lines"
    for name in ("x/a.csv", "x/b.txt", "y/a.csv", "y/b.txt"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("a text")
    like = read("x", format="folder", pattern="*.txt").reading
    assert list(read("y", like=like).ids) == ["b.txt"]
    with pytest.raises(ValueError, match="look like collections"): read("y", like=read("b.txt").reading)


def test_other_files_are_not_remembered(here):
    Path("a.svm").write_text("1 1:2 3:1\n2 2:1\n")
    Path("words").write_text("one\ntwo\nthree\n")
    reading = read("a.svm", n_terms=3, vocab="words").reading
    assert reading == dict(format="svmlight", seen="svmlight", n_terms=3)
    assert read("a.svm", like=reading | dict(vocab="nowhere")).X.shape == (2, 3)


def test_columns_to_look_at(here):
    Path("a.csv").write_text('text,day,n\none,2024-01-02,7\n"two, three",,8\n')
    Path("a.jsonl").write_text('{"text": "one", "day": "2024-01-02", "n": 7}\n{"text": "two, three", "n": 8}\n')
    assert read("a.csv").columns == {}
    corpus = read("a.csv", columns=["day", "n"])
    assert corpus.columns == dict(day=["2024-01-02", ""], n=["7", "8"]) and corpus[1:].columns == dict(day=[""], n=["8"])
    assert corpus.reading["columns"] == ["day", "n"]
    assert read("a.jsonl", like=corpus.reading).columns == dict(day=["2024-01-02", None], n=[7, 8])
    assert read("a.jsonl", like=corpus.reading, columns="text").columns == dict(text=["one", "two, three"])
    assert read("a.jsonl", like=corpus.reading, columns="").columns == {}
    with pytest.raises(ValueError, match="no field 'hour', asked for by columns=. There are: 'text', 'day', 'n'"): read("a.csv", columns="hour")
    for like, rest in ((["hour"], {}), (["hour", "n"], dict(n=["7", "8"])), ("hour", {})):
        with pytest.warns(UserWarning, match="no field 'hour', from which a column to look at came in the fit, so this is left out. There are: 'text', 'day', 'n'. columns=... takes another$"):
            assert read("a.csv", like=dict(columns=like)).columns == rest
    for wrong, why in [(["x"], "must be a dictionary"), (dict(day=["x"]), "an entry for each document .2., and has 1"), (dict(day="ab"), "must be a list")]:
        with pytest.raises(ValueError, match=r"columns.*" + why): Corpus(["a", "b"], columns=wrong)
    pq = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa
    pq.write_table(pa.table(dict(text=["one", "two"], day=[1, 2])), "a.parquet")
    assert read("a.parquet", columns="day").columns == dict(day=[1, 2])


def test_like_is_how_something_was_read(here):
    Path("a.csv").write_text("text\none\n")
    for wrong in (read("a.csv"), "csv"):
        with pytest.raises(ValueError, match="like must be the `reading` of a corpus or the `reading_` of a model, got a (Corpus|str)"): read("a.csv", like=wrong)


def test_labels_that_are_not_known_yet_are_left_out(here):
    Path("a.csv").write_text("text,group,kind\none,a,b\n")
    Path("b.csv").write_text("text,kind\ntwo,b\n")
    like = read("a.csv", label_field=["group", "kind"]).reading
    with pytest.warns(UserWarning, match="b.csv: no field 'group', from which labels came in the fit, so this is left out. There are: 'text', 'kind'. label_field=... takes another$"):
        new = read("b.csv", like=like)
    assert new.labels is None and new.reading == dict(format="csv", seen="csv", text_field="text")
    assert read("b.csv", like=like, label_field="kind").labels.tolist() == [["b"]]
    with pytest.raises(ValueError, match="no field 'group', asked for by label_field"): read("b.csv", like=like, label_field=["group"])


@pytest.mark.parametrize("line, heads", [("id,text", True), ('"Body"\t"label"', True), ("review; stars", True), ("text", False), ("id,label", False),
                                         ("the text, and a goal", False), ("", False), ("Dear all,", False), ("a,,b", False)])
def test_what_looks_like_the_head_of_a_table(line, heads): assert heads_a_table(line) == heads


@pytest.mark.parametrize("name, options, said", [("news.txt", {}, True), ("news", {}, True), ("news.txt", dict(format="csv"), False),
                                                 ("news.txt", dict(format="lines"), False), ("news.csv", {}, False)])
def test_a_table_that_is_read_as_lines_is_told(tmp_path, recwarn, name, options, said):
    (tmp_path/name).write_text("text,topic\nball,sport\nvote,politics\n")
    docs = read(tmp_path/name, **options)
    told = [str(w.message) for w in recwarn]
    assert len(docs) == 2 + (said or options.get("format") == "lines")
    assert told == ([f"{tmp_path/name} is read as lines, each of them a document, and the first looks like the head of a table: "
                     "format='csv' reads it as a table"] if said else [])


MAIL = "From: ann@x.org\nOrganization: University of {}\nSubject: {}\n\n{}"

def test_heads_of_mails_are_kept_or_left(tmp_path):
    texts = [MAIL.format("Ohio", "a goal", "late in the game"), "no mail at all"]
    path = tmp_path/"mails.jsonl"
    path.write_text("\n".join(json.dumps(dict(text=text)) for text in texts))
    whole, bodies = read(path), read(path, heads=False)
    assert whole.texts == texts and whole.n_mails == 0 and "heads" not in whole.reading
    assert bodies.texts == ["a goal\n\nlate in the game", "no mail at all"] and bodies.n_mails == 1
    assert bodies.reading == whole.reading | {"heads": False}
    assert read(path, like=bodies.reading).texts == bodies.texts and read(path, like=whole.reading).texts == texts
    assert read(path, like=bodies.reading, heads=True).texts == texts and read(path, like=whole.reading, heads=False).texts == bodies.texts
    with pytest.raises(ValueError, match="heads must be True, False or None, got 'no'"): read(path, heads="no")
    (tmp_path/"none.jsonl").write_text('{"text": "no mail"}')
    assert read(tmp_path/"none.jsonl", heads=False).reading["heads"] is False

def test_heads_are_left_before_words_are_counted():
    whole = Corpus([MAIL.format("Ohio", "goal", "late game")]*3 + ["no mail"], ids=list("abcd"), labels=[["x"]]*4, columns={"n": [1, 2, 3, 4]}, name="some")
    corpus = drop_heads(whole)
    assert corpus.texts == ["goal\n\nlate game"]*3 + ["no mail"] and corpus.reading == {"heads": False} and corpus.n_mails == 3
    assert list(corpus.ids) == list("abcd") and corpus.name == "some" and corpus.columns == whole.columns and corpus.n_levels == 1
    assert whole.n_mails == 0 and whole.reading is None and "Ohio" in whole.texts[0]              # stays what it was
    part = whole[:2]
    assert "ohio" not in drop_heads(part).vocab and "ohio" in part.vocab and "ohio" not in corpus.vocab
    with pytest.raises(ValueError, match="drop_heads comes before"): drop_heads(part)             # it has been counted
    counts = Corpus(X=np.eye(2))
    assert drop_heads(counts).n_mails == 0 and drop_heads(counts).X is counts.X
    counted = Corpus(["no mail"]*2)
    assert drop_heads(counted).X.sum() == counted.X.sum() and drop_heads(counted).texts == counted.texts
