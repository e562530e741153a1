"""Runs of vertex clustering: one as a record, labels that stay unseen, going on after a stop, and other processes."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from clustering_cases import (
    JOB,
    Deadly,
    Diverging,
    Failing,
    Fake,
    Silent,
    Trained,
    blocks,
    environment,
    jobs_of,
    unreadable,
)  # fmt: skip

from tvgnn.errors import DataError
from tvgnn.estimators import TVClustering
from tvgnn.experiments import clustering
from tvgnn.experiments.clustering import ClusteringEnvironment, ClusteringJob, PublicGraphs, failed, run_clustering
from tvgnn.experiments.clustering_runner import read_arrays, run_clusterings, stored_clusterings
from tvgnn.experiments.methods import CLUSTERING_METHODS, END_TO_END
from tvgnn.experiments.pool import Workers
from tvgnn.experiments.studies import (
    CITATION,
    FOUR,
    denoising_jobs,
    figure_jobs,
    point_cloud_jobs,
    table1_jobs,
    times_jobs,
)
from tvgnn.metrics import evaluate
from tvgnn.records import ClusteringRecord, read_records
from tvgnn.report.clustering_table import clustering_markdown

REAL = ("spectral", "netmf", "mincut", "tvgnn")
RECORDS = Path(__file__).parents[2] / "docs/records/clustering.jsonl"
TINY = (("hidden_channels", 8), ("mlp_channels", 8))


@pytest.fixture(autouse=True)
def _fakes(monkeypatch):
    """Add methods without training; put torch's number of threads back."""
    for method in (Fake, Trained, Failing, Silent, Diverging):
        monkeypatch.setitem(CLUSTERING_METHODS, method.__name__.lower(), method)
    before = torch.get_num_threads()
    clustering._graph.cache_clear()
    yield
    clustering._graph.cache_clear()
    torch.set_num_threads(before)


def names(records):
    return [(one.method, one.seed) for one in records]


def real_jobs(seeds=(0, 1)):
    return [
        ClusteringJob("blocks", method, 7, seed, 4, TINY if method == "tvgnn" else ())
        for seed in seeds
        for method in REAL
    ]


def without_times(records):
    fields = {"seconds": 1.0, "ms_per_epoch": None, "peak_rss_bytes": None, "date": "", "threads": 1}
    return clustering_markdown([replace(record, **fields) for record in records])


def test_one_run_as_a_record():
    record, arrays = run_clustering(replace(JOB, method="trained"), environment())
    assert (record.dataset, record.method, record.seed, record.n_clusters) == ("blocks", "trained", 1, 3)
    assert (record.error, record.loss, record.epochs, record.converged) == (None, 0.25, 2, True)
    assert (record.ms_per_epoch, record.peak_rss_bytes, record.threads, record.device) == (
        1.5, 10**9, torch.get_num_threads(), "cpu",
    )  # fmt: skip
    assert record.parameters == {"n_clusters": 3, "width": 4}
    assert record.settings == {"max_epochs": 50}
    assert (record.versions, record.commit) == ({"torch": "2"}, "abc")
    assert record.seconds > 0
    assert record.date.endswith("+00:00")
    assert (record.arrays, arrays) == (None, {})  # of the first seed only
    assert record.key == ("blocks", "trained", 1, record.fingerprint)


def test_metrics_are_those_of_evaluate_and_the_method_sees_no_labels():
    graph = blocks("blocks", 0)
    job = ClusteringJob("blocks", "mincut", 7, 0, 5)
    record, arrays = run_clustering(job, environment())
    wanted = evaluate(graph.adjacency(), arrays["labels"], arrays["assignments"], graph.y, 7)
    assert set(record.metrics) == set(wanted) - {"n_clusters", "cluster_sizes"}
    assert record.metrics == pytest.approx({name: wanted[name] for name in record.metrics}, abs=1e-6)
    assert record.epochs == 5
    assert {name: one.shape[0] for name, one in arrays.items()} == {"labels": 56, "assignments": 56, "embedding": 56}
    blind, same = run_clustering(job, environment(lambda name, seed: blocks(name, seed).with_labels(None)))
    assert not {"nmi", "acc", "ari", "macro_f1"} & set(blind.metrics)
    assert np.array_equal(arrays["assignments"], same["assignments"])  # classes changed nothing
    assert blind.loss == record.loss


def test_features_are_divided_by_their_sum_where_that_is_asked_for(monkeypatch):
    seen = []
    monkeypatch.setattr(Fake, "fit", lambda self, graph: seen.append(graph.x.sum(axis=1)) or self)
    run_clustering(JOB, environment())
    run_clustering(replace(JOB, row_normalize=False), environment())
    assert seen[0] == pytest.approx(1)
    assert seen[1] == pytest.approx(blocks("blocks", 0).x.sum(axis=1))


@pytest.mark.parametrize("method", FOUR)
def test_every_method_of_ring_grid_and_denoising_gets_the_same_standardised_features(monkeypatch, method):
    job = next(job for job in denoising_jobs(1, 5) if job.method == method)
    seen = []
    kind = type(job.estimator())
    monkeypatch.setattr(kind, "fit", lambda self, graph: seen.append(graph.x) or 1 / 0)
    record, _ = run_clustering(job, environment())
    x = blocks("sbm-denoising", 0).x
    np.testing.assert_allclose(seen[0], (x - x.mean(0)) / x.std(0), atol=1e-5)
    assert record.settings == {"max_epochs": 5, "standardize": True}


def test_a_timed_run_is_fitted_twice_and_keeps_no_arrays():
    before = Trained.fits
    record, arrays = run_clustering(replace(JOB, method="trained", seed=0, timed=True), environment())
    assert (Trained.fits - before, arrays) == (2, {})
    assert record.settings == {"max_epochs": 50, "timed": True}


def test_wide_embeddings_are_kept_in_half_precision():
    _, arrays = run_clustering(replace(JOB, seed=0, options=(("width", 65),)), environment())
    assert {name: str(one.dtype) for name, one in arrays.items()} == {"labels": "int32", "embedding": "float16"}


def test_embeddings_beyond_half_precision_keep_their_values():
    wide = np.full((2, 65), 1e5)
    assert clustering._compact(wide).dtype == np.float32
    assert np.isfinite(clustering._compact(wide)).all()


def test_a_fingerprint_tells_what_decides_the_result_and_not_the_seed():
    job = ClusteringJob("cora", "tvgnn", 7, 1, 50)
    others = [
        {"max_epochs": 51}, {"options": (("delta_coeff", 0.5),)}, {"n_clusters": 6}, {"row_normalize": False},
        {"timed": True}, {"method": "mincut"}, {"standardize": True},
    ]  # fmt: skip
    assert len({one.fingerprint for one in [job, *(replace(job, **other) for other in others)]}) == 8
    assert replace(job, seed=5).fingerprint == job.fingerprint
    assert replace(job, seed=5).key != job.key
    assert job.parameters["delta_coeff"] == 0.311  # the preset's, in numbers
    spelled = replace(job, options=(("learning_rate", 1e-3),))
    assert spelled.parameters == job.parameters
    assert "random_state" not in job.parameters


def test_committed_records_are_found_whatever_hash_they_were_written_with():
    records = read_records(RECORDS, ClusteringRecord)
    jobs = {job.key: job for epochs in (500, 10_000) for job in table1_jobs(max_epochs=epochs)}
    assert len(records) > 400
    assert [record for record in records if record.key not in jobs or not jobs[record.key].made(record)] == []
    wanted = {job.key for job in table1_jobs(["cora", "citeseer"], max_epochs=500)}
    assert wanted <= {record.key for record in records}


def test_a_folder_of_committed_records_needs_no_run_for_the_table_and_some_for_its_figures(tmp_path):
    shutil.copy(RECORDS, tmp_path / "records.jsonl")
    jobs = table1_jobs(["cora", "citeseer"], seeds=1, max_epochs=500)
    outcome = run_clusterings(jobs, tmp_path, environment(unreadable), need_arrays=False)
    assert (outcome.made, outcome.left, len(outcome.records)) == ([], [], 34)
    assert {record.arrays for record in outcome.records.values()} == {None}  # their files are not there
    assert stored_clusterings(jobs, tmp_path, need_arrays=False).left == []
    assert stored_clusterings(jobs, tmp_path).left == jobs


class Renewed(TVClustering):
    """As a later version: one more argument, and one with another default that decides nothing on a graph."""

    def __init__(self, n_clusters=8, *, preset="paper", max_iter=None, random_state=None, metric="cosine", new=1):
        super().__init__(n_clusters, preset=preset, max_iter=max_iter, random_state=random_state, metric=metric)
        self.new = new


def test_new_arguments_make_no_earlier_record_unusable_and_other_numbers_do(monkeypatch):
    job = ClusteringJob("cora", "tvgnn", 7, 1, 50)
    record = failed(job, environment(), "no time")
    earlier = {name: value for name, value in record.parameters.items() if name != "connect"}
    assert job.made(replace(record, parameters=earlier))
    assert job.made(replace(record, fingerprint="of an earlier version"))
    assert job.made(replace(record, parameters=record.parameters | {"verbose": 2, "metric": "cosine"}))
    assert not job.made(replace(record, parameters=record.parameters | {"hidden_channels": 256}))
    assert not job.made(replace(record, parameters=record.parameters | {"gone": 1}))
    assert not job.made(replace(record, seed=2))
    small = {name: value for name, value in record.parameters.items() if name in Renewed().get_params()}
    monkeypatch.setitem(CLUSTERING_METHODS, "tvgnn", Renewed)
    assert "new" in job.parameters
    assert job.made(replace(record, parameters=small))


def test_a_method_with_another_default_is_run_again(tmp_path, monkeypatch):
    run_clusterings(jobs_of(("fake",)), tmp_path, environment())
    monkeypatch.setattr(Fake.__init__, "__defaults__", (3, None, 5))
    assert stored_clusterings(jobs_of(("fake",)), tmp_path).records == {}
    again = run_clusterings(jobs_of(("fake",)), tmp_path, environment())
    assert (names(again.made), again.left) == ([("fake", 0), ("fake", 1)], [])
    assert {record.parameters["width"] for record in again.records.values()} == {5}


def test_records_of_before_are_of_features_as_they_were_and_no_longer_taken():
    for jobs in (point_cloud_jobs("ring", 1, 9), denoising_jobs(1, 9)):
        new = [failed(job, environment(), "no time") for job in jobs]
        before = [
            replace(record, settings={key: one for key, one in record.settings.items() if key != "standardize"})
            for record in new
        ]
        raw = [replace(job, standardize=False, row_normalize=False) for job in jobs]
        assert [record.key for record in new] == [job.key for job in jobs]
        assert [record.key for record in before] == [job.key for job in raw]


def test_an_error_becomes_a_record_of_one_line():
    failing, silent = (run_clustering(replace(JOB, method=name), environment()) for name in ("failing", "silent"))
    assert (failing[0].error, failing[0].finished, failing[1]) == ("the loss is nan in epoch 3", False, {})
    assert silent[0].error.startswith("TrainingError (clustering_cases.py:")


def test_a_result_that_is_no_number_is_a_failed_run_and_no_end_of_the_others(tmp_path):
    bad = replace(JOB, method="diverging")
    outcome = run_clusterings([bad, JOB], tmp_path, environment())
    first, second = outcome.records.values()
    assert "expected finite results, loss is nan" in first.error
    assert (second.error, outcome.left) == (None, [bad])


def test_all_runs_are_made_once(tmp_path):
    jobs, started, seen = jobs_of(("fake", "trained")), [], []
    outcome = run_clusterings(
        [*jobs, jobs[0]], tmp_path, environment(), on_start=lambda *numbers: started.append(numbers),
        on_record=seen.append,
    )  # fmt: skip
    assert names(outcome.made) == names(seen) == [("fake", 0), ("trained", 0), ("fake", 1), ("trained", 1)]
    assert (outcome.left, started) == ([], [(4, 0)])
    assert read_records(tmp_path / "records.jsonl", ClusteringRecord) == list(outcome.records.values())
    again = run_clusterings(jobs, tmp_path, environment(unreadable))  # there is nothing to load
    assert (again.made, again.records) == ([], outcome.records)


def test_arrays_of_the_first_seed_come_back(tmp_path):
    outcome = run_clusterings(jobs_of(("trained",)), tmp_path, environment())
    first, second = outcome.records.values()
    arrays = read_arrays(first, tmp_path)
    assert arrays["labels"].tolist() == [node % 3 for node in range(56)]
    assert arrays["assignments"].dtype == np.float32
    assert second.arrays is None
    with pytest.raises(DataError, match="expected the arrays of trained on blocks, seed 1"):
        read_arrays(second, tmp_path)


@pytest.mark.parametrize("lose", [lambda path: path.unlink(), lambda path: path.rename(f"{path}.part")])
def test_a_lost_file_of_arrays_repeats_its_run(tmp_path, lose):
    jobs = jobs_of(("fake", "trained"))
    made = run_clusterings(jobs, tmp_path, environment())
    lose(tmp_path / made.records[jobs[0].key].arrays)
    seen = stored_clusterings(jobs, tmp_path)
    assert (seen.left, seen.records[jobs[0].key].arrays, len(seen.records)) == ([jobs[0]], None, 4)
    again = run_clusterings(jobs, tmp_path, environment())
    assert (names(again.made), again.left) == ([("fake", 0)], [])
    assert read_arrays(again.records[jobs[0].key], tmp_path)["labels"].shape == (56,)


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "text", "lengths"])
def test_damaged_arrays_are_one_line(tmp_path, damage):
    outcome = run_clusterings(jobs_of(("trained",), seeds=(0,)), tmp_path, environment())
    (record,) = outcome.records.values()
    path = tmp_path / record.arrays
    content = bytearray(path.read_bytes())
    if damage == "flipped":
        content[60:70] = bytes(10)
    path.write_bytes({"empty": b"", "cut": content[:-40], "text": b"hello", "flipped": content}.get(damage, b""))
    if damage == "lengths":
        with path.open("wb") as file:
            np.savez(file, labels=np.zeros(3), assignments=np.zeros((4, 2)))
    with pytest.raises(DataError, match=r"expected the arrays of trained on blocks, seed 0: .*remove the file"):
        read_arrays(record, tmp_path)


def test_a_stopped_experiment_goes_on_and_gives_the_same_table(tmp_path):
    jobs = real_jobs()
    whole = run_clusterings(jobs, tmp_path / "whole", environment(), workers=Workers(1, 1))

    def stop(record):
        if (record.method, record.seed) == ("mincut", 0):
            raise KeyboardInterrupt

    out = tmp_path / "stopped"
    with pytest.raises(KeyboardInterrupt):
        run_clusterings(jobs, out, environment(), workers=Workers(1, 1), on_record=stop)
    with (out / "records.jsonl").open("a") as file:
        file.write('{"dataset": "blo')
    (out / "arrays" / f".blocks-tvgnn-0-{jobs[3].fingerprint}.part.npz").write_bytes(b"half")
    rest = run_clusterings(jobs, out, environment(), workers=Workers(1, 1))
    assert names(rest.made) == [("tvgnn", 0), *[(name, 1) for name in REAL]]
    assert [one.error for one in whole.records.values()] == [None] * 8
    assert without_times(rest.records.values()) == without_times(whole.records.values())
    assert not list(out.rglob("*.part*"))


def test_failures_end_no_other_run_and_are_tried_again(tmp_path, monkeypatch):
    jobs = jobs_of(("failing", "fake"))
    outcome = run_clusterings(jobs, tmp_path, environment())
    assert [one.finished for one in outcome.records.values()] == [False, True, False, True]
    assert outcome.left == jobs[::2]
    monkeypatch.setitem(CLUSTERING_METHODS, "failing", Fake)
    again = run_clusterings(jobs, tmp_path, environment())
    assert (names(again.made), again.left) == ([("failing", 0), ("failing", 1)], [])
    assert len(read_records(tmp_path / "records.jsonl", ClusteringRecord)) == 6


def test_a_graph_that_cannot_be_loaded_ends_the_command_before_any_run(tmp_path):
    with pytest.raises(DataError, match="blocks cannot be loaded"):
        run_clusterings(jobs_of(("fake",)), tmp_path, environment(unreadable))
    assert read_records(tmp_path / "records.jsonl", ClusteringRecord) == []


def test_no_run_starts_after_the_time_limit(tmp_path, monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr("tvgnn.experiments.pool.time.monotonic", lambda: 60 * next(clock))
    jobs = jobs_of(("fake", "trained"))
    outcome = run_clusterings(jobs, tmp_path, environment(), minutes=3)
    assert (names(outcome.made), outcome.left) == ([("fake", 0), ("trained", 0)], jobs[2:])
    assert len(outcome.records) == 2


def test_what_is_stored_is_read_without_a_run(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        stored_clusterings(jobs_of(("fake",)), tmp_path)
    run_clusterings(jobs_of(("fake",)), tmp_path, environment())
    before = (tmp_path / "records.jsonl").read_bytes()
    outcome = stored_clusterings(jobs_of(("fake", "trained")), tmp_path)
    assert (names(outcome.records.values()), outcome.made) == ([("fake", 0), ("fake", 1)], [])
    assert [job.method for job in outcome.left] == ["trained", "trained"]
    assert (tmp_path / "records.jsonl").read_bytes() == before


@pytest.mark.parametrize("place", ["arrays", "records.jsonl"])
def test_a_full_disk_is_one_line_and_nothing_half_written_stays(tmp_path, place):
    resource = pytest.importorskip("resource")
    run_clusterings(jobs_of(("fake",), seeds=(3,)), tmp_path, environment())
    written = (tmp_path / "records.jsonl").stat().st_size
    options = (("width", 4),) if place == "records.jsonl" else (("width", 63),)
    limit = written + 20 if place == "records.jsonl" else 100
    job = replace(JOB, seed=0 if place == "arrays" else 1, options=options)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        with pytest.raises(
            DataError,
            match=rf"{place}.*cannot be written: (File too large|No space left on device); make room on the disk",
        ):
            run_clusterings([job], tmp_path, environment())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.rglob("*.part*"))
    again = run_clusterings([job], tmp_path, environment())
    assert (len(again.made), len(read_records(tmp_path / "records.jsonl", ClusteringRecord))) == (1, 2)


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_two_workers_give_the_metrics_of_one_process_and_a_dead_one_costs_its_run(tmp_path, backend):
    load = Deadly(tmp_path / "died" if backend == "dask" else None)  # dask tries again
    jobs = real_jobs(seeds=(0,))[1:]
    deadly = replace(JOB, dataset="deadly", method="spectral")
    one = run_clusterings(jobs, tmp_path / "one", ClusteringEnvironment(blocks), workers=Workers(1, 1))
    two = run_clusterings(
        [*jobs, deadly], tmp_path / "two", ClusteringEnvironment(load), workers=Workers(2, 1, backend)
    )
    *others, dead = two.records.values()
    assert [(record.error, record.threads) for record in others] == [(None, 1)] * 3
    assert [record.metrics for record in others] == [record.metrics for record in one.records.values()]
    if backend == "dask":
        assert dead.finished
        assert load.once.exists()
    else:
        assert "ended from outside, probably for lack of memory" in dead.error
        assert two.left == [deadly]


def test_the_studies_are_those_of_the_paper():
    jobs = table1_jobs()
    assert len({job.key for job in jobs}) == len(jobs) == 4 * 17 * 10
    assert {(job.dataset, job.n_clusters) for job in jobs} == set(CITATION.items())
    figures = figure_jobs(CITATION, 10_000)
    assert {job.key for job in figures} <= {job.key for job in jobs}
    assert {job.method for job in figures} == set(END_TO_END)
    assert {(job.method, job.timed) for job in times_jobs()} == {(method, True) for method in FOUR}
    assert all(job.standardize for job in (*point_cloud_jobs("ring", 1, 9), *denoising_jobs(1, 9)))


def test_public_graphs_load_by_value():
    load = PublicGraphs(None, None)
    assert hash(load) == hash(PublicGraphs(None, None))
    assert load("ring", 0).num_nodes == 200
