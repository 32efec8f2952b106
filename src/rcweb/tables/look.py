"""The part of a table that the input check reads: all of it, or evenly spaced samples."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Side = Literal["samples", "variables"]

MOST_LOOKED_AT = 1 << 22  # 32 MB: checked in a fraction of a second
FEWEST_LOOKED_AT = 64  # checked for any number of variables


@dataclass(frozen=True, eq=False)
class Look:
    """Rows of a table, samples x variables.

    values : (n, N), NaN where not measured
    rows : (n,) their numbers in the table; n_samples : how many samples the table has
    samples, variables : names of all of them, None where there are none
    file_columns : what the columns of the file are, if it was a file
    lost : titles of a DataFrame's columns that are no names for scikit-learn, not being text
    """

    values: NDArray[np.float64]
    rows: NDArray[np.intp]
    n_samples: int
    samples: Sequence[str] | None = None
    variables: Sequence[str] | None = None
    file_columns: Side | None = None
    lost: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether all samples are looked at."""
        return len(self.rows) == self.n_samples

    def sample(self, i: int) -> str:
        """What to call the i-th row looked at: its name, else its number."""
        number = int(self.rows[i])
        return str(number) if self.samples is None else repr(str(self.samples[number]))

    def variable(self, j: int) -> str:
        """What to call the j-th variable: its name, else its number."""
        return str(j) if self.variables is None else repr(str(self.variables[j]))

    def without(self, places: NDArray[np.intp]) -> Look:
        """The look at the other samples, if there are any."""
        if not 0 < len(places) < len(self.rows):
            return self
        kept = np.delete(np.arange(len(self.rows)), places)
        n_samples = self.n_samples - len(places)
        return replace(self, values=self.values[kept], rows=self.rows[kept], n_samples=n_samples)

    def leave_out(self, side: Side, places: NDArray[np.intp]) -> str:
        """Advice on how to leave out these rows (side "samples") or columns."""
        it = "it" if len(places) == 1 else "them"
        names, numbers = self.variables, places
        if side == "samples":
            names, numbers = self.samples, self.rows[places]
        if self.file_columns != side or names is None:
            return f"leave {it} out of the table"
        options = [f"--drop {shlex.quote(str(names[i]))}" for i in numbers]
        return f"leave {it} out with {' '.join(options[:5])}{' ...' if len(options) > 5 else ''}"


def look_at(
    values: Any,
    samples: Sequence[str] | None = None,
    variables: Sequence[str] | None = None,
    file_columns: Side | None = None,
) -> Look:
    """The rows of a table in memory, dense or sparse, that are looked at."""
    M, N = values.shape
    rows = rows_to_look_at(M, N)
    some = values if len(rows) == M else values[rows]
    # Of a sparse table no more than these rows are ever dense.
    dense: Any = sparse.csr_array(some).toarray() if sparse.issparse(some) else some
    dense = np.asarray(dense, dtype=np.float64)
    if np.isinf(dense).any():  # refused later, by name
        dense = np.where(np.isinf(dense), np.nan, dense)
    return Look(dense, rows, M, samples, variables, file_columns)


def rows_to_look_at(M: int, N: int) -> NDArray[np.intp]:
    """Numbers of the rows, evenly spread over the M of a table with N columns."""
    # Evenly spread and not the first rows: files are often sorted by condition.
    n = min(M, max(MOST_LOOKED_AT // max(N, 1), FEWEST_LOOKED_AT))
    return np.unique(np.linspace(0, M - 1, n).astype(np.intp))


def extremes(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest and largest value of each column; infinite, the other way round, without any."""
    seen = np.isfinite(values)
    # Not nanmin, which warns for columns without any value.
    low = np.where(seen, values, np.inf).min(axis=0)
    return low, np.where(seen, values, -np.inf).max(axis=0)
