"""Pictures of the documentation: all of them exist, are small, and can be drawn again."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[1] / "docs"
IMAGES = DOCS / "images"
MOST_BYTES = 60_000
CHEAP = "paper-number"


MODULES = ("make", "paper", "engine", "reading", "style")  # of docs/figures


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """docs/figures/make.py, whose modules are no package and leave no trace."""
    before = {name: sys.modules.pop(name, None) for name in MODULES}
    monkeypatch.syspath_prepend(str(DOCS / "figures"))
    yield importlib.import_module("make")
    for name, module in before.items():
        sys.modules.pop(name, None)
        if module is not None:
            sys.modules[name] = module


def referenced() -> dict[str, set[str]]:
    """Pictures by page."""
    return {
        page.name: set(re.findall(r"\]\((images/[^)\s]+)\)", page.read_text(encoding="utf-8")))
        for page in DOCS.glob("*.md")
    }


def test_every_picture_of_a_page_exists() -> None:
    missing = {
        f"{page}: {name}"
        for page, names in referenced().items()
        for name in names
        if not (DOCS / name).is_file()
    }
    assert not missing


def test_every_picture_drawn_is_on_a_page_and_small(make: ModuleType) -> None:
    used = {name for names in referenced().values() for name in names}
    assert {f"images/{name}.png" for name in make.PICTURES} <= used
    for name in make.PICTURES:
        assert (IMAGES / f"{name}.png").stat().st_size < MOST_BYTES


def test_a_picture_is_drawn_the_same_twice(make: ModuleType, tmp_path: Path) -> None:
    first = make.draw(CHEAP, tmp_path).read_bytes()
    assert first.startswith(b"\x89PNG")
    assert make.draw(CHEAP, tmp_path).read_bytes() == first
