"""Docstrings say ``name : what it is``, a line each; on the site that is a list of definitions."""

from __future__ import annotations

import re
from dataclasses import is_dataclass
from typing import Any

from sphinx.application import Sphinx

NAMES = r"\*{0,2}[A-Za-z]\w*(?:, \*{0,2}[A-Za-z]\w*)*"
ITEM = re.compile(rf"^(\s*)({NAMES}) : (.+)$")
# A second item on the same line: "itemsize : bytes of a number; nnz : numbers stored".
NEXT_ITEM = re.compile(rf"; (?={NAMES} : )")
UNDERLINE = re.compile(r"^\s*-{3,}\s*$")
# What reStructuredText gives a meaning and our prose does not: |score|, components_, P*.
CODE = re.compile(r"(``.*?``|`[^`]*`_*)")
MARKUP = re.compile(r"\||(?<=\w)_(?!\w)|(?<=\S)\*|\*(?=\S)")
NUMPY_ARRAY = re.compile(r"(?:~?numpy\.)?ndarray\[.*?dtype\[.*?\]\]")
PREFIX = re.compile(r"\b(?:pd|np)\.(?=[A-Z])")
PAGE = re.compile(r"\bdocs/(\w+)\.md\b")
KEPT = re.compile(r"^\s*(\.\. .*|:[^:]+:(?= |$)|\* |>>> .*|\.\.\. .*)?")


def definitions(lines: list[str]) -> list[str]:
    """The lines with every ``name : text`` at the start of a paragraph, and those that follow it,
    as an item of a definition list.

    Sections with an underlined title, such as Parameters and Examples, are left to napoleon.
    """
    titles = [n for n, line in enumerate(lines) if UNDERLINE.match(line) and n > 0]
    end = titles[0] - 1 if titles else len(lines)
    made: list[str] = []
    indent = None  # of the items of the present list
    for number, line in enumerate(lines[:end]):
        begins = number == 0 or not lines[number - 1].strip()
        item = ITEM.match(line)
        if item and (begins or indent == item[1]):
            indent = item[1]
            _add_items(made, line, indent)
        elif indent is not None and line.startswith(indent + "    "):
            first, *others = NEXT_ITEM.split(line)
            made.append(first)
            for other in others:
                _add_items(made, other, indent)
        else:
            if indent is not None and line.strip():
                indent = None
                _blank(made)
            made.append(line)
    return made + lines[end:]


def _add_items(made: list[str], line: str, indent: str) -> None:
    for part in NEXT_ITEM.split(line.strip()):
        names, text = part.split(" : ", 1)
        _blank(made)
        shown = ", ".join(f"``{name}``" for name in names.split(", "))
        made += [f"{indent}{shown}", f"{indent}    {text}"]


def _blank(made: list[str]) -> None:
    if made and made[-1].strip():
        made.append("")


def escaped(lines: list[str]) -> list[str]:
    """The lines with bars, stars and trailing underscores of their prose as plain characters, and
    the names of pages as links."""
    made: list[str] = []
    example = False
    for line in lines:
        # An example lasts until the next empty line, as in doctest.
        example = bool(line.strip()) and (example or line.lstrip().startswith(">>>"))
        kept = KEPT.match(line)
        start = len(line) if example or kept is None else kept.end()
        parts = CODE.split(line[start:])
        # Every other part is code.
        parts[::2] = [PAGE.sub(r":doc:`/\1`", MARKUP.sub(r"\\\g<0>", p)) for p in parts[::2]]
        made.append(line[:start] + "".join(parts))
    return made


def titled(lines: list[str]) -> list[str]:
    """The lines with a title above the attributes, to which napoleon gives none."""
    first = next((n for n, x in enumerate(lines) if x.startswith(".. attribute::")), None)
    if first is None:
        return lines
    return [*lines[:first], "", ".. rubric:: Attributes", "", *lines[first:]]


def _process(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = definitions(lines)


def _escape(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = titled(escaped(lines))


def shortened(annotations: str) -> str:
    """Types as a reader says them: an array of numbers is an array."""
    return PREFIX.sub("", NUMPY_ARRAY.sub("ndarray", annotations))


def _signature(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: Any, returned: Any
) -> tuple[str, str | None] | None:
    """Results are made by functions: how they are constructed is nothing that a reader calls."""
    made_by_users = name in app.config.house_constructed
    if what == "class" and is_dataclass(thing) and not made_by_users:
        return "", None
    if signature is None:
        return None
    return shortened(signature), None if returned is None else shortened(returned)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_config_value("house_constructed", [], "env")
    # Before and after napoleon (500), which turns sections into fields and directives.
    app.connect("autodoc-process-docstring", _process, priority=400)
    app.connect("autodoc-process-docstring", _escape, priority=600)
    app.connect("autodoc-process-signature", _signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
