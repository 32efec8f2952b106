"""Agreement of two fits of one table, and of replicates within one fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from rcweb.engine.matching import match_rows
from rcweb.engine.types import Array, Mask

LEVELS = (0.95, 0.99)


def agreement(
    first: Array, second: Array, levels: Sequence[float] = LEVELS, rows: Mask | None = None
) -> dict[str, float]:
    """Share of regulators with a one-to-one match of |correlation| above each level.

    The share is of the larger number of rows, so that a fit gains nothing by finding fewer. `rows`
    (a mask over `first`) limits it to these rows, and it is then their share; NaN without rows.
    """
    pairs = match_rows(first, second)
    size = np.zeros(len(first))
    size[pairs.found] = np.abs(pairs.correlation)
    if rows is None:
        # Rows of the second fit without a partner count as disagreement.
        size = np.append(size, np.zeros(max(len(second) - len(first), 0)))
    else:
        size = size[rows]
    return {_name(level): float((size > level).mean()) if len(size) else np.nan for level in levels}


def _name(level: float) -> str:
    return f"agree_{100 * level:.0f}"


def matched_rows(first: Array, second: Array, level: float) -> int:
    """Number of one-to-one matches with |correlation| above `level`."""
    return int((np.abs(match_rows(first, second).correlation) > level).sum())


def replicate_agreement(activities: Array, groups: pd.Series) -> float:
    """Median over regulators of the intraclass correlation of replicates.

    One-way: ``(B - W) / (B + (k - 1) W)`` with B and W the mean squares between and within the
    groups of two or more samples and k their mean size (Shrout & Fleiss 1979, ICC(1,1), with the
    mean size in place of a common one). NaN if no group has two samples.
    """
    labels = groups.to_numpy()
    size = groups.groupby(labels).transform("size").to_numpy()
    codes, names = pd.factorize(labels[size > 1])
    if not len(names):
        return float("nan")
    A = activities[size > 1]
    counts = np.bincount(codes)
    sums = np.zeros((len(names), A.shape[1]))
    np.add.at(sums, codes, A)
    means = sums / counts[:, None]
    n, g = len(A), len(names)
    within = ((A - means[codes]) ** 2).sum(axis=0) / (n - g)
    between = (counts[:, None] * (means - A.mean(axis=0)) ** 2).sum(axis=0) / max(g - 1, 1)
    k = n / g
    total = between + (k - 1) * within
    icc = np.divide(between - within, total, out=np.zeros_like(total), where=total > 0)
    return float(np.median(icc))
