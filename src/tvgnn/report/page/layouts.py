"""Where the nodes are drawn: a projection of the embedding, positions in space, pixels of an image."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tvgnn.report._arrays import evenly
from tvgnn.report.embedding_map import umap_points
from tvgnn.report.figures import principal_components
from tvgnn.report.page.view import ClusteringView

__all__ = ["Layout", "MapKind", "layouts"]

MapKind = Literal["auto", "umap", "pca"]

_MOST = 8_000
"""UMAP places so many nodes itself: about 20 seconds; the others go beside the nearest of them."""
_LARGEST = 300_000  # above this finding the nearest takes longer than the run
_DIMENSIONS = 30  # of the embedding that UMAP sees: the rest is noise, and neighbours are found faster
_NEAREST = 3


@dataclass(frozen=True, eq=False)
class Layout:
    """Positions of all nodes, y upwards, and how they came about.

    ``grid`` is true where nodes are pixels that touch each other.
    """

    name: str
    note: str
    points: NDArray[np.float64]
    grid: bool = False


def layouts(view: ClusteringView, kind: MapKind = "auto", random_state: int = 0) -> list[Layout]:
    """Return the layouts of a page, the one that is shown first in front.

    Parameters
    ----------
    view : ClusteringView
        The clustering.
    kind : {"auto", "umap", "pca"}
        Projection of the embedding: UMAP, the two leading principal components, or UMAP where umap-learn is installed
        and there are at most 300,000 nodes.
    random_state : int
        Seed of UMAP.

    Raises
    ------
    ImportError
        UMAP is asked for and umap-learn is not installed.
    """
    result = []
    if view.picture is not None and view.picture.kind == "pixels":
        rows, columns = np.divmod(np.arange(view.n_nodes), view.picture.width)
        points = np.stack([columns, -rows], axis=1).astype(np.float64)
        result.append(Layout("picture", "Each node is a pixel of the picture", points, grid=True))
    if view.positions is not None:
        result.append(Layout("positions", "The nodes where they are in space", view.positions))
    if kind == "auto":
        if importlib.util.find_spec("umap") is None:
            return [*result, _pca(view, "; for UMAP: pip install 'tvgnn[viz]'")]
        if view.n_nodes > _LARGEST:
            return [*result, _pca(view, "; too many nodes for UMAP")]
    return [*result, _pca(view) if kind == "pca" else _umap(view, random_state)]


def _pca(view: ClusteringView, why: str = "") -> Layout:
    return Layout(
        "PCA", f"The two leading principal components of the embedding{why}", principal_components(view.embedding)
    )


def _umap(view: ClusteringView, random_state: int) -> Layout:
    embedding = np.asarray(view.embedding)
    if embedding.shape[1] > _DIMENSIONS:
        embedding = principal_components(embedding, _DIMENSIONS)
    note = "UMAP of the embedding: near nodes are alike, distances between groups mean little"
    if view.n_nodes <= _MOST:
        return Layout("UMAP", note, umap_points(embedding, random_state))
    shown = evenly(view.n_nodes, _MOST)
    placed = umap_points(embedding[shown], random_state)
    note += f"; {len(shown):,} nodes are placed by UMAP, each other one among the {_NEAREST} of them nearest to it"
    return Layout("UMAP", note, _beside(embedding, embedding[shown], placed, random_state))


def _beside(
    rows: NDArray[np.float64], known: NDArray[np.float64], placed: NDArray[np.float64], random_state: int
) -> NDArray[np.float64]:
    """Place each row at a random mean of the positions of the known rows nearest to it."""
    from sklearn.neighbors import NearestNeighbors

    nearest = NearestNeighbors(n_neighbors=_NEAREST).fit(known).kneighbors(rows, return_distance=False)
    # Random weights, else many nodes alike would be one dot
    weights = np.random.default_rng(random_state).dirichlet(np.ones(_NEAREST), size=len(rows))
    # The mean would lie in no-man's-land where the nearest are far apart: only those near the first one count
    points = placed[nearest]
    apart = np.linalg.norm(points - points[:, :1], axis=2)
    weights = np.where(apart <= 4 * np.median(apart[:, 1:]) + 1e-9, weights, 0)
    mean: NDArray[np.float64] = np.einsum("nk,nkd->nd", weights / weights.sum(axis=1, keepdims=True), points)
    return mean
