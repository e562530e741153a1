"""Every dataset by name: how to load it, and how to fetch its files."""

import os
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from tvgnn.datasets import bench, citation, embedded, synthetic, tissue, tu
from tvgnn.datasets._files import data_folders, data_root, fetch, mirror_folder
from tvgnn.datasets.catalogue import RAW
from tvgnn.datasets.tu_features import FeatureKind
from tvgnn.errors import DataError
from tvgnn.graph.graph import Graph

__all__ = ["dataset_split", "fetch_dataset", "load_dataset", "load_graph", "load_graphs"]

_BUILDERS: dict[str, Callable[[int], Graph]] = {
    "digits": lambda seed: embedded.digits(),
    "china": lambda seed: embedded.photograph("china"),
    "flower": lambda seed: embedded.photograph("flower"),
    "sbm-denoising": lambda seed: synthetic.sbm_denoising(seed),
    "ring": lambda seed: synthetic.ring(),
    "grid": lambda seed: synthetic.grid(),
    "tissue": lambda seed: tissue.simulate_tissue(seed=seed).graph(),
}


def load_dataset(
    name: str,
    root: str | os.PathLike[str] | None = None,
    mirror: str | os.PathLike[str] | None = None,
    *,
    seed: int = 0,
    features: FeatureKind = "auto",
    max_degree: int = 500,
) -> Any:
    """Load a dataset by name.

    Parameters
    ----------
    name : str
        One of :func:`tvgnn.datasets.list_datasets`, in any case.
    root : path, optional
        Folder for downloaded files. Default: ``$TVGNN_HOME/data``, else ``tvgnn/data`` in the user's cache folder.
    mirror : path, optional
        Folder that stands in for the download (for machines without internet): its files are copied to
        ``root``. It is laid out like ``root``: ``planetoid/{Cora,CiteSeer,PubMed}/raw``, ``citationfull/dblp/raw``,
        ``tudataset/NAME.zip``. Default: ``$TVGNN_MIRROR``, else none, and PyTorch Geometric downloads.
    seed : int, default 0
        Seed of the sets drawn at random (``sbm-denoising``, ``tissue``, ``bench-*``); the others do not depend on it,
        nor does a ``bench-*`` set whose published file lies in ``root`` or ``mirror`` (``bench/easy_small.npz`` and so
        on).
    features : {"auto", "labels", "attributes", "both", "degree"}, default "auto"
        Node features of a TU dataset; see :func:`tvgnn.datasets.read_tu_folder`.
    max_degree : int, default 500
        Degrees from here on share a column where the features of a TU dataset are one-hot degrees.

    Returns
    -------
    Graph or list of Graph
        One graph, or the graphs of a set, each with its class as ``label``. :func:`tvgnn.datasets.load_graph` and
        :func:`tvgnn.datasets.load_graphs` give one of the two and refuse the other.

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
    if features != "auto" and name not in tu.RAW:
        raise DataError(f"features={features!r} is a choice for TU datasets ({', '.join(tu.RAW)}); {name} has its own")
    if name in tu.RAW:
        return tu.load_tu(name, data_root(root), mirror_folder(mirror), features=features, max_degree=max_degree)
    if name in citation.RAW:
        return citation.load_citation(name, data_root(root), mirror_folder(mirror))
    if name in bench.BENCH_SETS:
        return bench.load_bench(name, data_folders(root, mirror), seed)
    return _BUILDERS[name](seed)


def load_graph(
    name: str, root: str | os.PathLike[str] | None = None, mirror: str | os.PathLike[str] | None = None, **options: Any
) -> Graph:
    """Load a dataset that is one graph, as :func:`load_dataset` does.

    Raises
    ------
    DataError
        As in :func:`load_dataset`; also where ``name`` is a set of graphs.
    """
    name = _known_name(name)
    if _is_set(name):
        raise DataError(
            f"{name} is a set of graphs, each with a class: expected one graph whose nodes can be clustered. Use "
            "tvgnn classify, or tvgnn.datasets.load_graphs"
        )
    graph: Graph = load_dataset(name, root, mirror, **options)
    return graph


def load_graphs(
    name: str, root: str | os.PathLike[str] | None = None, mirror: str | os.PathLike[str] | None = None, **options: Any
) -> list[Graph]:
    """Load a dataset that is a set of graphs, as :func:`load_dataset` does.

    Raises
    ------
    DataError
        As in :func:`load_dataset`; also where ``name`` is a single graph.
    """
    name = _known_name(name)
    if not _is_set(name):
        raise DataError(
            f"{name} is one graph: expected a set of graphs that can be classified, one of "
            f"{', '.join([*bench.BENCH_SETS, *tu.RAW])}. Use tvgnn cluster, or tvgnn.datasets.load_graph"
        )
    graphs: list[Graph] = load_dataset(name, root, mirror, **options)
    return graphs


def dataset_split(
    name: str, root: str | os.PathLike[str] | None = None, mirror: str | os.PathLike[str] | None = None
) -> dict[str, range] | None:
    """Return the published split of a set of graphs, where there is one.

    Parameters
    ----------
    name, root, mirror
        As in :func:`load_dataset`.

    Returns
    -------
    dict or None
        Positions in the list of graphs under ``"train"``, ``"val"`` and ``"test"``. None for every set but ``bench-*``,
        and for those where no published file is at hand.

    Raises
    ------
    DataError
        As in :func:`load_dataset`.
    """
    name = _known_name(name)
    return bench.bench_split(name, data_folders(root, mirror)) if name in bench.BENCH_SETS else None


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
    if name not in RAW:
        raise DataError(f"{name} needs no files: load_dataset({name!r}) works as it is")
    return fetch(name, RAW[name], data_root(root), mirror_folder(mirror))


def _is_set(name: str) -> bool:
    return name in tu.RAW or name in bench.BENCH_SETS


def _known_name(name: str) -> str:
    names = [*_BUILDERS, *bench.BENCH_SETS, *RAW]
    wanted = str(name).lower()
    if wanted in names:
        return wanted
    close = get_close_matches(wanted, names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    raise DataError(f"unknown dataset {name!r}{hint} Known datasets: {', '.join(names)}")
