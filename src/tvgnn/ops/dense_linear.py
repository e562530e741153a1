"""Dense features times a weight, into arrays that are reused between epochs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tvgnn.ops._buffers import empty

__all__ = ["dense_linear"]


def dense_linear(x: Tensor, weight: Tensor) -> Tensor:
    """``x @ weight`` by torch's own product.

    Parameters:
        x: (..., F).
        weight: (F, H), same dtype.

    Returns:
        (..., H).

    """
    plain = torch.compiler.is_compiling() or torch.is_autocast_enabled(x.device.type) or x.dim() != 2
    out: Tensor = x @ weight if plain else _Product.apply(x, weight)
    return out


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return torch.mm(x, weight, out=empty((x.shape[0], weight.shape[1]), x))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor | None]:
        x, weight = ctx.saved_tensors
        needs_x, needs_weight = ctx.needs_input_grad
        if torch.is_grad_enabled():  # under create_graph=True: products that can be differentiated again
            return grad @ weight.T if needs_x else None, x.T @ grad if needs_weight else None
        dx = torch.mm(grad, weight.T, out=empty(tuple(x.shape), x)) if needs_x else None
        return dx, torch.mm(x.T, grad) if needs_weight else None
