"""Operators: one folder each, with the plain torch reference beside the fast kernels."""

from tvgnn.ops._backends import select_backend
from tvgnn.ops.asymmetric_norm import asymmetric_norm
from tvgnn.ops.gtv_step import gtv_step
from tvgnn.ops.sparse_linear import sparse_linear
from tvgnn.ops.total_variation import total_variation

__all__ = ["asymmetric_norm", "gtv_step", "select_backend", "sparse_linear", "total_variation"]
