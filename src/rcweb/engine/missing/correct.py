"""Corrections of noise estimates for filled entries, which have no residual."""

from __future__ import annotations

import numpy as np

from rcweb.engine.samples import medians
from rcweb.engine.types import Array


def effective_power(rest: Array, observed: Array) -> Array:
    """Residual power (N,) of a complete table that is equally informative about each variable.

    A variable measured in a share o of M samples with noise sigma^2 leaves ``M o sigma^2``. It says
    as much about its weights as one measured in all samples with noise ``sigma^2 / o``, which would
    leave ``M sigma^2 / o``: the rest divided by o^2. Counts of singular values need no correction,
    since the noise in the filled table is what bounds them.
    """
    return np.asarray(rest / observed**2)


def observed_median(size: Array, observed: Array) -> Array:
    """Median (N,) of |residual| (M, N) over measured entries: filled ones have residual zero, and
    are the smallest."""
    return medians(size, np.rint(len(size) * (1 - observed)).astype(np.intp))
