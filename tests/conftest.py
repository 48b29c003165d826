"""Settings of the whole test run"""
import os

if (os.cpu_count() or 1) < 2: os.environ.setdefault("NUMBA_NUM_THREADS", "2")     # so that threads are tested on one processor, too
