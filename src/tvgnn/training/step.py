"""One epoch of training in two halves: the gradient, and what the optimiser makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

__all__ = ["Losses", "Step", "StepResult", "make_optimizer", "training_step"]

Losses = Callable[[], tuple[dict[str, Tensor], Tensor]]
"""Returns the loss terms, which are summed, and the assignments that they were computed from."""

StepResult = tuple[Tensor, dict[str, Tensor], Tensor]
"""Loss, its terms, and the assignments."""


def make_optimizer(module: nn.Module, learning_rate: float, *, capturable: bool = False) -> torch.optim.Optimizer:
    """Adam in one fused pass over all parameters; ``capturable`` in a CUDA graph."""
    return torch.optim.Adam(module.parameters(), lr=learning_rate, fused=True, capturable=capturable)


def training_step(losses: Losses, optimizer: torch.optim.Optimizer) -> StepResult:
    """Loss, terms and assignments of the current state, whose gradient is left in the parameters."""
    optimizer.zero_grad(set_to_none=True)
    terms, assignments = losses()
    loss = torch.stack(list(terms.values())).sum()
    loss.backward()
    return loss.detach(), terms, assignments


class Step:
    """The two halves, computed when they are called."""

    def __init__(self, losses: Losses, optimizer: torch.optim.Optimizer) -> None:
        self.losses, self.optimizer = losses, optimizer

    @contextmanager
    def running(self) -> Iterator[None]:
        """Surround all epochs and every use of what they return."""
        yield

    def gradient(self) -> StepResult:
        """See `training_step`."""
        return training_step(self.losses, self.optimizer)

    def update(self) -> None:
        """Move the parameters by their gradients."""
        self.optimizer.step()
