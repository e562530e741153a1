"""Pooling by the tight relaxation of the asymmetric Cheeger cut, the paper's own layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from tvgnn.checks import check_rho
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.grouping import Grouping
from tvgnn.losses import asymmetric_norm_loss, cheeger_cut_losses, total_variation_loss
from tvgnn.pooling.base import DensePooling

__all__ = ["AsymCheegerCutPooling"]


class AsymCheegerCutPooling(DensePooling):
    """Pool by assignments that minimise graph total variation and balance the clusters (paper, sec. 3.1 and 3.3).

    The objective is ``totvar_coeff * L_GTV + balance_coeff * L_AN`` (eq. 16).

    Parameters:
        k: number of clusters, an upper bound: some may stay empty.
        mlp_channels: input width, then the widths of the hidden layers.
        mlp_activation: activation between the layers, as in `GTVConv`.
        bias: whether the MLP's linear layers have one.
        totvar_coeff: weight of the total variation loss, the paper's alpha_1.
        balance_coeff: weight of the balance loss, the paper's alpha_2.
        rho: asymmetry of the balance loss, k - 1 by default; other values ask for uneven clusters.
        backend: see `select_backend`.
        low_memory: keep nothing of what lies inside the MLP for the backward pass, see `DensePooling`.

    Raises:
        ValueError: a parameter is out of range.

    Example:
        >>> import torch
        >>> pool = AsymCheegerCutPooling(2, [3, 8])
        >>> path = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> out = pool(torch.randn(4, 3), path)
        >>> out.x.shape, out.adj.shape, sorted(out.losses)
        (torch.Size([1, 2, 3]), torch.Size([1, 2, 2]), ['balance', 'total_variation'])

    """

    def __init__(
        self,
        k: int,
        mlp_channels: Sequence[int],
        mlp_activation: str | Callable[[Tensor], Tensor] | None = "relu",
        bias: bool = True,
        totvar_coeff: float = 1.0,
        balance_coeff: float = 1.0,
        *,
        rho: float | None = None,
        backend: str = "auto",
        low_memory: bool = False,
    ) -> None:
        super().__init__(k, mlp_channels, mlp_activation, bias, backend=backend, low_memory=low_memory)
        if rho is not None:
            check_rho(rho)
        self.totvar_coeff, self.balance_coeff, self.rho = totvar_coeff, balance_coeff, rho

    def select_with_losses(self, x: Tensor, adjacency: Adjacency, groups: Grouping) -> tuple[Tensor, dict[str, Tensor]]:
        """See `DensePooling.select_with_losses`; one operator where the backend has it."""
        s, variation, balance = cheeger_cut_losses(self.score(x), adjacency, self.rho, groups, backend=self.backend)
        return s, self._weighted(variation, balance)

    def auxiliary_losses(self, assignments: Tensor, adjacency: Adjacency, groups: Grouping) -> dict[str, Tensor]:
        """``total_variation`` and ``balance``, each times its coefficient."""
        variation = total_variation_loss(assignments, adjacency, batch=groups, backend=self.backend)
        balance = asymmetric_norm_loss(assignments, groups, self.rho, backend=self.backend)
        return self._weighted(variation, balance)

    def _weighted(self, variation: Tensor, balance: Tensor) -> dict[str, Tensor]:
        return {"total_variation": self.totvar_coeff * variation, "balance": self.balance_coeff * balance}
