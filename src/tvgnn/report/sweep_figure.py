"""The comparison of several numbers of clusters as a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tvgnn.errors import GraphError
from tvgnn.report.palette import COLORS, color_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["sweep_figure"]

_HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++")  # tell bars of the same colour apart, as markers do nodes


def sweep_figure(
    rows: Sequence[Mapping[str, Any]],
    sizes: Mapping[int, Sequence[int]],
    recommended: int | None = None,
    random_modularity: float | None = None,
    title: str = "",
) -> Figure:
    """Draw quality by number of clusters, and how each cluster goes on from one number to the next.

    Parameters
    ----------
    rows : sequence of mapping
        With ``n_clusters``, ``n_clusters_found``, ``n_strays``, ``stability``, ``stability_of_best``, ``modularity``,
        ``score``, ``loss``, ``total_variation``, ``conductance`` and ``sharpness``; ascending in K. A K with empty
        clusters or strays has hollow points.
    sizes : mapping of int to sequence of int
        By K, nodes of the clusters under their matched numbers, the position: a cluster keeps its colour.
    recommended : int or None
        A K to point out.
    random_modularity : float or None
        A level to compare modularity with.
    title : str
        Heading.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered with pyplot: nothing to close.

    Raises
    ------
    GraphError
        There are no rows.

    Examples
    --------
    >>> names = ("stability", "stability_of_best", "modularity", "score")
    >>> names += ("loss", "total_variation", "conductance", "sharpness")
    >>> row = {"n_clusters": 2, "n_clusters_found": 2, "n_strays": 0, **dict.fromkeys(names, 0.5)}
    >>> len(sweep_figure([row], {2: [3, 2]}, recommended=2).axes)
    3
    """
    from matplotlib.figure import Figure

    if not rows:
        raise GraphError("expected the rows of a sweep, got none")
    figure = Figure(figsize=(13.5, 4.6), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    if title:
        figure.suptitle(title)
    _draw_curves(left, rows, ("stability_of_best", "modularity", "score", "stability"), "Found again, and dense")
    if random_modularity is not None:
        left.axhline(
            random_modularity, color=COLORS[1], linestyle=":", linewidth=1.2, label="modularity of a random graph"
        )
    _draw_curves(middle, rows, ("loss", "total_variation", "conductance", "sharpness"), "Loss and cut")
    _draw_sizes(right, sizes)
    for axes in (left, middle, right):
        axes.set_xlabel("number of clusters K")
        axes.xaxis.get_major_locator().set_params(integer=True)
        if recommended is not None:
            axes.axvline(recommended, color="#444444", linestyle="--", linewidth=1, zorder=0, label="recommended")
    for axes in (left, middle):
        # below, not where it covers least: finding that place may take long
        axes.legend(frameon=False, fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    return figure


def _draw_curves(axes: Axes, rows: Sequence[Mapping[str, Any]], names: Sequence[str], title: str) -> None:
    ks = [row["n_clusters"] for row in rows]
    full = np.array([row["n_clusters_found"] - row["n_strays"] == row["n_clusters"] for row in rows])
    for number, name in enumerate(names):
        values = np.array([row[name] for row in rows], dtype=np.float64)
        color = COLORS[number]
        axes.plot(ks, values, color=color, linewidth=1.4, label=name.replace("_", " "))
        axes.scatter(ks, values, s=22, color=[color if one else "white" for one in full], edgecolors=color, zorder=3)
    axes.set_title(title if full.all() else f"{title} (hollow: empty clusters or strays)", fontsize=10)
    axes.grid(alpha=0.3)


def _draw_sizes(axes: Axes, sizes: Mapping[int, Sequence[int]]) -> None:
    for k, counts in sizes.items():
        bottom = 0
        for cluster, count in enumerate(counts):
            look: dict[str, Any] = {"facecolor": color_of(cluster)}
            look["hatch"] = _HATCHES[cluster // len(COLORS) % len(_HATCHES)]
            axes.bar(k, count, bottom=bottom, width=0.85, edgecolor="white", linewidth=0.4, **look)
            bottom += count
    axes.set_title("Sizes; a colour follows a cluster", fontsize=10)
    axes.set_ylabel("nodes")
