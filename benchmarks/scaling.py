"""Time and memory per edge from small to large graphs, and a hub against a regular graph."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from benchmarks import graphs
from benchmarks.probes import probe
from benchmarks.records import Measurement
from benchmarks.timing import Sampler, clock, interleaved
from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops.gtv_step import gtv_step
from tvgnn.training.memory import reused_buffers

__all__ = ["hub", "million_nodes", "per_edge"]

_WIDTH = 128
_MEGABYTE = 1e6
_GIVEN = ", order as given"


def _rows(nodes: int) -> tuple[Tensor, Tensor]:
    """Rows z, and a gradient of what becomes of them."""
    torch.manual_seed(0)
    z = torch.randn(nodes, _WIDTH)
    return z.requires_grad_(), torch.randn_like(z)


def _step(adjacency: Adjacency, rows: tuple[Tensor, Tensor]) -> Sampler:
    """Time a GTV step, forward and backward."""
    z, grad = rows
    return clock(lambda: torch.autograd.grad(gtv_step(z, adjacency, 0.311), z, grad), warm_up=1)


def per_edge(sizes: tuple[int, ...], dimensions: int, rounds: int) -> Iterator[list[Measurement]]:
    """Nanoseconds and bytes per undirected edge of a GTV step forward and backward on kNN graphs.

    Nodes are ordered by locality once before, which is timed apart, and a second time left in their random order.
    """
    title = f"gtv_step x {_WIDTH}, kNN graphs of {dimensions}-D points"
    adjacencies = {size: graphs.knn(size, dimensions) for size in sizes}
    edges = {size: adjacency.num_entries / 2 for size, adjacency in adjacencies.items()}
    times: dict[str, Sampler] = {}
    for size, given in adjacencies.items():
        rows, ordered = _rows(size), given.by_locality(_WIDTH)
        times[f"{size} nodes"] = _per(edges[size], _step(ordered, rows), 1e6)
        if ordered.relabelled is not None:
            times[f"{size} nodes{_GIVEN}"] = _per(edges[size], _step(given, rows), 1e6)
    with reused_buffers():  # as in training
        figures = interleaved(f"{title}, time", times, rounds, unit="ns/edge")
    yield figures
    if dimensions == 2:
        memory = {
            f"{size} nodes{'' if ordered else _GIVEN}": _per(edges[size], partial(_memory, size, ordered))
            for size in sizes
            for ordered in (True, False)
        }
        yield interleaved(f"{title}, peak memory", memory, rounds=3, unit="bytes/edge", warm_up=0)
    orders = {f"{size} nodes": clock(partial(given.by_locality, _WIDTH)) for size, given in adjacencies.items()}
    yield interleaved(f"{title}, finding the order", orders, rounds=3, warm_up=0)


def _memory(nodes: int, ordered: bool) -> float:
    return float(probe("gtv_step_memory", nodes, _WIDTH, ordered))


def _per(edges: float, sampler: Sampler, factor: float = 1) -> Sampler:
    return lambda: factor * sampler() / edges


def hub(leaves: int, rounds: int) -> list[Measurement]:
    """A star against a ring with as many edges."""
    nodes = _rows(leaves + 1)
    samplers = {
        f"ring of {leaves + 1} nodes": _step(graphs.ring(leaves + 1), nodes),
        f"star with {leaves} leaves": _step(graphs.star(leaves), nodes),
    }
    with reused_buffers():
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
