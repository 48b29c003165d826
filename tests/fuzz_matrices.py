"""Odd matrices for every estimator: values, types and forms, parameters, and what is promised of the results"""
import pickle
import warnings
from importlib import import_module

import numpy as np
import scipy.sparse as sp
from fuzz_checks import attempt, pick, refused, require
from fuzz_trees import check_labels, check_tree, check_weights, nonnegative

# ---- values

PATTERNS = [                                     # of n rows and m columns
    lambda rng, n, m: rng.poisson(.6, (n, m)),
    lambda rng, n, m: rng.random((n, m)),
    lambda rng, n, m: rng.poisson(1.5, (n, m))*(np.arange(n)[:,None]*3//n == np.arange(m)*3//m),       # blocks
    lambda rng, n, m: np.eye(n, m)[rng.permutation(n)],
    lambda rng, n, m: np.ones((n, m)),
    lambda rng, n, m: np.tril(np.ones((n, m))),
    lambda rng, n, m: np.outer(rng.random(n), rng.random(m)),
    lambda rng, n, m: rng.random((n, 2)) @ rng.random((2, m)),
    lambda rng, n, m: rng.poisson(1, (n, 2))[:,rng.integers(2, size=m)]*rng.integers(1, 4, m),     # parallel columns
    lambda rng, n, m: rng.poisson(1, (3, m))[rng.integers(3, size=n)],                                 # copies of rows
    lambda rng, n, m: 1 + 1e-12*rng.random((n, m)),
    lambda rng, n, m: np.arange(n*m).reshape(n, m) == rng.integers(n*m),                               # one entry
    lambda rng, n, m: rng.random((n, m))*10.**-np.arange(m)]

def sizes(rng):
    "Documents and terms: a few, seldom only one or none, and seldom more than methods for small matrices are meant for"
    n, m = pick(rng, [2, 3, 5, 8, 12, 20, 30]), pick(rng, [1, 2, 3, 5, 8, 12, 25])
    few, many = (pick(rng, [0, 1]), pick(rng, [0, 1, m])), (pick(rng, [130, 260, 450]), pick(rng, [m, 129, 210, 300]))
    return pick(rng, [(n, m)]*96 + [few]*2 + [many]*2)

def scaled(X, rng):
    "Everything, rows or columns times powers of ten; or some entries tiny"
    far, way = pick(rng, [1, 5, 12, 25, 100, 300]), pick(rng, ["all", "rows", "columns", "entries"])
    if way == "entries": return np.where(rng.random(X.shape) < .1, X*10.**-pick(rng, [12, 100, 310, 323]), X)
    shape = dict(all=(1, 1), rows=(len(X), 1), columns=(1, X.shape[1]))[way]
    return X*10.**np.round(rng.uniform(-far, far, shape))

ODD_VALUES = [np.nan, np.inf, -1., -0., 1e308, 5e-324]

@np.errstate(all="ignore")
def some_matrix(rng, n, m):
    "A dense matrix of floats"
    X = np.asarray(pick(rng, PATTERNS)(rng, n, m), float) if n and m else np.zeros((n, m))
    if rng.random() < .25: X[rng.random(n) < .3] = 0
    if rng.random() < .25: X[:,rng.random(m) < .3] = 0
    if rng.random() < .3: X = scaled(X, rng)
    if rng.random() < .3: X = X/np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    if rng.random() < .04 and X.size: X.ravel()[rng.integers(X.size)] = pick(rng, ODD_VALUES)
    return X

# ---- forms

def strange(X, rng):
    "The same in compressed rows: unsorted, with entries in two halves, explicit zeros, or long indices"
    S = sp.csr_array(X)
    if rng.random() < .4: S = S[:,::-1][:,::-1]
    if rng.random() < .3: S.data[rng.random(S.nnz) < .2] = 0
    if rng.random() < .3 and S.nnz:
        S = sp.csr_array((np.repeat(S.data/2, 2).astype(S.dtype), np.repeat(S.indices, 2), S.indptr*2), S.shape)
    if rng.random() < .4: S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return S

def broken(X, rng):
    "A compressed matrix whose indices don't fit"
    S = pick(rng, [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix])(strange(X, rng))
    far = pick(rng, [-1, -2**31, 2**31 - 1, 10**6, max(S.shape)])
    way = pick(rng, ["index", "index", "indptr", "end", "short", "start"])
    if way == "index" and S.nnz: S.indices[rng.integers(S.nnz)] = far
    if way == "indptr": S.indptr[rng.integers(len(S.indptr))] = far
    if way == "end": S.indptr[-1] += pick(rng, [1, -1, 1000])
    if way == "short": S.data = S.data[:-1]
    if way == "start": S.indptr[0] = pick(rng, [1, -1])
    return S

def fits(X):
    "Do the indices of a compressed matrix fit?"
    if not sp.issparse(X) or X.format not in ("csr", "csc"): return True
    n, m = X.shape if X.format == "csr" else X.shape[::-1]
    ends = X.indptr.astype(np.int64)
    if len(ends) != n + 1 or ends[0] != 0 or (np.diff(ends) < 0).any(): return False
    if ends[-1] > min(len(X.indices), len(X.data)): return False
    used = X.indices[:ends[-1]]
    return not len(used) or 0 <= used.min() and used.max() < m

def plain(X):
    "The same matrix in canonical form, if it is a sparse one that fits; yes and yes is yes in some forms and two in others"
    if not (sp.issparse(X) and fits(X) and X.dtype.kind in "fiu"): return X
    X = sp.csr_array(X if X.dtype in (float, np.float32) else X.astype(float), copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X

def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X

DENSE = [lambda X, rng: X, lambda X, rng: np.asfortranarray(X), lambda X, rng: read_only(X), lambda X, rng: X.tolist(),
         lambda X, rng: np.repeat(X, 2, 0)[::2], lambda X, rng: X[::-1].copy()[::-1]]
SPARSE = [strange]*6 + [lambda X, rng: sp.csr_matrix(strange(X, rng)), lambda X, rng: sp.csc_array(strange(X, rng)),
          lambda X, rng: sp.coo_array(strange(X, rng)), lambda X, rng: sp.lil_matrix(X), lambda X, rng: sp.dok_array(X),
          lambda X, rng: sp.bsr_array(X), lambda X, rng: sp.dia_matrix(X), broken]
DTYPES = [float]*20 + [np.float32]*10 + [np.int32, np.int64, np.uint8, bool, np.float16, np.longdouble, complex, object]

@np.errstate(all="ignore")
def in_some_form(X, rng):
    "A matrix as an estimator may be given it"
    dtype = pick(rng, DTYPES)
    warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)         # of diagonals; `try_here` puts it back
    dense = not X.size or dtype in (object, np.float16, np.longdouble) or rng.random() < .3
    return pick(rng, DENSE if dense else SPARSE)(X.astype(dtype), rng)

def arrays_in(thing):
    "The arrays that make up a matrix"
    if isinstance(thing, np.ndarray): return [thing]
    if isinstance(thing, (tuple, list)): return [a for part in thing for a in arrays_in(part)]
    return arrays_in(list(vars(thing).values())) if sp.issparse(thing) else []

def snapshot(X): return [(a.shape, a.tolist() if a.dtype == object else a.tobytes()) for a in arrays_in(X)] or repr(X)

# ---- estimators

K, SEEDS = [1, 2, 2, 3, 3, 4, 5, 8, 20, 40], [0, 1, 2, 2**31 - 1]
SOLVERS = ["bpp", "active-set", "hals", "mu", "pgd", "acls", "ahcls"]
STARTS = ["nndsvd", "nndsvda", "nndsvdar", "documents", "random"]
TREE = dict(n_leaves=K + [None], imbalance=[1, 2., 9., 1e9], trials=[0, 1, 3, 5], min_score=[None, None, 0, .5],
            leaf_choice=["mndcg", "mndcg-paper", "error"])
RANK2 = dict(tol=[1e-4, 0, .01], min_iter=[0, 1, 5], max_iter=[1, 5, 100], extrapolate=[True, False])
HIER = TREE | RANK2 | dict(init=["svd", "random"], side_tol=[None, 0, .002], solver=["rank2"]*4 + SOLVERS)
NMFS = dict(n_components=K, solver=SOLVERS, init=STARTS, n_init=[1, 2], tol=[1e-4, 0, .01], max_iter=[1, 5, 50],
            extrapolate=[None, False], ridge=[.01, 0, 1], sparsity=[.5, 0, 1])
BY = dict(n_clusters=K, n_components=[None, None, 1, 2, 5], clusterer=["pddp", "pddp-kmeans", "pddp-cosine", "kmeans"])
ESTIMATORS = {                                   # what to try, and values for parameters
    "hier:HierNMF2": HIER,
    "nmf:NMF": NMFS,
    "flat:FlatNMF2": HIER | dict(n_clusters=K + [None], moves_max_iter=[10, 0, 1], refine=[0, 2], topics=["nmf", "svd"]),
    "rank2:Rank2NMF": RANK2 | dict(init=["svd", "random"]),
    "bisection:RepeatedBisection": dict(n_clusters=K, method=["rb", "rbr", "direct"], cstype=["best", "large"],
                                        n_init=[1, 3, 10], max_iter=[0, 1, 10],
                                        criterion=["i1", "i2", "e1", "h1", "h2", "g1", "g1p"]),
    "partitions:PDDP": dict(n_clusters=K, kmeans=[False, True, "cosine"], choice=["scatter", "variance"]),
    "partitions:FlatKMeans": dict(n_clusters=K, init=["k-means++", "random"], n_init=[1, 2]),
    "partitions:SVDClustering": BY | dict(centered=[True, False], scaled=[True, False]),
    "partitions:NMFClustering": BY | dict(solver=SOLVERS, init=STARTS, max_iter=[1, 50]),
    "partitions:AverageAssociation": dict(n_clusters=K, normalize_rows=[True, False], n_init=[1, 3]),
    "partitions:NormalizedCutClustering": dict(n_clusters=K, normalize_rows=[True, False], n_init=[1, 3]),
    "partitions:HierKMeans": TREE | dict(init=["k-means++", "random"], n_init=[1, 2], max_iter=[1, 300]),
    "methods:NormalizedCutNMF": NMFS,
    "methods:LDA": dict(n_clusters=K, max_iter=[1, 3], learning_method=[None, "online", "batch"]),
    "separable:AnchorWords": dict(n_clusters=K, recover=["l2", "kl"], min_df=[1, 2, .1], min_length=[2, 3],
                                  project=[None, 2, 5], clean_up=[True, False], max_iter=[1, 50]),
    "separable:XRAY": dict(n_clusters=K, select=["dist", "max", "rand", "greedy"], anchors=["words", "documents"],
                           min_df=[1, 2, .1]),
    "separable:Hottopixx": dict(n_clusters=K, method=["gradient", "gradient", "lp"], max_words=[300, 5],
                                max_docs=[500, 5], max_iter=[1, 20], noise=[0., .1]),
    "consensus:HypergraphEnsemble": dict(n_clusters=K, n_runs=[1, 3], weights=["weighted", "standard", "full"],
                                         integrate=["bisection", "kmeans", "nmf", "spectral", "meta"],
                                         n_components=[None, 2, [2, 3]]),
    "consensus:ClusterAggregation": dict(n_clusters=K[:-2], threshold=[.5, 0, [.2, .6]], iterate=[True, False],
                                         max_iter=[1, 3], agree=[.5, .9], algorithms=[None, ["kmeans", "bisection"]]),
    "weighting:TrimVocabulary": dict(min_df=[1, 2, .1, 3], max_df=[.5, 1., 3], max_features=[None, 1, 5],
                                     dtype=[None, "float32"]),
    "weighting:TfIdf": dict(sublinear_tf=[True, False], use_idf=[True, False], add_one=[True, False],
                            norm=["l2", "l1", None]),
    "weighting:NormalizedCut": {}}
OFTEN = [*ESTIMATORS, *["hier:HierNMF2"]*5, *["nmf:NMF"]*3,
         *["flat:FlatNMF2", "rank2:Rank2NMF", "bisection:RepeatedBisection"]*2]
WRONG = [None, -1, np.nan, np.inf, "x", 1.5, [], True]
SIZE = {"n_clusters", "n_components", "n_leaves"}

def some_estimator(rng):
    "An estimator with random parameters, seldom a wrong one among them"
    name = pick(rng, OFTEN)
    module, attribute = name.split(":")
    build = getattr(import_module(f"nmf2.{module}"), attribute)
    known = build().get_params()
    params = {}
    for key, values in ESTIMATORS[name].items():
        if key in known and (key in SIZE or rng.random() < .5): params[key] = pick(rng, values)
    if params and rng.random() < .03: params[pick(rng, sorted(params))] = pick(rng, WRONG)
    if "random_state" in known: params["random_state"] = pick(rng, SEEDS)
    return build(**params)

# ---- what is promised of them

UNIT = {"HierNMF2", "FlatNMF2", "HierKMeans", "Rank2NMF", "NMF", "NormalizedCutNMF", "RepeatedBisection",
        "HypergraphEnsemble", "ClusterAggregation"}                        # topics are of length one, or zero
ALIVE = {"HierNMF2", "FlatNMF2", "RepeatedBisection"}            # and none of these is zero
SHARES = {"HierNMF2", "HierKMeans", "HypergraphEnsemble", "LDA"} # rows of `transform` sum to one

def use(est, X, other, threads):
    "Fit an estimator, let it say something of other documents, and go on growing: names and results"
    from numba import set_num_threads
    from sklearn.base import clone
    set_num_threads(threads)
    est, found = clone(est), {}
    if hasattr(est, "fit_transform"): found["fit_transform"] = est.fit_transform(X)
    else: est.fit(X)
    found |= {name: getattr(est, name) for name in ("labels_", "components_") if hasattr(est, name)}
    for way in ("transform", "predict"):
        if hasattr(est, way): found[way] = attempt(lambda: getattr(est, way)(other), ["X"])
    if hasattr(est, "grow"):
        n = est.n_leaves_
        tree = found["tree"] = est.grow(n + 2).tree_
        same = (tree.labels(n) == found["labels_"]).all()
        require(same, f"{type(est).__name__}: labels change when the tree grows on")
    return found

def as_bytes(value):
    "A result in a form to be compared"
    if refused(value): return value
    if hasattr(value, "splits"):
        def told(node): return node.id, node.docs.tolist(), node.outliers.tolist(), repr(node.score)
        return [value.splits, *map(told, value.nodes.values())]
    return [a.tobytes() for a in ((value.toarray(),) if sp.issparse(value) else arrays_in(value))]

def check_topics(name, H, m, signed):
    H = np.asarray(H, float)
    require(H.shape[1] == m and nonnegative(abs(H) if signed else H), f"{name}: topics are not finite and nonnegative")
    length = np.linalg.norm(H, axis=1)
    if name in UNIT: require(((abs(length - 1) < 1e-3) | (length == 0)).all(), f"{name}: topics are not of unit length")
    if name in ALIVE: require((length > 0).all(), f"{name}: a topic is zero")

def check_found(name, found, shape, empty, n_other, signed):
    "All that is promised; `empty` says which documents are, if known, `n_other` how many others there were; `signed`: of any sign"
    (n, m), k = shape, len(found.get("components_", ()))
    if "components_" in found: check_topics(name, found["components_"], m, signed)
    if "labels_" in found: check_labels(found["labels_"], n, k, empty, f"{name}: labels")
    if "fit_transform" in found: check_weights(found["fit_transform"], n, name in SHARES, f"{name}: weights of the fit")
    said = {way: found[way] for way in ("transform", "predict") if way in found and not refused(found[way])}
    if "transform" in said: check_weights(said["transform"], n_other, name in SHARES, f"{name}: weights")
    if "predict" in said: check_labels(said["predict"], n_other, k, None, f"{name}: predicted labels")
    if "tree" in found: check_tree(found["tree"])

def matrices_case(rng, folder):
    "Fit an estimator to an odd matrix, twice, and let it say something of odd documents"
    from numba import config
    n, m = sizes(rng)
    D, E = some_matrix(rng, n, m), some_matrix(rng, pick(rng, [1, 2, 5]), m if rng.random() < .97 else m + 1)
    X, other, est = in_some_form(D, rng), in_some_form(E, rng), some_estimator(rng)
    name, names, before = type(est).__name__, ["X", *est.get_params()], (snapshot(X), snapshot(other))
    (folder/"case.pickle").write_bytes(pickle.dumps((est, X, other)))
    first = attempt(lambda: use(est, X, other, config.NUMBA_NUM_THREADS), names)
    require((snapshot(X), snapshot(other)) == before, f"{name}: its input is changed")
    require(refused(first) or fits(X), f"{name}: a matrix with indices that don't fit is taken")
    second = attempt(lambda: use(est, plain(X), other, 1), names)
    require(refused(first) == refused(second), f"{name}: refused once only: {first if refused(first) else second}")
    if refused(first): return first
    for key in first:
        same = as_bytes(first[key]) == as_bytes(second[key])
        require(same, f"{name}: {key} has other bits on one thread, or from sorted indices")
    known = getattr(X, "dtype", None) == float and nonnegative(D)        # in another type, small weights may be gone
    values = X.toarray() if sp.issparse(X) else np.asarray(X, float)
    signed = not est.__sklearn_tags__().input_tags.positive_only and not nonnegative(values)
    check_found(name, first, (n, m), (D == 0).all(1) if known else None, len(E), signed)
