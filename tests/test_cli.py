"The nmf2 command from end to end"
import argparse
import ast
import csv
import importlib
import inspect
import io
import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import numpy as np
import pytest

from programs import python
from nmf2.tree import in_table
from nmf2 import cli
from nmf2.cli import FILES, main
from nmf2.compiling import say_if_compiling
from nmf2.formats import as_cell

ROOT = Path(__file__).resolve().parent.parent
ENV = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
SPORT = ["the striker scored a late goal", "a goal and a red card in the match", "the coach praised the striker",
         "match lost after a late red card", "the striker missed the match", "coach and striker after the goal"]
GARDEN = ["sow the beans in warm soil", "water the tomato and the beans", "warm soil for the tomato",
          "prune the roses and water the soil", "roses need water", "tomato and beans need soil"]
SMALL = ["--leaves", "2", "--min-df", "1", "--max-df", "1.0"]
PUBLISHED = ["--method", "hiernmf2"]

@pytest.fixture
def letters(tmp_path, monkeypatch):
    "A folder of twelve letters in two sub-folders, and the folder above it as the current one"
    for name, texts in [("sport", SPORT), ("garden", GARDEN)]:
        (tmp_path/"letters"/name).mkdir(parents=True)
        for i, text in enumerate(texts): (tmp_path/"letters"/name/f"{i}.txt").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path/"letters"

def rows(path):
    with open(path, newline="", encoding="utf-8") as fh: return list(csv.DictReader(fh))

def command(*argv, **options):
    "Run nmf2 as a process of its own"
    return subprocess.run([*python(), "-m", "nmf2", *map(str, argv)], capture_output=True, text=True, encoding="utf-8",
                          env=ENV, **options)

@pytest.fixture(autouse=True)
def nobody_waits(monkeypatch):
    "What is compiled for the first time isn't mentioned on stderr, however long it takes"
    monkeypatch.setattr(say_if_compiling.__wrapped__, "__defaults__", (3600.,))

def hidden(folder): return [p.name for p in Path(folder).iterdir() if p.name.startswith(".")]

# ---- it does what it says

@pytest.mark.slow
def test_a_folder_of_texts(letters, capsys):
    assert main(["cluster", "letters", *SMALL]) == 0
    printed = capsys.readouterr()
    out = letters.parent/"nmf2-results"/"letters"
    assert {p.name for p in out.iterdir()} == set(FILES) and not hidden(out.parent)
    for word in ("striker", "soil", "12 documents", "NMI to the labels: leaves 1.00\n",
                 str(Path("nmf2-results")/"letters"), *FILES): assert word in printed.out
    took = r"reading \d+\.\d s, counting \d+\.\d s, weighting \d+\.\d s, growing \d+\.\d s, writing \d+\.\d s\n"
    assert "Reading" in printed.err and re.search(took, printed.err)
    report = (out/"report.txt").read_text()
    assert report.startswith("letters: 12 documents, ") and "Kept " in report and re.search(took + "$", report)
    found = rows(out/"assignments.csv")
    assert len(found) == 12 and {r["id"] for r in found} >= {"sport/0.txt", "garden/5.txt"}
    for r in found: assert r["leaf"] in ("root/0", "root/1") and r["title"] and r["label_1"] == r["id"].split("/")[0]
    assert len({(r["label_1"], r["leaf"]) for r in found}) == 2
    nodes = rows(out/"topics.csv")
    assert [r["node"] for r in nodes] == ["root", "root/0", "root/1"] and [int(r["size"]) for r in nodes] == [12, 6, 6]
    assert json.loads((out/"tree.json").read_text(encoding="utf-8"))
    assert (out/"tree.html").read_text(encoding="utf-8").lstrip().startswith("<!")

@pytest.mark.parametrize("method", ["topictree", "hiernmf2"])
def test_tables_agree_with_each_other(tmp_path, capsys, method):
    from nmf2.data import planted_tree
    corpus = planted_tree((3, 3), n_docs=300)
    np.savez(tmp_path/"planted.npz", X=corpus.X.toarray(), vocab=corpus.vocab.astype(str))
    assert main(["cluster", str(tmp_path/"planted.npz"), "--leaves", "9", "--out", str(tmp_path/"out"), "--quiet", "--method", method]) == 0
    docs, nodes = rows(tmp_path/"out"/"assignments.csv"), rows(tmp_path/"out"/"topics.csv")
    leaves = {r["node"]: r for r in nodes if r["leaf_number"]}
    assert len(docs) == 300 and [int(r["leaf_number"]) for r in leaves.values()] == list(range(len(leaves)))
    for id, leaf in leaves.items():
        mine = [d for d in docs if d["leaf"] == id]
        assert len(mine) == int(leaf["size"])
        assert {d["leaf_number"] for d in mine} <= {leaf["leaf_number"]} and {d["terms"] for d in mine} <= {leaf["terms"]}
        assert {d["title"] for d in mine} <= {leaf["title"]}
        if method == "topictree": continue
        flat = [d for d in docs if d["flat_topic"] == leaf["leaf_number"]]
        assert len(flat) == int(leaf["in_flat_topic"]) and {d["flat_terms"] for d in flat} <= {leaf["flat_terms"]}
    assert ("flat_topic" in docs[0]) == (method == "hiernmf2") == ("in_flat_topic" in nodes[0])
    outliers = [d for d in docs if d["leaf_number"] == "-1"]
    assert all(d["leaf"] == d["title"] == d["terms"] == "" and int(d.get("flat_topic", 0)) >= 0 for d in outliers)
    assert len(outliers) == sum(int(r["outliers"]) for r in nodes)
    assert capsys.readouterr().err == ""

@pytest.mark.parametrize("method", ["topictree", "hiernmf2"])
def test_levels_are_those_of_the_outline_the_page_and_the_tables(tmp_path, capsys, method):
    from nmf2.data import planted_tree
    corpus = planted_tree((3, 3), n_docs=300)
    np.savez(tmp_path/"planted.npz", X=corpus.X.toarray(), vocab=corpus.vocab.astype(str))
    assert main(["cluster", str(tmp_path/"planted.npz"), "--levels", "9,3", "--out", str(tmp_path/"out"), "--quiet", "--method", method]) == 0
    outline = capsys.readouterr().out.split("\n\n")[0].splitlines()
    tree = json.loads((tmp_path/"out"/"tree.json").read_text(encoding="utf-8"))
    assert tree["levels"] == [3, 9] and tree["n_leaves"] == 9 and '"levels":[3,9]' in (tmp_path/"out"/"tree.html").read_text(encoding="utf-8")
    docs, nodes = rows(tmp_path/"out"/"assignments.csv"), {r["node"]: r for r in rows(tmp_path/"out"/"topics.csv")}
    top = {id for id, r in nodes.items() if r["level"] == "3"}
    assert len(top) == 3 and len(outline) == 1 + len([r for r in nodes.values() if r["level"]])
    for r in nodes.values(): assert r["level"] == ("3" if r["node"] in top else "9" if r["leaf_number"] else "")
    for d in docs:
        if d["leaf"]: assert d["title_9"] == d["title"] and d["title_3"] == nodes[next(id for id in top if d["leaf"].startswith(id))]["title"]
        else: assert d["title_3"] == d["title_9"] == ""

def planted(tmp_path):
    from nmf2.data import planted_tree
    corpus = planted_tree((3, 3), n_docs=300, random_state=1)
    np.savez(tmp_path/"planted.npz", X=corpus.X.toarray(), vocab=corpus.vocab.astype(str))
    return str(tmp_path/"planted.npz")

def test_number_of_topics_is_found_out_unless_somebody_says_one(tmp_path, capsys):
    from nmf2 import TopicTree
    assert main(["cluster", planted(tmp_path), "--out", str(tmp_path/"a"), "--quiet"]) == 0
    out, why = capsys.readouterr().out, "9 topics: their weakest split gains"
    assert out.count(why) == 1 and why in (tmp_path/"a"/"report.txt").read_text(encoding="utf-8")
    model = TopicTree.load(tmp_path/"a"/"topics.nmf2")
    assert model.n_topics == "auto" and model.n_topics_ == model.choice_.n_topics == 9
    assert str(model.choice_) in " ".join(out.split())
    assert main(["cluster", planted(tmp_path), "--out", str(tmp_path/"b"), "--quiet", "--leaves", "4"]) == 0
    assert "weakest split" not in capsys.readouterr().out and TopicTree.load(tmp_path/"b"/"topics.nmf2").choice_ is None

def test_it_is_found_out_in_partitions_too(tmp_path, capsys):
    texts = [f"{w} {w}s of {w} {i % 7}" for i, w in enumerate(["apple", "orbit", "violin"]*40)]
    (tmp_path/"lines.jsonl").write_text("\n".join(json.dumps(dict(text=text)) for text in texts))
    for how in ([], ["--memory", "1GB"]):
        assert main(["cluster", str(tmp_path/"lines.jsonl"), "--out", str(tmp_path/f"o{len(how)}"), "--quiet", *how]) == 0
        out, report = capsys.readouterr().out, (tmp_path/f"o{len(how)}"/"report.txt").read_text(encoding="utf-8")
        assert "\n3 topics: " in out and "another number: --leaves N" in report

def test_few_documents_are_one_topic(letters, capsys):
    for name in ("3.txt", "4.txt", "5.txt"):
        for kind in ("sport", "garden"): (letters/kind/name).unlink()
    assert main(["cluster", "letters", "--min-df", "1", "--max-df", "1.0", "--support"]) == 0
    assert "1 topic: with fewer than ten documents it can't be told" in capsys.readouterr().out

@pytest.mark.slow
def test_support_is_in_all_files(tmp_path, capsys):
    from nmf2 import TopicTree
    assert main(["cluster", planted(tmp_path), "--out", str(tmp_path/"a"), "--quiet", "--leaves", "9", "--support"]) == 0
    assert "how well topics are found again" in capsys.readouterr().out.splitlines()[0]
    found = TopicTree.load(tmp_path/"a"/"topics.nmf2").support_
    nodes, docs = rows(tmp_path/"a"/"topics.csv"), rows(tmp_path/"a"/"assignments.csv")
    assert len(found.runs) == 30 and all(float(r["support"]) == round(found[r["node"].removeprefix("root").removeprefix("/")], 3) for r in nodes)
    assert all(float(r["stays"]) == round(share, 3) for r, share in zip(docs, found.docs))
    tree = json.loads((tmp_path/"a"/"tree.json").read_text(encoding="utf-8"))
    assert all(node["support"] == found[node["id"]] for node in tree["nodes"])
    assert '"weak":0.6' in (tmp_path/"a"/"tree.html").read_text(encoding="utf-8")
    assert main(["show", str(tmp_path/"a")]) == 0 and "%" in capsys.readouterr().out

def test_support_of_too_few_documents_is_left_out(letters, capsys):
    assert main(["cluster", "letters", "--min-df", "1", "--max-df", "1.0", "--leaves", "7", "--support"]) == 0
    printed = capsys.readouterr()
    assert "note: --support can't tell anything of 7 topics in 12 documents" in printed.err and "found again" not in printed.out

@pytest.mark.parametrize("options, said", [
    (["--levels", "6,x"], "--levels must be whole numbers with commas between, such as 6,20, got '6,x'"),
    (["--levels", ""], "--levels must be whole numbers"), (["--levels", "1,6"], "--levels must be a whole number of at least 2, got 1"),
    (["--levels", "6,24", "--leaves", "20"], "--levels must be at most 20, the topics there will be, got 24: ask for more with --leaves 24")])
def test_levels_that_cannot_be(letters, capsys, options, said):
    assert main(["cluster", "letters", *options]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1 and not (letters.parent/"nmf2-results").exists()

def test_running_twice_gives_the_same_files(letters, capsys):
    for out in ("a", "b"): assert main(["cluster", "letters", "--out", out, *SMALL]) == 0
    for name in FILES:
        first, second = (Path(out, name).read_bytes() for out in "ab")
        if name == "report.txt": first, second = (re.sub(rb"\d+\.\d s\b", b"", text) for text in (first, second))   # the seconds it took
        assert first == second

@pytest.mark.slow
def test_demo(tmp_path):
    out = command("demo", "--leaves", "5", cwd=tmp_path)
    assert out.returncode == 0, out.stderr
    assert "5 topics" in out.stdout and "NMI to the labels of level 2" in out.stdout and "100%" in out.stderr
    assert {p.name for p in (tmp_path/"nmf2-results"/"demo").iterdir()} == set(FILES)
    before = (tmp_path/"nmf2-results"/"demo"/"topics.csv").stat().st_mtime_ns
    again = command("demo", "--leaves", "6", "--quiet", cwd=tmp_path)
    assert again.returncode == 0 and again.stderr == "" and "6 topics" in again.stdout
    assert (tmp_path/"nmf2-results"/"demo"/"topics.csv").stat().st_mtime_ns > before

@pytest.mark.parametrize("weights", ["ncut", "tfidf", "none"])
def test_json_lines_with_every_weighting(tmp_path, monkeypatch, capsys, weights):
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps(dict(body=t, topic=["a"])) for t in SPORT + GARDEN]
    Path("mail.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert main(["cluster", "mail.jsonl", "--read", "text_field=body", "--read", "label_field=topic", "--weights", weights, *SMALL]) == 0
    assert Path("nmf2-results", "mail", "tree.html").exists()

def test_help_version_and_nothing(capsys):
    assert main(["--help"]) == 0 and "examples:" in capsys.readouterr().out
    assert main(["cluster", "--help"]) == 0 and "--leaves" in capsys.readouterr().out
    assert main(["--version"]) == 0 and re.match(r"nmf2 \d+\.\d+", capsys.readouterr().out)
    assert main([]) == 0 and "commands:" in capsys.readouterr().out

def test_help_is_quick():
    out = subprocess.run([sys.executable, "-c", "import sys, nmf2.cli; nmf2.cli.main(['--help']); "
                          "sys.exit(len({'sklearn', 'numba', 'matplotlib'} & set(sys.modules)))"], env=ENV, capture_output=True)
    assert out.returncode == 0

# ---- texts that are not what they seem

EVIL = ["=HYPERLINK(\"x\")", "+1", "-1", "@SUM(A1)", "\t=1", "'quoted'", "\uff1d1", "two\nlines", "a,b", '"', "<script>alert(1)</script>", ""]

def test_tables_can_be_read_back(tmp_path):
    from nmf2.formats import write_table
    write_table(tmp_path/"t.csv", ["text", "number"], [(t, -i) for i, t in enumerate(EVIL)])
    found = rows(tmp_path/"t.csv")
    assert [re.sub("^'", "", r["text"]) for r in found] == EVIL
    assert [int(r["number"]) for r in found] == [-i for i in range(len(EVIL))]
    assert not [r["text"] for r in found if r["text"][:1] in ("=", "+", "-", "@", "\t")]
    assert as_cell(-1) == -1 and as_cell(np.int64(-3)) == -3

def test_markup_and_formulas_stay_text(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    texts = [f"{t} <script>alert('{i}')</script> </details> &lt; ]]>" for i, t in enumerate(SPORT + GARDEN)]
    ids = [f"=cmd|'/c calc'!A{i}" if i % 2 else f"<img src=x onerror=alert({i})>" for i in range(12)]
    Path("evil.jsonl").write_text("\n".join(json.dumps(dict(id=i, text=t, labels=["@x", "=y"])) for i, t in zip(ids, texts)))
    assert main(["cluster", "evil.jsonl", "--read", "label_field=labels", "--quiet", *SMALL]) == 0
    out = Path("nmf2-results", "evil")
    page = (out/"tree.html").read_text(encoding="utf-8")
    assert "<script>alert(" not in page and "<img src=x" not in page
    found = rows(out/"assignments.csv")
    assert [r["id"].removeprefix("'") for r in found] == ids
    assert not [v for r in found for v in r.values() if v[:1] in ("=", "+", "@", "\t")]

# ---- what can't be done

@pytest.mark.parametrize("argv, why", [
    (["cluster", "leters"], "leters: no such file or folder"),
    (["cluster", "/nowhere/at/all"], "/nowhere/at/all: no such file or folder"),
    (["cluster", "/nowhere"], "/nowhere: no such file or folder"),
    (["cluster", "../nowhere"], "../nowhere: no such file or folder"),
    (["cluster", "letters", "--leaves", "1"], "--leaves must be"),
    (["cluster", "letters", "--seed", "-1"], "--seed must be"),
    (["cluster", "letters", "--leaves", "many"], "--leaves must be a whole number or auto, got 'many'"),
    (["cluster", "letters", "--min-df", "500"], "Lower --min-df"),
    (["cluster", "letters", "--format", "word"], "format must be one of"),
    (["cluster", "letters", "--read", "colour=red"], "knows no --read colour=..., only --read pattern=..., --encoding"),
    (["cluster", "letters", "--read", "colour"], "not NAME=VALUE"),
    *((["cluster", "letters", "--read", f"{name}=x"], "no option of a reader") for name in ("path", "format", "limits", "verbose")),
    (["cluster", "letters", "--read", "a b=x"], "knows no a b, only --read pattern=..., --encoding"),
    (["cluster", "one.jsonl", "--format", "svmlight", "--read", "n_terms=x"], "--read n_terms must be a whole number"),
    (["cluster", "one.jsonl", "--format", "svmlight", "--read", "n_terms=0"], "--read n_terms must be a whole number of at least 1"),
    (["cluster", "one.jsonl", "--format", "svmlight", "--read", "zero_based=x"], "--read zero_based must be true or false"),
    (["cluster", ""], "PATH is empty"), (["cluster", "letters", "--stop-words", ""], "auto, none, a file of words, or one of 61 languages"),
    (["cluster", "letters", "--leaves", "1"*5000], "--leaves must be a whole number"), (["cluster", os.devnull], "the file is empty"),
    (["cluster", "letters", "--ngrams", "99"], "none has 99 words in a row"),
    (["cluster", "letters", "--min-df", "few"], "neither a whole number nor a share"),
    (["cluster", "letters", "--max-df", "0"], "--max-df must be a whole number of documents, at least 1, or a share of them from 0.0 to 1.0, got 0"),
    (["cluster", "letters", "--min-df=-1"], "from 0.0 to 1.0, got -1"),
    (["cluster", "letters", "--min-df", "1.5"], "--min-df must be a whole number of documents, at least 1, or a share of them from 0.0 to 1.0, got 1.5"),
    (["cluster", "letters", "-o", "letters/topics"], "lies in letters"),
    (["cluster", "."], "lies in ."),
    (["cluster", "letters", "-o", "full"], "has files in it"),
    (["cluster", "letters", "-o", "one.jsonl"], "is a file"),
    (["cluster", "letters", "-o", "one.jsonl/x"], "can't write"),
    (["cluster", "none.jsonl"], "no such file or folder"),
    (["cluster", "empty"], "empty"),
    (["cluster", "one.jsonl", "--min-df", "1", "--max-df", "1.0"], ""),
    (["cluster", "weights.npz"], "--weights none"),
    (["cluster", "leters"], "Always there: library-docs"),
    (["cluster", "letters", "--jobs", "0"], "--jobs must be"),
    (["cluster", "letters", "--read", "=red"], "not NAME=VALUE"),
    (["cluster"], "required: PATH"),
    (["clusterr"], "no command 'clusterr', only demo, cluster, show, predict, explore, export, grow, update; did you mean cluster?"),
    (["letters"], "to cluster what is there: nmf2 cluster letters"),
    (["cluster", "letters", "--topics", "5"], "no option --topics; did you mean --leaves?"),
    (["cluster", "letters", "-k", "5"], "no option -k; did you mean --leaves?"),
    (["cluster", "letters", "nowhere.txt"], "nowhere.txt: there is no such file or folder"),
    (["cluster", "letters", "-"], "- is standard input, which can't be read along with other paths"),
    (["cluster", "letters", ""], "one of the paths is empty; give files or folders"),
    (["cluster", "letters", "table.csv"], "letters is text, table.csv is csv: only what is of one kind can be put together"),
    (["cluster", "table.csv", "--jobs", "1", "letters"], "too many arguments, 'letters': several PATHs stand side by side"),
    (["cluster", "table.csv", "--text-field", "a", "--columns", "a", "b"], "too many arguments, 'b': "),
    (["cluster", "letters", "--tau", "inf"], "--tau must be a number of at least 0 and at most 1e+06, got inf"),
    (["cluster", "letters", "--lables", "x"], "no option --lables; did you mean --label-field?"),
    (["cluster", "letters", "--weights", "tf"], "--weights must be one of ncut, tfidf, none, got 'tf'"),
    (["cluster", "letters", "--text-field", "body"], "knows no --text-field, only --read pattern=..., --encoding"),
    (["cluster", "letters", "--leaves", "-3"], "--leaves must be a whole number of at least 2, got -3"),
    (["cluster", "letters", "--leaves", "2.5"], "--leaves must be a whole number or auto, got '2.5'"),
    (["cluster", "table.csv"], "Say it with --text-field ...; there are: 'a', 'b'"),
    (["cluster", "table.csv", "--text-field", "c"], "asked for by --text-field"),
    (["cluster", "table.csv", "--text-field", "a", "--id-field", "b"], "pass --id-field '' to number the documents"),
    (["cluster", "cut.csv"], "pass --quote ''"),
    (["cluster", "square.mtx", "--format", "word"], "--format must be one of folder, "),
    (["cluster", "odd.bin"], "Say it with --format ..., one of folder, "),
    (["cluster", "one.jsonl"], "holds one document only"),
    (["cluster", "letters", "--stop-words", "words.txt"], "words.txt: no such file"),
    (["cluster", "letters", "--stop-words", "klingon"], "--stop-words must be auto, none, a file of words, or one of 61 languages such as"),
    (["cluster", "chinese.txt"], "count pairs of letters with --analyzer char and --ngrams 2 (nmf2 predict can't ask such a tree)"),
    (["cluster", "numbers.txt"], "Change --token-pattern ('\\S+' takes all that stands between spaces), or set --stop-words none."),
    (["cluster", "same.txt", "--max-df", "1.0"], "--weights none"),
])
def test_errors_take_one_line_and_leave_nothing(letters, capsys, argv, why):
    Path("empty").mkdir()
    Path("full").mkdir()
    Path("full", "notes.txt").write_text("mine")
    Path("one.jsonl").write_text(json.dumps(dict(text=SPORT[0])))
    np.savez("weights.npz", X=np.random.default_rng(0).random((10, 8)))
    for name, text in [("table.csv", "a,b\nsome text,x\nmore text,x\n"), ("cut.csv", 'text\n"a"b\n'), ("same.txt", "a goal\n"*5),
                       ("numbers.txt", "1 2\n3 4\n"), ("chinese.txt", "我们今天下午去看足球比赛\n昨天的足球比赛很精彩\n")]:
        Path(name).write_text(text, encoding="utf-8")
    Path("odd.bin").write_bytes(b"\0\1\2")
    before = sorted(letters.parent.rglob("*"))
    assert main([*argv, "--quiet"]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and why in printed.err and printed.err.startswith("nmf2: error: ") and printed.err.count("\n") == 1
    assert sorted(letters.parent.rglob("*")) == before

def test_delimiters_and_lists_of_fields(letters, capsys):
    table = "\n".join(f"sport,ball,{t}" for t in SPORT) + "\n" + "\n".join(f"garden,soil,{t.replace(',', '')}" for t in GARDEN)
    Path("table.csv").write_text("a,b,text\n" + table)
    Path("table.tsv").write_text("a\tb\ttext\n" + table.replace(",", "\t"))
    for name, delimiter in [("table.csv", ","), ("table.tsv", r"\t")]:
        given = ["--read", f"delimiter={delimiter}", "--read", "label_field=a,b", "--read", "text_field=text"]
        assert main(["cluster", name, *given, *SMALL, "--force", "-o", "out"]) == 0
        assert {(r["label_1"], r["label_2"]) for r in rows("out/assignments.csv")} == {("sport", "ball"), ("garden", "soil")}

def test_one_is_no_plural(letters, capsys):
    Path("one.jsonl").write_text(json.dumps(dict(text=SPORT[0])))
    assert main(["cluster", "one.jsonl", "--min-df", "1", "--max-df", "1.0"]) == 2
    err = capsys.readouterr().err
    assert "1 document; text: field 'text'; ids: row numbers\n" in err and "1 documents" not in err

def test_empty_documents_are_reported(letters, capsys):
    (letters/"sport"/"empty.txt").write_text("")
    (letters/"sport"/"the.txt").write_text("the and of")
    assert main(["cluster", "letters", *SMALL, *PUBLISHED]) == 0
    printed = capsys.readouterr()
    assert "2 documents fit no leaf: they have none of the terms\n" in printed.out and "note: 2 of 14 documents have no terms" in printed.err
    found = rows(Path("nmf2-results", "letters", "assignments.csv"))
    assert main(["cluster", "letters", *SMALL, "--force"]) == 0
    assert [r["leaf"] for r in rows(Path("nmf2-results", "letters", "assignments.csv"))].count("") == 2
    assert len(found) == 14 and sum(r["leaf"] == r["terms"] == r["flat_terms"] == "" and r["flat_topic"] == "-1" for r in found) == 2

def test_more_leaves_than_can_be_had(letters, capsys):
    assert main(["cluster", "letters", "--leaves", "200", "--min-df", "1", "--max-df", "1.0"]) == 0
    printed = capsys.readouterr()
    assert "note: --leaves 200 can't be had" in printed.err and int(re.search(r"(\d+) topics", printed.out)[1]) <= 12

@pytest.mark.parametrize("more", [[], ["--memory", "1GB"], PUBLISHED], ids=["memory", "partitions", "published"])
def test_fewer_topics_than_were_asked_for_are_told_quietly_too(letters, capsys, more):
    Path("lines.jsonl").write_text("".join(json.dumps(dict(text=text)) + "\n" for text in ["", *SPORT, *GARDEN]))
    for quiet in ([], ["--quiet"]):
        assert main(["cluster", "lines.jsonl", "--leaves", "200", "--min-df", "1", "--max-df", "1.0", "--force", *quiet, *more]) == 0
        notes = [line for line in capsys.readouterr().err.splitlines() if "can't be had" in line]
        assert len(notes) == 1 and notes[0].startswith("note: --leaves 200 can't be had: ")

def test_fewer_documents_than_topics_are_told_of_before_the_tree_grows(letters, capsys):
    for more in ([], ["--levels", "2,200"]):
        assert main(["cluster", "letters", *(more or ["--leaves", "200"]), "--min-df", "1", "--max-df", "1.0", "--force"]) == 0
        said = capsys.readouterr().err
        note = "note: --leaves 200 can't be had: there are only 12 documents with words, so there will be 12 topics at most\n"
        assert said.count(note) == 1 and said.index(note) < said.index("Growing the tree")

def test_a_single_document_in_partitions_is_an_error(letters, capsys):
    Path("one.jsonl").write_text(json.dumps(dict(text=SPORT[0])))
    assert main(["cluster", "one.jsonl", "--leaves", "3", "--memory", "1GB", "--min-df", "1", "--max-df", "1.0"]) == 2
    assert "there is only one document with words: a tree takes two or more" in capsys.readouterr().err

# ---- the folder for the results

def test_force_replaces_its_own_files_only(letters, capsys):
    assert main(["cluster", "letters", "--out", "out", *SMALL]) == 0
    Path("out", "notes.txt").write_text("mine")
    Path("out", "topics.csv").write_text("old")
    assert main(["cluster", "letters", "--out", "out", *SMALL]) == 2
    assert Path("out", "topics.csv").read_text() == "old"
    assert main(["cluster", "letters", "--out", "out", "--force", *SMALL]) == 0
    assert Path("out", "notes.txt").read_text() == "mine" and Path("out", "topics.csv").read_text() != "old"
    assert not hidden(".")

def test_an_empty_folder_and_folders_above_are_fine(letters, capsys):
    Path("out").mkdir()
    assert main(["cluster", "letters", "--out", "out", *SMALL]) == 0
    assert main(["cluster", "letters", "--out", "a/b/c", *SMALL]) == 0
    assert set(FILES) == {p.name for p in Path("a/b/c").iterdir()} and not hidden(".")

def test_failure_while_writing_leaves_nothing(letters, monkeypatch, capsys):
    from nmf2.tree import Tree
    def full(self, *args, **options): raise OSError(28, "No space left on device")
    monkeypatch.setattr(Tree, "to_html", full)
    assert main(["cluster", "letters", "--out", "out", *SMALL]) == 2
    assert "No space left" in capsys.readouterr().err and not Path("out").exists() and not hidden(".")

@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_nobody_may_write_in(letters, capsys):
    Path("locked").mkdir(mode=0o500)
    assert main(["cluster", "letters", "-o", "locked/out", *SMALL]) == 2
    assert "can't write in" in capsys.readouterr().err

def test_two_commands_for_one_folder(letters, capsys):
    from nmf2.writing import whole_folder
    Path("out").mkdir()
    for out in ("out", "new"):
        with whole_folder(out) as part:
            assert main(["cluster", "letters", "-o", out, *SMALL]) == 2
            assert "another run is writing there" in capsys.readouterr().err
            (part/"mine").write_text("mine")
        assert [p.name for p in Path(out).iterdir()] == ["mine"] and not hidden(".")

def test_folders_above_go_again(letters, capsys):
    assert main(["cluster", "letters", "-o", "a/b/c", "--min-df", "500", "--quiet"]) == 2
    assert sorted(p.name for p in Path(".").iterdir()) == ["letters"]

# ---- signals and pipes

HANGUP = getattr(signal, "SIGHUP", signal.SIGTERM)

@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
@pytest.mark.parametrize("when, number", [("Reading", signal.SIGINT), ("Counting", signal.SIGTERM), ("Growing", HANGUP)])
def test_it_is_stopped(tmp_path, when, number):
    begin = [sys.executable] if when == "Growing" else python()                          # one is no copy
    p = subprocess.Popen([*begin, "-u", "-m", "nmf2", "demo", "--leaves", "500"], env=ENV, cwd=tmp_path,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         preexec_fn=lambda: [signal.signal(n, signal.SIG_DFL) for n in (signal.SIGINT, number)])     # which shells set aside for background jobs
    try:
        while when not in (line := p.stderr.readline()): assert line, "ended before it was stopped"
        time.sleep(0.3)
        p.send_signal(number)
        out, err = p.communicate(timeout=300)
    finally: p.kill()
    assert p.returncode == 128 + number and out == "" and list(tmp_path.iterdir()) == []
    assert err.rstrip().endswith("nmf2: stopped; nothing was written") and "Traceback" not in err

@pytest.mark.parametrize("words, status, said", [("--version", 0, "nmf2 "), ("clusterr", 2, "did you mean cluster?")])
def test_the_module_is_the_command_too(words, status, said):
    ended = subprocess.run([sys.executable, "-m", "nmf2.cli", words], env=ENV, capture_output=True, text=True)
    assert ended.returncode == status and said in ended.stdout + ended.stderr and "Traceback" not in ended.stderr

@pytest.mark.slow
def test_ctrl_c_while_modules_are_loaded():
    code = """if True:
        import signal, sys
        class Pressing:
            def find_spec(name, *_):
                if name == "numpy": signal.raise_signal(signal.SIGINT)
        sys.meta_path.insert(0, Pressing)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from nmf2.__main__ import main
        sys.exit(main())"""
    ended = subprocess.run([sys.executable, "-c", code], env=ENV, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")

@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
@pytest.mark.parametrize("when, number, status", [("loading", signal.SIGTERM, 143), ("loading", signal.SIGINT, 130), ("done", signal.SIGTERM, 0)])
def test_signals_before_and_after(tmp_path, when, number, status):
    code = f"""if True:
        import atexit, signal, sys
        class Pressing:
            def find_spec(name, *_):
                if name == "numpy": signal.raise_signal({int(number)})
        if "{when}" == "loading": sys.meta_path.insert(0, Pressing)
        else: atexit.register(lambda: signal.raise_signal({int(number)}))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from nmf2.__main__ import main
        sys.exit(main())"""
    ended = subprocess.run([sys.executable, "-c", code], env=ENV, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (status, "")

@pytest.mark.slow
def test_no_module_is_loaded_for_nothing(tmp_path):
    (tmp_path/"few.txt").write_text("goal team hockey\nvote law court\nbread flour oven\n"*9, encoding="utf-8")
    code = """if True:
        import sys
        from nmf2.__main__ import main
        sys.argv[1:] = ["cluster", "few.txt", "--leaves", "2", "--quiet"]
        try: main()
        except SystemExit as e: status = e.code
        unwanted = "pandas._libs", "scipy.stats._stats_py", "scipy.interpolate._interpolate", "numpy.f2py", "matplotlib", "distributed"
        print(status, [name for name in unwanted if name in sys.modules])"""
    ended = subprocess.run([sys.executable, "-c", code], env=ENV, capture_output=True, text=True, cwd=tmp_path)
    assert ended.stdout.splitlines()[-1] == "0 []", ended.stderr

@pytest.mark.slow
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("asked, status", [("--version", 0), ("--no-such-option", 2)])
def test_the_end_comes_after_all_is_tidied_up(tmp_path, asked, status, before):
    code = f"""if True:
        import atexit, os, sys, tempfile
        from nmf2.__main__ import main
        if {before}: atexit.register(print, "and said", end="")
        class Loading:                                       # is asked when the command is at work
            def find_spec(name, *_):
                if name != "numpy" or {before}: return
                atexit.register(print, "and said", end="")
                sys.folder = tempfile.TemporaryDirectory(dir={str(tmp_path)!r})
        sys.meta_path.insert(0, Loading)
        class Last:
            def __del__(self, write=os.write): write(1, b"memory was given back piece by piece")
        last = Last()
        sys.argv = ["nmf2", {asked!r}]
        sys.exit(main())"""
    ended = subprocess.run([sys.executable, "-c", code], env=ENV, capture_output=True, text=True)
    assert ended.returncode == status and "and said" in ended.stdout and not list(tmp_path.iterdir())
    assert ("piece by piece" in ended.stdout) == before

def test_a_level_without_labels(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [dict(text=text, label=["", kind]) for text, kind in [("goal team hockey", "sport"), ("vote law court", "law")]*9]
    Path("few.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert main(["cluster", "few.jsonl", "--leaves", "2", "--min-df", "1", "--max-df", "1.0"]) == 0
    said = capsys.readouterr().out
    assert "level 1" not in said and "NMI to the labels of level 2: leaves 1.00" in said

def test_labels_with_which_topics_cannot_be_compared(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    kinds = [("goal team hockey", "sport"), ("vote law court", "law")]*9
    rows = [dict(text=text, label=[f"letter {i}", "mail", kind if i < 4 else "", kind if i < 16 else ""]) for i, (text, kind) in enumerate(kinds)]
    Path("few.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert main(["cluster", "few.jsonl", "--leaves", "2", "--min-df", "1", "--max-df", "1.0", "-o", "out"]) == 0
    said = capsys.readouterr().out
    for text in (said, Path("out", "report.txt").read_text(encoding="utf-8")):
        assert "NMI to the labels of level 1: none, as 18 documents have 18 different ones\n" in text and "of level 2: none, as all have the same\n" in text
        assert "NMI to the labels of level 3: leaves 1.00 (4 of 18 documents)\nNMI to the labels of level 4: leaves 1.00\n" in text

def test_without_distributed_a_scheduler_is_refused_in_a_line(letters, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)        # an import that fails, as where it isn't installed
    monkeypatch.setitem(sys.modules, "dask", None)
    assert main(["cluster", "letters", "--scheduler", "tcp://127.0.0.1:9", "--quiet"]) == 2
    assert capsys.readouterr().err == "nmf2: error: Dask needs the package distributed: pip install 'nmf2[dask]' installs it\n"
    assert not Path("nmf2-results").exists()

def test_dask_says_nothing_beside_the_error(letters, monkeypatch, capsys):
    "What it logs, with traces, when a cluster is gone"
    pytest.importorskip("distributed")
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    before = {name: logging.getLogger(name).level for name in names}
    def lost(address):
        logging.getLogger("distributed.client").error("a trace")
        raise ConnectionError("the cluster is gone")
    monkeypatch.setattr("nmf2.engines.Dask", lost)
    try: assert main(["cluster", "letters", "--scheduler", "tcp://127.0.0.1:9", "--quiet", *SMALL]) == 2
    finally:
        for name, level in before.items(): logging.getLogger(name).setLevel(level)
    assert capsys.readouterr().err == "nmf2: error: the cluster is gone\n"

@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_becomes_another_error(letters, monkeypatch, capsys, number):
    def join(*args, **options):
        try: signal.raise_signal(number)
        except KeyboardInterrupt: raise ImportError("initialization failed") from None       # as compiled modules do it
    monkeypatch.setattr(cli, "join", join)
    assert main(["cluster", "letters", "--quiet", *SMALL]) == 128 + number
    assert capsys.readouterr().err == "\nnmf2: stopped; nothing was written\n" and not Path("nmf2-results").exists()

@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("where", ["replace", "readable"])
def test_a_signal_when_all_is_done(asked, monkeypatch, capsys, number, where):
    from nmf2 import writing
    from nmf2.topictree import TopicTree
    replace, readable = os.replace, cli.readable
    def pressed(*args):
        (replace if where == "replace" else readable)(*args)
        if not any(str(arg).endswith(".nbc") for arg in args): signal.raise_signal(number)        # machine code may be kept first
    with monkeypatch.context() as patch:
        patch.setattr(*{"replace": (writing.os, "replace"), "readable": (cli, "readable")}[where], pressed)
        assert main(["update", str(OUT), "new.txt", "--documents", "letters", "--quiet"]) == 0
    assert f"stopped; the results are in {OUT/cli.MODEL}" in capsys.readouterr().err
    assert TopicTree.load(OUT/cli.MODEL).tree_.n_docs == 15

@pytest.mark.slow
def test_scratch_folders_are_gone_when_it_is_stopped(tmp_path):
    (tmp_path/"lines").mkdir()
    (tmp_path/"temporary").mkdir()
    (tmp_path/"lines"/"all.jsonl").write_text("\n".join(json.dumps(dict(text=text)) for text in SPORT + GARDEN))
    code = """if True:
        import signal, sys
        import nmf2.engines
        from nmf2.cli import main
        make = nmf2.engines.scratch_folder
        def stopped(engine):
            print(make(engine))
            signal.raise_signal(signal.SIGTERM)
        nmf2.engines.scratch_folder = stopped
        sys.exit(main("cluster lines --memory 1GB --leaves 2 --min-df 1".split()))"""
    ended = subprocess.run([sys.executable, "-c", code], env=ENV | dict(TMPDIR=str(tmp_path/"temporary")), cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 143 and "temporary" in ended.stdout and list((tmp_path/"temporary").iterdir()) == []
    assert "stopped; nothing was written" in ended.stderr and sorted(path.name for path in tmp_path.iterdir()) == ["lines", "temporary"]

@pytest.mark.parametrize("number, status", [(signal.SIGINT, 128 + signal.SIGINT), (signal.SIGTERM, 0), (HANGUP, 0)])
def test_a_signal_that_was_ignored_before(letters, monkeypatch, number, status):
    """Shells let programs in the background ignore Ctrl-C, and it stops them all the same; SIGTERM stays ignored, and so does SIGHUP, as behind nohup."""
    whole, handler = cli.join, signal.signal(number, signal.SIG_IGN)
    def join(*args, **options):
        signal.raise_signal(number)
        return whole(*args, **options)
    monkeypatch.setattr(cli, "join", join)
    try:
        assert main(["cluster", "letters", "--quiet", *SMALL]) == status
        assert signal.getsignal(number) is signal.SIG_IGN
    finally: signal.signal(number, handler)

@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_somebody_swallows(letters, monkeypatch, capsys, number):
    def join(*args, **options):
        try: signal.raise_signal(number)
        except KeyboardInterrupt: pass                     # as libraries may, deep inside
        return whole(*args, **options)
    whole, handler = cli.join, signal.getsignal(number)
    monkeypatch.setattr(cli, "join", join)
    assert main(["cluster", "letters", *SMALL]) == 128 + number
    assert "stopped; nothing was written" in capsys.readouterr().err and not Path("nmf2-results").exists()
    assert signal.getsignal(number) is handler
    monkeypatch.setattr(cli, "join", whole)
    assert main(["cluster", "letters", *SMALL]) == 0       # the next command begins anew

@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a Unix pipe")
def test_reader_that_stops_early(letters):
    pipe, end = os.pipe()
    os.close(pipe)
    done = subprocess.run([sys.executable, "-m", "nmf2", "cluster", "letters", *SMALL], env=ENV, stdout=end, stderr=subprocess.PIPE, text=True)
    os.close(end)
    assert done.returncode == 0 and "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr
    assert Path("nmf2-results", "letters", "tree.html").exists()

@pytest.mark.slow
def test_terminal_without_the_letters(letters):
    done = subprocess.run([*python(), "-m", "nmf2", "cluster", "letters", *SMALL], capture_output=True,
                          env={**ENV, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 0, done.stderr

@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs a Unix pipe")
def test_nobody_hears_how_far_we_are(letters):
    pipe, end = os.pipe()
    os.close(pipe)
    done = subprocess.run([*python(), "-m", "nmf2", "cluster", "letters", *SMALL], env=ENV, stderr=end, stdout=end)
    os.close(end)
    assert done.returncode == 0 and Path("nmf2-results", "letters", "tree.html").exists()

def test_closed_streams(letters, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["cluster", "letters", *SMALL]) == 0
    assert set(FILES) == {p.name for p in Path("nmf2-results", "letters").iterdir()}
    assert main(["cluster", "letters", *SMALL]) == 2

@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full device")
def test_a_tree_that_can_not_be_printed(letters, monkeypatch, capsys):
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert main(["cluster", "letters", "--quiet", *SMALL]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and "can't write to standard output" in err and "the results are in" in err
    assert Path("nmf2-results", "letters", "tree.html").exists()

@pytest.mark.parametrize("error, why", [
    (MemoryError(), "not enough memory"), (OSError(12, "Cannot allocate memory"), "not enough memory"), (RecursionError("maximum"), "nested too deeply"), (ValueError("two\nlines"), "two lines"),
    (UnicodeDecodeError("utf-8", b"x", 0, 1, "odd"), "can't decode"), (OSError(5, "Input/output error", "/dev/x"), "/dev/x: Input/output error"),
    (BrokenPipeError(32, "Broken pipe"), "Broken pipe"), (ValueError(), "ValueError")])
@pytest.mark.parametrize("where", ["count", "write_results"])
def test_whatever_goes_wrong_takes_one_line(letters, monkeypatch, capsys, error, why, where):
    def fail(*args, **options): raise error
    monkeypatch.setattr(cli, where, fail)
    assert main(["cluster", "letters", "--quiet", *SMALL]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith("nmf2: error: ") and printed.err.count("\n") == 1 and why in printed.err
    assert sorted(p.name for p in Path(".").iterdir()) == ["letters"]

# ---- options, not arguments

def messages(module):
    "The texts of a module's errors and warnings, what is put into them replaced by 1"
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if not isinstance(node, (ast.Raise, ast.Call, ast.Return)): continue
        for part in ast.walk(node):
            if isinstance(part, ast.JoinedStr):
                yield "".join(str(v.value) if isinstance(v, ast.Constant) else "1" for v in part.values)
            elif isinstance(part, ast.Constant) and isinstance(part.value, str) and " " in part.value: yield part.value

@pytest.mark.parametrize("name", ["formats", "data", "counting", "weighting", "hier", "flat"])
def test_every_message_about_an_argument_names_an_option(name):
    known = set(cli.OPTIONS) | cli.FOR_READERS
    n_changed = 0
    for message in set(messages(importlib.import_module(f"nmf2.{name}"))):
        for option in known:
            if not re.search(rf"(?<![\w'\"/.-]){option}=", message): continue
            spoken = cli.as_options(message)
            n_changed += 1
            assert f"--read {option}=" in spoken or not re.search(rf"(?<![\w'\"/.-]){option}=", spoken), (message, spoken)
    assert n_changed or name in ("flat",)

def test_options_that_messages_name_exist():
    p = cli.parser()
    cluster = next(a for a in p._actions if isinstance(a, argparse._SubParsersAction)).choices["cluster"]
    there = {option for action in cluster._actions for option in action.option_strings}
    assert set(cli.OPTIONS.values()) <= there and set(cli.ALSO_CALLED.values()) <= there
    assert not set(cli.ALSO_CALLED) & there
    for action in cluster._actions: assert action.help, action.dest

@pytest.mark.parametrize("python, command", [
    ("n_leaves=3 can't be had", "--leaves 3 can't be had"), ("raise trials=3 to go on", "raise --trials 3 to go on"),
    ("scores at least min_score=0.25; more", "scores at least --min-score 0.25; more"), ("set stop_words=None.", "set --stop-words none."),
    ("ngram_range=(1, 2), analyzer='char'", "--ngrams 1-2, --analyzer char"), ("stop_words='it\\'s'", "--stop-words 'it'\"'\"'s'"),
    ("a.csv: encoding must be one", "a.csv: --encoding must be one"), ("header=False for one without", "--no-header for one without"),
    ("pass limits=False to read it", "pass --no-limits to read it"), ("Say it with matrix=...; there are", "Say it with --read matrix=...; there are"),
    ("which format this is", "which format this is"), ("/a/min_df/min_df.csv", "/a/min_df/min_df.csv"), ("no field 'text_field'", "no field 'text_field'"),
    ("2 documents have no terms; their weights are all zero (rows 1, 2)", "2 documents have no terms; they are in no topic (rows 1, 2)"),
    ("1 document has no terms; its weights are all zero (row 1)", "1 document has no terms; it is in no topic (row 1)"), ("left out: stop_words=[...] takes a longer list of", "left out: --stop-words with a file of words takes a longer list of"), ("lower min_df", "lower --min-df"), ("(max_features)", "(--max-features)"), ("X must have entries", "the matrix must have entries")])
def test_words_of_the_command(python, command): assert cli.as_options(python) == command

def test_messages_about_a_cluster_are_for_those_who_type_commands():
    from nmf2 import engines
    said = [cli.as_options(message) for message in (engines.GONE, f"client has had no workers for 9 seconds: start some {engines.AGAIN}",
                                                    str(engines._killed(["count-2-a"], 4)), "client must have workers, and had none")]
    for words in said: assert not re.search("model|fit |client |checkpoint,? if one", words), words
    assert "The same command goes on from its --checkpoint, if it had one" in said[0] and "smaller with --memory" in said[2]

def test_notes_name_options(letters, capsys):
    (letters/"sport"/"latin.txt").write_bytes("die Gärten".encode("latin-1"))
    Path("mail.txt").write_bytes("die Gärten\n".encode("latin-1") + "\n".join(SPORT + GARDEN).encode())
    assert main(["cluster", "mail.txt", *SMALL]) == 0
    assert "pass --encoding ... if that is wrong" in capsys.readouterr().err
    assert main(["cluster", "letters", "--min-df", "1", "--max-df", "1.0", "--leaves", "200", "--trials", "1", *PUBLISHED]) == 0
    err = capsys.readouterr().err
    assert "note: --leaves 200 can't be had" in err and "n_clusters" not in err

def test_notes_say_what_helps_against_empty_documents(letters, capsys):
    Path("names.txt").write_text("\n".join([f"test_read_{i}" for i in range(30)] + SPORT + GARDEN))
    for method in ([], PUBLISHED):
        assert main(["cluster", "names.txt", *SMALL, *method, "--force"]) == 0
        err = capsys.readouterr().err
        assert "--token-pattern says what does: '[^\\W\\d_]{2,}' takes" in " ".join(err.split()) and "A lower" not in err

@pytest.mark.parametrize("wrong", ["--leaves 1", "--leaves x", "--seed -1", "--jobs 0", "--trials -1 --method hiernmf2", "--min-df 1.5", "--min-df 0", "--max-df 0",
                                   "--max-df 2", "--max-df 1", "--min-df 0.5 --max-df 0.1", "--max-features 0", "--min-df nan", "--ngrams 0",
                                   "--ngrams 3-2", "--token-pattern (", "--token-pattern (a)(b)", "--stop-words klingon", "--stop-words a/b.txt",
                                   "--min-score -1 --method hiernmf2", "--min-score x", "--tol 0 --method hiernmf2",
                                   "--max-iter 0 --method hiernmf2", "--encoding klingon", "--encoding rot13",
                                   "--delimiter ab", "--quote ab", "--read encoding=klingon", "--min-df=-1", "--init svdd", "--method nmf", "--trials 3", "--init svd",
                                   "--leaves auto --method hiernmf2", "--support --method hiernmf2"])
def test_refused_before_reading(letters, monkeypatch, capsys, wrong):
    import nmf2.data
    monkeypatch.setattr(nmf2.data, "read", lambda *args, **options: pytest.fail("read nevertheless"))
    assert main(["cluster", "letters", *wrong.split()]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("nmf2: error: ") and printed.err.count("\n") == 1 and wrong.split("=")[0].split()[0] in printed.err

# ---- options for reading and counting

def test_options_of_tables(letters, capsys):
    lines = [f"sport;{i};{t}" for i, t in enumerate(SPORT)] + [f"garden;{i + 6};{t}" for i, t in enumerate(GARDEN)]
    Path("t.csv").write_text("kind;key;words\n" + "\n".join(lines), encoding="utf-16")
    Path("bare.csv").write_text("\n".join(lines).replace(";", "\t").replace("the", '"the'))
    assert main(["cluster", "t.csv", "--text-field", "words", "--label-field", "kind", "--id-field", "key", "--delimiter", ";",
                 "--encoding", "utf-16", *SMALL]) == 0
    assert {(r["id"], r["label_1"]) for r in rows("nmf2-results/t/assignments.csv")} >= {("0", "sport"), ("11", "garden")}
    assert main(["cluster", "bare.csv", "--text-field", "2", "--label-field", "0", "--no-header", "--delimiter", r"\t", "--quote", "", *SMALL]) == 0
    assert len(rows("nmf2-results/bare/assignments.csv")) == 12

def words_of(out): return {w for r in rows(Path("nmf2-results", out, "topics.csv")) for w in r["terms"].removeprefix("'").split(", ")}

def test_options_of_words(letters, monkeypatch, capsys):
    Path("stop.txt").write_text("striker soil\ngoal\n")
    def run(*options):
        assert main(["cluster", "letters", "--force", "--quiet", *options, *SMALL]) == 0
        return words_of("letters")
    assert "striker" in run() and "the" not in run()
    assert "the" in run("--stop-words", "none") and not {"striker", "soil"} & run("--stop-words", "stop.txt")
    assert {"red card", "red"} <= run("--ngrams", "1-2") and all(" " in w for w in run("--ngrams", "2"))
    assert all(len(w) > 4 for w in run("--token-pattern", r"\w{5,}"))
    assert all(len(w) == 2 for w in run("--analyzer", "char_wb", "--ngrams", "2", "--max-features", "9", "--token-pattern", "x"))
    (letters/"sport"/"0.txt").write_text("The Striker scored")
    assert "Striker" in run("--keep-case")

def test_stop_words_through_a_pipe(letters, capsys):
    if not hasattr(os, "mkfifo"): pytest.skip("no pipes with names")
    Path("lines.txt").write_text("\n".join(SPORT + GARDEN))
    os.mkfifo("stop")
    writer = threading.Thread(target=lambda: Path("stop").write_text("goal ball"), daemon=True)
    writer.start()
    assert main(["cluster", "lines.txt", "--stop-words", "./stop", "-o", "a", "--quiet", *SMALL]) == 0
    writer.join()
    assert "goal" not in capsys.readouterr().out

@pytest.mark.slow
def test_documents_from_standard_input(letters):
    done = command("cluster", "-", "-o", "b", *SMALL, input="\n".join(SPORT + GARDEN))
    assert done.returncode == 0 and Path("b/topics.csv").exists(), done.stderr
    assert "as lines" not in done.stderr
    table = "name;Text\n" + "\n".join(f"{i};{text}" for i, text in enumerate(SPORT + GARDEN))
    done = command("cluster", "-", "-o", "c", *SMALL, input=table)
    assert done.returncode == 0 and "note: standard input is read as lines" in done.stderr and "--format csv" in done.stderr and "13 documents" in done.stderr
    done = command("cluster", "-", "-o", "d", "--format", "csv", *SMALL, input=table)
    assert done.returncode == 0 and "as lines" not in done.stderr and "12 documents" in done.stderr

def test_options_of_readers_are_what_the_reader_wants(letters, capsys):
    "A file may be called 5 or true; what must be a number is one"
    Path("a.svm").write_text("1 1:3 2:1\n1 1:1 2:4\n2 3:2 4:1\n2 3:1 4:1\n")
    for name in ("5", "true"):
        Path(name).write_text("ball\ngoal\nvote\nbill\n")
        assert main(["cluster", "a.svm", "--read", f"vocab={name}", "--read", "zero_based=false", "-o", f"{name}-out", "--min-df", "1", *SMALL]) == 0
    assert "ball" in capsys.readouterr().out


def test_stop_words_of_a_language(letters, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "stopwordsiso", types.SimpleNamespace(stopwords=lambda code: {"striker"} if code == "de" else set()))
    assert main(["cluster", "letters", "--stop-words", "German", *SMALL]) == 0
    assert "striker" not in words_of("letters") and "the" in words_of("letters")
    monkeypatch.setitem(sys.modules, "stopwordsiso", None)
    assert main(["cluster", "letters", "--stop-words", "German", "--force", "--quiet", *SMALL]) == 2
    assert "--stop-words German needs the lists of the package stopwordsiso: pip install 'nmf2[languages]'" in capsys.readouterr().err

def test_options_of_the_tree(letters, monkeypatch, capsys):
    asked = []
    whole = cli.split
    monkeypatch.setattr(cli, "split", lambda *args, **options: asked.append(options) or whole(*args, **options))
    assert main(["cluster", "letters", *SMALL]) == 0 and not asked
    assert main(["cluster", "letters", "--force", *SMALL, *PUBLISHED]) == 0 and asked == [{}]
    some = dict(trials=5, min_score=9., tol=.0001, max_iter=1, init="random")
    argv = [word for name, value in some.items() for word in ("--" + name.replace("_", "-"), str(value))]
    assert main(["cluster", "letters", "--force", *argv, *SMALL, *PUBLISHED]) == 0
    assert asked[-1] == some
    err = capsys.readouterr().err
    assert "stopped at --max-iter 1 before reaching --tol 0.0001" in err
    assert main(["cluster", "letters", "--force", *SMALL, *PUBLISHED, "--leaves", "3", "--min-score", "9"]) == 0
    assert "--leaves 3 can't be had: none of the 2 leaves there are scores at least --min-score 9.0" in capsys.readouterr().err

def test_options_of_words_are_no_use_for_counts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.savez("counts.npz", X=np.random.default_rng(0).poisson(1., (30, 20)))
    assert main(["cluster", "counts.npz", "--stop-words", "none", "--ngrams", "2", "--max-df", "1.0", "--leaves", "2"]) == 0
    assert "note: no use for --stop-words, --ngrams: the collection has counts and no texts" in capsys.readouterr().err

def test_reading_says_how_far_it_is_and_has_limits(letters, monkeypatch, capsys):
    import nmf2.data
    asked = []
    def read(path, format=None, *, limits=True, verbose=False, **options):
        asked.append((format, limits, verbose, options))
        return nmf2.data.Corpus(SPORT + GARDEN)
    monkeypatch.setattr(nmf2.data, "read", read)
    assert main(["cluster", "letters", *SMALL]) == 0
    assert main(["cluster", "letters", "--force", "--quiet", "--no-limits", "--format", "csv", "--read", "n_terms=3", *SMALL]) == 0
    assert asked == [(None, True, True, {"like": None}), ("csv", False, False, {"like": None, "n_terms": 3})]

def test_counting_says_how_far_it_is(letters, capsys):
    assert main(["cluster", "letters", *SMALL]) == 0
    assert "Counting terms: 100%" in capsys.readouterr().err
    assert main(["cluster", "letters", "--force", "--quiet", *SMALL]) == 0
    assert capsys.readouterr().err == ""

def test_help_names_formats_and_endings(capsys):
    from nmf2.formats import READERS
    assert main(["cluster", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for name in [*READERS, "exit status: 0 done; 2 it can't be done", "--tokenizer stem:german", "root/010"]: assert name in shown

# ---- node ids

def long_rows(tmp_path, monkeypatch):
    "Tables of a tree with chains of zeros"
    from nmf2.data import planted_tree
    monkeypatch.chdir(tmp_path)
    corpus = planted_tree((2,)*4, n_docs=200)
    np.savez("planted.npz", X=corpus.X.toarray(), vocab=corpus.vocab.astype(str))
    assert main(["cluster", "planted.npz", "--leaves", "16", "--quiet"]) == 0
    return Path("nmf2-results", "planted")

def is_number(text):
    try: return float(text) is not None
    except ValueError: return False

def test_ids_of_nodes_are_no_numbers(tmp_path, monkeypatch, capsys):
    out = long_rows(tmp_path, monkeypatch)
    nodes = [r["node"] for r in rows(out/"topics.csv")]
    tree = {in_table(node["id"]): node for node in json.loads((out/"tree.json").read_text(encoding="utf-8"))["nodes"]}
    assert len({node.removeprefix("root/").lstrip("0") for node in nodes}) < len(set(nodes)) == len(nodes) == 31      # numbers would collide
    assert not [node for node in nodes if is_number(node)] and set(nodes) == set(tree)
    for r in rows(out/"topics.csv"): assert int(r["size"]) == tree[r["node"]]["size"] and r["parent"] == (r["node"][:-1].rstrip("/") if r["node"] != "root" else "")
    assert {r["leaf"] for r in rows(out/"assignments.csv")} - {""} <= set(nodes)

def test_tables_in_pandas(tmp_path, monkeypatch, capsys):
    pd = pytest.importorskip("pandas")
    out = long_rows(tmp_path, monkeypatch)
    nodes, docs = pd.read_csv(out/"topics.csv"), pd.read_csv(out/"assignments.csv")
    assert nodes["node"].tolist() == [r["node"] for r in rows(out/"topics.csv")]
    joined = docs.merge(nodes, left_on="leaf", right_on="node")
    assert len(joined) == (docs["leaf_number"] >= 0).sum() and (joined["leaf_number_x"] == joined["leaf_number_y"]).all()
    below = docs["leaf"].str.startswith("root/0", na=False).sum()
    assert below <= nodes.set_index("node")["size"]["root/0"]

def test_ids_from_tables_are_taken_by_trees():
    from nmf2.data import planted_tree
    from nmf2.hier import HierNMF2
    tree = HierNMF2(4).fit(planted_tree((2, 2), n_docs=80).X).tree_
    for id, node in tree.nodes.items(): assert tree[in_table(id)] is node and tree.top_terms(in_table(id), n=3) == tree.top_terms(id, n=3)


# ---- two methods

def test_the_outline_is_printed_and_the_published_tree_on_demand(letters, capsys):
    assert main(["cluster", "letters", "--quiet", *SMALL]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "12 documents" and re.fullmatch(r" +6  .*(striker|goal|soil).*", lines[1]) and "flat" not in "".join(lines)
    assert main(["cluster", "letters", "--quiet", "--force", *SMALL, *PUBLISHED]) == 0
    assert capsys.readouterr().out.startswith("(12) ")

def test_phrases_head_the_topics_of_texts(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    texts = ["the clipper chip has a secret key"]*9 + ["the new york times of today"]*9 + ["water and warm soil for beans"]*9
    Path("t.jsonl").write_text("\n".join(json.dumps(dict(text=text)) for text in texts))
    assert main(["cluster", "t.jsonl", "--quiet", "--leaves", "3", "--max-df", "1.0"]) == 0
    assert "clipper chip" in capsys.readouterr().out
    assert main(["cluster", "t.jsonl", "--quiet", "--force", "--leaves", "3", "--max-df", "1.0", "--ngrams", "1-2"]) == 0

def test_options_of_the_other_method_are_refused(letters, capsys):
    assert main(["cluster", "letters", "--trials", "5"]) == 2
    assert capsys.readouterr().err == "nmf2: error: --trials goes with --method hiernmf2\n"


# ---- asking the file

KEEP = [*SMALL, "--quiet"]
OUT = Path("nmf2-results", "letters")
NEW = ["The coach saw a late goal", "water the roses", "nobody expected this"]

@pytest.fixture
def asked(letters, capsys):
    "The results of a run, and new documents"
    assert main(["cluster", "letters", *KEEP]) == 0
    Path("new.txt").write_text("\n".join(NEW))
    return capsys.readouterr().out

@pytest.fixture
def unserved(monkeypatch):
    "Pages are made, and not served"
    from nmf2 import serving
    monkeypatch.setattr(serving, "serve", lambda server, shown: server.server_close())

def says(capsys, *argv):
    "What a command prints"
    capsys.readouterr()
    assert main(list(map(str, argv))) == 0
    return capsys.readouterr().out

@pytest.mark.parametrize("options, parameters", [
    ([], {}), (["--ngrams", "1-2", "--seed", "3", "--tau", "0.2"], dict(ngram_range=(1, 2), random_state=3, tau=.2)),
    (["--stop-words", "none", "--keep-case"], dict(stop_words=None, lowercase=False)),
    (["--token-pattern", r"\w{5,}", "--levels", "2"], dict(token_pattern=r"\w{5,}")),
    (["--tokenizer", "stem:english"], dict(tokenizer="stem:english"))])
@pytest.mark.filterwarnings("ignore::nmf2.weighting.EmptyDocumentsWarning")
def test_the_file_is_what_topic_tree_comes_to(letters, options, parameters):
    from sklearn.base import clone
    from nmf2.data import read
    from nmf2.topictree import TopicTree
    (letters/"sport"/"empty.txt").write_text("")
    assert main(["cluster", "letters", *KEEP, *options, "--keep-texts"]) == 0
    kept = TopicTree.load(OUT/cli.MODEL)
    fitted = TopicTree(2, **dict(min_df=1, max_df=1.) | parameters).fit(read("letters"))
    for model in (fitted, clone(kept).fit(kept.given_)):
        assert kept.get_params() == model.get_params() and str(kept.documents_) == str(model.documents_)
        assert kept.tree_.headings == model.tree_.headings and kept.criteria_ == model.criteria_ and kept.history == model.history
        for mine, theirs in [(kept.labels_, model.labels_), (kept.components_, model.components_), (kept.transform(NEW), model.transform(NEW)),
                             *zip(kept.expected_.signs, model.expected_.signs), *zip(kept.expected_[1:], model.expected_[1:])]: np.testing.assert_array_equal(mine, theirs)
        assert kept.answers(NEW, plain=True) == model.answers(NEW, plain=True)
    assert kept.given_.texts == read("letters").texts and kept.tree_.levels == (2,)

def test_the_file_of_counts(tmp_path, monkeypatch, capsys):
    from nmf2.data import planted_tree
    from nmf2.topictree import TopicTree
    monkeypatch.chdir(tmp_path)
    corpus = planted_tree((3, 3), n_docs=300)
    np.savez("planted.npz", X=corpus.X.toarray(), vocab=corpus.vocab.astype(str))
    assert main(["cluster", "planted.npz", "--leaves", "9", "--quiet", "-o", "out"]) == 0
    kept, fitted = TopicTree.load(Path("out", cli.MODEL)), TopicTree(9).fit(corpus)
    np.testing.assert_array_equal(kept.predict(corpus), fitted.predict(corpus))
    answers = json.loads(says(capsys, "predict", "out", "planted.npz", "--json", "--quiet"))
    assert [row["leaf_number"] for row in answers] == fitted.predict(corpus).tolist()
    assert main(["cluster", "planted.npz", "--leaves", "9", "--quiet", "-o", "texts", "--keep-texts"]) == 2
    assert "--keep-texts: planted.npz has counts, no texts" in capsys.readouterr().err and not Path("texts").exists()
    assert main(["grow", "out", "--leaves", "10", "--quiet"]) == 2
    told = capsys.readouterr().err
    assert "has no documents, and this needs them: give " in told and "--keep-texts" not in told

def test_the_results_say_what_to_ask(asked, capsys):
    assert f"\n  nmf2 predict {OUT/cli.MODEL} PATH\n" in asked
    assert asked.rstrip().endswith("The commands show, explore and export know the file, too.")

@pytest.mark.parametrize("options, why", [(["--analyzer", "char", "--ngrams", "2"], "--analyzer"), (["--weights", "tfidf"], "--weights tfidf"),
                                          (["--max-features", "9"], "--max-features"), (PUBLISHED, "--method hiernmf2")])
def test_some_files_have_a_tree_alone(letters, capsys, options, why):
    from nmf2.tree import Tree
    assert main(["cluster", "letters", *SMALL, *options]) == 0
    printed = capsys.readouterr()
    assert f"note: topics.nmf2 has the tree alone, because of {why}: nmf2 predict can't ask it" in printed.err
    assert f"\n  nmf2 show {OUT/cli.MODEL}\nThe commands explore and export know the file" in printed.out and "nmf2 predict" not in printed.out
    assert "\n  topics.nmf2      the tree alone, to be shown again\n" in printed.out
    assert len(rows(OUT/"topics.csv")) == len(Tree.load(OUT/cli.MODEL).nodes)
    assert main(["show", str(OUT)]) == 0 and main(["export", str(OUT), "--to", "html"]) == 0 and main(["predict", str(OUT), "letters", "--quiet"]) == 2
    assert "has a tree alone, without what new documents need" in capsys.readouterr().err
    assert main(["cluster", "letters", "--keep-texts", "-o", "x", *options]) == 2
    assert f"--keep-texts can't be had with {why}" in capsys.readouterr().err

def test_show(asked, capsys):
    outline, tree = says(capsys, "show", OUT), json.loads((OUT/"tree.json").read_text(encoding="utf-8"))
    assert asked.startswith(outline) and says(capsys, "show", OUT/cli.MODEL) == outline
    assert main(["show", str(OUT), "--levels", "2,30"]) == 0
    assert capsys.readouterr() == (outline, "note: the tree has 2 topics; --levels 30 shows all there are\n")
    assert main(["show", str(OUT), "--levels", "2,30", "--quiet"]) == 0 and capsys.readouterr() == (outline, "")
    assert main(["show", str(OUT), "--levels", "2"]) == 0 and capsys.readouterr() == (outline, "")
    assert len(says(capsys, "show", OUT, "--words", "1").splitlines()[1].split()) == 2
    assert says(capsys, "show", OUT, "--all").splitlines()[1].startswith("├─ 0 (6) ")
    assert json.loads(says(capsys, "show", OUT, "--json")) == tree
    assert main(["show", str(OUT), "-o", "tree.txt", "--quiet"]) == 0 and Path("tree.txt").read_text(encoding="utf-8") == outline

@pytest.mark.filterwarnings("ignore::nmf2.weighting.EmptyDocumentsWarning")
def test_predict(asked, capsys):
    from nmf2.topictree import TopicTree
    assert main(["predict", str(OUT), "new.txt", "-o", "a.csv"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "" and "Reading new.txt" in printed.err and "3 documents" in printed.err and "Written to a.csv" in printed.err
    table, answers = rows("a.csv"), json.loads(says(capsys, "predict", OUT, "new.txt", "--json", "--quiet"))
    assert says(capsys, "predict", OUT, "new.txt", "--quiet") == Path("a.csv").read_text()
    model = TopicTree.load(OUT/cli.MODEL)
    expected = model.answers(NEW, plain=True)
    for row, answer, told in zip(table, answers, expected):
        assert {name: answer[name] for name in told if name != "topic"} == {name: value for name, value in told.items() if name != "topic"}
        assert answer["leaf_number"] == told["topic"] == int(row["leaf_number"]) and answer["id"] == row["id"] == str(told["row"] + 1)
        assert row["leaf"] == (answer["leaf"] or "") == (answer["path"][-1] if answer["path"] else "") and row["title"] == answer["title"]
        assert row["path"] == " > ".join(f"{id} {share:.3f}" for id, share in zip(told["path"], told["shares"]))
        for name in ("share", "confidence", "typical", "known"): assert float(row[name]) == round(told[name], 6)
        assert row["rejected"] == str(told["rejected"])
    assert [row["leaf_number"] for row in table] == [str(k) for k in model.predict(NEW)] and table[2]["leaf"] == "" and table[2]["rejected"] == "True"
    assert {row["leaf"] for row in json.loads(says(capsys, "predict", OUT, "new.txt", "--json", "--leaves", "1"))} == {"root", None}
    assert [row["rejected"] for row in json.loads(says(capsys, "predict", OUT, "new.txt", "--json", "--reject", "0"))] == [False, False, True]

def test_answers_replace_nothing_unless_they_may(asked, capsys):
    Path("a.csv").write_text("mine")
    assert main(["predict", str(OUT), "new.txt", "-o", "a.csv"]) == 2
    assert "--out a.csv is there already; --force replaces it" in capsys.readouterr().err and Path("a.csv").read_text() == "mine"
    assert main(["predict", str(OUT), "new.txt", "-o", "a.csv", "--force", "--quiet"]) == 0 and len(rows("a.csv")) == 3
    assert capsys.readouterr() == ("", "") and not hidden(".")
    assert main(["predict", str(OUT), "nothing.txt", "-o", "nowhere/a.csv"]) == 2
    assert "--out nowhere/a.csv is in a folder that does not exist" in capsys.readouterr().err

@pytest.mark.parametrize("argv", [
    ["predict", OUT, "new.txt", "-o", OUT/cli.MODEL], ["predict", OUT, "new.txt", "-o", "new.txt"], ["predict", OUT, "new.txt", "-o", "link.txt"],
    ["predict", OUT, "letters", "-o", "letters/sport/0.txt"], ["export", OUT/cli.MODEL, "--to", "json", "-o", OUT/cli.MODEL],
    ["show", OUT, "-o", OUT/cli.MODEL], ["grow", OUT, "letters", "--leaves", "3", "-o", "letters/sport/0.txt"],
    ["update", OUT, "new.txt", "--documents", "letters", "-o", "new.txt"], ["update", OUT, "new.txt", "--documents", "letters", "-o", "letters/sport/0.txt"],
    ["cluster", OUT/"assignments.csv", "--text-field", "title", "-o", OUT]])
def test_what_is_read_is_not_replaced(asked, monkeypatch, capsys, argv):
    monkeypatch.setattr(cli, "open_model", lambda *args: pytest.fail("there was work"))
    os.link("new.txt", "link.txt")
    before = {path: path.read_bytes() for path in Path(".").rglob("*") if path.is_file()}
    assert main([*map(str, argv), "--force", "--quiet"]) == 2
    assert "is read by this command, and would be replaced; give another file" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in Path(".").rglob("*") if path.is_file()} == before

def test_documents_of_an_updated_tree_are_in_several_files(asked, capsys):
    from nmf2.topictree import TopicTree
    Path("more.txt").write_text("roses need more water\n"*2)
    assert main(["update", str(OUT), "new.txt", "--documents", "letters", "--quiet"]) == 0
    ids = TopicTree.load(OUT/cli.MODEL).given_.ids
    assert main(["update", str(OUT), "more.txt", "--documents", "letters", "--quiet"]) == 2
    assert "the tree was made from 15: give all it was made from, the files of updates last" in capsys.readouterr().err
    assert main(["update", str(OUT), "more.txt", "--documents", "new.txt", "--documents", "letters", "--quiet"]) == 2
    assert "new.txt, letters has other documents than the tree was made from" in capsys.readouterr().err
    assert main(["update", str(OUT), "more.txt", "--documents", "letters", "--documents", "new.txt", "--quiet"]) == 0
    assert main(["grow", str(OUT), "letters", "new.txt", "more.txt", "--leaves", "4", "--quiet"]) == 0
    model = TopicTree.load(OUT/cli.MODEL)
    assert model.n_topics_ == 4 and model.tree_.n_docs == 17 and list(model.given_.ids[:15]) == list(ids)

def files_of(folder): return sorted(map(str, Path(folder).rglob("*.txt")))

def test_several_paths_are_one_collection(letters, unserved):
    assert main(["cluster", "letters", *KEEP, "--out", "one"]) == main(["cluster", *files_of("letters"), *KEEP, "--out", "many"]) == 0
    assert rows("one/assignments.csv") == rows("many/assignments.csv")
    assert Path("many/report.txt").read_text().startswith("letters/garden/0.txt, letters/garden/1.txt, letters/garden/2.txt, ...")
    assert main(["cluster", "letters/sport", "letters/garden", *KEEP]) == 0           # results are called like the folder of both
    assert [row["id"] for row in rows(OUT/"assignments.csv")[:2]] == ["sport/0.txt", "sport/1.txt"]
    for paths in [files_of("letters"), ["letters"]]:
        assert main(["explore", "many", *paths, "--no-open", "--quiet"]) == 0
    assert main(["explore", "many", *files_of("letters")[:-1], "--no-open", "--quiet"]) == 2

def test_a_tree_alone_may_be_from_several_paths(letters, unserved, capsys):
    assert main(["cluster", *files_of("letters"), *KEEP, "--method", "hiernmf2", "--out", "out"]) == 0
    assert main(["explore", "out", *files_of("letters"), "--no-open", "--quiet"]) == 0
    assert main(["explore", "out", "letters/sport", "--no-open", "--quiet"]) == 2
    assert "letters/sport has 6 documents, and the tree was made from 12" in capsys.readouterr().err

def test_several_tables_and_their_updates(letters, unserved, capsys):
    def table(name, texts): Path(name).write_text("".join(json.dumps(dict(text=text, id=f"{name[0]}{i}")) + "\n" for i, text in enumerate(texts)))
    for name, texts in [("b.jsonl", SPORT), ("a.jsonl", GARDEN), ("c.jsonl", NEW[:2]), ("d.jsonl", NEW[2:])]: table(name, texts)
    assert main(["cluster", "b.jsonl", "a.jsonl", *KEEP, "--out", "out"]) == 0
    assert [row["id"] for row in rows("out/assignments.csv")] == [f"{letter}{i}" for letter in "ba" for i in range(6)]
    assert main(["cluster", "b.jsonl", "a.jsonl", *KEEP, "--memory", "1GB", "--out", "over"]) == 0
    assert [row["id"] for row in rows("over/assignments.csv")] == [f"{letter}{i}" for letter in "ba" for i in range(6)]
    assert "rows follow the files as they were given: b.jsonl, a.jsonl" in Path("over/report.txt").read_text()
    for model in ("out", "over"): assert main(["explore", model, "b.jsonl", "a.jsonl", "--no-open", "--quiet"]) == 0
    one = says(capsys, "predict", "out", "c.jsonl", "d.jsonl", "--quiet")
    assert one == says(capsys, "predict", "out", "c.jsonl", "d.jsonl", "--quiet", "--memory", "1GB") and len(one.splitlines()) == 4
    assert main(["update", "out", "c.jsonl", "d.jsonl", "--documents", "b.jsonl", "--documents", "a.jsonl", "--quiet"]) == 0
    assert "14 documents" in capsys.readouterr().out
    assert main(["explore", "out", "b.jsonl", "a.jsonl", "c.jsonl", "--no-open"]) == 2
    assert main(["explore", "out", "b.jsonl", "a.jsonl", "c.jsonl", "d.jsonl", "--no-open"]) == 0

def test_updates_of_several_paths(letters, unserved, capsys):
    for name in ("d", "e", "f"):
        Path(name).mkdir()
        Path(name, f"{name}.txt").write_text(f"the striker of {name} missed a late goal")
    assert main(["cluster", "letters/sport", "letters/garden", *KEEP, "--out", "out"]) == 0
    old = ["--documents", "letters/sport", "--documents", "letters/garden"]
    assert main(["update", "out", "d", "e", *old, "--quiet"]) == 0
    assert main(["update", "out", "f", *old, "--documents", "d", "--documents", "e", "--quiet"]) == 0
    for paths in (["letters/sport", "letters/garden", "d", "e", "f"],): assert main(["grow", "out", *paths, "--leaves", "3", "--quiet"]) == 0
    assert main(["explore", "out", "letters/sport", "letters/garden", "d", "e", "f", "--no-open", "--quiet"]) == 0
    assert main(["grow", "out", "letters/sport", "letters/garden", "e", "d", "f", "--leaves", "4", "--quiet"]) == 2

def test_the_same_path_twice(letters, unserved):
    paths = ["letters/sport", "letters/sport", "./letters/garden"]
    assert main(["cluster", *paths, *KEEP, "--out", "out"]) == 0 and len(rows("out/assignments.csv")) == 12
    assert main(["explore", "out", *paths, "--no-open", "--quiet"]) == 0

def test_a_text_for_a_model_of_a_folder(asked, capsys):
    one = says(capsys, "predict", OUT, "new.txt", "--format", "folder", "--quiet")
    assert len(one.splitlines()) == 2 and "new.txt" in one
    assert main(["predict", str(OUT), "new.txt"]) == 0
    assert "each line is a document; --format folder takes a file for one" in capsys.readouterr().err

def test_nothing_is_written_among_what_is_read(letters, capsys):
    for options in (["--out", "letters/garden/out"], ["--memory", "1GB", "--checkpoint", "letters/garden/kept"]):
        assert main(["cluster", "letters/sport", "letters/garden", *SMALL, *options]) == 2
        assert "lies in letters/garden" in capsys.readouterr().err
    Path("out").mkdir()
    Path("out/tree.json").write_text("{}")
    assert main(["cluster", "letters/sport/0.txt", "out/tree.json", *SMALL, "--out", "out", "--force", "--format", "folder"]) == 2
    assert "out/tree.json is read by this command, and would be replaced" in capsys.readouterr().err

def test_two_updates_at_once(asked, monkeypatch, capsys):
    from nmf2.topictree import TopicTree
    read = cli.read_corpus
    def meanwhile(get_corpus, args, times):
        if args.path != "more.txt" or "done" in told: return read(get_corpus, args, times)
        told.append("done")
        assert main(["update", str(OUT), "new.txt", "--documents", "letters", "--quiet"]) == 0
        return read(get_corpus, args, times)
    told = []
    Path("more.txt").write_text("roses need more water\n"*2)
    monkeypatch.setattr(cli, "read_corpus", meanwhile)
    assert main(["update", str(OUT), "more.txt", "--documents", "letters", "--quiet"]) == 2
    assert f"{OUT/cli.MODEL} was changed by somebody else in the meantime; that stays, and nothing was written: run it again" in capsys.readouterr().err
    assert TopicTree.load(OUT/cli.MODEL).tree_.n_docs == 15 and not hidden(OUT)

def test_a_changed_tree_takes_the_place_of_the_one_it_was(asked, capsys):
    assert main(["grow", str(OUT), "--leaves", "1", "-o", str(OUT/cli.MODEL), "--force", "--quiet"]) == 0

def test_show_replaces_nothing_unless_it_may(asked, capsys):
    Path("a.txt").write_text("mine")
    assert main(["show", str(OUT), "-o", "a.txt"]) == 2 and Path("a.txt").read_text() == "mine"
    assert "--out a.txt is there already; --force replaces it" in capsys.readouterr().err

@pytest.mark.parametrize("argv, meant", [
    (["show", "x", "--leaves", "5"], "--levels"), (["predict", "x", "y", "--levels", "5"], "--leaves"), (["show", "x", "--topics", "5"], None),
    (["cluster", "x", "--topics", "5"], "--leaves"), (["show", "x", "--text-feild", "a"], None), (["cluster", "x", "--quit"], "--quiet")])
def test_only_what_the_command_has_is_proposed(capsys, argv, meant):
    assert main(argv) == 2
    found = re.search(r"did you mean (\S+)\?", capsys.readouterr().err)
    assert (found and found[1]) == meant

def test_export(asked, capsys):
    from xml.etree import ElementTree
    from nmf2.topictree import TopicTree
    tree = TopicTree.load(OUT/cli.MODEL).tree_
    for to, file in [("json", "tree.json"), ("csv", "topics.csv")]:
        assert says(capsys, "export", OUT, "--to", to) == (OUT/file).read_text(encoding="utf-8")
    assert len(ElementTree.fromstring(says(capsys, "export", OUT, "--to", "graphml"))[-1]) == 5
    assert says(capsys, "export", OUT, "--to", "newick").startswith("('root/0 ")
    linkage = says(capsys, "export", OUT, "--to", "linkage").splitlines()
    np.testing.assert_array_equal(np.loadtxt(linkage, delimiter=",", skiprows=1, ndmin=2), tree.to_linkage())
    assert main(["export", str(OUT), "--to", "html", "-o", "page.html"]) == 0
    assert Path("page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert set(cli.FORMATS) == {"json", "csv", "assignments", "graphml", "newick", "linkage", "html"}

@pytest.mark.parametrize("keep", [False, True])
def test_assignments_are_written_anew(letters, capsys, keep):
    """Those of `cluster` again; labels if they were kept with the texts."""
    assert main(["cluster", "letters", *KEEP, *["--keep-texts"]*keep]) == 0
    capsys.readouterr()
    first, found = rows(OUT/"assignments.csv"), list(csv.DictReader(io.StringIO(says(capsys, "export", OUT, "--to", "assignments"))))
    if keep: assert found == first
    else: assert found == [{name: value for name, value in row.items() if not name.startswith("label")} for row in first]
    Path("later.txt").write_text("\n".join(NEW))
    assert main(["update", str(OUT), "later.txt", *[["--documents", "letters"], []][keep]]) == 0
    told = capsys.readouterr().err
    assert f"note: tree.html, assignments.csv, topics.csv, tree.json, report.txt beside it are of the tree before. For new ones: nmf2 export {OUT/cli.MODEL} --to " in told
    for to in ("html", "assignments", "csv", "json"):
        assert f" {to}" in told.split("--to", 1)[1] and main(["export", str(OUT), "--to", to, "-o", f"new.{to}", "--quiet"]) == 0
    from nmf2.topictree import TopicTree
    model, found = TopicTree.load(OUT/cli.MODEL), rows("new.assignments")
    assert [int(row["row"]) for row in found] == list(range(15)) and [int(row["leaf_number"]) for row in found] == model.labels_.tolist()
    assert [row["id"] for row in found[:12]] == [row["id"] for row in first] and len({row["id"] for row in found}) == 15
    for row in found: assert (row["leaf"] == "") == (row["leaf_number"] == "-1") and (row["leaf"] in {r["node"] for r in rows("new.csv")} or not row["leaf"])

def test_assignments_of_a_tree_alone(letters, capsys):
    assert main(["cluster", "letters", *KEEP, *PUBLISHED]) == 0
    capsys.readouterr()
    found = list(csv.DictReader(io.StringIO(says(capsys, "export", OUT, "--to", "assignments"))))
    for row, first in zip(found, rows(OUT/"assignments.csv")):
        assert row["id"] == row["row"] == first["row"] and {row[name] == first[name] for name in row if name != "id"} == {True}

def test_rows_join_what_names_can_not(tmp_path, monkeypatch, capsys):
    """Names that look like numbers have an apostrophe in front; rows are numbers."""
    monkeypatch.chdir(tmp_path)
    names = [f"0{i}" for i in range(9)] + ["NA", "2024-05-31", "=A1"]
    Path("t.csv").write_text("id,text\n" + "\n".join(f"{name},{text}" for name, text in zip(names, (SPORT + GARDEN))))
    assert main(["cluster", "t.csv", "-o", "out", "--quiet", *SMALL]) == 0
    assert main(["predict", "out", "t.csv", "-o", "answers.csv", "--quiet"]) == 0
    for table in ("out/assignments.csv", "answers.csv"):
        found = rows(table)
        assert list(found[0])[:2] == ["row", "id"] and [names[int(row["row"])] for row in found] == names
        assert [row["id"] for row in found] == ["'" + name for name in names]
        pd = pytest.importorskip("pandas")
        original = pd.read_csv("t.csv", dtype=str, keep_default_na=False)
        joined = original.merge(pd.read_csv(table), left_index=True, right_on="row", suffixes=("", "_there"))
        assert joined["id"].tolist() == names and joined["leaf"].tolist() == [row["leaf"] for row in found]
    for argv in ([], ["cluster", "--help"], ["predict", "--help"]):
        main(argv)
        assert "apostrophe" in capsys.readouterr().out

def test_a_table_on_standard_input(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("table").write_text("n,body\n" + "\n".join(f"{i},{text}" for i, text in enumerate(SPORT + GARDEN)))
    for option in (["--text-field", "body"], ["--delimiter", ","], ["--no-header"]):
        assert main(["cluster", "table", *option, *SMALL]) == 2
        assert f"knows no {option[0]}, only --encoding; if this is a table, pass --format csv\n" in capsys.readouterr().err
    assert main(["cluster", "table", "--read", "pattern=*", *SMALL]) == 2 and "--format csv" not in capsys.readouterr().err
    assert main(["cluster", "table", "--text-field", "body", "--format", "csv", "--quiet", *SMALL]) == 0

def test_a_single_column_is_mentioned(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("# exported 2024-11-01\n" + "\n".join(SPORT + GARDEN))
    assert main(["cluster", "t.csv", *SMALL]) == 0
    told = capsys.readouterr().err
    assert "note: t.csv: a single column, '# exported 2024-11-01', is taken for the text. If this is a text itself, pass --no-header;" in told
    assert "--delimiter ...;" in told and "--text-field ... says" in told and "=" not in told.split("note:")[1].splitlines()[0]
    assert main(["cluster", "t.csv", "--no-header", "--text-field", "0", "--force", *SMALL]) == 0 and "single column" not in capsys.readouterr().err

def test_other_texts_are_not_explored(letters, monkeypatch, capsys):
    import nmf2.serving
    monkeypatch.setattr(nmf2.serving, "serve", lambda *args: pytest.fail("served nevertheless"))
    assert main(["cluster", "letters", *KEEP]) == 0
    files = sorted(Path("letters").rglob("*.txt"))
    contents = [file.read_text() for file in files]
    for file, text in zip(files, contents[::-1]): file.write_text(text)
    capsys.readouterr()
    assert main(["explore", str(OUT), "letters", "--no-open"]) == 2
    told = capsys.readouterr().err
    assert re.search(r"documents must be those of the fit, in their order: only \d+% of these belong where those are\n", told)

def test_grow_and_update(asked, capsys):
    from nmf2.topictree import TopicTree
    before = (OUT/cli.MODEL).read_bytes()
    printed = says(capsys, "grow", OUT, "letters", "--leaves", "4", "-o", "four.nmf2")
    assert (OUT/cli.MODEL).read_bytes() == before and printed == says(capsys, "show", "four.nmf2")
    four = TopicTree.load("four.nmf2")
    assert four.n_topics_ == 4 and four.history == [dict(step="grow", n_topics=4)] and four.given_.texts is None
    assert says(capsys, "grow", "four.nmf2", "--leaves", "2", "--quiet") == says(capsys, "show", OUT)           # needs no documents
    assert main(["update", str(OUT), "new.txt", "--documents", "letters"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("3 new documents: ") and "note: tree.html, assignments.csv" in printed.err and f"written to {OUT/cli.MODEL}" in printed.err
    assert TopicTree.load(OUT/cli.MODEL).tree_.n_docs == 15
    assert main(["cluster", "letters", *KEEP, "--keep-texts", "--force"]) == 0
    assert main(["update", str(OUT), "new.txt", "--quiet"]) == 0 and main(["grow", str(OUT), "--leaves", "3", "--quiet"]) == 0
    assert len(TopicTree.load(OUT/cli.MODEL).given_.texts) == 15

def test_a_tree_alone_can_not_be_changed(letters, capsys):
    assert main(["cluster", "letters", *KEEP, "--method", "hiernmf2"]) == 0
    for argv in (["grow", "--leaves", "3"], ["update", "new.txt"]):
        Path("new.txt").write_text("a goal")
        assert main([argv[0], str(OUT), *argv[1:]]) == 2 and "a tree alone, which can't be changed" in capsys.readouterr().err

@pytest.mark.parametrize("argv, why", [
    (["show", "nowhere"], "nowhere: no such file; nmf2 cluster writes one"), (["show", "letters"], "topics.nmf2: no such file"),
    (["show", "new.txt"], "new.txt is not a file of nmf2, or is damaged (File is not a zip file): make it again with nmf2 cluster"),
    (["show", "cut.nmf2"], "cut.nmf2 is not a file of nmf2"), (["predict", "cut.nmf2", "new.txt"], "cut.nmf2 is not a file of nmf2"),
    (["show", OUT, "--levels", "1"], "--levels must be a whole number of at least 2, got 1"), (["show", OUT, "--words", "0"], "--words must be"),
    (["show", OUT, "--all", "--levels", "2"], "--all doesn't go with --levels"), (["show", OUT, "--json", "--all"], "--json doesn't go with --all"),
    (["show"], "required: FILE"), (["predict", OUT], "required: PATH"), (["predict", OUT, ""], "PATH is empty"),
    (["predict", OUT, "nowhere.txt"], "nowhere.txt: no such file or folder"), (["predict", OUT, "new.txt", "--reject", "2"], "--reject must be"),
    (["predict", OUT, "new.txt", "--leaves", "3"], "--leaves must be at most 2, the topics there are, got 3"),
    (["predict", OUT, "new.txt", "--leaves", "0"], "--leaves must be"), (["predict", OUT, "new.txt", "--jobs", "0"], "--jobs must be"),
    (["predict", OUT, "counts.npz"], "must be texts, as those of the fit were"), (["predict", OUT, "new.txt", "-o", "letters"], "is a folder"),
    (["predict", OUT, "new.txt", "--text-field", "a"], "knows no --text-field"), (["predict", OUT, "new.txt", "--min-df", "3"], "no option --min-df"),
    (["explore", OUT, "new.txt"], "new.txt has 3 documents, and the tree was made from 12"), (["explore", OUT, "other.txt"], "has other documents"),
    (["explore", OUT, "--port", "70000"], "--port must be"), (["explore", OUT, "nowhere"], "nowhere: no such file or folder"),
    (["export", OUT], "required: --to"), (["export", OUT, "--to", "word"], "--to must be one of json, csv, assignments, graphml, newick, linkage, html, got 'word'"),
    (["export", OUT, "--to", "json", "-o", "letters"], "--out letters is a folder"), (["export", OUT, "--to", "csv", "-o", "new.txt"], "--force replaces it"),
    (["predict", OUT, "new.txt", "-o", "no/where.csv"], "no"), (["shrink", OUT], "there is no command 'shrink'"),
    (["grow", OUT], "required: --leaves"), (["grow", OUT, "--leaves", "0"], "--leaves must be"), (["grow", OUT, "--leaves", "5"], "give PATH, the path that it was made from"),
    (["grow", OUT, "new.txt", "--leaves", "5"], "new.txt has 3 documents, and the tree was made from 12"),
    (["grow", OUT, "--leaves", "1", "-o", "new.txt"], "--force replaces it"), (["update", OUT], "required: PATH"),
    (["update", OUT, "new.txt"], "give --documents OLD, the path that it was made from"), (["update", OUT, "new.txt", "--min-new", "1"], "--min-new must be"),
    (["update", OUT, "new.txt", "--documents", "other.txt"], "has other documents"), (["update", OUT, "counts.npz", "--documents", "letters"], "must be texts")])
def test_what_can_not_be_asked(asked, monkeypatch, capsys, argv, why):
    import nmf2.serving
    monkeypatch.setattr(nmf2.serving, "serve", lambda *args: pytest.fail("served nevertheless"))
    Path("cut.nmf2").write_bytes((OUT/cli.MODEL).read_bytes()[:-400])
    Path("other.txt").write_text("\n".join(SPORT + GARDEN))
    np.savez("counts.npz", X=np.ones((3, 4)))
    before = sorted(Path(".").rglob("*"))
    assert main([*map(str, argv), *["--quiet"]*(len(argv) > 1)]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and why in printed.err and printed.err.startswith("nmf2: error: ") and printed.err.count("\n") == 1
    assert sorted(Path(".").rglob("*")) == before

@pytest.mark.parametrize("path", [None, "letters"])
def test_explore_serves_the_page(asked, monkeypatch, capsys, path):
    import nmf2.serving
    from urllib.request import urlopen
    def serve(server, opened):
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        with urlopen(nmf2.serving.address(server)) as answer: pages.append((answer.read().decode("utf-8"), opened))
        server.shutdown()
        server.server_close()
    pages = []
    monkeypatch.setattr(nmf2.serving, "serve", serve)
    assert main(["explore", str(OUT), *[path]*(path is not None), "--no-open", "--quiet"]) == 0
    (page, opened), printed = *pages, capsys.readouterr()
    assert not opened and re.fullmatch(r"http://127\.0\.0\.1:\d+/\n", printed.out) and printed.err == ""
    assert "sport/0.txt" in page and ("scored a late goal" in page) == (path is not None)

@pytest.mark.skipif(os.name == "nt", reason="needs a Unix pipe")
def test_who_reads_the_answer_may_stop_early(asked, monkeypatch, capsys):
    reading, writing = os.pipe()
    os.close(reading)
    with open(os.devnull) as nothing, os.fdopen(writing, "w") as gone:
        monkeypatch.setattr(sys, "stdout", gone)
        assert main(["show", str(OUT)]) == 0
    assert capsys.readouterr().err == ""

def test_every_option_has_help_and_is_known():
    p = cli.parser()
    commands = next(a for a in p._actions if isinstance(a, argparse._SubParsersAction)).choices
    assert list(commands) == ["demo", "cluster", "show", "predict", "explore", "export", "grow", "update"]
    for command in commands.values():
        for action in command._actions: assert action.help

@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_the_whole_way_in_processes_of_their_own(asked):
    "Documents through a pipe, and a page until Ctrl-C"
    from urllib.request import urlopen
    done = command("predict", OUT, "-", "--quiet", input="\n".join(NEW))
    assert done.returncode == 0 and done.stderr == "" and len(done.stdout.splitlines()) == 4, done.stderr
    p = subprocess.Popen([*python(), "-m", "nmf2", "explore", str(OUT), "letters", "--no-open"], env=ENV, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    try:
        with urlopen(p.stdout.readline().strip(), timeout=60) as answer: assert "scored a late goal" in answer.read().decode("utf-8")
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=300)
    finally: p.kill()
    assert p.returncode == 0 and out == "" and err.endswith("Ctrl-C ends it\n") and "Traceback" not in err

# ---- how documents were read is remembered

def a_table(name, texts, columns, first=0, separator=",", encoding="utf-8"):
    "A table of texts, of which some columns hold something else"
    def cell(column, i, text): return {"n": f"T-{first + i}", "kind": "ab"[i % 2], "w": text}.get(column, "nothing at all")
    lines = [[cell(kind, i, text) for kind in columns.values()] for i, text in enumerate(texts)]
    with open(name, "w", newline="", encoding=encoding) as fh: csv.writer(fh, delimiter=separator).writerows([list(columns), *lines])

@pytest.fixture
def tickets(tmp_path, monkeypatch):
    "Tables with a column that would be guessed to be the text, and is not"
    monkeypatch.chdir(tmp_path)
    a_table("june.csv", SPORT + GARDEN, dict(ticket="n", subject="w", body="", product="kind"))
    a_table("july.csv", NEW, dict(body="", ticket="n", subject="w", text=""), 100)
    a_table("august.csv", NEW, dict(nr="n", title="w", body=""), 200)
    return [*SMALL, "--max-df", ".5", "-o", "out"]

def answers(capsys, *argv):
    "What nmf2 predict prints, and what it tells about reading"
    capsys.readouterr()
    assert main(["predict", *argv]) == 0
    printed = capsys.readouterr()
    return list(csv.DictReader(io.StringIO(printed.out))), next(line.strip() for line in printed.err.splitlines() if re.match("  .*document", line))

def test_columns_are_those_of_the_fit(tickets, capsys):
    from nmf2 import TopicTree
    fields = ["--text-field", "subject", "--id-field", "ticket"]
    assert main(["cluster", "june.csv", *fields, "--label-field", "product", *tickets]) == 0
    told = "text: column 'subject'; ids: 'ticket'"
    assert f"  12 documents; {told}; labels: 'product'\n" in capsys.readouterr().err and f"\n{told}; labels: 'product'\n" in Path("out/report.txt").read_text()
    assert TopicTree.load("out").reading_ == dict(format="csv", seen="csv", text_field="subject", label_field=["product"], id_field="ticket", heads=False)
    found, said = answers(capsys, "out", "july.csv")
    assert [row["id"] for row in found] == ["T-100", "T-101", "T-102"] and said == f"3 documents; {told}, as in the fit"
    assert (found, f"3 documents; {told}, as in the fit") == answers(capsys, "out", "july.csv", *fields)
    assert found[0]["known"] != "0.0" == answers(capsys, "out", "july.csv", "--text-field", "body")[0][0]["known"]
    assert main(["update", "out", "july.csv", "--documents", "june.csv", "--label-field", ""]) == 0
    assert capsys.readouterr().err.count(f"; {told}") == 2
    model = TopicTree.load("out")
    assert list(model.given_.ids[-4:]) == ["T-11", "T-100", "T-101", "T-102"] and model.reading_["text_field"] == "subject"

def test_columns_that_are_not_there(tickets, capsys):
    assert main(["cluster", "june.csv", "--text-field", "subject", "--id-field", "ticket", *tickets]) == 0
    capsys.readouterr()
    there = "There are: 'nr', 'title', 'body'. Say which it is here with"
    assert main(["predict", "out", "august.csv"]) == 2
    assert f"august.csv: no field 'subject', from which the texts came in the fit. {there} --text-field ...\n" in capsys.readouterr().err
    assert main(["predict", "out", "august.csv", "--text-field", "title"]) == 2
    assert f"no field 'ticket', from which ids came in the fit. {there} --id-field ..., or --id-field '' for none\n" in capsys.readouterr().err
    assert main(["predict", "out", "august.csv", "--text-field", "subjekt"]) == 2
    assert "no field 'subjekt', asked for by --text-field. There are: 'nr'" in capsys.readouterr().err
    for ids, first in [("nr", "T-200"), ("", "0")]:
        found, said = answers(capsys, "out", "august.csv", "--text-field", "title", "--id-field", ids)
        assert found[0]["id"] == first and "as in the fit" not in said and found[0]["known"] != "0.0"

def test_what_was_guessed_is_remembered(tickets, capsys):
    a_table("a.csv", SPORT + GARDEN, dict(message="w", uid="n", nothing="", category="kind"))
    a_table("b.csv", NEW, dict(text="", id="", message="w", uid="n"))
    assert main(["cluster", "a.csv", *tickets]) == 0
    assert "12 documents; text: column 'message'; ids: 'uid'; labels: 'category'\n" in capsys.readouterr().err
    found, said = answers(capsys, "out", "b.csv")
    assert said == "3 documents; text: column 'message'; ids: 'uid', as in the fit" and [row["id"] for row in found] == ["T-0", "T-1", "T-2"]
    Path("c.jsonl").write_text("\n".join(json.dumps(dict(message=text, text="", uid=i)) for i, text in enumerate(NEW)))
    assert answers(capsys, "out", "c.jsonl")[1] == "3 documents; text: field 'message'; ids: 'uid', as in the fit"
    Path("d.txt").write_text("\n".join(NEW))
    assert answers(capsys, "out", "d.txt")[1] == "3 documents"

def test_formats_and_encodings_are_remembered(tickets, capsys):
    for name, texts in [("a.txt", SPORT + GARDEN), ("b.txt", NEW[:2] + ["größer goal"])]:
        a_table(name, texts, {"text": "w", "Maß": "n"}, separator="~", encoding="cp1252")
    options = ["--format", "csv", "--delimiter", "~", "--encoding", "cp1252", "--id-field", "Maß"]
    assert main(["cluster", "a.txt", *options, *tickets]) == 0
    found, said = answers(capsys, "out", "b.txt")
    assert said == "3 documents; text: column 'text'; ids: 'Maß'; --format csv; --delimiter '~'; --encoding cp1252, as in the fit"
    assert (found, said) == answers(capsys, "out", "b.txt", *options)
    Path("c.txt").write_text("\n".join(NEW))
    assert answers(capsys, "out", "c.txt", "--format", "lines")[1] == "3 documents"
    a_table("c.csv", NEW, dict(text="w", ticket="n"))
    assert main(["predict", "out", "c.csv", "--id-field", "ticket"]) == 2
    assert "c.csv: no field 'text', from which the texts came in the fit. There are: 'text,ticket'" in capsys.readouterr().err
    said = answers(capsys, "out", "c.csv", "--id-field", "ticket", "--delimiter", ",")[1]
    assert said == "3 documents; text: column 'text', as in the fit; ids: 'ticket'; --encoding cp1252, as in the fit"

def test_the_head_of_a_table_on_standard_input_is_known(tickets, monkeypatch, capsys):
    assert main(["cluster", "june.csv", "--text-field", "subject", "--id-field", "ticket", *tickets]) == 0
    a_table("new.csv", NEW, dict(subject="w", ticket="n"))
    monkeypatch.setattr(cli, "STDIN", Path("new.txt").absolute())
    os.rename("new.csv", "new.txt")
    capsys.readouterr()
    assert main(["predict", "out", "-"]) == 0 and "looks like the head of a table: --format csv" in capsys.readouterr().err
    monkeypatch.setattr(cli, "STDIN", Path("/dev/stdin"))                     # a file whose name does not tell, likewise
    assert main(["predict", "out", "new.txt"]) == 0 and "note: new.txt is read as lines, each of them a document, and the first looks like" in capsys.readouterr().err
    Path("plain.txt").write_text("a goal\nsubject, goal and striker\n")
    assert main(["predict", "out", "plain.txt"]) == 0 and "is read as lines" not in capsys.readouterr().err

def test_models_from_before_guess_as_they_did(tickets, capsys):
    old = Path(__file__).parent/"data"/"topictree-2.nmf2"
    assert cli.open_model(types.SimpleNamespace(file=old, limits=True))[1].reading_ is None
    found, said = answers(capsys, str(old), "june.csv")
    assert said == "12 documents; text: column 'body'; ids: row numbers" and len(found) == 12

def test_the_field_of_partitions_is_remembered(tickets, capsys):
    rows = [dict(body="nothing", subject=text) for text in (SPORT + GARDEN)*3]
    Path("june.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert main(["cluster", "june.jsonl", "--memory", "2GB", "--text-field", "subject", *tickets]) == 0
    assert "  text: field 'subject'" in capsys.readouterr().err
    assert answers(capsys, "out", "july.csv", "--id-field", "ticket")[1] == "3 documents; text: column 'subject', as in the fit; ids: 'ticket'"

def test_an_update_that_is_typed_twice(tickets, capsys):
    from nmf2.topictree import TopicTree
    a_table("a.csv", SPORT + GARDEN, dict(text="w"))
    a_table("b.csv", NEW, dict(text="w"))
    assert main(["cluster", "a.csv", "--keep-texts", *tickets]) == 0
    assert main(["update", "out", "b.csv"]) == 0
    before = Path("out/topics.nmf2").read_bytes()
    capsys.readouterr()
    assert main(["update", "out", "b.csv", "--quiet"]) == 2
    told = capsys.readouterr().err
    assert told == "nmf2: error: b.csv: 3 of 3 documents are in the tree already, word for word. Give new ones only; --again adds these a second time\n"
    assert Path("out/topics.nmf2").read_bytes() == before
    a_table("longer.csv", [*NEW, "a new one"], dict(text="w"))
    assert main(["update", "out", "longer.csv"]) == 2 and "3 of 4 documents are in the tree" in capsys.readouterr().err
    assert main(["update", "out", "b.csv", "--again"]) == 0
    assert "note: 3 of 3 new documents have the text of an old one, word for word: were they added before?\n" in capsys.readouterr().err
    assert TopicTree.load("out").tree_.n_docs == 18
    a_table("c.csv", [NEW[0], "a late penalty", "the keeper was late"], dict(text="w"))
    assert main(["update", "out", "c.csv"]) == 0 and "word for word" not in capsys.readouterr().err

def test_an_update_with_labels_in_other_levels(tickets, capsys):
    a_table("a.csv", SPORT + GARDEN, dict(broad="kind", narrow="n", text="w"))
    a_table("b.csv", NEW, dict(broad="kind", narrow="n", text="w"))
    assert main(["cluster", "a.csv", "--label-field", "broad,narrow", "--keep-texts", *tickets]) == 0
    capsys.readouterr()
    for more in ([], ["--again"]):
        assert main(["update", "out", "b.csv", "--label-field", "broad", "--quiet", *more]) == 2
        told = capsys.readouterr().err
        assert told.startswith("nmf2: error: texts must have labels in 2 levels, as those of the model, and have 1: give as many (--label-field ...)"), told

def test_columns_to_look_at_are_on_the_page(tickets, monkeypatch, capsys):
    import nmf2.serving
    with open("dated.csv", "w", newline="") as fh:
        csv.writer(fh).writerows([["day", "text", "shop"], *([f"2024-0{1 + i//3}-11", text, ["web", "store"][i % 2]] for i, text in enumerate(SPORT + GARDEN))])
    assert main(["cluster", "dated.csv", "--columns", "day,shop", *tickets]) == 0
    assert "12 documents; text: column 'text'; ids: row numbers; to look at: 'day', 'shop'\n" in capsys.readouterr().err
    page = Path("out/tree.html").read_text(encoding="utf-8")
    assert '"name":"day"' in page and "2024-02" in page and '"name":"shop"' in page and '"store"' in page
    pages = []
    monkeypatch.setattr(nmf2.serving, "page_server", lambda page, port: pages.append(page) or types.SimpleNamespace(server_address=("", 1)))
    monkeypatch.setattr(nmf2.serving, "serve", lambda *args: None)
    monkeypatch.setattr(nmf2.serving, "address", lambda server: "there")
    assert main(["explore", "out", "dated.csv", "--no-open"]) == 0
    assert '"name":"day"' in pages[0] and '"store"' in pages[0] and "'day', 'shop', as in the fit\n" in capsys.readouterr().err
    a_table("new.csv", NEW, dict(text="w"))
    assert answers(capsys, "out", "new.csv")[1] == "3 documents; text: column 'text'; ids: row numbers, as in the fit"
    assert main(["update", "out", "new.csv", "--documents", "dated.csv"]) == 0
    assert main(["cluster", "dated.csv", "--columns", "days", *tickets, "--force"]) == 2
    assert "no field 'days', asked for by --columns. There are: 'day', 'text', 'shop'" in capsys.readouterr().err
    assert main(["cluster", "dated.csv", "--date-field", "day"]) == 2 and "did you mean --columns?" in capsys.readouterr().err
    assert main(["cluster", "dated.csv", "--columns", "day", "--memory", "2GB", *tickets, "--force"]) == 2
    assert "there are only --text-field, --id-field and --heads" in capsys.readouterr().err

def test_columns_are_kept_with_texts(tickets, capsys):
    from nmf2.topictree import TopicTree
    a_table("shops.csv", SPORT + GARDEN, dict(text="w", shop="kind"))
    assert main(["cluster", "shops.csv", "--columns", "shop", "--keep-texts", *tickets]) == 0
    assert main(["export", "out", "--to", "html", "--out", "page.html"]) == 0
    assert '"name":"shop"' in Path("page.html").read_text(encoding="utf-8")
    a_table("new.csv", NEW, dict(text="w"))
    capsys.readouterr()
    assert main(["update", "out", "new.csv"]) == 0
    assert "note: new.csv: no field 'shop', from which a column to look at came in the fit, so this is left out. There are: 'text'. --columns ... takes another\n" in capsys.readouterr().err
    assert TopicTree.load("out").given_.columns == dict(shop=[*"ab"*6, "", "", ""])

def test_columns_that_are_lists(tickets, capsys):
    Path("tagged.jsonl").write_text("\n".join(json.dumps(dict(text=text, tags=["new", "late"][:i % 3])) for i, text in enumerate(SPORT + GARDEN)))
    assert main(["cluster", "tagged.jsonl", "--columns", "tags", *tickets]) == 0
    assert "['new', 'late']" in Path("out/tree.html").read_text(encoding="utf-8")

def test_options_of_which_nothing_would_come(tickets, capsys):
    a_table("shops.csv", SPORT + GARDEN, dict(text="w", shop="kind"))
    assert main(["cluster", "shops.csv", "--keep-texts", *tickets]) == 0
    capsys.readouterr()
    for argv, why in ([("predict", "out", "shops.csv", "--columns", "shop"), "there is no option --columns; other commands have it ("],
                      [("grow", "out", "--leaves", "2", "--columns", "shop"), "there is no option --columns; other commands have it ("],
                      [("explore", "out", "--no-open", "--columns", "shop"), "--columns is for documents that are read: give PATH, too"],
                      [("explore", "out", "--no-open", "--read", "pattern=x"), "--read is for documents that are read: give PATH, too"]):
        assert main(argv) == 2 and why in capsys.readouterr().err

def test_labels_of_the_fit_are_on_the_page_after_an_update_without(tickets, monkeypatch, capsys):
    import nmf2.serving
    a_table("a.csv", SPORT + GARDEN, dict(text="w", id="n", group="kind"))
    a_table("b.csv", NEW, dict(text="w", id="n"), first=100)
    assert main(["cluster", "a.csv", *tickets]) == 0
    assert main(["update", "out", "b.csv", "--documents", "a.csv"]) == 0
    assert "note: b.csv: no field 'group', from which labels came in the fit, so this is left out" in capsys.readouterr().err
    pages = []
    monkeypatch.setattr(nmf2.serving, "page_server", lambda page, port: pages.append(page) or types.SimpleNamespace(server_address=("", 1)))
    monkeypatch.setattr(nmf2.serving, "serve", lambda *args: None)
    monkeypatch.setattr(nmf2.serving, "address", lambda server: "there")
    assert main(["explore", "out", "a.csv", "b.csv", "--no-open"]) == 0
    told = capsys.readouterr().err
    assert "3 documents; text: column 'text'; ids: 'id', as in the fit" in told and "labels: 'group', as in the fit" in told
    assert '["a",6]' in pages[0] and '["b",6]' in pages[0]


@pytest.fixture
def mails(tmp_path, monkeypatch):
    "Mails of two subjects from two places, which are more alike by their places"
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    words = ["goal ball net team referee".split(), "vote law court judge senate".split()]
    places = ["ohio cleveland reserve western", "uk england london thames"]
    def mail(i): return (f"From: {i}@{places[i//2 % 2].split()[0]}.edu\nOrganization: {places[i//2 % 2]}\nReply-To: {places[i//2 % 2]} {places[i//2 % 2]}\n"
                         f"Subject: {words[i % 2][0]}\n\n{' '.join(rng.choice(words[i % 2], 4))}")
    lines = [json.dumps(dict(text=mail(i), subject=str(i % 2))) for i in range(48)]
    Path("old.jsonl").write_text("\n".join(lines[:40]))
    Path("new.jsonl").write_text("\n".join(lines[40:]))
    return lines

def titles_in(folder): return {row["title"] for row in csv.DictReader(open(Path(folder)/"assignments.csv", encoding="utf-8"))}

def test_heads_of_mails(mails, capsys):
    from nmf2.topictree import TopicTree
    said = "40 mails read without heads, but for the subject (--heads keeps them)"
    fit = ["cluster", "old.jsonl", "--label-field", "subject", *SMALL]
    assert main([*fit, "-o", "out"]) == 0
    assert said in capsys.readouterr().err and said in Path("out/report.txt").read_text()
    assert not re.search("ohio|england|london|cleveland", " ".join(titles_in("out"))) and TopicTree.load("out").reading_["heads"] is False
    assert "ohio" not in TopicTree.load("out").vocab_
    assert main([*fit, "--heads", "-o", "kept"]) == 0
    assert "heads" not in capsys.readouterr().err and "ohio" in TopicTree.load("kept").vocab_ and "heads" not in TopicTree.load("kept").reading_
    assert main([*fit, "--method", "hiernmf2", "-o", "published"]) == 0
    assert "heads" not in capsys.readouterr().err
    assert main(["predict", "out", "new.jsonl"]) == 0
    assert "8 mails read without heads" in capsys.readouterr().err
    assert main(["predict", "out", "new.jsonl", "--heads"]) == 0 and main(["predict", "kept", "new.jsonl"]) == 0
    assert "without heads" not in capsys.readouterr().err
    assert main(["explore", "out", "--heads"]) == 2 and "--heads is for documents that are read: give PATH, too" in capsys.readouterr().err
    assert main(["cluster", "old.jsonl", "--read", "heads=false", "-o", "x"]) == 2 and "'heads' is no option of a reader" in capsys.readouterr().err

def test_rows_of_partitions_follow_the_files(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    for k in (0, 2, 10): Path("in", f"part-{k}.jsonl").write_text("".join(f'{{"text": "{word} {other}"}}\n' for word in ("ball", "vote") for other in ("goal", "law")))
    assert main(["cluster", "in", "--memory", "1GB", "--leaves", "2", "--min-df", "1", "--max-df", "1.0", "-o", "out"]) == 0
    said = "rows follow the files by name, letter by letter: part-0.jsonl, part-10.jsonl, part-2.jsonl"
    assert said in capsys.readouterr().err and said in Path("out/report.txt").read_text()
    assert Path("out/assignments.csv").read_text().splitlines()[0] == "row,leaf,leaf_number,title"
    for k in (0, 2, 10): Path("in", f"part-{k}.jsonl").write_text("".join(f'{{"text": "{word} {word} goal law", "id": "{k}/{word}"}}\n' for word in ("ball", "vote")))
    assert main(["cluster", "in", "--memory", "1GB", "--leaves", "2", "--min-df", "1", "--max-df", "1.0", "-o", "named"]) == 0
    with open("named/assignments.csv", newline="") as file: rows = list(csv.DictReader(file))
    assert [row["id"].lstrip("'") for row in rows] == [f"{k}/{word}" for k in (0, 10, 2) for word in ("ball", "vote")]
    assert list(rows[0]) == ["row", "id", "leaf", "leaf_number", "title"] and len({row["leaf"] for row in rows[::2]}) == 1
    assert "names are those" not in capsys.readouterr().err
    Path("in/part-2.jsonl").write_text(Path("in/part-0.jsonl").read_text())
    assert main(["cluster", "in", "--memory", "1GB", "--leaves", "2", "--min-df", "1", "--max-df", "1.0", "-o", "same"]) == 0
    assert "2 of 6 names are those of an earlier document, too: go by rows" in " ".join(capsys.readouterr().err.split())
    assert main(["cluster", os.devnull, "--memory", "1GB", "-o", "none"]) == 2
    assert "PATH must be a file or a folder with --memory" in capsys.readouterr().err


def test_heads_of_mails_in_partitions(mails, capsys):
    from nmf2.topictree import TopicTree
    def fit(out, *more): return main(["cluster", "old.jsonl", "--memory", "2GB", *more, *SMALL, "-o", out])
    assert main(["cluster", "old.jsonl", *SMALL, "-o", "here"]) == 0
    capsys.readouterr()
    assert fit("out") == 0
    assert "; mails, if any, read without heads, but for the subject (--heads keeps them)" in capsys.readouterr().err
    there, here = TopicTree.load("out"), TopicTree.load("here")
    assert there.reading_["heads"] is False and there.labels_.tolist() == here.labels_.tolist() and there.tree_.headings == here.tree_.headings
    assert fit("kept", "--heads") == 0
    assert "heads" not in capsys.readouterr().err and "ohio" in TopicTree.load("kept").vocab_

def test_heads_of_mails_are_left_out_of_what_is_new_though_there_were_none_before(mails, capsys, tmp_path):
    from nmf2.topictree import TopicTree
    bodies = [dict(text=json.loads(line)["text"].split("\n\n", 1)[1]) for line in mails]
    Path("plain.jsonl").write_text("\n".join(map(json.dumps, bodies[:40])))
    Path("mixed").mkdir()
    Path("mixed/a.jsonl").write_text("\n".join(map(json.dumps, bodies[:30])))
    Path("mixed/b.jsonl").write_text("\n".join(mails[30:40]))
    assert main(["cluster", "plain.jsonl", *SMALL, "-o", "out"]) == 0 and "heads" not in capsys.readouterr().err
    assert main(["update", "out", "new.jsonl", "--documents", "plain.jsonl"]) == 0 and "8 mails read without heads" in capsys.readouterr().err
    assert "ohio" not in TopicTree.load("out").vocab_
    assert main(["cluster", "mixed", "--memory", "2GB", *SMALL, "-o", "parts"]) == 0
    assert "mails, if any, read without heads" in capsys.readouterr().err and "mails, if any, read without heads" in Path("parts/report.txt").read_text()
    assert "ohio" not in TopicTree.load("parts").vocab_
    assert main(["predict", "parts", "new.jsonl"]) == 0 and "8 mails read without heads" in capsys.readouterr().err

def test_a_page_shows_the_heads_that_were_read(mails, capsys, monkeypatch):
    import nmf2.serving
    pages = []
    monkeypatch.setattr(nmf2.serving, "page_server", lambda page, port: pages.append(page) or types.SimpleNamespace(server_address=("", 1), server_port=1))
    monkeypatch.setattr(nmf2.serving, "serve", lambda server, open: None)
    assert main(["cluster", "old.jsonl", "--method", "hiernmf2", *SMALL, "-o", "published"]) == 0
    assert main(["explore", "published", "old.jsonl", "--no-open"]) == 0
    assert "without heads" not in capsys.readouterr().err and "Reply-To" in pages[0]

def test_heads_of_mails_of_a_known_collection(mails, capsys, monkeypatch):
    monkeypatch.setenv("NMF2_DATA", str(Path.cwd()/"data"))
    Path("data").mkdir()
    Path("old.jsonl").rename("data/some_mails.jsonl")
    assert main(["cluster", "some_mails", *SMALL, "-o", "out"]) == 0 and "40 mails read without heads" in capsys.readouterr().err
    assert main(["predict", "out", "some_mails"]) == 0 and "40 mails read without heads" in capsys.readouterr().err

def test_names_that_a_file_has_not_are_told(tmp_path, capsys):
    "A fit in partitions keeps no names; the tables say so, and a fit in memory keeps them"
    for begin, options, told in (("d", [], False), ("", [], False), ("d", ["--memory", "1GB"], True)):
        rows = [dict(id=f"{begin}{i}", text=f"{'rose garden soil' if i % 2 else 'ice puck rink'} word{i % 7}") for i in range(40)]
        (tmp_path/"ids.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        out = str(tmp_path/f"out{begin}{len(options)}")
        assert main(["cluster", str(tmp_path/"ids.jsonl"), "-o", out, "--leaves", "2", "--id-field", "id", *options]) == 0
        capsys.readouterr()
        assert main(["export", out, "--to", "assignments"]) == 0
        said = capsys.readouterr()
        assert ("knows no names of documents" in said.err) == told and (f"\n5,{begin}5," in said.out) != told
        assert main(["export", out, "--to", "assignments", "--quiet"]) == 0
        assert capsys.readouterr() == (said.out, "")

def test_the_head_of_a_table_with_one_column_is_told(tmp_path, capsys):
    texts = [f"{'rose garden soil' if i % 2 else 'ice puck rink'} word{i % 7}" for i in range(40)]
    (tmp_path/"c.csv").write_text("\n".join(["text", *texts]), encoding="utf-8")
    assert main(["cluster", str(tmp_path/"c.csv"), "-o", str(tmp_path/"out"), "--leaves", "2"]) == 0
    capsys.readouterr()
    for first, told in (("text", True), ("ice puck", False)):
        (tmp_path/"few.txt").write_text(f"{first}\nrose soil\n", encoding="utf-8")
        assert main(["predict", str(tmp_path/"out"), str(tmp_path/"few.txt")]) == 0
        assert ("looks like the head of a table" in capsys.readouterr().err) == told


def test_odd_ways_to_ask_for_partitions(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("goal\nvote\n"*9)
    for options, told in ((["--memory", "0"], "--memory must be at least 1GB, got 0 bytes"), (["--memory", "0GB"], "--memory must be at least 1GB"),
                          (["--scheduler", ""], "--scheduler is empty; give an address"),
                          (["--memory", "1GB", "--checkpoint", "out/cp"], "--checkpoint out/cp lies in --out out, which must be empty until all is done"),
                          (["--memory", "1GB", "--checkpoint", "out"], "lies in --out out")):
        assert main(["cluster", "a.txt", "--out", "out", *options]) == 2
        assert told in capsys.readouterr().err and not Path("out").exists()
