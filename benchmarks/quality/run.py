"""Fit variants on graphs and add a record of each to a file: ``python -m benchmarks.quality.run --help``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from benchmarks.quality.graphs import problem
from benchmarks.quality.others import OTHERS, check_installed
from benchmarks.quality.variants import VARIANTS, measured

__all__ = ["main"]


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = "datasets, citations-NUMBER, package-NAME, joint-NAME and others; all in benchmarks/quality/graphs.py"
    parser.add_argument("--graphs", nargs="+", required=True, help=names)
    parser.add_argument("--variants", nargs="+", choices=[*VARIANTS, *OTHERS], default=list(VARIANTS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--mirror", help="local folder of datasets, as for tvgnn cluster")
    parser.add_argument("--out", type=Path, required=True, help="JSON-lines file that records are added to")
    options = parser.parse_args()
    for variant in options.variants:  # before hours of others
        check_installed(variant)
    torch.set_num_threads(options.threads)
    for name in options.graphs:
        for seed in options.seeds:
            given = problem(name, seed, options.mirror)
            for variant in options.variants:
                record = {"graph": name, "variant": variant, "seed": seed, **measured(variant, given, seed)}
                with options.out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(record) + "\n")
                print(name, seed, variant, *(f"{key} {record[key]:.3f}" for key in _SHOWN if key in record), flush=True)


_SHOWN = ("nmi", "acc", "modularity", "nats", "seconds")


if __name__ == "__main__":
    main()
