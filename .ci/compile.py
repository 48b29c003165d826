"""Have the machine code made that most notebooks need, in two processes, each of which makes a half of it:
two that begin with notebooks make the same twice. In the folder of the package that is to have it."""
import subprocess
import sys

DATA = """
from nmf2.data import planted_tree
from nmf2.weighting import count_pipeline
corpus = planted_tree((2, 3), n_docs=300, overlap=.3, noise=.1, length=60, texts=True, random_state=0)
X = count_pipeline().fit_transform(corpus.X)
"""
FACTORS = """
from nmf2 import NMF, FlatNMF2
FlatNMF2(4).fit(X)
NMF(4).fit(X)
"""
CLUSTERS = """
from nmf2 import TopicTree
from nmf2.bisection import RepeatedBisection
for method in ("rbr", "direct"): RepeatedBisection(4, method=method).fit(X)
TopicTree(4).fit(corpus).support(n_fits=2)
"""
halves = [subprocess.Popen([sys.executable, "-c", DATA + half]) for half in (FACTORS, CLUSTERS)]
sys.exit(max(half.wait() for half in halves))
