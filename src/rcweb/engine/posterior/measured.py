"""The joint posterior with measured regulators: columns of R known in some samples, with error.

To the model of `rcweb.engine.posterior.gibbs` each measured factor k adds

    u_mk = o_k + D_k r_ms + e_mk,   e_mk ~ N(0, tau_k^2),   s the regulator that it measures,

in the samples m in which it was measured (paper, section 4.3; D_k is its D_ss). Given all else, the
activities of such a sample are Gaussian with the precision of the table's plus D_k^2 / tau_k^2 on
the diagonal; offset, scale and error are those of a regression of u_k on r_s. All other samples
still enter by their axes alone, so that a sweep costs only the measured samples more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcweb.engine.conventions import LITTLE
from rcweb.engine.posterior.axes import Axes
from rcweb.engine.posterior.gibbs import Chain, State, draw_activities
from rcweb.engine.solution import FactorScales
from rcweb.engine.types import Array, Ints, Rng


@dataclass(frozen=True)
class MeasuredSamples:
    """Samples in which something was measured, apart from all others.

    rows : (n, N) of the table
    values : (n, F) measured factors, NaN where not measured
    regulator : (F,) number of the regulator that each factor measures
    others : the axes of all other samples
    """

    rows: Array
    values: Array
    regulator: Ints
    others: Axes


@dataclass
class Measurement:
    """What links each factor to its regulator: scale D, offset, variance of the error, all (F,)."""

    scale: Array
    offset: Array
    variance: Array


class MeasuredChain(Chain):
    """A Gibbs chain that knows some activities; `axes` are those of the whole table."""

    def __init__(
        self, axes: Axes, C: Array, rng: Rng, samples: MeasuredSamples, *, concentration: float
    ) -> None:
        super().__init__(axes, C, rng, concentration=concentration)
        self.samples = samples
        self.first = True
        self.kept: list[Array] = []
        self.spread = np.nanvar(samples.values, axis=0)
        weighted = self.state.C / self.state.variance
        precision = weighted @ self.state.C.T + self.state.precision
        R = np.linalg.solve(precision, weighted @ samples.rows.T).T
        F = samples.values.shape[1]
        self.measurement = Measurement(np.zeros(F), np.zeros(F), np.ones(F))
        self._draw_measurement(np.asarray(R, dtype=np.float64))

    def links(self, level: float) -> FactorScales:
        """Scale, with its interval, offset and error over the sweeps since `kept` was emptied."""
        scale, offset, variance = np.moveaxis(np.array(self.kept), 1, 0)
        low, high = np.quantile(scale, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return FactorScales(
            scale.mean(axis=0), low, high, offset.mean(axis=0), np.sqrt(variance.mean(axis=0))
        )

    def trust_first(self, sweeps: int) -> None:
        """Sweeps in which errors take little of the factors' variance; call it first.

        Regulators are then drawn towards their measurements; otherwise a wrong start finds the
        measurements useless, and remains. Measured (3A, M=100, half of the samples measured, error
        0.3): accuracy of the rows 0.77 instead of 0.71; a share of 0.02 gives the same.
        """
        self.advance(sweeps, shaped=False)
        self.first = False

    def _draw_activities(self) -> tuple[Array, Array, float]:
        Q, Z, likelihood = draw_activities(self.samples.others, self.state, self.rng)
        R, more = draw_measured_activities(self.samples, self.state, self.measurement, self.rng)
        self._draw_measurement(R)
        return Q + R.T @ R, Z + R.T @ self.samples.rows, likelihood + more

    def _rescale(self, size: Array) -> None:
        super()._rescale(size)
        self.measurement.scale *= size[self.samples.regulator]

    def _draw_measurement(self, R: Array) -> None:
        """Scale, offset and error of every factor given the activities (n, P), flat priors."""
        for k, s in enumerate(self.samples.regulator):
            u = self.samples.values[:, k]
            seen = np.isfinite(u)
            A = np.column_stack([R[seen, s], np.ones(seen.sum())])
            # A trace of ridge: activities may be equal in all measured samples.
            inverse = np.linalg.inv(A.T @ A + 1e-9 * np.eye(2))
            mean = inverse @ (A.T @ u[seen])
            # Two pseudo-measurements, with little of the factor's standard deviation as error, keep
            # the error from shrinking to zero, where R would be fixed at the measurements.
            rest = ((u[seen] - A @ mean) ** 2).sum() + 2 * LITTLE**2 * self.spread[k]
            # n measurements and two pseudo-measurements, two parameters.
            variance = rest / 2 / self.rng.gamma(seen.sum() / 2)
            if self.first:
                variance = min(variance, LITTLE * self.spread[k])
            root = np.linalg.cholesky(variance * inverse)
            drawn = mean + root @ self.rng.standard_normal(2)
            self.measurement.scale[k], self.measurement.offset[k] = drawn
            self.measurement.variance[k] = variance
        link = self.measurement
        self.kept.append(np.array([link.scale, link.offset, link.variance]))


def draw_measured_activities(
    samples: MeasuredSamples, state: State, measurement: Measurement, rng: Rng
) -> tuple[Array, float]:
    """Activities R (n, P) of the measured samples given C, the noise and what was measured; and the
    log-likelihood of both, table and measurements, with R integrated out, up to a constant."""
    weighted = state.C / state.variance
    A = weighted @ state.C.T + state.precision
    seen = np.isfinite(samples.values)
    # What each measurement adds to the precision and to the pull of its regulator's activity.
    precision = measurement.scale**2 / measurement.variance
    centred = np.where(seen, samples.values - measurement.offset, 0.0)
    pull = samples.rows @ weighted.T
    np.add.at(pull.T, samples.regulator, (centred * measurement.scale / measurement.variance).T)
    R, total = np.empty_like(pull), 0.0
    # One decomposition for all samples in which the same factors were measured.
    patterns, which = np.unique(seen, axis=0, return_inverse=True)
    for i, pattern in enumerate(patterns):
        rows = np.flatnonzero(which.ravel() == i)
        known = A.copy()
        np.add.at(known, (samples.regulator, samples.regulator), np.where(pattern, precision, 0.0))
        root = np.linalg.cholesky(known)
        inverse_root = np.linalg.inv(root)
        mean = pull[rows] @ inverse_root.T
        R[rows] = (mean + rng.standard_normal(mean.shape)) @ inverse_root
        logdet = 2 * np.log(np.diag(root)).sum() + np.log(measurement.variance[pattern]).sum()
        total += (mean**2).sum() - len(rows) * logdet
    misfit = (samples.rows**2 / state.variance).sum()
    misfit += (centred**2 / measurement.variance).sum()
    logdet = np.log(state.variance).sum() - np.linalg.slogdet(state.precision)[1]
    logdet *= len(samples.rows)
    return R, float(0.5 * (total - misfit - logdet))
