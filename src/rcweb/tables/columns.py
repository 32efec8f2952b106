"""Which columns of a table of names hold the identifiers and the names to show."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

ColumnsByTitle = Mapping[str, Sequence[str]]

# Usual titles of the column of display names, the most common first.
_NAMES = (
    "gene_name",
    "gene_symbol",
    "symbol",
    "name",
    "standard_name",
    "common_name",
    "preferred_name",
    "display_name",
    "label",
    "gene",
    "source_name",
)


def id_column(columns: ColumnsByTitle, variables: Collection[str]) -> str:
    """The column that shares most cells with the variables; the first one of equals."""
    known = set(variables)
    return max(columns, key=lambda title: len(known.intersection(columns[title])))


def name_column(columns: ColumnsByTitle, identifier: str) -> str | None:
    """The column titled like a name, else the first one of text after the identifiers; None if
    there is none."""
    others = [title for title in columns if title != identifier]
    # Reversed, so that of equal titles the first column wins.
    plain = {re.sub(r"[\W_]+", "_", title.strip().lower()): title for title in reversed(others)}
    titled = [plain[title] for title in _NAMES if title in plain]
    titles = list(columns)
    after = titles[titles.index(identifier) + 1 :]
    # The first filled cell decides; a column of numbers cannot hold names.
    text = [title for title in after if not is_number(next(filter(None, columns[title]), "0"))]
    return next(iter([*titled, *text]), None)


def names_of(columns: ColumnsByTitle, identifier: str, name: str) -> dict[str, str]:
    """``{identifier: name}``: the first name of each identifier; empty cells give none."""
    names: dict[str, str] = {}
    for key, value in zip(columns[identifier], columns[name]):
        if key and value:
            names.setdefault(key, value)
    return names


def is_number(cell: str) -> bool:
    """Whether Python reads the cell as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
