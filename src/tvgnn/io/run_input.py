"""Which files a run read: to tell whether another run had the same, and for what is written back into a copy."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tvgnn.errors import DataError

__all__ = ["INPUT_FILE", "RunInput", "input_hashes", "read_input", "write_input"]

INPUT_FILE = "input.json"


@dataclass(frozen=True)
class RunInput:
    """A file as it was when it was clustered.

    Attributes
    ----------
    path
        Absolute.
    sha256
        Of its content.
    settings
        How its parts were used: numbers, text and lists.
    """

    path: Path
    sha256: str
    settings: Mapping[str, Any]

    def unchanged(self) -> Path:
        """Return the path.

        Raises
        ------
        DataError
            The file is gone, or holds something else.
        """
        remedy = "name a copy of it by --source FILE, or leave out what it holds by --plain"
        if not self.path.is_file():
            raise DataError(f"{self.path}: the file that this run clustered is gone; {remedy}")
        if _digest(self.path) != self.sha256:
            raise DataError(f"{self.path}: the file has changed since this run clustered it; {remedy}, or run again")
        return self.path


def input_hashes(files: Mapping[str, Path]) -> list[dict[str, str]]:
    """Return what ``metrics.json`` says of the files that a run reads.

    Parameters
    ----------
    files
        By what they were named for, such as ``edges``. Of a folder each file in it counts.

    Returns
    -------
    list of dict
        ``role``, ``file`` (its name) and ``sha256`` of its content, 64 hexadecimal digits.

    Raises
    ------
    DataError
        A file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "edges.csv"
    >>> _ = path.write_text("0,1")
    >>> (edges,) = input_hashes({"edges": path})
    >>> edges["role"], edges["file"], edges["sha256"][:8]
    ('edges', 'edges.csv', '83b97b85')
    """
    return [
        {"role": role, "file": file.name, "sha256": _digest(file)}
        for role, path in files.items()
        for file in (sorted(one for one in path.iterdir() if one.is_file()) if path.is_dir() else (path,))
    ]


def write_input(
    folder: str | Path, path: str | Path, settings: Mapping[str, Any] | None = None, *, sha256: str | None = None
) -> None:
    """Note in a run folder which file was clustered; ``sha256`` is that of its content, computed where it is None.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "graph.gexf").write_text("")
    >>> write_input(folder, folder / "graph.gexf")
    >>> read_input(folder).unchanged().name
    'graph.gexf'
    """
    file = Path(path).resolve()
    record = {"path": str(file), "sha256": sha256 or _digest(file), "settings": dict(settings or {})}
    text = json.dumps(record, indent=2, allow_nan=False)
    (Path(folder) / INPUT_FILE).write_text(text + "\n", encoding="utf-8")


def read_input(folder: str | Path) -> RunInput | None:
    """Read what :func:`write_input` wrote; None where there is nothing.

    Raises
    ------
    DataError
        It is damaged.
    """
    path = Path(folder) / INPUT_FILE
    if not path.exists():
        return None
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return RunInput(Path(str(record["path"])), str(record["sha256"]), dict(record["settings"]))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(f"{path}: not readable as a run's input: {error!r}; delete it, or run again") from None


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
