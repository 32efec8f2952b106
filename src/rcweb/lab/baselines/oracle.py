"""The oracle: maximum likelihood for a method that is told which edges exist.

An upper bound for methods that must find the edges; a reference, not a competitor.
"""

from __future__ import annotations

import numba
import numpy as np

from rcweb.lab.baselines.base import Array, Factors, MethodRecord, check_data, compress

MAX_ITER = 200
TOL = 1e-7

ORACLE = MethodRecord(
    name="oracle",
    title="maximum likelihood on the true support, true noise levels",
    paper="",
    settings="ALS from the truth; an upper end, no rival",
    told="support, noise",
    role="reference",
)


def fit(
    data: Array,
    n_components: int,
    *,
    density: float | None = None,
    random_state: int = 0,
    network: Array,
    noise_sd: Array | None = None,
) -> Factors:
    """Minimise ``sum_i |G0_i - (R C)_i|^2 / noise_sd_i^2``, C having the support of `network`.

    Alternating least squares started at the true weights, until a sweep lowers the objective by
    less than 1e-7 of it, at most 200 sweeps. `noise_sd` (N,) are the true noise levels, equal ones
    if None; `density` and `random_state` are not used.
    """
    G0 = check_data(data, n_components)
    network = np.asarray(network, dtype=np.float64)
    if network.shape != (n_components, G0.shape[1]):
        raise ValueError(
            f"network must have shape {(n_components, G0.shape[1])}, not {network.shape}."
        )
    weight = np.ones(G0.shape[1]) if noise_sd is None else _relative_precision(noise_sd)
    Q, T = compress(G0)
    C = _unit_rows(network)
    support = C != 0
    last = np.inf
    # Alternating least squares never raises the loss, so the last sweep is the best. After MAX_ITER
    # sweeps it is returned without having converged.
    for _ in range(MAX_ITER):
        R = _activities(T, C, weight)
        # R and C are determined up to the scale of each regulator; unit rows fix it.
        C = _unit_rows(_restricted_rows(R.T @ R, R.T @ T, support))
        R = _activities(T, C, weight)
        loss = float((((T - R @ C) ** 2).sum(axis=0) * weight).sum())
        if last - loss <= TOL * loss:
            break
        last = loss
    return Factors(activities=Q @ R, network=C)


def _relative_precision(noise_sd: Array) -> Array:
    variance = np.asarray(noise_sd, dtype=np.float64) ** 2
    if not variance.any():
        return np.ones(len(variance))
    # Only ratios matter to the minimum; scaling makes the floor below relative.
    variance = variance / variance.mean()
    # A noiseless variable would otherwise take all the weight.
    return 1 / np.maximum(variance, 1e-6)


def _unit_rows(C: Array) -> Array:
    norm = np.linalg.norm(C, axis=1, keepdims=True)
    return np.asarray(np.divide(C, norm, out=np.zeros_like(C), where=norm > 0))


def _activities(T: Array, C: Array, weight: Array) -> Array:
    """argmin over R: ``T W C^T (C W C^T)^-1``; a trace of ridge keeps doubled rows solvable."""
    CW = C * weight
    K = CW @ C.T
    K[np.diag_indices_from(K)] += 1e-12 * np.trace(K) / len(K)
    return np.asarray(np.linalg.solve(K, CW @ T.T).T)


@numba.njit(cache=True)
def _restricted_rows(K: Array, RtG: Array, support: Array) -> Array:
    """For each variable the least squares on its own regulators: K = R^T R, RtG = R^T G."""
    P, N = RtG.shape
    C = np.zeros((P, N))
    # Relative to the trace; it only keeps collinear regulators solvable.
    ridge = 1e-12 * np.trace(K) / P
    for i in range(N):
        s = np.flatnonzero(support[:, i])
        n = len(s)
        if n == 0:
            continue
        A = np.empty((n, n))
        y = np.empty(n)
        for a in range(n):
            y[a] = RtG[s[a], i]
            for b in range(n):
                A[a, b] = K[s[a], s[b]]
            A[a, a] += ridge
        C[s, i] = np.linalg.solve(A, y)
    return C
