"""The centred samples themselves, for what a `CondensedTable` cannot answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.types import Array, Mask

# Entries, and samples at least, on which the scatter of variables is measured.
SEEN_ENTRIES = 1 << 18
SEEN_SAMPLES = 512
# Share of equal values from which a median deviation is no scatter. Derived: it is half the
# distance between the quartiles, which fewer values tied at one end do not reach.
QUARTER = 0.25


class Samples(Protocol):
    """Samples, centred or not, in memory or in blocks; in blocks a call may cost a pass over the
    data."""

    @property
    def centred(self) -> bool:
        """Whether variables have mean 0."""

    def some(self, most: int) -> Array:
        """At most `most` samples, evenly spread; all if there are no more."""

    def participation(self, projection: Array) -> tuple[Array, Array]:
        """Participation ratio of each activity ``G0 @ projection`` over the samples, and the share
        of its power in the largest one."""

    def limited(self, limit: Callable[[Array], Array]) -> tuple[Samples, CondensedTable]:
        """The samples after `limit` (a map of rows), centred again unless they were not, and their
        table."""


@dataclass(frozen=True)
class InMemory:
    """All samples at once: G0 (M, N); share of each variable that was measured, if not all; whether
    they are centred."""

    G0: Array
    observed: Array | None = None
    centred: bool = True

    def some(self, most: int) -> Array:
        return self.G0[spread(len(self.G0), most)]

    def participation(self, projection: Array) -> tuple[Array, Array]:
        power = (self.G0 @ projection) ** 2
        total = np.maximum(power.sum(axis=0), 1e-300)
        return participation_ratio(total, (power**2).sum(axis=0)), power.max(axis=0) / total

    def limited(self, limit: Callable[[Array], Array]) -> tuple[Samples, CondensedTable]:
        G = limit(self.G0)
        if self.centred:
            G -= G.mean(axis=0)  # limits are not symmetric in the data: means have moved
        return InMemory(G, self.observed, self.centred), CondensedTable.of(G, self.observed)


def participation_ratio(power: Array, square: Array) -> Array:
    """Effective number of entries of a vector, from the sums of its squares and fourth powers: 1 if
    one entry has all the power, the length of the vector if all have the same."""
    return np.asarray(power**2 / np.maximum(square, 1e-300))


def spread(n: int, most: int) -> NDArray[np.intp]:
    """At most `most` of the numbers 0 to n - 1, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.intp))


def rows_seen(N: int) -> int:
    """Number of samples that tell the scatter of N variables."""
    return max(SEEN_ENTRIES // N, SEEN_SAMPLES)


def medians(rows: Array, without: NDArray[np.intp] | int = 0) -> Array:
    """(N,) median of each variable, but for the `without` (N,) smallest of its values.

    By sorting the values of each variable side by side: `np.median` takes ten times as long.
    """
    ordered = np.sort(np.ascontiguousarray(rows.T), axis=1)
    N, left = len(ordered), ordered.shape[1] - without
    low, high = without + (left - 1) // 2, without + left // 2
    return np.asarray((ordered[np.arange(N), low] + ordered[np.arange(N), high]) / 2)


def tied(rows: Array) -> Mask:
    """(N,) variables of which more than a quarter of the values are equal: at an end, as zeros of
    counts, or in the middle, as on a scale of few steps. Medians tell nothing of their scatter,
    since what stands out of the equal values is the signal."""
    middle = np.partition(np.ascontiguousarray(rows.T), len(rows) // 2, axis=1)[:, len(rows) // 2]
    # A variable and its negative are the same variable, so both ends count.
    usual = (rows.min(axis=0), rows.max(axis=0), middle)
    return np.asarray(np.max([(rows == value).mean(axis=0) for value in usual], axis=0) > QUARTER)
