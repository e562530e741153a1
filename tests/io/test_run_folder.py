import csv
import json
import math

import numpy as np
import pytest

from tvgnn.errors import DataError
from tvgnn.io import run_folder as module
from tvgnn.io.run_folder import run_folder, write_assignments, write_labels, write_metrics


def metrics_text(note="old"):
    metrics = dict.fromkeys(("dataset", "method", "seed", "n_nodes", "epochs", "versions"))
    return json.dumps({**metrics, "notes": [note]})


def make_run(path, note="old", **options):
    with run_folder(path, **options) as folder:
        (folder / "metrics.json").write_text(metrics_text(note))


def note_of(path):
    return json.loads((path / "metrics.json").read_text())["notes"][0]


def test_folder_appears_when_the_block_ends(tmp_path):
    path = tmp_path / "deep" / "run"
    with run_folder(path) as folder:
        assert folder.parent == path.parent
        (folder / "metrics.json").write_text("{}")
        assert not path.exists()
    assert [file.name for file in path.iterdir()] == ["metrics.json"]
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_nothing_remains_of_a_failed_run(tmp_path, failure):
    def fail_halfway():
        with run_folder(tmp_path / "run") as folder:
            (folder / "labels.csv").write_text("half")
            raise failure

    with pytest.raises(failure):
        fail_halfway()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_told_and_left_alone(tmp_path):
    left = tmp_path / ".run [1].0123abcd.tmp"
    left.mkdir()
    (tmp_path / ".other.0123abcd.tmp").mkdir()
    make_run(tmp_path / "run")
    with pytest.warns(UserWarning, match=r"holds \.run \[1\]\.0123abcd\.tmp of a run into run \[1\] that") as told:
        make_run(tmp_path / "run [1]")
    assert told[0].filename == __file__
    assert left.is_dir()
    assert (tmp_path / "run [1]" / "metrics.json").is_file()


def test_new_parents_of_a_failed_run_are_removed_and_others_kept(tmp_path):
    (tmp_path / "old").mkdir()
    with pytest.raises(RuntimeError), run_folder(tmp_path / "old" / "new" / "run"):
        raise RuntimeError
    assert [path.name for path in tmp_path.rglob("*")] == ["old"]


def test_existing_folder_is_refused_before_any_work(tmp_path):
    make_run(tmp_path / "run")
    entered = False
    with pytest.raises(DataError, match="the folder exists"), run_folder(tmp_path / "run"):
        entered = True
    assert not entered


def test_overwriting_replaces_the_whole_folder_at_the_end(tmp_path):
    path = tmp_path / "run"
    make_run(path, "old")
    (path / "report.html").write_text("old")
    with run_folder(path, overwrite=True) as folder:
        (folder / "metrics.json").write_text(metrics_text("new"))
        assert note_of(path) == "old"
    assert [file.name for file in path.iterdir()] == ["metrics.json"]
    assert note_of(path) == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("text", ["{}", '{"accuracy": 0.9, "seed": 0}', "[1]", "{", "\0", "[" * 100_000])
def test_metrics_of_another_program_make_no_run_folder(tmp_path, text):
    (tmp_path / "metrics.json").write_text(text)
    with pytest.raises(DataError, match=r"metrics\.json is not that of a run"):
        make_run(tmp_path, overwrite=True)
    assert (tmp_path / "metrics.json").read_text() == text


def test_what_no_run_wrote_is_never_deleted(tmp_path):
    path = tmp_path / "run"
    for name in ("notes.txt", ".hidden", "labels.csv/"):
        make_run(path)
        added = path / name
        added.mkdir() if name.endswith("/") else added.write_text("mine")
        with pytest.raises(DataError, match=f"it holds {added.name}, which no run wrote"):
            make_run(path, "new", overwrite=True)
        assert added.exists()
        added.rmdir() if name.endswith("/") else added.unlink()
        make_run(path, "new", overwrite=True)
        assert note_of(path) == "new"
        (path / "metrics.json").unlink()
        path.rmdir()
    make_run(path)
    make_run(path / "nested")
    with pytest.raises(DataError, match="it holds nested, which"):
        make_run(path, "new", overwrite=True)
    (path / "labels.csv").symlink_to(tmp_path / "elsewhere.csv")
    for number in range(4):
        (path / f"{number}.txt").write_text("")
    with pytest.raises(DataError, match=r"it holds 0\.txt, 1\.txt, 2\.txt and 3 more, which no run wrote"):
        make_run(path, "new", overwrite=True)
    assert len(list(path.iterdir())) == 7


def test_a_folder_in_use_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "run"
    make_run(path)
    (path / "labels.csv").write_text("node_id,cluster,confidence")
    with pytest.raises(DataError, match=r"it holds labels\.csv, which this run reads or writes"):
        make_run(path, "new", overwrite=True, used=[None, path / "labels.csv"])
    make_run(path, "new", overwrite=True, used=[None, tmp_path / "run.csv"])
    monkeypatch.chdir(path)
    with pytest.raises(DataError, match="it is the current directory"):
        make_run(".", overwrite=True)
    (tmp_path / "empty" / "here").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "empty" / "here")
    for place in (".", ".."):
        with pytest.raises(DataError, match="the current directory"):
            make_run(place, overwrite=True)
    assert note_of(path) == "new"


def test_a_file_that_appears_while_the_folder_is_moved_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "run"
    make_run(path)
    rename = module.Path.rename

    def write_and_rename(self, target):
        if self == path:
            (path / "notes.txt").write_text("mine")
        return rename(self, target)

    monkeypatch.setattr(module.Path, "rename", write_and_rename)
    with pytest.warns(UserWarning, match="left of the folder that was replaced"):
        make_run(path, "new", overwrite=True)
    assert note_of(path) == "new"
    (kept,) = tmp_path.glob(".run.*.old")
    assert [file.name for file in kept.iterdir()] == ["notes.txt"]


def test_failed_overwriting_keeps_the_old_folder(tmp_path):
    path = tmp_path / "run"
    make_run(path, "old")
    with pytest.raises(RuntimeError), run_folder(path, overwrite=True):
        raise RuntimeError
    assert note_of(path) == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_failed_rename_puts_the_old_folder_back(tmp_path, monkeypatch):
    path = tmp_path / "run"
    make_run(path, "old")
    rename = module.Path.rename

    def fail_for_new(self, target):
        if self.suffix == ".tmp":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(module.Path, "rename", fail_for_new)
    with pytest.raises(DataError, match="could not be moved there: No space left"):
        make_run(path, "new", overwrite=True)
    assert note_of(path) == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_mistyped_folder_is_never_deleted(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work")
    with pytest.raises(DataError, match=r"no metrics\.json, so it is no run folder"):
        make_run(tmp_path / "thesis", overwrite=True)
    with pytest.raises(DataError, match="is not a folder"):
        make_run(tmp_path / "thesis" / "chapter.tex", overwrite=True)
    assert (tmp_path / "thesis" / "chapter.tex").read_text() == "years of work"


def test_folder_that_changed_meanwhile_is_not_deleted(tmp_path):
    path = tmp_path / "run"

    def run_while_somebody_writes():
        with run_folder(path):
            path.mkdir()
            (path / "mine.txt").write_text("mine")

    with pytest.raises(DataError, match="the folder exists"):
        run_while_somebody_writes()
    assert (path / "mine.txt").read_text() == "mine"


def test_empty_folder_may_be_overwritten(tmp_path):
    (tmp_path / "run").mkdir()
    make_run(tmp_path / "run", overwrite=True)
    assert (tmp_path / "run" / "metrics.json").exists()


def test_link_stays_a_link(tmp_path):
    make_run(tmp_path / "real", "old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    make_run(tmp_path / "link", "new", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert note_of(tmp_path / "real") == "new"


def test_folder_that_cannot_be_created_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be created"):
        make_run(tmp_path / "file" / "run")


def test_labels_round_trip_with_awkward_ids(tmp_path):
    ids = ["plain", "with,comma", 'with "quotes"', "two\nlines", 7, ("tile", 1)]
    write_labels(tmp_path / "labels.csv", ids, np.array([1, 0, 2, 0, 1, 1]), np.full(6, 0.98765432))
    with (tmp_path / "labels.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["node_id", "cluster", "confidence"]
    assert [row[0] for row in rows[1:]] == [str(node_id) for node_id in ids]
    assert [row[1] for row in rows[1:]] == ["1", "0", "2", "0", "1", "1"]
    assert rows[1][2] == "0.987654"
    assert b"\r" not in (tmp_path / "labels.csv").read_bytes()


def test_labels_of_wrong_length_or_from_nan_are_refused(tmp_path):
    with pytest.raises(DataError, match="2 ids, 1 clusters and 2 confidences"):
        write_labels(tmp_path / "labels.csv", ["a", "b"], [0], [1.0, 1.0])
    with pytest.raises(DataError, match="node 'b' is nan"):
        write_labels(tmp_path / "labels.csv", ["a", "b"], [0, 1], [1.0, math.nan])
    assert not (tmp_path / "labels.csv").exists()


def test_assignments_round_trip(tmp_path):
    values = np.random.default_rng(0).random((5, 3))
    write_assignments(tmp_path / "assignments.npz", values)
    with np.load(tmp_path / "assignments.npz", allow_pickle=False) as arrays:
        assert arrays.files == ["assignments"]
        assert arrays["assignments"].dtype == np.float32
        assert np.array_equal(arrays["assignments"], values.astype(np.float32))
    values[2, 1] = np.inf
    with pytest.raises(DataError, match="row 2"):
        write_assignments(tmp_path / "other.npz", values)


def test_metrics_round_trip_and_refuse_nan(tmp_path):
    metrics = {"nmi": np.float32(0.5), "sizes": np.array([3, 2]), "n": np.int64(5), "ok": np.bool_(True), "none": None}
    write_metrics(tmp_path / "metrics.json", metrics)
    read = json.loads((tmp_path / "metrics.json").read_text())
    assert read == {"nmi": 0.5, "sizes": [3, 2], "n": 5, "ok": True, "none": None}
    for bad in (math.nan, np.float32("inf"), [1.0, math.nan], {1, 2}):
        with pytest.raises(DataError, match="metric 'loss' cannot be written"):
            write_metrics(tmp_path / "bad.json", {"nmi": 1.0, "loss": bad})
    assert not (tmp_path / "bad.json").exists()


@pytest.mark.parametrize("name", [".DS_Store", "Thumbs.db", "desktop.ini"])
def test_what_file_managers_leave_is_no_bar(tmp_path, name):
    path = tmp_path / "run"
    make_run(path)
    (path / name).write_bytes(b"view")
    make_run(path, "new", overwrite=True)
    assert [file.name for file in path.iterdir()] == ["metrics.json"]
    assert list(tmp_path.iterdir()) == [path]
    (path / name).mkdir()  # somebody's folder of that name
    with pytest.raises(DataError, match="which no run wrote"):
        make_run(path, "newer", overwrite=True)
    assert note_of(path) == "new"
