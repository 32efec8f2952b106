"""Forests in the manner of GENIE3 (Huynh-Thu et al. 2010, doi 10.1371/journal.pone.0012776).

Every variable, scaled to unit variance, is predicted by a forest from the measured regulators,
itself left out; the importance of a regulator is the score of the edge. The lists tell nothing but
which variables are regulators, so one run serves all splits. GENIE3 grows 1,000 trees per target,
here 50: thousands of targets have one forest each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rcweb.engine.types import Array, Ints
from rcweb.lab.baselines.base import MethodRecord
from rcweb.lab.baselines.guided.common import TINY, check_lists

N_TREES = 50

METHOD = MethodRecord(
    name="forest",
    title="importance of the regulator's own expression in forests (GENIE3)",
    paper="Huynh-Thu et al. 2010",
    settings="50 extremely randomised trees per target, sqrt(regulators) tried at a split",
    told="regulators",
    slow=True,
)


def score(
    table: Array,
    lists: Sequence[Ints],
    *,
    n_components: int,
    random_state: int = 0,
    regulators: Ints,
    n_trees: int | None = None,
) -> Array:
    """(L, N) importances; NaN rows for lists whose regulator was not measured.

    regulators : (L,) column of each list's regulator, -1 if it was not measured
    n_trees : of every forest, 50 by default
    """
    table = check_lists(table, lists)
    found = np.full((len(lists), table.shape[1]), np.nan)
    measured = regulators >= 0
    if not measured.any():
        return found
    inputs, row = np.unique(regulators[measured], return_inverse=True)
    found[measured] = importances(table, inputs, n_trees or N_TREES, random_state)[row]
    return found


def importances(table: Array, inputs: Ints, n_trees: int, seed: int) -> Array:
    """(I, N) importance of each variable of `inputs` (I,) in the forest of every variable."""
    from sklearn.ensemble import ExtraTreesRegressor

    scaled = np.asarray(table / np.maximum(table.std(axis=0), TINY), np.float32)
    found = np.zeros((len(inputs), scaled.shape[1]))
    for target in range(scaled.shape[1]):
        used = np.flatnonzero(inputs != target)
        if not used.size:
            continue
        forest = ExtraTreesRegressor(n_trees, max_features="sqrt", random_state=seed, n_jobs=1)
        forest.fit(scaled[:, inputs[used]], scaled[:, target])
        found[used, target] = forest.feature_importances_
    return found
