"""Does the order of documents and words matter?

For each collection the rows and columns of the counts are shuffled, then weighted and fitted from the beginning. How alike are the
trees: adjusted Rand index of the leaves between every two, whether all labels agree to the last one, the range of NMI to the classes,
and the size of the smaller side of the first split in each.

    NMF2_DATA=folder python benchmarks/order.py [--quick] [--out FOLDER]
"""
import warnings
from itertools import combinations

import numpy as np
import scipy.sparse as sp
from common import arguments, collections, say, small, table, write
from sklearn.metrics import adjusted_rand_score

from nmf2.data import count_terms
from nmf2.evaluate import nmi
from nmf2.flat import FlatNMF2
from nmf2.weighting import count_pipeline

NAMES = ["tr41", "re0", "k1b", "la1", "fbis", "wap", "hitech", "cacmcisi", "20newsgroups_cai", "reuters21578_cai", "classic4_raw", "arxiv_2level",
         "short_20newsgroups_subjects", "short_reuters_titles"]


def fitted(counts, classes, rows, columns):
    """Labels of leaves and flat topics in the first order, NMI, and the smaller side of the first split."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = count_pipeline().fit_transform(sp.csr_array(counts)[rows][:, columns])
        model = FlatNMF2(len(set(classes))).fit(X)
    leaves, flat = (np.empty_like(model.labels_) for _ in range(2))
    leaves[rows], flat[rows] = model.hier_.labels_, model.labels_
    return dict(leaves=leaves, flat=flat, nmi=[nmi(leaves, classes), nmi(flat, classes)],
                first=int(min(child.size for child in model.hier_.tree_[""].children)))


def compare(counts, classes, n):
    """What n shuffles have in common; the first is the given order."""
    def order(seed, size): return np.arange(size) if seed == 0 else np.random.default_rng([seed, size]).permutation(size)
    fits = [fitted(counts, classes, *(order(seed, size) for size in counts.shape)) for seed in range(n)]
    pairs = list(combinations(fits, 2))
    def alike(kind): return float(np.mean([adjusted_rand_score(a[kind], b[kind]) for a, b in pairs]))
    def range_of(i): return [round(f(fit["nmi"][i] for fit in fits), 4) for f in (min, max)]
    return dict(documents=counts.shape[0], shuffles=n, ari_leaves=round(alike("leaves"), 4), ari_flat=round(alike("flat"), 4),
                same=round(float(np.mean([(a["leaves"] == b["leaves"]).mean() for a, b in pairs])), 5),
                nmi_leaves=range_of(0), nmi_flat=range_of(1), first_split=sorted({fit["first"] for fit in fits}))


def main():
    args = arguments(__doc__, "order.json")
    rows = []
    for name, corpus, classes in small((2, 2), 160) if args.quick else collections(NAMES):
        counts = corpus.X if corpus.texts is None else count_terms(list(corpus.texts))[0]
        rows.append(dict(collection=name, **compare(counts, classes, 3 if args.quick else 10)))
        say(f"{name}: ARI {rows[-1]['ari_leaves']}, {rows[-1]['same']:.3%} in the leaf of the same number")
    lines = table(["collection", "documents", "ARI of leaves", "ARI of flat topics", "same leaf number", "NMI of leaves", "NMI of flat topics", "smaller side of the first split"],
                  [[r["collection"], f"{r['documents']:,}", f"{r['ari_leaves']:.4f}", f"{r['ari_flat']:.4f}", f"{r['same']:.3%}",
                    " to ".join(f"{x:.4f}" for x in r["nmi_leaves"]), " to ".join(f"{x:.4f}" for x in r["nmi_flat"]),
                    ", ".join(map(str, r["first_split"]))] for r in rows])
    write(args.output, lines, what="trees of ten orders of the rows and columns of each collection, counted from the beginning: agreement between "
          "every two, range of NMI to the classes, size of the smaller side of the first split", rows=rows)


if __name__ == "__main__": main()
