"""Time and memory per edge from small to large graphs, and a hub against a regular graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from benchmarks import graphs
from benchmarks.probes import probe
from benchmarks.records import Measurement
from benchmarks.timing import clock, interleaved
from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops.gtv_step import gtv_step

__all__ = ["hub", "million_nodes", "per_edge"]

_WIDTH = 128
_MEGABYTE = 1e6


def _step(adjacency: Adjacency) -> Callable[[], None]:
    """A GTV step, forward and backward."""
    torch.manual_seed(0)
    z = torch.randn(adjacency.num_nodes, _WIDTH, requires_grad=True)
    grad = torch.randn_like(z)

    def run() -> None:
        torch.autograd.grad(gtv_step(z, adjacency, 0.311), z, grad)

    return run


def per_edge(sizes: tuple[int, ...], dimensions: int, rounds: int) -> Iterator[list[Measurement]]:
    """Nanoseconds and bytes per undirected edge of a GTV step forward and backward on kNN graphs."""
    title = f"gtv_step x {_WIDTH}, kNN graphs of {dimensions}-D points"
    adjacencies = {f"{size} nodes": graphs.knn(size, dimensions) for size in sizes}
    edges = {name: adjacency.num_entries / 2 for name, adjacency in adjacencies.items()}
    calls = {name: clock(_step(adjacency)) for name, adjacency in adjacencies.items()}
    samplers = {name: (lambda call=call, name=name: 1e6 * call() / edges[name]) for name, call in calls.items()}
    yield interleaved(f"{title}, time", samplers, rounds, unit="ns/edge")
    if dimensions == 2:
        memory = {
            f"{size} nodes": (lambda size=size: probe("gtv_step_memory", "knn", size, _WIDTH) / edges[f"{size} nodes"])
            for size in sizes
        }
        yield interleaved(f"{title}, peak memory", memory, rounds=3, unit="bytes/edge", warm_up=0)


def hub(leaves: int, rounds: int) -> list[Measurement]:
    """A star against a ring with as many edges."""
    samplers = {
        f"ring of {leaves + 1} nodes": clock(_step(graphs.ring(leaves + 1))),
        f"star with {leaves} leaves": clock(_step(graphs.star(leaves))),
    }
    return interleaved(f"gtv_step x {_WIDTH}, hub", samplers, rounds)


def million_nodes(nodes: int, epochs: int) -> Iterator[list[Measurement]]:
    """`TVClustering` full batch: 15 neighbours, 64 features, 20 clusters, hidden width 128."""
    graphs.knn(nodes)  # made here, so that its memory does not count
    result = probe("clustering", nodes, 64, epochs)
    title, variant = f"TVClustering, {nodes} nodes, {epochs} epochs", "tvgnn"

    def once(what: str, value: float, unit: str) -> Measurement:
        return Measurement(f"{title}, {what}", variant, value, value, value, repetitions=1, unit=unit)

    yield [once("fit", 1000 * result["seconds"], "ms")]
    yield [once("per epoch", result["ms_per_epoch"], "ms")]
    yield [once("peak memory of the process", result["bytes"] / _MEGABYTE, "MB")]
