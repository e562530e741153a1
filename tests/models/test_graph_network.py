from dataclasses import replace

import pytest
import torch

from tvgnn import Graph
from tvgnn.graph.collection import GraphCollection
from tvgnn.models.graph_network import POOLINGS, GraphNetwork, GraphNetworkConfig


def collection(sizes=(6, 1, 9, 2), seed=0):
    generator = torch.Generator().manual_seed(seed)
    graphs = []
    for nodes in sizes:
        if nodes == 0:
            one = Graph.from_edge_index([[], []], x=torch.zeros(1, 3))
            graphs.append(replace(one, indptr=one.indptr[:1], x=one.x[:0], node_ids=()))
            continue
        pairs = (torch.rand(nodes, nodes, generator=generator) < 0.4).triu(1).nonzero().T
        graphs.append(Graph.from_edges(*pairs, x=torch.randn(nodes, 3, generator=generator)))
    return GraphCollection(graphs)


def network(pooling, **settings):
    torch.manual_seed(0)
    config = GraphNetworkConfig(3, 2, pooling, clusters=(4, 2), num_layers=2, hidden_channels=8, **settings)
    return GraphNetwork(config).double()


def doubled(batch):
    return type(batch)(batch.x.double(), batch.adjacency, batch.groups)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("readout", ["linear", "mlp"])
def test_a_batch_equals_its_graphs_one_by_one(pooling, readout):
    model, graphs = network(pooling, readout=readout), collection()
    outputs, losses = model(doubled(graphs.batch([0, 1, 2, 3])))
    single = [model(doubled(graphs.batch([number]))) for number in range(4)]
    assert torch.allclose(outputs, torch.cat([output for output, _ in single]))
    for name, loss in losses.items():
        assert loss.item() == pytest.approx(sum(terms[name].item() for _, terms in single) / 4)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_order_of_nodes_changes_nothing(pooling):
    model, generator = network(pooling), torch.Generator().manual_seed(1)
    x = torch.randn(8, 3, generator=generator)
    adj = (torch.rand(8, 8, generator=generator) < 0.4).triu(1)
    order = torch.randperm(8, generator=generator)
    moved = (adj | adj.T)[order][:, order].triu(1)
    graphs = GraphCollection(
        [Graph.from_edges(*adj.nonzero().T, x=x), Graph.from_edges(*moved.nonzero().T, x=x[order])]
    )
    outputs, _ = model(doubled(graphs.batch([0, 1])))
    assert torch.allclose(outputs[0], outputs[1])


@pytest.mark.parametrize("pooling", POOLINGS)
def test_every_parameter_learns(pooling):
    model = network(pooling)
    outputs, losses = model(doubled(collection((7, 8, 9)).batch([0, 1, 2])))
    torch.stack([outputs.square().sum(), *losses.values()]).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        normalised = name.endswith("select.weight") and parameter.numel() == 1  # the sign alone counts
        assert normalised or parameter.grad.abs().sum() > 0, name


def test_the_two_poolings_have_losses_of_their_own():
    _, losses = network("tvgnn")(doubled(collection().batch([0, 2])))
    assert sorted(losses) == ["balance_1", "balance_2", "total_variation_1", "total_variation_2"]


@pytest.mark.parametrize("pooling", POOLINGS)
def test_an_empty_last_graph_gives_finite_outputs(pooling):
    model, graphs = network(pooling), collection((5, 3, 0))
    outputs, losses = model(doubled(graphs.batch([0, 1, 2])))
    assert torch.isfinite(outputs).all()
    assert all(torch.isfinite(loss) for loss in losses.values())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"pooling": "max"}, "pooling"),
        ({"readout": "tree"}, "readout"),
        ({"num_layers": 0}, "num_layers"),
        ({"clusters": (0, 1)}, "clusters"),
        ({"delta_coeff": -1.0}, "delta_coeff"),
    ],
)
def test_settings_out_of_range(wrong, message):
    with pytest.raises(ValueError, match=message):
        GraphNetworkConfig(3, 2, **wrong)
