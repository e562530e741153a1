"""What is known of every dataset without loading it."""

import os
from dataclasses import dataclass

from tvgnn.datasets import citation, tu
from tvgnn.datasets._files import RawFolder, data_folders, is_available

__all__ = ["RAW", "DatasetInfo", "list_datasets"]

RAW: dict[str, RawFolder] = {**citation.RAW, **tu.RAW}
"""Files of the datasets that are fetched."""


@dataclass(frozen=True)
class DatasetInfo:
    """One line of :func:`list_datasets`.

    Attributes
    ----------
    name : str
        Name for :func:`tvgnn.load_dataset`.
    nodes, edges, features : int
        Counts, of all graphs together in a set of graphs; ``edges`` are undirected. For a set drawn at random they are
        those of seed 0. ``features`` are the columns that :func:`tvgnn.load_dataset` gives by default.
    classes : int
        Number of classes, 0 where no labels are known.
    source : str
        Where the data come from.
    licence : str or None
        Licence of the data as its source states it, None where there is nothing to license or none is stated.
    embedded : bool
        True where it is generated or installed with scikit-learn: no files to fetch.
    available : bool
        True where loading it needs no download.
    graphs : int
        1 for a task on nodes, else the number of graphs in the set.
    """

    name: str
    nodes: int
    edges: int
    features: int
    classes: int
    source: str
    licence: str | None
    embedded: bool = True
    available: bool = True
    graphs: int = 1


_EMBEDDED = (
    DatasetInfo("digits", 1797, 18312, 64, 10, "UCI, handwritten digits, 15 nearest neighbours", "CC BY 4.0"),
    DatasetInfo("china", 273280, 545493, 5, 0, "scikit-learn, photograph by danielbuechele, pixel grid", "CC BY 2.0"),
    DatasetInfo("flower", 273280, 545493, 5, 0, "scikit-learn, photograph by vultilion, pixel grid", "CC BY 2.0"),
    DatasetInfo("sbm-denoising", 200, 1973, 3, 3, "generated: denoising task of the paper", None),
    DatasetInfo("ring", 200, 200, 2, 0, "generated: point cloud of the paper", None),
    DatasetInfo("grid", 900, 1740, 2, 0, "generated: point cloud of the paper", None),
    DatasetInfo("tissue", 5000, 42097, 50, 12, "generated: spatial omics, 15 nearest cells", None),
    *(
        DatasetInfo(name, nodes, edges, 5, 3, "generated: graph classification benchmark", None, graphs=graphs)
        for name, graphs, nodes, edges in (
            ("bench-easy", 1800, 267984, 836995),
            ("bench-hard", 1800, 267984, 516691),
            ("bench-easy-small", 300, 17829, 54876),
            ("bench-hard-small", 300, 17829, 34109),
        )
    ),
)

_CITATION_FACTS: dict[str, tuple[int, int, int, int, str, str | None]] = {
    "cora": (2708, 5278, 1433, 7, "Planetoid, github.com/kimiyoung/planetoid", "MIT"),
    "citeseer": (3327, 4552, 3703, 6, "Planetoid, github.com/kimiyoung/planetoid", "MIT"),
    "pubmed": (19717, 44324, 500, 3, "Planetoid, github.com/kimiyoung/planetoid", "MIT"),
    "dblp": (17716, 52867, 1639, 4, "CitationFull, github.com/abojchevski/graph2gauss", None),
}


def list_datasets(
    root: str | os.PathLike[str] | None = None, mirror: str | os.PathLike[str] | None = None
) -> list[DatasetInfo]:
    """Return one record a dataset, embedded ones first.

    Parameters
    ----------
    root, mirror
        As in :func:`tvgnn.load_dataset`; ``available`` is judged there.

    Examples
    --------
    >>> [info.name for info in list_datasets() if info.embedded and info.graphs == 1]
    ['digits', 'china', 'flower', 'sbm-denoising', 'ring', 'grid', 'tissue']
    """
    folders = data_folders(root, mirror)
    networks = [
        DatasetInfo(name, *facts, embedded=False, available=is_available(RAW[name], folders))
        for name, facts in _CITATION_FACTS.items()
    ]
    sets = [
        DatasetInfo(
            name,
            known.nodes,
            known.entries // 2,
            known.features,
            known.classes,
            "TUDataset, github.com/nd7141/graph_datasets",
            None,
            embedded=False,
            available=is_available(RAW[name], folders),
            graphs=known.graphs,
        )
        for name, known in tu.TU_SETS.items()
    ]
    return [*_EMBEDDED, *networks, *sets]
