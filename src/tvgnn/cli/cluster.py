"""``tvgnn cluster``: a dataset or a user's files in, a run folder out."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from tvgnn.cli import options

__all__ = ["cluster"]

_INPUT = "Input"
_FORMAT = "Format of the edge list"


def _input(*names: str, help: str, panel: str = _INPUT, **settings: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **settings)


def cluster(
    dataset: Annotated[str | None, _input(help="A dataset by name; see: tvgnn datasets list.")] = None,
    edges: Annotated[
        Path | None, _input(help="Edges: CSV or TSV (also .gz), a square matrix (.npz, .mtx), or .graphml.")
    ] = None,
    features: Annotated[
        Path | None, _input(help="Features: CSV or TSV with the node id first; or .npy, .npz, .mtx in node order.")
    ] = None,
    labels: Annotated[
        Path | None, _input(help="Known classes, for evaluation only: CSV or TSV of node id and class, or .npy.")
    ] = None,
    structural_features: Annotated[
        options.StructuralFeatures | None, _input(help="Features computed from the graph, for nodes without any.")
    ] = None,
    structural_dim: Annotated[int | None, _input(min=1, help="Number of structural features.")] = None,
    node_attributes: Annotated[
        str | None, _input(help="GraphML: comma-separated names of the numeric attributes that form the features.")
    ] = None,
    root: options.Root = None,
    mirror: options.Mirror = None,
    directed: Annotated[bool, _input("--directed", help="Each row is one directed edge.", panel=_FORMAT)] = False,
    weight_column: Annotated[
        str, _input(help="Name, or position from 0, of the weights; auto or none.", panel=_FORMAT)
    ] = "auto",
    delimiter: Annotated[str | None, _input(help="One character.", show_default="found", panel=_FORMAT)] = None,
    header: Annotated[
        bool | None, _input(help="Whether the first row holds names.", show_default="found", panel=_FORMAT)
    ] = None,
    n_clusters: Annotated[
        int | None,
        typer.Option("-k", "--n-clusters", min=1, help="Number of clusters.", show_default="number of known classes"),
    ] = None,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None, typer.Option(help="Run folder to create.", show_default="runs/NAME-kK-seedSEED")
    ] = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    preset: options.Preset = "paper",
    max_epochs: options.MaxEpochs = None,
    patience: options.Patience = None,
    tol: options.Tol = None,
    n_init: options.NInit = None,
    hidden_channels: options.HiddenChannels = None,
    num_layers: options.NumLayers = None,
    mlp_channels: options.MlpChannels = None,
    delta_coeff: options.DeltaCoeff = None,
    totvar_coeff: options.TotvarCoeff = None,
    balance_coeff: options.BalanceCoeff = None,
    rho: options.Rho = None,
    learning_rate: options.LearningRate = None,
    feature_norm: options.FeatureNormOption = options.FeatureNorm.auto,
    backend: options.Backend = "auto",
    device: options.Device = "auto",
    threads: options.Threads = None,
    precision: options.PrecisionOption = options.Precision.float32,
    memory: options.MemoryOption = options.Memory.normal,
    max_memory: options.MaxMemory = None,
) -> None:
    """Cluster the nodes of an attributed graph.

    Writes labels.csv, assignments.npz, the model and metrics.json into a new folder.

    Examples: tvgnn cluster --dataset digits;  tvgnn cluster --edges edges.csv --features features.csv -k 5
    """
    files = {"edges": edges, "features": features, "labels": labels, "node_attributes": node_attributes}
    given = [f"--{name.replace('_', '-')}" for name, value in files.items() if value is not None]
    if dataset is None and edges is None:
        raise ValueError("expected the input, --dataset NAME or --edges FILE, got neither")
    if dataset is not None and given:
        raise ValueError(f"expected one input, got --dataset and {', '.join(given)}; leave one of them out")
    if structural_features is not None and (features is not None or node_attributes is not None):
        other = "--features" if features is not None else "--node-attributes"
        raise ValueError(f"expected one kind of features, got --structural-features and {other}")
    if structural_dim is not None and structural_features is None:
        raise ValueError("--structural-dim needs --structural-features")

    from tvgnn.cli.run import fit, graph_notes, run_context, run_metrics, say, set_threads, write_run
    from tvgnn.estimators.clustering import TVClustering
    from tvgnn.io.run_folder import run_folder
    from tvgnn.ops._backends import resolve_device

    if edges is None:
        from tvgnn.datasets import load_graph

        name, graph = str(dataset).lower(), load_graph(str(dataset), root, mirror)
        names = None
    else:
        from tvgnn.io.graph_files import read_graph
        from tvgnn.io.node_tables import read_feature_names

        name = _stem(edges)
        attributes = None if node_attributes is None else [part.strip() for part in node_attributes.split(",")]
        graph = read_graph(
            edges,
            features,
            labels,
            directed=directed,
            delimiter="\t" if delimiter == "\\t" else delimiter,  # what a shell user can type
            header=header,
            weight_column=_column(weight_column),
            node_attributes=attributes,
        )
        names = attributes if features is None else read_feature_names(features)
    if structural_features is not None:
        graph = graph.with_structural_features(structural_features.value, structural_dim)
    if graph.x is None:
        raise ValueError(
            "expected node features, got a graph without; pass --features FILE, or choose some that are computed from "
            "the graph: --structural-features spectral, degree or ones"
        )
    if n_clusters is None and not graph.num_classes:
        raise ValueError("expected the number of clusters, got no known classes to count; pass -k")
    k = n_clusters or graph.num_classes
    set_threads(threads)
    resolve_device(device)
    notes = graph_notes(graph.report)
    if not quiet:
        for note in notes:
            say("note", note)
    estimator = TVClustering(
        k,
        preset=preset,
        max_iter=max_epochs,
        patience=patience,
        tol=tol,
        n_init=n_init,
        hidden_channels=hidden_channels,
        num_layers=num_layers,
        mlp_channels=mlp_channels,
        delta_coeff=delta_coeff,
        totvar_coeff=totvar_coeff,
        balance_coeff=balance_coeff,
        rho=rho,
        learning_rate=learning_rate,
        random_state=seed,
        verbose=0 if quiet else 1,
        backend=backend,
        device=device,
        feature_norm=None if feature_norm is options.FeatureNorm.none else feature_norm.value,
        precision=precision.value,
        memory=memory.value,
        max_memory=max_memory,
    )
    target = out or Path("runs") / f"{name}-k{k}-seed{seed}"
    with run_folder(target, overwrite=overwrite) as folder:
        messages = fit(estimator, graph)
        metrics = run_metrics(estimator, dataset=name, seed=seed, notes=[*notes, *messages])
        own = structural_features is None
        write_run(folder, estimator, metrics, run_context(graph, dataset if own else None, names if own else None))
    if not quiet:
        from rich.console import Console

        from tvgnn.report.tables import metrics_table

        Console().print(metrics_table(metrics))
        print(f"wrote {target}; for a page in the browser: tvgnn report {shlex.quote(str(target))}")


def _stem(path: Path) -> str:
    """File name without what says its format: ``edges`` for ``edges.csv.gz``."""
    name = path.name[: -len(".gz")] if path.name.endswith(".gz") else path.name
    return Path(name).stem


def _column(text: str) -> str | int | None:
    if text == "none":
        return None
    return int(text) if text.isdecimal() else text
