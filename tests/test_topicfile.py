"""A fitted TopicTree in one file: what is sound comes back to the last bit, what is not is refused with the file's name"""
import io
import json
import os
import re
import time
import warnings
import zipfile
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from make_saved import SUBJECTS, some_texts
from nmf2 import Corpus, TopicTree, Tree
from nmf2.data import planted_tree

DATA = Path(__file__).parent/"data"


def tokens(text): return text.upper().split()

@pytest.fixture(scope="module")
def texts(): return some_texts(80)

@pytest.fixture(scope="module")
def new(): return some_texts(30, 5) + ["an oven for the umpire", "nothing known", ""]

@pytest.fixture(scope="module")
def corpus(): return planted_tree((3, 2), n_docs=200, overlap=.3, noise=.2, random_state=1)


def fitted(*given, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TopicTree(**dict(n_topics=4) | options).fit(*given)

def saved(model, path, **options):
    "The model that comes out of a file that it was written to"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.save(path, **options)
    return TopicTree.load(path, tokenizer=model.tokenizer)

def bits(matrix): return matrix.toarray().tobytes() if sp.issparse(matrix) else np.ascontiguousarray(matrix).tobytes()

def assert_same(model, again, new):
    "All that a model has and says, to the last bit"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weights = [m.pipeline_.transform(new) for m in (model, again)]
        assert weights[0].dtype == weights[1].dtype and bits(weights[0]) == bits(weights[1])
        for n in (None, 2):
            assert bits(model.predict(new, n)) == bits(again.predict(new, n))
            assert bits(model.transform(new, n)) == bits(again.transform(new, n))
    for name in ("labels_", "components_", "vocab_"): assert_array_equal(getattr(model, name), getattr(again, name))
    for a, b in zip(model.documents_, again.documents_): assert_array_equal(a, b)
    for a, b in zip([*model.expected_.signs, *model.expected_[1:]], [*again.expected_.signs, *again.expected_[1:]]): assert_array_equal(a, b)
    assert (model.n_topics_, model.criteria_) == (again.n_topics_, again.criteria_)
    assert str(model) == str(again) and model.pipeline_["trim"].report() == again.pipeline_["trim"].report()
    assert model.tree_.to_json() == again.tree_.to_json() and bits(model.tree_.leaf_topics) == bits(again.tree_.leaf_topics)


# ---- there and back

WAYS = [dict(), dict(min_df=1, max_df=1.), dict(min_df=.05, max_df=60), dict(stop_words=["the", "said"], ngram_range=(1, 2)),
        dict(stop_words=None, lowercase=False), dict(stop_words={"said"}, token_pattern=r"\w\w\w+"), dict(tokenizer=tokens), dict(tau=0),
        dict(n_init=np.int64(2), moves_max_iter=np.int64(2), n_topics=np.int64(3)),
        dict(stop_words=np.array(["said"])), dict(tokenizer=lambda text: list(text))]

@pytest.mark.parametrize("options", WAYS, ids=lambda options: "-".join(options) or "none")
def test_models_of_texts_come_back(texts, new, tmp_path, options):
    model = fitted(texts, **options)
    again = saved(model, tmp_path/"m")
    assert_same(model, again, new)
    assert again.given_ is None and again.history == []
    given, kept = model.get_params(), again.get_params()
    assert {name for name in given if not np.array_equal(given[name], kept[name])} <= {"stop_words", "ngram_range"}
    assert tuple(kept["ngram_range"]) == tuple(given["ngram_range"])
    if not isinstance(model.stop_words, (str, type(None))): assert set(again.stop_words) == set(model.stop_words)
    assert_same(model, saved(again, tmp_path/"m2"), new)                             # and once more
    assert (tmp_path/"m").read_bytes() == (tmp_path/"m2").read_bytes()


def save_by_turns(models, path):
    "Overwrite a file with one model and the other, for ever"
    while True:
        for model in models: model.save(path)

@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="processes are forked")
def test_a_save_that_is_killed(texts, new, tmp_path):
    """Whenever the process dies, the file is one of the two models, whole."""
    models, path, rng = [fitted(texts, n_topics=n) for n in (3, 4)], tmp_path/"m", np.random.default_rng(0)
    models[0].save(path)
    expected, seen = {m.n_topics_: bits(m.transform(new)) for m in models}, set()
    for n in range(500):
        if n >= 25 and seen == {3, 4}: break             # on a busy machine it takes longer until the other one is saved
        process = get_context("fork").Process(target=save_by_turns, args=(models, path))
        process.start()
        time.sleep(.005 + (.03 + .002*n)*rng.random())
        process.kill()
        process.join()
        again = TopicTree.load(path)
        assert bits(again.transform(new)) == expected[again.n_topics_]
        seen.add(again.n_topics_)
    assert seen == {3, 4}
    models[1].save(path)
    assert TopicTree.load(path).n_topics_ == 4


def test_a_loaded_model_can_be_fitted_again(texts, new, tmp_path):
    model = fitted(texts, stop_words=["said"])
    assert_same(model, saved(model, tmp_path/"m").fit(texts), new)


@pytest.mark.parametrize("form", ["csr", "dense", "corpus", "frame", "named", "bare", "float64"])
def test_models_of_counts_come_back(corpus, tmp_path, form):
    pandas = pytest.importorskip("pandas")
    X, words = corpus.X.tocsr(), list(corpus.vocab)
    given = dict(csr=(X, None, words), dense=(X.toarray(), None, words), corpus=(Corpus(X=X, vocab=words),), bare=(X,), float64=(X.astype(float), None, words),
                 frame=(pandas.DataFrame(X.toarray(), columns=words),))
    if form == "named":
        X.feature_names = np.array(words, object)
        given["named"] = X,
    model = fitted(*given[form])
    again = saved(model, tmp_path/"m")
    new = given[form][0].X if form == "corpus" else given[form][0]
    assert_same(model, again, new)
    assert_array_equal(model.predict(given[form][0]), again.predict(given[form][0]))
    if form != "bare": assert_array_equal(again.predict(Corpus(X=X[:,::-1], vocab=words[::-1])), model.labels_)
    if form == "frame":
        with pytest.raises(ValueError, match="feature names"): again.predict(given[form][0].iloc[:,::-1])
    with pytest.raises(ValueError, match="documents must be counts"): again.predict(["a text"])


def test_names_levels_and_headings(texts, new, tmp_path):
    model = fitted(texts)
    model.tree_.rename("0", "größer")
    model.tree_.levels = (2, 4)
    again = saved(model, tmp_path/"m")
    assert again.tree_.names == {"0": "größer"} and again.tree_.levels == (2, 4) and again.tree_.headings == model.tree_.headings
    model.history = [dict(step="rename", node="0", name="größer")]
    assert saved(model, tmp_path/"m").history == model.history


def test_empty_documents_and_words_of_no_text(new, tmp_path):
    lines = ["ball goal", "goal umpire ball", "ball umpire"]*20 + ["vote law", "law vote budget", "budget vote"]*20 + ["odd pair"]*3 + ["", "unique"]
    model = fitted(lines, n_topics=2)
    assert len(model.documents_.wordless) == 2
    assert_same(model, saved(model, tmp_path/"m"), lines)
    halves = [f"{one} x\ud800 y" for one in ("ball", "goal", "vote")]*10
    cut = fitted(halves, n_topics=2, tokenizer=str.split, min_df=1, max_df=1., stop_words=None)
    assert_same(cut, saved(cut, tmp_path/"m"), halves)


def test_choice_and_support_come_back(corpus, tmp_path):
    model = fitted(corpus, n_topics="auto")
    model.support(n_fits=3)
    again = saved(model, tmp_path/"m")
    assert str(again.choice_) == str(model.choice_) and bits(again.choice_.times) == bits(model.choice_.times)
    assert again.n_topics == "auto" and again.support_.ids == model.support_.ids
    for name in ("nodes", "docs", "runs"): assert bits(getattr(again.support_, name)) == bits(getattr(model.support_, name))
    assert_same(model, again, corpus.X)
    tree = Tree.load(tmp_path/"m")
    assert [node.support for node in tree] == [node.support for node in model.tree_]
    again.split(again.tree_.leaves()[0].id, corpus)
    assert bits(saved(again, tmp_path/"m").support_.docs) == bits(again.support_.docs)


# ---- what is kept of documents

def test_rare_words_are_not_in_the_file(texts, tmp_path):
    model = fitted([text + f" secret{'x'*i}" for i, text in enumerate(texts)])
    model.save(tmp_path/"m")
    with zipfile.ZipFile(tmp_path/"m") as archive: assert not any(b"secret" in archive.read(name) for name in archive.namelist())


def test_letters_of_two_signs_of_an_earlier_version(texts, tmp_path):
    """A file says whether texts were composed. One of an earlier version doesn't, and its words are counted as they were."""
    import unicodedata
    apart = [unicodedata.normalize("NFD", f"é{text}".replace(" ", " é")) for text in texts]
    model = fitted(apart)
    assert_array_equal(saved(model, tmp_path/"m").predict(apart), model.labels_)
    model.pipeline_["count"].composed_ = False
    assert not saved(model, tmp_path/"m").pipeline_["count"].composed_


def test_texts_are_kept_when_asked_for(texts, new, tmp_path):
    model = fitted(texts)
    again = saved(model, tmp_path/"m", keep_texts=True)
    assert again.given_ == texts
    assert again.to_html() == model.to_html()
    assert_same(model, again, new)
    whole = Corpus(texts, ids=[f"text {i}" for i in range(80)], labels=[["a", str(i % 4)] for i in range(80)], name="four subjects")
    model = fitted(whole)
    again = saved(model, tmp_path/"m", keep_texts=True).given_
    assert again.texts == texts and again.name == "four subjects"
    for name in ("ids", "labels"): assert_array_equal(getattr(again, name), getattr(whole, name))
    assert saved(model, tmp_path/"m", keep_texts=True).to_html() == model.to_html()
    assert saved(model, tmp_path/"m").given_.texts == texts                  # its own file has them
    assert saved(model, tmp_path/"other").given_.texts is None
    less = saved(model, tmp_path/"m", keep_texts=False)
    assert less.given_.texts is None and less.given_.ids == list(whole.ids)
    page = less.to_html()
    assert "text 7" in page and texts[7] not in page
    less.name(lambda words, texts: words[0])
    with pytest.raises(ValueError, match="keep_texts=True needs the texts"): less.save(tmp_path/"m", keep_texts=True)


def test_a_tokenizer(texts, tmp_path):
    model = fitted(texts, tokenizer=tokens, random_state=np.random.RandomState(0))
    with pytest.warns(UserWarning) as said: model.save(tmp_path/"m")
    assert "test_topicfile.tokens" in str(said[0].message) and "RandomState" in str(said[1].message)
    without = TopicTree.load(tmp_path/"m")
    for ask in (without.predict, without.transform):
        with pytest.raises(ValueError, match=r"test_topicfile\.tokens was not kept"): ask(texts)
    with pytest.raises(ValueError, match="was not kept"): TopicTree.load(tmp_path/"m").fit(texts)
    with pytest.warns(UserWarning, match="test_topicfile.tokens"): without.save(tmp_path/"again")
    assert_array_equal(TopicTree.load(tmp_path/"again", tokenizer=tokens).labels_, model.labels_)
    with pytest.raises(ValueError, match="tokenizer must be a function"): TopicTree.load(tmp_path/"m", tokenizer="tokens")
    fitted(texts).save(tmp_path/"m")
    with pytest.raises(ValueError, match="tokenizer is not needed"): TopicTree.load(tmp_path/"m", tokenizer=tokens)


# ---- files

def test_files_of_trees_and_of_models(texts, tmp_path):
    model = fitted(texts)
    model.save(tmp_path/"model")
    assert Tree.load(tmp_path/"model").to_json() == model.tree_.to_json()
    model.tree_.save(tmp_path/"tree")
    with pytest.raises(ValueError, match=r"tree is not a TopicTree .*holds a tree alone.*Tree\.load"): TopicTree.load(tmp_path/"tree")
    for content in (b"", b"not a file", (tmp_path/"model").read_bytes()[:-50]):
        (tmp_path/"other").write_bytes(content)
        with pytest.raises(ValueError, match="other is not a TopicTree saved by nmf2, or is damaged"): TopicTree.load(tmp_path/"other")
    with pytest.raises(FileNotFoundError): TopicTree.load(tmp_path/"none")
    from sklearn.exceptions import NotFittedError
    with pytest.raises(NotFittedError): TopicTree().save(tmp_path/"none")
    assert not (tmp_path/"none").exists()


def test_a_folder_stands_for_the_file_in_it(texts, tmp_path):
    from nmf2.cli import MODEL
    from nmf2.topicfile import IN_FOLDER
    assert IN_FOLDER == MODEL
    with pytest.raises(FileNotFoundError, match=MODEL): TopicTree.load(tmp_path)
    model = fitted(texts)
    model.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [MODEL]
    for path in (tmp_path, str(tmp_path), f"{tmp_path}/", tmp_path/MODEL):
        again = TopicTree.load(path)
        assert_array_equal(again.labels_, model.labels_)
    again = TopicTree.load(tmp_path)
    again.rename(again.tree_.leaves()[0], "a name")
    again.save(again.saved_.path)                                   # as the explorer does
    assert TopicTree.load(tmp_path/MODEL).history == again.history and len(list(tmp_path.iterdir())) == 1


def test_what_could_not_be_read_is_not_written(texts, tmp_path):
    model = fitted(texts)
    model.save(tmp_path/"m")
    before = (tmp_path/"m").read_bytes()
    model.expected_ = model.expected_._replace(unknown=float("nan"))
    with pytest.raises(ValueError): model.save(tmp_path/"m")
    assert (tmp_path/"m").read_bytes() == before


@pytest.mark.parametrize("version", [1, 2])
def test_files_of_all_versions(new, tmp_path, version):
    said = json.loads((DATA/f"topictree-{version}.json").read_text(encoding="utf-8"))
    model = TopicTree.load(DATA/f"topictree-{version}.nmf2")
    assert (len(model.expected_.ranks) > 0) == (len(model.expected_.signs.near) > 0) == (version > 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.predict(said["texts"]).tolist() == said["labels"]
        assert_allclose(model.transform(said["texts"]), said["shares"], atol=1e-5)
        if version > 1: assert (model.predict(said["texts"], reject=.05) < 0).tolist() == said["rejected"]
        table = model.answers(said["texts"], plain=True)
        model.save(tmp_path/"again")                                            # in the version that it was read in
        assert table == TopicTree.load(tmp_path/"again").answers(said["texts"], plain=True)
        assert all(0 <= row["typical"] <= 1 for row in table) and table[-1]["rejected"]
    assert [model.tree_.title(leaf) for leaf in model.tree_.leaves()] == said["titles"]
    assert model.given_.ids[7] == "text 7" and model.ngram_range == (1, 2) and model.max_df == .6
    for leaf in model.tree_.leaves():                       # each subject has a leaf of its own
        assert max(len(set(model.tree_.top_terms(leaf, n=5)) & set(subject)) for subject in SUBJECTS) >= 3


# ---- files made by hand

@pytest.fixture(scope="module")
def parts(texts, tmp_path_factory):
    "The arrays of a sound file, and what its JSON says"
    path = tmp_path_factory.mktemp("sound")/"m"
    fitted(Corpus(texts, ids=[f"t{i}" for i in range(80)], labels=["a"]*80)).save(path, keep_texts=True)
    with np.load(path) as f: arrays = dict(f)
    return arrays, json.loads(arrays["model"].tobytes())


def write(path, arrays, about):
    np.savez(path.open("wb"), **arrays | dict(model=np.frombuffer(json.dumps(about).encode(), np.uint8)))

def changed(array, value, k=0):
    array = array.copy()
    array[k] = value
    return array

ARRAYS = "support", "df", "idf", "sum", "focus", "near", "ranks", "sizes", "wordless", "topicless"
ASCENDING = "focus", "near", "ranks"       # any number of them
NUMBERS = {"idf": [np.nan, np.inf, -1, 1e36], "sum": [np.nan, -np.inf, -.5], "focus": [np.nan, 5, -1], "near": [np.nan, 2, -1], "ranks": [np.nan, 2, -1], "df": [-1, 81], "sizes": [-1, 81],
           "support": [2, 0]}

@pytest.mark.parametrize("name", ARRAYS)
def test_wrong_arrays_are_refused(parts, tmp_path, name):
    arrays, about = parts
    array, path = arrays[name], tmp_path/"m"
    wrong = [changed(array, value) for value in NUMBERS.get(name, [])] + [np.append(array, array[-1:] if len(array) else [3]), array.astype(complex)]
    wrong += [array[:,None], array.astype("U3"), array.astype(np.float16), array.astype("i8" if array.dtype.kind in "fu" else "f8")]
    if len(array): wrong += [array[:-1], array[::-1].copy()] if name in (*ASCENDING, "support") else [array[:-1]]
    for k, one in enumerate(wrong):
        if name in ASCENDING and k == 3 or name == "sizes" and one.dtype.kind == "i" and len(one) == 4 and k > 1: continue
        if name in ASCENDING and len(one) == len(array) - 1: continue
        write(path, arrays | {name: one}, about)
        with pytest.raises(ValueError, match=re.escape(str(path))): TopicTree.load(path)
    write(path, {key: value for key, value in arrays.items() if key != name}, about)
    with pytest.raises(ValueError, match=f"{name} is missing"): TopicTree.load(path)


@pytest.mark.parametrize("name", ["words", "ids", "texts", "labels"])
def test_wrong_words_are_refused(parts, tmp_path, name):
    arrays, about = parts
    ends, letters, path = arrays[name + "_ends"], arrays[name], tmp_path/"m"
    wrong = [{name: changed(letters, 0xff)}, {name: letters[:-1]}, {name: letters.astype("i8")}, {name + "_ends": ends[:-1]}, {name + "_ends": ends[::-1].copy()},
             {name + "_ends": ends.astype(float)}, {name + "_ends": changed(ends, -1)}, {name + "_ends": np.append(ends, ends[-1])}]
    if name == "words": wrong.append({name: np.full_like(letters, ord("a")), name + "_ends": changed(ends, 1)*0 + np.arange(1, len(ends) + 1)})
    for change in wrong:
        write(path, arrays | change, about)
        with pytest.raises(ValueError, match=re.escape(str(path))): TopicTree.load(path)


def ways(about, above=()):
    "Ways to the values in JSON"
    for key, value in about.items():
        yield (*above, key)
        if isinstance(value, dict): yield from ways(value, (*above, key))

def with_value(about, way, value):
    about = json.loads(json.dumps(about))
    inside = about
    for key in way[:-1]: inside = inside[key]
    inside[way[-1]] = value
    return about

def test_wrong_json_is_refused(parts, tmp_path):
    "What no setting can be, and what is no number, in every place"
    arrays, about = parts
    for way in ways(about):
        write(tmp_path/"m", arrays, with_value(about, way, {"a": [None]}))
        with pytest.raises(ValueError, match=re.escape(str(tmp_path/"m"))):
            TopicTree.load(tmp_path/"m")
            print(way)
        text = json.dumps(with_value(about, way, "NAN")).replace('"NAN"', "NaN")
        np.savez((tmp_path/"m").open("wb"), **arrays | dict(model=np.frombuffer(text.encode(), np.uint8)))
        with pytest.raises(ValueError, match=re.escape(str(tmp_path/"m"))): TopicTree.load(tmp_path/"m")


@pytest.mark.parametrize("way, values", [
    (("format",), ["nmf2 tree", None]), (("version",), [0, "1", 1.5]), (("counts",), [True, 0]), (("names",), [None, "elsewhere"]),
    (("stop_words",), [[1], "english"]), (("settings", "token_pattern"), ["(", "(a)(b)"]), (("settings", "ngram_range"), [[2, 1], [1], []]),
    (("weights", "limits"), [[3], [0, 0], [3, "a"]]), (("weights", "dtype"), ["float16", "object"]), (("weights", "tau"), [-1, "a"]),
    (("weights", "mean_degree"), [0, -1]), (("weights", "tfidf"), [{}, {"norm": "l3"}, {"what": 1}]), (("weights", "gone"), [[1], [1, 1, 1, -1]]),
    (("unknown",), [-1., 2.]), (("criteria",), [["other"], []]), (("kept", "texts"), ["pages"]), (("kept", "levels"), [-1, 2, 10**9]), (("kept", "titles"), [1])])
def test_wrong_values_are_refused(parts, tmp_path, way, values):
    arrays, about = parts
    for value in values:
        write(tmp_path/"m", arrays, with_value(about, way, value))
        with pytest.raises(ValueError, match=re.escape(str(tmp_path/"m"))) as error: TopicTree.load(tmp_path/"m")
        assert len(str(error.value)) < 600


def test_a_word_that_stays_was_not_dropped(parts, tmp_path):
    arrays, about = parts
    write(tmp_path/"m", arrays, about)
    words = TopicTree.load(tmp_path/"m").vocab_
    write(tmp_path/"m", arrays, with_value(about, ("edits", "dropped"), [str(words[0])]))
    with pytest.raises(ValueError, match="other words stay"): TopicTree.load(tmp_path/"m")


def test_a_column_without_a_name_is_dropped(corpus, tmp_path):
    model = fitted(corpus.X)
    model.drop_words(str(model.vocab_[3]))
    again = saved(model, tmp_path/"m")
    assert again.edits_.dropped == model.edits_.dropped
    assert_array_equal(again.labels_, model.labels_)


def test_later_versions(parts, tmp_path):
    arrays, about = parts
    write(tmp_path/"m", arrays, about | dict(version=3))
    with pytest.raises(ValueError, match="m was saved by a later version"): TopicTree.load(tmp_path/"m")
    write(tmp_path/"m", arrays, about | dict(remark="a key more", settings=about["settings"] | dict(another=3)))
    assert_array_equal(TopicTree.load(tmp_path/"m").labels_, TopicTree.load(tmp_path/"m").tree_.labels())


def test_a_tree_of_other_documents(parts, tmp_path, corpus):
    other = fitted(corpus)
    other.save(tmp_path/"other")
    with np.load(tmp_path/"other") as f: tree = {name: array for name, array in f.items() if name not in parts[0] or name in ("about", "docs")}
    write(tmp_path/"m", parts[0] | {name: array for name, array in dict(np.load(tmp_path/"other")).items() if name not in (*ARRAYS, "model", "words", "words_ends")}, parts[1])
    assert tree
    with pytest.raises(ValueError, match="other words stay"): TopicTree.load(tmp_path/"m")


def test_bombs_are_not_unpacked(parts, tmp_path):
    arrays, about = parts
    for name in ("texts", "idf", "model"):
        big = np.zeros(3*10**7, arrays[name].dtype)
        np.savez_compressed((tmp_path/"m").open("wb"), **arrays | {name: big})
        with pytest.raises(ValueError, match="max_ratio"): TopicTree.load(tmp_path/"m", max_ratio=2)
    with pytest.raises(ValueError, match="max_ratio must"): TopicTree.load(tmp_path/"m", max_ratio=0)


def test_how_documents_were_read_comes_back(tmp_path, texts):
    from nmf2.data import read
    from nmf2.topicfile import packed_model, unpacked_model
    from nmf2.treefile import from_json
    Path(tmp_path/"a.jsonl").write_text("\n".join(json.dumps(dict(subject=text, text="")) for text in texts))
    corpus = read(tmp_path/"a.jsonl", text_field="subject")
    model = fitted(corpus, max_df=.6)
    assert model.reading_ == dict(format="jsonl", seen="jsonl", text_field="subject") and fitted(texts).reading_ is None
    for keep in (False, True):
        again = saved(model, tmp_path/"m", keep_texts=keep)
        assert again.reading_ == model.reading_ and read(tmp_path/"a.jsonl", like=again.reading_).texts == texts
    arrays = packed_model(model)
    about = from_json(arrays["model"].tobytes(), "nmf2 TopicTree", (1, 2))
    for wrong in ([], dict(text_field=[1]), dict(text_field=dict()), dict(text_field=1.5)):
        with pytest.raises(ValueError, match="reading|read"): unpacked_model(about | dict(reading=wrong), arrays, model.tree_)
    assert unpacked_model(about | dict(reading=dict(paths=[2, 1])), arrays, model.tree_).reading_ == dict(paths=[2, 1])
    del about["reading"]
    assert unpacked_model(about, arrays, model.tree_).reading_ is None


def test_columns_are_kept_with_texts(tmp_path, texts):
    from nmf2.topicfile import packed_model, unpacked_model
    from nmf2.treefile import from_json
    n = len(texts)
    days = np.datetime64("2024-05-01") + np.arange(n)
    model = fitted(Corpus(texts, columns=dict(day=days, shop=["web", None]*(n//2) + ["é"]*(n % 2), price=range(n))), max_df=.6)
    again = saved(model, tmp_path/"m", keep_texts=True)
    assert again.given_.columns == dict(day=[*map(str, days)], shop=["web", ""]*(n//2) + ["é"]*(n % 2), price=[*map(str, range(n))])
    assert again.to_html() == model.to_html()
    assert saved(again, tmp_path/"n", keep_texts=True).given_.columns == again.given_.columns
    arrays = packed_model(model, True)
    about = from_json(arrays["model"].tobytes(), "nmf2 TopicTree", (1, 2))
    for wrong in ("day", [1], ["day", "day", "day"]):
        with pytest.raises(ValueError, match="columns are something else"): unpacked_model(about | dict(kept=about["kept"] | dict(columns=wrong)), arrays, model.tree_)
    del about["kept"]["columns"]
    assert unpacked_model(about, arrays, model.tree_).given_.columns == {}


def in_small_letters(text): return text.lower().split()

def test_without_its_tokenizer_a_model_shows_its_texts(tmp_path):
    "Where only shares or words need it"
    texts = some_texts(90)
    model = TopicTree(4, max_df=.6, tokenizer=in_small_letters).fit(texts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.save(tmp_path/"m", keep_texts=True)
        again = TopicTree.load(tmp_path/"m")
    assert texts[0][:20] in again.to_html()
    rows = again.over_time(["2020", "2021", ""]*30, "year", plain=True)
    assert [row["documents"] for row in rows] == [row["documents"] for row in model.over_time(["2020", "2021", ""]*30, "year", plain=True)]
    assert "words" not in rows[0]
    again.join(again.tree_.splits[-1])
    for step in (again.refit, lambda: again.split(again.tree_.leaves()[0]), lambda: again.predict(texts)):
        with pytest.raises(ValueError, match="tokenizer .*in_small_letters was not kept in the file"): step()
