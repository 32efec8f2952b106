"""From a path to a table: the ending says the format, the content says the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rcweb.storage.checksum import checksum
from rcweb.storage.errors import TableError
from rcweb.tables import binary
from rcweb.tables.excel import read_excel
from rcweb.tables.grid import Grid
from rcweb.tables.streams import open_unpacked
from rcweb.tables.table import Table, to_table
from rcweb.tables.text import read_text

_TEXT = (".csv", ".tsv", ".tab", ".txt")
_PACKED = (".gz", ".zst")
_EXCEL = (".xlsx", ".xlsm", ".xls")
FORMATS = (*_TEXT, *(f".csv{p}" for p in _PACKED), *(f".tsv{p}" for p in _PACKED)) + (
    ".parquet",
    ".npz",
    ".npy",
    ".xlsx",
    ".h5ad",
)


@dataclass(frozen=True)
class ReadOptions:
    """What a user may have to say about a file; None = look.

    transpose : rows are variables
    header, index : there is a line, a column, of names
    delimiter, encoding : of text
    drop : titles of columns to leave out
    layer : of an .h5ad file; sheet : of an Excel file
    log : take log2(x + 1) of every value
    """

    transpose: bool | None = None
    header: bool | None = None
    index: bool | None = None
    delimiter: str | None = None
    encoding: str | None = None
    drop: Sequence[str] = ()
    layer: str | None = None
    sheet: str | None = None
    log: bool = False


def read_table(
    path: str | Path,
    options: ReadOptions | None = None,
    *,
    samples: Collection[str] = (),
    variables: Collection[str] = (),
    keep_empty: bool = False,
) -> Table:
    """Read a table of measurements as samples x variables.

    `samples`, `variables`: names known from elsewhere, which settle the orientation.
    `keep_empty`: rows and columns without any value are allowed. Raises `TableError`, with the
    line and column, for whatever cannot be a table.
    """
    path, options = Path(path), options or ReadOptions()
    if not path.is_file():
        raise TableError(f"There is no file {str(path)!r}.")
    try:
        with unchanged(path):
            grid = _read_grid(path, options)
            sha256 = checksum(path)
        table = to_table(
            grid,
            transpose=_transpose(path, options),
            samples=samples,
            variables=variables,
            keep_empty=keep_empty,
            sha256=sha256,
        )
        table = table.log() if options.log else table
    except TableError as error:
        if path.name in str(error):
            raise
        raise TableError(f"{path.name}: {error}") from None
    return table


@contextmanager
def unchanged(path: Path) -> Iterator[None]:
    """Raise `TableError` if the file is not the same one after the block as before: what was read
    would be half of one table and half of another, or not what the checksum is of."""
    before = _state(path)
    yield
    if _state(path) != before:
        raise TableError("the file changed while it was read; wait until it is complete.")


def _state(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except FileNotFoundError:
        raise TableError("the file vanished while it was read.") from None
    return found.st_ino, found.st_size, found.st_mtime_ns


def ending(path: Path) -> str:
    """The ending that says the format: that of ``a.tsv.gz`` is ``.tsv``; lower case."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _transpose(path: Path, options: ReadOptions) -> bool | None:
    """AnnData defines its own orientation; everywhere else it is said or looked for."""
    if options.transpose is None and ending(path) == ".h5ad":
        return False
    return options.transpose


def _read_grid(path: Path, options: ReadOptions) -> Grid:
    kind = ending(path)
    if kind == ".parquet":
        return binary.read_parquet(path, options.drop)
    if kind == ".npy":
        return binary.read_npy(path)
    if kind == ".npz":
        return binary.read_npz(path)
    if kind == ".h5ad":
        return binary.read_h5ad(path, options.layer)
    names: dict[str, Any] = {"header": options.header, "index": options.index, "drop": options.drop}
    if kind in _EXCEL:
        return read_excel(path, sheet=options.sheet, **names)
    if kind not in _TEXT:
        raise TableError(
            f"the ending {kind or '(none)'!r} says no format; known are {', '.join(FORMATS)}."
        )
    with open_unpacked(path) as stream:
        return read_text(stream, delimiter=options.delimiter, encoding=options.encoding, **names)
