"""The asymmetric norm around a quantile in plain torch."""

from __future__ import annotations

import math

import torch
from torch import Tensor

__all__ = ["asymmetric_norm_reference", "quantile_rank"]


def quantile_rank(nodes: int, rho: float) -> int:
    """How many values of a column of ``nodes`` are larger than its rho-quantile: ``floor(N / (rho + 1))``, below N."""
    return min(math.floor(nodes / (rho + 1)), nodes - 1)


def asymmetric_norm_reference(s: Tensor, graph_ptr: Tensor, rho: float) -> Tensor:
    """``sum_k sum_i |s_ik - quant_k|_rho`` of each graph (paper, eq. 5 and 12), shape (B,); an empty graph gives 0."""
    norms = []
    for first, last in zip(graph_ptr[:-1].tolist(), graph_ptr[1:].tolist(), strict=True):
        part = s[first:last]
        if first == last:
            norms.append(part.sum())  # a zero that keeps the connection to s
            continue
        # Stable, so that among equal values the first node by index holds the quantile.
        order = torch.sort(part, dim=0, descending=True, stable=True).indices
        value = part.gather(0, order)[quantile_rank(last - first, rho)]
        holder = (part == value).to(torch.uint8).argmax(0, keepdim=True)
        difference = part - part.gather(0, holder)
        norms.append(torch.where(difference >= 0, rho * difference, -difference).sum())
    return torch.stack(norms) if norms else s[:0, :0].sum(1)
