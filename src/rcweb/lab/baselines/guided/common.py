"""Shared by the rivals that are told lists: input check, unit coordinates, nearness to a mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rcweb.engine.types import Array, Ints

TINY = 1e-300  # a divisor that leaves zeros zero


def check_lists(table: Array, lists: Sequence[Ints]) -> Array:
    """The table as float64; ValueError for an empty list or a member that is no column."""
    table = np.asarray(table, np.float64)
    if table.ndim != 2:
        raise ValueError(f"table must be samples x variables, not {table.ndim}-D.")
    for k, members in enumerate(lists):
        if len(members) == 0:
            raise ValueError(f"list {k} has no member.")
        if np.min(members) < 0 or np.max(members) >= table.shape[1]:
            raise ValueError(
                f"list {k} names column {np.max(members)} of a table with {table.shape[1]} columns."
            )
    return table


def unit_columns(X: Array) -> Array:
    """Columns of length 1; zero columns stay zero."""
    return np.asarray(X / np.maximum(np.linalg.norm(X, axis=0), TINY))


def membership(lists: Sequence[Ints], n_variables: int) -> Array:
    """(L, N) with 1 where a variable is a member."""
    members = np.zeros((len(lists), n_variables))
    for k, listed in enumerate(lists):
        members[k, listed] = 1.0
    return members


def cosine_with_mean(units: Array, lists: Sequence[Ints]) -> Array:
    """(L, N) cosine of each unit column of `units` (K, N) with the mean of a list's members, each
    member with the mean of the others."""
    sums = units @ membership(lists, units.shape[1]).T
    scores = sums.T @ units / np.maximum(np.linalg.norm(sums, axis=0), TINY)[:, None]
    for k, listed in enumerate(lists):
        own = units[:, listed]
        others = sums[:, [k]] - own
        # A list of one leaves nothing to compare with: 0.
        length = np.maximum(np.linalg.norm(others, axis=0), TINY)
        scores[k, listed] = (own * others).sum(axis=0) / length
    return np.asarray(scores)
