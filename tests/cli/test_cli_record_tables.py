"""``tvgnn benchmark table`` of any kind of records."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tvgnn.cli.record_tables import read_kind
from tvgnn.records import ClusteringRecord, DatasetRecord, RunRecord, compact, read_records

CLUSTERING = ClusteringRecord("cora", "tvgnn", 0, "f", {"max_epochs": 9}, 7, metrics={"nmi": 0.5, "acc": 0.625})
CLASSIFICATION = RunRecord(
    "mutag", "tvgnn", 0, 0, "f", 1, {"readout": "linear"}, 135, test_accuracy=0.875, epochs=4, seconds_per_epoch=0.5
)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "clustering.jsonl").write_text(compact([CLUSTERING, replace(CLUSTERING, seed=1)]))
    (tmp_path / "classification.jsonl").write_text(compact([CLASSIFICATION]))
    (tmp_path / "empty.jsonl").write_text("")
    return tmp_path


DOCS = Path(__file__).parents[2] / "docs"
KEPT = ("clustering", "classification", "datasets", "synthetic", "clustering-times", "classification-times")


@pytest.mark.parametrize("name", KEPT)
def test_the_results_page_is_what_its_records_give(name):
    """This is what ``tvgnn benchmark table docs/records/NAME.jsonl --page docs/results.md --check`` asks."""
    page, file = DOCS / "results.md", DOCS / "records" / f"{name}.jsonl"
    kind = read_kind([file])
    assert kind.written(page.read_text(encoding="utf-8")) == page.read_text(encoding="utf-8")
    assert compact(kind.records) == file.read_text(encoding="utf-8")


def test_every_block_of_the_results_page_has_records():
    blocks = {block for name in KEPT for block in read_kind([DOCS / "records" / f"{name}.jsonl"]).blocks()}
    page = (DOCS / "results.md").read_text(encoding="utf-8")
    assert set(re.findall("<!-- begin (.+?) -->", page)) == blocks


def test_each_experiment_has_a_block_of_its_own(tvgnn, files):
    asked = {"max_epochs": 9, "standardize": True}
    synthetic = replace(CLUSTERING, dataset="ring", settings=asked, metrics={"sharpness": 0.5, "n_clusters_found": 5})
    larger = replace(CLUSTERING, dataset="sbm-denoising", settings={**asked, "delta_coeff": 50.0, "n_init": 5})
    timed = replace(
        CLUSTERING, fingerprint="t", metrics={}, ms_per_epoch=5.0, settings={"timed": True}, notes=["from a page"]
    )
    (files / "all.jsonl").write_text(
        compact([CLUSTERING, synthetic, larger, timed, replace(synthetic, dataset="grid")])
    )
    blocks = read_kind([files / "all.jsonl"]).blocks()
    assert sorted(blocks) == ["clustering", "clustering-times", "denoising", "grid", "ring"]
    assert "| TVGNN, 2δ = 50, best of 5 starts |" in blocks["denoising"]
    assert "| TVGNN | 5.0 | 0.500 | 1 |" in blocks["ring"]
    assert "from a page" in blocks["clustering-times"]
    assert "| Cora | 5.0 |" in blocks["clustering-times"]
    assert "ring, at most 9 epochs" in tvgnn("benchmark", "table", "all.jsonl").out


def test_timed_classification_is_not_in_the_table_of_accuracies(files):
    timed = replace(CLASSIFICATION, fingerprint="t", test_accuracy=None, settings={"timed": True})
    (files / "timed.jsonl").write_text(compact([timed]))
    assert list(read_kind([files / "timed.jsonl"]).blocks()) == ["classification-times"]
    (files / "timed.jsonl").write_text(compact([timed, CLASSIFICATION]))
    assert len(read_kind([files / "timed.jsonl"]).blocks()) == 2


def test_sizes_of_datasets_get_their_block(tvgnn, files):
    graph = DatasetRecord(
        "cora", {"vertices": 2708, "edges": 10556, "attributes": 1433, "classes": 7}, date="2026-01-02"
    )
    graphs = DatasetRecord("mutag", {"samples": 2, "vertices": 5, "edges": 8, "attributes": 7, "classes": 2})
    (files / "sizes.jsonl").write_text(compact([graph, graphs]))
    (files / "page.md").write_text("<!-- begin datasets -->\n<!-- end datasets -->\n")
    assert tvgnn("benchmark", "table", "sizes.jsonl", "--page", "page.md").code == 0
    text = (files / "page.md").read_text()
    assert "| Cora | 2,708 | 10,556 | 1,433 | 7 |" in text
    assert "| MUTAG | 2 | 2 | 2.50 | 4.00 | 7 |" in text
    assert "Loaded: 2026-01-02." in text
    assert "Cora" in tvgnn("benchmark", "table", "sizes.jsonl").out


def test_the_kind_is_found_by_itself(tvgnn, files):
    assert "Cora NMI" in tvgnn("benchmark", "table", "clustering.jsonl").out
    assert "accuracy in %" in tvgnn("benchmark", "table", "classification.jsonl").out


def test_empty_files_are_of_any_kind(tvgnn, files):
    for order in (["empty.jsonl", "clustering.jsonl"], ["clustering.jsonl", "empty.jsonl"]):
        assert "Cora NMI" in tvgnn("benchmark", "table", *order).out
    assert "MUTAG" in tvgnn("benchmark", "table", "empty.jsonl", "classification.jsonl").out
    alone = tvgnn("benchmark", "table", "empty.jsonl")
    assert (alone.code, alone.out) == (2, "")
    assert "empty.jsonl: expected a record a line, found none" in alone.error


def test_a_wide_table_in_a_file_is_not_wrapped(tvgnn, files):
    graphs = ("cora", "citeseer", "pubmed", "dblp")
    records = [replace(CLUSTERING, dataset=graph, seed=seed) for graph in graphs for seed in (0, 1)]
    (files / "clustering.jsonl").write_text(compact(records))
    line = next(line for line in tvgnn("benchmark", "table", "clustering.jsonl").out.splitlines() if "TVGNN" in line)
    assert line.count("0.500 ± 0.000") == 4


def test_merged_records_of_several_experiments_keep_table_1_whole_and_the_rest_is_a_note(tvgnn, files):
    graphs = ("cora", "citeseer", "pubmed", "dblp")
    table1 = [replace(CLUSTERING, dataset=graph, method=name) for graph in graphs for name in ("tvgnn", "dmon")]
    denoising = [replace(CLUSTERING, dataset="sbm-denoising", seed=seed) for seed in range(3)]
    later = replace(CLUSTERING, fingerprint="g", metrics={"nmi": 0.25, "acc": 0.5}, date="2026-01-02")
    (files / "later.jsonl").write_text(compact([later, *denoising]))
    (files / "table1.jsonl").write_text(compact(table1))
    result = tvgnn("benchmark", "table", "later.jsonl", "table1.jsonl", "--keep", "kept.jsonl")
    note = "note: left out, as table 1 does not make them: 3 runs on sbm-denoising with features as they are\n"
    assert result.err == note
    shown = tvgnn("benchmark", "table", "later.jsonl", "table1.jsonl").out
    assert "sbm-denoising" not in shown
    ours = next(line for line in shown.splitlines() if "TVGNN" in line).split()
    assert ours == ["TVGNN", "0.250", "50.0", *["0.500", "62.5"] * 3, "0.438", "59.4", "1"]
    kept = read_records(files / "kept.jsonl", ClusteringRecord)
    assert len(kept) == len({record.key for record in kept}) == 11


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["clustering.jsonl", "classification.jsonl"], "expected files of one kind"),
        (["clustering.jsonl", "nowhere.jsonl"], "nowhere.jsonl: cannot be read"),
        (["empty.jsonl", "nowhere.jsonl"], "nowhere.jsonl: cannot be read"),
        (["both.jsonl"], "both.jsonl, line 2: expected a ClusteringRecord: unknown field"),
        (["array.jsonl"], "array.jsonl, line 1: expected a RunRecord"),
        (["deep.jsonl"], "deep.jsonl, line 1: expected a RunRecord"),
        (["."], ".: cannot be read"),
    ],
)
def test_a_mistake_is_one_line(tvgnn, files, names, says):
    (files / "both.jsonl").write_text(compact([CLUSTERING]) + compact([CLASSIFICATION]))
    (files / "array.jsonl").write_text("[1]\n")
    (files / "deep.jsonl").write_text("[" * 100_000 + "\n")
    result = tvgnn("benchmark", "table", *names)
    assert result.code == 2
    assert says in result.error
    assert result.out == ""


def test_a_page_gets_the_table_of_its_kind(tvgnn, files):
    page, kept = files / "page.md", files / "kept.jsonl"
    page.write_text("<!-- begin clustering -->\n<!-- end clustering -->\n")
    command = ("benchmark", "table", "clustering.jsonl", "--page", page, "--keep", kept)
    assert "page.md: is not what" in tvgnn(*command[:5], "--check").error
    assert (tvgnn(*command).code, tvgnn(*command, "--check").code) == (0, 0)
    assert "| TVGNN | 0.500 ± 0.000 |" in page.read_text()
    assert tvgnn("benchmark", "table", kept, "--page", page, "--check").code == 0
    assert "<!-- begin classification -->" in tvgnn("benchmark", "table", "classification.jsonl", "--page", page).error
