"""What the quality preset finds in the features is said by `tvgnn cluster`."""

import json

import numpy as np
import pytest


def metrics_of(folder):
    return json.loads((folder / "metrics.json").read_text())


@pytest.mark.parametrize("apart", [0, 1])
def test_nodes_without_features_are_told_of(tvgnn, tmp_path, apart):
    random = np.random.default_rng(0)
    topic = np.arange(80) // 40
    x = (random.random((80, 40)) < np.where(topic[:, None] == np.arange(40) // 20, 0.4, 0.05)).astype(int)
    x[[3, 50]] = 0
    pairs = [(i, 40 * (i // 40) + int(j)) for i in range(80) for j in random.integers(0, 40, 4)]
    pairs = [(i, j) for i, j in pairs if not (apart and 3 in (i, j))]
    (tmp_path / "e.csv").write_text("".join(f"{i},{j}\n" for i, j in pairs))
    header = ",".join(["id", *(f"w{j}" for j in range(40))])
    rows = "".join(",".join(map(str, [i, *row])) + "\n" for i, row in enumerate(x))
    (tmp_path / "x.csv").write_text(f"{header}\n{rows}")
    arguments = ("cluster", "--edges", "e.csv", "--features", "x.csv", "-k", "2", "--preset", "quality")
    result = tvgnn(*arguments, "--out", "out")
    assert result.code == 0, result.err
    lent = "2 nodes have" if not apart else "1 node has"
    assert f"note: {lent} no features (zeros only) and got the mean of neighbours that have any" in result.err
    lost = "1 node has no features (zeros only) and no way over edges to any"
    assert (f"note: {lost}" in result.err) is bool(apart)
    assert (lost in metrics_of(tmp_path / "out")["notes"]) is bool(apart)
    assert "no features" not in tvgnn(*arguments, "--quiet", "--out", "quiet").err


def test_clusters_of_degrees_are_told_of(tvgnn, tmp_path):
    ends = np.random.default_rng(0).choice(60, (200, 2), p=np.arange(1, 61) / 1830)
    (tmp_path / "e.csv").write_text("".join(f"{i},{j}\n" for i, j in ends))
    result = tvgnn("cluster", "--edges", "e.csv", "--structural-features", "degree", "-k", "3", "--preset", "quality",
                   "--out", "out")  # fmt: skip
    assert result.code == 0, result.err
    assert "note: features are the number of neighbours: clusters are ranges of it" in result.err
    assert "left aside" not in result.err
    assert metrics_of(tmp_path / "out")["feature_norm"] == "log-degree"


@pytest.mark.parametrize(("columns", "named"), [(3, "c0, c1, c2"), (8, "c0, c1, c2, c3, c4 and 3 others")])
def test_features_of_which_ranks_count_are_named(tvgnn, tmp_path, columns, named):
    random = np.random.default_rng(0)
    y = np.arange(300) % 3
    x = np.exp(2 * (random.normal(0, 1.5, (3, columns))[y] + random.normal(size=(300, columns))))
    x = np.column_stack([x, random.normal(size=300)])
    (tmp_path / "e.csv").write_text("".join(f"{i},{(i + 3 * j) % 300}\n" for i in range(300) for j in (1, 7, 20)))
    header = ",".join(["id", *(f"c{j}" for j in range(columns + 1))])
    (tmp_path / "x.csv").write_text(header + "".join("\n" + ",".join(map(str, [i, *row])) for i, row in enumerate(x)))
    arguments = ("cluster", "--edges", "e.csv", "--features", "x.csv", "-k", "3", "--preset", "quality")
    result = tvgnn(*arguments, "--out", "out")
    assert result.code == 0, result.err
    expected = f"note: extreme values in {named}: their ranks count (--feature-norm standardize keeps the values)\n"
    assert expected in result.err
    assert metrics_of(tmp_path / "out")["feature_norm"] == "normal-scores+standardize"
    assert "extreme" not in tvgnn(*arguments, "--feature-norm", "standardize", "--out", "plain").err
    for other in ("report", "export"):
        result = tvgnn(other, "out", *(["out.graphml"] if other == "export" else []))
        assert result.code == 0, result.err


def test_coordinates_that_the_edges_were_made_of_are_named(tvgnn, tmp_path):
    random = np.random.default_rng(0)
    side = np.arange(12.0)
    place = np.array([(a, b) for a in side for b in side])
    warm = (place[:, :1] > 5) * 2 + random.normal(size=(144, 3))
    joined = [(i, j) for i in range(144) for j in range(i) if np.abs(place[i] - place[j]).sum() == 1]
    (tmp_path / "e.csv").write_text("".join(f"{i},{j}\n" for i, j in joined))
    rows = np.column_stack([np.arange(144), warm, place])
    lines = [",".join(map(str, [int(row[0]), *row[1:]])) for row in rows]
    (tmp_path / "x.csv").write_text("\n".join(["id,a,b,c,easting,northing", *lines]))
    arguments = ("cluster", "--edges", "e.csv", "--features", "x.csv", "-k", "2", "--preset", "quality")
    result = tvgnn(*arguments, "--out", "out")
    assert result.code == 0, result.err
    assert "note: the edges join what is near in easting and northing, which say nothing more" in result.err
    assert metrics_of(tmp_path / "out")["choices"]["coordinates"] == [3, 4]
    assert "easting" not in tvgnn(*arguments, "--feature-norm", "standardize", "--out", "plain").err
    assert tvgnn("report", "out").code == 0


@pytest.mark.parametrize("weights", ["amounts", "noise"])
def test_the_power_of_weights_that_counts_is_told(tvgnn, tmp_path, weights):
    random = np.random.default_rng(0)
    y = np.arange(300) // 150
    first = random.integers(0, 300, 3000)
    second = np.where(
        random.random(3000) < 0.7, 150 * y[first] + random.integers(0, 150, 3000), random.integers(0, 300, 3000)
    )
    weight = np.exp(2.5 * random.normal(size=3000) + (2.5 if weights == "amounts" else 0) * (y[first] == y[second]))
    edges = (f"{a},{b},{w:.6f}\n" for a, b, w in zip(first, second, weight, strict=True) if a != b)
    (tmp_path / "e.csv").write_text("".join(edges))
    rows = (f"{i},{a:.4f},{b:.4f}\n" for i, (a, b) in enumerate(1.5 * y[:, None] + random.normal(size=(300, 2))))
    (tmp_path / "x.csv").write_text("id,a,b\n" + "".join(rows))
    result = tvgnn(
        "cluster", "--edges", "e.csv", "--features", "x.csv", "-k", "2", "--preset", "quality", "--out", "out"
    )
    assert result.code == 0, result.err
    power = metrics_of(tmp_path / "out")["choices"]["weight_power"]
    assert power < 1
    said = (
        f"note: weights to the power of {power:g} count" if power else "note: what neighbours have in common does not"
    )
    assert said in result.err


def test_warnings_name_options(tvgnn, tmp_path):
    pairs = [(i, (i + step) % 60) for i in range(60) for step in (1, 2)]
    (tmp_path / "e.csv").write_text("".join(f"{i},{j}\n" for i, j in pairs))
    (tmp_path / "x.csv").write_text("id,a\n" + "".join(f"{i},1\n" for i in range(60)))
    result = tvgnn(
        "cluster", "--edges", "e.csv", "--features", "x.csv", "-k", "3", "--preset", "quality", "--out", "out"
    )
    assert "--structural-features spectral" in result.err
    assert "features='spectral'" not in result.err
    paper = tvgnn(
        "cluster", "--edges", "e.csv", "--features", "x.csv", "-k", "3", "--preset", "paper", "--max-epochs", "2"
    )
    assert "or more --n-init" in paper.err
