"The steps from counts to weights, against plain twins, on degenerate input, and in scikit-learn's hands"
import json
import math
import pickle
import os
import re
import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import nmf2.weighting
from nmf2.core import names_of, on_the_way, with_names
from nmf2.data import planted_tree
from nmf2.languages import NO_DIGITS
from nmf2.weighting import BLOCK, InPlace, only_columns
from nmf2.weighting import (EmptyDocumentsWarning, NormalizedCut, TermCounter, TfIdf, TrimVocabulary, check_counts, check_limits, count_pipeline,
                            degrees, divide_rows, doc_freq, row_lengths, row_sum, text_pipeline, trim_mask)

ROOT = Path(__file__).parent.parent


def random_counts(seed=0, n_docs=30, n_terms=20):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, (n_docs, n_terms))*rng.integers(1, 5, (n_docs, n_terms))
    X[:, 0] = 1                            # no row empty
    X[3] = X[4]                            # two documents alike
    X[:, 1] = 0                            # a term in no document
    return X.astype(float)


def plain_weights(C, min_df, max_df, tau=.1):
    "Trimming, tf-idf, unit length and normalized cut, in the plainest way"
    n = len(C)
    stay = [j for j in range(C.shape[1]) if min_df <= sum(c > 0 for c in C[:, j]) <= max_df*n]
    C = C[:, stay]
    X = np.zeros(C.shape)
    for i in range(n):
        for j in range(C.shape[1]):
            df = sum(c > 0 for c in C[:, j])
            if C[i, j] > 0: X[i, j] = (1 + math.log(C[i, j]))*math.log((1 + n)/(1 + df))
        if X[i].any(): X[i] /= math.sqrt(sum(X[i]**2))
    d = (X @ X.T).sum(axis=1)
    mean = sum(d)/max(sum(d > 0), 1)
    return np.array([x/math.sqrt(di + tau*mean) if di > 0 else x for x, di in zip(X, d)])


FORMS = dict(array=np.asarray, csr_matrix=sp.csr_matrix, csr_array=sp.csr_array, csc=sp.csc_array, coo=sp.coo_array,
             lil=sp.lil_matrix, float32=lambda X: sp.csr_array(X.astype(np.float32)), ints=lambda X: sp.csr_array(X.astype(int)),
             list=lambda X: X.tolist())


def dense(X): return X.toarray() if sp.issparse(X) else np.asarray(X)


def long_indices(X):
    X = sp.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("seed", range(3))
def test_pipeline_equals_its_plain_twin(form, seed):
    C = random_counts(seed)
    for tau in 0, .1, 2:
        X = count_pipeline(min_df=3, max_df=0.5, dtype=np.float64, tau=tau).fit_transform(form(C))
        assert_allclose(dense(X), plain_weights(C, 3, 0.5, tau), rtol=1e-6 if form is FORMS["float32"] else 1e-12)


def test_long_indices_and_float32():
    C = random_counts()
    X = count_pipeline().fit_transform(long_indices(C))
    assert X.dtype == np.float32
    assert_allclose(X.toarray(), plain_weights(C, 3, 0.5), rtol=1e-6)


def test_untidy_matrix_is_read_right_and_not_touched():
    "Stored zeros, unsorted columns, an entry in two parts"
    C = sp.csr_matrix((np.array([1., 2., 0., 1., 3., 1., 2., 2.]), np.array([2, 0, 1, 0, 1, 0, 2, 1]), np.array([0, 4, 6, 8])),
                      shape=(3, 3))
    before = C.data.copy(), C.indices.copy(), C.indptr.copy()
    X = count_pipeline(min_df=1, max_df=1.0, dtype=None).fit_transform(C)
    assert_allclose(X.toarray(), plain_weights(C.toarray(), 1, 1.0))
    for step in TrimVocabulary(1, 1.0), TfIdf(), NormalizedCut():
        step.fit_transform(C)
        step.transform(C)
        assert all((a == b).all() for a, b in zip(before, (C.data, C.indices, C.indptr)))


@pytest.mark.parametrize("step", [TrimVocabulary(1, 1.0), TfIdf(), NormalizedCut(), count_pipeline(1, 1.0)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [sp.csr_array, np.asarray])
def test_input_stays_as_it_is(step, dtype, kind):
    X = kind(random_counts().astype(dtype))
    before = X.copy()
    step = clone(step)
    for out in step.fit_transform(X), step.fit(X).transform(X):
        if sp.issparse(out): out.data[:] = -1
        elif out is not X: out[:] = -1
    assert_array_equal(dense(before), dense(X))


@pytest.mark.parametrize("step", [TrimVocabulary(min_df=1, max_df=1.0), TfIdf(sublinear_tf=False, add_one=True), NormalizedCut()],
                         ids=lambda s: type(s).__name__)
def test_scikit_learns_checks(step):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(step)


# trimming

@pytest.mark.parametrize("seed", range(5))
def test_trim_mask_against_a_plain_twin(seed):
    rng = np.random.default_rng(seed)
    df, n_docs = rng.integers(0, 12, 40), 12
    for low, high, most in [(1, 1.0, None), (2, 0.5, None), (3, 8, 5), (0.25, 0.75, 3), (1, 12, 100)]:
        lo = low*n_docs if isinstance(low, float) else low
        hi = high*n_docs if isinstance(high, float) else high
        fit = [j for j in range(40) if df[j] > 0 and lo <= df[j] <= hi]
        best = sorted(sorted(fit, key=lambda j: (-df[j], j))[:most])
        keep, (absent, rare, common, excess) = trim_mask(df, n_docs, low, high, most)
        assert np.flatnonzero(keep).tolist() == best
        assert absent == (df == 0).sum() and excess == len(fit) - len(best)
        assert absent + rare + common + excess + keep.sum() == 40


def test_trimming_reports():
    C = random_counts()
    C[7, :] = 0
    C[7, 0] = 1                                         # only the word that all documents have
    trim = TrimVocabulary(min_df=2, max_df=0.9)
    with pytest.warns(EmptyDocumentsWarning, match=r"1 of 30 documents has no terms left.*row 7"): trim.fit(C)
    assert trim.empty_docs_.tolist() == [7] and trim.n_common_ == 1 and trim.n_absent_ == 1
    assert_array_equal(trim.df_, (C > 0).sum(0))
    assert "1 in no document" in trim.report() and "1 of them empty" in trim.report()
    with pytest.warns(EmptyDocumentsWarning, match="2 of 3 documents have no term of the vocabulary"):
        out = trim.transform(np.vstack([C[7], C[0], C[7]]))
    assert out.any(axis=1).tolist() == [False, True, False]


def test_no_warning_without_reason():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipe = count_pipeline(1, 1.0).fit(random_counts())
        pipe.transform(random_counts(1))


@pytest.mark.parametrize("options, message", [
    (dict(min_df=31), "No terms are left in the 30 documents.*Lower min_df"),
    (dict(min_df=2, max_df=0.01), "Raise max_df|raise max_df"),
    (dict(min_df=0), "min_df must be a whole number of documents, at least 1, or a share of them .* got 0"),
    (dict(min_df=1.5), "min_df must be .* or a share of them from 0.0 to 1.0, got 1.5"),
    (dict(max_df=-0.1), "max_df must be .* a share of them .* got -0.1"),
    (dict(max_df=float("nan")), "max_df must be .* a share of them .* got nan"),
    (dict(min_df="3"), "min_df"), (dict(max_df=None), "max_df"),
    (dict(max_features=0), "max_features must be a whole number of at least 1"),
    (dict(max_features=2.5), "max_features"),
    (dict(vocab=["a", "b"]), "vocab must name the 20 columns"),
    (dict(dtype=np.int64), "dtype must be float32"), (dict(dtype="float16"), "dtype must be float32"), (dict(dtype="x"), "dtype"),
])
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message): TrimVocabulary(**options).fit(random_counts())


def test_a_word_that_is_there_twice_is_mentioned():
    with pytest.warns(UserWarning, match="vocab has 'b' 2 times, each a word of its own: add up their columns") as told:
        trim = TrimVocabulary(vocab=[*"abcdefghijklmnopqrs", "b"]).fit(random_counts())
    assert len(told) == 1 and told[0].filename == __file__ and len(trim.get_feature_names_out()) == trim.support_.sum()


def test_all_zero_matrix():
    with pytest.raises(ValueError, match="above zero"): TrimVocabulary(min_df=1, max_df=1.0).fit(np.zeros((4, 3)))


def test_documents_that_are_all_alike():
    C = np.array([[1., 2.], [2., 1.], [1., 1.]])
    with pytest.raises(ValueError, match="Every term occurs in all 3 documents"): count_pipeline(1, 1.0).fit(C)
    assert count_pipeline(1, 1.0).set_params(tfidf__add_one=True).fit_transform(C).all()


def test_documents_with_nothing_but_common_terms():
    with pytest.warns(EmptyDocumentsWarning, match="1 of 3 documents has no terms but those that all documents"):
        X = TfIdf().fit_transform(sp.csr_array([[1., 2., 0.], [2., 0., 0.], [1., 0., 3.]]))
    assert X.nnz == 2


def test_idf_options():
    C = random_counts()
    n, df = len(C), (C > 0).sum(0)
    for add_one in False, True:
        assert_allclose(TfIdf(add_one=add_one).fit(C).idf_, np.log((1 + n)/(1 + df)) + add_one)
    assert_array_equal(TfIdf(use_idf=False).fit(C).idf_, 1)
    assert_allclose(TfIdf(use_idf=False, sublinear_tf=False, norm="l1").fit_transform(C), C/C.sum(1, keepdims=True))


@pytest.mark.parametrize("bad, message", [(-1, "Negative"), (np.nan, "NaN or inf"), (np.inf, "NaN or inf")])
def test_bad_values(bad, message):
    X = random_counts()
    X[2, 2] = bad
    for step in TrimVocabulary(1, 1.0), TfIdf(), NormalizedCut(), count_pipeline(1, 1.0):
        with pytest.raises(ValueError, match=message): step.fit(X)
        with pytest.raises(ValueError, match=message): step.fit(sp.csr_array(X))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_counts_are_whole_numbers(kind):
    for dtype in (int, np.float32, float): assert (X := kind(random_counts().astype(dtype))) is check_counts(X, "LDA")
    with pytest.raises(ValueError, match="^X must hold counts for LDA, whole numbers, and has 0.5:"): check_counts(kind(random_counts()*.5), "LDA")


def test_weights_are_not_taken_for_counts():
    X = count_pipeline(1, 1.0).fit_transform(random_counts())
    with pytest.raises(ValueError, match="aren't counts"): count_pipeline(1, 1.0).fit(X)
    with pytest.raises(ValueError, match="aren't counts"): TfIdf().fit(random_counts()).transform(random_counts()/9)
    count_pipeline(1, 1.0, sublinear_tf=False).fit(X)


# normalized cut

@pytest.mark.parametrize("seed", range(3))
def test_degrees_are_row_sums_of_similarities(seed):
    X = TfIdf().fit_transform(random_counts(seed))
    X[5] = 0
    for form in np.asarray, sp.csr_array, sp.csr_matrix, long_indices:
        Y = form(X)
        assert_allclose(degrees(Y, row_sum(Y)), (X @ X.T).sum(1), atol=1e-13)
        assert_allclose(dense(divide_rows(Y, np.arange(30.))), X/np.r_[np.inf, 1:30][:, None], rtol=1e-15)
        assert not dense(divide_rows(Y, np.arange(30.), least=4))[:5].any()
        assert_array_equal(doc_freq(Y), (X > 0).sum(0))


def test_normalized_cut_of_new_documents():
    X = TfIdf().fit_transform(random_counts())
    cut = NormalizedCut().fit(X)
    assert_allclose(cut.transform(X), NormalizedCut().fit_transform(X))
    new, d = TfIdf().fit_transform(random_counts(1)), X @ X.sum(0)
    assert_allclose(cut.mean_degree_, d.mean())
    for tau in 0, .1, 1:
        weights = 1/np.sqrt(new @ X.sum(0) + tau*d.mean())
        assert_allclose(NormalizedCut(tau).fit(X).transform(new), new*weights[:, None])


def test_new_document_with_nothing_in_common():
    "Weighted by its similarity to itself, not divided by nearly nothing"
    cut = NormalizedCut(tau=0).fit(np.array([[1., 0, 0], [1., 0, 0]]))
    assert_allclose(cut.transform(np.array([[0, 3., 4.], [0, 0, 0], [1e-9, 1, 0]])), [[0, 0.6, 0.8], [0, 0, 0], [1e-9, 1, 0]])


def test_row_sums_of_float32_are_exact_enough():
    X = sp.csr_array(np.full((200_000, 1), 0.1, dtype=np.float32))
    assert_allclose(row_sum(X), 200_000*float(np.float32(0.1)), rtol=1e-12)


def test_normalized_cut_never_forms_all_similarities():
    n = 30_000                                            # 900 million pairs, all of them similar
    X = sp.csr_array((np.ones(2*n, np.float32), np.column_stack([np.zeros(n, int), 1 + np.arange(n) % 500]).ravel(),
                      np.arange(0, 2*n + 1, 2)), shape=(n, 501))
    tracemalloc.start()
    NormalizedCut().fit_transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20*X.data.nbytes


def shuffles(X, n=4):
    "The matrix with rows and columns in other orders, and the orders"
    for seed in range(n):
        rng = np.random.default_rng(seed)
        rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
        yield sp.csr_array(X)[rows][:, columns].sorted_indices() if sp.issparse(X) else X[rows][:, columns], rows, columns


@pytest.mark.parametrize("form", [sp.csr_array, np.asarray], ids=["sparse", "dense"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_are_the_same_in_any_order(form, dtype):
    "To the last bit: documents and words shuffled, the weights are those of before, shuffled"
    rng = np.random.default_rng(0)
    C = np.ceil(rng.exponential(1., (700, 90)))*(rng.random((700, 90)) < .1)
    pipe = count_pipeline(dtype=dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentsWarning)
        kept = dense(pipe.fit_transform(form(C)))
        for Y, rows, columns in shuffles(form(C)):
            again = clone(pipe)
            place = np.cumsum(pipe["trim"].support_) - 1                        # of a column among those that stay
            assert_array_equal(dense(again.fit_transform(Y)), kept[rows][:, place[columns][pipe["trim"].support_[columns]]])
            assert again["ncut"].mean_degree_ == pipe["ncut"].mean_degree_
        for norm in "l1", "l2":
            kept = dense(TfIdf(norm=norm).fit_transform(form(C)))
            for Y, rows, columns in shuffles(form(C)): assert_array_equal(dense(TfIdf(norm=norm).fit_transform(Y)), kept[rows][:, columns])


def test_sums_are_the_same_in_any_order_and_right():
    rng = np.random.default_rng(0)
    X = sp.random_array((500, 60), density=.3, format="csr", random_state=rng)
    X.data *= 10.**rng.integers(-15, 15, X.nnz)
    assert_allclose(row_sum(X), X.sum(axis=0), rtol=1e-12)
    assert_allclose(row_lengths(X), np.linalg.norm(X.toarray(), axis=1), rtol=1e-13)
    assert_allclose(row_lengths(X, "l1"), X.toarray().sum(1), rtol=1e-13)
    for Y, rows, columns in shuffles(X):
        assert_array_equal(row_sum(Y), row_sum(X)[columns])
        assert_array_equal(row_lengths(Y), row_lengths(X)[rows])
        assert_array_equal(degrees(Y, row_sum(Y)), degrees(X, row_sum(X))[rows])
    assert_array_equal(row_sum(X.toarray()), row_sum(X))
    assert_allclose(degrees(X.toarray(), row_sum(X)), degrees(X, row_sum(X)), rtol=1e-13)


def test_the_length_of_a_document_says_nothing():
    C, scale = TfIdf().fit_transform(random_counts()), 10.**np.random.default_rng(0).integers(-9, 9, (len(random_counts()), 1))
    for tau in 0, .1, 1: assert_allclose(NormalizedCut(tau).fit_transform(C*scale), NormalizedCut(tau).fit_transform(C), rtol=1e-12)
    counts = random_counts()
    counts[3] *= 7
    assert_allclose(count_pipeline(sublinear_tf=False, dtype=None).fit_transform(counts),
                    count_pipeline(sublinear_tf=False, dtype=None).fit_transform(random_counts()), rtol=1e-12)


def test_nobody_is_much_longer_than_others():
    "A document that shares no word with the others has at most 1/√τ times the length of a document of mean degree"
    X = sp.csr_array(np.vstack([np.kron(np.eye(3), np.ones((100, 4))), np.zeros((1, 12))]))
    X = sp.hstack([X, sp.csr_array(np.eye(1, 301, 300).T)]).tocsr()
    for tau, most in (0, 10.1), (.1, 3.2), (1, 1.42):
        lengths = row_lengths(NormalizedCut(tau).fit_transform(X))
        assert lengths[-1] == lengths.max() and lengths[-1]/np.median(lengths) <= most
    with pytest.raises(ValueError, match="tau"): NormalizedCut(-.1).fit(X)
    with pytest.raises(ValueError, match="tau"): count_pipeline(tau=np.nan)


# pipelines

TEXTS = ["The ball, the goal!", "A goal; the ball was in.", "Ball after ball 42", "They vote on the law.", "A law, a vote", "Vote!"]


def test_names():
    C = random_counts()
    words = [f"word{j}" for j in range(20)]
    kept = np.array(words)[(C > 0).sum(0) >= 1]
    assert count_pipeline(1, 1.0).fit(C).get_feature_names_out(words).tolist() == kept.tolist()
    assert count_pipeline(1, 1.0, vocab=words).fit(C).get_feature_names_out().tolist() == kept.tolist()
    assert count_pipeline(1, 1.0).fit(C).get_feature_names_out()[0] == "x0"
    pipe = text_pipeline(2, 1.0).fit(TEXTS)
    assert pipe.get_feature_names_out().tolist() == ["ball", "goal", "law", "vote"]
    with pytest.raises(ValueError, match="should have length"): count_pipeline(1, 1.0).fit(C).get_feature_names_out(words[:3])


def test_data_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(random_counts(), columns=[f"word{j}" for j in range(20)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipe = count_pipeline(1, 1.0).fit(frame)
        assert_allclose(pipe.transform(frame), pipe.fit_transform(frame.to_numpy()))
        for step in TfIdf(), NormalizedCut(): assert step.fit(frame).get_feature_names_out()[2] == "word2"


@pytest.mark.parametrize("make, data", [(count_pipeline, random_counts()), (text_pipeline, TEXTS)])
def test_clone_pickle_and_parameters(make, data):
    pipe = make(2, 1.0)
    X = dense(pipe.fit_transform(data))
    assert_array_equal(dense(clone(pipe).fit_transform(data)), X)
    assert_array_equal(dense(pickle.loads(pickle.dumps(pipe)).transform(data)), X)
    assert_allclose(dense(pipe.transform(data)), X, rtol=1e-6)
    plain = clone(pipe).set_params(ncut="passthrough", trim__dtype=np.float64)
    assert_allclose(np.linalg.norm(dense(plain.fit_transform(data)), axis=1), 1, rtol=1e-6)
    assert_array_equal(dense(plain.transform(data)), dense(make(2, 1.0, normalized_cut=False, dtype=np.float64).fit_transform(data)))


def test_texts_and_counts_agree():
    counter = TermCounter(token_pattern=text_pipeline()["count"].token_pattern, stop_words="english")
    counts = counter.fit_transform(TEXTS)
    assert_array_equal(count_pipeline(2, 1.0).fit_transform(counts).toarray(), text_pipeline(2, 1.0).fit_transform(TEXTS).toarray())


def test_tokens():
    def terms(*texts, **options):
        return text_pipeline(**options)["count"].fit(texts).get_feature_names_out().tolist()
    assert terms("Straße 12, naïve x2y Größe_2 2nd ЛЕС mp3", token_pattern=NO_DIGITS) == ["naïve", "straße", "лес"]
    assert terms("Straße 12, naïve x2y Größe_2 2nd ЛЕС mp3") == ["mp3", "naïve", "straße", "x2y", "лес"]
    assert terms("the cat and I", stop_words=None) == ["and", "cat", "the"]
    assert terms("Cat cat", lowercase=False) == ["Cat", "cat"]
    assert terms("blue sky, blue sea", ngram_range=(1, 2)) == ["blue", "blue sea", "blue sky", "sea", "sky", "sky blue"]
    assert terms("a-b c-d", token_pattern=r"\w-\w") == ["a-b", "c-d"]
    assert terms("<b>bold</b> =SUM(A1)", stop_words=None) == ["a1", "bold", "sum"]


def test_documents_without_words():
    with pytest.warns(EmptyDocumentsWarning, match=r"2 of 8 documents have no terms left after trimming.*\(rows 6, 7\)"):
        X = text_pipeline(2, 1.0).fit_transform(TEXTS + ["", "123 ..."])
    assert X[[6, 7]].nnz == 0 and np.isfinite(X.data).all()


def advice(pipe, texts):
    with pytest.warns(EmptyDocumentsWarning) as caught: pipe.fit(texts)
    return str(caught[0].message)


def test_what_helps_where_many_documents_are_empty():
    names, rare = [f"test_read_{i}" for i in range(4)], ["unheard", "inaudible", "silent"]
    said = advice(text_pipeline(2, 1.0), TEXTS + names)
    assert "token_pattern says" in said and "min_df" not in said
    said = advice(text_pipeline(2, 1.0), TEXTS + rare)
    assert "A lower min_df" in said and "token_pattern" not in said
    said = advice(text_pipeline(2, 1.0), TEXTS + names + rare)
    assert "token_pattern" in said and "A lower min_df" in said
    common = ["ubiquitous"]*9 + ["ubiquitous " + text for text in TEXTS]               # no min_df helps against max_df
    said = advice(text_pipeline(2, 0.9), [*common, "unheard ubiquitous " + TEXTS[0]])
    assert "min_df" not in said and "token_pattern" not in said
    said = advice(text_pipeline(2, 1.0), TEXTS*9 + names)                              # few are empty
    assert "min_df" not in said and "token_pattern" not in said
    X = np.vstack([np.ones((6, 2)), np.zeros((2, 2))])
    for X in (X, sp.csr_array(X)): assert "token_pattern" in advice(TrimVocabulary(1, 1.0), X)


@pytest.mark.parametrize("texts, message", [
    ("one text", "got a single string"), (b"one", "got a single string"), ([], "at least one document"), (None, "got NoneType"), (3, "got int"),
    (["a text", None], r"texts\[1\] must be a string, got NoneType"), ([1.5], r"texts\[0\] must be a string, got float"),
    (["the", "of"], "No terms in the 2 texts"), (np.eye(3), "got a matrix"), (sp.eye_array(3), "got a matrix"),
    ([["a", "b"]], r"texts\[0\] must be a string, got list"),
])
def test_what_is_no_text(texts, message):
    with pytest.raises(ValueError, match=message): text_pipeline().fit(texts)


def test_more_bad_text_options():
    with pytest.raises(ValueError, match="token_pattern must be a regular expression"): text_pipeline(token_pattern="[a").fit(TEXTS)
    with pytest.raises(ValueError, match="stop_words"): text_pipeline(stop_words="klingon").fit(TEXTS)
    with pytest.raises(ValueError, match=r"texts\[0\]"): text_pipeline(1, 1.0).fit(TEXTS).transform([None])
    with pytest.raises(ValueError, match="Lower min_df"): text_pipeline().fit(TEXTS[:2])


# what the notebook says was measured

RESULTS = ROOT/"benchmarks"/"results"


def test_table_in_the_notebook_is_the_one_measured():
    summary = json.loads((RESULTS/"weighting.json").read_text(encoding="utf-8"))["summary"]
    cells = json.loads((ROOT/"nbs"/"02_weighting.ipynb").read_text(encoding="utf-8"))["cells"]
    printed = ["".join(out.get("text", "")) for cell in cells for out in cell.get("outputs", ())]
    head, *rows = next(text for text in printed if text.startswith("setting ")).splitlines()
    assert re.split("  +", head) == ["setting", "collections", "leaves", "flat", "change", "better", "worse"]
    told = {name: values for name, *values in (re.split("  +", row) for row in rows)}
    assert told == {name: [str(m["collections"]), f"{m['leaves']:.3f}", f"{m['flat']:.3f}", f"{m['change']:+.3f}",
                           str(m["better_on"]), str(m["worse_on"])] for name, m in summary.items()}


def test_summary_follows_from_the_rows():
    record = json.loads((RESULTS/"weighting.json").read_text(encoding="utf-8"))
    by = {(r["setting"], r["collection"]): np.mean([np.mean(r["leaves"]), np.mean(r["flat"])]) for r in record["rows"]}
    for setting, m in record["summary"].items():
        names = [name for s, name in by if s == setting]
        change = [by[setting, name] - by["default", name] for name in names]
        assert len(names) == m["collections"]
        assert_allclose(np.mean(change), m["change"], atol=0.0006)
        assert m["better_on"] == sum(c > 0.002 for c in change)


@pytest.mark.slow
def test_benchmark_without_collections_says_what_to_do():
    where = {k: v for k, v in os.environ.items() if k != "NMF2_DATA"} | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, ROOT/"benchmarks"/"weighting.py"], capture_output=True, text=True, env=where,
                          timeout=300)
    assert done.returncode and "Set the environment variable NMF2_DATA" in done.stderr


def test_blocks_change_nothing(monkeypatch):
    X = sp.random_array((60, 40), density=.3, format="csr", dtype=np.float32, random_state=np.random.default_rng(0))
    X[7:12] *= 0
    def results():
        s = row_sum(X)
        return [doc_freq(X), s, degrees(X, s), divide_rows(X, np.arange(60.)).toarray()]
    whole = results()
    assert_allclose(whole[1], np.bincount(X.indices, X.data, 40), rtol=1e-12)
    for size in (1, 7, 50):
        monkeypatch.setattr("nmf2.weighting.BLOCK", size)
        for a, b in zip(results(), whole): assert_array_equal(a, b)


def test_one_document_is_no_pile():
    with pytest.raises(ValueError, match="in the only document, so"): text_pipeline(1, 1.0).fit(["ball goal"])


# names of the columns travel with the matrix

def test_names_travel_with_the_matrix():
    words = np.array([f"word{j}" for j in range(20)])
    C = with_names(sp.csr_array(random_counts()), words)
    trim = TrimVocabulary(2, .9)
    X = trim.fit_transform(C)
    assert_array_equal(names_of(X), words[trim.support_])
    assert_array_equal(trim.get_feature_names_out(), words[trim.support_])
    for step in TfIdf(), NormalizedCut(), TfIdf(sublinear_tf=False): assert_array_equal(names_of(step.fit_transform(X)), names_of(X))
    for step in TfIdf().fit(X), NormalizedCut().fit(X): assert_array_equal(names_of(step.transform(X)), names_of(X))
    pipe = count_pipeline(2, .9).fit(C)
    assert_array_equal(names_of(pipe.transform(C)), words[trim.support_])
    assert_array_equal(names_of(pickle.loads(pickle.dumps(pipe.transform(C)))), words[trim.support_])


def test_names_of_the_fit_serve_for_matrices_without():
    words, C = np.array([f"word{j}" for j in range(20)]), sp.csr_array(random_counts())
    trim = TrimVocabulary(2, .9).fit(with_names(C.copy(), words))
    assert_array_equal(names_of(trim.transform(C)), words[trim.support_])
    given = TrimVocabulary(2, .9, vocab=words).fit(C)
    assert_array_equal(names_of(given.transform(C)), words[trim.support_])
    assert names_of(TrimVocabulary(2, .9).fit_transform(C)) is None and names_of(C) is None


def test_names_are_never_those_of_other_columns():
    C = with_names(sp.csr_matrix(random_counts()), [f"word{j}" for j in range(20)])
    for other in (C[:, 3:], C[:, ::-1], C.T, C @ sp.csr_matrix(np.eye(20)), sp.hstack([C, C], format="csr"), C.toarray(), C.tocsc()): assert names_of(other) is None
    wide = C.copy()
    wide.feature_names = C.feature_names
    wide.resize(C.shape[0], 25)
    assert names_of(wide) is None and names_of(TrimVocabulary(1, 1.).fit_transform(wide)) is None
    assert names_of([[1, 2]]) is None and names_of("texts") is None


def test_names_of_a_second_fit():
    words, C = np.array([f"word{j}" for j in range(20)]), sp.csr_array(random_counts())
    trim = TrimVocabulary(1, 1.).fit(with_names(C.copy(), words))
    assert trim.fit(C).get_feature_names_out()[0] == "x0" and names_of(trim.transform(C)) is None


def test_the_pipeline_names_its_columns():
    pipe = text_pipeline(2, 1.0)
    for X in (pipe.fit_transform(TEXTS), pipe.transform(TEXTS[:2])): assert names_of(X).tolist() == ["ball", "goal", "law", "vote"]


# limits are checked before anything is counted

@pytest.mark.parametrize("limits, why", [
    (dict(min_df=1.5), "min_df must be .* or a share of them from 0.0 to 1.0, got 1.5"), (dict(min_df=0), "min_df must be a whole number of documents, at least 1, or a share of them .* got 0"), (dict(max_df=0), "max_df must be"),
    (dict(max_df=0.), "max_df=0.0 leaves no term"), (dict(min_df=3, max_df=2), "min_df=3 is more than max_df=2"), (dict(min_df=-1), "min_df"),
    (dict(min_df=2, max_df=1), "1 is one document, 1.0 is all of them"), (dict(min_df=.5, max_df=.25), "min_df=0.5 is more than max_df=0.25"),
    (dict(max_features=0), "max_features must be"), (dict(max_df=np.nan), "max_df must be .* got nan"), (dict(min_df="x"), "or a share of them from 0.0 to 1.0, got 'x'"), (dict(max_df=True), "max_df")])
def test_limits_that_are_none(limits, why):
    for make in (text_pipeline, count_pipeline):
        with pytest.raises(ValueError, match=why): make(**limits)
    check_limits(np.int64(3), np.float32(.5))


@pytest.mark.parametrize("tau", [-1, np.inf, np.nan, 1e300, "1"])
def test_tau_beyond_what_leaves_weights(tau):
    for use in (lambda: count_pipeline(tau=tau), lambda: NormalizedCut(tau).fit(np.eye(3))):
        with pytest.raises(ValueError, match="tau must be a number of at least 0 and at most 1e"): use()


# ---- in place

def bits(X): return [np.asarray(part).tobytes() for part in ((X.data, X.indices, X.indptr) if sp.issparse(X) else (X,))]


@pytest.fixture
def small_blocks(monkeypatch): monkeypatch.setattr(nmf2.weighting, "BLOCK", 50)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, None])
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_array, np.asarray, lambda X: sp.csr_array(X).astype(np.int64),
                                  lambda X: sp.csr_array(X).astype(np.float32)])
def test_in_place_the_same_bits(kind, dtype, small_blocks):
    counts = kind(planted_tree((2, 2), 120).X.toarray())
    before = bits(counts.tocsr() if sp.issparse(counts) else counts)
    pipe = count_pipeline(2, .8, dtype=dtype)
    plain = Pipeline([(name, clone(step)) for name, step in pipe.steps])
    assert bits(pipe.fit_transform(counts)) == bits(plain.fit_transform(counts))
    assert bits(pipe.transform(counts[:7])) == bits(plain.transform(counts[:7])) if kind is not sp.coo_array else True
    assert bits(counts.tocsr() if sp.issparse(counts) else counts) == before


@pytest.mark.parametrize("steps", [["tfidf", "ncut"], ["ncut"], ["pass", "tfidf"], ["view", "tfidf"], ["view", "trim", "ncut"], ["trim", "pass", "tfidf", "ncut"]])
def test_what_is_given_is_never_changed(steps):
    class View(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None): return self
        def transform(self, X): return sp.csr_array((X.data.copy(), X.indices, X.indptr), shape=X.shape)
    make = {"trim": lambda: TrimVocabulary(1, 1.), "tfidf": TfIdf, "ncut": NormalizedCut, "pass": lambda: "passthrough", "view": View}
    counts = planted_tree((2, 2), 60).X
    before = bits(counts)
    named = [(name, make[name]()) for name in steps]
    found, plain = InPlace(named).fit_transform(counts), Pipeline([(name, make[name]()) for name in steps]).fit_transform(counts)
    assert bits(counts) == before and bits(found) == bits(plain)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_a_step_hands_out_is_never_changed(dtype):
    "It may have been made long ago, and be kept"
    X = TermCounter(dtype=dtype).fit_transform(TEXTS)
    before, kept = bits(X), []
    pipe = text_pipeline(2, 1.0, dtype=dtype).set_params(count=FunctionTransformer(lambda texts: X))
    made = pipe.fit_transform(TEXTS)
    pipe.transform(TEXTS), nmf2.weighting.weigh_new(pipe, TEXTS)
    assert bits(X) == before and bits(made) == bits(count_pipeline(2, 1.0, dtype=dtype).fit_transform(X))
    pipe = text_pipeline(2, 1.0, dtype=dtype)
    pipe.steps.insert(1, ("look", FunctionTransformer(lambda X: kept.append((X, bits(X))) or X)))
    pipe.fit_transform(TEXTS), pipe.transform(TEXTS), nmf2.weighting.weigh_new(pipe, TEXTS)
    assert len(kept) == 3 and all(bits(X) == then for X, then in kept)


def test_what_others_have_is_never_changed_meanwhile():
    "As a step's own function that weighs a matrix of its own, or what an earlier run made"
    X = sp.csr_array(random_counts())
    before = bits(X)
    weigh = FunctionTransformer(lambda C: TfIdf().fit_transform(X) if C.shape == X.shape else C)
    InPlace([("tfidf", TfIdf()), ("other", weigh)]).fit_transform(X.copy())
    inner = InPlace([("tfidf", TfIdf()), ("ncut", NormalizedCut())])
    made = inner.fit_transform(X)
    after = bits(made)
    InPlace([("inner", inner), ("ncut", NormalizedCut())]).fit_transform(X), NormalizedCut().fit_transform(made), InPlace([("ncut", NormalizedCut())]).fit_transform(made)
    assert bits(X) == before and bits(made) == after


def test_a_step_changes_what_the_one_before_made():
    trim, tfidf, ncut = steps = [TrimVocabulary(1, 1.), TfIdf(), NormalizedCut()]
    with on_the_way(steps):
        trimmed = trim.fit_transform(planted_tree((2, 2), 60).X)
        weighed = tfidf.fit_transform(trimmed)
        assert not np.shares_memory(weighed.data, NormalizedCut().fit_transform(weighed).data)          # is none of the steps
        weighed = tfidf.fit_transform(trim.fit_transform(planted_tree((2, 2), 60).X))
        assert np.shares_memory(weighed.data, ncut.fit_transform(weighed).data)
    with on_the_way(steps):
        trimmed = trim.fit_transform(planted_tree((2, 2), 60).X)
        assert np.shares_memory(trimmed.data, tfidf.fit_transform(trimmed).data)
    assert not np.shares_memory(weighed.data, NormalizedCut().fit_transform(weighed).data)


def test_what_is_in_a_step_leaves_its_matrix_to_the_others_in_it():
    X = planted_tree((2, 2), 60).X
    def steps(): return [("trim", TrimVocabulary(1, 1.)), ("tfidf", TfIdf()), ("both", FeatureUnion([("ncut", NormalizedCut()), ("as it is", "passthrough")]))]
    given, in_place = Pipeline(steps()), InPlace(steps())
    assert bits(sp.csr_array(given.fit_transform(X))) == bits(sp.csr_array(in_place.fit_transform(X)))
    assert bits(sp.csr_array(given.transform(X))) == bits(sp.csr_array(in_place.transform(X)))


def test_a_pipeline_that_ends_with_a_model():
    from sklearn.cluster import KMeans
    pipe = count_pipeline(1, 1.)
    pipe.steps.append(["model", KMeans(2, n_init=1, random_state=0)])
    assert not hasattr(InPlace([("tfidf", TfIdf()), ("one", TfidfPredictor())]), "transform")
    counts = planted_tree((2, 2), 60).X
    assert len(set(pipe.fit(counts).predict(counts))) == 2 and pipe.transform(counts).shape == (60, 2)


class TfidfPredictor(BaseEstimator):
    def fit(self, X, y=None): return self
    def predict(self, X): return X


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sublinear_tf, use_idf", [(True, True), (False, True), (True, False)])
def test_factors_are_those_of_scikit_learn(dtype, sublinear_tf, use_idf):
    X = planted_tree((2, 3), 700).X.astype(dtype)
    theirs = TfidfTransformer(norm=None, use_idf=use_idf, sublinear_tf=sublinear_tf).fit(X)
    ours = TfIdf(norm=None, use_idf=use_idf, sublinear_tf=sublinear_tf, add_one=True)
    assert bits(ours.fit_transform(X)) == bits(theirs.transform(X)) == bits(ours.tfidf_.transform(X))


def test_some_columns(small_blocks):
    rng = np.random.default_rng(0)
    for density in (0, .1, .9):
        X = sp.random_array((40, 30), density=density, format="csr", rng=rng)
        for keep in (rng.random(30) < .5, np.zeros(30, bool), np.ones(30, bool)):
            expected = X[:,keep].astype(np.float32)
            assert bits(only_columns(X, keep, np.float32)) == bits(expected)
            assert bits(only_columns(X.copy(), keep, X.dtype, own=True)) == bits(X[:,keep])
            assert bits(only_columns(X.copy(), keep, np.float32, own=True)) == bits(expected)


def test_memory_of_weighting():
    counts = planted_tree((4, 5), 8000, n_terms=4000, length=200., random_state=1).X.astype(np.float32)
    size = sum(map(len, bits(counts)))
    tracemalloc.start()
    weights = count_pipeline().fit_transform(counts)
    beyond = tracemalloc.get_traced_memory()[1]/size
    tracemalloc.stop()
    assert weights.nnz > .9*counts.nnz and counts.nnz > 2*BLOCK and beyond < 1 + 6*BLOCK*8/size + .3
