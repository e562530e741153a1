"""The three terms with no N x K array but the assignments and one gradient."""

from __future__ import annotations

import torch
from torch import Tensor

from tvgnn.graph.sparse_matrix import Lists
from tvgnn.ops._buffers import empty_like
from tvgnn.ops.asymmetric_norm import cpu as asymmetric_norm
from tvgnn.ops.total_variation import cpu as total_variation

__all__ = ["backward", "forward"]


def forward(logits: Tensor, lists: Lists, rho: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """See `tvgnn.ops.cheeger_cut.op`."""
    s = torch.softmax(logits, 1, out=empty_like(logits))
    norm, holders = asymmetric_norm.forward(s, _one_graph(s), rho)
    return s, total_variation.forward(s, lists).sum(), norm[0], holders


def backward(
    ds: Tensor | None, dvariation: Tensor, dnorm: Tensor, s: Tensor, holders: Tensor, lists: Lists, rho: float
) -> Tensor:
    """See `tvgnn.ops.cheeger_cut.op`."""
    grad = empty_like(s).zero_() if ds is None else empty_like(s).copy_(ds)
    total_variation.add_gradient(dvariation.to(s.dtype).expand(s.shape[0]), s, lists, grad)
    asymmetric_norm.add_gradient(dnorm[None], s, _one_graph(s), holders, rho, grad)
    mean = torch.einsum("nk,nk->n", grad, s)  # then the gradient of the softmax, in place
    return grad.sub_(mean[:, None]).mul_(s)


def _one_graph(s: Tensor) -> Tensor:
    return torch.arange(2) * s.shape[0]
