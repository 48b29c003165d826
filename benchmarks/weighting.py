"""Which weighting finds the classes best?

One step away from the defaults at a time (limits of the vocabulary, tokens, tf, idf, normalized cut, float type), over many
labelled collections. For each collection and setting: NMI of HierNMF2's leaves (outliers as one more cluster) and of FlatNMF2 to
the classes, with as many leaves as classes, for three starts: the default one and two random ones.

    NMF2_DATA=folder python benchmarks/weighting.py [--quick] [--runs FILE] [--out FOLDER]
"""
import warnings
from functools import partial

import numpy as np
from common import KEEP, arguments, collections, runs_of, small, table, together, write

from nmf2.evaluate import nmi
from nmf2.flat import FlatNMF2
from nmf2.languages import NO_DIGITS
from nmf2.weighting import count_pipeline, text_pipeline

MATRICES = ["tr11", "tr23", "tr41", "re0", "wap", "k1a", "k1b", "hitech", "fbis", "la1", "classic3", "cranmed", "cacmcisi",
            "reuters21578_cai", "20newsgroups_cai"]
TEXTS = ["classic4_raw", "arxiv_2level", "reuters21578", "20newsgroups"]

def labelings(X, k, seed, **start):
    """The leaves, and the flat topics, from a start."""
    model = FlatNMF2(k, **start).fit(X)
    return dict(labels=dict(leaves=model.hier_.labels_, flat=model.labels_))


STARTS = {"default": labelings,
          **{f"random {seed}": partial(labelings, init="random", extrapolate=False, random_state=seed) for seed in (0, 1)}}

# name -> what differs from the defaults; those with `texts` need the texts
SETTINGS = {
    "default": {},
    **{f"tau={tau}": dict(tau=tau) for tau in (0, .03, .3, 1, 3)}, "no normalized cut": dict(normalized_cut=False),
    "idf + 1": dict(tfidf__add_one=True), "no idf": dict(tfidf__use_idf=False),
    "tf as it is": dict(sublinear_tf=False),
    "min_df=2": dict(min_df=2), "min_df=5": dict(min_df=5), "min_df=10": dict(min_df=10),
    "max_df=0.1": dict(max_df=0.1), "max_df=0.2": dict(max_df=0.2), "max_df=0.3": dict(max_df=0.3), "max_df=1.0": dict(max_df=1.0),
    "max_features=10000": dict(max_features=10_000),
    "float64": dict(dtype=np.float64),
}
TEXT_SETTINGS = {
    "no stop words": dict(stop_words=None), "no stop words, max_df=0.1": dict(stop_words=None, max_df=0.1),
    "3 letters or more": dict(token_pattern=r"(?u)\b[^\W\d_]{3,}\b"),
    "no digits": dict(token_pattern=NO_DIGITS), "numbers too": dict(token_pattern=r"(?u)\b\w\w+\b"),
}


def weighted(corpus, setting):
    """The corpus weighted with one setting."""
    make, data = (count_pipeline, corpus.X) if corpus.texts is None else (text_pipeline, corpus.texts)
    steps = {name: value for name, value in setting.items() if "__" in name}
    pipe = make(**{name: value for name, value in setting.items() if name not in steps}).set_params(**steps)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pipe.fit_transform(data)


def score(found, classes):
    """NMI of each labeling."""
    return {kind: round(nmi(labels, classes), 4) for kind, labels in found.items()}


def gathered(runs):
    """A row for each collection and setting, with a figure each start."""
    rows = []
    for (both,), some in together(runs, "collection").items():
        name, setting = both.split(": ")
        rows.append(dict(collection=name, setting=setting, classes=some[0]["classes"], shape=some[0]["shape"],
                         **{kind: [run[kind] for run in some] for kind in ("leaves", "flat")}))
    return rows


def summary(rows):
    """For each setting the mean over collections, and the mean difference from the default on the same collections."""
    by = {(row["setting"], row["collection"]): row for row in rows}
    out = {}
    for setting in dict.fromkeys(row["setting"] for row in rows):
        names = [name for s, name in by if s == setting]
        got = np.array([[np.mean(by[setting, n]["leaves"]), np.mean(by[setting, n]["flat"])] for n in names])
        ref = np.array([[np.mean(by["default", n]["leaves"]), np.mean(by["default", n]["flat"])] for n in names])
        diff = (got - ref).mean(axis=1)
        out[setting] = dict(collections=len(names), leaves=round(got[:, 0].mean(), 3), flat=round(got[:, 1].mean(), 3),
                            change=round(diff.mean(), 3), better_on=int((diff > 0.002).sum()), worse_on=int((diff < -0.002).sum()))
    return out


def main():
    args = arguments(__doc__, "weighting.json", **KEEP)
    def ready(corpus, options, classes): return weighted(corpus, options), classes
    have = {f"{name}: {setting}": partial(ready, corpus, options, classes)
            for name, corpus, classes in (small((2, 2), 160) if args.quick else collections(MATRICES + TEXTS))
            for setting, options in {**SETTINGS, **({} if corpus.texts is None else TEXT_SETTINGS)}.items()}
    starts = {name: start for name, start in STARTS.items() if name == "default" or not args.quick}
    rows = gathered(runs_of(starts, have, args.quick, seeds=0, score=score, path=args.runs or None))
    means = summary(rows)
    shown = table(["setting", "collections", "leaves", "flat", "change", "better on", "worse on"],
                  [[s, m["collections"], f"{m['leaves']:.3f}", f"{m['flat']:.3f}", f"{m['change']:+.3f}", m["better_on"],
                    m["worse_on"]] for s, m in means.items()])
    write(args.output, shown, what="NMI of HierNMF2's leaves and of FlatNMF2, one step away from the default weighting at a time, "
          "mean over collections and three starts (the default one, two random ones without extrapolation); change: mean difference "
          "of both from the default on the same collections; better, worse: on how many by more than .002",
          summary=means, rows=rows)


if __name__ == "__main__": main()
