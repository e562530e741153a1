"""The table of graph classification beside the paper's figures: Markdown for the results page, rich for a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from tvgnn.errors import DataError
from tvgnn.records import RunRecord
from tvgnn.report.classification_statistics import Block, Summary, blocks, welch
from tvgnn.report.paper_figures import ACCURACY, DATASET_TITLES, METHOD_TITLES, P_VALUES

__all__ = ["classification_tables", "markdown", "written"]

_BEGIN, _END = "<!-- begin classification -->", "<!-- end classification -->"
_DATASETS = "MUTAG,PROTEINS,NCI1,Mutagenicity,bench-easy-small,bench-hard-small"
_MISSING = "-"
_P, _AS_PAPER = "p of the two best", "TVGNN as in the paper"
_SHORT_HASH = 7


@dataclass(frozen=True)
class _Cell:
    text: str = _MISSING
    rank: int = 0  # 1 for the best, 2 for the second best
    alarm: bool = False

    def markdown(self) -> str:
        if self.rank == 1 or self.alarm:
            return f"**{self.text}**"
        return f"<u>{self.text}</u>" if self.rank == 2 else self.text

    def rich(self) -> Text:
        return Text(self.text, {1: "bold", 2: "underline"}.get(self.rank, "bold red" if self.alarm else ""))


def markdown(records: Iterable[RunRecord]) -> str:
    """Return the tables with what they were measured with; without records, how to make some.

    Parameters
    ----------
    records : iterable of RunRecord
        Of one benchmark or several.
    """
    parts = []
    for block in blocks(records):
        header, *rows = _rows(block)
        lines = [header, [_Cell("---"), *[_Cell("---:")] * (len(header) - 1)], *rows]
        parts.append(_heading(block))
        if block.summaries:
            parts.append("\n".join(f"| {' | '.join(cell.markdown() for cell in line)} |" for line in lines))
        parts.append("\n".join([*_remarks(block), _provenance(block), f"Repeat with `{_command(block)}`."]))
    if not parts:
        command = f"tvgnn benchmark classification --datasets {_DATASETS} --methods all --out DIR"
        parts.append(f"Not run yet. This makes the records: `{command}`.")
    return "\n\n".join(parts)


def classification_tables(records: Iterable[RunRecord]) -> list[Table]:
    """Return one table for each group of runs with the same settings.

    Parameters
    ----------
    records : iterable of RunRecord
        As for `markdown`.
    """
    tables = []
    for block in blocks(records):
        if block.summaries:
            header, *rows = _rows(block)
            table = Table(box=None, pad_edge=False, title=_heading(block), title_justify="left")
            for number, cell in enumerate(header):
                table.add_column(cell.text, justify="right" if number else "left")
            for row in rows:
                table.add_row(*(cell.rich() for cell in row))
            tables.append(table)
    return tables


def written(page: str, records: Iterable[RunRecord]) -> str:
    """Return a page with the text between its markers replaced by that of `markdown`.

    Raises
    ------
    DataError
        It lacks the markers.
    """
    if page.count(_BEGIN) != 1 or page.count(_END) != 1 or page.index(_END) < page.index(_BEGIN):
        raise DataError(f"expected the lines {_BEGIN} and {_END} once each in the page; add them where the table goes")
    before, after = page.partition(_BEGIN)[0], page.partition(_END)[2]
    return f"{before}{_BEGIN}\n\n{markdown(records)}\n\n{_END}{after}"


def _rows(block: Block) -> Iterator[list[_Cell]]:
    """Yield the header, then five lines a dataset."""
    methods = [name for name in METHOD_TITLES if any(name in row for row in block.summaries.values())]
    yield [_Cell(text) for text in ("accuracy in %", *(METHOD_TITLES[name] for name in methods), _P, _AS_PAPER)]
    for dataset, row in block.summaries.items():
        best = sorted(row, key=lambda name: -row[name].mean)[:2]
        rank = {name: place for place, name in enumerate(best, start=1)} if len(row) > 1 else {}
        p = welch(row[best[0]], row[best[1]]) if len(best) > 1 else None
        yield [
            _Cell(DATASET_TITLES.get(dataset, dataset)),
            *(_accuracy(row[name], rank.get(name, 0)) if name in row else _Cell() for name in methods),
            _Cell() if p is None else _Cell("<0.001" if p < 0.001 else f"{p:.3f}"),
            _as_paper(dataset, row),
        ]
        paper = ACCURACY.get(dataset, {})
        stated = [_Cell("{:.1f} ± {:.1f}".format(*paper[name])) if name in paper else _Cell() for name in methods]
        yield [_Cell("paper"), *stated, _Cell(P_VALUES.get(dataset, _MISSING)), _Cell("")]
        for title, show in _DETAILS.items():
            cells = (_Cell(show(row[name])) if name in row else _Cell() for name in methods)
            yield [_Cell(title), *cells, _Cell(""), _Cell("")]


_DETAILS = {
    "runs (folds)": lambda one: f"{len(one.accuracies)} ({one.folds})",
    "epochs x seconds": lambda one: f"{one.epochs:.0f} x {one.seconds_per_epoch:.3g}",
    "peak GB": lambda one: _MISSING if one.peak_gigabytes is None else f"{one.peak_gigabytes:.2f}",
}


def _accuracy(one: Summary, rank: int) -> _Cell:
    spread = "" if one.deviation is None else f" ± {one.deviation:.1f}"
    return _Cell(f"{one.mean:.1f}{spread}", rank)


def _as_paper(dataset: str, row: Mapping[str, Summary]) -> _Cell:
    """Whether TVGNN's mean is at most one of the paper's standard deviations below the paper's mean."""
    if dataset not in ACCURACY or "tvgnn" not in row:
        return _Cell()
    mean, deviation = ACCURACY[dataset]["tvgnn"]
    met = row["tvgnn"].mean >= mean - deviation
    return _Cell("yes" if met else "no", alarm=not met)


def _heading(block: Block) -> str:
    known = block.settings
    return (
        f"Readout {known.get('readout', '?')}, at most {known.get('max_epochs', '?')} epochs, "
        f"splits of seed {known.get('seed', '?')}:"
    )


def _remarks(block: Block) -> Iterator[str]:
    uneven = [
        DATASET_TITLES.get(name, name)
        for name, row in block.summaries.items()
        if len({one.which for one in row.values()}) > 1
    ]
    if uneven:
        yield f"Not the same runs of every method: {', '.join(uneven)}."
    failures = [record for record in block.records if not record.finished]
    for dataset, method in dict.fromkeys((record.dataset, record.method) for record in failures):
        errors = [one.error for one in failures if (one.dataset, one.method) == (dataset, method)]
        times = "once" if len(errors) == 1 else f"{len(errors)} times"
        title = f"{METHOD_TITLES.get(method, method)} on {DATASET_TITLES.get(dataset, dataset)}"
        yield f"{title} failed {times}: {errors[-1]}."


def _provenance(block: Block) -> str:
    def values(found: Iterable[Any]) -> str:
        return ", ".join(dict.fromkeys(str(value) for value in found if value not in (None, "")))

    records = block.records
    dates = sorted(record.date[:10] for record in records if record.date)
    period = " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else ""
    threads = values(record.threads for record in records)
    parts = [
        values(f"commit `{record.commit[:_SHORT_HASH]}`" for record in records if record.commit),
        period,
        f"{threads} thread{'' if threads == '1' else 's'} a run" if threads else "",
        values(record.device for record in records),
        values(f"torch {record.versions['torch']}" for record in records if "torch" in record.versions),
    ]
    return f"Measured: {', '.join(part for part in parts if part)}; epochs and seconds are medians."


def _command(block: Block) -> str:
    datasets = _distinct(block.records, "dataset", DATASET_TITLES)
    methods = _distinct(block.records, "method", METHOD_TITLES)
    command = ["tvgnn", "benchmark", "classification", "--datasets", ",".join(datasets)]
    command += ["--methods", "all" if methods == list(METHOD_TITLES) else ",".join(methods), "--out", "DIR"]
    for name in ("readout", "max_epochs", "seed"):
        if name in block.settings:
            command += [f"--{name.replace('_', '-')}", str(block.settings[name])]
    return shlex.join(command)


def _distinct(records: Sequence[RunRecord], name: str, order: Iterable[str]) -> list[str]:
    found = {getattr(record, name) for record in records}
    return [one for one in order if one in found]
