"""Names, records, and what importing costs."""

import subprocess
import sys

import pytest

from tvgnn.datasets import dataset_split, fetch_dataset, list_datasets, load_dataset, load_graph, load_graphs
from tvgnn.datasets.citation import RAW
from tvgnn.errors import DataError

EMBEDDED = ["digits", "china", "flower", "sbm-denoising", "ring", "grid", "tissue"]
BENCH = ["bench-easy", "bench-hard", "bench-easy-small", "bench-hard-small"]
TU = ["mutag", "proteins", "nci1", "mutagenicity", "dd", "reddit-binary", "collab"]


def record(name, **where):
    return next(info for info in list_datasets(**where) if info.name == name)


@pytest.mark.parametrize("name", EMBEDDED)
def test_records_of_embedded_sets_are_true(name):
    graph, info = load_dataset(name), record(name)
    assert (graph.num_nodes, graph.num_features, graph.num_classes) == (info.nodes, info.features, info.classes)
    assert graph.num_edges == info.edges
    assert info.graphs == 1
    assert info.available
    assert info.embedded


def test_every_set_is_listed():
    assert [info.name for info in list_datasets()] == [*EMBEDDED, *BENCH, "cora", "citeseer", "pubmed", "dblp", *TU]
    assert [info.name for info in list_datasets() if info.graphs > 1] == [*BENCH, *TU]
    assert [info.name for info in list_datasets() if info.embedded] == [*EMBEDDED, *BENCH]


def test_names_are_case_insensitive():
    assert load_dataset("RING").num_edges == 200
    assert load_graph("Ring").num_edges == 200
    assert len(load_graphs("Bench-Easy-Small")) == 300


@pytest.mark.parametrize("name", ["proteins", "REDDIT-BINARY", "bench-hard"])
def test_a_set_of_graphs_is_no_graph(name):
    with pytest.raises(DataError, match=rf"{name.lower()} is a set of graphs.*Use tvgnn classify"):
        load_graph(name)


@pytest.mark.parametrize("name", ["cora", "ring"])
def test_a_graph_is_no_set_of_graphs(name):
    with pytest.raises(DataError, match=rf"{name} is one graph.* one of bench-easy.*collab\. Use tvgnn cluster"):
        load_graphs(name)
    assert dataset_split(name) is None


@pytest.mark.parametrize("name", ["cora", "ring", "bench-easy"])
def test_features_are_chosen_for_tu_datasets_only(name):
    with pytest.raises(DataError, match=rf"choice for TU datasets \(mutag.*{name} has its own"):
        load_dataset(name, features="degree")


def test_unknown_name_lists_the_known_and_the_closest():
    with pytest.raises(DataError, match=r"'coral'; did you mean 'cora'.*digits.*sbm-denoising.*dblp"):
        load_dataset("coral")
    with pytest.raises(DataError, match=r"unknown dataset 'zzz'\. Known"):
        fetch_dataset("zzz")


def test_embedded_sets_have_nothing_to_fetch():
    with pytest.raises(DataError, match="digits needs no files"):
        fetch_dataset("digits")
    with pytest.raises(DataError, match="bench-easy needs no files"):
        fetch_dataset("bench-easy")


def test_availability_follows_root_and_mirror(tmp_path):
    def available(**where):
        return {info.name for info in list_datasets(**where) if info.available and not info.embedded}

    assert available(root=tmp_path) == set()
    folder = tmp_path / "citationfull" / "dblp" / "raw"
    folder.mkdir(parents=True)
    (folder / "dblp.npz").write_bytes(b"anything")
    assert available(root=tmp_path) == available(root=tmp_path / "other", mirror=tmp_path) == {"dblp"}
    (tmp_path / "tudataset").mkdir()
    (tmp_path / "tudataset" / "REDDIT-BINARY.zip").write_bytes(b"anything")
    assert available(root=tmp_path) == {"dblp", "reddit-binary"}


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
