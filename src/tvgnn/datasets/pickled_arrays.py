"""Arrays and CSR matrices out of a pickle that is never run.

NumPy stores arrays of objects as pickles. :mod:`tvgnn.datasets.pickle_notes` notes down what such a file asks for; here
arrays are built from the notes, after every size and index in them was checked.
"""

import math
import re
import struct
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tvgnn.datasets.pickle_notes import Call, Name, expect, read_notes
from tvgnn.errors import DataError

__all__ = ["read_objects"]

_NUMBER = re.compile(r"[fiub][1248]")
_DAMAGE = (ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError, EOFError, struct.error)


def read_objects(content: bytes, count: int) -> list[Any]:
    """Return the elements of a pickled one-dimensional array of objects.

    Parameters
    ----------
    content : bytes
        The pickle, as in an ``.npy`` file after its header.
    count : int
        Number of elements, from the header.

    Returns
    -------
    list
        A numeric ``ndarray`` or a ``csr_array`` with valid indices for each element.

    Raises
    ------
    DataError
        If the pickle holds, names or asks for anything else.
    """
    try:
        return _Builder(len(content)).elements(read_notes(content), count)
    except DataError:
        raise
    except _DAMAGE as error:
        raise DataError(f"expected a pickled array of arrays, it is damaged or something else ({error})") from error


class _Builder:
    """Makes arrays of the notes. All of them together hold no more bytes than the file: repeats cannot multiply them.

    Parameters
    ----------
    budget : int
        Bytes of the file.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget

    def elements(self, note: Any, count: int) -> list[Any]:
        shape, dtype, _, items = self._array_parts(note)
        if dtype != "O" or shape != (count,) or len(expect(items, list)) != count:
            raise DataError(f"expected {count} objects, as the header says, in a pickled array")
        return [self._element(item) for item in items]

    def _element(self, note: Any) -> Any:
        call = expect(note, Call)
        return self._matrix(call.state) if call.maker is Name.CSR else self._array(call)

    def _array_parts(self, note: Any) -> tuple[tuple[int, ...], str, bool, Any]:
        """Return shape, dtype, whether columns come first, and the content of a noted array."""
        call = expect(note, Call)
        if call.maker is not Name.RECONSTRUCT or call.arguments[:1] != (Name.NDARRAY,):
            raise DataError(f"expected an array in the pickle, it asks for {call.maker.name.lower()}")
        _, shape, dtype, columns_first, items = expect(call.state, tuple)
        lengths = tuple(expect(length, int) for length in expect(shape, tuple))
        if min(lengths, default=0) < 0:
            raise DataError(f"expected the shape of an array in the pickle, got {lengths}")
        return lengths, _dtype_name(dtype), expect(columns_first, bool), items

    def _array(self, note: Any) -> npt.NDArray[Any]:
        shape, name, columns_first, items = self._array_parts(note)
        if name == "O":
            raise DataError("expected arrays of numbers in the pickle, got an array of objects within one")
        dtype = np.dtype(name)
        size = math.prod(shape) * dtype.itemsize
        if size > self._budget:
            raise DataError(f"expected arrays no larger than their file, one announces the shape {shape}")
        self._budget -= size
        content = _as_bytes(items)
        if len(content) != size:
            raise DataError(f"expected {size} bytes for an array of shape {shape}, got {len(content)}")
        return np.frombuffer(content, dtype).reshape(shape, order="F" if columns_first else "C")

    def _matrix(self, state: Any) -> Any:
        parts = expect(state, dict)
        rows, columns = (expect(length, int) for length in expect(parts["_shape"], tuple))
        data, indices, indptr = (self._array(parts[name]) for name in ("data", "indices", "indptr"))
        plain = data.ndim == indices.ndim == indptr.ndim == 1 and indices.dtype.kind == indptr.dtype.kind == "i"
        if not plain or len(indptr) != rows + 1 or len(data) != len(indices):
            raise DataError(
                f"expected a CSR matrix of {rows} rows, got {indptr.shape} pointers, {indices.shape} indices and "
                f"{data.shape} values"
            )
        # compiled code would follow a wrong index out of the array
        if indptr[0] != 0 or indptr[-1] != len(indices) or (np.diff(indptr) < 0).any():
            raise DataError("expected row pointers of a CSR matrix, ascending from 0 to the number of entries")
        if len(indices) and (indices.min() < 0 or indices.max() >= columns):
            raise DataError(f"expected indices of a CSR matrix in 0..{columns - 1}, got others")
        return sp.csr_array((data, indices, indptr), shape=(rows, columns))


def _dtype_name(note: Any) -> str:
    """Return the name of a noted type with its byte order, ``"O"`` for objects."""
    call = expect(note, Call)
    if call.maker is not Name.DTYPE:
        raise DataError(f"expected the type of an array in the pickle, it asks for {call.maker.name.lower()}")
    code, order = expect(call.arguments[0], str), expect(expect(call.state, tuple)[1], str)
    if code in ("O", "O8"):
        return "O"
    if not _NUMBER.fullmatch(code) or order not in ("<", ">", "|", "="):
        raise DataError(f"expected arrays of numbers in the pickle, got the type {order + code!r}")
    return order + code


def _as_bytes(note: Any) -> bytes:
    """Return bytes, or text that protocol 2 stores instead of them, a character a byte."""
    if type(note) is bytes:
        return note
    call = expect(note, Call)
    if call.maker is not Name.ENCODE or call.arguments[1:] != ("latin1",):
        raise DataError("expected the bytes of an array in the pickle, it asks for something else")
    return bytes(expect(call.arguments[0], str).encode("latin1"))
