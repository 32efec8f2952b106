"""The posterior without sampling: mean-field equations with their reaction term.

The model is that of `rcweb.engine.posterior.gibbs`. The means of R and C are iterated in turn, the
variance of each entering the equation of the other. Plain mean field is overconfident, since an
entry of C is judged by activities that it has itself helped to estimate (realised false discovery
rate 0.09-0.18 at nominal 0.05; with the reaction term 0.04-0.06). Here each variable is judged by
cavity activities, without its own pull, and their uncertainty counts as noise (the cavity
argument of Thouless, Anderson & Palmer 1977; approximate message passing for matrix factorisation,
Kabashima et al. 2016). With c_i the mean of variable i's column of C and S the response of R,

    R = G W C^T S,   S^-1 = C W C^T + Omega^-1 + diag(sum_i w_i var c_pi),
    w_i = 1 / (sigma_i^2 + var),
    z_i = R^T g_i - k_i (e_i . g_i) S c_i,   e_i = g_i - R c_i,   k_i = w_i / (1 - w_i c_i^T S c_i),
    noise of variable i in the choice of its edges:  sigma_i^2 + c_i^T Sigma c_i.

Where the posterior has one mode near the start, a few rounds agree with hundreds of sweeps of the
sampler in means and in calibration. Where it has several, the rounds do not converge; `change`
then stays large, and the caller samples instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcweb.engine.conventions import LITTLE
from rcweb.engine.posterior.axes import Axes
from rcweb.engine.posterior.covariance import ActivityCovariance
from rcweb.engine.posterior.entries import Entries
from rcweb.engine.posterior.gibbs import Posterior, starting_state
from rcweb.engine.posterior.slab import MOST_PULL, shared_noise
from rcweb.engine.types import Array, Mask

FIRST = 1  # rounds before the slab's shape is learned
LEAST = 5  # rounds at least: a first small step is no convergence
# Measured: very sparse rows converge in 10 rounds; with 30, noisy tables (3A, M=150) converge too,
# but 0.006 below the sampler.
MOST = 15


@dataclass(frozen=True)
class MeanField:
    """Where the equations ended.

    posterior, rounds : of the last round, and how many there were
    change : the largest in the last round, of an entry of C in scales of its row
    """

    posterior: Posterior
    rounds: int
    change: float

    @property
    def converged(self) -> bool:
        """Whether the last change was little. Measured: above 0.14 in all wrong, noisy fits, below
        0.09 in good ones."""
        return self.change <= LITTLE


def mean_field(
    axes: Axes,
    C: Array,
    background: Array,
    *,
    concentration: float,
    judged: Mask | None = None,
    stay: float = 0.0,
    tail: float = 0.0,
) -> MeanField:
    """Iterate from the network `C` (P, N) until no entry moves by more than `LITTLE`, or `MOST`
    times; then `converged` is False.

    background : (P,) variance of the entries of `C` beside the edges, where to start
    concentration : of the Beta prior on each row's density
    judged : (P,) rows that must come to rest, all by default; rows of noise may flicker on
    stay : least cosine with the start that most of these rows must keep; else this ends at once,
        and `converged` is False
    tail : share of the background in its tail
    """
    rows = slice(None) if judged is None or not judged.any() else judged
    field = _Field(axes, np.asarray(C, dtype=np.float64), background, concentration, tail)
    change, rounds = np.inf, 0
    while rounds < MOST and (rounds < LEAST or change > LITTLE):
        change = float(field.advance(shaped=rounds >= FIRST)[rows].max())
        rounds += 1
        if (_cosines(C[rows], field.entries.mean[rows]) < stay).mean() > LITTLE:
            change = np.inf
            break
    entries = field.entries
    posterior = Posterior(
        C=entries.mean,
        square=entries.mean**2 + entries.variance,
        probability=entries.edge_probability,
        noise=np.sqrt(field.sigma2 * axes.observed),
        precision=field.precision,
    )
    return MeanField(posterior, rounds, change)


def _cosines(one: Array, two: Array) -> Array:
    """(n,) |cosine| of each row of `one` with the same row of `two`."""
    length = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
    return np.asarray(np.abs((one * two).sum(axis=1)) / np.maximum(length, 1e-300))


class _Field:
    """The entries of C, and what is learned with them: noise and the covariance of activities."""

    def __init__(
        self, axes: Axes, C: Array, background: Array, concentration: float, tail: float
    ) -> None:
        self.axes = axes
        start = starting_state(axes, C)
        grown = (start.C**2).sum(axis=1) / np.maximum((C**2).sum(axis=1), 1e-300)
        self.entries = Entries(start.C, background * grown, concentration, tail)
        self.sigma2 = start.variance
        self.covariance, self.precision = ActivityCovariance(axes.M, len(C)), start.precision

    def advance(self, *, shaped: bool) -> Array:
        """One round: activities given C, then C given activities, then the parameters. Returns the
        largest change in each row (P,), in scales of the row."""
        M, power, entries = self.axes.M, self.axes.power, self.entries
        mean, variance, before = entries.mean, entries.variance, entries.mean.copy()
        # Precision of each variable as the activities see it: weights are uncertain too.
        weight = 1 / (self.sigma2 + variance.sum(axis=0))
        RR, Z, response, Sigma = self._activities(weight)
        pulled = response @ mean
        # Cavity: take away what variable i's own data contributed to its regulators' activities.
        own = np.minimum(weight * (mean * pulled).sum(axis=0), MOST_PULL)
        misfit = power - (mean * Z).sum(axis=0)
        free = Z - pulled * (weight / (1 - own) * misfit)
        noise = self.sigma2 + (mean * (Sigma @ mean)).sum(axis=0)
        entries.expect(RR, free, 1 / noise)
        change = np.abs(mean - before).max(axis=1) / entries.scale
        # Second moments E[R^T R], E[c^2] and not squares of means: residuals include uncertainty.
        Q = RR + M * Sigma
        rss = power - 2 * (mean * Z).sum(axis=0) + ((Q @ mean) * mean).sum(axis=0)
        rss += np.diag(Q) @ variance
        size = np.sqrt(np.diag(Q) / M)  # activities keep unit variance
        entries.rescale(size)
        self.precision = self.covariance.expected(Q / np.outer(size, size))
        observed = self.axes.observed
        total, samples = shared_noise(np.maximum(rss, self.axes.floor), M * observed, observed)
        self.sigma2 = total / samples
        entries.learn(shaped=shaped)
        return np.asarray(change)

    def _activities(self, weight: Array) -> tuple[Array, Array, Array, Array]:
        """R^T R and R^T G for the mean activities R, their response S, their covariance Sigma."""
        weighted = self.entries.mean * weight
        A = weighted @ self.entries.mean.T + self.precision
        Sigma = np.asarray(np.linalg.inv(A), dtype=np.float64)
        A.flat[:: len(A) + 1] += self.entries.variance @ weight
        response = np.asarray(np.linalg.inv(A), dtype=np.float64)
        H = response @ weighted  # (P, N): R = Y H^T
        R = self.axes.scores(H)
        rest = H * self.axes.rest
        RR = (R.T @ R).astype(np.float64) + rest @ H.T
        Z = self.axes.cross(R) + rest
        return RR, Z, response, Sigma
