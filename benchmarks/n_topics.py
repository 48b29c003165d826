"""How many topics? Four ways to tell, on planted trees that know and on collections whose classes are counted.

- splits: `choose_n_topics`, splits that gain more than the best cut of shuffled documents
- support: the most topics at which leaves are found again in half of the documents with .75 on average (Hennig 2007)
- gap: the number of topics at which the logarithm of the criterion is farthest above that of shuffled documents, of all numbers tried,
  less one standard error (Tibshirani, Walther and Hastie 2001)
- prediction: the number of topics that predicts entries best that were held out, a tenth of the nonzeros and as many zeros

The last three try numbers of topics from 2 to twice the right one, each about a twelfth larger than the one before, with three fits each; in
collections from 2 to 64, doubling. A number is right if it is within a tenth. Planted trees have from 3 to 200 topics, of equal and unequal
sizes, with little and much noise; the seeds and half of the laws are not those by which `choose_n_topics` was made. Where the words of planted
documents are dealt anew, by chance, one topic is right. For samples of short texts it is told what the first question of `choose_n_topics`
finds, whether there is anything at all: what clusters gain, in multiples of what clusters of dealt documents gain (`times_dealt`), and the same
for documents that are dealt already.

Times are of `choose_n_topics` in multiples of `topic_tree` with the number it found: of one run each on planted trees, medians of three, run by
turns, on collections. Neither counts words, nor finds headings.

    NMF2_DATA=folder python benchmarks/n_topics.py [--quick] [--out FOLDER]
    NMF2_DATA=folder python benchmarks/n_topics.py --again: `choose_n_topics` anew; what the other ways said stays as it was found before
    NMF2_DATA=folder python benchmarks/n_topics.py --chance: dealt words and short texts anew; all else stays as it was found before
"""
import json

import numpy as np
import scipy.sparse as sp
from common import arguments, say, table, timed, together, write

from nmf2 import load
from nmf2.bisection import criterion_of, unit_rows
from nmf2.data import planted_tree
from nmf2.nnls import memberships
from nmf2.support import choose_n_topics, dealt, fit_again, shuffled, support, times_dealt
from nmf2.topictree import topic_tree
from nmf2.weighting import count_pipeline, text_pipeline

BRANCHING = {3: (3,), 5: (5,), 8: (2, 4), 12: (3, 4), 20: (20,), 35: (5, 7), 60: (10, 6), 100: (10, 10), 150: (15, 10), 200: (20, 10)}
LAWS = {"plain": dict(overlap=.3, noise=.05), "noise": dict(overlap=.5, noise=.3, length=120), "long": dict(overlap=.6, noise=.1, length=150),
        "skewed": dict(overlap=.4, noise=.2, skew=.7), "skewed, lengths scattered": dict(overlap=.5, noise=.2, skew=.5, spread=.8),
        "very skewed, noise": dict(overlap=.4, noise=.3, skew=1)}
PER_TOPIC = 30, 60                           # documents to a topic, on average
SEED = 4000
COLLECTIONS = "classic3", "tr11", "tr23", "tr41", "re0", "k1b", "la1", "hitech", "fbis", "arxiv_2level", "library-docs", "reuters21578", "20newsgroups_cai"
SLOW = 3, 8, 12                              # planted topics, and collections below, for which the other ways are tried, as they take long
SHORT = "short_20newsgroups_subjects", "short_reuters_titles"
SAMPLES = 250, 500, 1000, 2000, 4000         # documents of these
SEEDS = 5
SLOW_COLLECTIONS = "classic3", "tr11", "tr41", "re0", "library-docs"


# ---- the other ways

def tried(k, real=False):
    """Numbers of topics to try."""
    if real: return [2, 4, 8, 16, 32, 64]
    numbers = [2]
    while numbers[-1] < 2*k: numbers.append(max(numbers[-1] + 1, round(numbers[-1]*13/12)))
    return numbers


def by_support(X, numbers):
    """The most topics that are found again with .75 on average."""
    good = [n for n in numbers if _support_of_leaves(X, n) >= .75]
    return max(good, default=1)


def _support_of_leaves(X, n):
    tree = fit_again(X, n, 0)
    found = support(X, tree, n_fits=3)
    return np.mean([found[leaf.id] for leaf in tree.leaves()])


def criterion(X, n, seed):
    """The logarithm of the criterion with so many topics."""
    return np.log(criterion_of(unit_rows(X), np.maximum(fit_again(X, n, seed).labels(), 0)))


def by_gap(X, numbers):
    """The first number whose gap is not smaller than that of the next, less one standard error."""
    mixed = [shuffled(X, np.random.default_rng(seed)) for seed in (1, 2)]
    chance = np.array([[criterion(Z, n, 0) for n in numbers] for Z in mixed])
    gaps = np.array([criterion(X, n, 0) for n in numbers]) - chance.mean(0)
    errors = chance.std(0)*np.sqrt(1.5)
    best = int(gaps.argmax())
    return numbers[int(np.argmax(gaps >= gaps[best] - errors[best]))]


def by_prediction(X, numbers):
    """The number of topics that predicts entries best that were left out."""
    return numbers[int(np.argmin([sum(_missed(X, n, seed) for seed in range(3)) for n in numbers]))]


def _missed(X, n, seed):
    """The squared error of entries that a fit doesn't see: a tenth of the nonzeros, and as many zeros."""
    rng, X = np.random.default_rng(seed), sp.coo_array(unit_rows(X))
    out = rng.random(X.nnz) < .1
    seen = sp.csr_array((X.data[~out], (X.row[~out], X.col[~out])), shape=X.shape)
    tree = fit_again(seen, n, seed)
    W = memberships(seen, tree.leaf_topics)/.9                               # of what is seen a tenth is missing
    def predicted(rows, columns): return np.einsum("ij,ij->i", W[rows], tree.leaf_topics[columns])
    rows, columns = rng.integers(X.shape[0], size=out.sum()), rng.integers(X.shape[1], size=out.sum())
    zero = np.asarray(sp.csr_array(X)[rows, columns]).ravel() == 0
    return ((X.data[out] - predicted(X.row[out], X.col[out]))**2).sum() + (predicted(rows[zero], columns[zero])**2).sum()


OTHERS = dict(support=by_support, gap=by_gap, prediction=by_prediction)


# ---- planted trees and collections

def weighted(corpus):
    """Weights of a collection."""
    if corpus.texts is None: return count_pipeline().fit_transform(corpus.X)
    return text_pipeline(max_df=.2 if corpus.name == "library-docs" else .5).fit_transform(corpus.texts)


def answers(X, numbers, others, n_runs=1):
    """What each way says, why, how long it takes, and how long a fit with the first answer takes."""
    times, said = {}, {}
    times["splits"], choice = timed(lambda: choose_n_topics(X))
    said["splits"] = choice.n_topics
    for name in others: times[name], said[name] = timed(lambda: OTHERS[name](X, numbers))
    seconds, _ = timed(lambda: topic_tree(X, choice.n_topics))
    runs = [(times["splits"], seconds)]
    while len(runs) < n_runs: runs.append((timed(lambda: choose_n_topics(X))[0], timed(lambda: topic_tree(X, choice.n_topics))[0]))
    times["splits"], seconds = np.median(runs, axis=0).tolist()
    return dict(said=said, why=choice.why, seconds=times, seconds_of_fit=seconds, times_a_fit={name: t/seconds for name, t in times.items()})


def of_planted(k, law, per_topic, others=OTHERS):
    """A row for a planted tree."""
    corpus = planted_tree(BRANCHING[k], max(per_topic*k, 150), shuffle=True, random_state=SEED + k + per_topic, **LAWS[law])
    found = answers(weighted(corpus), tried(k), others if k in SLOW and per_topic == PER_TOPIC[-1] else ())
    right = {name: bool(abs(n - k) <= .1*k) for name, n in found["said"].items()}
    return dict(kind="planted", collection=law, topics=k, per_topic=per_topic, right=right, **found)


def of_dealt(law, per_topic, k=20):
    """A row for the documents of a planted tree after their words were dealt by chance: one topic is right."""
    corpus = planted_tree(BRANCHING[k], per_topic*k, shuffle=True, random_state=SEED + per_topic, **LAWS[law])
    _, chance = dealt(unit_rows(weighted(corpus)), np.random.default_rng(SEED))
    found = answers(chance, tried(1), ())
    return dict(kind="dealt", collection=law, per_topic=per_topic, right=dict(splits=found["said"]["splits"] == 1), **found)


def of_short(name, n):
    """A row for a sample of short texts: what clusters gain, times dealt ones, for several seeds; of the texts, and of dealt ones."""
    rng, X = np.random.default_rng([SEED, n]), weighted(load(name))
    X = unit_rows(X[np.diff(X.indptr) > 0])
    some = X[np.sort(rng.permutation(X.shape[0])[:n])]
    times, chance = ([times_dealt(docs, seed=seed) for seed in range(SEEDS)] for docs in (some, dealt(some, rng)[1]))
    return dict(kind="short", collection=name, documents=n, words=float(np.median(np.diff(some.indptr))), times=times, chance=chance)


def all_short(samples=SAMPLES):
    """Rows for samples of the collections of short texts that are there."""
    rows = []
    for name in SHORT:
        try: rows += [of_short(name, n) for n in samples]
        except FileNotFoundError: say(f"{name}: not there, skipped")
    return rows


def all_dealt(): return [of_dealt(law, per_topic) for law in LAWS for per_topic in PER_TOPIC]


def of_collection(name, others, n_runs=3):
    """A row for a collection."""
    corpus = load(name).labelled()
    classes = [len(np.unique(corpus.classes(level)[0])) for level in range(corpus.n_levels)]
    X = weighted(corpus)
    return dict(kind="collection", collection=name, classes=classes, documents=X.shape[0], **answers(X, tried(0, True), others, n_runs))


def shown(rows):
    """Six tables: how often each way is right, words dealt by chance, short texts, every collection, every planted tree."""
    planted, real, chance, short = ([row for row in rows if row["kind"] == kind] for kind in ("planted", "collection", "dealt", "short"))
    def span(times): return f"{min(times):.2f} to {max(times):.2f}"
    def shares(some):
        return [" ".join(f"{sum(r['right'][name] for r in there)}/{len(there)}" for there in [[r for r in some if name in r["right"]]]) for name in ("splits", *OTHERS)]
    by_law = [[law, *shares(some), f"{np.median([r['times_a_fit']['splits'] for r in some]):.1f}"] for (law,), some in together(planted, "collection").items()]
    by_size = [[k, *shares(some), f"{np.median([r['times_a_fit']['splits'] for r in some]):.1f}"] for (k,), some in together(planted, "topics").items()]
    head = ["splits", *OTHERS, "splits: times a fit, median"]
    nothing = [[law, *(r["said"]["splits"] for r in some)] for (law,), some in together(chance, "collection").items()]
    texts = [[r["collection"], r["documents"], f"{r['words']:g}", span(r["times"]), span(r["chance"])] for r in short]
    every = [[r["collection"], r["topics"], r["per_topic"], *[r["said"].get(name, "–") for name in ("splits", *OTHERS)]] for r in planted]
    found = [[r["collection"], r["documents"], "/".join(map(str, r["classes"])), *[r["said"].get(name, "–") for name in ("splits", *OTHERS)],
              f"{r['times_a_fit']['splits']:.1f}", r["why"]] for r in real]
    return "\n\n".join([table(["planted trees", *head], [*by_law, ["all", *shares(planted), ""]]), table(["topics planted", *head], by_size),
                        table(["words dealt by chance", *(f"splits, {n} documents to each of 20 topics before" for n in PER_TOPIC)], nothing),
                        table(["short texts", "documents", "words of each, median", f"times dealt, {SEEDS} seeds", "times dealt, of dealt ones"], texts),
                        table(["collection", "documents", "classes", "splits", *OTHERS, "splits: times a fit", "why"], found),
                        table(["planted trees", "topics", "documents to each", "splits", *OTHERS], every)])


WHAT = "how many topics, by four ways: how often they are within a tenth of the number planted, and what they say of collections"


def again(output):
    """All rows anew, as far as they concern `choose_n_topics`."""
    rows = json.loads(output.read_text(encoding="utf-8"))["rows"]
    rows = [row for row in rows if row["kind"] not in ("dealt", "short")]
    for k, old in enumerate(rows):
        name = old["collection"]
        try: new = of_collection(name, ()) if old["kind"] == "collection" else of_planted(old["topics"], name, old["per_topic"], ())
        except FileNotFoundError: continue
        rows[k] = new | {what: old[what] | new[what] for what in ("said", "seconds", "times_a_fit", "right") if what in old}
        say(f"{name} {old.get('topics', '')}: {new['said']['splits']}")
    rows += all_dealt() + all_short()
    write(output, shown(rows), what=WHAT, rows=rows)


def by_chance(output):
    """The rows for dealt words and short texts anew."""
    rows = [row for row in json.loads(output.read_text(encoding="utf-8"))["rows"] if row["kind"] not in ("dealt", "short")]
    rows += all_dealt() + all_short()
    write(output, shown(rows), what=WHAT, rows=rows)


def main():
    args = arguments(__doc__, "n_topics.json", again="choose_n_topics anew; what the other ways said stays as it was found before",
                     chance="dealt words and short texts anew; all else stays as it was found before")
    choose_n_topics(weighted(planted_tree(random_state=0)))                                                                 # compiled
    rows = []
    if args.again: return again(args.output)
    if args.chance: return by_chance(args.output)
    for k in (3, 5) if args.quick else BRANCHING:
        rows += [of_planted(k, law, per_topic) for law in LAWS for per_topic in PER_TOPIC if not args.quick or (law, per_topic) == ("plain", 30)]
        say(f"{k} topics")
    rows += [of_dealt("plain", PER_TOPIC[0])] if args.quick else all_dealt()
    rows += all_short(SAMPLES[:1] if args.quick else SAMPLES)
    for name in ("library-docs",) if args.quick else COLLECTIONS:
        try: rows.append(of_collection(name, OTHERS if name in SLOW_COLLECTIONS and not args.quick else (), n_runs=1 if args.quick else 3))
        except FileNotFoundError: say(f"{name}: not there, skipped")
        else: say(name)
    write(args.output, shown(rows), what=WHAT, rows=rows)


if __name__ == "__main__": main()
