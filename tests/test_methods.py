"""The table of all methods, and the two that have no other home"""
import pickle
import warnings

import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score as ari
from sklearn.utils.estimator_checks import parametrize_with_checks

import nmf2
from nmf2.data import planted_tree
from nmf2.hier import HierNMF2
from nmf2.methods import LDA, NormalizedCutNMF, make, methods
from nmf2.nmf import NMF
from nmf2.weighting import NormalizedCut


pytestmark = pytest.mark.usefixtures("one_thread")


def test_lda():
    corpus = planted_tree((4,), n_docs=200, overlap=.2, length=60, random_state=0)
    X = sp.csr_matrix(sp.vstack([corpus.X, sp.csr_matrix((1, corpus.X.shape[1]))]))
    model = LDA(4, max_iter=10, random_state=0).fit(X)
    assert ari(corpus.classes()[0], model.labels_[:-1]) > .6 and model.labels_[-1] == -1
    assert_array_equal(model.predict(X), model.labels_), assert_allclose(model.transform(X).sum(1), 1)
    assert_allclose(model.components_.sum(1), 1)
    assert_array_equal(clone(model).fit(X).labels_, model.labels_) and list(model.get_feature_names_out())[0] == "lda0"
    for wrong, what in ((X*.5, "X must hold counts for LDA, whole numbers, and has"), (-X, "Negative"), (X[:,:0], "feature")):
        with pytest.raises(ValueError, match=what): LDA(3).fit(wrong)
    with pytest.raises(ValueError, match="features"): model.predict(X[:,:5])
    for method in (LDA.predict, LDA.transform):
        with pytest.raises(NotFittedError): method(LDA(3), X)


def test_normalized_cut_nmf_is_nmf_of_the_weights(planted):
    X, _ = planted
    model, plain = NormalizedCutNMF(6, random_state=0), NMF(6, random_state=0)
    W = model.fit_transform(X)
    assert_allclose(W, plain.fit_transform(NormalizedCut(tau=0).fit_transform(X))), assert_array_equal(model.labels_, plain.labels_)
    assert_allclose(model.transform(X), W, atol=1e-8), assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.slow
@pytest.mark.parametrize("name", methods())
def test_every_method_by_name(planted, name):
    method = methods()[name]
    pytest.importorskip(method.path.split(":")[0])
    corpus = planted_tree((2, 3), n_docs=300, overlap=.3, noise=.1, length=60, random_state=0)
    X, topics = corpus.X if method.wants == "counts" else planted[0], planted[1]
    options = dict(max_docs=100) if name == "hottopixx" else {}                # it solves for pairs of documents
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = make(name, 6, random_state=0, **options)
        before = model.get_params()
        labels = model.fit(X).labels_
    assert labels.shape == (300,) and labels.min() >= -1 and len(set(labels) - {-1}) >= 6 - (name == "lda")
    assert ari(topics, labels) > .3, ari(topics, labels)
    assert str(before) == str(model.get_params())
    assert_array_equal(make(name, 6, random_state=0, **options).fit(X).labels_, labels)


def test_methods_are_made_as_asked():
    assert make("kmeans-flat", 4, 0, n_init=7).n_init == 7 and make("nmf-hier", 4).n_leaves == 4
    assert make("SVDr-PDDP-kmeans", 4, 0, n_components=9).n_components == 9
    assert isinstance(make("hiernmf2", 5), HierNMF2)
    assert {method.wants for method in methods().values()} == {"weighted", "counts"}
    with pytest.raises(ValueError, match="name must be one of 'hiernmf2'"): make("k-means", 3)


@pytest.mark.parametrize("name", ["LDA", "Method", "NormalizedCutNMF", "make", "methods"])
def test_old_places_are_the_new_ones(name):
    with pytest.warns(FutureWarning, match=f"{name} is in nmf2.methods now") as caught: old = getattr(nmf2.partitions, name)
    assert old is getattr(nmf2.methods, name) and caught[0].filename == __file__
    with pytest.warns(FutureWarning, match=name) as caught: exec(f"from nmf2.partitions import {name}", {"__name__": "mine"})
    with pytest.raises(AttributeError, match="no attribute 'lda'"): nmf2.partitions.lda
    with pytest.raises(ImportError, match="lda"): exec("from nmf2.partitions import lda")


def test_models_kept_under_the_old_name_can_be_read():
    old = pickle.dumps(LDA(4), 0).replace(b"nmf2.methods", b"nmf2.partitions")
    with pytest.warns(FutureWarning, match="LDA is in nmf2.methods now"): assert pickle.loads(old).n_clusters == 4


NEGATIVE = {f"check_clustering{rest}": "its data have negative entries" for rest in ("", "(readonly_memmap=True)")}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([NormalizedCutNMF(3)], expected_failed_checks=lambda estimator: NEGATIVE)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
