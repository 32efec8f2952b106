"""Newton ascent of the joint likelihood of n <= K oblique columns.

Maximise over unit rows b_k of B, and over one two-part density per row,

    L(B) = sum_k J_k + log volume(B),      J_k = negentropy of the row X b_k.

What the n rows leave of the K directions counts as Gaussian. For n = K this is the likelihood of
`joint.climb`, whose gradient steps suit a density that is narrowed step by step; here the density
is free and the steps use the Hessian's 2 x 2 blocks, as Picard does (Ablin, Cardoso & Gramfort
2018), with E[psi'(y_k) y_l^2] measured: it is E[psi'] E[y^2] for independent rows only, and oblique
rows are not independent. Takes 8 to 12 steps where gradient steps take 90.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.search.joint import normalised
from rcweb.engine.search.kernels import fit_two_part, two_part_derivatives
from rcweb.engine.search.space import Density, Single, Space
from rcweb.engine.types import Array

LEAST_CURVATURE = 0.05  # floor of the blocks' eigenvalues, so that every step is uphill
LONGEST = 0.5  # largest turn of a row in one step, in radians
SHORTEST = 1e-3  # fraction of a Newton step below which the line search gives up
# Rise of the whole log-likelihood, in nats, below which the ascent ends: maxima that differ by
# less are not told apart by the data.
SMALLEST_RISE = 1.0
START_ROUNDS = 5  # EM rounds by which one of two first densities is chosen
EM_ROUNDS = 2  # EM rounds of the densities per step; they start from the last step's densities


@dataclass(frozen=True)
class Ascent:
    """A point of the ascent.

    B : (n, K) unit rows
    Y : (n, N) the rows X b
    density : of each row
    J : (n,) negentropy of each row
    L : the objective per variable
    """

    B: Array
    Y: Single
    density: Density
    J: Array
    L: float

    @classmethod
    def at(cls, space: Space, B: Array, density: Density | None = None, rounds: int = 15) -> Ascent:
        """The point `B`, each density fitted by `rounds` of EM from `density`."""
        B = np.asarray(normalised(B), dtype=np.float64)
        Y, floor = space.rows(B), space.floor(B)
        start = _likelier_start(Y, floor) if density is None else density
        fitted, J = _fitted(Y, floor, start, rounds)
        return cls(B, Y, fitted, J, _objective(B, J))

    @property
    def score(self) -> Array:
        """Negentropy + log of the length of each row outside the span of the others.

        Without the second term two copies of one column would both score high.
        """
        return np.asarray(self.J - 0.5 * np.log(np.diag(np.linalg.inv(self.B @ self.B.T))))

    def take(self, rows: NDArray[np.intp]) -> Ascent:
        """Some of the rows; all of them are this point itself."""
        if len(rows) == len(self.B):
            return self
        B, J = self.B[rows], self.J[rows]
        return Ascent(B, self.Y[rows], self.density.take(rows), J, _objective(B, J))


def _likelier_start(Y: Single, floor: Array) -> Density:
    """For each row of `Y` (n, N) the start that is likelier after a few rounds of EM: half of the
    entries may be targets, or a tenth of them beside a background."""
    (wide, J), (settled, other) = (
        _fitted(Y, floor, start, START_ROUNDS)
        for start in (Density.start(len(Y)), Density.settled(len(Y)))
    )
    likelier = np.flatnonzero(other > J)
    return wide.put(likelier, settled.take(likelier))


def _fitted(Y: Single, floor: Array, start: Density, rounds: int) -> tuple[Density, Array]:
    """The density of each row after `rounds` of EM, and its negentropy."""
    start = start.with_width(np.maximum(start.v0, floor))
    fitted, J = Density(start.pi.copy(), start.v0.copy(), start.v1.copy()), np.empty(len(Y))
    fit_two_part(Y, fitted.pi, fitted.v0, fitted.v1, floor, rounds, J)
    return fitted, J


def _objective(B: Array, J: Array) -> float:
    """The objective per variable; -inf for dependent rows, which have no volume, so that a line
    search steps back from them."""
    sign, log_volume = np.linalg.slogdet(B @ B.T)
    return float(J.sum() + 0.5 * log_volume) if sign > 0 else -np.inf


def ascend(space: Space, point: Ascent, steps: int) -> Ascent:
    """At most `steps` Newton steps from `point`, each shortened until L rises.

    Stops when a step gains less than `SMALLEST_RISE`, when no step above `SHORTEST` gains anything,
    or after `steps`. L never falls, so the point returned is the best one seen in any case.
    """
    size = 1.0
    for _ in range(steps):
        step = _newton_step(space, point)
        size = min(1.0, 2 * size)  # back towards full steps after a difficult one
        new = Ascent.at(space, point.B + size * step, point.density, EM_ROUNDS)
        while new.L <= point.L and size > SHORTEST:
            size /= 3
            new = Ascent.at(space, point.B + size * step, point.density, EM_ROUNDS)
        if new.L <= point.L:
            break
        gain, point = (new.L - point.L) * space.N, new
        if gain < SMALLEST_RISE:
            break
    return point


def _newton_step(space: Space, point: Ascent) -> Array:
    """Relative steps E B between the rows, by 2 x 2 blocks, and steps out of their span."""
    B, Y, n = point.B, point.Y, len(point.B)
    psi, slope, mean_slope = np.empty_like(Y), np.empty_like(Y), np.empty(n)
    d = point.density
    two_part_derivatives(Y, d.pi, d.v0, d.v1, psi, slope, mean_slope)
    gradient = (psi @ space.X).astype(np.float64) / space.N
    relative = gradient @ B.T - np.eye(n)
    a = (slope @ (Y * Y).T).astype(np.float64) / space.N
    # Smallest eigenvalue of the block [[a_kl, 1], [1, a_lk]].
    lowest = (a + a.T) / 2 - np.sqrt(((a - a.T) / 2) ** 2 + 1)
    a = a + np.maximum(LEAST_CURVATURE - lowest, 0)
    E = -(a.T * relative - relative.T) / (a * a.T - 1)
    np.fill_diagonal(E, 0)  # rows keep unit length; their scale is in the density
    step = E @ B
    if n < space.K:
        # Directions outside the span count as Gaussian, with psi' = 1: curvature E[psi'] - 1.
        outside = gradient - (gradient @ B.T) @ np.linalg.solve(B @ B.T, B)
        step -= outside / np.maximum(mean_slope - 1, LEAST_CURVATURE)[:, None]
    turn = np.linalg.norm(step - (step * B).sum(axis=1, keepdims=True) * B, axis=1, keepdims=True)
    return np.asarray(step * np.minimum(1, LONGEST / np.maximum(turn, 1e-12)))
