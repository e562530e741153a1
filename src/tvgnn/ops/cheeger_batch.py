"""Assignments of a batch of small graphs and both losses as one node of autograd, for the cpu.

On graphs of some 30 nodes kernels take a tenth of the time that the twenty operators between them take.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.grouping import Grouping
from tvgnn.ops._backends import kernels, select_backend
from tvgnn.ops._second_order import differentiable, pullback, softmax_gradient
from tvgnn.ops.asymmetric_norm.reference import asymmetric_norm_reference
from tvgnn.ops.total_variation.reference import total_variation_reference

__all__ = ["cheeger_batch", "runs_as_one"]


def runs_as_one(logits: Tensor, adjacency: Adjacency, groups: Grouping, backend: str) -> bool:
    """Whether `cheeger_batch` can run: the cpu's kernels, graphs one after the other, outside torch.compile."""
    if torch.compiler.is_compiling() or groups.order is not None or not adjacency.symmetric:
        return False
    return select_backend(backend, logits.device, logits.dtype) == "cpu"


def cheeger_batch(
    logits: Tensor, adjacency: Adjacency, groups: Grouping, rho: float, beta: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Soft assignments, the mean of the graphs' total variation and the mean of their balance.

    A softmax over each row, then per graph the variation over twice the total weight, 0 where there is none, and
    ``1 - norm / (N beta)``, 0 without nodes. Differentiable in the logits and ``adjacency.values``. Deterministic.

    Parameters:
        logits: (N, K) float32 or float64.
        adjacency: N nodes, symmetric.
        groups: graphs that follow each other.
        rho: asymmetry > 0 of the norm.
        beta: largest norm a node.

    Returns:
        Assignments (N, K), total variation and balance (scalars), dtype of ``logits``.

    """
    adjacency.check_rows(logits, "logits")
    s, losses = _CheegerBatch.apply(logits, adjacency.values, adjacency, groups.pointers, float(rho), float(beta))
    variation, balance = losses.unbind()
    return s, variation, balance


class _CheegerBatch(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        logits: Tensor,
        values: Tensor | None,
        adjacency: Adjacency,
        pointers: Tensor,
        rho: float,
        beta: float,
    ) -> tuple[Tensor, Tensor]:
        s, losses, *graphs = kernels("cheeger_cut", "cpu_batch").forward(logits, adjacency, pointers, rho, beta)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(values, s, *graphs)
        ctx.settings = adjacency, pointers, rho, beta
        return s, losses

    @staticmethod
    def backward(ctx: Any, ds: Tensor | None, dlosses: Tensor | None) -> tuple[Tensor | None, ...]:
        values, s, holders, sums = ctx.saved_tensors
        given, needs_values = s.new_zeros(2) if dlosses is None else dlosses, ctx.needs_input_grad[1]
        dlogits, dvalues = _gradients(ds, given, values, s, holders, sums, ctx.settings, needs_values)
        return dlogits, dvalues.to(values.dtype) if needs_values else None, *(None,) * 4


Settings = tuple[Adjacency, Tensor, float, float]


def _by_kernel(
    ds: Tensor | None,
    dlosses: Tensor,
    _values: Tensor | None,
    s: Tensor,
    holders: Tensor,
    sums: Tensor,
    settings: Settings,
    needs_values: bool,
) -> tuple[Tensor, Tensor]:
    """Gradients with respect to the logits and the values or an empty tensor."""
    module = kernels("cheeger_cut", "cpu_batch")
    dlogits, dvalues = module.backward(ds, dlosses, s, holders, sums, *settings, needs_values)
    return dlogits, dvalues


def _by_torch(
    ds: Tensor | None,
    dlosses: Tensor,
    values: Tensor | None,
    s: Tensor,
    _holders: Tensor,
    _sums: Tensor,
    settings: Settings,
    needs_values: bool,
) -> tuple[Tensor, Tensor | None]:
    adjacency, pointers, rho, beta = settings
    nodes = pointers.diff()
    graph = torch.repeat_interleave(torch.arange(nodes.shape[0]), nodes)

    def losses(s: Tensor, values: Tensor | None) -> Tensor:
        weighted, none = adjacency.with_values(values), s.new_zeros(nodes.shape[0])
        variation = none.index_add(0, graph, total_variation_reference(s, weighted))
        weight = none.index_add(0, graph, 2 * weighted.node_weights(s.dtype))
        connected = weight >= torch.finfo(s.dtype).tiny
        balance = 1 - asymmetric_norm_reference(s, pointers, rho) / (nodes.clamp(min=1) * beta)
        return torch.stack([(variation / torch.where(connected, weight, 1)).mean(), (balance * (nodes > 0)).mean()])

    grad, dvalues = pullback(losses, [s, values], [dlosses])
    dlogits = softmax_gradient(cast(Tensor, grad) if ds is None else cast(Tensor, grad) + ds, s)
    return dlogits, dvalues if needs_values else None


_gradients = differentiable(_by_kernel, _by_torch)
