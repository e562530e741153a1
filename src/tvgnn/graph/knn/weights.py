"""Weights of the edges of a nearest-neighbour graph."""

import numpy as np
import numpy.typing as npt

__all__ = ["SMALLEST_WEIGHT", "heat_kernel", "own_scales"]

SMALLEST_WEIGHT = 1e-6  # of an edge: a row far from everything keeps its neighbours, and float32 does not round to 0


def own_scales(distances: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the scale of each row, the distance to its last neighbour.

    Parameters
    ----------
    distances
        (N, k) ascending; infinite where a row has no neighbours.

    Returns
    -------
    array
        (N,) positive: the mean of the others where the last neighbour coincides with the row or there is none.
    """
    scales = distances[:, -1].copy()
    known = (scales > 0) & np.isfinite(scales)
    scales[~known] = scales[known].mean() if known.any() else 1.0
    return scales


def heat_kernel(
    distances: npt.NDArray[np.float64],
    source: npt.NDArray[np.int64],
    target: npt.NDArray[np.int64],
    scales: npt.NDArray[np.float64] | float,
) -> npt.NDArray[np.float32]:
    """Return ``exp(-d^2 / (s_i s_j))``, at least `SMALLEST_WEIGHT`, for edges of length d (E,).

    Scales of the rows (N,) are those of Zelnik-Manor and Perona (2004), "Self-tuning spectral clustering"; one number
    is the bandwidth of all.

    Examples
    --------
    >>> heat_kernel(np.array([0.0, 2.0]), np.array([0, 0]), np.array([1, 2]), 2.0).round(3).tolist()
    [1.0, 0.36800000071525574]
    """
    first, second = (scales, scales) if isinstance(scales, float) else (scales[source], scales[target])
    with np.errstate(over="ignore", under="ignore"):
        weights = np.exp(-(distances / first) * (distances / second))
    return np.maximum(weights, SMALLEST_WEIGHT).astype(np.float32)
