"""Features of a graph as a network reads them: dense, or sparse where that is faster."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from tvgnn.errors import GraphError
from tvgnn.graph.features import StructuralKind
from tvgnn.graph.graph import Graph
from tvgnn.graph.sparse_matrix import SparseMatrix

__all__ = ["feature_tensor", "nonzeros", "require_features", "with_chosen_features"]

# Above this share of non-zeros the first product is faster dense (see benchmarks, `operators`).
_SPARSE_DENSITY = 0.2


def require_features(graph: Graph) -> Graph:
    """Return the graph if it has features, else explain the choices."""
    if graph.x is None:
        raise GraphError(
            "expected node features, got a graph without; pass features, or choose some that are computed from the "
            "edges, in TVClustering(features=...) or graph.with_structural_features(...): 'spectral' for communities "
            "(try it first), 'degree' for nodes of like degree, 'ones' for a comparison only, as it makes all nodes "
            "of a component alike"
        )
    return graph


def with_chosen_features(
    graph: Graph, kind: StructuralKind | None, like: Graph | None = None, *, n_clusters: int = 1
) -> Graph:
    """Return the graph with features: its own where ``kind`` is None, else structural ones of that kind.

    Parameters
    ----------
    graph
        With features, or without where ``kind`` chooses some.
    kind
        ``"spectral"``, ``"degree"``, ``"ones"`` or None.
    like
        The graph that a model was trained on, features included, where it is to read this one.
    n_clusters
        How many clusters features shall tell apart, without ``like``.

    Raises
    ------
    GraphError
        There are no features, or two kinds of them; an unknown kind; spectral features of another graph than ``like``,
        whose coordinates mean something else.
    """
    if kind is None:
        return require_features(graph)
    if graph.x is not None and graph is not like:
        raise GraphError(
            f"expected one kind of features, got features={kind!r} and a graph that has some; leave features=None, "
            "or pass graph.with_features(None)"
        )
    if like is None:
        return graph.with_structural_features(kind, n_clusters=n_clusters)
    if graph is like:
        return graph
    same = all(np.array_equal(getattr(graph, part), getattr(like, part)) for part in ("indptr", "indices", "weights"))
    if same:
        return graph.with_features(like.x)
    if kind == "spectral":
        raise GraphError(
            "expected the graph that was fitted, got another: the columns of features='spectral' have a meaning in "
            "one graph only; fit the graphs together, or take features='degree'"
        )
    return graph.with_structural_features(kind, like.num_features)


def nonzeros(x: Any) -> int | None:
    """Stored entries of features (N, F) that the network reads as sparse, None where it reads them as dense."""
    return int(x.nnz) if sp.issparse(x) and x.nnz <= _SPARSE_DENSITY * x.shape[0] * x.shape[1] else None


def feature_tensor(x: Any, *, for_training: bool = True) -> Tensor | SparseMatrix:
    """Features (N, F) as a dense float32 tensor or, where few entries are non-zero, as a `SparseMatrix`.

    Only where weights that x is multiplied by are trained it needs lists of its columns, which take a sort.
    """
    if nonzeros(x) is None:
        return torch.tensor(x.toarray() if sp.issparse(x) else np.asarray(x), dtype=torch.float32)
    values = torch.tensor(x.data, dtype=torch.float32)
    lists = torch.tensor(x.indptr), torch.tensor(x.indices), values
    return SparseMatrix.from_csr(*lists, x.shape[1], for_training=for_training)
