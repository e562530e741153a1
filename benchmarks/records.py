"""One measurement as a typed record, and a JSON-lines file of them."""

from __future__ import annotations

import datetime
import functools
import json
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

__all__ = ["Measurement", "append", "compact", "read"]

_PACKAGES = ("tvgnn", "torch", "numba", "numpy", "scipy", "scikit-learn", "torch-geometric", "torch-geometric-pool")


@functools.cache
def _commit() -> str | None:
    """Short hash, with ``-dirty`` where the measured code or the benchmarks differ from it."""
    root = str(Path(__file__).parents[1])

    def git(*arguments: str) -> str:
        call = ["git", "-C", root, *arguments]
        return subprocess.run(call, capture_output=True, text=True, check=False).stdout.strip()

    commit = git("rev-parse", "--short", "HEAD")
    return f"{commit}-dirty" if commit and git("status", "--porcelain", "--", "src", "benchmarks") else commit or None


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _device() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


@dataclass(frozen=True)
class Measurement:
    """One variant of one benchmark.

    Attributes:
        benchmark: what was measured; the variants of one run share it.
        variant: whose figure it is.
        median, low, high: median and the 20 and 80 % quantiles of the repetitions, in ``unit``.
        repetitions: number of values behind them.
        unit: ``"ms"``, ``"MB"``, ``"ns/edge"`` or ``"bytes/edge"``.
        device, threads, versions, commit, date: where and with what.

    """

    benchmark: str
    variant: str
    median: float
    low: float
    high: float
    repetitions: int
    unit: str = "ms"
    device: str = field(default_factory=_device)
    threads: int = field(default_factory=torch.get_num_threads)
    versions: dict[str, str] = field(default_factory=_versions)
    commit: str | None = field(default_factory=_commit)
    date: str = field(default_factory=lambda: datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"))


def append(path: Path, measurements: list[Measurement]) -> None:
    """Add records to a JSON-lines file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(one)) + "\n" for one in measurements)


def compact(measurements: Iterable[Measurement]) -> str:
    """Lines for a file that is committed: a field that equals that of the line before is left out."""
    lines: list[str] = []
    before: dict[str, Any] = {}
    for one in measurements:
        fields = asdict(one)
        changed = {name: value for name, value in fields.items() if name not in before or before[name] != value}
        lines.append(json.dumps(changed) + "\n")
        before = fields
    return "".join(lines)


def read(path: Path) -> list[Measurement]:
    """Read what `append` or `compact` wrote."""
    fields: dict[str, Any] = {}
    measurements = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            fields |= json.loads(line)
            measurements.append(Measurement(**fields))
    return measurements
