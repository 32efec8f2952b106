"""Limit the influence of outliers: single extreme ("wild") entries of the table.

A low-rank model is fitted to all entries; an entry far outside the scatter of its variable around
that fit would make a direction, then a regulator, of its own. Where such entries are more frequent
than Gaussian noise allows they are moved to a limit; otherwise the table stays as it is.

Outliers that occur independently of each other can dominate the leading directions, so residuals
from these directions would not show them. Then the first directions come from a table in which
every entry is clipped by its own variable's scatter, and each sample is refitted several times with
its entries limited around the last fit (Huber's estimate). This restores what many variables share,
however large, but not an entry that stands alone. Where outliers occur in the same samples they are
signal: the few samples in which a strong regulator is active must not be clipped at first, or it is
lost (E. coli: 104 known regulators instead of 113).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.conventions import CLEARLY, GOOD_PART
from rcweb.engine.missing.correct import observed_median
from rcweb.engine.sample_noise import EqualSamples
from rcweb.engine.samples import Samples, rows_seen
from rcweb.engine.spectrum import Spectrum, leading_directions
from rcweb.engine.types import Array, Mask

WILD = 5.0  # robust standard deviations beyond which Gaussian noise is not seen
TOO_MANY = 2e-4  # share of wild entries above which they are limited (Gaussian: 6e-7)
LIMIT = 3.0  # robust sd around the fit. Measured: hubs with heavy-tailed noise, 0.93 to 0.995
ROUNDS = 2  # of directions and limits
FITS = 8  # of a sample, its entries limited around the last one


@dataclass(frozen=True)
class Limit:
    """Maps rows to at most `bound` (N,) away from their low-rank fit ``rows @ into @ back``.

    Huber's estimate of the fit by `fits` repetitions: fit, limit the residuals, fit again. In the
    first one each entry is clipped at `single` (N,). The number of repetitions is fixed.
    """

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
class LimitedTable:
    """A table without wild entries, its samples and leading directions; and the share of entries
    that were wild (below `TOO_MANY`: nothing was changed)."""

    table: CondensedTable
    samples: Samples
    spectrum: Spectrum
    wild: float


def limit_outliers(equal: EqualSamples, n_components: int | str) -> LimitedTable:
    """Limit wild entries, if there are many, and find the leading directions."""
    table, samples, spectrum = equal.table, equal.samples, equal.spectrum
    seen = _Seen.of(samples.some(rows_seen(table.N)), table.observed, equal.tied)
    limit, wild = _limit(seen, samples, spectrum)
    if wild < TOO_MANY:
        return LimitedTable(table, samples, spectrum, wild)
    scatter = seen.scatter(seen.rows)
    if _one_by_one(np.abs(seen.rows) > WILD * scatter):
        # Half of the limit: before there is a fit, an entry is clipped around the mean alone.
        # Measured (plan `sensitivity`): a quarter and all of it move the panel's score by 0.002.
        limit = _limit_one_by_one(seen, samples, n_components, LIMIT / 2 * scatter)
    limited, condensed = samples.limited(limit)
    return LimitedTable(condensed, limited, leading_directions(condensed, n_components), wild)


@dataclass(frozen=True)
class _Seen:
    """Some samples (m, N), the share of each variable that was measured, and the least scatter that
    is not rounding, infinite where too many values are equal."""

    rows: Array
    observed: Array
    least: Array

    @classmethod
    def of(cls, rows: Array, observed: Array, tied: Mask) -> _Seen:
        return cls(rows, observed, np.where(tied, np.inf, 1e-9 * np.sqrt((rows**2).mean(axis=0))))

    def scatter(self, residual: Array) -> Array:
        """Robust standard deviation of each variable's residual, (N,); infinite, so that nothing is
        limited, where it is not meaningful."""
        scatter = 1.4826 * observed_median(np.abs(residual), self.observed)
        return np.where(scatter > self.least, scatter, np.inf)


def _limit(seen: _Seen, samples: Samples, spectrum: Spectrum) -> tuple[Limit, float]:
    """Limits around the fit by the leading directions, and the share of entries far from it."""
    lonely = (spectrum.V**2).max(axis=0)
    # A direction of one sample and one variable is itself a wild entry, fitted.
    alone = lonely > GOOD_PART
    if alone.any():
        into, _ = _maps(spectrum, spectrum.V[:, alone])
        alone[alone] = samples.participation(into)[1] * lonely[alone] > GOOD_PART
    into, back = _maps(spectrum, spectrum.V[:, ~alone])
    residual = seen.rows - seen.rows @ into @ back
    scatter = seen.scatter(residual)
    wild = float((np.abs(residual) > WILD * scatter).mean())
    return Limit(into, back, LIMIT * scatter), wild


def _maps(spectrum: Spectrum, V: Array) -> tuple[Array, Array]:
    """From samples to their coordinates in the directions V (N, n), and back."""
    return spectrum.factor[:, None] * V, (V / spectrum.factor[:, None]).T


def _one_by_one(wild: NDArray[np.bool_]) -> bool:
    """Whether wild entries (M, N) occur independently: their number in a sample is then Poisson, of
    variance equal to its mean (on E. coli and yeast 15 and 59 times as large)."""
    count = wild.sum(axis=1)
    return bool(0 < count.var() < CLEARLY * count.mean())


def _limit_one_by_one(
    seen: _Seen, samples: Samples, n_components: int | str, single: Array
) -> Limit:
    """Limits around a fit that single entries do not influence.

    Alternates between directions of the limited table and limits around these directions, `ROUNDS`
    times, starting from entries clipped at `single` (N,). There is no stop test: the first round
    removes the outliers' influence, the second measures the scatter around clean directions.
    """
    rows, clipped = seen.rows, np.clip(seen.rows, -single, single)
    nothing = np.zeros((len(single), 0))
    limit = Limit(nothing, nothing.T, single)
    for _ in range(ROUNDS):
        spectrum = leading_directions(samples.limited(limit)[1], n_components)
        into, back = _maps(spectrum, spectrum.V[:, : spectrum.P])
        around = LIMIT * seen.scatter(clipped - clipped @ into @ back)
        first = Limit(into, back, around, single, FITS)
        limit = replace(first, bound=LIMIT * seen.scatter(rows - first(rows) @ into @ back))
    return limit
