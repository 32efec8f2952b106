"""Nearness to the mean of the shown targets in the leading directions, all of the same weight.

Variables are scaled to unit variance, ``Z = U S V^T``; variable i is row i of the K leading columns
of V, scaled to length 1. K is the number of components told. Otherwise as the plain mean: signed,
each shown target compared with the mean of the others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rcweb.engine.types import Array, Ints
from rcweb.lab.baselines.base import MethodRecord
from rcweb.lab.baselines.guided.common import check_lists, cosine_with_mean, unit_columns

METHOD = MethodRecord(
    name="mean-whitened",
    title="the same in the P leading directions, whitened",
    paper="-",
    settings="unit variance, K = P, signed",
    told="lists, P",
)


def score(
    table: Array, lists: Sequence[Ints], *, n_components: int, random_state: int = 0
) -> Array:
    """(L, N) cosines in the `n_components` leading directions; `random_state` is not used."""
    table = check_lists(table, lists)
    if not 1 <= n_components <= min(table.shape):
        raise ValueError(f"n_components must lie in 1 .. {min(table.shape)}, not {n_components}.")
    V = np.linalg.svd(unit_columns(table), full_matrices=False)[2][:n_components]
    return cosine_with_mean(unit_columns(V), lists)
