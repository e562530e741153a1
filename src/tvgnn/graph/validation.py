"""Checks and casts of what callers pass for features, labels, node ids, indices and weights.

Nothing here imports torch: tensors are recognised by their ``detach`` method, so array users never pay for it.
"""

from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tvgnn.errors import GraphError
from tvgnn.graph.column_moments import sufficient_dtype

__all__ = [
    "Features",
    "as_array",
    "as_edge_weight",
    "as_features",
    "as_float_dtype",
    "as_indices",
    "as_labels",
    "as_node_ids",
    "frozen",
    "is_missing",
    "name_node",
    "torch_to_scipy",
]

_SMALLEST_WEIGHT = 1e-30  # of the largest: float32 loses digits below 1e-38, and sums of products sooner

Features: TypeAlias = Any
"""Dense ``(N, F)`` array or ``scipy.sparse.csr_array``; scipy ships no types."""


def as_array(value: Any, name: str) -> npt.NDArray[Any]:
    """Return ``value`` (tensor, data frame, array or nested list) as an array that may share its memory."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":  # NumPy has no such type
            value = value.float()
        return np.asarray(value.numpy())
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):  # arrays of pandas have a mask too
        raise GraphError(f"{name} has masked entries, whose values mean nothing; fill them first, with .filled(value)")
    try:
        array = np.asarray(value)
        if array.dtype == object and hasattr(value, "columns") and all(kind.kind in "biuf" for kind in value.dtypes):
            # pandas makes objects of numbers whose columns differ in type, such as float and bool
            return np.asarray(value.to_numpy(dtype=np.float64, na_value=np.nan))
        return array
    except ValueError as error:
        raise GraphError(f"{name} must be a rectangular array, got rows of unequal length: {error}") from None


def as_float_dtype(dtype: Any) -> np.dtype[Any] | None:
    """Return the NumPy type for ``dtype``, ``"float32"`` or ``"float64"``, and None for ``"auto"``."""
    if isinstance(dtype, str) and dtype == "auto":
        return None
    for allowed in (np.float32, np.float64):
        if dtype is not None and dtype in (allowed, allowed.__name__, np.dtype(allowed)):
            return np.dtype(allowed)
    raise GraphError(f"dtype must be 'auto', 'float32' or 'float64', got {dtype!r}")


def is_missing(value: Any) -> bool:
    """Say whether ``value`` is None, NaN or pandas' NA or NaT."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # NA has no truth value; nor has an array, which is refused elsewhere
        return not isinstance(value, np.ndarray)


def name_node(index: int, node_ids: Sequence[Hashable]) -> str:
    """Name node ``index`` for a message, with the caller's id where that differs from the index."""
    node_id = node_ids[index]
    return f"node {index}" if node_id == index else f"node {node_id!r} (index {index})"


def as_features(x: Any, node_ids: Sequence[Hashable], dtype: np.dtype[Any] | None) -> Features:
    """Return ``x`` as a read-only ``(N, F)`` array or CSR array of ``dtype``, finite, owned by the result.

    Parameters
    ----------
    x
        Dense array-like or tensor, or sparse matrix (scipy or torch). One dimension becomes one column.
    node_ids
        The N ids, for messages and for the expected number of rows.
    dtype
        float32 or float64; None for `sufficient_dtype`.

    Raises
    ------
    GraphError
        If the type is not real numbers, the number of rows is not N, or a value is not finite.
    """
    if sp.issparse(x) or "sparse" in str(getattr(x, "layout", "")):
        return _sparse_features(x if sp.issparse(x) else torch_to_scipy(x), node_ids, dtype)
    array = _with_nan_for_na(as_array(x, "x"), x)
    _check_feature_type(array.dtype)
    if array.ndim == 1:
        array = array[:, None]
    _check_feature_shape(array.shape, node_ids)
    dtype = dtype or sufficient_dtype(array)
    with np.errstate(over="ignore"):  # an overflow shows as inf, which the next check names
        result = np.array(array, dtype=dtype, order="C", copy=True)
    # min and max carry NaN and inf without an N x F temporary
    if result.size and not (np.isfinite(result.min()) and np.isfinite(result.max())):
        row, column = np.argwhere(~np.isfinite(result))[0]
        _raise_not_finite(int(row), int(column), array[row, column], node_ids, dtype)
    result.setflags(write=False)
    return result


def _sparse_features(x: Any, node_ids: Sequence[Hashable], dtype: np.dtype[Any] | None) -> Features:
    _check_feature_type(x.dtype)
    if x.ndim == 1:
        x = x.reshape((-1, 1))
    _check_feature_shape(x.shape, node_ids)
    with np.errstate(over="ignore"):
        # counts of a bool or small integer matrix must not wrap when duplicates are summed: cast first
        first = dtype or np.result_type(x.dtype, np.float32)
        result = sp.csr_array(x.astype(first), copy=True)
        result.sum_duplicates()
        result.eliminate_zeros()
        dtype = dtype or sufficient_dtype(result)
        result = result.astype(dtype, copy=False)
    result.eliminate_zeros()  # what the cast made 0 too
    if result.nnz and not (np.isfinite(result.data.min()) and np.isfinite(result.data.max())):
        place = int(np.argmax(~np.isfinite(result.data)))
        row = int(np.searchsorted(result.indptr, place, side="right")) - 1
        _raise_not_finite(row, int(result.indices[place]), result.data[place], node_ids, dtype)
    for part in (result.data, result.indices, result.indptr):
        part.setflags(write=False)
    return result


def torch_to_scipy(x: Any) -> Any:
    """Copy a torch sparse matrix of any layout into a scipy one."""
    x = x.detach().cpu()
    if str(x.dtype) in ("torch.bfloat16", "torch.float16"):  # scipy has no such types
        x = x.float()
    if str(x.layout) == "torch.sparse_csr":
        parts = (x.values().numpy(), x.col_indices().numpy(), x.crow_indices().numpy())
        return sp.csr_array(parts, shape=tuple(x.shape))
    x = x.to_sparse_coo().coalesce()
    return sp.coo_array((x.values().numpy(), tuple(x.indices().numpy())), shape=tuple(x.shape))


def _check_feature_type(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "biuf":
        raise GraphError(
            f"x must hold real numbers (bool, int or float), got dtype {dtype}: encode text and categories as numbers "
            "first, and drop columns such as ids"
        )


def _check_feature_shape(shape: tuple[int, ...], node_ids: Sequence[Hashable]) -> None:
    if len(shape) != 2:
        raise GraphError(f"x must have shape (nodes, features), got {len(shape)} dimensions: {shape}")
    if shape[0] != len(node_ids):
        raise GraphError(f"x must have one row per node: {len(node_ids)} nodes, but {shape[0]} rows")
    if shape[1] == 0:
        raise GraphError("x has no columns: pass x=None for a graph without features")


def _raise_not_finite(row: int, column: int, value: Any, node_ids: Sequence[Hashable], dtype: np.dtype[Any]) -> None:
    shown = "NaN" if value != value else value  # as scikit-learn writes it
    what = f"{shown} is not a finite {dtype} number"
    raise GraphError(f"x, {name_node(row, node_ids)}, column {column}: {what}; impute or drop such nodes first")


def as_labels(y: Any, num_nodes: int) -> tuple[npt.NDArray[np.int64], tuple[Hashable, ...]]:
    """Return class codes (N,), -1 where unknown, and the caller's label of each code, sorted.

    The integer -1, NaN, None and the empty string mean unknown.
    """
    labels = as_array(y, "y")
    if getattr(getattr(y, "dtype", None), "kind", "O") == "f":
        labels = _with_nan_for_na(labels, y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (num_nodes,):
        raise GraphError(f"y must hold one label per node, shape ({num_nodes},), got shape {labels.shape}")
    if labels.dtype.kind == "f":
        known = np.isfinite(labels)
        whole = (labels == np.round(labels)) & (np.abs(labels) < 2.0**63)
        if not np.all(whole | np.isnan(labels)):
            raise GraphError("y must hold class labels, got floating-point values that are not whole numbers (int64)")
        labels = np.where(known, labels, -1).astype(np.int64)
    if labels.dtype.kind in "biu":
        known = labels != -1 if labels.dtype.kind == "i" else np.ones(num_nodes, dtype=bool)
        names, codes = np.unique(labels[known], return_inverse=True)
        result = np.full(num_nodes, -1, dtype=np.int64)
        result[known] = codes
        return frozen(result), tuple(names.tolist())
    if labels.dtype.kind not in "OUST":
        raise GraphError(f"y must hold integers or text, got dtype {labels.dtype}")
    values: list[Any] = labels.tolist()
    unknown = [is_missing(value) or value in ("", -1) for value in values]
    seen = {value for value, skip in zip(values, unknown, strict=True) if not skip}
    classes = sorted(seen) if len({type(value) for value in seen}) <= 1 else sorted(seen, key=str)
    code = {value: position for position, value in enumerate(classes)}
    coded = (-1 if skip else code[value] for value, skip in zip(values, unknown, strict=True))
    return frozen(np.fromiter(coded, np.int64, num_nodes)), tuple(classes)


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array itself, which nobody can write into any more."""
    array.setflags(write=False)
    return array


def as_node_ids(node_ids: Any) -> Sequence[Hashable]:
    """Return the ids as a range (0..N-1) or a tuple, after refusing missing, unhashable and duplicate ones."""
    if isinstance(node_ids, range) and node_ids == range(len(node_ids)):
        return node_ids
    if hasattr(node_ids, "detach"):
        node_ids = as_array(node_ids, "node_ids")
    is_integer_array = isinstance(node_ids, np.ndarray) and node_ids.dtype.kind in "iu"
    if is_integer_array and np.array_equal(node_ids, np.arange(len(node_ids))):
        return range(len(node_ids))
    ids: tuple[Any, ...] = tuple(node_ids.tolist() if hasattr(node_ids, "tolist") else node_ids)
    try:
        unique = len(set(ids))
    except TypeError:
        position = next(i for i, value in enumerate(ids) if not _is_hashable(value))
        raise GraphError(
            f"node ids must be hashable (text, numbers, tuples), got {type(ids[position]).__name__} "
            f"{ids[position]!r} at position {position}"
        ) from None
    for position, value in enumerate(ids):
        if is_missing(value):
            raise GraphError(f"the node id at position {position} is missing ({value}): give every node an id")
    if unique != len(ids):
        first: dict[Any, int] = {}
        for position, value in enumerate(ids):
            if value in first:
                raise GraphError(
                    f"node ids must be unique, but {value!r} is at positions {first[value]} and {position} "
                    f"({len(ids) - unique} duplicates in all)"
                )
            first[value] = position
    return ids


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def as_indices(values: Any, name: str) -> npt.NDArray[Any]:
    """Return node indices as an integer array of any width; an empty list of any type is fine."""
    array = as_array(values, name)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise GraphError(
            f"{name} must hold integer node indices, got dtype {array.dtype}; for other ids use from_edges"
        )
    return array


def as_edge_weight(
    weight: Any, num_entries: int, name: str = "edge_weight"
) -> tuple[npt.NDArray[np.floating[Any]], tuple[str, ...]]:
    """Return one float32 weight per entry, and notes; values are checked where edges can be named (:mod:`symmetrize`).

    Where all are so small that float32 would lose them, or digits of them, they are divided by the largest. Where one
    is too large for float32 they stay as they are, so that it can be told.
    """
    array = _with_nan_for_na(as_array(weight, name), weight)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.shape != (num_entries,):
        raise GraphError(f"{name} must hold one weight per edge, shape ({num_entries},), got shape {array.shape}")
    if array.size and array.dtype.kind not in "biuf":
        raise GraphError(f"{name} must hold real numbers, got dtype {array.dtype}")
    with np.errstate(over="ignore", under="ignore"):
        narrow = array.astype(np.float32)
        if not array.size or array.min() < 0:
            return narrow, ()
        largest = float(array.max())
        if 0 < largest < _SMALLEST_WEIGHT and not np.allclose(narrow, array, rtol=1e-6, atol=0):
            return (array / array.max()).astype(np.float32), (f"weights divided by the largest, {largest:.3g}",)
        return (array if largest < np.inf and np.isinf(narrow).any() else narrow), ()


def _with_nan_for_na(array: npt.NDArray[Any], value: Any) -> npt.NDArray[Any]:
    """Numbers with NaN for pandas' NA, which NumPy holds as objects."""
    if array.dtype == object and getattr(getattr(value, "dtype", None), "kind", "O") in "biuf":
        return np.asarray(value.to_numpy(dtype=np.float64, na_value=np.nan))
    return array
