"""NetMF: DeepWalk as the factorisation of one matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.baselines._base import EmbeddingClusterer, at_least
from tvgnn.baselines._linear_algebra import Floats, inverse_degrees, transition_matrix, truncated_svd
from tvgnn.graph.graph import Graph

__all__ = ["LogMatrix", "NetMF"]

_BLOCK_ENTRIES = 2**22  # entries of a block of rows before the logarithm drops most of them
_KEPT_ENTRIES = 2**26  # of all blocks, about 800 MB


class NetMF(EmbeddingClusterer):
    """Embed by the truncated SVD of the matrix that DeepWalk factorises implicitly, then k-means.

    Qiu et al., WSDM 2018, alg. 3 (small window): ``M = vol(G) / (b T) (sum_{r=1..T} P^r) D^-1`` with ``P = D^-1 A``, of
    which ``log max(M, 1)`` is factorised and the embedding is ``U_d Sigma_d^1/2``. See `LogMatrix` for how it stays
    sparse. Isolated nodes have zero rows.

    Parameters:
        n_clusters: K.
        random_state: seeds the SVD and k-means.
        dimensions: width of the embedding, at most N.
        order: window T.
        negative_samples: b.
        svd_iterations: power iterations of the SVD.

    Attributes:
        embedding_: (N, min(dimensions, N)) float64.

    Raises (in `fit`): see `GraphClusterer`.

    Example:
        >>> cliques = sp.block_diag([np.ones((4, 4)), np.ones((5, 5))])
        >>> NetMF(2, random_state=0).fit(Graph.from_scipy(cliques)).labels_.tolist()
        [1, 1, 1, 1, 0, 0, 0, 0, 0]

    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        random_state: Any = None,
        dimensions: int = 32,
        order: int = 2,
        negative_samples: int = 1,
        svd_iterations: int = 10,
    ) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.dimensions = dimensions
        self.order = order
        self.negative_samples = negative_samples
        self.svd_iterations = svd_iterations

    def _check(self) -> None:
        for name in ("dimensions", "order", "negative_samples", "svd_iterations"):
            at_least(self, name, 1)

    def _embed(self, graph: Graph, random: np.random.RandomState) -> Floats:
        matrix = LogMatrix(graph.adjacency(), self.order, self.negative_samples)
        nodes = graph.num_nodes
        # The matrix is symmetric, since P^r D^-1 is
        u, values, _ = truncated_svd(
            matrix.multiply, matrix.multiply, nodes, min(self.dimensions, nodes), self.svd_iterations, random
        )
        return u * np.sqrt(values)


class LogMatrix:
    """``log max(M, 1)`` of `NetMF`, by blocks of rows.

    ``P^T`` is dense around hubs, but entries of M up to 1 become 0 and are dropped, block after block, so that no more
    than one block of the product exists. What remains is kept up to 2^26 entries; beyond, the blocks are computed again
    for every product with the subspace of the SVD, and memory stays at one block.

    Parameters:
        adjacency: (N, N) symmetric CSR.
        order: T.
        negative_samples: b.
        kept_entries: entries that may be kept.

    """

    def __init__(self, adjacency: Any, order: int, negative_samples: float, kept_entries: int = _KEPT_ENTRIES) -> None:
        self.transition, self.inverse = transition_matrix(adjacency), inverse_degrees(adjacency)
        self.order = order
        self.factor = float(adjacency.astype(np.float64).sum()) / (order * negative_samples)
        self._starts = self._cut()
        self._kept: list[Any] | None = []
        entries = 0
        for block in self._computed():
            entries += block.nnz
            if entries > kept_entries:
                self._kept = None
                break
            self._kept.append(block)

    def multiply(self, dense: Floats) -> Floats:
        """Product with (N, width), of the same shape."""
        return np.concatenate([block @ dense for block in self.blocks()])

    def blocks(self) -> Iterator[Any]:
        """Blocks of rows from the top, each CSR of N columns."""
        return iter(self._kept) if self._kept is not None else self._computed()

    def _computed(self) -> Iterator[Any]:
        for first, last in zip(self._starts[:-1], self._starts[1:], strict=True):
            power = self.transition[first:last]
            total = power
            for _ in range(self.order - 1):
                power = power @ self.transition
                total = total + power
            block = sp.csr_array(total)
            block.data *= self.factor * self.inverse[block.indices]
            block.data = np.log(np.maximum(block.data, 1))
            block.eliminate_zeros()
            yield block

    def _cut(self) -> list[int]:
        """First rows of the blocks, whose products have a bounded number of entries each, and N."""
        pattern = sp.csr_array(self.transition, copy=True)
        pattern.data[:] = 1
        width = np.ones(self.inverse.size)
        for _ in range(self.order):
            width = np.minimum(pattern @ width, self.inverse.size)
        number = (np.cumsum(width) / _BLOCK_ENTRIES).astype(np.int64)
        return [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), self.inverse.size]
