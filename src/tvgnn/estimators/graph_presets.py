"""Named settings of `TVGraphClassifier`: the columns of the paper's table of hyper-parameters."""

from __future__ import annotations

from numbers import Real
from typing import Any

__all__ = ["GRAPH_PRESETS", "is_number", "resolve_graph_parameters"]

_NAMES = (
    "num_layers",
    "hidden_channels",
    "act",
    "delta_coeff",
    "mlp_layers",
    "mlp_channels",
    "mlp_act",
    "totvar_coeff",
    "balance_coeff",
    "weight_decay",
    "learning_rate",
    "batch_size",
)

# Hansen & Bianchi (2023), table 5; batch sizes from the text below it.
_TABLE: dict[str, tuple[Any, ...]] = {
    "bench-easy": (1, 32, "relu", 0.724, 3, 64, "relu", 0.594, 0.974, 1e-5, 1e-3, 8),
    "bench-hard": (1, 32, "relu", 2.288, 1, 64, "relu", 0.188, 0.737, 0.0, 5e-4, 8),
    "mutag": (1, 32, "elu", 1.644, 3, 64, "relu", 0.623, 0.832, 1e-4, 1e-2, 8),
    "mutagenicity": (3, 32, "relu", 3.077, 2, 32, "elu", 0.726, 0.982, 1e-5, 5e-4, 8),
    "nci1": (3, 32, "relu", 2.411, 3, 32, "relu", 0.936, 0.639, 1e-3, 5e-4, 8),
    "proteins": (3, 64, "elu", 2.073, 1, 16, "elu", 0.985, 0.751, 1e-3, 1e-3, 8),
    "dd": (1, 64, "elu", 0.622, 2, 32, "relu", 0.354, 0.323, 1e-5, 1e-5, 1),
    "collab": (2, 256, "relu", 0.554, 2, 128, "relu", 0.304, 0.801, 0.0, 5e-5, 8),
    "reddit-binary": (3, 16, "relu", 1.896, 3, 16, "relu", 0.654, 0.962, 1e-3, 1e-3, 1),
}

_COMMON = {"max_epochs": 500, "patience": 20}

GRAPH_PRESETS: dict[str, dict[str, Any]] = {
    name: {**dict(zip(_NAMES, values, strict=True)), **_COMMON} for name, values in _TABLE.items()
}
GRAPH_PRESETS["paper"] = GRAPH_PRESETS["proteins"]  # the largest of its small networks, for data that it did not use

_ONE_BY_ONE = ("topk", "sag")  # trained with batches of one graph in the paper


def is_number(value: Any) -> bool:
    """Whether a parameter is a real number and no bool."""
    return isinstance(value, Real) and not isinstance(value, bool)


def resolve_graph_parameters(preset: str, pooling: str, given: dict[str, Any]) -> dict[str, Any]:
    """Fill what is None in ``given`` from the preset.

    Raises:
        ValueError: unknown preset, or a value of another type than the preset's.

    """
    if not isinstance(preset, str) or preset.lower() not in GRAPH_PRESETS:
        raise ValueError(f"expected preset to be one of {', '.join(GRAPH_PRESETS)}, got {preset!r}")
    defaults = dict(GRAPH_PRESETS[preset.lower()])
    if pooling in _ONE_BY_ONE:
        defaults["batch_size"] = 1
    values = {name: default if given.get(name) is None else given[name] for name, default in defaults.items()}
    for name, default in defaults.items():
        kind = "a name" if isinstance(default, str) else "an integer" if isinstance(default, int) else "a number"
        value = values[name]
        if isinstance(default, int) and hasattr(value, "__index__") and not isinstance(value, bool):
            values[name] = int(value)
        elif isinstance(default, float) and is_number(value):
            values[name] = float(value)
        elif not isinstance(default, str) or not isinstance(value, str):
            raise ValueError(f"expected {name} to be {kind}, got {value!r}")
    return values
