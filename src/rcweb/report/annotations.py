"""Tables of known regulators, enriched terms and measured factors in the form of the page."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Integral, Real

import numpy as np
import pandas as pd

from rcweb.knowledge import GeneSets
from rcweb.report.data import CellValue, Known, ReportTable

AnnotationTables = pd.DataFrame | Mapping[str, pd.DataFrame]
Sets = Mapping[str, Iterable[str]] | GeneSets

# What a reader wants of an enriched term; other columns of the table are left out.
TERM_COLUMNS = ("set", "description", "overlap", "set_size", "p", "q", "leading")
MEASURED_COLUMNS = (
    "factor",
    "regulator",
    "candidate",
    "n_samples",
    "correlation",
    "p",
    "q",
    "confidence",
    "scale",
    "scale_low",
    "scale_high",
    "reason",
)
EXTRA_FACTS = ("variance_share", "identifiability", "orientation")
TABLES = ("known", "terms", "measured")


def split_annotations(annotations: AnnotationTables | None) -> dict[str, pd.DataFrame | None]:
    """The tables of known regulators, enriched terms and measured factors; any may be missing.

    A single table is the one of known regulators; a mapping has the keys of `TABLES`.
    """
    if annotations is None or isinstance(annotations, pd.DataFrame):
        annotations = {} if annotations is None else {"known": annotations}
    unknown = sorted(set(annotations) - set(TABLES))
    if unknown:
        raise ValueError(f"annotations may hold {', '.join(TABLES)}; not {unknown[0]!r}.")
    tables = {which: _checked(which, annotations.get(which)) for which in ("known", "terms")}
    return tables | {"measured": annotations.get("measured")}


def measured_table(measured: pd.DataFrame | None) -> ReportTable:
    """Measured factors, one row each, those with a regulator first; of `match_measured`."""
    if measured is None:
        return ReportTable()
    absent = [column for column in MEASURED_COLUMNS if column not in measured.columns]
    if absent:
        raise ValueError(f"the table 'measured' of annotations needs a column {absent[0]!r}.")
    # Booleans sort False first: named factors at the top.
    ordered = measured.assign(unnamed=measured["regulator"].isna())
    ordered = ordered.sort_values(["unnamed", "p"], kind="stable")
    return plain_table(ordered[list(MEASURED_COLUMNS)])


def _checked(which: str, table: pd.DataFrame | None) -> pd.DataFrame | None:
    """The table in the columns the page knows, best row of each regulator first."""
    if table is None:
        return None
    if "regulator" not in table.columns and "name" in table.columns:
        # The table of `knowledge.name_regulators`: one row per regulator, its id in the index.
        table = table.rename_axis(index="regulator").reset_index()
        table = table.rename(columns={"best_known": "set", "known_size": "set_size"})
        table = table if "set" in table.columns else table.assign(set="")  # named on other grounds
    for column in ("regulator", "set"):
        if column not in table.columns:
            raise ValueError(
                f"the table {which!r} of annotations needs a column {column!r}; "
                f"it has {', '.join(map(str, table.columns)) or 'none'}."
            )
    table = table.assign(set=table["set"].fillna(""))
    return table.sort_values("p", kind="stable") if "p" in table.columns else table


def given_names(known: pd.DataFrame | None) -> dict[str, str] | None:
    """Names that the table of known regulators assigns, ``{regulator: name}``; None if it has none.

    A column `name` decides alone: a regulator with an empty cell stays unnamed.
    """
    if known is None or "name" not in known.columns:
        return None
    named = known[known["name"].fillna("") != ""].drop_duplicates("regulator")
    return dict(zip(named["regulator"].astype(str), named["name"].astype(str)))


def extra_facts(rows: pd.DataFrame | None) -> dict[str, CellValue]:
    """What the table of names knows about a regulator beside its name."""
    if rows is None:
        return {}
    return {name: plain_cell(rows[name].iloc[0]) for name in EXTRA_FACTS if name in rows.columns}


def members_of(sets: Sets | None) -> dict[str, frozenset[str]]:
    """Members of each set, by its name."""
    if sets is None:
        return {}
    pairs = zip(sets.names, sets.members) if isinstance(sets, GeneSets) else sets.items()
    return {str(name): frozenset(map(str, members)) for name, members in pairs}


def rows_of(table: pd.DataFrame | None, regulator: str) -> pd.DataFrame | None:
    """Rows of one regulator, or None."""
    if table is None:
        return None
    rows = table[table["regulator"].astype(str) == regulator]
    return None if rows.empty else rows


def best_known(
    rows: pd.DataFrame | None,
    members: Mapping[str, frozenset[str]],
    targets: Sequence[int],
    gene_number: Mapping[str, int],
) -> Known | None:
    """The first of `rows`, with the three lists when the `members` of its set are known."""
    if rows is None or not rows["set"].iloc[0]:
        return None
    row = {str(key): plain_cell(value) for key, value in rows.iloc[0].items()}
    name = str(row["set"])
    # Without members only the counts of the table can be shown.
    genes = members.get(name, frozenset())
    found, missed, new = _compare(genes, targets, gene_number)
    return Known(
        name=name,
        description=str(row.get("description") or ""),
        p=number_cell(row.get("p")),
        q=number_cell(row.get("q")),
        overlap=len(found) if genes else count_cell(row.get("overlap")),
        set_size=len(found) + len(missed) if genes else count_cell(row.get("set_size")),
        found=found,
        missed=missed,
        new=new,
        # They could not have been found, so they are counted apart from missed ones.
        unmeasured=sum(gene not in gene_number for gene in genes),
    )


def _compare(
    members: Collection[str], targets: Sequence[int], gene_number: Mapping[str, int]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Known and found, known and missed, new; in the order of `targets` or of the table."""
    if not members:
        return (), (), ()
    known = {gene_number[gene] for gene in members if gene in gene_number}
    found = tuple(target for target in targets if target in known)
    new = tuple(target for target in targets if target not in known)
    return found, tuple(sorted(known.difference(targets))), new


def plain_table(table: pd.DataFrame | None) -> ReportTable:
    """A data frame as a plain table; lists of names become text."""
    if table is None:
        return ReportTable()
    rows = (tuple(map(plain_cell, row)) for row in table.itertuples(index=False, name=None))
    return ReportTable(columns=tuple(map(str, table.columns)), rows=tuple(rows))


def top_terms(rows: pd.DataFrame | None, limit: int, labels: Mapping[str, str]) -> ReportTable:
    """The best `limit` terms, in the columns a reader wants; `labels` are of the variables."""
    if rows is None:
        return ReportTable()
    rows = rows.head(limit)
    columns = [column for column in TERM_COLUMNS if column in rows.columns]
    if "description" in columns and not rows["description"].astype(bool).any():
        columns.remove("description")
    if "leading" in columns:
        names = [
            ", ".join(labels.get(gene, gene) for gene in str(genes).split(", "))
            for genes in rows["leading"]
        ]
        rows = rows.assign(leading=names)
    return plain_table(rows[columns])


def plain_cell(value: object) -> CellValue:
    """A number, text or None, for a value of any library."""
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(map(str, sorted(value) if isinstance(value, set | frozenset) else value))
    if value is None or value is pd.NA or value is pd.NaT:
        return None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    return str(value)


def number_cell(cell: CellValue) -> float | None:
    """The cell if it is a number."""
    return float(cell) if isinstance(cell, int | float) and cell == cell else None


def count_cell(cell: CellValue) -> int | None:
    """The cell as a whole number, if it is a number."""
    number = number_cell(cell)
    return None if number is None else int(number)
