"""``tvgnn benchmark table`` of either kind of records."""

from dataclasses import replace

import pytest

from tvgnn.records import ClusteringRecord, RunRecord, compact, read_records

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
