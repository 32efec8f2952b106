"""What a sample sheet says about the regulators, for the report: contrasts and associations."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from rcweb.cli.console import Console
from rcweb.cli.knowledge import Knowledge

if TYPE_CHECKING:
    import pandas as pd

FEW_GROUPS = 10  # up to here all pairs are compared; with more, one must be named as reference


def contrasts_of(
    activities: pd.DataFrame, knowledge: Knowledge, console: Console
) -> pd.DataFrame | None:
    """Changes of the regulators between groups of samples; None where there is nothing to compare.

    Against `knowledge.reference`, or all pairs of few groups.
    """
    from rcweb.activity import contrast

    if knowledge.groups is None:
        return None
    groups = list(knowledge.groups)
    present = {group for group in groups if group}
    reference = knowledge.reference
    if len(present) < 2 or (reference is None and len(present) > FEW_GROUPS):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # samples without a group: the sheet's own check told
            return contrast(activities, groups, reference)
    except ValueError as error:  # such as one sample per group
        console.say(f"no contrasts: {error}")
        return None


def associations_of(activities: pd.DataFrame, knowledge: Knowledge) -> pd.DataFrame | None:
    """Regulators against the columns of the sample sheet; None without one."""
    from rcweb.activity import associate

    if knowledge.sheet is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that cannot be tested are left out
        table = associate(activities, knowledge.sheet.reindex(activities.index))
    return table if len(table) else None
