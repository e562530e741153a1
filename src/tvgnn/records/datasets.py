"""The record of the size of a dataset, as loaded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["DatasetRecord"]


@dataclass(frozen=True)
class DatasetRecord:
    """Size of one graph or of one set of graphs.

    Attributes
    ----------
    dataset : str
        Its name.
    sizes : dict of str to int
        ``vertices``, ``edges`` (an undirected one counts twice), ``attributes`` and ``classes``; of a set of graphs
        also ``samples``, and vertices and edges are those of all its graphs together.
    versions, commit, date
        With what and when it was loaded.

    """

    dataset: str
    sizes: dict[str, int]
    versions: dict[str, str] = field(default_factory=dict)
    commit: str | None = None
    date: str = ""

    @property
    def settings(self) -> dict[str, Any]:
        """What all share: nothing is set."""
        return {}

    @property
    def key(self) -> tuple[str]:
        """What a second record of the same dataset shares with the first."""
        return (self.dataset,)

    @property
    def finished(self) -> bool:
        """Whether it has a result; a dataset that cannot be loaded has no record."""
        return True
