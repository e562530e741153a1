"""What `import tvgnn` offers, and what it does not cost."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import tvgnn

SOURCE = Path(tvgnn.__file__).parent


@pytest.mark.parametrize("name", tvgnn.__all__)
def test_every_public_name_loads_and_is_documented(name):
    assert getattr(tvgnn, name).__doc__
    assert name in dir(tvgnn)


def test_names_are_few_and_sorted():
    assert tvgnn.__all__ == sorted(tvgnn.__all__)
    assert len(tvgnn.__all__) <= 25
    assert set(tvgnn.__all__) == set(tvgnn._EXPORTS)


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(AttributeError, match=r"no attribute 'GTVConvv'; public names: .*GTVConv"):
        _ = tvgnn.GTVConvv


def test_version_comes_from_the_metadata():
    assert tvgnn.__version__ == version("tvgnn")


def test_import_loads_no_heavy_dependency():
    heavy = ("torch", "numpy", "sklearn", "numba", "matplotlib")
    code = f"import sys, tvgnn; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_layers_load_neither_numba_nor_pyg_nor_scikit_learn():
    code = (
        "import sys; from tvgnn import GTVConv, AsymCheegerCutPooling;"
        "print([m for m in ('numba', 'torch_geometric', 'sklearn') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_typed():
    assert (SOURCE / "py.typed").exists()


def test_modules_stay_below_400_lines():
    long = [p.name for p in SOURCE.rglob("*.py") if len(p.read_text(encoding="utf-8").splitlines()) > 400]
    assert long == []
