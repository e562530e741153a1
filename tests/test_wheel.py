"""What is installed by a wheel: all that the sources hold, and it works without them."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
WRITE = """
import sys, numpy, scipy.sparse, tvgnn
from tvgnn.report.page import ClusteringView, write_page
assert tvgnn.__file__.startswith(sys.argv[1]), tvgnn.__file__
write_page(sys.argv[2], ClusteringView(numpy.eye(3), scipy.sparse.csr_array((3, 3))), projection="pca")
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    run = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_a_wheel_holds_every_file_of_the_package(unpacked):
    def files(root):
        found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
        return {path.as_posix() for path in found if path.suffix not in (".pyc", ".nbi", ".nbc")}

    packed = files(unpacked / "tvgnn")
    assert packed == files(ROOT / "src/tvgnn")
    assert {"py.typed", "report/page/assets/page.html", "report/page/assets/map.js"} <= packed


def test_a_page_can_be_written_from_a_wheel(unpacked, tmp_path):
    command = [sys.executable, "-c", WRITE, str(unpacked), str(tmp_path / "page.html")]
    run = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(unpacked)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "</html>" in (tmp_path / "page.html").read_text(encoding="utf-8")
