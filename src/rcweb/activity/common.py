"""The variables that two networks have in common, by name or through a table of orthologues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from rcweb.engine.types import Array, Ints
from rcweb.network import Network


@dataclass(frozen=True)
class CommonVariables:
    """Weights of both networks over the same n variables.

    a, b : (P_a, n), (P_b, n) weights, zero = no edge
    note : one sentence on what the common variables are
    """

    a: Array
    b: Array
    note: str


def common_variables(
    a: Network, b: Network, orthologs: Any, names: tuple[str, str]
) -> CommonVariables:
    """Bring two networks to their common variables; ValueError if there are fewer than three."""
    if orthologs is None:
        return _by_name(a, b, names)
    return _by_orthologs(a, b, _pairs(orthologs), names)


def _by_name(a: Network, b: Network, names: tuple[str, str]) -> CommonVariables:
    position = {name: n for n, name in enumerate(b.targets)}
    columns = [n for n, name in enumerate(a.targets) if name in position]
    others = [position[a.targets[n]] for n in columns]
    _check_enough(len(columns), a, b, "orthologs= maps names of one onto names of the other")
    note = (
        f"{len(columns):,} variables have the same name in {names[0]} ({len(a.targets):,}) and "
        f"{names[1]} ({len(b.targets):,})."
    )
    return CommonVariables(a.weights[:, columns], b.weights[:, others], note)


def _by_orthologs(
    a: Network, b: Network, pairs: list[tuple[str, str]], names: tuple[str, str]
) -> CommonVariables:
    """One variable per family: names that pairs join, directly or through others.

    Symmetric in both networks, and one gene with three orthologues is counted once, not three
    times: repeated edges would not be independent evidence.
    """
    first = {name: n for n, name in enumerate(a.targets)}
    second = {name: n for n, name in enumerate(b.targets)}
    links = [(first[x], second[y]) for x, y in pairs if x in first and y in second]
    if not links and any(y in first and x in second for x, y in pairs):
        raise ValueError(
            "The orthologues are the wrong way round: the first of each pair must be a variable of "
            f"{names[0]}, the second one of {names[1]}."
        )
    left, right = np.array(links, dtype=np.intp).reshape(-1, 2).T
    N, size = len(first), len(first) + len(second)
    graph = coo_array((np.ones(len(links)), (left, right + N)), shape=(size, size))
    family = connected_components(graph, directed=False)[1].astype(np.int64)
    # Only names in a pair belong to a common family; the others are alone in theirs.
    used = np.unique(family[left])
    _check_enough(len(used), a, b, "pairs of the table must hold names of both")
    sides = [np.unique(left), np.unique(right) + N]
    several = [np.bincount(family[side], minlength=size)[used] > 1 for side in sides]
    note = (
        f"{len(links):,} of {len(pairs):,} pairs of orthologues hold variables of {names[0]} and "
        f"{names[1]}: {len(used):,} common variables"
    )
    joined = int(np.logical_or(*several).sum())
    if joined:
        note += (
            f", {joined:,} of them families with several members in one network, "
            "which count once, with the strongest weight"
        )
    members = [np.where(np.isin(family, used), family, -1)[part] for part in (np.s_[:N], np.s_[N:])]
    return CommonVariables(
        _strongest(a.weights, members[0], used), _strongest(b.weights, members[1], used), f"{note}."
    )


def _strongest(weights: Array, family: Ints, used: Ints) -> Array:
    """(P, n) the weight of largest size among the members of each used family, -1 = in none."""
    columns = np.flatnonzero(family >= 0)
    # Sorted by family, so that each is one slice.
    columns = columns[np.argsort(family[columns], kind="stable")]
    starts = np.searchsorted(family[columns], used)
    members = weights[:, columns]
    high = np.maximum.reduceat(members, starts, axis=1)
    low = np.minimum.reduceat(members, starts, axis=1)
    return np.where(high >= -low, high, low)


def _pairs(orthologs: Any) -> list[tuple[str, str]]:
    """Distinct pairs of names from a DataFrame (its first two columns), a mapping or pairs."""
    if isinstance(orthologs, pd.DataFrame):
        if orthologs.shape[1] < 2:
            raise ValueError(
                f"A table of orthologues has two columns, names of the first and of the second "
                f"network; this one has {orthologs.shape[1]}."
            )
        given: Iterable[Any] = orthologs.iloc[:, :2].dropna().itertuples(index=False, name=None)
    elif isinstance(orthologs, Mapping):
        given = [
            (key, value)
            for key, values in orthologs.items()
            for value in ([values] if isinstance(values, str) else values)
        ]
    else:
        given = orthologs
    try:
        pairs = [(str(x), str(y)) for x, y in given]
    except (TypeError, ValueError):
        raise ValueError(
            "orthologs must be a DataFrame of two columns, {name: name or names}, or pairs."
        ) from None
    return list(dict.fromkeys(pair for pair in pairs if all(pair)))


def _check_enough(n: int, a: Network, b: Network, way_out: str) -> None:
    # A correlation needs three points.
    if n < 3:
        raise ValueError(
            f"The networks have {n} variables in common: the first has {_some(a)}, the second "
            f"{_some(b)}; {way_out}."
        )


def _some(network: Network) -> str:
    return ", ".join(map(repr, network.targets[:2])) + (" ..." if len(network.targets) > 2 else "")
