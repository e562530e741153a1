"""Tables of results: CSV, TSV, and parquet by pyarrow."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tvgnn.graph.graph import Graph
from tvgnn.io.network_files import known_suffix
from tvgnn.io.new_files import new_file
from tvgnn.io.node_results import node_results
from tvgnn.io.parquet_table import require_parquet

__all__ = ["TABLE_SUFFIXES", "write_node_table", "write_table"]

TABLE_SUFFIXES = (".csv", ".tsv", ".parquet")


def write_node_table(
    path: str | Path,
    graph: Graph,
    labels: Any,
    *,
    confidence: Any = None,
    assignments: Any = None,
    embedding: Any = None,
    overwrite: bool = False,
) -> None:
    """Write a row a node: ``node_id``, ``cluster`` and what else is known.

    Parameters
    ----------
    path : path
        A new file; ``.csv``, ``.tsv`` or ``.parquet`` (``pip install 'tvgnn[parquet]'``).
    graph : tvgnn.Graph
        Its node ids, and its classes as ``class``, empty where unknown.
    labels : array-like of int, shape (N,)
        Clusters from 0.
    confidence : array-like of float, shape (N,), optional
    assignments : array-like of float, shape (N, K), optional
        Columns ``p_0``, ``p_1``, ...
    embedding : array-like of float, shape (N, d), optional
        Columns ``e_0``, ``e_1``, ...
    overwrite : bool, default False
        Replace the file where it exists.

    Raises
    ------
    DataError
        A length or value is wrong, the file exists, or pyarrow is not installed.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "nodes.csv"
    >>> write_node_table(path, Graph.from_edges(["ann"], ["bob"]), [0, 1], confidence=[0.9, 1.0])
    >>> path.read_text().split()
    ['node_id,cluster,confidence', 'ann,0,0.9', 'bob,1,1.0']
    """
    results = node_results(graph, labels, confidence, assignments, embedding)
    write_table(
        path, {"node_id": results.ids, "cluster": results.labels.tolist(), **results.columns}, overwrite=overwrite
    )


def write_table(path: str | Path, columns: Mapping[str, Sequence[Any]], *, overwrite: bool = False) -> None:
    """Write columns of equal length; None is an empty cell.

    Raises
    ------
    DataError
        The ending is unknown, the file exists, or pyarrow is not installed.
    """
    suffix = known_suffix(path, TABLE_SUFFIXES)
    if suffix == ".parquet":
        _write_parquet(path, columns, overwrite)
        return
    with (
        new_file(path, overwrite=overwrite) as temporary,
        Path(str(temporary)).open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file, delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def _write_parquet(path: str | Path, columns: Mapping[str, Sequence[Any]], overwrite: bool) -> None:
    parquet = require_parquet()
    import pyarrow

    table = pyarrow.table({name: _uniform(values) for name, values in columns.items()})
    with new_file(path, overwrite=overwrite) as temporary:
        parquet.write_table(table, temporary)


def _uniform(values: Sequence[Any]) -> Sequence[Any]:
    """Return values of one type, which a column must have: text where they are mixed."""
    kinds = {type(value) for value in values if value is not None}
    small = kinds != {int} or all(-(2**63) <= value < 2**63 for value in values if value is not None)
    if len(kinds) == 1 and kinds <= {int, float, str, bool} and small:
        return values
    return [None if value is None else str(value) for value in values]
