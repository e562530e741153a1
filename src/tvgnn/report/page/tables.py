"""The tables of the page, as plain values for its template."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvgnn.report.page.images import tile_uris
from tvgnn.report.page.summary import FeatureDifferences, doubtful_nodes, typical_nodes
from tvgnn.report.page.view import ClusteringView

__all__ = ["ClusterRow", "NodeCell", "cluster_rows", "edge_table", "label_table"]

MOST_CLUSTERS = 60
"""Tables show the largest ones: beyond that nobody reads them, and a matrix has 10,000 cells at 100."""
_MARKS = 6
_NODES = 5


@dataclass(frozen=True)
class NodeCell:
    """One node in a table."""

    node: int
    name: str
    confidence: float
    agreement: float | None  # share of its edge weight in its cluster, None without edges
    class_name: str | None
    image: str | None = None


@dataclass
class ClusterRow:
    """One cluster in the tables; shares are in [0, 1]."""

    number: int
    size: int
    part: float
    confidence: float
    inside: float | None
    class_name: str | None = None
    class_share: float = 0.0
    image: str | None = None
    marks: list[dict[str, Any]] = field(default_factory=list)
    typical: list[NodeCell] = field(default_factory=list)
    doubtful: list[NodeCell] = field(default_factory=list)


def cluster_rows(
    view: ClusteringView,
    edges: NDArray[np.float64],
    agreement: NDArray[np.float64],
    differences: FeatureDifferences | None,
    counts: NDArray[np.int64] | None,
) -> list[ClusterRow]:
    """Return the clusters in use by number, the largest 60 of more; ``counts`` is :func:`confusion`, None without."""
    tables = {"typical": typical_nodes(view, agreement, _NODES), "doubtful": doubtful_nodes(view, agreement, _NODES)}
    volume = edges.sum(axis=1)  # the diagonal has each edge once, so an edge counts as one wherever it ends
    confidence = np.bincount(view.labels, view.confidence, minlength=view.n_clusters)
    largest = int(view.sizes.max())
    rows = []
    for cluster in _shown(view):
        size = int(view.sizes[cluster])
        row = ClusterRow(
            number=cluster,
            size=size,
            part=size / largest,
            confidence=float(confidence[cluster] / size),
            inside=float(edges[cluster, cluster] / volume[cluster]) if volume[cluster] > 0 else None,
        )
        if counts is not None and counts[cluster].any():
            first = int(counts[cluster].argmax())
            row.class_name = str(view.class_names[first])
            row.class_share = float(counts[cluster, first] / counts[cluster].sum())
        if differences is not None:
            row.marks = _marks(view, differences, cluster)
        for kind, table in tables.items():
            setattr(row, kind, _cells(view, agreement, table[cluster]))
        rows.append(row)
    if view.picture is not None and view.picture.kind == "tiles" and differences is not None:
        images = tile_uris(view, differences.inside[[row.number for row in rows]])
        for row, image in zip(rows, images, strict=True):
            row.image = image
    return rows


def edge_table(view: ClusteringView, edges: NDArray[np.float64]) -> list[list[tuple[float, float]]]:
    """Return for each shown pair of clusters the share of the row's weight, and the weight."""
    total = edges.sum(axis=1, keepdims=True)
    shares = np.divide(edges, total, out=np.zeros_like(edges), where=total > 0)
    shown = _shown(view)
    return [[(float(shares[i, j]), float(edges[i, j])) for j in shown] for i in shown]


def label_table(
    view: ClusteringView, counts: NDArray[np.int64] | None
) -> tuple[list[str], list[list[tuple[float, int]]]] | None:
    """Return the most frequent classes, and for each shown cluster share and number of nodes of each; None without."""
    if counts is None:
        return None
    classes = np.sort(np.argsort(-counts.sum(axis=0), kind="stable")[:MOST_CLUSTERS])
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    shown = _shown(view)
    cells = [[(float(counts[i, j] / total[i, 0]), int(counts[i, j])) for j in classes] for i in shown]
    return [str(view.class_names[j]) for j in classes], cells


def _shown(view: ClusteringView) -> list[int]:
    order = np.argsort(-view.sizes, kind="stable")[:MOST_CLUSTERS]
    return sorted(int(cluster) for cluster in order if view.sizes[cluster] > 0)


def _marks(view: ClusteringView, differences: FeatureDifferences, cluster: int) -> list[dict[str, Any]]:
    return [
        {
            "name": view.feature_names[feature] if view.feature_names is not None else str(feature),
            "difference": float(differences.difference[cluster, feature]),
            "inside": float(differences.inside[cluster, feature]),
            "outside": float(differences.outside[cluster, feature]),
        }
        for feature in differences.marking(cluster, _MARKS)
    ]


def _cells(view: ClusteringView, agreement: NDArray[np.float64], nodes: list[int]) -> list[NodeCell]:
    tiles = view.picture is not None and view.picture.kind == "tiles"
    images = tile_uris(view, view.features_of(nodes)) if tiles else [None] * len(nodes)
    return [
        NodeCell(
            node,
            view.name_of(node),
            float(view.confidence[node]),
            None if np.isnan(agreement[node]) else float(agreement[node]),
            view.class_of(node),
            image,
        )
        for node, image in zip(nodes, images, strict=True)
    ]
