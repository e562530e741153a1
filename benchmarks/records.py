"""One measurement as a typed record, and a JSON-lines file of them."""

from __future__ import annotations

import datetime
import json
import platform
import subprocess
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

import torch

__all__ = ["Measurement", "append", "read"]


def _commit() -> str | None:
    root = Path(__file__).parents[1]
    call = ["git", "-C", str(root), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def _versions() -> dict[str, str]:
    return {"python": platform.python_version()} | {
        name: version(name) for name in ("tvgnn", "torch", "numba", "numpy")
    }


@dataclass(frozen=True)
class Measurement:
    """Seconds of one variant of one benchmark: median and the 20 and 80 % quantiles of its repetitions."""

    benchmark: str
    variant: str
    median: float
    low: float
    high: float
    repetitions: int
    unit: str = "ms"
    device: str = field(default_factory=lambda: platform.processor() or platform.machine())
    threads: int = field(default_factory=torch.get_num_threads)
    versions: dict[str, str] = field(default_factory=_versions)
    commit: str | None = field(default_factory=_commit)
    date: str = field(default_factory=lambda: datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"))


def append(path: Path, measurements: list[Measurement]) -> None:
    """Add records to a JSON-lines file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(one)) + "\n" for one in measurements)


def read(path: Path) -> list[Measurement]:
    """Read what `append` wrote."""
    with path.open(encoding="utf-8") as file:
        return [Measurement(**json.loads(line)) for line in file]
