"""What users hand over is taken for what it is, or refused: columns of pandas by position, whole numbers, shapes, sizes."""
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline

from nmf2 import TopicTree, text_pipeline
from nmf2.consensus import ClusterAggregation, HypergraphEnsemble, integrate
from nmf2.evaluate import topic_diversity, umass_coherence
from nmf2.hier import HierNMF2
from nmf2.islands import dots, islands
from nmf2.kernels import documents
from nmf2.methods import NormalizedCutNMF, make
from nmf2.nmf import NMF
from nmf2.nnls import heaviest_topics, memberships, nnls
from nmf2.partitions import AverageAssociation, SVDClustering, centroids
from nmf2.plots import plot_map, plot_topics
from nmf2.rank2 import rank2_nmf
from nmf2.report import cluster_report
from nmf2.separable import AnchorWords
from nmf2.study import Study, with_size
from nmf2.weighting import TfIdf, divide_rows, doc_freq, row_sum

pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.no_estimator
TWO = np.array([[1, 1, 0, 0]]*5 + [[0, 0, 1, 1]]*5, float)
HALVES = [0]*5 + [1]*5
WORDS = pd.Series(["apple", "pear", "dog", "cat"], index=[3, 2, 1, 0])


@pytest.mark.parametrize("method, name", [
    (SVDClustering(clusterer=KMeans()), "n_clusters"), (HypergraphEnsemble(base=KMeans(7)), "n_clusters"), (make("H-PDDP", 5), "n_clusters"),
    (TopicTree(), "n_topics"), (make_pipeline(TruncatedSVD(10), GaussianMixture()), "gaussianmixture__n_components"),
    (make_pipeline(KMeans(), TruncatedSVD()), "truncatedsvd__n_components"), (HierNMF2(), "n_leaves")])
def test_the_size_of_a_method_is_its_own(method, name):
    assert with_size(method, 3, 0).get_params()[name] == 3
    others = {other: value for other, value in method.get_params().items() if other.split("__")[-1].startswith("n_") and other != name}
    assert {other: with_size(method, 3, 0).get_params()[other] for other in others} == others


def test_topic_trees_in_a_study_of_texts():
    texts = ["goal team match", "law vote court", "bread oven flour"]*9
    study = Study({"tree": TopicTree(), "k-means": make_pipeline(text_pipeline(), KMeans())}, {"nine": (texts, [0, 1, 2]*9)}, seeds=0).run()
    assert {run["nmi"] for run in study.runs} == {1.}


def test_words_and_names_in_a_series_go_by_position():
    report = cluster_report(TWO, HALVES, vocab=WORDS)
    assert {word for word, _ in report[0].descriptive} == ({"apple", "pear"} if report[0].cluster == 0 else {"dog", "cat"})
    tree = HierNMF2(2).fit(TWO).tree_
    assert set(tree.top_terms(tree.leaves()[0], vocab=WORDS, n=2)) in ({"apple", "pear"}, {"dog", "cat"})
    topics, texts = [["apple", "pear"], ["dog", "cat"]], ["apple pear"]*5 + ["dog cat"]*5
    one, other = (umass_coherence(topics, texts, n=2, vocab=vocab) for vocab in (WORDS, WORDS.tolist()))
    assert one.mean == other.mean


def test_pictures_take_a_series_by_position():
    H = np.array([[2, 1, 0, 0], [0, 0, 1, 2.]])
    def said(ax): return [text.get_text() for text in ax.texts]
    assert said(plot_topics(H, vocab=WORDS, names=pd.Series(["fruit", "pets"], index=[1, 0]))) == said(plot_topics(H, vocab=WORDS.tolist(), names=["fruit", "pets"]))
    labels = pd.Series(list("aaaaabbbbb"), index=range(9, -1, -1))
    def colors(labels): return [c.get_facecolor() for c in plot_map(TWO[:,1:3], labels=labels).collections]
    for one, other in zip(colors(labels), colors(labels.tolist()), strict=True): np.testing.assert_array_equal(one, other)


def test_classes_that_are_none_are_no_class():
    with pytest.raises(ValueError, match="some are missing .*-1"): cluster_report(TWO, HALVES, classes=[-1] + HALVES[1:])


def test_columns_of_a_data_frame_have_names():
    frame = pd.DataFrame(np.random.default_rng(0).random((20, 4)), columns=list("abcd"))
    model = NormalizedCutNMF(2).fit(frame)
    assert list(model.feature_names_in_) == list("abcd")
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    with pytest.raises(ValueError, match="feature names"): model.predict(frame[list("dcba")])


@pytest.mark.parametrize("f", [memberships, heaviest_topics])
def test_topics_of_other_words_are_refused(f):
    for X in (sp.csr_array(TWO), TWO):
        for n in (2, 9):
            with pytest.raises(ValueError, match=f"Ht must have a row for each of the 4 terms of X, got {n}"): f(X, np.ones((n, 2)))


@pytest.mark.parametrize("given, message", [(dict(out=np.zeros((2, 3))), "out must"), (dict(first=np.ones((1, 3))), "first must be"), (dict(first=np.ones(3)), "first must be"),
                                            (dict(dtype=int), "dtype be one of floats"), (dict(out=np.zeros((9, 3), int)), "out must have floats")])
def test_places_of_another_shape_are_refused(given, message):
    B, Y = np.random.default_rng(0).random((6, 3)), np.random.default_rng(1).random((9, 6))
    with pytest.raises(ValueError, match=message): nnls(B.T @ B, Y @ B, **given)


def test_whole_numbers_have_means_with_fractions():
    assert centroids(np.array([[1, 2], [2, 3]]), [0, 0], 1).tolist() == [[1.5, 2.5]]
    np.testing.assert_allclose(memberships(np.array([[3, 4]]), np.ones((2, 1))), [[3.5]])
    counts = np.array([[1, 3], [0, 0]])
    for X in (counts, sp.csr_array(counts)):
        divided = divide_rows(X, np.array([4., 0]), own=True)
        np.testing.assert_array_equal(divided.toarray() if sp.issparse(divided) else divided, [[.25, .75], [0, 0]])
    assert counts.tolist() == [[1, 3], [0, 0]]


def test_sums_by_columns_of_a_square_matrix():
    X = np.array([[1., 2], [0, 3]])
    for kind in (sp.csc_array, sp.csr_array, sp.coo_array):
        np.testing.assert_allclose(row_sum(kind(X)), [1, 5])
        assert doc_freq(kind(X)).tolist() == [1, 2]


def test_documents_without_a_topic_have_no_place():
    places = dots(islands([5, 5], np.zeros((2, 2))), np.array([0, -1, 1]), np.ones(3), np.zeros((3, 2)))
    assert np.isfinite(places).all(1).tolist() == [True, False, True] and np.isnan(places[1]).all()


@pytest.mark.parametrize("wrong", [np.nan, -1., np.inf])
def test_starts_that_are_none(wrong):
    docs = documents(TWO)
    with pytest.raises(ValueError, match="Ht0 must be finite and not negative"): rank2_nmf(docs, np.full((4, 2), wrong))
    with pytest.raises(ValueError, match="W0 must be finite and not negative"): rank2_nmf(docs, W0=np.full((10, 2), wrong))


def test_clusterers_that_only_predict():
    X = np.random.default_rng(0).random((40, 6))
    labels = ClusterAggregation(3, clusterers=[GaussianMixture(3), make_pipeline(TruncatedSVD(3), KMeans(3))], algorithms=["kmeans"]).fit(X).labels_
    assert len(labels) == 40 and len(set(labels)) == 3


def test_arrays_of_words_are_topics():
    words = [["ice", "puck"], ["ice", "soil"]]
    assert topic_diversity(np.array(words)) == topic_diversity(np.array(words, object)) == topic_diversity(words) == .75


@pytest.mark.parametrize("model, name", [
    (HierNMF2(2, extrapolate="no"), "extrapolate"), (HierNMF2(2, extrapolate=None), "extrapolate"), (SVDClustering(2, centered="x"), "centered"),
    (SVDClustering(2, scaled=3), "scaled"), (AverageAssociation(2, normalize_rows="x"), "normalize_rows"), (TfIdf(use_idf="x"), "use_idf"),
    (TfIdf(sublinear_tf=None), "sublinear_tf"), (ClusterAggregation(2, iterate="x"), "iterate"), (AnchorWords(2, clean_up="x"), "clean_up")])
def test_switches_are_on_or_off(model, name):
    with pytest.raises(ValueError, match=f"{name} must be True or False"): model.fit(np.tile(TWO, (6, 1)))


def test_topics_beyond_the_documents_are_no_endless_search():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NMF(7).fit(np.eye(6))
    assert model.n_iter_ < 50 and model.reconstruction_err_ < 1e-6


def test_ways_to_integrate_are_named():
    with pytest.raises(ValueError, match="how must be one of .*bisection"): integrate(sp.csr_array(TWO), 2, "x")
    with pytest.raises(ValueError, match="threshold must be a number or a list of some"): ClusterAggregation(2, threshold=[]).fit(np.tile(TWO, (6, 1)))
