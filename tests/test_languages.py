"Words of Chinese, Japanese and Thai, and stems: by name, in counters, trees, files and the command"
import json
import os
import re
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from nmf2 import languages
from nmf2.cli import main
from nmf2.counting import TermCounter, check_spaces
from nmf2.languages import WORDS, as_regex, cut_stop_words, cutter, is_word, marks
from nmf2.topictree import TopicTree
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

pytestmark = pytest.mark.no_estimator
for name in ("jieba", "fugashi", "unidic_lite", "pythainlp", "snowballstemmer"): pytest.importorskip(name)

CHINESE = ["昨天的足球比赛很精彩", "球员在足球比赛中进球", "足球球员参加比赛", "议会投票通过法律", "法律由议会投票决定", "政府向议会提交法律"]*4
JAPANESE = ["サッカーの試合を見た", "選手が試合でゴールした", "サッカーの選手と試合", "国会で法律に投票した", "政府は国会に法律を出した", "国会の投票と法律"]*4
THAI = ["นักฟุตบอลแข่งขันฟุตบอล", "ฟุตบอลและประตู", "การแข่งขันฟุตบอล", "รัฐสภาลงคะแนนกฎหมาย", "กฎหมายของรัฐบาล", "รัฐบาลและรัฐสภาออกกฎหมาย"]*4
TEXTS = dict(chinese=CHINESE, japanese=JAPANESE, thai=THAI)


@pytest.fixture(autouse=True)
def afresh():
    cutter.cache_clear(), languages.stemmer.cache_clear()
    yield
    cutter.cache_clear(), languages.stemmer.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_words_without_spaces(name):
    found = [cutter(name)(text) for text in TEXTS[name]]
    assert all(found) and all(is_word(word, 1) for words in found for word in words)
    if name != "japanese":                                                       # which has words as a dictionary has them
        for text, words in zip(TEXTS[name], found): assert all(word in text for word in words)
    for text in ("", " \n", "。!?", "123", "\0", "x\ud800y", "plain English words"): assert isinstance(cutter(name)(text), list)
    assert "plain" in cutter(name)("plain English words")


def test_words_of_other_scripts_are_whole():
    assert cutter("zh")("我喜欢café和naïve的人, Пётр去北京 3д") == ["喜欢", "café", "naïve", "Пётр", "北京"]
    assert cutter("zh")("他穿T恤,用iPhone15和C++, don't") == ["T恤", "iPhone15", "C++", "don"]             # as jieba has them
    assert cutter("zh")("cafe\u0301咖啡 हिन्दी में") == ["cafe\u0301", "咖啡", "हिन्दी", "में"]
    assert cutter("th")("ผมใช้iPhone15ที่naïve, it's a@b.c Größe 1st ก.ค. 15บาท") == ["ผม", "ใช้", "iPhone15", "ที่", "naïve", "it", "Größe", "ก.ค.", "บาท"]


@pytest.mark.parametrize("name, package", [("chinese", "jieba"), ("thai", "pythainlp")])
def test_the_package_cuts_its_own_script(name, package):
    import jieba
    from pythainlp.tokenize import word_tokenize
    cut = jieba.cut if name == "chinese" else lambda text: word_tokenize(text, keep_whitespace=False)
    rng, between = np.random.default_rng(0), [" ", "", "。", ", ", "15", " - "] + ["iPhone15", "C++ ", "T"]*(name == "chinese")
    for _ in range(50):
        text = "".join(part for word in rng.choice(TEXTS[name], 8) for part in (word[:rng.integers(1, 9)], rng.choice(between)))
        assert cutter(name)(text) == [word for word in cut(text) if is_word(word)]


@pytest.mark.parametrize("name", ["stem:english", *TEXTS])
def test_threads_change_no_word(name):
    "Snowball and MeCab have one memory for what they are at"
    rng = np.random.default_rng(0)
    texts = ["running cats are happily generalizing " + " ".join("".join(rng.choice(list("aeilnrst"), 7)) + "ations" for _ in range(40)) for _ in range(120)]
    if name in TEXTS: texts = ["。".join(rng.choice(TEXTS[name], 12)) for _ in range(120)]
    expected = list(map(cutter(name), texts))
    cutter.cache_clear(), languages.stemmer.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: cutter(name)(text), texts)) == expected
    assert list(map(cutter(name), texts)) == expected                # nothing wrong is remembered


def test_stems_over_partitions(tmp_path):
    words = ["goals matches referees balls players", "voting laws courts judges elections"]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words[i % 2].split(), 12)) for i in range(120)]
    for k in range(4): (tmp_path/f"{k}.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts[k::4]), encoding="utf-8")
    model = TopicTree(2, tokenizer="stem:english", min_df=2).fit(tmp_path)
    assert set(model.vocab_) == {"goal", "match", "refere", "ball", "player", "vote", "law", "court", "judg", "elect"}


def test_japanese_behind_what_mecab_cannot_read():
    whole = cutter("ja")("海がきれいだった。 東京の天気は晴れです。")
    assert "東京" in whole
    for bad in "\0", "\ud800", "\udfff": assert cutter("ja")(f"海がきれいだった。{bad}東京の天気は晴れです。") == whole


def test_japanese_verbs_come_as_in_a_dictionary():
    assert cutter("ja")("試合を見に行きました") == ["試合", "見る", "行く"]


def test_stems():
    assert cutter("stem:german")("spiele und spielen") == ["spiel", "und", "spiel"]
    counter = TermCounter(tokenizer="stem:english", stop_words=["because", "very"], token_pattern=r"[a-z]{3,}").fit(["Because GAMES are very long x1 games"])
    assert counter.get_feature_names_out().tolist() == ["are", "game", "long"]
    assert cut_stop_words("stem:english", None) is None and cut_stop_words(str.split, ["because"]) == ["because"]


def test_stems_by_code():
    assert cutter("stem:de")("spiele") == cutter(" STEM:de ")("spiele") == ["spiel"] and languages.stemmed_language("stem:de") == "german"
    counter = TermCounter(tokenizer="stem:de", stop_words="auto").fit(["Die Spiele und das Spiel", "Das Tor ist nicht da"])
    assert set(counter.vocabulary_) == {"spiel", "tor"} and TopicTree(2, tokenizer="stem:de", min_df=1, max_df=1.).fit(["ball tor", "wahl gesetz"]*3).vocab_.tolist()
    with pytest.raises(ValueError, match="stem:zh': there are stems for"): cutter("stem:zh")


@pytest.mark.parametrize("bad, words", [("german", "'stem:german'"), ("stem:klingon", "there are stems for arabic"), ("", "tokenizer must be"), (5, "tokenizer must be a function of a text, a name"),
                                        (["a"], "tokenizer must be")])
def test_what_is_no_tokenizer(bad, words):
    for fit in (TermCounter(tokenizer=bad).fit, TopicTree(2, tokenizer=bad).fit):
        with pytest.raises(ValueError, match=words): fit(["a goal", "a vote"])


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_counted_the_same_in_any_way(name, monkeypatch):
    from nmf2 import counting
    plain = CountVectorizer(tokenizer=cutter(name), token_pattern=None).fit(TEXTS[name])
    counter = TermCounter(tokenizer=name, n_jobs=2)
    monkeypatch.setattr(counting, "SHARE", dict(fork=10, loky=10))
    if name == "thai": monkeypatch.setattr(counting, "SHARE", dict(fork=10**9, loky=10**9))
    assert (counter.fit_transform(TEXTS[name]) != plain.transform(TEXTS[name])).nnz == 0
    assert counter.vocabulary_ == plain.vocabulary_ and counter.way_ == ("alone" if name == "thai" else "processes")
    assert clone(counter).tokenizer == name


@pytest.mark.parametrize("name", TEXTS)
def test_a_tree_is_saved_and_loaded(name, tmp_path):
    texts = TEXTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = TopicTree(2, tokenizer=name, stop_words=name, min_df=2).fit(texts)
        model.save(tmp_path/"tree.nmf2", keep_texts=True)
        loaded = TopicTree.load(tmp_path/"tree.nmf2")
    assert loaded.tokenizer == name and loaded.predict(texts).tolist() == model.predict(texts).tolist() == model.labels_.tolist()
    assert len(set(model.labels_)) == 2 and len({model.labels_[i] for i in (0, 1, 2)}) == 1
    with pytest.raises(ValueError, match="tokenizer is not needed"): TopicTree.load(tmp_path/"tree.nmf2", tokenizer=str.split)


def test_without_the_packages(tmp_path, monkeypatch):
    TopicTree(2, tokenizer="chinese", min_df=2).fit(CHINESE).save(tmp_path/"tree.nmf2")
    cutter.cache_clear(), languages.stemmer.cache_clear()
    def missing(name): raise ImportError(name)
    monkeypatch.setattr(languages.importlib, "import_module", missing)
    needs = r"tokenizer='chinese' needs the package jieba: pip install 'nmf2\[languages\]'"
    with pytest.raises(ValueError, match=needs): TopicTree.load(tmp_path/"tree.nmf2")
    with pytest.raises(ValueError, match=needs): TermCounter(tokenizer="zh").fit(CHINESE)
    for name in ("japanese", "thai", "stem:german"):
        with pytest.raises(ValueError, match=f"tokenizer='{name}' needs the package"): TermCounter(tokenizer=name).fit(CHINESE)


@pytest.mark.parametrize("name", TEXTS)
def test_who_chooses_none_is_told(name):
    remedy = dict(chinese="tokenizer='chinese' or tokenizer='japanese'", japanese="tokenizer='chinese' or tokenizer='japanese'", thai="tokenizer='thai'")[name]
    texts = ["".join(TEXTS[name])]
    with pytest.raises(ValueError, match=remedy): check_spaces(TermCounter(), texts)
    check_spaces(TermCounter(tokenizer=name), texts)


@pytest.mark.slow
def test_no_folder_in_the_home_of_the_user(tmp_path):
    code = "import os; from nmf2.languages import cutter; print(cutter('thai')('ฟุตบอล'), 'PYTHAINLP_READ_ONLY' in os.environ)"
    env = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(Path(languages.__file__).parents[1]), "PYTHONUTF8": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, encoding="utf-8")
    assert done.stdout == "['ฟุตบอล'] False\n" and not list(tmp_path.iterdir()), done.stderr


def test_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("\n".join(CHINESE), encoding="utf-8")
    assert main(["cluster", "a.txt", "--leaves", "2", "--out", "found"]) == 2
    assert "--tokenizer chinese" in capsys.readouterr().err
    assert main(["cluster", "a.txt", "--leaves", "2", "--out", "found", "--tokenizer", "chinese", "--stop-words", "chinese"]) == 0
    shown = capsys.readouterr().out
    assert "足球" in shown + Path("found/topics.csv").read_text(encoding="utf-8") if Path("found/topics.csv").exists() else shown
    assert main(["cluster", "a.txt", "--leaves", "2", "--out", "found2", "--tokenizer", "klingon"]) == 2
    assert "--tokenizer must be" in capsys.readouterr().err


def test_marks_are_letters_of_words():
    hindi = ["हिन्दी में फ़ाइल खोलने में त्रुटि", "फ़ाइल खोलने में त्रुटि नहीं", "शब्द के अन्त में चिह्न"]*4
    counter = TermCounter(token_pattern=WORDS).fit(hindi)
    assert {"हिन्दी", "फ़ाइल", "त्रुटि", "चिह्न"} <= set(counter.vocabulary_)
    assert counter.build_analyzer()("Größe na\u0131\u0308ve co\u00adope") == ["größe", "na\u0131\u0308ve", "co\u00adope"]
    stems = TermCounter(token_pattern=WORDS, tokenizer="stem:hindi").fit(hindi)
    assert len(stems.vocabulary_) <= len(counter.vocabulary_) and all(any(word.startswith(stem) for word in counter.vocabulary_) for stem in stems.vocabulary_)
    assert as_regex(r"\w+") == r"\w+" and not re.search(f"[{marks()}]", "".join(map(chr, range(0xa0))))
    assert all(not c.isalnum() for c in marks())
