"""Whether large buffers that were freed stay in the process."""

from __future__ import annotations

import ctypes
import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tvgnn.ops._buffers import reused_arrays

__all__ = ["returned_buffers", "reused_buffers"]

# glibc's malloc.h
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_MMAP_MAX = -1, -3, -4
_INT_MAX = 2**31 - 1
_DEFAULT_MMAP_MAX = 65536
_LARGEST_DYNAMIC_THRESHOLD = 32 * 2**20
_LARGE = 2**20  # bytes of a buffer that goes back at once


@contextmanager
def reused_buffers() -> Iterator[None]:
    """Keep freed memory in the process while the context lasts, then return it to the system.

    Arrays of our own operators wait in `tvgnn.ops._buffers`. Those of torch come from glibc, which takes the ones
    above 32 MB from the system each time, page by page, unless it is told to keep them.
    """
    with reused_arrays():
        yield from _kept_by_glibc()


@contextmanager
def returned_buffers() -> Iterator[None]:
    """Give freed buffers of more than 1 MB back to the system while the context lasts, unless something trains.

    Of buffers of up to 32 MB whose sizes change glibc would keep about as much as is in use.
    """
    libc = _glibc()
    if libc is None or _KEEPERS.number:
        yield
        return
    libc.malloc_trim(0)
    libc.mallopt(_M_MMAP_THRESHOLD, _LARGE)
    try:
        yield
    finally:
        with _KEEPERS.lock:
            if _KEEPERS.number == 0:
                _give_back(libc)


def _kept_by_glibc() -> Iterator[None]:
    libc = _glibc()
    if libc is None:
        yield
        return
    with _KEEPERS.lock:
        _KEEPERS.number += 1
        libc.mallopt(_M_MMAP_MAX, 0)
        libc.mallopt(_M_TRIM_THRESHOLD, _INT_MAX)
    try:
        yield
    finally:
        with _KEEPERS.lock:
            _KEEPERS.number -= 1
            if _KEEPERS.number == 0:
                _give_back(libc)


class _Keepers:
    """How many trainings, of several Python threads, keep memory in the process."""

    def __init__(self) -> None:
        self.lock, self.number = threading.Lock(), 0


_KEEPERS = _Keepers()


def _give_back(libc: ctypes.CDLL) -> None:
    # Where glibc's own thresholds, which adapt until they are set, end up in a process that frees large buffers.
    libc.mallopt(_M_MMAP_MAX, _DEFAULT_MMAP_MAX)
    libc.mallopt(_M_MMAP_THRESHOLD, _LARGEST_DYNAMIC_THRESHOLD)
    libc.mallopt(_M_TRIM_THRESHOLD, 2 * _LARGEST_DYNAMIC_THRESHOLD)
    libc.malloc_trim(0)


@functools.cache
def _glibc() -> ctypes.CDLL | None:
    try:
        libc = ctypes.CDLL(None)
        libc.gnu_get_libc_version  # noqa: B018  (looked up: other C libraries lack it)
    except (OSError, AttributeError, TypeError):
        return None
    return libc
