"""The same three terms by three operators, for every backend."""

from __future__ import annotations

import torch
from torch import Tensor

from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops.asymmetric_norm import asymmetric_norm
from tvgnn.ops.total_variation import total_variation

__all__ = ["cheeger_cut_unfused"]


def cheeger_cut_unfused(
    logits: Tensor, adjacency: Adjacency, rho: float, backend: str
) -> tuple[Tensor, Tensor, Tensor]:
    """See `cheeger_cut`."""
    s = torch.softmax(logits, dim=1)
    variation = total_variation(s, adjacency, backend=backend).sum()
    return s, variation, asymmetric_norm(s, None, rho, backend=backend)[0]
