"""Document clustering by NMF, measured as Xu, Liu and Gong (2003) did: their Tables 2 and 3 on collections at hand.

For k = 2 ... 10, fifty times: draw k topics, mix their documents, and cluster them into k clusters. Accuracy (AC) and normalized
mutual information (MI, by the larger entropy) of average association (AA), normalized cut (NC), NMF and NMF with normalized-cut
weights (NMF-NCW), the best of ten random starts; and FlatNMF2 with the same weights, for comparison. As the paper selects it,
Reuters-21578 keeps the stories with exactly one topic, of topics with at least five. Weights are tf·log((1 + n)/(1 + df)) over the mixed
documents, of unit length, without stop words; words are not stemmed. NMF minimises the paper's error by HALS, which needs fewer turns than
its multiplicative update; `--mu` uses the latter, for a few draws.

    NMF2_DATA=folder python benchmarks/xu2003.py [--collection NAME] [--mu] [--quick] [--runs FILE] [--out FOLDER]
"""
from functools import partial

import numpy as np
from common import KEEP, WithClasses, arguments, collections, runs_of, small, table, together, write

from nmf2 import NMF, FlatNMF2
from nmf2.evaluate import accuracy, nmi
from nmf2.partitions import AverageAssociation, NormalizedCutClustering
from nmf2.study import with_size
from nmf2.weighting import NormalizedCut, TfIdf, count_pipeline, text_pipeline

# Table 3 of the paper, Reuters: for each k, MI and AC of AA, NC, NMF, NMF-NCW
PAPER = {2: ((.399, .484, .437, .494), (.784, .821, .824, .837)), 3: ((.482, .536, .489, .574), (.709, .765, .731, .803)),
         4: ((.480, .581, .487, .604), (.629, .734, .655, .758)), 5: ((.565, .590, .587, .600), (.655, .695, .686, .722)),
         6: ((.537, .627, .559, .650), (.611, .678, .650, .728)), 7: ((.560, .599, .575, .624), (.584, .654, .624, .696)),
         8: ((.559, .592, .578, .606), (.581, .613, .618, .651)), 9: ((.603, .633, .614, .659), (.599, .640, .634, .692)),
         10: ((.607, .647, .626, .661), (.600, .634, .634, .677))}
METHODS = ["AA", "NC", "NMF", "NMF-NCW"]
OURS = ["AA, rows of length one", "NC, rows of length one", "FlatNMF2"]


def select(corpus, least=5):
    """The documents of topics with at least so many, their raw counts, and class numbers."""
    classes, _ = corpus.classes()
    kept = corpus[np.flatnonzero(np.bincount(classes)[classes] >= least)]
    steps = (text_pipeline if kept.X is None else count_pipeline)(min_df=1, max_df=1.)
    steps = steps[:[name for name, _ in steps.steps].index("tfidf")]
    return steps.fit_transform(kept.texts if kept.X is None else kept.X).astype(np.float32).tocsr(), kept.classes()[0]


def mixed(X, classes, k, rng):
    """Documents of k topics drawn at random: tf·log((1 + n)/(1 + df)) of unit length, and their classes; documents left without weight are out."""
    rows = np.flatnonzero(np.isin(classes, rng.choice(classes.max() + 1, k, replace=False)))
    Y = X[rows]
    Y = TfIdf(sublinear_tf=False).fit_transform(Y[:, np.flatnonzero(Y.getnnz(0))])
    filled = np.flatnonzero(np.diff(Y.indptr))
    return Y[filled], classes[rows][filled]


def on_mixture(collection, k, draw, model, cut=False):
    """How a model finds the topics of a mixture."""
    Y, truth = mixed(collection.X, collection.classes, k, np.random.default_rng([k, draw]))
    labels = with_size(model, k, draw).fit(NormalizedCut(tau=0).fit_transform(Y) if cut else Y).labels_
    return dict(documents=Y.shape[0], terms=Y.shape[1], MI=round(nmi(labels, truth, average="max"), 4), AC=round(accuracy(labels, truth), 4))


def methods(solver, starts):
    """What is compared."""
    factor = NMF(solver=solver, init="random", n_init=starts, max_iter=200, tol=1e-3)
    models = AverageAssociation(normalize_rows=False), NormalizedCutClustering(normalize_rows=False), factor
    return {**{name: partial(on_mixture, model=model) for name, model in zip(METHODS, models)},
            "NMF-NCW": partial(on_mixture, model=factor, cut=True),
            "AA, rows of length one": partial(on_mixture, model=AverageAssociation()),
            "NC, rows of length one": partial(on_mixture, model=NormalizedCutClustering()),
            "FlatNMF2": partial(on_mixture, model=FlatNMF2(), cut=True)}


def gathered(runs):
    """A row for each mixture, with MI and AC of all methods."""
    return [dict(k=k, draw=draw, documents=some[0]["documents"], terms=some[0]["terms"],
                 scores={run["method"]: (run["MI"], run["AC"]) for run in some}) for (k, draw), some in together(runs, "k", "seed").items()]


def means(rows, k=None):
    """Mean MI and AC of each method, at one k or over the means at all."""
    if k is None: return np.mean([means(rows, k) for k in sorted({row["k"] for row in rows})], axis=0)
    return np.mean([[row["scores"][name] for name in METHODS + OURS] for row in rows if row["k"] == k], axis=0)


def shown(rows, paper):
    """The paper's table, measured, with the paper's own figures beside each if it is about this collection."""
    text = []
    for what, title in enumerate(["Normalized mutual information", "Accuracy"]):
        lines = []
        for k in [*sorted({row["k"] for row in rows}), None]:
            own = means(rows, k)[:, what]
            theirs = [np.mean([PAPER[j][what] for j in PAPER], axis=0) if k is None else PAPER[k][what]][0] if paper else None
            cells = [f"{a:.3f}" + (f" ({theirs[i]:.3f})" if paper and i < 4 else "") for i, a in enumerate(own)]
            lines.append(["**mean**" if k is None else k, *cells])
        text.append(f"{title}{', in brackets the paper’s' if paper else ''}:\n\n" + table(["k", *METHODS, *OURS], lines))
    return "\n\n".join(text)


def main():
    args = arguments(__doc__, "xu2003.json", collection=("reuters21578", "the collection to draw topics from"),
                     **KEEP, mu="NMF by the paper's multiplicative update, for ten draws of each k")
    ks, draws, starts = range(2, 11), 10 if args.mu else 50, 10
    if args.quick: ks, draws, starts = (2, 3), 2, 2
    (_, corpus, _), = small((2, 3), 240) if args.quick else collections([args.collection])
    X, classes = select(corpus)
    solver = "mu" if args.mu else "hals"
    have = {args.collection: (WithClasses(X, classes), None)}
    rows = gathered(runs_of(methods(solver, starts), have, args.quick, clusters=ks, seeds=range(draws), path=args.runs or None))
    paper = args.collection == "reuters21578" and not args.quick
    order = [METHODS[i] for i in np.argsort(means(rows)[:4, 1])]
    if args.output and (args.mu or args.collection != "reuters21578"):
        args.output = args.output.with_stem("_".join(["xu2003", *[args.collection][:args.collection != "reuters21578"], *["mu"][:args.mu]]))
    write(args.output, shown(rows, paper), what=__doc__.split("\n\n")[0] + f" {args.collection}, {X.shape[0]:,} documents of "
          f"{classes.max() + 1} topics; {draws} draws for each k, {starts} starts of NMF by {solver}.",
          collection=args.collection, documents=X.shape[0], topics=int(classes.max() + 1), draws=draws, solver=solver,
          methods=METHODS + OURS, paper={k: dict(MI=mi, AC=ac) for k, (mi, ac) in PAPER.items()} if paper else None,
          means={str(k): means(rows, k).round(4).tolist() for k in ks} | {"mean": means(rows).round(4).tolist()},
          ranking_by_accuracy=order, rows=rows)


if __name__ == "__main__": main()
