"""Sheets of Excel files. An .xlsx is a zip of XML: what it unpacks to is checked before it is read.

Read row by row and not by pandas, which fills the rectangle around all cells: two cells in opposite
corners of a sheet would take 130 GB.
"""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rcweb.storage.errors import TableError, place, reason
from rcweb.storage.limits import check_fits
from rcweb.tables.grid import Grid, Row, read_grid

_PER_BYTE = 8  # memory that a byte of a sheet's XML takes as Python objects, at most
_PER_CELL = 16  # and an empty cell: a place in a list, and in the numbers


def read_excel(
    path: Path,
    *,
    sheet: str | None = None,
    header: bool | None = None,
    index: bool | None = None,
    drop: Sequence[str] = (),
) -> Grid:
    """One sheet of an Excel file (default: the first), parsed like a text table."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ImportError(
            "Reading Excel files needs openpyxl: pip install 'rcweb[tables]'"
        ) from None
    _check_unpacked(path)
    with path.open("rb") as file:
        try:
            # data_only: values of formulas; keep_links: no other files are opened.
            book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
        except MemoryError:
            raise
        # openpyxl raises many kinds of errors on damaged XML.
        except Exception as error:
            raise TableError(f"{path.name} cannot be read as Excel: {reason(error)}.") from None
        rows = _rectangle(_rows(_chosen(book, sheet), path))
        return read_grid(rows, header=header, index=index, drop=drop)


def _check_unpacked(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except Exception as error:
        raise TableError(
            f"{path.name} cannot be read as Excel: {reason(error)}; .xls files are to be saved "
            "as .xlsx first."
        ) from None
    check_fits(_PER_BYTE * size, "the sheets, unpacked,")


def _chosen(book: Any, name: str | None) -> Any:
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    if not sheets:
        raise TableError("The file has no sheet of cells.")
    if name is not None and name not in sheets:
        raise TableError(f"There is no sheet {name!r}; sheets: {', '.join(map(repr, sheets))}.")
    return sheets[next(iter(sheets)) if name is None else name]


def _rows(sheet: Any, path: Path) -> Iterator[Row]:
    """Rows that are not empty, without their empty end."""
    # The dimensions stored in the file may be wrong.
    if hasattr(sheet, "reset_dimensions"):
        sheet.reset_dimensions()
    cells = sheet.rows
    number = 0
    try:
        for number, row in enumerate(cells, start=1):
            texts = [_text(cell, number, column) for column, cell in enumerate(row, start=1)]
            # Formatted but empty cells at the end of a row are not data.
            while texts and not texts[-1].strip():
                texts.pop()
            if texts:
                yield number, texts
    except (MemoryError, TableError):
        raise
    except Exception as error:
        raise TableError(
            f"{path.name} cannot be read as Excel, after line {number}: {reason(error)}."
        ) from None
    finally:
        cells.close()  # else the file stays open after an error


def _text(cell: Any, line: int, column: int) -> str:
    value = cell.value
    if isinstance(value, datetime.date | datetime.time):
        raise TableError(
            f"{place(line, column)}: Excel holds the date {value} here; names such as "
            "MARCH1 turn into dates when typed. Restore it and format the column as text."
        )
    if value is None or cell.data_type == "e":  # a formula that failed, such as #DIV/0!
        return ""
    if isinstance(value, float) and value.is_integer():  # 7 is stored as 7.0 by many programs
        return str(int(value))
    return str(value)


def _rectangle(rows: Iterator[Row]) -> Iterator[Row]:
    """The same rows, filled up with empty cells to equal width."""
    kept = list(rows)
    width = max((len(cells) for _, cells in kept), default=0)
    check_fits(_PER_CELL * width * len(kept), "the sheet")
    for number, cells in kept:
        yield number, cells + [""] * (width - len(cells))
