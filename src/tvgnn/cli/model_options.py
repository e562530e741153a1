"""Options of training, the same for every command that clusters nodes: the parameters of `tvgnn.TVClustering`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Annotated, Any

import typer

from tvgnn.cli import options

__all__ = ["FeatureNorm", "Memory", "ModelOptions", "Precision"]


class Memory(StrEnum):
    """How much training keeps."""

    normal = "normal"
    low = "low"


class Precision(StrEnum):
    """Numbers that enter dense products."""

    float32 = "float32"
    bfloat16 = "bfloat16"


class FeatureNorm(StrEnum):
    """Scaling of the features."""

    auto = "auto"
    l1 = "l1"
    l2 = "l2"
    standardize = "standardize"
    common_scale = "common-scale"
    none = "none"


class EmptyClusters(StrEnum):
    """What becomes of clusters without nodes."""

    keep = "keep"
    split_others = "split"  # str has a method of the shorter name


def _model(*names: str, help: str, **settings: Any) -> Any:
    return typer.Option(*names, help=help, show_default=False, rich_help_panel=options.MODEL_PANEL, **settings)


@dataclass(frozen=True)
class ModelOptions:
    """What was given of these options; None means the preset's value."""

    max_epochs: Annotated[
        int | None,
        _model("--max-epochs", min=1, help="Largest number of epochs. (quality: 100, paper: 10000, quick: 60)"),
    ] = None
    patience: Annotated[
        int | None,
        _model(min=1, help="Epochs without improvement before training stops. (quality: 20, paper: 100, quick: 100)"),
    ] = None
    tol: Annotated[
        float | None,
        _model(min=0, help="Decrease of the loss that counts as improvement. (quality: 0, paper: 1e-05, quick: 1e-05)"),
    ] = None
    n_init: Annotated[
        int | None,
        _model(
            min=1,
            help="Restarts: combined, or that of the lowest loss kept. (quality: 3, paper: 1, quick: 4)",
        ),
    ] = None
    hidden_channels: Annotated[
        int | None, _model(min=1, help="Width of the GTVConv layers. (quality: 64, paper: 512, quick: 32)")
    ] = None
    num_layers: Annotated[
        int | None, _model(min=1, help="Number of GTVConv layers. (quality: chosen, paper: 2, quick: 2)")
    ] = None
    mlp_channels: Annotated[
        int | None, _model(min=0, help="Width of the layer before the assignments; 0: none. (paper: 256, quick: 32)")
    ] = None
    delta_coeff: Annotated[
        float | None, _model(help="Step size of GTVConv, the paper's 2 delta. (paper: 0.311, quick: 1)")
    ] = None
    totvar_coeff: Annotated[
        float | None, _model(help="Weight of the total variation loss. (quality: 0.785, paper: 0.785, quick: 0.785)")
    ] = None
    balance_coeff: Annotated[
        float | None, _model(help="Weight of the balance loss. (quality: 0.514, paper: 0.514, quick: 0.514)")
    ] = None
    rho: Annotated[
        float | None,
        _model(help="Asymmetry of the balance loss; others than K-1 allow uneven clusters. (paper: K-1, quick: K-1)"),
    ] = None
    learning_rate: Annotated[
        float | None, _model(help="Learning rate of Adam. (quality: 0.01, paper: 0.001, quick: 0.01)")
    ] = None
    batch_size: Annotated[
        int | None,
        _model(min=1, help="Nodes of a batch on larger graphs, with --preset quality. (default: the whole graph)"),
    ] = None
    empty_clusters: Annotated[
        EmptyClusters,
        typer.Option(
            "--empty-clusters",
            help="split: fill clusters that came out empty by splitting others.",
            rich_help_panel=options.MODEL_PANEL,
        ),
    ] = EmptyClusters.keep
    feature_norm: Annotated[
        FeatureNorm,
        typer.Option(
            "--feature-norm",
            help="Rows by their L1 or L2 norm, columns standardised or all by one scale; auto: by what they "
            "are, with quality in steps of its own (docs/quality.md), else l1 for bags of words, common-scale for "
            "principal components and standardize for the rest.",
            rich_help_panel=options.MODEL_PANEL,
        ),
    ] = FeatureNorm.auto
    backend: options.Backend = "auto"
    device: options.Device = "auto"
    threads: options.Threads = None
    precision: Annotated[
        Precision,
        typer.Option(
            "--precision", help="Of dense products; bfloat16 is often faster.", rich_help_panel=options.COMPUTE_PANEL
        ),
    ] = Precision.float32
    memory: Annotated[
        Memory,
        typer.Option(
            "--memory", help="low: compute activations again, do not keep them.", rich_help_panel=options.COMPUTE_PANEL
        ),
    ] = Memory.normal
    max_memory: Annotated[
        str | None,
        typer.Option(help="Refuse to train above this estimate, such as 8GB.", rich_help_panel=options.COMPUTE_PANEL),
    ] = None

    @property
    def scaling(self) -> str | None:
        """``feature_norm`` of `tvgnn.TVClustering`."""
        return None if self.feature_norm is FeatureNorm.none else self.feature_norm.value

    def parameters(self) -> dict[str, Any]:
        """Return them as parameters of `tvgnn.TVClustering`."""
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "threads"}
        given["max_iter"] = given.pop("max_epochs")
        given["feature_norm"] = self.scaling
        return {name: value.value if isinstance(value, StrEnum) else value for name, value in given.items()}
