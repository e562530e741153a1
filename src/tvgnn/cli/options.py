"""Options that commands share, as annotated types; the model's own are those of `tvgnn.TVClustering`."""

from collections.abc import Sequence
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "COMPUTE_PANEL",
    "JOBS_HELP",
    "MODEL_PANEL",
    "RUN_THREADS_HELP",
    "Backend",
    "Device",
    "Mirror",
    "Overwrite",
    "Preset",
    "PresetOfData",
    "Quiet",
    "Readout",
    "Root",
    "Seed",
    "StructuralFeatures",
    "Threads",
    "chosen",
]

MODEL_PANEL = "Model and training (default: the preset's value)"
COMPUTE_PANEL = "Computation"
JOBS_HELP = "Runs at a time; this is what uses the cores."
RUN_THREADS_HELP = "Threads of each run; another number changes results in the last digits."


class StructuralFeatures(StrEnum):
    """Features computed from the graph alone."""

    degree = "degree"
    spectral = "spectral"
    ones = "ones"


class Readout(StrEnum):
    """What follows the mean over the (pooled) nodes of a graph."""

    linear = "linear"
    mlp = "mlp"


_PRESETS = "Named settings: quality, paper, released or quick."
Preset = Annotated[str, typer.Option(help=_PRESETS, rich_help_panel=MODEL_PANEL)]
PresetOfData = Annotated[
    str | None,
    typer.Option(
        help=_PRESETS,
        show_default="quality; paper for --dataset and where an option is given that only it has",
        rich_help_panel=MODEL_PANEL,
    ),
]

Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the initial weights.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing run folder.")]
Root = Annotated[Path | None, typer.Option(help="Folder for downloaded datasets.", show_default="user's cache")]
Mirror = Annotated[
    Path | None,
    typer.Option(help="Local folder that stands in for the download.", show_default="$TVGNN_MIRROR"),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print warnings and errors only.")]

Backend = Annotated[str, typer.Option(help="auto, reference, cpu or gpu.", rich_help_panel=COMPUTE_PANEL)]
Device = Annotated[str, typer.Option(help="A torch device, such as cpu or cuda.", rich_help_panel=COMPUTE_PANEL)]
Threads = Annotated[
    int | None, typer.Option(min=1, help="CPU threads.", show_default="all cores", rich_help_panel=COMPUTE_PANEL)
]


def chosen(option: str, text: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return names out of a comma-separated list, in its order and each once; "all" means all."""
    names = dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip())
    if list(names) == ["all"]:
        return tuple(known)
    for name in names:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ValueError(f"expected {option} to be some of {', '.join(known)}, got {name!r}{hint}")
    if not names:
        raise ValueError(f"expected {option} to be some of {', '.join(known)}, got nothing")
    return tuple(names)
