"""Limits of detection of the variables: (2, N), lower and upper, infinite where there are none."""

from __future__ import annotations

import numpy as np

from rcweb.engine.types import Array, Mask


def without_limits(N: int) -> Array:
    """(2, N) lower and upper limits of variables that have none."""
    return np.stack([np.full(N, -np.inf), np.full(N, np.inf)])


def at_limits(X: Array, limits: Array) -> Mask:
    """(M, N) entries at their lower or upper limit, (2, N), or beyond."""
    return np.asarray((limits[0] >= X) | (limits[1] <= X))


def hide_limits(X: Array, limits: Array | None) -> Array:
    """The table with NaN where values lie at limits of detection or beyond: they are as good as not
    measured for activities, which other variables show (correlation with true ones 0.98 to 1.00
    where values as they are give 0.96 to 1.00). A sample without other values keeps them."""
    if limits is None or not np.isfinite(limits).any():
        return X
    beyond = at_limits(X, limits)
    beyond &= (~beyond & ~np.isnan(X)).any(axis=1, keepdims=True)
    return np.where(beyond, np.nan, X)
