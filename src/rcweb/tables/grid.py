"""Parse rows of cells: find the header, the row names and the numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rcweb.storage.errors import TableError, place, shorten
from rcweb.storage.limits import check_fits

Row = tuple[int, list[str]]

_PER_ROW = 256  # bytes of its name, its number and the array around it
_CELLS_LOOKED_AT = 200_000  # cells that tell which columns are text, in 20 to 1000 lines
_COMMA_DECIMAL = re.compile(r"\s*-?\d+,\d+\s*")
# 1,234.5 or 1.234,5 or 1 234 or 1'234: groups of three digits between separators.
_THOUSANDS = re.compile(r"\s*-?\d{1,3}([,.'\u2019 \u00a0\u202f])\d{3}(\1\d{3})*([.,]\d+)?\s*")
_LINES_ABOVE = 20  # lines that may stand above a table, such as its title
_ASK_EVERY = 1 << 28  # bytes of numbers after which the free memory is looked at again
MISSING = frozenset(["", "na", "n/a", "#n/a", "nan", "null", "none", "-", ".", "?"])
# Titles that mark a column of names.
_TITLE = re.compile(
    r"(?:^|[\W_])(?:ids?|names?|index|genes?|probes?|probesets?|symbols?|locus(?:_tag)?|orf|entrez"
    r"|ensembl|proteins?|peptides?|transcripts?|features?|variables?|samples?|cells?|barcodes?"
    r"|conditions?|experiments?|arrays?|patients?|subjects?|unnamed: 0)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Grid:
    """The rectangle of numbers in a file, rows x columns, NaN where missing.

    rows, columns : names, None where the file has none
    corner : title of the column of row names
    row_place, column_place : text that locates a row or column in the file
    notes : what was detected, in a few words
    set_aside : titles, or places, of columns of text that were left out
    rows_are_samples : None unless the format itself defines the orientation
    """

    values: NDArray[np.float64] | sparse.csr_matrix
    rows: tuple[str, ...] | None
    columns: tuple[str, ...] | None
    corner: str = ""
    row_place: Callable[[int], str] = field(default=lambda i: f"row {i + 1}")
    column_place: Callable[[int], str] = field(default=lambda j: f"column {j + 1}")
    notes: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()
    rows_are_samples: bool | None = None


def is_missing(cell: str) -> bool:
    """Whether a cell means "not measured"."""
    return cell.strip().lower() in MISSING


def is_number(cell: str) -> bool:
    """Whether a cell holds a number. Python's own "1_000" is taken for a name."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def read_grid(
    rows: Iterable[Row],
    *,
    header: bool | None = None,
    index: bool | None = None,
    drop: Sequence[str] = (),
) -> Grid:
    """Numbers and names from rows of ``(line number, cells)``.

    `header`, `index`: whether there is a line and a column of names; None = look. `drop`: titles of
    columns to leave out.
    """
    rows, above = _without_titles(iter(rows)) if header is not False else (iter(rows), ())
    layout, body = _layout(rows, header, index, drop)
    first: list[str] = []
    numbers: list[NDArray[np.float64]] = []
    lines: list[int] = []
    room = _Room()
    for line, cells in body:
        # A ragged row usually has a stray delimiter; padding would shift values silently.
        if len(cells) != layout.width:
            raise TableError(
                f"{place(line)} has {len(cells)} fields where {layout.width} are expected "
                f"(as in line {layout.line})."
            )
        # Most files drop nothing; skip the copy.
        if layout.dropped:
            cells = [cells[i] for i in layout.kept]
        first.append(cells[0])
        numbers.append(_numbers(cells[1:], line, layout))
        room.take(numbers[-1])
        lines.append(line)
    if not numbers:
        raise TableError("The table has no line of numbers.")
    return _assemble(layout, first, numbers, lines, index, above)


class _Room:
    """Counts the memory of the rows, and stops reading a table that would not fit."""

    def __init__(self) -> None:
        self._taken, self._asked = 0, _ASK_EVERY

    def take(self, row: NDArray[np.float64]) -> None:
        self._taken += row.nbytes + _PER_ROW
        if self._taken >= self._asked:
            # The rows are stacked at the end: as much again must be free.
            check_fits(self._taken, "the table, as far as it was read,")
            self._asked = self._taken + _ASK_EVERY


@dataclass(frozen=True)
class _Layout:
    """The layout found in the first lines. `kept`: positions in the file of the columns in use."""

    line: int
    width: int
    titles: list[str] | None
    names_first: bool
    kept: list[int]
    dropped: bool
    set_aside: tuple[str, ...] = ()

    def column(self, k: int) -> str:
        """The place of the k-th kept column in the file."""
        return place(column=self.kept[k] + 1, name=self.titles[k] if self.titles else None)


def _without_titles(rows: Iterator[Row]) -> tuple[Iterator[Row], tuple[Row, ...]]:
    """The rows from the line of names on, and the lines above it: titles, one filled cell each.

    Such a line cannot be part of a table of three columns or more whose names stand below it.
    """
    above: list[Row] = []
    for row in islice(rows, _LINES_ABOVE):
        if sum(bool(cell.strip()) for cell in row[1]) > 1:
            if len(row[1]) > 2 and any(map(_is_word, row[1][1:])):
                return chain([row], rows), tuple(above)
            return chain(above, [row], rows), ()
        above.append(row)
    return chain(above, rows), ()


def _layout(
    rows: Iterator[Row], header: bool | None, index: bool | None, drop: Sequence[str]
) -> tuple[_Layout, Iterator[Row]]:
    """Find the layout from the first lines; return it and all lines of numbers."""
    top = next(rows, None)
    if top is None:
        raise TableError("The file is empty.")
    second = next(rows, None)
    line, cells = top
    # Two lines are needed: a header is recognised by comparison with the line below it.
    if header is None:
        header = _is_header(cells, second[1] if second else None)
    width = len(second[1]) if second else len(cells)
    names_first = False
    titles: list[str] | None = None
    if header:
        titles = [cell.strip() for cell in cells]
        if len(titles) == width - 1:  # as R's write.table leaves it: no title over the names
            titles = ["", *titles]
            names_first = True
        elif len(titles) != width and second:
            raise TableError(
                f"{place(second[0])} has {width} fields, the header (line {line}) {len(cells)}."
            )
        names_first |= not titles[0] or bool(_TITLE.search(titles[0]))
    unknown = [name for name in drop if titles is None or name not in titles]
    if unknown:
        raise TableError(f"There is no column titled {shorten(unknown[0])} to drop.")
    kept = [i for i in range(width) if titles is None or titles[i] not in drop]
    if not kept:
        raise TableError("No column is left.")
    head = [top, *([second] if second else [])][int(header) :]
    # A bounded look: a large file is not read twice to find columns of text.
    head += islice(rows, min(max(_CELLS_LOOKED_AT // width, 20), 1000) - len(head))
    text = _text_columns([row for _, row in head if len(row) == width], kept)
    set_aside = tuple(titles[i] if titles else place(column=i + 1) for i in sorted(text))
    kept = [i for i in kept if i not in text]
    if titles is not None:
        titles = [titles[i] for i in kept]
    named = names_first and index is not False
    layout = _Layout(line, width, titles, named, kept, len(kept) < width, set_aside)
    return layout, chain(head, rows)


def _text_columns(rows: list[list[str]], kept: list[int]) -> set[int]:
    """Columns of text beside columns of numbers.

    Not the first column, which may hold names (decided once all of it is read). None if all are
    text: then the error about the first bad cell is more useful.
    """
    suspects: set[int] = set()
    for row in rows:
        try:
            # Fast path: a row of numbers has no text.
            list(map(float, row[1:]))
        except ValueError:
            suspects.update(i for i in kept[1:] if i not in suspects and _is_word(row[i]))
    text = {i for i in suspects if _is_text([row[i] for row in rows])}
    return text if len(text) < len(kept) - 1 else set()


def _is_text(cells: list[str]) -> bool:
    """Whether most non-empty cells, and more than one, hold words. A single bad cell in a column of
    numbers is an error instead."""
    words = sum(map(_is_word, cells))
    return words > 1 and 2 * words > sum(not is_missing(cell) for cell in cells)


def _is_word(cell: str) -> bool:
    """Decimals with a comma and separators of thousands are mistakes, not words."""
    return not (is_number(cell) or is_missing(cell) or _hint(cell))


def _is_header(cells: list[str], second: list[str] | None) -> bool:
    """A line is a header if a field after the first is text, or the first is a usual title or
    empty."""
    if second is not None and len(second) == len(cells) + 1:
        return True
    rest = cells[1:] if len(cells) > 1 else cells
    if not all(is_number(cell) or is_missing(cell) for cell in rest):
        return True
    return len(cells) > 1 and (not cells[0].strip() or bool(_TITLE.search(cells[0].strip())))


def _numbers(cells: list[str], line: int, layout: _Layout, offset: int = 1) -> NDArray[np.float64]:
    """(n,) values of the cells; `offset` is the place of the first among the kept columns."""
    try:
        # Fast path; only rows with missing or bad cells are parsed cell by cell.
        values = list(map(float, cells))
    except ValueError:
        values = [_number(cell, line, layout, k + offset) for k, cell in enumerate(cells)]
    if "_" in "".join(cells):  # Python would read 1_000 as a number
        values = [_number(cell, line, layout, k + offset) for k, cell in enumerate(cells)]
    return np.array(values, dtype=np.float64)


def _number(cell: str, line: int, layout: _Layout, k: int) -> float:
    if is_missing(cell):
        return np.nan
    if not is_number(cell):
        where = f"{place(line)}, {layout.column(k)}"
        text = "Empty a cell that was not measured; leave a column of text out with --drop TITLE."
        raise TableError(f"{where}: {shorten(cell)} is not a number. {_hint(cell) or text}")
    return float(cell)


def _hint(cell: str) -> str:
    """How to write a number that only a reader takes for one; empty for anything else."""
    thousands = _THOUSANDS.fullmatch(cell)
    if _COMMA_DECIMAL.fullmatch(cell):  # 1,234 may be either
        also = ", and no separator of thousands" if thousands else ""
        return f"Write decimals with a point{also}."
    return "Write it without a separator of thousands, decimals with a point." if thousands else ""


def _assemble(
    layout: _Layout,
    first: list[str],
    numbers: list[NDArray[np.float64]],
    lines: list[int],
    index: bool | None,
    above: tuple[Row, ...],
) -> Grid:
    """Decide whether the first column holds names, now that all of it is read."""
    values = np.vstack(numbers)
    named = layout.names_first if index is None else index
    # No title decided: look at the cells.
    if index is None and not named:
        named = _holds_names(first)
    names: tuple[str, ...] | None = None
    if named:
        names = tuple(cell.strip() for cell in first)
    else:
        column = [_numbers([cell], line, layout, 0) for line, cell in zip(lines, first)]
        values = np.hstack([np.vstack(column), values])
    if values.shape[1] == 0:
        raise TableError("The table has names but no column of numbers.")
    # Column numbers in messages count the column of names.
    shift = 1 if named else 0
    titles = tuple(layout.titles[shift:]) if layout.titles is not None else None
    title = layout.titles[0] if layout.titles is not None and named else ""
    return Grid(
        values=values,
        rows=names,
        columns=titles,
        corner=title,
        row_place=lambda i: place(lines[i]),
        column_place=lambda j: layout.column(j + shift),
        notes=(
            *(f"{place(line)} is a title, left out: {_only(cells)}" for line, cells in above),
            f"first line: {'names' if layout.titles is not None else 'numbers'}; "
            f"first column: {'names' if named else 'numbers'}",
        ),
        set_aside=layout.set_aside,
    )


def _only(cells: list[str]) -> str:
    return shorten(next(cell.strip() for cell in cells if cell.strip()))


def _holds_names(cells: list[str]) -> bool:
    """Mostly text. One bad cell in a column of numbers must not turn it into names."""
    text = sum(not (is_number(cell) or is_missing(cell)) for cell in cells)
    return 2 * text > len(cells)
