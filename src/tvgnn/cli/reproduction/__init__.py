"""What ``tvgnn reproduce`` can make: one function a table or figure, each from a `Request` to files and terminal."""

from __future__ import annotations

from tvgnn.cli.reproduction import figures, tables
from tvgnn.cli.reproduction.experiment import Experiment, Package, names_for
from tvgnn.cli.reproduction.request import Request

__all__ = ["EXPERIMENTS", "Experiment", "Request", "names_for"]


def _graphs() -> tuple[str, ...]:
    from tvgnn.experiments.studies import CITATION

    return tuple(CITATION)


def _graph_sets() -> tuple[str, ...]:
    from tvgnn.experiments.plan import DATASETS

    return DATASETS


def _both() -> tuple[str, ...]:
    return (*_graphs(), *_graph_sets())


def _clustering_methods() -> tuple[str, ...]:
    from tvgnn.experiments.methods import CLUSTERING_METHODS

    return tuple(CLUSTERING_METHODS)


def _end_to_end() -> tuple[str, ...]:
    from tvgnn.experiments.methods import END_TO_END

    return END_TO_END


def _four() -> tuple[str, ...]:
    from tvgnn.experiments.studies import FOUR

    return FOUR


def _pooling_methods() -> tuple[str, ...]:
    from tvgnn.experiments.plan import METHODS

    return METHODS


EXPERIMENTS = {
    "datasets": Experiment(tables.datasets, datasets=_both),
    "fig-gtv-steps": Experiment(figures.gtv_steps),
    "fig-ring": Experiment(figures.ring, methods=_four, seeds=True, max_epochs=True),
    "fig-grid": Experiment(figures.grid, methods=_four, seeds=True, max_epochs=True),
    "fig-denoising": Experiment(figures.denoising, methods=_four, seeds=True, max_epochs=True),
    "times": Experiment(tables.times, datasets=_both, methods=_pooling_methods, seeds=True, max_epochs=True),
    "table1": Experiment(tables.table1, datasets=_graphs, methods=_clustering_methods, seeds=True, max_epochs=True),
    "fig-assignments": Experiment(figures.assignments, datasets=_graphs, methods=_end_to_end, max_epochs=True),
    "fig-umap": Experiment(
        figures.umap,
        datasets=_graphs,
        methods=_end_to_end,
        max_epochs=True,
        needs=(Package("umap", "umap-learn", "viz"),),
    ),
    "table2": Experiment(tables.table2, datasets=_graph_sets, methods=_pooling_methods, seeds=True, max_epochs=True),
}
"""By name, the short ones first: the order of ``all``. Figures of trained methods use the runs of table 1."""
