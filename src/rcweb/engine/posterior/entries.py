"""The entries of C: one density for exact zeros and for small effects everywhere, learned.

    c_pi ~ (1 - pi_p) N(0, b_p) + pi_p Slab(scale_p)

b_p is the variance of the row's background, 0 where zeros are exact. The slab's shape is shared by
all rows. An edge is an entry of the slab that is larger than N entries of the background would be,
``|c| > sqrt(2 b_p log N)`` (the universal threshold of Donoho & Johnstone 1994); without a
background every entry of the slab is one. So edges, probabilities and weights change continuously
from exact zeros to small effects.
"""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, ndtr

from rcweb.engine.conventions import LITTLE
from rcweb.engine.posterior.background import WIDER, fitted_background, least_edge
from rcweb.engine.posterior.kernels import expect_shaped_edges
from rcweb.engine.posterior.slab import (
    EDGE_COUNT,
    PRIOR_MIX,
    SPREAD,
    STEP,
    density_before,
    density_prior,
    shared_scale,
)
from rcweb.engine.types import Array

MOST_ROUNDS = 30  # of entries and density in turn, where rows are held
AT_REST = 0.02  # relative change of a background that ends them


class Entries:
    """Means and variances of all entries of C (P, N), and the density they come from.

    mean, variance : (P, N) of each entry
    probability : (P, N) of the slab
    log_odds, scale, background : (P,) of the slab, its scale, and the variance beside it
    """

    def __init__(self, C: Array, background: Array, concentration: float, tail: float) -> None:
        P, N = C.shape
        self.tail = tail
        self.mean, self.probability = C, np.ones((P, N))
        self.variance, self._centre, self._width = np.zeros((3, P, N))
        self.background, self.concentration = background, concentration
        pi = density_before(np.zeros(P), 0)  # replaced in the first round
        self.log_odds = np.log(pi / (1 - pi))
        power, count = (C**2).sum(axis=1), pi * N
        if tail > 0:
            # Entries beyond the tail: with a smaller slab those of a very sparse row, many slabs
            # away, would be likelier in the tail, and stay there.
            far = np.abs(C) > np.sqrt(WIDER) * self.least[:, None]
            some = far.any(axis=1)
            power = np.where(some, (C**2 * far).sum(axis=1), power)
            count = np.where(some, far.sum(axis=1), count)
        self.scale, self.mix = shared_scale(power, count), PRIOR_MIX.copy()
        self._sums, self._used, self._seen = np.zeros((P, 3)), np.zeros(len(self.mix)), np.zeros(P)

    @property
    def least(self) -> Array:
        """(P,) size above which an entry can be an edge."""
        return least_edge(self.background, self.mean.shape[1])

    @property
    def background_to_noise(self) -> Array:
        """(P,) variance of the background in units of the noise variance of a typical entry."""
        return np.asarray(self.background * self._seen)

    @property
    def edge_probability(self) -> Array:
        """(P, N) probability that an entry comes from the slab and is larger than `least`."""
        sd, least = np.sqrt(np.maximum(self._width, 1e-300)), self.least[:, None]
        larger = ndtr((self._centre - least) / sd) + ndtr((-self._centre - least) / sd)
        return np.asarray(self.probability * np.minimum(larger, 1.0))

    def expect(self, Q: Array, Z: Array, weight: Array) -> None:
        """Every entry given all others and the activities, by ``Q = R^T R`` (P, P), ``Z = R^T G``
        (P, N) and the precision `weight` (N,) of the noise."""
        self._used[:] = 0.0
        self._seen = np.diag(Q) * float(np.median(weight))
        beside = (self.background, WIDER, self.tail, self.least)
        density = (self.log_odds, self.scale, *beside, STEP, SPREAD, self.mix)
        entries = (self.probability, self.variance, self._centre, self._width)
        expect_shaped_edges(Q, Z, self.mean, weight, *density, *entries, self._sums, self._used)

    def rescale(self, size: Array) -> None:
        """Activities are divided by `size` (P,), entries multiplied."""
        self.mean *= size[:, None]
        self._centre *= size[:, None]
        self.variance *= size[:, None] ** 2
        self._width *= size[:, None] ** 2
        self._sums *= size[:, None] ** np.array([2, -2, -4])
        self._seen /= size**2

    def learn(self, *, shaped: bool) -> None:
        """The densities given the entries; with `shaped` the slab's shape too."""
        N = self.mean.shape[1]
        power, excess, information = self._sums.T
        count = self.probability.sum(axis=1)
        a, b = density_prior(self.concentration, count, N)
        self.log_odds = digamma(a + count) - digamma(b + N - count)
        self.scale = shared_scale(power, count)
        # In standard errors of none. By chance half of all rows without a background would get one,
        # so it must show in all rows together.
        errors = excess / np.sqrt(2 * np.maximum(information, 1e-300))
        shows = errors.sum() > 2 * np.sqrt(len(errors))
        self.background = shows * fitted_background(excess, information, self.scale)
        if shaped:
            mix = self._used + EDGE_COUNT * PRIOR_MIX
            self.mix = np.maximum(mix / mix.sum(), 1e-6)


def entries_beside_noise(
    rows: Array, noise: Array, width: Array, concentration: float, tail: float = 0.0
) -> Entries:
    """The entries behind `rows` (P, N) in units of the noise of each, of variance `noise` (P,); the
    background starts where noise and it have the variance `width` (P,)."""
    unit = rows / np.sqrt(noise)[:, None]
    background = np.maximum(width / noise - 1, 0.0)
    return entries_of_rows(unit, np.ones(rows.shape[1]), background, concentration, tail)


def entries_of_rows(
    rows: Array, noise: Array, background: Array, concentration: float, tail: float = 0.0
) -> Entries:
    """The entries behind `rows` (P, N) with noise of variance `noise` (N,); activities are held, so
    that no entry depends on another.

    background : (P,) where to start. Stops when that of all but few rows changes by no more than
    `AT_REST` of itself, or after `MOST_ROUNDS`.
    """
    entries = Entries(rows.copy(), background, concentration, tail)
    identity, weight = np.eye(len(rows)), 1 / noise
    for n in range(MOST_ROUNDS):
        before = entries.background
        entries.expect(identity, rows, weight)
        entries.learn(shaped=n > 0)
        still = np.abs(entries.background - before) <= AT_REST * entries.background
        if n and np.mean(still) >= 1 - LITTLE:
            break
    return entries
