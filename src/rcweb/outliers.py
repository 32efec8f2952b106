"""Limit the pull of single wild entries of the table.

A low-rank model is fitted to all entries; an entry far outside the scatter of its variable around
that fit would make a direction, then a regulator, of its own. Where such entries are more frequent
than Gaussian noise allows they are moved to a limit; otherwise the table stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rcweb.missing.correct import observed_median
from rcweb.samples import Samples
from rcweb.spectrum import Spectrum

Array = NDArray[np.float64]

WILD = 5.0  # robust standard deviations beyond which Gaussian noise is not seen
TOO_MANY = 2e-4  # share of wild entries above which they are limited (Gaussian: 6e-7)
LIMIT = 3.0
ALONE = 0.25  # share of a direction in one entry of the table that makes it no signal
# Entries, and samples at least, on which the scatter is measured.
SEEN_ENTRIES = 1 << 18
SEEN_SAMPLES = 512
# Share of samples at the least value (the zeros of counts) above which scatter around the fit says
# nothing: what stands out of zeros is the signal.
TIED = 0.25


@dataclass(frozen=True)
class Limit:
    """Rows pulled towards their fit ``rows @ into @ back``: at most `bound` (N,) away from it."""

    into: Array
    back: Array
    bound: Array

    def __call__(self, rows: Array) -> Array:
        fit = rows @ self.into @ self.back
        return np.asarray(fit + np.clip(rows - fit, -self.bound, self.bound))


def rows_seen(N: int) -> int:
    """Number of samples that tell the scatter of N variables."""
    return max(SEEN_ENTRIES // N, SEEN_SAMPLES)


def find_limit(samples: Samples, spectrum: Spectrum, observed: Array) -> tuple[Limit | None, float]:
    """How to pull wild entries in (None if there are few), and their share.

    observed : (N,) share of the samples in which each variable was measured
    """
    into = spectrum.factor[:, None] * spectrum.V
    lonely = (spectrum.V**2).max(axis=0)
    # A direction of one sample and one variable is itself a wild entry, fitted.
    alone = lonely > ALONE
    if alone.any():
        alone[alone] = samples.participation(into[:, alone])[1] * lonely[alone] > ALONE
    into = into[:, ~alone]
    back = (spectrum.V[:, ~alone] / spectrum.factor[:, None]).T
    rows = samples.some(rows_seen(len(into)))
    residual = rows - rows @ into @ back
    scatter = 1.4826 * observed_median(np.abs(residual), observed)
    tied = (rows == rows.min(axis=0)).mean(axis=0) > TIED
    known = (scatter > 1e-9 * np.sqrt((rows * rows).mean(axis=0))) & ~tied
    share = float(((np.abs(residual) > WILD * scatter) & known).mean())
    if share < TOO_MANY:
        return None, share
    return Limit(into, back, np.where(known, LIMIT * scatter, np.inf)), share
