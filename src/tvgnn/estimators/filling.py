"""Exactly K clusters: empty ones are filled by splitting others, inside the last layer of the network."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import torch
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor, nn

from tvgnn.layers.by_rows import by_rows

if TYPE_CHECKING:
    from tvgnn.estimators.plans import ClusteringNetwork

__all__ = ["EMPTY_CLUSTERS", "Filled", "check_empty_clusters", "fill_empty_clusters"]

EMPTY_CLUSTERS = ("keep", "split")

_CERTAIN = 4.0  # difference of scores at the centres of two halves: shares of 0.98 and 0.02 between them
_EQUAL = 1e-5  # spread of a cluster's rows, as a share of the largest number, up to which they count as equal
_LEAST = 1e-6  # such differences are lost in float32
_STEPS = 12  # between what moves no other node and this certainty
_DOUBLINGS = 20  # of the last layer at most
_STRICT_TRIES = 4  # clusters whose split is to move no other node, before some may
_ROUNDING = 1e-5  # of a share
_ROWS = 65_536
_STARTS = 4  # of 2-means


class Filled(NamedTuple):
    """What `fill_empty_clusters` did.

    Attributes:
        clusters: how many were filled; fewer than were empty where the nodes of no cluster differ.
        moved: how often a node changed its cluster though that was not split; mostly 0.

    """

    clusters: int = 0
    moved: int = 0


class _Half(NamedTuple):
    cluster: int
    gain: float
    direction: np.ndarray  # (D,), with the offset 1 at the one centre and -1 at the other
    offset: float


def check_empty_clusters(value: Any) -> None:
    """Refuse what is not one of `EMPTY_CLUSTERS`.

    Raises:
        ValueError: it is not.

    """
    if value not in EMPTY_CLUSTERS:
        raise ValueError(f"expected empty_clusters to be one of {', '.join(EMPTY_CLUSTERS)}, got {value!r}")


@torch.no_grad()
def fill_empty_clusters(model: ClusteringNetwork, embedding: Tensor) -> Filled:
    """Split clusters by 2-means, those first whose sum of squares falls most, until none of K >= 2 is empty.

    An empty cluster gets the last layer's row of the one that is split, plus a multiple of the hyperplane half-way
    between the two centres: its scores are higher on one side, lower on the other. Scores of other clusters stay, and
    the multiple is so small that their nodes do, too; only where the network's numbers cannot tell such small
    differences (``bfloat16``, or a network that has not learned anything) some at the border are drawn in. All of that
    is tried with the network itself. As small differences make shares alike, the last layer is then multiplied by what
    brings the mean largest share back to where it was, by which no label changes.

    Of a network that puts all nodes into one cluster many hidden units are 0 at all of them, and what the last layer
    reads is the same for most. Such units are given principal components of the embedding to pass on, from a weight of
    0 in all scores there were.

    Parameters:
        model: trained; the layers that score the clusters are changed.
        embedding: (N, H), as ``model.infer`` gave it.

    Returns:
        What was done.

    """
    sharpness = _sharpness(model, embedding)
    _wake(model.pool.mlp, embedding)
    rows = by_rows(model.pool.mlp[:-1], embedding, _ROWS).float().cpu().numpy()
    filled = _fill_all(model, embedding, rows)
    if filled.clusters:
        _sharpen(model, embedding, sharpness)
    return filled


def _fill_all(model: ClusteringNetwork, embedding: Tensor, rows: np.ndarray) -> Filled:
    labels, in_use = _labels(model, embedding)
    halves: dict[int, _Half | None] = {}
    filled = Filled()
    for empty in np.flatnonzero(np.bincount(labels, minlength=model.config.n_clusters) == 0).tolist():
        if (labels == empty).any():  # by nodes that moved
            continue
        for cluster in np.unique(labels).tolist():
            if cluster not in halves:
                halves[cluster] = _halved(rows, labels == cluster, cluster)
        known = sorted((half for half in halves.values() if half is not None), key=lambda one: -one.gain)
        for half, strict in [*((half, True) for half in known[:_STRICT_TRIES]), *((half, False) for half in known)]:
            filling = _fill(model, embedding, rows, labels, in_use.size, half, empty, strict)
            if filling is not None:
                break
        else:
            return filled
        found, in_use = filling
        changed = found != labels
        for cluster in {half.cluster, *labels[changed].tolist(), *found[changed].tolist()}:
            halves.pop(cluster, None)
        filled = Filled(filled.clusters + 1, filled.moved + int((changed & (labels != half.cluster)).sum()))
        labels = found
    return filled


def _wake(mlp: nn.Sequential, embedding: Tensor) -> None:
    """Let hidden units that are 0 at all nodes pass on principal components of the embedding instead."""
    if len(mlp) == 1:
        return
    hidden, last = cast(nn.Linear, mlp[-3]), cast(nn.Linear, mlp[-1])
    silent = (by_rows(mlp[:-1], embedding, _ROWS) == 0).all(0).nonzero().ravel()
    number = min(silent.numel(), *embedding.shape)
    if not number or (embedding == embedding[0]).all():
        return
    found = PCA(number, svd_solver="covariance_eigh").fit(embedding.float().cpu().numpy()).components_
    axes = torch.from_numpy(found).to(embedding)
    least, largest = torch.aminmax(embedding @ axes.T, dim=0)
    apart = largest - least > _EQUAL * embedding.abs().max()  # the first ones: they are ordered by their variance
    axes, least, largest = axes[apart], least[apart], largest[apart]
    silent = silent[: len(axes)]
    hidden.weight[silent] = axes
    hidden.bias[silent] = (largest - least) / 10 - least  # above 0 at all nodes, and at others somewhat beyond
    last.weight[:, silent] = 0


def _sharpness(model: ClusteringNetwork, embedding: Tensor) -> float:
    return float(model.assign(embedding).amax(1).mean())


def _sharpen(model: ClusteringNetwork, embedding: Tensor, sharpness: float) -> None:
    """Multiply the last layer by a power of 2, with which no rounding changes, until shares are as sharp as before."""
    last = cast(nn.Linear, model.pool.mlp[-1])
    for _ in range(_DOUBLINGS):
        if _sharpness(model, embedding) >= sharpness:
            return
        last.weight.mul_(2)
        last.bias.mul_(2)


def _labels(model: ClusteringNetwork, embedding: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Clusters (N,), and those sure to be in use: where shares are equal but for rounding, their order decides."""
    shares, labels = model.assign(embedding).topk(2, dim=1)
    sure = shares[:, 1] < (1 - _ROUNDING) * shares[:, 0]
    return labels[:, 0].cpu().numpy(), labels[sure, 0].unique().cpu().numpy()


def _halved(rows: np.ndarray, members: np.ndarray, cluster: int) -> _Half | None:
    """Split the rows of a cluster by 2-means; None where they are equal."""
    own = rows[members]
    if np.ptp(own, axis=0).max(initial=0) <= _EQUAL * np.abs(rows).max(initial=0):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of few distinct rows
        found = KMeans(2, n_init=_STARTS, random_state=0).fit(own)
    first, second = found.cluster_centers_.astype(np.float64)
    apart = first - second
    length = apart @ apart
    if not length > 0:
        return None
    direction = 2 * apart / length
    offset = -float(direction @ (first + second)) / 2
    total = float(np.square(own - own.mean(0, dtype=np.float64)).sum())
    return _Half(cluster, total - float(found.inertia_), direction, offset)


def _fill(
    model: ClusteringNetwork,
    embedding: Tensor,
    rows: np.ndarray,
    labels: np.ndarray,
    in_use: int,
    half: _Half,
    empty: int,
    strict: bool,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Give an empty cluster one half of another.

    Returns:
        What `_labels` gives for the multiple of the hyperplane that moves fewest nodes of other clusters, none if
        strict; None where there is no such one and the last layer stays as it was.

    """
    last = cast(nn.Linear, model.pool.mlp[-1])
    weight, bias = last.weight.clone(), last.bias.clone()
    others = labels != half.cluster
    scores = rows[others] @ weight.cpu().numpy().T + bias.cpu().numpy()
    margins = scores[np.arange(len(scores)), labels[others]] - scores[:, half.cluster]
    sides = rows[others] @ half.direction.astype(np.float32) + np.float32(half.offset)
    steps = sorted(((_room(margins, sign * sides), sign) for sign in (1.0, -1.0)), reverse=True)
    if not strict:
        roomy, sign = steps[0]
        steps = [(float(step), sign) for step in np.geomspace(max(roomy, _LEAST), _CERTAIN, _STEPS)]
    fewest, best = 0 if strict else labels.size, None
    for step, sign in steps:
        row = sign * step * torch.tensor(np.append(half.direction, half.offset))
        last.weight[empty] = weight[half.cluster] + row[:-1].to(weight)
        last.bias[empty] = bias[half.cluster] + row[-1].to(bias)
        found, used = _labels(model, embedding)
        moved = int((found != labels)[others].sum())
        if used.size > in_use and moved <= fewest:
            if not moved:
                return found, used
            fewest, best = moved - 1, ((found, used), last.weight.clone(), last.bias.clone())
    last.weight.copy_(weight if best is None else best[1])
    last.bias.copy_(bias if best is None else best[2])
    return None if best is None else best[0]


def _room(margins: np.ndarray, sides: np.ndarray) -> float:
    """Multiple of the hyperplane that leaves every node of another cluster half of its margin."""
    towards = sides > 0
    room = np.maximum(margins[towards], 0) / sides[towards]
    return float(min(_CERTAIN, room.min(initial=np.inf) / 2))
