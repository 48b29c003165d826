"""Documents from pandas are told by their index"""
import warnings

import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from nmf2.data import Corpus, load
from nmf2.editing import _WEIGHTED
from nmf2.over_time import over_time
from nmf2.topictree import TopicTree, by_index


@pytest.fixture(scope="module")
def frame():
    "Texts with an index that has gaps and is in no order, dates that are those of their topics, and what they are"
    docs = load("library-docs")
    rows = np.random.default_rng(0).permutation(len(docs))[:600]
    return pd.DataFrame(dict(text=[docs.texts[i] for i in rows], field=docs.labels[rows, 0]), index=3*rows + 1000)

@pytest.fixture(scope="module")
def fitted(frame): return TopicTree(6, max_df=.3).fit(frame.text)

@pytest.fixture
def model(fitted):
    from copy import copy
    return copy(fitted)


def test_moves_by_labels(frame, model):
    first, second = model.tree_.leaves()[:2]
    rows = first.docs[:3]
    model.move(frame.index[rows], second.id)
    np.testing.assert_array_equal(np.sort(model.edits_.moved), rows)
    assert set(model.labels_[rows]) == {1}

def test_a_label_that_is_not_there(frame, model):
    with pytest.raises(ValueError, match="docs has 5, which the index of the documents of the fit has not"):
        model.move(pd.Index([frame.index[0], 5]), model.tree_.leaves()[1].id)

@pytest.mark.parametrize("make", [lambda frame: frame.text.tolist(), lambda frame: frame.text.set_axis(np.zeros(len(frame), int))])
def test_labels_of_nothing_known(frame, make):
    model = TopicTree(3, max_df=.3).fit(make(frame))
    with pytest.raises(ValueError, match="which rows its labels are of isn't known: give numbers of rows"):
        model.move(frame.index[:3], model.tree_.leaves()[1].id)

def test_a_series_of_labels_or_numbers_is_asked_about(frame, model):
    with pytest.raises(ValueError, match=r"docs is a series.*frame.index\[...\] for labels, docs.to_numpy\(\) for numbers"):
        model.move(pd.Series(frame.index[:3]), model.tree_.leaves()[1].id)
    with pytest.raises(ValueError, match="numbers of rows, below 600, got .*; labels of pandas as an index"):
        model.move(frame.index[:3].tolist(), model.tree_.leaves()[1].id)

def test_answers_have_the_index(frame, model):
    answers = model.answers(frame.text)
    assert answers.index.equals(frame.index)
    assert answers.topic.tolist() == model.labels_.tolist()
    assert model.answers(frame.text.tolist()).index.equals(pd.RangeIndex(600))
    assert isinstance(model.answers(frame.text, plain=True), list)

def test_a_saved_model_moves_by_the_index(tmp_path, frame, model):
    model.save(tmp_path/"m.nmf2", keep_texts=True)
    again = TopicTree.load(tmp_path/"m.nmf2")
    for one in (again, model): one.move(frame.index[:3], one.tree_.leaves()[1].id)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    model.undo()

def test_dates_in_another_order(frame, model):
    dates = pd.Series(2000 + model.labels_, index=frame.index).astype(str)
    right = over_time(model, dates, "year")
    assert right[right.documents > 0].groupby("topic").period.nunique().max() == 1
    pd.testing.assert_frame_equal(over_time(model, dates.sort_index(), "year"), right)
    pd.testing.assert_frame_equal(over_time(model, dates.tolist(), "year"), right)
    pd.testing.assert_frame_equal(over_time(model, dates.reset_index(drop=True), "year"), right)     # no label is known: by position

def test_dates_of_new_documents_in_another_order(frame, model):
    some = frame.iloc[:100]
    dates = pd.Series(2000 + model.predict(some.text), index=some.index).astype(str)
    right = over_time(model, dates, "year", documents=some.text)
    pd.testing.assert_frame_equal(over_time(model, dates.sort_index(), "year", documents=some.text), right)

def test_texts_and_columns_in_another_order(frame, model):
    right = model.to_html(labels=frame.field, columns=frame[["field"]])
    turned = frame.sort_values("text")
    assert model.to_html(labels=turned.field, columns=turned[["field"]]) == right
    assert model.to_html(labels=turned.field, columns=dict(field=turned.field)) == right
    assert model.to_html(turned.text, None, turned.field, columns=turned[["field"]]) == right
    other = model.to_html(labels=turned.field.tolist(), columns=dict(field=turned.field.tolist()))
    assert other != right                                                         # a list goes by its order

@pytest.mark.parametrize("step, given", [("split", "0"), ("drop_words", "distribution"), ("refit", None), ("grow", 8), ("update", ["an array of polynomials"]*3)])
def test_documents_that_are_handed_over_in_another_order(frame, step, given):
    model, bare = (TopicTree(6, max_df=.3).fit(frame.text) for _ in range(2))
    if step == "split": given = model.tree_.leaves()[0].id
    bare.given_ = None
    _WEIGHTED.pop(bare.pipeline_, None)
    given = () if given is None else (given,)
    getattr(bare, step)(*given, documents=frame.text.sort_index())
    getattr(model, step)(*given)
    np.testing.assert_array_equal(bare.labels_, model.labels_)

def test_an_update_has_the_index_of_both(frame):
    old, new = frame.iloc[:500], frame.iloc[500:]
    model = TopicTree(6, max_df=.3).fit(old.text)
    model.update(new.text)
    assert model.index_.equals(frame.index)
    leaf = model.tree_.leaves()[1]
    row = 500 + int(np.flatnonzero(model.labels_[500:] != 1)[0])
    model.move(frame.index[[row]], leaf.id)
    assert model.labels_[row] == 1
    model.undo()
    model.undo()
    assert model.index_.equals(old.index)
    model.update(new.text.tolist())
    assert model.index_ is None

@pytest.mark.parametrize("labels", ["plain", "numbers", "texts", "times"])
@pytest.mark.parametrize("keep_texts", [False, True])
def test_a_saved_model_knows_the_index(frame, tmp_path, labels, keep_texts):
    "Dates in another order count for the same documents, before and after"
    n = len(frame)
    index = dict(plain=pd.RangeIndex(n), numbers=pd.Index(np.arange(n)[::-1] + 3), texts=pd.Index([f"row {i}" for i in range(n)]),
                 times=pd.date_range("2024-01-01", periods=n))[labels]
    frame = frame.set_axis(index)
    years = pd.Series(np.arange(n) % 4 + 2000, index)
    model = TopicTree(6, max_df=.3).fit(frame.text)
    if labels == "times":
        with pytest.warns(UserWarning, match="DatetimeIndex. can't be kept"): model.save(tmp_path/"t.nmf2", keep_texts=keep_texts)
        assert TopicTree.load(tmp_path/"t.nmf2").index_ is None
        return
    model.save(tmp_path/"t.nmf2", keep_texts=keep_texts)
    loaded = TopicTree.load(tmp_path/"t.nmf2")
    assert loaded.index_.equals(index)
    other = years.sample(frac=1, random_state=0)
    assert loaded.over_time(other).documents.tolist() == model.over_time(years).documents.tolist() == model.over_time(other).documents.tolist()

def test_numbers_of_rows_in_another_order_are_told(frame):
    n = len(frame)
    model = TopicTree(6, max_df=.3).fit(frame.text.tolist())
    years = pd.Series(np.arange(n) % 4 + 2000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for index in (pd.RangeIndex(n), pd.Index(np.arange(n)*2), pd.Index([f"r{i}" for i in range(n)])): model.over_time(years.set_axis(index))
    with pytest.warns(UserWarning, match="knows no index"): model.over_time(years.sample(frac=1, random_state=0))

def test_names_in_an_index(frame):
    docs = Corpus(frame.text.tolist(), ids=[f"d{i}" for i in frame.index])
    model = TopicTree(6, max_df=.3).fit(docs)
    assert model.index_ is None
    rows = model.tree_.leaves()[0].docs[:3]
    model.move(pd.Index(docs.ids)[rows], model.tree_.leaves()[1].id)
    np.testing.assert_array_equal(np.sort(model.edits_.moved), rows)
    with pytest.raises(ValueError, match="got none"): model.move(frame.index[:0], model.tree_.leaves()[1].id)

def test_labels_that_cant_be_matched(recwarn):
    twice, gaps = pd.Index([0, 1, 2, 0, 1, 2]), pd.Index([3, 7, 5])
    for index, own in [(twice, [0, 0, 1, 1, 2, 2]), (gaps, [7, 5, 9])]:
        values = pd.Series(range(len(own)), index=own)
        with pytest.warns(UserWarning, match="taken in their order"): assert by_index(index, values) is values
    for index in (twice, gaps):
        values = pd.Series(range(len(index)))                 # after `reset_index`
        assert by_index(index, values) is values and not recwarn.list
    overlapping = pd.interval_range(0, 3)[[0, 1, 2]].union(pd.IntervalIndex.from_tuples([(0, 3)]))
    assert by_index(overlapping, pd.Series([1, 2, 3, 4], index=overlapping[::-1])).tolist() == [4, 3, 2, 1]

@pytest.mark.filterwarnings("ignore:the labels of this index")
def test_values_without_the_same_labels_stay():
    index = pd.Index([3, 1, 2])
    for values in (pd.Series([1, 2, 3]), pd.Series([1, 2], index=[1, 3]), pd.Series([1, 2, 3], index=[1, 1, 2]), [1, 2, 3], np.arange(3)):
        assert by_index(index, values) is values
    assert by_index(index, pd.Series([1, 2, 3], index=[1, 2, 3])).tolist() == [3, 1, 2]
    assert by_index(None, pd.Series([1, 2])).tolist() == [1, 2]
