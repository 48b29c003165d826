"""Settings of the whole test run"""
import os
import sys

import pytest

from rounding import NUMERICAL, shaken

if (os.cpu_count() or 1) < 2: os.environ.setdefault("NUMBA_NUM_THREADS", "2")     # so that threads are tested on one processor, too

def pytest_generate_tests(metafunc):
    "Tests of numbers run twice, but for scikit-learn's own, which are of forms"
    if metafunc.module.__name__ in NUMERICAL and "contract" not in metafunc.function.__name__:
        metafunc.fixturenames.append("last_bits")
        metafunc.parametrize("last_bits", ["", "shaken"], indirect=True, ids=["", "shaken"])


@pytest.fixture
def last_bits(request, monkeypatch):
    "Let every estimator get a matrix with other last bits"
    if not request.param: return
    from nmf2.core import check_matrix
    def shaking(*args, **options): return shaken(check_matrix(*args, **options))
    for name, module in list(sys.modules.items()):
        if name.startswith("nmf2.") and getattr(module, "check_matrix", None) is check_matrix:
            monkeypatch.setattr(module, "check_matrix", shaking)
