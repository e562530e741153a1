"""How features are brought to a common scale before training, chosen once and applied to every later input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import mean_variance_axis

from tvgnn.graph._normalize import normalize_rows

__all__ = ["FEATURE_NORMS", "FeatureScaling", "is_bag_of_words"]

FEATURE_NORMS = ("auto", "l1", "l2", "standardize", None)
_BAG_OF_WORDS_DENSITY = 0.25  # rows with more non-zeros than this are measurements rather than word counts


@dataclass(frozen=True, eq=False)
class FeatureScaling:
    """A fitted choice of scaling.

    Attributes:
        kind: ``"l1"`` or ``"l2"`` (rows), ``"standardize"`` (columns) or None.
        mean: (F,) subtracted from every row, or None; sparse features are never shifted.
        scale: (F,) that every row is divided by, or None.

    """

    kind: str | None
    mean: np.ndarray | None = None
    scale: np.ndarray | None = None

    @classmethod
    def fit(cls, x: Any, kind: str | None) -> FeatureScaling:
        """Choose for features x (N, F), dense or CSR.

        ``"auto"`` takes ``"l1"`` where features are non-negative and mostly zero (bags of words, as in the paper) and
        ``"standardize"`` otherwise, since dividing rows by their sum would destroy coordinates and brightness.

        Raises:
            ValueError: unknown kind.

        """
        if kind not in FEATURE_NORMS:
            raise ValueError(f"expected feature_norm to be one of {FEATURE_NORMS}, got {kind!r}")
        if kind == "auto":
            kind = "l1" if is_bag_of_words(x) else "standardize"
        if kind != "standardize":
            return cls(kind)
        if sp.issparse(x):
            mean, variance = None, mean_variance_axis(sp.csr_matrix(x), axis=0)[1]
        else:
            mean, variance = x.mean(0, dtype=np.float64), x.var(0, dtype=np.float64)
        deviation = np.sqrt(variance)
        # A column that varies less than rounding does is constant.
        constant = deviation <= 1e-6 * np.abs(mean if mean is not None else 0.0)
        scale = np.where(constant | (deviation == 0), 1.0, deviation)
        return cls(kind, mean, scale)

    def transform(self, x: Any) -> Any:
        """Scaled features, (M, F) float32, dense or CSR as given."""
        if self.kind in ("l1", "l2"):
            return normalize_rows(x, self.kind)
        if self.scale is None:
            return x
        if sp.issparse(x):
            return sp.csr_array(x.multiply(1 / self.scale[None, :])).astype(np.float32)
        centred = x if self.mean is None else x - self.mean  # fitted to sparse features, which are never shifted
        return (centred / self.scale).astype(np.float32)


def is_bag_of_words(x: Any) -> bool:
    """Whether features (N, F) are non-negative and mostly zero."""
    values = x.data if sp.issparse(x) else x
    nonzero = np.count_nonzero(values)
    return bool(nonzero < _BAG_OF_WORDS_DENSITY * x.shape[0] * x.shape[1] and values.min(initial=0) >= 0)
