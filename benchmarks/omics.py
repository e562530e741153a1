"""Spatial omics from an AnnData file to a page, beside Leiden: `python -m benchmarks.omics --cells 100000`.

Every step is a process of its own; at its end the system tells its time, on the clock and on the processors, and its
peak memory. The domains of the simulated tissue are looked at by `score` alone, after everything. Options that are
unknown here go to `tvgnn cluster`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["main"]

_DOMAINS = 12
_SEARCH = 20  # of the resolution at which Leiden gives that many clusters

_TVGNN = ("-c", "import sys; from tvgnn.cli.app import main; sys.exit(main())")

Row = dict[str, Any]


def main() -> None:
    """Run every step, or the one that is named."""
    if sys.argv[1:2] == ["step"]:
        name, *arguments = sys.argv[2:]
        print(json.dumps(_STEPS[name](*arguments)))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=100_000)
    parser.add_argument("--tissue-seed", type=int, default=0)
    parser.add_argument("--expression", action="store_true", help="a graph of equal parts of expression and space")
    parser.add_argument("--blood", action="store_true", help="only the 700 blood cells that come with scanpy")
    parser.add_argument("--folder", type=Path, help="where files are kept; default: a temporary folder")
    options, cluster_options = parser.parse_known_args()
    if options.blood:
        print(json.dumps(_step("blood"), indent=1))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for row in _all(folder, options, cluster_options):
            print(json.dumps(row), flush=True)


def _all(folder: Path, options: argparse.Namespace, cluster_options: list[str]) -> Iterator[Row]:
    file, run = str(folder / "tissue.h5ad"), str(folder / "run")
    yield _step("simulate", file, str(options.cells), str(options.tissue_seed))
    graph = ["--spatial-key", "spatial"]
    if options.expression:
        yield _step("neighbors", file)
        graph += ["--obsp", "connectivities"]
    call = ["cluster", "--h5ad", file, *graph, "-k", str(_DOMAINS), "--preset", "quality", "--out", run, "--overwrite"]
    yield _measured("tvgnn cluster", [*_TVGNN, *call, "--quiet", *cluster_options])
    yield _measured("tvgnn report", [*_TVGNN, "report", run]) | {
        "page_bytes": (folder / "run" / "report.html").stat().st_size
    }
    yield _step("score", file, run, str(folder / "run" / "labels.csv"))
    for clusters in (0, _DOMAINS):
        labels = str(folder / f"leiden{clusters}.csv")
        yield _step("leiden", run, labels, str(clusters))
        yield _step("score", file, run, labels)


def _step(name: str, *arguments: str) -> Row:
    return _measured(name, ["-m", "benchmarks.omics", "step", name, *arguments])


def _measured(name: str, arguments: list[str]) -> Row:
    """Run Python and say what it took, and what its last line of JSON says."""
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = os.posix_spawn(
            sys.executable,
            [sys.executable, *arguments],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, output.fileno(), 1)],
        )
        _, status, usage = os.wait4(process, 0)
        seconds = time.perf_counter() - start
        if status:
            raise SystemExit(f"the step {name} failed: {arguments}")
        output.seek(0)
        lines = output.read().decode().splitlines()
    said = json.loads(lines[-1]) if lines and lines[-1].startswith("{") else {}
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    cpu = usage.ru_utime + usage.ru_stime
    return {
        "step": name,
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "peak_gb": round(peak / 1e9, 2),
        **said,
    }


def _simulate(file: str, cells: str, seed: str) -> Row:
    from tvgnn.datasets import simulate_tissue

    tissue = simulate_tissue(int(cells), n_domains=_DOMAINS, seed=int(seed))
    tissue.to_anndata().write_h5ad(file)
    return {}


def _neighbors(file: str) -> Row:
    """Add the graph of the 15 nearest cells by their features."""
    from tvgnn import Graph
    from tvgnn.io.h5ad import read_h5ad, write_h5ad

    adata = read_h5ad(file)
    adata.obsp["connectivities"] = Graph.from_features(adata.X).adjacency()
    write_h5ad(file, adata)
    return {}


def _leiden(run: str, labels: str, clusters: str) -> Row:
    """Cluster the graph of a run by Leiden at resolution 1, or at one that gives a number of clusters."""
    import anndata
    import scanpy

    from tvgnn import TVClustering

    graph = TVClustering.load(run).graph_
    adata = anndata.AnnData(obs={"cell": list(graph.node_ids)})
    wanted, low, high, resolution, runs = int(clusters), 1e-4, 10.0, 1.0, 0
    while runs < (_SEARCH if wanted else 1):
        runs += 1
        if wanted:
            resolution = (low * high) ** 0.5
        start = time.perf_counter()
        scanpy.tl.leiden(
            adata,
            resolution=resolution,
            adjacency=graph.adjacency(),
            flavor="igraph",
            n_iterations=2,
            directed=False,
            random_state=0,
        )
        seconds = time.perf_counter() - start
        found = adata.obs["leiden"].nunique()
        if found == wanted:
            break
        low, high = (low, resolution) if found > wanted else (resolution, high)
    Path(labels).write_text("".join(f"{label}\n" for label in ["cluster", *adata.obs["leiden"]]), encoding="utf-8")
    return {"resolution": round(resolution, 4), "runs": runs, "seconds_of_one": round(seconds, 1)}


def _score(file: str, run: str, labels: str) -> Row:
    """Compare with the domains and look at the graph; the one place that knows the domains."""
    import anndata
    import numpy as np
    import pandas as pd

    from tvgnn import TVClustering
    from tvgnn.metrics import evaluate

    graph = TVClustering.load(run).graph_
    domains = anndata.read_h5ad(file, backed="r").obs["domain"].cat.codes.to_numpy()
    found = pd.read_csv(labels)["cluster"].to_numpy()
    result = evaluate(graph.adjacency(), found, y=domains)
    chosen = ("ari", "nmi", "n_clusters_found", "modularity", "cut_fraction")
    sizes = np.sort(result["cluster_sizes"])[::-1].tolist()
    return {"labels": Path(labels).name, **{name: result[name] for name in chosen}, "sizes": sizes}


def _blood() -> Row:
    """Cluster real cells on scanpy's graph by Leiden, then by tvgnn into as many clusters; the second call is timed."""
    import warnings

    import scanpy

    from tvgnn import Graph
    from tvgnn.external.anndata import tv_clustering
    from tvgnn.metrics import evaluate

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the file is old
        adata = scanpy.datasets.pbmc68k_reduced()
    scanpy.pp.neighbors(adata, n_neighbors=15)

    def leiden() -> None:
        scanpy.tl.leiden(adata, flavor="igraph", n_iterations=2, directed=False, random_state=0)

    def tvgnn() -> None:
        tv_clustering(adata, adata.obs["leiden"].nunique(), preset="quality", random_state=0)

    graph, rows = Graph.from_anndata(adata), {}
    for key, cluster in (("leiden", leiden), ("tvgnn", tvgnn)):
        cluster()
        start = time.perf_counter()
        cluster()
        seconds = round(time.perf_counter() - start, 2)
        found = evaluate(graph.adjacency(), adata.obs[key].astype(int))
        shown = {name: found[name] for name in ("cut_fraction", "modularity", "cluster_sizes")}
        rows[key] = {"seconds_of_one": seconds, **shown}
    return {"cells": graph.num_nodes, "edges": graph.num_edges, **rows}


_STEPS = {"blood": _blood, "simulate": _simulate, "neighbors": _neighbors, "leiden": _leiden, "score": _score}

if __name__ == "__main__":
    main()
