"""``tvgnn benchmark``: the paper's experiments from data to table, and tables from their records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tvgnn.cli import options
from tvgnn.errors import DataError

if TYPE_CHECKING:
    from tvgnn.experiments.classification import Environment
    from tvgnn.experiments.plan import Plan
    from tvgnn.experiments.pool import Workers
    from tvgnn.experiments.runner import Outcome
    from tvgnn.records import RunRecord

__all__ = ["benchmark_app", "run_plan"]

benchmark_app = typer.Typer(help="Repeat an experiment of the paper, or print its table from records.")


@benchmark_app.command("classification")
def classification(
    datasets: Annotated[str, typer.Option(help="Names, comma-separated, such as MUTAG,PROTEINS.")],
    methods: Annotated[
        str, typer.Option(help="Pooling methods, comma-separated: tvgnn, mincut, dmon, diffpool, topk, sag; or all.")
    ] = "all",
    out: Annotated[Path, typer.Option(help="Folder of the records and splits; an interrupted benchmark goes on.")] = (
        Path("runs/classification")
    ),
    root: options.Root = None,
    mirror: options.Mirror = None,
    folds: Annotated[str, typer.Option(help="Which of the five folds, such as 0,1; or all.")] = "all",
    runs: Annotated[int, typer.Option(min=1, help="Runs a fold, each from other initial weights.")] = 3,
    readout: Annotated[
        options.Readout, typer.Option(help="What follows the mean over the nodes.")
    ] = options.Readout.linear,
    max_epochs: Annotated[
        int, typer.Option(min=1, help="Largest number of epochs; most runs stop before, by the validation loss.")
    ] = 500,
    seed: Annotated[int, typer.Option(min=0, max=2**31, help="Seed of the splits and of the runs.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help=options.JOBS_HELP)] = 1,
    threads: Annotated[int, typer.Option(min=1, help=options.RUN_THREADS_HELP)] = 1,
    time_limit: Annotated[
        float | None, typer.Option(min=0, help="Minutes after which no further run starts.", show_default="none")
    ] = None,
) -> None:
    """Classify graphs by the paper's protocol and print the table.

    Stratified 5-fold, a tenth of each training part for validation, three runs a fold. Each run is kept as soon as it
    ends; the same command goes on where an earlier one stopped, and repeats failed runs.

    Example: tvgnn benchmark classification --datasets MUTAG,PROTEINS --methods tvgnn,mincut --folds 0 --runs 1
    """
    from tvgnn.experiments.plan import DATASETS, METHODS, Plan, Settings

    settings = Settings(readout=readout.value, max_epochs=max_epochs, seed=seed)
    all_folds = tuple(str(fold) for fold in range(settings.n_folds))
    plan = Plan(
        datasets=options.chosen("--datasets", datasets, DATASETS),
        methods=options.chosen("--methods", methods, METHODS),
        folds=tuple(int(fold) for fold in options.chosen("--folds", folds, all_folds)),
        runs=runs,
        settings=settings,
    )

    from tvgnn.cli.outcome import tell
    from tvgnn.cli.run import pool_workers

    workers = pool_workers(jobs, threads=threads)
    outcome = run_plan(plan, out, root, mirror, workers=workers, minutes=time_limit)
    tell(outcome.records, outcome.left)
    _print_tables(outcome.records)
    print(f"{len(outcome.made)} runs made, all records are in {out}")


@benchmark_app.command("table")
def table(
    records: Annotated[
        list[Path], typer.Argument(help="Files records.jsonl, of graph classification or of vertex clustering.")
    ],
    page: Annotated[
        Path | None, typer.Option(help="Markdown file that gets the table between its markers; default: print it.")
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(help="File that gets the records, latest of each run, in a compact form.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail where a file differs.")] = False,
) -> None:
    """Print the tables of records, or write them into a page between its markers."""
    from tvgnn.cli.progress import print_tables
    from tvgnn.cli.record_tables import read_kind
    from tvgnn.cli.run import say
    from tvgnn.records import compact

    kind = read_kind(records)
    if note := kind.note():
        say("note", note)
    wanted = {}
    if keep is not None:
        wanted[keep] = compact(kind.records)
    if page is not None:
        wanted[page] = kind.written(_read(page))
    if not wanted:
        print_tables(kind.tables())
    for path, text in wanted.items():
        if not check:
            _write(path, text)
        elif not path.exists() or _read(path) != text:
            raise DataError(f"{path}: is not what the records give; run the command without --check")


def _environment(root: Path | None, mirror: Path | None) -> Environment:
    from tvgnn.cli.environment import git_commit, peak_rss_bytes, processor, versions
    from tvgnn.estimators.classification import TVGraphClassifier
    from tvgnn.experiments.classification import Environment, PublicDatasets

    return Environment(
        load=PublicDatasets(root, mirror),
        classifier=TVGraphClassifier,
        peak_memory=peak_rss_bytes,
        versions=versions(),
        commit=git_commit(),
        processor=processor,
    )


def run_plan(
    plan: Plan, out: Path, root: Path | None, mirror: Path | None, *, workers: Workers, minutes: float | None
) -> Outcome:
    """Make the missing runs of a plan with a progress line; see `tvgnn.experiments.runner.run_benchmark`."""
    from tvgnn.cli.progress import run_progress
    from tvgnn.experiments.runner import run_benchmark

    with run_progress() as (start, advance):

        def show(record: RunRecord) -> None:
            result = "failed" if record.test_accuracy is None else f"{100 * record.test_accuracy:.1f} %"
            advance(f"{record.dataset}, {record.method}, fold {record.fold}, run {record.run}: {result}")

        environment = _environment(root, mirror)
        return run_benchmark(plan, out, environment, workers=workers, minutes=minutes, on_start=start, on_record=show)


def _print_tables(records: Sequence[RunRecord]) -> None:
    from tvgnn.cli.progress import print_tables
    from tvgnn.report.classification_table import classification_tables

    print_tables(classification_tables(records))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}; expected a page with markers") from None


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}; choose another file") from None
