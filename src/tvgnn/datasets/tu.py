"""TU datasets of the paper, in the cleaned versions of Ivanov et al. (2019), without isomorphic graphs.

They are text, so that reading them runs no code: an archive of another digest than the known one is accepted where it
has the known numbers of graphs, nodes and edges.
"""

import io
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tvgnn.datasets._files import RawFile, RawFolder, fetch
from tvgnn.datasets.tu_features import FeatureKind, check_options
from tvgnn.datasets.tu_files import open_archive
from tvgnn.datasets.tu_folder import read_tu_folder
from tvgnn.datasets.tu_text import count_lines
from tvgnn.errors import DataError
from tvgnn.graph.graph import Graph

__all__ = ["RAW", "TU_SETS", "TUSet", "load_tu"]

_URL = "https://raw.githubusercontent.com/nd7141/graph_datasets/master/datasets"


@dataclass(frozen=True)
class TUSet:
    """What is known of one dataset: its name in the collection, its archive, its counts.

    ``entries`` are the lines of its edge list, each edge in both directions; ``features`` the columns of
    :func:`load_tu` by default.
    """

    stem: str
    size: int
    sha256: str
    graphs: int
    nodes: int
    entries: int
    features: int
    classes: int


TU_SETS: dict[str, TUSet] = {
    known.stem.lower(): known
    for known in (
        TUSet(
            "MUTAG",
            17519,
            "eceec6cf525c01e358a344b5a48d8825fccd2845838dac84d76390be255d428d",
            *(135, 2545, 5626, 7, 2),
        ),
        TUSet(
            "PROTEINS",
            442253,
            "7ca8cc51b2b6983c941caaba3a96e29b00d92f7130978661e124495241f26a2c",
            *(975, 42323, 158022, 4, 2),
        ),
        TUSet(
            "NCI1",
            740858,
            "5d0fbfa1f73ba72f68c5b85b4b7a67cf5da4c65138a3319dba287cd439390c72",
            *(3785, 112952, 245052, 30, 2),
        ),
        TUSet(
            "Mutagenicity",
            670555,
            "bd7a74c3e096e48cc0db8bac63bbf2d9662c153b1cd9a487c5f7ae81d85aab7e",
            *(3335, 109916, 227818, 10, 2),
        ),
        TUSet(
            "DD",
            4655479,
            "eb27504aba7a75b210cc2566acf48b4cebbfadff95598b377ab9373dea45aa09",
            *(1178, 334925, 1686092, 89, 2),
        ),
        TUSet(
            "REDDIT-BINARY",
            6265429,
            "c6e960a609fac9c60b7114c8c5989207c03e890a015e8dc65cb02cb9c4c71a05",
            *(1998, 859210, 1990974, 501, 2),
        ),
        TUSet(
            "COLLAB",
            46025873,
            "01c882303ce8520505709b10b21df52902ca35d42794b732ecdde61b043a4765",
            *(4064, 312701, 18967844, 492, 3),
        ),
    )
}


def load_tu(
    name: str, root: Path, mirror: Path | None, *, features: FeatureKind = "auto", max_degree: int = 500
) -> list[Graph]:
    """Load one of :data:`TU_SETS`; see :func:`tvgnn.datasets.read_tu_folder` for the graphs and their features.

    Graphs, their order and their features are those of PyTorch Geometric's ``TUDataset(root, NAME, cleaned=True,
    use_node_attr=True)``, except that ``label`` is the class as the file has it.

    Raises
    ------
    DataError
        See :func:`tvgnn.load_dataset`.
    """
    check_options(features, max_degree)  # before anything is fetched
    folder = fetch(name, RAW[name], root, mirror)
    return read_tu_folder(folder / RAW[name].files[0].name, features=features, max_degree=max_degree)


def _check_archive(known: TUSet, content: bytes) -> None:
    """Accept an archive whose files have the known numbers of lines; what lines say is checked when they are read."""
    with open_archive(io.BytesIO(content), f"{known.stem}.zip") as files:
        counts = {"graph_labels": known.graphs, "graph_indicator": known.nodes, "A": known.entries}
        for kind, expected in counts.items():
            lines = count_lines(files, kind)
            if lines != expected:
                raise DataError(f"{files.where(kind)}: expected the {expected} lines of {known.stem}, got {lines}")


RAW: dict[str, RawFolder] = {
    name: RawFolder(
        "tudataset", _URL, (RawFile(f"{known.stem}.zip", known.size, known.sha256, partial(_check_archive, known)),)
    )
    for name, known in TU_SETS.items()
}
