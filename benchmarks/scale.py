"""What do partitions cost?

The same tree from one matrix in memory, from partitions of it in memory, from shards on disk, and with `--dask` from two processes of a
cluster: seconds, as ratios to the fit in memory. For rank-2 NMF of the whole collection: bytes that a sweep moves for each partition,
against the two topics that must go out and the two sums that must come back.

    python benchmarks/scale.py [--quick] [--out FOLDER] [--share .05] [--dask]
"""
import pickle
from pathlib import Path
from tempfile import TemporaryDirectory

from common import arguments, bytes_of, interleaved, rcv1_like, say, table, write

from nmf2.core import progress_bar
from nmf2.hier import HierNMF2, grow, grower_options, planted, starter
from nmf2.rank2 import rank2_nmf
from nmf2.scale import Dask, Local, as_blocks, fit, save_shards, start_topics, sweep_part


class Counting(Local):
    """Partitions in this process; what a sweep would move to and fro is measured."""
    moved = sweeps = 0

    def total(self, f, *columns, shared=(), add):
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


def cut(X, n):
    """Partitions with as many documents each."""
    return [X[k*X.shape[0]//n:(k + 1)*X.shape[0]//n] for k in range(n)]


def in_memory(X, n_leaves):
    """The tree in memory, of the documents in their order."""
    model = HierNMF2(n_leaves)
    grower = planted(X, starter("svd", 0), grower_options(model))
    with progress_bar(None, "", False, "split") as bar: grow(grower, n_leaves, bar)


def measure(X, n_leaves, rounds, client):
    """Seconds of each way, medians of interleaved runs."""
    ways = {"in memory": lambda: in_memory(X, n_leaves)}
    with TemporaryDirectory() as folder:
        for n in (1, 2, 7):
            parts = cut(X, n)
            ways[f"{n} in memory"] = lambda parts=parts: fit(HierNMF2(n_leaves), parts)
        save_shards(X, Path(folder)/"corpus", 7)
        ways["7 shards"] = lambda: fit(HierNMF2(n_leaves), Path(folder)/"corpus")
        if client: ways["7 shards, Dask"] = lambda: fit(HierNMF2(n_leaves), Path(folder)/"corpus", Dask(client))
        return interleaved(ways, rounds)


def main():
    args = arguments(__doc__, "scale.json", share=(.05, "of the size of RCV1"), dask="on two processes of a cluster, too")
    X, _ = rcv1_like(.0003 if args.quick else float(args.share))
    client = None
    if args.dask:
        from distributed import Client
        client = Client(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    seconds = measure(X, 4 if args.quick else 20, 1 if args.quick else 3, client)
    if client: client.close()
    row = dict(n_docs=X.shape[0], n_terms=X.shape[1], nonzeros=X.nnz, bytes=bytes_of(X), seconds=seconds,
               ratios={way: round(s/seconds["in memory"], 3) for way, s in seconds.items()}, sweep=moved(X, 7))
    say(f"a sweep moves {row['sweep']['moved']:,} bytes for each partition, of which {row['sweep']['must']:,} must move")
    lines = table(["documents", "seconds", "of the time in memory"],
                  [[way, f"{s:.2f}", f"{row['ratios'][way]:.2f}"] for way, s in seconds.items()])
    write(args.output, lines, what=f"the tree of {X.shape[0]:,} planted documents, {X.nnz:,} nonzeros, in one matrix and in "
          "partitions: medians of interleaved runs", rows=[row])


if __name__ == "__main__": main()
