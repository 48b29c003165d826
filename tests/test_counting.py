"Counting in several processes against scikit-learn in one"
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

from nmf2 import counting
from nmf2.counting import TermCounter, cut_evenly, n_processes
from nmf2.data import WORDS, count_terms, load
from nmf2.weighting import text_pipeline

ROOT = Path(__file__).resolve().parent.parent
LETTERS = np.array(list("aabbcdéßΣ1_ ,.-"))

def random_texts(n=300, seed=0):
    "Texts of odd words, among them empty ones and a long one"
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(LETTERS, rng.integers(0, 120))) for _ in range(n)]
    return texts + [""]*20 + [" ".join(texts[:50])] + ["the the"]*10

@pytest.fixture
def small(monkeypatch):
    "Even small corpora are shared out"
    monkeypatch.setattr(counting, "SHARE", dict(fork=100, loky=100))

@pytest.fixture(params=["fork", "loky"])
def method(request, small, monkeypatch):
    "Both ways to start workers"
    if request.param == "fork" and sys.platform != "linux": pytest.skip("processes are copied on Linux only")
    monkeypatch.setattr(counting, "start_method", lambda: request.param)
    return request.param

def assert_same(counter, X, plain, Y):
    "Vocabulary with its order, counts, types, and the order in which they are stored"
    Y.sort_indices()
    assert counter.vocabulary_ == plain.vocabulary_ and list(counter.vocabulary_) == list(plain.vocabulary_)
    assert type(X) is type(Y) and X.shape == Y.shape
    for part in ("data", "indices", "indptr"):
        assert getattr(X, part).dtype == getattr(Y, part).dtype
        assert_array_equal(getattr(X, part), getattr(Y, part))

def words_of(text): return re.findall("[ab]+", text)      # an analyzer that can be pickled

OPTIONS = [dict(), dict(dtype=np.float32, token_pattern=WORDS, stop_words="english"), dict(ngram_range=(1, 3), lowercase=False),
           dict(min_df=3, max_df=0.2), dict(max_features=20), dict(binary=True, dtype=np.float64), dict(vocabulary=["aa", "ab", "ba"]),
           dict(analyzer="char_wb", ngram_range=(2, 3)), dict(analyzer=words_of), dict(tokenizer=words_of, token_pattern=None),
           dict(strip_accents="unicode")]

@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options) or "none")
def test_as_in_one_process(method, options):
    texts = random_texts()
    counter, plain = TermCounter(n_jobs=2, **options), CountVectorizer(**options)
    assert n_processes(counter, texts, 2) == 2
    assert_same(counter, counter.fit_transform(texts), plain, plain.fit_transform(texts))
    new = random_texts(seed=1)
    assert_same(counter, counter.transform(new), plain, plain.transform(new))

@pytest.mark.parametrize("n_jobs", [1, 2, 3, 7, -1, None])
def test_the_number_of_processes_changes_nothing(small, n_jobs):
    texts = random_texts(100)
    counter, plain = TermCounter(n_jobs=n_jobs), CountVectorizer()
    assert_same(counter, counter.fit_transform(texts), plain, plain.fit_transform(texts))

def test_known_collection():
    if not os.environ.get("NMF2_DATA"): pytest.skip("NMF2_DATA names no folder with collections")
    texts = load("20newsgroups").texts
    counter, plain = TermCounter(n_jobs=2), CountVectorizer()
    assert n_processes(counter, texts, 2) == 2
    assert_same(counter, counter.fit_transform(texts), plain, plain.fit_transform(texts))

@pytest.mark.parametrize("n", [1, 2, 5, 1000])
def test_shares(n):
    for texts in (random_texts(), [""]*5, ["a"], ["a"*100, "b", "c"]):
        shares = cut_evenly(texts, n)
        assert sum(shares, []) == texts and len(shares) <= n and all(shares)

def test_shares_without_words(method):
    texts = ["", "1", "?"]*100 + ["goal goal", "a vote"]*20
    counter, plain = TermCounter(n_jobs=2), CountVectorizer()
    assert_same(counter, counter.fit_transform(texts), plain, plain.fit_transform(texts))
    with pytest.raises(ValueError, match="No terms in the 300 texts"): TermCounter(n_jobs=2).fit(["", "1", "?"]*100)

# ---- when to count alone

def test_what_is_counted_alone(small, monkeypatch):
    texts = random_texts()
    assert n_processes(TermCounter(), texts, 2) == 2
    assert n_processes(TermCounter(), texts, 1) == n_processes(TermCounter(), texts, None) == 1
    assert n_processes(TermCounter(), ["short", "texts"], 2) == 1
    assert n_processes(TermCounter(), ["one long document "*100], 2) == 1
    assert n_processes(TermCounter(analyzer=lambda t: t.split()), texts, 2) == 1
    with parallel_config("loky", n_jobs=2): assert n_processes(TermCounter(), texts, None) == 2
    with ThreadPoolExecutor(1) as pool: assert pool.submit(n_processes, TermCounter(), texts, 2).result() == 1
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert n_processes(TermCounter(), texts, -1) == 1

def alone_in_here(texts):
    counting.SHARE = dict(fork=1, loky=1)
    return n_processes(TermCounter(), texts, 2)

@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_workers_have_no_workers(backend):
    assert Parallel(2, backend=backend)(delayed(alone_in_here)(random_texts()) for _ in range(2)) == [1, 1]

def test_no_copies_while_other_threads_run():
    if sys.platform != "linux": pytest.skip("processes are copied on Linux only")
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try: assert counting.start_method() == "loky"
    finally: stop.set(), thread.join()

@pytest.mark.parametrize("n_jobs", [0, "all", 1.5, True])
def test_no_number_of_processes(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be a number of processes"): TermCounter(n_jobs=n_jobs).fit(["goal"])
    with pytest.raises(ValueError, match="n_jobs must be a number of processes"): text_pipeline(n_jobs=n_jobs).fit(["goal"])

# ---- what can happen on the way

def failing(text): raise LookupError("no words today")

def dying(text): os._exit(3) if os.getpid() != MAIN else None; return text.split()

MAIN = os.getpid()

def test_errors_come_back(method):
    with pytest.raises(LookupError, match="no words today"): TermCounter(analyzer=failing, n_jobs=2).fit(random_texts())

def test_a_worker_that_dies(small, monkeypatch):
    if sys.platform != "linux": pytest.skip("processes are copied on Linux only")
    monkeypatch.setattr(counting, "start_method", lambda: "fork")
    texts = random_texts()
    with pytest.warns(UserWarning, match="was killed.*n_jobs=1"): X = TermCounter(analyzer=dying, n_jobs=2).fit_transform(texts)
    assert X.sum() == sum(len(t.split()) for t in texts)

def test_warnings_come_once(method, capfd):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        TermCounter(stop_words=["can't", "aa"], n_jobs=2).fit(random_texts())
    assert len({str(w.message) for w in caught}) == len(caught) == 1 and "stop_words" in str(caught[0].message)
    assert capfd.readouterr().err == ""

def test_parameters_are_those_of_scikit_learn():
    ours, theirs = TermCounter(n_jobs=3, min_df=2), CountVectorizer(min_df=2)
    assert {k: v for k, v in ours.get_params().items() if k != "n_jobs"} == theirs.get_params()
    assert clone(ours).get_params() == ours.get_params() and repr(ours) == "TermCounter(min_df=2, n_jobs=3)"
    assert ours.set_params(n_jobs=1, ngram_range=(1, 2)).n_jobs == 1
    with pytest.raises(TypeError, match="colour"): TermCounter(colour="red")

def test_pipelines_take_n_jobs(small):
    texts = random_texts()
    one, two = (text_pipeline(1, 1.0, n_jobs=n, stop_words=None, token_pattern=r"\w+").fit_transform(texts) for n in (1, 2))
    assert (one != two).nnz == 0
    assert (count_terms(texts, n_jobs=1)[0] != count_terms(texts, n_jobs=2)[0]).nnz == 0

def test_an_interrupt_ends_everything(tmp_path):
    if sys.platform != "linux": pytest.skip("signals to a group of processes")
    (tmp_path/"long.py").write_text("from nmf2.counting import TermCounter\nprint('begin', flush=True)\n"
                                    "TermCounter(n_jobs=2).fit(['a goal and a vote '*2000]*2000)\n")
    job = subprocess.Popen([sys.executable, tmp_path/"long.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           start_new_session=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))   # which shells set aside for background jobs
    job.stdout.readline()
    time.sleep(1)
    os.killpg(job.pid, signal.SIGINT)
    _, err = job.communicate(timeout=60)
    assert err.rstrip().endswith("KeyboardInterrupt") and "Process" not in err
    with pytest.raises(ProcessLookupError): os.killpg(job.pid, 0)

@pytest.mark.parametrize("options, why", [
    (dict(vocabulary="goal"), "vocabulary must be a list of terms"), (dict(token_pattern=None), "token_pattern must be a regular"),
    (dict(token_pattern="("), "token_pattern must be a regular"), (dict(min_df=-1), "min_df")])
def test_options_that_are_none(options, why):
    with pytest.raises(ValueError, match=why): TermCounter(**options).fit(["goal"])

@pytest.mark.parametrize("texts", [dict(a="goal"), {"goal"}])
def test_texts_without_order(texts):
    with pytest.raises(ValueError, match="texts must be a list of strings, got a (dict|set)"): TermCounter().fit(texts)
