"""The row of a fit without lists in which the shown targets stand out most.

Rows of |score| become normal scores by rank; the row with the largest sum over the shown targets
answers for the list. A shown target is judged in the row that the others choose.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from rcweb.engine.types import Array, Ints
from rcweb.lab.baselines.base import MethodRecord
from rcweb.lab.baselines.guided.common import check_lists

METHOD = MethodRecord(
    name="blind-row",
    title="the row of `rcweb` without lists in which the shown targets stand out most",
    paper="this package",
    settings="P told; rows as normal scores of size",
    told="lists, P",
)


def score(
    table: Array,
    lists: Sequence[Ints],
    *,
    n_components: int,
    random_state: int = 0,
    blind: Array | None = None,
) -> Array:
    """(L, N) normal scores. `blind` (P, N): the edge scores of a fit that was done already."""
    table = check_lists(table, lists)
    if blind is None:
        from rcweb.estimator import RCweb

        blind = np.asarray(RCweb(n_components, random_state=random_state).fit(table).edge_score_)
    rows = normal_scores(blind)
    return np.array([_best_row(rows, listed) for listed in lists])


def normal_scores(rows: Array) -> Array:
    """Sizes within each row (P, N) as quantiles of the normal distribution."""
    rank = np.argsort(np.argsort(np.abs(rows), axis=1, kind="stable"), axis=1)
    return np.asarray(ndtri((rank + 0.5) / rows.shape[1]))


def _best_row(rows: Array, listed: Ints) -> Array:
    own = rows[:, listed]
    total = own.sum(axis=1)
    found = rows[total.argmax()].copy()
    chosen = (total[:, None] - own).argmax(axis=0)
    found[listed] = own[chosen, np.arange(len(listed))]
    return found
