import pytest
import torch
from op_cases import assert_close, randn, symmetric

from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.grouping import Grouping
from tvgnn.losses import asymmetric_norm_loss, cheeger_cut_losses, total_variation_loss
from tvgnn.ops.cheeger_batch import runs_as_one

SIZES = {
    "several": [5, 1, 7, 2],
    "empty graphs": [0, 4, 0, 3, 0],
    "one node": [1],
    "one graph": [9],
}


def sparse(sizes, weighted, dtype):
    """Awkward edges within and a few between the graphs, which a caller may pass."""
    return symmetric(sum(sizes), weighted, dtype), Grouping.from_sizes(torch.tensor(sizes))


def evaluate(run, logits, adjacency, groups, leaves):
    """Assignments, both losses and the gradients of a mix of all."""
    s, variation, balance = run(logits, adjacency, groups)
    mix = 1.3 * variation + 0.7 * balance + (s * randn(*s.shape, seed=8).to(s)).sum()
    return [s, variation, balance, *torch.autograd.grad(mix, leaves)]


def in_turn(rho=None):
    def run(logits, adjacency, groups):
        s = logits.softmax(1)
        variation = total_variation_loss(s, adjacency, batch=groups, backend="reference")
        return s, variation, asymmetric_norm_loss(s, groups, rho, backend="reference")

    return run


def at_once(rho=None):
    def run(logits, adjacency, groups):
        assert runs_as_one(logits, adjacency, groups, "auto")
        return cheeger_cut_losses(logits, adjacency, rho, groups)

    return run


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("clusters", [1, 2, 5, 16])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equals_softmax_and_both_losses(sizes, clusters, weighted, dtype):
    adjacency, groups = sparse(sizes, weighted, dtype)
    logits = (3 * randn(sum(sizes), clusters)).to(dtype).requires_grad_()
    expected = evaluate(in_turn(), logits, adjacency, groups, [logits])
    actual = evaluate(at_once(), logits, adjacency, groups, [logits])
    for a, b in zip(actual, expected, strict=True):
        assert_close(a, b, dtype)


@pytest.mark.parametrize("shape", [(1, 1), (3, 6), (2, 2)])
@pytest.mark.parametrize("rho", [None, 0.4, 3.0])
def test_pooled_adjacencies_take_a_gradient(shape, rho):
    graphs, nodes = shape
    adj = randn(graphs, nodes, nodes).abs()
    adj = adj + adj.transpose(1, 2)
    adj[0] = 0  # a graph without edges
    results = []
    for run in (in_turn(rho), at_once(rho)):
        entries = adj.clone().requires_grad_()
        logits = randn(graphs * nodes, 4, seed=3).requires_grad_()
        groups = Grouping.equal(graphs, nodes, adj.device)
        adjacency = Adjacency.from_dense(entries, symmetric=True)
        results.append(evaluate(run, logits, adjacency, groups, [logits, entries]))
    for a, b in zip(*results, strict=True):
        assert_close(a, b, torch.float64)


def test_gradcheck():
    half, groups = randn(2, 4, 4).abs().requires_grad_(), Grouping.equal(2, 4, torch.device("cpu"))

    def run(logits, half):
        adjacency = Adjacency.from_dense(half + half.transpose(1, 2), symmetric=True)
        return cheeger_cut_losses(logits, adjacency, None, groups)

    assert torch.autograd.gradcheck(run, [randn(8, 3, seed=3).requires_grad_(), half])


def test_what_it_cannot_do_takes_the_operators_in_turn():
    adjacency, groups = sparse([3, 2], True, torch.float32)
    logits = torch.zeros(5, 2)
    assert runs_as_one(logits, adjacency, groups, "auto")
    assert not runs_as_one(logits, adjacency, groups, "reference")
    mixed = Grouping.of(torch.tensor([1, 0, 1, 0, 0]), logits)
    assert not runs_as_one(logits, adjacency, mixed, "auto")
    directed = Adjacency.from_edge_index(torch.tensor([[0], [1]]), None, 5)
    assert not runs_as_one(logits, directed, groups, "auto")
