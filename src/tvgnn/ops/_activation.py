"""Activations that a kernel applies to a row while it is still in the cache, and their gradient from the output."""

from __future__ import annotations

import math

import numpy as np
from numba import prange, types
from numba.extending import overload
from torch import Tensor

from tvgnn.ops._numba import FASTMATH, as_array, inline, kernel

__all__ = ["ELU", "IDENTITY", "RELU", "activate_row", "activation_gradient", "activation_gradient_row"]

IDENTITY, RELU, ELU = 0, 1, 2


def _expm1(x: float) -> float:
    """``exp(x) - 1`` for x <= 0; a kernel-only function, see the overload below."""
    return math.expm1(x)


@overload(_expm1, jit_options={"fastmath": FASTMATH}, inline="always")
def _expm1_overload(x):
    """Cephes' range reduction and polynomial in float32 (error below 1e-7), which vectorises; libm in float64."""
    if x != types.float32:
        return lambda x: math.expm1(x)

    def expm1_float32(x):
        x = np.float32(-87.0) if x < np.float32(-87.0) else x  # written so that NaN stays NaN
        n = np.floor(x * np.float32(1.44269504) + np.float32(0.5))
        r = x - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
        p = np.float32(1.9875691500e-4)
        p = p * r + np.float32(1.3981999507e-3)
        p = p * r + np.float32(8.3334519073e-3)
        p = p * r + np.float32(4.1665795894e-2)
        p = p * r + np.float32(1.6666665459e-1)
        p = p * r + np.float32(5.0000001201e-1)
        p = p * r * r + r
        power = np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)
        return p * power + (power - np.float32(1))

    return expm1_float32


@inline
def activate_row(out, row, act):
    """Apply the activation of code ``act`` to one row in place."""
    if act == RELU:
        for f in range(out.shape[1]):
            out[row, f] = 0 if out[row, f] < 0 else out[row, f]
    elif act == ELU:
        for f in range(out.shape[1]):
            x = out[row, f]
            out[row, f] = _expm1(x) if x <= 0 else x


@inline
def activation_gradient_row(grad, out, row, act, result):
    """Write ``grad * act'(.)`` of one row into ``result``; the derivative is read off the output."""
    if act == IDENTITY:
        for f in range(out.shape[1]):
            result[row, f] = grad[row, f]
    elif act == RELU:
        for f in range(out.shape[1]):
            result[row, f] = 0 if out[row, f] <= 0 else grad[row, f]
    else:
        for f in range(out.shape[1]):
            y = out[row, f]
            result[row, f] = grad[row, f] * (y + 1 if y <= 0 else 1)


def activation_gradient(grad: Tensor, out: Tensor, act: int, result: Tensor) -> Tensor:
    """Write ``grad * act'(.)`` (N, F) into ``result`` and return its sum over the rows, the gradient of a bias (F,).

    See `activation_gradient_row`.
    """
    tasks = max(1, min(64, grad.numel() // 16384))
    sums = grad.new_zeros(tasks, grad.shape[1])
    _activation_gradient(as_array(grad), as_array(out), act, as_array(result), as_array(sums))
    return sums.sum(0)


@kernel
def _activation_gradient(grad, out, act, result, sums):
    rows, width = grad.shape
    tasks = sums.shape[0]
    for task in prange(tasks):
        for i in range(task * rows // tasks, (task + 1) * rows // tasks):
            activation_gradient_row(grad, out, i, act, result)
            for f in range(width):
                sums[task, f] += result[i, f]
