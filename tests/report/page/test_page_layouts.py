"""Where the nodes are drawn."""

import importlib.util

import numpy as np
from page_cases import cliques_view

from tvgnn.report.figures import principal_components
from tvgnn.report.page import layouts as module
from tvgnn.report.page.layouts import layouts


def test_without_umap_the_principal_components_say_so(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    (plane,) = layouts(cliques_view())
    assert plane.name == "PCA"
    assert "pip install 'tvgnn[viz]'" in plane.note


def test_large_runs_use_the_principal_components(monkeypatch):
    monkeypatch.setattr(module, "_LARGEST", 10)
    assert "too many nodes" in layouts(cliques_view())[0].note


def test_umap_places_some_and_the_others_beside_them(monkeypatch):
    view = cliques_view(size=40)
    shown = []

    def place(rows, random_state):
        shown.append(len(rows))
        return principal_components(rows)

    monkeypatch.setattr(module, "umap_points", place)
    monkeypatch.setattr(module, "_MOST", 30)
    (plane,) = layouts(view, "umap")
    assert shown == [30]
    assert "30 nodes are placed by UMAP" in plane.note
    centers = [plane.points[view.labels == cluster].mean(axis=0) for cluster in range(3)]
    nearest = np.linalg.norm(plane.points[:, None] - np.array(centers), axis=2).argmin(axis=1)
    assert nearest.tolist() == view.labels.tolist()


def test_blocks_do_not_change_the_principal_components(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(50, 4)) * [5, 3, 2, 1]
    whole = principal_components(rows)
    monkeypatch.setattr("tvgnn.report.figures._BLOCK", 7)
    np.testing.assert_allclose(principal_components(rows), whole)
