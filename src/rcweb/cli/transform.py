"""``rcweb transform``: activities of regulators in new samples."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rcweb.cli.console import Console, with_console
from rcweb.cli.needs import check_output_file, check_package
from rcweb.cli.options import TABLE, overwrite_option, reading_options, std_option
from rcweb.cli.pipeline import tell_missing
from rcweb.cli.spreadsheets import tell_formulas

if TYPE_CHECKING:
    import pandas as pd

    from rcweb.estimator import RCweb
    from rcweb.tables import ReadOptions, Table


@click.command(
    short_help="Activities of the regulators in new samples.",
    epilog="\b\nExample:\n  rcweb transform results new.csv -o new-activities.tsv",
)
@click.argument("model", type=click.Path(exists=True, path_type=Path))
@click.argument("data", type=TABLE)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="A .tsv or .csv file; .npy or .zarr for tables beyond memory.",
)
@std_option
@click.option(
    "--batch", metavar="NAME", help="Study of the fit that the samples belong to, with its means."
)
@overwrite_option
@reading_options
@with_console
def transform(
    model: Path,
    data: Path,
    out: Path,
    std: bool,
    batch: str | None,
    overwrite: bool,
    reading: Callable[[], ReadOptions],
    console: Console,
) -> None:
    """Write the activities of the regulators of MODEL in the samples of DATA.

    MODEL is a model.rcweb or its folder. Variables are matched by name; those unknown to the model
    are left out, and empty cells are ignored. A .zarr folder and files above a gigabyte are read
    in blocks of samples, and must have the model's variables. With --std a second file beside OUT,
    such as new-activities_std.tsv, holds standard deviations.
    """
    from rcweb.blocks.large import open_large
    from rcweb.estimator import load_model
    from rcweb.storage.atomic import replacing, write_text
    from rcweb.storage.folder import new_folder
    from rcweb.storage.ownership import check_regular
    from rcweb.tables import read_table

    separators = {".tsv": "\t", ".csv": ","}
    if out.suffix not in (*separators, ".npy", ".zarr"):
        raise click.UsageError(f"{out.name!r} must end in .tsv or .csv, or in .npy or .zarr.")
    if std and out.suffix not in separators:
        raise click.UsageError("--std writes tables: name a .tsv or .csv file.")
    if out.suffix == ".zarr":
        check_package("zarr", "Writing .zarr", "scale")
    # A folder may come from a stranger: its model must be a regular file.
    if model.is_dir():
        model = model / "model.rcweb"
        check_regular(model)
    spread = out.with_name(f"{out.stem}_std{out.suffix}") if std else None
    for written in filter(None, (out, spread)):
        check_output_file(written, data, model, overwrite=overwrite)
    fitted = load_model(model)
    if batch is not None and out.suffix not in separators:
        raise click.UsageError("--batch needs a table in memory and a .tsv or .csv file.")
    if out.suffix not in separators:
        from rcweb.blocks import transform_blocks

        with (
            new_folder(out)
            if out.suffix == ".zarr"
            else replacing(out, overwrite=overwrite) as temporary
        ):
            M, P = transform_blocks(fitted, data, temporary).shape
        tell_result(out, M, P, console)
        return
    large = open_large(data, reading())
    if large is not None:
        samples: tuple[str, ...] = large.samples
        X: Any = large.blocks
    else:
        with console.step(f"reading {data.name}"):
            # The names in the model decide the orientation.
            table = read_table(data, reading(), variables=fitted.network_.targets)
        tell_missing(table, console)
        _tell_logs(table, fitted, console)
        samples, X = table.samples, align(table, fitted, console)
    tell_formulas(samples, console)
    import pandas as pd

    studies = {} if batch is None else {"batch": [batch] * len(samples)}
    found = fitted.transform(X, return_std=std, **studies)
    activities, sd = found if std else (found, None)
    for path, values in ((out, activities), (spread, sd)):
        if path is not None:
            frame = pd.DataFrame(values, list(samples), list(fitted.network_.regulator_labels))
            frame = frame.rename_axis("sample")
            text = frame.to_csv(sep=separators[path.suffix], lineterminator="\n")
            write_text(path, text, overwrite=overwrite)
    tell_result(out, len(samples), fitted.n_components_, console, spread)


def _tell_logs(table: Table, model: RCweb, console: Console) -> None:
    """New samples must be in the units of those that the model was fitted to."""
    before = "logs" in dict(model.input_.facts)
    if before and not table.logged:
        console.say("warning: the model was fitted with --log; add it here if these are not logs.")


def tell_result(out: Path, M: int, P: int, console: Console, spread: Path | None = None) -> None:
    """What was written."""
    summary = {"out": str(out), "n_samples": M, "n_regulators": P}
    text = f"Activities of {P} regulators in {M:,} samples: {out}"
    if spread is not None:
        summary["std"] = str(spread)
        text += f"\nTheir standard deviations: {spread}"
    console.result(summary, text)


def _called(frame: pd.DataFrame, targets: Collection[str]) -> str:
    """What variables of the table are called that the model does not have, and why that may be."""
    from rcweb.tables.match import near

    names = [str(name) for name in frame.columns]
    unknown = [repr(name) for name in names if name not in set(targets)] or ["no others"]
    return f"{', '.join(unknown[:2])}{' ...' if len(unknown) > 2 else ''}{near(names, targets)}"


def align(table: Table, model: RCweb, console: Console) -> pd.DataFrame:
    """The variables of the model, in its order; a table without them is an error that names one."""
    import numpy as np
    import pandas as pd

    from rcweb.tables import TableError

    targets = model.network_.targets
    frame = table.frame()
    # Fitted to an array: only the order can match variables.
    if not hasattr(model, "feature_names_in_"):
        if frame.shape[1] != len(targets):
            raise TableError(
                f"The model has no names, so the table must have its {len(targets)} variables; "
                f"it has {frame.shape[1]}."
            )
        return frame
    missing = [name for name in targets if name not in frame.columns]
    if missing:
        message = (
            f"{len(missing)} of the model's {len(targets)} variables are not in the table, "
            f"such as {missing[0]!r}."
        )
        # Fewer equations than unknown activities.
        if len(targets) - len(missing) < model.n_components_:
            raise TableError(
                f"{message} The others do not determine {model.n_components_} regulators. "
                f"Variables must be called as in the fit; the table has {_called(frame, targets)}."
            )
        console.say(f"warning: {message}")
    spare = frame.shape[1] - (len(targets) - len(missing))
    if spare:
        console.say(f"{spare} variables that the model does not know are left out.")
    aligned = frame.reindex(columns=list(targets))
    # In the layout that `fit` saw: another order of sums would change the last bits.
    values = np.ascontiguousarray(aligned.to_numpy())
    return pd.DataFrame(values, index=aligned.index, columns=aligned.columns)
