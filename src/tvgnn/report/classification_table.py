"""The table of graph classification beside the paper's figures: Markdown for the results page, rich for a terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping

from rich.table import Table

from tvgnn.records import RunRecord
from tvgnn.report.cells import MISSING, Cell, markdown_table, plain, rich_table
from tvgnn.report.classification_statistics import Block, Summary, blocks, welch
from tvgnn.report.paper_figures import ACCURACY, DATASET_TITLES, METHOD_TITLES, P_VALUES, in_table_order
from tvgnn.report.provenance import provenance

__all__ = ["classification_tables", "markdown"]

_DATASETS = "MUTAG,PROTEINS,NCI1,Mutagenicity,bench-easy-small,bench-hard-small"
_PROGRAM = ("tvgnn", "benchmark", "classification")
_FOLDS, _RUNS = 5, 3  # of the whole protocol
_ENOUGH_RUNS = 3
_P, _AS_PAPER = "p of the two best", "TVGNN as in the paper"


def markdown(records: Iterable[RunRecord]) -> str:
    """Return the tables with what they were measured with; without records, how to make some.

    Parameters
    ----------
    records : iterable of RunRecord
        Of one benchmark or several.
    """
    parts = []
    for block in blocks(records):
        parts.append(_heading(block))
        if block.summaries:
            parts.append(markdown_table(list(_rows(block))))
        parts.append(
            "\n".join(
                [
                    *_remarks(block),
                    _measured(block),
                    f"Repeat with {_commands(block)}.",
                ]
            )
        )
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
    return [rich_table(list(_rows(block)), _heading(block)) for block in blocks(records) if block.summaries]


def _rows(block: Block) -> Iterator[list[Cell]]:
    """Yield the header, then five lines a dataset."""
    methods = in_table_order({name for row in block.summaries.values() for name in row}, METHOD_TITLES)
    titles = (METHOD_TITLES.get(name, name) for name in methods)
    yield [Cell(text) for text in ("accuracy in %", *titles, _P, _AS_PAPER)]
    for dataset, row in block.summaries.items():
        best = sorted(row, key=lambda name: -row[name].mean)[:2]
        rank = {name: place for place, name in enumerate(best, start=1)} if len(row) > 1 else {}
        p = welch(row[best[0]], row[best[1]]) if len(best) > 1 else None
        yield [
            Cell(DATASET_TITLES.get(dataset, dataset)),
            *(_accuracy(row[name], rank.get(name, 0)) if name in row else Cell() for name in methods),
            Cell() if p is None else Cell("<0.001" if p < 0.001 else f"{p:.3f}"),
            _as_paper(dataset, row),
        ]
        paper = ACCURACY.get(dataset, {})
        stated = [Cell("{:.1f} ± {:.1f}".format(*paper[name])) if name in paper else Cell() for name in methods]
        yield [Cell("paper"), *stated, Cell(P_VALUES.get(dataset, MISSING)), Cell("")]
        for title, show in _DETAILS.items():
            cells = (Cell(show(row[name])) if name in row else Cell() for name in methods)
            yield [Cell(title), *cells, Cell(""), Cell("")]


_DETAILS = {
    "runs (folds)": lambda one: f"{len(one.accuracies)} ({one.folds})",
    "epochs x seconds": lambda one: f"{one.epochs:.0f} x {one.seconds_per_epoch:.3g}",
    "peak GB": lambda one: MISSING if one.peak_gigabytes is None else f"{one.peak_gigabytes:.2f}",
}


def _accuracy(one: Summary, rank: int) -> Cell:
    spread = "" if one.deviation is None else f" ± {one.deviation:.1f}"
    return Cell(f"{one.mean:.1f}{spread}", rank)


def _as_paper(dataset: str, row: Mapping[str, Summary]) -> Cell:
    """Whether TVGNN is at most one of the paper's standard deviations below the paper's mean; "-" for few runs."""
    if dataset not in ACCURACY or "tvgnn" not in row or len(row["tvgnn"].accuracies) < _ENOUGH_RUNS:
        return Cell()
    mean, deviation = ACCURACY[dataset]["tvgnn"]
    met = row["tvgnn"].mean >= mean - deviation
    return Cell("yes" if met else "no", alarm=not met)


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
        yield plain(f"{title} failed {times}: {errors[-1]}.")


def _measured(block: Block) -> str:
    known = provenance(block.records)
    return f"Measured: {known}; epochs and seconds are medians." if known else "Epochs and seconds are medians."


def _commands(block: Block) -> str:
    """One command for all pairs of dataset and method with the same folds and runs."""
    made: dict[tuple[str, str], set[tuple[int, int]]] = {}
    for record in block.records:
        made.setdefault((record.dataset, record.method), set()).add((record.fold, record.run))
    methods_of: dict[tuple[str, str], list[str]] = {}
    datasets = in_table_order({dataset for dataset, _ in made}, DATASET_TITLES)
    methods = in_table_order({method for _, method in made}, METHOD_TITLES)
    for dataset, method in ((one, other) for one in datasets for other in methods):
        if (dataset, method) in made:
            methods_of.setdefault((dataset, _extent(made[dataset, method])), []).append(method)
    datasets_of: dict[tuple[str, str], list[str]] = {}
    for (dataset, extent), own in methods_of.items():
        named = "all" if own == list(METHOD_TITLES) else ",".join(own)
        datasets_of.setdefault((named, extent), []).append(dataset)
    shared = [
        option
        for name in ("readout", "max_epochs", "seed")
        if name in block.settings
        for option in (f"--{name.replace('_', '-')}", str(block.settings[name]))
    ]
    commands = [
        [*_PROGRAM, "--datasets", ",".join(sets), "--methods", named, "--out", "DIR", *shared, *extent.split()]
        for (named, extent), sets in datasets_of.items()
    ]
    return ", ".join(f"`{shlex.join(command)}`" for command in commands)


def _extent(made: set[tuple[int, int]]) -> str:
    """Options for folds and runs; none for the whole protocol."""
    folds, runs = sorted({fold for fold, _ in made}), 1 + max(run for _, run in made)
    options = [] if len(folds) == _FOLDS else ["--folds", ",".join(map(str, folds))]
    return " ".join(options if runs == _RUNS else [*options, "--runs", str(runs)])
