"""Links lead somewhere, every page is in the navigation, every public name in the reference."""

import importlib
import re

import pytest
from markdown_pages import PAGES, ROOT, blocks_of, name_of, without_blocks

import tvgnn

REFERENCE = sorted((ROOT / "docs" / "api").glob("*.md"))


def anchors(page):
    """Return what GitHub and MyST call the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", without_blocks(page), re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading.lower().strip()).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_relative_links_resolve(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_blocks(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.is_file(), target
        assert not anchor or anchor in anchors(file), target


def test_every_page_is_in_the_navigation():
    listed = {ROOT / "docs" / "index.md"}
    for page in (ROOT / "docs" / "index.md", ROOT / "docs" / "api" / "index.md"):
        text = page.read_text(encoding="utf-8")
        for body in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL):
            names = [line for line in body.splitlines() if line and not line.startswith(":")]
            listed |= {page.parent / f"{name}.md" for name in names}
    listed.remove(ROOT / "docs" / "gallery" / "index.md")  # made from examples/ when the site is built
    assert {page for page in PAGES if page.is_relative_to(ROOT / "docs")} == listed


def documented():
    """Return module.name of everything that the reference describes."""
    found = set()
    for page in REFERENCE:
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith(".. currentmodule:: "):
                module = line.split()[-1]
            elif match := re.match(r"\.\. auto(?:class|function):: (\w+)", line):
                found.add(f"{module}.{match[1]}")
    return found


@pytest.mark.parametrize(
    "module", ["tvgnn", "tvgnn.pooling", "tvgnn.losses", "tvgnn.metrics", "tvgnn.datasets", "tvgnn.report.page"]
)
def test_every_public_name_is_in_the_reference(module):
    names = {name.split(".")[-1] for name in documented()}
    assert set(importlib.import_module(module).__all__) <= names


def test_the_reference_describes_what_exists():
    for path in documented():
        module, name = path.rsplit(".", 1)
        assert hasattr(importlib.import_module(module), name), path


def test_overview_of_the_reference_has_every_name():
    assert set(tvgnn.__all__) <= set(re.findall(r"`(\w+)`", without_blocks(ROOT / "docs" / "api" / "index.md")))


def test_the_gallery_knows_every_example(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    settings = importlib.import_module("_gallery").SMALL_SETTINGS
    assert {path.stem for path in (ROOT / "examples").glob("*.py")} == set(settings)


def test_pages_have_no_other_blocks_of_python():
    """``py`` or ``pycon`` fences would not be run."""
    for page in PAGES:
        assert not blocks_of(page, "py") + blocks_of(page, "pycon") + blocks_of(page, "python3"), name_of(page)
