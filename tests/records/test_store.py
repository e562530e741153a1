"""Files of records survive crashes, refuse damage and a second writer, and stay small where they are committed."""

import json
from dataclasses import asdict, replace

import pytest

from tvgnn.errors import DataError
from tvgnn.records import ClusteringRecord, RunRecord, RunStore, compact, latest, read_records

FIRST = RunRecord(
    "mutag", "tvgnn", 0, 0, "f", 1, {"readout": "linear"}, 135,
    test_accuracy=0.88888888, k=[9, 4], versions={"torch": "2"}, date="2026-01-02T03:04:05",
)  # fmt: skip
SECOND = replace(FIRST, run=1, test_accuracy=0.5)
FAILED = replace(FIRST, run=2, test_accuracy=None, error="the loss is nan")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / "records.jsonl"


def write(path, *records):
    with RunStore(path, RunRecord) as store:
        for record in records:
            store.append(record)


def test_records_come_back_as_they_were(path):
    write(path, FIRST, FAILED)
    assert read_records(path, RunRecord) == [FIRST, FAILED]
    with RunStore(path, RunRecord) as store:
        store.append(SECOND)
        assert store.records == [FIRST, FAILED, SECOND]
    assert read_records(path, RunRecord) == [FIRST, FAILED, SECOND]


def test_every_record_is_on_disk_at_once(path):
    with RunStore(path, RunRecord) as store:
        store.append(FIRST)
        assert read_records(path, RunRecord) == [FIRST]


@pytest.mark.parametrize("kept", [1, 50, -1])
def test_a_half_written_last_line_is_tolerated_and_rewritten(path, kept):
    write(path, FIRST, SECOND)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:kept])
    assert read_records(path, RunRecord) == [FIRST]
    write(path, SECOND)
    assert read_records(path, RunRecord) == [FIRST, SECOND]
    assert path.read_bytes() == b"".join(lines)


@pytest.mark.parametrize("damage", [b"{", b"[1]", b'{"dataset": 1}', b"\xff", b'{"unknown": 1}', b'{"error": "both"}'])
def test_damage_before_the_last_line_names_the_line(path, damage):
    write(path, FIRST)
    line = path.read_bytes()
    path.write_bytes((line if b"error" in damage or b"unknown" in damage else b"") + damage + b"\n" + line)
    number = 2 if b"error" in damage or b"unknown" in damage else 1
    with pytest.raises(DataError, match=rf"records.jsonl, line {number}: .*remove the line"):
        read_records(path, RunRecord)
    with pytest.raises(DataError, match=f"line {number}"), RunStore(path, RunRecord):
        pass


@pytest.mark.parametrize(
    ("field", "says"),
    [
        (b'"seed": "one"', "field 'seed' is one, not int"),
        (b'"fold": true', "field 'fold' is True, not int"),
        (b'"test_accuracy": NaN', "NaN is not a number"),
        (b'"test_accuracy": [0.5]', r"field 'test_accuracy' is \[0.5\], not float | None"),
        (b'"settings": null', "field 'settings' is None, not dict"),
        (b'"k": [1, 2.5]', r"field 'k' is \[1, 2.5\], not list"),
        (b'"metrics": {}', "unknown field 'metrics'"),
        (b'"k": ' + b"[" * 100_000, "recursion|Expecting value"),
    ],
)
def test_values_of_another_type_name_the_line_and_the_field(path, field, says):
    write(path, FIRST)
    path.write_bytes(path.read_bytes() + b"{" + field + b"}\n")
    with pytest.raises(DataError, match=f"records.jsonl, line 2: expected a RunRecord: .*{says}"):
        read_records(path, RunRecord)


def test_a_line_without_names_is_named(path):
    write(path, FIRST)
    path.write_bytes(path.read_bytes() + b"[1, 2]\n")
    with pytest.raises(DataError, match="line 2: expected a RunRecord: a line holds list, not fields by name"):
        read_records(path, RunRecord)


@pytest.mark.parametrize("metrics", [{"nmi": "0.5"}, {"nmi": None}, {"cluster_sizes": [1, 2]}, [0.5]])
def test_metrics_are_numbers(path, metrics):
    record = ClusteringRecord("cora", "tvgnn", 0, "f", {}, 7, metrics={"nmi": 1})
    path.parent.mkdir()
    path.write_text(json.dumps(asdict(record)) + "\n")
    assert read_records(path, ClusteringRecord) == [record]
    path.write_text(json.dumps(asdict(record) | {"metrics": metrics}) + "\n")
    with pytest.raises(DataError, match="line 1: expected a ClusteringRecord: field 'metrics' is"):
        read_records(path, ClusteringRecord)


def test_a_full_disk_is_named_and_the_half_line_is_removed(path):
    resource = pytest.importorskip("resource")
    write(path, FIRST)
    whole = path.read_bytes()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 9, before[1]))
    try:
        for _ in range(2):  # the second time there is no room at all
            with pytest.raises(DataError, match=r"records.jsonl: cannot be written: .*; make room on the disk"):
                write(path, SECOND)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert read_records(path, RunRecord) == [FIRST]
    write(path, SECOND)
    assert path.read_bytes().startswith(whole)
    assert read_records(path, RunRecord) == [FIRST, SECOND]


def test_a_second_writer_is_refused(path):
    pytest.importorskip("fcntl")
    with (
        RunStore(path, RunRecord),
        pytest.raises(DataError, match="another process is writing"),
        RunStore(path, RunRecord),
    ):
        pass
    write(path, FIRST)


def test_a_place_that_cannot_be_written_is_named(path):
    path.parent.write_text("a file")
    with (
        pytest.raises(DataError, match=r"records.jsonl: cannot be written: .*choose another folder"),
        RunStore(path, RunRecord),
    ):
        pass


def test_a_missing_file_is_named(path):
    with pytest.raises(DataError, match=r"cannot be read: No such file.*records.jsonl of a benchmark"):
        read_records(path, RunRecord)


def test_numbers_that_json_does_not_know_are_refused_and_nothing_is_written(path):
    with RunStore(path, RunRecord) as store, pytest.raises(ValueError, match="Out of range float"):
        store.append(replace(FIRST, validation_loss=float("nan")))
    assert read_records(path, RunRecord) == []


def test_a_record_has_a_result_or_an_error():
    for fields in ({"error": "no"}, {"test_accuracy": None}):
        with pytest.raises(ValueError, match="either test_accuracy or error"):
            replace(FIRST, **fields)


def test_the_last_result_of_a_run_counts():
    better = replace(FIRST, test_accuracy=0.9)
    failed_later = replace(FIRST, test_accuracy=None, error="no")
    repaired = replace(FAILED, test_accuracy=0.4, error=None)
    assert latest([FIRST, FAILED, better, failed_later, repaired]) == [better, repaired]
    assert latest([FAILED, replace(FAILED, error="again")]) == [replace(FAILED, error="again")]


def test_a_committed_file_is_small_sorted_and_complete(path):
    path.parent.mkdir()
    path.write_text(compact([SECOND, FAILED, FIRST]))
    day = {"date": "2026-01-02"}
    assert read_records(path, RunRecord) == [
        replace(FIRST, test_accuracy=0.88889, **day), replace(SECOND, **day), replace(FAILED, **day),
    ]  # fmt: skip
    assert path.read_text().splitlines()[1] == '{"run": 1, "test_accuracy": 0.5}'
    assert compact(read_records(path, RunRecord)) == path.read_text()


def test_metrics_of_the_same_names_are_a_list_of_values(path):
    first = ClusteringRecord("cora", "tvgnn", 0, "f", {}, 7, metrics={"nmi": 0.5, "acc": 0.25})
    records = [
        first, replace(first, seed=1, metrics={"nmi": 1, "acc": 0.5}), replace(first, seed=2, metrics={"acc": 1}),
        replace(first, seed=3, metrics={"acc": 0.75}),
    ]  # fmt: skip
    path.parent.mkdir()
    path.write_text(compact(records))
    assert [line.partition('"metrics": ')[2] for line in path.read_text().splitlines()[1:]] == [
        "[1, 0.5]}", '{"acc": 1}}', "[0.75]}",
    ]  # fmt: skip
    assert read_records(path, ClusteringRecord) == records
    path.write_text(path.read_text().replace("[1, 0.5]", "[1]"))
    with pytest.raises(DataError, match=r"line 2: .*expected values of nmi, acc, got 1 of them"):
        read_records(path, ClusteringRecord)


def test_what_tells_runs_apart_is_kept_exactly(path):
    record = ClusteringRecord(
        "cora", "tvgnn", 0, "f", {"delta_coeff": 0.12345678}, 7, metrics={"nmi": 0.12345678},
        parameters={"learning_rate": 0.00012345678},
    )  # fmt: skip
    path.parent.mkdir()
    path.write_text(compact([record]))
    (found,) = read_records(path, ClusteringRecord)
    assert found == replace(record, metrics={"nmi": 0.12346})
    assert found.key == record.key
