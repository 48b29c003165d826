"Programs that are copies are as new ones: see programs.py"
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from programs import python

pytestmark = [pytest.mark.slow, pytest.mark.skipif(python() == [sys.executable], reason="processes aren't copied here")]

SEEN = """
import json, os, sys, signal
print(json.dumps([sys.argv, sys.stdin.read(), os.getcwd(), os.environ.get("SEEN"), sys.path[0], __name__, __spec__ and __spec__.name,
                  [[s.encoding, s.errors, s.line_buffering] for s in (sys.stdin, sys.stdout, sys.stderr)],
                  signal.getsignal(signal.SIGINT) is signal.default_int_handler, os.umask(0)]))
print("err", file=sys.stderr)
"""
ENDS = ["pass", "raise SystemExit(3)", "raise SystemExit('no')", "1/0", "import os; print('a', flush=True); os.abort()", "import os; os._exit(7)",
        "import atexit; atexit.register(print, 'last')", "import threading, time; threading.Timer(.1, print, ['late']).start()",
        "import os, sys; os.close(1); print('gone')", "raise KeyboardInterrupt", "import os; os.kill(os.getpid(), 9)"]

def both(*argv, **options):
    "What a new program does, and a copy: exit status, output, and the last line of errors"
    for begin in ([sys.executable], python()):
        done = subprocess.run([*begin, *argv], capture_output=True, text=True, **options)
        yield done.returncode, done.stdout, done.stderr.splitlines()[-1:]

def test_copies_are_copies():
    code = "import sys; print('sklearn.cluster' in sys.modules and 'nmf2.topictree' in sys.modules)"
    assert subprocess.run([*python(), "-c", code], capture_output=True, text=True).stdout == "True\n"

@pytest.mark.parametrize("way", ["-c", "file", "-m"])
def test_a_copy_sees_what_a_new_program_sees(tmp_path, way):
    (tmp_path/"seen.py").write_text(SEEN)
    argv = {"-c": ["-c", SEEN], "file": [str(tmp_path/"seen.py")], "-m": ["-m", "seen"]}[way]
    env = {**os.environ, "SEEN": "ü", "PYTHONIOENCODING": "ascii:replace" if way == "-m" else "utf-8"}
    new, copy = both(*argv, "one", "two words", input="given\n", cwd=tmp_path, env=env)
    assert new == copy and json.loads(new[1])[1] == "given\n"

@pytest.mark.parametrize("code", ENDS)
def test_a_copy_ends_as_a_new_program_ends(code):
    new, copy = both("-c", code)
    assert new == copy

def test_nobody_reads_what_a_copy_says():
    for begin in ([sys.executable], python()):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([*begin, "-c", "print('gone')"], stdout=writing, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": ""})
        os.close(writing)
        assert done.returncode == 120 and "BrokenPipeError" in done.stderr

@pytest.mark.parametrize("number, how", [(signal.SIGINT, -2), (signal.SIGTERM, -15), (signal.SIGKILL, -9)])
def test_a_copy_gets_signals(tmp_path, number, how):
    code = f"import os, time; open({str(tmp_path/'pid')!r}, 'w').write(str(os.getpid())); print('begun', flush=True); time.sleep(60)"
    job = subprocess.Popen([*python(), "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert job.stdout.readline() == "begun\n"
    job.send_signal(number)
    assert job.communicate(timeout=30)[0] == "" and job.returncode == how
    with pytest.raises(ProcessLookupError):                                # nothing is left of it
        for _ in range(300): os.kill(int((tmp_path/"pid").read_text()), 0), time.sleep(.1)

@pytest.mark.parametrize("asks", [False, True])
def test_signals_that_are_ignored(asks):
    "As in what a shell starts with &; a program may ask for them after all"
    code = f"""import signal, time
if {asks}: signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    print("begun", flush=True)
    time.sleep(2)
except KeyboardInterrupt: print("stopped")
"""
    for begin in ([sys.executable], python()):
        job = subprocess.Popen([*begin, "-c", code], stdout=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        assert job.stdout.readline() == "begun\n"
        job.send_signal(signal.SIGINT)
        assert job.communicate(timeout=300)[0] == "stopped\n"*asks and job.returncode == 0

def test_other_settings_need_a_new_program():
    code = "import sys; print('sklearn.cluster' in sys.modules)"
    done = subprocess.run([*python(), "-c", code], capture_output=True, text=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"})
    assert done.stdout == "False\n"
