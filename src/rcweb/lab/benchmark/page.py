"""``python -m rcweb.lab.benchmark.page``: tables of README and docs from benchmarks/results.

A table of a page stands between ``<!-- table NAME -->`` and ``<!-- end -->``; everything else is
kept. ``<!-- table file NAME -->`` is ``NAME/table.csv`` as a script in benchmarks/ wrote it.
``--check`` changes nothing and reports whether the page agrees with the results.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pandas as pd

from rcweb.lab.benchmark.budget import board_lines, cost_lines, method_costs
from rcweb.lab.benchmark.comparison import (
    accuracy_lines,
    claims_lines,
    exponent_lines,
    ksvd_lines,
    loss_lines,
    published_lines,
    slow_lines,
    speed_lines,
    unknown_p_lines,
)
from rcweb.lab.benchmark.foreign_page import random_lines
from rcweb.lab.benchmark.methods import method_lines
from rcweb.lab.benchmark.organisms_page import ratio_lines
from rcweb.lab.benchmark.prior_page import (
    calibration_lines,
    false_lines,
    found_again_lines,
    planted_lines,
    support_lines,
)
from rcweb.lab.benchmark.readme_tables import planted_cells, real_and_foreign
from rcweb.lab.benchmark.scale_page import exponent_table, size_lines
from rcweb.lab.benchmark.scoreboard import reader
from rcweb.lab.benchmark.sensitivity_page import count_lines, sensitivity_lines
from rcweb.lab.benchmark.summary import to_markdown

ACCURACY = ("fig1", "fig2a", "fig2b", "fig2c", "fig3", "worlds")
PLANS_RUN = (
    *ACCURACY,
    "fig4",
    "claims",
    "unknown_p",
    "ksvd",
    "speed",
    "organisms",
    "foreign",
    "random",
    "prior",
)
PAGES = tuple(
    map(
        Path,
        (
            "docs/benchmark.md",
            "docs/prior.md",
            "README.md",
            "docs/activity.md",
            "docs/compare.md",
            "docs/interpretation.md",
            "docs/measured.md",
            "docs/scale.md",
            "docs/studies.md",
        ),
    )
)
MARK = re.compile(r"(<!-- table (?P<name>[\w -]+) -->\n).*?(<!-- end -->)", re.DOTALL)

STORED = "file "

Read = Callable[[str], pd.DataFrame]
Make = Callable[[Read], pd.DataFrame]


def tables(results: Path) -> dict[str, Make]:
    """The tables of the pages by name, each a function of the summaries of plans in `results`."""
    rows = reader(results)
    made: dict[str, Make] = {
        "published": lambda read: published_lines(read("fig3")),
        "slow": lambda read: slow_lines(_all(read, ACCURACY)),
        "losses rho": lambda read: loss_lines(_all(read, ACCURACY), "rho"),
        "losses f1": lambda read: loss_lines(_all(read, ACCURACY), "f1"),
        "claims": lambda read: claims_lines(read("claims")),
        "unknown_p": lambda read: unknown_p_lines(read("unknown_p")),
        "organisms": lambda read: ratio_lines(read("organisms/curves")),
        "prior gene": lambda read: found_again_lines(read("prior/lists"), "gene"),
        "prior group": lambda read: found_again_lines(read("prior/lists"), "group"),
        "prior false": lambda read: false_lines(read("prior/lists")),
        "prior support": lambda read: support_lines(read("prior/lists")),
        "prior calibration": lambda read: calibration_lines(read("prior/calibration")),
        "prior planted": lambda read: planted_lines(read("prior/lists")),
        "sensitivity": lambda read: sensitivity_lines(read("sensitivity")),
        "constants": lambda read: count_lines(read("sensitivity")),
        "ksvd": lambda read: ksvd_lines(read("ksvd")),
        "speed": lambda read: speed_lines(read("speed")),
        "fig4": lambda read: exponent_lines(read("fig4/exponents")),
        "budget": lambda read: cost_lines(rows, PLANS_RUN),
        "board budget": lambda read: board_lines(rows),
        "method costs": lambda read: method_costs(rows, ("organisms", "foreign")),
        "methods": lambda read: method_lines(),
        "planted cells": planted_cells,
        "scale": lambda read: size_lines(rows("scale")),
        "scale exponents": lambda read: exponent_table(rows("scale")),
        "real and foreign": lambda read: real_and_foreign(rows),
        "random": lambda read: random_lines(rows("random")),
    }
    for plan in ACCURACY:
        made[plan] = partial(_accuracy, plan=plan, honest=False)
        made[f"{plan} honest"] = partial(_accuracy, plan=plan, honest=True)
    return made


def _accuracy(read: Read, plan: str, honest: bool) -> pd.DataFrame:
    summary = read(plan)
    return accuracy_lines(summary[summary["panel"].str.contains("honest") == honest])


def _stored(path: Path, read: Read) -> pd.DataFrame:
    """A table as it was stored, to the last digit; its first title may be empty."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    return table.rename(columns={"Unnamed: 0": ""})


def _each(read: Read, plans: tuple[str, ...]) -> dict[str, pd.DataFrame]:
    """The summaries of those plans that were run."""
    summaries = {}
    for plan in plans:
        with suppress(FileNotFoundError):
            summaries[plan] = read(plan)
    return summaries


def _all(read: Read, plans: tuple[str, ...]) -> pd.DataFrame:
    return pd.concat(_each(read, plans).values(), ignore_index=True)


def render(page: str, results: Path) -> str:
    """The page with every table rebuilt from the csv files in `results`."""
    made = tables(results)

    def read(name: str) -> pd.DataFrame:
        plan, _, file = name.partition("/")
        return pd.read_csv(results / plan / f"{file or 'summary'}.csv")

    def fill(match: re.Match[str]) -> str:
        name = match["name"]
        if name.startswith(STORED):
            made[name] = partial(_stored, results / name.removeprefix(STORED) / "table.csv")
        if name not in made:
            raise ValueError(f"the page asks for the table {name!r}; known: {', '.join(made)}.")
        try:
            table = made[name](read)
        # A plan that was not run leaves a note instead of a table.
        except FileNotFoundError:
            table = pd.DataFrame()
        nothing = "None.\n" if name.startswith("losses") else "Not measured yet.\n"
        text = nothing if table.empty else to_markdown(table)
        return f"{match[1]}{text}{match[3]}"

    return MARK.sub(fill, page)


def main(arguments: list[str] | None = None) -> int:
    """Rewrite the pages, or with --check return 1 if one would change."""
    parser = argparse.ArgumentParser(prog="python -m rcweb.lab.benchmark.page", description=__doc__)
    parser.add_argument("--page", type=Path, action="append", help="instead of all of them")
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results"))
    parser.add_argument("--check", action="store_true", help="change nothing; 1 if out of step")
    given = parser.parse_args(arguments)
    return max(_update(page, given.results, given.check) for page in given.page or PAGES)


def _update(page: Path, results: Path, check: bool) -> int:
    old = page.read_text(encoding="utf-8")
    new = render(old, results)
    if new == old:
        return 0
    if check:
        print(f"{page} is not in step with {results}", file=sys.stderr)
        return 1
    page.write_text(new, encoding="utf-8")
    print(f"rewrote the tables of {page}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
