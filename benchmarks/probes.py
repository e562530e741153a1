"""What runs in a process of its own: `python -m benchmarks.probes NAME ARGUMENTS` prints the result as JSON.

Nothing heavy is imported before a probe asks for it, since imports are part of what is measured.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["PROBES", "probe"]

_ROOT = Path(__file__).parents[1]


def probe(name: str, *arguments: Any, environment: Mapping[str, str] | None = None) -> Any:
    """Run a probe in a fresh process and return what it printed.

    Raises:
        RuntimeError: it failed; carries what it wrote.

    """
    call = [sys.executable, "-m", "benchmarks.probes", name, json.dumps(arguments)]
    done = subprocess.run(
        call, cwd=_ROOT, env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"the probe {name}{arguments} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def _status(field: str) -> int:
    """Bytes of a field of /proc/self/status: VmRSS now, VmHWM at its highest."""
    with open("/proc/self/status", encoding="utf-8") as file:
        for line in file:
            if line.startswith(f"{field}:"):
                return 1024 * int(line.split()[1])
    raise RuntimeError(f"expected {field} in /proc/self/status, got none; memory is measured on Linux only")


def _forget_peak() -> None:
    """Let VmHWM start again from VmRSS."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def training_memory(dataset: str, variant: str, mirror: str | None) -> dict[str, float]:
    """Peak bytes above what the imports take: load the data, train three epochs."""
    from benchmarks.variants import VARIANTS, Problem

    if variant.startswith("torch-geometric-pool"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module("tgp.poolers")
    importlib.import_module("torch_geometric.datasets")  # where loading would import it
    if variant == "tvgnn":
        importlib.import_module("tvgnn.ops._numba")
    before = _status("VmRSS")
    trained = VARIANTS[variant](Problem.from_dataset(dataset, mirror))
    loss, _ = trained.first()
    trained.epoch()
    return {"bytes": _status("VmHWM") - before, "loss": loss}


def classification_memory(dataset: str, variant: str, mirror: str | None, code_loaded: bool) -> float:
    """Peak bytes of training on the graphs of a turn, these included, above what the imports take.

    Loading the graphs has a peak of its own, the same for all variants, which is left out.

    Parameters:
        dataset, variant, mirror: see `benchmarks.graph_variants`.
        code_loaded: train on small graphs before, so that compiled kernels and the like do not count either.

    """
    import ctypes
    import gc

    from benchmarks.graph_variants import GraphProblem, graph_variant

    if variant.startswith("torch-geometric-pool"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module("tgp.poolers")
            importlib.import_module("torch_geometric.loader")
    else:
        importlib.import_module("tvgnn.ops._numba")
    importlib.import_module("torch._dynamo")  # optimizers import it at their first step
    if code_loaded:
        graph_variant(variant, GraphProblem.of_rings(dataset)).turn()
    before = _status("VmRSS")
    trained = graph_variant(variant, GraphProblem.from_dataset(dataset, mirror))
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    _forget_peak()
    trained.turn()
    return float(_status("VmHWM") - before)


def gtv_step_memory(nodes: int, width: int, layout: str) -> float:
    """Peak bytes beyond its input of a GTV step forward and backward on a kNN graph, see `graphs.laid_out`."""
    import torch

    from benchmarks import graphs
    from tvgnn.ops.gtv_step import gtv_step

    gtv_step(torch.zeros(10, width, requires_grad=True), graphs.ring(10), 0.3).sum().backward()  # loads the kernels
    adjacency = graphs.laid_out(graphs.knn(nodes), width)[layout]
    z = torch.randn(adjacency.num_nodes, width, requires_grad=True)
    grad = torch.ones_like(z)
    _forget_peak()
    before = _status("VmRSS")
    gtv_step(z, adjacency, 0.3).backward(grad)
    return float(_status("VmHWM") - before)


def clustering(graph_nodes: int, features: int, options: dict[str, Any]) -> dict[str, float]:
    """Cluster a k-nearest-neighbour graph with `TVClustering(20, **options)`; peak bytes of the whole process."""
    from tvgnn import TVClustering

    x, adjacency = _knn_with_features(graph_nodes, features)
    model = TVClustering(20, random_state=0, **options)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too few epochs to use every cluster
        model.fit(x, adjacency=adjacency)
    return {
        "seconds": time.perf_counter() - start,
        "edges": model.graph_.num_edges,
        "ms_per_epoch": model.ms_per_epoch_,
        "bytes": float(_status("VmHWM")),
    }


def prediction(nodes: int, features: int, options: dict[str, Any], limit: str | None) -> dict[str, float]:
    """Clusters of a k-nearest-neighbour graph that the model has not seen, and the peak bytes that `predict` adds."""
    import ctypes
    import gc

    from tvgnn import Graph, TVClustering

    graphs = []
    for size in (5_000, nodes):
        x, adjacency = _knn_with_features(size, features)
        graphs.append(Graph.from_scipy(adjacency, x=x))
        del x, adjacency
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = TVClustering(20, random_state=0, **options).fit(graphs[0])
    model.predict(graphs[0])  # loads the kernels
    model.set_params(max_memory=limit)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    _forget_peak()
    before, start = _status("VmRSS"), time.perf_counter()
    model.predict(graphs[1])
    return {"seconds": time.perf_counter() - start, "bytes": float(_status("VmHWM") - before)}


def _knn_with_features(nodes: int, features: int) -> tuple[Any, Any]:
    """Features (N, F) that follow the points of a k-nearest-neighbour graph, with noise, and its adjacency."""
    import numpy as np
    import scipy.sparse as sp

    from benchmarks.graphs import knn, points

    lists = knn(nodes)
    pattern = (np.ones(lists.num_entries, np.float32), lists.indices.numpy(), lists.indptr.numpy())
    random = np.random.default_rng(1)
    x = np.sin(points(nodes, 2) @ random.normal(0, 6, (2, features)).astype(np.float32))
    x += random.normal(0, 0.5, x.shape).astype(np.float32)
    return x, sp.csr_array(pattern, shape=lists.shape)


def modules_below(module: str) -> list[str]:
    """What importing a module of tvgnn imports besides tvgnn, in order."""
    before = set(sys.modules)
    importlib.import_module(module)
    return [name for name in sys.modules if name not in before and name.partition(".")[0] != "tvgnn"]


def import_time(module: str, dependencies: list[str]) -> float:
    """Milliseconds to import a module once its dependencies are there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in dependencies:
            try:
                importlib.import_module(name)
            except ImportError:
                continue  # a name that a package makes up, such as torch.ops
    start = time.perf_counter()
    importlib.import_module(module)
    return 1000 * (time.perf_counter() - start)


def fit_time(sparse: bool) -> float:
    """Milliseconds of the first call: fit two epochs on a small input."""
    import numpy as np
    import scipy.sparse as sp

    from tvgnn import TVClustering

    x = np.random.default_rng(0).random((300, 20))
    model = TVClustering(3, max_iter=2, hidden_channels=16, mlp_channels=8, random_state=0)
    ring = sp.csr_array(sp.eye_array(300, k=1) + sp.eye_array(300, k=-1))
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(sp.csr_array(x * (x < 0.1)) if sparse else x, adjacency=ring)
    return 1000 * (time.perf_counter() - start)


PROBES = {
    function.__name__: function
    for function in (
        training_memory,
        classification_memory,
        gtv_step_memory,
        clustering,
        prediction,
        modules_below,
        import_time,
        fit_time,
    )
}


if __name__ == "__main__":
    print(json.dumps(PROBES[sys.argv[1]](*json.loads(sys.argv[2]))))
