"""K-SVD (Aharon, Elad & Bruckstein 2006) with batch OMP (Rubinstein, Zibulevsky & Elad 2008).

Signals are the variables (columns of G), atoms the activities (columns of R), codes the columns of
C: every variable is coded by the same number of regulators, ``density * P``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numba
import numpy as np

from rcweb.engine.basis import Basis, truncated_svd
from rcweb.engine.types import Ints
from rcweb.lab.baselines.base import (
    Array,
    Factors,
    MethodRecord,
    check_data,
    check_density,
    compress,
)
from rcweb.lab.baselines.varimax import varimax

N_ITER = 20
# Random variables (the published start), singular vectors, varimax of them.
STARTS = ("variables", "singular", "varimax")
# Of the rank-one fit of an atom. The next iteration continues from there, so an exact singular
# vector is not needed.
POWER_STEPS = 3

RECORDS = (
    MethodRecord(
        name="ksvd",
        title="K-SVD, batch OMP, 20 iterations",
        paper="Aharon, Elad & Bruckstein 2006",
        settings="best by error of three starts: variables, singular vectors, varimax",
        look=("#009E73", "D"),
    ),
    MethodRecord(
        name="ksvd-published",
        title="the same from random variables",
        paper="Aharon, Elad & Bruckstein 2006",
        settings="the comparison of published figure 3",
        look=("#66C2A5", "d"),
        options={"starts": ("variables",)},
    ),
)


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
    # Two of the starts share the decomposition, one needs none.
    basis = cache(lambda: truncated_svd(signals, n_components))
    best = (np.inf, np.empty(0), np.empty(0))
    for start in starts:
        rng = np.random.default_rng(random_state)
        D = _start(start, rng, signals, n_components, basis)
        run = _run(signals, D, k, n_iter, rng)
        best = min(best, run, key=lambda result: result[0])
    _, D, C = best
    return Factors(activities=Q @ D.T, network=np.ascontiguousarray(C.T))


def _start(
    kind: str, rng: np.random.Generator, signals: Array, P: int, basis: Callable[[], Basis]
) -> Array:
    """Unit atoms in the rows, (P, r); `basis` gives the P leading singular vectors of `signals`."""
    if kind == "variables":
        D = rng.standard_normal((P, signals.shape[1]))
        alive = np.flatnonzero(np.linalg.norm(signals, axis=1) > 0)
        # If fewer than P variables vary, the remaining atoms stay random.
        chosen = rng.permutation(alive)[:P]
        D[: len(chosen)] = signals[chosen]
    else:
        D = basis().V.T * basis().s[:, None]
        if kind == "varimax":
            # A start need not be converged.
            D = varimax(basis().U, max_iter=50).T @ D
    norm = np.linalg.norm(D, axis=1, keepdims=True)
    return np.asarray(np.divide(D, norm, out=rng.standard_normal(D.shape), where=norm > 0))


def _run(
    signals: Array, D: Array, k: int, n_iter: int, rng: np.random.Generator
) -> tuple[float, Array, Array]:
    """Error, atoms (P, r) and codes (N, P)."""
    # A fixed number of iterations, as published. OMP is greedy, so the error need not fall at every
    # iteration and gives no safe stop test; an unconverged result is returned as it is.
    for _ in range(n_iter):
        C = batch_omp(D @ D.T, signals @ D.T, k)
        E = signals - C @ D
        update_atoms(E, D, C, rng.permutation(len(D)), POWER_STEPS)
    return float((E * E).sum()), D, C


@numba.njit(cache=True)
def update_atoms(E: Array, D: Array, C: Array, order: Ints, n_steps: int) -> None:
    """One round over the atoms: the best rank-one fit to the residual of the others.

    E : (N, r) = signals - C D, D : (P, r) and C : (N, P) are changed in place. Power steps
    ``d <- normalised own^T code, code <- own d`` on ``own``, the rows of E that use the atom with
    its part put back; each step reads every row once, while it is in the fastest memory.
    An atom nobody uses is replaced by the row of E that is explained worst.
    """
    for j in order:
        # Only the codes that use the atom are refitted, so the update cannot add non-zeros.
        users = np.flatnonzero(C[:, j])
        if len(users) == 0:
            _replace_atom(E, D[j])
            continue
        d = np.zeros(E.shape[1])
        for i in users:
            _add(E[i], C[i, j], D[j])
            _add(d, C[i, j], E[i])
        for step in range(n_steps):
            D[j] = d / max(float(np.linalg.norm(d)), 1e-300)
            d[:] = 0.0
            for i in users:
                C[i, j] = np.dot(E[i], D[j])
                # The last step subtracts the atom's new part again, so that E stays the residual.
                if step < n_steps - 1:
                    _add(d, C[i, j], E[i])
                else:
                    _add(E[i], -C[i, j], D[j])


@numba.njit(cache=True)
def _add(y: Array, factor: float, x: Array) -> None:
    """``y <- y + factor x``."""
    for i in range(len(y)):
        y[i] += factor * x[i]


@numba.njit(cache=True)
def _replace_atom(E: Array, atom: Array) -> None:
    worst, size = 0, 0.0
    for i in range(len(E)):
        norm = float(np.linalg.norm(E[i]))
        if norm > size:
            worst, size = i, norm
    if size > 0:
        atom[:] = E[worst] / size


@numba.njit(cache=True)
def batch_omp(K: Array, products: Array, k: int) -> Array:
    """Orthogonal matching pursuit of every signal with k atoms: codes (N, P).

    K : (P, P) Gram matrix of unit atoms;  products : (N, P) of the signals with the atoms.
    The Cholesky factor of the chosen Gram block grows by one row a step, so that no residual is
    ever formed. Stops early when no atom is left that is independent and correlated.
    """
    N, P = products.shape
    C = np.zeros((N, P))
    chosen, L, code = np.empty(k, np.int64), np.zeros((k, k)), np.zeros(k)
    for i in range(N):
        used = np.zeros(P, np.bool_)
        n = 0
        left = products[i].copy()
        while n < k:
            best, size = -1, 1e-12
            for p in range(P):
                if not used[p] and abs(left[p]) > size:
                    best, size = p, abs(left[p])
            # Ends after at most k steps; a signal explained by fewer atoms keeps fewer.
            if best < 0 or not _grow(L, K, chosen, n, best):
                break
            chosen[n] = best
            used[best] = True
            n += 1
            _solve(L, products[i], chosen, n, code)
            left[:] = products[i]
            for a in range(n):
                _add(left, -code[a], K[chosen[a]])
        for a in range(n):
            C[i, chosen[a]] = code[a]
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
    # A dependent atom would make the factor singular and adds nothing to the fit.
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
