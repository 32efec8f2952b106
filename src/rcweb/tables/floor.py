"""Values cut at a limit of detection, or filled in with the smallest one for missing ones."""

from __future__ import annotations

import numpy as np

from rcweb.tables.finding import Finding
from rcweb.tables.look import Look, extremes
from rcweb.tables.values import Kind

# Share of the values that, lying at the smallest one of their variable, change what is found.
# Conventional: a tenth. Continuous values lie there once in each variable.
MANY_AT_FLOOR = 0.1
FEWEST_TIES = 3  # equal smallest values of a variable that are hardly chance


def at_floor(look: Look, kind: Kind) -> list[Finding]:
    """A warning where many values are the smallest of their variable.

    Not for whole numbers, nor for zeros of a table without negative values: amounts that are zero
    are measured.
    """
    if kind.whole or len(look.values) < FEWEST_TIES + 1:
        return []
    low, high = extremes(look.values)
    ties = ((look.values == low) & (low < high)).sum(axis=0)
    cut = (ties >= FEWEST_TIES) & (kind.negative | (low != 0))
    share = float(ties[cut].sum() / max(np.isfinite(look.values).sum(), 1))
    if share <= MANY_AT_FLOOR:
        return []
    same = bool((low[cut] == low[cut][0]).all())
    where = f"{low[cut][0]:.4g}, the smallest one" if same else "the smallest one of their variable"
    return [
        Finding(
            "warning",
            f"{share:.0%} of the values are {where}: a limit of detection, or filled in for values "
            "that were not measured. One regulator then looks like several. Mark them as missing: "
            "leave these cells empty, from Python X[X == X.min(axis=0)] = np.nan, and leave out "
            "variables that are then measured in fewer than three samples.",
        )
    ]
