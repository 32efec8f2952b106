"""``python -m rcweb.lab.benchmark.scoreboard``: docs/scoreboard.md from benchmarks/results.

The page is written as a whole; ``--check`` changes nothing and tells whether it is in step.
``--run COLUMNS`` first measures what these columns need and has not been measured yet.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from rcweb.lab.benchmark.budget import BOARD
from rcweb.lab.benchmark.comparison import OURS
from rcweb.lab.benchmark.measured import ReadRows
from rcweb.lab.benchmark.methods import METHODS
from rcweb.lab.benchmark.paired import FEWEST_PAIRS, LEVEL, compare
from rcweb.lab.benchmark.plans import TIMED
from rcweb.lab.benchmark.questions import Question, questions
from rcweb.lab.benchmark.runner import run
from rcweb.lab.benchmark.store import read_rows
from rcweb.lab.benchmark.summary import to_markdown
from rcweb.lab.benchmark.targets import target_lines

HEAD = f"""# Scoreboard

Made from `benchmarks/results` by `python -m rcweb.lab.benchmark.scoreboard`; a test fails when page
and results are out of step. Plans, settings of every method and scores:
[benchmark.md](benchmark.md).

A number is the mean over units (planted cells, worlds, real tables), each with its mean over seeds;
± is the mean over units of the sd over seeds. "n of m" marks a method that ran, or finished, on n
of the m units only: its mean is over those. **Bold** is the best mean among the methods that
finished most units, and everyone who ties with it: Wilcoxon's signed-rank test, two-sided, over the
units both finished (over seeds if there are fewer than {FEWEST_PAIRS} units; fewer than
{FEWEST_PAIRS} pairs cannot show a difference), p >= {LEVEL:g}. Each number links to its rows.
"P unknown": the method chose the number of regulators itself.
"""
TARGETS = """## Targets

What rcweb should reach on real and foreign tables. "mean" bounds the mean over units, "every" each
unit (its mean over seeds); "within" counts the units that keep the bound. Time is CPU time of one
thread. "Other random numbers": the search draws from a fixed stream, so that two seeds of a user
agree by construction; here seed s draws from stream s. Where rows cannot be told apart (twins,
rotation-invariant blocks, M < P) no certified row is counted right or wrong. "Known lists": half of
every list is shown to a fit with `prior`; the best rival is that of the table among those that get
the same lists, the mean in whitened directions counted or not.
"""


@dataclass(frozen=True)
class Column:
    """A question, its values (unit, seed) x method, and who leads."""

    question: Question
    values: pd.DataFrame

    @property
    def methods(self) -> list[str]:
        """Whoever has a value."""
        return [str(name) for name in self.values.columns]

    @property
    def units(self) -> int:
        """How many units any method finished."""
        return self.values.index.get_level_values("unit").nunique()

    @cached_property
    def means(self) -> pd.DataFrame:
        """Mean over seeds of each unit, units x methods."""
        return self.values.groupby(level="unit", sort=False).mean()

    def by_unit(self, method: str) -> pd.Series:
        """Mean over seeds of each unit the method finished."""
        return self.means[method].dropna()

    @cached_property
    def leader(self) -> str:
        """Best mean of those that finished all units, or most of them."""
        counts = {name: len(self.by_unit(name)) for name in self.methods}
        # A method that finished only easy units must not lead.
        complete = [name for name, n in counts.items() if n == max(counts.values())]
        sign = 1 if self.question.higher else -1
        return max(complete, key=lambda name: sign * self.by_unit(name).mean())

    @cached_property
    def ties(self) -> list[str]:
        """Methods that cannot be told from the leader."""
        best = self.values[self.leader]
        return [n for n in self.methods if n != self.leader and compare(self.values[n], best).tie]


def reader(results: Path) -> ReadRows:
    """The rows of a plan below `results`, each file read once."""
    return cache(lambda plan: read_rows(results / plan / "rows.jsonl"))


def columns(read: ReadRows) -> list[Column]:
    """Every question with what was measured."""
    return [Column(question, question.values(read)) for question in questions()]


def board(measured: list[Column]) -> pd.DataFrame:
    """Methods down, questions across."""
    names = _in_order({name for column in measured for name in column.methods})
    lines = {"method": names}
    for column in measured:
        best = {column.leader, *column.ties}
        lines[column.question.name] = [
            _text(column, name, name in best) if name in column.values else "" for name in names
        ]
    return pd.DataFrame(lines)


def _text(column: Column, method: str, best: bool) -> str:
    by_unit = column.by_unit(method)
    if by_unit.empty:
        return ""
    digits = column.question.digits
    number = f"{by_unit.mean():.{digits}f}"
    number = f"**{number}**" if best else number
    spread = column.values[method].groupby(level="unit").std(ddof=1).mean()
    rows = column.question.rows
    where = f"../benchmarks/results/{rows}" if rows else "benchmark.md"  # rows of many plans
    text = f"[{number}]({where})"
    if not pd.isna(spread):
        text += f" ± {spread:.{digits}f}"
    return text if len(by_unit) == column.units else f"{text}, {len(by_unit)} of {column.units}"


def winners(measured: list[Column]) -> pd.DataFrame:
    """Each question: who leads, who ties, and where rcweb stands."""
    lines = []
    for column in measured:
        leader, ties = column.leader, column.ties
        lines.append(
            {
                "question": column.question.name,
                "asks": column.question.asks,
                "better": "higher" if column.question.higher else "lower",
                "units": column.units,
                "leads": leader,
                "ties with it": ", ".join(ties) or "none",
                "rcweb beside the best rival": _standing(column),
            }
        )
    return pd.DataFrame(lines)


def _standing(column: Column) -> str:
    """rcweb against the rival that does best beside it, on the units both finished."""
    if OURS not in column.values:
        return "not measured"
    sign = 1 if column.question.higher else -1
    beside = {
        name: compare(column.values[OURS], column.values[name])
        for name in column.methods
        if not name.startswith(OURS)
    }
    beside = {name: found for name, found in beside.items() if found.n}
    if not beside:
        return "no rival measured"
    rival = min(beside, key=lambda name: sign * beside[name].difference)
    found = beside[rival]
    ahead = sign * found.difference > 0
    verdict = "tie" if found.tie else "ahead" if ahead else "behind"
    difference = f"{found.difference:+.{column.question.digits + 1}f}"
    return f"{verdict} ({rival}: {difference}, n = {found.n}, p = {found.p:.2g})"


def losses(column: Column) -> pd.DataFrame:
    """Units in which some rival is better than rcweb, over the seeds both finished, worst first."""
    if OURS not in column.values:
        return pd.DataFrame()
    sign = 1 if column.question.higher else -1
    # Differences that rounding hides are not losses.
    smallest = 0.5 * 10.0**-column.question.digits
    beside: dict[object, list[dict[str, Any]]] = {}
    for name in column.methods:
        if name.startswith(OURS):
            continue
        # A rival may have fewer seeds: other tables, which may be easier.
        both = column.values[[OURS, name]].dropna().groupby(level="unit", sort=False).mean()
        for unit, ours, theirs in zip(both.index, both[OURS], both[name], strict=True):
            line = {"where": unit, "rcweb": ours, "rival": theirs, "which": name}
            beside.setdefault(unit, []).append({**line, "by": sign * (theirs - ours)})
    worst = [max(lines, key=lambda line: line["by"]) for lines in beside.values()]
    table = pd.DataFrame(line for line in worst if line["by"] > smallest)
    return table if table.empty else table.sort_values("by", ascending=False, kind="stable")


def not_done(read: ReadRows) -> pd.DataFrame:
    """Fits that failed or did not end within their limit, by method and plan."""
    lines = []
    for plan in (plan for plans in BOARD.values() for plan in plans):
        rows = read(plan)
        left = rows[rows["status"] != "ok"] if len(rows) else rows
        for (method, error), part in left.groupby(["method", "error"]) if len(left) else ():
            where = ", ".join(dict.fromkeys(part["label"]))
            lines.append({"method": method, "plan": plan, "fits": len(part), "why": error})
            lines[-1]["where"] = where
    return pd.DataFrame(lines)


def _in_order(names: set[str]) -> list[str]:
    """In the order of the registry, a method with P unknown after itself."""
    rank = {name: k for k, name in enumerate(METHODS)}
    return sorted(names, key=lambda name: (rank[name.split(",")[0]], name))


def render(results: Path) -> str:
    """The page."""
    read = reader(results)
    everything = columns(read)
    measured = [column for column in everything if column.values.size]
    missing = [column.question.name for column in everything if not column.values.size]
    parts = [HEAD]
    if measured:
        parts += [to_markdown(board(measured)), "## Who wins where\n"]
        parts += [to_markdown(winners(measured)), TARGETS, to_markdown(target_lines(read))]
        parts.append("## Where a rival is ahead\n")
        parts.append(
            "Every unit in which some rival is better than rcweb, in the mean over the seeds that "
            "both finished, by more than half of the last digit shown, worst first, with the rival "
            "that is farthest ahead; one seed more may turn a small one.\n"
        )
        for column in measured:
            table = losses(column)
            if not table.empty:
                digits = column.question.digits
                parts += [f"### {column.question.name}\n", to_markdown(table, max(digits, 1))]
    unfinished = not_done(read)
    if not unfinished.empty:
        parts += ["## Fits without a result\n", to_markdown(unfinished)]
    if missing:
        parts.append(f"Not measured yet: {'; '.join(missing)}.\n")
    return "\n".join(parts)


def measure_columns(group: str, results: Path, n_jobs: int = 1) -> None:
    """Run the plans of a group of columns, or of "all"; each resumes where it stopped."""
    groups = BOARD if group == "all" else {group: BOARD[group]}
    for plan in (plan for plans in groups.values() for plan in plans):
        run(plan, out=results / plan, n_jobs=1 if plan in TIMED else n_jobs)


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or with --check return 1 if it would change."""
    parser = argparse.ArgumentParser(
        prog="python -m rcweb.lab.benchmark.scoreboard", description=__doc__
    )
    parser.add_argument("--page", type=Path, default=Path("docs/scoreboard.md"))
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results"))
    parser.add_argument("--check", action="store_true", help="change nothing; 1 if out of step")
    parser.add_argument("--run", choices=(*BOARD, "all"), help="measure these columns first")
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time, if none is timed")
    given = parser.parse_args(arguments)
    if given.run:
        measure_columns(given.run, given.results, given.jobs)
    old = given.page.read_text(encoding="utf-8") if given.page.exists() else ""
    new = render(given.results)
    if new == old:
        return 0
    if given.check:
        print(f"{given.page} is not in step with {given.results}", file=sys.stderr)
        return 1
    given.page.write_text(new, encoding="utf-8")
    print(f"wrote {given.page}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
