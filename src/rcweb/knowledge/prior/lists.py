"""Known targets as the user gives them, and as lists of positions in the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rcweb.engine.types import Array, Ints
from rcweb.knowledge.genesets import GeneSets, read_sets

LEAST_MEMBERS = (
    3  # members in the table: with fewer, a left-out member has no pair to be compared with
)


@dataclass(frozen=True)
class TargetList:
    """Known targets of one regulator from one source.

    members : (n,) positions in the table, ascending
    sign : (n,) +1, -1, or 0 where unknown
    confidence : (n,) in (0, 1]: how sure the source is of each, 1 where it does not say
    """

    name: str
    source: str
    members: Ints
    sign: Array
    confidence: Array

    def __len__(self) -> int:
        """Number of members in the table."""
        return len(self.members)

    def without(self, others: Ints) -> TargetList:
        """Members that are not among `others`."""
        keep = ~np.isin(self.members, others)
        return TargetList(
            self.name, self.source, self.members[keep], self.sign[keep], self.confidence[keep]
        )


@dataclass(frozen=True)
class PriorLists:
    """All lists with at least `LEAST_MEMBERS` members in the table.

    lists : one per regulator and source
    dropped : names of those with fewer, once each
    """

    lists: tuple[TargetList, ...]
    dropped: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the regulators, each once, in the order given."""
        return tuple(dict.fromkeys(one.name for one in self.lists))


def read_prior(prior: Any, variables: Sequence[str]) -> PriorLists:
    """Known targets of any accepted form, as positions among `variables`.

    prior : path of a GMT file or an edge list, `GeneSets`, ``{name: members}``, a DataFrame
        (lists x variables) of probabilities, or a list of those: several sources, each by itself or
        as a pair (name of the source, source)
    """
    sources = _named_sources(prior)
    position = {name: i for i, name in enumerate(variables)}
    lists: list[TargetList] = []
    dropped: dict[str, None] = {}
    for label, source in sources:
        for name, members, weights in _entries(source):
            found = _positions(name, label, members, weights, position)
            if len(found) >= LEAST_MEMBERS:
                lists.append(found)
            else:
                dropped[name] = None
    if not lists:
        raise ValueError(_no_list(sources, len(dropped), variables))
    kept = {one.name for one in lists}
    return PriorLists(tuple(lists), tuple(name for name in dropped if name not in kept))


def _no_list(sources: Sequence[tuple[str, Any]], n_lists: int, variables: Sequence[str]) -> str:
    """Why no list is left, and what to do."""
    if not n_lists:
        return "prior has no list: give at least one, with its members."
    members = {m for _, source in sources for _, some, _ in _entries(source) for m in some}
    none = (
        f"None of the {n_lists} lists of prior has {LEAST_MEMBERS} members in the table"
        if n_lists > 1
        else f"The list of prior has fewer than {LEAST_MEMBERS} members in the table"
    )
    if members <= set(variables):
        return f"{none}; all are there, but so few say nothing. Give larger lists."
    return (
        f"{none}. It has {_examples(sources[0][1])}, the table "
        f"{', '.join(map(str, variables[:3]))}. Both must use the same names."
    )


def group_numbers(groups: Any, variables: Sequence[str]) -> NDArray[np.intp] | None:
    """Number of the group of each variable, (N,), from labels in the order of the table or by
    name; a variable without a label is a group of its own."""
    if groups is None:
        return None
    if isinstance(groups, pd.Series):
        groups = groups.to_dict()
    if isinstance(groups, Mapping):
        labels = [groups.get(name) for name in variables]
        if all(map(_missing, labels)):
            raise ValueError(
                f"groups labels none of the variables of the table, such as {variables[0]!r}."
            )
    else:
        labels = list(groups)
        if len(labels) != len(variables):
            raise ValueError(
                f"groups has {len(labels)} labels for {len(variables)} variables; give one per "
                "variable, or a mapping from names."
            )
    alone = [
        ("", i) if _missing(label) else ("label", str(label)) for i, label in enumerate(labels)
    ]
    number = {label: k for k, label in enumerate(dict.fromkeys(alone))}
    return np.array([number[label] for label in alone], dtype=np.intp)


def _missing(label: Any) -> bool:
    return label is None or label != label or str(label).strip() == ""


def _named_sources(prior: Any) -> list[tuple[str, Any]]:
    sources = list(prior) if isinstance(prior, list | tuple) else [prior]
    if not sources:
        raise ValueError("prior is empty: give at least one source of known targets.")
    named = []
    for number, source in enumerate(sources, start=1):
        if isinstance(source, tuple) and len(source) == 2 and isinstance(source[0], str):
            named.append(source)
        elif isinstance(source, str | PathLike):
            named.append((Path(source).name, source))
        else:
            named.append((f"source {number}", source))
    return named


def _entries(source: Any) -> Iterable[tuple[str, Sequence[str], Sequence[float]]]:
    """Name, members and weights of every list of a source. |weight| is the confidence, its sign
    the direction; 0 is a member without a sign."""
    if isinstance(source, pd.DataFrame):
        yield from _rows(source)
        return
    if isinstance(source, str | PathLike):
        source = read_sets(Path(source))
    elif isinstance(source, Mapping):
        if text := next(
            (name for name, members in source.items() if isinstance(members, str)), None
        ):
            raise TypeError(f"prior[{text!r}] is a text; give the list of its members.")
        source = GeneSets.from_dict({str(k): [str(m) for m in v] for k, v in source.items()})
    if not isinstance(source, GeneSets):
        raise TypeError(
            "prior must be a path, GeneSets, a dict of lists, a DataFrame of probabilities or a "
            f"list of those, not {type(source).__name__}."
        )
    weights = source.weights_or_ones()
    largest = max((abs(w) for row in weights for w in row), default=1.0)
    # Effects beyond 1 are strengths, not confidences: only their signs are used.
    usable = [tuple(np.sign(row)) if largest > 1 else row for row in weights]
    yield from zip(source.names, source.members, usable)


def _rows(table: pd.DataFrame) -> Iterable[tuple[str, Sequence[str], Sequence[float]]]:
    values = table.to_numpy(dtype=np.float64, na_value=0.0)
    if (values < 0).any() or (values > 1).any():
        worst = values.flat[np.abs(values - 0.5).argmax()]
        raise ValueError(f"prior must hold probabilities between 0 and 1; it holds {worst:g}.")
    columns = np.array([str(c) for c in table.columns], dtype=object)
    for name, row in zip(table.index, values):
        listed = row > 0
        yield str(name), list(columns[listed]), list(row[listed])


def _positions(
    name: str,
    source: str,
    members: Sequence[str],
    weights: Sequence[float],
    position: dict[str, int],
) -> TargetList:
    found = {position[m]: float(w) for m, w in zip(members, weights) if m in position}
    order = np.array(sorted(found), dtype=np.intp)
    weight = np.array([found[i] for i in order], dtype=np.float64)
    return TargetList(
        name, source, order, np.sign(weight), np.where(weight == 0, 1.0, np.abs(weight))
    )


def _examples(source: Any) -> str:
    members = next((m for _, m, _ in _entries(source) if len(m)), [])
    return ", ".join(map(repr, members[:3])) or "nothing"
