"""What heads of mails do to a tree: 20 Newsgroups as it is, and with no more of each head than what it says of the subject.

With 20 topics, and with as many as `TopicTree("auto")` finds: normalized mutual information of the classes of each level (6, 18 and 20) and the
tree cut into as many parts, where the number is left open all leaves; and the part of the leaves' title words that come from heads. A word does so if at
least half of the leaf's documents that have it have it in what is left out of heads, and nowhere else.

    NMF2_DATA=folder python benchmarks/mails.py [--quick] [--out FOLDER]
"""
import re
import warnings

import numpy as np
from common import arguments, collections, say, table, write

from nmf2.data import Corpus, drop_heads
from nmf2.evaluate import nmi
from nmf2.topictree import TopicTree


def made_up(n):
    """Mails of two subjects from two places."""
    rng, subjects, places = np.random.default_rng(0), ("goal ball net team", "vote law court judge"), ("ohio cleveland", "england london")
    texts = [f"From: a@b.org\nOrganization: {' '.join([places[i//2 % 2]]*9)}\nSubject: mail\n\n{' '.join(rng.choice(subjects[i % 2].split(), 4))}"
             for i in range(n)]
    return Corpus(texts, labels=[[str(i % 2)] for i in range(n)])


def words_in(text): return set(re.findall(r"\w\w+", text.lower()))


def of_heads(tree, whole, bodies):
    """The part of the title words of leaves that come from heads."""
    found = []
    for leaf in tree.leaves():
        with_heads, without = ([words_in(texts[i]) for i in leaf.docs] for texts in (whole, bodies))
        for word in words_in(tree.title(leaf)):
            having = [(word in a, word in b) for a, b in zip(with_heads, without)]
            n, n_elsewhere = np.sum(having, 0)
            found.append(2*n_elsewhere <= n)
    return float(np.mean(found))


def measure(name, kept, corpus, whole, bodies, n_topics, **options):
    """The row of one tree."""
    say(f"{name}: {n_topics} topics, heads {kept}")
    model = TopicTree(n_topics, **options).fit(corpus)
    levels, tree = [corpus.classes(level) for level in range(corpus.n_levels)], model.tree_
    cuts = [tree.labels(min(len(names), tree.n_leaves) if n_topics != "auto" else None) for _, names in levels]
    agreement = [round(float(nmi(cut, classes)), 3) for cut, (classes, _) in zip(cuts, levels)]
    return dict(collection=name, heads=kept, asked=n_topics, n_topics=model.n_topics_, nmi=agreement, title_words_of_heads=round(of_heads(tree, whole, bodies), 3))


def main():
    args = arguments(__doc__, "mails.json")
    found = [("made up", made_up(80), None)] if args.quick else collections(["20newsgroups"])
    options = dict(min_df=1, max_df=1.) if args.quick else {}
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                # documents without terms
        for name, corpus, _ in found:
            less = drop_heads(corpus)
            for n_topics in (2,) if args.quick else (20, "auto"):
                for kept, texts in (("kept", corpus), ("left out", less)):
                    rows.append(measure(name, kept, texts, corpus.texts, less.texts, n_topics, **options))
    lines = table(["collection", "heads", "topics asked for", "topics", "NMI at each level", "title words that come from heads"],
                  [[row["collection"], row["heads"], row["asked"], row["n_topics"], " / ".join(f"{x:.3f}" for x in row["nmi"]),
                    f"{row['title_words_of_heads']:.1%}"] for row in rows])
    write(args.output, lines, what="TopicTree of mails with their heads, and with what these say of the subject alone", rows=rows)


if __name__ == "__main__": main()
