"""Operators on rows in another order of the nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.locality import Relabelled
from tvgnn.ops._buffers import empty_like

__all__ = ["run_relabelled"]


def run_relabelled(relabelled: Relabelled, x: Tensor, operator: Callable[[Tensor, Adjacency], Tensor]) -> Tensor:
    """Apply an operator from rows (N, F) to rows (N, G) in the new order; rows come and go in the old one."""
    there = _permuted(x, relabelled.nodes, relabelled.places)
    return _permuted(operator(there, relabelled.adjacency), relabelled.places, relabelled.nodes)


def _permuted(x: Tensor, order: Tensor, inverse: Tensor) -> Tensor:
    out: Tensor = x[order] if torch.compiler.is_compiling() else _PermuteRows.apply(x, order, inverse)
    return out


class _PermuteRows(torch.autograd.Function):
    """Rows in another order; the gradient is gathered too, where torch's own indexing would scatter it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, order: Tensor, inverse: Tensor) -> Tensor:
        ctx.save_for_backward(order, inverse)
        return torch.index_select(x, 0, order, out=empty_like(x))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        order, inverse = ctx.saved_tensors
        return _PermuteRows.apply(grad, inverse, order), None, None  # so that it can be differentiated again
