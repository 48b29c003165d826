"""What do partitions cost?

The same tree from one matrix in memory, from partitions of it in memory, from shards on disk, and with `--dask` from two processes of a
cluster, and from two threads of one process that Dask gives tasks to: seconds, as ratios to `HierNMF2(20).fit` of the matrix, which checks
it and puts its documents in an order that is quick to sweep; a fit to partitions checks them, too. Beside it the growing alone, with no
check and the documents as they are. The same for `TopicTree` and texts of the same words, in memory and in seven files. For
rank-2 NMF of the whole collection: bytes that a sweep moves for each partition, against the two topics that must go out and the two sums
that must come back. And what the page *A billion documents* calculates with: how fast one thread sweeps and asks documents that may move,
how fast words are counted, how many documents want to move, and with `--dask` how long a cluster takes to answer for 100 partitions that
have nothing to do.

    python benchmarks/scale.py [--quick] [--out FOLDER] [--share .05] [--dask]
"""
import json
import pickle
from pathlib import Path
from tempfile import TemporaryDirectory

import numba
import numpy as np
import scipy.sparse as sp
from common import arguments, bytes_of, interleaved, rcv1_like, say, table, write

from nmf2.bisection import unit_factors
from nmf2.core import progress_bar
from nmf2.counting import TermCounter
from nmf2.data import read
from nmf2.hier import HierNMF2, grow, grower_options, planted, starter
from nmf2.kernels import documents
from nmf2.nnls import memberships
from nmf2.products import Rows
from nmf2.rank2 import rank2_nmf
from nmf2.scale import WHOLE, Dask, Local, as_blocks, fit, save_shards, start_topics, sweep_part
from nmf2.scale_texts import fit_topics
from nmf2.scale_topics import _asked, _first_standing, _nothing_yet, start_labels, sums_over
from nmf2.topictree import TopicTree


class Counting(Local):
    """Partitions in this process; what a sweep would move to and fro is measured."""
    moved = sweeps = 0

    def total(self, f, *columns, shared=(), add, sizes=None):
        def counted(part, now, before):
            result = sweep_part(part, now, before)
            self.moved += len(pickle.dumps(now)) + len(pickle.dumps(result))
            return result
        self.sweeps += f is sweep_part
        return super().total(counted if f is sweep_part else f, *columns, shared=shared, add=add)


def moved(X, n):
    """Bytes a sweep moves for each partition, and what must move."""
    engine = Counting()
    blocks = as_blocks(cut(X, n), engine)
    rank2_nmf(blocks, start_topics(blocks), tol=1e-3)
    return dict(moved=round(engine.moved/engine.sweeps/n), must=4*X.shape[1]*X.dtype.itemsize)


def rates(X, n_topics=20):
    """What one thread does in a second, for the calculation of a larger collection."""
    numba.set_num_threads(1)
    docs, few = documents(X), X[:min(X.shape[0], 20_000)]
    Ht, W = np.random.default_rng(0).random((X.shape[1], 2)), np.zeros((X.shape[0], 2))
    blocks = as_blocks([few], Local())
    labels = start_labels(blocks, n_topics)
    group = _nothing_yet(_first_standing(*sums_over(blocks, labels, n_topics), X.dtype))
    asked = blocks.parts[0], labels[0], np.arange(few.shape[0]), unit_factors(Rows(few)), 0, 0, few.shape[0], group
    Ht_k = np.random.default_rng(0).random((X.shape[1], n_topics))
    texts = ["".join(f"{'abcdefghij'[w % 10]}{'klmnopqrst'[w // 10 % 10]}{'uvwxyz'[w // 100 % 6]} " for w in row)
             for row in np.random.default_rng(0).integers(0, 600, (20_000, 100))]
    calls = {"sweep": lambda: docs.sweep(Ht, W), "ask": lambda: _asked(*asked),
             "weigh": lambda: memberships(few, Ht_k), "count": lambda: TermCounter(n_jobs=1).fit_transform(texts)}
    seconds = interleaved(calls, 3)
    wanting = len(_asked(*asked).at)
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    return dict(sweep=round(X.nnz/seconds["sweep"]), ask=round(few.nnz/seconds["ask"]), weigh=round(few.nnz/seconds["weigh"]),
                count=round(100*len(texts)/seconds["count"]), wanting=round(wanting/few.shape[0], 4), topics=n_topics)


def answer(client, n=100):
    """Seconds until a cluster has answered for so many partitions that have nothing to do."""
    engine = Dask(client)
    held, _ = engine.keep(lambda part: (part, None), list(range(n)))         # each has a home, as in a fit
    return interleaved({"answer": lambda: engine.total(abs, held, add=max)}, 5)["answer"]


def cut(X, n):
    """Partitions with as many documents each."""
    return [X[k*X.shape[0]//n:(k + 1)*X.shape[0]//n] for k in range(n)]


def growing(X, n_leaves):
    """The tree in memory, of the documents in their order and not checked."""
    model = HierNMF2(n_leaves)
    grower = planted(X, starter("svd", 0), grower_options(model))
    with progress_bar(None, "", False, "split") as bar: grow(grower, n_leaves, bar)


def clusters():
    """Two processes, and two threads of this one, by what they are called in the table."""
    from distributed import Client
    options = dict(dashboard_address=":0", set_as_default=False, silence_logs=50)
    return {"Dask": Client(n_workers=2, threads_per_worker=1, **options),
            "Dask, one process": Client(n_workers=1, threads_per_worker=2, processes=False, **options)}


def measure(X, n_leaves, rounds, clients):
    """Seconds of each way, medians of interleaved runs."""
    ways = {"in memory": lambda: HierNMF2(n_leaves).fit(X), "in memory, growing alone": lambda: growing(X, n_leaves)}
    with TemporaryDirectory() as folder:
        shards = Path(folder)/"corpus"
        def read_whole(): return sp.vstack([sp.load_npz(path) for path in sorted(shards.glob("*.npz"))], format="csr")
        ways["in memory, from the shards"] = lambda: HierNMF2(n_leaves).fit(read_whole())
        for n in (1, 2, 7):
            parts = cut(X, n)
            ways[f"{n} in memory"] = lambda parts=parts: fit(HierNMF2(n_leaves), parts, Local())
        save_shards(X, shards, 7)
        ways["7 shards"] = lambda: fit(HierNMF2(n_leaves), shards, Local())
        for name, client in clients.items():
            ways[f"7 shards, {name}"] = lambda client=client: fit(HierNMF2(n_leaves), shards, Dask(client))
        return interleaved(ways, rounds, warm=True)


def measure_texts(X, n_topics, rounds, clients):
    """The same for texts, and a `TopicTree` of them."""
    words = [f"{j:06}".translate(str.maketrans("0123456789", "abcdefghij")) for j in range(X.shape[1])]
    texts = [" ".join(words[j] for j in X.indices[lo:hi]) for lo, hi in zip(X.indptr, X.indptr[1:])]
    ways = {"in memory": lambda: TopicTree(n_topics).fit(texts)}
    with TemporaryDirectory() as folder:
        for k in range(7):
            lines = [json.dumps(dict(text=text)) for text in texts[len(texts)*k//7:len(texts)*(k + 1)//7]]
            (Path(folder)/f"{k}.jsonl").write_text("\n".join(lines), encoding="utf-8")
        def read_whole(): return [text for k in range(7) for text in read(Path(folder)/f"{k}.jsonl").texts]
        ways["in memory, from the files"] = lambda: TopicTree(n_topics).fit(read_whole())
        whole = min(WHOLE, X.nnz//2)                     # in partitions, however few there are
        ways["7 files"] = lambda: fit_topics(TopicTree(n_topics), folder, engine=Local(), whole=whole)
        for name, client in clients.items():
            ways[f"7 files, {name}"] = lambda client=client: fit_topics(TopicTree(n_topics), folder, engine=Dask(client), whole=whole)
        return interleaved(ways, rounds, warm=True)


def against_memory(seconds):
    """Seconds as ratios to those in memory."""
    return {way: round(s/seconds["in memory"], 3) for way, s in seconds.items()}


def main():
    args = arguments(__doc__, "scale.json", share=(.05, "of the size of RCV1"), dask="on a cluster of two processes, and of two threads, too")
    X, _ = rcv1_like(.0003 if args.quick else float(args.share))
    clients = clusters() if args.dask else {}
    how = (4, 1, clients) if args.quick else (20, 3, clients)
    seconds, of_texts = measure(X, *how), measure_texts(X, *how)
    waits = answer(clients["Dask"]) if clients else None
    for client in clients.values(): client.close()
    sweeps = fit(HierNMF2(how[0]), cut(X, 2), Local()).n_sweeps_
    row = dict(n_docs=X.shape[0], n_terms=X.shape[1], nonzeros=X.nnz, bytes=bytes_of(X), seconds=seconds,
               ratios=against_memory(seconds), texts=dict(seconds=of_texts, ratios=against_memory(of_texts)), sweep=moved(X, 7),
               rates=rates(X), sweeps=round(sweeps, 2), answer=waits)
    say(f"a sweep moves {row['sweep']['moved']:,} bytes for each partition, of which {row['sweep']['must']:,} must move")
    lines = table(["tree", "documents", "seconds", "of the time in memory"],
                  [[tree, way, f"{s:.2f}", f"{found['ratios'][way]:.2f}"]
                   for tree, found in [("HierNMF2", row), ("TopicTree, texts", row["texts"])] for way, s in found["seconds"].items()])
    write(args.output, lines, what=f"the tree of {X.shape[0]:,} planted documents, {X.nnz:,} nonzeros, in one matrix and in "
          "partitions: medians of interleaved runs, each right after another one of its kind", rows=[row])


if __name__ == "__main__": main()
