"""Total variation graph neural networks: sharp, balanced clustering of attributed graphs.

Public names load on first use (PEP 562), so ``import tvgnn`` and the command line's ``--help`` do not import torch.
"""

import importlib
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tvgnn.datasets import load_dataset
    from tvgnn.estimators.classification import TVGraphClassifier
    from tvgnn.estimators.clustering import TVClustering
    from tvgnn.estimators.regression import TVGraphRegressor
    from tvgnn.experiments.sweep import sweep_n_clusters
    from tvgnn.graph.coarsened import coarsened_graph
    from tvgnn.graph.graph import Graph
    from tvgnn.layers import DenseGTVConv, GTVConv
    from tvgnn.losses import asymmetric_norm_loss, total_variation_loss
    from tvgnn.ops import select_backend
    from tvgnn.pooling import (
        AsymCheegerCutPooling,
        DiffPooling,
        DMoNPooling,
        MinCutPooling,
        PoolingOutput,
        SAGPooling,
        TopKPooling,
    )

_EXPORTS = {
    "AsymCheegerCutPooling": "tvgnn.pooling",
    "DMoNPooling": "tvgnn.pooling",
    "DenseGTVConv": "tvgnn.layers",
    "DiffPooling": "tvgnn.pooling",
    "GTVConv": "tvgnn.layers",
    "Graph": "tvgnn.graph.graph",
    "MinCutPooling": "tvgnn.pooling",
    "PoolingOutput": "tvgnn.pooling",
    "SAGPooling": "tvgnn.pooling",
    "TVClustering": "tvgnn.estimators.clustering",
    "TVGraphClassifier": "tvgnn.estimators.classification",
    "TVGraphRegressor": "tvgnn.estimators.regression",
    "TopKPooling": "tvgnn.pooling",
    "asymmetric_norm_loss": "tvgnn.losses",
    "coarsened_graph": "tvgnn.graph.coarsened",
    "load_dataset": "tvgnn.datasets",
    "select_backend": "tvgnn.ops",
    "sweep_n_clusters": "tvgnn.experiments.sweep",
    "total_variation_loss": "tvgnn.losses",
}

__all__ = [
    "AsymCheegerCutPooling",
    "DMoNPooling",
    "DenseGTVConv",
    "DiffPooling",
    "GTVConv",
    "Graph",
    "MinCutPooling",
    "PoolingOutput",
    "SAGPooling",
    "TVClustering",
    "TVGraphClassifier",
    "TVGraphRegressor",
    "TopKPooling",
    "asymmetric_norm_loss",
    "coarsened_graph",
    "load_dataset",
    "select_backend",
    "sweep_n_clusters",
    "total_variation_loss",
]
__version__ = version("tvgnn")


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(importlib.import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'tvgnn' has no attribute {name!r}; public names: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
