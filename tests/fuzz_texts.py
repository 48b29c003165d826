"""Odd texts, counted, weighed and grown to a tree; and the command on the same texts"""
import contextlib
import csv
import io
import json

import numpy as np
import scipy.sparse as sp
from fuzz_checks import Refusal, attempt, general, pick, require
from fuzz_files import SOME
from fuzz_trees import use_tree

ODD = ["\0", "\ud800", "=1+1", "@x", "-2", "</script><script>", "<!--", "&amp;", "\r", "\n", "\u2028", "\u3000", "\u202e", "\ufeff", "İ", "ﬀ", "ẞ", "e\u0301\u0301",
       "我们都是好朋友", "ภาษาไทยไม่มีช่องว่าง", "العربية", "हिन्दी", "'", '"', "\\", "{{x}}", "1e400", "a", "A", "nan", "None", "x"*5000, "long" + "er"*20_000]
NO_TEXTS = [None, 3, np.nan, b"bytes", ["list"], {}]
TEXTS = dict(min_df=[1, 1, 2, 3, .1, 0., -1, 1.5], max_df=[1., 1., .5, 5, 0], max_terms=[None, 1, 5, 0], lowercase=[True, False], sublinear_tf=[True, False],
             token_pattern=[r"\w+", r"\S+", r"(?u)\b\w\b", ".", "(", "(a)(b)", ""], stop_words=["english", None, ["the"], "german", {"the", "a"}, [], 3],
             ngram_range=[(1, 1), (1, 2), (2, 3), (2, 1), (0, 1), None], normalized_cut=[True, False], dtype=[np.float32, np.float64, int], n_jobs=[1, None, 0])

def some_texts(rng):
    "Texts of few different words, ordinary and odd ones"
    words = [pick(rng, SOME if rng.random() < .7 else ODD) for _ in range(int(rng.integers(3, 25)))]
    texts = [pick(rng, [" ", " ", "\n", "", ", "]).join(pick(rng, words) for _ in range(int(rng.integers(0, 15)))) for _ in range(pick(rng, [0, 1, 2, 5, 10, 30]))]
    if texts and rng.random() < .05: texts[int(rng.integers(len(texts)))] = pick(rng, NO_TEXTS)
    return texts

CONTAINERS = [list]*12 + [tuple, iter, lambda texts: np.array(texts, object), lambda texts: "".join(map(str, texts)), dict.fromkeys, sp.csr_array]

def grow(rng, texts, folder):
    "From texts to a tree, and all that can be asked of it"
    from nmf2.hier import HierNMF2
    from nmf2.weighting import text_pipeline
    params = {name: pick(rng, values) for name, values in TEXTS.items() if rng.random() < .12}
    params = dict(dict(min_df=1, max_df=1.), **params)
    names = ["texts", "token_pattern", "stop_words", "add_one", *params]
    try: given = pick(rng, CONTAINERS)(texts)
    except (TypeError, ValueError): given = texts
    pipe = attempt(lambda: (lambda pipe: (pipe, pipe.fit_transform(given)))(text_pipeline(**params)), names)
    if isinstance(pipe, Refusal): return pipe
    pipe, X = pipe
    vocab = pipe.get_feature_names_out()
    require(X.shape == (len(texts), len(vocab)) and np.isfinite(X.data).all() and X.min() >= 0, "weights are not finite and nonnegative")
    require(len(vocab) == len(set(vocab)), "the same word is there twice")
    require(abs(pipe.transform(texts) - X).max() < 1e-6, "texts are weighed differently by transform")
    model = attempt(lambda: HierNMF2(pick(rng, [1, 2, 5, 20])).fit(X), ["X", "n_leaves"])
    if isinstance(model, Refusal): return model
    model.tree_.vocab = vocab
    use_tree(model.tree_, folder/"tree.nmf2", X.toarray(), texts)

def check_tables(out, n):
    "The tables that the command wrote have a row for each document, and no cell that a spreadsheet takes for a formula"
    for name in ("assignments.csv", "topics.csv"):
        with open(out/name, newline="", encoding="utf-8") as f: rows = list(csv.reader(f))
        require(len({len(row) for row in rows}) == 1, f"rows of {name} differ in length")
        require(not any(cell[:1] in ("=", "@", "+", "\t", "\r") and not cell[1:2].isdigit() for row in rows for cell in row), f"{name} has a formula")
        require(name == "topics.csv" or len(rows) == n + 1, f"{name} has not a row for each document")
    json.loads((out/"tree.json").read_text(encoding="utf-8"))

def command(rng, texts, folder):
    "The command on a file of texts"
    from nmf2.cli import main
    texts, out = [text for text in texts if isinstance(text, str)], folder/"out"
    records = [{"text": text, "id": f"{pick(rng, ODD[:20])}{i}", "label": pick(rng, ODD[:20])} for i, text in enumerate(texts)]
    (folder/"t.jsonl").write_text("\n".join(map(json.dumps, records)))
    argv = ["cluster", str(folder/"t.jsonl"), "--out", str(out), "--leaves", pick(rng, ["2", "3", "20", "1", "x"]), "--min-df", pick(rng, ["1", "1", "2", "0.1", "1.5"]),
            "--max-df", pick(rng, ["1.0", "0.5"]), "--weights", pick(rng, ["ncut", "tfidf", "none"]), *pick(rng, [[], ["--quiet"], ["--max-terms", "0"]])]
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()): status = main(argv)
    last = said.getvalue().strip().split("\n")[-1]
    require(status in (0, 2), f"exit status {status}")
    require(status == 0 or "error: " in last and len(last) < 500, f"the last line is no error: {general(last)}")
    require((status == 0) == out.exists(), "there are results after an error, or none without one")
    if status: return Refusal("command: " + general(last))
    check_tables(out, len(texts))

def texts_case(rng, folder):
    "Odd texts through the package, or through the command"
    texts = some_texts(rng)
    (folder/"texts.json").write_text(json.dumps(texts, default=repr))
    return (grow if rng.random() < .7 else command)(rng, texts, folder)
