"""Odd texts, counted, weighed and grown to a tree; and the command on the same texts"""
import contextlib
import csv
import io
import json

import numpy as np
import scipy.sparse as sp
from fuzz_checks import Refusal, attempt, general, pick, refused, require
from fuzz_files import SOME
from fuzz_trees import nonnegative, use_tree

from nmf2.formats import LONG_FIELDS

ODD = ["\0", "\ud800", "=1+1", "@x", "-2", "</script><script>", "<!--", "&amp;", "\r", "\n", "\u2028", "\u3000",
       "\u202e", "\ufeff", "İ", "ﬀ", "ẞ", "e\u0301\u0301", "我们都是好朋友", "ภาษาไทยไม่มีช่องว่าง", "العربية", "हिन्दी", "'",
       '"', "\\", "{{x}}", "1e400", "a", "A", "nan", "None", "x"*5000, "long" + "er"*20_000]
NO_TEXTS = [None, 3, np.nan, b"bytes", ["list"], {}]
LENGTHS = [0, 1, 2, 5, 5, 10, 10, 30]

def some_texts(rng):
    "Texts of few different words, ordinary and odd ones"
    words = [pick(rng, SOME if rng.random() < .7 else ODD) for _ in range(int(rng.integers(3, 25)))]
    between = pick(rng, [" ", " ", " ", "\n", "", ", "])
    texts = [between.join(pick(rng, words) for _ in range(int(rng.integers(15)))) for _ in range(pick(rng, LENGTHS))]
    if texts and rng.random() < .05: texts[int(rng.integers(len(texts)))] = pick(rng, NO_TEXTS)
    return texts

# ---- through the package

CONTAINERS = [list]*15 + [tuple, iter, lambda texts: np.array(texts, object), lambda texts: "".join(map(str, texts)),
                          lambda texts: dict(enumerate(texts)), lambda texts: sp.csr_array((len(texts), 3))]
OPTIONS = dict(min_df=[1, 2, 3, .1, 0., -1, 1.5], max_df=[.5, 5, 0], max_features=[1, 5, 0], lowercase=[False],
               sublinear_tf=[False], token_pattern=[r"\w+", r"\S+", r"(?u)\b\w\b", ".", "(", "(a)(b)", ""],
               n_jobs=[1, None, 0], normalized_cut=[False], dtype=[np.float64, int],
               stop_words=["english", None, ["the"], "german", "klingon", {"the", "a"}, [], 3],
               ngram_range=[(1, 2), (2, 3), (2, 1), (0, 1), None])

def fit(texts, params):
    from nmf2.weighting import text_pipeline
    pipe = text_pipeline(**params)
    return pipe, pipe.fit_transform(texts)

def grow(rng, texts, folder):
    "From texts to a tree, and all that can be asked of it"
    from nmf2.hier import HierNMF2
    params = dict(min_df=1, max_df=1.)
    params |= {name: pick(rng, values) for name, values in OPTIONS.items() if rng.random() < .1}
    given = pick(rng, CONTAINERS)(texts)
    names = ["texts", "token_pattern", "token pattern", "stop_words", "add_one", *params]
    found = attempt(lambda: fit(given, params), names)
    if refused(found): return found
    pipe, X = found
    vocab = pipe.get_feature_names_out()
    require(X.shape == (len(texts), len(vocab)) and nonnegative(X.data), "weights are not finite and nonnegative")
    require(len(vocab) == len(set(vocab)), "the same word is there twice")
    require(abs(pipe.transform(texts) - X).max() < 1e-6, "texts are weighed differently by transform")
    model = attempt(lambda: HierNMF2(pick(rng, [1, 2, 5, 20])).fit(X), ["X", "n_leaves"])
    if refused(model): return model
    model.tree_.vocab = vocab
    use_tree(model.tree_, folder/"tree.nmf2", X.toarray(), texts)

# ---- through the command

def formula(cell): return cell[:1] in ("=", "@", "+", "-", "\t", "\r") and not cell[1:2].isdigit()

def check_results(out, n):
    "The tables have a row for each document, and no cell that a spreadsheet takes for a formula; the JSON is JSON"
    for name in ("assignments.csv", "topics.csv"):
        with LONG_FIELDS, open(out/name, newline="", encoding="utf-8") as f:   # a document may be named by a text of any length
            rows = list(csv.reader(f))
        require(len(set(map(len, rows))) == 1, f"rows of {name} differ in length")
        require(not any(formula(cell) for row in rows for cell in row), f"{name} has a formula")
        require(name == "topics.csv" or len(rows) == n + 1, f"{name} has not a row for each document")
    json.loads((out/"tree.json").read_text(encoding="utf-8"))

def command(rng, texts, folder):
    "The command on a file of texts"
    from nmf2.cli import main
    texts, out = [text for text in texts if isinstance(text, str)], folder/"out"
    def odd(): return pick(rng, ODD[:20])
    records = [dict(text=text, id=f"{odd()}{i}", label=odd()) for i, text in enumerate(texts)]
    (folder/"t.jsonl").write_text("\n".join(map(json.dumps, records)))
    choices = {"--leaves": ["2", "3", "20", "1", "x"], "--min-df": ["1", "1", "2", "0.1", "1.5"], 
               "--max-df": ["1.0", "0.5"], "--weights": ["ncut", "tfidf", "none"],
               "--method": ["topictree", "hiernmf2"]}
    argv = ["cluster", str(folder/"t.jsonl"), "--out", str(out)]
    for option, values in choices.items(): argv += [option, pick(rng, values)]
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()): status = main(argv)
    last = said.getvalue().strip().split("\n")[-1]
    require(status in (0, 2), f"exit status {status}")
    require((status == 0) == out.exists(), "there are results after an error, or none without one")
    if status == 0: return check_results(out, len(texts))
    require("error: " in last and len(last) < 500, f"the last line is no error: {general(last)}")
    return Refusal("command: " + general(last))

def texts_case(rng, folder):
    texts = some_texts(rng)
    (folder/"texts.json").write_text(json.dumps(texts, default=repr))
    return (grow if rng.random() < .7 else command)(rng, texts, folder)
