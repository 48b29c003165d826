"""All methods of the package, by name, on the CLUTO collections: how good, and how long?

NMI (arithmetic), accuracy and entropy to the classes, as many clusters as classes, means over five seeds; seconds of a fit by one thread, the
median. Matrices are weighted as by default, or counts for the methods that want them. Outliers count as a cluster of their own. Runs are kept
in a file, so that a study that was stopped goes on.

    NMF2_DATA=folder python benchmarks/methods.py [--quick] [--runs FILE] [--out FOLDER]
"""
import warnings

import numpy as np
from common import arguments, collections, one_thread, say, small, table, write

from nmf2.data import planted_tree
from nmf2.evaluate import accuracy, entropy, nmi
from nmf2.methods import make, methods
from nmf2.study import Study
from nmf2.weighting import count_pipeline

COLLECTIONS = ["cacmcisi", "cranmed", "fbis", "hitech", "k1a", "k1b", "la1", "re0", "tr11", "tr23", "tr41", "wap"]
QUICK = "hiernmf2", "nmf-hals", "nc", "PDDP-kmeans", "repeated-bisection", "lda"
FIGURES = dict(nmi=np.mean, accuracy=np.mean, entropy=np.mean, seconds=np.median)
DETERMINED = "hiernmf2", "flatnmf2", "pddp", "pddp-kmeans", "xray"         # the same for every seed: one run is enough


class Method:
    """A method of the registry as a function of a matrix, k and seed."""
    def __init__(self, name): self.name = name
    def __repr__(self): return repr(methods()[self.name])
    def __call__(self, X, k, seed): return make(self.name, k, seed).fit(X).labels_


def score(labels, classes):
    return dict(nmi=nmi(labels, classes), accuracy=accuracy(labels, classes), entropy=entropy(labels, classes))


def warm_up(quick):
    """One small fit of each method, so that no run waits for the compiler."""
    corpus = planted_tree((4,), n_docs=120, random_state=1)
    weighted = count_pipeline().fit_transform(corpus.X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, method in methods().items():
            if name in QUICK or not quick: make(name, 4, 0).fit(corpus.X if method.wants == "counts" else weighted)


def study(found, wants, names, seeds, path):
    """The runs of methods that want the same matrix."""
    def matrix(corpus): return corpus.X if wants == "counts" else count_pipeline().fit_transform(corpus.X)
    have = {name: (matrix(corpus), classes) for name, corpus, classes in found}
    return Study({name: Method(name) for name in names}, have, seeds=seeds, score=score, path=path)


def shown(rows, value, digits=3):
    """A figure of each method on each collection, and its mean."""
    names = list(dict.fromkeys(row["collection"] for row in rows))
    by = {(row["method"], row["collection"]): row for row in rows}
    def mean(method, name):
        row = by.get((method, name))
        return row[value][0] if row and row[value] else np.nan
    means = {method: [mean(method, name) for name in names] for method in dict.fromkeys(row["method"] for row in rows)}
    order = sorted(means, key=lambda m: -np.nanmean(means[m]) if value == "nmi" else np.nanmean(means[m]))
    cells = [[m, *("" if np.isnan(x) else f"{x:.{digits}f}" for x in means[m]), f"{np.nanmean(means[m]):.{digits}f}"] for m in order]
    return table(["", *names, "**mean**"], cells)


def main():
    args = arguments(__doc__, "methods.json", runs=("", "keep the runs in files that begin so, and go on with them"))
    found, seeds = (small((4,), 120), range(1)) if args.quick else (list(collections(COLLECTIONS)), range(5))
    one_thread()
    warm_up(args.quick)
    runs = []
    for wants in ("weighted", "counts"):
        names = [name for name, method in methods().items() if method.wants == wants and (name in QUICK or not args.quick)]
        for part, which in (("one", [n for n in names if n in DETERMINED]), ("many", [n for n in names if n not in DETERMINED])):
            if not which: continue
            path = f"{args.runs}-{wants}-{part}.jsonl" if args.runs else None
            done = study(found, wants, which, range(1) if part == "one" else seeds, path)
            done.run(verbose=not args.quick)
            for run in done.failures: say(f"{run['method']} on {run['collection']}, seed {run['seed']}: {run['error']}")
            runs += done.runs
    rows = gathered(runs)
    text = "NMI:\n\n" + shown(rows, "nmi") + "\n\nEntropy:\n\n" + shown(rows, "entropy") + "\n\nSeconds:\n\n" + shown(rows, "seconds", 2)
    what = f"All methods of the registry, mean of up to {len(seeds)} seeds; a method that is the same for every seed ran once"
    write(args.output, text, what=what, rows=rows)


def middle_and_deviation(values, middle):
    """Mean or median, and standard deviation, rounded; None if there are no values."""
    if not values: return None
    return [round(float(middle(values)), 4), round(float(np.std(values, ddof=1)), 4) if len(values) > 1 else 0.]


def gathered(runs):
    """One row for each method and collection: mean (of times the median) and deviation of each figure, warnings and errors."""
    rows = []
    for method, collection in dict.fromkeys((run["method"], run["collection"]) for run in runs):
        here = [run for run in runs if (run["method"], run["collection"]) == (method, collection)]
        good = [run for run in here if not run["error"]]
        figures = {value: middle_and_deviation([run[value] for run in good], middle) for value, middle in FIGURES.items()}
        said = sorted({text[:200] for run in here for text in run["warnings"]})
        errors = sorted({run["error"] for run in here if run["error"]})
        rows.append(dict(method=method, collection=collection, runs=len(good), **figures, warnings=said[:3], errors=errors))
    return rows


if __name__ == "__main__": main()
