"""Comma-, tab- or semicolon-separated text."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import IO

from rcweb.storage.errors import TableError, place
from rcweb.tables.grid import Grid, Row, read_grid
from rcweb.tables.streams import text_lines

# More variables than any instrument has; a list of them still fits in a few GB.
MAX_FIELDS = 20_000_000
_DELIMITERS = "\t,;"
_SPELLED = {"\\t": "\t", "tab": "\t", "space": " "}  # as a shell makes people write them


def read_text(
    stream: IO[bytes],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    index: bool | None = None,
    drop: Sequence[str] = (),
) -> Grid:
    """A grid from text; `delimiter` None = the most frequent candidate in the first line."""
    return read_grid(text_rows(stream, delimiter, encoding), header=header, index=index, drop=drop)


def text_rows(
    stream: IO[bytes], delimiter: str | None = None, encoding: str | None = None
) -> Iterator[Row]:
    """Line number and cells of every line that is not blank, after leading "#" comments."""
    lines = text_lines(stream, encoding)
    skipped = 0
    start: list[str] = []
    for line in lines:
        if line.strip() and not line.startswith("#"):
            start = [line]
            break
        skipped += 1
    if delimiter is None:
        delimiter = max(_DELIMITERS, key=start[0].count) if start else ","
    delimiter = _SPELLED.get(delimiter, delimiter)
    if len(delimiter) != 1:
        raise TableError(f"The delimiter must be one character, not {delimiter!r}.")
    counted = _Counted(chain(start, lines), delimiter)
    try:
        # strict: a stray quote is an error with its line, not a silent merge of cells.
        reader = csv.reader(counted, delimiter=delimiter, strict=True)
    except (TypeError, ValueError):
        raise TableError(f"{delimiter!r} cannot be a delimiter.") from None
    try:
        for cells in reader:
            # A complete row arrived; start counting again.
            counted.fields = 0
            if any(map(str.strip, cells)):
                yield reader.line_num + skipped, cells
    except csv.Error as error:
        raise TableError(f"{place(reader.line_num + skipped)}: {error}.") from None


class _Counted:
    """Lines, with a count of the fields since the last complete row.

    A quote that is never closed would turn the whole file into one row.
    """

    def __init__(self, lines: Iterator[str], delimiter: str) -> None:
        self.lines, self.delimiter, self.fields = lines, delimiter, 0

    def __iter__(self) -> Iterator[str]:
        for line in self.lines:
            self.fields += line.count(self.delimiter) + 1
            if self.fields > MAX_FIELDS:
                raise TableError(
                    f"a row has more than {MAX_FIELDS:,} fields; is a quote left open, or the "
                    f"delimiter not {self.delimiter!r}?"
                )
            yield line
