"""Peak memory of training above what the imports take, each figure from a fresh process."""

from __future__ import annotations

import numpy as np

from benchmarks.baselines import torch_geometric_pool as peer
from benchmarks.probes import probe
from benchmarks.records import Measurement
from benchmarks.timing import interleaved
from benchmarks.variants import OURS
from tvgnn import load_dataset

__all__ = ["training_memory"]

_TOLERANCE = 1e-4


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
