"""Node-wise total variation of assignments or features."""

from tvgnn.ops.total_variation.op import total_variation
from tvgnn.ops.total_variation.reference import total_variation_reference

__all__ = ["total_variation", "total_variation_reference"]
