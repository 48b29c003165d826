"""One name for one thing: the table of names in 00_core, and what is called by them"""
import importlib
import inspect
import json
import pkgutil
import re
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

import nmf2
from nmf2.core import renamed
from nmf2.hier import HierNMF2
from nmf2.weighting import count_pipeline, text_pipeline

ROOT = Path(nmf2.__file__).parent.parent
LIMIT_OR_COUNT = re.compile(r"(^|_)(iter|iters|iterations|steps|epochs|rounds|sweeps|passes|restarts|starts|progress|quiet)$|^rank$|^n_topics$")


def vocabulary():
    cells = json.loads((ROOT/"nbs/00_core.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    section = re.search(r"(?ms)^## Names$.*?(?=^## )", text)[0]
    return {name for row in re.findall(r"(?m)^\| (.*?) \|", section) for name in re.findall(r"`(\w+)`", row)}


def estimators():
    for module in pkgutil.iter_modules(nmf2.__path__):
        if module.name.startswith("_"): continue
        for name, kind in vars(importlib.import_module(f"nmf2.{module.name}")).items():
            own = inspect.isclass(kind) and kind.__module__ == f"nmf2.{module.name}"
            ours = own and issubclass(kind, BaseEstimator) and not issubclass(kind, Pipeline)      # which has scikit-learn's parameters
            if ours and not name.startswith("_"): yield kind


def test_estimators_keep_to_the_vocabulary():
    names, seen = vocabulary(), 0
    assert {"n_init", "max_iter", "n_clusters", "verbose", "tol"} <= names
    for kind in estimators():
        for parameter in inspect.signature(kind.__init__).parameters:
            if LIMIT_OR_COUNT.search(parameter):
                seen += 1
                known = parameter in names or re.sub(r"^\w+?_(?=max_iter$|tol$)", "", parameter) in names or parameter == "max_doc_update_iter"
                assert known, f"{kind.__name__}({parameter}=): not a name in the table of 00_core"
    assert seen > 10


@pytest.mark.parametrize("module, name, old, new", [
    ("hier", "HierNMF2", "settled", "side_tol"), ("hier", "HierNMF2", "progress", "verbose"), ("flat", "FlatNMF2", "moves", "moves_max_iter"),
    ("bisection", "RepeatedBisection", "trials", "n_init"), ("bisection", "RepeatedBisection", "n_iter", "max_iter"),
    ("partitions", "SVDClustering", "rank", "n_components"), ("partitions", "NMFClustering", "rank", "n_components"),
    ("methods", "LDA", "doc_iter", "max_doc_update_iter"), ("separable", "AnchorWords", "max_steps", "max_iter"),
    ("separable", "Hottopixx", "epochs", "max_iter"), ("consensus", "HypergraphEnsemble", "n_topics", "n_components"),
    ("consensus", "ClusterAggregation", "max_rounds", "max_iter"), ("counting", "TermCounter", "progress", "verbose"),
    ("weighting", "TrimVocabulary", "max_terms", "max_features")])
def test_old_names_of_parameters(module, name, old, new):
    kind = getattr(getattr(nmf2, module), name)
    with pytest.warns(FutureWarning, match=f"{old} of {name} is called {new} now"): model = kind(**{old: 3})
    assert getattr(model, new) == 3 and old not in model.get_params() and clone(model).get_params()[new] == 3
    with pytest.warns(FutureWarning, match=new): model.set_params(**{old: 4})
    assert getattr(model, new) == 4
    with pytest.raises(TypeError, match=f"both {old} and {new}"): kind(**{old: 3, new: 3})


def test_old_names_warn_where_they_are_written():
    with pytest.warns(FutureWarning) as caught: HierNMF2(3, progress=False)
    assert caught[0].filename == __file__
    @renamed(a="b")
    def f(b=1): return b
    with pytest.warns(FutureWarning) as caught: assert f(a=2) == 2
    assert caught[0].filename == __file__ and f(3) == 3


@pytest.mark.parametrize("make", [count_pipeline, text_pipeline])
def test_old_name_of_a_step(make):
    with pytest.warns(FutureWarning, match="max_terms of .* is called max_features now"): steps = make(max_terms=7)
    assert steps["trim"].max_features == 7 == make(max_features=7)["trim"].max_features


def test_modules_of_the_package():
    assert nmf2.evaluate.nmi([0, 1], [1, 0]) == 1 and "evaluate" in dir(nmf2)
    with pytest.raises(AttributeError, match="no attribute 'topics'"): nmf2.topics
