"""Graphs of a handful of nodes, where every component counts."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from tvgnn import Graph, TVClustering
from tvgnn.errors import ClusteringWarning
from tvgnn.estimators.quality import candidates
from tvgnn.graph.adjacency import Adjacency


def _chain_of_cliques(number: int, size: int) -> sp.csr_array:
    adjacency = np.kron(np.eye(number), 1 - np.eye(size))
    for last in range(size - 1, number * size - 1, size):
        adjacency[last, last + 1] = adjacency[last + 1, last] = 1
    return sp.csr_array(adjacency)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("number", "size"), [(2, 2), (2, 3), (2, 4), (2, 5), (3, 3), (3, 4), (4, 5)])
def test_cliques_in_a_chain_are_found_from_the_graph_alone(number, size, seed):
    model = TVClustering(number, preset="quality", features="spectral", random_state=seed)
    labels = model.fit_predict(Graph.from_scipy(_chain_of_cliques(number, size)))
    blocks = labels.reshape(number, size)
    assert (blocks == blocks[:, :1]).all()
    assert len(set(labels)) == number


def test_one_column_each_node_keeps_what_the_edges_say():
    model = TVClustering(2, preset="quality", random_state=0)
    with pytest.warns(ClusteringWarning, match="no two nodes have a feature in common"):
        labels = model.fit_predict(np.eye(8), adjacency=_chain_of_cliques(2, 4))
    assert labels[:4].tolist() == [labels[0]] * 4
    assert labels[4:].tolist() == [1 - labels[0]] * 4


@pytest.mark.parametrize("measured", [200_000, 150])
def test_mean_distance_over_all_edges_or_those_of_some_nodes(measured, monkeypatch):
    monkeypatch.setattr(candidates, "_MEASURED", measured)
    random = np.random.default_rng(0)
    graph = Graph.from_edge_index(random.integers(0, 200, (2, 400)), random.random(400), num_nodes=200)
    adjacency = Adjacency.from_graph(graph)
    z = torch.from_numpy(random.normal(size=(200, 8)).astype(np.float32))
    edges = candidates._edges_to_measure(adjacency)
    rows = adjacency.rows() % max(1, adjacency.num_entries // measured) == 0
    sources, targets = adjacency.rows()[rows], adjacency.indices[rows].long()
    assert edges.num_entries == len(sources) <= adjacency.num_entries
    distance = candidates._mean_distance(z, edges, "auto")
    assert distance == pytest.approx(float((z[sources] - z[targets]).abs().sum(1).mean()), rel=1e-5)
    assert candidates._mean_distance(torch.ones_like(z), edges, "auto") == 1.0


@pytest.mark.parametrize("ratio", [0.0, 1e-300, 1e-200, 1e-30])
def test_a_direction_that_says_next_to_nothing_becomes_zero(ratio):
    z = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    mean, scale = candidates._weights(z, np.array([2.0, 1.0, ratio]))
    assert scale.dtype == np.float32
    assert np.isfinite(scale).all()
    assert np.abs((z - mean) / scale)[:, 2].max() < 1e-6 < np.abs((z - mean) / scale)[:, 1].max()
