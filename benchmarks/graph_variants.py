"""Training of the hierarchical classifier by tvgnn and by what it is compared with, on a named part of an epoch."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.baselines import torch_geometric_pool as peer
from benchmarks.baselines.torch_geometric_pool_graphs import WAYS, PeerGraphs, PeerNetwork
from benchmarks.variants import OURS
from tvgnn.datasets import load_graphs
from tvgnn.estimators.graph_inputs import ColumnScaling
from tvgnn.estimators.graph_presets import resolve_graph_parameters
from tvgnn.graph.collection import GraphCollection
from tvgnn.graph.graph import Graph
from tvgnn.models.graph_network import POOLINGS, GraphNetwork, GraphNetworkConfig
from tvgnn.training.batches import BatchTraining, train_on_batches
from tvgnn.training.threads import threads_worth_waking

__all__ = [
    "BATCH",
    "GraphProblem",
    "GraphVariant",
    "disagreement",
    "graph_variant",
    "names_of_variants",
    "peer_names",
    "pooling_name",
]

BATCH = 8  # on D&D too, where the paper takes graphs one by one
_SEEDS = 100
_WARM_UP = 2  # batches of every turn that are not timed
_TIMED = {"mutag": 14, "proteins": 60, "nci1": 60, "dd": 16}  # the peer's take one to ten seconds
_ONE_BY_ONE = ("topk", "sag")
_RATIO = 0.5
_TOLERANCE = 1e-6  # of float64; between neighbours that are alike the peer's arithmetic cancels
_TORCH_THREADS, _ONE_THREAD = "with torch's threads", "one thread"


@dataclass(frozen=True)
class GraphProblem:
    """Graphs of a dataset, the paper's layers for it, and the batches that are timed.

    Attributes:
        graphs: with features as the estimator scales them.
        targets: (n,) class of each, 0, 1, ...
        preset: of `GRAPH_PRESETS`.
        timed: batches whose time counts, at most.

    """

    graphs: list[Graph]
    targets: npt.NDArray[np.int64]
    preset: str
    timed: int

    @classmethod
    def from_dataset(cls, name: str, mirror: str | None) -> Self:
        """Load a TU dataset.

        Raises:
            DataError: it is not at hand.

        """
        graphs = load_graphs(name, mirror=mirror)
        targets = np.unique([graph.label for graph in graphs], return_inverse=True)[1]
        return cls(_scaled(graphs), targets, name, _TIMED[name])

    @classmethod
    def of_rings(cls, preset: str) -> Self:
        """Small graphs, on which training loads all code that it needs."""
        nodes = np.arange(8)
        ring = Graph.from_edges(nodes, (nodes + 1) % 8, x=np.linspace(0, 1, 24, dtype=np.float32).reshape(8, 3))
        count = BATCH * (_WARM_UP + 1)
        return cls([ring] * count, np.arange(count) % 2, preset, timed=1)

    @cached_property
    def collection(self) -> GraphCollection:
        """The graphs as our network's training holds them."""
        return GraphCollection(self.graphs)

    @cached_property
    def mean_nodes(self) -> float:
        """Mean number of nodes of a graph."""
        return float(np.mean([graph.num_nodes for graph in self.graphs]))

    @property
    def batches_of_an_epoch(self) -> int:
        """Batches of a pass over all graphs."""
        return math.ceil(len(self.graphs) / BATCH)

    @property
    def timed_batches(self) -> int:
        """Batches of a turn whose time counts, each of `BATCH` graphs."""
        return min(self.timed, len(self.graphs) // BATCH - _WARM_UP)

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """Graphs of a turn in the order in which every variant takes them: the beginning of a shuffled pass.

        Cost grows with nodes for some and with the square of a batch's largest graph for others, and a few graphs of
        D&D are ten times the size of most. Of `_SEEDS` shuffles this one comes closest to the mean of all in both.
        """
        sizes = np.array([graph.num_nodes for graph in self.graphs])
        shuffles = [np.random.default_rng(seed).permutation(len(sizes)) for seed in range(_SEEDS)]
        beginnings = np.stack([one[: BATCH * (_WARM_UP + self.timed_batches)] for one in shuffles])
        batches = sizes[beginnings].reshape(_SEEDS, -1, BATCH)[:, _WARM_UP:]
        costs = np.stack([batches.sum((1, 2)), (batches.max(2) ** 2).sum(1)])
        return beginnings[np.abs(np.log(costs / costs.mean(1, keepdims=True))).sum(0).argmin()]

    def parameters(self, pooling: str) -> dict[str, object]:
        """The paper's."""
        return resolve_graph_parameters(self.preset, pooling, {"batch_size": 1 if pooling in _ONE_BY_ONE else BATCH})

    def network(self, pooling: str = "tvgnn", backend: str = "auto") -> GraphNetwork:
        """Our network, from the same initial parameters every time."""
        first = max(1, math.ceil(_RATIO * self.mean_nodes))
        fields = GraphNetworkConfig.__dataclass_fields__
        layers = {name: value for name, value in self.parameters(pooling).items() if name in fields}
        config = GraphNetworkConfig(
            self.graphs[0].num_features,
            int(self.targets.max()) + 1,
            pooling,
            (first, max(1, math.ceil(_RATIO * first))),
            _RATIO,
            **layers,
        )
        torch.manual_seed(0)
        return GraphNetwork(config, backend=backend)

    def training(self, pooling: str) -> BatchTraining:
        """Our training, for one pass over the graphs of a turn."""
        given = {name: self.parameters(pooling)[name] for name in ("batch_size", "learning_rate", "weight_decay")}
        return BatchTraining(max_epochs=1, **given)

    def threads(self, pooling: str) -> AbstractContextManager[None]:
        """As many threads as the estimator takes."""
        given = self.parameters(pooling)
        return threads_worth_waking(given["batch_size"] * self.mean_nodes * given["hidden_channels"])


def _scaled(graphs: list[Graph]) -> list[Graph]:
    scaling = ColumnScaling.fit(graphs, "auto")
    if scaling.is_identity:
        return graphs
    dense = (graph.x.toarray() if sp.issparse(graph.x) else graph.x for graph in graphs)
    return [graph.with_features(scaling.rows(x)) for graph, x in zip(graphs, dense, strict=True)]


@dataclass(frozen=True)
class GraphVariant:
    """One way to train.

    Attributes:
        turn: trains on the graphs of a turn and returns milliseconds per batch of `BATCH` graphs.
        first: losses of the first batch by name, in float64, comparable to those of ours; call it before `turn`.

    """

    turn: Callable[[], float]
    first: Callable[[], dict[str, float]]


def pooling_name(pooling: str) -> str:
    """Name of the variant that is our network with one of its poolings."""
    if pooling == "tvgnn":
        return OURS
    return f"{pooling} pooling" + (", one graph at a time" if pooling in _ONE_BY_ONE else "")


def peer_names(ways: tuple[str, ...] = tuple(WAYS)) -> list[str]:
    """Variants of the peer, none where it is not installed."""
    return [f"{peer.NAME}, {way}".removesuffix(", ") for way in ways] if peer.AVAILABLE else []


def names_of_variants(problem: GraphProblem) -> list[str]:
    """All that are timed, ours first; those with another number of threads where the estimator's is not torch's."""
    with problem.threads("tvgnn"):
        same = torch.get_num_threads()
    ours, theirs = [OURS], peer_names()
    if same != torch.get_num_threads():
        ours.append(f"{OURS}, {_TORCH_THREADS}")
        theirs += [f"{name}, {_ONE_THREAD}" for name in theirs[:1]]
    return [*ours, *theirs, *(pooling_name(pooling) for pooling in POOLINGS if pooling != "tvgnn")]


def graph_variant(name: str, problem: GraphProblem) -> GraphVariant:
    """Make one of `names_of_variants`."""
    if name.startswith(peer.NAME):
        way = name.removeprefix(peer.NAME).removeprefix(", ")
        single = way == _ONE_THREAD
        return _peer(problem, "" if single else way, _one_thread if single else nullcontext)
    pooling = next((one for one in POOLINGS if pooling_name(one) == name.removesuffix(f", {_TORCH_THREADS}")), None)
    if pooling is None:
        raise ValueError(f"expected one of {', '.join(names_of_variants(problem))}, got {name!r}")
    return _ours(problem, pooling, own_threads=not name.endswith(_TORCH_THREADS))


def _ours(problem: GraphProblem, pooling: str, own_threads: bool) -> GraphVariant:
    """Train by the loop and with the batches, the network and the threads of `TVGraphClassifier`."""
    network, training = problem.network(pooling), problem.training(pooling)
    collection, encoded, order = problem.collection, torch.from_numpy(problem.targets), problem.order

    def losses(numbers: npt.NDArray[np.int64]) -> dict[str, Tensor]:
        outputs, others = network(collection.batch(numbers).to("cpu"))
        return {"cross_entropy": functional.cross_entropy(outputs, encoded[torch.from_numpy(numbers)])} | others

    def turn() -> float:
        clock = _Clock(_WARM_UP * BATCH // training.batch_size)

        def loss_of(numbers: npt.NDArray[np.int64]) -> Tensor:
            clock.batch_begins()
            return torch.stack(list(losses(numbers).values())).sum()

        def validation_loss() -> float:
            clock.end()
            return 0.0

        with problem.threads(pooling) if own_threads else nullcontext():
            train_on_batches(network, loss_of, validation_loss, order, training, _AsGiven())
        return clock.milliseconds / problem.timed_batches

    def first() -> dict[str, float]:
        with _in_double(network):
            return _numbers(losses(order[:BATCH]))

    return GraphVariant(turn, first)


def _peer(problem: GraphProblem, way: str, threads: Callable[[], AbstractContextManager[None]]) -> GraphVariant:
    """Train with plain Adam as its examples do."""
    # What is called later holds no problem, so that its graphs can be dropped, as its users hold their own only.
    network = PeerNetwork(problem.network(), way)
    graphs = PeerGraphs(problem.graphs, problem.targets)
    order = problem.order
    batches = [order[first : first + BATCH] for first in range(0, len(order), BATCH)]
    training, timed = problem.training("tvgnn"), problem.timed_batches
    optimizer = torch.optim.Adam(network.parameters(), training.learning_rate, weight_decay=training.weight_decay)

    def turn() -> float:
        clock = _Clock(_WARM_UP)
        with threads():
            clock.batch_begins()
            for batch in graphs.batches(batches):
                optimizer.zero_grad()
                loss = sum(network.losses(batch).values())
                loss.backward()
                optimizer.step()
                loss.item()
                clock.batch_begins()
        clock.end()
        return clock.milliseconds / timed

    def first() -> dict[str, float]:
        batch = next(graphs.batches(batches[:1]))
        batch.x = batch.x.double()
        with _in_double(network):
            return _numbers(network.losses(batch, comparable=True))

    return GraphVariant(turn, first)


class _Clock:
    """Time from the beginning of a batch, the first ones not counted, to the end."""

    def __init__(self, skipped: int) -> None:
        self._skipped = skipped
        self._begin = self._end = math.nan

    def batch_begins(self) -> None:
        """Call before a batch is made."""
        if self._skipped == 0:
            self._begin = time.perf_counter()
        self._skipped -= 1

    def end(self) -> None:
        """Call after the last."""
        self._end = time.perf_counter()

    @property
    def milliseconds(self) -> float:
        """Between both; NaN where there was no batch to time."""
        return 1000 * (self._end - self._begin)


class _AsGiven(np.random.Generator):
    """Shuffles nothing."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))

    def permutation(self, x: npt.NDArray[np.int64], axis: int = 0) -> npt.NDArray[np.int64]:
        return x


@contextmanager
def _in_double(network: nn.Module) -> Iterator[None]:
    """Without gradients and in float64, where the order of sums matters little.

    The peer computes ``(I - delta L) Z``, which in float32 loses up to 5 % of a loss where neighbours are much alike.
    """
    before = copy.deepcopy(network.state_dict())
    network.double()
    torch.set_default_dtype(torch.float64)  # of the adjacencies that the peer makes
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_default_dtype(torch.float32)
        network.float().load_state_dict(before)


def _numbers(losses: dict[str, Tensor]) -> dict[str, float]:
    return {name: loss.item() for name, loss in losses.items()}


def _one_thread() -> AbstractContextManager[None]:
    return threads_worth_waking(0)


def disagreement(ours: dict[str, float], theirs: dict[str, float]) -> str | None:
    """Say which of another's losses of the first batch differs from ours by more than rounding explains."""
    for name, value in ours.items():
        if not np.isclose(theirs[name], value, rtol=_TOLERANCE):
            return f"its {name} is {theirs[name]}, ours is {value}"
    return None
