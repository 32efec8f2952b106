"""Online dictionary learning (Mairal, Bach, Ponce & Sapiro 2009) through scikit-learn.

Signals are the variables, atoms the activities, sparse codes the columns of C, as in K-SVD; the
atoms are learned from small batches of variables with lasso codes.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.decomposition import MiniBatchDictionaryLearning, sparse_encode
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

PASSES = 100
BATCH = 64

RECORDS = (
    MethodRecord(
        name="dictionary",
        title="online dictionary learning (scikit-learn)",
        paper="Mairal et al. 2009",
        settings="penalty bisected to the true density",
        look=("#66A61E", "h"),
        slow=True,
    ),
)


def fit(
    data: Array, n_components: int, *, density: float | None = None, random_state: int = 0
) -> Factors:
    """100 passes over the variables in batches of 64; alpha such that C has the mean `density`.

    The density is 0.1 if None. The penalty is found by bisection on fits of ten passes, and the
    final codes are lasso codes of all variables at that penalty; each row has its own degree.
    """
    G0 = check_data(data, n_components)
    share = check_density(density, default=0.1) or 0.1
    Q, T = compress(G0)
    signals = np.ascontiguousarray(T.T)

    def solve(alpha: float, passes: int) -> tuple[Array, Array]:
        atoms = _atoms(signals, n_components, alpha, passes, random_state)
        code = sparse_encode(signals, atoms, algorithm="lasso_cd", alpha=alpha, max_iter=2000)
        return np.ascontiguousarray(code.T), atoms.T

    # With unit atoms no code survives a penalty above the longest signal.
    scale = float(np.linalg.norm(signals, axis=1).max())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # The passes are a fixed number, and the lasso codes stop after 2,000 steps at most; what
        # has not converged by then is used as it is.
        alpha = penalty_for(share, lambda a: solve(a, 10)[0], scale)
        C, R = solve(alpha, PASSES)
    return Factors(activities=Q @ R, network=C)


def _atoms(signals: Array, P: int, alpha: float, passes: int, seed: int) -> Array:
    """Unit atoms in the rows, (P, r)."""
    model = MiniBatchDictionaryLearning(
        P,
        alpha=alpha,
        batch_size=BATCH,
        max_iter=passes,
        fit_algorithm="cd",
        random_state=seed,
    )
    return np.asarray(model.fit(signals).components_)
