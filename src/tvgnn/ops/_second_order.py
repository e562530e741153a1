"""Gradients of kernels that can be differentiated again, by plain torch.

A kernel's backward pass is opaque to autograd: under ``create_graph=True`` its result would look like a constant, and
second derivatives (gradient penalties, Hessian products) would silently lack its part. Here the kernel still computes
the gradient, and plain torch computes it again only if someone differentiates it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

__all__ = ["differentiable", "pullback", "softmax_gradient"]

Function = Callable[..., Any]


def differentiable(kernel: Function, by_torch: Function) -> Function:
    """Return ``kernel``, differentiable through ``by_torch`` where autograd records.

    Parameters:
        kernel: from tensors and anything else to a tensor or a tuple of tensors and Nones.
        by_torch: the same function in differentiable torch; a result may have another dtype, and None stands for one
            that no derivative needs.

    """

    def call(*args: Any) -> Any:
        if not torch.is_grad_enabled():  # an ordinary backward pass
            return kernel(*args)
        return _Kernel.apply(kernel, by_torch, *args)

    return call


class _Kernel(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, kernel: Function, by_torch: Function, *args: Any) -> Any:
        ctx.set_materialize_grads(False)
        ctx.by_torch, ctx.tensors = by_torch, [place for place, arg in enumerate(args) if isinstance(arg, Tensor)]
        ctx.others = [None if isinstance(arg, Tensor) else arg for arg in args]
        ctx.save_for_backward(*(args[place] for place in ctx.tensors))
        return kernel(*args)

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor | None) -> tuple[Tensor | None, ...]:
        args, needed = list(ctx.others), ctx.needs_input_grad[2:]
        for place, tensor in zip(ctx.tensors, ctx.saved_tensors, strict=True):
            args[place] = tensor
        wanted = [place for place in ctx.tensors if needed[place]]
        with torch.enable_grad():
            for place in wanted:
                # An alias each: one argument may have been computed from another, which is not by_torch's concern
                args[place] = args[place].view_as(args[place])
            results = ctx.by_torch(*args)
            results = [results] if isinstance(results, Tensor) else results
            pairs = [
                (result.to(cotangent.dtype), cotangent)
                for result, cotangent in zip(results, cotangents, strict=True)
                if cotangent is not None and result is not None and result.requires_grad
            ]
        gradients: list[Tensor | None] = [None] * len(args)
        if pairs and wanted:
            outputs, given = zip(*pairs, strict=True)
            inputs, again = [args[place] for place in wanted], torch.is_grad_enabled()
            found = torch.autograd.grad(outputs, inputs, given, create_graph=again, allow_unused=True)
            for place, gradient in zip(wanted, found, strict=True):
                gradients[place] = gradient
        return None, None, *gradients


def pullback(
    function: Callable[..., Tensor | tuple[Tensor, ...]],
    inputs: Sequence[Tensor | None],
    cotangents: Sequence[Tensor],
) -> list[Tensor | None]:
    """Gradients of a function's results, each times its cotangent, summed; differentiable in inputs and cotangents.

    Parameters:
        function: differentiable torch, from the inputs to a tensor or a tuple of tensors.
        inputs: floating-point tensors or Nones; half precision is computed in float32.
        cotangents: one for each result.

    Returns:
        A gradient for each input, None for None.

    """
    leaves = [None if one is None else _leaf(one) for one in inputs]
    results = function(*leaves)
    results = (results,) if isinstance(results, Tensor) else results
    given = [cotangent.to(result.dtype) for result, cotangent in zip(results, cotangents, strict=True)]
    present = [leaf for leaf in leaves if leaf is not None]
    found = iter(torch.autograd.grad(results, present, given, create_graph=True, materialize_grads=True))
    return [None if leaf is None else next(found) for leaf in leaves]


def _leaf(x: Tensor) -> Tensor:
    """Return a tensor of its own that needs a gradient, connected to ``x`` where that needs one."""
    x = x.to(torch.promote_types(x.dtype, torch.float32))
    return x.view_as(x) if x.requires_grad else x.detach().requires_grad_()


def softmax_gradient(grad: Tensor, s: Tensor) -> Tensor:
    """Gradient of the logits (N, K) from that of their softmax ``s`` over each row; differentiable in both."""
    return (grad - (grad * s).sum(1, keepdim=True)) * s
