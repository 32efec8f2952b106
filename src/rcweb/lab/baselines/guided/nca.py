"""Network component analysis (Liao et al. 2003, doi 10.1073/pnas.2136632100), then regression.

``E = A P``: E (n, M) the values of the n listed variables, A (n, L) weights that are zero where a
variable is not on a list, P (L, M) activities. Alternating least squares from A = membership::

    row i of A  = argmin |E_i - a P|^2 + r |a|^2   over the lists that hold variable i
    P           = argmin |E - A P|^2 + r |P|^2

each row of P scaled to length sqrt(M) after a step, a scale that NCA leaves open. r only keeps
collinear lists solvable; where the lists satisfy NCA's conditions the exact answer is met. Then
every variable, scaled to unit variance, is regressed on all activities by ridge regression and
scored by the size of its coefficient. Shown targets are part of the activities and not left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rcweb.engine.types import Array, Ints, Mask
from rcweb.lab.baselines.base import MethodRecord
from rcweb.lab.baselines.guided.common import TINY, check_lists, membership

MAX_STEPS = 200
LEAST_DECREASE = 1e-5  # decrease of the residual in one step, relative
RIDGE = 1e-8  # relative to the mean diagonal of the normal equations
# Times M: halves the coefficient on an activity that is independent of the others. Average
# precision on E. coli and S. aureus: 0.238, 0.309; with ten times as much 0.217, 0.300; with the
# penalty of least leave-one-out error, which shown targets push towards 0, 0.174, 0.194.
PENALTY = 1.0

METHOD = MethodRecord(
    name="nca",
    title="network component analysis, then ridge regression on the activities",
    paper="Liao et al. 2003",
    settings="alternating least squares, at most 200 steps; penalty M",
    told="lists",
)


def score(
    table: Array, lists: Sequence[Ints], *, n_components: int, random_state: int = 0
) -> Array:
    """(L, N) sizes of coefficients; `n_components` and `random_state` are not used."""
    table = check_lists(table, lists)
    scaled = table / np.maximum(table.std(axis=0), TINY)
    _, activity = decompose(scaled, lists)
    gram = activity @ activity.T
    gram[np.diag_indices_from(gram)] += PENALTY * activity.shape[1]
    return np.abs(np.linalg.solve(gram, activity @ scaled))


def decompose(table: Array, lists: Sequence[Ints]) -> tuple[Array, Array]:
    """A^T (L, N), zero outside the lists, and P (L, M) with rows of length sqrt(M)."""
    pattern = membership(lists, table.shape[1]) > 0
    held = np.flatnonzero(pattern.any(axis=0))
    E, pattern = table[:, held], pattern[:, held]
    A = pattern.astype(np.float64)
    before = np.inf
    # Ends after MAX_STEPS at most.
    for _ in range(MAX_STEPS):
        P = _scaled(_solve(A @ A.T, A @ E.T))
        A = _weights(E, P, pattern)
        residual = float(np.linalg.norm(E - P.T @ A))
        if before - residual <= LEAST_DECREASE * residual:
            break
        before = residual
    weights = np.zeros((len(lists), table.shape[1]))
    weights[:, held] = A
    return weights, P


def _weights(E: Array, P: Array, pattern: Mask) -> Array:
    """A^T (L, n): each variable regressed on the activities of its own lists."""
    gram, product = P @ P.T, P @ E
    A = np.zeros(pattern.shape)
    number = pattern.sum(axis=0)
    # Variables with as many lists are solved at once.
    for size in np.unique(number):
        columns = np.flatnonzero(number == size)
        own = np.nonzero(pattern[:, columns].T)[1].reshape(-1, size)
        right = product[own, columns[:, None]]
        A[own, columns[:, None]] = _solve(gram[own[:, :, None], own[:, None]], right[..., None])[
            ..., 0
        ]
    return A


def _solve(gram: Array, right: Array) -> Array:
    """Of one system (d, d) or a stack of them."""
    d = gram.shape[-1]
    size = np.trace(gram, axis1=-2, axis2=-1)[..., None, None] / d
    return np.asarray(np.linalg.solve(gram + RIDGE * np.maximum(size, TINY) * np.eye(d), right))


def _scaled(P: Array) -> Array:
    """Rows of length sqrt(M): the scale that NCA leaves open."""
    length = np.maximum(np.linalg.norm(P, axis=1, keepdims=True), TINY)
    return np.asarray(P * np.sqrt(P.shape[1]) / length)
