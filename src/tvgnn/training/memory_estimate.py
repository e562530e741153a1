"""How much memory training takes, said before it starts."""

from __future__ import annotations

import re
from numbers import Real
from typing import Any

from tvgnn.errors import MemoryLimitError
from tvgnn.models.node_clustering import NodeClusteringConfig
from tvgnn.pooling.base import LARGEST_INNER

__all__ = ["check_memory", "parse_bytes", "readable", "training_bytes"]

_FLOAT, _INDEX = 4, 4
_STATES = 5  # a parameter, its gradient, Adam's two moments and the best state
# The allocator's, and what is too small to list: fitted to measured peaks, from which estimates are 25 % away at most.
_SLACK, _LEAST = 1.15, 32 * 2**20
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def training_bytes(
    config: NodeClusteringConfig,
    nodes: int,
    entries: int,
    nonzeros: int | None,
    *,
    weighted: bool,
    memory: str = "normal",
    precision: str = "float32",
) -> int:
    """Estimated peak of what training adds to the memory of the process, graph and features of the network included.

    Parameters:
        config: architecture.
        nodes: N.
        entries: directed edges.
        nonzeros: of sparse features, None where they are dense.
        weighted: edges carry weights.
        memory, precision: see `NodeClusteringModel`.

    """
    hidden, mlp, clusters = config.hidden_channels, config.mlp_channels, config.n_clusters
    parameters = hidden * (config.in_channels + (config.num_layers - 1) * hidden + config.num_layers)
    parameters += mlp * (hidden + 1) + clusters * ((mlp or hidden) + 1)
    features = _FLOAT * nodes * config.in_channels if nonzeros is None else (_FLOAT + 3 * _INDEX) * nonzeros
    graph = entries * (_INDEX + (_FLOAT if weighted else 0))
    relabelling = 40 * entries  # rows, places and distances as int64, before training
    row = _FLOAT * nodes * hidden
    # Of a layer its product and its output are kept. At the last layer's gradient there are the incoming one, that
    # before the activation and the outgoing one.
    kept = (1 if memory == "low" else 2) * config.num_layers * row
    layers = kept + (3 if memory == "normal" else 4) * row
    inner = 0 if memory == "low" or nodes * mlp > LARGEST_INNER else _FLOAT * nodes * mlp
    head = kept + 5 * inner + row
    if precision != "float32":
        layers, head = layers + config.num_layers * row, head + config.num_layers * row  # rounded copies
    assignments = 4 * _FLOAT * nodes * clusters
    training = max(layers, head) + assignments + _FLOAT * _STATES * parameters
    return _LEAST + int(_SLACK * (features + graph + max(relabelling, training)))


def parse_bytes(limit: Any) -> int | None:
    """Bytes of a limit such as ``"8GB"``, ``"500 MB"`` (powers of 1000) or a number; None is none.

    Raises:
        ValueError: anything else, or nothing positive.

    """
    if limit is None:
        return None
    if isinstance(limit, Real) and not isinstance(limit, bool):
        size = float(limit)
    else:
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)b?\s*", str(limit), re.IGNORECASE)
        size = float(match[1]) * _UNITS[match[2].lower()] if match and isinstance(limit, str) else float("nan")
    if not 0 < size < float("inf"):
        raise ValueError(f"expected max_memory to be a size such as '8GB' or a number of bytes, got {limit!r}")
    return int(size)


def readable(size: float) -> str:
    """Bytes as people write them, for example ``1.25 GB``."""
    for unit, name in ((10**9, "GB"), (10**6, "MB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size / 1000:.3g} kB"


def check_memory(estimate: int, limit: int | None, memory: str, *, encoded: bool = False) -> None:
    """Refuse to train above the limit; ``encoded`` where there are no layers that are trained.

    Raises:
        MemoryLimitError: names both and what to change.

    """
    if limit is None or estimate <= limit:
        return
    saves = "memory='low', smaller hidden_channels or mlp_channels"
    if memory != "normal":
        saves = "smaller hidden_channels or mlp_channels"
    if encoded:
        saves = "a smaller batch_size or hidden_channels or fewer features"
    raise MemoryLimitError(
        f"expected training to fit into max_memory, {readable(limit)}, but it is estimated to take "
        f"{readable(estimate)}; use {saves}, or raise max_memory"
    )
