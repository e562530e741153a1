from dataclasses import replace

import pytest
import torch

from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph
from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.layers import by_rows
from tvgnn.models import NodeClusteringConfig, NodeClusteringModel

CONFIG = NodeClusteringConfig(6, 3, hidden_channels=8, mlp_channels=5)


def path_graph(nodes):
    ends = torch.arange(nodes - 1)
    return Adjacency.from_graph(Graph.from_edge_index(torch.stack([ends, ends + 1]), num_nodes=nodes))


@pytest.mark.parametrize("sparse", [False, True])
def test_whole_model_compiles_without_graph_breaks(sparse):
    torch.manual_seed(0)
    model, adjacency = NodeClusteringModel(CONFIG), path_graph(20)
    dense = torch.randn(20, 6) * (torch.rand(20, 6) < 0.5)
    x = SparseMatrix.from_torch(dense.to_sparse()) if sparse else dense

    def loss(x, adjacency):
        terms, _ = model.losses(x, adjacency)
        return terms["total_variation"] + terms["balance"]

    expected = torch.autograd.grad(loss(x, adjacency), list(model.parameters()))
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    got = torch.autograd.grad(compiled(x, adjacency), list(model.parameters()))
    assert compiled(x, adjacency).item() == pytest.approx(loss(x, adjacency).item(), rel=1e-6)
    for a, b in zip(expected, got, strict=True):
        assert torch.allclose(a, b, atol=1e-6)


def test_state_dict_names():
    names = set(NodeClusteringModel(CONFIG).state_dict())
    convolutions = {f"convs.{i}.{name}" for i in (0, 1) for name in ("weight", "bias")}
    assert names == convolutions | {f"pool.mlp.{i}.{name}" for i in (0, 2) for name in ("weight", "bias")}


def test_defaults_are_the_papers_column():
    config = NodeClusteringConfig(6, 3)
    assert (config.hidden_channels, config.num_layers, config.mlp_channels) == (512, 2, 256)
    assert (config.delta_coeff, config.totvar_coeff, config.balance_coeff) == (0.311, 0.785, 0.514)


def test_order_of_the_nodes_does_not_matter():
    torch.manual_seed(0)
    model, x, order = NodeClusteringModel(CONFIG), torch.randn(20, 6), torch.randperm(20)
    ends = torch.arange(19)
    edges = torch.stack([torch.cat([ends, ends + 1]), torch.cat([ends + 1, ends])])
    place = torch.argsort(order)
    given = model.infer(x, Adjacency.from_edge_index(edges, None, 20))[0]
    shuffled = model.infer(x[order], Adjacency.from_edge_index(place[edges], None, 20))[0]
    assert torch.allclose(shuffled, given[order], atol=1e-5)


def test_network_of_the_released_script():
    released = NodeClusteringConfig(1000, 3, hidden_channels=100, mlp_channels=0, fan="out")
    model, paper = NodeClusteringModel(released), NodeClusteringModel(replace(released, fan="in"))
    assert [tuple(p.shape) for p in model.pool.mlp.parameters()] == [(3, 100), (3,)]
    assert model.convs[0].weight.std().item() == pytest.approx((2 / 100) ** 0.5, rel=0.02)
    assert paper.convs[0].weight.std().item() == pytest.approx((2 / 1000) ** 0.5, rel=0.02)
    for config in (released, replace(released, fan="in"), replace(released, mlp_channels=7, fan="in")):
        x = torch.randn(20, 1000)
        model = NodeClusteringModel(config)
        sum(model.losses(x, path_graph(20))[0].values()).backward()
        assert all(torch.isfinite(p.grad).all() for p in model.parameters())


@pytest.mark.parametrize(
    "options", [{"num_layers": 0}, {"mlp_channels": -1}, {"fan": "both"}, {"delta_coeff": float("nan")}, {"rho": -1.0}]
)
def test_config_is_checked(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        NodeClusteringConfig(6, 3, **options)


class TestMemoryAndPrecision:
    """The same network with less memory, and with rounded products."""

    @staticmethod
    def gradients(x, adjacency, **settings):
        torch.manual_seed(0)
        config = NodeClusteringConfig(x.shape[1], 3, hidden_channels=16, mlp_channels=8)
        model = NodeClusteringModel(config, **settings)
        terms, assignments = model.losses(x, adjacency)
        sum(terms.values()).backward()
        return assignments.detach(), [parameter.grad for parameter in model.parameters()]

    @pytest.fixture(params=["dense", "sparse"])
    def problem(self, request, monkeypatch):
        monkeypatch.setattr("tvgnn.pooling.base.ROWS_AT_ONCE", 7)
        torch.manual_seed(1)
        x = torch.randn(40, 5) * (torch.rand(40, 5) < 0.5)
        ring = torch.arange(40)
        edges = torch.stack([torch.cat([ring, (ring + 1) % 40]), torch.cat([(ring + 1) % 40, ring])])
        features = SparseMatrix.from_torch(x.to_sparse()) if request.param == "sparse" else x
        return features, Adjacency.from_edge_index(edges, None, 40)

    def test_low_memory_changes_nothing(self, problem):
        expected, given = self.gradients(*problem), self.gradients(*problem, memory="low")
        torch.testing.assert_close(given[0], expected[0])
        for one, other in zip(given[1], expected[1], strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)

    def test_bfloat16_is_near(self, problem):
        expected, given = self.gradients(*problem), self.gradients(*problem, precision="bfloat16")
        assert given[0].dtype == torch.float32
        torch.testing.assert_close(given[0], expected[0], rtol=0, atol=0.03)
        assert not torch.equal(given[0], expected[0])
        for one, other in zip(given[1], expected[1], strict=True):
            assert one.dtype == torch.float32
            assert (one - other).norm() < 0.2 * other.norm()

    def test_a_large_mlp_is_computed_by_rows(self, problem, monkeypatch):
        expected = self.gradients(*problem)
        monkeypatch.setattr("tvgnn.pooling.base.LARGEST_INNER", 0)
        calls = []
        monkeypatch.setattr("tvgnn.pooling.base.by_rows", lambda *a: calls.append(a[2]) or by_rows(*a))
        torch.testing.assert_close(self.gradients(*problem)[0], expected[0])
        assert calls == [7]

    def test_both_at_once(self, problem):
        rounded = self.gradients(*problem, precision="bfloat16")
        given = self.gradients(*problem, memory="low", precision="bfloat16")
        expected = self.gradients(*problem)
        torch.testing.assert_close(given[0], rounded[0], rtol=0, atol=0.01)
        torch.testing.assert_close(given[0], expected[0], rtol=0, atol=0.03)
        for one, other in zip(given[1], expected[1], strict=True):
            assert (one - other).norm() < 0.2 * other.norm()

    @pytest.mark.parametrize("bad", [{"memory": "high"}, {"precision": "half"}, {"precision": "float16"}])
    def test_unknown_names(self, bad):
        with pytest.raises(ValueError, match=f"expected {next(iter(bad))} to be one of"):
            NodeClusteringModel(NodeClusteringConfig(3, 2), **bad)
