"""Pooling by assignments that are learned from the task: DiffPool."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor, nn

from tvgnn.errors import GraphError
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.grouping import Grouping
from tvgnn.losses import entropy_loss, link_loss
from tvgnn.ops.neighbor_sum import normalized_neighbor_sum
from tvgnn.pooling.base import DensePooling, at_least_float32

__all__ = ["DiffPooling"]


class DiffPooling(DensePooling):
    """Pool by assignments that predict the edges and are sure of themselves (Ying et al., NeurIPS 2018).

    The objective is ``link_coeff * L_LP + entropy_coeff * L_E``; the pooled adjacency is ``S^T A S``.

    Parameters:
        k: number of clusters, an upper bound: some may stay empty.
        mlp_channels: input width, then the widths of the hidden layers.
        mlp_activation: activation between the layers, as in `GTVConv`.
        bias: whether the linear layers have one.
        link_coeff: weight of the link prediction loss.
        entropy_coeff: weight of the entropy loss.
        assignment: ``"mlp"``, the assignments that all methods here share, or ``"gnn"``, where a graph convolution
            (Kipf & Welling, ICLR 2017) follows each linear layer as in the method's paper.
        backend: see `select_backend`.
        low_memory: keep nothing of what lies inside the MLP for the backward pass, see `DensePooling`.

    Raises:
        ValueError: a parameter is out of range or unknown.

    Example:
        >>> import torch
        >>> pool = DiffPooling(2, [3, 8], assignment="gnn")
        >>> path = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> sorted(pool(torch.randn(4, 3), path).losses)
        ['entropy', 'link']

    """

    def __init__(
        self,
        k: int,
        mlp_channels: Sequence[int],
        mlp_activation: str | Callable[[Tensor], Tensor] | None = "relu",
        bias: bool = True,
        link_coeff: float = 1.0,
        entropy_coeff: float = 1.0,
        *,
        assignment: str = "mlp",
        backend: str = "auto",
        low_memory: bool = False,
    ) -> None:
        super().__init__(k, mlp_channels, mlp_activation, bias, backend=backend, low_memory=low_memory)
        if assignment not in ("mlp", "gnn"):
            raise ValueError(f"expected assignment to be 'mlp' or 'gnn', got {assignment!r}")
        self.link_coeff, self.entropy_coeff, self.assignment = link_coeff, entropy_coeff, assignment

    def score(self, x: Tensor, adjacency: Adjacency | None = None) -> Tensor:
        """See `DensePooling.score`; ``assignment="gnn"`` needs the adjacency."""
        if self.assignment == "mlp":
            return super().score(x)
        if adjacency is None:
            raise GraphError('expected the adjacency too, since assignment="gnn" averages over neighbours')
        for layer in self.mlp:
            x = layer(x)
            if isinstance(layer, nn.Linear):
                x = normalized_neighbor_sum(adjacency, x, loop=1.0, backend=self.backend)
        return at_least_float32(x)

    def auxiliary_losses(self, assignments: Tensor, adjacency: Adjacency, groups: Grouping) -> dict[str, Tensor]:
        """``link`` and ``entropy``, each times its coefficient."""
        link = link_loss(assignments, adjacency, batch=groups, backend=self.backend)
        return {"link": self.link_coeff * link, "entropy": self.entropy_coeff * entropy_loss(assignments, groups)}
