"""Without a browser the tests of the page say so, and fail where one is required."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from page_browser import require_chromium

CI = Path(__file__).parents[3] / ".ci/run"


@pytest.fixture
def bare(tmp_path):
    """A folder of the few programs that .ci/run calls: no browser, no apt-get, and a make that does nothing."""
    for name in ("bash", "env", "dirname", "id"):
        (tmp_path / name).symlink_to(shutil.which(name))
    (tmp_path / "make").write_text('#!/usr/bin/env bash\necho "make $*"\n')
    (tmp_path / "make").chmod(0o755)
    return tmp_path


def test_without_chromium_a_test_is_skipped_or_fails(bare, monkeypatch):
    monkeypatch.setenv("PATH", str(bare))
    monkeypatch.delenv("TVGNN_REQUIRE_BROWSER", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no Chromium"):
        require_chromium()
    monkeypatch.setenv("TVGNN_REQUIRE_BROWSER", "1")
    with pytest.raises(pytest.fail.Exception, match="no Chromium"):
        require_chromium()


@pytest.mark.skipif(os.name == "nt", reason="runs a shell script")
@pytest.mark.parametrize(("required", "code"), [("", 0), ("1", 1)])
def test_ci_ends_with_the_tests_that_were_skipped(bare, required, code):
    environment = {"PATH": str(bare), "TVGNN_REQUIRE_BROWSER": required}
    result = subprocess.run([bare / "bash", CI], env=environment, capture_output=True, text=True, timeout=60)
    assert result.returncode == code, result.stderr
    assert ("make test" in result.stdout) == (code == 0)
    last = result.stdout.splitlines()[-1]
    assert "tests/report/page/test_page_in_browser.py" in last
    assert "no Chromium" in last
    (bare / "chromium-browser").symlink_to(bare / "make")
    result = subprocess.run([bare / "bash", CI], env=environment, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0
    assert "Chromium" not in result.stdout
