"""A result and its sample sheet: what `contrast` and `associate` share."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rcweb.cli.console import Console
from rcweb.cli.needs import check_output_file
from rcweb.cli.results import Result, with_names

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = {".tsv": "\t", ".csv": ","}
SIGNIFICANT_Q = 0.05
SHOWN_ROWS = 5


@dataclass(frozen=True)
class SheetCommand:
    """Where a command reads from and writes to, checked before the work begins."""

    result: Result
    sheet: pd.DataFrame | None
    out: Path
    overwrite: bool

    def write(self, table: pd.DataFrame) -> pd.DataFrame:
        """Write the table with names of regulators in a last column; returns it so."""
        from rcweb.storage.atomic import write_text

        named = with_names(table, self.result.model.network_)
        text = named.to_csv(sep=SEPARATORS[self.out.suffix], index=False, lineterminator="\n")
        write_text(self.out, text, overwrite=self.overwrite)
        return named


def open_result(
    folder: Path, samples: Path | None, out: Path, *, overwrite: bool, console: Console
) -> SheetCommand:
    """Read a result folder and the sheet of its samples, if there is one."""
    from rcweb.cli.matching import SAME_SAMPLES
    from rcweb.cli.pipeline import tell_input
    from rcweb.cli.results import read_result
    from rcweb.tables import InputCheck, match
    from rcweb.tables.sheets import read_sheet

    if out.suffix not in SEPARATORS:
        raise click.UsageError(f"{out.name!r} must end in .tsv or .csv.")
    inputs = [folder / "model.rcweb", folder / "activities.tsv"]
    check_output_file(out, *inputs, *([samples] if samples else []), overwrite=overwrite)
    result = read_result(folder)
    if samples is None:
        return SheetCommand(result, None, out, overwrite)
    sheet = read_sheet(samples)
    names = list(map(str, result.activities.index))
    found = match(
        samples.name,
        set(map(str, sheet.index)),
        names,
        what=f"samples in its column {str(sheet.index.name)!r}",
        side="samples",
        way_out=SAME_SAMPLES,
    )
    tell_input(InputCheck(matches=(found,)), console)
    return SheetCommand(result, sheet.reindex(names), out, overwrite)


def columns_of(sheet: pd.DataFrame, titles: Sequence[str]) -> pd.DataFrame:
    """Columns of a sheet of text; those of numbers as numbers, empty cells as missing."""
    import pandas as pd

    from rcweb.activity.arguments import column_of

    table = pd.DataFrame(index=sheet.index)
    for title in titles:
        column = column_of(sheet, title)
        column = column.where(column.fillna("") != "")
        numbers = pd.to_numeric(column, errors="coerce")
        table[title] = numbers if numbers.notna().equals(column.notna()) else column
    return table


@contextmanager
def said(console: Console) -> Iterator[None]:
    """Print warnings of the analysis as lines of progress."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        console.say(f"warning: {warning.message}")


def label(row: dict[Any, Any]) -> str:
    """``fur (rcweb9)``, or the id alone."""
    name, identity = row["regulator_name"], row["regulator"]
    return str(identity) if name == identity else f"{name} ({identity})"
