"""Which number of clusters a sweep speaks for, from plain numbers and without labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Recommendation", "SweepRow", "recommend"]

GOOD_AGREEMENT = 0.65
"""Adjusted Rand index below which agreement is called poor (Steinley, Psychological Methods 9:386, 2004)."""


@dataclass(frozen=True)
class SweepRow:
    """What one number of clusters gave.

    Attributes
    ----------
    n_clusters : int
        K, as asked for.
    n_clusters_found : int
        Clusters in use in the partition that is kept, of the run of the lowest loss or the consensus; the following
        values are its own but for the loss and the stabilities.
    loss, total_variation : float
        Lowest training loss, and total variation of the soft assignments.
    modularity, conductance, sharpness : float
        See `tvgnn.metrics`.
    stability : float
        Mean adjusted Rand index over all pairs of seeds.
    stability_of_best : float
        The same over the half of the seeds that has the lower losses, at least two.
    score : float
        ``stability_of_best * (modularity - random modularity)``.
    score_error : float
        A standard error for the score: that of ``stability``, of all seeds, over other seeds (the jackknife), times
        ``|modularity - random modularity|``. A jackknife of the better half would jump with the seeds that enter it.
    sizes : tuple of int
        Nodes of each cluster, the largest first.
    seconds : float
        Time of all its runs.
    n_strays : int
        Clusters in use that are none: see `tvgnn.metrics.stray_clusters`.

    """

    n_clusters: int
    n_clusters_found: int
    loss: float
    total_variation: float
    modularity: float
    conductance: float
    sharpness: float
    stability: float
    stability_of_best: float
    score: float
    score_error: float
    sizes: tuple[int, ...]
    seconds: float = 0.0
    n_strays: int = 0

    @property
    def all_in_use(self) -> bool:
        """Whether no cluster is empty, or a stray node or two that belong to another one."""
        return self.n_clusters_found == self.n_clusters and not self.n_strays


@dataclass(frozen=True)
class Recommendation:
    """A number of clusters, or none, and why.

    Attributes
    ----------
    n_clusters : int or None
        None where nothing speaks for any of them.
    reason : str
        One or two sentences.

    """

    n_clusters: int | None
    reason: str


def recommend(rows: Sequence[SweepRow], random_modularity: float) -> Recommendation:
    """Recommend the K whose clusters are dense beyond chance and found again from other initial weights.

    Of the K with all clusters in use, none of them a stray, the smallest is taken whose score is within one standard
    error of the largest, ``score = stability * (modularity - random modularity)``: what is above that may be the luck
    of the seeds. Neither factor would do alone. Stability, though corrected for chance, is 1 for trivial splits, such
    as the two halves of an elongated cloud. Modularity is corrected for small K, at most ``1 - 1/K``, but arbitrary
    cuts through a ring, a grid or a neighbour graph have a large one too. Their product is the modularity that other
    seeds find again. The stability is that of the half of the seeds with the lower losses: where the others ended in a
    poor minimum, as their loss tells, that speaks of training, not of the data. No K is recommended where no modularity
    exceeds the random one (a random graph of the same degrees has as good communities) or where even the seeds of the
    best score agree poorly.

    Parameters
    ----------
    rows : sequence of SweepRow
        One a K.
    random_modularity : float
        See `tvgnn.metrics.random_modularity`.
    """
    used = [row for row in rows if row.all_in_use and row.n_clusters > 1]
    if not used:
        return Recommendation(
            None,
            "no K of at least 2 has all its clusters in use, each with more edges inside than to any other; try fewer "
            "clusters or more epochs",
        )
    densest = max(used, key=lambda row: row.modularity)
    if densest.modularity <= random_modularity:
        return Recommendation(
            None,
            f"no community structure beyond chance: the largest modularity, {densest.modularity:.2f} at "
            f"K = {densest.n_clusters}, can be found in a random graph of the same degrees ({random_modularity:.2f})",
        )
    best = max((row for row in used if row.modularity > random_modularity), key=lambda row: row.score)
    if best.stability_of_best < GOOD_AGREEMENT:
        return Recommendation(
            None,
            f"no K stands out: where modularity and stability are best together, at K = {best.n_clusters}, seeds "
            f"still give different clusters (stability {best.stability_of_best:.2f}, below {GOOD_AGREEMENT})",
        )
    simplest = min(
        (row for row in used if row.score >= best.score - best.score_error and row.stability_of_best >= GOOD_AGREEMENT),
        key=lambda row: row.n_clusters,
    )
    return Recommendation(simplest.n_clusters, _reason(simplest, best, rows, used, random_modularity))


def _reason(
    chosen: SweepRow, best: SweepRow, rows: Sequence[SweepRow], used: Sequence[SweepRow], random_modularity: float
) -> str:
    product = (
        f"product ({chosen.score:.2f}) of stability ({chosen.stability_of_best:.2f}) and modularity above that of a "
        f"random graph ({chosen.modularity:.2f} - {random_modularity:.2f})"
    )
    if chosen is best:
        text = f"largest {product}"
        others = sorted((row for row in used if row is not best), key=lambda row: -row.score)
        if others:
            text += f"; next is K = {others[0].n_clusters} ({others[0].score:.2f})"
    else:
        text = (
            f"smallest K whose {product} is within one standard error ({best.score_error:.2f}) of the largest, "
            f"{best.score:.2f} at K = {best.n_clusters}"
        )
    warnings = []
    if chosen.stability < GOOD_AGREEMENT:
        warnings.append(f"seeds of higher loss disagree (stability of all {chosen.stability:.2f}): try more restarts")
    edge = {"smallest": min, "largest": max}
    for name, end in edge.items():
        if len(rows) > 1 and chosen.n_clusters == end(row.n_clusters for row in rows) and chosen.n_clusters > 2:
            warnings.append(f"it is the {name} K tried: look beyond")
    return ". ".join([text, *(warning[0].upper() + warning[1:] for warning in warnings)])
