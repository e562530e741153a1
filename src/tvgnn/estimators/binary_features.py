"""Features of nothing but presence: words of documents, answers, species at places, dummies of categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.graph.column_moments import row_blocks

__all__ = ["are_binary", "has_equal_rows", "steps_of_binary"]

_ANSWERS = 256  # columns; vocabularies have more
_CROWDED = 0.15  # share of entries that are not 0, from which an IDF hides words that many rows have


def are_binary(x: Any) -> bool:
    """Say whether the entries of each row of x (N, F) that are not 0 are one positive number, such as 1.

    So are 0 and 1, also after rows were divided by their sum or length.

    Parameters:
        x: dense or CSR.

    Example:
        >>> words = np.array([[1.0, 1, 0], [0, 1, 0]])
        >>> are_binary(words), are_binary(words / words.sum(1, keepdims=True)), are_binary(words * [1, 2, 3])
        (True, True, False)

    """
    # Most dense features are told by their first rows, without a copy of all
    blocks = [_without_zeros(x)] if sp.issparse(x) else (sp.csr_array(x[rows]) for rows in row_blocks(x.shape))
    found = several = False
    ones = True
    for block in blocks:
        entries = np.diff(block.indptr)
        starts = block.indptr[:-1][entries > 0]
        if not starts.size:
            continue
        low, high = np.minimum.reduceat(block.data, starts), np.maximum.reduceat(block.data, starts)
        if not ((low > 0) & (low == high)).all():
            return False
        found, several, ones = True, several or bool(entries.max() > 1), ones and bool((high == 1).all())
    return found and (ones or several)  # amounts that stand alone in their rows are not compared with any


def steps_of_binary(x: Any) -> tuple[str, ...]:
    """Steps of `FeaturePreparation` for binary features.

    - Few columns are answers, symptoms, traits: ``l2``, since what many rows have says as much as what few have. An
      IDF would leave next to nothing of the former. Not dummies of categories, which equally many columns of each row
      are not 0 in.
    - Many columns are words: ``idf`` and ``l2``; ``smooth-idf``, which leaves something of words that most rows have,
      where rows have many of them.

    Parameters:
        x: (N, F), dense or CSR, see `are_binary`.

    """
    if x.shape[1] <= _ANSWERS and not has_equal_rows(x):
        return ("l2",)
    nonzero = x.count_nonzero() if sp.issparse(x) else np.count_nonzero(x)
    crowded = nonzero >= _CROWDED * x.shape[0] * x.shape[1] and not has_equal_rows(x)
    return ("smooth-idf" if crowded else "idf", "l2")


def has_equal_rows(x: Any) -> bool:
    """Whether equally many entries of all rows are not 0, as those of nothing but dummies."""
    number = np.asarray((x != 0).sum(1)).ravel()
    return bool((number == number[0]).all())


def _without_zeros(x: Any) -> Any:
    found = sp.csr_array(x)
    if not found.data.all():  # stored zeros, which no `Graph` has
        found = found.copy()
        found.eliminate_zeros()
    return found
