"""The formulation that timings compare with computes the same loss and gradient as ours."""

import pytest
import torch
from benchmarks.baselines.released import ReleasedFormulation
from benchmarks.records import Measurement, append, read
from benchmarks.timing import clock, interleaved

from tvgnn.graph.adjacency import Adjacency
from tvgnn.models.node_clustering import NodeClusteringConfig, NodeClusteringModel


@pytest.mark.parametrize("pairwise", [False, True])
def test_same_loss_and_gradient(pairwise):
    torch.manual_seed(0)
    upper = torch.triu(torch.rand(20, 20) < 0.3, 1)
    upper[0, 1:] = True  # no isolated node: the released code takes N from the edges
    edges = (upper | upper.T).nonzero().T
    model = NodeClusteringModel(NodeClusteringConfig(6, 3, hidden_channels=8, mlp_channels=5)).double()
    x = torch.randn(20, 6, dtype=torch.float64)
    terms, _ = model.losses(x, Adjacency.from_edge_index(edges, None, 20))
    ours = sum(terms.values())
    released = ReleasedFormulation(model, edges, pairwise).loss(x)
    assert released.item() == pytest.approx(ours.item(), rel=1e-10)
    parameters = list(model.parameters())
    for a, b in zip(torch.autograd.grad(ours, parameters), torch.autograd.grad(released, parameters), strict=True):
        assert torch.allclose(a, b, atol=1e-9)


def test_records_survive_a_round_trip(tmp_path):
    measured = interleaved("sleepless", {"a": clock(list), "b": clock(list)}, rounds=3)
    append(tmp_path / "r.jsonl", measured)
    append(tmp_path / "r.jsonl", measured[:1])
    assert read(tmp_path / "r.jsonl") == [*measured, measured[0]]
    assert all(isinstance(one, Measurement) and one.low <= one.median <= one.high for one in measured)
