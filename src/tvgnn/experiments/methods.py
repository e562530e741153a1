"""All vertex-clustering methods by name: the baselines, and TVGNN, whose estimator keeps the same contract.

`TVClustering` takes a `tvgnn.Graph` as X, so it needs no adapter: ``fit(graph)``, ``labels_`` numbered by size,
``assignments_`` and ``embedding_``, ``random_state``.
"""

from tvgnn.baselines import BASELINES
from tvgnn.estimators import TVClustering

__all__ = ["CLUSTERING_METHODS", "END_TO_END"]

_ABLATIONS = ("abl1", "abl2", "abl3")

END_TO_END = ("diffpool", "mincut", "dmon", "tvgnn", *_ABLATIONS)
"""Methods that train soft assignments until their loss stops falling; the others end by themselves."""

CLUSTERING_METHODS: dict[str, type] = {
    **{name: method for name, method in BASELINES.items() if name not in _ABLATIONS},
    "tvgnn": TVClustering,
    **{name: BASELINES[name] for name in _ABLATIONS},
}
"""In the order of the paper's table 1; each is called with ``n_clusters`` and ``random_state=``."""
