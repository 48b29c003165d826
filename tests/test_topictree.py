"""TopicTree: from documents to a tree of topics"""
import itertools
import pickle
import warnings

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import normalized_mutual_info_score as nmi

from nmf2 import Corpus, FlatNMF2, HierNMF2, TopicTree, editing, topictree
from nmf2.bisection import criterion_of, repeated_bisection, unit_rows
from nmf2.data import load, planted_tree
from nmf2.editing import matrix_of
from nmf2.nnls import heaviest, memberships
from nmf2.topictree import TOGETHER, best_start, most_similar, pieces, roots_of, settled_topics, sums_of
from nmf2.weighting import TrimVocabulary, count_pipeline, text_pipeline


@pytest.fixture(scope="module")
def corpus(): return planted_tree((3, 3), n_docs=450, random_state=3)

@pytest.fixture(scope="module")
def texts(corpus):
    X = corpus.X.tocsr()
    return [" ".join(str(corpus.vocab[j]) for j, n in zip(row.indices, row.data) for _ in range(int(n))) for row in (X[[i]] for i in range(X.shape[0]))]

@pytest.fixture(scope="module")
def model(corpus): return TopicTree(9).fit(corpus.X, vocab=corpus.vocab)


def groups(labels): return {frozenset(np.flatnonzero(labels == c)) for c in set(labels.tolist())}


def test_planted_topics(corpus, model):
    assert nmi(corpus.classes(1)[0], model.labels_) > .95 and nmi(corpus.classes(0)[0], model.tree_.labels(3)) > .95
    assert model.components_.shape == (9, len(model.vocab_)) and model.n_topics_ == 9
    assert_allclose(np.linalg.norm(model.components_, axis=1), 1, rtol=1e-5)


def test_documents_of_the_fit_get_their_labels(corpus, model):
    assert_array_equal(model.predict(corpus.X), model.labels_)
    shares = model.transform(corpus.X)
    assert shares.min() >= 0
    assert_allclose(shares.sum(1), 1, rtol=1e-5)
    assert_array_equal(shares.argmax(1), model.labels_)
    for n in (1, 3, 9):
        part = model.transform(corpus.X, n)
        assert part.shape == (450, n)
        assert_allclose(part.sum(1), 1, rtol=1e-5)
    below = np.array([leaf.id.startswith(model.tree_.leaves(3)[0].id) for leaf in model.tree_.leaves()])
    assert_allclose(model.transform(corpus.X, 3)[:,0], shares[:,below].sum(1), rtol=1e-5)


@pytest.mark.parametrize("form", [list, tuple, np.array, Corpus, lambda texts: np.array(texts, dtype=object)])
def test_texts_in_any_form(texts, model, form):
    by_texts = TopicTree(9, stop_words=None).fit(form(texts))
    assert groups(by_texts.labels_) == groups(model.labels_)
    assert_array_equal(by_texts.predict(form(texts)), by_texts.labels_)


def test_a_column_of_a_data_frame(texts, model):
    pandas = pytest.importorskip("pandas")
    assert groups(TopicTree(9, stop_words=None).fit(pandas.Series(texts, index=range(7, 457))).labels_) == groups(model.labels_)
    table = model.topics(5)
    assert list(table.columns) == ["topic", "node", "documents", "title", "words"] and table.documents.sum() == 450


def test_texts_that_come_once(texts, model):
    """A generator's documents are there for what is asked later."""
    came = TopicTree(9, stop_words=None).fit(text for text in texts)
    assert groups(came.labels_) == groups(model.labels_) and came.given_ == texts
    came.split(came.tree_.leaves()[0])
    assert came.n_topics_ == 10 and "Search" in came.to_html()


def test_shares_of_texts_that_come_once(texts):
    shares = TopicTree(9, stop_words=None).fit_transform(text for text in texts)
    assert_array_equal(shares, TopicTree(9, stop_words=None).fit_transform(texts))


def test_pages_say_what_transform_says(texts, corpus, tmp_path):
    """How much of a topic is in a document is one figure, whoever is asked."""
    model = TopicTree(9, stop_words=None).fit(texts)
    shares = model.transform(texts)
    assert_allclose(model.explore().reader.shares, shares)
    assert model.to_html() == model.to_html(texts) == model.tree_.to_html(texts, shares=shares, weights=matrix_of(model)) != model.tree_.to_html(texts)
    reader = model.explore(Corpus(texts)).reader
    for node in model.tree_:
        if not node.id: continue
        told, sibling = reader.details(node.id), node.parent.children[1 - int(node.id[-1])]
        of = {child.id: shares[:,[leaf.id.startswith(child.id) for leaf in model.tree_.leaves()]].sum(1) for child in (node, sibling)}
        rows = told["borderline"]
        nearest = np.sort(np.abs((of[node.id]/(of[node.id] + of[sibling.id]))[node.docs] - .5))[:len(rows)]
        assert_allclose(np.abs(np.subtract(told["shares"], .5)), nearest, atol=.0006)
        assert_allclose([told["sure"][i] for i in rows], of[node.id][rows], atol=.0006)
        assert_allclose(told["shares"], of[node.id][rows]/(of[node.id] + of[sibling.id])[rows], atol=.0006)
    assert model.explore(texts, shares=None).reader.shares is None
    model.save(tmp_path/"model.nmf2")
    loaded = TopicTree.load(tmp_path/"model.nmf2")
    assert loaded.explore().reader.shares is None
    assert_allclose(loaded.explore(texts).reader.shares, shares)
    assert loaded.to_html(text for text in texts) == loaded.to_html(texts)
    explorer = model.explore()
    model.drop_words(model.vocab_[:3])
    explorer._follow()
    assert_allclose(explorer.reader.shares, model.transform(texts))
    with pytest.raises(ValueError, match="must have one entry for each of the 450 documents"): loaded.to_html(texts[:9])
    for show, one in ((loaded.to_html, "tree.html"), (loaded.tree_.to_html, "x"*450)):     # a path; a letter for each document
        with pytest.raises(ValueError, match="texts must .* got a single string"): show(one)
    counts = TopicTree(9).fit(corpus.X, vocab=corpus.vocab)
    assert_allclose(counts.explore(texts).reader.shares, counts.transform(corpus.X))


@pytest.mark.parametrize("loaded", [False, True])
def test_other_texts_are_not_shown(texts, tmp_path, loaded):
    """Under a topic stand its own documents, or nothing."""
    own = model = TopicTree(9, stop_words=None).fit(texts)
    if loaded:
        model.save(tmp_path/"model.nmf2")
        model = TopicTree.load(tmp_path/"model.nmf2")
    turned, gaps = texts[::-1], [None if i % 50 == 0 else text for i, text in enumerate(texts)]
    for show in (model.to_html, model.explore):
        for wrong in (turned, Corpus(turned), np.array(turned), iter(turned), ["no word of it is known"]*450):
            with pytest.raises(ValueError, match=r"those of the fit, in their order: only \d+% of these belong where those are. .* shares="): show(wrong)
        with pytest.raises(ValueError, match="those of the fit, in their order"): show(texts=turned)
        for shares in (None, own.transform(texts)): assert show(turned, shares=shares) is not None           # translations, say
        with pytest.raises(ValueError, match="must have one entry for each of the 450 documents"): show(turned[:9])
    assert turned[0] not in model.to_html()
    assert model.to_html(texts) == model.to_html(texts=texts) == model.to_html(np.array(texts))
    shorter = [" ".join(text.split()[::2]) for text in texts]
    assert shorter[0] in model.to_html(shorter, n_docs=450) and "Search" in model.to_html(gaps)
    assert model.to_html(None, [f"name {i}" for i in range(450)]).count("name 7")


def test_texts_are_shown_that_can_not_be_compared(texts, corpus, tmp_path):
    """A model of counts knows no texts, and one without its tokenizer can't cut them."""
    counts = TopicTree(9).fit(corpus.X, vocab=corpus.vocab)
    assert texts[0] in counts.to_html(texts, n_docs=450)
    with pytest.warns(UserWarning, match="tokenizer"): TopicTree(9, stop_words=None, tokenizer=str.split).fit(texts).save(tmp_path/"cut.nmf2")
    cut = TopicTree.load(tmp_path/"cut.nmf2")
    assert texts[0] in cut.to_html(texts, n_docs=450) and cut.explore(texts).reader.shares is None
    counts.save(tmp_path/"counts.nmf2")
    loaded = TopicTree.load(tmp_path/"counts.nmf2")
    assert "Search" in loaded.to_html(texts)
    bare = Corpus(X=corpus.X, vocab=corpus.vocab)
    assert_allclose(loaded.explore(bare).reader.shares, counts.transform(bare))
    with pytest.raises(ValueError, match="belong where those are"): loaded.explore(bare[::-1])


def test_columns_of_a_page_in_a_data_frame(texts, model):
    pandas = pytest.importorskip("pandas")
    columns = dict(half=["a"]*225 + ["b"]*225)
    assert model.to_html(texts, columns=pandas.DataFrame(columns)) == model.to_html(texts, columns=columns)
    assert list(model.explore(texts, columns=pandas.DataFrame(columns)).reader.columns) == ["half"]


@pytest.mark.parametrize("kind", ["table", "batch", "chunks"])
def test_counts_in_a_table_of_arrow(corpus, tmp_path, kind):
    pa = pytest.importorskip("pyarrow")
    X = corpus.X.toarray()
    table = pa.table({word: X[:,j].astype(np.int64 if j % 2 else np.float32) for j, word in enumerate(corpus.vocab)})
    if kind == "batch": table = table.to_batches()[0]
    if kind == "chunks": table = pa.concat_tables([table.slice(0, 200), table.slice(200)])
    expected, model = TopicTree(9).fit(corpus.X, vocab=corpus.vocab), TopicTree(9).fit(table)
    assert_array_equal(model.labels_, expected.labels_)
    assert model.outline() == expected.outline()
    model.save(tmp_path/"model.nmf2")
    for one in (model, TopicTree.load(tmp_path/"model.nmf2")):
        assert_array_equal(one.predict(table), model.labels_)
        assert_array_equal(one.predict(table.select(table.column_names[::-1])), model.labels_)               # columns go by their names
        assert_allclose(one.transform(table), expected.transform(corpus.X), atol=1e-5)
    with pytest.raises(ValueError, match="with the columns 'n', 'text'; give one of them"): TopicTree(9).fit(pa.table(dict(n=[1, 2], text=["a", "b"])))


def test_a_notebook_shows_what_print_shows(texts, model):
    from IPython.core.formatters import DisplayFormatter
    show = DisplayFormatter().format
    assert show(model)[0] == {"text/plain": str(model)} and str(model) == model.outline()
    assert "n_topics=3" in show(TopicTree(3))[0]["text/plain"] and "text/html" in show(TopicTree(3))[0]
    some = TopicTree(3, stop_words=None).fit(texts)
    for told in (some.documents_, some.split(some.tree_.leaves()[0]), some.drift(texts[:90]), some.update(texts[:9])):
        assert show(told)[0]["text/plain"] == str(told) and not str(told).startswith(type(told).__name__)


def test_topics_by_number_are_told_what_they_are(model):
    with pytest.raises(KeyError, match=r"topic 3 is tree.leaves\(\)\[3\]"): model.tree_[3]
    with pytest.raises(KeyError, match="in tree.names\"$"): model.tree_[9]


def test_warnings_name_the_line_of_the_caller(texts):
    with pytest.warns(UserWarning, match="1 of 451 documents has no terms") as seen: model = TopicTree(3, stop_words=None).fit([*texts, ""])
    with pytest.warns(UserWarning, match="no term of the vocabulary") as then: model.predict(["zz"])
    with pytest.warns(UserWarning, match="get the label -1|gets the label -1") as last: HierNMF2(2).fit(np.array([[1., 0], [0, 1], [0, 0], [1, 1]]))
    assert {warning.filename for some in (seen, then, last) for warning in some} == {__file__}


class Bag:
    "Documents of somebody who has no `Corpus`, with all that one is asked for"
    def __init__(self, texts):
        self.texts, self.ids, self.name = texts, [f"text {i}" for i in range(len(texts))], "mine"
        self.vocab = self.X = self.labels = None


def test_another_corpus_than_ours(texts):
    model = TopicTree(9, stop_words=None).fit(Bag(texts))
    assert_array_equal(model.predict(Bag(texts)), model.labels_)
    assert "text 449" in model.to_html() and "Search" in model.to_html(Bag(texts))
    there = int(model.labels_[1] == 0)
    model.move(["text 1"], model.tree_.leaves()[there])
    assert model.labels_[1] == there


def _labelled(label):
    "A function of texts: a column of which one row is called something"
    def column(texts): return pytest.importorskip("pandas").Series(texts, index=[label, *range(1, len(texts))])
    column.__name__ = label
    return column

def _dict_values(texts): return dict(enumerate(texts)).values()
def _arrow(texts): return pytest.importorskip("pyarrow").array(texts)
def _chunked(texts): return pytest.importorskip("pyarrow").chunked_array([texts[:200], texts[200:]])
def _polars(texts): return pytest.importorskip("polars").Series(texts)

@pytest.mark.parametrize("form", [_dict_values, _arrow, _chunked, _polars, np.array,
                                  *map(_labelled, ["ids", "texts", "vocab", "columns", "tocsr", "to_pylist", "__dask_graph__", "shape", "ndim"])])
def test_all_that_is_taken_can_be_used_later(texts, form, tmp_path):
    model, plain = (TopicTree(9, stop_words=None).fit(given) for given in (form(texts), texts))
    for each in (model, plain):
        each.drop_words(each.vocab_[3])
        each.split(each.tree_.leaves()[0])
        each.name(lambda words, texts: words[0])
        each.update(form(texts[:9]))
    assert_array_equal(model.labels_, plain.labels_)
    assert model.outline() == plain.outline() and model.to_html() == plain.to_html()
    model.save(tmp_path/"model.nmf2", keep_texts=True)
    assert list(TopicTree.load(tmp_path/"model.nmf2").given_) == texts + texts[:9]


def test_counts_of_polars(corpus):
    polars, words = pytest.importorskip("polars"), [f"w {word}" for word in corpus.vocab]
    table = polars.DataFrame(corpus.X.toarray(), schema=words)
    model, plain = TopicTree(9).fit(table), TopicTree(9).fit(corpus.X, vocab=words)
    assert_array_equal(model.labels_, plain.labels_)
    assert_array_equal(model.predict(table), plain.labels_)
    assert model.outline() == plain.outline()
    with pytest.raises(ValueError, match="one column"): TopicTree().fit(polars.DataFrame(dict(text=["a", "b"])))
    for some in (dict(text=["a", "b"]), dict(cat=[1, 2])):
        for fit in (TopicTree().fit, text_pipeline().fit, HierNMF2(2).fit, TrimVocabulary().fit):
            with pytest.raises(ValueError, match="from a LazyFrame: collect it"): fit(polars.LazyFrame(some))


def test_counts_whose_words_are_names_of_attributes(corpus):
    """A table of counts may have a column called labels, ids, dtype, texts or vocab."""
    pandas = pytest.importorskip("pandas")
    words = [*map(str, corpus.vocab)]
    words[:7] = "labels", "ids", "dtype", "texts", "vocab", "columns", "__dask_graph__"
    table = pandas.DataFrame(corpus.X.toarray(), columns=words)
    named, plain = TopicTree(4).fit(table[:300]), TopicTree(4).fit(corpus.X[:300], vocab=words)
    assert_array_equal(named.labels_, plain.labels_)
    assert named.given_ is None and named.to_html().count("<html") == 1
    assert_array_equal(named.predict(table[300:]), plain.predict(corpus.X[300:]))
    named.update(table[300:])
    assert named.tree_.n_docs == 450


def test_texts_of_a_corpus_are_counted_by_the_model_alone(monkeypatch):
    """A corpus counts its words by rules of its own when somebody asks for them, and may be unable to."""
    from nmf2 import data
    def count(*_): raise AssertionError("the corpus was counted")
    monkeypatch.setattr(data, "count_terms", count)
    given = Corpus(["goal net coach"]*9 + ["vote law budget"]*9)
    model = TopicTree(2, min_df=1, max_df=.9).fit(given)
    assert_array_equal(model.predict(Corpus(["12 345", "", "goal"])), [-1, -1, model.labels_[0]])
    assert model.to_html() and len(model.answers(given, plain=True)) == 18


def test_a_corpus_of_counts(corpus, model):
    counted = TopicTree(9).fit(corpus)
    assert_array_equal(counted.labels_, model.labels_)
    assert_array_equal(counted.predict(corpus), model.labels_)


def test_any_order_of_documents_and_words(corpus, model):
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(450), rng.permutation(corpus.X.shape[1])
    other = TopicTree(9).fit(corpus.X.tocsr()[rows][:,columns], vocab=np.asarray(corpus.vocab)[columns])
    assert groups(other.labels_) == groups(model.labels_[rows])
    for n in (2, 3, 5): assert groups(other.tree_.labels(n)) == groups(model.tree_.labels(n)[rows])


def test_the_best_start_is_kept(corpus):
    X = count_pipeline().fit_transform(corpus.X)
    best = best_start(X, 20, n_init=4)
    assert len(best.criteria) == 4 and len(set(best.criteria)) > 1
    assert_allclose(criterion_of(unit_rows(X), best.labels), max(best.criteria), rtol=1e-6)
    assert best.criteria[:1] == best_start(X, 20).criteria                                 # more starts begin with the same
    still = best_start(X, 20, n_init=4, moves_max_iter=0)
    assert all(a <= b for a, b in zip(still.criteria, best.criteria))                      # moves only gain


def test_topics_are_sums_or_their_roots():
    X = sp.csr_array(np.array([[3., 4., 0.], [0., 2., 0.], [0., 0., 5.]]))
    assert_allclose(sums_of(X, np.array([0, 0, 1])), np.array([[.6, 1.8, 0], [0, 0, np.sqrt(3.6)]]).T/np.sqrt(3.6))
    assert_allclose(roots_of(X, np.array([0, 0, 1])), np.array([[.5, np.sqrt(.75), 0], [0, 0, 1]]).T)


@pytest.mark.parametrize("seed", range(3))
def test_topics_the_long_way(seed):
    rng = np.random.default_rng(seed)
    X = sp.random(40, 30, .3, "csr", rng=rng) + sp.csr_array(np.eye(40, 30)) + sp.csr_array(np.full((40, 30), .01))
    labels = np.concatenate([[0, 1, 2, -1], rng.integers(-1, 3, 36)])
    assert_allclose(roots_of(X, labels), naive.roots_of(X.toarray(), labels))


@pytest.mark.parametrize("k, n_docs", [(1, 450), (9, 450), (40, 100), (7, 8), (8, 8)])
def test_pieces_are_merged_to_as_many_as_wanted(corpus, k, n_docs):
    docs = unit_rows(count_pipeline().fit_transform(corpus.X))[:n_docs]
    labels = pieces(docs, k)
    assert set(labels.tolist()) == set(range(k))
    assert_array_equal(labels, pieces(docs, k))


def test_pieces_of_copies():
    """Of two different documents no more than two pieces can be made."""
    docs = unit_rows(sp.csr_array(np.repeat([[3., 4., 0.], [0., 1., 1.]], [5, 7], axis=0)))
    assert groups(pieces(docs, 4)) == {frozenset(range(5)), frozenset(range(5, 12))}


def test_pieces_of_a_sample(corpus, monkeypatch):
    "All documents go to the piece of the sample that they are most similar to, and pieces are merged over all of them"
    docs = unit_rows(count_pipeline().fit_transform(corpus.X))
    n, k, seed = docs.shape[0], 12, 5
    assert_array_equal(pieces(docs, k, seed, sampled=1), pieces(docs, k, seed))          # too few documents for a sample
    monkeypatch.setattr("nmf2.topictree.LEAST", 1)
    assert_array_equal(pieces(docs, k, seed, sampled=docs.nnz), pieces(docs, k, seed))   # not of a sample
    some = np.sort(np.random.default_rng([seed, 1]).choice(n, n//2, replace=False))
    X, cut = docs.toarray(), repeated_bisection(docs[some], 3*k, seed=seed).labels
    D = np.stack([X[some][cut == piece].sum(0) for piece in range(3*k)])
    labels = (X @ D.T/np.linalg.norm(D, axis=1)).argmax(1)
    while len(names := np.unique(labels)) > k:
        sums = {name: X[labels == name].sum(0) for name in names}
        loss = {(a, b): sum(map(np.linalg.norm, (sums[a], sums[b]))) - np.linalg.norm(sums[a] + sums[b])
                for a, b in itertools.combinations(names, 2)}
        a, b = min(loss, key=loss.get)
        labels[labels == b] = a
    found = pieces(docs, k, seed, sampled=(docs.nnz + 1)//2)
    assert groups(found) == groups(labels)
    assert groups(found) != groups(pieces(docs, k, seed))                                # else it wasn't tested


def test_the_most_similar_of_many_documents():
    rng = np.random.default_rng(0)
    X = sp.random_array((2*TOGETHER + 3, 20), density=.1, format="csr", rng=rng, dtype=np.float32)
    D = rng.random((20, 5))
    C = X.toarray().astype(float) @ D
    found = most_similar(X, D)
    assert (C[np.arange(len(C)), found] >= C.max(1) - 1e-6).all() and len(np.unique(found)) == 5
    assert most_similar(X[:0], D).shape == (0,)


def test_pieces_lose_less_than_cuts():
    """Sizes as 1, 1/2, 1/3, ...: cuts in two tear the large topics, and merges mend them."""
    corpus = planted_tree((4, 5), n_docs=1500, overlap=.6, noise=.2, skew=1, random_state=0)
    docs = unit_rows(count_pipeline().fit_transform(corpus.X))
    by_pieces = [criterion_of(docs, pieces(docs, 20, seed)) for seed in range(4)]
    by_cuts = [criterion_of(docs, repeated_bisection(docs, 20, seed=seed).labels) for seed in range(4)]
    assert np.mean(by_pieces) > np.mean(by_cuts)


def test_settled_topics():
    """When labels stay, each topic is made of the documents that have most of it."""
    corpus = planted_tree((5,), n_docs=500, n_words=200, length=20, overlap=.7, random_state=1)
    X = count_pipeline().fit_transform(corpus.X)
    filled = X[np.flatnonzero(np.asarray(X.sum(1)).ravel() > 0)]
    for make in (roots_of, sums_of):
        found = settled_topics(filled, best_start(filled, 5).labels, 50, make)
        assert_allclose(found.Ht, make(filled, found.labels), atol=1e-12)
        assert_array_equal(heaviest(memberships(filled, found.Ht)), found.labels)
        again = settled_topics(filled, found.labels, make=make)
        assert_array_equal(again.labels, found.labels)


def test_a_topic_without_documents_is_dropped():
    X = sp.csr_array(np.array([[1., 0., 0.], [1., .1, 0.], [0., 0., 1.], [1., .05, 0.]]))
    found = settled_topics(X, np.array([0, 0, 1, 2]))
    assert set(found.labels) == set(range(found.Ht.shape[1]))
    with pytest.warns(UserWarning, match="n_topics=4 can't be had: 2 of these topics would have no documents, so there are 2$"):
        few = TopicTree(4, min_df=1, max_df=1.).fit(np.array([[5., 0], [5, 0], [0, 3], [0, 3]]), vocab=["a", "b"])
    assert few.n_topics_ == 2 and len(few.components_) == 2


def test_empty_documents(corpus):
    X = sp.vstack([corpus.X.tocsr()[:200], sp.csr_array((3, corpus.X.shape[1]))], format="csr")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TopicTree(5).fit(X, vocab=corpus.vocab)
    assert_array_equal(model.labels_[-3:], -1)
    assert_array_equal(model.tree_[""].outliers, [200, 201, 202])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_array_equal(model.predict(X), model.labels_)
        assert_allclose(model.transform(X)[-1], [leaf.size/200 for leaf in model.tree_.leaves()], rtol=1e-6)
    assert_array_equal(model.documents_.wordless, [200, 201, 202])
    assert not len(model.documents_.topicless) and "200 of 203 documents have a topic; 3 without" in str(model.documents_)


def test_copies_and_settings(corpus, model):
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(corpus.X), model.labels_)
    assert clone(model).n_topics == 9 and not hasattr(clone(model), "tree_")
    assert str(model).startswith("450 documents") and "TopicTree" in str(TopicTree())
    assert len(model.outline((3, 9), 2).splitlines()) == 13
    one = TopicTree(1).fit(corpus.X, vocab=corpus.vocab)
    assert one.tree_.n_leaves == 1 and set(one.labels_) == {0} and str(one) == "450 documents"


def test_documents_that_have_none_of_the_topics():
    """Subject lines: some share no word with any topic of a grown tree."""
    lines = ["ball goal", "goal umpire ball", "ball umpire"]*20 + ["vote law", "law vote budget", "budget vote"]*20 + ["odd pair", "odd pair", "odd pair"]
    model = TopicTree(2).fit(lines)
    assert_array_equal(model.predict(lines), model.labels_)
    assert model.labels_.max() == 1 and len(set(model.labels_[:60])) == len(set(model.labels_[60:120])) == 1


@pytest.mark.parametrize("options, message", [(dict(n_topics=0), "n_topics must be a whole number of at least 1"), (dict(n_topics=900), "only 450 documents, and n_topics=900: ask for fewer topics, such as 20$"),
                                              (dict(n_init=0), "n_init must be a whole number of at least 1"), (dict(n_init="two"), "n_init"),
                                              (dict(moves_max_iter=-1), "moves_max_iter"),
                                              (dict(random_state=-1), "random_state"), (dict(tau=-1), "tau")])
def test_bad_parameters(corpus, options, message):
    with pytest.raises(ValueError, match=message): TopicTree(**options).fit(corpus.X, vocab=corpus.vocab)


def test_documents_without_words_are_told_and_get_the_shares_of_all(texts):
    model = TopicTree(3, random_state=0).fit(texts)
    with pytest.warns(UserWarning, match=r"2 of 2 documents have no term of the vocabulary; their weights are all zero \(rows 0, 1\)"):
        shares = model.transform(["", "zzzz"])
    assert_allclose(shares.sum(1), 1)


def test_fewer_documents_than_topics_are_told_with_both_numbers(texts):
    for given, message in ((texts[:10], "there are only 10 documents, and n_topics=20: ask for fewer topics, such as 5$"),
                           (texts[:1], "there is only 1 document, and n_topics=20: ask for fewer topics, such as 1$"),
                           (["ball goal"]*12 + ["", " "]*6, "there are only 12 documents with words, and n_topics=20: .* such as 6$")):
        with pytest.raises(ValueError, match=message), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            TopicTree(min_df=1, max_df=1.).fit(given)


def test_bad_documents(texts):
    with pytest.raises(ValueError, match="single string"): TopicTree().fit("a text")
    with pytest.raises(ValueError, match="vocab goes with counts"): TopicTree().fit(texts, vocab=["a"])
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="one column"): TopicTree().fit(pandas.DataFrame(dict(text=texts)))
    with pytest.raises(ValueError, match="one column"): TopicTree().fit(np.array(texts)[:,None])


def test_counts_that_are_none(corpus):
    weights = count_pipeline().fit_transform(corpus.X)
    with pytest.raises(ValueError, match="documents must be counts, not weights"): TopicTree(3).fit(weights)
    with pytest.raises(ValueError, match="different things"): TopicTree(1, min_df=1, max_df=1.).fit(np.ones((3, 4)))
    with pytest.raises(ValueError, match="vocab=..."): TopicTree(3).fit(corpus.X, corpus.vocab)
    n_terms = corpus.X.shape[1]
    for wrong in ({"a": 0}, "words", ["a", "b"], [None]*n_terms, [["a"]]*n_terms):
        with pytest.raises(ValueError, match="vocab must"): TopicTree(3).fit(corpus.X, vocab=wrong)


def test_new_documents_in_another_form(corpus, texts, model):
    rng = np.random.default_rng(0)
    columns = rng.permutation(corpus.X.shape[1])
    moved = Corpus(X=corpus.X.tocsr()[:,columns], vocab=np.asarray(corpus.vocab)[columns])
    assert_array_equal(model.predict(corpus.X), model.labels_)
    assert_array_equal(TopicTree(9).fit(corpus).predict(moved), model.labels_)
    with pytest.raises(ValueError, match="must be counts"): model.predict(texts)
    by_texts = TopicTree(9, stop_words=None).fit(texts)
    with pytest.raises(ValueError, match="must be texts"): by_texts.predict(corpus.X)
    with pytest.raises(ValueError, match="none"): model.predict(Corpus(X=corpus.X, vocab=[f"q{j}" for j in range(corpus.X.shape[1])]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_array_equal(by_texts.predict(["zzz qqq"]), [-1])
        assert_allclose(by_texts.transform([""])[0], [leaf.size/450 for leaf in by_texts.tree_.leaves()], rtol=1e-6)


def test_rows_of_counts_as_lists(corpus, model):
    rows = corpus.X.toarray().tolist()
    assert_array_equal(TopicTree(9).fit(rows, vocab=corpus.vocab).labels_, model.labels_)
    assert_allclose(TopicTree(9).fit_transform(rows), model.transform(rows))
    assert len(model.get_feature_names_out()) == 9
    assert str(rows[0][:5])[1:-1] not in TopicTree(3).fit(rows, vocab=corpus.vocab).to_html()             # counts are no texts


def test_what_is_shown(texts):
    model = TopicTree(9, stop_words=None).fit(texts)
    model.name(lambda words, texts: f"{len(words)} words, {len(texts)} texts", nodes=model.tree_.leaves(3))
    assert model.outline(3).count("5 texts") == 3
    page = model.to_html(title="nine")
    assert "nine" in page and texts[model.tree_.typical(model.tree_.leaves()[0], 1)[0]][:40] in page


@pytest.mark.parametrize("ask", [lambda m: m.to_html(), lambda m: m.to_html(["a text"]), lambda m: m.path("a text"), lambda m: m.path(["a text"]), lambda m: m.support_,
                                 lambda m: m.name(lambda words, texts: ""), lambda m: m.transform(["a text"]), lambda m: m.explore(), lambda m: m.replay([]), lambda m: m.tree_])
def test_what_is_asked_before_a_fit(ask):
    with pytest.raises(NotFittedError, match="This TopicTree instance is not fitted yet"): ask(TopicTree())


def test_attributes_before_a_fit_and_after(model):
    for unfitted in (TopicTree(), HierNMF2(), FlatNMF2()):
        assert not hasattr(unfitted, "labels_") and not hasattr(unfitted, "missing") and getattr(unfitted, "tree_", None) is None
        with pytest.raises(NotFittedError, match=f"This {type(unfitted).__name__} instance"): unfitted.labels_
    with pytest.raises(AttributeError, match="no attribute 'lables_'") as e: model.lables_
    assert not isinstance(e.value, NotFittedError)


# ---- how many topics, and how far to believe them

def test_auto_finds_the_number_and_says_why(corpus):
    auto = TopicTree("auto").fit(corpus)
    n = auto.choice_.n_topics
    assert auto.n_topics_ == n and str(auto.choice_).startswith(f"{n} topics: ")
    same = TopicTree(n).fit(corpus)
    assert same.choice_ is None and auto.tree_.to_json() == same.tree_.to_json()
    assert clone(auto).get_params()["n_topics"] == "auto" and TopicTree("auto").fit(corpus).tree_.to_json() == same.tree_.to_json()


@pytest.mark.parametrize("wrong", ["many", "", "20", None, 0, 2.5, True, ["auto"]])
def test_numbers_of_topics_that_are_none(corpus, wrong):
    with pytest.raises(ValueError, match="n_topics must be a whole number"): TopicTree(wrong).fit(corpus)


def test_support_of_a_model(corpus):
    model = TopicTree(5).fit(corpus)
    assert model.support_ is None and "support" not in model.topics().columns and "%" not in model.outline()
    found = model.support(n_fits=3)
    assert found is model.support_ is model.tree_.support and found.runs.shape == (3, 9)
    assert list(model.topics()["support"]) == [leaf.support for leaf in model.tree_.leaves()]
    assert all(f"{leaf.support:.0%}" in model.outline((2, 5)) for leaf in model.tree_.leaves())
    again = TopicTree(5).fit(corpus).support(n_fits=3)
    assert np.array_equal(again.runs, found.runs)
    assert TopicTree(5).fit(corpus).support_ is None
    with pytest.raises(ValueError, match="n_fits"): model.support(n_fits=0)
    assert model.support_ is found
    with pytest.raises(AttributeError): TopicTree().support_


def test_support_of_a_model_without_its_documents(texts, tmp_path):
    model = TopicTree(2, min_df=1, max_df=1.).fit(texts)
    model.save(tmp_path/"m")
    loaded = TopicTree.load(tmp_path/"m")
    with pytest.raises(ValueError, match="support needs the documents of the fit"): loaded.support()
    assert np.array_equal(loaded.support(texts, n_fits=2).runs, model.support(n_fits=2).runs)


def test_gaps_in_texts_that_are_shown():
    """As of a column of pandas, where a gap is not equal to anything."""
    pd = pytest.importorskip("pandas")
    texts = ["ball goal match", "vote law party", ""]*20
    model = TopicTree(2, min_df=1, max_df=1.).fit(texts)
    shown = [text or pd.NA for text in texts]
    assert "<html" in model.to_html(shown)


def test_columns_of_a_data_frame_go_by_their_names():
    """A fit to counts with their words; later counts come in a data frame, with columns in another order."""
    import pandas as pd
    corpus = planted_tree((2, 2), n_docs=120, random_state=0)
    counts = corpus.X.toarray() if sp.issparse(corpus.X) else corpus.X
    rng = np.random.default_rng(0)
    turned = rng.permutation(counts.shape[1])
    for model in (TopicTree(4).fit(counts, vocab=corpus.vocab), TopicTree(4).fit(corpus)):
        frame = pd.DataFrame(counts, columns=corpus.vocab)
        for some in (frame, frame.iloc[:, turned], frame.assign(other=1)):
            assert_array_equal(model.predict(some), model.labels_)
            assert_array_equal(model.answers(some[:3])["topic"], model.answers(corpus[:3])["topic"])
        with pytest.raises(ValueError, match="documents must have some words of those of the fit"): model.predict(frame.add_prefix("x "))
        assert_array_equal(model.predict(pd.DataFrame(counts)), model.labels_)               # columns without names: by position
        for some in (frame.astype("Int64").iloc[:, turned], frame.iloc[:, turned].astype(pd.SparseDtype(float, 0)), frame.iloc[:, 2:].astype("Int64")):
            assert len(model.predict(some)) == 120
        with pytest.raises(ValueError, match="must have each column once, and '.*' is there twice"): model.predict(pd.concat([frame, frame.iloc[:, :1]], axis=1))


def test_columns_that_are_no_texts_have_names():
    """Those of a pivot table are often numbers or pairs; scikit-learn leaves them alone, and new counts were read by position, silently."""
    pandas = pytest.importorskip("pandas")
    corpus = planted_tree((2, 2), n_docs=120, random_state=0)
    codes = [40_000 - 7*j for j in range(corpus.X.shape[1])]
    frame = pandas.DataFrame(corpus.X.toarray(), columns=codes)
    model, words = TopicTree(4, min_df=1).fit(frame), TopicTree(4, min_df=1).fit(frame.set_axis([*map(str, codes)], axis=1))
    assert_array_equal(model.labels_, words.labels_)
    assert list(model.vocab_) == list(words.vocab_) and model.outline() == words.outline() and frame.columns.tolist() == codes
    with pytest.raises(ValueError, match="feature names should match"): model.predict(frame[codes[::-1]])
    assert_array_equal(TopicTree(4, min_df=1).fit(corpus.X, vocab=codes).predict(frame[codes[::-1]]), model.labels_)
    pairs = pandas.MultiIndex.from_tuples([("shop", code) for code in codes])
    assert "shop 38047" in set(TopicTree(4, min_df=1).fit(frame.set_axis(pairs, axis=1)).vocab_)
    plain = TopicTree(4, min_df=1).fit(pandas.DataFrame(corpus.X.toarray()))         # of an array: no names
    assert_array_equal(plain.predict(corpus.X.toarray()), plain.labels_)
    with pytest.raises(ValueError, match="the gaps of a pivot table: make them zero"): TopicTree(4).fit(frame.where(frame > 0))


def test_a_frame_that_has_lost_its_names_is_refused():
    pd = pytest.importorskip("pandas")
    X, leaf = planted_tree((2, 2), 200, random_state=0).X.toarray(), 4
    frame = pd.DataFrame(X, columns=[f"word{j}" for j in range(X.shape[1])])
    model = TopicTree(leaf).fit(frame)
    lost = frame.sample(frac=1, axis=1, random_state=0).set_axis(range(X.shape[1]), axis=1)
    for ask in (model.predict, model.transform):
        with pytest.raises(ValueError, match="documents must have the columns of the fit, and these are 0, 1, 2"): ask(lost)
    with pytest.raises(ValueError, match="in the same order"): model.predict(frame.sample(frac=1, axis=1, random_state=0))
    assert_array_equal(model.predict(frame), model.labels_)
    assert_array_equal(TopicTree(leaf).fit(pd.DataFrame(X)).predict(pd.DataFrame(X)), model.labels_)     # never had any


def test_what_is_no_documents_is_told(corpus):
    with pytest.raises(ValueError, match="documents must be texts, a Corpus or counts, got None"): TopicTree(2).fit(None)
    with pytest.raises(ValueError, match=r"Take the field with the text: \[document\['text'\] for"): TopicTree(2).fit([dict(text="a ball")]*9)


def test_a_range_of_phrases_may_be_a_list(tmp_path):
    texts = ["a ball and a net", "a vote on a law", "the goal of the game"]*9
    model = TopicTree(2, ngram_range=[1, 2], min_df=1, max_df=1.).fit(texts)
    model.save(tmp_path/"m.nmf2")
    assert_array_equal(TopicTree.load(tmp_path/"m.nmf2").predict(texts), model.labels_)


class Short(TopicTree):
    "With fewer parameters, and a fit as other estimators have it"
    def __init__(self, n_topics=20, max_df=.5): super().__init__(n_topics, max_df=max_df)
    def fit(self, X, y=None): return super().fit(X)


def test_a_subclass_with_fewer_parameters(tmp_path):
    texts = [f"{'abc'[i % 3]*3} {'def'[i % 3]*3} w{i % 7}w" for i in range(90)]
    model = Short(3).fit(texts)
    model.save(tmp_path/"m.nmf2")
    again = TopicTree.load(tmp_path/"m.nmf2")
    assert type(again) is TopicTree and again.max_df == .5
    assert_array_equal(again.predict(texts), model.labels_)
    assert_array_equal(Short(3).fit_predict(texts), model.labels_)
    assert_array_equal(Short(3).fit_transform(texts), model.transform(texts))


def test_parameters_set_after_the_fit_wait_for_the_next_one():
    texts = load("library-docs").texts[:600]
    one, other = (TopicTree(6, max_df=.2).fit(texts) for _ in range(2))
    other.set_params(ngram_range=(2, 2), lowercase=False, token_pattern="x+", stop_words=None)
    for model in (one, other):
        model.split(model.tree_.leaves()[0])
        model.drop_words(["arrays"])
    assert one.outline() == other.outline()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_fit_that_fails_leaves_the_model(corpus, monkeypatch, error):
    model = TopicTree(5).fit(corpus.X[:200], vocab=corpus.vocab)
    model.split(model.tree_.leaves()[0])
    before, shares = dict(vars(model)), model.transform(corpus.X)
    def failing(*args, **options): raise error("no tree")
    monkeypatch.setattr("nmf2.topictree.topic_tree", failing)
    with pytest.raises(error): model.fit(corpus.X, vocab=corpus.vocab)
    assert vars(model).keys() == before.keys() and all(vars(model)[name] is value for name, value in before.items())
    assert_array_equal(model.transform(corpus.X), shares)
    new = TopicTree(5)
    with pytest.raises(error): new.fit(corpus.X, vocab=corpus.vocab)
    assert vars(new) == vars(TopicTree(5))


def test_counts_that_are_changed_after_the_fit(corpus):
    pd, X = pytest.importorskip("pandas"), corpus.X.toarray()
    for given in (X.copy(), sp.csr_array(X), pd.DataFrame(X, columns=list(corpus.vocab))):
        model = TopicTree(5).fit(given)
        if hasattr(given, "columns"):
            given["topic"] = model.labels_
            given.iloc[:,0] = 7
        elif sp.issparse(given): given.data[:] = 7
        else: given[:] = given[::-1].copy()
        as_fitted = TopicTree(5).fit(X, vocab=corpus.vocab)
        leaf = max(model.tree_.leaves(), key=lambda leaf: leaf.size).id
        model.split(leaf), as_fitted.split(leaf)
        model.refit(), as_fitted.refit()
        assert_array_equal(model.labels_, as_fitted.labels_)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_many_counts_are_not_copied_but_looked_at(corpus, monkeypatch, kind):
    """A copy may be more than there is room for"""
    monkeypatch.setattr(topictree, "COPIED", 0)
    given = kind(corpus.X.toarray())
    model = TopicTree(5).fit(given)
    assert model.counts_ is given
    editing._WEIGHTED.clear()
    model.refit()
    if sp.issparse(given): given.indices[:] = (given.indices + 37) % given.shape[1]
    else: given[:] = given[::-1].copy()
    editing._WEIGHTED.clear()
    before = model.labels_.copy()
    with pytest.raises(ValueError, match="must be those of the fit"): model.refit()
    assert_array_equal(model.labels_, before)


def test_a_data_frame_is_an_array_to_a_model_without_names(corpus):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(corpus.X.toarray(), columns=list(corpus.vocab))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = TopicTree(5).fit(frame[:300])
        model.update(frame[300:])
        assert_array_equal(model.predict(frame), model.predict(frame[frame.columns[::-1]]))
        TopicTree(5).fit(corpus.X, vocab=corpus.vocab).predict(frame)


def test_what_is_no_counts_is_told(corpus, model):
    for call in (model.update, model.answers, model.explain, model.drift, model.predict):
        with pytest.raises(ValueError, match="documents must be counts, as those of the fit were, got None"): call(None)
    for call in (model.update, lambda parts: model.split(model.tree_.leaves()[0], parts)):
        with pytest.raises(ValueError, match="in one matrix: scipy.sparse.vstack"): call([corpus.X[:9], corpus.X[9:]])
    with pytest.raises(ValueError, match="n_terms must be a whole number"): model.topics(n_terms=2.5)
