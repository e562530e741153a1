"""The Triton kernels of the asymmetric norm against the reference: on a GPU where there is one, else interpreted."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from op_cases import DEVICE, assert_close, assert_same_as_reference, needs_triton, randn, value_and_gradients

from tvgnn.ops.asymmetric_norm import asymmetric_norm

pytestmark = needs_triton
IN_SHARES = 2500  # rows, more than two tiles: a column is shared by three programs


def pointers(*sizes: int) -> torch.Tensor:
    return torch.tensor([0, *sizes]).cumsum(0).to(DEVICE)


def check(s, graph_ptr, rho, dtype=torch.float64):
    def norm(s, *, backend):
        return asymmetric_norm(s, graph_ptr, rho, backend=backend)

    assert_same_as_reference(norm, (s.to(DEVICE, dtype),), ("s",), dtype, "gpu")


@pytest.mark.parametrize("rho", [0.1, 2.0, 10000.0])
@pytest.mark.parametrize("nodes", [1, 2, 63, IN_SHARES])
def test_sizes(nodes, rho):
    check(randn(nodes, 2), None, rho)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("clusters", [0, 1, 17])
def test_widths_and_types(clusters, dtype):
    check(randn(63, clusters).softmax(1) if clusters else randn(63, 0), None, max(clusters - 1, 1), dtype)


@pytest.mark.parametrize("sizes", [(), (0,), (3, 0, 1, 20), (1, 1)], ids=str)
def test_batches(sizes):
    check(randn(sum(sizes), 3), pointers(*sizes), 2.0)


def test_columns_in_shares_of_several_graphs():
    check(randn(IN_SHARES, 2).round(decimals=1), pointers(2200, 0, 1, 299), 1.0)


@pytest.mark.parametrize("value", [0.0, -1.5, 1e-40, 3e38], ids=str)
def test_all_equal(value):
    check(torch.full((20, 2), value), None, 1.0, torch.float32)


def test_both_zeros_are_one_number_and_the_first_holds():
    s = torch.tensor([[3.0], [0.0], [-0.0], [-0.0], [-2.0]], device=DEVICE, requires_grad=True)
    asymmetric_norm(s, None, 1.0, backend="gpu").sum().backward()
    assert s.grad.flatten().tolist() == [1, 1 - 3, 1, 1, -1]


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), nodes=st.integers(1, 40), rho=st.floats(0.05, 50), decimals=st.integers(0, 6))
def test_quantile_is_that_of_a_sort(seed, nodes, rho, decimals):
    check(randn(nodes, 2, seed=seed).round(decimals=decimals), None, rho)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_summed_in_higher(dtype):
    s = randn(33, 3).softmax(1).to(DEVICE, dtype)
    ours, exact = (
        value_and_gradients(lambda s, b=backend: asymmetric_norm(s, None, 2.0, backend=b), x)
        for backend, x in (("gpu", s), ("reference", s.double()))
    )
    for result, expected in zip(ours, exact, strict=True):
        assert_close(result, expected.to(dtype), dtype)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # NumPy's, which the interpreter computes with
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_a_number_reaches_its_graph_only(bad, dtype):
    s = randn(13, 2, dtype=dtype).to(DEVICE)
    clean = asymmetric_norm(s, pointers(9, 4), 2.0, backend="gpu")
    s[4, 1] = bad
    norm = asymmetric_norm(s, pointers(9, 4), 2.0, backend="gpu")
    assert not norm[0].isfinite()
    assert torch.equal(norm[1], clean[1])


def test_gradcheck():
    s = randn(9, 2).to(DEVICE).requires_grad_()
    assert torch.autograd.gradcheck(lambda s: asymmetric_norm(s, pointers(4, 5), 2.0, backend="gpu"), s, fast_mode=True)


def test_bitwise_repeatable():
    s = randn(IN_SHARES, 2, dtype=torch.float32).to(DEVICE)
    one, two = (value_and_gradients(lambda s: asymmetric_norm(s, None, 1.0, backend="gpu"), s) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


def test_opcheck():
    s = randn(5, 2).to(DEVICE).requires_grad_()
    torch.library.opcheck(torch.ops.tvgnn.asymmetric_norm.default, (s, pointers(5), 2.0, "gpu"))
