"""Random numbers of torch from a seed, without a trace in the caller's generators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["torch_seeded"]


@contextmanager
def torch_seeded(seed: int) -> Iterator[None]:
    """Seed the generator of torch's default device while the context lasts, and give back its state afterwards.

    ``torch.manual_seed`` seeds those of all devices, of which ``fork_rng`` would restore the named ones only.
    """
    device = torch.get_default_device()
    if device.type == "cpu":
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            yield
    else:
        with torch.random.fork_rng(devices=[device], device_type=device.type):
            torch.default_generator.manual_seed(seed)
            getattr(torch, device.type).manual_seed(seed)
            yield
