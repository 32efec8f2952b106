"""The documentation's site: ``make docs`` builds it without warnings, and runs the tutorials.

Its pages fetch nothing; tables of real organisms are fetched once, when the tutorials run.
"""

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

# `name` in a docstring is a link where there is something of that name, else code.
default_role = "py:obj"
add_module_names = False
toc_object_entries_show_parents = "hide"
autodoc_typehints = "signature"  # in the text they would be said twice
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
maximum_signature_line_length = 88
# Classes that users construct; of the others, which are results, no signature is shown.
house_constructed = [
    "rcweb.knowledge.GeneSets",
    "rcweb.network.Network",
    "rcweb.tables.ReadOptions",
]
autosummary_generate = False
# Pictures of docstrings: the code above them is the example that a test runs.
plot_include_source = True
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
