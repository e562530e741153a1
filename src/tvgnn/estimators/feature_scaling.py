"""How features are brought to a common scale before training, chosen once and applied to every later input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import mean_variance_axis

from tvgnn.estimators.component_scores import are_component_scores
from tvgnn.graph._normalize import normalize_rows
from tvgnn.graph.column_moments import column_moments, full_columns, row_blocks

__all__ = ["FEATURE_NORMS", "FeatureScaling", "is_bag_of_words", "resolution", "standardized", "with_full_columns"]

FEATURE_NORMS = ("auto", "l1", "l2", "standardize", "common-scale", None)
_BAG_OF_WORDS_DENSITY = 0.25  # rows with more non-zeros than this are measurements rather than word counts


@dataclass(frozen=True, eq=False)
class FeatureScaling:
    """A fitted choice of scaling.

    Attributes:
        kind: ``"l1"`` or ``"l2"`` (rows), ``"standardize"`` (columns, each by its own deviation), ``"common-scale"``
            (columns centred, all divided by one number) or None.
        mean: (F,) subtracted from every row, or None. Of sparse features only columns without any zero are shifted,
            which stores no more numbers; the others have 0 here, and there is None where all have.
        scale: (F,) that every row is divided by, or None.

    """

    kind: str | None
    mean: np.ndarray | None = None
    scale: np.ndarray | None = None

    @classmethod
    def fit(cls, x: Any, kind: str | None) -> FeatureScaling:
        """Choose for features x (N, F), dense or CSR.

        ``"auto"`` takes ``"l1"`` where features are non-negative and mostly zero (bags of words, as in the paper),
        ``"common-scale"`` for scores on principal components, the last of which are mostly noise that a scale of their
        own would blow up, and ``"standardize"`` otherwise, since dividing rows by their sum would destroy coordinates
        and brightness.

        Raises:
            ValueError: unknown kind.

        """
        if kind not in FEATURE_NORMS:
            raise ValueError(f"expected feature_norm to be one of {FEATURE_NORMS}, got {kind!r}")
        if kind == "auto":
            kind = "l1" if is_bag_of_words(x) else "common-scale" if are_component_scores(x) else "standardize"
        if kind not in ("standardize", "common-scale"):
            return cls(kind)
        mean, variance = _sparse_moments(x) if sp.issparse(x) else column_moments([x])
        if kind == "common-scale":
            return cls(kind, mean, np.full(x.shape[1], np.sqrt(variance.mean()) or 1.0))
        deviation = np.sqrt(variance)
        # A column that varies less than rounding does is constant.
        constant = deviation <= resolution(x.dtype) * np.abs(mean if mean is not None else 0.0)
        scale = np.where(constant | (deviation == 0), 1.0, deviation)
        return cls(kind, mean, scale)

    def transform(self, x: Any) -> Any:
        """Scaled features (M, F), dense or CSR as given: float32 where columns are scaled, else of the dtype of x."""
        if self.kind in ("l1", "l2"):
            return normalize_rows(x, self.kind)
        if self.scale is None:
            return x
        if sp.issparse(x):
            return _standardized_sparse(x, self.mean, self.scale)
        return standardized(x, self.mean, self.scale)


def resolution(dtype: np.dtype[Any]) -> float:
    """Deviation of a column, relative to its mean, below which numbers of this type tell nothing."""
    return 1e-12 if dtype == np.float64 else 1e-6


def standardized(x: np.ndarray, mean: np.ndarray | None, scale: np.ndarray) -> np.ndarray:
    """``(x - mean) / scale`` of dense x (M, F), in float64 a block of rows at a time; (M, F) float32."""
    result = np.empty(x.shape, np.float32)
    for rows in row_blocks(x.shape):
        result[rows] = (x[rows] if mean is None else x[rows] - mean) / scale
    return result


def _sparse_moments(x: Any) -> tuple[np.ndarray | None, np.ndarray]:
    """Mean of the columns without zeros, 0 for others, or None where there are none; variance of all columns."""
    variance = np.asarray(mean_variance_axis(sp.csr_matrix(x), axis=0)[1], np.float64)
    full = full_columns(x)
    if not full.size:
        return None, variance
    mean = np.zeros(x.shape[1])
    mean[full], variance[full] = column_moments([x[:, full].toarray()])
    return mean, variance


def _standardized_sparse(x: Any, mean: np.ndarray | None, scale: np.ndarray) -> Any:
    if mean is None or not mean.any():
        return sp.csr_array(x.multiply(1 / scale[None, :])).astype(np.float32)
    # A zero of such a column becomes a number, so these columns are taken out, shifted and put back in full.
    shifted = np.flatnonzero(mean)
    dense = standardized(x[:, shifted].toarray(), mean[shifted], scale[shifted])
    return with_full_columns(sp.csr_array(x.multiply(1 / scale[None, :])).astype(np.float32), shifted, dense)


def with_full_columns(x: Any, columns: np.ndarray, dense: np.ndarray) -> Any:
    """CSR x (N, F) with the columns (c,) replaced by ``dense`` (N, c)."""
    others = np.ones(x.shape[1], x.dtype)
    others[columns] = 0
    places = np.tile(columns, len(dense)), np.arange(len(dense) + 1) * len(columns)
    return sp.csr_array(x.multiply(others[None, :]) + sp.csr_array((dense.ravel(), *places), shape=x.shape))


def is_bag_of_words(x: Any) -> bool:
    """Whether features (N, F) are non-negative and mostly zero."""
    values = x.data if sp.issparse(x) else x
    nonzero = np.count_nonzero(values)
    return bool(nonzero < _BAG_OF_WORDS_DENSITY * x.shape[0] * x.shape[1] and values.min(initial=0) >= 0)
