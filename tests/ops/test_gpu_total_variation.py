"""The Triton kernels of the total variation against the reference: on a GPU where there is one, else interpreted."""

import pytest
import torch
from op_cases import (
    DEVICE,
    LONG_BOTH_WAYS,
    LONG_ROWS,
    as_symmetric,
    assert_close,
    assert_same_as_reference,
    both_ways,
    general,
    multigraph,
    needs_triton,
    randn,
    symmetric,
    value_and_gradients,
)

from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops.total_variation import total_variation

pytestmark = needs_triton


def check(adjacency, s, dtype=torch.float64):
    def variation(s, weights, *, backend):
        return total_variation(s, adjacency.to(DEVICE).with_values(weights), backend=backend)

    inputs = [None if x is None else x.to(DEVICE, dtype) for x in (s, adjacency.values)]
    assert_same_as_reference(variation, inputs, ("s", "weights"), dtype, "gpu")


@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("build", [general, symmetric])
@pytest.mark.parametrize("nodes", [0, 1, 12])
def test_sizes(nodes, build, weighted):
    check(build(nodes, weighted, torch.float64), randn(nodes, 3))


@pytest.mark.parametrize("width", [0, 1, 1030], ids=["none", "one", "several blocks"])
def test_widths(width):
    check(general(3, True, torch.float64), randn(3, width))


def test_float32_and_ties():
    check(general(33, True, torch.float32), randn(33, 4).round(), torch.float32)


@pytest.mark.parametrize("lists", ["general", "symmetric"])
def test_long_rows_are_cut(lists):
    adjacency = multigraph(LONG_ROWS, 7) if lists == "general" else as_symmetric(multigraph(LONG_BOTH_WAYS, 6))
    weights = torch.arange(1, adjacency.num_entries + 1) if lists == "general" else torch.ones(adjacency.num_entries)
    check(adjacency.with_values(weights.double()), randn(adjacency.num_nodes, 3))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_summed_in_float32(dtype):
    adjacency, s = general(12, True, torch.float32).to(DEVICE), randn(12, 5).softmax(1).to(DEVICE, dtype)
    ours, exact = (
        value_and_gradients(
            lambda s, w, b=backend: total_variation(s, adjacency.with_values(w), backend=b), x, adjacency.values
        )
        for backend, x in (("gpu", s), ("reference", s.float()))
    )
    for result, expected in zip(ours, exact, strict=True):
        assert_close(result, expected.to(result.dtype), dtype)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_a_number_reaches_neighbours_only(bad):
    adjacency = Adjacency.from_edge_index(both_ways([(0, 1), (1, 2), (3, 4)]), None, 6).to(DEVICE)
    s = randn(6, 5).to(DEVICE)
    clean = total_variation(s, adjacency, backend="gpu")
    s[0, 3] = bad
    out = total_variation(s, adjacency, backend="gpu")
    assert not out[:2].isfinite().any()
    assert_close(out[2:], clean[2:], torch.float64)


@pytest.mark.parametrize("build", [general, symmetric])
def test_gradcheck(build):
    adjacency = build(5, True, torch.float64)
    weights = adjacency.values if build is general else None

    def variation(s, weights):
        return total_variation(s, adjacency.to(DEVICE).with_values(weights), backend="gpu")

    inputs = (randn(5, 3).to(DEVICE).requires_grad_(), None if weights is None else weights.to(DEVICE).requires_grad_())
    assert torch.autograd.gradcheck(variation, inputs, fast_mode=True)


def test_bitwise_repeatable():
    adjacency, s = multigraph(LONG_ROWS, 7).to(DEVICE), randn(7, 3, dtype=torch.float32).to(DEVICE)
    one, two = (value_and_gradients(lambda s: total_variation(s, adjacency, backend="gpu"), s) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_opcheck(dtype):
    indptr, indices, weights, *columns = general(4, True, torch.float64).to(DEVICE, dtype).lists()
    s, lists = randn(4, 3).to(DEVICE, dtype).requires_grad_(), (indptr, indices, weights.requires_grad_(), *columns)
    torch.library.opcheck(torch.ops.tvgnn.total_variation.default, (s, *lists, "gpu"))
