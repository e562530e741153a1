"""The sentence that says what drives a clustering."""

import pytest

from tvgnn.report.references import reference_sentence


def of(features=None, graph=None):
    given = {"features": features, "graph": graph}
    return {name: {"method": "m", "agreement": value} for name, value in given.items() if value is not None}


@pytest.mark.parametrize(
    ("features", "graph", "says"),
    [
        (0.95, 0.2, "the features alone would do"),
        (0.95, 0.92, "the features or the graph alone would do"),
        (0.4, 0.8, "they follow the graph more than the features"),
        (0.8, 0.4, "they follow the features more than the graph"),
        (0.6, 0.65, "they follow both alike"),
        (0.1, 0.2, "of both together, or not stable"),
        (None, 0.5, "that finds the same in part"),
        (0.5, None, "that finds the same in part"),
        (None, 0.2, "that finds other clusters, or these are not stable"),
        (0.2, None, "that finds other clusters, or these are not stable"),
        (0.99, None, "the features alone would do"),
    ],
)
def test_meaning(features, graph, says):
    assert says in reference_sentence(of(features, graph))


@pytest.mark.parametrize(
    "nothing",
    [
        None,
        {},
        [],
        "x",
        {"features": 3},
        {"features": {}},
        of(float("nan")),
        of(2.0),
        of("1"),
        of(graph=True),
    ],
)
def test_nothing_is_said_where_nothing_is_known(nothing):
    assert reference_sentence(nothing) is None
