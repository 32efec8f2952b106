"""Compiled inner loops of the published search (paper, section 3).

Everything that is compiled lives in this one file: numba's cache on disk does not notice an edit
in another one (touch this file after a change of the sizes in `workspace`). The kernels change a
`Workspace` in place. Cost of one removal: O(P^2) for the matrices, a few rows of V for the arg-max.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from rcweb.engine.paper.workspace import (
    BELOW,
    CANDIDATES,
    DEPTH,
    ERROR,
    KNOTS,
    LAMBDA,
    MOVE,
    SIZE,
    SPACING,
    Workspace,
)
from rcweb.engine.types import Array

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
# The same while the largest row leads by more than such an angle can change: lambda_max is then
# right to the square of it, and the removed row is the one that the exact eigenvector picks.
LOOSE = 1e-4
# Allowed residual ||K K^-1 v - v|| / lambda, in units of the size of K, before K^-1 is refreshed.
RESIDUAL = 1e-8
# Restarts of the Lanczos steps before giving up; the caller then falls back on `refresh`.
_RESTARTS = 8
# For how many steps (at the speed of the last one) the candidates are chosen.
_AHEAD = 3.0
_BINS = 128  # of the histogram that replaces a sort of all rows


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
    """``out = K^T x`` as a sum of the rows of K, four at a time, so that it vectorises."""
    P, n = K.shape
    out[:] = 0.0
    i = 0
    while i + 4 <= P:
        a, b, c, d = x[i], x[i + 1], x[i + 2], x[i + 3]
        row_a, row_b, row_c, row_d = K[i], K[i + 1], K[i + 2], K[i + 3]
        for j in range(n):
            out[j] += (a * row_a[j] + b * row_b[j]) + (c * row_c[j] + d * row_d[j])
        i += 4
    while i < P:
        a, row_a = x[i], K[i]
        for j in range(n):
            out[j] += a * row_a[j]
        i += 1


@njit(cache=True, nogil=True)
def downdate(K: Array, K_inv: Array, x: Array, z: Array) -> bool:
    """Take the row x out of ``K = V_omega0^T V_omega0``; RankUpdate of the paper's list.

    ``(K - x x^T)^-1 = K^-1 + z z^T / (1 - x^T z)`` with ``z = K^-1 x`` (Sherman, Morrison).
    Returns False, with K_inv left as it was, when K has become singular; z is scratch.
    """
    P = K.shape[0]
    _matvec(K_inv, x, z)
    # K is updated even if the inverse cannot be: `refresh` starts from K.
    gap = 1.0 - _dot(x, z)
    for i in range(P):
        factor = x[i]
        row = K[i]
        for j in range(P):
            row[j] -= factor * x[j]
    if gap <= ZERO:
        return False
    for i in range(P):
        factor = z[i] / gap
        row = K_inv[i]
        for j in range(P):
            row[j] += factor * z[j]
    return True


@njit(cache=True, nogil=True)
def _top_of_tridiagonal(small: Array, m: int, theta: float) -> float:
    """Largest eigenvalue of the m x m matrix with diagonal small[0] and off-diagonal small[1].

    `theta` is that of the first m - 1 rows. The root mu of ``d_1 = 0`` with ``d_m = mu - a_m``,
    ``d_j = mu - a_j - b_j^2 / d_(j+1)`` by Newton's method inside a bracket; on return small[2]
    holds the d and small[3] the eigenvector ``s_(j+1) = s_j b_j / d_(j+1)``, its first entry 1.

    Stops when d_1 is zero to rounding or the bracket cannot shrink further; after 100 steps the
    last mu is returned, and the caller's bound on the angle decides whether it is good enough.
    """
    a, b, d, s = small[0], small[1], small[2], small[3]
    # Interlacing: a further row can only raise the largest eigenvalue, by at most |b_(m-1)|.
    low, high = theta, max(theta, a[m - 1]) + b[m - 2]
    mu = low
    for _ in range(100):
        d[m - 1], slope, above = mu - a[m - 1], 1.0, True
        for j in range(m - 2, -1, -1):
            # Sturm: mu is above all eigenvalues only if every d is positive.
            if d[j + 1] <= 0.0:
                above = False
                break
            ratio = b[j] / d[j + 1]
            d[j] = mu - a[j] - b[j] * ratio
            slope = 1.0 + ratio * ratio * slope
        if above and abs(d[0]) <= 1e-14 * mu * slope:
            break
        if above and d[0] > 0.0:
            high = mu
        else:
            low = mu
        new = mu - d[0] / slope if above else high
        # Newton may leave the bracket; bisection then.
        if not low < new < high:
            new = (low + high) / 2.0
        if new == mu or new <= low or new >= high:
            break
        mu = new
    s[0] = 1.0
    for j in range(m - 1):
        s[j + 1] = s[j] * b[j] / d[j + 1] if d[j + 1] > 0.0 else 0.0
    return mu


@njit(cache=True, nogil=True)
def top_eigenvector(
    K_inv: Array, v: Array, below: float, tolerance: float, Q: Array, small: Array, y: Array
) -> tuple[float, float]:
    """Bring `v` to the top eigenvector of `K_inv` by Lanczos steps from where it is.

    Returns the eigenvalue theta and a bound on the angle of v to the exact eigenvector; theta is
    -1.0 when the bound did not come down to `tolerance`. On return ``y = K_inv v``.

    `below` is a bound on the second eigenvalue: after a rank-one downdate the second new
    eigenvalue is at most the old largest one (interlacing). An eigenvalue theta with residual r
    and ``theta - ||r|| > below`` is therefore the largest, and the angle of v to its eigenvector is
    at most ``||r|| / (theta - below)``. Q (DEPTH + 1, P) and small (4, DEPTH) are scratch.

    Maximises ``v^T K_inv v`` over the Krylov space of v. Each restart takes up to DEPTH Lanczos
    steps and stops at the bound; the warm start is close, so few steps are needed. Lanczos vectors
    are not reorthogonalised: that matters only for eigenvalues that have already converged, and
    the search stops when the first one does.
    """
    P = v.shape[0]
    for _ in range(_RESTARTS):
        scale = 1.0 / np.sqrt(_dot(v, v))
        for j in range(P):
            Q[0, j] = v[j] * scale
        theta, size = 0.0, 0.0
        m = 0
        while True:
            q, new = Q[m], Q[m + 1]
            _matvec(K_inv, q, new)
            diagonal = _dot(q, new)
            if m == 0:
                for j in range(P):
                    new[j] -= diagonal * q[j]
            else:
                old, beta = Q[m - 1], small[1, m - 1]
                for j in range(P):
                    new[j] -= diagonal * q[j] + beta * old[j]
            length = np.sqrt(_dot(new, new))
            small[0, m], small[1, m] = diagonal, length
            m += 1
            if m == 1:
                theta, small[3, 0] = diagonal, 1.0
            else:
                theta = _top_of_tridiagonal(small, m, theta)
            norm = np.sqrt(_dot(small[3, :m], small[3, :m]))
            last = small[3, m - 1] / norm
            # Residual norm of the Ritz pair: the next beta times the last entry of its vector.
            size = length * abs(last)
            if size <= tolerance * (theta - below) or m == DEPTH or length <= 1e-15 * theta:
                break
            for j in range(P):
                new[j] /= length
        for j in range(P):
            v[j] = small[3, 0] / norm * Q[0, j]
        for i in range(1, m):
            factor = small[3, i] / norm
            for j in range(P):
                v[j] += factor * Q[i, j]
        if size <= tolerance * (theta - below):
            # K_inv v from the Lanczos relation, without another product.
            for j in range(P):
                y[j] = theta * v[j] + last * Q[m, j]
            return theta, size / (theta - below) if size > 0.0 else 0.0
    return -1.0, 1.0


@njit(cache=True, nogil=True)
def refresh(work: Workspace) -> bool:
    """Compute K_inv, v and lambda_max from K by a full decomposition; False if K is singular."""
    P = work.v.shape[0]
    # Of K and not of K_inv: the smallest eigenvalue of K is what decides about singularity, and
    # K has not accumulated the errors of the rank-one updates of its inverse.
    kappa, Q = np.linalg.eigh(work.K)
    Q = np.ascontiguousarray(Q)
    # Keep the sign of the old v: `advance` compares the two.
    along = 0.0
    for j in range(P):
        along += Q[j, 0] * work.v[j]
    for j in range(P):
        work.v[j] = -Q[j, 0] if along < 0.0 else Q[j, 0]
    work.refreshes[0] += 1
    work.scalars[ERROR] = 0.0
    if kappa[0] <= ZERO:
        work.scalars[LAMBDA] = np.inf
        return False
    work.scalars[LAMBDA] = 1.0 / kappa[0]
    work.K_inv[:, :] = np.dot(Q / kappa, Q.T)
    return True


@njit(cache=True, nogil=True)
def _solve_eigenvector(work: Workspace, tolerance: float) -> bool:
    """Cycle, step 1, with the guard: ``K (K_inv v)`` must be v for K itself.

    Falls back on a full decomposition if Lanczos did not converge or K_inv has drifted off K^-1.
    """
    P = work.v.shape[0]
    y, back = work.spare[0], work.spare[1]
    below = work.scalars[BELOW]
    lam, error = top_eigenvector(work.K_inv, work.v, below, tolerance, work.basis, work.small, y)
    if lam > 0.0:
        _matvec(work.K, y, back)
        for j in range(P):
            back[j] -= work.v[j]
        if np.sqrt(_dot(back, back)) <= RESIDUAL * work.scalars[SIZE] * lam:
            work.scalars[LAMBDA], work.scalars[ERROR] = lam, error
            return lam < 1.0 / ZERO
    return refresh(work)


@njit(cache=True, nogil=True)
def _move(work: Workspace, A: Array, inflated: bool) -> None:
    """Set ``w = A v`` and remember how far it has moved."""
    P = work.v.shape[0]
    w = work.spare[0]
    if inflated:
        _matvec(A, work.v, w)
    else:
        w[:] = work.v
    step = 0.0
    for j in range(P):
        step += (w[j] - work.w[j]) ** 2
        work.w[j] = w[j]
    work.scalars[MOVE] = np.sqrt(step)


@njit(cache=True, nogil=True)
def largest_row(V: Array, work: Workspace) -> tuple[int, float]:
    """``arg max |V_i w|`` over omega0, and a lower bound on its lead over every other row.

    |V_i w| changes by at most ||V_i|| times the distance that w moves, so that for some steps a
    few candidates are known to hold the largest row; the result is that of the full product.
    """
    level = _level_of_others(work)
    if level < np.inf:
        n = work.n_members[0]
        u = np.dot(work.rows[:n], work.w)
        for c in range(n):
            u[c] = abs(u[c]) if work.omega0[work.members[c]] else -1.0
        c, lead = _largest(work.rows[:n], u, work.w, level)
        if c >= 0:
            return work.members[c], lead
    u = np.dot(V, work.w)
    for i in range(V.shape[0]):
        u[i] = abs(u[i]) if work.omega0[i] else -1.0
    i, lead = _largest(V, u, work.w, -1.0)
    _choose_candidates(V, work, u)
    return i, lead


@njit(cache=True, nogil=True)
def _largest(rows: Array, u: Array, w: Array, level: float) -> tuple[int, float]:
    """Index of the largest u and its lead over the others and `level`; -1 if it has none."""
    best = -1.0
    for i in range(u.shape[0]):
        best = max(best, u[i])
    # The factor keeps rounding from hiding a row that is as large as the best.
    if best <= level * (1.0 + 1e-12):
        return -1, 0.0
    near = best * (1.0 - 1e-12)
    first, best, second = -1, -1.0, level
    for i in range(u.shape[0]):
        if u[i] < near:
            second = max(second, u[i])
            continue
        # Rows that are equal must get equal products, which a blocked product does not promise.
        size = abs(_row_dot(rows, i, w))
        second = max(second, min(size, best))
        if size > best:
            first, best = i, size
    return first, best - second


@njit(cache=True, nogil=True)
def _level_of_others(work: Workspace) -> float:
    """No row outside the candidates has |u_i| above this; infinite when w has come too far.

    The bound is a maximum of linear functions of the distance, hence convex, and lies below the
    straight lines between the distances (knots) for which it was computed.
    """
    distance = 0.0
    for j in range(work.w.shape[0]):
        distance += (work.w[j] - work.centre[j]) ** 2
    position = np.sqrt(distance) / work.scalars[SPACING]
    k = int(min(position, KNOTS))
    if k >= KNOTS - 1:
        return np.inf
    share = position - k
    return (1.0 - share) * work.levels[k] + share * work.levels[k + 1]


@njit(cache=True, nogil=True)
def _choose_candidates(V: Array, work: Workspace, u: Array) -> None:
    """Keep the rows with the largest ``|u_i| + ||V_i|| d``, d being some steps of w ahead.

    A histogram finds the threshold; a tie of more than CANDIDATES rows leaves none.
    """
    N = V.shape[0]
    norms, levels, spacing = work.norms, work.levels, 2.0 * work.scalars[MOVE]
    ahead = u + _AHEAD * work.scalars[MOVE] * norms
    unit = _BINS / ahead.max()
    counts = np.zeros(_BINS + 1, dtype=np.int64)
    for i in range(N):
        if u[i] >= 0.0:
            counts[int(ahead[i] * unit)] += 1
    lowest, total = _BINS + 1, 0
    while lowest > 0 and total + counts[lowest - 1] <= CANDIDATES:
        lowest -= 1
        total += counts[lowest]
    # Rows at or above the threshold become candidates; -1 takes them out of the bound below.
    n = 0
    for i in range(N):
        if u[i] >= 0.0 and int(ahead[i] * unit) >= lowest:
            work.members[n] = i
            work.rows[n] = V[i]
            n += 1
            u[i] = -1.0
    levels[:] = 0.0
    for i in range(N):
        # Levels rise with k: most rows do not even reach the first one.
        if u[i] >= 0.0 and u[i] + (KNOTS - 1) * spacing * norms[i] > levels[0]:
            for k in range(KNOTS):
                levels[k] = max(levels[k], u[i] + k * spacing * norms[i])
    work.n_members[0] = n
    work.centre[:] = work.w
    work.scalars[SPACING] = spacing


@njit(cache=True, nogil=True)
def remove_row(V: Array, A: Array, inflated: bool, work: Workspace, i: int) -> bool:
    """Move row i from omega0 to omega_minus and update the matrices; False if singular."""
    work.omega0[i] = False
    work.omega_minus[work.n_removed[0]] = i
    work.n_removed[0] += 1
    x, z = work.spare[0], work.spare[1]
    if inflated:
        _matvec(A, V[i], x)
    else:
        x[:] = V[i]
    return downdate(work.K, work.K_inv, x, z)


@njit(cache=True, nogil=True)
def _at_noise(work: Workspace, s_inv: Array, noise: float) -> bool:
    """Whether ``||V_omega0 v||^2 = 1 / lambda_max`` is what noise alone leaves on these rows."""
    # Noise of an entry of V v is noise * |v / s|; the rows left add up to `left` times its square.
    spread = 0.0
    for j in range(s_inv.shape[0]):
        spread += (work.v[j] * s_inv[j]) ** 2
    left = work.omega0.shape[0] - work.n_removed[0]
    return work.scalars[LAMBDA] * left * noise * noise * spread >= 1.0


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

    Greedy search for a unit v with ``V v`` zero on as many rows as possible: v minimises
    ``||V_omega0 v||``, the row where it is largest leaves omega0, and so on. Every step removes a
    row, so the loop ends at `target` at the latest.

    On return `work.v` belongs to the current omega0; `scalars[0]` is its lambda_max, infinite for
    a singular V_omega0. Call with v and lambda_max of the current K already in place.
    """
    before = np.empty(V.shape[1])
    # Stop rules and the inflated phase look at v itself, so it must be accurate at every step.
    strict = inflated or stop_early
    widest = work.norms.max()
    while True:
        if stop_early and _at_noise(work, s_inv, noise):
            return NOISE
        if work.n_removed[0] >= target:
            return TARGET
        _move(work, A, inflated)
        i, lead = largest_row(V, work)
        # The error of v could change which row is largest: solve it exactly before deciding.
        if work.scalars[ERROR] > ANGLE and lead <= 3.0 * widest * work.scalars[ERROR]:
            _solve_eigenvector(work, ANGLE)
            work.lam[work.n_removed[0] - 1] = work.scalars[LAMBDA]
            _move(work, A, inflated)
            i, lead = largest_row(V, work)
        before[:] = work.v
        lam_before = work.scalars[LAMBDA]
        # The eigenvalue that v gives is too small by at most this factor.
        work.scalars[BELOW] = lam_before * (1.0 + work.scalars[ERROR] ** 2)
        regular = remove_row(V, A, inflated, work, i)
        regular = regular and _solve_eigenvector(work, ANGLE if strict else LOOSE)
        if not regular and work.scalars[LAMBDA] != np.inf:
            regular = refresh(work)
        work.lam[work.n_removed[0] - 1] = work.scalars[LAMBDA]
        if not regular:
            return SINGULAR
        if stop_early and work.scalars[LAMBDA] <= (1.0 + STILL) * lam_before:
            change = 0.0
            for j in range(before.shape[0]):
                change += (work.v[j] - before[j]) ** 2
            if np.sqrt(change) <= STILL:
                return CONVERGED
