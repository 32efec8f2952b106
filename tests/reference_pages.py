"""What the pages of docs/reference show, for tests."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

PAGES = Path(__file__).parents[1] / "docs" / "reference"
MODULE = re.compile(r"^\.\. (?:currentmodule|py:module):: (\S+)$")
DIRECTIVE = re.compile(
    r"^\.\. (?:auto(?:class|function|method|property|exception|data)|py:data):: (\S+)$"
)
MEMBERS = re.compile(r"^    :members: (.+)$")
SUMMARY = re.compile(r"^    ([A-Za-z_]\w*)$")


def page_names(path: Path) -> list[str]:
    """Full names of what a page describes, members too."""
    module, names = "", []
    for line in path.read_text(encoding="utf-8").splitlines():
        if found := MODULE.match(line):
            module = found[1]
        elif found := DIRECTIVE.match(line):
            names.append(f"{module}.{found[1]}")
        elif found := MEMBERS.match(line):
            names += [f"{names[-1]}.{member}" for member in found[1].split(", ")]
    return names


def summary_names() -> list[str]:
    """Full names in the tables of the first page."""
    module, names = "", []
    for line in (PAGES / "index.md").read_text(encoding="utf-8").splitlines():
        if found := MODULE.match(line):
            module = found[1]
        elif found := SUMMARY.match(line):
            names.append(f"{module}.{found[1]}")
    return names


def shown_names() -> list[str]:
    """Full names of what the pages describe."""
    return [name for path in sorted(PAGES.glob("*.md")) for name in page_names(path)]


def shown_objects() -> dict[str, Any]:
    """``{full name: object}`` of what the pages describe; an error if it is not there."""
    return {name: resolve(name) for name in shown_names()}


def resolve(name: str) -> Any:
    """The object of a full name: a module, then attributes."""
    parts = name.split(".")
    # The longest part that is a module; `rcweb.simulate` is both a module and a short name.
    for n in range(len(parts) - 1, 0, -1):
        try:
            thing: Any = import_module(".".join(parts[:n]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[n:]:
            thing = getattr(thing, attribute)
        return thing
    raise LookupError(name)
