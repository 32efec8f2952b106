"""``rcweb explain``: what regulates a variable."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rcweb.cli.console import Console, with_console
from rcweb.cli.needs import check_output_file
from rcweb.cli.options import overwrite_option

if TYPE_CHECKING:
    import pandas as pd

    from rcweb.network import Explanation


@click.command(
    short_help="What regulates a variable.",
    epilog="\b\nExample:\n  rcweb explain results b0683 fepA",
)
@click.argument(
    "result", metavar="OUT", type=click.Path(exists=True, file_okay=False, path_type=Path)
)
@click.argument("variables", metavar="GENE...", nargs=-1, required=True)
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Also write a .tsv file.")
@overwrite_option
@with_console
def explain(
    result: Path, variables: tuple[str, ...], out: Path | None, overwrite: bool, console: Console
) -> None:
    """Print the regulators of each GENE in OUT, a folder that `rcweb fit` wrote.

    A variable is given by its id or by its name (--names of `rcweb fit`). Shares of variance are
    those of the fit; where OUT does not hold them, they are estimated from its activities.
    """
    from rcweb.cli.results import read_result
    from rcweb.estimator.explain import explain_variable
    from rcweb.network.formats import tsv
    from rcweb.storage.atomic import write_text

    if out is not None:
        if out.suffix != ".tsv":
            raise click.UsageError(f"{out.name!r} must end in .tsv.")
        check_output_file(out, result, overwrite=overwrite)
    kept = read_result(result)
    # As on the report page, where the fit kept it; too large tables and old results have none.
    known = None if kept.knowledge is None else kept.knowledge.gene_explained
    found = [
        explain_variable(kept.model, name, activities=kept.activities, known=known)
        for name in variables
    ]
    if out is not None:
        write_text(out, tsv(_table(found)), overwrite=overwrite)
    summary = {
        "variables": [
            {
                "variable": one.variable,
                "name": one.name,
                "explained": one.explained,
                "noise": one.noise,
                "regulators": one.regulators.to_dict("records"),
            }
            for one in found
        ]
    }
    console.result(summary, "\n\n".join(map(str, found)))


def _table(found: list[Explanation]) -> pd.DataFrame:
    """One row per edge; a variable without any has one row too."""
    import pandas as pd

    parts = []
    for one in found:
        rows = one.regulators if len(one.regulators) else one.regulators.reindex([0])
        rows = rows.rename(columns={"name": "regulator_name"}).assign(explained=one.explained)
        rows.insert(0, "variable", one.variable)
        rows.insert(1, "variable_name", one.name)
        parts.append(rows)
    return pd.concat(parts, ignore_index=True)
