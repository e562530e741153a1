"""The performance page says what its records say, judges targets by itself and names what is missing or mixed."""

from dataclasses import replace

import pytest
from benchmarks.markdown import at_least, at_most, number
from benchmarks.records import Measurement, compact, read
from benchmarks.report import distil, latest, main, written
from benchmarks.tables import TABLES

from benchmarks import report
from tvgnn.errors import DataError

EMPTY = "".join(f"Words.\n<!-- begin {table.name} -->\nold\n<!-- end {table.name} -->\n" for table in TABLES)


def record(benchmark, variant, median, **fields):
    common = {"repetitions": 3, "device": "cpu X", "threads": 2, "versions": {"torch": "2"}, "commit": "abc"}
    return Measurement(benchmark, variant, median, median, median, **(common | {"date": "2026-01-02T03:04"} | fields))


def section(text, name):
    return text.partition(f"<!-- begin {name} -->")[2].partition(f"<!-- end {name} -->")[0]


def page(*records, name):
    return section(written(EMPTY, records), name)


def test_the_committed_page_and_records_belong_together():
    main(["--check"])
    assert report.RECORDS.stat().st_size < 60_000


def test_drift_is_noticed_and_mended(tmp_path, monkeypatch):
    paths = {"PAGE": tmp_path / "page.md", "RECORDS": tmp_path / "records.jsonl"}
    for name, path in paths.items():
        monkeypatch.setattr(report, name, path)
    new = tmp_path / "new.jsonl"
    new.write_text(compact([record("epoch, cora", "tvgnn", 12.3456789), record("other", "tvgnn", 1.0)]))
    paths["PAGE"].write_text(EMPTY)
    with pytest.raises(SystemExit, match=r"records.jsonl is not what"):
        main([str(new), "--check"])
    main([str(new)])
    main(["--check"])
    assert [one.median for one in read(paths["RECORDS"])] == [12.346]
    assert paths["PAGE"].read_text().count("Words.\n") == len(TABLES)
    paths["PAGE"].write_text(paths["PAGE"].read_text().replace("12.3", "11.3"))
    with pytest.raises(SystemExit, match=r"page.md is not what"):
        main(["--check"])


def test_without_records_every_table_says_so_and_how_to_measure():
    text = written(EMPTY, [])
    for table in TABLES:
        assert "Not measured" in section(text, table.name)
        assert f"--only {table.name}" in section(text, table.name)
    assert "no GPU was at hand" in section(text, "gpu")
    assert "old" not in text


def test_a_page_without_markers_is_refused():
    with pytest.raises(DataError, match="<!-- begin gpu -->"):
        written(EMPTY.replace("<!-- begin gpu -->", ""), [])


@pytest.mark.parametrize(
    ("peer", "verdict"), [(400, "4.00x, at least 4x: met"), (399, "3.99x, at least 4x: **missed**")]
)
def test_epoch_against_peer_and_rooflines(peer, verdict):
    figures = {"tvgnn": 100, "released, E x K loss": 500, "torch-geometric-pool": peer, "roofline, rows gathered": 70}
    text = page(*(record("epoch, cora", *item) for item in figures.items()), name="epoch")
    assert f"| torch-geometric-pool | {peer} ({peer / 100:.2f}x) |" in text
    assert verdict in text
    assert "| tvgnn takes | 1.43x, at most 1.3x: **missed** |" in text
    assert "| roofline, each array once, ms | - |" in text


def test_where_the_peer_is_absent_the_edgewise_formulation_is_the_target():
    text = page(record("epoch, dblp", "tvgnn", 1), record("epoch, dblp", "released, E x K loss", 9), name="epoch")
    assert "9.00x, at least 8x: met (of released, E x K loss)" in text


def test_memory_has_targets_on_two_datasets():
    runs = [
        record(f"peak memory of training, {name}", *item, unit="MB")
        for name in ("pubmed", "cora")
        for item in (("tvgnn", 100), ("torch-geometric-pool", 150))
    ]
    text = page(*runs, name="memory")
    assert "| MB above the imports | Cora | PubMed |" in text
    assert "| - | 1.50x, at least 2x: **missed** |" in text


def test_operators_show_both_directions_in_a_row():
    title = "gtv_step x 128, kNN graph of 66667 points"
    variants = {"tvgnn": 30, "tvgnn, order as given": 90, "reference backend": 600, "its rows at copy bandwidth": 16}
    runs = [
        record(f"{title}, {way}", name, factor * value)
        for way, factor in (("forward", 1), ("backward", 2))
        for name, value in variants.items()
    ]
    text = page(*runs, record("gtv_step x 512, cora, forward", "tvgnn", 2), name="operators")
    judged = "3.00x | 20.0x | 1.88x, at most 2x: met |"
    assert f"| x 128, kNN graph of 66667 points | 30.0 | {judged} 60.0 | {judged}" in text
    assert "| x 512, cora | 2.00 | - | - | - | - | - | - | - |" in text


def test_scaling_judges_flatness_of_two_dimensions_only():
    runs = [
        record(f"gtv_step x 128, kNN graphs of {d}-D points, time", f"{size} nodes{order}", value, unit="ns/edge")
        for d in (2, 16)
        for size, value in ((10_000, 100), (1_000_000, 131))
        for order in ("", ", order as given")
    ]
    search = "gtv_step x 128, kNN graphs of 2-D points, finding the order"
    runs += [record(search, "1000000 nodes", 480.0)]
    runs += [record("gtv_step x 128, hub", *item) for item in (("ring of 5 nodes", 10), ("star with 4 leaves", 21))]
    text = page(*runs, name="scaling")
    assert "| 2-D, time, ns per edge | 100 | 131 | 1.31x, at most 1.3x: **missed** |" in text
    assert "| 2-D, time, order as given, ns per edge | 100 | 131 | 1.31x |" in text
    assert "| 16-D, time, ns per edge | 100 | 131 | 1.31x |" in text
    assert "| 2-D, finding the order, s, once | - | 0.480 | - |" in text
    assert "2.10x, at most 2x: **missed**" in text


def test_million_startup_and_gpu():
    title = "TVClustering, 1000000 nodes, 100 epochs"
    runs = [
        record(f"{title}, fit", "tvgnn", 90_000, repetitions=1),
        record(f"{title}, peak memory of the process", "tvgnn", 7_999, repetitions=1, unit="MB"),
        record("start-up, imports", "import tvgnn, above its dependencies", 301),
        record("start-up, first fit, dense features", "after installation, cache empty", 15_000),
        record("gpu epoch, cora", "tvgnn", 8.4, device="card"),
    ]
    text = written(EMPTY, runs)
    assert "8.00 GB | under 8 GB: met |" in section(text, "million")
    assert "| 1.50 min |" in section(text, "million")
    assert "one run." in section(text, "million")
    assert "301 | at most 300 ms: **missed** |" in section(text, "startup")
    assert "15,000 | at most 15,000 ms: met |" in section(text, "startup")
    assert "0.988x, at least 1x: **missed**" in section(text, "gpu")
    assert "card" in section(text, "gpu")


def test_mixed_sources_are_named_with_what_they_cover():
    runs = [record("epoch, dblp", "tvgnn", 1, commit="def-dirty", threads=1)]
    runs += [record(f"epoch, {name}", "tvgnn", 1) for name in ("cora", "pubmed")]
    text = page(*runs, name="epoch")
    assert "Measured: commit `abc`, 2026-01-02, 2 threads, cpu X, torch 2; but epoch, dblp: commit `def-dirty`" in text
    assert "`def-dirty`, 2026-01-02, 1 thread, cpu X" in text


def test_the_last_run_counts_alone():
    first = [record("epoch, cora", name, 1) for name in ("tvgnn", "torch-geometric-pool")]
    assert {k: v.median for k, v in latest([*first, record("epoch, cora", "tvgnn", 2)])["epoch, cora"].items()} == {
        "tvgnn": 2
    }
    newer = replace(first[1], commit="def")
    assert latest([first[0], newer])["epoch, cora"] == {newer.variant: newer}


def test_records_survive_compaction(tmp_path):
    runs = distil([record("epoch, cora", "tvgnn", 1, commit=None), record("epoch, dblp", "tvgnn", 2, commit=None)])
    path = tmp_path / "records.jsonl"
    path.write_text(compact(runs))
    assert read(path) == runs
    assert '"device"' not in path.read_text().splitlines()[1]


def test_three_digits_and_verdicts():
    shown = [number(value) for value in (0, 0.01234, 0.9996, 9.996, 52.64, 999.6, 12345.0, float("nan"))]
    assert shown == ["0", "0.0123", "1.00", "10.0", "52.6", "1,000", "12,300", "nan"]
    assert at_most(float("nan"), 2).endswith("**missed**")
    assert at_least(float("nan"), 2).endswith("**missed**")
