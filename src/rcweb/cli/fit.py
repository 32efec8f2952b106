"""``rcweb fit``: a table in, a folder of results out."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rcweb.cli.console import Console, with_console
from rcweb.cli.knowledge import Knowledge, Sources, join_table, load_knowledge
from rcweb.cli.needs import check_h5ad, check_output, check_package
from rcweb.cli.options import (
    TABLE,
    knowledge_options,
    overwrite_option,
    reading_options,
    std_option,
)
from rcweb.cli.pipeline import (
    FitParameters,
    check_data,
    fit_table,
    give_names,
    tell_forecast,
    tell_input,
)
from rcweb.cli.results import FILES, write_result
from rcweb.cli.spreadsheets import known_names, tell_formulas
from rcweb.cli.studies import labels_from_sheet, read_tables
from rcweb.cli.summary import summarise, summary_text
from rcweb.engine.methods import FIT_METHODS

if TYPE_CHECKING:
    from rcweb.tables import ReadOptions


class Components(click.ParamType):
    """A number of regulators, or "auto"."""

    name = "N|auto"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        """Whole and at least 1, or "auto"."""
        if value == "auto":
            return "auto"
        if str(value).isdecimal() and int(value) > 0:
            return int(value)
        self.fail(f"{value!r} is neither a whole number above 0 nor auto.", param, ctx)


class Size(click.ParamType):
    """An amount of memory."""

    name = "SIZE"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """The text itself, if it is a size."""
        from rcweb.storage.memory import parse_size

        try:
            parse_size(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return str(value)


@click.command(
    short_help="Find the regulators of a table; writes network and report.",
    epilog="\b\nExample:\n  rcweb fit expression.csv -o results --sets regulons.gmt --terms go.gmt",
)
@click.argument("data", metavar="DATA...", type=TABLE, nargs=-1, required=True)
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Result folder.")
@click.option(
    "--components",
    metavar="N|auto",
    type=Components(),
    default="auto",
    show_default=True,
    help="Number of regulators.",
)
@click.option(
    "--method", type=click.Choice(list(FIT_METHODS)), default="refined", show_default=True
)
@click.option("--degree", type=click.IntRange(1), help="Mean number of targets, if known.")
@click.option(
    "--fdr",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Expected share of false edges.",
)
@click.option(
    "--quality",
    type=click.Choice(["standard", "high"]),
    default="standard",
    show_default=True,
    help="How much time to spend.",
)
@click.option("--doubtful", is_flag=True, help="Draw edges of unconfirmed regulators too.")
@click.option(
    "--linear", is_flag=True, help="Take values as they are, even if a floor or ceiling bends them."
)
@click.option(
    "--center/--no-center",
    default=None,
    help="Subtract the mean of each variable or not. Default: as the method requires.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option(
    "--forecast", is_flag=True, help="Only print how much memory and time the fit would take."
)
@click.option(
    "--max-memory", metavar="SIZE", type=Size(), help="Such as 4GB. Default: what is free."
)
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to resume from if the run is killed; removed once the results are written.",
)
@click.option(
    "--batch",
    metavar="TITLE",
    help="Column of --samples that names the study of each sample: own means and noise levels.",
)
@click.option("--h5ad", is_flag=True, help="Also write data.h5ad, with the result in its slots.")
@std_option
@overwrite_option
@knowledge_options
@reading_options
@with_console
def fit(
    data: tuple[Path, ...],
    out: Path | None,
    components: int | str,
    method: str,
    degree: int | None,
    fdr: float,
    quality: str,
    doubtful: bool,
    linear: bool,
    center: bool | None,
    seed: int,
    forecast: bool,
    max_memory: str | None,
    checkpoint: Path | None,
    batch: str | None,
    h5ad: bool,
    std: bool,
    overwrite: bool,
    sources: Sources,
    reading: Callable[[], ReadOptions],
    console: Console,
) -> None:
    """Find the hidden regulators of DATA and the network from them to what was measured.

    DATA is a table of samples and variables: csv, tsv (also .gz, .zst), parquet, npz, npy, Excel,
    h5ad or zarr. Of files beyond a gigabyte (npy, parquet, h5ad, zarr) only blocks are in memory.
    Several tables are studies with one network, each with its own means and noise level.
    Writes network.tsv, activities.tsv, regulators.tsv, network.graphml, network.cyjs, network.gmt,
    model.rcweb, provenance.json and report.html; with --std also activities_std.tsv, with --prior
    prior.tsv, new_targets.tsv, prior_targets.tsv and prior_activities.tsv.
    """
    from rcweb.storage.checkpoint import remove_checkpoint

    start = time.monotonic()
    parameters = FitParameters(
        components,
        method,
        degree,
        fdr,
        quality,
        seed,
        max_memory,
        checkpoint,
        "auto" if center is None else center,
        doubtful,
        "linear" if linear else "auto",
    )
    if sources.prior and method != "refined":
        raise click.UsageError("--prior is for --method refined; the paper's has --sets.")
    # Before -o is required: a forecast writes nothing.
    if forecast:
        tell_forecast(read_tables(data, reading(), Knowledge()).table, parameters, console)
        return
    out = _checked_folder(out, checkpoint)
    # Before the fit: an hour of work must not end in an error about the folder.
    check_output(out, FILES, sources, *data, overwrite=overwrite)
    _check_batch(batch, data, sources)
    if h5ad:
        check_package("anndata", "--h5ad", "anndata")
    # A list, so that the message on Ctrl-C can change as the work proceeds.
    kept = [_on_interrupt(out, checkpoint)]
    with console.interruptible(lambda: kept[-1]):
        knowledge = load_knowledge(sources)
        with console.step(f"reading {', '.join(path.name for path in data)}"):
            given = read_tables(data, reading(), knowledge)
        table, labels = given.table, given.batch
        knowledge = join_table(knowledge, sources, table.samples, table.variables)
        check = check_data(table, given.name, knowledge.matches)
        if batch is not None:
            labels = labels_from_sheet(knowledge, batch, table.samples)
        # Before the fit: a wrong table should not cost an hour.
        tell_input(check, console)
        if h5ad:
            check_h5ad(table, knowledge)
        tell_formulas([*table.samples, *table.variables, *known_names(knowledge)], console)
        result = fit_table(
            table,
            parameters,
            given.name,
            sources,
            console,
            check,
            labels,
            given.inputs,
            std=std,
            measured=knowledge.measured,
        )
        try:
            annotations = give_names(result, knowledge, console)
        except BaseException:  # Ctrl-C too: what took long to fit is not lost for want of a name
            write_result(out, result, knowledge, h5ad=h5ad, overwrite=overwrite)
            unnamed = f"The network is in {out}; name its regulators with `rcweb annotate {out}`."
            kept.append(unnamed)
            raise
        with console.step("writing results"):
            write_result(out, result, knowledge, annotations, h5ad=h5ad, overwrite=overwrite)
        if checkpoint is not None:
            # Only now: until the result is on disk the checkpoint is the only copy of the work.
            remove_checkpoint(checkpoint)
        kept.append(f"The result is complete, in {out}.")
        summary = summarise(out, result, annotations, time.monotonic() - start)
        console.result(summary, summary_text(summary))


def _checked_folder(out: Path | None, checkpoint: Path | None) -> Path:
    """Where results go."""
    if out is None:
        raise click.UsageError("Missing option '-o' / '--out': name a folder for the results.")
    # Replacing the folder would delete the checkpoint.
    if checkpoint is not None and checkpoint.resolve().is_relative_to(out.resolve()):
        raise click.UsageError(f"{out} is replaced as a whole; name a checkpoint outside it.")
    return out


def _check_batch(batch: str | None, data: tuple[Path, ...], sources: Sources) -> None:
    if batch is None:
        return
    if len(data) > 1:
        raise click.UsageError("Several tables are studies already; leave out --batch.")
    if sources.samples is None:
        raise click.UsageError("--batch names a column of --samples; give --samples FILE too.")


def _on_interrupt(out: Path, checkpoint: Path | None) -> str:
    if checkpoint is not None:
        return f"{out} was not changed; the same command resumes from {checkpoint}."
    return f"{out} was not changed; the same command with the same seed gives the same result."
