"""Trees of topics from a collection of documents, by nonnegative matrix factorization with two topics at a time."""
__version__ = "0.1.0"

_home = dict(Rank2NMF="rank2", HierNMF2="hier", FlatNMF2="flat", NMF="nmf", Tree="tree", TopicTree="topictree",
             Corpus="data", load="data", read="data", text_pipeline="weighting")
__all__ = list(_home)

def __getattr__(name):
    "Import what is asked for, when it is asked for: `import nmf2` alone stays cheap"
    from importlib import import_module
    from importlib.util import find_spec
    if name in _home: return getattr(import_module(f"nmf2.{_home[name]}"), name)
    if not name.startswith("_") and find_spec(f"nmf2.{name}"): return import_module(f"nmf2.{name}")
    raise AttributeError(f"module 'nmf2' has no attribute {name!r}")

def __dir__():
    from pkgutil import iter_modules
    return sorted({*globals(), *__all__, *(module.name for module in iter_modules(__path__) if not module.name.startswith("_"))})
