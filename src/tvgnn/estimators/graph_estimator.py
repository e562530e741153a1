"""What the estimators of graph-level tasks share: inputs, the network, its training and inference."""

from __future__ import annotations

import math
import os
import time
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.model_selection import train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from tvgnn.checks import is_integer
from tvgnn.errors import GraphError
from tvgnn.estimators import graph_persistence
from tvgnn.estimators.graph_checks import check_batch_fits, label_columns, pair, without_emptying
from tvgnn.estimators.graph_inputs import ColumnScaling, graph_targets
from tvgnn.estimators.graph_list import as_graphs
from tvgnn.estimators.graph_presets import GRAPH_PRESETS, is_number, resolve_graph_parameters
from tvgnn.graph.collection import GraphBatch, GraphCollection, common_width
from tvgnn.graph.graph import Graph
from tvgnn.graph.weight_scale import trained_scale, weight_scale, with_scaled_weights
from tvgnn.models.graph_network import KEEPING_NODES, POOLINGS, GraphNetwork, GraphNetworkConfig
from tvgnn.ops import select_backend
from tvgnn.ops._backends import resolve_device
from tvgnn.training.batches import BatchTraining, BatchTrainingResult, batches_of_similar_size, train_on_batches
from tvgnn.training.fitting import default_torch, fitting
from tvgnn.training.progress import EpochProgress
from tvgnn.training.seeding import torch_seeded
from tvgnn.training.threads import threads_worth_waking

__all__ = ["GraphEstimator"]

Targets = npt.NDArray[Any]


class GraphEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Base of `TVGraphClassifier` and `TVGraphRegressor`, which say what a target is and what it costs to miss it."""

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
        random_state: Any = None,
        verbose: int = 0,
        backend: str = "auto",
        device: str = "auto",
    ) -> None:
        self.pooling = pooling
        self.preset = preset
        self.num_layers = num_layers
        self.hidden_channels = hidden_channels
        self.act = act
        self.delta_coeff = delta_coeff
        self.mlp_layers = mlp_layers
        self.mlp_channels = mlp_channels
        self.mlp_act = mlp_act
        self.totvar_coeff = totvar_coeff
        self.balance_coeff = balance_coeff
        self.weight_decay = weight_decay
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.ratio = ratio
        self.ratio_of = ratio_of
        self.n_clusters = n_clusters
        self.readout = readout
        self.feature_norm = feature_norm
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.verbose = verbose
        self.backend = backend
        self.device = device

    def fit(self, graphs: Any, y: Any = None, *, validation: tuple[Any, Any] | None = None) -> Self:
        """Train on graphs.

        Parameters
        ----------
        graphs : list of tvgnn.Graph or of torch_geometric Data, a torch or torch_geometric dataset of them, or a Batch
            All with features of the same width; a warning tells where ``edge_attr`` is not used.
        y : array-like of shape (n_graphs,), default=None
            Labels or targets; by default those that the graphs carry (``Graph.label``; ``Data.y`` of shape (), (1,) or,
            for several targets, (1, T)).
        validation : (graphs, y), default=None
            Decides when training stops, y None meaning what the graphs carry. By default ``validation_fraction`` of
            ``graphs`` is held out, drawn class by class by a classifier.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            A parameter is out of range, or labels do not fit the graphs.
        GraphError
            A graph has no features or others than the first; names it by its number.
        TrainingError
            A loss is not finite; names the epoch.

        """
        with fitting(self):
            return self._fit(graphs, y, validation)

    def _fit(self, graphs: Any, y: Any, validation: Any) -> Self:
        start = time.perf_counter()
        if not isinstance(self.pooling, str) or self.pooling not in POOLINGS:
            raise ValueError(f"expected pooling to be one of {', '.join(POOLINGS)}, got {self.pooling!r}")
        given = {name: getattr(self, name) for name in GRAPH_PRESETS["paper"]}
        parameters = resolve_graph_parameters(self.preset, self.pooling, given)
        training = BatchTraining(**_of(BatchTraining, parameters))
        train, targets = self._inputs(graphs, y, warn=True)
        self.label_columns_ = label_columns(train)
        random = check_random_state(self.random_state)
        if validation is None:
            kept, held_out = self._hold_out(targets, random)
            held, held_targets = [train[i] for i in held_out], targets[held_out]
            train, targets = [train[i] for i in kept], targets[kept]
        else:
            held, held_targets = self._inputs(*pair(validation))
            if (width := common_width(held)) != train[0].num_features:
                raise GraphError(f"expected validation graphs with {train[0].num_features} features, got {width}")
            self.label_columns_ = label_columns(held, self.label_columns_)
        self.feature_scaling_ = ColumnScaling.fit(train, self.feature_norm)
        self._weight_scale = weight_scale(*train, about_one=True)
        train_set, held_set = self._collection(train), self._collection(held)
        self.n_features_in_ = train_set.num_features
        outputs = self._learn_targets(targets)
        self.k_ = self._clusters(train_set.sizes)
        self._build_network(parameters, outputs, random, graphs_at_once=min(training.batch_size, len(train)))
        result = self._train(train_set, targets, held_set, held_targets, training, random)
        self.loss_history_, self.validation_loss_history_ = result.loss_history, result.validation_loss_history
        self.n_iter_, self.best_epoch_ = len(result.loss_history), result.best_epoch
        self.stopped_early_ = result.stopped_early
        self.seconds_per_epoch_ = result.seconds_per_epoch
        self._fitted_parameters = self.get_params(deep=False)
        self.fit_seconds_ = time.perf_counter() - start
        return self

    def _build_network(
        self, parameters: dict[str, Any], outputs: int, random: np.random.RandomState, graphs_at_once: int
    ) -> None:
        sizes: dict[str, Any] = (
            {} if self.k_ is None else {"kept" if self.pooling in KEEPING_NODES else "clusters": self.k_}
        )
        config = GraphNetworkConfig(
            self.n_features_in_,
            outputs,
            self.pooling,
            ratio=float(self.ratio),  # Top-K and SAG would take the integer 1 for one node
            readout=self.readout,
            **sizes,
            **_of(GraphNetworkConfig, parameters),
        )
        check_batch_fits(config, graphs_at_once)
        self.device_ = resolve_device(self.device)
        self.backend_ = select_backend(self.backend, self.device_, torch.float32)
        with torch_seeded(int(random.randint(2**31 - 1))):
            self.model_ = GraphNetwork(config, backend=self.backend).to(self.device_)

    def _train(
        self,
        train_set: GraphCollection,
        targets: Targets,
        held_set: GraphCollection,
        held_targets: Targets,
        training: BatchTraining,
        random: np.random.RandomState,
    ) -> BatchTrainingResult:
        held_batches = [
            (held_set.batch(part).to(self.device_), self._encoded(held_targets[part]), len(part))
            for part in batches_of_similar_size(held_set.sizes)
        ]
        encoded = self._encoded(targets)

        def loss_of(numbers: npt.NDArray[np.int64]) -> Tensor:
            return self._objective(train_set.batch(numbers).to(self.device_), encoded[torch.from_numpy(numbers)])

        @torch.no_grad()
        def validation_loss() -> float:
            total = sum(self._objective(batch, y).item() * size for batch, y, size in held_batches)
            return float(total) / len(held_set)

        numbers_in_a_layer = training.batch_size * train_set.sizes.mean() * self.model_.config.hidden_channels
        with (
            threads_worth_waking(numbers_in_a_layer),
            EpochProgress(training.max_epochs, self.pooling, shown=bool(self.verbose)) as progress,
        ):
            return train_on_batches(
                self.model_,
                loss_of,
                validation_loss,
                np.arange(len(train_set)),
                training,
                np.random.default_rng(int(random.randint(2**31 - 1))),
                progress.update,
                undecayed=self.model_.undecayed_parameters(),
            )

    def transform(self, graphs: Any) -> npt.NDArray[np.float32]:
        """Embedding of each graph: the mean of the last layer's features over its pooled nodes.

        Returns
        -------
        ndarray of shape (n_graphs, hidden_channels), float32

        """
        return self._infer(graphs, lambda batch: self.model_.embed(batch)[0])

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write ``model.safetensors`` and ``model.json`` into a folder; the training graphs are not among them.

        Parameters are those of the fit, whatever ``set_params`` has changed since.
        """
        check_is_fitted(self)
        with default_torch():
            graph_persistence.save(self, folder)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; runs no code from the files.

        Raises
        ------
        DataError
            A file is missing, damaged or of another estimator.

        """
        return graph_persistence.load(cls, folder)

    @property
    def _n_features_out(self) -> int:
        return self.model_.config.hidden_channels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.target_tags.required = False  # graphs can carry their labels
        return tags

    @abstractmethod
    def described_targets(self) -> dict[str, Any]:
        """What `restore_targets` needs, as plain values."""

    @abstractmethod
    def restore_targets(self, description: dict[str, Any]) -> int:
        """Take back what `described_targets` gave and return the number of the network's outputs."""

    @abstractmethod
    def _learn_targets(self, targets: Targets) -> int:
        """Learn what targets look like and return the number of the network's outputs."""

    @abstractmethod
    def _encoded(self, targets: Targets) -> Tensor:
        """Targets as the network's loss takes them, on the device."""

    @abstractmethod
    def _task_loss(self, outputs: Tensor, encoded: Tensor) -> Tensor:
        """Mean loss of outputs (B, out_channels), scalar."""

    def _strata(self, targets: Targets) -> Targets | None:
        """Groups to draw the validation part from evenly, or None."""
        return None

    def _objective(self, batch: GraphBatch, encoded: Tensor) -> Tensor:
        outputs, losses = self.model_(batch)
        return torch.stack([self._task_loss(outputs, encoded), *losses.values()]).sum()

    def _inputs(self, graphs: Any, y: Any, *, warn: bool = False) -> tuple[list[Graph], Targets]:
        checked = as_graphs(graphs, warn=warn)
        common_width(checked)  # before a part is held out, so that an error names a graph by the caller's number
        return checked, graph_targets(checked, y)

    def _hold_out(self, targets: Targets, random: np.random.RandomState) -> tuple[Targets, Targets]:
        if not is_number(self.validation_fraction) or not 0 < self.validation_fraction < 1:
            raise ValueError(f"expected validation_fraction between 0 and 1, got {self.validation_fraction!r}")
        if len(targets) < 2:
            raise ValueError(f"expected at least 2 graphs, of which one is held out, got {len(targets)}")
        strata = self._strata(targets)
        share = max(1, math.ceil(self.validation_fraction * len(targets)))
        numbers = np.arange(len(targets))
        if strata is not None:
            codes, counts = np.unique(strata, return_inverse=True, return_counts=True)[1:]
            if counts.min() < 2 or share < len(counts) or len(targets) - share < len(counts):
                return without_emptying(codes, counts, share, random)
        kept, held_out = train_test_split(numbers, test_size=share, random_state=random, stratify=strata)
        return kept, held_out

    def _clusters(self, sizes: npt.NDArray[np.int64]) -> tuple[int, int] | None:
        """Clusters of the two poolings, or nodes that they keep; None where these are a part of each graph's own."""
        if not is_number(self.ratio) or not 0 < self.ratio <= 1:
            raise ValueError(f"expected ratio to be a number in (0, 1], got {self.ratio!r}")
        if self.n_clusters is not None:
            asked: Any = self.n_clusters
            pair = (asked, asked) if not isinstance(asked, list | tuple | np.ndarray) else tuple(asked)
            if len(pair) != 2 or not all(is_integer(k, 1) for k in pair):
                raise ValueError(f"expected n_clusters to be an integer >= 1 or a pair of them, got {asked!r}")
            return int(pair[0]), int(pair[1])
        if self.ratio_of not in ("mean", "max"):
            raise ValueError(f"expected ratio_of to be 'mean' or 'max', got {self.ratio_of!r}")
        if self.pooling in KEEPING_NODES:
            if self.ratio_of != "mean":
                raise ValueError(
                    f"expected ratio_of to be left out with pooling {self.pooling!r}, which keeps a part of each "
                    f"graph's own nodes, got {self.ratio_of!r}; pass n_clusters for as many nodes of every graph"
                )
            return None
        nodes = sizes.mean() if self.ratio_of == "mean" else sizes.max()
        first = max(1, math.ceil(self.ratio * nodes))
        return first, max(1, math.ceil(self.ratio * first))

    def _collection(self, graphs: list[Graph]) -> GraphCollection:
        """Graphs as the network reads them; beside weighted ones edges without weights count as 1."""
        scale = trained_scale(self)
        if scale != 1:
            graphs = [with_scaled_weights(replace(graph, is_weighted=True), scale) for graph in graphs]
        return GraphCollection(graphs, self.feature_scaling_.preparation)

    @default_torch()
    @torch.no_grad()
    def _infer(self, graphs: Any, compute: Any) -> npt.NDArray[np.float32]:
        """Rows that ``compute`` gives for a batch, in the order of ``graphs``."""
        check_is_fitted(self)
        checked = as_graphs(graphs)
        width = common_width(checked)
        if width != self.n_features_in_:
            raise GraphError(f"expected graphs with {self.n_features_in_} features, got {width}")
        label_columns(checked, self.label_columns_)
        collection = self._collection(checked)
        rows: npt.NDArray[np.float32] | None = None
        for part in batches_of_similar_size(collection.sizes):
            found = compute(collection.batch(part).to(self.device_)).cpu().numpy()
            if rows is None:
                rows = np.empty((len(checked), found.shape[1]), np.float32)
            rows[part] = found
        if rows is not None and not np.isfinite(rows).all():
            number = int(np.argwhere(~np.isfinite(rows))[0, 0])
            raise GraphError(
                f"expected finite results, got {rows[number]} for graph {number}, whose features or weights are too "
                "large; rescale them as those of the training graphs"
            )
        return rows if rows is not None else np.empty((0, 0), np.float32)


def _of(kind: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters that a dataclass has fields for."""
    return {name: value for name, value in parameters.items() if name in kind.__dataclass_fields__}
