"""When to stop, and the best state to come back to."""

from __future__ import annotations

import torch
from torch import nn

__all__ = ["BestState", "EarlyStopping"]


class EarlyStopping:
    """Count epochs without an improvement of more than ``tol``.

    Parameters:
        patience: epochs without improvement after which `stop` turns true, >= 1.
        tol: decrease of the loss that counts as an improvement, >= 0.

    Example:
        >>> stopping = EarlyStopping(patience=2, tol=0.1)
        >>> [stopping.improved(loss) for loss in (1.0, 0.95, 0.5, 0.5, 0.5)], stopping.stop
        ([True, False, True, False, False], True)

    """

    def __init__(self, patience: int, tol: float) -> None:
        self.patience, self.tol = patience, tol
        self.best = float("inf")
        self.waited = 0

    def improved(self, loss: float) -> bool:
        """Take the loss of one more epoch and tell whether it is the new best."""
        if loss < self.best - self.tol:
            self.best, self.waited = loss, 0
            return True
        self.waited += 1
        return False

    @property
    def stop(self) -> bool:
        """Whether ``patience`` epochs have passed without improvement."""
        return self.waited >= self.patience


class BestState:
    """A copy of a module's parameters, written into the same buffers every time."""

    def __init__(self, module: nn.Module) -> None:
        self._parameters = [parameter.detach() for parameter in module.parameters()]
        self._copies = [torch.empty_like(parameter) for parameter in self._parameters]

    def save(self) -> None:
        """Remember the parameters as they are now."""
        torch._foreach_copy_(self._copies, self._parameters)

    def restore(self) -> None:
        """Bring back the parameters of the last `save`."""
        torch._foreach_copy_(self._parameters, self._copies)
