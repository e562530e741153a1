"""Linear maps, each with the GTV step after it, as one node of autograd on the cpu.

On graphs of some 30 nodes the kernels take less time than what surrounds them: views, separate products with their
gradients, and the bookkeeping of autograd from one layer to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops._backends import kernels, select_backend
from tvgnn.ops._buffers import empty
from tvgnn.ops._second_order import differentiable, pullback
from tvgnn.ops.gtv_step.op import VARIANTS
from tvgnn.ops.gtv_step.reference import ACTIVATIONS, gtv_step_reference

__all__ = ["GTVLayerArguments", "gtv_layers", "run_as_one"]

_ACTS = tuple(ACTIVATIONS)
_SHARED = VARIANTS.index("shared")
_LARGEST_BLOCK = 256  # nodes of a dense graph that one thread is given as a whole


class GTVLayerArguments(NamedTuple):
    """One layer ``gtv_step(x @ weight)``; all but ``weight``, (F, H), as in `gtv_step`."""

    weight: Tensor
    bias: Tensor | None
    delta: float
    eps: float
    act: str = "identity"
    variant: str = "shared"


def run_as_one(x: Tensor, dtype: torch.dtype, adjacency: Adjacency, backend: str) -> bool:
    """Whether `gtv_layers` can run: the cpu's kernels, nodes in the given order, outside torch.compile and autocast."""
    if torch.compiler.is_compiling() or x.dtype != dtype or adjacency.relabelled is not None:
        return False
    kind = x.device.type
    return not torch.is_autocast_enabled(kind) and select_backend(backend, kind, dtype) == "cpu"


def gtv_layers(x: Tensor, adjacency: Adjacency, layers: Sequence[GTVLayerArguments]) -> Tensor:
    """Apply layers one after the other; differentiable in ``x``, the parameters and ``adjacency.values``.

    Parameters:
        x: (..., F), rows in the order of the adjacency's nodes.
        adjacency: as many nodes as ``x`` has rows.
        layers: at least one, all of the dtype of ``x``.

    Returns:
        (..., H) of the last layer.

    """
    steps = [(float(one.delta), float(one.eps), _ACTS.index(one.act), VARIANTS.index(one.variant)) for one in layers]
    parameters = [parameter for one in layers for parameter in (one.weight, one.bias)]
    out: Tensor = _Layers.apply(x, adjacency.values, adjacency, steps, *parameters)
    return out


class _Layers(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        values: Tensor | None,
        adjacency: Adjacency,
        steps: list[tuple[float, float, int, int]],
        *parameters: Tensor | None,
    ) -> Tensor:
        step_forward, lists = kernels("gtv_step", "cpu").forward, adjacency.lists()
        rows = x if x.dim() == 2 else x.flatten(0, -2)
        between = [rows]
        weights = cast(tuple[Tensor, ...], parameters[::2])  # biases may be None
        for step, weight, bias in zip(steps, weights, parameters[1::2], strict=True):
            z = torch.mm(rows, weight, out=empty((rows.shape[0], weight.shape[1]), rows))
            rows = step_forward(z, lists, bias, *step)
            between += [z, rows]
        ctx.save_for_backward(x, values, *parameters, *between)
        ctx.adjacency, ctx.steps = adjacency, steps
        return rows if x.dim() == 2 else rows.view(*x.shape[:-1], rows.shape[1])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, values, *saved = ctx.saved_tensors
        needs_x, needs_values, _, _, *needs_parameters = ctx.needs_input_grad
        settings = ctx.adjacency, ctx.steps, (needs_x, needs_values, *needs_parameters)
        dx, dvalues, *gradients = _differentiable_gradients(*settings, grad, x, values, *saved)
        return dx, dvalues, None, None, *gradients


def _gradients(
    adjacency: Adjacency,
    steps: list[tuple[float, float, int, int]],
    needs: tuple[bool, ...],
    grad: Tensor,
    x: Tensor,
    values: Tensor | None,
    *saved: Any,
) -> tuple[Tensor | None, ...]:
    """Gradients with respect to x, the values and the parameters, from the parameters and what lay between layers."""
    parameters, between = saved[: 2 * len(steps)], saved[2 * len(steps) :]
    needs_x, needs_values, *needs_parameters = needs
    gradients: list[Tensor | None] = [None] * len(parameters)
    dvalues = None
    grad = grad.reshape(between[-1].shape)
    for number in reversed(range(len(steps))):
        rows, z, out = between[2 * number : 2 * number + 3]
        dz, dentries, dbias = _step_gradient(grad, z, out, values, adjacency, steps[number], needs_values)
        if needs_values:
            dvalues = dentries if dvalues is None else dvalues.add_(dentries)
        weight, bias = parameters[2 * number : 2 * number + 2]
        if needs_parameters[2 * number]:
            gradients[2 * number] = torch.mm(rows.T, dz)
        gradients[2 * number + 1] = None if bias is None else dbias
        if number > 0 or needs_x:
            grad = torch.mm(dz, weight.T, out=empty((dz.shape[0], weight.shape[0]), dz))
    dx = grad.view(x.shape) if needs_x else None
    return dx, None if values is None or dvalues is None else dvalues.to(values.dtype), *gradients


def _gradients_by_torch(
    adjacency: Adjacency,
    steps: list[tuple[float, float, int, int]],
    _needs: tuple[bool, ...],
    grad: Tensor,
    x: Tensor,
    values: Tensor | None,
    *saved: Any,
) -> list[Tensor | None]:
    def layers(x: Tensor, values: Tensor | None, *parameters: Any) -> Tensor:
        rows, weighted = x.flatten(0, -2), adjacency.with_values(values)
        for (delta, eps, act, variant), weight, bias in zip(steps, parameters[::2], parameters[1::2], strict=True):
            names = _ACTS[act], VARIANTS[variant]
            rows = gtv_step_reference(rows @ weight, weighted, delta, eps, bias, *names)
        return rows.view(*x.shape[:-1], rows.shape[1])

    return pullback(layers, [x, values, *saved[: 2 * len(steps)]], [grad])


_differentiable_gradients = differentiable(_gradients, _gradients_by_torch)


def _step_gradient(
    grad: Tensor,
    z: Tensor,
    out: Tensor,
    values: Tensor | None,
    adjacency: Adjacency,
    step: tuple[float, float, int, int],
    needs_values: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients with respect to z, the values (or an empty tensor) and the bias."""
    delta, eps, act, variant = step
    if variant == _SHARED and values is not None and 0 < (adjacency.block or 0) <= _LARGEST_BLOCK:
        dense = kernels("gtv_step", "cpu_blocks").backward
        dz, dentries, dbias = dense(grad, z, out, values, adjacency.block, delta, eps, act, needs_values)
    else:
        general, kept = kernels("gtv_step", "cpu").backward, out if act else None
        dz, dentries, dbias = general(grad, z, kept, adjacency.lists(), *step, needs_values)
    return dz, dentries, dbias
