"""The page as a person uses it, in headless Chromium; skipped where Chromium is absent, see ``page_browser.py``."""

import io
import re

import numpy as np
import pytest
import scipy.sparse as sp
from page_browser import require_chromium
from page_cases import HOSTILE, IMAGE, cliques_view, ring_of_cliques, soft
from PIL import Image
from playwright.sync_api import sync_playwright

from tvgnn.report.page import ClusteringView, Picture, write_page
from tvgnn.report.palette import COLORS

SWITCHES = (
    "--no-sandbox",  # CI is root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
UNKNOWN_VALUE, LOWEST_VALUE = "#d9b98c", "#d6dbe0"  # colors.js, light
LONGEST = 60_000  # milliseconds of any step, for machines that do much else


@pytest.fixture(scope="module", params=["webgl", "canvas"])
def browser(request):
    """Chromium with WebGL, and without, where the map is drawn by the 2-D canvas."""
    program = require_chromium()
    switches = [*SWITCHES, *(["--disable-3d-apis"] if request.param == "canvas" else [])]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=switches, timeout=LONGEST)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Return a function that opens the page of a view; afterwards nothing may have gone wrong or been requested."""
    problems = []
    page = browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme="light")
    page.set_default_timeout(LONGEST)

    def console(message):
        harmless = "GL Driver Message" in message.text  # the software renderer on its own speed
        if message.type in ("error", "warning") and not harmless:
            problems.append(message.text)

    def dialog(shown):
        problems.append(f"dialog: {shown.message}")
        shown.dismiss()

    def request(sent):
        if not re.match("(file|data|blob):", sent.url):
            problems.append(sent.url)

    page.on("console", console)
    page.on("pageerror", lambda error: problems.append(error.message))
    page.on("dialog", dialog)
    page.on("request", request)

    def open_page(view):
        write_page(tmp_path / "page.html", view, projection="pca")
        page.goto((tmp_path / "page.html").as_uri())
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_page
    page.close()
    assert problems == []


def hostile_view():
    return cliques_view(
        node_ids=[*HOSTILE, *(f"person {i}" for i in range(5, 15))],
        class_names=[IMAGE, "b", "c"],
        feature_names=[IMAGE, "noise", "constant"],
        positions=np.stack([np.arange(15) % 5, np.arange(15) // 5], axis=1),
    )


def selected(page):
    return page.text_content("#details h3")


def typed(text):
    """Return the longest part of a text that a person can type."""
    return max(re.split("[\u2028\udc80]", text), key=len)


def share_of_color(picture, color):
    """Return the part of a picture (height, width, 3) that is a little transparent paint of this colour on the map."""
    paper, cover = np.array([0xF5, 0xF6, 0xF8]), 215 / 255  # page.css and coloring.js
    painted = cover * np.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) + (1 - cover) * paper
    return float((np.abs(picture - painted).max(axis=2) <= 3).mean())


def map_picture(page):
    return np.asarray(Image.open(io.BytesIO(page.locator("#map").screenshot())).convert("RGB"), dtype=float)


def test_the_map_shows_the_clusters(visit):
    picture = map_picture(visit(hostile_view()))
    shares = [share_of_color(picture, color) for color in COLORS[:4]]
    assert min(shares[:3]) > 1e-4
    assert shares[3] == 0


def test_search_hover_and_select(visit):
    page = visit(hostile_view())
    page.fill("#search", "<IMG")
    page.keyboard.press("Enter")  # selects the first one found and puts it in the middle
    assert selected(page) == IMAGE
    box = page.locator("#map").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert page.text_content("#tip strong") == IMAGE
    assert "confidence" in page.text_content("#tip")
    page.mouse.move(0, 0)
    assert page.locator("#tip").is_hidden()
    page.fill("#search", "nobody")
    assert page.text_content("#none-found") == "no node has this id"
    assert page.locator("#found > :not([role=option])").count() == 0
    assert page.locator("#found").is_hidden()
    button = page.locator("button[data-node]").last
    button.click()
    assert selected(page) == button.locator("span").text_content()


def test_the_map_stays_below_the_open_list(visit):
    rows, columns = np.divmod(np.arange(400), 20)
    page = visit(cliques_view(20, 20, positions=np.stack([columns, rows], axis=1)))
    closed = map_picture(page)
    page.fill("#search", "person")
    page.wait_for_selector("#found li")
    box, outer = page.locator("#found").bounding_box(), page.locator("#map").bounding_box()
    below = int(box["y"] + box["height"] + 30 - outer["y"])  # 30 for the list's shadow
    assert below < len(closed) - 100
    assert np.abs(map_picture(page)[below:] - closed[below:]).mean() < 1


def test_keyboard(visit):
    page = visit(hostile_view())
    page.focus("#map")
    page.keyboard.press("ArrowRight")
    first = selected(page)
    page.keyboard.press("ArrowRight")
    assert selected(page) != first
    for key in ("+", "-", "0", "Shift+ArrowUp"):
        page.keyboard.press(key)
    page.keyboard.press("ArrowLeft")
    assert selected(page) == first
    page.keyboard.press("Escape")
    assert page.text_content("#details") == "No node is selected."
    page.focus("#matrix")
    page.keyboard.press("ArrowDown")
    assert re.search(r"in cluster \d", page.text_content("#matrix-readout"))
    page.keyboard.press("Enter")
    assert selected(page) in page.text_content("#matrix-readout")


def test_text_of_the_data_stays_text(visit):
    page = visit(hostile_view())
    labels = page.locator("#color option").all_text_contents()
    assert labels[0] == "cluster"
    assert IMAGE in labels
    for label in labels:
        page.select_option("#color", label=label)
    # a browser shows a placeholder for the lone surrogate, and an input takes no line separator
    for node, wanted in enumerate(HOSTILE):
        page.fill("#search", typed(wanted))
        page.keyboard.press("Enter")
        assert selected(page) == page.evaluate("text => text", wanted), node
    assert page.locator("img:not([src^='data:'])").count() == 0
    assert page.locator("script").count() == 2


def test_legend_and_colors(visit):
    page = visit(hostile_view())
    entries = page.locator("#legend button")
    assert entries.count() == 3
    entries.first.click()
    page.wait_for_selector("#legend button:first-child[aria-pressed=true]")
    entries.first.click()
    page.wait_for_selector("#legend button:first-child[aria-pressed=false]")


def test_dark_follows_the_system(visit):
    page = visit(hostile_view())
    background = "() => getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(background) != "rgb(255, 255, 255)"


def test_a_picture_and_its_pixels(visit):
    image = np.random.default_rng(0).random((15, 3))
    page = visit(cliques_view(x=image, feature_names=["red", "green", "blue"], picture=Picture("pixels", 3, 5)))
    page.select_option("#color", label="colours of the picture")
    assert page.locator("figure img").count() == 2
    assert "picture" in page.text_content("#layout")


def settle(page):
    """Wait for what is still being unpacked, two frames and a little more."""
    page.evaluate("() => new Promise((done) => setTimeout(() => requestAnimationFrame(done), 300))")


def color_by(page, *names):
    """Choose colours one after the other without a pause; of equal names the last is meant."""
    page.evaluate(
        """(names) => {
            const select = document.getElementById("color");
            for (const name of names) {
                select.value = [...select.options].filter((option) => option.text === name).pop().value;
                select.dispatchEvent(new Event("change"));
            }
        }""",
        names,
    )
    settle(page)


def plane_view(positions, **parts):
    """Return a view of nodes at positions, all in one cluster and without edges where ``parts`` say nothing else."""
    positions = np.asarray(positions, dtype=float)
    n = len(positions)
    assignments, adjacency = parts.pop("assignments", np.ones((n, 1))), parts.pop("adjacency", sp.csr_array((n, n)))
    return ClusteringView(assignments, adjacency, positions=positions, **parts)


def test_the_last_colour_chosen_is_the_one_that_is_shown(visit):
    page = visit(cliques_view())
    before = map_picture(page)
    color_by(page, "noise", "cluster")  # the feature is still being unpacked when the clusters are there
    assert page.locator("#legend button").count() == 3
    np.testing.assert_array_equal(map_picture(page), before)
    color_by(page, "level", "noise")
    late = map_picture(page)
    color_by(page, "noise")
    np.testing.assert_array_equal(late, map_picture(page))
    assert np.abs(late - before).max() > 30


def test_a_legend_that_is_still_there_can_be_pressed_while_a_feature_is_unpacked(visit):
    page = visit(cliques_view())
    page.evaluate(
        """() => {
            const select = document.getElementById("color");
            select.value = [...select.options].pop().value;
            select.dispatchEvent(new Event("change"));
            document.querySelector("#legend button").click();
        }"""
    )
    settle(page)
    assert page.locator("#legend button[aria-pressed=true]").count() == 1
    assert page.input_value("#color") == "0"


def test_layout_and_colours_change_together(visit):
    view = cliques_view(positions=np.stack([np.arange(15) % 5, np.arange(15) // 5], axis=1))
    page = visit(view)
    page.select_option("#layout", label="PCA")
    settle(page)
    wanted = map_picture(page)
    page.select_option("#layout", label="positions")
    settle(page)
    assert np.abs(map_picture(page) - wanted).max() > 30
    page.evaluate(
        """() => {
            for (const [id, value] of [["color", 5], ["layout", 1], ["color", 0]]) {
                document.getElementById(id).value = value;
                document.getElementById(id).dispatchEvent(new Event("change"));
            }
        }"""
    )
    settle(page)
    np.testing.assert_array_equal(map_picture(page), wanted)


def test_nodes_without_edges_are_drawn_as_unknown(visit):
    adjacency, clique = ring_of_cliques()
    lonely = sp.block_diag([adjacency, sp.csr_array((2, 2))], format="csr")
    x = np.arange(17.0)[:, None]
    page = visit(ClusteringView(soft([*clique, 0, 1], 3), lonely, embedding=np.stack([x, x % 4], axis=1)[..., 0], x=x))
    page.evaluate("() => { document.getElementById('overlay').hidden = true; }")  # the numbers
    color_by(page, "edge weight in its cluster")
    picture = map_picture(page)[4:-4, 4:-4]  # without the border, which is pale too
    assert share_of_color(picture, UNKNOWN_VALUE) > 1e-5
    assert share_of_color(picture, LOWEST_VALUE) < 2e-5  # less than a node
    assert page.text_content("#legend .entry") == "no edges2"
    color_by(page, "number of neighbours")
    picture = map_picture(page)[4:-4, 4:-4]
    assert share_of_color(picture, UNKNOWN_VALUE) == 0
    assert share_of_color(picture, LOWEST_VALUE) > 1e-5
    assert page.locator("#legend .entry").count() == 0


def test_the_legend_of_the_number_of_neighbours_goes_by_the_root_as_its_colours_do(visit):
    hub, middle = np.zeros(100), np.zeros(100)
    middle[:24] = 1  # with the hub 25 neighbours
    adjacency = np.zeros((102, 102))
    adjacency[0, 1], adjacency[0, 2:], adjacency[1, 2:] = 1, 1, middle + hub
    adjacency = np.maximum(adjacency, adjacency.T)
    adjacency[0, 101] = adjacency[101, 0] = 0  # 100 neighbours
    positions = np.random.default_rng(0).random((102, 2))
    page = visit(plane_view(positions, adjacency=sp.csr_array(adjacency)))
    color_by(page, "number of neighbours")
    ticks = page.evaluate(
        "() => [...document.querySelectorAll('.ticks span')].map((x) => [x.textContent, x.style.left])"
    )
    assert ticks == [["0", "0%"], ["25", "50%"], ["100", "100%"]]
    half = "#689dd0"  # the middle of the ramp, half-way between its third and fourth stop
    assert share_of_color(map_picture(page), half) > 1e-5


def test_a_feature_may_have_the_name_of_a_choice(visit):
    names = ["number of neighbours", "confidence", "edge weight in its cluster"]
    page = visit(cliques_view(x=np.full((15, 3), 0.5) + np.arange(15)[:, None], feature_names=names))
    page.locator("button[data-node]").first.click()
    box = page.locator("#map").bounding_box()
    for name in names:
        color_by(page, name)
        page.mouse.move(0, 0)
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert f"{name}: ≈ " in page.text_content("#tip")
        assert page.locator("#details tr", has_text="≈").locator("th").text_content() == name


def test_the_panel_follows_the_colour(visit):
    page = visit(cliques_view())
    page.locator("button[data-node]").first.click()
    node = selected(page)
    values = page.locator("#details tr", has_text="≈")
    assert values.count() == 0
    color_by(page, "level")
    assert values.locator("th").all_text_contents() == ["level"]
    color_by(page, "cluster")
    assert values.count() == 0
    assert selected(page) == node


def test_arrows_reach_every_node_of_a_place(visit):
    places = np.repeat([[0, 0], [1, 0], [2, 0]], 3, axis=0)
    page = visit(plane_view(places[[0, 3, 6, 1, 4, 7, 2, 5, 8]]))
    page.focus("#map")
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    seen = [selected(page)]
    for _ in range(8):
        page.keyboard.press("ArrowRight")
        seen.append(selected(page))
    assert seen == ["0", "3", "6", "1", "4", "7", "2", "5", "8"]
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
        seen.append(selected(page))
    assert seen[8:] == seen[8::-1]


def test_every_node_can_be_reached_by_paging(visit):
    page = visit(plane_view(np.random.default_rng(0).random((7, 2))))
    page.focus("#map")
    seen = []
    for key in ["PageDown"] * 8 + ["PageUp"] * 2:
        page.keyboard.press(key)
        seen.append(selected(page))
    assert seen == ["0", "1", "2", "3", "4", "5", "6", "0", "6", "5"]


def test_the_panel_tells_the_weight_of_edges(visit):
    adjacency = sp.csr_array(np.array([[0, 9, 1, 0], [9, 0, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0]], dtype=float))
    page = visit(plane_view(np.eye(4)[:, :2], adjacency=adjacency, assignments=soft([0, 0, 1, 1], 2)))
    page.fill("#search", "0")
    page.keyboard.press("Enter")
    rows = page.evaluate("() => [...document.querySelectorAll('#details tr')].map((row) => row.innerText.split('\\t'))")
    assert ["neighbours", "2"] in rows
    assert ["edge weight in its cluster", "90 %"] in rows


def test_a_picture_fills_the_map_however_near(visit):
    rows, columns = np.divmod(np.arange(400), 20)
    adjacency = sp.csr_array((400, 400))
    view = ClusteringView(
        soft((rows + columns) % 2, 2), adjacency, x=np.ones((400, 3)), picture=Picture("pixels", 20, 20)
    )
    page = visit(view)
    page.focus("#map")
    for _ in range(20):
        page.keyboard.press("+")
    for key in ("Shift+ArrowRight", "Shift+ArrowUp", "Shift+ArrowRight"):
        settle(page)
        picture = map_picture(page)[4:-4, 4:-4]  # without the border
        colors = [np.abs(picture - [int(c[at : at + 2], 16) for at in (1, 3, 5)]).max(axis=2) <= 3 for c in COLORS[:2]]
        covered = [float(found.mean()) for found in colors]
        assert sum(covered) > 0.98
        assert min(covered) > 0.1
        page.keyboard.press(key)
    box = page.locator("#map").bounding_box()
    for part in (0.1, 0.3, 0.5, 0.7, 0.9):  # of a large pixel its corners too
        page.mouse.move(box["x"] + part * box["width"], box["y"] + part * box["height"])
        assert page.locator("#tip").is_visible()


def test_the_eleventh_cluster_differs_by_shape(visit):
    positions = np.stack([[0, *np.linspace(4, 6, 9), 10, 5], [0.0] * 11 + [3.0]], axis=1)
    page = visit(plane_view(positions, assignments=soft(np.arange(12), 12)))
    page.evaluate("() => { document.getElementById('overlay').hidden = true; }")  # the numbers
    picture = map_picture(page)
    paper, blue = np.array([0xF5, 0xF6, 0xF8]), np.array([int(COLORS[0][at : at + 2], 16) for at in (1, 3, 5)])
    painted = np.abs(picture - (215 / 255 * blue + 40 / 255 * paper)).max(axis=2) <= 3
    filled = []
    for half in (painted[:, : painted.shape[1] // 2], painted[:, painted.shape[1] // 2 :]):
        rows, columns = np.flatnonzero(half.any(axis=1)), np.flatnonzero(half.any(axis=0))
        assert 5 <= len(rows) <= 20
        filled.append(half[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].mean())
    circle, square = filled
    assert circle < 0.92
    assert square == 1


def test_each_pixel_is_where_its_node_is(visit):
    colors = np.random.default_rng(0).random((15, 3))
    names = ["red", "green", "blue"]
    page = visit(cliques_view(x=colors, feature_names=names, node_ids=None, picture=Picture("pixels", 3, 5)))
    page.evaluate("() => { document.getElementById('overlay').hidden = true; }")  # the ring around the node
    color_by(page, "colours of the picture")
    box = page.locator("#map").bounding_box()
    for node in (0, 4, 7, 10, 14):
        page.fill("#search", str(node))
        page.keyboard.press("Enter")  # puts it in the middle
        picture = map_picture(page)
        middle = picture[len(picture) // 2, picture.shape[1] // 2]
        np.testing.assert_allclose(middle, 255 * colors[node], atol=2)
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert page.text_content("#tip strong") == str(node)
