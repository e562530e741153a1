"""BANE: binary codes of the nodes from features that neighbours share."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.baselines._base import EmbeddingClusterer, at_least
from tvgnn.baselines._linear_algebra import Floats, transition_matrix, truncated_svd
from tvgnn.graph._normalize import normalize_rows
from tvgnn.graph.feature_tensor import require_features
from tvgnn.graph.graph import Graph

__all__ = ["BANE", "WeisfeilerLehman", "bane_objective", "solve_b", "solve_z"]


class BANE(EmbeddingClusterer):
    """Binarised attributed network embedding, then k-means on the codes.

    Yang et al., ICDM 2018: ``min_{B, Z} ||P - B Z||^2 + alpha ||Z||^2`` with codes ``B in {-1, 1}^{N x d}`` and the
    Weisfeiler-Lehman proximity ``P = (I - gamma D~^-1 L~)^k X``, ``L~ = D~ - A~``, ``A~ = A + I``, rows of X of length
    1; Z is solved exactly, B column by column (cyclic coordinate descent). k and gamma are those of the authors'
    released code for Cora, which reduces P to rank 200 first. Here P is not reduced, and only multiplied, never formed.
    The codes start from the signs of P's leading singular vectors.

    Parameters:
        n_clusters: K.
        random_state: seeds the SVD and k-means.
        dimensions: d, the bits of a code; at most the smaller side of the features.
        alpha: weight of ``||Z||^2``.
        iterations: alternations of Z and B at most; they end where B no longer changes.
        binary_iterations: sweeps over the columns of B in each at most, likewise.
        order: k.
        gamma: in (0, 1], how much a node takes from its neighbours.

    Attributes:
        embedding_: (N, dimensions) float64 of -1 and 1.
        objective_history_: objective after every alternation, up to the constant ``||P||^2``.

    Raises (in `fit`): see `GraphClusterer`.

    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        random_state: Any = None,
        dimensions: int = 32,
        alpha: float = 0.3,
        iterations: int = 100,
        binary_iterations: int = 20,
        order: int = 4,
        gamma: float = 0.7,
    ) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.dimensions = dimensions
        self.alpha = alpha
        self.iterations = iterations
        self.binary_iterations = binary_iterations
        self.order = order
        self.gamma = gamma

    def _check(self) -> None:
        for name in ("dimensions", "iterations", "binary_iterations"):
            at_least(self, name, 1)
        at_least(self, "order", 0)
        at_least(self, "alpha", 0.0)
        if not 0 < at_least(self, "gamma", 0.0) <= 1:
            raise ValueError(f"expected gamma in (0, 1], got {self.gamma}")

    def _embed(self, graph: Graph, random: np.random.RandomState) -> Floats:
        x = normalize_rows(require_features(graph).x, "l2")
        p = WeisfeilerLehman(graph.adjacency(), x, self.order, self.gamma)
        rank = min(self.dimensions, *x.shape)
        u, _, _ = truncated_svd(p.multiply, p.transposed, x.shape[1], rank, 10, random)
        b = np.where(u >= 0, 1.0, -1.0)
        self.objective_history_: list[float] = []
        for _ in range(self.iterations):
            z = solve_z(p, b, self.alpha)
            before = b
            b = solve_b(p.multiply(z.T), b, z, self.binary_iterations)
            self.objective_history_.append(bane_objective(p, b, z, self.alpha))
            if (b == before).all():
                break
        return b


class WeisfeilerLehman:
    """``P = (I - gamma D~^-1 L~)^k X = ((1 - gamma) I + gamma D~^-1 A~)^k X`` by its products.

    Parameters:
        adjacency: (N, N) symmetric CSR.
        x: (N, F) dense or CSR.
        order: k.
        gamma: in (0, 1].

    """

    def __init__(self, adjacency: Any, x: Any, order: int, gamma: float) -> None:
        identity = sp.eye_array(adjacency.shape[0], format="csr")
        self.step = sp.csr_array((1 - gamma) * identity + gamma * transition_matrix(adjacency + identity))
        self.x, self.order = x.astype(np.float64), order

    def multiply(self, y: Floats) -> Floats:
        """``P Y`` for (F, width)."""
        product = np.asarray(self.x @ y)
        for _ in range(self.order):
            product = self.step @ product
        return product

    def transposed(self, y: Floats) -> Floats:
        """``P^T Y`` for (N, width)."""
        for _ in range(self.order):
            y = self.step.T @ y
        return np.asarray(self.x.T @ y)


def solve_z(p: WeisfeilerLehman, b: Floats, alpha: float) -> Floats:
    """Best Z (d, F) for the codes B: ``(B^T B + alpha I)^-1 B^T P``; the smallest one where codes coincide."""
    gram = b.T @ b + alpha * np.eye(b.shape[1])
    return np.asarray(np.linalg.lstsq(gram, p.transposed(b).T, rcond=None)[0])


def solve_b(q: Floats, b: Floats, z: Floats, sweeps: int) -> Floats:
    """Codes after sweeps over their columns, each the best for the others: ``sgn(q_l - B' Z' z_l)`` with ``Q = P Z^T``.

    A column entry of exactly 0 keeps its sign.
    """
    gram, b = z @ z.T, b.copy()
    for _ in range(sweeps):
        changed = False
        for column in range(b.shape[1]):
            others = gram[:, column].copy()
            others[column] = 0
            wanted = q[:, column] - b @ others
            best = np.where(wanted == 0, b[:, column], np.where(wanted > 0, 1.0, -1.0))
            changed |= bool((best != b[:, column]).any())
            b[:, column] = best
        if not changed:
            break
    return b


def bane_objective(p: WeisfeilerLehman, b: Floats, z: Floats, alpha: float) -> float:
    """The objective without ``||P||^2``: ``-2 <B, P Z^T> + ||B Z||^2 + alpha ||Z||^2``."""
    fit = -2 * np.sum(b * p.multiply(z.T)) + np.sum((b.T @ b) * (z @ z.T))
    return float(fit + alpha * np.sum(z * z))
