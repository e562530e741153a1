"""Pooling layers on one base, and those that keep nodes."""

from tvgnn.pooling.asym_cheeger_cut import AsymCheegerCutPooling
from tvgnn.pooling.diffpool import DiffPooling
from tvgnn.pooling.output import PoolingOutput
from tvgnn.pooling.sparse import SAGPooling, TopKPooling
from tvgnn.pooling.spectral import DMoNPooling, MinCutPooling

__all__ = [
    "AsymCheegerCutPooling",
    "DMoNPooling",
    "DiffPooling",
    "MinCutPooling",
    "PoolingOutput",
    "SAGPooling",
    "TopKPooling",
]
