"""All vertex-clustering methods by name: the baselines, and TVGNN, whose estimator keeps the same contract.

``tvgnn`` has the hyper-parameters of the paper's table 5, ``tvgnn-released`` those of the authors' PyTorch script.

`TVClustering` takes a `tvgnn.Graph` as X, so it needs no adapter: ``fit(graph)``, ``labels_`` numbered by size,
``assignments_`` and ``embedding_``, ``random_state``.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from tvgnn.baselines import BASELINES
from tvgnn.estimators import TVClustering

__all__ = ["CLUSTERING_METHODS", "END_TO_END"]

_ABLATIONS = ("abl1", "abl2", "abl3")

END_TO_END = ("diffpool", "mincut", "dmon", "tvgnn", "tvgnn-released", *_ABLATIONS)
"""Methods that train soft assignments until their loss stops falling; the others end by themselves."""

CLUSTERING_METHODS: dict[str, Callable[..., Any]] = {
    **{name: method for name, method in BASELINES.items() if name not in _ABLATIONS},
    "tvgnn": TVClustering,
    "tvgnn-released": partial(TVClustering, preset="released"),
    **{name: BASELINES[name] for name in _ABLATIONS},
}
"""In the order of the paper's table 1; each is called with ``n_clusters`` and ``random_state=``."""
