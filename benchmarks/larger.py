"""Does a collection ten times as large as the memory fit?

Counts of planted topics are written as shards, 6 GB of them, and a process of its own that is held below a tenth of their size makes a
`TopicTree` of the folder. It is held by a control group, which counts the pages of files as well, if one can be made here; else its own
memory is held by RLIMIT_DATA.

    python benchmarks/larger.py [--quick] [--out FOLDER] [--shards 100] [--times 10]
"""
import os
import resource
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import scipy.sparse as sp
from common import arguments, in_child, one_thread, say, table, timed, write

N_TOPICS, N_TERMS, OWN, LENGTH = 20, 30_000, 600, 84


@cache
def words_drawn(n_terms):
    """Cumulative shares of the words in each topic: six tenths from a law of all, the rest from its group of five and from itself."""
    rng = np.random.default_rng(0)
    law = 1/np.arange(1, OWN + 1)**.7
    every = 1/rng.permutation(np.arange(1, n_terms + 1))
    def some():
        own = np.zeros(n_terms)
        own[rng.choice(n_terms, OWN, replace=False)] = law/law.sum()
        return own
    groups = [some() for _ in range(N_TOPICS//5)]
    return np.cumsum([.6*every/every.sum() + .15*groups[k//5] + .25*some() for k in range(N_TOPICS)], axis=1)


def planted_shard(path, k, n_docs, n_terms):
    """Write a shard of counts; the topics of its documents."""
    rng, law = np.random.default_rng([7, k]), words_drawn(n_terms)
    topics = rng.integers(0, N_TOPICS, n_docs)
    words = np.empty((n_docs, LENGTH), np.int32)
    for topic in range(N_TOPICS):
        rows = np.flatnonzero(topics == topic)
        words[rows] = np.searchsorted(law[topic], rng.random((len(rows), LENGTH))*law[topic,-1])
    ends = np.arange(0, words.size + 1, LENGTH, dtype=np.int32)
    X = sp.csr_array((np.ones(words.size, np.float32), words.ravel(), ends), (n_docs, n_terms))
    X.sum_duplicates()
    sp.save_npz(path, X, compressed=False)
    return topics.astype(np.int8), X.nnz


def confined(limit):
    """Hold this process below so many bytes; by what."""
    for folder, file in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        group = Path(folder)/f"nmf2-{os.getpid()}"
        try:
            group.mkdir()
            (group/file).write_text(str(limit))
            (group/"cgroup.procs").write_text(str(os.getpid()))
            return str(group)
        except OSError:
            if group.is_dir(): group.rmdir()
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    return "RLIMIT_DATA"


def fitted(folder, limit, n_terms):
    """By what this process is held, seconds of the fit, and a file with the labels."""
    held = confined(limit)
    from nmf2.engines import Local
    from nmf2.scale_texts import fit_topics
    from nmf2.topictree import TopicTree
    words = [f"w{j}" for j in range(n_terms)]
    seconds, model = timed(lambda: fit_topics(TopicTree(N_TOPICS, min_df=5), folder, vocab=words, engine=Local(), whole=0))
    labels = [np.asarray(some).astype(np.int8) for some in model.tree_.labels_there]
    np.save(f"{folder}/labels.npy", np.concatenate(labels))
    return held, seconds


def main():
    args = arguments(__doc__, "larger.json", shards=(100, "files"), times=(10, "how many times the limit the collection is"))
    from nmf2.evaluate import nmi
    n, n_docs, n_terms = (2, 3000, 3000) if args.quick else (int(args.shards), 100_000, N_TERMS)
    os.environ["MALLOC_MMAP_THRESHOLD_"] = "1000000"             # of glibc: gives back what is freed
    with TemporaryDirectory() as folder:
        paths = [f"{folder}/part-{k:05}.npz" for k in range(n)]
        with ProcessPoolExecutor(None, mp_context=get_context("spawn"), initializer=one_thread) as pool:
            made = list(pool.map(planted_shard, paths, range(n), [n_docs]*n, [n_terms]*n))
        size = sum(Path(path).stat().st_size for path in paths)
        limit = 10**9 if args.quick else size//int(args.times)
        say(f"{size:,} bytes in {n} files, a limit of {limit:,}")
        held, seconds = in_child(fitted, folder, limit, n_terms)
        labels = np.load(f"{folder}/labels.npy")
    if held != "RLIMIT_DATA": Path(held).rmdir()
    row = dict(documents=n*n_docs, nonzeros=sum(nnz for _, nnz in made), bytes=size, limit=limit,
               held="RLIMIT_DATA" if held == "RLIMIT_DATA" else "control group", seconds=round(seconds, 1),
               nmi=round(float(nmi(np.concatenate([topics for topics, _ in made]), labels)), 4))
    write(args.output, table(["documents", "GB on disk", "GB of memory", "held by", "seconds", "NMI"],
                             [[f"{row['documents']:,}", f"{size/1e9:.2f}", f"{limit/1e9:.2f}", row["held"], f"{seconds:.0f}", f"{row['nmi']:.3f}"]]),
          what="a TopicTree of shards on disk in a process that is held below a part of their size", rows=[row])


if __name__ == "__main__": main()
