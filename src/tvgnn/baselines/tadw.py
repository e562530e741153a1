"""TADW: DeepWalk's matrix factorised through the features of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvgnn.baselines._base import EmbeddingClusterer, at_least
from tvgnn.baselines._linear_algebra import Floats, transition_matrix, truncated_svd, unit_rows
from tvgnn.graph.feature_tensor import require_features
from tvgnn.graph.graph import Graph

__all__ = ["TADW", "reduced_features", "solve_h", "solve_w", "tadw_objective"]


class TADW(EmbeddingClusterer):
    """Text-associated DeepWalk: factorise the random walks through the features, then k-means.

    Yang et al., IJCAI 2015: ``min_{W, H} ||M - W^T H T||^2 + lambda / 2 (||W||^2 + ||H||^2)`` with
    ``M = (P + P^2) / 2`` and T the features reduced by a truncated SVD; the embedding joins W and H T, each with rows
    of length 1. M is only multiplied, never formed. Each half step is solved exactly, to which OpenNE, of the authors'
    group, iterates; the step size 0.01 of the library that the TVGNN paper used has no counterpart.

    Rows of T have mean square 1. In the authors' code they have length 1, with lambda 0.2: as T times c with lambda
    times c is the same problem, that is lambda ``0.2 sqrt(N)`` here, 10.4 on Cora. With rows of length 1 and lambda 10
    the best answer is W = H = 0.

    Parameters:
        n_clusters: K.
        random_state: seeds the initial H, the SVD and k-means.
        dimensions: rows of W and of H; the embedding has twice as many columns.
        reduced: rows of T, at most the smaller side of the features.
        regularization: lambda.
        iterations: alternations.
        svd_iterations: power iterations of the SVD.

    Attributes:
        embedding_: (N, 2 dimensions) float64.
        objective_history_: objective after every alternation, up to the constant ``||M||^2``.

    Raises (in `fit`): see `GraphClusterer`.

    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        random_state: Any = None,
        dimensions: int = 32,
        reduced: int = 64,
        regularization: float = 10.0,
        iterations: int = 10,
        svd_iterations: int = 20,
    ) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.dimensions = dimensions
        self.reduced = reduced
        self.regularization = regularization
        self.iterations = iterations
        self.svd_iterations = svd_iterations

    def _check(self) -> None:
        for name in ("dimensions", "reduced", "iterations", "svd_iterations"):
            at_least(self, name, 1)
        if not at_least(self, "regularization", 0.0) > 0:
            raise ValueError(f"expected regularization > 0, got {self.regularization}")

    def _embed(self, graph: Graph, random: np.random.RandomState) -> Floats:
        walks = transition_matrix(graph.adjacency())
        t = reduced_features(require_features(graph).x, self.reduced, self.svd_iterations, random)
        h = random.standard_normal((self.dimensions, t.shape[0]))
        self.objective_history_: list[float] = []
        for _ in range(self.iterations):
            w = solve_w(walks, h, t, self.regularization)
            h = solve_h(walks, w, t, self.regularization)
            self.objective_history_.append(tadw_objective(walks, w, h, t, self.regularization))
        return np.hstack([unit_rows(w.T), unit_rows((h @ t).T)])


def reduced_features(x: Any, width: int, n_iter: int, random: np.random.RandomState) -> Floats:
    """T (width, N): left singular vectors of features (N, F), rows scaled to mean square 1, zeros beyond the rank."""
    rank = min(width, *x.shape)
    x = x.astype(np.float64)
    u, values, _ = truncated_svd(
        lambda y: np.asarray(x @ y), lambda y: np.asarray(x.T @ y), x.shape[1], rank, n_iter, random
    )
    inside = values > np.finfo(np.float32).eps * values[:1]
    return np.ascontiguousarray((u * inside * np.sqrt(x.shape[0])).T)


def _times_m(walks: Any, y: Floats) -> Floats:
    """``(P + P^2) Y / 2``, two sparse products."""
    once = walks @ y
    return np.asarray((once + walks @ once) / 2)


def solve_w(walks: Any, h: Floats, t: Floats, regularization: float) -> Floats:
    """Best W (dimensions, N) for H (dimensions, reduced): least squares with ``B = H T``."""
    b = h @ t
    gram = b @ b.T + regularization / 2 * np.eye(b.shape[0])
    return np.asarray(np.linalg.solve(gram, _times_m(walks, b.T).T))


def solve_h(walks: Any, w: Floats, t: Floats, regularization: float) -> Floats:
    """Best H for W: ``W W^T H T T^T + lambda / 2 H = W M T^T``, diagonal in the eigenvectors of both Gram matrices."""
    left_values, left = np.linalg.eigh(w @ w.T)
    right_values, right = np.linalg.eigh(t @ t.T)
    rotated = left.T @ (w @ _times_m(walks, t.T)) @ right
    scale = np.outer(np.maximum(left_values, 0), np.maximum(right_values, 0)) + regularization / 2
    return left @ (rotated / scale) @ right.T


def tadw_objective(walks: Any, w: Floats, h: Floats, t: Floats, regularization: float) -> float:
    """Objective without ``||M||^2``: ``-2 <W M, B> + ||W^T B||^2 + lambda / 2 (||W||^2 + ||H||^2)``, ``B = H T``."""
    b = h @ t
    fit = -2 * np.sum(w * _times_m(walks, b.T).T) + np.sum((w @ w.T) * (b @ b.T))
    return float(fit + regularization / 2 * (np.sum(w * w) + np.sum(h * h)))
