"""The Triton kernels of the sparse product against the reference: on a GPU where there is one, else interpreted."""

import pytest
import torch
from op_cases import (
    DEVICE,
    LONG_BOTH_WAYS,
    LONG_ROWS,
    as_symmetric,
    assert_close,
    assert_same_as_reference,
    general,
    multigraph,
    needs_triton,
    randn,
    symmetric,
    value_and_gradients,
)

from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.ops.sparse_linear import sparse_linear

pytestmark = needs_triton


def rectangular(rows: int, columns: int, *, weighted: bool = True) -> SparseMatrix:
    """A tenth of the values is zero."""
    x = randn(rows, columns).relu().to_sparse_csr()
    values = x.values().clone()
    values[::10] = 0
    return SparseMatrix.from_csr(x.crow_indices(), x.col_indices(), values if weighted else None, columns)


def check(x, weight, dtype=torch.float64):
    def product(weight, values, *, backend):
        return sparse_linear(x.to(DEVICE).with_values(values), weight, backend=backend)

    inputs = [None if t is None else t.to(DEVICE, dtype) for t in (weight, x.values)]
    assert_same_as_reference(product, inputs, ("weight", "values"), dtype, "gpu")


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@pytest.mark.parametrize("weighted", [False, True], ids=["ones", "values"])
@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (1, 1), (12, 5), (3, 20)])
def test_sizes(rows, columns, weighted):
    check(rectangular(rows, columns, weighted=weighted), randn(columns, 3))


@pytest.mark.parametrize("width", [0, 1, 1030], ids=["none", "one", "several blocks"])
def test_widths(width):
    check(general(3, True, torch.float64), randn(3, width))


@pytest.mark.parametrize("build", [general, symmetric])
def test_adjacency_times_assignments_in_float32(build):
    check(build(12, True, torch.float32), randn(12, 5), torch.float32)


@pytest.mark.parametrize("lists", ["general", "symmetric"])
def test_long_rows_are_cut(lists):
    x = multigraph(LONG_ROWS, 7) if lists == "general" else as_symmetric(multigraph(LONG_BOTH_WAYS, 6))
    if lists == "general":
        x = x.with_values(torch.arange(1, x.num_entries + 1).double())
    check(x, randn(x.num_columns, 3))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_summed_in_float32(dtype):
    x, weight = general(12, True, torch.float32).to(DEVICE), randn(12, 5).to(DEVICE, dtype)
    ours, exact = (
        value_and_gradients(lambda w, v, b=backend: sparse_linear(x.with_values(v), w, backend=b), w, x.values)
        for backend, w in (("gpu", weight), ("reference", weight.float()))
    )
    for result, expected in zip(ours, exact, strict=True):
        assert_close(result, expected.to(result.dtype), dtype)


def test_gradcheck_and_frozen_inputs():
    x = general(5, True, torch.float64).to(DEVICE)
    weight, values = randn(5, 3).to(DEVICE), x.values.clone()

    def product(weight, values):
        return sparse_linear(x.with_values(values), weight, backend="gpu")

    for inputs in (
        (weight.clone().requires_grad_(), values.clone().requires_grad_()),
        (weight, values.clone().requires_grad_()),
        (weight.clone().requires_grad_(), values),
    ):
        assert torch.autograd.gradcheck(product, inputs, fast_mode=True)


def test_bitwise_repeatable():
    x, weight = multigraph(LONG_ROWS, 7).to(DEVICE), randn(7, 3, dtype=torch.float32).to(DEVICE)
    one, two = (value_and_gradients(lambda w: sparse_linear(x, w, backend="gpu"), weight) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_opcheck(dtype):
    indptr, indices, values, *columns = general(4, True, torch.float64).to(DEVICE, dtype).lists()
    weight = randn(4, 3).to(DEVICE, dtype).requires_grad_()
    lists = (indptr, indices, values.requires_grad_(), *columns)
    torch.library.opcheck(torch.ops.tvgnn.sparse_linear.default, (weight, *lists, "gpu"))
