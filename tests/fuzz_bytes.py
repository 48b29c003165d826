"""Mutations: functions that take bytes and a random generator, and give other bytes"""
import functools
import io
import re
import struct
import tarfile
import warnings
import zipfile
import zlib

import numpy as np
from fuzz_checks import pick

# ---- of any bytes

def place(data, rng): return int(rng.integers(len(data) + 1))

def part(data, rng):
    "Begin and end of a part, mostly a short one"
    start = place(data, rng)
    return start, min(len(data), start + int(2**rng.uniform(0, 10)))

def insert(data, rng, what):
    i = place(data, rng)
    return data[:i] + what + data[i:]

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

def move(data, rng):
    i, j = part(data, rng)
    return insert(data[:i] + data[j:], rng, data[i:j])

def truncate(data, rng): return data[:place(data, rng)]

def inserted(units, size=300_000):
    "A mutation that puts one of `units` somewhere, once or many times"
    def mutate(data, rng):
        unit = pick(rng, units)
        times = 1 if rng.random() < .5 else int(2**rng.uniform(0, np.log2(max(2, size/len(unit)))))
        return insert(data, rng, unit*times)
    return mutate

# ---- of text

def pieces(split):
    "A mutation that deletes, doubles or swaps what stands between matches of an expression"
    def mutate(data, rng):
        found = re.split(split, data)
        i, j = (int(n) for n in rng.integers(len(found), size=2))
        way = pick(rng, ["delete", "double", "repeat", "swap"])
        if way == "delete": del found[i]
        if way == "double": found[i:i+1] = [found[i]]*2
        if way == "repeat": found[i:i+1] = [found[i]]*min(3000, 1 + 100_000//(len(found[i]) + 1))
        if way == "swap": found[i], found[j] = found[j], found[i]
        return b"".join(found)
    return mutate

def replaced(expression, others, first=None):
    "A mutation that puts one of `others` in the place of a match, one of the `first` few matches if that is given"
    def mutate(data, rng):
        found = list(re.finditer(expression, data))[:first]
        if not found: return insert(data, rng, pick(rng, others))
        match = pick(rng, found)
        return data[:match.start()] + pick(rng, others) + data[match.end():]
    return mutate

NUMBERS = [b"0", b"-1", b"2147483648", b"9223372036854775807", b"9223372036854775808", b"1000000000000", b"300000000",
           b"1e308", b"1e-310", b"nan", b"inf", b"-inf", b"1e400", b"9"*5000, b"0." + b"3"*5000, b"0.5", b"1_0",
           b"0x10", b"-0", b"\xd9\xa3", b""]
ODD = [b"\0", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", "\u2028\u0085".encode(), b"\x1c", b"\xed\xa0\x80",
       b"\xf4\x90\x80\x80", b"\r", b"\r\n", b"\n", b"\x1b[31m", b" ", b"a", b"\xe9", b"#", b":", b"%", b"\x1f\x8b",
       b"BZh", b"\xfd7zXZ\0", b"PK\x03\x04"]
JSON = [b"NaN", b"-Infinity", b"1e999", b'"\\ud800"', b"null", b"{}", b"[]", b"[[]]", b"true", b"9"*5000, b'"a" "b"',
        b'{"text":1}', b'["",null]', b'"' + b"a"*100_000 + b'"', b"["*100_000, b"["*50_000 + b"]"*50_000,
        b'{"a":'*100_000, b'"\\u0000\\n"']
TAGS = [b"<", b"<BODY>", b"<BODY", b"</BODY>", b"<D>", b"<D></D>", b"<REUTERS ", b"</REUTERS>", b'<REUTERS NEWID="7">',
        b"<TITLE>", b"<TITLE", b"<TEXT>", b"</TEXT>", b"<TOPICS>", b"<!--", b'NEWID="', b"&#x110000;", b"&#55296;",
        b"&#" + b"9"*5000 + b";", b"&amp"]
NUMBER, VALUE = rb"[-+]?\d+(?:\.\d+)?", rb'"[^"]*"|\d+|\[[^\]]*\]'

BYTES = [flip, delete, double, move, truncate, inserted(ODD)]
TEXT = BYTES + [pieces(rb"(\s+)"), pieces(rb"(\n)"), replaced(NUMBER, NUMBERS), replaced(NUMBER, NUMBERS, 4)]

def mutated(data, mutations, rng, size=1_000_000):
    "The bytes after one mutation or some, at most `size` of them"
    with np.errstate(all="ignore"):
        for _ in range(pick(rng, [1, 1, 1, 2, 3])): data = pick(rng, mutations)(data, rng)[:size]
    return data

# ---- of .npz: what is inside is changed and packed again, with checksums that are right

def zipped(members, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", method) as archive:
        warnings.simplefilter("ignore")                         # of names that are there twice
        for name, data in members: archive.writestr(name, data)
    return out.getvalue()

def members_of(data):
    "Names and contents; nothing if an earlier mutation damaged the archive or made a bomb of it"
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(info.file_size for info in archive.infolist()) > 10**7: return []
            return [(name, archive.read(name)) for name in archive.namelist()]
    except Exception: return []

def npy(array):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array))
    return out.getvalue()

SHAPES = [b"()", b"(0,)", b"(-1,)", b"(1000000000000,)", b"(300000000,)", b"(9223372036854775808,)", b"(1, 0)", b"2",
          b"None", b"(100000, 100000)", b"(0, 9223372036854775807)", b"(1.5,)", b"(True,)", b"(2,)*9"]
TYPES = [b"'|O'", b"'<f4'", b"'>f8'", b"'<c16'", b"'<U3'", b"'|S4'", b"'<M8[s]'", b"'|b1'", b"'<i8'", b"'>u2'",
         b"'|V8'", b"'<f2'", b"'<U400000000'", b"[('a', '<i4')]", b"'|S0'", b"'zz'", b"1"]
HEADER = [replaced(rb"\([^)]*\)", SHAPES), replaced(rb"'[<>|][^']*'", TYPES), replaced(rb"False", [b"True", b"{"])]

def npy_header(data, rng):
    "Another shape or type in the header of an array, its length put right"
    if len(data) < 12 or data[:6] != b"\x93NUMPY": return flip(data, rng)
    size = struct.unpack("<H", data[8:10])[0]
    header = pick(rng, HEADER*2 + BYTES)(data[10:10+size], rng).rstrip()[:60_000]
    header += b" "*(-(len(header) + 11) % 64) + b"\n"
    return data[:8] + struct.pack("<H", len(header)) + header + data[10+size:]

ODD_ARRAYS = [np.array(3.), np.array("text"), np.zeros(0), np.zeros((0, 0)), np.zeros((2, 2, 2)),
              np.array([1, "a", None], object), np.array(["", "\ud7ff"]), np.array([b"\xff", b"a"]), np.array([1j]),
              np.array([np.nan, -1]), np.array(-1), np.array([2**63], np.uint64), np.array(["NaT"], "M8[s]"),
              np.array([(1, 2.)], "i4,f8"), np.array([[1, 2]]), *map(np.array, ("csr", b"csc", "bsr", "dia", "zzz")),
              np.array([10**12, 10**12]), np.array([-1, 2]),
              np.array([3e8, 2]), np.array([[np.inf]]), np.array([True]), np.array([1, 0, 5, 2], np.int32)]

def odd_array(data, rng): return npy(pick(rng, ODD_ARRAYS))

def npy_values(data, rng):
    "Other values in an array"
    try: a = np.load(io.BytesIO(data)).copy()
    except Exception: return flip(data, rng)
    if a.dtype.kind not in "iuf" or not a.size: return odd_array(data, rng)
    values = [0, -1, 1, 2**31 - 1, 2**31, 10**12, 2**62, a.size]
    if a.dtype.kind == "f": values += [np.nan, np.inf, 1e308, 1e-310, .5]
    a.ravel()[rng.integers(a.size, size=int(rng.integers(1, 3)))] = np.array(pick(rng, values)).astype(a.dtype)
    types = [a.astype(float), a.astype(np.int8), a.astype(np.uint64)]
    return npy(pick(rng, [a, a, a, a[::-1], a[:-1], a[None], a.ravel(), *types]))

ARRAY = [npy_header, npy_values, npy_values, npy_values, odd_array, odd_array, *BYTES]
NAMES = ["X.npy", "format.npy", "labels.npy", "vocab.npy", "texts.npy", "ids.npy", "../x.npy", "x"]

def in_zip(data, rng):
    "An array in a .npz changed, added, renamed or left out"
    members = members_of(data)
    if not members: return flip(data, rng)
    i = int(rng.integers(len(members)))
    name, inside = members[i]
    way = pick(rng, ["change"]*9 + ["rename", "drop", "twice", "bomb"])
    if way == "change": members[i] = name, pick(rng, ARRAY)(inside, rng)
    if way == "rename": members[i] = pick(rng, NAMES), inside
    if way == "drop": del members[i]
    if way == "twice": members.insert(0, members[int(rng.integers(len(members)))])
    if way == "bomb" and rng.random() < .1: return zip_bomb(name)
    return zipped(members, pick(rng, [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED]))

@functools.cache
def zip_bomb(name):
    "An archive of less than 1 MB with an array of zeros of 900 MB"
    out, header = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(header, dict(descr="<f8", fortran_order=False, shape=(11250, 10000)))
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w") as f:
        f.write(header.getvalue())
        for _ in range(900): f.write(bytes(10**6))
    return out.getvalue()

# ---- of .mat

WORDS = [0, -1, 1, 2, 5, 6, 7, 9, 14, 15, 16, 2**16, 2**31 - 1, -2**31, 10**6, 256, 0x40000, 127]

def words_of_four(data, rng):
    "Other whole numbers in the place of four bytes: sizes, types and indices in a MATLAB file are such"
    data, n = bytearray(data), len(data)//4
    for _ in range(pick(rng, [1, 1, 2])*(n > 0)):
        i = int(rng.integers(min(n, 40) if rng.random() < .5 else n))
        struct.pack_into("<i", data, 4*i, pick(rng, WORDS))
    return bytes(data)

def in_matlab(data, rng):
    "The elements of a MATLAB file changed; compressed ones are unpacked before and packed again"
    head, rest, out = data[:128], data[128:], []
    if rng.random() < .1 or len(data) < 136: return words_of_four(head, rng) + rest
    while len(rest) >= 8:
        kind, size = struct.unpack("<II", rest[:8])
        element, rest = rest[8:8+size], rest[8+size:]
        try: element = zlib.decompressobj().decompress(element, 10**7) if kind == 15 else element
        except zlib.error: pass                                 # damaged by an earlier mutation
        if rng.random() < .6: element = mutated(element, [words_of_four]*6 + BYTES, rng)
        if kind == 15: element = zlib.compress(element)
        out.append(struct.pack("<II", kind, len(element) if rng.random() < .95 else size) + element)
    return head + b"".join(out) + rest

@functools.cache
def matlab_zeros(n=10_000):
    "The compressed element of a matrix A, n x n: flags, sizes, the name, and zeros"
    pack, size = zlib.compressobj(9), 8*n*n
    inside = struct.pack("<14I", 6, 8, 6, 0, 5, 8, n, n, 1, 1, 65, 0, 9, size)
    packed = pack.compress(struct.pack("<II", 14, len(inside) + size) + inside)
    packed += b"".join(pack.compress(bytes(10**6)) for _ in range(size//10**6)) + pack.flush()
    return struct.pack("<II", 15, len(packed)) + packed

def matlab_bomb(data, rng): return data[:128] + matlab_zeros() if rng.random() < .1 else flip(data, rng)

# ---- of .tar

TARS = [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT]

def tarred(members, rng):
    "An archive of (name, content, changes to its TarInfo)"
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=pick(rng, TARS)) as archive:
        for name, data, changes in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in changes.items(): setattr(info, key, value)
            padded = data.ljust(min(info.size, 10**6), b"\0")
            try: archive.addfile(info, io.BytesIO(padded) if info.isreg() else None)
            except (OSError, ValueError): pass                  # a size that can't be written, a name that is too long
    return out.getvalue()

def untarred(data):
    "Names and contents; nothing if an earlier mutation damaged the archive"
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            return [(member.name, archive.extractfile(member).read(), {}) for member in archive if member.isreg()]
    except Exception: return []

def odd_members(name, size):
    "Changes that make something else of a member"
    to = name, name.split("/")[-1], "../../x", "/etc/passwd"
    links = [dict(type=kind, linkname=other) for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE) for other in to]
    kinds = tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.GNUTYPE_SPARSE, b"Z"
    sizes = [dict(size=0), dict(size=size + 999), dict(size=8**11 - 1, type=tarfile.CONTTYPE)]
    return links + [dict(type=kind) for kind in kinds] + sizes

ODD_NAMES = ["../up.sgm", "/top.sgm", "x"*300 + ".sgm", "\udcff.sgm", "new\nline.sgm", "x.txt"]

def in_tar(data, rng):
    "Members of a tar archive changed, and odd ones added"
    if not (members := untarred(data)): return flip(data, rng)
    i = int(rng.integers(len(members)))
    name, inside, _ = members[i]
    way = pick(rng, ["change"]*3 + ["odd", "odd", "add", "rename", "twice"])
    if way == "change": members[i] = name, mutated(inside, MUTATIONS["sgml"], rng), {}
    if way == "odd": members[i] = name, inside, pick(rng, odd_members(name, len(inside)))
    if way == "add": members.append((pick(rng, ["dir.sgm", "a/b.sgm", name]), b"", pick(rng, odd_members(name, 0))))
    if way == "rename": members[i] = pick(rng, ODD_NAMES), inside, {}
    if way == "twice": members *= 2
    return tarred(members, rng)

# ---- what goes with which content

MUTATIONS = {"text": TEXT,
             "json": TEXT*2 + [replaced(VALUE, JSON)]*2,
             "csv": TEXT*2 + [inserted([b'"', b",", b"\t", b'""', b'"\n', b"|"])]*2,
             "sgml": TEXT + [inserted(TAGS)]*4,
             "bytes": BYTES,
             "npz": BYTES + [in_zip]*12,
             "matlab": BYTES + [in_matlab]*12 + [matlab_bomb],
             "tar": BYTES + [in_tar]*8}
