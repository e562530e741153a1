"""Names, records, and what importing costs."""

import subprocess
import sys

import pytest

from tvgnn.datasets import fetch_dataset, list_datasets, load_dataset
from tvgnn.datasets.citation import RAW
from tvgnn.errors import DataError

EMBEDDED = ["digits", "china", "flower", "sbm-denoising", "ring", "grid"]


def record(name, **where):
    return next(info for info in list_datasets(**where) if info.name == name)


@pytest.mark.parametrize("name", EMBEDDED)
def test_records_of_embedded_sets_are_true(name):
    graph, info = load_dataset(name), record(name)
    assert (graph.num_nodes, graph.num_features, graph.num_classes) == (info.nodes, info.features, info.classes)
    assert graph.num_edges == info.edges
    assert info.available
    assert info.embedded


def test_names_are_case_insensitive():
    assert load_dataset("RING").num_edges == 200


def test_unknown_name_lists_the_known_and_the_closest():
    with pytest.raises(DataError, match=r"'coral'; did you mean 'cora'.*digits.*sbm-denoising.*dblp"):
        load_dataset("coral")
    with pytest.raises(DataError, match=r"unknown dataset 'zzz'\. Known"):
        fetch_dataset("zzz")


def test_embedded_sets_have_nothing_to_fetch():
    with pytest.raises(DataError, match="digits needs no files"):
        fetch_dataset("digits")


def test_availability_follows_root_and_mirror(tmp_path):
    def available(**where):
        return {info.name for info in list_datasets(**where) if info.available and not info.embedded}

    assert available(root=tmp_path) == set()
    folder = tmp_path / "citationfull" / "dblp" / "raw"
    folder.mkdir(parents=True)
    (folder / "dblp.npz").write_bytes(b"anything")
    assert available(root=tmp_path) == available(root=tmp_path / "other", mirror=tmp_path) == {"dblp"}


def test_files_of_the_wrong_size_do_not_count_as_available(tmp_path, monkeypatch):
    folder = tmp_path / RAW["cora"].path
    folder.mkdir(parents=True)
    for file in RAW["cora"].files:
        (folder / file.name).write_bytes(bytes(file.size))
    monkeypatch.setenv("TVGNN_MIRROR", str(tmp_path))
    assert record("cora", root=tmp_path / "root").available
    (folder / "ind.cora.y").write_bytes(b"")
    assert not record("cora", root=tmp_path / "root").available


def test_importing_and_listing_need_no_torch():
    code = "import sys, tvgnn.datasets as d; d.list_datasets(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
