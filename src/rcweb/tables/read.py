"""From a path to a table: the file type is known by its extension, the layout by its content."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rcweb.storage.checksum import checksum
from rcweb.storage.errors import TableError
from rcweb.tables import binary
from rcweb.tables.excel import read_excel
from rcweb.tables.grid import Grid
from rcweb.tables.streams import open_unpacked
from rcweb.tables.table import Table, to_table
from rcweb.tables.text import read_text

_COMPRESSED = (".gz", ".zst")


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading a file; None = detect.

    transpose : rows are variables
    header, index : there is a line, a column, of names
    delimiter, encoding : of text
    drop : titles of columns to leave out
    layer : of an .h5ad file
    sheet : of an Excel file
    log : take log2(x + 1) of every value

    Examples
    --------
    >>> import pandas as pd
    >>> from rcweb import read_table
    >>> from rcweb.tables import ReadOptions
    >>> counts = pd.DataFrame({"s1": [0, 3], "s2": [1, 7]}, index=["lexA", "recA"])
    >>> counts.to_csv("counts.csv")
    >>> read_table("counts.csv", ReadOptions(transpose=True, log=True)).frame()
        lexA  recA
    s1   0.0   2.0
    s2   1.0   3.0
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

    path : of a .csv, .tsv, .tab or .txt file (plain, or with .gz or .zst), .xlsx, .xlsm, .xls,
        .parquet, .npy, .npz or .h5ad
    options : `rcweb.tables.ReadOptions`; None: everything is detected
    samples, variables : names known from elsewhere, which decide the orientation
    keep_empty : allow rows and columns without any value

    Returns a `rcweb.tables.Table`; ``.frame()`` is a DataFrame for ``fit``. Raises
    `rcweb.tables.TableError`, with the line and column, for a file that is not a table.

    Examples
    --------
    >>> import pandas as pd
    >>> from rcweb import read_table
    >>> genes = [f"gene{n}" for n in range(5)]
    >>> pd.DataFrame(0.5, index=["sample1", "sample2"], columns=genes).to_csv("table.csv")
    >>> table = read_table("table.csv")
    >>> table.shape, table.samples
    ((2, 5), ('sample1', 'sample2'))
    """
    path, options = Path(path), options or ReadOptions()
    if not path.is_file():
        raise TableError(f"There is no file {str(path)!r}.")
    try:
        with unchanged(path):
            grid = _read_grid(path, options)
            # Inside the guard: checksum and table must be of the same bytes.
            sha256 = checksum(path)
        table = to_table(
            grid,
            transpose=options.transpose,
            samples=samples,
            variables=variables,
            keep_empty=keep_empty,
            sha256=sha256,
        )
        table = table.log() if options.log else table
    except TableError as error:
        # The message names the file already.
        if path.name in str(error):
            raise
        raise TableError(f"{path.name}: {error}") from None
    return table


@contextmanager
def unchanged(path: Path) -> Iterator[None]:
    """Raise `TableError` if the file changes during the block: the table could be a mix of two
    versions, or not the one of the checksum."""
    before = _state(path)
    yield
    if _state(path) != before:
        raise TableError("the file changed while it was read; wait until it is complete.")


def _state(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except FileNotFoundError:
        raise TableError("the file vanished while it was read.") from None
    # The inode too: an atomic replacement may keep size and time.
    return found.st_ino, found.st_size, found.st_mtime_ns


def ending(path: Path) -> str:
    """The extension in lower case, without that of a compression: ``.tsv`` for ``a.tsv.gz``."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    # The type is that of the content: a.tsv.gz is a .tsv.
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _read_grid(path: Path, options: ReadOptions) -> Grid:
    kind = ending(path)
    if kind not in READERS:
        raise TableError(
            f"unknown file type {kind or '(none)'!r}; use one of {', '.join(READERS)} "
            f"(text also with {' or '.join(_COMPRESSED)})."
        )
    return READERS[kind](path, options)


def _text(path: Path, options: ReadOptions) -> Grid:
    with open_unpacked(path) as stream:
        return read_text(
            stream,
            delimiter=options.delimiter,
            encoding=options.encoding,
            header=options.header,
            index=options.index,
            drop=options.drop,
        )


def _excel(path: Path, options: ReadOptions) -> Grid:
    return read_excel(
        path, sheet=options.sheet, header=options.header, index=options.index, drop=options.drop
    )


# How each file type is read. A new type is a function to a `Grid` and a line here.
READERS: dict[str, Callable[[Path, ReadOptions], Grid]] = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), _text),
    **dict.fromkeys((".xlsx", ".xlsm", ".xls"), _excel),
    ".parquet": lambda path, options: binary.read_parquet(path, options.drop),
    ".npy": lambda path, options: binary.read_npy(path),
    ".npz": lambda path, options: binary.read_npz(path),
    ".h5ad": lambda path, options: binary.read_h5ad(path, options.layer),
}
