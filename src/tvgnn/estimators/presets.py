"""Named settings of `TVClustering`; a parameter left None takes the preset's value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from tvgnn.checks import is_integer
from tvgnn.wording import setting

__all__ = ["PRESETS", "SETTINGS", "check_options", "positive_integer", "preset_without_name", "resolve_parameters"]

_PAPER: dict[str, Any] = {
    # Hansen & Bianchi (2023), table 5, vertex clustering; patience and tol are ours: the paper trains 10,000 epochs.
    "max_iter": 10_000,
    "patience": 100,
    "tol": 1e-5,
    "n_init": 1,
    "hidden_channels": 512,
    "num_layers": 2,
    "mlp_channels": 256,
    "delta_coeff": 0.311,
    "totvar_coeff": 0.785,
    "balance_coeff": 0.514,
    "rho": None,
    "learning_rate": 1e-3,
}

# The authors' PyTorch script for vertex clustering: its list of hidden widths is one short, so that the assignments are
# a linear map of the last convolution, and its GTVConv draws larger first weights. That is nearer to the paper.
_RELEASED = _PAPER | {"mlp_channels": 0, "fan": "out"}

# A sixteenth of the paper's width, so that an epoch takes little. Distances grow with the width and GTVConv divides by
# them: on sbm-denoising a step of 1 smooths at this width, 0.311 needs more epochs, and with 10 all nodes fall into one
# cluster. Ten times the learning rate, as there are few epochs. Several restarts, as single ones often end in a poor
# minimum even on disconnected cliques: seeds would then disagree for want of training, not of structure.
_QUICK = _PAPER | {
    "max_iter": 60,
    "n_init": 4,
    "hidden_channels": 32,
    "mlp_channels": 32,
    "delta_coeff": 1.0,
    "learning_rate": 1e-2,
}

# Ours, the same on every graph, see docs/quality.md. num_layers is chosen by the data; balance follows the sizes
# that are found, so there is no rho, and the head is linear, so there is no mlp_channels and no delta_coeff.
_QUALITY: dict[str, Any] = {
    "max_iter": 100,
    "patience": 20,
    "tol": 0.0,
    "n_init": 3,
    "hidden_channels": 64,
    "num_layers": None,
    "totvar_coeff": 0.785,
    "balance_coeff": 0.514,
    "learning_rate": 1e-2,
    "batch_size": None,
}

_NOT_OF_QUALITY = (
    ("precision", "float32", "its sums are taken in float32"),
    ("memory", "normal", "it keeps no activations that could be computed again"),
)
"""How to compute that the quality preset does not know but by its default, and why."""

_COUNTS = {"num_layers", "batch_size"}  # whole numbers that may be None

PRESETS: dict[str, dict[str, Any]] = {"paper": _PAPER, "quick": _QUICK, "quality": _QUALITY, "released": _RELEASED}

SETTINGS = tuple(_PAPER | _QUALITY)
"""Parameters of `TVClustering` that presets set; each preset has some of them."""


def preset_without_name(given: Mapping[str, Any]) -> str:
    """Preset of a user's own data where none is named.

    The paper's network can put all nodes into one cluster on small or noisy graphs that ``"quality"`` tells apart in
    less time, so that is what a first call should meet; ``"paper"`` where something is given that only it has.

    Parameters:
        given: parameters of `TVClustering` by name; None counts as not given.

    Example:
        >>> preset_without_name({"max_iter": 50}), preset_without_name({"delta_coeff": 5.0})
        ('quality', 'paper')
        >>> preset_without_name({"memory": "normal"}), preset_without_name({"memory": "low"})
        ('quality', 'paper')

    """
    named = {name for name, value in given.items() if value is not None}
    computed_so = any(given.get(name, default) != default for name, default, _ in _NOT_OF_QUALITY)
    return "paper" if computed_so or named & (_PAPER.keys() - _QUALITY.keys()) else "quality"


def resolve_parameters(preset: str, given: dict[str, Any]) -> dict[str, Any]:
    """Fill what is None in ``given`` from the preset and check the types, and the ranges that no later part checks.

    Raises:
        ValueError: unknown preset or a value of another type or out of range.

    """
    if not isinstance(preset, str) or preset not in PRESETS:
        raise ValueError(f"expected preset to be one of {', '.join(PRESETS)}, got {preset!r}")
    defaults = PRESETS[preset]
    foreign = [name for name, value in given.items() if value is not None and name not in defaults]
    if foreign:
        others = [repr(name) for name, values in PRESETS.items() if values.keys() >= set(foreign)]
        raise ValueError(
            f"expected the parameters of preset={preset!r} ({', '.join(defaults)}), got {', '.join(foreign)}; "
            f"leave it None{' or take preset=' + ' or '.join(others) if others else ''}"
        )
    values = {name: default if given.get(name) is None else given[name] for name, default in defaults.items()}
    for name, default in defaults.items():
        if isinstance(default, int) or (name in _COUNTS and values[name] is not None):
            values[name] = positive_integer(name, values[name], least=0 if name == "mlp_channels" else 1)
        elif values[name] is not None and not isinstance(default, str) and not isinstance(values[name], Real):
            raise ValueError(f"expected {name} to be a number, got {values[name]!r}")
    for name in ("tol", "totvar_coeff", "balance_coeff"):
        if not 0 <= values[name] < math.inf:
            raise ValueError(f"expected {name} to be a number >= 0, got {values[name]!r}")
    if not 0 < values["learning_rate"] < math.inf:
        raise ValueError(f"expected a positive learning_rate, got {values['learning_rate']!r}")
    return values


def check_options(preset: str, *, memory: Any, precision: Any) -> None:
    """Refuse how to compute where the preset does not compute so.

    Raises:
        ValueError: another value than the default with ``"quality"``, whose encoder is not trained.

    """
    if preset != "quality":
        return
    given_by_name = {"precision": precision, "memory": memory}
    for name, default, why in _NOT_OF_QUALITY:
        given = given_by_name[name]
        if given != default:
            raise ValueError(
                f"expected {setting(name, default)} with {setting('preset', preset)}, got {given!r}: {why}; leave it "
                f"out, or take {setting('preset', 'paper')}"
            )


def positive_integer(name: str, value: Any, least: int = 1) -> int:
    """Return ``value`` as an int, NumPy's integers included.

    Raises:
        ValueError: it is no integer, or below ``least``.

    """
    if not is_integer(value, least):
        raise ValueError(f"expected {name} to be an integer >= {least}, got {value!r}")
    return int(value)
