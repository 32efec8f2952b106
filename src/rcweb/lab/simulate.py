"""Planted networks and data from them (paper, section 4).

The model is ``G = R C + noise`` with ``R`` (samples x regulators), ``C`` (regulators x variables)
sparse. Everything that was planted is returned beside the data, so that a result can be scored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from rcweb.engine.types import Array, Mask, Rng


@dataclass(frozen=True)
class Simulation:
    """Data and the truth behind it, of `simulate`.

    data : (M, N) what a user would measure, G
    activities : (M, P) states of the hidden regulators, R
    network : (P, N) signed weights of the edges, C; zero = no edge
    noise_sd : (N,) standard deviation of the noise of each variable
    """

    data: Array
    activities: Array
    network: Array
    noise_sd: Array

    @property
    def edges(self) -> Mask:
        """Where the network has an edge, (P, N)."""
        return self.network != 0


def simulate(
    n_samples: int = 280,
    n_features: int = 500,
    n_regulators: int = 30,
    *,
    network: str = "poisson",
    density: float = 0.1,
    weights: str = "normal",
    regulators: str = "uniform",
    noise: float = 0.1,
    noise_convention: str = "ratio",
    noise_kind: str = "homoscedastic",
    random_state: int | Rng | None = None,
) -> Simulation:
    """Draw a network, regulator states and noisy data.

    n_samples, n_features, n_regulators : sizes M, N and P
    network : ``poisson``: every edge with probability `density` (Erdos-Renyi).
        ``powerlaw``: out-degrees k with p(k) ~ k^-2 on [k_min, N], k_min chosen for the mean.
        ``hubs``: out-degrees as in ``powerlaw`` and targets drawn with Pareto propensities, so
        that variables have hubs too. ``modules``: Poisson, but regulators come in pairs that share
        half of their targets. ``author_poisson``, ``author_powerlaw``: the generators of the
        paper's own program; the second spaces out-degrees from about 0.65 N to 0.09 N and takes no
        density, the first adds to every regulated variable one more random regulator.
    density : mean out-degree divided by the number of variables, in (0, 1)
    weights : of the edges. ``normal``: N(0, 1). ``uniform``: U(-1, 1). ``bounded``: random sign
        times U(0.5, 1.5). ``positive``: U(0.5, 1.5). ``author``: U(-0.5, 0.5)
    regulators : their states. ``uniform``: U(0, 1), the paper's. ``gaussian``: N(0, 1).
        ``correlated``: N(0, 1) with correlation 0.3 between all pairs. ``autocorrelated``:
        first-order autoregressive over samples, coefficient 0.7. ``heavy``: Student t with 3
        degrees of freedom
    noise, noise_convention : the level and its meaning.
        ``ratio``: sd of the noise / sd of the centred noise-free data, both over the whole table.
        ``author``: U(-0.5, 0.5) noise E times ``noise * var(G) / var(E)`` (variances, of the
        table that is not centred): "50 %" is then not half of the signal's spread
    noise_kind : ``homoscedastic``, ``per_variable`` (sd log-normal over variables, log-sd 0.5) or
        ``heavy`` (Student t with 3 degrees of freedom), each with the overall sd of `noise`. The
        author's convention knows only the first
    random_state : seed, or a `numpy.random.Generator`; the same seed gives the same data

    Returns a `Simulation`. Raises ValueError, with the words that are allowed, for any other.

    Examples
    --------
    >>> from rcweb.simulate import simulate
    >>> truth = simulate(100, 80, 4, network="hubs", noise=0.5, random_state=0)
    >>> truth.data.shape, truth.activities.shape, truth.network.shape
    ((100, 80), (100, 4), (4, 80))
    """
    _check(n_samples, n_features, n_regulators, density, noise)
    draw_edges = _choose("network", network, NETWORKS)
    draw_weights = _choose("weights", weights, WEIGHTS)
    draw_regulators = _choose("regulators", regulators, REGULATORS)
    rng = np.random.default_rng(random_state)
    # Fixed order of draws (edges, weights, states, noise): changing it would change every seed.
    mask = draw_edges(rng, n_regulators, n_features, density)
    C = np.where(mask, draw_weights(rng, mask.shape), 0.0)
    R = draw_regulators(rng, n_samples, n_regulators)
    clean = R @ C
    if noise_convention == "author":
        if noise_kind != "homoscedastic":
            raise ValueError(
                f"noise_kind={noise_kind!r} needs noise_convention='ratio'; "
                "the author's convention has homoscedastic noise only."
            )
        E, sd = _author_noise(rng, clean, noise)
    elif noise_convention == "ratio":
        E, sd = _ratio_noise(rng, clean, noise, noise_kind)
    else:
        raise ValueError(f"noise_convention must be 'ratio' or 'author', not {noise_convention!r}.")
    return Simulation(data=clean + E, activities=R, network=C, noise_sd=sd)


def _check(M: int, N: int, P: int, density: float, noise: float) -> None:
    for name, value in (("n_samples", M), ("n_features", N), ("n_regulators", P)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, not {value}.")
    if not 0 < density < 1:
        raise ValueError(f"density must lie between 0 and 1, not {density}.")
    if not noise >= 0:
        raise ValueError(f"noise must not be negative, not {noise}.")


def _choose(kind: str, name: str, table: dict[str, Callable]) -> Callable:
    try:
        return table[name]
    except KeyError:
        raise ValueError(f"{kind} must be one of {', '.join(table)}; not {name!r}.") from None


# --- networks: (rng, P, N, density) -> (P, N) mask ---


def _keep_rows_alive(rng: Rng, mask: Mask) -> Mask:
    """A regulator without targets is no regulator: give it one."""
    for p in np.flatnonzero(~mask.any(axis=1)):
        mask[p, rng.integers(mask.shape[1])] = True
    return mask


def _poisson(rng: Rng, P: int, N: int, density: float) -> Mask:
    return _keep_rows_alive(rng, rng.random((P, N)) < density)


def _powerlaw_degrees(rng: Rng, P: int, N: int, density: float) -> NDArray[np.int64]:
    """Out-degrees by inverse transform of p(k) ~ k^-2 on [k_min, N] with mean density * N."""
    target = density * N

    def mean(k_min: float) -> float:
        return np.log(N / k_min) / (1 / k_min - 1 / N)

    low, high = 1e-3, N * (1 - 1e-9)
    # The mean grows with k_min, so the root is bracketed and brentq converges; below `low` the
    # smallest k_min is used.
    k_min = low if mean(low) >= target else brentq(lambda k: mean(k) - target, low, high)
    u = rng.random(P)
    k = 1 / (1 / k_min - u * (1 / k_min - 1 / N))
    return np.clip(np.rint(k), 1, N).astype(np.int64)


def _draw_targets(rng: Rng, degrees: NDArray[np.int64], propensity: Array) -> Mask:
    mask = np.zeros((len(degrees), len(propensity)), bool)
    for p, k in enumerate(degrees):
        # Gumbel top-k: a weighted draw without replacement.
        keys = np.log(propensity) + rng.gumbel(size=len(propensity))
        mask[p, np.argpartition(-keys, k - 1)[:k]] = True
    return mask


def _powerlaw(rng: Rng, P: int, N: int, density: float) -> Mask:
    return _draw_targets(rng, _powerlaw_degrees(rng, P, N, density), np.ones(N))


def _hubs(rng: Rng, P: int, N: int, density: float) -> Mask:
    propensity = 1 + rng.pareto(2.0, N)
    return _draw_targets(rng, _powerlaw_degrees(rng, P, N, density), propensity)


def _modules(rng: Rng, P: int, N: int, density: float) -> Mask:
    mask = _poisson(rng, P, N, density)
    for p in range(1, P, 2):
        inherited = mask[p - 1] & (rng.random(N) < 0.5)
        own = mask[p] & (rng.random(N) < 0.5)
        mask[p] = inherited | own
    return _keep_rows_alive(rng, mask)


def _author_poisson(rng: Rng, P: int, N: int, density: float) -> Mask:
    mask = rng.random((P, N)) < density
    regulated = np.flatnonzero(mask.any(axis=0))
    mask[rng.integers(P, size=len(regulated)), regulated] = True
    return _keep_rows_alive(rng, mask)


def _author_powerlaw(rng: Rng, P: int, N: int, density: float) -> Mask:
    # The author's own numbers.
    threshold = np.logspace(-0.45, -0.04, P)
    return _keep_rows_alive(rng, rng.random((P, N)) > threshold[:, None])


NETWORKS: dict[str, Callable[[Rng, int, int, float], Mask]] = {
    "poisson": _poisson,
    "powerlaw": _powerlaw,
    "hubs": _hubs,
    "modules": _modules,
    "author_poisson": _author_poisson,
    "author_powerlaw": _author_powerlaw,
}


# --- weights: (rng, shape) -> values ---


def _signs(rng: Rng, shape: tuple[int, ...]) -> Array:
    return rng.choice([-1.0, 1.0], size=shape)


WEIGHTS: dict[str, Callable[[Rng, tuple[int, ...]], Array]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: rng.uniform(-1, 1, shape),
    "bounded": lambda rng, shape: _signs(rng, shape) * rng.uniform(0.5, 1.5, shape),
    "positive": lambda rng, shape: rng.uniform(0.5, 1.5, shape),
    "author": lambda rng, shape: rng.uniform(-0.5, 0.5, shape),
}


# --- regulators: (rng, M, P) -> states ---


def _correlated(rng: Rng, M: int, P: int) -> Array:
    shared = rng.standard_normal((M, 1))
    return np.sqrt(0.3) * shared + np.sqrt(0.7) * rng.standard_normal((M, P))


def _autocorrelated(rng: Rng, M: int, P: int) -> Array:
    R = rng.standard_normal((M, P))
    for m in range(1, M):
        # Keeps unit variance at every sample.
        R[m] = 0.7 * R[m - 1] + np.sqrt(1 - 0.7**2) * R[m]
    return R


REGULATORS: dict[str, Callable[[Rng, int, int], Array]] = {
    "uniform": lambda rng, M, P: rng.random((M, P)),
    "gaussian": lambda rng, M, P: rng.standard_normal((M, P)),
    "correlated": _correlated,
    "autocorrelated": _autocorrelated,
    "heavy": lambda rng, M, P: rng.standard_t(3, (M, P)),
}


# --- noise: (noise, sd per variable) ---


def _author_noise(rng: Rng, clean: Array, level: float) -> tuple[Array, Array]:
    E = rng.uniform(-0.5, 0.5, clean.shape)
    factor = level * clean.var() / E.var()
    # U(-0.5, 0.5) has variance 1/12.
    return factor * E, np.full(clean.shape[1], factor / np.sqrt(12))


NOISE_KINDS = ("homoscedastic", "per_variable", "heavy")


def _ratio_noise(rng: Rng, clean: Array, level: float, kind: str) -> tuple[Array, Array]:
    if kind not in NOISE_KINDS:
        raise ValueError(f"noise_kind must be one of {', '.join(NOISE_KINDS)}; not {kind!r}.")
    M, N = clean.shape
    sd = np.full(N, level * np.sqrt(clean.var(axis=0).mean()))
    if kind == "per_variable":
        factor = rng.lognormal(0, 0.5, N)
        # The overall noise level stays that asked for.
        sd *= factor / np.sqrt(np.mean(factor**2))
    if kind == "heavy":
        # Student t with 3 degrees of freedom has variance 3.
        E = rng.standard_t(3, (M, N)) / np.sqrt(3)
    else:
        E = rng.standard_normal((M, N))
    return E * sd, sd
