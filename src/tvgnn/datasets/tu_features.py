"""Node features of TU datasets: attributes, one-hot labels, or one-hot degrees where there is neither."""

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tvgnn.datasets.tu_files import TUFiles
from tvgnn.datasets.tu_text import read_table
from tvgnn.errors import DataError
from tvgnn.graph.column_moments import sufficient_dtype
from tvgnn.graph.report import ONE_HOT_LABELS
from tvgnn.graph.validation import Features

__all__ = ["FeatureKind", "check_options", "label_ranges", "node_features", "one_hot_degrees"]

FeatureKind: TypeAlias = Literal["auto", "labels", "attributes", "both", "degree"]
"""``auto``: attributes and labels, those that exist; one-hot degrees where neither does."""

_FILES: dict[str, tuple[str, ...]] = {
    "labels": ("node_labels",),
    "attributes": ("node_attributes",),
    "both": ("node_attributes", "node_labels"),
    "degree": (),
}
_MOST_DENSE = 128  # one-hot columns; wider ones are stored as CSR
_MOST_COLUMNS = 1 << 16  # of one-hot labels: more of them are no classes of nodes


def check_options(features: str, max_degree: int) -> None:
    """Raise :class:`DataError` for an unknown kind of features or a ``max_degree`` that is no positive integer."""
    kinds = get_args(FeatureKind)
    if features not in kinds:
        raise DataError(f"features must be one of {', '.join(map(repr, kinds))}; got {features!r}")
    if not isinstance(max_degree, int | np.integer) or max_degree < 1:
        raise DataError(f"max_degree must be an integer of at least 1; got {max_degree!r}")


def label_ranges(ranges: list[tuple[int, int]]) -> str:
    """Note that tells which values one-hot labels stand for."""
    return f"{ONE_HOT_LABELS} {', '.join(f'{low} to {high}' for low, high in ranges)}"


def node_features(files: TUFiles, features: FeatureKind, num_nodes: int) -> tuple[Features, list[tuple[int, int]]]:
    """Read the features of all nodes in file order: attributes first, then one-hot labels; None for degrees.

    Columns are those of PyTorch Geometric: a label has one for each integer from its smallest to its largest value,
    whether it occurs or not, and files with several labels a node have such columns for each.

    Parameters
    ----------
    files : TUFiles
        Where they lie.
    features : {"auto", "labels", "attributes", "both", "degree"}
        See :data:`FeatureKind`.
    num_nodes : int
        Lines that every file must have.

    Returns
    -------
    x : array or csr_array of float32, or of float64 where attributes need it
        (num_nodes, columns); CSR where more than 128 columns are one-hot.
    ranges : list of (int, int)
        Smallest and largest value of each label of a node that is among the columns.

    Raises
    ------
    DataError
        If a file that is asked for is missing or does not hold finite numbers for every node.
    """
    kinds = tuple(kind for kind in _FILES["both"] if kind in files) if features == "auto" else _FILES[features]
    files.require(*kinds)
    blocks: list[Any] = []
    ranges: list[tuple[int, int]] = []
    for kind in kinds:
        if kind == "node_attributes":
            blocks.append(_attributes(files, num_nodes))
        else:
            one_hot, ranges = _one_hot_labels(files, num_nodes)
            blocks.extend(one_hot)
    if not blocks:
        return None, ranges
    if any(map(sp.issparse, blocks)):
        return sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks], format="csr")), ranges
    return np.hstack(blocks), ranges


def one_hot_degrees(degrees: npt.NDArray[Any], max_degree: int) -> tuple[Features, str]:
    """Return one-hot degrees of all nodes and a note that records them; ``max_degree`` and more share a column."""
    largest = int(degrees.max(initial=0))
    width = min(largest, max_degree) + 1
    note = f"features: degree, dim={width}"
    if largest > max_degree:
        note += f" (degrees of {max_degree} and more share the last column)"
    return _one_hot(np.minimum(degrees, max_degree), width), note


def _attributes(files: TUFiles, num_nodes: int) -> npt.NDArray[Any]:
    table = _one_line_per_node(files, "node_attributes", num_nodes, real=True)
    with np.errstate(over="ignore"):
        result = table.astype(sufficient_dtype(table))  # one for all graphs
    if not np.isfinite(result).all():
        line, column = np.argwhere(~np.isfinite(result))[0]
        raise DataError(
            f"{files.where('node_attributes')}, line {line + 1}: expected finite {result.dtype} numbers, got "
            f"{table[line, column]} in column {column + 1}"
        )
    return result


def _one_hot_labels(files: TUFiles, num_nodes: int) -> tuple[list[Features], list[tuple[int, int]]]:
    table = _one_line_per_node(files, "node_labels", num_nodes, real=False)
    blocks, ranges = [], []
    for labels in table.T:
        smallest = int(labels.min())
        width = int(labels.max()) - smallest + 1
        if width > _MOST_COLUMNS:
            raise DataError(
                f"{files.where('node_labels')}: expected labels that take up to {_MOST_COLUMNS} values, got "
                f"{smallest} to {smallest + width - 1}; number them from 0, or choose other features"
            )
        blocks.append(_one_hot(labels - smallest, width))
        ranges.append((smallest, smallest + width - 1))
    return blocks, ranges


def _one_line_per_node(files: TUFiles, kind: str, num_nodes: int, *, real: bool) -> npt.NDArray[Any]:
    table = read_table(files, kind, real=real)
    if len(table) != num_nodes:
        raise DataError(
            f"{files.where(kind)}: expected {num_nodes} lines, one a node as in {files.prefix}graph_indicator.txt, "
            f"got {len(table)}"
        )
    return table


def _one_hot(columns: npt.NDArray[Any], width: int) -> Features:
    num_nodes = len(columns)
    if width > _MOST_DENSE:
        parts = (np.ones(num_nodes, np.float32), columns.astype(np.int32), np.arange(num_nodes + 1, dtype=np.int32))
        return sp.csr_array(parts, shape=(num_nodes, width))
    result = np.zeros((num_nodes, width), dtype=np.float32)
    result[np.arange(num_nodes), columns] = 1
    return result
