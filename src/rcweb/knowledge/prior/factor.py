"""The activity of a list: one factor behind its targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcweb.engine.types import Array
from rcweb.knowledge.prior.lists import TargetList

MOST_TARGETS = 500  # targets used: more would not make the activity surer
UNIQUE = 0.01  # least share of a variable's variance that the factor leaves


@dataclass(frozen=True)
class Variables:
    """What a fit knows of the variables; N of them, K directions.

    directions (N, K), singular_values (K,) : of the table
    noise, spread : (N,) standard deviation beyond the directions, and in all
    """

    directions: Array
    singular_values: Array
    noise: Array
    spread: Array

    def scaled(self) -> Array:
        """(N, K) coordinates whose products are the correlations of the variables' signals."""
        V = self.directions * self.singular_values
        length = np.maximum(np.linalg.norm(V, axis=1), np.finfo(float).tiny)
        signal = 1 - (self.noise / np.maximum(self.spread, np.finfo(float).tiny)) ** 2
        return np.asarray(V * (np.sqrt(np.clip(signal, 0.0, 1 - UNIQUE)) / length)[:, None])


@dataclass(frozen=True)
class Factor:
    """The activity of one list, of unit variance.

    projection : (N,) activities of centred samples are ``X @ projection``
    weights : (N,) change of each variable with one unit of activity
    std : standard deviation of the error of an activity
    """

    projection: Array
    weights: Array
    std: float


def list_factor(scaled: Array, spread: Array, one: TargetList, probability: Array) -> Factor | None:
    """One factor fitted to the targets (those of `probability` above one half), each counted by its
    probability; None with fewer than two. `scaled` : see `Variables.scaled`.

    The error includes what targets share beyond the factor: they are no independent witnesses.
    """
    targets = np.flatnonzero(probability > 0.5)
    targets = targets[np.argsort(-probability[targets], kind="stable")][:MOST_TARGETS]
    if len(targets) < 2:
        return None
    U, p = scaled[targets], np.sqrt(probability[targets])
    correlation = U @ U.T
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation * np.outer(p, p))
    loading = np.clip(np.sqrt(values[-1]) * vectors[:, -1] / p, -1, 1)
    # Members with a known sign decide which way is up; without any, the majority.
    sign = np.zeros(len(scaled))
    sign[one.members] = one.sign
    if (sign[targets] @ loading or loading.sum()) < 0:
        loading = -loading
    unique = np.maximum(1 - loading**2, UNIQUE)
    w = p**2 * loading / unique
    w = w / (w @ loading)
    error = w @ (correlation - np.outer(loading, loading)) @ w
    projection = np.zeros(len(scaled))
    # A variable that does not vary has nothing to say.
    varies = spread[targets] > 0
    projection[targets[varies]] = w[varies] / spread[targets[varies]]
    return Factor(projection, scaled @ (w @ U) * spread, float(np.sqrt(max(error, 0.0))))
