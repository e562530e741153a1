"""The published files of Bench-easy and Bench-hard: ``.npz`` archives of pickled arrays, read without running them."""

import io
import math
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tvgnn.datasets.block_graphs import BlockGraphs
from tvgnn.datasets.pickled_arrays import read_objects
from tvgnn.errors import DataError
from tvgnn.graph.graph import Graph

__all__ = ["read_bench"]

_PARTS = {"train": "tr", "val": "val", "test": "te"}
_LARGEST_MEMBER = 1 << 28  # bytes; the whole large files have tens of MB
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, OSError, RuntimeError, EOFError, ValueError)


def read_bench(path: Path) -> tuple[list[Graph], dict[str, range]]:
    """Read a published file: training, validation and test graphs in one list, and their positions in it.

    Parameters
    ----------
    path : Path
        An ``.npz`` archive with ``{tr,val,te}_{adj,feat,class}``: binary adjacencies (CSR), features and one-hot
        classes.

    Raises
    ------
    DataError
        If the file is damaged or holds anything else; no pickle in it is run.
    """
    adjacencies: list[Any] = []
    features: list[Any] = []
    labels: list[int] = []
    split = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for part, prefix in _PARTS.items():
                classes = _class_indices(_read_member(archive, f"{prefix}_class"))
                start = len(labels)
                labels.extend(classes)
                adjacencies.extend(_read_member(archive, f"{prefix}_adj"))
                features.extend(_read_member(archive, f"{prefix}_feat"))
                if not len(labels) == len(adjacencies) == len(features):
                    raise DataError(f"expected as many {prefix}_adj and {prefix}_feat as {prefix}_class")
                split[part] = range(start, len(labels))
        blocks, x = _assemble(adjacencies, features)
    except DataError as error:
        raise DataError(f"{path} is not usable: {error}. Fetch the file again, or remove it to draw the set") from error
    except _DAMAGE as error:
        raise DataError(
            f"{path}: expected the published .npz archive, it is damaged or no such ({error}). Fetch the file again, "
            "or remove it to draw the set"
        ) from error
    return blocks.cut(x, labels, ("published file",)), split


def _read_member(archive: zipfile.ZipFile, name: str) -> Any:
    """Return a member as a numeric array, or as a list where it holds objects."""
    try:
        info = archive.getinfo(f"{name}.npy")
    except KeyError:
        raise DataError(f"expected an array {name}, there is none") from None
    if info.file_size > _LARGEST_MEMBER or info.compress_type not in _METHODS:
        raise DataError(f"expected {name} to take at most {_LARGEST_MEMBER} bytes, plain or deflated")
    content = archive.read(info)
    file = io.BytesIO(content)
    if np.lib.format.read_magic(file) != (1, 0):
        raise DataError(f"expected version 1.0 of NumPy's format for {name}")
    shape, columns_first, dtype = np.lib.format.read_array_header_1_0(file)
    rest = content[file.tell() :]
    if dtype.hasobject:
        if len(shape) != 1:
            raise DataError(f"expected a list of objects in {name}, got the shape {shape}")
        return read_objects(rest, shape[0])
    if dtype.kind not in "biuf" or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(rest):
        raise DataError(f"expected {name} to hold numbers, {len(rest)} bytes do not fit the shape {shape} of {dtype}")
    return np.frombuffer(rest, dtype).reshape(shape, order="F" if columns_first else "C")


def _class_indices(one_hot: Any) -> list[int]:
    table = np.asarray(one_hot)
    if table.ndim != 2 or table.dtype.kind not in "biuf" or not ((table != 0).sum(axis=1) == 1).all():
        raise DataError(f"expected one-hot classes, one row a graph, got an array of shape {table.shape}")
    return table.argmax(axis=1).tolist()


def _assemble(adjacencies: list[Any], features: list[Any]) -> tuple[BlockGraphs, npt.NDArray[np.float32]]:
    sources, targets, sizes = [], [], []
    first = 0
    for number, (adjacency, x) in enumerate(zip(adjacencies, features, strict=True)):
        if not sp.issparse(adjacency) or adjacency.shape[0] != adjacency.shape[1] or not (adjacency.data == 1).all():
            raise DataError(f"expected a square CSR matrix of ones as adjacency of graph {number}")
        if not _is_table(x) or x.shape[0] != adjacency.shape[0] or x.shape[1] != features[0].shape[1]:
            raise DataError(f"expected features of graph {number} with a row a node and as many columns as the first")
        size = adjacency.shape[0]
        sources.append(np.repeat(np.arange(first, first + size), np.diff(adjacency.indptr)))
        targets.append(adjacency.indices.astype(np.int64) + first)
        sizes.append(size)
        first += size
    if not sizes:
        raise DataError("expected graphs, the file holds none")
    blocks = BlockGraphs.from_edges(np.concatenate(sources), np.concatenate(targets), np.array(sizes))
    return blocks, np.concatenate(features).astype(np.float32)


def _is_table(x: Any) -> bool:
    return (
        not sp.issparse(x) and x.ndim == 2 and x.shape[1] > 0 and x.dtype.kind in "biuf" and bool(np.isfinite(x).all())
    )
