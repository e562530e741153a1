"""``preset="quality"``: closed-form encoder, smoothing chosen by the data, k-means, refinement by the paper's loss."""

from __future__ import annotations

from typing import Any

import torch
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from tvgnn.estimators.quality.agreement import agreed_labels
from tvgnn.estimators.quality.categories import category_columns, levels
from tvgnn.estimators.quality.combination import combined
from tvgnn.estimators.quality.edge_use import edge_use
from tvgnn.estimators.quality.inputs import FitInputs
from tvgnn.estimators.quality.ordering import in_order_of_locality
from tvgnn.estimators.quality.origin import origin_of_features
from tvgnn.estimators.quality.runs import found_in_runs
from tvgnn.graph.graph import Graph
from tvgnn.models.smoothed_clustering import SmoothedClusteringModel
from tvgnn.training.loop import TrainingResult
from tvgnn.training.progress import StageProgress

__all__ = ["fit_quality"]


def fit_quality(
    graph: Graph,
    x: Any,
    n_clusters: int,
    parameters: dict[str, Any],
    *,
    random_state: Any,
    device: str,
    backend: str,
    verbose: bool = False,
) -> tuple[SmoothedClusteringModel, TrainingResult, dict[str, Any]]:
    """Fit the recipe ``n_init`` times and make one network of what all runs find; no label is read.

    How edges are used is decided first (`edge_use`). Each run gives a partition for each of a few encoders
    (`found_in_runs`). Single partitions differ in what they split; what they say together (`agreed_labels`) agrees
    better with known classes than the one that explains most. The network has the encoders of all ranks side by side,
    each from the run whose partition explains most, and a discriminant of those labels for its head (`combined`), which
    the paper's loss refines.

    On a graph of more nodes than ``batch_size`` no array is as wide as the components and as long as the graph: these,
    and what neighbourhoods and features say in them, come from a random batch; clusters are those of k-means on a
    sample; and each step of the refinement looks at a batch of nodes and their neighbours.

    Features that were computed from the edges, or that no two nodes share, say nothing of their own
    (`origin_of_features`): a partition is judged by the edges alone, which are kept. Rows of zeros are missing features
    (`known_rows`): such nodes have no part in the encoders and in what features say, and take the mean of their
    neighbours (`propagate_features`).

    Parameters:
        graph: N nodes.
        x: (N, F) prepared features, dense or CSR.
        n_clusters: K.
        parameters: the preset's, resolved.
        random_state: seeds the SVD and k-means.
        device: where smoothing and refinement run.
        backend: see `select_backend`.
        verbose: show a progress line on a terminal.

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
    inputs = FitInputs(graph, x, n_clusters, parameters, device, backend, categories, own_features=own_features)
    random = check_random_state(random_state)
    runs = parameters["n_init"]
    with threadpool_limits(torch.get_num_threads()), StageProgress(runs + 1, shown=verbose) as progress:
        progress.update(0, "use of the edges")
        components = inputs.components(random)
        use = edge_use(inputs, components, origin, random)
        found = found_in_runs(inputs, components, use, runs, random, progress.update)
        progress.update(runs, "refinement")
        labels, agreement = agreed_labels([member.log_probabilities for member in found.members])
        model, losses, judged, kept, seconds = combined(inputs, found, use.loop_share, labels, random)
    choices = {
        "edge_share": round(inputs.edge_share, 4),
        "views": [view.description for view in found.views],
        "over_edges": use.averaged,
        "steps_by_held_out_words": found.steps_by_held_out_words,
        "features_made_of": origin,
        "categories": len(categories),
        "missing_features": graph.num_nodes - inputs.number_known,
        "nothing_known": found.members[-1].nothing_known,
        "neighbor_agreement": None if use.neighbor_agreement is None else round(use.neighbor_agreement, 4),
        "agreement": round(agreement, 4),
        "nats_by_member": [member.description["nats"] for member in found.members],
        "nats_agreed": round(found.components.information.of(labels, n_clusters), 1),
        "nats_before_refinement": round(float(judged[0]), 1),
        "nats": round(float(judged[kept]), 1),
        "refinement_steps": kept,
    }
    steps = len(losses) - 1  # the first loss is that of the discriminant
    converged = steps < parameters["max_iter"]
    return model, TrainingResult(losses[kept], losses, steps, converged, seconds), choices
