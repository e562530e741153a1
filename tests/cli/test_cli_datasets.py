"""``tvgnn datasets``."""

import pytest

from tvgnn.datasets import list_datasets


@pytest.mark.parametrize("arguments", [[], ["list"]], ids=["bare", "list"])
def test_every_dataset_is_listed_with_its_size(tvgnn, arguments):
    lines = tvgnn("datasets", *arguments).out.splitlines()
    for info in list_datasets():
        line = next(line for line in lines if line.split()[0] == info.name)
        if info.graphs == 1:
            assert f" {info.nodes:,} " in line
            assert f" {info.edges:,} " in line
        else:
            assert f" {info.graphs:,} " in line
            assert f" {info.nodes / info.graphs:,.1f} " in line
            assert f" {info.edges / info.graphs:,.1f} " in line


@pytest.mark.parametrize("name", ["Digits", "Bench-Easy"])
def test_a_built_in_dataset_needs_no_files(name, tvgnn):
    result = tvgnn("datasets", "get", name)
    assert (result.code, result.out) == (0, f"{name.lower()}: built in, there is nothing to fetch\n")


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        pytest.param("cora", "data/planetoid/Cora/raw", marks=pytest.mark.real_data("cora")),
        pytest.param("mutag", "data/tudataset", marks=pytest.mark.real_data("mutag")),
    ],
)
def test_get_makes_a_dataset_available(name, folder, tvgnn, mirror):
    result = tvgnn("datasets", "get", name, "--mirror", mirror, "--root", "data")
    assert result.code == 0, result.err
    assert folder in result.out
    lines = tvgnn("datasets", "list", "--root", "data").out.splitlines()
    assert " yes " in next(line for line in lines if line.startswith(f"{name} "))
