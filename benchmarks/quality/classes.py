"""Edges of simulated graphs whose nodes have classes."""

from __future__ import annotations

import numpy as np

__all__ = ["edges_by_class"]


def edges_by_class(y: np.ndarray, within: float, random: np.random.Generator) -> np.ndarray:
    """Three edges a node, (2, 3 N), of which a share stays ``within`` classes y (N,) and the others go to any node."""
    nodes = len(y)
    source, order = random.integers(0, nodes, 3 * nodes), np.argsort(y, kind="stable")
    begin, end = (np.searchsorted(y[order], y[source], side) for side in ("left", "right"))
    anywhere = random.random(len(source)) >= within
    target = np.where(anywhere, random.integers(0, nodes, len(source)), order[random.integers(begin, end)])
    return np.stack([source, target])
