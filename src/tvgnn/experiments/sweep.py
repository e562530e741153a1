"""Cluster one graph into each of several numbers of clusters, with several seeds, and compare what comes out."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from tvgnn.errors import ClusteringWarning, DataError, TrainingError
from tvgnn.estimators.consensus import consensus as consensus_of
from tvgnn.estimators.inputs import as_graph
from tvgnn.estimators.presets import positive_integer
from tvgnn.experiments.choice_of_k import Recommendation, SweepRow, recommend
from tvgnn.experiments.clustering import ClusteringEnvironment
from tvgnn.experiments.clustering_runner import RECORDS_FILE, read_arrays, run_clusterings
from tvgnn.experiments.pool import Workers
from tvgnn.experiments.sweep_jobs import GivenGraph, SweepJob, checked_numbers, sweep_jobs
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph
from tvgnn.losses import total_variation_loss
from tvgnn.metrics import (
    cluster_sizes,
    match_clusters,
    mean_pairwise_ari,
    pairwise_ari_error,
    partition_cuts,
    random_modularity,
    stray_clusters,
)
from tvgnn.records import ClusteringRecord, read_records
from tvgnn.wording import setting

__all__ = ["SweepResult", "run_sweep", "sweep_n_clusters"]


@dataclass(frozen=True, eq=False)
class SweepResult:
    """What a sweep found.

    Attributes
    ----------
    rows : tuple of SweepRow
        One a K, ascending: loss, total variation, modularity, conductance, sharpness, stability, score, sizes.
    labels : dict of int to ndarray of shape (N,), int64
        By K: clusters of the run of the lowest loss, or of the consensus. Those of consecutive K are matched: a cluster
        keeps the number of the one before with which it shares most nodes.
    confidence : dict of int to ndarray of shape (N,), float32
        By K: largest (mean) soft assignment of each node.
    n_clusters : int or None
        The recommended K, None where nothing speaks for any.
    reason : str
        Why.
    random_modularity : float
        Modularity that a random graph of the same degrees can have.

    """

    rows: tuple[SweepRow, ...]
    labels: Mapping[int, NDArray[np.int64]]
    confidence: Mapping[int, NDArray[np.float32]]
    n_clusters: int | None
    reason: str
    random_modularity: float


def sweep_n_clusters(
    X: Any,
    n_clusters: Iterable[int] = range(2, 21),
    *,
    adjacency: Any = None,
    n_seeds: int = 5,
    random_state: int = 0,
    jobs: int = 1,
    out: str | os.PathLike[str] | None = None,
    consensus: bool = False,
    **parameters: Any,
) -> SweepResult:
    """Cluster with each of several K and several seeds, compare, and recommend a K without looking at labels.

    The rule is that of `tvgnn.experiments.choice_of_k.recommend`: of the K whose clusters are all in use, none of them
    a stray node that has its edges elsewhere, the one with the largest product of stability over the seeds and
    modularity above that of a random graph of the same degrees, or a smaller one within a standard error of that.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features), or tvgnn.Graph
        As in `tvgnn.TVClustering.fit`.
    n_clusters : iterable of int, default=range(2, 21)
        The K to try.
    adjacency : sparse matrix or array of shape (n_samples, n_samples), default=None
        As in `tvgnn.TVClustering.fit`.
    n_seeds : int, default=5
        Seeds of each K, at least 2: stability compares them. They are ``random_state``, ``random_state + 1`` and so on.
    random_state : int, default=0
        The first seed.
    jobs : int, default=1
        Processes, which share the cores.
    out : path, default=None
        Folder of records and arrays: the same call goes on there after an interruption, and a call with more K or seeds
        makes the missing runs only, where the features stay the same (see ``parameters``). None keeps nothing.
    consensus : bool, default=False
        Labels are those of the mean of all seeds (`tvgnn.estimators.consensus.consensus`) instead of the lowest loss.
    **parameters
        Of `tvgnn.TVClustering`. The default is ``preset="quick"``, narrow and fast. All K share one graph: features of
        ``features="spectral"`` are those of a fit with the largest K, a column each where there are more than 16, so
        that a larger one later can mean other features and asks for another folder.

    Returns
    -------
    SweepResult

    Raises
    ------
    ValueError
        A parameter is unknown or out of range, or makes a graph of rows where one is given, or a K exceeds the number
        of nodes.
    DataError
        The folder holds something else or cannot be written.
    TrainingError
        The first run failed, or so many that no K has two.

    Warns
    -----
    ClusteringWarning
        Some runs failed: the others are compared, without a K of which fewer than two are left.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import block_diag
    >>> cliques = block_diag([np.ones((8, 8)), np.ones((8, 8)), np.ones((8, 8))])
    >>> x = np.repeat(np.eye(3), 8, axis=0)
    >>> sweep_n_clusters(x, [2, 3, 4], adjacency=cliques, n_seeds=2, max_iter=30).n_clusters
    3

    """
    from joblib import cpu_count

    ks = checked_numbers(n_clusters)
    given = GivenGraph.of(as_graph(X, adjacency, parameters, ks[-1]))
    parameters.pop("features", None)  # the graph has them now
    runs = sweep_jobs("graph", given, ks, n_seeds, random_state, parameters)
    workers = Workers(jobs, _threads() if jobs == 1 else max(1, int(cpu_count()) // positive_integer("jobs", jobs)))
    with _folder(out) as folder:
        return run_sweep(runs, folder, ClusteringEnvironment(given), workers=workers, consensus=consensus)


def run_sweep(
    jobs: Sequence[SweepJob],
    out: Path,
    environment: ClusteringEnvironment,
    *,
    workers: Workers,
    consensus: bool = False,
    on_start: Callable[[int, int], None] = lambda total, done: None,
    on_record: Callable[[ClusteringRecord], None] = lambda record: None,
) -> SweepResult:
    """Make the missing runs of a sweep and compare all of them.

    Parameters
    ----------
    jobs : sequence of SweepJob
        As `sweep_jobs` returns them.
    out : path
        Folder of ``records.jsonl`` and ``arrays/``.
    environment : ClusteringEnvironment
        Its loader is the `GivenGraph` of the jobs.
    workers, on_start, on_record
        As in `tvgnn.experiments.clustering_runner.run_clusterings`.
    consensus : bool
        See `sweep_n_clusters`.

    Raises
    ------
    DataError, TrainingError
        See `sweep_n_clusters`.
    """
    _refuse_foreign(out, jobs[0])
    existing = read_records(out / RECORDS_FILE, ClusteringRecord) if (out / RECORDS_FILE).exists() else []
    succeeded = any(record.finished for record in existing)

    def watch(record: ClusteringRecord) -> None:
        nonlocal succeeded
        succeeded = succeeded or record.finished
        if not succeeded:  # the next ones would fail for the same reason
            raise TrainingError(f"the run with K={record.n_clusters} and seed {record.seed} failed: {record.error}")
        on_record(record)

    outcome = run_clusterings(jobs, out, environment, workers=workers, on_start=on_start, on_record=watch)
    by_k: dict[int, list[ClusteringRecord]] = {}
    for record in outcome.records.values():
        if record.finished:
            by_k.setdefault(record.n_clusters, []).append(record)
    compared = {k: records for k, records in by_k.items() if len(records) > 1}  # one says nothing of stability
    if outcome.left:
        first = outcome.left[0]
        failed = (
            f"{len(outcome.left)} of {len(jobs)} runs failed, the first with K={first.n_clusters} and seed "
            f"{first.seed}: {outcome.records[first.key].error}; the same call tries them again"
        )
        if not compared:
            raise TrainingError(failed)
        absent = sorted({job.n_clusters for job in jobs} - compared.keys())
        without = f"; left out: K = {', '.join(map(str, absent))}" if absent else ""
        warnings.warn(failed + without, ClusteringWarning, stacklevel=2)
    graph = environment.load(jobs[0].dataset, jobs[0].seed)
    result = _compare(compared, graph, out, consensus)
    if result.n_clusters is None and jobs[0].settings.get("preset") == "quick":
        # It asks for equal sizes, and where groups are uneven or features many its clusters can miss them
        other = f"{setting('preset', 'quality')} with {setting('n_init', 1)}"
        return replace(result, reason=f"{result.reason}; {other} may tell more than the preset quick, and takes longer")
    return result


def _compare(by_k: Mapping[int, list[ClusteringRecord]], graph: Graph, out: Path, use_consensus: bool) -> SweepResult:
    adjacency = graph.adjacency()
    chance = random_modularity(adjacency)
    rows: list[SweepRow] = []
    labels: dict[int, NDArray[np.int64]] = {}
    confidence: dict[int, NDArray[np.float32]] = {}
    for k, records in sorted(by_k.items()):
        runs = sorted(records, key=lambda record: (_number(record.loss), record.seed))
        labelings = [read_arrays(record, out)["labels"].astype(np.int64) for record in runs]
        stored = _Assignments(runs, out)
        if use_consensus:
            agreed = consensus_of(stored)
            found, soft = agreed.labels, agreed.assignments
        else:
            found, soft = labelings[0], stored[0]
        better = labelings[: max(2, -(-len(runs) // 2))]
        stability = mean_pairwise_ari(labelings), mean_pairwise_ari(better), pairwise_ari_error(labelings)
        row = _row(k, runs, adjacency, found, stability, chance)
        if use_consensus:  # no run has these assignments
            variation = total_variation_loss(torch.from_numpy(soft), Adjacency.from_graph(graph)).item()
            row = replace(row, total_variation=variation, sharpness=float(soft.max(axis=1).mean()))
        rows.append(row)
        labels[k] = match_clusters(labels[previous], found) if (previous := max(labels, default=None)) else found
        confidence[k] = soft.max(axis=1).astype(np.float32)
    choice: Recommendation = recommend(rows, chance)
    return SweepResult(tuple(rows), labels, confidence, choice.n_clusters, choice.reason, chance)


def _row(
    k: int,
    runs: Sequence[ClusteringRecord],
    adjacency: Any,
    found: NDArray[np.int64],
    stability: tuple[float, float, float],
    chance: float,
) -> SweepRow:
    best, cuts, sizes = runs[0], partition_cuts(adjacency, found, k), cluster_sizes(found, k)
    return SweepRow(
        n_clusters=k,
        n_clusters_found=int((sizes > 0).sum()),
        loss=_number(best.loss),
        total_variation=best.metrics["total_variation"],
        modularity=cuts.modularity,
        conductance=cuts.conductance,
        sharpness=best.metrics["sharpness"],
        stability=stability[0],
        stability_of_best=stability[1],
        score=stability[1] * (cuts.modularity - chance),
        score_error=stability[2] * abs(cuts.modularity - chance),
        sizes=tuple(sorted(sizes.tolist(), reverse=True)),
        seconds=sum(record.seconds or 0.0 for record in runs),
        n_strays=int(stray_clusters(adjacency, found, k).sum()),
    )


class _Assignments(Sequence[ArrayLike]):
    """Soft assignments of runs, read from their files when asked for: one of them is in memory at a time."""

    def __init__(self, records: Sequence[ClusteringRecord], out: Path) -> None:
        self._records, self._out = records, out

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, number: Any) -> Any:
        return read_arrays(self._records[number], self._out)["assignments"]


def _refuse_foreign(out: Path, job: SweepJob) -> None:
    """Keep the sweeps of two graphs apart, and out of folders that hold something else."""
    path = out / RECORDS_FILE
    if path.exists():
        others = {record.settings.get("data") for record in read_records(path, ClusteringRecord)} - {job.data}
        if others:
            raise DataError(
                f"{out}: holds the sweep of other data, or the data have changed since, as spectral features do where "
                "the largest K grows; choose another folder"
            )
    elif out.exists() and any(out.iterdir()):
        raise DataError(f"{out}: holds files but no {RECORDS_FILE}, so it is no sweep; choose another folder")


@contextmanager
def _folder(out: str | os.PathLike[str] | None) -> Iterator[Path]:
    if out is not None:
        yield Path(out)
        return
    with tempfile.TemporaryDirectory(prefix="tvgnn-sweep-") as folder:
        yield Path(folder)


def _threads() -> int:
    import torch

    return int(torch.get_num_threads())


def _number(value: float | None) -> float:
    return np.inf if value is None else float(value)
