"""Partitions that runs and encoders give, of which one network is made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tvgnn.estimators.quality.candidates import Candidate

__all__ = ["Member", "without_all_but_the_best_embeddings"]


@dataclass(frozen=True, eq=False)
class Member:
    """A partition of one run and one encoder; its embedding is let go where another run's explains more.

    Attributes:
        rank: of the encoder, see `Directions`.
        log_probabilities: (N, K) float32, of the clusters.
        description: what the data chose, for the record.
        nothing_known: number of nodes that have neither features nor a way to any.
        weight: (F, q) float32, the encoder's.
        candidate: the partition before refinement with its embedding, None where that was let go.

    """

    rank: int
    log_probabilities: np.ndarray
    description: dict[str, Any]
    nothing_known: int
    weight: np.ndarray
    candidate: Candidate | None


def without_all_but_the_best_embeddings(members: list[Member]) -> list[Member]:
    """Let go of the embeddings of those that explain less than another member of their rank."""
    best: dict[int, Member] = {}
    for member in members:
        if member.candidate is not None and (
            member.rank not in best or member.description["nats"] > best[member.rank].description["nats"]
        ):
            best[member.rank] = member
    return [member if best[member.rank] is member else replace(member, candidate=None) for member in members]
