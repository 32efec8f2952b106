"""Known regulators that a found one may be, with the evidence for each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import pandas as pd

from rcweb.knowledge import GeneSets, overlap_test
from rcweb.network import Network
from rcweb.report.annotations import Sets, count_cell, number_cell, plain_cell
from rcweb.report.data import NameCandidate

MOST_CANDIDATES = 5
WORTH_LISTING = 0.05  # largest p of a candidate after the first; weaker ones are noise to a reader


def all_overlaps(network: Network, sets: Sets | None) -> pd.DataFrame | None:
    """Overlaps of all regulators with all sets, the most significant first; None without sets."""
    if sets is None:
        return None
    known = sets if isinstance(sets, GeneSets) else GeneSets.from_dict(sets)
    return overlap_test(network, known).table()


def candidates_of(named: pd.DataFrame | None, overlaps: pd.DataFrame | None) -> list[NameCandidate]:
    """The best few of a regulator's rows, in the table of names and among all overlaps.

    The best of the table of names comes first: it decided on the name.
    """
    tables = [table for table in (named, overlaps) if table is not None]
    rows = [row for table in tables for row in table.to_dict("records") if row["set"]]
    found: dict[str, NameCandidate] = {}
    for row in rows:
        found.setdefault(str(row["set"]), _candidate(row))
    first = [] if named is None else list(found.values())[:1]
    ranked = [*first, *sorted((c for c in found.values() if c not in first), key=_chance)]
    worth = [c for n, c in enumerate(ranked) if n == 0 or _chance(c) <= WORTH_LISTING]
    return worth[:MOST_CANDIDATES]


def _candidate(row: Mapping[Hashable, object]) -> NameCandidate:
    cells = {str(name): plain_cell(value) for name, value in row.items()}
    return NameCandidate(
        name=str(cells["set"]),
        description=str(cells.get("description") or ""),
        overlap=count_cell(cells.get("overlap")),
        set_size=count_cell(cells.get("set_size")),
        p=number_cell(cells.get("p")),
        q=number_cell(cells.get("q")),
        bonferroni=number_cell(cells.get("bonferroni")),
    )


def _chance(candidate: NameCandidate) -> float:
    return 1.0 if candidate.p is None else candidate.p
