"""How the gallery runs `examples/`: their arguments, and the pictures and pages that they write.

Every build runs each example on settings small enough for seconds; what the gallery shows comes from that run alone.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

__all__ = ["SMALL_SETTINGS", "copy_pages", "pictures_of_example", "plain_thumbnail", "small_settings"]

PAGES = Path(__file__).parent / "gallery" / "pages"
SMALL_SETTINGS: dict[str, list[str]] = {
    "cluster_documents": [],
    "point_cloud": ["--points", "2000", "--links", "3", "--out", "chain.png"],
    "pooling_in_pyg": ["--graphs", "150", "--epochs", "20"],
    "segment_photograph": ["china", "--every", "4", "--max-iter", "60", "--out", "china.png"],
    "semi_supervised_nodes": ["--dataset", "blocks", "--seeds", "2", "--epochs", "60", "--quick"],
    "spatial_omics": ["--cells", "1500", "--domains", "4", "--page", "tissue.html"],
}


def small_settings(gallery_conf: dict[str, Any], script: dict[str, Any]) -> list[str]:
    """Return the arguments with which the gallery runs an example (sphinx-gallery's ``reset_argv``)."""
    return SMALL_SETTINGS[Path(script["src_file"]).stem]


def pictures_of_example(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Return the reStructuredText of what an example wrote (sphinx-gallery's image scraper).

    Examples are run in their own folder, out of which the files are moved.
    """
    from sphinx_gallery.scrapers import figure_rst

    source = Path(block_vars["src_file"])
    settings = SMALL_SETTINGS[source.stem]
    command = f"Here it was run as ``{' '.join(['python', f'examples/{source.name}', *settings])}``.\n\n"
    written = source.parent / settings[-1] if settings else source
    if written.suffix == ".png":
        target = next(block_vars["image_path_iterator"])
        shutil.move(written, target)
        return command + str(figure_rst([target], gallery_conf["src_dir"]))
    if written.suffix == ".html":
        PAGES.mkdir(parents=True, exist_ok=True)
        shutil.move(written, PAGES / written.name)
        return f"{command}`The page that it wrote <{PAGES.name}/{written.name}>`__\n"
    return command


def copy_pages(app: Any, exception: Exception | None) -> None:
    """Copy the pages that examples wrote beside the gallery's own (Sphinx's ``build-finished``)."""
    if exception is None and app.builder.format == "html":
        shutil.copytree(PAGES, Path(app.outdir) / "gallery" / PAGES.name, dirs_exist_ok=True)


def plain_thumbnail() -> str:
    """Draw the thumbnail of examples that print and draw nothing, and return its path."""
    from matplotlib.figure import Figure

    path = PAGES.parent / "prints.png"
    path.parent.mkdir(exist_ok=True)
    figure = Figure(figsize=(4, 2.8))
    figure.text(0.5, 0.5, ">_", size=60, color="#888888", family="monospace", ha="center", va="center")
    figure.savefig(path)
    return str(path)
