"""What trees are compared with: spectral clustering, principal directions, their combinations"""
import naive
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score as ari
from sklearn.preprocessing import normalize
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from nmf2.bisection import criterion_of
from nmf2.data import planted_tree
from nmf2.nmf import NMF
from nmf2.hier import _warn_of_leaves
from nmf2.partitions import (PDDP, RACE, SMALL, AverageAssociation, FlatKMeans, HierKMeans, NMFClustering, NormalizedCutClustering,
                             SVDClustering, by_cosine, centroids, leading, nearest, principal_cut, race2008, scatter)
from nmf2.weighting import NormalizedCut, count_pipeline


pytestmark = pytest.mark.usefixtures("one_thread")


def degenerate():
    "Matrices with something missing, by name"
    rng = np.random.default_rng(0)
    X = rng.random((12, 7))*(rng.random((12, 7)) < .7)
    yield "one term", rng.random((9, 1))
    yield "one document again and again", np.tile(X[:1], (8, 1))
    yield "three documents again and again", np.tile(X[:3], (5, 1))
    yield "empty documents", np.vstack([np.zeros((3, 7)), X, np.zeros((2, 7))])
    yield "terms nobody uses", np.c_[X, np.zeros((12, 4))]
    yield "nothing in common", np.eye(9)


@pytest.mark.no_estimator
@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("shape", [(60, 20), (20, 60), (SMALL + 60, 2*SMALL), (2*SMALL, SMALL + 40)])
def test_leading_is_the_dense_svd(centered, shape):
    rng = np.random.default_rng(0)
    X = rng.random(shape)*(rng.random(shape) < .2)
    U, sizes, Vt = np.linalg.svd(X - X.mean(0)*centered, full_matrices=False)
    for M in (X, sp.csr_matrix(X)):
        found = leading(M, 5, centered)
        assert_allclose(found.sizes, sizes[:5])
        assert_allclose(abs((found.U*U[:,:5]).sum(0)), 1, atol=1e-8), assert_allclose(abs((found.V*Vt[:5].T).sum(0)), 1, atol=1e-8)
        assert (np.take_along_axis(found.V, abs(found.V).argmax(0)[None], 0) > 0).all()
        assert_allclose(found.mean, X.mean(0)*centered)


def test_leading_without_rank():
    for n, m in ((12, 8), (8, 12), (SMALL + 50, SMALL + 20)):
        X = np.outer(np.arange(1., n + 1), np.ones(m))
        found = leading(X, 4)
        assert (found.sizes[1:] == 0).all() and (found.U[:,1:] == 0).all() and (found.V[:,1:] == 0).all()
        same = leading(np.ones((n, m)), 3, centered=True)
        assert (same.sizes == 0).all() and (same.U == 0).all()
    assert leading(np.ones((3, 5)), 9).U.shape == (3, 3)


@pytest.mark.parametrize("method", [AverageAssociation, NormalizedCutClustering])
def test_spectral_is_the_eigenvectors_of_all_similarities(planted, method):
    X, _ = planted
    for M in (X, X.toarray(), X.astype(np.float32)):
        model = method(6, normalize_rows=False, random_state=0).fit(M)
        Y = naive.spectral(X.toarray(), 6, method is NormalizedCutClustering)
        assert_allclose(abs((Y*model.embedding_).sum(0)), 1, atol=1e-5)
        rows = method(6, random_state=0).fit(M).embedding_
        assert_allclose(np.linalg.norm(rows, axis=1), 1)


def test_average_association_on_normalized_cut_weights_is_normalized_cut(planted):
    X = normalize(planted[0])                        # to the last digit: what comes out of single precision is so to its own
    for rows in (False, True):
        a = AverageAssociation(6, normalize_rows=rows, random_state=0).fit(NormalizedCut(tau=0).fit_transform(X))
        b = NormalizedCutClustering(6, normalize_rows=rows, random_state=0).fit(X)
        assert_allclose(a.embedding_, b.embedding_, atol=1e-12), assert_array_equal(a.labels_, b.labels_)


@pytest.mark.parametrize("method", [AverageAssociation, NormalizedCutClustering])
def test_spectral_finds_planted_topics(planted, method):
    X, topics = planted
    model = method(6, random_state=0).fit(X)
    assert ari(topics, model.labels_) > .9
    assert_array_equal(model.predict(X), model.labels_), assert_array_equal(model.predict(X[[5]]), model.labels_[[5]])
    assert_array_equal(clone(model).fit_predict(X), model.labels_)
    assert_allclose(model.components_[2], X.toarray()[model.labels_ == 2].mean(0))


@pytest.mark.parametrize("method", [AverageAssociation, NormalizedCutClustering])
@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_spectral_on_degenerate_matrices(method):
    for name, X in degenerate():
        filled = X.any(1)
        for k in (1, 2, 3, filled.sum()):
            model = method(k, random_state=0).fit(X)
            assert ((model.labels_ == -1) == ~filled).all() and model.labels_.max() < k, name
            assert np.isfinite(model.embedding_).all() and np.isfinite(model.components_).all()
            if name.startswith("three"): assert (model.labels_[:3] == model.labels_[3:6]).all()
        with pytest.raises(ValueError, match="n_clusters"): method(len(X) + 1).fit(X)


def test_centroids(planted):
    X, topics = planted
    labels = np.where(topics == 1, -1, topics)
    found = centroids(X, labels, 7)
    for c in (0, 2, 5): assert_allclose(found[c], X.toarray()[labels == c].mean(0))
    assert not found[1].any() and not found[6].any()
    assert_allclose(found, centroids(X.toarray(), labels, 7))


def clusters_of(labels): return {frozenset(np.flatnonzero(labels == c).tolist()) for c in set(labels.tolist())}


def test_a_cut_is_the_sign_of_the_dense_singular_vector(planted):
    X, _ = planted
    rng = np.random.default_rng(0)
    for M in (X, X[:40], X.toarray(), X.astype(np.float32), rng.normal(size=(300, 5)), rng.normal(size=(30, 50))):
        direction, threshold = principal_cut(M)
        D = M.toarray() if sp.issparse(M) else M
        U = np.linalg.svd((D - D.mean(0)).astype(float), full_matrices=False)[0][:,0]
        right = D @ direction > threshold
        assert (right == (U > 0)).all() or (right == (U < 0)).all()
    assert principal_cut(np.ones((5, 3))) is None and principal_cut(np.full((300, 3), .1)) is None


@pytest.mark.parametrize("choice", ["scatter", "variance"])
def test_pddp_is_the_naive_one(planted, choice):
    X, _ = planted
    rng = np.random.default_rng(1)
    for M in (X, rng.normal(size=(250, 6)), np.abs(rng.normal(size=(40, 90)))):
        model = PDDP(7, choice=choice).fit(M)
        assert clusters_of(model.labels_) == naive.pddp(M.toarray() if sp.issparse(M) else M, 7, choice == "variance")
        assert_array_equal(model.predict(M), model.labels_), assert_array_equal(model.predict(M[[3]]), model.labels_[[3]])


def test_fewer_clusters_are_the_first_splits(planted):
    X, _ = planted
    model = PDDP(9).fit(X)
    for k in (1, 2, 5, 9): assert_array_equal(model.labels(k), PDDP(k).fit(X).labels_)
    assert_array_equal(PDDP(9, kmeans=True).fit(X).labels(9), model.labels_)
    with pytest.raises(ValueError, match="at most 9"): model.labels(10)
    assert_allclose(model.components_[3], X.toarray()[model.labels_ == 3].mean(0))


def test_equal_documents_stay_together():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.random((6, 9)), 4, axis=0)
    with pytest.warns(UserWarning, match="only 6 different"): model = PDDP(10).fit(X)
    assert clusters_of(model.labels_) == {frozenset(range(i, i + 4)) for i in range(0, 24, 4)}
    assert scatter(X[:4]) == 0 and scatter(sp.csr_matrix(X[:4])) == 0 and scatter(X[:5]) > 0
    assert clusters_of(PDDP(2).fit(np.array([[0., 1], [1, 0], [0, 1], [1, 0]])).labels_) == {frozenset([0, 2]), frozenset([1, 3])}


def test_pddp_moved_or_turned_is_the_same():
    rng = np.random.default_rng(3)
    X, turn = rng.normal(size=(80, 4)), np.linalg.qr(rng.normal(size=(4, 4)))[0]
    assert clusters_of(PDDP(6).fit(X).labels_) == clusters_of(PDDP(6).fit(X @ turn + 100).labels_)


@pytest.mark.parametrize("dtype, offset", [(np.float32, 1e3), (np.float32, 1e4), (np.float32, 1e6), (np.float64, 1e7), (np.float64, 1e8)])
def test_points_far_from_zero_are_told_apart(dtype, offset):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    near = rng.normal(size=(60, 4))*.1 + np.array([[0, 0, 0, 0], [5, 0, 0, 0], [0, 5, 0, 0]])[y]
    X = (near + offset).astype(dtype)
    for method in (PDDP(3, kmeans=True), SVDClustering(3, centered=True, random_state=0), FlatKMeans(3, n_init=5, random_state=0)):
        model = method.fit(X)
        assert ari(y, model.labels_) == 1 and (model.predict(X) == model.labels_).all()
    back = X.astype(np.float64) - offset
    far, close = PDDP(9).fit(X), PDDP(9).fit(back)
    assert clusters_of(far.labels_) == clusters_of(close.labels_) and (far.predict(X) == far.labels_).all()
    directions = np.stack([cut.direction for cut in far.cuts_])
    assert_allclose([cut.threshold for cut in far.cuts_], [cut.threshold for cut in close.cuts_] + offset*directions.sum(1), rtol=1e-9)
    assert_allclose(leading(X, 2, centered=True).sizes, np.linalg.svd(back - back.mean(0))[1][:2], rtol=1e-6)
    assert_allclose(leading(X, 2, centered=True).mean, X.mean(0, dtype=np.float64))
    state = far.__dict__ | {}
    for name in ("_far", "_cuts"): del state[name]
    old = PDDP(9)                                                      # as an earlier version pickled it
    old.__dict__.update(state)
    if dtype == np.float64 and offset < 1e8 or offset < 1e5: assert_array_equal(old.predict(X), far.labels_)


def test_equal_points_far_from_zero_are_one():
    for dtype in (np.float32, np.float64):
        with pytest.warns(UserWarning, match="only 1 different"): assert not PDDP(2).fit(np.full((7, 3), 1e7/3, dtype)).labels_.any()
        with pytest.warns(UserWarning, match="only 2 different"): PDDP(5).fit(np.repeat([[1e7], [1e7 + 1]], 9, axis=0).astype(dtype))
    assert_array_equal(nearest(np.array([[1e9], [1e9 + 1]]), np.array([[1e9 + 1], [1e9]])), [1, 0])


def test_kmeans_from_pddp(planted):
    X, topics = planted
    plain, model = PDDP(6).fit(X), PDDP(6, kmeans=True).fit(X)
    def far(labels, centers): return ((X.toarray() - centers[labels])**2).sum()
    assert far(model.labels_, model.components_) <= far(plain.labels_, plain.components_)
    assert_array_equal(model.predict(X), model.labels_)
    assert_allclose(model.components_, centroids(X, model.labels_, 6), atol=1e-6)
    assert ari(topics, model.labels_) > .9


def directions(X):
    "Rows of length one, dense"
    D = X.toarray() if sp.issparse(X) else X
    lengths = np.linalg.norm(D, axis=1, keepdims=True)
    return D/np.where(lengths > 0, lengths, 1)


@pytest.mark.slow
def test_kmeans_by_cosine_from_pddp():
    corpus = planted_tree((2, 3), n_docs=300, overlap=.5, noise=.2, length=40, spread=.8, skew=.5, random_state=0)
    X = count_pipeline(normalized_cut=False).fit_transform(corpus.X).astype(np.float64)
    start, model = PDDP(6).fit(X), PDDP(6, kmeans="cosine", random_state=0).fit(X)
    labels, U = start.labels_, directions(X)
    for _ in range(100): labels = (U @ directions(np.stack([U[labels == r].sum(0) for r in range(6)])).T).argmax(1)
    found = criterion_of(X, model.labels_)
    assert found > criterion_of(X, start.labels_) and found >= criterion_of(X, labels) - 1e-9       # all documents at once, to the end
    twins = [naive.spherical_kmeans(X.toarray(), 6, np.random.default_rng(seed)) for seed in range(20)]
    best = max(twins, key=lambda labels: criterion_of(X, labels))
    assert found > .99*criterion_of(X, best) and ari(corpus.classes()[0], model.labels_) > ari(corpus.classes()[0], start.labels_)
    assert_allclose(model.components_, directions(np.stack([U[model.labels_ == r].sum(0) for r in range(6)])), atol=1e-8)
    assert_array_equal(model.predict(X), model.labels_), assert_array_equal(model.labels(6), start.labels_)
    scaled = sp.diags(np.random.default_rng(0).uniform(.5, 2, 300)) @ X                               # lengths are of no account from one start on
    assert_array_equal(by_cosine(scaled, start.labels_, 6)[0], by_cosine(X, start.labels_, 6)[0])
    with pytest.raises(ValueError, match="kmeans must be"): PDDP(kmeans="euclid").fit(X)


def test_no_move_is_better_by_cosine_for_points_of_any_sign():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    X[[3, 17]] = 0
    model = PDDP(4, kmeans="cosine", random_state=0).fit(X)
    U, labels = directions(X), model.labels_
    def worth(labels): return sum(np.linalg.norm(U[labels == r].sum(0)) for r in range(4))
    for i in range(40):
        for to in range(4): assert worth(np.where(np.arange(40) == i, to, labels)) <= worth(labels)*(1 + 1e-8)
    assert_array_equal(labels[[3, 17]], PDDP(4).fit(X).labels_[[3, 17]])                                # no direction: they stay
    assert_array_equal(model.predict(X), labels)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    assert clusters_of(PDDP(4, kmeans="cosine", random_state=0).fit(X @ turn).labels_) == clusters_of(labels)
    assert_array_equal(by_cosine(np.zeros((5, 2)), np.arange(5) % 2, 2)[0], np.arange(5) % 2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:n_clusters")
def test_cosine_on_degenerate_matrices():
    for name, X in degenerate():
        filled = X.any(1)
        for k in (1, 2, 3, filled.sum()):
            for method in (PDDP(k, kmeans="cosine", random_state=0), SVDClustering(k, n_components=1, clusterer="pddp-cosine", random_state=0),
                           SVDClustering(k, centered=False, n_components=1, clusterer="pddp-cosine", random_state=0)):
                model = method.fit(X)
                assert ((model.labels_ == -1) == ~filled).all() and model.labels_.max() < k and np.isfinite(model.components_).all(), name
                assert (model.predict(X)[filled] >= 0).all()
        if name != "one term": assert_array_equal((model := PDDP(3, kmeans="cosine", random_state=0).fit(X)).predict(X), model.labels_)


@pytest.mark.filterwarnings("ignore:Number of distinct clusters", "ignore:n_clusters")
@pytest.mark.parametrize("method", [PDDP, lambda k: PDDP(k, kmeans=True), FlatKMeans])
def test_division_of_degenerate_matrices(method):
    for name, X in degenerate():
        filled = X.any(1)
        for k in (1, 2, 3, filled.sum()):
            model = method(k).fit(X)
            assert ((model.labels_ == -1) == ~filled).all() and model.labels_.max() < k, name
            assert np.isfinite(model.components_).all()
            assert ari(model.predict(X), model.labels_) == 1           # equal centres may swap names
            if name == "one document again and again": assert (model.labels_ == 0).all()
        with pytest.raises(ValueError, match="n_clusters"): method(len(X) + 1).fit(X)
    with pytest.raises(ValueError, match="choice"): PDDP(choice="size").fit(X)
    with pytest.raises(ValueError, match="init"): FlatKMeans(init="far").fit(X)


def test_flat_kmeans(planted):
    X, topics = planted
    model = FlatKMeans(6, n_init=5, random_state=0).fit(X)
    assert ari(topics, model.labels_) > .8 and model.n_iter_ > 1
    assert_array_equal(model.predict(X), model.labels_), assert_array_equal(clone(model).fit(X).labels_, model.labels_)
    D = X.toarray()
    assert_allclose(model.inertia_, ((D - model.components_[model.labels_])**2).sum())


@pytest.mark.parametrize("centered", [False, True])
def test_svd_clusters_rows_of_the_dense_svd(planted, centered):
    X, topics = planted
    D = X.toarray()
    U = np.linalg.svd(D - D.mean(0)*centered, full_matrices=False)[0][:,:6]
    model = SVDClustering(6, centered=centered, random_state=0).fit(X)
    assert_allclose(abs((model.embedding_*U).sum(0)), 1, atol=1e-5)
    assert clusters_of(model.labels_) == clusters_of(PDDP(6, kmeans=True).fit(model.embedding_).labels_) and ari(topics, model.labels_) > .8
    assert_array_equal(model.predict(X), model.labels_), assert_array_equal(model.predict(X[[7]]), model.labels_[[7]])
    scaled = SVDClustering(6, n_components=9, centered=centered, scaled=True, random_state=0).fit(X)
    assert_allclose(np.linalg.norm(scaled.embedding_, axis=0), scaled.leading_.sizes)
    assert_array_equal(scaled.predict(X), scaled.labels_)


def test_where_all_directions_are_alike_the_first_is_taken(planted):
    X, _ = planted
    for method in (SVDClustering(2, n_components=5, clusterer="pddp"), SVDClustering(2, n_components=5, clusterer="pddp", random_state=7)):
        assert clusters_of(method.fit(X).labels_) == clusters_of(PDDP(2).fit(X).labels_)


@pytest.mark.parametrize("clusterer", ["pddp", "pddp-kmeans", "pddp-cosine", "kmeans", KMeans(2, n_init=3), AgglomerativeClustering(2)])
def test_any_clusterer_behind(planted, clusterer):
    X, topics = planted
    for method in (SVDClustering, NMFClustering):
        model = method(6, clusterer=clusterer, random_state=0).fit(X)
        assert ari(topics, model.labels_) > .5 and len(set(model.labels_)) == 6
        assert_array_equal(clone(model).fit(X).labels_, model.labels_)
        if hasattr(model.clusterer_, "predict"): assert np.mean(model.predict(X) == model.labels_) > .99
        if not isinstance(clusterer, str): assert clusterer.n_clusters == 2                   # the one given stays as it was
    for wrong in ("mean", 3, NMF(3)):
        with pytest.raises(ValueError, match="clusterer must be"): SVDClustering(3, clusterer=wrong).fit(X)


def test_nmf_clusters_weights(planted):
    X, topics = planted
    model = NMFClustering(6, random_state=0).fit(X)
    assert model.embedding_.shape == (300, 12) and model.nmf_.components_.shape[0] == 12
    assert_array_equal(model.labels_, PDDP(6, kmeans=True).fit(model.embedding_).labels_)
    assert ari(topics, model.labels_) > .8


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Number of distinct clusters", "ignore:n_clusters", "ignore:stopped at max_iter")
@pytest.mark.parametrize("method", [SVDClustering, lambda k, **p: SVDClustering(k, centered=False, **p), NMFClustering])
def test_reduction_of_degenerate_matrices(method):
    for name, X in degenerate():
        filled = X.any(1)
        for k in (1, 2, 3):
            model = method(k, random_state=0).fit(X)
            placed = model.embedding_.any(1) if method is NMFClustering else filled
            assert ((model.labels_ == -1) == ~placed).all() and model.labels_.max() < k, name
            assert np.isfinite(model.embedding_).all() and np.isfinite(model.components_).all()
            if name == "one document again and again": assert (model.labels_ == 0).all()
        with pytest.raises(ValueError, match="n_clusters"): method(len(X) + 1).fit(X)
    with pytest.raises(ValueError, match="n_components must be at most 7"): SVDClustering(3, n_components=8).fit(np.random.default_rng(0).random((20, 7)))


@pytest.mark.slow
@pytest.mark.parametrize("means", ["cosine", True])
def test_race_means_what_its_names_say(planted, means):
    X, _ = planted
    behind, given = "pddp-cosine" if means == "cosine" else "pddp-kmeans", {} if means == "cosine" else dict(kmeans=True)
    def by_pddp(): return PDDP(6, kmeans=means, random_state=0)
    def by_svd(**params): return SVDClustering(6, clusterer=behind, random_state=0, **params)
    for r in (6, 10):
        for name, same in (("PDDP", PDDP(6)), ("PDDP-kmeans", by_pddp()), ("SVDr-PDDP-kmeans", by_svd(n_components=r)),
                           ("un.SVDr-PDDP-kmeans", by_svd(n_components=r, centered=False))):
            assert clusters_of(race2008(name, 6, r, random_state=0, **given).fit(X).labels_) == clusters_of(same.fit(X).labels_), name
        H = NMF(r, solver="acls", init="random", tol=0, max_iter=50, random_state=0).fit_transform(X)
        for name, same in (("H-PDDP", PDDP(6)), ("H-PDDP-kmeans", by_pddp()), ("H-SVDk-PDDP-kmeans", by_svd()),
                           ("H-un.SVDk-PDDP-kmeans", by_svd(centered=False))):
            model = race2008(name, 6, r, random_state=0, **given).fit(X)
            assert_allclose(model.embedding_, H), assert_array_equal(model.labels_, same.fit(H).labels_)
    assert_array_equal(race2008("NMF-Basic", 6, random_state=0).fit(X).labels_,
                       NMF(6, solver="acls", init="random", tol=0, max_iter=50, random_state=0).fit_transform(X).argmax(1))
    assert race2008("H-PDDP", 3, 5, solver="hals", tol=1e-3).solver == "hals" and len(RACE) == 9
    for wrong, names in ((dict(name="H-SVDk-PDDP-kmeans", n_components=5), "n_components must be at least"), (dict(name="NMF-Basic", n_components=8), "n_components must be"),
                         (dict(name="k-means"), "name must be one of 'NMF-Basic'"), (dict(name="PDDP", kmeans=False), "kmeans must be")):
        with pytest.raises(ValueError, match=names): race2008(n_clusters=6, **wrong)


def test_iris_as_in_races_paper():
    from sklearn.datasets import load_iris
    X, species = load_iris(return_X_y=True)
    labels = PDDP(3).fit(X).labels_
    assert max(np.bincount(labels[species == s]).max() for s in range(3)) == 50                # no unit length: any points will do
    assert ari(species, PDDP(3, kmeans=True).fit(X).labels_) > .7
    right = [sum(np.bincount(species[labels == c]).max() for c in range(3)) for labels in
             (PDDP(3).fit(directions(X)).labels_, PDDP(3, kmeans="cosine", random_state=0).fit(X).labels_)]
    assert right == [146, 145]                                                                  # the first is 97.33 %, as in the paper


def test_tree_of_means(planted):
    X, topics = planted
    model = HierKMeans(6, trials=0, random_state=0).fit(X)
    D = X.toarray()
    for id in model.tree_.splits:
        node = model.tree_[id]
        for side, child in enumerate(node.children):
            mean = D[node.docs[node.split.side == side]].mean(0)
            assert_allclose(child.topic, mean/np.linalg.norm(mean), atol=1e-8)
            other = D[node.docs[node.split.side != side]].mean(0)
            far = ((D[child.docs] - mean)**2).sum(1) - ((D[child.docs] - other)**2).sum(1)
            assert far.max() < 1e-6                                        # everybody is with the nearer mean
    assert_array_equal(model.predict(X), model.labels_), assert_array_equal(model.predict(X[[3]]), model.labels_[[3]])
    assert ari(topics, model.labels_) > .5
    assert_array_equal(HierKMeans(3, trials=0, random_state=0).fit(X).grow(6).labels_, model.labels_)
    assert_array_equal(model.tree_.labels(3), HierKMeans(3, trials=0, random_state=0).fit(X).labels_)
    assert model.tree_.to_linkage().shape == (5, 4) and model.transform(X).shape == (300, 6)


def test_tree_of_means_sets_outliers_aside(planted):
    odd = np.zeros((3, planted[0].shape[1] + 6))
    odd[:,-6:] = .5
    X = sp.csr_matrix(np.vstack([np.c_[planted[0].toarray(), np.zeros((300, 6))], odd]))
    model = HierKMeans(5, random_state=1).fit(X)
    assert model.n_leaves_ == 5 and HierKMeans().trials == 5
    for wrong in (dict(init="far"), dict(n_init=0), dict(max_iter=0), dict(trials=-1)):
        with pytest.raises(ValueError, match=next(iter(wrong))): HierKMeans(3, **wrong).fit(X)


def test_threads_change_nothing(planted):
    X, _ = planted
    for method in (NormalizedCutClustering(6, random_state=0), PDDP(6, kmeans=True), PDDP(6, kmeans="cosine", random_state=0),
                   FlatKMeans(6, random_state=0), HierKMeans(5, random_state=0), SVDClustering(6, random_state=0), NMFClustering(6, random_state=0)):
        found = []
        for threads in (1, 2):
            with threadpool_limits(threads): found.append(clone(method).fit(X).labels_)
        assert_array_equal(*found)


NEGATIVE = {f"check_clustering{rest}": "its data have negative entries" for rest in ("", "(readonly_memmap=True)")}


def expected_to_fail(estimator):
    return {} if isinstance(estimator, ANY_SIGN) else NEGATIVE



ANY_SIGN = PDDP, FlatKMeans, SVDClustering


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([AverageAssociation(3), NormalizedCutClustering(3, normalize_rows=False), PDDP(3), PDDP(3, kmeans=True),
                          PDDP(3, kmeans="cosine"), FlatKMeans(3), SVDClustering(3), NMFClustering(3), HierKMeans(4)],
                         expected_failed_checks=expected_to_fail)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_kmeans_of_wide_indices_and_large_seeds():
    X = sp.random(60, 40, .2, format="csr", random_state=0)
    wide = sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    for model in (FlatKMeans(3, random_state=2**40), PDDP(3, kmeans=True)):
        assert_array_equal(clone(model).fit(wide).labels_, clone(model).fit(X).labels_)


@pytest.mark.parametrize("dtype, speck", [(np.float32, 1e-24), (np.float64, 1e-40)])
def test_weights_that_rounding_left_are_none(monkeypatch, dtype, speck):
    "Documents whose weights are next to nothing were an error about a matrix that the user never saw"
    X = np.random.default_rng(0).random((12, 6)).astype(dtype)
    def with_specks(method):
        def run(*args, **options):
            W = method(*args, **options)
            W[[2, 7]] *= dtype(speck)
            return W
        return run
    for name in ("fit_transform", "transform"): monkeypatch.setattr(NMF, name, with_specks(getattr(NMF, name)))
    for clusterer in ("pddp-kmeans", "kmeans", "pddp"):
        model = NMFClustering(3, clusterer=clusterer, random_state=0).fit(X)
        assert np.flatnonzero(model.labels_ < 0).tolist() == [2, 7] == np.flatnonzero(model.predict(X) < 0).tolist()


@pytest.mark.parametrize("name", [name for name in RACE if name.startswith("H-")])
def test_one_document_with_words(name):
    X = np.vstack([np.zeros((5, 4)), [[1, 1, 2, 1]]])
    assert race2008(name, 1, random_state=0).fit(X).labels_.tolist() == [-1]*5 + [0]


def test_a_clusterer_without_predict_says_so():
    from sklearn.cluster import AgglomerativeClustering
    X = np.random.default_rng(0).random((30, 6))
    for method in (SVDClustering, NMFClustering):
        model = method(3, clusterer=AgglomerativeClustering(), random_state=0).fit(X)
        with pytest.raises(ValueError, match="clusterer must have predict.*AgglomerativeClustering has not"): model.predict(X)


@pytest.mark.parametrize("method", [PDDP(2), PDDP(2, kmeans=True), FlatKMeans(2, random_state=0), SVDClustering(2, random_state=0)])
def test_what_becomes_of_a_row_of_zeros_is_decided_in_the_fit(method):
    "Not by the rows that come with it"
    S = np.array([[0., 0], [1, -1], [2, 1], [-3, .5]])
    for X in (S, sp.csr_array(S)):
        model = clone(method).fit(X)
        assert_array_equal([model.predict(X[[i]])[0] for i in range(4)], model.predict(X))
        assert model.predict(X[[0]])[0] >= 0
        del model._signed                                          # as one that an earlier version pickled
        assert_array_equal(model.predict(X), model.labels_)
        model = clone(method).fit(abs(X))
        assert model.labels_[0] == -1
        assert_array_equal([model.predict(X[[i]])[0] for i in range(4)], model.predict(X))
        assert model.predict(X)[0] == -1


def test_the_remedy_for_leaves_given_up_is_one_that_the_method_has():
    X = np.zeros((40, 5))
    X[:, 0], X[0, 1], X[1:, 2] = 1, 9, np.linspace(0, .01, 39)
    tree = HierKMeans(2, trials=0, random_state=0).fit(X).tree_
    for leaf in tree.leaves(): leaf.score = -2
    model = HierKMeans(8, random_state=0)
    model.tree_ = tree
    with pytest.warns(UserWarning, match="2 given up for outliers: a larger imbalance lets more splits be"): _warn_of_leaves(model, 8, None)
