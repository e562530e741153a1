"""Sampling of variants in turns, so that a busy moment of the machine hits all of them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

from benchmarks.records import Measurement

__all__ = ["Sampler", "clock", "interleaved", "sample", "summarise"]

Sampler = Callable[[], float]
"""Measures once and returns the figure."""

_FEWEST_ROUNDS = 3


def clock(call: Callable[[], object], warm_up: int = 0) -> Sampler:
    """Turn a call into a sampler of its milliseconds; ``warm_up`` calls before fill the caches, as in a loop."""

    def timed() -> float:
        for _ in range(warm_up):
            call()
        start = time.perf_counter()
        call()
        return 1000 * (time.perf_counter() - start)

    return timed


def sample(
    samplers: Mapping[str, Sampler], rounds: int, *, warm_up: int = 1, seconds: float = 120
) -> dict[str, list[float]]:
    """Run every sampler once a round and return the figures of the rounds after the warm-up.

    Parameters:
        samplers: by name, in the order in which they take turns.
        rounds: as many figures of each.
        warm_up: rounds before, whose figures are dropped.
        seconds: stop early once so much time has passed, but never with fewer than three rounds.

    """
    figures: dict[str, list[float]] = {name: [] for name in samplers}
    start = time.perf_counter()
    for turn in range(warm_up + rounds):
        if turn >= warm_up + _FEWEST_ROUNDS and time.perf_counter() - start > seconds:
            break
        for name, sampler in samplers.items():
            figure = sampler()
            if turn >= warm_up:
                figures[name].append(figure)
    return figures


def summarise(benchmark: str, figures: Mapping[str, list[float]], unit: str = "ms") -> list[Measurement]:
    """Median and quantiles of each variant's figures."""
    return [
        Measurement(
            benchmark,
            name,
            *(float(np.quantile(values, q)) for q in (0.5, 0.2, 0.8)),
            repetitions=len(values),
            unit=unit,
        )
        for name, values in figures.items()
    ]


def interleaved(
    benchmark: str, samplers: Mapping[str, Sampler], rounds: int, *, unit: str = "ms", warm_up: int = 1
) -> list[Measurement]:
    """`sample`, then `summarise`."""
    return summarise(benchmark, sample(samplers, rounds, warm_up=warm_up), unit)
