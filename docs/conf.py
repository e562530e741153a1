"""Settings of the documentation site: `make docs` builds it into `site/`, without any network."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

from sphinx.domains.python import PyObject
from sphinx.util.nodes import make_refnode

sys.path.insert(0, str(Path(__file__).parent))

from _gallery import copy_pages, pictures_of_example, plain_thumbnail, small_settings

project = "tvgnn"
copyright = "The tvgnn developers"
version = release = installed_version("tvgnn")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_gallery.gen_gallery"]
suppress_warnings = ["config.cache"]  # settings hold functions; they are read anew each time

pygments_dark_style = "monokai"

html_theme = "furo"
html_title = "tvgnn"
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_show_search_summary = False  # a page opened from the disk may not read the others

myst_heading_anchors = 4  # pages link to headings by the anchors that GitHub gives them

# Docstrings have NumPy's sections or Google's; a name in single backticks is a link where it is documented.
default_role = "py:obj"
napoleon_custom_sections = ["Shapes"]
napoleon_use_rtype = False
napoleon_use_ivar = True
autodoc_typehints = "none"  # the texts say more: shapes, units, what None means
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 100
add_module_names = False

# Without inventories of other projects, which need a network, links end at names of this one.
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!tvgnn\.).*"),
    ("py:obj", ".*"),
    ("py:class", r"tvgnn\.graph\..*\.(TransposedLists|Relabelled)"),  # types of private attributes
    ("py:func", r"tvgnn\.graph\..*\.(structural_features|connecting_edges)"),  # what `Graph` calls
]

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",  # all of them are run
    "ignore_pattern": r"__init__|ipynb",
    "reset_argv": small_settings,
    "image_scrapers": (pictures_of_example,),
    "default_thumb_file": plain_thumbnail(),
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "abort_on_example_error": True,
}


def resolve_bare_name(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Link a name in single backticks wherever its module is, if only one object has it (``missing-reference``)."""
    if node.get("refdomain") != "py" or node["reftype"] != "obj":
        return None
    domain = env.domains["py"]
    found = domain.find_obj(env, None, None, node["reftarget"], None, 1)
    if len(found) != 1:
        return None
    name, entry = found[0]
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, name)


def keep_names_of_attributes(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Keep ``a_, b_`` as it is: a final underscore would be a link, and what precedes a blank a type."""
    for number, line in enumerate(lines):
        if found := re.match(r":(ivar|vartype) ([^:]+):", line):
            names = re.sub(r"(?<!\\)_(?=,|$)", r"\_", found[2].replace(", ", ","))
            lines[number] = f":{found[1]} {names}:{line[found.end() :]}"


def setup(app: Any) -> None:
    """Connect what the settings above cannot say."""
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"  # what docstrings call them
    app.connect("autodoc-process-docstring", keep_names_of_attributes, priority=900)  # after napoleon
    app.connect("missing-reference", resolve_bare_name)
    app.connect("build-finished", copy_pages)
