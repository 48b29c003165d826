"""Settings of the whole test run"""
import os

os.environ.setdefault("NMF2_NUMBA_CACHE", "0")     # numba's cache on disk does not notice changed callees
