"""The halves of an epoch as CUDA graphs, which a GPU replays by itself.

On graphs of a few thousand nodes the kernels of an epoch take less time than the host needs to launch them one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch

from tvgnn.training.step import Losses, Step, StepResult

__all__ = ["WARM_UP", "RecordedStep"]

T = TypeVar("T")
WARM_UP = 3  # epochs; as many as PyTorch's own example of a captured step runs


class RecordedStep(Step):
    """`Step` whose halves are recorded in the epoch after the first `WARM_UP` and replayed in all epochs from then on.

    The first epochs train as any other, and do what no recording may: they compile kernels, load libraries and make
    the optimiser's state. What `gradient` returns lies in the same memory in every replayed epoch, so read it before
    the next one, and leave the gradients where they are: the optimiser's recording reads them there. The losses must
    not make the host wait for the GPU, and the optimiser must be capturable.

    Parameters:
        losses: computes the terms from the current parameters.
        optimizer: of parameters on a CUDA device.

    Raises:
        ValueError: the parameters are not on a CUDA device.

    """

    def __init__(self, losses: Losses, optimizer: torch.optim.Optimizer) -> None:
        super().__init__(losses, optimizer)
        self._stream = _side_stream(optimizer.param_groups[0]["params"][0].device)
        self._epoch = 0
        self._gradient: tuple[StepResult, Callable[[], None]] | None = None
        self._update: Callable[[], None] | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run everything, replays and reads too, on the one stream that is recorded; no default stream can be."""
        before = torch.cuda.current_stream(self._stream.device)
        self._stream.wait_stream(before)
        with torch.cuda.stream(self._stream):
            yield
        before.wait_stream(self._stream)

    def gradient(self) -> StepResult:
        """See `tvgnn.training.step.training_step`, which sets gradients to None: a recording writes them, not adds."""
        self._epoch += 1
        if self._epoch <= WARM_UP:
            return super().gradient()
        if self._gradient is None:
            self._gradient = _record(super().gradient, self._stream)
        result, replay = self._gradient
        replay()
        return result

    def update(self) -> None:
        """Move the parameters by the gradients that `gradient` left."""
        if self._epoch <= WARM_UP:
            self.optimizer.step()
            return
        if self._update is None:
            _, self._update = _record(self.optimizer.step, self._stream)
        self._update()


def _side_stream(device: torch.device) -> torch.cuda.Stream:
    if device.type != "cuda":
        raise ValueError(f"expected parameters on a CUDA device for cuda_graph=True, got {device}; leave it False")
    return torch.cuda.Stream(device)


def _record(function: Callable[[], T], stream: torch.cuda.Stream) -> tuple[T, Callable[[], None]]:
    """Record the kernels of a call without running them: what it returns, to be filled by each replay, and the replay.

    The graph keeps its memory until the replay and all that lies in it are gone.
    """
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        result = function()
    return result, graph.replay
