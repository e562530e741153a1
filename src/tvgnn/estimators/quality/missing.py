"""Nodes whose features are missing: documents without a text, users without a profile."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from tvgnn.estimators.quality.directions import Directions
from tvgnn.estimators.quality.preparation import known_rows
from tvgnn.graph.adjacency import Adjacency
from tvgnn.models.missing_features import propagate_features

__all__ = ["Projected", "nodes_with_features", "projected"]


class Projected(NamedTuple):
    """Features z (N, q) in an encoder's directions, and which nodes have any or got some, (N,) bool; None for all."""

    z: Tensor
    reached: np.ndarray | None


def nodes_with_features(x: Any) -> np.ndarray | None:
    """Which rows of prepared features (N, F) say anything, see `known_rows`, (N,) bool; None for all, or for none."""
    known = known_rows(x)
    return known if known.any() and not known.all() else None


def projected(
    x: Any, encoder: Directions, known: np.ndarray | None, edges: Adjacency | None, *, device: Any, backend: str
) -> Projected:
    """Bring features to an encoder's directions; over the edges, nodes without features get those of their neighbours.

    Parameters:
        x: (N, F) prepared features, dense or CSR.
        encoder: its directions.
        known: see `nodes_with_features`.
        edges: of N nodes; None to leave nodes without features unknown.
        device: of the edges, where the result shall be.
        backend: see `select_backend`.

    """
    z = torch.tensor(np.asarray(x @ encoder.weight, dtype=np.float32), device=device)
    if known is None or edges is None:
        return Projected(z, known)
    z, reached = propagate_features(z, torch.from_numpy(known).to(device), edges, backend=backend)
    return Projected(z, None if reached.all() else reached.cpu().numpy())
