"""The graph total variation: how steps lower it, and how it is smoothed at zero."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvgnn.errors import GraphError
from tvgnn.report._arrays import as_panels
from tvgnn.report._panels import new_figure
from tvgnn.report.palette import COLORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["gtv_steps_figure", "smoothed_absolute_value", "smoothed_total_variation_figure"]

_BLACK, _BLUE, _RED = "#222222", COLORS[0], COLORS[2]
_CURVES = {
    "per_feature": (r"$\Gamma^f$, one a feature", _BLACK, "-"),
    "shared": (r"$\hat{\Gamma}$, shared", _BLUE, "--"),
}


def gtv_steps_figure(curves: Mapping[float, Mapping[str, tuple[ArrayLike, ArrayLike]]]) -> Figure:
    r"""Draw the total variation of the features by number of steps, one panel a step size.

    The paper's comparison of one connectivity matrix :math:`\Gamma^f` for each feature with a single one
    :math:`\hat\Gamma` (appendix A.3). Steps have a logarithmic scale from the first one on, total variation as well.

    Parameters
    ----------
    curves : mapping of float to mapping of str to (steps, total variation)
        By step size (the paper's :math:`2\delta`), by variant (``"per_feature"``, ``"shared"``; others by their name):
        numbers of steps, ascending, and the total variation after them; two arrays of equal length.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered with pyplot: nothing to close.

    Raises
    ------
    GraphError
        No curve, or arrays of unequal length.

    Examples
    --------
    >>> figure = gtv_steps_figure({0.311: {"shared": ([0, 1, 2], [4.0, 2.0, 1.0])}})
    >>> figure.axes[0].lines[0].get_ydata().tolist()
    [4.0, 2.0, 1.0]
    """
    sizes = as_panels(curves, "step size: {variant: (steps, total variation)}")
    figure = new_figure(columns=2 * len(sizes), height=2.9)
    for axes, (size, lines) in zip(figure.subplots(1, len(sizes), squeeze=False)[0], sizes.items(), strict=True):
        lines = as_panels(lines, "variant: (steps, total variation)")
        for number, (variant, (steps, values)) in enumerate(lines.items()):
            x, y = _curve(steps, values, variant)
            label, color, style = _CURVES.get(variant, (variant, COLORS[(number + 3) % len(COLORS)], "-."))
            axes.plot(x, y, color=color, linestyle=style, linewidth=1.6, label=label)
        axes.set_xscale("symlog", linthresh=1)
        if all(np.asarray(values).min() > 0 for _, values in lines.values()):
            axes.set_yscale("log")
        axes.set(xlabel="steps", ylabel="graph total variation", title=rf"$2\delta = {size:g}$")
        axes.set_xlim(left=0)
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    return figure


def smoothed_absolute_value(difference: ArrayLike, eps: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Return what one edge of weight one adds to the smoothed total variation, and its derivative.

    :math:`|d|` where :math:`|d| \ge \epsilon`, else :math:`d^2 / 2\epsilon + \epsilon / 2` (paper, appendix A.2);
    the derivative is :math:`d / \max(|d|, \epsilon)`.

    Parameters
    ----------
    difference : array-like of float
        Differences d of the values at both ends.
    eps : float
        Positive.

    Returns
    -------
    value, derivative : ndarray of float64
        In the shape of ``difference``.

    Raises
    ------
    ValueError
        ``eps`` is not a positive number.

    Examples
    --------
    >>> value, derivative = smoothed_absolute_value([-2.0, 0.0, 0.5], eps=1.0)
    >>> value.tolist(), derivative.tolist()
    ([2.0, 0.5, 0.625], [-1.0, 0.0, 0.5])
    """
    _check(eps)
    d = np.asarray(difference, dtype=np.float64)
    size = np.abs(d)
    return np.where(size < eps, d**2 / (2 * eps) + eps / 2, size), d / np.maximum(size, eps)


def smoothed_total_variation_figure(eps: float = 1e-3) -> Figure:
    """Draw the smoothed total variation of one edge and its derivative, over the functions that they replace.

    Parameters
    ----------
    eps : float, default 0.001
        Half width of the smoothed part; three times as much is drawn on each side.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered with pyplot: nothing to close.

    Raises
    ------
    ValueError
        ``eps`` is not a positive number.

    Examples
    --------
    >>> [axes.get_title() for axes in smoothed_total_variation_figure(0.1).axes]
    ['total variation', 'derivative']
    """
    _check(eps)
    middle = smoothed_absolute_value(inside := np.linspace(-eps, eps, 101), eps)
    outside = np.array([-3, -1, 0, 0, 1, 3]) * eps
    figure = new_figure(columns=3, height=2.7)
    exact = (np.abs(outside), np.array([-1, -1, -1, 1, 1, 1]))
    titles = ("total variation", "derivative")
    left, right = figure.subplots(1, 2)
    for axes, title, line, curve in zip((left, right), titles, exact, middle, strict=True):
        axes.plot(outside, line, color=_BLUE, linewidth=1.6, label="exact")
        axes.plot(inside, curve, color=_RED, linewidth=2.4, linestyle="--", label="smoothed")
        axes.set(title=title, xlabel=r"$x_i - x_j$")
        axes.set_xticks([-eps, 0, eps], [r"$-\epsilon$", "0", r"$\epsilon$"])
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)
    left.set_yticks([0, eps / 2, eps, 3 * eps], ["0", r"$\epsilon/2$", r"$\epsilon$", r"$3\epsilon$"])
    return figure


def _curve(steps: ArrayLike, values: ArrayLike, variant: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    x, y = np.asarray(steps, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape or not len(x):
        raise GraphError(
            f"expected one total variation a number of steps for {variant!r}, got shapes {x.shape} and {y.shape}"
        )
    return x, y


def _check(eps: float) -> None:
    if not (math.isfinite(eps) and eps > 0):
        raise ValueError(f"expected a positive eps, the half width of the smoothed part, got {eps}")
