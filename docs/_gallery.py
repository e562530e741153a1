"""How the gallery runs `examples/`: their arguments, and the pictures and pages that they write.

Every build runs each example on settings small enough for seconds; what the gallery shows comes from that run alone.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

__all__ = ["RESULTS", "SMALL_SETTINGS", "copy_pages", "pictures_of_example", "small_settings"]

RESULTS = Path(__file__).parent / "gallery" / "results"
SMALL_SETTINGS: dict[str, list[str]] = {
    "cluster_documents": [],
    "point_cloud": ["--points", "2000", "--links", "3", "--out", f"{RESULTS}/point_cloud.png"],
    "pooling_in_pyg": ["--graphs", "150", "--epochs", "20"],
    "segment_photograph": ["china", "--every", "4", "--max-iter", "60", "--out", f"{RESULTS}/segment_photograph.png"],
    "semi_supervised_nodes": ["--dataset", "blocks", "--seeds", "2", "--epochs", "60", "--quick"],
    "spatial_omics": ["--cells", "1500", "--domains", "4", "--page", f"{RESULTS}/spatial_omics.html"],
}


def small_settings(gallery_conf: dict[str, Any], script: dict[str, Any]) -> list[str]:
    """Return the arguments with which the gallery runs an example (sphinx-gallery's ``reset_argv``)."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    return SMALL_SETTINGS[Path(script["src_file"]).stem]


def pictures_of_example(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Return the reStructuredText of what an example wrote (sphinx-gallery's image scraper)."""
    from sphinx_gallery.scrapers import figure_rst

    name = Path(block_vars["src_file"]).stem
    picture, page = RESULTS / f"{name}.png", RESULTS / f"{name}.html"
    if picture.exists():
        target = next(block_vars["image_path_iterator"])
        shutil.move(picture, target)
        return figure_rst([target], gallery_conf["src_dir"])
    return f"`The page that it wrote <results/{page.name}>`__\n" if page.exists() else ""


def copy_pages(app: Any, exception: Exception | None) -> None:
    """Copy the pages that examples wrote beside the gallery's own (Sphinx's ``build-finished``)."""
    if exception is None and app.builder.format == "html":
        shutil.copytree(RESULTS, Path(app.outdir) / "gallery" / RESULTS.name, dirs_exist_ok=True)
