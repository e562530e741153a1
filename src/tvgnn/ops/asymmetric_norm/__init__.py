"""Asymmetric L1 norm of each column around its quantile."""

from tvgnn.ops.asymmetric_norm.op import asymmetric_norm
from tvgnn.ops.asymmetric_norm.reference import asymmetric_norm_reference

__all__ = ["asymmetric_norm", "asymmetric_norm_reference"]
