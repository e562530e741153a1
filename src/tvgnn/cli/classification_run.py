"""From graphs with labels to the run folder of a classification."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tvgnn.cli.environment import git_commit, peak_rss_bytes, versions

if TYPE_CHECKING:
    from tvgnn.estimators.classification import TVGraphClassifier
    from tvgnn.graph.graph import Graph

__all__ = ["run_classification", "summary"]

_SHOWN = 5  # classes that an error lists


def summary(graphs: Sequence[Graph]) -> list[str]:
    """What a reader should know about the graphs: notes of the loader that all of them carry."""
    return [note for note in graphs[0].report.notes if all(note in graph.report.notes for graph in graphs)]


def run_classification(
    folder: Path,
    estimator: TVGraphClassifier,
    graphs: Sequence[Graph],
    name: str,
    seed: int,
    test_fraction: float,
    inputs: Sequence[Mapping[str, str]] = (),
) -> dict[str, Any]:
    """Split, train, measure, and write every file of a run folder; returns what ``metrics.json`` holds.

    Parameters
    ----------
    folder : Path
        Where to write.
    estimator : TVGraphClassifier
        Not yet fitted.
    graphs : sequence of Graph
        With labels.
    name : str
        Name of the data.
    seed : int
        Seed of the split.
    test_fraction : float
        Part of the graphs that is never trained on.
    inputs : sequence of mapping
        Files that were read, see `tvgnn.io.run_input.input_hashes`.

    Raises
    ------
    ValueError
        Too few graphs of a class to split.
    """
    import torch
    from sklearn.metrics import f1_score

    from tvgnn.io.run_folder import METRICS_FILE, write_metrics

    labels = [graph.label for graph in graphs]
    parts = _split(labels, test_fraction, estimator.validation_fraction, seed)
    train, validation = ([graphs[i] for i in parts[part]] for part in ("train", "validation"))
    estimator.fit(train, validation=(validation, None))
    probabilities = estimator.predict_proba(list(graphs))
    predicted = estimator.classes_[probabilities.argmax(1)]
    correct = predicted == np.asarray(labels)
    _write_predictions(folder / "predictions.csv", parts, labels, predicted, probabilities.max(1))
    estimator.save(folder)
    test = parts["test"]
    metrics = {
        "dataset": name,
        "method": estimator.pooling,
        "task": "classification",
        "seed": seed,
        "n_graphs": len(graphs),
        "n_nodes": sum(graph.num_nodes for graph in graphs),
        "n_edges": sum(graph.num_edges for graph in graphs),
        "n_features": estimator.n_features_in_,
        "n_classes": len(estimator.classes_),
        **{f"n_{part}": len(numbers) for part, numbers in parts.items()},
        **{f"{part}_accuracy": float(correct[numbers].mean()) for part, numbers in parts.items()},
        "test_macro_f1": float(f1_score(np.asarray(labels)[test], predicted[test], average="macro")),
        "validation_loss": min(estimator.validation_loss_history_),
        "clusters": None if estimator.k_ is None else list(estimator.k_),
        "preset": estimator.preset,
        "epochs": estimator.n_iter_,
        "best_epoch": estimator.best_epoch_,
        "converged": estimator.stopped_early_,
        "fit_seconds": estimator.fit_seconds_,
        "ms_per_epoch": 1000 * estimator.seconds_per_epoch_,
        "peak_rss_bytes": peak_rss_bytes(),
        "device": estimator.device_,
        "backend": estimator.backend_,
        "threads": torch.get_num_threads(),
        "versions": versions(),
        "commit": git_commit(),
        **({"inputs": list(inputs)} if inputs else {}),
        "notes": summary(graphs),
    }
    write_metrics(folder / METRICS_FILE, metrics)
    return metrics


def _split(labels: list[Any], test_fraction: float, validation_fraction: float, seed: int) -> dict[str, Any]:
    """Numbers of the graphs of each part, all three with every class."""
    from sklearn.model_selection import train_test_split

    if any(label is None for label in labels):
        raise ValueError("expected a class for every graph, got none; a TU folder has them in NAME_graph_labels.txt")
    counts = np.unique(np.asarray(labels), return_counts=True)
    if len(counts[0]) < 2 or counts[1].min() < 3:
        shown = list(zip(*counts, strict=True))
        found = ", ".join(f"{label}: {count}" for label, count in shown[:_SHOWN])
        if len(shown) > _SHOWN:
            found += f", ... ({len(shown)} classes)"
        raise ValueError(
            f"expected at least 2 classes of 3 graphs each, for training, validation and test, got {found}"
        )
    everything = np.arange(len(labels))

    def cut(numbers: Any, fraction: float) -> tuple[Any, Any]:
        size = max(len(counts[0]), round(fraction * len(numbers)))
        if len(numbers) - size < len(counts[0]):
            raise ValueError(
                f"expected --test-fraction to leave a graph of each class for training, got {test_fraction:g} of "
                f"{len(labels)} graphs in {len(counts[0])} classes"
            )
        kept, held_out = train_test_split(
            numbers, test_size=size, random_state=seed, stratify=np.asarray(labels)[numbers]
        )
        return np.sort(kept), np.sort(held_out)

    rest, test = cut(everything, test_fraction)
    train, validation = cut(rest, validation_fraction)
    return {"train": train, "validation": validation, "test": test}


def _write_predictions(
    path: Path, parts: dict[str, Any], labels: list[Any], predicted: Any, probabilities: Any
) -> None:
    part_of = {int(number): part for part, numbers in parts.items() for number in numbers}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("graph", "part", "label", "predicted", "probability"))
        for number, (label, guess, probability) in enumerate(
            zip(labels, predicted.tolist(), probabilities.tolist(), strict=True)
        ):
            writer.writerow((number, part_of[number], label, guess, f"{probability:.6g}"))
