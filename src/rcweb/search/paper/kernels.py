"""Compiled inner loops of the published search (paper, section 3).

Everything that is compiled lives in this one file: numba's cache on disk does not notice an edit
in another one. A `Workspace` holds the state of the search for one column; kernels change it in
place. Cost of one removal: O(P^2) for the matrices and a few rows of V for the arg-max.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Steps for which the exact distance between old and new w is used to bound |u_i|.
MEMORY = 32
# When more than one row in so many has to be looked at, the whole product is faster.
MANY = 8

# Why `advance` came back.
TARGET, SINGULAR, NOISE, CONVERGED = 0, 1, 2, 3

# lambda_max^-1 below this is zero: K = I - sum x x^T carries rounding errors of about 1e-15.
ZERO = 1e-12
# Step 2 of the cycle, "v^J -> v^(J-1)": neither v nor lambda_max moves by more than this. v alone
# would stop too early: it stands still when a row parallel to it is removed, and all variables with
# one and the same single regulator have parallel rows.
STILL = 1e-6
# Allowed angle between the iterated and the exact eigenvector.
ANGLE = 1e-8
# Allowed residual ||K v - v / lambda||, in units of the size of K, before K^-1 is refreshed.
RESIDUAL = 1e-8
_MAX_ITERATIONS = 60


class Workspace(NamedTuple):
    """State of one column's search; N variables, P directions.

    K, K_inv : (P, P) V_omega0^T V_omega0 and its inverse
    v : (P,) eigenvector of K_inv with the largest eigenvalue, the current estimate of b
    w : (P,) ``A v``, so that ``u = V w`` also for the inflated matrix ``V A``
    omega0 : (N,) rows still in V_omega0
    omega_minus : (N,) removed rows in their order; the first ``n_removed[0]`` are valid
    lam : (N,) lambda_max after each removal
    reach, seen : (N,) |u_i| when last computed, and the number of the w it was computed for
    norms : (N,) ||V_i||
    past : (MEMORY, P) the latest w, number n in row ``n % MEMORY``
    drift : (N + 2,) length of the path of w up to each number
    n_removed : (1,) number of removals
    n_moves : (1,) number of the current w
    scalars : (2,) current lambda_max, size of K at the start
    refreshes : (1,) how often K_inv was computed afresh
    """

    K: Array
    K_inv: Array
    v: Array
    w: Array
    omega0: NDArray[np.bool_]
    omega_minus: NDArray[np.int64]
    lam: Array
    reach: Array
    seen: NDArray[np.int64]
    norms: Array
    past: Array
    drift: Array
    n_removed: NDArray[np.int64]
    n_moves: NDArray[np.int64]
    scalars: Array
    refreshes: NDArray[np.int64]


@njit(cache=True, nogil=True)
def _dot(a: Array, b: Array) -> float:
    # Four sums, written out: the compiler may not reorder one sum, but can overlap these.
    n = a.shape[0]
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    i = 0
    while i + 4 <= n:
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
        i += 4
    while i < n:
        s0 += a[i] * b[i]
        i += 1
    return (s0 + s1) + (s2 + s3)


@njit(cache=True, nogil=True)
def _row_dot(V: Array, i: int, w: Array) -> float:
    """``V_i w``; as `_dot`, without the cost of making a view of the row."""
    P = w.shape[0]
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    j = 0
    while j + 4 <= P:
        s0 += V[i, j] * w[j]
        s1 += V[i, j + 1] * w[j + 1]
        s2 += V[i, j + 2] * w[j + 2]
        s3 += V[i, j + 3] * w[j + 3]
        j += 4
    while j < P:
        s0 += V[i, j] * w[j]
        j += 1
    return (s0 + s1) + (s2 + s3)


@njit(cache=True, nogil=True)
def _matvec(K: Array, x: Array, out: Array) -> None:
    """``out = K x`` for symmetric K: sums of rows, four at a time, so that it vectorises."""
    P = K.shape[0]
    out[:] = 0.0
    i = 0
    while i + 4 <= P:
        a, b, c, d = x[i], x[i + 1], x[i + 2], x[i + 3]
        row_a, row_b, row_c, row_d = K[i], K[i + 1], K[i + 2], K[i + 3]
        for j in range(P):
            out[j] += (a * row_a[j] + b * row_b[j]) + (c * row_c[j] + d * row_d[j])
        i += 4
    while i < P:
        a, row_a = x[i], K[i]
        for j in range(P):
            out[j] += a * row_a[j]
        i += 1


@njit(cache=True, nogil=True)
def downdate(K: Array, K_inv: Array, x: Array) -> bool:
    """Take the row x out of ``K = V_omega0^T V_omega0``; RankUpdate of the paper's list.

    ``(K - x x^T)^-1 = K^-1 + z z^T / (1 - x^T z)`` with ``z = K^-1 x`` (Sherman, Morrison).
    Returns False, with K_inv left as it was, when K has become singular.
    """
    P = K.shape[0]
    z = np.empty(P)
    _matvec(K_inv, x, z)
    gap = 1.0 - _dot(x, z)
    for i in range(P):
        for j in range(P):
            K[i, j] -= x[i] * x[j]
    if gap <= ZERO:
        return False
    for i in range(P):
        factor = z[i] / gap
        for j in range(P):
            K_inv[i, j] += factor * z[j]
    return True


@njit(cache=True, nogil=True)
def _best_mixture(T: Array, mix: Array) -> None:
    """Eigenvector `mix` of the largest eigenvalue of the symmetric 3 x 3 `T`.

    With ``T = [[theta, g^T], [g, D + theta]]`` it is ``theta + mu`` where mu lies above the
    eigenvalues of D and solves ``mu = g^T (mu - D)^-1 g``. Newton's method climbs to it from the
    left, because the right side is convex and falls. A rough answer only costs an iteration.
    """
    d1, d2, e = T[1, 1] - T[0, 0], T[2, 2] - T[0, 0], T[1, 2]
    g1, g2 = T[0, 1], T[0, 2]
    pole = (d1 + d2) / 2.0 + np.sqrt((d1 - d2) ** 2 / 4.0 + e * e)
    low = max(0.0, pole + 1e-9 * T[0, 0])
    mu, x1, x2 = low, 0.0, 0.0
    for _ in range(40):
        a, b = mu - d1, mu - d2
        det = a * b - e * e
        x1, x2 = (b * g1 + e * g2) / det, (e * g1 + a * g2) / det
        step = (g1 * x1 + g2 * x2 - mu) / (1.0 + x1 * x1 + x2 * x2)
        mu += step
        if step <= 1e-10 * mu:
            break
    norm = np.sqrt(1.0 + x1 * x1 + x2 * x2)
    mix[0], mix[1], mix[2] = 1.0 / norm, x1 / norm, x2 / norm


@njit(cache=True, nogil=True)
def iterate_eigenvector(K_inv: Array, v: Array, below: float) -> float:
    """Bring `v` to the top eigenvector of `K_inv`; its eigenvalue, or -1.0 without a proof.

    Locally optimal conjugate gradients: each step maximises the Rayleigh quotient over the span of
    v, the residual r and the last direction p. `below` is a bound on the second eigenvalue: after
    a rank-one downdate the second new eigenvalue is at most the old largest one (interlacing). An
    eigenvalue theta with ``theta - ||r|| > below`` is therefore the largest, and the angle of v to
    its eigenvector is at most ``||r|| / (theta - below)``.
    """
    P = v.shape[0]
    y, r, y_r = np.empty(P), np.empty(P), np.empty(P)
    p, y_p = np.zeros(P), np.zeros(P)
    T, mix = np.empty((3, 3)), np.empty(3)
    _matvec(K_inv, v, y)
    for _ in range(_MAX_ITERATIONS):
        theta = _dot(v, y) / _dot(v, v)
        for j in range(P):
            r[j] = y[j] - theta * v[j]
        size = np.sqrt(_dot(r, r))
        if size <= ANGLE * (theta - below):
            return theta
        if size == 0.0:
            return -1.0
        for j in range(P):
            r[j] /= size
        _matvec(K_inv, r, y_r)
        on_v, on_r = _dot(v, p), _dot(r, p)
        for j in range(P):
            p[j] -= on_v * v[j] + on_r * r[j]
            y_p[j] -= on_v * y[j] + on_r * y_r[j]
        length = np.sqrt(_dot(p, p))
        scale = 1.0 / length if length > 1e-14 else 0.0
        for j in range(P):
            p[j] *= scale
            y_p[j] *= scale
        T[0, 0], T[1, 1], T[2, 2] = theta, _dot(r, y_r), _dot(p, y_p)
        T[0, 1] = T[1, 0] = size
        T[0, 2] = T[2, 0] = _dot(p, y)
        T[1, 2] = T[2, 1] = _dot(p, y_r)
        _best_mixture(T, mix)
        for j in range(P):
            p[j] = mix[1] * r[j] + mix[2] * p[j]
            y_p[j] = mix[1] * y_r[j] + mix[2] * y_p[j]
            v[j] = mix[0] * v[j] + p[j]
            y[j] = mix[0] * y[j] + y_p[j]
    return -1.0


@njit(cache=True, nogil=True)
def refresh(work: Workspace) -> bool:
    """Compute K_inv, v and lambda_max from K by a full decomposition; False if K is singular."""
    P = work.v.shape[0]
    kappa, Q = np.linalg.eigh(work.K)
    Q = np.ascontiguousarray(Q)
    along = 0.0
    for j in range(P):
        along += Q[j, 0] * work.v[j]
    for j in range(P):
        work.v[j] = -Q[j, 0] if along < 0.0 else Q[j, 0]
    work.refreshes[0] += 1
    if kappa[0] <= ZERO:
        work.scalars[0] = np.inf
        return False
    work.scalars[0] = 1.0 / kappa[0]
    work.K_inv[:, :] = np.dot(Q / kappa, Q.T)
    return True


@njit(cache=True, nogil=True)
def _solve_eigenvector(work: Workspace) -> bool:
    """Cycle, step 1, with the guard: v must solve ``K v = v / lambda_max`` for K itself."""
    P = work.v.shape[0]
    lam = iterate_eigenvector(work.K_inv, work.v, work.scalars[0])
    if lam > 0.0:
        residual = np.empty(P)
        _matvec(work.K, work.v, residual)
        for j in range(P):
            residual[j] -= work.v[j] / lam
        if np.sqrt(_dot(residual, residual)) <= RESIDUAL * work.scalars[1]:
            work.scalars[0] = lam
            return lam < 1.0 / ZERO
    return refresh(work)


@njit(cache=True, nogil=True)
def _move(work: Workspace, A: Array, inflated: bool) -> None:
    """Set ``w = A v``, remember it and how far it has come."""
    P = work.v.shape[0]
    w = np.empty(P)
    if inflated:
        _matvec(A, work.v, w)
    else:
        w[:] = work.v
    step = 0.0
    for j in range(P):
        step += (w[j] - work.w[j]) ** 2
        work.w[j] = w[j]
    n = work.n_moves[0] + 1
    work.n_moves[0] = n
    work.past[n % MEMORY] = w
    work.drift[n] = work.drift[n - 1] + np.sqrt(step)


@njit(cache=True, nogil=True)
def _distances(work: Workspace, moved: Array) -> None:
    """How far w has come since each of its numbers: the chord while remembered, else the path."""
    n = work.n_moves[0]
    chord = np.empty(work.w.shape[0])
    for m in range(n + 1):
        moved[m] = work.drift[n] - work.drift[m]
    for m in range(max(n - MEMORY + 1, 1), n):
        for j in range(chord.shape[0]):
            chord[j] = work.w[j] - work.past[m % MEMORY, j]
        moved[m] = np.sqrt(_dot(chord, chord))


@njit(cache=True, nogil=True)
def largest_row(V: Array, work: Workspace, guess: int) -> tuple[int, int]:
    """``arg max |V_i w|`` over omega0, and the runner-up among the rows looked at.

    |V_i w| has changed by at most ||V_i|| times the distance of w to where it was when the row was
    last looked at, so most rows are passed over; the result is that of the full product.
    """
    reach, seen, norms, omega0, w = work.reach, work.seen, work.norms, work.omega0, work.w
    now = work.n_moves[0]
    moved = np.empty(now + 1)
    _distances(work, moved)
    first, second = -1, -1
    best, next_best = -1.0, -1.0
    if guess >= 0 and omega0[guess]:
        first, best = guess, abs(_row_dot(V, guess, w))
        reach[guess], seen[guess] = best, now
    pending = 0
    for i in range(V.shape[0]):
        pending += omega0[i] and reach[i] + norms[i] * moved[seen[i]] >= best
    if pending > V.shape[0] // MANY:
        u = np.dot(V, w)
        for i in range(V.shape[0]):
            reach[i], seen[i] = abs(u[i]), now
    for i in range(V.shape[0]):
        # The factor keeps rounding from hiding a row that is as large as the best.
        bound = (reach[i] + norms[i] * moved[seen[i]]) * (1.0 + 1e-12)
        if bound < best or not omega0[i] or i == guess:
            continue
        size = abs(_row_dot(V, i, w))
        reach[i], seen[i] = size, now
        if size > best or (size == best and i < first):
            second, next_best = first, best
            first, best = i, size
        elif size > next_best:
            second, next_best = i, size
    return first, second


@njit(cache=True, nogil=True)
def remove_row(V: Array, A: Array, inflated: bool, work: Workspace, i: int) -> bool:
    """Move row i from omega0 to omega_minus and update the matrices; False if singular."""
    work.omega0[i] = False
    work.omega_minus[work.n_removed[0]] = i
    work.n_removed[0] += 1
    if not inflated:
        return downdate(work.K, work.K_inv, V[i])
    x = np.empty(V.shape[1])
    _matvec(A, V[i], x)
    return downdate(work.K, work.K_inv, x)


@njit(cache=True, nogil=True)
def _at_noise(work: Workspace, s_inv: Array, noise: float) -> bool:
    """Whether ``||V_omega0 v||^2 = 1 / lambda_max`` is what noise alone leaves on these rows."""
    spread = 0.0
    for j in range(s_inv.shape[0]):
        spread += (work.v[j] * s_inv[j]) ** 2
    left = work.omega0.shape[0] - work.n_removed[0]
    return work.scalars[0] * left * noise * noise * spread >= 1.0


@njit(cache=True, nogil=True)
def advance(
    V: Array,
    A: Array,
    inflated: bool,
    work: Workspace,
    target: int,
    s_inv: Array,
    noise: float,
    stop_early: bool,
) -> int:
    """Run the cycle until `target` rows are removed or, with `stop_early`, a stop rule holds.

    On return `work.v` belongs to the current omega0; `scalars[0]` is its lambda_max, infinite for
    a singular V_omega0. Call with v and lambda_max of the current K already in place.
    """
    guess = -1
    before = np.empty(V.shape[1])
    while True:
        if stop_early and _at_noise(work, s_inv, noise):
            return NOISE
        if work.n_removed[0] >= target:
            return TARGET
        _move(work, A, inflated)
        i, guess = largest_row(V, work, guess)
        before[:] = work.v
        lam_before = work.scalars[0]
        regular = remove_row(V, A, inflated, work, i) and _solve_eigenvector(work)
        if not regular and work.scalars[0] != np.inf:
            regular = refresh(work)
        work.lam[work.n_removed[0] - 1] = work.scalars[0]
        if not regular:
            return SINGULAR
        if stop_early and work.scalars[0] <= (1.0 + STILL) * lam_before:
            change = 0.0
            for j in range(before.shape[0]):
                change += (work.v[j] - before[j]) ** 2
            if np.sqrt(change) <= STILL:
                return CONVERGED
