"""The page in headless Chromium; skipped where Chromium, Node.js or playwright-core is absent."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from page_cases import HOSTILE, IMAGE, cliques_view

from tvgnn.report.page import write_page

BROWSE = Path(__file__).with_name("browse.js")


@pytest.fixture(scope="module")
def chromium():
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    node = shutil.which("node")
    if program is None or node is None:
        pytest.skip("no browser: install Chromium and Node.js (Debian: apt install chromium nodejs)")
    if subprocess.run([node, "-e", "require('playwright-core')"], capture_output=True, check=False).returncode:
        pytest.skip("no playwright-core: npm install playwright-core, and set NODE_PATH to its node_modules")
    return node, program


def test_a_person_can_use_the_page(chromium, tmp_path):
    node, program = chromium
    view = cliques_view(
        node_ids=[*HOSTILE, *(f"person {i}" for i in range(5, 15))],
        class_names=[IMAGE, "b", "c"],
        feature_names=[IMAGE, "noise", "constant"],
        positions=np.stack([np.arange(15) % 5, np.arange(15) // 5], axis=1),
    )
    write_page(tmp_path / "page.html", view, projection="pca")
    run = subprocess.run(
        [node, BROWSE, program, tmp_path / "page.html", "<IMG"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    seen = json.loads(run.stdout)
    assert seen["problems"] == []
    assert seen["injected"] == 0
    assert seen["found"] == seen["tip"] == IMAGE
    assert seen["stepped"] != IMAGE
    assert seen["cleared"] == "No node is selected."
    assert seen["legend"] == 3
    assert seen["colors"][:1] == ["cluster"]
    assert IMAGE in seen["colors"]
    assert seen["pressed"]
    assert seen["light"] == "rgb(255, 255, 255)"
    assert seen["dark"] != seen["light"]
