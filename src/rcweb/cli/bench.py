"""``rcweb bench``: the comparisons of the paper, and more."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path

import click

from rcweb.cli.console import Console, with_console


@click.command(
    short_help="Compare methods as the paper does, and beyond.",
    epilog="\b\nExample:\n  rcweb bench fig1 --quick",
)
@click.argument("plan", metavar="PLAN")
@click.option("--quick", is_flag=True, help="Three cells, one seed, fast methods.")
@click.option("--methods", metavar="A,B", help="Use these methods instead of the plan's.")
@click.option("--seeds", type=click.IntRange(1), help="Number of seeds.")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Result folder.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Fits at the same time; keep 1 when seconds matter.",
)
@click.option("--retry", is_flag=True, help="Run failed fits again.")
@with_console
def bench(
    plan: str,
    quick: bool,
    methods: str | None,
    seeds: int | None,
    out: Path | None,
    jobs: int,
    retry: bool,
    console: Console,
) -> None:
    """Compare methods as PLAN says: fig1, fig2, fig3, fig4, speed, organisms, prior and others.

    Finished measurements are kept; the same command resumes where the last one stopped.
    """
    from rcweb.lab.benchmark import PLANS, run

    if plan not in PLANS:
        raise click.UsageError(f"There is no plan {plan!r}; plans are {', '.join(PLANS)}.")
    advice = "Finished fits are kept; run the same command again to resume."
    # stdout is for the result alone, which may be JSON.
    with console.interruptible(lambda: advice), redirect_stdout(sys.stderr):
        folder = run(
            plan,
            quick=quick,
            methods=methods.split(",") if methods else None,
            seeds=seeds,
            out=out,
            n_jobs=jobs,
            retry=retry,
        )
    table = folder / "summary.md"
    text = table.read_text(encoding="utf-8") if table.is_file() else ""
    console.result({"plan": plan, "out": str(folder)}, f"{text}\nResults: {folder}".lstrip())
