"""Peeling by rows and activities together.

A regulator's row is sparse, and its activities are rarely Gaussian. With few variables per
regulator rows alone do not show the denser ones, and with few samples per regulator activities
alone show none. Both are functions of one direction. Where activities are uncorrelated, a unit
vector w in the whitened samples U (M, K) gives activities and row,

    r = sqrt(M) U w,        c = (S w) V^T,

and the w of other regulators are orthogonal to it. The next column is searched by

    maximise  sum_i log p(c_i / |c|) + sum_m log q(r_m),    |w| = 1,    w orthogonal to those found.

The density q of activities is learned from the columns found so far, the first of which were found
by their rows alone. Where it is Gaussian, samples say nothing and this search is not made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rcweb.engine.conventions import LITTLE, STANDARD_ERRORS
from rcweb.engine.search.joint import complement, normalised
from rcweb.engine.search.kernels import look_up
from rcweb.engine.search.peel import CHUNK, NEW_SHARE, RECALIBRATE, independent
from rcweb.engine.search.space import Density, Single, Space, e_step, m_step, negentropy
from rcweb.engine.types import Array, Mask, Rng

# The density of activities is a mixture of Gaussians at these centres, in standard deviations.
CENTRES, SPREAD = np.arange(-3.0, 3.1, 0.5), 0.3
DENSITY_ROUNDS = 100  # of EM
REACH, POINTS = 6.0, 1201  # its logarithm and slope are tabulated up to 6 sd, and constant beyond
NOISES = np.linspace(0.0, 0.9, 19)  # for these shares of noise in an activity
# Steps from the first to the last width of a row's narrow part, and at the width of noise.
WIDE, WIDE_STEPS, SHARP_STEPS = (1.0, 0.3), 150, 30
# Of the last step, added to the next. Measured with 44 of 120 rows known: 9 hits per 1,024 starts
# instead of 6; and scores come to rest.
MOMENTUM = 0.9
FEWEST_STARTS, STARTS, MOST_STARTS = 1, 4, 32  # per direction left: least, at first, most
NULL_STARTS = 64


@dataclass(frozen=True)
class ActivityDensity:
    """Symmetric mixture of Gaussians at `CENTRES` with weights (13,): activities without noise."""

    weight: Array

    @classmethod
    def learn(cls, r: Array, noise: Array) -> ActivityDensity:
        """From activities r (n, M) of unit variance, a share `noise` (n,) of which is noise."""
        weight = np.exp(-0.5 * CENTRES**2 / (1 - SPREAD**2))
        if not len(r):
            return cls(weight / weight.sum())
        r = np.clip(r, -REACH, REACH)
        part = np.concatenate([_parts(one, share) for one, share in zip(r, noise, strict=True)])
        for _ in range(DENSITY_ROUNDS):
            weight = weight * ((1 / (part @ weight)) @ part)
            weight = weight + weight[::-1]  # the sign of an activity is arbitrary
            weight /= weight.sum()
        return cls(weight)

    def tables(self) -> tuple[Single, Single]:
        """log q above a standard Gaussian's, and the slope of log q, for every share of noise in
        `NOISES` and at `POINTS` points."""
        x = np.linspace(-REACH, REACH, POINTS)
        q = np.array([_parts(x, noise) @ self.weight for noise in NOISES])
        log_q = np.log(np.maximum(q, 1e-300))
        gain = log_q + 0.5 * (x**2 + np.log(2 * np.pi))
        return gain.astype(np.float32), np.gradient(log_q, x, axis=1).astype(np.float32)


def _parts(x: Array, noise: float) -> Array:
    """(len(x), 13) density of each part at x, with a share `noise` of Gaussian noise."""
    variance = (1 - noise) * SPREAD**2 + noise
    away = x[:, None] - np.sqrt(1 - noise) * CENTRES
    return np.asarray(np.exp(-0.5 * away**2 / variance) / np.sqrt(2 * np.pi * variance))


@dataclass(frozen=True)
class Left:
    """The n directions in which columns are still to be found.

    X : (M, n) white coordinates of the samples, activities r = X a
    noise : (n, n) its quadratic form is the share of noise in an activity
    gain, slope : of `ActivityDensity.tables`
    Z : (N, n) coordinates of the variables, rows c = Z a, whose noise has unit variance
    typical : root mean square of a row
    other : variance that other rows add to each entry, since activities correlate by chance
    """

    X: Single
    Z: Single
    noise: Single
    gain: Single
    slope: Single
    typical: float
    other: float

    def shuffled(self, rng: Rng) -> Left:
        """As many Gaussian samples and variables, without regulators."""
        X = np.linalg.qr(rng.standard_normal(self.X.shape))[0] * np.sqrt(len(self.X))
        V = np.linalg.qr(rng.standard_normal(self.Z.shape))[0]
        _, s, Wt = np.linalg.svd(self.Z, full_matrices=False)
        return replace(self, X=X.astype(np.float32), Z=((V * s) @ Wt).astype(np.float32))

    def search(self, n: int, rng: Rng) -> tuple[Array, Array]:
        """Directions a reached from n starts, and their scores in nats above Gaussian rows and
        activities."""
        one, two = self.Z[rng.integers(len(self.Z), size=(2, n))]
        starts = one + rng.standard_normal((n, 1)).astype(np.float32) * two
        found = [self.climb(starts[c : c + CHUNK]) for c in range(0, n, CHUNK)]
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    def climb(self, starts: Array | Single, first: int = 0) -> tuple[Array, Array]:
        """Gradient steps, divided by a bound of the curvature, from each start on its own, from
        step number `first` on."""
        A: Single = normalised(starts).astype(np.float32)
        density, velocity = Density.start(len(A), 1.0), np.zeros_like(A)
        M, N = len(self.X), len(self.Z)
        # Every other start begins half way between each row's own scale and one for all rows, which
        # prefers short rows: those of few targets. At the end each row has its own.
        shared = (np.arange(len(A), dtype=np.float32) % 2)[:, None] / 2
        for step in range(first, WIDE_STEPS + SHARP_STEPS):
            left = np.float32(max(0.0, 1 - step / WIDE_STEPS))
            width2 = WIDE[1] ** 2 * (WIDE[0] / WIDE[1]) ** (2 * left) if left else 0.0
            Y, size = self._rows(A, left * shared)
            floor = (1 + self.other) / size[:, 0].astype(np.float64) ** 2
            density = density.with_width(np.maximum(width2, floor))
            D, sums = e_step(Y, density)
            density = m_step(sums, density.v0, widest=0.0)
            # A row of its own scale has unit mean square whatever its length: no step along it.
            weight, fit, power = sums[:, [0, 1, 4]].astype(np.float32).T[..., None]
            D -= (1 - left * shared) * (fit / power) * Y
            gradient = self._activities(A, self.slope) @ self.X - (D / size) @ self.Z
            gradient -= (gradient * A).sum(axis=1, keepdims=True) * A
            velocity = np.float32(MOMENTUM) * velocity + gradient
            A = normalised(A + velocity / (M + N * weight))
        gain = self._activities(A, self.gain).sum(axis=1, dtype=np.float64)
        return A.astype(np.float64), gain + N * negentropy(self._rows(A, np.float32(0))[0], density)

    def _rows(self, A: Single, shared: Single | np.float32) -> tuple[Single, Single]:
        """Rows over their sizes, and the sizes: their root mean square, or up to a part `shared`
        the typical one."""
        Y = A @ self.Z.T
        own = np.linalg.norm(Y, axis=1, keepdims=True) / np.float32(np.sqrt(len(self.Z)))
        size = own * (np.float32(self.typical) / own) ** shared
        return Y / size, size

    def _activities(self, A: Single, tables: Single) -> Single:
        """A function of the activities, tabulated."""
        r = A @ self.X.T
        noise = ((A @ self.noise) * A).sum(axis=1)
        which = np.clip(np.rint(noise / NOISES[1]), 0, len(NOISES) - 1).astype(np.intp)
        value = np.empty_like(r)
        look_up(r, REACH, tables, which, value)
        return value


def peel_both(
    space: Space, U: Array, B: Array, rng: Rng, report: Callable[[str], None]
) -> tuple[Array, Mask]:
    """Add columns to the certified rows `B` (n, K) by rows and activities; say which are certified.
    `U` (M, K) are white coordinates of the samples.

    A column is certified if it scores above what the same search reaches without regulators, by 4.5
    standard deviations of its starts. Where none is, starts are doubled. Ends with K columns, the
    last of which may be uncertified if nearly all are, or where the most starts certify none.
    """
    per_direction, calibrated = STARTS, np.inf
    while len(B) < space.K:
        left, Q = _left(space, U, B)
        n = 2 * ((per_direction * Q.shape[1] + 1) // 2)
        if Q.shape[1] <= RECALIBRATE * calibrated:
            calibrated = Q.shape[1]
            # Starts of the two kinds of scale end at rows of different length, and score.
            by_chance = left.shuffled(rng).search(NULL_STARTS, rng)[1].reshape(-1, 2)
            level = by_chance.mean(axis=0) + STANDARD_ERRORS * by_chance.std(axis=0)
        A, score = left.search(n, rng)
        score -= np.resize(level, n)
        order = np.argsort(-score, kind="stable")
        new = independent(A, order[score[order] > 0], A[:0], Q.shape[1], NEW_SHARE)
        if len(new):
            per_direction = max(per_direction // 2, FEWEST_STARTS)
            B = _polish(space, U, np.vstack([B, normalised(A[new] @ Q.T / space.noise)]))
        elif per_direction < (MOST_STARTS if len(B) >= LITTLE * space.K else STARTS):
            per_direction *= 2
        else:
            break
    report(f"search: {len(B)} of {space.K} columns by rows and activities")
    sure = np.ones(len(B), bool)
    if (1 - LITTLE) * space.K <= len(B) < space.K:
        rest = independent(A, order, A[:0], Q.shape[1], LITTLE)
        B = np.vstack([B, normalised(A[rest] @ Q.T / space.noise)])
        sure = np.append(sure, np.zeros(len(rest), bool))
    return B, sure


def _polish(space: Space, U: Array, B: Array) -> Array:
    """All columns together: each climbs alone, in the whole space; then the nearest ones whose
    activities are uncorrelated."""
    whole, _ = _left(space, U, B, np.eye(space.K))
    W, _ = whole.climb(normalised(B * space.noise), WIDE_STEPS)
    u, _, vt = np.linalg.svd(W, full_matrices=False)
    return normalised((u @ vt) / space.noise)


def _left(space: Space, U: Array, B: Array, Q: Array | None = None) -> tuple[Left, Array]:
    """What the columns `B` leave, with the density of their activities; and its basis (K, n)."""
    # Activities are dual to rows: w^T S^-1 b = 0 for the b of any other regulator. S is one over the
    # noise of the coordinates.
    W = normalised(B * space.noise)
    noise = space.noise**2 * len(U) / space.N  # variance in the samples' coordinates
    Q = complement(W, space.K) if Q is None else Q
    density = ActivityDensity.learn(W @ U.T, np.minimum(W**2 @ noise, NOISES[-1]))
    power = float((space.noise**-2).mean())  # mean square of an entry of C, in units of its noise
    X, Z = U @ Q, (space.X / space.noise) @ Q
    parts = (part.astype(np.float32) for part in (X, Z, (Q.T * noise) @ Q))
    return Left(*parts, *density.tables(), np.sqrt(power), power * space.K / len(U)), Q
