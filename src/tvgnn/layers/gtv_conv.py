"""GTVConv: the message-passing layer that lowers the graph total variation of its features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from tvgnn.errors import GraphError
from tvgnn.graph.adjacency import Adjacency, check_weights, inverse_roots
from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.layers.activations import activation_function, resolve_activation
from tvgnn.ops.dense_linear import dense_linear
from tvgnn.ops.gtv_layer import GTVLayerArguments, gtv_layers, run_as_one
from tvgnn.ops.gtv_step import gtv_step
from tvgnn.ops.sparse_linear import sparse_linear
from tvgnn.shapes import EdgeWeight, NodeFeatures

__all__ = ["GTVConv", "GTVLayer", "apply_in_turn"]

_VARIANTS = ("shared", "per_feature", "degree_weighted")


class GTVLayer(nn.Module):
    """Parameters and arithmetic that the sparse and the dense layer share; use `GTVConv` or `DenseGTVConv`."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        bias: bool = True,
        delta_coeff: float = 1.0,
        eps: float = 1e-3,
        act: str | Callable[[Tensor], Tensor] | None = "relu",
        variant: str = "shared",
        backend: str = "auto",
    ) -> None:
        super().__init__()
        if in_channels < 1 or out_channels < 1:
            raise ValueError(f"expected at least one channel on each side, got {in_channels} in, {out_channels} out")
        if not eps > 0:
            raise ValueError(f"expected eps > 0, the smallest distance that divides, got {eps}")
        if variant not in _VARIANTS:
            raise ValueError(f"expected variant to be one of {', '.join(_VARIANTS)}, got {variant!r}")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.delta_coeff, self.eps, self.variant, self.backend = delta_coeff, eps, variant, backend
        self.act = act
        self._fused_act, self._act = resolve_activation(act)
        self.weight = nn.Parameter(torch.empty(in_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        self.reset_parameters()

    def reset_parameters(self, fan: Literal["in", "out"] = "in") -> None:
        """Draw He-normal weights and set the bias to zero.

        Parameters:
            fan: width that the variance is divided by, ``"in"`` as in the authors' Keras layer or ``"out"`` as in their
                PyTorch layer, by accident of its (in, out) layout; a step smooths less the larger weights are.

        """
        # torch takes the first dimension for the outputs
        nn.init.kaiming_normal_(self.weight, mode="fan_out" if fan == "in" else "fan_in", nonlinearity="relu")
        if self.bias is not None:
            nn.init.zeros_(self.bias)

    def extra_repr(self) -> str:
        """Describe the layer in ``repr(module)``."""
        return f"{self.in_channels}, {self.out_channels}, delta_coeff={self.delta_coeff}, variant={self.variant!r}"

    def _layer(self, x: Tensor, adjacency: Adjacency) -> Tensor:
        """Map dense features (..., in_channels) linearly and take the step, (..., out_channels)."""
        x = x.to(self.weight.dtype)
        if self.variant == "degree_weighted" or not run_as_one(x, self.weight.dtype, adjacency, self.backend):
            return self._step(dense_linear(x.flatten(0, -2), self.weight), adjacency).unflatten(0, x.shape[:-1])
        out = gtv_layers(x, adjacency, [self.arguments()])
        return out if self._act is None else self._act(out)

    def arguments(self) -> GTVLayerArguments:
        """Parameters and settings, for `gtv_layers`, which leaves out an activation that kernels do not have."""
        return GTVLayerArguments(self.weight, self.bias, self.delta_coeff, self.eps, self._fused_act, self.variant)

    def _step(self, z: Tensor, adjacency: Adjacency) -> Tensor:
        """Step, bias and activation on projected features ``z`` (N, out_channels)."""
        if z.device.type == "cpu" and z.dtype in (torch.bfloat16, torch.float16):
            # The cpu's kernels have no half precision. Under autocast the weight is float32, and so is the output
            return self._step(z.float(), adjacency).to(self.weight.dtype)
        if self.variant == "degree_weighted":
            out = self._degree_weighted_step(z, adjacency)
            return activation_function(self.act)(out if self.bias is None else out + self.bias)
        out = gtv_step(
            z,
            adjacency,
            self.delta_coeff,
            self.eps,
            bias=self.bias,
            act=self._fused_act,
            variant=self.variant,
            backend=self.backend,
        )
        return out if self._act is None else self._act(out)

    def _degree_weighted_step(self, z: Tensor, adjacency: Adjacency) -> Tensor:
        """``(I - delta D^-1/2 L_Gamma D^-1/2) Z`` with Gamma from the distances of ``D^-1/2 Z`` (appendix A.4)."""
        scale = inverse_roots(adjacency.degrees(z.dtype))[:, None]
        scaled = z * scale
        moved = gtv_step(scaled, adjacency, 1.0, self.eps, variant="root_weighted", backend=self.backend)
        return z + self.delta_coeff * scale * (moved - scaled)


def apply_in_turn(layers: Sequence[GTVLayer], x: Tensor, adjacency: Adjacency) -> Tensor:
    """Apply `GTVConv` or `DenseGTVConv` layers one after the other, as one node of autograd where that can be.

    Parameters:
        layers: of one dtype and backend; their shapes fit each other.
        x: (N, F), or (B, N, F) with an `Adjacency.from_dense`.
        adjacency: all nodes of ``x``.

    Returns:
        What the last layer gives.

    """
    first = layers[0]
    plain = all(layer.variant != "degree_weighted" and layer._act is None for layer in layers)
    if plain and run_as_one(x, first.weight.dtype, adjacency, first.backend):
        return gtv_layers(x, adjacency, [layer.arguments() for layer in layers])
    for layer in layers:
        x = layer(x, adjacency)
    return x


class GTVConv(GTVLayer):
    r"""Graph total variation convolution (paper, eq. 24).

    ``Z = X W``, ``gamma_ij = a_ij / max(||z_i - z_j||_1, eps)`` and
    ``out_i = act(z_i + delta * sum_j gamma_ij (z_j - z_i) + b)``.

    Deviations, numbered:

    1. Distances are taken after the linear map, as in the authors' released code; the paper's equation reads as if
       before it.
    2. The step is computed from differences, never as ``(I - delta L) Z``, which cancels catastrophically at hubs.
    3. ``edge_index`` is always (2, E); the released layer takes a graph of two edges for a dense 2 x 2 matrix.

    Parameters:
        in_channels: width of x.
        out_channels: width of the output.
        bias: add a learned bias.
        delta_coeff: step size; the paper's ``2 * delta`` (``delta`` itself for ``degree_weighted``).
        eps: smallest distance that divides.
        act: activation as a name of ``torch.nn.functional``, a callable, or None.
        variant: ``"shared"``; ``"per_feature"``, one gamma a feature (eq. 18); ``"degree_weighted"`` (appendix A.4).
        backend: see `select_backend`.

    Raises:
        ValueError: a parameter is out of range or unknown.

    Shapes:
        x (N, in_channels), dense, torch CSR/COO or `SparseMatrix`, of any real dtype; edge_index (2, E) integers whose
        first row aggregates, ``torch_geometric.EdgeIndex`` or `Adjacency`; edge_weight (E,) or None; output
        (N, out_channels), in the dtype of the weight, half precision included (under autocast: float32 on the cpu,
        autocast's own on a GPU).
        State: ``weight`` (in_channels, out_channels) and ``bias`` (out_channels,), named as in the released code.

    Example:
        >>> conv = GTVConv(1, 1, act=None)
        >>> with torch.no_grad():
        ...     _ = conv.weight.fill_(1.0)
        >>> path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
        >>> conv(torch.tensor([[0.0], [1.0], [3.0]]), path).flatten().tolist()
        [1.0, 1.0, 2.0]

    """

    def forward(self, x: Tensor | SparseMatrix, edge_index: Any, edge_weight: EdgeWeight | None = None) -> NodeFeatures:
        """Apply the layer; see the class for shapes.

        Raises:
            GraphError: shapes that do not fit each other, or node indices outside x.

        """
        x = self._checked(x)
        if edge_weight is not None:
            check_weights(edge_weight)
            edge_weight = edge_weight.to(self.weight.dtype)
        adjacency = Adjacency.from_edge_index(edge_index, edge_weight, x.shape[0])
        if isinstance(x, Tensor):
            return self._layer(x, adjacency)
        return self._step(sparse_linear(x, self.weight, backend=self.backend), adjacency)

    def _checked(self, x: Tensor | SparseMatrix) -> Tensor | SparseMatrix:
        if not isinstance(x, Tensor | SparseMatrix):
            raise GraphError(f"expected x to be a tensor, got {type(x).__name__}; convert it with torch.as_tensor()")
        if isinstance(x, Tensor) and x.layout != torch.strided:
            x = SparseMatrix.from_torch(x)
        if len(x.shape) != 2 or x.shape[1] != self.in_channels:
            raise GraphError(f"expected x of shape (N, {self.in_channels}), got {tuple(x.shape)}")
        return x
