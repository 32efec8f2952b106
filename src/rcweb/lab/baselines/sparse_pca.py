"""Sparse PCA with an l1 penalty (Zou, Hastie & Tibshirani 2006), the form scikit-learn solves.

``min |G0 - R C|^2 / 2 + alpha |C|_1`` with columns of R of norm at most 1: the penalised relative
of the paper's eq. 2. `sklearn.decomposition.SparsePCA` is this call on the transposed table.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.decomposition import dict_learning
from sklearn.exceptions import ConvergenceWarning

from rcweb.lab.baselines.base import (
    Array,
    Factors,
    MethodRecord,
    check_data,
    check_density,
    compress,
)
from rcweb.lab.baselines.penalty import penalty_for

MAX_ITER = 300
# Enough for the density to follow the penalty when fits continue each other.
SHORT = 8
TOL = 1e-7

RECORDS = (
    MethodRecord(
        name="sparse-pca",
        title="l1 sparse PCA (scikit-learn)",
        paper="Zou, Hastie & Tibshirani 2006",
        settings="penalty bisected to the true density",
        look=("#4D4D4D", "p"),
        slow=True,
    ),
)


def fit(
    data: Array,
    n_components: int,
    *,
    density: float | None = None,
    random_state: int = 0,
    alpha: float | None = None,
) -> Factors:
    """Alternate lasso for C (coordinate descent) and least squares for R.

    `alpha` is chosen so that C has the mean `density` (0.1 if None), by bisection on short fits
    that continue each other; the last fit starts again from the singular vectors, scikit-learn's
    start, and runs to convergence. No row is cut: the penalty gives each row its own degree.
    """
    G0 = check_data(data, n_components)
    share = check_density(density, default=0.1) or 0.1
    Q, T = compress(G0)
    if alpha is None:
        short = _ShortFits(T, n_components, random_state)
        alpha = penalty_for(share, short, scale=float(np.linalg.norm(T, axis=0).max()))
    C, R = _solve(T, n_components, alpha, MAX_ITER, random_state)
    return Factors(activities=Q @ R, network=C)


class _ShortFits:
    """The network at a penalty, a few steps on from the one before."""

    def __init__(self, T: Array, P: int, seed: int) -> None:
        self._T, self._P, self._seed = T, P, seed
        self._last: tuple[Array, Array] | None = None

    def __call__(self, alpha: float) -> Array:
        self._last = _solve(self._T, self._P, alpha, SHORT, self._seed, self._last)
        # A row that is all zero stays zero when the penalty falls; start again without it.
        network = self._last[0]
        if not network.any(axis=1).all():
            self._last = None
        return network


def _solve(
    T: Array, P: int, alpha: float, steps: int, seed: int, start: tuple[Array, Array] | None = None
) -> tuple[Array, Array]:
    """C (P, N) and R (r, P)."""
    code, atoms = (None, None) if start is None else (start[0].T, start[1].T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Stops at TOL or after `steps`; a fit that has not converged is used as it is. For the
        # short fits that is intended.
        code, atoms, _ = dict_learning(
            np.ascontiguousarray(T.T),
            P,
            alpha=alpha,
            max_iter=steps,
            tol=TOL,
            method="cd",
            code_init=code,
            dict_init=atoms,
            random_state=seed,
        )
    return np.ascontiguousarray(code.T), np.ascontiguousarray(atoms.T)
