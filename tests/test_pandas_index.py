"""Documents from pandas are told by their index"""
import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from nmf2.data import load
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

def test_a_saved_model_knows_no_index(tmp_path, frame, model):
    model.save(tmp_path/"m.nmf2", keep_texts=True)
    again = TopicTree.load(tmp_path/"m.nmf2")
    with pytest.raises(ValueError, match="isn't known"): again.move(frame.index[:3], again.tree_.leaves()[1].id)

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

def test_documents_that_are_handed_over_in_another_order(tmp_path, frame, model):
    leaf = model.tree_.leaves()[0].id
    bare = TopicTree(6, max_df=.3).fit(frame.text)
    bare.given_ = None
    from nmf2.editing import _WEIGHTED
    _WEIGHTED.pop(bare.pipeline_, None)
    bare.split(leaf, documents=frame.text.sort_index())
    model.split(leaf)
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

def test_values_without_the_same_labels_stay():
    index = pd.Index([3, 1, 2])
    for values in (pd.Series([1, 2, 3]), pd.Series([1, 2], index=[1, 3]), pd.Series([1, 2, 3], index=[1, 1, 2]), [1, 2, 3], np.arange(3)):
        assert by_index(index, values) is values
    assert by_index(index, pd.Series([1, 2, 3], index=[1, 2, 3])).tolist() == [3, 1, 2]
    assert by_index(None, pd.Series([1, 2])).tolist() == [1, 2]
