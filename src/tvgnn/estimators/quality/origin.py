"""What features were made of: those made of the edges, or of the nodes' numbers, say nothing of their own."""

from __future__ import annotations

from typing import Any, Literal

from tvgnn.estimators.degree_features import are_one_hot_degrees
from tvgnn.estimators.quality.preparation import rows_with
from tvgnn.graph.graph import Graph
from tvgnn.graph.report import structural_kind

__all__ = ["Origin", "origin_of_features"]

Origin = Literal["edges", "degrees", "identity"]


def origin_of_features(graph: Graph, x: Any) -> Origin | None:
    """Say what features were made of, where that is known.

    ``"edges"``: eigenvectors of the edges, or constant. What they say of a partition the edges say already.
    ``"degrees"``: one number, the degree, which is all that the edges say of it; the block model, which is corrected
    for degrees, says nothing of that. ``"identity"``: no two nodes have a feature in common, as in an identity matrix.

    Parameters:
        graph: with the features as given.
        x: (N, F) prepared features, dense or CSR.

    Returns:
        None for features that say something of their own.

    """
    if structural_kind(graph.report) in ("spectral", "ones"):
        return "edges"
    if x.shape[1] == 1 and are_one_hot_degrees(graph):
        return "degrees"
    return "identity" if _tell_nodes_apart_only(graph.x) else None


def _tell_nodes_apart_only(x: Any) -> bool:
    if min(x.shape) < 2:
        return False
    return bool(rows_with(x).max() == 1)
