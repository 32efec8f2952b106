"""Peeling by rows and activities together.

A regulator's row is sparse, and its activities are rarely Gaussian. With few variables per
regulator rows alone do not show the denser ones, and with few samples per regulator activities
alone show none. Both are functions of one direction. Where activities are uncorrelated, a unit
vector w in the whitened samples U (M, K) gives activities and row,

    r = sqrt(M) U w,        c = (S w) V^T,

and the w of other regulators are orthogonal to it. The next column is searched by

    maximise  sum_i log p(c_i / |c|) + sum_m log q(r_m),    |w| = 1,    w orthogonal to those found.

The density q of activities is learned from the columns found so far, the first of which were found
by their rows alone. Where it is Gaussian, the second sum says nothing; that other regulators'
activities are orthogonal still does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.conventions import LITTLE, STANDARD_ERRORS
from rcweb.engine.search.joint import complement, normalised
from rcweb.engine.search.kernels import look_up
from rcweb.engine.search.peel import CHUNK, NEW_SHARE, RECALIBRATE, independent
from rcweb.engine.search.space import Density, Single, Space, e_step, m_step, negentropy
from rcweb.engine.types import Array, Mask, Rng

# The density of activities is a mixture of Gaussians at these centres, in standard deviations, with
# this one: neighbours overlap without a dip between.
CENTRES, PART_WIDTH = np.arange(-3.0, 3.1, 0.5), 0.3
# A flat density of unit variance reaches sqrt(3) sd, between two centres, and has this kurtosis.
FLAT, FLAT_KURTOSIS = 1.5, -1.2
ACTIVITY_ROUNDS = 100  # of EM
# The density's logarithm and slope are tabulated at so many points up to so many standard
# deviations, and constant beyond; for these shares of noise in an activity.
REACH, POINTS = 6.0, 601
NOISE_SHARES = np.linspace(0.0, 0.9, 19)
# First and last width of a row's narrow part, the steps between, and those at the width of noise.
BOTH_WIDTHS, BOTH_STEPS, BOTH_SHARP = (1.0, 0.3), 150, 30
# Of the last step, added to the next. Measured with 44 of 120 rows known: 9 hits per 1,024 starts
# instead of 6; and scores come to rest.
MOMENTUM = 0.9
FEWEST_STARTS, FIRST_STARTS, MOST_STARTS = 1, 4, 16  # per direction left: least, at first, most
NULL_STARTS = 64  # searches that tell what chance reaches


@dataclass(frozen=True)
class ActivityDensity:
    """Symmetric mixture of Gaussians at `CENTRES` with weights (13,): activities without noise."""

    weight: Array

    @classmethod
    def learn(cls, r: Array, noise: Array) -> ActivityDensity:
        """From activities r (n, M) of unit variance, a share `noise` (n,) of which is noise."""
        weight = _gaussian()
        # Counted at the points of the tables: EM then takes as long for any number of activities.
        point = np.rint((np.clip(r, -REACH, REACH) + REACH) * (POINTS - 1) / (2 * REACH))
        cell = (_nearest(noise)[:, None] * POINTS + point.astype(np.intp)).ravel()
        count = np.bincount(cell, minlength=len(NOISE_SHARES) * POINTS)
        seen = count > 0
        part, count = _parts().reshape(-1, len(CENTRES))[seen], count[seen]
        for _ in range(ACTIVITY_ROUNDS):
            weight = weight * ((count / (part @ weight)) @ part)
            weight = weight + weight[::-1]  # the sign of an activity is arbitrary
            weight /= weight.sum()
        return cls(weight)

    @classmethod
    def from_lengths(cls, U: Array, noise: float) -> ActivityDensity:
        """Before any column is known: flat as far as the lengths of the samples are more equal than
        those of Gaussian samples, else Gaussian.

        The squared length of a sample is the sum of its squared activities whatever the columns
        are, so that its variance tells their mean kurtosis. Longer tails may come from samples that
        differ in size, and say nothing.
        """
        M, K = U.shape
        kurtosis = (U**2).sum(axis=1).var() / K - 2 * (1 - K / M)
        flat = np.where(np.abs(CENTRES) <= FLAT, 1.0, 0.0)
        share = np.clip(kurtosis / (1 - noise) ** 2 / FLAT_KURTOSIS, 0.0, 1.0)
        return cls(share * flat / flat.sum() + (1 - share) * _gaussian())

    def tables(self) -> tuple[Single, Single]:
        """log q above a standard Gaussian's, and the slope of log q, for every share of noise in
        `NOISE_SHARES` and at `POINTS` points."""
        x = np.linspace(-REACH, REACH, POINTS)
        log_q = np.log(np.maximum(_parts() @ self.weight, 1e-300))
        gain = log_q + 0.5 * (x**2 + np.log(2 * np.pi))
        return gain.astype(np.float32), np.gradient(log_q, x, axis=1).astype(np.float32)


def _gaussian() -> Array:
    """Weights of the parts that make a standard Gaussian."""
    weight = np.exp(-0.5 * CENTRES**2 / (1 - PART_WIDTH**2))
    return np.asarray(weight / weight.sum())


def _nearest(noise: Array) -> NDArray[np.intp]:
    """Number of the nearest share of noise in `NOISE_SHARES`."""
    return np.clip(np.rint(noise / NOISE_SHARES[1]), 0, len(NOISE_SHARES) - 1).astype(np.intp)


@cache
def _parts() -> Array:
    """(noises, points, 13) density of each part, with a share of Gaussian noise."""
    x = np.linspace(-REACH, REACH, POINTS)[:, None]
    noise = NOISE_SHARES[:, None, None]
    variance = (1 - noise) * PART_WIDTH**2 + noise
    away = x - np.sqrt(1 - noise) * CENTRES
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
        """As many samples and variables without regulators: Gaussian variables, and samples of
        random directions. They keep their lengths: where samples differ in size, all activities
        have long tails."""
        X, V = rng.standard_normal(self.X.shape), rng.standard_normal(self.Z.shape)
        X *= (np.linalg.norm(self.X, axis=1) / np.linalg.norm(X, axis=1))[:, None]
        X, V = np.linalg.qr(X)[0] * np.sqrt(len(X)), np.linalg.qr(V)[0]
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
        shared: Single = np.resize(np.array([0.0, 0.5], np.float32), (len(A), 1))
        widest, last = BOTH_WIDTHS
        for step in range(first, BOTH_STEPS + BOTH_SHARP):
            early = max(0.0, 1 - step / BOTH_STEPS)
            width2 = last**2 * (widest / last) ** (2 * early) if early else 0.0
            together: Single = (early * shared).astype(np.float32)
            Y, size = self._rows(A, together)
            floor = (1 + self.other) / size[:, 0].astype(np.float64) ** 2
            density = density.with_width(np.maximum(width2, floor))
            D, sums = e_step(Y, density)
            density = m_step(sums, density.v0, widest=0.0)
            # A row of its own scale has unit mean square whatever its length: no step along it.
            weight, fit, power = sums[:, [0, 1, 4]].astype(np.float32).T[..., None]
            D -= (fit / power) * (1 - together) * Y
            D = D / size
            gradient: Single = self._activities(A, self.slope) @ self.X - D @ self.Z
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
        value = np.empty_like(r)
        look_up(r, REACH, tables, _nearest(noise), value)
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
    per_direction, calibrated = FIRST_STARTS, np.inf
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
        elif per_direction < (MOST_STARTS if len(B) >= LITTLE * space.K else FIRST_STARTS):
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
    W, _ = whole.climb(normalised(B * space.noise), BOTH_STEPS)
    u, _, vt = np.linalg.svd(W, full_matrices=False)
    return normalised((u @ vt) / space.noise)


def _left(space: Space, U: Array, B: Array, Q: Array | None = None) -> tuple[Left, Array]:
    """What the columns `B` leave, with the density of their activities; and its basis (K, n)."""
    # Activities are dual to rows: w^T S^-1 b = 0 for the b of any other regulator. S is one over
    # the noise of the coordinates.
    W = normalised(B * space.noise)
    noise = space.noise**2 * len(U) / space.N  # variance in the samples' coordinates
    Q = complement(W, space.K) if Q is None else Q
    if len(B):
        density = ActivityDensity.learn(W @ U.T, W**2 @ noise)
    else:
        density = ActivityDensity.from_lengths(U, min(float(noise.mean()), NOISE_SHARES[-1]))
    power = float((space.noise**-2).mean())  # mean square of an entry of C, in units of its noise
    gain, slope = density.tables()
    left = Left(
        X=(U @ Q).astype(np.float32),
        Z=(space.X / space.noise @ Q).astype(np.float32),
        noise=((Q.T * noise) @ Q).astype(np.float32),
        gain=gain,
        slope=slope,
        typical=np.sqrt(power),
        other=power * space.K / len(U),
    )
    return left, Q
