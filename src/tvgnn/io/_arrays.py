"""Arrays and sparse matrices from ``.npy``, ``.npz`` and ``.mtx``: no pickles, sizes checked before allocation."""

import math
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tvgnn.errors import DataError
from tvgnn.io._matrix_market import read_matrix_market
from tvgnn.io._text import require_file
from tvgnn.io.machine_memory import check_file_fits

__all__ = ["read_array", "read_matrix"]

_COMPRESSED = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}
_SPARSE_KEYS = {**dict.fromkeys(_COMPRESSED, ("indptr", "indices")), "coo": ("row", "col"), "dia": ("offsets",)}
_HEADER_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_array(path: str | Path) -> npt.NDArray[Any]:
    """Map a ``.npy`` array into memory, read-only; arrays of Python objects are refused."""
    path = require_file(path)
    with path.open("rb") as file:
        _check_header(file, path.stat().st_size, str(path))
    array = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    if array.ndim == 0:
        raise DataError(f"{path}: expected one row per node, got a single number")
    return array


def read_matrix(path: str | Path) -> Any:
    """Read ``.mtx`` (Matrix Market) or ``.npz`` (``scipy.sparse.save_npz``, or one dense array).

    Returns
    -------
    matrix
        A scipy sparse matrix with valid indices, or a dense array.
    """
    path = require_file(path)
    return _read_npz(path) if path.suffix.lower() == ".npz" else read_matrix_market(path)


def _check_header(file: IO[bytes], size: int, name: str) -> None:
    """Check from its header that an array has numbers or text in it and as many bytes as it says."""
    try:
        version = np.lib.format.read_magic(file)
        if version not in _HEADER_READERS:
            raise ValueError(f"format version {version} is unknown")
        shape, _, dtype = _HEADER_READERS[version](file)
    except Exception as error:  # a damaged header can fail NumPy's parser of literals in any way
        raise DataError(f"{name}: not a NumPy array file ({error}); write it with numpy.save") from None
    if dtype.hasobject:
        raise DataError(f"{name}: holds Python objects, which could run code; save plain numbers or text instead")
    expected, present = math.prod(shape) * dtype.itemsize, size - file.tell()
    if min(shape, default=0) < 0 or expected > present:
        raise DataError(f"{name}: the header announces {expected} bytes, there are {present}; it is cut off or damaged")


def _read_npz(path: Path) -> Any:
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            check_file_fits(sum(info.file_size for info in members.values()), path)
            for key, info in members.items():
                with archive.open(info) as file:
                    _check_header(file, info.file_size, f"{path}, array {key!r}")
        with np.load(path, allow_pickle=False) as arrays:
            parts = {key: arrays[key] for key in arrays.files}
    except DataError:
        raise
    except (
        zipfile.BadZipFile,
        EOFError,
        OSError,
        RuntimeError,
        ValueError,
        KeyError,
        struct.error,
        zlib.error,
    ) as error:
        raise DataError(f"{path}: not a readable .npz archive ({error}); write it with scipy.sparse.save_npz") from None
    if len(parts) == 1:
        return next(iter(parts.values()))
    return _as_sparse(parts, path)


def _as_sparse(parts: dict[str, npt.NDArray[Any]], path: Path) -> Any:
    kind = parts["format"].item() if "format" in parts and parts["format"].ndim == 0 else b""
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    keys = _SPARSE_KEYS.get(kind, ())
    if not keys or not {"data", "shape", *keys} <= parts.keys():
        raise DataError(
            f"{path}: expected the keys of scipy.sparse.save_npz (format csr, csc, coo, bsr or dia) or a single array, "
            f"got {sorted(parts)}"
        )
    if any(parts[key].dtype.kind not in "iu" for key in ("shape", *keys)):
        raise DataError(f"{path}: expected integers in the arrays {', '.join(('shape', *keys))}")
    shape = tuple(int(size) for size in np.atleast_1d(parts["shape"]))
    if len(shape) != 2 or min(shape) < 0:
        raise DataError(f"{path}: expected the shape of a matrix, got {shape}")
    check_file_fits(16 * max(shape), path)
    try:
        if kind == "coo":
            return sp.coo_array((parts["data"], (parts["row"], parts["col"])), shape=shape)
        if kind == "dia":
            return sp.csr_array(sp.dia_array((parts["data"], parts["offsets"]), shape=shape))
        matrix = _COMPRESSED[kind]((parts["data"], parts["indices"], parts["indptr"]), shape=shape)
        matrix.check_format(full_check=True)  # compiled code would follow a wrong index out of the array
    except (ValueError, IndexError, TypeError) as error:
        raise DataError(f"{path}: not a valid {kind} matrix: {error}") from None
    if kind == "bsr":
        matrix = sp.csr_array(matrix)
        matrix.eliminate_zeros()  # which fill the blocks
    return matrix
