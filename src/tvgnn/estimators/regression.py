"""TVGraphRegressor: the hierarchical network for numbers that belong to whole graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor
from torch.nn import functional

from tvgnn.estimators.graph_estimator import GraphEstimator, Targets

__all__ = ["TVGraphRegressor"]

_OF_CONSTANT = 1e-3  # of its size: the scale of a target that has no spread


class TVGraphRegressor(RegressorMixin, GraphEstimator):
    """Predict numbers that belong to whole graphs, with the network and the parameters of `TVGraphClassifier`.

    The loss is the mean squared error of standardised targets plus the losses of the poolings.

    Parameters
    ----------
    pooling, preset, ... :
        As of `TVGraphClassifier`, without ``class_weight``.

    Attributes
    ----------
    target_mean_, target_scale_ : ndarray of shape (n_targets,)
        What the targets were standardised by.
    k_, n_iter_, best_epoch_, loss_history_, ... :
        As of `TVGraphClassifier`.

    Examples
    --------
    >>> from tvgnn import Graph
    >>> cycles = [Graph.from_edges(range(n), [*range(1, n), 0], x=[[1.0]] * n) for n in (4, 6, 8) * 8]
    >>> model = TVGraphRegressor(max_epochs=20, hidden_channels=8, random_state=0)
    >>> model.fit(cycles, [float(graph.num_nodes) for graph in cycles]).predict(cycles[:3]).shape
    (3,)

    """

    def predict(self, graphs: Any) -> npt.NDArray[np.float64]:
        """Predicted numbers, (n_graphs,), or (n_graphs, n_targets) where several were trained."""
        standardised = self._infer(graphs, lambda batch: self.model_(batch)[0])
        values: npt.NDArray[np.float64] = standardised * self.target_scale_ + self.target_mean_
        return values[:, 0] if self._one_target else values

    def score(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Coefficient of determination R^2; y by default what the graphs carry."""
        from sklearn.metrics import r2_score

        check_is_fitted(self)
        checked, targets = self._inputs(graphs, y)
        return float(r2_score(targets, self.predict(checked), sample_weight=sample_weight))

    def described_targets(self) -> dict[str, Any]:
        """See `GraphEstimator.described_targets`."""
        return {
            "mean": self.target_mean_.tolist(),
            "scale": self.target_scale_.tolist(),
            "one_target": self._one_target,
        }

    def restore_targets(self, description: dict[str, Any]) -> int:
        """See `GraphEstimator.restore_targets`."""
        mean, scale = (np.array(description[name], np.float64) for name in ("mean", "scale"))
        if mean.ndim != 1 or mean.shape != scale.shape or not (np.isfinite(mean) & (scale > 0)).all():
            raise ValueError(f"expected finite means and as many scales > 0, got {description}")
        self.target_mean_, self.target_scale_ = mean, scale
        self._one_target = description["one_target"]
        if not isinstance(self._one_target, bool) or (self._one_target and len(mean) != 1):
            raise ValueError(f"expected one_target to be true, for one target, or false, got {self._one_target!r}")
        return len(self.target_mean_)

    def _learn_targets(self, targets: Targets) -> int:
        values = _numbers(targets)
        self._one_target = targets.ndim == 1
        self.target_mean_ = values.mean(0)
        spread = values.std(0)
        size = np.abs(self.target_mean_)
        # Of a constant the network says the mean and some noise, of which little should be left
        constant = _OF_CONSTANT * np.where(size > 0, size, 1.0)
        self.target_scale_ = np.where(spread > 1e-12 * size, spread, constant)
        return int(values.shape[1])

    def _encoded(self, targets: Targets) -> Tensor:
        values = _numbers(targets)
        if values.shape[1] != len(self.target_mean_):
            raise ValueError(f"expected {len(self.target_mean_)} targets a graph, got {values.shape[1]}")
        standardised = (values - self.target_mean_) / self.target_scale_
        return torch.tensor(standardised, dtype=torch.float32, device=self.device_)

    def _task_loss(self, outputs: Tensor, encoded: Tensor) -> Tensor:
        return functional.mse_loss(outputs, encoded)


def _numbers(targets: Targets) -> npt.NDArray[np.float64]:
    """Targets as (n_graphs, n_targets) float64."""
    if targets.ndim > 2 or targets.dtype.kind not in "biuf":
        raise ValueError(f"expected y to be numbers of shape (n_graphs,) or (n_graphs, n_targets), got {targets.dtype}")
    if targets.ndim == 2 and targets.shape[1] == 0:
        raise ValueError("expected at least one target a graph, got y with no columns")
    if targets.dtype.kind == "f" and np.abs(targets).max(initial=0) > np.finfo(np.float32).max:
        raise ValueError("expected targets that float32 can hold, got larger ones; rescale them")
    return targets.reshape(len(targets), -1).astype(np.float64)
