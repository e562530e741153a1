"""The paper's tables of training times and of datasets, ours beside the paper's."""

from tvgnn.experiments.plan import DATASETS, METHODS
from tvgnn.experiments.studies import CITATION, FOUR
from tvgnn.records import ClusteringRecord, RunRecord
from tvgnn.report.dataset_table import graph_rows, graph_set_rows
from tvgnn.report.paper_figures import GRAPH_SET_SIZES, GRAPH_SIZES, MS_PER_EPOCH, SECONDS_PER_EPOCH
from tvgnn.report.times_table import classification_time_rows, clustering_time_rows


def timed(graph, method, ms):
    return [
        ClusteringRecord(graph, method, seed, "f", {}, 7, metrics={"nmi": 0.5}, ms_per_epoch=value)
        for seed, value in enumerate(ms)
    ]


def texts(rows):
    return [[cell.text for cell in row] for row in rows]


def test_clustering_times_are_medians_with_their_ratio_to_tvgnn():
    records = [
        *timed("citeseer", "tvgnn", [8.0]), *timed("cora", "tvgnn", [4.0, 90.0, 5.0]), *timed("cora", "dmon", [10.0]),
        *timed("ring", "tvgnn", [1.0]),
    ]  # fmt: skip
    assert texts(clustering_time_rows(records)) == [
        ["ms an epoch", "DMoN", "TVGNN"],
        ["Cora", "10.0 (2.00x)", "5.0"],
        ["paper", "5.7 (0.69x)", "8.3"],
        ["Citeseer", "-", "8.0"],
        ["paper", "7.8 (0.83x)", "9.4"],
    ]


def test_without_tvgnn_there_is_no_ratio():
    assert texts(clustering_time_rows(timed("cora", "mincut", [10.0])))[1] == ["Cora", "10.0"]
    assert texts(clustering_time_rows([])) == [["ms an epoch"]]


def test_failed_runs_have_no_time():
    failed = ClusteringRecord("cora", "tvgnn", 5, "f", {}, 7, error="no")
    assert texts(clustering_time_rows([*timed("cora", "tvgnn", [4.0]), failed]))[1] == ["Cora", "4.0"]


def test_classification_times():
    common = {"fingerprint": "f", "seed": 1, "settings": {}, "n_graphs": 9, "test_accuracy": 0.5}
    records = [
        RunRecord("mutag", "tvgnn", 0, 0, seconds_per_epoch=0.2, **common),
        RunRecord("mutag", "topk", 0, 0, seconds_per_epoch=0.05, **common),
        RunRecord("bench-easy-small", "tvgnn", 0, 0, seconds_per_epoch=3.0, **common),
    ]
    assert texts(classification_time_rows(records)) == [
        ["s an epoch", "TVGNN", "Top-K"],
        ["Bench-easy, small", "3.00", "-"],
        ["MUTAG", "0.20", "0.05 (0.25x)"],
        ["paper", "0.10", "0.14 (1.40x)"],
    ]


def test_the_papers_times():
    assert set(MS_PER_EPOCH) == set(FOUR)
    assert all(list(row) == list(CITATION) for row in MS_PER_EPOCH.values())
    assert MS_PER_EPOCH["mincut"] == {"cora": 8.9, "citeseer": 13.8, "pubmed": 272.5, "dblp": 227.4}
    assert set(SECONDS_PER_EPOCH) == {name for name in DATASETS if not name.endswith("-small")}
    assert all(set(row) == set(METHODS) for row in SECONDS_PER_EPOCH.values())
    assert SECONDS_PER_EPOCH["reddit-binary"] == {
        "topk": 0.51, "sag": 0.54, "diffpool": 1.83, "mincut": 1.86, "dmon": 1.10, "tvgnn": 1.38,
    }  # fmt: skip


def size(vertices, edges, attributes, classes):
    return {"vertices": vertices, "edges": edges, "attributes": attributes, "classes": classes}


def test_sizes_of_graphs_differences_marked():
    rows = graph_rows({"cora": size(2708, 10556, 1434, 7), "mine": size(1, 2, 3, 4)})
    assert texts(rows) == [
        ["graph", "vertices", "edges", "attributes", "classes"],
        ["Cora", "2,708", "10,556", "1,434", "7"],
        ["paper", "2,708", "10,556", "1,433", "7"],
        ["mine", "1", "2", "3", "4"],
    ]
    assert [cell.alarm for cell in rows[1]] == [False, False, False, True, False]
    assert not any(cell.alarm for row in rows[2:] for cell in row)


def test_sizes_of_sets_classes_marked():
    found = {"samples": 135, "classes": 3, "vertices": 2545, "edges": 140630, "attributes": 7}
    rows = graph_set_rows({"mutag": found, "mine": found})
    assert texts(rows)[1:] == [
        ["MUTAG", "135", "3", "18.85", "1,041.70", "7"],
        ["paper", "188", "2", "17.93", "19.79", ""],
        ["mine", "135", "3", "18.85", "1,041.70", "7"],
    ]
    assert [cell.alarm for cell in rows[1]] == [False, False, True, False, False, False]
    assert not any(cell.alarm for row in rows[2:] for cell in row)


def test_the_papers_sizes():
    assert list(GRAPH_SIZES) == list(CITATION)
    assert GRAPH_SIZES["dblp"] == (17716, 105734, 1639, 4)
    assert GRAPH_SET_SIZES.keys() == SECONDS_PER_EPOCH.keys()
    assert GRAPH_SET_SIZES["collab"] == (5000, 3, 74.49, 4914.43)
