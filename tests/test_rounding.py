"Other last bits and another order of rows and columns change nothing that matters"
from functools import lru_cache

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from nmf2 import NMF, FlatNMF2, HierNMF2, Rank2NMF
from nmf2.bisection import RepeatedBisection
from nmf2.consensus import ClusterAggregation, HypergraphEnsemble
from nmf2.data import planted_tree
from nmf2.nmf import SOLVERS
from nmf2.partitions import (PDDP, AverageAssociation, HierKMeans, NMFClustering, NormalizedCutClustering,
                             SVDClustering)
from nmf2.separable import XRAY, AnchorWords, Hottopixx
from rounding import elsewhere, shaken

CLUSTERINGS = [HierNMF2(6), FlatNMF2(6), *[NMF(6, solver=solver, max_iter=60) for solver in SOLVERS], RepeatedBisection(6), PDDP(6),
               SVDClustering(6), NMFClustering(6), AverageAssociation(6), NormalizedCutClustering(6), HierKMeans(6), XRAY(6),
               AnchorWords(6, min_df=1), Hottopixx(6), HypergraphEnsemble(6, n_runs=6), ClusterAggregation(6)]


@lru_cache
def planted(length):
    "Six topics that can't be missed, in documents of so many words"
    corpus = planted_tree((6,), 300, overlap=.1, noise=0, length=length)
    return corpus.X, corpus.classes()[0]


@pytest.mark.slow
@pytest.mark.parametrize("model", CLUSTERINGS, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_clusters_are_the_same(model):
    X, classes = planted(300 if isinstance(model, Hottopixx) else 120)      # in short documents it takes two anchors from one topic
    if "random_state" in model.get_params(): model.set_params(random_state=0)
    Y, rows, _ = elsewhere(X)
    if isinstance(model, AnchorWords): Y = Y.rint()           # it takes counts only
    here, there = model.fit(X).labels_, model.fit(Y).labels_
    assert adjusted_rand_score(here, classes) > .95
    assert adjusted_rand_score(here[rows], there) > .95


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_topics_are_the_same(dtype):
    X = planted_tree((2,), 200, overlap=.1, noise=0, length=120).X.astype(dtype)
    Y, rows, columns = elsewhere(X)
    here, there = Rank2NMF(tol=1e-6).fit(X), Rank2NMF(tol=1e-6).fit(Y)
    assert_allclose(there.reconstruction_err_, here.reconstruction_err_, rtol=1e-5)
    assert_allclose(there.components_, here.components_[:,columns], atol=1e-3)


@pytest.mark.parametrize("solver", ["bpp", "active-set", "hals"])
def test_best_weights_fit_equally_where_they_are_many(solver):
    "Topics that depend on each other: the weights are not unique, the fit is"
    rng = np.random.default_rng(0)
    X = rng.random((60, 3)) @ rng.random((3, 20))
    model = NMF(12, solver=solver, random_state=0, max_iter=60).fit(X)
    fits = [np.linalg.norm(Y - model.transform(Y) @ model.components_) for Y in (X, shaken(X), shaken(X, 20))]
    assert max(fits) < 1e-2*np.linalg.norm(X)
    assert_allclose(fits, fits[0], atol=1e-6*np.linalg.norm(X))


def test_shaken_is_what_it_says():
    X = sp.random(200, 30, .3, "csr", random_state=0)
    Y, rows, columns = elsewhere(X)
    back = Y[np.argsort(rows)][:,np.argsort(columns)]
    assert_allclose(back.toarray(), X.toarray(), rtol=1e-15)
    assert (back != X).nnz > .5*X.nnz
    assert_array_equal(shaken(4*X.data), 4*shaken(X.data))
    assert_array_equal(shaken(np.array([0., .3, .3]))[[0, 1]], [0, shaken(np.array([.3]))[0]])
    assert shaken(X.astype(np.float32)).dtype == np.float32
