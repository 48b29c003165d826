"""scikit-learn's own checks, and its data frames"""
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from nmf2 import NMF, FlatNMF2, HierNMF2, Rank2NMF, TopicTree, text_pipeline
from nmf2.bisection import RepeatedBisection
from nmf2.consensus import ClusterAggregation, HypergraphEnsemble
from nmf2.data import planted_tree
from nmf2.methods import LDA, NormalizedCutNMF
from nmf2.partitions import NMFClustering, SVDClustering
from nmf2.separable import XRAY, AnchorWords
from nmf2.weighting import count_pipeline


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([Rank2NMF(), HierNMF2(), FlatNMF2(), NMF(3), NMF(3, solver="hals", init="random"), HierNMF2(5, init="random", extrapolate=False, random_state=0)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


# ---- data frames, where scikit-learn is told to give them

COUNTED = LDA, AnchorWords

@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("by", ["everywhere", "each"])
@pytest.mark.parametrize("method", [NMF, Rank2NMF, HierNMF2, FlatNMF2, NormalizedCutNMF, LDA, AnchorWords, XRAY, NMFClustering, SVDClustering, RepeatedBisection,
                                    HypergraphEnsemble, ClusterAggregation], ids=lambda method: method.__name__)
def test_what_is_asked_within_is_no_data_frame(method, by):
    "With `set_config(transform_output=...)`, or `set_output`, labels are what they are without"
    pd, counts = pytest.importorskip("pandas"), planted_tree((3,), n_docs=90, n_words=200, random_state=0).X
    X = counts if method in COUNTED else count_pipeline().fit_transform(counts)
    make = (lambda: method(random_state=0)) if method is Rank2NMF else (lambda: method(3, random_state=0) if "random_state" in method().get_params() else method(3))
    plain, model = make().fit(X), make()
    if by == "each":
        if not hasattr(model, "set_output"): pytest.skip("it gives no coordinates")
        model.set_output(transform="pandas")
    with sklearn.config_context(transform_output="pandas" if by == "everywhere" else "default"):
        model.fit(X)
        labels = model.predict(X) if hasattr(model, "predict") else model.labels_
        if hasattr(model, "transform"): assert isinstance(model.transform(X), pd.DataFrame)
    assert np.array_equal(plain.labels_, model.labels_) and np.array_equal(plain.predict(X) if hasattr(plain, "predict") else plain.labels_, labels)


TEXTS = ["ball goal striker match " + extra for extra in ("team", "coach", "club", "league")]*4 + ["vote law party budget " + extra for extra in ("bill", "court", "tax", "state")]*4

def test_shares_in_a_data_frame(tmp_path):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    plain = TopicTree(2, min_df=2, max_df=1.).fit(TEXTS)
    shares, names = plain.transform(TEXTS), ["topictree_0", "topictree_1"]
    rows = pd.Series(TEXTS, index=[f"row {i}" for i in range(len(TEXTS))])
    with sklearn.config_context(transform_output="pandas"):
        model = TopicTree(2, min_df=2, max_df=1.).fit(TEXTS)
        found = model.transform(rows)
        assert found.equals(pd.DataFrame(shares, rows.index, names)) and list(model.transform(TEXTS, n=1).columns) == names[:1]
        assert model.to_html(TEXTS) == plain.to_html(TEXTS) and model.answers(TEXTS, plain=True) == plain.answers(TEXTS, plain=True)
        model.save(tmp_path/"model")
        loaded = TopicTree.load(tmp_path/"model")
        assert loaded.transform(rows).equals(found) and loaded.to_html(TEXTS) == plain.to_html(TEXTS)
        loaded.update(["ball vote"]*3, TEXTS)
        assert sp.issparse(loaded.pipeline_.transform(TEXTS)) and sp.issparse(text_pipeline(min_df=2, max_df=1.).fit_transform(TEXTS))
        assert isinstance(make_pipeline(text_pipeline(min_df=2, max_df=1.), HierNMF2(2)).fit_transform(TEXTS), pd.DataFrame)
    model = clone(TopicTree(2, min_df=2, max_df=1.).set_output(transform="polars"))
    for one in (model.fit(TEXTS), pickle.loads(pickle.dumps(model))): assert one.transform(TEXTS).equals(pl.DataFrame(shares, schema=names))
    assert isinstance(model.set_output(transform=None).transform(TEXTS), pl.DataFrame) and np.array_equal(model.set_output(transform="default").transform(TEXTS), shares)
    with pytest.raises(ValueError, match="transform must be one of 'default', 'pandas', 'polars', got 'arrow'"): model.set_output(transform="arrow")


def test_in_a_column_transformer():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(dict(text=TEXTS, n=range(len(TEXTS))), index=[f"row {i}" for i in range(len(TEXTS))])
    columns = ColumnTransformer([("topics", TopicTree(2, min_df=2, max_df=1.), "text")], remainder="passthrough").set_output(transform="pandas")
    found = columns.fit_transform(frame)
    assert list(found.columns) == ["topics__topictree_0", "topics__topictree_1", "remainder__n"] and list(found.index) == list(frame.index)
