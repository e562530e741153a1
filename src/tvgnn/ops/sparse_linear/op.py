"""Sparse features times a dense weight as a PyTorch operator."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tvgnn.errors import GraphError
from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.ops._backends import select_backend
from tvgnn.ops.sparse_linear.reference import sparse_linear_reference

__all__ = ["sparse_linear"]

_CACHE_BYTES = 8 * 2**20
_BLOCK_COLUMNS = 64


def sparse_linear(x: SparseMatrix, weight: Tensor, *, backend: str = "auto") -> Tensor:
    """Multiply a sparse matrix by a dense one, ``x @ weight``.

    Differentiable in ``weight`` and ``x.values``; the gradient gathers along the columns of ``x``, so it needs
    ``x.transposed`` unless ``x`` is symmetric. Deterministic. An `Adjacency` is such a matrix: ``A S`` is one call.

    Parameters:
        x: (N, F) sparse.
        weight: (F, H) float32 or float64.
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
    if select_backend(backend, weight.device, weight.dtype) == "reference":
        return sparse_linear_reference(x, weight)
    lists = x.transposed
    if lists is None and not x.symmetric:
        raise GraphError("expected column lists for a matrix that is not symmetric; build it with from_csr()")
    return torch.ops.tvgnn.sparse_linear(
        weight,
        x.indptr,
        x.indices,
        x.values,
        x.indptr if lists is None else lists.indptr,
        x.indices if lists is None else lists.indices,
        None if lists is None else lists.perm,
    )


def _product(indptr: Tensor, indices: Tensor, values: Tensor | None, weight: Tensor) -> Tensor:
    from tvgnn.ops._numba import as_array, entry_values, use_threads
    from tvgnn.ops.sparse_linear import cpu

    rows, width = indptr.shape[0] - 1, weight.shape[1]
    lists = (as_array(indptr), as_array(indices), entry_values(values, weight))
    # Gathering from a matrix that no cache holds is faster a few columns at a time, each block copied together first.
    too_large = weight.nbytes > _CACHE_BYTES and rows <= weight.shape[0]
    blocks = weight.split(_BLOCK_COLUMNS, dim=1) if too_large and width > _BLOCK_COLUMNS else (weight,)
    outs = []
    use_threads((rows + indices.shape[0]) * blocks[0].shape[1])
    for block in blocks:
        outs.append(weight.new_empty(rows, block.shape[1]))
        cpu.product(*lists, as_array(block), as_array(outs[-1]))
    return outs[0] if len(outs) == 1 else torch.cat(outs, dim=1)


@torch.library.custom_op("tvgnn::sparse_linear", mutates_args=(), device_types="cpu")
def _forward(
    weight: Tensor,
    indptr: Tensor,
    indices: Tensor,
    values: Tensor | None,
    t_indptr: Tensor,
    t_indices: Tensor,
    t_perm: Tensor | None,
) -> Tensor:
    return _product(indptr, indices, values, weight)


@_forward.register_fake
def _(weight: Tensor, indptr: Tensor, *_args: Any) -> Tensor:
    return weight.new_empty(indptr.shape[0] - 1, weight.shape[1])


@torch.library.custom_op("tvgnn::sparse_linear_backward", mutates_args=(), device_types="cpu")
def _backward(
    grad: Tensor,
    weight: Tensor,
    indptr: Tensor,
    indices: Tensor,
    values: Tensor | None,
    t_indptr: Tensor,
    t_indices: Tensor,
    t_perm: Tensor | None,
    needs_weight: bool,
    needs_values: bool,
) -> tuple[Tensor, Tensor]:
    """Gradients with respect to weight (F, H) and values (entries,), each empty where nobody asks for it."""
    from tvgnn.ops._numba import as_array, use_threads
    from tvgnn.ops.sparse_linear import cpu

    dweight = weight.new_empty(0, 0)
    if needs_weight:
        by_column = values if values is None or t_perm is None else values.index_select(0, t_perm)
        dweight = _product(t_indptr, t_indices, by_column, grad)
    dvalues = weight.new_empty(indices.shape[0] if needs_values else 0)
    if needs_values:
        use_threads(indices.shape[0] * weight.shape[1])
        cpu.value_gradient(as_array(indptr), as_array(indices), as_array(grad), as_array(weight), as_array(dvalues))
    return dweight, dvalues


@_backward.register_fake
def _(grad: Tensor, weight: Tensor, indptr: Tensor, indices: Tensor, *args: Any) -> tuple[Tensor, Tensor]:
    needs_weight, needs_values = args[-2:]
    dweight = weight.new_empty(weight.shape) if needs_weight else weight.new_empty(0, 0)
    return dweight, weight.new_empty(indices.shape[0] if needs_values else 0)


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    values = inputs[3]
    ctx.value_dtype = None if values is None else values.dtype
    ctx.save_for_backward(*inputs)


def _gradient(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
    needs_weight, needs_values = ctx.needs_input_grad[0], ctx.needs_input_grad[3]
    dweight, dvalues = torch.ops.tvgnn.sparse_linear_backward(grad, *ctx.saved_tensors, needs_weight, needs_values)
    return (
        dweight if needs_weight else None,
        None,
        None,
        dvalues.to(ctx.value_dtype) if needs_values else None,
        None,
        None,
        None,
    )


_forward.register_autograd(_gradient, setup_context=_setup_context)
