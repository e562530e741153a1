"""``preset="quality"``: encoders in closed form, many partitions, the best separated one as a refined network."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits
from torch import nn

from tvgnn.errors import GraphError
from tvgnn.estimators.quality.candidates import Candidate, Partition, best_candidate
from tvgnn.estimators.quality.directions import Directions, mean_edge_weight, neighborhood_directions
from tvgnn.estimators.quality.discriminant import set_discriminant
from tvgnn.estimators.quality.information import PartitionInformation
from tvgnn.estimators.quality.refinement import refine
from tvgnn.estimators.quality.selection import best_separated
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

__all__ = ["fit_quality", "quality_bytes"]

_FINALISTS = 15  # partitions that get a discriminant


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

    Each run gives, for each of a few encoders, an embedding and the partitions of many starts of k-means, which differ
    in what they cut and what they merge. The best separated of them (`best_separated`) get a linear discriminant in the
    embeddings of all ranks side by side, each from the run whose partition explains most. The best separated of these
    is the head of the network, which the paper's loss refines.

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

    """
    fit = _Fit(graph, x, n_clusters, parameters, device, backend)
    random = check_random_state(random_state)
    with threadpool_limits(torch.get_num_threads()):
        views: dict[int, _View] = {}
        partitions: list[Partition] = []
        for _ in range(parameters["n_init"]):
            for view, found in fit.views(random):
                partitions += found
                if view.encoder.rank not in views or view.candidate.nats > views[view.encoder.rank].candidate.nats:
                    views[view.encoder.rank] = view
        ordered = [views[rank] for rank in sorted(views)]
        model, result, choices = fit.network(ordered, partitions)
    return (
        model,
        result,
        {
            "views": [view.description for view in ordered],
            "partitions": len(partitions),
            "nats_highest": round(max(one.judgement.nats for one in partitions), 1),
            **choices,
        },
    )


@dataclass(frozen=True, eq=False)
class _View:
    """An encoder, how much it is smoothed, and that for the record."""

    encoder: Directions
    candidate: Candidate
    description: dict[str, Any]


class _Fit:
    """What the runs on one graph share."""

    def __init__(
        self, graph: Graph, x: Any, n_clusters: int, parameters: dict[str, Any], device: str, backend: str
    ) -> None:
        self.graph, self.x, self.n_clusters, self.parameters = graph, x, n_clusters, parameters
        self.device, self.backend = device, backend
        self.adjacency = Adjacency.from_graph(graph).to(device)
        self.loop = mean_edge_weight(graph)
        self.averaging = averaging_adjacency(self.adjacency, self.loop)
        self._information: PartitionInformation | None = None

    @property
    def information(self) -> PartitionInformation:
        """The judge, there once a run has found the principal components."""
        return cast(PartitionInformation, self._information)

    def views(self, random: np.random.RandomState) -> Iterator[tuple[_View, list[Partition]]]:
        """One run: a view of the nodes for each rank, and the partitions found on the way."""
        encoders, reduced = neighborhood_directions(self.graph, self.x, self.parameters["hidden_channels"], random)
        if not encoders:
            raise GraphError("expected features of at least one column, got none")
        if self._information is None:  # one judge for all runs, whose principal components differ by the solver's error
            self._information = PartitionInformation(self.graph.adjacency(), reduced)
        for encoder in encoders:
            candidate, partitions, tried = best_candidate(
                torch.tensor(np.asarray(self.x @ encoder.weight, dtype=np.float32), device=self.device),
                encoder.ratios,
                self.averaging,
                self.information,
                self.n_clusters,
                num_layers=self.parameters["num_layers"],
                random=random,
                backend=self.backend,
            )
            description = {
                "rank": encoder.rank,
                "smoothing_steps": len(candidate.thresholds),
                "unit_rows": candidate.unit_rows,
                "nats_by_steps": {str(steps): round(float(value), 1) for steps, value in tried.items()},
            }
            yield _View(encoder, candidate, description), partitions

    @torch.no_grad()
    def network(
        self, views: list[_View], partitions: list[Partition]
    ) -> tuple[SmoothedClusteringModel, TrainingResult, dict[str, Any]]:
        """The network of the encoders, its head the best discriminant of the partitions, refined."""
        candidates = [view.candidate for view in views]
        config = SmoothedClusteringConfig(
            in_channels=self.x.shape[1],
            n_clusters=self.n_clusters,
            views=tuple(SmoothedView(len(one.mean), one.thresholds, one.unit_rows) for one in candidates),
            loop_weight=self.loop,
            totvar_coeff=self.parameters["totvar_coeff"],
            balance_coeff=self.parameters["balance_coeff"],
        )
        with torch.random.fork_rng(devices=[]):  # the initial weights are overwritten
            model = SmoothedClusteringModel(config, backend=self.backend)
        for conv, view in zip(model.convs, views, strict=True):
            cast(GTVConv, conv).weight.copy_(torch.tensor(view.encoder.weight))
        model.mean.copy_(torch.tensor(np.concatenate([one.mean for one in candidates])))
        model.scale.copy_(torch.tensor(np.concatenate([one.scale for one in candidates])))
        embeddings = [one.embedding for one in candidates]
        start = self._set_head(model.head, embeddings, partitions)
        model.to(self.device)
        with torch.enable_grad():
            embedding = torch.tensor(np.concatenate(embeddings, axis=1), device=self.device)
            return model, *self._refined(model.head, embedding, start)

    def _set_head(self, head: nn.Linear, embeddings: list[np.ndarray], partitions: list[Partition]) -> Partition:
        """Make the head the best separated of the discriminants that start from the best separated partitions."""
        found = []
        for one in best_separated(partitions, _FINALISTS):
            labels = set_discriminant(head, embeddings, one.labels.astype(np.int64))
            state = head.weight.clone(), head.bias.clone()
            found.append((Partition(labels, self.information.judged(labels)), state))
        (best,) = best_separated([partition for partition, _ in found])
        weight, bias = next(state for partition, state in found if partition is best)
        head.weight.copy_(weight)
        head.bias.copy_(bias)
        return best

    def _refined(
        self, head: nn.Linear, embedding: torch.Tensor, start: Partition
    ) -> tuple[TrainingResult, dict[str, Any]]:
        """The refinement's course, and what was known of its first and its kept state; no cluster is given up."""
        begin = time.perf_counter()

        def separation(labels: torch.Tensor) -> float:
            now = self.information.judged(labels.cpu().numpy())
            return -now.overlap if now.clusters >= start.judgement.clusters else -np.inf

        losses, _, kept = refine(
            head,
            embedding,
            self.adjacency,
            separation,
            totvar_coeff=self.parameters["totvar_coeff"],
            balance_coeff=self.parameters["balance_coeff"],
            max_iter=self.parameters["max_iter"],
            patience=self.parameters["patience"],
            tol=self.parameters["tol"],
            learning_rate=self.parameters["learning_rate"],
            backend=self.backend,
        )
        steps = len(losses) - 1  # the first loss is that of the discriminant
        seconds = time.perf_counter() - begin
        result = TrainingResult(losses[kept], losses, steps, steps < self.parameters["max_iter"], seconds)
        with torch.no_grad():
            final = self.information.judged(head(embedding).argmax(1).cpu().numpy())
        return result, {
            "overlap_before_refinement": start.judgement.overlap,
            "overlap": final.overlap,
            "nats_before_refinement": round(start.judgement.nats, 1),
            "nats": round(final.nats, 1),
            "refinement_steps": kept,
        }


def quality_bytes(graph: Graph, x: Any, width: int, n_clusters: int) -> int:
    """Estimated peak of what fitting adds to the memory of the process."""
    nodes, features = x.shape
    rank = min(256, features)
    floats = nodes * (3 * rank + 10 * width) + 3 * features * rank + 6 * rank * rank
    partitions = 600 * nodes * np.min_scalar_type(n_clusters).itemsize  # about 200 a run
    return 32 * 2**20 + 4 * floats + 24 * graph.indices.size + partitions
