"""Interruptions that wait while processes are started, so that none is left behind."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType

__all__ = ["end_with", "held_interrupts"]

_MASKS = hasattr(signal, "pthread_sigmask")
_ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_SECONDS = 1.0  # between two looks whether the parent is there


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Hold back what would end this process until the block ends; processes that it starts ignore Ctrl-C.

    Ctrl-C reaches every process of a terminal. The first one ends the others, which have nothing to say to that.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    if _MASKS:
        resource_tracker.ensure_running()  # its start would clear the mask

    def hold(number: int, frame: FrameType | None) -> None:
        waiting.append(number)

    handlers = {end: signal.getsignal(end) for end in _ENDS}
    replaced = {end: handler for end, handler in handlers.items() if handler not in (None, signal.SIG_IGN)}
    for end in replaced:
        signal.signal(end, hold)
    # new threads and processes inherit the mask and keep it
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if _MASKS else None
    try:
        yield
    finally:
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for end, handler in replaced.items():
            signal.signal(end, handler)
        for number in waiting:
            signal.raise_signal(number)


def end_with(parent: int) -> None:
    """End this process soon after its parent, which may be killed before it can do that."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
