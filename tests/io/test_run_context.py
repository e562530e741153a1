"""What a run knows about its nodes, in a file."""

import numpy as np
import pytest

from tvgnn.errors import DataError
from tvgnn.io.run_context import CONTEXT_FILE, RunContext, read_context, write_context


def test_round_trip(tmp_path):
    context = RunContext(
        y=np.array([0, -1, 1]),
        class_names=("a", "\u2028<b>"),
        feature_names=["x", "x"],
        positions=np.array([[0.5, 1], [2, 3], [4, 5]]),
        picture=("pixels", 1, 3),
    )
    write_context(tmp_path, context)
    read = read_context(tmp_path)
    assert read.y.tolist() == [0, -1, 1]
    assert read.positions.tolist() == context.positions.tolist()
    assert (read.class_names, read.feature_names, read.picture) == (["a", "\u2028<b>"], ["x", "x"], ("pixels", 1, 3))


def test_nothing_known_is_no_file(tmp_path):
    write_context(tmp_path, RunContext())
    assert list(tmp_path.iterdir()) == []
    assert read_context(tmp_path).y is None


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff" * 100], ids=["empty", "text", "bytes"])
def test_damage_is_told(tmp_path, content):
    (tmp_path / CONTEXT_FILE).write_bytes(content)
    with pytest.raises(DataError, match="context"):
        read_context(tmp_path)


def test_an_unknown_picture_is_refused(tmp_path):
    write_context(tmp_path, RunContext(picture=("voxels", 1, 3)))
    with pytest.raises(DataError, match="pixels or tiles"):
        read_context(tmp_path)
