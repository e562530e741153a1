"""Rows of nodes as a file gives them, and how they meet the nodes of a graph."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvgnn.errors import DataError
from tvgnn.io._cells import first_few
from tvgnn.io._id_column import ID_NAMES, NODE_LIKE_NAMES, plain_name
from tvgnn.io._table import TextTable

__all__ = ["NodeTable", "no_match"]


@dataclass(frozen=True)
class NodeTable:
    """One row (features) or entry (labels) per node; ``node_ids`` None means that rows are in node order.

    ``notes`` say what a reader should know of how the file was read.
    """

    values: Any
    node_ids: tuple[Hashable, ...] | None
    path: Path
    table: TextTable | None = None
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str] | None:
        """Names of the columns of values, from the header of text."""
        if self.table is None or self.table.header is None:
            return None
        header = self.table.header
        return list(header[1:] if len(header) == self.table.width else header)

    @property
    def names_ids(self) -> bool:
        """Whether the file says itself that its first column holds ids, by its name or by names of the others only."""
        header = None if self.table is None else self.table.header
        if self.table is None or header is None:
            return False
        return len(header) < self.table.width or plain_name(header[0]) in ID_NAMES | NODE_LIKE_NAMES

    def where(self, row: int) -> str:
        """Name file and line of ``row`` for a message."""
        return str(self.path) if self.table is None else f"{self.path}, line {self.table.line_of(row)}"

    def aligned(self, node_ids: Sequence[Hashable], *, partial: bool = False) -> tuple[Any, tuple[str, ...]]:
        """Return the values in the order of ``node_ids``, and notes; rows of other ids are left out with a note.

        Parameters
        ----------
        node_ids
            The ids of the graph.
        partial
            Nodes without an entry get None instead of raising.

        Raises
        ------
        DataError
            If no id is one of the graph, or rows are missing; listing the first few.
        """
        if self.node_ids is None:
            if self.values.shape[0] != len(node_ids):
                raise DataError(
                    f"{self.path}: expected one row per node, {len(node_ids)} in all, got {self.values.shape[0]}; for "
                    "rows in another order or number give the file as text with the node id in the first column"
                )
            return self.values, ()
        row = {node_id: index for index, node_id in enumerate(self.node_ids)}
        missing = [node_id for node_id in node_ids if node_id not in row]
        if len(missing) == len(node_ids):
            raise no_match(self.path, self.node_ids, "the graph", node_ids)
        if missing and not partial:
            raise DataError(
                f"{self.path}: {len(missing)} of {len(node_ids)} nodes have no row, first {first_few(missing)}; add "
                "rows for them"
            )
        known = set(node_ids)
        unknown = [node_id for node_id in self.node_ids if node_id not in known]
        notes: tuple[str, ...] = ()
        if unknown:
            share = f"{len(unknown)} of the {len(self.node_ids)} ids in {self.path.name}"
            notes = (f"{share} not found in the graph, left out: {first_few(unknown)}",)
        if missing:
            values = self.values.tolist()
            return np.array([values[row[key]] if key in row else None for key in node_ids], dtype=object), notes
        return self.values[np.fromiter((row[node_id] for node_id in node_ids), np.int64, len(node_ids))], notes


def no_match(path: Path, ids: Sequence[Hashable], other: str, others: Sequence[Hashable]) -> DataError:
    """Say that two sets of ids have nothing in common."""
    few = first_few(ids, most=3), first_few(others, most=3)
    return DataError(
        f"{path}: 0 of {len(ids)} ids match those of {other}: are these the same ids? {path.name} has {few[0]}; "
        f"{other} has {few[1]}"
    )
