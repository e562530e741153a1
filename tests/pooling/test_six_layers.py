"""What all pooling layers have in common, and the dense formulas of those with assignments."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tvgnn.errors import GraphError
from tvgnn.graph.adjacency import Adjacency
from tvgnn.pooling import (
    AsymCheegerCutPooling,
    DiffPooling,
    DMoNPooling,
    MinCutPooling,
    SAGPooling,
    TopKPooling,
)

WITH_ASSIGNMENTS = {
    "tvgnn": lambda: AsymCheegerCutPooling(3, [4, 6]),
    "mincut": lambda: MinCutPooling(3, [4, 6]),
    "dmon": lambda: DMoNPooling(3, [4, 6]),
    "diffpool": lambda: DiffPooling(3, [4, 6]),
    "diffpool-gnn": lambda: DiffPooling(3, [4, 6], assignment="gnn"),
}
KEEPING_NODES = {"topk": lambda: TopKPooling(4, 0.5), "sag": lambda: SAGPooling(4, 0.5)}


def made(name):
    torch.manual_seed(0)
    return {**WITH_ASSIGNMENTS, **KEEPING_NODES}[name]().double()


def random_graph(generator, nodes, density):
    upper = (torch.rand(nodes, nodes, generator=generator) < density).triu(1)
    adj = (upper | upper.T).double()
    return torch.randn(nodes, 4, generator=generator, dtype=torch.float64), adj


def joined(graphs):
    """Features, edge_index and batch of graphs (x, adj) put next to each other."""
    offsets = [0]
    for x, _ in graphs:
        offsets.append(offsets[-1] + x.shape[0])
    edges = torch.cat([adj.nonzero().T + offset for (_, adj), offset in zip(graphs, offsets, strict=False)], dim=1)
    sizes = torch.tensor([x.shape[0] for x, _ in graphs])
    batch = torch.repeat_interleave(torch.arange(len(graphs)), sizes)
    return torch.cat([x for x, _ in graphs]), edges, batch


def dense_mincut(s, adj):
    degrees = adj.sum(1)
    scale = torch.where(degrees > 0, degrees, 1).rsqrt() * (degrees > 0)
    normalized = scale[:, None] * adj * scale
    volume = torch.trace(s.T @ normalized.sum(1).diag() @ s)
    cut = -torch.trace(s.T @ normalized @ s) / volume if volume > 0 else volume
    gram = s.T @ s
    eye = torch.eye(s.shape[1], dtype=s.dtype)
    return {"mincut": cut, "orthogonality": torch.linalg.norm(gram / torch.linalg.norm(gram) - eye / eye.norm())}


def dense_dmon(s, adj):
    degrees, total = adj.sum(1), adj.sum()
    modularity = adj - torch.outer(degrees, degrees) / total if total > 0 else adj
    collapse = s.shape[1] ** 0.5 / s.shape[0] * s.sum(0).norm() - 1
    return {
        "modularity": -torch.trace(s.T @ modularity @ s) / (total if total > 0 else 1),
        "collapse": 0.1 * collapse,
    }


def dense_diffpool(s, adj):
    link = torch.linalg.norm(adj - s @ s.T) / s.shape[0] ** 2
    return {"link": link, "entropy": -(s * s.log()).sum(1).mean()}


FORMULAS = {"mincut": dense_mincut, "dmon": dense_dmon, "diffpool": dense_diffpool, "diffpool-gnn": dense_diffpool}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("density", [0.0, 0.4, 1.0])
def test_losses_equal_the_dense_formulas(name, density):
    pool = made(name)
    x, adj = random_graph(torch.Generator().manual_seed(1), 7, density)
    out = pool(x, adj.nonzero().T)
    expected = FORMULAS[name](out.assignments, adj)
    assert {key: loss.item() for key, loss in out.losses.items()} == pytest.approx(
        {key: loss.item() for key, loss in expected.items()}, abs=1e-12
    )


def test_losses_of_hard_assignments():
    """Two pairs, each its own cluster: nothing is cut, sizes are equal, edges are predicted but for the diagonal."""
    pairs = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
    hard = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    expected = {
        "mincut": (MinCutPooling, {"mincut": -1, "orthogonality": 0}),
        "dmon": (DMoNPooling, {"modularity": -0.5, "collapse": 0}),
        "diffpool": (DiffPooling, {"link": 2 / 16, "entropy": 0}),
    }
    for layer, losses in expected.values():
        pool = layer(2, [4])
        pool.select = lambda x, adjacency=None: hard
        got = pool(torch.zeros(4, 4), pairs).losses
        assert {name: loss.item() for name, loss in got.items()} == pytest.approx(losses, abs=1e-6)


@pytest.mark.parametrize("name", ["mincut", "dmon"])
def test_pooled_adjacency_loses_its_diagonal_and_is_normalised(name):
    pool = made(name)
    x, adj = random_graph(torch.Generator().manual_seed(2), 9, 0.5)
    out = pool(x, adj.nonzero().T)
    s = out.assignments
    if name == "mincut":
        scale = adj.sum(1).rsqrt()
        adj = scale[:, None] * adj * scale
    pooled = s.T @ adj @ s
    pooled.fill_diagonal_(0)
    root = pooled.sum(1).sqrt()
    assert torch.allclose(out.adj[0], pooled / root[:, None] / root)


@pytest.mark.parametrize("name", [*WITH_ASSIGNMENTS, *KEEPING_NODES])
@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 6), min_size=1, max_size=5),
    density=st.sampled_from([0.0, 0.3, 1.0]),
    seed=st.integers(0, 999),
)
def test_a_batch_equals_its_graphs_one_by_one(name, sizes, density, seed):
    """Fewer nodes than clusters, no edges, one node, no node, an empty last graph: whatever the company."""
    pool, generator = made(name), torch.Generator().manual_seed(seed)
    graphs = [random_graph(generator, size, density) for size in sizes]
    x, edges, batch = joined(graphs)
    out = pool(x, edges, batch=batch, batch_size=len(sizes))
    single = [pool(x, adj.nonzero().T) for x, adj in graphs]
    if name in KEEPING_NODES:
        assert torch.allclose(out.x, torch.cat([one.x for one in single]))
        assert out.batch.bincount(minlength=len(sizes)).tolist() == [one.x.shape[0] for one in single]
        assert out.edge_index.shape[1] == sum(one.edge_index.shape[1] for one in single)
        assert not out.losses
        return
    assert torch.allclose(out.x, torch.cat([one.x for one in single]))
    assert torch.allclose(out.adj, torch.cat([one.adj for one in single]))
    assert torch.allclose(out.assignments, torch.cat([one.assignments for one in single]))
    for key, loss in out.losses.items():
        assert loss.item() == pytest.approx(sum(one.losses[key].item() for one in single) / len(sizes), abs=1e-10)


def padded(graphs):
    """Features, adjacencies and mask of graphs (x, adj) as a dense batch with NaN in the padding."""
    longest = max(x.shape[0] for x, _ in graphs)
    x = torch.full((len(graphs), longest, 4), float("nan"), dtype=torch.float64)
    adj = torch.full((len(graphs), longest, longest), float("nan"), dtype=torch.float64)
    mask = torch.zeros(len(graphs), longest, dtype=torch.bool)
    for b, (features, edges) in enumerate(graphs):
        nodes = features.shape[0]
        x[b, :nodes], adj[b, :nodes, :nodes], mask[b, :nodes] = features, edges, True
    return x, {"adj": adj, "mask": mask}


@pytest.mark.parametrize("name", WITH_ASSIGNMENTS)
def test_padding_of_a_dense_batch_changes_nothing(name):
    pool, generator = made(name), torch.Generator().manual_seed(3)
    graphs = [random_graph(generator, size, 0.5) for size in (5, 1, 0, 7)]
    x, edges, batch = joined(graphs)
    padded_x, rest = padded(graphs)
    sparse, dense = pool(x, edges, batch=batch, batch_size=4), pool(padded_x, **rest)
    assert torch.allclose(dense.x, sparse.x)
    assert torch.allclose(dense.adj, sparse.adj)
    for key in sparse.losses:
        assert dense.losses[key].item() == pytest.approx(sparse.losses[key].item(), abs=1e-12)
    assert (dense.assignments[1, 1:] == 0).all()


@pytest.mark.parametrize("name", [*WITH_ASSIGNMENTS, *KEEPING_NODES])
def test_the_order_of_nodes_changes_nothing(name):
    pool, generator = made(name), torch.Generator().manual_seed(4)
    x, adj = random_graph(generator, 9, 0.4)
    order = torch.randperm(9, generator=generator)
    out, moved = pool(x, adj.nonzero().T), pool(x[order], adj[order][:, order].nonzero().T)
    assert torch.allclose(moved.x.sum(-2), out.x.sum(-2))
    for key in out.losses:
        assert moved.losses[key].item() == pytest.approx(out.losses[key].item())


@pytest.mark.parametrize("name", WITH_ASSIGNMENTS)
@pytest.mark.parametrize("dense", [False, True])
def test_gradients_reach_features_and_weights(name, dense):
    pool, generator = made(name), torch.Generator().manual_seed(5)
    x, adj = random_graph(generator, 5, 0.7)
    edges = adj.nonzero().T
    weight = torch.rand(edges.shape[1], generator=generator, dtype=torch.float64) + 0.5
    full = torch.rand(1, 5, 5, generator=generator, dtype=torch.float64) + 0.1
    inputs = (x[None] if dense else x, full if dense else weight)

    def everything(x, values):
        out = pool(x, adj=values) if dense else pool(x, edges, values)
        return (out.x, out.adj, *out.losses.values())

    assert torch.autograd.gradcheck(everything, [value.requires_grad_() for value in inputs])


@pytest.mark.parametrize("name", WITH_ASSIGNMENTS)
def test_two_poolings_train(name):
    first, second = made(name), made(name)
    x, adj = random_graph(torch.Generator().manual_seed(6), 8, 0.4)
    out = first(x, adj.nonzero().T)
    again = second(out.x, adj=out.adj)
    (again.x.sum() + sum(again.losses.values())).backward()
    assert all(torch.isfinite(parameter.grad).all() for parameter in first.parameters())
    assert first.mlp[0].weight.grad.abs().sum() > 0


def test_duplicate_entries_add_up_in_the_link_loss():
    pool = made("diffpool")
    x = torch.randn(3, 4, dtype=torch.float64)
    twice = torch.tensor([[0, 1, 0, 1], [1, 0, 1, 0]])
    once, weight = twice[:, :2], torch.full((2,), 2.0, dtype=torch.float64)
    assert pool(x, twice).losses["link"].item() == pytest.approx(pool(x, once, weight).losses["link"].item())


@pytest.mark.parametrize(("ratio", "kept"), [(0.5, 4), (1.0, 7), (3, 3), (20, 7)])
def test_ratio_or_number_of_nodes_kept(ratio, kept):
    x, adj = random_graph(torch.Generator().manual_seed(7), 7, 0.4)
    pool = TopKPooling(4, ratio).double()
    edges = adj.nonzero().T
    out = pool(x, edges)
    (direction,) = pool.directions()
    scores = (x @ direction.detach().flatten() / direction.detach().norm()).tanh()
    expected = scores.argsort(descending=True)[:kept]
    assert out.kept.tolist() == expected.tolist()
    torch.testing.assert_close(out.x, x[expected] * scores[expected, None])
    between = adj[expected][:, expected]  # edges by the new numbers
    assert sorted(out.edge_index.T.tolist()) == between.nonzero().tolist()


@pytest.mark.parametrize("name", KEEPING_NODES)
def test_nodes_of_wrong_width_are_refused(name):
    with pytest.raises(GraphError, match=r"expected x of shape \(N, 4\)"):
        made(name)(torch.zeros(3, 5, dtype=torch.float64), torch.zeros(2, 0, dtype=torch.int64))


@pytest.mark.parametrize("ratio", [0, 0.0, 1.5, -1])
def test_impossible_ratios_are_refused(ratio):
    with pytest.raises(ValueError, match="ratio"):
        TopKPooling(4, ratio)
    with pytest.raises(ValueError, match="assignment"):
        DiffPooling(2, [4], assignment="tree")


def test_diffpool_gnn_scores_need_the_graph():
    with pytest.raises(GraphError, match="adjacency"):
        made("diffpool-gnn").select(torch.zeros(3, 4, dtype=torch.float64))


@pytest.mark.parametrize("name", WITH_ASSIGNMENTS)
def test_a_shared_symmetric_adjacency_gives_the_same(name):
    pool, generator = made(name), torch.Generator().manual_seed(8)
    x = torch.randn(2, 5, 4, generator=generator, dtype=torch.float64)
    adj = torch.rand(2, 5, 5, generator=generator, dtype=torch.float64)
    adj = adj + adj.transpose(1, 2)
    results = []
    for symmetric in (False, True):
        weights = adj.clone().requires_grad_()
        out = pool(x, adj=Adjacency.from_dense(weights, symmetric=symmetric))
        (out.x.sum() + out.adj.square().sum() + sum(out.losses.values())).backward()
        results.append((out.x, out.adj, weights.grad, pool.mlp[0].weight.grad.clone()))
        pool.zero_grad()
    for general, symmetric in zip(*results, strict=True):
        assert torch.allclose(general, symmetric)
    with pytest.raises(GraphError, match="blocks of 5"):
        pool(x[:1], adj=Adjacency.from_dense(adj))
