"""Settings of the whole test run"""
import atexit
import os
import shutil
import tempfile

if (os.cpu_count() or 1) < 2: os.environ.setdefault("NUMBA_NUM_THREADS", "2")     # so that threads are tested on one processor, too

if "NUMBA_CACHE_DIR" not in os.environ:        # machine code is shared by all processes of this run and by no other: numba does not
    cache = tempfile.mkdtemp(prefix="nmf2-tests-")                              # notice that a kernel which another calls has changed
    os.environ.update(NUMBA_CACHE_DIR=cache, NMF2_NUMBA_CACHE="1")
    atexit.register(shutil.rmtree, cache, ignore_errors=True)
