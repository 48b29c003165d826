"""Make the small file that `test_topicfile.py` reads, and what its model says of some texts

    python tests/make_saved.py

writes `data/topictree-2.nmf2` and `data/topictree-2.json`. The files of one version stay as they are: they are what
later versions of nmf2 must still read. Run this again for a new version of the format only, under a new name.
In version 1 there was no nearness.
"""
import json
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent/"data"
SUBJECTS = [["ball", "goal", "umpire", "match", "league"], ["racket", "net", "serve", "match", "umpire"],
            ["vote", "law", "party", "budget", "reform"], ["oven", "flour", "yeast", "dough", "crust"]]

def some_texts(n, seed=0):
    "Texts about four subjects, a few words each"
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(SUBJECTS[i % 4], 6)) + " said" for i in range(n)]

def main():
    from nmf2 import Corpus, TopicTree
    texts = some_texts(60)
    model = TopicTree(4, ngram_range=(1, 2), max_df=.6).fit(Corpus(texts, ids=[f"text {i}" for i in range(60)]))
    model.tree_.rename(model.tree_.leaves()[0], "a name, größer")
    DATA.mkdir(exist_ok=True)
    model.save(DATA/"topictree-2.nmf2")
    new = some_texts(12, 1) + ["an oven for the umpire", "nothing known"]
    said = dict(texts=new, labels=model.predict(new).tolist(), rejected=(model.predict(new, reject=.05) < 0).tolist(), shares=model.transform(new).astype(float).tolist(),
                titles=[model.tree_.title(leaf) for leaf in model.tree_.leaves()])
    (DATA/"topictree-2.json").write_text(json.dumps(said, indent=None) + "\n")

if __name__ == "__main__": main()
