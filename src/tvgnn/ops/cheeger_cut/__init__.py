"""Softmax, total variation and asymmetric norm of one graph in one pass."""

from tvgnn.ops.cheeger_cut.op import cheeger_cut
from tvgnn.ops.cheeger_cut.reference import cheeger_cut_unfused

__all__ = ["cheeger_cut", "cheeger_cut_unfused"]
