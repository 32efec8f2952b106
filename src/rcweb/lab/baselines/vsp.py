"""vsp, "vintage sparse PCA" (Rohe & Zeng 2023): varimax of the doubly centred table, cut.

The table is centred by rows and columns, ``X = U D V^T``; ``Y = sqrt(N) V T`` with the varimax
rotation T estimates sparse or leptokurtic factors, ``U D T / sqrt(N)`` goes with it. Each factor
has its sign chosen so that its skewness is positive. Unlike
`varimax` it subtracts the mean of every sample, so that a factor that all variables share does not
disturb the rotation.
"""

from __future__ import annotations

import numpy as np

from rcweb.engine.basis import truncated_svd
from rcweb.lab.baselines.base import Array, Factors, MethodRecord, check_data, check_density, cut
from rcweb.lab.baselines.varimax import varimax

RECORDS = (
    MethodRecord(
        name="vsp",
        title="varimax of the doubly centred table",
        paper="Rohe & Zeng 2023",
        settings="rows and columns centred, no degree normalisation; cut to the mean degree",
        look=("#B8860B", "X"),
    ),
)


def fit(
    data: Array, n_components: int, *, density: float | None = None, random_state: int = 0
) -> Factors:
    """The centred vsp estimate; `random_state` is not used.

    The package's default of a degree-normalised Laplacian is for graphs and counts; it has no
    meaning where entries are signed. Entries beyond the mean `density` are cut.
    """
    G0 = check_data(data, n_components)
    density = check_density(density)
    X = G0 - G0.mean(axis=1, keepdims=True)
    basis = truncated_svd(X, n_components)
    # Columns of Y get mean square 1, the scale of the paper.
    root = np.sqrt(X.shape[1])
    T = varimax(basis.V)
    Y = root * basis.V @ T
    T, Y = (A * _towards_positive_skew(Y) for A in (T, Y))
    return Factors(activities=(basis.U * basis.s) @ T / root, network=cut(Y.T.copy(), density))


def _towards_positive_skew(Y: Array) -> Array:
    """Signs (P,) that make the third moments of the columns positive."""
    return np.where(((Y - Y.mean(axis=0)) ** 3).sum(axis=0) < 0, -1.0, 1.0)
