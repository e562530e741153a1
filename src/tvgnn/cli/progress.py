"""A progress line for many runs, and tables on standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["print_tables", "run_progress"]

_FILE_WIDTH = 150  # a pipe or a file has no width to fit; wider tables are as wide as they must be

_ANY_WIDTH = 10_000


@contextmanager
def run_progress() -> Iterator[tuple[Callable[[int, int], None], Callable[[str], None]]]:
    """Show a line on standard error, where that is a terminal; gives what starts it and what ends a run.

    The first takes the numbers of all runs and of those that are there, the second what to say of the run.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (
        BarColumn(bar_width=20), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("loading data", total=None)

        def start(total: int, done: int) -> None:
            progress.update(bar, total=total, completed=done, description="")

        def advance(description: str) -> None:
            progress.update(bar, advance=1, description=description)

        yield start, advance


def print_tables(tables: Iterable[Table], width: int = _FILE_WIDTH) -> None:
    """Print tables; the width is the least of a file or pipe."""
    from rich.console import Console

    for table in tables:
        console = Console()
        if not sys.stdout.isatty():
            console.width = max(width, Console(width=_ANY_WIDTH).measure(table).maximum)
        console.print(table)
