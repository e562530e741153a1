"""``tvgnn cluster --h5ad``: from an AnnData file to a run folder, a page and a new AnnData file."""

import csv
import json

import anndata
import numpy as np
import pandas as pd
import pytest
from cli_cases import SMALL

from tvgnn.datasets import simulate_tissue
from tvgnn.io.h5ad import write_h5ad
from tvgnn.io.run_context import read_context


@pytest.fixture
def cells(tmp_path):
    """Write ``cells.h5ad``: 120 cells on two slides of the same coordinates, without a graph."""
    adata = simulate_tissue(120, n_features=4, n_domains=3).to_anndata()
    adata.obs["slide"] = pd.Categorical(["left"] * 60 + ["right"] * 60)
    write_h5ad(tmp_path / "cells.h5ad", adata)
    return adata


def rows_of(folder):
    with (folder / "labels.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_from_file_to_run_folder_page_and_new_file(tvgnn, tmp_path, cells):
    result = tvgnn("cluster", "--h5ad", "cells.h5ad", "--library-key", "slide", "--label-key", "domain",
                   "--out", "out", "--write-h5ad", "done.h5ad", *SMALL)  # fmt: skip
    assert result.code == 0, result.err
    assert "wrote done.h5ad" in result.out
    metrics = json.loads((tmp_path / "out/metrics.json").read_text())
    assert (metrics["dataset"], metrics["n_nodes"], metrics["n_clusters"]) == ("cells", 120, 3)
    assert 0 <= metrics["nmi"] <= 1
    rows = rows_of(tmp_path / "out")
    assert [row["node_id"] for row in rows] == list(cells.obs_names)
    done = anndata.read_h5ad(tmp_path / "done.h5ad")
    assert done.obs["tvgnn"].tolist() == [row["cluster"] for row in rows]
    assert done.uns["tvgnn"]["params"]["library_key"] == "slide"
    assert np.array_equal(done.X, cells.X)
    assert "tvgnn" not in anndata.read_h5ad(tmp_path / "cells.h5ad").obs

    context = read_context(tmp_path / "out")
    assert context.feature_names == [f"marker{i}" for i in range(4)]
    left, right = context.positions[:60], context.positions[60:]
    assert left[:, 0].max() < right[:, 0].min()  # slides lie side by side
    moved = left - left[0]
    assert np.allclose(moved, (cells.obsm["spatial"][:60] - cells.obsm["spatial"][0]) * [1, -1])
    report = tvgnn("report", "out", "--map", "pca")
    assert report.code == 0, report.err
    assert "The nodes where they are in space" in (tmp_path / "out/report.html").read_text(encoding="utf-8")


def test_missing_labels_are_no_class(tvgnn, tmp_path, cells):
    cells.obs["class"] = ["nan", "x", "y"] * 40
    write_h5ad(tmp_path / "cells.h5ad", cells)
    result = tvgnn("cluster", "--h5ad", "cells.h5ad", "--spatial-key", "spatial", "--label-key", "class",
                   "--out", "out", *SMALL)  # fmt: skip
    assert result.code == 0, result.err
    assert json.loads((tmp_path / "out/metrics.json").read_text())["n_clusters"] == 2
    assert "note: 'nan' in obs['class'] was taken for an unknown label, not a class" in result.err
    assert "note: 40 of 120 nodes have no known class" in result.err


def test_graphs_and_weights_reach_the_graph(tvgnn, tmp_path, cells):
    ring = np.roll(np.eye(120), 1, axis=1)
    cells.obsp["ring"], cells.obsp["far"] = ring, np.roll(np.eye(120), 60, axis=1)
    cells.obsm["scores"] = cells.X[:, :2]
    write_h5ad(tmp_path / "more.h5ad", cells)
    result = tvgnn("cluster", "--h5ad", "more.h5ad", "--obsp", "ring, far", "--obsp-weights", "3,1", "--use-rep",
                   "scores", "-k", "2", "--out", "out", *SMALL)  # fmt: skip
    assert result.code == 0, result.err
    notes = json.loads((tmp_path / "out/metrics.json").read_text())["notes"]
    assert 'graphs mixed: 0.75 obsp["ring"] + 0.25 obsp["far"]' in notes
    assert read_context(tmp_path / "out").feature_names == ["scores 1", "scores 2"]


def test_positions_that_are_no_numbers_are_left_out_unless_asked_for(tvgnn, tmp_path, cells):
    cells.obsp["ring"] = np.roll(np.eye(120), 1, axis=1)
    cells.obsm["spatial"][5] = np.nan
    write_h5ad(tmp_path / "more.h5ad", cells)
    asked = ("cluster", "--h5ad", "more.h5ad", "-k", "1", "--out", "out", *SMALL)
    assert tvgnn(*asked, "--obsp", "ring").code == 0
    assert read_context(tmp_path / "out").positions is None
    assert "finite coordinates" in tvgnn(*asked, "--overwrite", "--spatial-key", "spatial").error


def test_sweep_reads_the_same_file(tvgnn, tmp_path, cells):
    result = tvgnn("sweep", "--h5ad", "cells.h5ad", "--spatial-key", "spatial", "-k", "2,3", "--seeds", "2",
                   "--out", "out", *SMALL)  # fmt: skip
    assert result.code == 0, result.err
    with (tmp_path / "out/labels.csv").open(encoding="utf-8") as file:
        assert [row["node_id"] for row in csv.DictReader(file)] == list(cells.obs_names)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--h5ad", "nowhere.h5ad"], "nowhere.h5ad: there is no such file"),
        (["--h5ad", "broken.h5ad"], "not readable as an AnnData file"),
        (["--h5ad", "cells.h5ad"], "--spatial-key spatial takes neighbours in space, and --obsp names one"),
        (["--h5ad", "cells.h5ad", "--dataset", "ring"], "got --dataset and --h5ad"),
        (["--h5ad", "cells.h5ad", "--edges", "e.csv"], "got --h5ad and --edges"),
        (["--h5ad", "cells.h5ad", "--obsp", "ring"], "key of obsp, got 'ring'; it holds nothing"),
        (["--h5ad", "cells.h5ad", "--spatial-key", "xy"], "it holds 'spatial'"),
        (["--h5ad", "cells.h5ad", "--label-key", "class"], "key of obs, got 'class'"),
        (["--h5ad", "cells.h5ad", "--obsp-weights", "a,b"], "--obsp-weights as numbers"),
        (["--h5ad", "cells.h5ad", "--use-rep", "X", "--structural-features", "ones"], "and --use-rep"),
        (["--dataset", "ring", "--library-key", "slide"], "--library-key needs --h5ad FILE"),
        (["--dataset", "ring", "--write-h5ad", "new.h5ad"], "--write-h5ad needs --h5ad"),
        (["--h5ad", "cells.h5ad", "--spatial-key", "spatial", "--embedding"], "--embedding needs --write-h5ad"),
        (["--h5ad", "cells.h5ad", "--spatial-key", "spatial", "--key-added", "k"], "--key-added needs --write-h5ad"),
        (["--dataset", "ring", "--no-weights"], "--no-weights needs --h5ad FILE"),
        (
            ["--h5ad", "cells.h5ad", "--spatial-key", "spatial", "--write-h5ad", "n.h5ad", "--key-added", "spatial"],
            "but obsm['spatial'] is something else; take another name",
        ),
        (["--h5ad", "cells.h5ad", "--spatial-key", "spatial", "--write-h5ad", "cells.h5ad"], "is not overwritten"),
        (["--h5ad", "cells.h5ad", "--spatial-key", "spatial", "--write-h5ad", "no/new.h5ad"], "folder does not exist"),
    ],
    ids=lambda value: " ".join(value[1:]) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line_and_leaves_nothing(tvgnn, tmp_path, cells, arguments, says):
    (tmp_path / "broken.h5ad").write_bytes(b"\x89HDF\r\n\x1a\n and then nothing")
    before = sorted(tmp_path.iterdir())
    result = tvgnn("cluster", *arguments, "-k", "2", "--out", "out", *SMALL)
    assert result.code == 2
    assert says in result.error
    assert sorted(tmp_path.iterdir()) == before


def test_the_result_has_the_name_that_is_asked_for(tvgnn, tmp_path, cells):
    result = tvgnn("cluster", "--h5ad", "cells.h5ad", "--spatial-key", "spatial", "-k", "2", "--out", "out",
                   "--write-h5ad", "done.h5ad", "--key-added", "domains", "--embedding", *SMALL)  # fmt: skip
    assert result.code == 0, result.err
    done = anndata.read_h5ad(tmp_path / "done.h5ad")
    assert {"domains"} <= set(done.obs)
    assert done.obsm["X_domains"].shape[0] == done.n_obs
    assert "tvgnn" not in done.uns


def test_a_failed_run_leaves_no_file(tvgnn, tmp_path, cells):
    before = sorted(tmp_path.iterdir())
    result = tvgnn("cluster", "--h5ad", "cells.h5ad", "--spatial-key", "spatial", "-k", "500", "--out", "out",
                   "--write-h5ad", "done.h5ad", *SMALL)  # fmt: skip
    assert result.code == 2
    assert sorted(tmp_path.iterdir()) == before


def test_structural_features_in_place_of_those_of_the_file(tvgnn, tmp_path, cells):
    result = tvgnn("cluster", "--h5ad", "cells.h5ad", "--spatial-key", "spatial", "--structural-features", "ones",
                   "-k", "1", "--out", "out", *SMALL)  # fmt: skip
    assert result.code == 0, result.err
    assert read_context(tmp_path / "out").feature_names is None


def test_the_simulated_tissue_is_shown_where_its_cells_are(tvgnn, tmp_path):
    result = tvgnn("cluster", "--dataset", "tissue", "--out", "out", *SMALL)
    assert result.code == 0, result.err
    context = read_context(tmp_path / "out")
    assert np.array_equal(context.positions, simulate_tissue().positions)
    assert context.feature_names[-1] == "marker49"


def test_features_of_the_graph_need_no_x(tvgnn, tmp_path, cells):
    bare = anndata.AnnData(obs=cells.obs, obsm={"spatial": cells.obsm["spatial"]})
    write_h5ad(tmp_path / "bare.h5ad", bare)
    options = ("cluster", "--h5ad", "bare.h5ad", "--spatial-key", "spatial", "-k", "3", *SMALL)
    assert "--structural-features" in tvgnn(*options, "--out", "none").error
    assert tvgnn(*options, "--structural-features", "spectral", "--out", "out").code == 0
    assert len(rows_of(tmp_path / "out")) == 120
