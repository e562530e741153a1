"""Progress lines for training, on a terminal only."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from torch import Tensor

__all__ = ["EpochProgress", "StageProgress", "TrainingProgress"]

_SECONDS_BETWEEN_UPDATES = 0.25  # what is printed is computed as often as it is printed, not every epoch
_SHORT = {"total_variation": "tv"}  # the line fits into 80 columns


class _Bar:
    """A bar of epochs on standard error; silent when that is not a terminal."""

    def __init__(self, epochs: int, title: str, *, shown: bool = True) -> None:
        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=8),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not (shown and console.is_terminal),
        )
        self._task = self._progress.add_task(title, total=epochs, state="")
        self._last_update = 0.0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def _is_due(self) -> bool:
        """Whether to print now."""
        now = time.monotonic()
        if self._progress.disable or now - self._last_update < _SECONDS_BETWEEN_UPDATES:
            return False
        self._last_update = now
        return True


class EpochProgress(_Bar):
    """Show epoch and losses on standard error; silent when that is not a terminal.

    Parameters:
        epochs: length of the bar.
        title: text before the bar.
        shown: whether to show it at all.

    """

    def update(self, epoch: int, loss: float, validation_loss: float) -> None:
        """Take one epoch; see `tvgnn.training.batches.train_on_batches`."""
        if self._is_due():
            self._progress.update(
                self._task, completed=epoch, state=f"loss {loss:.4f} validation {validation_loss:.4f}"
            )


class StageProgress(_Bar):
    """Show which of a few long stages is computed on standard error; silent when that is not a terminal.

    Parameters:
        stages: length of the bar.
        shown: whether to show it at all.

    """

    def __init__(self, stages: int, *, shown: bool = True) -> None:
        super().__init__(stages, "", shown=shown)

    def update(self, done: int, state: str) -> None:
        """Take the number of stages that are done, and what is computed now."""
        self._progress.update(self._task, completed=done, state=state)


class TrainingProgress(_Bar):
    """Show epoch, loss terms and clusters in use on standard error; silent when that is not a terminal.

    Parameters:
        max_iter: length of the bar in epochs.
        n_clusters: clusters asked for.
        title: text before the bar.

    """

    def __init__(self, max_iter: int, n_clusters: int, title: str = "") -> None:
        super().__init__(max_iter, title)
        self._n_clusters = n_clusters

    def update(self, epoch: int, loss: float, terms: dict[str, Tensor], assignments: Tensor) -> None:
        """Take one epoch; see `tvgnn.training.loop.train`."""
        if not self._is_due():
            return
        used = assignments.detach().argmax(1).unique().numel()
        parts = ", ".join(f"{_SHORT.get(name, name)} {value.item():.4f}" for name, value in terms.items())
        state = f"loss {loss:.4f} ({parts}) {used}/{self._n_clusters} used"
        self._progress.update(self._task, completed=epoch, state=state)
