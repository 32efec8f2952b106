"""Every code block of docs/extending.md runs as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from rcweb.blocks.recognise import OPENERS
from rcweb.engine.methods import FIT_METHODS
from rcweb.tables import READERS

PAGE = (Path(__file__).parents[1] / "docs" / "extending.md").read_text(encoding="utf-8")
BLOCKS = {
    section.partition("\n")[0]: section.split("```python\n")[1].split("```")[0]
    for section in PAGE.split("\n## ")
    if "```python" in section
}
TABLES = (READERS, OPENERS, FIT_METHODS)


def test_every_addition_has_its_example() -> None:
    assert {"A file type", "A method", "A search", "A rival"} <= set(BLOCKS)
    assert len(BLOCKS) == PAGE.count("```python")


@pytest.fixture
def restored():
    """The package's tables of names, as they were, after each test."""
    before = [dict(table) for table in TABLES]
    yield
    for table, entries in zip(TABLES, before):
        table.clear()
        table.update(entries)


@pytest.mark.parametrize("title", BLOCKS)
@pytest.mark.usefixtures("restored")
def test_the_example_runs(title: str, tmp_path: Path) -> None:
    """Each example ends in assertions of its own; `folder` is an empty folder."""
    exec(compile(BLOCKS[title], f"docs/extending.md, {title}", "exec"), {"folder": tmp_path})
