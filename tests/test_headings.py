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
from nmf2.headings import (SHOWN, Phrase, _another, _leaf_words, _speak_for_more, _subjects_first, _telling_words, checked_levels, distinction, find_headings,
                           find_phrases, give_headings, good_levels, leaf_profiles, name_nodes, outline, outline_rows, ranked_words, returning, same_word, tree_phrases)
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


@pytest.mark.parametrize("seed", range(3))
def test_words_that_come_again(seed):
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(["Aa", "bb", "cc", "dd", "x"], size=rng.integers(1, 9))) for _ in range(80)]
    words = {"aa", "bb", "cc", "zz"}
    found = returning(texts, words)
    assert found == pytest.approx(naive.returning(texts, words)) and found["zz"] == 1
    assert returning(texts, words, lowercase=False)["aa"] == 1                                    # none is written so
    assert set(returning((), words).values()) == set(returning(["aa bb"]*9, words).values()) == {1}


def test_words_that_come_once_do_not_head_inner_nodes(tree):
    """A word that is in every document, once, of half of the tree; the others come twice."""
    telling = _telling_words(tree, 72)
    once = str(tree.vocab[telling["0"][0][0]])
    texts = [" ".join(word if word == once else f"{word} {word}" for word in tree.vocab) for _ in range(450)]
    ranked = _subjects_first(tree, telling, returning(texts, tree.vocab))
    for id, (words, values) in telling.items():
        assert sorted(ranked[id]) == sorted(words) and (tree[id].children or list(ranked[id]) == list(words))
    assert str(tree.vocab[ranked["0"][0]]) != once
    give_headings(tree, texts)
    assert tree.headings["0"][0].split(" ")[0] != once


@pytest.mark.parametrize("seed", range(4))
def test_phrases_by_counting(seed):
    rng = np.random.default_rng(seed)
    marks = [" ", " ", " ", "-", "\n", ", ", "  "]
    pairs = ["Aa{}bb", "CC{}ff", "ff{}Gg", "aA", "dd", "ee", "Hh", "ii"]
    texts = ["".join(str(rng.choice(pairs)).format(rng.choice(marks)) + str(rng.choice(marks)) for _ in range(4)) for _ in range(60)]
    words = {"aa", "bb", "cc", "ff"}
    found = find_phrases(texts, words, least=3)
    assert found and {(p.first, p.second): tuple(p[2:]) for p in found} == naive.phrases(texts, words, least=3)
    assert [p.n_docs for p in found] == sorted((p.n_docs for p in found), reverse=True)


def test_phrases_of_a_tree():
    texts = ["the clipper chip has a secret key"]*30 + ["a chip of silicon, key of tin"]*10 + ["new york times"]*20
    labels = np.repeat([0, 1, 2], [30, 10, 20])
    vocab = sorted(words_of(re.sub(",", "", text) for text in texts))
    X = sp.csr_array(np.array([[text.replace(",", "").split().count(word) for word in vocab] for text in texts], float))
    tree = regroup(X, labels, vocab)
    found = {str(phrase) for phrase in tree_phrases(tree, texts)}
    assert {"clipper chip", "secret key", "new york"} <= found and "silicon key" not in found


def test_words_are_ranked_once(tree, monkeypatch):
    """Headings with phrases from one ranking, the same as from three."""
    texts = [" ".join(tree.vocab[np.random.default_rng(i).permutation(len(tree.vocab))[:30]]) for i in range(450)]
    def by_steps(phrases=()):
        ranked = ranked_words(tree)
        more = _speak_for_more(tree, ranked, find_headings(tree, phrases=phrases, ranked=ranked), {})
        return find_headings(tree, phrases=phrases, ranked=more)
    apart = by_steps(tree_phrases(tree, texts, least=2))
    calls = []
    def counted(tree, n):
        calls.append(n)
        return _telling_words(tree, n)
    monkeypatch.setattr("nmf2.headings._telling_words", counted)
    give_headings(tree, texts, least=2)
    assert calls == [72] and tree.headings == apart
    give_headings(tree)
    assert tree.headings == by_steps()


def spoken_for(tree, id, entries):
    """The share of the votes of a node's leaves that have one of some words among their eight most telling, word by word."""
    P, leaves = leaf_profiles(tree)
    roots = np.array([leaf.size for leaf in leaves])**.5
    background, votes = roots/roots.sum() @ P, 0
    for p, leaf, root in zip(P, leaves, roots):
        best = sorted(range(len(p)), key=lambda j: -distinction(p, background)[j])[:8]
        if leaf.id.startswith(id) and words_of(entries) & {str(tree.vocab[j]) for j in best}: votes += root
    return votes/sum(root for leaf, root in zip(leaves, roots) if leaf.id.startswith(id))


def test_a_last_word_for_the_leaves_that_are_not_spoken_for(tree):
    ranked = ranked_words(tree)
    before = find_headings(tree, ranked=ranked)
    after = find_headings(tree, ranked=_speak_for_more(tree, ranked, before, {}))
    changed = {id for id in before if before[id] != after[id]}
    assert changed and all(tree[id].children for id in changed)
    for id in before:
        if not tree[id].children: continue
        enough = spoken_for(tree, id, before[id][:SHOWN]) >= .5
        assert not (enough and id in changed) and after[id][:SHOWN - 1] == before[id][:SHOWN - 1]
        if id in changed: assert spoken_for(tree, id, after[id][:SHOWN]) > spoken_for(tree, id, before[id][:SHOWN - 1])


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
