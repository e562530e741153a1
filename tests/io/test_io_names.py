"""What `tvgnn.io` offers by itself."""

import pytest

import tvgnn.io


@pytest.mark.parametrize("name", tvgnn.io.__all__)
def test_every_public_name_loads_and_is_documented(name):
    assert getattr(tvgnn.io, name).__doc__


def test_names_are_sorted_and_exported():
    assert tvgnn.io.__all__ == sorted(tvgnn.io._EXPORTS)


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(AttributeError, match=r"no attribute 'write_gexf'; public names: read_graph"):
        _ = tvgnn.io.write_gexf
