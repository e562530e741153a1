"""The GTV step as a PyTorch operator: custom op, fake kernel and gradient."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tvgnn.errors import GraphError
from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops._backends import kernels, select_backend
from tvgnn.ops._eager import operator_for
from tvgnn.ops._permute import run_relabelled
from tvgnn.ops._second_order import pullback
from tvgnn.ops.gtv_step.reference import ACTIVATIONS, activation_slope, gtv_step_reference
from tvgnn.shapes import NodeFeatures

__all__ = ["VARIANTS", "gtv_step"]

_ACT_CODES = tuple(ACTIVATIONS)
VARIANTS = ("shared", "root_weighted", "per_feature")


def gtv_step(
    z: NodeFeatures,
    adjacency: Adjacency,
    delta: float,
    eps: float = 1e-3,
    *,
    bias: Tensor | None = None,
    act: str = "identity",
    variant: str = "shared",
    backend: str = "auto",
) -> NodeFeatures:
    """Take one step of gradient descent on the graph total variation, then add a bias and apply an activation.

    ``out_i = act(z_i + delta * sum_j gamma_ij (z_j - z_i) + bias)`` with
    ``gamma_ij = a_ij / max(||z_i - z_j||_1, eps)`` (paper, eq. 22 and 24; its ``2 * delta`` is ``delta`` here).
    Differentiable in ``z``, ``adjacency.values`` and ``bias``. Deterministic: bitwise the same in every run.

    Parameters:
        z: (N, F) float32 or float64 (on a GPU bfloat16 or float16 too) node features, after the linear map.
        adjacency: N nodes; row i lists the nodes that i looks at. Self-loops change nothing.
        delta: step size.
        eps: smallest distance that divides, > 0.
        bias: (F,) or None.
        act: ``"identity"``, ``"relu"`` or ``"elu"``.
        variant: ``"shared"``; ``"per_feature"`` (one gamma a feature, eq. 18); ``"root_weighted"`` (distances times
            ``sqrt(a_ij)``, the inner step of the degree-weighted form, appendix A.4).
        backend: see `select_backend`.

    Returns:
        (N, F), dtype of ``z``.

    Raises:
        ValueError: unknown ``act`` or ``variant``.
        GraphError: ``z`` or ``bias`` of another shape.
        BackendUnavailableError: the named backend cannot run here.

    Example:
        >>> edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> path = Adjacency.from_edge_index(edges, None, 3)
        >>> gtv_step(torch.tensor([[0.0], [1.0], [3.0]]), path, delta=1.0).flatten().tolist()
        [1.0, 1.0, 2.0]

    """
    if variant not in VARIANTS or act not in ACTIVATIONS:
        raise ValueError(f"expected variant in {VARIANTS} and act in {_ACT_CODES}, got {variant!r} and {act!r}")
    adjacency.check_rows(z, "z")
    if bias is not None and bias.shape != z.shape[1:]:
        raise GraphError(f"expected bias of shape ({z.shape[1]},), one per column of z, got {tuple(bias.shape)}")
    chosen = select_backend(backend, z.device, z.dtype)
    if chosen == "reference":
        return gtv_step_reference(z, adjacency, delta, eps, bias, act, variant)
    codes = (_ACT_CODES.index(act), VARIANTS.index(variant))

    def step(z: Tensor, adjacency: Adjacency) -> Tensor:
        out: Tensor = _call(z, *adjacency.lists(), bias, delta, eps, *codes, chosen)
        return out

    if adjacency.relabelled is None:
        return step(z, adjacency)
    return run_relabelled(adjacency.relabelled, z, step)


def _forward(
    z: Tensor,
    indptr: Tensor,
    indices: Tensor,
    weights: Tensor | None,
    t_indptr: Tensor | None,
    t_indices: Tensor | None,
    t_perm: Tensor | None,
    bias: Tensor | None,
    delta: float,
    eps: float,
    act: int,
    variant: int,
    backend: str,
) -> Tensor:
    lists = (indptr, indices, weights, t_indptr, t_indices, t_perm)
    out: Tensor = kernels("gtv_step", backend).forward(z, lists, bias, delta, eps, act, variant)
    return out


_operator = torch.library.custom_op("tvgnn::gtv_step", mutates_args=())(_forward)


@_operator.register_fake
def _(z: Tensor, *_args: Any) -> Tensor:
    return torch.empty_like(z, memory_format=torch.contiguous_format)


def _backward(
    grad: Tensor,
    z: Tensor,
    out: Tensor | None,
    indptr: Tensor,
    indices: Tensor,
    weights: Tensor | None,
    t_indptr: Tensor | None,
    t_indices: Tensor | None,
    t_perm: Tensor | None,
    delta: float,
    eps: float,
    act: int,
    variant: int,
    backend: str,
    needs_weights: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients with respect to z (N, F), the weights (E,) or an empty tensor, and the bias (F,)."""
    lists = (indptr, indices, weights, t_indptr, t_indices, t_perm)
    module = kernels("gtv_step", backend)
    dz, dw, db = module.backward(grad, z, out, lists, delta, eps, act, variant, needs_weights)
    return dz, dw, db


_backward_operator = torch.library.custom_op("tvgnn::gtv_step_backward", mutates_args=())(_backward)


@_backward_operator.register_fake
def _(grad: Tensor, z: Tensor, out: Tensor | None, indptr: Tensor, indices: Tensor, *args: Any) -> Any:
    dz = torch.empty_like(z, memory_format=torch.contiguous_format)
    sums = torch.promote_types(z.dtype, torch.float32)  # gradients of half precision are summed in float32
    return dz, z.new_empty(indices.shape[0] if args[-1] else 0, dtype=sums), z.new_empty(z.shape[1], dtype=sums)


def _backward_by_torch(
    grad: Tensor,
    z: Tensor,
    out: Tensor | None,
    indptr: Tensor,
    indices: Tensor,
    weights: Tensor | None,
    _t_indptr: Tensor | None,
    _t_indices: Tensor | None,
    _t_perm: Tensor | None,
    delta: float,
    eps: float,
    act: int,
    variant: int,
    _backend: str,
    _needs_weights: bool,
) -> list[Tensor | None]:
    def step(z: Tensor, weights: Tensor | None) -> Tensor:
        adjacency = Adjacency(indptr, indices, weights, z.shape[0])
        return gtv_step_reference(z, adjacency, delta, eps, None, "identity", VARIANTS[variant])

    if out is not None:
        grad = grad * activation_slope(out, _ACT_CODES[act])
    return [*pullback(step, [z, weights], [grad]), grad.sum(0)]


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    z, indptr, indices, weights, t_indptr, t_indices, t_perm, bias, *ctx.scalars = inputs
    act = ctx.scalars[2]
    ctx.weight_dtype = None if weights is None else weights.dtype
    ctx.has_bias = bias is not None
    ctx.save_for_backward(z, output if act else None, indptr, indices, weights, t_indptr, t_indices, t_perm)


def _gradient(ctx: Any, grad: Tensor, *, backward: Any = _backward_operator) -> tuple[Tensor | None, ...]:
    needs_weights = ctx.needs_input_grad[3]
    dz, dw, db = backward(grad, *ctx.saved_tensors, *ctx.scalars, needs_weights)
    return (
        dz,
        None,
        None,
        dw.to(ctx.weight_dtype) if needs_weights else None,
        None,
        None,
        None,
        db if ctx.has_bias else None,
        None,
        None,
        None,
        None,
        None,
    )


_operator.register_autograd(_gradient, setup_context=_setup_context)
_call = operator_for(_operator, _forward, _backward, _backward_by_torch, _setup_context, _gradient)
