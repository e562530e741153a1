"""Graphs, features and comparisons that the operator tests share."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

from tvgnn.graph.adjacency import Adjacency

SIZES = (0, 1, 2, 63, 1000)
WIDTHS = (1, 17, 64)
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-10, torch.bfloat16: 2e-2, torch.float16: 3e-3}
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"  # of the GPU kernels; without a GPU they are interpreted
needs_triton = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
interpreted = pytest.mark.skipif(DEVICE != "cpu", reason="the interpreter is for machines without a GPU")
GPU = pytest.param("gpu", marks=[needs_triton, interpreted])


def edges_of(pairs: Sequence[tuple[int, int]]) -> Tensor:
    """Directed edges as (2, E)."""
    return torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T


def both_ways(pairs: Sequence[tuple[int, int]]) -> Tensor:
    """Undirected edges as (2, 2E)."""
    edges = edges_of(pairs)
    return torch.cat([edges, edges.flip(0)], dim=1)


def awkward_edges(nodes: int, generator: torch.Generator) -> Tensor:
    """Directed edges with duplicates, self-loops and (from 63 nodes on) isolated nodes."""
    if nodes == 0:
        return torch.empty(2, 0, dtype=torch.int64)
    connected = nodes if nodes < 63 else nodes - 5
    edges = torch.randint(0, connected, (2, 4 * nodes), generator=generator)
    loops = torch.arange(0, connected, 3).repeat(2, 1)
    return torch.cat([edges, edges[:, : nodes // 2], loops], dim=1)


def general(nodes: int, weighted: bool, dtype: torch.dtype, seed: int = 0) -> Adjacency:
    """A directed graph with every oddity; a tenth of the weights is zero."""
    generator = torch.Generator().manual_seed(seed)
    edges = awkward_edges(nodes, generator)
    weights = None
    if weighted:
        weights = torch.rand(edges.shape[1], generator=generator, dtype=dtype) + 0.1
        weights[::10] = 0
    return Adjacency.from_edge_index(edges, weights, nodes)


def symmetric(nodes: int, weighted: bool, dtype: torch.dtype, seed: int = 0) -> Adjacency:
    """An undirected graph that is marked so and carries no transposed lists: the kernels' one-pass gradient."""
    generator = torch.Generator().manual_seed(seed)
    edges = awkward_edges(nodes, generator)
    edges = torch.cat([edges, edges.flip(0)], dim=1)
    weights = None
    if weighted:
        half = torch.rand(edges.shape[1] // 2, generator=generator, dtype=dtype) + 0.1
        half[::10] = 0
        weights = half.repeat(2)
    return as_symmetric(Adjacency.from_edge_index(edges, weights, nodes))


def multigraph(pairs: dict[tuple[int, int], int], nodes: int) -> Adjacency:
    """As many parallel edges between pairs as said: rows long enough to be cut among few nodes."""
    edges = [pair for pair, count in pairs.items() for _ in range(count)]
    return Adjacency.from_edge_index(edges_of(edges), None, nodes)


# Rows and columns that begin and end inside, at the edge of and across the chunks of 256 entries of the GPU kernels
LONG_ROWS = {(0, 1): 300, (0, 2): 470, (1, 3): 3, (2, 0): 100, (2, 4): 151, (3, 1): 257, (4, 4): 7, (5, 0): 256}
LONG_BOTH_WAYS = {(0, 1): 300, (1, 0): 300, (0, 2): 5, (2, 0): 5, (3, 1): 257, (1, 3): 257, (5, 5): 1}


def as_symmetric(adjacency: Adjacency) -> Adjacency:
    """The same rows, marked symmetric, without transposed lists."""
    return Adjacency(
        adjacency.indptr, adjacency.indices, adjacency.values, adjacency.num_nodes, symmetric=True, transposed=None
    )


def star(leaves: int) -> Adjacency:
    """Node 0 is the hub."""
    leaf = torch.arange(1, leaves + 1)
    hub = torch.zeros_like(leaf)
    edges = torch.stack([torch.cat([hub, leaf]), torch.cat([leaf, hub])])
    return as_symmetric(Adjacency.from_edge_index(edges, None, leaves + 1))


def trainable(adjacency: Adjacency) -> Adjacency:
    """The same graph with weights that take a gradient."""
    return adjacency.with_values(adjacency.weights(torch.float64).clone().requires_grad_())


def assert_close(actual: Tensor, expected: Tensor, dtype: torch.dtype, what: str = "result") -> None:
    """Compare relative to the largest magnitude, so that cancelled entries count no more than they should."""
    assert actual.shape == expected.shape, f"{what}: {tuple(actual.shape)} against {tuple(expected.shape)}"
    assert actual.dtype == expected.dtype, f"{what}: {actual.dtype} against {expected.dtype}"
    if expected.numel() == 0:
        return
    worst = (actual.double() - expected.double()).abs().max().item()
    scale = max(1.0, expected.abs().max().item())
    assert worst <= TOLERANCE[dtype] * scale, f"{what}: off by {worst} where the largest magnitude is {scale}"


def value_and_gradients(function: Callable[..., Tensor], *inputs: Tensor | None) -> list[Tensor]:
    """Output of ``function`` and the gradients of its random projection with respect to every input that is there."""
    leaves = [None if x is None else x.detach().clone().requires_grad_() for x in inputs]
    out = function(*leaves)
    projection = randn(*out.shape, seed=99).to(out)
    present = [leaf for leaf in leaves if leaf is not None]
    gradients = torch.autograd.grad((out * projection).sum(), present, allow_unused=True)
    return [out.detach()] + [
        torch.zeros_like(leaf) if gradient is None else gradient
        for leaf, gradient in zip(present, gradients, strict=True)
    ]


def assert_same_as_reference(
    function: Callable[..., Tensor],
    inputs: Sequence[Tensor | None],
    names: Sequence[str],
    dtype: torch.dtype,
    backend: str = "cpu",
) -> None:
    """Run ``function(*inputs, backend=...)`` on both backends; compare the output and every gradient."""
    expected = value_and_gradients(lambda *x: function(*x, backend="reference"), *inputs)
    actual = value_and_gradients(lambda *x: function(*x, backend=backend), *inputs)
    labels = ["output", *[f"gradient of {n}" for n, x in zip(names, inputs, strict=True) if x is not None]]
    for label, a, b in zip(labels, actual, expected, strict=True):
        assert_close(a, b, dtype, label)


def randn(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 1) -> Tensor:
    """Seeded normal values."""
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))
