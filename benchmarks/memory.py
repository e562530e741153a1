"""Peak memory of training above what the imports take, and of `predict`; each figure from a fresh process."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks import graphs
from benchmarks.baselines import torch_geometric_pool as peer
from benchmarks.probes import probe
from benchmarks.records import Measurement
from benchmarks.timing import interleaved
from benchmarks.variants import OURS
from tvgnn import load_dataset

__all__ = ["prediction_memory", "training_memory"]

_TOLERANCE = 1e-4
_FITS = {"paper": {"preset": "paper", "max_iter": 20}, "quality": {"preset": "quality", "n_init": 1}}
_LIMITS = (None, "500MB", "200MB")


def training_memory(dataset: str, mirror: str | None, rounds: int) -> list[Measurement]:
    """Megabytes that loading and training add, for us, the released arithmetic per edge and the peer.

    Raises:
        ArithmeticError: a variant's first loss differs from ours.

    """
    load_dataset(dataset, mirror=mirror)  # raises here, by name, where it is absent
    names = [OURS, "released, E x K loss"] + ([peer.NAME] if peer.AVAILABLE else [])
    losses: dict[str, float] = {}

    def megabytes(name: str) -> float:
        result = probe("training_memory", dataset, name, mirror)
        losses[name] = result["loss"]
        if not np.isclose(losses[name], losses[OURS], rtol=_TOLERANCE):
            raise ArithmeticError(f"memory, {dataset}: the loss of {name!r} is {losses[name]}, ours is {losses[OURS]}")
        return float(result["bytes"]) / 1e6

    samplers = {name: (lambda name=name: megabytes(name)) for name in names}
    return interleaved(f"peak memory of training, {dataset}", samplers, rounds, unit="MB", warm_up=0)


def prediction_memory(nodes: int) -> Iterator[list[Measurement]]:
    """Megabytes that `predict` adds on a graph of 15 neighbours and 64 features, and its time, whole and in pieces."""
    graphs.knn(nodes)
    for preset, options in _FITS.items():
        found = {limit: probe("prediction", nodes, 64, options, limit) for limit in _LIMITS}
        for what, unit, field, scale in (("peak memory", "MB", "bytes", 1e-6), ("time", "ms", "seconds", 1e3)):
            values = {limit or "whole": scale * result[field] for limit, result in found.items()}
            title = f"predict, {nodes} nodes, preset={preset}, {what}"
            yield [Measurement(title, name, v, v, v, repetitions=1, unit=unit) for name, v in values.items()]
