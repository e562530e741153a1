import ctypes

import pytest
import torch

from tvgnn.training import memory
from tvgnn.training.memory import returned_buffers, reused_buffers


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


def test_nothing_is_kept_after_buffers_were_returned():
    if memory._glibc() is None:
        pytest.skip("the C library is not glibc")
    before = resident_bytes()
    for size in range(20, 30):  # below the threshold from which glibc returns them by itself
        with returned_buffers():
            torch.ones(size * 2**20, dtype=torch.uint8)
        assert resident_bytes() - before < 10 * 2**20


def test_nothing_changes_while_something_trains(monkeypatch):
    calls = []
    monkeypatch.setattr(memory, "_glibc", lambda: calls.append("asked"))
    monkeypatch.setattr(memory._KEEPERS, "number", 1)
    with returned_buffers():
        assert calls == ["asked"]


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
