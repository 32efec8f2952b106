"""Values at a limit of detection: all that is known of them is that they lie at it or beyond."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rcweb.tables.finding import Finding
from rcweb.tables.look import Look, extremes

Values = NDArray[np.float64]

# Share of the values that, lying at a limit, change what is found. Conventional: a tenth.
MANY_AT_LIMITS = 0.1
FEWEST_TIES = 3  # equal smallest values of a variable that are hardly chance


def find_limits(values: Values) -> tuple[Values, Values] | None:
    """Lower and upper limit of each column, (N,) each, infinite where there is none; None if at
    most a tenth of the values lie at limits.

    A limit is the smallest or largest value of a column if it occurs at least three times, and the
    next one hardly ever. Not zero, since amounts that are zero are measured, nor whole numbers.
    """
    low, high = extremes(values)
    below = _ties(values, low) & (low < high)
    above = _ties(values, high) & (low < high)
    few = below | above
    if not few.any() or _whole(values):
        return None
    part = values[:, few]
    below[few] &= _stands_out(part, low[few])
    above[few] &= _stands_out(-part, -high[few])
    lower, upper = np.where(below, low, -np.inf), np.where(above, high, np.inf)
    beyond = int(((values <= lower) | (values >= upper)).sum())
    if beyond <= MANY_AT_LIMITS * np.isfinite(values).sum():
        return None
    return lower, upper


def values_at_limits(look: Look) -> list[Finding]:
    """A warning where many values lie at limits."""
    limits = find_limits(look.values)
    if limits is None:
        return []
    lower, upper = limits
    share = ((look.values <= lower) | (look.values >= upper)).sum() / np.isfinite(look.values).sum()
    cut = np.concatenate([lower[np.isfinite(lower)], upper[np.isfinite(upper)]])
    which = {(True, False): "smallest", (False, True): "largest"}.get(
        (bool(np.isfinite(lower).any()), bool(np.isfinite(upper).any())), "smallest or largest"
    )
    where = f"the {which} one of their variable"
    if (cut == cut[0]).all():
        where = f"{cut[0]:.4g}, the {which} one"
    return [
        Finding(
            "warning",
            f"{share:.0%} of the values are {where}: a limit of detection, or filled in for values "
            "that were not measured. In a table that fits in memory they count as that or beyond, "
            "or as missing where the other variables do not tell which they are. If you know that "
            "they were not measured, leave these cells empty, from Python "
            "X[X == X.min(axis=0)] = np.nan.",
        )
    ]


def _ties(values: Values, limit: Values) -> NDArray[np.bool_]:
    return np.asarray(((values == limit).sum(axis=0) >= FEWEST_TIES) & (limit != 0))


def _whole(values: Values) -> bool:
    return bool((values == np.rint(values))[np.isfinite(values)].all())


def _stands_out(values: Values, low: Values) -> NDArray[np.bool_]:
    """Whether the smallest value `low` of each column occurs more often than values that are
    rounded do: the next one at most twice, or a tenth as often. Nor is it one of two values."""
    at = values == low
    others = np.isfinite(values) & ~at
    following = np.where(others, values, np.inf).min(axis=0)
    times = (values == following).sum(axis=0)
    seldom = times <= np.maximum(FEWEST_TIES - 1, MANY_AT_LIMITS * at.sum(axis=0))
    return np.asarray(seldom & ((times == 1) | (times < others.sum(axis=0))))
