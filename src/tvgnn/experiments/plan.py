"""Which runs a benchmark of graph classification consists of, and in which order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tvgnn.estimators.graph_presets import resolve_graph_parameters
from tvgnn.experiments.splits import N_FOLDS, Split, Splits

__all__ = ["DATASETS", "METHODS", "Job", "Plan", "Settings"]

METHODS = ("tvgnn", "mincut", "dmon", "diffpool", "topk", "sag")
DATASETS = (
    "bench-easy", "bench-hard", "bench-easy-small", "bench-hard-small", "mutag", "mutagenicity", "nci1", "proteins",
    "dd", "collab", "reddit-binary",
)  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """What all runs of a benchmark share, and what tells its runs from those of another one.

    Attributes
    ----------
    readout : str
        ``"linear"`` or ``"mlp"``.
    max_epochs : int
        Largest number of epochs; training stops earlier, 20 epochs after the lowest validation loss.
    seed : int
        Seed of the splits; those of the runs derive from it.
    n_folds : int
        Folds of the splits, whether or not all of them are run.
    timed : bool
        A fit of one epoch goes before, so that the time of an epoch contains no start-up.

    """

    readout: str = "linear"
    max_epochs: int = 500
    seed: int = 0
    n_folds: int = N_FOLDS
    timed: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return what records hold of it; only timed runs say so.

        Examples
        --------
        >>> Settings(max_epochs=5).as_dict()
        {'readout': 'linear', 'max_epochs': 5, 'seed': 0, 'n_folds': 5}
        """
        return {name: value for name, value in asdict(self).items() if name != "timed" or value}


@dataclass(frozen=True)
class Job:
    """One run that is to be made."""

    dataset: str
    method: str
    fold: int
    run: int
    settings: Settings
    splits: Splits

    @property
    def seed(self) -> int:
        """Seed of the run: another one for every fold and run, the same for every method."""
        import numpy as np

        return int(np.random.SeedSequence((self.settings.seed, self.fold, self.run)).generate_state(1)[0])

    @property
    def split(self) -> Split:
        """Graphs of its fold."""
        return self.splits.folds[self.fold]

    @property
    def parameters(self) -> dict[str, Any]:
        """Arguments of the classifier, but for the method and the seed: the paper's column for the dataset."""
        preset = self.dataset.removesuffix("-small")
        return {"preset": preset, "readout": self.settings.readout, "max_epochs": self.settings.max_epochs}

    @property
    def hyper_parameters(self) -> dict[str, Any]:
        """What the preset makes of `parameters`: the paper's table in numbers."""
        return resolve_graph_parameters(self.parameters["preset"], self.method, self.parameters)

    @property
    def fingerprint(self) -> str:
        """Hash of all that decides its result, besides the code; other numbers in a preset make other runs."""
        content = [self.settings.as_dict(), self.parameters, self.hyper_parameters, self.splits.labels_sha256]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]

    @property
    def key(self) -> tuple[str, str, int, int, str]:
        """That of its record."""
        return self.dataset, self.method, self.fold, self.run, self.fingerprint


@dataclass(frozen=True)
class Plan:
    """The runs of a benchmark.

    Attributes
    ----------
    datasets, methods : tuple of str
        Of `DATASETS` and `METHODS`.
    folds : tuple of int
        Which of the folds.
    runs : int
        Runs a fold.
    settings : Settings
        What they share.

    """

    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    folds: tuple[int, ...] = tuple(range(N_FOLDS))
    runs: int = 3
    settings: Settings = Settings()

    def jobs(self, splits: Mapping[str, Splits]) -> list[Job]:
        """Runs in their order: all datasets and methods of a fold, then the next fold; all folds, then a second run.

        So an interrupted benchmark compares methods on the same folds.

        Examples
        --------
        >>> plan = Plan(("mutag",), ("tvgnn", "topk"), folds=(0, 1), runs=1)
        >>> [(job.fold, job.method) for job in plan.jobs({"mutag": Splits("", 0, ())})]
        [(0, 'tvgnn'), (0, 'topk'), (1, 'tvgnn'), (1, 'topk')]
        """
        return [
            Job(dataset, method, fold, run, self.settings, splits[dataset])
            for run in range(self.runs)
            for fold in self.folds
            for dataset in self.datasets
            for method in self.methods
        ]
