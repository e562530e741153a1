"""Node-wise total variation as a PyTorch operator."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops._backends import kernels, select_backend
from tvgnn.ops._eager import operator_for
from tvgnn.ops._second_order import pullback
from tvgnn.ops.total_variation.reference import total_variation_reference
from tvgnn.shapes import Assignments, NodeValues

__all__ = ["total_variation"]


def total_variation(s: Assignments, adjacency: Adjacency, *, backend: str = "auto") -> NodeValues:
    """Sum the L1 distances from each node to its neighbours: ``tv_i = sum_j a_ij ||s_i - s_j||_1``.

    Summed over the nodes of an undirected graph this is the paper's ``||S||_GTV`` with every edge counted twice; the
    node-wise form lets a batch weigh each graph on its own. Differentiable in ``s`` (subgradient 0 at ties) and
    ``adjacency.values``. Deterministic. Time O(E K), no E x K temporary.

    Parameters:
        s: (N, K) float32 or float64, on a GPU bfloat16 or float16 too.
        adjacency: N nodes.
        backend: see `select_backend`.

    Returns:
        (N,), dtype of ``s``.

    Raises:
        GraphError: ``s`` is not (N, K).
        BackendUnavailableError: the named backend cannot run here.

    Example:
        >>> edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> path = Adjacency.from_edge_index(edges, None, 3)
        >>> total_variation(torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), path).tolist()
        [0.0, 2.0, 2.0]

    """
    adjacency.check_rows(s, "s")
    chosen = select_backend(backend, s.device, s.dtype)
    if chosen == "reference":
        return total_variation_reference(s, adjacency)
    return _call(s, *adjacency.lists(), chosen)


def _forward(
    s: Tensor,
    indptr: Tensor,
    indices: Tensor,
    weights: Tensor | None,
    t_indptr: Tensor | None,
    t_indices: Tensor | None,
    t_perm: Tensor | None,
    backend: str,
) -> Tensor:
    lists = (indptr, indices, weights, t_indptr, t_indices, t_perm)
    out: Tensor = kernels("total_variation", backend).forward(s, lists)
    return out


_operator = torch.library.custom_op("tvgnn::total_variation", mutates_args=())(_forward)


@_operator.register_fake
def _(s: Tensor, *_args: Any) -> Tensor:
    return s.new_empty(s.shape[0])


def _backward(
    grad: Tensor,
    s: Tensor,
    indptr: Tensor,
    indices: Tensor,
    weights: Tensor | None,
    t_indptr: Tensor | None,
    t_indices: Tensor | None,
    t_perm: Tensor | None,
    backend: str,
    needs_weights: bool,
) -> tuple[Tensor, Tensor]:
    """Gradients with respect to s (N, K) and the weights (E,) or an empty tensor."""
    lists = (indptr, indices, weights, t_indptr, t_indices, t_perm)
    ds, dw = kernels("total_variation", backend).backward(grad, s, lists, needs_weights)
    return ds, dw


_backward_operator = torch.library.custom_op("tvgnn::total_variation_backward", mutates_args=())(_backward)


@_backward_operator.register_fake
def _(grad: Tensor, s: Tensor, indptr: Tensor, indices: Tensor, *args: Any) -> tuple[Tensor, Tensor]:
    ds = torch.empty_like(s, memory_format=torch.contiguous_format)
    return ds, s.new_empty(indices.shape[0] if args[-1] else 0, dtype=torch.promote_types(s.dtype, torch.float32))


def _backward_by_torch(
    grad: Tensor,
    s: Tensor,
    indptr: Tensor,
    indices: Tensor,
    weights: Tensor | None,
    _t_indptr: Tensor | None,
    _t_indices: Tensor | None,
    _t_perm: Tensor | None,
    _backend: str,
    _needs_weights: bool,
) -> list[Tensor | None]:
    def variation(s: Tensor, weights: Tensor | None) -> Tensor:
        return total_variation_reference(s, Adjacency(indptr, indices, weights, s.shape[0]))

    return pullback(variation, [s, weights], [grad])


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    *tensors, ctx.backend = inputs
    weights = tensors[3]
    ctx.weight_dtype = None if weights is None else weights.dtype
    ctx.save_for_backward(*tensors)


def _gradient(ctx: Any, grad: Tensor, *, backward: Any = _backward_operator) -> tuple[Tensor | None, ...]:
    needs_weights = ctx.needs_input_grad[3]
    ds, dw = backward(grad, *ctx.saved_tensors, ctx.backend, needs_weights)
    return ds, None, None, dw.to(ctx.weight_dtype) if needs_weights else None, None, None, None, None


_operator.register_autograd(_gradient, setup_context=_setup_context)
_call = operator_for(_operator, _forward, _backward, _backward_by_torch, _setup_context, _gradient)
