"""What the estimators of graph-level tasks refuse, and how they hold graphs out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tvgnn.errors import GraphError, MemoryLimitError
from tvgnn.graph.graph import Graph
from tvgnn.graph.report import ONE_HOT_LABELS
from tvgnn.io.machine_memory import physical_memory
from tvgnn.models.graph_network import KEEPING_NODES, GraphNetworkConfig

__all__ = ["check_batch_fits", "label_columns", "pair", "without_emptying"]

Targets = npt.NDArray[Any]


def label_columns(graphs: Sequence[Graph], expected: str | None = None) -> str | None:
    """Values that one-hot node labels stand for, such as ``"0 to 6"``; None where no graph tells.

    Parameters:
        graphs: of the same width.
        expected: the values of the training graphs.

    Raises:
        GraphError: a graph's columns stand for other values than those of the others.

    """
    for number, graph in enumerate(graphs):
        note = next((note for note in graph.report.notes if note.startswith(ONE_HOT_LABELS)), None)
        if note is None:
            continue
        found = note.removeprefix(ONE_HOT_LABELS).strip()
        if expected is not None and found != expected:
            raise GraphError(
                f"expected columns for the node labels {expected}, as in the other graphs, got {found} in graph "
                f"{number}; give all graphs the same columns with Graph.with_features"
            )
        expected = found
    return expected


def pair(validation: Any) -> tuple[Any, Any]:
    """Return the graphs and the labels of ``fit``'s argument."""
    if isinstance(validation, list | tuple) and len(validation) == 2:
        return validation[0], validation[1]
    got = f"{len(validation)} items" if isinstance(validation, list | tuple) else type(validation).__name__
    raise ValueError(f"expected validation to be a pair (graphs, y), y None for the graphs' own labels, got {got}")


def without_emptying(codes: Targets, counts: Targets, share: int, random: np.random.RandomState) -> tuple[Any, Any]:
    """Hold out at most ``share`` graphs at random and leave at least one of every class, so that it can be learned."""
    left = counts.copy()
    kept: list[int] = []
    held_out: list[int] = []
    for number in random.permutation(len(codes)):
        takes = len(held_out) < share and left[codes[number]] > 1
        (held_out if takes else kept).append(number)
        left[codes[number]] -= takes
    if not held_out:
        raise ValueError(
            f"expected a class with 2 graphs, of which one is held out, got {len(counts)} classes of one; "
            "pass validation=(graphs, y)"
        )
    return np.array(kept), np.array(held_out)


def check_batch_fits(config: GraphNetworkConfig, batch_size: int) -> None:
    """Refuse what cannot be allocated: weights with their gradients and moments, and the pooled adjacencies."""
    width, (first, second) = config.hidden_channels, config.clusters
    weights = width * (config.in_channels + 3 * config.num_layers * width) + config.mlp_channels * (first + second)
    clustered = config.pooling not in KEEPING_NODES
    pooled = batch_size * (first**2 + second**2) if clustered else 0
    needed, available = 4 * (4 * weights + 3 * pooled), physical_memory()
    if available is not None and needed > available:
        raise MemoryLimitError(
            f"training would take about {needed / 2**30:.1f} GiB with clusters {config.clusters}, hidden_channels "
            f"{width} and batch_size {batch_size}, this machine has {available / 2**30:.1f} GiB; lower n_clusters, "
            "ratio, hidden_channels or batch_size"
        )
