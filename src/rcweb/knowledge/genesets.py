"""Named sets of variables: known targets of regulators, GO terms, any list with a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from rcweb.storage.errors import TableError
from rcweb.tables.streams import open_unpacked, text_lines

SIGN_WORDS = {
    "+": 1.0,
    "-": -1.0,
    "activator": 1.0,
    "repressor": -1.0,
    "activation": 1.0,
    "repression": -1.0,
}


@dataclass(frozen=True)
class GeneSets:
    """S named sets.

    names : S unique names
    descriptions : one text per set, may be empty
    members : names of the variables of each set, no repeats
    weights : one number per member (strength, or +1 activation and -1 repression), or None
    """

    names: tuple[str, ...]
    descriptions: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    weights: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        """Refuse what would silently spoil every count later."""
        if not len(self.names) == len(self.descriptions) == len(self.members):
            raise ValueError(
                f"{len(self.names)} names, {len(self.descriptions)} descriptions and "
                f"{len(self.members)} member lists: the three must have one entry per set."
            )
        _refuse_repeats(self.names, "two sets are called")
        for name, members in zip(self.names, self.members):
            _refuse_repeats(members, f"set {name!r} lists twice")
        if self.weights is not None and [len(w) for w in self.weights] != [
            len(m) for m in self.members
        ]:
            raise ValueError("weights must hold one number per member of every set.")

    def __len__(self) -> int:
        """Number of sets."""
        return len(self.names)

    @classmethod
    def from_dict(
        cls, sets: Mapping[str, Iterable[str]], descriptions: Mapping[str, str] | None = None
    ) -> GeneSets:
        """Sets from ``{name: members}``; repeated members count once."""
        described = descriptions or {}
        return cls(
            names=tuple(sets),
            descriptions=tuple(described.get(name, "") for name in sets),
            members=tuple(tuple(dict.fromkeys(members)) for members in sets.values()),
        )

    @classmethod
    def from_edges(
        cls, edges: pd.DataFrame, *, source: str, target: str, weight: str | None = None
    ) -> GeneSets:
        """Sets from a table with one row per edge; the columns are named by the caller.

        Weights may be numbers or words for a sign (``+``, ``-``, ``activator`` ...); an edge whose
        sign is unknown or contradictory weighs 0: a member, but with nothing to say about signs.
        """
        missing = [c for c in (source, target, weight) if c is not None and c not in edges]
        if missing:
            raise ValueError(
                f"the edge table has no column {missing[0]!r}; it has {', '.join(map(str, edges))}."
            )
        table = pd.DataFrame(
            {
                "source": edges[source].astype(str),
                "target": edges[target].astype(str),
                "weight": 0.0 if weight is None else _numbers(edges[weight]),
            }
        )
        grouped = table.groupby(["source", "target"], sort=False)["weight"].agg(_agreed)
        by_set = grouped.reset_index().groupby("source", sort=True)
        members = {str(name): tuple(part["target"]) for name, part in by_set}
        weights = tuple(tuple(part["weight"].astype(float)) for _, part in by_set)
        return cls(
            names=tuple(members),
            descriptions=("",) * len(members),
            members=tuple(members.values()),
            weights=None if weight is None else weights,
        )

    def describe(self, descriptions: Mapping[str, str]) -> GeneSets:
        """The same sets with the texts given for their names."""
        texts = tuple(descriptions.get(n, d) for n, d in zip(self.names, self.descriptions))
        return GeneSets(self.names, texts, self.members, self.weights)

    def within(
        self, universe: Sequence[str], min_size: int = 1, max_size: int | None = None
    ) -> GeneSets:
        """Only members of `universe`, and only sets that then have `min_size` to `max_size`."""
        known = set(universe)
        kept = [[k for k, m in enumerate(members) if m in known] for members in self.members]
        upper = len(known) if max_size is None else max_size
        rows = [s for s, k in enumerate(kept) if max(min_size, 1) <= len(k) <= upper]
        weights = self.weights
        return GeneSets(
            names=tuple(self.names[s] for s in rows),
            descriptions=tuple(self.descriptions[s] for s in rows),
            members=tuple(tuple(self.members[s][k] for k in kept[s]) for s in rows),
            weights=None
            if weights is None
            else tuple(tuple(weights[s][k] for k in kept[s]) for s in rows),
        )

    def matrix(self, universe: Sequence[str], *, weighted: bool = False) -> sparse.csr_array:
        """(S, N) with 1 (or the weight) where a variable of `universe` belongs to a set."""
        position = {name: n for n, name in enumerate(universe)}
        rows, columns, values = [], [], []
        for s, members in enumerate(self.members):
            numbers = self.weights[s] if weighted and self.weights else (1.0,) * len(members)
            for member, value in zip(members, numbers):
                if member in position:
                    rows.append(s)
                    columns.append(position[member])
                    values.append(value)
        shape = (len(self), len(universe))
        return sparse.csr_array((values, (rows, columns)), shape=shape, dtype=np.float64)


def read_gmt(path: str | Path) -> GeneSets:
    """Sets from a GMT file: per line a name, a description and the members, between tabs."""
    names, descriptions, members = [], [], []
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) < 3 or not fields[0].strip():
            raise ValueError(
                f"{Path(path).name}, line {number}: expected name, description and members "
                f"between tabs, found {line[:60]!r}."
            )
        names.append(fields[0].strip())
        descriptions.append(fields[1].strip())
        members.append(tuple(dict.fromkeys(m.strip() for m in fields[2:] if m.strip())))
    if not names:
        raise ValueError(f"{Path(path).name} holds no set.")
    try:
        return GeneSets(tuple(names), tuple(descriptions), tuple(members))
    except ValueError as error:
        raise ValueError(f"{Path(path).name}: {error}") from None


def read_edges(
    path: str | Path,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
) -> GeneSets:
    """Sets from an edge list with a header, tab or comma separated, plain or gzipped.

    Columns are found by name when not given: ``regulator``, ``source`` or ``tf``; ``target`` or
    ``gene``; ``weight``, ``effect``, ``sign`` or ``mor`` if there is one.
    """
    text = "\n".join(_lines(path))
    separator = "\t" if "\t" in text.partition("\n")[0] else ","
    try:
        table = pd.read_csv(StringIO(text), sep=separator, keep_default_na=False, dtype=str)
    except (ValueError, pd.errors.ParserError) as error:
        raise ValueError(f"{Path(path).name} is not a table of edges: {error}") from None
    if table.empty:
        raise ValueError(f"{Path(path).name} holds no edge.")
    return GeneSets.from_edges(
        table,
        source=source or _column(table, path, "regulator", "source", "tf"),
        target=target or _column(table, path, "target", "gene"),
        weight=weight or _find(table, "weight", "effect", "sign", "mor"),
    )


def read_sets(path: str | Path) -> GeneSets:
    """Sets from a file, by its name: ``.gmt`` (also ``.gmt.gz``), otherwise an edge list."""
    name = Path(path).name.lower()
    return read_gmt(path) if name.endswith((".gmt", ".gmt.gz")) else read_edges(path)


def _lines(path: str | Path) -> Iterable[str]:
    """As tables of measurements are read: unpacked and decoded within limits."""
    path = Path(path)
    try:
        with open_unpacked(path) as stream:
            for line in text_lines(stream, "utf-8"):
                yield line.rstrip("\r\n")
    except TableError as error:
        raise ValueError(f"{path.name} is not a text file: {error}") from None


def _refuse_repeats(values: Sequence[str], what: str) -> None:
    if len(set(values)) < len(values):
        seen: set[str] = set()
        repeated = next(v for v in values if v in seen or seen.add(v))  # type: ignore[func-returns-value]
        raise ValueError(f"{what} {repeated!r}.")


def _find(table: pd.DataFrame, *candidates: str) -> str | None:
    lower = {str(c).lower(): str(c) for c in table.columns}
    return next((lower[c] for c in candidates if c in lower), None)


def _column(table: pd.DataFrame, path: str | Path, *candidates: str) -> str:
    found = _find(table, *candidates)
    if found is None:
        raise ValueError(
            f"{Path(path).name} has no column called {' or '.join(candidates)}; its columns are "
            f"{', '.join(map(str, table.columns))}."
        )
    return found


def _numbers(column: pd.Series) -> pd.Series:
    """A word that is neither a number nor a known sign ("unknown", "+-", "") tells nothing: 0."""
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    words = column.astype(str).str.strip().str.lower().map(SIGN_WORDS).to_numpy(dtype=np.float64)
    return pd.Series(np.nan_to_num(np.where(np.isnan(numbers), words, numbers)), index=column.index)


def _agreed(weights: pd.Series) -> float:
    """One weight for an edge that is listed more than once: the mean, 0 when signs differ."""
    values = weights.to_numpy()
    return float(values.mean()) if np.ptp(np.sign(values)) == 0 else 0.0
