"""How uncertain estimated activities are.

A centred sample is ``x = r C + e`` with noise variances S; its activities are ``x Q`` with the
projection Q. With weights W = C + D known up to an error D, the error of the activities is

    x Q - r = -r (I - W Q) - r D Q + e Q,

whose three parts, shrinkage, uncertain weights and noise, are taken as independent:

    var_q = sum_p u_p (I - W Q)_pq^2 + sum_p E[r_p^2] sum_i d_pi^2 Q_iq^2 + sum_i S_i Q_iq^2

where u is the variance of activities over samples and d the standard errors of the weights. Where Q
gives the posterior mean, the first and the third part add up to the posterior covariance
(W S^-1 W^T + I)^-1 of independent activities; where it is least squares, the first part is zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcweb.engine.missing.project import hole_patterns, solve_holes
from rcweb.engine.posterior.slab import MOST_PULL
from rcweb.engine.types import Array, Mask

# Largest entry of I - W Q that is rounding: activities are then least squares.
NO_SHRINKAGE = 1e-9


@dataclass(frozen=True)
class ActivityError:
    """What the standard deviation of activities is made of.

    projection : (N, P);  weights : (P, N), which predict the variables from activities
    weights_sd : (P, N) standard errors of the weights
    noise : (N,) standard deviation; prior : (P,) variance of the activities over samples
    unit : size of the noise, of which noise and prior are given in multiples
    """

    projection: Array
    weights: Array
    weights_sd: Array
    noise: Array
    prior: Array
    unit: float = 1.0

    def sd(self, X: Array, R: Array) -> Array:
        """Standard deviations (M, P) of the activities R (M, P) of centred samples X (M, N), with
        NaN where nothing was measured."""
        X, R = X / self.unit, R / self.unit
        misfit = self._misfit(X, R)
        variance = self._variance(R, self.projection, misfit)
        # Samples with the same holes share one projection.
        for rows, hole in hole_patterns(np.isnan(X)):
            variance[rows] = self._variance(R[rows], self._without(hole), misfit[rows])
        return np.asarray(np.sqrt(variance) * self.unit)

    def _misfit(self, X: Array, R: Array) -> Array:
        """(M, 1) mean square of what the weights leave of each sample, in units of the noise; at
        least 1. Outliers and samples from elsewhere have more noise than the fit saw."""
        used = self.noise > 0
        rest = (X - R @ self.weights)[:, used] / self.noise[used]
        # A sample may have values in constant variables only.
        count = np.maximum((~np.isnan(rest)).sum(axis=1, keepdims=True), 1)
        return np.maximum(np.nansum(rest**2, axis=1, keepdims=True) / count, 1.0)

    def _without(self, hole: Mask) -> Array:
        """The projection (N, P) of samples that lack the variables `hole` (N,); zero for these."""
        left = np.eye(len(self.weights)) - self.weights[:, hole] @ self.projection[hole]
        measured = np.where(hole[:, None], 0.0, self.projection)
        return solve_holes(left.T, measured.T).T

    def _variance(self, R: Array, projection: Array, misfit: Array) -> Array:
        square = projection**2
        bias = np.eye(len(self.weights)) - self.weights @ projection
        fixed = self.prior @ bias**2 + misfit * (self.noise**2 @ square)
        # E[r^2] = (estimate)^2 + variance.
        return np.asarray(fixed + (R**2 + fixed) @ (self.weights_sd**2 @ square))


def without_overfitting(noise: Array, projection: Array, weights: Array, free: float) -> Array:
    """The noise (N,) behind the residuals of a least-squares fit, in which the noise of a variable
    is partly taken for activity.

    free : share of the samples' degrees of freedom that the fit left, 1 - K / M

    A posterior counts the samples' part itself, but where it works on leading axes only it
    does not count the variables' (measured: 0.91 of the noise at leverage 0.19).
    """
    bias = np.eye(len(weights)) - weights @ projection
    if np.abs(bias).max() > NO_SHRINKAGE:  # a posterior
        free = 1.0
    leverage = np.clip((projection.T * weights).sum(axis=0), 0.0, MOST_PULL)
    return np.asarray(noise / np.sqrt(free * (1 - leverage)))
