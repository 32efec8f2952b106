"""The subspace in which columns are searched, and the density that a sparse row is scored by."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.search.kernels import two_part_log_density, two_part_step
from rcweb.engine.types import Array, Mask, Noise

Single = NDArray[np.float32]

# Least width of the narrow part, in sd of the row: without noise an exact zero would have an
# infinite density, and the objective no slope.
NARROWEST = 0.02
NO_NOISE = 1e-5  # of a row, below which zeros are exact up to rounding
# Noise below which rows are sharpened before the posterior, which needs the leading axes only, and
# a new column may overlap more with those found. Measured (plan `sensitivity`): 0.015 to 0.06 for
# rows, 0.06 to 0.24 for axes.
LOW_NOISE = 0.06
# Cosine above which two columns count as the same. Conventional: two answers that differ by more
# than 0.05 are different. At 0.9 turned columns of blocks that any rotation fits are not told.
AGREED = 0.95
# Variables per direction; with more, a subset of the directions still shows a row. Measured (plan
# `sensitivity`): 3 to 12 give the same results.
ENOUGH = 6
# Widths of a row's narrow part within which an entry counts as zero. Measured: with two activities
# of cosine 0.98, precision 0.93 instead of 0.52 if the posterior starts such entries at zero;
# elsewhere the same to 0.0003.
NEAR_ZERO = 2.5
# Measured: with more noise correct rows may be no sparser than chance. No density is narrowed to
# less than this where noise is larger.
BLURRED = 0.35


@dataclass(frozen=True)
class Space:
    """Coordinates of the variables in the leading right singular vectors.

    In single precision: steps are matrix products with X, and noise exceeds the rounding by far.
    Where it does not, `sharpen` works in double precision.

    X : (N, K) ``sqrt(N) V``, so that a unit column b gives a row ``X b`` of unit mean square
    XT : (K, N) its transpose, contiguous, since half of the products need it
    noise : (K,) standard deviation of the noise in each coordinate, ``sqrt(N) sigma / s``
    noise_kind : what is known of it
    """

    X: Single
    XT: Single
    noise: Array
    noise_kind: Noise = "independent"

    @classmethod
    def of(cls, V: Array, s: Array, sigma: float) -> Space:
        """From the truncated SVD; `sigma` is the sd of the noise in one entry of the table."""
        N = len(V)
        return cls.at(V * np.sqrt(N), np.sqrt(N) * sigma / s)

    @classmethod
    def at(cls, X: Array | Single, noise: Array) -> Space:
        """Coordinates X (N, K), white, and the noise of each."""
        X32 = np.ascontiguousarray(X, dtype=np.float32)
        return cls(X=X32, XT=np.ascontiguousarray(X32.T), noise=np.asarray(noise))

    @property
    def N(self) -> int:
        return self.X.shape[0]

    @property
    def K(self) -> int:
        return self.X.shape[1]

    @property
    def level(self) -> float:
        """Typical noise of a row, in sd of the row."""
        return max(float(np.sqrt((self.noise**2).mean())), NARROWEST)

    @property
    def noise_free(self) -> bool:
        """Whether there is no noise but rounding."""
        return bool(np.sqrt((self.noise**2).mean()) < NO_NOISE)

    @property
    def blurred(self) -> bool:
        """Whether a row may be estimated well and still look no sparser than chance."""
        return self.level > BLURRED

    @property
    def enough_variables(self) -> bool:
        """Whether a subset of the directions still shows a row clearly; see `within`."""
        return self.N >= ENOUGH * self.K

    def floor(self, B: Array) -> Array:
        """Noise variance of each row ``X b``: the narrow part of its density cannot be narrower."""
        return np.maximum(((B * self.noise) ** 2).sum(axis=1), NARROWEST**2)

    def within(self, Q: Array) -> Space:
        """The directions Q (K, n) alone, in their own coordinates.

        A row loses what it shares by chance with the other K - n directions, a share (K - n) / N of
        its power, which counts as noise.
        """
        lost = (self.K - Q.shape[1]) / self.N
        noise = np.sqrt((Q**2).T @ self.noise**2 + lost)
        return Space.at(self.X @ Q.astype(np.float32), noise)

    def rows(self, B: Array) -> Single:
        """``B X^T``: the candidate rows of C, (n, N)."""
        return np.asarray(B, dtype=np.float32) @ self.XT

    def gaussian(self, J: Array) -> Mask:
        """(n,) rows of negentropy `J` that two Gaussians fit no better than one does, by a nat for
        every number that was fitted (Akaike 1973): K - 1 angles, a share and a width."""
        return np.asarray(J * self.N <= self.K + 1)


@dataclass(frozen=True)
class Density:
    """Two-part density of each row: (1 - pi) N(0, v0) + pi N(0, v1), all (n,)."""

    pi: Array
    v0: Array
    v1: Array

    @classmethod
    def start(cls, n: int, v0: float = 0.16) -> Density:
        """Wide, for a schedule that narrows it, or where a good part of the entries are targets."""
        return cls(np.full(n, 0.4), np.full(n, v0), np.full(n, 2.5))

    @classmethod
    def settled(cls, n: int) -> Density:
        """Near where rows of real tables end, as a start where the density is free: half of the
        power in a tenth of the entries. Measured on rows of four such tables: after 20 rounds of EM
        0.1 to 2 nats below the maximum, from `start` 1.5 to 12."""
        return cls(np.full(n, 0.1), np.full(n, 0.5), np.full(n, 5.5))

    def take(self, rows: NDArray[np.intp]) -> Density:
        return Density(self.pi[rows], self.v0[rows], self.v1[rows])

    def put(self, rows: NDArray[np.intp], other: Density) -> Density:
        pi, v0, v1 = self.pi.copy(), self.v0.copy(), self.v1.copy()
        pi[rows], v0[rows], v1[rows] = other.pi, other.v0, other.v1
        return Density(pi, v0, v1)

    def with_width(self, v0: Array) -> Density:
        return replace(self, v0=v0, v1=np.maximum(self.v1, 1.5 * v0))


def e_step(Y: Single, density: Density) -> tuple[Single, NDArray[np.float64]]:
    """Scores D (n, N) and the sums of `two_part_step`, (n, 5)."""
    D = np.empty_like(Y)
    sums = np.empty((len(Y), 5))
    two_part_step(Y, density.pi, density.v0, density.v1, D, sums)
    return D, sums


def m_step(sums: NDArray[np.float64], floor: Array, widest: float = np.inf) -> Density:
    """One EM step of the density; the narrow part stays between its floor and `widest`."""
    narrow, narrow_power, power = sums[:, 2], sums[:, 3], sums[:, 4]
    q = 1 - narrow
    # The bounds keep both parts alive: an empty part, or one as wide as the other, would stay so.
    v0 = np.clip(narrow_power / np.maximum(narrow, 1e-6), floor, np.maximum(widest, floor))
    v1 = np.maximum((power - narrow_power) / np.maximum(q, 1e-6), 1.5 * v0)
    return Density(np.clip(q, 1e-3, 0.9), v0, v1)


def negentropy(Y: Single, density: Density) -> Array:
    """Mean log density of each row above that of a Gaussian of its size: how sparse it is."""
    mean = np.empty(len(Y))
    two_part_log_density(Y, density.pi, density.v0, density.v1, mean)
    return mean + 0.5
