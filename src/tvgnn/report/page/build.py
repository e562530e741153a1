"""Put the page together: template, style, script, data."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.metadata import version as installed_version
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from tvgnn.io.new_files import check_target, replaced_file
from tvgnn.report.page.findings import counted, findings, sentences
from tvgnn.report.page.images import original, segmentation
from tvgnn.report.page.layouts import MapKind, layouts
from tvgnn.report.page.loss_curve import loss_curve
from tvgnn.report.page.payload import page_data, script_json
from tvgnn.report.page.summary import cluster_edges, confusion, feature_differences, neighbor_agreement
from tvgnn.report.page.tables import MOST_CLUSTERS, cluster_rows, edge_table, label_table
from tvgnn.report.page.view import ClusteringView
from tvgnn.report.palette import COLORS, MARKERS, UNKNOWN
from tvgnn.report.tables import metric_rows

__all__ = ["clustering_page", "write_page"]

_SCRIPTS = ("data", "colors", "scatter", "coloring", "map", "search", "matrix", "main")
_SHAPES = {
    "o": "M5 0A5 5 0 1 1-5 0A5 5 0 1 1 5 0Z",
    "s": "M-4.4-4.4H4.4V4.4H-4.4Z",
    "^": "M0-5L5 4H-5Z",
    "D": "M0-5.6L5.6 0L0 5.6L-5.6 0Z",
    "v": "M0 5L5-4H-5Z",
    "P": "M-1.8-5.4H1.8V-1.8H5.4V1.8H1.8V5.4H-1.8V1.8H-5.4V-1.8H-1.8Z",
}


def clustering_page(view: ClusteringView, *, projection: MapKind = "auto", random_state: int = 0) -> str:
    """Return a complete HTML document that shows a clustering and loads nothing.

    It holds a summary and warnings in words, the sizes, a map of the nodes (hover, search, colours), the assignment
    matrix, the edges between clusters, features and nodes that mark each cluster, classes where they are known, the
    loss and the metrics. Text of the data is escaped, and the page's own policy forbids every other script and every
    request.

    Parameters
    ----------
    view : ClusteringView
        The clustering.
    projection : {"auto", "umap", "pca"}
        Map of the embedding: UMAP, the two leading principal components, or UMAP where umap-learn is installed and
        there are at most 300,000 nodes.
    random_state : int, default 0
        Seed of UMAP.

    Raises
    ------
    ImportError
        UMAP is asked for and umap-learn is not installed.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> view = ClusteringView(np.eye(3), sp.csr_array((3, 3)), title="<three>")
    >>> page = clustering_page(view, projection="pca")
    >>> page.startswith("<!doctype html>"), "&lt;three&gt;" in page
    (True, True)
    """
    edges, agreement = cluster_edges(view), neighbor_agreement(view)
    differences = feature_differences(view)
    counts = None if view.y is None else confusion(view)
    data = page_data(view, layouts(view, projection, random_state), agreement, differences, counts)
    rows = cluster_rows(view, edges, agreement, differences, counts)
    n_used = int((view.sizes > 0).sum())
    script = _script()
    return _template().render(
        view=view,
        version=installed_version("tvgnn"),
        style=Markup(_asset("page.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii"),
        data=Markup(script_json(data)),
        shapes=[(marker, _SHAPES[marker]) for marker in MARKERS],
        sentences=sentences(view, edges),
        findings=findings(view, edges, agreement),
        notes=view.metrics.get("notes", ()),
        rows=rows,
        n_used=n_used,
        hidden_clusters=max(0, n_used - MOST_CLUSTERS),
        edges=edge_table(view, edges),
        labels=label_table(view, counts),
        curve=loss_curve(view.loss_history),
        metrics=metric_rows(view.metrics),
        versions=view.metrics.get("versions", {}),
        original=original(view),
        segmentation=segmentation(view),
        features_left_out=data["features"]["total"] - len(data["features"]["list"]),
        matrix_rows=data["matrix"]["nodes"]["shape"][0],
        has_edges="edges" in data,
    )


def write_page(path: str | Path, view: ClusteringView, **options: Any) -> None:
    """Write :func:`clustering_page` into a file, new or in place of one, completely or not at all.

    Raises
    ------
    DataError
        The file cannot be written.
    """
    check_target(path)  # a map of many nodes takes a while
    # A lone surrogate, which a damaged id can hold, has no UTF-8: the browser shows its reference as a placeholder
    page = clustering_page(view, **options).encode("utf-8", "xmlcharrefreplace")
    with replaced_file(path) as part:
        part.write_bytes(page)


def _asset(name: str) -> str:
    return files("tvgnn.report.page").joinpath("assets", name).read_text(encoding="utf-8")


def _script() -> str:
    """All parts as one function, so that no name of theirs is global."""
    parts = "\n".join(_asset(f"{name}.js") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


@cache
def _template() -> Any:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["percent"] = lambda share: f"{100 * share:.0f}" if share >= 0.995 else f"{100 * share:.1f}"
    environment.filters["counted"] = counted
    environment.filters["number"] = lambda value: f"{value:.4g}"
    environment.filters["short"] = lambda value: f"{value:.3g}"
    environment.filters["thousands"] = lambda value: f"{value:,}"
    environment.globals["color_of"] = lambda number: UNKNOWN if number < 0 else COLORS[number % len(COLORS)]
    environment.globals["shape_of"] = lambda number: _SHAPES[MARKERS[number // len(COLORS) % len(MARKERS)]]
    return environment.from_string(_asset("page.html"))
