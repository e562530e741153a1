"""Vertex-clustering methods to compare with, each in a file of its own, all under the contract of `GraphClusterer`."""

from tvgnn.baselines._base import EmbeddingClusterer, GraphClusterer
from tvgnn.baselines.diffpool import DiffPool
from tvgnn.baselines.dmon import DMoN
from tvgnn.baselines.mincut import MinCut
from tvgnn.baselines.netmf import NetMF
from tvgnn.baselines.spectral import SpectralBaseline

__all__ = [
    "BASELINES",
    "DMoN",
    "DiffPool",
    "EmbeddingClusterer",
    "GraphClusterer",
    "MinCut",
    "NetMF",
    "SpectralBaseline",
]

BASELINES: dict[str, type[GraphClusterer]] = {
    "spectral": SpectralBaseline,
    "netmf": NetMF,
    "diffpool": DiffPool,
    "mincut": MinCut,
    "dmon": DMoN,
}
"""Every method by name, in the order of the paper's table 1."""
