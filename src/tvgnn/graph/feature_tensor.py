"""Features of a graph as a network reads them: dense, or sparse where that is faster."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from tvgnn.errors import GraphError
from tvgnn.graph.graph import Graph
from tvgnn.graph.sparse_matrix import SparseMatrix

__all__ = ["feature_tensor", "nonzeros", "require_features"]

# Above this share of non-zeros the first product is faster dense (see benchmarks, `operators`).
_SPARSE_DENSITY = 0.2


def require_features(graph: Graph) -> Graph:
    """Return the graph if it has features, else explain the choices."""
    if graph.x is None:
        raise GraphError(
            "expected node features, got a graph without; pass features, or choose structural ones explicitly: "
            "graph.with_structural_features('spectral'), 'degree' or 'ones'"
        )
    return graph


def nonzeros(x: Any) -> int | None:
    """Stored entries of features (N, F) that the network reads as sparse, None where it reads them as dense."""
    return int(x.nnz) if sp.issparse(x) and x.nnz <= _SPARSE_DENSITY * x.shape[0] * x.shape[1] else None


def feature_tensor(x: Any) -> Tensor | SparseMatrix:
    """Features (N, F) as a dense float32 tensor or, where few entries are non-zero, as a `SparseMatrix`."""
    if nonzeros(x) is None:
        return torch.tensor(x.toarray() if sp.issparse(x) else np.asarray(x), dtype=torch.float32)
    values = torch.tensor(x.data, dtype=torch.float32)
    return SparseMatrix.from_csr(torch.tensor(x.indptr), torch.tensor(x.indices), values, x.shape[1])
