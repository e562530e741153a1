"""Which file a run read."""

import pytest

from tvgnn.errors import DataError
from tvgnn.io.run_input import INPUT_FILE, read_input, write_input


def test_round_trip_and_change(tmp_path):
    file = tmp_path / "in.gexf"
    file.write_text("one")
    write_input(tmp_path, file, {"weights": [0.5, 0.5]})
    found = read_input(tmp_path)
    assert found.unchanged() == file
    assert found.settings == {"weights": [0.5, 0.5]}
    file.write_text("two")
    with pytest.raises(DataError, match=r"has changed since this run clustered it; .*--source FILE.*--plain"):
        found.unchanged()
    file.unlink()
    with pytest.raises(DataError, match="is gone"):
        found.unchanged()


def test_none(tmp_path):
    assert read_input(tmp_path) is None


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"path": "a", "sha256": "b", "settings": 1}', "\xff"])
def test_damage(tmp_path, text):
    (tmp_path / INPUT_FILE).write_text(text, encoding="latin-1")
    with pytest.raises(DataError, match="not readable as a run's input"):
        read_input(tmp_path)
