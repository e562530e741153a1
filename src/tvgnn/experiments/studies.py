"""Which runs each table and figure of the paper about vertex clustering consists of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tvgnn.experiments.clustering import ClusteringJob
from tvgnn.experiments.methods import CLUSTERING_METHODS, END_TO_END

__all__ = [
    "CITATION",
    "DENOISING",
    "DENOISING_OPTIONS",
    "FOUR",
    "POINT_CLOUDS",
    "denoising_jobs",
    "figure_jobs",
    "point_cloud_jobs",
    "table1_jobs",
    "times_jobs",
]

CITATION = {"cora": 7, "citeseer": 6, "pubmed": 3, "dblp": 4}
"""The graphs of the paper's table 1, and K: the number of their classes, which is all that is used of them."""

POINT_CLOUDS = {"ring": 5, "grid": 10}
"""The simple graphs of appendix F, and their K."""

DENOISING = "sbm-denoising"

DENOISING_OPTIONS = (("delta_coeff", 50.0), ("n_init", 5))
"""Step size and restarts of TVGNN with which the 512 channels of the paper recover the communities: the step of the
lowest mean loss on ten other graphs (seeds 100 to 109); see docs/results.md."""

FOUR = ("diffpool", "mincut", "dmon", "tvgnn")
"""The end-to-end methods of the paper's figures and of its table of times."""


def table1_jobs(
    datasets: Iterable[str] = tuple(CITATION),
    methods: Sequence[str] = tuple(CLUSTERING_METHODS),
    seeds: int = 10,
    max_epochs: int = 10_000,
) -> list[ClusteringJob]:
    """Every method on every graph, all of them with one seed before the next.

    Examples
    --------
    >>> jobs = table1_jobs(["cora"], ["spectral", "tvgnn"], seeds=2)
    >>> [(job.seed, job.method) for job in jobs]
    [(0, 'spectral'), (0, 'tvgnn'), (1, 'spectral'), (1, 'tvgnn')]
    """
    datasets = tuple(datasets)
    return [
        ClusteringJob(dataset, method, CITATION[dataset], seed, max_epochs)
        for seed in range(seeds)
        for dataset in datasets
        for method in methods
    ]


def figure_jobs(datasets: Iterable[str], max_epochs: int, methods: Sequence[str] = END_TO_END) -> list[ClusteringJob]:
    """End-to-end methods with the first seed; `table1_jobs` contains them."""
    return table1_jobs(datasets, methods, 1, max_epochs)


def times_jobs(
    datasets: Iterable[str] = tuple(CITATION), epochs: int = 30, repeats: int = 3, methods: Sequence[str] = FOUR
) -> list[ClusteringJob]:
    """So many epochs of each of the four methods after a warm-up, and all that again: the machine may be busy once."""
    options = (("patience", epochs + 1),)
    datasets = tuple(datasets)
    return [
        ClusteringJob(dataset, method, CITATION[dataset], seed, epochs, options, timed=True)
        for seed in range(repeats)
        for dataset in datasets
        for method in methods
    ]


def point_cloud_jobs(name: str, seeds: int, max_epochs: int, methods: Sequence[str] = FOUR) -> list[ClusteringJob]:
    """The four methods on the ring or the grid, all on the same standardised coordinates."""
    return [
        ClusteringJob(name, method, POINT_CLOUDS[name], seed, max_epochs, standardize=True)
        for seed in range(seeds)
        for method in methods
    ]


def denoising_jobs(seeds: int, max_epochs: int, methods: Sequence[str] = FOUR) -> list[ClusteringJob]:
    """The four methods on graphs of so many seeds, then TVGNN with the larger step, the only setting of ours.

    All of them get the same standardised features.
    """
    larger = (("tvgnn", DENOISING_OPTIONS),) if "tvgnn" in methods else ()
    return [
        ClusteringJob(DENOISING, method, 3, seed, max_epochs, options, standardize=True)
        for seed in range(seeds)
        for method, options in (*((method, ()) for method in methods), *larger)
    ]
