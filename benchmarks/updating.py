"""Does a tree that is updated month by month stay what it was, and is it as good as one that is fitted to everything?

Half of the documents are there at first, without those of some classes. The others come in four parts, and with them those classes. After each
part: how many of the leaves' ids still mean the same (at least half of the documents of both, Jaccard, among those that were there before), for the
updated tree and for one fitted anew; how far each agrees with the classes, and the old tree that only answers; which new topics were found.

    python benchmarks/updating.py [--quick] [--out FOLDER]
"""
import warnings
from time import perf_counter

import numpy as np
from common import arguments, one_thread, say, table, write
from sklearn.metrics import normalized_mutual_info_score

from nmf2 import Corpus, TopicTree, load
from nmf2.data import planted_tree

COLLECTIONS = "20newsgroups", "arxiv_2level", "reuters21578"
SEEDS = 20, 21, 22, 23, 24            # seeds 0 to 12 were looked at when the method was made
SHARE_LATE = 6                        # one class in so many comes later


def nmi(a, b): return float(normalized_mutual_info_score(a, b))


def collection(name, n_docs, least=60):
    """Counts of a collection, and its finest classes as numbers; of classes with enough documents."""
    corpus = load(name)
    codes, _ = corpus.classes(-1)
    sizes = np.bincount(codes[codes >= 0])
    rows = np.flatnonzero((codes >= 0) & (sizes[codes] >= least))
    rows = np.sort(np.random.default_rng(0).permutation(rows)[:n_docs])
    return Corpus(X=corpus.X[rows], vocab=corpus.vocab, ids=[f"{name} {i}" for i in rows]), np.unique(codes[rows], return_inverse=True)[1]


def parts_of(classes, seed, n_parts=4):
    """Rows that are there at first, those of each part, and the classes that come later."""
    rng = np.random.default_rng(seed)
    late = rng.permutation(classes.max() + 1)[:max(1, (classes.max() + 1)//SHARE_LATE)]
    part = rng.integers(-n_parts, n_parts, len(classes))            # half of them below zero
    part = np.where((part < 0) & np.isin(classes, late), rng.integers(0, n_parts, len(classes)), part)
    return np.flatnonzero(part < 0), [np.flatnonzero(part == p) for p in range(n_parts)], late


def still_mean(old, new, n_old):
    """The share of a tree's leaves whose ids, in another tree, have mostly the same of the first documents."""
    def same(leaf):
        there = set(new.nodes[leaf.id].docs[new.nodes[leaf.id].docs < n_old]) if leaf.id in new.nodes else set()
        return len(there & set(leaf.docs)) >= .5*len(there | set(leaf.docs))
    return float(np.mean([same(leaf) for leaf in old.leaves()]))


def new_leaves(model, told, classes, late):
    """Size, share of its commonest class, and whether that class is a late one, for each new leaf."""
    out = []
    for id in told.new:
        if model.tree_[id].children: continue
        sizes = np.bincount(classes[model.tree_[id].docs])
        out.append(dict(size=int(sizes.sum()), purity=round(float(sizes.max()/sizes.sum()), 3), late=bool(sizes.argmax() in late), of=int(sizes.argmax())))
    return out


def month(model, docs, classes, order, rows, first, late):
    """Update a model with a part, and compare it with a fit of all so far."""
    old, n_old, before = model.tree_, len(order), model.labels_.copy()
    start = perf_counter()
    told = model.update(docs[rows])
    seconds, order = perf_counter() - start, np.append(order, rows)
    truth = classes[order]
    start = perf_counter()
    anew = TopicTree(model.n_topics_).fit(docs[order])
    fit_seconds = perf_counter() - start
    moved = {leaf.id: told.renamed.get(leaf.id, leaf.id) for leaf in old.leaves()}
    titles = [b not in told.titles for b in moved.values()]
    answered = np.append(first.labels_, first.predict(docs[order[len(first.labels_):]]))
    result = dict(documents=len(order), new=len(rows), leaves=model.n_topics_, ids=still_mean(old, model.tree_, n_old), ids_anew=still_mean(old, anew.tree_, n_old),
                  renamed=sum(a != b for a, b in moved.items()), gone=len(told.gone), titles=float(np.mean(titles)), moved=told.moved/max((before >= 0).sum(), 1),
                  nmi=nmi(truth, model.labels_), nmi_anew=nmi(truth, anew.labels_), nmi_answers=nmi(truth, answered), agree=nmi(model.labels_, anew.labels_),
                  found=new_leaves(model, told, truth, late), seconds=seconds, fit_seconds=fit_seconds)
    return result, order


def measure(name, docs, classes, seed):
    """The first fit, and a result for each part."""
    order, parts, late = parts_of(classes, seed)
    k = len(np.unique(classes[order]))
    model, first = (TopicTree(k).fit(docs[order]) for _ in range(2))
    out = []
    for number, rows in enumerate(parts, 1):
        result, order = month(model, docs, classes, order, rows, first, late)
        out.append(dict(collection=name, seed=seed, part=number, classes_at_first=k, late=len(late)) | result)
    return out


def classes_found(rows, name, part):
    """How many of the late classes have got a topic of their own by then, and how many there are."""
    some = [r for r in rows if r["collection"] == name and r["part"] <= part]
    found = {(r["seed"], f["of"]) for r in some for f in r["found"] if f["late"]}
    return f"{len(found)}/{sum(r['late'] for r in some if r['part'] == part)}"


def summary(rows):
    """Over all collections, seeds and parts."""
    new, last = [f for r in rows for f in r["found"]], max(r["part"] for r in rows)
    found, late = zip(*(map(int, classes_found(rows, name, last).split("/")) for name in dict.fromkeys(r["collection"] for r in rows)))
    means = {key: round(float(np.mean([r[key] for r in rows])), 3) for key in ("ids", "ids_anew", "titles", "moved", "nmi", "nmi_anew", "nmi_answers")}
    return dict(new_topics=len(new), of_late_classes=sum(f["late"] for f in new), late_classes=sum(late), late_classes_found=sum(found), **means)


def main():
    args = arguments(__doc__, "updating.json")
    one_thread()
    rows = []
    quick = [("planted tree", *(lambda c: (Corpus(X=c.X, vocab=c.vocab), c.classes(1)[0]))(planted_tree((3, 2), n_docs=500, overlap=.3, random_state=0)))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in (None,) if args.quick else COLLECTIONS:
            try: name, docs, classes = quick[0] if name is None else (name, *collection(name, 9000))
            except FileNotFoundError:
                say(f"{name}: not in NMF2_DATA, skipped")
                continue
            for seed in SEEDS[:1] if args.quick else SEEDS:
                rows += measure(name, docs, classes, seed)
                say(f"{name}, seed {seed}: NMI {rows[-1]['nmi']:.3f}, fitted anew {rows[-1]['nmi_anew']:.3f}")
    shown = {"ids": "ids", "ids_anew": "fitted anew", "titles": "titles", "moved": "moved", "nmi": "NMI", "nmi_anew": "NMI, fitted anew",
             "nmi_answers": "NMI, answers alone", "agree": "NMI of both trees"}
    lines = table(["collection", "part", "documents", *shown.values(), "new topics", "mostly of late classes", "late classes found"], [
        [name, part, f"{np.mean([r['documents'] for r in some]):,.0f}", *(f"{np.mean([r[key] for r in some]):.3f}" for key in shown),
         sum(len(r["found"]) for r in some), sum(f["late"] for r in some for f in r["found"]), classes_found(rows, name, part)]
        for name, part in dict.fromkeys((r["collection"], r["part"]) for r in rows)
        for some in [[r for r in rows if (r["collection"], r["part"]) == (name, part)]]])
    write(args.output, lines, what="trees that are updated in four parts, beside trees that are fitted anew", all=summary(rows), rows=rows)


if __name__ == "__main__": main()
