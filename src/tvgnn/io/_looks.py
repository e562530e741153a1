"""How Gephi draws a node: colour, shape, size and place, as GraphML and GEXF say them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tvgnn.colors import COLORS, color_of

__all__ = ["look_of", "room"]

_SHAPES = ("disc", "square", "triangle", "diamond")


def look_of(cluster: int, suffix: str, point: Any = None, size: float | None = None) -> dict[str, Any]:
    """Return the attributes that give a node its look; ``suffix`` is that of the format."""
    color = color_of(cluster)
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    if suffix == ".graphml":
        found: dict[str, Any] = {"r": red, "g": green, "b": blue}
        if point is not None:
            found |= {"x": float(point[0]), "y": float(point[1])}
        return found if size is None else found | {"size": size}
    viz: dict[str, Any] = {"color": {"r": red, "g": green, "b": blue, "a": 1.0}}
    if cluster >= len(COLORS):
        viz["shape"] = _SHAPES[cluster // len(COLORS) % len(_SHAPES)]
    if size is not None:
        viz["size"] = size
    if point is not None:
        viz["position"] = {"x": float(point[0]), "y": float(point[1]), "z": 0.0}
    return {"viz": viz}


def room(points: Any, spacing: float) -> float:
    """Return the factor that gives each node about ``spacing`` of room."""
    known = points[np.isfinite(points).all(axis=1)]
    extent = float(np.ptp(known, axis=0).max()) if len(known) else 0.0
    return spacing * math.sqrt(len(points)) / extent if extent > 0 else 1.0
