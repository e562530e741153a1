"""What ``tvgnn reproduce`` can make: one function a table or figure, each from a `Request` to files and terminal."""

from __future__ import annotations

from collections.abc import Callable

from tvgnn.cli.reproduction import figures, tables
from tvgnn.cli.reproduction.request import Request

__all__ = ["EXPERIMENTS", "Request"]

EXPERIMENTS: dict[str, Callable[[Request], None]] = {
    "datasets": tables.datasets,
    "fig-gtv-steps": figures.gtv_steps,
    "fig-ring": figures.ring,
    "fig-grid": figures.grid,
    "fig-denoising": figures.denoising,
    "times": tables.times,
    "table1": tables.table1,
    "fig-assignments": figures.assignments,
    "fig-umap": figures.umap,
    "table2": tables.table2,
}
"""By name, the short ones first: the order of ``all``. Figures of trained methods use the runs of table 1."""
