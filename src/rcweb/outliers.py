"""Limit the pull of single wild entries of the table.

A low-rank model is fitted to all entries; an entry far outside the scatter of its variable around
that fit would make a direction, then a regulator, of its own. Where such entries are more frequent
than Gaussian noise allows they are moved to a limit; otherwise the table stays as it is.

Entries that are wild one by one, independently of each other, can together make the leading
directions, and are not to be judged by those. So the first directions are then those of a table in
which every entry is limited by its own variable's scatter, hard; and each sample is fitted again
and again with its entries limited around the last fit (Huber's estimate), which gives back what
many variables share, however large, and nothing to an entry that stands alone. Where wild entries
come together, in the same samples, they are signal: the few samples in which a strong regulator is
on must not be limited at first, or it is lost (E. coli: 104 known regulators instead of 113).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rcweb.missing.correct import observed_median
from rcweb.samples import Samples
from rcweb.spectrum import Spectrum, leading_directions
from rcweb.table import Table

Array = NDArray[np.float64]

WILD = 5.0  # robust standard deviations beyond which Gaussian noise is not seen
TOO_MANY = 2e-4  # share of wild entries above which they are limited (Gaussian: 6e-7)
LIMIT = 3.0
SINGLE = 1.5  # robust standard deviations of its variable beyond which an entry has no say at first
ROUNDS = 2  # of directions and limits
FITS = 8  # of a sample, its entries limited around the last one
TOGETHER = 2.0  # variance over mean of the wild entries in a sample above which they are signal
ALONE = 0.25  # share of a direction in one entry of the table that makes it no signal
# Entries, and samples at least, on which the scatter is measured.
SEEN_ENTRIES = 1 << 18
SEEN_SAMPLES = 512
# Share of samples at the least value (the zeros of counts) above which scatter around the fit says
# nothing: what stands out of zeros is the signal.
TIED = 0.25


@dataclass(frozen=True)
class Limit:
    """Rows pulled towards their fit ``rows @ into @ back``: at most `bound` (N,) away from it; the
    last of `fits`, in the first of which entries count up to `single` (N,) at most."""

    into: Array
    back: Array
    bound: Array
    single: Array | float = np.inf
    fits: int = 1

    def __call__(self, rows: Array) -> Array:
        limited = np.clip(rows, -self.single, self.single)
        for _ in range(self.fits):
            fit = limited @ self.into @ self.back
            limited = fit + np.clip(rows - fit, -self.bound, self.bound)
        return np.asarray(limited)


@dataclass(frozen=True)
class Tamed:
    """A table without wild entries, as its samples, condensed, and its leading directions; and the
    share of entries that were wild (below `TOO_MANY`: nothing was changed)."""

    samples: Samples
    table: Table
    spectrum: Spectrum
    wild: float


def tame(table: Table, samples: Samples, n_components: int | str) -> Tamed:
    """Pull wild entries in, if there are many, and find the leading directions."""
    spectrum = leading_directions(table, n_components)
    rows = samples.some(rows_seen(table.N))
    limit, wild = _limit(rows, samples, spectrum, table.observed)
    if wild < TOO_MANY:
        return Tamed(samples, table, spectrum, wild)
    scatter = _scatter(rows, rows, table.observed)
    if _one_by_one(np.abs(rows) > WILD * scatter):
        limit = _limit_one_by_one(rows, samples, n_components, scatter, table.observed)
    tamed, condensed = samples.limited(limit)
    return Tamed(tamed, condensed, leading_directions(condensed, n_components), wild)


def rows_seen(N: int) -> int:
    """Number of samples that tell the scatter of N variables."""
    return max(SEEN_ENTRIES // N, SEEN_SAMPLES)


def _limit(
    rows: Array, samples: Samples, spectrum: Spectrum, observed: Array
) -> tuple[Limit, float]:
    """Limits around the fit by the leading directions, and the share of entries far from it."""
    into = spectrum.factor[:, None] * spectrum.V
    lonely = (spectrum.V**2).max(axis=0)
    # A direction of one sample and one variable is itself a wild entry, fitted.
    alone = lonely > ALONE
    if alone.any():
        alone[alone] = samples.participation(into[:, alone])[1] * lonely[alone] > ALONE
    into, back = into[:, ~alone], (spectrum.V[:, ~alone] / spectrum.factor[:, None]).T
    residual = rows - rows @ into @ back
    scatter = _scatter(residual, rows, observed)
    return Limit(into, back, LIMIT * scatter), float((np.abs(residual) > WILD * scatter).mean())


def _one_by_one(wild: NDArray[np.bool_]) -> bool:
    """Whether wild entries (M, N) come independently: as many in each sample as chance has it."""
    count = wild.sum(axis=1)
    return bool(0 < count.var() < TOGETHER * count.mean())


def _limit_one_by_one(
    rows: Array, samples: Samples, n_components: int | str, scatter: Array, observed: Array
) -> Limit:
    """Limits around a fit that single entries have no part in; `scatter` of the table itself."""
    single = SINGLE * scatter
    nothing = np.zeros((len(scatter), 0))
    limit = Limit(nothing, nothing.T, single)
    for _ in range(ROUNDS):
        spectrum = leading_directions(samples.limited(limit)[1], n_components)
        V = spectrum.V[:, : spectrum.P]
        into, back = spectrum.factor[:, None] * V, (V / spectrum.factor[:, None]).T
        residual = np.clip(rows, -single, single)
        residual = residual - residual @ into @ back
        for _ in range(2):
            bound = LIMIT * _scatter(residual, rows, observed)
            limit = Limit(into, back, bound, single, FITS)
            residual = rows - limit(rows) @ into @ back
    return limit


def _scatter(residual: Array, rows: Array, observed: Array) -> Array:
    """Robust standard deviation of each variable's residual, (N,); infinite where it means nothing:
    in variables that are fitted without rest, or have too many equal values."""
    scatter = 1.4826 * observed_median(np.abs(residual), observed)
    tied = (rows == rows.min(axis=0)).mean(axis=0) > TIED
    known = (scatter > 1e-9 * np.sqrt((rows * rows).mean(axis=0))) & ~tied
    return np.where(known, scatter, np.inf)
