"""Eigenvectors of the largest eigenvalues of a symmetric sparse matrix, also where these lie close together."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

__all__ = ["leading_eigenvectors"]

Floats = npt.NDArray[np.float64]

_DENSE_LIMIT = 256  # below this a dense eigensolver is faster than Lanczos and always converges
_FIRST_RESTARTS = 100  # of Lanczos; citation graphs take at most 45, rings and grids thousands
_LAST_RESTARTS = 1000
_FILL = 2**27  # entries of a triangular factor at most, by a bound that minimum degree stays far below
_PEELED = 64  # rounds in which leaves, which fill nothing, are taken off before the bound is computed
_DISTANCE = 1e-6  # of the shift from the bound of the spectrum
_BELOW = 3.0  # moves an eigenvalue from within [-1, 1] to below all others
_POWERS = 30  # products that sharpen the bound of the spectrum


def leading_eigenvectors(matrix: Any, k: int, random: Any, *, skipped: sp.csr_array | None = None) -> Floats:
    """Eigenvectors of the k largest eigenvalues, the largest last.

    Lanczos finds them quickly where the k-th is well apart from the next. On rings, chains and meshes it does not, but
    there a factorisation has little fill, so Lanczos runs on the inverse with a shift just above the spectrum. Where
    neither holds, it goes on with more vectors.

    Parameters:
        matrix: (N, N) symmetric CSR float64 without negative entries, spectrum within [-1, 1].
        k: vectors, below N.
        random: draws the start, by ``standard_normal``; large matrices only.
        skipped: (N, C) orthonormal eigenvectors that are left out.

    Returns:
        (N, k), orthonormal columns.

    Raises:
        ArpackNoConvergence: all of these failed.

    """
    nodes = matrix.shape[0]
    if nodes <= max(_DENSE_LIMIT, 2 * k + 1):
        dense = matrix.toarray()
        if skipped is not None:
            dense -= _BELOW * (skipped @ skipped.T).toarray()
        return np.asarray(np.linalg.eigh(dense)[1][:, -k:])
    operator = matrix
    if skipped is not None:
        operator = LinearOperator(
            matrix.shape,
            matvec=lambda v: matrix @ v.ravel() - _BELOW * (skipped @ (skipped.T @ v.ravel())),
            dtype=np.float64,
        )
    options = {"k": k, "which": "LA", "v0": random.standard_normal(nodes), "tol": 0.0}
    try:
        return np.asarray(eigsh(operator, maxiter=_FIRST_RESTARTS, **options)[1])
    except ArpackNoConvergence:
        if _fill_bound(matrix) <= _FILL:
            return _by_inverse(matrix, skipped, options)
        return np.asarray(eigsh(operator, ncv=min(nodes - 1, max(6 * k, 60)), maxiter=_LAST_RESTARTS, **options)[1])


def _by_inverse(matrix: Any, skipped: sp.csr_array | None, options: dict[str, Any]) -> Floats:
    """Lanczos on ``(s I - M)^-1``, s just above the spectrum, which sets its end apart."""
    nodes = matrix.shape[0]
    shift = _bound(matrix) + _DISTANCE
    shifted = sp.csc_array(shift * sp.eye_array(nodes) - matrix)
    factor = splu(shifted, "MMD_AT_PLUS_A", 0.0, options={"SymmetricMode": True})
    inverse = LinearOperator(
        matrix.shape, matvec=lambda v: -_without(factor.solve(_without(v.ravel(), skipped)), skipped), dtype=np.float64
    )
    options = options | {"which": "LM", "ncv": min(nodes - 1, max(4 * options["k"], 40))}
    values, vectors = eigsh(matrix, sigma=shift, OPinv=inverse, **options)
    return np.asarray(vectors[:, np.argsort(values)])


def _bound(matrix: Any) -> float:
    """At least the largest eigenvalue of a matrix without negative entries (Collatz and Wielandt), at most 1."""
    vector, bound = np.ones(matrix.shape[0]), 1.0
    for _ in range(_POWERS):
        product = matrix @ vector
        bound = min(bound, float((product / vector).max()))
        vector = vector + product
        vector /= vector.max()
    return bound


def _without(vector: Floats, skipped: sp.csr_array | None) -> Floats:
    return vector if skipped is None else vector - skipped @ (skipped.T @ vector)


def _fill_bound(matrix: Any) -> int:
    """Entries within the envelope of a reverse Cuthill-McKee order, after leaves are taken off: a factor fits in it."""
    pattern = sp.csr_array((np.ones(matrix.nnz, dtype=np.int8), matrix.indices, matrix.indptr), shape=matrix.shape)
    for _ in range(_PEELED):
        inner = np.diff(pattern.indptr) > 1
        if inner.all() or not inner.any():
            break
        pattern = pattern[inner][:, inner]
    order = reverse_cuthill_mckee(sp.csr_matrix(pattern), symmetric_mode=True)
    places = np.empty_like(order)
    places[order] = np.arange(order.size, dtype=order.dtype)
    rows = np.repeat(places, np.diff(pattern.indptr))
    first = np.arange(order.size)
    np.minimum.at(first, rows, places[pattern.indices])
    return int((np.arange(order.size) - first).sum())
