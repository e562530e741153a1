"""Settings of the whole process while fits overlap in several Python threads."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
import torch

import tvgnn
from tvgnn.ops import _buffers
from tvgnn.training import memory
from tvgnn.training.seeding import torch_seeded
from tvgnn.training.threads import threads_worth_waking


def in_new_thread(function):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result()


@pytest.fixture
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def test_the_number_of_threads_outlives_overlapping_fits(three_threads):
    second_inside, first_left = threading.Event(), threading.Event()

    def second():
        with threads_worth_waking(1):
            second_inside.set()
            assert first_left.wait(10)
        return torch.get_num_threads()

    with ThreadPoolExecutor(1) as pool:
        with threads_worth_waking(1):
            running = pool.submit(second)
            assert second_inside.wait(10)
        first_left.set()
        assert running.result() == 3
    assert torch.get_num_threads() == 3
    assert in_new_thread(torch.get_num_threads) == 3  # as torch tells new threads


def test_memory_is_kept_until_the_last_one_leaves(monkeypatch):
    calls = []

    class Libc:
        def mallopt(self, option, value):
            calls.append(value)

        def malloc_trim(self, pad):
            calls.append("trim")

    monkeypatch.setattr(memory, "_glibc", Libc)
    with ExitStack() as first:
        first.enter_context(memory.reused_buffers())
        with memory.reused_buffers():
            pass
        assert "trim" not in calls
    assert calls[-1] == "trim"


def test_arrays_of_several_threads():
    size, errors = 2**20, []
    pool = _buffers._Pool()
    pool.enter()

    def work():
        try:
            for _ in range(300):
                pool.give_back(pool.take(size))
                pool.enter()
                pool.leave()
        except Exception as error:  # shown below; a thread's own would be lost
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    pool.leave()
    assert pool.users == 0
    assert not pool.blocks


def test_seeding_leaves_other_generators_alone(monkeypatch):
    def refuse(*_args):
        raise AssertionError("a GPU's generator was seeded")

    for name in ("manual_seed", "manual_seed_all"):
        monkeypatch.setattr(torch.cuda, name, refuse)
    before = torch.random.get_rng_state()
    with torch_seeded(7):
        given = torch.rand(3)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(given, torch.rand(3, generator=torch.Generator().manual_seed(7)))


def test_nothing_in_the_package_seeds_all_devices():
    for path in Path(tvgnn.__file__).parent.rglob("*.py"):
        assert path.name == "seeding.py" or "torch.manual_seed(" not in path.read_text(encoding="utf-8"), path
