"""Python programs as copies of one process that has imported what they need: `[*python(), "-m", "nmf2", "--help"]`.

A new Python takes seconds to import scikit-learn and numba and to load machine code, a copy of one that has done so some
hundredths. `python()` begins a command as `sys.executable` does: what comes after it is `-m MODULE`, `-c CODE` or a file,
with its arguments; streams, environment, working folder, signals, exit status and the way to end are those of a program.
What it starts is this file, which asks a server for a copy and stands for it until it ends. The first that asks starts
the server, all processes of a test run share it, and it ends with them.

Copies begin alike: the seed of hashes is the same in all of them. The package is the one that the caller imports. A
program that wants other settings of what is imported already, such as `NUMBA_DISABLE_JIT`, is a new Python after all;
so is everything where processes can't be copied, or not be watched.
"""
import atexit
import json
import os
import signal
import socket
import sys
import time

IDLE = 1000              # seconds after which a server that nobody asks ends, should the folder have been left behind
AT_IMPORT = ("NUMBA_", "OPENBLAS_", "OMP_", "MKL_", "NMF2_", "PYTHON")         # settings that are read while importing, but for
LATER = ("NMF2_DATA", "NMF2_PROGRAMS", "PYTHONPATH", "PYTHONIOENCODING", "PYTHONUNBUFFERED", "PYTHONUTF8")

def settings(): return sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith(AT_IMPORT) and k not in LATER)

def folder():
    "Where the server of this test run listens; whoever makes the folder removes it in the end, and the server sees that"
    if "NMF2_PROGRAMS" not in os.environ:
        import shutil
        import tempfile
        made, mine = tempfile.mkdtemp(prefix="nmf2-programs-"), os.getpid()
        os.environ["NMF2_PROGRAMS"] = made
        atexit.register(lambda: os.getpid() == mine and shutil.rmtree(made, ignore_errors=True))
    return os.environ["NMF2_PROGRAMS"]

def python():
    "What a command begins with"
    try: os.close(os.pidfd_open(os.getpid()))                  # which Linux has
    except (AttributeError, OSError): return [sys.executable]
    from importlib.util import find_spec
    home = os.path.dirname(find_spec("nmf2").submodule_search_locations[0])
    return [sys.executable, "-ISE", os.path.abspath(__file__), folder(), os.path.abspath(home), json.dumps(settings())]

# ---- the process that stands for a copy: it imports little

def connected(place, home):
    "A socket to the server, which is started if there is none; None if it can't be started"
    import fcntl
    sock, path = socket.socket(socket.AF_UNIX), os.path.join(place, "socket")
    with open(os.path.join(place, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        server = None
        while True:
            try:
                sock.connect(path)
                return sock
            except OSError:
                if server is None:
                    import subprocess
                    said = os.open(os.path.join(place, "said"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                    server = subprocess.Popen([sys.executable, __file__, "--serve", place, home], stdin=subprocess.DEVNULL, stdout=said,
                                              stderr=said, start_new_session=True)
                if server.poll() is not None: return None
                time.sleep(.02)

def stand_for(place, home, wanted, *argv):
    "Be the program, as far as others can tell"
    anew = [sys.executable, *argv]
    if json.loads(wanted) != settings() or not (sock := connected(place, home)): os.execv(sys.executable, anew)
    forwarded, waiting, pid = (signal.SIGINT, signal.SIGTERM), [], None
    def forward(number, _): waiting.append(number) if pid is None else os.kill(pid, number)
    ignored = [int(s) for s in forwarded if signal.getsignal(s) == signal.SIG_IGN]           # so in what a shell starts with &
    for s in forwarded: signal.signal(s, forward)                                           # a copy may ask for them after all
    os.umask(umask := os.umask(0))
    request = json.dumps(dict(argv=argv, env=dict(os.environ), cwd=os.getcwd(), umask=umask, ignored=ignored)).encode()
    try:
        socket.send_fds(sock, [len(request).to_bytes(8, "big")], [0, 1, 2])
        sock.sendall(request)
        pid = int((told := sock.makefile()).readline())
    except (OSError, ValueError): os.execv(sys.executable, anew)          # the server didn't get as far as that
    os.close(0), os.close(1), os.close(2)                     # they are the copy's alone, so that others see when it closes them
    for number in waiting: os.kill(pid, number)
    code = int(told.readline())
    if code >= 0: os._exit(code)
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
    os.kill(os.getpid(), -code)

# ---- the server

def warm_up():
    "Import what programs of the tests need, and load machine code, without starting a thread"
    import threading
    import warnings
    from concurrent.futures import process, thread  # noqa: F401
    from importlib import import_module
    for name in ("cli", "data", "formats", "matlab", "hier", "topictree", "treefile", "counting", "partitions", "methods", "separable", "consensus",
                 "flat", "bisection", "rank2", "nmf", "page", "report", "support", "writing", "exports", "serving", "evaluate"): import_module(f"nmf2.{name}")
    import numpy as np
    import pandas  # noqa: F401
    import scipy.io
    import scipy.optimize
    import scipy.sparse as sp
    import sklearn.cluster
    import sklearn.decomposition
    import sklearn.feature_extraction.text  # noqa: F401
    import tqdm  # noqa: F401
    from nmf2.hier import HierNMF2
    from nmf2.topictree import TopicTree
    from numba import config, set_num_threads
    set_num_threads(1)
    texts = ["a goal and a late ball", "the match and the ball", "the vote of a party", "law and vote", "soil for beans", "water the soil"]*6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TopicTree(3, min_df=1, max_df=1.).fit(texts)
        model.predict(texts), str(model), model.to_html()
        for dtype in (np.float64, np.float32): HierNMF2(3).fit(sp.random(30, 12, .4, "csr", dtype=dtype, rng=np.random.default_rng(0)))
    set_num_threads(config.NUMBA_NUM_THREADS)
    for timer in threading.enumerate()[1:]: timer.join(10)                  # that has been stopped
    assert threading.active_count() == 1, threading.enumerate()              # which copies would lack

def exactly(sock, n):
    data = b""
    while len(data) < n: data += sock.recv(n - len(data)) or sys.exit("nobody is there any more")
    return data

def keep(sock):
    "Make a copy for whoever asks, and tell how it ended; the copy returns what it is to do, nobody else returns"
    import select
    size, fds, *_ = socket.recv_fds(sock, 8, 3)
    what = json.loads(exactly(sock, int.from_bytes(size, "big")))
    pid = os.fork()
    if not pid:
        sock.close()
        os.setsid()
        for i, fd in enumerate(fds): os.dup2(fd, i), os.close(fd)
        return what
    for fd in fds: os.close(fd)
    sock.sendall(f"{pid}\n".encode())
    ready = select.select([watched := os.pidfd_open(pid), sock], [], [])[0]
    if watched not in ready: os.kill(pid, signal.SIGKILL)            # nobody waits for it
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try: sock.sendall(f"{code}\n".encode())
    except OSError: pass
    os._exit(0)

def serve(place, home):
    "Wait for those who ask, until the folder is gone; a copy returns what it is to do"
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")            # the others have threads, and take room beforehand
    sys.path[0] = home
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.join(place, "socket"))
    listener.listen(100)
    warm_up()
    import gc
    gc.collect(), gc.freeze()
    listener.settimeout(1)
    asked = time.monotonic()
    while os.path.exists(place) and time.monotonic() - asked < IDLE:
        try: sock, asked = listener.accept()[0], time.monotonic()
        except TimeoutError: sock = None
        try:
            while os.waitpid(-1, os.WNOHANG)[0]: pass
        except ChildProcessError: pass
        if sock and not os.fork():
            listener.close()
            sock.setblocking(True)
            return keep(sock)
        if sock: sock.close()
    if os.path.exists(place): os.unlink(os.path.join(place, "socket"))
    os._exit(0)

# ---- the copy

def stream(number, mode, errors, unbuffered):
    "Standard input or output as Python makes it"
    encoding, _, named = os.environ.get("PYTHONIOENCODING", "").partition(":")
    if number < 2: errors = named or errors
    raw = open(number, mode + "b", 0 if unbuffered else -1, closefd=False)
    import io
    return io.TextIOWrapper(raw, encoding or "utf-8", errors, line_buffering=not unbuffered and (number == 2 or os.isatty(number)), write_through=unbuffered)

def run(way, *rest):
    "What Python does with its arguments"
    import runpy
    import types
    if way == "-m":
        sys.argv, sys.path[0] = list(rest), os.getcwd()
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif way == "-c":
        sys.argv, sys.path[0] = ["-c", *rest[1:]], ""
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(rest[0], "<string>", "exec"), vars(main))
    else:
        sys.argv, sys.path[0] = [way, *rest], os.path.dirname(os.path.abspath(way))
        runpy.run_path(way, run_name="__main__")

def end(code):
    "End as Python does, but leave it to the system to clear up; where something is odd, Python sees to it"
    import threading
    if code is not None and not isinstance(code, int): sys.exit(code)
    threading._shutdown()
    atexit._run_exitfuncs()
    try: sys.stdout.flush(), sys.stderr.flush()
    except Exception: sys.exit(code)
    os._exit((code or 0) & 255)

def become(argv, env, cwd, umask, ignored):
    "Be the program that was asked for"
    import random
    for s in (signal.SIGINT, signal.SIGTERM):
        signal.signal(s, signal.SIG_IGN if s in ignored else signal.default_int_handler if s == signal.SIGINT else signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(env)
    os.umask(umask)
    os.chdir(cwd)
    random.seed()
    sys.modules["numpy"].random.seed()
    parallel = sys.modules.get("numba.np.ufunc.parallel")
    if hasattr(parallel, "_set_init_process_lock"):
        parallel._set_init_process_lock()        # each its own: a copy that is killed while it has it would stop all others
    first = int(argv[0] == "-u")
    unbuffered = bool(first or env.get("PYTHONUNBUFFERED"))
    sys.stdin, sys.stdout = stream(0, "r", "strict", False), stream(1, "w", "strict", unbuffered)
    sys.stderr = stream(2, "w", "backslashreplace", unbuffered)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    code = None
    try: run(*argv[first:])
    except SystemExit as stop: code = stop.code
    end(code)

if __name__ == "__main__":
    if sys.argv[1] == "--serve": become(**serve(*sys.argv[2:]))
    else: stand_for(*sys.argv[1:])
