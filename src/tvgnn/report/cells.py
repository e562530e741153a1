"""Cells of a table that is printed by rich and written as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

__all__ = ["MISSING", "Cell", "markdown_table", "plain", "rich_table"]

MISSING = "-"


def plain(text: str) -> str:
    """Return a text as one line of Markdown that shows it as it is.

    Examples
    --------
    >>> print(plain("a|b *c*"))
    a\\|b \\*c\\*
    """
    line = re.sub(r"([\\`*|\[\]]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))", r"\\\1", " ".join(text.split()))
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", line)


@dataclass(frozen=True)
class Cell:
    """Text with an emphasis: rank 1 for the best of a row or column, 2 for the second best; or an alarm."""

    text: str = MISSING
    rank: int = 0
    alarm: bool = False

    def markdown(self) -> str:
        """Bold or underlined."""
        text = plain(self.text)
        if self.rank == 1 or self.alarm:
            return f"**{text}**"
        return f"<u>{text}</u>" if self.rank == 2 else text

    def rich(self) -> Text:
        """Bold or underlined, an alarm in red."""
        return Text(self.text, {1: "bold", 2: "underline"}.get(self.rank, "bold red" if self.alarm else ""))


def markdown_table(rows: Sequence[Sequence[Cell]]) -> str:
    """Return rows, the first of which is the header, as lines of Markdown; numbers are aligned to the right."""
    header, *body = rows
    lines = [header, [Cell("---"), *[Cell("---:")] * (len(header) - 1)], *body]
    return "\n".join(f"| {' | '.join(cell.markdown() for cell in line)} |" for line in lines)


def rich_table(rows: Sequence[Sequence[Cell]], title: str) -> Table:
    """Return rows, the first of which is the header, for a terminal."""
    header, *body = rows
    # texts, as rich would take words in square brackets of a string for styles
    table = Table(box=None, pad_edge=False, title=Text(title), title_justify="left")
    for number, cell in enumerate(header):
        table.add_column(Text(cell.text), justify="right" if number else "left")
    for row in body:
        table.add_row(*(cell.rich() for cell in row))
    return table
