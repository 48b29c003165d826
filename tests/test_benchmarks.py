"The benchmark scripts run: each on a tiny matrix, in a process of its own"
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from programs import python

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT/"benchmarks"))
on_linux = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory is read from /proc")


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    "Run a script with --quick; its rows"
    out = tmp_path_factory.mktemp("benchmarks")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NMF2_DATA": ""}
    if "NUMBA_DISABLE_JIT" in env: env["NUMBA_DISABLE_JIT"] = "0"
    def run(name, *switches, wrote=None):
        program = [*python(), ROOT/"benchmarks"/f"{name}.py", "--quick", "--out", out, *switches]
        done = subprocess.run(program, env=env, capture_output=True, text=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        record = json.loads((out/f"{wrote or name}.json").read_text(encoding="utf-8"))
        assert record["machine"]["cores"] >= 1 and record["machine"]["numba"] and record["what"]
        assert record["command"] == " ".join(["python", f"benchmarks/{name}.py", "--quick", *switches])
        assert done.stdout.strip() in (out/f"{wrote or name}.md").read_text(encoding="utf-8")
        return record["rows"]
    return run


def test_sweep(quick):
    rows = quick("sweep")
    assert {row["dtype"] for row in rows} == {"float32", "float64"} and {row["threads"] for row in rows} >= {1}
    for row in rows:
        assert {"nmf2", "SciPy CSR", "SciPy CSC", "gather and add", "read"} <= set(row["seconds"])
        assert min(row["seconds"].values()) > 0


def test_instructions_and_plain_numba(quick):
    (row,) = quick("sweep", "--instructions", wrote="instructions")
    assert row["dtype"] == "float32" and set(row["seconds"]) == {"sweep", "product with 20 columns", "sum in 8 columns"}
    assert all(set(s) == {"instructions", "plain"} and min(s.values()) > 0 for s in row["seconds"].values())


@on_linux
def test_tree(quick):
    (row,) = quick("tree")
    assert set(row["methods"]) == {"HierNMF2", "FlatNMF2", "RepeatedBisection", "BisectingKMeans", "KMeans", "NMF", "LatentDirichletAllocation"}
    assert row["methods"]["HierNMF2"]["memory"] > 0 and row["methods"]["HierNMF2"]["nmi"][0] > .2
    assert set(row["ratios"]) == {"BisectingKMeans / HierNMF2", "NMF / FlatNMF2", "FlatNMF2 / HierNMF2",
                                  "RepeatedBisection / BisectingKMeans"}


def test_ensembles(quick):
    (row,) = quick("ensembles")
    assert set(row["seconds"]) == {"one run", "ensemble", "aggregation"} and row["rounds"] >= 1
    assert row["runs"] == pytest.approx(row["seconds"]["ensemble"]/row["seconds"]["one run"])


def test_scaling(quick):
    rows = quick("scaling")
    assert [row["series"] for row in rows] == ["nonzeros", "leaves", "threads"]
    assert all(p["seconds"] > 0 and p["sweeps"] > 1 for row in rows for p in row["points"])


def test_scaling_full(quick):
    default, papers = quick("scaling", "--full", wrote="scaling_full")
    assert default["leaves"] == papers["leaves"] == 5
    assert default["fit_in_sweeps"] == pytest.approx(default["seconds"]/default["sweep"])


@on_linux
def test_scaling_wikipedia(quick):
    (row,) = quick("scaling", "--wikipedia", wrote="scaling_wikipedia")
    assert row["peak"] >= row["peak_made"] > row["bytes"] and row["leaves"] == 5


def test_predicting(quick):
    (row,) = quick("predicting")
    assert {"predict", "judge", "weights", "SciPy, X @ H.T", "scikit-learn, NMF.transform"} <= set(row["a_second"]) and row["topics"] == 8
    assert set(row["one_ms"]) == {"predict", "transform", "answers"} and min(row["one_ms"].values()) > 0
    assert all(row["a_second"][name] == round(row["documents"]/s) for name, s in row["seconds"].items())


def test_strangers(quick):
    rows = quick("strangers")
    assert len(rows) == 6 and all(0 <= row[way] <= 1 for row in rows for way in ("focus", "near", "both"))
    assert all(row["both"] < .2 for row in rows if row["fit"] == row["asked"]) and {row["documents"] for row in rows} == {150, 300}


def test_updating(quick):
    rows = quick("updating")
    assert [row["part"] for row in rows] == [1, 2, 3, 4] and rows[-1]["documents"] == 500
    assert all(row["ids"] >= row["ids_anew"] and row["gone"] == 0 and 0 <= row["moved"] < .1 and .8 < row["nmi"] < 1 + 1e-9 for row in rows)


@on_linux
def test_memory(quick):
    (row,) = quick("memory")
    assert row["ratio"] == pytest.approx(np.median(row["peaks"])/row["bytes"]) and row["ratio"] > 0


@on_linux
def test_larger(quick):
    (row,) = quick("larger")
    assert row["nmi"] > .9 and row["documents"] == 6000 and row["nonzeros"] > 3e5 and row["bytes"] > 3e6


def test_coldstart(quick):
    rows = {row["what"]: row for row in quick("coldstart")}
    assert min(rows[name]["median"] for name in ("import nmf2", "warm fit", "the command, run 1")) > 0
    assert rows["import nmf2"]["median"] <= rows["from nmf2 import HierNMF2"]["median"]         # the second is the first and more
    assert rows["first fit, empty cache"]["compiled"] > 0                  # that it takes longer is seen where nothing else runs
    assert rows["first fit, filled cache"]["compiled"] == rows["import nmf2"]["compiled"] == 0

@pytest.mark.skipif(not (ROOT/".git").exists(), reason="there is no history to take an earlier state from")
def test_before(quick):
    (row,) = quick("before")
    assert row["commit"] == "HEAD" and row["ratio"] == round(row["seconds"]["now"]/row["seconds"]["before"], 3) > 0


# ---- what they share

def test_weigh_is_the_formula():
    from common import weigh

    from nmf2.data import planted_tree
    X = planted_tree(n_docs=100).X
    dense, df = X.toarray(), (X.toarray() > 0).sum(axis=0)
    expected = np.where(dense > 0, 1 + np.log(np.maximum(dense, 1)), 0)*np.log(100/np.maximum(df, 1))
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(weigh(X).toarray(), expected, atol=1e-12)


def test_interleaved_takes_turns():
    from common import interleaved
    seen = []
    found = interleaved({name: lambda name=name: seen.append(name) for name in "ab"}, 2, pause=0, at_least=0)
    assert seen[-4:] == ["a", "b", "a", "b"] and set(found) == {"a", "b"}


def test_slope():
    from common import slope
    assert slope([1, 2, 4], [3, 6, 12]) == pytest.approx(1)


def test_the_command_leaves_out_places(monkeypatch):
    from common import command
    monkeypatch.setattr("sys.argv", ["/somewhere/papers.py", "--part", "time", "--runs", "/there/p", "--quick", "--out=/there"])
    assert command() == "python benchmarks/papers.py --part time --quick"
    monkeypatch.setattr("sys.argv", ["papers.py", "--only", "CLUTO, damped tf,LDA"])
    assert command() == "python benchmarks/papers.py --only 'CLUTO, damped tf,LDA'"


def test_runs_come_in_order_and_a_failure_ends_all(capsys, tmp_path):
    from common import WithClasses, runs_of
    def size(collection, k, seed): return dict(n=len(collection.some(seed)[1]) + k)
    def first(collection, k, seed): return dict(n=int(collection.some(seed)[0][0,0]))
    have = {name: (WithClasses(np.arange(10.)[:,None], range(10)), None) for name in "ba"}
    runs = runs_of(dict(size=size, first=first), have, True, clusters=[3, 2], seeds=[1, 0])
    assert [(r["collection"], r["k"], r["method"], r["seed"]) for r in runs] == [(c, k, m, s) for c in "ba" for k in (2, 3) for m in ("size", "first") for s in (0, 1)]
    assert {r["n"] for r in runs if r["method"] == "size" and r["k"] == 2} == {10}                      # eight of ten documents
    drawn = {r["seed"]: r["n"] for r in runs if r["method"] == "first"}
    assert drawn == {seed: np.random.default_rng(seed).permutation(10)[0] for seed in (0, 1)}
    path = tmp_path/"runs.jsonl"
    def kept(methods, seeds): return len(runs_of(methods, have, True, clusters=2, seeds=seeds, path=path))
    assert kept(dict(size=size, first=first), range(3)) == 12 and kept(dict(size=size), range(2)) == 4      # others in the file are left out
    other = {name: (WithClasses(np.arange(10.)[:,None], [1]*10), None) for name in "ba"}
    with pytest.raises(ValueError, match="is not the one in"): runs_of(dict(size=size), other, True, clusters=2, seeds=0, path=path)
    def fails(collection, k, seed): raise ValueError("no such luck")
    with pytest.raises(SystemExit, match="1 of 2 runs failed"): runs_of(dict(size=size, fails=fails), {"a": have["a"]}, True, clusters=2, seeds=0)
    assert "fails on a, k = 2, seed 0: ValueError: no such luck" in capsys.readouterr().err


@on_linux
def test_peak_beyond_sees_what_is_freed_again():
    from common import peak_beyond
    assert 75e6 < peak_beyond(lambda: np.ones(10_000_000).sum()) < 120e6


def test_rawtext(quick):
    (row,) = quick("rawtext")
    assert {"reading", "counting", "scikit-learn", "weighting", "growing", "the page"} <= set(row["seconds"]) and row["terms"] > 1000
    assert {"jsonl, without", "csv, without"} <= set(row["reading_files"]) and row["way"] == "compiled"


def test_nmf(quick):
    (row,) = quick("nmf")
    assert set(row["methods"]) == {"scikit-learn", "hals", "bpp"} and row["methods"]["hals"]["turns_to_goal"] >= 1
    assert set(row["ratios"]) == set(row["ratios_to_goal"]) == {"hals", "bpp"}
    assert max(m["error"] for m in row["methods"].values()) <= row["goal"]*1.001


def test_stopping(quick):
    rows = {row["method"]: row for row in quick("stopping")}
    assert len(rows) == 9 and all(len(row[figure]) == 1 for row in rows.values() for figure in ("leaves", "flat", "sweeps"))
    papers, default = rows["papers: random, 1e-4"], rows["svd, side_tol .002 (default)"]
    assert default["flat"][0] > .9 and default["sweeps"][0] < papers["sweeps"][0]               # planted topics are found


def test_weighting(quick):
    rows = {row["setting"]: row for row in quick("weighting")}
    assert rows["default"]["classes"] == 4 and rows["default"]["leaves"] == rows["float64"]["leaves"]
    assert rows["default"]["flat"][0] > .9 and rows["max_df=0.1"]["shape"][1] < rows["default"]["shape"][1]


def test_xu2003(quick):
    rows = quick("xu2003")
    assert [row["k"] for row in rows] == [2, 2, 3, 3]
    for row in rows: assert row["scores"]["NMF-NCW"] == [1, 1] and len(row["scores"]) == 7      # planted topics are found


def test_shinnou2007(quick):
    (row,) = quick("shinnou2007")
    assert row["entropy"]["weighted"] <= .05 and row["entropy"]["repeated bisection"] <= .05 and len(row["entropy"]) == 15


def test_race2008(quick):
    (row,) = quick("race2008")
    assert len(row["alone"]) == 9 and row["rounds"][-1]["solution"] >= .9 and 1 <= row["rounds"][0]["common"] <= 9


def test_methods(quick):
    rows = {row["method"]: row for row in quick("methods")}
    assert not [row for row in rows.values() if row["errors"]]
    assert rows["repeated-bisection"]["nmi"][0] == rows["nmf-hals"]["nmi"][0] == rows["lda"]["nmi"][0] == 1


def test_choices(quick):
    rows = quick("choices")
    flat = {row["method"]: row["mean"] for row in rows if row["kind"] == "flat" and row["weights"] == "normalized cut"}
    assert flat['leaf_choice="error"'] > .9 and len(flat) == 30 and all(0 <= value <= 1 for value in flat.values())
    assert {row["method"] for row in rows if row["kind"] == "leaves"} >= {"default", "balanced cuts"}


def test_papers(quick):
    from papers import METHODS, wanted
    rows = {(row["part"], row["method"]): row for row in quick("papers")}
    timed = wanted("time", None, METHODS)
    assert set(rows) == {("quality", name) for name in METHODS} | {("time", name) for name in timed} and len(timed) == len(METHODS) - 2
    assert not [row["errors"] for row in rows.values() if row["errors"]]
    hier, flat = (rows["quality", name]["figures"] for name in ("HierNMF2", "FlatNMF2"))
    assert [hier[f"nmi1_{k}"][2] for k in range(2, 7)] == [2]*5 and {f for f in flat if f[:4] == "nmi1"} == {"nmi1_3", "nmi1_6"}
    assert hier["nmi1_6"][0] > .9 and flat["nmi0_3"][0] > .9                                    # planted topics are found
    assert rows["quality", "nmf-hier"]["figures"]["same"][0] == 1                               # turn for turn, as the papers say
    assert all(rows["time", name]["figures"]["seconds_6"][0] > 0 for name in timed)


def test_papers_keeps_what_is_not_measured_again(tmp_path):
    from papers import METHODS, earlier
    path, kinds = tmp_path/"papers.json", [("quality", "a", "LDA"), ("quality", "a", "XRAY"), ("time", "b", "LDA")]
    assert earlier(path, ["time"], ["LDA"]) == ([], [], {})
    rows = [dict(part=part, collection=name, method=method) for part, name, method in kinds]
    made = [dict(part="quality", methods=["LDA", "XRAY"], command="c"), dict(part="time", methods=["LDA"], command="d")]
    path.write_text(json.dumps(dict(rows=rows, collections=dict(a=1, b=2), measured=made)))
    assert earlier(path, ["quality"], ["LDA"]) == (rows[1:], [dict(made[0], methods=["XRAY"]), made[1]], dict(a=1, b=2))
    assert earlier(path, ["quality"], list(METHODS)) == (rows[2:], made[1:], dict(b=2))
    assert earlier(path, ["quality", "time"], list(METHODS)) == ([], [], {})
    assert earlier(path, ["quality", "time"], ["LDA"]) == (rows[1:2], [dict(made[0], methods=["XRAY"])], dict(a=1))


def test_papers_results_say_how_each_row_was_measured():
    record = json.loads((ROOT/"benchmarks"/"results"/"papers.json").read_text(encoding="utf-8"))
    said = [(one["part"], m) for one in record["measured"] for m in one["methods"]]
    assert set(said) == {(row["part"], row["method"]) for row in record["rows"]} and len(said) == len(set(said))


@pytest.mark.slow
def test_papers_flat_topics_are_cut_from_one_tree():
    from papers import PLAIN, Measured, ready

    from nmf2 import FlatNMF2
    from nmf2.bisection import RepeatedBisection
    from nmf2.data import planted_tree
    from nmf2.evaluate import nmi
    data = ready(planted_tree((3, 2), n_docs=200, overlap=.6, random_state=1), [3, 6])
    X, (_, classes) = data.matrices["papers"], data.levels
    found = Measured("FlatNMF2", data.levels, [3, 6])(X, 6, 0)
    for k in (3, 6): assert found[f"nmi1_{k}"] == nmi(FlatNMF2(k, **PLAIN, moves_max_iter=0, random_state=0).fit(X).labels_, classes)
    found = Measured("CLUTO", data.levels, [3, 6])(X, 6, 0)
    for k in (3, 6): assert found[f"nmi1_{k}"] == nmi(RepeatedBisection(k, method="rb", random_state=0).fit(X).labels_, classes)


def test_papers_own_words():
    from papers import own_words
    message = "From: a@b\nSubject: x\n\nIn article <1@c> d@e (D) writes:\n> cited\nDE> cited\n|> cited\nmine: 1 > 0\n\n : cited\n| cited\nmore :)\n-- \nA. B."
    assert own_words(message) == "From: a@b\nSubject: x\n\nmine: 1 > 0\n\nmore :)"
    long = "\n".join(["head", "", "---", *map(str, range(20))])
    assert own_words(long).split() == ["head", "---", *map(str, range(20))]                     # dashes far from the end are none


def test_levels(quick):
    rows = {row["method"]: row for row in quick("levels")}
    assert len(rows) == 9 and rows["TopicTree"]["sizes"] == [2, 6] and min(rows["TopicTree"]["nmi"]) > .95
    assert all(0 < row["purity"] <= 1 and row["seconds"] >= 0 for row in rows.values())


def test_starts(quick):
    rows = quick("starts")
    assert {(row["times"], row["seed"]) for row in rows} == {(times, seed) for times in (1, 2, 3, 4) for seed in (0, 1)}
    assert all(row["settled"] > .95 and row["moved"] > .95 for row in rows)


def test_settling(quick):
    row, = quick("settling")
    assert all(row[how] > .95 for how in ("clusters", "sums", "power of 3/4", "roots", "logarithms"))


def test_mixture(quick):
    row, = quick("mixture")
    assert row["texts"] == "long" and all(row[how] > .95 for how in ("moved", "mixture", "topics, 1 rounds", "made up: half", "made up: none"))


def test_the_best_start_by_the_criterion():
    from starts import best_of
    some = [dict(criterion=c, settled=s) for c, s in ((3, .5), (1, .9), (2, .7))]
    assert best_of(1, some, "settled") == pytest.approx(.7) and best_of(2, some, "settled") == pytest.approx((.5 + .5 + .7)/3) and best_of(3, some, "settled") == .5


def test_support(quick):
    planted, real = ([row for row in quick("support") if row["kind"] == kind] for kind in ("planted", "collection"))
    assert len(planted) == 3 and len(real) == 2 and all(row["against_pieces"] > .95 and row["of_pieces"] < row["of_topics"] for row in planted)
    assert all(0 < row["mean"] <= 1 for row in real)


def test_n_topics(quick):
    rows = quick("n_topics")
    assert [row["kind"] for row in rows] == ["planted"]*2 + ["dealt"] + ["short"]*(len(rows) - 4) + ["collection"] and all(row["right"]["splits"] for row in rows[:3])
    assert rows[-1]["collection"] == "library-docs" and 2 <= rows[-1]["said"]["splits"] <= 512
    for row in rows[3:-1]: assert max(row["chance"]) < 1.08 and len(row["times"]) == len(row["chance"]) == 5


def test_headings(quick):
    from headings import WORDS
    rows = quick("headings")
    assert {(row["words"], row["leaves"]) for row in rows} == {(which, n) for which in WORDS for n in (3, 6)}
    for row in rows: assert 0 < row["diversity"] <= 1 and -1 <= row["npmi"] <= 1 and 0 < row["found"] <= row["reciprocal"] <= 1


def test_npmi_of_words_by_hand():
    from headings import npmi
    there = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0]], bool)
    np.testing.assert_allclose(npmi([0, 1, 2], there), [np.log(.5/(.75*.5))/-np.log(.5), -1, -1])


def test_trees_from_nested_cuts():
    from levels import bisected, joined, tree_of
    from scipy.cluster.hierarchy import linkage
    from sklearn.cluster import BisectingKMeans
    cuts = [np.zeros(6, int), np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 2, 2])]
    tree = tree_of(cuts)
    for n in (1, 2, 3): assert len(set(zip(tree.labels(n), cuts[n-1]))) == n
    points = np.array([[0., 0], [0, 1], [9, 0], [9, 1], [30, 0], [30, 3]])
    tree = joined(np.arange(6), linkage(points, "ward"))
    assert [set(node.docs) for node in tree.leaves(2)] in ([{0, 1, 2, 3}, {4, 5}], [{4, 5}, {0, 1, 2, 3}])
    model = BisectingKMeans(3, random_state=0).fit(np.repeat(points, 5, 0))
    tree = bisected(model)
    assert len(set(zip(tree.labels(), model.labels_))) == 3 and len(set(zip(tree.labels(2), model.labels_))) == 3


def test_scale(quick):
    (row,) = quick("scale")
    assert set(row["seconds"]) == {"in memory", "in memory, growing alone", "in memory, from the shards",
                                   "1 in memory", "2 in memory", "7 in memory", "7 shards"}
    assert set(row["texts"]["ratios"]) == {"in memory", "in memory, from the files", "7 files"}
    assert row["sweep"]["must"] <= row["sweep"]["moved"] < 1.2*row["sweep"]["must"] + 2000


def test_mails(quick):
    kept, less = quick("mails")
    assert (kept["heads"], less["heads"]) == ("kept", "left out") and less["nmi"][0] > kept["nmi"][0] + .5
    assert kept["title_words_of_heads"] > .2 and less["title_words_of_heads"] == 0
