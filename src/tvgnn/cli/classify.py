"""``tvgnn classify``: a set of graphs in, a run folder out."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from tvgnn.cli import options
from tvgnn.cli.unused import Effect, refuse_unused

__all__ = ["classify"]

_INPUT = "Input"
_MAX_DEGREE = 500  # as in the TU folders' reader
_MODEL = "Model and training (default: the preset's value)"


class Features(StrEnum):
    """Node features of a TU folder."""

    auto = "auto"
    labels = "labels"
    attributes = "attributes"
    both = "both"
    degree = "degree"


class Pooling(StrEnum):
    """Methods of pooling."""

    tvgnn = "tvgnn"
    mincut = "mincut"
    dmon = "dmon"
    diffpool = "diffpool"
    topk = "topk"
    sag = "sag"


def _input(help: str, **settings: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_INPUT, **settings)


def _model(help: str, **settings: Any) -> Any:
    return typer.Option(help=help, rich_help_panel=_MODEL, show_default=False, **settings)


def classify(
    dataset: Annotated[str | None, _input("A set of graphs by name; see: tvgnn datasets list.")] = None,
    data: Annotated[
        Path | None, _input("A folder, or .zip, in the format of the TU datasets: NAME_A.txt and so on.")
    ] = None,
    features: Annotated[
        Features, _input("Node labels, attributes or both as features, or one-hot degrees; auto: all there are.")
    ] = Features.auto,
    max_degree: Annotated[
        int | None,
        _input("Larger degrees share the last column of one-hot degrees.", min=1, max=2**31 - 1, show_default="500"),
    ] = None,
    test_fraction: Annotated[
        float, typer.Option(help="Part of the graphs, drawn class by class, that measures the accuracy.")
    ] = 0.2,
    root: options.Root = None,
    mirror: options.Mirror = None,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None, typer.Option(help="Run folder to create.", show_default="runs/NAME-POOLING-seedSEED")
    ] = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    pooling: Annotated[Pooling, typer.Option(help="Method of pooling.")] = Pooling.tvgnn,
    preset: Annotated[
        str | None, typer.Option(help="Named settings.", show_default="the dataset's own, else paper")
    ] = None,
    max_epochs: Annotated[int | None, _model("Largest number of epochs. (paper: 500)", min=1)] = None,
    patience: Annotated[
        int | None, _model("Epochs without a lower validation loss before training stops. (paper: 20)", min=1)
    ] = None,
    batch_size: Annotated[int | None, _model("Graphs of a batch.", min=1)] = None,
    learning_rate: Annotated[float | None, _model("Learning rate of Adam.")] = None,
    weight_decay: Annotated[float | None, _model("Weight of the squared norm of the weights.", min=0)] = None,
    hidden_channels: Annotated[int | None, _model("Width of the message-passing layers.", min=1)] = None,
    num_layers: Annotated[int | None, _model("Message-passing layers in each of the three blocks.", min=1)] = None,
    ratio: Annotated[
        float, typer.Option(help="Clusters as a part of the mean number of nodes.", rich_help_panel=_MODEL)
    ] = 0.5,
    readout: Annotated[
        options.Readout, typer.Option(help="What follows the mean over the pooled nodes.", rich_help_panel=_MODEL)
    ] = options.Readout.linear,
    backend: options.Backend = "auto",
    device: options.Device = "auto",
    threads: options.Threads = None,
) -> None:
    """Classify graphs: train, stop by a validation part, measure on a test part.

    Writes predictions.csv, the model and metrics.json into a new folder.

    Examples: tvgnn classify --dataset PROTEINS;  tvgnn classify --data FOLDER --max-epochs 100
    """
    if (dataset is None) == (data is None):
        raise ValueError(
            "expected the input, --dataset NAME or --data FOLDER, got " + ("neither" if data is None else "both")
        )
    if not 0 < test_fraction < 1:
        raise ValueError(f"expected --test-fraction between 0 and 1, got {test_fraction}")
    named = "is of datasets by name"
    refuse_unused(
        [
            Effect("--root", root is not None, dataset is not None, named),
            Effect("--mirror", mirror is not None, dataset is not None, named),
        ],
        f"--data {data} is read where it is",
    )
    from tvgnn.cli.classification_run import run_classification, summary
    from tvgnn.cli.run import say, set_threads
    from tvgnn.datasets import load_graphs, read_tu_folder
    from tvgnn.estimators.classification import TVGraphClassifier
    from tvgnn.estimators.graph_presets import GRAPH_PRESETS
    from tvgnn.io.run_folder import run_folder
    from tvgnn.io.run_input import input_hashes

    set_threads(threads)
    most = _MAX_DEGREE if max_degree is None else max_degree
    if dataset is not None:
        name = dataset.lower()
        choice = {} if features is Features.auto else {"features": features.value}
        graphs = load_graphs(dataset, root, mirror, max_degree=most, **choice)
    else:
        name = str(data and data.resolve().stem)
        graphs = read_tu_folder(str(data), features=features.value, max_degree=most)
    inputs = input_hashes({} if data is None else {"data": data})
    by_degree = any(note.startswith("features: degree") for note in summary(graphs))
    limits = Effect("--max-degree", max_degree is not None, by_degree, "limits one-hot degrees")
    refuse_unused([limits], f"the features of {name} are others (--features {features.value})")
    own = name.removesuffix("-small")
    estimator = TVGraphClassifier(
        pooling.value,
        preset=preset if preset is not None else own if own in GRAPH_PRESETS else "paper",
        num_layers=num_layers,
        hidden_channels=hidden_channels,
        weight_decay=weight_decay,
        learning_rate=learning_rate,
        batch_size=batch_size,
        max_epochs=max_epochs,
        patience=patience,
        ratio=ratio,
        readout=readout.value,
        random_state=seed,
        verbose=0 if quiet else 1,
        backend=backend,
        device=device,
    )
    if not quiet:
        for note in summary(graphs):
            say("note", note)
    target = out or Path("runs") / f"{name}-{pooling.value}-seed{seed}"
    with run_folder(target, overwrite=overwrite, used=[data]) as folder:
        metrics = run_classification(folder, estimator, graphs, name, seed, test_fraction, inputs)
    if not quiet:
        from rich.console import Console

        from tvgnn.report.tables import metrics_table

        Console().print(metrics_table(metrics))
        print(f"wrote {target}")
