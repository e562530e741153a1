"""Sparse features times a dense weight."""

from tvgnn.ops.sparse_linear.op import sparse_linear
from tvgnn.ops.sparse_linear.reference import sparse_linear_reference

__all__ = ["sparse_linear", "sparse_linear_reference"]
