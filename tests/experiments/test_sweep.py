"""Sweeps over the number of clusters: what they find, and that they go on where they stopped."""

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp

from tvgnn import Graph, TVClustering, sweep_n_clusters
from tvgnn.errors import ClusteringWarning, DataError, TrainingError
from tvgnn.estimators.consensus import consensus
from tvgnn.experiments.clustering import ClusteringEnvironment
from tvgnn.experiments.clustering_runner import RECORDS_FILE, read_arrays
from tvgnn.experiments.pool import Workers
from tvgnn.experiments.sweep import run_sweep
from tvgnn.experiments.sweep_jobs import GivenGraph, sweep_jobs
from tvgnn.metrics import evaluate
from tvgnn.records import ClusteringRecord, read_records

TINY = {"hidden_channels": 8, "mlp_channels": 8, "max_iter": 3}


def cliques(*sizes, isolated=0):
    """Disconnected cliques, features that tell them apart, and nodes without edges."""
    blocks = [np.ones((size, size)) - np.eye(size) for size in sizes] + [np.zeros((1, 1))] * isolated
    x = np.repeat(np.eye(len(sizes)), sizes, axis=0)
    return Graph.from_scipy(sp.csr_array(sp.block_diag(blocks)), x=np.vstack([x, np.zeros((isolated, len(sizes)))]))


def random_graph(n=60, p=0.15):
    draw = np.random.default_rng(0)
    upper = np.triu(draw.random((n, n)) < p, k=1)
    return Graph.from_scipy(sp.csr_array((upper | upper.T).astype(float)), x=draw.standard_normal((n, 3)))


def run(graph, out, ks=(2, 3), n_seeds=2, **options):
    """Run a sweep and return it with the records that it made."""
    given, made = GivenGraph.of(graph), []
    jobs = sweep_jobs("test", given, ks, n_seeds, 0, {**TINY, **options.pop("parameters", {})})
    environment = ClusteringEnvironment(given)
    return run_sweep(jobs, out, environment, workers=Workers(), on_record=made.append, **options), made


def test_three_cliques_are_three_clusters():
    result = sweep_n_clusters(cliques(8, 8, 8), [4, 2, 3], n_seeds=2, max_iter=40)
    assert result.n_clusters == 3
    assert [row.n_clusters for row in result.rows] == [2, 3, 4]
    best = result.rows[1]
    assert (best.n_clusters_found, best.stability, best.sizes) == (3, 1.0, (8, 8, 8))
    assert best.modularity == pytest.approx(2 / 3)
    assert best.score == pytest.approx(best.modularity - result.random_modularity)
    assert result.labels[3].tolist() == np.repeat(result.labels[3][[0, 8, 16]], 8).tolist()


def test_components_and_nodes_without_edges_are_fine():
    result = sweep_n_clusters(cliques(9, 8, isolated=2), [1, 2], n_seeds=2, max_iter=40)
    assert result.n_clusters == 2
    assert result.labels[1].tolist() == [0] * 19
    assert all(np.isfinite(row.score) for row in result.rows)


def test_a_random_graph_has_no_recommended_k():
    result = sweep_n_clusters(random_graph(), [2, 3, 4], n_seeds=2, max_iter=40)
    assert result.n_clusters is None
    assert "preset='quality' with n_init=1 may tell more than the preset quick" in result.reason
    assert result.reason


@pytest.mark.parametrize("seed", range(3))
def test_planted_blocks_are_counted_without_stray_nodes(seed):
    draw = np.random.default_rng(seed)
    y = np.repeat(np.arange(4), 20)
    upper = np.triu(draw.random((80, 80)) < np.where(y[:, None] == y, 0.4, 0.02), k=1)
    x = np.eye(4)[y] + draw.normal(size=(80, 4))
    graph = Graph.from_scipy(sp.csr_array((upper | upper.T).astype(float)), x=x)
    result = sweep_n_clusters(graph, [3, 4, 5], n_seeds=2, random_state=seed)
    assert result.n_clusters == 4
    assert {row.n_clusters: row.n_strays for row in result.rows}[4] == 0


def test_a_stray_node_is_no_cluster_in_use(tmp_path, monkeypatch):
    graph = cliques(10, 10)
    stray = np.repeat([0, 1], 10)
    stray[0] = 2  # better seeds, one node left over
    made = TVClustering.fit

    def fit(self, X, y=None, *, adjacency=None):
        made(self, X, adjacency=adjacency)
        if self.n_clusters == 3:
            self.labels_ = stray
            self.assignments_ = np.eye(3, dtype=np.float32)[stray]
        return self

    monkeypatch.setattr(TVClustering, "fit", fit)
    result, _ = run(graph, tmp_path, ks=(2, 3), parameters={"max_iter": 40})
    assert [(row.n_clusters_found, row.n_strays) for row in result.rows] == [(2, 0), (3, 1)]
    assert result.n_clusters == 2


def test_the_score_is_of_the_seeds_with_the_lower_losses_and_its_error_of_all(tmp_path, monkeypatch):
    graph = cliques(10, 10)
    good, bad = np.repeat([0, 1], 10), np.repeat([0, 1, 0, 1], 5)  # adjusted Rand index -1 / 18
    runs = {0: (3.0, bad), 1: (1.0, good), 2: (4.0, good), 3: (2.0, good)}
    made = TVClustering.fit

    def fit(self, X, y=None, *, adjacency=None):
        made(self, X, adjacency=adjacency)
        self.loss_, self.labels_ = runs[self.random_state]
        self.assignments_ = np.eye(2, dtype=np.float32)[self.labels_]
        return self

    monkeypatch.setattr(TVClustering, "fit", fit)
    result, _ = run(graph, tmp_path, ks=(2,), n_seeds=4)
    row, excess = result.rows[0], 0.5 - result.random_modularity
    assert row.loss == 1.0
    assert row.stability == pytest.approx((3 - 3 / 18) / 6)
    assert row.stability_of_best == 1.0
    assert row.score == pytest.approx(excess)
    # that of all seeds: 1 without the bad run, (1 - 2 / 18) / 3 without one of the three others
    assert row.score_error == pytest.approx(3 / 4 * (1 - (1 - 2 / 18) / 3) * abs(excess))


def test_clusters_keep_their_numbers_from_one_k_to_the_next():
    labels = sweep_n_clusters(cliques(9, 8, 7), [2, 3], n_seeds=2, max_iter=40).labels
    kept = np.mean(labels[2] == labels[3])
    swapped = [np.mean(labels[2] == np.array(order)[labels[3]]) for order in ([1, 0, 2], [2, 1, 0], [0, 2, 1])]
    assert kept >= max(swapped)


def test_features_alone_are_joined_to_their_neighbours():
    x = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0, 0], [20, 20]], 20, axis=0)
    result = sweep_n_clusters(x, [2, 3], n_seeds=2, n_neighbors=5, max_iter=40)
    assert result.labels[2].tolist() in ([0] * 20 + [1] * 20, [1] * 20 + [0] * 20)


def test_consensus_labels_come_from_all_seeds(tmp_path):
    graph = random_graph()  # whose runs differ
    single, records = run(graph, tmp_path, ks=(3,), n_seeds=3, parameters={"max_iter": 20})
    both, made = run(graph, tmp_path, ks=(3,), n_seeds=3, parameters={"max_iter": 20}, consensus=True)
    assert made == []
    runs = [read_arrays(record, tmp_path)["assignments"] for record in sorted(records, key=lambda one: one.loss)]
    agreed = consensus(runs)
    assert np.array_equal(both.labels[3], agreed.labels)
    assert not np.array_equal(both.labels[3], single.labels[3])
    assert np.array_equal(both.confidence[3], agreed.assignments.max(axis=1))
    row, own = both.rows[0], evaluate(graph.adjacency(), agreed.labels, agreed.assignments)
    assert (row.modularity, row.sharpness) == pytest.approx((own["modularity"], own["sharpness"]))
    rows = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    differences = np.abs(agreed.assignments[rows] - agreed.assignments[graph.indices]).sum()
    assert row.total_variation == pytest.approx(differences / (2 * len(graph.indices)), rel=1e-5)
    assert row.total_variation != pytest.approx(single.rows[0].total_variation)


def test_a_k_whose_runs_fail_is_left_out_and_tried_again(tmp_path, monkeypatch):
    train, failing = TVClustering.fit, [3]

    def fit(self, *arguments):
        if self.n_clusters in failing:
            raise TrainingError("no luck")
        return train(self, *arguments)

    monkeypatch.setattr(TVClustering, "fit", fit)
    with pytest.warns(ClusteringWarning, match=r"2 of 6 runs failed.*no luck.*left out: K = 3"):
        result, _ = run(cliques(5, 5), tmp_path, ks=(2, 3, 4))
    assert [row.n_clusters for row in result.rows] == [2, 4]
    with pytest.warns(ClusteringWarning, match="left out"):  # larger K are made though the failed one comes first
        result, made = run(cliques(5, 5), tmp_path, ks=(2, 3, 4, 5))
    assert [row.n_clusters for row in result.rows] == [2, 4, 5]
    failing.clear()
    result, made = run(cliques(5, 5), tmp_path, ks=(2, 3, 4, 5))
    assert [record.n_clusters for record in made] == [3, 3]
    assert [row.n_clusters for row in result.rows] == [2, 3, 4, 5]


def test_a_sweep_does_not_keep_the_graph_alive(monkeypatch):
    train, seen = TVClustering.fit, []

    def fit(self, X):
        seen.append(weakref.ref(X))
        return train(self, X)

    monkeypatch.setattr(TVClustering, "fit", fit)
    sweep_n_clusters(cliques(5, 5), [2], n_seeds=2, max_iter=3)
    gc.collect()
    assert [reference() for reference in seen] == [None, None]


def test_what_is_there_is_not_made_again(tmp_path):
    graph = cliques(5, 5)
    first, made = run(graph, tmp_path)
    assert len(made) == 4
    again, made = run(graph, tmp_path)
    assert made == []
    assert again.rows == first.rows
    assert [labels.tolist() for labels in again.labels.values()] == [
        labels.tolist() for labels in first.labels.values()
    ]
    _, made = run(graph, tmp_path, ks=(2, 3, 4), n_seeds=3)
    assert sorted((record.n_clusters, record.seed) for record in made) == [(2, 2), (3, 2), (4, 0), (4, 1), (4, 2)]
    _, made = run(graph, tmp_path, parameters={"delta_coeff": 0.5})
    assert len(made) == 4


def test_an_interrupted_sweep_goes_on(tmp_path):
    graph, seen = cliques(5, 5), []
    given = GivenGraph.of(graph)
    jobs = sweep_jobs("test", given, (2, 3), 2, 0, TINY)

    def interrupt(record):
        seen.append(record)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sweep(jobs, tmp_path, ClusteringEnvironment(given), workers=Workers(), on_record=interrupt)
    with (tmp_path / RECORDS_FILE).open("ab") as file:
        file.write(b'{"dataset": "te')  # what a crash leaves of a line
    _, made = run(graph, tmp_path)
    assert len(made) == 2
    assert len(read_records(tmp_path / RECORDS_FILE, ClusteringRecord)) == 4


def test_a_run_whose_arrays_are_gone_is_made_again(tmp_path):
    graph = cliques(5, 5)
    run(graph, tmp_path)
    next((tmp_path / "arrays").iterdir()).unlink()
    assert len(run(graph, tmp_path)[1]) == 1


def test_other_data_and_other_folders_are_refused(tmp_path):
    run(cliques(5, 5), tmp_path / "sweep")
    with pytest.raises(DataError, match="the sweep of other data"):
        run(cliques(5, 6), tmp_path / "sweep")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("years of work")
    with pytest.raises(DataError, match="it is no sweep"):
        run(cliques(5, 5), tmp_path / "mine")


def test_that_empty_clusters_are_kept_is_not_in_the_fingerprint(tmp_path):
    run(cliques(5, 5), tmp_path)
    assert run(cliques(5, 5), tmp_path, parameters={"empty_clusters": "keep"})[1] == []


def test_labels_are_neither_used_nor_recorded(tmp_path):
    graph = cliques(5, 5)
    _, made = run(graph.with_labels([0] * 5 + [1] * 5), tmp_path)
    assert not {"nmi", "acc", "ari", "macro_f1"} & set(made[0].metrics)
    assert run(graph, tmp_path)[1] == []  # the same data, as far as the sweep can see


def test_the_first_failure_ends_it_with_its_reason(tmp_path):
    with pytest.raises(TrainingError, match=r"K=2 and seed 0 failed: .*rho"):
        run(cliques(5, 5), tmp_path, parameters={"rho": -1.0})


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"n_clusters": []}, "at least one number of clusters"),
        ({"n_clusters": [0]}, "n_clusters to be an integer >= 1"),
        ({"n_clusters": [2, 99]}, "n_clusters <= n_samples, got n_clusters=99 and n_samples=10"),
        ({"n_seeds": 1}, "n_seeds >= 2"),
        ({"random_state": None}, "random_state to be an integer"),
        ({"jobs": 0}, "jobs to be an integer >= 1"),
        ({"max_epochs": 3}, "got 'max_epochs'; known are .*max_iter"),
        ({"verbose": 1}, "got 'verbose'"),
        ({"max_iter": 0}, "max_iter to be an integer >= 1"),
        ({"preset": "slow"}, "preset to be one of paper, quick"),
        ({"empty_clusters": "split"}, "empty_clusters='keep' in a sweep, .* got 'split'"),
    ],
)
def test_a_mistake_is_told_before_the_first_run(arguments, says):
    with pytest.raises(ValueError, match=says):
        sweep_n_clusters(cliques(5, 5), **{"n_clusters": [2], **arguments})
