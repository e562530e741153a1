"""Every Triton kernel compiles to machine code of NVIDIA GPUs: the interpreter forgives what the compiler refuses."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from op_cases import needs_triton

SCRIPT = Path(__file__).with_name("compile_gpu_kernels.py")
MODULES = ("_triton", "asymmetric_norm.gpu", "gtv_step.gpu_kernels", "sparse_linear.gpu", "total_variation.gpu")
# The others pass too and would take this test from 15 s to a minute
PICKED = {80: "per feature", 90: "shared"}


def launched_kernels() -> set[str]:
    """Kernels that the host launches; those that other kernels call are compiled with them."""
    modules = [import_module(f"tvgnn.ops.{name}") for name in MODULES]
    return {f"{module.__name__}.{name}" for module in modules for name in vars(module) if name.endswith("_kernel")}


@needs_triton
@pytest.mark.parametrize("capability", PICKED)
def test_every_kernel_compiles(capability, tmp_path):
    environment = {key: value for key, value in os.environ.items() if key != "TRITON_INTERPRET"}
    environment |= {"TRITON_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(SCRIPT.parent)}
    call = [sys.executable, "-W", "error", str(SCRIPT), f"{capability}:{PICKED[capability]}"]
    run = subprocess.run(call, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert {line.split()[0] for line in run.stdout.splitlines()} == launched_kernels()
