"""How many names of each file of knowledge are in the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rcweb.tables import Match, match

if TYPE_CHECKING:
    import pandas as pd

    from rcweb.knowledge import GeneSets

SAME_IDENTIFIERS = (
    "Is it of the same organism? Its identifiers must be those of the table; "
    "--transpose if the table is the wrong way round."
)
SAME_SAMPLES = "Samples must be called the same in both files."


def match_sets(file: str, sets: GeneSets, variables: Sequence[str]) -> Match:
    """Members of sets among the variables."""
    inside = set(variables)
    # How many sets can be found at all says more than how many members match.
    hit = sum(not inside.isdisjoint(members) for members in sets.members)
    return match(
        file,
        {member for members in sets.members for member in members},
        variables,
        what="members of its sets",
        side="variables",
        way_out=SAME_IDENTIFIERS,
        more=f"; {hit:,} of {len(sets.members):,} sets have any",
    )


def match_groups(file: str, groups: Mapping[str, str], variables: Sequence[str]) -> Match:
    """Variables with a group among those of the table."""
    return match(
        file,
        groups,
        variables,
        what="variables with a group",
        side="variables",
        way_out=SAME_IDENTIFIERS,
    )


def columns_to_use(
    file: str,
    columns: Mapping[str, Sequence[str]],
    variables: Sequence[str],
    chosen: tuple[str, str] | None = None,
) -> tuple[str, str]:
    """Titles of the columns of identifiers and of names: the `chosen` ones, else those that fit."""
    from rcweb.tables import TableError
    from rcweb.tables.columns import id_column, name_column

    there = ", ".join(map(repr, columns))
    for title in chosen or ():
        if title not in columns:
            raise TableError(f"{file}: there is no column {title!r}; it has {there}.")
    # Detected by content, not by title: titles of identifier columns vary too much.
    identifier = chosen[0] if chosen else id_column(columns, variables)
    name = chosen[1] if chosen else name_column(columns, identifier)
    if name is None:
        raise TableError(
            f"{file}: no column of names beside {identifier!r}; it has {there}. Say which with "
            "--names-columns IDENTIFIER NAME."
        )
    return identifier, name


def match_labels(
    file: str,
    columns: Mapping[str, Sequence[str]],
    variables: Sequence[str],
    identifier: str,
    name: str,
) -> tuple[dict[str, str], Match]:
    """Names to show, from two columns."""
    from rcweb.tables.columns import names_of

    found = match(
        file,
        # Empty cells are no identifiers.
        set(columns[identifier]) - {""},
        variables,
        what=f"identifiers in its column {identifier!r}",
        side="variables",
        way_out=f"{SAME_IDENTIFIERS} Say which columns to use with --names-columns.",
        more=f"; names from column {name!r}",
    )
    return names_of(columns, identifier, name), found


def other_columns(
    columns: Mapping[str, Sequence[str]], variables: Sequence[str], identifier: str, name: str
) -> pd.DataFrame | None:
    """What else the table of names says about variables of the table; None if nothing."""
    import pandas as pd

    others = {title: cells for title, cells in columns.items() if title not in (identifier, name)}
    if not others:
        return None
    table = pd.DataFrame(others, index=list(columns[identifier]), dtype=object)
    return table[~table.index.duplicated() & table.index.isin(list(variables))]


def match_sheet(
    file: str, sheet: pd.DataFrame, samples: Sequence[str], group: str | None
) -> tuple[tuple[str, ...] | None, Match]:
    """The group of each sample, and how many samples are in the sheet."""
    from rcweb.tables.sheets import groups_of

    groups = groups_of(sheet, samples, group)
    used = (
        "no column divides them into groups" if groups is None else f"groups from {groups.name!r}"
    )
    found = match(
        file,
        set(map(str, sheet.index)),
        samples,
        what=f"samples in its column {str(sheet.index.name)!r}",
        side="samples",
        way_out=SAME_SAMPLES,
        more=f"; {used}",
    )
    return None if groups is None else tuple(groups), found


def match_measured(file: str, measured: pd.DataFrame, samples: Sequence[str]) -> Match:
    """Samples in which factors were measured."""
    return match(
        file,
        set(map(str, measured.index)),
        samples,
        what="samples",
        side="samples",
        way_out=SAME_SAMPLES,
        more=f"; {measured.shape[1]:,} measured factors",
    )
