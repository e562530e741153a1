"""Citation networks: counts, PyTorch Geometric as reference, and every way in which files can be missing or wrong."""

import pickle
import shutil
import stat
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
import scipy.sparse as sp

from tvgnn.datasets import citation, fetch_dataset, list_datasets, load_dataset
from tvgnn.datasets._files import data_root
from tvgnn.datasets.citation import RAW
from tvgnn.errors import DataError

HTML = b"<!DOCTYPE html><html><title>404 Not Found</title></html>"


def named(name):
    return pytest.param(name, marks=pytest.mark.real_data(name))


@pytest.fixture
def no_network(pyg, monkeypatch):
    def download_url(url, folder, log):
        raise URLError("no route to host")

    monkeypatch.setattr(pyg.data, "download_url", download_url)


@pytest.fixture
def served(pyg, monkeypatch):
    """Let the network serve the files of a folder by name, whatever the address."""

    def serve(source):
        def download_url(url, folder, log):
            name = url.rpartition("/")[2]
            shutil.copyfile(Path(source) / name, Path(folder) / name)

        monkeypatch.setattr(pyg.data, "download_url", download_url)

    return serve


@pytest.fixture
def cora_copy(mirror, tmp_path):
    """Return a writable mirror that holds Cora only."""
    target = tmp_path / "copy" / RAW["cora"].path
    target.mkdir(parents=True)
    for file in RAW["cora"].files:
        shutil.copyfile(mirror / RAW["cora"].path / file.name, target / file.name)
    return tmp_path / "copy"


class Payload:
    """Unpickling an instance creates a file: what a hostile download would do."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return Path.touch, (self.marker,)


def poison(path, marker):
    """Replace a pickle by one of equal length that runs code."""
    content = pickle.dumps(Payload(marker))
    path.write_bytes(content + b"\0" * (path.stat().st_size - len(content)))
    pickle.loads(path.read_bytes())
    assert marker.exists(), "the payload must work, or the test proves nothing"
    marker.unlink()


@pytest.mark.parametrize(
    ("name", "nodes", "directed_edges", "features", "classes"),
    [
        pytest.param("cora", 2708, 10556, 1433, 7, marks=pytest.mark.real_data("cora")),
        pytest.param("citeseer", 3327, 9104, 3703, 6, marks=pytest.mark.real_data("citeseer")),
        pytest.param("pubmed", 19717, 88648, 500, 3, marks=pytest.mark.real_data("pubmed")),
        pytest.param("dblp", 17716, 105734, 1639, 4, marks=pytest.mark.real_data("dblp")),
    ],
)
def test_counts_are_those_of_the_paper(name, nodes, directed_edges, features, classes, mirror):
    graph = load_dataset(name, mirror=mirror)
    assert (graph.num_nodes, 2 * graph.num_edges) == (nodes, directed_edges)
    assert (graph.num_features, graph.num_classes) == (features, classes)
    info = next(info for info in list_datasets() if info.name == name)
    assert (info.nodes, 2 * info.edges, info.features, info.classes) == (nodes, directed_edges, features, classes)
    assert not info.embedded
    assert sp.issparse(graph.x)
    assert graph.x.format == "csr"
    assert not graph.is_weighted


@pytest.mark.parametrize("name", [named(name) for name in RAW])
def test_same_graph_as_pytorch_geometric(name, mirror, pyg, tmp_path):
    shutil.copytree((mirror / RAW[name].path).parent, tmp_path / Path(RAW[name].path).parent.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the pickles name modules of old scipy
        if name == "dblp":
            data = pyg.datasets.CitationFull(str(tmp_path), "DBLP")[0]
        else:
            data = pyg.datasets.Planetoid(str(tmp_path), Path(RAW[name].path).parent.name)[0]
    graph = load_dataset(name, mirror=mirror)
    assert np.array_equal(graph.x.toarray(), data.x.numpy())
    assert np.array_equal(graph.y, data.y.numpy())
    source, target = data.edge_index.numpy()
    expected = sp.csr_array((np.ones(source.size), (source, target)), shape=(graph.num_nodes, graph.num_nodes))
    assert (graph.adjacency() != expected).nnz == 0


@pytest.mark.real_data("citeseer")
def test_citeseer_keeps_isolated_and_featureless_nodes(mirror):
    graph = load_dataset("citeseer", mirror=mirror)
    assert graph.report.num_isolated == 48
    assert (np.diff(graph.x.indptr) == 0).sum() == 15


def test_addresses_are_those_of_pytorch_geometric(pyg):
    assert {RAW[name].url for name in ("cora", "citeseer", "pubmed")} == {pyg.datasets.Planetoid.url}
    assert f"{RAW['dblp'].url}/dblp.npz" == pyg.datasets.CitationFull.url.format("dblp")


@pytest.mark.real_data("cora")
def test_mirror_from_the_environment(mirror, tmp_path, monkeypatch):
    monkeypatch.setenv("TVGNN_MIRROR", str(mirror))
    assert load_dataset("cora", root=tmp_path).num_nodes == 2708


def test_default_root(monkeypatch, tmp_path):
    monkeypatch.setenv("TVGNN_HOME", str(tmp_path))
    assert data_root() == tmp_path / "data"
    assert data_root("here") == Path("here")
    monkeypatch.delenv("TVGNN_HOME")
    assert data_root().parts[-2:] == ("tvgnn", "data")


@pytest.mark.real_data("cora")
def test_read_only_mirror_leaves_writable_files_and_no_others(cora_copy, tmp_path):
    folder = cora_copy / RAW["cora"].path
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    fetched = fetch_dataset("cora", tmp_path / "root", cora_copy)
    folder.chmod(0o755)  # or pytest cannot remove it
    assert {path.name for path in fetched.iterdir()} == {file.name for file in RAW["cora"].files}
    assert all(path.stat().st_mode & stat.S_IWUSR for path in fetched.iterdir())


@pytest.mark.real_data("cora")
def test_complete_root_is_used_without_writing_or_network(cora_copy, no_network):
    folder = cora_copy / RAW["cora"].path
    before = {path: path.stat().st_mtime_ns for path in cora_copy.rglob("*")}
    assert fetch_dataset("Cora", root=cora_copy) == folder
    assert load_dataset("cora", root=cora_copy).num_nodes == 2708
    assert {path: path.stat().st_mtime_ns for path in cora_copy.rglob("*")} == before


@pytest.mark.real_data("cora")
def test_damaged_file_in_root_is_replaced(cora_copy, mirror):
    damaged = cora_copy / RAW["cora"].path / "ind.cora.graph"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert load_dataset("cora", root=cora_copy, mirror=mirror).num_edges == 5278
    assert damaged.stat().st_size == 59847


@pytest.mark.real_data("cora")
def test_processes_that_fetch_at_once_agree(mirror, tmp_path):
    with ThreadPoolExecutor(6) as pool:
        folders = list(pool.map(lambda _: fetch_dataset("cora", tmp_path, mirror), range(12)))
    assert len(set(folders)) == 1
    assert {path.name for path in folders[0].iterdir()} == {file.name for file in RAW["cora"].files}
    assert fetch_dataset("cora", tmp_path) == folders[0]


@pytest.mark.parametrize("name", ["cora", "dblp"])
def test_failed_download_says_which_files_belong_where(name, tmp_path, no_network):
    with pytest.raises(DataError, match=r"could not download .*no route to host") as caught:
        load_dataset(name, root=tmp_path)
    message = str(caught.value)
    assert str(tmp_path / RAW[name].path) in message
    assert all(file.name in message for file in RAW[name].files)
    assert RAW[name].url in message
    assert "TVGNN_MIRROR" in message
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.real_data("cora")
def test_download_is_checked_and_kept(cora_copy, tmp_path, served):
    served(cora_copy / RAW["cora"].path)
    root = tmp_path / "root"
    assert load_dataset("cora", root=root).num_nodes == 2708
    assert fetch_dataset("cora", root=root) == root / RAW["cora"].path


@pytest.mark.parametrize("name", ["cora", "dblp"])
def test_html_page_is_never_kept(name, tmp_path, served):
    source = tmp_path / "server"
    source.mkdir()
    for file in RAW[name].files:
        (source / file.name).write_bytes(HTML)
    served(source)
    with pytest.raises(DataError, match=r"not the known file.*HTML page"):
        load_dataset(name, root=tmp_path / "root")
    assert not [path for path in (tmp_path / "root").rglob("*") if path.is_file()]


@pytest.mark.real_data("cora")
@pytest.mark.parametrize("way", ["root", "mirror", "download"])
def test_unknown_pickles_never_run(way, cora_copy, tmp_path, served, no_network):
    marker = tmp_path / "code-ran"
    folder = cora_copy / RAW["cora"].path
    poison(folder / "ind.cora.allx", marker)
    root = {"root": cora_copy}.get(way, tmp_path / "root")
    if way == "download":
        served(folder)
    with pytest.raises(DataError, match=r"ind\.cora\.allx must have SHA-256 9419"):
        load_dataset("cora", root=root, mirror=cora_copy if way == "mirror" else None)
    assert not marker.exists()


def test_missing_mirror_is_named(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="mirror must name an existing folder"):
        load_dataset("cora", mirror=tmp_path / "nowhere")
    monkeypatch.setenv("TVGNN_MIRROR", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="TVGNN_MIRROR must name an existing folder"):
        load_dataset("cora", root=tmp_path)
    assert load_dataset("ring").num_nodes == 200


def test_incomplete_mirror_is_named(tmp_path, no_network):
    with pytest.raises(DataError, match=r"the mirror .* does not provide pubmed: .*ind\.pubmed\.x is missing"):
        load_dataset("pubmed", root=tmp_path / "root", mirror=tmp_path)


@pytest.mark.real_data("cora")
def test_root_that_cannot_be_written_is_named(mirror, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataError, match=r"cannot write the files of cora to .*Pass root="):
        load_dataset("cora", root=tmp_path / "file", mirror=mirror)


@pytest.fixture
def dblp_arrays(mirror):
    with np.load(mirror / RAW["dblp"].path / "dblp.npz") as arrays:
        return dict(arrays)


def dblp_mirror(tmp_path, arrays):
    folder = tmp_path / "copy" / RAW["dblp"].path
    folder.mkdir(parents=True)
    np.savez(folder / "dblp.npz", **arrays)
    return tmp_path / "copy"


@pytest.mark.real_data("dblp")
def test_dblp_saved_by_others_is_accepted(dblp_arrays, tmp_path):
    copy = dblp_mirror(tmp_path, dblp_arrays | {"idx_to_node": np.array({0: "title"}, dtype=object)})
    assert load_dataset("dblp", root=tmp_path / "root", mirror=copy).num_edges == 52867


@pytest.mark.real_data("dblp")
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"labels": np.zeros(17716, dtype=object)}, "plain arrays"),
        ({"labels": np.zeros(3, dtype=np.int64)}, "3 labels"),
        ({"attr_shape": np.array([17716, 2])}, "expected 17716 nodes with 1639 features"),
        ({"adj_data": None}, "lacks adj_data"),
    ],
    ids=["object array", "too few labels", "another width", "missing array"],
)
def test_other_archives_are_refused(change, says, dblp_arrays, tmp_path):
    arrays = {key: value for key, value in (dblp_arrays | change).items() if value is not None}
    with pytest.raises(DataError, match=says):
        load_dataset("dblp", root=tmp_path / "root", mirror=dblp_mirror(tmp_path, arrays))


@pytest.mark.real_data("dblp")
def test_archive_that_unpacks_to_too_much_is_refused_before_it_is_read(dblp_arrays, tmp_path, monkeypatch):
    monkeypatch.setattr(citation, "_LARGEST_ARCHIVE", 1000)
    with pytest.raises(DataError, match="it unpacks to"):
        load_dataset("dblp", root=tmp_path / "root", mirror=dblp_mirror(tmp_path, dblp_arrays))
