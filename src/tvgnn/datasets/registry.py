"""Every dataset by name: what it is, where it comes from, how to load it."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from tvgnn.datasets import citation, embedded, synthetic
from tvgnn.datasets._files import data_root, fetch, is_available, mirror_folder
from tvgnn.errors import DataError
from tvgnn.graph.graph import Graph

__all__ = ["DatasetInfo", "fetch_dataset", "list_datasets", "load_dataset"]


@dataclass(frozen=True)
class DatasetInfo:
    """One line of :func:`list_datasets`.

    Attributes
    ----------
    name : str
        Name for :func:`load_dataset`.
    nodes, edges, features : int
        Counts; ``edges`` are undirected, and for a set drawn at random those of seed 0.
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


_BUILDERS: dict[str, Callable[[int], Graph]] = {
    "digits": lambda seed: embedded.digits(),
    "china": lambda seed: embedded.photograph("china"),
    "flower": lambda seed: embedded.photograph("flower"),
    "sbm-denoising": lambda seed: synthetic.sbm_denoising(seed),
    "ring": lambda seed: synthetic.ring(),
    "grid": lambda seed: synthetic.grid(),
}

_EMBEDDED = (
    DatasetInfo("digits", 1797, 18312, 64, 10, "UCI, handwritten digits, 15 nearest neighbours", "CC BY 4.0"),
    DatasetInfo("china", 273280, 545493, 5, 0, "scikit-learn, photograph by danielbuechele, pixel grid", "CC BY 2.0"),
    DatasetInfo("flower", 273280, 545493, 5, 0, "scikit-learn, photograph by vultilion, pixel grid", "CC BY 2.0"),
    DatasetInfo("sbm-denoising", 200, 1973, 3, 3, "generated: denoising task of the paper", None),
    DatasetInfo("ring", 200, 200, 2, 0, "generated: point cloud of the paper", None),
    DatasetInfo("grid", 900, 1740, 2, 0, "generated: point cloud of the paper", None),
)

_CITATION_FACTS: dict[str, tuple[int, int, int, int, str, str | None]] = {
    "cora": (2708, 5278, 1433, 7, "Planetoid, github.com/kimiyoung/planetoid", "MIT"),
    "citeseer": (3327, 4552, 3703, 6, "Planetoid, github.com/kimiyoung/planetoid", "MIT"),
    "pubmed": (19717, 44324, 500, 3, "Planetoid, github.com/kimiyoung/planetoid", "MIT"),
    "dblp": (17716, 52867, 1639, 4, "CitationFull, github.com/abojchevski/graph2gauss", None),
}


def load_dataset(
    name: str,
    root: str | os.PathLike[str] | None = None,
    mirror: str | os.PathLike[str] | None = None,
    *,
    seed: int = 0,
) -> Graph:
    """Load a dataset by name.

    Parameters
    ----------
    name : str
        One of :func:`list_datasets`, in any case.
    root : path, optional
        Folder for downloaded files. Default: ``$TVGNN_HOME/data``, else ``tvgnn/data`` in the user's cache folder.
    mirror : path, optional
        Folder that stands in for the download (for machines without internet): its files are copied to
        ``root``. It is laid out like ``root``: ``planetoid/{Cora,CiteSeer,PubMed}/raw``, ``citationfull/dblp/raw``.
        Default: ``$TVGNN_MIRROR``, else none, and PyTorch Geometric downloads.
    seed : int, default 0
        Seed of the sets drawn at random (``sbm-denoising``); the others do not depend on it.

    Raises
    ------
    DataError
        If the name is unknown, or files are missing, cannot be downloaded or are not the known ones; the
        message says which files belong where.

    Examples
    --------
    >>> load_dataset("ring")
    Graph(200 nodes, 200 edges, unweighted, 2 features)
    """
    name = _known_name(name)
    if name in citation.RAW:
        return citation.load_citation(name, data_root(root), mirror_folder(mirror))
    return _BUILDERS[name](seed)


def fetch_dataset(
    name: str, root: str | os.PathLike[str] | None = None, mirror: str | os.PathLike[str] | None = None
) -> Path:
    """Put the raw files of a dataset in place, checked, and return their folder.

    Parameters
    ----------
    name, root, mirror
        As in :func:`load_dataset`.

    Raises
    ------
    DataError
        As in :func:`load_dataset`; also where the dataset is embedded and has no files.
    """
    name = _known_name(name)
    if name not in citation.RAW:
        raise DataError(f"{name} needs no files: load_dataset({name!r}) works as it is")
    return fetch(name, citation.RAW[name], data_root(root), mirror_folder(mirror))


def list_datasets(
    root: str | os.PathLike[str] | None = None, mirror: str | os.PathLike[str] | None = None
) -> list[DatasetInfo]:
    """Return one record a dataset, embedded ones first.

    Parameters
    ----------
    root, mirror
        As in :func:`load_dataset`; ``available`` is judged there.

    Examples
    --------
    >>> [info.name for info in list_datasets() if info.embedded]
    ['digits', 'china', 'flower', 'sbm-denoising', 'ring', 'grid']
    """
    stand_in = mirror_folder(mirror)
    folders = [data_root(root)] + ([stand_in] if stand_in else [])
    fetched = [
        DatasetInfo(name, *facts, embedded=False, available=is_available(citation.RAW[name], folders))
        for name, facts in _CITATION_FACTS.items()
    ]
    return [*_EMBEDDED, *fetched]


def _known_name(name: str) -> str:
    names = [*_BUILDERS, *citation.RAW]
    wanted = str(name).lower()
    if wanted in names:
        return wanted
    close = get_close_matches(wanted, names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    raise DataError(f"unknown dataset {name!r}{hint} Known datasets: {', '.join(names)}")
