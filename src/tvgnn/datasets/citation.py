"""Citation networks of the paper, read by PyTorch Geometric: Cora, Citeseer, PubMed (Planetoid), DBLP (CitationFull).

The files are parsed on every load (under a second) and nothing parsed is stored: a cache would be one more file to
distrust. The Planetoid files are pickles, which can run code when they are read; they are read only from a private
copy of bytes whose SHA-256 digest is the known one.
"""

import io
import warnings
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.sparse import csr_array

from tvgnn.datasets._files import RawFile, RawFolder, fetch, read_checked
from tvgnn.errors import DataError
from tvgnn.graph.graph import Graph

__all__ = ["RAW", "load_citation"]

_PLANETOID_URL = "https://github.com/kimiyoung/planetoid/raw/master/data"
_DBLP_CSR = ("data", "indices", "indptr", "shape")
_DBLP_ARRAYS = (*(f"adj_{part}" for part in _DBLP_CSR), *(f"attr_{part}" for part in _DBLP_CSR), "labels")
_LARGEST_ARCHIVE = 1 << 28  # bytes after decompression; DBLP needs 3 MB


def load_citation(name: str, root: Path, mirror: Path | None) -> Graph:
    """Load ``cora``, ``citeseer``, ``pubmed`` or ``dblp`` with sparse features and class codes.

    As PyTorch Geometric reads them: undirected, no self-loops or duplicates, features as published (DBLP: 0 or 1).
    Citeseer keeps its 48 isolated nodes; 15 of them have neither features nor a class in the files and count as class
    0, as PyTorch Geometric and so the published results have it.

    Raises
    ------
    DataError
        See :func:`tvgnn.load_dataset`.
    """
    folder = fetch(name, RAW[name], root, mirror)
    with TemporaryDirectory() as private, warnings.catch_warnings():
        # PyTorch Geometric's imports and the module names in the old pickles are deprecated; it also adds filters.
        warnings.simplefilter("ignore", DeprecationWarning)
        from torch_geometric.io import read_npz, read_planetoid_data

        for file in RAW[name].files:
            (Path(private) / file.name).write_bytes(read_checked(folder / file.name, file))
        data = read_npz(str(Path(private) / "dblp.npz")) if name == "dblp" else read_planetoid_data(private, name)
    x, y, edge_index = data.x.numpy(), data.y.numpy(), data.edge_index.numpy()
    return Graph.from_edge_index(edge_index, x=csr_array(x), y=y)


def _check_dblp(content: bytes) -> None:
    """Accept an archive of the right plain arrays: a copy with another digest (the published one) cannot run code."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        if unpacked > _LARGEST_ARCHIVE:
            raise DataError(f"expected an archive of a few MB, it unpacks to {unpacked} bytes")
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            missing = [key for key in _DBLP_ARRAYS if key not in arrays]
            if missing:
                raise DataError(f"expected the arrays {', '.join(_DBLP_ARRAYS)}; it lacks {', '.join(missing)}")
            shapes = {key: tuple(arrays[key].tolist()) for key in ("adj_shape", "attr_shape")}
            labels = arrays["labels"]
    except (zipfile.BadZipFile, ValueError, EOFError, KeyError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"expected a NumPy .npz archive of plain arrays ({error})") from error
    if shapes != {"adj_shape": (17716, 17716), "attr_shape": (17716, 1639)} or labels.shape != (17716,):
        raise DataError(f"expected 17716 nodes with 1639 features; it has {shapes} and {labels.shape[0]} labels")


def _planetoid(folder: str, prefix: str, files: dict[str, tuple[int, str]]) -> RawFolder:
    raw_files = tuple(RawFile(f"ind.{prefix}.{key}", size, sha256) for key, (size, sha256) in files.items())
    return RawFolder(f"planetoid/{folder}/raw", _PLANETOID_URL, raw_files)


RAW: dict[str, RawFolder] = {
    "cora": _planetoid(
        "Cora",
        "cora",
        {
            "x": (22119, "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab"),
            "tx": (148025, "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"),
            "allx": (257305, "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"),
            "y": (4054, "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1"),
            "ty": (28135, "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"),
            "ally": (47959, "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"),
            "graph": (59847, "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"),
            "test.index": (5000, "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"),
        },
    ),
    "citeseer": _planetoid(
        "CiteSeer",
        "citeseer",
        {
            "x": (31087, "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6"),
            "tx": (260321, "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21"),
            "allx": (595021, "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668"),
            "y": (3014, "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924"),
            "ty": (24135, "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce"),
            "ally": (55623, "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95"),
            "graph": (61987, "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"),
            "test.index": (5000, "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4"),
        },
    ),
    "pubmed": _planetoid(
        "PubMed",
        "pubmed",
        {
            "x": (23172, "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33"),
            "tx": (405505, "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d"),
            "allx": (7578385, "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e"),
            "y": (854, "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3"),
            "ty": (12135, "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd"),
            "ally": (224739, "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e"),
            "graph": (471808, "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9"),
            "test.index": (6000, "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"),
        },
    ),
    "dblp": RawFolder(
        "citationfull/dblp/raw",
        "https://github.com/abojchevski/graph2gauss/raw/master/data",
        (RawFile("dblp.npz", 724446, "750874dc86d975a01801a8512488cbe6a4b26ac29c2886f59803ac2ec21157ca", _check_dblp),),
    ),
}
