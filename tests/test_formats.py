"""Every reader on small files: what it gives, and what it says about broken ones."""
import bz2
import csv
import gc
import gzip
import itertools
import io
import json
import lzma
import mailbox
import os
import pickle
import re
import tarfile
import time
import warnings
import zlib
from email import message_from_string, policy
from email.message import EmailMessage
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from nmf2 import formats
from nmf2.data import read
from nmf2.files import WESTERN
from nmf2.formats import (READERS, _by_backslash, _dialect, _mails, _rows, _without_tags, as_cell, column_names, field_names_of, guess_format, read_cluto, read_csv, read_docword, read_folder, read_jsonl, read_lines, read_mail, read_mbox,
                          read_matlab, read_matrix_market, read_npz, read_reuters, read_svmlight, value_at, without_head, write_table)

TEXTS = ["puck and ice", "<b>bold</b> & $x < y$, a \"quote\"", "ünïcode, 東京\nsecond line", ""]
LABELS = [["sport", "hockey"], ["maths"], [], ["sport", "tennis"]]
IDS = ["a/1", "b", "c", "d"]
X = np.array([[2., 0., 1., 0.], [0., 0., 0., 0.], [0., 5., 0., .5]])
VOCAB, DOCS, CLASSES = ["ball", "vote", "net", "goal"], ["one", "two", "three"], ["sport", "politics", "sport"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(name, content, opener=None):
    content = content if isinstance(content, bytes) else content.encode("utf-8")
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with (opener or open)(path, "wb") as f: f.write(content)
    return path


def fails(reader, path, *words, **options):
    "The reader refuses, and its message has all the words"
    with pytest.raises(ValueError) as e: reader(path, **options)
    for word in (str(path), *words): assert word in str(e.value), str(e.value)


def same(found, expected=X):
    assert sp.issparse(found) and found.format == "csr" and found.dtype == np.float64
    np.testing.assert_array_equal(found.toarray(), expected)
    assert np.count_nonzero(found.data) == found.nnz


# compression, encodings

@pytest.mark.parametrize("fields", [{}, dict(text_field="bar")])
def test_errors_about_fields_come_from_other_processes(tmp_path, fields):
    (tmp_path/"x.csv").write_text("id,foo\n1,bar baz\n2,baz\n")
    with pytest.raises(ValueError, match="'foo'") as e: read_csv(tmp_path/"x.csv", **fields)
    there = pickle.loads(pickle.dumps(e.value))
    assert type(there) is ValueError and str(there) == str(e.value)


def test_of_many_files_one_is_looked_at_for_its_encoding(tmp_path, monkeypatch):
    """It takes longer than reading them"""
    for k in range(5): (tmp_path/f"{k}.txt").write_bytes("добрый день".encode("cp1251"))
    looked = []
    monkeypatch.setattr(formats, "likelier", lambda data: looked.append(data) or ", say what")
    with pytest.warns(UserWarning, match="5 of 5 files are not UTF-8 and read as Windows-1252, the first 0.txt, say what$"): read_folder(tmp_path)
    assert len(looked) == 1


@pytest.mark.parametrize("opener", [open, gzip.open, lzma.open, bz2.open])
def test_compressed_whatever_the_name(here, opener):
    path = put("docs.jsonl", json.dumps({"text": TEXTS[2]}), opener)
    assert read_jsonl(path)["texts"] == [TEXTS[2]]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_cut_short(here, pack):
    rows = "\n".join(json.dumps({"text": str(i)*50}) for i in range(5000))
    path = put("docs.jsonl.z", pack(rows.encode())[:-400])
    fails(read_jsonl, path, "line", "damaged or cut short")


@pytest.mark.parametrize("pack, unpack", [(gzip.compress, lambda: zlib.decompressobj(31)), (lzma.compress, lzma.LZMADecompressor)])
@pytest.mark.parametrize("n, share", [(50, .9), (20_000, .3), (20_000, .95)])
def test_the_line_where_a_file_is_cut_short(here, pack, unpack, n, share):
    random = np.random.default_rng(0)
    whole = pack("\n".join(json.dumps({"text": random.bytes(30).hex()}) for _ in range(n)).encode())
    half = whole[:int(len(whole)*share)]
    line = 1 + unpack().decompress(half).count(b"\n")
    fails(read_jsonl, put("docs.jsonl.z", half), f"docs.jsonl.z, line {line}: from here on")
    fails(read_lines, "docs.jsonl.z", f"docs.jsonl.z, line {line}: from here on")


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_the_line_of_a_mistake_in_a_packed_file(here, pack):
    rows = [json.dumps({"text": str(i)*50}) for i in range(5000)]
    rows[4000] = '{"text": '
    fails(read_jsonl, put("docs.jsonl.z", pack("\n".join(rows).encode())), "docs.jsonl.z, line 4001: not JSON")


def test_damaged_gz(here):
    packed = bytearray(gzip.compress(b"some text\n"*1000))
    packed[40] ^= 255
    fails(read_lines, put("a.txt", bytes(packed)), "line 1", "damaged")
    fails(guess_format, put("b.txt", bytes(packed)), "damaged")


def test_encodings(here):
    put("latin.txt", "un café\n".encode("latin-1"))
    with pytest.warns(UserWarning, match="latin.txt is not UTF-8 and was read as Windows-1252"): assert read_lines("latin.txt")["texts"] == ["un café"]
    assert read_lines("latin.txt", encoding="cp1252")["texts"] == ["un café"]
    assert read_lines(put("mark.txt", "\ufeffcafé".encode("utf-8")))["texts"] == ["café"]
    assert read_lines(put("wide.txt", "café".encode("utf-16")))["texts"] == ["café"]
    fails(read_lines, "latin.txt", "not utf-8 text", encoding="utf-8")


def test_no_such_file(here):
    for name, reader in READERS.items():
        if name != "folder":
            with pytest.raises(FileNotFoundError): reader("nothing.here")


# texts

def test_folder(here):
    put("docs/sport/hockey/1.txt", TEXTS[0])
    put("docs/sport/2.txt", TEXTS[1])
    put("docs/3.txt", TEXTS[2])
    put("docs/.git/config", "hidden")
    put("docs/sport/.DS_Store", b"\0\1")
    with pytest.warns(UserWarning, match="3 files read, left alone 2 hidden"): found = read_folder("docs")
    assert found == {"texts": [TEXTS[2], TEXTS[1], TEXTS[0]],
                     "ids": ["3.txt", "sport/2.txt", "sport/hockey/1.txt"],
                     "labels": [[], ["sport"], ["sport", "sport/hockey"]]}


def mail(body="we meet at the café", subject="The café", html=None, **options):
    "The bytes of a mail"
    made = EmailMessage()
    made["From"], made["Subject"] = "ann@example.org", subject
    made.set_content(body, **options)
    if html is not None: made.add_alternative(html, subtype="html")
    return bytes(made)


def test_pages_of_the_web_lose_their_tags(here):
    page = "<!DOCTYPE html><html><head><title>The caf&eacute;</title><style>p {color: red}</style></head><body><p class='x'>Open <b>all</b> day<script>var x</script></html>"
    put("web/a.html", page)
    put("web/b.HTM.gz", gzip.compress(page.encode()))
    put("web/c.xhtml", "<meta http-equiv='Content-Type' content='text/html; charset=windows-1252'><p>“closed”".encode("cp1252"))
    put("web/d.html", "<meta charset='utf-8'><p>größer".encode())
    put("web/g.xhtml", "<?xml version='1.0' encoding='windows-1252'?><html><p>“open”".encode("cp1252"))
    put("web/e.txt", "1 < 2 <b>")
    put("web/f.html", b"%PDF-1.4 <p>")
    with pytest.warns(UserWarning, match="1 of 7 files are not text"): found = read_folder("web")
    assert found["texts"] == ["The café\n\nOpen all day"]*2 + ["“closed”", "größer", "1 < 2 <b>", "“open”"]
    for said in ("no-such-thing", "utf-8", "hex"):
        put("odd/a.html", f"<meta charset={said}><p>größer".encode("latin-1"))
        with pytest.warns(UserWarning, match="1 of 1 files are not UTF-8 and read as Windows-1252"): assert read_folder("odd")["texts"] == ["größer"]


@pytest.mark.parametrize("packed", ["base64", "quoted-printable", "8bit"])
@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1"])
def test_mails(here, packed, charset):
    put("mails/in/1.eml", mail(cte=packed, charset=charset))
    put("mails/2.EML.gz", gzip.compress(mail("nothing new", html="<p>nothing <b>old</b></p>")))
    put("mails/3.txt", "a text")
    found = read_folder("mails")
    assert found == dict(texts=["The café\n\nnothing new", "a text", "The café\n\nwe meet at the café"], ids=["2.EML.gz", "3.txt", "in/1.eml"], labels=[[], [], ["in"]])
    assert guess_format("mails") == "folder" and guess_format("mails/in/1.eml") == guess_format("mails/2.EML.gz") == "mail"
    assert read_mail("mails/in/1.eml") == dict(texts=["The café\n\nwe meet at the café"], ids=["1.eml"])


FIRST = "From ann@x.org Thu Jan  1 12:00:00 2004"

def in_one_file(mails, end):
    "Mails as Python puts them into a file; it quotes lines that begin with From"
    box = mailbox.mbox("made")
    for made in mails:
        made = mailbox.mboxMessage(made)
        made.set_from("ann@x.org", time.gmtime(0))
        box.add(made)
    box.close()
    return Path("made").read_bytes().replace(b"\n", end.encode())


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["list.mbox", "2004-April.txt", "Inbox", "list.mbox.gz"])
def test_mails_in_one_file(here, name, end):
    text = "we meet\n\nFrom here on\nFrom now on\n\nFrom 10:30 in 2004\n\nno head"
    given = [mail(), mail(text), mail("nothing new", html="<p>nothing <b>old</b></p>"), mail("", html="<p>bold"), mail(" ")]
    data = in_one_file(given, end)
    path = put(name, gzip.compress(data) if name.endswith("gz") else data)
    assert guess_format(path) == "mbox"
    found = read_mbox(path)
    alone = [read_mail(put(f"{i}.eml", bytes(one)))["texts"][0] for i, one in enumerate(given)]
    assert [text.splitlines() for text in found["texts"]] == [text.splitlines() for text in alone] and found["ids"] == [*"12345"]
    assert read(path).texts == found["texts"]


def test_lines_that_begin_like_a_mail_are_quoted(here):
    lines = [">From here", ">>From there", " From now", "x >From", ">from a"]
    assert read_mbox(put("a.mbox", "\n".join([FIRST, "Subject: a", "", *lines])))["texts"] == ["\n".join(["a\n", "From here", ">From there", *lines[2:]])]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("gap", [[""], [], [" "]])
def test_where_a_mail_begins(here, end, gap):
    "Line before it and head, as different programs write them; an empty line before both may be missing"
    firsts = ["From - Thu Jan 01 12:00:00 2004", "From guido at python.org  Thu Apr  1 20:01:09 2004 -0700", "From 1@xxx Thu Jan 01 12:00:00 +0000 2004", "From a@b Thu, 1 Jan 2004 9:00"]
    others = ["From guido at python.org  Apr  1 2004", "x: y", FIRST, "no head", "From " + "a"*300 + FIRST, "x: y", "From a to b: 10:30", "From x: y"]
    data = end.join(line for first in firsts for line in [first, "Subject: a", "", "text", *others, *gap]).encode()
    texts = read_mbox(put("a.mbox", data))["texts"]
    assert [text.split() for text in texts] == [["a", "text", *" ".join(others).split()]]*4
    old = [FIRST, ">From uucp Thu Jan  1 12:00:00 2004 remote from z", "Subject: a", "", "old"]
    assert guess_format(put("b.txt", end.join(old).encode())) == "mbox"


def test_lines_of_heads_to_look_at(here):
    dates = "Thu, 1 Jan 2004 12:00:00 +0100", "soon", None, "Fri, 02 Jan 2004 23:59:00 -0000", "Thu, 1 Jan 104 12:00:00 +0100"
    heads = [f"{FIRST}\nX-From: =?utf-8?q?caf=C3=A9?=\n \tb\n" + (f"DATE: {date}\n" if date else "") + "\ntext\n\n" for date in dates]
    odd = f"{FIRST}\nX-From: c\nContent-Transfer-Encoding: base64\n\nYWJjZ\n\n"
    path = put("a.mbox", odd + "".join(heads) + odd)
    with pytest.warns(UserWarning, match="2 of 7 mails are damaged and left out, the first number 1"): found = read_mbox(path, columns="Date")
    assert found["columns"] == {"Date": ["2004-01-01 11:00:00", None, None, "2004-01-02 23:59:00", "2004-01-01 11:00:00"]} and found["ids"] == [*"23456"]
    path = put("a.mbox", "".join(heads))
    assert read_mbox(path, columns=["x-from"])["columns"] == {"x-from": ["café b"]*5} and "columns" not in read_mbox(path, columns="")
    fails(read_mbox, path, "no field 'Cc', asked for by columns=", "'x-from', 'date'", columns=["date", "Cc"])
    fails(read_mbox, path, "no field '5', asked for by columns=", columns=5)
    corpus = read(path, columns=["Date"])
    assert corpus.columns["Date"][0] == "2004-01-01 11:00:00" and corpus.reading["columns"] == ["Date"]
    with pytest.warns(UserWarning, match="no field 'Date', from which a column to look at came in the fit"):
        assert read(put("b.mbox", f"{FIRST}\nSubject: a\n\ntext\n"), like=corpus.reading).columns == {}


def test_mails_that_are_gone(here):
    marked = [f"{FIRST}\nX-Mozilla-Status: {status}\nSubject: a\n\ntext {status}\n" for status in ("0001", "0009", "zz", "8008")]
    marked.append(f"{FIRST}\nSubject: DON'T DELETE THIS MESSAGE -- FOLDER INTERNAL DATA\n\ntext\n")
    with pytest.warns(UserWarning, match="a.mbox: 3 of 5 mails are deleted and left out, the first number 2"): found = read_mbox(put("a.mbox", "\n".join(marked)))
    assert found == dict(texts=["a\n\ntext 0001", "a\n\ntext zz"], ids=["1", "3"])
    fails(read_mbox, put("b.mbox", marked[1]), "all mails in it are deleted")


def test_damaged_mails_in_one_file(here):
    odd = f"{FIRST}\nSubject: a\nContent-Transfer-Encoding: base64\n\nYWJjZ\n\n".encode()
    latin = f"{FIRST}\nSubject: b\n\ncafé\n\n".encode("latin-1")
    with pytest.warns(UserWarning) as told: found = read_mbox(put("a.mbox", latin + odd + latin.replace(b"\n", b"\r\n") + odd))
    assert found == dict(texts=["b\n\ncafé"]*2, ids=["1", "3"])
    assert [str(w.message) for w in told] == ["a.mbox: 2 of 4 mails are not UTF-8 and read as Windows-1252, the first number 1",
                                              "a.mbox: 2 of 4 mails are damaged and left out, the first number 2"]
    assert read_mbox(put("c.mbox", latin), encoding="latin-1")["texts"] == ["b\n\ncafé"]
    with pytest.raises(ValueError, match="b.mbox: not a readable mail .its text is damaged"): read_mbox(put("b.mbox", odd))
    for before in (b"\n\r\n", b"\xef\xbb\xbf"): assert read_mbox(put("c.mbox", before + latin), encoding="latin-1")["texts"] == ["b\n\ncafé"]
    for data in (b"no mail", b"From ann\nSubject: a\n\nb", f"{FIRST}\nno head".encode()):
        with pytest.raises(ValueError, match="d.mbox, line 1: a file of mails should begin with a line such as 'From ann@"): read_mbox(put("d.mbox", data))
    with pytest.raises(ValueError, match="e.mbox: the file is empty"): read_mbox(put("e.mbox", b"\n"))
    assert guess_format(put("d.txt", f"{FIRST}\nno head\n".encode())) == "lines"


@pytest.mark.parametrize("name", ["a.mbox", "2004-April.txt", "Inbox"])
def test_folders_with_files_of_mails(here, name):
    put(f"folder/{name}", f"{FIRST}\nSubject: b\n\ntext\n"), put("folder/z.txt", "a text")
    with pytest.raises(ValueError, match=f"files in this folder look like collections themselves: {name}"): guess_format("folder")
    assert len(read("folder", "folder")) == 2


def test_subjects_outside_the_rules(here):
    for charset, said in (("latin-1", {}), ("utf-8", {}), ("koi8-r", dict(encoding="koi8-r"))):
        word = "кот" if charset == "koi8-r" else "café"
        assert read_mail(put("a.eml", f"Subject: {word} \n {word}\n\nb".encode(charset)), **said)["texts"] == [f"{word} {word}\n\nb"]
    named = f"Subject: кот\nContent-Type: text/plain; charset=koi8-r\n\nкот".encode("koi8-r")
    assert read_mail(put("b.eml", named))["texts"] == ["кот\n\nкот"]


@pytest.mark.parametrize("line", [b"From " + b"1:00 "*400_000, b"From " + b"Mon Jan 1 "*200_000, b"From a\n"*300_000, (FIRST.encode() + b"\n")*40_000, b"From Mon" + b" "*2_000_000])
def test_odd_lines_take_no_long_time(here, line):
    assert len(list(_mails(f"{FIRST}\nSubject: a\n\n".encode() + line))) == 1       # some hundredths; hours, if each place looks at all that come


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_heads_of_mails_as_python_reads_them(end):
    rng = np.random.default_rng(0)
    lines = ["From: ann@x.org", "FROM: bob", "Subject: a late goal", "subject:", "Subject: a long", " line", "Date: May", "Keywords: net,\n\tgoal", "X-Y: From: z", "Lines: 2", "To: bob", "Summary:  it came late "]
    n = 0
    for _ in range(2000):
        head = [line.replace("\n", end) for line in rng.permutation(lines)[:rng.integers(1, 8)] if line != " line"]
        head = [line + f"{end}  indeed" if line.endswith("long") else line for line in head]
        text = end.join([*head, "", *rng.choice(["a body", "", "To: nobody", "> From: me", " indented"], 3)])
        mail = message_from_string(text, policy=policy.default)
        names = {name.lower() for name in mail.keys()}
        if "from" in names and ("@" in mail["from"] or "subject" in names):
            said = [" ".join(str(mail[name]).split()) for name in ("subject", "summary", "keywords") if mail[name] is not None]
            assert without_head(text) == ("\n".join([*said, "", mail.get_payload()]).lstrip("\n") or text)
            n += 1
        else: assert without_head(text) is text
    assert 300 < n < 1900


@pytest.mark.parametrize("text", ["", "no mail", "From: here on\n\nall is text", "Subject: a\nDate: May\n\nb", "From: a@b\nTo: b\nand no empty line", "From a: b", "From: a@b\nTo b\n\nc",
                                  " said: x\nFrom: a@b\nSubject: b\n\nc", "Title: x\nFrom: 1991\nTo: 2001\nDescription: years\n", "TO: staff\nFROM: boss\nRE: budget\n\nbody",
                                  "From: Paris\nTo: Rome\nDate: May\n\nA journey", "From: a@b\nTo: b\n", "From: a@b\nSubject:\n\n", "From: a@b\n" + "X: y\n"*4000 + "Subject: z\n\nbody"])
def test_texts_without_the_head_of_a_mail_stay(text): assert without_head(text) is text

def test_heads_of_mails():
    assert without_head("From ann Mon May 3\nFrom: ann@x\nTo: b\n\nc") == "c" == without_head("From: a@b\nTo: b\n \t\nc")
    for before in ("\n", " \r\n\n", " uunet!x!ann\n"): assert without_head(before + "From: ann\nMessage-ID: <1>\n\nc") == "c"
    assert without_head("From: a\nSubject: b") == without_head("From: a\nSubject: b\n") == without_head("Subject: b\nFrom: a") == "b\n\n"
    assert without_head("FROM: a\nSUBJECT: =?utf-8?b?Y2Fmw6k=?= =?iso-8859-1?q?_=E9?=\n\nc\n\nFrom: d\nTo: e\n\nf") == "café é\n\nc\n\nFrom: d\nTo: e\n\nf"
    assert without_head("From: a\nSubject: =?no-such-code?q?x?= =?\n\nc") == "=?no-such-code?q?x?= =?\n\nc"
    assert without_head("From: a\nSubject: only this\n") == "only this\n\n"
    for long in ("x"*1_000_000, "a:"*500_000, "a: b\n"*200_000 + "end", ("a:" + " \t"*50 + "\n")*10_000, "From: a\nTo: b\n" + " "*1_000_000, "\n"*1_000_000, " \n"*500_000 + "end"):
        assert without_head(long) is long           # at once


def test_parts_of_mails(here):
    html = "<html><head><title>t</title><style>p {}</style><body>b<b>o</b>ld &amp; new<br>twice<script>f()</script><p>last"
    assert read_mail(put("a.eml", mail(" \n", html=html)))["texts"] == ["The café\n\nbold & new\ntwice\n\nlast"]
    made = EmailMessage()
    made["Subject"] = "a picture"
    made.add_attachment(b"\0PNG", maintype="image", subtype="png")
    made.add_attachment("not this", filename="a.txt")
    assert read_mail(put("b.eml", bytes(made)))["texts"] == ["a picture"]
    assert read_mail(put("c.eml", "Subject: a\n\nun café".encode()))["texts"] == ["a\n\nun café"]
    with pytest.warns(UserWarning, match="d.eml is not UTF-8 and was read as Windows-1252"): assert read_mail(put("d.eml", "Subject: a\n\ncafé".encode("latin-1")))["texts"] == ["a\n\ncafé"]
    assert read_mail("d.eml", encoding="latin-1")["texts"] == ["a\n\ncafé"]


def test_blocks_of_html_stay_apart():
    assert _without_tags("<h1>Two words</h1><p>of a\nline<br>more</p>\n\n<div><ul><li>one</li> <li>two</li></ul></div>") == "Two words\n\nof a\nline\nmore\n\none\n\ntwo"


def test_space_and_open_tags_in_mails():
    rng = np.random.default_rng(0)
    for _ in range(500):
        text = "".join(rng.choice([" ", "\t", "\n", "\xa0", "\x1c", "a", "b"], 30))
        def tidy(text): return re.sub(r"\n{3,}", "\n\n", "\n".join(map(str.strip, text.split("\n")))).strip()
        assert _without_tags(text) == tidy(text)
        text = "<style>" + "".join(rng.choice([" ", "\n", "<", ">", "a", "<b>"], 30))
        assert _without_tags(text) == tidy(re.sub("<[^>]*>", "\n", text))
    assert _without_tags("a" + " "*3_000_000 + "b<br>" + " "*3_000_000 + "c").split() == ["a", "b", "c"]   # of hours, if each space looks ahead
    assert _without_tags("<style>a > b" + "<"*1_000_000).count("<") == 1_000_000


@pytest.mark.parametrize("data, why", [(b"no mail", "it has no head"), (b"", "it has no head"), (b"Subject: a\nContent-Transfer-Encoding: base64\n\nYWJjZ", "damaged or cut short"),
                                       (b"Subject: a\nContent-Type: multipart/mixed\n\nb", "its parts can't be told apart")])
def test_what_is_no_mail(here, data, why):
    put("mails/1.eml", mail())
    put("mails/2.eml", data)
    for reader, path in ((read_folder, "mails"), (read_mail, "mails/2.eml")):
        with pytest.raises(ValueError, match="2.eml: not a readable mail .*" + why): reader(path)


def test_no_file_stays_open(here):
    pq = pytest.importorskip("pyarrow.parquet")
    import pyarrow
    pq.write_table(pyarrow.table(dict(text=["a", "b"])), "a.parquet")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert READERS["parquet"]("a.parquet")["texts"] == ["a", "b"]
        gc.collect()
    assert not [one for one in told if one.category is ResourceWarning]


def test_folder_warnings_and_errors(here):
    put("docs/1.txt", "café".encode("latin-1"))
    put("docs/2.txt", "plain")
    put("docs/logo.png", b"\x89PNG\0\0")
    with pytest.warns(UserWarning) as caught: found = read_folder("docs")
    assert found["ids"] == ["1.txt", "2.txt"] and "labels" not in found
    assert [str(w.message) for w in caught] == ["docs: 1 of 3 files are not UTF-8 and read as Windows-1252, the first 1.txt",
                                                "docs: 1 of 3 files are not text and left out, the first logo.png"]
    assert read_folder("docs", pattern="2*")["ids"] == ["2.txt"]
    fails(read_folder, "docs", "'*.md'", pattern="*.md")
    fails(read_folder, "docs", "1.txt", "utf-8", encoding="utf-8")
    Path("empty").mkdir()
    fails(read_folder, "empty", "no text files")


def test_lines(here):
    assert read_lines(put("a.txt", "one\r\n\n <b>two</b> \n")) == {"texts": ["one", "<b>two</b>"], "ids": ["1", "3"]}
    fails(read_lines, put("b.txt", "\n\n"), "empty")


@pytest.mark.parametrize("whole", [False, True])
def test_jsonl(here, whole):
    records = [{"id": i, "text": t, "labels": l} for i, t, l in zip(IDS, TEXTS, LABELS)]
    path = put("docs.json", json.dumps(records, indent=1) if whole else "\n".join(map(json.dumps, records)) + "\n\n")
    assert read_jsonl(path) == {"texts": TEXTS, "ids": IDS, "labels": LABELS}


def test_jsonl_fields(here):
    records = [{"n": 1, "Body": "one", "year": 1993, "month": "May"}, {"n": 2, "Body": "two", "year": None}]
    path = put("docs.jsonl", "\n".join(map(json.dumps, records)))
    assert read_jsonl(path) == {"texts": ["one", "two"]}
    assert read_jsonl(path, text_field="Body", label_field=["year", "month"], id_field="n") == \
        {"texts": ["one", "two"], "ids": ["1", "2"], "labels": [["1993", "May"], []]}
    labelled = put("labelled.jsonl", json.dumps({"text": "one", "label": "a", "id": 3}))
    assert read_jsonl(labelled, label_field="", id_field="") == {"texts": ["one"]}


@pytest.mark.parametrize("line, words", [
    ('{"text": "no end', ["line 2", "not JSON"]), ('{"text":', ["line 2", "not JSON", "column 9"]), ('{"text": \n{"text": "b"}', ["line 2", "not JSON"]),
    ('["list"]', ["line 2", "object"]), ('{"text": 7}', ["line 2", "'text'", "7"]),
    ('{"title": "x"}', ["line 2", "'text'", "not there"]), ('{"text": "x", "id": 1}', ["line 2", "second time", "id_field"]),
    ('{"text": "x", "id": null}', ["line 2", "no 'id'"])])
def test_jsonl_faults(here, line, words):
    fails(read_jsonl, put("bad.jsonl", '{"text": "fine", "id": 1}\n' + line), *words)


def test_null_is_an_empty_text(here):
    """As an empty cell of a CSV file is."""
    rows = [dict(id=str(i), text=text, label="a") for i, text in enumerate(["one", None, "two", ""])]
    expected = {"texts": ["one", "", "two", ""], "ids": ["0", "1", "2", "3"], "labels": [["a"]]*4}
    assert read_jsonl(put("a.jsonl", "\n".join(map(json.dumps, rows)))) == read_jsonl(put("a.json", json.dumps(rows, indent=1))) == expected
    assert read_csv(put("a.csv", "id,text,label\n0,one,a\n1,,a\n2,two,a\n3,,a\n")) == expected
    for text in ('{"text": null}', '{"text": null}\n{"text": null, "id": 1}', '[{"text": null}]'):
        fails(read_jsonl, put("b.jsonl", text), "b.jsonl: field 'text' is null everywhere")


def test_labels_that_are_nan_are_none(here):
    np.savez("a.npz", X=np.eye(3), labels=[1, np.nan, 2.5])
    scipy.io.savemat("a.mat", dict(fea=np.eye(3), gnd=[1, np.nan, 2.5]))
    assert read_npz("a.npz")["labels"] == read_matlab("a.mat")["labels"] == [["1"], [], ["2.5"]]


def test_a_gap_in_the_labels_stays_a_gap(here):
    assert read_jsonl(put("a.jsonl", '{"text": "x", "labels": ["", "b"]}\n{"text": "y", "labels": ["a", null]}'))["labels"] == [["", "b"], ["a"]]
    assert read_csv(put("a.csv", "text,one,two\nx,,b\ny,a,\n"), label_field=["one", "two"])["labels"] == [["", "b"], ["a"]]
    np.savez("a.npz", X=np.eye(3), labels=[[-1, 1], [0, -1], [-1, -1]], label_names=["a", "b"])
    assert read_npz("a.npz")["labels"] == [["", "b"], ["a"], []]
    fails(read_jsonl, put("a.jsonl", '{"text": "x", "labels": {"a": 1}}'), "line 1", "label")


def test_jsonl_whole_file_faults(here):
    fails(read_jsonl, put("bad.jsonl", ""), "no documents")
    fails(read_jsonl, put("bad.jsonl", '{"a": "x", "b": "y"}'), "text_field", "'a', 'b'")
    fails(read_jsonl, put("bad.jsonl", '{"text": "x"}'), "'theme'", "label_field", label_field="theme")
    fails(read_jsonl, put("bad.json", '[{"text": "x"},\n{"text": ]'), "line 2", "not JSON")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv(here, delimiter):
    with open("docs.csv", "w", encoding="utf-8-sig", newline="") as f:
        writer = csv.writer(f, delimiter=delimiter)
        writer.writerows([["id", "text", "coarse", "fine"], *([i, t, *(l + ["", ""])[:2]] for i, t, l in zip(IDS, TEXTS, LABELS))])
    assert read_csv("docs.csv", label_field=["coarse", "fine"]) == {"texts": TEXTS, "ids": IDS, "labels": LABELS}


def test_csv_options(here):
    assert read_csv(put("a.csv", "one,x\ntwo,y\n"), text_field="0", label_field="1", header=False) == \
        {"texts": ["one", "two"], "labels": [["x"], ["y"]]}
    assert read_csv("a.csv", text_field=1, header=False)["texts"] == ["x", "y"]
    with pytest.raises(ValueError, match="delimiter must be one character"): read_csv("a.csv", delimiter="::")
    with pytest.raises(ValueError, match="b.csv, line 1: a single column, 'id,text': is delimiter=';' right"): read_csv(put("b.csv", "id,text\n1,a b\n"), delimiter=";")
    assert read_csv("b.csv", delimiter=";", text_field="id,text")["texts"] == ["1,a b"]
    assert read_csv(put("a.tsv", 'text\tlabel\n"unclosed\tx\n'), quote="") == {"texts": ['"unclosed'], "labels": [["x"]]}
    long = "word "*100_000
    assert read_csv(put("long.csv", f"text,label\n{long},x\n"))["texts"] == [long]
    assert csv.field_size_limit() == 131072                      # put back

@pytest.mark.parametrize("text, name", [("# exported 2024-11-01\nn,who,text\n1,Ada,a ball\n2,Bob,a vote\n", "# exported 2024-11-01"), ("n^text\n1^a ball\n", "n^text"),
                                        ("the first of the texts\nthe second\n", "the first of the texts"), ("wording\nfirst\n", "wording"),
                                        ("\nwording\nfirst\n".replace("first", "caf\xe9"), "wording")])
def test_a_single_column_is_mentioned(here, text, name):
    Path("a.csv").write_bytes(text.encode("latin-1"))
    with pytest.warns(UserWarning) as told: found = read_csv("a.csv")
    texts = text.strip().split("\n")[1:]
    assert found["texts"] == texts
    about = [str(w.message) for w in told if "single column" in str(w.message)]
    assert len(about) == 1 and about[0].startswith(f"a.csv: a single column, {name!r}, is taken for the text. ")
    for option in ("header=False", "delimiter=...", "text_field=..."): assert option in about[0]


@pytest.mark.parametrize("text, options", [("text\na ball\n", {}), (" Body \na ball\n", {}), ("# exported\na ball\n", dict(text_field="# exported")), ("a ball\na vote\n", dict(header=False)),
                                           ("n^text\n1^a ball\n", dict(delimiter="^")), ("n,text\n1,a ball\n", {})])
def test_a_single_column_that_is_meant_is_not_mentioned(here, text, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_csv(put("a.csv", text), **options)["texts"][0] == "a ball"


def test_the_limit_of_fields_is_put_back_by_the_last_reader(here):
    "Readers in several threads end in any order"
    before = csv.field_size_limit()
    for order in itertools.permutations(range(3)):
        readers = [_rows(None, ["a,b\n", "c,d\n"], _dialect(",", '"')) for _ in range(3)]
        for reader in readers: next(reader)
        for n, i in enumerate(order):
            assert csv.field_size_limit() > before
            if n == 1: readers[i].close()
            else: assert list(readers[i]) == [(2, ["c", "d"])]
        assert csv.field_size_limit() == before
    with pytest.warns(UserWarning, match="single column"): assert read_csv(put("one.csv", "wording\nfirst\nsecond\n"))["texts"] == ["first", "second"]


@pytest.mark.parametrize("content, words", [
    ("text,label\none,x\ntwo\n", ["line 3", "1 column where", "2"]), ("text,label\none,x\ntwo,y,z\n", ["line 3", "3 columns"]),
    ('text,label\n"one\nmore",x\n"two,y\n', ["line 4", "quote=''"]), ("a,b\none,x\n", ["text_field", "'a', 'b'"]),
    ("text,text\none,x\n", ["line 1", "same name"]), ("", ["empty"]),
    ('Report\n\nid,text\n1,"one"\n"two",more\n', ["line 5", "; columns are separated by '\\t')", "If 'Report' is a line above the names of the columns, take it out. If quotation marks mean"]),
    ('text,label\n"a \\"net",x\n"a ""ball""",y\n', ["line 2", "columns are separated by ','", 'must be doubled, "" and not \\"']),
    ('text,label\n"a \\", x",y,z\n', ["line 2", "4 columns where there should be 2"]), ("text,label\n", ["no documents"]),
    ("id,text\n1,x\n1,y\n", ["line 3", "second time"])])
def test_csv_faults(here, content, words):
    fails(read_csv, put("bad.csv", content), *words)


@pytest.mark.parametrize("text", ['a "net"', '"a net", it said', 'say "a, b", or "c"', 'it is "\nover"', '"', 'ends in \\'])
@pytest.mark.parametrize("separator", ",;\t")
def test_marks_behind_backslashes(here, text, separator):
    """As MySQL writes a table; Python, too, if it is told so."""
    with open("a.csv", "w", newline="") as f:
        writer = csv.writer(f, delimiter=separator, doublequote=False, escapechar="\\", quoting=csv.QUOTE_ALL)
        writer.writerows([["text", "label"], *([one, label] for one in (text, "a ball") for label in ("", "x"))])
    marked = '"' in text
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = read_csv("a.csv")
    assert [one.replace("\\\\", "\\") for one in found["texts"]] == [text, text, "a ball", "a ball"] and found["labels"] == [[], ["x"]]*2
    assert [str(w.message) for w in told] == marked*[r'a.csv: \" within a text was read as a quotation mark, as MySQL and Spark write it']


def test_backslashes_where_nothing_encloses_texts(here):
    path = put("a.csv", 'text,label\na\\,"net",x\n')
    fails(lambda path: read_csv(path, quote=""), path, "line 2", "3 columns where there should be 2")
    assert pickle.loads(pickle.dumps(_by_backslash(ValueError("no"), ";"))).separator == ";"


STORY = ('<!DOCTYPE lewis SYSTEM "lewis.dtd">\n<REUTERS TOPICS="YES" NEWID="1">\n<TOPICS><D>cocoa</D></TOPICS>\n<PLACES><D>usa</D></PLACES>\n'
         '<TEXT>&#2;\n<TITLE>COCOA &lt;CCA></TITLE>\n<DATELINE>  BAHIA - </DATELINE><BODY>Showers &amp; sun\n&#3;</BODY></TEXT>\n</REUTERS>\n'
         '<REUTERS TOPICS="YES" NEWID="2">\n<TOPICS><D>crude</D><D>ship</D></TOPICS>\n'
         '<TEXT TYPE="BRIEF">&#2;\n<TITLE>OIL</TITLE>\nblah\n&#3;</TEXT>\n</REUTERS>\n'
         '<REUTERS TOPICS="NO" NEWID="3">\n<TOPICS></TOPICS>\n<TEXT TYPE="UNPROC">&#2;\nno title, M\xfcnchen\n&#3;</TEXT>\n</REUTERS>\n')


def test_reuters(here):
    put("reut/reut2-000.sgm", STORY.encode("latin-1"))
    with tarfile.open("reuters.tar.gz", "w:gz") as archive: archive.add("reut")
    for path in ["reut", "reut/reut2-000.sgm", "reuters.tar.gz"]:
        assert guess_format(path) == "reuters"
        assert read_reuters(path) == {"texts": ["COCOA <CCA>\n\nShowers & sun", "OIL\n\nblah", "no title, München"],
                                      "ids": ["1", "2", "3"], "labels": [["cocoa"], [], []]}
    assert read_reuters("reut", single_topic=True)["ids"] == ["1"]


def test_reuters_faults(here):
    fails(read_reuters, put("cut.sgm", STORY[:150]), "line 2", "no </REUTERS>")
    fails(read_reuters, put("lost.sgm", STORY.replace("</REUTERS>", "", 1)), "line 2", "no </REUTERS>")
    fails(read_reuters, put("number.sgm", STORY.replace('NEWID="2"', "")), "line 10", "NEWID")
    fails(read_reuters, put("none.sgm", "nothing"), "no Reuters stories")
    with tarfile.open("letters.tar.gz", "w:gz") as archive: archive.add(put("letter.txt", "a letter"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fails(read_reuters, Path("letters.tar.gz"), "an archive, and there are no Reuters stories in it", "unpack it, and give the folder")
    put("reut/a.sgm", STORY*2000)
    with tarfile.open("reuters.tar.gz", "w:gz") as archive: archive.add("reut")
    whole = Path("reuters.tar.gz").read_bytes()
    fails(read_reuters, put("half.tar.gz", whole[:len(whole)//2]), "damaged or cut short")


# matrices as text

def cluto(dense=False):
    rows = [" ".join(f"{v:g}" for v in row) if dense else " ".join(f"{j + 1} {v:g}" for j, v in enumerate(row) if v) for row in X]
    return f"3 4{'' if dense else f' {np.count_nonzero(X)}'}\n" + "\n".join(rows) + "\n"


@pytest.mark.parametrize("dense", [False, True])
def test_cluto(here, dense):
    path = put("t.mat", cluto(dense))
    assert set(found := read_cluto(path)) == {"X"}
    same(found["X"])
    put("t.mat.rclass", "sport\n\nsport\n")
    put("t.clabel", "\n".join(VOCAB))
    put("t.mat.rlabel.gz", "\n".join(DOCS), gzip.open)
    found = read_cluto(path)
    same(found.pop("X"))
    assert found == {"vocab": VOCAB, "ids": DOCS, "labels": [["sport"], [], ["sport"]]}
    packed = put("t.mat.gz", cluto(dense), gzip.open)
    assert guess_format(packed) == "cluto" and read_cluto(packed)["vocab"] == VOCAB


@pytest.mark.parametrize("old, new, words", [
    ("3 4 4", "3 4 5", ["line 1", "5 entries announced, 4 found"]), ("3 4 4", "4 4 4", ["3 of 4 documents"]), ("3 4 4", "2 4 4", ["line 4", "2 documents"]),
    ("3 4 4", "3 2", ["line 2", "4 numbers", "2 terms"]), ("3 4 4", "3", ["line 1"]), ("3 4 4", "3 4 4.5", ["line 1"]),
    ("1 2 3 1", "1 two 3 1", ["line 2", "'two'"]), ("1 2 3 1", "1 2 3", ["line 2", "pairs"]), ("1 2 3 1", "1 2 5 1", ["line 2", "column number 5", "from 1 to 4"]),
    ("1 2 3 1", "0 2 3 1", ["line 2", "column number 0"]), ("1 2 3 1", "1 2 2.5 1", ["line 2", "2.5"]), ("2 5 4 0.5", "2 5 4 -1", ["line 4", "-1"]),
    ("2 5 4 0.5", "2 5 4 nan", ["line 4", "nan"]), ("2 5 4 0.5", "2 5 4 inf", ["line 4", "inf"])])
def test_cluto_faults(here, old, new, words):
    assert old in cluto()
    fails(read_cluto, put("bad.mat", cluto().replace(old, new)), *words)


def test_names_of_the_wrong_number(here):
    put("t.mat", cluto())
    for end, n in [(".clabel", 4), (".rlabel", 3), (".rclass", 3)]:
        file = put("t.mat" + end, "x\n"*(n - 1) + "x")
        read_cluto("t.mat")
        put("t.mat" + end, "x\n"*(n + 1))
        with pytest.raises(ValueError, match=f"{file}: {n + 1} lines, but the matrix has {n}"): read_cluto("t.mat")
        file.unlink()


def docword():
    entries = [f"{i + 1} {j + 1} {X[i, j]:g}" for i, j in zip(*X.nonzero())]
    return "\n".join(["3", "4", str(len(entries)), *entries]) + "\n"


def test_docword(here):
    path = put("docword.t.txt.gz", docword(), gzip.open)
    assert guess_format(path) == "docword"
    assert set(read_docword(path)) == {"X"}
    put("vocab.t.txt", "\n".join(VOCAB) + "\n")
    found = read_docword(path)
    same(found["X"])
    assert found["vocab"] == VOCAB
    assert read_docword(path, vocab=put("words", "\n".join("abcd")))["vocab"] == list("abcd")
    put("vocab.t.txt", "one\n")
    with pytest.raises(ValueError, match="vocab.t.txt: 1 lines, but the matrix has 4 words"): read_docword(path)


def test_no_entries(here):
    same(read_docword(put("docword.txt", "2\n3\n0\n"))["X"], np.zeros((2, 3)))
    same(read_cluto(put("t.mat", "2 3 0\n\n\n"))["X"], np.zeros((2, 3)))


@pytest.mark.parametrize("old, new, words", [
    ("\n4\n4\n", "\n4\n5\n", ["5 entries announced, 4 found"]), ("\n4\n4\n", "\n4\n3\n", ["3 entries announced, 4 found"]),
    ("3\n4\n4\n", "3\n4 4\n4\n", ["line 2", "one whole number"]), ("3\n4\n4\n", "3\nfour\n4\n", ["line 2", "'four'"]), ("1 3 1", "1 3", ["line 5", "3 numbers"]),
    ("1 3 1", "1 3 1 1", ["line 5", "3 numbers"]), ("1 3 1", "1 3 one", ["line 5", "'one'"]), ("1 3 1", "4 3 1", ["line 5", "row number 4", "from 1 to 3"]),
    ("1 3 1", "1 0 1", ["line 5", "column number 0"]), ("1 3 1", "1 3 -1", ["line 5", "-1"]), ("1 3 1", "\n\n1 9 1", ["line 7", "column number 9"])])
def test_docword_faults(here, old, new, words):
    assert old in docword()
    fails(read_docword, put("docword.bad.txt", docword().replace(old, new, 1)), *words)


def test_entries_cut_short(here):
    packed = gzip.compress(("30\n40\n1200\n" + "\n".join(f"{i + 1} {j + 1} {i*j + 1}" for i in range(30) for j in range(40))).encode())
    fails(read_docword, put("docword.gz", packed[:-200]), "line", "damaged or cut short")
    fails(read_matrix_market, put("m.mtx.gz", gzip.compress(b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n")[:-6]), "cut short",
          orient="documents x terms")


def test_docword_header_cut(here):
    fails(read_docword, put("docword.bad.txt", "3\n4\n"), "line 3", "header")


def test_matrix_market(here):
    scipy.io.mmwrite("few_matrix.mtx", sp.coo_matrix(X.T))
    fails(read_matrix_market, "few_matrix.mtx", "orient")
    same(read_matrix_market("few_matrix.mtx", orient="terms x documents")["X"])
    put("few_dictionary.txt", "\n".join(VOCAB) + "\n")
    found = read_matrix_market("few_matrix.mtx")
    same(found["X"])
    assert found["vocab"] == VOCAB and "ids" not in found
    put("few_documents.txt", "\n".join(DOCS) + "\n")
    assert read_matrix_market("few_matrix.mtx")["ids"] == DOCS
    scipy.io.mmwrite("few_matrix.mtx", sp.coo_matrix(X))
    same(read_matrix_market("few_matrix.mtx")["X"])              # told from the lengths
    fails(read_matrix_market, "few_matrix.mtx", "3 x 4", "terms x documents", orient="terms x documents")
    put("few_dictionary.txt", "one\ntwo\n")
    fails(read_matrix_market, "few_matrix.mtx", "3 x 4", "2 terms")
    with pytest.raises(ValueError, match="orient must be one of"): read_matrix_market("few_matrix.mtx", orient="upright")


@pytest.mark.parametrize("kind", ["sparse", "dense", "pattern", "integer", "gz"])
def test_matrix_market_kinds(here, kind):
    M = {"pattern": (X > 0)*1., "integer": np.ceil(X)}.get(kind, X)
    if kind == "dense": scipy.io.mmwrite("m.mtx", M)
    elif kind == "pattern": scipy.io.mmwrite("m.mtx", sp.coo_matrix(M), field="pattern")
    else: scipy.io.mmwrite("m.mtx", sp.coo_matrix(M.astype(int) if kind == "integer" else M))
    path = put("m.mtx.gz", Path("m.mtx").read_bytes(), gzip.open) if kind == "gz" else "m.mtx"
    assert guess_format(path) == "matrix-market"
    same(read_matrix_market(path, orient="documents x terms")["X"], M)


def test_square_matrix_needs_to_be_told(here):
    scipy.io.mmwrite("m.mtx", sp.coo_matrix(np.eye(3)*[1, 2, 3] + np.eye(3, k=1)))
    put("dictionary.txt", "a\nb\nc\n")
    fails(read_matrix_market, "m.mtx", "orient")


@pytest.mark.parametrize("content, words", [
    ("1 1 1\n", ["line 1", "MatrixMarket"]), ("%%MatrixMarket matrix coordinate complex general\n", ["line 1", "complex"]),
    ("%%MatrixMarket matrix coordinate real symmetric\n", ["line 1", "symmetric"]), ("%%MatrixMarket matrix coordinate real general\n% c\n\n2 2\n", ["line 4", "entries"]),
    ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n", ["2 entries announced, 1 found"]),
    ("%%MatrixMarket matrix coordinate real general\n% c\n2 2 1\n3 1 1\n", ["line 4", "row number 3"]),
    ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", ["4 entries announced, 3 found"])])
def test_matrix_market_faults(here, content, words):
    fails(read_matrix_market, put("bad.mtx", content), *words, orient="documents x terms")


def test_svmlight(here):
    from sklearn.datasets import dump_svmlight_file
    for zero_based in [True, False]:
        dump_svmlight_file(sp.csr_matrix(X), [1, 2, 1], "t.svm", zero_based=zero_based, comment="a comment")
        found = read_svmlight("t.svm")
        same(found["X"])
        assert found["labels"] == [["1"], ["2"], ["1"]]
    found = read_svmlight(put("t.txt", "# c\n+1 qid:3 1:2 3:1 # c\n\n2,3\n2:5 4:0.5\n"))
    same(found["X"])
    assert found["labels"] == [["+1"], [], []]
    assert read_svmlight("t.txt", n_terms=9)["X"].shape == (3, 9)
    assert read_svmlight("t.txt", zero_based=True)["X"].shape == (3, 5)
    assert read_svmlight("t.txt", vocab=put("words", "\n".join(VOCAB)))["vocab"] == VOCAB
    assert read_svmlight("t.txt", vocab="words", n_terms=len(VOCAB))["X"].shape == (3, len(VOCAB))
    with pytest.raises(ValueError, match=f"n_terms=9, but there are {len(VOCAB)} in vocab: leave n_terms out"): read_svmlight("t.txt", vocab="words", n_terms=9)


@pytest.mark.parametrize("read_it, argument", [(read_svmlight, "vocab"), (read_docword, "vocab"), (read_matrix_market, "dictionary"), (read_matrix_market, "documents")])
def test_words_and_names_are_in_a_file(here, read_it, argument):
    path = put("a.txt", "2\n2\n1\n1 1 1\n" if read_it is read_docword else "1 1:2\n")
    with pytest.raises(ValueError, match=f"^{argument} must be in a file, one a line: give its path, not a list of 2"): read_it(path, **{argument: ["ball", "vote"]})


@pytest.mark.parametrize("line, words", [
    ("2 1:1 2", ["label term:value"]), ("2 1:1:1 2", ["label term:value"]), ("2 :1", ["label term:value"]), ("2 1:", ["label term:value"]), ("2 1:x", ["'x'"]),
    ("2 1.5:1", ["1.5"]), ("2 1:-1", ["-1"]), ("2 9:1", ["column number 9"])])
def test_svmlight_faults(here, line, words):
    fails(read_svmlight, put("bad.svm", "1 1:2 3:1\n" + line), "line 2", *words, n_terms=4)
    fails(read_svmlight, put("none.svm", "# nothing\n"), "no documents")


# containers

def cells(words):
    out = np.empty((len(words), 1), dtype=object)
    out[:, 0] = words
    return out


@pytest.mark.parametrize("sparse", [True, False])
def test_matlab(here, sparse):
    wrap = sp.csc_matrix if sparse else np.array
    scipy.io.savemat("t.mat", {"fea": wrap(X), "gnd": np.array([[1], [2], [1]], dtype=np.uint8)})
    assert guess_format("t.mat") == "matlab"
    found = read_matlab("t.mat")
    same(found["X"])
    assert found["labels"] == [["1"], ["2"], ["1"]]
    scipy.io.savemat("t.mat", {"A": wrap(X.T), "labels": cells(CLASSES), "terms": cells(VOCAB)})
    found = read_matlab("t.mat")
    same(found["X"])
    assert found["labels"] == [[c] for c in CLASSES] and found["vocab"] == VOCAB
    scipy.io.savemat("t.mat", {"mine": wrap(X), "cats": [1., 2., 1.], "names": DOCS})
    found = read_matlab("t.mat", matrix="mine", labels="cats", ids="names")
    assert found["labels"] == [["1"], ["2"], ["1"]] and found["ids"] == DOCS


def test_matlab_faults(here):
    scipy.io.savemat("t.mat", {"one": X, "two": X})
    fails(read_matlab, "t.mat", "matrix=", "one, two")
    fails(read_matlab, "t.mat", "'three'", matrix="three")
    scipy.io.savemat("t.mat", {"A": X})
    fails(read_matlab, "t.mat", "orient")
    scipy.io.savemat("t.mat", {"A": X, "gnd": np.ones((5, 1))})
    fails(read_matlab, "t.mat", "3 x 4", "5 documents")
    scipy.io.savemat("t.mat", {"fea": X, "gnd": np.ones((3, 2))})
    fails(read_matlab, "t.mat", "gnd is 3 x 2")
    scipy.io.savemat("t.mat", {"fea": -X})
    fails(read_matlab, "t.mat", "negative")
    whole = Path("t.mat").read_bytes()
    fails(read_matlab, put("cut.mat", whole[:len(whole)//2]), "not a readable MATLAB file")
    v73 = put("v73.mat", b"\x89HDF\r\n\x1a\n" + bytes(600))
    assert guess_format(v73) == "matlab"
    fails(read_matlab, v73, "7.3", "-v7")
    header = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM" + bytes(400)
    fails(read_matlab, put("v73b.mat", header), "7.3", "-v7")


def test_npz(here):
    sp.save_npz("a.npz", sp.csr_matrix(X))
    same(read_npz("a.npz")["X"])
    sp.save_npz("a.npz", sp.csc_matrix(X))
    same(read_npz("a.npz")["X"])
    S = sp.csr_matrix(X)
    np.savez("a.npz", data=S.data, indices=S.indices, indptr=S.indptr, shape=S.shape, terms=VOCAB, ids=DOCS,
             labels=[[0, 1], [1, -1], [-1, -1]], label_names=["sport", "hockey"], texts=TEXTS[:3])
    found = read_npz("a.npz")
    same(found.pop("X"))
    assert found == {"vocab": VOCAB, "ids": DOCS, "labels": [["sport", "hockey"], ["hockey"], []], "texts": TEXTS[:3]}
    np.savez("a.npz", X=X, y=CLASSES, vocab=np.array(VOCAB, dtype="S"))
    found = read_npz("a.npz")
    same(found["X"])
    assert found["labels"] == [[c] for c in CLASSES] and found["vocab"] == VOCAB
    np.savez("a.npz", mine=X, y=[3, -1, 4])
    assert read_npz("a.npz", matrix="mine")["labels"] == [["3"], [], ["4"]]


def test_npz_faults(here):
    S = sp.csr_matrix(X)
    parts = dict(data=S.data, indices=S.indices, indptr=S.indptr, shape=S.shape)
    for change, words in [(dict(indices=S.indices + 3), ["matrix can't be used"]), (dict(data=S.data[:-1]), ["bad.npz"]), (dict(data=-S.data), ["negative"]),
                          (dict(data=S.data*np.nan), ["NaN"]), (dict(labels=[0, 1, 5], label_names=["a", "b"]), ["label 5"])]:
        np.savez("bad.npz", **{**parts, **change})
        fails(read_npz, "bad.npz", *words)
    np.savez("bad.npz", one=X, two=X)
    fails(read_npz, "bad.npz", "matrix=", "one, two")
    np.savez("bad.npz", X=np.array([{"any": 1}]))
    fails(read_npz, "bad.npz", "not a readable .npz")
    whole = Path("bad.npz").read_bytes()
    fails(read_npz, put("bad.npz", whole[:-30]), "cut short")
    fails(read_npz, put("bad.npz", "text"), "not an .npz")
    np.savez("bad.npz", X=X*1j)
    fails(read_npz, "bad.npz", "can't be used", "complex")
    np.savez("bad.npz", X=np.array([["a"]]))
    fails(read_npz, "bad.npz", "can't be used")


# which format

def test_guess(here):
    for name, content, format in [
            ("a.jsonl", "", "jsonl"), ("a.JSON.GZ", "", "jsonl"), ("a.csv", "", "csv"), ("a.tsv.xz", "", "csv"), ("a.npz", "", "npz"), ("a.svm", "", "svmlight"),
            ("a.mat.rclass", "1\n2\n3\n4\n", None), ("a.txt", "1 3:2 4:1\n", "svmlight"), ("b.txt", "a story\n", "lines"), ("x.log", "a story\n", "lines"), ("y.log", "\0", None), ("b", '{"text": 1}', "jsonl"),
            ("c.txt", "3\n2\n1\n1 1 1\n", "docword"), ("c.mat", "3 4 5\n1 1\n", "cluto"), ("x.mat", "what\n", "cluto"), ("d.txt", "3 wise men\n", "lines"), ("e.txt", "", None),
            ("f.pdf", "%PDF", None), ("g.bin", b"\0\1", None), ("h.txt", "%%MatrixMarket matrix\n", "matrix-market")]:
        assert guess_format(put(name, content)) == format, name


def test_folder_of_collections_is_asked_about(here):
    put("docs/a.txt", "text")
    assert guess_format("docs") == "folder"
    put("docs/sub/b.mat", "1 1 1")
    put("docs/sub/b.mat.clabel", "x")
    fails(guess_format, "docs", "sub/b.mat", "format='folder'")


# originals

ORIGINAL = Path(os.environ.get("NMF2_DATA", "nowhere"))/"original"
originals = pytest.mark.skipif(not ORIGINAL.is_dir(), reason="needs NMF2_DATA, a folder with original/ in it")


@originals
@pytest.mark.parametrize("path, shape, nnz, keys", [
    ("cluto/tr11.mat", (414, 6429), 116613, {"labels"}), ("cluto/re0.mat", (1504, 2886), 77808, {"labels"}),
    ("cluto/la1.mat", (3204, 31472), 484024, {"labels", "vocab"}), ("uci/docword.kos.txt.gz", (3430, 6906), 353160, set()),
    ("smallk/articles_matrix.mtx", (2424, 11358), 142296, {"vocab", "ids"}),
    ("matlab/Reuters21578.mat", (8293, 18933), 389455, {"labels"}), ("matlab/classic3.mat", (3891, 4303), 176347, {"labels", "vocab"})])
def test_original_matrices(path, shape, nnz, keys):
    path = ORIGINAL/path
    if not path.exists(): pytest.skip(f"{path} is not there")
    found = READERS[guess_format(path)](path)
    assert found["X"].shape == shape and found["X"].nnz == nnz and set(found) == {"X"} | keys


@originals
@pytest.mark.parametrize("name", ["tr11", "re0", "la1"])
def test_cluto_as_text_and_npz(name):
    a, b = read_cluto(ORIGINAL/f"cluto/{name}.mat"), read_npz(ORIGINAL.parent/f"cluto/{name}.npz")
    assert (a["X"] != b["X"]).nnz == 0 and a["labels"] == b["labels"] and a.get("vocab") == b.get("vocab")


@pytest.mark.slow
@originals
def test_original_reuters():
    path = ORIGINAL/"reuters/reuters21578.tar.xz"
    if not path.exists(): pytest.skip(f"{path} is not there")
    found = read_reuters(path)
    assert len(found["ids"]) == 21578 and sum(map(bool, found["labels"])) == 9494
    records = read_jsonl(ORIGINAL.parent/"reuters21578.jsonl.xz")
    assert found["ids"] == records["ids"] and found["labels"] == records["labels"]
    assert [t.split() for t in found["texts"]] == [t.split() for t in records["texts"]]


# tables

CELLS = ["goal", "3 wise men", "CRAN.471", "comp.graphics/37261", "wörld", "東京", "it's", "a,b", 'a"b', "a|b", "may", "MP3", "TRUE story",
         "d12", "E5", "x0", "T-0042", "A-1", "q_07"]
MARKED = ["0010", "010", "00", "", "1e5", "1E+5", " 7", "1_000", "0x1F", "0xFF", "1-2", "2024-01-05", "MAR1", "1 May", "10:30", "10 am", "True", "FALSE", "NA",
          "n/a", "null", "nan", "None", "<NA>", "#N/A", "1.#IND", "inf", "=1+1", "+1", "-1", "@A1", "\t=1", "\r=1", "\n=1", "'tis", "''", '"', "＝1", "１２",
          "½", "5 €", "€5", "5%", "(5)", "d0\r=1+0", "1,5", "12345678901234567", "\ufeffx"]
BREAKS = ["a\rb", "a\r\nb", "a\nb", "a\x0b=b", "a\x0cb", "a\x85=b", "a\u2028=b", "a\x1cb", "a\tb", "a;b", "trailing "]


def test_which_texts_are_marked():
    assert [text for text in CELLS + BREAKS if as_cell(text) != text] == []
    assert [text for text in MARKED if as_cell(text) != "'" + text] == []
    assert [as_cell(v) for v in (None, 3, -1.5, np.inf, -np.inf, np.nan, np.float32(2), np.int64(-2), True, "17", "0", Path("a"))] == \
        ["", 3, -1.5, "", "", "", 2, -2, True, "17", "0", "a"]


def test_a_folder_of_files_that_are_no_text(here):
    Path("scans").mkdir()
    for name in "ab": Path(f"scans/{name}.pdf").write_bytes(b"%PDF-1.4\nstream of letters\n%%EOF")        # not a single zero byte
    with pytest.raises(ValueError, match=r"scans: no file here is text \(a.pdf, b.pdf\): text files have to be made of them first$"): read_folder("scans")
    Path("scans/note.txt").write_text("a note")
    with pytest.warns(UserWarning, match="2 of 3 files are not text and left out, the first a.pdf"): assert read_folder("scans")["texts"] == ["a note"]
    assert len(read_folder("scans", encoding="utf-8")["texts"]) == 3


def test_texts_in_several_fields_are_joined(here):
    Path("t.csv").write_text("subject,body,\"a,b\"\na b,c d,1\ne f,,\n,g h,3\n")
    texts = ["a b\n\nc d", "e f", "g h"]
    for asked in ("subject,body", "subject, body", ["subject", "body"], ("subject", "body", "subject")):
        for options in ({}, dict(encoding="utf-8")): assert read_csv("t.csv", text_field=asked, **options)["texts"] == texts
    assert read_csv("t.csv", text_field="a,b")["texts"] == ["1", "", "3"]                       # the name of a column
    assert read_csv("t.csv", text_field=["body", "a,b"])["texts"] == ["c d\n\n1", "", "g h\n\n3"]
    assert read("t.csv", text_field="subject,body").reading["text_field"] == ["subject", "body"]
    with pytest.raises(ValueError, match="no field 'title', asked for by text_field. There are: 'subject', 'body', 'a,b'$"):
        read_csv("t.csv", text_field="subject,title")
    with pytest.raises(ValueError, match="text_field must be the name of a field, or several; got ''"): read_csv("t.csv", text_field="")
    records = [{"id": 1, "subject": "a b", "body": "c d"}, {"id": 2, "subject": "e f"}, {"id": 3, "subject": None, "body": "g h"}]
    lines = put("t.jsonl", "\n".join(map(json.dumps, records)))
    for path in (lines, put("t.json", json.dumps(records))):
        assert read_jsonl(path, text_field="subject,body") == {"texts": texts, "ids": ["1", "2", "3"]}
    with pytest.warns(UserWarning, match="t.jsonl: no field 'memo' was seen, asked for by text_field") as told:
        assert read_jsonl(lines, text_field=np.array(["subject", "memo", "body"]))["texts"] == texts
    assert len(told) == 1
    fails(read_jsonl, lines, "no field 'memo'", text_field=["memo", "note"])
    fails(read_jsonl, put("u.jsonl", lines.read_text() + '\n{"id": 4}'), "line 4: none of the fields 'subject', 'body' is there", text_field="subject,body")
    fails(read_jsonl, put("v.jsonl", '{"a": null, "b": null, "c": 1}'), "fields 'a', 'b' are null everywhere", text_field="a,b")
    fails(read_jsonl, put("w.jsonl", '{"a": "x", "b": 1}'), "line 1: field 'b' should be a string and is 1", text_field="a,b")


def test_fields_within_fields(here):
    records = [{"id": "a", "data": {"body": "puck", "more": {"kind": "ice"}}}, {"id": "b", "data": {"body": None}, "d.e": "x"}]
    path = put("t.jsonl", "\n".join(map(json.dumps, records)))
    assert read_jsonl(path, text_field="data.body", label_field="data.more.kind", columns="d.e") == \
        {"texts": ["puck", ""], "ids": ["a", "b"], "labels": [["ice"], []], "columns": {"d.e": [None, "x"]}}
    fails(read_jsonl, path, "there are: 'id', 'data', 'data.body', 'data.more', 'data.more.kind', 'd.e'")
    fails(read_jsonl, path, "field 'data' should be a string and is a dict of 2", text_field="data")
    fails(read_jsonl, path, "no field 'data.title'", text_field="data.title")
    assert read_jsonl(put("n.jsonl", '{"d": {"t": "x"}}\n{"d": null}\n{"d": {"t": null}}'), text_field="d.t") == {"texts": ["x", "", ""]}
    fails(read_jsonl, put("n.jsonl", '{"d": {"t": "x"}}\n{"e": null}'), "line 2", "is not there", text_field="d.t")
    nested = {"a": {"b.c": 1, "b": {"d": 2}}, "a.b": {"x": 3}, "e": {}, "f": [{"g": 1}]}
    names = {"a.b.c": 1, "a.b.d": 2, "a.b.x": 3, "e": {}, "f": [{"g": 1}], "a": nested["a"], "a.b": {"x": 3}}
    assert {*field_names_of(nested)} == {*names} and {name: value_at(nested, name) for name in names} == names
    assert [value_at(nested, name, 0) for name in ("a.b.e", "f.g", "e.x", "a.b.c.d", "", ".", "a.")] == [0]*7


def test_tables_are_read_as_they_were_written(here):
    texts = CELLS + MARKED + BREAKS
    write_table("t.csv", ["n", "text"], list(enumerate(texts)))
    with open("t.csv", newline="", encoding="utf-8") as f: rows = list(csv.reader(f))
    assert len(rows) == 1 + len(texts) and rows[0] == ["n", "text"]
    assert [row[1].removeprefix("'") for row in rows[1:]] == texts
    assert not any(cell[:1] in tuple("=+-@\t\r\n") for row in rows for cell in row)
    assert read_csv("t.csv")["texts"] == [row[1] for row in rows[1:]]


def test_tables_in_pandas(here):
    pd = pytest.importorskip("pandas")
    texts = CELLS + MARKED + BREAKS
    write_table("t.csv", ["n", "text"], list(enumerate(texts)))
    found = pd.read_csv("t.csv")
    assert [text.removeprefix("'") for text in found["text"]] == texts
    for text in texts:
        write_table("t.csv", ["text"], [[text]])
        assert pd.read_csv("t.csv")["text"].tolist() == [as_cell(text)], text
    nodes = ["root", "root/0", "root/1", "root/00", "root/010"]
    write_table("t.csv", ["node", "parent"], list(zip(nodes, [None, *nodes])))
    found = pd.read_csv("t.csv")
    assert found["node"].tolist() == nodes and found["parent"].isna().tolist() == [True] + [False]*4


def test_tables_of_odd_things(here):
    write_table("t.csv", ["text"], [["a\0=1"], ["\udc80"], [None]])
    assert Path("t.csv").read_text().split("\n") == ["text", "'a\\x00=1", "'\\udc80", "", ""]


# what some programs add

@pytest.mark.parametrize("first", ["sep=;\r\n", '"sep=;"\r\n', "\ufeffsep=;\r\n", "SEP=;\n"])
def test_a_first_line_that_names_the_delimiter(here, first):
    rows = 'id;text\r\n1;"puck, ice, stick"\r\n2;racket\r\n'
    assert read_csv(put("a.csv", first + rows)) == read_csv(put("b.csv", rows)) == {"texts": ["puck, ice, stick", "racket"], "ids": ["1", "2"]}
    assert read_csv(put("a.csv", first + rows.replace(";", "~")), delimiter="~")["ids"] == ["1", "2"]
    fails(read_csv, put("a.csv", first + rows + "3\r\n"), "line 5", "1 column where there should be 2 by the first line")
    fails(read_csv, put("a.csv", first + "id;text;id\r\n"), "line 2", "same name")


def test_lines_that_only_resemble_it(here):
    for text in ["sep=ab\n1\n", "sep=\n1\n", "separate\n1\n"]:
        with pytest.warns(UserWarning, match="single column"): assert read_csv(put("a.csv", text), text_field=None)["texts"] == ["1"]
    fails(read_csv, put("a.csv", "sep=;\n"), "empty")
    fails(read_csv, put("a.csv", "\nsep=;\n1\n"), "which field")          # not the first line: the names of two columns


@pytest.mark.slow
@pytest.mark.parametrize("head", ["", "text\r"])
def test_millions_of_empty_lines_are_noticed_soon(here, head):
    path = put("a.csv.gz", head.encode() + b"\r"*(2**21), gzip.open)
    fails(read_csv, path, "empty lines", "limits=False")


def test_one_object_over_several_lines(here):
    path = put("one.jsonl", '{\n "message": "all is well", "docs": [{"text": "a"}],\n "more": [1]\n}\n')
    with pytest.raises(ValueError, match="it is one JSON object with lists of others, and these may be the documents: 'docs'. Make a file of such a list"): read_jsonl(path)
    assert read_jsonl(path, text_field="message")["texts"] == ["all is well"]
    with pytest.raises(ValueError, match="may be the documents: 'docs', 'data'"): read_jsonl(put("one.jsonl", '{"text": "a", "docs": [{"Body": "b"}], "data": [{}, {"text": "c"}]}'))
    assert read_jsonl(put("one.jsonl", '{"text": "a",\n "authors": [{"name": "ann"}]}'))["texts"] == ["a"]
    for text, told in [('{"a":\n 1}\n', "field 'a' should be a string and is 1$"), ('{"a":\n 1, "b": 2}\n', "which field holds the text.*'a', 'b'$"), ('{\n "text": "a",\n "b" 2}\n', "line 3: not JSON"),
                       ('{"text":\n null}', "null everywhere")]:
        with pytest.raises(ValueError, match=told): read_jsonl(put("one.jsonl", text))
    with pytest.raises(ValueError, match="line 1: not JSON"): read_jsonl(put("cut.jsonl", '{"text": "a",\n'))
    with pytest.raises(ValueError, match="line 1: not JSON"): read_jsonl(put("wrong.jsonl", '{"text": a}\n' + '{"text": "b"}\n'*3))
    with pytest.raises(ValueError, match="line 2: not JSON"): read_jsonl(put("second.jsonl", '{"text": "a"}\n{"text":\n "b"}\n'))


def boxed(subject, text): return f"{FIRST}\nSubject: {subject}\nDate: Thu, 1 Jan 2004 12:00:00 +0000\n\n{text}\n\n"


def test_several_files_of_a_folder(here):
    "One collection, in the order of the names; ids that are different, or else the names of files with numbers, or numbers"
    put("m/b.mbox", boxed("one", "a") + boxed("two", "b")), put("m/a/Inbox", boxed("three", "c")), put("m/a/Inbox.msf", "x"), put("m/Drafts", "")
    assert guess_format("m") == "mbox"
    with pytest.warns(UserWarning, match="2 files read, left alone 2 of another kind .Drafts, a/Inbox.msf."): corpus = read("m", columns="date")
    assert corpus.texts == ["three\n\nc", "one\n\na", "two\n\nb"] and list(corpus.ids) == ["a/Inbox:1", "b.mbox:1", "b.mbox:2"]
    assert list(corpus.columns["date"]) == ["2004-01-01 12:00:00"]*3 and corpus.reading["format"] == corpus.reading["seen"] == "mbox"
    put("t/1.csv", "id,text,label,on\n7,ball,sport,x\n"), put("t/2.csv.gz", b"text;on;label;id\nvote;y;law;8\nhorse;z;;9\n", gzip.open), put("t/3.tsv", "id\ttext\tlabel\ton\n")
    with pytest.warns(UserWarning, match="2 files read, left alone 1 without documents .3.tsv."): corpus = read("t", columns=["on"])
    assert corpus.texts == ["ball", "vote", "horse"] and list(corpus.ids) == [*"789"] and list(corpus.labels[:,0]) == ["sport", "law", ""] and list(corpus.columns["on"]) == [*"xyz"]
    Path("t/3.tsv").unlink()
    assert read("t", "csv", id_field="", limits=False).ids.tolist() == [*"012"]
    put("j/1.jsonl", '{"body": "a"}\n{"body": "b"}\n'), put("j/2.json", '[{"body": "c"}]'), put("j/_SUCCESS", "")
    with pytest.warns(UserWarning, match="left alone 1 of another kind ._SUCCESS."): corpus = read("j")
    assert corpus.texts == [*"abc"] and corpus.ids.tolist() == [*"012"] and corpus.labels is None
    put("new.jsonl", '{"text": "e", "body": "d"}')
    assert read("new.jsonl", like=corpus.reading).texts == ["d"]


def test_documents_of_a_file_each(here):
    for i in range(3): put(f"f/{i}.json", json.dumps({"title": "t", "text": f"text {i}"}, indent=1))
    corpus = read("f")
    assert corpus.texts == [f"text {i}" for i in range(3)] and corpus.ids.tolist() == [f"{i}.json" for i in range(3)]
    assert read("f/1.json").texts == ["text 1"] and read("f", text_field="title").texts == ["t"]*3
    put("f/3.json", '{"wording": "w",\n "n": [1]}')
    with pytest.raises(ValueError, match="f/3.json: which field holds the text.*'wording', 'n'"): read("f")
    assert read("f/3.json", text_field="wording").texts == ["w"]
    put("f/3.json", '{"text": null}')
    assert read("f").texts[2:] == ["text 2", ""] and read("f").ids[3] == "3.json"                # as in one file
    for i in range(3): put(f"f/{i}.json", '{"text": null}')
    with pytest.raises(ValueError, match="f/0.json: field 'text' is null everywhere"): read("f")
    put("g/car/a.json", '{"text": "wheel"}'), put("g/cat/b.json", '{"text": "fur"}')
    assert read("g").labels[:,0].tolist() == ["car", "cat"] and read("g", label_field="").labels is None


def test_files_that_do_not_go_together(here):
    def odd(words, *tables, **options):
        for name, table in zip("ab", tables): put(f"o/{name}.csv", table)
        with pytest.raises(ValueError, match="^o.*" + words): read("o", **options)
    odd("in b.csv the texts are in 'body', in a.csv in 'text'. Give it the same name in all, or say which field it is with text_field=... if all have it$", "text,n\nx,1\n", "body,n\ny,2\n")
    odd("b.csv: no field 'text', asked for by text_field", "text,n\nx,1\n", "body,n\ny,2\n", text_field="text")
    odd("in b.csv the labels are in 'topic', in a.csv in 'label'. Give it the same name in all, or pass label_field='' for none", "text,label\nx,1\n", "text,topic\ny,2\n")
    odd("in b.csv the names of documents are nowhere, in a.csv in 'id'.*id_field='' for none", "text,id\nx,1\n", "text,n\ny,1\n")
    odd("'1' is a document in a.csv and another in b.csv; pass id_field='' and documents", "text,id\nx,1\n", "text,id\ny,1\n")
    odd("b.csv, line 2: 1 column where", "text,id\nx,1\n", "text,id\ny\n")
    put("o/b.csv", "text,id\ny,1\n")
    assert read("o", "csv", text_field="text", id_field="").texts == [*"xy"]
    for name in "ab": put(f"o/{name}.csv", "")
    odd("there are no documents in what could be csv: a.csv, b.csv", "", "text\n", format="csv")
    put("o/c.jsonl", '{"text": "a"}')
    odd("look like collections themselves: a.csv, b.csv, c.jsonl. Name one of them, or take each", "", "")
    put("p/a.csv", "text\na\n"), put("p/b.txt", "a"), put("p/c.txt", "a")
    with pytest.raises(ValueError, match="collections themselves: a.csv. Name one of them, read these alone with format='csv', or take"): read("p")
    with pytest.warns(UserWarning, match="1 file read, left alone 2 of another kind"): assert read("p", "csv").texts == ["a"]
    with pytest.raises(ValueError, match="p: no file in this folder ends in .mbox or holds mails"): read("p", "mbox")
    with pytest.raises(ValueError, match="p: no file in this folder ends in .jsonl, .ndjson, .json"): read("p", "jsonl")


def test_a_folder_of_arrow_files(here):
    pa = pytest.importorskip("pyarrow")
    for name, text in [("1.arrow", "a"), ("2.feather", "b")]:
        Path("w").mkdir(exist_ok=True)
        table = pa.table({"text": [text]})
        with pa.ipc.new_file(f"w/{name}", table.schema) as writer: writer.write_table(table)
    Path("w/c.arrow").touch(), Path("w/note.md").touch()
    assert guess_format("w") == "arrow"
    with pytest.warns(UserWarning, match="2 files read, left alone 1 without documents .c.arrow., 1 of another kind .note.md."): assert read("w").texts == [*"ab"]


def test_gaps_in_some_files_of_a_folder(here):
    "Of labels and columns, as in one file; not what is in none"
    put("g/1.csv", "Text,id,label,on\na,1,x,May\n"), put("g/2.csv", "text,id\nb,2\n"), put("g/3.csv", "text,id,on\nc,3,June\n")
    with pytest.warns(UserWarning, match="g: only 1 of 3 files have labels"): corpus = read("g")
    assert corpus.texts == [*"abc"] and corpus.labels[:,0].tolist() == ["x", "", ""] and corpus.reading["label_field"] == ["label"]
    with pytest.warns(UserWarning) as told: corpus = read("g", label_field="label", columns=["on"])
    assert [str(w.message) for w in told] == ["g: 2 of 3 files have no field 'label'", "g: 1 of 3 files have no field 'on'", "g: only 1 of 3 files have labels"]
    assert corpus.labels[:,0].tolist() == ["x", "", ""] and list(corpus.columns["on"]) == ["May", None, "June"]
    put("h/1.csv", "text,on\na,May\n"), put("h/2.csv", "text\n")                                # lacks it, and has no documents
    with pytest.warns(UserWarning, match="h: 1 file read, left alone 1 without documents .2.csv.") as told: assert list(read("h", columns="on").columns["on"]) == ["May"]
    assert len(told) == 1
    for options in (dict(columns=["on", "off"]), dict(columns="off"), dict(label_field="off")):
        with pytest.raises(ValueError, match="g/1.csv: no field 'off', asked for by"): read("g", **options)
    with pytest.raises(ValueError, match="g/2.csv: no field 'Text', asked for by text_field"): read("g", text_field="Text")


def test_mailboxes_among_other_files(here):
    "Those of a program for mail, with what it keeps beside them; but one among many texts is a text"
    for name in ("Inbox", "Sent", "Old.sbd/2003"): put(f"p/{name}", boxed("a", "b")*2), put(f"p/{name}.msf", "x")
    put("p/AAA.txt", "a note"), put("p/folderTree.json", "{}"), put("p/folderCache.json", "{}"), put("p/filter.dat", "x"), put("p/~$a.csv", "x")
    assert guess_format("p") == "mbox"
    with pytest.warns(UserWarning, match="3 files read"): corpus = read("p")
    assert len(corpus) == 6 and corpus.labels[:,0].tolist() == [""]*2 + ["Old.sbd"]*2 + [""]*2
    for i in range(4): put(f"q/{i}.html", "<p>a letter</p>")
    put("q/notes.txt", boxed("a", "b"))
    assert guess_format("q") == "folder" and len(read("q")) == 5
    with pytest.warns(UserWarning): assert len(read("q", "mbox")) == 1
    with pytest.warns(UserWarning, match="left alone"): assert len(read("q", like=dict(format="mbox", seen="folder"))) == 1
    assert len(read("q", like=dict(format="mbox", seen="unclear"))) == 5                         # this one is clear
    put("s/a.csv", "text\na\n"), put("s/b.csv", "text\nb\n")
    assert len(read("s", like=dict(format="folder", seen="unclear"))) == len(read("s", "folder")) == 2      # as when such a folder was not
    assert read("s", like=dict(format="folder", seen="unclear")).texts[0] == "text\na\n"
    put("r/a.csv", "text\na\n"), put("r/b.txt", "b")
    with pytest.warns(UserWarning): assert read("r", like=read("r/a.csv").reading).texts == ["a"]


def test_texts_of_excel_in_the_west(tmp_path):
    "Signs of Windows-1252 that Latin-1 doesn't have, in each kind of file, and the bytes for which it has none"
    said = "I don’t pay 5 € – “never”, café"
    data = said.encode("cp1252")
    (tmp_path/"a.txt").write_bytes(data + b" \x81\n")
    (tmp_path/"b.csv").write_bytes(b"id;text\r\n1;" + data + b"\r\n2;goal\r\n")
    (tmp_path/"c.jsonl").write_bytes(b'{"text": "' + data + b'"}\n')
    (tmp_path/"d").mkdir()
    (tmp_path/"d/one.txt").write_bytes(data)
    for name, found in (("a.txt", [said + " \x81"]), ("b.csv", [said, "goal"]), ("c.jsonl", [said]), ("d", [said])):
        with pytest.warns(UserWarning, match="not UTF-8 and (was )?read as Windows-1252"): assert read(tmp_path/name).texts == found
    assert bytes(range(256)).decode(WESTERN).encode("latin-1", "ignore") == bytes(k for k in range(256) if not 0x80 <= k < 0xa0 or k in (0x81, 0x8d, 0x8f, 0x90, 0x9d))
    assert said.encode(WESTERN) == data and io.TextIOWrapper(io.BytesIO(data), WESTERN).read() == said


@pytest.mark.parametrize("text", ["id,text\n1,puck,\n2,net,\n", "id,text\n1,puck,,,\n2,net\n", "id,text,,,\n1,puck,,,\n2,net,,,\n"])
def test_empty_columns_without_a_name(here, text):
    expected = {"texts": ["puck", "net"], "ids": ["1", "2"]}
    assert read_csv(put("a.csv", text)) == read_csv("a.csv", encoding="utf-8") == expected
    from nmf2.scale_texts import read_texts, text_sources
    assert sum(map(read_texts, text_sources(here/"a.csv")), []) == expected["texts"]


def test_rows_of_another_length(here):
    fails(read_csv, put("a.csv", "id,text\n1,puck, ice\n"), "line 2: 3 columns where there should be 2 by the first line", "a text with ',' in it needs quotation marks")
    for row in ("1,puck,,ice", "1,puck,ice,"): fails(read_csv, put("a.csv", f"id,text,,\n{row}\n"), "line 2: 4 columns where there should be 2")
    fails(read_csv, put("a.csv", "id,text,area\n1,puck\n"), "line 2: 2 columns where there should be 3")
    fails(read_csv, put("a.csv", "report\nid,text\n"), "line 2: 2 columns where there should be 1", "above the names of the columns, take it out", delimiter=",")


def test_heads_of_mails_in_joined_fields(here):
    mail = "From: ann@example.org\nTo: bob@example.org\nSubject: café\n\nShall we?\n\nAnn"
    bare = "café\n\nShall we?\n\nAnn"
    assert [without_head(text, 2) for text in (mail, f"box 7\n\n{mail}", f"a\n\nb\n\n{mail}", "box 7", "")] == [bare, f"box 7\n\n{bare}", f"a\n\nb\n\n{mail}", "box 7", ""]
    text = "no head\n\nhere"
    assert without_head(text, 5) is text
    records = [dict(file="box 7", message=mail), dict(file="box 8", message="no mail")]
    put("m.jsonl", "\n".join(map(json.dumps, records)))
    corpus = read("m.jsonl", text_field=["file", "message"], heads=False)
    assert corpus.texts == [f"box 7\n\n{bare}", "box 8\n\nno mail"] and corpus.n_mails == 1
    from nmf2.scale_texts import read_texts, text_sources
    assert sum(map(read_texts, text_sources("m.jsonl", text_field="file,message", heads=False)), []) == corpus.texts


def test_gaps_in_json(here):
    assert read_jsonl(put("a.jsonl", '{"text": "a"}\n{"text": NaN}\n{"text": null}'))["texts"] == ["a", "", ""]
    fails(read_jsonl, put("b.jsonl", '{"text": "a"}\n{"id": 1}'), "line 2: field 'text' should be a string and is not there: write null for no text")


PLAIN_TEXTS = {"12.05.24, 12:30 - Anna: Hallo\n12.05.24, 12:31 - Ben: Gut\n", "05.01.2024 12:30:11 ERROR disk full\nno\n", "1 1:1 In the beginning\n1 1:2 And the earth\n",
               "3 10:15 opening\n4 11:00 vote\n", "{{name}} writes\nb\n", "{ts} hello\nb\n", "[{x}] hello\nb\n", "MATLAB is a language\nb\n", "PAR1 is a word\nb\n", "FEA1\nb\n",
               "ARROW1 hello\nb\n", "1\n2\n3\n1 the first\n", "12\n13\n14\n15\n", "%%MatrixMarket is a format\nb\n", "see <REUTERS and others\nb\n", "a \x02 sign\nb\n"}

@pytest.mark.parametrize("text", sorted(PLAIN_TEXTS))
def test_plain_texts_that_begin_like_something_else(here, text):
    for name in ("a.txt", "a.log", "a"):
        assert guess_format(put(name, text)) == "lines" and read(name).texts == [line.strip() for line in text.splitlines()]
    for encoding in ("utf-8-sig", "utf-16", "utf-16-be", "utf-32"):
        if encoding != "utf-16-be": assert read(put("b.txt", text.encode(encoding))).texts == read("a").texts
        assert guess_format(put("b.txt", text.encode(encoding))) == "lines"


@pytest.mark.parametrize("text, format", [("1 1:2\n", "svmlight"), ("\n-1.5e-3,2 qid:3 1:.5 2:1e5 # a remark\n", "svmlight"), ("1 " + " ".join(f"{k}:1" for k in range(1, 5000)) + "\n", "svmlight"),
                                          ('{"text": 1}', "jsonl"), ("{\n}", "jsonl"), ('[\n  {\n "a": 1}]', "jsonl"), ("2\n3\n1\n1 1 1\n", "docword"), ("{'text': 'a'}", "jsonl"),
                                          ("%%MatrixMarket matrix coordinate real general\n", "matrix-market"), ('<!DOCTYPE lewis>\n<REUTERS NEWID="1">\n', "reuters")])
def test_other_texts_without_an_ending(here, text, format):
    for name in ("a.txt", "a.log", "a"): assert guess_format(put(name, text)) == format
    assert guess_format(put("b", text.encode("utf-8-sig"))) == format


def test_a_guess_that_fails_says_how_text_is_read(here):
    text = "1 2:3\nhello\n"
    for name in ("a.txt", "a.log", "a", "a.txt.gz"):
        fails(read, put(name, text, gzip.open if name.endswith("gz") else open), "line 2", "Is it plain text? format='lines'")
        assert read(name, format="lines").texts == ["1 2:3", "hello"]
    for name, content, options in (("a.svm", text, {}), ("b.txt", text, dict(format="svmlight")), ("c.txt", '{"title": "a", "year": 1}\n', {}), ("d", b"PK\3\4\0 no archive", {})):
        with pytest.raises(ValueError) as e: read(put(name, content), **options)
        assert "plain text" not in str(e.value)
    assert guess_format(put("docword.a.txt", "1\n2\n3\nfour\n")) == "docword"
    fails(read, "docword.a.txt", "line 4: 'four' is not a number. Is it plain text? format='lines'")


def test_utf16_without_a_mark(here):
    for order in ("utf-16-le", "utf-16-be"):
        for name, content in (("a.csv", "id,text\n1,goal é\n"), ("a.jsonl", '{"text": "goal é"}\n'), ("a.txt", "goal é\n"), ("a", "goal é\n")):
            fails(read, put(name, content.encode(order)), f"it looks like UTF-16 without a mark at its beginning: pass encoding='{order}'")
            assert read(name, encoding=order).texts == ["goal é"]
    assert read(put("b.csv", "id,text\n1,go\0al\n")).texts == ["go\0al"]


SAID = {"cp1251": "В этом году в городе прошла большая выставка, на которой были работы.", "koi8_r": "В этом году в городе прошла большая выставка.",
        "cp1253": "Το παιδί πήγε στην αγορά και αγόρασε ψωμί, γάλα και φρούτα.", "gb18030": "今年，城市里举办了一个大型现代艺术展览，展出了许多作品。",
        "big5": "今年，城市裡舉辦了一個大型現代藝術展覽，展出了許多作品。", "shift_jis": "今年、市内で大規模な現代美術の展覧会が開催され、多くの作品が展示された。",
        "euc_kr": "올해 도시에서 대규모 현대 미술 전시회가 열렸고 많은 작품이 전시되었다.", "mac_roman": "Le garçon est allé là-bas ; où ça ? L’été dernier."}

@pytest.mark.parametrize("encoding", SAID)
def test_encodings_that_are_likelier_are_named(here, encoding):
    """A warning that this may be Windows-1252 is not enough where it can't be."""
    text = SAID[encoding]*4
    (here/"d").mkdir()
    for name, content in (("a.txt", text), ("a.csv", f"id,text\n1,{text}\n".replace(", ", " "))):
        with pytest.warns(UserWarning, match=f"was read as Windows-1252; pass encoding=... if that is wrong; .*'{encoding}'.* is likelier"): read(put(name, content.encode(encoding)))
        assert read(name, encoding=encoding).texts
    put("d/1.txt", text.encode(encoding))
    with pytest.warns(UserWarning, match=f"1 of 1 files are not UTF-8 and read as Windows-1252, the first 1.txt; .*'{encoding}'.* is likelier"): read("d")
    from nmf2.scale_texts import text_sources
    from nmf2.engines import Local
    put("big.csv", f"id,text\n1,{text}\n".replace(", ", " ").encode(encoding))
    with pytest.warns(UserWarning, match=f"was read as Windows-1252; .*'{encoding}'.* is likelier"): text_sources("big.csv", 20, engine=Local(str(here)))


@pytest.mark.parametrize("text", ["Le garçon est allé là-bas ; où ça ? L’été dernier.", "Übermäßig große Äpfel für 3 €", "“Señor”, dijo él"])
def test_what_is_likely_windows_1252_is_taken_for_it(here, text):
    with pytest.warns(UserWarning, match="if that is wrong$"): assert read(put("a.txt", text.encode("cp1252"))).texts == [text]


def test_tables_that_pandas_writes(here):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"text": ["puck", "net"], "label": ["a", "b"]})
    for orient in ("columns", "index", "split"):
        fails(read, put("a.json", frame.to_json(orient=orient)), "one JSON object with a table in it, as pandas writes one by default. Let its to_json write lines of records: lines=True, and 'records' for orient")
        from nmf2.scale_texts import text_sources
        put("a.jsonl", frame.to_json(orient=orient))
        with pytest.raises(ValueError, match="a table in it, as pandas writes"): text_sources("a.jsonl")
    fails(read, put("a.json", frame.to_json()), "as pandas writes one by default", text_field="text")
    for options in (dict(orient="records"), dict(orient="records", lines=True)): assert read(put("a.json", frame.to_json(**options))).texts == ["puck", "net"]
    assert read(put("a.json", '{"text": "a", "by": {"0": "x"}}')).texts == ["a"]
    assert read(put("a.json", '{"told": {"text": "a"}}'), text_field="told.text").texts == ["a"]
    assert read(put("a.json", frame.to_json()), text_field="text.0", label_field="").texts == ["puck"]


def test_a_table_is_no_svmlight(here):
    fails(read_svmlight, put("a.csv", "id,text\n1,x\n"), "line 1: this line should look like 'label term:value term:value ...'")
    found = read_svmlight(put("a.svm", "1\n-1,2\n0.5 2:1\nsport 1:1\n"))
    assert found["X"].shape == (4, 2) and found["labels"] == [["1"], [], ["0.5"], ["sport"]]


def test_separators_within_quotation_marks(here):
    for text, names in (('"title, long, and longer";text\nx;goal\n', ["title, long, and longer", "text"]), ('"a;b;c"\t"text"\nx\tgoal\n', ["a;b;c", "text"]), ('"id,text"\n"1,goal"\n', ["id,text"])):
        assert column_names(put("a.csv", text)) == names
    assert read_csv(put("a.csv", '"title, long";text\nx;goal\n'))["texts"] == ["goal"]
    assert read_csv(put("a.csv", "'title, long';text\nx;goal\n"), quote="'")["texts"] == ["goal"]


def test_tables_without_names(here):
    put("a.csv", "a ball,sport\na vote,politics\n")
    fails(read_csv, "a.csv", "there are: 'a ball', 'sport'. If the first line is a document, pass header=False, and text_field='0'", "text_field='0'")
    assert read_csv("a.csv", header=False, text_field="0")["texts"] == ["a ball", "a vote"]
    put("b.csv", "sport,sport,a ball\nart,art,a hall\n")
    fails(read_csv, "b.csv", "two columns have the same name: sport, sport, a ball. If the first line is a document", "pass header=False")
    assert read_csv("b.csv", header=False, text_field="2")["texts"] == ["a ball", "a hall"]
    with pytest.raises(ValueError) as e: read_csv("a.csv", header=False)
    assert "which field holds the text?" in str(e.value) and "header" not in str(e.value)


def test_a_tab_may_be_written(here):
    assert read_csv(put("a.csv", "id\ttext\n1\ta, b, c\n"), delimiter=r"\t")["texts"] == ["a, b, c"]
    with pytest.raises(ValueError, match="delimiter must be one character"): read_csv("a.csv", delimiter=r"\n")


def test_all_endings_are_known_where_texts_are_told_from_files():
    from nmf2.core import READ
    from nmf2.files import PACKED
    from nmf2.formats import ENDINGS, PAGES, PLAIN
    assert READ == {*ENDINGS, *PAGES, *PLAIN, *PACKED, ".mat", ".zip"} - {""}
