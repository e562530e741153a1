"""``tvgnn datasets``."""

import pytest

from tvgnn.datasets import list_datasets


@pytest.mark.parametrize("arguments", [[], ["list"]], ids=["bare", "list"])
def test_every_dataset_is_listed_with_its_size(tvgnn, arguments):
    lines = tvgnn("datasets", *arguments).out.splitlines()
    for info in list_datasets():
        line = next(line for line in lines if line.split()[0] == info.name)
        assert f"{info.nodes:,}" in line
        assert f"{info.edges:,}" in line


def test_a_built_in_dataset_needs_no_files(tvgnn):
    result = tvgnn("datasets", "get", "Digits")
    assert (result.code, result.out) == (0, "digits: built in, there is nothing to fetch\n")


@pytest.mark.real_data("cora")
def test_get_makes_a_dataset_available(tvgnn, tmp_path, mirror):
    result = tvgnn("datasets", "get", "cora", "--mirror", mirror, "--root", "data")
    assert result.code == 0, result.err
    assert "data/planetoid/Cora/raw" in result.out
    line = next(
        line for line in tvgnn("datasets", "list", "--root", "data").out.splitlines() if line.startswith("cora ")
    )
    assert " yes " in line
