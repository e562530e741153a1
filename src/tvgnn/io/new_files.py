"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tvgnn.errors import DataError

__all__ = ["check_target", "new_file", "replaced_file", "whole_file"]


def check_target(path: str | Path) -> Path:
    """Return where a file will be, links followed, or say why none can be written there.

    Raises
    ------
    DataError
        ``path`` is a folder or something else that is no file, or its folder does not exist or cannot be written to.

    Examples
    --------
    >>> import tempfile
    >>> check_target(Path(tempfile.mkdtemp()) / "new.html").name
    'new.html'
    """
    final = Path(path).resolve()
    if final.is_dir():
        raise DataError(f"{path}: expected the name of a file, got a folder; add a name to it")
    if final.exists() and not final.is_file():
        raise DataError(f"{path}: expected the name of a file, got something that is none; choose another name")
    if not final.parent.is_dir():
        raise DataError(f"{path}: its folder does not exist; make it first")
    if not os.access(final.parent, os.W_OK):
        raise DataError(f"{path}: its folder cannot be written to; choose another one")
    return final


@contextmanager
def replaced_file(path: str | Path) -> Iterator[Path]:
    """Yield a temporary file beside ``path`` that takes its place when the block ends without an error.

    On any error in the block an existing file stays as it was, and nothing else is left.

    Raises
    ------
    DataError
        As :func:`check_target` says, or the system refuses to write.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "page.html"
    >>> for text in ("old", "new"):
    ...     with replaced_file(path) as temporary:
    ...         _ = temporary.write_text(text)
    >>> path.read_text(), len(list(path.parent.iterdir()))
    ('new', 1)
    """
    try:
        with whole_file(check_target(path)) as temporary:
            yield temporary
    except OSError as error:
        raise DataError(f"{path}: could not be written: {error.strerror or error}") from None


@contextmanager
def new_file(path: str | Path | None, *, overwrite: bool = False) -> Iterator[Path | None]:
    """Yield a temporary file as :func:`replaced_file` does, for a ``path`` that must not exist unless ``overwrite``.

    Errors of the block pass as they are: it may do more than write this file. Where ``path`` is None nothing is
    written, and None is what the block gets.

    Raises
    ------
    DataError
        ``path`` exists (a folder in any case), or its folder does not.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "new.h5ad"
    >>> with new_file(path) as temporary:
    ...     _ = temporary.write_text("")
    >>> [file.name for file in path.parent.iterdir()]
    ['new.h5ad']
    """
    if path is None:
        yield None
        return
    _refuse_existing(path, overwrite)
    with whole_file(check_target(path)) as temporary:
        yield temporary
        _refuse_existing(path, overwrite)  # a run takes long enough for the file to have appeared


@contextmanager
def whole_file(path: Path, *, alone: bool = False) -> Iterator[Path]:
    """Yield a temporary name beside ``path``, whose file takes its place when the block ends without an error.

    A reader, also one after a power cut, sees the former file or the whole new one. Errors pass as they are; then the
    former file stays as it was, and nothing else is left.

    Parameters
    ----------
    path
        Where the file will be, in a folder that exists. The temporary name has its ending, which tells a format.
    alone
        No other process writes this file: the temporary name is always the same, so that the next attempt writes over
        what a process left that was ended from outside.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "table.csv"
    >>> with whole_file(path, alone=True) as temporary:
    ...     _ = temporary.write_text("a,b")
    >>> temporary.name, [file.name for file in path.parent.iterdir()]
    ('.table.part.csv', ['table.csv'])
    """
    name = f".{path.stem}.part" if alone else f".{uuid.uuid4().hex[:8]}"
    temporary = path.with_name(name + path.suffix)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())  # or a power cut may leave an empty file under the new name
        os.replace(temporary, path)
    finally:
        with suppress(OSError):  # such as of a folder that is none; the error of the block says it
            temporary.unlink()


def _refuse_existing(path: str | Path, overwrite: bool) -> None:
    if Path(path).is_dir():
        raise DataError(f"{path}: is a folder and is not overwritten; choose another name")
    if Path(path).exists() and not overwrite:
        raise DataError(f"{path}: the file exists and is not overwritten; choose another name")
