"""Sample sheets and tables of display names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from rcweb.storage.errors import TableError, place, shorten
from rcweb.tables.read import ending
from rcweb.tables.streams import open_unpacked
from rcweb.tables.text import text_rows

_GROUP_TITLES = ("group", "condition", "treatment", "project", "batch", "type", "class")
_MAX_GROUPS = 40


def read_sheet(path: str | Path) -> pd.DataFrame:
    """A sheet of text with a header, indexed by its first column (names must be unique)."""
    first, *titles = (columns := read_columns(path))
    sheet = pd.DataFrame(
        {title: columns[title] for title in titles}, index=columns[first], dtype=object
    )
    if sheet.index.has_duplicates:
        name = sheet.index[sheet.index.duplicated()][0]
        raise TableError(f"{Path(path).name}: {shorten(name)} occurs in two lines.")
    return sheet.rename_axis(first)


def read_columns(path: str | Path) -> dict[str, list[str]]:
    """The columns of a sheet of text with a header, by their titles."""
    path = Path(path)
    if not path.is_file():
        raise TableError(f"There is no file {str(path)!r}.")
    if ending(path) not in (".csv", ".tsv", ".tab", ".txt"):
        raise TableError(f"{path.name}: a sheet is text, .csv or .tsv.")
    try:
        return _columns(path)
    except TableError as error:
        raise TableError(f"{path.name}: {error}") from None


def _columns(path: Path) -> dict[str, list[str]]:
    rows: list[list[str]] = []
    titles: list[str] | None = None
    with open_unpacked(path) as stream:
        for line, cells in text_rows(stream):
            if titles is None:
                titles = [cell.strip() for cell in cells]
                continue
            if len(cells) != len(titles):
                raise TableError(
                    f"{place(line)} has {len(cells)} fields, the header {len(titles)}."
                )
            rows.append([cell.strip() for cell in cells])
    if titles is None or not rows:
        raise TableError("the sheet is empty.")
    columns: dict[str, list[str]] = {}
    for title, column in zip(titles, zip(*rows)):
        while title in columns:  # every column is kept, whatever its title
            title += "'"
        columns[title] = list(column)
    return columns


def groups_of(sheet: pd.DataFrame, samples: Sequence[str], column: str | None) -> pd.Series | None:
    """The group of each sample, "" where the sheet has none.

    `column` None = the first that is titled like a group, else the first that divides the samples
    into few. Raises TableError if no sample is in the sheet or the column is not.
    """
    # The sheet may list more samples than the table, in another order.
    present = sheet.reindex(list(samples))
    if not set(samples) & set(sheet.index):
        raise TableError(
            f"No sample is in the sheet: samples are called {shorten(samples[0])} ..., "
            f"the sheet has {shorten(str(sheet.index[0]))} ..."
        )
    if column is None:
        titled = [c for c in sheet.columns if c.lower() in _GROUP_TITLES]
        # One group divides nothing, and a column with more than 40 values is rarely a group.
        few = [c for c in sheet.columns if 2 <= present[c].nunique() <= _MAX_GROUPS]
        column = next(iter([*titled, *few]), None)
    if column is None:
        return None
    if column not in sheet.columns:
        raise TableError(
            f"The sheet has no column {column!r}; it has {', '.join(map(repr, sheet.columns))}."
        )
    return present[column].fillna("")
