"""The table of graph classification: its arithmetic, its marks, the paper beside it, and the page that shows it."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from scipy import stats

from tvgnn.cli.record_tables import Classification
from tvgnn.errors import DataError
from tvgnn.experiments.plan import DATASETS, METHODS
from tvgnn.records import RunRecord, compact, read_records
from tvgnn.report.classification_statistics import Summary, blocks, summarize, welch
from tvgnn.report.classification_table import classification_tables, markdown
from tvgnn.report.paper_figures import ACCURACY, DATASET_TITLES, METHOD_TITLES, P_VALUES
from tvgnn.report.times_table import classification_time_rows

DOCS = Path(__file__).parents[2] / "docs"
PAGE, RECORDS = DOCS / "results.md", DOCS / "records" / "classification.jsonl"


def runs(accuracies, dataset="mutag", method="tvgnn", **fields):
    settings = {"readout": "linear", "max_epochs": 500, "seed": 0, "n_folds": 5}
    common = {
        "fingerprint": "f", "seed": 1, "settings": settings, "n_graphs": 135, "epochs": 40, "seconds_per_epoch": 0.25,
        "peak_rss_bytes": 5 * 10**8, "threads": 1, "device": "cpu", "versions": {"torch": "2.13"},
        "commit": "0123456789abcdef", "date": "2026-01-02T03:04:05+00:00",
    }  # fmt: skip
    return [
        RunRecord(dataset, method, number % 5, number // 5, test_accuracy=value, **(common | fields))
        for number, value in enumerate(accuracies)
    ]


def summary(*accuracies):
    return Summary(accuracies, frozenset(), 1.0, 1.0, None)


def row(text, title):
    line = next(line for line in text.splitlines() if line.startswith(f"| {title} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_mean_and_deviation_by_hand():
    one = summarize(runs([0.8, 0.9, 0.7, 0.9, 0.8, 0.9], epochs=11))
    # deviations from 5/6: -1/30, 2/30, -4/30, 2/30, -1/30, 2/30; squares sum to 30/900
    assert one.mean == pytest.approx(83.3333, abs=1e-4)
    assert one.deviation == pytest.approx(100 * np.sqrt(30 / 900 / 5))
    assert (one.folds, len(one.accuracies), one.epochs, one.seconds_per_epoch) == (5, 6, 11, 0.25)
    assert one.peak_gigabytes == 0.5


def test_medians_and_the_largest_memory():
    several = [*runs([0.5]), *runs([0.6], epochs=10, seconds_per_epoch=0.5, peak_rss_bytes=10**9)]
    assert summarize(several).epochs == 25
    assert summarize(several).seconds_per_epoch == 0.375
    assert summarize(several).peak_gigabytes == 1.0
    assert summarize(runs([0.5], peak_rss_bytes=None)).peak_gigabytes is None


def test_welch_against_known_numbers():
    # means 2 and 4, variances 1 and 4: t = -2 / sqrt(5/3) = -1.5492 with 25/9 / (17/18) = 2.9412 degrees of freedom
    assert welch(summary(1.0, 2.0, 3.0), summary(2.0, 4.0, 6.0)) == pytest.approx(0.22088084, abs=1e-8)
    # the first example of Wikipedia's article on the test, which states p = 0.021
    first = (27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4)
    second = (27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4)
    assert welch(summary(*first), summary(*second)) == pytest.approx(0.021, abs=5e-4)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 1000), min_size=2, max_size=15), st.lists(st.integers(0, 1000), min_size=2, max_size=15))
def test_welch_is_that_of_scipy(first, second):
    found = welch(summary(*map(float, first)), summary(*map(float, second)))
    if len(set(first)) == len(set(second)) == 1:
        assert found is None
    elif len(set(first)) > 1 and len(set(second)) > 1:  # scipy warns otherwise
        assert found == pytest.approx(stats.ttest_ind(first, second, equal_var=False).pvalue)


def test_welch_where_it_is_not_defined():
    assert welch(summary(1.0), summary(2.0, 3.0)) is None
    assert welch(summary(1.0, 1.0), summary(2.0, 2.0)) is None
    assert 0 < welch(summary(1.0, 1.0), summary(2.0, 3.0)) < 1


def test_best_bold_second_underlined_beside_the_paper():
    records = [
        *runs([0.88, 0.90], method="sag"),
        *runs([0.90, 0.92, 0.94], method="tvgnn"),
        *runs([0.80], method="mincut"),
    ]
    text = markdown(records)
    assert row(text, "accuracy in %") == [
        "accuracy in %", "TVGNN", "MinCutPool", "SAGPool", "p of the two best", "TVGNN as in the paper",
    ]  # fmt: skip
    assert row(text, "MUTAG")[1:4] == ["**92.0 ± 2.0**", "80.0", "<u>89.0 ± 1.4</u>"]
    p = stats.ttest_ind([90, 92, 94], [88, 90], equal_var=False).pvalue
    assert row(text, "MUTAG")[4:] == [f"{p:.3f}", "yes"]
    assert row(text, "paper") == ["paper", "88.4 ± 7.5", "85.2 ± 7.2", "76.8 ± 9.7", "0.606", ""]
    assert row(text, "runs (folds)")[1:4] == ["3 (3)", "1 (1)", "2 (2)"]
    assert row(text, "epochs x seconds")[1] == "40 x 0.25"
    assert row(text, "peak GB")[1] == "0.50"
    assert "Not the same runs of every method: MUTAG." in text


@pytest.mark.parametrize(
    ("accuracy", "dataset", "says"),
    [(0.8091, "mutag", "yes"), (0.8089, "mutag", "**no**"), (0.5, "bench-easy-small", "-")],
)
def test_one_deviation_below_the_paper_is_the_limit(accuracy, dataset, says):
    assert row(markdown(runs([accuracy] * 3, dataset)), DATASET_TITLES[dataset])[-1] == says


@pytest.mark.parametrize("count", [1, 2])
def test_one_run_or_two_are_not_compared_with_the_paper(count):
    assert row(markdown(runs([0.5] * count)), "MUTAG")[-1] == "-"


def test_one_method_alone_has_no_rank_and_a_set_that_is_not_in_the_paper_no_figure():
    text = markdown(runs([0.5, 0.6], "bench-hard-small"))
    assert row(text, "Bench-hard, small")[1:3] == ["55.0 ± 7.1", "-"]
    assert row(text, "paper")[1] == "-"


def test_datasets_follow_in_the_order_of_the_paper_and_absent_pairs_are_dashes():
    text = markdown([*runs([0.5], "proteins"), *runs([0.6], "mutag", "dmon")])
    assert text.index("| MUTAG |") < text.index("| PROTEINS |")
    assert row(text, "MUTAG")[1:3] == ["-", "60.0"]


def test_datasets_of_others_follow_those_of_the_paper():
    text = markdown([*runs([0.7] * 15, "zoo"), *runs([0.8] * 15, "aids"), *runs([0.9] * 15, "dd")])
    titles = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    assert [title for title in titles if title in ("zoo", "aids", DATASET_TITLES["dd"])] == [
        DATASET_TITLES["dd"], "aids", "zoo",
    ]  # fmt: skip
    assert "--datasets dd,aids,zoo --methods tvgnn" in text
    alone = markdown(runs([0.7] * 15, "zoo"))
    assert "Repeat with `tvgnn benchmark classification --datasets zoo --methods tvgnn" in alone
    times = classification_time_rows([*runs([0.7], "zoo"), *runs([0.9], "dd")])
    assert [cells[0].text for cells in times if cells[0].text != "paper"][1:] == [DATASET_TITLES["dd"], "zoo"]


def test_what_is_not_known_of_a_measurement_is_not_named():
    text = markdown(runs([0.7], threads=None, device=None, versions={}, commit=None, date=""))
    assert "Measured" not in text
    assert "\nEpochs and seconds are medians.\n" in text


def test_failures_are_told_and_do_not_enter():
    failed = replace(runs([0.1])[0], test_accuracy=None, error="the loss is nan", run=7)
    text = markdown([*runs([0.5, 0.6]), failed, replace(failed, run=8)])
    assert "TVGNN on MUTAG failed 2 times: the loss is nan." in text
    assert row(text, "MUTAG")[1] == "55.0 ± 7.1"
    alone = markdown([failed])
    assert "failed once" in alone
    assert "|" not in alone
    assert classification_tables([failed]) == []


def test_other_settings_are_another_table_and_repeated_runs_count_once():
    few = runs([0.7], fingerprint="g", settings={"readout": "mlp", "max_epochs": 9, "seed": 4, "n_folds": 5})
    found = blocks([*few, *runs([0.5, 0.6]), *runs([0.8])])
    assert [block.settings["readout"] for block in found] == ["linear", "mlp"]
    assert found[0].summaries["mutag"]["tvgnn"].accuracies == (80.0, 60.0)
    text = markdown([*few, *runs([0.5, 0.6])])
    assert text.index("Readout linear, at most 500 epochs") < text.index(
        "Readout mlp, at most 9 epochs, splits of seed 4"
    )
    assert "--methods tvgnn --out DIR --readout mlp --max-epochs 9 --seed 4 --folds 0 --runs 1`" in text


def test_what_it_was_measured_with():
    records = [*runs([0.5]), *runs([0.6], method="sag", commit="fedcba9876", date="2026-01-05", threads=2)]
    assert (
        "Measured: commit `0123456`, commit `fedcba9`, 2026-01-02 to 2026-01-05, 1, 2 threads a run, cpu, torch 2.13; "
        "epochs and seconds are medians."
    ) in markdown(records)
    assert "Measured: 2026-01-02, cpu; epochs" in markdown(runs([0.5], commit=None, threads=None, versions={}))


def test_all_methods_are_called_all():
    records = [record for method in METHODS for record in runs([0.5], method=method)]
    assert "--datasets mutag --methods all --out DIR" in markdown(records)


def test_the_commands_make_the_runs_that_there_are():
    def commands(*records):
        line = next(line for line in markdown(records).splitlines() if line.startswith("Repeat with "))
        return line.removeprefix("Repeat with ").removesuffix(".").split(", ")

    begin, end = "`tvgnn benchmark classification --datasets", "--out DIR --readout linear --max-epochs 500 --seed 0"
    whole = [record for method in METHODS for record in runs([0.5] * 15, method=method)]
    once = [record for name in ("nci1", "dd") for record in runs([0.5] * 5, name)]
    few = runs([0.5] * 2, "nci1", "sag")
    assert commands(*whole) == [f"{begin} mutag --methods all {end}`"]
    assert commands(*few, *whole, *once) == [
        f"{begin} mutag --methods all {end}`",
        f"{begin} nci1,dd --methods tvgnn {end} --runs 1`",
        f"{begin} nci1 --methods sag {end} --folds 0,1 --runs 1`",
    ]
    assert commands(*runs([0.5] * 20)) == [f"{begin} mutag --methods tvgnn {end} --runs 4`"]


def test_without_records_the_section_says_how_to_make_some():
    assert markdown([]).startswith("Not run yet. This makes the records: `tvgnn benchmark classification --datasets ")
    assert classification_tables([]) == []


def test_the_terminal_shows_the_same_figures():
    (table,) = classification_tables([*runs([0.90, 0.92, 0.94]), *runs([0.88, 0.90], method="sag")])
    file = io.StringIO()
    Console(file=file, width=150).print(table)
    lines = [" ".join(line.split()) for line in file.getvalue().splitlines()]
    assert lines[0] == "Readout linear, at most 500 epochs, splits of seed 0:"
    assert lines[2].startswith("MUTAG 92.0 ± 2.0 89.0 ± 1.4")
    assert lines[3] == "paper 88.4 ± 7.5 76.8 ± 9.7 0.606"
    styles = [str(cell.style) for cell in list(table.columns[1].cells)[:1] + list(table.columns[2].cells)[:1]]
    assert styles == ["bold", "underline"]


def test_a_page_keeps_what_is_outside_the_markers():
    page = "before\n<!-- begin classification -->\nformer table\n<!-- end classification -->\nafter\n"
    text = Classification(runs([0.5])).written(page)
    assert text.startswith("before\n<!-- begin classification -->\n\nReadout linear")
    assert text.endswith("\n\n<!-- end classification -->\nafter\n")
    assert "former" not in text
    assert Classification(runs([0.5])).written(text) == text


@pytest.mark.parametrize("marker", ["begin", "end"])
def test_a_page_without_markers_is_refused(marker):
    page = "<!-- begin classification -->\n<!-- end classification -->"
    with pytest.raises(DataError, match="<!-- begin classification --> and <!-- end classification --> once each"):
        Classification([]).written(page.replace(marker, "x"))


def test_the_committed_page_and_records_belong_together():
    records = read_records(RECORDS, RunRecord) if RECORDS.exists() else []
    assert Classification(records).written(PAGE.read_text(encoding="utf-8")) == PAGE.read_text(encoding="utf-8")
    if RECORDS.exists():
        assert compact(records) == RECORDS.read_text(encoding="utf-8")
        assert RECORDS.stat().st_size < 300_000


def test_every_dataset_and_method_of_the_protocol_has_a_title_and_the_paper_a_figure():
    assert set(METHOD_TITLES) == set(METHODS)
    assert set(DATASET_TITLES) == set(DATASETS)
    paper = {name for name in DATASETS if not name.endswith("-small")}
    assert set(ACCURACY) == set(P_VALUES) == paper
    assert all(set(figures) == set(METHODS) for figures in ACCURACY.values())
    assert ACCURACY["nci1"]["tvgnn"] == (77.3, 1.8)
    assert ACCURACY["reddit-binary"]["topk"] == (54.0, 10.0)
