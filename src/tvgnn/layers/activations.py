"""Activations by name: those that kernels fuse and those of torch.nn.functional."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
from torch import Tensor

from tvgnn.ops.gtv_step import ACTIVATIONS

__all__ = ["activation_function", "resolve_activation"]


def resolve_activation(act: str | Callable[[Tensor], Tensor] | None) -> tuple[str, Callable[[Tensor], Tensor] | None]:
    """Split an activation into (name that the kernel fuses, function to apply afterwards or None).

    Raises:
        ValueError: a name that ``torch.nn.functional`` does not have, a class, or something that is not callable.

    """
    if act is None:
        return "identity", None
    if isinstance(act, type):
        raise ValueError(
            f"expected act to be a name, a function of a tensor or None, got the class {act.__name__}; "
            f"pass an instance, {act.__name__}()"
        )
    if callable(act):
        return "identity", act
    name = act.lower() if isinstance(act, str) else ""
    if name in ACTIVATIONS:
        return name, None
    function = getattr(torch.nn.functional, name, None) if name else None
    if not callable(function) or not _keeps_shape(function):
        raise ValueError(
            f"expected act to be a name in torch.nn.functional that needs no more than "
            f"the numbers (such as 'relu', 'elu', 'gelu'), a callable or None, got {act!r}"
        )
    return "identity", function


def _keeps_shape(function: Callable[..., object]) -> bool:
    """Whether a function of torch.nn.functional works on numbers alone, as an activation does and a loss does not."""
    if torch.compiler.is_compiling():
        return True  # looked at when the layer was made
    probe = torch.zeros(1, 2)
    with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
        warnings.simplefilter("error")  # softmax guesses a dimension, with a warning
        try:
            found = function(probe)
        except Exception:  # whatever it misses
            return False
    return isinstance(found, Tensor) and found.shape == probe.shape


def activation_function(act: str | Callable[[Tensor], Tensor] | None) -> Callable[[Tensor], Tensor]:
    """Return the activation as one function; the arguments and errors are those of `resolve_activation`."""
    fused, function = resolve_activation(act)
    return function or ACTIVATIONS[fused]
