"Pictures: words that fit, cuts, colors, places, and axes that belong to somebody else"
import io
import re
import subprocess
import sys
import tracemalloc

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import scipy.sparse as sp
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose, assert_array_equal

from nmf2 import plots
from nmf2.plots import (HUES, SEVEN, Fitted, branches, drawable, ink, plot, plot_icicle, plot_map, plot_outline, plot_scores, plot_terms, plot_topics,
                        plot_tree, plot_treemap, shades, squarify, tint, wrap)
from nmf2.regroup import regroup
from nmf2.tree import Split, Tree

NASTY = ["$x_1$", "a_b", "100%", "{brace", "back\\slash", "^", "_", "$", "Donaudampfschifffahrtsgesellschaftskapitän"*2, "數據挖掘", "данные", "δεδομένα",
         "بيانات", "two words", "line\nbreak", "", "  ", "e\u0301te\u0301", "🙂", "<b>&amp;", "fi", "№", "I"]


def grown(n_leaves=60, n_docs=3000, n_terms=80, seed=0, skew=1., vocab="plain", chain=False):
    "A tree of random splits"
    rng = np.random.default_rng(seed)
    tree = Tree(n_docs, rng.random(n_terms), None)
    if vocab == "plain": tree.vocab = ["".join(rng.choice(list("abcdefghilmnoprstu"), rng.integers(2, 15))) for _ in range(n_terms)]
    if vocab == "nasty": tree.vocab = [NASTY[j%len(NASTY)] for j in range(n_terms)]
    def add(id, docs):
        share = np.clip(rng.beta(skew, skew), .05, .95)
        side = (rng.permutation(len(docs)) >= max(1, round(share*len(docs)))).astype(np.int8)
        split = Split(np.arange(n_terms, dtype=np.int32), rng.random((n_terms, 2))**4, rng.random((len(docs), 2)).astype(np.float32), side)
        tree.add(id, docs, score=rng.random() if id else np.inf, split=split)
    add("", np.arange(n_docs))
    while tree.n_leaves < n_leaves:
        leaf = max(tree.leaves(), key=lambda leaf: len(leaf.id) if chain else leaf.size)
        for side in (0, 1): add(leaf.id + "01"[side], leaf.docs[leaf.split.side == side])
        tree.splits.append(leaf.id)
    for leaf in tree.leaves()[::4]: leaf.score = -1.
    return tree


def documents(tree, n=400, seed=0): return sp.random(n, tree.n_terms, .1, "csr", random_state=seed)


def topics(tree, n): return np.array([leaf.topic for leaf in tree.leaves(n)])


PICTURES = dict(
    outline=lambda tree, n=None, ax=None: plot_outline(tree, (3, 8, tree.n_leaves if n is None else n), ax=ax),
    tree=plot_tree, treemap=plot_treemap, icicle=plot_icicle, scores=plot_scores,
    terms=lambda tree, n=None, ax=None: plot_terms(tree, tree.leaves(n)[0], ax=ax),
    topics=lambda tree, n=None, ax=None: plot_topics(topics(tree, n), tree.vocab, ax=ax),
    map=lambda tree, n=None, ax=None: plot_map(tree, documents(tree), n=n, ax=ax),
    labelled_map=lambda tree, n=None, ax=None: plot_map(tree, documents(tree), [NASTY[i%20] for i in range(400)], n=n, ax=ax),
    flat_map=lambda tree, n=None, ax=None: plot_map(np.random.default_rng(0).random((300, tree.n_leaves if n is None else n))**9, ax=ax))
each_picture = pytest.mark.parametrize("picture", PICTURES.values(), ids=PICTURES)
of_a_tree = pytest.mark.parametrize("picture", [plot_tree, plot_treemap, plot_icicle, plot_scores])


@pytest.fixture(autouse=True)
def clean():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def trees(): return dict(plain=grown(), nasty=grown(vocab="nasty", seed=1), skewed=grown(skew=.3, vocab=None, seed=2), chain=grown(chain=True, n_docs=5000, seed=3))


def words_in_place(fig):
    "Draw, then check that each text is in its box and in the figure, and no two overlap; gives the texts"
    fig.canvas.draw()
    texts = [text for ax in fig.axes for text in ax.texts if text.get_text()]
    places = np.array([text.get_window_extent().extents for text in texts]).reshape(-1, 4)
    assert (places[:,:2] >= fig.bbox.min - .5).all() and (places[:,2:] <= fig.bbox.max + .5).all()
    for text, place in zip(texts, places):
        low, high = np.sort(text.axes.transData.transform(np.reshape(text.box, (2, 2))), axis=0)
        assert (place[:2] >= low - 1).all() and (place[2:] <= high + 1).all(), text.get_text()
    a, b = places[:,None], places[None]
    meet = (np.minimum(a[...,2:], b[...,2:]) - np.maximum(a[...,:2], b[...,:2]) > .5).all(-1)
    i, j = np.nonzero(np.triu(meet, 1))
    assert not len(i), [(texts[i].get_text(), texts[j].get_text()) for i, j in zip(i, j)][:5]
    return texts


def shown(fig): return " ".join(" ".join(text.get_text().split()) for text in words_in_place(fig))


# ---- nothing overlaps

@pytest.mark.slow
@each_picture
@pytest.mark.parametrize("kind", ["plain", "nasty"])
@pytest.mark.filterwarnings("ignore:some letters")
def test_no_two_texts_overlap_at_sixty_leaves(trees, picture, kind):
    texts = words_in_place(picture(trees[kind]).figure)
    assert len(texts) >= 20


@pytest.mark.slow
@of_a_tree
@pytest.mark.parametrize("kind", ["skewed", "chain"])
def test_no_two_texts_overlap_in_trees_of_odd_shapes(trees, picture, kind): assert words_in_place(picture(trees[kind]).figure)


@pytest.mark.slow
@each_picture
@pytest.mark.parametrize("n", [1, 2, 5])
def test_no_two_texts_overlap_in_small_trees(trees, picture, n):
    words_in_place(picture(trees["plain"], n=n).figure)


@pytest.mark.slow
@each_picture
@pytest.mark.parametrize("size", [(1.5, 1), (3, 9), (12, 2)])
def test_a_small_or_odd_figure_gets_fewer_words(trees, picture, size):
    fig, axes = plt.subplots(1, 2, figsize=size)
    picture(trees["plain"], n=20, ax=axes[0])
    words_in_place(fig)


@pytest.mark.slow
@each_picture
def test_words_are_chosen_again_for_another_resolution_or_size(trees, picture):
    fig = picture(trees["plain"], n=10).figure
    for dpi in (50, 220):
        fig.set_dpi(dpi)
        words_in_place(fig)
    fig.set_size_inches(4, 3)
    words_in_place(fig)


@pytest.mark.slow
def test_frames_do_not_touch(trees):
    for kind in ("plain", "skewed"):
        fig = plot_tree(trees[kind], n=40).figure
        fig.canvas.draw()
        frames = [text.frame.get_window_extent() for text in fig.axes[0].texts if text.get_text()]
        assert not any(a.overlaps(b) for i, a in enumerate(frames) for b in frames[:i])


@pytest.mark.slow
@each_picture
def test_a_title_gets_room(trees, picture):
    ax = picture(trees["plain"], n=6)
    title = ax.set_title("a title")
    words_in_place(ax.figure)
    assert ax.figure.bbox.y1 >= title.get_window_extent().y1


@pytest.mark.slow
@each_picture
@pytest.mark.parametrize("form", ["pdf", "svg"])
def test_pictures_can_be_saved(trees, picture, form):
    file = io.BytesIO()
    picture(trees["plain"], n=4).figure.savefig(file, format=form, bbox_inches="tight")
    assert file.tell() > 1000


# ---- what is shown

@pytest.mark.parametrize("n", [1, 5, 20])
def test_the_tree_shows_the_nodes_of_the_cut(trees, n):
    tree, fig = trees["plain"], plot_tree(trees["plain"], n=n).figure
    text = shown(fig)
    for leaf in tree.leaves(n): assert f"({leaf.size:,})" in text
    fills = [to_rgb(t.frame.get_facecolor()) for t in fig.axes[0].texts if t.frame]
    assert len(fills) == 2*n - 1 and fills.count((1, 1, 1)) == n - 1


@pytest.mark.parametrize("n", [1, 5, 20, 60])
def test_the_areas_are_numbers_of_documents(trees, n):
    tree = trees["plain"]
    tiles = [path.get_extents() for path in plot_treemap(tree, n=n).collections[0].get_paths()]
    areas, sizes = np.sort([t.width*t.height for t in tiles]), np.sort([leaf.size for leaf in tree.leaves(n)])
    assert len(tiles) == n
    assert_allclose(areas/areas.sum(), sizes/sizes.sum(), rtol=.1)             # a little goes to the lines around groups
    tiles = [path.get_extents() for path in plot_icicle(tree, n=n).collections[0].get_paths()]
    assert len(tiles) == 2*n - 1
    cut = {leaf.id[:depth] for leaf in tree.leaves(n) for depth in range(len(leaf.id) + 1)}
    assert sorted(round(t.height) for t in tiles) == sorted(tree[id].size for id in cut)
    assert_allclose(sum(t.height for t in tiles if t.x1 == max(t.x1 for t in tiles)), tree.n_docs)


@of_a_tree
def test_words_that_look_like_formulas_are_shown_as_they_are(picture):
    tree = grown(3, vocab=None)
    tree.vocab = ["$a_b$", "x^2_$", "\\frac"]*26 + ["_", "$"]
    text = shown(picture(tree).figure)
    assert "$a_b$" in text and "x^2_$" in text and "\\frac" in text


def test_names_are_shown_and_marked_when_cut():
    tree = grown(4)
    tree.rename(tree.leaves()[0], "a name of a few words")
    for picture in (plot_tree, plot_treemap, plot_icicle): assert "a name of a few words (" in shown(picture(tree).figure)
    assert "more than in" in shown(plot_terms(tree, tree.leaves()[0]).figure)
    fig, ax = plt.subplots(figsize=(2, 2))
    Fitted(ax, (0, 0, .4, .1), "a very long name indeed".split(), "(7)", whole=True)
    assert "…" in shown(fig)


@pytest.mark.slow
@of_a_tree
def test_a_tree_that_was_never_split(picture):
    for vocab in ("plain", None):
        tree = grown(1, vocab=vocab)
        words_in_place(picture(tree).figure)
        assert len(words_in_place(plot_terms(tree, "").figure)) == 21
    assert "all documents (3,000)" in shown(plot_tree(tree).figure)


def test_without_a_vocabulary_terms_are_numbers():
    tree = grown(3, vocab=None)
    assert f"{tree.top_terms('0', n=1)[0]} " in shown(plot_tree(tree).figure)
    assert shown(plot_topics(topics(tree, 3)).figure).count("topic") == 3


def test_terms_show_weights_and_differences():
    tree = grown(3)
    text = shown(plot_terms(tree, "0", n_terms=4).figure)
    for term, more in tree.contrast("0", 4): assert term in text and f"{more:.2f}" in text
    for term in tree.top_terms("0", n=4): assert term in text
    assert "more than in" not in shown(plot_terms(tree, "0", against=False).figure)


def test_scores_are_in_the_order_of_the_splits():
    tree = grown(12)
    ax = plot_scores(tree, n=8, ahead=2)
    dots = [line for line in ax.lines if line.get_marker() in ("o", ">")]
    heights, places = np.array([(*line.get_ydata(), *line.get_xdata()) for line in dots]).T
    coming = sorted((leaf.score for leaf in tree.leaves(8) if leaf.score >= 0), reverse=True)[:2]
    scores = [tree[id].score for id in tree.splits[:7]] + coming
    assert (np.diff(heights) > 0).all() and dots[0].get_marker() == ">" and places[0] == max(places)
    assert_allclose(np.corrcoef(places[1:], scores[1:])[0,1], 1)
    assert [line.get_markerfacecolor() for line in dots].count("white") == 2
    bad = sum(leaf.score < 0 for leaf in tree.leaves(8))
    assert f"{bad} that must not be split" in shown(ax.figure)


def test_leaves_of_a_regrouped_tree_may_be_split():
    X = sp.random(200, 30, .2, "csr", random_state=0)
    tree = regroup(X, np.arange(200) % 4, vocab=[f"word{j}" for j in range(30)])
    assert all(leaf.score < 0 for leaf in tree.leaves()) and "must not" not in shown(plot_scores(tree).figure)


def test_outline_has_the_topics_of_its_levels():
    tree = grown(9)
    tree.headings = {node.id: ["red wine", "cork", f"word{k}"] for k, node in enumerate(tree) if node.id}
    tree.rename(tree.leaves(4)[1].id, "a name")
    ax = plot_outline(tree, (4, 9), n_terms=2)
    text = shown(ax.figure)
    wanted = {node.id: node for n in (4, 9) for node in tree.leaves(n)}
    assert len(ax.texts) == len(wanted) + 1 and "a name" in text and text.count("red wine, cork") == len(wanted) - 1
    assert sorted(f"{node.size:,}" for node in [tree[""], *wanted.values()]) == sorted(re.findall(r"\(([\d,]+)\)", text))
    assert len(ax.lines) == len(wanted)                                                 # one leads to each
    third = {node.id: f"word{k}" for k, node in enumerate(tree)}                       # topics with parts have more words
    assert all((re.search(rf"{third[id]}\b", text) is not None) == bool(node.children and id not in tree.names) for id, node in wanted.items())
    tree.levels = (3, 9)
    assert shown(tree.plot().figure) == shown(plot_outline(tree).figure) != shown(plot_tree(tree).figure)
    assert shown(tree.plot(5).figure) == shown(plot_tree(tree, 5).figure) and shown(plot(tree, levels=(2,)).figure) == shown(plot_outline(tree, (2,)).figure)


def test_a_broad_topic_and_what_is_in_it_have_one_color():
    tree = grown(9)
    ax = plot_outline(tree, (2, 9))
    edges = {text.get_text().split("(")[-1]: text.frame.get_edgecolor()[:3] for text in words_in_place(ax.figure)}
    for hue, top in zip(HUES, sorted(tree.leaves(2), key=lambda node: -node.size)):
        for node in [top, *(leaf for leaf in tree.leaves() if leaf.id.startswith(top.id))]:
            if sum(other.size == node.size for other in tree) == 1: assert_allclose(edges[f"{node.size:,})"], to_rgb(hue))


def test_lines_of_the_outline_lead_from_parents_to_children():
    tree = grown(7)
    ax = plot_outline(tree, (3, 7))
    ax.figure.canvas.draw()
    lefts = {round(text.box[0], 6) for text in ax.texts}
    for line in ax.lines: assert {round(line.get_xdata()[0], 6), round(line.get_xdata()[-1], 6)} <= lefts
    ends = sorted(line.get_ydata()[-1] for line in ax.lines)
    assert len(set(ends)) >= 7 and min(ends) >= 0


# ---- the map

def test_documents_are_nearest_to_the_island_of_their_topic():
    tree = grown(6)
    X = documents(tree)
    hard, spots = tree.predict(X), plot_map(tree, X).collections[0].get_offsets()
    assert_array_equal(spots, plot_map(tree, X).collections[0].get_offsets())
    middle = np.array([spots[hard == k].mean(0) for k in range(6)])
    radius = np.sqrt(np.bincount(hard, minlength=6)/len(hard))
    assert_array_equal((np.hypot(*(spots[:,None] - middle).transpose(2, 0, 1)) - radius).argmin(1), hard)


def test_topics_that_share_documents_are_near():
    W = np.zeros((60, 6))
    for i, pair in enumerate([(0, 3), (0, 3), (1, 5), (1, 5), (2, 4), (2, 4), (3, 1)]): W[8*i:8*i+8,list(pair)] = 1
    near, groups = plots._joined(W)
    assert_array_equal(near, near.T)
    assert (np.diag(near) == 0).all() and all(near[i,j] > near[i,[k for k in range(6) if k not in (i, j)]].max() for i, j in ((0, 3), (1, 5), (2, 4)))
    assert near[0,1] > near[0,2] and len(np.unique(groups)) == 5


def test_colors_of_the_map():
    W = np.eye(9)[np.arange(90)%9]
    labels = [f"l{min(i%9, 8)}" for i in range(90)]
    ax = plot_map(W, labels=labels, names=[f"n{j}" for j in range(9)])
    colors = ax.collections[0].get_facecolors()[:,:3]
    assert len(np.unique(colors, axis=0)) == len(SEVEN) + 1
    text = shown(ax.figure)
    assert "2 others (20)" in text and all(f"n{j}" in text for j in range(9))
    assert len(np.unique(plot_map(W).collections[0].get_facecolors()[:,:3], axis=0)) == 9


def test_empty_documents_are_left_out():
    tree = grown(4)
    X = documents(tree, 50).tolil()
    X[[3, 7]] = 0
    rows = (X.tocsr().sum(1) > 0).sum()
    assert len(plot_map(tree, X.tocsr(), list(range(50))).collections[0].get_offsets()) == rows
    assert len(plot_map([[1., 0], [0, 0], [1, 3]]).collections[0].get_offsets()) == 2


@pytest.mark.slow
def test_many_documents_are_an_image_in_a_pdf():
    W = np.random.default_rng(0).random((100_000, 4))
    ax, file = plot_map(W), io.BytesIO()
    assert ax.collections[0].get_rasterized() and len(ax.collections[0].get_offsets()) == 100_000
    ax.figure.savefig(file, format="pdf")
    assert file.tell() < 500_000


def test_the_words_of_a_pdf_are_words_behind_an_image():
    file = io.BytesIO()
    with plt.rc_context({"pdf.compression": 0}): plot_map(np.eye(4), names=["one", "two", "three", "four"]).figure.savefig(file, format="pdf")
    assert file.getvalue().count(b"BT\n") >= 4


# ---- the helpers

def test_wrap_by_hand():
    assert wrap(["aa", "bb", "cc"], 5, 2, len) == ["aa bb", "cc"]
    assert wrap(["aa", "bb", "cc"], 5, 1, len) == []
    assert wrap(["aaaaaaaa"], 5, 1, len) == [] and wrap(["aaaaaaaa"], 5, 1, len, cut=True) == ["aaaa…"]
    assert wrap(["aaa"], 2, 1, len, cut=True) == [] and wrap([], 5, 1, len) == []
    assert wrap(["aa"], 2, 1, len) == ["aa"]


def test_wrap_at_random():
    rng = np.random.default_rng(0)
    for _ in range(200):
        words = ["".join(rng.choice(list("abc"), rng.integers(1, 12))) for _ in range(rng.integers(1, 7))]
        room, n_lines = rng.integers(3, 20), rng.integers(1, 5)
        lines = wrap(words, room, n_lines, len)
        assert len(lines) <= n_lines and all(len(line) <= room for line in lines)
        if lines: assert " ".join(lines).split() == words
        if max(map(len, words)) <= room: assert wrap(words, room, len(words), len)
        assert all(len(line) <= room for line in wrap(words, room, n_lines, len, cut=True))


@pytest.mark.filterwarnings("ignore:some letters")
def test_drawable_words_have_letters_of_some_font():
    words, fonts = drawable(NASTY)
    assert len(words) == len(NASTY) and "\n" not in "".join(words) and fonts[0] in matplotlib.rcParams["font.family"]
    with pytest.warns(UserWarning, match="some letters are in no font"): assert drawable(["a\U000F1234"])[0] == ["a□"]


def test_more_room_never_means_fewer_letters():
    fig, ax = plt.subplots(figsize=(6, 3))
    found = []
    for width in np.linspace(.02, .9, 12):
        text = Fitted(ax, (0, 0, width, .5), "several words of many letters".split(), "(12)")
        fig.canvas.draw()
        found.append(len(text.get_text().replace("…", "")))
        text.remove()
    assert found[0] == 0 and found[-1] == len("several words of many letters (12)") and (np.diff(found) >= -2).all()


def test_squarify_fills_the_rectangle():
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 60):
        sizes = np.sort(rng.pareto(1.5, n) + .01)[::-1]
        tiles = np.array(squarify(sizes, (1, 2, 8, 5)))
        assert_allclose(tiles[:,2]*tiles[:,3], sizes/sizes.sum()*40)
        x0, y0, x1, y1 = tiles[:,0], tiles[:,1], tiles[:,0] + tiles[:,2], tiles[:,1] + tiles[:,3]
        assert x0.min() >= 1 - 1e-9 and y0.min() >= 2 - 1e-9 and x1.max() <= 9 + 1e-9 and y1.max() <= 7 + 1e-9
        across, down = np.minimum.outer(x1, x1) - np.maximum.outer(x0, x0), np.minimum.outer(y1, y1) - np.maximum.outer(y0, y0)
        assert not np.triu((across > 1e-9) & (down > 1e-9), 1).any()
    assert np.median(np.maximum(tiles[:,2]/tiles[:,3], tiles[:,3]/tiles[:,2])) < 2


def test_a_branch_keeps_its_color():
    tree = grown(20)
    hue = branches(tree)
    assert len({hue[leaf.id] for leaf in tree.leaves(len(HUES))}) == len(HUES)
    for id in tree.splits:
        children = tree[id].children
        assert hue[max(children, key=lambda child: child.size).id] == hue[id] or children[0].size == children[1].size
    for id in tree.splits[len(HUES)-1:]: assert {hue[child.id] for child in tree[id].children} == {hue[id]}
    smaller = Tree(tree.n_docs, tree.root_topic)
    smaller.nodes, smaller.splits = tree.nodes, tree.splits[:9]
    assert {id: branches(smaller)[id] for id in smaller.splits} == {id: hue[id] for id in smaller.splits}


def contrast(a, b):
    def light(color): return np.where((c := np.array(to_rgb(color))) <= .04045, c/12.92, ((c + .055)/1.055)**2.4) @ [.2126, .7152, .0722] + .05
    return max(light(a)/light(b), light(b)/light(a))


def test_words_on_tiles_stand_out():
    for hue in HUES:
        for white in (.3, .45, .6, .82): assert contrast(ink(tint(hue, white)), tint(hue, white)) > 4.5
    assert ink("black") == "white" and ink("white") != "white"


def test_leaves_of_a_branch_have_different_shades():
    tree = grown(60)
    assert len(set(shades(tree, tree.leaves(), (.3, .6)).values())) == 60


# ---- manners

@pytest.mark.slow
@each_picture
def test_pictures_leave_everything_as_it_was(trees, picture):
    tree, settings = trees["plain"], dict(matplotlib.rcParams)
    before, names, arrays = tree.to_json(), dict(tree.names), [(node.docs.copy(), node.split.Ht.copy()) for node in tree]
    picture(tree, n=12).figure.canvas.draw()
    assert dict(matplotlib.rcParams) == settings
    assert tree.to_json() == before and tree.names == names
    for node, (docs, Ht) in zip(tree, arrays):
        assert_array_equal(node.docs, docs)
        assert_array_equal(node.split.Ht, Ht)


@each_picture
def test_pictures_use_the_axes_they_are_given(trees, picture):
    fig, axes = plt.subplots(1, 2)
    assert picture(trees["plain"], n=5, ax=axes[1]) is axes[1]
    assert len(plt.get_fignums()) == 1 and axes[0].axison and not axes[0].texts
    for wrong in (plt, fig, plt.figure().add_subplot(projection="polar")):
        with pytest.raises(ValueError, match="ax must be axes"): picture(trees["plain"], n=5, ax=wrong)


def test_a_tree_can_plot_itself():
    tree = grown(5)
    assert shown(tree.plot(3).figure) == shown(plot_tree(tree, n=3).figure)


@of_a_tree
def test_mistakes_are_named_before_anything_is_drawn(picture):
    tree = grown(5)
    class Model: tree_ = tree
    for wrong, match in (((Model(),), "give model.tree_"), (("tree",), "tree must be a Tree"), ((tree, 6), "n must be at most 5"), ((tree, 0), "n must be"),
                         ((tree, 3, 0), "n_terms must be"), ((tree, 3, "all"), "n_terms must be")):
        with pytest.raises(ValueError, match=match): picture(*wrong)
    assert not plt.get_fignums()


def test_mistakes_with_topics_documents_and_nodes():
    tree = grown(5)
    X, H = documents(tree), topics(tree, 5)
    for call, match in ((lambda: plot_map(tree), "X must be given"), (lambda: plot_map(tree, X, [1]), "labels must have one entry for each of the 400"),
                        (lambda: plot_map(tree, X[:,:3]), "X has 3 features"), (lambda: plot_map(H, X), "X must be left out"),
                        (lambda: plot_map(H, n=2), "n must be left out"), (lambda: plot_map(-H), "tree_or_W must be a Tree"),
                        (lambda: plot_map("x"), "tree_or_W must be"), (lambda: plot_map(H*np.nan), "tree_or_W must be"),
                        (lambda: plot_map(tree, X, names=["a"]), "names must have one entry for each of the 5"),
                        (lambda: plot_outline(tree, levels=()), "levels must be"), (lambda: plot_outline(tree, levels=(0, 3)), "levels must be"),
                        (lambda: plot(tree, n=3, levels=(2, 3)), "n and levels"),
                        (lambda: plot_map(np.zeros((3, 2))), "no document"),
                        (lambda: plot_topics(H, tree.vocab[:3]), "vocab must have one entry for each of the 80"),
                        (lambda: plot_topics(H[0]), "H must be"), (lambda: plot_topics(tree), "H must be"), (lambda: plot_topics(H, names=["a"]), "names must"),
                        (lambda: plot_topics(H, n_columns=0), "n_columns must be"), (lambda: plot_terms(tree, "0", 0), "n_terms must be"),
                        (lambda: plot_scores(tree, ahead=0), "ahead must be"), (lambda: squarify([1, 0], (0, 0, 1, 1)), "sizes must be")):
        with pytest.raises(ValueError, match=match): call()
    with pytest.raises(KeyError, match="no node '2'"): plot_terms(tree, "2")
    assert not plt.get_fignums()


@pytest.mark.slow
def test_importing_it_does_not_import_pyplot():
    code = "import sys, nmf2.plots; print('matplotlib.pyplot' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False"


@pytest.mark.slow
def test_words_labels_and_names_of_a_megabyte():
    tree, long = grown(9, 400), "x"*500_000 + " y"*250_000
    tree.vocab = [long] + list(tree.vocab[1:])
    for id in ("", "0"): tree[id].split.Ht[0] = 2
    tree.rename("1", long)
    labels = [long] + ["a", "b"]*199 + ["c"]
    for ax in (plot_tree(tree), plot_treemap(tree), plot_icicle(tree), plot_scores(tree), plot_terms(tree, "0"),
               plot_topics(topics(tree, 9), tree.vocab, names=[long]*9), plot_map(tree, documents(tree), labels, names=[long]*9)):
        assert max(len(text.get_text()) for text in words_in_place(ax.figure)) < 200
    tracemalloc.start()
    try: plot_map(tree, documents(tree), labels)
    finally: peak = tracemalloc.get_traced_memory()[1]; tracemalloc.stop()
    assert peak < 100*len(long)                               # the labels as an array of texts would take 1,600 times as much
