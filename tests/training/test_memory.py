import ctypes

import pytest
import torch

from tvgnn.training import memory
from tvgnn.training.memory import reused_buffers


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def test_memory_goes_back_to_the_system_at_the_end():
    if memory._glibc() is None:
        pytest.skip("the C library is not glibc")
    before = resident_bytes()
    with reused_buffers():
        torch.ones(100 * 2**20, dtype=torch.uint8)
    assert resident_bytes() - before < 50 * 2**20


def test_thresholds_are_restored_after_an_error(monkeypatch):
    calls = []

    class Libc:
        def mallopt(self, option, value):
            calls.append((option, value))

        def malloc_trim(self, pad):
            calls.append("trim")

    monkeypatch.setattr(memory, "_glibc", Libc)
    with pytest.raises(KeyError), reused_buffers():
        raise KeyError
    assert calls[0] == (memory._M_MMAP_MAX, 0)
    assert (memory._M_MMAP_MAX, memory._DEFAULT_MMAP_MAX) in calls
    assert calls[-1] == "trim"


def test_other_c_libraries_are_left_alone(monkeypatch):
    def fail(_):
        raise OSError

    monkeypatch.setattr(ctypes, "CDLL", fail)
    memory._glibc.cache_clear()
    try:
        with reused_buffers():
            assert memory._glibc() is None
    finally:
        memory._glibc.cache_clear()
