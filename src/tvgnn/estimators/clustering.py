"""TVClustering: the clustering model behind scikit-learn's interface."""

from __future__ import annotations

import os
import sys
import time
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tvgnn.estimators import persistence
from tvgnn.estimators.filling import check_empty_clusters
from tvgnn.estimators.given_edges import warn_of_given_edges
from tvgnn.estimators.inference import infer, store_results
from tvgnn.estimators.inputs import (
    checked_rows,
    given_graph,
    neighbor_settings,
    refuse_adjacency_as_labels,
    refuse_graph_making,
)
from tvgnn.estimators.plans import expected_bytes, prepare, train_network
from tvgnn.estimators.presets import SETTINGS, check_options, positive_integer, resolve_parameters
from tvgnn.graph.features import StructuralKind
from tvgnn.graph.graph import Graph
from tvgnn.graph.knn.join import with_neighbor_edges
from tvgnn.graph.row_labels import matrix_in_order, row_labels
from tvgnn.graph.weight_scale import weight_scale, with_scaled_weights
from tvgnn.ops import select_backend
from tvgnn.ops._backends import resolve_device
from tvgnn.training.fitting import default_torch, fitting
from tvgnn.training.memory_estimate import check_memory, parse_bytes, readable

__all__ = ["TVClustering"]


class TVClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Cluster the nodes of an attributed graph into sharp, balanced clusters.

    Trains the vertex-clustering network of Hansen & Bianchi (ICML 2023) without labels. Each parameter whose default
    is None takes the preset's value, for ``"paper"`` the one in brackets; docs/quality.md has those of ``"quality"``.

    Parameters
    ----------
    n_clusters : int, default=8
        K, an upper bound: some clusters may stay empty, see ``n_clusters_found_`` and ``empty_clusters``.
    preset : str, default="paper"
        Named settings: ``"paper"``; ``"quality"``, an encoder in closed form before the paper's loss, which most data
        should try first; ``"quick"``, narrow networks; ``"released"``, the network of the authors' PyTorch script.
    max_iter : int, default=None (10000)
        Largest number of epochs.
    patience : int, default=None (100)
        Epochs without an improvement of the loss by more than ``tol`` before training stops.
    tol : float, default=None (1e-5)
        Decrease of the loss that counts as an improvement.
    n_init : int, default=None (1)
        Restarts from other initial weights; the one of the lowest loss is kept, with ``"quality"`` all are joined.
    hidden_channels : int, default=None (512)
        Width of the GTVConv layers.
    num_layers : int, default=None (2)
        Number of GTVConv layers.
    mlp_channels : int, default=None (256)
        Width of the hidden layer before the assignments, 0 for none.
    delta_coeff : float, default=None (0.311)
        Step size of GTVConv, the paper's ``2 * delta``.
    totvar_coeff, balance_coeff : float, default=None (0.785, 0.514)
        Weights of the total variation and the balance loss, the paper's alpha_1 and alpha_2.
    rho : float, default=None (K - 1)
        Asymmetry of the balance loss; other values ask for uneven clusters.
    learning_rate : float, default=None (1e-3)
        Of Adam.
    batch_size : int, default=None
        With ``"quality"`` on a graph of more nodes: train on random batches of so many nodes and their neighbours, in
        less memory, and less time on a million nodes. None trains on the whole graph.
    random_state : int, RandomState or None, default=None
        Seeds the initial weights. The same seed on the same machine gives the same result.
    empty_clusters : {"keep", "split"}, default="keep"
        ``"split"`` fills empty clusters by splitting others, with a warning.
    verbose : int, default=0
        1 states the estimated memory and shows a progress line, on a terminal only.
    n_neighbors : int, default=15
        Neighbours in the graph of scaled rows that is built when no adjacency is given, and of new rows in `predict`.
    metric : str, default="euclidean"
        What is near there: ``"euclidean"``, ``"cosine"``, or another one of `tvgnn.Graph.from_features`.
    mutual, connect : bool, default=False
        Keep edges only where both rows choose each other; join components by a minimum spanning tree. See there.
    knn_weights : {"connectivity", "heat_kernel"}, default="connectivity"
        Weights of those edges, see there. These three are refused where a graph is given.
    features : {"spectral", "degree", "ones"}, default=None
        Features computed from a graph that has none, see `tvgnn.Graph.with_structural_features`; spectral ones have a
        column for each cluster or more.
    backend : str, default="auto"
        See `tvgnn.select_backend`.
    device : str, default="auto"
        A torch device; ``"auto"`` takes a GPU where there is one.
    feature_norm : {"auto", "l1", "l2", "standardize", "common-scale", None}, default="auto"
        Rows divided by their L1 or L2 norm, or columns standardised, or centred and all divided by one number.
        ``"auto"`` takes ``"l1"`` where features are non-negative and mostly zero (bags of words),
        ``"common-scale"`` for scores on principal components, else ``"standardize"``. ``preset="quality"`` has further
        steps, see `FeaturePreparation`.
    precision : {"float32", "bfloat16"}, default="float32"
        ``"bfloat16"`` rounds what enters dense products, which are summed in float32: faster where the processor or
        GPU multiplies bfloat16 faster, with slightly different results. Not with ``preset="quality"``.
    memory : {"normal", "low"}, default="normal"
        ``"low"`` computes activations again instead of keeping them, and gives memory back after every epoch: slower.
        Not with ``preset="quality"``, which keeps none.
    max_memory : str or int, default=None
        Refuse to train where the estimate ``estimated_bytes_`` is larger: a size such as ``"8GB"``, or bytes. A graph
        that would take more in `predict` or `transform` is read in pieces, which changes results by rounding only;
        ``MemoryLimitError`` where pieces that fit would read each node too often.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,), int64
        Cluster of each node, numbered by size, the largest first; equal sizes by their first node.
    assignments_ : ndarray of shape (n_samples, n_clusters), float32
        Soft assignments, rows sum to 1.
    embedding_ : ndarray of shape (n_samples, hidden_channels), float32; with ``"quality"`` up to three times as wide
        Output of the last GTVConv.
    n_clusters_found_ : int
        Clusters in use.
    loss_, loss_terms_, loss_history_ : float, dict, list of float
        Loss of the kept state; its terms ``total_variation`` and ``balance`` without their weights; loss by epoch.
    n_iter_, converged_ : int, bool
        Epochs run, and whether patience rather than ``max_iter`` ended them.
    feature_norm_, choices_ : str or None, dict
        The scaling that was chosen, and what else the data chose.
    fit_seconds_, ms_per_epoch_ : float
        Time of `fit`, and of one epoch.
    backend_, device_ : str
        What ran.
    estimated_bytes_ : int
        Peak memory that training was expected to add to the process.
    graph_ : tvgnn.Graph
        The training graph.
    model_ : NodeClusteringModel
        The trained network.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import block_diag
    >>> cliques = block_diag([np.ones((5, 5)), np.ones((5, 5))])
    >>> x = np.repeat([[0.0, 1.0], [1.0, 0.0]], 5, axis=0)
    >>> model = TVClustering(2, max_iter=50, hidden_channels=8, mlp_channels=8, random_state=0)
    >>> model.fit_predict(x, adjacency=cliques).tolist()
    [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]

    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        preset: str = "paper",
        max_iter: int | None = None,
        patience: int | None = None,
        tol: float | None = None,
        n_init: int | None = None,
        hidden_channels: int | None = None,
        num_layers: int | None = None,
        mlp_channels: int | None = None,
        delta_coeff: float | None = None,
        totvar_coeff: float | None = None,
        balance_coeff: float | None = None,
        rho: float | None = None,
        learning_rate: float | None = None,
        batch_size: int | None = None,
        random_state: Any = None,
        empty_clusters: str = "keep",
        verbose: int = 0,
        n_neighbors: int = 15,
        metric: str = "euclidean",
        mutual: bool = False,
        knn_weights: str = "connectivity",
        connect: bool = False,
        features: StructuralKind | None = None,
        backend: str = "auto",
        device: str = "auto",
        feature_norm: str | None = "auto",
        precision: str = "float32",
        memory: str = "normal",
        max_memory: str | int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.preset = preset
        self.max_iter = max_iter
        self.patience = patience
        self.tol = tol
        self.n_init = n_init
        self.hidden_channels = hidden_channels
        self.num_layers = num_layers
        self.mlp_channels = mlp_channels
        self.delta_coeff = delta_coeff
        self.totvar_coeff = totvar_coeff
        self.balance_coeff = balance_coeff
        self.rho = rho
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.random_state = random_state
        self.empty_clusters = empty_clusters
        self.verbose = verbose
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.mutual = mutual
        self.knn_weights = knn_weights
        self.connect = connect
        self.features = features
        self.backend = backend
        self.device = device
        self.feature_norm = feature_norm
        self.precision = precision
        self.memory = memory
        self.max_memory = max_memory

    def fit(self, X: Any, y: Any = None, *, adjacency: Any = None) -> Self:
        """Train on a graph; where this fails or is interrupted, what an earlier fit left stays whole.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or tvgnn.Graph
            Features, or a graph that carries them or for which ``features`` chooses; None with an adjacency alone.
        y : ignored
            Labels are never looked at; a matrix that is an adjacency is refused.
        adjacency : sparse matrix or array of shape (n_samples, n_samples), default=None
            Weights of the edges; made symmetric. Where X and this are data frames whose index has the same labels in
            another order, it is put into that of X. Without it each row is joined to its ``n_neighbors`` nearest.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            A parameter is out of range or has no effect with this preset or input, ``n_clusters > n_samples``, X and
            adjacency do not fit, or an adjacency is given as y.
        GraphError
            X holds no features or is not valid; names the row or edge.
        TrainingError
            The loss is not finite; names the epoch and the likely cause.
        MemoryLimitError
            Training is estimated to need more than ``max_memory``.

        Warns
        -----
        ClusteringWarning
            Fewer clusters than asked for are in use; a graph that is given has no edges, or weights that look like
            distances; or ``"quality"`` left the edges aside, which say nothing about the features, or knows nothing of
            some nodes, from which no edges lead to any features.

        """
        refuse_adjacency_as_labels(y)
        with fitting(self):
            return self._fit(X, adjacency)

    def _fit(self, X: Any, adjacency: Any) -> Self:
        start = time.perf_counter()
        parameters = resolve_parameters(self.preset, {name: getattr(self, name) for name in SETTINGS})
        check_options(self.preset, memory=self.memory, precision=self.precision)
        check_empty_clusters(self.empty_clusters)
        neighbors = neighbor_settings(self.get_params(deep=False))
        if adjacency is not None or X is None or isinstance(X, Graph):
            refuse_graph_making(self.get_params(deep=False))
        limit = parse_bytes(self.max_memory)
        graph = self._graph(X, adjacency)
        self._check_n_clusters(graph.num_nodes)
        self.feature_scaling_ = prepare(self.preset, graph, self.feature_norm)
        self.feature_norm_ = self.feature_scaling_.kind
        if adjacency is None and not isinstance(X, Graph):
            graph = with_neighbor_edges(graph, self.feature_scaling_.transform(graph.x), neighbors)
        else:
            warn_of_given_edges(graph, self.feature_scaling_.transform)
        k = int(self.n_clusters)
        self.estimated_bytes_ = expected_bytes(self.preset, graph, k, parameters, self.memory, self.precision)
        check_memory(self.estimated_bytes_, limit, self.memory, encoded=self.preset == "quality")
        if self.verbose and sys.stderr is not None and sys.stderr.isatty():  # as the progress line
            print(f"estimated memory of training: {readable(self.estimated_bytes_)}", file=sys.stderr)
        self.graph_, self._weight_scale = graph, weight_scale(graph, about_one=self.preset != "quality")
        self.device_ = resolve_device(self.device)
        self.backend_ = select_backend(self.backend, self.device_, torch.float32)
        self.model_, inputs, result, self.choices_ = train_network(
            self.preset,
            with_scaled_weights(graph, self._weight_scale),
            self.feature_scaling_.transform(graph.x),
            k,
            parameters,
            free_layers=self.num_layers is None,
            random_state=self.random_state,
            device=self.device_,
            verbose=bool(self.verbose),
            backend=self.backend,
            memory=self.memory,
            precision=self.precision,
        )
        store_results(self, inputs, result)
        self._fitted_parameters = self.get_params(deep=False)
        self.fit_seconds_ = time.perf_counter() - start
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each row, or of each node of a graph.

        A row that equals a training row gets that row's stored result, bit for bit (the first of equal ones). Any
        other row is attached one-way to its ``n_neighbors`` nearest training rows, so that a result never depends on
        the other rows passed. A `tvgnn.Graph` is run through the trained network.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features), or tvgnn.Graph

        Returns
        -------
        ndarray of shape (n_rows,), int64

        """
        return infer(self, X, "labels")

    def transform(self, X: Any) -> np.ndarray:
        """Embedding of each row, or of each node of a graph: the output of the last GTVConv; see `predict`.

        Returns
        -------
        ndarray of shape (n_rows, hidden_channels), float32

        """
        return infer(self, X, "embedding")

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Fit and return ``labels_``."""
        return self.fit(X, y, **fit_params).labels_

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Fit and return ``embedding_``."""
        return self.fit(X, y, **fit_params).embedding_

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write ``model.safetensors`` and ``model.json`` into a folder, the training graph included.

        Parameters are those of the fit, whatever ``set_params`` has changed since, but for those that join rows.

        Warns
        -----
        UserWarning
            Ids of nodes or names of classes are neither numbers nor text nor tuples of them, and are not kept.

        """
        check_is_fitted(self)
        with default_torch():
            persistence.save(self, folder)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; runs no code from the files.

        Raises
        ------
        DataError
            A file is missing or damaged.

        """
        return persistence.load(cls, folder)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]  # the network computes in float32
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def _check_n_clusters(self, n_samples: int) -> None:
        if positive_integer("n_clusters", self.n_clusters) > n_samples:
            raise ValueError(
                f"expected n_clusters <= n_samples, got n_clusters={self.n_clusters} and n_samples={n_samples}; "
                "ask for fewer clusters"
            )

    def _graph(self, X: Any, adjacency: Any) -> Graph:
        graph = given_graph(X, adjacency, self.features, positive_integer("n_clusters", self.n_clusters))
        if graph is not None:
            self.n_features_in_ = graph.num_features
            if hasattr(self, "feature_names_in_"):  # of an earlier fit on a data frame
                del self.feature_names_in_
            return graph
        x = checked_rows(self, X, reset=True)
        self._check_n_clusters(x.shape[0])
        if adjacency is None:
            return Graph.from_edge_index(np.empty((2, 0), np.int64), x=x)
        return Graph.from_scipy(matrix_in_order(adjacency, row_labels(X)), x=x)
