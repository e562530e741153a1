"""The memory of this machine, a limit on what a file may announce."""

import os
from pathlib import Path

from tvgnn.errors import MemoryLimitError

__all__ = ["check_file_fits", "physical_memory"]


def physical_memory() -> int | None:
    """Bytes of memory of this machine, None where the system does not say."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else None


def check_file_fits(needed: int, path: Path) -> None:
    """Raise :class:`MemoryLimitError` if reading ``path`` would take more bytes than this machine has."""
    available = physical_memory()
    if available is not None and needed > available:
        raise MemoryLimitError(
            f"{path}: reading it would take about {needed / 2**30:.1f} GiB, this machine has "
            f"{available / 2**30:.1f} GiB; use a smaller graph or a larger machine"
        )
