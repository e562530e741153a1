"""How a graph holds its features: zeros and ones of a small graph as bytes.

Sets of thousands of small graphs mostly have one-hot features, which as float32 are most of what such a set takes
(NCI1: 13.6 of 16.4 MB).
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from tvgnn.graph.validation import Features

__all__ = ["held", "small_zeros_and_ones_as_bytes"]

_T = TypeVar("_T")
_SMALL = 2**16  # numbers; making more of them takes long enough to notice


class _HeldFeatures:
    """The attribute ``x`` of graphs: bytes are given as a read-only array of float32, anything else as it is held."""

    def __get__(self, graph: Any, owner: type | None = None) -> Features:
        if graph is None:
            return self
        x = held(graph)
        if not isinstance(x, np.ndarray) or x.dtype != np.uint8:
            return x
        given = x.astype(np.float32)
        given.setflags(write=False)
        return given

    def __set__(self, graph: Any, x: Features) -> None:
        graph.__dict__["x"] = x.astype(np.uint8) if _is_worth_it(x) else x


def small_zeros_and_ones_as_bytes(kind: type[_T]) -> type[_T]:
    """Let a dataclass with a field ``x`` hold it so; a decorator, since a descriptor inside would be a default."""
    kind.x = _HeldFeatures()  # type: ignore[attr-defined]  # of a type that only the dataclass has
    return kind


def held(graph: Any) -> Features:
    """Return the features of a graph as they are held: bytes where all are 0 or 1, else the array ``graph.x``."""
    return graph.__dict__["x"]


def _is_worth_it(x: Features) -> bool:
    if not isinstance(x, np.ndarray) or x.dtype != np.float32 or x.size > _SMALL:
        return False
    return bool(((x == 0) | (x == 1)).all()) and not np.signbit(x).any()
