"""Triton kernels of the asymmetric norm: the quantile is selected digit by digit, not sorted for.

Floating-point numbers become integers of the same order. Their digits of 8 bits are found from the highest down, each
from a histogram of the numbers that share the digits before it. A column of a large graph is shared among programs.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from tvgnn.ops._triton import on_device

__all__ = ["backward", "forward"]

BINS = tl.constexpr(256)
ROWS = tl.constexpr(1024)  # of a tile
_PROGRAMS = 512  # shares of all columns together, where columns are fewer


@triton.jit
def _ordered(bits, BITS: tl.constexpr):
    """Signed integer that orders like the number with these bits, and the other way round; NaN lies at either end."""
    return bits ^ ((bits >> (BITS - 1)) & ((1 << (BITS - 1)) - 1))


@triton.jit
def _rows(graph_ptr, graph, share, shares):
    """First row of a graph's share and one past its last."""
    first, last = tl.load(graph_ptr + graph).to(tl.int64), tl.load(graph_ptr + graph + 1).to(tl.int64)
    size = (last - first + shares - 1) // shares
    start = first + share * size
    return start, tl.minimum(start + size, last)


@triton.jit
def _descend(counts, keys, ranks, column, columns, shares, DIGITS: tl.constexpr):
    """First digits of the quantile, as many as said, and its rank among the numbers that share them."""
    key, rank = tl.load(keys + column), tl.load(ranks + column)
    if DIGITS > 0:
        bins = tl.arange(0, BINS)
        place = (DIGITS - 1) * columns + column
        key, rank = tl.load(keys + place), tl.load(ranks + place)
        total = tl.zeros([BINS], tl.int32)
        for share in range(shares):
            total += tl.load(counts + (place * shares + share) * BINS + bins)
        found = tl.sum((tl.cumsum(total, 0) <= rank).to(tl.int32), 0)
        rank -= tl.sum(tl.where(bins < found, total, 0), 0)
        if DIGITS == 1:
            found -= 128
        key = (key << 8) | found.to(key.dtype)
    return key, rank


@triton.jit
def _count_kernel(
    x, graph_ptr, counts, keys, ranks, nodes, clusters, columns, shares,
    BITS: tl.constexpr, INTEGER: tl.constexpr, DIGITS: tl.constexpr,
):  # fmt: skip
    """Histogram of the next digit after the first ``DIGITS``, which are taken from the histograms before."""
    column, share = tl.program_id(0).to(tl.int64), tl.program_id(1)
    key, rank = _descend(counts, keys, ranks, column, columns, shares, DIGITS)
    if (DIGITS > 0) & (share == 0):
        tl.store(keys + DIGITS * columns + column, key)
        tl.store(ranks + DIGITS * columns + column, rank)
    first, last = _rows(graph_ptr, column // clusters, share, shares)
    histogram = tl.zeros([BINS], tl.int32)
    for tile in range(0, last - first, ROWS):
        row = first + tile + tl.arange(0, ROWS)
        value = tl.load(x + (column % clusters) * nodes + row, mask=row < last, other=0.0)
        number = _ordered(value.to(INTEGER, bitcast=True), BITS)
        same, digit = row < last, number >> (BITS - 8 - 8 * DIGITS)
        if DIGITS == 0:
            digit += 128
        else:
            same = same & ((number >> (BITS - 8 * DIGITS)) == key)
        histogram += tl.histogram((digit & 255).to(tl.int32), BINS, mask=same)
    tl.store(counts + ((DIGITS * columns + column) * shares + share) * BINS + tl.arange(0, BINS), histogram)


@triton.jit
def _measure_kernel(
    x, graph_ptr, counts, keys, ranks, rho: tl.float64, norms, holders, nodes, clusters, columns, shares,
    BITS: tl.constexpr, INTEGER: tl.constexpr,
):  # fmt: skip
    """A share's part of the norm and its first holder of the quantile, ``nodes`` for none."""
    column, share = tl.program_id(0).to(tl.int64), tl.program_id(1)
    key, _ = _descend(counts, keys, ranks, column, columns, shares, BITS // 8)
    quantile = _ordered(key, BITS).to(x.dtype.element_ty, bitcast=True)
    first, last = _rows(graph_ptr, column // clusters, share, shares)
    rho = tl.full([], rho, tl.float64)
    total = tl.zeros([ROWS], tl.float64)  # a column of 10^5 float32 values would lose three digits
    holder = tl.zeros([], tl.int64) + nodes
    for tile in range(0, last - first, ROWS):
        row = first + tile + tl.arange(0, ROWS)
        value = tl.load(x + (column % clusters) * nodes + row, mask=row < last, other=0.0)
        difference = (value - quantile).to(tl.float64)
        total += tl.where(row < last, tl.where(difference >= 0, rho * difference, -difference), 0.0)
        holder = tl.minimum(holder, tl.min(tl.where((difference == 0) & (row < last), row, nodes), 0))
    tl.store(norms + column * shares + share, tl.sum(total, 0))
    tl.store(holders + column * shares + share, holder)


@triton.jit
def _above_kernel(s, graph_ptr, holders, above, clusters, shares):
    """How many numbers of a share are not below the quantile."""
    column, share = tl.program_id(0).to(tl.int64), tl.program_id(1)
    first, last = _rows(graph_ptr, column // clusters, share, shares)
    k, holder = column % clusters, tl.load(holders + column)
    quantile = tl.load(s + tl.maximum(holder, 0) * clusters + k)
    total = tl.zeros([ROWS], tl.int32)
    for tile in range(0, last - first, ROWS):
        row = first + tile + tl.arange(0, ROWS)
        value = tl.load(s + row * clusters + k, mask=row < last, other=0.0)
        total += ((value >= quantile) & (row < last)).to(tl.int32)
    tl.store(above + column * shares + share, tl.sum(total, 0))


@triton.jit
def _gradient_kernel(s, graph_ptr, holders, above, g, rho: tl.float64, ds, clusters, shares):
    """Rho or -1 for each number, and minus their sum for the one that holds the quantile, times the graph's ``g``."""
    column, share = tl.program_id(0).to(tl.int64), tl.program_id(1)
    graph, k, holder = column // clusters, column % clusters, tl.load(holders + column)
    count = tl.zeros([], tl.int32)
    for other in range(shares):
        count += tl.load(above + column * shares + other)
    size = (tl.load(graph_ptr + graph + 1) - tl.load(graph_ptr + graph)).to(tl.int32)
    quantile = tl.load(s + tl.maximum(holder, 0) * clusters + k)
    pull, rho = tl.load(g + graph).to(tl.float64), tl.full([], rho, tl.float64)
    first, last = _rows(graph_ptr, graph, share, shares)
    for tile in range(0, last - first, ROWS):
        row = first + tile + tl.arange(0, ROWS)
        value = tl.load(s + row * clusters + k, mask=row < last, other=0.0)
        slope = tl.where(value >= quantile, rho, -1.0)
        slope -= tl.where(row == holder, rho * count - (size - count), 0.0)
        slope *= pull
        if ds.dtype.element_ty != tl.float64:  # half precision is rounded from float32
            slope = slope.to(tl.float32)
        tl.store(ds + row * clusters + k, slope, mask=row < last)


def _shares(nodes: int, columns: int) -> int:
    """Programs of a column."""
    return max(1, min(triton.cdiv(nodes, ROWS.value), _PROGRAMS // columns))


def forward(s: Tensor, graph_ptr: Tensor, rho: float) -> tuple[Tensor, Tensor]:
    """See `tvgnn.ops.asymmetric_norm.op`."""
    (nodes, clusters), graphs = s.shape, graph_ptr.shape[0] - 1
    columns = graphs * clusters
    sizes = graph_ptr.diff()
    if columns == 0 or nodes == 0:
        return s.new_zeros(graphs), torch.full((graphs, clusters), -1, dtype=torch.int64, device=s.device)
    x = (s if s.dtype == torch.float64 else s.float()).T.contiguous()
    integer, dtype = (tl.int64, torch.int64) if x.dtype == torch.float64 else (tl.int32, torch.int32)
    bits, shares = 8 * x.element_size(), _shares(nodes, columns)
    above = torch.minimum((sizes / (rho + 1.0)).floor().long(), sizes - 1)
    keys = torch.zeros(bits // 8, columns, dtype=dtype, device=s.device)
    ranks = torch.empty(bits // 8, columns, dtype=torch.int32, device=s.device)
    ranks[0] = (sizes - 1 - above).repeat_interleave(clusters, output_size=columns)
    counts = torch.empty(bits // 8, columns, shares, BINS.value, dtype=torch.int32, device=s.device)
    norms = torch.empty(columns, shares, dtype=torch.float64, device=s.device)
    holders = torch.empty(columns, shares, dtype=torch.int64, device=s.device)
    with on_device(s):
        for digits in range(bits // 8):
            _count_kernel[columns, shares](
                x, graph_ptr, counts, keys, ranks, nodes, clusters, columns, shares,
                BITS=bits, INTEGER=integer, DIGITS=digits, enable_fp_fusion=True,
            )  # fmt: skip
        _measure_kernel[columns, shares](
            x, graph_ptr, counts, keys, ranks, rho, norms, holders, nodes, clusters, columns, shares,
            BITS=bits, INTEGER=integer, enable_fp_fusion=True,
        )  # fmt: skip
    first = holders.amin(1).view(graphs, clusters)
    first = torch.where(first < nodes, first, graph_ptr[:-1, None])  # NaN or infinity equals nothing
    first = torch.where(sizes[:, None] > 0, first, -1)
    return norms.view(graphs, -1).sum(1).to(s.dtype), first


def backward(grad: Tensor, s: Tensor, graph_ptr: Tensor, holders: Tensor, rho: float) -> Tensor:
    """See `tvgnn.ops.asymmetric_norm.op`."""
    s, ds = s.contiguous(), torch.zeros_like(s, memory_format=torch.contiguous_format)
    if ds.numel() == 0:
        return ds
    (nodes, clusters), columns = s.shape, holders.numel()
    shares = _shares(nodes, columns)
    above = torch.empty(columns, shares, dtype=torch.int32, device=s.device)
    with on_device(s):
        _above_kernel[columns, shares](s, graph_ptr, holders, above, clusters, shares, enable_fp_fusion=True)
        _gradient_kernel[columns, shares](
            s, graph_ptr, holders, above, grad.contiguous(), rho, ds, clusters, shares, enable_fp_fusion=True
        )
    return ds
