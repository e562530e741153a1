"""What every pooling layer returns."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor

__all__ = ["PoolingOutput"]


@dataclass
class PoolingOutput:
    """Pooled graphs: of K clusters each, or of the nodes that Top-K and SAG keep.

    Attributes:
        x: (B, K, F) pooled features ``S^T X``; Top-K and SAG: (N', F) of the nodes kept.
        adj: (B, K, K) pooled adjacency, ``S^T A S`` unless the method changes it; None for Top-K and SAG.
        mask: (B, K) bool, valid clusters: all of them, also those that no node chose; None for Top-K and SAG.
        assignments: soft assignments S, (N, K) for sparse input, (B, N, K) for dense; None for Top-K and SAG.
        losses: scalars already multiplied by their coefficients; none for Top-K and SAG.
        edge_index: (2, E') edges between the nodes kept, for Top-K and SAG only.
        edge_weight: (E',) their weights, where edges have any.
        batch: (N',) graph of every node kept, for Top-K and SAG only.
        kept: (N',) which nodes of the input were kept, for Top-K and SAG only.

    """

    x: Tensor
    adj: Tensor | None = None
    mask: Tensor | None = None
    assignments: Tensor | None = None
    losses: dict[str, Tensor] = field(default_factory=dict)
    edge_index: Tensor | None = None
    edge_weight: Tensor | None = None
    batch: Tensor | None = None
    kept: Tensor | None = None
