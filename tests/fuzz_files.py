"""Damaged files of every format of `nmf2.formats`: plain, packed, and from a pipe"""
import bz2
import functools
import gzip
import io
import json
import lzma
import os
import threading
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.io
import scipy.sparse as sp
from fuzz_bytes import BYTES, MUTATIONS, mutated, npy, tarred, zipped
from fuzz_checks import attempt, pick, refused, require

# ---- sound files

class Sample(NamedTuple):
    "A collection as files"
    format:str           # a key of `READERS`
    main:str             # the file to read, or the folder
    files:dict           # name -> bytes
    content:str          # a key of `MUTATIONS`, for the main file
    options:dict = {}    # for the reader

SOME = "ball vote net goal Straße 東京 naïve <b>x</b> =1+1 $x$ a\u0301 the and o'clock 'q' 42 x_y 😀".split()

def lines_of(items): return "\n".join(map(str, items)).encode() + b"\n"

def some_text(rng): return " ".join(pick(rng, SOME) for _ in range(int(rng.integers(1, 12))))

def some_counts(rng):
    "A small matrix with entries, dense"
    X = rng.poisson(.7, rng.integers(2, 9, size=2)).astype(float)
    X[0,0] += 1
    return X*pick(rng, [1, 1, .25])

def companions(rng, names):
    "Some of the files that may stand beside a matrix; `names` says how many lines they have"
    return {name: lines_of(f"{pick(rng, SOME)}{i}" for i in range(n)) for name, n in names.items() if rng.random() < .4}

def folder_sample(rng):
    names = [f"docs/{pick(rng, ['', 'a/', 'a/b/', '.hidden/', 'c d/'])}{i}.txt" for i in range(int(rng.integers(6)))]
    return Sample("folder", "docs", {name: some_text(rng).encode() for name in ["docs/first.txt", *names]}, "text")

def lines_sample(rng):
    return Sample("lines", "a.txt", {"a.txt": lines_of(some_text(rng) for _ in range(5))}, "text")

def jsonl_sample(rng):
    records = [{"id": i, "text": some_text(rng), "labels": [pick(rng, SOME)]*int(rng.integers(3))} for i in range(4)]
    data = json.dumps(records, indent=1).encode() if rng.random() < .3 else lines_of(map(json.dumps, records))
    return Sample("jsonl", "a.jsonl", {"a.jsonl": data}, "json")

def csv_sample(rng):
    sep = pick(rng, ",;\t|")
    rows = [[str(i), '"' + some_text(rng).replace('"', '""') + '"', pick(rng, "xyz")] for i in range(5)]
    data = lines_of(sep.join(row) for row in [["id", "text", "label"], *rows])
    options = {} if rng.random() < .7 else dict(label_field=["label", "id"])
    return Sample("csv", "a.csv", {"a.csv": data}, "csv", options)

def story(rng, i):
    "A story in SGML"
    n_topics = int(rng.integers(3)) if i else 1                         # one story at least has a single topic
    topics = "".join(f"<D>{pick(rng, SOME[:4])}</D>" for _ in range(n_topics))
    title, body = f"<TITLE>{pick(rng, SOME[:4])}</TITLE>", f"<BODY>{some_text(rng)} &amp; {some_text(rng)}\n&#3;</BODY>"
    return (f'<REUTERS TOPICS="YES" NEWID="{i}">\n<TOPICS>{topics}</TOPICS>\n<TEXT>&#2;\n{title}\n{body}</TEXT>\n'
            '</REUTERS>\n').encode("latin-1", "replace")

def reuters_sample(rng):
    sgml = b'<!DOCTYPE lewis SYSTEM "lewis.dtd">\n' + b"".join(story(rng, i) for i in range(4))
    options = {} if rng.random() < .7 else dict(single_topic=True)
    if rng.random() < .5: return Sample("reuters", "r.sgm", {"r.sgm": sgml}, "sgml", options)
    archive = tarred([("r/a.sgm", sgml, {}), ("r/b.sgm", story(rng, 9), {})], rng)
    return Sample("reuters", "r.tar", {"r.tar": archive}, "tar", options)

def arrow_bytes(table, kind):
    "A table as a file of Arrow: 'stream' or 'file'"
    import pyarrow as pa
    out = io.BytesIO()
    with {"stream": pa.ipc.new_stream, "file": pa.ipc.new_file}[kind](out, table.schema) as writer: writer.write_table(table)
    return out.getvalue()

def columns_sample(rng):
    "Parquet or Arrow"
    import pyarrow as pa
    import pyarrow.parquet as pq
    label = pick(rng, [[pick(rng, "xyz") for _ in range(5)], [int(i) for i in rng.integers(3, size=5)], [["x"]]*5])
    table = pa.table({"id": [str(i) for i in range(5)], "text": [some_text(rng) for _ in range(5)], "label": label})
    if rng.random() < .5:
        pq.write_table(table, out := io.BytesIO())
        return Sample("parquet", "a.parquet", {"a.parquet": out.getvalue()}, "bytes")
    return Sample("arrow", "a.arrow", {"a.arrow": arrow_bytes(table, pick(rng, ["stream", "file"]))}, "bytes")

def cluto_sample(rng):
    X, dense = some_counts(rng), rng.random() < .3
    if dense: rows = [" ".join(f"{v:g}" for v in row) for row in X]
    else: rows = [" ".join(f"{j + 1} {v:g}" for j, v in enumerate(row) if v) for row in X]
    head = f"{X.shape[0]} {X.shape[1]}" + ("" if dense else f" {np.count_nonzero(X)}")
    beside = companions(rng, {"t.mat.rclass": len(X), "t.mat.clabel": X.shape[1], "t.mat.rlabel": len(X)})
    return Sample("cluto", "t.mat", {"t.mat": lines_of([head, *rows]), **beside}, "text")

def entries(X): return [f"{i + 1} {j + 1} {X[i,j]:g}" for i, j in zip(*X.nonzero())]

def docword_sample(rng):
    X = some_counts(rng)
    data, beside = lines_of([*X.shape, np.count_nonzero(X), *entries(X)]), companions(rng, {"vocab.t.txt": X.shape[1]})
    return Sample("docword", "docword.t.txt", {"docword.t.txt": data, **beside}, "text")

def matrix_market_sample(rng):
    X = np.ceil(some_counts(rng))
    kind = pick(rng, ["coordinate real", "coordinate integer", "coordinate pattern", "array real"])
    rows = entries(X) if "coordinate" in kind else [f"{v:g}" for v in X.T.ravel()]
    if "pattern" in kind: rows = [row.rsplit(" ", 1)[0] for row in rows]
    sizes = f"{X.shape[0]} {X.shape[1]}" + (f" {len(rows)}" if "coordinate" in kind else "")
    data = lines_of([f"%%MatrixMarket matrix {kind} general", "% a comment", sizes, *rows])
    beside = companions(rng, {"m_dictionary.txt": X.shape[1], "m_documents.txt": len(X)})
    options = dict(orient="documents x terms")
    return Sample("matrix-market", "m_matrix.mtx", {"m_matrix.mtx": data, **beside}, "text", options)

def svmlight_sample(rng):
    rows = [[f"{j + 1}:{v:g}" for j, v in enumerate(row) if v] for row in some_counts(rng)]
    labelled = [" ".join([pick(rng, ["1", "-1", "2.5", "1,2", "1 qid:3"]), *row]) for row in rows]
    return Sample("svmlight", "a.svm", {"a.svm": lines_of([*labelled, "1 1:1 # the end"])}, "text")

def matlab_sample(rng):
    X, out, old = some_counts(rng), io.BytesIO(), rng.random() < .2
    arrays = {"fea": pick(rng, [X, sp.csc_matrix(X), sp.csc_matrix(X)])}
    if rng.random() < .5 and not old: arrays["gnd"] = rng.integers(3, size=len(X))
    words, kind = [f"w{j}" for j in range(X.shape[1])], pick(rng, [object, str])
    if rng.random() < .5 and not old: arrays["vocab"] = np.array(words, kind)
    scipy.io.savemat(out, arrays, format="4" if old else "5", do_compression=bool(rng.random() < .5))
    return Sample("matlab", "a.mat", {"a.mat": out.getvalue()}, "matlab")

def npz_sample(rng):
    X = some_counts(rng)
    S = pick(rng, [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix])(X)
    parts = ("row", "col", "data") if S.format == "coo" else ("indices", "indptr", "data")
    arrays = {name: getattr(S, name) for name in parts}
    arrays |= dict(shape=np.array(S.shape), format=np.array(S.format.encode()))
    if rng.random() < .3: arrays = dict(X=X)
    if rng.random() < .5: arrays["labels"] = rng.integers(3, size=len(X))
    if rng.random() < .5: arrays["vocab"] = np.array([f"w{j}" for j in range(X.shape[1])])
    return Sample("npz", "a.npz", {"a.npz": zipped((name + ".npy", npy(a)) for name, a in arrays.items())}, "npz")

FORMATS = [folder_sample, lines_sample, jsonl_sample, csv_sample, columns_sample, reuters_sample, cluto_sample, docword_sample,
           matrix_market_sample, svmlight_sample, matlab_sample, npz_sample]

# ---- damage

def damaged(sample, rng):
    "The files of a sample, one of them mutated; mostly the main one"
    files, others = dict(sample.files), [name for name in sample.files if name != sample.main]
    chosen = pick(rng, others) if others and (sample.main not in files or rng.random() < .2) else sample.main
    files[chosen] = mutated(files[chosen], MUTATIONS[sample.content if chosen == sample.main else "text"], rng)
    return files

def odd_entry(folder, rng):
    "Something in a folder that is no plain file of text"
    way, path = pick(rng, ["fifo", "loop", "dangling", "name", "dir", "sgm"]), folder/"odd"
    name = os.fsdecode(b"odd" + pick(rng, [b"\xff.txt", b"\n.txt", b"\x1b[31m"]))
    if way == "fifo": os.mkfifo(path)
    if way == "loop": path.symlink_to(".")
    if way == "dangling": path.symlink_to("nowhere")
    if way == "name": (folder/name).write_bytes(b"text")
    if way == "dir": (folder/"0.txt.d").mkdir()
    if way == "sgm": (folder/"z.sgm").write_bytes(story(rng, 1))

PACKS = {".gz": gzip.compress, ".xz": functools.partial(lzma.compress, preset=0), ".bz2": bz2.compress}

@functools.cache
def filler(end, unit): return PACKS[end](unit*(2**25//len(unit)))

def bomb(data, end, rng):
    "The bytes packed, and after them 2 GB of the same letter, as far as that fits into 1 MB"
    more = filler(end, pick(rng, [b"\0", b"\n", b"1 ", b"a", b"<"]))
    return PACKS[end](data) + more*min(64, 900_000//len(more))

# ---- reading

def weigh(X):
    "The weights that a matrix of counts comes to"
    from nmf2.weighting import count_pipeline
    pipe = count_pipeline(min_df=1, max_df=1.)
    weights = attempt(lambda: pipe.fit_transform(X), ["X", "min_df", "max_df", "add_one"])
    good = refused(weights) or np.isfinite(weights.data).all() and weights.min() >= 0
    require(good, "weights are not finite and nonnegative")

def counts(corpus):
    "The counts of a corpus and their words, checked; sizes alone if there are very many"
    X = corpus.X
    good = X.format == "csr" and X.shape[0] == len(corpus) and X.dtype.kind == "f"
    require(good, "X is no CSR matrix of floats with a row for each document")
    X.check_format(full_check=True)
    good = not X.nnz or X.data.min() > 0 and np.isfinite(X.data).all()
    require(good, "X has entries that are not above zero and finite")
    entries = [a.tolist() for a in (X.data, X.indices, X.indptr)]
    if X.shape[1] > 10**6: return X.shape, entries
    require(len(corpus.vocab) == X.shape[1], "vocab has not a word for each column")
    weigh(X)
    return X.shape, entries, list(corpus.vocab)

def contents(corpus):
    "What is in a corpus, checked, in a form to be compared"
    n, labels = len(corpus), corpus.labels
    require(len(set(corpus.ids)) == n > 0, "ids are not different from each other, or there are no documents")
    require(labels is None or len(labels) == n, "labels are not as many as documents")
    repr(corpus)
    texts = corpus.texts
    if texts is None: texts = counts(corpus)
    else: require(list(map(type, texts)) == [str]*n, "texts are not as many as documents, or no texts")
    return texts, list(corpus.ids), None if labels is None else labels.tolist()

def through_pipe(find, data):
    "What comes of a path that can be read once, with names that are given to it as `find` wants them"
    out, into = os.pipe()
    def feed():
        try:
            with os.fdopen(into, "wb") as f: f.write(data)
        except BrokenPipeError: pass
    thread = threading.Thread(target=feed)
    thread.start()
    try: return attempt(lambda: find(f"/dev/fd/{out}"), [f"/dev/fd/{out}"])
    finally:
        os.close(out)
        thread.join()

def same_again(first, second, way):
    "Stop if the same content comes to something else in another way"
    require(not refused(first) or refused(second), f"refused plain and read {way}: {first}")
    require(refused(first) or not refused(second), f"read plain and refused {way}: {second}")
    require(refused(first) or first == second, f"the same content comes to something else when {way}")

def read_again(find, sample, main, data, first, rng, names):
    "Read the main file packed or from a pipe: what was the same before must come to the same"
    way, end = pick(rng, ["pipe"]*3 + ["packed"]*8 + ["damaged"]*3 + ["bomb"]), pick(rng, list(PACKS))
    if way == "pipe" or sample.content in ("npz", "matlab"):
        alone = len(sample.files) == 1 and sample.content != "tar"      # nothing is beside a pipe; its name says nothing
        return same_again(first, through_pipe(find, data), f"from a pipe, {sample.format}") if alone else None
    packed = bomb(data, end, rng) if way == "bomb" else PACKS[end](data)
    path = Path(f"{main}{end}")
    path.write_bytes(packed if way != "damaged" else mutated(packed, BYTES, rng))
    second = attempt(lambda: find(path), [*names, str(path)])
    if way == "packed": same_again(first, second, f"packed, {sample.format}")

def files_case(rng, folder):
    "Read a damaged file; then the same packed or from a pipe"
    from nmf2.data import read
    sample = pick(rng, FORMATS)(rng)
    sound, known = rng.random() < .03, bool(sample.options) or rng.random() < .8
    files, main = sample.files if sound else damaged(sample, rng), folder/sample.main
    for name, data in files.items():
        (folder/name).parent.mkdir(parents=True, exist_ok=True)
        (folder/name).write_bytes(data)
    if main.is_dir() and rng.random() < .3: odd_entry(main, rng)
    def find(path): return contents(read(path, **(dict(sample.options, format=sample.format) if known else {})))
    names = [str(main), *(str(folder/name) for name in files)]
    first = attempt(lambda: find(main), names)
    good = not sound or main.is_dir() or not refused(first)
    require(good, f"a sound file of format {sample.format} is refused: {first}")
    if main.is_file() and known: read_again(find, sample, main, files[sample.main], first, rng, names)
    return first
