"""The blocks of every page run in their order, on small data and with short training."""

import shlex
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from markdown_pages import PAGES, ROOT, blocks_of, name_of
from typer.main import get_command

import tvgnn
from tvgnn.cli.app import app, main
from tvgnn.errors import ClusteringWarning
from tvgnn.estimators.graph_presets import GRAPH_PRESETS
from tvgnn.estimators.presets import PRESETS
from tvgnn.io.h5ad import write_h5ad

WITH_PYTHON = {
    "README.md",
    "docs/baselines.md",
    "docs/cli.md",
    "docs/faq.md",
    "docs/guides/data-scientists.md",
    "docs/guides/pytorch-geometric.md",
    "docs/guides/researchers.md",
    "docs/index.md",
    "docs/migration.md",
    "docs/omics.md",
    "docs/quality.md",
}
NOT_RUN = {
    "docs/index.md": ["installs"],
    "docs/migration.md": ["needs a file of the other code"],
}
SHORT = {"max_iter": 3, "pilot_iter": 2, "n_init": 2, "hidden_channels": 16, "mlp_channels": 16}
SHORTER = {
    # UMAP would be compiled first
    ("docs/index.md", "sh"): {"report runs/friends": "report runs/friends --map pca"},
    ("docs/cli.md", "python"): {'"tissue.html", view': '"tissue.html", view, projection="pca"'},
    ("README.md", "python"): {"range(2, 13)": "range(2, 5), n_seeds=2"},
    ("docs/guides/data-scientists.md", "python"): {
        "range(2, 7), n_seeds=4": "range(2, 5), n_seeds=2",
        '"wine.html", view': '"wine.html", view, projection="pca"',
    },
    ("docs/guides/pytorch-geometric.md", "python"): {"range(100)": "range(3)"},
    ("docs/guides/researchers.md", "python"): {'"mincut")': '"netmf")'},  # up to 10,000 epochs by default
}


@pytest.fixture
def small_world(monkeypatch, tmp_path, pyg):
    """Return the names that the pages say the reader has, in a folder of the reader's own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    for name, preset in PRESETS.items():
        monkeypatch.setitem(PRESETS, name, preset | {key: SHORT[key] for key in SHORT.keys() & preset})
    for name, preset in GRAPH_PRESETS.items():
        monkeypatch.setitem(GRAPH_PRESETS, name, preset | {"max_epochs": 2})

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6)) + 3 * np.repeat(np.eye(6)[:3], 20, axis=0)
    graph = tvgnn.Graph.from_features(X, 5)
    rings = [tvgnn.Graph.from_edges(range(n), [*range(1, n), 0], x=rng.random((n, 7))) for n in range(4, 24)]
    downloads = {
        "mutag": [ring.with_label(number % 2) for number, ring in enumerate(rings)],
        "cora": graph.with_features((rng.random((60, 30)) < 0.1).astype(np.float32)),
    }
    built_in = tvgnn.load_dataset
    monkeypatch.setattr(tvgnn, "load_dataset", lambda name, **options: downloads.get(name) or built_in(name, **options))
    edge_index = torch.tensor(np.stack(sp.coo_array(graph.adjacency()).coords))
    model = tvgnn.TVClustering(3, preset="quick", random_state=0)
    return {
        "X": X,
        "A": graph.adjacency(),
        "adata": cells(X, graph),
        "x": torch.rand(60, 16),
        "edge_index": edge_index,
        "batch": torch.zeros(60, dtype=torch.long),
        "model": model,
        "genes": list("abcdef"),
        "xy": X[:, :2],
    }


def cells(X, graph):
    """Return an AnnData of two samples, and write it where the pages read one."""
    import anndata

    adata = anndata.AnnData(X.astype(np.float32))
    adata.obsm["spatial"] = X[:, :2]
    adata.obsp["connectivities"] = graph.adjacency()
    adata.obs["sample"] = np.repeat(["one", "two"], 30)
    write_h5ad("tissue.h5ad", adata)
    return adata


def to_run(page, language):
    """Return the blocks of a page that are not marked, each with its line, with what makes them short."""
    blocks = [(block.line, block.code) for block in blocks_of(page, language) if block.why_not is None]
    for text, shorter in SHORTER.get((name_of(page), language), {}).items():
        assert any(text in code for _, code in blocks), text
        blocks = [(line, code.replace(text, shorter)) for line, code in blocks]
    return blocks


def run_python(page, names):
    """Run the blocks of a page that are not marked, in one namespace."""
    for line, code in to_run(page, "python"):
        exec(compile("\n" * line + code, name_of(page), "exec"), names)


def run_shell(page):
    """Run the commands of a page that are not marked: those of tvgnn in this process, others by the shell."""
    for _, code in to_run(page, "sh"):
        lines = code.splitlines()
        if any(line.startswith("tvgnn ") for line in lines):
            for line in lines:
                assert main(shlex.split(line, comments=True)[1:]) == 0, line
        else:
            code = code.replace("python ", f"{shlex.quote(sys.executable)} ")
            subprocess.run(["bash", "-euc", code], check=True, capture_output=True)


def test_pages_with_python_are_known():
    assert {name_of(page) for page in PAGES if blocks_of(page, "python")} == WITH_PYTHON


def test_what_is_not_run_is_known():
    marked = {
        name_of(page): [block.why_not for kind in ("sh", "python") for block in blocks_of(page, kind) if block.why_not]
        for page in PAGES
    }
    assert {name: reasons for name, reasons in marked.items() if reasons} == NOT_RUN
    for page in PAGES:  # a mark that is no line right before a block would mark nothing
        lines = page.read_text(encoding="utf-8").splitlines()
        assert sum(line.startswith("<!-- not run") for line in lines) == len(marked[name_of(page)])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch Geometric's imports
@pytest.mark.parametrize("page", sorted(WITH_PYTHON - {"README.md", "docs/index.md", "docs/cli.md"}))
def test_python_blocks_run_one_after_the_other(page, small_world, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusteringWarning)
        run_python(ROOT / page, small_world)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_readme_gives_what_it_says(small_world):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusteringWarning)
        run_python(ROOT / "README.md", small_world)
    assert small_world["out"].x.shape == (1, 5, 32)
    assert set(small_world["labels"]) <= set(range(10))
    assert small_world["adata"].obs["tvgnn"].dtype == "category"
    assert set(small_world["result"].labels) == {2, 3, 4}


def test_page_of_own_arrays_is_written(small_world, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusteringWarning)
        small_world["model"].fit(small_world["X"])
    run_python(ROOT / "docs/cli.md", small_world)
    assert (tmp_path / "tissue.html").stat().st_size > 10_000


def test_first_page_leads_from_a_list_of_edges_to_a_page(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "index.md"
    run_shell(page)
    rows = (tmp_path / "runs/friends/labels.csv").read_text(encoding="utf-8").splitlines()
    shown = blocks_of(page, "text")[0].code.splitlines()
    assert rows[0] == shown[0]
    assert rows[1].rsplit(",", 1)[0] == "ann,0"
    assert (tmp_path / "runs/friends/report.html").stat().st_size > 10_000
    assert "sizes              5 5 5" in capsys.readouterr().out
    names = {}
    run_python(page, names)
    clusters = names["clusters"]
    assert [clusters[name] for name in sorted(clusters)] == [0] * 5 + [1] * 5 + [2] * 5


def commands():
    """Return the arguments of every command of tvgnn on the pages."""
    lines = [
        (name_of(page), line)
        for page in PAGES
        for block in blocks_of(page, "sh")
        for line in block.code.splitlines()
        if line.startswith("tvgnn ")
    ]
    return [pytest.param(shlex.split(line, comments=True)[1:], id=f"{page}: {line}") for page, line in lines]


@pytest.mark.parametrize("words", commands())
def test_commands_and_options_exist(words):
    command = get_command(app)
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        command, words = command.commands[words[0]], words[1:]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word.split("=")[0] for word in words if word.startswith("-")} <= known | {"--help"}
