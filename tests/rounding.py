"""What another processor does to a result: other last bits, and another order in which numbers are added up.

`shaken` changes the last bits of a matrix, `elsewhere` its rows' and columns' order, too. The tests of the modules in `NUMERICAL`
(see `conftest.py`) run twice, the second time with every matrix that an estimator gets shaken, and slow ones only so: whatever they
expect must hold on any processor. To try a processor's own kernels instead: `NUMBA_CPU_NAME=generic OPENBLAS_CORETYPE=Nehalem pytest tests/test_nmf.py`.
"""
import numpy as np
import scipy.sparse as sp

NUMERICAL = {"test_bisection", "test_consensus", "test_evaluate", "test_flat", "test_hier", "test_methods", "test_nmf",
             "test_partitions", "test_rank2", "test_separable"}


def shaken(X, ulps=2):
    """`X` with each number changed by up to some units in the last place, by a rule of its own digits.

    Equal numbers stay equal, and so do a number's and its double's changes: what is a tie or a multiple stays one.
    """
    if sp.issparse(X):
        out = X.copy()
        out.data = shaken(X.data, ulps)
        return out
    digits = np.frexp(X.astype(np.float64))[0].view(np.uint64)*np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)
    steps = (digits % (2*ulps + 1)).astype(X.dtype) - ulps
    return X*(1 + steps*np.finfo(X.dtype).eps)


def elsewhere(X, seed=0):
    "`X` in another order and with other last bits; where its rows and its columns came from"
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    return shaken(X[rows][:,columns]), rows, columns
