"""Pooled features and adjacencies of a batch of graphs as one node of autograd.

Worth it on small graphs, where the views, copies and separate gradients of the products take most of the time.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.grouping import Grouping
from tvgnn.ops._second_order import differentiable, pullback
from tvgnn.ops.neighbor_sum import neighbor_sum

__all__ = ["coarsen"]


def coarsen(
    s: Tensor, x: Tensor, adjacency: Adjacency, groups: Grouping, *, backend: str = "auto"
) -> tuple[Tensor, Tensor]:
    """``S^T X`` and ``S^T A S`` of every graph; differentiable in s, x and ``adjacency.values``.

    Parameters:
        s: (N, K) assignments.
        x: (N, F) features, same dtype.
        adjacency: N nodes, edges within the graphs of ``groups``.
        groups: graphs of the nodes.
        backend: see `select_backend`.

    Returns:
        Features (B, K, F) and adjacencies (B, K, K).

    """
    if _runs_as_one(s, adjacency, groups, x.shape[1]):
        pooled, connected = _Coarsen.apply(s, x, adjacency.values, adjacency, groups, backend)
        return pooled, connected
    neighbors = neighbor_sum(adjacency, s, backend=backend)
    return groups.products(s, x), groups.products(s, neighbors)


def _runs_as_one(s: Tensor, adjacency: Adjacency, groups: Grouping, width: int) -> bool:
    """Whether `_Coarsen` can run: on the cpu, symmetric, and with a gradient of entries only where these are blocks."""
    kind = s.device.type
    if torch.compiler.is_compiling() or kind != "cpu" or torch.is_autocast_enabled(kind) or not adjacency.symmetric:
        return False
    if adjacency.block is not None and (adjacency.block, s.shape[0]) != (groups.longest, groups.size * adjacency.block):
        return False
    if adjacency.block is None and adjacency.values is not None and adjacency.values.requires_grad:
        return False
    return groups.fits_padding(max(s.shape[1], width))


class _Coarsen(torch.autograd.Function):
    """With G the gradient of ``S^T A S`` and A symmetric, dS = X dX'^T + A S G^T + A S G, dX = S dX', dA = S G S^T."""

    @staticmethod
    def forward(
        ctx: Any,
        s: Tensor,
        x: Tensor,
        values: Tensor | None,
        adjacency: Adjacency,
        groups: Grouping,
        backend: str,
    ) -> tuple[Tensor, Tensor]:
        neighbors = neighbor_sum(adjacency, s, backend=backend)
        padded = [groups.pad(rows) for rows in (s, x, neighbors)]
        ctx.save_for_backward(s, x, values, *padded)
        ctx.given = adjacency.with_values(None if values is None else values.detach()), groups, backend
        transposed = padded[0].transpose(1, 2)
        return transposed @ padded[1], transposed @ padded[2]

    @staticmethod
    def backward(ctx: Any, dx_pooled: Tensor, g: Tensor) -> tuple[Tensor | None, ...]:
        needs = ctx.needs_input_grad[1:3]
        return *_gradients(dx_pooled, g, *ctx.saved_tensors, *ctx.given, needs), None, None, None


def _in_one(
    dx_pooled: Tensor,
    g: Tensor,
    _s: Tensor,
    _x: Tensor,
    values: Tensor | None,
    s: Tensor,
    x: Tensor,
    neighbors: Tensor,
    adjacency: Adjacency,
    groups: Grouping,
    backend: str,
    needs: tuple[bool, bool],
) -> tuple[Tensor | None, ...]:
    """Gradients with respect to s, x and the values, from the padded ones."""
    needs_x, needs_values = needs
    spread = s @ g
    around = g.transpose(1, 2) if adjacency.block is None else g + g.transpose(1, 2)
    ds = groups.unpad(torch.baddbmm(x @ dx_pooled.transpose(1, 2), neighbors, around))
    if adjacency.block is None:  # not (A S) G: a caller's edges may join nodes of different graphs
        ds = ds + neighbor_sum(adjacency, groups.unpad(spread), backend=backend)
    dx = groups.unpad(s @ dx_pooled) if needs_x else None
    dvalues = None
    if needs_values and values is not None:
        dvalues = (spread @ s.transpose(1, 2)).flatten().to(values.dtype)
    return ds, dx, dvalues


def _by_torch(
    dx_pooled: Tensor,
    g: Tensor,
    s: Tensor,
    x: Tensor,
    values: Tensor | None,
    _s: Tensor,
    _x: Tensor,
    _neighbors: Tensor,
    adjacency: Adjacency,
    groups: Grouping,
    _backend: str,
    _needs: tuple[bool, bool],
) -> list[Tensor | None]:
    def products(s: Tensor, x: Tensor, values: Tensor | None) -> tuple[Tensor, Tensor]:
        neighbors = neighbor_sum(adjacency.with_values(values), s, backend="reference")
        return groups.products(s, x), groups.products(s, neighbors)

    return pullback(products, [s, x, values], [dx_pooled, g])


_gradients = differentiable(_in_one, _by_torch)
