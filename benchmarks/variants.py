"""The training step of the vertex-clustering model by tvgnn and by what it is compared with, on one problem."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.baselines import torch_geometric_pool as peer
from benchmarks.baselines.released import ReleasedFormulation
from benchmarks.timing import clock
from tvgnn import load_dataset
from tvgnn.estimators.inputs import NetworkInputs
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph
from tvgnn.models.node_clustering import NodeClusteringConfig, NodeClusteringModel
from tvgnn.training.loop import TrainingConfig, train

__all__ = ["OURS", "VARIANTS", "Problem", "Variant", "disagreement", "names_that_fit", "ours"]

OURS = "tvgnn"
_PAIRWISE = "released, N x N x K loss"
_LARGEST_PAIRWISE = 4000  # nodes; above, the N x N x K loss takes several gigabytes
_LOSS_TOLERANCE = 1e-4
_GRADIENT_TOLERANCE = 1e-2  # of float32 sums in another order, and of signs of differences that round to zero


@dataclass(frozen=True)
class Problem:
    """A graph with features, and the paper's model for it; what a variant needs is made when it asks."""

    graph: Graph
    config: NodeClusteringConfig

    @classmethod
    def from_dataset(cls, name: str, mirror: str | None) -> Problem:
        """Load a citation network and scale its rows as the estimator does."""
        graph = load_dataset(name, mirror=mirror).normalize_features("l1")
        return cls(graph, NodeClusteringConfig(graph.num_features, graph.num_classes))

    @cached_property
    def inputs(self) -> NetworkInputs:
        """What our network reads, as the estimator passes it."""
        return NetworkInputs.from_graph(self.graph, self.graph.x, self.config.hidden_channels, "cpu")

    @property
    def adjacency(self) -> Adjacency:
        """The adjacency in the given order."""
        return Adjacency.from_graph(self.graph)

    @cached_property
    def dense_features(self) -> Tensor:
        """Features as the others take them."""
        x = self.graph.x
        return torch.tensor(np.asarray(x.todense()) if hasattr(x, "todense") else x)

    @cached_property
    def edge_index(self) -> Tensor:
        """(2, E) int64, both directions."""
        rows = np.repeat(np.arange(self.graph.num_nodes), np.diff(self.graph.indptr))
        return torch.tensor(np.stack([rows, self.graph.indices]))

    def model(self, backend: str) -> NodeClusteringModel:
        """Our model, from the same initial parameters every time."""
        torch.manual_seed(0)
        return NodeClusteringModel(self.config, backend=backend)


@dataclass(frozen=True)
class Variant:
    """One way to train.

    Attributes:
        epoch: trains a little and returns milliseconds per epoch.
        first: runs the first epoch and returns its loss and the gradients of all parameters in our order; call it
            before `epoch`.

    """

    epoch: Callable[[], float]
    first: Callable[[], tuple[float, list[Tensor]]]


def ours(problem: Problem, backend: str, epochs: int, compiled: bool = False) -> Variant:
    """Train by the loop that the estimator runs; its first epoch, which maps the buffers, is not timed.

    ``compiled`` gives model and losses to `torch.compile`, as one graph where the kernels are ours: the reference looks
    at values in Python.
    """
    network = problem.model(backend)
    losses = partial(network.losses, problem.inputs.features, problem.inputs.adjacency)
    if compiled:
        losses = torch.compile(losses, fullgraph=backend != "reference")

    def epoch() -> float:
        ends: list[float] = []
        config = TrainingConfig(max_iter=1 + epochs, patience=1 + epochs)
        train(network, losses, config, lambda *_: ends.append(time.perf_counter()))
        return 1000 * (ends[-1] - ends[0]) / epochs

    def first() -> tuple[float, list[Tensor]]:
        result = train(network, losses, TrainingConfig(max_iter=1))
        return result.loss, _gradients(network.parameters())

    return Variant(epoch, first)


def _steps(loss: Callable[[], Tensor], parameters: list[Tensor]) -> Variant:
    """Train with plain Adam as the others' examples do; the first step of a turn is not timed, as with ours."""
    optimizer = torch.optim.Adam(parameters, lr=1e-3)

    def step() -> float:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        return value.item()

    return Variant(clock(step, warm_up=1), lambda: (step(), _gradients(parameters)))


def _gradients(parameters: Any) -> list[Tensor]:
    return [parameter.grad.clone() for parameter in parameters]


def _released(problem: Problem, pairwise: bool) -> Variant:
    network = problem.model("reference")
    formulation = ReleasedFormulation(network, problem.edge_index, pairwise)
    return _steps(lambda: formulation.loss(problem.dense_features), list(network.parameters()))


def _peer(problem: Problem, losses_only: bool) -> Variant:
    network = peer.PeerModel(problem.model("reference"), losses_only)
    return _steps(lambda: network.loss(problem.dense_features, problem.edge_index), network.ordered_parameters())


VARIANTS: dict[str, Callable[[Problem], Variant]] = {
    OURS: lambda problem: ours(problem, "auto", epochs=6),
    "reference backend": lambda problem: ours(problem, "reference", epochs=1),
    "released, E x K loss": lambda problem: _released(problem, pairwise=False),
    _PAIRWISE: lambda problem: _released(problem, pairwise=True),
    peer.NAME: lambda problem: _peer(problem, losses_only=False),
    f"{peer.NAME}, losses only": lambda problem: _peer(problem, losses_only=True),
}


def names_that_fit(nodes: int) -> list[str]:
    """Variants that can run here on a graph of that size, ours first."""
    return [
        name
        for name in VARIANTS
        if (name != _PAIRWISE or nodes <= _LARGEST_PAIRWISE) and (not name.startswith(peer.NAME) or peer.AVAILABLE)
    ]


def disagreement(ours: tuple[float, list[Tensor]], theirs: tuple[float, list[Tensor]]) -> str | None:
    """Say where another variant's first loss and gradients differ from ours by more than rounding explains."""
    if not np.isclose(theirs[0], ours[0], rtol=_LOSS_TOLERANCE):
        return f"its loss is {theirs[0]}, ours is {ours[0]}"
    for number, (a, b) in enumerate(zip(ours[1], theirs[1], strict=True)):
        difference, size = (a - b).norm().item(), a.norm().item()
        if not difference <= _GRADIENT_TOLERANCE * size:
            return f"its gradient of parameter {number} differs from ours by {difference / size:.1%}"
    return None
