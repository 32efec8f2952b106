"""Names that a spreadsheet would take as formulas.

They are written unchanged, since other tools find samples and variables by them, with a warning.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING

from rcweb.cli.console import Console

if TYPE_CHECKING:
    from rcweb.cli.knowledge import Knowledge

# What Excel, LibreOffice and Google Sheets take as the start of a formula.
_FIRST = ("=", "+", "-", "@")


def tell_formulas(names: Iterable[str], console: Console) -> None:
    """Warn of names that begin as formulas do, if there are any; numbers are none."""
    from rcweb.storage.errors import shorten

    found = [name for name in names if name.startswith(_FIRST) and not _is_number(name)]
    if found:
        more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
        console.say(
            f"warning: {shorten(found[0])}{more}: a spreadsheet takes names that begin with "
            "=, +, - or @ as formulas; import the written tables with all columns as text."
        )


def known_names(knowledge: Knowledge) -> Iterable[str]:
    """The names that enter the results from other files than the table."""
    sets = [known.names for known in (knowledge.known, knowledge.terms) if known is not None]
    factors = [] if knowledge.measured is None else map(str, knowledge.measured.columns)
    return chain(*sets, (knowledge.labels or {}).values(), factors)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
