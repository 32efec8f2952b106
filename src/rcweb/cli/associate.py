"""``rcweb associate``: regulators against the columns of a sample sheet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rcweb.cli.console import Console, with_console
from rcweb.cli.options import FILE, overwrite_option
from rcweb.cli.sheets import SHOWN_ROWS, SIGNIFICANT_Q, label, open_result, said

if TYPE_CHECKING:
    import pandas as pd


@click.command(
    short_help="Which regulators go with the columns of a sample sheet.",
    epilog="\b\nExample:\n  rcweb associate results --samples sheet.tsv -o associations.tsv",
)
@click.argument("result", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--samples", type=FILE, required=True, help="Sample sheet; its first column is the sample."
)
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), required=True, help="A .tsv or .csv file."
)
@overwrite_option
@with_console
def associate(result: Path, samples: Path, out: Path, overwrite: bool, console: Console) -> None:
    """Test every regulator in RESULT, a folder that `rcweb fit` wrote, against every column.

    Numbers and dates: rank correlation. Categories: Kruskal-Wallis. Writes regulator, column, kind,
    statistic, effect, n, p, q (false discovery rate over all rows) and the name of the regulator.
    """
    command = open_result(result, samples, out, overwrite=overwrite, console=console)
    # Imported here: pandas and scipy would slow down `rcweb --help`.
    from rcweb.activity import associate as test_columns

    with said(console):
        table = test_columns(command.result.activities, command.sheet)
    left_out = table.attrs["left_out"]
    for title, why in left_out.items():
        console.say(f"column {title!r} is left out: {why}.")
    if table.empty:
        raise ValueError(f"{samples.name}: no column can be tested; all are left out.")
    summary = _summary(command.write(table), out, left_out)
    console.result(summary, _text(summary))


def _summary(table: pd.DataFrame, out: Path, left_out: dict[str, str]) -> dict[str, Any]:
    return {
        "out": str(out),
        "n_regulators": int(table["regulator"].nunique()),
        "n_columns": int(table["column"].nunique()),
        "n_associations": int((table["q"] < SIGNIFICANT_Q).sum()),
        "left_out": left_out,
        "top": table.head(SHOWN_ROWS).to_dict("records"),
    }


def _text(summary: dict[str, Any]) -> str:
    P, n = summary["n_regulators"], summary["n_columns"]
    lines = [
        f"{summary['n_associations']:,} of {P * n:,} associations at q < {SIGNIFICANT_Q} "
        f"({P} regulators, {n} columns)."
    ]
    rows = [(label(row), row) for row in summary["top"]]
    width = max(len(name) for name, _ in rows)
    measure = {"category": "eta^2"}
    lines += [
        f"  {name:<{width}}  {row['column']}: {measure.get(row['kind'], 'rho')} "
        f"{row['effect']:.2f}, q = {row['q']:.2g}, {row['n']} samples"
        for name, row in rows
    ]
    return "\n".join([*lines, f"All of them: {summary['out']}"])
