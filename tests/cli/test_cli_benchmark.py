"""``tvgnn benchmark``: from names to a table, going on after a stop, and mistakes in one line."""

import subprocess
import sys

import pytest
from classification_cases import Failing, FakeClassifier, environment

from tvgnn.records import RunRecord, read_records

RUN = ("benchmark", "classification", "--datasets", "MUTAG", "--methods", "tvgnn,sag", "--out", "out")


@pytest.fixture
def fakes(monkeypatch):
    """Let the command run classifiers without training; returns what it asked for."""
    asked = []

    def use(classifier):
        def build(root, mirror):
            asked.append((root, mirror))
            return environment(classifier)

        monkeypatch.setattr("tvgnn.cli.benchmark._environment", build)
        return asked

    use(FakeClassifier)
    return use


def test_a_benchmark_ends_with_its_table_and_its_records(tvgnn, fakes, tmp_path):
    result = tvgnn(*RUN, "--folds", "0,2", "--runs", "1")
    assert (result.code, result.err) == (0, "")
    assert "MUTAG" in result.out
    assert "12.0 ± 0.0" in result.out  # the fake's accuracy: twelve test graphs
    assert "4 runs made, all records are in out" in result.out
    records = read_records(tmp_path / "out" / "records.jsonl", RunRecord)
    assert [(one.fold, one.method) for one in records] == [(0, "tvgnn"), (0, "sag"), (2, "tvgnn"), (2, "sag")]
    assert (tmp_path / "out" / "splits" / "mutag.json").exists()


def test_the_same_command_goes_on(tvgnn, fakes):
    tvgnn(*RUN, "--folds", "0", "--runs", "1")
    assert "4 runs made" in tvgnn(*RUN, "--folds", "0", "--runs", "3").out
    assert "0 runs made" in tvgnn(*RUN, "--folds", "0", "--runs", "3").out


def test_what_the_time_limit_left_is_said(tvgnn, fakes):
    result = tvgnn(*RUN, "--time-limit", "0", "--folds", "0,1")
    assert (result.code, result.out) == (0, "0 runs made, all records are in out\n")
    assert result.err == "note: 12 of 12 runs are left; the same command makes them\n"


def test_failed_runs_are_named_and_left(tvgnn, fakes):
    fakes(Failing)
    result = tvgnn(*RUN, "--folds", "0", "--runs", "1")
    assert result.code == 0
    assert result.err.splitlines() == [
        "warning: sag on mutag, fold 0, run 0 failed: the loss is nan in epoch 3",
        "note: 1 of 2 runs are left; the same command makes them",
    ]
    assert "12.0" in result.out


def test_a_benchmark_of_failures_fails(tvgnn, fakes):
    fakes(Failing)
    result = tvgnn(*RUN, "--methods", "sag", "--folds", "0")
    assert (result.code, result.error) == (2, "error: every run failed, the last one: the loss is nan in epoch 3")


def test_options_reach_the_runs(tvgnn, fakes, tmp_path):
    folders = ("--root", "data", "--mirror", tmp_path)
    tvgnn(*RUN, "--readout", "mlp", "--max-epochs", "9", "--seed", "4", "--runs", "1", "--folds", "0", *folders)
    record = read_records(tmp_path / "out" / "records.jsonl", RunRecord)[0]
    assert record.settings == {"readout": "mlp", "max_epochs": 9, "seed": 4, "n_folds": 5}
    asked = fakes(FakeClassifier)
    assert [(str(root), mirror) for root, mirror in asked] == [("data", tmp_path)]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["benchmark"], "Missing command"),
        (["benchmark", "clasification"], "Did you mean 'classification'"),
        (["benchmark", "classification"], "Missing option '--datasets'"),
        ([*RUN, "--datasets", "MUTAGG"], "got 'mutagg'; did you mean mutag?"),
        ([*RUN, "--datasets", "cora"], "expected --datasets to be some of bench-easy,"),
        ([*RUN, "--datasets", ","], "got nothing"),
        ([*RUN, "--methods", "tvgnn,all"], "expected --methods to be some of tvgnn, mincut, dmon"),
        ([*RUN, "--folds", "5"], "expected --folds to be some of 0, 1, 2, 3, 4, got '5'"),
        ([*RUN, "--runs", "0"], "--runs"),
        ([*RUN, "--jobs", "999"], "expected --jobs to be at most"),
        ([*RUN, "--max-epochs", "0"], "--max-epochs"),
        ([*RUN, "--time-limit", "-1"], "--time-limit"),
        ([*RUN, "--readout", "max"], "--readout"),
        ([*RUN, "--seed", "-1"], "--seed"),
        (["benchmark", "table"], "Missing argument"),
        (["benchmark", "table", "nowhere.jsonl"], "nowhere.jsonl: cannot be read"),
    ],
    ids=lambda value: " ".join(value[:2] + value[-2:]) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line(tvgnn, fakes, tmp_path, arguments, says):
    result = tvgnn(*arguments)
    assert result.code == 2
    assert says in result.error
    assert result.out == ""
    assert list(tmp_path.iterdir()) == []


def test_an_output_folder_that_is_a_file(tvgnn, fakes, tmp_path):
    (tmp_path / "out").write_text("")
    assert "cannot be written" in tvgnn(*RUN).error


def test_the_table_of_records_is_printed_or_written_and_checked(tvgnn, fakes, tmp_path):
    tvgnn(*RUN, "--runs", "1")
    table = ("benchmark", "table", "out/records.jsonl")
    assert "MUTAG" in tvgnn(*table).out
    page, kept = tmp_path / "page.md", tmp_path / "kept.jsonl"
    files = ("--page", page, "--keep", kept)
    assert "page.md: cannot be read" in tvgnn(*table, *files).error
    page.write_text("Words.\n<!-- begin classification -->\n<!-- end classification -->\n")
    assert "kept.jsonl: is not what the records give" in tvgnn(*table, *files, "--check").error
    assert not kept.exists()
    assert (tvgnn(*table, *files).code, tvgnn(*table, *files, "--check").code) == (0, 0)
    assert "| MUTAG | **12.0 ± 0.0** |" in page.read_text()
    assert len(read_records(kept, RunRecord)) == 10
    assert tvgnn("benchmark", "table", kept, *files, "--check").code == 0  # the kept records are enough
    page.write_text(page.read_text().replace("12.0", "13.0"))
    assert "page.md: is not what the records give" in tvgnn(*table, "--page", page, "--check").error


def test_help_imports_none_of_the_large_packages():
    program = """
import sys
from tvgnn.cli.app import main
for command in ("classification", "table"):
    assert main(["benchmark", command, "--help"]) == 0
sys.exit(str({"torch", "numpy", "scipy", "sklearn", "joblib", "tvgnn.experiments"} & set(sys.modules)))
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.stderr.strip() == "set()"
