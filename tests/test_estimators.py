"""scikit-learn's own checks"""
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from nmf2 import NMF, FlatNMF2, HierNMF2, Rank2NMF


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([Rank2NMF(), HierNMF2(), FlatNMF2(), NMF(3), NMF(3, solver="hals", init="random"), HierNMF2(5, init="random", extrapolate=False, random_state=0)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)
