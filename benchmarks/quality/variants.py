"""The recipe, the recipe with one part replaced, and the presets beside it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score

from benchmarks.quality.graphs import Problem
from benchmarks.quality.others import OTHERS, labels_of
from benchmarks.quality.rows import joined
from tvgnn import TVClustering
from tvgnn.errors import ClusteringWarning
from tvgnn.estimators import plans
from tvgnn.estimators.quality import (
    candidates,
    combination,
    counted_edges,
    edge_use,
    edges,
    inputs,
    missing,
    preparation,
    recipe,
    runs,
)
from tvgnn.estimators.quality.preparation import FeaturePreparation
from tvgnn.metrics import evaluate
from tvgnn.models import smoothed_clustering

__all__ = ["VARIANTS", "fitted", "measured"]

_AVERAGES = 1e9  # a threshold beyond every distance: a GTV step is then the mean over a node and its neighbours
_ONE_RUN = {"preset": "quality", "n_init": 1}


def _unweighted(z: np.ndarray, ratios: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return _weights(z, np.ones_like(ratios))


def _kmeans_only(*arguments: Any, **options: Any) -> Any:
    return _refine(*arguments, **options | {"max_iter": 0})


def _central(log_probabilities: Sequence[np.ndarray]) -> tuple[np.ndarray, float]:
    partitions = [scores.argmax(1) for scores in log_probabilities]
    agreement = [sum(adjusted_rand_score(one, other) for other in partitions) for one in partitions]
    return partitions[int(np.argmax(agreement))], 1.0


def _fitted_once(head: Any, views: Sequence[np.ndarray], labels: np.ndarray) -> np.ndarray:
    return _discriminant(head, views, labels, rounds=1)


def _no_heavy_tails(x: Any) -> np.ndarray:
    return np.zeros(x.shape[1], bool)


@contextmanager
def _bags_and_measurements_only() -> Iterator[None]:
    """Know no shares, intensities, categories, counts of one unit, amounts or heavy tails; counts are of words."""

    def steps(x: Any) -> tuple[str, ...]:
        return tuple("idf" if step == "smooth-idf" else step for step in _choose_steps(x))

    with ExitStack() as stack:
        for name in ("are_shares", "are_amounts", "are_intensities", "are_mixed", "are_counts", "are_log_counts"):
            stack.enter_context(patch.object(preparation, name, lambda _: False))
        stack.enter_context(patch.object(preparation, "choose_steps", steps))
        stack.enter_context(patch.object(preparation, "heavy_tailed", _no_heavy_tails))
        yield


@contextmanager
def _no_shares_and_amounts() -> Iterator[None]:
    with (
        patch.object(preparation, "are_shares", lambda _: False),
        patch.object(preparation, "are_amounts", lambda _: False),
    ):
        yield


@contextmanager
def _dense_as_others() -> Iterator[None]:
    """Take matrices of similarities for networks, and common neighbours in dense networks for triangles."""
    with (
        patch.object(counted_edges, "is_similarity_matrix", lambda _: False),
        patch.object(edges, "_lost_when_rewired", lambda *_: 1.0),
    ):
        yield


@contextmanager
def _zeros_for_missing_features() -> Iterator[None]:
    with ExitStack() as stack:
        for module in (preparation, missing):
            stack.enter_context(patch.object(module, "known_rows", lambda x: np.ones(x.shape[0], bool)))
        every_row = patch.object(smoothed_clustering, "rows_with_features", lambda x: torch.ones(x.shape[0]).bool())
        stack.enter_context(every_row)
        yield


@contextmanager
def _origin_unknown() -> Iterator[None]:
    """Take eigenvectors of the edges and one-hot degrees for features like others."""
    with (
        patch.object(recipe, "origin_of_features", lambda *_: None),
        patch.object(plans, "are_one_hot_degrees", lambda _: False),
    ):
        yield


# as they are before a variant replaces them
_weights, _refine, _discriminant = candidates._weights, runs.refine, combination.set_discriminant
_choose_steps = preparation.choose_steps


class Variant(NamedTuple):
    """Options of `TVClustering`, and what replaces a part while it fits."""

    options: dict[str, Any]
    replaced: Callable[[], AbstractContextManager[Any]] = nullcontext


VARIANTS = {
    "recipe": Variant({"preset": "quality"}),
    "one run": Variant(_ONE_RUN),
    "means (GCN) for GTV steps": Variant(
        _ONE_RUN, lambda: patch.object(candidates, "_mean_distance", lambda *_: _AVERAGES)
    ),
    "columns not weighed": Variant(_ONE_RUN, lambda: patch.object(candidates, "_weights", _unweighted)),
    "without refinement": Variant(_ONE_RUN, lambda: patch.object(runs, "refine", _kmeans_only)),
    "central partition for the product": Variant(_ONE_RUN, lambda: patch.object(recipe, "agreed_labels", _central)),
    "self weight 1": Variant(_ONE_RUN, lambda: patch.object(edge_use, "_SELF_WEIGHTS", (1.0,))),
    "edges at face value": Variant(_ONE_RUN, lambda: patch.object(inputs, "independent_share", lambda _: 1.0)),
    "no words held out": Variant(_ONE_RUN, lambda: patch.object(edge_use, "are_short_texts", lambda _: False)),
    "edges always kept": Variant(_ONE_RUN, lambda: patch.object(edge_use, "explained_beyond_chance", lambda *_: True)),
    "weights as given": Variant(_ONE_RUN, lambda: patch.object(counted_edges, "weight_power", lambda *_: 1.0)),
    "bags and measurements only": Variant(_ONE_RUN, _bags_and_measurements_only),
    "zeros for missing features": Variant(_ONE_RUN, _zeros_for_missing_features),
    "categories as other columns": Variant(_ONE_RUN, lambda: patch.object(recipe, "category_columns", lambda _: [])),
    "heavy tails as other columns": Variant(
        _ONE_RUN, lambda: patch.object(preparation, "heavy_tailed", _no_heavy_tails)
    ),
    "shares and amounts as other columns": Variant(_ONE_RUN, _no_shares_and_amounts),
    "places as other columns": Variant(_ONE_RUN, lambda: patch.object(plans, "coordinate_columns", lambda *_: [])),
    "dense graphs as others": Variant(_ONE_RUN, _dense_as_others),
    "origin of features unknown": Variant(_ONE_RUN, _origin_unknown),
    "idf+l2": Variant(_ONE_RUN | {"feature_norm": "idf+l2"}),
    "columns standardised": Variant(_ONE_RUN | {"feature_norm": "standardize"}),
    "discriminants fitted once": Variant(_ONE_RUN, lambda: patch.object(combination, "set_discriminant", _fitted_once)),
    "paper, 300 epochs": Variant({"preset": "paper", "max_iter": 300}),
}


def measured(name: str, problem: Problem, seed: int) -> dict[str, Any]:
    """Cluster by a variant or another method and measure the partition; labels are read by the metrics only."""
    if name not in OTHERS:
        return fitted(name, problem, seed)
    graph, k = problem
    start = time.perf_counter()
    if not graph.num_edges:
        graph = joined(graph, FeaturePreparation.fit(graph.x).transform(graph.x))
    labels = labels_of(name, graph, k, seed)
    seconds = time.perf_counter() - start
    return {**evaluate(graph.adjacency(), labels, y=graph.y, n_clusters=k), "seconds": seconds}


def fitted(variant: str, problem: Problem, seed: int) -> dict[str, Any]:
    """Fit one variant and measure the partition; labels are read by the metrics only."""
    options, replaced = VARIANTS[variant]
    graph, k = problem
    model = TVClustering(k, random_state=seed, **options)
    with replaced(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusteringWarning)  # the record says how many clusters are in use
        model.fit(graph if graph.num_edges else graph.x)
    measured = evaluate(model.graph_.adjacency(), model.labels_, model.assignments_, graph.y, n_clusters=k)
    return {
        **measured,
        "loss": model.loss_,
        "seconds": model.fit_seconds_,
        "norm": model.feature_norm_,
        **model.choices_,
    }
