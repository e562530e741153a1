"""Text files from outside, plain or gzip, and the node ids in them."""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from tvgnn.errors import DataError

__all__ = [
    "IdCache",
    "check_head",
    "is_integer",
    "open_bytes",
    "open_text",
    "require_file",
    "text_suffix",
]

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,4000}")
_HEAD_BYTES = 65536
_OTHER_TEXT = re.compile(
    rb"\{\s*[\"\r\n]|\[\s*[\[{]|graph\s*\[|(strict\s+)?(di)?graph\b[^,;\t]*\{", re.IGNORECASE
)  # JSON, GML, DOT
_FORMATS = (
    "text (CSV, TSV, semicolons or blanks, also .gz), .parquet, .mtx and .npz, for edges also .graphml and .gexf, for "
    "features and labels also .npy; AnnData is given as .h5ad by an option of its own"
)


class IdCache(dict[str, int | str]):
    """Node id of each text: integers become int, ``007`` and ``1.0`` stay text; one object per distinct id."""

    def __missing__(self, text: str) -> int | str:
        stripped = text.strip()
        result: int | str = int(stripped) if is_integer(stripped) else stripped
        self[text] = result
        return result


def is_integer(text: str) -> bool:
    """Say whether ``text`` is an integer as it would be printed: no plus sign, no leading zeros."""
    return _INTEGER.fullmatch(text) is not None


def require_file(path: str | Path) -> Path:
    """Return ``path`` as a Path after making sure that it is a file."""
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path}: expected a file, this is a folder")
    if not path.is_file():
        if path.exists():
            raise DataError(f"{path}: expected a file, this is a pipe or device; write its content to a file first")
        raise DataError(f"{path}: there is no such file; check the path")
    return path


def text_suffix(path: Path) -> str:
    """Return the suffix in lower case, looking through ``.gz``."""
    return (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()


def _open_binary(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    return cast(IO[bytes], gzip.open(path, "rb")) if is_gzip else path.open("rb")


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open for reading, unpacking gzip whatever the name says; damage is a :class:`DataError`."""
    try:
        with _open_binary(path) as file:
            yield file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: the gzip data is damaged or cut off ({error}); fetch the file again") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None


@contextmanager
def open_text(path: Path) -> Iterator[io.TextIOWrapper]:
    """Open UTF-8 text with or without a byte-order mark, any line ends."""
    with open_bytes(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", errors="strict") as text:
        try:
            yield text
        except UnicodeDecodeError as error:
            raise DataError(
                f"{path}: expected UTF-8 text, got other bytes ({error.reason}); save it as UTF-8"
            ) from None
        except csv.Error as error:
            raise DataError(f"{path}: not readable as delimited text: {error}") from None


def check_head(path: Path, expected: str) -> None:
    """Refuse a file that is empty or no UTF-8 text by its first bytes.

    Parameters
    ----------
    path
        The file.
    expected
        What its lines should hold, for the message about an empty one.
    """
    with open_bytes(path) as file:
        head = file.read(_HEAD_BYTES)
    if not head.strip():
        raise DataError(f"{path}: the file is empty; expected {expected} in each line")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{path}: expected UTF-8 text, got UTF-16; save it as UTF-8")
    if b"\0" in head or head.startswith((b"PK\x03\x04", b"PAR1")):
        raise DataError(f"{path}: expected text, got binary data; formats that are read: {_FORMATS}; save it as CSV")
    if head[:14].lower() == b"%%matrixmarket":  # its sizes would pass for an edge
        raise DataError(f"{path}: expected delimited text, got a Matrix Market file; give it the ending .mtx")
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:64].lower()
    if _OTHER_TEXT.match(start):
        raise DataError(f"{path}: expected delimited text, got JSON, GML or DOT; formats that are read: {_FORMATS}")
    if start.startswith((b"<!doctype html", b"<html", b"<?xml", b"<graphml")):
        raise DataError(
            f"{path}: expected delimited text, got a web page or XML; was the download an error page? GraphML is known "
            "by the ending .graphml"
        )
