"""Nodes without features get those of their neighbours, tier by tier."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tvgnn import Graph
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.models import missing_features
from tvgnn.models.missing_features import propagate_features, rows_with_features
from tvgnn.models.smoothed_clustering import SmoothedClusteringConfig, SmoothedClusteringModel, SmoothedView


def _propagated_plainly(z, known, matrix):
    """Node by node, from the nearest tier outwards."""
    z, reached = z.copy(), known.copy()
    while True:
        around = (matrix * reached).sum(1)
        tier = np.flatnonzero(~reached & (around > 0))
        if not tier.size:
            return z, reached
        z[tier] = [(matrix[i] * reached) @ z / around[i] for i in tier]
        reached[tier] = True


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("nodes", "width", "share"), [(1, 1, 0.5), (7, 3, 0.5), (60, 5, 0.1), (60, 1, 0.9)])
def test_equals_the_plain_reference(nodes, width, share, weighted, dtype):
    random = np.random.default_rng(nodes)
    upper = np.triu(random.random((nodes, nodes)) < 1.2 / nodes, 1) * (random.random((nodes, nodes)) + 0.1)
    matrix = upper + upper.T if weighted else (upper + upper.T > 0).astype(float)
    known = random.random(nodes) < share
    z = random.normal(size=(nodes, width)) * known[:, None]
    rows, columns = np.nonzero(matrix)
    weights = torch.tensor(matrix[rows, columns], dtype=dtype) if weighted else None
    adjacency = Adjacency.from_edge_index(torch.tensor(np.stack([rows, columns])), weights, nodes)
    given = torch.tensor(z, dtype=dtype)
    found, reached = propagate_features(given, torch.tensor(known), adjacency)
    expected, expected_reached = _propagated_plainly(z, known, matrix)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6)
    assert reached.tolist() == expected_reached.tolist()
    assert torch.equal(given, torch.tensor(z, dtype=dtype))  # what was given is left as it is


def test_what_lies_too_far_stays_unknown(monkeypatch):
    monkeypatch.setattr(missing_features, "_FARTHEST", 2)
    ends = torch.arange(5)
    path = Adjacency.from_edge_index(torch.stack([ends[1:], ends[:-1]]), None, 5)
    z, reached = propagate_features(torch.tensor([[3.0]] + 4 * [[0.0]]), ends == 0, path)
    assert z.flatten().tolist() == [3, 3, 3, 0, 0]
    assert reached.tolist() == [True, True, True, False, False]


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_of_zeros_are_seen_in_dense_and_sparse_features(sparse):
    x = torch.tensor([[0.0, -1.0], [0.0, 0.0], [2.0, 0.0]])
    given = SparseMatrix.from_csr(
        torch.tensor([0, 1, 2, 3]), torch.tensor([1, 0, 0]), torch.tensor([-1.0, 0.0, 2.0]), 2
    )
    assert rows_with_features(given if sparse else x).tolist() == [True, False, True]
    ones = SparseMatrix.from_csr(torch.tensor([0, 1, 1, 2]), torch.tensor([1, 0]), None, 2)
    assert rows_with_features(ones).tolist() == [True, False, True]


@pytest.mark.parametrize("sparse", [False, True])
def test_a_network_sees_missing_rows_by_their_neighbours(sparse):
    torch.manual_seed(0)
    views = SmoothedView(2, thresholds=(0.5, 0.4)), SmoothedView(1, thresholds=(), unit_rows=False)
    model = SmoothedClusteringModel(SmoothedClusteringConfig(3, 2, views, propagate_missing=True))
    model.mean.copy_(torch.tensor([0.1, 0.2, 0.3]))
    graph = Graph.from_edge_index(np.array([[0, 1], [1, 2]]), num_nodes=4)
    adjacency = Adjacency.from_graph(graph)
    x = torch.rand(4, 3)
    x[2:] = 0
    given = SparseMatrix.from_torch(x.to_sparse()) if sparse else x
    embedding = model.embed(given, adjacency)
    lent = x.clone()
    lent[2] = x[1]
    expected = model.embed(lent, adjacency)
    torch.testing.assert_close(embedding[:3, :2], expected[:3, :2])
    torch.testing.assert_close(embedding[:2, 2], expected[:2, 2])
    assert embedding[3].tolist() == [0, 0, 0]  # nothing leads there
    assert embedding[2, 2] == 0  # a view of the nodes alone has nobody to ask


def test_a_network_without_the_option_takes_zeros_for_features():
    adjacency = Adjacency.from_edge_index(torch.tensor([[0, 1], [1, 0]]), None, 2)
    x = torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
    torch.manual_seed(0)
    config = SmoothedClusteringConfig(3, 2, (SmoothedView(2, (0.5,), unit_rows=False),))
    model = SmoothedClusteringModel(config)
    lending = SmoothedClusteringModel(replace(config, propagate_missing=True))
    lending.load_state_dict(model.state_dict())
    assert not torch.allclose(model.embed(x, adjacency)[1], lending.embed(x, adjacency)[1])
