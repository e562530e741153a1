"""Run folders: complete or absent, never half-written, never in place of somebody's data."""

import csv
import glob
import json
import shutil
import uuid
import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from tvgnn.errors import DataError
from tvgnn.wording import setting

__all__ = ["METRICS_FILE", "RUN_FILES", "run_folder", "write_assignments", "write_labels", "write_metrics"]

METRICS_FILE = "metrics.json"
"""Every run folder holds this file; a folder without it is not ours to replace."""

_OF_FILE_MANAGERS = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", ".directory"})
RUN_FILES = frozenset(
    (
        METRICS_FILE, "labels.csv", "assignments.npz", "model.json", "model.safetensors", "context.safetensors",
        "input.json", "predictions.csv", "comparison.json", "figure.png", "report.html",
    )
)  # fmt: skip
"""Names of all files that commands write into a run folder: what else lies there is somebody's, and never deleted."""

_RUN_KEYS = frozenset(("dataset", "method", "seed", "n_nodes", "epochs", "versions"))
"""What the metrics of every run have: other programs, too, write files called ``metrics.json``."""

_NAMED = 3  # files in one message


@contextmanager
def run_folder(path: str | Path, *, overwrite: bool = False, used: Iterable[str | Path | None] = ()) -> Iterator[Path]:
    """Yield a temporary folder next to ``path`` that becomes ``path`` when the block ends without an error.

    Parameters
    ----------
    path
        The folder to create; parents are created too.
    overwrite
        Replace an existing run folder, once the new one is complete. It must hold nothing but files that runs write.
    used
        Files and folders that the run reads, or writes elsewhere; None stands for none. A folder that holds one of
        them is not replaced.

    Warns
    -----
    UserWarning
        A temporary folder of an earlier run into ``path`` lies there; it is left alone, since that run may still go on.
        Or a file appeared in the old folder while it was replaced; then that folder stays under another name.

    Raises
    ------
    DataError
        If ``path`` exists and ``overwrite`` is false, or it is neither empty nor a run folder, or holds what no run
        wrote, is in use, or cannot be written.
        On any error in the block the temporary folder and new parents are removed, and an existing folder stays as it
        was.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run"
    >>> with run_folder(path) as folder:
    ...     write_metrics(folder / "metrics.json", {"nmi": 0.5})
    >>> [file.name for file in path.iterdir()]
    ['metrics.json']
    """
    final = Path(path).resolve()
    in_use = [Path(one).resolve() for one in used if one is not None]
    _refuse_foreign(final, overwrite, in_use)
    unique = uuid.uuid4().hex[:8]
    temporary = final.with_name(f".{final.name}.{unique}.tmp")
    left = sorted(place.name for place in final.parent.glob(f".{glob.escape(final.name)}.????????.tmp"))
    if left:
        warnings.warn(
            f"{final.parent} holds {', '.join(left)} of a run into {final.name} that still goes on or was ended from "
            "outside; delete it if none goes on",
            UserWarning,
            stacklevel=3,
        )
    created = [parent for parent in final.parents if not parent.exists()]
    try:
        temporary.mkdir(parents=True)
    except OSError as error:
        _remove_empty(created)
        raise DataError(f"{path}: the folder cannot be created: {error.strerror}; choose another place") from None
    try:
        yield temporary
        _refuse_foreign(final, overwrite, in_use)  # a run takes long enough for the folder to have changed
        _publish(temporary, final, final.with_name(f".{final.name}.{unique}.old"))
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        _remove_empty(created)


def _remove_empty(folders: list[Path]) -> None:
    """Remove folders, the innermost first, up to one that holds something."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


def _refuse_foreign(final: Path, overwrite: bool, in_use: Sequence[Path]) -> None:
    if not final.exists():
        return
    if not final.is_dir():
        raise DataError(f"{final}: exists and is not a folder; choose another output folder")
    if not overwrite:
        raise DataError(
            f"{final}: the folder exists; choose another one, or replace it by {setting('overwrite', True)}"
        )
    reason = _not_replaceable(final, in_use)
    if reason is not None:
        raise DataError(f"{final}: is not overwritten because {reason}; choose another output folder")


def _not_replaceable(final: Path, in_use: Sequence[Path]) -> str | None:
    """Say why a folder must stay; None where it is empty or holds nothing but a run."""
    if Path.cwd().is_relative_to(final):
        return "it is the current directory, or holds that"
    used = next((path for path in in_use if path.is_relative_to(final)), None)
    if used == final:
        return "this run reads it"
    if used is not None:
        return f"it holds {used.relative_to(final)}, which this run reads or writes"
    entries = sorted(final.iterdir())
    if not entries:
        return None
    if not (final / METRICS_FILE).is_file():
        return f"it holds files but no {METRICS_FILE}, so it is no run folder"
    if not _is_of_run(final / METRICS_FILE):
        return f"its {METRICS_FILE} is not that of a run of tvgnn (or is damaged: then delete the folder yourself)"
    foreign = [entry.name for entry in entries if not _may_go(entry)]
    if foreign:
        more = f" and {len(foreign) - _NAMED} more" if len(foreign) > _NAMED else ""
        return (
            f"it holds {', '.join(foreign[:_NAMED])}{more}, which no run wrote and which would be deleted (move "
            "elsewhere what is to stay)"
        )
    return None


def _may_go(path: Path) -> bool:
    """Whether a run wrote a file, or a file manager that showed the folder."""
    return path.name in RUN_FILES | _OF_FILE_MANAGERS and path.is_file() and not path.is_symlink()


def _is_of_run(path: Path) -> bool:
    """Whether a ``metrics.json`` is that of a run."""
    try:
        metrics = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(metrics, dict) and metrics.keys() >= _RUN_KEYS


def _publish(temporary: Path, final: Path, backup: Path) -> None:
    """Rename, keeping what was there until the new folder is in place."""
    replaced = final.exists()
    try:
        if replaced:
            final.rename(backup)
        try:
            temporary.rename(final)
        except OSError:
            if replaced:
                backup.rename(final)
            raise
    except OSError as error:
        raise DataError(f"{final}: the finished run could not be moved there: {error.strerror}") from None
    if replaced:
        _remove_run(backup)


def _remove_run(folder: Path) -> None:
    """Remove a run file by file, for between the last look and the move somebody may have added some."""
    with suppress(OSError):
        for path in folder.iterdir():
            if _may_go(path):
                path.unlink()
    try:
        folder.rmdir()
    except OSError:
        warnings.warn(
            f"{folder} is left of the folder that was replaced, with what no run wrote or what could not be deleted; "
            "look at it, and delete it",
            UserWarning,
            stacklevel=2,
        )


def write_labels(path: str | Path, node_ids: Sequence[Hashable], labels: Any, confidence: Any) -> None:
    """Write a CSV of ``node_id,cluster,confidence``, one row per node, ids as text.

    Parameters
    ----------
    path
        The file to write.
    node_ids
        N ids of any type.
    labels
        (N,) integer cluster numbers.
    confidence
        (N,) finite numbers, written with 6 digits.

    Raises
    ------
    DataError
        If the lengths differ or a confidence is not finite.
    """
    clusters, scores = np.asarray(labels), np.asarray(confidence, dtype=np.float64)
    if not len(node_ids) == len(clusters) == len(scores):
        raise DataError(
            f"labels need one cluster and one confidence per node, got {len(node_ids)} ids, {len(clusters)} clusters "
            f"and {len(scores)} confidences"
        )
    if not np.isfinite(scores).all():
        row = int(np.argmin(np.isfinite(scores)))
        raise DataError(
            f"the confidence of node {node_ids[row]!r} is {scores[row]}: labels of a failed run are not written"
        )
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("node_id", "cluster", "confidence"))
        rounded = (f"{score:.6g}" for score in scores.tolist())
        writer.writerows(zip(node_ids, clusters.tolist(), rounded, strict=True))


def write_assignments(path: str | Path, assignments: Any) -> None:
    """Write soft assignments (N, K) as float32 under the key ``assignments`` of an ``.npz`` file.

    Raises
    ------
    DataError
        If a value is not finite.
    """
    values = np.asarray(assignments, dtype=np.float32)
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0][0])
        raise DataError(f"the assignments of row {row} are not finite: those of a failed run are not written")
    with Path(path).open("wb") as file:
        np.savez(file, assignments=values)


def write_metrics(path: str | Path, metrics: Mapping[str, Any]) -> None:
    """Write a JSON object; NumPy numbers and arrays become plain ones, NaN and infinities are refused.

    Raises
    ------
    DataError
        If a value cannot be written; names its key.
    """
    for key, value in metrics.items():
        try:
            json.dumps(value, allow_nan=False, default=_plain)
        except (ValueError, TypeError) as error:
            raise DataError(f"metric {key!r} cannot be written as JSON: {error}; leave out what is not known") from None
    text = json.dumps(dict(metrics), indent=2, allow_nan=False, default=_plain)
    Path(path).write_text(text + "\n", encoding="utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} is no JSON type")
