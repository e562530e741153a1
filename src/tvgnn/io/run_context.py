"""What a run knows about its nodes besides the model: classes, names of features, positions, a picture."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from tvgnn.errors import DataError

__all__ = ["CONTEXT_FILE", "RunContext", "read_context", "write_context"]

CONTEXT_FILE = "context.safetensors"
_KEY = "tvgnn"


@dataclass(frozen=True, eq=False)
class RunContext:
    """Each part is None where the run does not know it.

    Attributes
    ----------
    y : ndarray of int64, shape (N,)
        Class codes, -1 = unknown.
    class_names : sequence of str
        Name of each code.
    feature_names : sequence of str
        One a column of the features.
    positions : ndarray of float64, shape (N, 2)
        Where the nodes are in space, y upwards.
    picture : (str, int, int)
        ``("pixels", height, width)`` where nodes are the pixels of an image, row by row, and ``("tiles", height,
        width)`` where the features of each are an image.
    """

    y: Any = None
    class_names: Sequence[str] | None = None
    feature_names: Sequence[str] | None = None
    positions: Any = None
    picture: tuple[Literal["pixels", "tiles"], int, int] | None = None


def write_context(folder: str | Path, context: RunContext) -> None:
    """Write what is known into a run folder; nothing where nothing is known.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> write_context(folder, RunContext(feature_names=["age", "size"]))
    >>> read_context(folder).feature_names
    ['age', 'size']
    """
    known = {field.name: getattr(context, field.name) for field in fields(context)}
    known = {name: value for name, value in known.items() if value is not None}
    if not known:
        return
    arrays = {}
    if "y" in known:
        arrays["y"] = np.ascontiguousarray(known.pop("y"), dtype=np.int64)
    if "positions" in known:
        arrays["positions"] = np.ascontiguousarray(known.pop("positions"), dtype=np.float64)
    text = {name: [str(part) for part in value] if name != "picture" else list(value) for name, value in known.items()}
    # written here, with the permissions that the user's umask gives: safetensors would make it private
    (Path(folder) / CONTEXT_FILE).write_bytes(save(arrays, metadata={_KEY: json.dumps(text)}))


def read_context(folder: str | Path) -> RunContext:
    """Read what :func:`write_context` wrote; an empty context where there is none.

    Raises
    ------
    DataError
        The file is damaged.
    """
    path = Path(folder) / CONTEXT_FILE
    if not path.exists():
        return RunContext()
    try:
        with safe_open(path, framework="numpy") as file:
            text = json.loads((file.metadata() or {})[_KEY])
            stored = set(file.keys())
            arrays = {name: file.get_tensor(name) for name in ("y", "positions") if name in stored}
        return RunContext(**arrays, **_checked(text))
    except (SafetensorError, OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(f"{path}: not readable as a run's context: {error}; delete it, or run again") from None


def _checked(text: Any) -> Mapping[str, Any]:
    result: dict[str, Any] = {}
    for name, value in dict(text).items():
        if name in ("class_names", "feature_names"):
            result[name] = [str(part) for part in value]
        elif name == "picture":
            kind, height, width = value
            if kind not in ("pixels", "tiles"):
                raise ValueError(f"expected a picture of pixels or tiles, got {kind!r}")
            result[name] = (kind, int(height), int(width))
        else:
            raise ValueError(f"unknown entry {name!r}")
    return result
