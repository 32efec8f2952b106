"""Linear models of all regulators at once, with variances that borrow from each other.

Smyth (2004), Linear models and empirical Bayes methods for assessing differential expression in
microarray experiments: residual variances s^2 with d degrees of freedom have a common prior,
``1 / sigma^2 ~ chi^2_d0 / (d0 s0^2)``, whose d0 and s0^2 follow from mean and variance of log s^2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, polygamma

from rcweb.engine.types import Array, Mask

FEWEST_VARIANCES = 3  # variances from which a prior can be learned
SMALLEST = 1e-5  # of the median variance: a smaller one is rounding, and its logarithm would rule
ESTIMABLE = 1e-8  # relative size of what may be left of an estimable contrast


@dataclass(frozen=True)
class LinearFit:
    """Least squares of Y (M, P) on a design (M, k).

    coefficients : (k, P);  covariance : (k, k), of coefficients in units of the variance
    estimable : (k, k) projection on the contrasts that the data determine
    variance : (P,) of residuals, with df degrees of freedom
    """

    coefficients: Array
    covariance: Array
    estimable: Array
    variance: Array
    df: int

    @classmethod
    def of(cls, design: Array, Y: Array) -> LinearFit:
        """Columns of the design may depend on each other."""
        inverse = np.linalg.pinv(design)
        coefficients = inverse @ Y
        rest = Y - design @ coefficients
        projection = inverse @ design  # of coefficients on those that the data determine
        df = len(Y) - round(float(np.trace(projection)))
        variance = (rest * rest).sum(axis=0) / max(df, 1)
        # Rounding of large values is no residual.
        variance[variance < (1e-14 * np.abs(Y).max(axis=0)) ** 2] = 0.0
        return cls(coefficients, inverse @ inverse.T, projection, variance, df)

    def contrasts(self, c: Array) -> tuple[Array, Array, Mask]:
        """Values (n, P) of contrasts (n, k), their variances (n,) in units of the residual one, and
        which of them (n,) the data determine."""
        known = np.asarray(np.abs(c @ self.estimable - c).max(axis=1) < ESTIMABLE)
        return c @ self.coefficients, ((c @ self.covariance) * c).sum(axis=1), known


def moderate(variance: Array, df: int) -> tuple[Array, float]:
    """Posterior variances (P,) and their degrees of freedom; with few regulators those given."""
    if len(variance) < FEWEST_VARIANCES:
        return variance, float(df)
    d0, s0 = variance_prior(variance, df)
    # At most the degrees of freedom of all: the prior was learned from no more.
    total = min(df + d0, df * len(variance))
    if np.isinf(d0):
        return np.full_like(variance, s0), total
    return (d0 * s0 + df * variance) / (d0 + df), total


def variance_prior(variance: Array, df: int) -> tuple[float, float]:
    """d0 and s0^2 of the prior; d0 is infinite where variances differ no more than by chance."""
    middle = float(np.median(variance))
    if middle == 0:  # most residuals are zero: nothing to share
        return 0.0, 0.0
    log = np.log(np.maximum(variance, SMALLEST * middle)) - digamma(df / 2) + np.log(df / 2)
    spread = float(log.var(ddof=1) - polygamma(1, df / 2))
    if spread <= 0:
        return np.inf, float(np.exp(log.mean()))
    d0 = 2 * inverse_trigamma(spread)
    return d0, float(np.exp(log.mean() + digamma(d0 / 2) - np.log(d0 / 2)))


def inverse_trigamma(x: float) -> float:
    """y with trigamma(y) = x > 0, by Newton's method on 1 / trigamma, which is convex and nearly
    linear (Smyth 2004, appendix): steps go one way and converge from any x."""
    if x > 1e7:
        return float(1 / np.sqrt(x))
    if x < 1e-6:
        return 1 / x
    y = 0.5 + 1 / x
    for _ in range(50):
        value = float(polygamma(1, y))
        step = value * (1 - value / x) / float(polygamma(2, y))
        y += step
        if -step / y < 1e-8:
            break
    return y
