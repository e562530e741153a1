"""One run of vertex clustering, as a record and the arrays behind it."""

from __future__ import annotations

import datetime
import json
import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tvgnn.errors import TrainingError
from tvgnn.estimators.inputs import GRAPH_MAKING
from tvgnn.experiments.methods import CLUSTERING_METHODS, END_TO_END
from tvgnn.experiments.process import reason, reset_peak_memory
from tvgnn.records import ClusteringRecord, run_fingerprint

if TYPE_CHECKING:
    from tvgnn.graph.graph import Graph

__all__ = [
    "Arrays",
    "ClusteringEnvironment",
    "ClusteringJob",
    "PublicGraphs",
    "failed",
    "load_once",
    "released_graph",
    "run_clustering",
]

Arrays = dict[str, NDArray[Any]]
_ARRAYS = ("labels", "assignments", "embedding")
_WIDE = 64  # columns; wider embeddings are kept in half precision, which a picture of them does not show
_NOT_KEPT = ("n_clusters", "cluster_sizes")  # a field of its own; long, and in the arrays
# Arguments that change nothing in a fit on a graph that is there
_IDLE = frozenset({"verbose", "max_memory", "n_neighbors", "metric", *GRAPH_MAKING})
_WARM_UP = 2  # epochs before a timed fit: kernels are loaded, memory is in place


@dataclass(frozen=True)
class PublicGraphs:
    """Load single graphs by name from these folders; see `tvgnn.load_dataset`."""

    root: Path | None = None
    mirror: Path | None = None

    def __call__(self, name: str, seed: int) -> Graph:
        """Return the graph; only sets drawn at random depend on the seed."""
        from tvgnn.datasets import load_graph

        return load_graph(name, self.root, self.mirror, seed=seed)


@dataclass(frozen=True)
class ClusteringEnvironment:
    """What a run uses of the outside; pickled to other processes.

    Attributes
    ----------
    load : callable
        Graph by name and seed; hashable by value.
    peak_memory : callable
        Largest resident memory of this process in bytes, None where unknown.
    versions, commit
        Of the code.
    processor : callable
        Model of the processor of the machine that makes the run, None where unknown.

    """

    load: Callable[[str, int], Graph]
    peak_memory: Callable[[], int | None] = lambda: None
    versions: Mapping[str, str] | None = None
    commit: str | None = None
    processor: Callable[[], str | None] = lambda: None


@dataclass(frozen=True)
class ClusteringJob:
    """One run that is to be made.

    Attributes
    ----------
    dataset, method : str
        Of `tvgnn.load_dataset` and of `CLUSTERING_METHODS`.
    n_clusters : int
        K.
    seed : int
        Of the method, and of a graph that is drawn at random.
    max_epochs : int
        Largest number of epochs of an end-to-end method; its own early stopping may end it before.
    options : tuple of (name, value)
        Further arguments of the method.
    row_normalize : bool
        Divide the features of a node by their sum, as the paper does with bags of words.
    standardize : bool
        Give every method columns of mean 0 and deviation 1, instead.
    timed : bool
        A short fit goes before, so that the time of an epoch contains no start-up.

    """

    dataset: str
    method: str
    n_clusters: int
    seed: int
    max_epochs: int
    options: tuple[tuple[str, Any], ...] = ()
    row_normalize: bool = True
    timed: bool = False
    standardize: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """What the runs of a table share, and all that differs from the defaults."""
        marks = {name: True for name in ("timed", "standardize") if getattr(self, name)}
        if not self.row_normalize:
            marks["row_normalize"] = False
        return {"max_epochs": self.max_epochs, **dict(self.options), **marks}

    @property
    def fingerprint(self) -> str:
        """That of its record, see `tvgnn.records.run_fingerprint`."""
        return run_fingerprint(self.method, self.n_clusters, self.settings)

    @property
    def parameters(self) -> dict[str, Any]:
        """Arguments of the method, but for the seed."""
        given = self.estimator().get_params()
        return {name: value for name, value in _resolved(self.method, given).items() if name != "random_state"}

    @property
    def key(self) -> tuple[str, str, int, str]:
        """That of its record."""
        return self.dataset, self.method, self.seed, self.fingerprint

    def made(self, record: ClusteringRecord) -> bool:
        """Whether a record is one of this run, made with the numbers that the method has today.

        Arguments that decide nothing on a graph are passed over. One that the record does not know was added since:
        its default is taken to be what the method did before.
        """
        today = json.loads(json.dumps(self.parameters))
        then = {name: value for name, value in record.parameters.items() if name not in _IDLE}
        return record.key == self.key and all(name in today and today[name] == then[name] for name in then)

    @property
    def kept_arrays(self) -> tuple[str, ...]:
        """Which of labels, assignments and embedding are kept: all of the first seed, for figures."""
        return _ARRAYS if self.seed == 0 and not self.timed else ()

    def estimator(self, max_epochs: int | None = None) -> Any:
        """Return the unfitted method."""
        limits = {"max_iter": max_epochs or self.max_epochs} if self.method in END_TO_END else {}
        options = dict(self.options)
        return CLUSTERING_METHODS[self.method](
            n_clusters=self.n_clusters, random_state=self.seed, **{**limits, **options}
        )


def run_clustering(job: ClusteringJob, environment: ClusteringEnvironment) -> tuple[ClusteringRecord, Arrays]:
    """Cluster one graph and return what came out; an error of the run becomes a failed record without arrays."""
    start = time.perf_counter()
    try:
        found, arrays = _measure(job, environment)
        _check_finite({**found["metrics"], "loss": found["loss"]})
    except Exception as error:
        return failed(job, environment, reason(error), time.perf_counter() - start), {}
    return ClusteringRecord(**_identity(job, environment), **found), arrays


def load_once(jobs: Iterable[ClusteringJob], environment: ClusteringEnvironment) -> None:
    """Load each graph of some jobs, so that one that cannot be loaded ends the command and not every run of it.

    Raises
    ------
    DataError
        As of the loader.
    """
    for name, seed in {job.dataset: job.seed for job in reversed(list(jobs))}.items():
        _graph(environment.load, name, seed)


@contextmanager
def released_graph() -> Iterator[None]:
    """Let go of the graph that runs of the block share, at its end: the process may need its memory."""
    try:
        yield
    finally:
        _graph.cache_clear()


def failed(
    job: ClusteringJob, environment: ClusteringEnvironment, why: str, seconds: float | None = None
) -> ClusteringRecord:
    """Return the record of a run that gave no result."""
    return ClusteringRecord(**_identity(job, environment), error=why, seconds=seconds)


def _identity(job: ClusteringJob, environment: ClusteringEnvironment) -> dict[str, Any]:
    return {
        "dataset": job.dataset,
        "method": job.method,
        "seed": job.seed,
        "fingerprint": job.fingerprint,
        "settings": job.settings,
        "n_clusters": job.n_clusters,
        "parameters": job.parameters,
        "versions": dict(environment.versions or {}),
        "commit": environment.commit,
        "processor": environment.processor(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _measure(job: ClusteringJob, environment: ClusteringEnvironment) -> tuple[dict[str, Any], Arrays]:
    import torch

    from tvgnn.metrics import evaluate

    graph = _graph(environment.load, job.dataset, job.seed)
    # labels only enter the metrics: the methods get a graph without them
    unlabelled = graph.with_labels(None) if graph.y is not None else graph
    if job.standardize:
        unlabelled = _standardized(unlabelled)
    elif job.row_normalize:
        unlabelled = unlabelled.normalize_features("l1")
    if job.timed:
        _fit(job.estimator(_WARM_UP), unlabelled)
    reset_peak_memory()
    method = job.estimator()
    start = time.perf_counter()
    notes = _fit(method, unlabelled)
    seconds = time.perf_counter() - start
    assignments = getattr(method, "assignments_", None)
    metrics = evaluate(graph.adjacency(), method.labels_, assignments, graph.y, job.n_clusters)
    history = getattr(method, "loss_history_", None)
    found = {
        "metrics": {name: value for name, value in metrics.items() if name not in _NOT_KEPT}
        | getattr(method, "loss_terms_", {}),
        "loss": None if history is None else float(getattr(method, "loss_", history[-1])),
        "epochs": None if history is None else len(history),
        "converged": getattr(method, "converged_", None),
        "seconds": seconds,
        "ms_per_epoch": getattr(method, "ms_per_epoch_", None),
        "peak_rss_bytes": environment.peak_memory(),
        "notes": notes,
        "threads": torch.get_num_threads(),
        "device": str(getattr(method, "device_", "cpu")),
    }
    return found, _arrays(method, job.kept_arrays)


def _standardized(graph: Graph) -> Graph:
    from tvgnn.estimators.feature_scaling import FeatureScaling

    return graph.with_features(FeatureScaling.fit(graph.x, "standardize").transform(graph.x))


def _check_finite(numbers: Mapping[str, float | None]) -> None:
    for name, value in numbers.items():
        if value is not None and not math.isfinite(value):
            raise TrainingError(f"expected finite results, {name} is {value}; try fewer epochs or smaller features")


def _fit(method: Any, graph: Graph) -> list[str]:
    """Fit and return the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        method.fit(graph)
    return list(dict.fromkeys(str(warning.message) for warning in caught))


def _arrays(method: Any, names: tuple[str, ...]) -> Arrays:
    found = {name: getattr(method, f"{name}_", None) for name in names}
    return {name: _compact(values) for name, values in found.items() if values is not None}


def _compact(values: NDArray[Any]) -> NDArray[Any]:
    if values.ndim == 1:
        return values.astype(np.int32)
    fits = float(np.abs(values).max(initial=0)) <= float(np.finfo(np.float16).max)
    return values.astype(np.float16 if values.shape[1] > _WIDE and fits else np.float32)


@lru_cache(maxsize=1)  # the runs on a graph follow each other
def _graph(load: Callable[[str, int], Graph], name: str, seed: int) -> Graph:
    return load(name, seed)


def _resolved(method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a method as plain values, those that mean "as the preset" replaced by its numbers."""
    if not method.startswith("tvgnn"):
        return dict(parameters)
    from tvgnn.estimators.presets import PRESETS, resolve_parameters

    preset = parameters["preset"]
    return {**parameters, **resolve_parameters(preset, {name: parameters.get(name) for name in PRESETS[preset]})}
