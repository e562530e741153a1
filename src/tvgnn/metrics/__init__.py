"""Metrics of a clustering, with and without known classes (numpy and scipy only)."""

from tvgnn.metrics.cuts import (
    PartitionCuts,
    asymmetric_cheeger_cut,
    cheeger_cut,
    conductance,
    cut,
    cut_fraction,
    modularity,
    normalized_cut,
    partition_cuts,
    ratio_cut,
)
from tvgnn.metrics.evaluation import cluster_sizes, evaluate, sharpness, soft_entropy
from tvgnn.metrics.labels import (
    adjusted_rand_index,
    clustering_accuracy,
    macro_f1,
    match_clusters,
    normalized_mutual_info,
)
from tvgnn.metrics.stability import mean_pairwise_ari, pairwise_ari_error, random_modularity
from tvgnn.metrics.strays import stray_clusters

__all__ = [
    "PartitionCuts",
    "adjusted_rand_index",
    "asymmetric_cheeger_cut",
    "cheeger_cut",
    "cluster_sizes",
    "clustering_accuracy",
    "conductance",
    "cut",
    "cut_fraction",
    "evaluate",
    "macro_f1",
    "match_clusters",
    "mean_pairwise_ari",
    "modularity",
    "normalized_cut",
    "normalized_mutual_info",
    "pairwise_ari_error",
    "partition_cuts",
    "random_modularity",
    "ratio_cut",
    "sharpness",
    "soft_entropy",
    "stray_clusters",
]
