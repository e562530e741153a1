"""Threads of the runs of ``tvgnn reproduce`` and ``benchmark``: the same results for any jobs, backend and machine."""

from dataclasses import replace

import pytest
import torch
from classification_cases import small_graphs
from clustering_cases import blocks, environment, large_blocks
from joblib import cpu_count

from tvgnn.cli.reproduce import Scheduling, _workers
from tvgnn.cli.reproduction import EXPERIMENTS, Request
from tvgnn.experiments import classification, clustering
from tvgnn.experiments.gtv_steps import gtv_steps
from tvgnn.experiments.process import limited_threads
from tvgnn.records import ClusteringRecord, RunRecord, read_records

TWO_CORES = pytest.mark.skipif(cpu_count() < 2, reason="one core")


@pytest.fixture(autouse=True)
def _graphs_of_their_own():
    for cached in (clustering._graph, classification._graphs):
        cached.cache_clear()
    yield
    for cached in (clustering._graph, classification._graphs):
        cached.cache_clear()


def table1(out, jobs=None, threads=None, backend="loky"):
    """Make a small table 1; return its first table, and what its runs ended with, rounded.

    Where an array begins decides in which order some sums are taken, so a process that did other work before may differ
    in the last digit of float32.
    """
    workers = _workers(jobs, threads, Scheduling(backend), None)
    chosen = {"datasets": ("cora",), "methods": ("netmf", "tvgnn"), "seeds": 2, "max_epochs": 8}
    EXPERIMENTS["table1"].make(Request(out, environment(large_blocks), workers, threads, **chosen))
    records = sorted(read_records(out / "records.jsonl", ClusteringRecord), key=lambda one: one.key)
    table = (out / "table1.md").read_text().partition("All metrics")[0].partition("Measured")[0]
    return table, [
        (one.key, {name: round(value, 5) for name, value in one.metrics.items()}, f"{one.loss or 0:.4g}", one.threads)
        for one in records
    ]


@TWO_CORES
def test_processes_and_dask_workers_give_the_table_of_one_process(tmp_path):
    one = table1(tmp_path / "one")
    assert [threads for *_, threads in one[1]] == [1] * 4
    assert table1(tmp_path / "loky", jobs=2) == one
    assert table1(tmp_path / "dask", jobs=2, backend="dask") == one


def test_threads_are_limited_inside_and_as_before_afterwards():
    from threadpoolctl import threadpool_info

    def now():
        return torch.get_num_threads(), [pool["num_threads"] for pool in threadpool_info()]

    before = now()
    with limited_threads(1):
        torch_threads, others = now()
        assert torch_threads == 1
        assert set(others) == {1}
    assert now() == before
    with pytest.raises(KeyError), limited_threads(1):
        raise KeyError
    assert now() == before


@TWO_CORES
def test_only_times_takes_all_cores(tvgnn, pyg, monkeypatch):
    monkeypatch.setattr(clustering.PublicGraphs, "__call__", lambda self, name, seed: blocks(name, seed))
    monkeypatch.setattr(classification.PublicDatasets, "__call__", lambda self, name: small_graphs(name))
    small = ("--out", "out", "--quick", "--max-epochs", "1", "--seeds", "1")
    table = ("reproduce", "times,table1,table2", *small, "--datasets", "cora,mutag", "--methods", "tvgnn")
    for extra, timed, others in (((), cpu_count(), 1), (("--threads", "2"), 2, 2)):
        out = f"out{len(extra)}"
        assert tvgnn(*table, *extra, "--out", out).code == 0
        clustered = read_records(f"{out}/records.jsonl", ClusteringRecord)
        assert {one.threads for one in clustered if "timed" in one.settings} == {timed}
        assert {one.threads for one in clustered if "timed" not in one.settings} == {others}
    command = ("benchmark", "classification", "--datasets", "mutag", "--methods", "tvgnn", "--folds", "0")
    for extra, threads in (((), 1), (("--threads", "2"), 2)):
        out = f"graphs{threads}"
        assert tvgnn(*command, "--runs", "1", "--max-epochs", "1", "--out", out, *extra).code == 0
        assert {one.threads for one in read_records(f"{out}/records.jsonl", RunRecord)} == {threads}


def test_steps_of_a_figure_are_taken_with_the_threads_of_runs(tvgnn, monkeypatch):
    seen = []
    monkeypatch.setattr(clustering.PublicGraphs, "__call__", lambda self, name, seed: blocks(name, seed))
    monkeypatch.setattr("tvgnn.experiments.gtv_steps.PAPER_STEPS", {0.311: 4})

    def counted(*given, **options):
        seen.append(torch.get_num_threads())
        return gtv_steps(*given, **options)

    monkeypatch.setattr("tvgnn.experiments.curves.gtv_steps", counted)
    assert tvgnn("reproduce", "fig-gtv-steps", "--out", "out").code == 0
    assert seen == [1, 1]


def test_workers_of_a_scheduler_get_the_threads_of_a_run():
    address = "tcp://h:1"
    workers = _workers(None, None, Scheduling.dask, address)
    assert (workers.threads, workers.scheduler) == (1, address)
    assert _workers(None, 64, Scheduling.dask, address) == replace(workers, threads=64)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--threads", "0"), "--threads"),
        (("--threads", "999"), "expected --threads to be at most"),
    ],
)
def test_a_mistake_is_one_line(tvgnn, tmp_path, arguments, says):
    for command in (("reproduce", "table1"), ("benchmark", "classification", "--datasets", "mutag")):
        result = tvgnn(*command, *arguments)
        assert (result.code, list(tmp_path.iterdir())) == (2, [])
        assert says in result.error


def test_jobs_that_a_scheduler_would_ignore_are_refused(tvgnn, tmp_path):
    for jobs in ("1", "2"):
        result = tvgnn("reproduce", "table1", "--backend", "dask", "--scheduler", "tcp://h:1", "--jobs", jobs)
        assert result.error == (
            f"error: expected no --jobs with --scheduler, all of whose workers are used, got --jobs {jobs}"
        )
    assert list(tmp_path.iterdir()) == []
