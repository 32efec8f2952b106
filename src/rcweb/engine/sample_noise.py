"""Samples of unequal noise: each is divided by its own, which leaves the network as it is.

In ``G = R C + E`` some samples may be noisier than others: failed arrays, shallow sequencing,
another laboratory. With w_m one over the noise of sample m,

    diag(w) G = (diag(w) R) C + diag(w) E

has the same C and equal noise. Left as they are, a few noisy samples make directions of their own,
which displace regulators. Where the noise of samples differs by no more than chance, nothing is
changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rcweb.engine.basis import noise_edge
from rcweb.engine.condensed import CondensedTable, Leading
from rcweb.engine.conventions import (
    CLEARLY,
    ENOUGH_TO_TELL,
    LITTLE,
    MEDIAN_SQUARE,
    STANDARD_ERRORS,
)
from rcweb.engine.samples import Samples, medians, rows_seen, tied
from rcweb.engine.search.space import NO_NOISE
from rcweb.engine.spectrum import Spectrum, leading_directions
from rcweb.engine.types import Array, Mask

WEIGHING_ROUNDS = 20  # of directions given the noise of samples, and noise given the directions
SAME_NOISE = 0.05  # root mean square change of log weights that no longer matters
# Variance of the log of the median of n squares of Gaussian noise, times n; derived:
# 1 / (4 f(m)^2 m^2) with m the median and f the density of chi-squared with one degree of freedom.
MEDIAN_VARIANCE = 5.443


@dataclass(frozen=True)
class Weigh:
    """Divides rows by their noise, relative to that of the other samples.

    centre : (N,) taken off first: the mean of the weighted rows, which noisy ones do not shift; 0
        for rows that keep their mean
    factor, V : (N,), (N, n) directions of the weighted rows times `factor`
    s : (n,) singular values of the weighted rows
    scatter : (N,) of each variable around the fit
    told : (N,) variables whose scatter is known
    typical : noise variance of a sample of weight 1, in units of the scatter; 0 before it is known
    least : of a typical sample; a quieter one counts as much, and no more
    believed : share of the variance of log variances that is not chance
    unit : root mean square of the weights of all samples before they are divided by it
    """

    centre: Array
    factor: Array
    V: Array
    s: Array
    scatter: Array
    told: Mask
    typical: float = 0.0
    least: float = 0.0
    believed: float = 1.0
    unit: float = 1.0

    def variance(self, rows: Array, weight: Array | None = None) -> Array:
        """(m,) noise variance of each row, in units of the scatter.

        Directions take a share of the noise of each sample, its leverage h: a row of variance v
        leaves (1 - h) v. It entered with the weight w^2 = typical / v, so h = w^2 q with q the sum
        of squares of its coordinates over s, and v is what is left plus typical times q.

        weight : (m,) with which the rows entered the directions. A direction that a sample has made
            alone explains nothing of it: of each coordinate only the share 1 - u^2 counts as
            explained, u being the sample's part of the direction (as if it had been left out).
        """
        scaled = (rows - self.centre) * self.factor
        return self.variance_of(scaled, scaled @ self.V, weight)

    def variance_of(self, scaled: Array, coordinates: Array, weight: Array | None) -> Array:
        """The same for rows that are centred and scaled, and their coordinates."""
        part = coordinates / self.s
        others = 1.0 if weight is None else np.maximum(1 - (weight[:, None] * part) ** 2, 0.0)
        rest = (scaled - (coordinates * others) @ self.V.T) / (self.scatter * self.factor)
        rest = rest[:, self.told]
        # The median: single wild entries are the entries' fault, not the sample's.
        left = medians((rest * rest).T) / MEDIAN_SQUARE
        return np.asarray(left + self.typical * (part**2 * others).sum(axis=1))

    def weight(self, rows: Array) -> Array:
        """(m,) what each row is multiplied by."""
        variance = np.maximum(self.variance(rows), self.least)
        return np.asarray(variance ** (-self.believed / 2) / self.unit)

    def __call__(self, rows: Array) -> Array:
        return np.asarray((rows - self.centre) * self.weight(rows)[:, None])


@dataclass(frozen=True)
class EqualSamples:
    """A table whose samples are equally noisy, its samples and leading directions; by what its
    samples were divided, None where they were equal before; and the variables (N,) of which a good
    part of the values were equal before."""

    table: CondensedTable
    samples: Samples
    spectrum: Spectrum
    weigh: Weigh | None
    tied: Mask


def equalise(table: CondensedTable, samples: Samples, n_components: int | str) -> EqualSamples:
    """Divide each sample by its noise."""
    spectrum = leading_directions(table, n_components)
    rows, unclear = samples.some(table.M), tied(samples.some(rows_seen(table.N)))
    # The mean of some samples only is less accurate than the one already taken off.
    centred = samples.centred and len(rows) == table.M
    can_tell = _can_tell(rows, spectrum, unclear)
    weigh = _weigh(rows, spectrum, ~unclear, centred) if can_tell else None
    if weigh is None:
        return EqualSamples(table, samples, spectrum, None, unclear)
    samples, table = samples.limited(weigh)
    return EqualSamples(table, samples, leading_directions(table, n_components), weigh, unclear)


def _can_tell(rows: Array, spectrum: Spectrum, unclear: Mask) -> bool:
    """Whether the noise of samples can be told from signal. Not with more than a few holes: what
    filled them has no residual, so that samples with many look quiet. Not with few samples either,
    nearly all of whose directions are signal, nor where what is left is rounding, nor if the
    scatter of most variables is unclear."""
    table, n, K = spectrum.table, _directions(spectrum), len(spectrum.s)
    few = n < K and not (spectrum.no_edge and K >= 2 * ENOUGH_TO_TELL)
    few |= 2 * n > len(rows) or n > table.N - 2
    rounding = spectrum.sigma <= NO_NOISE * np.sqrt(table.total / (table.M * table.N))
    most_tell = unclear.mean() < 0.5 and n < (~unclear).sum()
    return bool(table.observed.mean() > 1 - LITTLE and most_tell and not few and not rounding)


def _directions(spectrum: Spectrum) -> int:
    """Beyond half of the rank too little is left to tell noise from."""
    return min(len(spectrum.s), min(spectrum.table.M, spectrum.table.N) // 2)


def _weigh(rows: Array, spectrum: Spectrum, told: Mask, centred: bool) -> Weigh | None:
    """How to divide samples like `rows` by their noise, seen in the variables `told` (N,); None
    where it is equal up to chance. The means of the weighted rows are taken off if `centred`.

    Directions given the weights, and weights given the directions, until weights change by less
    than `SAME_NOISE`; after `WEIGHING_ROUNDS` the last ones are taken.
    """
    M, N, n, factor = len(rows), rows.shape[1], _directions(spectrum), spectrum.factor
    chance = MEDIAN_VARIANCE / (told.sum() - n)
    most = chance * (1 + STANDARD_ERRORS * np.sqrt(2 / M))
    share = np.sqrt(M / spectrum.table.M)
    zero, scaled = np.zeros(N), rows * factor
    _, variance = _around(
        scaled, zero, factor, spectrum.V[:, :n], spectrum.s[:n] * share, told, 1.0, np.ones(M)
    )
    if _spread(variance) < most:
        return None
    # Noisy samples bend the directions to themselves. So these start from samples of equal length
    # (spherical principal components), and with half as many of them.
    length = np.linalg.norm(scaled, axis=1)
    weight = 1 / np.where(length > 0, length, np.median(length))
    typical, k = 0.0, (n + 1) // 2
    for _ in range(WEIGHING_ROUNDS):
        centre = np.average(rows, axis=0, weights=weight**2) if centred else zero
        scaled = (rows - centre) * factor

        def clear(found: Leading, most: int = k) -> int:
            # Only what clearly exceeds noise: a spare direction would take up a noisy sample.
            edge = CLEARLY * noise_edge(found.noise(n), M, N)
            return min(most, max(int((found.values > edge).sum()), 1))

        leading = CondensedTable.of(scaled * weight[:, None]).leading(n, clear)
        V, s = leading.V, leading.values[: leading.V.shape[1]]
        weigh, variance = _around(scaled, centre, factor, V, s, told, typical, weight)
        spread = _spread(variance)
        believed = max(1 - chance / spread, 0.0)
        # Only noisier samples count less. Samples to which a table was referred (its zero) seem to
        # have hardly any noise, and a few such would outweigh all others.
        least = float(np.median(variance))
        last, weight = weight, np.maximum(variance, least) ** (-believed / 2)
        # Weights of mean square 1: activities keep their variance.
        size = float(np.sqrt((weight**2).mean()))
        weight, typical, k = weight / size, size ** (-2 / max(believed, chance)), n
        if np.log(weight / last).std() < SAME_NOISE:
            break
    return None if spread < most else replace(weigh, least=least, believed=believed, unit=size)


def _spread(variance: Array) -> float:
    """Variance of the logs of noise variances. A sample without any rest, such as one of zeros that
    no mean was taken off, says nothing."""
    return float(np.log(variance[variance > 0]).var())


def _around(
    scaled: Array,
    centre: Array,
    factor: Array,
    V: Array,
    s: Array,
    told: Mask,
    typical: float,
    weight: Array,
) -> tuple[Weigh, Array]:
    """Weights by what the directions V leave of the `scaled` rows, and the variance of those that
    entered with `weight`."""
    coordinates = scaled @ V
    rest = (scaled - coordinates @ V.T) / factor
    scatter = np.sqrt(medians(rest * rest) / MEDIAN_SQUARE)
    # Exact copies have no scatter; 1e-3 keeps them finite and lets them count for little.
    scatter = np.maximum(scatter, 1e-3 * np.median(scatter))
    weigh = Weigh(centre, factor, V, s, scatter, told, typical)
    return weigh, weigh.variance_of(scaled, coordinates, weight)
