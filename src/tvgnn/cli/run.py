"""From a fitted clustering to its run folder: what every command that clusters shares."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvgnn.cli.environment import git_commit, peak_rss_bytes, versions

if TYPE_CHECKING:
    from tvgnn.estimators.clustering import TVClustering
    from tvgnn.experiments.pool import Workers
    from tvgnn.graph.graph import Graph, GraphReport
    from tvgnn.io.run_context import RunContext

__all__ = [
    "choice_notes",
    "fit",
    "graph_notes",
    "pool_workers",
    "run_context",
    "run_metrics",
    "say",
    "set_threads",
    "told_warnings",
    "write_run",
]


_NAMED = 5  # features in one note


def say(kind: str, message: str) -> None:
    """Print one line, such as ``note: ...``, on standard error."""
    print(f"{kind}: {message}", file=sys.stderr)


def set_threads(threads: int | None) -> None:
    """Use this many CPU threads, also for neighbours and linear algebra; None leaves each library's own choice.

    Libraries that are loaded later are not limited, so scikit-learn is loaded here.

    Raises
    ------
    ValueError
        More than the machine has cores: that is slower, and where threads run out the process is aborted.
    """
    if threads is None:
        return
    cores = os.cpu_count() or 1
    if threads > cores:
        raise ValueError(f"expected --threads to be at most {cores}, the cores of this machine, got {threads}")
    import sklearn.neighbors  # noqa: F401  # for its threads, see above

    from tvgnn.experiments.process import use_threads

    use_threads(threads)


def pool_workers(
    jobs: int, *, threads: int | None = None, backend: str = "loky", scheduler: str | None = None
) -> Workers:
    """Return so many processes, or the workers of a dask scheduler.

    Parameters
    ----------
    jobs : int
        Processes.
    threads : int, optional
        Of each run; default: an equal share of the cores of this machine, 1 for a scheduler.
    backend, scheduler
        As of `Workers`.

    Raises
    ------
    ValueError
        More jobs or threads than the machine has cores.
    """
    from joblib import cpu_count

    from tvgnn.experiments.pool import Workers

    cores = int(cpu_count())
    if scheduler is not None:  # of other machines
        return Workers(jobs, threads or 1, backend, scheduler)
    for option, number in (("--jobs", jobs), ("--threads", threads or 1)):
        if number > cores:
            raise ValueError(f"expected {option} to be at most {cores}, the cores of this machine, got {number}")
    return Workers(jobs, threads or cores // jobs, backend)


def graph_notes(report: GraphReport) -> list[str]:
    """Say what validation changed or found in the input, one line each."""
    counts = (
        (report.num_self_loops, "self-loop dropped", "self-loops dropped"),
        (report.num_duplicates, "duplicate edge merged", "duplicate edges merged"),
        (report.num_zero_weights, "edge of weight 0 dropped", "edges of weight 0 dropped"),
        (report.num_isolated, "node has no edges", "nodes have no edges"),
    )
    found = [f"{count} {one if count == 1 else many}" for count, one, many in counts if count]
    if report.num_components > 1:
        found.append(f"the graph has {report.num_components} components")
    return [*report.notes, *found]


def choice_notes(estimator: TVClustering, feature_names: Sequence[str] | None = None) -> list[str]:
    """Say what the quality preset found in the features and did with them, one line each."""
    choices, ranked = estimator.choices_, getattr(estimator.feature_scaling_, "ranked", ())
    unknown = choices.get("nothing_known", 0)
    counts = (
        (choices.get("missing_features", 0) - unknown, "got the mean of neighbours that have any"),
        (unknown, "no way over edges to any"),
    )
    found = [
        f"{count} {'node has' if count == 1 else 'nodes have'} no features (zeros only) and {fate}"
        for count, fate in counts
        if count
    ]
    if choices.get("features_made_of") == "degrees":
        found.append("features are the number of neighbours: clusters are ranges of it, whatever the edges join")
    strongest = choices.get("strongest_edges")
    if strongest is not None:
        found.append(f"weights are similarities of nearly all nodes: the {strongest} strongest of each node count")
    power = choices.get("weight_power")
    if power == 0:
        found.append("what neighbours have in common does not grow with the weight of edges: these count alike")
    elif power not in (None, 1):
        found.append(f"weights to the power of {power:g} count, which tell best what neighbours have in common")

    def names(columns: Sequence[int]) -> list[str]:
        return [feature_names[column] if feature_names else str(column) for column in columns]

    if places := choices.get("coordinates"):
        found.append(
            f"the edges join what is near in {' and '.join(names(places))}, which say nothing more and are left out of "
            "the features (--feature-norm standardize keeps them)"
        )
    if ranked and choices.get("features_made_of") is None:
        named = names(ranked[:_NAMED])
        more = f" and {len(ranked) - _NAMED} others" if len(ranked) > _NAMED else ""
        keep = "--feature-norm standardize keeps the values"
        found.append(f"extreme values in {', '.join(named)}{more}: their ranks count ({keep})")
    return found


def fit(estimator: TVClustering, graph: Graph) -> list[str]:
    """Fit, and return the warnings that it gave as plain lines, printed on standard error too."""
    with told_warnings() as messages:
        estimator.fit(graph)
    return messages


@contextmanager
def told_warnings() -> Iterator[list[str]]:
    """Give a list of the warnings of the block as plain lines, filled at its end and printed on standard error."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield messages
    messages += dict.fromkeys(str(warning.message) for warning in caught)
    for message in messages:
        say("warning", message)


def run_metrics(
    estimator: TVClustering,
    *,
    dataset: str,
    seed: int,
    notes: Sequence[str] = (),
    inputs: Sequence[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """Return the contents of ``metrics.json`` for a fitted estimator.

    Parameters
    ----------
    estimator : TVClustering
        Fitted on a `Graph`; where that knows labels, the agreement with them is included.
    dataset : str
        Name of the data.
    seed : int
        Seed of the run.
    notes : sequence of str
        What a reader should know about the data and the result.
    inputs : sequence of mapping
        Files that were read, see `tvgnn.io.run_input.input_hashes`.
    """
    import torch

    from tvgnn.metrics import evaluate

    graph = estimator.graph_
    quality = evaluate(graph.adjacency(), estimator.labels_, estimator.assignments_, graph.y)
    return {
        "dataset": dataset,
        "method": "TVGNN",
        "seed": seed,
        "n_nodes": graph.num_nodes,
        "n_edges": graph.num_edges,
        "n_features": graph.num_features,
        "feature_norm": estimator.feature_norm_,
        "preset": estimator.preset,
        **({"choices": estimator.choices_} if estimator.choices_ else {}),
        **quality,
        "loss": estimator.loss_,
        **estimator.loss_terms_,
        "epochs": estimator.n_iter_,
        "converged": estimator.converged_,
        "fit_seconds": estimator.fit_seconds_,
        "ms_per_epoch": estimator.ms_per_epoch_,
        "peak_rss_bytes": peak_rss_bytes(),
        "device": estimator.device_,
        "backend": estimator.backend_,
        "threads": torch.get_num_threads(),
        "versions": versions(),
        "commit": git_commit(),
        **({"inputs": list(inputs)} if inputs else {}),
        "notes": list(notes),
    }


def print_metrics(metrics: Mapping[str, Any]) -> None:
    """Print the contents of a ``metrics.json``, and in words what drives the clusters where that is known."""
    from rich.console import Console

    from tvgnn.report.references import reference_sentence
    from tvgnn.report.tables import metrics_table

    Console().print(metrics_table(metrics))
    sentence = reference_sentence(metrics.get("references"))
    if sentence is not None:
        print(sentence)


def run_context(graph: Graph, dataset: str | None = None, feature_names: Sequence[str] | None = None) -> RunContext:
    """Return what is known of the nodes besides the model: of a dataset by its name, else of the graph.

    Parameters
    ----------
    graph : Graph
        Its classes are kept.
    dataset : str, optional
        Name of the dataset whose features the graph has.
    feature_names : sequence of str, optional
        Where they come from a file.
    """
    from tvgnn.datasets import Appearance, appearance
    from tvgnn.io.run_context import RunContext

    known = Appearance() if dataset is None else appearance(dataset)
    names = known.feature_names or feature_names
    positions = None if known.positions is None else known.positions()
    return RunContext(
        y=graph.y,
        class_names=None if graph.y is None else [str(name) for name in graph.class_names],
        # An attribute of GraphML can be a vector: then there are more columns than names
        feature_names=names if names is not None and len(names) == graph.num_features else None,
        positions=positions if known.position_columns is None else graph.x[:, known.position_columns],
        picture=known.picture,
    )


def write_run(
    folder: Path, estimator: TVClustering, metrics: dict[str, Any], context: RunContext | None = None
) -> None:
    """Write every file of a run folder."""
    from tvgnn.io.run_context import write_context
    from tvgnn.io.run_folder import METRICS_FILE, write_assignments, write_labels, write_metrics

    confidence = estimator.assignments_.max(axis=1)
    write_labels(folder / "labels.csv", estimator.graph_.node_ids, estimator.labels_, confidence)
    write_assignments(folder / "assignments.npz", estimator.assignments_)
    estimator.save(folder)
    if context is not None:
        write_context(folder, context)
    write_metrics(folder / METRICS_FILE, metrics)
