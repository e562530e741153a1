"""Where the text files of a TU dataset lie: a folder, or a zip archive that is read without being unpacked."""

import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tvgnn.errors import DataError

__all__ = ["KINDS", "TUFiles", "open_archive", "open_tu"]

KINDS = ("A", "graph_indicator", "graph_labels", "graph_attributes", "node_labels", "node_attributes")
"""Files that are read, by what follows the prefix in their names."""

_UNUSED = ("edge_labels", "edge_attributes")

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may ask for gigabytes to unpack a few bytes
_LARGEST_TEXT = 1 << 30  # bytes of all members that are read; COLLAB has 280 MB


@dataclass(frozen=True)
class TUFiles:
    """The files of one dataset.

    Attributes
    ----------
    place : str
        Folder or archive, for messages.
    prefix : str
        What the names of all files begin with, such as ``"MUTAG_"``, including folders inside an archive.
    sizes : mapping of str to int
        Bytes of each of :data:`KINDS` that is there.
    open : callable
        Open the file of a kind for reading bytes.
    unused : tuple of str
        Kinds that are there and are not read.
    """

    place: str
    prefix: str
    sizes: Mapping[str, int]
    open: Callable[[str], IO[bytes]]
    unused: tuple[str, ...] = ()

    def __contains__(self, kind: str) -> bool:
        return kind in self.sizes

    def where(self, kind: str) -> str:
        """Name the file of a kind for a message."""
        return f"{self.place}, {self.prefix}{kind}.txt"

    def require(self, *kinds: str) -> None:
        """Raise :class:`DataError` if the file of a kind is missing."""
        for kind in kinds:
            if kind not in self:
                raise DataError(f"{self.where(kind)} is missing: a TU dataset has its {_CONTENT[kind]} there")


_CONTENT = {
    "A": "edges",
    "graph_indicator": "graph of every node",
    "graph_labels": "class of every graph",
    "graph_attributes": "target of every graph",
    "node_labels": "label of every node",
    "node_attributes": "attributes of every node",
}


@contextmanager
def open_tu(path: str | Path) -> Iterator[TUFiles]:
    """Find the files of the one TU dataset in a folder or zip archive.

    Raises
    ------
    DataError
        If there is no such place or not exactly one ``*_A.txt`` in it; also for damage met while files are read.
    """
    path = Path(path)
    if path.is_dir():
        yield _in_folder(path)
    elif not path.is_file():
        raise DataError(f"{path}: expected a folder of DS_A.txt, DS_graph_indicator.txt, ..., or a .zip; there is none")
    else:
        try:
            file = path.open("rb")
        except OSError as error:
            raise DataError(f"{path} cannot be read ({error.strerror or error})") from error
        with file, open_archive(file, str(path)) as files:
            yield files


@contextmanager
def open_archive(file: IO[bytes], place: str) -> Iterator[TUFiles]:
    """Find the files of the one TU dataset in a zip archive; :func:`open_tu` for a file that is open."""
    try:
        with zipfile.ZipFile(file) as archive:
            yield _in_archive(archive, place)
    except DataError:
        raise
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise DataError(f"{place}: expected a zip archive of text files; it is damaged or no such ({error})") from error


def _in_folder(folder: Path) -> TUFiles:
    prefix = _find_prefix([path.name for path in folder.iterdir() if path.is_file()], str(folder))
    paths = {kind: folder / f"{prefix}{kind}.txt" for kind in KINDS}
    sizes = {kind: path.stat().st_size for kind, path in paths.items() if path.is_file()}

    def open_kind(kind: str) -> IO[bytes]:
        try:
            return paths[kind].open("rb")
        except OSError as error:
            raise DataError(f"{paths[kind]} cannot be read ({error.strerror or error})") from error

    unused = tuple(kind for kind in _UNUSED if (folder / f"{prefix}{kind}.txt").is_file())
    return TUFiles(str(folder), prefix, sizes, open_kind, unused)


def _in_archive(archive: zipfile.ZipFile, place: str) -> TUFiles:
    """Members are read by name into memory and never unpacked, so that where their names point is of no concern."""
    infos = {info.filename: info for info in archive.infolist()}
    prefix = _find_prefix([name for name in infos if not name.startswith("__MACOSX/")], place)
    members = {kind: infos[f"{prefix}{kind}.txt"] for kind in KINDS if f"{prefix}{kind}.txt" in infos}
    total = sum(info.file_size for info in members.values())
    if total > _LARGEST_TEXT:
        raise DataError(
            f"{place}: its text unpacks to {total} bytes, more than the {_LARGEST_TEXT} that are read from an archive; "
            "if it can be trusted, unpack it and name the folder"
        )
    for info in members.values():
        if info.compress_type not in _METHODS:
            raise DataError(f"{place}, {info.filename}: expected plain zip compression (deflate); pack it again")
    sizes = {kind: info.file_size for kind, info in members.items()}
    # a member gives no more bytes than it announces, whatever follows in the archive
    unused = tuple(kind for kind in _UNUSED if f"{prefix}{kind}.txt" in infos)
    return TUFiles(place, prefix, sizes, lambda kind: archive.open(members[kind]), unused)


def _find_prefix(names: list[str], place: str) -> str:
    found = sorted(name for name in names if name.endswith("_A.txt"))
    if len(found) != 1:
        got = f"{len(found)} ({', '.join(found[:3])})" if found else "none"
        raise DataError(f"{place}: expected the edges of one dataset in a file DS_A.txt, got {got}")
    return found[0].removesuffix("A.txt")
