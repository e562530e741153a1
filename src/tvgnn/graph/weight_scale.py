"""Weights of any size in numbers that float32 can multiply and sum."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tvgnn.graph.graph import Graph

__all__ = ["checked_scale", "trained_scale", "weight_scale", "with_scaled_weights"]

_ORDINARY = (1e-6, 1e6)  # of the largest weight; such ones are used as they are
_ABOUT_ONE = (0.1, 5.0)  # of the mean weight
_LEAST = 1e-30  # of the largest: reciprocals of smaller ones overflow, and sums tell no difference


def weight_scale(*graphs: Graph, about_one: bool = False) -> float:
    """What the weights of graphs are divided by before anything is computed of them: 1, the largest, or their mean.

    Parameters
    ----------
    *graphs : Graph
        Any; edges without weights count as 1.
    about_one : bool, default False
        Whether weights should be about 1, as for plain GTV steps, which move a node by its weight times ``delta``: with
        counts of a hundred they overshoot, with hundredths they do nothing. Then a mean outside 0.1 to 5 is divided by.
    """
    largest = max((float(graph.weights.max(initial=0)) for graph in graphs if graph.is_weighted), default=0.0)
    if largest == 0:
        return 1.0
    entries = sum(graph.weights.size for graph in graphs)
    mean = sum(float(graph.weights.sum(dtype=np.float64)) for graph in graphs) / entries
    if about_one and not _ABOUT_ONE[0] <= mean <= _ABOUT_ONE[1]:
        return mean
    return 1.0 if _ORDINARY[0] <= largest <= _ORDINARY[1] else largest


def with_scaled_weights(graph: Graph, scale: float) -> Graph:
    """Divide the weights of a graph; those that come to less than 1e-30 count as much.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1], [1, 2], [1e36, 5e35])
    >>> with_scaled_weights(graph, weight_scale(graph)).weights.tolist()
    [1.0, 1.0, 0.5, 0.5]
    """
    if not graph.is_weighted or (scale == 1 and graph.weights.min(initial=1) >= _LEAST):
        return graph
    weights = np.maximum(graph.weights / np.float64(scale), _LEAST).astype(np.float32)
    weights.setflags(write=False)
    return replace(graph, weights=weights)


def trained_scale(estimator: Any) -> float:
    """`weight_scale` of the graphs that an estimator was trained on; 1 where an earlier version of the package did."""
    return getattr(estimator, "_weight_scale", 1.0)


def checked_scale(description: Mapping[str, Any]) -> float:
    """``weight_scale`` of a stored model; 1 in files of earlier versions, which have none.

    Raises
    ------
    ValueError
        No positive number.
    """
    scale = float(description.get("weight_scale", 1.0))
    if not 0 < scale < math.inf:
        raise ValueError(f"expected weight_scale to be a positive number, got {scale}")
    return scale
