"""Vertex-clustering methods to compare with, each in a file of its own, all under the contract of `GraphClusterer`."""

from tvgnn.baselines._base import EmbeddingClusterer, GraphClusterer
from tvgnn.baselines.abl1 import GTVMinCut
from tvgnn.baselines.abl2 import GCNTotalVariation
from tvgnn.baselines.abl3 import RelaxedRatio
from tvgnn.baselines.bane import BANE
from tvgnn.baselines.deepwalk import DeepWalk
from tvgnn.baselines.diffpool import DiffPool
from tvgnn.baselines.dmon import DMoN
from tvgnn.baselines.gae import GAE
from tvgnn.baselines.mincut import MinCut
from tvgnn.baselines.netmf import NetMF
from tvgnn.baselines.node2vec import Node2Vec
from tvgnn.baselines.spectral import SpectralBaseline
from tvgnn.baselines.tadw import TADW
from tvgnn.baselines.tene import TENE
from tvgnn.baselines.vgae import VGAE

__all__ = [
    "BANE",
    "BASELINES",
    "GAE",
    "TADW",
    "TENE",
    "VGAE",
    "DMoN",
    "DeepWalk",
    "DiffPool",
    "EmbeddingClusterer",
    "GCNTotalVariation",
    "GTVMinCut",
    "GraphClusterer",
    "MinCut",
    "NetMF",
    "Node2Vec",
    "RelaxedRatio",
    "SpectralBaseline",
]

BASELINES: dict[str, type[GraphClusterer]] = {
    "spectral": SpectralBaseline,
    "deepwalk": DeepWalk,
    "node2vec": Node2Vec,
    "netmf": NetMF,
    "tadw": TADW,
    "bane": BANE,
    "tene": TENE,
    "gae": GAE,
    "vgae": VGAE,
    "diffpool": DiffPool,
    "mincut": MinCut,
    "dmon": DMoN,
    "abl1": GTVMinCut,
    "abl2": GCNTotalVariation,
    "abl3": RelaxedRatio,
}
"""Every method by name, in the order of the paper's table 1."""
