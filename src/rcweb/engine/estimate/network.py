"""Rows of the network with activities, noise and errors: by least squares, or from a posterior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcweb.engine.condensed import CondensedTable
from rcweb.engine.posterior.gibbs import Posterior
from rcweb.engine.types import Array, Mask


@dataclass(frozen=True)
class NetworkEstimate:
    """Rows of the network before edges are chosen, in units of the rescaled table.

    C : (K, N) weights, activities having unit variance; probability, score : (K, N)
    C_sd : (K, N) standard error of C; fidelity : (K,) expected correlation of C with the truth
    noise : (N,) standard deviation; projection : (N, K) from the rescaled table to activities
    held : whether rows are those of the search, and activities least squares on them
    """

    C: Array
    C_sd: Array
    fidelity: Array
    probability: Array
    score: Array
    noise: Array
    projection: Array
    held: bool = False

    def power(self, M: int) -> Array:
        """Sum of squares that each row explains in M samples, (K,): activities have unit
        variance."""
        return np.asarray(M * (self.C**2).sum(axis=1))


def regress(table: CondensedTable, Y: Array, first: Mask | None = None) -> NetworkEstimate:
    """Activities by least squares on the rows `Y`, both scaled to activities of unit variance;
    every entry counts as an edge, and rows as right. The rest of the rows explains what those of
    `first` leave, if it is given."""
    if first is None:
        projection = np.asarray(np.linalg.pinv(Y), dtype=np.float64)
    else:
        projection = np.empty(Y.T.shape)
        projection[:, first], rest = np.linalg.pinv(Y[first]), np.linalg.pinv(Y[~first])
        projection[:, ~first] = rest - projection[:, first] @ (Y[first] @ rest)
    cross = table.times(projection)  # (N, K): products of variables with activities
    gram = projection.T @ cross
    size = np.sqrt(np.diag(gram) / table.M)
    rest = table.power - 2 * (cross.T * Y).sum(axis=0) + (Y * (gram @ Y)).sum(axis=0)
    noise = np.sqrt(np.maximum(rest, 0.0) / (table.M * table.observed))
    # K directions of the samples are fitted, which the residuals do not show.
    sd = noise / np.sqrt(np.maximum(table.M * table.observed - len(Y), 1.0))
    return NetworkEstimate(
        C=Y * size[:, None],
        C_sd=np.broadcast_to(sd, Y.shape),
        fidelity=np.ones(len(Y)),
        probability=np.ones(Y.shape),
        score=Y,
        noise=noise,
        projection=projection / size,
    )


def from_posterior(table: CondensedTable, posterior: Posterior) -> NetworkEstimate:
    """Means and errors of a posterior, and the projection to its activities."""
    # Posterior mean of activities with prior N(0, Omega): r = (C W C^T + Omega^-1)^-1 C W x. The
    # score is a weight over its standard error, noise / sqrt(samples that measured the variable).
    weight = posterior.C / posterior.noise**2
    A = weight @ posterior.C.T + posterior.precision
    return NetworkEstimate(
        C=posterior.C,
        C_sd=np.sqrt(np.maximum(posterior.square - posterior.C**2, 0.0)),
        fidelity=posterior.fidelity,
        probability=posterior.probability,
        score=posterior.C * np.sqrt((table.M - 1) * table.observed) / posterior.noise,
        noise=posterior.noise,
        projection=np.asarray(np.linalg.solve(A, weight).T, dtype=np.float64),
    )
