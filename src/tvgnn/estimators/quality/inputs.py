"""What all runs of ``preset="quality"`` on one graph read, and the principal components that a run sees."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.random import sample_without_replacement

from tvgnn.estimators.quality.batches import NodeBatches
from tvgnn.estimators.quality.directions import (
    Directions,
    mean_edge_weight,
    neighborhood_directions,
    principal_components,
)
from tvgnn.estimators.quality.edges import independent_share
from tvgnn.estimators.quality.information import PartitionInformation
from tvgnn.estimators.quality.missing import Projected, nodes_with_features, projected
from tvgnn.estimators.quality.preparation import have_lengths
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph
from tvgnn.models.smoothed_clustering import averaging_adjacency

__all__ = ["Components", "FitInputs"]


@dataclass(frozen=True, eq=False)
class Components:
    """Principal components of one run, which differ from run to run as the SVD is randomised.

    Attributes:
        nodes: (n,) those looked at: a batch, those that have features; None for all.
        basis, reduced: see `principal_components`, of ``nodes``.
        information: judges partitions by these components and by the edges.

    """

    nodes: np.ndarray | None
    basis: np.ndarray
    reduced: np.ndarray
    information: PartitionInformation


class FitInputs:
    """What all runs on one graph read; nothing of it changes.

    Parameters:
        graph, x, n_clusters, parameters, device, backend: as `fit_quality` has them.
        categories: `levels` of each, of all nodes.
        own_features: whether features say something that the edges do not.

    """

    def __init__(
        self,
        graph: Graph,
        x: Any,
        n_clusters: int,
        parameters: dict[str, Any],
        device: str,
        backend: str,
        categories: Sequence[np.ndarray] = (),
        *,
        own_features: bool = True,
    ) -> None:
        self.graph, self.x, self.n_clusters, self.parameters = graph, x, n_clusters, parameters
        self.device, self.backend, self.categories = device, backend, categories
        self.own_features = own_features
        self.width: int = parameters["hidden_channels"]
        self.batch_size: int | None = parameters["batch_size"]
        if self.batch_size is not None and self.batch_size >= graph.num_nodes:
            self.batch_size = None
        self.known = nodes_with_features(x)
        self.lengths = have_lengths(x)
        self.number_known = graph.num_nodes if self.known is None else int(self.known.sum())
        self.adjacency = Adjacency.from_graph(graph).to(device)
        self.loop = mean_edge_weight(graph)
        self.edge_share = independent_share(graph)

    def over(self, graph: Graph) -> FitInputs:
        """The same features over other edges of the same mean weight."""
        other = copy(self)
        other.graph, other.adjacency = graph, Adjacency.from_graph(graph).to(self.device)
        return other

    def components(self, random: np.random.RandomState) -> Components:
        """Find principal components, those of a batch of the nodes where there are batches."""
        nodes = None if self.known is None else np.flatnonzero(self.known)
        if self.batch_size is not None and (nodes is None or self.batch_size < len(nodes)):
            chosen = sample_without_replacement(self.number_known, self.batch_size, random_state=random)
            nodes = chosen if nodes is None else nodes[chosen]
        basis, reduced = principal_components(self.x if nodes is None else self.x[nodes], random)
        information = PartitionInformation(
            self.graph.adjacency(),
            reduced if self.own_features else None,
            nodes,
            self.edge_share,
            self.number_known,
            self.categories if nodes is None else [part[nodes] for part in self.categories],
        )
        return Components(nodes, basis, reduced, information)

    def encoders(self, components: Components, graph: Graph, loop_share: float) -> list[Directions]:
        """See `neighborhood_directions`; the graph has the edges that make neighbourhoods."""
        seen = components.basis, components.reduced, self.width, components.nodes
        return neighborhood_directions(graph, self.x, *seen, loop_share, self.known)

    def projected(self, encoder: Directions, *, over_edges: bool = True) -> Projected:
        """See `projected`; without edges, nodes without features stay unknown."""
        edges = self.adjacency if over_edges else None
        return projected(self.x, encoder, self.known, edges, device=self.device, backend=self.backend)

    def averaging(self, self_weight: float, loop_share: float) -> Adjacency:
        """See `averaging_adjacency`; the self weight is relative to the mean edge."""
        return averaging_adjacency(self.adjacency, self_weight * self.loop, loop_share)

    def batches(self, random: np.random.RandomState) -> NodeBatches | None:
        """Batches of the nodes for the steps of the refinement, None for the whole graph."""
        return None if self.batch_size is None else NodeBatches(self.graph, self.batch_size, random, self.device)
