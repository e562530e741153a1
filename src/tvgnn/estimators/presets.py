"""Named settings of `TVClustering`; a parameter left None takes the preset's value."""

from __future__ import annotations

from typing import Any

__all__ = ["PRESETS", "resolve_parameters"]

PRESETS: dict[str, dict[str, Any]] = {
    # Hansen & Bianchi (2023), table 5, vertex clustering; patience and tol are ours: the paper trains 10,000 epochs.
    "paper": {
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
    },
}


def resolve_parameters(preset: str, given: dict[str, Any]) -> dict[str, Any]:
    """Fill what is None in ``given`` from the preset and check the ranges that no later part checks.

    Raises:
        ValueError: unknown preset or a value out of range.

    """
    if preset not in PRESETS:
        raise ValueError(f"expected preset to be one of {', '.join(PRESETS)}, got {preset!r}")
    values = {name: default if given[name] is None else given[name] for name, default in PRESETS[preset].items()}
    for name in ("n_init", "hidden_channels", "num_layers", "mlp_channels"):
        if not (isinstance(values[name], int) or hasattr(values[name], "__index__")) or values[name] < 1:
            raise ValueError(f"expected {name} to be an integer >= 1, got {values[name]!r}")
        values[name] = int(values[name])
    return values
