"""ABL3: the paper's network with the ratio that its loss replaces."""

from __future__ import annotations

import torch
from torch import Tensor

from tvgnn.baselines._networks import GTVClusterer
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph
from tvgnn.graph.grouping import Grouping
from tvgnn.pooling.base import DensePooling

__all__ = ["RelaxedRatio", "RelaxedRatioPooling", "relaxed_ratio_loss"]

_SMALLEST = 1e-6  # of a denominator per node; a constant column has 0 / 0


def relaxed_ratio_loss(assignments: Tensor, adjacency: Adjacency) -> Tensor:
    """``sum_k ||s_k||_GTV / ||s_k - quant_k||_{1,rho}`` with ``rho = K - 1`` (paper, the relaxation of sec. 2.2).

    ``||s_k||_GTV`` sums ``a_ij |s_ik - s_jk|`` over ordered pairs; ``quant_k`` is the (q + 1)-th largest entry,
    ``q = floor(N / K)``. A denominator counts at least 1e-6 N. One cluster gives 0. Takes O(E K).

    Parameters:
        assignments: (N, K) floating point.
        adjacency: N nodes.

    Returns:
        Scalar.

    """
    nodes, clusters = assignments.shape
    if clusters <= 1:
        return assignments.sum() * 0
    rows, columns = adjacency.rows(), adjacency.indices.long()
    # index_select, whose gradient is one sum in a fixed order
    steps = (assignments.index_select(0, rows) - assignments.index_select(0, columns)).abs()
    variation = (adjacency.weights(steps.dtype)[:, None] * steps).sum(0)
    largest_first = torch.sort(assignments, dim=0, descending=True, stable=True).values
    difference = assignments - largest_first[min(nodes // clusters, nodes - 1)]
    norm = ((clusters - 1) * difference.clamp(min=0) + (-difference).clamp(min=0)).sum(0)
    return (variation / norm.clamp(min=_SMALLEST * nodes)).sum()


class RelaxedRatioPooling(DensePooling):
    """Assignments that minimise `relaxed_ratio_loss`; parameters as of `DensePooling`. For one graph at a time."""

    def auxiliary_losses(self, assignments: Tensor, adjacency: Adjacency, groups: Grouping) -> dict[str, Tensor]:
        """``ratio`` of a single graph."""
        return {"ratio": relaxed_ratio_loss(assignments, adjacency)}


class RelaxedRatio(GTVClusterer):
    """GTVConv layers trained on the relaxed asymmetric Cheeger cut itself instead of TVGNN's sum of two losses.

    Not in the paper, which states the ratio in sec. 2 (after Bresson et al., NIPS 2013) and replaces it by the sum in
    sec. 3. Parameters, attributes and errors: see `GTVClusterer` and `PooledClusterer`.

    """

    def _pool(self, widths: list[int], graph: Graph) -> RelaxedRatioPooling:
        return RelaxedRatioPooling(self.n_clusters, widths)
