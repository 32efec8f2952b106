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
from scipy.special import digamma

from rcweb.engine.conventions import LITTLE
from rcweb.engine.posterior.axes import Axes
from rcweb.engine.posterior.covariance import ActivityCovariance
from rcweb.engine.posterior.gibbs import Posterior, starting_state
from rcweb.engine.posterior.kernels import expect_shaped_edges
from rcweb.engine.posterior.slab import (
    EDGE_COUNT,
    MOST_PULL,
    PRIOR_MIX,
    SPREAD,
    STEP,
    density_prior,
    shared_noise,
    shared_scale,
)
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
    axes: Axes, C: Array, *, concentration: float, judged: Mask | None = None
) -> MeanField:
    """Iterate from the network `C` (P, N) until no entry moves by more than `LITTLE`, or `MOST`
    times; then `converged` is False.

    concentration : of the Beta prior on each row's density
    judged : (P,) rows that must come to rest, all by default; rows of noise may flicker on
    """
    rows = slice(None) if judged is None or not judged.any() else judged
    field = _Field(axes, np.asarray(C, dtype=np.float64), concentration)
    change, rounds = np.inf, 0
    while rounds < MOST and (rounds < LEAST or change > LITTLE):
        change = float(field.advance(shaped=rounds >= FIRST)[rows].max())
        rounds += 1
    posterior = Posterior(
        C=field.mean,
        square=field.mean**2 + field.variance,
        probability=field.probability,
        noise=np.sqrt(field.sigma2 * axes.observed),
        precision=field.precision,
    )
    return MeanField(posterior, rounds, change)


class _Field:
    """Means and variances of all entries of C (P, N), and what is learned with them."""

    def __init__(self, axes: Axes, C: Array, concentration: float) -> None:
        self.axes = axes
        self.concentration = concentration
        start = starting_state(axes, C)
        self.mean = start.C
        self.variance = np.zeros_like(self.mean)
        self.probability = np.ones_like(self.mean)
        self.sigma2, self.scale, self.mix = start.variance, start.scale, PRIOR_MIX.copy()
        self.log_odds = np.log(start.pi / (1 - start.pi))
        self.covariance, self.precision = ActivityCovariance(axes.M, len(C)), start.precision

    def advance(self, *, shaped: bool) -> Array:
        """One round: activities given C, then C given activities, then the parameters. Returns the
        largest change in each row (P,), in scales of the row."""
        M, power, mean = self.axes.M, self.axes.power, self.mean
        before = mean.copy()
        # Precision of each variable as the activities see it: weights are uncertain too.
        weight = 1 / (self.sigma2 + self.variance.sum(axis=0))
        RR, Z, response, Sigma = self._activities(weight)
        pulled = response @ mean
        # Cavity: take away what variable i's own data contributed to its regulators' activities.
        own = np.minimum(weight * (mean * pulled).sum(axis=0), MOST_PULL)
        misfit = power - (mean * Z).sum(axis=0)
        free = Z - pulled * (weight / (1 - own) * misfit)
        noise = self.sigma2 + (mean * (Sigma @ mean)).sum(axis=0)
        used = np.zeros(len(self.mix))
        slab = (self.log_odds, self.scale, STEP, SPREAD, self.mix)
        expect_shaped_edges(RR, free, mean, 1 / noise, *slab, self.probability, self.variance, used)
        change = np.abs(mean - before).max(axis=1) / self.scale
        # Second moments E[R^T R], E[c^2] and not squares of means: residuals include uncertainty.
        Q = RR + M * Sigma
        rss = power - 2 * (mean * Z).sum(axis=0) + ((Q @ mean) * mean).sum(axis=0)
        rss += np.diag(Q) @ self.variance
        size = np.sqrt(np.diag(Q) / M)[:, None]  # activities keep unit variance
        self.mean *= size
        self.variance *= size**2
        self.precision = self.covariance.expected(Q / np.outer(size, size))
        self._parameters(np.maximum(rss, self.axes.floor), used if shaped else None)
        return np.asarray(change)

    def _activities(self, weight: Array) -> tuple[Array, Array, Array, Array]:
        """R^T R and R^T G for the mean activities R, their response S, their covariance Sigma."""
        weighted = self.mean * weight
        A = weighted @ self.mean.T + self.precision
        Sigma = np.asarray(np.linalg.inv(A), dtype=np.float64)
        A.flat[:: len(A) + 1] += self.variance @ weight
        response = np.asarray(np.linalg.inv(A), dtype=np.float64)
        H = response @ weighted  # (P, N): R = Y H^T
        R = self.axes.scores(H)
        rest = H * self.axes.rest
        RR = (R.T @ R).astype(np.float64) + rest @ H.T
        Z = self.axes.cross(R) + rest
        return RR, Z, response, Sigma

    def _parameters(self, rss: Array, used: Array | None) -> None:
        """Noise, densities, scales and the slab's shape, as in `gibbs.Chain` but by their means."""
        axes = self.axes
        total, samples = shared_noise(rss, axes.M * axes.observed, axes.observed)
        self.sigma2 = total / samples
        count = self.probability.sum(axis=1)
        power = (self.mean**2 + self.variance).sum(axis=1)
        a, b = density_prior(self.concentration, count, self.mean.shape[1])
        self.log_odds = digamma(a + count) - digamma(b + self.mean.shape[1] - count)
        self.scale = shared_scale(power, count)
        if used is not None:
            mix = used + EDGE_COUNT * PRIOR_MIX
            self.mix = np.maximum(mix / mix.sum(), 1e-6)
