"""``rcweb annotate``: names for the regulators of a result."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import click

from rcweb.cli.console import Console, with_console
from rcweb.cli.knowledge import Sources, join_table, load_knowledge
from rcweb.cli.options import knowledge_options
from rcweb.cli.pipeline import name_and_write, tell_input
from rcweb.cli.results import read_result
from rcweb.cli.summary import summarise, summary_text


@click.command(
    short_help="Name the regulators of a result by known targets.",
    epilog="\b\nExample:\n  rcweb annotate results --sets regulons.gmt --terms go.gmt",
)
@click.argument("out", type=click.Path(exists=True, file_okay=False, path_type=Path))
@knowledge_options
@with_console
def annotate(out: Path, sources: Sources, console: Console) -> None:
    """Name the regulators in OUT, a folder that `rcweb fit` wrote, and renew its report.

    Writes regulators.tsv and, where asked for, terms.tsv and measured.tsv. What is given here takes
    the place of all that was given before.
    """
    from rcweb.tables import InputCheck

    if not (sources.sets or sources.terms or sources.measured):
        raise click.UsageError("Say what is known: --sets, --terms or --measured.")
    start = time.monotonic()
    with console.interruptible(lambda: f"{out} is as it was."):
        result = read_result(out)
        fitted_to = {k: v for k, v in result.provenance.get("inputs", {}).items() if k == "data"}
        samples, variables = list(result.activities.index), result.model.network_.targets
        knowledge = join_table(load_knowledge(sources), sources, samples, variables)
        tell_input(InputCheck(matches=knowledge.matches), console)
        result.model.input_ = replace(result.model.input_, matches=knowledge.matches)
        record = {
            **result.provenance,
            "inputs": {**fitted_to, **sources.inputs()},
            "input_check": result.model.input_.to_plain(),
        }
        result = replace(result, provenance=record)
        annotations = name_and_write(out, result, knowledge, console)
    summary = summarise(out, result, annotations, time.monotonic() - start)
    console.result(summary, summary_text(summary))
