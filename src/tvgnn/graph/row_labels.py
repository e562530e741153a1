"""Labels of rows of pandas frames and series: rows go to the nodes that they name, not to those at their place.

Nothing here imports pandas: its types are recognised by their parts.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from tvgnn.errors import GraphError

__all__ = ["in_order", "matrix_in_order", "refuse_doubtful_order", "row_labels"]


def row_labels(value: Any) -> list[Hashable] | None:
    """Labels of the rows of a frame or series; None where it has none of its own: others than 0, 1, ... in order."""
    return _own(value.index) if hasattr(value, "iloc") and hasattr(value, "index") else None


def _own(index: Any) -> list[Hashable] | None:
    values = index.to_numpy()
    if values.dtype.kind in "iu" and np.array_equal(values, np.arange(len(values))):
        return None
    labels: list[Hashable] = index.tolist()
    return labels


def _places(labels: Sequence[Hashable] | None, wanted: Sequence[Hashable] | None) -> list[int] | None:
    """Where each of the wanted labels stands; None where they are in order already, or not the same on both sides."""
    if labels is None or wanted is None or len(labels) != len(wanted):
        return None
    position = {label: place for place, label in enumerate(labels)}
    if len(position) != len(labels) or any(label not in position for label in wanted):
        return None
    places = [position[label] for label in wanted]
    return None if places == list(range(len(places))) or len(set(places)) != len(places) else places


def in_order(value: Any, wanted: Sequence[Hashable] | None) -> Any:
    """Put rows of a frame or series that have the wanted labels into their order; anything else comes back as it is.

    Examples
    --------
    >>> import pandas as pd
    >>> in_order(pd.Series([3, 1, 2], index=["c", "a", "b"]), ["a", "b", "c"]).tolist()
    [1, 2, 3]
    """
    places = _places(row_labels(value), wanted)
    return value if places is None else value.iloc[places]


def matrix_in_order(matrix: Any, wanted: Sequence[Hashable] | None) -> Any:
    """Put a square frame into the order of the wanted labels: rows as in `in_order`, then columns like the rows."""
    if not hasattr(matrix, "columns"):
        return matrix
    matrix = in_order(matrix, wanted)
    places = _places(matrix.columns.tolist(), matrix.index.tolist())
    return matrix if places is None else matrix.iloc[:, places]


def refuse_doubtful_order(value: Any, num_nodes: int, name: str) -> None:
    """Refuse labels 0..N-1 in another order where nodes have no ids of their own, so that they may mean anything.

    Raises
    ------
    GraphError
        ``value`` is such a frame or series.
    """
    if _places(row_labels(value), range(num_nodes)) is not None:
        raise GraphError(
            f"the index of {name} holds 0..{num_nodes - 1} in another order, and nodes have no ids of their own: pass "
            f"{name}.sort_index() where it names the nodes, or {name}.to_numpy() where rows are in their order"
        )
