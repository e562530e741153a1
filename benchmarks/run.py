"""Run a suite of benchmarks, print a table of ratios and keep the records."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.epoch import epoch
from benchmarks.records import Measurement, append
from tvgnn.errors import DataError

SUITES = {"short": ("cora",), "full": ("cora", "citeseer", "pubmed", "dblp")}


def show(measurements: list[Measurement], console: Console) -> None:
    """Print one benchmark: the ratio is to the first variant."""
    first = measurements[0]
    table = Table(title=f"{first.benchmark} ({first.threads} threads, commit {first.commit})")
    for name in ("variant", "median ms", "20 %", "80 %", "ratio"):
        table.add_column(name, justify="left" if name == "variant" else "right")
    for one in measurements:
        values = (f"{value:.1f}" for value in (one.median, one.low, one.high))
        table.add_row(one.variant, *values, f"{one.median / first.median:.2f}")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", choices=SUITES, default="short")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--mirror", help="local folder of datasets, as for tvgnn cluster; also TVGNN_MIRROR")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/records.jsonl"))
    options = parser.parse_args()
    console = Console()
    for dataset in SUITES[options.suite]:
        try:
            measurements = epoch(dataset, options.mirror, options.rounds)
        except DataError as error:
            console.print(f"skipped {dataset}: {error}")
            continue
        show(measurements, console)
        append(options.out, measurements)


if __name__ == "__main__":
    main()
