"""State of the search for one column, changed in place by the compiled kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.types import Array

# Lanczos vectors before a restart.
DEPTH = 12
# Most rows that are compared in a step while w is near the point for which they were chosen.
CANDIDATES = 128
# Distances of w, two steps apart, at which a bound on the other rows is stored.
KNOTS = 6

# Places in `Workspace.scalars`.
LAMBDA, SIZE, BELOW, ERROR, MOVE, SPACING = range(6)


class Workspace(NamedTuple):
    """State of one column's search; N variables, P directions.

    K, K_inv : (P, P) V_omega0^T V_omega0 and its inverse
    v : (P,) eigenvector of K_inv with the largest eigenvalue, the current estimate of b
    w : (P,) ``A v``, so that ``u = V w`` also for the inflated matrix ``V A``
    omega0 : (N,) rows still in V_omega0
    omega_minus : (N,) removed rows in their order; the first ``n_removed[0]`` are valid
    lam : (N,) lambda_max after each removal
    norms : (N,) ||V_i||
    members : (CANDIDATES,) rows that can be the largest while w is near `centre`, ascending
    rows : (CANDIDATES, P) these rows of V
    centre : (P,) the w for which they were chosen
    levels : (KNOTS,) bound on |u_i| of all other rows when w is k times SPACING away from there
    n_members, n_removed, refreshes : (1,) number of candidates, of removals, and how often K_inv
        was computed afresh
    scalars : (6,) LAMBDA: lambda_max; SIZE: of K at the start; BELOW: bound on the second
        eigenvalue of K_inv; ERROR: bound on the angle of v to the exact eigenvector; MOVE: length
        of the last move of w; SPACING: see `levels`
    basis, small, spare : scratch
    """

    K: Array
    K_inv: Array
    v: Array
    w: Array
    omega0: NDArray[np.bool_]
    omega_minus: NDArray[np.int64]
    lam: Array
    norms: Array
    members: NDArray[np.int64]
    rows: Array
    centre: Array
    levels: Array
    n_members: NDArray[np.int64]
    n_removed: NDArray[np.int64]
    refreshes: NDArray[np.int64]
    scalars: Array
    basis: Array
    small: Array
    spare: Array


def allocate(K: Array, norms: Array) -> Workspace:
    """The state before the first removal, for ``K`` (P, P) and row norms (N,)."""
    N, P = len(norms), len(K)
    work = Workspace(
        K=K,
        K_inv=np.zeros((P, P)),
        v=np.zeros(P),
        w=np.zeros(P),
        omega0=np.ones(N, dtype=np.bool_),
        omega_minus=np.zeros(N, dtype=np.int64),
        lam=np.zeros(N),
        norms=norms,
        members=np.zeros(CANDIDATES, dtype=np.int64),
        rows=np.zeros((CANDIDATES, P)),
        centre=np.zeros(P),
        levels=np.full(KNOTS, np.inf),
        n_members=np.zeros(1, dtype=np.int64),
        n_removed=np.zeros(1, dtype=np.int64),
        refreshes=np.zeros(1, dtype=np.int64),
        scalars=np.zeros(6),
        basis=np.zeros((DEPTH + 1, P)),
        small=np.zeros((4, DEPTH)),
        spare=np.zeros((2, P)),
    )
    work.scalars[SPACING] = 1.0
    return work
