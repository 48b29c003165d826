"""Words and phrases that tell nodes apart, and trees in outline"""
import re
from itertools import combinations
from types import SimpleNamespace

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from nmf2 import TopicTree, scanning
from nmf2 import headings, languages
from nmf2.data import planted_tree
from nmf2.flat import FlatNMF2
from nmf2.headings import (NOUNS, TEXTS, OwnTexts, seen_of, UNSAID, WORDS, Phrase, WordShares, _beside_champions, _broken, _contrast, _covering, _for_all_below, _mended, _parted, _rare_last, _subjects_first, _telling_words, _together, _together_first,
                           _used_first, as_many_as, checked_levels, different, distinction, varied, enough_texts, find_headings, find_phrases, give_headings, good_levels, in_stems, is_address, leaf_doc_freq, pieces_of, said_in,
                           name_nodes, outline, outline_rows, outside, ranked_words, returning, same_word, smoothed_npmi,
                           typical_texts, uses_of, with_compounds, with_nouns, with_wholes, word_shares)
from nmf2.regroup import regroup
from nmf2.tree import words_in_title
from nmf2.weighting import count_pipeline, text_pipeline


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


def test_names_of_several_words(planted):
    """Columns may be called anything: what all names have in common heads as well as other words do."""
    (X, labels), names = planted, np.array([f"w{j}" for j in range(planted[0].shape[1])], object)
    plain = find_headings(regroup(X, labels, names), 4)
    for form in ("item {}", "{} item", "the  {}", " {}", "item {} of many", "{}  "):
        found = find_headings(regroup(X, labels, np.array([form.format(name) for name in names], object)), 4)
        assert found == {id: [form.format(word) for word in words] for id, words in plain.items()}


def test_sequences_of_the_same_words_head_once(planted):
    X, labels = planted
    names = np.array([f"w{j}" for j in range(X.shape[1])], object)
    first, *others = find_headings(regroup(X, labels, names), 4)["0"]
    for pair in ("york new", "york city"):                               # beside new york: the same, and what overlaps
        some = names.copy()
        for word, called in zip((first, others[0]), ("new york", pair)): some[int(word[1:])] = called
        heading = find_headings(regroup(X, labels, some), 4)["0"]
        assert heading[0] == "new york" and pair not in heading and len(heading) == 4


def test_numbered_names(planted):
    X, labels = planted
    headings = find_headings(regroup(X, labels, np.array([f"product number {j}" for j in range(X.shape[1])], object)), 4)
    assert all(len(words) == 4 for words in headings.values())


def test_a_term_of_others_stands_for_these(planted):
    """Where pairs were counted, no word of a pair stands beside it, nor does another pair with that word."""
    X, labels = planted
    words = find_headings(regroup(X, labels, np.array([f"w{j}" for j in range(X.shape[1])], object)), 3)["0"]
    names = np.array([f"w{j}" for j in range(X.shape[1])], object)
    names[int(words[0][1:])] = f"{words[1]} {words[2]}"
    heading = find_headings(regroup(X, labels, names), 3)["0"]
    assert heading[0] == f"{words[1]} {words[2]}" and len(heading) == 3 and not set(words) & set(heading)


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
    fourth = phrase._replace(before="newword", after="other")
    assert find_headings(tree, 3, [fourth])["0"][0] == f"newword {words[0]} {words[1]} other"
    assert fourth.wordings == [fourth.words, ["newword", *words[:2]], [*words[:2], "other"], words[:2]]
    pair = Phrase(words[1], words[2], 50, 60, 70)
    again = find_headings(tree, 3, [pair._replace(before=words[0] + "s")])                    # a form of a word before
    assert again["0"] == find_headings(tree, 3, [pair])["0"]
    ended = find_headings(tree, 3, [pair._replace(after=words[0] + "s")])                     # without its end, a phrase says something else
    assert not words_of(ended["0"]) & set(words[1:3]) and len(ended["0"]) == 3
    seldom = find_headings(tree, 3, [pair._replace(after=words[0] + "s", n_docs=40)])         # these are often without the phrase
    assert seldom["0"] == words[:3]


@pytest.mark.parametrize("rare, stands", [(.41, True), (.39, False)])
@pytest.mark.parametrize("part", [0, 1, 2])
def test_a_phrase_speaks_for_a_good_part_of_a_word(tree, part, rare, stands):
    """In all documents of the node its other words must be at least four tenths as frequent as the word; also the third."""
    words = find_headings(tree, 4)["0"]
    phrase, leaves = Phrase(words[0], words[1], 50, 60, 70, after=words[3]), tree.leaves()
    shares = np.full((len(leaves), tree.n_terms), .5)
    shares[:, list(tree.vocab).index(phrase.words[part])] *= rare
    shares[[not leaf.id.startswith("0") for leaf in leaves]] = .5                 # elsewhere all are equally frequent
    found = find_headings(tree, 4, [phrase], shares=WordShares([leaf.id for leaf in leaves], np.array([leaf.size for leaf in leaves]), shares))
    entry = f"{words[0]} {words[1]} {words[3]}"
    expected = stands or part == 0                                                # the word itself may be rare
    assert (found["0"][0] == entry) == expected and find_headings(tree, 4, [phrase])["0"][0] == entry


def test_a_phrase_is_said_in_the_place_of_its_other_word(tree):
    """The first word is often without the second, and is said before it; the second tells more with it, if it is frequent enough here."""
    words, leaves = find_headings(tree, 4)["0"], tree.leaves()
    phrase = Phrase(words[2], words[0], 50, 90, 300, link="of")
    for share, expected in ((.2, [f"{words[2]} of {words[0]}", words[1], words[3]]), (.19, words[:3])):
        shares = np.full((len(leaves), tree.n_terms), .5)
        shares[:, list(tree.vocab).index(words[2])] = share
        all_shares = WordShares([leaf.id for leaf in leaves], np.array([leaf.size for leaf in leaves]), shares)
        assert find_headings(tree, 3, [phrase], shares=all_shares)["0"] == expected


def test_names_with_small_words_inside():
    texts = ["the degrees of freedom, a mise à\njour", "a prise en charge de la base de données", "un jeu d'essai, un jeu d’essai"]*5
    texts += ["freedom is of degrees", "degrees, of freedom; degrees of. freedom", "mise jour", "charge prise"]
    found = find_phrases(texts, {"degrees", "freedom", "mise", "jour", "prise", "charge", "base", "données", "jeu", "essai"})
    assert {str(p): tuple(p[2:5]) for p in found} == {
        "degrees of freedom": (5, 7, 7), "mise à jour": (5, 6, 6), "prise en charge": (5, 6, 6), "charge de la base": (5, 6, 5),
        "base de données": (5, 5, 5), "jeu d'essai": (5, 5, 5)}
    assert Phrase("base", "données", 5, 5, 5, before="grande", link="de").said(["grande", "base", "données"]) == "grande base de données"
    known = find_phrases(["a lot of degrees of freedom"]*5, {"degrees", "freedom"}, others={"of"})
    assert [str(p) for p in known] == []                          # a word of the collection is no small word


def test_words_in_the_place_of_stems():
    """Trees of stems have headings of words: each stem as the word that most often had it in the texts that were read."""
    pytest.importorskip("snowballstemmer")
    lines = ["Databases have connections.", "a database connection and\nconnections", "the database-connection: x1"]
    short, full = in_stems(lines, "english", r"[a-z]{2,}")
    assert short == ["databas have connect.", "a databas connect and\nconnect", "the databas-connect: x1"]
    assert full == {"databas": "database", "have": "have", "connect": "connections"}
    short, full = in_stems(["presidente della repubblica, presidenti delle repubbliche"], "italian", r"[a-z]{2,}")
    assert " della " in short[0] and " delle " in short[0] and not {"della", "delle"} & full.keys()
    assert in_stems(["#häuser, #haus"], "german", r"#(\w\w+)") == (["#haus, #haus"], {"haus": "häuser"})
    rng = np.random.default_rng(0)
    subjects = ["databases database connection connections query queries", "playing players play game games match", "cooking cooked cook recipes recipe oven"]
    texts = [" ".join(rng.choice(subject.split(), 12)) + " a database connection"*(i == 0) for i, subject in enumerate(subjects) for _ in range(40)]
    model = TopicTree(3, tokenizer="stem:english").fit(texts)
    assert "databas" in model.vocab_
    said = {word for heading in model.tree_.headings.values() for entry in heading for word in entry.split(" ")}
    assert said and said <= {word for text in texts for word in text.split()} and "database connection" in map(str, sum(model.tree_.headings.values(), []))
    with_cooking = next(word for word in ("cooking", "cooked", "cook") if word in said)
    model.drop_words(with_cooking)
    assert "cook" not in model.vocab_ and "databas" in model.vocab_
    before = dict(model.tree_.headings)
    model.update(texts[:20])
    assert {id: model.tree_.headings[id] for id in before} == before


def test_phrases_of_stems_are_said_as_texts_say_them():
    """Not each word as it is most frequent: *a database connection*, though *connections* are spoken of more often."""
    pytest.importorskip("snowballstemmer")
    lines = ["Databases have connections, connections", "a Database connection.", "the database-\nconnection", "database, connections", "databases connect", "xdatabase connections"]
    options = dict(token_pattern=r"[a-z]{2,}")
    short, full = in_stems(lines, "english", **options)
    assert full["connect"] == "connections" and said_in(["databas connect", "databas", "connect databas"], lines, short, "english", **options) == {"databas connect": "database connection"}
    lines = ["les jeux d’instructions", "un jeu d'instructions", "Jeu d'instructions", "l'instruction", "les bases\nde données", "bases de données", "base de données"]
    short, full = in_stems(lines, "french")
    assert said_in(["jeu d'instruct", "bas de don", "bas don"], lines, short, "french") == {"jeu d'instruct": "jeu d'instructions", "bas de don": "bases de données"}
    assert said_in(["databas connect"], [], [], "english") == {}
    assert headings._in_full(["jeu d'instruct", "instruct"], {"instruct": "instruction", "jeu": "jeux"}) == ["jeux d'instruction", "instruction"]
    rng = np.random.default_rng(0)
    subjects = ["flying saucer"]*3 + ["saucers"]*6 + ["flies"], ["goal"]*3 + ["team", "player"], ["oven", "recipe", "cook"]
    texts = [", ".join(rng.choice(some, 9)) for some in subjects for _ in range(40)]
    said = sum(TopicTree(3, tokenizer="stem:english").fit(texts).tree_.headings.values(), [])
    assert "flying saucer" in said and all(any(entry in text for text in texts) for entry in said)


@pytest.mark.parametrize("sign", "'’`‘")
def test_words_that_go_on_across_a_sign_are_said_whole(sign):
    """The pattern cuts Ka'ba and Qur'an; titles have the whole, whichever piece is a word, and phrases go across it or end behind it."""
    rng, shown = np.random.default_rng(0), sign.replace("`", "'")
    sure = "pilgrims walked to the Ka{}ba there", "O{}Neill and tea for two", "a verse of the Qur{}an is read"
    others = "mecca hajj tawaf".split(), "tea cup scone milk".split(), "night sura recite".split()
    texts = [f"{line.format(sign)}. {rng.choice(some)} {rng.choice(some)}" for line, some in zip(sure, others) for _ in range(40)]
    model = TopicTree(3, min_df=2).fit(texts)
    said = sum(model.tree_.headings.values(), [])
    words = {word for entry in said for word in entry.split(" ")}
    assert {f"ka{shown}ba", f"o{shown}neill", f"qur{shown}an"} <= words and not words & {"ka", "ba", "qur", "neill", "an"}
    assert any(f"verse of the qur{shown}an" in entry for entry in said)
    heading = find_headings(model.tree_, 6, find_phrases(texts, {"ka", "ba", "mecca"}))
    assert {"ka", "ba"} & set(sum(heading.values(), []))                                          # without the texts, pieces are words


def test_what_belongs_to_another_word_is_no_piece():
    texts = ["Moore's law; they're late, you'd see, we'll go, I'm in", "l'école et d’école, qu'elle et jusqu'elle", "dell'arte, rock'n'roll"]
    assert with_wholes(texts, words_of(map(str.lower, texts)) | {"moore", "école", "elle", "arte", "roll", "rock", "they"}) == ([text.lower() for text in texts], {}, set())
    texts = ["ka'ba", "the ka`ba", "ka'bah", "ka'ba, ba", "ja'far", "far and far", "a mu'awiya", "mu'adh", "x2'yz 5'10"]
    known = {"ka", "ba", "bah", "ja", "far", "mu", "awiya", "adh"}
    found, whole, cut = with_wholes(texts, known)
    assert found == ["ka", "the ka", "ka", "ka, ba", "ja", "far and far", "a awiya", "adh", "x2'yz 5'10"]
    assert whole == {"ka": "ka'ba", "ja": "ja'far", "awiya": "mu'awiya", "adh": "mu'adh"} and cut == {"ba", "bah", "mu"}
    assert with_wholes(texts, known - {"ka"})[1]["ba"] == "ka'ba" and with_wholes(texts, known, r"[\w']{2,}")[0] == [text.replace("`ba", "") for text in texts]
    assert with_wholes(["ka'ba", "ka", "ka"], known)[1] == {"ba": "ka'ba"} and with_wholes(["Ka'ba"], {"Ka"}, lowercase=False)[0] == ["Ka"]
    assert with_wholes(["a'bb`cc"], {"bb", "cc"})[:2] == (["bb"], {"bb": "a'bb"}) and with_wholes([], known) == ([], {}, set())
    assert pieces_of("ka'ba") == ["ka", "ba"] and pieces_of("moore's") == pieces_of("ka ba") == pieces_of("l'école") == []


def test_a_word_is_said_alone_where_its_phrase_cant_be(tree):
    """The second phrase has the general word of the first. Its own word is said if that one is often elsewhere, and else left out."""
    words = find_headings(tree, 4)["0"]
    first = Phrase(words[0], words[1], 50, 60, 120)
    for n_general, said in ((120, True), (60, False)):
        again = Phrase(words[2], words[1], 45, 50, n_general)
        assert (words[2] in find_headings(tree, 3, [first, again])["0"]) == said
    everywhere = [Phrase(word, words[1], 50, 60, 120) for word in words[2:]] + [first]      # all want the same word, which two may have
    assert words[3] in find_headings(tree, 4, everywhere)["0"]


def test_words_of_hardly_any_documents_come_last():
    sizes, shares = np.array([150, 50]), np.array([[.5, .02, 0, .004], [.5, .2, .03, .004]])
    given = WordShares(["0", "1"], sizes, shares)
    assert_array_equal(_rare_last(given, "0", np.array([3, 2, 1, 0])), [1, 0, 3, 2])
    assert_array_equal(_rare_last(given, "1", np.array([3, 2, 1, 0])), [2, 1, 0, 3])
    assert_array_equal(_rare_last(given, "", np.array([3, 2, 1, 0])), [1, 0, 3, 2])           # 1.5 of 200 is less than one in a hundred


def test_words_with_a_noun_among_the_stop_words():
    texts = ["The operating system of an early computer"]*8 + ["operating, system"]*2 + ["early birds, an early bird"]*4
    assert _said(with_nouns(texts, {"operating", "early", "bird", "early birds"}, NOUNS)) == {"operating": "operating system"}
    assert with_nouns(texts, {"operating"}, ["fire"]) == {} == with_nouns(texts, {"early bird"}, NOUNS) == with_nouns([], {"operating"}, NOUNS)
    assert _said(with_nouns(["fire alarm", "front door"]*5, {"alarm", "door"}, NOUNS)) == {"alarm": "fire alarm", "door": "front door"}
    assert with_nouns(["fire alarm"]*4, {"alarm"}, NOUNS) == {}                                # four documents are too few


def test_auxiliary_verbs_are_in_no_title():
    texts = [f"{about} {more}" for about in ("does the engine run", "did the choir sing") for more in ("loud", "well", "often") for _ in range(9)]
    def said(model): return {word for heading in model.tree_.headings.values() for entry in heading for word in entry.split()}
    assert not UNSAID & said(TopicTree(2, stop_words="english").fit(texts))
    model = TopicTree(2, stop_words=["the"]).fit(texts)                         # a list of one's own means what it says
    assert {"does", "did"} <= said(model) and not UNSAID & set(ENGLISH_STOP_WORDS)
    pytest.importorskip("snowballstemmer")
    assert not UNSAID & said(TopicTree(2, stop_words="english", tokenizer="stem:english").fit(texts))    # where "does" is counted as "doe"
    rng = np.random.default_rng(1)
    subjects = ["kernel unix operating shell process".split(), "protein cell gene enzyme blood".split(), "goal match league player referee".split()]
    texts = [" ".join(rng.choice(some, 16)).replace("operating", "operating system") for some in subjects for _ in range(40)]
    model = TopicTree(3).fit(texts)
    assert "operating system" in sum(model.tree_.headings.values(), []) and "system" not in model.vocab_
    assert "operating system" in sum(TopicTree(3, stop_words="english").fit(texts).tree_.headings.values(), [])
    own = TopicTree(3, stop_words=["system"]).fit(texts)                          # a word that somebody took out stays out
    dropped = TopicTree(3, stop_words=None).fit(texts)
    dropped.drop_words("system")
    for other in (own, dropped): assert "system" not in " ".join(sum(other.tree_.headings.values(), []))


def test_phrases_have_no_words_around_them_that_no_title_has():
    """*Requires* and *exist* are always beside the two words that belong together, and say nothing of the subject."""
    texts = ["The check requires tape drives to exist in it"]*30 + ["Pears and apple juice"]*30
    model = TopicTree(2, stop_words="english").fit(texts)
    assert sorted(heading[0] for heading in model.tree_.headings.values()) == ["apple juice", "tape drives"]


def test_terms_of_several_words_leave_headings_to_phrases():
    """Where pairs were counted, across stop words and commas, too, headings are made of words, and of phrases as they stand in the texts."""
    rng = np.random.default_rng(2)
    subjects = ["space shuttle", "launch"], ["hockey puck", "goal"], ["key escrow", "chip"]
    texts = [". ".join(f"the {rng.choice(some)}" for _ in range(9)) for some in subjects for _ in range(40)]
    model = TopicTree(3, ngram_range=(1, 2)).fit(texts)
    assert "launch launch" in model.vocab_ or "launch space" in model.vocab_
    said = set(sum(model.tree_.headings.values(), []))
    assert {"space shuttle", "hockey puck", "key escrow"} <= said and all(any(entry in text for text in texts) for entry in said)


def test_forms_of_a_word_beside_a_phrase_are_one():
    texts = ["a gateway load balancer"]*4 + ["some gateway load balancers"]*6 + ["gateway load"]*2
    phrase, = find_phrases(texts, {"gateway", "load"}, others={"balancer", "balancers", "some"})
    assert str(phrase) == "gateway load balancers" and phrase.n_docs == 12


def test_half_of_a_phrase_is_left_out_if_the_other_half_is_said(tree):
    """The second phrase has a word of the first: its own word is said alone only if it often is without the other."""
    words = find_headings(tree, 4)["0"]
    first, again = Phrase(words[0], words[1], 50, 60, 70), Phrase(words[0], words[2], 40, 60, 45)
    def heading(*phrases): return find_headings(tree, 3, phrases)["0"]
    assert heading(first, again) == [f"{words[0]} {words[1]}", *find_headings(tree, 5)["0"][3:5]]
    assert heading(first, again._replace(n_second=60))[1] == words[2]


def test_words_of_a_vocabulary_with_phrases_come_once():
    X = np.kron(np.eye(3), np.ones((4, 4)))
    vocab = ["sparse array", "sparse", "array", "goal", "transfer", "transfer function", "poles", "zeros", *"abcd"]
    tree = regroup(sp.csr_array(X), np.repeat(range(3), 4), vocab)
    for words in find_headings(tree, 4).values():
        parts = [part for word in words for part in word.split()]
        assert len(parts) == len(set(parts)), words


def test_a_phrase_is_not_so_long_that_it_is_shown_with_a_gap():
    lines = ["ereignisgesteuerte serverseitige skriptsprache engine"]*8
    known = sorted(words_of(lines))
    phrase, = (p for p in find_phrases(lines, {"skriptsprache", "engine"}, others=known) if p.first == "skriptsprache")
    assert str(phrase) == "serverseitige skriptsprache engine"


def test_a_phrase_is_said_with_those_of_its_words_that_are_frequent(tree):
    """One of the words around the two is rare in the node, and is left out; if both are, the word stays alone."""
    words, leaves = find_headings(tree, 5)["0"], tree.leaves()
    phrase = Phrase(words[0], words[1], 50, 60, 70, before=words[4], after=words[3])
    shares = np.full((len(leaves), tree.n_terms), .5)
    all_alike = WordShares([leaf.id for leaf in leaves], np.array([leaf.size for leaf in leaves]), shares)
    assert phrase.wordings[1:3] == [[words[4], *words[:2]], [*words[:2], words[3]]]
    for rare, expected in ((None, f"{words[4]} {words[0]} {words[1]} {words[3]}"), (4, f"{words[0]} {words[1]} {words[3]}"), (3, words[0])):
        if rare is not None: shares[:, list(tree.vocab).index(words[rare])] = .1
        assert find_headings(tree, 5, [phrase], shares=all_alike)["0"][0] == expected


def test_third_words_need_not_be_known(tree):
    """A phrase may have a word that is none of the tree's; the others are asked."""
    words, leaves = find_headings(tree, 3)["0"], tree.leaves()
    shares = np.full((len(leaves), tree.n_terms), .5)
    all_alike = WordShares([leaf.id for leaf in leaves], np.array([leaf.size for leaf in leaves]), shares)
    phrase = Phrase(words[0], words[1], 50, 60, 70, before="newword")
    assert find_headings(tree, 3, [phrase], shares=all_alike)["0"][0] == f"newword {words[0]} {words[1]}"
    shares[:, list(tree.vocab).index(words[1])] = .1
    assert find_headings(tree, 3, [phrase], shares=all_alike)["0"][0] == words[0]


def test_phrases_of_a_few_documents_head_no_topic(tree, planted):
    """Where typical texts have a phrase, and all the others hardly ever have one of its words."""
    df = leaf_doc_freq(planted[0], tree.labels(), tree.n_leaves)
    leaf = tree.leaves()[0].id
    a, b = tree.headings[leaf][:2]
    give_headings(tree, df, typical=[f"{a} {b}"]*10, min_df=2)
    assert f"{a} {b}" in tree.headings[leaf]
    df[:, list(tree.vocab).index(b)] = 1
    give_headings(tree, df, typical=[f"{a} {b}"]*10, min_df=2)
    assert a in tree.headings[leaf] and not any(f"{a} {b}" in words for words in tree.headings.values())


def test_an_empty_heading_is_none(tree):
    inner = tree.leaves(3)[0]
    tree.headings[inner.id] = []
    assert words_in_title(inner) == 3 and tree.title(inner) == " ".join(tree.top_terms(inner, n=3)) and tree.title(inner) in outline(tree, 3, 3)


@pytest.fixture(params=[0, 10**15], ids=["compiled", "plain"])
def price(request, monkeypatch):
    "Words are read by machine code, and by Python where there is none yet"
    monkeypatch.setattr(scanning, "PRICE", request.param)
    if request.param: monkeypatch.setattr(scanning, "is_made", lambda *_: False)


@pytest.mark.parametrize("seed", range(3))
def test_words_that_come_again(seed, price):
    rng = np.random.default_rng(seed)
    runs = ["Aa", "bb", "cc", "dd", "x", "bb@cc.de", "aa.bb.cc", "(http://cc", "aa...", "bb.cc", "dd..aa", "ftp.Aa.bb,", "ff@cc.de",
            "don't", "DON’T,", "don'", "(we've)", "ve", "'ll", "won'tt", "can't", "'t", "t't", "cc'll've"]
    texts = [" ".join(rng.choice(runs, size=rng.integers(1, 9))) for _ in range(160)]
    texts += [" ".join(["aa bb"]*12)]*7 + ["cc dd"]*5                # copies of a long text, and of a short one
    words = {"aa", "bb", "cc", "ff", "zz", "don", "won", "ve", "ll", "can"}
    uses = uses_of(texts, words)
    found = returning(uses)
    assert found == pytest.approx(naive.returning(texts, words)) and found["zz"] == 1
    assert outside(uses) == pytest.approx(naive.outside(texts, words)) and min(outside(uses).values()) < 1
    assert different(uses) == pytest.approx(naive.different(texts, words)) and min(different(uses).values()) < 1
    few = ["aa", "zz", "ff", "bb"]
    assert_allclose(smoothed_npmi(uses, few), [[naive.smoothed_npmi(texts, a, b) for b in few] for a in few])
    assert uses_of(["Aa bb Aa", "aa", "Aa"], ["aa"], lowercase=False).n_docs == [1]
    assert set(returning(uses_of((), words)).values()) == set(returning(uses_of(["aa bb"]*9, words)).values()) == {1}
    assert not smoothed_npmi(uses_of((), words), few).any()


def test_pieces_of_contractions_head_nothing():
    """Where words are letters alone, don't leaves don, which chats have more often than any word."""
    rng = np.random.default_rng(0)
    def said(*subjects): return " ".join(rng.permutation([*subjects, *rng.choice(["I don't", "we’ve won", "you'll see", "they aren't"], size=3)]))
    texts = [said(*rng.choice(["garden", "soil", "roses", "won", "seeds", "lawn", "spade", "hedge", "compost"], size=3)) for _ in range(90)]
    texts += [f"{a} {b}" for a, b in rng.choice(["puck", "ice", "rink"], size=(90, 2))]
    heads = words_of(sum(TopicTree(2, max_df=1., stop_words="english").fit(texts).tree_.headings.values(), []))
    assert len(heads & {"garden", "soil", "roses", "won", "seeds", "lawn", "spade", "hedge", "compost"}) == 6 and {"puck", "ice", "rink"} <= heads
    assert not heads & {"don", "ve", "ll", "aren"}


def test_pieces_of_contractions_are_in_no_phrase():
    texts = ["we've got soil", "I’ve got roses", "they've got it"]*9
    assert not find_phrases(texts, ["ve", "got"]) and [str(p) for p in find_phrases(["ve got soil"]*9, ["ve", "got"])] == ["ve got"]


def test_places_of_formats_head_nothing():
    """Messages of programs say %lu and %pB where something is put in; these are no words, but what is in %PATH% is one."""
    rng = np.random.default_rng(0)
    def said(*subjects): return " ".join(rng.permutation([*subjects, *rng.choice(["%pB:", "%lu", "%-5zu", "%2$lld"], size=3)]))
    texts = [said(*rng.choice(["garden", "soil", "%PATH%", "roses", "%seeds", "lawn", "5%ige"], size=3)) for _ in range(90)]
    texts += [f"{a} {b}" for a, b in rng.choice(["puck", "ice", "rink"], size=(90, 2))]
    heads = words_of(sum(TopicTree(2, max_df=1., stop_words="english").fit(texts).tree_.headings.values(), []))
    assert heads >= {"puck", "ice", "rink"} and not heads & {"pb", "lu", "5zu", "zu", "lld"}
    share = outside(uses_of(texts, ["pb", "lu", "path", "seeds", "ige", "garden"]))
    assert max(share["pb"], share["lu"]) < .1 and min(share[word] for word in ("path", "seeds", "garden")) == 1


def test_places_of_formats_are_in_no_phrase():
    texts = ["%lu bytes", "%lu bytes read"]*9
    assert not find_phrases(texts, ["lu", "bytes"]) and [str(p) for p in find_phrases(["lu bytes"]*9, ["lu", "bytes"])] == ["lu bytes"]


def test_halves_of_broken_words_head_nothing():
    """Lines of man pages end within words; half of the texts of a leaf have the same word broken."""
    rng = np.random.default_rng(0)
    def said(*subjects): return " ".join(rng.permutation([*subjects, rng.choice(["pol-\n    icy", "pol‐\nicy", "policy", "bind-\r\ning"])]))
    texts = [said(*rng.choice(["garden", "soil", "roses", "binding", "seeds", "lawn", "spade", "hedge", "compost"], size=2)) for _ in range(120)]
    texts += [f"{a} {b}" for a, b in rng.choice(["puck", "ice", "rink"], size=(120, 2))]
    heads = words_of(sum(TopicTree(2, max_df=1., stop_words="english").fit(texts).tree_.headings.values(), []))
    assert "policy" in heads and not heads & {"pol", "icy", "bind", "ing"}
    assert not find_phrases(texts, ["pol", "icy"]) and not find_phrases(["pol-\nicy", "policy"]*9, ["pol", "icy"])
    assert uses_of(["it is two-\ndimensional"]*9, ["two"]).there.sum() == 9 and not uses_of(["to pol-\nicy", "policy"]*9, ["pol"]).there.sum()


def test_broken_words_and_addresses_are_those_of_plain_expressions():
    """What is found from a hyphen, and from a mark of an address, is what one expression, or a look at each piece, finds."""
    rng = np.random.default_rng(0)
    plain = re.compile(r"\b([^\W\d_]+)[-‐]\r?\n[^\S\n]*([^\W\d_]+)\b")
    signs = [*"ab1_.@é ", "-", "-\n", "‐\r\n", "-\n ", "\n", "a.b", "://", *'="\\:', "--"]
    for text in ("".join(rng.choice(signs, size=40)) for _ in range(2000)):
        assert [(pair, end) for pair, _, end in _broken(text)] == [(found.groups(), found.end()) for found in plain.finditer(text)]
        pairs = {found.groups() for found in plain.finditer(text)}
        assert _mended(text, pairs)[0] == plain.sub(lambda found: found[1] + found[2] + "\n", text)
        elsewhere, addresses, owners = _parted(text, is_address)
        assert addresses == list(filter(is_address, text.split())) and not owners
        assert elsewhere.split() == ["." if is_address(piece) else piece for piece in text.split()]

@pytest.mark.parametrize("text, elsewhere, owners", [
    ("From: Ann B. Lee <ann@x.org> writes", "From: . . . . writes", ["Ann", "B.", "Lee"]), ("-- Ann Lee <ann@x.org>", "-- . . .", ["Ann", "Lee"]),
    ("ann@x.org (Ann Lee) wrote", ". . . wrote", ["(Ann", "Lee)"]), ("in 3 mails <ann@x.org>", "in 3 . .", ["mails"]),
    ("by Ann Lee (@ann) and Bo (bo@x.org)", ". . . . . . .", ["by", "Ann", "Lee", "and", "Bo"]), ("done: <ann@x.org>", "done: .", []),
    ("see http://x.org (today) or", "see . (today) or", []), ("ann@x.org (not closed", ". (not closed", []), ("a --no-index b :param c", "a . b . c", []),
    (r"\brief \sa(this) at 10:30, std::vector", ". . at 10:30, std::vector", []), ("well -- then: so", "well -- then: so", []),
    ("[--all] (:param “--help” \"\\brief »--eins« ({`--two`})", ". . . . . .", []), ("(or) [a: \"-- so '30", "(or) [a: \"-- so '30", []),
    ("=head1 a = b =cut E=mc² =1", ". a = b . E=mc² =1", [])])
def test_names_beside_addresses_and_words_for_programs(text, elsewhere, owners):
    assert _parted(text, is_address)[::2] == (elsewhere, owners)


@pytest.mark.parametrize("text, whole, pieces", [
    (":ref:`lists of\na language <LISTS>`, that", "`lists of a language `, that", [":ref:", "<LISTS>"]), (":py:any:`a < b`", "`a < b`", [":py:any:"]),
    ("(see :doc:`it's <a@b.c>`_)", "(see `it's `_)", [":doc:", "<a@b.c>"]), ("see :func:`len` and `len` :here", "see . and `len` .", [":func:`len`", ":here"]),
    ("note:`two words` a::b:`c d` :x: `y z`", "note:`two words` a::b:`c d` . `y z`", [":x:"]), (":param x:`foo bar`", ". x:`foo bar`", [":param"]),
    (":ref:`never closed", "`never closed", [":ref:"]), ("(:ref:`a b`, :ref:`c <d>`)", "( `a b`, `c `)", [":ref:", ":ref:", "<d>"])])
def test_words_in_roles_count_and_roles_do_not(text, whole, pieces):
    seen = seen_of([text], lowercase=False)
    assert seen.whole[0].split() == whole.split() and sorted(seen.pieces[0]) == sorted(pieces)
    lines = [f":ref:`{kind} random forest <the_forest>` or :ref:`forest <forests>`" for kind in "abcdefghi"]
    assert [str(p) for p in find_phrases(lines, {"random", "forest", "ref"})] == ["random forest"]


@pytest.mark.parametrize("text, whole, examples", [
    ("Sorts.\n>>> a = b(c)\nd e\n  f\n\ng", "Sorts. g", [">>> a = b(c)\nd e\n  f"]), ("  >>> a\r\n  b\r\n\r\nc", "c", ["  >>> a\r\n  b\r"]),
    (">>> a\n>>> b\n\nc\n\n\t>>> d", "c", [">>> a\n>>> b", "\t>>> d"]), ("a >>> b\n>>>c\n... >>> d", "a >>> b >>>c ... >>> d", []),
    (">>> a\n>> b\n> c\n\nd", ">>> a >> b > c d", []), (">>>> a\n>>> b", ">>>> a >>> b", []), ("a\n >b\n\n>>> c", "a >b >>> c", [])])
def test_examples_of_python_do_not_count(text, whole, examples):
    seen = seen_of([text], lowercase=False)
    assert seen.whole[0].split() == whole.split() and seen.pieces[0] == examples


def _said(wider): return {word: found.said for word, found in wider.items()}


def test_words_of_compounds_are_said_with_pieces_that_are_none():
    def wider(*args, **options): return _said(with_compounds(*args, **options))
    words = {"sided", "bag", "test", "ray", "end", "free", "two phase"}
    texts = ["A two-sided test, out-of-bag; x\u2010ray, duty-free and end-to-end"]*5 + ["a bag of tests"]*2
    assert wider(texts, words, words | {"duty"}) == {"sided": "two sided", "bag": "out of bag", "ray": "x ray", "end": "end to end"}
    assert wider(texts, words, words)["free"] == "duty free"                              # unless a phrase can have it
    assert "bag" not in wider([*texts, "bag"], words, words)                              # five of eight
    assert wider(texts[:4], words, words) == {} == wider([], words, words) == wider(["a test"]*9, words, words)
    assert wider(["3-airflow"]*5, {"airflow"}, {"airflow"}) == {}                         # something else begins with a number
    assert wider(["composer-3-airflow, 3-airflow and airflow-3"]*5, {"airflow"}, {"airflow", "composer"}) == {"airflow": "airflow 3"}
    for text in ("state-of-the-art", "lgpl-2.1", "lgpl-22.1", "one-two-lgpl-2", "non-lgpl-software", "v.lgpl-2",       # no compounds, or with another word
                 "tug-o'-lgpl", "lgpl-o'-war", "an-lgpl++", "l'an-lgpl", "lgpl-a_b"):
        assert wider([text]*5, {"state", "art", "lgpl"}, {"software"}) == {}
    assert wider(["A Two-Sided test's"]*5, ["Sided"], ["test"], lowercase=False) == {"Sided": "Two Sided"}
    assert wider(["'x-ray's'"]*5 + ["b-ray"]*6, ["ray"], ["ray"]) == {}                    # neither is nearly always the one
    assert wider(["x-ray and b-ray"]*9 + ["b-ray"]*2, ["ray"], ["ray"]) == {"ray": "b ray"}      # the more frequent one
    found = with_compounds([*texts, "bag"], {"sided", "bag"}, set())["sided"]
    assert_array_equal(found.both, range(5))
    assert_array_equal(found.having, range(5))


def test_compounds_where_marks_are_letters():
    assert _said(with_compounds(["जीवन-काल बड़ा"]*10 + ["वन में"]*2, {"वन", "काल"}, {"वन", "काल"}, token_pattern=languages.WORDS)) == {"काल": "जीवन काल"}


def test_compounds_where_hyphens_are_letters():
    "There is no word *sided* in a two-sided test"
    texts = ["a two-sided test"]*10 + ["sided dice"]
    assert with_compounds(texts, {"sided"}, {"sided", "two-sided"}, token_pattern=r"[\w-]{2,}") == {}
    assert with_compounds(["a two‐sided test"]*10, {"sided"}, {"sided"}, token_pattern=r"[\w‐]{2,}") == {}
    assert _said(with_compounds(texts, {"sided"}, {"sided"})) == {"sided": "two sided"}


def _of_topics(*endings):
    rng, topics = np.random.default_rng(0), ("scan bone image hospital patient", "rose soil seed plant garden", "dice roll board player game")
    return [" ".join([*rng.choice(topic.split(), 3, replace=False), f". {end}."]) for topic, (end, n) in zip(topics, endings) for _ in range(n)]


def _titles_of_topics(texts):
    "Of the topics with bones, roses and dice"
    tree = TopicTree(3, max_df=.9).fit(texts).tree_
    return [next(tree.headings[leaf.id] for leaf in tree.leaves() if any(word in texts[leaf.docs[0]] for word in some))
            for some in ({"scan", "bone", "image", "hospital"}, {"rose", "soil", "seed", "plant"}, {"dice", "board", "roll"})]


def test_titles_have_compounds_that_their_own_texts_have():
    bones, roses, dice = _titles_of_topics(_of_topics(("two-sided", 80), ("alarm", 40), ("sided", 30)))
    assert "two sided" in bones and "sided" in dice and "alarm" in roses
    bones, roses, dice = _titles_of_topics(_of_topics(("fire alarm", 80), ("two-sided", 40), ("alarm", 30)))
    assert "fire alarm" in bones and "two sided" in roses and "alarm" in dice


def test_phrases_are_said_with_the_compounds_at_their_ends():
    bones, roses, dice = _titles_of_topics(_of_topics(("the two-sided test", 60), ("an x-ray tube", 60), ("end-to-end test", 60)))
    assert "two sided test" in bones and "x ray tube" in roses and "end to end test" in dice, (bones, roses, dice)
    more = {"sided": SimpleNamespace(said="two sided"), "operating": SimpleNamespace(said="operating system")}
    def said(entry): return headings._widened(entry, more, lambda word: True)
    assert [said(entry) for entry in ("sided", "sided test", "a sided", "operating sided", "test")] == ["two sided", "two sided test", "a sided", "operating sided", "test"]
    assert said("microsoft operating") == "microsoft operating system"
    assert said(f"sided {'x'*30}") == f"two sided {'x'*30}" and said(f"sided {'x'*31}") == f"sided {'x'*31}"        # too long


def test_names_in_examples_are_said_last():
    texts = [f"The {kind} of an array.\n\n>>> arr = np.{kind}(arr)\n>>> arr\n" for kind in ("sum", "mean", "sort")]*4
    others = [f"The {kind} of a graph.\n\n>>> nx = graph.{kind}(nx)\nnx" for kind in ("edges", "nodes", "degree")]*4
    for some in (texts + others, [text.replace(">>> ", "") for text in texts + others]):
        said = [word for heading in TopicTree(2, stop_words="english").fit(some).tree_.headings.values() for word in heading]
        assert (said.index("array") < said.index("arr") and said.index("graph") < said.index("nx")) == (">>> " in some[0]), said


def test_a_phrase_with_small_words_that_goes_on_is_none():
    """Many texts have the same sentence, and a phrase would be a piece of it."""
    long = ["an implementation of the vendor neutral dispatch layer"]*9
    words = {"implementation", "vendor", "neutral", "dispatch", "layer"}
    assert not [p for p in find_phrases(long, {"implementation", "vendor"}, others=words) if p.link]
    assert [str(p) for p in find_phrases(["an implementation of vendor neutral layers"]*9, {"implementation", "vendor"}, others={"neutral", "layers"})] == [
        "implementation of vendor neutral layers"]


LONG = " and then there was more to be said about it, as there always is when words are counted one after another here."
SMALL = {"be", "by", "to", "the", "from", "and", "it", "is", "of", "on"}

def test_a_word_that_is_always_in_the_same_place_of_a_sentence():
    texts = [f"disk {i} can be fetched by name, the zone from the mirror site to keep {'quickly safely wholly'.split()[i%3]} zone by hand" for i in range(20)]
    texts = [text + LONG for text in texts]
    worth = varied(uses_of(texts, {"disk", "fetched", "mirror", "site"}, small=SMALL))
    assert worth["fetched"] < .02 and worth["site"] < .02 and worth["mirror"] == worth["disk"] == 1
    assert set(varied(uses_of(texts, {"disk", "fetched"})).values()) == {1}                       # small words aren't known
    signed = uses_of(["mail to ann lee <ann@x.org> and it is to ann by name" + LONG]*9, {"ann", "mail"}, small=SMALL)
    assert 0 <= varied(signed)["ann"] < .02                        # it is in no text but as the name of the writer
    short = varied(uses_of(["can be fetched by name"]*20, {"fetched"}, small=SMALL))
    assert short["fetched"] == 1                                                                  # a title is a sentence

@pytest.mark.parametrize("seed", range(6))
def test_places_in_sentences_as_the_naive_twin(seed):
    from nmf2.scanning import tokens_of
    rng = np.random.default_rng(seed)
    words, small, others = ["fetched", "mapping", "disk", "only", "tree"], ["by", "to", "the"], ["zone", "hand"]
    marks = rng.choice([" ", " ", " ", "-", "\n", ", ", ". ", "  "], size=(40, 60))
    texts = ["".join(w + m for w, m in zip(rng.choice(words + small + others, size=rng.integers(1, 60), p=[.1, .1, .1, .05, .05, .3, .1, .1, .05, .05]), mark)) for mark in marks]
    texts[3:6] = ["disk mapping to the tree, only by hand " + "zone "*n for n in (10, 20, 30)]
    known = [*words, *small]
    tokens = tokens_of(texts, known, r"\b\w\w+\b")
    most = dict(zip(words, headings._most_alike(tokens, len(words))))
    assert most == naive.alike(texts, words, small) and max(most.values()) > 2
    found = headings._wanting(tokens, known, len(words))
    assert {known[j] for j in np.flatnonzero(found)} == naive.wanting(texts, words, small)
    some = [text for text in texts if len(text) > 200 and ("mapping to" in text or "mapping" not in text)]
    tokens = tokens_of(some, known, r"\b\w\w+\b")
    assert {known[j] for j in np.flatnonzero(headings._wanting(tokens, known, len(words)))} == naive.wanting(some, words, small) >= {"mapping"}

def test_pieces_of_sentences_are_no_phrases():
    texts = [f"the {'red green blue'.split()[i%3]} page size {'is has sets'.split()[i%3]} a limit depending on it; do not edit manually. the edited machine learning {i}" + LONG for i in range(20)]
    words = {"page", "size", "limit", "depending", "edit", "manually", "machine", "learning"}
    found = {str(phrase) for phrase in find_phrases(texts, words, small=SMALL)}
    assert found == {"page size", "machine learning"}
    assert {"limit depending", "edit manually"} <= {str(phrase) for phrase in find_phrases(texts, words)}
    assert find_phrases(["files file"]*9, {"files", "file"}) == []                                # two forms of one word

@pytest.mark.parametrize("seed", range(6))
def test_verbs_of_short_texts_as_the_naive_twin(seed):
    from nmf2.scanning import tokens_of
    rng = np.random.default_rng(seed)
    words, small = ["stored", "hidden", "added", "saving", "making", "string", "ordered"], ["by", "in", "the", "other", "to"]
    behind = {"stored": "in by in zone".split(), "added": "by zone hand".split(), "saving": "the zone hand".split(), "making": "zone other hand".split(), "string": ["zone", ",", "the"], "ordered": "by in".split()}
    def said(word): return f"{word} {rng.choice(behind.get(word, ['zone']))}"
    texts = [" ".join(f"{said(word)}{rng.choice([' zone', ',', ' hand by', '.'])}" for word in rng.choice(words, rng.integers(1, 4))) for _ in range(60)]
    texts += [f"{said(rng.choice(words))}{LONG}" for _ in range(rng.integers(0, 30))]
    known = [*words, *small]
    found = {known[j] for j in np.flatnonzero(headings._unfinished(tokens_of(texts, known, r"\b\w\w+\b"), known, len(words)))}
    assert found == naive.unfinished(texts, words, small) and not found & {"string", "hidden", "added"}
    few = [text for text in texts if len(text) < 100 and "ordered" in text]
    found = headings._unfinished(tokens_of(few, known, r"\b\w\w+\b"), known, len(words))
    assert {known[j] for j in np.flatnonzero(found)} == naive.unfinished(few, words, small) >= {"ordered"}
    assert not headings._unfinished(tokens_of([], known, r"\b\w\w+\b"), known, len(words)).any()


def test_verbs_of_short_texts_end_no_phrase():
    """Where a sentence is all there is: what was done nearly always goes on with a small word, and what does something with its object."""
    kinds = "military operations involving {}", "a driver injured {}", "software defined {}", "object oriented{}", "a press briefing {}", "image processing{}", "servicing mission scheduled {}"
    ends = ["the police", "other means", "gunfire"], ["in a fall", "by the car", "in"], ["radio", "radio", "networks"], [" code", "", " design"], ["by her", "on it", "on"], [" of the", ".", ""], ["for it", "to be"]
    texts = [kind.format(some[i % len(some)]) for kind, some in zip(kinds, ends) for i in range(12)]
    words, small = words_of(re.sub(r"\W", " ", text) for text in texts) - {"in", "a", "the", "by", "on", "of", "for", "to", "be", "it", "her", "other"}, ["by", "the", "on", "for", "to", "be", "it", "other"]
    def found(texts, small=small, **options): return {str(phrase) for phrase in find_phrases(texts, words, small=small, **options)}
    assert found(texts) == {"military operations", "software defined", "defined radio", "object oriented", "press briefing", "image processing", "servicing mission"} | found(["gunfire"])
    assert {"operations involving", "driver injured", "mission scheduled"} <= found(texts, ()) and {"operations involving", "driver injured"} <= found([text + LONG for text in texts])
    assert {"military operations", "servicing mission", "object oriented"} <= found(texts, others=words) and not {"driver injured", "involving"} & words_of(found(texts, others=words))
    pieces = {(p.first, p.second): p for p in find_phrases(texts, words, small=small, pieces=True) if p.piece}
    assert set(pieces) == {("operations", "involving"), ("driver", "injured"), ("mission", "scheduled")} and all(p.verb for p in pieces.values())
    heading, _ = headings._heading(["injured", "driver"], 3, lambda word: True, headings._places(pieces.values()))
    assert heading == ["driver"]


@pytest.mark.parametrize("word, phrase, short", [
    ("csf", "cerebrospinal fluid", True), ("wdt", "watchdog timer", True), ("EC", "European Community", True), ("ndo", "nexus dashboard orchestrator", True),
    ("mine", "military noise", False), ("hans", "hermann hesse", False), ("fc", "cerebrospinal fluid", False), ("csfd", "cerebrospinal fluid x", False),
    ("כנ", "כבד נהר", True), ("כדנ", "כבד נהר", False), ("cs", "computer", False), ("c", "c", False), ("c++", "c++ ++", False)])
def test_what_is_short_for_a_phrase(word, phrase, short):
    assert headings.is_short_for(word, phrase) is short


def test_a_phrase_takes_the_place_of_what_is_short_for_it():
    places = headings._places([Phrase("cerebrospinal", "fluid", 50, 60, 60)])
    for some in (["csf", "level", "fluid", "cerebrospinal", "deviation"], ["cerebrospinal", "level", "fluid", "csf", "deviation"]):
        heading, _ = headings._heading(some, 3, lambda word: True, places)
        assert heading == ["cerebrospinal fluid", "level", "deviation"]


def test_words_of_a_piece_of_a_sentence_are_not_said_alone():
    piece = Phrase("directory", "tied", 50, 400, 55, piece=True)
    heading, _ = headings._heading(["tied", "directory", "user"], 3, lambda word: True, headings._places([piece]))
    assert heading == ["directory", "user"]

def test_a_few_texts_tell_that_a_word_is_of_addresses():
    uses = uses_of(["boyuan yang <byang@debian.org>"]*8 + ["yang"]*8, {"boyuan", "yang", "byang"})
    assert outside(uses)["byang"] < .06 and outside(uses)["boyuan"] < .06 and outside(uses)["yang"] == 1
    signed = uses_of(["ann lee <ann@x.org> wrote:\nno.\n-- ann lee, shop for roses"]*8, {"ann", "lee", "roses"})
    assert outside(signed)["lee"] < .06 and outside(signed)["roses"] == 1          # who writes signs it, too
    assert outside(uses_of(["<byang@debian.org>"], {"byang"}))["byang"] == 1


def test_copies_do_not_take_the_place_of_other_typical_texts():
    """The most typical texts of a leaf are one text three hundred times, which is all that would be known."""
    rng = np.random.default_rng(0)
    def said(): return f"{rng.choice(['soil', 'roses', 'lawn', 'seeds'])} by stefano rivera"
    texts = ["garden garden soil"]*300 + [f"garden {said()}" for _ in range(200)] + [f"puck {a}" for a in rng.choice(["ice", "rink", "goal"], size=400)]
    tree = TopicTree(2, stop_words="english").fit(texts).tree_
    typical = typical_texts(tree, texts, 100)
    assert typical.count(texts[0]) >= 100 and sum("rivera" in text for text in typical) > 50
    assert "stefano rivera" in sum(tree.headings.values(), [])


def test_as_many_texts_as_have_different_weights():
    assert as_many_as(np.array([.9, .8, .8, .8, .5, .4]), 3) == 5 and as_many_as(np.ones(50), 3) == 12
    assert as_many_as(np.linspace(1, .1, 50), 7) == 7 and as_many_as(np.zeros(50), 7) == 7
    assert as_many_as(np.array([.9]), 3) == 1 and as_many_as(np.zeros(0), 3) <= 1


def test_copies_head_little():
    """A message that was sent on ninety times is one text; what others say in their own words comes first. Ninety different ones would head,
    and so do ninety short ones, for which there aren't many ways to say it."""
    rng = np.random.default_rng(2)
    own = [" ".join(rng.choice(["garden", "soil", "roses", "seeds", "lawn", "spade", "hedge", "compost", "bulbs"], 3, replace=False)) for _ in range(200)]
    copies = ["meeting moved to noon, as it was and we will be there with all of them so that you can be there too"]*90
    changed = [f"{text} {'abcdefghij'[k % 10]*2}{'klmnopqrs'[k // 10]*2}" for k, text in enumerate(copies)]
    others, labels = [" ".join(rng.permutation(["puck", "ice", "rink", "goal"])) for _ in range(200)], np.repeat([0, 1], [290, 200])
    def heading(*parts):
        pipe = text_pipeline(max_df=1., stop_words="english")
        X = pipe.fit_transform(texts := sum(parts, []))
        return words_of(regroup(X, labels, pipe.get_feature_names_out(), texts).headings["0"])
    assert {"meeting", "moved", "noon"} <= heading(own, changed, others)
    assert not {"meeting", "moved", "noon"} & heading(own, copies, others)
    assert {"meeting", "moved", "noon"} <= heading(own, ["meeting moved to noon"]*90, others)


def test_more_texts_where_they_are_short():
    """A name that three in a hundred of a topic's texts have is no phrase in a hundred of them; it is in all."""
    assert enough_texts(np.array([[90, 0], [10, 100]]), 100) == WORDS//2 and enough_texts(np.full((2, 90), 50), 100) == TEXTS
    assert enough_texts(np.zeros((2, 9)), 10**6) == WORDS
    rng = np.random.default_rng(1)
    words = ["garden", "soil", "roses", "seeds"], ["puck", "ice", "rink", "goal"]
    texts = [" ".join(rng.choice(words[i % 2], 3, replace=False)) for i in range(1600)]
    for i in range(0, 1600, 40): texts[i] += " dorothy parker"                # one in twenty of the first kind
    tree = TopicTree(2, max_df=1., stop_words=None).fit(texts).tree_
    assert "dorothy parker" in sum(tree.headings.values(), [])


def test_words_of_addresses_do_not_come_again():
    texts = ["the card, that card: jo@pitt.edu or http://pitt/jo or ftp.pitt.edu", "a card, one card of pitt.edu"]*40
    found = returning(uses_of(texts, ["card", "pitt", "ftp", "zz"]))
    assert found["card"] == found["zz"] == 1 and found["pitt"] < .2 and found["ftp"] < .3
    assert returning(uses_of(["jo@a.b pitt, pitt"]*40, ["pitt"]))["pitt"] == 1
    long = ["x"*50 + "."]*100 + ["a-"*2500, "a.b"*2000, "@"*5000]
    assert returning(uses_of(["".join(long[:100]), *long[100:]], ["xx"])) == {"xx": 1}                     # and in no time


def test_words_that_come_once_do_not_head_inner_nodes(tree):
    """A word that is in every document, once, of half of the tree; the others come twice."""
    telling = _telling_words(tree)
    once = str(tree.vocab[telling["0"][0][0]])
    texts = [" ".join(word if word == once else f"{word} {word}" for word in tree.vocab) for _ in range(90)]
    worth = returning(uses_of(texts, tree.vocab))
    ordered = _subjects_first(tree, telling, worth, {})
    for id, (words, values) in telling.items():
        worths = [worth[str(word)] if tree[id].children else 1 for word in tree.vocab[words]]
        assert dict(zip(*ordered[id])) == dict(zip(words, values*worths)) and (np.diff(ordered[id][1]) <= 0).all()
    assert str(tree.vocab[ordered["0"][0][0]]) != once
    give_headings(tree, typical=texts)
    assert tree.headings["0"][0].split(" ")[0] != once


@pytest.mark.parametrize("seed", range(4))
def test_phrases_by_counting(seed, price):
    rng = np.random.default_rng(seed)
    marks = [" ", " ", " ", "-", "\n", ", ", "  ", " of ", " of\n", " of the "]
    pairs = ["Aa{}bb", "CC{}ff", "cc ff", "ff{}Gg", "aA", "dd", "ee", "Hh", "ii", "pp of qq", "qq of the aa", "bb d'pp", "ii, of pp"]
    texts = ["".join(str(rng.choice(pairs)).format(rng.choice(marks)) + str(rng.choice(marks)) for _ in range(5)) for _ in range(60)]
    before = ["Mm-Jj"]*55 + ["nn Jj"]*2 + ["mm kk"]*3
    texts = [re.sub("cc.ff", f"{more} \\g<0>", text, flags=re.I | re.S) for text, more in zip(texts, before)]
    words, some = {"aa", "bb", "cc", "ff", "pp", "qq"}, {"aa", "bb", "gg", "hh", "jj", "kk"}
    for others, fullest in ((set(), "cc ff"), (some, "jj cc ff"), (some | {"mm", "nn"}, "mm jj cc ff")):
        found = find_phrases(texts, words, min_df=3, others=others)
        expected = naive.phrases(texts, words, least=3, others=others, links=["of", "of the", "d'"])
        assert {(p.first, p.second, p.link): tuple(p[2:7]) for p in found} == expected and len(expected) == len(found)
        assert {"qq of the aa", "bb d'pp"} <= {p.said([p.first, p.second]) for p in found}
        assert fullest in map(str, found)
    assert [p.n_docs for p in found] == sorted((p.n_docs for p in found), reverse=True)


@pytest.mark.parametrize("between, joined", [("\n\n", False), ("\n", False), (" ", True), ("-", True)])
def test_headlines_end_what_is_said(between, joined):
    """*Learning* ends a headline, *networks* begins a text, and *hidden layers* is broken to fit."""
    text = f"Machine learning{between}networks are trained on what people have hidden\nlayers for, and so on, to the end of the second line."
    found = {str(phrase) for phrase in find_phrases([text]*9, {"machine", "learning", "networks", "hidden", "layers"})}
    assert found == {"machine learning", "hidden layers"} | ({"learning networks"} if joined else set())
    assert {str(phrase) for phrase in find_phrases([text.replace("\n", "\r\n")]*9, {"machine", "learning", "networks", "hidden", "layers"})} == found
    assert not find_phrases(["the second degrees\n\nof freedom were taken for what they are"]*9, {"degrees", "freedom"})
    assert str(*find_phrases(["the second degrees\nof freedom were taken"]*9, {"degrees", "freedom"})) == "degrees of freedom"
    few = "operating\nsystem of a kind that nobody had seen, so that it took a while"
    assert not with_nouns([few]*9, ["operating"], ["system"]) and with_nouns([few.replace("\n", " ")]*9, ["operating"], ["system"])


def test_phrases_of_a_tree():
    texts = ["the clipper chip has a secret key"]*30 + ["a chip of silicon, key of tin"]*10 + ["new york times"]*20
    labels = np.repeat([0, 1, 2], [30, 10, 20])
    vocab = sorted(words_of(re.sub(",", "", text) for text in texts))
    X = sp.csr_array(np.array([[text.replace(",", "").split().count(word) for word in vocab] for text in texts], float))
    tree = regroup(X, labels, vocab)
    telling = {str(word) for words in ranked_words(tree).values() for word in tree.vocab[words[:30]]}
    found = {str(phrase) for phrase in find_phrases(typical_texts(tree, texts), telling, others=vocab)}
    assert {"the clipper chip has", "secret key", "new york times"} <= found and "silicon key" not in found


@pytest.mark.parametrize("counted", [False, True])
def test_all_of_it_is_its_steps(planted, tree, monkeypatch, counted):
    """Headings with phrases from one ranking, the same as step by step."""
    texts = [" ".join(tree.vocab[np.random.default_rng(i).permutation(len(tree.vocab))[:30]]) for i in range(450)]
    telling = _telling_words(tree)
    leaf_df = leaf_doc_freq(planted[0], tree.labels(), tree.n_leaves) if counted else None
    def by_steps(texts=()):
        uses = uses_of(texts, {str(word) for words, _ in telling.values() for word in tree.vocab[words]})
        own = outside(uses)
        worth = {word: own[word]*again for word, again in returning(uses).items()}
        first, inner, shares = _subjects_first(tree, telling, worth, own), {}, None
        if counted:
            shares = word_shares(tree, leaf_df)
            first = _used_first(first, shares)
            inner = _for_all_below(tree, telling, worth, uses, shares, first)
        ranked = {id: words for id, (words, _) in first.items()} | inner | _together_first(tree, first, uses)
        some = {str(word) for words in ranked.values() for word in tree.vocab[words[:30]]}
        phrases = find_phrases(texts, some, min_df=2, others=tree.vocab.tolist())
        return find_headings(tree, phrases=phrases, ranked=ranked, shares=shares), phrases
    apart, phrases = by_steps([texts[i] for i in sorted({int(i) for leaf in tree.leaves() for i in tree.typical(leaf, 100)})])
    calls = []
    def ranked_by(tree, **options):
        calls.append(tree)
        return _telling_words(tree, **options)
    monkeypatch.setattr("nmf2.headings._telling_words", ranked_by)
    give_headings(tree, leaf_df, texts, min_df=2)
    assert calls == [tree] and tree.headings == apart
    give_headings(tree, leaf_df)
    assert tree.headings == by_steps()[0] and (not counted or tree.headings != apart)


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
    give_headings(tree, leaf_doc_freq(X, tree.labels(), 2))
    assert words_of(tree.headings[leaf]) & {"pittnet", "edu", "cs", "jo"}
    give_headings(tree, leaf_doc_freq(X, tree.labels(), 2), texts)
    assert not words_of(tree.headings[leaf][:3]) & {"pittnet", "edu", "cs", "jo"}


def test_documents_of_leaves_that_have_words():
    rng = np.random.default_rng(0)
    X, labels = rng.poisson(.3, (60, 20)), rng.integers(-1, 4, 60)
    expected = [[np.count_nonzero(X[labels == leaf, j]) for j in range(20)] for leaf in range(5)]
    for form in (X, sp.csr_array(X)): assert_array_equal(leaf_doc_freq(form, labels, 5), expected)


def test_shares_of_nodes(planted, tree):
    X = planted[0].toarray() > 0
    shares = word_shares(tree, leaf_doc_freq(planted[0], tree.labels(), tree.n_leaves))
    words = np.array([3, 0, 7])
    for node in tree:
        assert_allclose(shares.of(node.id, words), X[np.ix_(node.docs, words)].mean(0))
        if not node.id: continue
        p, q, r = (X[np.ix_(some.docs, words)].mean(0) for some in (node, tree[""], node.parent))
        with np.errstate(divide="ignore", invalid="ignore"): expected = np.where(p > 0, np.maximum(np.log(p/q) + np.log(p/r)/2, 0), 0)
        assert_allclose(_contrast(shares, node.id, words), expected)


def test_words_that_few_documents_have_come_later():
    shares = WordShares(["0", "1"], np.array([10, 30]), np.array([[.4, .08, .04, 0.], [.1, .04, .02, .1]]))
    telling = {id: (np.array([0, 1, 2, 3]), np.array([1., .8, .6, .4])) for id in ("0", "1")}
    used = _used_first(telling, shares)
    assert_array_equal(used["0"][0], [0, 1, 2, 3])
    assert_allclose(used["0"][1], [1, .8, .6*.5, 0])                                      # a fifth of .4
    assert_array_equal(used["1"][0], [0, 1, 3, 2])
    assert_allclose(used["1"][1], [1, .8*.8, .4, .6*.4])                                  # one in twenty


@pytest.mark.parametrize("seed", range(3))
def test_words_that_cover_most(seed):
    rng = np.random.default_rng(seed)
    shares, sizes, worth, C = .9*rng.random((4, 15)), rng.integers(1, 50, 4), rng.random(15), rng.uniform(-.9, .9, (15, 15))
    order = _covering(shares, sizes, worth, C, 6)
    taken = []                                                                          # since all documents counted
    for i, found in enumerate(order):
        gains = {j: worth[j]*sum(n*row[j]*np.prod([1 - row[o] for o in taken]) for n, row in zip(sizes, shares)) for j in range(15) if j not in order[:i]}
        gains = {j: gain*max(0, 1 + 1.2*np.mean([C[j, o] for o in order[:i]] or [0])) for j, gain in gains.items()}
        assert gains[found] == pytest.approx(max(gains.values()))
        taken.append(found)
        if sum(n*np.prod([1 - row[o] for o in taken]) for n, row in zip(sizes, shares)) < sizes.sum()/16: taken = []
    assert sorted(_covering(shares, sizes, worth, C, 50)) == list(range(15)) and _covering(shares[:, :0], sizes, worth[:0], C[:0, :0]) == []
    assert sorted(_covering(shares, sizes, worth, np.full((15, 15), -.95), 50)) == list(range(15))                 # words that avoid one another, each once
    none = np.zeros((4, 4))
    assert _covering(np.full((2, 4), 1/3), np.array([1, 2]), np.ones(4), none, 3) == [0, 1, 2]                     # of equals the first
    assert _covering(np.array([[.2, 1., .9, .8]]), np.array([9]), np.ones(4), none, 4) == [1, 2, 3, 0]             # all have the first: all count again


@pytest.mark.parametrize("seed", range(5))
def test_words_beside_the_champion_of_each_leaf(seed):
    rng = np.random.default_rng(seed)
    shares, worth = rng.random((4, 9))*(rng.random((4, 9)) < .6), rng.random(9)
    shares[2] = 0                                                                       # a leaf that has none of the words
    parts = _beside_champions(shares, worth)
    for row, part in zip(shares.tolist(), parts.tolist()):
        most = max(zip((share*w for share, w in zip(row, worth)), row))[1]
        assert part == pytest.approx([min(share/most, 1) if most else 0 for share in row])
    assert _beside_champions(shares[:, :0], worth[:0]).shape == (4, 0)


def test_a_subject_of_many_words_is_named_too():
    """Four leaves: in three of them half of the documents have each of two words, in one each word is in one of ten."""
    shares = np.zeros((4, 9))
    shares[[0, 0, 1, 1, 2, 2], range(6)], shares[3, 6:] = .5, .1
    def first(shares): return _covering(shares, np.full(4, 50), np.ones(9), np.zeros((9, 9)))[:6]
    assert first(_beside_champions(shares, np.ones(9)))[:4] == [0, 2, 4, 6] and 6 not in first(shares)


def test_a_small_rest_does_not_have_every_other_word():
    """Two leaves with four words in all of their documents, and a rest of one in twenty with four others."""
    shares = np.array([[1.]*4 + [0]*4]*2 + [[0]*4 + [1, .57, .57, .57]])
    assert _covering(shares, np.array([76, 55, 7]), np.ones(8), np.zeros((8, 8))) == list(range(8))


@pytest.mark.parametrize("seed", range(3))
def test_titles_as_the_naive_twin(planted, tree, seed):
    rng, X, labels, k = np.random.default_rng(seed), planted[0].toarray() > 0, tree.labels(), tree.n_leaves
    telling, shares = _telling_words(tree, 12), word_shares(tree, leaf_doc_freq(planted[0], labels, k))
    texts = [" ".join(rng.permutation(tree.vocab)[:40]) for _ in range(60)]
    uses, worths = uses_of(texts, tree.vocab.tolist()), rng.random(len(tree.vocab))
    first = {leaf.id: (rng.permutation(len(tree.vocab))[:60], None) for leaf in tree.leaves()}
    found = _for_all_below(tree, telling, dict(zip(tree.vocab.tolist(), worths)), uses, shares, first)
    C, few = smoothed_npmi(uses, tree.vocab), 0
    for id, order in found.items():
        below, beside = ([i for i, leaf in enumerate(tree.leaves()) if leaf.id.startswith(node)] for node in (id, id[:-1] + "10"[int(id[-1])]))
        named = {j for i in below for j in first[tree.leaves()[i].id][0][:15]}
        words = [j for j in telling[id][0].tolist() if j in named]
        few += len(words) < 12
        assert order[:len(words)].tolist() == naive.title_words(X, labels, below, beside, words, worths, C)
        assert order[len(words):].tolist() == [j for j in telling[id][0].tolist() if j not in named]
    assert few


def test_a_title_speaks_for_its_parts():
    """Below a node are a leaf with three words in most of its documents and one with a word in half; beside it is a third leaf."""
    labels = np.repeat(np.arange(3), 40)
    X = np.zeros((120, 7))
    X[:36, 0] = X[3:37, 1] = X[6:38, 2] = 1
    X[40:80:2, 3] = 1
    X[:80, 4], X[:, 5], X[80:, 6] = 1, .1, 1
    tree = regroup(sp.csr_array(X), labels, ["car", "engine", "dealer", "orbit", "vehicle", "the", "god"])
    assert tree["0"].size == 80
    telling, shares, uses = _telling_words(tree), word_shares(tree, leaf_doc_freq(X, tree.labels(), 3)), uses_of((), tree.vocab.tolist())
    def ranked(worth={}, named=telling): return _for_all_below(tree, telling, worth, uses, shares, named)
    def first(worth={}): return tree.vocab[ranked(worth)["0"][:3]].tolist()
    assert first({"vehicle": 0}) == ["orbit", "car", "engine"] and tree.headings["0"][0] == first()[0] == "vehicle"
    assert first({"vehicle": 0, "car": 0}) == ["orbit", "engine", "dealer"]
    assert set(ranked()) == {"0"} and sorted(ranked()["0"]) == sorted(telling["0"][0])
    below = {leaf.id: (np.array([j]), None) for leaf, j in zip(tree.leaves(), (2, 3, 6))}
    words = ranked(named=below)["0"]                                                     # each leaf is for one word
    assert tree.vocab[words[:2]].tolist() == ["orbit", "dealer"] and sorted(words) == sorted(telling["0"][0])


def test_a_tree_of_one_leaf_has_no_headings():
    assert regroup(sp.csr_array(np.ones((5, 3))), np.zeros(5, int), [*"abc"]).headings == {}


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


def test_broad_topics_are_told_in_twice_as_many_words(tree):
    for node in tree:
        if not node.id: continue
        words = tree.headings[node.id]
        assert tree.title(node, 2) == ", ".join(words[:4 if node.children else 2]) and words_in_title(node, 2) == (4 if node.children else 2)
        tree.rename(node, "a name")
        assert tree.title(node, 2) == "a name"
        tree.rename(node)
    leaf, inner = tree.leaves()[0], tree.leaves(3)[0]
    assert outline(tree, 3).splitlines()[1].endswith(", ".join(tree.headings[inner.id][:6]))
    tree.headings = {}
    assert tree.title(inner) == " ".join(tree.top_terms(inner, n=3)) and tree.title(leaf, 2) == " ".join(tree.top_terms(leaf, n=2))


@pytest.mark.parametrize("n, letters, shown", [(4, 11, 5), (4, 15, 4), (4, 30, 4), (2, 20, 3), (3, 5, 6)])
def test_words_beyond_those_asked_for_need_room(tree, n, letters, shown):
    """Of the 79 letters of a line 71 are left for words: what doesn't fit is left out, but never one of the words asked for."""
    tree.headings = {id: [letter*letters for letter in "abcdef"] for id in tree.headings}
    lines = outline(tree, (3, 9), n).splitlines()[1:]
    broad, narrow = lines[:2]
    assert broad.count(",") == shown - 1 and narrow.count(",") == n - 1
    assert len(broad) <= 79 or shown == n
    tree.headings = dict.fromkeys(tree.headings, ["a"*30, "b"*30, "c"*30, "d"])
    assert [word[0] for word in outline(tree, 3, 2).splitlines()[1].split("  ")[-1].split(", ")] == ["a", "b", "d"]    # a long one gives way
    tree.rename(tree.leaves(3)[0], "a name that is, with commas, " + "long"*10)
    assert any("with commas, long" in line for line in outline(tree, 3, n).splitlines())


def test_levels_are_where_scores_fall(tree):
    assert good_levels(tree) == (3, 9)
    for k, size in ((1, 1), (2, 1), (6, 1), (7, 2), (60, 2), (80, 3)):
        X = sp.csr_array(np.random.default_rng(k).random((90, 50)))
        levels = good_levels(regroup(X, np.arange(90) % k))
        assert levels[-1] == k and list(levels) == sorted(set(levels)) and len(levels) == size, (k, levels)


class Scored:
    """Splits and their scores, which is all of a tree that levels depend on."""
    def __init__(self, splits, scores):
        self.n_leaves, self.splits, self.scores = len(splits) + 1, splits, dict(zip(splits, scores))

    def __getitem__(self, id): return SimpleNamespace(score=self.scores[id])


def random_splits(rng, k, lean):
    """A leaf of a tree is split at a time: any of them, or rather one that came last."""
    splits, leaves = [""], ["0", "1"]
    while len(leaves) < k:
        id = leaves.pop(len(leaves) - 1 - int(len(leaves)*rng.random()**lean))
        splits.append(id)
        leaves += [id + "0", id + "1"]
    return splits


def most_leaves(splits, n):
    """Of the topics of a cut, the most leaves below one: counted leaf by leaf."""
    def cut(m): return [id + side for id in splits[:m-1] for side in "01" if id + side not in splits[:m-1]]
    return max(sum(leaf.startswith(topic) for leaf in cut(len(splits) + 1)) for topic in cut(n))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k, least", [(9, 3), (17, 5), (24, 5), (30, 6), (36, 8), (47, 10), (60, 10)])
def test_no_topic_of_a_first_cut_has_too_many_parts(k, least, seed):
    """Where that can be had, each has eight at most; else the fewest that can be had. Of such cuts that after which scores fall most."""
    rng = np.random.default_rng(seed)
    splits, scores = random_splits(rng, k, 1 + 3*(seed % 2)), [np.inf, *-np.sort(-rng.random(k - 2))]
    n, all_of_it = good_levels(Scored(splits, scores))
    sizes = {m: max(most_leaves(splits, m), 8) for m in range(least, min(max(8, least + 2), k//2) + 1)}
    falls = {m: scores[m-2]/scores[m-1] for m, size in sizes.items() if size == min(sizes.values())}
    assert all_of_it == k and n == max(falls, key=falls.get)


def most_parts(splits, n, m):
    """Of the topics of a cut, the most parts of one in a finer cut: counted part by part."""
    def cut(m): return [id + side for id in splits[:m-1] for side in "01" if id + side not in splits[:m-1]]
    return max(sum(part.startswith(topic) for part in cut(m)) for topic in cut(n))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [37, 44, 60, 70, 80, 100, 150])
def test_nor_have_they_if_there_are_more_levels(k, seed):
    """Tried with all pairs of a first and a second cut that are allowed."""
    rng = np.random.default_rng(seed)
    splits, scores = random_splits(rng, k, 1 + 2*(seed % 2)), [np.inf, *-np.sort(-rng.random(k - 2))]
    first, second, *_ = good_levels(Scored(splits, scores))
    pairs = [(n, m) for n in range(min(10, -(-k//5)), min(12, 2 - (-k//5)) + 1) for m in ([k] if k <= 6*n else range(3*n, min(6*n, k//2) + 1))]
    assert (first, second) in pairs
    assert max(most_parts(splits, first, second), 8) == min(max(most_parts(splits, *pair), 8) for pair in pairs)


def test_many_leaves_have_more_levels():
    for k in (100, 1000, 3000):
        for splits in (random_splits(np.random.default_rng(k), k, 1), ["0"*i for i in range(k - 1)]):
            levels = good_levels(Scored(splits, [np.inf, *np.linspace(2, 1, k - 2)]))
            assert 10 <= levels[0] <= 12 and all(3 <= b/a <= 6 for a, b in zip(levels[:-2], levels[1:-1])) and k <= 6*levels[-2]


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
                                        ("international", "internet", False), ("", "s", True), ("query", "queries", True), ("riding", "ride", True),
                                        ("axis", "axes", True), ("jews", "jewish", True), ("added", "adding", True), ("read", "reading", True), ("tv", "tvs", True),
                                        ("ring", "red", False), ("plan", "plane", False), ("part", "party", False), ("файл", "файла", True), ("базы", "базе", True), ("ключ", "код", False), ("лес", "лестница", False), ("s", "sing", False), ("the", "thing", False), ("be", "bing", False)])
def test_forms_of_a_word(a, b, same): assert same_word(a, b) == same_word(b, a) == same


def test_what_must_be_there(tree):
    with pytest.raises(ValueError, match="function must be callable"): name_nodes(tree, "a name")
    with pytest.raises(ValueError, match="levels"): outline(tree, (0, 3))
    for wrong in ([], [[2, 3]]):
        with pytest.raises(ValueError, match="levels must be numbers of leaves"): outline(tree, wrong)
    with pytest.raises(ValueError, match="n must be"): find_headings(tree, 0)
    for wrong in (0, -1, "four"):
        with pytest.raises(ValueError, match="n_terms must be"): outline(tree, 3, wrong)
    with pytest.raises(ValueError, match="leaf_df must be"): give_headings(tree, ["a text"]*tree.n_docs)
    tree.vocab = None
    with pytest.raises(ValueError, match="set tree.vocab"): find_headings(tree)
    with pytest.raises(ValueError, match="set tree.vocab"): give_headings(tree)


@pytest.mark.parametrize("text", ["see http://site.org/it's/don't-panic-engine now engine", "see http://site.org/%dox%sengine now engine", "to panic%so'll@engine.org engine"])
def test_pieces_of_addresses_are_in_addresses(text):
    uses = uses_of([text]*2, ["engine", "panic"])
    assert uses.n_again.tolist() == [0, 0] and uses.there.toarray().tolist() == [[1, 0]]*2


def test_a_phrase_needs_texts_of_the_node_itself(monkeypatch):
    "Both words are frequent in a topic, and the two together in another one"
    rng = np.random.default_rng(0)
    def some(words, *more): return " ".join(rng.permutation([*rng.choice(words.split(), 4), *more]))
    texts = [some("browser window tab page") + " latest version" for _ in range(60)]
    texts += ["version " + some("php module server script") + " latest" for _ in range(50)]
    texts += [some(words) for words in ("river bank water boat", "goal ball net team") for _ in range(80)]
    def titles():
        tree = TopicTree(4, min_df=2, max_df=1.).fit(texts).tree_
        return {"php" in texts[leaf.docs[0]]: tree.headings[leaf.id] for leaf in tree.leaves() if "version" in texts[leaf.docs[0]]}
    found = titles()
    assert "latest version" in found[False] and "latest version" not in found[True] and {"latest", "version"} <= set(found[True])
    monkeypatch.setattr(OwnTexts, "within", lambda own, id: lambda phrase, word, least=0: True)
    assert all("latest version" in heading for heading in titles().values())


def test_a_phrase_of_one_topic_takes_the_place_of_a_word_of_many():
    "Elements are everywhere, and *element wise* is said of half of them in one topic only"
    places = headings._places([Phrase("element", "wise", 57, 259, 103)])
    def heading(share):
        def say(phrase, word, least=headings.SOME): return dict(wise=.9, element=share)[word] >= least
        return headings._heading(["element", "wise"], 3, lambda word: True, places, say=say)[0]
    assert [heading(share) for share in (.49, .5)] == [["element", "wise"], ["element wise"]]


def test_texts_of_nodes_with_words_and_pairs():
    tree = SimpleNamespace(leaves=lambda: [SimpleNamespace(id=id) for id in ("0", "10", "11")])
    lines = ["ball game", "a ball game, a ball game", "game of the ball", "a ball", "the game", "ball", "ball", "ball-game"]
    own = OwnTexts(seen_of(lines), [0, 0, 1, 1, 1, 2, 2, 2], tree, [Phrase("ball", "game", 3, 6, 5), Phrase("game", "set", 3, 6, 5)])
    pair = Phrase("ball", "game", 3, 6, 5)
    assert [own.within(id)(pair, word) for id in ("0", "10", "11", "1", "") for word in ("ball", "game")] == [True, True, False, False, True, True, False, True, True, True]
    assert [own.within("0")(Phrase("ball", "game", 3, 6, 5), "ball", least) for least in (.5, 1)] == [True, True]
    assert [own.within("")(pair, "ball", least) for least in (.4, .5)] == [True, False]
    assert own.within("10")(pair._replace(link="of the"), "ball") and own.within("0")(Phrase("game", "set", 3, 6, 5), "set")


def _in_french(rng, n):
    "Texts of which few words are not stop words"
    small, own = "le la les un une des ou et ne au dans sur que qui pour pas vous si".split(), "logiciel licence droits garantie contrat".split()
    return [" ".join([*rng.choice(small, 30), *rng.choice(own, 12)]) for _ in range(n)]


@pytest.mark.parametrize("stop_words", ["auto", "english"])
def test_titles_of_a_few_texts_in_another_language(stop_words):
    rng = np.random.default_rng(0)
    themes = [[f"{name}{c}" for c in "abcdefghijklmnop"] for name in ("sea", "sky", "sun")]
    english = [" ".join(["the", "and", "with", "this", *rng.choice(themes[k % 3], 30)]) for k in range(1800)]
    model = TopicTree(4, stop_words=stop_words).fit(english + _in_french(rng, 24))
    [leaf] = set(model.labels_[-24:])
    title = words_of(model.tree_.headings[model.tree_.leaves()[leaf].id])
    assert bool(title & {"le", "la", "les", "ne", "au", "des"}) == (stop_words == "english")
    assert stop_words == "english" or title <= {"logiciel", "licence", "droits", "garantie", "contrat"}


@pytest.mark.parametrize("words, gone", [("les ou logiciel des une dans", "les ou des une dans"), ("une les und die des im der lizenz la dans", "une les und die des im der la dans"),
                                         ("war israel soldiers die des", ""), ("les une dans", ""), ("", "")])
def test_small_words_need_company(words, gone):
    assert headings._small_words(words.split()) & set(words.split()) == set(gone.split())


def test_titles_of_nothing_but_small_words_stay(tree):
    tree.vocab[:8] = "les ou ne une la au des dans".split()
    telling = {"0": (np.arange(8), np.arange(8.)), "1": (np.arange(10), np.arange(10.))}
    found = headings._without_small(tree, telling)
    assert_array_equal(found["0"][0], np.arange(8))
    assert_array_equal(found["1"][0], [8, 9])
