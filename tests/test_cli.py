"The nmf2 command from end to end"
import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from nmf2 import cli
from nmf2.cli import FILES, main
from nmf2.formats import as_cell

ROOT = Path(__file__).resolve().parent.parent
ENV = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
SPORT = ["the striker scored a late goal", "a goal and a red card in the match", "the coach praised the striker",
         "match lost after a late red card", "the striker missed the match", "coach and striker after the goal"]
GARDEN = ["sow the beans in warm soil", "water the tomato and the beans", "warm soil for the tomato",
          "prune the roses and water the soil", "roses need water", "tomato and beans need soil"]
SMALL = ["--leaves", "2", "--min-df", "1", "--max-df", "1.0"]

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
    return subprocess.run([sys.executable, "-m", "nmf2", *map(str, argv)], capture_output=True, text=True, encoding="utf-8",
                          env=ENV, **options)

def hidden(folder): return [p.name for p in Path(folder).iterdir() if p.name.startswith(".")]

# ---- it does what it says

def test_a_folder_of_texts(letters, capsys):
    assert main(["cluster", "letters", *SMALL]) == 0
    printed = capsys.readouterr()
    out = letters.parent/"nmf2-results"/"letters"
    assert {p.name for p in out.iterdir()} == set(FILES) and not hidden(out.parent)
    for word in ("striker", "soil", "12 documents", "NMI to the labels: leaves 1.00, flat topics 1.00",
                 str(Path("nmf2-results")/"letters"), *FILES): assert word in printed.out
    took = r"reading \d+\.\d s, counting \d+\.\d s, weighting \d+\.\d s, growing \d+\.\d s, writing \d+\.\d s\n"
    assert "Reading" in printed.err and re.search(took, printed.err)
    report = (out/"report.txt").read_text()
    assert report.startswith("letters: 12 documents, ") and "Kept " in report and re.search(took + "$", report)
    found = rows(out/"assignments.csv")
    assert len(found) == 12 and {r["id"] for r in found} >= {"sport/0.txt", "garden/5.txt"}
    for r in found: assert r["leaf"] in "01" and r["leaf_number"] == r["flat_topic"] and r["label_1"] == r["id"].split("/")[0]
    assert len({(r["label_1"], r["leaf"]) for r in found}) == 2
    nodes = rows(out/"topics.csv")
    assert [r["node"] for r in nodes] == ["", "0", "1"] and [int(r["size"]) for r in nodes] == [12, 6, 6]
    assert json.loads((out/"tree.json").read_text(encoding="utf-8"))
    assert (out/"tree.html").read_text(encoding="utf-8").lstrip().startswith("<!")

def test_tables_agree_with_each_other(tmp_path, capsys):
    from nmf2.data import planted_tree
    corpus = planted_tree((3, 3), n_docs=300)
    np.savez(tmp_path/"planted.npz", X=corpus.X.toarray(), vocab=corpus.vocab.astype(str))
    assert main(["cluster", str(tmp_path/"planted.npz"), "--leaves", "9", "--out", str(tmp_path/"out"), "--quiet"]) == 0
    docs, nodes = rows(tmp_path/"out"/"assignments.csv"), rows(tmp_path/"out"/"topics.csv")
    leaves = {r["node"]: r for r in nodes if r["leaf_number"]}
    assert len(docs) == 300 and [int(r["leaf_number"]) for r in leaves.values()] == list(range(len(leaves)))
    for id, leaf in leaves.items():
        mine = [d for d in docs if d["leaf"] == id]
        assert len(mine) == int(leaf["size"])
        assert {d["leaf_number"] for d in mine} <= {leaf["leaf_number"]} and {d["terms"] for d in mine} <= {leaf["terms"]}
        flat = [d for d in docs if d["flat_topic"] == leaf["leaf_number"]]
        assert len(flat) == int(leaf["in_flat_topic"]) and {d["flat_terms"] for d in flat} <= {leaf["flat_terms"]}
    outliers = [d for d in docs if d["leaf_number"] == "-1"]
    assert all(d["leaf"] == d["terms"] == "" and int(d["flat_topic"]) >= 0 for d in outliers)
    assert len(outliers) == sum(int(r["outliers"]) for r in nodes)
    assert capsys.readouterr().err == ""

def test_running_twice_gives_the_same_files(letters, capsys):
    for out in ("a", "b"): assert main(["cluster", "letters", "--out", out, *SMALL]) == 0
    for name in FILES:
        first, second = (Path(out, name).read_bytes() for out in "ab")
        if name == "report.txt": first, second = (re.sub(rb"\d+\.\d s\b", b"", text) for text in (first, second))   # the seconds it took
        assert first == second

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
    (["cluster", "letters", "--leaves", "many"], "argument --leaves"),
    (["cluster", "letters", "--min-df", "500"], "Lower min_df"),
    (["cluster", "letters", "--format", "word"], "format must be one of"),
    (["cluster", "letters", "--read", "colour=red"], "no option 'colour'"),
    (["cluster", "letters", "--read", "colour"], "not NAME=VALUE"),
    (["cluster", "letters", "--min-df", "few"], "neither a whole number nor a share"),
    (["cluster", "letters", "--min-df", "1.5"], "min_df"),
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
    (["clusterr"], "invalid choice"),
])
def test_errors_take_one_line_and_leave_nothing(letters, capsys, argv, why):
    Path("empty").mkdir()
    Path("full").mkdir()
    Path("full", "notes.txt").write_text("mine")
    Path("one.jsonl").write_text(json.dumps(dict(text=SPORT[0])))
    np.savez("weights.npz", X=np.random.default_rng(0).random((10, 8)))
    before = sorted(letters.parent.rglob("*"))
    assert main([*argv, "--quiet"]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and why in printed.err and "error: " in printed.err and "Traceback" not in printed.err
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
    assert "1 document\n" in err and "1 documents" not in err

def test_empty_documents_are_reported(letters, capsys):
    (letters/"sport"/"empty.txt").write_text("")
    (letters/"sport"/"the.txt").write_text("the and of")
    assert main(["cluster", "letters", *SMALL]) == 0
    printed = capsys.readouterr()
    assert "2 of them for want of any of the terms" in printed.out and "note: 2 of 14 documents have no terms" in printed.err
    assert len(rows(Path("nmf2-results", "letters", "assignments.csv"))) == 14

def test_more_leaves_than_can_be_had(letters, capsys):
    assert main(["cluster", "letters", "--leaves", "200", "--min-df", "1", "--max-df", "1.0"]) == 0
    printed = capsys.readouterr()
    assert "note: " in printed.err and int(re.search(r"(\d+) topics", printed.out)[1]) < 200

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
def test_a_folder_nobody_may_write_in(letters):
    Path("locked").mkdir(mode=0o500)
    with pytest.raises(ValueError, match="can't write"): check_target("locked/out")

def test_interrupted_between_files(tmp_path):
    (tmp_path/"out").mkdir()
    with pytest.raises(KeyboardInterrupt), whole_folder(tmp_path/"out") as part:
        (part/"a").write_text("half")
        raise KeyboardInterrupt
    assert list(tmp_path.rglob("*")) == [tmp_path/"out"]

# ---- signals and pipes

@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
@pytest.mark.parametrize("when", ["Reading", "Counting", "Growing"])
def test_ctrl_c(tmp_path, when):
    p = subprocess.Popen([sys.executable, "-u", "-m", "nmf2", "demo", "--leaves", "500"], env=ENV, cwd=tmp_path,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))     # which shells set aside for background jobs
    try:
        while when not in (line := p.stderr.readline()): assert line, "ended before it was stopped"
        time.sleep(0.3)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=60)
    finally: p.kill()
    assert p.returncode == 130 and out == "" and list(tmp_path.iterdir()) == []
    assert err.rstrip().endswith("nmf2: stopped; nothing was written") and "Traceback" not in err

def test_ctrl_c_that_somebody_swallows(letters, monkeypatch, capsys):
    def split(*args, **options):
        try: signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt: pass                     # as libraries may, deep inside
        return whole(*args, **options)
    whole, handler = cli.split, signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(cli, "split", split)
    assert main(["cluster", "letters", *SMALL]) == 130
    assert "stopped; nothing was written" in capsys.readouterr().err and not Path("nmf2-results").exists()
    assert signal.getsignal(signal.SIGINT) is handler
    monkeypatch.setattr(cli, "split", whole)
    assert main(["cluster", "letters", *SMALL]) == 0       # the next command begins anew

@pytest.mark.skipif(os.name == "nt", reason="needs a Unix pipe")
def test_reader_that_stops_early(letters):
    pipe, end = os.pipe()
    os.close(pipe)
    done = subprocess.run([sys.executable, "-m", "nmf2", "cluster", "letters", *SMALL], env=ENV, stdout=end, stderr=subprocess.PIPE, text=True)
    os.close(end)
    assert done.returncode == 0 and "Traceback" not in done.stderr and "BrokenPipe" not in done.stderr
    assert Path("nmf2-results", "letters", "tree.html").exists()

def test_terminal_without_the_letters(letters):
    done = subprocess.run([sys.executable, "-m", "nmf2", "cluster", "letters", *SMALL], capture_output=True,
                          env={**ENV, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 0, done.stderr
