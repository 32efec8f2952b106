"""Correlation with the mean of the shown targets: the simplest use of a list.

Variables are scaled to unit variance; a shown target is compared with the mean of the others.
Signed: on E. coli and S. aureus sizes alone do no better (average precision 0.235 and 0.263 against
0.236 and 0.272).
"""

from __future__ import annotations

from collections.abc import Sequence

from rcweb.engine.types import Array, Ints
from rcweb.lab.baselines.base import MethodRecord
from rcweb.lab.baselines.guided.common import check_lists, cosine_with_mean, unit_columns

METHOD = MethodRecord(
    name="mean-raw",
    title="correlation with the mean of the shown targets",
    paper="-",
    settings="unit variance, signed",
    told="lists",
)


def score(
    table: Array, lists: Sequence[Ints], *, n_components: int, random_state: int = 0
) -> Array:
    """(L, N) correlations; `n_components` and `random_state` are not used."""
    return cosine_with_mean(unit_columns(check_lists(table, lists)), lists)
