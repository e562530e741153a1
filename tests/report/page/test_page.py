"""The page as a whole: what a browser gets to see, and what it must not."""

import base64
import hashlib
import re

import numpy as np
import pytest
import scipy.sparse as sp
from page_cases import HOSTILE, IMAGE, SCRIPT, cliques_view, soft
from page_reader import PageReader, unpack, unpack_feature, unpack_ids

from tvgnn.errors import GraphError
from tvgnn.report.page import ClusteringView, Picture, clustering_page, write_page


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
    assert "15 nodes and 33 edges fall into 3 clusters of 5 to 5 nodes." in text
    assert "91 % of the edges' weight stays inside a cluster." in text
    assert "NMI 1.000" in text
    assert "2 self-loops dropped" in text
    assert "Nothing stands out" in text
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
    assert "49" not in reader.all("button")[0].get("title", "")


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
    assert "Only 1 of 2 clusters are in use." in reader.text
    assert "3 nodes have no edges" in reader.text
    assert "Known classes" not in reader.text


@pytest.mark.parametrize("n_clusters", [1, 90])
def test_one_cluster_and_many(n_clusters):
    n = 2 * n_clusters
    labels = np.arange(n) % n_clusters
    view = ClusteringView(soft(labels, n_clusters), sp.eye_array(n, k=1, format="csr"), x=np.arange(n)[:, None])
    reader = read(view)
    assert "The largest 60 clusters; 30 smaller ones are left out" in reader.text or n_clusters == 1
    assert unpack(reader.data["clusters"]).shape == (n, min(4, n_clusters))


def test_pixels_show_the_picture_and_its_clusters():
    colors = np.random.default_rng(0).random((6, 5))
    adjacency = sp.eye_array(6, k=1, format="csr")
    view = ClusteringView(soft([0, 0, 1, 0, 1, 1], 2), adjacency, x=colors, picture=Picture("pixels", 2, 3))
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
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_does_not_fit_is_refused(parts, message):
    with pytest.raises(GraphError, match=message):
        cliques_view(**parts)


def test_features_beyond_the_budget_are_left_out():
    from tvgnn.report.page.layouts import layouts
    from tvgnn.report.page.payload import page_data
    from tvgnn.report.page.summary import feature_differences, neighbor_agreement

    view = cliques_view()
    data = page_data(view, layouts(view, "pca"), neighbor_agreement(view), feature_differences(view), feature_bytes=10)
    assert [entry["name"] for entry in data["features"]["list"]] == ["level"]
    assert data["features"]["total"] == 3


def test_sparse_features_give_the_same_page():
    dense = cliques_view()
    sparse = cliques_view(x=sp.csr_array(dense.x))
    assert clustering_page(sparse, projection="pca") == clustering_page(dense, projection="pca")
