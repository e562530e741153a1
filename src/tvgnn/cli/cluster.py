"""``tvgnn cluster``: a dataset or a user's files in, a run folder out."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from tvgnn.cli import options
from tvgnn.cli.expand import expanded
from tvgnn.cli.graph_input import GraphInput
from tvgnn.cli.model_options import ModelOptions

__all__ = ["cluster"]


@expanded()
def cluster(
    *,
    source: GraphInput,
    write_h5ad: Annotated[
        Path | None, typer.Option(help="A new AnnData file with the result.", rich_help_panel="AnnData file")
    ] = None,
    key_added: Annotated[
        str | None,
        typer.Option(
            help="Name of the result in the file of --write-h5ad.",
            show_default="tvgnn",
            rich_help_panel="AnnData file",
        ),
    ] = None,
    embedding: Annotated[
        bool,
        typer.Option(
            "--embedding",
            help="Write the cells' embedding too, into obsm, as X_ and that name.",
            rich_help_panel="AnnData file",
        ),
    ] = False,
    n_clusters: Annotated[
        int | None,
        typer.Option("-k", "--n-clusters", min=1, help="Number of clusters.", show_default="number of known classes"),
    ] = None,
    references: Annotated[
        bool | None,
        typer.Option(
            "--references/--no-references",
            help="Compare with k-means of the features and spectral clustering of the graph.",
            show_default="up to 50,000 nodes",
        ),
    ] = None,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None, typer.Option(help="Run folder to create.", show_default="runs/NAME-kK-seedSEED")
    ] = None,
    overwrite: options.Overwrite = False,
    quiet: options.Quiet = False,
    preset: options.PresetOfData = None,
    model: ModelOptions,
) -> None:
    """Cluster the nodes of an attributed graph.

    Writes labels.csv, assignments.npz, the model and metrics.json into a new folder.

    Examples: tvgnn cluster --dataset digits;  tvgnn cluster --edges edges.csv --features features.csv -k 5;
    tvgnn cluster --features features.csv -k 5;  tvgnn cluster --h5ad cells.h5ad --spatial-key spatial -k 12
    """
    if write_h5ad is not None and source.h5ad.h5ad is None:
        raise ValueError("--write-h5ad needs --h5ad FILE, to whose cells the result is added")
    if write_h5ad is None and (embedding or key_added is not None):
        option = "--embedding" if embedding else "--key-added"
        raise ValueError(f"{option} needs --write-h5ad FILE; of any run, tvgnn export writes tables and h5ad files")

    from tvgnn.cli.run import choice_notes, fit, graph_notes, print_metrics, run_metrics, say, set_threads, write_run
    from tvgnn.estimators.clustering import TVClustering
    from tvgnn.estimators.presets import preset_without_name
    from tvgnn.experiments.references import are_quick
    from tvgnn.experiments.references import references as compared
    from tvgnn.io.new_files import new_file
    from tvgnn.io.run_folder import run_folder
    from tvgnn.io.run_input import input_hashes
    from tvgnn.ops._backends import resolve_device

    if preset is None:
        preset = "paper" if source.dataset is not None else preset_without_name(model.parameters())
    set_threads(model.threads)
    given = source.read(preset, model.scaling)
    inputs = input_hashes(source.files())
    key = "tvgnn" if key_added is None else key_added
    if write_h5ad is not None:  # before anything is trained
        from tvgnn.external.anndata import check_key

        check_key(given.adata, key, embedding=embedding)
    classes = given.graph.num_classes
    if n_clusters is None and not classes:
        raise ValueError("expected the number of clusters, got no known classes to count; pass -k")
    k = n_clusters or classes
    given.check_n_clusters(k)
    given = source.for_clusters(given, k)
    name, graph = given.name, given.graph
    resolve_device(model.device)
    notes = graph_notes(graph.report)
    if not quiet:
        for note in notes:
            say("note", note)
    estimator = TVClustering(
        k,
        preset=preset,
        random_state=seed,
        verbose=0 if quiet else 1,
        **model.parameters(),
        **source.neighbors.of_new_rows(),
    )
    context = source.context(given)
    target = out or Path("runs") / f"{name}-k{k}-seed{seed}"
    used = [*source.files().values(), write_h5ad]
    with run_folder(target, overwrite=overwrite, used=used) as folder, new_file(write_h5ad) as file:
        messages = fit(estimator, graph)
        found = choice_notes(estimator, given.feature_names)
        if not quiet:
            for note in found:
                say("note", note)
        estimator.set_params(**source.neighbors.parameters())  # the saved model says how its graph was made
        metrics = run_metrics(estimator, dataset=name, seed=seed, notes=[*notes, *messages, *found], inputs=inputs)
        if references if references is not None else are_quick(estimator):
            try:
                metrics["references"] = compared(estimator, seed)
            except KeyboardInterrupt:  # of what takes long nothing is left; a second one still ends everything
                say("note", "interrupted, so there is no comparison with features and graph alone; the run is kept")
        write_run(folder, estimator, metrics, context)
        source.remember(folder, given, inputs)
        if file is not None:
            source.h5ad.write(file, given.adata, estimator, key, embedding=embedding)
    if not quiet:
        print_metrics(metrics)
        if write_h5ad is not None:
            print(f"wrote {write_h5ad}")
        print(f"wrote {target}; for a page in the browser: tvgnn report {shlex.quote(str(target))}")
