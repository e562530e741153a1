"""The record of one run of graph classification."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["RunRecord"]


@dataclass(frozen=True)
class RunRecord:
    """One run of one method on one fold of one dataset, finished or failed.

    Attributes
    ----------
    dataset, method, fold, run
        Which run; fold and run count from 0.
    fingerprint : str
        Hash of everything that decides the result: settings, hyper-parameters, labels.
    seed : int
        Seed of this run.
    settings : dict
        What all methods share, such as the readout and the largest number of epochs.
    n_graphs : int
        Graphs of the dataset.
    error : str or None
        Why the run failed, in one line; None where it finished.
    test_accuracy, validation_accuracy, train_accuracy : float or None
        Shares in [0, 1]; None where it failed, or only its time is known.
    validation_loss : float or None
        The lowest, whose epoch was kept.
    epochs, best_epoch, seconds, seconds_per_epoch
        Length of the training.
    peak_rss_bytes : int or None
        Largest resident memory of the process during the run.
    parameters, k, features, notes
        Hyper-parameters, numbers of clusters (empty for Top-K and SAG), what the node features are, warnings.
    threads, device, backend, versions, commit, date
        Where, when and with what.
    processor : str or None
        Model of the processor.

    Raises
    ------
    ValueError
        It has both a result (a test accuracy or a time) and an error, or neither.

    """

    dataset: str
    method: str
    fold: int
    run: int
    fingerprint: str
    seed: int
    settings: dict[str, Any]
    n_graphs: int
    error: str | None = None
    test_accuracy: float | None = None
    validation_accuracy: float | None = None
    train_accuracy: float | None = None
    validation_loss: float | None = None
    epochs: int | None = None
    best_epoch: int | None = None
    seconds: float | None = None
    seconds_per_epoch: float | None = None
    peak_rss_bytes: int | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    k: list[int] = field(default_factory=list)
    features: str = ""
    notes: list[str] = field(default_factory=list)
    threads: int | None = None
    device: str | None = None
    backend: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    commit: str | None = None
    date: str = ""
    processor: str | None = None

    def __post_init__(self) -> None:
        timed = self.error is None and self.seconds_per_epoch is not None
        if (self.test_accuracy is None and not timed) == (self.error is None):
            raise ValueError("expected either test_accuracy or error")

    @property
    def key(self) -> tuple[str, str, int, int, str]:
        """What a second record of the same run shares with the first."""
        return self.dataset, self.method, self.fold, self.run, self.fingerprint

    @property
    def finished(self) -> bool:
        """Whether it has a result."""
        return self.error is None
