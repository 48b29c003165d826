"What every estimator's matrix goes through, and the small things that all notebooks need"
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from nmf2.core import LIMITS, check_matrix, check_n_jobs, check_number, check_sparse, expect_error
from nmf2.counting import TermCounter
from nmf2.data import Corpus, planted_tree, read
from nmf2.hier import HierNMF2
from nmf2.weighting import text_pipeline

FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


class Demo(BaseEstimator):
    pass


def matrix(seed=0):
    return sp.random(9, 7, .4, "csr", random_state=seed)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.bsr_matrix, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("damage", ["beyond", "negative", "ends", "falling", "short", "values"])
def test_damaged_matrices_are_refused_before_they_are_converted(kind, damage):
    X = kind(matrix())
    if damage == "beyond": X.indices[3] = 10**6
    if damage == "negative": X.indices[3] = -5
    if damage == "ends": X.indptr[-1] += 1000
    if damage == "falling": X.indptr[2] = X.indptr[-1] + 3
    if damage == "short": X.indices = X.indices[:-2]
    if damage == "values": X.data = X.data[:-2]
    with pytest.raises(ValueError, match="X is not a sound sparse matrix"): check_matrix(Demo(), X)


@pytest.mark.parametrize("entry", [-1, 9, 2**31 - 1])
def test_damaged_coordinates_are_refused(entry):
    X = sp.coo_matrix(matrix())
    X.row[0] = entry
    with pytest.raises(ValueError, match="entries outside"): check_matrix(Demo(), X)


@pytest.mark.slow
def test_a_damaged_matrix_does_not_end_the_process():
    code = ("import numpy as np, scipy.sparse as sp; from nmf2 import HierNMF2\n"
            "X = sp.random(2000, 500, .05, 'csc', random_state=0); X.indices[::7] = 2**30; X.indptr[3:9] = -2**30\n"
            "try: HierNMF2(3).fit(X)\nexcept ValueError as e: print('refused', e)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("refused"), (done.returncode, done.stderr)


def changed(format, **arrays):
    "A matrix some of whose arrays have been replaced"
    X = sp.csr_matrix(np.arange(1., 17).reshape(4, 4)).asformat(format)
    if format == "bsr": X = X.tocsr().tobsr((2, 2))
    for name, change in arrays.items(): setattr(X, name, change(getattr(X, name)))
    return X


def rows_of(*lengths):
    return lambda _: np.array([list(range(n)) for n in lengths] + [None], dtype=object)[:-1]


@pytest.mark.parametrize("X", [
    changed("dia", offsets=lambda a: a[:2]), changed("dia", offsets=lambda a: a.astype(float)), changed("lil", rows=rows_of(4, 4, 3, 4)),
    changed("bsr", data=lambda a: a[:,:0]), changed("bsr", data=lambda a: np.zeros((4, 3, 3))), changed("bsr", data=lambda a: a[...,None]),
    changed("csr", data=lambda a: a.astype(str)), changed("csc", data=lambda a: a.tolist()), changed("csc", data=lambda a: np.c_[a, a])],
    ids=lambda X: X.format)
def test_other_damage_is_refused(X):
    for use in (lambda: check_matrix(Demo(), X), lambda: Corpus(X=X)):
        with pytest.raises(ValueError, match="X is not a sound sparse matrix"): use()


@pytest.mark.parametrize("type", [">i4", ">i8", "u8", "u4", "i2", "i8"])
@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.csr_array])
def test_indices_of_any_type_and_order_of_bytes(kind, type):
    X, plain = kind(matrix()), matrix()
    X.indices, X.indptr = X.indices.astype(type), X.indptr.astype(type)
    for out in (check_matrix(Demo(), X), Corpus(X=X).X):
        assert out.indices.dtype in (np.int32, np.int64) and out.indices.dtype.isnative
        assert_array_equal(out.toarray(), plain.toarray())
    assert X.indices.dtype == type


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array])
def test_long_indices_become_short_where_that_is_enough(kind):
    X = kind(matrix())
    X.sum_duplicates()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    out = check_matrix(Demo(), X)
    assert (out.indices.dtype, out.indptr.dtype, X.indices.dtype) == (np.int32, np.int32, np.int64)
    assert type(out) is kind and np.shares_memory(out.data, X.data) and out.has_canonical_format
    assert_array_equal(out.toarray(), X.toarray())
    if kind is sp.csr_array: assert check_matrix(Demo(), X, narrow=False).indices.dtype == np.int64     # SciPy shortens those of matrices
    wide = kind((X.data, X.indices, X.indptr), shape=(X.shape[0], 2**40))
    assert check_matrix(Demo(), wide).indices.dtype == np.int64


def test_entries_moved_behind_scipys_back():
    "SciPy remembers that rows are sorted and places different, also when they aren't any more"
    rng = np.random.default_rng(0)
    for new in (rng.permutation(7), np.arange(7)//2):
        X = matrix()
        assert X.has_canonical_format
        X.indices = new[X.indices].astype(np.int32)
        out = check_matrix(Demo(), X)
        assert out.has_canonical_format and (np.diff(out.indices)[np.diff(np.repeat(np.arange(9), np.diff(out.indptr))) == 0] > 0).all()
        fresh = sp.csr_matrix((X.data, X.indices, X.indptr), X.shape)
        assert_array_equal(out.toarray(), fresh.toarray())
        assert_array_equal(Corpus(X=X).X[[2, 0]].toarray(), fresh.toarray()[[2, 0]])


def test_masked_values_are_values():
    X = matrix()
    X.data = np.ma.array(X.data, mask=X.data > .5)
    assert type(check_matrix(Demo(), X).data) is np.ndarray


def test_words_in_place_of_numbers():
    with pytest.raises(ValueError, match="one number for each document and term"): check_matrix(Demo(), [["ball", "goal"], ["vote"]])


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_comes_out_the_same_and_stays_as_it_was(format):
    X = matrix().asformat(format)
    before = X.toarray()
    out = check_matrix(Demo(), X)
    assert out.format == "csr" and out.has_canonical_format
    assert_array_equal(out.toarray(), before)
    assert_array_equal(X.toarray(), before)
    assert check_sparse(X).format in ("csr", "csc", "bsr", "coo")


def test_checking_does_not_trim_the_callers_arrays():
    X = sp.csr_matrix((np.ones(3), np.array([0, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    X.data, X.indices = np.append(X.data, 9.), np.append(X.indices, 1).astype(X.indices.dtype)       # room that is not used
    out = check_matrix(Demo(), X)
    assert len(X.data) == 4 and out.nnz == 3


def scaled(dtype, rows, columns=1.):
    return (np.arange(1, 22).reshape(3, 7)*np.reshape(rows, (-1, 1))*columns).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_rule_for_large_and_small_numbers(dtype, kind):
    most, eps = LIMITS[dtype], np.finfo(dtype).eps
    fine = scaled(dtype, [most/100, 1, 10/most])
    assert_array_equal(np.asarray(sp.csr_matrix(check_matrix(Demo(), kind(fine))).todense()), fine)
    with pytest.raises(ValueError, match="largest value"): check_matrix(Demo(), kind(scaled(dtype, [1, 1, most])))
    with pytest.raises(ValueError, match="Divide it by"): check_matrix(Demo(), kind(scaled(dtype, [.01/most]*3)))
    with pytest.raises(ValueError, match="of document 1 is"): check_matrix(Demo(), kind(scaled(dtype, [1, .01/most, 1])))
    columns = np.array([1, 1, 1, 1, 1, eps**2/100, 0])
    specks = scaled(dtype, [1, 10, 100], columns)
    assert (specks[:,5] > 0).all()
    out = sp.csr_matrix(check_matrix(Demo(), kind(specks)))
    assert_array_equal(out.toarray(), specks*(columns == 1))
    assert out.nnz == 15


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308, 1e-310, 5e-324])
def test_odd_numbers_are_refused_without_warnings(value, recwarn):
    for X in (np.ones((3, 4)), np.eye(4)):
        X[1] = value
        with pytest.raises(ValueError): check_matrix(Demo(), X)
        with pytest.raises(ValueError): check_matrix(Demo(), sp.csc_matrix(X))
    assert not len(recwarn)


def test_longer_floats_that_overflow(recwarn):
    X = np.ones((3, 4), np.longdouble)
    X[0, 0] = np.finfo(np.longdouble).max
    with pytest.raises(ValueError): check_matrix(Demo(), X)
    assert not len(recwarn)


def test_signed_specks():
    X = np.array([[1., -1e-40], [-1e-40, -2.]])
    assert_array_equal(check_matrix(Demo(), X, signed=True), [[1, 0], [0, -2]])


def test_a_corpus_is_no_matrix():
    from nmf2 import HierNMF2
    corpus = planted_tree((2, 2), 60, texts=True)
    for given in (corpus, Corpus(texts=corpus.texts)):
        with pytest.raises(ValueError, match="not a Corpus.*count_pipeline"): HierNMF2(3).fit(given)


def test_expect_error():
    with pytest.raises(AssertionError, match="no error"), expect_error(): pass
    with pytest.raises(KeyError), expect_error(): {}["x"]
    with expect_error((KeyError, ValueError)): {}["x"]


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix])
def test_an_empty_matrix_with_ends_that_fall(kind):
    X = kind((20, 20))
    X.indptr[6] = 10**6
    with pytest.raises(ValueError, match="not a sound"): check_matrix(Demo(), X)


@pytest.mark.parametrize("given", [sp.csr_matrix([[1j, 2], [3, 4]]), np.array([[1j, 2], [3, 4]]), [[1j, 2], [3, 4]],
                                   [["a"*10**5, "b"], ["c", "d"]], [[1, 2], [3]], np.ones((2, 2, 2)), None, 7, {"a": 1}])
def test_what_is_no_matrix_gets_one_short_line(given):
    with pytest.raises((ValueError, TypeError)) as e: check_matrix(Demo(), given)
    assert len(str(e.value)) < 450 and "\n" not in str(e.value).strip()


def test_a_table_with_dates_among_its_numbers():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(dict(a=range(9), when=pandas.date_range("2020", periods=9)))
    with pytest.raises(ValueError, match="must hold numbers, and its type is datetime64"): check_matrix(Demo(), table)
    with pytest.raises(ValueError, match="2-dimensional|2D"): check_matrix(Demo(), table.a)


def test_a_table_of_arrow():
    """It has columns, and no types of them as a data frame has."""
    arrow = pytest.importorskip("pyarrow")
    assert_array_equal(np.asarray(check_matrix(Demo(), arrow.table(dict(a=[1., 2], b=[0., 1])))), [[1, 0], [2, 1]])


@pytest.mark.parametrize("given, why", [
    (sp.csr_matrix(np.eye(2)).todense(), "np.asarray"), ((row for row in np.eye(2)), "got generator"), (None, "got NoneType"), ({1, 2}, "got set"),
    (np.ma.masked_less([[1, 0], [0, 1]], 1), r"no masked entries: fill them, such as with X.filled\(0\)$"), (np.zeros((2, 2), "M8[s]"), "its type is datetime64"), ([[10**400, 1], [1, 2]], "too large")])
def test_what_looks_like_a_matrix_is_refused_with_a_remedy(given, why):
    with pytest.raises(ValueError, match=why): check_matrix(Demo(), given)


def test_a_masked_array_without_masked_entries_is_an_array():
    assert_array_equal(check_matrix(Demo(), np.ma.masked_less([[1., 2], [3, 4]], 0)), [[1, 2], [3, 4]])


def test_a_number_has_limits_and_its_message_stays_short():
    assert check_number("tau", 3, 0, whole=False, high=3) == 3
    for wrong in (3.1, np.inf, np.nan):
        with pytest.raises(ValueError, match="tau must be a number of at least 0 and at most 3, got"): check_number("tau", wrong, 0, whole=False, high=3)
    with pytest.raises(ValueError, match="n_topics must be a whole number") as e: check_number("n_topics", ["a long text "*100]*100, 1)
    assert len(str(e.value)) < 150
    with pytest.raises(ValueError, match="n_terms must be a whole number of at least 2 and at most 24,010,200, got 1$"): check_number("n_terms", 1, 2, high=24_010_200)


def cut(texts): return [*texts, "我们今天下午去看足球比赛"]


@pytest.mark.parametrize("warns, what", [
    (lambda path: read(path/"latin.txt"), "is not UTF-8"),
    (lambda path: read(path, format="folder"), "files are not UTF-8"),
    (lambda path: read(path/"one.csv"), "a single column"),
    (lambda path: TermCounter().fit(cut(["the ball and the goal of the match"]*3)), "without spaces"),
    (lambda path: text_pipeline(min_df=1, max_df=1.).fit(cut(["a ball and a goal of the match", "a vote on a law"])), "without spaces"),
    (lambda path: HierNMF2(9).fit(np.eye(4)), "n_leaves=9 can't be had"),
], ids=["read", "folder", "table", "TermCounter", "pipeline", "tree"])
def test_warnings_name_the_line_of_the_caller(tmp_path, recwarn, warns, what):
    (tmp_path/"latin.txt").write_bytes("un café\n".encode("latin-1"))
    (tmp_path/"plain.txt").write_text("a ball\n", encoding="utf-8")
    (tmp_path/"one.csv").write_text("wording\na ball\n", encoding="utf-8")
    warns(tmp_path)
    told = [w for w in recwarn if what in str(w.message)]
    assert told and {w.filename for w in told} == {__file__}


def test_numbers_of_processes():
    assert [check_n_jobs(n) for n in (-1, 1, np.int64(7))] == [-1, 1, 7]
    for wrong in (0, -2, 1.5, "2", True, None):
        with pytest.raises(ValueError, match="n_jobs must be a whole number of at least 1, or -1 for one a core"): check_n_jobs(wrong)
