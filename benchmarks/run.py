"""Run a suite of benchmarks, print tables of ratios and keep the records."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.baselines import torch_geometric_pool as peer
from benchmarks.records import Measurement, append
from benchmarks.registry import BENCHMARKS, DATASETS, GRAPH_SETS, SUITES, Case, Settings
from tvgnn.errors import DataError

__all__ = ["main"]

_RECORDS = Path(__file__).parent / "results" / "records.jsonl"


def show(measurements: list[Measurement], console: Console) -> None:
    """Print one table: the ratio is to the first variant."""
    first = measurements[0]
    console.print(f"\n{first.benchmark}", style="bold", highlight=False)
    table = Table()
    for name in ("variant", f"median {first.unit}", "20 %", "80 %", "ratio"):
        table.add_column(name, justify="left" if name == "variant" else "right")
    for one in measurements:
        values = (_rounded(value) for value in (one.median, one.low, one.high))
        table.add_row(one.variant, *values, _rounded(one.median / first.median))
    console.print(table)


def _rounded(value: float) -> str:
    return f"{value:.{1 if value >= 10 else 2 if value >= 1 else 3}f}"


def run(cases: list[Case], records: Path, console: Console) -> bool:
    """Run one case after the other; False where results of some disagreed."""
    agreed = True
    for case in cases:
        try:
            for measurements in case.run():
                show(measurements, console)
                append(records, measurements)
        except DataError as error:
            console.print(f"skipped {case.title}: {error}")
        except ArithmeticError as error:
            agreed = False
            console.print(f"[bold]not recorded[/bold] {case.title}: {error}")
    return agreed


def main() -> None:
    """Parse the command line and run."""
    # An exit, unlike the signal itself, ends the process of a probe that runs at the moment.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", choices=SUITES, default="short")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, help="these benchmarks, at the sizes of the suite")
    parser.add_argument(
        "--datasets",
        nargs="+",
        choices=[*DATASETS["full"], *GRAPH_SETS["full"]],
        help="these citation networks and sets of graphs",
    )
    parser.add_argument("--rounds", type=int, default=15, help="repetitions; slow benchmarks stop earlier (default 15)")
    parser.add_argument("--mirror", help="local folder of datasets, as for tvgnn cluster; also TVGNN_MIRROR")
    parser.add_argument("--out", type=Path, default=_RECORDS, help="JSON-lines file that records are added to")
    options = parser.parse_args()
    console = Console(width=100)
    networks, sets = (
        tuple(name for name in known["full"] if name in options.datasets) if options.datasets else known[options.suite]
        for known in (DATASETS, GRAPH_SETS)
    )
    settings = Settings(options.suite == "short", options.rounds, options.mirror, networks, sets)
    if not peer.AVAILABLE:
        console.print(f"{peer.NAME} is not installed and left out; benchmarks/README.md says how to add it")
    names = options.only or SUITES[options.suite]
    cases = [case for name in names for case in BENCHMARKS[name](settings)]
    if not run(cases, options.out, console):
        sys.exit(1)


if __name__ == "__main__":
    main()
