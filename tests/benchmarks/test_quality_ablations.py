import json

import numpy as np
import pytest
from benchmarks.quality import page
from benchmarks.quality.graphs import Problem, block_graph, problem, tissue
from benchmarks.quality.matched import Margins, matched_settings, simulate_like
from benchmarks.quality.matching import difference, search, statistics
from benchmarks.quality.packages import joint_network, package_network
from benchmarks.quality.rows import TableSettings, rows
from benchmarks.quality.simulated import CitationSettings, simulate_citations
from benchmarks.quality.skewed import SHAPES
from benchmarks.quality.tables import table, table_by_graph
from benchmarks.quality.variants import VARIANTS, fitted, measured

from tvgnn import Graph
from tvgnn.errors import DataError
from tvgnn.estimators import plans
from tvgnn.estimators.quality import counted_edges
from tvgnn.estimators.quality.preparation import FeaturePreparation, choose_steps
from tvgnn.graph.report import structural_kind


def share_of_edges_within_classes(graph):
    adjacency = graph.adjacency().tocoo()
    return np.mean(graph.y[adjacency.row] == graph.y[adjacency.col])


@pytest.mark.parametrize("number", range(6))
def test_simulated_citations_resemble_the_real_ones(number):
    settings = CitationSettings.draw(number)
    graph = simulate_citations(settings, seed=number)
    assert graph.num_nodes == settings.nodes
    assert graph.num_features == settings.words
    assert graph.num_classes == settings.classes
    assert 0.5 < share_of_edges_within_classes(graph) < 0.95
    degrees = np.diff(graph.indptr)
    assert degrees.mean() == pytest.approx(settings.degree, rel=0.25)
    assert degrees.max() > 5 * degrees.mean()
    assert graph.x.nnz / graph.num_nodes < 2 * settings.length
    assert (graph.x.data == 1).all() == (settings.kind == "binary")


def test_simulated_citations_depend_on_the_seed_only():
    settings = CitationSettings.draw(0)
    one, same, other = (simulate_citations(settings, seed) for seed in (0, 0, 1))
    assert np.array_equal(one.indices, same.indices)
    assert np.array_equal(one.x.data, same.x.data)
    assert not np.array_equal(one.y, other.y)


@pytest.mark.parametrize("draw", [block_graph, tissue])
def test_features_and_edges_both_carry_the_classes(draw):
    graph = draw(0)
    assert share_of_edges_within_classes(graph) > 1.5 / graph.num_classes
    means = np.stack([graph.x[graph.y == k].mean(0) for k in range(graph.num_classes)])
    assert means.std(0).max() > 0.1


def test_graphs_without_classes_get_the_clusters_of_the_paper():
    assert (problem("ring", 0).n_clusters, problem("grid", 0).n_clusters) == (5, 10)
    assert problem("blocks", 0).n_clusters == 6
    with pytest.raises(DataError, match="unknown dataset"):
        problem("citations-x", 0)


@pytest.mark.parametrize("number", range(6))
def test_skewed_measurements_are_taken_by_their_ranks_and_markers_are_not(number):
    graph, classes = problem(f"skewed-{number}", 0)
    assert (graph.num_nodes, classes, graph.num_features) == ((800, 12, 24) if number == 5 else (800, 4, 8))
    assert not np.array_equal(problem(f"skewed-{number + 12}", 0).graph.x, graph.x)
    kind = FeaturePreparation.fit(graph.x).kind
    assert (kind == "standardize") == (SHAPES[number] == "markers")
    with VARIANTS["heavy tails as other columns"].replaced():
        assert FeaturePreparation.fit(graph.x).kind == "standardize"


@pytest.mark.parametrize(
    ("kind", "prepared", "before"),
    [
        ("shares", "sqrt+l2", {"standardize", "normal-scores+standardize"}),
        ("amounts", "log1p-median+smooth-idf+l2", {"idf+l2", "l2"}),
    ],
)
def test_shares_and_amounts_are_known_and_a_variant_takes_them_for_other_columns(kind, prepared, before):
    for number in (3, 4, 5, 6):
        graph, classes = problem(f"{kind}-{number}", 0)
        assert (graph.num_classes, graph.num_nodes) == (classes, len(graph.y))
        assert FeaturePreparation.fit(graph.x).kind == prepared
        with VARIANTS["shares and amounts as other columns"].replaced():
            assert FeaturePreparation.fit(graph.x).kind in before


@pytest.mark.parametrize("number", [0, 4, 8])
def test_coordinates_are_known_and_a_variant_takes_them_for_other_columns(number):
    graph, classes = problem(f"places-{number}", 0)
    assert (graph.num_classes, graph.num_nodes) == (classes, len(graph.y))
    coordinates = [graph.num_features - 2, graph.num_features - 1]
    assert plans.prepare("quality", graph, "auto").left_out == coordinates
    with VARIANTS["places as other columns"].replaced():
        assert plans.prepare("quality", graph, "auto").left_out == []


def test_weights_that_tell_nothing_are_known_and_a_variant_takes_them_as_given():
    powers = []
    for number in range(6):
        graph, classes = problem(f"weights-{number}", 0)
        assert (graph.num_classes, graph.is_weighted) == (classes, True)
        prepared = FeaturePreparation.fit(graph.x).transform(graph.x)
        powers.append(counted_edges.choose_edges(graph, prepared)["weight_power"])
        with VARIANTS["weights as given"].replaced():
            assert counted_edges.choose_edges(graph, prepared)["weight_power"] == 1
    assert len(set(powers)) > 2


def test_topics_of_a_package_are_shares():
    graph, _ = problem("topics-networkx", 0)
    np.testing.assert_allclose(graph.x.sum(1), 1, rtol=1e-5)
    assert graph.x.shape == (graph.num_nodes, 40)
    assert FeaturePreparation.fit(graph.x).kind == "sqrt+l2"


def test_a_variant_replaces_its_part_and_puts_it_back():
    given = Problem(block_graph(0, nodes=200, classes=3), 3)
    before = fitted("one run", given, 0)
    means = fitted("means (GCN) for GTV steps", given, 0)
    unrefined = fitted("without refinement", given, 0)
    assert fitted("one run", given, 0)["nats"] == before["nats"]
    assert means["views"][0]["nats_kmeans"] != before["views"][0]["nats_kmeans"]
    assert (unrefined["refinement_steps"], unrefined["nats"]) == (0, unrefined["nats_before_refinement"])
    assert all(view["nats"] == view["nats_kmeans"] for view in unrefined["views"])


def test_table_averages_and_names_what_is_missing():
    records = [
        {"graph": "citations-0", "variant": "recipe", "nmi": 0.5, "acc": 0.7, "nats": 10.0},
        {"graph": "citations-1", "variant": "recipe", "nmi": 0.7, "acc": 0.9, "nats": 20.0},
        {"graph": "ring", "variant": "one run", "modularity": 0.25},
    ]
    assert table(records).splitlines()[2:] == [
        "| recipe | 0.600 / 80.0, 15 | - |",
        "| one run | - | modularity 0.250 |",
    ]
    assert "recipe" in VARIANTS


def test_a_row_a_graph_has_means_and_seconds():
    records = [
        {"graph": "package-one", "variant": "recipe", "nmi": 0.5, "acc": 0.7, "seconds": 1.0},
        {"graph": "package-one", "variant": "recipe", "nmi": 0.7, "acc": 0.9, "seconds": 2.0},
        {"graph": "package-two", "variant": "recipe", "nmi": 0.2, "acc": 0.2, "seconds": 6.0},
        {"graph": "package-one", "variant": "other", "nmi": 0.1, "acc": 0.3, "seconds": 4.0},
    ]
    assert table_by_graph(records).splitlines()[2:] == [
        "| one | 0.600 / 80.0 | 0.100 / 30.0 |",
        "| two | 0.200 / 20.0 | - |",
        "| mean | 0.400 / 50.0 | 0.100 / 30.0 |",
        "| seconds, median | 2.0 | 4.0 |",
    ]


@pytest.mark.parametrize("name", page.PAGES)
def test_the_pages_show_their_records(name):
    records = [json.loads(line) for line in page.RECORDS.read_text().splitlines()]
    text = (page.DOCS / name).read_text()
    assert page.written(name, text, records) == text
    changed = [one | {"nmi": one["nmi"] / 2} if one["variant"] == "recipe" else one for one in records]
    assert page.written(name, text, changed) != text


def test_methods_stand_in_the_order_of_their_agreement_on_cora():
    one = {"variant": "recipe", "nmi": 0.57, "acc": 0.7, "seconds": 2.0}
    records = [one | {"graph": graph} for graph in ("cora", "citeseer", "pubmed", "dblp")]
    rows = page.beside([*records, records[0] | {"variant": "one run", "nmi": 0.0}]).splitlines()[2:]
    assert rows[3] == '| **`preset="quality"`** | 1 seeds |' + " 0.570 / 70.0 |" * 4 + " 2, one thread |"
    on_cora = [float(row.split("|")[3].split("/")[0]) for row in rows]
    assert on_cora == sorted(on_cora, reverse=True)
    assert len(rows) == 1 + 15 + 16


def margins(nodes=300, words=120, classes=4):
    random = np.random.default_rng(0)
    degrees, frequency = random.integers(1, 9, nodes), np.linspace(60, 2, words)
    return Margins(nodes, classes, int(degrees.sum()) // 2, degrees, random.integers(5, 20, nodes), frequency)


@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_networks_like_a_given_one_have_its_margins_and_carry_classes(name):
    settings = matched_settings(name)
    assert len(settings) == 24
    for one in settings:
        assert one.l0 + one.l1 + one.l2 + one.l3 == pytest.approx(1)
    given = margins()
    graph = simulate_like(given, settings[0], seed=0, stray=0.0)
    assert graph.num_nodes == 300
    assert graph.num_edges == pytest.approx(given.edges, rel=0.25)  # fewer, as drawn edges may be equal
    assert set(graph.x.data) == {1.0}
    assert np.diff(graph.x.indptr).mean() == pytest.approx(given.lengths.mean(), rel=0.25)
    assert share_of_edges_within_classes(graph) > 0.5
    same = simulate_like(given, settings[0], seed=0, stray=0.0)
    assert np.array_equal(same.indices, graph.indices)
    assert np.array_equal(same.x.indices, graph.x.indices)


def test_strays_are_filed_elsewhere_and_change_nothing_else():
    given, (settings, *_) = margins(), matched_settings("cora")
    true, filed = (simulate_like(given, settings, seed=1, stray=share) for share in (0.0, 0.4))
    assert np.array_equal(true.indices, filed.indices)
    assert (true.y != filed.y).mean() == pytest.approx(0.4 * 3 / 4, abs=0.1)


def test_a_number_beyond_the_settings_is_refused():
    with pytest.raises(DataError, match="a number below 24"):
        problem("like-cora-24", 0)


def test_matching_comes_nearer_to_a_network_it_does_not_know():
    random = np.random.default_rng(0)
    given, (settings, *_) = margins(nodes=400, words=300), matched_settings("cora")
    graph = simulate_like(given, settings, seed=5)
    unlabelled = Graph.from_scipy(graph.adjacency(), x=graph.x)
    assert difference(statistics(graph, 4), statistics(unlabelled, 4)) == 0
    found = search(unlabelled, 4, [], 4, random)
    assert [value for value, _ in found] == sorted(value for value, _ in found)
    again = simulate_like(given, settings, seed=6)
    assert difference(statistics(again, 4), statistics(unlabelled, 4)) < found[0][0]
    parents = [(value, settings) for value, settings in found * 20]
    further = search(unlabelled, 4, parents, 2, random)
    assert len(further) == len(parents) + 2
    assert all(sum((one.l0, one.l1, one.l2, one.l3)) == pytest.approx(1) for _, one in further)


def package(folder, modules):
    """Write modules of a package: for each function its name, a word of its docstring, and what its body mentions."""
    for path, functions in modules.items():
        lines = []
        for name, word, mentioned in functions:
            lines += [
                f"def {name}():",
                f'    """Weigh heavy parcels of {word}."""',
                f"    return [{', '.join(mentioned)}]",
            ]
        file = folder / "parcels" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines))


def test_packages_become_networks_of_what_their_definitions_say_and_mention(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    post = [(f"send{i}s", "letter" + "abc"[i % 3], [f"send{(i + 1) % 25}s"]) for i in range(25)]
    bank = [(f"paid{i}s", "money" + "abc"[i % 3], [f"paid{(i + 1) % 25}s", "helper"]) for i in range(25)]
    ambiguous = [("helper", "anything", ["send0s"])]
    package(
        tmp_path,
        {
            "__init__.py": ambiguous,
            "post/office.py": [*post, *ambiguous],
            "bank/__init__.py": bank,
            "bank/tests/test_bank.py": [("tested", "money", ["paid0s"])] * 30,
            "broken.py": [("1", "syntax", [])],
        },
    )
    given = problem("package-parcels", 0)
    assert given.n_clusters == 2
    graph = given.graph
    assert graph.num_nodes == 50 + 1  # the office's helper mentions somebody; the other is in no part
    assert graph.num_edges == 25 + 25 + 1
    assert np.bincount(graph.y).tolist() == [25, 26]
    assert np.diff(graph.x.indptr).tolist() == [1] * 50 + [0]
    assert share_of_edges_within_classes(graph) == 1


def test_networks_of_packages_depend_on_the_package_only():
    one, same = (package_network("networkx") for _ in range(2))
    assert np.array_equal(one.indices, same.indices)
    assert np.array_equal(one.x.indices, same.x.indices)
    assert one.num_classes > 5
    assert np.diff(one.x.indptr).max() == 30
    assert share_of_edges_within_classes(one) > 2 / one.num_classes


def test_word_vectors_stand_for_the_words_of_a_package():
    words, vectors = problem("package-networkx", 0).graph, problem("vectors-networkx", 0).graph
    assert np.array_equal(words.indices, vectors.indices)
    assert np.array_equal(words.y, vectors.y)
    assert vectors.x.shape == (words.num_nodes, 100)
    assert choose_steps(vectors.x) == ("common-scale", "l2")
    # who shares words is near: the mean inner product of neighbours exceeds that of any two
    rows = vectors.x - vectors.x.mean(0)
    edges = vectors.adjacency().tocoo()
    assert (rows[edges.row] * rows[edges.col]).sum(1).mean() > 0.1 * (rows**2).sum(1).mean()


def test_joint_networks_join_those_that_share_neighbours():
    star = Graph.from_edge_index(np.array([[0, 0, 0, 4], [1, 2, 3, 5]]), num_nodes=7, x=np.eye(7), y=np.arange(7))
    joint = joint_network(star)
    assert np.argwhere(np.triu(joint.adjacency().toarray())).tolist() == [[1, 2], [1, 3], [2, 3]]
    assert np.array_equal(joint.y, star.y)
    mentions, joint = problem("package-networkx", 0).graph, problem("joint-networkx", 0).graph
    assert (joint.x != mentions.x).nnz == 0
    assert np.diff(joint.indptr).max() > 15  # who is among the first of many
    assert joint.num_edges <= 15 * joint.num_nodes
    together = mentions.adjacency() @ mentions.adjacency()
    assert together.multiply(joint.adjacency()).nnz == joint.adjacency().nnz


def test_two_in_five_definitions_lose_their_words():
    whole, missing = problem("package-networkx", 0).graph, problem("missing-networkx", 0).graph
    silent = np.diff(missing.x.indptr) == 0
    assert silent.mean() == pytest.approx(0.4, abs=0.05)
    assert (missing.x[~silent] != whole.x[~silent]).nnz == 0
    assert (missing.adjacency() != whole.adjacency()).nnz == 0


def test_packages_without_words_have_eigenvectors_of_their_edges():
    whole, bare = problem("package-networkx", 0).graph, problem("edges-networkx", 0).graph
    assert (bare.adjacency() != whole.adjacency()).nnz == 0
    assert structural_kind(bare.report) == "spectral"
    assert np.array_equal(bare.y, whole.y)


def test_airports_have_levels_of_activity_that_degrees_tell_of():
    graph, levels = problem("airports-0", 0)
    assert (graph.num_nodes, graph.num_edges, levels) == (131, 1038, 4)
    degrees = np.diff(graph.indptr)
    assert len(np.unique(degrees)) == graph.num_features
    assert np.corrcoef(degrees, graph.y)[0, 1] > 0.5
    given = Problem(graph, levels)
    assert measured("one run", given, 0)["norm"] == "log-degree"
    assert measured("origin of features unknown", given, 0)["features_made_of"] is None


@pytest.mark.parametrize("name", ["nowhere", "", "os.path", "ast"])
def test_a_package_that_is_not_there_or_a_single_module_is_refused(name):
    with pytest.raises(DataError, match=f"several modules, got {name}; install it"):
        package_network(name)


def test_other_methods_stand_beside_the_recipe():
    given = Problem(block_graph(0, nodes=200, classes=3), 3)
    record = measured("averages, k-means", given, 0)
    assert record["nmi"] > measured("k-means of features", given, 0)["nmi"]
    assert set(record) > {"nmi", "acc", "modularity", "seconds"}


def test_a_method_of_a_package_that_is_not_installed_says_so(monkeypatch):
    monkeypatch.setattr("benchmarks.baselines.pyagc.AVAILABLE", False)
    with pytest.raises(DataError, match="the package pyagc for PyAGC CCA-SSG, which is not installed"):
        measured("PyAGC CCA-SSG", Problem(block_graph(0, nodes=60, classes=3), 3), 0)


def test_rows_get_their_neighbours_by_the_preparation_of_each_variant():
    given = problem("rows-wine", 0)
    assert given.graph.num_edges == 0
    assert given.n_clusters == 3
    assert fitted("one run", given, 0)["norm"] == "standardize"
    for method in ("averages, k-means", "spectral clustering"):
        found = measured(method, given, 0)
        assert found["nmi"] > 0.7
        assert found["modularity"] > 0.4


def test_unknown_rows_and_packages_are_refused():
    with pytest.raises(DataError, match=r"which is not installed|expected rows of"):
        rows("no-such-rows")


@pytest.mark.parametrize("number", [0, 1, 2])
def test_simulated_tables_have_categories_measurements_and_classes(number):
    settings = TableSettings.draw(number)
    graph, classes = problem(f"table-{number}", 0)
    assert (graph.num_nodes, classes) == (settings.nodes, 5)
    dummies = graph.x[:, : sum(settings.levels)]
    assert (dummies.sum(1) == len(settings.levels)).all()
    assert set(np.unique(dummies)) == {0, 1}
    assert graph.num_features == dummies.shape[1] + settings.measurements
    assert share_of_edges_within_classes(graph) > settings.within
    assert choose_steps(graph.x) == ("standardize-numeric",)


@pytest.mark.parametrize(
    ("name", "before", "now"),
    [
        ("table-0", "idf+l2", "normal-scores+standardize-numeric"),
        ("cells-0", "log1p+idf+l2", "log1p+smooth-idf+l2"),
        ("cells-2", "standardize", "log1p+l2"),
        ("logcells-0", "idf+l2", "l2"),
    ],
)
def test_a_variant_knows_bags_and_measurements_only(name, before, now):
    x = problem(name, 0).graph.x
    with VARIANTS["bags and measurements only"].replaced():
        assert FeaturePreparation.fit(x).kind == before
    assert FeaturePreparation.fit(x).kind == now
