"""``tvgnn cluster``: a dataset or a user's files in, a run folder out."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from tvgnn.cli import graph_input, h5ad_input, neighbor_options, options

__all__ = ["cluster"]


def cluster(
    dataset: graph_input.Dataset = None,
    edges: graph_input.Edges = None,
    features: graph_input.Features = None,
    labels: graph_input.Labels = None,
    h5ad: h5ad_input.H5ad = None,
    structural_features: graph_input.StructuralFeaturesOption = None,
    structural_dim: graph_input.StructuralDim = None,
    node_attributes: graph_input.NodeAttributes = None,
    root: options.Root = None,
    mirror: options.Mirror = None,
    directed: graph_input.Directed = False,
    weight_column: graph_input.WeightColumn = "auto",
    delimiter: graph_input.Delimiter = None,
    header: graph_input.Header = None,
    n_neighbors: neighbor_options.NNeighbors = None,
    metric: neighbor_options.Metric = None,
    mutual: neighbor_options.Mutual = False,
    knn_weights: neighbor_options.KnnWeightsOption = None,
    connect: neighbor_options.Connect = False,
    use_rep: h5ad_input.UseRep = None,
    obsp: h5ad_input.Obsp = None,
    obsp_weights: h5ad_input.ObspWeights = None,
    neighbors_key: h5ad_input.NeighborsKey = None,
    spatial_key: h5ad_input.SpatialKey = None,
    library_key: h5ad_input.LibraryKey = None,
    spatial_neighbors: h5ad_input.SpatialNeighbors = 15,
    label_key: h5ad_input.LabelKey = None,
    write_h5ad: Annotated[
        Path | None, typer.Option(help="A new AnnData file with the result.", rich_help_panel="AnnData file")
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

    Examples: tvgnn cluster --dataset digits;  tvgnn cluster --edges edges.csv --features features.csv -k 5;
    tvgnn cluster --features features.csv -k 5;  tvgnn cluster --h5ad cells.h5ad --spatial-key spatial -k 12
    """
    neighbors = neighbor_options.NeighborOptions(n_neighbors, metric, mutual, knn_weights, connect)
    scaling = None if feature_norm is options.FeatureNorm.none else feature_norm.value
    source = graph_input.GraphInput(
        dataset=dataset,
        edges=edges,
        features=features,
        labels=labels,
        structural_features=structural_features,
        structural_dim=structural_dim,
        node_attributes=node_attributes,
        root=root,
        mirror=mirror,
        directed=directed,
        weight_column=weight_column,
        delimiter=delimiter,
        header=header,
        neighbors=neighbors,
        h5ad=h5ad_input.H5adInput(
            h5ad=h5ad,
            use_rep=use_rep,
            obsp=obsp,
            obsp_weights=obsp_weights,
            neighbors_key=neighbors_key,
            spatial_key=spatial_key,
            library_key=library_key,
            spatial_neighbors=spatial_neighbors,
            label_key=label_key,
        ),
    )

    if write_h5ad is not None and h5ad is None:
        raise ValueError("--write-h5ad needs --h5ad FILE, to whose cells the result is added")

    from tvgnn.cli.run import fit, graph_notes, run_metrics, say, set_threads, write_run
    from tvgnn.estimators.clustering import TVClustering
    from tvgnn.io.h5ad import new_file
    from tvgnn.io.run_folder import run_folder
    from tvgnn.ops._backends import resolve_device

    given = source.read(preset, scaling)
    name, graph = given.name, given.graph
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
        feature_norm=scaling,
        precision=precision.value,
        memory=memory.value,
        max_memory=max_memory,
        **neighbors.parameters(),
    )
    context = source.context(given)
    target = out or Path("runs") / f"{name}-k{k}-seed{seed}"
    with run_folder(target, overwrite=overwrite) as folder, new_file(write_h5ad) as file:
        messages = fit(estimator, graph)
        metrics = run_metrics(estimator, dataset=name, seed=seed, notes=[*notes, *messages])
        write_run(folder, estimator, metrics, context)
        if file is not None:
            source.h5ad.write(file, given.adata, estimator)
    if not quiet:
        from rich.console import Console

        from tvgnn.report.tables import metrics_table

        Console().print(metrics_table(metrics))
        if write_h5ad is not None:
            print(f"wrote {write_h5ad}")
        print(f"wrote {target}; for a page in the browser: tvgnn report {shlex.quote(str(target))}")
