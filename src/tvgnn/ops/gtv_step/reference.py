"""The GTV step in plain torch: one line of arithmetic an equation, E x F temporaries and all."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from tvgnn.graph.adjacency import Adjacency

__all__ = ["ACTIVATIONS", "activation_slope", "gtv_step_reference"]

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "identity": lambda x: x,
    "relu": torch.nn.functional.relu,
    "elu": torch.nn.functional.elu,
}


def activation_slope(out: Tensor, act: str) -> Tensor:
    """Derivative of an activation, from what it gives."""
    if act == "relu":
        return (out > 0).to(out.dtype)
    return torch.where(out <= 0, out + 1, 1) if act == "elu" else torch.ones_like(out)


def gtv_step_reference(
    z: Tensor,
    adjacency: Adjacency,
    delta: float,
    eps: float,
    bias: Tensor | None,
    act: str,
    variant: str,
) -> Tensor:
    """Paper, eq. 22 (``shared``), eq. 18 (``per_feature``) and appendix A.4 (``root_weighted``), in difference form.

    ``root_weighted`` scales the distance by ``sqrt(a_ij)``: the degree-weighted step calls it on ``D^-1/2 X``.
    """
    rows, columns = adjacency.rows(), adjacency.indices.long()
    weights = adjacency.weights(z.dtype)[:, None]
    difference = z[columns] - z[rows]
    distance = difference.abs() if variant == "per_feature" else difference.abs().sum(1, keepdim=True)
    if variant == "root_weighted":
        positive = weights > 0  # the gradient of sqrt at zero is infinite, that of gamma is 1 / eps
        distance = distance * torch.where(positive, weights, 1).sqrt() * positive
    gamma = weights / distance.clamp(min=eps)
    out = z.index_add(0, rows, delta * gamma * difference)
    return ACTIVATIONS[act](out if bias is None else out + bias)
