"""``preset="quality"``: closed-form encoder, smoothing chosen by the data, k-means, refinement by the paper's loss."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from copy import copy
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits
from torch import nn

from tvgnn.estimators.quality.agreement import agreed_labels, set_discriminant
from tvgnn.estimators.quality.batches import NodeBatches
from tvgnn.estimators.quality.candidates import Candidate, best_candidate
from tvgnn.estimators.quality.directions import (
    Directions,
    mean_edge_weight,
    neighborhood_directions,
    principal_components,
)
from tvgnn.estimators.quality.edges import independent_share, neighbor_agreement, own_share, rewired, shuffled_columns
from tvgnn.estimators.quality.information import PartitionInformation
from tvgnn.estimators.quality.members import Member, most_nats, without_all_but_the_best_embeddings
from tvgnn.estimators.quality.ordering import in_order_of_locality
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
from tvgnn.training.loop import TrainingResult

__all__ = ["fit_quality"]

_DOUBTFUL = 0.15  # signal-to-noise ratio of neighbours below which the edges have to prove their worth
_LITTLE = 0.15  # share of what partitions over edges explain; what exceeds chance by less is next to nothing
_CLEARLY = 2.0  # times as much, which the nodes without edges have to say for the edges to be left aside
_SHARED = 1.0  # signal-to-noise ratio of neighbours below which a node may count more than each of them
_SELF_WEIGHTS = (1.0, 4.0, 16.0)  # then tried, in turn
_MORE = 0.01  # the share that the next weight has to explain more; repeated runs differ by as much
_BY_CHANCE = 0.9  # of what features explain: if chance explains as much, more weight is not taken
_CHANCE_NODES = 20_000  # that chance is looked at with, so that it takes little memory
_ENOUGH = 50  # nodes for each cluster; with fewer, chance explains too much to compare with


def fit_quality(
    graph: Graph,
    x: Any,
    n_clusters: int,
    parameters: dict[str, Any],
    *,
    random_state: Any,
    device: str,
    backend: str,
) -> tuple[SmoothedClusteringModel, TrainingResult, dict[str, Any]]:
    """Fit the recipe ``n_init`` times and make one network of what all runs find; no label is read.

    Each run gives a partition for each of a few encoders. Single partitions differ in what they split; what they say
    together (`agreed_labels`) agrees better with known classes than the one that explains most. The network has the
    encoders of all ranks side by side, each from the run whose partition explains most, and a discriminant of those
    labels for its head (`set_discriminant`), which the paper's loss refines.

    The more often neighbours differ, the more a node has to rely on itself: the mean of a node and d neighbours, which
    share its class with probability c, is least noisy with a self weight of ``(1 + (1 - c^2) r) / c``, r the
    signal-to-noise ratio of the features, whatever d is. So where neighbours have less in common than they differ in,
    the first run tries how much a node counts, for each encoder, until partitions explain hardly more, or features
    hardly more than they do by chance.

    On a graph of more nodes than ``batch_size`` no array is as wide as the components and as long as the graph: these,
    and what neighbourhoods and features say in them, come from a random batch; clusters are those of k-means on a
    sample; and each step of the refinement looks at a batch of nodes and their neighbours.

    Where edges are drawn with little regard to the features, means over neighbours only blur these. So where neighbours
    hardly agree, partitions over edges explain next to nothing beyond chance, and the nodes without their edges explain
    clearly more (`_Fit.blurred`), all runs are made without edges; not if the number of GTV steps is given.

    Where edges close many triangles, fewer of them say something of their own (`independent_share`). Only that share
    of their nats counts, and the more a node counts itself: members of a clique, which all have the same mean, would be
    the same after one step.

    Parameters:
        graph: N nodes.
        x: (N, F) prepared features, dense or CSR.
        n_clusters: K.
        parameters: the preset's, resolved.
        random_state: seeds the SVD and k-means.
        device: where smoothing and refinement run.
        backend: see `select_backend`.

    Returns:
        The network, the course of the refinement, and what the data chose, for the record.

    Raises:
        ValueError: batches are smaller than the number of clusters.

    """
    batch_size = parameters["batch_size"]
    if batch_size is not None and batch_size < n_clusters:
        raise ValueError(
            f"expected batch_size >= n_clusters, got batch_size={batch_size} and n_clusters={n_clusters}; take 50 "
            "nodes a cluster or more, and as many as memory lets you, such as 50000"
        )
    graph, x = in_order_of_locality(graph, x, parameters["hidden_channels"])
    fit = _Fit(graph, x, n_clusters, parameters, device, backend)
    random = check_random_state(random_state)
    with threadpool_limits(torch.get_num_threads()):
        fit.see(random)
        neighbors = fit.neighbor_agreement(random)
        fit.loop_share = own_share(fit.edge_share, neighbors)
        doubtful = parameters["num_layers"] is None and neighbors is not None and neighbors < _DOUBTFUL
        over_edges = not (doubtful and fit.blurred(random))
        apart = neighbors is not None and neighbors < _SHARED
        weights = _SELF_WEIGHTS if apart and over_edges else (1.0,)
        members = fit.runs(random, parameters["n_init"], weights, over_edges=over_edges)
        labels, agreement = agreed_labels([member.log_probabilities for member in members])
        views = sorted((member for member in members if member.candidate is not None), key=lambda one: one.rank)
        model, losses, judged, kept, seconds = fit.combined(views, labels, random)
    choices = {
        "edge_share": round(fit.edge_share, 4),
        "views": [view.description for view in views],
        "over_edges": over_edges,
        "neighbor_agreement": None if neighbors is None else round(neighbors, 4),
        "agreement": round(agreement, 4),
        "nats_by_member": [member.description["nats"] for member in members],
        "nats_agreed": round(fit.information.of(labels, n_clusters), 1),
        "nats_before_refinement": round(float(judged[0]), 1),
        "nats": round(float(judged[kept]), 1),
        "refinement_steps": kept,
    }
    steps = len(losses) - 1  # the first loss is that of the discriminant
    converged = steps < parameters["max_iter"]
    return model, TrainingResult(losses[kept], losses, steps, converged, seconds), choices


class _Fit:
    """What the runs on one graph share."""

    def __init__(
        self,
        graph: Graph,
        x: Any,
        n_clusters: int,
        parameters: dict[str, Any],
        device: str,
        backend: str,
        edge_share: float | None = None,
    ) -> None:
        self.graph, self.x, self.n_clusters, self.parameters = graph, x, n_clusters, parameters
        self.device, self.backend = device, backend
        self.batch_size: int | None = parameters["batch_size"]
        if self.batch_size is not None and self.batch_size >= graph.num_nodes:
            self.batch_size = None
        self.nodes: np.ndarray | None = None
        self.adjacency = Adjacency.from_graph(graph).to(device)
        self.loop = mean_edge_weight(graph)
        self.edge_share = independent_share(graph) if edge_share is None else edge_share
        self.loop_share = 0.0
        self.information: PartitionInformation
        self.basis = self.reduced = np.empty((0, 0), np.float32)
        self.chance: tuple[_Fit, dict[int, Directions]] | None = None

    def runs(
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
            if run_number > 0 or not self.basis.size:
                self.see(random)
            run = list(self._members(random, over_edges, weights))
            weights.update({one.rank: (one.description["self_weight"],) for one in run})
            self.chance = None  # which only the first run asks
            members = without_all_but_the_best_embeddings([*members, *run])
        return members

    def neighbor_agreement(self, random: np.random.RandomState) -> float | None:
        """See `tvgnn.estimators.quality.edges`; None without edges, which cannot blur anything."""
        return neighbor_agreement(self.graph, self.x, self.basis, random) if self.graph.num_edges else None

    def blurred(self, random: np.random.RandomState) -> bool:
        """Whether a run over edges tells next to nothing beyond chance, and one without edges clearly more, in nats.

        Chance, by which partitions of noise explain something too, is what one run finds on edges whose ends are joined
        at random, and on columns dealt out anew. All edges count here, as those that were joined at random close no
        triangles.
        """
        if self.graph.num_nodes < _ENOUGH * self.n_clusters:
            return False
        if self.edge_share < 1:
            same = self._at_face_value()
            self._let_components_go()
            return same.blurred(random)
        found = most_nats(self.runs(random, 1))
        self._let_components_go()
        rest = self.x, self.n_clusters, self.parameters, self.device, self.backend, self.edge_share
        over = found - most_nats(_Fit(rewired(self.graph, random), *rest).runs(random, 1))
        if over > _LITTLE * found:
            return False
        alone = most_nats(self.runs(random, 1, over_edges=False))
        self._let_components_go()
        alone -= most_nats(self._with_columns_dealt_out(random).runs(random, 1, over_edges=False))
        return alone > _CLEARLY * max(over, 0)

    def _at_face_value(self) -> _Fit:
        """The same with all edges counted in full."""
        fit = copy(self)
        fit.edge_share, fit.loop_share, fit.information = 1.0, 0.0, copy(self.information)
        fit.information.edge_share = 1.0
        return fit

    def _let_components_go(self) -> None:
        """Make room for another fit; the next run finds components anew."""
        self.basis = self.reduced = np.empty((0, 0), np.float32)
        del self.information

    def _with_columns_dealt_out(self, random: np.random.RandomState) -> _Fit:
        """The same with features that have nothing in common, whose components are still to be found."""
        fit = copy(self)
        fit.x, fit.basis = shuffled_columns(self.x, random), np.empty((0, 0), np.float32)
        return fit

    def see(self, random: np.random.RandomState) -> None:
        """Find principal components anew, those of a batch of the nodes where there are batches."""
        batches = self._batches(random)
        self.nodes = None if batches is None else batches.nodes()
        rows = self.x if self.nodes is None else self.x[self.nodes]
        self.basis, self.reduced = principal_components(rows, random)
        self.information = PartitionInformation(self.graph.adjacency(), self.reduced, self.nodes, self.edge_share)

    def _batches(self, random: np.random.RandomState) -> NodeBatches | None:
        return None if self.batch_size is None else NodeBatches(self.graph, self.batch_size, random, self.device)

    def encoders(self, graph: Graph) -> list[Directions]:
        """See `neighborhood_directions`."""
        width = self.parameters["hidden_channels"]
        seen = self.x, self.basis, self.reduced, width, self.nodes, self.loop_share
        return neighborhood_directions(graph, *seen)

    def _members(
        self, random: np.random.RandomState, over_edges: bool, self_weights: Mapping[int, tuple[float, ...]]
    ) -> Iterator[Member]:
        """One run: a partition for each encoder."""
        graph = self.graph if over_edges else Graph.from_scipy(sp.csr_array(self.graph.adjacency().shape))
        for encoder in self.encoders(graph):
            candidate, tried = self._candidate(encoder, random, over_edges, self_weights[encoder.rank])
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
        self, encoder: Directions, random: np.random.RandomState, over_edges: bool, self_weights: tuple[float, ...]
    ) -> tuple[Candidate, dict[int, float]]:
        """Best candidate of an encoder, and nats by steps; self weights are tried until one explains hardly more."""
        steps = self.parameters["num_layers"] if over_edges else 0
        z = self._encoded(encoder)
        best = self._smoothed(z, encoder, self_weights[0], steps, random)
        for self_weight in self_weights[1:]:
            found = self._smoothed(z, encoder, self_weight, steps, random)
            if found[0].nats <= (1 + _MORE) * best[0].nats or self._by_chance(encoder.rank, found[0]):
                break
            best = found
        return best

    def _encoded(self, encoder: Directions) -> torch.Tensor:
        return torch.tensor(np.asarray(self.x @ encoder.weight, dtype=np.float32), device=self.device)

    def _smoothed(
        self,
        z: torch.Tensor,
        encoder: Directions,
        self_weight: float,
        steps: int | None,
        random: np.random.RandomState,
    ) -> tuple[Candidate, dict[int, float]]:
        return best_candidate(
            z,
            encoder.ratios,
            averaging_adjacency(self.adjacency, self_weight * self.loop, self.loop_share),
            self.information,
            self.n_clusters,
            self_weight=self_weight,
            num_layers=steps,
            random=random,
            to_the_end=self.batch_size is None,
            backend=self.backend,
        )

    def _by_chance(self, rank: int, found: Candidate) -> bool:
        """Whether the features explain hardly more than where their columns are dealt out anew.

        So it is with clusters of one frequent word each: in short texts these explain far more than topics do.
        """
        if self.chance is None:
            random = np.random.RandomState(0)  # of its own, as this is no part of the runs
            fit = self._with_columns_dealt_out(random)
            if fit.batch_size is None and self.graph.num_nodes > _CHANCE_NODES:
                fit.batch_size = _CHANCE_NODES
            fit.see(random)
            self.chance = fit, {one.rank: one for one in fit.encoders(fit.graph)}
        fit, encoders = self.chance
        encoder, steps = encoders[rank], len(found.thresholds)
        z = fit._encoded(encoder)
        same = fit._smoothed(z, encoder, found.self_weight, steps, np.random.RandomState(0))[0]
        explained, by_chance = (
            one.information.feature_information(candidate.labels, self.n_clusters)
            for one, candidate in ((self, found), (fit, same))
        )
        return by_chance > _BY_CHANCE * explained

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
