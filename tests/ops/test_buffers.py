import gc

import pytest
import torch

from tvgnn.ops import _buffers
from tvgnn.ops._buffers import empty, empty_like, reused_arrays
from tvgnn.ops.dense_linear import dense_linear

LIKE = torch.empty(0)
LARGE = (1024, 512)


def test_a_free_array_is_used_again():
    with reused_arrays():
        first = empty(LARGE, LIKE)
        address = first.data_ptr()
        assert empty(LARGE, LIKE).data_ptr() != address  # the first is still in use
        del first
        assert address in {empty(LARGE, LIKE).data_ptr(), empty(LARGE, LIKE).data_ptr()}


def test_views_keep_an_array_in_use():
    with reused_arrays():
        view = empty(LARGE, LIKE)[3:5].fill_(7)
        others = [empty(LARGE, LIKE).fill_(0) for _ in range(3)]
        assert (view == 7).all()
        del others


def test_arrays_outlive_the_context_and_nothing_waits_after_it():
    with reused_arrays():
        kept = empty(LARGE, LIKE).fill_(3)
        empty(LARGE, LIKE)
    gc.collect()
    assert not _buffers._POOL.blocks
    assert (kept == 3).all()
    del kept
    assert not _buffers._POOL.blocks


def test_nested_contexts():
    with reused_arrays():
        with reused_arrays():
            empty(LARGE, LIKE)
        assert _buffers._POOL.blocks


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", [LARGE, (0, 5), (3,), (2**20, 1)])
@pytest.mark.parametrize("reused", [True, False])
def test_shape_and_type(shape, dtype, reused):
    like = torch.empty(0, dtype=dtype)
    with reused_arrays() if reused else torch.no_grad():
        x = empty(shape, like)
        assert x.shape == shape
        assert x.dtype == dtype
        assert x.is_contiguous()
        assert x.numel() == 0 or x.data_ptr() % 64 == 0


def test_transposed_becomes_contiguous():
    assert empty_like(torch.empty(2, 3).T).is_contiguous()


def test_dense_linear_equals_the_product():
    x = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.equal(dense_linear(x, weight), x @ weight)
    assert torch.autograd.gradcheck(dense_linear, (x, weight))
    assert torch.autograd.gradcheck(lambda w: dense_linear(x.detach(), w), (weight,))
    assert torch.equal(dense_linear(x[None], weight)[0], x @ weight)
