"""Sparse normalisations and the truncated SVD of a matrix that is only known by its products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["Floats", "inverse_degrees", "transition_matrix", "truncated_svd", "unit_rows"]

Floats = npt.NDArray[np.float64]
Product = Callable[[Floats], Floats]
OVERSAMPLING = 16


def inverse_degrees(adjacency: Any) -> Floats:
    """``1 / d`` of each row (N,), 0 where the row is empty."""
    degrees = np.asarray(adjacency.astype(np.float64).sum(axis=1)).ravel()
    return np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)


def transition_matrix(adjacency: Any) -> Any:
    """``P = D^-1 A`` (N, N) CSR float64; rows of isolated nodes are empty."""
    return sp.csr_array(sp.diags_array(inverse_degrees(adjacency)) @ adjacency.astype(np.float64))


def truncated_svd(
    multiply: Product, transposed: Product, columns: int, rank: int, n_iter: int, random: np.random.RandomState
) -> tuple[Floats, Floats, Floats]:
    """Leading singular triplets by subspace iteration (Halko et al., SIAM Review 2011, alg. 4.4 and 5.1).

    Parameters:
        multiply: ``Y -> M Y`` for dense (columns, width).
        transposed: ``Y -> M^T Y`` for dense (rows, width).
        columns: number of columns of M.
        rank: triplets wanted, at most the smaller side of M.
        n_iter: power iterations.
        random: draws the first subspace.

    Returns:
        U (rows, rank), singular values (rank,) in descending order, V (columns, rank). The largest entry of each
        column of U is positive.

    """
    basis = np.linalg.qr(multiply(random.standard_normal((columns, min(rank + OVERSAMPLING, columns)))))[0]
    for _ in range(n_iter):
        basis = np.linalg.qr(multiply(np.linalg.qr(transposed(basis))[0]))[0]
    right, values, left = np.linalg.svd(transposed(basis), full_matrices=False)
    u, v = basis @ left.T[:, :rank], right[:, :rank]
    signs = np.sign(u[np.abs(u).argmax(axis=0), np.arange(u.shape[1])])
    return u * signs, values[:rank], v * signs


def unit_rows(rows: Floats) -> Floats:
    """Rows (N, width) of length 1; rows of zeros, and of rounding errors, become zeros."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 1e-12))
