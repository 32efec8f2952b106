"""The response of the measurement: a floor and a ceiling that bend all variables, found and undone.

In ``G = R C + noise`` effects add up. What is measured on one scale need not: amounts of which no
logs were taken go down to a floor, and a detector saturates at a ceiling. Every regulator then
looks like several, since squares, cubes and products of activities are directions of their own.
But one curve bends all variables,

    value = log(reading - floor) - log(ceiling - reading),

and without an end that is infinitely far it is the logarithm, or a straight line. The likelihood
says where the ends are: activities, weights and noise are Gaussian, so that for values Y (M, N)

    - log p = M/2 (sum_{k <= K} log(lambda_k / M) + (N - K) log sigma^2) + M sum_n log noise_n
              - sum_entries log(slope) + K N / 2 log M,

lambda_k the eigenvalues of Y, its variables divided by their noise; the slopes are the Jacobian of
the curve, and the last term is what K directions cost (Schwarz, 1978). A curve that stays in the
table costs a direction for every power of an activity, and noise that follows the reading. No
curve of this family draws both ends together, so long tails alone are not taken for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, ndtri

from rcweb.engine.condensed import ROUNDING
from rcweb.engine.conventions import FEWEST, HALF_WAY, LITTLE
from rcweb.engine.samples import spread
from rcweb.engine.types import Array

# Samples and variables, at most, on which two numbers are estimated, and samples on which a first
# guess is tried: with 64 none of the 43 curves of 461 tables is lost, in a third of the time.
PART_ASKED, GUESSED_BY = (128, 256), 64
# Logarithm of the distance of an end from the readings, whose nearer half has a width of 1: at
# first, its first change, the least (rounding) and the greatest (a line) that are tried.
END_FIRST, END_MOVE, END_NEAREST, END_FARTHEST = -2.0, 2.0, -36.0, 5.0
# In which weights and what is told by them settle.
WEIGHTED_ROUNDS = 20
# Changes of these logarithms, and of nats an entry, at which the search for the ends stops.
END_STILL, COST_STILL = 0.05, 0.001


@dataclass(frozen=True)
class Response:
    """What readings stand for.

    floor, ceiling : that readings approach; infinite if there is none
    lowest, highest : readings that were seen; beyond them the curve goes on as a line
    """

    floor: float
    lowest: float
    highest: float
    ceiling: float

    def __call__(self, X: Array) -> Array:
        """The values of readings of any shape; NaN stays NaN."""
        seen = np.clip(X, self.lowest, self.highest)
        return np.asarray(self._bent(seen) + self.slope(seen) * (X - seen))

    def readings(self, values: Array) -> Array:
        """Of these values."""
        first, last = self._bent(np.array([self.lowest, self.highest]))
        seen = np.clip(values, first, last)
        if np.isinf(self.ceiling):
            X = self.floor + np.exp(seen)
        elif np.isinf(self.floor):
            X = self.ceiling - np.exp(-seen)
        else:
            X = self.floor + (self.ceiling - self.floor) * expit(seen)
        X = np.where(values < first, self.lowest, np.where(values > last, self.highest, X))
        return np.asarray(X + (values - seen) / self.slope(X))

    def _bent(self, X: Array) -> Array:
        return _log(X - self.floor) - _log(self.ceiling - X)

    def slope(self, X: Array) -> Array:
        """Of the values over readings that were seen."""
        return np.asarray(1 / (X - self.floor) + 1 / (self.ceiling - X))

    @property
    def note(self) -> str:
        """What was done, for the user."""
        floor, ceiling = f"{self.floor:.3g}", f"{self.ceiling:.3g}"
        above = f"value - {floor}" if self.floor > 0 else f"value + {floor.lstrip('-')}"
        if np.isinf(self.ceiling):
            where, like = f"a floor of {floor}", "as amounts do before logs are taken"
            instead = f"log({above})"
        elif np.isinf(self.floor):
            where, like = f"a ceiling of {ceiling}", "as a detector that saturates"
            instead = f"-log({ceiling} - value)"
        else:
            where, like = f"a floor of {floor} and a ceiling of {ceiling}", "as if saturated"
            instead = f"log(({above}) / ({ceiling} - value))"
        return (
            f"All variables bend towards {where}, {like}; one regulator would look like several. "
            f"The fit works with {instead} instead; weights are mean effects in the units of the "
            "table. To take values as they are, give response='linear' (--linear)."
        )

    def slopes(self, X: Array) -> Array:
        """(N,) the slope of the readings of each variable over their values, 1 of a constant one:
        values times it are in the units of the readings."""
        Y = self(X)
        X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
        power = (Y * Y).sum(axis=0)
        return np.where(power > 0, (X * Y).sum(axis=0) / np.where(power > 0, power, 1.0), 1.0)


def find_response(readings: Array) -> Response | None:
    """The response that readings (M, N) show, in the units in which they were measured; None if it
    is a line as far as they tell.

    An end is there if without it - log p is greater by more than half of a little. Noise that
    follows the reading is likelier after a bend, too, where effects add up; but then as many
    directions tell more of the readings as they are, by equal weights or by those of such noise.
    Nothing can be told where many readings are equal, as on a scale of few steps.
    """
    extent = np.ptp(readings, axis=0)
    X = readings[:, extent > ROUNDING * extent.max()]  # what varies by rounding alone has no noise
    if min(X.shape) <= 2 * FEWEST or _tied(X := _part(X)) > LITTLE:
        return None
    floor, ceiling, both = [END_FIRST, np.inf], [np.inf, END_FIRST], [END_FIRST, END_FIRST]
    # Measured: of 430 tables 79, 82 and 90 have an end by 0.1, 0.05 and 0.02; the last are hardly
    # bent. Where the first guess gains less than half of that, no other guess gained it.
    enough = HALF_WAY * LITTLE
    few = X[spread(len(X), GUESSED_BY)]
    guessed = min(map(_Ends(few).cost, (floor, ceiling, both)))
    if guessed > _Directions.of(few).cost - HALF_WAY * enough:
        return None
    ends, straight = _Ends(X), _Directions.of(X)
    cost, best = straight.cost, None
    for tried in (min(ends.fit(floor), ends.fit(ceiling)), ends.fit(both)):
        if tried[0] < cost - enough:
            cost, best = tried
    if best is None:
        return None
    response = ends.response(best)
    bent = _Directions.of(response(X))
    K = max(straight.K, bent.K)
    told = straight.told(K)
    added = min(_missed(X, told), _missed(X, _weighted(X, told, K, response)))
    return response if _missed(X, response.readings(bent.told(K))) < added else None


def _weighted(X: Array, told: Array, K: int, response: Response) -> Array:
    """What K directions tell of readings (M, N) whose effects add up while their noise follows the
    reading, as it would with this `response`: weighted low-rank approximation by expectation
    maximisation (Srebro & Jaakkola, 2003), from what is `told` by equal weights."""
    for _ in range(WEIGHTED_ROUNDS):
        precision = response.slope(np.clip(told, response.lowest, response.highest)) ** 2
        weight = precision / precision.max(axis=0)
        Y = weight * X + (1 - weight) * told
        mean = Y.mean(axis=0)
        U = np.linalg.eigh((Y - mean) @ (Y - mean).T)[1][:, -K:]
        told = U @ (U.T @ (Y - mean)) + mean
    return told


def _missed(X: Array, told: Array) -> float:
    """How much of the readings is missed by what is told of them, both as normal scores among all
    readings, which no curve changes."""
    ordered = np.sort(X, axis=None)

    def scores(Y: Array) -> Array:
        rank = (ordered.searchsorted(Y, "left") + ordered.searchsorted(Y, "right")) / 2
        return np.asarray(ndtri(np.clip(rank, 0.5, X.size - 0.5) / X.size))

    return float(((scores(X) - scores(told)) ** 2).sum())


def _part(X: Array) -> Array:
    """Samples and variables of all levels, whatever their order."""
    rows, columns = (
        np.argsort(X.mean(axis=1 - axis), kind="stable")[spread(X.shape[axis], most)]
        for axis, most in enumerate(PART_ASKED)
    )
    return np.asarray(X[np.ix_(rows, columns)])


def _tied(X: Array) -> float:
    """Share of the most frequent reading."""
    return float(np.unique(X, return_counts=True)[1].max() / X.size)


def _log(distance: Array) -> Array:
    """Of the distance from an end; 0 if there is no such end."""
    return np.zeros_like(distance) if np.isinf(distance).any() else np.log(distance)


class _Ends:
    """Floors and ceilings that the readings (M, N) may have; each is given by the logarithm of its
    distance."""

    def __init__(self, X: Array) -> None:
        self.X = X
        self.seen = np.array([X.min(), X.max()])
        self.half = np.array([-1.0, 1.0]) * np.abs(np.median(X) - self.seen)

    def response(self, logs: Sequence[float]) -> Response:
        """With these ends."""
        floor, ceiling = self.seen + np.exp(logs) * self.half
        lowest, highest = self.seen
        # Beside a large level the nearest ends would round to the readings themselves.
        floor = min(floor, np.nextafter(lowest, -np.inf))
        ceiling = max(ceiling, np.nextafter(highest, np.inf))
        return Response(*map(float, (floor, lowest, highest, ceiling)))

    def cost(self, logs: Sequence[float]) -> float:
        """- log p per entry with these ends."""
        response = self.response(logs)
        return _Directions.of(response(self.X)).cost - float(np.log(response.slope(self.X)).mean())

    def fit(self, start: Sequence[float]) -> tuple[float, list[float]]:
        """The least - log p, and with which ends; those infinite at the start stay there."""
        whole = np.array(start)
        free = np.isfinite(whole)
        n = int(free.sum())

        def ends(logs: Array) -> list[float]:
            whole[free] = logs
            return list(whole)

        corners = whole[free] + END_MOVE * np.vstack([np.zeros(n), np.eye(n)])
        found = minimize(
            lambda logs: self.cost(ends(logs)), corners[0], method="Nelder-Mead",
            bounds=[(END_NEAREST, END_FARTHEST)] * n,
            options={"initial_simplex": corners, "xatol": END_STILL, "fatol": COST_STILL},
        )  # fmt: skip
        return float(found.fun), ends(found.x)


@dataclass(frozen=True)
class _Directions:
    """Of values (M, N): mean and noise (N,) of the variables, the scaled values Z (M, N), the
    directions U (M, M) of the samples, the strongest first, the best number K, and - log p per
    entry without the Jacobian."""

    mean: Array
    noise: Array
    Z: Array
    U: Array
    K: int
    cost: float

    @classmethod
    def of(cls, values: Array) -> _Directions:
        mean = values.mean(axis=0)
        centred = values - mean
        size = np.maximum(centred.std(axis=0), ROUNDING * np.abs(centred).max())
        # Noise by the directions, then directions by the noise; a second time changes little.
        Z = centred / size
        U, costs = _axes(Z)
        U = U[:, : costs.argmin() + 1]
        rest = Z - U @ (U.T @ Z)
        noise = size * np.maximum(np.sqrt((rest * rest).mean(axis=0)), LITTLE**2)
        Z = centred / noise
        U, costs = _axes(Z)
        cost = costs.min() / Z.size + np.log(noise).mean()
        return cls(mean, noise, Z, U, int(costs.argmin()) + 1, float(cost))

    def told(self, K: int) -> Array:
        """(M, N) what K directions tell of the values."""
        U = self.U[:, :K]
        return np.asarray(U @ (U.T @ self.Z) * self.noise + self.mean)


def _axes(Z: Array) -> tuple[Array, Array]:
    """Directions of the samples of scaled values, and - log p with the first 1, 2, ... of them, at
    most half of what there are."""
    M, N = Z.shape
    squares, U = np.linalg.eigh(Z @ Z.T)
    squares, U = np.maximum(squares[::-1], ROUNDING**2 * squares[-1]), U[:, ::-1]
    K = np.arange(1, max(min(M - 1, N) // 2, 1) + 1)
    rest = np.maximum(squares.sum() - np.cumsum(squares)[: len(K)], ROUNDING**2 * squares[0])
    noise = rest / ((M - 1 - K) * (N - K))
    logs = np.cumsum(np.log(squares[: len(K)] / M))
    return U, M / 2 * (logs + (N - K) * np.log(noise)) + K * N / 2 * np.log(M)
