"""What tests share: the mirror of the public datasets, a private cache folder, PyTorch Geometric without warnings."""

import importlib
import os
import warnings
from pathlib import Path

import pytest
import torch

from tvgnn.datasets.catalogue import RAW

_MIRROR = Path(os.environ.get("TVGNN_MIRROR") or Path(__file__).parents[2] / "shared" / "data")


def pytest_configure():
    """Run the GPU kernels in Triton's interpreter where there is no GPU; Triton asks when it is first imported."""
    if not torch.cuda.is_available():
        os.environ.setdefault("TRITON_INTERPRET", "1")


@pytest.fixture(scope="session", autouse=True)
def _private_home(tmp_path_factory):
    """Keep datasets that tests load out of the user's cache, and the user's mirror out of tests that name none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TVGNN_HOME", str(tmp_path_factory.mktemp("tvgnn-home")))
        patch.delenv("TVGNN_MIRROR", raising=False)
        yield


@pytest.fixture
def mirror(request):
    """Return the folder of raw public data; skip where a dataset of ``@pytest.mark.real_data("cora", ...)`` is absent.

    A name is that of a dataset with files or a path below the folder (``"tudataset/MUTAG.zip"``).
    """
    names = [name for marker in request.node.iter_markers("real_data") for name in marker.args]
    for name in names:
        path = _MIRROR / (f"{RAW[name].path}/{RAW[name].files[0].name}" if name in RAW else name)
        if not path.exists():
            pytest.skip(f"dataset {name} is absent: {path} does not exist (set TVGNN_MIRROR)")
    if not _MIRROR.is_dir():
        pytest.skip(f"no public data: {_MIRROR} does not exist (set TVGNN_MIRROR)")
    return _MIRROR


@pytest.fixture(scope="session")
def pyg():
    """Return ``torch_geometric`` with ``data`` and ``datasets``; its own imports raise deprecation warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        importlib.import_module("torch_geometric.datasets")
        importlib.import_module("torch_geometric.data")
        return importlib.import_module("torch_geometric")
