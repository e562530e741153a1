"""The table and the figure of a sweep, from plain numbers."""

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from tvgnn.errors import GraphError
from tvgnn.report.figures import save_figure
from tvgnn.report.palette import color_of
from tvgnn.report.sweep_figure import sweep_figure
from tvgnn.report.sweep_table import sweep_table

NAMES = ("loss", "total_variation", "modularity", "conductance", "sharpness", "stability",
         "stability_of_best", "score")  # fmt: skip


def rows(*ks, empty=(), strays=()):
    return [
        {
            "n_clusters": k,
            "n_clusters_found": k - (k in empty),
            "n_strays": int(k in strays),
            "sizes": (6, 4),
            **dict.fromkeys(NAMES, 0.1 * k),
        }
        for k in ks
    ]


def test_every_k_is_a_point_and_every_cluster_a_bar_of_its_colour(tmp_path):
    figure = sweep_figure(rows(2, 3), {2: [6, 4], 3: [6, 0, 4, 2]}, 3, 0.2, "a title")
    curves, _, bars = figure.axes
    assert curves.lines[0].get_xdata().tolist() == [2, 3]
    np.testing.assert_allclose(curves.lines[0].get_ydata(), [0.2, 0.3])
    assert [bar.get_height() for bar in bars.patches] == [6, 4, 6, 0, 4, 2]
    assert bars.patches[1].get_facecolor() == to_rgba(color_of(1))
    assert bars.patches[-1].get_y() == 10
    for ending in ("png", "pdf"):
        save_figure(figure, tmp_path / f"sweep.{ending}")
        assert (tmp_path / f"sweep.{ending}").stat().st_size > 1000


@pytest.mark.parametrize("without", [{"empty": (3,)}, {"strays": (3,)}], ids=["empty", "stray"])
def test_a_k_that_has_not_so_many_clusters_is_hollow(without):
    figure = sweep_figure(rows(2, 3, **without), {2: [6, 4], 3: [6, 4]})
    faces = figure.axes[0].collections[0].get_facecolors()
    assert tuple(faces[1]) == to_rgba("white")
    assert tuple(faces[0]) != to_rgba("white")
    assert "hollow" in figure.axes[0].get_title()


def test_no_rows_are_refused():
    with pytest.raises(GraphError, match="rows of a sweep"):
        sweep_figure([], {})


def test_the_table_has_a_line_a_k():
    table = sweep_table(rows(2, 3, 4, empty=(4,), strays=(3,)), recommended=3)
    assert table.row_count == 3
    assert [str(cell) for cell in table.columns[1].cells] == ["2", "2", "3"]
    cells = [str(cell) for cell in table.columns[0].cells]
    assert cells == ["2", "3", "4"]
