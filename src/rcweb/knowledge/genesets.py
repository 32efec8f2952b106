"""Named sets of variables: known targets of regulators, GO terms, any list with a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from rcweb.knowledge.edge_columns import (
    SOURCE_COLUMN,
    TARGET_COLUMN,
    WEIGHT,
    effect_weights,
    find_column,
    need_column,
)
from rcweb.storage.errors import TableError
from rcweb.tables.finding import some
from rcweb.tables.streams import open_unpacked, text_lines


@dataclass(frozen=True)
class GeneSets:
    """S named sets.

    names : S unique names
    descriptions : one text per set, may be empty
    members : names of the variables of each set, no repeats
    weights : one number per member (strength, or +1 activation and -1 repression), or None

    Raises ValueError for repeated names or members, and for parts of unequal length.

    Examples
    --------
    >>> from rcweb.knowledge import GeneSets
    >>> sets = GeneSets.from_dict({"fur": ["fepA", "entC"], "lexA": ["recA", "sulA", "umuD"]})
    >>> len(sets), sets.within(["recA", "sulA", "fepA"], min_size=2).names
    (2, ('lexA',))
    """

    names: tuple[str, ...]
    descriptions: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    weights: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError for repeats and unequal lengths, which would make later counts wrong."""
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
        """Sets from a dictionary.

        sets : ``{name: members}``; repeated members count once
        descriptions : ``{name: text}``

        Examples
        --------
        >>> from rcweb.knowledge import GeneSets
        >>> GeneSets.from_dict({"fur": ["fepA", "entC", "fepA"]}).members
        (('fepA', 'entC'),)
        """
        described = descriptions or {}
        return cls(
            names=tuple(sets),
            descriptions=tuple(described.get(name, "") for name in sets),
            members=tuple(tuple(dict.fromkeys(members)) for members in sets.values()),
        )

    @classmethod
    def from_edges(
        cls,
        edges: pd.DataFrame,
        *,
        source: str | None = None,
        target: str | None = None,
        weight: str | None = None,
    ) -> GeneSets:
        """Sets from a table with one row per edge.

        edges : DataFrame
        source, target, weight : titles of the columns that hold the regulator, its target and the
            effect. None: looked for among the titles in use (``regulator``, ``TF``, ``source``;
            ``target``, ``gene_id``, ``locus_tag``; ``effect``, ``sign``, ``weight``, ``mor``, ...;
            see `rcweb.knowledge.edge_columns`)

        Effects may be numbers or words (``+``, ``-``, ``activator`` ...); an edge whose sign is
        unknown or contradictory weighs 0: a member without a sign. Among confidences, numbers
        between 0 and 1, an edge of 0 is left out. If no effect in a column found by its title can
        be parsed, the column is ignored. Rows without a regulator or a target are
        skipped.

        Examples
        --------
        >>> import pandas as pd
        >>> from rcweb.knowledge import GeneSets
        >>> edges = {"TF": ["fur", "fur"], "target": ["fepA", "sodB"], "effect": ["-", "+"]}
        >>> GeneSets.from_edges(pd.DataFrame(edges)).weights
        ((-1.0, 1.0),)
        """
        titles = [str(title) for title in edges.columns]
        missing = [c for c in (source, target, weight) if c is not None and c not in titles]
        if missing:
            raise ValueError(f"there is no column {missing[0]!r}, only {some(titles, 20)}.")
        edges = edges.set_axis(titles, axis="columns")
        effects = weight or find_column(titles, WEIGHT)
        table = pd.DataFrame(
            {
                "source": _text(edges[source or need_column(titles, SOURCE_COLUMN)]),
                "target": _text(edges[target or need_column(titles, TARGET_COLUMN)]),
                "weight": 0.0 if effects is None else effect_weights(edges[effects]),
            }
        )
        table = table[(table["source"] != "") & (table["target"] != "")]
        if table.empty:
            raise ValueError("no row holds both a regulator and a target.")
        # Numbers between 0 and 1 are confidences, and none at all is no member.
        inside = table["weight"].between(0, 1, inclusive="neither").any()
        if inside and not (table["weight"].abs() > 1).any():
            table = table[table["weight"] != 0]
        # A column found by its title alone may hold something else, such as free text.
        if table["weight"].isna().all():
            if weight is not None:
                raise ValueError(
                    f"the column {weight!r} holds no effect, neither a number nor a word such as "
                    f"+, -, activator or repressor; it holds {edges[weight].iloc[0]!r}, ..."
                )
            effects = None
        table["weight"] = table["weight"].fillna(0.0)
        # Databases list an edge once per paper or binding site.
        grouped = table.groupby(["source", "target"], sort=False)["weight"].agg(_agreed)
        by_set = grouped.reset_index().groupby("source", sort=True)
        members = {str(name): tuple(part["target"]) for name, part in by_set}
        weights = tuple(tuple(part["weight"].astype(float)) for _, part in by_set)
        return cls(
            names=tuple(members),
            descriptions=("",) * len(members),
            members=tuple(members.values()),
            weights=None if effects is None else weights,
        )

    def weights_or_ones(self) -> tuple[tuple[float, ...], ...]:
        """The weights, or 1 for every member where there are none."""
        if self.weights is not None:
            return self.weights
        return tuple((1.0,) * len(members) for members in self.members)

    def describe(self, descriptions: Mapping[str, str]) -> GeneSets:
        """The same sets with other descriptions.

        descriptions : ``{name: text}``; sets that it does not name keep theirs

        Examples
        --------
        >>> from rcweb.knowledge import GeneSets
        >>> sets = GeneSets.from_dict({"fur": ["fepA", "entC"]})
        >>> sets.describe({"fur": "ferric uptake regulator"}).descriptions
        ('ferric uptake regulator',)
        """
        texts = tuple(descriptions.get(n, d) for n, d in zip(self.names, self.descriptions))
        return GeneSets(self.names, texts, self.members, self.weights)

    def within(
        self, universe: Sequence[str], min_size: int = 1, max_size: int | None = None
    ) -> GeneSets:
        """Only members that count, and only sets that then have the right size.

        universe : names of the variables that count, such as those of a table
        min_size, max_size : numbers of members; None: no limit

        Examples
        --------
        >>> from rcweb.knowledge import GeneSets
        >>> sets = GeneSets.from_dict({"fur": ["fepA", "entC"], "lexA": ["recA"]})
        >>> sets.within(["fepA", "recA"], min_size=1).members
        (('fepA',), ('recA',))
        """
        known = set(universe)
        kept = [[k for k, m in enumerate(members) if m in known] for members in self.members]
        # No set can be larger than the universe.
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
        """Sparse (S, N) with 1 (or the weight) where a variable belongs to a set.

        universe : names of the N variables
        weighted : whether to give the weights instead of 1

        Examples
        --------
        >>> from rcweb.knowledge import GeneSets
        >>> GeneSets.from_dict({"fur": ["fepA", "entC"]}).matrix(["entC", "recA"]).toarray()
        array([[1., 0.]])
        """
        position = {name: n for n, name in enumerate(universe)}
        rows, columns, values = [], [], []
        for s, (members, numbers) in enumerate(zip(self.members, self.weights_or_ones())):
            for member, value in zip(members, numbers):
                if member in position:
                    rows.append(s)
                    columns.append(position[member])
                    values.append(value if weighted else 1.0)
        shape = (len(self), len(universe))
        return sparse.csr_array((values, (rows, columns)), shape=shape, dtype=np.float64)


def read_gmt(path: str | Path) -> GeneSets:
    """Sets from a GMT file: per line a name, a description and the members, between tabs.

    path : plain or gzipped; ValueError, with the line, for a file of another form

    Examples
    --------
    >>> from pathlib import Path
    >>> from rcweb.knowledge import read_gmt
    >>> lines = ["fur,iron,fepA,entC", "lexA,SOS,recA,sulA"]
    >>> _ = Path("known.gmt").write_text("\\n".join(lines).replace(",", "\\t"))
    >>> read_gmt("known.gmt").members
    (('fepA', 'entC'), ('recA', 'sulA'))
    """
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
    """Sets from an edge list with a header, between tabs, commas or semicolons.

    path : plain or gzipped; ValueError for a file without edges
    source, target, weight : titles of the columns, as in `GeneSets.from_edges`

    Examples
    --------
    >>> import pandas as pd
    >>> from rcweb.knowledge import read_edges
    >>> edges = pd.DataFrame({"TF": ["fur", "fur", "lexA"], "gene": ["fepA", "entC", "recA"]})
    >>> edges.to_csv("edges.csv", index=False)
    >>> read_edges("edges.csv", target="gene").names
    ('fur', 'lexA')
    """
    name = Path(path).name
    text = "\n".join(_lines(path))
    header = text.partition("\n")[0]
    try:
        table = pd.read_csv(
            StringIO(text),
            # The header decides: descriptions in later lines may hold other separators.
            sep=max("\t,;", key=header.count),
            # Genes may be called "NA" or "nan"; pandas would read them as missing.
            keep_default_na=False,
            dtype=str,
        )
    except (ValueError, pd.errors.ParserError) as error:
        raise ValueError(f"{name} is not a table of edges: {error}") from None
    try:
        return GeneSets.from_edges(table, source=source, target=target, weight=weight)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def read_sets(
    path: str | Path,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
) -> GeneSets:
    """Sets from a file, by its name: `read_gmt` or `read_edges`.

    path : a name that ends in ``.gmt`` or ``.gmt.gz`` is a GMT file, any other an edge list
    source, target, weight : titles of the columns of an edge list, as in `GeneSets.from_edges`

    Examples
    --------
    >>> import pandas as pd
    >>> from rcweb.knowledge import read_sets
    >>> pd.DataFrame({"TF": ["fur", "fur"], "target": ["fepA", "entC"]}).to_csv("edges.csv")
    >>> read_sets("edges.csv").members
    (('fepA', 'entC'),)
    """
    if is_gmt(path):
        return read_gmt(path)
    return read_edges(path, source=source, target=target, weight=weight)


def is_gmt(path: str | Path) -> bool:
    """Whether the file is GMT, which has no titled columns."""
    return Path(path).name.lower().endswith((".gmt", ".gmt.gz"))


def _lines(path: str | Path) -> Iterable[str]:
    """Lines of a text file, decompressed and decoded within the limits for tables."""
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


def _text(column: pd.Series) -> pd.Series:
    return column.astype(object).where(column.notna(), "").astype(str).str.strip()


def _agreed(weights: pd.Series) -> float:
    """One weight for an edge that is listed more than once: the mean, 0 when signs differ."""
    values = weights.to_numpy()
    return float(values.mean()) if np.ptp(np.sign(values)) == 0 else 0.0
