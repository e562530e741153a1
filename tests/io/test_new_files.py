"""Files that are there as a whole or not at all."""

import pytest

from tvgnn.io.new_files import whole_file


def half(path):
    path.write_text("half")
    raise KeyboardInterrupt


def nothing(path):
    pass


@pytest.mark.parametrize("alone", [False, True])
def test_an_error_leaves_the_former_file_and_nothing_else(tmp_path, alone):
    path = tmp_path / "table.csv"
    path.write_text("former")
    for write, error in ((half, KeyboardInterrupt), (nothing, FileNotFoundError)):
        with pytest.raises(error), whole_file(path, alone=alone) as temporary:
            write(temporary)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("table.csv", "former")]


def test_what_a_killed_process_left_is_written_over(tmp_path):
    path = tmp_path / "runs.1.npz"
    with whole_file(path, alone=True) as temporary:
        temporary.write_text("new")
        left = temporary
    left.write_text("half, and longer than the rest")
    with whole_file(path, alone=True) as temporary:
        temporary.write_text("newer")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("runs.1.npz", "newer")]


def test_two_processes_do_not_write_into_each_others_files(tmp_path):
    path = tmp_path / "model.json"
    with whole_file(path) as first, whole_file(path) as second:
        assert first != second
        assert first.suffix == second.suffix == ".json"
        first.write_text("first")
        second.write_text("second")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("model.json", "first")]
