"""A table of measurements with names, samples x variables, checked once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from rcweb.storage.errors import TableError, shorten
from rcweb.tables.grid import Grid
from rcweb.tables.orientation import Orientation, orient


@dataclass(frozen=True, eq=False)
class Table:
    """Measurements of N variables in M samples, of `rcweb.read_table`.

    values : (M, N) finite or NaN (not measured); sparse if the file was
    samples, variables : unique names
    notes : what was detected while reading, in a few words
    sha256 : checksum of the file
    way : orientation of the file and why, None if the table did not come from a file
    set_aside : columns of text that were left out
    logged : whether log2(x + 1) was taken of the values in the file
    """

    values: NDArray[np.float64] | sparse.csr_matrix
    samples: tuple[str, ...]
    variables: tuple[str, ...]
    notes: tuple[str, ...] = ()
    sha256: str = ""
    way: Orientation | None = None
    set_aside: tuple[str, ...] = ()
    logged: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of samples and variables, (M, N)."""
        return len(self.samples), len(self.variables)

    @property
    def n_missing(self) -> int:
        """Number of values that were not measured."""
        values: Any = self.values
        return int(np.isnan(values.data if sparse.issparse(values) else values).sum())

    def log(self) -> Table:
        """The table with log2(x + 1) of every value; zeros of a sparse table stay zeros.

        Raises `TableError` for negative values.

        Examples
        --------
        >>> import numpy as np
        >>> from rcweb.tables import Table
        >>> Table(np.array([[0.0, 3.0]]), ("s1",), ("lexA", "recA")).log().values
        array([[0., 2.]])
        """
        values: Any = self.values
        stored = values.data if sparse.issparse(values) else values
        # initial=0: a sparse table may store no value at all.
        if (low := np.nanmin(stored, initial=0.0)) < 0:
            raise TableError(f"the smallest value, {low:g}, has no logarithm; leave out --log.")
        logs = values.log1p() / np.log(2) if sparse.issparse(values) else np.log2(values + 1)
        return replace(self, values=logs, logged=True)

    def frame(self, *, dense: bool = False) -> pd.DataFrame:
        """The table as a DataFrame, samples x variables.

        dense : make a sparse table dense; it has sparse columns otherwise

        Examples
        --------
        >>> import numpy as np
        >>> from rcweb.tables import Table
        >>> Table(np.array([[0.0, 3.0]]), ("s1",), ("lexA", "recA")).frame()
            lexA  recA
        s1   0.0   3.0
        """
        index, columns = list(self.samples), list(self.variables)
        values: Any = self.values
        if sparse.issparse(values) and not dense:
            accessor: Any = pd.DataFrame.sparse
            return accessor.from_spmatrix(values, index=index, columns=columns)
        values = values.toarray() if sparse.issparse(values) else values
        return pd.DataFrame(values, index=index, columns=columns)


def to_table(
    grid: Grid,
    *,
    transpose: bool | None,
    samples: Collection[str] = (),
    variables: Collection[str] = (),
    keep_empty: bool = False,
    sha256: str = "",
) -> Table:
    """Orient the grid as samples x variables, and raise for tables that cannot be fitted.

    `transpose`: True = rows are variables, False = rows are samples, None = look (see `orient`).
    """
    _refuse_repeats(grid.rows, "row", grid.row_place)
    _refuse_repeats(grid.columns, "column", grid.column_place)
    if not keep_empty:
        _refuse_empty(grid.values, 0, "column", grid.columns, grid.column_place)
        _refuse_empty(grid.values, 1, "row", grid.rows, grid.row_place)
    # Infinite values are never measurements; as missing ones they would pass silently.
    _refuse_infinite(grid)
    # The user decides first, then the file type, then the names.
    if transpose is not None:
        way = Orientation(not transpose, "as requested")
    elif grid.rows_are_samples is not None:
        way = Orientation(grid.rows_are_samples, "the file type defines it")
    else:
        way = orient(grid.rows, grid.columns, grid.corner, samples=samples, variables=variables)
    n_rows, n_columns = grid.values.shape
    values: Any = grid.values if way.rows_are_samples else grid.values.T
    # One memory layout for every file format: another order of sums changes the last bits.
    values = sparse.csr_matrix(values) if sparse.issparse(values) else np.ascontiguousarray(values)
    rows = grid.rows or tuple(
        f"{'sample' if way.rows_are_samples else 'x'}{i}" for i in range(n_rows)
    )
    columns = grid.columns or tuple(
        f"{'x' if way.rows_are_samples else 'sample'}{j}" for j in range(n_columns)
    )
    if not way.rows_are_samples:
        rows, columns = columns, rows
    return Table(values, rows, columns, grid.notes, sha256, way, grid.set_aside)


def _refuse_repeats(names: Sequence[str] | None, side: str, where: Callable[[int], str]) -> None:
    first: dict[str, int] = {}
    for i, name in enumerate(names or ()):
        # A nameless row could not be referred to in any result.
        if not name:
            raise TableError(f"{where(i)}: this {side} has no name.")
        if name in first:
            raise TableError(
                f"{where(i)}: the name {shorten(name)} was used before, {where(first[name])}; "
                "names must be unique."
            )
        first[name] = i


def _refuse_infinite(grid: Grid) -> None:
    values: Any = grid.values
    if sparse.issparse(values):
        values = values.tocoo()
        bad = np.isinf(values.data)
        places = np.column_stack([values.row[bad], values.col[bad]])
    else:
        places = np.argwhere(np.isinf(values))
    if len(places):
        i, j = map(int, places[0])
        raise TableError(
            f"{grid.row_place(i)}, {grid.column_place(j)}: the value is infinite; "
            "leave it empty if it was not measured."
        )


def _refuse_empty(
    values: NDArray[np.float64] | sparse.csr_matrix,
    axis: int,
    side: str,
    names: Sequence[str] | None,
    where: Callable[[int], str],
) -> None:
    """A row or column without any value says nothing and cannot be imputed."""
    if sparse.issparse(values):
        return
    empty = np.flatnonzero(np.isnan(values).all(axis=axis))
    if len(empty):
        i = int(empty[0])
        name = f" ({shorten(names[i])})" if names and side == "row" else ""
        more = f" So are {len(empty) - 1} more." if len(empty) > 1 else ""
        raise TableError(f"{where(i)}{name}: this {side} is empty.{more} Leave it out.")
