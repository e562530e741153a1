"""AnnData files, read with a clear word where that fails."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tvgnn.errors import DataError
from tvgnn.graph.anndata_graph import require_anndata
from tvgnn.io._text import require_file

__all__ = ["read_h5ad", "write_h5ad"]


def read_h5ad(path: str | Path) -> Any:
    """Read an AnnData from an ``.h5ad`` file into memory.

    Raises
    ------
    DataError
        The file is missing or not readable, or anndata is not installed.
    """
    file = require_file(path)
    try:
        anndata = require_anndata()
    except ImportError as error:
        raise DataError(f"{path}: {error}") from None
    try:
        return anndata.read_h5ad(file)
    # h5py and anndata's readers raise OSError, KeyError, ValueError, AnnDataReadError and more for damaged files
    except Exception as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{path}: not readable as an AnnData file (.h5ad): {reason}; write it anew") from None


def write_h5ad(path: str | Path, adata: Any) -> None:
    """Write an AnnData to an ``.h5ad`` file.

    Text that pandas holds by pyarrow, as pandas 3 does wherever pyarrow is installed, becomes ordinary text in place:
    anndata 0.12 cannot write it.
    """
    _without_arrow(adata)
    settings: Any = getattr(require_anndata(), "settings", None)
    # With pandas 3 all text is of a type that anndata 0.12 writes only when told to, and anndata 0.11 and later read
    if hasattr(settings, "allow_write_nullable_strings"):
        with settings.override(allow_write_nullable_strings=True):
            adata.write_h5ad(path)
    else:
        adata.write_h5ad(path)


def _without_arrow(adata: Any) -> None:
    import pandas as pd

    parts = [adata.obs, adata.var, *([] if adata.raw is None else [adata.raw.var])]
    parts += [*adata.obsm.values(), *adata.varm.values(), *_leaves(adata.uns)]
    for frame in parts:
        if not isinstance(frame, pd.DataFrame):
            continue
        if _by_arrow(frame.index.dtype):
            frame.index = frame.index.astype(object)
        for name in list(frame.columns):
            dtype = frame[name].dtype
            if isinstance(dtype, pd.CategoricalDtype) and _by_arrow(dtype.categories.dtype):
                frame[name] = frame[name].cat.rename_categories(dtype.categories.astype(object))
            elif _by_arrow(dtype):
                frame[name] = frame[name].astype(pd.StringDtype("python", na_value=dtype.na_value))


def _by_arrow(dtype: Any) -> bool:
    return getattr(dtype, "storage", None) == "pyarrow"


def _leaves(uns: Any) -> Iterator[Any]:
    for value in uns.values():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        else:
            yield value
