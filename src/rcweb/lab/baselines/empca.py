"""emPCA: sparse and non-negative PCA by expectation-maximisation (Sigg & Buhmann 2008).

Probabilistic PCA with vanishing noise alternates ``y = X w`` (E) and ``w = X^T y / y^T y`` (M). A
bound on |w|_1 turns the M step into soft thresholding; the bound is set by the number of non-zeros
wanted. Further components come from the deflated data.
"""

from __future__ import annotations

import numpy as np

from rcweb.lab.baselines.base import (
    Array,
    Factors,
    MethodRecord,
    check_data,
    check_density,
    compress,
    regress_activities,
)

MAX_ITER = 300
TOL = 1e-12
# Steps over which the number of non-zeros falls by a factor e towards the one wanted.
ANNEALING = 8.0

RECORDS = (
    MethodRecord(
        name="empca",
        title="EM sparse PCA with a cardinality",
        paper="Sigg & Buhmann 2008",
        settings="annealed cardinality, renormalised, deflation",
        look=("#CC79A7", "P"),
    ),
)


def fit(
    data: Array,
    n_components: int,
    *,
    density: float | None = None,
    random_state: int = 0,
    non_negative: bool = False,
) -> Factors:
    """Sparse components of ``density * N`` non-zeros each (all N if None), one after the other.

    The best settings on figures 1 to 3: soft rather than hard thresholding, the number
    of non-zeros lowered step by step, the first eigenvector on the support at the end (variational
    renormalisation), and deflation ``X (I - w w^T)``. Twenty starts a component, keeping the one
    of largest variance, take twenty times as long and are no more accurate.
    """
    G0 = check_data(data, n_components)
    share = check_density(density, default=1.0) or 1.0
    k = int(np.clip(round(share * G0.shape[1]), 1, G0.shape[1]))
    rng = np.random.default_rng(random_state)
    _, X = compress(G0)
    X = X.copy()
    W = np.zeros((n_components, X.shape[1]))
    for p in range(n_components):
        w = _component(X, k, rng, non_negative)
        W[p] = w
        # Sparse components are not orthogonal; this removes all variance along w.
        X -= np.outer(X @ w, w)
    return Factors(activities=regress_activities(G0, W), network=W)


def _component(X: Array, k: int, rng: np.random.Generator, non_negative: bool) -> Array:
    """argmax of ``|X w|`` over unit w with at most k non-zeros, a local one."""
    N = X.shape[1]
    start = np.asarray(rng.standard_normal(N))
    w = _normalised(np.abs(start) if non_negative else start)
    # Stops when the annealing is over and the direction no longer changes, or after MAX_ITER steps;
    # the last direction is used in either case.
    for step in range(MAX_ITER):
        allowed = min(N, k + round(N * np.exp(-step / ANNEALING)))
        new = _normalised(_threshold(X.T @ (X @ w), allowed, non_negative))
        settled = allowed == k and abs(new @ w) > 1 - TOL
        w = new
        if settled:
            break
    return _renormalised(X, w, non_negative)


def _threshold(v: Array, k: int, non_negative: bool) -> Array:
    """Soft thresholding that leaves k entries, the M step under |w|_1 <= B."""
    if non_negative:
        # w and -w explain the same: take the side that holds more.
        v = v if v @ np.abs(v) >= 0 else -v
        v = np.maximum(v, 0.0)
    if k >= len(v):
        return v
    size = np.abs(v)
    # The threshold that leaves k entries; the bound B of the paper need not be known.
    largest_dropped = np.partition(size, len(v) - k - 1)[len(v) - k - 1]
    return np.asarray(np.sign(v) * np.maximum(size - largest_dropped, 0.0))


def _renormalised(X: Array, w: Array, non_negative: bool) -> Array:
    """The first principal axis of the chosen variables alone; thresholding shrinks the small ones.

    The same EM steps without the bound, on the support.
    """
    support = np.flatnonzero(w)
    columns = np.ascontiguousarray(X[:, support])
    axis = w[support]
    # A power iteration; it stops like the loop above. Close eigenvalues make it slow, and any
    # vector between their axes is then as good.
    for _ in range(MAX_ITER):
        new = columns.T @ (columns @ axis)
        new = _normalised(np.maximum(new, 0.0) if non_negative else new)
        settled = abs(new @ axis) > 1 - TOL
        axis = new
        if settled:
            break
    best = np.zeros_like(w)
    best[support] = axis
    return best


def _normalised(w: Array) -> Array:
    norm = float(np.linalg.norm(w))
    return w / norm if norm > 0 else w
