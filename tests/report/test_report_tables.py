"""Tables: the numbers that they show."""

import io

from rich.console import Console

from tvgnn.report.tables import comparison_table, metrics_table

METRICS = {
    "dataset": "cora", "method": "TVGNN", "seed": 0, "n_nodes": 2708, "n_edges": 5278, "n_features": 1433,
    "n_clusters": 7, "n_clusters_found": 6, "cluster_sizes": [1000, 1708], "nmi": 0.48812, "loss": 0.1,
    "epochs": 1500, "converged": True, "fit_seconds": 12.34, "ms_per_epoch": 8.21, "peak_rss_bytes": 2**30,
    "device": "cpu", "threads": 2,
}  # fmt: skip


def text_of(table):
    file = io.StringIO()
    Console(file=file, width=100).print(table)
    return [" ".join(line.split()) for line in file.getvalue().splitlines()]


def test_the_table_shows_each_metric_once():
    assert text_of(metrics_table(METRICS)) == [
        "dataset cora",
        "method TVGNN",
        "seed 0",
        "graph 2,708 nodes, 5,278 edges, 1,433 features",
        "clusters 6 in use of 7",
        "sizes 1,000 1,708",
        "NMI 0.4881",
        "loss 0.1000",
        "epochs 1,500 (stopped early)",
        "time 12.3 s, 8.2 ms an epoch",
        "peak memory 1,024 MiB",
        "computed on cpu, 2 threads",
    ]


def test_unknown_values_are_left_out():
    assert text_of(metrics_table({"dataset": "x", "peak_rss_bytes": None, "converged": False})) == ["dataset x"]


def test_many_sizes_become_a_range():
    assert "sizes from 3 to 52" in text_of(metrics_table({"cluster_sizes": list(range(3, 53))}))


def test_brackets_in_a_name_are_no_markup():
    assert text_of(metrics_table({"dataset": "[bold]x[/bold]"})) == ["dataset [bold]x[/bold]"]


def test_comparison():
    row = {"method": "k-means", "n_clusters_found": 3, "nmi": 0.5, "acc": 0.66666, "ari": -0.01, "fit_seconds": 1.26}
    assert text_of(comparison_table([row])) == [
        "method clusters NMI accuracy ARI seconds",
        "k-means 3 0.500 0.667 -0.010 1.3",
    ]
