"""Estimators with scikit-learn's interface."""

from tvgnn.estimators.clustering import TVClustering

__all__ = ["TVClustering"]
