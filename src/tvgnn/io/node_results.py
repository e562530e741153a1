"""What a clustering says of each node, as columns that every export format shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tvgnn.errors import DataError
from tvgnn.graph.graph import Graph

__all__ = ["NodeResults", "node_results", "shortest"]


@dataclass(frozen=True)
class NodeResults:
    """One entry a node in each.

    Attributes
    ----------
    ids
        The caller's ids.
    labels
        (N,) int64 clusters from 0.
    columns
        ``confidence``, ``class``, ``p_0``, ``p_1``, ... and ``e_0``, ``e_1``, ..., as far as they are known; None where
        a node has no class.
    """

    ids: list[Any]
    labels: npt.NDArray[np.int64]
    columns: dict[str, list[Any]]


def node_results(
    graph: Graph, labels: Any, confidence: Any = None, assignments: Any = None, embedding: Any = None
) -> NodeResults:
    """Check and collect them.

    Raises
    ------
    DataError
        A length differs from the number of nodes, labels are no integers from 0, or a number is not finite.
    """
    clusters = np.asarray(labels)
    n = graph.num_nodes
    if clusters.shape != (n,) or clusters.dtype.kind not in "iu" or (clusters < 0).any():
        raise DataError(
            f"expected one cluster a node, {n} integers from 0, got shape {clusters.shape} of {clusters.dtype}"
        )
    columns: dict[str, list[Any]] = {}
    if confidence is not None:
        columns["confidence"] = _column(confidence, n, "confidence")
    if graph.y is not None:
        plain = map(_plain, graph.class_names)
        names = [name if isinstance(name, str | int | float) else str(name) for name in plain]
        columns["class"] = [None if code < 0 else names[code] for code in graph.y.tolist()]
    for name, shape, letter, matrix in (
        ("assignments", "(N, K)", "p", assignments),
        ("an embedding", "(N, d)", "e", embedding),
    ):
        if matrix is None:
            continue
        values = np.asarray(matrix)
        if values.ndim != 2 or len(values) != n:
            raise DataError(f"expected {name} of shape {shape} for {n} nodes, got {values.shape}")
        for number, column in enumerate(values.T):
            columns[f"{letter}_{number}"] = _column(column, n, f"{name}, column {number}")
    return NodeResults([_plain(key) for key in graph.node_ids], clusters.astype(np.int64), columns)


def shortest(values: npt.NDArray[Any]) -> list[float]:
    """Return float32 as the shortest decimal numbers that mean them: 0.1 instead of 0.10000000149011612."""
    if values.dtype != np.float32:
        return values.astype(np.float64).tolist()
    return values.astype("U32").astype(np.float64).tolist()


def _column(values: Any, n: int, name: str) -> list[float]:
    numbers = np.asarray(values)
    if numbers.shape != (n,) or numbers.dtype.kind not in "iuf":
        raise DataError(f"expected one number a node in {name}, {n} in all, got shape {numbers.shape}")
    if not np.isfinite(numbers).all():
        raise DataError(f"expected finite numbers in {name}, got {numbers[~np.isfinite(numbers)][0]}")
    return shortest(numbers)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
