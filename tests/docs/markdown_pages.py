"""Fenced blocks, links and tables of Markdown pages."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<why>.+?) -->\n)?```(?P<language>[^\n`]*)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE
)


@dataclass
class Block:
    """A fenced block; ``why_not`` is the reason for which the page says that it is not run."""

    language: str
    code: str
    line: int
    why_not: str | None


def blocks_of(page, language):
    """Return the blocks of one language in their order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(language, found["code"], text.count("\n", 0, found.start("code")), found["why"])
        for found in _BLOCK.finditer(text)
        if found["language"] == language
    ]


def without_blocks(page):
    """Return the page's text outside of fenced blocks."""
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))


def name_of(page):
    """Return the path of a page below the root, for messages and test names."""
    return page.relative_to(ROOT).as_posix()
