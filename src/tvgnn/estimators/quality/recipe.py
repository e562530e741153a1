"""``preset="quality"``: closed-form encoder, smoothing chosen by the data, k-means, refinement by the paper's loss."""

from __future__ import annotations

from typing import Any

import torch
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from tvgnn.estimators.quality.agreement import agreed_labels
from tvgnn.estimators.quality.categories import category_columns, levels
from tvgnn.estimators.quality.edges import own_share
from tvgnn.estimators.quality.ordering import in_order_of_locality
from tvgnn.estimators.quality.origin import origin_of_features
from tvgnn.estimators.quality.runs import Runs
from tvgnn.graph.graph import Graph
from tvgnn.models.smoothed_clustering import SmoothedClusteringModel
from tvgnn.training.loop import TrainingResult

__all__ = ["fit_quality"]

_SHARED = 1.0  # signal-to-noise ratio of neighbours below which a node may count more than each of them, or alone
_SELF_WEIGHTS = (1.0, 4.0, 16.0)  # then tried, in turn


def fit_quality(
    graph: Graph,
    x: Any,
    n_clusters: int,
    parameters: dict[str, Any],
    *,
    random_state: Any,
    device: str,
    backend: str,
) -> tuple[SmoothedClusteringModel, TrainingResult, dict[str, Any]]:
    """Fit the recipe ``n_init`` times and make one network of what all runs find; no label is read.

    Each run gives a partition for each of a few encoders. Single partitions differ in what they split; what they say
    together (`agreed_labels`) agrees better with known classes than the one that explains most. The network has the
    encoders of all ranks side by side, each from the run whose partition explains most, and a discriminant of those
    labels for its head (`set_discriminant`), which the paper's loss refines.

    The more often neighbours differ, the more a node has to rely on itself: the mean of a node and d neighbours, which
    share its class with probability c, is least noisy with a self weight of ``(1 + (1 - c^2) r) / c``, r the
    signal-to-noise ratio of the features, whatever d is. So where neighbours have less in common than they differ in,
    the first run tries how much a node counts, for each encoder, until partitions explain hardly more.

    In short texts, clusters of one frequent word each explain more than topics do. So numbers of GTV steps and self
    weights that words held out contradict (`HeldOutWords`) are not taken, and edges over which these are explained
    better are kept.

    On a graph of more nodes than ``batch_size`` no array is as wide as the components and as long as the graph: these,
    and what neighbourhoods and features say in them, come from a random batch; clusters are those of k-means on a
    sample; and each step of the refinement looks at a batch of nodes and their neighbours.

    Where edges are drawn with little regard to the features, means over neighbours only blur these. So where neighbours
    differ more than they have in common, and partitions over edges explain hardly more of these than of edges joined at
    random (`Runs.linked`), all runs are made without edges; not if the number of GTV steps is given.

    Where edges close many triangles, fewer of them say something of their own (`independent_share`). Only that share
    of their nats counts, and the more a node counts itself: members of a clique, which all have the same mean, would be
    the same after one step.

    Features that were computed from the edges, or that no two nodes share, say nothing of their own
    (`origin_of_features`): a partition is judged by the edges alone, which are kept. One-hot degrees have become one
    number, of which neighbours say nothing new, so that nothing is averaged over edges.

    Rows of zeros are missing features (`known_rows`): such nodes have no part in the encoders and in what features say,
    and take the mean of their neighbours (`propagate_features`).

    Parameters:
        graph: N nodes.
        x: (N, F) prepared features, dense or CSR.
        n_clusters: K.
        parameters: the preset's, resolved.
        random_state: seeds the SVD and k-means.
        device: where smoothing and refinement run.
        backend: see `select_backend`.

    Returns:
        The network, the course of the refinement, and what the data chose, for the record.

    Raises:
        ValueError: batches are smaller than the number of clusters.

    """
    batch_size = parameters["batch_size"]
    if batch_size is not None and batch_size < n_clusters:
        raise ValueError(
            f"expected batch_size >= n_clusters, got batch_size={batch_size} and n_clusters={n_clusters}; take 50 "
            "nodes a cluster or more, and as many as memory lets you, such as 50000"
        )
    origin = origin_of_features(graph, x)
    own_features = origin not in ("edges", "identity")
    categories = [levels(graph.x, columns) for columns in category_columns(graph.x)] if origin is None else []
    graph, x, *categories = in_order_of_locality(graph, x, *categories, width=parameters["hidden_channels"])
    runs = Runs(graph, x, n_clusters, parameters, device, backend, categories, own_features=own_features)
    random = check_random_state(random_state)
    with threadpool_limits(torch.get_num_threads()):
        runs.see(random)
        neighbors = runs.neighbor_agreement(random)
        apart = neighbors is not None and neighbors < _SHARED
        unasked = parameters["num_layers"] is not None or not own_features
        linked = unasked or (origin != "degrees" and (not apart or runs.linked()))
        runs.loop_share = own_share(runs.edge_share, neighbors)
        held_out = runs.words_held_out()
        over_edges = linked or (held_out is not None and held_out.favor_edges())
        runs.held_out = held_out if over_edges else None
        weights = _SELF_WEIGHTS if apart and over_edges else (1.0,)
        members = runs.members(random, parameters["n_init"], weights, over_edges=over_edges)
        labels, agreement = agreed_labels([member.log_probabilities for member in members])
        views = sorted((member for member in members if member.candidate is not None), key=lambda one: one.rank)
        model, losses, judged, kept, seconds = runs.combined(views, labels, random)
    choices = {
        "edge_share": round(runs.edge_share, 4),
        "views": [view.description for view in views],
        "over_edges": over_edges,
        "steps_by_held_out_words": sorted(runs.steps),
        "features_made_of": origin,
        "categories": len(categories),
        "missing_features": graph.num_nodes - runs.number_known,
        "nothing_known": runs.unknown,
        "neighbor_agreement": None if neighbors is None else round(neighbors, 4),
        "agreement": round(agreement, 4),
        "nats_by_member": [member.description["nats"] for member in members],
        "nats_agreed": round(runs.information.of(labels, n_clusters), 1),
        "nats_before_refinement": round(float(judged[0]), 1),
        "nats": round(float(judged[kept]), 1),
        "refinement_steps": kept,
    }
    steps = len(losses) - 1  # the first loss is that of the discriminant
    converged = steps < parameters["max_iter"]
    return model, TrainingResult(losses[kept], losses, steps, converged, seconds), choices
