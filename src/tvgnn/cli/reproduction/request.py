"""What all experiments are told, and how they make their runs and write their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tvgnn.cli.outcome import Keyed, tell
from tvgnn.errors import DataError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tvgnn.experiments.clustering import ClusteringEnvironment, ClusteringJob
    from tvgnn.experiments.clustering_runner import ClusteringOutcome
    from tvgnn.experiments.drawn_graphs import DrawnGraph
    from tvgnn.experiments.pool import Workers
    from tvgnn.records import ClusteringRecord, Record
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

    def drawn_graph(self, name: str) -> DrawnGraph:
        """Return what figures need of a graph: what an earlier call kept, else loaded, but never with ``draw_only``.

        Raises
        ------
        DataError
            It was not kept and there is only drawing, its file is damaged, or it cannot be loaded or written.
        """
        from tvgnn.experiments.drawn_graphs import drawn_graph_file, keep_drawn_graph, read_drawn_graph

        if not self.draw_only and not drawn_graph_file(self.out, name).exists():
            keep_drawn_graph(self.out, name, self.environment.load(name, 0))
        return read_drawn_graph(self.out, name)

    def require_records(self, path: Path) -> None:
        """Where there is only drawing, refuse a file of records that does not exist.

        Raises
        ------
        DataError
            Says what makes it.
        """
        if self.draw_only and not path.exists():
            raise DataError(
                f"{path}: expected records to draw from, found no file; without --draw-only the same command makes them"
            )

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
        from tvgnn.experiments.clustering_runner import RECORDS_FILE, run_clusterings, stored_clusterings

        if self.draw_only:
            self.require_records(self.out / RECORDS_FILE)
            outcome = stored_clusterings(jobs, self.out, need_arrays=need_arrays)
        else:
            drawn = dict.fromkeys(job.dataset for job in jobs if job.kept_arrays)
            with run_progress() as (start, advance):

                def begin(total: int, done: int) -> None:
                    if done < total:
                        for name in drawn:
                            self.drawn_graph(name)  # before the runs, so that any part of them can be drawn
                    start(total, done)

                def show(record: ClusteringRecord) -> None:
                    nmi = record.metrics.get("nmi")
                    result = "failed" if record.error else "done" if nmi is None else f"NMI {nmi:.3f}"
                    advance(f"{record.dataset}, {record.method}, seed {record.seed}: {result}")

                outcome = run_clusterings(
                    jobs, self.out, self.environment, workers=self.workers, minutes=self.minutes(),
                    need_arrays=need_arrays, on_start=begin, on_record=show,
                )  # fmt: skip
        self.tell(list(outcome.records.values()), outcome.left)
        return outcome

    def tell(self, records: Sequence[Record], left: Sequence[Keyed]) -> None:
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
            remedy = f"without --draw-only {same}" if self.draw_only else "allow time for a run"
            raise DataError(f"expected records of this experiment in {self.out}, found none; {remedy}")

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
        from tvgnn.io.new_files import whole_file

        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path, alone=True) as part:
                write(part)
        except OSError as error:
            raise DataError(
                f"{path}: cannot be written: {error.strerror or error}; choose another folder with --out"
            ) from None
