"""Every notebook is valid, is stored without outputs, and its cells run in order."""

from pathlib import Path

import nbformat
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "notebooks"


def read(name):
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    return notebook


@pytest.fixture
def run(monkeypatch, tmp_path, pyg):
    """Return a function that runs a notebook's cells as one program and returns its variables."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    folder = tmp_path / "examples" / "notebooks"  # what is written stays here, what is read from docs/ is found
    folder.mkdir(parents=True)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(folder)

    def run_cells(name):
        variables = {"__name__": name}
        for number, cell in enumerate(read(name).cells):
            if cell.cell_type == "code":
                exec(compile(cell.source, f"{name}.ipynb, cell {number}", "exec"), variables)
        return variables

    return run_cells


def test_one_notebook_for_each_audience():
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == {"data_scientist", "pyg_user", "researcher"}


@pytest.mark.parametrize("name", ["data_scientist", "pyg_user", "researcher"])
def test_notebooks_are_stored_without_outputs(name):
    for cell in read(name).cells:
        assert cell.cell_type == "markdown" or (cell.outputs == [] and cell.execution_count is None)


def test_data_scientist(run):
    found = run("data_scientist")
    assert found["n_clusters"] == 3
    assert found["agreement"] > 0.7
    assert found["again"].predict(found["X"]).tolist() == found["model"].labels_.tolist()
    assert Path("wine.html").stat().st_size > 10_000


def test_pyg_user(run):
    found = run("pyg_user")
    assert found["variations"] == sorted(found["variations"], reverse=True)
    assert found["agreement"] > 0.7
    assert found["largest_difference"] < 1e-4
    assert tuple(found["after"].shape) == (2, 3, 8)


def test_researcher(run):
    found = run("researcher")
    assert set(found["results"]) == {"spectral", "gae", "mincut", "tvgnn"}
    assert found["results"]["tvgnn"]["acc"] > 0.8
    assert np.isfinite([found["terms"][name] for name in ("classes", "result")]).all()
    assert found["records"]
    assert set(found["accuracies"]) == {"AsymCheegerCutPooling", "PlainCutPooling"}
