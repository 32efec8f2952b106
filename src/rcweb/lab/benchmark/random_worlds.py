"""Tables of kinds that nobody chose: every property of a world is drawn at random.

The worlds of `foreign_worlds` differ from the model in one way each, and an engine may learn them.
Here sizes, weights, backgrounds, activities, noise, and what the measurement does to all of it are
drawn together, so that an answer is judged where nobody has looked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rcweb.engine.types import Array, Mask, Rng
from rcweb.lab.benchmark.foreign_worlds import World, autoregressive, with_noise

Part = Callable[[Rng, int, int], Array]
N_WORLDS = 100


@dataclass(frozen=True)
class RandomCell:
    """Random world number `number`; asked : "known" (P) or "auto"."""

    figure: str
    panel: str
    number: int
    asked: str = "known"

    @property
    def label(self) -> str:
        """A name to read, unique within a plan."""
        return f"{self.panel} ({self.asked})"

    @property
    def key(self) -> str:
        """A name that changes with every argument."""
        return f"{self.figure} {self.label}"

    @property
    def n_regulators(self) -> int:
        """Of the first table."""
        return len(self.draw(0).rows)

    def about(self, seed: int) -> str:
        """What the table number `seed` is like."""
        return _draw(self.number, seed)[1]

    def draw(self, seed: int) -> World:
        """The table number `seed`; "known" and "auto" share it."""
        return _draw(self.number, seed)[0]


@lru_cache(maxsize=2)
def _draw(number: int, seed: int) -> tuple[World, str]:
    return random_world(np.random.default_rng([number, seed, 2010]))


def random_cells(asked: str = "known") -> tuple[RandomCell, ...]:
    """The first worlds."""
    return tuple(RandomCell("random", f"world {n}", n, asked) for n in range(N_WORLDS))


def _log_uniform(rng: Rng, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


# (P, N) weights of edges, of about unit size.
KINDS_OF_WEIGHTS: dict[str, Part] = {
    "normal": lambda rng, P, N: rng.standard_normal((P, N)),
    "even": lambda rng, P, N: rng.choice([-1.0, 1.0], (P, N)) * rng.uniform(0.5, 1.5, (P, N)),
    "positive": lambda rng, P, N: rng.uniform(0.3, 1.7, (P, N)),
    "long-tailed": lambda rng, P, N: rng.laplace(0, 0.7, (P, N)),
}

# (M, P) activities of about unit variance.
KINDS_OF_ACTIVITIES: dict[str, Part] = {
    "normal": lambda rng, M, P: rng.standard_normal((M, P)),
    "uniform": lambda rng, M, P: rng.uniform(-1.7, 1.7, (M, P)),
    "long-tailed": lambda rng, M, P: rng.laplace(0, 0.7, (M, P)),
    "on or off": lambda rng, M, P: np.where(
        rng.random((M, P)) < rng.uniform(0.1, 0.5, P), 2.0, 0.0
    ),
    "time series": lambda rng, M, P: autoregressive(rng, M, P, 0.8),
    "correlated": lambda rng, M, P: (
        np.sqrt(0.5) * (rng.standard_normal((M, 1)) + rng.standard_normal((M, P)))
    ),
}

# (M, N) noise of about unit variance.
KINDS_OF_NOISE: dict[str, Part] = {
    "white": lambda rng, M, N: rng.standard_normal((M, N)),
    "unequal variables": lambda rng, M, N: (
        rng.lognormal(-0.25, 0.5, N) * rng.standard_normal((M, N))
    ),
    "unequal samples": lambda rng, M, N: (
        rng.lognormal(-0.25, 0.5, (M, 1)) * rng.standard_normal((M, N))
    ),
    "long-tailed": lambda rng, M, N: np.asarray(rng.standard_t(4, (M, N)) / np.sqrt(2)),
    "time series": lambda rng, M, N: autoregressive(rng, M, N, 0.6),
    "of neighbours": lambda rng, M, N: autoregressive(rng, N, M, 0.6).T,
}


def _counted(rng: Rng, X: Array) -> Array:
    """log2(1 + Poisson), 2 to 200 expected for a typical variable."""
    depth = _log_uniform(rng, 2, 200)
    rate = depth * rng.lognormal(0, 1, X.shape[1]) * np.exp(0.5 * X / X.std())
    return np.log2(1 + rng.poisson(rate))


def _rounded(rng: Rng, X: Array) -> Array:
    """On a scale of five steps, as in a questionnaire."""
    return np.clip(np.round(X / X.std()), -2, 2)


def _censored(rng: Rng, X: Array) -> Array:
    """Nothing is seen below a limit that is passed by a tenth to four tenths of the entries."""
    X = X + X.std() * rng.standard_normal(X.shape[1])
    return np.maximum(X, np.quantile(X, rng.uniform(0.1, 0.4)))


def _in_batches(rng: Rng, X: Array) -> Array:
    """Three batches, each of which shifts every variable."""
    shift = rng.uniform(0.3, 1) * X.std() * rng.standard_normal((3, X.shape[1]))
    return X + shift[rng.integers(3, size=len(X))]


# What the measurement does to the table; most leave it as it is.
MEASUREMENTS: dict[str, Callable[[Rng, Array], Array]] = {
    "as it is": lambda rng, X: X,
    "in other units": lambda rng, X: X * rng.lognormal(0, 1, X.shape[1]),
    "saturating": lambda rng, X: np.tanh(rng.uniform(0.5, 2) * X / X.std()),
    "exponential": lambda rng, X: np.exp(rng.uniform(0.2, 0.6) * X / X.std()),
    "counted": _counted,
    "rounded": _rounded,
    "censored": _censored,
    "in batches": _in_batches,
}
PLAIN_SHARE = 0.4  # of the tables are as they are


def random_world(rng: Rng) -> tuple[World, str]:
    """A world, and what it is like. True weights are those before the measurement, times the slope
    of what is measured of each variable over what it was."""
    P = round(_log_uniform(rng, 3, 40))
    N = round(_log_uniform(rng, max(100, 8 * P), 2000))
    M = round(_log_uniform(rng, max(25, 2 * P), 600))
    mask = _targets(rng, P, N)
    weights, activities, noise = (
        str(rng.choice(list(kinds)))
        for kinds in (KINDS_OF_WEIGHTS, KINDS_OF_ACTIVITIES, KINDS_OF_NOISE)
    )
    C = np.where(mask, KINDS_OF_WEIGHTS[weights](rng, P, N), 0.0)
    background = float(rng.uniform(0.03, 0.3)) if rng.random() < 0.4 else 0.0
    small = (
        rng.laplace(0, np.sqrt(0.5), C.shape) if rng.random() < 0.5 else rng.normal(size=C.shape)
    )
    C = np.where(mask, C, background * small)
    R = KINDS_OF_ACTIVITIES[activities](rng, M, P)
    ratio = _log_uniform(rng, 0.1, 1)
    X = with_noise(rng, R @ C, KINDS_OF_NOISE[noise](rng, M, N), ratio)
    measured = str(rng.choice(list(MEASUREMENTS))) if rng.random() > PLAIN_SHARE else "as it is"
    before, X = X - X.mean(axis=0), MEASUREMENTS[measured](rng, X)
    slope = (before * X).sum(axis=0) / (before**2).sum(axis=0)
    about = (
        f"{M} x {N}, {P} regulators, density {mask.mean():.2f}; weights {weights}, background "
        f"{background:.2f}; activities {activities}; noise {noise}, {ratio:.2f}; {measured}"
    )
    return World(X, C * slope, mask & (X.std(axis=0) > 0)), about


def _targets(rng: Rng, P: int, N: int) -> Mask:
    """Every regulator has a density of its own, and five targets at least."""
    density = np.exp(rng.uniform(np.log(0.02), np.log(0.3), P))
    mask = rng.random((P, N)) < density[:, None]
    for row in mask:
        row[rng.choice(N, 5, replace=False)] = True
    return mask
