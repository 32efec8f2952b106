"""ReportContrasts, associations and lists of known targets in the form of the page."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from rcweb.network import Network
from rcweb.report.annotations import plain_cell
from rcweb.report.data import CellValue, KnownList, ReportAssociations, ReportContrasts

MOST_PAGE_ROWS = 15_000  # of a table on the page, about half a megabyte; the surest are kept
SEEN_PROBABILITY = 0.5  # least probability of a target that counts as seen

CONTRAST_TABLE = ("regulator", "group", "reference", "change", "lower", "upper", "t", "p", "q")
ASSOCIATION_TABLE = ("regulator", "column", "kind", "statistic", "effect", "n", "p", "q")
PRIOR_FACTS = ("p", "q", "reliability", "strength", "kept", "unseen", "new", "evidence")
PRIOR_TABLE = ("supported", "regulator", *PRIOR_FACTS)
# Lists without which one is not seen, and whether groups of related variables were told apart.
FURTHER_FACTS = ("together", "grouped")
PRIOR_TARGETS_TABLE = ("list", "target", "listed", "probability", "weight")


def contrast_records(table: pd.DataFrame | None, network: Network) -> ReportContrasts:
    """The table of `activity.contrast`."""
    if table is None:
        return ReportContrasts()
    _check("contrasts", table, CONTRAST_TABLE)
    kept = _surest(table)
    pairs = list(zip(kept["group"].astype(str), kept["reference"].astype(str)))
    comparisons = list(dict.fromkeys(pairs))
    return ReportContrasts(
        comparisons=tuple(comparisons),
        left_out=len(table) - len(kept),
        regulator=_regulators("contrasts", kept["regulator"], network),
        comparison=_numbers(pairs, comparisons),
        **{name: _floats(kept[name]) for name in ("change", "lower", "upper", "t", "p", "q")},
    )


def association_records(table: pd.DataFrame | None, network: Network) -> ReportAssociations:
    """The table of `activity.associate`."""
    if table is None:
        return ReportAssociations()
    _check("associations", table, ASSOCIATION_TABLE)
    kept = _surest(table)
    titles = list(kept["column"].astype(str))
    kinds = dict(zip(titles, kept["kind"].astype(str)))
    return ReportAssociations(
        columns=tuple(kinds.items()),
        left_out=len(table) - len(kept),
        regulator=_regulators("associations", kept["regulator"], network),
        column=_numbers(titles, list(kinds)),
        statistic=tuple(map(plain_cell, kept["statistic"])),
        **{name: _floats(kept[name]) for name in ("effect", "n", "p", "q")},
    )


def list_records(
    lists: pd.DataFrame | None,
    targets: pd.DataFrame | None,
    activities: pd.DataFrame | None,
    network: Network,
) -> tuple[KnownList, ...]:
    """Lists of known targets, one row of `lists` each, with their rows of `targets` and their
    columns of `activities`."""
    if lists is None:
        return ()
    if activities is not None:
        needed = [str(name) for name in lists.index[lists["supported"].astype(bool)]]
        _check("prior_activities", activities, (*needed, *map(_std_column, needed)))
    _check("prior", lists, PRIOR_TABLE)
    rows = pd.DataFrame(columns=list(PRIOR_TARGETS_TABLE)) if targets is None else targets
    _check("prior_targets", rows, PRIOR_TARGETS_TABLE)
    # What is neither listed nor seen is most of the variables.
    rows = rows[rows["listed"].astype(bool) | (rows["probability"] >= SEEN_PROBABILITY)]
    rows = rows.sort_values("probability", ascending=False, kind="stable")
    number = {gene: n for n, gene in enumerate(network.targets)}
    unknown = [name for name in rows["target"].astype(str) if name not in number]
    if unknown:
        raise ValueError(f"prior_targets: no variable is called {unknown[0]!r}.")
    by_list = dict(tuple(rows.groupby(rows["list"].astype(str), sort=False)))
    found = _regulator_numbers(network)
    return tuple(
        _with_activity(
            _known_list(str(name), row, by_list.get(str(name), rows[:0]), found, number), activities
        )
        for name, row in zip(lists.index, lists.to_dict("records"))
    )


def _std_column(name: str) -> str:
    """Where prior_activities.tsv has the standard deviations of a list's activities."""
    return f"{name} std"


def _with_activity(one: KnownList, table: pd.DataFrame | None) -> KnownList:
    if table is None or not one.supported:
        return one
    std = _floats(table[_std_column(one.name)])
    # They differ only where values are missing.
    alike = len(set(std)) == 1
    return replace(one, activities=_floats(table[one.name]), std=std[:1] if alike else std)


def _known_list(
    name: str,
    row: Mapping[Hashable, object],
    targets: pd.DataFrame,
    regulators: dict[str, int],
    genes: dict[str, int],
) -> KnownList:
    cells: dict[str, CellValue] = {str(key): plain_cell(value) for key, value in row.items()}
    regulator = cells["regulator"]
    number = regulators.get(str(regulator))
    facts = [(what, cells[what]) for what in PRIOR_FACTS]
    facts += [(what, cells[what]) for what in FURTHER_FACTS if cells.get(what) not in (None, "")]
    if number is None and regulator not in (None, ""):
        # Text that names none of the regulators, such as "its own".
        facts.append(("regulator", regulator))
    return KnownList(
        name=name,
        supported=bool(cells["supported"]),
        facts=tuple(facts),
        regulator=number,
        targets=tuple(genes[str(target)] for target in targets["target"]),
        listed=tuple(map(bool, targets["listed"])),
        probabilities=_floats(targets["probability"]),
        weights=_floats(targets["weight"]),
    )


def _check(what: str, table: pd.DataFrame, columns: Iterable[str]) -> None:
    absent = [column for column in columns if column not in table.columns]
    if absent:
        there = ", ".join(map(str, table.columns)) or "none"
        raise ValueError(f"the table {what!r} needs a column {absent[0]!r}; it has {there}.")


def _surest(table: pd.DataFrame) -> pd.DataFrame:
    """At most `MOST_PAGE_ROWS` rows, those of smallest p, in the order of the table."""
    if len(table) <= MOST_PAGE_ROWS:
        return table
    order = table["p"].reset_index(drop=True).sort_values(kind="stable", na_position="last")
    return table.iloc[sorted(order.index[:MOST_PAGE_ROWS])]


def _regulator_numbers(network: Network) -> dict[str, int]:
    """Number of a regulator by its name, by both and by its id; ids win."""
    return {
        name: p
        for names in (network.regulator_names, network.regulator_labels, network.regulators)
        for p, name in enumerate(names)
    }


def _regulators(what: str, names: pd.Series, network: Network) -> tuple[int, ...]:
    number = _regulator_numbers(network)
    unknown = [name for name in names.astype(str) if name not in number]
    if unknown:
        raise ValueError(f"the table {what!r}: no regulator is called {unknown[0]!r}.")
    return tuple(number[name] for name in names.astype(str))


def _numbers(values: Sequence[Hashable], levels: Sequence[Hashable]) -> tuple[int, ...]:
    number = {level: n for n, level in enumerate(levels)}
    return tuple(number[value] for value in values)


def _floats(column: pd.Series) -> tuple[float, ...]:
    return tuple(column.astype(float).tolist())
