"""What an epoch cannot go below: its dense products, and the bytes it moves over the bandwidth of a plain copy.

Both parts are measured in the same rounds as what they are compared with. Bytes are counted twice over: ``gathered``
counts a neighbour's row every time that an entry refers to it, ``once`` counts each array a single time, as if every
row that is gathered lay in a cache. The second is out of reach for graphs larger than the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from benchmarks.timing import Sampler, clock
from tvgnn.models.node_clustering import NodeClusteringConfig

__all__ = ["copy_time", "dense_products", "epoch_bytes", "gtv_step_bytes"]

_COPY_BYTES = 2**27  # a buffer four times the size of a large cache
_FLOAT = 4


def copy_time() -> Sampler:
    """Sample the milliseconds a plain copy takes per gigabyte that it moves, reads and writes both counted."""
    source = torch.ones(_COPY_BYTES // _FLOAT)
    target = torch.empty_like(source)
    moved = 2 * _COPY_BYTES / 1e9

    timed = clock(lambda: target.copy_(source))
    return lambda: timed() / moved


def gtv_step_bytes(entries: int, width: int, *, backward: bool) -> int:
    """Bytes of the neighbours' rows: those of z, and in the backward pass those of the gradient too."""
    return _FLOAT * entries * width * (2 if backward else 1)


def epoch_bytes(config: NodeClusteringConfig, nodes: int, entries: int, nonzeros: int | None, *, gathered: bool) -> int:
    """Bytes of an epoch outside its dense products.

    Parameters:
        config: architecture.
        nodes: N.
        entries: directed edges.
        nonzeros: of sparse features; None where they are dense, whose product counts among the dense ones.
        gathered: see the module.

    """
    total = sum(_activations(config, nodes)) + _optimizer(config)
    if nonzeros is not None:
        index_and_value = 2 * _FLOAT * nonzeros
        out_and_weight = _FLOAT * config.hidden_channels * (nodes + config.in_channels)
        total += 2 * (index_and_value + out_and_weight)  # forward, and the gradient of the weight
        if gathered:
            total += 2 * _FLOAT * config.hidden_channels * nonzeros
    if gathered:
        for backward in (False, True):
            total += config.num_layers * gtv_step_bytes(entries, config.hidden_channels, backward=backward)
            total += gtv_step_bytes(entries, config.n_clusters, backward=False)  # total variation, either direction
    return total


def _activations(config: NodeClusteringConfig, nodes: int) -> Iterator[int]:
    """Rows of the nodes' own, read and written by the passes that are not products."""
    row = _FLOAT * nodes
    for _ in range(config.num_layers):
        yield row * config.hidden_channels * 2  # z in; bias and activation applied on the way out
        yield row * config.hidden_channels * 4  # gradient, output and z in; gradient of z out
    yield row * config.mlp_channels * (2 + 3)  # relu
    yield row * config.n_clusters * (2 + 3)  # softmax
    yield row * config.n_clusters * (1 + 3) * 2  # total variation and balance: S in; S, gradient in, gradient out


def _optimizer(config: NodeClusteringConfig) -> int:
    """Adam reads parameter, gradient and two moments, and writes all but the gradient."""
    hidden, mlp, clusters = config.hidden_channels, config.mlp_channels, config.n_clusters
    parameters = hidden * (config.in_channels + (config.num_layers - 1) * hidden + config.num_layers)
    parameters += mlp * (hidden + 1) + clusters * (mlp + 1)
    return 7 * _FLOAT * parameters


def dense_products(config: NodeClusteringConfig, nodes: int, x: torch.Tensor | None) -> Callable[[], None]:
    """Prepare the products of an epoch: forward and both gradients of each linear map, into memory that stays.

    The first map is left out where features are sparse (``x`` None); features need no gradient.
    """
    hidden, mlp = config.hidden_channels, config.mlp_channels
    widths = [(hidden, hidden)] * (config.num_layers - 1) + [(hidden, mlp), (mlp, config.n_clusters)]
    products: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = []

    def add(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        products.append((left, right, torch.empty(left.shape[0], right.shape[1])))
        return products[-1][2]

    if x is not None:
        out = add(x, torch.randn(x.shape[1], hidden))
        add(x.T, out)
    for before, after in widths:
        rows, weight = torch.randn(nodes, before), torch.randn(before, after)
        out = add(rows, weight)
        add(rows.T, out)
        add(out, weight.T)

    def run() -> None:
        for left, right, out in products:
            torch.mm(left, right, out=out)

    return run
