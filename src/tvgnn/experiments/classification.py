"""One run of the paper's protocol for graph classification, as a record."""

from __future__ import annotations

import datetime
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvgnn.experiments.plan import Job
from tvgnn.experiments.process import reason, reset_peak_memory
from tvgnn.records import RunRecord

if TYPE_CHECKING:
    from tvgnn.graph.graph import Graph

__all__ = ["Environment", "PublicDatasets", "failed", "released_graphs", "run_job"]

_WARM_UP = 1  # epochs before a timed fit


@dataclass(frozen=True)
class Environment:
    """What a run uses of the outside; pickled to other processes.

    Attributes
    ----------
    load : callable
        Graphs of a dataset by name, each with its ``label``; hashable by value.
    classifier : callable
        Builds `tvgnn.TVGraphClassifier`.
    peak_memory : callable
        Largest resident memory of this process in bytes, None where unknown.
    versions, commit
        Of the code.
    processor : callable
        Model of the processor of the machine that makes the run, None where unknown.

    """

    load: Callable[[str], Sequence[Graph]]
    classifier: Callable[..., Any]
    peak_memory: Callable[[], int | None] = lambda: None
    versions: Mapping[str, str] | None = None
    commit: str | None = None
    processor: Callable[[], str | None] = lambda: None


@dataclass(frozen=True)
class PublicDatasets:
    """Load sets of graphs by name from these folders; see `tvgnn.load_dataset`."""

    root: Path | None = None
    mirror: Path | None = None

    def __call__(self, name: str) -> Sequence[Graph]:
        """Return its graphs."""
        from tvgnn.datasets import load_graphs

        return load_graphs(name, self.root, self.mirror)


def run_job(job: Job, environment: Environment) -> RunRecord:
    """Train on one fold and return what came out; an error of the run becomes a failed record."""
    start = time.perf_counter()
    try:
        return RunRecord(**_identity(job, environment), **_measure(job, environment))
    except Exception as error:
        return failed(job, environment, reason(error), time.perf_counter() - start)


@contextmanager
def released_graphs() -> Iterator[None]:
    """Let go of the graphs that runs of the block share, at its end: the process may need their memory."""
    try:
        yield
    finally:
        _graphs.cache_clear()


def failed(job: Job, environment: Environment, reason: str, seconds: float | None = None) -> RunRecord:
    """Return the record of a run that gave no result."""
    return RunRecord(**_identity(job, environment), error=reason, seconds=seconds)


def _identity(job: Job, environment: Environment) -> dict[str, Any]:
    return {
        "dataset": job.dataset,
        "method": job.method,
        "fold": job.fold,
        "run": job.run,
        "fingerprint": job.fingerprint,
        "seed": job.seed,
        "settings": job.settings.as_dict(),
        "n_graphs": job.splits.n_graphs,
        "versions": dict(environment.versions or {}),
        "commit": environment.commit,
        "processor": environment.processor(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def _measure(job: Job, environment: Environment) -> dict[str, Any]:
    import torch

    graphs = _graphs(environment.load, job.dataset)
    train, validation, test = (
        ([graphs[i] for i in part], [graphs[i].label for i in part])
        for part in (job.split.train, job.split.validation, job.split.test)
    )
    if job.settings.timed:  # kernels are loaded, memory is in place
        warm_up = {**job.parameters, "max_epochs": _WARM_UP}
        environment.classifier(job.method, random_state=job.seed, **warm_up).fit(*train, validation=validation)
    reset_peak_memory()
    classifier = environment.classifier(job.method, random_state=job.seed, **job.parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        classifier.fit(*train, validation=validation)
        accuracies = [float(classifier.score(*part)) for part in (test, validation, train)]
    loss = float(min(classifier.validation_loss_history_))
    if not math.isfinite(loss):
        raise ValueError(f"the lowest validation loss is {loss}; try a smaller learning rate")
    return {
        **dict(zip(("test_accuracy", "validation_accuracy", "train_accuracy"), accuracies, strict=True)),
        "validation_loss": loss,
        "epochs": int(classifier.n_iter_),
        "best_epoch": int(classifier.best_epoch_),
        "seconds": float(classifier.fit_seconds_),
        "seconds_per_epoch": float(classifier.seconds_per_epoch_),
        "peak_rss_bytes": environment.peak_memory(),
        "parameters": {"preset": job.parameters["preset"], **job.hyper_parameters},
        "k": [int(count) for count in classifier.k_ or ()],
        "features": _features_note(graphs),
        "notes": list(dict.fromkeys(str(warning.message) for warning in caught)),
        "threads": torch.get_num_threads(),
        "device": str(classifier.device_),
        "backend": str(classifier.backend_),
    }


@lru_cache(maxsize=1)  # the runs of a fold follow each other; several datasets at once would count as memory of each
def _graphs(load: Callable[[str], Sequence[Graph]], name: str) -> Sequence[Graph]:
    return load(name)


def _features_note(graphs: Sequence[Graph]) -> str:
    """Width of the node features, and what the loader says of every graph."""
    shared = [note for note in graphs[0].report.notes if all(note in graph.report.notes for graph in graphs)]
    width = graphs[0].num_features
    return "; ".join([f"{width} column" + ("" if width == 1 else "s"), *shared])
