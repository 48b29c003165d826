"""What there is to see in a tree, and the page that shows it"""
import datetime
import json
import pickle
import re
import sys
from decimal import Decimal
from html.parser import HTMLParser

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nmf2.data import Corpus, planted_tree
from nmf2.hier import HierNMF2
from nmf2.exports import titles
from nmf2.page import Reader, _column, _drawn, _first_of_each, confidence, details, document_map, first_view, index, keywords, map_words, page, to_html
from nmf2.tree import Support
from nmf2.headings import find_headings
from nmf2.weighting import count_pipeline


@pytest.fixture(scope="module")
def planted():
    corpus = planted_tree((3, 3), n_docs=360, overlap=.4, noise=.15, length=40, texts=True, random_state=1)
    weigh = count_pipeline(vocab=corpus.vocab)
    X = weigh.fit_transform(corpus.X)
    tree = HierNMF2(9).fit(X).tree_
    tree.vocab = weigh.get_feature_names_out()
    return corpus, tree


class Text(HTMLParser):
    "Tags in order, whether all are closed, and the text in them"
    def __init__(self):
        super().__init__()
        self.tags, self.open, self.inside = [], [], {}
    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag != "meta": self.open.append(tag)
    def handle_endtag(self, tag): assert self.open.pop() == tag
    def handle_data(self, data): self.inside.setdefault(self.open[-1] if self.open else "", []).append(data)


def read_page(text):
    "The parser that has read it, and the data it found"
    parser = Text()
    parser.feed(text)
    assert not parser.open
    return parser, json.loads(parser.inside["script"][0])


def test_overview_has_every_node_once_parents_first(planted):
    about = Reader(planted[1], planted[0]).overview(n_terms=4)
    tree = planted[1]
    assert [n["id"] for n in about["nodes"]] == [node.id for node in tree] and about["splits"] == tree.splits
    for n in about["nodes"]:
        assert n["size"] == tree[n["id"]].size and n["terms"] == tree.top_terms(n["id"], n=4) and n["dropped"] == len(tree[n["id"]].outliers)
        assert n["score"] is None if n["id"] == "" else n["score"] is None or n["score"] >= 0
    json.dumps(about, allow_nan=False)


def test_details_agree_with_the_tree(planted):
    corpus, tree = planted
    reader = Reader(tree, corpus)
    for node in tree:
        seen = reader.details(node.id, n_docs=4)
        json.dumps(seen, allow_nan=False)
        assert seen["typical"] == tree.typical(node, 4).tolist() and seen["borderline"] == tree.borderline(node, 4)[0].tolist()
        assert seen["more"] == [[w, round(d, 4)] for w, d in tree.contrast(node, 7)]
        assert set(seen["documents"]) == {*seen["typical"], *seen["borderline"], *seen["dropped"]}
        for level, shown in enumerate(seen["labels"]):
            mine = corpus.labels[node.docs, level]
            assert sum(c for _, c in shown["top"]) + shown["others"] + shown["without"] == node.size
            assert all((mine == name).sum() == c for name, c in shown["top"])
            assert [c for _, c in shown["top"]] == sorted((c for _, c in shown["top"]), reverse=True)
    with pytest.raises(KeyError): reader.details("x")


def test_labels_of_every_form(planted):
    tree = planted[1]
    half = ["a"]*180 + ["", None]*90
    for labels in (half, np.array(half, object), [[x] for x in half], [["a"]]*180 + [[]]*180):
        (level,) = Reader(tree, labels=labels).details("")["labels"]
        assert level == dict(top=[["a", 180]], others=0, without=180)
    many = Reader(tree, labels=np.arange(360) % 9).details("", n_labels=2)["labels"][0]
    assert many == dict(top=[["0", 40], ["1", 40]], others=280, without=0)
    assert Reader(tree).details("")["labels"] == []


def test_at_the_border_at_least_half_is_here(planted):
    corpus, tree = planted
    for node in list(tree)[1:]:
        seen = Reader(tree, corpus).details(node.id, n_docs=3)
        for i, share in zip(seen["borderline"], seen["shares"]):
            w = node.parent.split.W[np.searchsorted(node.parent.docs, i)]
            assert share == pytest.approx(w[int(node.id[-1])]/w.sum(), abs=1e-3) and share >= .499


class Series:
    "A column of a data frame, whose rows are numbered in some other way"
    def __init__(self, values): self.values = values
    def __len__(self): return len(self.values)
    def __getitem__(self, key): raise KeyError(key)
    def to_numpy(self): return np.array(self.values, object)


def test_columns_of_data_frames(planted):
    corpus, tree = planted
    labels = Series(["a"]*100 + [float("nan")]*260)
    reader = Reader(tree, Series(corpus.texts[:359] + [None]), Series(list(corpus.ids)), labels)
    assert reader.text(3) == corpus.texts[3] and reader.text(359) == "" and reader.name(3) == corpus.ids[3]
    assert reader.details("")["labels"] == [dict(top=[["a", 100]], others=0, without=260)]
    assert Reader(tree, corpus, labels=np.array(["x"]*360)).details("")["labels"][0]["top"] == [["x", 360]]


def test_texts_are_searched_whatever_the_case_and_the_spaces(planted):
    corpus, tree = planted
    texts = list(corpus.texts)
    texts[5] = "x "*90 + "Space\n  SHUTTLE, spaceshuttle, space shuttles" + " y"*90
    texts[9] = "the space shuttle (a+b)"
    reader = Reader(tree, texts)
    found = reader.find("space  shuttle")["texts"]
    assert found["count"] == 2 and [i for i, _ in found["documents"]] == [5, 9]
    assert found["documents"][0][1]["text"].startswith("… x x") and "Space SHUTTLE, spaceshuttle" in found["documents"][0][1]["text"]
    assert found["documents"][1][1]["text"] == texts[9] and found["documents"][1][1]["way"] == tree.path(9)[-1].id
    assert reader.find("(A+B")["texts"]["count"] == 1 and reader.find("x")["texts"]["count"] == 0
    word = max(texts[20].split(), key=len)
    times = {i: text.lower().count(word) for i, text in enumerate(texts) if word in text.lower()}
    found = reader.find(word, n_docs=1000)["texts"]
    assert [i for i, _ in found["documents"]] == sorted(times, key=lambda i: (-times[i], i)) and found["count"] == len(times) > 1
    assert found["rows"][:5] == [i for i, _ in found["documents"]][:5] and len(found["rows"]) == found["count"]
    assert Reader(tree).find("space")["texts"] == dict(count=0, rows=[], documents=[])


@pytest.mark.parametrize("counts", [np.eye(4), sp.csr_array(np.eye(4))])
def test_counts_are_no_texts(counts):
    tree = HierNMF2(2, max_outliers=None).fit(np.eye(4) + .1).tree_
    with pytest.raises(ValueError, match=r"texts must be a list of texts or a Corpus, got a matrix\. Of counts it is Corpus\(X=counts, vocab=words\)"): tree.to_html(counts)


@pytest.mark.parametrize("query, found", [("桜", [0]), ("(", [1]), ("é", [2]), ("$", [3]), ("e", []), ("7", [])])
def test_signs_are_searched_and_single_letters_are_not(query, found):
    "In Chinese and Japanese one sign is a word"
    reader = Reader(HierNMF2(2, max_outliers=None).fit(np.eye(5)[:, [0, 1, 2, 3]] + .1).tree_, ["東京の桜", "one (two)", "été", "7 $", "see"])
    assert reader.find(query)["texts"]["rows"] == found


def test_excerpts_are_of_whole_words():
    texts = ["earlier words " + "before "*20 + "the hit " + "afterwards "*40, "x"*100 + "hit" + "y"*300, "a hit", "unhitched " + "more "*50, "none"]
    reader = Reader(HierNMF2(2, max_outliers=None).fit(np.eye(5)[:, [0, 1, 2, 3]] + .1).tree_, texts)
    said = {i: document["text"] for i, document in reader.find("hit")["texts"]["documents"]}
    assert said[0].split()[1:-1] == ["before"]*7 + ["the", "hit"] + ["afterwards"]*12 and said[0].startswith("… b") and said[0].endswith("s …")
    assert said[1] == "… " + "x"*60 + "hit" + "y"*137 + " …" and said[2] == "a hit" and said[3].startswith("unhitched more") and said[3].endswith("more …")


def test_texts_are_searched_for_titles():
    """Titles have spaces where texts have hyphens, and words that are not side by side in all texts."""
    texts = ["Salter-Harris\ntype II", "the fracture of a femur", "femur, then a fracture; fracture", "fractures", "none"]
    reader = Reader(HierNMF2(2, max_outliers=None).fit(np.eye(5)[:, [0, 1, 2, 3]] + .1).tree_, texts)
    whole = reader.find("salter harris type")["texts"]
    assert whole["count"] == 1 and whole["documents"][0][0] == 0 and "apart" not in whole
    parts = reader.find("femur fracture")["texts"]
    assert parts["apart"] and [i for i, _ in parts["documents"]] == [2, 1] and parts["count"] == 2
    assert reader.find("femur salter")["texts"] == dict(count=0, rows=[], documents=[])
    said = Reader(reader.tree, ["un coup d’état", "un coup d'état", "d’or", "x", "y"])
    assert said.find("coup d'état")["texts"]["count"] == 2 == said.find("coup d’état")["texts"]["count"]
    said = Reader(reader.tree, ["пам'ять", "пам’ять", "памʼять", "x", "y"])
    assert [said.find(query)["texts"]["count"] for query in ("пам'ять", "памʼять")] == [3, 3]


def test_confidence_is_the_product_of_shares_on_the_way(planted):
    tree = planted[1]
    reader = Reader(tree)
    for node in tree.leaves():
        by_hand = np.ones(node.size)
        for k in range(len(node.id)):
            split = tree[node.id[:k]].split
            for j, i in enumerate(node.docs):
                w = split.W[list(tree[node.id[:k]].docs).index(i)]*split.Ht.sum(0)
                by_hand[j] *= w[int(node.id[k])]/w.sum()
        np.testing.assert_allclose(confidence(reader, node, node.docs), by_hand, rtol=1e-6)
        seen = reader.details(node.id)
        for i in seen["typical"]: assert seen["sure"][i] == pytest.approx(by_hand[list(node.docs).index(i)], abs=.0006)
        if node.size: assert index(reader)["sure"][node.docs[0]] == pytest.approx(100*by_hand[0], abs=.51)
    assert reader.details("")["sure"] == {} and (confidence(reader, tree[""], np.arange(5)) == 1).all()


def test_shares_given_are_summed_over_the_leaves_below(planted):
    corpus, tree = planted
    shares = np.random.default_rng(0).dirichlet(np.ones(9), 360)
    reader = Reader(tree, corpus, shares=shares)
    for node in tree:
        below = [k for k, leaf in enumerate(tree.leaves()) if leaf.id.startswith(node.id)]
        np.testing.assert_allclose(confidence(reader, node, node.docs), shares[node.docs][:, below].sum(1))
    with pytest.raises(ValueError, match="shares must be of 360 documents and 9 leaves"): Reader(tree, shares=shares[:, 1:])


def test_at_the_border_the_shares_given_are_nearest_to_half(planted):
    "A document goes by its largest leaf, and more of it may be on the other side, in several leaves there"
    corpus, tree = planted
    shares = np.random.default_rng(0).dirichlet(np.ones(9), 360)
    reader = Reader(tree, corpus, shares=shares)
    for node in list(tree)[1:]:
        seen = reader.details(node.id, n_docs=4)
        here, there = (shares[:, reader.spans[node.id[:-1] + side]].sum(1) for side in (node.id[-1], "10"[int(node.id[-1])]))
        share = here/(here + there)
        np.testing.assert_allclose(seen["shares"], share[seen["borderline"]], atol=6e-4)
        assert np.abs(share[seen["borderline"]] - .5).max() <= np.sort(np.abs(share[node.docs] - .5))[:4].max() + 1e-12


def test_columns_are_classes_or_times(planted):
    tree = planted[1]
    days = np.datetime64("2020-01-30") + np.arange(360)//6
    source = ["web", "mail", None]*120
    reader = Reader(tree, columns=dict(source=source, day=days, written=[str(day) for day in days]))
    shown = reader.overview()["columns"]
    assert [column["name"] for column in shown] == ["source", "day", "written"] and shown[0]["times"] is None
    assert shown[1]["times"] == shown[2]["times"] == [str(day) for day in np.unique(days)]
    for node in tree:
        classes, times, same = reader.details(node.id)["columns"]
        mine = [source[i] for i in node.docs]
        assert dict(classes["top"]) == {name: mine.count(name) for name in ("web", "mail") if name in mine} and classes["without"] == mine.count(None)
        assert times == same == dict(counts=[(days[node.docs] == day).sum() for day in np.unique(days)], without=0)
    json.dumps(reader.details("0"), allow_nan=False)
    with pytest.raises(ValueError, match=r"columns\['a'\] must have one entry"): Reader(tree, columns=dict(a=["b"]))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_in_a_data_frame(planted, library):
    frames, tree = pytest.importorskip(library), planted[1]
    days = (np.datetime64("2020-01-30") + np.arange(360)//6).tolist()
    columns = dict(source=["web", "mail", None]*120, number=[1, 2, 3, 4]*90, day=days)
    frame = frames.DataFrame(columns)
    page = tree.to_html(columns=frame)
    assert page == tree.to_html(columns=columns) != tree.to_html() == tree.to_html(columns=frame[[]] if library == "pandas" else frame.select([]))
    assert list(Reader(tree, columns=frame).columns) == ["source", "number", "day"]
    if library == "pandas": assert tree.to_html(columns=frame.set_axis(range(360, 0, -1)).assign(day=frame["day"].to_numpy())) == page
    with pytest.raises(ValueError, match=r"columns\['source'\] must have one entry"): tree.to_html(columns=frame[:9])
    for wrong in (frame["source"], ["web"]*360, "source"):
        with pytest.raises(ValueError, match="columns must be a dictionary .* or a data frame, got a "): tree.to_html(columns=wrong)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_columns_with_gaps_and_zones(planted, library):
    """Arrays of numpy have neither: 3 was called 3.0, and times of polars and Arrow were in UTC; Arrow had an error."""
    there, tree = pytest.importorskip(library), planted[1]
    zone = pytest.importorskip("zoneinfo").ZoneInfo("America/New_York")
    late = [datetime.datetime(2024, 5, 1 + i % 9, 23, 30, tzinfo=zone) if i % 7 else None for i in range(360)]
    number, name = [None if i % 5 == 0 else i % 3 for i in range(360)], [None if i % 5 == 0 else "ab"[i % 2] for i in range(360)]
    if library == "pandas": columns = dict(late=there.Series(late), number=there.Series(number, dtype="Int64"), name=there.Series(name))
    if library == "polars": columns = dict(late=there.Series(late, dtype=there.Datetime("us", "America/New_York")), number=there.Series(number), name=there.Series(name))
    if library == "pyarrow": columns = dict(late=there.array(late, there.timestamp("us", "America/New_York")), number=there.array(number), name=there.array(name))
    days = [time and str(time.date()) for time in late]
    assert tree.to_html(columns=columns) == tree.to_html(columns=dict(late=days, number=number, name=name))
    assert tree.to_html(labels=columns["number"]) == tree.to_html(labels=number) and tree.to_html(ids=columns["name"]) == tree.to_html(ids=list(columns["name"]) if library == "pandas" else name)
    table = there.table(columns) if library == "pyarrow" else there.DataFrame(columns)
    both = table.select(["number", "name"]) if library != "pandas" else table[["number", "name"]]
    assert tree.to_html(labels=both) == tree.to_html(labels=[*zip(number, name)])


def test_columns_of_one_name(planted):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="columns must have names that are different"):
        planted[1].to_html(columns=pandas.DataFrame(np.zeros((360, 2)), columns=["a", "a"]))


@pytest.mark.parametrize("values, names, codes", [
    (["2024-05-31", "2024-06-02", ""], ["2024-05-31", "2024-06-01", "2024-06-02"], [0, 2, -1]),
    ([datetime.date(2024, 1, 1), None, datetime.datetime(2030, 1, 1, 5)], [f"{y}-Q{q}" for y in range(2024, 2031) for q in (1, 2, 3, 4)][:25], [0, -1, 24]),
    (["1500-01", "2024-05", "1999-12-31 23:59:59"], [str(y) for y in range(1500, 2021, 10)], [0, 52, 49]),
    (np.array(["2024-01-04", "NaT", "2024-12-31"], "datetime64[ns]"), None, [0, -1, 52]),
], ids=["days", "quarters", "decades", "weeks"])
def test_times_are_as_long_as_there_is_room(values, names, codes):
    found = _column(values)
    assert found.kind == "times" and found.codes.tolist() == codes and len(found.names) <= 60
    if names: assert found.names.tolist() == names


@pytest.mark.parametrize("values", [["2024-02-31", "2024-01-01"], ["a", "2024-01-01"], [2024, 2023], ["", None], ["2024", "2023"]])
def test_what_is_no_date_is_a_class(values): assert _column(values).kind != "times"


@pytest.mark.parametrize("values, names, codes", [
    ([3, 1, None, 5, 1], ["1", "3", "5"], [1, 0, -1, 2, 0]), (["2", "10", "", " 2 "], ["2", "10"], [0, 1, -1, 0]),
    (["1.50", ".5", "-2e3", "nan"], ["-2,000", "0.5", "1.5"], [2, 1, 0, -1]), ([Decimal("1.5"), 2.5, np.float32(1.5)], ["1.5", "2.5"], [0, 1, 0]),
    ([1200, 1200.5, float("nan")], ["1,200", "1,200.5"], [0, 1, -1]), (["007", "7"], None, None), ([True, False], None, None),
    (["1", "one"], None, None), ([float("inf"), 1], None, None), ([[1], [2]], None, None), (["1,5", "2"], None, None),
    (list(np.array([.1, 4.99], np.float32)), ["0.1", "4.99"], [0, 1]), (list(np.array([.1], np.float16)), ["0.1"], [0]), ([.3, .1 + .2], ["0.3"], [0, 0]),
    ([12345678901, 12345678902], ["12,345,678,901", "12,345,678,902"], [0, 1]), ([10**17, 10**17 + 1], None, None), ([10**400, 1], None, None),
    ([Decimal("sNaN"), 1], None, None), ([np.timedelta64(1, "h")], None, None), ([datetime.timedelta(1)], None, None), ([sys.float_info.max, 1.], None, None),
    (["1.1", "1.10", "1.2"], None, None), (["1", "1 "], ["1"], [0, 0]), ([2005, 1998], ["1998", "2005"], [1, 0]), ([-0., 0., -1], ["-1", "0"], [1, 1, 0]),
    ([800, 2005], ["800", "2,005"], [0, 1]), (["1", "n/a", "NULL", "-", "2.5"], ["1", "2.5"], [0, -1, -1, -1, 1]), (["n/a", "-"], None, None), ([1 + 2j], None, None)])
def test_few_numbers_are_told_in_their_order(values, names, codes):
    column = _column(values)
    assert (column.kind == "numbers") == (names is not None)
    if names: assert column.names.tolist() == names and column.codes.tolist() == codes


@example([0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6., 1.9999999998835847])      # two are one in ten figures
@settings(deadline=None)
@given(st.lists(st.one_of(st.integers(-10**6, 10**6), st.floats(-2.**53, 2.**53), st.floats(-1e6, 1e6), st.none()), min_size=1, max_size=200))
def test_numbers_are_in_the_ranges_that_are_told(values):
    column, numbers = _column(values), np.array([np.nan if value is None else float(value) for value in values])
    if np.isnan(numbers).all(): return
    assert column.kind == "numbers" and ((column.codes < 0) == np.isnan(numbers)).all() and len(column.names) <= 12
    for name, code in zip(column.names, range(len(column.names))):
        inside, (low, *more) = numbers[column.codes == code], name.replace(",", "").replace("below ", "-inf to ").replace("and more", "to inf").split(" to ")
        high = more[0] if more else low
        exact = 1e-9*np.abs(inside) + 1e-300                       # names have ten figures
        assert (inside >= float(low) - exact).all() and (inside <= float(high) + exact).all()
    different = {float(f"{number:.10g}") for number in numbers[~np.isnan(numbers)]}
    if len(different) > 12: assert 2 <= len(column.names) <= 6


def test_ranges_have_about_as_many_documents_each():
    numbers = np.random.default_rng(0).lognormal(3, 1, 6000)
    column = _column(numbers)
    assert column.names.tolist() == ["below 8", "8 to 12", "12 to 20", "20 to 30", "30 to 50", "50 and more"]
    sizes = np.bincount(column.codes)
    assert sizes.min() > 600 and sizes.max() < 1400
    assert _column([0]*900 + list(range(1, 101))).names.tolist() == ["below 1", "1 and more"]
    assert _column(range(-50, 50)).names.tolist() == ["below -30", "-30 to -21", "-20 to -1", "0 to 19", "20 to 29", "30 and more"]
    assert _column([1900 + i for i in range(99)]).names.tolist()[0].startswith("below 19") and "," not in "".join(_column([1900 + i for i in range(99)]).names)
    assert _column([1.2e10*i for i in range(1, 40)]).names.tolist()[-1].endswith(",000 and more")


def test_all_ranges_are_told_at_a_node(planted):
    tree = planted[1]
    reader = Reader(tree, columns=dict(price=[*range(20)]*18))
    [column] = details(reader, "", n_labels=2)["columns"]
    assert sum(n for _, n in column["top"]) == 360 and len(column["top"]) == len(reader.columns["price"].names) and column["others"] == 0


def test_find_words_and_documents(planted):
    corpus, tree = planted
    reader = Reader(tree, corpus)
    word = tree.top_terms("00", n=1)[0]
    found = reader.find(word.upper())["words"]
    assert found[0][0] == word and ["00", 1] in found[0][1]
    assert found[0][1] == [[node.id, rank] for node, _, rank in tree.find(word)]
    assert reader.find(word, n_nodes=2)["words"][0][1] == found[0][1][:2]
    name = corpus.ids[17]
    for query in (name, "17"):
        way = reader.find(query)["documents"][17]
        assert way["id"] == str(name) and way["way"] == tree.path(17)[-1].id and corpus.texts[17].startswith(way["text"][:20])
    assert reader.find("9"*5000)["documents"] == {}
    assert reader.find("  ") == reader.find("no such thing") == dict(words=[], documents={}, named=0, texts=dict(count=0, rows=[], documents=[]))
    assert list(Reader(tree).find("359")["documents"]) == [359] and not Reader(tree).find("360")["documents"]


def test_a_name_comes_first_and_all_are_counted(planted):
    names = [f"btest{i}" for i in range(358)] + ["btest", "17"]
    found = Reader(planted[1], ids=names).find("BTEST")
    assert list(found["documents"])[0] == 358 and len(found["documents"]) == 8 and found["named"] == 359
    assert list(Reader(planted[1], ids=names).find("17")["documents"])[:2] == [359, 17]


def test_hyphens_and_accents_are_found_without_them():
    texts = ["command-line tools", "a command line", "a naïve façade", "naive", "NAÏVE Straße", "z"]
    ids = ["Müller", "mueller", "muller", "éa", "e-a", "x"]
    reader = Reader(HierNMF2(2, max_outliers=None).fit(np.eye(6)[:, [0, 1, 2, 3]] + .1).tree_, texts, ids)
    def hits(query): return {i for i, _ in reader.find(query)["texts"]["documents"]}
    assert hits("command-line") == hits("command line") == hits("command_line") == {0, 1}
    assert hits("naive") == {2, 3, 4} and hits("naïve") == {2, 4} and hits("naive facade") == {2} and hits("--") == set()
    assert set(reader.find("muller")["documents"]) == set(reader.find("Müller")["documents"]) == {0, 2}


def test_letters_that_are_others_and_accents_that_are_letters_of_their_own():
    import unicodedata
    texts = ["NAÏVE Straße", "Strasse", "Łódź, smørrebrød", "encyclopædia, Œuvre", "masse, encyclopaedia, oeuvre", unicodedata.normalize("NFD", "naïve façade in Łódź")]
    reader = Reader(HierNMF2(2, max_outliers=None).fit(np.eye(6)[:, [0, 1, 2, 3]] + .1).tree_, texts, texts)
    def hits(query): return {i for i, _ in reader.find(query)["texts"]["documents"]}
    assert hits("strasse") == {0, 1} and hits("straße") == {0} and hits("STRASSE") == {0, 1}
    assert hits("lodz") == {2, 5} and hits("Łódź") == hits(unicodedata.normalize("NFD", "Łódź")) == {2, 5} and hits("smorrebrod") == {2}
    assert hits("encyclopaedia") == hits("oeuvre") == {3, 4} and hits("encyclopædia") == {3} and hits("naive") == {0, 5} and hits("naïve facade") == {5}
    assert set(reader.find("strasse")["documents"]) == {0, 1} and set(reader.find("lodz")["documents"]) == {2, 5}
    assert not any(mark in reader.text(5) for mark in "\u0300\u0308\u0327")


def test_letters_have_points_or_not():
    texts = ["عَنْ زَيْنَبَ ابْنَةِ", "زينب", "زَيْنَبان", "שָׁלוֹם עוֹלָם", "İçerik", "içerik"]
    tree = HierNMF2(2, max_outliers=None).fit(np.eye(6) + .1).tree_
    tree.vocab = ["زينب", "ابنة", "زينبان", "שלום", "içerik", "x"]
    reader = Reader(tree, texts, texts)
    def hits(query): return {i for i, _ in reader.find(query)["texts"]["documents"]}
    assert hits("زينب") == hits("زَيْنَبُ") == hits("زيـنب") == {0, 1, 2} and hits("זינב") == set() and hits("שלום עולם") == {3}
    assert hits("içerik") == hits("İçerik") == hits("icerik") == {4, 5} and set(reader.find("زينبان")["documents"]) == {2}
    assert reader.find("زَينب")["words"][0][0] == "زينب" and reader.find("\u064e")["texts"]["count"] == reader.find("\u064e")["named"] == 0
    words, numbers = keywords(reader, np.arange(6), n=2)
    assert [[words[j] for j in row] for row in numbers] == [["ابنة", "زينب"], ["زينب"], ["زينبان"], ["שלום"], ["içerik"], ["içerik"]]


@pytest.mark.parametrize("length", [10, 60])
def test_a_text_that_is_cut_ends_with_a_word(length):
    reader = Reader(HierNMF2(2, max_outliers=None).fit(np.eye(4) + .1).tree_, ["several words and more of them, "*3, "字"*100, "short", " "*100])
    first, second, third, _ = [reader.text(i, length) for i in range(4)]
    assert first == {10: "several …", 60: "several words and more of them, several words and more of …"}[length]
    assert second == "字"*length + " …" and third == "short"


def test_matrix_alone(planted):
    tree = pickle.loads(pickle.dumps(planted[1]))
    tree.vocab = None
    reader = Reader(tree)
    assert reader.details("0")["documents"][tree.typical("0", 1)[0]]["text"] == "" and reader.text(3) == ""
    assert all(w.isdecimal() for w, _ in reader.details("0")["terms"])
    data = read_page(to_html(tree))[1]
    assert data["index"]["ids"][:2] == ["0", "1"]


def test_typical_documents_differ(planted):
    corpus, tree = planted
    texts = ["a text that was sent on"]*360
    for k, i in enumerate(tree.typical("0", 20)[[3, 7, 8]]): texts[i] = f"another {k}"
    rows = tree.typical("0", 20)
    assert Reader(tree, texts).details("0", n_docs=4)["typical"] == rows[[0, 3, 7, 8]].tolist()
    for missing in ("", None): assert Reader(tree, [missing]*360).details("0", n_docs=4)["typical"] == rows[:4].tolist()


def test_corpus_brings_everything_but_what_is_given_wins(planted):
    corpus, tree = planted
    reader = Reader(tree, corpus, title="mine", ids=[f"d{i}" for i in range(360)])
    assert reader.title == "mine" and reader.name(3) == "d3" and len(reader.classes) == corpus.n_levels and reader.text(0) == corpus.texts[0]
    for wrong in (dict(texts=["a"]), dict(ids=["a"]), dict(labels=["a"]), dict(texts=Corpus(["a b", "c d"]))):
        with pytest.raises(ValueError, match=f"{'ids|texts' if 'texts' in wrong else [*wrong][0]} must have one entry"): Reader(tree, **wrong)


def test_page_is_whole_and_safe(planted):
    bad = "</script><!--<script>alert('x')</script><img src=x onerror=alert(1)> & \"quotes\""
    tree = pickle.loads(pickle.dumps(planted[1]))
    tree.vocab = [f"<i>{j}" for j in range(tree.n_terms)]
    tree.rename("0", bad)
    parser, data = read_page(tree.to_html([bad]*360, ids=[f"<b>{i}" for i in range(360)], labels=[bad]*360, title="a <title> & more"))
    assert parser.tags.count("script") == 3 and "img" not in parser.tags and parser.inside["title"] == ["a <title> & more"]
    assert data["documents"][str(tree.typical("0", 1)[0])]["text"] == bad and data["view"]["names"] == {"0": bad}
    assert data["nodes"]["0"]["labels"][0]["top"] == [[bad, tree["0"].size]]


def test_map_has_every_document_in_its_island(planted):
    corpus, tree = planted
    reader = Reader(tree, corpus)
    seen = json.loads(json.dumps(document_map(reader) | map_words(reader), allow_nan=False))
    assert [island[0] for island in seen["islands"]] == [leaf.id for leaf in tree.leaves()]
    assert seen["rows"] == np.flatnonzero(tree.labels() >= 0).tolist() and seen["island"] == tree.labels()[seen["rows"]].tolist()
    middle, radius = np.array([island[1:3] for island in seen["islands"]]), np.array([island[3] for island in seen["islands"]])
    far = np.hypot(*(np.array([seen["x"], seen["y"]]).T - middle[seen["island"]]).T)
    assert (far <= radius[seen["island"]] + 2).all()
    assert max(seen["width"], seen["height"]) == 4000 and (middle.T + radius <= [[seen["width"] + 2], [seen["height"] + 2]]).all() and (middle.T >= radius - 2).all()
    assert [len(keys) <= 6 for keys in seen["keys"]] == [True]*len(seen["rows"])
    for i, keys, begins in zip(seen["rows"], seen["keys"], seen["begins"]):
        assert {seen["words"][j] for j in keys} <= set(corpus.texts[i].lower().split()) and begins.rstrip(" …") == " ".join(corpus.texts[i].split())[:len(begins.rstrip(" …"))]


def test_a_document_goes_to_the_middle_of_what_it_has(planted):
    corpus, tree = planted
    leaves, place = tree.leaves(), np.random.default_rng(0).normal(size=(9, 2))
    shares = np.random.default_rng(1).dirichlet(np.ones(9), 360)
    np.testing.assert_allclose(_drawn(Reader(tree, shares=shares), leaves, place), shares @ place)
    for n in (9, 4):                                         # by the splits: a sibling's share goes to the mean of its leaves
        leaves = tree.leaves(n)
        drawn = _drawn(Reader(tree), leaves, place[:n])
        for k, leaf in enumerate(leaves):
            for i in leaf.docs[:5]:
                wanted, left = np.zeros(2), 1.
                for depth in range(len(leaf.id)):
                    node, side = tree[leaf.id[:depth]], int(leaf.id[depth])
                    w = node.split.W[list(node.docs).index(i)]*node.split.Ht.sum(0)
                    other = [j for j, l in enumerate(leaves) if l.id.startswith(node.id + "10"[side])]
                    wanted += left*w[1-side]/w.sum()*np.average(place[other], axis=0, weights=[leaves[j].size for j in other])
                    left *= w[side]/w.sum()
                np.testing.assert_allclose(drawn[i], wanted + left*place[k], atol=1e-6)


def test_words_of_documents_by_hand():
    texts = ["apple Apple pear", "pear plum", "plum pear", "pear fig"]
    tree = HierNMF2(2, max_outliers=None).fit(np.array([[2., 1, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 1, 0, 1]])).tree_
    tree.vocab = ["apple", "pear", "plum", "fig"]
    words, numbers = keywords(Reader(tree, texts), np.arange(4), n=1)
    assert [[words[j] for j in row] for row in numbers] == [["apple"], ["plum"], ["plum"], ["fig"]]
    counted = Corpus(X=np.array([[1, 2, 0], [1, 0, 1], [1, 0, 1], [1, 0, 0]]), vocab=["pear", "apple", "other"])
    words, numbers = keywords(Reader(tree, counted), np.arange(4), n=2)
    assert [[words[j] for j in row] for row in numbers] == [["apple", "pear"], ["pear"], ["pear"], ["pear"]]
    words, numbers = keywords(Reader(tree, counted), np.array([2, 0]), n=1)
    assert [[words[j] for j in row] for row in numbers] == [["pear"], ["apple"]]
    weights = sp.csr_array(np.array([[2., 1, 0, 0], [0, 1, 3, 0], [0, 3, 1, 0], [0, 0, 0, 0]]))
    words, numbers = keywords(Reader(tree, ["other words"]*4, weights=weights), np.arange(4), n=2)
    assert [[words[j] for j in row] for row in numbers] == [["apple", "pear"], ["plum", "pear"], ["pear", "plum"], []]
    with pytest.raises(ValueError, match=r"weights must be of 4 documents and 4 words, got shape \(4, 3\)"): Reader(tree, texts, weights=weights[:, :3])
    tree.vocab = None
    for reader in (Reader(tree, texts), Reader(tree, texts, weights=weights)): assert keywords(reader, np.arange(4)) == ([], [[]]*4)


def test_rarer_than_one_in_thirty_is_no_advantage():
    """Of sixty documents half have one word, six another, one a third, which weighs most, and 2.2 log 30/log 60 = 1.83 at one in thirty."""
    weights = np.zeros((60, 3))
    weights[::2, 0], weights[:6, 1], weights[0, 2] = 1., 2., 2.2
    tree = HierNMF2(2, max_outliers=None).fit(weights + [[1, 0, 0], [0, 1, 0]]*30).tree_
    tree.vocab = ["half", "six", "one"]
    words, numbers = keywords(Reader(tree, weights=sp.csr_array(weights)), np.arange(60))
    assert [words[j] for j in numbers[0]] == ["six", "one", "half"] and [words[j] for j in numbers[1]] == ["six"]


@pytest.mark.parametrize("seed", range(5))
def test_first_words_of_each_are_those_of_sorting_all(seed):
    "Many equal weights, documents without words, and documents with fewer words than are wanted"
    rng = np.random.default_rng(seed)
    counts = sp.random_array((60, 40), density=.15, rng=rng, format="csr", data_sampler=lambda size: rng.integers(1, 4, size))
    counts = sp.csr_array(counts.multiply(~np.isin(np.arange(60), [0, 7, 59])[:,None]))
    counts.eliminate_zeros()
    terms, of = counts.indices, np.repeat(np.arange(60), np.diff(counts.indptr))
    df = np.bincount(terms, minlength=40)
    wanted = []
    for i in range(60):
        mine = [(-round(float(w), 6), -df[j], j) for w, j in zip(np.log(counts.data[of == i]), terms[of == i])]
        wanted += [(i, j) for *_, j in sorted(mine)[:3]]
    found, docs = _first_of_each(terms, of, np.log(counts.data), df, 3)
    assert list(zip(docs, found)) == wanted
    none = np.zeros(0, int)
    assert [len(a) for a in _first_of_each(none, none, none, df, 3)] == [0, 0]


def test_map_of_many_documents_and_topics_shows_some(planted):
    seen = document_map(Reader(planted[1], planted[0]), most=50, n_islands=4)
    assert len(seen["rows"]) == len(seen["x"]) == 50 and len(seen["islands"]) == 4
    assert set(seen["island"]) == {0, 1, 2, 3} and len(set(seen["rows"])) == 50
    assert map_words(Reader(planted[1]), 7) == dict(words=[], keys=[[]]*7) and set(document_map(Reader(planted[1]))["begins"]) == {""}


def test_page_fetches_nothing(planted):
    text = planted[1].to_html(planted[0])
    assert not re.search(r"https?:|//[a-z]|@import|url\(|\bsrc=|<link|fetch\(|XMLHttp|WebSocket|import\(", text)


def test_titles_are_those_of_the_cut(planted):
    tree = planted[1]
    for n in (1, 4, 9, 50):
        cut = tree.leaves(min(n, 9))
        for title, k in zip(titles(tree, n), tree.labels(min(n, 9))): assert title == (None if k < 0 else tree.title(cut[k]))


def test_index_leads_to_leaves_and_ranks(planted):
    corpus, tree = planted
    found = index(Reader(tree, corpus), n_terms=5)
    ids = [node.id for node in tree]
    assert [ids[k] for k in found["ways"]] == [tree.path(i)[-1].id for i in range(360)]
    assert {(w, id, r) for w, at in found["words"].items() for id, r in at} == \
           {(w, node.id, r) for node in tree for r, w in enumerate(tree.top_terms(node, n=5), 1)}


def test_support_is_told_if_it_is_known(planted):
    corpus, tree = planted[0], pickle.loads(pickle.dumps(planted[1]))
    plain = Reader(tree, corpus)
    assert plain.overview()["weak"] is None and "stays" not in index(plain) and plain.details("0")["stays"] == {} and plain.placed(3)["stays"] is None
    ids = tuple(tree.nodes)[1:]                                    # nothing is known of the root
    docs = np.linspace(0, 1, 360)
    docs[7] = np.nan
    tree.support = Support(ids, np.linspace(1, 0, len(ids)), docs, np.ones((1, len(ids))))
    about = Reader(tree, corpus).overview()
    assert about["weak"] == .6 and "support" not in about["nodes"][0]
    assert all(node["support"] == round(tree[node["id"]].support, 6) for node in about["nodes"][1:])
    stays = index(Reader(tree, corpus))["stays"]
    assert stays[7] is None and [n for n in stays if n is not None] == [round(100*round(share, 2)) for share in np.delete(docs, 7)]
    seen = Reader(tree, corpus).details("0")
    assert all(seen["stays"].get(i) == (None if i == 7 else round(docs[i], 2)) for i in seen["documents"])
    assert Reader(tree, corpus).placed(7)["stays"] is None and Reader(tree, corpus).placed(8)["stays"] == round(docs[8], 2)


def test_page_begins_with_the_view_given(planted):
    view = dict(selected="00", outline=False, leaves=4, unfolded=["", "0"])
    data = read_page(page(Reader(planted[1], planted[0]), **view))[1]
    assert data["view"] == view | dict(names={})


@pytest.fixture
def outlined(planted):
    "The tree with headings and two levels"
    tree = pickle.loads(pickle.dumps(planted[1]))
    tree.headings, tree.levels = find_headings(tree, 6), (3, 9)
    return tree


def test_levels_are_those_of_the_tree_unless_others_are_given(outlined):
    assert Reader(outlined).overview()["levels"] == [3, 9]
    for given, shown in [((), []), ((1,), []), ((9, 4, 4, 20, 1), [4, 9]), (5, [5]), (np.array([2, 3]), [2, 3])]:
        data = read_page(to_html(outlined, levels=given))[1]
        assert data["tree"]["levels"] == shown and data["view"]["outline"] == bool(shown)
    with pytest.raises(ValueError, match="levels must be"): to_html(outlined, levels=(0, 3))
    outlined.levels = ()
    assert Reader(outlined).overview()["levels"] == [] and not read_page(to_html(outlined))[1]["view"]["outline"]


def test_outline_opens_if_it_goes_on_a_screen(outlined):
    def seen_first(most): return set(first_view(outlined, levels=[3, 9], most=most)["unfolded"])
    level = {node.id for node in outlined.leaves(3) if node.children}
    assert seen_first(9) == {*outlined.splits[:2]} | level and seen_first(8) == {*outlined.splits[:2]}


def test_headings_are_told_where_there_are_some(outlined, planted):
    for node in Reader(outlined).overview(n_terms=5)["nodes"]:
        assert node.get("heading") == (outlined.headings[node["id"]][:5] if node["id"] else None)
        assert node.get("titled") == ((6 if outlined[node["id"]].children else 3) if node["id"] else None)
    assert not any("heading" in node or "titled" in node for node in Reader(planted[1]).overview()["nodes"])
    outlined.headings = {"0": ["x"*1_000_000]}
    assert len(json.dumps(Reader(outlined).overview())) < 10_000


def test_one_leaf_is_a_tree():
    X = sp.csr_matrix(np.eye(4)[[0, 0, 1, 1]])
    tree = HierNMF2(1).fit(X).tree_
    data = read_page(to_html(tree))[1]
    assert data["view"]["leaves"] == 1 and data["index"]["ways"] == [0]*4


def test_outliers_are_seen_where_they_were_dropped(planted):
    X = count_pipeline().fit_transform(planted[0].X)
    X = sp.csr_matrix(sp.vstack([X, sp.csr_matrix(X.shape, dtype=X.dtype)[:1]]))
    with pytest.warns(UserWarning, match="empty"): tree = HierNMF2(3).fit(X).tree_
    reader = Reader(tree)
    assert 360 in reader.details("")["dropped"] and reader.find("360")["documents"][360]["way"] == ""
    assert index(reader)["ways"][360] == 0


def test_long_words_names_and_labels_are_on_the_page_once(planted):
    n = 200_000
    corpus, long, tree = planted[0], "x"*n, pickle.loads(pickle.dumps(planted[1]))
    words = list(tree.vocab)
    most = int(tree.root_topic.argmax())
    words[most] = long
    tree.vocab = words
    assert sum(node.topic[most] > 0 for node in tree) > 5
    ids, labels = [str(i) for i in range(360)], ["a", "b", "c"]*120
    small = len(tree.to_html(corpus.texts, ids, labels)) - n
    ids[tree.typical("0", 1)[0]], labels[0], labels[3] = ("y"*n,)*3
    tree.rename("1", "z"*n)
    text = to_html(tree, corpus.texts, ids, labels, title="t"*n)
    assert len(text) < small + 3*n + 20_000 and all(text.count(letter*(n - 1)) == 1 for letter in "xyz")
    reader = Reader(tree, corpus.texts, ids, labels, title="t"*n)
    for told in (reader.overview(), reader.details("0"), reader.details(""), reader.find("x"*50), reader.find("y"*50)):
        assert len(json.dumps(told)) < 60_000
    assert reader.find("x"*50)["words"][0][0].startswith("xxx") and len(reader.find("y"*50)["documents"]) == 1
    assert reader.find(long)["words"][0][1] == [[node.id, rank] for node, _, rank in tree.find(most)]
