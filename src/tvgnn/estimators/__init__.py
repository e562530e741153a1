"""Estimators with scikit-learn's interface."""

from tvgnn.estimators.classification import TVGraphClassifier
from tvgnn.estimators.clustering import TVClustering
from tvgnn.estimators.regression import TVGraphRegressor

__all__ = ["TVClustering", "TVGraphClassifier", "TVGraphRegressor"]
