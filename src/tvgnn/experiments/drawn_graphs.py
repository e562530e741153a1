"""What figures need of a graph beside the runs on it, kept with the records so that drawing loads no dataset."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tvgnn.errors import DataError
from tvgnn.io.new_files import whole_file

if TYPE_CHECKING:
    from tvgnn.graph.graph import Graph

__all__ = ["DrawnGraph", "drawn_graph_file", "keep_drawn_graph", "read_drawn_graph"]

_FOLDER = "graphs"
_NARROW = 8  # columns: places in the plane and noisy features are drawn, words are not


@dataclass(frozen=True, eq=False)
class DrawnGraph:
    """A graph as figures show it.

    Attributes
    ----------
    edges : ndarray of int64, shape (2, E)
        Both ends of the undirected edges, each once.
    labels : ndarray of int64, shape (N,), or None
        Classes.
    features : ndarray of float64, shape (N, F), or None
        Of graphs with few of them, such as places in the plane.

    """

    edges: NDArray[np.int64]
    labels: NDArray[np.int64] | None
    features: NDArray[np.float64] | None


def drawn_graph_file(out: Path, name: str) -> Path:
    """Return where it is kept."""
    return out / _FOLDER / f"{name}.npz"


def keep_drawn_graph(out: Path, name: str, graph: Graph) -> None:
    """Write what figures need of a graph, completely or not at all.

    Raises
    ------
    DataError
        The file cannot be written.
    """
    adjacency = graph.adjacency().tocoo()
    once = adjacency.row < adjacency.col
    arrays: dict[str, Any] = {"edges": np.stack([adjacency.row[once], adjacency.col[once]]).astype(np.int64)}
    if graph.y is not None:
        arrays["labels"] = graph.y
    if isinstance(graph.x, np.ndarray) and graph.num_features <= _NARROW:
        arrays["features"] = graph.x
    path = drawn_graph_file(out, name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path, alone=True) as part:
            np.savez_compressed(part, allow_pickle=False, **arrays)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}; make room on the disk, and go on") from None


def read_drawn_graph(out: Path, name: str) -> DrawnGraph:
    """Return what `keep_drawn_graph` wrote.

    Raises
    ------
    DataError
        The file is missing or damaged.
    """
    path = drawn_graph_file(out, name)
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            found = {key: file[key] for key in file.files}
        return DrawnGraph(found["edges"], found.get("labels"), found.get("features"))
    except FileNotFoundError:
        raise DataError(
            f"{path}: expected edges and classes of {name}, found no file; without --draw-only the same command makes "
            "it"
        ) from None
    except Exception as error:  # zip, zlib and numpy's reader each have their own
        raise DataError(
            f"{path}: expected edges and classes of {name}: {error}; remove the file, and repeat the command without "
            "--draw-only"
        ) from None
