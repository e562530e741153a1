"""Stratified folds with a stratified validation part: made once, written to disk, the same for every method."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvgnn.errors import DataError
from tvgnn.io.new_files import whole_file

__all__ = ["N_FOLDS", "Split", "Splits", "labels_sha256", "make_splits", "read_splits", "splits_for"]

N_FOLDS = 5
VALIDATION_FRACTION = 0.1  # of what a fold does not test


@dataclass(frozen=True)
class Split:
    """Positions of the graphs of one fold, ascending; together they are all graphs."""

    train: tuple[int, ...]
    validation: tuple[int, ...]
    test: tuple[int, ...]


@dataclass(frozen=True)
class Splits:
    """All folds of a dataset; the tests together are all graphs.

    Attributes
    ----------
    labels_sha256 : str
        Fingerprint of the labels that they were made for.
    seed : int
        Seed that they were drawn with.
    folds : tuple of Split
        One a fold.

    """

    labels_sha256: str
    seed: int
    folds: tuple[Split, ...]

    @property
    def n_graphs(self) -> int:
        """Number of graphs."""
        return sum(len(fold.test) for fold in self.folds)


def labels_sha256(labels: Sequence[Any]) -> str:
    """Fingerprint of labels in their order.

    Examples
    --------
    >>> labels_sha256([0, 1]) == labels_sha256(np.array([0, 1])) != labels_sha256([1, 0])
    True
    """
    plain = [label.item() if isinstance(label, np.generic) else label for label in labels]
    return hashlib.sha256(json.dumps(plain, default=str).encode()).hexdigest()


def make_splits(labels: Sequence[Any], *, n_folds: int = N_FOLDS, seed: int = 0) -> Splits:
    """Draw stratified folds; a tenth of what a fold does not test is its validation part, stratified as well.

    Parameters
    ----------
    labels : sequence
        One class a graph.
    n_folds : int, default 5
        Number of folds.
    seed : int, default 0
        Seed of the folds and of the validation parts.

    Raises
    ------
    DataError
        A class has fewer graphs than there are folds, or the validation part would have fewer graphs than there are
        classes.

    Examples
    --------
    >>> splits = make_splits([0, 1] * 25)
    >>> [len(part) for part in (splits.folds[0].train, splits.folds[0].validation, splits.folds[0].test)]
    [36, 4, 10]
    """
    from sklearn.model_selection import StratifiedKFold, train_test_split

    y = np.asarray(labels)
    counts = Counter(y.tolist())
    if len(counts) < 2:
        raise DataError(f"expected graphs of at least two classes, got {len(counts)}; set the label of every graph")
    rarest = min(counts, key=lambda label: counts[label])
    smallest_rest = len(y) - math.ceil(len(y) / n_folds)
    if counts[rarest] < max(n_folds, 3) or math.ceil(VALIDATION_FRACTION * smallest_rest) < len(counts):
        raise DataError(
            f"expected enough graphs for {n_folds} stratified folds with a validation part, got {len(y)} of "
            f"{len(counts)} classes, {counts[rarest]} of them of class {rarest!r}; use a larger dataset"
        )
    folds = []
    cuts = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)
    for number, (rest, test) in enumerate(cuts):
        train, validation = train_test_split(
            rest, test_size=VALIDATION_FRACTION, stratify=y[rest], random_state=seed + number
        )
        folds.append(Split(*(tuple(sorted(part.tolist())) for part in (train, validation, test))))
    return Splits(labels_sha256(labels), seed, tuple(folds))


def splits_for(path: str | Path, labels: Sequence[Any], *, n_folds: int = N_FOLDS, seed: int = 0) -> Splits:
    """Read the splits of a dataset from its file, or draw them and write it.

    Parameters
    ----------
    path : path
        A JSON file; its folder is created.
    labels, n_folds, seed
        As in `make_splits`.

    Raises
    ------
    DataError
        The file is damaged, or belongs to other labels, another seed or another number of folds.
    """
    path = Path(path)
    if not path.exists():
        splits = make_splits(labels, n_folds=n_folds, seed=seed)
        _write(path, splits)
        return splits
    splits = read_splits(path)
    if (splits.labels_sha256, splits.n_graphs) != (labels_sha256(labels), len(labels)):
        raise DataError(
            f"{path}: expected the splits of these {len(labels)} graphs, got those of {splits.n_graphs} graphs with "
            "other labels; choose another output folder, or remove the file to draw new splits"
        )
    if (splits.seed, len(splits.folds)) != (seed, n_folds):
        raise DataError(
            f"{path}: expected {n_folds} folds of seed {seed}, got {len(splits.folds)} of seed {splits.seed}; "
            "use that seed, or another output folder"
        )
    return splits


def read_splits(path: str | Path) -> Splits:
    """Read a file of splits.

    Raises
    ------
    DataError
        It cannot be read, or its folds do not cover every graph once.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        folds = tuple(
            Split(*(tuple(fold[part]) for part in ("train", "validation", "test"))) for fold in content["folds"]
        )
        splits = Splits(str(content["labels_sha256"]), int(content["seed"]), folds)
        everything = list(range(splits.n_graphs))
        parts = [fold.train + fold.validation + fold.test for fold in folds]
        parts.append(tuple(position for fold in folds for position in fold.test))
        if not all(sorted(part) == everything for part in parts):
            raise ValueError("the folds do not cover every graph once")
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(f"{path}: not readable as splits: {error}; remove the file to draw new ones") from None
    return splits


def _write(path: Path, splits: Splits) -> None:
    """Write by renaming, so that the file is complete or absent."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as temporary:
            temporary.write_text(json.dumps(asdict(splits)) + "\n", encoding="utf-8")
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}; choose another folder") from None
