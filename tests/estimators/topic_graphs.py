"""Citation graphs with known topics, and how well they are found, which the tests of the quality preset share."""

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

from tvgnn import Graph, TVClustering


def topics(nodes=90, words=60, clusters=3, seed=0, scale=1):
    """Documents that mostly cite their own topic and mostly use its words, as a Graph with known topics."""
    random = np.random.default_rng(seed)
    y = np.sort(np.arange(nodes) % clusters)
    same = y[:, None] == y[None, :]
    upper = np.triu(random.random((nodes, nodes)) < np.where(same, 0.15, 0.01), 1)
    own = np.arange(words)[None, :] % clusters == y[:, None]
    x = (random.random((nodes, words)) < np.where(own, 0.2, 0.05)) * float(scale)
    return Graph.from_scipy(sp.csr_array((upper + upper.T).astype(float)), x=sp.csr_array(x), y=y)


def fitted_and_nmi(graph, clusters, **options):
    """One run of the quality preset, and its agreement with the known classes."""
    model = TVClustering(clusters, preset="quality", n_init=1, random_state=0, **options).fit(graph)
    return model, normalized_mutual_info_score(graph.y, model.labels_)
