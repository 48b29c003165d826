"""Tables read by Arrow and orjson: the same as by Python where both can, and errors that name the file where nobody can."""
import builtins
import csv
import json
import sys
import warnings
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from nmf2 import files, formats
from nmf2.data import read
from nmf2.formats import Fields, guess_format, read_arrow, read_csv, read_jsonl, read_parquet, rows_of
from nmf2.topictree import TopicTree

pa = pytest.importorskip("pyarrow")
pytest.importorskip("orjson")
pq = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.no_estimator

TEXTS = ["puck and ice", "<b>bold</b> & $x < y$, a \"quote\"", "ünïcode, 東京\nsecond\r\nline", ""]
TABLE = {"id": ["a", "b", "c", "d"], "text": TEXTS, "area": ["sport", "maths", None, "sport"], "year": [1993, 1994, 1995, 1996]}
EXPECTED = {"texts": TEXTS, "ids": ["a", "b", "c", "d"], "labels": [["sport", "1993"], ["maths", "1994"], ["", "1995"], ["sport", "1996"]]}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def stream(path, table):
    with pa.ipc.new_stream(path, table.schema) as writer: writer.write_table(table, max_chunksize=3)


def file(path, table):
    with pa.ipc.new_file(path, table.schema) as writer: writer.write_table(table, max_chunksize=3)


def saved(path, table, files=2, **state):
    "What `save_to_disk` writes"
    Path(path).mkdir(parents=True)
    names = [f"data-{i:05d}-of-{files:05d}.arrow" for i in range(files)]
    cuts = np.linspace(0, len(table), files + 1).astype(int)
    for name, a, b in zip(names, cuts, cuts[1:]): stream(f"{path}/{name}", table.slice(a, b - a))
    Path(path, "state.json").write_text(json.dumps({"_data_files": [{"filename": name} for name in names], **state}))
    Path(path, "dataset_info.json").write_text("{}")
    return Path(path)


def without(monkeypatch, *names):
    "As if these modules weren't installed"
    real = builtins.__import__
    for name in [name for name in sys.modules if name.split(".")[0] in names]: monkeypatch.delitem(sys.modules, name)
    def importing(name, *args, **options):
        if name.split(".")[0] in names: raise ImportError(name)
        return real(name, *args, **options)
    monkeypatch.setattr(builtins, "__import__", importing)
    monkeypatch.setattr(files.importlib, "import_module", importing)


WRITERS = {"a.parquet": lambda path, table: pq.write_table(table, path, row_group_size=2), "a.arrow": stream, "a.feather": file,
           "a.ipc": lambda path, table: pa.feather.write_feather(table, path, compression="zstd"), "saved": saved}
pa.feather = pytest.importorskip("pyarrow.feather")


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_read(name):
    WRITERS[name](name, pa.table(TABLE))
    reader = formats.READERS[guess_format(name)]
    assert reader(name, label_field=["area", "year"]) == EXPECTED
    corpus = read(name, label_field=["area", "year"])
    assert corpus.texts == TEXTS and corpus.labels.tolist() == EXPECTED["labels"] and corpus.ids.tolist() == EXPECTED["ids"]
    assert reader(name, text_field="text", label_field="", id_field="") == {"texts": TEXTS}


@pytest.mark.parametrize("name", [name for name in WRITERS if name != "saved"])
def test_without_an_ending(name):
    WRITERS[name](name, pa.table(TABLE))
    assert guess_format(Path(name).rename("nameless")) == ("parquet" if name == "a.parquet" else "arrow")


def test_the_same_corpus_from_every_format():
    table = {**TABLE, "area": ["sport", "maths", "", "sport"]}
    with open("a.csv", "w", newline="", encoding="utf-8") as f:
        csv.writer(f).writerows([table, *zip(*table.values())])
    Path("a.jsonl").write_text("\n".join(json.dumps(dict(zip(TABLE, row))) for row in zip(*table.values())))
    pq.write_table(pa.table(table), "a.parquet")
    found = [read(name, label_field=["area", "year"]) for name in ("a.csv", "a.jsonl", "a.parquet")]
    for corpus in found:
        assert (corpus.texts, corpus.ids.tolist(), corpus.labels.tolist()) == (TEXTS, EXPECTED["ids"], EXPECTED["labels"])


KINDS = {"large": pa.large_string(), "view": pa.string_view(), "bytes": pa.binary(), "bytes in view": pa.binary_view()}

@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("once", [False, True])
def test_kinds_of_text(kind, once):
    """Once are dictionaries: polars writes those of categories with words in views."""
    texts = pa.array(TEXTS).cast(KINDS[kind])
    if once: texts = pa.DictionaryArray.from_arrays(pa.array(range(len(TEXTS)), pa.uint32()), texts)
    file("a.arrow", pa.table({"text": texts}))
    assert read_arrow("a.arrow")["texts"] == TEXTS


def test_bytes_of_one_length():
    """They are text if they can be, else they stay what they are, such as numbers that name documents."""
    file("a.arrow", pa.table({"text": pa.array([b"abcd", None, "ü12".encode()], pa.binary(4)), "id": pa.array([b"\xff\xfe", b"\xff\xfd", b"\xff\xfc"], pa.binary(2))}))
    found = read_arrow("a.arrow")
    assert found["texts"] == ["abcd", "", "ü12"] and found["ids"][0] == str(b"\xff\xfe")


def test_kinds_of_labels():
    labels = dict(flag=[True, None], list=pa.array([["a", "b"], []]), real=[1.5, float("nan")], day=[date(2024, 1, 2), None])
    pq.write_table(pa.table({"text": ["x", "y"], **labels}), "a.parquet")
    expected = dict(flag=[["True"], []], list=[["a", "b"], []], real=[["1.5"], []], day=[["2024-01-02"], []])
    for name in labels: assert read_parquet("a.parquet", label_field=name)["labels"] == expected[name]


CLASSES = {"names": ["sport", "maths"], "_type": "ClassLabel"}

@pytest.mark.parametrize("feature, values, expected", [
    (CLASSES, [0, 1, -1], [["sport"], ["maths"], []]), ({"feature": CLASSES, "_type": "Sequence"}, [[0, 1], [], [1]], [["sport", "maths"], [], ["maths"]]),
    ([CLASSES], [[0], [1], None], [["sport"], ["maths"], []]), ({"dtype": "int64", "_type": "Value"}, [0, 1, -1], [["0"], ["1"], ["-1"]])])
def test_names_of_classes(feature, values, expected):
    notes = {"huggingface": json.dumps({"info": {"features": {"label": feature, "text": {"_type": "Value"}}}})}
    table = pa.table({"text": ["a", "b", "c"], "label": values}).replace_schema_metadata(notes)
    saved("one", table)
    pq.write_table(table, "a.parquet")
    assert read_arrow("one")["labels"] == read_parquet("a.parquet")["labels"] == expected


def test_names_of_classes_in_a_file_beside():
    """The notes of a file itself come first; a folder to which datasets are fetched has no state.json."""
    table = pa.table({"text": ["a", "b"], "label": [0, 1]})
    told = json.dumps({"features": {"label": CLASSES, "text": {"_type": "Value"}}})
    saved("one", table)
    Path("one/dataset_info.json").write_text(told)
    Path("two").mkdir()
    for split in ("test", "train"): stream(f"two/{split}.arrow", table)
    stream("two/cache-1.arrow", table)
    Path("two/dataset_info.json").write_text(told)
    assert read("one").labels.tolist() == read("two/train.arrow").labels.tolist() == [["sport"], ["maths"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert guess_format("two") == "arrow" and read("two").labels.tolist() == [["sport"], ["maths"]]*2
    for odd in ("", "[]", "{}", '{"features": []}'):
        Path("one/dataset_info.json").write_text(odd)
        assert read("one").labels.tolist() == [["0"], ["1"]]
    stream("one/data-00000-of-00002.arrow", table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": {"label": {**CLASSES, "names": ["x", "y"]}}}})}))
    Path("one/dataset_info.json").write_text(told)
    assert read("one/data-00000-of-00002.arrow").labels.tolist() == [["x"], ["y"]]


def test_datasets_among_other_files():
    """Each is one thing: stale rows of map stay away, and the names of folders are no labels, unless they are above."""
    for name in ("three", "four", "deep/five"):
        saved(name, pa.table({"text": [name, "a ball"]}))
        stream(f"{name}/cache-1234.arrow", pa.table({"text": ["stale"]}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        corpus = read(["three", "four"])
        assert corpus.texts == ["three", "a ball", "four", "a ball"] and corpus.labels is None
        assert read(Path.cwd()).texts == read(Path.cwd(), format="arrow").texts == ["deep/five", "a ball", "four", "a ball", "three", "a ball"]
    assert read(["three", "deep"]).labels.tolist() == [[""]]*2 + [["deep"]]*2
    stream("six.arrow", pa.table({"text": ["six"]}))
    assert read(["three", "six.arrow"]).texts == ["three", "a ball", "six"]
    Path("deep/dataset_dict.json").write_text('{"splits": ["five"]}')
    for paths in ("deep", ["three", "deep"]):
        with pytest.raises(ValueError, match="a dictionary of 1 dataset. Name one of them"): read(paths)
    Path("four/state.json").write_text('{"_data_files": [{"filename": "data-00000-of-00002.arrow"}], "_indices_data_files": [{"filename": "i.arrow"}]}')
    with pytest.raises(ValueError, match="four/state.json: the dataset is a selection"): read(["three", "four"])


def test_fields_within_columns():
    """As in lines of JSON: by names with dots, if somebody asks for one, or there is no text without."""
    rows = [{"text": "puck", "meta": {"when": "May", "by": {"name": "Ann"}}}, {"text": "net", "meta": None}]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table = pa.table({name: [row[name] for row in rows] for name in rows[0]})
    pq.write_table(table, "a.parquet")
    for name, write in (("a.arrow", stream), ("a.feather", file), ("one", saved)): write(name, table)
    asked = dict(label_field="meta.by.name", columns="meta.when")
    for name in ("a.parquet", "a.arrow", "a.feather", "one"):
        found, lines = read(name, **asked), read("a.jsonl", **asked)
        assert found.texts == lines.texts and found.labels.tolist() == lines.labels.tolist() == [["Ann"], [""]]
        assert found.columns["meta.when"] == lines.columns["meta.when"] == ["May", None] and found.reading["label_field"] == ["meta.by.name"]
        bad("no field 'meta.no', asked for by label_field. There are: 'text', 'meta', 'meta.when', 'meta.by', 'meta.by.name'", name, label_field="meta.no")
    dotted = pa.table({"a.text": ["top"], "a": [{"text": "within"}]})
    for name, write in (("b.parquet", lambda name, table: pq.write_table(table, name)), ("b.arrow", stream)):
        write(name, dotted)
        assert read(name, text_field="a.text").texts == ["top"]
    pq.write_table(pa.table({"told": [{"text": "puck", "label": 1}, {"text": "net", "label": 0}]}).replace_schema_metadata(
        {"huggingface": json.dumps({"info": {"features": {"told": {"text": {"_type": "Value"}, "label": CLASSES}}}})}), "c.parquet")
    bad("which field holds the text? Say it with text_field=...; there are: 'told', 'told.text', 'told.label'", "c.parquet")
    assert read("c.parquet", text_field="told.text", label_field="told.label").labels.tolist() == [["maths"], ["sport"]]


def test_folders_of_parquet_are_like_those_of_tables():
    """Folders are labels, and a file may lack a column that is there for a look only."""
    for k, name in enumerate(("sport/a", "sport/b", "art/a")):
        Path(name).parent.mkdir(exist_ok=True)
        table = {"text": [name, "a text"], **({} if k else {"when": [1, 2]})}
        pq.write_table(pa.table(table), f"{name}.parquet")
        with open(f"{name}.csv", "w", newline="") as f: csv.writer(f).writerows([table, *zip(*table.values())])
    found = []
    for format in ("parquet", "csv"):
        with pytest.warns(UserWarning, match="2 of 3 files have no field 'when'"): found.append(read(Path.cwd(), format=format, columns="when"))
        assert found[-1].labels.tolist() == [["art"]]*2 + [["sport"]]*4
    assert found[0].texts == found[1].texts and found[0].columns["when"] == [None]*2 + [1, 2] + [None]*2
    with pytest.warns(UserWarning, match="left alone"): assert read_parquet("sport")["texts"] == ["sport/a", "a text", "sport/b", "a text"]


@pytest.mark.parametrize("notes", ["no JSON", "[]", '{"info": []}', '{"info": {"features": {"label": {"names": [1], "_type": "ClassLabel"}}}}'])
def test_odd_notes(notes):
    stream("a.arrow", pa.table({"text": ["a"], "label": [0]}).replace_schema_metadata({"huggingface": notes}))
    assert read_arrow("a.arrow")["labels"] == [["0"]]


def test_datasets_in_a_dictionary():
    for split in ("train", "test"): saved(f"all/{split}", pa.table({"text": [split]*3}))
    Path("all/dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    with pytest.raises(ValueError, match="all: a dictionary of 2 datasets. Name one of them: all/test, all/train"): read("all")
    assert read("all/train").texts == ["train"]*3


def bad(words, what, **options):
    with pytest.raises(ValueError) as e: read(what, **options)
    assert words in str(e.value) and str(e.value).startswith(str(what)), str(e.value)


def test_damaged_folders():
    path = saved("one", pa.table({"text": ["a", "b"]}), _indices_data_files=[{"filename": "i.arrow"}])
    bad("flatten_indices()", path)
    for state in ("", "[]", "{}", '{"_data_files": [{}]}', '{"_data_files": [{"filename": "../one/data-00000-of-00002.arrow"}]}', "["*10**5):
        Path("one/state.json").write_text(state)
        bad("", path)
    saved("two", pa.table({"text": ["a", "b"]}))
    stream("two/data-00001-of-00002.arrow", pa.table({"other": ["a", "b"]}))
    bad("its columns are other, those of data-00000-of-00002.arrow are text", "two")
    Path("three").mkdir()
    for name in ("a.parquet", "b.csv"): Path("three", name).touch()
    bad("look like collections themselves", "three")


def test_a_folder_of_parquet():
    for i in range(3): pq.write_table(pa.table({"text": [f"text {i}"]*2}), f"train-{2 - i}.parquet")
    Path("README.md").write_text("a card")
    assert read(Path.cwd()).texts == ["text 2"]*2 + ["text 1"]*2 + ["text 0"]*2


@pytest.mark.parametrize("name, content", [("a.parquet", {"text": [None, None]}), ("c.parquet", {"text": pa.nulls(2)}), ("a.arrow", {"text": [1, 2]}), ("b.parquet", {"text": pa.array([], pa.string())}),
                                           ("b.arrow", {"text": ["a"], "id": [None]}), ("c.arrow", {"title": ["a"], "year": [1]})])
def test_faulty_tables(name, content):
    (pq.write_table if "parquet" in name else lambda table, path: stream(path, table))(pa.table(content), name)
    bad({"a.parquet": "field 'text' is null everywhere", "c.parquet": "field 'text' is null everywhere", "a.arrow": ", row 0: field 'text' should be a string and is 1",
         "b.parquet": "no documents", "b.arrow": ", row 0: no 'id' here", "c.arrow": "which field holds the text?"}[name], name)


def test_null_is_an_empty_text():
    table = pa.table({"text": ["a ball", None, ""], "id": ["a", "b", "c"]})
    pq.write_table(table, "a.parquet")
    stream("a.arrow", table)
    file("a.feather", table)
    saved("one", table)
    for name in ("a.parquet", "a.arrow", "a.feather", "one"): assert read(name).texts == ["a ball", "", ""]


def test_invalid_utf8_and_columns_of_the_same_name():
    texts = pa.StringArray.from_buffers(2, pa.py_buffer(np.array([0, 2, 4], np.int32)), pa.py_buffer(b"ok\xff\xfe"))
    for name, write in {"a.parquet": lambda t: pq.write_table(t, "a.parquet"), "a.arrow": lambda t: stream("a.arrow", t)}.items():
        write(pa.table({"text": texts}))
        bad("damaged", name)
        write(pa.table([["a"], ["b"]], names=["text", "text"]))
        bad("two columns have the same name", name)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("how", ["cut", "flip"])
def test_damaged_files(name, how):
    rng = np.random.default_rng(0)
    WRITERS[name](name, pa.table({"text": [f"text {i}" for i in range(50)], "label": [i % 5 for i in range(50)]}))
    path = Path(name, "data-00000-of-00002.arrow") if name == "saved" else Path(name)
    whole = path.read_bytes()
    for at in rng.integers(8, len(whole), 60):
        broken = bytearray(whole)
        if how == "cut": broken = broken[:at]
        else: broken[at] ^= int(rng.integers(1, 256))
        path.write_bytes(broken)
        try: corpus = read(name)
        except ValueError as e: assert str(e).startswith(name) and len(str(e)) < 700
        else: assert how == "flip" and len(corpus) <= 100


def test_offsets_that_lead_out_of_a_file():
    """Read in batches, as partitions are, such a file ended the process."""
    file("a.arrow", pa.table({"text": ["puck and ice"]*3}))
    offsets, wrong = (np.array(ends, "<i4").tobytes() for ends in ([0, 12, 24, 36], [0, 12, 2**31 - 10, 36]))
    Path("a.arrow").write_bytes(Path("a.arrow").read_bytes().replace(offsets, wrong))
    bad("damaged", "a.arrow")
    with pytest.raises(ValueError, match="a.arrow: damaged, cut short"): list(rows_of("a.arrow", "arrow", Fields(["text"], [], None)))


@pytest.mark.slow
def test_a_file_that_unpacks_to_too_much():
    table = pa.table({"text": pa.array(["x"*200_000]).dictionary_encode().take(np.zeros(3_000, int))})
    pq.write_table(table, "bomb.parquet", compression="zstd")
    assert Path("bomb.parquet").stat().st_size < 10**6
    bad("in memory", "bomb.parquet")
    pq.write_table(pa.table({"text": pa.array([""]*2_000_000)}), "rows.parquet")
    bad("documents in a file of", "rows.parquet")


def zstd(data): return pa.compress(data, codec="zstd", asbytes=True)


def test_files_that_zstd_packed():
    lines = "".join(f'{{"text": "ball {i}"}}\n' for i in range(200_000)).encode()
    packed, texts = zstd(lines), [f"ball {i}" for i in range(200_000)]
    for name, data, expected in [("a.jsonl.zst", packed, texts), ("two.JSONL.ZST", packed*2, texts*2), ("a.gz", zstd(b"one\ntwo"), ["one", "two"]),
                                 ("a.csv.zst", zstd(b"id,text\n1,a\n"), ["a"])]:
        Path(name).write_bytes(data)
        assert read(name, limits=False).texts == expected
    for name, data in [("half.jsonl.zst", packed[:len(packed)//2]), ("other.jsonl.zst", packed[:20] + b"x"*200), ("none.txt.zst", packed[:5])]:
        Path(name).write_bytes(data)
        bad("from here on the compressed file is damaged or cut short", name)
    Path("bomb.txt.zst").write_bytes(zstd(b"a\n"*2**25))
    bad("limits=False", "bomb.txt.zst")


def test_without_the_libraries(monkeypatch):
    for name, write in WRITERS.items(): write(name, pa.table(TABLE))
    Path("a.jsonl").write_text('{"text": "a"}')
    Path("a.csv").write_text("id,text\n1,a\n")
    Path("a.txt.zst").write_bytes(zstd(b"a\n"))
    without(monkeypatch, "pyarrow", "orjson")
    for name in [*WRITERS, "a.txt.zst"]:
        with files.unpacked_ahead(name): bad("pip install 'nmf2[files]'", name)            # the reader tells
    assert read("a.jsonl").texts == read("a.csv").texts == ["a"]


# ---- CSV and JSON lines: with and without the libraries

def outcome(reader, path, **options):
    try: return reader(path, **options)
    except ValueError as e: return str(e)


PIECES = ['"', '""', ",", "\n", "\r\n", "\r", "a", "b c", "ü", " ", "1", '"x"', '"y,z"', '"u\nv"', ",,", "\0", '"a ""b"""', "NA", "ﬁ"]

@pytest.mark.filterwarnings("ignore")
def test_random_tables_are_read_alike(monkeypatch):
    rng = np.random.default_rng(1)
    quick, n_quick = formats.csv_columns, 0
    for _ in range(300):
        body = "".join(PIECES[i] for i in rng.integers(0, len(PIECES), rng.integers(1, 14)))
        if rng.random() < .4: body = f"7,{PIECES[rng.integers(len(PIECES))]}"
        rows = [f'{i},"{str(t).replace(chr(34), 2*chr(34))}"' for i, t in enumerate(rng.choice(TEXTS, 2))]
        at = rng.integers(0, 3)
        Path("a.csv").write_bytes("\n".join(["id,text", *rows[:at], body, *rows[at:]]).encode())
        for options in (dict(), dict(id_field="", label_field="id"), dict(header=False, text_field="1")):
            answers = []
            def watched(*args):
                answers.append(quick(*args))
                return answers[-1]
            monkeypatch.setattr(formats, "csv_columns", watched)
            found = outcome(read_csv, "a.csv", **options)
            monkeypatch.setattr(formats, "csv_columns", lambda *args: None)
            assert found == outcome(read_csv, "a.csv", **options), body
            n_quick += any(answers) and isinstance(found, dict)
    assert n_quick > 70


VALUES = ['"a"', '"\\ud83d"', '"\\ud83d\\ude00"', "1", "-0", "1.0", "1e400", "NaN", "123456789012345678901234", "null", "true", "[]", '["x", 1.5]', '[18446744073709551616]',
          '{"a": 1}', '"', '"\x01"', '"ü"', "-1", '""', "[[[[1]]]]"]

@pytest.mark.filterwarnings("ignore")
def test_random_json_is_read_alike(monkeypatch):
    rng = np.random.default_rng(2)
    quick, n_quick = formats.json_objects, 0
    for _ in range(300):
        lines = [", ".join(f'"{key}": {VALUES[i] if rng.random() < .3 else json.dumps(f"{key}{n}")}'
                           for key, i in zip(("text", "id", "label", "text"), rng.integers(0, len(VALUES), 3 + (rng.random() < .1)))) for n in range(3)]
        body = "\n".join(["{" + line + "}" for line in lines] + [["", " ", "\u00a0", "[]", "\x0c"][rng.integers(5)]]*(rng.random() < .3))
        Path("a.jsonl").write_text(body, encoding="utf-8")
        for options in (dict(), dict(id_field="", label_field="")):
            monkeypatch.setattr(formats, "json_objects", quick)
            found = outcome(read_jsonl, "a.jsonl", **options)
            n_quick += quick(enumerate(body.encode().splitlines(True), 1)) is not None
            monkeypatch.setattr(formats, "json_objects", lambda lines: None)
            assert found == outcome(read_jsonl, "a.jsonl", **options), body
    assert n_quick > 70


def test_odd_beginnings(monkeypatch):
    starts = [b"\xef\xbb\xbfid,text\n1,a\n", b"sep=;\r\nid;text\r\n1;a\r\n", "id,text\n1,é\n".encode("latin-1"), "id,text\n1,é\n".encode("utf-16"), b"\nid,text\n1,a\n",
              b'"i\nd",text\n1,a\n', b"id,text\n", b" id , text\n1,a\n", b"id\ttext\n1\ta\n", b"text\na\nb\n", b"text\n\n\nb\n", b"id,id\n1,a\n"]
    for start in starts:
        Path("a.csv").write_bytes(start)
        with pytest.MonkeyPatch.context() as patch, pytest.warns() if b"\xe9" in start and b"\xff" not in start else open("a.csv"):
            found = outcome(read_csv, "a.csv")
            patch.setattr(formats, "csv_columns", lambda *args: None)
            assert found == outcome(read_csv, "a.csv")


# ---- what is given to estimators

def test_a_column_of_arrow_is_texts():
    texts = ["the ball and the goal", "a goal for the ball", "a vote on the law", "the law of the vote"]*3
    expected = TopicTree(2, min_df=1).fit(texts).labels_.tolist()
    table = pa.table({"text": texts})
    for column in (table["text"], table["text"].combine_chunks()): assert TopicTree(2, min_df=1).fit(column).labels_.tolist() == expected
    with pytest.raises(ValueError, match="columns 'text'"): TopicTree(2).fit(table)
