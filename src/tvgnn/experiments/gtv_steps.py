"""How steps without learning lower the total variation of features: one Gamma for all features, or one for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tvgnn.errors import GraphError
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph
from tvgnn.ops.gtv_step import gtv_step
from tvgnn.ops.total_variation import total_variation

__all__ = ["PAPER_STEPS", "VARIANTS", "GTVCurve", "gtv_steps", "random_features"]

PAPER_STEPS: Mapping[float, int] = MappingProxyType({0.311: 1_000, 0.005: 40_000})
"""Steps by step size (the paper's 2 delta). The text gives no counts: on Cora these reach where the curves are flat or,
for the smaller size, beyond where the shared Gamma passes the other (20,000)."""

VARIANTS = ("per_feature", "shared")
_FEATURES = 32
_POINTS = 400


class GTVCurve(NamedTuple):
    """Total variation of the features by number of steps.

    Attributes
    ----------
    steps : ndarray of int64, shape (T,)
        Numbers of steps, ascending from 0.
    total_variation : ndarray of float64, shape (T,)
        ``sum_ij a_ij ||x_i - x_j||_1`` after so many steps, each undirected edge counted in both directions.
    """

    steps: NDArray[np.int64]
    total_variation: NDArray[np.float64]


def gtv_steps(
    graph: Graph,
    steps: Mapping[float, int] = PAPER_STEPS,
    *,
    seed: int = 0,
    eps: float = 1e-3,
    variants: Sequence[str] = VARIANTS,
) -> dict[float, dict[str, GTVCurve]]:
    """Repeat GTV steps without learning on random projections of the features (paper, appendix A.3).

    Parameters
    ----------
    graph : Graph
        With features.
    steps : mapping of float to int
        Number of steps by step size (the paper's ``2 delta``).
    seed : int, default 0
        Seed of the projection, see :func:`random_features`.
    eps : float, default 0.001
        Smallest distance that divides.
    variants : sequence of str
        Which of them, both by default.

    Returns
    -------
    dict of float to dict of str to GTVCurve
        By step size, by variant (``"per_feature"``, ``"shared"``). About 400 numbers of steps are recorded, spaced
        evenly in their logarithm: every one at first, fewer later.

    Raises
    ------
    GraphError
        The graph has no features.
    ValueError
        A number of steps is negative, or ``eps`` is not positive.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2], x=[[0.0], [1.0], [5.0]])
    >>> curve = gtv_steps(path, {0.1: 3})[0.1]["shared"]
    >>> curve.steps.tolist(), bool((np.diff(curve.total_variation) < 0).all())
    ([0, 1, 2, 3], True)
    """
    if not eps > 0 or any(count < 0 for count in steps.values()):
        raise ValueError(f"expected eps > 0 and numbers of steps of 0 or more, got {eps} and {dict(steps)}")
    start = torch.from_numpy(random_features(graph, seed))
    adjacency = Adjacency.from_graph(graph, dtype=start.dtype)
    curves: dict[float, dict[str, GTVCurve]] = {}
    for size, count in steps.items():
        recorded = _recorded(count)
        curves[size] = {
            variant: GTVCurve(
                recorded, np.fromiter(_values(start, adjacency, recorded, size, eps, variant), np.float64)
            )
            for variant in variants
        }
    return curves


def random_features(graph: Graph, seed: int = 0) -> NDArray[np.float64]:
    """Project the features to 32 dimensions with a kernel of independent standard normal values.

    Parameters
    ----------
    graph : Graph
        With features (N, F), taken as they are: one-hot words in Cora.
    seed : int, default 0
        Seed of :func:`numpy.random.default_rng`.

    Returns
    -------
    ndarray of shape (N, 32), float64

    Raises
    ------
    GraphError
        The graph has no features.

    Examples
    --------
    >>> random_features(Graph.from_edges([0], [1], x=[[1.0], [0.0]])).shape
    (2, 32)
    """
    if graph.x is None:
        raise GraphError("expected a graph with features to project, got none; set x, or use with_structural_features")
    kernel = np.random.default_rng(seed).standard_normal((graph.num_features, _FEATURES))
    return np.ascontiguousarray(graph.x @ kernel, dtype=np.float64)


def _recorded(count: int) -> NDArray[np.int64]:
    """Numbers of steps after which the total variation is taken, 0 and ``count`` among them."""
    return np.unique(
        np.concatenate([[0, count], np.geomspace(1, max(count, 1), _POINTS).round().clip(max=count)])
    ).astype(np.int64)


def _values(
    features: Tensor, adjacency: Adjacency, recorded: NDArray[np.int64], size: float, eps: float, variant: str
) -> Iterator[float]:
    done = 0
    for steps in recorded.tolist():
        for _ in range(steps - done):
            features = gtv_step(features, adjacency, size, eps, variant=variant)
        done = steps
        yield float(total_variation(features, adjacency).sum())
