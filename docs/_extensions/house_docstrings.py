"""Docstrings say ``name : what it is``, a line each; on the site that is a list of definitions."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

ITEM = re.compile(r"^(\s*)(\*{0,2}\w[\w.]*(?:, \w[\w.]*)*) : (.+)$")


def definitions(lines: list[str]) -> list[str]:
    """The lines with every ``name : text`` at the start of a paragraph, and those that follow it,
    as an item of a definition list."""
    made: list[str] = []
    indent = None  # of the items of the present list
    for number, line in enumerate(lines):
        item = ITEM.match(line)
        begins = number == 0 or not lines[number - 1].strip()
        if item and (begins or indent == item[1]):
            indent = item[1]
            if made and made[-1].strip():
                made.append("")
            names = ", ".join(f"``{name}``" for name in item[2].split(", "))
            made += [f"{indent}{names}", f"{indent}    {item[3]}"]
            continue
        if indent is not None and not (line.strip() and line.startswith(indent + "    ")):
            indent = None
        made.append(line)
    return made


def _process(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    # Sections such as "Parameters" are napoleon's.
    if not any(set(line.strip()) == {"-"} for line in lines):
        lines[:] = definitions(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
