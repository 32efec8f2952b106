"""IncrementalPCA and FastICA of scikit-learn: what its users have for tables beyond memory.

The data are read once, in batches, for the leading right singular vectors; FastICA then works on
those, with the variables as observations (see `rcweb.lab.baselines.ica`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
from sklearn.decomposition import FastICA, IncrementalPCA
from sklearn.exceptions import ConvergenceWarning

from rcweb.lab.baselines.base import Array, MethodRecord
from rcweb.lab.baselines.ica import MAX_ITER, TOL

INCREMENTAL = MethodRecord(
    name="ipca-fastica",
    title="IncrementalPCA and FastICA over variables",
    paper="scikit-learn",
    settings="batches of 1,000 samples or P if that is more; contrast exp, tol 1e-4, no cut",
    look=("#003F5C", "1"),
    told="P",
)


def fit_batches(batches: Iterable[Array], n_components: int, *, random_state: int = 0) -> Array:
    """The network (P, N) of dense batches of samples, each of at least P rows."""
    pca = IncrementalPCA(n_components)
    for batch in batches:
        pca.partial_fit(batch)
    # Axes times singular values have the Gram matrix of the table, so FastICA sees what it would
    # see in the whole table.
    axes = pca.singular_values_[:, None] * pca.components_
    ica = FastICA(
        n_components,
        fun="exp",
        whiten="unit-variance",
        max_iter=MAX_ITER,
        tol=TOL,
        random_state=random_state,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Stops at TOL or after MAX_ITER steps; the last rotation is used if it did not converge.
        ica.fit(axes.T)
    return np.asarray(ica.components_ @ axes)
