"""``tvgnn reproduce``: which methods are trained, and what is said of a figure that lacks some."""

from pathlib import Path

import pytest
from clustering_cases import blocks

from tvgnn.baselines import DMoN, MinCut
from tvgnn.experiments import clustering
from tvgnn.records import ClusteringRecord, read_records

SHORT = ("--out", "out", "--max-epochs", "2", "--seeds", "1")
RING = ("reproduce", "fig-ring", *SHORT)


@pytest.fixture(autouse=True)
def _small_graphs(monkeypatch):
    monkeypatch.setattr(clustering.PublicGraphs, "__call__", lambda self, name, seed: blocks(name, seed))
    clustering._graph.cache_clear()
    yield
    clustering._graph.cache_clear()


def clustered():
    return read_records("out/records.jsonl", ClusteringRecord)


def test_no_method_is_trained_that_was_not_asked_for(tvgnn):
    command = ("reproduce", "fig-ring,fig-denoising,table1,fig-assignments", *SHORT, "--datasets", "cora")
    result = tvgnn(*command, "--methods", "spectral")
    assert result.err.splitlines() == [
        f"note: {name} is left out: it has none of the names that were given"
        for name in ("fig-ring", "fig-denoising", "fig-assignments")
    ]
    assert [record.method for record in clustered()] == ["spectral"]
    assert tvgnn(*command, "--methods", "mincut,abl1").code == 0
    made = {(record.dataset, record.method) for record in clustered()}
    assert made == {
        ("cora", "spectral"), ("cora", "mincut"), ("cora", "abl1"), ("ring", "mincut"), ("sbm-denoising", "mincut"),
    }  # fmt: skip
    timed = tvgnn("reproduce", "times", *SHORT, "--datasets", "cora", "--methods", "topk")
    assert timed.error == (
        "error: expected --methods that are timed on cora: diffpool, mincut, dmon, tvgnn; got others"
    )


def _fails_with_seed_0(monkeypatch, *methods):
    for method in methods:
        fit = method.fit

        def failing(self, graph, fit=fit):
            if self.random_state == 0:
                raise ValueError("no")
            return fit(self, graph)

        monkeypatch.setattr(method, "fit", failing)


def test_what_a_figure_lacks_since_the_first_seed_failed_is_said(tvgnn, monkeypatch):
    two = [*RING, "--seeds", "2"]
    _fails_with_seed_0(monkeypatch, DMoN)
    result = tvgnn(*two, "--methods", "dmon,tvgnn")
    assert result.err.splitlines()[-1] == ("warning: figure ring is drawn without DMoN: there is no result of seed 0")
    assert Path("out/figures/ring.png").exists()
    alone = tvgnn(*two, "--methods", "dmon", "--out", "alone")
    assert (alone.code, alone.err.splitlines()[-1]) == (
        0, "warning: figure ring is not drawn: there is no result of seed 0 of DMoN",
    )  # fmt: skip
    assert "DMoN" in Path("alone/ring.md").read_text()
    assert not Path("alone/figures").exists()


def test_graphs_without_a_result_keep_no_other_from_its_figure(tvgnn, monkeypatch):
    fit = MinCut.fit
    monkeypatch.setattr(MinCut, "fit", lambda self, graph: fit(self, graph) if self.n_clusters == 7 else 1 / 0)
    figure = ("reproduce", "fig-assignments", "--out", "out", "--max-epochs", "2", "--methods", "mincut")
    result = tvgnn(*figure, "--datasets", "citeseer,cora")
    assert result.code == 0
    assert "warning: figure assignments-citeseer is not drawn: there is no result of seed 0 of MinCutPool" in result.err
    assert [path.name for path in sorted(Path("out/figures").iterdir())] == [
        "assignments-cora.pdf", "assignments-cora.png",
    ]  # fmt: skip
