"""Pooling layers on one base."""

from tvgnn.pooling.asym_cheeger_cut import AsymCheegerCutPooling
from tvgnn.pooling.base import PoolingOutput

__all__ = ["AsymCheegerCutPooling", "PoolingOutput"]
