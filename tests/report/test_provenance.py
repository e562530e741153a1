"""Where figures come from, and how they get into a page."""

from types import SimpleNamespace

import pytest

from tvgnn.errors import DataError
from tvgnn.report.provenance import between_markers, provenance


def measured(**fields):
    common = {
        "commit": "0123456789",
        "date": "2026-01-02T03",
        "threads": 1,
        "device": "cpu",
        "versions": {"torch": "2"},
    }
    return SimpleNamespace(**(common | fields))


def test_each_fact_once():
    assert provenance([measured(), measured()]) == "commit `0123456`, 2026-01-02, 1 thread a run, cpu, torch 2"
    several = [measured(date="2026-02-01"), measured(commit="fedcba9876", threads=2, device="cuda:0")]
    assert provenance(several) == (
        "commit `fedcba9`, commit `0123456`, 2026-01-02 to 2026-02-01, 1, 2 threads a run, cpu, cuda:0, torch 2"
    )


def test_what_is_unknown_is_left_out():
    assert provenance([measured(commit=None, date="", threads=None, device=None, versions={})]) == ""
    assert provenance([]) == ""


def test_a_page_keeps_what_is_outside_the_markers():
    page = "before <!-- begin a --> old <!-- end a --> <!-- begin b --> kept <!-- end b -->"
    text = between_markers(page, "a", "new")
    assert text == "before <!-- begin a -->\n\nnew\n\n<!-- end a --> <!-- begin b --> kept <!-- end b -->"
    assert between_markers(text, "a", "new") == text


@pytest.mark.parametrize(
    "page",
    ["", "<!-- begin a -->", "<!-- end a --> <!-- begin a -->", "<!-- begin a --> <!-- begin a --> <!-- end a -->"],
)
def test_a_page_without_its_markers_is_refused(page):
    with pytest.raises(DataError, match="expected the lines <!-- begin a --> and <!-- end a --> once each"):
        between_markers(page, "a", "new")
