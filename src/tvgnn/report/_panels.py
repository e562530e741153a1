"""What the figures of several methods share: a legible grid of panels, nodes and edges in the plane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tvgnn.report._arrays import evenly

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

__all__ = ["MAX_NODES", "draw_bar", "draw_edges", "new_figure", "node_size", "panel_grid", "plain_plane"]

MAX_NODES = 20_000  # more than this prints as a blot and makes large files
_MAX_EDGES = 20_000
_COLUMNS = 4  # panels side by side that stay legible across a page
_SIDE = 2.3  # inches


def new_figure(columns: int, height: float) -> Figure:
    """Return an empty figure for so many panels side by side, ``height`` inches high."""
    from matplotlib.figure import Figure

    # Not less than a single panel and a half: a heading or a colour bar needs the width
    return Figure(figsize=(max(_SIDE * columns, 1.5 * _SIDE), height), layout="constrained")


def panel_grid(n_panels: int, heights: tuple[float, ...] = (_SIDE,)) -> tuple[Figure, list[list[Axes]]]:
    """Lay out panels, at most four side by side, each as axes of the given heights one below the other.

    Returns
    -------
    figure
        The figure.
    panels : list of list of Axes
        For each panel its axes, from top to bottom.
    """
    bands = -(-n_panels // _COLUMNS)
    columns = -(-n_panels // bands)
    figure = new_figure(columns, bands * (sum(heights) + 0.15))
    axes = figure.subplots(bands * len(heights), columns, squeeze=False, height_ratios=heights * bands)
    axes = axes.reshape(bands, len(heights), columns)
    panels = [list(axes[number // columns, :, number % columns]) for number in range(n_panels)]
    for number in range(n_panels, bands * columns):
        for unused in axes[number // columns, :, number % columns]:
            unused.remove()
    return figure, panels


def plain_plane(axes: Axes, title: str = "") -> None:
    """Give axes a title and no ticks: positions in the plane have no unit."""
    axes.set(xticks=[], yticks=[])
    if title:
        axes.set_title(title, fontsize=10)


def draw_bar(figure: Figure, picture: AxesImage, axes: list[Axes], extend: str) -> Colorbar:
    """Add a colour bar of the same width in small and large figures beside the given axes."""
    aspect = 0.85 * figure.get_figheight() / 0.13
    return figure.colorbar(picture, ax=axes, extend=extend, shrink=0.9, pad=0.01, aspect=aspect)


def node_size(n_nodes: int) -> float:
    """Area of a marker such that nodes in a few dense groups stay apart."""
    return float(np.clip(7_000 / max(n_nodes, 1), 1.5, 30))


def draw_edges(axes: Axes, points: NDArray[np.float64], edges: NDArray[np.int64], **style: Any) -> None:
    """Draw (E, 2) edges as thin lines below the nodes; of more than 20,000 evenly spaced ones."""
    from matplotlib.collections import LineCollection

    if not len(edges):
        return
    shown = edges[evenly(len(edges), _MAX_EDGES)]
    # The more lines, the paler: else they cover the panel
    look = {"colors": "#888888", "linewidths": 0.3, "alpha": float(np.clip(800 / len(shown), 0.04, 0.6))}
    axes.add_collection(LineCollection(list(points[shown]), zorder=0, rasterized=True, **(look | style)))
    axes.autoscale_view()
