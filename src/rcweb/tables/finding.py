"""One thing that the input check says about a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Level = Literal["note", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """One sentence or two about the input.

    level : "note" (information), "warning" (suspicious; `text` names the option that answers it)
        or "error" (certainly wrong)
    """

    level: Level
    text: str


def some(names: Sequence[str], at_most: int = 5) -> str:
    """The first few names and how many more there are."""
    more = f" and {len(names) - at_most:,} more" if len(names) > at_most else ""
    return ", ".join(names[:at_most]) + more


def count(n: int, what: str) -> str:
    """``1 sample``, ``2,000 samples``."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"
