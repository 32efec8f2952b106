"""Refuse what no model can fill: samples and variables with no measurements, or too few."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.conventions import FEWEST
from rcweb.engine.types import Array, Mask


def check_missing(X: Array, names: Sequence[str] | None = None) -> None:
    """Raise ValueError if a row or column of `X` (M, N) has infinite values, or too few to be
    filled. `names` (N,) of the variables, if known; rows are named by number.
    """
    # Infinities first: they are present in the table, so the counts below would accept them.
    refuse_infinite(np.asarray(np.isinf(X).any(axis=0)), names)
    hole = np.isnan(X)
    refuse_empty_samples(hole)
    count = len(X) - hole.sum(axis=0)
    empty = np.flatnonzero(count == 0)
    if len(empty):
        raise ValueError(
            f"{_count(empty, 'variable')} without any value: {some_of(empty, names)}; "
            "leave them out."
        )
    # Complete variables of a table with two samples are fine: only those with holes need more.
    few = np.flatnonzero((count < FEWEST) & hole.any(axis=0))
    if len(few):
        raise ValueError(
            f"{_count(few, 'variable')} measured in fewer than {FEWEST} samples: "
            f"{some_of(few, names)}; leave them out."
        )


def refuse_infinite(infinite: Mask, names: Sequence[str] | None = None) -> None:
    """Raise ValueError naming the variables for which `infinite` (N,) is True."""
    found = np.flatnonzero(infinite)
    if len(found):
        raise ValueError(
            f"{_count(found, 'variable')} with infinite values: {some_of(found, names)}; "
            "NaN means not measured."
        )


def refuse_holes(hole: Mask, names: Sequence[str] | None = None) -> None:
    """Raise ValueError naming the variables for which `hole` (N,) is True: they have NaN in a table
    that is read in blocks, of which no model could fill them."""
    found = np.flatnonzero(hole)
    if len(found):
        raise ValueError(
            f"{_count(found, 'variable')} with missing values (NaN): {some_of(found, names)}. They "
            "are filled only in dense tables in memory: load the table into an array, or leave out "
            "these variables or the samples in which they were not measured."
        )


def refuse_empty_samples(hole: Mask, numbers: NDArray[np.intp] | None = None) -> None:
    """Raise ValueError naming the rows of `hole` (M, N) that are all True.

    `numbers` (M,) of the samples in their table, if that is not where they are here.
    """
    rows = np.flatnonzero(hole.all(axis=1))
    rows = rows if numbers is None else numbers[rows]
    if len(rows):
        raise ValueError(
            f"{_count(rows, 'sample')} without any value: {some_of(rows)}; leave them out."
        )


def some_of(
    numbers: NDArray[np.intp], names: Sequence[str] | None = None, at_most: int = 10
) -> str:
    """The first few of the numbers, or of the names behind them, and how many more there are."""
    shown = [str(i) if names is None else repr(str(names[i])) for i in numbers[:at_most]]
    more = f" and {len(numbers) - at_most} more" if len(numbers) > at_most else ""
    return ", ".join(shown) + more


def _count(numbers: NDArray[np.intp], what: str) -> str:
    return f"{len(numbers)} {what}{'s' if len(numbers) > 1 else ''}"
