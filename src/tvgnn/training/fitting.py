"""What surrounds a fit: an estimator that stays whole whatever happens, and torch as it is when nobody has set it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from tvgnn.training.interrupts import load_compiler

__all__ = ["default_torch", "fitting"]


@contextmanager
def fitting(estimator: Any) -> Iterator[None]:
    """Fit inside, in `default_torch`; where that fails, what an earlier fit left stays, and a first one leaves nothing.

    Parameters:
        estimator: whose attributes are set, not changed in place.

    """
    before = dict(vars(estimator))
    load_compiler()
    try:
        with default_torch():
            yield
    except BaseException:  # Ctrl-C too
        estimator.__dict__ = before
        raise


@contextmanager
def default_torch() -> Iterator[None]:
    """Compute in float32 on the CPU unless told otherwise, with gradients and without autocast.

    Callers may have set any of these for networks of their own, for the process or for a block; theirs come back.
    """
    dtype = torch.get_default_dtype()
    with ExitStack() as stack:
        if torch.is_inference_mode_enabled():
            stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        for device in ("cpu", "cuda"):
            if torch.is_autocast_enabled(device):
                stack.enter_context(torch.autocast(device, enabled=False))
        if torch.get_default_device().type != "cpu":  # it would see every call of torch
            stack.enter_context(torch.device("cpu"))
        if dtype != torch.float32:
            stack.callback(torch.set_default_dtype, dtype)
            torch.set_default_dtype(torch.float32)
        yield
