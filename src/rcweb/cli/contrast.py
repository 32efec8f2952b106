"""``rcweb contrast``: which regulators change between groups of samples."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rcweb.cli.console import Console, with_console
from rcweb.cli.options import FILE, overwrite_option
from rcweb.cli.sheets import (
    SHOWN_ROWS,
    SIGNIFICANT_Q,
    SheetCommand,
    columns_of,
    label,
    open_result,
    said,
)

if TYPE_CHECKING:
    import pandas as pd

MOST_PAIRS = 1000  # comparisons beyond which a file of all pairs helps nobody


@click.command(
    short_help="Which regulators change between groups of samples.",
    epilog="\b\nExample:\n  rcweb contrast results --samples sheet.tsv --group condition "
    "--reference wt -o contrasts.tsv",
)
@click.argument("result", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--samples",
    type=FILE,
    help="Sample sheet; its first column is the sample. Default: the groups that `fit` was given.",
)
@click.option("--group", metavar="TITLE", help="Column of the sheet that holds the groups.")
@click.option("--reference", metavar="LABEL", help="Group to compare with. Default: all pairs.")
@click.option("--paired", metavar="TITLE", help="Column of the sheet, such as the donor.")
@click.option(
    "--covariate", metavar="TITLE", multiple=True, help="Column of the sheet to take out."
)
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), required=True, help="A .tsv or .csv file."
)
@overwrite_option
@with_console
def contrast(
    result: Path,
    samples: Path | None,
    group: str | None,
    reference: str | None,
    paired: str | None,
    covariate: tuple[str, ...],
    out: Path,
    overwrite: bool,
    console: Console,
) -> None:
    """Compare the activities in RESULT, a folder that `rcweb fit` wrote, between groups of samples.

    Writes regulator, group, reference, change, its 95 % interval (lower, upper), t, p, q (false
    discovery rate over all rows) and the name of the regulator; the surest changes first.
    """
    if samples is None and (group or paired or covariate):
        raise click.UsageError(
            "--group, --paired and --covariate name columns of --samples; give --samples FILE too."
        )
    if samples is not None and group is None:
        raise click.UsageError("Say which column of --samples holds the groups: --group TITLE.")
    command = open_result(result, samples, out, overwrite=overwrite, console=console)
    groups = _groups(command, group, reference)
    # Imported here: pandas and scipy would slow down `rcweb --help`.
    from rcweb.activity import contrast as compare

    sheet = command.sheet
    with said(console):
        table = compare(
            command.result.activities,
            groups,
            reference,
            paired=None if sheet is None or paired is None else columns_of(sheet, [paired])[paired],
            covariates=None if sheet is None or not covariate else columns_of(sheet, covariate),
        )
    summary = _summary(command.write(table), out)
    console.result(summary, _text(summary))


def _groups(command: SheetCommand, group: str | None, reference: str | None) -> pd.Series:
    """One label per sample, "" for none."""
    import pandas as pd

    from rcweb.activity.arguments import column_of

    samples = command.result.activities.index
    if command.sheet is not None and group is not None:
        groups = column_of(command.sheet, group).fillna("")
    else:
        kept = command.result.knowledge.groups if command.result.knowledge else None
        if kept is None:
            raise click.UsageError(
                "The result holds no groups of samples; give --samples FILE --group TITLE."
            )
        groups = pd.Series(list(kept), index=samples)
    n = groups[groups != ""].nunique()
    if reference is None and n * (n - 1) // 2 > MOST_PAIRS:
        raise click.UsageError(
            f"{n} groups make {n * (n - 1) // 2:,} pairs; name one group to compare with: "
            "--reference LABEL."
        )
    return groups


def _summary(table: pd.DataFrame, out: Path) -> dict[str, Any]:
    significant = table[table["q"] < SIGNIFICANT_Q]
    return {
        "out": str(out),
        "n_regulators": int(table["regulator"].nunique()),
        "n_comparisons": len(table[["group", "reference"]].drop_duplicates()),
        "n_changes": len(significant),
        "top": table.head(SHOWN_ROWS).to_dict("records"),
    }


def _text(summary: dict[str, Any]) -> str:
    n, pairs = summary["n_changes"], summary["n_comparisons"]
    tests = summary["n_regulators"] * pairs
    lines = [
        f"{n:,} of {tests:,} changes at q < {SIGNIFICANT_Q} ({summary['n_regulators']} regulators, "
        f"{pairs:,} comparison{'s' if pairs > 1 else ''})."
    ]
    rows = [(label(row), row) for row in summary["top"]]
    width = max(len(name) for name, _ in rows)
    lines += [
        f"  {name:<{width}}  {row['change']:+.2f} [{row['lower']:+.2f}, {row['upper']:+.2f}]  "
        f"q = {row['q']:.2g}  {row['group']} - {row['reference']}"
        for name, row in rows
    ]
    return "\n".join([*lines, f"All of them: {summary['out']}"])
