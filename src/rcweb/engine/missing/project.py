"""Activities of samples in which some variables were not measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.missing.check import refuse_empty_samples
from rcweb.engine.types import Array, Mask

# Condition number above which the measured variables do not fix the activities: half of the digits
# of a double are lost.
WORST_CONDITION = 1e8


def project_missing(
    X: Array, projection: Array, weights: Array, numbers: NDArray[np.intp] | None = None
) -> Array:
    """Activities (M, P) of centred samples `X` (M, N) with NaN where nothing was measured.

    Activities are ``r = x @ projection`` with each hole at the value they predict, ``r @ weights``.
    With o measured and h not, the solution of this linear fixed point is

        r (I - W_h Q_h) = x_o Q_o,   Q = projection (N, P), W = weights (P, N).

    Where ``Q = S^-1 W^T (W S^-1 W^T + I)^-1``, the posterior mean under noise variances S (method
    "refined"), this is the posterior mean given o; where ``Q W`` is a projection, it is least
    squares on o. If o does not determine the activities, those of least norm are returned.
    A sample without any value is refused by its number, in `numbers` (M,) if given.
    """
    hole = np.isnan(X)
    refuse_empty_samples(hole, numbers)
    R = np.where(hole, 0.0, X) @ projection
    # Samples with the same holes share one P x P system.
    for rows, h in hole_patterns(hole):
        left = np.eye(projection.shape[1]) - weights[:, h] @ projection[h]
        R[rows] = solve_holes(left.T, R[rows].T).T
    return R


def hole_patterns(hole: Mask) -> list[tuple[NDArray[np.intp], Mask]]:
    """Samples that lack the same variables, and which these are; none for complete samples."""
    rows = np.flatnonzero(hole.any(axis=1))
    groups: dict[bytes, list[int]] = {}
    for row, key in zip(rows, np.packbits(hole[rows], axis=1)):
        groups.setdefault(key.tobytes(), []).append(int(row))
    return [(np.array(members), hole[members[0]]) for members in groups.values()]


def solve_holes(left: Array, right: Array) -> Array:
    """``left^-1 right``; of least norm where what was measured does not determine it."""
    if np.linalg.cond(left, 1) < WORST_CONDITION:
        return np.asarray(np.linalg.solve(left, right), dtype=np.float64)
    return np.asarray(np.linalg.lstsq(left, right, rcond=1 / WORST_CONDITION)[0], dtype=np.float64)
