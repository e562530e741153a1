"""The names of the methods, and TVGNN under the contract of the baselines."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from tvgnn import Graph
from tvgnn.baselines import BASELINES, GraphClusterer
from tvgnn.errors import GraphError
from tvgnn.experiments.methods import CLUSTERING_METHODS

TABLE = [
    *("spectral", "deepwalk", "node2vec", "netmf", "tadw", "bane", "tene", "gae", "vgae"),
    *("diffpool", "mincut", "dmon", "abl1", "abl2", "abl3"),
]


def test_names_are_the_tables():
    assert list(BASELINES) == TABLE
    assert list(CLUSTERING_METHODS) == [*TABLE[:12], "tvgnn", "tvgnn-released", *TABLE[12:]]
    assert all(issubclass(method, GraphClusterer) for method in BASELINES.values())


def test_tvgnn_keeps_the_contract():
    adjacency = sp.block_diag([np.ones((8, 8)), np.ones((12, 12))])
    graph = Graph.from_scipy(adjacency, x=np.repeat(np.eye(2), [8, 12], axis=0))
    small = {"max_iter": 100, "hidden_channels": 16, "mlp_channels": 8, "learning_rate": 1e-2}
    method = CLUSTERING_METHODS["tvgnn"](2, random_state=0, **small)
    first, again = method.fit(graph), clone(method).fit(graph)
    assert first.labels_.tolist() == [1] * 8 + [0] * 12
    assert (first.assignments_ == again.assignments_).all()
    with pytest.raises(ValueError, match="ask for fewer clusters"):
        clone(method).set_params(n_clusters=30).fit(graph)
    with pytest.raises(GraphError, match="features"):
        clone(method).fit(graph.with_features(None))
