"""From raw directed entries to the one symmetric CSR adjacency that everything else uses."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tvgnn.errors import GraphError
from tvgnn.graph.validation import frozen, name_node

__all__ = ["SymmetricCSR", "Symmetry", "symmetrize"]

Symmetry = Literal["directed", "listed"]
"""``directed``: ``(w_ij + w_ji) / 2``, absent = 0. ``listed``: the mean over the directions that are listed."""


@dataclass(frozen=True)
class SymmetricCSR:
    """Sorted symmetric CSR without self-loops, and what was dropped on the way."""

    indptr: npt.NDArray[Any]
    indices: npt.NDArray[Any]
    weights: npt.NDArray[np.float32]
    num_self_loops: int
    num_duplicates: int
    num_zero_weights: int
    was_directed: bool


def symmetrize(
    source: npt.NDArray[Any],
    target: npt.NDArray[Any],
    weight: npt.NDArray[np.floating[Any]] | None,
    node_ids: Sequence[Hashable],
    symmetry: Symmetry,
) -> SymmetricCSR:
    """Clean and symmetrise directed entries.

    Parameters
    ----------
    source, target
        (M,) integer node indices of the entries.
    weight
        (M,) float32, or None for an unweighted graph; float64 where one is too large for float32.
    node_ids
        The N ids; their number is the number of nodes.
    symmetry
        How the two directions of a pair combine; see :data:`Symmetry`. Without weights both give the union.

    Raises
    ------
    GraphError
        If an index is outside 0..N-1 or a weight is negative or not finite; the first such entry is named.
    """
    num_nodes = len(node_ids)
    _check_range(source, target, num_nodes)
    num_zero_weights = 0
    if weight is not None:
        _check_weights(source, target, weight, node_ids)
        keep = weight != 0
        num_zero_weights = len(weight) - int(np.count_nonzero(keep))
        if num_zero_weights:
            source, target, weight = source[keep], target[keep], weight[keep]
    keep = source != target
    num_self_loops = len(keep) - int(np.count_nonzero(keep))
    if num_self_loops:
        source, target = source[keep], target[keep]
        weight = None if weight is None else weight[keep]

    # Sums and halves are taken in float64, so that a symmetric float32 graph comes back bit for bit.
    data = np.ones(len(source), dtype=bool) if weight is None else weight.astype(np.float64)
    index_type = np.int32 if num_nodes <= np.iinfo(np.int32).max else np.int64
    coordinates = (source.astype(index_type, copy=False), target.astype(index_type, copy=False))
    entries = sp.coo_array((data, coordinates), shape=(num_nodes, num_nodes)).tocsr()
    num_duplicates = len(data) - int(entries.nnz)
    del data, coordinates

    reverse = entries.T.tocsr()  # its columns come out sorted
    entries.sort_indices()
    same_pattern = np.array_equal(entries.indptr, reverse.indptr) and np.array_equal(entries.indices, reverse.indices)
    if same_pattern and (weight is None or np.array_equal(entries.data, reverse.data)):
        result, was_directed = entries, False
    else:
        result = entries + reverse
        was_directed = symmetry == "directed"
        if weight is not None and symmetry == "directed":
            result.data *= 0.5
        elif weight is not None:
            listed = _pattern(entries) + _pattern(reverse)
            result.data /= listed.data
            # An edge table that lists each edge once is not directed; one whose two directions differ is.
            was_directed = _directions_differ(entries, reverse)
    weights, num_vanished = _to_float32(result, node_ids)
    width = np.int32 if max(result.nnz, num_nodes) <= np.iinfo(np.int32).max else np.int64
    return SymmetricCSR(
        indptr=frozen(result.indptr.astype(width, copy=False)),
        indices=frozen(result.indices.astype(width, copy=False)),
        weights=frozen(weights),
        num_self_loops=num_self_loops,
        num_duplicates=num_duplicates,
        num_zero_weights=num_zero_weights + num_vanished,
        was_directed=was_directed,
    )


def _pattern(matrix: Any) -> Any:
    ones = np.ones(matrix.nnz, dtype=np.int8)
    return sp.csr_array((ones, matrix.indices, matrix.indptr), shape=matrix.shape)


def _directions_differ(entries: Any, reverse: Any) -> bool:
    both = _pattern(entries) * _pattern(reverse)
    return bool(((entries - reverse) * both).count_nonzero())


def _to_float32(matrix: Any, node_ids: Sequence[Hashable]) -> tuple[npt.NDArray[np.float32], int]:
    """Cast in place of the data; refuse sums that overflow, drop halves that underflow to zero."""
    with np.errstate(over="ignore", under="ignore"):
        matrix.data = matrix.data.astype(np.float32)
    data = matrix.data
    if len(data) and not np.isfinite(data.max()):
        first = int(np.argmax(~np.isfinite(data)))
        row = int(np.searchsorted(matrix.indptr, first, side="right")) - 1
        pair = f"{name_node(row, node_ids)} and {name_node(int(matrix.indices[first]), node_ids)}"
        raise GraphError(
            f"the summed weight between {pair} is too large for float32: divide all weights by the largest, as only "
            "their ratios matter"
        )
    before = int(matrix.nnz)
    if before and data.min() == 0:
        matrix.eliminate_zeros()
    return matrix.data, (before - int(matrix.nnz)) // 2  # both directions of a pair vanish together


def _check_range(source: npt.NDArray[Any], target: npt.NDArray[Any], num_nodes: int) -> None:
    if not len(source):
        return
    if min(source.min(), target.min()) >= 0 and max(source.max(), target.max()) < num_nodes:
        return
    bad = (source < 0) | (source >= num_nodes) | (target < 0) | (target >= num_nodes)
    first = int(np.argmax(bad))
    raise GraphError(
        f"edge {first} ({source[first]}, {target[first]}) is out of range: node indices must be 0..{num_nodes - 1} "
        f"for {num_nodes} nodes; check num_nodes, the rows of x, or whether the indices start at 1"
    )


def _check_weights(
    source: npt.NDArray[Any],
    target: npt.NDArray[Any],
    weight: npt.NDArray[np.floating[Any]],
    node_ids: Sequence[Hashable],
) -> None:
    # NaN fails both comparisons
    largest = float(np.finfo(np.float32).max)
    if not len(weight) or (weight.min() >= 0 and weight.max() <= largest):
        return
    first = int(np.argmax(~((weight >= 0) & (weight <= largest))))
    pair = f"{name_node(int(source[first]), node_ids)} to {name_node(int(target[first]), node_ids)}"
    if largest < weight[first] < np.inf:
        raise GraphError(
            f"edge {first} ({pair}) has weight {weight[first]:g}, which is too large for float32: drop such an edge, "
            "or divide all weights by the largest, as only their ratios matter"
        )
    raise GraphError(
        f"edge {first} ({pair}) has weight {weight[first]}: weights must be finite and non-negative; "
        "drop such edges or map them to similarities"
    )
