"""README's Python blocks run in their order, on small data and with short training."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import tvgnn
from tvgnn.errors import ClusteringWarning

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
SHORTER = {
    "TVClustering(n_clusters=7, random_state=0)": "TVClustering(n_clusters=7, random_state=0, max_iter=5)",
    'metric="cosine", ': 'metric="cosine", max_iter=5, ',
    'features="spectral", ': 'features="spectral", max_iter=5, ',
    "range(2, 13)": "range(2, 5), n_seeds=2",
    'TVGraphClassifier(preset="mutag", random_state=0)': (
        'TVGraphClassifier(preset="mutag", random_state=0, max_epochs=2)'
    ),
}


@pytest.fixture
def given(monkeypatch):
    """Return the names that README's text says the reader has."""
    import anndata

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6)) + 3 * np.repeat(np.eye(6)[:3], 20, axis=0)
    graph = tvgnn.Graph.from_features(X, 5)
    rings = [tvgnn.Graph.from_edges(range(n), [*range(1, n), 0], x=rng.random((n, 7))) for n in range(4, 24)]
    labelled = [ring.with_label(number % 2) for number, ring in enumerate(rings)]
    monkeypatch.setattr(tvgnn, "load_dataset", lambda name: labelled)
    adata = anndata.AnnData(X.astype(np.float32))
    adata.obsm["spatial"] = rng.random((60, 2))
    edge_index = torch.tensor(np.stack(sp.coo_array(graph.adjacency()).coords))
    return {
        "X": X,
        "A": graph.adjacency(),
        "adata": adata,
        "x": torch.rand(60, 16),
        "edge_index": edge_index,
        "batch": torch.zeros(60, dtype=torch.long),
    }


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch Geometric's imports
def test_blocks_run_one_after_the_other(given):
    names = dict(given)
    program = "\n".join(BLOCKS)
    for text, shorter in SHORTER.items():
        assert text in program
        program = program.replace(text, shorter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusteringWarning)
        exec(compile(program, "README.md", "exec"), names)
    assert names["out"].x.shape == (1, 5, 32)
    assert set(names["labels"]) <= set(range(10))
    assert names["adata"].obs["tvgnn"].dtype == "category"
    assert set(names["result"].labels) == {2, 3, 4}
