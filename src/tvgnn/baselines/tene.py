"""TENE: non-negative factorisation of graph and features together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tvgnn.baselines._base import EmbeddingClusterer, at_least
from tvgnn.baselines._linear_algebra import Floats, transition_matrix, unit_rows
from tvgnn.errors import GraphError
from tvgnn.graph.feature_tensor import require_features
from tvgnn.graph.graph import Graph

__all__ = ["TENE", "Factors", "tene_embedding", "tene_objective", "tene_update"]

_TINY = 1e-15  # factors stay positive, or a multiplicative step could never raise them again


class Factors(NamedTuple):
    """What TENE factorises into: all non-negative.

    Attributes:
        m: (N, d) bases of the nodes.
        u: (N, d) representations of the nodes.
        q: (N, d) membership of the nodes in clusters of text.
        v: (F, d) bases of the text.
        c: (d, d) from representations to membership.

    """

    m: Floats
    u: Floats
    q: Floats
    v: Floats
    c: Floats


class TENE(EmbeddingClusterer):
    """Enhanced network embedding with text information, then k-means.

    Yang & Yang, ICPR 2018: non-negative ``min ||S - M U^T||^2 + alpha ||Q - U C^T||^2 + beta ||T - Q V^T||^2`` with
    the proximity ``S = D^-1 A`` and features T, by multiplicative updates, which never raise it. Objective and
    embedding, M beside Q, are those of the library that the TVGNN paper used. The random start is scaled to the means
    of S and T, and the embedding does not depend on how factors share their lengths (`tene_embedding`): both are ours.

    Parameters:
        n_clusters: K.
        random_state: seeds the initial factors and k-means.
        dimensions: d; the embedding has twice as many columns.
        alpha: weight of the agreement of U and Q.
        beta: weight of the features.
        iterations: rounds of updates.

    Attributes:
        embedding_: (N, 2 dimensions) float64.
        factors_: `Factors`.

    Raises (in `fit`): as of `GraphClusterer`; also GraphError: negative features.

    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        random_state: Any = None,
        dimensions: int = 32,
        alpha: float = 0.1,
        beta: float = 0.1,
        iterations: int = 200,
    ) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.dimensions = dimensions
        self.alpha = alpha
        self.beta = beta
        self.iterations = iterations

    def _check(self) -> None:
        for name in ("dimensions", "iterations"):
            at_least(self, name, 1)
        for name in ("alpha", "beta"):
            at_least(self, name, 0.0)

    def _embed(self, graph: Graph, random: np.random.RandomState) -> Floats:
        t = require_features(graph).x.astype(np.float64)
        if t.shape[1] and t.min() < 0:
            raise GraphError(
                f"expected features >= 0, which TENE factorises into non-negative parts, got {t.min():.4g}; shift each "
                "column by its minimum"
            )
        s, d = transition_matrix(graph.adjacency()), self.dimensions
        factors = _start(s, t, d, random)
        for _ in range(self.iterations):
            factors = tene_update(s, t, factors, self.alpha, self.beta)
        self.factors_ = factors
        return tene_embedding(factors)


def _start(s: Any, t: Any, d: int, random: np.random.RandomState) -> Factors:
    """Random factors whose products have the means of S and T: updates from far away take thousands of rounds."""
    structure, text = (2 * np.sqrt(max(matrix.mean(), _TINY) / d) for matrix in (s, t))
    rows = t.shape[0], t.shape[0], t.shape[0], t.shape[1], d
    scales = structure, structure, text, text, 2 * text / (d * structure)
    return Factors(*(scale * random.uniform(size=(n, d)) for n, scale in zip(rows, scales, strict=True)))


def tene_update(s: Any, t: Any, factors: Factors, alpha: float, beta: float) -> Factors:
    """One multiplicative update of each factor; S (N, N) and T (N, F) are only multiplied by (., d)."""
    m, u, q, v, c = factors
    m = _scaled(m, s @ u, m @ (u.T @ u))
    v = _scaled(v, t.T @ q, v @ (q.T @ q))
    c = _scaled(c, q.T @ u, c @ (u.T @ u))
    u = _scaled(u, s.T @ m + alpha * (q @ c), u @ (m.T @ m + alpha * (c.T @ c)))
    q = _scaled(q, alpha * (u @ c.T) + beta * (t @ v), alpha * q + beta * (q @ (v.T @ v)))
    return Factors(m, u, q, v, c)


def tene_embedding(factors: Factors) -> Floats:
    """M and Q (N, 2 d), each with rows of length 1, after columns of the bases U and V got length 1.

    ``M D`` and ``U D^-1`` fit S as well as M and U do; fixing the lengths of the bases, as Xu et al. (SIGIR 2003) do
    before they read clusters off such a factorisation, settles D. Without length 1 of the rows k-means finds outliers.
    """
    m, u, q, v, _ = factors
    return np.hstack([unit_rows(m * np.linalg.norm(u, axis=0)), unit_rows(q * np.linalg.norm(v, axis=0))])


def _scaled(factor: Floats, numerator: Floats, denominator: Floats) -> Floats:
    return np.asarray(np.maximum(factor * (numerator / np.maximum(denominator, np.finfo(np.float64).tiny)), _TINY))


def tene_objective(s: Any, t: Any, factors: Factors, alpha: float, beta: float) -> float:
    """The three squared norms, weighted, without any (N, N) or (N, F) product."""
    m, u, q, v, c = factors
    agreement = q - u @ c.T
    return _distance(s, m, u) + alpha * float(np.sum(agreement**2)) + beta * _distance(t, q, v)


def _distance(matrix: Any, left: Floats, right: Floats) -> float:
    """``||A - L R^T||^2``."""
    squares = np.sum(np.square(matrix.data if hasattr(matrix, "tocsr") else matrix))
    inner = np.sum(left * (matrix @ right))
    return float(squares - 2 * inner + np.sum((left.T @ left) * (right.T @ right)))
