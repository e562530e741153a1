"""TVGraphClassifier: the hierarchical network behind scikit-learn's interface for classes of whole graphs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor
from torch.nn import functional

from tvgnn.estimators.graph_estimator import GraphEstimator, Targets
from tvgnn.estimators.graph_presets import is_number

__all__ = ["TVGraphClassifier"]


class TVGraphClassifier(ClassifierMixin, GraphEstimator):
    """Classify graphs with pooling by total variation, or by one of five other methods.

    Trains the hierarchical network of Hansen & Bianchi (ICML 2023, fig. 3b): message passing and pooling twice, message
    passing, mean, linear layer; cross-entropy plus the losses of the poolings. Each parameter whose default is None
    takes the preset's value, for ``"paper"`` the one in brackets.

    Parameters
    ----------
    pooling : {"tvgnn", "mincut", "dmon", "diffpool", "topk", "sag"}, default="tvgnn"
        Method of pooling. ``"tvgnn"`` passes messages by GTVConv, the others by the convolution of Kipf & Welling.
    preset : str, default="paper"
        Named settings: ``"mutag"``, ``"mutagenicity"``, ``"nci1"``, ``"proteins"``, ``"dd"``, ``"collab"``,
        ``"reddit-binary"``, ``"bench-easy"``, ``"bench-hard"`` are the paper's for that dataset, ``"paper"`` those of
        ``"proteins"``.
    num_layers : int, default=None (3)
        Message-passing layers in each of the three blocks.
    hidden_channels : int, default=None (64)
        Their width.
    act : str, default=None ("elu")
        Their activation, a name of ``torch.nn.functional``.
    delta_coeff : float, default=None (2.073)
        Step size of GTVConv, the paper's ``2 * delta``.
    mlp_layers, mlp_channels, mlp_act : int, int, str, default=None (1, 16, "elu")
        Hidden layers of the MLP that gives the assignments.
    totvar_coeff, balance_coeff : float, default=None (0.985, 0.751)
        Weights of the total variation and the balance loss, the paper's alpha_1 and alpha_2.
    weight_decay : float, default=None (1e-3)
        Weight of the squared norm of the weight matrices in Adam's gradient.
    learning_rate : float, default=None (1e-3)
        Of Adam.
    batch_size : int, default=None (8)
        Graphs of a batch; 1 by default for ``"topk"`` and ``"sag"``.
    max_epochs : int, default=None (500)
        Largest number of epochs.
    patience : int, default=None (20)
        Epochs without a lower validation loss before training stops.
    ratio : float, default=0.5
        Clusters of the first pooling as a part of the nodes, those of the second as a part of the first's, rounded up.
        ``"topk"`` and ``"sag"`` keep this part of each graph's own nodes.
    ratio_of : {"mean", "max"}, default="mean"
        Which number of nodes of the training graphs ``ratio`` refers to; the released scripts take the largest. Not of
        ``"topk"`` and ``"sag"``.
    n_clusters : int or pair of int, default=None
        Clusters of the two poolings, instead of ``ratio``; for ``"topk"`` and ``"sag"`` the nodes that they keep of
        every graph, all where it has no more.
    readout : {"linear", "mlp"}, default="linear"
        What follows the mean; ``"mlp"`` has hidden layers as in the pooling.
    feature_norm : {"auto", None}, default="auto"
        ``"auto"`` standardises columns that hold other numbers than 0 and 1.
    validation_fraction : float, default=0.1
        Part of the training graphs that decides when to stop.
    class_weight : dict or "balanced", default=None
        Weights of the classes in the cross-entropy.
    random_state : int, RandomState or None, default=None
        Seeds the held-out part, the initial weights and the shuffling.
    verbose : int, default=0
        1 shows a progress line, on a terminal only.
    backend, device : str, default="auto"
        See `tvgnn.select_backend`; a torch device, ``"auto"`` takes a GPU where there is one.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    k_ : (int, int) or None
        Clusters of the two poolings, or nodes that they keep; None where ``"topk"`` and ``"sag"`` keep a part.
    n_iter_, best_epoch_, stopped_early_ : int, int, bool
        Epochs run, the one that was kept, and whether patience rather than ``max_epochs`` ended training.
    loss_history_, validation_loss_history_ : list of float
        Loss by epoch, poolings included.
    fit_seconds_, seconds_per_epoch_ : float
        Time of `fit`, and the median over the epochs, validation included.
    feature_scaling_ : ColumnScaling
        What was done to the features.
    backend_, device_ : str
        What ran.
    model_ : GraphNetwork
        The trained network.
    n_features_in_ : int
        Number of features.
    label_columns_ : str or None
        Values of one-hot node labels as `tvgnn.datasets.read_tu_folder` notes them, such as ``"0 to 6"``; graphs with
        other ones are refused.

    Examples
    --------
    >>> from tvgnn import Graph
    >>> triangle, path = [[0, 1, 2], [1, 2, 0]], [[0, 1], [1, 2]]
    >>> graphs = [Graph.from_edges(*edges, x=[[1.0], [1.0], [1.0]]) for edges in (triangle, path) * 10]
    >>> graphs = [graph.with_structural_features("degree", 4) for graph in graphs]
    >>> model = TVGraphClassifier(max_epochs=30, hidden_channels=8, random_state=0).fit(graphs, ["ring", "line"] * 10)
    >>> model.predict(graphs[:2]).tolist()
    ['ring', 'line']

    """

    def __init__(
        self,
        pooling: str = "tvgnn",
        *,
        preset: str = "paper",
        num_layers: int | None = None,
        hidden_channels: int | None = None,
        act: str | None = None,
        delta_coeff: float | None = None,
        mlp_layers: int | None = None,
        mlp_channels: int | None = None,
        mlp_act: str | None = None,
        totvar_coeff: float | None = None,
        balance_coeff: float | None = None,
        weight_decay: float | None = None,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        max_epochs: int | None = None,
        patience: int | None = None,
        ratio: float = 0.5,
        ratio_of: str = "mean",
        n_clusters: int | tuple[int, int] | None = None,
        readout: str = "linear",
        feature_norm: str | None = "auto",
        validation_fraction: float = 0.1,
        class_weight: dict[Any, float] | str | None = None,
        random_state: Any = None,
        verbose: int = 0,
        backend: str = "auto",
        device: str = "auto",
    ) -> None:
        super().__init__(
            pooling,
            preset=preset,
            num_layers=num_layers,
            hidden_channels=hidden_channels,
            act=act,
            delta_coeff=delta_coeff,
            mlp_layers=mlp_layers,
            mlp_channels=mlp_channels,
            mlp_act=mlp_act,
            totvar_coeff=totvar_coeff,
            balance_coeff=balance_coeff,
            weight_decay=weight_decay,
            learning_rate=learning_rate,
            batch_size=batch_size,
            max_epochs=max_epochs,
            patience=patience,
            ratio=ratio,
            ratio_of=ratio_of,
            n_clusters=n_clusters,
            readout=readout,
            feature_norm=feature_norm,
            validation_fraction=validation_fraction,
            random_state=random_state,
            verbose=verbose,
            backend=backend,
            device=device,
        )
        self.class_weight = class_weight

    _class_weights: Tensor | None = None

    def predict(self, graphs: Any) -> npt.NDArray[Any]:
        """Most probable class of each graph, (n_graphs,)."""
        best = self.predict_proba(graphs).argmax(1)
        return self.classes_[best]

    def predict_proba(self, graphs: Any) -> npt.NDArray[np.float32]:
        """Probability of each class, (n_graphs, n_classes), in the order of ``classes_``; rows sum to 1."""
        return self._infer(graphs, lambda batch: torch.softmax(self.model_(batch)[0], dim=1))

    def score(self, graphs: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy; y by default what the graphs carry."""
        from sklearn.metrics import accuracy_score

        check_is_fitted(self)
        checked, targets = self._inputs(graphs, y)
        _check_one_each(targets)
        self._check_kind(targets)
        correct = targets == self.predict(checked)  # scikit-learn would refuse classes such as 0.5
        return float(accuracy_score(np.ones_like(correct), correct, sample_weight=sample_weight))

    def described_targets(self) -> dict[str, Any]:
        """See `GraphEstimator.described_targets`."""
        return {"classes": self.classes_.tolist(), "dtype": self.classes_.dtype.str}

    def restore_targets(self, description: dict[str, Any]) -> int:
        """See `GraphEstimator.restore_targets`."""
        classes = np.asarray(description["classes"], np.dtype(description.get("dtype")))
        if classes.ndim != 1 or classes.dtype.kind not in "biufU" or not np.array_equal(classes, np.unique(classes)):
            raise ValueError(f"expected classes in order, each once, got {description['classes']}")
        if classes.tolist() != description["classes"]:
            raise ValueError(f"expected classes of one kind, got {description['classes']}")
        self.classes_ = classes
        return len(classes)

    def _learn_targets(self, targets: Targets) -> int:
        _check_one_each(targets)
        self.classes_ = np.unique(targets)
        if len(self.classes_) < 2:
            raise ValueError(f"expected at least 2 classes among the training graphs, got {self.classes_.tolist()}")
        self._class_weights = _class_weights(self.class_weight, self.classes_, targets)
        return len(self.classes_)

    def _encoded(self, targets: Targets) -> Tensor:
        _check_one_each(targets)
        self._check_kind(targets)
        unknown = targets[~np.isin(targets, self.classes_)]
        if unknown.size:
            raise ValueError(f"expected classes of the training graphs, got {unknown[0].item()!r} among the others")
        return torch.from_numpy(np.searchsorted(self.classes_, targets)).to(self.device_)

    def _task_loss(self, outputs: Tensor, encoded: Tensor) -> Tensor:
        if self._class_weights is None:
            return functional.cross_entropy(outputs, encoded)
        weights = self._class_weights.to(outputs.device)
        # divided by the number of graphs, not by their weights: a batch is the mean of its graphs
        return functional.cross_entropy(outputs, encoded, weights, reduction="sum") / len(encoded)

    def _strata(self, targets: Targets) -> Targets:
        _check_one_each(targets)
        return targets

    def _check_kind(self, targets: Targets) -> None:
        if (targets.dtype.kind == "U") != (self.classes_.dtype.kind == "U"):
            raise ValueError(
                f"expected classes of the training graphs, such as {self.classes_[0].item()!r}, got "
                f"{targets[0].item()!r} among the others"
            )


def _check_one_each(targets: Targets) -> None:
    if targets.ndim != 1:
        several = f", as of Data.y of shape (1, {targets.shape[1]})" if targets.ndim == 2 else ""
        raise ValueError(
            f"expected one class a graph, got y of shape {targets.shape}{several}; of one-hot classes pass "
            "the position of the 1, y.argmax(-1)"
        )


def _class_weights(given: Any, classes: Targets, targets: Targets) -> Tensor | None:
    """Weight of each class, None where all count alike; a class that a dict leaves out weighs 1."""
    if given is None:
        return None
    if isinstance(given, str) and given == "balanced":
        counts = np.array([np.count_nonzero(targets == one) for one in classes])
        return torch.tensor(len(targets) / (len(classes) * counts), dtype=torch.float32)
    if not isinstance(given, dict):
        raise ValueError(f"expected class_weight to be a dict, 'balanced' or None, got {given!r}")
    names = classes.tolist()
    if any(name not in given for name in names) and (unknown := [key for key in given if key not in names]):
        raise ValueError(f"expected class_weight to weigh the classes {names[:10]}, got {unknown[0]!r}, which is none")
    weights = [given.get(name, 1.0) for name in names]
    for name, weight in zip(names, weights, strict=True):
        if not is_number(weight) or not 0 <= weight < math.inf:
            raise ValueError(f"expected class_weight to hold numbers >= 0, got {weight!r} for class {name!r}")
    if not any(weights):
        raise ValueError("expected class_weight to give some class a weight above 0, got 0 for all")
    return torch.tensor([float(weight) for weight in weights])
