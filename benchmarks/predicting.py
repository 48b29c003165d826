"""How fast are new documents answered, once they are counted?

On one thread, in turn: from counts to weights, the plain product of the weighted matrix with the topics by SciPy, `predict` and `transform`
of the tree, everything that `answers` looks at (`judge`), the columns of its table, and `NMF.transform` of scikit-learn with the same topics.

    python benchmarks/predicting.py [--quick] [--out FOLDER]
"""
import warnings

import numpy as np
from common import arguments, interleaved, one_thread, say, table, write

TARGET = 100_000        # documents a second on one core, after counting


def measure(n_fit, n_new, k, rounds):
    """Seconds of each way, for as many new documents."""
    from sklearn.decomposition import NMF

    from nmf2 import TopicTree
    from nmf2.answers import Counted, answer_columns, judge
    from nmf2.data import planted_tree
    corpus = planted_tree((4, k//4), n_docs=n_fit + n_new, n_terms=300*k, length=100, overlap=.3, noise=.2, random_state=0)
    rows = np.random.default_rng(0).permutation(n_fit + n_new)
    old, new = corpus.X.tocsr()[rows[:n_fit]], corpus.X.tocsr()[rows[n_fit:]]
    model = TopicTree(k).fit(old)
    X, Ht = model.pipeline_.transform(new), model.tree_.leaf_topics
    counted = Counted(new, np.ones(n_new), n_new, [])
    nmf = NMF(Ht.shape[1])
    nmf.components_, nmf.n_components_, nmf._n_components, nmf.n_features_in_ = Ht.T.astype(X.dtype), Ht.shape[1], Ht.shape[1], len(Ht)
    nmf._beta_loss, nmf._l1_reg_W, nmf._l1_reg_H = 2, 0, 0
    calls = {"weights": lambda: model.pipeline_.transform(new), "SciPy, X @ H.T": lambda: X @ Ht, "predict": lambda: model.tree_.predict(X),
             "transform": lambda: model.tree_.transform(X), "judge": lambda: judge(model, X),
             "answers, with weights": lambda: answer_columns(model, counted), "scikit-learn, NMF.transform": lambda: nmf.transform(X)}
    seconds = interleaved(calls, rounds)
    return dict(documents=n_new, terms=int(X.shape[1]), nonzeros=int(X.nnz), topics=int(Ht.shape[1]), seconds=seconds,
                a_second={name: round(n_new/s) for name, s in seconds.items()}, target=TARGET)


def main():
    args = arguments(__doc__, "predicting.json")
    one_thread()
    rows = []
    for k in (8,) if args.quick else (20, 100):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows.append(measure(*((400, 500, k, 1) if args.quick else (10_000, 50_000, k, 5))))
        say(f"{k} topics: {rows[-1]['a_second']}")
    lines = table(["topics", "documents", *rows[0]["a_second"]], [[r["topics"], f"{r['documents']:,}", *(f"{v:,}" for v in r["a_second"].values())] for r in rows])
    write(args.output, lines, what="documents a second on one thread, after counting", rows=rows)


if __name__ == "__main__": main()
