"""How long is the way from a file of texts to the tree, and what does counting on all cores save?

Each stage of `nmf2 cluster` on collections of texts: reading, counting, weighting, growing the tree. Counting is also done by
scikit-learn's `CountVectorizer` with the same parameters, and by nmf2 in one process, and once more as it is done where processes
can't be copied (notebooks, macOS, Windows): there the first count waits for the workers to start and later ones find them ready.
All counts must be the same. Medians of interleaved runs.

    NMF2_DATA=folder python benchmarks/rawtext.py [--quick] [--out FOLDER]
"""
import time
import warnings
from unittest.mock import patch

import numpy as np
from common import arguments, collections, interleaved, say, table, write
from joblib import effective_n_jobs
from joblib.externals.loky import get_reusable_executor
from sklearn.feature_extraction.text import CountVectorizer

from nmf2 import counting
from nmf2.data import WORDS, load
from nmf2.hier import HierNMF2
from nmf2.weighting import count_pipeline

NAMES = ["20newsgroups", "reuters21578", "arxiv_2level", "classic4_raw"]
WAYS = dict(token_pattern=WORDS, stop_words="english", dtype=np.float32)    # those of text_pipeline


def same(counters, texts):
    """The counts that all of them find; stop if any two differ."""
    found = [counter.fit_transform(texts) for counter in counters]
    for counter, X in zip(counters, found):
        assert list(counter.vocabulary_.items()) == list(counters[0].vocabulary_.items()) and (X != found[0]).nnz == 0
    return found[-1]


def by_joblib(texts, rounds):
    """Seconds of counting where processes can't be copied: when the workers have to be started, and when they are there."""
    first, later = [], []
    with patch.object(counting, "start_method", lambda: "loky"):
        for _ in range(rounds):
            get_reusable_executor().shutdown()
            for times in (first, later):
                t0 = time.perf_counter()
                counting.TermCounter(**WAYS).fit_transform(texts)
                times.append(time.perf_counter() - t0)
    get_reusable_executor().shutdown()                 # with its threads, beside which processes aren't copied
    return float(np.median(first)), float(np.median(later))


def built_in():
    """A part of the collection that is always there, in the form of `collections`."""
    corpus = load("library-docs")[::8]
    return [("library-docs", corpus, corpus.classes()[0])]


def measure(name, corpus, classes, rounds):
    """Seconds of each stage on one collection, and of counting in other ways."""
    texts, n_leaves = corpus.texts, len(set(classes))
    one, plain, all_cores = counting.TermCounter(n_jobs=1, **WAYS), CountVectorizer(**WAYS), counting.TermCounter(**WAYS)
    counts = same([plain, one, all_cores], texts)
    X = count_pipeline().fit_transform(counts)
    seconds = interleaved({
        "reading": lambda: load(name),
        "counting": lambda: all_cores.fit_transform(texts),
        "scikit-learn": lambda: plain.fit_transform(texts),
        "one process": lambda: one.fit_transform(texts),
        "weighting": lambda: count_pipeline().fit_transform(counts),
        "growing": lambda: HierNMF2(n_leaves).fit(X),
    }, rounds)
    seconds["workers started"], seconds["workers ready"] = by_joblib(texts, rounds)
    say(f"{name}: {', '.join(f'{what} {t:.2f}' for what, t in seconds.items())}")
    return dict(collection=name, documents=len(texts), letters=sum(map(len, texts)), terms=counts.shape[1], nonzeros=int(counts.nnz),
                weighted=X.shape, leaves=n_leaves, processes=counting.n_processes(all_cores, texts, -1),
                seconds={what: round(t, 4) for what, t in seconds.items()})


def main():
    args = arguments(__doc__, "rawtext.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")        # documents without terms
        rows = [measure(*found, rounds=1 if args.quick else 3)
                for found in (built_in() if args.quick else collections(NAMES))]
    stages = ["reading", "counting", "weighting", "growing"]
    ways = ["one process", "counting", "workers started", "workers ready"]
    shown = [[row["collection"], f"{row['documents']:,}", row["processes"], *(f"{row['seconds'][s]:.2f}" for s in stages),
              f"{row['seconds']['scikit-learn']:.2f}",
              *(f"{row['seconds']['scikit-learn']/row['seconds'][w]:.2f}" for w in ways)] for row in rows]
    write(args.output, table(["collection", "documents", "processes", *(f"{s}, s" for s in stages), "scikit-learn's counting, s",
                              "one process, times as fast", "all cores", "joblib's workers, first", "later"], shown),
          what="Seconds from a file of texts to the tree, with as many leaves as classes, and how many times faster than scikit-learn's "
          f"CountVectorizer the words are counted; medians of interleaved runs, at most {effective_n_jobs(-1)} processes",
          rows=rows)


if __name__ == "__main__": main()
