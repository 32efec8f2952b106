"""The documentation's site: ``make docs`` builds it, without a network and without warnings."""

from __future__ import annotations

import sys
from pathlib import Path

from rcweb import __version__

sys.path.append(str(Path(__file__).parent / "_extensions"))

project = "rcweb"
author = "The rcweb developers"
copyright = "The rcweb developers"
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "matplotlib.sphinxext.plot_directive",
    "house_docstrings",
    "mathml",
]
exclude_patterns = ["_build"]

# Pages are Markdown of MyST; code cells of tutorials are run, and an error stops the build.
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_cache_path = str(Path(__file__).parent / "_build" / "executed")
nb_execution_raise_on_error = True
nb_execution_timeout = 900
nb_merge_streams = True

autodoc_typehints = "none"  # signatures have them; in the text they would be said twice
autodoc_member_order = "bysource"
autosummary_generate = True
plot_formats = ["svg"]
plot_html_show_formats = False
plot_html_show_source_link = False

html_theme = "furo"
html_title = f"rcweb {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sphinx = False
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
# With a network: sphinx-build -b linkcheck docs docs/_build/links
linkcheck_anchors = False
