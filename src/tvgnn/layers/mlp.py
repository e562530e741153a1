"""The multi-layer perceptron that turns node features into cluster scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from torch import Tensor, nn

from tvgnn.layers.activations import activation_function

__all__ = ["Activation", "assignment_mlp"]


class Activation(nn.Module):
    """An activation function as a module without parameters, so that layers keep their numbers in a state dict."""

    def __init__(self, act: str | Callable[[Tensor], Tensor] | None) -> None:
        super().__init__()
        self.act = act
        self._function = activation_function(act)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the activation, any shape."""
        return self._function(x)

    def extra_repr(self) -> str:
        """Describe the module in ``repr(module)``."""
        return repr(self.act)


def assignment_mlp(
    channels: Sequence[int], k: int, act: str | Callable[[Tensor], Tensor] | None = "relu", bias: bool = True
) -> nn.Sequential:
    """Linear layers of widths ``channels[0] -> ... -> channels[-1] -> k`` with activations in between.

    Parameters:
        channels: input width, then the hidden widths.
        k: number of clusters.
        act: activation between the layers.
        bias: whether the linear layers have one.

    Returns:
        A ``Sequential`` whose linear layers are numbers 0, 2, 4, ... as in the released code; Glorot-uniform weights,
        zero biases.

    """
    widths = [*channels, k]
    layers: list[nn.Module] = []
    for width, following in pairwise(widths):
        linear = nn.Linear(width, following, bias=bias)
        nn.init.xavier_uniform_(linear.weight)
        if bias:
            nn.init.zeros_(linear.bias)
        layers += [linear, Activation(act)]
    return nn.Sequential(*layers[:-1])
