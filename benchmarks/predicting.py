"""How fast are new documents answered, once they are counted?

On one thread, in turn: from counts to weights, the plain product of the weighted matrix with the topics by SciPy, `predict` and `transform`
of the tree, the same with rejection (`judge` without shares), everything that `answers` looks at (`judge`), the columns of its table, and
`NMF.transform` of scikit-learn with the same topics. Documents are planted, and, with `library-docs`, docstrings that the fit has not seen,
over and over. And how long a single document takes, from its counts on: `predict`, `transform` and `answers` of the model, with all checks.

Last, texts, of which the model has seen others: 20 Newsgroups if it is there, or `library-docs`. Beside it scikit-learn with the same number of
topics, of `TfidfVectorizer` and `NMF`. All cores may count.

    NMF2_DATA=folder python benchmarks/predicting.py [--quick] [--out FOLDER]
"""
import os
import warnings

import numpy as np
import scipy.sparse as sp
from common import arguments, interleaved, one_thread, say, table, write

TARGET = 100_000        # documents a second on one core, after counting
TEXTS = 1, 100, 5000    # texts that are asked about at once


def planted(n_fit, n_new, k):
    """Counts of documents to fit, and of new ones: planted, easy to tell apart."""
    from nmf2.data import planted_tree
    corpus = planted_tree((4, k//4), n_docs=n_fit + n_new, n_terms=300*k, length=100, overlap=.3, noise=.2, random_state=0)
    rows = np.random.default_rng(0).permutation(n_fit + n_new)
    return corpus.X.tocsr()[rows[:n_fit]], corpus.X.tocsr()[rows[n_fit:]]


def docstrings(n_new):
    """Counts of one half of the docstrings, and of the other half as often as it takes."""
    from nmf2.counting import TermCounter
    from nmf2.data import load
    X = TermCounter().fit_transform(load("library-docs").texts)
    rows = np.random.default_rng(0).permutation(X.shape[0])
    old, new = X[rows[::2]], X[rows[1::2]]
    return old, sp.csr_array(sp.vstack([new]*-(-n_new//new.shape[0])))[:n_new]


def measure(name, old, new, k, rounds):
    """Seconds of each way, for as many new documents."""
    from sklearn.decomposition import NMF

    from nmf2 import TopicTree
    from nmf2.answers import Counted, answer_columns, judge
    from nmf2.weighting import weigh_new
    n_new = new.shape[0]
    model = TopicTree(k).fit(old)
    X, Ht = model.pipeline_.transform(new), model.tree_.leaf_topics
    counted = Counted(new, np.ones(n_new), n_new, [])
    nmf = NMF(Ht.shape[1])
    nmf.components_, nmf.n_components_, nmf._n_components, nmf.n_features_in_ = Ht.T.astype(X.dtype), Ht.shape[1], Ht.shape[1], len(Ht)
    nmf._beta_loss, nmf._l1_reg_W, nmf._l1_reg_H = 2, 0, 0
    calls = {"weights": lambda: weigh_new(model.pipeline_, new), "SciPy, X @ H.T": lambda: X @ Ht, "predict": lambda: model.tree_.predict(X),
             "predict, reject": lambda: judge(model, X, shares=False), "transform": lambda: model.tree_.transform(X),
             "judge": lambda: judge(model, X), "answers, with weights": lambda: answer_columns(model, counted),
             "scikit-learn, NMF.transform": lambda: nmf.transform(X)}
    one = new[n_new//2:n_new//2+1]
    single = interleaved({"predict": lambda: model.predict(one), "transform": lambda: model.transform(one),
                          "answers": lambda: model.answers(one, plain=True)}, rounds)
    seconds = interleaved(calls, rounds)
    return dict(collection=name, documents=n_new, terms=int(X.shape[1]), nonzeros=int(X.nnz), topics=int(Ht.shape[1]), seconds=seconds,
                a_second={name: round(n_new/s) for name, s in seconds.items()}, target=TARGET, one_ms={name: 1e3*s for name, s in single.items()})


def of_texts(name, k, rounds):
    """Milliseconds from some texts to their topics, by us and by scikit-learn."""
    from sklearn.decomposition import NMF
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    from nmf2 import TopicTree
    from nmf2.data import load
    texts = np.array(load(name).texts, object)
    rows = np.random.default_rng(0).permutation(len(texts))
    old, new = texts[rows[::2]].tolist(), texts[rows[1::2]].tolist()
    model, other = TopicTree(k).fit(old), make_pipeline(TfidfVectorizer(), NMF(k, max_iter=20, random_state=0)).fit(old)
    found = []
    for n in dict.fromkeys(min(n, len(new)) for n in TEXTS):
        some = new[:n]
        ways = {"predict": model.predict, "transform": model.transform, "answers": model.answers, "scikit-learn, transform": other.transform}
        seconds = interleaved({way: lambda ask=ask: ask(some) for way, ask in ways.items()}, rounds)
        found.append(dict(collection=name, texts=n, words=int(model.pipeline_["trim"].n_features_in_), topics=k, ms={way: 1e3*s for way, s in seconds.items()}))
        say(f"{name}, {n} texts: {found[-1]['ms']}")
    return found


def main():
    args = arguments(__doc__, "predicting.json")
    one_thread()
    rows = []
    n_fit, n_new, rounds = (400, 500, 1) if args.quick else (10_000, 50_000, 5)
    for k in (8,) if args.quick else (20, 100):
        for name, old, new in [("planted", *planted(n_fit, n_new, k))] + ([] if args.quick else [("library-docs", *docstrings(n_new))]):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows.append(measure(name, old, new, k, rounds))
            say(f"{name}, {k} topics: {rows[-1]['a_second']}; one document, ms: {rows[-1]['one_ms']}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        texts = of_texts("20newsgroups" if os.environ.get("NMF2_DATA") and not args.quick else "library-docs", 20, rounds)
    lines = table(["documents", "topics", *rows[0]["a_second"]],
                  [[f"{r['documents']:,} {r['collection']}", r["topics"], *(f"{v:,}" for v in r["a_second"].values())] for r in rows])
    lines += "\n\none document from its counts on, milliseconds\n\n"
    lines += table(["collection", "topics", *rows[0]["one_ms"]],
                   [[r["collection"], r["topics"], *(f"{v:.2f}" for v in r["one_ms"].values())] for r in rows])
    lines += "\n\nfrom texts on, milliseconds\n\n"
    lines += table(["collection", "texts", "different words", *texts[0]["ms"]],
                   [[r["collection"], f"{r['texts']:,}", f"{r['words']:,}", *(f"{v:.1f}" for v in r["ms"].values())] for r in texts])
    write(args.output, lines, what="documents a second on one thread, after counting", rows=rows, texts=texts)


if __name__ == "__main__": main()
