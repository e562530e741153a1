"""Raw files of downloadable datasets: checked, then put in place whole or not at all."""

import hashlib
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory

from tvgnn.errors import DataError

__all__ = [
    "RawFile",
    "RawFolder",
    "data_folders",
    "data_root",
    "fetch",
    "is_available",
    "mirror_folder",
    "read_checked",
]

_LARGEST_FILE = 1 << 28  # bytes read into memory at once; the largest file known here has 46 MB


@dataclass(frozen=True)
class RawFile:
    """One raw file and what it must contain.

    Attributes
    ----------
    name : str
        File name inside its folder.
    size : int
        Bytes.
    sha256 : str
        Digest of the known content.
    validate : callable, optional
        Called with the bytes where the digest is another one; raises DataError to refuse them. None accepts the known
        content only, as files that run code when they are read (pickles) require.
    """

    name: str
    size: int
    sha256: str
    validate: Callable[[bytes], None] | None = None


@dataclass(frozen=True)
class RawFolder:
    """The raw files of one dataset: their folder below the data root (and a mirror) and the URL they come from."""

    path: str
    url: str
    files: tuple[RawFile, ...]


def data_root(root: str | os.PathLike[str] | None = None) -> Path:
    """Return ``root``, else ``$TVGNN_HOME/data``, else ``tvgnn/data`` in the user's cache folder of this platform."""
    if root is not None:
        return Path(root)
    if home := os.environ.get("TVGNN_HOME"):
        return Path(home) / "data"
    if sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "tvgnn" / "data"


def mirror_folder(mirror: str | os.PathLike[str] | None = None) -> Path | None:
    """Return ``mirror``, else ``$TVGNN_MIRROR``, else None; a folder that does not exist is refused."""
    given = mirror if mirror is not None else os.environ.get("TVGNN_MIRROR")
    if not given:
        return None
    folder = Path(given)
    if not folder.is_dir():
        source = "mirror" if mirror is not None else "TVGNN_MIRROR"
        raise DataError(
            f"{source} must name an existing folder; {folder} is none. Correct it, or leave it out to download"
        )
    return folder


def data_folders(root: str | os.PathLike[str] | None, mirror: str | os.PathLike[str] | None) -> list[Path]:
    """Return where files of a dataset may lie: the root, then the mirror if there is one."""
    stand_in = mirror_folder(mirror)
    return [data_root(root)] + ([stand_in] if stand_in else [])


def read_checked(path: Path, file: RawFile) -> bytes:
    """Return the content of ``path`` if it is what ``file`` describes.

    Raises
    ------
    DataError
        If the file is missing or unreadable, or its size or content is another one.
    """
    if not path.is_file():
        raise DataError(f"{path} is missing")
    try:
        size = path.stat().st_size
        if size > _LARGEST_FILE:
            raise DataError(f"{path} must have {file.size} bytes; it has {size}")
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error})") from error
    digest = hashlib.sha256(content).hexdigest()
    if digest == file.sha256:
        return content
    page = " (it looks like an HTML page, such as a server's error page)" if content.lstrip().startswith(b"<") else ""
    if file.validate is None:
        found = f"{file.size} bytes; it has {size}" if size != file.size else f"SHA-256 {file.sha256}; it has {digest}"
        raise DataError(f"{path} must have {found}{page}")
    try:
        file.validate(content)
    except DataError as error:
        raise DataError(f"{path} is not usable: {error}{page}") from error
    return content


def fetch(name: str, raw: RawFolder, root: Path, mirror: Path | None) -> Path:
    """Return the folder below ``root`` that holds the raw files of dataset ``name``, filling it first where needed.

    Files that are there and correct are left alone, so ``root`` may be read-only then. Otherwise they come from
    ``mirror`` or from the network into a temporary folder, are checked there, and are renamed into place one by one: a
    process that reads at the same time sees a whole file or none, and one that fetches too renames an equal file over
    it.

    Raises
    ------
    DataError
        If the files cannot be had or are not the known ones; the message names the folder and the files.
    """
    folder = root / raw.path
    problem = _first_problem(folder, raw)
    if problem is None:
        return folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".fetch-", dir=folder) as temporary:
            _obtain(name, raw, Path(temporary), mirror, f"{problem}. {_remedy(raw, folder)}")
            for file in raw.files:
                os.replace(Path(temporary) / file.name, folder / file.name)
    except OSError as error:
        raise DataError(
            f"cannot write the files of {name} to {folder} ({error.strerror or error}). "
            f"Pass root=, or set TVGNN_HOME, to name a folder that can be written"
        ) from error
    return folder


def is_available(raw: RawFolder, folders: list[Path]) -> bool:
    """Say whether one of ``folders`` holds every file (by size, which costs no read)."""

    def fits(path: Path, file: RawFile) -> bool:
        return path.is_file() and (file.validate is not None or path.stat().st_size == file.size)

    return any(all(fits(folder / raw.path / file.name, file) for file in raw.files) for folder in folders)


def _first_problem(folder: Path, raw: RawFolder) -> str | None:
    try:
        for file in raw.files:
            read_checked(folder / file.name, file)
    except DataError as error:
        return str(error)
    return None


def _obtain(name: str, raw: RawFolder, target: Path, mirror: Path | None, context: str) -> None:
    for file in raw.files:
        if mirror is None:
            _download(name, f"{raw.url}/{file.name}", target, context)
            try:
                read_checked(target / file.name, file)
            except DataError as error:
                raise DataError(f"the download of {name} is not the known file: {error}. {context}") from error
        else:
            try:
                content = read_checked(mirror / raw.path / file.name, file)
            except DataError as error:
                raise DataError(f"the mirror {mirror} does not provide {name}: {error}") from error
            (target / file.name).write_bytes(content)


def _download(name: str, url: str, target: Path, context: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # raised by the imports of PyTorch Geometric itself
        from torch_geometric.data import download_url
    try:
        download_url(url, str(target), log=False)
    except (OSError, HTTPException) as error:
        raise DataError(f"could not download {name} from {url} ({error}). {context}") from error


def _remedy(raw: RawFolder, folder: Path) -> str:
    names = ", ".join(file.name for file in raw.files)
    return (
        f"Without internet: put {names} (from {raw.url}) into {folder}, "
        f"or name a folder that holds them under {raw.path} by mirror= or TVGNN_MIRROR"
    )
