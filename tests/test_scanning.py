"Words counted by compiled code against scikit-learn's CountVectorizer, to the letter"
import copy
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
import unicodedata
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

from nmf2 import counting, scanning
from nmf2.core import names_of
from nmf2.counting import TermCounter, cut_evenly, n_threads, not_compiled
from nmf2.data import load
from nmf2.languages import AFTER_FIRST, NO_DIGITS, WORDS, as_regex, composed
from nmf2.scanning import Terms, count_shares, letter_table, lowered, members, odd_letters, plan, read_pattern
from nmf2.topictree import TopicTree
from nmf2.weighting import known_names
from test_counting import assert_same

PATTERNS = [r"(?u)\b\w\w+\b", WORDS, NO_DIGITS, r"\w\w+", r"\w+", r"\b\w+\b", r"\w{3,}", r"\w\w\w+", r"[^\W\d_]{2,}", r"[^\W\d_]{3,}", r"[^\W\d_]+",
            r"[a-zA-Z]+", r"[a-zA-Z]{3,}", r"[a-z][a-z]+", r"(?u)\b[a-zA-Z]{2,}\b", r"[A-Z]+", r"[a-z0-9_]+", r"\w+(?:-\w+)*", r"\w+(?:['-]\w+)*",
            r"(?u)\b\w+(?:-\w+)*\b", r"[^\W\d_]+(?:['’-][^\W\d_]+)*", r"\b[a-z]+(?:-[a-z]+)*\b", r"\b[a-z]{2,}(?:['-][a-z]{2,})*\b", r"\w+(?:'\w+)?",
            r"[a-z]+(?:-[a-z]{2,})+", r"\b[^\W\d_]{2,}(?:-[^\W\d_]+)+\b", r"[a-zA-Z][a-zA-Z0-9]+", r"\b[a-zA-Z]\w+\b", r"[^\W\d]\w*", r"(?u)\b[^\W\d_]\w{2,}", r"\b[^\W\d_][^\W_]*\b", r"\b[ab\d][^\W_]+\b",
            r"\S+", r"\S{2,}", r"[^\s,.;]+", r"[\w'-]+", r"[\w.@-]{3,}", r"\d+", r"\d{2}\d*", r"[a-zäöüß]+", r"[\u0400-\u04ff]+", r"[^a]+", r"[.\]a-]+", "a+"]
NOT = [r"\w+|\d", r"(\w+)", r"\w+?", r"\w", r"\w{2}", r"\w{2,5}", r"[a-z]+[0-9]+", r"\b[\w'-]+\b", r"\b[a-z]+", r"[a-z]+\b", r"\w+(?:\w\w+)*", r"\w+(?:-\d+)*", r"\w*",
       r"(?i)\w+", r".+", r"(?:\w+)", r"\w+\B", r"^\w+", r"(?s).{2,}", r"[\s\S]+", r"\w+(?:-\w+){2}", r"\w++" if sys.version_info >= (3, 11) else r"\w+?", "goal", ""]
LETTERS = list("aabbcdeéßÄΣσςİıǅЖ中ªⅧ²١1_ ,.-'’\n") + ["\u0301", "\u0307", "\u200d", "𝔘", "ﬁ", "Ⱥ", "\0", "\ud800", "ℋ", "K", "ﾊﾞ", "ẞ", "ʰ"]

def random_texts(n=120, seed=0, longest=90):
    "Texts of odd letters, many of them in ASCII alone, among them empty ones"
    rng = np.random.default_rng(seed)
    few, many = LETTERS[:6] + list("AZ19_ ,.-'"), LETTERS
    texts = ["".join(rng.choice(few if k % 3 else many, rng.integers(0, longest))) for k in range(n)]
    return texts + ["", " ", "a", " ".join(texts[:30])]

@pytest.fixture
def always(monkeypatch):
    "Even small corpora are counted by compiled code, and in several threads"
    monkeypatch.setattr(counting, "COMPILED", 0)
    monkeypatch.setattr(counting, "PER_WORD", 0)
    monkeypatch.setattr(counting, "READY", 0)
    monkeypatch.setattr(scanning, "PRICE", 0)
    monkeypatch.setattr(counting, "THREAD", 100)

def check(texts, new=(), **options):
    "The same from both, and in one thread as in two"
    counter, plain = TermCounter(n_jobs=2, **options), CountVectorizer(**options)
    plain.set_params(token_pattern=as_regex(plain.token_pattern))
    def seen(some): return composed(some, counter.lowercase) if counter.token_pattern in AFTER_FIRST else list(some)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try: Y = plain.fit_transform(seen(texts))
        except ValueError as e:
            with pytest.raises(ValueError, match="No terms|no terms remain|max_df"): counter.fit(texts)
            return None
        X = counter.fit_transform(texts)
        assert counter.way_ == "compiled"
        assert_same(counter, X, plain, Y)
        assert counter.get_feature_names_out().tolist() == plain.get_feature_names_out().tolist()
        if new: assert_same(counter, counter.transform(new), plain, plain.transform(seen(new)))
    return X

# ---- letters

def test_letters_are_pythons():
    word = members(r"\w")
    for c in map(chr, range(0, 0x110000, 7)): assert word[ord(c)] == (c.isalnum() or c == "_")
    table = lowered(0x110000)
    for c in map(chr, range(0, 0x30000)):
        if c not in odd_letters(): assert c.lower() == chr(table[ord(c)])
    assert {"İ", "Σ"} <= set(odd_letters())
    assert (table[table] == table).all() or set(np.flatnonzero(table[table] != table)) <= {0, *map(ord, odd_letters())}

@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("pattern", [r"\w+", WORDS, NO_DIGITS, r"\w+(?:-\w+)*"])
def test_every_letter_of_the_basic_plane(always, pattern, step):
    "Each alone, behind a letter, before one, between two, and beside digits"
    texts = [f"{c} a{c} {c}b a{c}b 1{c} {c}{c}" for c in map(chr, range(0, 0x10000, step))]
    check(["\n".join(texts[i:i + 97]) for i in range(0, len(texts), 97)], token_pattern=pattern)

@pytest.mark.slow
def test_every_letter_beyond(always):
    check([" ".join(f"a{chr(c)}b {chr(c)}" for c in range(i, i + 500)) for i in range(0x10000, 0x32000, 500)], token_pattern=r"\w+")

@pytest.mark.parametrize("accents", ["ascii", "unicode"])
def test_accents(always, accents):
    check(["".join(map(chr, range(i, i + 64))) + " Ça naïve ÅNGSTRÖM ΣΑΣ İ" for i in range(0, 0x3000, 64)], strip_accents=accents, token_pattern=r"\w+")
    check(random_texts(), strip_accents=accents, lowercase=False)

def test_marks_belong_to_words(always):
    texts = ["हिन्दी में फ़ाइल खोलने में त्रुटि", "தமிழ் மொழி கோப்பு", "বাংলা ভাষায় ফাইল", "مَفْتُوح", "שָׁלוֹם עוֹלָם", "nai\u0308ve Gro\u0308\u00dfe",
             "co\u00adoperate", "x\u0301 a\u03011 \u0301b_ \u0301\u0302"]*40
    check(texts, token_pattern=WORDS)
    words = set(TermCounter(token_pattern=WORDS).fit(texts).vocabulary_)
    assert {"हिन्दी", "में", "खोलने", "त्रुटि", "மொழி", "বাংলা", "مفتوح", "שלום", "na\u00efve", "co\u00adoperate"} <= words
    assert TermCounter(token_pattern=WORDS).fit(texts).way_ == "compiled" and not any(len(word) < 2 for word in words)

def test_letters_of_one_sign_and_of_two_are_the_same(always):
    whole = ["축구 월드컵 감독", "café naïve Ångström", "résumé über"]*20
    apart = [unicodedata.normalize("NFD", text) for text in whole]
    assert apart != whole and composed(apart) == whole and composed(whole) is whole
    counter = TermCounter(token_pattern=WORDS).fit(whole)
    assert "월드컵" in counter.vocabulary_ and TermCounter(token_pattern=WORDS).fit(apart).vocabulary_ == counter.vocabulary_
    assert_array_equal(counter.transform(apart).toarray(), counter.transform(whole).toarray())
    as_given = TermCounter(token_pattern=r"\w+").fit(["cafe\u0301"]*60)                     # a pattern of the user's means what it says
    assert set(as_given.vocabulary_) == {"cafe"}
    assert "café" not in TermCounter(token_pattern=WORDS, stop_words=["cafe\u0301"]).fit(whole).vocabulary_
    listed = TermCounter(token_pattern=WORDS, vocabulary=["cafe\u0301"])                    # so does a vocabulary
    assert listed.transform(["cafe\u0301 café"]).toarray().tolist() == [[1]]

def test_apostrophes_within_cyrillic_words_are_letters(always):
    """Ukrainian and Belarusian have them; typed as ' or ’ they are the letter ʼ, and between other letters they part words."""
    counter = TermCounter(token_pattern=WORDS).fit(["пам'ять пам’ять памʼять", "'слово' 'слово", "d'accord d’accord", "аб'ект 'а'"]*60)
    assert list(counter.get_feature_names_out()) == ["accord", "абʼект", "памʼять", "слово"]
    assert counter.transform(["ПАМ’ЯТЬ і пам'ять"]).toarray().tolist() == [[0, 0, 2, 0]]


POINTED = {"زينب": ["زَيْنَبُ", "زَيْنَبَ", "زَيْنَبِ", "زيـنب", "زَينـب"], "محمد": ["مُحَمَّدٌ", "مُحَمَّدٍ", "م\u064f\u06e1حمد"], "أمة": ["أُمَّةٍ", "ا\u064f\u0654مة"],
           "שלום": ["שָׁלוֹם", "\ufb2aלום", "שָׁל֔וֹם"], "içerik": ["İçerik", "İÇERİK", "i\u0307çerik", "I\u0307c\u0327erik"], "istanbul": ["İstanbul", "İ\u0307STANBUL"]}

@pytest.mark.parametrize("word", POINTED)
def test_points_are_left_out(always, word):
    """Vowels of Arabic and Hebrew, the stroke that makes a word longer, and the dot of a small Turkish İ."""
    texts = POINTED[word]
    for n in (1, 60):                                                           # in Python, and compiled
        counter = TermCounter(token_pattern=WORDS).fit(texts*n)
        assert list(counter.vocabulary_) == [word]
        assert counter.transform([word, *texts]).toarray().tolist() == [[1]]*(len(texts) + 1)
        assert not TermCounter(token_pattern=WORDS, stop_words=[texts[0].lower()]).fit([f"{text} abc" for text in texts]*n).vocabulary_.keys() & {word}
    assert composed(once := composed(texts, True), True) is once and composed([word], True) == [word]

def test_what_has_no_points_stays(always):
    assert composed(whole := ["هذا كتاب آخر ٱلله خانهٔ", "ספר־אחר", "ʼIlā", "i̱", "\ud800é", "ıI"], True) is whole
    kept = TermCounter(token_pattern=WORDS, lowercase=False).fit(["İçerik içerik Içerik"]*60)
    assert set(kept.vocabulary_) == {"İçerik", "içerik", "Içerik"}
    listed = TermCounter(token_pattern=WORDS, vocabulary=["زَيْنَبُ"])                        # a vocabulary means what it says
    assert listed.transform(["زَيْنَبُ زينب"]).toarray().tolist() == [[1]]
    texts = ["زَيْنَبُ İçerik"]*60                                                          # and so does scikit-learn's pattern
    assert TermCounter().fit(texts).vocabulary_ == CountVectorizer().fit(texts).vocabulary_

def test_a_counter_of_an_earlier_version_knows_its_words(always):
    """Its vocabulary has letters of two signs, and no note that texts were composed."""
    texts = ["cafe\u0301 re\u0301sume\u0301"]*60
    old = TermCounter(token_pattern=WORDS).fit(texts)
    old.vocabulary_ = {unicodedata.normalize("NFD", word): j for word, j in old.vocabulary_.items()}
    del old.composed_
    assert old.transform(texts).sum() == 120

def test_sigmas(always):
    check(["ΟΔΥΣΣΕΥΣ ΣΟΦΟΣ", "ΣΑΣ-ΣΑΣ Σ' ΑΣ.Α ΑΣ1 Σ ΑΣ\u0301 Α\u0301Σ", "İSTANBUL Iİ ıI", "ΑΣ", "Σ", "plain TEXT", "ΑΣ_Β 1Σ"], token_pattern=r"\w+")

def test_odd_strings(always):
    check(["a\ud800b \udfff x\ud83d\ude00y", "nul\0nul \0\0", "\ufeffbom bom\u00a0bom\u2028bom\x85bom", "e\u0301a \u0301", "ab\rcd\x1cef"]*3, token_pattern=r"\w+")
    check(["ab\0", "ab", "a\0b ab", "\0ab"]*3, token_pattern=r"[^\s]+")

# ---- what a word is

@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(always, pattern):
    form = read_pattern(pattern)
    if pattern == r"[^a]+": return check(["b c\nd;e,f!\0\t"]) and None if form else None
    assert form, pattern
    for seed, lowercase in ((0, True), (1, False)):
        check(random_texts(seed=seed), random_texts(20, seed=seed + 9), token_pattern=pattern, lowercase=lowercase)
    check(["well-known 4x4-car state-of-the-art - x-1 it's 'tis rock'n'roll don’t a--b -a a- _a a_-b9-c ab-cd1", "AB-cd Ef-gh-1 1-ab"], token_pattern=pattern)

@pytest.mark.parametrize("pattern", NOT)
def test_other_patterns_go_the_other_way(always, pattern):
    assert read_pattern(pattern) is None
    counter, texts = TermCounter(token_pattern=pattern, n_jobs=1), ["ab-cd 12 goal", "x"]
    assert "pattern" in not_compiled(counter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try: X = counter.fit_transform(texts)
        except ValueError: return
    assert counter.way_ == "alone"
    assert_same(counter, X, plain := CountVectorizer(token_pattern=pattern), plain.fit_transform(texts))

@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_patterns(seed):
    "Where a pattern is understood, it is understood as `re` does"
    rng, n = np.random.default_rng(seed), 0
    kinds = [r"\w", r"[a-z]", r"[^\W\d_]", r"\d", r"[a-z-]", r"-", r"['-]", r"\S", "a", "[^a]"]
    texts = random_texts(25, seed, 40)
    for _ in range(150):
        kind = rng.choice(kinds)
        def run(kind): return "".join(rng.choice([kind, rng.choice(kinds)], p=[.9, .1]) + rng.choice(["", "+", "{2,}", "*"]) for _ in range(rng.integers(1, 4)))
        pattern = rng.choice(["", r"\b", r"(?u)\b"]) + run(kind) + (f"(?:{rng.choice(kinds)}{run(kind)}){rng.choice(list('*+?'))}" if rng.random() < .4 else "") + rng.choice(["", r"\b"])
        if not (scan := plan(pattern, True)): continue
        n += 1
        terms, X = count_shares(scan, [texts[:9], texts[9:]])
        expected = [word for text in texts for word in re.findall(pattern, text.lower())]
        assert list(terms.numbered()) == list(dict.fromkeys(expected)), pattern
        assert X.sum() == len(expected)
    assert n > 15

# ---- options

OPTIONS = dict(stop_words=[None, "english", ["a", "ab", "aa"]], ngram_range=[(1, 1), (1, 2), (2, 2), (1, 3), (2, 3), (3, 3)], min_df=[1, 2, .1], max_df=[1., .5, 40],
               max_features=[None, None, 7, 10**6], binary=[False, True], dtype=[np.int64, np.float32, np.float64, np.int32, np.uint8],
               strip_accents=[None, None, "ascii", "unicode"], lowercase=[True, True, False], token_pattern=PATTERNS[:31])

@pytest.mark.parametrize("seed", range(25))
def test_options_at_random(always, seed):
    rng = np.random.default_rng(seed)
    options = {name: values[rng.integers(len(values))] for name, values in OPTIONS.items() if rng.random() < .5}
    check(random_texts(100, seed), random_texts(30, seed + 100), **options)

@pytest.mark.parametrize("seed", range(12))
def test_known_vocabularies(always, seed):
    rng = np.random.default_rng(seed)
    texts = random_texts(60, seed)
    options = {name: values[rng.integers(len(values))] for name, values in OPTIONS.items() if rng.random() < .4 and name not in ("min_df", "max_df", "max_features")}
    try: terms = list(CountVectorizer(**{**options, "ngram_range": (1, 3), "dtype": np.int64}).fit(texts).vocabulary_)
    except ValueError: return
    known = [*rng.permutation(terms)[:40].tolist(), "never", "UPPER", "two words", "", " ", "a  b"]
    X = check(texts, random_texts(20, seed + 50), vocabulary=known, **options)
    assert X.shape[1] == len(known)
    check(texts, vocabulary=dict(zip(known, rng.permutation(len(known)).tolist())), **options)

def test_documents_without_known_terms(always):
    assert check(["a ?", "", "b"], vocabulary=["goal", "vote"]).nnz == 0

def test_nothing_to_count(always):
    with pytest.raises(ValueError, match="No terms in the 3 texts"): TermCounter().fit(["", "1", "?"])
    with pytest.raises(ValueError, match="none has 2 words in a row"): TermCounter(ngram_range=(2, 2)).fit(["goal", "vote"])

# ---- long words, long texts, many words

def test_words_of_any_length(always):
    "Around the limits of the keys (8, 15, 16, 255), and words that differ in one letter only"
    rng = np.random.default_rng(0)
    words = []
    for n in [*range(1, 40), 250, 254, 255, 256, 257, 300]:
        word = rng.choice(list("ab"), n)
        for i in {0, n//2, n - 1, min(n - 1, 7), min(n - 1, 8), min(n - 1, 14), min(n - 1, 15)}:
            other = word.copy()
            other[i] = "c"
            words += ["".join(word), "".join(other), "".join(other) + "c"]
    rng.shuffle(words)
    check([" ".join(words[i:i + 5]) for i in range(0, len(words), 5)]*2, token_pattern=r"\w+")

def test_words_of_a_megabyte(always):
    a = "a"*1_000_000
    check([a, a + "b short", "é" + a, a, f"x {a}y"], token_pattern=r"\w+")

def test_a_run_is_spoilt_by_any_number_of_letters(always):
    "Positions are numbers of 64 bits, which come round again"
    for n in (1, 2**23, 2**24 - 1, 2**24, 2**24 + 1):
        counter = TermCounter(token_pattern=r"\b[^\W\d_]{2,}\b", n_jobs=1).fit(["ball aa" + "1"*n + "bb goal aa1 a1 vote"])
        assert counter.way_ == "compiled" and counter.get_feature_names_out().tolist() == ["ball", "goal", "vote"]

@pytest.mark.parametrize("pattern", [r"\w\w+", r"\b[^\W\d_]{2,}\b", r"\w+(?:-\w+)*"])
def test_long_documents_are_cut_where_no_word_is(always, pattern):
    rng = np.random.default_rng(0)
    long = "".join(rng.choice(list("abcdeé1-_ '"), 300_000))
    check([long, "short one", long[::-1], "ab"*40_000 + " ab"], token_pattern=pattern)
    check([long[:70_000], long[::-1][:70_000]], token_pattern=pattern, ngram_range=(1, 2))

def test_many_words(always):
    "The table grows many times"
    rng = np.random.default_rng(0)
    check([" ".join(map(str, rng.integers(0, 40_000, 2000))) for _ in range(60)], token_pattern=r"\d+")

def test_equal_hashes_are_told_apart(monkeypatch):
    "All words in a few slots: a table of words with other keys but the same hash"
    words = scanning.no_words(64)
    tokens, found = np.zeros((40, 5), np.uint64), np.zeros(40, int)
    letters = np.frombuffer("".join(f"{i:04} " for i in range(40)).encode() + bytes(40), np.uint8)[:240].copy()
    tokens[:, 3], tokens[:, 4] = np.arange(40)*5, 4
    scanning.note(tokens, 40, letters.view(np.uint64))
    tokens[:, 2] %= 3
    for _ in range(2):
        words = scanning.find_all(words, tokens, 40, found, letters, True)
        assert found.tolist() == list(range(40))

# ---- threads

@pytest.mark.parametrize("options", [dict(), dict(ngram_range=(1, 2)), dict(vocabulary=["aa", "ab", "ba"]), dict(token_pattern=WORDS, stop_words="english")],
                         ids=lambda options: " ".join(options) or "none")
def test_threads_change_nothing(options):
    texts = random_texts(400)
    known = options.get("vocabulary")
    scan = plan(options.get("token_pattern", r"\w\w+"), True, None, options.get("stop_words") and ["the"], options.get("ngram_range", (1, 1)), known)
    found = [count_shares(scan, cut_evenly(texts, n), np.float32, threads) for n in (1, 7, 40) for threads in (1, 2, 3)]
    for terms, X in found[1:]:
        assert known or list(terms.numbered().items()) == list(found[0][0].numbered().items())
        for part in ("data", "indices", "indptr"): assert_array_equal(getattr(X, part), getattr(found[0][1], part))
        assert X.data.dtype == np.float32 and X.has_canonical_format

def test_how_many_threads(monkeypatch):
    assert n_threads(10**9, 2) == 2 and n_threads(10**9, 1) == n_threads(10**9, None) == n_threads(100, 4) == n_threads(0, -1) == 1
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert n_threads(10**9, -1) == 1

def test_an_error_in_a_thread_comes_back():
    def work(thread, i):
        if i == 5: raise LookupError("share 5")
        return i
    for n in (1, 3):
        seen = []
        with pytest.raises(LookupError, match="share 5"):
            for i in scanning.in_order(work, 1000, n): seen.append(i)
        assert seen == [0, 1, 2, 3, 4]

def test_threads_end_when_nobody_listens():
    done = []
    for i in scanning.in_order(lambda thread, i: done.append(i) or time.sleep(.01), 1000, 2):
        if i is None and len(done) > 4: break
    time.sleep(.1)
    n = len(done)
    time.sleep(.1)
    assert n == len(done) < 100

@pytest.mark.slow
def test_an_interrupt_ends_counting(tmp_path):
    if sys.platform != "linux": pytest.skip("signals to a group of processes")
    (tmp_path/"long.py").write_text("from nmf2.counting import TermCounter\nTermCounter(n_jobs=2).fit(['a goal and a vote '*200]*200)\nprint('begin', flush=True)\n"
                                    "while True: TermCounter(n_jobs=2).fit(['a goal and a vote '*2000]*2000)\n")
    job = subprocess.Popen([sys.executable, tmp_path/"long.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                           env={**os.environ, "PYTHONPATH": str(Path(scanning.__file__).parent.parent)},
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    job.stdout.readline()
    time.sleep(1)
    os.killpg(job.pid, signal.SIGINT)
    _, err = job.communicate(timeout=60)
    assert err.rstrip().endswith("KeyboardInterrupt")

# ---- TermCounter

def test_which_way(monkeypatch):
    texts = ["a goal and a vote"]*9
    assert TermCounter().fit(texts).way_ == "alone"                     # too little
    monkeypatch.setattr(counting, "COMPILED", 0)
    monkeypatch.setattr(scanning, "PRICE", 0)
    assert TermCounter().fit(texts).way_ == TermCounter(strip_accents="ascii").fit(texts).way_ == "compiled"
    for options, why in [(dict(tokenizer=str.split), "tokenizer is a function"), (dict(analyzer="char"), "analyzer='char'"), (dict(analyzer=str.split), "analyzer="),
                         (dict(preprocessor=str.upper), "preprocessor is a function"), (dict(strip_accents=str.upper), "strip_accents is a function"),
                         (dict(token_pattern="a|b"), "doesn't know the pattern 'a|b'")]:
        assert why in not_compiled(TermCounter(**options))
        assert TermCounter(n_jobs=1, **options).fit(["a goal b"]*9).way_ == "alone"

def test_machine_code_is_made_when_it_pays(monkeypatch):
    monkeypatch.setattr(counting, "COMPILED", 0)
    monkeypatch.setattr(scanning, "PRICE", 100)
    monkeypatch.setattr(scanning, "is_made", lambda *args: False)
    told = []
    monkeypatch.setattr(scanning, "owed", lambda function, n: told.append(n) or sum(told))
    texts = ["a goal and a vote"]*2
    ways = [TermCounter().fit(texts).way_ for _ in range(4)]
    assert ways == ["alone", "alone", "compiled", "compiled"] and told == [34]*4
    monkeypatch.setattr(scanning, "is_made", lambda *args: True)
    assert TermCounter().fit(texts).way_ == "compiled" and len(told) == 4

def test_what_a_subclass_overrides_is_respected(always):
    class Upper(TermCounter):
        def build_preprocessor(self): return str.upper
    counter = Upper(n_jobs=1).fit(["a goal"])
    assert counter.way_ == "alone" and list(counter.vocabulary_) == ["GOAL"]

def test_it_says_why(always, capsys):
    TermCounter(verbose=True, n_jobs=1, tokenizer=str.split).fit(["a goal"])
    assert "Counting in Python: tokenizer is a function" in capsys.readouterr().err
    TermCounter(verbose=True).fit(["a goal"]*50)
    err = capsys.readouterr().err
    assert "50/50 texts" in err and "Python" not in err

def test_the_bar_moves_with_each_share(always, monkeypatch):
    seen = []
    texts = random_texts()
    scan = plan(r"\w+", True)
    count_shares(scan, cut_evenly(texts, 9), n_threads=2, watch=seen.append)
    assert sum(seen) == len(texts) and len(seen) == len(cut_evenly(texts, 9)) > 4

def test_warnings_of_scikit_learn(always):
    for options in (dict(stop_words=["can't"]), dict(vocabulary=["Goal"])):
        with warnings.catch_warnings(record=True) as ours:
            warnings.simplefilter("always")
            TermCounter(**options).fit(["a goal"])
        with warnings.catch_warnings(record=True) as theirs:
            warnings.simplefilter("always")
            CountVectorizer(**options).fit(["a goal"])
        assert [str(w.message) for w in ours] == [str(w.message) for w in theirs] != []

def test_copies_and_pickles(always):
    import pickle
    texts = random_texts()
    counter = TermCounter(ngram_range=(1, 2)).fit(texts)
    again = pickle.loads(pickle.dumps(counter))
    assert (again.transform(texts) != counter.transform(texts)).nnz == 0
    assert clone(counter).get_params() == counter.get_params() and not hasattr(clone(counter), "way_")

def test_pipelines(always, monkeypatch):
    from nmf2.weighting import text_pipeline
    texts = random_texts()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = text_pipeline(1, 1.).fit_transform(texts)
        monkeypatch.setattr(counting, "COMPILED", 10**9)
        Y = text_pipeline(1, 1., n_jobs=1).fit_transform(texts)
    for part in ("data", "indices", "indptr"): assert_array_equal(getattr(X, part), getattr(Y, part))

# ---- real texts

def folder_of(package):
    found = find_spec(package)
    if not found: pytest.skip(f"{package} is not installed")
    return Path(found.submodule_search_locations[0])

def test_words_of_many_languages(always):
    "The stop words of fifty languages, as texts"
    lists = [p for p in folder_of("stopwordsiso").rglob("*.json")]
    if not lists: pytest.skip("stopwordsiso keeps no lists as JSON")
    texts = [" ".join(words) + " " + ", ".join(words).upper() for path in lists for words in json.loads(path.read_text(encoding="utf-8")).values()]
    assert len(texts) > 50
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for pattern in (r"(?u)\b\w\w+\b", WORDS, r"\w+(?:['’-]\w+)*"):
            scan = plan(pattern, True)
            terms, X = count_shares(scan, cut_evenly(texts, 5), n_threads=2)
            plain = CountVectorizer(token_pattern=as_regex(pattern))
            Y = plain.fit_transform(texts)
            assert list(terms.numbered().items()) == list(plain.vocabulary_.items()) and (X != Y).nnz == 0

SCRIPTS = "LATIN GREEK CYRILLIC ARMENIAN HEBREW ARABIC DEVANAGARI BENGALI GURMUKHI GUJARATI TAMIL TELUGU KANNADA MALAYALAM SINHALA THAI LAO MYANMAR GEORGIAN " \
          "ETHIOPIC KHMER MONGOLIAN HIRAGANA KATAKANA HANGUL CJK".split()

def translations():
    "Translated messages of packages on this machine, a text for each file"
    places = [Path(p) for p in ("/usr/share/locale", "/usr/share/locale-langpack")] + [Path(p) for p in sys.path if p.endswith("-packages")]
    import gettext
    for place in places:
        for path in sorted(place.rglob("LC_MESSAGES/*.mo"))[:400]:
            try:
                with path.open("rb") as file: messages = gettext.GNUTranslations(file)._catalog.values()
            except Exception: continue                    # of another charset, or cut short
            yield "\n".join(message for message in messages if isinstance(message, str))
        for path in sorted([*place.rglob("locale/*/LC_MESSAGES/*.po"), *place.rglob("_static/translations/*.json"), *place.rglob("*locale*/*.json")])[:400]:
            try: yield path.read_text(encoding="utf-8")
            except (OSError, UnicodeError): continue

@pytest.mark.slow
def test_texts_in_many_scripts():
    texts = list(translations())
    letters = set("".join(texts))
    scripts = {name for name in SCRIPTS if any(unicodedata.name(c, "").startswith(name) for c in letters)}
    if len(scripts) < 5: pytest.skip(f"only {len(scripts)} scripts in the translations on this machine")
    for pattern in (r"(?u)\b\w\w+\b", WORDS):
        terms, X = count_shares(plan(pattern, True), cut_evenly(texts, 9), n_threads=2)
        plain = CountVectorizer(token_pattern=as_regex(pattern))
        Y = plain.fit_transform(texts)
        assert list(terms.numbered().items()) == list(plain.vocabulary_.items()) and (X != Y).nnz == 0

@pytest.mark.slow
@pytest.mark.parametrize("name", ["20newsgroups", "arxiv_2level"])
def test_known_collections(name):
    if not os.environ.get("NMF2_DATA"): pytest.skip("NMF2_DATA names no folder with collections")
    texts = load(name).texts[::9]
    for options in (dict(), dict(token_pattern=WORDS, stop_words="english", ngram_range=(1, 2))):
        counter, plain = TermCounter(n_jobs=2, **options), CountVectorizer(**options)
        plain.set_params(token_pattern=as_regex(plain.token_pattern))
        assert_same(counter, counter.fit_transform(texts), plain, plain.fit_transform(texts))
        assert counter.way_ == "compiled"

@pytest.mark.parametrize("pattern", [*PATTERNS, *NOT])
def test_words_in_their_order(pattern, always):
    texts = random_texts(60, seed=3) + ["new york-times\nnew  york", "new", "x"*20 + "-" + "x"*21, "\ud800-new new"]
    known = sorted({token.group() for text in texts[::3] for token in re.finditer(pattern, text)})
    found, plain = scanning.tokens_of(texts, known, pattern), scanning._plainly(texts, known, pattern)
    for ours, theirs in zip(found, plain): assert_array_equal(ours, theirs, strict=True)
    assert (np.diff(found.docs) >= 0).all() and not found.joined[:1].any()

def test_words_in_their_order_of_all_sizes(always):
    pattern, texts = WORDS, ["", "goal "*40_000, "ab"*600_000 + " goal-goal", " "*70_000 + "goal goal"]
    found = scanning.tokens_of(texts, ["goal", "ab"*600_000], pattern)
    assert_array_equal(np.bincount(found.docs), [0, 40_000, 3, 2])
    assert found.ids[40_000:].tolist() == [1, 0, 0, 0, 0] and found.joined[40_000:].tolist() == [False, True, True, False, True]
    for texts, known in (([], ["goal"]), ([""], ["goal"]), (["a goal"], [])):
        for ours, theirs in zip(scanning.tokens_of(texts, known, pattern), scanning._plainly(texts, known, pattern)): assert_array_equal(ours, theirs, strict=True)
    assert read_pattern(pattern) and scanning.tokens_of(["a goal"], [], pattern).ids.tolist() == [-1]


# ---- terms

WORDS_TOLD = ["zebra", "a", "ß\ud800", "word,", "中文", "longer than sixteen letters"]

def some_terms():
    "Terms, and the same plainly: the words in order, and a dict in the order of `WORDS_TOLD`"
    names = sorted(WORDS_TOLD)
    letters = np.frombuffer("".join(f"{name}\n" for name in names).encode("utf-8", "surrogatepass"), np.uint8)
    places = np.cumsum([0, *(len(name.encode("utf-8", "surrogatepass")) + 1 for name in names)])
    first = np.array([names.index(word) for word in WORDS_TOLD])
    return Terms(letters, places, first, "\n"), names, {word: names.index(word) for word in WORDS_TOLD}

def test_terms_are_an_array_of_strings():
    terms, names, numbers = some_terms()
    plain = np.array(names, object)
    assert len(terms) == 6 and list(terms) == names and terms[2] == names[2] and terms[-1] == names[-1] and terms[np.int32(1)] == names[1]
    for columns in (slice(1, 4), slice(None), slice(0, 0), [3, 0, 3], np.array([-1, 2]), np.arange(6) % 2 == 0, np.zeros(6, bool)):
        assert terms[columns].dtype == object and terms[columns].tolist() == plain[columns].tolist()
    assert np.asarray(terms, dtype=object).tolist() == np.array(terms).tolist() == names
    assert list(terms.numbered().items()) == list(numbers.items()) and {type(j) for j in terms.numbered().values()} == {int}
    with pytest.raises(IndexError): terms[6]
    assert terms.shape == (6,) and terms.tolist() == names and (terms == names[2]).tolist() == [word == names[2] for word in names] and repr(terms) == repr(plain)
    assert terms[np.array([[1, 2], [0, 0]])].tolist() == plain[np.array([[1, 2], [0, 0]])].tolist() and terms[np.array(3)] == names[3]
    again = pickle.loads(pickle.dumps(terms))
    assert list(again) == names and again.numbered() == numbers

def test_terms_have_what_arrays_have():
    terms, names, _ = some_terms()
    plain = np.array(names, object)
    for value in (names[2], plain, terms, list(names[::-1])): assert (terms != value).tolist() == (plain != np.asarray(value)).tolist() and (terms == value).tolist() == (plain == np.asarray(value)).tolist()
    assert (terms.dtype, terms.ndim, terms.size, terms.shape) == (plain.dtype, plain.ndim, plain.size, plain.shape)
    assert terms.astype("U3").tolist() == plain.astype("U3").tolist() and terms.take([3, 0]).tolist() == plain.take([3, 0]).tolist() and terms.copy().flags.writeable
    with pytest.raises(ValueError, match="read-only"): terms.sort()             # what is sorted would be lost
    for name in ("columns", "_private", "to_pylist"): assert not hasattr(terms, name)
    assert copy.deepcopy(terms).tolist() == names

def test_one_term_is_found(always):
    terms, names, numbers = some_terms()
    assert [terms.column(word) for word in WORDS_TOLD] == list(numbers.values())
    assert {terms.column(word) for word in ("", "\0", "zebr", "zebra ", "ß", "\U0010ffff", "word")} == {-1}
    counter = TermCounter(token_pattern=r"\w+", ngram_range=(1, 2)).fit(random_texts())
    terms, again = vars(counter)["vocabulary_"], pickle.loads(pickle.dumps(vars(counter)["vocabulary_"]))
    assert [terms.column(word) for word in terms] == [again.column(word) for word in again] == list(range(len(terms)))
    table, other = terms.table(), scanning.table_of(list(terms))
    for name in ("slots", "records", "n"): assert_array_equal(getattr(table, name), getattr(other, name))

@pytest.mark.parametrize("kept", [[1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1], [1, 0, 1, 0, 0, 1], [0]*6])
def test_some_terms_are_kept(kept):
    terms, names, numbers = some_terms()
    kept = np.array(kept, bool)
    terms.keep(kept)
    left = [name for name, stays in zip(names, kept) if stays]
    assert list(terms) == left and len(terms) == len(left)
    assert list(terms.numbered().items()) == [(word, left.index(word)) for word in numbers if word in left]

@pytest.mark.parametrize("options", [dict(), dict(min_df=2), dict(max_df=.1), dict(max_features=9), dict(max_features=9, min_df=2, ngram_range=(1, 2)), dict(max_features=10**6)])
def test_strings_are_made_when_they_are_asked_for(always, options):
    texts = random_texts()
    counter, plain = TermCounter(token_pattern=r"\w\w+", **options), CountVectorizer(token_pattern=r"\w\w+", **options)
    X, Y = counter.fit_transform(texts), plain.fit_transform(texts)
    names = plain.get_feature_names_out().tolist()
    assert isinstance(vars(counter)["vocabulary_"], Terms) and isinstance(X.feature_names, Terms)
    kept = pickle.loads(pickle.dumps(counter))
    assert counter.get_feature_names_out().tolist() == names and isinstance(vars(counter)["vocabulary_"], Terms)
    assert_same(counter, X, plain, Y)
    assert type(vars(counter)["vocabulary_"]) is dict and counter.vocabulary_ is counter.vocabulary_
    assert counter.get_feature_names_out().tolist() == names_of(X).tolist() == kept.get_feature_names_out().tolist() == names
    assert (kept.transform(texts) != Y).nnz == 0 and list(kept.vocabulary_.items()) == list(plain.vocabulary_.items())
    assert not hasattr(TermCounter(), "vocabulary_")

def test_a_tree_makes_strings_of_its_own_words_alone(always):
    texts = [f"goal match ball referee {name} penalty" for name in "aa ab ac ad ae".split()]*2 + ["vote law court judge election"]*12
    model = TopicTree(2, min_df=3, max_df=.9).fit(texts)
    assert isinstance(vars(model.pipeline_["count"])["vocabulary_"], Terms) and isinstance(model.pipeline_["trim"]._came_with, Terms)
    assert "goal" in model.vocab_ and "ab" not in model.vocab_ and model.pipeline_.get_feature_names_out().tolist() == model.vocab_.tolist()
    assert model.predict(texts).tolist() == model.labels_.tolist()
    assert known_names(model.pipeline_["trim"]).tolist() == sorted({*" ".join(texts).split()}) and known_names(model.pipeline_["trim"]) is known_names(model.pipeline_["trim"])

def test_what_is_known_is_made_once(always, monkeypatch):
    "Names and the table, until the vocabulary is another one"
    made = []
    monkeypatch.setattr(scanning, "table_from", lambda letters, starts, table=scanning.table_from: made.append(len(starts) - 1) or table(letters, starts))
    texts = random_texts()
    counter, plain = TermCounter(token_pattern=r"\w\w+").fit(texts), CountVectorizer(token_pattern=r"\w\w+").fit(texts)
    made.clear()
    for some in (texts, texts[:60], texts):
        X = counter.transform(some)
        assert (X != plain.transform(some)).nnz == 0 and counter.way_ == "compiled" and names_of(X).tolist() == plain.get_feature_names_out().tolist()
    n = len(vars(counter)["vocabulary_"])
    assert [size for size in made if size] == [n] and isinstance(X.feature_names, np.ndarray)         # others are stop words, none
    assert isinstance(vars(counter)["vocabulary_"], Terms) and len(counter.vocabulary_) == n
    for some in (texts, texts[:60]): X = counter.transform(some)
    assert [size for size in made if size] == [n, n] and (X != plain.transform(texts[:60])).nnz == 0
    with pytest.raises(ValueError, match="read-only"): names_of(X)[0] = "other"
    counter.get_feature_names_out()[0] = "other"                # a copy
    assert counter.get_feature_names_out().tolist() == plain.get_feature_names_out().tolist()
    few = list(counter.vocabulary_)[:5]
    counter.vocabulary_ = plain.vocabulary_ = {word: j for j, word in enumerate(few)}
    assert (counter.transform(texts) != plain.transform(texts)).nnz == 0 and counter.get_feature_names_out().tolist() == few
    counter.vocabulary_["wholly new"] = 5
    assert counter.get_feature_names_out().tolist() == [*few, "wholly new"] and counter.transform(texts).shape[1] == 6
    counter.vocabulary_["others"] = counter.vocabulary_.pop("wholly new")         # as many as before
    assert counter.get_feature_names_out().tolist() == [*few, "others"] and counter.transform(["others, wholly new"]*300).sum() == 300
    twin = pickle.loads(pickle.dumps(counter))
    assert (twin.transform(texts) != counter.transform(texts)).nnz == 0

@pytest.mark.parametrize("options", [dict(), dict(min_df=2), dict(ngram_range=(1, 2)), dict(binary=True), dict(strip_accents="unicode")])
def test_a_short_text_makes_no_strings(always, monkeypatch, options):
    texts = random_texts()
    counter, plain = TermCounter(token_pattern=r"\w\w+", **options).fit(texts), CountVectorizer(token_pattern=r"\w\w+", **options).fit(texts)
    monkeypatch.setattr(Terms, "numbered", lambda self: pytest.fail("a dictionary"))
    monkeypatch.setattr(Terms, "of", lambda self, columns: pytest.fail("strings"))
    for name in ("COMPILED", "READY"): monkeypatch.setattr(counting, name, 10**6)
    for counter in (counter, pickle.loads(pickle.dumps(counter))):
        for some in (texts[:3], texts[40:60], [""], texts[:3] + ["wholly new"]):
            X, Y = counter.transform(some), plain.transform(some)
            assert X.shape == Y.shape and (X != Y).nnz == 0 and X.has_sorted_indices and counter.way_ == "alone" and isinstance(X.feature_names, Terms)
    assert all(isinstance(vars(one)["vocabulary_"], Terms) for one in (counter, copy.copy(counter)))

def test_a_tree_answers_without_strings_of_all_words(always, monkeypatch):
    texts = [f"goal match ball referee {name} penalty" for name in "aa ab ac ad ae".split()]*2 + ["vote law court judge election"]*12
    model = TopicTree(2, min_df=3, max_df=.9).fit(texts)
    monkeypatch.setattr(Terms, "of", lambda self, columns: pytest.fail("strings"))
    for ready in (0, 10**6):
        monkeypatch.setattr(counting, "READY", ready)
        assert model.predict(texts).tolist() == model.labels_.tolist() and model.predict(["the goal, the penalty"])[0] == model.labels_[0]
        assert model.pipeline_.transform(texts).feature_names.tolist() == model.vocab_.tolist()
    assert isinstance(vars(model.pipeline_["count"])["vocabulary_"], Terms)

def test_counts_of_the_type_of_scikit_learn(always):
    for dtype in (None, bool, "f4", np.uint8, complex):
        for texts in (["goal goal"], ["ball"]*300): assert TermCounter(dtype=dtype).fit_transform(texts).dtype == CountVectorizer(dtype=dtype).fit_transform(texts).dtype

def test_few_letters_are_not_worth_a_table(monkeypatch):
    monkeypatch.setattr(counting, "COMPILED", 0)
    monkeypatch.setattr(counting, "READY", 200)
    monkeypatch.setattr(scanning, "PRICE", 0)
    texts = random_texts()
    counter = TermCounter(token_pattern=r"\w\w+").fit(texts)
    ways = []
    for some in (texts[:3], texts, texts[:40], texts[:3]):
        counter.transform(some)
        ways.append(counter.way_)
    assert ways == ["alone", "compiled", "compiled", "alone"]            # the table is there by then

@pytest.mark.parametrize("words", [[], ["a"], ["ab", "c"], ["é", "ab", "中文"], ["a\nb", "c"], ["\n"], ["\ud83d", "\ude00"], ["x", "y\n"]])
def test_tables_of_any_words(words):
    table = scanning.table_of(words)
    starts = table.records[:table.n[0] + 1,2].astype(int)
    assert [table.letters[a:b].tobytes().decode("utf-8", "surrogatepass") for a, b in zip(starts, starts[1:])] == words
