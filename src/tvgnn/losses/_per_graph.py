"""What every loss does alike: check the assignments and average over the graphs of a batch."""

from __future__ import annotations

import torch
from torch import Tensor

from tvgnn.errors import GraphError
from tvgnn.graph.grouping import Grouping

__all__ = ["checked", "mean_of_ratios", "mean_over_nodes", "positive_or_one"]


def checked(assignments: Tensor) -> Tensor:
    """Assignments (N, K) in float32 or float64: sums over a graph saturate or overflow in half precision."""
    if not isinstance(assignments, Tensor) or not assignments.is_floating_point():
        got = assignments.dtype if isinstance(assignments, Tensor) else type(assignments).__name__
        raise GraphError(f"expected assignments to be a floating-point tensor, got {got}; convert it with .float()")
    if assignments.dim() != 2:
        raise GraphError(f"expected assignments of shape (N, K), got {tuple(assignments.shape)}")
    return assignments if assignments.dtype == torch.float64 else assignments.float()


def positive_or_one(denominator: Tensor) -> Tensor:
    """The denominator where it is positive, else 1, so that value and gradient of 0 / 0 are 0.

    Numbers too small to have a finite reciprocal count as 0.
    """
    return torch.where(denominator >= torch.finfo(denominator.dtype).tiny, denominator, 1)


def mean_of_ratios(numerator: Tensor, denominator: Tensor, groups: Grouping) -> Tensor:
    """Mean over the graphs of (sum of ``numerator``) / (sum of ``denominator``), both (N,), where 0 / 0 counts 0."""
    if groups.size == 0:
        return numerator.sum()
    return (groups.sum(numerator) / positive_or_one(groups.sum(denominator))).mean()


def mean_over_nodes(values: Tensor, groups: Grouping) -> Tensor:
    """Mean over the graphs of the mean of ``values`` (N,) over each graph's nodes; an empty graph counts 0."""
    return mean_of_ratios(values, torch.ones_like(values), groups)
