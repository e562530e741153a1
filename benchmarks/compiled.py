"""Whether `torch.compile` speeds an epoch up: it writes C++ for what lies between our kernels, or for the reference."""

from __future__ import annotations

import shutil

from benchmarks.records import Measurement
from benchmarks.timing import sample, summarise
from benchmarks.variants import OURS, Problem, disagreement, ours
from tvgnn.errors import DataError

__all__ = ["compiled_epoch", "require_compiler"]


def require_compiler() -> None:
    """Raise a `DataError`, which skips a benchmark, where `torch.compile` finds no C++ compiler."""
    if shutil.which("g++") is None:
        raise DataError("no g++ here, which torch.compile calls")


def compiled_epoch(problem: Problem, title: str, rounds: int) -> list[Measurement]:
    """Time our epoch and that of the reference, each with and without `torch.compile`, from the second epoch on.

    Raises:
        ArithmeticError: a variant's loss or gradients differ from ours; then nothing is recorded.

    """
    variants = {
        OURS: ours(problem, "auto", epochs=6),
        f"{OURS}, torch.compile": ours(problem, "auto", epochs=6, compiled=True),
        "reference backend": ours(problem, "reference", epochs=1),
        "reference backend, torch.compile": ours(problem, "reference", epochs=1, compiled=True),
    }
    firsts = {name: variant.first() for name, variant in variants.items()}
    for name, first in firsts.items():
        reason = disagreement(firsts[OURS], first)
        if reason is not None:
            raise ArithmeticError(f"{title}: {name!r} computes something else than tvgnn: {reason}")
    figures = sample({name: variant.epoch for name, variant in variants.items()}, rounds, seconds=120)
    return summarise(f"compiled epoch, {title}", figures)
