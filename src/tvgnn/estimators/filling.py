"""Exactly K clusters: empty ones are filled by splitting others, inside the last layer of the network."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor, nn

__all__ = ["EMPTY_CLUSTERS", "check_empty_clusters", "fill_empty_clusters"]

EMPTY_CLUSTERS = ("keep", "split")
_SURE = 2.0  # half of the nodes of a split cluster lie so far on their side, in differences of scores
_HALVINGS = 16  # of that distance, until no node of another cluster is drawn in
_SAME = 1e-6  # of the spread of all nodes, below which two halves are one point

_Halves = tuple[float, np.ndarray, np.ndarray]


def check_empty_clusters(value: Any) -> None:
    """Refuse what is not one of `EMPTY_CLUSTERS`.

    Raises:
        ValueError: it is not.

    """
    if value not in EMPTY_CLUSTERS:
        raise ValueError(f"expected empty_clusters to be one of {', '.join(EMPTY_CLUSTERS)}, got {value!r}")


@torch.no_grad()
def fill_empty_clusters(last: nn.Linear, hidden: Tensor, scores: Tensor) -> int:
    """Split clusters by 2-means, those first whose sum of squares falls most, until none is empty.

    A cluster's row ``w`` of the layer becomes ``w + t u`` and that of the empty one ``w - t u``, with u the direction
    from one centre to the other and biases such that the border lies half way. Where a node is of the cluster its
    scores rise, so it stays in one of the halves; t is small enough that no node of another cluster is drawn in. Only
    where that is not possible, as scores of a network that has not learned anything differ by next to nothing, nodes of
    others may come in, as long as no cluster loses all.

    Parameters:
        last: the layer that scores the clusters; changed in place.
        hidden: (N, d) what the layer reads.
        scores: (N, K) what it gives.

    Returns:
        Number of clusters that were filled; fewer than were empty where no cluster has two different nodes.

    """
    rows, found = hidden.detach().float().cpu().numpy(), scores.detach().double().cpu().numpy()
    labels = found.argmax(1)
    spread = float(np.linalg.norm(rows - rows.mean(0), axis=1).mean())
    halves: dict[int, _Halves] = {}
    filled = 0
    for empty in np.flatnonzero(np.bincount(labels, minlength=found.shape[1]) == 0).tolist():
        for cluster in np.unique(labels).tolist():
            if cluster not in halves:
                halves[cluster] = _halves(rows[labels == cluster])
        apart = [cluster for cluster in halves if _differ(halves[cluster], _SAME * spread)]
        ordered = sorted(apart, key=lambda one: -halves[one][0])
        for cluster, strict in [*((one, True) for one in ordered), *((one, False) for one in ordered)]:
            split = _split(rows, found, labels, cluster, empty, halves[cluster], strict=strict)
            if split is None:
                continue
            direction, shift = split
            weight = torch.as_tensor(direction, dtype=last.weight.dtype, device=last.weight.device)
            last.weight[empty] = last.weight[cluster] - weight
            last.weight[cluster] += weight
            last.bias[empty] = last.bias[cluster] + shift
            last.bias[cluster] -= shift
            halves = {one: known for one, known in halves.items() if strict and one != cluster}
            filled += 1
            break
    return filled


def _differ(halves: _Halves, least: float) -> bool:
    return bool(np.linalg.norm(halves[1] - halves[2]) > least)


def _halves(rows: np.ndarray) -> _Halves:
    """By how much two centres lower the sum of squares about one, and these centres."""
    mean = rows.mean(0)
    if len(rows) < 2:
        return 0.0, mean, mean
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of equal rows
        model = KMeans(2, n_init=3, random_state=0).fit(rows)
    return float(np.square(rows - mean).sum() - model.inertia_), *model.cluster_centers_


def _split(
    rows: np.ndarray,
    scores: np.ndarray,
    labels: np.ndarray,
    cluster: int,
    empty: int,
    halves: _Halves,
    *,
    strict: bool,
) -> tuple[np.ndarray, float] | None:
    """``t u`` and the shift of the bias; scores and labels are changed. None where other clusters would lose nodes.

    Unless ``strict``, these may lose some of several.
    """
    _, one, other = halves
    difference = (one - other).astype(np.float64)
    middle = (one + other).astype(np.float64) / 2
    sides = (rows - middle) @ difference
    own = labels == cluster
    typical = float(np.median(np.abs(sides[own])))
    step = _SURE / typical if typical > 0 else 1.0
    before = scores[:, cluster]
    for _ in range(_HALVINGS):
        tried = scores.copy()
        tried[:, cluster], tried[:, empty] = before + step * sides, before - step * sides
        after = tried.argmax(1)
        others_stay = (after[~own] == labels[~own]).all()
        if not strict:
            others_stay = np.unique(after).size == np.unique(labels).size + 1
        if others_stay and set(np.unique(after[own])) == {cluster, empty}:
            scores[:], labels[:] = tried, after
            return step * difference, float(step * (difference @ middle))
        step /= 2
    return None
