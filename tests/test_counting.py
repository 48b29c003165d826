"Counting in several processes against scikit-learn in one"
import os
import re
import signal
import subprocess
import sys
import threading
import time
import types
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

from nmf2 import counting
from nmf2.core import names_of
from nmf2.counting import LANGUAGES, UNLISTED, TermCounter, cut_evenly, n_processes, stop_list, unspaced, unspaced_names
from nmf2.data import WORDS, count_terms, load
from nmf2.languages import FREQUENT
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

@pytest.fixture(params=["fork", pytest.param("loky", marks=pytest.mark.slow)])      # loky starts programs
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

@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options) or "none")
def test_as_in_one_process(method, options):
    texts = random_texts()
    counter, plain = TermCounter(n_jobs=2, **options), CountVectorizer(**options)
    assert n_processes(counter, texts, 2) == 2
    assert_same(counter, counter.fit_transform(texts), plain, plain.fit_transform(texts))
    new = random_texts(seed=1)
    assert_same(counter, counter.transform(new), plain, plain.transform(new))

@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1, None])
def test_the_number_of_processes_changes_nothing(small, n_jobs):
    texts = random_texts(100)
    counter, plain = TermCounter(n_jobs=n_jobs), CountVectorizer()
    assert_same(counter, counter.fit_transform(texts), plain, plain.fit_transform(texts))

@pytest.mark.slow
def test_known_collection():
    if not os.environ.get("NMF2_DATA"): pytest.skip("NMF2_DATA names no folder with collections")
    texts = load("20newsgroups").texts[::2]
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
    with pytest.raises(ValueError, match="No terms in the texts: all 3 are empty$"): TermCounter().fit(["", " ", "\n"])

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

@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_workers_have_no_workers(backend):
    same = dict(max_nbytes=None) if backend == "loky" else {}          # options as ours, so that its workers are taken
    assert Parallel(2, backend=backend, **same)(delayed(alone_in_here)(random_texts()) for _ in range(2)) == [1, 1]

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
    assert {k: v for k, v in ours.get_params().items() if k not in ("n_jobs", "verbose")} == theirs.get_params()
    assert clone(ours).get_params() == ours.get_params() and repr(ours) == "TermCounter(min_df=2, n_jobs=3)"
    assert ours.set_params(n_jobs=1, ngram_range=(1, 2)).n_jobs == 1
    with pytest.raises(TypeError, match="colour"): TermCounter(colour="red")

@pytest.mark.slow
def test_pipelines_take_n_jobs(small):
    texts = random_texts()
    one, two = (text_pipeline(1, 1.0, n_jobs=n, stop_words=None, token_pattern=r"\w+").fit_transform(texts) for n in (1, 2))
    assert (one != two).nnz == 0
    assert (count_terms(texts, n_jobs=1)[0] != count_terms(texts, n_jobs=2)[0]).nnz == 0

@pytest.mark.slow
def test_an_interrupt_ends_everything(tmp_path):
    if sys.platform != "linux": pytest.skip("signals to a group of processes")
    (tmp_path/"long.py").write_text("from nmf2.counting import TermCounter\nprint('begin', flush=True)\n"
                                    "TermCounter(n_jobs=2, tokenizer=str.split).fit(['a goal and a vote '*2000]*2000)\n")
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
    (dict(token_pattern="("), "token_pattern must be a regular"), (dict(min_df=-1), "min_df"),
    (dict(ngram_range=(0, 1)), "ngram_range must be two whole numbers"), (dict(ngram_range=("1", "2")), "ngram_range"), (dict(ngram_range=(1,)), "ngram_range"),
    (dict(ngram_range=(2, 1)), "ngram_range"), (dict(ngram_range=2), "ngram_range"), (dict(ngram_range=(1, 1.5)), "ngram_range"),
    (dict(preprocessor=5), "preprocessor must be a function"), (dict(input="file"), "nmf2.data.read"),
    *((dict(vocabulary=empty), "vocabulary is empty: give the terms to count") for empty in ([], (), {}, set(), np.array([], object))),
    *((dict(dtype=dtype), "dtype must be a type of numbers") for dtype in (object, "U5", np.float16, "nonsense", "M8[D]"))])
def test_options_that_are_none(options, why):
    with pytest.raises(ValueError, match=why): TermCounter(**options).fit(["goal"])

@pytest.mark.parametrize("texts", [dict(a="goal"), {"goal"}])
def test_texts_without_order(texts):
    with pytest.raises(ValueError, match="texts must be a list of strings, got a (dict|set)"): TermCounter().fit(texts)

# ---- stop words

GERMAN = ["der Ball und das Tor", "das Tor und der Ball", "Tor!"]

@pytest.mark.parametrize("words", [["der", "das", "und"], ("der", "das", "und"), {"der", "das", "und"}, frozenset(["der", "das", "und"]),
                                   np.array(["der", "das", "und"]), {"der": 1, "das": 2, "und": 3}.keys()], ids=lambda w: type(w).__name__)
def test_stop_words_of_any_type(words):
    for make in (lambda: TermCounter(stop_words=words), lambda: text_pipeline(1, 1.0, stop_words=words)["count"]):
        assert make().fit(GERMAN).get_feature_names_out().tolist() == ["ball", "tor"]
    assert count_terms(GERMAN, stop_words=words)[1].tolist() == ["ball", "tor"]

def test_stop_words_of_a_language(monkeypatch):
    lists = {"de": {"der", "das", "und"}, "fr": {"aujourd'hui", "vis-à-vis", "plus tard"}}
    monkeypatch.setitem(sys.modules, "stopwordsiso", types.SimpleNamespace(stopwords=lists.__getitem__))
    for name in ("german", "German", "GERMAN", "de", "DE", " german "):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert TermCounter(stop_words=name).fit(GERMAN).get_feature_names_out().tolist() == ["ball", "tor"]
    assert stop_list("french") == {"aujourd'hui", "aujourd", "hui", "vis-à-vis", "vis", "à"} | FREQUENT["french"]
    assert stop_list("english") == stop_list("EN") == CountVectorizer(stop_words="english").get_stop_words()

def test_languages_are_those_of_the_package():
    stopwordsiso = pytest.importorskip("stopwordsiso")
    assert UNLISTED <= set(LANGUAGES) and set(LANGUAGES) - UNLISTED == set(stopwordsiso.langs())
    for code in LANGUAGES: assert len(stop_list(code)) > 10
    assert {"der", "und", "nicht"} <= stop_list("German") and "the" not in stop_list("German")

def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "stopwordsiso", None)
    with pytest.raises(ValueError, match=r"stop_words='German' needs .*pip install 'nmf2\[languages\]'.*a list of words"):
        TermCounter(stop_words="German").fit(GERMAN)
    assert stop_list("english")

@pytest.mark.parametrize("words, why", [("klingon", "one of 61 languages such as .*got 'klingon'"), ("der", "got 'der'"), (7, "got int"),
                                        (b"der", "got bytes"), ({"der": 1}, "got dict"), ([1], "has 1"), (["der", None], "has None")])
def test_stop_words_that_are_none(words, why):
    with pytest.raises(ValueError, match=f"stop_words.*{why}"): TermCounter(stop_words=words).fit(GERMAN)
    with pytest.raises(ValueError, match=f"stop_words.*{why}"): count_terms(GERMAN, stop_words=words)

# ---- texts without spaces

CHINESE = ["我们今天下午去看足球比赛,然后去吃晚饭", "昨天的足球比赛很精彩", "番茄和豆子需要温暖的土壤"]*5
SPACED = ["我们 今天 下午 去 看 足球 比赛", "昨天 的 足球 比赛 很 精彩", "番茄 和 豆子 需要 温暖 的 土壤"]*5
JAPANESE = ["私は今日の午後にサッカーの試合を見に行きます", "トマトと豆には暖かい土が必要です"]*5
THAI = ["ฉันกำลังเรียนการเขียนโปรแกรมคอมพิวเตอร์", "มะเขือเทศและถั่วต้องการดินที่อบอุ่น"]*5
KHMER = ["ខ្ញុំស្រឡាញ់ភាសាខ្មែរណាស់ហើយខ្ញុំរៀនវា"]*5
LAO = ["ຂ້ອຍຮັກພາສາລາວຫຼາຍແລະຂ້ອຍກໍາລັງຮຽນມັນ"]*5
BURMESE = ["ကျွန်တော်မြန်မာဘာသာစကားကိုချစ်တယ်"]*5
KOREAN = ["나는 오늘 오후에 축구 경기를 보러 간다", "토마토와 콩은 따뜻한 흙이 필요하다"]*5

@pytest.mark.parametrize("texts, script", [(CHINESE, "Chinese"), (JAPANESE, "Japanese"), (THAI, "Thai"), (KHMER, "Khmer"), (LAO, "Lao"),
                                           (BURMESE, "Burmese")])
def test_texts_without_spaces(texts, script):
    for make in (TermCounter, lambda: text_pipeline(1, 1.0)):
        with pytest.raises(ValueError, match=f"{script}.*written without spaces.*tokenizer.*TermCounter\(analyzer='char'"): make().fit(texts)
    with pytest.raises(ValueError, match="without spaces"): count_terms(texts)

def test_what_to_do_about_it():
    pairs = text_pipeline(1, 1.0, analyzer="char", ngram_range=(2, 2)).fit(CHINESE)
    assert "足球" in pairs.get_feature_names_out()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        by_spaces = text_pipeline(1, 1.0, tokenizer=str.split).fit(SPACED)
        assert by_spaces.get_feature_names_out().tolist() == text_pipeline(1, 1.0, token_pattern=r"\S+").fit(SPACED).get_feature_names_out().tolist()
        TermCounter(analyzer=list).fit(CHINESE)
        TermCounter(token_pattern="[\u4e00-\u9fff]").fit(CHINESE)
        TermCounter(preprocessor=lambda text: " ".join(text[i:i + 2] for i in range(0, len(text), 2))).fit(CHINESE)

def test_languages_with_spaces_are_let_alone():
    latin = ["the striker scored a late goal"]*90
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for texts in (SPACED, KOREAN, ["Привет, как дела сегодня"]*3, ["Donaudampfschifffahrtsgesellschaftskapitän"]*3, latin,
                      latin*20 + CHINESE[:1], ["", "1 2 3", "東京 Tokyo"]): TermCounter(token_pattern=r"\w+").fit(texts)

def test_some_texts_without_spaces():
    latin = ["the striker scored a late goal", "sow the beans in warm soil"]*10
    with pytest.warns(UserWarning, match=r"1\d% of the letters are Chinese or Japanese, written without spaces.*tokenizer="):
        X = TermCounter().fit_transform(latin + CHINESE[:5])
    assert X.shape[0] == 25

@pytest.mark.parametrize("texts, script", [
    (["红色连衣裙", "黑色牛仔裤", "女人", "中等深肤色", "iPhone手机壳"], "Chinese or Japanese"), (["女人深肤色", "男人浅肤色", "微笑的脸", "女人中等深肤色"], "Chinese or Japanese"),
    (["赤いドレス", "黒いジーンズ", "スマホケース", "東京タワー"], "Chinese or Japanese"), (["กระเป๋าสีแดง", "รองเท้าผู้หญิง", "เสื้อยืดสีดำ"], "Thai")])
def test_short_texts_without_spaces(texts, script):
    assert unspaced(" ".join(texts)) == {} and list(unspaced_names(texts)) == [script]
    with pytest.warns(UserWarning, match=f"% of the letters are {script}, written without spaces between words, so whole sentences, or names,.*tokenizer="):
        TermCounter(token_pattern=r"\w+").fit(texts*5)

@pytest.mark.parametrize("texts", [
    ["红色 连衣裙", "黑色 牛仔裤", "女人", "中等 深 肤色"], ["人工智能,机器学习", "足球、新闻", "体育/新闻报道"], ["赤い ドレス", "アップル コンピューター", "東京 タワー"], ["红色", "黑色", "女人"],
    ["กระเป๋า สีแดง", "รองเท้า ผู้หญิง", "เสื้อยืด สีดำ"], ["빨간드레스", "검은청바지", "서울타워전망대"], ["a red dress 红色连衣裙", "black jeans", "a dress"], ["red dress", "jeans"],
    ["សៀវភៅ\u200bថ្មី\u200bណាស់", "ឡាន\u200bចាស់\u200bរបស់ខ្ញុំ"],
    ["東京タワー", "the tower of Tokyo, at night", "Tokyo by night, from the tower"], ["Красноеплатье"], ["", "1 2", "!?"], []])
def test_short_texts_that_are_let_alone(texts): assert unspaced_names(texts) == {}

def test_short_texts_that_the_pattern_cuts():
    assert unspaced_names(["សៀវភៅថ្មីណាស់", "ឡានចាស់ណាស់"]) == {"Khmer": 1} and unspaced_names(["សៀវភៅ\u200bថ្មីណាស់", "ឡាន\u200bចាស់ណាស់"]) == {}
    assert unspaced_names(["红色连衣裙", "黑色牛仔裤"], "[\u4e00-\u9fff]") == {}

def test_a_long_collection_is_sampled(monkeypatch):
    seen = []
    counter = TermCounter(preprocessor=lambda text: seen.append(len(text)) or text)
    counting.check_spaces(counter, ["word "*1000]*5500)
    assert len(seen) < 1001 and max(seen) == 1000

def test_shares_of_scripts():
    assert unspaced("") == unspaced("123 !") == {}
    assert unspaced("我们今天下午去看足球比赛" + " abcd"*3) == {"Chinese or Japanese": .5}

def test_which_scripts_a_text_has_letters_of():
    "As regular expressions find them in the whole text, at the ends of each range and one beyond"
    for text in ["", "a“b”", "\ud800 x", "Straße", "東a", "ก", "é…", "한국어", "кот"]:
        assert counting._without_spaces(text).keys() == {name for name, (_, letters, _) in counting.UNSPACED.items() if re.search(f"[{letters}]", text)}
    for name, (_, letters, _) in counting.UNSPACED.items():
        for code in [ord(letter) + d for letter in letters if letter != "-" for d in (-1, 0, 1) if ord(letter) + d <= sys.maxunicode]:
            assert (name in counting._without_spaces("goal “ball” " + chr(code))) == bool(re.search(f"[{letters}]", chr(code)))

# ---- functions of the user's own

class Token:
    text = "goal"

@pytest.mark.parametrize("options, why", [
    (dict(tokenizer=str.upper), "tokenizer must return a list of strings, and returned 'A GOAL'"), (dict(tokenizer=len), "returned 6"),
    (dict(tokenizer=lambda text: [Token()]), "Take the text of each"), (dict(analyzer=str.upper), "analyzer must return"),
    (dict(analyzer=lambda text: None), "returned None"), (dict(preprocessor=str.split), "preprocessor must return a string"),
    (dict(tokenizer="jieba"), "tokenizer"), (dict(analyzer="words"), "analyzer"), (dict(tokenizer=lambda text: []), "finds nothing in them")])
def test_functions_that_return_something_else(options, why):
    with pytest.raises(ValueError, match=why): TermCounter(**options).fit(["a goal"])

def test_functions_may_return_anything_with_strings():
    for cut in (str.split, lambda text: iter(text.split()), lambda text: tuple(text.split()), lambda text: np.array(text.split())):
        counter = TermCounter(tokenizer=cut, ngram_range=(1, 2), stop_words=["a"])
        assert counter.fit(["a goal and", "a vote"]).get_feature_names_out().tolist() == ["and", "goal", "goal and", "vote"]
    assert text_pipeline(1, 1.0, tokenizer=str.split, preprocessor=str.upper).fit(["goal!", "vote"]).get_feature_names_out().tolist() == ["GOAL!", "VOTE"]

def test_texts_that_are_something_else():
    import pandas as pd

    from nmf2.data import Corpus
    for texts, why in [(Corpus(["a ball"]), "corpus.texts"), (pd.DataFrame({"body": ["a ball"]}), "columns 'body'; give one of them"),
                       ([["a", "ball"]], "' '.join"), ([b"a ball"], "decode"), (["a ball", None], "missing texts")]:
        with pytest.raises(ValueError) as e: TermCounter().fit(texts)
        assert why in str(e.value)


@pytest.mark.parametrize("vocabulary", [[1, 2], (2, 1), [b"ball"], [["ball"]], 5, (word for word in ["ball"])])
def test_vocabularies_that_are_none(vocabulary):
    with pytest.raises(ValueError, match="vocabulary must be a list of terms"): TermCounter(vocabulary=vocabulary).fit(["a ball"])


def test_stop_words_that_can_be_read_once():
    "They would be gone after the check"
    for words in ((word for word in ["ball"]), iter(["ball"]), np.array("ball")):
        with pytest.raises(ValueError, match="stop_words must be a list"): TermCounter(stop_words=words).fit(["a ball", "goal"])


def test_too_many_groups():
    with pytest.raises(ValueError, match="at most one group"): TermCounter(token_pattern="(a)(b)").fit(["ab"])
    assert TermCounter(token_pattern="(a)b").fit(["ab"]).get_feature_names_out().tolist() == ["a"]

# ---- names and progress

def test_the_matrix_carries_its_words(method):
    texts = random_texts()
    counter = TermCounter(n_jobs=2)
    for X in (counter.fit_transform(texts), counter.transform(texts[:9]), count_terms(texts)[0]):
        assert len(names_of(X)) == X.shape[1]
        for j in (0, X.shape[1] - 1): assert (X[:, j].sum() > 0) == any(names_of(X)[j] in t.lower() for t in texts[:X.shape[0]])

def test_progress(method, monkeypatch, capfd):
    texts, steps, progress_bar = random_texts(), [], counting.progress_bar
    def watched(*args):
        bar = progress_bar(*args)
        update, bar.update = bar.update, lambda n: steps.append(n) or update(n)
        return bar
    monkeypatch.setattr(counting, "progress_bar", watched)
    counter, plain = TermCounter(n_jobs=2, verbose=True), CountVectorizer()
    assert_same(counter, counter.fit_transform(texts), plain, plain.fit_transform(texts))
    assert sum(steps) == len(texts) and len(steps) > 4 and f"{len(texts)}/{len(texts)} texts" in capfd.readouterr().err
    TermCounter(n_jobs=2).fit(texts)
    assert capfd.readouterr().err == ""

def test_progress_in_one_process(capsys):
    TermCounter(n_jobs=1, verbose=True).fit(["a goal"]*2500)
    assert "2500/2500 texts" in capsys.readouterr().err

def test_a_bar_leaves_no_thread_behind():
    if sys.platform != "linux": pytest.skip("processes are copied on Linux only")
    before = threading.active_count()
    TermCounter(n_jobs=1, verbose=True).fit(["a goal"])
    assert threading.active_count() == before

# ---- last, as workers that have failed are replaced

@pytest.mark.slow
def test_errors_come_back(method):
    with pytest.raises(LookupError, match="no words today"): TermCounter(analyzer=failing, n_jobs=2).fit(random_texts())
