"""Options that commands share, as annotated types; the model's own are those of `tvgnn.TVClustering`."""

from collections.abc import Sequence
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = [
    "Backend",
    "BalanceCoeff",
    "DeltaCoeff",
    "Device",
    "FeatureNorm",
    "FeatureNormOption",
    "HiddenChannels",
    "LearningRate",
    "MaxEpochs",
    "MaxMemory",
    "Memory",
    "MemoryOption",
    "Mirror",
    "MlpChannels",
    "NInit",
    "NumLayers",
    "Overwrite",
    "Patience",
    "Precision",
    "PrecisionOption",
    "Preset",
    "Quiet",
    "Rho",
    "Root",
    "Seed",
    "StructuralFeatures",
    "Threads",
    "Tol",
    "TotvarCoeff",
    "chosen",
]

_MODEL = "Model and training (default: the preset's value)"
_COMPUTE = "Computation"


class Memory(StrEnum):
    """How much training keeps."""

    normal = "normal"
    low = "low"


class Precision(StrEnum):
    """Numbers that enter dense products."""

    float32 = "float32"
    bfloat16 = "bfloat16"


class StructuralFeatures(StrEnum):
    """Features computed from the graph alone."""

    degree = "degree"
    spectral = "spectral"
    ones = "ones"


class FeatureNorm(StrEnum):
    """Scaling of the features."""

    auto = "auto"
    l1 = "l1"
    l2 = "l2"
    standardize = "standardize"
    none = "none"


def _model(*names: str, help: str, **settings: Any) -> Any:
    return typer.Option(*names, help=help, show_default=False, rich_help_panel=_MODEL, **settings)


Preset = Annotated[str, typer.Option(help="Named settings: paper, paper+, quality or quick.", rich_help_panel=_MODEL)]
MaxEpochs = Annotated[int | None, _model("--max-epochs", min=1, help="Largest number of epochs. (paper: 10000)")]
Patience = Annotated[int | None, _model(min=1, help="Epochs without improvement before training stops. (paper: 100)")]
Tol = Annotated[float | None, _model(min=0, help="Decrease of the loss that counts as improvement. (paper: 1e-05)")]
NInit = Annotated[int | None, _model(min=1, help="Restarts; the one of the lowest loss is kept. (paper: 1)")]
HiddenChannels = Annotated[int | None, _model(min=1, help="Width of the GTVConv layers. (paper: 512)")]
NumLayers = Annotated[int | None, _model(min=1, help="Number of GTVConv layers. (paper: 2)")]
MlpChannels = Annotated[int | None, _model(min=1, help="Width of the layer before the assignments. (paper: 256)")]
DeltaCoeff = Annotated[float | None, _model(help="Step size of GTVConv, the paper's 2 delta. (paper: 0.311)")]
TotvarCoeff = Annotated[float | None, _model(help="Weight of the total variation loss. (paper: 0.785)")]
BalanceCoeff = Annotated[float | None, _model(help="Weight of the balance loss. (paper: 0.514)")]
Rho = Annotated[
    float | None, _model(help="Asymmetry of the balance loss; others than K-1 allow uneven clusters. (paper: K-1)")
]
LearningRate = Annotated[float | None, _model(help="Learning rate of Adam. (paper: 0.001)")]
FeatureNormOption = Annotated[
    FeatureNorm,
    typer.Option(
        "--feature-norm",
        help="Rows by their L1 or L2 norm, or columns standardised; auto: l1 for bags of words, else standardize.",
        rich_help_panel=_MODEL,
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

Backend = Annotated[str, typer.Option(help="auto, reference, cpu or gpu.", rich_help_panel=_COMPUTE)]
Device = Annotated[str, typer.Option(help="A torch device, such as cpu or cuda.", rich_help_panel=_COMPUTE)]
Threads = Annotated[
    int | None, typer.Option(min=1, help="CPU threads.", show_default="all cores", rich_help_panel=_COMPUTE)
]
PrecisionOption = Annotated[
    Precision,
    typer.Option("--precision", help="Of dense products; bfloat16 is often faster.", rich_help_panel=_COMPUTE),
]
MemoryOption = Annotated[
    Memory,
    typer.Option("--memory", help="low: compute activations again, do not keep them.", rich_help_panel=_COMPUTE),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(help="Refuse to train above this estimate, such as 8GB.", rich_help_panel=_COMPUTE),
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
