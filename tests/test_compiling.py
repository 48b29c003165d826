"Machine code on disk is never older than any of the sources it was made from"
import ast
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numba
import pytest
from numpy.testing import assert_allclose

import nmf2
from nmf2 import compiling
from nmf2.compiling import MachineCode, compiled_modules, digest_of_sources, njit

PACKAGE = Path(nmf2.__file__).parent

CALLERS = """
import json, sys
import numpy as np
import scipy.sparse as sp
from numba.core.dispatcher import Dispatcher
import nmf2
from nmf2 import bisection, kernels, nmf, nnls, products
F, G, R = np.arange(12.).reshape(4, 3), np.eye(3) + .5, np.arange(12.).reshape(4, 3)**2 % 7
steps = [float(nmf.hals()(F, G, R).sum()), float(nmf._slope(F, G, R)), float(products.Rows(sp.csr_matrix(F)).times(G).sum())]
product, D = np.zeros(16), np.arange(48.).reshape(3, 16)
document = bisection.Documents(np.array([1., 2.]), np.array([0, 2]), np.array([0]), np.array([2]))
bisection._products(document, 0, D, product, 0)
bisection._put_all(document, 0, D, np.ones(16))
bisection.sum_tables(3, 5, np.ones(2))
steps += [float(product.sum()), float(D.sum())]
used = {f"{m.__name__}.{name}": (sum(d.stats.cache_hits.values()), sum(d.stats.cache_misses.values()))
        for m in (bisection, kernels, nmf, nnls, products) for name, d in vars(m).items()
        for d in [getattr(d, "part", d)] if isinstance(d, Dispatcher) and d.signatures}
print(json.dumps(dict(file=nmf2.__file__, steps=steps, used=used)))
"""


def copied(folder):
    "A copy of the package, with the machine code that is kept beside it"
    shutil.copytree(PACKAGE, folder/"nmf2", ignore=shutil.ignore_patterns("*.pyc", "*.part"))
    return folder


def call(folder):
    "What the kernels of a copy of the package come to, and how often machine code was found on disk"
    env = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    env.update(PYTHONPATH=str(folder), NMF2_NUMBA_CACHE="1", PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run([sys.executable, "-c", CALLERS], env=env, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert Path(found["file"]).parent == folder/"nmf2"
    return found


@pytest.mark.slow
def test_an_edited_kernel_is_seen_by_every_caller(tmp_path):
    copied(tmp_path)
    first, again = call(tmp_path), call(tmp_path)
    assert again["steps"] == first["steps"]
    assert all(hits and not misses for hits, misses in again["used"].values()), again["used"]
    instructions = tmp_path/"nmf2"/"instructions.py"
    source = instructions.read_text(encoding="utf-8")
    sums = ["builder.fadd(builder.load(total), part, **SUM)", "builder.fadd(builder.load(row, align=8), builder.fmul(x, by, **SUM), **SUM)"]
    assert [source.count(one) for one in sums] == [1, 1]
    status = instructions.stat()
    for one in sums: source = source.replace(one, one.replace("fadd", "fsub"))
    compared = "np.array_equal(a, b) for"                                # else the trial would find out, and plain numba be used
    assert source.count(compared) == 1
    source = source.replace(compared, compared.replace("b)", "a)"))
    instructions.write_text(source, encoding="utf-8")
    os.utime(instructions, ns=(status.st_atime_ns, status.st_mtime_ns))       # of the same date and size, as from an archive
    assert instructions.stat().st_size == status.st_size
    edited = call(tmp_path)
    assert all(misses and not hits for hits, misses in edited["used"].values()), edited["used"]
    assert not set(edited["steps"]) & set(first["steps"]), (first["steps"], edited["steps"])


def _taken(tree, compiled):
    "Names that a module imports from modules of the package without compiled code"
    return {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level
            and node.module not in compiled for alias in node.names}


def _is_compiled(function):
    names = {getattr(part, "id", None) for decorator in function.decorator_list for part in ast.walk(decorator)}
    return bool(names & {"njit", "in_parts", "intrinsic", "overload", "register_jitable", "with_twin"})


@pytest.mark.parametrize("path", compiled_modules(), ids=lambda path: path.stem)
def test_compiled_code_takes_nothing_from_modules_outside_the_digest(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    outside = _taken(tree, {path.stem for path in compiled_modules()})
    functions = [f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) and _is_compiled(f)]
    assert functions or path.stem == "compiling"
    for function in functions:
        used = {part.id for statement in function.body for part in ast.walk(statement) if isinstance(part, ast.Name)}
        assert not used & outside, f"{function.name} uses {used & outside}"


def test_every_module_that_compiles_is_in_the_digest():
    "No module goes past `njit` of `nmf2.compiling`"
    within = {path.stem for path in compiled_modules()}
    assert {"compiling", "parts", "instructions", "products", "cutting", "ranks", "kernels", "nnls", "nmf", "score", "bisection", "separable"} <= within
    for path in PACKAGE.glob("*.py"):
        source = path.read_text(encoding="utf-8")
        if path.stem not in within: assert "njit(" not in source and "@njit" not in source, path
        if path.stem != "compiling": assert "from numba import njit" not in source and "numba.njit" not in source, path


def test_digest_is_of_contents(tmp_path):
    for name, text in [("a.py", "@njit\ndef f(): return 1\n"), ("b.py", "x = 1\n")]: (tmp_path/name).write_text(text)
    before = digest_of_sources(tmp_path)
    (tmp_path/"b.py").write_text("x = 2\n")
    assert digest_of_sources(tmp_path) == before
    (tmp_path/"a.py").write_text("@njit\ndef f(): return 2\n")
    assert digest_of_sources(tmp_path) != before
    assert digest_of_sources(tmp_path/"nothing") == ""


def test_machine_code_of_other_signatures_states_and_processors_is_left_alone(tmp_path):
    a, b = MachineCode(tmp_path, "m.f-1.py312", "aa"), MachineCode(tmp_path, "m.g-9.py312", "bb")
    for key in ("float32", "float64"): a.save(key, key)
    b.save("float32", "another function")
    assert (a.load("float32"), a.load("float64"), b.load("float32")) == ("float32", "float64", "another function")
    MachineCode(tmp_path, "m.f-1.py312", "cc").save("float32", "newer")
    assert a.load("float32") is a.load("float64") is None and b.load("float32") == "another function"
    assert not list(tmp_path.glob("*.part"))


def test_where_nothing_can_be_kept_it_is_compiled_each_time(tmp_path):
    code = MachineCode(tmp_path/"not there", "m.f-1.py312", "aa")
    code.save("int64", 1)
    assert code.load("int64") is None
    file = MachineCode(tmp_path, "m.f-1.py312", "aa")
    file.save("int64", list(range(100)))
    whole = file.path("int64").read_bytes()
    for damage in (b"", whole[:5], whole[:-3], b"nonsense"):
        file.path("int64").write_bytes(damage)
        assert file.load("int64") is None


def test_code_beside_the_package_is_read_and_no_more(tmp_path):
    ours, beside = tmp_path/"ours", tmp_path/"beside"
    for folder in (ours, beside): folder.mkdir()
    MachineCode(beside, "m.f-1.py312", "aa").save("int64", "of the administrator")
    code = MachineCode(ours, "m.f-1.py312", "aa", beside=beside)
    assert code.load("int64") == "of the administrator" and code.has("int64") and not code.has("float64") and not code.is_empty()
    code.save("float64", "ours")
    code.path("int64").write_bytes(b"damaged")                                 # the other one is as good
    assert (code.load("float64"), code.load("int64")) == ("ours", "of the administrator")
    code.flush()
    assert not list(ours.iterdir()) and len(list(beside.iterdir())) == 1


READ_ONLY = """
import json, sys
from contextlib import suppress
from numba.core import caching
class Nowhere(caching.FunctionCache._impl_class):
    _locator_classes = []
if "read-only" in sys.argv: caching.FunctionCache._impl_class = Nowhere
from nmf2 import compiling, ranks
import numpy as np
ranks.descending(np.ones(3), 6)
print(json.dumps(dict(hits=sum(ranks.descending.stats.cache_hits.values()), unkept=bool(compiling.UNKEPT))))
"""


def test_where_nothing_can_be_written_machine_code_is_read(tmp_path):
    "numba finds no folder in a container whose files can't be written, and gives up"
    copied(tmp_path)
    env = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    env.update(PYTHONPATH=str(tmp_path), NMF2_NUMBA_CACHE="1", PYTHONDONTWRITEBYTECODE="1")
    def run(*args):
        done = subprocess.run([sys.executable, "-c", READ_ONLY, *args], env=env, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    run()
    assert run("read-only") == dict(hits=1, unkept=True)
    assert run() == dict(hits=1, unkept=False)


def test_where_nothing_is_kept_it_is_said(monkeypatch, capsys):
    monkeypatch.setattr(compiling, "SAID", [])
    monkeypatch.setattr(compiling, "UNKEPT", [njit])
    monkeypatch.setattr(compiling, "NUMBA_CACHE", True)
    monkeypatch.setattr(compiling, "_SOURCES", "")                             # compile it anew
    with compiling.say_if_compiling(after=.1):
        njit(lambda x: x + 1)(3)
        time.sleep(.4)
    said = capsys.readouterr().err
    assert "each time" in said and "NUMBA_CACHE_DIR" in said and "once" not in said
    monkeypatch.setattr(compiling, "SAID", [])
    monkeypatch.setattr(compiling, "NUMBA_CACHE", False)
    with compiling.say_if_compiling(after=.1):
        njit(lambda x: x + 2)(3)
        time.sleep(.4)
    assert "each time: NMF2_NUMBA_CACHE is 0." in capsys.readouterr().err


def lost(a, b): return (a + b) - a


def quotient(a, b): return a/b


def test_a_caller_hands_nothing_down_to_what_it_calls_first():
    "What a function gives doesn't depend on who called it first"
    for function, options, args in [(lost, dict(fastmath=True), (1e16, 1.)), (quotient, dict(error_model="numpy"), (1., 0.))]:
        step = njit(function)
        @njit(**options)
        def caller(a, b): return step(a, b)
        with suppress(ZeroDivisionError): caller(*args)
        if function is lost: assert step(*args) == lost(*args) == 0 != 1 == njit(fastmath=True)(lost)(*args)
        else: pytest.raises(ZeroDivisionError, step, *args)


def test_what_a_notebook_defines_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "_SOURCES", "1111")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    def ours(x): return x + 1
    def own(x): return x + 1
    own.__module__ = "__main__"
    assert njit(ours)(1) == njit(own)(1) == 2
    (kept,) = [path.name for path in tmp_path.rglob("*.nbc")]
    assert ".ours-" in kept


LOOPS = """
import json, sys, warnings
import numpy as np
import scipy.sparse as sp
from nmf2 import instructions
from nmf2.compiling import njit
def fails(*args): raise NotImplementedError("no typed pointers")
def wrong(data, indices, table, strip, out): out[0] = 7
if len(sys.argv) > 1: instructions._every_instruction = dict(fails=fails, wrong=wrong)[sys.argv[1]]
from nmf2.kernels import GRAM, SOLVE, documents
@njit
def add(data, indices, p, end, table, factors):
    instructions.add_to_strip(data, indices, p, end, table, factors)
found = {}
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    for dtype in (np.float32, np.float64):
        X = sp.random(60, 40, .3, "csr", rng=np.random.default_rng(0)).astype(dtype)
        docs, rng, W = documents(X), np.random.default_rng(1), np.zeros((60, 2))
        S, G, slope = docs.sweep(rng.random((40, 2)), W)
        table, factors = rng.random((40, 8)).astype(dtype), rng.integers(-1, 2, 8).astype(dtype)
        for i in range(60): add(X.data, X.indices, np.int64(X.indptr[i]), np.int64(X.indptr[i+1]), table, factors)
        results = [W, S, G, slope, docs.read(rng.random((40, 2)), W, GRAM), table]
        results += [docs.times(rng.random((40, k))) for k in (2, 4, 7, 20, 33)]          # strips of every width
        found[np.dtype(dtype).name] = [np.asarray(x, float).ravel().tolist() for x in results]
print(json.dumps(dict(found=found, works=instructions.instructions_work(), said=[str(w.message) for w in said])))
"""


def loops(folder, *how, **environment):
    "What the loops of a copy of the package come to in a process of its own"
    env = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
    env.update(PYTHONPATH=str(folder), NMF2_NUMBA_CACHE="1", NMF2_PLAIN="0", NUMBA_DISABLE_JIT="0", PYTHONDONTWRITEBYTECODE="1")
    env.update(environment)
    done = subprocess.run([sys.executable, "-c", LOOPS, *how], env=env, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def assert_same(found, expected):
    for dtype, rtol in (("float32", 1e-5), ("float64", 1e-12)):
        for a, b in zip(found["found"][dtype], expected["found"][dtype], strict=True):
            assert_allclose(a, b, rtol=rtol, atol=rtol)


@pytest.fixture(scope="module")
def folder(tmp_path_factory): return copied(tmp_path_factory.mktemp("code"))


@pytest.fixture(scope="module")
def with_instructions(folder): return loops(folder)


@pytest.mark.slow
def test_plain_numba_gives_the_same_to_rounding(folder, with_instructions):
    plain = loops(folder, NMF2_PLAIN="1")            # in the same folder: neither takes the machine code of the other
    assert with_instructions["works"] and not plain["works"] and not with_instructions["said"] and not plain["said"]
    assert_same(plain, with_instructions)
    again = loops(folder)
    assert again["works"] and again["found"] == with_instructions["found"] != plain["found"]


@pytest.mark.slow
@pytest.mark.parametrize("how, reason", [("fails", "NotImplementedError: no typed pointers"), ("wrong", "other results")])
def test_where_the_instructions_fail_plain_numba_is_used(folder, with_instructions, how, reason):
    found = loops(folder, how)
    assert not found["works"]
    (said,) = found["said"]
    assert "plain numba" in said and "NMF2_PLAIN=1" in said and reason in said
    assert_same(found, with_instructions)


def test_machine_code_is_kept_apart_for_each_compiler_and_choice(tmp_path, monkeypatch):
    import llvmlite
    code = MachineCode(tmp_path, "m.f-1.py312", "aa")
    paths = {code.path("int64")}
    monkeypatch.setattr(compiling, "PLAIN", not compiling.PLAIN)
    paths.add(code.path("int64"))
    monkeypatch.setattr(llvmlite, "__version__", "99.0")
    paths.add(code.path("int64"))
    assert len(paths) == 3


def test_what_is_owed_is_kept_beside_the_machine_code(tmp_path, monkeypatch):
    from types import SimpleNamespace
    class Bare: _cache = SimpleNamespace()                                                     # has no file
    bare = Bare()
    monkeypatch.setattr(compiling, "OWED", {})
    assert [compiling.owed(bare, 3), compiling.owed(bare, 4)] == [3, 7]                        # in this process alone
    cache = SimpleNamespace(_cache_file=MachineCode(tmp_path, "function", "digest"))
    monkeypatch.setattr(compiling, "OWED", {})
    class Twin: _cache = cache
    twin = Twin()
    assert compiling.owed(twin, 5) == 5
    monkeypatch.setattr(compiling, "OWED", {})                                                 # another process
    assert compiling.owed(twin, 6) == 11
    for path in tmp_path.iterdir(): path.write_text("damaged")
    assert compiling.owed(twin, 1) == 12
    MachineCode(tmp_path, "function", "later").save("key", b"code")                            # sources have changed
    assert [path.name.split(".")[1] for path in tmp_path.iterdir()] == ["later"]


# ---- another process that compiles

def test_another_process_calls_the_function_and_ends_with_the_block(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(compiling, "NUMBA_CACHE", True)
    monkeypatch.setattr("numba.get_num_threads", lambda: 2)
    (tmp_path/"beside.py").write_text(f"""import time
def note(): open({str(tmp_path/"there")!r}, "w").write("done")
def wait(): time.sleep(100)
""")
    with compiling.compiled_beside("beside", "note") as process: assert process.wait(60) == 0
    assert (tmp_path/"there").read_text() == "done"
    with pytest.raises(KeyError), compiling.compiled_beside("beside", "wait") as process:
        assert process.poll() is None
        raise KeyError
    assert process.poll() is not None


@pytest.mark.parametrize("name, value", [("NUMBA_CACHE", False), ("sys.executable", "/usr/bin/blender"), ("sys.executable", None),
                                         ("numba.get_num_threads", lambda: 1), ("parent_process", lambda: "a parent")])
def test_no_other_process_where_it_would_be_of_no_use_or_in_the_way(monkeypatch, name, value):
    monkeypatch.setattr(compiling, "NUMBA_CACHE", True)
    monkeypatch.setattr("numba.get_num_threads", lambda: 2)
    with compiling.compiled_beside("json", "dumps") as process: assert process is not None      # fails, and nobody minds
    monkeypatch.setattr(name if "." in name else f"nmf2.compiling.{name}", value)
    with compiling.compiled_beside("json", "dumps") as process: assert process is None


def test_one_other_process_is_enough(monkeypatch):
    monkeypatch.setattr(compiling, "NUMBA_CACHE", True)
    monkeypatch.setattr("numba.get_num_threads", lambda: 2)
    with compiling.compiled_beside("json", "dumps") as outer, compiling.compiled_beside("json", "dumps") as inner:
        assert outer is not None and inner is None
    with compiling.compiled_beside("json", "dumps") as process: assert process is not None


def test_what_is_owed_is_no_machine_code(tmp_path):
    from types import SimpleNamespace
    file = MachineCode(tmp_path, "m.f-1.py312", "aa")
    class function: overloads, _cache = {}, SimpleNamespace(_cache_file=file)
    compiling.owed(function, 3)
    MachineCode(tmp_path, "m.f-1.py312", "bb").path("int64").write_bytes(b"of other sources")
    assert compiling.is_new(function) and file.is_empty()
    file.save("int64", b"code")
    assert not compiling.is_new(function) and not file.is_empty()
    compiling.OWED.pop(function, None)


FITS = """
import subprocess
from nmf2 import TopicTree, compiling
begun = []
class Popen(subprocess.Popen):
    def __init__(self, *args, **options):
        begun.append(args)
        super().__init__(*args, **options)
compiling.subprocess.Popen = Popen
compiling._may_begin = lambda: True
texts = ["red apple pie", "red apple tart", "blue sea wave", "blue sea tide"]*3
for _ in range(2):
    TopicTree(2).fit(texts)
    print(len(begun))
"""


@pytest.mark.slow
def test_only_a_first_fit_has_another_process(tmp_path):
    "First is a fit where nothing was ever cut in two; other machine code may be there, so that not all is made anew here"
    copied(tmp_path)
    for code in (tmp_path/"nmf2"/"__pycache__").glob("bisection._trials*.nbc"): code.unlink()
    env = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | dict(PYTHONPATH=str(tmp_path), NMF2_NUMBA_CACHE="1")
    def numbers():
        done = subprocess.run([sys.executable, "-c", FITS], capture_output=True, text=True, cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()
    assert numbers() == ["1", "1"]
    assert numbers() == ["0", "0"]                       # these texts are counted by scikit-learn each time


def test_python_runs_the_loops_where_numba_is_switched_off(tmp_path):
    program = "from nmf2.ranks import descending; import numpy as np; print(*descending(np.array([1., 3., 2.]), 3))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path,
                          env={**os.environ, "NUMBA_DISABLE_JIT": "1", "NMF2_NUMBA_CACHE": "1"})
    assert done.stdout.split() == ["1", "2", "0"], done.stderr


LATE = """
import json, sys
from nmf2 import TopicTree, nnls, scanning, topictree
themes = ["goal team hockey puck", "vote law court judge", "bread flour oven salt", "star planet orbit moon"]
texts = [theme.rsplit(" ", i%2)[0] + " " + "abcdefg"[i%7]*3 for theme in themes for i in range(300)]
scanning.PRICE = sys.modules["nmf2.counting"].COMPILED = 0
topictree.compile_late() if "late" in sys.argv else TopicTree(4).fit([f"{text} "*20 for text in texts])
print(json.dumps({f.__name__: sorted(map(str, f.signatures))
                  for f in (scanning.count_documents, scanning.add_all, nnls._nnls.part, nnls._leaders.part)}))
"""


def test_what_is_compiled_beside_is_what_a_fit_needs(tmp_path):
    def compiled(*args):
        done = subprocess.run([sys.executable, "-c", LATE, *args], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
    late, by_fit = compiled("late"), compiled()
    assert all(late.values()) and all(set(late[name]) <= set(by_fit[name]) for name in late), (late, by_fit)


# ---- Ctrl-C while something is compiled

PRESSED = """
import signal, threading
from numba.extending import overload
from nmf2.compiling import CAME, njit
signal.signal(signal.SIGINT, signal.default_int_handler)      # shells set it aside for background jobs
noted = []
def press(): pass
@overload(press)
def _():
    if not noted:
        signal.raise_signal(signal.SIGINT)
        noted.append(len(CAME))
    return lambda: 1
@njit
def inner(): return 2
@njit
def outer(): return press() + inner()
try: outer()
except KeyboardInterrupt: print("stopped, noted first:", *noted, inner.signatures)
found = []
thread = threading.Thread(target=lambda: found.append(outer()), daemon=True)
thread.start()
thread.join(60)
print("in another thread:", *found, signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


def test_ctrl_c_waits_until_no_lock_of_the_compiler_is_held(tmp_path):
    done = subprocess.run([sys.executable, "-c", PRESSED], capture_output=True, text=True, cwd=tmp_path,
                          env={**os.environ, "NMF2_NUMBA_CACHE": "0"})
    assert done.stdout.splitlines() == ["stopped, noted first: 1 []", "in another thread: 3 True"], done.stderr


def test_threads_stop_compiling_when_the_main_thread_is_interrupted(monkeypatch):
    monkeypatch.setattr(compiling, "CAME", [])
    begun = []
    @compiling._without_interrupt
    def compile(name):
        begun.append(name)
        if name == "called": return name
        compiling.CAME.append(2)                                         # as somebody would while this waits for a lock
        return compile("called")
    errors = []
    def work():
        try: compile("caller")
        except KeyboardInterrupt as e: errors.append(e)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert begun == ["caller"] and len(errors) == 1
    assert compile("called") == "called"                                 # what came before is over
