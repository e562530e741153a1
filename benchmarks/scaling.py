"""Time and memory per edge from small to large graphs, and a hub against a regular graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from benchmarks import graphs
from benchmarks.probes import probe
from benchmarks.records import Measurement
from benchmarks.timing import Sampler, clock, interleaved
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.locality import relabel_by_locality
from tvgnn.ops.gtv_step import gtv_step
from tvgnn.training.memory import reused_buffers

__all__ = ["hub", "million_nodes", "per_edge", "quality_preset"]

_WIDTH = 128
_MEGABYTE = 1e6


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

    Nodes come in random order; `benchmarks.graphs.laid_out` says what is done about it. The order is found before.
    """
    title = f"gtv_step x {_WIDTH}, kNN graphs of {dimensions}-D points"
    adjacencies = {size: graphs.knn(size, dimensions) for size in sizes}
    edges = {size: adjacency.num_entries / 2 for size, adjacency in adjacencies.items()}
    times: dict[str, Sampler] = {}
    for size, given in adjacencies.items():
        rows = _rows(size)
        for layout, adjacency in graphs.laid_out(given, _WIDTH).items():
            times[f"{size} nodes{layout}"] = _per(edges[size], _step(adjacency, rows), 1e6)
    with reused_buffers():  # as in training
        figures = interleaved(f"{title}, time", times, rounds, unit="ns/edge")
    yield figures
    if dimensions == 2:
        memory = {
            f"{size} nodes{layout}": _per(edges[size], partial(_memory, size, layout))
            for size, given in adjacencies.items()
            for layout in graphs.laid_out(given, _WIDTH)
        }
        yield interleaved(f"{title}, peak memory", memory, rounds=3, unit="bytes/edge", warm_up=0)
    orders = {
        f"{size} nodes": clock(partial(relabel_by_locality, given, _WIDTH)) for size, given in adjacencies.items()
    }
    yield interleaved(f"{title}, finding the order", orders, rounds=3, warm_up=0)


def _memory(nodes: int, layout: str) -> float:
    return float(probe("gtv_step_memory", nodes, _WIDTH, layout))


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
    result = probe("clustering", nodes, 64, {"hidden_channels": 128, "max_iter": epochs, "patience": epochs})
    title, variant = f"TVClustering, {nodes} nodes, {epochs} epochs", "tvgnn"

    def once(what: str, value: float, unit: str) -> Measurement:
        return Measurement(f"{title}, {what}", variant, value, value, value, repetitions=1, unit=unit)

    yield [once("fit", 1000 * result["seconds"], "ms")]
    yield [once("per epoch", result["ms_per_epoch"], "ms")]
    yield [once("peak memory of the process", result["bytes"] / _MEGABYTE, "MB")]


def quality_preset(sizes: tuple[int, ...], n_init: int, batch_size: int | None = None) -> Iterator[list[Measurement]]:
    """`TVClustering(preset="quality")`, whole fits: 15 neighbours, 64 features, 20 clusters."""
    for nodes in sizes:
        graphs.knn(nodes)
    options = {"preset": "quality", "n_init": n_init, "batch_size": batch_size}
    results = {nodes: probe("clustering", nodes, 64, options) for nodes in sizes}

    def table(what: str, unit: str, value: Callable[[dict[str, float]], float]) -> list[Measurement]:
        title = f"preset=quality, n_init={n_init}, batch_size={batch_size}, {what}"
        found = {nodes: value(result) for nodes, result in results.items()}
        return [Measurement(title, f"{nodes} nodes", v, v, v, repetitions=1, unit=unit) for nodes, v in found.items()]

    yield table("fit", "ms", lambda result: 1000 * result["seconds"])
    yield table("fit per edge", "ns/edge", lambda result: 1e9 * result["seconds"] / result["edges"])
    yield table("peak memory of the process", "MB", lambda result: result["bytes"] / _MEGABYTE)
