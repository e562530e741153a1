import pytest
import torch
from op_cases import assert_close, general, randn, symmetric, value_and_gradients

from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.grouping import Grouping
from tvgnn.ops.coarsen import _Coarsen, coarsen
from tvgnn.ops.neighbor_sum import neighbor_sum

GROUPINGS = {
    "several": Grouping.from_sizes(torch.tensor([5, 1, 7, 2])),
    "empty graphs": Grouping.from_sizes(torch.tensor([0, 12, 0, 3])),
    "equal sizes": Grouping.equal(3, 5, torch.device("cpu")),
    "any order": Grouping.of(torch.tensor([2, 0, 1] * 5), torch.empty(15)),
    "one graph": Grouping.of(None, torch.empty(15)),
}


@pytest.fixture
def fused(monkeypatch):
    """Calls of the fused node: without counting them the products would be compared with themselves."""
    calls, apply = [], _Coarsen.apply
    monkeypatch.setattr(_Coarsen, "apply", lambda *arguments: calls.append(1) or apply(*arguments))
    return calls


@pytest.mark.parametrize("groups", GROUPINGS.values(), ids=GROUPINGS)
@pytest.mark.parametrize("make", [symmetric, general])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equals_the_products(groups, make, weighted, dtype, fused):
    adjacency, s, x = make(15, weighted, dtype), randn(15, 4).to(dtype), randn(15, 3, seed=2).to(dtype)

    def at_once(s, x):
        return torch.cat(coarsen(s, x, adjacency, groups), 2)

    def in_turn(s, x):
        return torch.cat([groups.products(s, x), groups.products(s, neighbor_sum(adjacency, s))], 2)

    for actual, expected in zip(value_and_gradients(at_once, s, x), value_and_gradients(in_turn, s, x), strict=True):
        assert_close(actual, expected, dtype)
    assert bool(fused) == (make is symmetric)


def test_gradcheck_with_pooled_adjacencies(fused):
    groups = Grouping.equal(2, 4, torch.device("cpu"))

    def run(s, x, half):
        return coarsen(s, x, Adjacency.from_dense(half + half.transpose(1, 2), symmetric=True), groups)

    leaves = [randn(8, 3), randn(8, 2, seed=2), randn(2, 4, 4, seed=3)]
    assert torch.autograd.gradcheck(run, [leaf.requires_grad_() for leaf in leaves])
    assert fused


def test_padding_comes_off_again():
    for groups in GROUPINGS.values():
        x = randn(15, 3)
        assert torch.equal(groups.unpad(groups.pad(x)), x)
