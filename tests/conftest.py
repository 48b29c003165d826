"""Settings of the whole test run"""
import os
import sys

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")     # processes of tests share the cores; before NumPy is there

import programs
from rounding import NUMERICAL, shaken

if (os.cpu_count() or 1) < 2: os.environ.setdefault("NUMBA_NUM_THREADS", "2")     # so that threads are tested on one processor, too

programs.folder()      # one for all processes of a test run

SLOW = {"quick", "site", "chromium"}        # fixtures that take long

@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    "Tests with a fixture that takes long are slow, wherever they are; others have the marker themselves"
    for item in items:
        if SLOW & set(item.fixturenames): item.add_marker(pytest.mark.slow)


def pytest_generate_tests(metafunc):
    """Tests of numbers run twice, with a matrix as it is and with other last bits; slow ones with other last bits alone.

    Scikit-learn's own are of forms and run once, and so do those that give no estimator a matrix.
    """
    if metafunc.module.__name__ not in NUMERICAL or "contract" in metafunc.function.__name__: return
    metafunc.fixturenames.append("last_bits")
    if metafunc.definition.get_closest_marker("no_estimator"): ways = [pytest.param("never", id="")]
    else:
        once = metafunc.definition.get_closest_marker("slow")
        ways = [pytest.param("", id="")]*(not once) + [pytest.param("shaken", id="shaken", marks=pytest.mark.slow)]
    metafunc.parametrize("last_bits", ways, indirect=True)


@pytest.fixture(scope="module")
def one_thread():
    "BLAS on one thread, as sums of many threads differ in the last digit"
    from threadpoolctl import threadpool_limits
    with threadpool_limits(1, user_api="blas"): yield


@pytest.fixture(scope="module")
def planted():
    "Documents of six planted topics, by tf-idf and of unit length, and the topic of each"
    from nmf2.data import planted_tree
    from nmf2.weighting import count_pipeline
    corpus = planted_tree((2, 3), n_docs=300, overlap=.3, noise=.1, length=60, random_state=0)
    return count_pipeline(normalized_cut=False).fit_transform(corpus.X).astype("float64"), corpus.classes()[0]


@pytest.fixture
def last_bits(request, monkeypatch):
    "Let every estimator get a matrix with other last bits"
    if not request.param: return
    from nmf2.core import check_matrix
    def shaking(*args, **options):
        assert request.param != "never", "an estimator is given a matrix: remove the marker no_estimator, so that the test runs twice"
        return shaken(check_matrix(*args, **options))
    for name, module in list(sys.modules.items()):
        if name.startswith("nmf2.") and getattr(module, "check_matrix", None) is check_matrix:
            monkeypatch.setattr(module, "check_matrix", shaking)
