"""AnnData files: text in any of pandas' storages is written, and new files appear whole or not at all."""

import anndata
import numpy as np
import pandas as pd
import pytest

from tvgnn.errors import DataError
from tvgnn.io.h5ad import write_h5ad
from tvgnn.io.new_files import new_file


def test_text_held_by_pyarrow_is_written(tmp_path):
    arrow = pd.StringDtype("pyarrow", na_value=np.nan)
    text = pd.Series(["a", None, "c"], dtype=arrow, index=pd.Index(["x", "y", "z"], dtype=arrow))
    kinds = pd.Categorical(["u", "v", "u"], categories=pd.Index(["u", "v"], dtype=arrow))
    adata = anndata.AnnData(np.ones((3, 1)), obs=pd.DataFrame({"text": text, "kind": kinds}, index=text.index))
    adata.obs_names = text.index
    adata.uns["nested"] = {"table": pd.DataFrame({"text": text})}
    write_h5ad(tmp_path / "out.h5ad", adata)
    back = anndata.read_h5ad(tmp_path / "out.h5ad")
    assert back.obs_names.tolist() == ["x", "y", "z"]
    assert back.obs["text"].isna().tolist() == [False, True, False]
    assert back.obs["kind"].tolist() == ["u", "v", "u"]
    assert back.uns["nested"]["table"]["text"].tolist()[::2] == ["a", "c"]


def test_new_files_keep_their_ending_and_replace_on_demand(tmp_path):
    final = tmp_path / "out.gexf"
    with new_file(final) as temporary:
        assert temporary.suffix == ".gexf"
        temporary.write_text("one")
    with pytest.raises(DataError, match="exists"), new_file(final):
        pytest.fail("the block must not run")
    with new_file(final, overwrite=True) as temporary:
        temporary.write_text("two")
        assert final.read_text() == "one"
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("out.gexf", "two")]


def test_a_folder_is_never_replaced(tmp_path):
    with pytest.raises(DataError, match="is a folder"), new_file(tmp_path, overwrite=True):
        pytest.fail("the block must not run")
