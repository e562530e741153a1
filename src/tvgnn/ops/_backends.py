"""Which implementation of an operator runs.

``reference`` is plain differentiable torch and runs anywhere; ``cpu`` is numba; ``gpu`` is Triton. ``auto`` may
choose; a name runs or raises.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import importlib.util
import os
from types import ModuleType
from typing import Any

import torch

from tvgnn.errors import BackendUnavailableError

__all__ = ["BACKENDS", "kernels", "resolve_device", "select_backend"]

BACKENDS = ("auto", "reference", "cpu", "gpu")
_KERNEL_DTYPES = (torch.float32, torch.float64)
_GPU_DTYPES = (*_KERNEL_DTYPES, torch.bfloat16, torch.float16)
_LEAST_TRITON = (3, 4)  # older ones round numbers given to kernels to float32
_LEAST_CAPABILITY = (7, 0)  # of an NVIDIA GPU, for Triton


def resolve_device(device: Any = "auto") -> str:
    """Name of a device that computes here; ``"auto"`` takes a GPU where there is one.

    Raises:
        ValueError: torch does not know the device or this machine lacks it, with the reason that torch gives.

    """
    if isinstance(device, str) and device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=str(device)).item()
    except (RuntimeError, AssertionError) as error:  # torch asserts that it was built for the device
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"expected a device that this machine has, got {device!r}; use auto or cpu ({reason})"
        ) from None
    return str(device)


def select_backend(backend: str = "auto", device: torch.device | str = "cpu", dtype: torch.dtype | None = None) -> str:
    """Resolve a backend name for tensors on ``device``.

    Parameters:
        backend: ``"auto"``, ``"reference"``, ``"cpu"`` or ``"gpu"``.
        device: where the tensors live.
        dtype: their floating-point type; kernels take float32 and float64, those of the GPU bfloat16 and float16 too.

    Returns:
        ``"reference"``, ``"cpu"`` or ``"gpu"``.

    Raises:
        ValueError: an unknown name.
        BackendUnavailableError: a named backend cannot run on that device or dtype.

    Example:
        >>> select_backend("auto", "cpu")
        'cpu'

    """
    if backend not in BACKENDS:
        raise ValueError(f"expected backend to be one of {', '.join(BACKENDS)}, got {backend!r}")
    device_type = torch.device(device).type
    fits = dtype is None or dtype in _KERNEL_DTYPES
    if backend == "auto" and device_type == "cpu":
        return "cpu" if fits and importlib.util.find_spec("numba") else "reference"
    if backend == "auto":
        return "gpu" if device_type == "cuda" and _gpu_obstacle(device, dtype) is None else "reference"
    if backend == "gpu":
        obstacle = _gpu_obstacle(device, dtype)
        if obstacle is not None:
            raise BackendUnavailableError(f"{obstacle}, or use backend='auto'")
    if backend == "cpu":
        if device_type != "cpu":
            raise BackendUnavailableError(
                f"expected tensors on the cpu for backend='cpu', got {device_type}; move them or use backend='auto'"
            )
        if not fits:
            raise BackendUnavailableError(
                f"expected float32 or float64 for backend='cpu', got {dtype}; convert, or use backend='reference'"
            )
    return backend


def _gpu_obstacle(device: torch.device | str, dtype: torch.dtype | None) -> str | None:
    """Why the Triton kernels cannot run on such tensors and what to do, or None."""
    device = torch.device(device)
    if not importlib.util.find_spec("triton"):
        return "expected Triton for backend='gpu'; install it with: pip install 'tvgnn[gpu]'"
    if dtype is not None and dtype not in _GPU_DTYPES:
        return f"expected float32, float64, bfloat16 or float16 for backend='gpu', got {dtype}; convert"
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"  # runs on CPU tensors, for tests
    if device.type != "cuda" and not (interpreted and device.type == "cpu"):
        return f"expected tensors on a CUDA device for backend='gpu', got {device.type}; move them"
    if device.type == "cuda" and not torch.cuda.is_available():
        return "expected a CUDA device for backend='gpu', and torch finds none here; install a driver and a CUDA torch"
    if torch.compiler.is_compiling():  # cannot trace what follows, and itself needs a GPU that Triton knows
        return None
    if _triton_version() < _LEAST_TRITON:
        least, got = (".".join(map(str, version)) for version in (_LEAST_TRITON, _triton_version()))
        return f"expected Triton {least} or above for backend='gpu', got {got}; it comes with a newer torch"
    if device.type == "cuda" and torch.version.hip is None:
        capability = torch.cuda.get_device_capability(device)
        if capability < _LEAST_CAPABILITY:
            name, least = torch.cuda.get_device_name(device), ".".join(map(str, _LEAST_CAPABILITY))
            return f"expected a GPU of compute capability {least} or above for backend='gpu', got {name}; take another"
    return None


@functools.cache
def _triton_version() -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in importlib.metadata.version("triton").split(".")[:2])
    except importlib.metadata.PackageNotFoundError:  # torch for AMD brings Triton under another name
        return _LEAST_TRITON


@functools.cache
def kernels(operator: str, backend: str) -> ModuleType:
    """Module ``tvgnn.ops.OPERATOR.BACKEND``: forward and backward on tensors, the same functions in every backend."""
    return importlib.import_module(f"tvgnn.ops.{operator}.{backend}")
