"""Which of many partitions is kept: the one whose clusters are told apart best, among those that explain enough."""

from __future__ import annotations

from collections.abc import Sequence

from tvgnn.estimators.quality.candidates import Partition

__all__ = ["best_separated"]

_LESS = 0.05  # of the highest nats may be missing: few outliers beside all others overlap with none, and explain little


def best_separated(partitions: Sequence[Partition], number: int = 1) -> list[Partition]:
    """The partitions of the least overlap, the least first, different ones.

    Only those compete that use as many clusters as any, and explain at most a twentieth less than any of these.

    Parameters:
        partitions: of the same nodes, at least one.
        number: how many, at most.

    """
    most = max(one.judgement.clusters for one in partitions)
    full = [one for one in partitions if one.judgement.clusters == most]
    highest = max(one.judgement.nats for one in full)
    enough = highest - _LESS * abs(highest)
    found: dict[tuple[float, float], Partition] = {}
    for one in sorted(full, key=lambda one: one.judgement.overlap):
        if one.judgement.nats >= enough:  # the same clusters by other numbers are judged alike, up to rounding
            found.setdefault((round(one.judgement.nats, 6), round(one.judgement.overlap, 12)), one)
    return list(found.values())[:number]
