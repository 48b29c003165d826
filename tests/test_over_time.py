"""Dates, periods, and topics over time: every document is counted once, in its topic and its period"""
import datetime

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from make_saved import some_texts
from nmf2 import Corpus, TopicTree
from nmf2.dates import PERIODS, as_dates, in_periods
from nmf2.headings import distinction
from nmf2.over_time import by_period, period_words, shares_of
from nmf2.regroup import cluster_sums
from nmf2.tree import largest
from test_editing import cheap, fitted


@pytest.fixture(scope="module")
def model(): return fitted(some_texts(60), n_topics=4, max_df=.6)

days = st.dates(datetime.date(1850, 1, 1), datetime.date(2150, 1, 1))

@cheap(60)
@given(dates=st.lists(days, min_size=1, max_size=30), period=st.sampled_from(list(PERIODS)))
def test_a_date_is_in_its_period(dates, period):
    if period in ("day", "week"): dates = [date.replace(year=2000 + date.year % 9) if date.month != 2 else datetime.date(2001, 3, 1) for date in dates]
    found = in_periods(as_dates(dates), period)
    def name(date):
        if period == "week": return str(date - datetime.timedelta(date.weekday()))
        if period == "quarter": return f"{date.year}-Q{(date.month + 2)//3}"
        width = dict(decade=10, century=100).get(period)
        return str(date.year//width*width) if width else str(date)[:dict(day=10, month=7, year=4)[period]]
    assert [found.names[k] for k in found.codes] == [name(date) for date in dates]
    assert found.names[0] == name(min(dates)) and found.names[-1] == name(max(dates)) and len(set(found.names)) == len(found.names)


@cheap(40)
@given(dates=st.lists(st.one_of(days.map(str), st.just(""), st.none()), min_size=60, max_size=60), n=st.integers(1, 4), words=st.integers(0, 3))
def test_every_document_is_counted_once(model, dates, n, words):
    if not any(dates):
        with pytest.raises(ValueError, match="got none"): model.over_time(dates)
        return
    rows = model.over_time(dates, n=n, n_words=words, plain=True)
    labels = model.tree_.labels(n)
    assert sum(row["documents"] for row in rows) == (labels >= 0).sum()
    for period in {row["period"] for row in rows}:
        some = [row for row in rows if row["period"] == period]
        assert [row["topic"] for row in some] == list(range(n))
        assert sum(row["share"] for row in some) == pytest.approx(float(any(row["documents"] for row in some)))
    assert (None in {row["period"] for row in rows}) == any(not date for date, label in zip(dates, labels) if label >= 0)
    assert all(("words" in row) == (words > 0) and len(row.get("words", "").split()) <= words for row in rows)


def test_dates_of_all_kinds(model):
    texts = [f"2024-{1 + i % 12:02}-15" for i in range(60)]
    texts[7] = ""
    pandas = pytest.importorskip("pandas")
    column = pandas.to_datetime(pandas.Series(texts), errors="coerce")
    expected = model.over_time(texts, "month", plain=True)
    objects = [datetime.datetime.fromisoformat(text) if text else None for text in texts]
    for dates in (objects, [d and d.date() for d in objects], column, column.to_numpy(), column.dt.tz_localize("UTC"), pandas.Series(texts), np.array(texts)):
        assert model.over_time(dates, "month", plain=True) == expected
    assert model.over_time(texts, "month").to_dict("records")[0] == expected[0]


def test_gaps_in_a_list_of_texts(model, recwarn):
    """As of `tolist` of a column: numpy makes the text 'nan' of them."""
    texts = [f"2024-{1 + i % 12:02}-15" if i % 7 else "" for i in range(60)]
    expected = model.over_time(texts, "month", plain=True)
    for gap in (float("nan"), None, np.datetime64("NaT", "D")):
        assert model.over_time([text or gap for text in texts], "month", plain=True) == expected
        assert model.over_time(tuple(text or gap for text in texts), "month", plain=True) == expected
    assert not len(recwarn)
    model.over_time([text[:4] or float("nan") for text in texts], "month")
    assert "dates say a year only" in str(recwarn.pop().message)
    with pytest.raises(ValueError, match="and 'soon' is none"): model.over_time(["soon", float("nan")]*30)


def test_years_are_dates_where_dates_are_wanted(model):
    years = [2003 + i % 4 for i in range(60)]
    expected = model.over_time([f"{year}-07-01" for year in years], "year", plain=True)
    for dates in (years, [str(year) for year in years], np.array(years), np.array(years, float), [float(year) for year in years]):
        assert model.over_time(dates, plain=True) == expected
    years[7] = None
    gaps = model.over_time(years, plain=True)
    assert {row["period"] for row in gaps} == {"2003", "2004", "2005", "2006", None}
    pandas = pytest.importorskip("pandas")
    assert model.over_time(pandas.Series(years), plain=True) == gaps                     # 2003.0, and NaN
    assert {row["period"] for row in model.over_time([1000, 2999]*30, plain=True)} == {str(year) for year in range(1000, 3000, 100)}
    assert as_dates([["a", "tag"], []]) is None and as_dates([["2003-05-01"], ["2003-05-02"]]) is None
    assert as_dates([2003, 2004]) is None and as_dates(["2003"]) is None                 # elsewhere they may be anything


@pytest.mark.parametrize("text, then", [
    ("2024-05-31T10:00Z", "2024-05-31T10:00"), ("2024-05-31T10:00+02:00", "2024-05-31T10:00"), ("2024-05-31 23:59 -1000", "2024-05-31T23:59"),
    ("2024-05-31T10:00:07Z", "2024-05-31T10:00:07"), ("2024-05-31T10:00:07.123456+02:00", "2024-05-31T10:00:07"), ("2024-05-31T10:00:07", "2024-05-31T10:00:07"),
    ("2024-05-31", "2024-05-31"), ("2024-05", "2024-05"), ("2024-05-31 10:00:07.5 CEST", "2024-05-31T10:00:07"), ("2024-05-31T10:00+02:00[Europe/Berlin]", "2024-05-31T10:00"), ("2024-05-31 10:00:07 +0000 UTC", "2024-05-31T10:00:07"),
    ("2024-05-31 10:00 and more", None), ("2024-05-31 10:00 +02:00 and", None), ("2024-05-31 10:00, rain", None), ("2024-Q2", "2024-04"), ("2024Q2", "2024-04"), ("2024Q5", None), ("2024-Q5", None), ("2024-Q2 or so", None), ("2024-05-31T10:00:7", None), ("2024-05-31T1000", None), ("2024-05-31x", None), ("2024-5-31", None),
    ("2024-05-32", None), ("2024-05-31T24:30", None), ("2024-05-31\n", None), ("12345-05-31", None)])
def test_times_with_a_zone_are_taken_as_written(text, then):
    found = as_dates([text, None])
    assert (found is None) if then is None else (found[0] == np.datetime64(then) and np.isnat(found[1]))


@pytest.mark.parametrize("text, then", [
    ("31.12.2024", "2024-12-31"), ("1. 2. 2024", "2024-02-01"), ("2024/12/31", "2024-12-31"), ("2024.1.2", "2024-01-02"),
    ("31/12/2024", "2024-12-31"), ("12/31/2024 5:30 PM", "2024-12-31"), ("31-12-2024", "2024-12-31"), ("05/05/2024", "2024-05-05"),
    ("31 Dec 2024", "2024-12-31"), ("31-DEC-2024", "2024-12-31"), ("Tue, 31 Dec 2024 10:00:00 +0100 (CET)", "2024-12-31"),
    ("December 31, 2024", "2024-12-31"), ("Sept. 3 2024", "2024-09-03"), ("1. May 2024", "2024-05-01"), (" 31.12.2024 ", "2024-12-31"),
    ("Sun,  3 Dec 2006 22:05:28 +0100", "2006-12-03"), ("Sun Dec  3 22:05:28 2006 +0100", "2006-12-03"), ("Dec 3 22:05 2006", "2006-12-03"),
    ("Mon Apr 06 22:19:45 +0000 2009", "2009-04-06"), ("Mon Nov 30 01:45:39 UTC 2026", "2026-11-30"), ("Mon 30 Nov 2026 01:45:39 AM UTC", "2026-11-30"),
    ("31-Dec-24", "2024-12-31"), ("Sun, 3 Dec 95 22:05:28 GMT", "1995-12-03"), ("1-JAN-68", "2068-01-01"), ("1-Jan-69", "1969-01-01"),
    ("31-Dec-024", None), ("30-Feb-24", None), ("31 Dec 2", None), ("Dec 31 24", None),
    ("31.12.24", None), ("12/13/24", None), ("31.13.2024", None), ("31.4.2024", None), ("0.1.2024", None), ("31/12-2024", None),
    ("Mai 31, 2024", None), ("Decemberish 31, 2024", None), ("05/06/2024", None), ("31.12.2024 and more", None), ("1.2.3", None),
    ("10.1.2024.5", None), ("٣١.١٢.٢٠٢٤", None)])
def test_dates_as_people_write_them(text, then):
    found = as_dates([text, None])
    assert (found is None) if then is None else (found[0] == np.datetime64(then) and np.isnat(found[1]))


def test_days_and_months_are_told_apart_by_the_whole_column():
    days = np.random.default_rng(0).permutation(np.arange("2024-01-01", "2025-01-01", dtype="datetime64[D]"))
    for form in ("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y"):
        assert (as_dates([day.strftime(form) for day in days.tolist()]) == days).all()
    early = [day.strftime("%d/%m/%Y") for day in days.tolist() if day.day < 13]
    assert as_dates(early) is None and as_dates([*early, "13/01/2024"]) is not None
    assert as_dates([*early, "13/01/2024", "01/13/2024"]) is None and as_dates(["2024-05-31", "31.5.2024"]) is None


def test_years_of_a_page_are_times_where_the_name_says_so():
    from nmf2.page import _column
    for name, is_time in (("year", True), ("Year", True), ("pub_date", True), ("pubYear", True), ("YEAR", True), ("Erscheinungsjahr", False),
                          ("jahr", True), ("updated", False), ("price", False), (0, False)):
        assert (_column([2003, None, 2005.], name).kind == "times") == is_time, name
    assert _column([2003, 20], "year").kind == "numbers"


def test_what_looks_like_dates_and_is_none_is_told(model):
    for dates, why in ((["05/06/2024"]*60, "of '05/06/2024' the day and the month can't be told apart"),
                       (["31.5.2024"]*59 + ["2024-05-31"], "all written in the same way"), (["31.5.2024"]*59 + ["?"], "'\\?' is none")):
        with pytest.raises(ValueError, match=why): model.over_time(dates, plain=True)
        with pytest.warns(UserWarning, match=rf"columns\['date'\] is no column of dates: .*{why}"): model.to_html(columns=dict(date=dates))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_times_of_data_frames_are_taken_as_written(library):
    there = pytest.importorskip(library)
    zone = pytest.importorskip("zoneinfo").ZoneInfo("America/New_York")
    times = [datetime.datetime(2024, 5, 31, 23, 30, tzinfo=zone), None]
    if library == "pandas": columns = [there.Series(times), there.DatetimeIndex(times)]
    if library == "polars": columns = [there.Series(times, dtype=there.Datetime("us", "America/New_York"))]
    if library == "pyarrow":
        array = there.array(times, there.timestamp("us", "America/New_York"))
        columns = [array, there.chunked_array([array])]
    for column in columns:
        found = as_dates(column)
        assert found[0] == np.datetime64("2024-05-31T23:30") and np.isnat(found[1])


def test_periods_are_taken_as_they_are_printed(model):
    dates = [f"20{20 + i % 3}-0{1 + i % 9}-15" for i in range(60)]
    for period in PERIODS:
        found = by_period(model, dates, period)
        again = by_period(model, [str(name) for name in found.periods] + [None]*(60 - len(found.periods)), period) if len(found.periods) <= 60 else found
        assert list(again.periods) == list(found.periods)
    assert in_periods(as_dates(["2023-Q2", "2024-Q1"])).names.tolist() == ["2023-Q2", "2023-Q3", "2023-Q4", "2024-Q1"]


@pytest.mark.parametrize("some, period, said", [
    (["2024", "2023"], None, "2 of 60 dates say a year only, and count in its first month: period='year' avoids that"),
    (["2024-01", "2024"], "day", "1 of 60 dates say a month only and 1 of 60 dates say a year only, and count in its first day: period='year' avoids that"),
    (["2024-Q1"], "week", "1 of 60 dates say a quarter only, and count in its first week: period='quarter'"), (["2024"], "year", None), (["2024-01"], None, None), ([], None, None)])
def test_dates_that_say_less_than_others(model, recwarn, some, period, said):
    model.over_time(some + [f"2024-{1 + i % 12:02}-15" for i in range(60 - len(some))], period)
    told = [str(warning.message) for warning in recwarn]
    assert told == [] if said is None else (len(told) == 1 and said in told[0])
    assert said is None or recwarn[0].filename == __file__


@pytest.mark.parametrize("freq, first, period", [("D", "2024-05-31", "day"), ("M", "2024-05", "month"), ("Q", "2024-04", "month"), ("Y", "2024", "year"), ("W", "2024-05-27", "day"),
                                                 ("h", "2024-05-31", "day")])
def test_periods_of_pandas(freq, first, period):
    pandas = pytest.importorskip("pandas")
    days = pandas.Series(pandas.to_datetime(["2024-05-31", None, "2024-06-30"]))
    try: values = days.dt.to_period(freq)
    except ValueError: values = days.dt.to_period(freq.upper())                          # pandas before 2.2
    for given in (values, list(values), values.to_numpy()):
        dates = as_dates(given)
        assert dates[0] == np.datetime64(first) and list(np.isnat(dates)) == [False, True, False]
    if freq in "DMY": assert in_periods(dates).period == period


def test_words_distinguish_a_period(model):
    texts = some_texts(80) + ["ball goal offside referee"]*5
    model = fitted(texts, n_topics=4, max_df=.6)
    dates = ["2024"+"-01-01"]*80 + ["2025-01-01"]*5
    found = by_period(model, dates, "year")
    k = model.labels_[-1]
    assert {"offside", "referee"} <= set(found.words[k][1]) and not {"offside", "referee"} & set(found.words[k][0])
    assert_array_equal(found.counts[:,:2].sum(0), [80, 5])
    assert_allclose(shares_of(found.counts).sum(0), [1, 1, 0])


def test_new_documents_and_models_without_texts(model, tmp_path):
    rows = model.over_time(["2024-01-01", "2024-02-01", None], documents=["ball goal", "vote law", "nothing known"], plain=True)
    assert sum(row["documents"] for row in rows) == 2 and {row["period"] for row in rows} == {"2024-01-01", "2024-01-08", "2024-01-15", "2024-01-22", "2024-01-29"}
    model.save(tmp_path/"m")
    again, dates = TopicTree.load(tmp_path/"m"), ["2024-01-01", "2024-06-01"]*30
    counts = [{key: row[key] for key in ("documents", "share", "period")} for row in model.over_time(dates, plain=True)]
    kept = again.over_time(dates, plain=True)
    assert [{key: row[key] for key in ("documents", "share", "period")} for row in kept] == counts and "words" not in kept[0]


@pytest.mark.parametrize("dates, options, message", [
    (["2024-01-01"]*9, {}, "one entry for each of the 60 documents, got 9"), (np.full((60, 1), "2024-01-01"), {}, "one column, such as df..date.., got a table"), (["soon"]*60, {}, "'soon' is none"), ([20240531]*60, {}, "20240531 is none. pandas.to_datetime .* unit='s'"),
    ([2024.5]*60, {}, "2024.5 is none"), ([999]*60, {}, "999 is none"), ([True]*60, {}, "True is none"), (["31.5.24"]*60, {}, "such as format='%d/%m/%y'"),
    (["2024-01-01"]*59 + ["2024-02-30"], {}, "'2024-02-30' is none"), (["2024-01-01"]*60, dict(period="fortnight"), "period must be one of"),
    (["0900-01-01"] + ["2024-01-01"]*59, dict(period="day"), "period='day' is too short"), (["2024-01-01"]*60, dict(n=9), "at most 4"),
    (["2024-01-01"]*60, dict(n_words=-1), "n_words must be")])
def test_bad_input(model, dates, options, message):
    with pytest.raises(ValueError, match=message): model.over_time(dates, **options)


def test_periods_of_no_date():
    with pytest.raises(ValueError, match="dates are all NaT"): in_periods(np.array(["NaT", "NaT"], "datetime64[s]"))


def test_the_picture_has_a_row_for_each_topic(model):
    import matplotlib.pyplot as plt
    from nmf2.plots import plot_over_time
    dates = [f"2024-{1 + i % 12:02}-15" for i in range(60)]
    for n, counts in ((4, False), (2, True)):
        ax = plot_over_time(model, dates, "month", n=n, counts=counts)
        assert sum(len(bars.get_paths()) == 12 for bars in ax.collections) == n
    assert plot_over_time(model, dates[:3], documents=some_texts(3), ax=ax) is ax
    with pytest.raises(ValueError, match="ax must be"): plot_over_time(model, dates, ax=plt)
    plt.close("all")


def test_words_of_periods_are_those_of_all_columns():
    rng = np.random.default_rng(0)
    X, codes = sp.random_array((60, 200), density=.01, rng=rng, format="csr"), rng.integers(-1, 7, 60)
    vocab = np.array([f"w{j}" for j in range(200)])
    sums = cluster_sums(X, np.where(codes < 0, 8, codes))
    expected = [[vocab[j] for j in largest(distinction(one, sums.sum(0)), 5)] if one.any() else [] for one in sums]
    assert period_words(X, codes, 8, vocab) == expected and sum(map(len, expected)) > 10
    assert period_words(X[:0], codes[:0], 2, vocab) == period_words(0*X[:3], codes[:3] % 2, 2, vocab) == [[], [], []]
    assert period_words(sp.csr_array((3, 200)), codes[:3] % 2, 2, vocab) == [[], [], []]


def test_dates_by_the_name_of_a_column():
    "Of the corpus of the fit, or of the new documents"
    texts = ["ball goal umpire", "goal ball match"]*20 + ["vote law party", "party law budget"]*20
    days = [f"2024-0{1 + i % 4}-11" for i in range(80)]
    corpus = Corpus(texts, columns=dict(date=days, source=["a", "b"]*40))
    model = TopicTree(2).fit(corpus)
    assert model.over_time("date", plain=True) == model.over_time(days, plain=True)
    new = corpus[np.arange(0, 80, 3)]
    assert model.over_time("date", documents=new, plain=True) == model.over_time(new.columns["date"], documents=new, plain=True)
    for given in (dict(dates="day"), dict(dates="date", documents=texts)):
        with pytest.raises(ValueError, match="dates must be those of the documents.*name of a column"): model.over_time(**given)
    with pytest.raises(ValueError, match="the columns there are: 'date' and 'source'|'date', 'source'"): model.over_time("day")
    with pytest.raises(ValueError, match="the columns there are: none"): TopicTree(2).fit(texts).over_time("date")
