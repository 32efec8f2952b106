"""Tutorials tell a story that can be followed by copy and paste; ``make docs`` runs their cells."""

from __future__ import annotations

import ast
import builtins
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "tutorials"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "index")
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HIDDEN = ("remove-cell", "remove-input")


def read(page: str) -> str:
    return (FOLDER / f"{page}.md").read_text(encoding="utf-8")


def cells(page: str) -> list[tuple[bool, str]]:
    """Whether a reader sees the cell, and its Python, without magics and commands."""
    found = []
    for text in CELL.findall(read(page)):
        lines = text.splitlines()
        tags = lines.pop(0) if lines[0].startswith(":tags:") else ""
        code = "\n".join(line for line in lines if not line.startswith(("%", "!")))
        found.append((not any(tag in tags for tag in HIDDEN), code))
    return found


def names(code: str) -> tuple[set[str], set[str]]:
    """Names that the code makes, and names that it uses."""
    made, used = set(), set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            made.add(node.name)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
        elif isinstance(node, ast.alias):
            made.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            made.add(node.name)
    return made, used


@pytest.mark.parametrize("page", PAGES)
def test_what_a_reader_copies_is_enough(page: str) -> None:
    """No visible cell uses a name that only hidden cells, or later ones, make."""
    known = set(dir(builtins))
    for visible, code in cells(page):
        made, used = names(code)
        if visible:
            known |= made
            assert used <= known, f"{used - known} in\n{code}"


@pytest.mark.parametrize("page", PAGES)
def test_every_tutorial_asks_answers_and_is_checked(page: str) -> None:
    """A question, an answer, what can go wrong, and hidden assertions that keep it true."""
    text = read(page)
    assert "**Question.**" in text
    assert text.index("## The answer") < text.index("## What can go wrong")
    assert any("assert " in code for visible, code in cells(page) if not visible)
    assert not any("assert " in code for visible, code in cells(page) if visible)


def test_the_index_has_all_of_them() -> None:
    index = read("index")
    for page in PAGES:
        assert f"]({page}.md)" in index
        assert f"\n{page}\n" in index
