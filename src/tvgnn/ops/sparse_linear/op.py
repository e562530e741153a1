"""Sparse features times a dense weight as a PyTorch operator."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tvgnn.errors import GraphError
from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.ops._backends import kernels, select_backend
from tvgnn.ops._eager import operator_for
from tvgnn.ops._second_order import pullback
from tvgnn.ops.sparse_linear.reference import sparse_linear_reference

__all__ = ["sparse_linear"]


def sparse_linear(x: SparseMatrix, weight: Tensor, *, backend: str = "auto") -> Tensor:
    """Multiply a sparse matrix by a dense one, ``x @ weight``.

    Differentiable in ``weight`` and ``x.values``; the gradient gathers along the columns of ``x``, so it needs
    ``x.transposed`` unless ``x`` is symmetric. Deterministic. An `Adjacency` is such a matrix: ``A S`` is one call.

    Parameters:
        x: (N, F) sparse.
        weight: (F, H) float32 or float64, on a GPU bfloat16 or float16 too.
        backend: see `select_backend`.

    Returns:
        (N, H), dtype of ``weight``.

    Raises:
        GraphError: ``weight`` is not (F, H), or ``x`` lacks the column lists it needs.
        BackendUnavailableError: the named backend cannot run here.

    Example:
        >>> x = SparseMatrix.from_torch(torch.tensor([[0.0, 2.0], [1.0, 0.0]]).to_sparse())
        >>> sparse_linear(x, torch.tensor([[1.0], [10.0]])).flatten().tolist()
        [20.0, 1.0]

    """
    if weight.dim() != 2 or x.num_columns != weight.shape[0]:
        raise GraphError(
            f"expected weight of shape ({x.num_columns}, H), one row per column of x, got {tuple(weight.shape)}"
        )
    chosen = select_backend(backend, weight.device, weight.dtype)
    if chosen == "reference":
        return sparse_linear_reference(x, weight)
    if x.transposed is None and not x.symmetric and weight.requires_grad and torch.is_grad_enabled():
        raise GraphError("expected column lists for a matrix that is not symmetric; build it with from_csr()")
    return _call(weight, *x.lists(), chosen)


def _forward(
    weight: Tensor,
    indptr: Tensor,
    indices: Tensor,
    values: Tensor | None,
    t_indptr: Tensor | None,
    t_indices: Tensor | None,
    t_perm: Tensor | None,
    backend: str,
) -> Tensor:
    lists = (indptr, indices, values, t_indptr, t_indices, t_perm)
    out: Tensor = kernels("sparse_linear", backend).forward(weight, lists)
    return out


_operator = torch.library.custom_op("tvgnn::sparse_linear", mutates_args=())(_forward)


@_operator.register_fake
def _(weight: Tensor, indptr: Tensor, *_args: Any) -> Tensor:
    return weight.new_empty(indptr.shape[0] - 1, weight.shape[1])


def _backward(
    grad: Tensor,
    weight: Tensor,
    indptr: Tensor,
    indices: Tensor,
    values: Tensor | None,
    t_indptr: Tensor | None,
    t_indices: Tensor | None,
    t_perm: Tensor | None,
    backend: str,
    needs_weight: bool,
    needs_values: bool,
) -> tuple[Tensor, Tensor]:
    """Gradients with respect to weight (F, H) and values (entries,), each empty where nobody asks for it."""
    lists = (indptr, indices, values, t_indptr, t_indices, t_perm)
    module = kernels("sparse_linear", backend)
    dweight, dvalues = module.backward(grad, weight, lists, needs_weight, needs_values)
    return dweight, dvalues


_backward_operator = torch.library.custom_op("tvgnn::sparse_linear_backward", mutates_args=())(_backward)


@_backward_operator.register_fake
def _(grad: Tensor, weight: Tensor, indptr: Tensor, indices: Tensor, *args: Any) -> tuple[Tensor, Tensor]:
    needs_weight, needs_values = args[-2:]
    dweight = weight.new_empty(weight.shape) if needs_weight else weight.new_empty(0, 0)
    sums = torch.promote_types(weight.dtype, torch.float32)  # gradients of half precision are summed in float32
    return dweight, weight.new_empty(indices.shape[0] if needs_values else 0, dtype=sums)


def _backward_by_torch(
    grad: Tensor,
    weight: Tensor,
    indptr: Tensor,
    indices: Tensor,
    values: Tensor | None,
    _t_indptr: Tensor | None,
    _t_indices: Tensor | None,
    _t_perm: Tensor | None,
    _backend: str,
    needs_weight: bool,
    needs_values: bool,
) -> list[Tensor | None]:
    def product(weight: Tensor, values: Tensor | None) -> Tensor:
        return sparse_linear_reference(SparseMatrix(indptr, indices, values, weight.shape[0]), weight)

    dweight, dvalues = pullback(product, [weight, values], [grad])
    return [dweight if needs_weight else None, dvalues if needs_values else None]


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    *tensors, ctx.backend = inputs
    values = tensors[3]
    ctx.value_dtype = None if values is None else values.dtype
    ctx.save_for_backward(*tensors)


def _gradient(ctx: Any, grad: Tensor, *, backward: Any = _backward_operator) -> tuple[Tensor | None, ...]:
    needs_weight, needs_values = ctx.needs_input_grad[0], ctx.needs_input_grad[3]
    needs = (needs_weight, needs_values)
    dweight, dvalues = backward(grad, *ctx.saved_tensors, ctx.backend, *needs)
    return (
        dweight if needs_weight else None,
        None,
        None,
        dvalues.to(ctx.value_dtype) if needs_values else None,
        None,
        None,
        None,
        None,
    )


_operator.register_autograd(_gradient, setup_context=_setup_context)
_call = operator_for(_operator, _forward, _backward, _backward_by_torch, _setup_context, _gradient)
