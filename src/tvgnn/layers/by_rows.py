"""Row-wise modules in pieces of rows, whose inner activations are computed again in the backward pass."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from tvgnn.ops._buffers import empty, empty_like
from tvgnn.ops._second_order import differentiable, pullback

__all__ = ["by_rows"]


def by_rows(module: nn.Module, x: Tensor, rows: int) -> Tensor:
    """Apply a module that treats every row alike, keeping no more than ``rows`` rows of what lies inside it.

    Costs one more forward pass of the module in training. Gradients equal those of ``module(x)`` up to the order of
    sums.

    Parameters:
        module: maps (N, F) to (N, G) row by row, without randomness or state.
        x: (N, F).
        rows: rows of a piece, >= 1.

    Returns:
        (N, G), what ``module(x)`` gives.

    """
    if x.shape[0] <= rows:
        out: Tensor = module(x)
        return out
    out = _ByRows.apply(module, x, rows, *module.parameters())
    return out


class _ByRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, module: nn.Module, x: Tensor, rows: int, *parameters: Tensor) -> Tensor:
        ctx.module, ctx.rows = module, rows
        ctx.autocast = torch.get_autocast_dtype(x.device.type), torch.is_autocast_enabled(x.device.type)
        ctx.save_for_backward(x, *parameters)
        first: Tensor = module(x[:rows])
        out = empty((x.shape[0], *first.shape[1:]), first)
        out[:rows] = first
        for start in range(rows, x.shape[0], rows):
            out[start : start + rows] = module(x[start : start + rows])
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        settings = ctx.module, ctx.rows, ctx.autocast, ctx.needs_input_grad[1]
        dx, *gradients = _gradients(*settings, grad, *ctx.saved_tensors)
        return None, dx, None, *gradients


def _piecewise(
    module: nn.Module,
    rows: int,
    autocast: tuple[torch.dtype, bool],
    needs_x: bool,
    grad: Tensor,
    x: Tensor,
    *parameters: Tensor,
) -> tuple[Tensor | None, ...]:
    """Gradients with respect to x and the parameters."""
    wanted = [parameter for parameter in parameters if parameter.requires_grad]
    dx = empty_like(x) if needs_x else None
    sums = [torch.zeros_like(parameter) for parameter in wanted]
    dtype, enabled = autocast
    for start in range(0, x.shape[0], rows):
        piece = x[start : start + rows].detach().requires_grad_(dx is not None)
        with torch.enable_grad(), torch.autocast(x.device.type, dtype, enabled):
            out = module(piece)
        inputs = [*([] if dx is None else [piece]), *wanted]
        grads = list(torch.autograd.grad(out, inputs, grad[start : start + rows]))
        if dx is not None:
            dx[start : start + rows] = grads.pop(0)
        torch._foreach_add_(sums, grads)
    by_parameter = iter(sums)
    return dx, *(next(by_parameter) if p.requires_grad else None for p in parameters)


def _at_once(
    module: nn.Module,
    _rows: int,
    autocast: tuple[torch.dtype, bool],
    _needs_x: bool,
    grad: Tensor,
    x: Tensor,
    *parameters: Tensor,
) -> list[Tensor | None]:
    names = [name for name, _ in module.named_parameters()]
    dtype, enabled = autocast

    def apply(x: Tensor, *parameters: Tensor) -> Tensor:
        with torch.autocast(x.device.type, dtype, enabled):
            out: Tensor = torch.func.functional_call(module, dict(zip(names, parameters, strict=True)), (x,))
        return out

    return pullback(apply, [x, *parameters], [grad])


_gradients = differentiable(_piecewise, _at_once)
