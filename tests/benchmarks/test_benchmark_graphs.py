"""Graphs that benchmarks keep between runs."""

import numpy as np
import pytest

from benchmarks import graphs


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(graphs, "_FOLDER", tmp_path / "graphs")
    return tmp_path / "graphs"


def test_a_kept_graph_is_read_and_one_of_other_code_is_made_anew(folder, monkeypatch):
    made = graphs.knn(60)
    (kept,) = folder.iterdir()
    np.savez(kept, indptr=np.array([0, 1, 2]), indices=np.array([1, 0]))
    assert graphs.knn(60).num_nodes == 2  # what is kept
    monkeypatch.setattr(graphs, "_makers", lambda: "changed")
    assert graphs.knn(60).indices.tolist() == made.indices.tolist()
    assert kept.name.startswith("knn15-60-2d-")
    assert {path.name for path in folder.iterdir()} == {kept.name, "knn15-60-2d-changed.npz"}


def test_an_interrupted_run_leaves_no_graph(folder, monkeypatch):
    def interrupted(path, **arrays):
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", interrupted)
    with pytest.raises(KeyboardInterrupt):
        graphs.knn(60)
    assert list(folder.iterdir()) == []
