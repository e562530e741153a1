"""Labels and feature scaling of lists of graphs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tvgnn.errors import GraphError
from tvgnn.estimators.feature_scaling import resolution, standardized
from tvgnn.graph.adapters import Y_UNUSED
from tvgnn.graph.column_moments import column_moments
from tvgnn.graph.graph import Graph
from tvgnn.graph.held_features import held
from tvgnn.graph.validation import as_array, is_missing

__all__ = ["ColumnScaling", "graph_targets"]


def graph_targets(graphs: list[Graph], y: Any) -> npt.NDArray[Any]:
    """Return one label or target a graph: ``y``, or those that the graphs carry.

    Raises:
        ValueError: another number of labels than graphs, or a label that is missing or not finite.

    """
    if y is None:
        missing = next((number for number, graph in enumerate(graphs) if graph.label is None), None)
        if missing is not None:
            raise ValueError(_missing_label(graphs[missing], missing))
        y = [graph.label for graph in graphs]
    values = _plain_array(y)
    if values.ndim == 0 or len(values) != len(graphs):
        raise ValueError(f"expected one label for each of {len(graphs)} graphs, got y of shape {values.shape}")
    if values.dtype.kind == "O":
        values = _of_one_kind(values)
    if values.dtype.kind not in "biufU":
        raise ValueError(
            f"expected labels that are text, bools or real numbers, got {values.dtype}; convert them with .astype(str)"
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        first = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"expected finite labels, got {values[tuple(first)]} at {first[0]}")
    return values


def _missing_label(graph: Graph, number: int) -> str:
    note = next((f" ({note})" for note in graph.report.notes if note.startswith(Y_UNUSED)), "")
    got = "none" if graph.y is None else f"one for each of the {graph.num_nodes} nodes"
    return (
        f"expected a label for every graph, got {got} for graph {number}{note}; pass y, or set it with Graph.with_label"
    )


def _plain_array(y: Any) -> npt.NDArray[Any]:
    """Labels as an array, of objects where NumPy would make text of numbers and missing values."""
    if isinstance(y, list | tuple):
        kinds = {isinstance(value, str) for value in y}
        if len(kinds) > 1:
            array = np.empty(len(y), object)
            array[:] = [value.item() if isinstance(value, np.generic) else value for value in y]
            return array
    if isinstance(y, set | frozenset | dict) or sp.issparse(y):
        raise ValueError(
            f"expected y to be a list or an array of labels in the order of graphs, got {type(y).__name__}"
        )
    return as_array(y, "y")


def _of_one_kind(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Labels of an array of objects as an array of bools, integers, numbers or text."""
    flat = values.ravel().tolist()
    missing = next((place for place, value in enumerate(flat) if is_missing(value)), None)
    if missing is not None:
        place = missing // max(1, values[0].size if values.ndim > 1 else 1)
        raise ValueError(f"expected a label for every graph, got {flat[missing]} at {place}")
    for kind, dtype in ((bool, bool), (str, str), (Integral, None), (Real, float)):
        if all(isinstance(value, kind) for value in flat):
            result = np.array(flat, dtype).reshape(values.shape)
            if result.dtype.kind == "O":
                raise ValueError("expected integer labels below 2^64 in size, got larger ones; convert them to text")
            return result
    found = sorted({type(value).__name__ for value in flat})
    raise ValueError(f"expected labels that are all text, all bools or all real numbers, got {', '.join(found)}")


@dataclass(frozen=True)
class ColumnScaling:
    """Standardises feature columns of the training graphs that hold other numbers than 0 and 1.

    Attributes:
        mean: (F,) subtracted; 0 for columns that are left alone.
        scale: (F,) divided by; 1 for columns that are left alone.

    """

    mean: npt.NDArray[np.floating[Any]]
    scale: npt.NDArray[np.floating[Any]]

    @classmethod
    def fit(cls, graphs: list[Graph], kind: str | None) -> Self:
        """Look at the columns; ``kind`` None leaves all of them alone.

        Raises:
            ValueError: an unknown kind.
            GraphError: a number that float32 cannot hold.

        """
        if kind is not None and not (isinstance(kind, str) and kind == "auto"):
            raise ValueError(f"expected feature_norm to be 'auto' or None, got {kind!r}")
        width = graphs[0].num_features
        mean, scale = np.zeros(width), np.ones(width)
        _check_range(graphs)
        nodes = sum(graph.num_nodes for graph in graphs)
        if kind is None or nodes == 0:
            return cls(mean, scale)
        if any(sp.issparse(graph.x) for graph in graphs):
            x = sp.csc_array(sp.vstack([sp.csr_array(graph.x) for graph in graphs])).astype(np.float64)
            measured, centre, spread = _measured_columns(x)
        else:
            parts = [held(graph) for graph in graphs]
            measured = np.any([np.any((part != 0) & (part != 1), axis=0) for part in parts], axis=0)
            centre, variance = column_moments(parts)
            spread = np.sqrt(variance)
        # a column that varies less than rounding does is constant
        kinds = {np.result_type(np.float32, held(graph).dtype) for graph in graphs}  # float32 or float64
        told = resolution(np.result_type(*kinds))
        varies = (spread > told * np.abs(centre)) & (spread > np.finfo(np.float32).tiny)
        if len(kinds) > 1:  # 0.1 differs between the two types
            varies &= _varies_in_float32(graphs)
        mean[measured] = centre[measured]
        scale[measured] = np.where(varies, spread, 1)[measured]
        return cls(mean, scale)

    @property
    def is_identity(self) -> bool:
        """Whether nothing changes."""
        return not self.mean.any() and bool((self.scale == 1).all())

    @property
    def preparation(self) -> Callable[[npt.NDArray[Any]], npt.NDArray[np.float32]] | None:
        """`rows`, None where it changes no number: a collection then needs no features of its own."""
        return None if self.is_identity else self.rows

    def rows(self, x: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Scale dense features (N, F), float32; what float32 cannot hold becomes infinite."""
        with np.errstate(over="ignore"):
            return x.astype(np.float32, copy=False) if self.is_identity else standardized(x, self.mean, self.scale)


def _check_range(graphs: list[Graph]) -> None:
    largest = np.finfo(np.float32).max
    for number, graph in enumerate(graphs):
        x = held(graph)
        values = x.data if sp.issparse(x) else x
        if values.dtype == np.float64 and values.size and max(values.max(), -values.min()) > largest:
            raise GraphError(
                f"expected features that float32 can hold, got larger ones in graph {number}; rescale them"
            )


def _varies_in_float32(graphs: list[Graph]) -> npt.NDArray[np.bool_]:
    """Columns (F,) that hold different numbers after rounding."""

    def ends(x: Any) -> list[Any]:
        found = (x.min(axis=0), x.max(axis=0))
        return [np.asarray(one.toarray() if sp.issparse(one) else one, np.float32).ravel() for one in found]

    low, high = zip(*(ends(graph.x) for graph in graphs), strict=True)
    varies: npt.NDArray[np.bool_] = np.min(low, axis=0) < np.max(high, axis=0)
    return varies


def _measured_columns(x: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Of each column of a CSC matrix: whether it holds other numbers than 0 and 1, its mean and its deviation."""
    nodes, width = x.shape
    column = np.repeat(np.arange(width), np.diff(x.indptr))
    measured = np.bincount(column, ~np.isin(x.data, (0, 1)), width) > 0
    mean = np.bincount(column, x.data, width) / nodes
    squares = np.bincount(column, (x.data - mean[column]) ** 2, width)
    zeros = nodes - np.diff(x.indptr)
    return measured, mean, np.sqrt((squares + zeros * mean**2) / nodes)
