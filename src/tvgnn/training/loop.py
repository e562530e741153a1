"""Full-batch training: one loss function, Adam, early stopping on the loss, the best state at the end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass

from torch import Tensor, nn

from tvgnn.errors import TrainingError
from tvgnn.training.cuda_graph import RecordedStep
from tvgnn.training.early_stopping import BestState, EarlyStopping
from tvgnn.training.memory import reused_buffers
from tvgnn.training.step import Losses, Step, make_optimizer

__all__ = ["TrainingConfig", "TrainingResult", "Watcher", "train"]

Watcher = Callable[[int, float, dict[str, Tensor], Tensor], None]
"""Called after every epoch with its number, loss, terms and assignments, whose memory the next epoch may use again."""


@dataclass(frozen=True)
class TrainingConfig:
    """How long and how fast to train; the defaults are the paper's and, for stopping, ours.

    Attributes:
        max_iter: largest number of epochs.
        patience: epochs without improvement before stopping.
        tol: decrease of the loss that counts as improvement.
        learning_rate: of Adam.

    Raises:
        ValueError: a value is out of range.

    """

    max_iter: int = 10_000
    patience: int = 100
    tol: float = 1e-5
    learning_rate: float = 1e-3

    def __post_init__(self) -> None:
        for name, least in (("max_iter", 1), ("patience", 1), ("tol", 0)):
            if not getattr(self, name) >= least:
                raise ValueError(f"expected {name} >= {least}, got {getattr(self, name)}")
        if not 0 < self.learning_rate < math.inf:
            raise ValueError(f"expected a positive learning_rate, got {self.learning_rate}")


@dataclass(frozen=True)
class TrainingResult:
    """What training gave; the module holds the state of the last loss below the best before by more than ``tol``.

    Attributes:
        loss: loss of that state.
        loss_history: loss of every epoch.
        n_iter: number of epochs.
        converged: stopped by patience rather than by max_iter.
        seconds: wall-clock time.

    """

    loss: float
    loss_history: list[float]
    n_iter: int
    converged: bool
    seconds: float


def train(
    module: nn.Module,
    losses: Losses,
    config: TrainingConfig,
    watch: Watcher | None = None,
    *,
    reuse_buffers: bool = True,
    cuda_graph: bool = False,
) -> TrainingResult:
    """Minimise the sum of the loss terms and leave the best state in ``module``.

    Parameters:
        module: whose parameters are trained, in place.
        losses: computes the terms from the current parameters.
        config: see `TrainingConfig`.
        watch: told about every epoch.
        reuse_buffers: keep the memory of one epoch for the next: faster, most of all on large graphs.
        cuda_graph: replay the step on the GPU without the host, see `RecordedStep`; results are the same.

    Returns:
        `TrainingResult`.

    Raises:
        TrainingError: the loss is not finite; names the epoch and the likely cause.
        ValueError: ``cuda_graph`` and parameters that are not on a CUDA device.

    """
    optimizer = make_optimizer(module, config.learning_rate, capturable=cuda_graph)
    step = (RecordedStep if cuda_graph else Step)(losses, optimizer)
    stopping, best = EarlyStopping(config.patience, config.tol), BestState(module)
    history: list[float] = []
    start = time.perf_counter()
    with reused_buffers() if reuse_buffers else nullcontext(), step.running():
        while len(history) < config.max_iter and not stopping.stop:
            loss_tensor, terms, assignments = step.gradient()
            loss = loss_tensor.item()
            if not math.isfinite(loss):
                raise TrainingError(_explain(loss, len(history) + 1, terms, config.learning_rate))
            history.append(loss)
            if stopping.improved(loss):
                best.save()
            step.update()
            if watch is not None:
                watch(len(history), loss, terms, assignments)
        best.restore()
    return TrainingResult(stopping.best, history, len(history), stopping.stop, time.perf_counter() - start)


def _explain(loss: float, epoch: int, terms: dict[str, Tensor], learning_rate: float) -> str:
    values = ", ".join(f"{name} {value.item():.4g}" for name, value in terms.items())
    if epoch == 1:
        cause = "the features or edge weights are probably too large for float32; normalise or rescale them"
    else:
        cause = f"the step is probably too large; lower learning_rate (now {learning_rate:g}) or scale the features"
    return f"expected a finite loss, got {loss} at epoch {epoch} ({values}); {cause}"
