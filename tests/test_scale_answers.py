"""What fitted models say of documents in partitions, against what they say of the same in one piece"""
import json
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from nmf2 import cli
from nmf2.data import load, planted_tree, read
from nmf2.engines import Local
from nmf2.flat import FlatNMF2
from nmf2.hier import HierNMF2
from nmf2.nmf import NMF
from nmf2.scale import SpreadTree, Table, save_shards
from nmf2.scale_answers import answers_over, drift_over, predict_over, to_ask, transform_over
from nmf2.scale_texts import fit_topics
from nmf2.topictree import TopicTree
from nmf2.weighting import EmptyDocumentsWarning, count_pipeline

pytestmark = pytest.mark.filterwarnings("ignore::nmf2.weighting.EmptyDocumentsWarning")


@pytest.fixture(scope="module")
def model():
    return TopicTree(6, max_df=.2).fit(load("library-docs").texts[::3])


@pytest.fixture(scope="module")
def new():
    return [*load("library-docs").texts[1::9], "", "xyzzy", "\u00fcber caf\u00e9 histogram"]


@pytest.fixture
def folder(tmp_path, new):
    "New documents in three files of different sizes, with names"
    where = tmp_path/"new"
    where.mkdir()
    ends = [0, 7, 200, len(new)]
    for k in range(3):
        lines = [json.dumps(dict(name=f"doc {i}", body=None, text=new[i])) for i in range(ends[k], ends[k+1])]
        (where/f"{k}.jsonl").write_text("\n".join(lines) + "\n")
    return where


@pytest.mark.parametrize("piece", [5_000, 40_000, 2**30])
def test_answers_are_those_of_one_piece(model, new, folder, piece):
    for n, reject in ((None, False), (3, False), (None, True), (2, .2)):
        assert_array_equal(predict_over(model, folder, Local(), n, reject, piece=piece), model.predict(new, n=n, reject=reject))
    for n in (None, 3):
        found = transform_over(model, folder, Local(), n, piece=piece)
        assert_array_equal(found, model.transform(new, n=n))
        assert len(found) == len(new)
    for n, reject, n_words in ((None, .01, 20), (3, .1, 5)):
        drift, here = drift_over(model, folder, Local(), n, reject, n_words, piece=piece), model.drift(new, n, reject, n_words)
        assert drift == here and str(drift) == str(here)
    rows = [row for some in answers_over(model, folder, Local(), 4, .05, piece=piece) for row in some]
    assert rows == model.answers(new, 4, .05, plain=True)


def test_the_class_takes_them_in_every_form(model, new, folder):
    delayed, bag = pytest.importorskip("dask").delayed, pytest.importorskip("dask.bag")
    expected = model.predict(new)
    forms = (folder, str(folder), sorted(folder.glob("*.jsonl")), bag.from_sequence(new, npartitions=4),
             [delayed(new[:9]), delayed([]), delayed(new[9:])])
    for given in forms:
        assert_array_equal(model.predict(given), expected)
        assert_array_equal(model.transform(given), model.transform(new))
        assert model.answers(given).equals(model.answers(new))
        assert model.drift(given) == model.drift(new)
        assert model.answers(given, plain=True) == model.answers(new, plain=True)
    model.set_output(transform="pandas")
    try: assert_array_equal(model.transform(folder), model.transform(new).to_numpy())
    finally: model.set_output(transform="default")


def test_what_a_partition_has_is_a_file_of_its_own(model, new, folder):
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq
    pq.write_table(pa.table(dict(text=new)), folder/"a.parquet", row_group_size=50)
    assert_array_equal(model.predict(folder/"a.parquet"), model.predict(new))


def test_a_table_is_as_an_array():
    A = np.random.default_rng(0).random((11, 3))
    W = Table(Local(), [A[:4], A[:0], A[4:5], A[5:11], A[:0]], [4, 0, 1, 6, 0], 3)
    assert W.shape == A.shape and W.ndim == 2 and len(W) == 11 and W.dtype == A.dtype
    for i in (0, 3, 4, 5, 10, -1, np.int64(7)): assert_array_equal(W[i], A[i])
    for rows in (slice(None), slice(2, 7), slice(5, 5), slice(None, None, -2), slice(-3, None), slice(20, 30), [3, 9], A[:, 0] > .5, (slice(None), 1)):
        assert_array_equal(W[rows], A[rows])
    for f in (np.sum, np.mean, np.argsort, np.copy, lambda x: np.argmax(x, 1), lambda x: np.concatenate([x, x]) if x is A else np.concatenate([A, A])):
        assert_array_equal(f(W), f(A))
    assert_array_equal([row for row in W], A)
    assert_array_equal(1 - 2*W@A.T, 1 - 2*A@A.T)
    assert_array_equal(W.argmax(axis=1), A.argmax(axis=1))
    assert_array_equal(W.T, A.T)
    assert_array_equal(np.asarray(W, np.float32), A.astype(np.float32))
    for i in (11, -12):
        with pytest.raises(IndexError): W[i]
    with pytest.raises(AttributeError, match="a Table has no to_pandas"): W.to_pandas
    asked = []
    W.engine.fetch = lambda held: asked.extend(held) or list(held)
    W[4]
    assert len(asked) == 1                                  # the piece that has it, no other


@pytest.fixture(scope="module")
def X():
    counts = planted_tree((2, 3), n_docs=900, n_terms=400, random_state=0, shuffle=True).X
    X = count_pipeline().fit_transform(counts).toarray()
    X[::90] = 0
    return sp.csr_array(X)


@pytest.mark.parametrize("make", [HierNMF2, FlatNMF2])
def test_models_of_weights(make, X, tmp_path):
    array = pytest.importorskip("dask.array")
    model = make(4).fit(X[::2])
    parts = [X[:100], X[:0], X[100:101], X[101:]]
    blocks = array.concatenate([array.from_array(part.toarray(), chunks=(500, -1)) for part in parts if part.shape[0]])
    for given in (parts, blocks, save_shards(X, tmp_path/"shards", 3), tmp_path/"shards", str(tmp_path/"shards")):
        assert_array_equal(model.predict(given), model.predict(X))
        W = model.transform(given)
        assert_array_equal(W, model.transform(X))
        assert len(W) == 900
    with pytest.raises(ValueError, match="partition 1 can't be used: .*390 features"): model.predict([X, X[:, 1:]])
    with pytest.raises(ValueError, match="must be several partitions"): model.predict(blocks.to_delayed()[0, 0])
    with pytest.raises(ValueError, match="must be in one piece here"): NMF(3).fit(X).predict(parts)


def test_counts_of_words(new):
    counts = planted_tree((2, 3), n_docs=900, n_terms=400, random_state=0, shuffle=True).X
    model = TopicTree(5).fit(counts, vocab=[f"word{j}" for j in range(400)])
    assert_array_equal(model.predict([counts[:300], counts[300:]]), model.predict(counts))
    assert_array_equal(model.transform([counts[:300], counts[300:]], n=3), model.transform(counts, n=3))


def test_a_model_of_partitions_answers_without_them(folder, new):
    texts = load("library-docs").texts
    model = fit_topics(TopicTree(6), [texts[:500], texts[500:900]], engine=Local(), whole=1000)
    assert isinstance(model.tree_, SpreadTree)
    light = pickle.loads(pickle.dumps(to_ask(model)))
    assert_array_equal(light.predict(new), model.predict(new))
    assert light.answers(new, plain=True) == model.answers(new, plain=True)
    assert_array_equal(model.predict(folder), model.predict(new))
    assert "labels_" not in vars(model)                     # nobody has fetched them


def test_a_model_to_ask_is_small_and_leaves_the_other_as_it_was(model, new):
    shares, answers = model.transform(new, n=3), model.answers(new, 3, plain=True)      # its words are strings from here on
    before = pickle.dumps(model)
    light = to_ask(model)
    assert len(pickle.dumps(light)) < .4*len(before)
    assert_array_equal(light.transform(new, n=3), shares)
    assert light.answers(new, 3, plain=True) == answers
    assert [node.size for node in light.tree_] == [node.size for node in model.tree_]
    assert pickle.dumps(model) == before


def test_rare_unknown_words_are_counted_and_not_kept(model, folder, new, monkeypatch):
    monkeypatch.setattr("nmf2.scale_answers.KEPT", 30)
    drift, here = drift_over(model, folder, Local(), piece=5_000), model.drift(new)
    assert drift._replace(words=[]) == here._replace(words=[])
    assert drift.words[0][1] <= here.words[0][1] and len(drift.words) == 20


def test_documents_without_known_words_are_told_once(model):
    parts = [["xyzzy", "a histogram"], [""], ["a sparse matrix"], []]
    delayed = pytest.importorskip("dask").delayed
    for ask in (model.predict, model.transform):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            ask([delayed(part) for part in parts])
        assert [str(one.message) for one in told if one.category is EmptyDocumentsWarning] == [
            "2 of 4 documents have no term of the vocabulary; their weights are all zero (rows 0, 2)"]


def test_wrong_questions_are_told_before_anything_is_read(model, folder):
    (folder/"1.jsonl").write_text('{"text": 1}\n')
    for ask, message in ((lambda: model.predict(folder, n=99), "n must be at most 6"), (lambda: model.transform(folder, n=0), "n must be"),
                         (lambda: model.predict(folder, reject=2), "reject must be"), (lambda: model.answers(folder, reject=-1), "reject must be"),
                         (lambda: model.drift(folder, n_words=-1), "n_words must be"), (lambda: model.drift(folder, n=99), "n must be"),
                         (lambda: model.predict(folder), "partition 1, 1.jsonl, can't be used: .*field 'text' should be a string and is 1"),
                         (lambda: model.path(folder), "must be in one piece here.*for answers and drift"),
                         (lambda: TopicTree().predict(folder), "not fitted")):
        with pytest.raises(ValueError, match=message): ask()


@pytest.fixture
def saved(model, tmp_path):
    model.save(tmp_path/"topics.nmf2")
    return str(tmp_path/"topics.nmf2")


def test_the_command_writes_what_it_writes_in_one_piece(saved, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("nmf2.scale_texts.PIECE", 20_000)
    for options in ([], ["--json"], ["--leaves", "3", "--reject", ".2"]):
        for k, more in enumerate(([], ["--memory", "1GB"])):
            assert cli.main(["predict", saved, str(folder), *options, *more, "--quiet", "--force", "-o", str(tmp_path/f"{k}")]) == 0
        assert (tmp_path/"0").read_text() == (tmp_path/"1").read_text()


def test_the_command_reads_the_column_and_names_of_the_fit(tmp_path):
    texts = [f"{'abc'[i % 3]*3} {'def'[i % 3]*3} w{i % 7}w w{i % 11}w" for i in range(90)]
    lines = [json.dumps(dict(url=f"u{i}", text="no", title=text)) for i, text in enumerate(texts)]
    (tmp_path/"a.jsonl").write_text("\n".join(lines))
    TopicTree(3).fit(read(tmp_path/"a.jsonl", text_field="title", id_field="url")).save(tmp_path/"m.nmf2")
    for k, more in enumerate(([], ["--memory", "1GB"])):
        assert cli.main(["predict", str(tmp_path/"m.nmf2"), str(tmp_path/"a.jsonl"), *more, "--quiet", "-o", str(tmp_path/f"{k}")]) == 0
    (tmp_path/"b.jsonl").write_text('{"body": "aaa"}\n{"body": "bbb"}\n')
    assert (tmp_path/"0").read_text() == (tmp_path/"1").read_text()
    assert "u89" in (tmp_path/"1").read_text()
    with pytest.raises(ValueError, match="no field 'title', from which the texts came in the fit. .*text_field="):
        TopicTree.load(tmp_path/"m.nmf2").predict([tmp_path/"b.jsonl"])


def test_the_command_leaves_nothing_half_written(saved, folder, tmp_path, capsys):
    (folder/"2.jsonl").write_text('{"text": "fine"}\n{"text": \n')
    assert cli.main(["predict", saved, str(folder), "--memory", "1GB", "--quiet", "-o", str(tmp_path/"out.csv")]) == 2
    assert "2.jsonl, line 2" in capsys.readouterr().err
    assert not list(tmp_path.glob("*out.csv*"))


@pytest.mark.parametrize("options, message", [(["--jobs", "2"], "--jobs can't be had"), (["--memory", "5MB"], "must be at least 1GB"),
                                              (["--format", "csv"], "files are read by their endings"), (["--leaves", "99"], "--leaves must be at most 6")])
def test_options_that_partitions_do_not_have(saved, folder, capsys, options, message):
    assert cli.main(["predict", saved, str(folder), "--memory", "1GB", *options, "--quiet"]) == 2
    assert message in capsys.readouterr().err
    assert cli.main(["predict", saved, str(folder/"nowhere"), "--memory", "1GB", "--quiet"]) == 2
    assert "no such file or folder" in capsys.readouterr().err


@pytest.mark.slow
def test_workers_of_a_cluster_answer(model, saved, new, folder, X, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    tree = HierNMF2(4).fit(X)
    expected = model.predict(new), model.transform(new), tree.predict(X)
    apart = fit_topics(TopicTree(6), [load("library-docs").texts[:500]], engine=Local(), whole=1000)
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        assert_array_equal(model.predict(folder), expected[0])
        assert_array_equal(model.transform(folder), expected[1])
        assert_array_equal(tree.predict([X[:400], X[400:]]), expected[2])
        assert_array_equal(apart.predict(folder), apart.predict(new))
        with pytest.raises(ValueError, match="partition 1 can't be used"): tree.predict([X, X[:, 1:]])
        Client, opened = distributed.Client, []
        monkeypatch.setattr(distributed, "Client", lambda address, **how: opened.append(Client(address, **how)) or opened[-1])
        try:
            for k, more in enumerate(([], ["--scheduler", client.scheduler.address])):
                assert cli.main(["predict", saved, str(folder), *more, "--quiet", "-o", str(tmp_path/f"{k}")]) == 0
        finally:
            for one in opened: one.close()                   # where a process runs one command it ends with it
        assert len(opened) == 1
    assert (tmp_path/"0").read_text() == (tmp_path/"1").read_text()


def test_no_documents_at_all(model, saved, tmp_path, capsys):
    delayed = pytest.importorskip("dask").delayed
    for ask in (model.predict, model.transform, model.answers, model.drift):
        with pytest.raises(ValueError, match="there are no documents in partition 0, partition 1"): ask([delayed([]), delayed([])])
    (tmp_path/"none.jsonl").write_text("\n")
    for more in ([], ["--memory", "1GB"]):
        assert cli.main(["predict", saved, str(tmp_path/"none.jsonl"), *more, "--quiet"]) == 2
        assert "no documents" in capsys.readouterr().err


def in_one_piece_and_in_partitions(saved, path, tmp_path):
    "What the command writes of a file both ways"
    for k, more in enumerate(([], ["--memory", "1GB"])):
        assert cli.main(["predict", saved, str(path), *more, "--quiet", "--force", "-o", str(tmp_path/f"{k}.csv")]) == 0
    return [(tmp_path/f"{k}.csv").read_text().splitlines() for k in (0, 1)]


def test_files_without_fields_are_read_by_a_model_that_knows_one(tmp_path, new):
    "Mails and lines, asked of a model whose texts were in a field"
    (tmp_path/"fit.jsonl").write_text("\n".join(json.dumps(dict(text=text)) for text in load("library-docs").texts[::6]))
    saved = str(tmp_path/"m.nmf2")
    TopicTree(4).fit(read(tmp_path/"fit.jsonl")).save(saved)
    lines = [" ".join(text.split())[:200] or "-" for text in new]
    (tmp_path/"a.txt").write_text("\n".join(lines))
    mails = [f"From ann@example.org Thu Jan  1 12:00:00 2004\nFrom: ann@example.org\nSubject: {line[:30]}\n\n{line}\n\n" for line in lines]
    (tmp_path/"b.mbox").write_text("".join(mails))
    for name in ("a.txt", "b.mbox"):
        here, there = in_one_piece_and_in_partitions(saved, tmp_path/name, tmp_path)
        assert [line.split(",", 2)[2] for line in here] == [line.split(",", 2)[2] for line in there]
        assert_array_equal(TopicTree.load(saved).predict(tmp_path/name), TopicTree.load(saved).predict(read(tmp_path/name)))


@pytest.mark.parametrize("name", ["a.json", "b.json", "c.jsonl", "d.csv", "e.jsonl.gz"])
def test_names_are_those_of_one_piece(saved, new, tmp_path, name):
    import csv
    import gzip
    records = [json.dumps(dict(id=f"d {k}", text=text)) for k, text in enumerate(new)]
    content = {"a": "\n".join(records), "b": "[" + ", ".join(records) + "]", "c": "\n".join(records), "e": "\n".join(records)}.get(name[0])
    with (gzip.open if name.endswith("gz") else open)(tmp_path/name, "wt", newline="") as file:
        if content is None: csv.writer(file).writerows([("id", "text"), *((f"d {k}", text) for k, text in enumerate(new))])
        else: file.write(content)
    here, there = in_one_piece_and_in_partitions(saved, tmp_path/name, tmp_path)
    assert here == there and "d 3" in there[4]


def test_names_that_nobody_asks_for_may_be_anything(model, saved, tmp_path):
    (tmp_path/"a.csv").write_text("id,text\n1,a histogram\n1,a plot\n,sparse\n")
    assert_array_equal(model.predict(tmp_path/"a.csv"), model.predict(["a histogram", "a plot", "sparse"]))
    (tmp_path/"b.jsonl").write_text('{"id": 1, "text": "a plot"}\n{"text": "sparse"}\n{"id": 1, "text": "a histogram"}\n')
    with pytest.warns(UserWarning, match="1 of 2 names are those of an earlier document"):
        rows = [row for some in answers_over(model, tmp_path/"b.jsonl", Local(), named=True) for row in some]
    assert [row["id"] for row in rows] == ["1", None, "1"]


@pytest.mark.parametrize("more", [["-o", "out.csv"], []])
def test_what_is_wrong_with_documents_is_no_fault_of_the_output(saved, tmp_path, monkeypatch, capsys, more):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nmf2.engines.Local.ahead", lambda engine: 1)
    (tmp_path/"bad").mkdir()
    for k in range(6): (tmp_path/"bad"/f"{k}.jsonl").write_text('{"text": 1}' if k == 5 else '{"text": "a plot"}')
    for path, message in (("bad", "5.jsonl, can't be used"), ("bad/5.jsonl", "can't be used")):
        assert cli.main(["predict", saved, path, "--memory", "1GB", "--quiet", *more]) == 2
        said = capsys.readouterr().err
        assert message in said and "standard output" not in said
    assert cli.main(["predict", saved, "bad", "--memory", "1GB", "--text-field", "nope", "--quiet", *more]) == 2
    assert "no field 'nope'" in (said := capsys.readouterr().err) and "standard output" not in said


def test_data_frames_for_those_who_want_them(X):
    model = HierNMF2(4).fit(X)
    parts = [X[:0], X[:300], X[300:]]
    assert model.transform(parts).dtype == np.asarray(model.transform(parts)).dtype == model.transform(X).dtype
    model.set_output(transform="pandas")
    assert model.transform(parts).equals(model.transform(X))


def test_what_no_model_can_be_asked(X):
    model = HierNMF2(4).fit(X)
    with pytest.raises(ValueError, match="takes weights or counts, in matrices, and this is a list"):
        predict_over(model, [["a text"], ["another"]])
    with pytest.raises(ValueError, match="model must be a TopicTree, got a HierNMF2"): answers_over(model, [X[:3], X[3:]])


def test_a_file_that_changes_between_texts_and_names_is_named(model, tmp_path, monkeypatch):
    (tmp_path/"a.jsonl").write_text('{"id": 1, "text": "a matrix"}\n{"id": 2, "text": "a plot"}\n')
    monkeypatch.setattr("nmf2.scale_answers.names_in", lambda source: ["1", "2", "3"])
    with pytest.raises(ValueError, match="a.jsonl, can't be used: it was written to while it was read: ask once more"):
        list(answers_over(model, tmp_path/"a.jsonl", named=True))
