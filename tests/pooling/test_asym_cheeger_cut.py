import numpy as np
import pytest
import torch

from tvgnn import AsymCheegerCutPooling, asymmetric_norm_loss, total_variation_loss
from tvgnn.errors import GraphError
from tvgnn.pooling.base import DensePooling

P4 = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])


@pytest.fixture
def pool():
    torch.manual_seed(0)
    return AsymCheegerCutPooling(3, [5, 8], totvar_coeff=0.5, balance_coeff=2.0)


def dense_of(edges, nodes, padded):
    adj = torch.zeros(padded, padded)
    adj[edges[0], edges[1]] = 1
    return adj


def test_pooled_graph_and_losses(pool):
    x = torch.randn(4, 5)
    out = pool(x, P4)
    s = torch.softmax(pool.mlp(x), dim=1)
    adj = dense_of(P4, 4, 4)
    assert torch.allclose(out.assignments, s)
    assert torch.allclose(out.x, (s.T @ x)[None], atol=1e-6)
    assert torch.allclose(out.adj, (s.T @ adj @ s)[None], atol=1e-6)
    assert out.mask.tolist() == [[True] * 3]
    assert out.losses["total_variation"].item() == pytest.approx(0.5 * total_variation_loss(s, P4).item())
    assert out.losses["balance"].item() == pytest.approx(2 * asymmetric_norm_loss(s).item())


def test_released_state_dict_names():
    names = list(AsymCheegerCutPooling(3, [5, 8, 6]).state_dict())
    assert names == ["mlp.0.weight", "mlp.0.bias", "mlp.2.weight", "mlp.2.bias", "mlp.4.weight", "mlp.4.bias"]
    assert list(AsymCheegerCutPooling(3, [5, 8], bias=False).state_dict()) == ["mlp.0.weight", "mlp.2.weight"]


def test_mlp_starts_glorot_uniform():
    torch.manual_seed(0)
    weight = AsymCheegerCutPooling(3, [300, 500]).mlp[0].weight
    bound = (6 / 800) ** 0.5
    assert weight.abs().max().item() <= bound
    assert weight.std().item() == pytest.approx(bound / 3**0.5, rel=0.02)


def test_sparse_batch_dense_batch_and_single_graphs_agree(pool):
    edges = [P4, torch.tensor([[0, 1], [1, 0]]), torch.zeros(2, 0, dtype=torch.int64)]
    sizes = [4, 2, 1]
    xs = [torch.randn(size, 5) for size in sizes]
    single = [pool(x, e) for x, e in zip(xs, edges, strict=True)]
    batch = torch.repeat_interleave(torch.arange(3), torch.tensor(sizes))
    joined = torch.cat([e + offset for e, offset in zip(edges, [0, 4, 6], strict=True)], dim=1)
    sparse = pool(torch.cat(xs), joined, batch=batch)
    mask = torch.arange(6)[None] < torch.tensor(sizes)[:, None]
    x = torch.full((3, 6, 5), 7.0)
    x[mask] = torch.cat(xs)
    adj = torch.stack([dense_of(e, n, 6) for e, n in zip(edges, sizes, strict=True)])
    dense = pool(x, adj=adj, mask=mask)
    for out in (sparse, dense):
        assert torch.allclose(out.x, torch.cat([one.x for one in single]), atol=1e-5)
        assert torch.allclose(out.adj, torch.cat([one.adj for one in single]), atol=1e-5)
        for name in out.losses:
            mean = sum(one.losses[name].item() for one in single) / 3
            assert out.losses[name].item() == pytest.approx(mean, abs=1e-6)
    assert torch.allclose(dense.assignments[mask], sparse.assignments, atol=1e-6)


def test_empty_last_graph(pool):
    batch = torch.zeros(4, dtype=torch.int64)
    out = pool(torch.randn(4, 5), P4, batch=batch, batch_size=2)
    assert out.x.shape == (2, 3, 5)
    assert (out.x[1] == 0).all()
    assert all(loss.isfinite() for loss in out.losses.values())


@pytest.mark.parametrize("size", [1, 3])
def test_batch_of_empty_graphs(pool, size):
    out = pool(torch.empty(0, 5), P4[:, :0], batch=torch.empty(0, dtype=torch.int64), batch_size=size)
    assert out.x.shape == (size, 3, 5)
    assert out.adj.shape == (size, 3, 3)
    assert not out.adj.any()
    assert [loss.item() for loss in out.losses.values()] == [0, 0]


@pytest.mark.parametrize("kind", [torch.bool, torch.uint8, torch.int64, torch.float32])
def test_masks_of_any_type_hide_whatever_lies_in_the_padding(pool, kind):
    x, adj = torch.randn(1, 4, 5), dense_of(P4, 4, 4)[None]
    padded_x, padded_adj = torch.full((1, 6, 5), torch.nan), torch.full((1, 6, 6), torch.nan)
    padded_x[:, :4], padded_adj[:, :4, :4] = x, adj
    out = pool(padded_x, adj=padded_adj, mask=torch.tensor([[1, 1, 1, 1, 0, 0]]).to(kind))
    sum(out.losses.values()).backward()
    assert torch.allclose(out.x, pool(x, adj=adj).x, atol=1e-6)
    assert torch.allclose(out.adj, pool(x, adj=adj).adj, atol=1e-6)
    assert all(torch.isfinite(parameter.grad).all() for parameter in pool.parameters())


def test_diagonal_of_a_pooled_adjacency_counts_in_the_normaliser_only(pool):
    # Two clusters joined by weight 1, with weight 9 inside each: variation 1 of total 10 where S is hard.
    adj = torch.tensor([[[9.0, 1.0], [1.0, 9.0]]])
    hard = torch.eye(3)[:2]
    pool.score = lambda x, adjacency=None: 200 * hard
    out = pool(torch.zeros(1, 2, 5), adj=adj)
    assert out.losses["total_variation"].item() == pytest.approx(0.5 * 2 * 2 / (2 * 20))


def test_gradient_flows_through_a_second_pooling(pool):
    second = AsymCheegerCutPooling(2, [5])
    first = pool(torch.randn(4, 5), P4)
    out = second(first.x, adj=first.adj)
    sum(out.losses.values()).backward()
    assert pool.mlp[0].weight.grad.abs().sum() > 0


def test_compiles_without_graph_breaks(pool):
    torch.manual_seed(1)
    compiled = torch.compile(pool, fullgraph=True, backend="aot_eager")
    x = torch.randn(4, 5)
    assert torch.allclose(compiled(x, P4).x, pool(x, P4).x, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "neither"),
        ({"edge_index": P4, "adj": torch.eye(4)[None]}, "both"),
        ({"edge_index": P4, "mask": torch.ones(1, 4)}, "mask"),
        ({"adj": torch.eye(4)[None], "batch": torch.zeros(4)}, "batch"),
        ({"adj": torch.eye(4)[None]}, r"adj \(B, N, N\)"),
    ],
)
def test_inputs_that_do_not_belong_together(pool, arguments, message):
    with pytest.raises(GraphError, match=message):
        pool(torch.randn(4, 5), **arguments)


@pytest.mark.parametrize("x", [torch.randn(4, 6), torch.randn(5), torch.randn(4, 5).numpy()])
def test_features_of_another_width_or_type(pool, x):
    with pytest.raises(GraphError, match="5 columns"):
        pool(x, P4)


@pytest.mark.parametrize(
    ("k", "channels", "options"),
    [
        (0, [5], {}),
        (2, [], {}),
        (2, 5, {}),
        (np.array([2]), [5], {}),
        (2, [5], {"rho": 0.0}),
        (2, [5], {"rho": float("inf")}),
    ],
)
def test_parameters_are_checked_at_construction(k, channels, options):
    with pytest.raises(ValueError, match="expected"):
        AsymCheegerCutPooling(k, channels, **options)


def test_base_says_what_a_method_must_define():
    with pytest.raises(TypeError, match="auxiliary_losses"):
        DensePooling(2, [5])
