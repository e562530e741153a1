"""Layers: the GTV convolution, sparse and dense, and the assignment MLP."""

from tvgnn.layers.by_rows import by_rows
from tvgnn.layers.dense_gtv_conv import DenseGTVConv
from tvgnn.layers.gtv_conv import GTVConv
from tvgnn.layers.mlp import assignment_mlp

__all__ = ["DenseGTVConv", "GTVConv", "assignment_mlp", "by_rows"]
