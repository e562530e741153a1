import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tvgnn.errors import GraphError
from tvgnn.graph.grouping import Grouping


@given(sizes=st.lists(st.integers(0, 4), min_size=1, max_size=6), seed=st.integers(0, 99))
def test_sums_and_padding_in_any_order_of_nodes(sizes, seed):
    generator = torch.Generator().manual_seed(seed)
    batch = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    x = torch.randn(len(batch), 2, generator=generator)
    shuffled = torch.randperm(len(batch), generator=generator)
    parts = [x[batch == graph] for graph in range(len(sizes))]
    for groups, rows in (
        (Grouping.of(batch, x, len(sizes)), x),
        (Grouping.of(batch[shuffled], x, len(sizes)), x[shuffled]),
        (Grouping.from_sizes(torch.tensor(sizes)), x),
    ):
        assert groups.pointers.diff().tolist() == sizes
        assert torch.allclose(groups.sum(rows), torch.stack([part.sum(0) for part in parts]), atol=1e-6)
        padded = groups.pad(rows)
        assert padded.shape == (len(sizes), max(sizes), 2)
        for row, part in zip(padded, parts, strict=True):
            assert torch.equal(row[: len(part)].sort(0).values, part.sort(0).values)
            assert (row[len(part) :] == 0).all()


def test_equal_sizes_are_only_viewed():
    x = torch.randn(6, 2)
    groups = Grouping.equal(3, 2, x.device)
    assert groups.pad(x).data_ptr() == x.data_ptr()
    assert torch.equal(groups.sum(x), x.view(3, 2, 2).sum(1))


def test_one_graph():
    x = torch.randn(4, 2)
    groups = Grouping.of(None, x)
    assert (groups.size, groups.pointers.tolist()) == (1, [0, 4])
    assert torch.equal(groups.sum(x), x.sum(0, keepdim=True))
    assert torch.equal(groups.pad(x), x[None])


def test_a_grouping_of_other_nodes_is_refused():
    groups = Grouping.from_sizes(torch.tensor([2, 1]))
    assert Grouping.of(groups, torch.zeros(3, 1)) is groups
    with pytest.raises(GraphError, match="expected a grouping of 4 nodes"):
        Grouping.of(groups, torch.zeros(4, 1))


@pytest.mark.parametrize("ordered", [True, False])
def test_a_huge_graph_among_small_ones_is_not_padded(monkeypatch, ordered):
    sizes = torch.tensor([3, 60_000, 0, 1, 2, 2, 2, 2])
    batch = torch.repeat_interleave(torch.arange(8), sizes)
    if not ordered:
        batch = batch[torch.randperm(len(batch), generator=torch.Generator().manual_seed(0))]
    a = torch.randn(len(batch), 20, dtype=torch.float64, requires_grad=True)
    groups = Grouping.of(batch, a)
    padded = groups.pad(a).transpose(1, 2) @ groups.pad(a)
    (slope,) = torch.autograd.grad(padded.sin().sum(), a)
    monkeypatch.setattr(Grouping, "pad", None)
    products = groups.products(a, a)
    assert torch.allclose(products, padded)
    assert torch.allclose(torch.autograd.grad(products.sin().sum(), a)[0], slope)
