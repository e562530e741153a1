"""Timing of variants in turns, so that a busy moment of the machine hits all of them alike."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.records import Measurement

__all__ = ["interleaved"]


def interleaved(
    benchmark: str, variants: dict[str, Callable[[], object]], rounds: int, warm_up: int = 2
) -> list[Measurement]:
    """Run every variant once a round and return milliseconds per call."""
    times: dict[str, list[float]] = {name: [] for name in variants}
    for turn in range(warm_up + rounds):
        for name, call in variants.items():
            start = time.perf_counter()
            call()
            if turn >= warm_up:
                times[name].append(1000 * (time.perf_counter() - start))
    return [
        Measurement(benchmark, name, *(float(np.quantile(values, q)) for q in (0.5, 0.2, 0.8)), repetitions=rounds)
        for name, values in times.items()
    ]
