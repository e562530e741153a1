"""What each foreign format says, as plain arrays: :class:`tvgnn.Graph` validates and assembles them."""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tvgnn.errors import GraphError
from tvgnn.graph.row_labels import in_order, matrix_in_order, row_labels
from tvgnn.graph.symmetrize import Symmetry
from tvgnn.graph.validation import as_array, as_edge_weight, as_indices, as_node_ids, is_missing, torch_to_scipy
from tvgnn.wording import setting

__all__ = [
    "EDGE_ATTRIBUTES_UNUSED",
    "Y_UNUSED",
    "RawGraph",
    "graph_label",
    "read_edge_index",
    "read_edge_table",
    "read_networkx",
    "read_pyg",
    "read_scipy",
    "resolved",
]

EDGE_ATTRIBUTES_UNUSED = "edge_attr is not used: pass scalar weights as edge_weight"
Y_UNUSED = "y is not used"


@dataclass(frozen=True)
class RawGraph:
    """Directed entries and attributes before any policy is applied; ``weight`` None means unweighted."""

    source: npt.NDArray[Any]
    target: npt.NDArray[Any]
    weight: npt.NDArray[np.floating[Any]] | None = None
    symmetry: Symmetry = "directed"
    num_zero_weights: int = 0
    num_nodes: int | None = None
    node_ids: Iterable[Any] | None = None
    x: Any = None
    y: Any = None
    notes: tuple[str, ...] = ()


def resolved(raw: RawGraph) -> tuple[RawGraph, Sequence[Hashable]]:
    """Find the ids, see `resolve_node_ids`, and put labelled rows of x and y into their order; y like x without ids."""
    ids = resolve_node_ids(raw)
    named = None if isinstance(ids, range) else ids
    x = in_order(raw.x, named)
    return replace(raw, x=x, y=in_order(raw.y, named or row_labels(x))), ids


def resolve_node_ids(raw: RawGraph) -> Sequence[Hashable]:
    """Find N and the ids; every source of N that is given must agree."""
    ids = None if raw.node_ids is None else as_node_ids(raw.node_ids)
    rows = None if raw.x is None else _num_rows(raw.x)
    given = {"num_nodes": raw.num_nodes, "rows of x": rows, "node_ids": None if ids is None else len(ids)}
    if raw.num_nodes is not None and not hasattr(raw.num_nodes, "__index__"):
        raise GraphError(f"num_nodes must be an integer, got {raw.num_nodes!r}")
    known = {name: int(size) for name, size in given.items() if size is not None}
    if len(set(known.values())) > 1:
        listed = ", ".join(f"{name}: {size}" for name, size in known.items())
        raise GraphError(f"the numbers of nodes must agree, got {listed}")
    if known:
        size = next(iter(known.values()))
    else:
        size = 1 + max((int(part.max()) for part in (raw.source, raw.target) if len(part)), default=-1)
    if size < 1:
        raise GraphError("a graph needs at least one node, got none: pass num_nodes or x for a graph without edges")
    return range(size) if ids is None else ids


def _num_rows(x: Any) -> int:
    if hasattr(x, "shape") and len(x.shape):
        return int(x.shape[0])
    if not hasattr(x, "__len__") or hasattr(x, "shape"):
        raise GraphError(f"x must be an array of shape (nodes, features), got {x!r}")
    return len(x)


def read_edge_index(edge_index: Any, edge_weight: Any = None, **attributes: Any) -> RawGraph:
    """Read a (2, M) array or tensor of directed entries."""
    index = as_indices(edge_index, "edge_index")
    if index.ndim != 2 or index.shape[0] != 2:
        hint = "; pass its transpose" if index.ndim == 2 and index.shape[1] == 2 else ""
        raise GraphError(f"edge_index must have shape (2, edges), got {index.shape}{hint}")
    weight, notes = (None, ()) if edge_weight is None else as_edge_weight(edge_weight, index.shape[1])
    attributes["notes"] = (*attributes.get("notes", ()), *notes)
    return RawGraph(index[0], index[1], weight, **attributes)


def read_scipy(adjacency: Any, **attributes: Any) -> RawGraph:
    """Read a square sparse matrix or dense array; one that stores only ones (and zeros) is unweighted."""
    if hasattr(adjacency, "nodes") and hasattr(adjacency, "edges"):
        raise GraphError(
            f"adjacency must be a matrix, got {type(adjacency).__name__}; build a graph with Graph.from_networkx"
        )
    if hasattr(adjacency, "adjacency") and hasattr(adjacency, "node_ids"):
        raise GraphError("adjacency must be a matrix, got a Graph; pass graph.adjacency(), or fit the graph itself")
    if attributes.get("node_ids") is not None:
        attributes["node_ids"] = as_node_ids(attributes["node_ids"])
    adjacency = matrix_in_order(adjacency, attributes.get("node_ids") or row_labels(attributes.get("x")))
    attributes["y"] = in_order(attributes.get("y"), row_labels(adjacency))
    if "sparse" in str(getattr(adjacency, "layout", "")):
        adjacency = torch_to_scipy(adjacency)
    matrix = adjacency if sp.issparse(adjacency) else as_array(adjacency, "adjacency")
    if matrix.ndim == 0:
        raise GraphError(f"adjacency must be a matrix, got {type(adjacency).__name__}")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"adjacency must be square, got shape {tuple(matrix.shape)}")
    if matrix.dtype.kind not in "biuf":
        raise GraphError(f"adjacency must hold real numbers, got dtype {matrix.dtype}")
    # scipy lacks float16 and foreign byte orders
    dtype = np.dtype(np.float32) if matrix.dtype == np.float16 else matrix.dtype.newbyteorder("=")
    entries = sp.coo_array(matrix.astype(dtype, copy=False))
    (source, target), weight = entries.coords, entries.data
    keep = weight != 0
    num_zero_weights = len(weight) - int(np.count_nonzero(keep))
    if num_zero_weights:
        source, target, weight = source[keep], target[keep], weight[keep]
    notes: tuple[str, ...] = ()
    if weight.dtype == bool or bool((weight == 1).all()):
        weight = None
    else:
        weight, notes = as_edge_weight(weight, len(source), "adjacency")
    size = matrix.shape[0]
    return RawGraph(
        source, target, weight, num_nodes=size, num_zero_weights=num_zero_weights, notes=notes, **attributes
    )


def read_edge_table(
    source: Any, target: Any, weight: Any = None, *, directed: bool = False, node_ids: Any = None, **attributes: Any
) -> RawGraph:
    """Read two columns of node ids of any hashable type.

    The node order is that of ``node_ids``; else 0..N-1 where ``x`` is given (its rows are then the nodes); else
    ascending where all ids are integers; else the order of first appearance.
    """
    sources, targets = _as_column(source, "source"), _as_column(target, "target")
    num_edges = len(sources)
    if len(targets) != num_edges:
        raise GraphError(f"source and target must have the same length, got {num_edges} and {len(targets)} rows")
    values, attributes["notes"] = (None, ()) if weight is None else as_edge_weight(weight, num_edges, "weight")
    symmetry: Symmetry = "directed" if directed else "listed"
    integers = isinstance(sources, np.ndarray) and isinstance(targets, np.ndarray)
    ids: Sequence[Hashable]
    if node_ids is not None:
        ids = as_node_ids(node_ids)
    elif attributes.get("x") is not None:
        ids = range(_num_rows(attributes["x"]))
        if num_edges and not integers:
            raise GraphError(
                "x is given, but the edges name nodes by ids that are not integers: pass node_ids, one id per row of "
                "x, of a data frame for example x.index"
            )
    elif isinstance(sources, np.ndarray) and isinstance(targets, np.ndarray):
        found = unique_integers(np.concatenate([unique_integers(sources), unique_integers(targets)]))
        ids = as_node_ids(found)
        ends = [np.searchsorted(found, column) for column in (sources, targets)]
        return RawGraph(ends[0], ends[1], values, symmetry, node_ids=ids, **attributes)
    else:
        ids, ends = _first_appearance(sources, targets)
        return RawGraph(ends[0], ends[1], values, symmetry, node_ids=ids, **attributes)
    attributes |= {name: in_order(attributes.get(name), ids) for name in ("x", "y")}  # edges name 0..N-1 as well
    if integers and isinstance(ids, range):
        return RawGraph(np.asarray(sources), np.asarray(targets), values, symmetry, node_ids=ids, **attributes)
    position = {node_id: index for index, node_id in enumerate(ids)}
    ends = [_look_up(sources, position, "source"), _look_up(targets, position, "target")]
    return RawGraph(ends[0], ends[1], values, symmetry, node_ids=ids, **attributes)


def unique_integers(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the sorted distinct integers, without sorting all of them where their range is short."""
    if not len(values):
        return values
    low, high = int(values.min()), int(values.max())
    if high - low > 4 * len(values) + 1024:
        return np.unique(values)
    seen = np.zeros(high - low + 1, dtype=bool)
    seen[values - low] = True
    return np.flatnonzero(seen) + low


def _as_column(values: Any, name: str) -> npt.NDArray[Any] | list[Any]:
    """Return integers as an array and any other ids as a list: NumPy would turn ``["a", 1]`` into text."""
    if hasattr(values, "detach"):
        values = as_array(values, name)
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if not hasattr(values, "dtype"):
        values = list(values)
        integers = all(issubclass(kind, int | np.integer) and kind is not bool for kind in set(map(type, values)))
        if values and integers and min(values) >= -(2**63) and max(values) < 2**63:
            values = np.asarray(values, dtype=np.int64)
    if hasattr(values, "dtype"):
        if values.ndim != 1:
            raise GraphError(f"{name} must be one column of node ids, got shape {values.shape}")
        if values.dtype.kind in "iu" and (values.dtype != np.uint64 or not (values >> np.uint64(63)).any()):
            return np.asarray(values, dtype=np.int64)  # one width, so that no later difference can overflow
        values = values.tolist()
    return list(values)


class _Positions(dict[Hashable, int]):
    """Number ids as they are first looked up."""

    def __missing__(self, node_id: Hashable) -> int:
        self[node_id] = position = len(self)
        return position


def _first_appearance(
    sources: Iterable[Any], targets: Iterable[Any]
) -> tuple[Sequence[Hashable], list[npt.NDArray[np.int64]]]:
    """Number the ids row by row, in one pass; return them and both columns of indices."""
    positions = _Positions()
    in_order = chain.from_iterable(zip(sources, targets, strict=True))
    try:
        indices = np.fromiter(map(positions.__getitem__, in_order), np.int64)
    except TypeError as error:
        raise GraphError(f"node ids must be hashable (text, numbers, tuples): {error}") from None
    for node_id, position in positions.items():
        if is_missing(node_id):
            row, column = divmod(int(np.argmax(indices == position)), 2)
            name = ("source", "target")[column]
            raise GraphError(f"{name} row {row}: the node id is missing ({node_id}); drop such rows")
    return tuple(positions), [indices[::2], indices[1::2]]


def _look_up(column: npt.NDArray[Any] | list[Any], position: dict[Hashable, int], name: str) -> npt.NDArray[np.int64]:
    values = column.tolist() if isinstance(column, np.ndarray) else column
    try:
        return np.fromiter(map(position.__getitem__, values), np.int64, len(values))
    except KeyError:
        row = next(row for row, value in enumerate(values) if value not in position)
        raise GraphError(f"{name} row {row} names node {values[row]!r}, which is not among the node ids") from None
    except TypeError as error:
        raise GraphError(f"{name}: node ids must be hashable (text, numbers, tuples): {error}") from None


def read_networkx(
    graph: Any, features: str | Sequence[str] | None = None, label: str | None = None, weight: str | None = "weight"
) -> RawGraph:
    """Read a networkx graph of any of its four classes; node ids and their order are kept.

    The graph is unweighted where no edge has the attribute ``weight`` (or it is None).
    """
    node_ids = list(graph.nodes)
    position = {node_id: index for index, node_id in enumerate(node_ids)}
    edges = list(graph.edges(data=weight if weight is not None else False))
    source = np.fromiter((position[edge[0]] for edge in edges), np.int64, len(edges))
    target = np.fromiter((position[edge[1]] for edge in edges), np.int64, len(edges))
    values, notes = None, tuple[str, ...]()
    if weight is not None and any(edge[2] is not None for edge in edges):
        missing = [edge[:2] for edge in edges if edge[2] is None]
        if missing:
            raise GraphError(
                f"edge attribute {weight!r} is missing on {len(missing)} of {len(edges)} edges, first "
                f"{_first_few(missing)}: set it on all edges, or pass {setting('weight', None)} to ignore it"
            )
        values, notes = as_edge_weight([edge[2] for edge in edges], len(edges), f"edge attribute {weight!r}")
    x = None
    if features is not None:
        names = [features] if isinstance(features, str) else list(features)
        x = np.hstack([_feature_columns(_attribute(graph, name), name) for name in names]) if names else None
    y = None if label is None else _attribute(graph, label)
    symmetry: Symmetry = "directed" if graph.is_directed() else "listed"
    return RawGraph(source, target, values, symmetry, node_ids=node_ids, x=x, y=y, notes=notes)


def _attribute(graph: Any, name: str) -> list[Any]:
    values = [(node, data.get(name)) for node, data in graph.nodes(data=True)]
    missing = [node for node, value in values if value is None]
    if missing:
        raise GraphError(
            f"node attribute {name!r} is missing on {len(missing)} of {len(values)} nodes, first {_first_few(missing)}"
        )
    return [value for _, value in values]


def _feature_columns(values: list[Any], name: str) -> npt.NDArray[Any]:
    if any(isinstance(value, str) for value in values):
        raise GraphError(f"node attribute {name!r} holds text: encode it as numbers; a class is a label, no feature")
    columns = as_array(values, f"node attribute {name!r}")
    return columns.reshape(len(values), -1)


def _first_few(values: list[Any]) -> str:
    return ", ".join(map(repr, values[:5])) + (", ..." if len(values) > 5 else "")


def graph_label(y: Any) -> Any:
    """What a ``y``, a tensor, array, list or plain value, says of the whole graph: its one entry, or a tuple of several
    in one row (1, T), as PyTorch Geometric has it; None where it says nothing.
    """
    shape = _shape(y)
    if y is None or (math.prod(shape) != 1 and not _is_row(shape)):
        return None
    if isinstance(y, list | tuple):
        return y[0]
    if math.prod(shape) == 1:
        return y.item() if hasattr(y, "item") else y
    return tuple(y[0].tolist())


def _shape(y: Any) -> tuple[int, ...]:
    return tuple(y.shape) if hasattr(y, "shape") else (len(y),) if isinstance(y, list | tuple) else ()


def _is_row(shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 and shape[0] == 1 and shape[1] > 1


def read_pyg(data: Any) -> RawGraph:
    """Read a ``torch_geometric.data.Data`` of one homogeneous graph.

    ``edge_attr`` is not used, and ``y`` only where it has one entry per node (or one entry or row for the graph, which
    the caller reads); notes say so.
    """
    if hasattr(data, "node_types"):
        raise GraphError("expected a homogeneous Data, got HeteroData: convert it with data.to_homogeneous()")
    if getattr(data, "edge_index", None) is None:
        raise GraphError("the Data object has no edge_index: build it without ToSparseTensor, or use from_features")
    x = getattr(data, "x", None)
    if x is not None and x.ndim == 2 and x.shape[1] == 0:
        x = None
    # without an explicit num_nodes PyG would guess it from the edges, with a warning
    num_nodes = data.num_nodes if x is None or "num_nodes" in data else int(x.shape[0])
    notes: tuple[str, ...] = ()
    if getattr(data, "edge_attr", None) is not None:
        notes += (EDGE_ATTRIBUTES_UNUSED,)
    y = getattr(data, "y", None)
    shape = _shape(y)
    if y is not None and (shape[:1] != (num_nodes,) or math.prod(shape) != num_nodes):
        if math.prod(shape) != 1 and not _is_row(shape):
            notes += (
                f"{Y_UNUSED}: its shape {shape} is neither (nodes,), nor (1,) or (1, targets) of the whole graph",
            )
        y = None
    weight = getattr(data, "edge_weight", None)
    return read_edge_index(data.edge_index, weight, num_nodes=num_nodes, x=x, y=y, notes=notes)
