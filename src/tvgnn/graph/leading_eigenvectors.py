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
_EXTRA, _STEPS, _CYCLES = 8, 4, 40  # vectors beyond k, solves between Rayleigh-Ritz steps, their number
_TOLERANCE = 1e-8  # of residuals, of the inverse, beside its eigenvalues
_FIRST_DISTANCE, _CLOSEST = 1e-6, 1e-9  # of the shift from the spectrum
_POWERS = 30  # products that sharpen the bound of the spectrum


def leading_eigenvectors(
    matrix: Any, k: int, random: Any, *, skipped: Floats | None = None, tol: float = 0.0
) -> Floats:
    """Eigenvectors of the k largest eigenvalues, the largest last.

    Lanczos finds them quickly where the k-th is well apart from the next. On rings, chains and meshes it does not, but
    there a factorisation has little fill: block inverse iteration with a shift just above the spectrum. Where neither
    holds, Lanczos goes on with more vectors.

    Parameters:
        matrix: (N, N) symmetric CSR float64 without negative entries, spectrum within [-1, 1].
        k: vectors, below N.
        random: draws the start, by ``standard_normal``; large matrices only.
        skipped: (N,) an eigenvector of length 1, or zeros, that is left out.
        tol: of Lanczos, as in ``scipy.sparse.linalg.eigsh``; above 0 it may miss copies of repeated eigenvalues.

    Returns:
        (N, k), orthonormal columns.

    Raises:
        ArpackNoConvergence: all of these failed.

    """
    nodes = matrix.shape[0]
    away = np.zeros(nodes) if skipped is None else skipped
    if nodes <= max(_DENSE_LIMIT, 2 * k + 1):
        return np.asarray(np.linalg.eigh(matrix.toarray() - 2.0 * np.outer(away, away))[1][:, -k:])
    operator = matrix
    if skipped is not None:
        # Moving its eigenvalue below the others leaves these, and keeps those of further components
        operator = LinearOperator(
            matrix.shape, matvec=lambda v: matrix @ v.ravel() - 2.0 * away * (away @ v.ravel()), dtype=np.float64
        )
    options = {"k": k, "which": "LA", "v0": random.standard_normal(nodes), "tol": tol}
    try:
        return np.asarray(eigsh(operator, maxiter=_FIRST_RESTARTS, **options)[1])
    except ArpackNoConvergence:
        vectors = _by_inverse(matrix, k, random, away) if _fill_bound(matrix) <= _FILL else None
    if vectors is None:
        vectors = eigsh(operator, ncv=min(nodes - 1, max(6 * k, 60)), maxiter=_LAST_RESTARTS, **options)[1]
    return np.asarray(vectors)


def _by_inverse(matrix: Any, k: int, random: Any, skipped: Floats) -> Floats | None:
    """Block Krylov steps with ``(s I - M)^-1``, None where they do not converge.

    Blocks find eigenvalues of any multiplicity up to their width. The shift s starts at a bound and moves towards the
    largest eigenvalue, as near as the wanted ones lie to each other.
    """
    nodes = matrix.shape[0]
    width = min(k + max(_EXTRA, k // 2), nodes - 1)
    block = random.standard_normal((nodes, width))
    shift = _bound(matrix) + _FIRST_DISTANCE
    inverse = _inverse(matrix, shift)
    for _ in range(_CYCLES):
        blocks, images = [_orthonormal(block, skipped)], []
        for _ in range(_STEPS):
            images.append(_without(inverse.solve(blocks[-1]), skipped))
            blocks.append(_orthonormal(images[-1], skipped, blocks))
        basis, image = np.hstack(blocks[:-1]), np.hstack(images)
        projected = basis.T @ image
        values, rotation = np.linalg.eigh((projected + projected.T) / 2)
        rotation, values = rotation[:, -width:], values[-width:]
        block = basis @ rotation
        residuals = np.linalg.norm(image @ rotation - block * values, axis=0)
        if (residuals[-k:] <= _TOLERANCE * values[-k:]).all():
            return np.asarray(block[:, -k:])
        products = matrix @ block
        quotients = np.einsum("ij,ij->j", block, products)
        error = float(np.linalg.norm(products[:, -1] - quotients[-1] * block[:, -1]))
        distance = max(0.1 * float(quotients[-1] - quotients[0]), 4 * error, _CLOSEST)
        while 10 * distance < shift - quotients[-1]:
            nearer = _inverse(matrix, quotients[-1] + distance)
            if (nearer.U.diagonal() > 0).all():  # positive definite: the shift is above the spectrum
                shift, inverse = quotients[-1] + distance, nearer
            distance *= 10
    return None


def _bound(matrix: Any) -> float:
    """At least the largest eigenvalue of a matrix without negative entries (Collatz and Wielandt), at most 1."""
    vector, bound = np.ones(matrix.shape[0]), 1.0
    for _ in range(_POWERS):
        product = matrix @ vector
        bound = min(bound, float((product / vector).max()))
        vector = vector + product
        vector /= vector.max()
    return bound


def _inverse(matrix: Any, shift: float) -> Any:
    shifted = sp.csc_array(shift * sp.eye_array(matrix.shape[0]) - matrix)
    return splu(shifted, "MMD_AT_PLUS_A", 0.0, options={"SymmetricMode": True})


def _without(block: Floats, skipped: Floats) -> Floats:
    return block - np.outer(skipped, skipped @ block)


def _orthonormal(block: Floats, skipped: Floats, others: list[Floats] | None = None) -> Floats:
    """Orthonormal columns that span the block, beside others; twice, as once leaves rounding errors."""
    for _ in range(2):
        block = _without(block, skipped)
        for other in others or ():
            block = block - other @ (other.T @ block)
        block = np.linalg.qr(block)[0]
    return block


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
