"""The documentation site: `make docs` builds it into build/site."""

from __future__ import annotations

import importlib.util
import re
from typing import Any

from docutils import nodes
from pygments.lexers.special import TextLexer

import pyrev

project = "pyrev"
release = version = pyrev.__version__
copyright = "the authors of pyrev"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "sphinx_design"]
html_theme = "furo"
html_title = f"pyrev {release}"
html_show_sphinx = False
html_static_path = ["static"]
html_css_files = ["site.css"]
smartquotes = False  # quotes in docstrings are Python's
html_theme_options = {"navigation_with_keys": True}

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
default_role = "literal"  # of docstrings, which quote code as Markdown does
autodoc_typehints = "none"  # docstrings say what is given and what comes back
autodoc_member_order = "bysource"
autodoc_mock_imports = [
    name for name in ("torch", "jax", "dask") if importlib.util.find_spec(name) is None
]


def give_codes_anchors(app: Any, doctree: nodes.document) -> None:
    """In the table of errors each code is a place to link to: errors.html#P211."""
    if app.env.docname == "errors":
        for cell in doctree.findall(nodes.entry):
            if re.fullmatch(r"P\d{3}", cell.astext()):
                cell["ids"].append(cell.astext())


def setup(app: Any) -> None:
    """What is pyrev's own of this site."""
    app.add_lexer("txt", TextLexer)
    app.connect("doctree-read", give_codes_anchors)
