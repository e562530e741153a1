"""In words: whether the features, the graph or both drive a clustering."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

__all__ = ["reference_sentence"]

_SAME = 0.9  # NMI from which two clusterings say the same
_ALONE = 0.3  # below which one says little of the other
_NEARER = 0.15  # difference that is worth a word


def reference_sentence(references: Any) -> str | None:
    """Say how far the features alone and the graph alone give the same clusters.

    Parameters
    ----------
    references : mapping
        Entry ``references`` of a ``metrics.json``; of each ``agreement`` and ``method`` are read.

    Returns
    -------
    str or None
        None where neither is known, as in runs of earlier versions.

    Examples
    --------
    >>> reference_sentence({"graph": {"method": "spectral clustering", "agreement": 0.95}})
    'NMI with these clusters: the graph alone (spectral clustering) 0.95; the graph alone would do.'
    """
    found = {name: one for name in ("features", "graph") if (one := _known(references, name)) is not None}
    if not found:
        return None
    parts = [f"the {name} alone ({method}) {agreement:.2f}" for name, (agreement, method) in found.items()]
    return f"NMI with these clusters: {', '.join(parts)}; {_meaning({name: one[0] for name, one in found.items()})}."


def _known(references: Any, name: str) -> tuple[float, str] | None:
    one = references.get(name) if isinstance(references, Mapping) else None
    if not isinstance(one, Mapping):
        return None
    agreement, method = one.get("agreement"), one.get("method")
    if not isinstance(agreement, Real) or isinstance(agreement, bool) or not 0 <= float(agreement) <= 1:
        return None
    return float(agreement), method if isinstance(method, str) else "another method"


def _meaning(agreement: Mapping[str, float]) -> str:
    same = [f"the {name}" for name, value in agreement.items() if value >= _SAME]
    if same:
        return f"{' or '.join(same)} alone would do"
    low = max(agreement.values()) < _ALONE
    if len(agreement) == 1:  # mostly all there is: no edges, no features, or features made of the edges
        found = "other clusters, or these are not stable: compare other seeds" if low else "the same in part"
        return f"that finds {found}"
    if low:
        return "they are of both together, or not stable: compare other seeds"
    features, graph = agreement["features"], agreement["graph"]
    if abs(features - graph) < _NEARER:
        return "they follow both alike"
    more, less = ("features", "graph") if features > graph else ("graph", "features")
    return f"they follow the {more} more than the {less}"
