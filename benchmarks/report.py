"""Write the tables of docs/performance.md from records, or check that they are what the records give.

Without arguments the page is written from `docs/records/performance.jsonl`. With files of records that file is made
first, from the latest run of every benchmark that the page shows; name it among them to add to it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.records import Measurement, compact, read
from benchmarks.tables import TABLES, Runs, Table
from tvgnn.errors import DataError

__all__ = ["distil", "latest", "main", "written"]

_DOCS = Path(__file__).parents[1] / "docs"
PAGE, RECORDS = _DOCS / "performance.md", _DOCS / "records" / "performance.jsonl"
_PACKAGES = ("torch", "numba", "torch-geometric-pool")


def latest(measurements: Iterable[Measurement]) -> Runs:
    """Variants of the last run of each benchmark; those of an earlier run are not mixed in."""
    runs: dict[str, dict[str, Measurement]] = {}
    for one in measurements:
        run = runs.get(one.benchmark, {})
        if one.variant in run or any(other.commit != one.commit for other in run.values()):
            run = {}
        runs[one.benchmark] = run | {one.variant: one}
    return runs


def distil(measurements: Iterable[Measurement]) -> list[Measurement]:
    """What the page shows of these records, to five digits."""
    runs = latest(measurements)
    shown = {name: run for table in TABLES for name, run in table.of(runs).items()}
    return [_rounded(one) for run in shown.values() for one in run.values()]


def _rounded(one: Measurement) -> Measurement:
    median, low, high = (float(f"{value:.5g}") for value in (one.median, one.low, one.high))
    return replace(one, median=median, low=low, high=high)


def written(page: str, measurements: Iterable[Measurement]) -> str:
    """Return the page with the text between its markers replaced.

    Raises:
        DataError: it lacks the markers of a table.

    """
    runs = latest(measurements)
    for table in TABLES:
        begin, end = f"<!-- begin {table.name} -->", f"<!-- end {table.name} -->"
        if page.count(begin) != 1 or page.count(end) != 1 or page.index(end) < page.index(begin):
            raise DataError(
                f"expected the lines {begin} and {end} once each in {PAGE.name}; add them where the table goes"
            )
        before, after = page.partition(begin)[0], page.partition(end)[2]
        page = f"{before}{begin}\n{_text(table, table.of(runs))}\n{end}{after}"
    return page


def _text(table: Table, runs: Runs) -> str:
    command = f"`python -m benchmarks.run --suite full --only {table.arguments}`"
    if not runs:
        return f"\n{table.absent} This measures it: {command}.\n"
    parts = [*table.blocks(runs), f"{_provenance(runs)}\nRepeat with {command}."]
    return "\n" + "\n\n".join(parts) + "\n"


def _provenance(runs: Runs) -> str:
    """Where the records come from; of several sources all but the first, which has most, with what they cover."""
    sources: dict[tuple[str, ...], list[str]] = {}
    repetitions = [one.repetitions for run in runs.values() for one in run.values()]
    for name, run in runs.items():
        for one in run.values():
            versions = ", ".join(
                f"{package} {one.versions[package]}" for package in _PACKAGES if package in one.versions
            )
            threads = f"{one.threads} thread" + ("s" if one.threads > 1 else "")
            source = (f"commit `{one.commit}`", one.date[:10], threads, one.device, versions)
            covered = sources.setdefault(source, [])
            if name not in covered:
                covered.append(name)
    fewest, most = min(repetitions), max(repetitions)
    rounds = "one run" if most == 1 else f"medians of {fewest if fewest == most else f'{fewest} to {most}'} rounds"
    (most_common, _), *others = sorted(sources.items(), key=lambda item: -len(item[1]))
    sentences = [", ".join(most_common)]
    sentences += [f"but {'; '.join(covered)}: {', '.join(source)}" for source, covered in others]
    return "Measured: " + "; ".join(sentences) + f"; {rounds}."


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line, then write or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="*", type=Path, help="files of benchmarks.run; of the same benchmark the last")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file differs")
    options = parser.parse_args(arguments)
    measurements = distil(one for path in options.records or [RECORDS] for one in read(path))
    wanted = {RECORDS: compact(measurements), PAGE: written(PAGE.read_text(encoding="utf-8"), measurements)}
    for path, text in wanted.items():
        if not options.check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.name} is not what the records give; run python -m benchmarks.report and commit it")


if __name__ == "__main__":
    main()
