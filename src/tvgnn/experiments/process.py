"""What the runs of every protocol need of the process that makes them."""

from __future__ import annotations

import traceback
from contextlib import suppress
from pathlib import Path

from tvgnn.errors import TVGNNError

__all__ = ["reason", "reset_peak_memory", "use_threads"]


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
    """Limit torch, and with it tvgnn's kernels, to this many threads."""
    import torch

    torch.set_num_threads(threads)
