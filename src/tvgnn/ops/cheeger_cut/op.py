"""The terms of the asymmetric Cheeger cut of one graph, from the scores of the clusters, as one PyTorch operator."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

from tvgnn.checks import check_rho
from tvgnn.errors import GraphError
from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops._backends import kernels, select_backend
from tvgnn.ops._eager import operator_for
from tvgnn.ops._second_order import pullback, softmax_gradient
from tvgnn.ops.asymmetric_norm.reference import asymmetric_norm_reference
from tvgnn.ops.cheeger_cut.reference import cheeger_cut_unfused
from tvgnn.ops.total_variation.reference import total_variation_reference

__all__ = ["cheeger_cut"]


def cheeger_cut(
    logits: Tensor, adjacency: Adjacency, rho: float, *, backend: str = "auto"
) -> tuple[Tensor, Tensor, Tensor]:
    """Soft assignments of one graph's nodes, their total variation and their asymmetric norm.

    The same as a softmax over each row, the sum of `total_variation` and `asymmetric_norm` of a single graph, whose
    intermediate arrays it does without. Deterministic. Weights that need a gradient take the three separate operators,
    and so does every backend but the cpu's.

    Parameters:
        logits: (N, K) float32 or float64, N and K at least 1.
        adjacency: N nodes.
        rho: asymmetry > 0 of the norm.
        backend: see `select_backend`.

    Returns:
        Assignments (N, K), total variation and norm (scalars), dtype of ``logits``.

    Raises:
        ValueError: rho is not a positive number.
        GraphError: ``logits`` is not (N, K) or empty.
        BackendUnavailableError: the named backend cannot run here.

    Example:
        >>> edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> path = Adjacency.from_edge_index(edges, None, 4)
        >>> sharp = 100 * torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
        >>> _, variation, norm = cheeger_cut(sharp, path, rho=1.0)
        >>> variation.item(), norm.item()
        (4.0, 4.0)

    """
    check_rho(rho)
    adjacency.check_rows(logits, "logits")
    if logits.numel() == 0:
        raise GraphError(f"expected logits of at least one node and one cluster, got {tuple(logits.shape)}")
    chosen = select_backend(backend, logits.device, logits.dtype)
    weights_need_gradient = adjacency.values is not None and adjacency.values.requires_grad
    if chosen != "cpu" or weights_need_gradient:
        return cheeger_cut_unfused(logits, adjacency, rho, chosen)
    s, variation, norm, _ = _call(logits, *adjacency.lists(), rho)
    return s, variation, norm


def _forward(
    logits: Tensor,
    indptr: Tensor,
    indices: Tensor,
    weights: Tensor | None,
    t_indptr: Tensor | None,
    t_indices: Tensor | None,
    t_perm: Tensor | None,
    rho: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Assignments (N, K), total variation, norm, and quantile holders (1, K)."""
    lists = (indptr, indices, weights, t_indptr, t_indices, t_perm)
    s, variation, norm, holders = kernels("cheeger_cut", "cpu").forward(logits, lists, rho)
    return s, variation, norm, holders


_operator = torch.library.custom_op("tvgnn::cheeger_cut", mutates_args=())(_forward)


@_operator.register_fake
def _(logits: Tensor, *_args: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    s = torch.empty_like(logits, memory_format=torch.contiguous_format)
    holders = torch.empty(1, logits.shape[1], dtype=torch.int64, device=logits.device)
    return s, logits.new_empty(()), logits.new_empty(()), holders


def _backward(
    ds: Tensor | None,
    dvariation: Tensor,
    dnorm: Tensor,
    s: Tensor,
    holders: Tensor,
    indptr: Tensor,
    indices: Tensor,
    weights: Tensor | None,
    t_indptr: Tensor | None,
    t_indices: Tensor | None,
    t_perm: Tensor | None,
    rho: float,
) -> Tensor:
    lists = (indptr, indices, weights, t_indptr, t_indices, t_perm)
    grad: Tensor = kernels("cheeger_cut", "cpu").backward(ds, dvariation, dnorm, s, holders, lists, rho)
    return grad


_backward_operator = torch.library.custom_op("tvgnn::cheeger_cut_backward", mutates_args=())(_backward)


@_backward_operator.register_fake
def _(ds: Tensor | None, dvariation: Tensor, dnorm: Tensor, s: Tensor, *_args: Any) -> Tensor:
    return torch.empty_like(s)


def _backward_by_torch(
    ds: Tensor | None,
    dvariation: Tensor,
    dnorm: Tensor,
    s: Tensor,
    _holders: Tensor,
    indptr: Tensor,
    indices: Tensor,
    weights: Tensor | None,
    _t_indptr: Tensor | None,
    _t_indices: Tensor | None,
    _t_perm: Tensor | None,
    rho: float,
) -> Tensor:
    adjacency, graph_ptr = Adjacency(indptr, indices, weights, s.shape[0]), torch.arange(2) * s.shape[0]

    def terms(s: Tensor) -> tuple[Tensor, Tensor]:
        return total_variation_reference(s, adjacency).sum(), asymmetric_norm_reference(s, graph_ptr, rho)[0]

    (grad,) = pullback(terms, [s], [dvariation, dnorm])
    return softmax_gradient(cast(Tensor, grad) if ds is None else cast(Tensor, grad) + ds, s)


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
    _, *lists, ctx.rho = inputs
    ctx.set_materialize_grads(False)
    ctx.mark_non_differentiable(output[3])
    ctx.save_for_backward(output[0], output[3], *lists)


def _gradient(
    ctx: Any,
    ds: Tensor | None,
    dvariation: Tensor | None,
    dnorm: Tensor | None,
    _holders: Tensor | None,
    *,
    backward: Any = _backward_operator,
) -> tuple[Tensor | None, ...]:
    zero = ctx.saved_tensors[0].new_zeros(())
    terms = (zero if dvariation is None else dvariation, zero if dnorm is None else dnorm)
    return backward(ds, *terms, *ctx.saved_tensors, ctx.rho), *(None,) * 7


_operator.register_autograd(_gradient, setup_context=_setup_context)
_call = operator_for(_operator, _forward, _backward, _backward_by_torch, _setup_context, _gradient)
