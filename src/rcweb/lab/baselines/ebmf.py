"""EBMF, empirical-Bayes matrix factorisation (Wang & Stephens 2021), the model of `flashier`.

    x_ij = sum_k l_ik f_jk + noise of precision tau_j,   l_ik ~ N(0, s_k^2),   f_jk ~ g_k

with the prior g_k of each factor estimated from the data. The posterior is approximated by
``prod q(l_ik) q(f_jk)``; each factor's update is an empirical-Bayes normal-means problem
(section 3 of the paper), and every step raises the same lower bound (ELBO).
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

PRIORS = ("point-normal", "ash")
NOISES = ("variable", "common")
MAX_SWEEPS = 500
# Per entry of the table; flashier's default is the root of the machine's precision.
TOL = float(np.sqrt(np.finfo(float).eps))
# EM steps on the prior in every update; the next sweep goes on from where they stopped. Three
# steps end at the same bound (figure 1, P = 30) and take longer.
PRIOR_STEPS = 1
# The grid of "ash": standard deviations from a thousandth of the largest, doubling. Steps of
# sqrt(2), the default of the package ashr, take longer; figure 1, P = 30: the same accuracy.
GRID_STEP = 2.0
GRID_RANGE = 1000.0

_ABOUT = (
    "FastICA start (contrast exp), backfitting of all factors until a sweep raises the ELBO by "
    "less than 1.5e-8 per entry (at most 500), noise per variable; scored on posterior means"
)
RECORDS = (
    MethodRecord(
        name="ebmf",
        title="empirical-Bayes matrix factorisation, point-normal prior",
        paper="Wang & Stephens 2021",
        settings=_ABOUT,
        look=("#D01C8B", "o"),
        told="P",
    ),
    MethodRecord(
        name="ebmf-ash",
        title="the same, scale mixture of normals",
        paper="Wang & Stephens 2021; Stephens 2017",
        settings="as `ebmf`, at most 100 sweeps; standard deviations on a grid that doubles",
        look=("#F1B6DA", "o"),
        told="P",
        slow=True,
        # EM moves mixture weights slowly; the loadings converge long before the ELBO does.
        options={"prior": "ash", "max_sweeps": 100},
    ),
)


@dataclass
class _State:
    """q(L), q(F), the priors and the noise.

    L (r, P), v (P,): means of the (rotated) samples and the variance that all M samples share
    F, F2, inclusion (N, P): first and second moments of the loadings, and P(f != 0)
    s2 (P,): prior variances of the activities;  weights, variances (P, K): priors of the loadings
    tau (N,): precisions of the noise;  M: number of samples;  gain_L, gain_F (P,): -KL(q | prior)
    """

    L: Array
    v: Array
    F: Array
    F2: Array
    inclusion: Array
    s2: Array
    weights: Array
    variances: Array
    tau: Array
    M: int
    gain_L: Array
    gain_F: Array


def fit(
    data: Array,
    n_components: int,
    *,
    density: float | None = None,
    random_state: int = 0,
    prior: str = "point-normal",
    noise: str = "variable",
    max_sweeps: int = MAX_SWEEPS,
) -> PosteriorFactors:
    """Posterior means; `network` holds the loadings that are non-zero with probability above 0.5.

    prior : "point-normal", a spike at zero and one normal of free variance, or "ash", a spike and
        normals on a grid of variances;  noise : one level per "variable", or a "common" one.
    `density` is not used: the sparsity of each factor is estimated. The published default adds
    factors one by one and then backfits; here all start at FastICA's and are backfitted at once.
    """
    if prior not in PRIORS:
        raise ValueError(f"prior must be one of {', '.join(PRIORS)}; not {prior!r}.")
    if noise not in NOISES:
        raise ValueError(f"noise must be one of {', '.join(NOISES)}; not {noise!r}.")
    G0 = check_data(data, n_components)
    check_density(density)
    start = ica.fit(G0, n_components, random_state=random_state)
    # A normal prior on the samples is the same after a rotation of them.
    Q, T = compress(G0)
    state = _start(T, Q.T @ start.activities, start.network.T, len(G0), prior)
    _backfit(T, state, prior, noise, max_sweeps)
    return PosteriorFactors(
        activities=Q @ state.L,
        network=np.where(state.inclusion > 0.5, state.F, 0.0).T.copy(),
        weights=state.F.T.copy(),
        probability=state.inclusion.T.copy(),
    )


def _start(T: Array, L: Array, F: Array, M: int, prior: str) -> _State:
    """Activities of unit variance; priors that fit the loadings of the start."""
    size = np.maximum(np.sqrt((L**2).sum(axis=0) / M), 1e-300)
    L, F = L / size, F * size
    P = F.shape[1]
    power = np.maximum((F**2).mean(axis=0), 1e-300)
    if prior == "point-normal":
        # Half of the weight starts on the spike, so the slab has twice the mean power.
        variances = np.column_stack([np.zeros(P), 2 * power])
    else:
        top = 2 * np.abs(F).max(axis=0)
        n = int(np.ceil(np.log(GRID_RANGE) / np.log(GRID_STEP)))
        scales = top[:, None] * GRID_STEP ** -np.arange(n, -1.0, -1.0)
        variances = np.column_stack([np.zeros(P), scales**2])
    return _State(
        L=L,
        v=np.zeros(P),
        F=F.copy(),
        F2=F**2,
        inclusion=np.ones_like(F),
        s2=np.ones(P),
        weights=np.full(variances.shape, 1.0 / variances.shape[1]),
        variances=variances,
        tau=np.ones(len(F)),
        M=M,
        gain_L=np.zeros(P),
        gain_F=np.zeros(P),
    )


def _backfit(T: Array, q: _State, prior: str, noise: str, max_sweeps: int) -> list[float]:
    """Sweep until the ELBO converges; returns the ELBO after each sweep."""
    bounds: list[float] = []
    power = (T**2).sum(axis=0)
    # Without a floor a variable that is explained exactly would get infinite precision.
    floor = 1e-8 * float(power.mean()) / q.M
    # Stops when a sweep raises the ELBO by less than TOL per entry, or after max_sweeps. The ELBO
    # never falls, so the last state is the best one even if it has not converged.
    for _ in range(max_sweeps):
        error = _expected_error(power, T.T @ q.L, q)
        q.tau = _precision(error, q.M, noise, floor)
        _update_loadings(T, q, prior)
        _update_activities(T, q)
        error = _expected_error(power, T.T @ q.L, q)
        fit_term = 0.5 * (q.M * np.log(q.tau / (2 * np.pi)) - q.tau * error).sum()
        bounds.append(float(fit_term + q.gain_L.sum() + q.gain_F.sum()))
        if len(bounds) > 1 and bounds[-1] - bounds[-2] < TOL * q.M * T.shape[1]:
            break
    return bounds


def _expected_error(power: Array, TtL: Array, q: _State) -> Array:
    """E |x_j - L f_j|^2 under q, (N,)."""
    K = q.L.T @ q.L
    error = power - 2 * (TtL * q.F).sum(axis=1) + ((q.F @ K) * q.F).sum(axis=1)
    spread = q.F2 @ (np.diag(K) + q.M * q.v) - q.F**2 @ np.diag(K)
    return np.maximum(error + spread, 0.0)


def _precision(error: Array, M: int, noise: str, floor: float) -> Array:
    variance = error / M if noise == "variable" else np.full_like(error, error.mean() / M)
    return 1 / np.maximum(variance, floor)


def _update_loadings(T: Array, q: _State, prior: str) -> None:
    """Every factor's normal-means problem: x_j = estimate of f_jk from the rest, sd_j its error."""
    K = q.L.T @ q.L
    TtL = T.T @ q.L
    # The variances of "ash" are a fixed grid; only its weights are estimated.
    learned = prior == "point-normal"
    for k in range(q.F.shape[1]):
        # E |l_k|^2 of all samples: the posterior variance counts too, else F would be
        # overestimated.
        second = K[k, k] + q.M * q.v[k]
        x = (TtL[:, k] - q.F @ K[:, k] + q.F[:, k] * K[k, k]) / second
        variance = 1 / (q.tau * second)
        q.F[:, k], q.F2[:, k], q.inclusion[:, k], log_likelihood = normal_means(
            x, variance, q.weights[k], q.variances[k], learned, PRIOR_STEPS
        )
        error = (x - q.F[:, k]) ** 2 + q.F2[:, k] - q.F[:, k] ** 2
        expected = -0.5 * (np.log(2 * np.pi * variance) + error / variance).sum()
        # -KL(q | prior) without integrals: the marginal log likelihood minus the expected one under
        # q.
        q.gain_F[k] = log_likelihood - expected


def _update_activities(T: Array, q: _State) -> None:
    """The same for the samples, where prior and posterior are normal."""
    FW = q.F * q.tau[:, None]
    K = q.F.T @ FW
    TFW = T @ FW
    second = q.tau @ q.F2
    for k in range(q.F.shape[1]):
        x = TFW[:, k] - q.L @ K[:, k] + q.L[:, k] * K[k, k]
        q.v[k] = 1 / (second[k] + 1 / q.s2[k])
        q.L[:, k] = x * q.v[k]
        moment = float(q.L[:, k] @ q.L[:, k]) / q.M + q.v[k]
        # The variance of the prior that maximises the bound given q.
        q.s2[k] = max(moment, 1e-300)
        q.gain_L[k] = 0.5 * q.M * (np.log(q.v[k] / q.s2[k]) + 1 - moment / q.s2[k])


@numba.njit(cache=True)
def normal_means(
    x: Array, variance: Array, weights: Array, variances: Array, learned: bool, steps: int
) -> tuple[Array, Array, Array, float]:
    """Posterior of f with x_j ~ N(f_j, variance_j), f_j ~ sum_m weights_m N(0, variances_m).

    The first part of the mixture is the spike, ``variances[0] = 0``. `steps` EM steps on the
    weights, and on the variance of the second part if `learned`, change the prior in place. Returns
    E f, E f^2, P(f != 0) and the log likelihood of x, under the prior after these steps.
    """
    n, parts = len(x), len(weights)
    mean, second, inclusion = np.empty(n), np.empty(n), np.empty(n)
    share = np.empty(parts)
    log_likelihood = 0.0
    # One pass more than EM steps: the last computes moments under the final prior.
    for step in range(steps + 1):
        total = np.zeros(parts)
        slab = 0.0
        log_likelihood = 0.0
        for j in range(n):
            # Subtract the largest exponent before exp: densities underflow far from the spike.
            top = -np.inf
            for m in range(parts):
                v = variance[j] + variances[m]
                share[m] = np.log(weights[m]) - 0.5 * (np.log(2 * np.pi * v) + x[j] * x[j] / v)
                top = max(top, share[m])
            norm = 0.0
            for m in range(parts):
                share[m] = np.exp(share[m] - top)
                norm += share[m]
            log_likelihood += top + np.log(norm)
            mean[j] = 0.0
            second[j] = 0.0
            for m in range(parts):
                share[m] /= norm
                total[m] += share[m]
                shrink = variances[m] / (variance[j] + variances[m])
                centre = shrink * x[j]
                moment = centre * centre + shrink * variance[j]
                mean[j] += share[m] * centre
                second[j] += share[m] * moment
            inclusion[j] = 1 - share[0]
            slab += second[j]
        if step < steps:
            for m in range(parts):
                # EM cannot revive a weight of exactly zero.
                weights[m] = max(total[m] / n, 1e-12)
            weights /= weights.sum()
            if learned and total[1] > 0:
                variances[1] = max(slab / total[1], 1e-300)
    return mean, second, inclusion, log_likelihood
