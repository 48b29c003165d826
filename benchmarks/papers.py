"""The experiments of both papers on rank-2 NMF again: quality and time against the number of clusters.

Quality is NMI (arithmetic, outliers as one more cluster) to the classes of each level, and UMass coherence (20 words, ε = 1, counted in the
collection itself): Figures 4 and 5 of both papers. Trees are fitted once with as many leaves as there are classes, and cut for all smaller
numbers; flat methods are fitted for a quarter, half, three quarters of that number, and all. Time is that of whole fits, one at a time:
the median of three with fast methods in turn, a single one of slow methods (Figures 3, 6 and 7). After a run of more than a minute a
method isn't tried with more clusters.

The papers' methods start at random, with 20 seeds, slow ones with 5, and have the papers' settings and tf·idf with normalized-cut weights. Beside
them are this package's defaults, without chance, and k-means with rows of unit length. So that method and matrix can be told apart, FlatNMF2
by default is also given the papers' matrix, and repeated bisection that of the defaults, with damped tf. Time and quality are two parts. With
`--part` one is measured, and with `--only` some methods; other rows stay as they are in the result that is there, and `measured` in it says
what was measured when, and where. All together takes about two hours on two cores.

    NMF2_DATA=folder python benchmarks/papers.py [--quick] [--part quality|time] [--only METHOD,...] [--runs PREFIX] [--out FOLDER]
"""
import json
import os
import re
import sys
import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from common import arguments, command, say, table, write
from sklearn.preprocessing import normalize

from nmf2.bisection import composites
from nmf2.data import Corpus, load, planted_tree
from nmf2.evaluate import nmi, umass_coherence
from nmf2.flat import flatten
from nmf2.methods import make
from nmf2.nnls import heaviest
from nmf2.study import Study, machine
from nmf2.weighting import NormalizedCut, TfIdf, TrimVocabulary

CLUTO = ["cacmcisi", "cranmed", "fbis", "hitech", "k1a", "k1b", "la1", "re0", "tr11", "tr23", "tr41", "wap"]
MANY, FEW, ONE = range(20), range(5), range(1)
TURNS, LIMIT = 3, 60                                    # timed fits of fast methods; seconds after which a method gets no more clusters
SLOW = "nmf-hier", "nmf-flat", "LDA", "AnchorWords", "XRAY", "Hottopixx"                # timed once


# ---- methods

class Way(NamedTuple):
    "How a method of the papers is run here"
    method:str              # its name in `nmf2.methods.methods()`
    params:dict = {}        # in place of those there
    seeds:range = MANY
    wants:str = "papers"    # which matrix: "papers", "defaults", "counts", or "unit", the papers' with rows of unit length
    grown:bool = False      # does a fit with many clusters have those with fewer in it?


PLAIN = dict(init="random", extrapolate=False, side_tol=None, max_outliers=None) # the papers' trees
FLAT = dict(extrapolate=False)                                                 # and NMF with k topics
METHODS = {
    "HierNMF2": Way("hiernmf2", PLAIN, grown=True),
    "FlatNMF2": Way("flatnmf2", dict(PLAIN, moves_max_iter=0), grown=True),
    "HierNMF2, default": Way("hiernmf2", {}, ONE, "defaults", True),
    "FlatNMF2, default": Way("flatnmf2", {}, ONE, "defaults", True),
    "FlatNMF2, plain tf": Way("flatnmf2", {}, ONE, grown=True),
    "nmf-hier": Way("nmf-hier", dict(side_tol=None), FEW, grown=True),
    "nmf-flat": Way("nmf-flat", FLAT, FEW),
    "kmeans-hier": Way("kmeans-hier", dict(init="random"), grown=True),
    "kmeans-flat": Way("kmeans-flat", dict(init="random")),
    "kmeans-flat, unit rows": Way("kmeans-flat", dict(init="random"), wants="unit"),
    "CLUTO": Way("repeated-bisection", dict(method="rb"), grown=True),
    "CLUTO, damped tf": Way("repeated-bisection", dict(method="rb"), wants="defaults", grown=True),
    "LDA": Way("lda", {}, FEW, "counts"),
    "AnchorWords": Way("anchor-words", {}, ONE, "counts"),
    "XRAY": Way("xray", {}, ONE),
    "Hottopixx": Way("hottopixx", {}, FEW)}
# Where a method is left out, and why: (part, collection or None for all, method or None for all)
SEPARATE = "measured without citations and signatures only"
SAME = "a method timed already, on a matrix of the same size"
LEFT_OUT = ({("quality", "20 Newsgroups, whole", m): SEPARATE for m in ("nmf-hier", "LDA", "AnchorWords", "XRAY", "Hottopixx")}
            | {("time", None, m): SAME for m in ("FlatNMF2, plain tf", "CLUTO, damped tf")})


def tree_of(model): return getattr(getattr(model, "hier_", model), "tree_", None)


def snapshot(model, X, k):
    "Labels and topics of a fitted model when it had k clusters; or all that it has, if they are fewer"
    if tree := tree_of(model):
        n = min(k, tree.n_leaves)
        if not hasattr(model, "hier_"): return tree.labels(n), np.stack([leaf.topic for leaf in tree.leaves(n)])
        topics, weights = flatten(tree, X, n, moves_max_iter=model.moves_max_iter)
        return heaviest(weights), topics.T
    if not hasattr(model, "splits_"): return model.labels_, model.components_
    labels = model.labels(k)
    return labels, composites(normalize(X), labels, k)


class Measured:
    """A method as a function of a matrix, k and seed: NMI to each level of classes, and coherence.

    A tree is measured at every number of leaves, its flat topics and its coherence at those in `ks`. A tree in which nothing is left to
    split keeps its leaves, however many more are asked for.
    """
    def __init__(self, name, levels, ks): self.name, self.levels, self.ks = name, levels, ks
    def __repr__(self): return f"{METHODS[self.name]} at {self.ks}"

    def __call__(self, X, k, seed):
        way, out = METHODS[self.name], {}
        model = make(way.method, k, seed, **way.params).fit(X)
        for n in range(2, k + 1) if hasattr(model, "tree_") else self.ks if way.grown else [k]:
            labels, topics = snapshot(model, X, n)
            for level, classes in enumerate(self.levels): out[f"nmi{level}_{n}"] = nmi(labels, classes)
            if n in self.ks: out[f"umass_{n}"] = umass_coherence(topics, X).mean
        if tree := tree_of(model): out["leaves"] = tree.n_leaves
        if way.method == "nmf-hier":
            same = make("hiernmf2", k, seed, **PLAIN).fit(X)
            out["same"] = nmi(model.labels_, same.labels_ + 1)                         # both with their outliers as a cluster
        return out


class Timed:
    "The same, to be timed and nothing else"
    def __init__(self, name, X): self.name, self.X = name, X
    def __repr__(self): return repr(METHODS[self.name])
    def __call__(self, X, k, seed):
        way = METHODS[self.name]
        make(way.method, k, seed, **way.params).fit(self.X)
        return dict(fitted=1)


# ---- collections

def own_words(message):
    """A message to a newsgroup without what it cites and without its signature.

    Cited are lines with a mark in front (>, |, : or } after at most four letters) and the line before that says who wrote them; a signature
    begins with a line of dashes within the last ten lines.
    """
    head, _, body = message.partition("\n\n")
    lines = body.rstrip().split("\n")
    marks = [i for i, line in enumerate(lines) if i >= len(lines) - 11 and re.fullmatch(r"\s*[-_=*~]{2,}\s*", line)]
    lines = lines[:marks[0]] if marks else lines
    cited = re.compile(r"\s*(\w{0,4}\|?>|[|:}](\s|$))|In article\b|.*\b(wrote|writes|said|says)\b[^.]{0,40}:\s*$")
    return head + "\n\n" + "\n".join(line for line in lines if not cited.match(line))


def largest(corpus, n=20):
    "The documents of the n largest classes"
    codes, names = corpus.classes()
    return corpus[np.isin(codes, np.bincount(codes, minlength=len(names)).argsort(kind="stable")[::-1][:n])]


def without_citations(corpus):
    return Corpus([own_words(text) for text in corpus.texts], ids=corpus.ids, labels=corpus.labels, name=corpus.name)


COLLECTIONS = {
    "Reuters-21578": lambda: largest(load("reuters21578").labelled()),
    "20 Newsgroups": lambda: without_citations(load("20newsgroups")),
    "20 Newsgroups, whole": lambda: load("20newsgroups"),
    "arXiv": lambda: load("arxiv_2level"),
    **{name: lambda name=name: load(f"cluto/{name}") for name in CLUTO}}
TEXTS = list(COLLECTIONS)[:4]
LARGE = "planted, 0.05 of RCV1"
TIMED = "Reuters-21578", "20 Newsgroups"


class Ready(NamedTuple):
    "A collection as the methods want it"
    matrices:dict       # by what `Way` calls them
    levels:list         # classes of each level, coarse to fine
    ks:list             # numbers of clusters


def ready(corpus, ks=None):
    "Vocabulary trimmed, documents without words left out, counts weighted"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                                                 # that there are documents without words
        counts = TrimVocabulary(dtype=np.float32).fit_transform(corpus.X)
    filled = np.flatnonzero(np.diff(counts.indptr))
    counts, levels = counts[filled], [corpus.classes(level)[0][filled] for level in range(corpus.n_levels)]
    papers = NormalizedCut(tau=0).fit_transform(TfIdf(sublinear_tf=False).fit_transform(counts))
    defaults = NormalizedCut().fit_transform(TfIdf().fit_transform(counts))
    matrices, c = dict(papers=papers, defaults=defaults, counts=counts, unit=normalize(papers)), len(set(levels[-1]))
    for X in matrices.values(): X.sort_indices()
    return Ready(matrices, levels, ks or sorted({max(2, round(c*part/4)) for part in (1, 2, 3, 4)}))


def found(names):
    "The collections that are there"
    if not os.environ.get("NMF2_DATA"): sys.exit("Set the environment variable NMF2_DATA to the folder of the collections.")
    for name in names:
        try: corpus = COLLECTIONS[name]()
        except FileNotFoundError: say(f"{name}: not in NMF2_DATA, skipped")
        else: yield name, corpus


def like_rcv1(share):
    "Counts of a planted tree like RCV1, and as many documents as a share of it"
    return planted_tree((10, 6), round(765_000*share), n_terms=round(149_000*share**.5), n_words=round(500*share**.5), length=95, spread=.8,
                        overlap=.8, noise=.05, skew=.5, shuffle=True, dtype=np.float32)


# ---- studies

def out_of(part, collection, method):
    "Why a method is left out, or nothing"
    return next((why for (p, c, m), why in LEFT_OUT.items() if p == part and c in (None, collection) and m in (None, method)), None)


def wanted(part, collection, among, **where):
    "Methods of a kind that take part"
    return [m for m in among if not out_of(part, collection, m) and all(getattr(METHODS[m], a) == value for a, value in where.items())]


def quality(name, data, prefix, among, seeds, n_jobs):
    "All runs of the first part on a collection"
    runs, flat = [], data.ks if name in TEXTS else data.ks[-1:]
    for wants, X in data.matrices.items():
        path = f"{prefix}-quality-{name}-{wants}.jsonl" if prefix else None
        for grown in (True, False):
            for some in (MANY, FEW, ONE):
                names = wanted("quality", name, among, wants=wants, grown=grown, seeds=some)
                if not names: continue
                ways = {m: Measured(m, data.levels, data.ks) for m in names}
                study = Study(ways, {name: (X, data.levels[-1])}, clusters=data.ks[-1:] if grown else flat, seeds=some[:seeds], path=path)
                study.run(n_jobs=n_jobs)
                runs += study.runs
    return runs


def times(name, data, prefix, among, turns):
    "All runs of the second part on a collection: one after another, every method in turn, each with the matrix that it wants"
    runs, path, slow = [], f"{prefix}-time-{name}.jsonl" if prefix else None, set()
    here = {name: (sp.hstack(list(data.matrices.values()), "csr"), data.levels[-1])}      # all of them, for the study's checksum
    for k in data.ks:
        for fast in (True, False):
            names = [m for m in wanted("time", name, among) if m not in slow and (m not in SLOW) == fast]
            if not names: continue
            ways = {m: Timed(m, data.matrices[METHODS[m].wants]) for m in names}
            study = Study(ways, here, clusters=k, seeds=range(turns if fast else 1), path=path)
            study.run()
            runs += study.runs
        slow = {r["method"] for r in runs if r["seconds"] > LIMIT}
    return runs


def warm_up():
    "Compile everything that will be timed"
    data = ready(planted_tree((3, 3), n_docs=3000, random_state=0), [9])
    times("warm-up", data, "", METHODS, 1)


# ---- figures

def gathered(part, name, runs):
    "One row for each method: mean (of times the median), standard deviation and number of runs for every figure"
    rows = []
    for m in METHODS:
        here = sorted((r for r in runs if r["method"] == m), key=lambda r: (r["k"], r["seed"]))
        if not here: continue
        good, figures = [r for r in here if not r["error"]], {}
        for r in good:
            new = {f: x for f, x in r.items() if re.match(r"(nmi\d|umass)_|same$|leaves$", f)}
            if part == "time": new = {f"seconds_{r['k']}": r["seconds"]}
            for f, x in new.items():
                if x is not None: figures.setdefault(f, []).append(x)
        said = sorted({w[:160] for r in here for w in r["warnings"]})
        rows.append(dict(part=part, collection=name, method=m, runs=len({r["seed"] for r in good}),
                         figures={f: summary(x, np.median if part == "time" else np.mean) for f, x in figures.items()},
                         warnings=said[:3], errors=sorted({r["error"] for r in here if r["error"]})))
    return rows


def summary(x, middle): return [float(f"{middle(x):.5g}"), float(f"{np.std(x, ddof=1):.3g}") if len(x) > 1 else 0., len(x)]


def shown(rows, part, figure, digits=3):
    "A figure of each method on each collection, with the number of clusters that `figure` makes of a collection's name"
    rows = [row for row in rows if row["part"] == part]
    names, methods = (list(dict.fromkeys(row[what] for row in rows)) for what in ("collection", "method"))
    by = {(row["method"], row["collection"]): row["figures"] for row in rows}
    def cell(m, name):
        mean, sd, n = by.get((m, name), {}).get(figure(name), (None, 0, 0))
        return "" if mean is None else f"{mean:.{digits}f}" + (f" ± {sd:.{digits}f}" if n > 1 else "")
    return table(["", *names], [[m, *(cell(m, name) for name in names)] for m in methods])


def earlier(path, parts, among):
    "What a result that is there says of parts and methods that aren't measured now: rows, how they were measured, and their collections"
    if path is None or not path.exists() or (len(parts) == 2 and set(among) == set(METHODS)): return [], [], {}
    have = json.loads(path.read_text(encoding="utf-8"))
    def stays(part, method): return part not in parts or method not in among
    rows = [row for row in have["rows"] if stays(row["part"], row["method"])]
    made = [one | dict(methods=kept) for one in have["measured"] if (kept := [m for m in one["methods"] if stays(one["part"], m)])]
    return rows, made, {name: about for name, about in have["collections"].items() if name in {row["collection"] for row in rows}}


def main():
    args = arguments(__doc__, "papers.json", part=("all", "quality, time or all"), only=("all", "methods, with commas and no spaces between"),
                     runs=("", "keep the runs in files that begin so, and go on with them"))
    if args.part not in ("all", "quality", "time"): sys.exit("--part must be quality, time or all")
    parts, among = [part for part in ("quality", "time") if args.part in ("all", part)], list(METHODS) if args.only == "all" else re.split(",(?! )", args.only)
    if unknown := [m for m in among if m not in METHODS]: sys.exit(f"--only: there is no {', '.join(unknown)}; there are {', '.join(METHODS)}")
    rows, made, about = earlier(args.output, parts, among)
    def measured(part, name, data, measure, *how):
        c = data.matrices["counts"]
        about[name] = dict(documents=c.shape[0], terms=c.shape[1], nonzeros=int(c.nnz), classes=[len(set(level)) for level in data.levels], clusters=data.ks)
        runs = measure(name, data, args.runs, among, *how)
        rows.extend(gathered(part, name, runs))
        say(f"{part}, {name}: {len(runs)} runs")
    if args.quick:
        data = ready(planted_tree((3, 2), n_docs=240, n_words=15, random_state=0), [3, 6])
        if "quality" in parts: measured("quality", "planted", data, quality, 2, 1)
        if "time" in parts: measured("time", "planted", data._replace(ks=[6]), times, 1)
    elif "quality" in parts:
        for name, corpus in found(COLLECTIONS): measured("quality", name, ready(corpus), quality, None, os.cpu_count())
    if "time" in parts and not args.quick:
        warm_up()
        for name, corpus in found(TIMED): measured("time", name, ready(corpus), times, TURNS)
        measured("time", LARGE, ready(like_rcv1(.05)), times, TURNS)
    made += [dict(part=part, methods=wanted(part, None, among), command=command(), machine=machine()) for part in parts]
    rows.sort(key=lambda row: (row["part"], list(about).index(row["collection"]), list(METHODS).index(row["method"])))      # as if measured together
    last = {name: f"{{}}_{a['clusters'][-1]}" for name, a in about.items()}
    level = {name: len(a["classes"]) - 1 for name, a in about.items()}
    text = "\n\n".join([f"{title}\n\n" + shown(rows, part, figure, digits) for title, part, figure, digits in (
        ("NMI to the classes of the finest level, as many clusters as there are:", "quality", lambda n: last[n].format(f"nmi{level[n]}"), 3),
        ("UMass coherence of as many topics:", "quality", lambda n: last[n].format("umass"), 0),
        ("Seconds of a fit with as many clusters:", "time", lambda n: last[n].format("seconds"), 2))])
    left = [dict(part=p, collection=c or "all", method=m or "all", why=why) for (p, c, m), why in LEFT_OUT.items()]
    write(args.output, text + "\n\n" + "\n".join(f"Left out: {x['method']}, {x['collection']}, {x['part']}: {x['why']}." for x in left), rows=rows,
          what="The experiments of Kuang and Park (2013) and of Kuang, Drake and Park: mean ± standard deviation over seeds; nothing in a "
               f"cell where a method was left out, or not tried after a run of more than {LIMIT} seconds with fewer clusters",
          collections=about, methods={m: dict(way._asdict(), seeds=len(way.seeds)) for m, way in METHODS.items()}, limit=LIMIT, left_out=left,
          measured=made)


if __name__ == "__main__": main()
