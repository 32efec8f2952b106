"""Sparse vectors in a subspace by an l1 search on the sphere with many starts.

``min |V b|_1`` over unit b has the sparse rows of C among its local minima. The alternating
directions of Qu, Sun & Wright (2014) find one from each start; the P sparsest that are linearly
independent are kept (the greedy choice is optimal, since independence is a matroid).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import svd

from rcweb.lab.baselines.base import (
    Array,
    Factors,
    MethodRecord,
    check_data,
    check_density,
    compress,
    cut,
)

STARTS_PER_COMPONENT = 10
STEPS = 300
# Thresholds in units of the mean size 1 / sqrt(N) of an entry: coarse first, then fine.
THRESHOLDS = (1.0, 0.5)
INDEPENDENT = 0.1

RECORDS = (
    MethodRecord(
        name="l1-sphere",
        title="l1 search on the sphere, many starts",
        paper="Qu, Sun & Wright 2014",
        settings="ten starts per regulator, sparsest independent ones, cut to the mean degree",
        look=("#A6761D", "*"),
    ),
)


def fit(
    data: Array, n_components: int, *, density: float | None = None, random_state: int = 0
) -> Factors:
    """Ten starts per regulator at random variables (rows of V), all moved together.

    Thresholds 1 and then 0.5 times the mean size of an entry, 300 steps each; the second round
    adds up to 0.005 to the accuracy of the first, the published one. A candidate is new if more
    than a tenth of its length lies outside the ones kept. Entries beyond the mean `density` are
    cut.
    """
    G0 = check_data(data, n_components)
    density = check_density(density)
    rng = np.random.default_rng(random_state)
    Q, T = compress(G0)
    U, s, Vt = svd(T, full_matrices=False)
    V = Vt[:n_components].T
    B = _descend(V, _starts(rng, V))
    B = _independent(B, np.abs(V @ B).sum(axis=0), n_components)
    R = np.linalg.solve(B, (U[:, :n_components] * s[:n_components]).T).T
    return Factors(activities=Q @ R, network=cut((V @ B).T, density))


def _starts(rng: np.random.Generator, V: Array) -> Array:
    """Unit starts (P, S): rows of V, in which few regulators meet, in random order."""
    N, P = V.shape
    rows = V[rng.choice(N, size=STARTS_PER_COMPONENT * P, replace=True)].T
    # Variables that do not vary have zero rows, which cannot be normalised.
    rows = rows + 1e-6 * rng.standard_normal(rows.shape)
    return np.asarray(rows / np.linalg.norm(rows, axis=0))


def _descend(V: Array, B: Array) -> Array:
    """``x = soft(V b)``, ``b = V^T x / |V^T x|`` for all columns of B at once."""
    for threshold in THRESHOLDS:
        cut_off = threshold / np.sqrt(len(V))
        # Stops when no entry of any start moves by 1e-7, or after STEPS; starts that have not
        # converged are kept as candidates, and the sparsest win.
        for _ in range(STEPS):
            Y = V @ B
            X = np.sign(Y) * np.maximum(np.abs(Y) - cut_off, 0.0)
            B_new = V.T @ X
            B_new /= np.maximum(np.linalg.norm(B_new, axis=0), 1e-300)
            moved = np.abs(B_new - B).max()
            B = B_new
            if moved < 1e-7:
                break
    return B


def _independent(B: Array, size: Array, P: int) -> Array:
    """The P columns of smallest `size` that add something new; unit vectors if too few."""
    kept = np.zeros((len(B), 0))
    basis = np.zeros((len(B), 0))
    # Unit vectors at the end of the queue: they complete the basis if the candidates do not.
    spare = np.eye(len(B))
    for b in np.hstack([B[:, np.argsort(size, kind="stable")], spare]).T:
        rest = b - basis @ (basis.T @ b)
        # A second projection: the first loses orthogonality to rounding.
        rest -= basis @ (basis.T @ rest)
        length = float(np.linalg.norm(rest))
        if length > INDEPENDENT:
            kept = np.column_stack([kept, b])
            basis = np.column_stack([basis, rest / length])
            if kept.shape[1] == P:
                break
    return kept
