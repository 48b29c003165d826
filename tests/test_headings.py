"""Words and phrases that tell nodes apart, and trees in outline"""
import re
from itertools import combinations

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from nmf2.data import planted_tree
from nmf2.flat import FlatNMF2
from nmf2.headings import (SHOWN, Phrase, _another, _in_turn, _leaf_words, _parts_in_turn, _speak_for_more, _subjects_first, _telling_words, _together,
                           _together_first, _tree_leaves, checked_levels, distinction, find_headings, find_phrases, give_headings,
                           good_levels, leaf_profiles, name_nodes, outline, outline_rows, outside, ranked_words, returning, same_word, smoothed_npmi, tree_phrases, uses_of)
from nmf2.regroup import regroup
from nmf2.weighting import count_pipeline


@pytest.fixture
def tree(planted): return regroup(*planted)

@pytest.fixture(scope="module")
def planted():
    corpus = planted_tree((3, 3), n_docs=450, random_state=2)
    X = count_pipeline(vocab=corpus.vocab).fit_transform(corpus.X)
    return X, FlatNMF2(9).fit(X).labels_


def words_of(entries): return {word for entry in entries for word in entry.split(" ")}


def test_headings(tree):
    headings = find_headings(tree, 3)
    assert set(headings) == set(tree.nodes) - {""} and all(0 < len(words) <= 3 for words in headings.values())
    frequent = str(tree.vocab[tree.root_topic.argmax()])
    assert sum(frequent in words for words in headings.values()) < len(headings)/2
    for words in headings.values(): assert not any(same_word(a, b) for a, b in combinations(words, 2))


@pytest.mark.parametrize("n", [1, 4, 12])
def test_no_word_heads_three_nodes_side_by_side(n):
    """Few words and many clusters at random: every word is wanted by many nodes."""
    rng = np.random.default_rng(n)
    X = sp.random(300, 25, .3, "csr", rng=rng) + sp.csr_array((np.ones(300), (np.arange(300), rng.integers(25, size=300))), shape=(300, 25))
    tree = regroup(sp.csr_array(X), np.concatenate([np.arange(20), rng.integers(20, size=280)]), [f"w{a}{b}" for a in "abcde" for b in "vwxyz"])
    headings = find_headings(tree, n)
    for word in set().union(*map(set, headings.values())):
        heads = [id for id, words in headings.items() if word in words]
        for some in combinations(heads, 3): assert any(a != b and a.startswith(b) for a in some for b in some), (word, some)


def test_a_phrase_takes_the_place_of_its_words(tree):
    words = find_headings(tree, 3)["0"]
    phrase = Phrase(words[0], words[1], 50, 60, 70)
    headings = find_headings(tree, 3, [phrase])
    assert headings["0"][0] == f"{words[0]} {words[1]}" and len(headings["0"]) == 3 and not words_of(headings["0"][1:]) & set(words[:2])
    rare = find_headings(tree, 3, [phrase._replace(n_first=500, n_second=500)])
    assert rare == find_headings(tree, 3)
    third = find_headings(tree, 3, [phrase._replace(before="newword")])
    assert third["0"] == [f"newword {words[0]} {words[1]}", *headings["0"][1:]]
    pair = Phrase(words[1], words[2], 50, 60, 70)
    again = find_headings(tree, 3, [pair._replace(after=words[0] + "s")])                     # a form of a word before
    assert again["0"] == find_headings(tree, 3, [pair])["0"]


@pytest.mark.parametrize("seed", range(3))
def test_words_that_come_again(seed):
    rng = np.random.default_rng(seed)
    runs = ["Aa", "bb", "cc", "dd", "x", "bb@cc.de", "aa.bb.cc", "(http://cc", "aa...", "bb.cc", "dd..aa", "ftp.Aa.bb,", "ff@cc.de"]
    texts = [" ".join(rng.choice(runs, size=rng.integers(1, 9))) for _ in range(160)]
    words = {"aa", "bb", "cc", "ff", "zz"}
    uses = uses_of(texts, words)
    found = returning(uses)
    assert found == pytest.approx(naive.returning(texts, words)) and found["zz"] == 1
    assert outside(uses) == pytest.approx(naive.outside(texts, words)) and min(outside(uses).values()) < 1
    few = ["aa", "zz", "ff", "bb"]
    assert_allclose(smoothed_npmi(uses, few), [[naive.smoothed_npmi(texts, a, b) for b in few] for a in few])
    assert returning(uses_of(texts, words, lowercase=False))["aa"] == 1                           # none is written so
    assert set(returning(uses_of((), words)).values()) == set(returning(uses_of(["aa bb"]*9, words)).values()) == {1}
    assert not smoothed_npmi(uses_of((), words), few).any()


def test_words_of_addresses_do_not_come_again():
    texts = ["the card, that card: jo@pitt.edu or http://pitt/jo or ftp.pitt.edu", "a card, one card of pitt.edu"]*40
    found = returning(uses_of(texts, ["card", "pitt", "ftp", "zz"]))
    assert found["card"] == found["zz"] == 1 and found["pitt"] < .2 and found["ftp"] < .3
    assert returning(uses_of(["jo@a.b pitt, pitt"]*40, ["pitt"]))["pitt"] == 1
    long = ["x"*50 + "."]*100 + ["a-"*2500, "a.b"*2000, "@"*5000]
    assert returning(uses_of(["".join(long[:100]), *long[100:]], ["xx"])) == {"xx": 1}                     # and in no time


def test_words_that_come_once_do_not_head_inner_nodes(tree):
    """A word that is in every document, once, of half of the tree; the others come twice."""
    telling = _telling_words(tree, 72)
    once = str(tree.vocab[telling["0"][0][0]])
    texts = [" ".join(word if word == once else f"{word} {word}" for word in tree.vocab) for _ in range(450)]
    worth = returning(uses_of(texts, tree.vocab))
    ordered = _subjects_first(tree, telling, worth, {})
    for id, (words, values) in telling.items():
        worths = [worth[str(word)] if tree[id].children else 1 for word in tree.vocab[words]]
        assert dict(zip(*ordered[id])) == dict(zip(words, values*worths)) and (np.diff(ordered[id][1]) <= 0).all()
    assert str(tree.vocab[ordered["0"][0][0]]) != once
    give_headings(tree, texts)
    assert tree.headings["0"][0].split(" ")[0] != once


@pytest.mark.parametrize("seed", range(4))
def test_phrases_by_counting(seed):
    rng = np.random.default_rng(seed)
    marks = [" ", " ", " ", "-", "\n", ", ", "  "]
    pairs = ["Aa{}bb", "CC{}ff", "ff{}Gg", "aA", "dd", "ee", "Hh", "ii"]
    texts = ["".join(str(rng.choice(pairs)).format(rng.choice(marks)) + str(rng.choice(marks)) for _ in range(4)) for _ in range(60)]
    texts = [re.sub("cc.ff", f"{third} \\g<0>", text, flags=re.I | re.S) for text, third in zip(texts, ["Jj"]*55 + ["kk"]*5)]
    words = {"aa", "bb", "cc", "ff"}
    for thirds in ((), {"aa", "bb", "gg", "hh", "jj", "kk"}):
        found = find_phrases(texts, words, least=3, thirds=thirds)
        assert found and {(p.first, p.second): tuple(p[2:]) for p in found} == naive.phrases(texts, words, least=3, thirds=thirds)
        assert ("jj cc ff" in map(str, found)) == bool(thirds)
    assert [p.n_docs for p in found] == sorted((p.n_docs for p in found), reverse=True)


def test_phrases_of_a_tree():
    texts = ["the clipper chip has a secret key"]*30 + ["a chip of silicon, key of tin"]*10 + ["new york times"]*20
    labels = np.repeat([0, 1, 2], [30, 10, 20])
    vocab = sorted(words_of(re.sub(",", "", text) for text in texts))
    X = sp.csr_array(np.array([[text.replace(",", "").split().count(word) for word in vocab] for text in texts], float))
    tree = regroup(X, labels, vocab)
    found = {str(phrase) for phrase in tree_phrases(tree, texts)}
    assert {"the clipper chip", "secret key", "new york times"} <= found and "silicon key" not in found


def test_words_are_ranked_once(tree, monkeypatch):
    """Headings with phrases from one ranking, the same as from three."""
    texts = [" ".join(tree.vocab[np.random.default_rng(i).permutation(len(tree.vocab))[:30]]) for i in range(450)]
    telling = _telling_words(tree, 72)
    leaves = _tree_leaves(tree, telling, {})
    def by_steps(texts=(), phrases=()):
        uses = uses_of(texts, {str(word) for words, _ in telling.values() for word in tree.vocab[words]})
        ranked = _parts_in_turn(tree, telling, leaves) | _together_first(tree, telling, uses)
        more = _speak_for_more(tree, ranked, find_headings(tree, phrases=phrases, ranked=ranked), leaves)
        return find_headings(tree, phrases=phrases, ranked=more)
    apart = by_steps([texts[i] for i in sorted({int(i) for leaf in tree.leaves() for i in tree.typical(leaf, 100)})], tree_phrases(tree, texts, least=2))
    calls = []
    def counted(tree, n):
        calls.append(n)
        return _telling_words(tree, n)
    monkeypatch.setattr("nmf2.headings._telling_words", counted)
    give_headings(tree, texts, least=2)
    assert calls == [72] and tree.headings == apart
    give_headings(tree)
    assert tree.headings == by_steps()


@pytest.mark.parametrize("seed", range(3))
def test_words_of_leaves_are_taken_in_turn(seed):
    rng = np.random.default_rng(seed)
    values, C = -np.sort(-rng.random(20)), rng.uniform(-1, 1, (20, 20))
    order = _together(values, C, 8)
    assert order[0] == 0 and len(set(order)) == 8
    for i in range(1, 8):
        gains = {j: values[j]*(1 + np.mean([C[j,o] for o in order[:i]])) for j in range(20) if j not in order[:i]}
        assert gains[order[i]] == max(gains.values())
    assert _together(values, np.zeros((20, 20)), 30) == list(range(20))


def test_words_in_addresses_do_not_head_leaves():
    """All texts of a leaf are signed with an address of the same place, and half have each other word."""
    kinds = ["doctor disease medicine", "doctor treatment patient", "disease treatment hospital", "medicine patient hospital"]
    texts = [f"{kinds[i % 4]} (jo@cs.pittnet.edu)" for i in range(400)] + ["a car has an engine"]*400
    vocab = sorted(words_of(re.sub(r"\W", " ", text) for text in texts) - {""})
    X = sp.csr_array(np.array([[re.sub(r"\W", " ", text).split().count(word) for word in vocab] for text in texts], float))
    tree = regroup(X, np.repeat([0, 1], 400), vocab)
    leaf = next(leaf.id for leaf in tree.leaves() if 0 in leaf.docs)
    give_headings(tree)
    assert words_of(tree.headings[leaf]) & {"pittnet", "edu", "cs", "jo"}
    give_headings(tree, texts)
    assert not words_of(tree.headings[leaf][:3]) & {"pittnet", "edu", "cs", "jo"}


def spoken_for(tree, id, entries):
    """The share of the votes of a node's leaves that have one of some words among their eight most telling, word by word."""
    P, leaves = leaf_profiles(tree)
    roots = np.array([leaf.size for leaf in leaves])**.5
    background, votes = roots/roots.sum() @ P, 0
    for p, leaf, root in zip(P, leaves, roots):
        telling = distinction(p, background)
        best = sorted(range(len(p)), key=lambda j: -telling[j])[:8]
        if leaf.id.startswith(id) and words_of(entries) & {str(tree.vocab[j]) for j in best}: votes += root
    return votes/sum(root for leaf, root in zip(leaves, roots) if leaf.id.startswith(id))


def naive_in_turn(tree, id, words, values):
    """Each time the word with the greatest value times one plus the votes of the leaves that it speaks for and none before does."""
    taken = []
    while len(taken) < min(SHOWN, len(words)):
        def gain(j): return values[j]*(1 + spoken_for(tree, id, [*taken, words[j]]) - spoken_for(tree, id, taken))
        j = max((j for j in range(len(words)) if words[j] not in taken), key=lambda j: (round(gain(j), 12), -j))
        taken.append(words[j])
    return taken


def test_words_are_taken_in_turn(tree):
    telling = _telling_words(tree, 20)
    ranked = _parts_in_turn(tree, telling, _tree_leaves(tree, telling, {}))
    for id, (numbers, values) in telling.items():
        words = [str(word) for word in tree.vocab[numbers]]
        assert sorted(ranked[id]) == sorted(numbers)
        found = [str(word) for word in tree.vocab[ranked[id]]]
        expected = naive_in_turn(tree, id, words, values) if tree[id].children else words[:SHOWN]
        assert found == expected + [word for word in words if word not in expected]


def test_in_turn():
    best, votes = np.array([[True, True, True, False], [False, False, False, True]]), np.array([.5, .5])
    assert _in_turn(np.array([1., .9, .8, .7]), best, votes) == [0, 3, 1, 2]
    assert _in_turn(np.array([1., .9, .8, .5]), best, votes) == [0, 1, 2, 3]                       # too little to tell
    assert _in_turn(np.array([1., .9, .8, .7]), best, np.array([1., 0.])) == [0, 1, 2, 3]          # by a leaf without a vote
    assert _in_turn(np.array([2., 1.]), best[:, :2], votes) == [0, 1] and _in_turn(np.empty(0), best[:, :0], votes) == []


def test_last_words_for_the_leaves_that_are_not_spoken_for(tree):
    ranked, leaves = ranked_words(tree), _tree_leaves(tree, _telling_words(tree, 72), {})
    before = find_headings(tree, ranked=ranked)
    after = find_headings(tree, ranked=_speak_for_more(tree, ranked, before, leaves))
    changed = {id for id in before if before[id] != after[id]}
    assert changed and all(tree[id].children for id in changed)
    for id in before:
        if not tree[id].children: continue
        first = next((n for n in range(SHOWN) if before[id][n] != after[id][n]), SHOWN)
        assert first >= SHOWN - 2 and not (spoken_for(tree, id, before[id][:SHOWN]) >= .5 and id in changed)
        if first < SHOWN: assert spoken_for(tree, id, after[id][:SHOWN]) > spoken_for(tree, id, before[id][:first])
        if first == SHOWN - 2: assert spoken_for(tree, id, after[id][:SHOWN]) >= spoken_for(tree, id, before[id][:SHOWN])


def test_a_second_word_gives_way_where_one_is_not_enough():
    """Six leaves with four words in common and eight of their own each, beside a seventh."""
    own = [f"{a}{b}" for a in "uvwxyz" for b in "12345678"]
    labels = np.repeat(np.arange(7), [30]*6 + [60])
    X = np.hstack([.5*(labels < 6)[:, None].repeat(4, 1), (labels[:, None] == np.arange(7)).repeat(8, 1)])
    tree = regroup(sp.csr_array(X), labels, [*"abcd", *own, *"ijklmnop"])
    broad, = (node.id for node in tree if node.id and sum(leaf.id.startswith(node.id) for leaf in tree.leaves()) == 6)
    assert find_headings(tree)[broad][:SHOWN] == [*"abcd"]
    words = tree.headings[broad][:SHOWN]
    assert words[:2] == ["a", "b"] and set(words[2:]) <= set(own) and words[2][0] != words[3][0]


def test_a_tree_of_one_leaf_has_no_headings():
    assert regroup(sp.csr_array(np.ones((5, 3))), np.zeros(5, int), [*"abc"]).headings == {}


def test_another_word():
    telling, best = _leaf_words(np.array([[.6, .4, 0], [.6, 0, .4]]), np.ones(3), np.array([.6, .2, .2]), 1)
    assert telling.tolist() == best.tolist() == [[0, 1, 0], [0, 0, 1]]
    votes, spread = np.array([.7, .3]), np.array([1., .7, .3])
    assert _another([0], telling, best, votes, spread) == 1 and _another([1], telling, best, votes, spread) == 2
    assert _another([1, 2], telling, best, votes, spread) is None                       # all leaves are spoken for
    alike, none = _leaf_words(np.full((2, 3), 1/3), np.ones(3), np.full(3, 1/3))
    assert not alike.any() and _another([], alike, np.zeros_like(none), votes, spread) is None


def test_levels_that_are_given(tree):
    assert checked_levels(tree, (50, 3, 3)) == [3, 9] and checked_levels(tree, 4) == [4] and checked_levels(tree, ()) == []


def test_outline(tree):
    lines = outline(tree, (3, 9), 2).splitlines()
    assert lines[0] == "450 documents" and len(lines) == 1 + 3 + 9 and sum(line.startswith("      ") for line in lines) == 9
    assert len(outline(tree, 3).splitlines()) == 4 and outline(tree, (50,)) == outline(tree, (9,))
    assert outline(tree) == outline(tree, tree.levels) == outline(tree, (3, 9))
    tree.rename(tree.leaves(3)[0].id, "the first of three")
    assert "the first of three" in outline(tree, 3)
    for n in range(1, 10):
        rows = outline_rows(tree, (n, 9))
        assert sorted(node.id for node, _ in rows) == sorted({node.id for m in (n, 9) for node in tree.leaves(m) if node.id})
        for i, (node, depth) in enumerate(rows):
            if depth: assert any(d == depth - 1 and node.id.startswith(above.id) for above, d in rows[:i])


def test_levels_are_where_scores_fall(tree):
    assert good_levels(tree) == (3, 9)
    for k, size in ((1, 1), (2, 1), (6, 1), (7, 2), (60, 3)):
        X = sp.csr_array(np.random.default_rng(k).random((90, 50)))
        levels = good_levels(regroup(X, np.arange(90) % k))
        assert levels[-1] == k and list(levels) == sorted(set(levels)) and len(levels) == size, (k, levels)


def test_names_by_a_function(tree):
    texts = [f"text {i}" for i in range(450)]
    seen = []
    def function(words, texts):
        seen.append((words, texts))
        return f"about {words[0]}" if len(seen) % 2 else ""
    name_nodes(tree, function, texts, n_docs=2)
    assert len(seen) == len(tree.nodes) - 1 and all(len(some) == 2 for _, some in seen)
    assert len(tree.names) == len(seen)//2 and all(name.startswith("about ") for name in tree.names.values())
    def fails(words, texts): return {}[len(words)] if len(texts) else "a name"
    before = dict(tree.names)
    with pytest.raises(KeyError): name_nodes(tree, fails, texts)
    assert tree.names == before


def test_distinction_is_the_divergence():
    p, q = np.array([.5, .3, .2, 0]), np.array([.1, .2, .3, .4])
    assert_allclose(distinction(7*p, 3*q).sum(), .5*np.log(5) + .3*np.log(1.5) + .2*np.log(2/3))
    assert_allclose(distinction(p, p), 0)


@pytest.mark.parametrize("a, b, same", [("gun", "guns", True), ("guns", "gun", True), ("box", "boxes", True), ("encryption", "encrypted", True),
                                        ("christ", "christian", True), ("car", "card", False), ("state", "static", False), ("a", "b", False),
                                        ("international", "internet", False), ("", "s", True)])
def test_forms_of_a_word(a, b, same): assert same_word(a, b) == same


def test_what_must_be_there(tree):
    with pytest.raises(ValueError, match="function must be callable"): name_nodes(tree, "a name")
    with pytest.raises(ValueError, match="levels"): outline(tree, (0, 3))
    for wrong in ([], [[2, 3]]):
        with pytest.raises(ValueError, match="levels must be numbers of leaves"): outline(tree, wrong)
    with pytest.raises(ValueError, match="n must be"): find_headings(tree, 0)
    tree.vocab = None
    with pytest.raises(ValueError, match="set tree.vocab"): find_headings(tree)
    with pytest.raises(ValueError, match="set tree.vocab"): give_headings(tree)
