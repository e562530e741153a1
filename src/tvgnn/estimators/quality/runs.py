"""What the runs of ``preset="quality"`` on one graph share: encoders, smoothing, candidates, and one network of all."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, cast

import numpy as np
import torch
from sklearn.utils.random import sample_without_replacement
from torch import nn

from tvgnn.estimators.quality.agreement import set_discriminant
from tvgnn.estimators.quality.batches import NodeBatches
from tvgnn.estimators.quality.candidates import QUICK, Candidate, Smoothing, best_candidate, clustered
from tvgnn.estimators.quality.directions import (
    Directions,
    mean_edge_weight,
    neighborhood_directions,
    principal_components,
)
from tvgnn.estimators.quality.edges import independent_share, neighbor_agreement, rewired, without_edges
from tvgnn.estimators.quality.held_out import HeldOutWords, are_short_texts
from tvgnn.estimators.quality.information import PartitionInformation, edge_information
from tvgnn.estimators.quality.members import Member, without_all_but_the_best_embeddings
from tvgnn.estimators.quality.missing import Projected, nodes_with_features, projected
from tvgnn.estimators.quality.preparation import MANY_COLUMNS
from tvgnn.estimators.quality.refinement import refine, soft_kmeans
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph
from tvgnn.layers.gtv_conv import GTVConv
from tvgnn.models.smoothed_clustering import (
    SmoothedClusteringConfig,
    SmoothedClusteringModel,
    SmoothedView,
    averaging_adjacency,
)

__all__ = ["Runs"]

_LINKED = 1.15  # times as much as of random edges; those that follow neither features nor communities have less
_STEPS = 2, 4, 8  # GTV steps; few for edges that follow the features, more for such as make communities
_REWIRINGS, _MANY_NODES = 3, 10_000  # of how many edges joined at random; in so many nodes chance hardly differs
_FEWEST = 50  # nodes, with fewer of which edges joined at random explain as much
_MORE = 0.01  # the share that the next weight has to explain more; repeated runs differ by as much
_ENOUGH = 50  # nodes for each cluster; with fewer, chance decides what is compared


class Runs:
    """What the runs on one graph share.

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
        self.batch_size: int | None = parameters["batch_size"]
        if self.batch_size is not None and self.batch_size >= graph.num_nodes:
            self.batch_size = None
        self.nodes: np.ndarray | None = None
        self.known = nodes_with_features(x)
        self.unknown = 0  # nodes that have neither features nor a way to any
        self.adjacency = Adjacency.from_graph(graph).to(device)
        self.loop = mean_edge_weight(graph)
        self.edge_share = independent_share(graph)
        self.loop_share = 0.0
        self.information: PartitionInformation
        self.basis = self.reduced = np.empty((0, 0), np.float32)
        self.held_out: HeldOutWords | None = None
        self.steps: dict[int, int] = {}  # by rank, where held-out words choose the number

    def members(
        self,
        random: np.random.RandomState,
        number: int,
        self_weights: tuple[float, ...] = (1.0,),
        *,
        over_edges: bool = True,
    ) -> list[Member]:
        """Partitions of further runs, in each one for each rank; the first chooses among the self weights for all."""
        members: list[Member] = []
        weights: defaultdict[int, tuple[float, ...]] = defaultdict(lambda: self_weights)
        for run_number in range(number):
            if run_number > 0:
                self.see(random)
            run = list(self._members(random, over_edges, weights))
            weights.update({one.rank: (one.description["self_weight"],) for one in run})
            self.held_out = None  # which only the first run asks
            members = without_all_but_the_best_embeddings([*members, *run])
        return members

    def neighbor_agreement(self, random: np.random.RandomState) -> float | None:
        """See `tvgnn.estimators.quality.edges`; None without edges, which cannot blur anything."""
        if not self.graph.num_edges:
            return None
        return neighbor_agreement(self.graph, self.x, self.basis, random, self.known)

    def words_held_out(self) -> HeldOutWords | None:
        """None unless texts are short, or without edges, with few nodes or where the number of GTV steps is given."""
        few = self.graph.num_nodes < _ENOUGH * self.n_clusters
        if few or not self.graph.num_edges or self.parameters["num_layers"] is not None or not are_short_texts(self.x):
            return None
        return HeldOutWords(
            self.graph,
            self.x,
            self.n_clusters,
            self._averaging(1.0),
            width=self.parameters["hidden_channels"],
            loop_share=self.loop_share,
            edge_share=self.edge_share,
            backend=self.backend,
        )

    def linked(self) -> bool:
        """Whether partitions over edges explain clearly more of these than of as many that join nodes at random.

        Partitions of noise explain something too, and what smoothing makes alike explains the more of the edges that it
        went along. So chance is what the same gives on edges whose ends are joined at random. These close hardly any
        triangles, so this is asked before `loop_share` is set.
        """
        if self.graph.num_nodes < _FEWEST:
            return True
        random = np.random.RandomState(0)  # of its own, as this is no part of the runs
        found = self._explained_edges()
        rewirings = _REWIRINGS if self.graph.num_nodes < _MANY_NODES else 1
        chance = [self._over(rewired(self.graph, random))._explained_edges() for _ in range(rewirings)]
        return found >= _LINKED * float(np.mean(chance))  # both are 0 in constant features

    def _explained_edges(self) -> float:
        """Nats of edges that quickly found partitions explain, of the best rank after each number of steps."""
        nats = np.zeros(len(_STEPS))
        for encoder in self.encoders(self.graph):
            seen = self._projected(encoder, self.adjacency)
            path = Smoothing(seen, encoder.ratios, self._averaging(1.0), self.backend)
            for place, steps in enumerate(_STEPS):
                path.go_on(steps)
                random = np.random.RandomState(0)  # the same starts, so that differences have less noise
                labels = clustered(path.embedding(unit_rows=True)[2], self.n_clusters, random, **QUICK)[1]
                nats[place] = max(nats[place], edge_information(self.graph.adjacency(), labels, self.n_clusters))
        return float(nats.sum())

    def _over(self, graph: Graph) -> Runs:
        """The same features over other edges."""
        other = copy(self)
        other.graph, other.adjacency = graph, Adjacency.from_graph(graph).to(self.device)
        return other

    def see(self, random: np.random.RandomState) -> None:
        """Find principal components anew, those of a batch of the nodes where there are batches."""
        self.nodes = None if self.known is None else np.flatnonzero(self.known)
        if self.batch_size is not None and (self.nodes is None or self.batch_size < len(self.nodes)):
            chosen = sample_without_replacement(self.number_known, self.batch_size, random_state=random)
            self.nodes = chosen if self.nodes is None else self.nodes[chosen]
        rows = self.x if self.nodes is None else self.x[self.nodes]
        self.basis, self.reduced = principal_components(rows, random)
        self.information = PartitionInformation(
            self.graph.adjacency(),
            self.reduced if self.own_features else None,
            self.nodes,
            self.edge_share,
            self.number_known,
            self.categories if self.nodes is None else [part[self.nodes] for part in self.categories],
        )

    @property
    def number_known(self) -> int:
        """Nodes that have features."""
        return self.graph.num_nodes if self.known is None else int(self.known.sum())

    def _batches(self, random: np.random.RandomState) -> NodeBatches | None:
        return None if self.batch_size is None else NodeBatches(self.graph, self.batch_size, random, self.device)

    def encoders(self, graph: Graph) -> list[Directions]:
        """See `neighborhood_directions`."""
        width = self.parameters["hidden_channels"]
        seen = self.x, self.basis, self.reduced, width, self.nodes, self.loop_share, self.known
        return neighborhood_directions(graph, *seen)

    def _members(
        self, random: np.random.RandomState, over_edges: bool, self_weights: Mapping[int, tuple[float, ...]]
    ) -> Iterator[Member]:
        """One run: a partition for each encoder."""
        graph = self.graph if over_edges else without_edges(self.graph)
        for place, encoder in enumerate(self.encoders(graph)):
            candidate, tried = self._candidate(place, encoder, random, over_edges, self_weights[encoder.rank])
            head = nn.Linear(candidate.embedding.shape[1], self.n_clusters, device=self.device)
            soft_kmeans(head, candidate.embedding, candidate.centers, candidate.labels)
            embedding = torch.from_numpy(candidate.embedding).to(self.device)
            judged, kept = self._refined(head, embedding, random)[1:3]
            with torch.no_grad():
                log_probabilities = head(embedding).log_softmax(1).cpu().numpy()
            description = {
                "rank": encoder.rank,
                "self_weight": candidate.self_weight,
                "smoothing_steps": len(candidate.thresholds),
                "unit_rows": candidate.unit_rows,
                "nats_by_steps": {str(steps): round(float(value), 1) for steps, value in tried.items()},
                "nats_kmeans": round(float(judged[0]), 1),
                "nats": round(float(judged[kept]), 1),
            }
            yield Member(encoder.rank, log_probabilities, description, encoder.weight, candidate)

    def _candidate(
        self,
        place: int,
        encoder: Directions,
        random: np.random.RandomState,
        over_edges: bool,
        self_weights: tuple[float, ...],
    ) -> tuple[Candidate, dict[int, float]]:
        """Best candidate of an encoder, and nats by steps; self weights are tried until one explains hardly more.

        What held-out words contradict is not taken, and the number of steps is theirs if that is so with a weight of 1.
        """
        steps = self.steps.get(encoder.rank, self.parameters["num_layers"]) if over_edges else 0
        edges = None if steps == 0 else self.adjacency
        seen = self._projected(encoder, edges)
        self.unknown = 0 if seen.reached is None else int((~seen.reached).sum())
        best = self._smoothed(seen, encoder, self_weights[0], steps, random)
        if self.held_out is not None and self._contradicted(place, best[0]):
            self.steps[encoder.rank] = self.held_out.best_steps(place)
            return self._smoothed(seen, encoder, 1.0, self.steps[encoder.rank], random)
        for self_weight in self_weights[1:]:
            found = self._smoothed(seen, encoder, self_weight, steps, random)
            if found[0].nats <= (1 + _MORE) * best[0].nats or self._contradicted(place, found[0]):
                break
            best = found
        return best

    def _projected(self, encoder: Directions, edges: Adjacency | None) -> Projected:
        return projected(self.x, encoder, self.known, edges, device=self.device, backend=self.backend)

    def _contradicted(self, place: int, found: Candidate) -> bool:
        if self.held_out is None:
            return False
        return self.held_out.contradict(place, self._averaging(found.self_weight), len(found.thresholds))

    def _averaging(self, self_weight: float) -> Adjacency:
        return averaging_adjacency(self.adjacency, self_weight * self.loop, self.loop_share)

    def _smoothed(
        self,
        seen: Projected,
        encoder: Directions,
        self_weight: float,
        steps: int | None,
        random: np.random.RandomState,
    ) -> tuple[Candidate, dict[int, float]]:
        return best_candidate(
            seen,
            encoder.ratios,
            self._averaging(self_weight),
            self.information,
            self.n_clusters,
            self_weight=self_weight,
            num_layers=steps,
            random=random,
            to_the_end=self.batch_size is None,
            backend=self.backend,
        )

    def _refined(
        self, head: nn.Linear, embedding: torch.Tensor, random: np.random.RandomState
    ) -> tuple[list[float], dict[int, float], int, float]:
        """Losses and judgements by step, the kept step, and the seconds that it took."""
        start = time.perf_counter()
        losses, judged, kept = refine(
            head,
            embedding,
            self.adjacency,
            lambda labels: self.information.of(labels.cpu().numpy(), self.n_clusters),
            totvar_coeff=self.parameters["totvar_coeff"],
            balance_coeff=self.parameters["balance_coeff"],
            max_iter=self.parameters["max_iter"],
            patience=self.parameters["patience"],
            tol=self.parameters["tol"],
            learning_rate=self.parameters["learning_rate"],
            batches=self._batches(random),
            backend=self.backend,
        )
        return losses, judged, kept, time.perf_counter() - start

    @torch.no_grad()
    def combined(
        self, members: list[Member], labels: np.ndarray, random: np.random.RandomState
    ) -> tuple[SmoothedClusteringModel, list[float], dict[int, float], int, float]:
        """The network of the members' encoders with a head for ``labels``, refined."""
        candidates = [member.candidate for member in members if member.candidate is not None]
        config = SmoothedClusteringConfig(
            in_channels=self.x.shape[1],
            n_clusters=self.n_clusters,
            views=tuple(
                SmoothedView(len(one.mean), one.thresholds, one.unit_rows, one.self_weight) for one in candidates
            ),
            loop_weight=self.loop,
            loop_share=self.loop_share,
            propagate_missing=self.x.shape[1] >= MANY_COLUMNS,
            totvar_coeff=self.parameters["totvar_coeff"],
            balance_coeff=self.parameters["balance_coeff"],
        )
        with torch.random.fork_rng(devices=[]):  # the initial weights are overwritten
            model = SmoothedClusteringModel(config, backend=self.backend)
        for conv, member in zip(model.convs, members, strict=True):
            cast(GTVConv, conv).weight.copy_(torch.tensor(member.weight))
        model.mean.copy_(torch.tensor(np.concatenate([one.mean for one in candidates])))
        model.scale.copy_(torch.tensor(np.concatenate([one.scale for one in candidates])))
        embeddings = [one.embedding for one in candidates]
        set_discriminant(model.head, embeddings, labels)
        model.to(self.device)
        with torch.enable_grad():
            embedding = torch.from_numpy(np.concatenate(embeddings, axis=1)).to(self.device)
            return model, *self._refined(model.head, embedding, random)
