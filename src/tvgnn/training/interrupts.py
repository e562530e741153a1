"""Interruptions that wait for the end of what they would leave half done."""

from __future__ import annotations

import importlib
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["load_compiler", "waiting_interrupts"]

_ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_COMPILER = "torch._dynamo"


@contextmanager
def waiting_interrupts() -> Iterator[None]:
    """Let signals that would end this process do so when the block ends; in the main thread, which alone gets them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:
        waiting.append(number)

    handlers = {end: signal.getsignal(end) for end in _ENDS}
    replaced = {end: handler for end, handler in handlers.items() if handler not in (None, signal.SIG_IGN)}
    for end in replaced:
        signal.signal(end, hold)
    try:
        yield
    finally:
        for end, handler in replaced.items():
            signal.signal(end, handler)
        for number in waiting:
            signal.raise_signal(number)


def load_compiler() -> None:
    """Import the compiler of torch, as the first optimizer of a process does, without an interruption.

    Its C++ parts import Python modules in turn. An exception in there, such as that of Ctrl-C, ends the process at
    once: nothing would be tidied up.
    """
    if _COMPILER not in sys.modules:
        with waiting_interrupts():
            importlib.import_module(_COMPILER)
