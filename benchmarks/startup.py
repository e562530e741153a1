"""What a user waits for before anything is computed: imports, and kernels compiled by the first call."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.probes import probe
from benchmarks.records import Measurement
from benchmarks.timing import clock, interleaved, summarise

__all__ = ["first_call", "imports"]


def imports(rounds: int) -> list[Measurement]:
    """Milliseconds of our own modules, their dependencies imported before, and of the command's help as a whole."""
    targets = {"import tvgnn": "tvgnn", "import TVClustering": "tvgnn.estimators.clustering"}
    samplers = {}
    for name, module in targets.items():
        below = probe("modules_below", module)
        samplers[f"{name}, above its dependencies"] = lambda module=module, below=below: probe(
            "import_time", module, below
        )
    samplers["import TVClustering, dependencies included"] = lambda: probe(
        "import_time", "tvgnn.estimators.clustering", []
    )
    help_text = [sys.executable, "-m", "tvgnn", "--help"]
    samplers["tvgnn --help, whole process"] = clock(
        lambda: subprocess.run(help_text, stdout=subprocess.DEVNULL, check=True)
    )
    return interleaved("start-up, imports", samplers, rounds)


def first_call(rounds: int) -> Iterator[list[Measurement]]:
    """Milliseconds of the first fit in a process, with an empty and with a filled cache of compiled kernels."""
    for sparse in (False, True):
        cold: list[float] = []
        warm: list[float] = []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                environment = {"NUMBA_CACHE_DIR": str(Path(folder))}
                cold.append(probe("fit_time", sparse, environment=environment))
                warm.append(probe("fit_time", sparse, environment=environment))
        kind = "sparse" if sparse else "dense"
        figures = {"cache filled": warm, "after installation, cache empty": cold}
        yield summarise(f"start-up, first fit, {kind} features", figures)
