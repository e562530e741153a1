"""Simulated spatial omics: cells in a plane, domains of tissue, features that show cell types and not domains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import Delaunay

from tvgnn.errors import DataError
from tvgnn.graph.anndata_graph import require_anndata
from tvgnn.graph.graph import Graph

__all__ = ["Tissue", "simulate_tissue"]

_SPACING = 10.0  # micrometres: a cell on 100 square micrometres
_WAVES = 8  # of the random field that makes domains irregular
_ROUGHNESS = 0.5  # its standard deviation, in logarithms of the cost of a step


@dataclass(frozen=True, eq=False)
class Tissue:
    """Cells of one slide.

    Attributes
    ----------
    x : ndarray of float32, shape (N, F)
        Features: a panel of markers after scaling, or scores on principal components.
    positions : ndarray of float64, shape (N, 2)
        Micrometres.
    domains : ndarray of int64, shape (N,)
        Domain of each cell, what a clustering should find.
    types : ndarray of int64, shape (N,)
        Cell type, which decides the features.
    """

    x: NDArray[np.float32]
    positions: NDArray[np.float64]
    domains: NDArray[np.int64]
    types: NDArray[np.int64]

    def graph(self, n_neighbors: int = 15) -> Graph:
        """Return the graph of the nearest cells in space, with the features and the domains as classes."""
        from tvgnn.graph.knn import NeighborSettings, neighbor_edges  # scikit-learn: only where it is needed

        edges = neighbor_edges(self.positions, NeighborSettings(n_neighbors))
        return Graph.from_edges(edges.source, edges.target, x=self.x, y=self.domains)

    def to_anndata(self) -> Any:
        """Return an AnnData: features in X, positions in ``obsm["spatial"]``, truth in ``obs``.

        Raises
        ------
        ImportError
            anndata is not installed.
        """
        anndata = require_anndata()
        import pandas as pd  # anndata needs it, tvgnn does not

        def names(kind: str, count: int) -> Any:
            # objects, as anndata 0.12 does not write the text type of pandas 3 unless it is told to
            return pd.Index([f"{kind}{i}" for i in range(count)], dtype=object)

        obs = {
            "domain": pd.Categorical.from_codes(self.domains, names("domain ", self.domains.max() + 1)),
            "cell_type": pd.Categorical.from_codes(self.types, names("type ", self.types.max() + 1)),
        }
        return anndata.AnnData(
            self.x,
            obs=pd.DataFrame(obs, index=names("cell", len(self.x))),
            var=pd.DataFrame(index=names("marker", self.x.shape[1])),
            obsm={"spatial": self.positions},
        )


def simulate_tissue(
    n_cells: int = 5000,
    n_features: int = 50,
    n_domains: int = 12,
    *,
    n_types: int = 15,
    noise: float = 2.0,
    seed: int = 0,
) -> Tissue:
    """Draw a slide of tissue.

    Cells lie uniformly in a square. Domains grow from random cells over the Delaunay graph, at a speed that varies
    smoothly in space (a geodesic Voronoi diagram), so each is one contiguous region of irregular outline. A domain is
    a mixture of cell types, its shares drawn from a Dirichlet distribution of concentration 0.3; a cell has the mean
    of its type, drawn from N(0, 1), plus independent noise. So a single cell shows its type, and a domain shows only
    in the neighbourhood: the same type occurs in several domains.

    Parameters
    ----------
    n_cells, n_features, n_domains, n_types : int, default 5000, 50, 12, 15
        Sizes; at least 3 cells and as many as domains.
    noise : float, default 2.0
        Standard deviation of the noise.
    seed : int, default 0
        Seed of :func:`numpy.random.default_rng`.

    Raises
    ------
    DataError
        A size or the noise is out of range.

    Examples
    --------
    >>> tissue = simulate_tissue(300, n_features=5, n_domains=4)
    >>> tissue.x.shape, tissue.positions.shape, np.unique(tissue.domains).tolist()
    ((300, 5), (300, 2), [0, 1, 2, 3])
    """
    if min(n_features, n_domains, n_types) < 1 or n_cells < max(3, n_domains) or not noise >= 0:
        raise DataError(
            f"a tissue needs at least one feature, domain and type, n_cells >= 3 and >= n_domains, and noise >= 0; got "
            f"n_cells={n_cells}, n_features={n_features}, n_domains={n_domains}, n_types={n_types}, noise={noise}"
        )
    rng = np.random.default_rng(seed)
    unit = rng.random((n_cells, 2))
    domains = _grow_domains(unit, n_domains, rng)
    shares = rng.dirichlet(np.full(n_types, 0.3), size=n_domains)
    thresholds = shares.cumsum(axis=1)
    drawn = (rng.random((n_cells, 1)) > thresholds[domains]).sum(axis=1)
    types = np.minimum(drawn, n_types - 1)  # the last threshold can be below 1 by rounding
    means = rng.normal(size=(n_types, n_features))
    x = means[types] + noise * rng.normal(size=(n_cells, n_features))
    return Tissue(x.astype(np.float32), unit * _SPACING * np.sqrt(n_cells), domains, types)


def _grow_domains(unit: NDArray[np.float64], n_domains: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Give every point the start from which it is reached at the lowest cost."""
    triangles = Delaunay(unit).simplices
    source, target = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]).T
    source, target = np.unique(np.sort([source, target], axis=0), axis=1)  # inner edges border two triangles
    middle = (unit[source] + unit[target]) / 2
    cost = np.linalg.norm(unit[source] - unit[target], axis=1) * np.exp(_ROUGHNESS * _field(middle, rng))
    n = len(unit)
    graph = sp.csr_array((cost, (source, target)), shape=(n, n))
    starts = _starts(unit, n_domains, rng)
    _, _, nearest = dijkstra(graph, directed=False, indices=starts, min_only=True, return_predecessors=True)
    code = np.empty(n, dtype=np.int64)
    code[starts] = np.arange(n_domains)
    return code[nearest]


def _starts(unit: NDArray[np.float64], n_domains: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw points, each with a probability that grows with the squared distance to those before (k-means++)."""
    starts = [int(rng.integers(len(unit)))]
    distance = np.full(len(unit), np.inf)
    while len(starts) < n_domains:
        distance = np.minimum(distance, ((unit - unit[starts[-1]]) ** 2).sum(axis=1))
        starts.append(int(rng.choice(len(unit), p=distance / distance.sum())))
    return np.array(starts)


def _field(points: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Sum of random plane waves, of variance 1, with wavelengths from a third of the side to the whole side."""
    result = np.zeros(len(points))
    for length, angle, phase in zip(
        rng.uniform(1, 3, _WAVES), rng.uniform(0, 2 * np.pi, _WAVES), rng.uniform(0, 2 * np.pi, _WAVES), strict=True
    ):
        wave = points @ np.array([np.cos(angle), np.sin(angle)])
        result += np.sqrt(2 / _WAVES) * np.cos(2 * np.pi * length * wave + phase)
    return result
