"""BFRM, Bayesian factor regression (West 2003; Carvalho et al. 2008), by Gibbs sampling.

For sample i: ``x_i = B h_i + A f_i + noise``, with measured factors h, latent factors f ~ N(0, I),
and noise variances psi_g per variable. Loadings are spike and slab with a sparsity per factor:

    a_gj ~ (1 - pi_gj) delta_0 + pi_gj N(0, tau_j)
    pi_gj ~ (1 - rho_j) delta_0 + rho_j Beta(a m, a (1 - m)),   rho_j ~ Beta(s r, s (1 - r))

Response variables are further columns of x with loadings of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from rcweb.lab.baselines import varimax
from rcweb.lab.baselines.base import (
    Array,
    MethodRecord,
    PosteriorFactors,
    check_data,
    check_density,
)

# Figure 1, P = 60: accuracy 0.92 after 300, 0.98 after 1,000 sweeps.
BURN_IN = 1000
SWEEPS = 300
# Mean of pi where it is not zero: a variable that can load on a factor mostly does (the paper's
# choice, with a = 10).
PI_MEAN = 0.75
# Prior strength of rho_j in numbers of variables: a twentieth of the data's own.
RHO_SHARE = 0.05

RECORDS = (
    MethodRecord(
        name="bfrm",
        title="Bayesian factor regression, Gibbs sampling",
        paper="Carvalho et al. 2008",
        settings="varimax start, 1,000 + 300 sweeps; scored on posterior means",
        look=("#8C2D04", ">"),
        slow=True,
    ),
)


@dataclass(frozen=True)
class BayesianFactors(PosteriorFactors):
    """Posterior means; `network` holds the entries of probability above 0.5, `weights` all.

    measured_effects : (Q, N) regression on the measured factors
    response_loadings : (P, K) of the response variables on the factors
    """

    measured_effects: Array
    response_loadings: Array


@dataclass
class _State:
    """One point of the chain: F (M, P), A (N, P), psi (N,), tau (P,), rho (P,), beta (Q, N)."""

    F: Array
    A: Array
    psi: Array
    tau: Array
    rho: Array
    beta: Array


def fit(
    data: Array,
    n_components: int,
    *,
    density: float | None = None,
    random_state: int = 0,
    measured: Array | None = None,
    responses: Array | None = None,
    n_burn: int = BURN_IN,
    n_sweeps: int = SWEEPS,
) -> BayesianFactors:
    """Posterior means of `n_sweeps` sweeps after `n_burn`.

    measured : (M, Q) factors that were measured;  responses : (M, K) variables to be explained
        together with the data. `density` is the prior mean of a loading being non-zero (0.1 if
        None).

    The chain starts at the varimax rotation of the principal components (figure 1, P = 10: accuracy
    1.00, from a random start 0.79; no difference on figure 3). The published program's triangular
    constraint, which names a founder variable for each factor, is left out: sparsity alone fixes
    the rotation, and no variable has a special role.
    """
    X = check_data(data, n_components)
    share = check_density(density, default=0.1) or 0.1
    n_responses = 0
    if responses is not None:
        Y = _columns("responses", responses, len(X))
        n_responses = Y.shape[1]
        X = np.hstack([X, Y - Y.mean(axis=0)])
    H = np.zeros((len(X), 0)) if measured is None else _columns("measured", measured, len(X))
    H = H - H.mean(axis=0)
    rng = np.random.default_rng(random_state)
    state = _start(X, H, n_components, share)
    total = [np.zeros_like(v) for v in (state.A, state.A, state.F, state.beta)]
    # A sampler has no stop test: the numbers of sweeps are fixed, and a chain that has not mixed
    # returns the means of what it visited.
    for sweep in range(n_burn + n_sweeps):
        inclusion, mean = _sweep(state, X, H, share, rng)
        if sweep >= n_burn:
            for sum_, value in zip(total, (inclusion, mean, state.F, state.beta)):
                sum_ += value / n_sweeps
    probability, loadings, F, beta = total
    N = X.shape[1] - n_responses
    return BayesianFactors(
        activities=F,
        network=np.where(probability > 0.5, loadings, 0.0)[:N].T.copy(),
        weights=loadings[:N].T.copy(),
        probability=probability[:N].T.copy(),
        measured_effects=beta[:, :N],
        response_loadings=loadings[N:].T.copy(),
    )


def _columns(name: str, values: Array, M: int) -> Array:
    values = np.asarray(values, dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if len(values) != M:
        raise ValueError(f"{name} must have one row per sample, {M}; it has {len(values)}.")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} holds missing or infinite values.")
    return values


def _start(X: Array, H: Array, P: int, density: float) -> _State:
    """Varimax factors, of unit variance, of the residual of the measured factors."""
    beta = np.asarray(np.linalg.lstsq(H, X, rcond=None)[0], dtype=np.float64)
    rest = X - H @ beta
    factors = varimax.fit(rest, P)
    # The model gives factors unit variance; the loadings carry the scale.
    size = np.maximum(factors.activities.std(axis=0), 1e-12)
    F = factors.activities / size
    A = (factors.network * size[:, None]).T.copy()
    # The floor keeps precisions finite where the start explains a variable exactly.
    psi = np.maximum((rest - F @ A.T).var(axis=0), 1e-6 * max(rest.var(), 1e-300))
    tau = np.maximum((A**2).mean(axis=0) / density, 1e-12)
    return _State(F, A, psi, tau, np.full(P, min(density / PI_MEAN, 0.99)), beta)


def _sweep(
    state: _State, X: Array, H: Array, density: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Every unknown once; the probabilities and conditional means of the loadings, (N, P)."""
    M, N = X.shape
    P = state.A.shape[1]
    if H.shape[1]:
        state.beta = _draw_measured(X - state.F @ state.A.T, H, state.psi, rng)
    rest = X - H @ state.beta
    odds_prior = np.log(state.rho * PI_MEAN) - np.log1p(-state.rho * PI_MEAN)
    inclusion, mean = _draw_loadings(
        state.A,
        state.F.T @ state.F,
        rest.T @ state.F,
        state.psi,
        state.tau,
        odds_prior,
        rng.random((N, P)),
        rng.standard_normal((N, P)),
    )
    state.F = _draw_factors(rest, state.A, state.psi, rng)
    error = ((rest - state.F @ state.A.T) ** 2).sum(axis=0)
    # Inverse gamma; the small prior scale keeps psi above zero.
    state.psi = (error + 1e-6 * rest.var()) / 2 / rng.gamma(M / 2 + 1, size=N)
    _draw_sparsity(state, density, rng)
    return inclusion, mean


def _draw_measured(rest: Array, H: Array, psi: Array, rng: np.random.Generator) -> Array:
    """Flat prior: N((H^T H)^-1 H^T rest, psi_g (H^T H)^-1) for each variable."""
    # The ridge keeps collinear measured factors solvable.
    L = np.linalg.cholesky(H.T @ H + 1e-9 * np.eye(H.shape[1]))
    mean = np.linalg.solve(L.T, np.linalg.solve(L, H.T @ rest))
    noise = np.linalg.solve(L.T, rng.standard_normal(mean.shape))
    return np.asarray(mean + noise * np.sqrt(psi))


def _draw_factors(rest: Array, A: Array, psi: Array, rng: np.random.Generator) -> Array:
    """f_i ~ N(K^-1 A^T psi^-1 x_i, K^-1) with K = I + A^T psi^-1 A, the same for all samples."""
    AW = A / psi[:, None]
    L = np.linalg.cholesky(np.eye(A.shape[1]) + A.T @ AW)
    mean = np.linalg.solve(L, (rest @ AW).T)
    return np.asarray(np.linalg.solve(L.T, mean + rng.standard_normal(mean.shape)).T)


def _draw_sparsity(state: _State, density: float, rng: np.random.Generator) -> None:
    """tau_j by its inverse gamma; pi_gj = 0 or not where a_gj = 0; then rho_j by its beta."""
    N, _ = state.A.shape
    loaded = (state.A != 0).sum(axis=0)
    power = (state.A**2).sum(axis=0)
    scale = float(power.sum() / max(loaded.sum(), 1))
    state.tau = (power + scale) / 2 / rng.gamma((loaded + 1) / 2)
    # P(pi_gj > 0 | a_gj = 0): a variable may be able to load on a factor and not do so.
    hidden = state.rho * (1 - PI_MEAN) / (1 - state.rho * PI_MEAN)
    open_ = loaded + rng.binomial(N - loaded, hidden)
    strength, r = RHO_SHARE * N, min(density / PI_MEAN, 0.99)
    rho = rng.beta(strength * r + open_, strength * (1 - r) + N - open_)
    # At exactly 0 or 1 the log odds of the next sweep would be infinite.
    state.rho = np.clip(rho, 1e-6, 1 - 1e-6)


@numba.njit(cache=True)
def _draw_loadings(
    A: Array,
    K: Array,
    XtF: Array,
    psi: Array,
    tau: Array,
    odds_prior: Array,
    uniform: Array,
    normal: Array,
) -> tuple[Array, Array]:
    """Each a_gj given the others, in place, its value integrated out of the choice of zero or not.

    K = F^T F (P, P), XtF (N, P). Returns P(a_gj != 0 | rest) and E(a_gj | rest), both (N, P):
    averaging these instead of the draws has less variance.
    """
    N, P = A.shape
    inclusion = np.empty((N, P))
    mean = np.empty((N, P))
    for g in range(N):
        for j in range(P):
            score = XtF[g, j]
            for q in range(P):
                if q != j:
                    score -= K[j, q] * A[g, q]
            precision = K[j, j] / psi[g] + 1 / tau[j]
            centre = score / psi[g] / precision
            odds = odds_prior[j] + 0.5 * (centre * centre * precision - np.log(precision * tau[j]))
            # Clipped: exp overflows beyond about 709.
            probability = 1 / (1 + np.exp(-min(max(odds, -700.0), 700.0)))
            inclusion[g, j] = probability
            mean[g, j] = probability * centre
            if uniform[g, j] < probability:
                A[g, j] = centre + normal[g, j] / np.sqrt(precision)
            else:
                A[g, j] = 0.0
    return inclusion, mean
