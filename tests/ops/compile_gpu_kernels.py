"""Compile every Triton kernel for NVIDIA GPUs on a machine without one, as the operators would launch it.

The operators are called on CPU tensors with a driver that only names a target, and their kernels are compiled down to
the machine code of that target instead of launched. Run by `test_gpu_compile.py` in a process of its own, since
Triton's interpreter must be off. ``python tests/ops/compile_gpu_kernels.py 80 90:shared`` compiles all cases for
compute capability 8.0 and one for 9.0; it prints every kernel with the number of launches that were compiled.
"""

from __future__ import annotations

import sys
from importlib import import_module

import torch
from op_cases import LONG_ROWS, as_symmetric, general, multigraph, randn
from triton.backends.compiler import GPUTarget
from triton.runtime import driver
from triton.runtime.jit import JITFunction

CASES = {  # dtype, width, activation, variant, lists
    "shared": (torch.float32, 512, 2, 0, "general"),
    "root weighted": (torch.float32, 7, 1, 1, "general"),
    "per feature": (torch.float64, 1, 2, 2, "general"),
    "several blocks": (torch.bfloat16, 1500, 2, 0, "general"),
    "symmetric": (torch.float32, 512, 0, 0, "symmetric"),
    "half": (torch.float16, 16, 0, 2, "symmetric"),
}


class Target:
    """What Triton asks a driver before it launches."""

    def __init__(self, capability: int) -> None:
        self.capability = capability

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self.capability, 32)

    def get_current_device(self) -> int:
        return self.capability  # compiled kernels are kept by device

    def get_current_stream(self, device: int) -> int:
        return 0


def compile_instead_of_launching(counts: dict[tuple[str, int], int]) -> None:
    launch = JITFunction.run

    def run(self, *args, warmup, **options):
        kernel = launch(self, *args, warmup=True, **options)
        assert kernel.asm["cubin"], self
        key = (f"{self.fn.__module__}.{self.fn.__name__}", driver.active.capability)
        counts[key] = counts.get(key, 0) + 1

    JITFunction.run = run


def call_every_operator(dtype: torch.dtype, width: int, act: int, variant: int, lists: str) -> None:
    names = ("gtv_step", "total_variation", "sparse_linear", "asymmetric_norm")
    gtv, variation, linear, norm = (import_module(f"tvgnn.ops.{name}.gpu") for name in names)
    if lists == "general":  # weights, long rows
        x = multigraph(LONG_ROWS, 7)
        x = x.with_values(torch.ones(x.num_entries, dtype=dtype))
    else:
        x = as_symmetric(general(7, False, torch.float64))
    z, arrays, weighted = randn(7, width).to(dtype), x.lists(), lists == "general"
    bias = randn(width).to(dtype) if act else None
    gtv.forward(z, arrays, bias, 0.5, 1e-3, act, variant)
    gtv.backward(z, z, z if act else None, arrays, 0.5, 1e-3, act, variant, weighted)
    variation.forward(z, arrays)
    variation.backward(z[:, 0], z, arrays, weighted)
    linear.forward(z, arrays)
    linear.backward(z, z, arrays, True, True)
    for graph_ptr in (torch.tensor([0, 7]), torch.tensor([0, 3, 7])):
        _, holders = norm.forward(z, graph_ptr, 2.0)
        norm.backward(z[: len(graph_ptr) - 1, 0], z, graph_ptr, holders.clamp(0, 6), 2.0)


def main() -> None:
    counts: dict[tuple[str, int], int] = {}
    compile_instead_of_launching(counts)
    for argument in sys.argv[1:]:
        capability, _, case = argument.partition(":")
        driver.set_active(Target(int(capability)))
        for name in [case] if case else CASES:
            call_every_operator(*CASES[name])
    for (name, capability), launches in sorted(counts.items()):
        print(name, capability, launches)


if __name__ == "__main__":
    main()
