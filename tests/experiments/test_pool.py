"""Who works off jobs: this process, several, or a dask cluster; and what happens to interruptions meanwhile."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import pytest
import torch

from tvgnn.errors import SchedulerError
from tvgnn.experiments import dask_pool
from tvgnn.experiments.dask_pool import work_off_on_dask
from tvgnn.experiments.interrupts import held_interrupts
from tvgnn.experiments.pool import RunError, Workers, until, work_off

INTERRUPTED = [signal.SIGINT, signal.SIGTERM]


@pytest.fixture(autouse=True)
def _threads():
    """Put torch's number of threads back."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def half(number):
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number // 2


def test_results_and_exceptions_come_in_turn_and_jobs_are_taken_one_by_one():
    taken = []
    found = work_off((taken.append(number) or number for number in (4, 3, 2)), half, Workers())
    assert (next(found), taken) == ((4, 2), [4])
    job, error = next(found)
    assert (job, str(error), taken) == (3, "3 is odd", [4, 3])
    assert list(found) == [(2, 1)]


class Heavy:
    """Work that carries much, and notes each time that it is sent."""

    def __init__(self, log):
        self.log = log

    def __call__(self, job):
        return 10 * job

    def __getstate__(self):
        with self.log.open("a") as file:
            file.write("sent\n")
        return self.__dict__


def test_work_is_sent_to_each_process_once_and_not_with_each_job(tmp_path):
    work = Heavy(tmp_path / "log")
    assert sorted(work_off(iter(range(8)), work, Workers(2, 1))) == [(job, 10 * job) for job in range(8)]
    assert 1 <= work.log.read_text().count("sent") <= 2


def ends_its_process(job):
    """End the process at the first call, or always, and return where the job left its mark."""
    mark, always = job
    if always or not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return mark.name


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_a_job_whose_process_died_is_made_again_though_it_is_the_only_one(tmp_path):
    jobs = [(tmp_path / "once", False), (tmp_path / "always", True)]
    for job, expected in zip(jobs, ["once", RunError], strict=True):
        [(made, result)] = work_off(iter([job]), ends_its_process, Workers(2, 1))
        assert made == job
        assert result == expected if expected == "once" else isinstance(result, expected)


@pytest.mark.parametrize("stopped", [False, True], ids=["worked off", "stopped"])
def test_no_thread_of_a_pool_outlives_it(monkeypatch, stopped):
    from joblib.externals.loky.backend.queues import Queue

    feed = Queue._feed

    def feeds_and_takes_its_time(*arguments):
        feed(*arguments)
        time.sleep(0.3)

    monkeypatch.setattr(Queue, "_feed", staticmethod(feeds_and_takes_its_time))
    before = set(threading.enumerate())
    found = work_off(iter([2, 4, 6]), half, Workers(2, 1))
    next(found)
    found.close() if stopped else list(found)
    assert set(threading.enumerate()) <= before


def test_no_time_gives_no_job():
    assert list(until(0, [1, 2])) == []
    assert list(until(None, [1, 2])) == [1, 2]


@pytest.mark.parametrize("number", INTERRUPTED)
def test_an_interruption_waits_until_processes_are_started(number):
    def ended(number, frame):
        raise SystemExit(number)

    before = signal.signal(number, ended)
    steps = []
    try:
        with pytest.raises(SystemExit), held_interrupts():  # noqa: PT012  # it is raised after the block
            signal.raise_signal(number)
            steps.append("started")
        assert steps == ["started"]
        with pytest.raises(SystemExit):
            signal.raise_signal(number)  # as before
    finally:
        signal.signal(number, before)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="the system has no signal masks")
def test_processes_that_are_started_meanwhile_ignore_ctrl_c_and_can_be_ended():
    program = "import signal, time\nprint('ready', flush=True)\ntime.sleep(60)"
    with held_interrupts():
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    with child:
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.3)
        child.terminate()
        assert child.wait(20) == -signal.SIGTERM


@pytest.mark.skipif(sys.platform == "win32", reason="processes of Unix")
def test_a_worker_ends_with_its_parent_that_is_killed():
    child = """
import os, time
from tvgnn.experiments.interrupts import end_with
end_with(os.getppid())
print(flush=True)
time.sleep(60)
"""
    program = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        assert parent.stdout.readline()
        parent.kill()
        start = time.monotonic()
        assert parent.stdout.read() == b""  # the pipe closes once the child has ended too
        assert time.monotonic() - start < 20


def test_without_dask_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SchedulerError, match=r"install it with: pip install 'tvgnn\[cluster\]'"):
        next(work_off(iter([2]), half, Workers(1, 1, "dask")))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "foo://host:1"])
def test_a_scheduler_that_does_not_answer_is_one_line(monkeypatch, address):
    assert dask_pool._CONNECTION_SECONDS <= 15
    monkeypatch.setattr(dask_pool, "_CONNECTION_SECONDS", 0.5)
    start = time.perf_counter()
    with pytest.raises(SchedulerError, match=f"expected a dask scheduler at {address}, got no answer .*dask scheduler"):
        next(work_off(iter([2]), half, Workers(1, 1, "dask", address)))
    assert time.perf_counter() - start < 10


@pytest.fixture
def cluster():
    """Return a dask cluster in threads of this process."""
    import dask  # slow to import
    import distributed

    with (
        warnings.catch_warnings(),
        # How long the worker tries to take leave of a scheduler that is gone; 30 s by default
        dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
        distributed.LocalCluster(n_workers=1, processes=False, threads_per_worker=1, dashboard_address=None) as local,
    ):
        warnings.simplefilter("ignore")
        yield local


def test_a_scheduler_of_ones_own_gives_results_and_exceptions(cluster):
    found = dict(work_off_on_dask(iter([4, 3, 2]), half, 9, 1, cluster.scheduler_address))
    assert (found[4], found[2], str(found[3])) == (2, 1, "3 is odd")


def test_a_scheduler_without_workers_is_one_line(cluster, monkeypatch):
    monkeypatch.setattr(dask_pool, "_WORKER_SECONDS", 0.2)
    cluster.scale(0)
    deadline = time.monotonic() + 20
    while cluster.scheduler.workers and time.monotonic() < deadline:
        time.sleep(0.05)
    with pytest.raises(SchedulerError, match=r"expected workers of the dask scheduler .*found none; start one with"):
        next(work_off_on_dask(iter([2]), half, 1, 1, cluster.scheduler_address))


def slow(job):
    time.sleep(1)


def test_a_scheduler_that_is_lost_is_one_line(cluster):
    closing = threading.Timer(0.3, cluster.loop.add_callback, [cluster.scheduler.close])
    jobs = work_off_on_dask(iter([1]), slow, 1, 1, cluster.scheduler_address)
    closing.start()
    with pytest.raises(SchedulerError, match="lost it; the same command goes on"):
        next(jobs)
