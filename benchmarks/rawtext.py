"""How long is the way from a file of texts to the tree and its page, and how fast are texts read and words counted?

Each stage of `nmf2 cluster` on collections of texts: reading, counting, weighting, growing the tree. And all of it, `nmf2 cluster` with all that it
writes, among it tree.html ("the page"); scikit-learn's way to flat topics (TfidfVectorizer and NMF with as many) beside it, and BERTopic's
with vectors by SVD in place of a language model, run once.

Words are also counted by scikit-learn's `CountVectorizer` with the same parameters, whose counts must be the same; by nmf2 with all its words made
into strings and a dictionary ("nmf2, all strings"), which is otherwise done when somebody asks for them; by nmf2 in one thread ("one process"); in
processes, as for a tokenizer of one's own; and by Polars (`str.extract_all` and a group for each document and word) and gensim
(`Dictionary.doc2bow`, with words from `re`), neither of which drops stop words here, or makes a matrix. Texts are also read from JSON lines, CSV and
Parquet, with the libraries of the extra `files` and without. What isn't installed is left out, which the script says. Medians of interleaved runs.

The large collection has 100,000 documents, each a half of one abstract of arxiv_2level and a half of another, drawn with a seed.

    NMF2_DATA=folder python benchmarks/rawtext.py [--quick] [--out FOLDER]
"""
import contextlib
import csv
import io
import json
import re
import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import numpy as np
from common import SEES_MEMORY, arguments, bytes_of, collections, in_child, interleaved, peak_beyond, say, table, timed, write
from joblib import effective_n_jobs
from sklearn.feature_extraction.text import CountVectorizer

from nmf2 import cli, counting, formats, scanning
from nmf2.data import load, read
from nmf2.hier import HierNMF2
from nmf2.languages import WORDS
from nmf2.weighting import count_pipeline

NAMES = ["20newsgroups", "reuters21578", "arxiv_2level", "classic4_raw"]
WAYS = dict(token_pattern=WORDS, stop_words="english", dtype=np.float32)    # those of text_pipeline
MIXED = "abstracts, mixed"
scanning.PRICE = 0                  # machine code is made beforehand, however little there is to count


def same(counters, texts):
    """The counts that all of them find; stop if any two differ."""
    found = [counter.fit_transform(texts) for counter in counters]
    for counter, X in zip(counters, found):
        assert list(counter.vocabulary_.items()) == list(counters[0].vocabulary_.items()) and (X != found[0]).nnz == 0
    return found[-1]


def mixed(n, seed=0):
    """Documents that are the first half of one abstract and the second half of another."""
    texts = load("arxiv_2level").texts
    pairs = np.random.default_rng(seed).integers(0, len(texts), (n, 2))
    return [texts[i][:len(texts[i])//2] + " " + texts[j][len(texts[j])//2:] for i, j in pairs]


def in_processes(texts):
    """Counted by scikit-learn in processes, as where a function cuts the texts."""
    with patch.object(counting, "COMPILED", float("inf")): return counting.TermCounter(**WAYS).fit_transform(texts)


def with_strings(texts):
    """Counted, and the dictionary of all words made, which waits until it is asked for."""
    counter = counting.TermCounter(**WAYS)
    return counter.fit_transform(texts), counter.vocabulary_


def polars_counts(texts):
    """How often each word stands in each document, by Polars: a row for each."""
    import polars as pl
    frame = pl.LazyFrame({"text": texts}).with_row_index("document")
    words = frame.with_columns(pl.col("text").str.to_lowercase().str.extract_all(WORDS.removeprefix("(?u)"))).explode("text")
    return words.drop_nulls("text").group_by("document", "text").len().collect()


def gensim_counts(texts):
    """How often each word stands in each document, by gensim: a list of pairs for each."""
    from gensim.corpora import Dictionary
    dictionary, find = Dictionary(), re.compile(WORDS).findall
    return [dictionary.doc2bow(find(text.lower()), allow_update=True) for text in texts]


OTHERS = dict(polars=polars_counts, gensim=gensim_counts)
NEEDED = {name: name for name in OTHERS} | {"parquet": "pyarrow", "csv": "pyarrow", "jsonl": "orjson", "topics": "bertopic"}
BERTOPIC = "BERTopic's topics, with SVD"


def the_page(name, n_leaves):
    """The whole way of the command, from the file to all that it writes."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert cli.main(["cluster", name, "--leaves", str(n_leaves), "--out", f"{folder}/topics"]) == 0
        assert Path(folder, "topics/tree.html").stat().st_size > 10_000


def flat_topics(texts, n_topics):
    """scikit-learn's usual way from texts to topics."""
    from sklearn.decomposition import NMF
    from sklearn.feature_extraction.text import TfidfVectorizer
    options = {**WAYS, "min_df": 3, "max_df": .5, "sublinear_tf": True}
    return NMF(n_topics, random_state=0).fit(TfidfVectorizer(**options).fit_transform(texts))


def bertopic_topics(texts, n_topics):
    """Topics by BERTopic, with the vectors that its manual names where there is no language model: tf-idf, by SVD to 100 numbers."""
    from bertopic import BERTopic
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    return BERTopic(embedding_model=make_pipeline(TfidfVectorizer(), TruncatedSVD(100)), nr_topics=n_topics).fit(texts)


def written(texts, folder):
    """The texts as JSON lines, CSV and, where pyarrow is, Parquet: paths by kind."""
    paths = {kind: Path(folder, f"texts.{kind}") for kind in ("jsonl", "csv", "parquet")}
    paths["jsonl"].write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts)), encoding="utf-8")
    with open(paths["csv"], "w", newline="", encoding="utf-8") as f: csv.writer(f).writerows([("id", "text"), *enumerate(texts)])
    if not find_spec("pyarrow"): return {kind: path for kind, path in paths.items() if kind != "parquet"}
    import pyarrow as pa
    import pyarrow.parquet
    pa.parquet.write_table(pa.table({"id": range(len(texts)), "text": texts}), paths["parquet"])
    return paths


def without(path):
    """Read by Python, as where the extra isn't installed."""
    with patch.object(formats, "json_objects", lambda lines: None), patch.object(formats, "csv_columns", lambda *args: None): return read(path)


def reading(texts, rounds):
    """Seconds to read the texts from each kind of file, with the libraries and without."""
    texts = [text.replace("\r", " ").replace("\0", " ") for text in texts]
    with tempfile.TemporaryDirectory() as folder:
        calls = {}
        for kind, path in written(texts, folder).items():
            assert read(path).texts == texts
            if find_spec(NEEDED[kind]): calls[kind] = lambda path=path: read(path)
            if kind != "parquet": calls[f"{kind}, without"] = lambda path=path: without(path)
        return interleaved(calls, rounds)


def peak_of(name, n):
    """What counting takes in addition to the texts, as a multiple of the matrix that comes out."""
    texts, found = mixed(n) if name == MIXED else load(name).labelled().texts, []
    counting.TermCounter(**WAYS).fit_transform(texts[:3000])
    beyond = peak_beyond(lambda: found.append(counting.TermCounter(**WAYS).fit_transform(texts)))
    return beyond/bytes_of(found[0])


def counted(texts, others):
    """The ways to count, with the counts that they agree on; with `others` those too that take long on many texts."""
    one, plain, all_cores = counting.TermCounter(n_jobs=1, **WAYS), CountVectorizer(**WAYS), counting.TermCounter(**WAYS)
    X = same([plain, one, all_cores], texts)
    ways = {"counting": lambda: all_cores.fit_transform(texts), "scikit-learn": lambda: plain.fit_transform(texts),
            "nmf2, all strings": lambda: with_strings(texts), "one process": lambda: one.fit_transform(texts)}
    if others:
        ways["processes"] = lambda: in_processes(texts)
        ways.update({name: lambda count=count: count(texts) for name, count in OTHERS.items() if find_spec(name)})
    return X, ways, all_cores.way_


def a_part(folder):
    """A part of the collection that is always there, as a file, in the form of `collections`."""
    corpus = load("library-docs")[::12]
    return [(str(written(corpus.texts, folder)["jsonl"]), corpus, corpus.classes()[0])]


def measure(name, texts, n_leaves, rounds, quick):
    """Seconds of each stage on one collection, and of counting in other ways; without leaves of counting alone."""
    counts, calls, way = counted(texts, others=n_leaves is not None)
    row = dict(collection=Path(name).name, documents=len(texts), letters=sum(map(len, texts)), terms=counts.shape[1], nonzeros=int(counts.nnz), way=way)
    if n_leaves:
        row["reading_files"] = {kind: round(t, 4) for kind, t in reading(texts, rounds).items()}
        X = count_pipeline().fit_transform(counts)
        calls = {"reading": lambda: read(name) if Path(name).exists() else load(name), **calls, "weighting": lambda: count_pipeline().fit_transform(counts),
                 "growing": lambda: HierNMF2(n_leaves).fit(X), "the page": lambda: the_page(name, n_leaves),
                 "scikit-learn's topics": lambda: flat_topics(texts, n_leaves)}
        row.update(weighted=X.shape, leaves=n_leaves)
    seconds = interleaved(calls, rounds)
    if n_leaves and find_spec("bertopic") and not quick:
        bertopic_topics(texts[:500], 5)            # imports and compiling aren't counted
        seconds[BERTOPIC] = timed(lambda: bertopic_topics(texts, n_leaves))[0]
    say(f"{name}: {', '.join(f'{what} {t:.2f}' for what, t in seconds.items())}")
    if SEES_MEMORY and not quick: row["memory"] = round(in_child(peak_of, name, len(texts)), 2)
    return dict(row, threads=counting.n_threads(row["letters"], -1), seconds={what: round(t, 4) for what, t in seconds.items()},
                times_as_fast={what: round(t/seconds["counting"], 2) for what, t in seconds.items() if what in ("scikit-learn", *OTHERS)})


def main():
    args = arguments(__doc__, "rawtext.json")
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")        # documents without terms
        rows = [measure(name, corpus.texts, 8 if args.quick else len(set(classes)), 1 if args.quick else 3, args.quick)
                for name, corpus, classes in (a_part(folder) if args.quick else collections(NAMES))]
        if not args.quick: rows.append(measure(MIXED, mixed(100_000), None, 3, False))
    for name in sorted(set(NEEDED.values())):
        if not find_spec(name): say(f"{name}: not installed, left out")
    stages = ["reading", "counting", "weighting", "growing", "the page", "scikit-learn's topics", BERTOPIC]
    kinds = list(rows[0]["reading_files"])
    ways = ["nmf2, all strings", "scikit-learn", "one process", "processes", *OTHERS]
    def seconds(row, what): return f"{row['seconds'][what]:.2f}" if what in row["seconds"] else "–"
    def files(row): return [f"{row['reading_files'][kind]:.2f}" if "reading_files" in row else "–" for kind in kinds]
    shown = [[row["collection"], f"{row['documents']:,}", *(seconds(row, what) for what in stages + ways), *files(row),
              f"{row['times_as_fast']['scikit-learn']:.1f}", row.get("memory", "–")] for row in rows]
    write(args.output, table(["collection", "documents", *(f"{s}, s" for s in stages), *(f"counting by {w}, s" for w in ways),
                              *(f"reading {kind}, s" for kind in kinds),
                              "times as fast as scikit-learn", "memory, matrices"], shown),
          what="Seconds from a file of texts to the tree and to the page, with as many leaves as classes, and how long counting the words and reading "
          "take in other ways; "
          f"medians of interleaved runs, at most {effective_n_jobs(-1)} threads or processes; memory beside the texts, as a multiple of the matrix of counts",
          rows=rows)


if __name__ == "__main__": main()
