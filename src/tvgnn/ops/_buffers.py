"""Large arrays of the cpu that are used again instead of being given back to the system.

Every epoch needs the same large arrays. The system hands them out page by page, each filled with zeros, which takes
as long as the computation on graphs of 10^6 nodes; and the allocator's heap, made to keep them, falls to pieces. While
`reused_arrays` is active an array that is no longer referenced waits here for the next request of its size.
"""

from __future__ import annotations

import math
import mmap
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

__all__ = ["empty", "empty_like", "reused_arrays"]

_SMALLEST = 2**20  # bytes; the allocator keeps smaller ones by itself


class _Pool:
    """Blocks that nobody uses, by size in bytes."""

    def __init__(self) -> None:
        self.users = 0
        self.lock = threading.RLock()  # a garbage collection inside may let go of an array
        self.blocks: defaultdict[int, list[mmap.mmap]] = defaultdict(list)

    def take(self, size: int) -> mmap.mmap:
        """Return a block of that many bytes, at the beginning of a page."""
        with self.lock:
            waiting = self.blocks.get(size)
            if waiting:
                return waiting.pop()
        if not hasattr(mmap, "MADV_HUGEPAGE"):
            return mmap.mmap(-1, size)
        block = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # shared memory has small pages only
        block.madvise(mmap.MADV_HUGEPAGE)  # fewer pages to fill and, where rows are gathered, to look up
        return block

    def give_back(self, block: mmap.mmap) -> None:
        """Keep a block for the next request, or let it go where nobody reuses arrays any more."""
        with self.lock:
            if self.users:
                self.blocks[len(block)].append(block)

    def enter(self) -> None:
        """Count one who reuses arrays."""
        with self.lock:
            self.users += 1

    def leave(self) -> None:
        """Count one less, and let go of what waits after the last."""
        with self.lock:
            self.users -= 1
            if not self.users:
                self.blocks.clear()


_POOL = _Pool()


class _Lease:
    """Owner of a block for as long as an array lives."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self._block = _POOL.take(math.prod(shape) * dtype.itemsize)
        address = np.frombuffer(self._block, np.uint8).__array_interface__["data"]
        self.__array_interface__ = {"shape": shape, "typestr": dtype.str, "data": address, "version": 3}

    def __del__(self) -> None:
        _POOL.give_back(self._block)


def empty(shape: tuple[int, ...], like: Tensor) -> Tensor:
    """Uninitialised contiguous tensor of ``like``'s dtype and device."""
    if not _POOL.users or like.device.type != "cpu" or like.dtype.itemsize < 4:
        return like.new_empty(shape)
    if math.prod(shape) * like.element_size() < _SMALLEST:
        return like.new_empty(shape)
    dtype = np.dtype(str(like.dtype).removeprefix("torch."))
    return torch.from_numpy(np.asarray(_Lease(shape, dtype)))


def empty_like(x: Tensor) -> Tensor:
    """Uninitialised contiguous tensor of ``x``'s shape, dtype and device."""
    return empty(tuple(x.shape), x)


@contextmanager
def reused_arrays() -> Iterator[None]:
    """Reuse arrays while the context lasts; those that wait at its end go back to the system."""
    _POOL.enter()
    try:
        yield
    finally:
        _POOL.leave()
