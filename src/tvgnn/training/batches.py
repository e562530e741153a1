"""Mini-batch training: shuffled batches, early stopping on held-out data, the best state at the end."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from tvgnn.errors import TrainingError
from tvgnn.training.early_stopping import BestState, EarlyStopping

__all__ = ["BatchTraining", "BatchTrainingResult", "EpochWatcher", "batches_of_similar_size", "train_on_batches"]

Numbers = npt.NDArray[np.int64]

EpochWatcher = Callable[[int, float, float], None]
"""Called after every epoch with its number, training loss and validation loss."""


@dataclass(frozen=True)
class BatchTraining:
    """How long and how fast to train.

    Attributes:
        max_epochs: largest number of epochs.
        patience: epochs without a lower validation loss before stopping.
        batch_size: graphs of a batch.
        learning_rate: of Adam.
        weight_decay: weight of the squared norm of weight matrices, biases left out, in Adam's gradient.

    Raises:
        ValueError: a value is out of range.

    """

    max_epochs: int = 500
    patience: int = 20
    batch_size: int = 8
    learning_rate: float = 1e-3
    weight_decay: float = 0.0

    def __post_init__(self) -> None:
        for name in ("max_epochs", "patience", "batch_size"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"expected {name} >= 1, got {getattr(self, name)}")
        if not 0 < self.learning_rate < math.inf or not 0 <= self.weight_decay < math.inf:
            raise ValueError(
                f"expected learning_rate > 0 and weight_decay >= 0, got {self.learning_rate} and {self.weight_decay}"
            )


@dataclass(frozen=True)
class BatchTrainingResult:
    """What training gave; the module holds the state of the lowest validation loss.

    Attributes:
        loss_history: mean training loss of every epoch, as seen while training.
        validation_loss_history: validation loss after every epoch.
        best_epoch: the epoch whose state was kept, counted from 1.
        stopped_early: stopped by patience rather than by max_epochs.
        seconds_per_epoch: median wall-clock time, validation included; the first epoch, which may compile kernels, does
            not distort it.

    """

    loss_history: list[float]
    validation_loss_history: list[float]
    best_epoch: int
    stopped_early: bool
    seconds_per_epoch: float


def train_on_batches(
    module: nn.Module,
    loss_of: Callable[[Numbers], Tensor],
    validation_loss: Callable[[], float],
    numbers: Numbers,
    config: BatchTraining,
    random: np.random.Generator,
    watch: EpochWatcher | None = None,
    *,
    undecayed: Iterable[nn.Parameter] = (),
) -> BatchTrainingResult:
    """Minimise the mean loss over batches and leave the state of the lowest validation loss in ``module``.

    Parameters:
        module: whose parameters are trained, in place.
        loss_of: loss of a batch, a scalar, given the numbers of its members.
        validation_loss: computes the loss that decides when to stop, without gradients.
        numbers: (n,) of the training examples.
        config: see `BatchTraining`.
        random: shuffles the examples before every epoch.
        watch: told about every epoch.
        undecayed: weight matrices that ``weight_decay`` leaves alone, as it does biases.

    Raises:
        TrainingError: a loss is not finite; names the epoch and the likely cause.

    """
    optimizer = _optimizer(module, config, {id(parameter) for parameter in undecayed})
    stopping, best = EarlyStopping(config.patience, 0.0), BestState(module)
    history: list[float] = []
    validation: list[float] = []
    durations: list[float] = []
    best_epoch = 0
    while len(history) < config.max_epochs and not stopping.stop:
        start = time.perf_counter()
        order = random.permutation(numbers)
        total = torch.zeros(())
        for first in range(0, len(order), config.batch_size):
            batch = order[first : first + config.batch_size]
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(batch)
            loss.backward()
            optimizer.step()
            total += loss.detach().cpu() * len(batch)
        history.append(total.item() / max(1, len(order)))
        validation.append(validation_loss())
        durations.append(time.perf_counter() - start)
        for name, value in (("training", history[-1]), ("validation", validation[-1])):
            if not math.isfinite(value):
                raise TrainingError(
                    f"expected a finite {name} loss, got {value} at epoch {len(history)}; "
                    f"lower learning_rate (now {config.learning_rate:g}) or scale the features"
                )
        if stopping.improved(validation[-1]):
            best_epoch = len(history)
            best.save()
        if watch is not None:
            watch(len(history), history[-1], validation[-1])
    best.restore()
    return BatchTrainingResult(history, validation, best_epoch, stopping.stop, statistics.median(durations))


def _optimizer(module: nn.Module, config: BatchTraining, undecayed: set[int]) -> torch.optim.Optimizer:
    decayed: list[nn.Parameter] = []
    others: list[nn.Parameter] = []
    for parameter in module.parameters():
        (decayed if parameter.dim() > 1 and id(parameter) not in undecayed else others).append(parameter)
    groups: list[dict[str, Any]] = [{"params": decayed, "weight_decay": config.weight_decay}]
    if others:
        groups.append({"params": others, "weight_decay": 0.0})
    return torch.optim.Adam(groups, lr=config.learning_rate, fused=True)


def batches_of_similar_size(sizes: Sequence[int] | Numbers, largest: int = 16_384) -> list[Numbers]:
    """Cut examples into batches for inference, where the company of an example changes nothing.

    Parameters:
        sizes: (n,) size of every example.
        largest: sizes of a batch add up to no more than this, padding to its largest member included, unless one
            example alone is larger.

    Returns:
        Numbers of each batch's members, the smallest examples first.

    Example:
        >>> [batch.tolist() for batch in batches_of_similar_size([5, 1, 5, 1], largest=10)]
        [[1, 3], [0, 2]]

    """
    sizes = np.asarray(sizes, np.int64)
    order = np.argsort(sizes, kind="stable")
    batches: list[Numbers] = []
    first = 0
    for last in range(1, len(order) + 1):
        # with the next one, its size is that of all
        if last == len(order) or (last + 1 - first) * max(1, int(sizes[order[last]])) > largest:
            batches.append(order[first:last])
            first = last
    return batches
