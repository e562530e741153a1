"""``tvgnn export``: the result of a run in the files of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvgnn.errors import DataError

if TYPE_CHECKING:
    from tvgnn.estimators.clustering import TVClustering
    from tvgnn.io.run_context import RunContext

__all__ = ["export"]


def export(
    run_dir: Annotated[Path, typer.Argument(help="A folder that tvgnn cluster or demo wrote.")],
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Files to write: .graphml, .gexf, .h5ad, .csv, .tsv or .parquet."),
    ],
    coarsened: Annotated[
        bool, typer.Option("--coarsened", help="Write the graph of clusters: .graphml, .gexf or a table of edges.")
    ] = False,
    soft: Annotated[
        bool, typer.Option("--soft", help="With --coarsened: weigh edges by soft assignments, instead of counting.")
    ] = False,
    assignments: Annotated[
        bool, typer.Option("--assignments", help="Write soft assignments too, as p_0, p_1, ...")
    ] = False,
    embedding: Annotated[
        bool,
        typer.Option(
            "--embedding", help="Write the nodes' embedding too: e_0, e_1, ... in tables, obsm['X_tvgnn'] in .h5ad."
        ),
    ] = False,
    source: Annotated[
        Path | None,
        typer.Option(
            help="The file that the result is added to.",
            show_default="the GraphML, GEXF or h5ad file that was clustered",
        ),
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Write the run's own graph, without what else the clustered file holds.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
) -> None:
    """Write the clusters of a run into files for other programs; the ending of a name says the format.

    Examples: tvgnn export runs/mine clusters.gexf;  tvgnn export runs/mine table.csv table.parquet;
    tvgnn export runs/mine --coarsened clusters.graphml
    """
    from contextlib import ExitStack

    from tvgnn.io.network_files import NETWORK_SUFFIXES
    from tvgnn.io.new_files import new_file
    from tvgnn.io.table_export import TABLE_SUFFIXES

    known = (*NETWORK_SUFFIXES, *TABLE_SUFFIXES) if coarsened else (*NETWORK_SUFFIXES, ".h5ad", *TABLE_SUFFIXES)
    for file in files:
        if file.suffix.lower() not in known:
            raise ValueError(f"{file}: expected one of the endings {', '.join(known)}, got {file.suffix or 'none'}")
        if file.exists() and not overwrite:
            raise ValueError(f"{file}: the file exists; choose another name, or replace it (--overwrite)")
    if len({file.resolve() for file in files}) < len(files):
        raise ValueError("expected files with different names, got one twice")
    if soft and not coarsened:
        raise ValueError("--soft needs --coarsened, the graph whose edges it weighs")
    if coarsened and (assignments or embedding or plain or source is not None):
        raise ValueError(
            "--coarsened writes clusters and not nodes; leave out --assignments, --embedding, --plain and --source"
        )
    if embedding and (networks := [file for file in files if file.suffix.lower() in NETWORK_SUFFIXES]):
        raise ValueError(
            f"{networks[0]}: --embedding is hundreds of columns, for {', '.join(TABLE_SUFFIXES)} and .h5ad; export "
            "networks without it"
        )
    if (plain or source is not None) and all(file.suffix.lower() in TABLE_SUFFIXES for file in files):
        raise ValueError(
            "--source and --plain are for .graphml, .gexf and .h5ad; tables hold nothing of the input file"
        )
    if plain and source is not None:
        raise ValueError("expected --source FILE or --plain, got both; leave one of them out")
    result = _Result(run_dir, source, plain, assignments, embedding)
    result.refuse_to_replace(files)
    with ExitStack() as stack:  # no file appears unless all can be written
        places = [Path(str(stack.enter_context(new_file(file, overwrite=overwrite)))) for file in files]
        for place in places:
            if coarsened:
                result.write_coarsened(place, soft)
            else:
                result.write(place)
    for file in files:
        print(f"wrote {file}")


class _Result:
    """A run, and the file whose copy gets its clusters."""

    def __init__(
        self, run_dir: Path, source: Path | None, plain: bool, with_assignments: bool, with_embedding: bool
    ) -> None:
        from tvgnn.cli.report import read_metrics
        from tvgnn.estimators.clustering import TVClustering
        from tvgnn.io.run_context import read_context
        from tvgnn.io.run_input import read_input

        if read_metrics(run_dir).get("task") == "classification":
            raise ValueError(f"{run_dir}: expected a clustering, got a classification, which has no clusters")
        self.estimator: TVClustering = TVClustering.load(run_dir)
        self.context: RunContext = read_context(run_dir)
        self.run_dir, self.source, self.plain = run_dir, source, plain
        self.input = read_input(run_dir)
        self.graph = self.estimator.graph_
        if self.context.y is not None and self.context.class_names is not None:
            names = self.context.class_names
            self.graph = self.graph.with_labels([None if code < 0 else names[code] for code in self.context.y])
        self.noted: set[str] = set()
        self.confidence = self.estimator.assignments_.max(axis=1)
        self.assignments = self.estimator.assignments_ if with_assignments else None
        self.embedding = self.estimator.embedding_ if with_embedding else None

    def refuse_to_replace(self, files: list[Path]) -> None:
        """Refuse to write over what the result is made of: the run's own files, and the file that was clustered.

        Raises
        ------
        ValueError
            One of ``files`` is such a file.
        """
        from tvgnn.io.run_folder import RUN_FILES

        clustered = None if self.input is None else self.input.path
        read = {path.resolve() for path in (self.source, clustered) if path is not None}
        for file in files:
            final = file.resolve()
            if final in read:
                raise ValueError(f"{file}: is the file that was clustered and is not overwritten; choose another name")
            if final.parent == self.run_dir.resolve() and final.name in RUN_FILES:
                raise ValueError(f"{file}: is a file of the run and is not overwritten; choose another name")

    def write(self, path: Path) -> None:
        """Write the nodes."""
        from tvgnn.cli.run import say
        from tvgnn.io.graph_export import write_clustered_graph
        from tvgnn.io.network_files import NETWORK_SUFFIXES
        from tvgnn.io.table_export import write_node_table

        suffix, labels = path.suffix.lower(), self.estimator.labels_
        given: dict[str, Any] = {"confidence": self.confidence, "assignments": self.assignments}
        if suffix == ".h5ad":
            self._write_h5ad(path)
        elif suffix in NETWORK_SUFFIXES:
            source = self._source(NETWORK_SUFFIXES)
            names = write_clustered_graph(
                path, self.graph, labels, positions=self.context.positions, source=source, **given
            )
            for name in sorted(set(names) - self.noted):
                if name.startswith("tvgnn_"):
                    say("note", f"the attribute is called {name}, as the clustered file has one of the shorter name")
            self.noted.update(names)
        else:
            write_node_table(path, self.graph, labels, embedding=self.embedding, **given)

    def write_coarsened(self, path: Path, soft: bool) -> None:
        """Write the clusters."""
        import numpy as np

        from tvgnn.graph.coarsened import coarsened_graph
        from tvgnn.io.coarsened_export import write_coarsened_graph

        labels, assignments = self.estimator.labels_, self.estimator.assignments_
        k = assignments.shape[1]
        graph = coarsened_graph(self.graph, assignments if soft else labels, n_clusters=None if soft else k)
        sizes = np.bincount(labels, minlength=k)

        def mean(values: Any) -> Any:  # NaN for a cluster without nodes
            sums = np.bincount(labels, weights=values, minlength=k)
            return np.divide(sums, sizes, out=np.full(k, np.nan), where=sizes > 0)

        points = self.context.positions
        where = None if points is None else np.stack([mean(points[:, 0]), mean(points[:, 1])], axis=1)
        write_coarsened_graph(path, graph, attributes={"confidence": mean(self.confidence)}, positions=where)

    def _write_h5ad(self, path: Path) -> None:
        from tvgnn.external.anndata import check_key, store_clustering
        from tvgnn.external.anndata_export import to_anndata
        from tvgnn.graph.anndata_graph import require_anndata
        from tvgnn.io.h5ad import read_h5ad, write_h5ad

        try:
            require_anndata()
        except ImportError as error:
            raise DataError(str(error)) from None
        source = self._source((".h5ad",))
        if source is None:
            context = self.context
            adata = to_anndata(self.graph, feature_names=context.feature_names, positions=context.positions)
        else:
            adata = read_h5ad(source)
            if list(adata.obs_names) != [str(key) for key in self.graph.node_ids]:
                raise DataError(f"{source}: expected the cells that were clustered, got others, or another order")
            check_key(adata, embedding=self.embedding is not None)
        settings = dict(self.input.settings) if self.input else None
        store_clustering(adata, self.estimator, settings=settings, embedding=self.embedding is not None)
        write_h5ad(path, adata)

    def _source(self, suffixes: tuple[str, ...]) -> Path | None:
        """Return the file of such a format that the result is added to; None to write the run's own graph."""
        from tvgnn.io._text import text_suffix

        if self.source is not None:
            if text_suffix(self.source) not in suffixes:
                raise ValueError(f"{self.source}: expected --source to be {' or '.join(suffixes)}, as what is written")
            return self.source
        if self.plain or self.input is None or text_suffix(self.input.path) not in suffixes:
            return None
        return self.input.unchanged()
