"""Metrics of a run, checked before anything is made of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from tvgnn.errors import DataError

__all__ = ["checked_metrics"]

_NUMBERS = (
    "n_graphs", "n_nodes", "n_edges", "n_features", "n_clusters", "n_clusters_found", "n_train", "n_validation",
    "n_test", "test_accuracy", "test_macro_f1", "validation_accuracy", "train_accuracy", "nmi", "acc", "ari",
    "macro_f1", "modularity", "conductance", "cut_fraction", "sharpness", "soft_entropy", "loss",
    "total_variation", "balance", "epochs", "fit_seconds", "ms_per_epoch", "peak_rss_bytes",
)  # fmt: skip
_NUMBERS_OF_CHOICES = ("missing_features", "nothing_known", "neighbor_agreement")
_SPLIT = ("n_train", "n_validation", "n_test")


def checked_metrics(metrics: Any) -> dict[str, Any]:
    """Return what a ``metrics.json`` holds, without its nulls, or name the entry that is not what it should be.

    Parameters
    ----------
    metrics : mapping
        As ``tvgnn cluster`` writes it; entries may be missing or None, and unknown ones stay as they are.

    Returns
    -------
    dict
        With plain numbers and lists in place of NumPy's, ``notes`` as a list of str, and ``choices`` without nulls.

    Raises
    ------
    DataError
        It is no mapping, or an entry has another type than a run writes.

    Examples
    --------
    >>> checked_metrics({"nmi": 0.5, "notes": None, "versions": {"torch": "2.13.0"}})
    {'nmi': 0.5, 'versions': {'torch': '2.13.0'}}
    """
    if not isinstance(metrics, Mapping):
        raise DataError(f"expected metrics as a JSON object, got {_kind(metrics)}")
    plain = {str(key): value.tolist() if hasattr(value, "tolist") else value for key, value in metrics.items()}
    found = {key: value for key, value in plain.items() if value is not None}
    for key in _NUMBERS:
        if key in found and not _is_number(found[key]):
            raise DataError(f"expected {key} to be a finite number, got {_kind(found[key])}")
    for key, wanted, name in (
        ("converged", bool, "true or false"),
        ("cluster_sizes", Sequence, "a list of numbers"),
        ("notes", Sequence, "a list of texts"),
        ("versions", Mapping, "an object of names and versions"),
        ("choices", Mapping, "an object of what the data chose"),
    ):
        if key in found and (not isinstance(found[key], wanted) or isinstance(found[key], str)):
            raise DataError(f"expected {key} to be {name}, got {_kind(found[key])}")
    sizes = found.get("cluster_sizes", (0,))
    if not len(sizes) or not all(map(_is_number, sizes)):
        raise DataError(f"expected cluster_sizes to be a list of numbers, one or more, got {_kind(sizes)}")
    if "n_test" in found and not all(key in found for key in _SPLIT):
        raise DataError(f"expected {', '.join(_SPLIT)} together, got only some of them")
    if "choices" in found:
        found["choices"] = _checked_choices(found["choices"])
    if "notes" in found:
        found["notes"] = [str(note) for note in found["notes"]]
    return found


def _checked_choices(choices: Mapping[Any, Any]) -> dict[str, Any]:
    found = {str(key): value for key, value in choices.items() if value is not None}
    for key in _NUMBERS_OF_CHOICES:
        if key in found and not _is_number(found[key]):
            raise DataError(f"expected {key} of choices to be a finite number, got {_kind(found[key])}")
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _kind(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 40 else text[:37] + '...'}"
