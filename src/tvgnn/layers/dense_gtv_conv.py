"""GTVConv on padded batches of dense adjacencies."""

from __future__ import annotations

from torch import Tensor

from tvgnn.errors import GraphError
from tvgnn.graph.adjacency import Adjacency, check_dense, clear_padding
from tvgnn.layers.gtv_conv import GTVLayer

__all__ = ["DenseGTVConv"]


class DenseGTVConv(GTVLayer):
    """`GTVConv` for a batch of small graphs with dense adjacencies, for example pooled ones.

    Takes the same parameters and holds the same state. The diagonal of the adjacency changes nothing. The gradient
    with respect to ``adj`` reaches every entry, zeros included.

    Shapes:
        x (B, N, in_channels); adj (B, N, N), any numeric dtype, or the `Adjacency.from_dense` of it, which several
        layers can share; mask (B, N) of bool, True for real nodes, or None; output (B, N, out_channels), 0 at padded
        nodes.

    Example:
        >>> import torch
        >>> conv = DenseGTVConv(1, 1, act=None)
        >>> with torch.no_grad():
        ...     _ = conv.weight.fill_(1.0)
        >>> path = torch.tensor([[[0, 1, 0], [1, 0, 1], [0, 1, 0]]])
        >>> conv(torch.tensor([[[0.0], [1.0], [3.0]]]), path).flatten().tolist()
        [1.0, 1.0, 2.0]

    """

    def forward(self, x: Tensor, adj: Tensor | Adjacency, mask: Tensor | None = None) -> Tensor:
        """Apply the layer; see the class for shapes.

        Raises:
            GraphError: shapes that do not fit each other.

        """
        if not isinstance(x, Tensor):
            raise GraphError(f"expected x to be a tensor, got {type(x).__name__}; convert it with torch.as_tensor()")
        if x.dim() != 3 or x.shape[2] != self.in_channels:
            raise GraphError(f"expected x of shape (B, N, {self.in_channels}), got {tuple(x.shape)}")
        batch, nodes, _ = x.shape
        if isinstance(adj, Adjacency):
            if mask is not None or adj.num_nodes != batch * nodes:
                raise GraphError(
                    f"expected an Adjacency of {batch * nodes} nodes and no mask, got one of {adj.num_nodes} nodes"
                )
            return self._layer(x, adj)
        check_dense(adj)
        if adj.shape != (batch, nodes, nodes):
            raise GraphError(f"expected adj of shape ({batch}, {nodes}, {nodes}), got {tuple(adj.shape)}")
        if mask is not None and not isinstance(mask, Tensor):
            raise GraphError(f"expected mask to be a tensor, True for real nodes, got {type(mask).__name__}")
        if mask is not None and mask.shape != (batch, nodes):
            raise GraphError(f"expected mask of shape ({batch}, {nodes}), got {tuple(mask.shape)}")
        if mask is not None:
            x, adj, mask = clear_padding(x, adj, mask)
        adj = adj.to(self.weight.dtype)
        out = self._layer(x, Adjacency.from_dense(adj))
        return out if mask is None else out * mask[:, :, None]
