"""PSMF, probabilistic sparse matrix factorisation (Dueck & Frey 2004; Dueck, Morris & Frey 2005).

Each variable is a noisy mixture of at most L of the P prototypes (activities):

    x_g = sum_{n <= r_g} y_{g, s_gn} z_{s_gn} + noise of variance psi_g,    z ~ N(0, I)

with prior nu over the number r_g of prototypes and a uniform one over which they are. The posterior
is approximated by Q = Q(Z) prod_g Q(r_g) prod_n Q(s_gn | r_g >= n), with point estimates of the
weights y and of psi; every step lowers the same free energy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from rcweb.lab.baselines import varimax
from rcweb.lab.baselines.base import (
    Array,
    Factors,
    MethodRecord,
    check_data,
    check_density,
    compress,
    cut,
)

MAX_ITER = 120
TOL = 1e-5
# Sweeps with one prototype per variable before the next is allowed, and so on.
SWEEPS_PER_SLOT = 4

RECORDS = (
    MethodRecord(
        name="psmf",
        title="probabilistic sparse matrix factorisation",
        paper="Dueck, Morris & Frey 2005",
        settings="varimax start, slots opened one by one",
        look=("#7A5195", "<"),
        slow=True,
    ),
)


@dataclass(frozen=True)
class SparseFactors(Factors):
    """`network` holds the weights chosen with probability above 0.5; `probability` is (P, N)."""

    probability: Array


@dataclass
class _Posterior:
    """Q: mean Z (P, T), its covariance V (P, P), choices (N, L, P), active (N, L) = Q(r_g >= n).

    weights (N, P) and psi (N,) are point estimates, nu (L + 1,) is the prior of r.
    """

    Z: Array
    V: Array
    choices: Array
    active: Array
    weights: Array
    psi: Array
    nu: Array


def fit(
    data: Array, n_components: int, *, density: float | None = None, random_state: int = 0
) -> SparseFactors:
    """One run from the varimax rotation of the principal components; `random_state` is not used.

    L is the mean number ``density * P`` of prototypes per variable plus two standard deviations of
    a Poisson one (density 0.1 if None). Choices that served it best: slots are opened one after
    the other, since with all open at once the first prototypes take everything; random variables
    as a start, the obvious choice, end in poor optima (figure 1, P = 10: accuracy 0.6 against 1.0,
    at a clearly higher free energy). The published posterior over Z is factorised; the joint one
    used here is exact given the rest. Weights have a flat prior, so PSMF tends to fill all its
    slots: if a density is given, entries beyond it are cut.
    """
    G0 = check_data(data, n_components)
    density = check_density(density)
    mean = (density or 0.1) * n_components
    # Two standard deviations leave room for variables with more regulators than the mean.
    L = int(np.clip(np.ceil(mean + 2 * np.sqrt(mean)), 1, n_components))
    # The prior z ~ N(0, 1) holds for rotated samples too.
    Q, T = compress(G0)
    # The prior z ~ N(0, 1) has a unit; the data are brought to it and Z scaled back.
    scale = float(np.sqrt((T**2).mean())) or 1.0
    _, q = _run(np.ascontiguousarray(T.T) / scale, n_components, L)
    chosen = np.einsum("nl,nlp->np", q.active, q.choices).T
    network = np.where(chosen > 0.5, chosen * q.weights.T, 0.0)
    return SparseFactors(
        activities=Q @ q.Z.T * scale,
        network=cut(network, density),
        probability=np.minimum(chosen, 1.0),
    )


def _run(X: Array, P: int, L: int) -> tuple[list[float], _Posterior]:
    """Iterate to convergence; the free energies from when all slots are open, and Q."""
    q = _start(X, P, L)
    energies: list[float] = []
    # Stops when, with all slots open, an iteration lowers the free energy by less than TOL of it
    # (free energies with fewer slots are not comparable). At the limit of steps the last Q is
    # returned as it is.
    for step in range(MAX_ITER + L * SWEEPS_PER_SLOT):
        open_slots = min(L, 1 + step // SWEEPS_PER_SLOT)
        energy = _iterate(X, q, open_slots)
        if open_slots == L:
            energies.append(energy)
            if len(energies) > 1 and energies[-2] - energy < TOL * abs(energy):
                break
    return energies, q


def _start(X: Array, P: int, L: int) -> _Posterior:
    """Prototypes of unit power from varimax; the first slot has not chosen yet."""
    N = len(X)
    Z = varimax.fit(X.T, P).activities.T
    Z = Z / np.sqrt(np.maximum((Z**2).mean(axis=1, keepdims=True), 1e-300))
    weights = X @ Z.T / (Z**2).sum(axis=1)
    active = np.zeros((N, L))
    active[:, 0] = 1.0
    return _Posterior(
        Z=Z,
        V=np.zeros((P, P)),
        choices=np.full((N, L, P), 1.0 / P),
        active=active,
        weights=weights,
        psi=np.maximum((X**2).mean(axis=1), 1e-12),
        nu=np.full(L + 1, 1.0 / (L + 1)),
    )


def _iterate(X: Array, q: _Posterior, open_slots: int) -> float:
    """One round over choices and numbers, weights, noise, prior and prototypes; the free energy."""
    N, T = X.shape
    P = len(q.Z)
    K = q.Z @ q.Z.T + T * q.V
    XZ = X @ q.Z.T
    power = (X**2).sum(axis=1)
    log_nu = np.log(q.nu)
    # Closed slots have probability zero.
    log_nu[open_slots + 1 :] = -np.inf
    error, slots_energy = _update_variables(
        K, XZ, power, q.choices, q.active, q.weights, q.psi, log_nu, open_slots
    )
    # A floor on the noise: an exactly explained variable would freeze its choices.
    q.psi = np.maximum(error / T, 1e-8 * power.mean() / T)
    counts = -np.diff(np.column_stack([np.ones(N), q.active, np.zeros(N)]), axis=1).sum(axis=0)
    # A pseudo-count of one variable: no number of prototypes becomes impossible.
    q.nu = (np.maximum(counts, 0) + 1 / len(counts)) / (N + 1)
    _update_prototypes(X, q)
    prior = 0.5 * ((q.Z**2).sum() + T * np.trace(q.V) - T * np.linalg.slogdet(q.V)[1] - T * P)
    return float((T / 2 * np.log(2 * np.pi * q.psi) + T / 2).sum() + slots_energy + prior)


def _update_prototypes(X: Array, q: _Posterior) -> None:
    """Q(z_t) = N(V sum_g E[y_g] x_gt / psi_g, V), V^-1 = I + sum_g E[y_g y_g^T] / psi_g."""
    P = len(q.Z)
    usage = q.choices * q.weights[:, None, :]
    mean = np.einsum("nl,nlp->np", q.active, usage)
    # Pairs of slots n < m are both open with probability Q(r >= m): sum over m of (what came
    # before m) x (slot m); each slot with itself gives the diagonal.
    before = np.cumsum(usage, axis=1) - usage
    weighted = usage * (q.active / q.psi[:, None])[:, :, None]
    pairs = before.reshape(-1, P).T @ weighted.reshape(-1, P)
    own = np.einsum("nl,nlp,np->p", q.active / q.psi[:, None], q.choices, q.weights**2)
    V = np.linalg.inv(np.eye(P) + pairs + pairs.T + np.diag(own))
    # Rounding leaves the inverse slightly asymmetric, and the asymmetry would grow.
    q.V = np.asarray((V + V.T) / 2, dtype=np.float64)
    q.Z = q.V @ ((mean / q.psi[:, None]).T @ X)


@numba.njit(cache=True)
def _update_variables(
    K: Array,
    XZ: Array,
    power: Array,
    choices: Array,
    active: Array,
    weights: Array,
    psi: Array,
    log_nu: Array,
    open_slots: int,
) -> tuple[Array, float]:
    """Q(s), weights and Q(r) of every variable, in place; expected errors and slot energies."""
    N = len(choices)
    error = np.empty(N)
    energy = 0.0
    for g in range(N):
        _update_choices(K, XZ[g], choices[g], active[g], weights[g], psi[g], open_slots)
        _update_weights(K, XZ[g], choices[g], active[g], weights[g], open_slots)
        error[g], cost = _update_number(
            K, XZ[g], power[g], choices[g], active[g], weights[g], psi[g], log_nu, open_slots
        )
        energy += cost
    return error, energy


@numba.njit(cache=True)
def _update_choices(
    K: Array, xz: Array, choice: Array, active: Array, y: Array, psi: float, n_slots: int
) -> None:
    """log Q(s_n = c) = -[-2 y_c x.z_c + y_c^2 K_cc + 2 y_c K_c.(other slots)] / (2 psi) + const."""
    P = len(y)
    for n in range(n_slots):
        others = np.zeros(P)
        for m in range(n_slots):
            if m == n:
                continue
            # Given r >= n the earlier slots are open, a later one with Q(r >= m) / Q(r >= n).
            share = 1.0 if m < n else active[m] / max(active[n], 1e-12)
            if share > 0:
                others += min(share, 1.0) * choice[m] * y
        overlap = K @ others
        log_q = -(-2 * y * xz + y * y * np.diag(K) + 2 * y * overlap) / (2 * psi)
        # Subtracting the maximum avoids underflow of all entries at once.
        q = np.exp(log_q - log_q.max())
        choice[n] = q / q.sum()


@numba.njit(cache=True)
def _update_weights(
    K: Array, xz: Array, choice: Array, active: Array, y: Array, n_slots: int
) -> None:
    """Each y_c minimises the expected error given the others, in turn.

    The error is quadratic in y with the matrix ``K * (S + S^T + diag(used))``, where S_cd is the
    expected number of slot pairs m < n with s_n = c, s_m = d, both open.
    """
    P = len(y)
    S = np.zeros((P, P))
    used = np.zeros(P)
    before = np.zeros(P)
    for n in range(n_slots):
        if active[n] > 0:
            S += active[n] * np.outer(choice[n], before)
            used += active[n] * choice[n]
        before += choice[n]
    for c in range(P):
        linear = used[c] * xz[c]
        square = (used[c] + 2 * S[c, c]) * K[c, c]
        alone = xz[c]
        for d in range(P):
            if d != c:
                linear -= K[c, d] * (S[c, d] + S[d, c]) * y[d]
                alone -= K[c, d] * used[d] * y[d]
        # A prototype that is hardly chosen keeps the weight it would have beside the others.
        y[c] = linear / square if used[c] > 1e-6 else alone / K[c, c]


@numba.njit(cache=True)
def _update_number(
    K: Array,
    xz: Array,
    power: float,
    choice: Array,
    active: Array,
    y: Array,
    psi: float,
    log_nu: Array,
    n_slots: int,
) -> tuple[float, float]:
    """Q(r), and with it the expected error and the cost of slots and numbers in the free energy."""
    P = len(y)
    gain = np.zeros(n_slots)
    price = np.zeros(n_slots)
    before = np.zeros(P)
    for n in range(n_slots):
        used = choice[n] * y
        gain[n] = 2 * (used * xz).sum() - (used * y * np.diag(K)).sum() - 2 * used @ (K @ before)
        for c in range(P):
            if choice[n, c] > 0:
                price[n] += choice[n, c] * np.log(choice[n, c] * P)
        before += used
    log_rho = log_nu[: n_slots + 1].copy()
    total = 0.0
    for n in range(n_slots):
        total += gain[n] / (2 * psi) - price[n]
        log_rho[n + 1] += total
    rho = np.exp(log_rho - log_rho.max())
    rho /= rho.sum()
    open_ = 1.0
    error = power
    cost = 0.0
    for n in range(n_slots + 1):
        if rho[n] > 0:
            cost += rho[n] * (np.log(rho[n]) - log_nu[n])
        if n == n_slots:
            break
        open_ -= rho[n]
        active[n] = max(open_, 0.0)
        error -= active[n] * gain[n]
        cost += active[n] * price[n]
    return max(error, 0.0), cost
