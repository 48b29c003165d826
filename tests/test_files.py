"""Files that are pipes, bombs or damaged: nothing is lost, nothing fills the memory, and every error names the file."""
import bz2
import gzip
import io
import json
import lzma
import math
import os
import subprocess
import sys
import tarfile
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from programs import python
from nmf2 import files
from nmf2.data import read
from nmf2.files import brief, fault, listing, look, as_text, opened
from nmf2.formats import READERS, guess_format
from nmf2.matlab import matlab_arrays
from nmf2.scale_texts import text_sources

ROOT = Path(__file__).resolve().parent.parent
pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
X = np.array([[2., 0., 1.], [0., 4., 0.], [1., 1., 3.]])
STORY = '<REUTERS NEWID="{}">\n<TOPICS><D>cocoa</D></TOPICS>\n<TEXT><TITLE>A</TITLE><BODY>Showers</BODY></TEXT>\n</REUTERS>\n'


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(name, content):
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return Path(name)


def saved(save, *what, **options):
    "What a function that saves to a file writes there"
    stream = io.BytesIO()
    save(stream, *what, **options)
    return stream.getvalue()


def archive(*members):
    "A tar archive of (name, contents) pairs, or of `TarInfo` without contents"
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for member in members:
            if isinstance(member, tarfile.TarInfo): tar.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                tar.addfile(info, io.BytesIO(member[1].encode()))
    return stream.getvalue()


def refused(path, *words, **options):
    "Reading fails with one short line that names the file and has these words"
    with pytest.raises((ValueError, OSError)) as e: read(path, **options)
    message = str(e.value)
    assert not isinstance(e.value, UnicodeError)
    for word in (str(path), *words): assert word in message, message
    assert "\n" not in message and len(message) < 800


# pipes

VALID = {
    "a.jsonl": "".join(json.dumps({"id": i, "text": f"ball and goal {i}"}) + "\n" for i in range(3000)),
    "list.json": json.dumps([{"text": f"ball {i}"} for i in range(3000)]),
    "a.csv": "text,label\n" + "".join(f"ball {i},x\n" for i in range(3000)),
    "latin.txt": "".join(f"un café {i}\n" for i in range(3000)).encode("latin-1"),
    "a.txt": "".join(f"ball {i}\n" for i in range(30000)),
    "a.sgm": "".join(map(STORY.format, range(300))),
    "a.tar.gz": gzip.compress(archive(("a.sgm", STORY.format(1)), ("b.sgm", STORY.format(2)))),
    "c.mat": "3 3 6\n1 2 3 1\n2 4\n1 1 2 1 3 3\n",
    "docword.txt": "3\n3\n6\n1 1 2\n1 3 1\n2 2 4\n3 1 1\n3 2 1\n3 3 3\n",
    "m.mtx": "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1\n",
    "a.svm": "1 1:2 3:1\n2 2:4\n"*500,
    "m5.mat": saved(scipy.io.savemat, dict(fea=sp.csc_matrix(X), gnd=[[1], [2], [1]]), do_compression=True),
    "s.npz": saved(sp.save_npz, sp.csr_matrix(X)),
    "a.jsonl.gz": gzip.compress(b'{"text": "ball"}\n'*3000), "a.jsonl.xz": lzma.compress(b'{"text": "ball"}\n'*3000)}
OPTIONS = {"m.mtx": dict(orient="documents x terms")}


def same(a, b):
    assert a.texts == b.texts and list(a.ids) == list(b.ids)
    assert (a.labels is None) == (b.labels is None) and (a.labels is None or (a.labels == b.labels).all())
    if a.texts is None: assert a.X.shape == b.X.shape and (a.X != b.X).nnz == 0


def through_a_pipe(name, content, use):
    "What a function makes of a pipe into which the content is written in two parts"
    os.mkfifo(name)
    def write():
        with open(name, "wb", buffering=0) as f:
            f.write(content[:3])
            f.write(content[3:])
    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    found = use(Path(name))
    writer.join(10)
    assert not writer.is_alive()
    return found


@pipes
@pytest.mark.filterwarnings("ignore:.*Windows-1252")
@pytest.mark.parametrize("name", VALID)
def test_pipes_of_every_format(here, name):
    options = OPTIONS.get(name, {})
    content = VALID[name] if isinstance(VALID[name], bytes) else VALID[name].encode()
    put(name, content)
    Path("pipes").mkdir()
    whole = read(name, **options)
    same(through_a_pipe(f"pipes/{name}", content, lambda path: read(path, **options)), whole)
    Path("pipes", name).unlink()
    read_it = lambda path: READERS[guess_format(path)](path, **options)
    found = through_a_pipe(f"pipes/{name}", content, read_it)
    assert len(found["X"].toarray() if "X" in found else found["texts"]) == len(whole)
    assert not files.WAITING


@pytest.mark.slow
@pipes
@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="needs /dev/fd")
@pytest.mark.parametrize("name", ["a.jsonl", "list.json", "a.txt", "a.svm", "a.sgm", "a.tar.gz", "docword.txt", "s.npz", "m5.mat", "a.jsonl.xz"])
def test_standard_input(here, name):
    content = VALID[name] if isinstance(VALID[name], bytes) else VALID[name].encode()
    code = "from nmf2.data import read; print(len(read('/dev/stdin')))"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*python(), "-c", code], input=content, capture_output=True, env=env)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(read(put(name, content)))


def test_a_source_is_gone_through_again(here):
    with opened(put("a.txt", "one\ntwo\n"*100_000)) as source:
        assert source.peek(3) == b"one" and next(iter(source.lines())) == (1, b"one\n")
        assert sum(1 for _ in source.lines()) == 200_000 == sum(1 for _ in source.lines())
        assert source.read() == b"one\ntwo\n"*100_000 == source.stream().read()
        assert opened(source).__enter__() is source
    assert look("a.txt", 3) == b"one"


@pipes
def test_a_pipe_that_was_looked_into_has_the_limits_it_is_opened_with(here):
    def opened_with(limits):
        def use(path):
            assert look(path, 2) == b"\0\0"
            with opened(path, limits=limits) as source: return len(source.read())
        return use
    bomb = gzip.compress(bytes(2**26))
    assert through_a_pipe("trusted", bomb, opened_with(False)) == 2**26
    with pytest.raises(ValueError, match="unpacks to more than"): through_a_pipe("not", bomb, opened_with(True))


@pipes
def test_a_pipe_that_breaks_when_it_is_looked_into_is_not_taken_for_an_empty_file(here):
    packed = gzip.compress(b"one line\n"*1000)
    def use(path):
        with pytest.raises(ValueError, match="damaged"): look(path, 2**20)
        assert not files.WAITING
    through_a_pipe("broken", packed[:-10], use)


@pytest.mark.parametrize("name, n", [("a.jsonl", None), ("a.jsonl.xz", None)])
def test_progress_goes_by_bytes_of_the_file(here, capsys, name, n):
    put(name, VALID[name])
    read(name, verbose=True)
    size = Path(name).stat().st_size
    assert f"Reading {name}: 100%" in capsys.readouterr().err
    told = []
    with opened(name, tick=told.append) as source: source.read()
    assert sum(told) == size
    Path("docs").mkdir()
    put("docs/1.txt", "ball")
    read("docs", verbose=True)
    assert "4/4 bytes" in capsys.readouterr().err


@pipes
def test_progress_of_a_pipe(here, capsys):
    through_a_pipe("a.jsonl", VALID["a.jsonl"].encode(), lambda path: read(path, verbose=True))
    assert "Reading a.jsonl" in capsys.readouterr().err


# limits

MILLION = 2**20
BOMBS = {
    "zeros.jsonl.gz": lambda: gzip.compress(bytes(60*MILLION), 1), "lines.txt.gz": lambda: gzip.compress(b"a\n"*4*MILLION, 1),
    "lines.jsonl.xz": lambda: lzma.compress(b'{"text": "a"}\n'*(5*MILLION//4), preset=0), "list.json.gz": lambda: gzip.compress(b"[" + b'{"a":0},'*4*MILLION, 1),
    "a.csv.gz": lambda: gzip.compress(b"text,b\n" + b"a,"*15*MILLION, 1), "s.svm.gz": lambda: gzip.compress(b"1 " + b"1:1 "*7*MILLION, 1),
    "c.mat.gz": lambda: gzip.compress(b"9 9 9\n" + b"1 1 "*7*MILLION, 1), "docword.gz": lambda: gzip.compress(b"9\n9\n9\n" + b"1 1 1\n"*5*MILLION, 1),
    "ones.npz": lambda: saved(np.savez_compressed, X=np.ones((900, 30_000), np.uint8)), "zeros.npz": lambda: saved(np.savez_compressed, X=np.zeros((900, 5000))),
    "ones.mat": lambda: saved(scipy.io.savemat, dict(fea=np.ones((900, 30_000), np.uint8)), do_compression=True),
    "zeros.mat": lambda: saved(scipy.io.savemat, dict(fea=np.zeros((3000, 5000))), do_compression=True),
    "t.tar.gz": lambda: gzip.compress(archive(("a.sgm", "a"*40*MILLION)), 1), "names.npz": lambda: saved(np.savez_compressed, X=X, vocab=["a"]*(3*MILLION)),
    "returns.csv.gz": lambda: gzip.compress(b"text\n" + b"a\r"*15*MILLION, 1), "words.mat": lambda: packed_mat(dict(fea=X, terms=np.full(7*MILLION, "a"))),
    "cells.mat": lambda: packed_mat(dict(fea=X, terms=np.full(40_000, "", dtype=object))), "old.mat.gz": lambda: gzip.compress(OLD_WORDS + bytes(30*MILLION), 1)}
OLD_WORDS = np.array([0, 3, 3, 0, 4], "<i4").tobytes() + b"fea\0" + X.tobytes() + np.array([51, 15*MILLION, 2, 0, 6], "<i4").tobytes() + b"terms\0"
SOUND = {"sound.svm": "1 1:1\n-1 2:1\n", "docword.sound.txt": "2\n2\n2\n1 1 1\n2 2 1\n", "sound.mat": "2 2 2\n1 1\n2 1\n", "sound.txt": "a ball\na goal\n"}
def packed_mat(what): return saved(scipy.io.savemat, what, do_compression=True)
MEASURE = """
import json, os, sys, warnings
from nmf2.data import read
import nmf2.files, nmf2.formats, pandas, scipy.io     # what reading imports is there before, and counts in none of them
def memory(which): return int(next(line for line in open("/proc/self/status") if which in line).split()[1])
for name in json.loads(sys.argv[1]): read(name)         # and machine code is made, or loaded
for name in sys.argv[2:]:
    sys.stdout.flush()
    if os.fork(): os.wait()
    else:                                             # a process of its own, whose peak is that of this file
        said, before = None, memory("VmRSS")
        if name in ("lines.jsonl.xz", "docword.gz"): nmf2.files.memory_limit = lambda size: 2**27    # a quarter: reached sooner
        try: read(name)
        except (ValueError, OSError) as e: said = str(e)
        print(json.dumps([name, said, memory("VmHWM") - before]), flush=True)
        os._exit(0)
"""


@pytest.fixture(scope="module")
def exploded(tmp_path_factory):
    "What is said of each bomb, and how much more memory its process had at most"
    folder = tmp_path_factory.mktemp("bombs")
    for name, make in BOMBS.items():
        content = make()
        assert len(content) < 10**6
        (folder/name).write_bytes(content)
    for name, text in SOUND.items(): (folder/name).write_text(text)
    done = subprocess.run([*python(), "-c", MEASURE, json.dumps(list(SOUND)), *BOMBS], cwd=folder, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    return {name: told for name, *told in map(json.loads, done.stdout.splitlines())}


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
@pytest.mark.parametrize("name", BOMBS)
def test_bombs(exploded, name):
    message, more = exploded[name]
    assert name in message and more < (160_000 if name in ("lines.jsonl.xz", "docword.gz") else 560_000), more
    assert "limits=False" in message or name == "cells.mat" and "terms" in message


@pytest.mark.slow
def test_limits_are_lifted(here):
    path = put("lines.txt.gz", gzip.compress(b"ball and goal " + b"x"*40*MILLION))
    refused(path, "limits=False")
    assert len(read(path, limits=False).texts[0]) == 14 + 40*MILLION
    path = put("a.svm", "1 2000000:1\n1 1:1\n")
    refused(path, "2,000,000 columns", "18 bytes", "limits=False")
    assert read(path, limits=False).X.shape == (2, 2_000_000)


@pytest.mark.parametrize("text", ["BZhello is a text", "BZh9 is one, too"])
def test_a_text_that_begins_as_packed_ones_do(here, text):
    put("a.txt.gz", gzip.compress(f"{text}\n".encode()))
    assert read("a.txt.gz", format="lines").texts == [text]


@pytest.mark.parametrize("inner", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("outer", [gzip.compress, bz2.compress, lzma.compress])
def test_what_is_packed_twice_is_told(here, inner, outer):
    """As text it would be a document of odd letters."""
    lines = b'{"text": "puck"}\n'*50_000
    for name in ("a.jsonl.gz", "a.csv.gz", "a.txt"):
        put(name, outer(inner(lines)))
        for ask in (read, guess_format) if name == "a.txt" else (read, text_sources):
            with pytest.raises(ValueError, match=f"{name}: packed twice: .* Unpack it once"): ask(name)
        with files.unpacked_ahead(name), pytest.raises(ValueError, match="packed twice"): read(name)
    with zipfile.ZipFile("b.zip", "w") as archive: archive.writestr("b.csv.gz", inner(b"id,text\n1,a\n"))
    for ask in (read, text_sources):
        with pytest.raises(ValueError, match="b.zip: packed twice"): ask("b.zip")
    with files.passing(put("c", outer(b""))) as stream: assert stream.read() == b""
    source = files.Source(put("d", outer(inner(lines))))
    for _ in range(2):
        with pytest.raises(ValueError, match="packed twice"): source.read()
    source.close()


def test_streams_go_on_when_all_is_read(here):
    """What a table is tried with first has all bytes; whoever goes on by lines has begun before."""
    lines = [f"{k} {'x'*100}\n".encode() for k in range(40_000)]
    for name, content in (("a", b"".join(lines)), ("a.gz", gzip.compress(b"".join(lines)))):
        with opened(put(name, content)) as source:
            streams = [source.stream() for _ in range(3)]
            begun = [[stream.readline() for _ in range(n)] for stream, n in zip(streams, (0, 3, 20_000))]
            whole = source.read()
            assert whole == b"".join(lines) and source.read() is whole and source.chunk(0) is whole
            for stream, some in zip([*streams, source.stream()], [*begun, []]): assert some + list(stream) == lines


def test_many_small_bombs_in_a_folder(here):
    Path("docs").mkdir()
    for i in range(3): put(f"docs/{i}.txt.gz", gzip.compress(b"a"*20*MILLION))
    refused("docs", "limits=False")
    assert len(read("docs", limits=False)) == 3


@pytest.mark.slow
def test_honest_files_are_within_limits(here):
    rng = np.random.default_rng(0)
    log = "".join(f"2024-01-05 10:{i % 60:02} INFO worker {i % 7} took {t} ms\n" for i, t in enumerate(rng.integers(0, 9999, 200_000)))
    for name, packed in [("log.txt.gz", gzip.compress(log.encode())), ("log.txt.xz", lzma.compress(log.encode(), preset=1))]:
        assert len(read(put(name, packed))) == 200_000
    assert read(put("hashed.svm", f"1 {2**20}:1\n2 1:1\n")).X.shape == (2, 2**20)     # scikit-learn's HashingVectorizer
    assert read(put("docword.txt", "1000\n1000000\n1\n1 1 1\n")).X.shape == (1000, 10**6)


@pytest.mark.parametrize("name, content, words", [
    ("a.svm", "1 1000000000000:1\n", ["1,000,000,000,000 columns", "18 bytes"]), ("a.svm", "1e400:1\n", ["line 1", "inf"]), ("a.svm", "nan:1\n", ["line 1", "nan"]),
    ("m.mtx", "%%MatrixMarket matrix coordinate real general\n3 1000000000000 1\n1 1 1\n", ["1,000,000,000,000 columns"]),
    ("m.mtx", "%%MatrixMarket matrix array real general\n1000000 1000000\n1\n", ["1000000000000 entries announced, 1 found"]),
    ("c.mat", "1 1000000000000 1\n1 1\n", ["1,000,000,000,000 columns"]), ("c.mat", "1000000000000 1 1\n1 1\n", ["1 of 1000000000000 documents"]),
    ("docword.txt", "300000000\n5\n1\n1 1 1\n", ["300,000,000 rows", "20 bytes"]), ("docword.txt", "9223372036854775808\n5\n1\n1 1 1\n", ["9,223,372,036,854,775,808"]),
    ("a.svm", "1 " + "9"*5000 + ":1\n", ["inf"]), ("docword.txt", "9"*5000 + "\n1\n1\n1 1 1\n", ["line 1"]), ("c.mat", "1 1 1\n1 1_0\n", ["'1_0'"]),
    ("docword.txt", "1\n1\n2\n1 1 1e308\n1 1 1e308\n", ["add up"]),
    ("a.jsonl", "[" + "["*100_000, ["nested"]), ("a.jsonl", '{"text": "x", "a": ' + "9"*5000 + "}", []), ("a.jsonl", '{"text": ' + "[1]"*1, ["line 1"]),
    ("a.jsonl", '{"text": "x", "id": "\\ud800"}', ["line 1", "'id'"]), ("a.jsonl", '{"text": "x", "id": [1]}', ["line 1", "'id'"]),
    ("a.jsonl", json.dumps({"text": "x", "labels": [1]*100}), ["100 levels"]), ("a.jsonl", json.dumps({"x"*10**6: "a", "b": "c"}), ["text_field"]),
    ("a.csv", "text,b\n" + "x"*10**6 + ",y,z\n", ["line 2"])])
def test_odd_endings_of_text(here, name, content, words):
    options = dict(orient="documents x terms") if name == "m.mtx" else {}
    if len(content) > 5000 and name == "a.jsonl" and "9999" in content and sys.version_info < (3, 10, 7): pytest.skip("no limit to digits")
    refused(put(name, content), *words, **options)


def test_halves_of_letters_are_replaced(here):
    with pytest.warns(UserWarning, match="halves of letters"): c = read(put("a.jsonl", '{"text": "cut \\ud83d", "label": "\\udc80"}'))
    assert c.texts == ["cut \ufffd"] and c.labels.tolist() == [["\ufffd"]]
    assert as_text("\ud83d\ude00 \ud83d") == "\U0001f600 \ufffd"


@pytest.mark.parametrize("encoding", ["klingon", "rot13", "hex", 5, "a\0b"])
def test_encodings_that_are_none(here, encoding):
    put("a.txt", "one\n")
    Path("docs").mkdir()
    put("docs/a.txt", "one")
    for path in ("a.txt", "docs"):
        with pytest.raises(ValueError, match="encoding must be one that Python knows"): read(path, encoding=encoding)


def test_utf16_that_is_none(here):
    refused(put("a.txt", b"\xff\xfea\0b"), "utf-16", format="lines")


def test_marks_at_the_start_of_utf8(here):
    "Some editors put three bytes before everything"
    for name, content, options in [("a", '{"text": "ball"}\n{"text": "vote"}\n', {}), ("a.json", '[{"text": "ball"}, {"text": "vote"}]', {}),
                                   ("a", "1 1:2\n2 2:4\n", {}), ("c.mat", "2 2 2\n1 1\n2 1\n", {}), ("docword.txt", "2\n2\n1\n1 1 1\n", {}),
                                   ("m.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n", OPTIONS["m.mtx"])]:
        plain, marked = read(put(name, content), **options), read(put(name, b"\xef\xbb\xbf" + content.encode()), **options)
        same(plain, marked)
        assert len(marked) == 2


def test_utf32(here):
    for name, content in [("a.csv", "text,id\nb\u00e4ll,1\nvote,2\n"), ("a.txt", "b\u00e4ll\nvote\n")]:
        assert read(put(name, content.encode("utf-32")), format=name[2:].replace("txt", "lines")).texts == ["b\u00e4ll", "vote"]
    Path("docs").mkdir()
    put("docs/a.txt", "b\u00e4ll".encode("utf-32"))
    assert read("docs").texts == ["b\u00e4ll"]


@pytest.mark.parametrize("encoding, content", [("utf-7", b"+2AA- ball\n"), ("unicode_escape", rb"\ud800 ball")])
def test_encodings_with_halves_of_letters(here, encoding, content):
    put("a.txt", content)
    Path("docs").mkdir()
    put("docs/a.txt", content)
    for path in ("a.txt", "docs"): assert read(path, encoding=encoding).texts[0].strip() == "\ufffd ball"


@pytest.mark.parametrize("name", ["a", "a.txt", "a.txt.gz", "docs.xyz"])
def test_empty_files(here, name):
    refused(put(name, gzip.compress(b"") if name.endswith("gz") else b""), "empty")


def test_returns_in_tables_of_numbers(here):
    "A carriage return ends no line, neither where entries are read nor where lines are counted"
    head = "%%MatrixMarket matrix coordinate real general\n% a\rb\n"
    options = OPTIONS["m.mtx"]
    assert read(put("m.mtx", head + "2 2 1\n1 1 5\n"), **options).X.toarray().tolist() == [[5, 0], [0, 0]]
    refused(put("m.mtx", head + "2 2 2\n1 1 5\n"), "2 entries announced, 1 found", **options)
    refused(put("docword.txt", "3\n3\n2\n1 1 1\r9 9 9\n"), "line 4")
    assert read(put("docword.txt", "3\r\n3\r\n2\r\n1 1 1\r\n3 3 9\r\n")).X.sum() == 10


def test_files_of_words(here):
    put("a.svm", "1 1:2\n2 2:4\n")
    put("empty.txt", "")
    refused("a.svm", "from 1 to 0", vocab="empty.txt")
    for vocab in (5, ["ball", "vote"]):
        with pytest.raises(ValueError, match="vocab must be in a file, one a line: give its path"): read("a.svm", vocab=vocab)


def test_names_of_files_that_are_no_text(here):
    if sys.platform != "linux": pytest.skip("other systems have no such names")
    os.makedirs(b"docs/\xff")
    Path(os.fsdecode(b"docs/\xff/b.txt")).write_text("ball")
    c = read("docs")
    assert list(c.ids) == ["\\xff/b.txt"] and c.labels.tolist() == [["\\xff"]]


# archives

def member(name, kind, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


@pytest.mark.parametrize("kind, link", [(tarfile.SYMTYPE, "a.sgm"), (tarfile.SYMTYPE, "/etc/passwd"), (tarfile.LNKTYPE, "a.sgm"), (tarfile.LNKTYPE, "../gone.sgm"),
                                        (tarfile.DIRTYPE, ""), (tarfile.FIFOTYPE, ""), (tarfile.CHRTYPE, "")])
def test_what_is_no_file_in_an_archive(here, kind, link):
    refused(put("a.tar", archive(("0.sgm", STORY.format(1)), member("a.sgm", kind, link))), "a.sgm", "where a file should be")


def test_what_an_archive_holds_beside_stories(here):
    with pytest.warns(UserWarning, match=r"2 files read, left alone 1 not \.sgm \(b\.sgm\.gz\)"):
        c = read(put("a.tar", archive(("A.SGM", STORY.format(1)), ("b.sgm.gz", "packed"), ("c.sgm", STORY.format(3)))))
    assert list(c.ids) == ["1", "3"]


def no_threads(): return not [thread for thread in threading.enumerate() if thread.name.startswith("nmf2-unpack")]

@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
@pytest.mark.parametrize("size", [0, 1, files.CHUNK - 1, files.CHUNK, files.CHUNK + 1, 3*files.CHUNK, 3*files.CHUNK + 5])
def test_what_a_thread_unpacks_comes_whole_and_in_order(here, pack, size):
    content = np.random.default_rng(size).bytes(size)
    put("a.z", pack(content))
    with opened("a.z") as source:
        assert source.peek(9) == content[:9] and source.stream().read() == source.stream().read() == content
        assert source.read() == content
        assert (source._thread is None) == (size < files.CHUNK)
    put("b.z", pack(content))
    with opened("b.z") as source: source.peek(9)            # closed while a thread is at the next bytes, or was
    assert no_threads()


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
@pytest.mark.parametrize("size", [0, 1, files.CHUNK, 3*files.CHUNK + 5, (files.BEFOREHAND + 2)*files.CHUNK])
def test_what_is_unpacked_before_its_reader_comes(here, pack, size):
    content = np.repeat(np.random.default_rng(size).integers(0, 256, 1 + size//200, np.uint8), 200)[:size].tobytes()    # bz2 likes runs
    path, ticks = put("a.z", pack(content)), []
    with files.unpacked_ahead(path):
        waiting = files.WAITING[str(path)]
        assert look(path, 9) == content[:9] and files.WAITING[str(path)] is waiting
        with opened(path, False, ticks.append) as source: assert source is waiting and source.read() == content
        assert not files.WAITING and no_threads() and sum(ticks) == path.stat().st_size
        with opened(path, False) as source: assert source is not waiting and source.read() == content
    with files.unpacked_ahead(path): pass                        # nobody comes
    assert not files.WAITING and no_threads()


def test_what_is_unpacked_ahead_has_the_limits_and_faults_of_its_reader(here):
    for name, content, told in [("bomb", gzip.compress(bytes(2**26)), "unpacks to more than"), ("half", gzip.compress(b"one line\n"*1000)[:-10], "damaged")]:
        path = put(name, content)
        with files.unpacked_ahead(path), pytest.raises(ValueError, match=told), opened(path) as source: source.read()
        assert not files.WAITING and no_threads()
    with files.unpacked_ahead(path), pytest.raises(ValueError, match="damaged"): look(path, 2**20)


def test_progress_is_told_once_though_a_thread_is_reading(here):
    path, ticks = put("a.txt", "0123456789"*3), []
    packed = files._Packed(path, None)
    packed.read(10)                          # before anybody watches
    packed.tick = ticks.append
    packed.read(10)                          # by a thread, between that line and the next
    packed.report()
    while packed.read(10): pass
    assert sum(ticks) == packed.n_read == path.stat().st_size
    packed.close()

def test_a_home_that_nobody_has(here):
    assert files.expanded("~") == Path.home() and files.expanded(Path("a")/"b") == Path("a/b")
    assert files.expanded("~nobody_at_all/a.txt") == Path("~nobody_at_all/a.txt")
    with pytest.raises(FileNotFoundError, match="there is no such file"): read("~nobody_at_all/a.txt")

@pipes
def test_what_is_not_unpacked_ahead(here):
    os.mkfifo("pipe")
    for path in (put("plain.txt", "one\n"), put("empty", b""), Path("pipe"), here, here/"missing", os.devnull):
        with files.unpacked_ahead(path): assert not files.WAITING and no_threads()


@pipes
def test_what_comes_through_a_pipe_is_unpacked_when_somebody_asks(here):
    content = np.random.default_rng(0).bytes(3*files.CHUNK)
    def use(path):
        with opened(path) as source: return source.read(), source._thread
    assert through_a_pipe("a.z", gzip.compress(content), use) == (content, None)


def test_damaged_archives(here):
    whole = archive(("a.sgm", STORY.format(1)), ("b.sgm", STORY.format(2)))
    header = whole.index(b"b.sgm")
    for bad in [whole[:700], whole[:2*1024], whole[:header + 100] + b"x" + whole[header + 101:], whole[:124] + b"\xff"*12 + whole[136:]]:
        refused(put("a.tar", bad), "damaged or cut short")
    assert len(read(put("a.tar", whole))) == 2


def test_reuters_in_linear_time(here):
    from time import process_time
    for many in ("<", "<BODY", "<D>", "<TITLE>", "<REUTERS", "&#1", "&lt"):
        for frame in ('<REUTERS NEWID="1"><TEXT>{}</TEXT></REUTERS>', '<REUTERS NEWID="1"><TOPICS>{}</TOPICS></REUTERS>'):
            path = put("a.sgm", frame.format(many*300_000))
            start = process_time()
            try: read(path)
            except ValueError: pass
            assert process_time() - start < 10, many           # minutes if it were quadratic
    c = read(put("a.sgm", STORY.format(1).replace("Showers", "&#" + "9"*5000 + "; x &lt; y <b> z")))
    assert c.texts[0].endswith("; x < y <b> z")


# folders

def test_mixed_folders(here):
    for name in ["docs/1.txt", "docs/2.txt", "docs/3.txt", "docs/deep/a.sgm"]:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        put(name, STORY.format(1))
    refused("docs", "1 file", "deep/a.sgm", "format='reuters'", "format='folder'")
    with pytest.warns(UserWarning, match="1 file read, left alone 3 not .sgm .1.txt, 2.txt, 3.txt"): c = read("docs", format="reuters")
    assert len(c) == 1 and len(read("docs", format="folder")) == 4
    for i in range(3): put(f"docs/deep/b{i}.sgm", STORY.format(10 + i))
    with pytest.warns(UserWarning, match="4 files read, left alone 3 not .sgm"): assert len(read("docs")) == 4


def test_what_is_left_alone_in_a_folder(here):
    Path("docs/.git").mkdir(parents=True)
    for name in ["docs/1.txt", "docs/.hidden", "docs/.git/config"]: put(name, "text")
    if hasattr(os, "mkfifo"):
        os.mkfifo("docs/pipe")
        os.symlink("nowhere", "docs/broken")
        os.symlink("..", "docs/up", target_is_directory=True)
    with pytest.warns(UserWarning) as caught: assert len(read("docs")) == 1
    said = str(caught[0].message)
    assert "1 file read" in said and "2 hidden (.git/, .hidden)" in said
    if hasattr(os, "mkfifo"): assert "2 not a file (broken, pipe)" in said and "1 a link to a folder (up/)" in said


def test_a_file_as_a_folder_and_the_other_way_round(here):
    from nmf2.formats import read_folder
    put("a.txt", "one\ntwo\n")
    with pytest.raises(NotADirectoryError, match="a.txt"): read_folder("a.txt")
    corpus = read("a.txt", format="folder")
    assert corpus.texts == ["one\ntwo\n"] and corpus.ids.tolist() == ["a.txt"]
    Path("docs").mkdir()
    with pytest.raises(ValueError, match="docs: no file in this folder ends in .txt, .text, .log"): read("docs", format="lines")
    put("docs/a.txt", "one\ntwo\n"), put("docs/b.log", "three\n")
    corpus = read("docs", format="lines")
    assert corpus.texts == ["one", "two", "three"] and corpus.ids.tolist() == ["a.txt:1", "a.txt:2", "b.log:1"]
    with pytest.raises(IsADirectoryError if os.name != "nt" else OSError, match="docs"): read("docs", format="svmlight")


# containers

def test_matlab_against_scipy():
    words = np.array([["ball"], ["vote"], [""]], dtype=object)
    rng = np.random.default_rng(0)
    for kind in (np.float64, np.float32, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, bool):
        full = (rng.random((4, 3))*5).astype(kind)
        for options in (dict(), dict(do_compression=True), *([dict(format="4")] if kind in (np.float64, np.uint8) else [])):
            old = options.get("format") == "4"
            what = dict(full=full, sparse=sp.csc_matrix(full.astype(float)), text="ball", rows=["ab", "c"], empty=np.zeros((0, 3)), scalar=3.5)
            if not old: what |= dict(words=words, struct=dict(a=1), nested=np.array([[words]], dtype=object), cube=np.ones((2, 2, 2)))
            data = saved(scipy.io.savemat, what, **options)
            mine, theirs = matlab_arrays(data), scipy.io.loadmat(io.BytesIO(data))
            assert set(mine) == set(what) - {"struct"}
            for name in ("full", "empty", "scalar", *([] if old else ["cube"])): np.testing.assert_array_equal(mine[name], theirs[name])
            assert (mine["sparse"].toarray() == theirs["sparse"].toarray()).all()
            assert [r.strip() for r in mine["rows"]] == ["ab", "c"] and list(mine["text"]) == ["ball"]
            if not old: assert [str(w[0]) if len(w) else "" for w in mine["words"].ravel()] == ["ball", "vote", ""]


def test_matlab_of_other_machines(here):
    big = b"MATLAB 5.0".ljust(124) + b"\x01\x00MI"
    def element(kind, data): return kind.to_bytes(4, "big") + len(data).to_bytes(4, "big") + data + bytes(-len(data) % 8)
    matrix = element(6, bytes([0, 0, 0, 6]) + bytes(4)) + element(5, b"\0\0\0\x02\0\0\0\x01") + element(1, b"fea") + element(3, b"\x01\0\0\x02")
    assert matlab_arrays(big + element(14, matrix))["fea"].tolist() == [[256], [2]]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["5", "packed", "4"])
def test_damaged_matlab_never_crashes(here, kind):
    cells = np.array([["ball"], ["vote"], ["net"]], dtype=object)
    what = dict(A=sp.csc_matrix(X), gnd=[[1], [2], [3]]) | ({} if kind == "4" else dict(terms=cells))
    data = saved(scipy.io.savemat, what, format="4" if kind == "4" else "5", do_compression=kind == "packed")
    rng, n = np.random.default_rng(0), 0
    for i in range(600):
        bad = bytearray(data)
        for at in rng.integers(0, len(bad), rng.integers(1, 4)): bad[at] = rng.choice([0, 1, 127, 128, 255])
        try: read(put("a.mat", bytes(bad)))
        except ValueError as e:
            n += 1
            assert "a.mat" in str(e)
    assert n > 100


def test_rows_of_text_in_matlab(here):
    texts = np.array(["ball", "vo\U0001f600", "", "net "])
    for options in (dict(), dict(do_compression=True)):
        assert [row.rstrip() for row in matlab_arrays(saved(scipy.io.savemat, dict(t=texts), **options))["t"].tolist()] == ["ball", "vo\U0001f600", "", "net"]
    old = saved(scipy.io.savemat, dict(t=np.array(["ball", "vote"])), format="4")
    assert matlab_arrays(old)["t"].tolist() == ["ball", "vote"]
    none = np.array([1, 2**31 - 1, 0, 0, 2], "<i4").tobytes() + b"t\0"                # as many rows as can be, without letters
    assert matlab_arrays(none)["t"].tolist() == [""]


def test_versions_of_matlab(here):
    for head in [b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\0IM", b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM", b"anything".ljust(124) + b"\x00\x02IM"]:
        refused(put("a.mat", head + bytes(400)), "7.3", "-v7", format="matlab")
    refused(put("a.mat", b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\0IM"), "header")
    refused(put("a.mat", b"MATLAB"), "cut short")


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "dia"])
def test_sparse_layouts(here, kind):
    sp.save_npz("a.npz", sp.csr_matrix(X).asformat(kind))
    np.testing.assert_array_equal(read("a.npz").X.toarray(), X)
    if kind in ("csr", "csc", "bsr"):
        whole = dict(np.load("a.npz"))
        for name, change in [("indices", lambda a: a + 1000), ("indices", lambda a: -a - 1), ("indices", lambda a: a[:-1]), ("indices", lambda a: a + .5),
                             ("indptr", lambda a: a[::-1].copy()), ("indptr", lambda a: a*0 + [0, 5, *[0]*(len(a) - 2)]), ("indptr", lambda a: a*1000), ("indptr", lambda a: a[:-1]),
                             ("indptr", lambda a: -a), ("data", lambda a: a[:-1]), ("shape", lambda a: a*0), ("shape", lambda a: a*10**12), ("shape", lambda a: a[:1]),
                             ("shape", lambda a: np.int64(3)), ("data", lambda a: np.float64(1)), ("format", lambda a: np.array("xyz")), ("data", lambda a: a.astype(complex))]:
            np.savez("a.npz", **whole | {name: change(whole[name])})
            refused("a.npz")
    if kind == "bsr":
        np.savez("a.npz", **whole | {"data": np.zeros((len(whole["data"]), 0, 0))})
        refused("a.npz")


@pytest.mark.parametrize("change", [dict(labels=np.int64(1)), dict(vocab=np.array("a")), dict(ids=np.array([b"\xff", b"a", b"b"])), dict(texts=np.array("a")), dict(labels=np.zeros((3, 1, 1))),
                                    dict(texts=np.array([b"\xff"]*3)), dict(X=np.float64(1)), dict(X=np.zeros((2, 2, 2))), dict(labels=np.zeros((3, 100), int)), dict(X=np.array([{}])),
                                    dict(labels=[0, 1, 2], label_names=np.zeros(3, complex)), dict(vocab=np.zeros(3, "M8[s]"))])
def test_odd_arrays(here, change):
    np.savez("a.npz", **{"X": X, **change})
    refused("a.npz")


def npy(header, data=b""):
    head = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\1\0" + len(head).to_bytes(2, "little") + head + data


@pytest.mark.parametrize("member", [
    npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000)}"), npy("{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,)}"),
    npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 3)}"), npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", b"cos\nsystem"), npy("("*90), b"", b"\x93NUMPY\3\0",
    npy("{'descr': '<U1', 'fortran_order': False, 'shape': (1,)}", b"\xff\xff\xff\xff")])
def test_odd_headers(here, member):
    with zipfile.ZipFile("a.npz", "w") as file: file.writestr("X.npy", member)
    refused("a.npz")
    with zipfile.ZipFile("a.npz", "w") as file:
        file.writestr("X.npy", saved(np.save, X))
        file.writestr("ids.npy", member)
    refused("a.npz")


def zip_of(name, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(name, "w", method) as file:
        for member, data in members.items(): file.writestr(member, data)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_of_one_file_is_that_file_packed(here, method):
    texts = [f"ball {i}" for i in range(20_000)]
    table, lines = "id,text\n" + "".join(f"{i},{text}\n" for i, text in enumerate(texts)), "".join(f'{{"text": "{text}"}}\n' for text in texts)
    zip_of("archive.ZIP", {"reviews/": "", "reviews/Reviews.csv": table, "__MACOSX/._Reviews.csv": "x"}, method)
    zip_of("other.csv.zip", {"a.jsonl": lines}, method)
    read_whole = read("archive.ZIP", verbose=True)
    assert read_whole.texts == read("other.csv.zip").texts == texts and read_whole.name == "Reviews" and read_whole.reading["format"] == "csv"


def test_zips_that_are_no_single_file(here):
    zip_of("two.zip", {"a.txt": "one", "b.txt": "two"})
    zip_of("none.zip", {"a/": ""})
    zip_of("a.csv.zip", {"a.csv": "text\n" + "ball game\n"*5000})
    whole = Path("a.csv.zip").read_bytes()
    Path("cut.zip").write_bytes(whole[:-30])
    locked = bytearray(whole)
    for start in (b"PK\3\4", b"PK\1\2"): locked[whole.index(start) + (6 if start == b"PK\3\4" else 8)] |= 1
    Path("locked.csv.zip").write_bytes(locked)
    for name in ("two.zip", "none.zip", "cut.zip", "locked.csv.zip"):
        with pytest.raises(ValueError, match=f"^{name}: (an archive, not of one file alone that can be read: unpack it|can't tell)"): read(name)
    Path("bad.csv.zip").write_bytes(whole[:60] + b"?" + whole[61:])
    with pytest.raises(ValueError, match="^bad.csv.zip, line .*damaged or cut short"): read("bad.csv.zip")
    zip_of("bomb.zip", {"a.txt": "a\n"*2**25})
    with pytest.raises(ValueError, match="^bomb.zip: .*limits=False"): read("bomb.zip")
    Path("folder").mkdir()
    zip_of("folder/a.jsonl.zip", {"a.jsonl": '{"text": "one"}\n'})
    zip_of("folder/b.zip", {"b.jsonl": '{"text": "two"}\n'})
    zip_of("folder/c.zip", {"a.txt": "one", "b.txt": "two"})
    with pytest.warns(UserWarning, match="2 files read, left alone 1 of another kind .c.zip"): assert read("folder").texts == ["one", "two"]


def test_zip_files_of_other_kinds(here):
    with zipfile.ZipFile("a.npz", "w", zipfile.ZIP_LZMA) as file: file.writestr("X.npy", saved(np.save, X))
    refused("a.npz", "packed in a way")
    locked = bytearray(saved(np.savez, X=X))
    for mark in (b"PK\3\4", b"PK\1\2"): locked[locked.index(mark) + (6 if mark[2] == 3 else 8)] |= 1
    refused(put("a.npz", bytes(locked)), "encrypted")


# messages

def test_messages_are_one_short_line():
    message = str(fault("a", 3, "x\ny " + "word "*10_000))
    assert message.startswith("a, line 3: x y word") and "\n" not in message and len(message) < 700
    assert len(brief("x"*10**6)) < 50 and brief([1]*10**6) == "a list of 1000000" and len(listing(["\n"*10**6]*10**4)) < 2000
    assert math.isclose(len(listing(map(str, range(3)))), 7)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text")
def test_names_of_any_bytes_stay_apart(here):
    names = [b"\xff.txt", b"\\xff.txt", b"\\\\xff.txt", b"\\\xff.txt", b"\xfe.txt", b"a\\b.txt", "\u00ff.txt".encode()]
    os.mkdir("letters")
    for i, name in enumerate(names): Path(os.fsdecode(b"letters/" + name)).write_text(f"text {i}")
    found = READERS["folder"]("letters")
    assert len(set(found["ids"])) == len(names) == len(found["texts"])
    assert {r"\xff.txt", r"\\xff.txt", r"\xfe.txt", r"a\b.txt", "\u00ff.txt"} < set(found["ids"])
