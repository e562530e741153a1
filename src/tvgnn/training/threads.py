"""How many threads small batches are worth."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["threads_worth_waking"]

# Layers of fewer numbers take less time than waking a sleeping thread: with 2 threads instead of 1 a step of 8 graphs
# took 22 instead of 11 ms at 22,000 numbers (PROTEINS) and 49 instead of 68 ms at 145,000 (D&D).
_SHARED_NUMBERS = 2**16


class _Single:
    """Who asked for one thread, and how many there were before the first did."""

    def __init__(self) -> None:
        self.lock, self.users, self.before = threading.Lock(), 0, 1


_SINGLE = _Single()


@contextmanager
def threads_worth_waking(numbers: float) -> Iterator[None]:
    """Use one thread inside where a layer has fewer numbers (nodes times width) than are worth sharing.

    Fits may overlap in several Python threads: a new one of these finds the number that torch was told last, so the
    number from before the first of them is what all of them give back. Not to be nested.
    """
    if numbers >= _SHARED_NUMBERS:
        yield
        return
    with _SINGLE.lock:
        if _SINGLE.users == 0:
            _SINGLE.before = torch.get_num_threads()
        _SINGLE.users += 1
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _SINGLE.lock:
            _SINGLE.users -= 1
            torch.set_num_threads(_SINGLE.before)
