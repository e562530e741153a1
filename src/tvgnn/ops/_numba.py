"""How every numba kernel is compiled, launched and divided among threads.

Rows are cut into tasks of equal work, one unit a row and one an entry. A row of many entries (a hub) may be cut in the
middle, so that one node of degree 10^5 does not keep a single thread busy. The cuts depend on the matrix alone, never
on the number of threads: results are bitwise the same for any number of them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import torch
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from torch import Tensor

__all__ = [
    "FASTMATH",
    "add_pieces",
    "as_array",
    "entry_values",
    "inline",
    "kernel",
    "last_row",
    "make_plan",
    "piece",
    "prefetch_row",
    "starts_cut_row",
    "use_threads",
]

# Sums may be reordered, so that loops vectorise; NaN and infinity keep their meaning (no "nnan", no "ninf").
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}
HUB = 512  # a row with more entries than this may be cut
UNITS_PER_TASK = 1024
MAX_TASKS = 512
SHARED_ELEMENTS = 32768  # torch's own grain size

# The OpenMP layer binds to the OpenMP runtime that torch has loaded, so both share one pool of threads. Any other
# layer has a pool of its own, which competes with torch's spinning workers (measured: 40 % slower epochs on Cora).
numba.config.THREADING_LAYER_PRIORITY = ["omp", "tbb", "workqueue"]


def _start_threads() -> None:
    """Start numba's threads, which sets OpenMP's number of threads, torch's too, and then give torch its own back."""
    threads = torch.get_num_threads()
    numba.set_num_threads(1)
    torch.set_num_threads(threads)


_start_threads()

_LINE = 16  # float32 numbers of a cache line
_PREFETCHED = 1024  # columns of a row; the hardware follows longer rows by itself

# Every parallel loop is a prange; looking for others in array expressions only takes time to compile.
_SOUGHT = ("comprehension", "reduction", "inplace_binop", "setitem", "numpy", "stencil", "fusion")
_PRANGE_ONLY = {"prange": True, **dict.fromkeys(_SOUGHT, False)}

inline = njit(fastmath=FASTMATH, error_model="numpy", cache=True, nogil=True)


def _links_machine_code() -> bool:
    """Whether numba is one of whose inner parts `_machine_code` is known to fit; else kernels are in numba's cache."""
    release = tuple(int(part) for part in re.findall(r"\d+", numba.__version__)[:2])
    return sys.platform == "linux" and (0, 60) <= release <= (0, 68)


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that Python calls, and no compiled function does."""
    linked = _links_machine_code()
    options = {"fastmath": FASTMATH, "error_model": "numpy", "nogil": True, "cache": not linked}
    compiled = njit(parallel=_PRANGE_ONLY, **options)(function)
    if linked and not numba.config.DISABLE_JIT:  # with it, kernels stay plain functions
        from tvgnn.ops._machine_code import MachineCodeCache

        compiled._cache = MachineCodeCache(compiled)
    return compiled


def as_array(tensor: Tensor) -> np.ndarray:
    """Share a CPU tensor's memory as a C-contiguous array."""
    if tensor.requires_grad:
        tensor = tensor.detach()
    return (tensor if tensor.is_contiguous() else tensor.contiguous()).numpy()


def use_threads(elements: int) -> None:
    """Let the next kernel use torch's number of threads, or one where it touches too few elements to share.

    Waking the other threads costs more than a small kernel, and far more on a machine that is busy.
    """
    threads = min(torch.get_num_threads(), numba.config.NUMBA_NUM_THREADS)
    numba.set_num_threads(threads if elements >= SHARED_ELEMENTS else 1)


def entry_values(values: Tensor | None, like: Tensor) -> np.ndarray:
    """Values as an array of ``like``'s dtype; empty where there are none, which kernels read as ones."""
    if values is None:
        return np.empty(0, str(like.dtype).removeprefix("torch."))
    return as_array(values if values.dtype == like.dtype else values.to(like.dtype))


@intrinsic
def _prefetch(_context: Any, array: Any, row: Any, column: Any) -> Any:
    """Ask for the cache line of ``array[row, column]``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, *index_kinds = signature.args
        source = context.make_array(kind)(context, builder, arguments[0])
        indices = [
            context.cast(builder, value, given, types.intp)
            for value, given in zip(arguments[1:], index_kinds, strict=True)
        ]
        pointer = cgutils.get_item_pointer(context, builder, kind, source, indices, wraparound=False)
        address, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        declared = ir.FunctionType(ir.VoidType(), [address, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, declared, "llvm.prefetch.p0")
        read, keep, data = number(0), number(3), number(1)
        builder.call(function, [builder.bitcast(pointer, address), read, keep, data])
        return context.get_dummy_value()

    return types.void(array, row, column), generate


@inline
def prefetch_row(array, row):
    """Ask for a row of a 2-D array that will be read soon: gathered rows lie where the hardware does not look."""
    for column in range(0, min(_PREFETCHED, array.shape[1]), _LINE):
        _prefetch(array, row, column)


@njit(cache=True)
def _cut(indptr, position):
    """Row in which a position of the work lies and how many of its entries come before it; short rows stay whole."""
    rows = indptr.shape[0] - 1
    low, high = 0, rows
    while low < high:  # the largest row with indptr[row] + row <= position
        middle = (low + high + 1) // 2
        if indptr[middle] + middle <= position:
            low = middle
        else:
            high = middle - 1
    if low == rows:
        return rows, 0
    before = position - indptr[low] - low
    if indptr[low + 1] - indptr[low] <= HUB:
        return (low, 0) if before == 0 else (low + 1, 0)
    return low, before


@njit(cache=True)
def make_plan(indptr):
    """Cut the rows into tasks: (tasks, 4) int64 of first row, its entries of earlier tasks, last row, its entries here.

    A task owns the rows in between; the last row belongs to it only as far as its last column says.
    """
    rows = indptr.shape[0] - 1
    work = np.int64(indptr[rows]) + rows
    tasks = max(1, min(MAX_TASKS, work // UNITS_PER_TASK))
    plan = np.empty((tasks, 4), np.int64)
    row, before = 0, 0
    for task in range(tasks):
        plan[task, 0], plan[task, 1] = row, before
        row, before = _cut(indptr, work * (task + 1) // tasks)
        plan[task, 2], plan[task, 3] = row, before
    return plan


@njit(cache=True)
def last_row(plan, task):
    """One past the last row that a task touches."""
    return plan[task, 2] + (1 if plan[task, 3] > 0 else 0)


@njit(cache=True)
def piece(plan, task, row, indptr):
    """(first entry, one past the last, slot of the partial sum or -1 when the whole row lies in this task)."""
    first, last = np.int64(indptr[row]), np.int64(indptr[row + 1])
    slot = -1
    if row == plan[task, 2] and plan[task, 3] > 0:
        last = first + plan[task, 3]
        slot = 2 * task + 1
    if row == plan[task, 0] and plan[task, 1] > 0:
        first += plan[task, 1]
        slot = 2 * task
    return first, last, slot


@njit(cache=True)
def starts_cut_row(plan, task):
    """Whether the last row of a task begins there and goes on in later tasks."""
    return plan[task, 3] > 0 and not (plan[task, 1] > 0 and plan[task, 0] == plan[task, 2])


@njit(cache=True)
def add_pieces(plan, partial, task, out):
    """Add the partial sums (2 * tasks, width) of the row that ``task`` starts to that row of ``out``, in task order."""
    row = plan[task, 2]
    for f in range(out.shape[1]):
        out[row, f] += partial[2 * task + 1, f]
    later = task + 1
    while later < plan.shape[0] and plan[later, 0] == row and plan[later, 1] > 0:
        for f in range(out.shape[1]):
            out[row, f] += partial[2 * later, f]
        later += 1
