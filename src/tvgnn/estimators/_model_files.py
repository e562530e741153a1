"""``model.safetensors`` and ``model.json`` of a fitted estimator: whole or not at all, and no pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from tvgnn.errors import DataError
from tvgnn.io.new_files import whole_file
from tvgnn.ops._backends import resolve_device
from tvgnn.training.fitting import default_torch

__all__ = ["device_here", "expect", "fitted_parameters", "known", "plain", "read_model", "write_model"]

Estimator = TypeVar("Estimator")
Arrays = dict[str, torch.Tensor]


def write_model(folder: str | os.PathLike[str], arrays: Arrays, description: dict[str, Any]) -> None:
    """Write both files; each appears under its name only when it is complete."""
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    text = json.dumps(
        {"tvgnn": version("tvgnn"), **description}, indent=2, default=plain
    )  # before any file is written, since it may fail
    contiguous = {name: array.detach().cpu().contiguous() for name, array in arrays.items()}
    _replace(path / "model.safetensors", lambda temporary: save_file(contiguous, temporary))
    _replace(path / "model.json", lambda temporary: Path(temporary).write_text(text, encoding="utf-8"))


@default_torch()
def read_model(
    folder: str | os.PathLike[str],
    model_format: int,
    writer: str,
    rebuild: Callable[[dict[str, Any], Arrays], Estimator],
    unbounded: Collection[str] = (),
) -> Estimator:
    """Read both files and hand them to ``rebuild``.

    Parameters:
        folder: where they lie.
        model_format: the format that is expected.
        writer: name of the estimator's class.
        rebuild: takes the description and the arrays, which are finite; what it raises means that they are damaged.
        unbounded: names of arrays that need not be finite; ``rebuild`` looks at these itself.

    Raises:
        DataError: a file is missing, damaged, of another format, of a newer version or of another estimator.

    """
    path = Path(folder)
    for name in ("model.json", "model.safetensors"):
        if not (path / name).is_file():
            raise DataError(f"expected {name} in {path}, found none; pass a folder that {writer}.save() wrote")
    try:
        description = json.loads((path / "model.json").read_text(encoding="utf-8"))
        if description["format"] != model_format:
            raise DataError(
                f"expected model format {model_format}, got {description['format']}{_writer(description)}; load it "
                "with its own version"
            )
        if description.get("estimator", writer) != writer:
            raise DataError(f"expected a model of {writer}, got one of {description['estimator']}; load it with that")
        arrays = load_file(path / "model.safetensors")
        bounded = {name: value for name, value in arrays.items() if name not in unbounded}
        broken = next((name for name, value in bounded.items() if not torch.isfinite(value).all()), None)
        if broken is not None:
            raise ValueError(f"expected finite numbers in {broken}")
        if any(value.is_complex() for value in arrays.values()):
            raise ValueError("expected real numbers in all arrays")
        return rebuild(description, arrays)
    except DataError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, RuntimeError, OSError, SafetensorError) as error:
        reason = f"no entry {error}" if isinstance(error, KeyError) else str(error)
        raise DataError(
            f"expected a model that {writer}.save() wrote in {path}, but it is damaged: {reason}"
        ) from error


def known(description: dict[str, Any], part: str, names: Iterable[str]) -> dict[str, Any]:
    """Return a table of the description, with names that this version knows; those that are missing take defaults.

    Raises:
        DataError: a name is unknown and another version wrote it.
        ValueError: a name is unknown though this version wrote it.

    """
    given: dict[str, Any] = description[part]
    unknown = sorted(set(given) - set(names))
    if unknown and description.get("tvgnn") != version("tvgnn"):
        raise DataError(
            f"expected {part} that tvgnn {version('tvgnn')} knows, got {', '.join(unknown)}: the model was written by "
            f"a newer version{_writer(description)}; load it with that"
        )
    if unknown:
        raise ValueError(f"unknown {part}: {', '.join(unknown)}")
    return given


def fitted_parameters(estimator: Any, changeable: Collection[str] = ()) -> dict[str, Any]:
    """Parameters of the fit: what ``set_params`` has changed since, the network knows nothing of.

    Parameters:
        estimator: fitted; pickles of earlier versions say nothing of the fit.
        changeable: names of parameters that count as they are now.

    """
    given: dict[str, Any] = estimator.get_params(deep=False)
    of_fit = getattr(estimator, "_fitted_parameters", {})
    return {**given, **{name: value for name, value in of_fit.items() if name not in changeable}}


def _writer(description: dict[str, Any]) -> str:
    return f" (tvgnn {description['tvgnn']})" if "tvgnn" in description else ""


def expect(name: str, got: Any, expected: Any) -> None:
    """Raise a ValueError unless a part of the model is as the others imply."""
    if got != expected:
        shown = [text if len(text) < 80 else f"{text[:80]}..." for text in (str(expected), str(got))]
        raise ValueError(f"expected {name} to be {shown[0]}, got {shown[1]}")


def device_here(device: str) -> str:
    """Return the device that a model was trained on, or the processor where this machine lacks it."""
    try:
        return resolve_device(device)
    except ValueError:
        return "cpu"


def plain(value: Any) -> Any:
    """Value for JSON; a random generator has none, so that a loaded estimator draws afresh."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, torch.device):
        return str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else None


def _replace(path: Path, write: Any) -> None:
    with whole_file(path) as temporary:
        temporary.touch()  # with the permissions that the user's umask gives; safetensors would make it private
        mode = temporary.stat().st_mode
        write(str(temporary))
        temporary.chmod(mode)
