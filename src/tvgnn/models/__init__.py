"""Architectures."""

from tvgnn.models.node_clustering import NodeClusteringConfig, NodeClusteringModel

__all__ = ["NodeClusteringConfig", "NodeClusteringModel"]
