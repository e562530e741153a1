"""Row normalisation of dense and sparse features: explicit, zero rows stay zero, nothing is shifted."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tvgnn.errors import GraphError
from tvgnn.graph.validation import Features

__all__ = ["normalize_rows"]


def normalize_rows(x: Features, norm: str) -> Features:
    """Divide each row by its L1 or L2 norm; the result has the type and dtype of ``x``.

    Rows are first divided by their largest magnitude, so that squares neither overflow nor vanish.
    """
    if norm not in ("l1", "l2"):
        raise GraphError(f"norm must be None, 'l1' or 'l2', got {norm!r}")
    if sp.issparse(x):
        rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
        peak = np.zeros(x.shape[0], dtype=x.dtype)
        np.maximum.at(peak, rows, np.abs(x.data))
        scaled = x.data / _divisor(peak)[rows]
        powers = np.abs(scaled) if norm == "l1" else scaled * scaled
        length = np.bincount(rows, weights=powers, minlength=x.shape[0])
        data = _divide(scaled, _divisor(length if norm == "l1" else np.sqrt(length))[rows])
        result = sp.csr_array((data, x.indices, x.indptr), shape=x.shape)
        for part in (result.data, result.indices, result.indptr):
            part.setflags(write=False)
        return result
    scaled = x / _divisor(np.maximum(x.max(axis=1), -x.min(axis=1)))[:, None]
    if norm == "l1":
        length = np.abs(scaled).sum(axis=1, dtype=np.float64)
    else:
        length = np.sqrt(np.einsum("ij,ij->i", scaled, scaled, dtype=np.float64))
    result = _divide(scaled, _divisor(length)[:, None])
    result.setflags(write=False)
    return result


def _divisor(length: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.where(length == 0, length.dtype.type(1), length)


def _divide(values: npt.NDArray[Any], divisor: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Divide in place: a float64 divisor must not make a float64 copy of float32 features."""
    np.divide(values, divisor, out=values, casting="same_kind")
    return values
