"""The asymmetric norm around a quantile as a PyTorch operator."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tvgnn.checks import check_rho
from tvgnn.errors import GraphError
from tvgnn.ops._backends import kernels, select_backend
from tvgnn.ops._eager import operator_for
from tvgnn.ops._second_order import pullback
from tvgnn.ops.asymmetric_norm.reference import asymmetric_norm_reference

__all__ = ["asymmetric_norm"]


def asymmetric_norm(s: Tensor, graph_ptr: Tensor | None, rho: float, *, backend: str = "auto") -> Tensor:
    """Measure how far the columns of each graph's assignments stand from their rho-quantiles.

    ``sum_k sum_i |s_ik - quant_k|_rho`` with ``|x|_rho = rho x`` for x >= 0 and ``-x`` below, where ``quant_k`` is the
    (q + 1)-th largest value of the column and ``q = floor(N / (rho + 1))`` (paper, eq. 5 and 12). The gradient flows
    through the element that holds the quantile; among equal ones the first by node index. Deterministic.

    Parameters:
        s: (N, K) float32 or float64, on a GPU bfloat16 or float16 too, nodes grouped by graph.
        graph_ptr: (B + 1,) integers, nodes of graph b are ``graph_ptr[b]:graph_ptr[b + 1]``; None for one graph, which
            spares a GPU the wait for the check of the pointers.
        rho: > 0.
        backend: see `select_backend`.

    Returns:
        (B,), dtype of ``s``; 0 for a graph without nodes.

    Raises:
        ValueError: rho is not a positive number.
        GraphError: ``s`` is not 2-D, or ``graph_ptr`` does not run from 0 to N without a step back.
        BackendUnavailableError: the named backend cannot run here.

    Example:
        >>> s = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
        >>> asymmetric_norm(s, torch.tensor([0, 4]), rho=1.0).tolist()
        [4.0]

    """
    check_rho(rho)
    if s.dim() != 2:
        raise GraphError(f"expected s of shape (N, K), got {tuple(s.shape)}; flatten a batch and say where it is cut")
    if graph_ptr is None:
        graph_ptr = torch.arange(2, device=s.device) * s.shape[0]
    elif not torch.compiler.is_compiling():
        _check_pointers(graph_ptr, s.shape[0])
    chosen = select_backend(backend, s.device, s.dtype)
    if chosen == "reference":
        return asymmetric_norm_reference(s, graph_ptr, rho)
    norms, _ = _call(s, graph_ptr.long(), rho, chosen)  # one compiled kernel for any integer
    return norms


def _check_pointers(graph_ptr: Tensor, nodes: int) -> None:
    good = graph_ptr.dim() == 1 and graph_ptr.shape[0] > 0 and not graph_ptr.is_floating_point()
    if not good or graph_ptr[0] != 0 or graph_ptr[-1] != nodes or bool((graph_ptr.diff() < 0).any()):
        raise GraphError(
            f"expected graph_ptr to be integers that rise from 0 to {nodes}, the rows of s, got {graph_ptr.tolist()}"
        )


def _forward(s: Tensor, graph_ptr: Tensor, rho: float, backend: str) -> tuple[Tensor, Tensor]:
    """Norms (B,) and quantile holders (B, K), the row in ``s`` or -1 for a graph without nodes."""
    norms, holders = kernels("asymmetric_norm", backend).forward(s, graph_ptr, rho)
    return norms, holders


_operator = torch.library.custom_op("tvgnn::asymmetric_norm", mutates_args=())(_forward)


@_operator.register_fake
def _(s: Tensor, graph_ptr: Tensor, rho: float, backend: str) -> tuple[Tensor, Tensor]:
    graphs = graph_ptr.shape[0] - 1
    return s.new_empty(graphs), graph_ptr.new_empty(graphs, s.shape[1])


def _backward(grad: Tensor, s: Tensor, graph_ptr: Tensor, holders: Tensor, rho: float, backend: str) -> Tensor:
    ds: Tensor = kernels("asymmetric_norm", backend).backward(grad, s, graph_ptr, holders, rho)
    return ds


_backward_operator = torch.library.custom_op("tvgnn::asymmetric_norm_backward", mutates_args=())(_backward)


@_backward_operator.register_fake
def _(grad: Tensor, s: Tensor, graph_ptr: Tensor, holders: Tensor, rho: float, backend: str) -> Tensor:
    return torch.empty_like(s, memory_format=torch.contiguous_format)


def _backward_by_torch(
    grad: Tensor, s: Tensor, graph_ptr: Tensor, _holders: Tensor, rho: float, _backend: str
) -> list[Tensor | None]:
    return pullback(lambda s: asymmetric_norm_reference(s, graph_ptr, rho), [s], [grad])


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    s, graph_ptr, ctx.rho, ctx.backend = inputs
    ctx.save_for_backward(s, graph_ptr, output[1])


def _gradient(
    ctx: Any, grad: Tensor, _holders: Tensor | None, *, backward: Any = _backward_operator
) -> tuple[Tensor, None, None, None]:
    ds = backward(grad, *ctx.saved_tensors, ctx.rho, ctx.backend)
    return ds, None, None, None


_operator.register_autograd(_gradient, setup_context=_setup_context)
_call = operator_for(_operator, _forward, _backward, _backward_by_torch, _setup_context, _gradient)
