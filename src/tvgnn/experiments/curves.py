"""Compute the missing curves of the total variation by number of steps, and keep each as soon as it is there."""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tvgnn.experiments.clustering import ClusteringEnvironment
from tvgnn.experiments.gtv_steps import VARIANTS, gtv_steps
from tvgnn.records import CurveRecord, RunStore, latest, read_records

__all__ = ["CURVES_FILE", "CurveJob", "CurveOutcome", "curve_jobs", "run_curves", "stored_curves"]

CURVES_FILE = "gtv-steps.jsonl"


@dataclass(frozen=True)
class CurveJob:
    """One curve that is to be computed; see `tvgnn.experiments.gtv_steps.gtv_steps`."""

    dataset: str
    variant: str
    step_size: float
    count: int
    seed: int = 0
    eps: float = 1e-3

    @property
    def key(self) -> tuple[str, str, float, int, int, float]:
        """That of its record."""
        return self.dataset, self.variant, self.step_size, self.count, self.seed, self.eps


@dataclass(frozen=True)
class CurveOutcome:
    """Curves that are there, in the order of the jobs, and jobs without one."""

    records: list[CurveRecord]
    left: list[CurveJob]


def curve_jobs(dataset: str, steps: Mapping[float, int]) -> list[CurveJob]:
    """Both variants for each step size.

    Examples
    --------
    >>> [(job.variant, job.step_size, job.count) for job in curve_jobs("cora", {0.311: 50})]
    [('per_feature', 0.311, 50), ('shared', 0.311, 50)]
    """
    return [CurveJob(dataset, variant, size, count) for size, count in steps.items() for variant in VARIANTS]


def run_curves(
    jobs: Sequence[CurveJob], out: Path, environment: ClusteringEnvironment, minutes: float | None = None
) -> CurveOutcome:
    """Compute the curves that have no record yet.

    Parameters
    ----------
    jobs : sequence of CurveJob
        In the order in which they are made.
    out : path
        Folder of ``gtv-steps.jsonl``.
    environment : ClusteringEnvironment
        Loader and facts; a graph is loaded only where a curve of it is missing.
    minutes : float, optional
        After these no further curve is begun.

    Raises
    ------
    DataError
        The graph cannot be loaded, records are damaged, or the folder cannot be written.
    """
    end = None if minutes is None else time.monotonic() + 60 * minutes
    with RunStore(out / CURVES_FILE, CurveRecord) as store:
        done = {record.key for record in store.records}
        for job in jobs:
            if job.key not in done and (end is None or time.monotonic() < end):
                store.append(_computed(job, environment))
        return _outcome(jobs, store.records)


def stored_curves(jobs: Sequence[CurveJob], out: Path) -> CurveOutcome:
    """Return what earlier calls computed, and load and compute nothing.

    Raises
    ------
    DataError
        There are no records, or they are damaged.
    """
    return _outcome(jobs, read_records(out / CURVES_FILE, CurveRecord))


def _computed(job: CurveJob, environment: ClusteringEnvironment) -> CurveRecord:
    graph = environment.load(job.dataset, 0)
    curves = gtv_steps(graph, {job.step_size: job.count}, seed=job.seed, eps=job.eps, variants=(job.variant,))
    steps, values = curves[job.step_size][job.variant]
    return CurveRecord(
        *job.key,
        steps=steps.tolist(),
        total_variation=values.tolist(),
        versions=dict(environment.versions or {}),
        commit=environment.commit,
        date=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )


def _outcome(jobs: Sequence[CurveJob], records: Iterable[CurveRecord]) -> CurveOutcome:
    found = {record.key: record for record in latest(records)}
    return CurveOutcome(
        [found[job.key] for job in jobs if job.key in found], [job for job in jobs if job.key not in found]
    )
