"""Time and recall of neighbour search: ``python -m benchmarks.neighbors --rows 100000 --columns 50``.

Prints one JSON line a method: processor seconds of this process (compilation apart), and the share of the true 15
nearest neighbours that was found, over 1,000 rows. Rows are standard normal, the hardest case for approximation in
many columns; ``--blobs`` draws 100 Gaussian clouds.
"""

import argparse
import json
import time

import numpy as np

from tvgnn.graph.knn.search import exact, neighbor_lists

__all__ = ["measure", "rows_of"]

NEIGHBORS = 15
_CHECKED = 1000


def rows_of(number: int, columns: int, blobs: bool = False) -> np.ndarray:
    """Return random rows, the same on every call."""
    draw = np.random.default_rng(0)
    rows = draw.normal(size=(number, columns)).astype(np.float32)
    if blobs:
        rows += 3 * draw.normal(size=(100, columns)).astype(np.float32)[draw.integers(100, size=number)]
    return rows


def measure(rows: np.ndarray, how: str) -> dict[str, float | str | int]:
    """Search once and compare a sample of the rows with the exact search."""
    neighbor_lists(rows[:500], "euclidean", NEIGHBORS, how)  # compiles
    wall, start = time.perf_counter(), time.process_time()
    found, _ = neighbor_lists(rows, "euclidean", NEIGHBORS, how)
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    checked = np.random.default_rng(1).choice(len(rows), min(_CHECKED, len(rows)), replace=False)
    true, _ = exact(rows, "euclidean", NEIGHBORS + 1, rows[checked])
    true = np.array([[one for one in some if one != row][:NEIGHBORS] for some, row in zip(true, checked, strict=True)])
    recall = np.mean([np.isin(found[row], some).mean() for row, some in zip(checked, true, strict=True)])
    result = {"rows": len(rows), "columns": rows.shape[1], "method": how, "cpu_seconds": round(seconds, 1)}
    return result | {"wall_seconds": round(wall, 1), "recall": round(float(recall), 4)}


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--methods", default="exact,approximate")
    parser.add_argument("--blobs", action="store_true")
    arguments = parser.parse_args()
    rows = rows_of(arguments.rows, arguments.columns, arguments.blobs)
    for how in arguments.methods.split(","):
        print(json.dumps(measure(rows, how) | {"blobs": arguments.blobs}), flush=True)


if __name__ == "__main__":
    main()
