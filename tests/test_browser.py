"""The page and the explorer in a real browser; skipped, saying so, where Playwright or Chromium is missing"""
import csv
import io
import json
import os
import pickle
import re
from pathlib import Path

import browser as web
import numpy as np
import pytest

from nmf2.data import load, planted_tree
from nmf2.exports import json_schema
from nmf2.formats import as_cell
from nmf2.hier import HierNMF2
from nmf2.page import Reader, document_map, map_words
from nmf2.headings import find_headings
from nmf2.topictree import TopicTree
from nmf2.weighting import count_pipeline, text_pipeline
from nmf2.widgets import TreeExplorer

ROOT = Path(__file__).resolve().parent.parent
WIDTHS = dict(wide=1280, narrow=390)


@pytest.fixture(scope="module")
def chromium():
    try:
        with web.chromium() as browser: yield browser
    except web.Missing as e: pytest.skip(str(e))


@pytest.fixture(scope="module")
def tree_page(tmp_path_factory):
    "The page of a tree on disk, the tree, and its corpus"
    docs, weigh = load("library-docs"), text_pipeline(max_df=.2)
    tree = HierNMF2(12, random_state=0).fit(weigh.fit_transform(docs.texts)).tree_
    tree.vocab = weigh.get_feature_names_out()
    file = tmp_path_factory.mktemp("page")/"tree.html"
    file.write_text(tree.to_html(docs), encoding="utf-8")
    return file, tree, docs


@pytest.fixture(params=["wide", "narrow"])
def opened(request, chromium, tree_page):
    with web.page(chromium, WIDTHS[request.param]) as page:
        page.goto(tree_page[0].as_uri())
        yield page
        assert page.errors == [] and page.requests == [tree_page[0].as_uri()]


def is_narrow(page): return page.viewport_size["width"] < 500


def back(page):
    "Back to the tree, where there is room for one pane only"
    if is_narrow(page): page.click(".back")


def frame(page):
    "Wait until everything is drawn"
    page.evaluate("() => new Promise(requestAnimationFrame)")


def rows(page):
    frame(page)
    return page.eval_on_selector_all(".row[data-id]", "rows => rows.map(row => row.dataset.id)")
def chosen(page): return page.get_attribute(".row[aria-selected=true]", "data-id")


def test_page_unfolds(opened, tree_page):
    tree = tree_page[1]
    assert rows(opened) == [node.id for node in tree]                     # 11 splits, all unfolded
    expanded = lambda id: opened.get_attribute(f".row[data-id='{id}']", "aria-expanded")
    opened.click("text=fold all >> nth=1")
    assert rows(opened) == [""] and expanded("") == "false"
    opened.click(".row .fold")
    assert rows(opened) == ["", "0", "1"] and (expanded(""), expanded("0"), expanded("1")) == ("true", "false", None)
    assert opened.get_attribute(".row[data-id='0']", "aria-level") == "2" and opened.get_attribute(".row[data-id='0']", "role") == "treeitem"
    if is_narrow(opened):                                                  # one pane at a time
        opened.click(".row[data-id='0']")
        assert not opened.is_visible(".row") and opened.is_visible(".node")
        back(opened)
        opened.click(".row[data-id='0'] .fold")
    else: opened.dblclick(".row[data-id='0'] b")
    assert rows(opened) == ["", "0", "00", "01", "1"] and chosen(opened) == "0"
    opened.click("text=unfold all")
    assert rows(opened) == [node.id for node in tree]


def test_page_tells_about_a_node(opened, tree_page):
    _, tree, docs = tree_page
    opened.click(".row[data-id='00']")
    text = opened.inner_text(".node")
    assert tree.title("00") in text and f"{tree['00'].size:,} documents" in text
    for word in tree.top_terms("00", n=15) + [w for w, _ in tree.contrast("01", 7)]: assert word in text
    for i in tree.typical("00", 5): assert docs.ids[i] in text
    opened.click(".node summary >> nth=0")
    assert opened.inner_text(".node .text:not(:empty)").split()[:30] == docs.texts[tree.typical("00", 1)[0]].split()[:30]


class Rows:
    "What the keys do to the rows of a tree: where one is, and which rows are folded"
    def __init__(self, tree): self.tree, self.here, self.folded = tree, "", set()

    def shown(self): return [node.id for node in self.tree if not any(node.id != id and node.id.startswith(id) for id in self.folded)]

    def press(self, key):
        shown, inner, closed = self.shown(), bool(self.tree[self.here].children), self.here in self.folded
        if key == "ArrowDown": self.here = shown[min(shown.index(self.here) + 1, len(shown) - 1)]
        elif key == "ArrowUp": self.here = shown[max(shown.index(self.here) - 1, 0)]
        elif key in ("Home", "End"): self.here = shown[0 if key == "Home" else -1]
        elif key == " " and inner: self.folded ^= {self.here}
        elif key == "ArrowLeft" and inner and not closed: self.folded.add(self.here)
        elif key == "ArrowLeft": self.here = self.here[:-1]
        elif key == "ArrowRight" and closed: self.folded.discard(self.here)
        elif key == "ArrowRight" and inner: self.here += "0"


def test_page_without_a_mouse(opened, tree_page):
    opened.focus(".row[data-id='']")
    by_hand = Rows(tree_page[1])
    for key in ["ArrowDown", "ArrowDown", "ArrowLeft", "ArrowDown", "ArrowLeft", "ArrowLeft", "End", "ArrowUp", "Home", "ArrowRight", " ", "ArrowDown",
                "ArrowUp", "ArrowRight", "ArrowRight"]:
        opened.keyboard.press(key)
        by_hand.press(key)
        assert chosen(opened) == by_hand.here, key
        assert rows(opened) == by_hand.shown(), key
        assert opened.evaluate("document.activeElement.dataset.id") == by_hand.here
    opened.keyboard.press("/")
    assert opened.evaluate("document.activeElement.type") == "search"


def test_page_cuts_the_tree(opened, tree_page):
    tree = tree_page[1]
    opened.click(f".row[data-id='{tree.splits[-1]}0']")                     # the first to disappear
    back(opened)
    opened.focus("input[type=range]")
    for n in (11, 10, 9):
        opened.keyboard.press("ArrowLeft")
        shown = rows(opened)
        assert [id for id in shown if not any(other.startswith(id) and other != id for other in shown)] == [leaf.id for leaf in tree.leaves(n)]
        assert opened.evaluate("document.activeElement.type") == "range" and chosen(opened) == tree.splits[-1]


def test_page_finds_words_and_documents(opened, tree_page):
    _, tree, docs = tree_page
    opened.fill("input[type=search]", "eigenvalue")
    opened.wait_for_selector(".found >> text=eigenvalue")
    first = opened.inner_text(".found p:not(.called) >> nth=0")
    assert first.startswith("eigenvalue") and not first.startswith("eigenvalues") and "no. " in first
    assert opened.locator(".rank").count() > 0
    opened.fill("input[type=search]", "scipy.linalg.svd")
    opened.click(".found button >> text=scipy.linalg.svd >> nth=0")
    i = list(docs.ids).index("scipy.linalg.svd")
    assert chosen(opened) == tree.path(i)[-1].id and "scipy.linalg.svd" in opened.inner_text(".node details >> nth=0")
    back(opened)
    opened.fill("input[type=search]", "qqq")
    opened.wait_for_selector(".found >> text=No document or topic is called")
    assert "in the first 1,500 letters of the " in opened.inner_text(".found")


def test_page_reaches_what_was_cut_off(opened, tree_page):
    tree = tree_page[1]
    deep = tree.splits[-1] + "0"
    opened.focus("input[type=range]")
    opened.keyboard.press("Home")
    opened.fill("input[type=search]", tree.top_terms(deep, n=1)[0])
    opened.wait_for_selector(".found button")
    ids = [node.id for node, *_ in tree.find(tree.top_terms(deep, n=1)[0]) if len(node.id) > 2]
    titles = opened.locator(".found p:not(.called) >> nth=0 >> button").all_inner_texts()
    wanted = next(id for id in ids if titles.count(tree.title(id)) == 1)                # others may have the same title
    opened.click(f".found p:not(.called) button >> nth={titles.index(tree.title(wanted))}")
    assert chosen(opened) == wanted and int(opened.input_value("input[type=range]")) == tree.splits.index(wanted[:-1]) + 2


@pytest.fixture
def mapped(opened, tree_page):
    "The page with the map, what is on the map, and a function that tells where a dot is on the screen"
    opened.click('text="Map"')
    opened.wait_for_selector(".island", state="attached")
    opened.wait_for_function("document.querySelector('.sea canvas').width > 300 || devicePixelRatio < 1")
    reader = Reader(tree_page[1], tree_page[2])
    seen, box = document_map(reader) | map_words(reader), opened.locator(".sea").bounding_box()
    k = min((box["width"] - 12)/seen["width"], (box["height"] - 12)/seen["height"])
    def spot(x, y): return (box["x"] + (box["width"] - k*seen["width"])/2 + k*x, box["y"] + (box["height"] - k*seen["height"])/2 + k*y)
    return opened, seen, spot


def dot(seen, row): return seen["x"][seen["rows"].index(row)], seen["y"][seen["rows"].index(row)]


def test_a_dot_tells_its_document_and_leads_to_its_topic(mapped, tree_page):
    page, seen, spot = mapped
    _, tree, docs = tree_page
    assert not page.is_visible(".tree") and not page.is_visible(".picture") and not page.is_visible("text=unfold all")
    assert page.locator(".island").evaluate_all("all => all.map(island => island.textContent)") == [tree.title(leaf).replace(", ", "") for leaf in tree.leaves()]
    leaf = tree.leaves()[3]
    i = next(i for i in leaf.docs if i in seen["rows"])
    page.mouse.move(*spot(*dot(seen, i)))
    assert page.inner_text(".tip b") == docs.ids[i] and tree.title(leaf) in page.inner_text(".tip") and docs.texts[i].split()[0] in page.inner_text(".tip")
    page.mouse.click(*spot(*dot(seen, i)))
    page.wait_for_selector(f".node summary >> text={docs.ids[i]}")
    assert chosen(page) == leaf.id and page.locator(".node h2").inner_text() == tree.title(leaf)
    back(page)
    assert page.is_visible(".sea") and page.get_attribute(".island[aria-selected=true]", "data-island") == leaf.id


def test_a_line_around_dots_lists_their_documents(mapped, tree_page):
    page, seen, spot = mapped
    _, tree, docs = tree_page
    island = max(seen["islands"], key=lambda island: island[3])
    x, y, r = island[1:4]
    corners = [(x - r, y - r), (x + r, y - r), (x + r, y), (x - r, y)]                      # its upper half
    page.mouse.move(*spot(*corners[0]))
    page.mouse.down()
    for corner in corners[1:] + corners[:1]: page.mouse.move(*spot(*corner), steps=3)
    page.mouse.up()
    page.wait_for_selector(".node >> text=chosen")
    inside = {i for i, a, b in zip(seen["rows"], seen["x"], seen["y"]) if abs(a - x) < r and y - r < b < y}
    assert abs(int(page.inner_text(".node h2").split()[0].replace(",", "")) - len(inside)) <= .02*len(inside) + 1       # pixels are coarse
    listed = page.locator(".node summary b").all_inner_texts()
    assert len(listed) == 15 and all(dot(seen, list(docs.ids).index(id))[1] < y + 40 for id in listed)
    words = page.locator(".node .bars >> nth=0 >> .word").all_inner_texts()
    here = [set(seen["words"][j] for j in seen["keys"][seen["rows"].index(i)]) for i in inside]
    share = lambda word, sets: sum(word in some for some in sets)/len(sets)
    assert len(words) == 15 and all(share(word, here) > share(word, [{seen["words"][j] for j in keys} for keys in seen["keys"]]) for word in words)
    topic = page.locator(".node .bars.wide button").first
    assert topic.inner_text() == tree.title(island[0])
    topic.click()
    assert chosen(page) == island[0] and page.locator(".node h2").inner_text() == tree.title(island[0])


def test_the_map_without_a_mouse(mapped, tree_page):
    page, seen, spot = mapped
    tree = tree_page[1]
    page.locator(".island[tabindex='0']").focus()
    page.keyboard.press("Home")
    assert chosen(page) == tree.leaves()[0].id
    been, island = [], {island[0]: island for island in seen["islands"]}
    for key, axis, sign in [("ArrowRight", 1, 1), ("ArrowDown", 2, 1), ("ArrowLeft", 1, -1), ("ArrowUp", 2, -1)]*2:
        before = chosen(page)
        page.keyboard.press(key)
        if chosen(page) != before:
            been.append(key)
            assert sign*(island[chosen(page)][axis] - island[before][axis]) > 0
        assert page.evaluate("document.activeElement.dataset.island") == chosen(page)
    assert len(set(been)) >= 3
    page.keyboard.press("Enter")
    assert page.locator(".node h2").inner_text() == tree.title(chosen(page))


@pytest.fixture(scope="module")
def outline_page(tree_page, tmp_path_factory):
    "The page of the tree with headings and levels, the tree, and its corpus"
    tree = pickle.loads(pickle.dumps(tree_page[1]))
    tree.headings, tree.levels = find_headings(tree, 6), (4, 9)
    tree.rename("1", "drawing")
    file = tmp_path_factory.mktemp("outline")/"tree.html"
    file.write_text(tree.to_html(tree_page[2]), encoding="utf-8")
    return file, tree, tree_page[2]


@pytest.fixture(params=["wide", "narrow"])
def outlined(request, chromium, outline_page):
    with web.page(chromium, WIDTHS[request.param]) as page:
        page.goto(outline_page[0].as_uri())
        yield page
        assert page.errors == [] and page.requests == [outline_page[0].as_uri()]


def brief(tree, node): return ", ".join(tree.heading(node, 3))      # what a node is called where it stands among others

def in_outline(tree):
    "Node and depth of each row: the nodes of a cut, the largest first, below each those of the next cut that are in it and not it"
    lines = [("", 0)]
    for top in sorted(tree.leaves(4), key=lambda node: -node.size):
        lines.append((top.id, 1))
        inside = [node for node in tree.leaves(9) if node.id.startswith(top.id) and node is not top]
        lines += [(node.id, 2) for node in sorted(inside, key=lambda node: -node.size)]
    return lines


def levels_of(page): return page.eval_on_selector_all(".row[data-id]", "rows => rows.map(row => [row.dataset.id, row.ariaLevel - 1])")


def test_outline_is_shown_first_and_all_splits_on_a_click(outlined, outline_page):
    tree = outline_page[1]
    pressed = lambda: [outlined.get_attribute(f"text={name}", "aria-pressed") for name in ("Outline", "All splits")]
    assert levels_of(outlined) == [list(line) for line in in_outline(tree)] and pressed() == ["true", "false"]
    assert not outlined.is_visible("input[type=range]")
    outlined.click("text=All splits")
    outlined.click("text=unfold all")
    assert rows(outlined) == [node.id for node in tree] and pressed() == ["false", "true"] and outlined.is_visible("input[type=range]")
    outlined.click("text=Outline")
    assert levels_of(outlined) == [list(line) for line in in_outline(tree)]
    outlined.click("text=fold all >> nth=1")
    assert rows(outlined) == [""]
    outlined.click("text=unfold all")
    assert levels_of(outlined) == [list(line) for line in in_outline(tree)]


def test_outline_goes_by_headings_and_names(outlined, outline_page):
    tree = outline_page[1]
    for id, _ in in_outline(tree): assert outlined.inner_text(f".row[data-id='{id}'] b") == tree.title(id)
    assert outlined.inner_text(".row[data-id='1'] b") == "drawing"
    leaf = next(id for id, depth in in_outline(tree) if depth == 2)
    outlined.focus(".row[data-id='']")
    for _ in range([id for id, _ in in_outline(tree)].index(leaf)): outlined.keyboard.press("ArrowDown")
    assert chosen(outlined) == leaf
    if is_narrow(outlined): outlined.keyboard.press("Enter")
    outlined.wait_for_selector(".node h2")
    assert outlined.locator(".node h2").text_content() == tree.title(leaf)
    word = tree.top_terms(leaf, n=1)[0]
    assert word in outlined.locator(".node .bars .word").all_text_contents()                    # the heaviest words are here
    parts = [part for part in in_outline(tree) if part[1] == 1]
    top = next(id for id, _ in parts if leaf.startswith(id))
    assert outlined.locator(".node nav button").all_text_contents() == ["all documents", brief(tree, top)]
    if is_narrow(outlined): outlined.keyboard.press("Escape")
    outlined.keyboard.press("ArrowLeft")
    assert chosen(outlined) == top


def test_outline_finds_topics_of_its_own_and_siblings_beyond(outlined, outline_page):
    tree = outline_page[1]
    own = [id for id, _ in in_outline(tree)]
    outlined.fill("input[type=search]", "eigenvalue")
    outlined.wait_for_selector(".found p >> text=no. ")
    titles = outlined.locator(".found p:not(.called) >> nth=0 >> button").all_text_contents()
    assert titles == [brief(tree, node) for node, _, rank in tree.find("eigenvalue") if node.id in own and rank <= 100][:6]
    outlined.fill("input[type=search]", "")
    outlined.wait_for_selector(".found", state="hidden")                    # what is below moves up then, away from under a click
    other = next(node for node in tree if node.id and node.id not in own and node.children)
    sibling = other.parent.children[other.id[-1] == "0"].id
    outlined.evaluate("id => document.querySelector(`.row[data-id='${id}']`).click()", sibling)
    outlined.locator(".node h3 button").filter(has_text=brief(tree, other)).first.click()
    outlined.wait_for_selector(f".row[data-id='{other.id}'][aria-selected=true]", state="attached")
    assert chosen(outlined) == other.id and outlined.get_attribute("text=All splits", "aria-pressed") == "true"
    back(outlined)
    outlined.click("text=Outline")
    assert chosen(outlined) in own and other.id.startswith(chosen(outlined))


@pytest.fixture(scope="module")
def whole_page(tmp_path_factory):
    "A page with all texts and columns, and the reader that has the same"
    corpus = planted_tree((2, 2), n_docs=120, texts=True, random_state=0)
    corpus.texts[3] = "The <b>Space\n\tSHUTTLE</b> " + "again, the space shuttle and spaceshuttles "*9
    corpus.texts[8] = "Ünder the SPACE\nshuttle"
    weigh = count_pipeline(vocab=corpus.vocab)
    tree = HierNMF2(4).fit(weigh.fit_transform(corpus.X)).tree_
    tree.vocab = weigh.get_feature_names_out()
    columns = dict(source=["web", "mail"]*60, day=np.datetime64("2020-01-30") + np.arange(120)//6)
    file = tmp_path_factory.mktemp("whole")/"tree.html"
    file.write_text(tree.to_html(corpus, n_docs=120, length=10_000, columns=columns), encoding="utf-8")
    return file, Reader(tree, corpus, columns=columns)


@pytest.fixture
def whole(chromium, whole_page):
    with web.page(chromium) as page:
        page.goto(whole_page[0].as_uri())
        yield page
        assert page.errors == []


@pytest.mark.parametrize("query", ["space shuttle", "SHUTTLE", "ünder the", "<b>", "shuttles again", "term1", "(", "e", "ü", "<"])
def test_page_searches_texts_as_the_kernel_does(whole, whole_page, query):
    found = whole.evaluate('''text => pageHost(JSON.parse(document.getElementById('contents').textContent)).ask('find', text)''', query)
    wanted = json.loads(json.dumps(whole_page[1].find(query)["texts"]))
    assert found["texts"]["count"] == wanted["count"]
    assert [i for i, _ in found["texts"]["documents"]] == [i for i, _ in wanted["documents"]] and found["texts"]["rows"] == wanted["rows"]
    for (_, mine), (_, theirs) in zip(found["texts"]["documents"], wanted["documents"]):
        assert (mine["text"], mine["way"], mine["id"]) == (theirs["text"], theirs["way"], theirs["id"]) and abs(mine["sure"] - theirs["sure"]) <= .01


def test_letters_stand_for_others_on_the_page_as_in_the_kernel(whole):
    from nmf2.languages import POINT, POINTS
    from nmf2.page import _bare, _pattern
    words = ["strasse", "straße", "STRASSE", "STRAẞE", "Łódź", "lodz", "æther", "aether", "Naïve", "naive", "smørrebrød", "smorrebrod", "ılık", "ilik", "s", "ß",
             "İçerik", "içerik", "زَيْنَبَ", "زينب", "أُمّ", "أم", "שָׁלוֹם", "שלום"]
    assert whole.evaluate("POINTS") == POINTS
    for query in words:
        if "ı" in query: continue                                 # it is an i as well where Python leaves case out, and not so in JavaScript
        found = whole.evaluate("([query, words]) => words.map(word => word.search(patternOf(query)) >= 0)", [query, words])
        assert found == [bool(_pattern(POINT.sub("", query.lower().replace("i̇", "i"))).search(word)) for word in words], query
        assert whole.evaluate("word => bare(word.toLowerCase())", query) == _bare(query.lower())


def test_words_are_marked_whatever_points_their_letters_have(whole):
    def marked(words, text): return whole.evaluate("([words, text]) => text.match(patternOfWords(words)) || []", [words, text])
    assert marked(["زينب", "أم", "içerik"], "عَنْ زَيْنَبَ زَيْنَبان أُمِّ İçerik içerikler") == ["زَيْنَبَ", "أُمِّ", "İçerik"]
    assert marked(["שלום", "naive"], "שָׁלוֹם naïve NAIVE שלומי") == ["שָׁלוֹם", "NAIVE"]
    found = whole.evaluate("([name, query]) => new RegExp(plainly(bare(query)), 'iu').test(bare(name).normalize('NFC'))", ["축구 أُمَّة", "أمة"])
    assert found and whole.evaluate("new RegExp(plainly(bare('축구')), 'iu').test(bare('축구').normalize('NFC'))")


def test_search_looks_at_how_the_other_texts_begin(opened, tree_page):
    "Most texts are not on the page as a whole; how they begin is in the map"
    listed = opened.evaluate("Object.keys(inPage('contents').documents).map(Number)")
    begins = opened.evaluate("(m => m.rows.map((i, k) => [i, m.begins[k]]))(inPage('map'))")
    others = [(i, text.removesuffix(" …")) for i, text in begins if i not in listed and text]
    wanted = next(text[:40] for _, text in others if len(text) >= 40 and sum(text[:40] in other for _, other in begins) == 1)
    opened.fill("input[type=search]", wanted)
    opened.wait_for_selector(".found mark")
    assert f"In the text of 1 document of the {len(begins):,} that are on this page, {len(others):,} of them only as they begin" in opened.inner_text(".found")
    row, = (i for i, text in others if wanted in text)
    assert opened.locator(".found div >> nth=-1 >> button").all_inner_texts() == [tree_page[2].ids[row]]
    opened.fill("input[type=search]", "nothing that stands here")
    opened.wait_for_selector(".found >> text=nor in how")
    assert f"letters of the {len(listed):,} texts on this page, nor in how the other {len(others):,} begin." in opened.inner_text(".found")


def test_words_are_marked_in_texts(whole, whole_page):
    reader = whole_page[1]
    whole.fill("input[type=search]", "space shuttle")
    whole.wait_for_selector(".found mark")
    assert "In the text of 2 documents of the 120 that are on this page" in whole.inner_text(".found")
    assert whole.locator(".found div >> nth=-1 >> button").all_inner_texts() == [reader.name(3), reader.name(8)]
    assert {" ".join(mark.split()).lower() for mark in whole.locator(".found mark").all_text_contents()} == {"space shuttle"}
    whole.click(".found div >> nth=-1 >> button >> nth=0")
    whole.wait_for_selector(".node .text mark")
    assert chosen(whole) == reader.tree.path(3)[-1].id and whole.locator(".node .text mark").count() == 10
    assert whole.locator(".node .text").first.text_content() == reader.text(3)
    whole.click(".row[data-id='0']")
    whole.wait_for_selector(".node .begins mark")
    words = {word for word, _ in reader.details("0")["terms"]}
    assert {mark.lower() for mark in whole.locator(".node mark").all_text_contents()} <= words


def test_documents_say_how_sure_they_are(whole, whole_page):
    seen = whole_page[1].details("0", n_docs=120)
    whole.click(".row[data-id='0']")
    notes = whole.locator(".node details summary").all_inner_texts()
    def percent(note, pattern): return float(re.search(pattern, note)[1])
    for note, i in zip(notes, seen["typical"]): assert percent(note, r"^\S+ (\d+)\xa0%") == pytest.approx(100*seen["sure"][i], abs=.51)
    for note, i, share in zip(notes[len(seen["typical"]):], seen["borderline"], seen["shares"]):
        assert percent(note, r"^\S+ (\d+)\xa0% here") == pytest.approx(100*share, abs=.51) and note.count("\xa0%") == 1       # among all, it is the same
    seen = whole_page[1].details("00", n_docs=120)
    whole.click(".row[data-id='00']")
    whole.wait_for_selector(".node [data-node='00'] h3")
    notes = whole.locator(".node details summary").all_inner_texts()
    for note, i, share in zip(notes[len(seen["typical"]):], seen["borderline"], seen["shares"]):
        assert percent(note, r"^\S+ (\d+)\xa0% here") == pytest.approx(100*share, abs=.51)
        assert percent(note, r"here\s+(\d+)\xa0%") == pytest.approx(100*seen["sure"][i], abs=.51)


def test_columns_are_drawn(whole, whole_page):
    classes, times = whole_page[1].details("1")["columns"]
    whole.click(".row[data-id='1']")
    whole.wait_for_selector(".node nav >> text=all documents")
    bars = whole.eval_on_selector_all(".times i", "bars => bars.map(bar => [bar.getBoundingClientRect().height, bar.title])")
    highest = max(height for height, _ in bars)
    for (height, title), count in zip(bars, times["counts"], strict=True):
        assert height/highest == pytest.approx(count/max(times["counts"]), abs=.03) and title.endswith(f": {count}")
    assert "from 2020-01-30 to 2020-02-18" in whole.get_attribute(".times", "aria-label")
    for name, count in classes["top"]: assert f"{name}\n{count}" in whole.inner_text(".node details:has-text('source')")


def parts(page): return {id: dict(zip(("x", "y", "width", "height", "chosen", "title", "label"), rest)) for id, *rest in page.eval_on_selector_all(
    ".part", '''parts => parts.map(part => { const {x, y, width, height} = part.getBoundingClientRect()
    return [part.dataset.part, x, y, width, height, part.ariaSelected == "true", part.title, part.ariaLabel] })''')}


def test_overview_has_parts_as_large_as_their_topics(outlined, outline_page):
    tree, seen = outline_page[1], parts(outlined)
    lines = in_outline(tree)[1:]
    assert [*seen] == [id for id, _ in lines]
    whole = sum(seen[id]["height"] for id, depth in lines if depth == 1)
    for id, depth in lines:
        about = f"{tree[id].size:,} documents, {100*tree[id].size/tree.n_docs:.0f}\xa0%"
        assert seen[id]["title"] == f"{tree.title(id)}\n{about}" and seen[id]["label"] == f"{tree.title(id)}, {about}"
        assert seen[id]["height"]/whole == pytest.approx(tree[id].size/tree[""].size, abs=.01)
        inside = [part for part, other in lines if other == depth + 1 and part.startswith(id)]
        assert sum(seen[part]["height"] for part in inside) == pytest.approx(seen[id]["height"] if inside else 0, abs=.5)


@pytest.mark.parametrize("height", [700, 850, 1000])
def test_titles_in_the_overview_have_as_many_lines_as_there_is_room_for(chromium, outline_page, height):
    page = chromium.new_page(viewport=dict(width=1300, height=height))
    page.goto(outline_page[0].as_uri())
    page.wait_for_selector(".part b")
    rows = page.evaluate("""() => [...document.querySelectorAll(".part")].map(part => {
        const title = part.querySelector("b"), number = part.querySelector(".soft"), style = getComputedStyle(part)
        title.textContent = "some words ".repeat(40)
        const room = part.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom)
        return [room, title.offsetHeight, number ? number.offsetHeight : 0, title.scrollHeight - title.clientHeight] })""")
    page.close()
    shown = [(room, title, number) for room, title, number, _ in rows if title]
    assert all(hidden > 0 for _, title, _, hidden in rows if 15 < title < 120) and any(title > 30 for _, title, _ in shown)
    for room, title, number in shown:
        assert title + number <= room + 1 and (room - title - number < 15.5 or title >= 120), (room, title, number)


def test_overview_and_rows_choose_the_same(outlined, outline_page):
    tree, lines = outline_page[1], in_outline(outline_page[1])
    tops = [id for id, depth in lines if depth == 1]
    wide = next(id for id in tops if any(part.startswith(id) and depth == 2 for part, depth in lines))
    inside = [id for id, depth in lines if depth == 2 and id.startswith(wide)]
    outlined.click(f"[data-part='{wide}']")
    back(outlined)
    outlined.focus(f"[data-part='{wide}']")
    def here(): return chosen(outlined), [id for id, part in parts(outlined).items() if part["chosen"]], outlined.evaluate("document.activeElement.dataset.part")
    assert here() == (wide, [wide], wide)
    for key, id in [("ArrowRight", inside[0]), ("ArrowDown", inside[1]), ("ArrowUp", inside[0]), ("ArrowLeft", wide), ("Home", tops[0]), ("End", tops[-1])]:
        outlined.keyboard.press(key)
        assert here() == (id, [id], id), key
    assert outlined.locator(".node h2").text_content() == tree.title(tops[-1])
    outlined.focus(f".row[data-id='{tops[-1]}']")
    outlined.keyboard.press("Home")
    assert here()[:2] == ("", [])
    assert outlined.locator(".part[tabindex='0']").count() == 1
    outlined.evaluate("document.querySelectorAll('.pair button')[1].click()")
    hidden = next(node.id for node in tree if node.id not in dict(lines))
    outlined.evaluate("document.querySelectorAll('.bar-of-tools > button')[0].click()")
    outlined.evaluate("id => document.querySelector(`.row[data-id='${id}']`).click()", hidden)
    over = [id for id, _ in lines if hidden.startswith(id)]
    assert here()[:2] == (hidden, [max(over, key=len)] if over != [""] else [])


def test_page_fits_its_window(opened):
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_page_follows_the_room(chromium, tree_page):
    light = {}
    for scheme in ("light", "dark"):
        with web.page(chromium, color_scheme=scheme) as page:
            page.goto(tree_page[0].as_uri())
            colours = page.eval_on_selector(".row b", "b => [getComputedStyle(b).color, getComputedStyle(document.documentElement).backgroundColor]")
            light[scheme] = [sum(map(int, c[c.index("(")+1:-1].split(",")[:3]))/765 for c in colours]
    assert light["light"][0] < .3 and light["light"][1] > .9 and light["dark"][0] > .7 and light["dark"][1] < .2


def test_page_says_what_went_wrong(chromium, tree_page, tmp_path):
    text = tree_page[0].read_text(encoding="utf-8")
    broken = text.replace("text: i => all.documents[i]?.text || '',", "text: i => { throw new Error('the shelf is empty') },")
    broken = broken.replace("find: text => {", "find: text => { if (text == 'lost') throw new Error('the catalogue is lost');")
    assert broken.count("the shelf") == broken.count("the catalogue") == 1
    (tmp_path/"broken.html").write_text(broken, encoding="utf-8")
    with web.page(chromium, bypass_csp=True) as page:                                # its fingerprint is another
        page.goto((tmp_path/"broken.html").as_uri())
        page.click(".node summary >> nth=0")
        page.wait_for_selector(".node .text >> text=the shelf is empty")
        page.fill("input[type=search]", "lost")
        page.wait_for_selector(".found >> text=the catalogue is lost")
        assert page.errors == []


def test_page_with_a_word_of_a_megabyte(chromium, tree_page, tmp_path):
    tree, docs = pickle.loads(pickle.dumps(tree_page[1])), tree_page[2]
    words, most, ids = list(tree.vocab), int(tree["0"].topic.argmax()), list(docs.ids)
    words[most] = "x"*1_000_000
    ids[tree.typical("0", 1)[0]] = "😀y"*500_000
    tree.vocab = words
    tree.rename("1", "z"*1_000_000)
    text = tree.to_html(docs, ids=ids)
    (tmp_path/"long.html").write_text(text, encoding="utf-8")
    assert len(text) < tree_page[0].stat().st_size + 3_100_000
    with web.page(chromium) as page:
        page.set_default_timeout(5000)
        page.goto((tmp_path/"long.html").as_uri())
        for id in ("0", "1", "00", ""):
            page.click(f".row[data-id='{id}']")
            assert chosen(page) == id and len(page.inner_text(".node h2")) <= 130
        page.click(".row[data-id='0']")
        assert "x"*26 + "…" + "x"*13 in page.inner_text(".node")
        assert len(page.inner_text("#nmf2")) < 30_000 and "\ufffd" not in page.inner_text("#nmf2")
        page.fill("input[type=search]", "xxxx")
        page.wait_for_selector(".found button")
        assert len(page.inner_text(".found")) < 2000 and page.locator(".rank").count() > 0
        page.fill("input[type=search]", "😀y😀y")
        page.click(".found button >> nth=0")
        assert page.errors == []


def test_slider_keeps_what_was_unfolded(opened, tree_page):
    tree = tree_page[1]
    opened.click(".row[data-id='0'] .fold")
    folded = rows(opened)
    opened.focus("input[type=range]")
    for key in ("ArrowLeft", "ArrowLeft", "ArrowRight"): opened.keyboard.press(key)
    assert rows(opened) == [id for id in folded if not any(id.startswith(split) and id != split for split in tree.splits[-1:])]
    opened.keyboard.press("Home")
    for n in range(2, 13):                                                # what the slider splits is unfolded, but for what is in '0'
        opened.keyboard.press("ArrowRight")
        there = {node.id for node in tree.leaves(n)} | set(tree.splits[:n-1])
        assert rows(opened) == [node.id for node in tree if node.id in there]


SMALL = '''() => [...document.querySelectorAll('button, summary, input, .row[data-id], .fold:not(:empty)')]
    .filter(target => target.checkVisibility()).map(target => [target.getBoundingClientRect(), target.textContent])
    .filter(([{width, height}]) => width < 44 || height < 44).map(([{width, height}, text]) => [width, height, text])'''

def test_targets_on_phones_are_large(chromium, outline_page):
    with web.page(chromium, 390, 844) as page:
        page.goto(outline_page[0].as_uri())
        page.fill("input[type=search]", "eigenvalue")
        page.wait_for_selector(".found button")
        def small(): return page.evaluate(SMALL)
        assert small() == []
        page.click(".menu summary")
        assert small() == [] and page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.eval_on_selector_all(".menu button", "all => Math.min(...all.map(b => b.getBoundingClientRect().left))") >= 0
        page.click(".row[data-id='1']")
        page.wait_for_selector(".node h3")
        assert small() == [] and not page.is_visible(".tree") and page.evaluate("document.activeElement.className") == "back"
        page.click("text=rename")
        assert small() == [] and page.errors == []


def saved(page, what):
    "The file that is saved, as text"
    if not page.evaluate("document.querySelector('.menu').open"): page.click(".menu summary")
    with page.expect_download() as download: page.click(f"text=save {what}")
    return Path(download.value.path()).read_text(encoding="utf-8")


def rename(page, id, name):
    page.focus(f".row[data-id='{id}']")
    page.click(f".row[data-id='{id}']")
    page.click("text=rename")
    page.fill(".node input[type=text]", name)
    page.keyboard.press("Enter")
    back(page)


def test_page_keeps_names_and_can_be_saved_again(outlined, outline_page, chromium, tmp_path):
    leaf = next(id for id, depth in in_outline(outline_page[1]) if depth == 2)
    rename(outlined, leaf, " </script><!-- a  name ")
    assert outlined.inner_text(f".row[data-id='{leaf}'] b") == "</script><!-- a name"
    assert outlined.get_attribute(f"[data-part='{leaf}']", "title").startswith("</script><!-- a name\n")
    rename(outlined, "1", "")
    outlined.click(f".row[data-id='{leaf[:-1]}'] .fold, .row[data-id=''] .fold >> nth=0")
    text = saved(outlined, "page")
    (tmp_path/"again.html").write_text(text, encoding="utf-8")
    with web.page(chromium) as again:
        again.goto((tmp_path/"again.html").as_uri())
        again.wait_for_selector(".row")
        assert rows(again) == rows(outlined) and chosen(again) == chosen(outlined)
        again.click("text=unfold all")
        assert again.inner_text(f".row[data-id='{leaf}'] b") == "</script><!-- a name" and again.errors == []
        assert again.inner_text(".row[data-id='1'] b") == ", ".join(outline_page[1].headings["1"][:3])
        twice = saved(again, "page")
        again.click('text="Map"')
        again.wait_for_selector(".island", state="attached")
        assert again.locator(".island").count() == outline_page[1].n_leaves and again.errors == []
    assert len(twice) == pytest.approx(len(text), abs=200) and twice.count("<script") == text.count("<script") == 3


def test_files_of_the_page_are_those_of_the_kernel(outlined, outline_page):
    tree, docs = pickle.loads(pickle.dumps(outline_page[1])), outline_page[2]
    top = in_outline(tree)[1][0]
    tree.rename(top, '=1+1, "first"')
    rename(outlined, top, '=1+1, "first"')
    kernel = TreeExplorer(tree, docs)
    assert saved(outlined, "labels") == kernel.file("labels")["text"]
    assert saved(outlined, "topics") == kernel.file("topics")["text"]
    mine, theirs = json.loads(saved(outlined, "JSON")), json.loads(tree.to_json(15, docs.ids))
    pytest.importorskip("jsonschema").validate(mine, json_schema())
    for node in (*mine["nodes"], *theirs["nodes"]):
        node["score"] = None if (node["score"] or -1) < 0 else pytest.approx(node["score"], abs=1e-4)
        node["terms"] = [[term, pytest.approx(weight, abs=1e-4)] for term, weight in node["terms"]]
        node["heading"] = node["heading"] or None
    assert mine == theirs


def test_labels_saved_leave_out_what_was_dropped(chromium, tmp_path):
    corpus = planted_tree((2, 2), n_docs=80, texts=True, random_state=0)
    X = count_pipeline(vocab=corpus.vocab).fit_transform(corpus.X).tolil()
    X[[3, 50]] = 0
    with pytest.warns(UserWarning, match="empty"): tree = HierNMF2(4).fit(X.tocsr()).tree_
    leaf = tree.leaves()[0]
    leaf.docs, leaf.outliers = leaf.docs[1:], leaf.docs[:1]                # as if one had been dropped there
    (tmp_path/"tree.html").write_text(tree.to_html(corpus.texts), encoding="utf-8")
    with web.page(chromium) as page:
        page.goto((tmp_path/"tree.html").as_uri())
        for n in (4, 3, 2):
            numbers = [int(row.split(",")[3]) for row in saved(page, "labels").splitlines()[1:]]
            assert numbers == tree.labels(n).tolist() and numbers.count(-1) >= 2
            page.focus("input[type=range]")
            page.keyboard.press("ArrowLeft")


def test_policy_lets_the_page_run_and_nothing_else(chromium, outline_page, tmp_path):
    with web.page(chromium) as page:
        seen = []
        page.on("console", lambda message: seen.append(message.text))
        page.goto(outline_page[0].as_uri())
        page.click(".row[data-id='1']")
        saved(page, "JSON")
        assert seen == [] and page.errors == []
        assert page.evaluate('''async () => { try { await fetch('data:text/plain,hello'); return 'fetched' } catch { return 'refused' } }''') == "refused"
    text = outline_page[0].read_text(encoding="utf-8")
    place = '<main id="nmf2">'
    added = "<script>document.title = 'run'</script><p id='styled' style='color: red' onclick='document.title = 1'>a</p><style>p {color: red}</style>"
    (tmp_path/"bad.html").write_text(text.replace(place, added + place), encoding="utf-8")
    with web.page(chromium) as page:
        page.goto((tmp_path/"bad.html").as_uri())
        page.click("#styled")
        assert page.title() == "library-docs" and page.evaluate("getComputedStyle(document.getElementById('styled')).color") != "rgb(255, 0, 0)"
        assert sum("Content Security Policy" in error for error in page.errors) >= 4


def test_page_without_scripts(chromium, tree_page):
    with web.page(chromium, java_script_enabled=False) as page:
        page.goto(tree_page[0].as_uri())
        assert page.locator("details").count() == len(tree_page[1].nodes)
        assert page.evaluate("getComputedStyle(document.querySelector('.nmf2-tree ul')).listStyleType") == "none" and page.errors == []


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    nbformat = pytest.importorskip("nbformat").v4
    cells = ["from nmf2 import TopicTree, load", "model = TopicTree(20, random_state=0).fit(load('library-docs'))", "model.explore()"]
    kernel = dict(display_name="Python 3", language="python", name="python3")
    nb = nbformat.new_notebook(cells=[*map(nbformat.new_code_cell, cells)], metadata=dict(kernelspec=kernel))
    (folder/"explore.ipynb").write_text(nbformat.writes(nb), encoding="utf-8")
    old, os.environ["PYTHONPATH"] = os.environ.get("PYTHONPATH"), str(ROOT)
    try:
        with web.jupyterlab(folder) as address: yield address
    except web.Missing as e: pytest.skip(str(e))
    finally:
        if old is None: del os.environ["PYTHONPATH"]
        else: os.environ["PYTHONPATH"] = old


def test_explorer_in_jupyterlab(chromium, lab, tmp_path):
    with web.page(chromium, 1500, 1100) as page:
        web.open_notebook(page, lab, "explore.ipynb", theme="JupyterLab Dark")
        web.run_command(page, "notebook:run-all-cells")
        assert web.output_errors(page) == []
        page.wait_for_selector(".nmf2 .node h3")
        here = page.locator(".nmf2").first
        ids = lambda: here.locator(".row[data-id]").evaluate_all("rows => rows.map(row => row.dataset.id)")
        here.locator("text=fold all >> nth=1").click()
        assert ids() == [""]
        here.locator(".row .fold").first.click()
        assert len(ids()) > 3                                             # the topics of the first level of the outline
        here.get_by_role("button", name="Map", exact=True).click()
        here.locator(".island >> nth=5").wait_for()
        here.locator(".island >> nth=5").focus()
        page.keyboard.press("Enter")
        named = here.locator(".island >> nth=5").get_attribute("aria-label")
        page.wait_for_function("named => named.startsWith(document.querySelector('.nmf2 h2').textContent)", arg=named)
        sea = web.still(here.locator(".sea"))
        left, top, right, bottom = sea["x"] + 5, sea["y"] + 5, sea["x"] + sea["width"]/2, sea["y"] + sea["height"] - 5
        page.mouse.move(left, top)
        page.mouse.down()
        for corner in ((right, top), (right, bottom), (left, bottom)): page.mouse.move(*corner)
        page.mouse.up()
        here.locator("text=Words that tell them from the others").wait_for()
        here.screenshot(path=tmp_path/"map.png")
        here.locator("text=All splits").click()
        here.locator("text=fold all >> nth=1").click()
        here.locator(".row .fold").first.click()
        assert ids() == ["", "0", "1"]
        here.locator("input[type=range]").focus()
        for key in ["Home", "End"] + ["ArrowLeft"]*3: page.keyboard.press(key)
        frame(page)
        n = int(here.locator("output").inner_text())
        assert len(ids()) == 2*n - 1
        here.locator("input[type=search]").fill("eigenvalue")
        here.locator(".found >> text=eigenvalue").first.wait_for()
        here.locator(".row[data-id='1']").click()
        before = ids()
        page.keyboard.press("ArrowUp"); page.keyboard.press("ArrowUp"); page.keyboard.press("End")
        assert ids() == before                                            # JupyterLab's own shortcuts keep out of it
        cells = lambda: page.evaluate("[...window.jupyterapp.shell.currentWidget.content.model.cells].map(cell => [cell.type, cell.sharedModel.getSource()])")
        kept, outside = cells(), [".row[data-id='1']", ".row[data-id='1'] b", ".bar-of-tools button >> nth=0", ".bar-of-tools summary", ".node summary >> nth=0"]
        for where in outside:
            here.locator(where).focus() if not where.endswith("b") else here.locator(where).click()
            for key in ("x", "d", "d", "a", "b", "m", "y", "c", "v", "1"): page.keyboard.press(key)
            assert cells() == kept, where
        page.evaluate("""() => { window.saves = 0
            window.jupyterapp.commands.commandExecuted.connect((_, made) => { window.saves += made.id == 'docmanager:save' }) }""")
        for times, where in enumerate((".row[data-id='1']", "input[type=search]", ".row[data-id='1']"), 1):
            here.locator(where).focus()
            page.keyboard.press("Control+s")
            page.wait_for_function(f"() => window.saves == {times}", timeout=20_000)   # but Ctrl+S saves: a save that is under way takes no second one
        page.keyboard.press("ArrowUp"); page.keyboard.press("End")
        assert ids() == before
        page.keyboard.press("F2")
        here.locator("input[type=text]").fill("the last one")
        page.keyboard.press("Enter")
        here.locator(".row >> text=the last one").wait_for()
        page.keyboard.press("F2")
        here.locator("input[type=text]").fill("nobody's name")
        page.keyboard.press("Escape")
        assert here.locator("h2").inner_text() == "the last one"
        here.locator(".choice summary >> nth=0").click()
        here.locator(".node .text:not(:empty)").wait_for()
        here.locator(".bar-of-tools .menu summary").click()
        with page.expect_download() as download: here.locator("text=save page").click()
        text = Path(download.value.path()).read_text(encoding="utf-8")
        assert "the last one" in text and f'"leaves":{n}' in text
        here.locator(".bar-of-tools .menu summary").click()
        with page.expect_download() as download: here.locator("text=save labels").click()
        assert Path(download.value.path()).read_text(encoding="utf-8").startswith("row,id,leaf,leaf_number,title")
        here.locator(".row[data-id='']").click()
        here.locator("input[type=range]").focus()
        page.keyboard.press("End")
        frame(page)
        leaf = [id for id in ids() if here.locator(f".row[data-id='{id}']").get_attribute("aria-expanded") is None][0]
        here.locator(f".row[data-id='{leaf}']").click()
        here.locator(f".node [data-node='{leaf}'] .menu summary").click()
        here.locator("text=split in two").click()
        here.locator(f".row[data-id='{leaf}1']").wait_for()
        assert f"split root/{leaf}" in here.locator(".edits [role=status]").inner_text() and chosen(page) == leaf
        page.keyboard.press("ArrowDown"); page.keyboard.press("End")     # the keys are still the explorer's
        assert chosen(page) == ids()[-1]
        here.locator("text=undo split").click()
        here.locator("text=redo split").wait_for()
        assert f"{leaf}1" not in ids()
        here.screenshot(path=tmp_path/"explorer.png")
        assert (tmp_path/"explorer.png").stat().st_size > 20_000
        assert not [url for url in page.requests if not url.startswith((lab, "blob:", "data:"))]


# ---- changing a tree: the widget on a page of its own, with this process for a kernel

@pytest.fixture(scope="module")
def small_model():
    corpus = planted_tree((3, 3), n_docs=240, overlap=.4, noise=.15, length=40, texts=True, random_state=1)
    return TopicTree(7, min_df=1, max_df=1.).fit(corpus)


@pytest.fixture(params=["wide", "narrow"])
def editable(request, chromium, small_model):
    "An explorer on a page, and the page"
    explorer = pickle.loads(pickle.dumps(small_model)).explore(levels=())
    with web.page(chromium, WIDTHS[request.param]) as page:
        web.show_widget(page, explorer)
        yield explorer, page
        assert page.errors == []


def read(page, id):
    "Choose a node, and wait until it is there to be read"
    back(page) if page.is_visible(".back") else None
    page.click(f".row[data-id='{id}']")
    page.wait_for_selector(f".node [data-node='{id}'] h3")


def pick(page, entry):
    page.click(".node .menu summary")
    page.click(f".node .menu >> text={entry}")


def said(page): return page.inner_text(".edits [role=status]")


def test_split_and_undo_by_menu(editable):
    explorer, page = editable
    leaf = max(explorer.model.tree_.leaves(), key=lambda leaf: leaf.size).id
    read(page, leaf)
    pick(page, "split in two")
    page.wait_for_selector(f"text=undo split root/{leaf}")
    assert explorer.model.history == [dict(step="split", node=leaf)] and said(page) == explorer.editing["told"]
    assert page.inner_text(".node h2") == explorer.model.tree_.title(leaf)             # the same node is read, as long as there is one
    page.wait_for_selector(".node h3")
    assert not page.is_visible("text=split in two") and chosen(page) == leaf
    page.click("text=undo split")
    page.wait_for_selector(f"text=redo split root/{leaf}")
    assert explorer.model.history == [] and said(page) == f"undone: split root/{leaf}" and explorer.model.tree_.n_leaves == 7
    page.click("text=redo split")
    page.wait_for_selector("text=undo split")
    back(page)
    assert rows(page) == [node.id for node in explorer.model.tree_]


def test_merge_with_a_second_node_and_join(editable):
    explorer, page = editable
    first, *_, last = [leaf.id for leaf in explorer.model.tree_.leaves()]
    read(page, first)
    pick(page, "merge with")
    assert "go there" in said(page) and page.is_visible(".tree") and page.evaluate("document.activeElement.dataset.id") == first
    read(page, last)
    assert explorer.model.tree_.title(last) in said(page)
    page.click('.steps >> text="merge"')
    page.wait_for_selector("text=undo merge")
    assert explorer.model.history == [dict(step="merge", a=first, b=last)]
    inner = explorer.model.tree_.splits[-1]
    read(page, inner)
    pick(page, "join its parts")
    page.wait_for_selector(f"text=undo join")
    assert explorer.model.history[-1] == dict(step="join", node=inner) and explorer.model.tree_.n_leaves == 5


def test_documents_are_moved(editable):
    explorer, page = editable
    first, *_, last = explorer.model.tree_.leaves()
    read(page, first.id)
    names = [page.locator(".choice input").nth(k).get_attribute("aria-label").removeprefix("choose ") for k in (0, 2)]
    for k in (0, 2): page.locator(".choice input").nth(k).check()
    assert said(page).startswith("2 documents chosen")
    read(page, last.id)
    page.click("text=move to")
    page.wait_for_selector("text=undo move")
    docs = [list(explorer.model.given_.ids).index(name) for name in names]
    assert explorer.model.history == [dict(step="move", docs=sorted(docs), node=last.id)] and set(docs) <= set(explorer.model.tree_[last.id].docs)
    assert not page.locator(".choice input:checked").count()


def test_words_are_dropped_and_mistakes_told(editable):
    explorer, page = editable
    leaf = explorer.model.tree_.leaves()[0].id
    read(page, leaf)
    pick(page, "drop words")
    word = page.inner_text(".bars .link >> nth=0")
    page.click(".bars .link >> nth=0")
    page.fill(".edits input", page.input_value(".edits input") + ", nonesuch")
    page.keyboard.press("Enter")
    page.wait_for_selector(".edits [role=alert]")
    assert "'nonesuch' is not" in said(page) and explorer.model.history == []
    page.fill(".edits input", word)
    page.click('.steps >> text="drop"')
    page.wait_for_selector("text=undo drop")
    assert explorer.model.history == [dict(step="drop_words", words=[word])] and word not in explorer.model.vocab_
    assert word not in page.locator(".node .bars").first.inner_text().split()
    pick(page, "drop words")
    page.keyboard.press("Escape")
    assert page.locator(".bars .link").count() == 0 and said(page) == explorer.editing["told"]


def test_keep_rename_and_refit(editable):
    explorer, page = editable
    leaf = explorer.model.tree_.leaves()[2].id
    read(page, leaf)
    pick(page, "keep as it is")
    page.wait_for_selector("text=undo keep")
    assert "kept" in page.inner_text(".facts") and explorer.model.edits_.kept == (leaf,)
    page.click("text=rename")
    page.fill(".node input[type=text]", "ball games")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=undo rename")
    back(page)
    assert page.inner_text(f".row[data-id='{leaf}'] b") == "ball games" == explorer.model.tree_.names[leaf]
    read(page, leaf)
    pick(page, "refit all")
    page.wait_for_selector("text=undo refit")
    pick(page, "no longer keep")
    page.wait_for_selector("text=undo no longer keep")
    assert [step["step"] for step in explorer.model.history] == ["keep", "rename", "refit", "keep"] and "kept" not in page.inner_text(".facts")
    assert page.inner_text(".node h2") == "ball games"


SLOWER = """() => {                                                        // each answer takes longer than the one before
    const toKernel = window.toKernel
    window.asks = []
    window.coming = 0
    window.toKernel = async (what, content) => {
      if (content.ask == 'details') window.asks.push(content.given[0])
      window.coming++
      await new Promise(done => setTimeout(done, 400*window.coming))
      return toKernel(what, content).finally(() => window.coming--)
    } }"""


def test_what_is_read_stays_open_while_the_kernel_is_slow(editable):
    explorer, page = editable
    leaf = explorer.model.tree_.leaves()[0].id
    page.evaluate(SLOWER)
    page.click(f".row[data-id='{leaf}']")
    for key in ["F2", "Escape"]*2: page.keyboard.press(key)
    page.click(".node .choice summary >> nth=0")
    page.wait_for_selector(".node .text:not(:empty)")
    page.wait_for_function("window.coming == 0")
    assert page.is_visible(".node .text:not(:empty)") and page.evaluate("window.asks") == [leaf]


def test_a_menu_stays_unfolded_when_the_kernel_answers(editable):
    explorer, page = editable
    leaf = explorer.model.tree_.leaves()[0].id
    page.evaluate("""() => {
        const toKernel = window.toKernel, held = new Promise(done => { window.goOn = done })
        window.toKernel = async (...asked) => { await held; return toKernel(...asked) } }""")
    page.click(f".row[data-id='{leaf}']")
    page.wait_for_selector("text=Waiting for the kernel")
    page.click(".node .menu summary")
    assert not page.is_visible(".node h3")
    page.evaluate("window.goOn()")
    page.wait_for_selector(".node h3")
    page.click(".node .menu >> text=split in two", timeout=2000)
    page.wait_for_selector(f"text=undo split root/{leaf}")


def test_what_is_read_stays_open_when_the_kernel_has_taken_its_name(editable):
    explorer, page = editable
    leaf = explorer.model.tree_.leaves()[0].id
    read(page, leaf[0])
    back(page)
    for key in ["ArrowLeft", "ArrowRight"]: page.keyboard.press(key)          # unfolded last: the kernel has the tree's order
    read(page, leaf)
    page.evaluate(SLOWER)
    for name in ["ball games", ""]:
        page.click(".rename")
        page.fill(".node input[type=text]", name)
        page.keyboard.press("Enter")
        page.click(".node .choice summary >> nth=0")
        page.wait_for_selector(".node .text:not(:empty)")
        page.wait_for_function("window.coming == 0")
        assert page.is_visible(".node .text:not(:empty)") and explorer.model.tree_.names.get(leaf, "") == name


def test_the_model_is_saved(editable, tmp_path):
    explorer, page = editable
    read(page, "0")
    if not is_narrow(page):
        page.click(".bar-of-tools .menu summary")
        page.click("text=save model")
        page.wait_for_selector(".edits [role=alert]")
        assert "no file yet" in said(page)
    explorer.model.save(tmp_path/"m.nmf2")
    pick(page, "keep as it is")
    page.click("text=save in m.nmf2")
    page.wait_for_function("document.querySelector('.edits [role=status]').textContent == 'saved in m.nmf2'")
    assert TopicTree.load(tmp_path/"m.nmf2").history == [dict(step="keep", node="0")] and not page.is_visible("text=save in")


def test_changing_without_a_mouse(chromium, small_model):
    explorer = pickle.loads(pickle.dumps(small_model)).explore(levels=())
    with web.page(chromium) as page:
        web.show_widget(page, explorer)
        page.focus(".row[data-id='']")
        page.keyboard.press("End")
        leaf = chosen(page)
        page.wait_for_selector(".node .menu")
        for _ in range(9):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.textContent") == "edit": break
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        assert not page.is_visible("text=split in two") and page.evaluate("document.activeElement.textContent") == "edit"
        for key in ("Enter", "Tab", "Enter"): page.keyboard.press(key)
        page.wait_for_selector("text=undo split")
        assert explorer.model.history == [dict(step="split", node=leaf)]
        assert page.evaluate("document.activeElement.dataset.id") == leaf                 # the keys go on from there
        page.keyboard.press("ArrowRight")
        assert chosen(page) == leaf + "0"
        page.keyboard.press("Shift+Tab")
        while page.evaluate("document.activeElement.textContent") != f"undo split root/{leaf}": page.keyboard.press("Shift+Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=redo split")
        assert page.evaluate("document.activeElement.textContent") == f"redo split root/{leaf}" and page.errors == []


def test_targets_for_changing_are_large(chromium, small_model):
    explorer = pickle.loads(pickle.dumps(small_model)).explore()
    with web.page(chromium, 390, 844) as page:
        web.show_widget(page, explorer)
        page.click(".row[data-id] >> nth=2")
        page.wait_for_selector(".node h3")
        def fits(): return page.evaluate(SMALL) == [] and page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.click(".node .menu summary")
        assert fits() and page.eval_on_selector_all(".menu button", "all => Math.min(...all.filter(b => b.checkVisibility()).map(b => b.getBoundingClientRect().left))") >= 0
        page.click("text=drop words")
        assert fits()
        page.click("text=cancel")
        page.locator(".choice input").nth(0).check()
        assert fits() and page.locator(".edits").bounding_box()["y"] >= 0                # the line stays in sight


def draw_around_half(page):
    """A line around the left half of the map"""
    sea = page.locator(".sea").bounding_box()
    page.mouse.move(sea["x"] + 2, sea["y"] + 2)
    page.mouse.down()
    for x, y in ((.5, 0), (.5, 1), (0, 1), (0, 0)): page.mouse.move(sea["x"] + 2 + x*(sea["width"] - 4), sea["y"] + 2 + y*(sea["height"] - 4), steps=3)
    page.mouse.up()


def test_documents_chosen_on_the_map_are_moved(chromium, small_model):
    explorer = pickle.loads(pickle.dumps(small_model)).explore()
    with web.page(chromium) as page:
        web.show_widget(page, explorer)
        page.click('text="Map"')
        page.wait_for_selector(".island", state="attached")
        draw_around_half(page)
        page.click("text=choose them all")
        n = int(said(page).split()[0])
        assert 20 < n < 230 and page.locator(".choice input:not(:checked)").count() == 0
        target = max(explorer.model.tree_.leaves(), key=lambda leaf: leaf.size).id
        page.click('text="All splits"')
        page.click(f".row[data-id='{target}']")
        page.click("text=move to")
        page.wait_for_selector(".edits >> text=/undo move|merge it with/")                 # some leaf may be left with none
        assert page.errors == []


# ---- what a reader stumbled over

ARABIC = "مكتبة الرياضيات والعلوم الكبيرة جدا في المدينة القديمة وما حولها من القرى"


def search(page, text):
    page.fill("input[type=search]", text)
    page.wait_for_function("text => !document.querySelector('.heard').textContent.includes('…') && document.querySelector('.found').hidden != Boolean(text)", arg=text)
    page.wait_for_timeout(250)


def test_texts_from_right_to_left(chromium, outline_page, tmp_path):
    tree = pickle.loads(pickle.dumps(outline_page[1]))
    first, second = [id for id, depth in in_outline(tree) if depth == 2][:2]
    tree.rename(first, ARABIC)
    tree.rename(second, "\u202eturned around")
    texts = [ARABIC + ". 12 ABC\nplain"]*len(outline_page[2])
    (tmp_path/"tree.html").write_text(tree.to_html(texts), encoding="utf-8")
    with web.page(chromium) as page:
        page.goto((tmp_path/"tree.html").as_uri())
        page.click("text=unfold all")
        words = lambda id: page.locator(f".row[data-id='{id}'] .words")
        direction = lambda place: place.evaluate("place => getComputedStyle(place).direction")
        assert direction(words(first)) == "rtl" and direction(words(second)) == "ltr"
        left = words(first).evaluate("words => { const range = document.createRange(); range.setStart(words.firstChild.firstChild, 0); range.setEnd(words.firstChild.firstChild, 1); return [range.getBoundingClientRect().right, words.getBoundingClientRect().right] }")
        assert left[0] <= left[1] + 1                                           # its first letter is to be seen
        assert words(second).locator("b").evaluate("b => getComputedStyle(b).unicodeBidi") == "plaintext"
        words(first).click()
        page.click(".node summary >> nth=0")
        page.wait_for_selector(".node .text:not(:empty)")
        ends = page.locator(".node .text:not(:empty)").evaluate("text => { const range = document.createRange(); range.selectNodeContents(text); return [Math.max(...[...range.getClientRects()].map(rect => rect.right)), text.getBoundingClientRect().right] }")
        assert abs(ends[0] - ends[1]) < 2 and direction(page.locator(".node h2")) == "rtl" and page.errors == []


def test_topics_are_found_by_their_titles_and_names(outlined, outline_page):
    tree = outline_page[1]
    leaf = next(id for id, depth in in_outline(tree) if depth == 2)
    first, second = tree.heading(leaf)[:2]
    search(outlined, f"{first}, {second}")
    assert tree.title(leaf) in outlined.locator(".found .called button").all_inner_texts()
    rename(outlined, leaf, "Quokka shelf, café")
    for query in ("quokka", "shelf", "CAFE"):
        search(outlined, query)
        assert outlined.locator(".found .called button").all_inner_texts() == ["Quokka shelf, café"], query
    search(outlined, "uokka")
    assert not outlined.is_visible(".called") and "No document or topic is called" in outlined.inner_text(".found")
    search(outlined, "quokka")
    outlined.click(".found .called button")
    assert chosen(outlined) == leaf


def test_topics_are_found_in_the_widget(editable):
    explorer, page = editable
    leaf = explorer.model.tree_.leaves()[0].id
    read(page, leaf)
    page.click(".rename")
    page.fill(".node input[type=text]", "Quokka shelf")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=undo rename")
    back(page)
    search(page, "quokka")
    assert page.locator(".found .called button").all_inner_texts() == ["Quokka shelf"]


def test_how_many_documents_are_called_so(opened, tree_page):
    names = [str(name).lower() for name in tree_page[2].ids]
    count = sum("linalg" in name for name in names)
    search(opened, "linalg")
    assert count > 8 and f"and {count - 8} more" in opened.inner_text(".found") and f"{count} documents" in opened.text_content(".heard")
    exact = next(name for name in names if any(name in other for other in names[:names.index(name)]))
    search(opened, exact)
    documents = opened.locator(".found p:not(.called):has(> button:first-child) > button")
    assert documents.first.inner_text().lower() == exact
    opened.focus(".found button")
    opened.keyboard.press("Escape")
    assert not opened.is_visible(".found") and opened.evaluate("document.activeElement.type") == "search" and opened.text_content(".heard") == ""


def test_cells_of_tables_are_those_of_python(opened):
    values = ["0123", "12-3", "TRUE", "=1+1", "a", "abc 12", "17", "007", "1e5", "T-0042", "jan 3", "3 mar", "x9", "0x1f", "nan", "N/A ", "", " b", "-5", "+a", "@x",
              "1234567890123456", "12 abc", "½ 3 ab", "字 12", "١٢", "a\0b", "Fałsz", "²² 1", "ab", "1.5", "2024-05-01", "12:30 pm"]
    assert opened.evaluate("values => values.map(plainCell)", values) == [as_cell(value) for value in values]


def test_labels_are_those_on_view(outlined, outline_page):
    tree, numbers = outline_page[1], lambda: [int(line["leaf_number"]) for line in csv.DictReader(io.StringIO(saved(outlined, "labels")))]
    assert numbers() == tree.labels(9).tolist()
    explorer = TreeExplorer(tree, outline_page[2])
    assert explorer.file("labels")["text"] == saved(outlined, "labels")
    with pytest.raises(ValueError, match="what must be one of 'page', 'labels', 'topics', 'JSON'"): explorer.file("html")
    outlined.click("text=All splits")
    assert numbers() == tree.labels().tolist()


def test_long_words_are_whole_in_json(chromium, tmp_path):
    corpus = planted_tree((2, 2), n_docs=80, texts=True, random_state=0)
    tree = HierNMF2(4).fit(count_pipeline(vocab=corpus.vocab).fit_transform(corpus.X)).tree_
    tree.vocab = np.array([f"{'long'*20}{j}" for j in range(tree.n_terms)])
    (tmp_path/"tree.html").write_text(tree.to_html(), encoding="utf-8")
    with web.page(chromium) as page:
        page.goto((tmp_path/"tree.html").as_uri())
        found = {node["id"]: [word for word, _ in node["terms"]] for node in json.loads(saved(page, "JSON"))["nodes"]}
    assert found == {node.id: list(tree.top_terms(node, n=15)) for node in tree}


@pytest.mark.parametrize("width", [1280, 390])
def test_large_numbers_have_room(chromium, outline_page, tmp_path, width):
    text = re.sub(r'"n_docs":\d+', '"n_docs":11733146', outline_page[0].read_text(encoding="utf-8"), count=1)
    (tmp_path/"tree.html").write_text(re.sub(r'"id":"","size":\d+', '"id":"","size":11733146', text, count=1), encoding="utf-8")
    with web.page(chromium, width) as page:
        page.goto((tmp_path/"tree.html").as_uri())
        number = page.locator(".row[data-id=''] .number >> nth=0")
        assert number.inner_text() == "11,733,146" and number.evaluate("number => number.scrollWidth <= number.clientWidth")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_is_chosen_is_seen_in_forced_colours(chromium, outline_page):
    with web.page(chromium, forced_colors="active") as page:
        page.goto(outline_page[0].as_uri())
        page.click(f".row[data-id='{in_outline(outline_page[1])[1][0]}']")
        page.wait_for_selector(".node .bars i")
        colour = lambda where: page.locator(where).first.evaluate("place => getComputedStyle(place).backgroundColor")
        plain = colour(".row[aria-selected=false]")
        for where in (".row[aria-selected=true]", ".part[aria-selected=true]", "button[aria-pressed=true]", ".node .bars i"): assert colour(where) != plain, where


def test_menus_close_on_a_press_elsewhere_and_escape(opened):
    is_open = lambda: opened.locator(".bar-of-tools .menu").evaluate("menu => menu.open")
    for act in (lambda: opened.click("h1"), lambda: opened.keyboard.press("Escape"),
                lambda: (opened.evaluate("document.activeElement.blur()"), opened.keyboard.press("Escape"))):
        opened.click(".bar-of-tools .menu summary")
        assert is_open()
        act()
        assert not is_open()


def test_the_focus_stays_after_a_name_was_given(outlined, outline_page):
    outlined.click(".row[data-id='1']")
    outlined.click("text=rename")
    outlined.fill(".node input", "a name")
    outlined.keyboard.press("Enter")
    focused = outlined.evaluate("document.activeElement.className")
    assert focused == "back" if is_narrow(outlined) else focused.startswith("row")


def test_only_names_that_are_lost_are_asked_about(outlined):
    asks = lambda: outlined.evaluate("() => { const leaving = new Event('beforeunload', {cancelable: true}); dispatchEvent(leaving); return leaving.defaultPrevented }")
    rename(outlined, "1", "drawing")
    assert not asks()                                                           # it was called so
    rename(outlined, "1", "a name")
    assert asks()
    for what in ("labels", "topics", "JSON"):
        saved(outlined, what)
        assert asks()
    saved(outlined, "page")
    assert not asks()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_warnings_can_be_read(chromium, outline_page, scheme):
    with web.page(chromium, color_scheme=scheme) as page:
        page.goto(outline_page[0].as_uri())
        page.evaluate("document.querySelector('.row .number').classList.add('weak')")
        def light(name):
            colour = page.evaluate("""name => { const spot = document.createElement('canvas').getContext('2d'), probe = document.createElement('i')
                probe.style.color = `var(--${name})`; document.querySelector('.row').append(probe)
                spot.fillStyle = getComputedStyle(probe).color; spot.fillRect(0, 0, 1, 1); return [...spot.getImageData(0, 0, 1, 1).data].slice(0, 3) }""", name)
            linear = [c/255/12.92 if c/255 <= .04045 else ((c/255 + .055)/1.055)**2.4 for c in colour]
            return .2126*linear[0] + .7152*linear[1] + .0722*linear[2]
        for paper in ("paper", "pick"):
            low, high = sorted([light("warn"), light(paper)])
            assert (high + .05)/(low + .05) >= 4.5


def test_paper_has_the_overview_and_no_buttons(outlined, outline_page):
    search(outlined, "matrix")
    outlined.emulate_media(media="print")
    assert outlined.locator(".picture").bounding_box()["height"] > 200 or is_narrow(outlined)
    assert outlined.locator(".found").evaluate("found => found.scrollHeight <= found.clientHeight + 2")
    for where in (".rename", ".bar-of-tools"): assert not outlined.is_visible(where)
    outlined.emulate_media(media="screen")


def test_merge_is_not_offered_with_a_node_above(editable):
    explorer, page = editable
    inner = next(node.id for node in explorer.model.tree_ if len(node.id) == 1 and node.children)
    read(page, inner + "0")
    pick(page, "merge with")
    for other, offered in ((inner, False), ("", False), (inner + "1", True)):
        read(page, other)
        page.wait_for_timeout(100)
        assert ("?" in said(page)) == offered == page.locator(".edits button").get_by_text("merge", exact=True).is_visible()


def test_who_closed_a_topic_goes_back_to_where_they_came_from(chromium, outline_page):
    with web.page(chromium, WIDTHS["narrow"]) as page:
        page.goto("about:blank")
        page.goto(outline_page[0].as_uri())
        for id in [id for id, depth in in_outline(outline_page[1]) if depth == 1][:2]:
            page.click(f".row[data-id='{id}']")
            page.wait_for_selector(".node h3", state="visible")
            back(page)
            page.wait_for_function("!history.state?.pane")
            assert chosen(page) == id and page.url.endswith(f"#{id}") and not page.is_visible(".node")
        page.go_back()
        assert page.url == "about:blank"


def test_a_topic_has_an_address(chromium, outline_page):
    tree, address = outline_page[1], outline_page[0].as_uri()
    leaf = next(id for id, depth in in_outline(tree) if depth == 2)
    for width in WIDTHS.values():
        with web.page(chromium, width) as page:
            page.goto(f"{address}#{leaf}")
            page.wait_for_selector(".node h3")
            assert chosen(page) == leaf and page.is_visible(".node")
            back(page)
            page.click(".row[data-id='1']")
            assert page.url == f"{address}#1"
            page.wait_for_selector(".node h3")
            if not is_narrow(page): continue
            page.go_back()
            page.wait_for_selector(".row[data-id='1']", state="visible")
            assert not page.is_visible(".node")
            page.go_forward()
            page.wait_for_selector(".node h2", state="visible")
            assert page.errors == []
    with web.page(chromium) as page:
        page.goto(f"{address}#nowhere")
        assert chosen(page) == "" and page.errors == []


LETTER = "Dear all, I have been looking for a way to essay the assessment of the possessed Aeolian aerodrome oesophagus. "*5


def test_a_text_that_is_pasted_is_looked_for_at_once(chromium, whole_page):
    "Each letter stands for those with accents, too: a pattern of five hundred is made once, not for each text"
    with web.page(chromium) as page:
        page.set_default_timeout(5000)
        page.goto(whole_page[0].as_uri())
        made = """text => { const of = RegExp; let n = 0
            window.RegExp = function (...given) { n += 1; return new of(...given) }
            return pageHost(inPage('contents')).ask('find', text).then(() => { window.RegExp = of; return n }) }"""
        assert page.evaluate(made, LETTER) < 400
        for text, said in ((LETTER, "Dear all, I have"), ("e"*2000, "eeee")):
            page.fill("input[type=search]", text)
            page.wait_for_selector(f".found >> text=No document or topic is called “{said}")
            assert len(page.inner_text(".found")) < 500
        assert page.errors == []


def test_signs_are_looked_for_in_texts(opened):
    for text, claims in (("桜", True), ("§", True), ("7", False), ("Q", False), ("", False)):
        opened.fill("input[type=search]", text)
        opened.wait_for_timeout(300)
        assert ("isn't in the first" in opened.inner_text("#nmf2")) == claims, text
    search(opened, "(")
    assert opened.locator(".found mark").first.inner_text() == "("


@pytest.mark.parametrize("text, claims", [("桜", True), ("qqq", True), ("q", False)])
def test_the_widget_claims_what_it_looked_for(chromium, small_model, text, claims):
    explorer = pickle.loads(pickle.dumps(small_model)).explore()
    with web.page(chromium) as page:
        web.show_widget(page, explorer)
        search(page, text)
        assert f"No word begins with “{text}”" in page.inner_text(".found") and ("no text has it" in page.inner_text(".found")) == claims


def test_what_begins_is_there_when_it_is_unfolded(mapped, tree_page):
    "A text that isn't on the page stays as far as it was seen"
    page, seen, spot = mapped
    listed = page.evaluate("Object.keys(inPage('contents').documents).map(Number)")
    k, i = next((k, i) for k, i in enumerate(seen["rows"]) if i not in listed and len(seen["begins"][k]) > 40)
    page.mouse.click(*spot(*dot(seen, i)))
    text = page.locator(".node .text >> nth=0")
    text.filter(has_text="(Only texts that are listed").wait_for()
    assert seen["begins"][k] in text.inner_text()


def test_all_words_of_a_title_find_the_topic(opened, tree_page):
    tree = tree_page[1]
    for leaf in tree.leaves()[:3]:
        first, _, last = tree.top_terms(leaf, n=3)
        for query in (f"{first} {last[:4]}", f"{last}, {first}"):
            search(opened, query)
            assert tree.title(leaf) in opened.locator(".found .called button").all_inner_texts(), query
    opened.fill("input[type=search]", f"{last} {first}")
    opened.press("input[type=search]", "Enter")
    opened.wait_for_selector(".node h2", state="visible")
    ends = opened.locator(".found .called button").first.text_content()
    assert opened.locator(".node h2").inner_text() == ends and chosen(opened) != ""
    back(opened)
    search(opened, ",")
    assert not opened.is_visible(".called")
    for nothing in ("zzz zzz", ""):
        opened.fill("input[type=search]", nothing)
        before = chosen(opened)
        opened.press("input[type=search]", "Enter")
        opened.wait_for_timeout(200)
        assert not opened.is_visible(".called") and chosen(opened) == before


@pytest.fixture(scope="module")
def many_page(tmp_path_factory):
    "The page of a tree with more topics than the map shows, and the tree"
    X = np.random.default_rng(0).random((900, 40))**6
    tree = HierNMF2(230, max_outliers=None, random_state=0).fit(X).tree_
    tree.levels = 3, 230
    file = tmp_path_factory.mktemp("many")/"tree.html"
    file.write_text(tree.to_html(), encoding="utf-8")
    return file, tree


def test_a_topic_that_the_map_lacks_is_in_one_that_it_has(chromium, many_page):
    tree, shown = many_page[1], [leaf.id for leaf in many_page[1].leaves(200)]
    deep = next(leaf.id for leaf in tree.leaves() if leaf.id not in shown)
    with web.page(chromium) as page:
        page.goto(f"{many_page[0].as_uri()}#{deep}/map")
        page.wait_for_selector(".island", state="attached")
        assert f"200 of {tree.n_leaves} topics." in page.inner_text(".map p") and page.inner_text(".facts").startswith(f"node {deep}")
        assert page.get_attribute(".island[aria-selected=true]", "data-island") == next(id for id in shown if deep.startswith(id))
        assert page.errors == []


def test_small_parts_of_the_overview_have_their_colour(chromium, many_page):
    with web.page(chromium, 1280, 500) as page:
        page.goto(many_page[0].as_uri())
        colours = page.eval_on_selector_all(".part", """parts => parts.map(part => {
            const {height} = part.getBoundingClientRect(), {borderTopWidth, borderBottomWidth} = getComputedStyle(part)
            return [height, parseFloat(borderTopWidth) + parseFloat(borderBottomWidth)] })""")
        assert min(height for height, _ in colours) < 2 and all(border <= height/2 for height, border in colours)
        assert all(border == 2 for height, border in colours if height > 6)


def test_deep_trees_leave_room_for_titles(chromium, many_page):
    with web.page(chromium) as page:
        page.goto(f"{many_page[0].as_uri()}#/splits")
        page.click("text=unfold all")
        frame(page)
        words = page.eval_on_selector_all(".row[data-id] .words", "all => all.map(words => words.clientWidth)")
        assert max(map(len, many_page[1].nodes)) > 8 and max(words) - min(words) <= 85          # six letters' width


def test_the_map_is_on_paper(chromium, outline_page):
    with web.page(chromium) as page:
        page.goto(f"{outline_page[0].as_uri()}#/map")
        page.wait_for_selector(".island", state="attached")
        before = page.locator(".sea").bounding_box()
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        box, last = page.locator(".sea").bounding_box(), page.locator(".land + canvas")
        assert box["width"] == box["height"] == 650 and not last.is_visible()
        islands = page.eval_on_selector_all(".island", "all => all.map(island => island.getBoundingClientRect())")
        assert max(island["right"] for island in islands) - min(island["left"] for island in islands) <= 650
        drawn = page.locator(".sea canvas").first
        assert drawn.evaluate("canvas => canvas.width/devicePixelRatio") == 650
        page.emulate_media(media="screen")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator(".sea").bounding_box() == before and page.errors == []


def test_an_address_has_the_view(chromium, outline_page):
    tree, address = outline_page[1], outline_page[0].as_uri()
    pressed = lambda page: page.inner_text(".pair [aria-pressed=true]")
    with web.page(chromium) as page:
        page.goto(address)
        page.click(".row[data-id='1']")
        for view, ends in (("Map", "#1/map"), ("All splits", "#1/splits"), ("Outline", "#1")):
            page.click(f'text="{view}"')
            assert page.url == address + ends and pressed(page) == view
        page.click('text="Map"')
        page.locator(".island").first.wait_for(state="attached")
        page.locator(".island").first.focus()
        page.keyboard.press("End")
        assert page.url == f"{address}#{tree.leaves()[-1].id}/map"
    for width in WIDTHS.values():
        for ends, id, view in (("#1/map", "1", "Map"), ("#/map", "", "Map"), ("#1/splits", "1", "All splits"), ("#1/nothing", "1", "Outline")):
            with web.page(chromium, width) as page:
                page.goto(address + ends)
                page.wait_for_selector(".node h2", state="attached")
                assert chosen(page) == id and page.errors == []
                if id: back(page)
                assert pressed(page) == view and (view != "Map" or page.is_visible(".sea"))


def test_what_was_found_is_dark_on_the_map(chromium, whole_page):
    found = whole_page[1].find("shuttle")["texts"]["rows"]
    dark = """() => { const sea = document.querySelector('.sea canvas'), spot = sea.getContext('2d'), {data} = spot.getImageData(0, 0, sea.width, sea.height)
        let n = 0; for (let k = 0; k < data.length; k += 4) n += data[k + 3] == 255 && data[k] < 60 && data[k + 1] < 60 && data[k + 2] < 70; return n }"""
    with web.page(chromium) as page:
        page.goto(f"{whole_page[0].as_uri()}#/map")
        page.wait_for_selector(".island", state="attached")
        page.wait_for_function("document.querySelector('.sea canvas').width > 300")
        assert len(found) == 2 and page.evaluate(dark) == 0
        search(page, "shuttle")
        few = page.evaluate(dark)
        search(page, whole_page[1].text(0).split()[0])
        assert 0 < few < page.evaluate(dark)
        page.click('text="All splits"')
        search(page, "shuttle")
        page.click('text="Map"')
        frame(page)
        assert page.evaluate(dark) == few
        page.fill("input[type=search]", "")
        page.wait_for_selector(".found", state="hidden")
        assert page.evaluate(dark) == 0 and page.errors == []


@pytest.mark.parametrize("where", ["sea", "pane"])
def test_escape_lets_go_of_what_a_line_was_drawn_around(chromium, outline_page, where):
    with web.page(chromium) as page:
        page.goto(f"{outline_page[0].as_uri()}#1/map")
        page.wait_for_selector(".island", state="attached")
        draw_around_half(page)
        page.wait_for_selector(".node >> text=/documents chosen/")
        if where == "pane": page.click(".node h2")
        page.keyboard.press("Escape")
        page.wait_for_selector(".node >> text=drawing")
        assert chosen(page) == "1" and page.errors == []


def test_rows_are_spoken_with_what_they_say(outlined, outline_page):
    tree = outline_page[1]
    leaf = next(id for id, depth in in_outline(tree) if depth == 2)
    label = lambda: outlined.get_attribute(f".row[data-id='{leaf}']", "aria-label")
    told = f"{tree[leaf].size:,} documents, {100*tree[leaf].size/tree.n_docs:.0f}\xa0%"
    assert label() == f"{tree.title(leaf)}, {told}"
    rename(outlined, leaf, "ours")
    assert label() == f"ours, {told}"
    search(outlined, tree.top_terms(leaf, n=1)[0])
    assert label() == f"ours, {told}, word no. 1" and outlined.locator("main").count() == 1


def test_one_topic_has_nothing_to_cut_or_fold(chromium, tmp_path):
    corpus = planted_tree((2, 2), n_docs=80, texts=True, random_state=0)
    (tmp_path/"tree.html").write_text(HierNMF2(1).fit(count_pipeline(vocab=corpus.vocab).fit_transform(corpus.X)).tree_.to_html(), encoding="utf-8")
    with web.page(chromium) as page:
        page.goto(f"{(tmp_path/'tree.html').as_uri()}#/map")
        assert rows(page) == [""] and page.locator(".bar-of-tools button:visible, .bar-of-tools input").count() == 1 and page.errors == []


@pytest.mark.parametrize("width", [680, 780])
def test_two_panes_fill_a_tablet(chromium, outline_page, width):
    with web.page(chromium, width, 1000, has_touch=True, is_mobile=True) as page:
        page.goto(outline_page[0].as_uri())
        assert page.locator(".panes").bounding_box()["height"] > 700 and page.is_visible(".node") and page.is_visible(".tree")
        row = page.locator(".row[data-id='1']")
        (top, height), (mine, own) = [(box["y"], box["height"]) for box in (row.bounding_box(), row.locator("b").bounding_box())]
        assert height >= 44 and abs(top + height/2 - mine - own/2) < 2
