"""Slow and plainly right versions of the algorithms, on dense arrays, one small step at a time.

They share no code with the package. Letters as there: X (n_docs, n_terms) ≈ W @ H.
"""
import re
from itertools import combinations, permutations
from math import inf, log, log2

import numpy as np
import scipy.optimize


def nnls(B, y):
    "Nonnegative least squares by trying every set of columns: Kuang and Park (2013), Section 2"
    best, best_error = np.zeros(B.shape[1]), np.linalg.norm(y)
    for size in range(1, B.shape[1] + 1):
        for F in combinations(range(B.shape[1]), size):
            g = np.linalg.lstsq(B[:,F], y, rcond=None)[0]
            error = np.linalg.norm(B[:,F] @ g - y)
            if g.min() >= 0 and error < best_error - 1e-13:
                best, best_error = np.zeros(B.shape[1]), error
                best[list(F)] = g
    return best


def nnls_rows(B, Y):
    "`nnls` for each row of `Y`, with the same columns; ties go to the first column"
    return np.array([nnls(B, y) for y in Y])


def projected_gradient(F, G, R):
    "Size of the projected gradient of ½‖FB' - Y‖² at `F`, given G = B'B and R = YB"
    total = 0.
    for f, g in zip(F.ravel(), (F @ G - R).ravel()):
        if f > 0 or g < 0: total += g*g
    return total**.5


def unit(H):
    "Rows of unit length, and the lengths they had"
    lengths = np.linalg.norm(H, axis=1)
    return H/lengths[:,None], lengths


def rank2_terms_last(X, H, tol=1e-4, min_iter=1, max_iter=1000):
    "Rank-2 NMF in the published order: documents, terms, unit topics; gradients of both sides at the pair"
    first = None
    for i in range(1, max_iter + 1):
        W = nnls_rows(H.T, X)
        H, lengths = unit(nnls_rows(W, X.T).T)
        W = W*lengths
        size = np.hypot(projected_gradient(W, H @ H.T, X @ H.T), projected_gradient(H.T, W.T @ W, X.T @ W))
        if i == 1: first = size
        if i > min_iter and size <= tol*first: break
    return W, H, i


def rank2_docs_last(X, W, tol=1e-4, min_iter=1, max_iter=1000):
    "Rank-2 NMF from weights: terms, unit topics, documents"
    first = None
    for i in range(1, max_iter + 1):
        H, _ = unit(nnls_rows(W, X.T).T)
        W = nnls_rows(H.T, X)
        size = np.hypot(projected_gradient(W, H @ H.T, X @ H.T), projected_gradient(H.T, W.T @ W, X.T @ W))
        if i == 1: first = size
        if i > min_iter and size <= tol*first: break
    return W, H, i


def rank2_extrapolated(X, H, sweeps):
    """Documents last, from unit topics H (2, n_terms), with Nesterov's rule: weights, topics, and which restarts there were."""
    Y, last, best, beta, steps, restarts = unit(H)[0], None, -np.inf, 0, 0, []
    for i in range(1, sweeps + 1):
        W = nnls_rows(Y.T, X)
        explained = np.vdot(Y, W.T @ X)
        if beta > 0 and explained < best:
            restarts.append("back")
            Y, beta, steps = last, 0, 0
            if i == sweeps: return nnls_rows(Y.T, X), Y, restarts
            continue
        best = explained
        if i == sweeps: return W, Y, restarts
        new = unit(nnls_rows(W, X.T).T)[0]
        uphill = beta > 0 and np.vdot(W.T @ W @ Y - W.T @ X, new - last) > 0
        if uphill: restarts.append("uphill")
        steps = 1 if uphill else steps + 1
        beta = max(0, (steps - 1)/(steps + .5))
        Y, last = unit(np.maximum(0, new + beta*(new - last)))[0] if beta else new, new


def ranking(w):
    "Terms by descending weight, ties by number"
    return sorted(range(len(w)), key=lambda j: (-w[j], j))


def mndcg(parent, left, right, variant="published"):
    "Modified NDCG, term by term: Kuang and Park (2013), Section 3; places count from 1"
    m = len(parent)
    present = sum(w > 0 for w in parent)
    if present <= 1: return -3.
    place = {"parent": {}, "left": {}, "right": {}}
    for name, w in (("parent", parent), ("left", left), ("right", right)):
        for i, j in enumerate(ranking(w), 1): place[name][j] = i
    gain, ideal_gain = {}, {}
    for j in range(m):
        i, worse = place["parent"][j], max(place["left"][j], place["right"][j])
        discount = log(m - worse + 1) or log(2)
        if variant == "paper": gain[j] = ideal_gain[j] = log(m - i + 1)/discount
        else:
            gain[j] = log(present - i + 1)/discount if parent[j] > 0 else 0.
            ideal_gain[j] = (log(m - i + 1) if parent[j] > 0 else 1.)/discount
    def summed(gains): return gains[0] + sum(g/log2(t) for t, g in enumerate(gains[1:], 2))
    ideal = summed(sorted(ideal_gain.values(), reverse=True))
    return summed([gain[j] for j in ranking(left)])/ideal * summed([gain[j] for j in ranking(right)])/ideal


class Hier:
    "HierNMF2 by Algorithm 3 of Kuang and Park (2013) and the published program, from given H0 or W0"

    def __init__(self, X, init, imbalance=9., trials=3, **options):
        self.X, self.init, self.imbalance, self.trials, self.options = X, init, imbalance, trials, options
        self.nodes, self.order = {}, []                # id -> dict; ids in order of splitting

    def factorize(self, docs):
        "Topics over all terms, and the documents of each side"
        terms = [j for j in range(self.X.shape[1]) if any(self.X[i,j] for i in docs)]
        sub = self.X[np.ix_(docs, terms)]
        W0, H0 = self.init(np.array(docs), np.array(terms))
        W, h, _ = rank2_docs_last(sub, W0, **self.options) if H0 is None else rank2_terms_last(sub, H0, **self.options)
        H = np.zeros((2, self.X.shape[1]))
        H[:,terms] = h
        left = [i for i, w in zip(docs, W) if w[0] > w[1]]
        return H, left, [i for i, w in zip(docs, W) if w[0] <= w[1]]

    def score(self, docs, topic):
        "Score and factors of a node's split; -1 when there is none"
        if len(docs) <= 3: return -1., None
        H, left, right = self.factorize(docs)
        if not left or not right: return -1., None
        return mndcg(topic, H[0], H[1]), (H, left, right)

    def trial(self, id, docs, topic, smallest):
        kept, dropped, t = docs, [], 0
        while t < self.trials:
            score, split = self.score(kept, topic)
            if score < 0: break
            H, left, right = split
            side = 1 if len(right) < len(left) else 0
            small = (left, right)[side]
            if not len(small) < 1/(1 + self.imbalance)*len(kept): break
            if self.score(small, H[side])[0] >= smallest: break
            t += 1
            if t < self.trials:
                dropped = sorted(dropped + small)
                kept = [i for i in kept if i not in small]
        if t == self.trials: kept, dropped, score, split = docs, [], -2., None
        self.nodes[id] = dict(docs=kept, outliers=dropped, score=score, split=split)

    def grow(self, n_leaves):
        docs = list(range(len(self.X)))
        self.nodes[""] = dict(docs=docs, outliers=[], score=inf, split=self.factorize(docs))
        while len(self.order) + 1 < n_leaves:
            leaves = {id: node for id, node in self.nodes.items() if id + "0" not in self.nodes}
            best = None
            for id, node in leaves.items():                          # in order of creation: the first of equals stays
                if best is None or node["score"] > leaves[best]["score"]: best = id
            if leaves[best]["score"] < 0: break
            positive = [node["score"] for node in leaves.values() if node["score"] > 0]
            smallest = min(positive) if positive else inf
            H, *sides = leaves[best]["split"]
            for c in (0, 1): self.trial(best + str(c), sides[c], H[c], smallest)
            self.order.append(best)
        return self


def hals_half(F, G, R):
    "One pass of HALS over the columns of a factor, given G and R: Cichocki and Phan (2009)"
    F = F.copy()
    for c in range(F.shape[1]):
        if G[c,c] > 0: F[:,c] = np.maximum(F[:,c] + (R[:,c] - F @ G[:,c])/G[c,c], 0)
    return F


def xu_update(X, U, V):
    "One iteration of Xu, Liu and Gong (2003), Equations 8 to 11: X terms × documents, columns of U of unit length"
    U = U*(X @ V)/(U @ V.T @ V)
    V = V*(X.T @ U)/(V @ U.T @ U)
    lengths = np.sqrt((U*U).sum(0))
    return U/lengths, V*lengths


def anls(X, W, H, turns):
    "Alternating nonnegative least squares: weights, then topics, which are brought to length one"
    for _ in range(turns):
        W = nnls_rows(H.T, X)
        H, lengths = unit(nnls_rows(W, X.T).T)
        W = W*lengths
    return W, H


def matched_share(labels, classes):
    "Accuracy by trying every matching of clusters with classes"
    clusters, names = sorted(set(labels)), sorted(set(classes))
    names += [None]*(len(clusters) - len(names))
    best = 0
    for match in permutations(names, len(clusters)):
        mapped = dict(zip(clusters, match))
        best = max(best, sum(mapped[r] == c for r, c in zip(labels, classes)))
    return best/len(labels)


def shares(values):
    "Share of each value"
    return {v: sum(w == v for w in values)/len(values) for v in set(values)}


def information(labels, classes):
    "Mutual information in bits: Xu, Liu and Gong (2003), Equation 13"
    p, q, both = shares(labels), shares(classes), shares(list(zip(labels, classes)))
    return sum(b*log2(b/(p[r]*q[c])) for (r, c), b in both.items())


def bits(values):
    "Entropy of a clustering"
    return -sum(p*log2(p) for p in shares(values).values())


def mixture(labels, classes):
    "Purity and normalized entropy, cluster by cluster"
    pure = mixed = 0
    for r in set(labels):
        inside = [c for l, c in zip(labels, classes) if l == r]
        pure += max(inside.count(c) for c in set(inside))/len(labels)
        mixed += len(inside)/len(labels)*bits(inside)
    return pure, mixed/log2(len(set(classes))) if len(set(classes)) > 1 else 0.


def attached(tree):
    "For each document the id of the node where it hangs: its leaf, or the node that set it aside"
    at = {}
    for node in tree.nodes.values():
        for i in node.outliers: at[int(i)] = node.id
        if not node.children:
            for i in node.docs: at[int(i)] = node.id
    return [at[i] for i in range(tree.n_docs)]


def meetings(tree, use):
    "All pairs of some documents, each with those among them that hang in or below the smallest node with both"
    at = attached(tree)
    for i, j in combinations(use, 2):
        common = at[i]
        while not at[j].startswith(common): common = common[:-1]
        yield i, j, [d for d in use if at[d].startswith(common)]


def dendrogram_purity(tree, classes):
    "Over all pairs of a class, the share of the class in the smallest node with both; None is no class"
    use, values = [i for i, c in enumerate(classes) if c is not None], []
    for i, j, inside in meetings(tree, use):
        if classes[i] == classes[j]: values.append(sum(classes[d] == classes[i] for d in inside)/len(inside))
    return sum(values)/len(values) if values else 1.


def dasgupta_cost(tree, X):
    "Over all pairs, cosine times the documents in the smallest node with both"
    total = 0.
    for i, j, inside in meetings(tree, range(len(X))):
        lengths = np.linalg.norm(X[i])*np.linalg.norm(X[j])
        if lengths > 0: total += X[i] @ X[j]/lengths*len(inside)
    return total


def tree_f_score(tree, classes):
    "For each class the best F1 of precision and recall over all nodes, by what they kept"
    total, n = 0., sum(c is not None for c in classes)
    for c in set(classes) - {None}:
        size, best = classes.count(c), 0.
        for node in tree.nodes.values():
            docs = [d for d in node.docs if classes[d] is not None]
            right = sum(classes[d] == c for d in docs)
            if right: best = max(best, 2/(len(docs)/right + size/right))
        total += size/n*best
    return total


def word_sets(texts, window=None):
    "The words of each text, or of each window that slides along it"
    sets = []
    for text in texts:
        if window is None: sets.append(set(text))
        elif text: sets += [set(text[p:p+window]) for p in range(max(len(text) - window + 1, 1))]
    return sets


def umass(topic, sets, eps=1.):
    "Mimno and others (2011), Equation 1; words that don't occur are left out"
    def count(*words): return sum(all(w in s for w in words) for s in sets)
    return sum(log((count(a, b) + eps)/count(a)) for a, b in combinations([w for w in topic if count(w)], 2))


def npmi(topic, sets):
    "Mean over pairs of normalized pointwise mutual information"
    def share(*words): return sum(all(w in s for w in words) for s in sets)/len(sets)
    values = []
    for a, b in combinations([w for w in topic if share(w)], 2):
        p = share(a, b)
        values.append(-1. if p == 0 else 1. if p == 1 else log(p/(share(a)*share(b)))/-log(p))
    return sum(values)/len(values)


def spectral(X, k, normalized_cut):
    "The leading eigenvectors of the similarities of all documents: Xu, Liu and Gong (2003), Equation 18"
    S = X @ X.T
    if normalized_cut: S = S/np.sqrt(np.outer(S.sum(0), S.sum(0)))
    return np.linalg.eigh(S)[1][:,::-1][:,:k]


def pddp(X, k, per_document=False):
    "Principal direction divisive partitioning with a dense SVD for each split: Race (2008), Section 0.1.4; the clusters as a list of sets"
    clusters = [list(range(len(X)))]
    def worth(cluster):
        C = X[cluster] - X[cluster].mean(0)
        return (C**2).sum()/(len(cluster) if per_document else 1)
    while len(clusters) < k:
        cluster = max(clusters, key=worth)
        U = np.linalg.svd(X[cluster] - X[cluster].mean(0), full_matrices=False)[0]
        clusters.remove(cluster)
        clusters += [[i for i, u in zip(cluster, U[:,0]) if u <= 0], [i for i, u in zip(cluster, U[:,0]) if u > 0]]
    return {frozenset(cluster) for cluster in clusters}


def composite_lengths(X, labels, k):
    "The length of the sum of the documents of each cluster; rows of unit length"
    U, _ = unit(X)
    return [np.linalg.norm(U[labels == r].sum(0)) for r in range(k)]


def cluto_criterion(X, labels, name):
    "The seven criteria of Zhao and Karypis (2004), Table 1, from all pairs of documents; what should be small is negative"
    U, _ = unit(X)
    S, clusters = U @ U.T, [np.flatnonzero(labels == r) for r in sorted(set(labels))]
    i1 = sum(S[np.ix_(c, c)].sum()/len(c) for c in clusters)
    i2 = sum(S[np.ix_(c, c)].sum()**.5 for c in clusters)
    e1 = sum(len(c)*S[c].sum()/S[np.ix_(c, c)].sum()**.5 for c in clusters)
    cut = [(S[c].sum() - S[np.ix_(c, c)].sum())/S[np.ix_(c, c)].sum() for c in clusters]
    return dict(i1=i1, i2=i2, e1=-e1, h1=i1/e1, h2=i2/e1, g1=-sum(cut), g1p=-sum(len(c)**2*g for c, g in zip(clusters, cut)))[name]


def best_move(X, labels, name):
    "The largest gain of a criterion by moving one document to another cluster, no cluster left empty"
    now, k, best = cluto_criterion(X, labels, name), max(labels) + 1, -inf
    for i in range(len(X)):
        if (labels == labels[i]).sum() == 1: continue
        for r in set(range(k)) - {labels[i]}:
            moved = labels.copy()
            moved[i] = r
            best = max(best, cluto_criterion(X, moved, name) - now)
    return best


def spherical_kmeans(X, k, rng, max_iter=100):
    "Batch k-means with centroids of unit length, from k documents; an emptied cluster keeps its centroid"
    U, _ = unit(X)
    C, labels = U[rng.choice(len(U), k, replace=False)], None
    for _ in range(max_iter):
        before, labels = labels, (U @ C.T).argmax(1)
        if before is not None and (labels == before).all(): break
        C = np.array([unit(U[labels == r].sum(0)[None])[0][0] if (labels == r).any() else C[r] for r in range(k)])
    return labels


def cluster_similarities(X, labels, r):
    "ISim, ISdev, ESim, ESdev of a cluster in CLUTO's report, from all pairs of documents"
    U, _ = unit(X)
    inside, outside = U[labels == r], U[(labels != r) & (labels >= 0)]
    own, other = (inside @ inside.T).mean(1), (inside @ outside.T).mean(1)
    return own.mean(), own.std(), other.mean(), other.std()


def _away(P, others, affine):
    "Distance of each row of P from the plane through the rows `others`, by least squares"
    if not len(others): return np.linalg.norm(P, axis=1)
    base = P[others[0]] if affine else np.zeros(P.shape[1])
    B = (P[others[1:] if affine else others] - base).T
    D = (P - base).T
    return np.linalg.norm(D - B @ np.linalg.lstsq(B, D, rcond=None)[0], axis=0) if B.shape[1] else np.linalg.norm(D, axis=0)


def corners(P, k, affine=True, clean_up=True):
    "FastAnchorWords of Arora and others (2013), Algorithm 4; with neither, successive projection"
    chosen = []
    for _ in range(k): chosen.append(int(_away(P, chosen, affine).argmax()))
    for i in range(k if clean_up else 0):
        chosen[i] = int(_away(P, chosen[:i] + chosen[i+1:], affine).argmax())
    return chosen


def cooccurrence(X):
    "How often two different places of a document hold two words, pair by pair"
    docs = [c for c in X if c.sum() >= 2]
    Q = np.zeros((X.shape[1],)*2)
    for c in docs:
        places = [w for w, n in enumerate(c) for _ in range(int(n))]
        for a in range(len(places)):
            for b in range(len(places)):
                if a != b: Q[places[a],places[b]] += 1/(len(places)*(len(places) - 1)*len(docs))
    return Q


def simplex_least_squares(B, y):
    "The mixture of the columns of B that is nearest to y, by trying every set of columns"
    best, least = None, inf
    for size in range(1, B.shape[1] + 1):
        for F in combinations(range(B.shape[1]), size):
            K = np.block([[B[:,F].T @ B[:,F], np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
            c = np.linalg.solve(K, np.r_[B[:,F].T @ y, 1])[:size]
            error = np.linalg.norm(y - B[:,F] @ c)
            if c.min() >= -1e-12 and error < least - 1e-13:
                best, least = np.zeros(B.shape[1]), error
                best[list(F)] = c
    return best


def em(B, y, turns):
    "The mixture of the columns of B that makes y likeliest, by expectation and maximization"
    c = np.full(B.shape[1], 1/B.shape[1])
    for _ in range(turns): c = c*(B.T @ np.divide(y, B @ c, out=np.zeros_like(y), where=y > 0))/y.sum()
    return c


def xray(P, k, select):
    "XRAY of Kumar, Sindhwani and Kambadur (2013), Algorithm 1; points are rows of P"
    X, chosen, H = P.T, [], np.zeros((len(P), 0))
    for _ in range(k):
        R = X - X[:,chosen] @ H.T
        sizes = np.where(X.any(0), (X*X).sum(0), inf)
        if select == "greedy": score = (np.maximum(R.T @ X, 0)**2).sum(0)/sizes
        else:
            i = (R*R).sum(0).argmax() if select == "max" else (np.maximum(R.T @ X, 0)**2).sum(1).argmax()
            score = R[:,i] @ X/np.where(X.any(0), X.sum(0), inf)
        score[chosen] = -inf
        chosen.append(int(score.argmax()))
        H = nnls_rows(X[:,chosen], P)
    return chosen, H


def squish(z, j):
    "The nearest x with 0 <= x_i <= x_j <= 1, by looking at many x_j"
    def at(top):
        x = np.clip(z, 0, top)
        x[j] = top
        return x
    return min((at(top) for top in np.linspace(0, 1, 2001)), key=lambda x: ((x - z)**2).sum())


def incidence(W, labels, weights):
    "The columns of one run of NMF, document by document: Shinnou and Sasaki (2007), Figure 1"
    out = np.zeros(W.shape)
    for i, w in enumerate(W):
        if w.sum() == 0 and (labels is None or weights != "standard"): continue
        c = int(np.argmax(w)) if labels is None else labels[i]
        if c < 0: continue
        if weights == "full": out[i] = w/w.sum()
        else: out[i,c] = 1 if weights == "standard" else w[c]/w.sum()
    return out


def co_association(labelings):
    "In how many clusterings two documents are together; −1 is together with nobody, not even itself"
    n = len(labelings[0])
    return np.array([[sum(labels[i] == labels[j] >= 0 for labels in labelings) for j in range(n)] for i in range(n)])


def aggregation(labelings, tolerance):
    "The aggregation matrix without the entries up to the tolerance: Race (2008), Section 0.3"
    M = co_association(labelings).astype(float)
    M[M <= tolerance] = 0
    return M


def jaccard(labelings):
    "Documents in both of two clusters, over documents in either"
    clusters = [{i for i, own in enumerate(labels) if own == c} for labels in labelings for c in range(max(labels) + 1)]
    return np.array([[len(a & b)/len(a | b) if a | b else 0. for a in clusters] for b in clusters])


def stability(labelings, labels):
    "How often documents meet the others of their cluster, pair by pair; and the mean of each cluster"
    M, docs = co_association(labelings)/len(labelings), np.zeros(len(labels))
    for i, c in enumerate(labels):
        others = [j for j, d in enumerate(labels) if d == c and j != i]
        if c >= 0: docs[i] = np.mean([M[i,j] for j in others]) if others else 1
    return docs, np.array([docs[labels == c].mean() for c in range(max(labels) + 1)])


class Frame:
    "A data frame, as far as it matters: names of columns come out when it is gone through"
    ndim = 2
    def __init__(self, values): self.values, self.shape = values, values.shape
    def to_numpy(self): return self.values
    def __iter__(self): return iter("abcdefghijklmnopqrstuvwxyz"[:self.shape[1]])


def is_address(run): return "@" in run or "://" in run or any(map(str.isalnum, run.split(".")[1:-1]))
def words_in(run): return re.findall(r"\w\w+", run)
def whole_words_in(run):
    run = re.sub(r"(?<!\d)%[^\w\s%]*[\d.*$]*(?:(?:hh?|ll?|[jqtz])[dioux]|p[a-z])\b", " ", run)      # places of formats, as %lu
    return words_in(re.sub(r"\w*n['’]t\b|['’](?:ll|re|ve)\b", " ", run))


def returning(texts, words):
    "For each word: in how many of the texts with it it comes again outside addresses and contractions, over how many that should be, five added to both; at most one"
    having = {word: [] for word in words}
    for runs in (text.lower().split() for text in texts):
        for word in words:
            if any(word in words_in(run) for run in runs): having[word].append(sum(whole_words_in(run).count(word) for run in runs if not is_address(run)))
    usual = np.mean([n > 1 for counts in having.values() for n in counts])
    return {word: min(1, (sum(n > 1 for n in counts) + 5)/(len(counts)*usual + 5)) for word, counts in having.items()}


def elsewhere(text): return {word for run in text.lower().split() if not is_address(run) for word in whole_words_in(run)}


def outside(texts, words):
    "For each word: twice the share of the texts with it that have it outside addresses and contractions, one added to both; at most one, squared"
    def n_texts(word, words_of): return sum(word in words_of(text) for text in texts)
    def anywhere(text): return {word for run in text.lower().split() for word in words_in(run)}
    return {word: min(1, 2*(n_texts(word, elsewhere) + 1)/(n_texts(word, anywhere) + 1))**2 for word in words}


def different(texts, words):
    "For each word: how many different texts, or short ones, have it over how many have it, five added below and, above, what five have on average"
    def n_texts(texts, word): return sum(word in {word for run in text.lower().split() for word in words_in(run)} for text in texts)
    once = {text.lower() if len(re.findall(r"\w\w+", text)) >= 20 else i: text for i, text in enumerate(texts)}       # of long texts
    counts = {word: (n_texts(once.values(), word), n_texts(texts, word)) for word in words}
    usual = (sum(a for a, _ in counts.values()) + 1)/(sum(b for _, b in counts.values()) + 1)
    return {word: (a + 5*usual)/(b + 5) for word, (a, b) in counts.items()}


def runs_of(text):
    "The words of a text with two letters or more, cut where anything but a space, a hyphen or a line's end is between two"
    return [re.split(r"[ \n-]", run) for run in re.findall(r"(?:\w\w+(?:[ \n-](?=\w\w))?)+", text.lower())]


def alike(texts, words, small):
    "For each word: in how many texts of twenty words or more it is between the same two, of which the second is small, at most"
    found = {word: {} for word in words}
    known = {*words, *small}
    for i, text in enumerate(texts):
        runs = runs_of(text)
        if sum(map(len, runs)) < 20: continue
        for run in runs:
            for before, word, after in zip(run, run[1:], run[2:]):
                if word in words and before in known and after in small: found[word].setdefault((before, after), set()).add(i)
    return {word: max(map(len, places.values()), default=0) for word, places in found.items()}


def wanting(texts, words, small):
    "Those of some words that end like participles and are before the same small one in seven of ten texts that have them, which have twenty words or more"
    def ending(word): return word.endswith(("ed", "ing", "ly"))
    out = set()
    for word in filter(ending, words):
        having = [runs for runs in map(runs_of, texts) if any(word in run for run in runs)]
        def n_before(one): return sum(any((word, one) in zip(run, run[1:]) for run in runs) for runs in having if sum(map(len, runs)) >= 20)
        if having and max(map(n_before, small)) >= max(1, .7*len(having)): out.add(word)
    return out


def unfinished(texts, words, small):
    """Those of some words that are verbs and want more, in texts of fewer than twenty words, if these are seven of ten that have the word: in -ed, if a small
    word is right behind it in seven of ten; in -ing, if it ends a run of words in one of twenty of the short ones at most, and begins an object in one of ten."""
    objects, out = set(small) & set("the an other another any its their this these to".split()), set()
    for word in words:
        having = [runs for runs in map(runs_of, texts) if any(word in run for run in runs)]
        short = [runs for runs in having if sum(map(len, runs)) < 20]
        def n(which): return sum(any(a == word and which(b) for run in runs for a, b in zip(run, [*run[1:], None])) for runs in short)
        if len(short) < .7*len(having) or not having: continue
        if word.endswith("ed") and n(lambda b: b in small) >= .7*len(having): out.add(word)
        if word.endswith("ing") and n(lambda b: b is None) <= .05*len(short) and n(lambda b: b in objects) >= .1*len(short): out.add(word)
    return out


def smoothed_npmi(texts, a, b):
    "Normalized pointwise mutual information of two words in texts, one text added to those with both and to those that chance would give"
    some = [elsewhere(text) for text in texts]
    n_a, n_b, both = sum(a in words for words in some), sum(b in words for words in some), sum({a, b} <= words for words in some)
    return np.log((both + 1)/(n_a*n_b/len(texts) + 1))/-np.log((both + 1)/(len(texts) + 2))


def title_words(X, labels, below, beside, words, worth, C):
    """Numbers of all words in turn: those that most documents below a node gain that have none of the words before, words independent in each leaf.

    X says which documents have which words; a word's gain is times its worth, its contrast to the power 1.5, and one plus 1.2 times how much it goes with those before.
    In each leaf a word counts as having as many documents as it has of those with the leaf's champion, the word that gains most there, at most all.
    Once fewer than one in sixteen documents have none of the words, all count again.
    """
    here, near = np.isin(labels, below), np.isin(labels, [*below, *beside])
    def worths(j):
        p, q, r = X[here,j].mean(), X[labels >= 0,j].mean(), X[near,j].mean()
        return worth[j]*max(0, log(p/q) + .5*log(p/r))**1.5 if p > 0 else 0.
    order, since, parts = [], [], {}
    for leaf in below:
        share = {j: X[labels == leaf,j].mean() for j in words}
        champion = max(words, key=lambda j: share[j]*worths(j), default=None)
        for j in words: parts[leaf,j] = min(share[j]/share[champion], 1) if share[champion] > 0 else 0
    def without(leaf): return (labels == leaf).sum()*np.prod([1 - parts[leaf,j] for j in since])
    while len(order) < len(words):
        def gain(j): return worths(j)*sum(without(leaf)*parts[leaf,j] for leaf in below)*max(0, 1 + 1.2*np.mean([C[j,i] for i in order] or [0]))
        order.append(max((j for j in words if j not in order), key=gain))
        since.append(order[-1])
        if sum(map(without, below)) < here.sum()/16: since.clear()
    return order


def roots_of(X, labels):
    "For each cluster the square roots of the summed documents of length one, of length one, (n_terms, k)"
    topics = []
    for c in range(max(labels) + 1):
        total = sum(x/np.sqrt((x**2).sum()) for x, label in zip(X, labels) if label == c)
        topics.append(np.sqrt(total)/np.linalg.norm(np.sqrt(total)))
    return np.array(topics).T


def merges(sums):
    "Merge the two clusters whose union loses least of the lengths of the sums, until there is one: pairs of numbers, and what is lost"
    sums, made = {c: s.astype(float) for c, s in enumerate(sums)}, []
    while len(sums) > 1:
        def loss(pair): return np.linalg.norm(sums[pair[0]]) + np.linalg.norm(sums[pair[1]]) - np.linalg.norm(sums[pair[0]] + sums[pair[1]])
        a, b = min(((a, b) for a in sums for b in sums if a < b), key=loss)
        made.append(((a, b), loss((a, b))))
        sums[a] = sums[a] + sums.pop(b)
    return made


def length(sums, some):
    "The length of the sum of some clusters"
    return np.linalg.norm(sum(sums[c] for c in some))


def groups(sums, n):
    "Clusters in groups, a set each: by merging, and then each cluster in turn goes where the lengths of the groups add up to most"
    found = [{c} for c in range(len(sums))]
    for (a, b), _ in merges(sums)[:len(sums) - n]:
        one, other = (next(group for group in found if c in group) for c in (a, b))
        found.remove(other)
        one |= other
    def with_c_in(group, c): return [other - {c} | ({c} if other is group else set()) for other in found]
    def worth(some): return sum(length(sums, group) for group in some)
    moved = True
    while moved:
        moved = False
        for c in range(len(sums)):
            if {c} in found: continue
            best = max((with_c_in(group, c) for group in found), key=worth)
            if worth(best) > worth(found)*(1 + 1e-9): found, moved = best, True
    return found


def divided(sums, units):
    "Units, a set of clusters each, in two, and both sides again: pairs of sets, and what is lost if they are merged"
    if len(units) < 2: return []
    two = groups(np.array([sum(sums[c] for c in unit) for unit in units]), 2)
    sides = [[units[u] for u in side] for side in two]
    a, b = (frozenset().union(*side) for side in sides)
    loss = length(sums, a) + length(sums, b) - length(sums, a | b)
    return [(frozenset((a, b)), loss), *divided(sums, sides[0]), *divided(sums, sides[1])]


def grouped(sums, n):
    "The divisions of a tree of clusters whose best cut has `n` groups"
    broad = groups(sums, n)
    return sum((divided(sums, [frozenset([c]) for c in group]) for group in broad), divided(sums, list(map(frozenset, broad))))


def phrases(texts, words, least=5, others=(), links=()):
    """Pairs of words that come together: {(first, second, link): documents with both together, with the first, with the second,
    the words that are nearly always before them, and after them: two at most}. Between the two is nothing, or what most often links them."""
    def apart(text):
        lines = text.split("\n")
        for i in range(len(lines) - 2, -1, -1):                # a line of less than two thirds of one beside it ends what is said
            if 3*len(lines[i]) < 2*max(len(lines[j]) for j in (i - 1, i + 1) if j >= 0): yield i
    def parted(text):
        lines = text.split("\n")
        for i in apart(text): lines[i] += "\n"
        return "\n".join(lines)
    texts = [parted(text) for text in texts]
    small = {word for link in links for word in link.split()}
    cut = [[(m.group(), m.start(), m.end()) for m in re.finditer(r"\b\w\w+\b", text.lower()) if m.group() not in small] for text in texts]
    def alone(word): return sum(any(w == word for w, _, _ in tokens) for tokens in cut)
    def together(run, at, link):
        def starts(text, some):
            gaps = [text[end:start].lower() for (_, _, end), (_, start, _) in zip(some, some[1:])]
            if [word for word, _, _ in some] != list(run): return False
            linked = gaps.pop(at) if link else " "
            right = linked[0] in " \n" and not re.search(r"\n\s*\n", linked) and " ".join(linked.split()) == link and (linked[-1] in " \n'") if link else True
            return right and all(gap in (" ", "-", "\n") for gap in gaps)
        return sum(any(starts(text, tokens[i:i+len(run)]) for i in range(len(tokens))) for text, tokens in zip(texts, cut))
    found = {}
    def best_link(a, b): return max(links, key=lambda link: (together((a, b), 0, link), link))
    pairs = list(permutations(sorted(words), 2))
    for a, b, link in [(*pair, "") for pair in pairs] + [(*pair, best_link(*pair)) for pair in pairs if links]:
        n, first, second = together((a, b), 0, link), alone(a), alone(b)
        if not (n >= least and n >= .4*min(first, second) and n*n >= .1*first*second): continue
        before, after = [], []
        for _ in range(2):
            run, at = [*before, a, b, *after], len(before)
            longer = [(together([*run, word], at, link), "after", word) for word in set(others) - set(run)]
            longer += [(together([word, *run], at + 1, link), "before", word) for word in set(others) - set(run)]
            n_longer, side, word = max(longer, default=(0, "", ""))
            if n_longer < .7*n: break
            if side == "before": before.insert(0, word)
            else: after.append(word)
        found[a, b, link] = n, first, second, " ".join(before), " ".join(after)
    return found


def found_again(tree, other, rows):
    "For each node of a tree the largest Jaccard coefficient with a node of another one of the documents `rows`; and which of these stay"
    best, stays = [], np.zeros(len(rows), bool)
    for node in tree.nodes.values():
        own = set(node.docs) & set(rows)
        shares = [len(own & there)/len(own | there) for there in ({rows[i] for i in again.docs} for again in other.nodes.values()) if own | there]
        best.append(max(shares) if own else np.nan)
        if node.children or not own: continue
        counterpart = list(other.nodes.values())[int(np.argmax(shares))]
        stays[[i for i in counterpart.docs if rows[i] in own]] = True
    return np.array(best), stays


def length_of_sum(X, rows):
    "How long the sum of some documents is, each of unit length"
    total = np.zeros(X.shape[1])
    for i in rows:
        if X[i].any(): total = total + X[i]/np.linalg.norm(X[i])
    return np.linalg.norm(total)


def gain_of_cut(X, side):
    "What two sides are worth apart, beyond what they are together: the criterion I2"
    return sum(length_of_sum(X, np.flatnonzero(side == s)) for s in (0, 1)) - length_of_sum(X, range(len(X)))


def would_stay(X, labels, k):
    "How many documents of a topic would go to it, had it been made of the others in it: nonnegative least squares with all topics, roots of sums"
    units = [x/np.linalg.norm(x) if x.any() else x for x in X]
    topics, stay = sorted(set(labels.tolist()) - {-1}), 0
    def topic(c, without=None): return np.sqrt(sum((units[i] for i in np.flatnonzero(labels == c) if i != without), np.zeros(X.shape[1])))
    fixed = {c: topic(c)/np.linalg.norm(topic(c)) for c in topics}
    for i in np.flatnonzero(labels == k):
        cosine = np.array([units[i] @ fixed[c] for c in topics])
        rest = topic(k, i)
        cosine[topics.index(k)] = units[i] @ rest/np.linalg.norm(rest) if rest.any() else 0
        G = np.array([[fixed[a] @ fixed[b] for b in topics] for a in topics])
        L = np.linalg.cholesky(G + 1e-12*np.eye(len(G)))
        weights, _ = scipy.optimize.nnls(L.T, np.linalg.solve(L, cosine))
        stay += topics[int(weights.argmax())] == k
    return stay


def word_mixture(X, start, alpha, rounds, least=1e-4):
    """Rounds of EM for documents that are sets of words: the shares of documents, the criterion of each round, and who is held.

    When nobody belongs most to a cluster, the documents that began in it are put back, and count for it alone from the next round on.
    """
    k, words, held = max(start) + 1, [set(np.flatnonzero(x)) for x in X], {}
    df = np.array([sum(j in some for some in words) for j in range(X.shape[1])])
    q, criteria = df/df.sum(), []
    shares = np.array([[float(label == c and len(some) > 0) for c in range(k)] for label, some in zip(start, words)])
    for _ in range(rounds):
        S = np.array([[sum(shares[i,c] for i, some in enumerate(words) if j in some) for j in range(X.shape[1])] for c in range(k)])
        sizes = shares.sum(0)
        P = (S + alpha*q)/(S.sum(1, keepdims=True) + alpha)
        pi, total = (sizes + 1)/(sizes.sum() + k), 0.
        for i, some in enumerate(words):
            likely = np.array([pi[c]*np.prod([P[c,j]/q[j] for j in some]) for c in range(k)])
            shares[i] = likely/likely.sum() if some else 0
            shares[i][shares[i] < least] = 0
            if i in held: shares[i] = np.arange(k) == held[i]
            total += np.log(likely.sum()) if some else 0
        found = [held.get(i, shares[i].argmax()) for i, some in enumerate(words) if some]
        held |= {i: start[i] for i, some in enumerate(words) if some and start[i] not in found}
        prior = sum(alpha*q[j]*np.log(P[c,j]/q[j]) for c in range(k) for j in range(X.shape[1]) if q[j] > 0) + np.log(pi).sum()
        criteria.append((total + prior)/len(words))
    return shares, criteria, held
