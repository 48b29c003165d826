"""Studies: every run is kept whatever happens, a study goes on where it was, and tables tell apart what must be"""
import json
import re
import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from naive import Frame
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.pipeline import make_pipeline

from nmf2.consensus import ClusterAggregation
from nmf2.evaluate import scores
from nmf2.study import FORMAT, Study, append_line, fit_labels, definition, fingerprint, machine, drop_torn_line, one_run, read_lines, tabulate, with_size

rng = np.random.default_rng(0)
CLASSES = np.repeat([0, 1, 2], 20)
X = sp.csr_matrix(np.eye(3)[CLASSES].repeat(4, 1)*rng.random((60, 12)) + .1*rng.random((60, 12)))


def drawn(X, k, seed): return np.random.default_rng(seed).integers(k, size=X.shape[0])
def perfect(X, k, seed): return CLASSES[::60//X.shape[0]]
def wrong(X, k, seed): raise RuntimeError("not today")

METHODS = {"drawn": drawn, "perfect": perfect}
COLLECTIONS = {"three": (X, CLASSES), "half": lambda: (X[::2], CLASSES[::2])}


def without_time(runs): return [{name: v for name, v in run.items() if name not in ("seconds", "session")} for run in runs]



# ---- methods

def test_estimators_are_told_size_and_seed_and_not_changed():
    for estimator, size in ((KMeans(), "n_clusters"), (NMF(), "n_components"), (AgglomerativeClustering(), "n_clusters")):
        before = repr(estimator)
        copy = with_size(estimator, 7, 3)
        assert copy.get_params()[size] == 7 and copy.get_params().get("random_state", 3) == 3
        assert repr(estimator) == before and copy is not estimator
    pipe = with_size(make_pipeline(NMF(5), KMeans()), 7, 3)
    assert pipe.get_params()["nmf__n_components"] == 5 and pipe.get_params()["kmeans__n_clusters"] == 7
    assert pipe.get_params()["nmf__random_state"] == pipe.get_params()["kmeans__random_state"] == 3
    for none in (make_pipeline(), make_pipeline(NMF(5), DBSCAN())):
        with pytest.raises(ValueError, match="wrap it in a function"): with_size(none, 3, 0)


def test_labels_come_from_any_kind_of_method():
    for method in (KMeans(n_init=1), LatentDirichletAllocation(max_iter=2), drawn):
        labels = fit_labels(method, X, 3, 0)["labels"]
        assert len(labels) == 60 and set(labels) <= {0, 1, 2}
    empty = sp.vstack([X, sp.csr_matrix((1, 12))]).tocsr()
    labels = fit_labels(NMF(), empty, 3, 0)["labels"]
    assert labels[-1] == -1 and (labels[:-1] >= 0).all()
    assert fit_labels(lambda X, k, seed: {"error_left": .5}, X, 3, 0) == {"error_left": .5}


def test_one_run_keeps_errors_warnings_and_time():
    def noisy(X, k, seed):
        for _ in range(3): warnings.warn("much noise", RuntimeWarning)
        return drawn(X, k, seed)
    run = one_run(noisy, X, CLASSES, 3, 0)
    assert run["warnings"] == ["RuntimeWarning: much noise"] and run["error"] is None and run["seconds"] >= 0
    assert run["figures"] == scores(drawn(X, 3, 0), CLASSES)._asdict()
    run = one_run(wrong, X, CLASSES, 3, 0)
    assert run["error"].startswith("RuntimeError: not today (test_study.py, line ") and run["figures"] == {}
    assert "labels and classes must have an entry" in one_run(drawn, X[:5], CLASSES, 3, 0)["error"]
    assert "without classes" in one_run(drawn, X, None, 3, 0)["error"]
    assert one_run(lambda X, k, seed: {"labels": drawn(X, k, seed), "x": 2}, X, CLASSES, 3, 0,
                   lambda labels, classes: {"same": 1.})["figures"] == {"x": 2, "same": 1.}
    assert one_run(lambda X, k, seed: {"labels": drawn(X, k, seed), "x": 2}, X, None, 3, 0)["figures"] == {"x": 2}


# ---- the file

def test_a_study_is_kept_line_by_line(tmp_path):
    path = tmp_path/"study.jsonl"
    study = Study(METHODS, COLLECTIONS, seeds=[0, 1], path=path).run()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 9 and lines[0]["format"] and lines[0]["methods"]["drawn"] == "<function drawn>"
    assert lines[0]["machine"] == machine() and lines[0]["machine"]["nmf2"] and lines[0]["machine"]["numpy"] == np.__version__
    assert lines[1:] == study.runs == read_lines(path)[1]
    assert {(run["collection"], run["method"], run["k"], run["seed"]) for run in study.runs} == {
        (c, m, 3, s) for c in COLLECTIONS for m in METHODS for s in (0, 1)}
    assert next(run for run in study.runs if run["method"] == "perfect")["nmi"] == 1
    assert "8 runs done" in repr(study) and study.failures == []
    before = path.read_bytes()
    Study(METHODS, COLLECTIONS, seeds=[0, 1], path=path).run()
    assert path.read_bytes() == before                                      # nothing to do, nothing written


@pytest.mark.parametrize("cut", range(1, 350, 23))
def test_half_a_line_is_dropped_and_done_again(tmp_path, cut):
    path = tmp_path/"study.jsonl"
    whole = Study(METHODS, COLLECTIONS, seeds=[0, 1], path=path).run()
    path.write_bytes(path.read_bytes()[:-cut])
    again = Study(METHODS, COLLECTIONS, seeds=[0, 1], path=path)
    assert len(again.runs) == 7
    again.run()
    assert without_time(again.runs) == without_time(whole.runs) == without_time(read_lines(path)[1])
    assert again.runs[-1]["session"] == 1 and len(read_lines(path)[0]) == 2


def test_a_study_that_is_stopped_goes_on(tmp_path):
    path, calls = tmp_path/"study.jsonl", []
    def stopped(X, k, seed):
        calls.append(seed)
        if calls == [0, 1, 2]: raise KeyboardInterrupt
        return drawn(X, k, seed)
    with pytest.raises(KeyboardInterrupt): Study({"m": stopped}, {"c": (X, CLASSES)}, path=path).run()
    assert len(read_lines(path)[1]) == 2
    Study({"m": stopped}, {"c": (X, CLASSES)}, path=path).run()
    assert calls == [0, 1, 2, 2, 3, 4] and [run["seed"] for run in read_lines(path)[1]] == [0, 1, 2, 3, 4]


def test_what_fails_is_kept_and_done_again_if_wanted(tmp_path):
    path, healed = tmp_path/"study.jsonl", []
    def sometimes(X, k, seed):
        if seed == 1 and not healed: raise MemoryError("full")
        return drawn(X, k, seed)
    def study(): return Study({"sometimes": sometimes, "perfect": perfect}, {"c": (X, CLASSES)}, seeds=range(3), path=path)
    assert [run["seed"] for run in study().run().failures] == [1]
    assert study().table().cells[0,0].endswith("(2 of 3)")
    healed.append(True)
    assert len(study().run().failures) == 1                                 # done is done
    assert study().run(retry=True).failures == [] and len(study().runs) == 6 and len(read_lines(path)[1]) == 7
    assert "of" not in study().table().cells[0,0]


def test_changed_methods_and_collections_are_refused(tmp_path):
    path = tmp_path/"study.jsonl"
    Study({"m": KMeans(n_init=1)}, {"c": (X, CLASSES)}, seeds=0, path=path).run()
    Study({"m": KMeans(n_init=1), "other": drawn}, {"c": (X.toarray(), CLASSES)}, seeds=0, path=path).run()
    with pytest.raises(ValueError, match="another name"): Study({"m": KMeans(n_init=2)}, {"c": (X, CLASSES)}, path=path)
    with pytest.raises(ValueError, match="another name"): Study({"m": drawn}, {"c": (X, CLASSES)}, path=path)
    wider = sp.csr_matrix((X.data, X.indices, X.indptr), shape=(60, 13))
    for other in ((2*X, CLASSES), (X[:50], CLASSES[:50]), (wider, CLASSES), (X, CLASSES[::-1]), (X, CLASSES % 2)):
        for seed in (0, 1):
            with pytest.raises(ValueError, match="collection 'c' is not"): Study(METHODS, {"c": other}, seeds=seed, path=path)
        late = Study(METHODS, {"c": lambda: other}, seeds=1, path=path)
        with pytest.raises(ValueError, match="collection 'c' is not"): late.run()
    before = path.read_bytes()
    for same in (CLASSES.tolist(), CLASSES.astype(float), CLASSES.astype(np.uint8)):
        Study({"m": KMeans(n_init=1)}, {"c": (X, same)}, seeds=0, path=path).run()
    assert path.read_bytes() == before


def test_another_score_is_refused(tmp_path):
    def halved(labels, classes): return {"nmi": scores(labels, classes).nmi/2}
    for first, second in ((None, halved), (halved, None)):
        path = tmp_path/f"{definition(first)}.jsonl"
        Study(METHODS, COLLECTIONS, seeds=0, path=path, score=first).run()
        with pytest.raises(ValueError, match="score was .* and is .* now"): Study(METHODS, COLLECTIONS, path=path, score=second)
        assert len(Study(METHODS, COLLECTIONS, seeds=range(2), path=path, score=first).run().runs) == 8


def test_fingerprints_see_all_of_the_data():
    assert fingerprint(Frame(X.toarray())) == fingerprint(X) != fingerprint(Frame(2*X.toarray()))
    words = Frame(np.array([["a", "b"], ["c", "d"]], object))
    assert fingerprint(words) != fingerprint(Frame(words.values.T))
    assert fingerprint(np.array(["a", "b"])) == fingerprint(["a", "b"]) != fingerprint(np.array(["a", "c"], object))
    long = np.arange(5000.)
    changed = np.where(long == 2500, 1e-9, long)                      # where NumPy prints dots
    assert fingerprint(long) != fingerprint(changed) and fingerprint([long]) != fingerprint([changed])
    assert fingerprint([["a", "b"], ["c"]]) != fingerprint([["a"], ["b", "c"]])
    with pytest.raises(ValueError, match="X must be a matrix or a list"): fingerprint({"a": 1})


def test_definitions_have_no_addresses_and_are_complete():
    assert definition(lambda X, k, seed: 0) == definition(lambda X, k, seed: 0)
    long = make_pipeline(*[NMF(n_components=i, tol=1e-9, max_iter=i + 1000) for i in range(2, 30)])
    assert "n_components=29" in definition(long) and "\n" not in definition(long)
    assert "0x" not in definition(KMeans(init=drawn)) and "drawn" in definition(KMeans(init=drawn))


@pytest.mark.parametrize("of", [
    lambda long: KMeans(init=long), lambda long: ClusterAggregation(clusterers=[long, KMeans()]), lambda long: make_pipeline(KMeans(init=long)),
    lambda long: ClusterAggregation(clusterers=[long[:40].astype(int).tolist()]), lambda long: partial(drawn, start=long),
    lambda long: KMeans(init=sp.csr_matrix(long)), lambda long: KMeans(init=long.astype(object)),
    lambda long: KMeans(init={"a": frozenset([*map(str, long[:40]), "..."])})])
def test_definitions_see_all_of_long_arrays_and_lists(of):
    long = np.arange(1., 5001)
    changed = long.copy()
    changed[20] = 0
    changed[-20] = 0
    assert definition(of(long)) == definition(of(long.copy())) != definition(of(changed))
    assert len(definition(of(long))) < 2000


def test_a_study_does_not_go_on_with_another_long_array(tmp_path):
    def study(labels): return Study({"a": ClusterAggregation(3, clusterers=[labels])}, COLLECTIONS, path=tmp_path/"a.jsonl", seeds=0)
    labels = np.arange(2000) % 3
    drop_torn_line(study(labels).path)
    append_line(tmp_path/"a.jsonl", {"format": FORMAT, "methods": {"a": definition(study(labels).methods["a"])}})
    study(labels)
    with pytest.raises(ValueError, match="give it another name"): study(labels[::-1])


def in_place(X, k, seed):
    X[:,0] = 0
    return np.zeros(X.shape[0], int)

def fails_in_place(X, k, seed):
    X.pop()
    raise ValueError("enough")

def in_order(X, k, seed):
    X.sort_indices()
    X.eliminate_zeros()
    return np.zeros(X.shape[0], int)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_method_that_changes_its_collection_is_named(n_jobs):
    study = Study({"perfect": perfect, "in place": in_place, "drawn": drawn}, {"c": (X.toarray(), CLASSES)}, seeds=range(3))
    with pytest.raises(ValueError, match="'in place' changed the X of collection 'c'.* copy"): study.run(n_jobs)
    assert {run["method"] for run in study.runs} <= {"perfect", "drawn"}


def test_a_method_that_fails_may_have_changed_its_collection_or_brought_it_in_order():
    with pytest.raises(ValueError, match="'fails' changed"): Study({"fails": fails_in_place}, {"c": (["a", "b"], [0, 1])}).run()
    for A in (X, X.tocsc(), X.tocoo()):
        assert len(Study({"perfect": perfect, "drawn": drawn}, {"c": (A, CLASSES)}, seeds=range(2)).run().runs) == 4
    unordered = sp.csr_matrix((np.array([1., 0, 2]*60), np.array([2, 1, 0]*60), np.arange(0, 181, 3)))
    assert len(Study({"in order": in_order, "drawn": drawn}, {"c": (unordered, CLASSES)}, seeds=range(2)).run().runs) == 4


def test_half_a_surrogate_in_a_message_is_kept(tmp_path):
    def reads(X, k, seed): raise ValueError("no words in m\udce9moire")
    path = tmp_path/"study.jsonl"
    runs = Study({"reads": reads, "perfect": perfect}, COLLECTIONS, seeds=0, path=path).run().runs
    assert len(runs) == 4 and "m\udce9moire" in runs[0]["error"] and read_lines(path)[1] == runs
    path.read_text(encoding="utf-8")


def test_collections_are_loaded_late_and_only_if_needed(tmp_path):
    loaded = []
    def late(): loaded.append(1); return X, CLASSES
    for clusters in (None, [2, 3]):
        path = tmp_path/f"{clusters}.jsonl"
        study = Study({"drawn": drawn}, {"late": late}, clusters=clusters, seeds=0, path=path)
        assert not loaded
        study.run()
        Study({"drawn": drawn}, {"late": late}, clusters=clusters, seeds=0, path=path).run()
        assert loaded.pop() and not loaded


def test_a_collection_that_is_not_there_is_left_for_later():
    def missing(): raise FileNotFoundError("no such collection")
    with pytest.warns(UserWarning, match="'missing' could not be loaded"):
        study = Study(METHODS, {"missing": missing, "there": (X, CLASSES)}, seeds=0).run()
    assert {run["collection"] for run in study.runs} == {"there"}
    study.collections["missing"] = (X[::3], CLASSES[::3])
    assert {run["collection"] for run in study.run().runs} == {"there", "missing"}


def test_collections_without_classes_or_of_texts():
    def count(X, k, seed): return {"words": sum(len(text.split()) for text in X), "k_seen": k}
    study = Study({"count": count}, {"texts": (["one two", "three"], None)}, clusters=4, seeds=0).run()
    assert study.runs[0]["words"] == 3 and study.runs[0]["k"] == study.runs[0]["k_seen"] == 4 and study.runs[0]["shape"] == [2]
    with pytest.raises(ValueError, match="clusters must be given"): Study({"count": count}, {"texts": (["one"], None)}).run()
    assert fingerprint(["a", "b"]) != fingerprint(["ab"]) and fingerprint(X) == fingerprint(X.toarray())


def test_figures_of_any_kind_can_be_written_and_read(tmp_path):
    def odd(X, k, seed):
        return {"nan": np.nan, "inf": -np.inf, "f": np.float32(.5), "i": np.int64(3), "a": np.arange(2), "s": "ä", "o": {1},
                "b": np.True_}
    path = tmp_path/"study.jsonl"
    run, = Study({"odd": odd}, {"c": (X, CLASSES)}, seeds=0, path=path).run().runs
    assert {n: run[n] for n in odd(0, 0, 0)} == {"nan": None, "inf": None, "f": .5, "i": 3, "a": [0, 1], "s": "ä", "o": "{1}",
                                                 "b": True}
    assert "NaN" not in path.read_text(encoding="utf-8") and read_lines(path)[1] == [run]
    taken, = Study({"bad": lambda X, k, seed: {"k": 7, "good": 1}}, {"c": (X, CLASSES)}, seeds=0).run().runs
    assert taken["k"] == 3 and taken["good"] == 1 and "k can't be the name" in taken["error"]


def test_files_of_something_else_are_refused(tmp_path):
    path = tmp_path/"other.jsonl"
    for text, said in (("hello\n", "line 1 is not JSON"), ('{"a": 1}\n', "first line"), ("[1]\n", "first line")):
        path.write_text(text)
        with pytest.raises(ValueError, match=said): Study(METHODS, COLLECTIONS, path=path)
        assert path.read_text() == text
    for text in ('{"precious": 1}', "hello", "[1, 2]", '{"format": "other"}', '{"format": "nmf2 study 10"'):   # no line end
        path.write_text(text)
        for touch in (lambda: Study(METHODS, COLLECTIONS, path=path).run(), lambda: drop_torn_line(path), lambda: read_lines(path)):
            with pytest.raises(ValueError, match="not the file of a study"): touch()
        assert path.read_text() == text
    assert read_lines(tmp_path/"none.jsonl") == ([], [])


def test_a_session_cut_in_its_first_line_begins_again(tmp_path):
    path = tmp_path/"study.jsonl"
    Study(METHODS, COLLECTIONS, seeds=0, path=path).run()
    first = path.read_bytes().split(b"\n")[0]
    for end in (0, 5, 20, 40, len(first)):
        path.write_bytes(first[:end])
        assert len(Study(METHODS, COLLECTIONS, seeds=0, path=path).run().runs) == len(read_lines(path)[1]) == 4


@pytest.mark.slow
def test_processes_do_the_same(tmp_path):
    local = {"drawn": lambda X, k, seed: np.random.default_rng(seed).integers(k, size=X.shape[0]),
             "fails": lambda X, k, seed: 1/0}
    data = {"three": (X, CLASSES), "half": (X[::2], CLASSES[::2])}
    alone = Study(local, data, seeds=range(3)).run()
    both = Study(local, data, seeds=range(3), path=tmp_path/"s.jsonl").run(n_jobs=2)
    def placeless(run): return run | dict(error=run["error"] and re.sub(r"\([^,]*, line", "(line", run["error"]))   # cloudpickle may drop a file's name
    def ordered(runs): return sorted(map(placeless, without_time(runs)), key=lambda run: (run["collection"], run["method"], run["seed"]))
    assert ordered(alone.runs) == ordered(both.runs)
    assert both.table().to_markdown() == alone.table().to_markdown() and both.sessions[0]["n_jobs"] == 2


def refused(said, methods=METHODS, collections=COLLECTIONS, **options):
    with pytest.raises(ValueError, match=said): Study(methods, collections, **options)


def test_bad_collections_are_refused_before_any_run():
    calls, some = [], np.where(np.arange(60) % 5 == 0, -1, CLASSES)
    methods = {"m": lambda X, k, seed: calls.append(seed)}
    words = np.array(["", "a", "b", "c"])[some + 1]
    for classes, said in ((some, "12 of 60 documents have no class.*labelled"), (words, "12 of 60 documents have no class"),
                          (CLASSES[:50], "60 documents, and 50 classes"), ([None]*60, "every document needs"),
                          (np.where(some < 0, np.nan, some), "every document needs"), (np.eye(60), "one entry for each"),
                          ([], "no entries")):
        refused(f"collection 'bad': .*{said}", methods, {"good": (X, CLASSES), "bad": (X, classes)})
        with pytest.raises(ValueError, match=f"collection 'bad': .*{said}"): Study(methods, {"bad": lambda: (X, classes)}).run()
    for pair, said in ((X, "csr_matrix"), (5, "int"), ((X,), "tuple"), ((X, CLASSES, 3), "tuple")):
        refused(f"collection 'bad' must be .* got {said}", methods, {"bad": pair})
    for thing in (5, {"a": 1}, "abc"): refused("collection 'bad': ", methods, {"bad": (thing, [0, 1, 2])})
    refused("'bad' has no classes: clusters", methods, {"bad": (X, None)})
    refused("'bad' has no classes to measure the labels of 'k'", {"m": drawn, "k": KMeans()}, {"bad": (X, None)}, clusters=3)
    assert not calls


def test_a_score_of_ones_own_may_have_documents_without_a_class():
    def known(labels, classes): return scores(labels, classes, unlabelled="drop")._asdict()
    run, = Study({"drawn": drawn}, {"c": (X, np.where(CLASSES == 2, -1, CLASSES))}, seeds=0, score=known).run().runs
    assert run["error"] is None and run["n_docs"] == 40 and run["k"] == run["classes"] == 2


def test_wrong_arguments_are_named(tmp_path):
    refused("strings for names, got 1", {1: drawn}), refused("strings for names", collections={("a", 1): (X, CLASSES)})
    refused("seeds must be a number or a list of them, got none", seeds=[]), refused("clusters must", clusters=[])
    refused("score must", score="nmi"), refused("path must", path=tmp_path), refused("path must", path=tmp_path/"no"/"s.jsonl")
    for n_jobs in ("a", 0, -2, 1.5, None):
        study = Study(METHODS, COLLECTIONS)
        with pytest.raises(ValueError, match="n_jobs must"): study.run(n_jobs)
        assert study.runs == []
    with pytest.raises(ValueError, match="digits"): tabulate(RUNS, k=2, digits=-1)
    assert Study(METHODS, COLLECTIONS, seeds=[1, 0, 1]).seeds == [1, 0]
    for options, said in ((dict(clusters=0), "clusters"), (dict(seeds=-1), "seeds"), (dict(clusters=[2.5]), "clusters")):
        with pytest.raises(ValueError, match=said): Study(METHODS, COLLECTIONS, **options)
    with pytest.raises(ValueError, match=r"Make one with KMeans\(\)"): Study({"m": KMeans}, COLLECTIONS)
    with pytest.raises(ValueError, match="method 'm'"): Study({"m": 3}, COLLECTIONS)
    with pytest.raises(ValueError, match="methods must be a dictionary, .* got list"): Study([drawn], COLLECTIONS)
    with pytest.raises(ValueError, match="collections must be a dictionary, .* got list"): Study(METHODS, [(X, CLASSES)])


# ---- tables

RUNS = [dict(collection=c, method=m, k=k, seed=s, error=None, nmi=.1*s + .01*k + (m == "b")*.001)
        for c in ("x", "y") for m in ("b", "a") for k in (2, 3) for s in (0, 1, 2)]


def test_tables_have_means_and_deviations():
    table = tabulate(RUNS, k=2)
    assert table.rows == ["b", "a"] and table.columns == ["x", "y"]
    assert table.cells.tolist() == [["0.121 ± 0.100"]*2, ["0.120 ± 0.100"]*2]
    for stat, value in dict(mean=.121, median=.121, min=.021, max=.221, sd=.1, count=3).items():
        np.testing.assert_allclose(tabulate(RUNS, stat=stat, k=2).cells[0], value)
    np.testing.assert_allclose(tabulate(RUNS, stat=lambda x: x[0], k=2).cells[0], .021)
    assert tabulate(RUNS, "k", "seed", stat="max", collection="x", method="a").cells.shape == (2, 3)
    assert tabulate(RUNS, ["collection", "method"], "k").rows == ["x, b", "x, a", "y, b", "y, a"]
    assert tabulate(RUNS, columns=["collection", "k"]).columns == ["x, 2", "x, 3", "y, 2", "y, 3"]
    two = tabulate(RUNS, columns=(), value=["nmi", "seed"], collection="x", k=[3], stat="mean")
    assert two.columns == ["nmi", "seed"] and two.to_markdown().splitlines()[2] == "| b | 0.131 | 1.000 |"
    assert tabulate(RUNS, columns=(), collection="x", k=2, seed=0).cells.tolist() == [["0.021"], ["0.020"]]
    said = [run | dict(warnings=["slow"]*(run["seed"] == 1)) for run in RUNS]
    assert tabulate(said, "warnings", stat="count", k=2, method="a").rows == ["[]", "['slow']"]


def test_tables_do_not_mix_what_should_be_told_apart():
    with pytest.raises(ValueError, match="k has several"): tabulate(RUNS)
    with pytest.raises(ValueError, match="method='nobody'; there are"): tabulate(RUNS, k=2, method="nobody")
    with pytest.raises(ValueError, match=r"k=\[7, 8\]; there are"): tabulate(RUNS, k=[7, 8])
    with pytest.raises(ValueError, match="collection has several"): tabulate(RUNS, columns="k")
    assert tabulate(RUNS, columns="k", over=("seed", "collection"), stat="count").cells.tolist() == [[6, 6], [6, 6]]
    with pytest.raises(ValueError, match="no run has 'nmy'; there are collection, method"): tabulate(RUNS, value="nmy")
    with pytest.raises(ValueError, match="no run has 'kk'"): tabulate(RUNS, kk=3)
    with pytest.raises(ValueError, match="stat must be"): tabulate(RUNS, stat="average")
    with pytest.raises(ValueError, match="no runs"): tabulate([])


def test_tables_show_what_is_missing():
    runs = [run for run in RUNS if run["k"] == 2 and not (run["collection"] == "y" and run["method"] == "a")]
    def failed(run): return run["method"] == "b" and run["collection"] == "x" and run["seed"]
    runs = [dict(run, nmi=None, error="E") if failed(run) else run for run in runs]
    runs.append(dict(collection="y", method="c", k=2, seed=0, error="E"))
    assert tabulate(runs).cells.tolist() == [["0.021 (1 of 3)", "0.121 ± 0.100"], ["0.120 ± 0.100", ""], ["", "failed"]]
    with pytest.warns(UserWarning, match="3 of 10 runs failed, and the table is one of the rest"):
        assert tabulate(runs, stat="mean").to_markdown().endswith("| c |  |  |")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tabulate(runs, stat="count").cells[0].tolist() == [1, 3] and tabulate(runs, stat="mean", method="a").columns == ["x"]
        assert np.nanmax(tabulate([dict(run, seconds=1.) for run in runs], value="seconds", stat="mean").cells) == 1      # failed runs have it, too
        bare = [{name: run[name] for name in ("collection", "method", "k", "seed")} | dict(nmi=.5) for run in runs]
        assert tabulate(bare, stat="mean").cells[0,0] == .5                                                          # rows of one's own
    assert r"a\|b" in tabulate([dict(RUNS[0], method="a|b")]).to_markdown()


def test_a_study_shows_the_runs_it_asks_for(tmp_path):
    path = tmp_path/"runs.jsonl"
    Study(METHODS, COLLECTIONS, seeds=[0, 1], clusters=[2, 3], path=path).run()
    def asked(methods=METHODS, collections=COLLECTIONS, **options): return len(Study(methods, collections, path=path, **options).runs)
    assert asked(seeds=[0, 1], clusters=[2, 3]) == 16 and asked(seeds=0, clusters=[2, 3]) == 8 and asked(seeds=[0, 5], clusters=3) == 4
    assert asked({"drawn": drawn}, seeds=[0, 1], clusters=2) == 4 and asked(collections={"half": COLLECTIONS["half"]}, seeds=0, clusters=2) == 2
    assert asked(seeds=0) == 4                                                                          # as many as classes
    study = Study({"drawn": drawn}, COLLECTIONS, seeds=0, clusters=2, path=path)
    assert study.table().rows == ["drawn"] and "2 runs done" in str(study) and len(read_lines(path)[1]) == 16


def test_values_of_runs_may_be_arrays():
    study = Study({"drawn": drawn}, COLLECTIONS, clusters=[2, 3, 4], seeds=0).run()
    for k in (np.array([2, 3]), {2, 3}): assert study.table(k=k, index="k").rows == [2, 3]
    assert study.table(k=np.int64(3), index="k").rows == study.table(k=np.array(3), index="k").rows == [3]


def test_tables_and_runs_as_data_frames():
    pd = pytest.importorskip("pandas")
    study = Study(METHODS, COLLECTIONS, seeds=[0, 1]).run()
    assert study.to_pandas().shape[0] == 8 and isinstance(study.to_pandas(), pd.DataFrame)
    frame = study.table(stat="mean").to_pandas()
    assert list(frame.index) == ["drawn", "perfect"] and frame.loc["perfect", "half"] == 1


def test_a_method_that_returns_nothing_fails():
    (run,) = Study({"none": lambda X, k, seed: None}, {"c": (X, CLASSES)}, seeds=0).run().runs
    assert "a method must return labels or a dictionary of figures" in run["error"]


@pytest.mark.parametrize("line", ['{"x": 1}', "[1, 2]", "3"])
def test_a_line_that_is_no_run_is_named(tmp_path, line):
    path = tmp_path/"runs.jsonl"
    Study({"drawn": drawn}, {"c": (X, CLASSES)}, seeds=0, path=path).run()
    before = path.read_text(encoding="utf-8") + line + "\n"
    path.write_text(before, encoding="utf-8")
    with pytest.raises(ValueError, match="line 3 is not a run of a study"): Study({"drawn": drawn}, {"c": (X, CLASSES)}, path=path)
    assert path.read_text(encoding="utf-8") == before
