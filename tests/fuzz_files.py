"""Damaged files of every format of `nmf2.formats`: mutations of bytes, containers that are packed again, and what is read"""
import bz2
import functools
import gzip
import io
import json
import lzma
import os
import re
import struct
import tarfile
import threading
import warnings
import zipfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.io
import scipy.sparse as sp
from fuzz_checks import Refusal, attempt, pick, require

# ---- mutations of bytes: each takes the bytes and a random generator, and gives other bytes

def place(data, rng): return int(rng.integers(len(data) + 1))

def part(data, rng):
    "Begin and end of a part, mostly a short one"
    start = place(data, rng)
    return start, min(len(data), start + int(2**rng.uniform(0, 10)))

def insert(data, rng, what):
    i = place(data, rng)
    return data[:i] + what + data[i:]

def many(rng, unit, size=300_000): return unit*int(2**rng.uniform(0, np.log2(max(2, size/len(unit)))))

def flip(data, rng):
    data = bytearray(data or b"\0")
    for i in rng.integers(len(data)*8, size=int(rng.integers(1, 5))): data[i//8] ^= 1 << i % 8
    return bytes(data)

def delete(data, rng):
    i, j = part(data, rng)
    return data[:i] + data[j:]

def double(data, rng):
    i, j = part(data, rng)
    return insert(data, rng, data[i:j]*int(rng.integers(1, 20)))

def swap(data, rng):
    (i, j), (k, l) = sorted([part(data, rng), part(data, rng)])
    return data[:i] + data[k:l] + data[min(j, k):k] + data[i:j] + data[max(l, j):]

def truncate(data, rng): return data[:place(data, rng)]

def pieces(split):
    "A mutation that deletes, doubles or swaps what stands between matches of an expression"
    def mutate(data, rng):
        found = re.split(split, data)
        i, j, what = (int(n) for n in rng.integers([len(found), len(found), 4]))
        if what == 0: del found[i]
        elif what == 1: found[i:i+1] = [found[i]]*2
        elif what == 2: found[i:i+1] = [found[i]]*min(3000, 1 + 100_000//(len(found[i]) + 1))
        else: found[i], found[j] = found[j], found[i]
        return b"".join(found)
    return mutate

NUMBERS = [b"0", b"-1", b"2147483648", b"9223372036854775807", b"9223372036854775808", b"1000000000000", b"300000000", b"1e308",
           b"1e-310", b"nan", b"inf", b"-inf", b"1e400", b"9"*5000, b"0." + b"3"*5000, b"0.5", b"1_0", b"0x10", b"-0", b"\xd9\xa3", b""]

def replaced(expression, others, first=None):
    "A mutation that puts one of `others` in the place of a match, one of the `first` few matches if that is given"
    def mutate(data, rng):
        found = list(re.finditer(expression, data))[:first]
        if not found: return insert(data, rng, pick(rng, others))
        match = pick(rng, found)
        return data[:match.start()] + pick(rng, others) + data[match.end():]
    return mutate

def inserted(units):
    "A mutation that puts one of `units` somewhere, once or many times"
    def mutate(data, rng): return insert(data, rng, pick(rng, units) if rng.random() < .5 else many(rng, pick(rng, units)))
    return mutate

ODD = [b"\0", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", "\u2028\u0085".encode(), b"\x1c", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\r",
       b"\r\n", b"\n", b"\x1b[31m", b" ", b"a", b"\xe9", b"#", b":", b"%", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"PK\x03\x04"]
JSON = [b"NaN", b"-Infinity", b"1e999", b'"\\ud800"', b"null", b"{}", b"[]", b"[[]]", b"true", b"9"*5000, b'"a" "b"', b'{"text":1}',
        b'["",null]', b'"' + b"a"*100_000 + b'"', b"["*100_000, b"["*50_000 + b"]"*50_000, b'{"a":'*100_000, b'"\\u0000\\n"']
TAGS = [b"<", b"<BODY>", b"<BODY", b"</BODY>", b"<D>", b"<D></D>", b"<REUTERS ", b"</REUTERS>", b'<REUTERS NEWID="7">', b"<TITLE>", b"<TITLE",
        b"<TEXT>", b"</TEXT>", b"<TOPICS>", b"<!--", b'NEWID="', b"&#x110000;", b"&#55296;", b"&#" + b"9"*5000 + b";", b"&amp"]
BYTES = [flip, delete, double, swap, truncate, inserted(ODD)]
TEXT = BYTES + [pieces(rb"(\s+)"), pieces(rb"(\n)"), replaced(rb"[-+]?\d+(?:\.\d+)?", NUMBERS), replaced(rb"[-+]?\d+(?:\.\d+)?", NUMBERS, 4)]

def mutated(data, mutations, rng, size=1_000_000):
    "The bytes after one mutation or some, at most `size` of them"
    with np.errstate(all="ignore"):
        for _ in range(pick(rng, [1, 1, 1, 2, 3])): data = pick(rng, mutations)(data, rng)[:size]
    return data

# ---- containers: what is inside is mutated and packed again, with checksums that are right

def zipped(members, rng=None):
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if rng is None or rng.random() < .7 else zipfile.ZIP_STORED) as z:
        warnings.simplefilter("ignore")                                                # of names that are there twice
        for name, data in members: z.writestr(name, data)
    return out.getvalue()

def members_of(data):
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as z: return [(name, z.read(name)) for name in z.namelist()]
    except Exception: return []             # damaged by an earlier mutation

def npy(array):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array))
    return out.getvalue()

SHAPES = [b"()", b"(0,)", b"(-1,)", b"(1000000000000,)", b"(300000000,)", b"(9223372036854775808,)", b"(1, 0)", b"(100000, 100000)",
          b"(0, 9223372036854775807)", b"2", b"None", b"(1.5,)", b"(True,)", b"(2,)*9"]
TYPES = [b"'|O'", b"'<f4'", b"'>f8'", b"'<c16'", b"'<U3'", b"'|S4'", b"'<M8[s]'", b"'|b1'", b"'<i8'", b"'>u2'", b"'|V8'", b"'<f2'", b"'<U400000000'",
         b"[('a', '<i4')]", b"'|S0'", b"'zz'", b"1"]

def npy_header(data, rng):
    "Another shape or type in the header of an array, its length put right"
    if len(data) < 12 or data[:6] != b"\x93NUMPY": return flip(data, rng)
    size = struct.unpack("<H", data[8:10])[0]
    way = pick(rng, [replaced(rb"\([^)]*\)", SHAPES), replaced(rb"'[<>|][^']*'", TYPES), replaced(rb"False", [b"True", b"None", b"{"]), *BYTES])
    header = way(data[10:10+size], rng).rstrip()[:60_000]
    header += b" "*(-(len(header) + 11) % 64) + b"\n"
    return data[:8] + struct.pack("<H", len(header)) + header + data[10+size:]

def odd_arrays():
    "Arrays that nobody expects"
    return [np.array(3.), np.array("text"), np.zeros(0), np.zeros((0, 0)), np.zeros((2, 2, 2)), np.array([1, "a", None], object), np.array(["", "\ud7ff"]),
            np.array([b"\xff", b"a"]), np.array([1j]), np.array([np.nan, -1]), np.array([2**63], np.uint64), np.array(["NaT"], "M8[s]"),
            np.array([(1, 2.)], "i4,f8"), np.array(-1), np.array([[1, 2]]), np.array("csr"), np.array(b"csc"), np.array("bsr"), np.array("dia"),
            np.array([10**12, 10**12]), np.array([-1, 2]), np.array([3e8, 2]), np.array([[np.inf]]), np.array([True]), np.array([1, 0, 5, 2], np.int32)]

def npy_values(data, rng):
    "Other values in an array"
    try: a = np.load(io.BytesIO(data)).copy()
    except Exception: return flip(data, rng)
    if a.dtype.kind not in "iuf" or not a.size: return npy(pick(rng, odd_arrays()))
    values = [0, -1, 1, 2**31 - 1, 2**31, 10**12, 2**62, len(a.ravel())] + ([np.nan, np.inf, 1e308, 1e-310, .5] if a.dtype.kind == "f" else [])
    a.ravel()[rng.integers(a.size, size=int(rng.integers(1, 3)))] = np.array(pick(rng, values)).astype(a.dtype)
    return npy(pick(rng, [a, a, a, a[::-1], a[:-1], a[None], a.astype(float), a.astype(np.int8), a.astype(np.uint64), a.ravel()]))

def in_zip(data, rng):
    "A member of a .npz changed, added, renamed or left out"
    members = members_of(data)
    if not members: return flip(data, rng)
    i = int(rng.integers(len(members)))
    name, inside = members[i]
    way = pick(rng, ["change"]*6 + ["odd"]*3 + ["rename", "drop", "twice", "bomb"])
    if way == "change": members[i] = name, pick(rng, [npy_header, npy_values, npy_values, *BYTES])(inside, rng)
    if way == "odd": members[i] = name, npy(pick(rng, odd_arrays()))
    if way == "rename": members[i] = pick(rng, ["X.npy", "format.npy", "labels.npy", "vocab.npy", "../x.npy", "x", "", "texts.npy", "ids.npy"]), inside
    if way == "drop": del members[i]
    if way == "twice": members.insert(0, members[int(rng.integers(len(members)))])
    if way == "bomb" and rng.random() < .1: return zip_bomb(name)
    return zipped(members, rng)

@functools.cache
def zip_bomb(name):
    "An archive with an array of zeros of 900 MB"
    out, block = io.BytesIO(), bytes(10**6)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, dict(descr="<f8", fortran_order=False, shape=(11250, 10000)))
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z, z.open(name, "w") as f:
        f.write(header.getvalue())
        for _ in range(900): f.write(block)
    return out.getvalue()

WORDS = [0, -1, 1, 2, 5, 6, 7, 9, 14, 15, 16, 2**16, 2**31 - 1, -2**31, 10**6, 256, 0x40000, 127]

def words_of_four(data, rng):
    "Another whole number in the place of four bytes: sizes, types and indices in a MATLAB file are such"
    data = bytearray(data)
    if len(data) < 8: return bytes(data)
    for _ in range(pick(rng, [1, 1, 2])):
        i = 4*int(rng.integers(min(len(data)//4, 40) if rng.random() < .5 else len(data)//4))
        struct.pack_into("<i", data, i, pick(rng, WORDS))
    return bytes(data)

def in_matlab(data, rng):
    "The elements of a MATLAB file changed; compressed ones are unpacked before and packed again"
    head, rest, out = data[:128], data[128:], []
    if rng.random() < .1 or len(data) < 136: return words_of_four(head, rng) + rest
    while len(rest) >= 8:
        kind, size = struct.unpack("<II", rest[:8])
        element, rest = rest[8:8+size], rest[8+size:]
        try: element = zlib.decompress(element) if kind == 15 else element
        except zlib.error: pass
        if rng.random() < .6: element = mutated(element, [words_of_four]*6 + BYTES, rng)
        if kind == 15: element = zlib.compress(element)
        out.append(struct.pack("<II", kind, len(element) if rng.random() < .95 else size) + element)
    return head + b"".join(out + [rest])

def matlab_bomb(data, rng):
    "A compressed array of zeros of 800 MB"
    if rng.random() > .1: return flip(data, rng)
    inside = struct.pack("<14I", 6, 8, 6, 0, 5, 8, 10_000, 10_000, 1, 1, 65, 0, 9, 800_000_000)      # flags, sizes, the name A, numbers
    pack = zlib.compressobj(9)
    packed = pack.compress(struct.pack("<II", 14, len(inside) + 800_000_000) + inside)
    packed += b"".join(pack.compress(bytes(10**6)) for _ in range(800)) + pack.flush()
    return data[:128] + struct.pack("<II", 15, len(packed)) + packed

def tarred(members, rng):
    "An archive of (name, content, changes to its TarInfo)"
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=pick(rng, [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT])) as archive:
        for name, data, changes in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in changes.items(): setattr(info, key, value)
            try: archive.addfile(info, io.BytesIO(data + bytes(max(0, min(info.size, 10**6) - len(data)))) if info.isreg() else None)
            except (OSError, ValueError): pass          # a size that can't be written, a name that is too long
    return out.getvalue()

def in_tar(data, rng):
    "Members of a tar archive changed, and odd ones added"
    try: members = [(m.name, f.read(), {}) for archive in [tarfile.open(fileobj=io.BytesIO(data))] for m in archive if (f := archive.extractfile(m))]
    except Exception: return flip(data, rng)
    if not members: return flip(data, rng)
    i = int(rng.integers(len(members)))
    name, inside, _ = members[i]
    odd = [dict(type=tarfile.SYMTYPE, linkname=name), dict(type=tarfile.LNKTYPE, linkname=name), dict(type=tarfile.SYMTYPE, linkname="/etc/passwd"),
           dict(type=tarfile.DIRTYPE), dict(type=tarfile.FIFOTYPE), dict(type=tarfile.CHRTYPE), dict(type=b"Z"), dict(size=0), dict(size=len(inside) + 999),
           dict(type=tarfile.LNKTYPE, linkname="../../out.sgm"), dict(type=tarfile.GNUTYPE_SPARSE), dict(size=8**11 - 1, type=tarfile.CONTTYPE)]
    way = pick(rng, ["change"]*3 + ["odd", "odd", "link", "add", "rename", "twice"])
    if way == "change": members[i] = name, mutated(inside, MUTATIONS["sgml"], rng), {}
    if way == "odd": members[i] = name, inside, pick(rng, odd)
    if way == "link": members[i] = name, b"", dict(type=tarfile.SYMTYPE, linkname=name.split("/")[-1])
    if way == "add": members.append((pick(rng, ["dir.sgm", "a/b.sgm", name]), b"", pick(rng, odd)))
    if way == "rename": members[i] = pick(rng, ["../up.sgm", "/root.sgm", "x"*300 + ".sgm", "\udcff.sgm", "new\nline.sgm", "x.txt"]), inside, {}
    if way == "twice": members *= 2
    return tarred(members, rng)

MUTATIONS = {"text": TEXT, "json": TEXT + [replaced(rb'"[^"]*"|\d+|\[[^\]]*\]', JSON)]*2, "csv": TEXT + [inserted([b'"', b",", b"\t", b'""', b'"\n', b"|"])]*2,
             "sgml": TEXT + [inserted(TAGS)]*4, "npz": BYTES[:5] + [in_zip]*12, "matlab": BYTES[:5] + [in_matlab]*12 + [matlab_bomb],
             "tar": BYTES[:5] + [in_tar]*8}

# ---- files of every format

class Sample(NamedTuple):
    "A collection as files"
    format:str           # a key of `READERS`
    main:str             # the file to read, or the folder
    files:dict           # name -> bytes
    content:str          # a key of `MUTATIONS`, for the main file
    options:dict = {}    # for the reader

def lines_of(items): return "\n".join(map(str, items)).encode() + b"\n"

SOME = "ball vote net goal Straße 東京 naïve <b>x</b> =1+1 $x$ a\u0301 the and o'clock 'q' 42 x_y 😀".split()

def some_text(rng, least=1): return " ".join(pick(rng, SOME) for _ in range(int(rng.integers(least, 12))))

def some_counts(rng):
    "A small matrix with entries, dense"
    X = rng.poisson(.7, rng.integers(2, 9, size=2)).astype(float)
    X[0,0] += 1
    return X*rng.choice([1, .25]) if rng.random() < .5 else X

def folder_sample(rng):
    names = [f"docs/{pick(rng, ['', 'a/', 'a/b/', '.hidden/', 'c d/'])}{i}.txt" for i in range(int(rng.integers(1, 6)))]
    return Sample("folder", "docs", {**{name: some_text(rng).encode() for name in names}, "docs/first.txt": b"first"}, "text")

def lines_sample(rng): return Sample("lines", "a.txt", {"a.txt": lines_of(some_text(rng) for _ in range(5))}, "text")

def jsonl_sample(rng):
    records = [{"id": i, "text": some_text(rng), "labels": [pick(rng, SOME) for _ in range(int(rng.integers(3)))]} for i in range(4)]
    data = json.dumps(records, indent=1).encode() if rng.random() < .3 else lines_of(map(json.dumps, records))
    return Sample("jsonl", "a.jsonl", {"a.jsonl": data}, "json")

def csv_sample(rng):
    sep = pick(rng, ",;\t|")
    rows = [sep.join(["id", "text", "label"])] + [sep.join([str(i), '"' + some_text(rng).replace('"', '""') + '"', pick(rng, "xyz")]) for i in range(5)]
    return Sample("csv", "a.csv", {"a.csv": lines_of(rows)}, "csv", {} if rng.random() < .7 else dict(label_field=["label", "id"]))

def story(rng, i):
    topics = "".join(f"<D>{pick(rng, SOME[:4])}</D>" for _ in range(int(rng.integers(3))))
    return (f'<REUTERS TOPICS="YES" NEWID="{i}">\n<TOPICS>{topics}</TOPICS>\n<TEXT>&#2;\n<TITLE>{pick(rng, SOME[:4])}</TITLE>\n'
            f'<BODY>{some_text(rng)} &amp; {some_text(rng)}\n&#3;</BODY></TEXT>\n</REUTERS>\n').encode("latin-1", "replace")

def reuters_sample(rng):
    sgml = b'<!DOCTYPE lewis SYSTEM "lewis.dtd">\n' + b"".join(story(rng, i) for i in range(4))
    if rng.random() < .5: return Sample("reuters", "r.sgm", {"r.sgm": sgml}, "sgml", {} if rng.random() < .7 else dict(single_topic=True))
    return Sample("reuters", "r.tar", {"r.tar": tarred([("r/a.sgm", sgml, {}), ("r/b.sgm", story(rng, 9), {})], rng)}, "tar")

def companions(rng, names):
    "Some of the files that may stand beside a matrix: name -> its number of lines"
    return {name: lines_of(f"{pick(rng, SOME)}{i}" for i in range(n)) for name, n in names.items() if rng.random() < .4}

def cluto_sample(rng):
    X, dense = some_counts(rng), rng.random() < .3
    rows = [" ".join(f"{v:g}" for v in row) if dense else " ".join(f"{j + 1} {v:g}" for j, v in enumerate(row) if v) for row in X]
    head = f"{X.shape[0]} {X.shape[1]}" + ("" if dense else f" {np.count_nonzero(X)}")
    beside = companions(rng, {"t.mat.rclass": len(X), "t.mat.clabel": X.shape[1], "t.mat.rlabel": len(X)})
    return Sample("cluto", "t.mat", {"t.mat": lines_of([head, *rows]), **beside}, "text")

def entries(X): return [f"{i + 1} {j + 1} {X[i,j]:g}" for i, j in zip(*X.nonzero())]

def docword_sample(rng):
    X = some_counts(rng)
    return Sample("docword", "docword.t.txt", {"docword.t.txt": lines_of([*X.shape, np.count_nonzero(X), *entries(X)]),
                                               **companions(rng, {"vocab.t.txt": X.shape[1]})}, "text")

def matrix_market_sample(rng):
    X, kind = some_counts(rng), pick(rng, ["coordinate real general", "coordinate integer general", "coordinate pattern general", "array real general"])
    if "integer" in kind: X = np.ceil(X)
    rows = entries(X) if "coordinate" in kind else [f"{v:g}" for v in X.T.ravel()]
    if "pattern" in kind: rows = [row.rsplit(" ", 1)[0] for row in rows]
    head = [f"%%MatrixMarket matrix {kind}", "% a comment", f"{X.shape[0]} {X.shape[1]}" + (f" {len(rows)}" if "coordinate" in kind else "")]
    beside = companions(rng, {"m_dictionary.txt": X.shape[1], "m_documents.txt": len(X)})
    return Sample("matrix-market", "m_matrix.mtx", {"m_matrix.mtx": lines_of(head + rows), **beside}, "text", dict(orient="documents x terms"))

def svmlight_sample(rng):
    rows = [" ".join([pick(rng, ["1", "-1", "2.5", "1,2", "qid:3"])] + [f"{j + 1}:{v:g}" for j, v in enumerate(row) if v]) for row in some_counts(rng)]
    return Sample("svmlight", "a.svm", {"a.svm": lines_of(rows + ["1 1:1 # the end"])}, "text")

def named_arrays(rng, X):
    "What goes with a matrix in a file of arrays"
    found = {"gnd": rng.integers(3, size=len(X)), "vocab": np.array([f"w{j}" for j in range(X.shape[1])], pick(rng, [object, str]))}
    return {name: values for name, values in found.items() if rng.random() < .5}

def matlab_sample(rng):
    X, out = some_counts(rng), io.BytesIO()
    old = rng.random() < .2
    arrays = {"fea": pick(rng, [X, sp.csc_matrix(X), sp.csc_matrix(X)]), **({} if old else named_arrays(rng, X))}
    scipy.io.savemat(out, arrays, format="4" if old else "5", do_compression=bool(rng.random() < .5))
    return Sample("matlab", "a.mat", {"a.mat": out.getvalue()}, "matlab")

def npz_sample(rng):
    X = some_counts(rng)
    S = pick(rng, [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix])(X)
    arrays = {"X": X} if rng.random() < .3 else {"row": S.row, "col": S.col, "data": S.data} if S.format == "coo" else \
             {"indices": S.indices, "indptr": S.indptr, "data": S.data}
    if "X" not in arrays: arrays |= {"shape": np.array(S.shape), "format": np.array(S.format.encode())}
    for name, values in named_arrays(rng, X).items(): arrays["labels" if name == "gnd" else name] = values.astype(str) if values.dtype == object else values
    return Sample("npz", "a.npz", {"a.npz": zipped((name + ".npy", npy(a)) for name, a in arrays.items())}, "npz")

FORMATS = {"folder": folder_sample, "lines": lines_sample, "jsonl": jsonl_sample, "csv": csv_sample, "reuters": reuters_sample, "cluto": cluto_sample,
           "docword": docword_sample, "matrix-market": matrix_market_sample, "svmlight": svmlight_sample, "matlab": matlab_sample, "npz": npz_sample}
PACKS = {".gz": gzip.compress, ".xz": functools.partial(lzma.compress, preset=0), ".bz2": bz2.compress}

@functools.cache
def filler(end, unit): return PACKS[end](unit*(2**25//len(unit)))

def bomb(data, end, rng):
    "The bytes packed, and after them 2 GB of the same letter, as far as that fits into 1 MB"
    more = filler(end, pick(rng, [b"\0", b"\n", b"1 ", b"a", b"<"]))
    return PACKS[end](data) + more*min(64, 900_000//len(more))

def put(folder, files):
    for name, data in files.items():
        (folder/name).parent.mkdir(parents=True, exist_ok=True)
        (folder/name).write_bytes(data)

def odd_entry(folder, rng):
    "Something in a folder that is no plain file"
    way, path = pick(rng, ["fifo", "loop", "dangling", "name", "dir", "sgm"]), folder/"docs"/"odd"
    if way == "fifo": os.mkfifo(path)
    if way == "loop": path.symlink_to(".")
    if way == "dangling": path.symlink_to("nowhere")
    if way == "name": Path(os.fsdecode(os.fsencode(path) + pick(rng, [b"\xff.txt", b"\n.txt", b"\x1b[31m"]))).write_bytes(b"text")
    if way == "dir": (folder/"docs"/"0.txt.d").mkdir()
    if way == "sgm": (folder/"docs"/"z.sgm").write_bytes(story(rng, 1))

def contents(corpus):
    "What is in a corpus, checked, in a form to be compared"
    n = len(corpus)
    require(len(set(corpus.ids)) == n > 0, "ids are not different from each other, or there are no documents")
    require(corpus.labels is None or len(corpus.labels) == n, "labels are not as many as documents")
    repr(corpus)
    if corpus.texts is not None:
        require(len(corpus.texts) == n and all(isinstance(t, str) for t in corpus.texts), "texts are not as many as documents, or no texts")
        return corpus.texts, list(corpus.ids), None if corpus.labels is None else corpus.labels.tolist()
    X = corpus.X
    require(X.format == "csr" and X.shape[0] == n and X.dtype.kind == "f", "X is no CSR matrix of floats with a row a document")
    X.check_format(full_check=True)
    require(not X.nnz or X.data.min() > 0 and np.isfinite(X.data).all(), "X has entries that are not above zero and finite")
    vocab = list(corpus.vocab) if X.shape[1] < 10**6 else None
    require(vocab is None or len(vocab) == X.shape[1], "vocab has not a word for each column")
    return X.shape, [a.tolist() for a in (X.data, X.indices, X.indptr)], list(corpus.ids), vocab, None if corpus.labels is None else corpus.labels.tolist()

def through_pipe(read, data):
    "What `read` makes of a path that can be read once, or its refusal"
    out, into = os.pipe()
    def feed():
        try:
            with os.fdopen(into, "wb") as f: f.write(data)
        except BrokenPipeError: pass
    thread = threading.Thread(target=feed)
    thread.start()
    try: return attempt(lambda: read(f"/dev/fd/{out}"), [f"/dev/fd/{out}"])
    finally:
        os.close(out)
        thread.join()

def weigh(X):
    "The weights that a matrix of counts comes to"
    from nmf2.weighting import count_pipeline
    weights = attempt(lambda: count_pipeline(min_df=1, max_df=1.).fit_transform(X), ["X", "min_df", "max_df", "dtype"])
    require(isinstance(weights, Refusal) or np.isfinite(weights.data).all() and weights.min() >= 0, "weights of counts are not finite and nonnegative")

def damaged(sample, rng):
    "The files of a sample, one of them mutated; mostly the main one"
    files, others = dict(sample.files), [name for name in sample.files if name != sample.main]
    chosen = pick(rng, others) if others and (sample.main not in files or rng.random() < .2) else sample.main
    files[chosen] = mutated(files[chosen], MUTATIONS[sample.content if chosen == sample.main else "text"], rng)
    return files

def read_again(read, main, sample, data, first, rng, names):
    "Read the main file packed or from a pipe: what was the same before must come to the same"
    way = pick(rng, ["piped", *PACKS, "damaged", pick(rng, ["bomb", *PACKS, "piped", "damaged"])] if sample.content not in ("npz", "matlab") else ["piped"])
    if way == "piped":
        if len(sample.files) > 1 or sample.content == "tar": return
        second = through_pipe(read, data)
    else:
        end = pick(rng, list(PACKS))
        packed = PACKS[end](data) if way in PACKS else bomb(data, end, rng) if way == "bomb" else mutated(PACKS[end](data), BYTES, rng)
        path = Path(f"{main}{end}")
        path.write_bytes(packed)
        second = attempt(lambda: read(path), [*names, str(path)])
    if way in ("damaged", "bomb"): return
    no = [isinstance(result, Refusal) for result in (first, second)]
    require(no != [True, False], f"{sample.format}: refused plain and read {way}: {first}")
    require(no != [False, True], f"{sample.format}: read plain and refused {way}: {second}")
    require(all(no) or first == second, f"{sample.format}: the same content comes to something else when {way}")

def files_case(rng, folder):
    "Read a damaged file; then the same packed or from a pipe"
    from nmf2.data import read
    sample = FORMATS[pick(rng, list(FORMATS))](rng)
    files = damaged(sample, rng) if rng.random() < .97 else sample.files
    put(folder, files)
    main, options = folder/sample.main, dict(sample.options, format=sample.format)
    if sample.format == "folder" and rng.random() < .3: odd_entry(folder, rng)
    if not sample.options and rng.random() < .2: options = {}
    def find(path): return contents(read(path, **options))
    names = [str(main), *(str(folder/name) for name in files)]
    first = attempt(lambda: find(main), names)
    require(files is not sample.files or not isinstance(first, Refusal), f"a sound file of format {sample.format} is refused: {first}")
    if main.is_file() and options: read_again(find, main, sample, files[sample.main], first, rng, names)
    return first
