"""K-SVD (Aharon, Elad & Bruckstein 2006) with batch OMP (Rubinstein, Zibulevsky & Elad 2008).

Signals are the variables (columns of G), atoms the activities (columns of R), codes the columns of
C: every variable is coded by the same number of regulators, ``density * P``.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from rcweb.baselines.base import Array, Factors, check_data, check_density, compress

Ints = NDArray[np.int64]

N_ITER = 20
POWER_STEPS = 3


def fit(
    data: Array,
    n_components: int,
    *,
    density: float | None = None,
    random_state: int = 0,
    n_iter: int = N_ITER,
) -> Factors:
    """Alternate sparse coding by OMP and rank-one updates of each atom, `n_iter` times.

    Minimises ``|G0 - R C|^2`` with at most ``round(density * P)`` non-zeros a column (density 0.1
    if None), unit atoms. 20 iterations as in the paper (section 4.2). Atoms start at random
    variables; an atom nobody uses is replaced by the variable that is explained worst.
    """
    G0 = check_data(data, n_components)
    share = check_density(density, default=0.1) or 0.1
    k = int(np.clip(round(share * n_components), 1, n_components))
    rng = np.random.default_rng(random_state)
    # Rotating the samples changes no norm: min(M, N) rows are enough.
    Q, T = compress(G0)
    T = np.ascontiguousarray(T)
    D = _start(rng, T, n_components)
    C = np.zeros((n_components, T.shape[1]))
    for _ in range(n_iter):
        C = batch_omp(D.T @ D, D.T @ T, k)
        _update_atoms(T, D, C, rng)
    return Factors(activities=Q @ D, network=C)


def _start(rng: np.random.Generator, T: Array, P: int) -> Array:
    """P distinct variables as unit columns; noise where there are too few that vary."""
    D = rng.standard_normal((len(T), P))
    alive = np.flatnonzero(np.linalg.norm(T, axis=0) > 0)
    chosen = rng.permutation(alive)[:P]
    D[:, : len(chosen)] = T[:, chosen]
    return np.asarray(D / np.linalg.norm(D, axis=0))


def _update_atoms(T: Array, D: Array, C: Array, rng: np.random.Generator) -> None:
    """One round over the atoms, in place: the best rank-one fit to what the others leave over."""
    E = T - D @ C
    for j in rng.permutation(D.shape[1]):
        users = np.flatnonzero(C[j])
        if len(users) == 0:
            worst = int(np.argmax((E * E).sum(axis=0)))
            norm = np.linalg.norm(E[:, worst])
            if norm > 0:
                D[:, j] = E[:, worst] / norm
            continue
        own = E[:, users] + np.outer(D[:, j], C[j, users])
        d, row = D[:, j], C[j, users]
        for _ in range(POWER_STEPS):
            d = own @ row
            norm = np.linalg.norm(d)
            if norm == 0:
                break
            d = d / norm
            row = own.T @ d
        D[:, j], C[j, users] = d, row
        E[:, users] = own - np.outer(d, row)


@numba.njit(cache=True)
def batch_omp(K: Array, DtX: Array, k: int) -> Array:
    """Orthogonal matching pursuit of every signal with k atoms.

    K : (P, P) Gram matrix of unit atoms;  DtX : (P, N) their products with the signals.
    The Cholesky factor of the chosen Gram block grows by one row a step, so that no residual is
    ever formed. Stops early when no atom is left that is independent and correlated.
    """
    P, N = DtX.shape
    C = np.zeros((P, N))
    for i in range(N):
        chosen = np.empty(k, np.int64)
        used = np.zeros(P, np.bool_)
        L = np.zeros((k, k))
        code = np.zeros(k)
        n = 0
        alpha = DtX[:, i].copy()
        while n < k:
            best, size = -1, 1e-12
            for p in range(P):
                if not used[p] and abs(alpha[p]) > size:
                    best, size = p, abs(alpha[p])
            if best < 0 or not _grow(L, K, chosen, n, best):
                break
            chosen[n] = best
            used[best] = True
            n += 1
            _solve(L, DtX[:, i], chosen, n, code)
            for p in range(P):
                value = DtX[p, i]
                for a in range(n):
                    value -= K[p, chosen[a]] * code[a]
                alpha[p] = value
        for a in range(n):
            C[chosen[a], i] = code[a]
    return C


@numba.njit(cache=True)
def _grow(L: Array, K: Array, chosen: Ints, n: int, new: int) -> bool:
    """Row n of the Cholesky factor for atom `new`; False if it depends on the chosen ones."""
    rest = K[new, new]
    for a in range(n):
        value = K[chosen[a], new]
        for b in range(a):
            value -= L[a, b] * L[n, b]
        L[n, a] = value / L[a, a]
        rest -= L[n, a] * L[n, a]
    if rest < 1e-12:
        return False
    L[n, n] = np.sqrt(rest)
    return True


@numba.njit(cache=True)
def _solve(L: Array, target: Array, chosen: Ints, n: int, code: Array) -> None:
    """code <- (L L^T)^-1 target[chosen], both triangular systems."""
    for a in range(n):
        value = target[chosen[a]]
        for b in range(a):
            value -= L[a, b] * code[b]
        code[a] = value / L[a, a]
    for a in range(n - 1, -1, -1):
        value = code[a]
        for b in range(a + 1, n):
            value -= L[b, a] * code[b]
        code[a] = value / L[a, a]
