"""``tvgnn sweep``: which number of clusters? Several of them, several seeds each, compared without labels."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvgnn.cli import options
from tvgnn.cli.expand import expanded
from tvgnn.cli.graph_input import GraphInput
from tvgnn.cli.model_options import ModelOptions

if TYPE_CHECKING:
    from tvgnn.experiments.sweep import SweepResult
    from tvgnn.graph.graph import Graph
    from tvgnn.records import ClusteringRecord

__all__ = ["sweep"]

_FORMATS = ("png", "pdf")
_MOST = 1000  # K of one sweep: more is a slip of the keyboard


@expanded(without=("labels", "label_key", "empty_clusters"))  # known classes are never looked at, empty ones are
def sweep(
    *,
    source: GraphInput,
    n_clusters: Annotated[
        str, typer.Option("-k", "--n-clusters", help="Numbers of clusters: 2:20, 2:20:2, 3,5,8 or a mixture.")
    ] = "2:20",
    seeds: Annotated[int, typer.Option(min=2, help="Seeds of each K, which are compared with each other.")] = 5,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="The first seed.")] = 0,
    consensus: Annotated[
        bool, typer.Option("--consensus", help="Labels from the mean of all seeds, not from the lowest loss.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time, which share the cores.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of records and results; a second call goes on.", show_default="runs/NAME-sweep"),
    ] = None,
    quiet: options.Quiet = False,
    preset: options.Preset = "quick",
    model: ModelOptions,
) -> None:
    """Try several numbers of clusters and recommend one, or none; known classes are never looked at.

    The preset quick trains four times 60 epochs with layers of 32 columns and step 1; --preset paper is much slower.
    Recommended is the K with all clusters in use, none a stray node, whose clusters other seeds find again (stability)
    and which are denser than those of a random graph (modularity): the largest product of both, or a smaller K within
    a standard error of it.

    Writes sweep.csv, labels.csv (one column a K, clusters of different K matched), sweep.json and sweep.png, .pdf.

    Example: tvgnn sweep --edges edges.csv --features features.csv -k 2:12 --jobs 2
    """
    ks = _numbers(n_clusters)
    from tvgnn.cli.environment import git_commit, peak_rss_bytes, versions
    from tvgnn.cli.progress import print_tables, run_progress
    from tvgnn.cli.run import graph_notes, pool_workers, say, set_threads, told_warnings
    from tvgnn.experiments.clustering import ClusteringEnvironment
    from tvgnn.experiments.sweep import run_sweep
    from tvgnn.experiments.sweep_jobs import GivenGraph, sweep_jobs
    from tvgnn.io.run_input import input_hashes
    from tvgnn.ops._backends import resolve_device

    workers = pool_workers(jobs, threads=model.threads)
    set_threads(model.threads)
    read = source.read(preset, model.scaling)
    inputs = input_hashes(source.files())
    read.check_n_clusters(ks[-1])
    read = source.for_clusters(read, ks[-1])  # all K share one graph
    name, graph = read.name, read.graph
    resolve_device(model.device)
    if not quiet:
        for note in graph_notes(graph.report):
            say("note", note)
    given = GivenGraph.of(graph)
    plan = sweep_jobs(name, given, ks, seeds, seed, {"preset": preset, **model.parameters()})
    target = out or Path("runs") / f"{name}-sweep"
    environment = ClusteringEnvironment(given, peak_rss_bytes, versions(), git_commit())
    with told_warnings(), run_progress() as (start, advance):

        def tell(record: ClusteringRecord) -> None:
            advance(f"K={record.n_clusters}, seed {record.seed}")
            if record.error is not None:
                say("warning", f"K={record.n_clusters}, seed {record.seed}: {record.error}")

        result = run_sweep(
            plan, target, environment, workers=workers, consensus=consensus, on_start=start, on_record=tell
        )
    settings = {"consensus": consensus, "seeds": seeds, **plan[0].settings}
    _write(target, name, graph, result, settings, inputs)
    if not quiet:
        from tvgnn.report.sweep_table import sweep_table

        print_tables([sweep_table([asdict(row) for row in result.rows], result.n_clusters)])
        print(f"{_verdict(result)}: {result.reason}.")
        print(f"wrote {target}")


def _verdict(result: SweepResult) -> str:
    return "no K is recommended" if result.n_clusters is None else f"recommended: K = {result.n_clusters}"


def _numbers(text: str) -> list[int]:
    """Read ``2:20``, ``2:20:2``, ``3,5`` and mixtures; ends are included."""
    found: set[int] = set()
    for part in text.split(","):
        span = _span(part)
        if span is None:
            raise ValueError(f"expected -k as numbers from 1, such as 2:20, 2:20:2 or 3,5,8, got {text!r}")
        found.update(span[: _MOST + 1])
        if len(found) > _MOST:
            raise ValueError(f"expected -k to name at most {_MOST} numbers, got {text!r}; take larger steps: 2:2000:50")
    return sorted(found)


def _span(text: str) -> range | None:
    """Numbers of ``first``, ``first:last`` or ``first:last:step``; None where it is none of these."""
    parts = [part.strip() for part in text.split(":")]
    if len(parts) > 3 or not all(part.isdecimal() for part in parts):
        return None
    first, last, step = [int(part) for part in parts] + [int(parts[0]), 1][len(parts) - 1 :]
    return range(first, last + 1, step) if 1 <= first <= last and step >= 1 else None


def _write(
    target: Path,
    name: str,
    graph: Graph,
    result: SweepResult,
    settings: dict[str, Any],
    inputs: list[dict[str, str]],
) -> None:
    """Write every file beside its place and then rename it: none is ever half-written."""
    from tvgnn.io.run_folder import write_metrics
    from tvgnn.metrics import cluster_sizes
    from tvgnn.report.figures import save_figure
    from tvgnn.report.sweep_figure import sweep_figure

    rows = [asdict(row) for row in result.rows]
    title = f"{name}: {graph.num_nodes:,} nodes, {_verdict(result)}"
    found = {k: cluster_sizes(labels).tolist() for k, labels in result.labels.items()}
    figure = sweep_figure(rows, found, result.n_clusters, result.random_modularity, title)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=target) as folder:
        new = Path(folder)
        _write_csv(new / "sweep.csv", list(rows[0]), ([_cell(value) for value in row.values()] for row in rows))
        columns = [labels.tolist() for labels in result.labels.values()]
        header = ["node_id", *(f"k{k}" for k in result.labels)]
        _write_csv(new / "labels.csv", header, zip(graph.node_ids, *columns, strict=True))
        summary: dict[str, Any] = {"dataset": name, "n_clusters": result.n_clusters, "reason": result.reason}
        summary |= {"random_modularity": result.random_modularity, "settings": settings, "rows": rows}
        if inputs:
            summary["inputs"] = inputs
        write_metrics(new / "sweep.json", summary)
        for ending in _FORMATS:
            save_figure(figure, new / f"sweep.{ending}")
        for file in new.iterdir():
            os.replace(file, target / file.name)


def _write_csv(path: Path, header: list[str], rows: Iterable[Sequence[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def _cell(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
