"""From what a caller passes to a graph, and to tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data
from torch import Tensor

from tvgnn.errors import GraphError
from tvgnn.estimators.feature_scaling import FeatureScaling
from tvgnn.estimators.quality.preparation import FeaturePreparation
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.feature_tensor import feature_tensor, nonzeros, with_chosen_features
from tvgnn.graph.features import StructuralKind
from tvgnn.graph.graph import Graph
from tvgnn.graph.knn import NeighborSettings
from tvgnn.graph.knn.join import with_neighbor_edges
from tvgnn.graph.locality import relabel_by_locality
from tvgnn.graph.row_labels import matrix_in_order, row_labels
from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.graph.validation import as_array, torch_to_scipy
from tvgnn.models.node_clustering import NodeClusteringConfig
from tvgnn.training.memory_estimate import training_bytes
from tvgnn.wording import setting

__all__ = [
    "GRAPH_MAKING",
    "NetworkInputs",
    "as_graph",
    "checked_rows",
    "given_graph",
    "joined",
    "neighbor_settings",
    "refuse_adjacency_as_labels",
    "refuse_graph_making",
    "refuse_other_graphs",
]

GRAPH_MAKING = {"mutual": False, "connect": False, "knn_weights": "connectivity"}
"""Parameters of `TVClustering` that only matter while a graph is made of rows, and their defaults."""


@dataclass(frozen=True, eq=False)
class NetworkInputs:
    """What the network reads, its nodes in the order in which it is fastest.

    Attributes:
        features: (N, F) dense or `SparseMatrix`.
        adjacency: of N nodes.
        places: (N,) where each node of the caller's graph stands, or None where its order was kept.

    """

    features: Tensor | SparseMatrix
    adjacency: Adjacency
    places: Tensor | None

    @classmethod
    def from_graph(cls, graph: Graph, x: Any, width: int, device: str, *, for_training: bool = True) -> Self:
        """Take a graph and its scaled features for layers of ``width`` columns; see `feature_tensor`."""
        adjacency = Adjacency.from_graph(graph)
        relabelled = relabel_by_locality(adjacency, width)
        if relabelled is None:
            return cls(feature_tensor(x, for_training=for_training).to(device), adjacency.to(device), None)
        features = feature_tensor(x[relabelled.nodes.numpy()], for_training=for_training)
        return cls(features.to(device), relabelled.adjacency.to(device), relabelled.places.to(device))

    def given_order(self, rows: Tensor) -> np.ndarray:
        """Rows (N, width) of a result in the order of the caller's graph."""
        return (rows if self.places is None else rows[self.places]).cpu().numpy()


def neighbor_settings(parameters: Mapping[str, Any]) -> NeighborSettings:
    """Take the parameters of `TVClustering` that make a graph of rows; those that are missing are its defaults.

    Raises:
        ValueError: one is out of range.

    """
    names = {"n_neighbors": "n_neighbors", "metric": "metric", "mutual": "mutual", "connect": "connect"}
    names["knn_weights"] = "weights"
    try:
        return NeighborSettings(**{names[name]: parameters[name] for name in names if name in parameters})
    except GraphError as error:
        raise ValueError(str(error).replace("weights must", "knn_weights must")) from None


def refuse_graph_making(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters of `TVClustering` that make a graph of rows where one is given; missing ones are defaults.

    Raises:
        ValueError: one of `GRAPH_MAKING` is not its default; or one that finds neighbours of new rows, where there can
            be none as the features are computed from the graph.

    """
    unused = dict(GRAPH_MAKING)
    if parameters.get("features") is not None:
        unused |= {"n_neighbors": 15, "metric": "euclidean"}
    for name, default in unused.items():
        value = parameters.get(name, default)
        if value != default:
            raise ValueError(
                f"expected {setting(name, default)} where a graph is given, got {value!r}, which makes a "
                "graph of rows; leave it out, or pass the features without a graph"
            )


def refuse_adjacency_as_labels(y: Any) -> None:
    """Refuse a graph or an adjacency where scikit-learn has labels, which are never looked at.

    Raises:
        ValueError: y is a `Graph`, a graph of networkx, or a square matrix of two or more nodes.

    """
    shape = tuple(getattr(y, "shape", ()))
    if isinstance(y, list | tuple) and y:
        shape = (len(y), *np.shape(y[0])[:1])
    square = len(shape) == 2 and shape[0] == shape[1] > 1
    if square or hasattr(y, "edges") or isinstance(y, Graph):
        what = f"a matrix of {shape[0]} x {shape[1]}" if square else f"a {type(y).__name__}"
        raise ValueError(
            f"expected labels, which are never looked at, or nothing as the second argument y, got {what}; pass an "
            "adjacency by its name: fit(X, adjacency=...)"
        )


def refuse_other_graphs(X: Any) -> None:
    """Refuse graphs of other packages and lists of graphs, with the way to one `Graph`.

    Raises:
        GraphError: X is such.

    """
    if isinstance(X, list | tuple) and X and (isinstance(X[0], Graph) or hasattr(X[0], "edge_index")):
        raise GraphError(
            f"expected one graph or rows of features, got {len(X)} graphs; fit one of them at a time, or "
            "TVGraphClassifier for classes of whole graphs"
        )
    name = "networkx" if hasattr(X, "nodes") and hasattr(X, "edges") else "pyg" if hasattr(X, "edge_index") else None
    if name is not None:
        features = ", features=[...]" if name == "networkx" else ""
        raise GraphError(
            f"expected a tvgnn.Graph or rows of features, got {type(X).__name__}; make one of it with "
            f"Graph.from_{name}(...{features})"
        )


def given_graph(X: Any, adjacency: Any, features: StructuralKind | None, n_clusters: int = 1) -> Graph | None:
    """Return the graph that a caller gives, with features, or None where X holds rows.

    Raises:
        ValueError: X, adjacency and features do not fit.
        GraphError: there are no features.

    """
    refuse_other_graphs(X)
    if isinstance(X, Graph):
        if adjacency is not None:
            raise ValueError("expected the adjacency inside the Graph, got adjacency too; pass one of them")
        return with_chosen_features(X, features, n_clusters=n_clusters)
    if X is None:
        if adjacency is None:
            raise ValueError("expected X, or X=None and an adjacency, got neither")
        return with_chosen_features(Graph.from_scipy(adjacency), features, n_clusters=n_clusters)
    if features is not None:
        raise ValueError(
            f"expected a graph without features for features={features!r} (a tvgnn.Graph, or X=None and adjacency), "
            "got rows of features"
        )
    return None


def checked_rows(estimator: BaseEstimator, X: Any, *, reset: bool) -> Any:
    """Rows of features as scikit-learn checks them; values that are not finite are left to `Graph`, which names them.

    Parameters:
        estimator: learns the number of features where ``reset``, else has to have learned the same.
        X: array-like, sparse matrix or tensor of shape (n_rows, n_features).
        reset: whether this is a fit.

    """
    x = detached(X)
    dtypes = _kept_dtypes(x)
    return validate_data(estimator, x, accept_sparse="csr", dtype=dtypes, ensure_all_finite=False, reset=reset)


def _kept_dtypes(x: Any) -> list[type[np.floating[Any]]]:
    """Types that scikit-learn leaves as they are, the first for others: float64 unless float32 holds them exactly."""
    kind = getattr(x, "dtype", None)
    narrow = isinstance(kind, np.dtype) and kind.kind in "biuf" and np.result_type(kind, np.float32) == np.float32
    return [np.float32, np.float64] if narrow else [np.float64, np.float32]


def as_graph(X: Any, adjacency: Any, parameters: Mapping[str, Any], n_clusters: int = 1) -> Graph:
    """Graph on which `TVClustering(n_clusters, **parameters).fit` trains, built once where many fits share it.

    Raises:
        ValueError: X and adjacency do not fit, or a parameter makes a graph of rows where one is given.
        GraphError: X holds no features or is not valid.

    """
    if adjacency is not None or X is None or isinstance(X, Graph):
        refuse_graph_making(parameters)
    graph = given_graph(X, adjacency, parameters.get("features"), n_clusters)
    if graph is not None:
        return graph
    rows = detached(X)
    x = check_array(rows, accept_sparse="csr", dtype=_kept_dtypes(rows), ensure_all_finite=False)
    if adjacency is not None:
        return Graph.from_scipy(matrix_in_order(adjacency, row_labels(X)), x=x)
    return joined(Graph.from_edge_index(np.empty((2, 0), np.int64), x=x), parameters)


def joined(nodes: Graph, parameters: Mapping[str, Any]) -> Graph:
    """Join nodes to the nearest ones in scaled features, as `TVClustering(**parameters).fit` does.

    Raises:
        ValueError: a parameter is out of range.
        GraphError: a metric is unknown, or does not go with sparse rows.

    """
    preparation = FeaturePreparation if parameters.get("preset") == "quality" else FeatureScaling
    scaled = preparation.fit(nodes.x, parameters.get("feature_norm", "auto")).transform(nodes.x)
    return with_neighbor_edges(nodes, scaled, neighbor_settings(parameters))


def estimated_bytes(graph: Graph, config: NodeClusteringConfig, memory: str, precision: str) -> int:
    """See `tvgnn.training.memory_estimate.training_bytes`."""
    return training_bytes(
        config,
        graph.num_nodes,
        graph.indices.size,
        nonzeros(graph.x),
        weighted=graph.is_weighted,
        memory=memory,
        precision=precision,
    )


def detached(X: Any) -> Any:
    """X, or where it is a tensor of any device, dtype and layout its values as an array or sparse matrix.

    Raises:
        GraphError: X has masked entries, which scikit-learn would take for values.

    """
    if isinstance(X, np.ma.MaskedArray):
        return as_array(X, "X")
    if not isinstance(X, Tensor):
        return X
    return as_array(X, "X") if X.layout == torch.strided else torch_to_scipy(X)
