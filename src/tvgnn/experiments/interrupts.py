"""Interruptions that wait while processes are started, so that none is left behind."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker

from tvgnn.training.interrupts import waiting_interrupts

__all__ = ["end_with", "held_interrupts"]

_MASKS = hasattr(signal, "pthread_sigmask")
_SECONDS = 1.0  # between two looks whether the parent is there


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Hold back what would end this process until the block ends; processes that it starts ignore Ctrl-C.

    Ctrl-C reaches every process of a terminal. The first one ends the others, which have nothing to say to that.
    """
    if not _MASKS or threading.current_thread() is not threading.main_thread():
        with waiting_interrupts():
            yield
        return
    resource_tracker.ensure_running()  # its start would clear the mask
    with waiting_interrupts():
        # new threads and processes inherit the mask and keep it
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def end_with(parent: int) -> None:
    """End this process soon after its parent, which may be killed before it can do that."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
