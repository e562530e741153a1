"""Labels as files give them: what stands for a missing one is not a class."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from tvgnn.graph.graph import Graph
from tvgnn.io._cells import first_few, is_missing_label

__all__ = ["known_labels", "unlabelled_note"]


def known_labels(labels: Iterable[Any], name: str) -> tuple[npt.NDArray[Any], tuple[str, ...]]:
    """Return labels with None for text such as ``NA``, ``nan``, ``NULL`` and ``?``, and a note of such text.

    Parameters
    ----------
    labels
        (N,) labels of any type, unknown ones as `tvgnn.Graph` takes them included.
    name
        Where they come from, for the note.

    Returns
    -------
    labels : ndarray, shape (N,)
        Of objects where there was such text, else as given.
    notes : tuple of str

    Examples
    --------
    >>> known_labels(["left", "NA", "right"], "labels.csv")
    (array(['left', None, 'right'], dtype=object), ("'NA' in labels.csv was taken for an unknown label, not a class",))
    """
    array = np.asarray(labels)
    if array.dtype.kind not in "OUST":
        return array, ()
    values = array.tolist()
    texts = [value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in values]
    missing = [isinstance(text, str) and is_missing_label(text) for text in texts]
    if not any(missing):
        return array, ()
    found = np.empty(len(values), dtype=object)
    found[:] = [None if skip else value for value, skip in zip(values, missing, strict=True)]
    marks = [one for one in dict.fromkeys(text for text, skip in zip(texts, missing, strict=True) if skip) if one]
    what = "was taken for an unknown label, not a class" if len(marks) == 1 else "were taken for unknown labels"
    return found, (f"{first_few(marks)} in {name} {what}",) if marks else ()


def unlabelled_note(graph: Graph) -> tuple[str, ...]:
    """Say how many nodes have no label, where others have one."""
    unknown = 0 if graph.y is None else int((graph.y < 0).sum())
    if not unknown:
        return ()
    have = "has no known class and does" if unknown == 1 else "have no known class and do"
    return (f"{unknown} of {graph.num_nodes} nodes {have} not count where the result is compared with the classes",)
