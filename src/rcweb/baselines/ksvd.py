"""K-SVD (Aharon, Elad & Bruckstein 2006) with batch OMP (Rubinstein, Zibulevsky & Elad 2008).

Signals are the variables (columns of G), atoms the activities (columns of R), codes the columns of
C: every variable is coded by the same number of regulators, ``density * P``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from rcweb.baselines.base import Array, Factors, check_data, check_density, compress
from rcweb.baselines.varimax import varimax

Ints = NDArray[np.int64]

N_ITER = 20
# Random variables (the published start), singular vectors, varimax of them.
STARTS = ("variables", "singular", "varimax")
POWER_STEPS = 3


def fit(
    data: Array,
    n_components: int,
    *,
    density: float | None = None,
    random_state: int = 0,
    n_iter: int = N_ITER,
    starts: Sequence[str] = STARTS,
) -> Factors:
    """Alternate sparse coding by OMP and rank-one updates of each atom, `n_iter` times.

    Minimises ``|G0 - R C|^2`` with at most ``round(density * P)`` non-zeros a column (density 0.1
    if None), unit atoms. 20 iterations as in the paper (section 4.2). The run of smallest error
    among the `starts` is kept: none of them is best everywhere, and the error tells which is.
    An atom nobody uses is replaced by the variable that is explained worst.
    """
    unknown = set(starts) - set(STARTS)
    if unknown or not starts:
        raise ValueError(f"starts must be some of {', '.join(STARTS)}; not {', '.join(starts)}.")
    G0 = check_data(data, n_components)
    share = check_density(density, default=0.1) or 0.1
    k = int(np.clip(round(share * n_components), 1, n_components))
    # Rotating the samples changes no norm: min(M, N) of them are enough.
    Q, T = compress(G0)
    signals = np.ascontiguousarray(T.T)
    best = (np.inf, np.empty(0), np.empty(0))
    for start in starts:
        rng = np.random.default_rng(random_state)
        D = _start(start, rng, signals, n_components)
        run = _run(signals, D, k, n_iter, rng)
        best = min(best, run, key=lambda result: result[0])
    _, D, C = best
    return Factors(activities=Q @ D.T, network=np.ascontiguousarray(C.T))


def _start(kind: str, rng: np.random.Generator, signals: Array, P: int) -> Array:
    """Unit atoms in the rows, (P, r)."""
    if kind == "variables":
        D = rng.standard_normal((P, signals.shape[1]))
        alive = np.flatnonzero(np.linalg.norm(signals, axis=1) > 0)
        chosen = rng.permutation(alive)[:P]
        D[: len(chosen)] = signals[chosen]
    else:
        U, s, Vt = svd(signals, full_matrices=False)
        D = Vt[:P] * s[:P, None]
        if kind == "varimax":
            # A start need not be converged.
            D = varimax(U[:, :P], max_iter=50).T @ D
    norm = np.linalg.norm(D, axis=1, keepdims=True)
    return np.asarray(np.divide(D, norm, out=rng.standard_normal(D.shape), where=norm > 0))


def _run(
    signals: Array, D: Array, k: int, n_iter: int, rng: np.random.Generator
) -> tuple[float, Array, Array]:
    """Error, atoms (P, r) and codes (N, P)."""
    for _ in range(n_iter):
        C = np.ascontiguousarray(batch_omp(D @ D.T, D @ signals.T, k).T)
        error = _update_atoms(signals, D, C, rng)
    return error, D, C


def _update_atoms(signals: Array, D: Array, C: Array, rng: np.random.Generator) -> float:
    """One round over the atoms, in place: the best rank-one fit to what the others leave over."""
    E = signals - C @ D
    for j in rng.permutation(len(D)):
        users = np.flatnonzero(C[:, j])
        if len(users) == 0:
            worst = int(np.argmax((E * E).sum(axis=1)))
            norm = np.linalg.norm(E[worst])
            if norm > 0:
                D[j] = E[worst] / norm
            continue
        code = C[users, j]
        own = E[users] + np.outer(code, D[j])
        for _ in range(POWER_STEPS):
            d = code @ own
            d /= max(float(np.linalg.norm(d)), 1e-300)
            code = own @ d
        D[j], C[users, j] = d, code
        E[users] = own - np.outer(code, d)
    return float((E * E).sum())


def fit_published(
    data: Array, n_components: int, *, density: float | None = None, random_state: int = 0
) -> Factors:
    """K-SVD from random variables alone, as in the published comparison (figure 3)."""
    return fit(
        data,
        n_components,
        density=density,
        random_state=random_state,
        starts=("variables",),
    )


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
