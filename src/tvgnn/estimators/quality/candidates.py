"""Partitions of more and more smoothed embeddings, of which the most informative one is kept."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances_argmin
from threadpoolctl import threadpool_limits
from torch import Tensor

from tvgnn.estimators.quality.information import PartitionInformation
from tvgnn.estimators.quality.missing import Projected
from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops.gtv_step import gtv_step
from tvgnn.ops.total_variation import total_variation

__all__ = ["GRID", "QUICK", "Candidate", "Smoothing", "best_candidate", "clustered"]

GRID = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
QUICK: dict[str, Any] = {"to_the_end": False, "starts": 5, "sample": 5_000}  # k-means where a glance will do
_STARTS = 20  # of k-means for each amount of smoothing
_SAMPLE = 20_000  # nodes on which the starts are compared; the winner goes on with all
_WORTH_THREADS = 10_000_000  # products in a step; below, a second thread gains 13 % at most and may wait
_FEW_COLUMNS = 4  # in which directions alone cannot tell many clusters apart
_CLEARLY = 1.1  # times as many nats rows as they are have to explain in more columns
_BLOCK = 65_536  # rows that are looked at together
_MEASURED = 200_000  # entries of the adjacency, nearly, whose distances are measured
_NOTHING = 3e38  # nearly the largest number that float32 holds, what is divided by it is 0
_PATIENCE = 3  # numbers of steps without a better partition before the search ends


@dataclass(frozen=True, eq=False)
class Candidate:
    """One amount of smoothing and the best partition found with it.

    Attributes:
        self_weight: see `SmoothedView`.
        thresholds: of its GTV steps.
        mean, scale: (q,) that standardise the embedding and weigh its columns.
        unit_rows: whether rows of the embedding have length 1.
        embedding: (N, q).
        centers: (K, q) of k-means.
        labels: (N,) int64.
        nats: what the labels explain, see `PartitionInformation`.

    """

    self_weight: float
    thresholds: tuple[float, ...]
    mean: np.ndarray
    scale: np.ndarray
    unit_rows: bool
    embedding: np.ndarray
    centers: np.ndarray
    labels: np.ndarray
    nats: float


def best_candidate(
    seen: Projected,
    ratios: np.ndarray,
    averaging: Adjacency,
    information: PartitionInformation,
    n_clusters: int,
    *,
    self_weight: float = 1.0,
    num_layers: int | None,
    random: np.random.RandomState,
    lengths: bool = True,
    to_the_end: bool = True,
    backend: str = "auto",
) -> tuple[Candidate, dict[int, float]]:
    """Smooth, cluster and judge until more smoothing explains less.

    Starts of k-means on one embedding are compared by its own objective; embeddings, whose objectives cannot be
    compared, by what their partitions explain. (A maximum of the latter over many starts favours outliers.) Rows have
    length 1, but clusters in the same direction from the mean, or at the mean, would fall together. So rows as they are
    compete too: in few columns on equal terms; in more, where nats favour rows of unequal lengths a little, they have
    to explain a tenth more, in the first round already; not where lengths were taken off the features before.

    Parameters:
        seen: features of N nodes in the encoder's q directions.
        ratios: (q,) signal-to-noise ratios.
        averaging: N nodes, see `averaging_adjacency`.
        information: judges partitions.
        n_clusters: K.
        self_weight: that of ``averaging``, for the record.
        num_layers: number of GTV steps, possibly 0; None to let the data choose one or more.
        random: seeds k-means.
        lengths: whether rows of the features differ in length.
        to_the_end: on a large graph k-means goes on with all nodes; else they go to the nearest centre of a sample.
        backend: see `select_backend`.

    Returns:
        The candidate of the highest `nats`, and the nats by number of steps.

    """
    grid = GRID if num_layers is None else (num_layers,)
    best: Candidate | None = None  # set in the first round
    worth = -np.inf  # of the best
    few = seen.z.shape[1] <= _FEW_COLUMNS
    forms = (True, False) if few or lengths else (True,)
    tried: dict[int, float] = {}
    path = Smoothing(seen, ratios, averaging, backend)
    for steps in grid:
        path.go_on(steps)
        better, most, tried[steps] = False, -np.inf, -np.inf
        for unit_rows in forms:
            mean, scale, embedding = path.embedding(unit_rows=unit_rows)
            centers, labels = _clustered(embedding, seen.reached, n_clusters, random, to_the_end=to_the_end)
            nats = information.of(labels, n_clusters)
            judged = nats if unit_rows or few else nats / _CLEARLY
            if judged > most:
                most, tried[steps] = judged, nats
            if best is None or judged > worth:
                better, worth = True, judged
                thresholds = tuple(path.thresholds)
                best = Candidate(self_weight, thresholds, mean, scale, unit_rows, embedding, centers, labels, nats)
        if not few and best is not None and best.unit_rows:
            forms = (True,)
        if better or best is None:
            continue
        if sum(number > len(best.thresholds) for number in tried) >= _PATIENCE:
            break
    assert best is not None  # the grid has a first number
    return best, tried


class Smoothing:
    """Features in an encoder's directions (N, q), smoothed more and more; nodes of which nothing is known get the mean.

    Attributes:
        thresholds: of the GTV steps so far.

    """

    def __init__(self, seen: Projected, ratios: np.ndarray, averaging: Adjacency, backend: str) -> None:
        self.thresholds: list[float] = []
        self._z, self._reached = seen
        self._ratios, self._averaging, self._backend = ratios, averaging, backend
        self._edges = _edges_to_measure(averaging)

    def go_on(self, steps: int) -> None:
        """Take steps until there are so many."""
        while len(self.thresholds) < steps:
            self.thresholds.append(_mean_distance(self._z, self._edges, self._backend))
            threshold = self.thresholds[-1]
            self._z = gtv_step(self._z, self._averaging, threshold, threshold, backend=self._backend)

    def embedding(self, *, unit_rows: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean and scale, (q,), and the embedding (N, q) that they give."""
        rows = self._z.cpu().numpy()
        if self._reached is not None:
            mean, scale = _weights(rows[self._reached], self._ratios)
            rows = np.where(self._reached[:, None], rows, mean)
        else:
            mean, scale = _weights(rows, self._ratios)
        return mean, scale, _embedding(rows, mean, scale, unit_rows)


def _clustered(
    embedding: np.ndarray, reached: np.ndarray | None, n_clusters: int, random: np.random.RandomState, **options: bool
) -> tuple[np.ndarray, np.ndarray]:
    """See `clustered`; nodes of which nothing is known have no say in where centres are."""
    if reached is None or reached.sum() < n_clusters:
        return clustered(embedding, n_clusters, random, **options)
    centers, found = clustered(embedding[reached], n_clusters, random, **options)
    labels = np.full(len(embedding), np.square(centers).sum(1).argmin())
    labels[reached] = found
    return centers, labels


def clustered(
    embedding: np.ndarray,
    n_clusters: int,
    random: np.random.RandomState,
    *,
    to_the_end: bool,
    starts: int = _STARTS,
    sample: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Centres (K, q) and labels (N,) of k-means, the best of many starts.

    With more nodes than ``sample`` (20,000) the starts are compared on so many; with the best all nodes go on
    ``to_the_end``, or are given to the nearest of the sample's centres.
    """
    sample = sample or _SAMPLE
    size = min(len(embedding), max(sample, 100 * n_clusters))
    threads = 1 if size * embedding.shape[1] * n_clusters < _WORTH_THREADS else None
    with threadpool_limits(threads), warnings.catch_warnings():
        # Fewer distinct rows than clusters: the estimator says so once, at the end
        warnings.simplefilter("ignore", ConvergenceWarning)
        if len(embedding) <= sample:
            found = _best_of_many(embedding, n_clusters, random, starts)
        else:
            chosen = random.choice(len(embedding), size, replace=False)
            found = _best_of_many(embedding[chosen], n_clusters, random, starts)
            if not to_the_end:
                centers = found.cluster_centers_
                return centers, pairwise_distances_argmin(embedding, centers).astype(np.int64)
            found = KMeans(n_clusters, init=found.cluster_centers_, n_init=1).fit(embedding)
    return found.cluster_centers_, found.labels_.astype(np.int64)


def _best_of_many(embedding: np.ndarray, n_clusters: int, random: np.random.RandomState, starts: int) -> KMeans:
    """K-means of the least inertia from many starts.

    The same as ``KMeans(n_init=_STARTS)``, in half the time for 70 clusters and three quarters for 40: that brings
    float32 to float64 anew, piece by piece, for every centre that it draws.
    """
    precise = embedding.astype(np.float64)
    lengths = np.einsum("ij,ij->i", precise, precise)
    best: KMeans | None = None
    for _ in range(starts):
        start = kmeans_plusplus(precise, n_clusters, x_squared_norms=lengths, random_state=random)[0]
        found = KMeans(n_clusters, init=start.astype(embedding.dtype), n_init=1).fit(embedding)
        if best is None or found.inertia_ < best.inertia_:
            best = found
    assert best is not None
    return best


def _weights(z: np.ndarray, ratios: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and scale, (q,) float32, by which columns are standardised and weighed.

    The weight ``sqrt(r) * r / (1 + r)`` of a column with signal-to-noise ratio r makes the noise equal in all columns
    and shrinks each to its expected signal (Wiener's filter).
    """
    weights = np.sqrt(ratios) * ratios / (1 + ratios)
    mean, deviation = z.mean(0), z.std(0)
    varies = (deviation > 1e-6 * np.abs(mean).max(initial=1e-30)) & (ratios > 0)
    # A column that says nothing, or next to nothing, becomes 0
    scale = np.where(varies, deviation / np.maximum(weights / weights.max(initial=1e-30), 1e-300), np.inf)
    return mean, np.minimum(scale, _NOTHING).astype(np.float32)


def _embedding(z: np.ndarray, mean: np.ndarray, scale: np.ndarray, unit_rows: bool) -> np.ndarray:
    """Columns standardised and weighed, rows divided by their length; a block at a time, as copies would add up."""
    found = np.empty_like(z, np.float32)
    for first in range(0, len(z), _BLOCK):
        block = ((z[first : first + _BLOCK] - mean) / scale).astype(np.float32)
        if unit_rows:
            block /= np.maximum(np.linalg.norm(block, axis=1, keepdims=True), np.float32(1e-12))
        found[first : first + _BLOCK] = block
    return found


def _edges_to_measure(adjacency: Adjacency) -> Adjacency:
    """The edges without their weights; on large graphs those of some nodes."""
    stride = max(1, adjacency.num_entries // _MEASURED)
    if stride == 1:
        return adjacency.with_values(None)
    degrees = adjacency.indptr.diff()
    degrees[torch.arange(len(degrees), device=degrees.device) % stride > 0] = 0
    indptr = torch.nn.functional.pad(degrees.cumsum(0), (1, 0)).to(adjacency.indptr.dtype)
    indices = adjacency.indices[adjacency.rows() % stride == 0]
    return Adjacency(indptr, indices, None, adjacency.num_nodes)


def _mean_distance(z: Tensor, edges: Adjacency, backend: str) -> float:
    """Mean L1 distance over the edges, 1 where nothing differs."""
    distance = total_variation(z, edges, backend=backend).sum().item() / max(edges.num_entries, 1)
    return distance if distance > 0 else 1.0
