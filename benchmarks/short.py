"""Short texts: how far should normalized cut be regularized, and what becomes of nodes that NMF can't split?

For each collection and each weighting: NMI of HierNMF2's leaves (outliers as one more cluster) and of FlatNMF2 to the classes, with as
many leaves as classes; the share of the documents in the largest leaf, and the share set aside. The same with the published rule for
outliers, for the topics of TopicTree, and for scikit-learn's methods on tf-idf. Collections: subject lines of 20 Newsgroups, titles of Reuters, titles of arXiv
papers and of the CACM, CISI and Cranfield abstracts, the first 20 or 25 words of longer texts, lines and first sentences of
docstrings.

    NMF2_DATA=folder python benchmarks/short.py [--quick] [--out FOLDER]
"""
import re
import warnings
from functools import partial

import numpy as np
from common import arguments, collections, say, small, table, together, write
from sklearn.cluster import BisectingKMeans, KMeans
from sklearn.decomposition import NMF

from nmf2.data import library_docs
from nmf2.evaluate import nmi
from nmf2.flat import FlatNMF2
from nmf2.topictree import topic_tree
from nmf2.weighting import text_pipeline

TAUS = (0, .03, .1, .3, 1, 3)
SETTINGS = {**{f"tau={tau}": dict(tau=tau) for tau in TAUS}, "unit length": dict(normalized_cut=False),
            "min_df=2": dict(min_df=2), "min_df=1": dict(min_df=1)}


def words(text, n):
    """The first words of a text, without the mail header and quotations."""
    lines = [line for line in text.split("\n") if not line.startswith((">", "|", ":")) and not line.rstrip().endswith(("writes:", "wrote:"))]
    return " ".join(" ".join(lines).split()[:n])


def sentence(text): return re.split(r"(?<=[.!?])\s+", text.strip())[0]


def lines_of(corpus, most=6):
    """Up to six lines of three words or more of each text, with the text's class."""
    classes = corpus.classes()[0]
    found = [(line.strip(), c) for text, c in zip(corpus.texts, classes)
             for line in [line for line in text.split("\n") if len(line.split()) > 2][:most]]
    return [line for line, _ in found], np.array([c for _, c in found])


def short_texts():
    """Yield name, texts and class numbers of each collection that is there."""
    for name in ("short_20newsgroups_subjects", "short_reuters_titles"):
        for _, corpus, classes in collections([name]): yield name, list(corpus.texts), classes
    for name, what, cut in (("arxiv_2level", "titles", lambda text: text.split("\n")[0]),
                            ("arxiv_2level", "20 words", lambda text: words(text.split("\n", 1)[-1], 20)),
                            ("classic4_raw", "20 words", partial(words, n=20)),
                            ("20newsgroups", "25 words", lambda text: words(text.split("\n\n", 1)[-1], 25))):
        for _, corpus, classes in collections([name]): yield f"{name}, {what}", [cut(text) for text in corpus.texts], classes
    docs = library_docs()
    yield "library-docs, first sentences", [sentence(text) for text in docs.texts], docs.classes()[0]
    yield "library-docs, lines", *lines_of(docs)


def ready(texts, setting):
    """Weighted texts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return text_pipeline(**setting).fit_transform(texts)


def tree(X, k, seed, **options):
    """Labels of the leaves and of the flat topics, and what the tree is like."""
    model = FlatNMF2(k, **options).fit(X)
    leaves, filled = model.hier_.labels_, np.diff(X.indptr) > 0
    return dict(leaves=leaves, flat=model.labels_, n_leaves=model.hier_.n_leaves_,
                largest=np.bincount(leaves[leaves >= 0]).max()/filled.sum(), aside=(leaves[filled] < 0).mean())


def clusterer(make, X, k, seed): return dict(flat=make(k, random_state=seed).fit(X).labels_)


def topics(X, k, seed):
    """scikit-learn's NMF, topics of unit length before the heaviest is taken."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = NMF(k, init="nndsvda", max_iter=200, random_state=seed)
        W = model.fit_transform(X)
    return dict(flat=(W*np.linalg.norm(model.components_, axis=1)).argmax(1))


def of_topic_tree(X, k, seed): return dict(flat=topic_tree(X, k, seed=seed).tree.labels())


METHODS = {"default": tree, "max_outliers=None": partial(tree, max_outliers=None)}
PEERS = {"KMeans": partial(clusterer, KMeans), "BisectingKMeans": partial(clusterer, BisectingKMeans), "NMF": topics}


class Scored:
    """A method whose labels are scored here, because there are two sets of them."""
    def __init__(self, name, classes): self.name, self.classes = name, classes
    def __repr__(self): return f"{self.name} of short.py"
    def __call__(self, X, k, seed):
        found = (METHODS | PEERS | {"TopicTree": of_topic_tree})[self.name](X, k, seed)
        return {key: round(float(nmi(value, self.classes) if np.ndim(value) else value), 4) for key, value in found.items()}


def runs(name, texts, classes, quick):
    """All runs on one collection: trees with each weighting, peers on unit length."""
    out, k = [], len(set(classes))
    for setting, options in SETTINGS.items():
        if quick and setting not in ("tau=0.1", "unit length"): continue
        X = ready(texts, options)
        methods = dict(METHODS) if setting not in ("min_df=2", "min_df=1") else {"default": tree}
        if setting == "tau=0.1": methods["TopicTree"] = of_topic_tree
        if setting == "unit length" and k <= 70: methods |= PEERS
        elif setting == "unit length": methods |= {m: f for m, f in PEERS.items() if m != "NMF"}
        for method in methods:
            figures = Scored(method, classes)(X, k, 0)
            out.append(dict(collection=name, documents=len(texts), k=k, setting=setting, method=method, **figures))
    say(f"{name}: {len(texts):,} documents, {k} classes")
    return out


def summary(rows):
    """For each weighting and method the mean over collections, and the largest leaf anywhere."""
    out = []
    for (method, setting), some in together(rows, "method", "setting").items():
        def mean(key): return round(float(np.mean([r[key] for r in some if key in r])), 3) if any(key in r for r in some) else None
        out.append(dict(method=method, setting=setting, collections=len(some), leaves=mean("leaves"), flat=mean("flat"),
                        largest=max((r["largest"] for r in some if "largest" in r), default=None), aside=mean("aside"),
                        short_of=sum(r.get("n_leaves", r["k"]) < r["k"] for r in some)))
    return out


def main():
    args = arguments(__doc__, "short.json")
    found = ([("planted", *planted_texts())] if args.quick else short_texts())
    rows = [row for name, texts, classes in found for row in runs(name, texts, classes, args.quick)]
    means = summary(rows)
    def shown(x): return "" if x is None else f"{x:.3f}"
    lines = table(["method", "weighting", "collections", "leaves", "flat", "largest leaf", "set aside", "trees that ended early"],
                  [[m["method"], m["setting"], m["collections"], shown(m["leaves"]), shown(m["flat"]), shown(m["largest"]), shown(m["aside"]),
                    m["short_of"]] for m in means])
    write(args.output, lines, what="short texts: NMI of HierNMF2's leaves and of FlatNMF2, or of a peer on tf-idf, mean over collections; the "
          "largest share of the documents that a leaf has in any; the mean share set aside; trees with fewer leaves than asked for",
          summary=means, rows=rows)


def planted_texts():
    """A few sentences, for --quick."""
    (_, corpus, classes), = small((2, 2), 160)
    X = corpus.X.tocsr()
    return [" ".join(f"w{'abcdefghij'[j//100 % 10]}{'abcdefghij'[j//10 % 10]}{'abcdefghij'[j % 10]}" for j in X[[i]].indices) for i in range(X.shape[0])], classes


if __name__ == "__main__": main()
