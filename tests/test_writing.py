"Files and folders appear whole or not at all: two writers at once, killed writers, full disks, links, permissions."
import errno
import os
import random
import stat
import subprocess
import sys
import time

import pytest

from nmf2 import writing
from nmf2.writing import AsRead, check_folder, whole_file, whole_folder

posix = pytest.mark.skipif(os.name == "nt", reason="signals, links and permissions of POSIX")
FILES = [f"{k}.txt" for k in range(5)]

WRITER = """
import sys, time
from pathlib import Path
from nmf2.writing import whole_file, whole_folder
def folder(out, who, force):
    with whole_folder(out, force=force == "force") as part:
        for k in range(5): (part/f"{k}.txt").write_text(who*5000)
def file(path, who, _):
    with whole_file(path, "w") as f:
        for k in range(50): f.write(who*1000)
print("ready", flush=True)
for line in sys.stdin:
    what, path, who, how, begin = line.split()
    time.sleep(max(0, float(begin) - time.time()))
    try: globals()[what](path, who, how)
    except FileExistsError as e: print("refused", e, flush=True)
    except ValueError as e: print("refused" if "has files in it" in str(e) else "wrong", e, flush=True)
    except BaseException as e: print("wrong", type(e).__name__, e, flush=True)
    else: print("done", flush=True)
"""

def writer():
    "A process that writes when told"
    one = subprocess.Popen([sys.executable, "-c", WRITER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert one.stdout.readline() == "ready\n"
    return one

def tell(process, *order): print(*order, file=process.stdin, flush=True)

def contents(folder):
    "What is in the files of a folder, by name; hidden folders are left out"
    return {p.name: p.read_text() for p in folder.iterdir() if p.is_file()} if folder.exists() else None

def hidden(folder): return [p.name for p in folder.rglob(".*")]

def race(pair, out, rng, how):
    "Two writers that begin within two milliseconds; what they say, and what is there"
    begin = time.time() + .004
    for who, process in zip("ab", pair): tell(process, "folder", out, who, how, begin + rng.random()*.002)
    return [process.stdout.readline().split(" ")[0].strip() for process in pair], contents(out)

# ---- two at once

@posix
@pytest.mark.parametrize("before", ["nothing", "empty", "files"])
def test_one_of_two_wins(tmp_path, before):
    pair, rng = [writer(), writer()], random.Random(0)
    for k in range(20):
        out = tmp_path/str(k)
        if before != "nothing": out.mkdir()
        if before == "files":
            for name in [*FILES, "notes.txt"]: (out/name).write_text("old")
        said, found = race(pair, out, rng, "force" if before == "files" else "-")
        assert "wrong" not in said and "done" in said, said
        if before == "files": assert found.pop("notes.txt") == "old"
        assert sorted(found) == FILES and len(set(found.values())) == 1
        winner = next(iter(found.values()))[0]
        if sorted(said) == ["done", "refused"]: assert said["ab".index(winner)] == "done"
        else: assert before == "files"                       # one after the other
        assert not hidden(tmp_path)
    for process in pair: process.kill()

@posix
def test_two_writers_of_a_file(tmp_path):
    pair, rng = [writer(), writer()], random.Random(0)
    for k in range(40):
        path = tmp_path/str(k % 3)
        (tmp_path/f".{path.name}-0123456789abcdef.part").write_text("of a killed run")
        begin = time.time() + .004
        for who, process in zip("ab", pair): tell(process, "file", path, who, "-", begin + rng.random()*.001)
        assert [process.stdout.readline() for process in pair] == ["done\n"]*2
        assert path.read_text() in ("a"*50_000, "b"*50_000) and not hidden(tmp_path)
    for process in pair: process.kill()

def test_the_second_is_told_before_its_work(tmp_path):
    if writing.fcntl is None: pytest.skip("no locks")
    with whole_folder(tmp_path/"out") as part:
        (part/"a").write_text("first")
        with pytest.raises(FileExistsError, match="another run is writing there"): check_folder(tmp_path/"out")
    assert contents(tmp_path/"out") == dict(a="first")

@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("before", ["nothing", "empty", "files"])
def test_files_that_came_meanwhile_stay(tmp_path, force, before):
    out = tmp_path/"out"
    if before != "nothing": out.mkdir()
    if before == "files":
        (out/"a").write_text("old")
        if not force: return
    with pytest.raises(FileExistsError, match="in the meantime"), whole_folder(out, force=force) as part:
        (part/"a").write_text("second")
        (part/"b").write_text("second")
        out.mkdir(exist_ok=True)
        (out/"a").write_text("the first")
    assert contents(out) == dict(a="the first") and not hidden(tmp_path)

def test_notes_made_during_a_forced_run_do_no_harm(tmp_path):
    (tmp_path/"a").write_text("old")
    with whole_folder(tmp_path, force=True) as part:
        (part/"a").write_text("new")
        (tmp_path/"notes").write_text("mine")
    assert contents(tmp_path) == dict(a="new", notes="mine")

@pytest.mark.parametrize("error", [None, OSError(errno.ENOLCK, "no locks")])
def test_without_locks(tmp_path, monkeypatch, error):
    def flock(*given): raise error
    if error is None: monkeypatch.setattr(writing, "fcntl", None)
    elif writing.fcntl is not None: monkeypatch.setattr(writing.fcntl, "flock", flock)
    out = tmp_path/"out"
    (tmp_path/".out-0123456789abcdef.part").mkdir()          # left there, and no harm
    for text in ("new", "newer"):
        with whole_folder(out, force=True) as part: (part/"a").write_text(text)
        with whole_file(tmp_path/"b", "w") as f: f.write(text)
    assert contents(out) == dict(a="newer") and (tmp_path/"b").read_text() == "newer"
    (out/".nmf2-moving").mkdir()
    with pytest.raises(FileExistsError, match="remove .*moving"), whole_folder(out, force=True) as part:
        (part/"a").write_text("x")
    assert contents(out) == dict(a="newer")
    (out/".nmf2-moving").rmdir()
    first, second = whole_folder(out, force=True), whole_folder(out, force=True)
    for who in (first, second): (who.__enter__()/"a").write_text("newest")
    first.__exit__(None, None, None)
    with pytest.raises(FileExistsError, match="in the meantime"): second.__exit__(None, None, None)
    assert [p.name for p in out.iterdir()] == ["a"]

# ---- killed, interrupted, failed

@posix
@pytest.mark.parametrize("what", ["file", "folder"])
def test_killed_writers(tmp_path, what):
    rng = random.Random(1)
    path = tmp_path/"out"
    for k in range(8):
        process = writer()
        tell(process, what, path, "a", "force", 0)
        time.sleep(rng.random()*.004)
        process.kill()
        process.wait()
        if what == "file": assert not path.exists() or path.read_text() == "a"*50_000
        elif path.exists() and ".nmf2-old" not in hidden(path):
            assert contents(path) in ({}, dict.fromkeys(FILES, "a"*5000))
    if what == "file":
        with whole_file(path, "w") as f: f.write("new")
        assert path.read_text() == "new"
    else:
        with whole_folder(path, force=True) as part:
            for name in FILES: (part/name).write_text("new")
        assert contents(path) == {name: "new" for name in FILES}
    assert not hidden(tmp_path)

@posix
def test_leftovers_go_and_what_is_being_written_stays(tmp_path):
    (tmp_path/".tree-0123456789abcdef.part").write_text("of a killed run")
    (tmp_path/".tree-notes.part").write_text("of somebody else")
    with whole_file(tmp_path/"tree", "w") as first:
        first.write("first")
        with whole_file(tmp_path/"tree", "w") as second: second.write("second")
        assert (tmp_path/"tree").read_text() == "second"
    assert contents(tmp_path) == {"tree": "first", ".tree-notes.part": "of somebody else"}

@posix
def test_a_killed_move_is_completed(tmp_path):
    out = tmp_path/"out"
    for home in (out/".nmf2-0123456789abcdef.part", tmp_path/".out-0123456789abcdef.part"):
        (home/".nmf2-old").mkdir(parents=True)
        for name in "cd": (home/name).write_text("new")
        (home/".nmf2-old"/"c").write_text("old")
        for name, text in dict(a="new", b="new", d="old", notes="mine").items(): (out/name).write_text(text)
        with pytest.raises(ValueError, match="has files in it"): check_folder(out)
        assert contents(out) == dict(a="new", b="new", c="new", d="new", notes="mine") and not hidden(tmp_path)

@posix
def test_leftovers_of_folders(tmp_path):
    out = tmp_path/"out"
    (tmp_path/".out-0123456789abcdef.part").mkdir()
    with whole_folder(out) as part: (part/"a").write_text("new")
    (out/".nmf2-0123456789abcdef.part").mkdir()
    (out/".nmf2-0123456789abcdef.part"/"a").write_text("of a killed run")
    with whole_folder(out, force=True) as part: (part/"a").write_text("newer")
    assert contents(out) == dict(a="newer") and not hidden(tmp_path)

def test_a_folder_with_leftovers_alone_is_empty(tmp_path):
    (tmp_path/".nmf2-0123456789abcdef.part").mkdir()
    with whole_folder(tmp_path) as part: (part/"a").write_text("new")
    assert (tmp_path/"a").read_text() == "new"

@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_nothing_is_left_of_what_fails(tmp_path, error):
    (tmp_path/"a").write_text("old")
    with pytest.raises(error), whole_file(tmp_path/"a") as f:
        f.write(b"half")
        raise error
    with pytest.raises(error), whole_folder(tmp_path/"new") as part:
        (part/"a").write_text("half")
        raise error
    assert contents(tmp_path) == dict(a="old")

def test_a_move_that_fails_is_undone(tmp_path, monkeypatch):
    for name in "abc": (tmp_path/name).write_text("old")
    moved = []
    def move(name, here, there, move=writing._move):
        moved.append(name)
        if len(moved) == 6: raise KeyboardInterrupt
        move(name, here, there)
    monkeypatch.setattr(writing, "_move", move)
    with pytest.raises(KeyboardInterrupt), whole_folder(tmp_path, force=True) as part:
        for name in "abcd": (part/name).write_text("new")
    assert contents(tmp_path) == dict(a="old", b="old", c="old")

def test_a_folder_in_the_way(tmp_path):
    (tmp_path/"a").write_text("old")
    (tmp_path/"b").mkdir()
    with pytest.raises(IsADirectoryError, match="b is a folder"), whole_folder(tmp_path, force=True) as part:
        for name in "ab": (part/name).write_text("new")
    assert (tmp_path/"a").read_text() == "old" and (tmp_path/"b").is_dir() and not hidden(tmp_path)

FULL = """
import resource, sys
from nmf2.writing import whole_file, whole_folder
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for how in "file", "folder":
    try:
        if how == "file":
            with whole_file(sys.argv[1]) as f: f.write(b"new"*1000)
        else:
            with whole_folder(sys.argv[1] + "s") as part: (part/"a").write_text("new"*1000)
    except OSError as e: print(e.errno, e.filename)
"""

@posix
def test_full_disk(tmp_path):
    (tmp_path/"a").write_text("old")
    said = subprocess.run([sys.executable, "-c", FULL, tmp_path/"a"], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [f"{errno.EFBIG} {tmp_path/'a'}", f"{errno.EFBIG} {tmp_path/'as'}"]
    assert contents(tmp_path) == dict(a="old")

@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
def test_full_device():
    with pytest.raises(OSError, match="/dev/full") as error, whole_file("/dev/full") as f: f.write(b"new")
    assert error.value.errno == errno.ENOSPC and stat.S_ISCHR(os.stat("/dev/full").st_mode)

# ---- permissions and links

@posix
def test_permissions(tmp_path):
    before = os.umask(0o027)
    try:
        with whole_file(tmp_path/"a") as f: f.write(b"new")
        with whole_folder(tmp_path/"out") as part: (part/"a").write_text("new")
    finally: os.umask(before)
    assert stat.S_IMODE((tmp_path/"a").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path/"out").stat().st_mode) == 0o750
    (tmp_path/"a").chmod(0o606)
    with whole_file(tmp_path/"a") as f: f.write(b"newer")
    assert stat.S_IMODE((tmp_path/"a").stat().st_mode) == 0o606 and (tmp_path/"a").read_text() == "newer"

@posix
def test_links_stay(tmp_path):
    (tmp_path/"real").mkdir()
    for name, where in [("near", "file"), ("far", "real/file"), ("further", "far"), ("out", "real/out")]:
        (tmp_path/name).symlink_to(where)
    (tmp_path/"file").write_text("old")
    for name in ("near", "further"):
        with whole_file(tmp_path/name, "w") as f: f.write("new")
        assert (tmp_path/name).is_symlink()
    assert (tmp_path/"file").read_text() == (tmp_path/"real"/"file").read_text() == "new"
    with whole_folder(tmp_path/"out") as part: (part/"a").write_text("new")
    assert (tmp_path/"out").is_symlink() and contents(tmp_path/"real"/"out") == dict(a="new")
    (tmp_path/"loop").symlink_to("loop")
    with pytest.raises(OSError, match="loop"), whole_file(tmp_path/"loop"): pass

def test_paths_in_bytes(tmp_path):
    with whole_file(os.fsencode(tmp_path/"a"), "w") as f: f.write("new")
    assert (tmp_path/"a").read_text() == "new"
    for path in (None, 5):
        with pytest.raises(TypeError), whole_file(path): pass


@posix
def test_pipes_are_written_to(tmp_path):
    code = "from nmf2.writing import whole_file\nwith whole_file('/dev/stdout', 'w') as f: f.write('through')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "through"

def test_a_folder_stays_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    was = os.stat(".")
    with whole_folder(".") as part: (part/"a").write_text("new")
    assert os.path.samestat(os.stat(tmp_path), was) and os.listdir(".") == ["a"]

@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_write_protected(tmp_path):
    (tmp_path/"a").write_text("old")
    (tmp_path/"a").chmod(0o444)
    with pytest.raises(PermissionError, match="write-protected"), whole_file(tmp_path/"a"): pass
    tmp_path.chmod(0o555)
    with pytest.raises(PermissionError, match="b'?$"), whole_file(tmp_path/"b"): pass
    tmp_path.chmod(0o755)

@pytest.mark.parametrize("name", ["a"*250, "日"*80, ".hidden", "a b[1]*?"])
def test_names(tmp_path, name):
    for path in (tmp_path/name, str(tmp_path/name)):
        with whole_file(path, "w") as f: f.write("new")
    assert contents(tmp_path) == {name: "new"}
    with whole_folder(tmp_path/"x"/name) as part: (part/"a").write_text("new")
    assert contents(tmp_path/"x"/name) == dict(a="new")

def test_wrong_places(tmp_path):
    (tmp_path/"a").write_text("old")
    places = {IsADirectoryError: tmp_path, FileNotFoundError: tmp_path/"no"/"b", NotADirectoryError: tmp_path/"a"/"b"}
    for error, path in places.items():
        with pytest.raises(error), whole_file(path): pass
    for path in (tmp_path, tmp_path/"a", tmp_path/"a"/"b"):
        with pytest.raises(ValueError, match="--out"), whole_folder(path, called="--out"): pass
    assert contents(tmp_path) == dict(a="old")

# ---- what was read, and is written again

@pytest.mark.parametrize("how", ["replaced", "written to", "removed", "made"])
def test_a_file_that_somebody_else_changed_stays(tmp_path, how):
    path = tmp_path/"m.nmf2"
    if how != "made": path.write_text("old")
    noted = AsRead(path)
    with pytest.raises(FileExistsError, match="m.nmf2 was changed by somebody else in the meantime; that stays, and nothing was written: run it again"):
        with whole_file(noted, "w") as f:
            f.write("mine")
            if how == "removed": path.unlink()
            elif how == "written to": path.write_text("yours, too")
            else:
                with whole_file(path, "w") as other: other.write("yours")
    assert contents(tmp_path) == {"replaced": {"m.nmf2": "yours"}, "written to": {"m.nmf2": "yours, too"}, "removed": {}, "made": {"m.nmf2": "yours"}}[how]
    assert hidden(tmp_path) == []

@pytest.mark.parametrize("there", [False, True])
def test_who_noted_a_file_may_write_it_again_and_again(tmp_path, there):
    path = tmp_path/"m.nmf2"
    if there: path.write_text("old")
    noted = AsRead(path)
    for text in "ab":
        with whole_file(noted, "w") as f: f.write(text)
    assert contents(tmp_path) == {"m.nmf2": "b"} and hidden(tmp_path) == [] and os.fspath(noted) == str(noted) == str(path)

@posix
def test_who_replaces_a_file_keeps_others_from_it(tmp_path):
    path = tmp_path/"m.nmf2"
    path.write_text("old")
    noted = AsRead(path)
    handle, held = writing._lock(path)
    with pytest.raises(FileExistsError, match="in the meantime"):
        with whole_file(noted, "w") as f: f.write("mine")
    os.close(handle)
    assert held and contents(tmp_path) == {"m.nmf2": "old"} and hidden(tmp_path) == []

def test_scratch_where_nobody_may_look(tmp_path, monkeypatch):
    """A folder for temporary files may be one to which all write and that nobody lists"""
    def hidden_from_all(path): raise PermissionError(errno.EACCES, "Permission denied", path)
    monkeypatch.setattr(writing.os, "listdir", hidden_from_all)
    folder, remove = writing.own_folder(tmp_path)
    assert os.path.dirname(folder) == str(tmp_path) and os.path.isdir(folder)
    remove()
    assert not os.path.exists(folder)
