"""TU datasets: counts, PyTorch Geometric as reference, and archives that are damaged or others than the known ones."""

import shutil
import warnings
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from tvgnn.datasets import list_datasets, load_dataset, load_graphs, read_tu_folder, tu_files
from tvgnn.datasets.tu import RAW, TU_SETS
from tvgnn.errors import DataError


def named(name, *counts):
    return pytest.param(name, *counts, marks=pytest.mark.real_data(name))


@pytest.fixture
def mutag_copy(mirror, tmp_path):
    """Return a writable mirror that holds MUTAG only, and its archive."""
    folder = tmp_path / "copy" / "tudataset"
    folder.mkdir(parents=True)
    return tmp_path / "copy", shutil.copyfile(mirror / "tudataset" / "MUTAG.zip", folder / "MUTAG.zip")


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist() if not info.is_dir()}


def repack(path, content):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in content.items():
            archive.writestr(name, text)


@pytest.mark.parametrize(
    ("name", "graphs", "nodes", "directed_edges", "features", "classes"),
    [
        named("mutag", 135, 2545, 5626, 7, 2),
        named("mutagenicity", 3335, 109916, 227818, 10, 2),
        named("nci1", 3785, 112952, 245052, 30, 2),
        named("proteins", 975, 42323, 158022, 4, 2),
    ],
)
def test_counts_are_those_of_the_cleaned_collection(name, graphs, nodes, directed_edges, features, classes, mirror):
    loaded = load_dataset(name, mirror=mirror)
    assert len(loaded) == graphs
    assert sum(graph.num_nodes for graph in loaded) == nodes
    assert sum(2 * graph.num_edges for graph in loaded) == directed_edges
    assert {graph.num_features for graph in loaded} == {features}
    assert len({graph.label for graph in loaded}) == classes
    info = next(info for info in list_datasets() if info.name == name)
    assert (info.graphs, info.nodes, 2 * info.edges, info.features) == (graphs, nodes, directed_edges, features)
    assert info.classes == classes
    assert not info.embedded


@pytest.mark.parametrize("name", [named("mutag"), named("proteins")])
def test_same_graphs_as_pytorch_geometric(name, mirror, pyg, tmp_path):
    stem = TU_SETS[name].stem
    with zipfile.ZipFile(mirror / "tudataset" / f"{stem}.zip") as archive:
        archive.extractall(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from torch_geometric.io import read_tu_data

        data, slices, _ = read_tu_data(str(tmp_path / stem), stem)
    graphs = load_graphs(name, mirror=mirror)
    assert len(graphs) == len(slices["y"]) - 1
    for position, graph in enumerate(graphs):
        rows = slice(*slices["x"][position : position + 2].tolist())
        columns = slice(*slices["edge_index"][position : position + 2].tolist())
        assert np.array_equal(graph.x, data.x[rows].numpy())
        source, target = data.edge_index[:, columns].numpy()
        own_source = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
        assert np.array_equal(np.stack([own_source, graph.indices]), np.stack([source, target]))
        assert not graph.report.was_directed
    labels = np.array([graph.label for graph in graphs])
    assert np.array_equal(np.unique(labels, return_inverse=True)[1], data.y.numpy())
    assert all(type(graph.label) is int for graph in graphs)


@pytest.mark.real_data("mutag")
def test_classes_are_those_of_the_file(mirror):
    assert {graph.label for graph in load_graphs("mutag", mirror=mirror)} == {-1, 1}


@pytest.mark.real_data("proteins")
def test_features_can_be_chosen(mirror, tmp_path):
    def columns(features):
        return load_graphs("PROTEINS", tmp_path, mirror, features=features)[0].x

    attributes, labels, both = columns("attributes"), columns("labels"), columns("both")
    assert (attributes.shape[1], labels.shape[1]) == (1, 3)
    assert np.array_equal(both, np.hstack([attributes, labels]))
    assert np.array_equal(columns("auto"), both)
    degrees = columns("degree")
    assert set(degrees.sum(axis=1)) == {1}
    with pytest.raises(DataError, match=r"features must be one of 'auto'.*got 'colour'"):
        load_graphs("proteins", tmp_path, mirror, features="colour")


@pytest.mark.real_data("mutag")
def test_missing_features_are_named(mirror, tmp_path):
    with pytest.raises(DataError, match=r"MUTAG_node_attributes\.txt is missing"):
        load_graphs("mutag", tmp_path, mirror, features="attributes")


@pytest.mark.real_data("proteins")
def test_one_hot_degrees_are_capped_and_recorded(mirror):
    graphs = load_graphs("proteins", mirror=mirror, features="degree", max_degree=5)
    for graph in graphs:
        expected = np.minimum(np.diff(graph.indptr), 5)
        assert np.array_equal(graph.x.argmax(axis=1), expected)
        assert graph.x.shape[1] == 6
        assert graph.report.notes == ("features: degree, dim=6 (degrees of 5 and more share the last column)",)
    largest = max(np.diff(graph.indptr).max() for graph in graphs)
    uncapped = load_graphs("proteins", mirror=mirror, features="degree")[0]
    assert uncapped.report.notes == (f"features: degree, dim={largest + 1}",)


@pytest.mark.parametrize("value", [0, -1, 2.5, "many"])
def test_max_degree_must_be_a_positive_integer(value):
    with pytest.raises(DataError, match="max_degree must be an integer of at least 1"):
        load_graphs("mutag", max_degree=value)


@pytest.mark.real_data("mutag")
def test_repacked_archive_is_accepted(mutag_copy, tmp_path):
    copy, path = mutag_copy
    expected = load_graphs("mutag", tmp_path / "known", copy)
    repack(path, members(path) | {"../escaped.txt": b"", "MUTAG/README.txt": b"text"})
    graphs = load_graphs("mutag", tmp_path / "root", copy)
    assert all(np.array_equal(graph.x, other.x) for graph, other in zip(graphs, expected, strict=True))
    assert not (tmp_path / "escaped.txt").exists()
    written = [file.name for file in (tmp_path / "root").rglob("*") if file.is_file()]
    assert written == ["MUTAG.zip"]


@pytest.mark.real_data("mutag")
def test_archive_of_other_counts_is_refused(mutag_copy, tmp_path):
    copy, path = mutag_copy
    content = members(path)
    content["MUTAG/MUTAG_graph_labels.txt"] += b"1\n"
    repack(path, content)
    with pytest.raises(DataError, match=r"MUTAG_graph_labels\.txt: expected the 135 lines of MUTAG, got 136"):
        load_graphs("mutag", tmp_path / "root", copy)


@pytest.mark.real_data("mutag")
@pytest.mark.parametrize("damage", ["cut", "byte", "web page", "empty"])
def test_damaged_archives_are_refused_and_replaced(damage, mutag_copy, mirror, tmp_path):
    copy, path = mutag_copy
    content = path.read_bytes()
    damaged = {
        "cut": content[:-2000],
        "byte": content[:9000] + bytes([content[9000] ^ 255]) + content[9001:],
        "web page": b"<html>404</html>",
        "empty": b"",
    }[damage]
    path.write_bytes(damaged)
    with pytest.raises(DataError, match=r"the mirror .* does not provide mutag: .*MUTAG\.zip is not usable"):
        load_graphs("mutag", tmp_path / "root", copy)
    assert len(load_graphs("mutag", root=copy, mirror=mirror)) == 135
    assert path.read_bytes() == content


@pytest.mark.real_data("mutag")
def test_any_changed_byte_gives_graphs_or_a_data_error(mutag_copy, tmp_path):
    copy, path = mutag_copy
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for position in rng.integers(len(content), size=60).tolist() + list(range(len(content) - 400, len(content), 7)):
        path.write_bytes(content[:position] + bytes([content[position] ^ 1 << position % 8]) + content[position + 1 :])
        try:
            assert len(load_graphs("mutag", root=tmp_path / str(position), mirror=copy)) == 135
        except DataError:
            continue


@pytest.mark.real_data("mutag")
def test_archive_that_unpacks_to_too_much_is_refused_before_it_is_read(mutag_copy, tmp_path, monkeypatch):
    copy, path = mutag_copy
    repack(path, members(path))
    monkeypatch.setattr(tu_files, "_LARGEST_TEXT", 1000)
    with pytest.raises(DataError, match="its text unpacks to 70525 bytes, more than the 1000"):
        load_graphs("mutag", tmp_path / "root", copy)


@pytest.mark.real_data("mutag")
def test_unusual_compression_is_refused(mutag_copy, tmp_path):
    copy, path = mutag_copy
    content = members(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    with pytest.raises(DataError, match="expected plain zip compression"):
        load_graphs("mutag", tmp_path / "root", copy)


def test_address_is_that_of_pytorch_geometric(pyg):
    assert {raw.url for raw in RAW.values()} == {pyg.datasets.TUDataset.cleaned_url}
    assert {raw.files[0].name for raw in RAW.values()} == {f"{known.stem}.zip" for known in TU_SETS.values()}


@pytest.mark.parametrize("name", RAW)
def test_known_archives_are_those_of_the_mirror(name, request):
    request.applymarker(pytest.mark.real_data(name))
    path = request.getfixturevalue("mirror") / "tudataset" / RAW[name].files[0].name
    assert path.stat().st_size == RAW[name].files[0].size


def test_wide_one_hot_features_are_sparse(tmp_path):
    leaves = 150
    (tmp_path / "DS_A.txt").write_text("".join(f"1,{leaf}\n{leaf},1\n" for leaf in range(2, leaves + 2)))
    (tmp_path / "DS_graph_indicator.txt").write_text("1\n" * (leaves + 1))
    graph = read_tu_folder(tmp_path)[0]
    assert sp.issparse(graph.x)
    assert graph.x.shape == (leaves + 1, leaves + 1)
    assert graph.x.dtype == np.float32
    assert graph.x.indices.tolist() == [leaves] + [1] * leaves
    assert not sp.issparse(read_tu_folder(tmp_path, max_degree=127)[0].x)
