"""Spike-and-slab lasso factor analysis by PXL-EM (Rockova & George 2016).

    x_i = B w_i + noise,  w_i ~ N(0, I),  noise_j ~ N(0, sigma_j^2)
    b_jk ~ theta_k Laplace(lambda1) + (1 - theta_k) Laplace(lambda0)

with the stick-breaking prior of the Indian buffet process, theta_1 >= theta_2 >= ..., on the shares
of non-zeros. The M step is one lasso per variable; parameter expansion multiplies B by the Cholesky
factor of the factors' second moments, a rotation towards sparsity. Dynamic posterior exploration:
lambda0 grows and each mode starts the search for the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from rcweb.lab.baselines import ica
from rcweb.lab.baselines.base import (
    Array,
    MethodRecord,
    PosteriorFactors,
    check_data,
    check_density,
    compress,
)

STARTS = ("ica", "random")
LAMBDA1 = 0.1
# Variables have unit variance: lambda0 doubles from 5 until it takes LAST standard errors off an
# estimate, sqrt(M) / sigma each; beyond that the mode no longer changes.
FIRST_LAMBDA0 = 5.0
LAST = 8.0
# Steps with expansion and then without, where the posterior cannot fall, at each lambda0; the
# published stop is a largest change of a loading below 0.05.
PX_STEPS = 30
EM_STEPS = 30
CLOSE = 0.01
# sigma_j^2 ~ inverse gamma(ETA / 2, ETA XI / 2); the published XI = 1 is for noise of variance 1.
ETA = 1.0
XI = 0.01

RECORDS = (
    MethodRecord(
        name="ssl-pxl",
        title="spike-and-slab lasso factor analysis, PXL-EM",
        paper="Rockova & George 2016",
        settings=(
            "variables scaled to unit variance, FastICA start, lambda1 0.1, lambda0 doubles from 5 "
            "to 8 standard errors, 30 steps with and 30 without expansion at each, alpha 1/N"
        ),
        look=("#762A83", "s"),
        told="P",
        slow=True,
    ),
)


@dataclass
class _Mode:
    """B (N, P) loadings, sigma2 (N,) noise, theta (P,) shares, omega (r, P) factors."""

    B: Array
    sigma2: Array
    theta: Array
    omega: Array
    probability: Array


def fit(
    data: Array,
    n_components: int,
    *,
    density: float | None = None,
    random_state: int = 0,
    start: str = "ica",
    lambda1: float = LAMBDA1,
) -> PosteriorFactors:
    """The mode at the end of the path; `probability` is that of the slab given the loading.

    start : "ica", or "random" normal loadings as published, which end in worse modes (figure 1,
    P = 30: accuracy 0.67 against 0.999). `density` is not used. Factors that the prior empties are
    rows of zeros; asked for twice the true number it empties one to four of eight, and the others
    stay mixed, so it gets P like the others.
    """
    if start not in STARTS:
        raise ValueError(f"start must be one of {', '.join(STARTS)}; not {start!r}.")
    G0 = check_data(data, n_components)
    check_density(density)
    scale = G0.std(axis=0)
    # A constant variable has no variance to scale to.
    scale[scale == 0] = 1.0
    Q, T = compress(G0 / scale)
    mode = _start(G0 / scale, n_components, start, random_state)
    lambda0, end = FIRST_LAMBDA0, np.inf
    # Ends because lambda0 doubles, while sigma2 has a floor by its prior and so bounds `end`.
    while lambda0 < end:
        climb(T, mode, len(G0), lambda0, lambda1, PX_STEPS, EM_STEPS)
        end = LAST * float(np.sqrt(len(G0) / np.median(mode.sigma2)))
        lambda0 *= 2
    network = (mode.B * scale[:, None]).T.copy()
    return PosteriorFactors(
        activities=Q @ mode.omega,
        network=network,
        weights=network,
        probability=np.where(network != 0, mode.probability.T, 0.0),
    )


def _start(X: Array, P: int, start: str, seed: int) -> _Mode:
    N = X.shape[1]
    if start == "ica":
        found = ica.fit(X, P, random_state=seed)
        size = found.activities.std(axis=0)
        B = (found.network * size[:, None]).T.copy()
    else:
        B = np.random.default_rng(seed).standard_normal((N, P))
    return _Mode(B, np.ones(N), np.full(P, 0.5), np.empty((0, P)), np.ones((N, P)))


def climb(
    T: Array, mode: _Mode, M: int, lambda0: float, lambda1: float, px_steps: int, em_steps: int
) -> list[float]:
    """Steps of PXL-EM and then of EM from `mode`, in place; the log posterior before each EM step.

    Ends early in either phase when no loading changes by more than 0.01.
    """
    posteriors: list[float] = []
    for expanded, steps in ((True, px_steps), (False, em_steps)):
        # Each phase stops when no loading changes by CLOSE, or after its steps. An unconverged mode
        # is still a valid start for the next lambda0; the last one is returned as it is.
        for _ in range(steps):
            if not expanded:
                posteriors.append(log_posterior(T, mode, M, lambda0, lambda1))
            before = mode.B
            second = _step(T, mode, M, lambda0, lambda1)
            change = float(np.abs(mode.B - before).max())
            if change < CLOSE:
                break
            if expanded:
                # The expansion: back to factors of identity covariance, which rotates B.
                mode.B = mode.B @ np.linalg.cholesky(second / M)
    return posteriors


def _step(T: Array, mode: _Mode, M: int, lambda0: float, lambda1: float) -> Array:
    """E step (section 3.1), M step (3.2); returns the second moments of the factors, (P, P)."""
    BW = mode.B / mode.sigma2[:, None]
    V = np.linalg.inv(mode.B.T @ BW + np.eye(mode.B.shape[1]))
    mode.omega = T @ BW @ V
    mode.probability = slab_probability(mode.B, mode.theta, lambda0, lambda1)
    second = mode.omega.T @ mode.omega + M * V
    linear = T.T @ mode.omega
    penalty = mode.probability * lambda1 + (1 - mode.probability) * lambda0
    B = mode.B.copy()
    lasso(B, second, linear, penalty * mode.sigma2[:, None])
    mode.B = B
    error = (T**2).sum(axis=0) - 2 * (B * linear).sum(axis=1) + ((B @ second) * B).sum(axis=1)
    mode.sigma2 = (error + ETA * XI) / (M + ETA + 2)
    mode.theta = _shares(mode.probability.sum(axis=0), len(B))
    return second


def slab_probability(B: Array, theta: Array, lambda0: float, lambda1: float) -> Array:
    """P(slab | b) = theta psi1(b) / (theta psi1(b) + (1 - theta) psi0(b))."""
    log_odds = np.log(theta / (1 - theta)) + np.log(lambda1 / lambda0)
    log_odds = log_odds + np.abs(B) * (lambda0 - lambda1)
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -700, 700))))


def _shares(counts: Array, N: int) -> Array:
    """The ordered theta: argmax of the binomial terms and ``(alpha - 1) log theta_P``, alpha = 1/N.

    Factors are numbered by their counts, so that the order holds for all but the last, whose
    prior only lowers it.
    """
    last = counts == counts.min()
    numerator = counts - np.where(last, (1 - 1 / N) / last.sum(), 0.0)
    return np.clip(numerator / N, 1e-8, 1 - 1e-8)


def log_posterior(T: Array, mode: _Mode, M: int, lambda0: float, lambda1: float) -> float:
    """log p(X | B, sigma) + log p(B | theta) + log p(theta) + log p(sigma), up to constants."""
    B, s2, theta = mode.B, mode.sigma2, mode.theta
    P = B.shape[1]
    BW = B / s2[:, None]
    K = np.eye(P) + B.T @ BW
    TW = T @ BW
    quadratic = ((T**2) / s2).sum() - (TW * np.linalg.solve(K, TW.T).T).sum()
    likelihood = -0.5 * (M * (np.linalg.slogdet(K)[1] + np.log(s2).sum()) + quadratic)
    slab = np.log(theta * lambda1 / 2) - lambda1 * np.abs(B)
    spike = np.log((1 - theta) * lambda0 / 2) - lambda0 * np.abs(B)
    sticks = (1 / len(B) - 1) * np.log(theta.min())
    noise = -(ETA / 2 + 1) * np.log(s2).sum() - ETA * XI / 2 * (1 / s2).sum()
    return float(likelihood + np.logaddexp(slab, spike).sum() + sticks + noise)


@numba.njit(cache=True)
def lasso(B: Array, K: Array, linear: Array, penalty: Array) -> None:
    """Each row b of B to the argmin of ``b K b / 2 - linear b + penalty |b|``, in place.

    Coordinate descent, until no coordinate changes by more than 1e-6, at most 50 rounds.
    """
    N, P = B.shape
    for j in range(N):
        # Convex and warm-started, so few rounds are needed; after 50 the last row is kept and the
        # next EM step continues from it.
        for _ in range(50):
            moved = 0.0
            for k in range(P):
                score = linear[j, k] + K[k, k] * B[j, k]
                for q in range(P):
                    score -= K[k, q] * B[j, q]
                size = abs(score) - penalty[j, k]
                new = 0.0
                if size > 0:
                    new = size / K[k, k] if score > 0 else -size / K[k, k]
                moved = max(moved, abs(new - B[j, k]))
                B[j, k] = new
            if moved < 1e-6:
                break
