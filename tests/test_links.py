"""Links between the files of the repository lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")
FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
    if "_build" not in path.parts
)


def anchor(title: str) -> str:
    """The name that a title has in an address."""
    kept = re.sub(r"[^\w\- ]", "", title.strip().lower())
    return kept.replace(" ", "-")


@pytest.mark.parametrize("name", FILES)
def test_files_and_titles_that_are_linked_exist(name: str) -> None:
    page = ROOT / name
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        path, _, title = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name} links to {link}"
        if title and target.suffix == ".md":
            titles = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert title in map(anchor, titles), f"{name} links to {link}"
