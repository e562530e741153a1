"""The comparison of several numbers of clusters as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tvgnn.report.cells import Cell, rich_table

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["sweep_table"]

_NUMBERS = {
    "loss": "loss",
    "total_variation": "total variation",
    "modularity": "modularity",
    "conductance": "conductance",
    "sharpness": "sharpness",
    "stability": "stability",
    "stability_of_best": "of best half",
    "score": "score",
}


def sweep_table(rows: Sequence[Mapping[str, Any]], recommended: int | None = None) -> Table:
    """Return one line a number of clusters, the recommended one in bold and empty clusters or strays in red.

    Parameters
    ----------
    rows : sequence of mapping
        The fields of `tvgnn.experiments.choice_of_k.SweepRow`.
    recommended : int or None
        A K of the rows.

    Examples
    --------
    >>> row = {"n_clusters": 2, "n_clusters_found": 1, "n_strays": 0, "sizes": (5, 0)}
    >>> sweep_table([row | dict.fromkeys(_NUMBERS, 0.5)]).row_count
    1
    """
    header = [Cell(text) for text in ("K", "in use", *_NUMBERS.values(), "sizes")]
    return rich_table([header, *(_line(row, row["n_clusters"] == recommended) for row in rows)], "")


def _line(row: Mapping[str, Any], best: bool) -> list[Cell]:
    found, strays, rank = row["n_clusters_found"], row["n_strays"], int(best)
    sizes = row["sizes"]
    return [
        Cell(str(row["n_clusters"]), rank),
        Cell(str(found - strays), rank, alarm=found - strays < row["n_clusters"]),
        *(Cell(f"{row[name]:.3f}", rank) for name in _NUMBERS),
        Cell(f"{sizes[0]:,} to {sizes[-1]:,}", rank),
    ]
