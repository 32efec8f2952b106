"""What a page of the documentation says, compared with what is measured."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd

from rcweb.lab.benchmark.store import read_rows

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def page(name: str) -> str:
    """The text of README or of a page of docs/, all white space as single blanks."""
    path = ROOT / "README.md" if name == "README" else ROOT / "docs" / f"{name}.md"
    return plain(path.read_text(encoding="utf-8"))


def plain(text: str) -> str:
    """Without hidden comments, line ends and runs of blanks."""
    return " ".join(re.sub(r"<!--.*?-->", " ", text, flags=re.DOTALL).split())


def shows(name: str, *passages: Any) -> None:
    """The page holds each of the passages, apart from line ends and blanks."""
    text = page(name)
    for passage in passages:
        assert plain(str(passage)) in text, f"{name} does not say: {plain(str(passage))}"


def rows(plan: str) -> pd.DataFrame:
    """All fits of a plan that were measured."""
    return read_rows(RESULTS / plan / "rows.jsonl")
