"""Pooling by relaxed spectral clustering: MinCutPool and DMoN."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from tvgnn.graph.adjacency import Adjacency, inverse_roots
from tvgnn.graph.grouping import Grouping
from tvgnn.losses import collapse_loss, mincut_loss, modularity_loss, normalized_adjacency, orthogonality_loss
from tvgnn.pooling.base import DensePooling

__all__ = ["DMoNPooling", "MinCutPooling"]


_WEAKEST = 1e-30  # the gradients of a smaller degree, relative to the largest entry, overflow float32


def _without_diagonal_normalized(adj: Tensor) -> Tensor:
    """``D^-1/2 A D^-1/2`` of adjacencies (B, K, K) whose diagonal is set to zero first."""
    diagonal = torch.eye(adj.shape[-1], dtype=torch.bool, device=adj.device)
    adj = adj.masked_fill(diagonal, 0)
    # the result does not depend on the scale of the adjacency, nor on that of a row and its column, but the slope of a
    # root of 1e-30, which a cluster that few nodes want may have for a degree, is no float32; powers of 2 round nothing
    size = adj.detach().abs().amax((1, 2), keepdim=True)
    adj = adj * _power_of_two(-torch.frexp(size).exponent, adj) * (size >= torch.finfo(adj.dtype).tiny)
    degrees = adj.detach().sum(-1)
    scale = _power_of_two(-(torch.frexp(degrees).exponent // 2), adj) * (degrees >= _WEAKEST)
    roots = inverse_roots((adj * scale[:, :, None]).sum(-1) * scale)
    adj = adj * scale[:, :, None] * scale[:, None, :]
    return adj * roots[:, :, None] * roots[:, None, :]


def _power_of_two(exponent: Tensor, like: Tensor) -> Tensor:
    return torch.exp2(exponent.clamp(-100, 100).to(like.dtype))


class MinCutPooling(DensePooling):
    """Pool by assignments that minimise the relaxed normalised cut (Bianchi et al., ICML 2020).

    The objective is ``mincut_coeff * L_c + orthogonality_coeff * L_o`` (the paper's eq. 8). The pooled adjacency
    ``S^T D^-1/2 A D^-1/2 S`` loses its diagonal and is divided by the roots of its degrees, as in its paper.

    Parameters:
        k: number of clusters, an upper bound: some may stay empty.
        mlp_channels: input width, then the widths of the hidden layers.
        mlp_activation: activation between the layers, as in `GTVConv`.
        bias: whether the MLP's linear layers have one.
        mincut_coeff: weight of the cut loss.
        orthogonality_coeff: weight of the orthogonality loss.
        backend: see `select_backend`.
        low_memory: keep nothing of what lies inside the MLP for the backward pass, see `DensePooling`.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> pool = MinCutPooling(2, [3, 8])
        >>> path = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> out = pool(torch.randn(4, 3), path)
        >>> out.adj.shape, sorted(out.losses)
        (torch.Size([1, 2, 2]), ['mincut', 'orthogonality'])

    """

    def __init__(
        self,
        k: int,
        mlp_channels: Sequence[int],
        mlp_activation: str | Callable[[Tensor], Tensor] | None = "relu",
        bias: bool = True,
        mincut_coeff: float = 1.0,
        orthogonality_coeff: float = 1.0,
        *,
        backend: str = "auto",
        low_memory: bool = False,
    ) -> None:
        super().__init__(k, mlp_channels, mlp_activation, bias, backend=backend, low_memory=low_memory)
        self.mincut_coeff, self.orthogonality_coeff = mincut_coeff, orthogonality_coeff

    def auxiliary_losses(self, assignments: Tensor, adjacency: Adjacency, groups: Grouping) -> dict[str, Tensor]:
        """``mincut`` and ``orthogonality``, each times its coefficient."""
        cut = mincut_loss(assignments, adjacency, batch=groups, backend=self.backend)
        orthogonality = orthogonality_loss(assignments, groups)
        return {"mincut": self.mincut_coeff * cut, "orthogonality": self.orthogonality_coeff * orthogonality}

    def coarsened(self, adjacency: Adjacency) -> Adjacency:
        """``D^-1/2 A D^-1/2``."""
        return normalized_adjacency(adjacency, next(self.mlp.parameters()).dtype)

    def rescale(self, pooled: Tensor) -> Tensor:
        """Adjacencies (B, K, K) without diagonal, divided by the roots of their degrees."""
        return _without_diagonal_normalized(pooled)


class DMoNPooling(DensePooling):
    """Pool by assignments of high modularity (Tsitsulin et al., JMLR 2023).

    The objective is ``modularity_coeff * L_m + collapse_coeff * L_r`` (the paper's eq. 9). The pooled adjacency
    ``S^T A S`` loses its diagonal and is divided by the roots of its degrees.

    Parameters:
        k: number of clusters, an upper bound: some may stay empty.
        mlp_channels: input width, then the widths of the hidden layers.
        mlp_activation: activation between the layers, as in `GTVConv`.
        bias: whether the MLP's linear layers have one.
        modularity_coeff: weight of the modularity loss.
        collapse_coeff: weight of the collapse loss.
        backend: see `select_backend`.
        low_memory: keep nothing of what lies inside the MLP for the backward pass, see `DensePooling`.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> pool = DMoNPooling(2, [3, 8])
        >>> path = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> sorted(pool(torch.randn(4, 3), path).losses)
        ['collapse', 'modularity']

    """

    def __init__(
        self,
        k: int,
        mlp_channels: Sequence[int],
        mlp_activation: str | Callable[[Tensor], Tensor] | None = "relu",
        bias: bool = True,
        modularity_coeff: float = 1.0,
        collapse_coeff: float = 0.1,
        *,
        backend: str = "auto",
        low_memory: bool = False,
    ) -> None:
        super().__init__(k, mlp_channels, mlp_activation, bias, backend=backend, low_memory=low_memory)
        self.modularity_coeff, self.collapse_coeff = modularity_coeff, collapse_coeff

    def auxiliary_losses(self, assignments: Tensor, adjacency: Adjacency, groups: Grouping) -> dict[str, Tensor]:
        """``modularity`` and ``collapse``, each times its coefficient."""
        modularity = modularity_loss(assignments, adjacency, batch=groups, backend=self.backend)
        collapse = collapse_loss(assignments, groups)
        return {"modularity": self.modularity_coeff * modularity, "collapse": self.collapse_coeff * collapse}

    def rescale(self, pooled: Tensor) -> Tensor:
        """Adjacencies (B, K, K) without diagonal, divided by the roots of their degrees."""
        return _without_diagonal_normalized(pooled)
