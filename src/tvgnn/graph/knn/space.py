"""What "near" means: feature rows and a metric as points in a space that can be searched."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tvgnn.errors import GraphError
from tvgnn.graph._normalize import normalize_rows
from tvgnn.wording import setting

__all__ = ["Space"]

_ANGULAR = ("cosine", "correlation")
_CONSTANT = 1e-6  # a row that varies less than this share of its largest value varies by rounding


@dataclass(frozen=True, eq=False)
class Space:
    """Points whose distances order neighbours as the caller's metric does.

    Attributes
    ----------
    points
        (N, F) dense or CSR.
    metric
        Of the points.
    has_place
        (N,) bool, or None where all rows have a place. A row of zeros has no direction, so by cosine it is near to
        nothing; neither is a constant row by correlation.
    angular
        Whether points lie on the unit sphere: ``1 - cosine`` is half the square of their distance.
    """

    points: Any
    metric: str
    has_place: npt.NDArray[np.bool_] | None = None
    angular: bool = False

    @classmethod
    def of(cls, x: Any, metric: str) -> "Space":
        """Place rows x (N, F).

        Raises
        ------
        GraphError
            Sparse rows and ``"correlation"``, which would fill them; values whose squares are not finite.
        """
        if metric not in _ANGULAR:
            _check_size(x)
            return cls(x, metric)
        if metric == "correlation":
            if sp.issparse(x):
                raise GraphError(
                    f"{setting('metric', 'correlation')} needs dense features, got sparse ones; take 'cosine'"
                )
            x = _centred(x)
        points = normalize_rows(x, "l2")
        directed = np.diff(points.indptr) > 0 if sp.issparse(points) else points.any(axis=1)
        return cls(points, "euclidean", None if directed.all() else directed, angular=True)

    def distances(self, between_points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Turn distances of points into those of the caller's metric."""
        return between_points**2 / 2 if self.angular else between_points


def _check_size(x: Any) -> None:
    values = x.data if sp.issparse(x) else x
    peak = max(float(values.max(initial=0)), -float(values.min(initial=0)))
    if peak > np.sqrt(float(np.finfo(x.dtype).max) / x.shape[1]) / 2:
        raise GraphError(
            f"expected features whose squared distances are finite, got values up to {peak:.3g}; scale them"
        )


def _centred(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    centred = x - x.mean(axis=1, keepdims=True, dtype=np.float64)
    varies = np.abs(centred).max(axis=1) > _CONSTANT * np.abs(x).max(axis=1)
    result: npt.NDArray[Any] = np.where(varies[:, None], centred, 0.0).astype(x.dtype)
    return result
