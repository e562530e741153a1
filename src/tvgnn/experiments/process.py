"""What the runs of every protocol need of the process that makes them."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tvgnn.errors import TVGNNError

__all__ = ["limited_threads", "reason", "reset_peak_memory", "use_threads"]


def reset_peak_memory() -> None:
    """Start the counter of the largest memory again, where the system can: the process made other runs before."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def reason(error: BaseException) -> str:
    """Return an error in one line; of one that tvgnn does not raise on purpose with its type and place."""
    message = " ".join(str(error).split())
    if isinstance(error, TVGNNError) and message:
        return message
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {message}{place}" if message else f"{type(error).__name__}{place}"


def use_threads(threads: int) -> None:
    """Limit torch, with it tvgnn's kernels, and the libraries of linear algebra to this many threads."""
    import torch
    from threadpoolctl import threadpool_limits

    threadpool_limits(threads)
    torch.set_num_threads(threads)


@contextmanager
def limited_threads(threads: int) -> Iterator[None]:
    """Do inside what `use_threads` does for good."""
    import torch
    from threadpoolctl import threadpool_limits

    before = torch.get_num_threads()
    with threadpool_limits(threads):
        torch.set_num_threads(threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)
