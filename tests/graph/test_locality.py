import numpy as np
import pytest
import torch
from scipy import sparse as sp

from tvgnn import TVClustering
from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops.gtv_step import gtv_step

NODES, WIDTH = 400, 1024  # rows of more than a megabyte; a layer wants 16 of them
WIDE = 16 * WIDTH


def shuffled_ring(*, symmetric=True, weighted=True, loops=False, seed=0):
    """A ring in random order as an `Adjacency`; edges of weight 1 to 2, one-way unless symmetric."""
    node = np.random.default_rng(seed).permutation(NODES)
    weight = 1 + np.arange(NODES) / NODES
    one_way = sp.csr_array((weight, (node, np.roll(node, 1))), shape=(NODES, NODES))
    matrix = sp.csr_array(one_way + one_way.T if symmetric else one_way)
    if loops:
        matrix = sp.csr_array(matrix + sp.eye_array(NODES))
    lists = (torch.tensor(matrix.indptr), torch.tensor(matrix.indices))
    values = torch.tensor(matrix.data) if weighted else None
    if symmetric:
        return Adjacency(*lists, values, NODES, symmetric=True)
    return Adjacency.from_csr(*lists, values, NODES)


def dense(adjacency):
    out = torch.zeros(NODES, NODES, dtype=torch.float64)
    return out.index_put_((adjacency.rows(), adjacency.indices.long()), adjacency.weights(torch.float64))


@pytest.mark.parametrize("symmetric", [True, False])
def test_relabelled_is_the_same_graph_with_neighbours_together(symmetric):
    adjacency = shuffled_ring(symmetric=symmetric)
    moved = adjacency.by_locality(WIDE).relabelled
    assert torch.equal(moved.places[moved.nodes], torch.arange(NODES))
    assert torch.equal(dense(moved.adjacency), dense(adjacency)[moved.nodes][:, moved.nodes])
    distance = (moved.adjacency.rows() - moved.adjacency.indices).abs()
    assert distance.max() <= 2
    assert moved.adjacency.symmetric == symmetric


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("loops", [True, False])
def test_gtv_step_and_its_gradients_are_the_same(symmetric, weighted, loops):
    adjacency = shuffled_ring(symmetric=symmetric, weighted=weighted, loops=loops)
    torch.manual_seed(0)
    z, bias = torch.randn(NODES, 7, dtype=torch.float64), torch.randn(7, dtype=torch.float64)
    grad = torch.randn(NODES, 7, dtype=torch.float64)

    def run(moved):
        leaves = [z.clone().requires_grad_(), bias.clone().requires_grad_()]
        values = None
        if weighted:
            values = adjacency.values.clone().requires_grad_()
            leaves.append(values)
        plan = (adjacency.by_locality(WIDE) if moved else adjacency).with_values(values)
        assert (plan.relabelled is not None) == moved
        out = gtv_step(leaves[0], plan, 0.7, bias=leaves[1], act="elu")
        return [out.detach(), *torch.autograd.grad(out, leaves, grad)]

    for given, expected in zip(run(True), run(False), strict=True):
        torch.testing.assert_close(given, expected)


def test_moves_between_types():
    adjacency = shuffled_ring().by_locality(WIDE).to("cpu", torch.float32)
    assert adjacency.values.dtype == adjacency.relabelled.adjacency.values.dtype == torch.float32


def test_kept_where_rows_fit_the_cache_or_the_order_is_good():
    adjacency = shuffled_ring()
    assert adjacency.by_locality(1).relabelled is None
    ordered = adjacency.by_locality(WIDE).relabelled.adjacency
    assert ordered.by_locality(WIDE).relabelled is None


@pytest.mark.parametrize("sparse", [True, False])
def test_clustering_answers_in_the_callers_order(sparse):
    """Two rings, told apart by their features, in random order."""
    ring = sp.csr_array(sp.eye_array(NODES // 2, k=1) + sp.eye_array(NODES // 2, k=1 - NODES // 2))
    node = np.random.default_rng(0).permutation(NODES)
    adjacency = sp.csr_array(sp.block_diag([ring, ring]))[node][:, node]
    half = (np.arange(NODES) >= NODES // 2)[node]
    x = np.stack([half, ~half], axis=1).astype(np.float32)
    x = sp.csr_array(np.pad(x, ((0, 0), (0, 20)))) if sparse else x
    model = TVClustering(2, hidden_channels=WIDTH, mlp_channels=8, max_iter=30, random_state=0)
    labels = model.fit(x, adjacency=adjacency).labels_
    assert len(set(zip(labels, half, strict=True))) == 2
    assert (model.predict(model.graph_) == labels).all()
    np.testing.assert_array_equal(model.predict(x), labels)


def test_compiles_without_graph_break():
    adjacency = shuffled_ring().by_locality(WIDE).to(dtype=torch.float32)

    def step(z):
        return gtv_step(z, adjacency, 0.7)

    z = torch.randn(NODES, 4, requires_grad=True)
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")(z)
    torch.testing.assert_close(compiled, step(z))
    expected = torch.autograd.grad(step(z).square().sum(), z)[0]
    torch.testing.assert_close(torch.autograd.grad(compiled.square().sum(), z)[0], expected)
