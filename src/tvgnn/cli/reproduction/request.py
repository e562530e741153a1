"""What all experiments are told, and how they make their runs and write their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tvgnn.cli.outcome import tell
from tvgnn.errors import DataError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tvgnn.experiments.clustering import ClusteringEnvironment, ClusteringJob
    from tvgnn.experiments.clustering_runner import ClusteringOutcome
    from tvgnn.experiments.plan import Job
    from tvgnn.experiments.pool import Workers
    from tvgnn.graph.graph import Graph
    from tvgnn.records import ClusteringRecord, RunRecord
    from tvgnn.report.cells import Cell

__all__ = ["Request"]

_FIGURES = "figures"
_FORMATS = ("png", "pdf")


@dataclass(frozen=True)
class Request:
    """The options of one call.

    Attributes
    ----------
    out : path
        Folder of records, arrays, tables and figures.
    environment : ClusteringEnvironment
        Loader of graphs, facts of the machine.
    workers : Workers
        Who makes runs.
    threads : int or None
        Threads of a run, where they are named.
    root, mirror : path or None
        Folders of datasets, as of `tvgnn.load_dataset`.
    deadline : float or None
        Of `time.monotonic`; after it no further run starts.
    quick : bool
        A short form: fewer graphs, seeds and epochs.
    draw_only : bool
        No runs: tables and figures of the records at hand.
    datasets, methods : tuple of str, or None
        Names, of which an experiment takes those that it knows; None for its own choice.
    seeds, max_epochs : int or None
        None for the experiment's own choice.

    """

    out: Path
    environment: ClusteringEnvironment
    workers: Workers
    threads: int | None = None
    root: Path | None = None
    mirror: Path | None = None
    deadline: float | None = None
    quick: bool = False
    draw_only: bool = False
    datasets: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    seeds: int | None = None
    max_epochs: int | None = None

    def chosen_datasets(self, known: Sequence[str], default: Sequence[str]) -> tuple[str, ...]:
        """Return the datasets that were asked for, else the default."""
        return tuple(default) if self.datasets is None else tuple(name for name in self.datasets if name in known)

    def chosen_methods(self, known: Sequence[str]) -> tuple[str, ...]:
        """Return the methods that were asked for, else all."""
        return tuple(known) if self.methods is None else tuple(name for name in self.methods if name in known)

    def epochs(self, full: int, quick: int) -> int:
        """Return the largest number of epochs: the one asked for, else one of these."""
        return self.max_epochs or (quick if self.quick else full)

    def minutes(self) -> float | None:
        """Return the time that is left for starting runs, None for any time."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic()) / 60

    def graph(self, name: str, seed: int = 0) -> Graph:
        """Load a graph."""
        return self.environment.load(name, seed)

    def run(self, jobs: Sequence[ClusteringJob], *, need_arrays: bool = True) -> ClusteringOutcome:
        """Make the missing runs, say which failed or are left, and return what is there.

        Parameters
        ----------
        jobs : sequence of ClusteringJob
            Which runs.
        need_arrays : bool
            As of `tvgnn.experiments.clustering_runner.run_clusterings`.

        Raises
        ------
        TrainingError
            Every run failed.
        DataError
            There is not one record, or a folder cannot be read or written.
        """
        from tvgnn.cli.progress import run_progress
        from tvgnn.experiments.clustering_runner import run_clusterings, stored_clusterings

        if self.draw_only:
            outcome = stored_clusterings(jobs, self.out, need_arrays=need_arrays)
        else:
            with run_progress() as (start, advance):

                def show(record: ClusteringRecord) -> None:
                    nmi = record.metrics.get("nmi")
                    result = "failed" if record.error else "done" if nmi is None else f"NMI {nmi:.3f}"
                    advance(f"{record.dataset}, {record.method}, seed {record.seed}: {result}")

                outcome = run_clusterings(
                    jobs, self.out, self.environment, workers=self.workers, minutes=self.minutes(),
                    need_arrays=need_arrays, on_start=start, on_record=show,
                )  # fmt: skip
        self.tell(list(outcome.records.values()), outcome.left)
        return outcome

    def tell(
        self, records: Sequence[RunRecord] | Sequence[ClusteringRecord], left: Sequence[ClusteringJob] | Sequence[Job]
    ) -> None:
        """Say which runs failed and how many are left.

        Raises
        ------
        TrainingError
            Every run failed.
        DataError
            There is not one record.
        """
        same = "the same command makes them"
        tell(records, left, f"without --draw-only {same}" if self.draw_only else same)
        if not records:
            raise DataError(f"expected records of this experiment in {self.out}, found none; allow time for a run")

    def write_table(self, name: str, parts: Iterable[tuple[str, Sequence[Sequence[Cell]]]], notes: str = "") -> None:
        """Print titled tables and write them as Markdown to ``NAME.md``."""
        from tvgnn.cli.progress import print_tables
        from tvgnn.report.cells import markdown_table, rich_table

        found = list(parts)
        print_tables(rich_table(rows, title) for title, rows in found)
        text = "\n\n".join([f"### {title}\n\n{markdown_table(rows)}" for title, rows in found] + [notes] * bool(notes))
        self.write_text(f"{name}.md", text + "\n")

    def write_text(self, name: str, text: str) -> None:
        """Write a file of the output folder, whole or not at all, and say so."""
        self._write(self.out / name, lambda part: part.write_text(text, encoding="utf-8"))
        print(f"wrote {self.out / name}")

    def write_figure(self, name: str, figure: Figure) -> None:
        """Write a figure as picture and as vectors, each whole or not at all, and say so."""
        from tvgnn.report.figures import save_figure

        path = self.out / _FIGURES / name
        for ending in _FORMATS:
            self._write(path.with_name(f"{name}.{ending}"), lambda part: save_figure(figure, part))
        print(f"wrote {path}.{{{','.join(_FORMATS)}}}")

    def _write(self, path: Path, write: Callable[[Path], object]) -> None:
        """Let a function write a file under another name of the same ending, then rename it."""
        part = path.with_name(f".{path.stem}.part{path.suffix}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write(part)
            part.replace(path)
        except OSError as error:
            raise DataError(
                f"{path}: cannot be written: {error.strerror or error}; choose another folder with --out"
            ) from None
        finally:
            with suppress(OSError):
                part.unlink()
