"""The covariance of activities, learned with the network.

Regulators often act together. With independent activities as the prior, one row of the network then
turns into what the others have in common, and the rest lose their targets. So

    r_m ~ N(0, Omega),   Omega ~ inverse Wishart, mean 1, nu pseudo-samples,

and nu, the weight of the prior, is learned too: many pseudo-samples where activities are
independent, few where they are not. With Omega integrated out, the likelihood of nu depends only on
the eigenvalues of Q = R^T R, so nu is chosen from a grid.
"""

from __future__ import annotations

import numpy as np
from scipy.special import multigammaln

from rcweb.engine.types import Array, Rng

# Pseudo-samples per sample. At the upper end the covariance is 1, at the lower end it is that of
# the activities; steps of a factor of 2 are finer than what data tell about a variance.
PRIOR_SAMPLES = 2.0 ** np.arange(-6, 11)


class ActivityCovariance:
    """The inverse of Omega given the activities of M samples of P regulators."""

    def __init__(self, M: int, P: int) -> None:
        self.P = P
        self.nu = PRIOR_SAMPLES * M
        # Degrees of freedom with which the mean of the prior is 1, and those of the posterior.
        prior = self.nu + P + 1
        self.freedom = prior + M
        self.constant = (
            multigammaln(self.freedom / 2, P)
            - multigammaln(prior / 2, P)
            + prior / 2 * P * np.log(self.nu)
        )

    def evidence(self, Q: Array) -> Array:
        """Log-likelihood of activities with ``R^T R = Q`` for each nu, up to a constant."""
        values = np.maximum(np.linalg.eigvalsh(Q), 0.0)
        logdet = np.log(values[:, None] + self.nu).sum(axis=0)
        return np.asarray(self.constant - self.freedom / 2 * logdet)

    def draw(self, Q: Array, rng: Rng) -> Array:
        """A draw of nu, then of the inverse of Omega (P, P)."""
        log = self.evidence(Q)
        # By hand: scipy's logsumexp and numpy's choice take a seventh of the time of a sweep.
        reached = np.exp(log - log.max()).cumsum()
        chosen = int(reached.searchsorted(rng.random() * reached[-1], side="right"))
        root = np.linalg.cholesky(self._scale(Q, chosen))
        drawn = root @ wishart_root(self.freedom[chosen], self.P, rng)
        return np.asarray(drawn @ drawn.T)

    def expected(self, Q: Array) -> Array:
        """The mean of the inverse of Omega (P, P) at the likeliest nu."""
        chosen = int(self.evidence(Q).argmax())
        return np.asarray(self.freedom[chosen] * self._scale(Q, chosen))

    def _scale(self, Q: Array, chosen: int) -> Array:
        inverse = np.linalg.inv(Q + self.nu[chosen] * np.eye(self.P))
        return np.asarray((inverse + inverse.T) / 2)


def wishart_root(n: float, P: int, rng: Rng) -> Array:
    """Bartlett's factor T (P, P): T T^T is Wishart with n > P - 1 degrees of freedom and identity
    scale."""
    T = np.tril(rng.standard_normal((P, P)), -1)
    T.flat[:: P + 1] = np.sqrt(rng.chisquare(n - np.arange(P)))
    return T
