"""Newton ascent of the joint likelihood of n <= K oblique columns.

Maximise over unit rows b_k of B, and over one two-part density per row,

    L(B) = sum_k J_k + log volume(B),      J_k = negentropy of the row X b_k.

What the n rows leave of the K directions counts as Gaussian. For n = K this is the likelihood of
`joint.climb`, whose gradient steps are made for narrowing a density step by step; here the density
is free and the steps use the Hessian's 2 x 2 blocks, as Picard does (Ablin, Cardoso & Gramfort
2018), with E[psi'(y_k) y_l^2] measured instead of assumed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.search.joint import normalised
from rcweb.engine.search.kernels import fit_two_part, two_part_derivatives
from rcweb.engine.search.space import Density, Single, Space
from rcweb.engine.types import Array

LEAST_CURVATURE = 0.05  # eigenvalues of the Hessian's blocks are raised to this: ascent is certain
LONGEST = 0.5  # a row turns by at most this in one step, in radians
SHORTEST = 1e-3  # shares of a step below which the line search gives up
SMALLEST_RISE = 1.0  # rise of the whole log-likelihood, in nats, below which the ascent ends
EM_ROUNDS = 2  # EM rounds of the densities per step


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
    def at(cls, space: Space, B: Array, density: Density | None = None, rounds: int = 20) -> Ascent:
        """The point `B`, each density fitted by `rounds` of EM from `density`."""
        B = np.asarray(normalised(B), dtype=np.float64)
        floor = space.floor(B)
        start = Density.start(len(B)) if density is None else density
        start = start.with_width(np.maximum(start.v0, floor))
        fitted = Density(start.pi.copy(), start.v0.copy(), start.v1.copy())
        Y, J = space.rows(B), np.empty(len(B))
        fit_two_part(Y, fitted.pi, fitted.v0, fitted.v1, floor, rounds, J)
        sign, log_volume = np.linalg.slogdet(B @ B.T)
        return cls(B, Y, fitted, J, float(J.sum() + 0.5 * log_volume) if sign > 0 else -np.inf)

    @property
    def score(self) -> Array:
        """Negentropy + log of the length of each row outside the span of the others."""
        return np.asarray(self.J - 0.5 * np.log(np.diag(np.linalg.inv(self.B @ self.B.T))))

    def take(self, space: Space, rows: NDArray[np.intp]) -> Ascent:
        """Some of the rows."""
        return Ascent.at(space, self.B[rows], self.density.take(rows), EM_ROUNDS)


def ascend(space: Space, point: Ascent, steps: int) -> Ascent:
    """At most `steps` Newton steps from `point`, each shortened until L rises."""
    size = 1.0
    for _ in range(steps):
        step = _newton_step(space, point)
        size = min(1.0, 2 * size)
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
    np.fill_diagonal(E, 0)
    outside = gradient - (gradient @ B.T) @ np.linalg.solve(B @ B.T, B)
    step = E @ B - outside / np.maximum(mean_slope - 1, LEAST_CURVATURE)[:, None]
    turn = np.linalg.norm(step - (step * B).sum(axis=1, keepdims=True) * B, axis=1, keepdims=True)
    return np.asarray(step * np.minimum(1, LONGEST / np.maximum(turn, 1e-12)))
