"""Colours that clusters and classes have in every figure, page and file."""

__all__ = ["COLORS", "UNKNOWN", "color_of"]

COLORS = (
    "#3f90da",
    "#ffa90e",
    "#bd1f01",
    "#832db6",
    "#a96b59",
    "#e76300",
    "#b9ac70",
    "#92dadd",
    "#94a4a2",
    "#005a69",
)
"""Ten colours that stay apart under the common colour vision deficiencies (Petroff 2021, arXiv:2107.02270).

His pale grey comes ninth, as edges and undecided nodes are grey too; a dark teal stands for his second grey, which is
hard to tell from it.
"""

UNKNOWN = "#dddddd"
"""Nodes without a label: paler than every colour, so that they stay in the background."""


def color_of(number: int) -> str:
    """Return the colour of a cluster or class.

    Examples
    --------
    >>> color_of(0) == color_of(10) == COLORS[0]
    True
    """
    return UNKNOWN if number < 0 else COLORS[number % len(COLORS)]
