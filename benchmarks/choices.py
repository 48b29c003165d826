"""What do the defaults rest on? HierNMF2 and FlatNMF2 with one choice changed at a time, and other methods beside them, on many collections.

NMI (arithmetic, outliers one more cluster) of FlatNMF2's topics and of the tree's leaves, as many as there are classes but at most forty. No
choice uses the classes. Each method sees the same random four fifths of each collection, three draws, with normalized-cut weights and with
rows of unit length. Figures are means over draws; the mean over collections comes with its difference from the default, the standard error
of that difference, and how many collections are better and worse by more than .01.

With --only the runs of some methods are made anew, and those of all others are taken from the results there are, if the default, which is
always run, still gives the same.

    NMF2_DATA=folder python benchmarks/choices.py [--quick] [--only METHOD,METHOD] [--runs FILE] [--out FOLDER]
"""
import json
import warnings

import numpy as np
import scipy.sparse as sp
from common import KEEP, RESULTS, WithClasses, arguments, collections, runs_of, small, table, write
from sklearn.cluster import BisectingKMeans, KMeans
from sklearn.decomposition import NMF as SklearnNMF
from sklearn.decomposition import LatentDirichletAllocation

from nmf2 import NMF, FlatNMF2, HierNMF2
from nmf2.bisection import RepeatedBisection
from nmf2.evaluate import nmi
from nmf2.hier import find_split
from nmf2.kernels import squared_error
from nmf2.topictree import topic_tree
from nmf2.weighting import count_pipeline, text_pipeline

COLLECTIONS = ["tr11", "tr23", "tr41", "re0", "fbis", "hitech", "k1a", "k1b", "wap", "la1", "cranmed", "cacmcisi", "classic3",
               "reuters21578_cai", "20newsgroups_cai", "reuters21578", "20newsgroups", "arxiv_2level", "classic4_raw"]
WEIGHTS = {"normalized cut": True, "unit length": False}
DRAWS, MOST = 3, 40


# ---- splits where the documents are cut instead of at equal weights

def balanced(W):
    """The share of the first topic at which to cut: between parts that are not too unequal, and where few documents are near."""
    share = W[:, 0]/np.maximum(W.sum(1), 1e-300)
    at = np.arange(.01, 1, .01)
    below = (share[:, None] <= at).mean(0)
    near = (abs(share[:, None] - at) < .05).mean(0)/(np.minimum(at + .05, 1) - np.maximum(at - .05, 0))
    with np.errstate(divide="ignore"): cost = np.exp(near) - np.log(below*(1 - below))
    return at[cost.argmin()], share


class Balanced(HierNMF2):
    """Cuts by the threshold of Gillis, Kuang and Park (2015)."""
    def _how(self):
        def find(*args, **options):
            split, took = find_split(*args, **options)
            at, share = balanced(split.W.astype(np.float64))
            return split._replace(side=(share <= at).astype(np.int8)), took
        return super()._how() | dict(split_by=find)


# ---- methods: functions of X, k and seed

def flat(**options):
    """FlatNMF2 with other options, and the leaves of its tree."""
    def fit(X, k, seed):
        model = FlatNMF2(k, random_state=seed, **options).fit(X)
        return model.labels_, model.hier_.labels_
    return fit


def balanced_leaves(X, k, seed): return None, Balanced(k).fit(X).labels_


def best_of(n):
    """The best of several random starts by the error ‖X − WH‖."""
    def fit(X, k, seed):
        models = [FlatNMF2(k, init="random", random_state=1000*seed + i) for i in range(n)]
        errors = []
        for model in models:
            W, H = model.fit_transform(X).astype(float), model.components_.astype(float)
            errors.append(squared_error(float(sp.csr_array(X).power(2).sum()), sp.csr_array(X).T @ W, W.T @ W, H.T))
        best = models[int(np.argmin(errors))]
        return best.labels_, best.hier_.labels_
    return fit


def sklearn_nmf(X, k, seed):
    """The largest topic of each document, topics brought to length one."""
    model = SklearnNMF(k, random_state=seed)
    return (model.fit_transform(X)*np.linalg.norm(model.components_, axis=1)).argmax(1), None


def lda(X, k, seed): return LatentDirichletAllocation(k, random_state=seed).fit_transform(X).argmax(1), None


def labels(make):
    """A clusterer as a method."""
    return lambda X, k, seed: (make(k, seed).fit(X).labels_, None)


CHOICES = {
    "default": flat(), "as published: moves_max_iter=0": flat(moves_max_iter=0), "papers: random, moves_max_iter=0": flat(moves_max_iter=0, init="random", extrapolate=False, max_outliers=None),
    "moves_max_iter=1": flat(moves_max_iter=1), "moves_max_iter=3": flat(moves_max_iter=3), "moves_max_iter=30": flat(moves_max_iter=30),
    "moves_max_iter=0, refine=1": flat(moves_max_iter=0, refine=1), "moves_max_iter=0, refine=5": flat(moves_max_iter=0, refine=5), "refine=1": flat(refine=1),
    'topics="svd", moves_max_iter=0': flat(topics="svd", moves_max_iter=0),
    'leaf_choice="mndcg-paper"': flat(leaf_choice="mndcg-paper"), 'leaf_choice="error"': flat(leaf_choice="error"),
    'leaf_choice="error", trials=0': flat(leaf_choice="error", trials=0), "trials=0": flat(trials=0), "imbalance=4": flat(imbalance=4),
    "max_outliers=None": flat(max_outliers=None), "max_outliers=0.1": flat(max_outliers=.1), "max_outliers=0": flat(max_outliers=0),
    "balanced cuts": balanced_leaves, 'init="random"': flat(init="random"), "best of five random": best_of(5),
    "side_tol=None": flat(side_tol=None), "tol=1e-2": flat(tol=1e-2),
}
OTHERS = {
    "NMF, scikit-learn": sklearn_nmf, "KMeans, scikit-learn": labels(lambda k, seed: KMeans(k, random_state=seed)),
    "BisectingKMeans, scikit-learn": labels(lambda k, seed: BisectingKMeans(k, random_state=seed)), "LatentDirichletAllocation, scikit-learn": lda,
    "nmf-flat: NMF, random": labels(lambda k, seed: NMF(k, init="random", random_state=seed)),
    "NMF": labels(lambda k, seed: NMF(k, random_state=seed)),
    "RepeatedBisection": labels(lambda k, seed: RepeatedBisection(k, random_state=seed)),
    "topic_tree": lambda X, k, seed: (topic_tree(X, k, seed=seed).tree.labels(), None),
}
METHODS = CHOICES | OTHERS


class Scored:
    """A method whose labels are scored here, because there are two sets of them."""
    def __init__(self, name): self.name = name
    def __repr__(self): return f"{self.name} of choices.py"
    def __call__(self, collection, k, seed):
        X, classes = collection.some(seed)
        found = METHODS[self.name](X, min(len(set(classes)), MOST), seed)
        return {kind: nmi(which, classes) for kind, which in zip(("flat", "leaves"), found) if which is not None}


def weighted(corpus, cut):
    """The matrix of a collection."""
    pipe, data = (count_pipeline(normalized_cut=cut), corpus.X) if corpus.texts is None else (text_pipeline(normalized_cut=cut), corpus.texts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                                    # documents that weighting leaves empty
        return sp.csr_matrix(pipe.fit_transform(data))


def summary(runs, weights, kind):
    """For each method the mean over collections, and how it differs from the default."""
    by = {}
    for run in runs:
        name, w = run["collection"].split(", ")
        if w == weights and run.get(kind) is not None: by.setdefault(run["method"], {}).setdefault(name, []).append(run[kind])
    means = {method: {name: np.mean(x) for name, x in found.items()} for method, found in by.items()}
    out = []
    for method, found in means.items():
        differ = np.array([found[name] - means["default"][name] for name in found])
        out.append(dict(method=method, weights=weights, kind=kind, collections=len(found), mean=round(float(np.mean(list(found.values()))), 4),
                        change=round(float(differ.mean()), 4), error=round(float(differ.std(ddof=1)/len(differ)**.5) if len(differ) > 1 else 0., 4),
                        better=int((differ > .01).sum()), worse=int((differ < -.01).sum()),
                        each={name: round(float(x), 4) for name, x in found.items()}))
    return out


def shown(rows):
    """A line for each method: NMI of flat topics with both weights, then of leaves."""
    columns = [(kind, weights) for kind in ("flat", "leaves") for weights in WEIGHTS]
    by = {(row["method"], row["kind"], row["weights"]): row for row in rows}
    def cell(method, kind, weights):
        row = by.get((method, kind, weights))
        if row is None or (kind == "leaves" and method in ("moves_max_iter=1", "moves_max_iter=3", "moves_max_iter=30")): return ""
        change = "" if method == "default" else f" ({row['change']:+.3f} ± {row['error']:.3f}, {row['better']} better, {row['worse']} worse)"
        return f"{row['mean']:.3f}{change}"
    methods = list(dict.fromkeys(row["method"] for row in rows))
    return table(["", *(f"{kind}, {weights}" for kind, weights in columns)], [[m, *(cell(m, *c) for c in columns)] for m in methods])


def with_earlier(rows):
    """The rows of some methods among those of the results there are, which must have been measured with the same defaults."""
    earlier, new = json.loads((RESULTS/"choices.json").read_text())["rows"], {(row["method"], row["kind"], row["weights"]): row for row in rows}
    for row in earlier:
        now = new.get((row["method"], row["kind"], row["weights"]))
        if row["method"] == "default" and any(abs(now["each"][name] - value) > .002 for name, value in row["each"].items()):
            raise SystemExit("The default isn't what it was when the results were measured: run all methods.")
    return [new.get((row["method"], row["kind"], row["weights"]), row) for row in earlier]


def main():
    args = arguments(__doc__, "choices.json", **KEEP, only=("", "methods, with commas between them"))
    chosen = {name: METHODS[name] for name in METHODS if not args.only or name in ("default", *args.only.split(","))}
    found = small((4,), 150) if args.quick else collections(COLLECTIONS)
    have = {f"{name}, {weights}": (WithClasses(weighted(corpus, cut), classes), None)
            for name, corpus, classes in found for weights, cut in WEIGHTS.items()}
    runs = runs_of({name: Scored(name) for name in chosen}, have, args.quick, clusters=1, seeds=range(1 if args.quick else DRAWS), path=args.runs or None)
    rows = [row for kind in ("flat", "leaves") for weights in WEIGHTS for row in summary(runs, weights, kind)]
    if args.only: rows = with_earlier(rows)
    what = "NMI with one choice changed at a time, means over collections, and other methods on the same matrices"
    write(args.output, shown(rows), what=what, rows=rows)


if __name__ == "__main__": main()
