"""Univariate linear model of decoupleR (Badia-i-Mompel et al. 2022), then correlation.

In each sample the expression of all variables is regressed on membership of a list; the activity of
its regulator there is the t-value of the slope. A variable is scored by the size of its correlation
with the activity over samples. Shown targets are part of the activity and not left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rcweb.engine.types import Array, Ints
from rcweb.lab.baselines.base import MethodRecord
from rcweb.lab.baselines.guided.common import check_lists, membership, unit_columns

METHOD = MethodRecord(
    name="ulm",
    title="activity by a univariate linear model (decoupleR), then correlation",
    paper="Badia-i-Mompel et al. 2022",
    settings="weights 1, activity = t of the slope, |correlation|",
    told="lists",
)


def score(
    table: Array, lists: Sequence[Ints], *, n_components: int, random_state: int = 0
) -> Array:
    """(L, N) sizes of correlations; `n_components` and `random_state` are not used."""
    table = check_lists(table, lists)
    activity = activities(table, lists)
    return np.abs(unit_columns(activity - activity.mean(axis=0)).T @ unit_columns(table))


def activities(table: Array, lists: Sequence[Ints]) -> Array:
    """(M, L) t-values of the slope of each sample's values on membership in each list."""
    N = table.shape[1]
    X = membership(lists, N)
    X = unit_columns((X - X.mean(axis=1, keepdims=True)).T)
    Y = unit_columns((table - table.mean(axis=1, keepdims=True)).T)
    r = Y.T @ X
    # A sample that is a multiple of the membership would divide by 0.
    return np.asarray(r * np.sqrt((N - 2) / np.maximum(1 - r * r, np.finfo(float).tiny)))
