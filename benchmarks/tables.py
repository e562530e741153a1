"""The tables of docs/performance.md: which records each shows, against which targets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from benchmarks.baselines import torch_geometric_pool as peer
from benchmarks.baselines.torch_geometric_pool_graphs import DENSE_WAYS
from benchmarks.markdown import MISSING, at_least, at_most, markdown, number, times, verdict
from benchmarks.records import Measurement

__all__ = ["TABLES", "Runs", "Table"]

Runs = Mapping[str, Mapping[str, Measurement]]
"""Records by benchmark and variant."""

_OURS, _REFERENCE, _EDGEWISE = "tvgnn", "reference backend", "released, E x K loss"
_DATASETS = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "PubMed", "dblp": "DBLP"}
_GRAPH_SETS = {"mutag": "MUTAG", "proteins": "PROTEINS", "nci1": "NCI1", "dd": "DD"}
_PEER_DENSE = [f"{peer.NAME}, {way}".removesuffix(", ") for way in DENSE_WAYS]

_ROOFLINE_TARGET = 1.3
_SPEED_TARGETS = {"cora": 4, "citeseer": 4.5, "pubmed": 6.5, "dblp": 8}
_MEMORY_TARGETS = {"pubmed": 2, "dblp": 2}
_GRAPH_SPEED_TARGETS = dict.fromkeys(("proteins", "nci1", "dd"), 3)
_GRAPH_MEMORY_TARGETS = dict.fromkeys(("proteins", "nci1", "dd"), 2)
_GATHER_TARGET, _FLAT_TARGET, _HUB_TARGET = 2, 1.3, 2
_GATHER_TARGET_OF = "gtv_step x 128, kNN graph of 66667 points"
_MILLION_MEGABYTES, _FIRST_FIT_MS, _IMPORT_MS = 8000, 15_000, 300
_PAPER_MS = {"cora": 8.3, "citeseer": 9.4, "pubmed": 56.4, "dblp": 57.2}  # RTX A6000


@dataclass(frozen=True)
class Table:
    """One generated part of the page.

    Attributes:
        name: in the markers of the page.
        arguments: of ``benchmarks.run --only``, which measure it.
        shows: regular expression of the benchmarks of its records.
        blocks: Markdown from these records, of which there is at least one.
        absent: what stands there without records.

    """

    name: str
    arguments: str
    shows: str
    blocks: Callable[[Runs], Iterable[str]]
    absent: str = "Not measured."

    def of(self, runs: Runs) -> Runs:
        """Records that it shows."""
        return {name: run for name, run in runs.items() if re.fullmatch(self.shows, name)}


def _by_dataset(runs: Runs, datasets: Iterable[str] = tuple(_DATASETS)) -> dict[str, Mapping[str, Measurement]]:
    """Runs on the citation networks, or other datasets, in that order."""
    found = {name.rpartition(", ")[2]: run for name, run in runs.items()}
    return {name: found[name] for name in datasets if name in found}


def _variants(columns: Iterable[Mapping[str, Measurement]]) -> list[str]:
    """Every variant once, in the order of the records."""
    return list(dict.fromkeys(variant for column in columns for variant in column))


def _ratio(run: Mapping[str, Measurement], above: str, below: str) -> float | None:
    return run[above].median / run[below].median if above in run and below in run else None


def _with_ratio(run: Mapping[str, Measurement], variant: str) -> str:
    if variant not in run:
        return MISSING
    figure, ratio = number(run[variant].median), _ratio(run, variant, _OURS)
    return figure if variant == _OURS or ratio is None else f"{figure} ({times(ratio)})"


def _against_peer(run: Mapping[str, Measurement], target: float | None) -> str:
    opponent = peer.NAME if peer.NAME in run else _EDGEWISE
    ratio = _ratio(run, opponent, _OURS)
    if ratio is None or target is None:
        return MISSING
    return at_least(ratio, target) + ("" if opponent == peer.NAME else f" (of {_EDGEWISE})")


def _compared(runs: Runs, unit: str, targets: Mapping[str, float], last_row: str) -> str:
    """Variants by dataset, and whether the ratio to the peer is the one asked for."""
    columns = _by_dataset(runs)
    names = [name for name in _variants(columns.values()) if "alone" not in name and "roofline" not in name]
    rows = [[name, *(_with_ratio(run, name) for run in columns.values())] for name in names]
    rows.append([last_row, *(_against_peer(run, targets.get(name)) for name, run in columns.items())])
    return markdown([unit, *(_DATASETS[name] for name in columns)], rows)


def _epoch(runs: Runs) -> Iterable[str]:
    yield _compared(runs, "ms per epoch", _SPEED_TARGETS, f"target: faster than {peer.NAME}")

    yield _floors(_by_dataset(runs))


def _floors(columns: Mapping[str, Mapping[str, Measurement]]) -> str:
    """What an epoch cannot go below, and how near it comes."""
    rows = []
    for floor in ("its dense products alone", "roofline, rows gathered", "roofline, each array once"):
        rows.append(
            [f"{floor}, ms"] + [number(run[floor].median) if floor in run else MISSING for run in columns.values()]
        )
        ratios = [_ratio(run, _OURS, floor) for run in columns.values()]
        judged = times if floor.startswith("its") else lambda ratio: at_most(ratio, _ROOFLINE_TARGET)
        rows.append(["tvgnn takes", *(MISSING if ratio is None else judged(ratio) for ratio in ratios)])
    return markdown(["floors", *(_DATASETS[name] for name in columns)], rows)


def _compiled(runs: Runs) -> Iterable[str]:
    columns = _by_dataset(runs)
    rows = [[name, *(_with_ratio(run, name) for run in columns.values())] for name in _variants(columns.values())]
    yield markdown(["ms per epoch", *(_DATASETS[name] for name in columns)], rows)


def _memory(runs: Runs) -> Iterable[str]:
    yield _compared(runs, "MB above the imports", _MEMORY_TARGETS, f"target: less than {peer.NAME}")


def _classification(runs: Runs) -> Iterable[str]:
    epochs = {name: run for name, run in runs.items() if not name.startswith("peak memory")}
    if epochs:
        yield _graph_sets(epochs, "ms per batch of 8 graphs", _GRAPH_SPEED_TARGETS, "faster")
        yield _extrapolated(epochs)
    loaded = {name: run for name, run in runs.items() if "with all code loaded" in name}
    memory = {name: run for name, run in runs.items() if name not in epochs and name not in loaded}
    if memory:
        yield _graph_sets(memory, "MB above the imports", _GRAPH_MEMORY_TARGETS, "less")
    if loaded:
        yield _graph_sets(loaded, "MB above the imports and all code", {}, "less")


def _graph_sets(runs: Runs, unit: str, targets: Mapping[str, float], better: str) -> str:
    """Variants by set of graphs, against the better of the peer's two dense models and the best of all its ways."""
    columns = _by_dataset(runs, _GRAPH_SETS)
    rows = [[name, *(_with_ratio(run, name) for run in columns.values())] for name in _variants(columns.values())]
    target = "target: " if targets else ""
    dense, best = [f"{target}{better} than {peer.NAME}'s dense model"], [f"{better} than its best way"]
    for name, run in columns.items():
        ratio = _over_best(run, _PEER_DENSE)
        judged = ratio is not None and name in targets
        dense.append(at_least(ratio, targets[name]) if judged else MISSING if ratio is None else times(ratio))
        ratio = _over_best(run, [variant for variant in run if variant.startswith(peer.NAME)])
        best.append(MISSING if ratio is None else times(ratio))
    return markdown([unit, *(_GRAPH_SETS[name] for name in columns)], [*rows, dense, best])


def _over_best(run: Mapping[str, Measurement], names: Iterable[str]) -> float | None:
    ratios = [ratio for name in names if (ratio := _ratio(run, name, _OURS)) is not None]
    return min(ratios, default=None)


_PART = re.compile(r".*, (\d+) of (\d+) batches, (\w+)")


def _extrapolated(runs: Runs) -> str:
    """Seconds of an epoch, had all its batches taken as long as those that were timed."""
    parts = {found[3]: found for name in runs if (found := _PART.fullmatch(name))}
    columns = {name: run for name, run in _by_dataset(runs, _GRAPH_SETS).items() if name in parts}
    rows = [["batches timed, of an epoch's", *(f"{parts[name][1]} of {parts[name][2]}" for name in columns)]]
    for variant in (_OURS, *_PEER_DENSE):
        figures = [
            number(run[variant].median * int(parts[name][2]) / 1000) if variant in run else MISSING
            for name, run in columns.items()
        ]
        rows += [[variant, *figures]] if set(figures) != {MISSING} else []
    return markdown(["s per epoch, extrapolated", *(_GRAPH_SETS[name] for name in columns)], rows)


_DIRECTIONS = ("forward", "backward")
_FLOOR = "its rows at copy bandwidth"


def _operators(runs: Runs) -> Iterable[str]:
    inputs = list(dict.fromkeys(name.rpartition(", ")[0] for name in runs))
    operators = list(dict.fromkeys(name.split(" x ")[0] for name in inputs))
    for operator in operators:
        mine = [name for name in inputs if name.startswith(f"{operator} x ")]
        tables = {(name, way): runs.get(f"{name}, {way}", {}) for name in mine for way in _DIRECTIONS}
        others = [name for name in _variants(tables.values()) if name not in (_OURS, _FLOOR)]
        header = [operator]
        for way in _DIRECTIONS:
            header += [f"{way}, ms", *others, "over copy"]
        rows = []
        for name in mine:
            cells = [name.removeprefix(f"{operator} ")]
            for way in _DIRECTIONS:
                cells += _operator_cells(tables[name, way], others, name == _GATHER_TARGET_OF)
            rows.append(cells)
        yield markdown(header, rows)


def _operator_cells(run: Mapping[str, Measurement], others: list[str], has_target: bool) -> list[str]:
    ratios = [_ratio(run, other, _OURS) for other in others]
    floor = _ratio(run, _OURS, _FLOOR)
    judged = MISSING if floor is None else at_most(floor, _GATHER_TARGET) if has_target else times(floor)
    ours = number(run[_OURS].median) if _OURS in run else MISSING
    return [ours, *(MISSING if ratio is None else times(ratio) for ratio in ratios), judged]


_POINTS = re.compile(r".* (\d+-D) points, (.*)")
_SIZE = re.compile(r"(\d+) nodes(.*)")
_TIME, _MEMORY, _SEARCH = "time", "peak memory", "finding the order"
_UNITS = {_TIME: "ns per edge", _MEMORY: "bytes per edge", _SEARCH: "s, once"}


def _scaling(runs: Runs) -> Iterable[str]:
    """Sizes as columns; flatness is asked for on 2-D points, with the nodes ordered."""
    sizes = sorted({int(found[1]) for name in _variants(runs.values()) if (found := _SIZE.fullmatch(name))})
    rows = []
    for benchmark, run in runs.items():
        found = _POINTS.fullmatch(benchmark)
        if found is not None:
            dimensions, what = found.groups()
            for suffix in dict.fromkeys(name.partition(" nodes")[2] for name in run):
                line = [run.get(f"{size} nodes{suffix}") for size in sizes]
                judged = _flatness(line, dimensions == "2-D" and not suffix) if what != _SEARCH else MISSING
                rows.append([f"{dimensions}, {what}{suffix}, {_UNITS[what]}", *map(_per_size, line), judged])
    if rows:
        yield markdown(["kNN graph of points", *(f"{size:,} nodes" for size in sizes), "largest over smallest"], rows)
    for name in runs:
        if name.endswith(", hub"):
            yield _hub(*runs[name].values())


def _per_size(one: Measurement | None) -> str:
    if one is None:
        return MISSING
    return number(one.median / 1000 if one.unit == "ms" else one.median)


def _flatness(line: list[Measurement | None], has_target: bool) -> str:
    figures = [one.median for one in line if one is not None]
    ratio = max(figures) / min(figures)
    if len(figures) == 1:
        return MISSING
    return at_most(ratio, _FLAT_TARGET) if has_target else times(ratio)


def _hub(regular: Measurement, star: Measurement) -> str:
    figures = [number(regular.median), number(star.median), at_most(star.median / regular.median, _HUB_TARGET)]
    return markdown(["", regular.variant, star.variant, "star over ring"], [["forward and backward, ms", *figures]])


def _million(runs: Runs) -> Iterable[str]:
    found = {name.rpartition(", ")[2]: run[_OURS].median for name, run in runs.items()}
    rows = []
    if "fit" in found:
        rows.append(["100 epochs, data preparation included", f"{number(found['fit'] / 60_000)} min", MISSING])
    if "per epoch" in found:
        rows.append(["an epoch", f"{number(found['per epoch'] / 1000)} s", MISSING])
    if "peak memory of the process" in found:
        megabytes = found["peak memory of the process"]
        target = f"under {_MILLION_MEGABYTES / 1000:g} GB: {verdict(megabytes < _MILLION_MEGABYTES)}"
        rows.append(["peak memory of the whole process", f"{number(megabytes / 1000)} GB", target])
    yield markdown(["", "", "target"], rows)


def _predict(runs: Runs) -> Iterable[str]:
    limits = _variants(runs.values())
    rows = []
    for benchmark, run in runs.items():
        _, _, preset, what = benchmark.split(", ")
        values = [run[limit].median / (1000 if what == "time" else 1) if limit in run else None for limit in limits]
        cells = [MISSING if value is None else number(value) for value in values]
        rows.append([f"{preset.removeprefix('preset=')}, {what}, {'s' if what == 'time' else 'MB'}", *cells])
    yield markdown(["", *(limit if limit == "whole" else f"max_memory={limit}" for limit in limits)], rows)


def _startup(runs: Runs) -> Iterable[str]:
    rows = []
    for benchmark, run in runs.items():
        what = benchmark.removeprefix("start-up, ")
        for variant, one in run.items():
            limit = None
            if variant.endswith("above its dependencies"):
                limit = _IMPORT_MS
            elif variant.endswith("cache empty"):
                limit = _FIRST_FIT_MS
            target = MISSING if limit is None else f"at most {limit:,} ms: {verdict(one.median <= limit)}"
            rows.append([variant if what == "imports" else f"{what}, {variant}", number(one.median), target])
    yield markdown(["", "ms", "target"], rows)


def _gpu(runs: Runs) -> Iterable[str]:
    columns = _by_dataset(runs)
    rows = [[name, *(_with_ratio(run, name) for run in columns.values())] for name in _variants(columns.values())]
    rows.append(["the paper's, on an RTX A6000", *(number(_PAPER_MS[name]) for name in columns)])
    faster = [_PAPER_MS[name] / run[_OURS].median if _OURS in run else None for name, run in columns.items()]
    rows.append(["target: faster than the paper's", *(MISSING if x is None else at_least(x, 1) for x in faster)])
    yield markdown(["ms per epoch", *(_DATASETS[name] for name in columns)], rows)


_NAMES, _SETS = "|".join(_DATASETS), "|".join(_GRAPH_SETS)

TABLES = (
    Table("epoch", "epoch --mirror FOLDER", rf"epoch, ({_NAMES})", _epoch),
    Table("compile", "compile --mirror FOLDER", rf"compiled epoch, ({_NAMES})", _compiled),
    Table("memory", "memory --mirror FOLDER", rf"peak memory of training, ({_NAMES})", _memory),
    Table(
        "classification",
        "classification --mirror FOLDER",
        rf"(classification, \d+ of \d+ batches|peak memory of classification( with all code loaded)?), ({_SETS})",
        _classification,
    ),
    Table(
        "operators",
        "operators --mirror FOLDER",
        rf"\w+ x \d+, .*({_NAMES}|kNN graph of 66667 points), (forward|backward)",
        _operators,
    ),
    Table("scaling", "scaling", r"gtv_step x \d+, (kNN graphs of .*|hub)", _scaling),
    Table("million", "million", r"TVClustering, 1000000 nodes, 100 epochs, .*", _million),
    Table("predict", "predict", r"predict, 300000 nodes, preset=\w+, (peak memory|time)", _predict),
    Table("startup", "startup", r"start-up, .*", _startup),
    Table("gpu", "gpu --mirror FOLDER", rf"(?i:gpu).*, ({_NAMES})", _gpu, "Not measured: no GPU was at hand."),
)
