"""The page as a person uses it, in headless Chromium; skipped where Chromium is absent."""

import io
import re
import shutil

import numpy as np
import pytest
from page_cases import HOSTILE, IMAGE, cliques_view
from PIL import Image
from playwright.sync_api import sync_playwright

from tvgnn.report.page import Picture, write_page
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
LONGEST = 60_000  # milliseconds of any step, for machines that do much else


@pytest.fixture(scope="module", params=["webgl", "canvas"])
def browser(request):
    """Chromium with WebGL, and without, where the map is drawn by the 2-D canvas."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium: the page is not tried in a browser (Debian: apt install chromium)")
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
    assert page.text_content("#found") == "no node has this id"
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
    for node in range(5):
        page.fill("#search", HOSTILE[node][:6])
        page.keyboard.press("Enter")
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
