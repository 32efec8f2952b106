"""Single extreme entries are replaced before the fit, and reported to the user.

One entry of 1e4 in a table of ones outweighs all others in sums of squares: it becomes the first
direction, sets the noise level, and hides the network. A few such entries (a slipped decimal
point, a code for "missing") are replaced here by the median of their variable. Many extreme entries
are a property of the table; `rcweb.engine.outliers` limits them around a fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from rcweb.engine.conventions import ENOUGH_TO_TELL, FEWEST
from rcweb.engine.outliers import TOO_MANY, WILD
from rcweb.engine.samples import QUARTER, medians, rows_seen, spread
from rcweb.engine.types import Array

# Robust standard deviations. Heavy tails reach this far too, but then with many entries, which
# `most` does not accept as single ones. Measured: no bit changes between 10 and 40.
FAR = 20.0
ROUNDED = 1e-9  # scatter relative to the value that may be rounding alone
ENTRIES_SHOWN = 5  # in a message


@dataclass(frozen=True)
class Scatter:
    """Median (N,) and robust standard deviation (N,) of each variable; the latter is infinite, so
    that nothing is replaced, where too many values are equal or vary by rounding alone."""

    centre: Array
    size: Array

    def limits(self, n: float) -> tuple[Array, Array]:
        """`n` standard deviations below and above the median."""
        with np.errstate(over="ignore"):
            return self.centre - n * self.size, self.centre + n * self.size

    def replace(self, rows: Any) -> Any:
        """Rows with the median in place of what is far outside; of sparse rows the stored entries.

        The median and not the limit: an entry moved to the limit is still 20 standard deviations
        out, which for a strongly regulated variable makes a direction of its own."""
        low, high = self.limits(FAR)
        if not sparse.issparse(rows):
            return np.where((rows < low) | (rows > high), self.centre, rows)
        j = rows.indices
        outside = (rows.data < low[j]) | (rows.data > high[j])
        data = np.where(outside, self.centre[j], rows.data)
        return sparse.csr_array((data, j, rows.indptr), shape=rows.shape)


def scatter_of(rows: Array) -> Scatter | None:
    """Of some rows (m, N); None if extreme entries are no exception, or samples are few."""
    if len(rows) < ENOUGH_TO_TELL:
        return None
    tied = (rows == rows.min(axis=0)).mean(axis=0) > QUARTER
    centre = medians(rows)
    distance = np.abs(rows / 2 - centre / 2)  # halves: differences may overflow
    size = 2 * 1.4826 * medians(distance)
    size = np.where(tied | (size <= ROUNDED * np.abs(centre)), np.inf, size)
    n_wild = int((distance > WILD * size).sum())  # twice that, in halves
    return Scatter(centre, size) if n_wild <= most(rows.size) else None


def most(entries: int) -> float:
    """Largest number of extreme entries, in a table of this size, that are exceptions; `FEWEST` are
    in a table of any size."""
    return max(FEWEST, TOO_MANY * entries)


def far_entries(rows: Array, scatter: Scatter, start: int = 0) -> Array:
    """(n, 3): sample (the first row has number `start`), variable and value of entries far
    outside."""
    low, high = scatter.limits(FAR)
    i, j = np.nonzero((rows < low) | (rows > high))
    return np.column_stack([i + start, j, rows[i, j]]).astype(np.float64)


def find_lone(X: Array) -> tuple[Array, Array]:
    """The table (M, N) with single extreme entries replaced; these, (n, 3) as `far_entries`."""
    nothing = np.empty((0, 3))
    scatter = scatter_of(X[spread(len(X), rows_seen(X.shape[1]))])
    if scatter is None:
        return X, nothing
    low, high = scatter.limits(FAR)
    suspect = (X.min(axis=0) < low) | (X.max(axis=0) > high)
    if not suspect.any():
        return X, nothing
    found = far_entries(X, scatter)
    return (scatter.replace(X), found) if len(found) <= most(X.size) else (X, nothing)


def lone_note(
    entries: Array, samples: Sequence[Any] | None, variables: Sequence[Any] | None
) -> tuple[str, ...]:
    """One sentence that names the entries (n, 3), by number where there are no names; nothing if
    there are none."""
    if not len(entries):
        return ()
    shown = [
        f"sample {_name(samples, int(i))}, variable {_name(variables, int(j))} ({value:.3g})"
        for i, j, value in entries[:ENTRIES_SHOWN]
    ]
    more = f" and {len(entries) - ENTRIES_SHOWN} more" if len(entries) > ENTRIES_SHOWN else ""
    what = "1 entry lies" if len(entries) == 1 else f"{len(entries)} entries lie"
    return (
        f"{what} far outside the other values of the variable and did not count in the fit: "
        f"{'; '.join(shown)}{more}. If it is an error, make it NaN (not measured).",
    )


def _name(names: Sequence[Any] | None, number: int) -> str:
    return str(number) if names is None else repr(str(names[number]))
