"""``rcweb annotate``: names for the regulators of a result."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import click

from rcweb.cli.console import Console, with_console
from rcweb.cli.interrupt import advice
from rcweb.cli.kept import updated, updated_inputs, updated_matches
from rcweb.cli.knowledge import Knowledge, Sources, join_table, load_knowledge
from rcweb.cli.needs import check_output
from rcweb.cli.options import knowledge_options, overwrite_option
from rcweb.cli.pipeline import give_names, tell_input
from rcweb.cli.results import FILES, read_result, write_result
from rcweb.cli.spreadsheets import known_names, tell_formulas
from rcweb.cli.summary import summarise, summary_text


@click.command(
    short_help="Name the regulators of a result by known targets.",
    epilog="\b\nExample:\n  rcweb annotate results --sets regulons.gmt --terms go.gmt",
)
@click.argument("out", type=click.Path(exists=True, file_okay=False, path_type=Path))
@overwrite_option
@knowledge_options
@with_console
def annotate(out: Path, overwrite: bool, sources: Sources, console: Console) -> None:
    """Name the regulators in OUT, a folder that `rcweb fit` wrote, and renew its report.

    Each option replaces what an earlier run was given for it. Everything else stays: sets, terms,
    measured factors, groups of samples, names of variables.
    """
    from rcweb.tables import InputCheck

    if not (sources.paths() or sources.link):
        raise click.UsageError(
            "Give at least one of --sets, --prior, --terms, --measured, --samples, --names, --link."
        )
    start = time.monotonic()
    with console.interruptible(advice(out, f"{out} is as it was.")):
        # Files that the user edited since must not be overwritten.
        check_output(out, FILES, sources, overwrite=overwrite)
        result = read_result(out)
        samples, variables = list(result.activities.index), result.model.network_.targets
        given = join_table(load_knowledge(sources), sources, samples, variables)
        tell_input(InputCheck(matches=given.matches), console)
        tell_formulas(known_names(given), console)
        knowledge = updated(result.knowledge or Knowledge(), given)
        inputs = updated_inputs(result.provenance.get("inputs", {}), sources.inputs())
        record = {**result.provenance, "inputs": inputs}
        matches = updated_matches(record, given.matches)
        # The report shows the input check; it must name the new files.
        result.model.input_ = replace(result.model.input_, matches=matches)
        record["input_check"] = result.model.input_.to_plain()
        result = replace(result, provenance=record)
        if given.measured is not None:  # other factors than those of the fit
            result.model.measure(result.activities, given.measured)
        annotations = give_names(result, knowledge, console)
        write_result(out, result, knowledge, annotations, keep=True, overwrite=overwrite)
        summary = summarise(out, result, annotations, time.monotonic() - start)
        console.result(summary, summary_text(summary))
