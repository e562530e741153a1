"""The protocol: runs in their order, one run as a record, failures that stay alone, and going on after a stop."""

import gc
import math
import os
import warnings
import weakref
from dataclasses import replace

import pytest
import torch
from classification_cases import (
    Failing,
    FakeClassifier,
    FakeGraph,
    Killed,
    environment,
    fake_graphs,
    pool_environment,
    small_graphs,
)

from tvgnn.cli.environment import peak_rss_bytes
from tvgnn.errors import DataError
from tvgnn.estimators.classification import TVGraphClassifier
from tvgnn.experiments.classification import Environment, PublicDatasets, run_job
from tvgnn.experiments.plan import METHODS, Job, Plan, Settings
from tvgnn.experiments.pool import Workers
from tvgnn.experiments.runner import run_benchmark
from tvgnn.experiments.splits import make_splits
from tvgnn.records import RunRecord, read_records

SPLITS = make_splits([graph.label for graph in fake_graphs("mutag")])
JOB = Job("mutag", "tvgnn", 1, 2, Settings(readout="mlp", max_epochs=9, seed=5), SPLITS)
PLAN = Plan(("mutag", "nci1"), ("tvgnn", "sag"), folds=(0, 1), runs=2)


def names(records):
    return [(one.run, one.fold, one.dataset, one.method) for one in records]


EVERY = [(r, f, d, m) for r in (0, 1) for f in (0, 1) for d in ("mutag", "nci1") for m in ("tvgnn", "sag")]


@pytest.fixture(autouse=True)
def _threads():
    """Put torch's number of threads back."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def test_a_fold_is_complete_before_the_next_begins():
    assert names(PLAN.jobs({"mutag": SPLITS, "nci1": SPLITS})) == EVERY


def test_seeds_are_those_of_fold_and_run_for_all_methods():
    jobs = Plan(("mutag",), METHODS).jobs({"mutag": SPLITS})
    assert len({job.seed for job in jobs}) == 15
    assert len({(job.fold, job.run, job.seed) for job in jobs}) == 15
    assert all(0 <= job.seed < 2**32 for job in jobs)


def test_a_fingerprint_tells_what_decides_the_result():
    others = [
        *(replace(JOB, settings=replace(JOB.settings, **one)) for one in ({"readout": "linear"}, {"max_epochs": 8})),
        replace(JOB, splits=replace(SPLITS, labels_sha256="other")),
        replace(JOB, dataset="nci1"),
    ]
    assert len({job.fingerprint for job in [JOB, *others]}) == 5
    assert replace(JOB, settings=replace(JOB.settings, timed=True)).fingerprint != JOB.fingerprint
    assert replace(JOB, method="sag").fingerprint != JOB.fingerprint  # batches of one graph
    assert replace(JOB, fold=0, run=0).fingerprint == JOB.fingerprint


def test_a_timed_run_is_fitted_for_one_epoch_before(monkeypatch):
    epochs = []
    fit = FakeClassifier.fit
    monkeypatch.setattr(
        FakeClassifier,
        "fit",
        lambda self, *given, **more: epochs.append(self.parameters["max_epochs"]) or fit(self, *given, **more),
    )
    record = run_job(replace(JOB, settings=replace(JOB.settings, timed=True)), environment())
    assert epochs == [1, 9]
    assert record.settings["timed"]
    epochs.clear()
    assert "timed" not in run_job(JOB, environment()).settings
    assert epochs == [9]


def test_the_small_bench_sets_take_the_hyper_parameters_of_the_large_ones():
    assert replace(JOB, dataset="bench-easy-small").parameters["preset"] == "bench-easy"
    assert JOB.parameters == {"preset": "mutag", "readout": "mlp", "max_epochs": 9}


def test_one_run_as_a_record():
    record = run_job(JOB, environment())
    assert (record.dataset, record.method, record.fold, record.run) == ("mutag", "tvgnn", 1, 2)
    assert record.error is None
    assert (record.test_accuracy, record.validation_accuracy, record.train_accuracy) == (0.12, 0.05, 0.43)
    assert (record.validation_loss, record.epochs, record.best_epoch) == (0.5, 7, 4)
    assert (record.seconds, record.seconds_per_epoch, record.k, record.n_graphs) == (3.5, 0.5, [9, 4], 60)
    assert record.parameters["preset"] == "mutag"
    assert record.parameters["learning_rate"] == 1e-2  # the paper's for MUTAG
    assert (record.parameters["max_epochs"], record.parameters["patience"]) == (9, 20)
    assert record.settings == {"readout": "mlp", "max_epochs": 9, "seed": 5, "n_folds": 5}
    assert (record.seed, record.key) == (JOB.seed, JOB.key)
    assert (record.features, record.peak_rss_bytes) == ("3 columns; one-hot degree", 10**9)
    assert (record.versions, record.commit, record.device, record.backend) == ({"torch": "2"}, "abc", "cpu", "cpu")
    assert record.threads >= 1
    assert record.date.endswith("+00:00")


def test_an_error_becomes_a_record_of_one_line_and_a_warning_a_note():
    sag, topk, dmon = (run_job(replace(JOB, method=name), environment(Failing)) for name in ("sag", "topk", "dmon"))
    assert sag.error == "the loss is nan in epoch 3"
    assert topk.error.startswith("KeyError: 'a defect' (classification_cases.py:")
    assert (topk.test_accuracy, topk.finished) == (None, False)
    assert (dmon.error, dmon.notes) == (None, ["fewer clusters than asked for"])


def test_a_loss_that_is_no_number_is_a_failure(monkeypatch):
    class NoNumber(FakeClassifier):
        def fit(self, *arguments, **settings):
            super().fit(*arguments, **settings).validation_loss_history_ = [math.nan]

    assert "lowest validation loss is nan" in run_job(JOB, environment(NoNumber)).error


def test_all_runs_are_made_once(tmp_path):
    started, seen = [], []
    outcome = run_benchmark(
        PLAN, tmp_path, environment(), on_start=lambda *numbers: started.append(numbers), on_record=seen.append
    )
    assert names(outcome.records) == names(outcome.made) == names(seen) == EVERY
    assert (outcome.left, started) == ([], [(16, 0)])
    assert read_records(tmp_path / "records.jsonl", RunRecord) == outcome.records
    assert sorted(path.name for path in (tmp_path / "splits").iterdir()) == ["mutag.json", "nci1.json"]

    def never(name):
        raise AssertionError("there is nothing to load")

    again = run_benchmark(PLAN, tmp_path, environment(load=never))
    assert (again.made, names(again.records)) == ([], EVERY)


def test_an_interrupted_benchmark_goes_on_where_it_stopped(tmp_path):
    class Interrupted(FakeClassifier):
        fits = 0

        def fit(self, *arguments, **settings):
            Interrupted.fits += 1
            if Interrupted.fits == 6:
                raise KeyboardInterrupt
            return super().fit(*arguments, **settings)

    with pytest.raises(KeyboardInterrupt):
        run_benchmark(PLAN, tmp_path, environment(Interrupted))
    assert names(read_records(tmp_path / "records.jsonl", RunRecord)) == EVERY[:5]
    with (tmp_path / "records.jsonl").open("a") as file:
        file.write('{"dataset": "mut')
    outcome = run_benchmark(PLAN, tmp_path, environment())
    assert names(outcome.made) == EVERY[5:]
    assert names(outcome.records) == names(read_records(tmp_path / "records.jsonl", RunRecord)) == EVERY


def test_other_settings_are_other_runs(tmp_path):
    run_benchmark(PLAN, tmp_path, environment())
    other = run_benchmark(replace(PLAN, settings=Settings(readout="mlp")), tmp_path, environment())
    assert names(other.made) == names(other.records) == EVERY
    assert len(read_records(tmp_path / "records.jsonl", RunRecord)) == 32


def test_a_larger_plan_adds_its_runs(tmp_path):
    run_benchmark(replace(PLAN, runs=1), tmp_path, environment())
    assert names(run_benchmark(PLAN, tmp_path, environment()).made) == EVERY[8:]


def test_a_failure_ends_no_other_run_and_is_tried_again(tmp_path):
    outcome = run_benchmark(PLAN, tmp_path, environment(Failing))
    assert [one.method for one in outcome.records if one.finished] == ["tvgnn"] * 8
    assert {job.method for job in outcome.left} == {"sag"}
    repaired = run_benchmark(PLAN, tmp_path, environment())
    assert {one.method for one in repaired.made} == {"sag"}
    assert (len(repaired.made), len(repaired.records), repaired.left) == (8, 16, [])
    assert all(one.finished for one in repaired.records)


def test_no_run_starts_after_the_time_limit(tmp_path, monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr("tvgnn.experiments.pool.time.monotonic", lambda: 60 * next(clock))
    outcome = run_benchmark(PLAN, tmp_path, environment(), minutes=4)
    assert names(outcome.made) == EVERY[:3]
    assert names(outcome.left) == EVERY[3:]


def test_splits_of_other_graphs_end_the_benchmark_before_it_starts(tmp_path):
    run_benchmark(replace(PLAN, runs=1), tmp_path, environment())
    reversed_labels = environment(load=lambda name: [FakeGraph(1 - one.label, 0) for one in fake_graphs(name)])
    with pytest.raises(DataError, match="other labels"):
        run_benchmark(PLAN, tmp_path, reversed_labels)
    with pytest.raises(DataError, match="use that seed"):
        run_benchmark(replace(PLAN, settings=Settings(seed=1)), tmp_path, environment())


@pytest.mark.parametrize("method", ["tvgnn", "sag"])  # one of them fails
def test_a_benchmark_does_not_keep_its_graphs_alive(tmp_path, method):
    made = []

    def load(name):
        graphs = fake_graphs(name)
        made.extend(map(weakref.ref, graphs))
        return graphs

    plan = replace(PLAN, methods=(method,), datasets=("mutag",), folds=(0,), runs=1)
    run_benchmark(plan, tmp_path, environment(Failing, load))
    gc.collect()
    assert made
    assert not any(reference() for reference in made)


def test_runs_in_several_processes(tmp_path):
    outcome = run_benchmark(PLAN, tmp_path, pool_environment(), workers=Workers(2))
    assert sorted(names(outcome.records)) == sorted(EVERY)
    assert all(one.finished and one.threads == 1 for one in outcome.records)
    processes = {one.peak_rss_bytes for one in outcome.records}
    assert os.getpid() not in processes
    assert len(processes) <= 2


def test_a_killed_process_costs_its_run(tmp_path):
    plan = replace(PLAN, methods=("tvgnn", "dmon", "sag"), datasets=("mutag",), folds=(0,), runs=1)
    outcome = run_benchmark(plan, tmp_path, pool_environment(Killed), workers=Workers(2))
    errors = {one.method: one.error for one in outcome.records}
    assert "ended from outside, probably for lack of memory" in errors["sag"]
    assert (errors["tvgnn"], errors["dmon"]) == (None, None)
    repaired = run_benchmark(plan, tmp_path, pool_environment())
    assert repaired.left == []
    assert all(one.finished for one in repaired.records)


@pytest.mark.parametrize("jobs", [1, 2])
def test_real_classifiers_run_by_the_protocol(tmp_path, jobs):
    plan = Plan(("mutag",), METHODS if jobs == 1 else ("tvgnn",), folds=(0,), runs=1, settings=Settings(max_epochs=2))
    real = Environment(small_graphs, TVGraphClassifier, peak_rss_bytes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of PyTorch Geometric's imports
        outcome = run_benchmark(plan, tmp_path, real, workers=Workers(jobs))
    assert [one.error for one in outcome.records] == [None] * len(plan.methods)
    for record in outcome.records:
        assert 0 <= record.test_accuracy <= 1
        assert 1 <= record.epochs <= 2
        assert record.peak_rss_bytes > 0
        assert len(record.k) == (0 if record.method in ("topk", "sag") else 2)
        assert (record.threads, record.features) == (1, "3 columns; features: degree, dim=3")


@pytest.mark.real_data("tudataset/MUTAG.zip")
def test_public_datasets_load_by_value(mirror, tmp_path):
    load = PublicDatasets(tmp_path, mirror)
    assert hash(load) == hash(PublicDatasets(tmp_path, mirror))
    assert len(load("mutag")) == 135
