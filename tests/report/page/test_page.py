"""The page as a whole: what a browser gets to see, and what it must not."""

import base64
import errno
import hashlib
import os
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from page_cases import HOSTILE, IMAGE, SCRIPT, cliques_view, soft
from page_reader import PageReader, unpack, unpack_feature, unpack_ids

from tvgnn.errors import DataError, GraphError
from tvgnn.report.page import ClusteringView, Picture, clustering_page, summary, write_page


def path_of(n):
    """Return the adjacency of n nodes in a row."""
    return sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1], shape=(n, n), format="csr")


def damaged(value):
    """Return 15 x 3 numbers, of which one is another value."""
    rows = np.arange(45.0).reshape(15, 3) + 1
    rows[9, 1] = value
    return rows


def disk_full(path, data):
    """Write a part of a file, then fail as a full disk does."""
    path.write_text("half")
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def read(view):
    return PageReader(clustering_page(view, projection="pca"))


def test_data_are_those_of_the_run():
    view = cliques_view()
    data = read(view).data
    assert (data["n"], data["k"]) == (15, 3)
    assert unpack(data["clusters"])[:, 0].tolist() == view.labels.tolist()
    np.testing.assert_allclose(unpack(data["shares"])[:, 0] / 65535, 0.9, atol=1e-4)
    assert unpack_ids(data) == view.node_ids
    assert data["classes"]["names"] == ["team 0", "team 1", "team 2"]
    assert unpack(data["classes"]["codes"]).tolist() == view.y.tolist()
    assert unpack(data["degree"]).tolist() == view.degrees.tolist()
    start, end = unpack(data["edges"]["start"]), unpack(data["edges"]["end"])
    assert (start.tolist(), end.tolist()) == (view.adjacency.indptr.tolist(), view.adjacency.indices.tolist())
    level = next(entry for entry in data["features"]["list"] if entry["name"] == "level")
    assert unpack_feature(level).tolist() == [0] * 5 + [128] * 5 + [255] * 5
    assert (level["low"], level["high"]) == (0, 4)
    assert unpack(data["matrix"]["values"]).shape == (15, 3)


def test_words_and_tables():
    view = cliques_view(metrics={"dataset": "cliques", "nmi": 1.0, "acc": 1.0, "notes": ["2 self-loops dropped"]})
    text = read(view).text
    assert "15 nodes and 33 edges fall into 3 clusters of 5 nodes each." in text
    assert "91 % of the edges' weight stays inside a cluster." in text
    assert "NMI 1.000" in text
    assert "2 self-loops dropped" in text
    assert "Nothing stands out" in text
    assert re.search(r"person \d+\s*\d+(\.\d)? % · edges \d+(\.\d)? %", text)
    for section in (
        "Map of the nodes",
        "Typical and doubtful nodes",
        "Features that mark each cluster",
        "Known classes",
    ):
        assert section in text
    assert "person 3" in text
    assert "team 2" in text


def test_hostile_text_stays_text():
    view = cliques_view(
        title=IMAGE,
        node_ids=[*HOSTILE, *(f"node {i}" for i in range(10))],
        class_names=HOSTILE[:3],
        feature_names=HOSTILE[:3],
        metrics={"dataset": SCRIPT, "notes": list(HOSTILE), "versions": {IMAGE: IMAGE}},
    )
    page = clustering_page(view, projection="pca")
    reader = PageReader(page)
    assert len(reader.all("script")) == 2
    assert not [a for a in reader.all("img") if not a["src"].startswith("data:image/png")]
    assert not [key for _, attributes in reader.elements for key in attributes if key.startswith("on")]
    assert page.count("<script") == page.count("</script") == 2
    assert "<img src=x" not in page
    data = reader.scripts[0]
    assert not re.search(r"[<>&\u2028\u2029]", data)
    assert data.isascii()
    assert unpack_ids(reader.data)[:5] == list(HOSTILE)
    assert reader.data["classes"]["names"] == list(HOSTILE[:3])
    assert IMAGE in reader.text
    assert "${alert(3)} {{ 7 * 7 }}" in [button.get("title") for button in reader.all("button")]
    assert "${alert(3)} 49" not in page


def test_a_file_with_a_lone_surrogate_can_be_written(tmp_path):
    write_page(tmp_path / "page.html", cliques_view(title="a\udc80b"), projection="pca")
    assert "<h1>a&#56448;b</h1>" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_nothing_is_requested_and_only_its_own_script_may_run():
    page = clustering_page(cliques_view(picture=Picture("tiles", 1, 3)), projection="pca")
    reader = PageReader(page)
    assert not re.search(r"https?:|//[a-z]|@import|url\(|\bfetch\b|XMLHttpRequest|WebSocket|\beval\b|innerHTML", page)
    for tag, attributes in reader.elements:
        for name in ("src", "href", "action", "poster", "srcset"):
            assert attributes.get(name, "#").startswith(("#", "data:")), (tag, attributes)
    policy = next(a["content"] for a in reader.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    own = base64.b64encode(hashlib.sha256(reader.scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{own}'" in policy
    assert "default-src 'none'" in policy
    assert "prefers-color-scheme: dark" in page


def test_everything_optional_can_be_missing():
    adjacency = sp.csr_array((3, 3), dtype=np.float32)
    reader = read(ClusteringView(soft([0, 0, 0], 2), adjacency))
    data = reader.data
    assert data["ids"] is data["classes"] is data["picture"] is None
    assert data["features"]["list"] == []
    assert "Only 1 cluster of 2 is in use." in reader.text
    assert "3 nodes have no edges" in reader.text
    assert "Known classes" not in reader.text


@pytest.mark.parametrize(
    ("n_clusters", "title", "hidden"),
    [
        (1, "clustering: 1 cluster", None),
        (60, "clustering: 60 clusters", None),
        (61, "clustering: 61 clusters", "The largest 60 clusters; 1 smaller one is left out"),
        (90, "clustering: 90 clusters", "The largest 60 clusters; 30 smaller ones are left out"),
    ],
)
def test_one_cluster_and_many(n_clusters, title, hidden):
    n = 2 * n_clusters
    labels = np.arange(n) % n_clusters
    reader = read(ClusteringView(soft(labels, n_clusters), path_of(n), x=np.arange(n)[:, None]))
    assert reader.texts[reader.texts.index(title)] == title
    assert ("left out" in reader.text) == (hidden is not None)
    assert (hidden or "") in reader.text
    assert unpack(reader.data["clusters"]).shape == (n, min(4, n_clusters))


def test_the_title_counts_clusters_in_use():
    assert "clustering: 2 clusters" in read(ClusteringView(soft([0, 2, 0], 3), path_of(3))).texts


def test_one_of_a_kind_is_singular():
    view = ClusteringView([[1.0]], sp.csr_array((1, 1)), metrics={"converged": False, "epochs": 1, "notes": ["one"]})
    reader = read(view)
    assert "1 node and 0 edges fall into 1 cluster." in reader.text
    assert "1 note about the data" in reader.text
    assert "after 1 epoch while" in reader.text
    assert any(canvas.get("aria-label", "").startswith("Map of 1 node.") for canvas in reader.all("canvas"))


def test_what_takes_keys_has_a_role_that_does():
    canvases = [canvas for canvas in read(cliques_view()).all("canvas") if "tabindex" in canvas]
    assert {canvas["id"]: canvas["role"] for canvas in canvases} == {"map": "application", "matrix": "application"}


def test_clusters_and_classes_are_counted_once(monkeypatch):
    view = cliques_view(class_names=["a", "b", "c", "d"])
    columns = []
    monkeypatch.setattr(summary, "one_hot", lambda codes, n, make=summary.one_hot: columns.append(n) or make(codes, n))
    clustering_page(view, projection="pca")
    assert columns.count(4) == 1


def test_pixels_show_the_picture_and_its_clusters():
    colors = np.random.default_rng(0).random((6, 5))
    view = ClusteringView(soft([0, 0, 1, 0, 1, 1], 2), path_of(6), x=colors, picture=Picture("pixels", 2, 3))
    reader = read(view)
    assert [image["alt"] for image in reader.all("img")] == [
        "The picture that was clustered",
        "Each pixel in the colour of its cluster",
    ]
    first = reader.data["layouts"][0]
    points = unpack(first["points"])
    assert first["name"] == "picture"
    assert first["step"] == 0.5
    assert points[0].tolist() == [0, 32768]  # the first pixel is above the second row
    assert points[5].tolist() == [65535, 0]


def test_tiles_show_images_of_nodes():
    view = cliques_view(picture=Picture("tiles", 1, 3))
    images = read(view).all("img")
    assert len(images) == 3 + 3 * 2 * 5
    assert {image["src"][:22] for image in images} == {"data:image/png;base64,"}


def test_positions_come_first():
    names = [
        layout["name"]
        for layout in read(cliques_view(positions=np.random.default_rng(0).random((15, 2)))).data["layouts"]
    ]
    assert names == ["positions", "PCA"]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"node_ids": ["a"]}, "expected 15 node_ids, got 1"),
        ({"feature_names": ["a"]}, "expected 3 feature_names, got 1"),
        ({"positions": np.zeros((15, 3))}, "the positions"),
        ({"picture": Picture("pixels", 2, 2)}, "a picture of 15 pixels"),
        ({"picture": Picture("tiles", 2, 2)}, "a picture of 3 tiles"),
        ({"y": np.zeros(3, dtype=int)}, "y of shape"),
        ({"embedding": np.zeros((2, 2))}, "an embedding of shape"),
        ({"assignments": np.full((15, 3), np.nan)}, "the assignments"),
        ({"embedding": damaged(np.nan)}, "an embedding of finite numbers, got nan in row 9, column 1"),
        ({"embedding": np.full((15, 2), "a")}, "an embedding of numbers, got dtype <U1"),
        ({"x": damaged(np.inf)}, "features of finite numbers, got inf in row 9, column 1"),
        ({"x": damaged(np.nan).tolist()}, "features of finite numbers, got nan in row 9, column 1"),
        ({"x": sp.csc_array(damaged(np.nan))}, "features of finite numbers, got nan in row 9, column 1"),
        ({"x": sp.coo_array(damaged(-np.inf))}, "features of finite numbers, got -inf in row 9, column 1"),
        ({"x": np.full((15, 3), "a")}, "features of numbers, got dtype <U1"),
        ({"x": np.full((15, 3), None)}, "features of numbers, got dtype object"),
        ({"x": [[1.0, 2.0, 3.0], [1.0]]}, "features as a matrix, got rows of different lengths"),
        ({"x": np.zeros(15)}, r"features of shape \(15, F\), got \(15,\)"),
        ({"loss_history": ["a"]}, "loss_history as numbers"),
        ({"metrics": {"nmi": "high"}}, "nmi to be a finite number, got str 'high'"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_does_not_fit_is_refused(parts, message):
    with pytest.raises((GraphError, DataError), match=message):
        cliques_view(**parts)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([[0, 1], [0, 0]], "a symmetric adjacency, got 1.0 in row 0, column 1 and 0.0 the other way"),
        ([[0, -1], [-1, 0]], "not negative, got -1.0 in row 0, column 1"),
        ([[0, np.nan], [np.nan, 0]], "got nan in row 0, column 1"),
        ([["a", "b"], ["b", "a"]], "an adjacency of numbers, got dtype <U1"),
        ([[0, 1, 0]], r"an adjacency of shape \(2, 2\), got \(1, 3\)"),
    ],
    ids=["one way", "negative", "nan", "text", "shape"],
)
def test_an_adjacency_that_is_none_is_refused(entries, message):
    with pytest.raises(GraphError, match=message):
        ClusteringView(soft([0, 1], 2), entries)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32])
def test_loops_zeros_and_repeated_entries_are_no_edges(dtype):
    rows, columns = [0, 1, 2, 2, 0, 0, 1, 1], [0, 1, 2, 0, 2, 1, 0, 2]
    values = np.array([1, 1, 1, 0, 0, 1, 1, 0], dtype=dtype)
    given = sp.coo_array((np.r_[values, values], (rows + rows, columns + columns)), shape=(3, 3)).tocsr()
    stored = given.nnz
    view = ClusteringView(soft([0, 0, 1], 2), given)
    assert view.degrees.tolist() == [1, 1, 0]
    assert "3 nodes and 1 edge fall into 2 clusters" in read(view).text
    assert given.nnz == stored
    loops = ClusteringView(soft([0, 0, 1], 2), sp.eye_array(3, dtype=dtype))
    assert "3 nodes and 0 edges fall into 2 clusters" in read(loops).text


def test_a_page_takes_the_place_of_another_or_leaves_it(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", disk_full)
        with pytest.raises(DataError, match=r"page\.html: could not be written: No space left"):
            write_page(path, cliques_view(), projection="pca")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("page.html", "old")]
    write_page(path, cliques_view(), projection="pca")
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_features_beyond_the_budget_are_left_out():
    from tvgnn.report.page.layouts import layouts
    from tvgnn.report.page.payload import page_data
    from tvgnn.report.page.summary import feature_differences, neighbor_agreement

    view = cliques_view()
    data = page_data(
        view, layouts(view, "pca"), neighbor_agreement(view), feature_differences(view), None, feature_bytes=10
    )
    assert [entry["name"] for entry in data["features"]["list"]] == ["level"]
    assert data["features"]["total"] == 3


def test_sparse_features_give_the_same_page():
    dense = cliques_view()
    sparse = cliques_view(x=sp.csr_array(dense.x))
    assert clustering_page(sparse, projection="pca") == clustering_page(dense, projection="pca")


def test_the_target_is_checked_before_the_page_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr("tvgnn.report.page.build.clustering_page", lambda *_, **__: pytest.fail("the page was made"))
    with pytest.raises(DataError, match="its folder does not exist"):
        write_page(tmp_path / "nope/page.html", cliques_view())
    with pytest.raises(DataError, match="got a folder"):
        write_page(tmp_path, cliques_view())
