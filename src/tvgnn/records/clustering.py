"""The record of one run of vertex clustering."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["ClusteringRecord", "run_fingerprint"]

_AS_THEY_ARE = ("ring", "grid", "sbm-denoising")  # graphs whose features were never divided by row sums


def run_fingerprint(method: str, n_clusters: int, settings: Mapping[str, Any]) -> str:
    """Hash of what is asked of a method.

    Settings are what differs from its defaults, so that an argument that is added to it, or one that decides nothing
    here, changes no hash. What the defaults were is in `ClusteringRecord.parameters`.
    """
    return hashlib.sha256(json.dumps([method, n_clusters, settings], sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class ClusteringRecord:
    """One run of one method on one graph, finished or failed.

    Attributes
    ----------
    dataset, method : str
        Which run, with ``seed``.
    seed : int
        Of all that is drawn in the run.
    fingerprint : str
        Hash of method, K and settings as of the day of the run; part of the name of its file of arrays. Data are
        known by their name only. `key` computes it anew, so records whose hash was another one are found.
    settings : dict
        What all runs of a table share, such as the largest number of epochs, and what differs from the defaults.
    n_clusters : int
        K.
    error : str or None
        Why the run failed, in one line; None where it finished.
    metrics : dict
        ``nmi``, ``acc``, ``ari``, ``macro_f1`` where classes are known; ``modularity``, ``conductance``,
        ``cut_fraction``, ``n_clusters_found``, ``sharpness``; empty where the run failed, or only its time is known.
    loss, epochs, converged : float, int, bool or None
        Of methods that are trained.
    seconds : float or None
        Time of `fit`.
    ms_per_epoch : float or None
        Milliseconds an epoch of training.
    peak_rss_bytes : int or None
        Largest resident memory of the process during the run.
    arrays : str or None
        Name of the file of its labels, assignments and embedding, beside the records; None where they were not kept.
    parameters, notes
        Arguments of the method, warnings.
    threads, device, versions, commit, date
        Where, when and with what.
    processor : str or None
        Model of the processor.

    Raises
    ------
    ValueError
        It has both a result (metrics or a time) and an error, or neither.

    """

    dataset: str
    method: str
    seed: int
    fingerprint: str
    settings: dict[str, Any]
    n_clusters: int
    error: str | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    loss: float | None = None
    epochs: int | None = None
    converged: bool | None = None
    seconds: float | None = None
    ms_per_epoch: float | None = None
    peak_rss_bytes: int | None = None
    arrays: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    threads: int | None = None
    device: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    commit: str | None = None
    date: str = ""
    processor: str | None = None

    def __post_init__(self) -> None:
        timed = not self.error and self.ms_per_epoch is not None
        if bool(self.metrics or timed) == bool(self.error):
            raise ValueError("expected either metrics or error")

    @property
    def key(self) -> tuple[str, str, int, str]:
        """What a second record of the same run shares with the first, under whatever hash it was written."""
        return self.dataset, self.method, self.seed, run_fingerprint(self.method, self.n_clusters, self.asked)

    @property
    def asked(self) -> dict[str, Any]:
        """Settings, with what records left out before it was one of them."""
        silent = self.dataset in _AS_THEY_ARE and not {"row_normalize", "data", "standardize"} & self.settings.keys()
        return {**self.settings, "row_normalize": False} if silent else self.settings

    @property
    def finished(self) -> bool:
        """Whether it has a result."""
        return self.error is None
