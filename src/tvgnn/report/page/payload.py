"""Data for the page's script: JSON that no text can break out of, arrays compressed inside."""

from __future__ import annotations

import base64
import gzip
import itertools
import json
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from tvgnn.report._arrays import evenly
from tvgnn.report.page.layouts import Layout
from tvgnn.report.page.summary import FeatureDifferences
from tvgnn.report.page.view import ClusteringView
from tvgnn.report.palette import COLORS, MARKERS, UNKNOWN

__all__ = ["FEATURE_BYTES", "pack", "page_data", "script_json"]

FEATURE_BYTES = 9_000_000
"""Compressed size of the features; those that mark clusters most come first, the others are left out."""
_FEATURES = 4_000  # a longer list is of no use
_EDGE_ENTRIES = 800_000  # of the neighbour lists: larger ones are left out
_MATRIX_CELLS = 400_000
_ROWS = 16_384  # of the assignments, which are sorted together
_TOP = 4  # largest shares of each node


def script_json(value: Any) -> str:
    """Return JSON that is safe inside a script element: neither ``<`` nor U+2028 nor anything outside ASCII."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def pack(array: NDArray[Any]) -> dict[str, Any]:
    """Return an array as JSON: type, shape, and its bytes, little endian, through gzip and base64."""
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return {"type": array.dtype.name, "shape": list(array.shape), "gzip": _zip(little.tobytes())}


def page_data(
    view: ClusteringView,
    planes: list[Layout],
    agreement: NDArray[np.float64],
    differences: FeatureDifferences | None,
    counts: NDArray[np.int64] | None,
    feature_bytes: int = FEATURE_BYTES,
) -> dict[str, Any]:
    """Return everything that the script needs; ``counts`` is :func:`confusion`, None without known classes."""
    data: dict[str, Any] = {
        "n": view.n_nodes,
        "k": view.n_clusters,
        "colors": COLORS,
        "markers": MARKERS,
        "unknown": UNKNOWN,
        "layouts": [_plane(plane) for plane in planes],
        "ids": None,
        "classes": None,
        "picture": None if view.picture is None else vars(view.picture),
        "degree": pack(view.degrees.astype(_unsigned(int(view.degrees.max(initial=0))))),
        "agreement": pack(np.nan_to_num(agreement * 254, nan=255).round().astype(np.uint8)),
        **_shares(view),
        "matrix": _matrix(view),
        "features": _features(view, differences, feature_bytes),
    }
    if view.node_ids is not None and not isinstance(view.node_ids, range):
        data["ids"] = _zip(json.dumps([str(node) for node in view.node_ids]).encode("ascii"))
    if counts is not None:
        codes = pack(view.y.astype(np.int32))
        data["classes"] = {"names": view.class_names, "codes": codes, "colors": class_colors(counts)}
    if view.adjacency.nnz <= _EDGE_ENTRIES:
        data["edges"] = {
            "start": pack(view.adjacency.indptr.astype(np.uint32)),
            "end": pack(view.adjacency.indices.astype(_unsigned(view.n_nodes))),
        }
    return data


def class_colors(counts: NDArray[np.int64]) -> list[int]:
    """Return for each class the cluster that matches it best (Kuhn-Munkres), whose colour it has; else a new number."""
    clusters, classes = linear_sum_assignment(-counts)
    matched = dict(zip(classes.tolist(), clusters.tolist(), strict=True))
    others = itertools.count(len(counts))
    return [matched[code] if code in matched else next(others) for code in range(counts.shape[1])]


def _zip(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, compresslevel=6, mtime=0)).decode("ascii")


def _unsigned(largest: int) -> Any:
    return np.uint8 if largest < 2**8 else np.uint16 if largest < 2**16 else np.uint32


def _plane(plane: Layout) -> dict[str, Any]:
    """Positions in 16 bits each; the longer side spans them all."""
    low = plane.points.min(axis=0)
    span = np.ptp(plane.points, axis=0)
    scale = float(span.max()) or 1.0
    places = ((plane.points - low) / scale * 65535).round().astype(np.uint16)
    extent = [float(side / scale) for side in span]
    step = 1 / scale if plane.grid else None
    return {"name": plane.name, "note": plane.note, "points": pack(places), "extent": extent, "step": step}


def _shares(view: ClusteringView) -> dict[str, Any]:
    """The largest shares of each node, largest first; equal ones by cluster number, so that the first is the label."""
    top = min(_TOP, view.n_clusters)
    clusters = np.empty((view.n_nodes, top), dtype=_unsigned(view.n_clusters))
    shares = np.empty((view.n_nodes, top), dtype=np.uint16)
    for first in range(0, view.n_nodes, _ROWS):  # orders of all rows are of twice the size of the assignments
        rows = slice(first, first + _ROWS)
        order = np.argsort(-view.assignments[rows], axis=1, kind="stable")[:, :top]
        found = np.take_along_axis(view.assignments[rows], order, axis=1)
        clusters[rows], shares[rows] = order, (np.clip(found, 0, 1) * 65535).round()
    return {"clusters": pack(clusters), "shares": pack(shares)}


def _matrix(view: ClusteringView) -> dict[str, Any]:
    """Rows of the assignment matrix sorted by cluster and confidence, evenly spaced ones of too many."""
    order = np.lexsort((-view.confidence, view.labels))
    rows = order[evenly(view.n_nodes, max(100, min(1000, _MATRIX_CELLS // view.n_clusters)))]
    values = np.clip(view.assignments[rows], 0, 1) * 255
    return {"nodes": pack(rows.astype(np.uint32)), "values": pack(values.round().astype(np.uint8))}


def _features(view: ClusteringView, differences: FeatureDifferences | None, budget: int) -> dict[str, Any]:
    """As many features as fit, 256 levels each."""
    kept: dict[int, dict[str, Any]] = {}
    if differences is not None and view.feature_names is not None:
        columns = view.x.tocsc() if sp.issparse(view.x) else view.x
        for feature in map(int, differences.rank()[:_FEATURES]):
            column = columns[:, [feature]]
            values = np.asarray(column.toarray() if sp.issparse(column) else column, dtype=np.float64).ravel()
            entry = {"name": view.feature_names[feature], "index": feature, **_levels(values)}
            budget -= len(entry["gzip"]) + len(entry["name"])
            if budget < 0 and kept:
                break
            kept[feature] = entry
    return {"total": view.n_features, "list": [kept[feature] for feature in sorted(kept)]}


def _levels(values: NDArray[np.float64]) -> dict[str, Any]:
    """256 levels between the 0.5 and the 99.5 percent quantile, or the whole range where these are equal."""
    low, high = (float(q) for q in np.quantile(values, [0.005, 0.995]))
    if np.unique(values[:: max(1, len(values) // 2000)]).size <= 16 or low == high:
        low, high = float(values.min()), float(values.max())
    levels = np.clip((values - low) / ((high - low) or 1.0), 0, 1) * 255
    return {"low": low, "high": high, "gzip": _zip(levels.round().astype(np.uint8).tobytes())}
