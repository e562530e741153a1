"""The GTV step on a GPU: what its Triton kernels are launched with."""

from __future__ import annotations

import torch
import triton
from torch import Tensor

from tvgnn.graph.sparse_matrix import Lists
from tvgnn.ops._triton import accumulate_dtype, finish_long_rows, number_of_slots, on_device, tiling
from tvgnn.ops.gtv_step.gpu_kernels import (
    activation_kernel,
    backward_kernel,
    finish_kernel,
    forward_kernel,
    weight_kernel,
)

__all__ = ["backward", "forward"]

_ROWS = 64  # of a program of the activation gradient


def forward(z: Tensor, lists: Lists, bias: Tensor | None, delta: float, eps: float, act: int, variant: int) -> Tensor:
    """See `tvgnn.ops.gtv_step.op`."""
    indptr, indices, weights, *_ = lists
    z = z.contiguous()
    (rows, width), entries, shape = z.shape, indices.shape[0], tiling(z)
    out = torch.empty_like(z)
    if out.numel() == 0:
        return out
    partial = z.new_empty(number_of_slots(entries), width, dtype=accumulate_dtype(z))
    added = z if bias is None else bias.contiguous()
    ending = {"HAS_BIAS": bias is not None, "ACT": act, **shape}
    with on_device(z):
        forward_kernel[rows + partial.shape[0], shape["BLOCKS"]](
            z, indptr, indices, z if weights is None else weights.contiguous(), added, delta, eps, partial, out,
            rows, entries, width, HAS_WEIGHTS=weights is not None, VARIANT=variant, **ending,
        )  # fmt: skip
        if partial.shape[0]:
            finish_kernel[partial.shape[0], shape["BLOCKS"]](
                z, indptr, added, delta, partial, out, rows, entries, width, **ending
            )
    return out


def _before_activation(grad: Tensor, out: Tensor | None, act: int) -> tuple[Tensor, Tensor]:
    """Gradient (N, F) before the activation and the bias gradient (F,)."""
    dtype = accumulate_dtype(grad)
    if out is None or out.numel() == 0:
        return grad.contiguous(), grad.sum(0, dtype=dtype)
    grad, g, shape = grad.contiguous(), torch.empty_like(out), tiling(out)
    sums = out.new_empty(triton.cdiv(out.shape[0], _ROWS), out.shape[1], dtype=dtype)
    activation_kernel[sums.shape[0], shape["BLOCKS"]](grad, out, g, sums, *out.shape, ROWS=_ROWS, ACT=act, **shape)
    return g, sums.sum(0)


def backward(
    grad: Tensor,
    z: Tensor,
    out: Tensor | None,
    lists: Lists,
    delta: float,
    eps: float,
    act: int,
    variant: int,
    needs_weights: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """See `tvgnn.ops.gtv_step.op`."""
    indptr, indices, weights, t_indptr, t_indices, t_perm = lists
    z = z.contiguous()
    (rows, width), entries, shape = z.shape, indices.shape[0], tiling(z)
    values = z if weights is None else weights.contiguous()
    dw = z.new_zeros(entries if needs_weights else 0, dtype=accumulate_dtype(z))
    slots = number_of_slots(entries)

    def add(start: Tensor, pointers: Tensor, others: Tensor, perm: Tensor | None, own: bool, other: bool) -> Tensor:
        dz, partial = torch.empty_like(z), z.new_empty(slots, width, dtype=accumulate_dtype(z))
        backward_kernel[rows + slots, shape["BLOCKS"]](
            z, g, start, pointers, others, values, others if perm is None else perm, delta, eps, partial, dz,
            rows, entries, width, HAS_WEIGHTS=weights is not None, HAS_PERM=perm is not None,
            OWN=own, OTHER=other, VARIANT=variant, **shape,
        )  # fmt: skip
        finish_long_rows(start, pointers, partial, dz, entries)
        return dz

    with on_device(z):
        g, db = _before_activation(grad, out, act)
        if z.numel() == 0:
            return torch.empty_like(z), dw, db
        if t_indptr is None or t_indices is None:
            dz = add(g, indptr, indices, None, own=True, other=True)
        else:
            dz = add(g, indptr, indices, None, own=True, other=False)
            dz = add(dz, t_indptr, t_indices, t_perm, own=False, other=True)
        if needs_weights:
            weight_kernel[(rows + slots,)](
                z, g, indptr, indices, values, delta, eps, dw, rows, entries, width, VARIANT=variant, **shape
            )
    return dz, dw, db
