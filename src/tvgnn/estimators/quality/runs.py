"""The runs of ``preset="quality"``: each gives a partition for each encoder."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn.utils import skip_init

from tvgnn.estimators.quality.candidates import Candidate, best_candidate
from tvgnn.estimators.quality.directions import Directions
from tvgnn.estimators.quality.edge_use import EdgeUse
from tvgnn.estimators.quality.edges import without_edges
from tvgnn.estimators.quality.information import PartitionInformation
from tvgnn.estimators.quality.inputs import Components, FitInputs
from tvgnn.estimators.quality.members import Member, without_all_but_the_best_embeddings
from tvgnn.estimators.quality.missing import Projected
from tvgnn.estimators.quality.refinement import refine, soft_kmeans

__all__ = ["Found", "found_in_runs", "refined"]

_MORE = 0.01  # the share that the next weight has to explain more; repeated runs differ by as much


@dataclass(frozen=True, eq=False)
class Found:
    """What all runs have found.

    Attributes:
        members: a partition for each run and encoder.
        components: of the last run.
        steps_by_held_out_words: ranks of the encoders whose number of GTV steps held-out words chose, rising.

    """

    members: list[Member]
    components: Components
    steps_by_held_out_words: list[int]

    @property
    def views(self) -> list[Member]:
        """Of each rank the member that explains most, by rising rank; these have kept their embeddings."""
        return sorted((one for one in self.members if one.candidate is not None), key=lambda one: one.rank)


@dataclass(frozen=True)
class _Smoothness:
    """What the first run settles for an encoder: how much a node counts, and GTV steps, None for each run's own."""

    self_weight: float
    steps: int | None
    by_held_out_words: bool = False


class _Search(NamedTuple):
    """The best candidate of one encoder in one run, and nats by number of steps."""

    candidate: Candidate
    nats_by_steps: dict[int, float]


def found_in_runs(
    inputs: FitInputs,
    components: Components,
    use: EdgeUse,
    number: int,
    random: np.random.RandomState,
    watch: Callable[[int, str], None],
) -> Found:
    """Make so many runs, the first with these components; what it settles holds for all.

    ``watch`` is told before each how many are done, and which it is.
    """
    members: list[Member] = []
    settled: dict[int, _Smoothness] = {}
    graph = inputs.graph if use.averaged else without_edges(inputs.graph)
    for run in range(number):
        watch(run, f"run {run + 1} of {number}")
        if run > 0:
            components = inputs.components(random)
        for place, encoder in enumerate(inputs.encoders(components, graph, use.loop_share)):
            given = 0 if not use.averaged else inputs.parameters["num_layers"]
            smoothness = settled.get(encoder.rank, _Smoothness(use.self_weights[0], given))
            seen = inputs.projected(encoder, over_edges=smoothness.steps != 0)
            one = _EncoderRun(inputs, components, use, place, encoder, seen, random)
            found = one.smoothed(smoothness)
            if encoder.rank not in settled:
                found, settled[encoder.rank] = one.settled(found, smoothness)
            members.append(one.member(found))
        members = without_all_but_the_best_embeddings(members)
    chosen = sorted(rank for rank, smoothness in settled.items() if smoothness.by_held_out_words)
    return Found(members, components, chosen)


@dataclass(frozen=True, eq=False)
class _EncoderRun:
    """An encoder in one run, the ``place``-th by rising rank, and features in its directions."""

    inputs: FitInputs
    components: Components
    use: EdgeUse
    place: int
    encoder: Directions
    seen: Projected
    random: np.random.RandomState

    def smoothed(self, smoothness: _Smoothness) -> _Search:
        found = best_candidate(
            self.seen,
            self.encoder.ratios,
            self.inputs.averaging(smoothness.self_weight, self.use.loop_share),
            self.components.information,
            self.inputs.n_clusters,
            self_weight=smoothness.self_weight,
            num_layers=smoothness.steps,
            random=self.random,
            lengths=self.inputs.lengths,
            to_the_end=self.inputs.batch_size is None,
            backend=self.inputs.backend,
        )
        return _Search(*found)

    def settled(self, found: _Search, smoothness: _Smoothness) -> tuple[_Search, _Smoothness]:
        """Try self weights until one explains hardly more.

        What held-out words contradict is not taken, and the number of steps is theirs if that is so with a weight of 1.
        """
        held_out = self.use.held_out
        if held_out is not None and self._contradicted(found):
            smoothness = _Smoothness(1.0, held_out.best_steps(self.place), by_held_out_words=True)
            return self.smoothed(smoothness), smoothness
        for self_weight in self.use.self_weights[1:]:
            heavier = replace(smoothness, self_weight=self_weight)
            other = self.smoothed(heavier)
            if other.candidate.nats <= (1 + _MORE) * found.candidate.nats or self._contradicted(other):
                break
            found, smoothness = other, heavier
        return found, smoothness

    def _contradicted(self, found: _Search) -> bool:
        if self.use.held_out is None:
            return False
        averaging = self.inputs.averaging(found.candidate.self_weight, self.use.loop_share)
        return self.use.held_out.contradict(self.place, averaging, len(found.candidate.thresholds))

    def member(self, found: _Search) -> Member:
        """The candidate with a head, refined."""
        candidate = found.candidate
        # without initial weights, which are overwritten and would be drawn from the caller's random numbers
        head = skip_init(nn.Linear, candidate.embedding.shape[1], self.inputs.n_clusters, device=self.inputs.device)
        soft_kmeans(head, candidate.embedding, candidate.centers, candidate.labels)
        embedding = torch.from_numpy(candidate.embedding).to(self.inputs.device)
        judged, kept = refined(self.inputs, self.components.information, head, embedding, self.random)[1:3]
        with torch.no_grad():
            log_probabilities = head(embedding).log_softmax(1).cpu().numpy()
        reached = self.seen.reached
        description = {
            "rank": self.encoder.rank,
            "self_weight": candidate.self_weight,
            "smoothing_steps": len(candidate.thresholds),
            "unit_rows": candidate.unit_rows,
            "nats_by_steps": {str(steps): round(float(value), 1) for steps, value in found.nats_by_steps.items()},
            "nats_kmeans": round(float(judged[0]), 1),
            "nats": round(float(judged[kept]), 1),
        }
        nothing_known = 0 if reached is None else int((~reached).sum())
        return Member(self.encoder.rank, log_probabilities, description, nothing_known, self.encoder.weight, candidate)


def refined(
    inputs: FitInputs,
    information: PartitionInformation,
    head: nn.Linear,
    embedding: torch.Tensor,
    random: np.random.RandomState,
) -> tuple[list[float], dict[int, float], int, float]:
    """Refine a head in place, see `refine`.

    Returns:
        Losses, nats by step, the kept step, and the seconds that it took.

    """
    start = time.perf_counter()
    chosen: dict[str, Any] = {
        name: inputs.parameters[name]
        for name in ("totvar_coeff", "balance_coeff", "max_iter", "patience", "tol", "learning_rate")
    }
    losses, judged, kept = refine(
        head,
        embedding,
        inputs.adjacency,
        lambda labels: information.of(labels.cpu().numpy(), inputs.n_clusters),
        batches=inputs.batches(random),
        backend=inputs.backend,
        **chosen,
    )
    return losses, judged, kept, time.perf_counter() - start
