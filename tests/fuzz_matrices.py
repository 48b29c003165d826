"""Odd matrices for every estimator: patterns, scales, types, forms, parameters, and what is promised of the results"""
import pickle
from importlib import import_module

import numpy as np
import scipy.sparse as sp
from fuzz_checks import Refusal, attempt, pick, require
from fuzz_trees import check_labels, check_tree, check_weights

PATTERNS = {                                     # of n rows and m columns
    "counts": lambda rng, n, m: rng.poisson(.6, (n, m)),
    "dense": lambda rng, n, m: rng.random((n, m)),
    "blocks": lambda rng, n, m: rng.poisson(1.5, (n, m))*(np.arange(n)[:,None]*3//n == np.arange(m)*3//m),
    "diagonal": lambda rng, n, m: np.eye(n, m)[rng.permutation(n)],
    "constant": lambda rng, n, m: np.ones((n, m)),
    "one product": lambda rng, n, m: np.outer(rng.random(n), rng.random(m)),
    "few products": lambda rng, n, m: rng.random((n, 2)) @ rng.random((2, m)),
    "parallel columns": lambda rng, n, m: rng.poisson(1, (n, 2))[:,rng.integers(2, size=m)]*rng.integers(1, 4, m),
    "copies of rows": lambda rng, n, m: rng.poisson(1, (3, m))[rng.integers(3, size=n)],
    "nearly alike": lambda rng, n, m: 1 + 1e-12*rng.random((n, m)),
    "one entry": lambda rng, n, m: np.arange(n*m).reshape(n, m) == rng.integers(n*m),
    "triangle": lambda rng, n, m: np.tril(np.ones((n, m))),
    "steep": lambda rng, n, m: rng.random((n, m))*10.**-np.arange(m)}

def sizes(rng):
    "Documents and terms: a few, and sometimes only one or two"
    n, m = pick(rng, [2, 3, 5, 8, 12, 20, 30]), pick(rng, [1, 2, 3, 5, 8, 12, 25])
    return (n, m) if rng.random() < .98 else (pick(rng, [0, 1]), pick(rng, [0, 1, m]))

def scaled(X, rng):
    "Everything, rows or columns times powers of ten; some entries tiny"
    far = pick(rng, [1, 5, 12, 25, 100, 300])
    way = pick(rng, ["all", "rows", "columns", "entries"])
    shape = dict(all=(1, 1), rows=(len(X), 1), columns=(1, X.shape[1]), entries=X.shape)[way]
    power = np.round(rng.uniform(-far, far, shape)) if way != "entries" else np.where(rng.random(shape) < .1, -pick(rng, [12, 100, 310, 323]), 0)
    return X*10.**power

@np.errstate(all="ignore")
def some_matrix(rng, n, m):
    "A dense matrix of floats"
    X = np.asarray(PATTERNS[pick(rng, list(PATTERNS))](rng, n, m) if n and m else np.zeros((n, m)), float)
    if rng.random() < .25: X[rng.random(n) < .3] = 0
    if rng.random() < .25: X[:,rng.random(m) < .3] = 0
    if rng.random() < .3: X = scaled(X, rng)
    if rng.random() < .3: X = X/np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    if rng.random() < .04 and X.size: X.ravel()[rng.integers(X.size)] = pick(rng, [np.nan, np.inf, -1., -0., 1e308, 5e-324])
    return X

def strange_csr(X, rng):
    "The same in compressed rows: unsorted, with entries in parts, explicit zeros, or long indices"
    S = sp.csr_array(X)
    if rng.random() < .4: S = sp.csr_array((np.r_[S.data, S.data[:0]], S.indices, S.indptr), S.shape)[:,::-1][:,::-1]
    if rng.random() < .3 and X.size: S.data[rng.random(S.nnz) < .2] = 0
    if rng.random() < .3 and S.nnz:                              # two halves of each entry
        S = sp.csr_array((np.repeat(S.data/2, 2).astype(S.dtype), np.repeat(S.indices, 2), S.indptr*2), S.shape)
    if rng.random() < .4: S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return S

def broken(S, rng):
    "A compressed matrix whose indices don't fit"
    S = pick(rng, [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix])(S)
    way, far = pick(rng, ["index", "index", "indptr", "end", "short", "start"]), pick(rng, [-1, -2**31, 2**31 - 1, 10**6, max(S.shape)])
    if way == "index" and S.nnz: S.indices[rng.integers(S.nnz)] = far
    if way == "indptr": S.indptr[rng.integers(len(S.indptr))] = far
    if way == "end": S.indptr[-1] += pick(rng, [1, -1, 1000])
    if way == "short": S.data = S.data[:-1]
    if way == "start": S.indptr[0] = pick(rng, [1, -1])
    return S

def read_only(X):
    X.flags.writeable = False
    return X

FORMS = {
    "array": lambda X, rng: X, "columns first": lambda X, rng: np.asfortranarray(X), "read-only": lambda X, rng: read_only(X.copy()),
    "every second": lambda X, rng: np.repeat(X, 2, 0)[::2], "backwards": lambda X, rng: X[::-1].copy()[::-1], "list": lambda X, rng: X.tolist(),
    "csr": strange_csr, "csr_matrix": lambda X, rng: sp.csr_matrix(strange_csr(X, rng)), "csc": lambda X, rng: sp.csc_array(strange_csr(X, rng)),
    "coo": lambda X, rng: strange_csr(X, rng).tocoo(), "lil": lambda X, rng: sp.lil_matrix(X), "dok": lambda X, rng: sp.dok_array(X),
    "bsr": lambda X, rng: sp.bsr_array(X), "dia": lambda X, rng: sp.dia_matrix(X), "broken": lambda X, rng: broken(strange_csr(X, rng), rng)}
FORM_NAMES = [*FORMS, "csr", "csr", "csr", "csr", "csr_matrix", "csc", "array"]
DTYPES = [float]*6 + [np.float32]*3 + [np.int32, np.int64, np.uint8, bool, np.float16, np.longdouble, complex, object]

def in_some_form(X, rng):
    "A matrix as an estimator may be given it"
    name, dtype = pick(rng, FORM_NAMES), pick(rng, DTYPES)
    if name in ("bsr", "dia") and not X.size: name = "csr"
    if dtype in (object, np.float16, np.longdouble) and name not in ("array", "list", "columns first"): dtype = float
    with np.errstate(all="ignore"): X = X.astype(dtype)
    return FORMS[name](X, rng)

def arrays_in(thing):
    "The arrays that make up a matrix"
    if isinstance(thing, np.ndarray): return [thing]
    if isinstance(thing, (tuple, list)): return [a for part in thing for a in arrays_in(part)]
    return arrays_in(list(vars(thing).values())) if sp.issparse(thing) else []

def snapshot(X): return [(a.shape, a.tolist() if a.dtype == object else a.tobytes()) for a in arrays_in(X)] or repr(X)

K, SEEDS = [1, 2, 2, 3, 3, 4, 5, 8, 20], [0, 1, 2, 2**31 - 1]
TREE = dict(n_leaves=K + [None], imbalance=[1, 2., 9., 1e9], trials=[0, 1, 3, 5], min_score=[None, None, 0, .5], leaf_choice=["mndcg", "mndcg-paper", "error"])
RANK2 = dict(tol=[1e-4, 0, .01], min_iter=[0, 1, 5], max_iter=[1, 5, 100], extrapolate=[True, False])
HIER = TREE | RANK2 | dict(init=["svd", "random"], settled=[None, 0, .002], solver=["rank2"]*4 + ["bpp", "hals", "mu", "pgd", "acls", "ahcls", "active-set"])
NMFS = dict(n_components=K, solver=["bpp", "active-set", "hals", "mu", "pgd", "acls", "ahcls"], init=["nndsvd", "nndsvda", "nndsvdar", "documents", "random"],
            n_init=[1, 2], tol=[1e-4, 0, .01], max_iter=[1, 5, 50], extrapolate=[None, False], ridge=[.01, 0, 1], sparsity=[.5, 0, 1])
BY = ["pddp", "pddp-kmeans", "pddp-cosine", "kmeans"]
ESTIMATORS = {                                   # what to try, and values for parameters; those of HierNMF2 and NMF are drawn more often
    "hier:HierNMF2": HIER,
    "nmf:NMF": NMFS,
    "flat:FlatNMF2": HIER | dict(n_clusters=K + [None], moves=[10, 0, 1], refine=[0, 2], topics=["nmf", "svd"]),
    "rank2:Rank2NMF": RANK2 | dict(init=["svd", "random"]),
    "bisection:RepeatedBisection": dict(n_clusters=K, method=["rb", "rbr", "direct"], cstype=["best", "large"], trials=[1, 3, 10], n_iter=[0, 1, 10],
                                        criterion=["i1", "i2", "e1", "h1", "h2", "g1", "g1p"]),
    "partitions:PDDP": dict(n_clusters=K, kmeans=[False, True, "cosine"], choice=["scatter", "variance"]),
    "partitions:FlatKMeans": dict(n_clusters=K, init=["k-means++", "random"], n_init=[1, 2]),
    "partitions:SVDClustering": dict(n_clusters=K, rank=[None, None, 1, 2, 5], centered=[True, False], scaled=[True, False], clusterer=BY),
    "partitions:NMFClustering": dict(n_clusters=K, rank=[None, None, 1, 2, 5], clusterer=BY, solver=NMFS["solver"], init=NMFS["init"], max_iter=[1, 50]),
    "partitions:AverageAssociation": dict(n_clusters=K, normalize_rows=[True, False], n_init=[1, 3]),
    "partitions:NormalizedCutClustering": dict(n_clusters=K, normalize_rows=[True, False], n_init=[1, 3]),
    "partitions:HierKMeans": TREE | dict(init=["k-means++", "random"], n_init=[1, 2], max_iter=[1, 300]),
    "partitions:NormalizedCutNMF": NMFS,
    "partitions:LDA": dict(n_clusters=K, max_iter=[1, 3], learning_method=[None, "online", "batch"]),
    "separable:AnchorWords": dict(n_clusters=K, recover=["l2", "kl"], min_df=[1, 2, .1], min_length=[2, 3], project=[None, 2, 5], clean_up=[True, False], max_steps=[1, 50]),
    "separable:XRAY": dict(n_clusters=K, select=["dist", "max", "rand", "greedy"], anchors=["words", "documents"], min_df=[1, 2, .1]),
    "separable:Hottopixx": dict(n_clusters=K, method=["gradient", "gradient", "lp"], max_words=[300, 5], max_docs=[500, 5], epochs=[1, 20], noise=[0., .1]),
    "consensus:HypergraphEnsemble": dict(n_clusters=K, n_runs=[1, 3], weights=["weighted", "standard", "full"], n_topics=[None, 2, [2, 3]],
                                         integrate=["bisection", "kmeans", "nmf", "spectral", "meta"]),
    "consensus:ClusterAggregation": dict(n_clusters=K[:-1], threshold=[.5, 0, [.2, .6]], iterate=[True, False], max_rounds=[1, 3], agree=[.5, .9],
                                         algorithms=[None, ["kmeans", "bisection"]]),
    "weighting:TrimVocabulary": dict(min_df=[1, 2, .1, 3], max_df=[.5, 1., 3], max_terms=[None, 1, 5], dtype=[None, "float32"]),
    "weighting:TfIdf": dict(sublinear_tf=[True, False], use_idf=[True, False], add_one=[True, False], norm=["l2", "l1", None]),
    "weighting:NormalizedCut": {}}
OFTEN = [*ESTIMATORS, *["hier:HierNMF2"]*5, *["nmf:NMF"]*3, "flat:FlatNMF2", "flat:FlatNMF2", "rank2:Rank2NMF", "bisection:RepeatedBisection"]
WRONG = [None, -1, np.nan, np.inf, "x", 1.5, [], True]
UNIT = {"HierNMF2", "FlatNMF2", "Rank2NMF", "NMF", "NormalizedCutNMF", "RepeatedBisection", "HypergraphEnsemble", "ClusterAggregation", "HierKMeans"}
SHARES = {"HierNMF2", "HierKMeans", "HypergraphEnsemble", "LDA"}         # rows of `transform` sum to one

def some_estimator(rng):
    "An estimator with random parameters, seldom a wrong one among them"
    from importlib import import_module
    name = pick(rng, OFTEN)
    module, attribute = name.split(":")
    build = getattr(import_module(f"nmf2.{module}"), attribute)
    known = build().get_params()
    params = {key: pick(rng, values) for key, values in ESTIMATORS[name].items() if key in known and (key in ("n_clusters", "n_components", "n_leaves") or rng.random() < .5)}
    if "random_state" in known: params["random_state"] = pick(rng, SEEDS)
    if params and rng.random() < .03: params[pick(rng, sorted(params))] = pick(rng, WRONG)
    return build(**params)

def use(est, X, other, threads):
    "Fit an estimator, and let it say something of other documents: names and results"
    from numba import set_num_threads
    from sklearn.base import clone
    set_num_threads(threads)
    est, found = clone(est), {}
    if hasattr(est, "fit_transform"): found["fit_transform"] = est.fit_transform(X)
    else: est.fit(X)
    found |= {name: getattr(est, name) for name in ("labels_", "components_") if hasattr(est, name)}
    if hasattr(est, "tree_"): found["tree"] = est.tree_
    for way in ("transform", "predict"):
        if hasattr(est, way): found[way] = attempt(lambda: getattr(est, way)(other), ["X"])
    return found

def as_bytes(value):
    if isinstance(value, Refusal): return value
    if hasattr(value, "splits"): return [value.splits] + [(node.id, node.docs.tolist(), node.outliers.tolist(), repr(node.score)) for node in value.nodes.values()]
    return [np.asarray(a).tobytes() for a in ((value.data, value.indices, value.indptr) if sp.issparse(value) else (value,))]

def check_found(name, found, n, m, empty, other):
    "All that is promised of what an estimator found; `empty` says which documents are, as far as that is known, and `other` the number of the others"
    k = len(found["components_"]) if "components_" in found else 0
    if k:
        H = np.asarray(found["components_"], float)
        require(H.shape[1] == m and np.isfinite(H).all() and H.min(initial=0) >= 0, f"{name}: topics are not finite and nonnegative")
        length = np.linalg.norm(H, axis=1)
        if name in UNIT: require(((abs(length - 1) < 1e-3) | (length == 0)).all(), f"{name}: topics are not of unit length")
        if name in ("HierNMF2", "FlatNMF2", "RepeatedBisection"): require((length > 0).all(), f"{name}: a topic is zero")
    if "labels_" in found: check_labels(found["labels_"], n, k, empty, f"{name}: labels")
    if "fit_transform" in found: check_weights(found["fit_transform"], n, name in SHARES, f"{name}: weights of the fit")
    if "predict" in found and not isinstance(found["predict"], Refusal): check_labels(found["predict"], other, k, None, f"{name}: predicted labels")
    if "transform" in found and not isinstance(found["transform"], Refusal): check_weights(found["transform"], other, name in SHARES, f"{name}: weights")
    if "tree" in found: check_tree(found["tree"])

def matrices_case(rng, folder):
    "Fit an estimator to an odd matrix, twice, and let it say something of odd documents"
    from numba import config
    n, m = sizes(rng)
    D, E = some_matrix(rng, n, m), some_matrix(rng, pick(rng, [1, 2, 5]), m if rng.random() < .97 else m + 1)
    X, other, est, before = in_some_form(D, rng), in_some_form(E, rng), some_estimator(rng), None
    name, names, threads = type(est).__name__, ["X", *est.get_params()], [config.NUMBA_NUM_THREADS, 1]
    (folder/"case.pickle").write_bytes(pickle.dumps((est, X, other)))
    before = snapshot(X), snapshot(other)
    first = attempt(lambda: use(est, X, other, threads[0]), names)
    require((snapshot(X), snapshot(other)) == before, f"{name}: its input is changed")
    second = attempt(lambda: use(est, X, other, threads[1]), names)
    require(type(first) is type(second), f"{name}: refused once only")
    if isinstance(first, Refusal): return first
    for key in first: require(as_bytes(first[key]) == as_bytes(second[key]), f"{name}: {key} has other bits on another number of threads, or when run again")
    empty = None if D.dtype != float or not np.isfinite(D).all() or (D < 0).any() else (D == 0).all(1)
    check_found(name, first, n, m, empty, len(E))
