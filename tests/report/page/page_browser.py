"""The browser that the page is tried in."""

import os
import shutil

import pytest


def require_chromium():
    """Return the path of Chromium; without one skip the test, or fail where ``TVGNN_REQUIRE_BROWSER=1`` asks for it."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        program = shutil.which(name)
        if program is not None:
            return program
    why = "no Chromium: the page is not tried in a browser (Debian: apt install chromium)"
    if os.environ.get("TVGNN_REQUIRE_BROWSER") == "1":
        pytest.fail(f"TVGNN_REQUIRE_BROWSER=1, but {why}")
    pytest.skip(why)
