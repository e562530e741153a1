"""Operators called without torch.library, which takes several times as long as a small kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from tvgnn.ops._second_order import differentiable

__all__ = ["operator_for"]

Function = Callable[..., Any]


def operator_for(
    operator: Function,
    forward: Function,
    backward: Function,
    backward_by_torch: Function,
    setup_context: Function,
    gradient: Function,
) -> Function:
    """Return what calls an operator: itself under torch.compile, else an autograd function made of its parts.

    Parameters:
        operator: registered with torch.library.
        forward: what the operator computes.
        backward: what its backward operator computes.
        backward_by_torch: the same in differentiable torch, see `differentiable`.
        setup_context: as in ``register_autograd``.
        gradient: as there, with one more argument, ``backward``, which it calls.

    """

    def forward_and_context(ctx: Any, *inputs: Any) -> Any:
        output = forward(*inputs)
        setup_context(ctx, inputs, output)
        return output

    parts = {
        # One method: with a setup_context of its own torch inspects the signature of forward in every call
        "forward": staticmethod(forward_and_context),
        "backward": staticmethod(partial(gradient, backward=differentiable(backward, backward_by_torch))),
    }
    function: Any = type("_Eager", (torch.autograd.Function,), parts)
    eager: Function = function.apply

    def call(*inputs: Any) -> Any:
        return operator(*inputs) if torch.compiler.is_compiling() else eager(*inputs)

    return call
