"""Facts about the machine and the code that a run was made with."""

import platform
import subprocess
import sys
from pathlib import Path

import tvgnn

__all__ = ["git_commit", "peak_rss_bytes", "processor", "versions"]


def versions() -> dict[str, str]:
    """Return the versions of tvgnn, torch, numpy and python."""
    import numpy as np
    import torch

    return {
        "tvgnn": tvgnn.__version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def peak_rss_bytes() -> int | None:
    """Return the largest resident memory of this process so far, None where the system does not tell."""
    try:
        # On Linux getrusage starts at the size of the process that launched this one; this counter does not.
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def processor() -> str | None:
    """Return the model of the processor, None where the system does not tell."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, "") or platform.processor() or platform.machine() or None


def git_commit() -> str | None:
    """Return the commit of the tvgnn checkout that runs, None for an installed copy.

    An installed copy may lie inside another project's checkout, whose commit would mislead.
    """
    source = Path(tvgnn.__file__).resolve().parents[1]
    if source.name != "src" or not (source.parent / ".git").exists():
        return None
    command = ["git", "-C", str(source.parent), "rev-parse", "HEAD"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.strip()
