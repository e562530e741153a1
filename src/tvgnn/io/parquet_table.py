"""Parquet files as the tables that edges, features and labels are read from, by pyarrow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tvgnn.errors import DataError
from tvgnn.io._table import TextTable

__all__ = ["ParquetTable", "open_parquet", "require_parquet"]


def require_parquet() -> Any:
    """Return the module ``pyarrow.parquet``.

    Raises
    ------
    DataError
        It is not installed.
    """
    try:
        from pyarrow import parquet
    except ImportError:
        raise DataError("parquet files need pyarrow, which is not installed: pip install 'tvgnn[parquet]'") from None
    return parquet


@dataclass(frozen=True)
class ParquetTable(TextTable):
    """Columns of a parquet file, an index that pandas wrote first; cells are given as text, missing ones as ``""``."""

    is_text: ClassVar[bool] = False

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield number, from 1, and cells of each row."""
        number = 0
        with require_parquet().ParquetFile(self.path) as file:
            for batch in file.iter_batches(columns=list(self.header or ())):
                columns = [batch.column(name).to_pylist() for name in self.header or ()]
                for row in zip(*columns, strict=True):
                    number += 1
                    yield number, ["" if cell is None else str(cell) for cell in row]


def open_parquet(path: Path) -> ParquetTable:
    """Read names and number of the columns.

    Raises
    ------
    DataError
        The file is damaged, holds no row or the same name twice, or pyarrow is not installed.
    """
    parquet = require_parquet()
    try:
        schema, metadata = parquet.read_schema(path), parquet.read_metadata(path)
        index = json.loads((schema.metadata or {}).get(b"pandas", b"{}")).get("index_columns", [])
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: not readable as parquet: {' '.join(str(error).split())}; write it anew") from None
    names = [name for name in index if name in schema.names]
    names += [name for name in schema.names if name not in names]
    if len(set(schema.names)) < len(schema.names):
        raise DataError(f"{path}: expected columns of different names, got {schema.names}")
    if not metadata.num_rows or not names:
        raise DataError(f"{path}: expected rows of data, the file holds none")
    return ParquetTable(path, None, len(names), tuple(names), 0, tuple(names), sure=True)
